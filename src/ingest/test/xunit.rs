//! `xunit`: the XML of xUnit.net, versions 1 to 3, defined on its page "Format XML v2" (and "v3"). Fixie writes it too.
//!
//! It has no retries, and no source files before version 3.

use super::TestTally;
use super::xml_report::{Dialect, OpenCase, unknown_result, walk};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::text::printable;
use crate::ingest::xml::Element;
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::cases::Outcome;
use crate::model::figures::ReportKind;

/// xUnit.net XML.
pub const FORMAT: Format = Format {
    name: "xunit",
    kind: ReportKind::Test,
    about: "xUnit.net XML: one test element a test",
    written_by: "xUnit.net, XunitXml.TestLogger, Fixie",
    told_by: "root element assemblies, or assembly with collections or classes",
    has_end: true,
    counting: "Each test is one test: Pass, Fail, Skip; NotRun is skipped. Each error in a list of errors (a collection's \
               clean-up, an assembly that cannot be loaded) is one errored test. Totals are left aside.",
    sniff,
    parse,
};

const ROOTS: &[&str] = &["assemblies", "assembly"];

fn sniff(head: &Head<'_>) -> Sniff {
    let Some(xml) = head.rooted(ROOTS) else { return Sniff::No };
    // Other tools have such roots too: the manifests and documentation files of .NET.
    let is_ours = match xml.root.as_str() {
        "assemblies" => xml.children.iter().all(|child| child == "assembly"),
        _ => {
            ["collection", "class"].iter().any(|name| xml.has_child(name))
                || ["run-date", "test-framework"].iter().any(|name| xml.has_attribute(name))
        }
    };
    if is_ours && xml.namespace.is_none() { head.by_root(ROOTS) } else { Sniff::No }
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut reader = Reader { tally: TestTally::new(true), case: None, assembly: String::new() };
    walk(input, &FORMAT, ROOTS, &mut reader)?;
    reader.tally.finish(&FORMAT)
}

struct Reader {
    tally: TestTally,
    case: Option<OpenCase>,
    assembly: String,
}

impl Dialect for Reader {
    fn start(&mut self, element: &Element<'_>, parent: Option<&str>) -> Result<bool> {
        match (element.name(), parent) {
            ("assembly", _) => self.assembly = element.attribute("name")?.unwrap_or_default(),
            ("test", Some("collection" | "class")) => self.case = Some(case(element)?),
            ("error", Some("errors")) => {
                let [name, kind] = element.attributes(["name", "type"])?;
                let place = if self.assembly.is_empty() { "(an assembly)" } else { &self.assembly };
                let unit = name.or(kind).map_or_else(|| place.to_owned(), |what| format!("{place}: {what}"));
                self.tally.unit_failure(&unit);
            }
            ("message" | "stack-trace", Some("failure")) => return Ok(self.case.is_some()),
            _ => {}
        }
        Ok(false)
    }

    fn end(&mut self, name: &str, text: Option<&str>) -> Result<()> {
        match (name, &mut self.case) {
            ("message", Some(case)) if text.is_some() => case.message(text),
            ("stack-trace", Some(case)) if text.is_some() => case.stack(text),
            ("test", _) => return self.case.take().map_or(Ok(()), |case| case.done(&mut self.tally)),
            _ => {}
        }
        Ok(())
    }
}

fn case(element: &Element<'_>) -> Result<OpenCase> {
    let names = ["name", "type", "result", "time", "source-file", "source-line"];
    let [name, class, result, time, file, line] = element.attributes(names)?;
    let outcome = match result.as_deref() {
        Some("Pass") => Outcome::Passed,
        Some("Fail") => Outcome::Failed,
        Some("Skip" | "NotRun") => Outcome::Skipped,
        other => return Err(unknown_result(other.unwrap_or_default(), element.spot())),
    };
    let mut open = OpenCase::new(None, class, name, outcome).seconds(time.as_deref());
    open.case.file = file.map(|file| printable(&file, 1000));
    open.case.line = line.and_then(|line| line.parse().ok()).filter(|line| *line > 0);
    Ok(open)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    fn read(body: &str) -> Result<Parsed> {
        parse(&Input::bytes(
            "x",
            format!("<assemblies><assembly name='a.dll'>{body}</assembly></assemblies>").as_bytes(),
        ))
    }

    #[test]
    fn results_are_outcomes_and_errors_are_units() {
        let parsed = read(
            "<errors><error type='collection-cleanup' name='C'><failure><message>x</message></failure></error></errors>\
             <collection><test name='N.C.a' type='N.C' result='Pass' time='0.5'/><test name='b' type='N.C' result='Fail'>\
             <failure><message>no</message></failure></test><test name='c' result='Skip'/><test name='d' result='NotRun'/>\
             </collection>",
        )
        .unwrap();
        assert_eq!(counts(&parsed), [5, 1, 1, 1, 2]);
        let details = details(&parsed);
        assert_eq!(details.failed_units, ["a.dll: C"]);
        assert_eq!(details.cases.cases["N.C.a"].duration_ms, Some(500));
        assert_eq!(details.cases.cases["N.C::b"].message.as_deref(), Some("no"));
        assert!(read("<collection><test name='a'/></collection>").is_err());
    }

    #[test]
    fn other_documents_with_such_a_root_are_not_it() {
        for foreign in [
            "<assembly xmlns='urn:schemas-microsoft-com:asm.v1' manifestVersion='1.0'><file/></assembly>",
            "<assembly><id>bin</id><formats/></assembly>",
            "<assemblies><other/></assemblies>",
        ] {
            assert_eq!(sniffed(&FORMAT, foreign), Sniff::No, "{foreign}");
        }
        assert!(matches!(sniffed(&FORMAT, "<assembly run-date='x'><class name='C'/></assembly>"), Sniff::Sure(_)));
    }
}
