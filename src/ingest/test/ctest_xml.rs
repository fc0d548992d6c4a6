//! `ctest-xml`: the `Test.xml` that CTest makes for a CDash dashboard (`ctest -T Test`). Its definition is CTest's own
//! source and CDash's schema; the same root also holds builds and coverage, which are no tests.

use super::xml_report::{Dialect, OpenCase, foreign, unknown_result, walk};
use super::{TestTally, milliseconds};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::xml::{Element, Spot};
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::cases::Outcome;
use crate::model::figures::ReportKind;

/// CTest's dashboard XML.
pub const FORMAT: Format = Format {
    name: "ctest-xml",
    kind: ReportKind::Test,
    about: "CTest dashboard XML: one Test element a test",
    written_by: "ctest -T Test",
    told_by: "root element Site with Testing in it",
    has_end: true,
    counting: "Each Test with a status is one test: passed, failed, notrun (skipped). A test program is one test, \
               whatever it runs itself.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    match head.rooted(&["Site"]) {
        Some(xml) if xml.has_child("Testing") => Sniff::Sure("root element Site with Testing".into()),
        _ => Sniff::No,
    }
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut reader = Reader { tally: TestTally::new(true), case: None, measured: String::new(), testing: false };
    walk(input, &FORMAT, &["Site"], &mut reader)?;
    if !reader.testing {
        return Err(foreign(&FORMAT, "no Testing is in its Site", Spot { line: 1, column: 1 }));
    }
    reader.tally.finish(&FORMAT)
}

struct Reader {
    tally: TestTally,
    case: Option<OpenCase>,
    /// The name of the measurement that is open.
    measured: String,
    testing: bool,
}

impl Dialect for Reader {
    fn start(&mut self, element: &Element<'_>, parent: Option<&str>) -> Result<bool> {
        match (element.name(), parent) {
            ("Testing", Some("Site")) => self.testing = true,
            ("Test", Some("Testing")) => {
                let status = element.attribute("Status")?.unwrap_or_default();
                let outcome = match status.as_str() {
                    "passed" => Outcome::Passed,
                    "failed" => Outcome::Failed,
                    "notrun" => Outcome::Skipped,
                    other => return Err(unknown_result(other, element.spot())),
                };
                self.case = Some(OpenCase::new(None, None, None, outcome));
            }
            ("Name", Some("Test")) => return Ok(true),
            ("NamedMeasurement", _) => self.measured = element.attribute("name")?.unwrap_or_default(),
            ("Value", Some("NamedMeasurement")) => return Ok(true),
            _ => {}
        }
        Ok(false)
    }

    fn end(&mut self, name: &str, text: Option<&str>) -> Result<()> {
        match (name, &mut self.case) {
            ("Name", Some(case)) => {
                if let Some(name) = text.map(str::trim).filter(|name| !name.is_empty()) {
                    case.id = name.to_owned();
                }
            }
            ("Value", Some(case)) => match self.measured.as_str() {
                "Execution Time" => case.case.duration_ms = text.and_then(milliseconds),
                "Exit Code" | "Fail Reason" => case.message(text),
                _ => {}
            },
            ("Test", Some(_)) => return self.case.take().map_or(Ok(()), |case| case.done(&mut self.tally)),
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    #[test]
    fn a_test_with_a_status_is_one_test() {
        let text = "<Site><Testing><TestList><Test>./a</Test></TestList><Test Status='failed'><Name> a </Name><Results>\
                    <NamedMeasurement name='Exit Code'><Value>Timeout</Value></NamedMeasurement>\
                    <NamedMeasurement name='Execution Time'><Value>1.5</Value></NamedMeasurement></Results></Test>\
                    <Test Status='notrun'><Name>b</Name></Test><Test Status='passed'/></Testing></Site>";
        let parsed = parse(&Input::bytes("x", text.as_bytes())).unwrap();
        assert_eq!(counts(&parsed), [3, 1, 1, 0, 1]);
        let details = details(&parsed);
        let case = &details.cases.cases["a"];
        assert_eq!((case.message.as_deref(), case.duration_ms), (Some("Timeout"), Some(1500)));
        assert!(details.cases.cases.contains_key("(unnamed)"));
    }

    #[test]
    fn a_site_without_tests_is_another_report() {
        let build = "<Site><Build/></Site>";
        assert_eq!(parse(&Input::bytes("x", build.as_bytes())).unwrap_err().reject(), Some(Reject::NotThisFormat));
        assert_eq!(sniffed(&FORMAT, build), Sniff::No);
        let odd = "<Site><Testing><Test Status='fine'/></Testing></Site>";
        assert_eq!(parse(&Input::bytes("x", odd.as_bytes())).unwrap_err().reject(), Some(Reject::Malformed));
    }
}
