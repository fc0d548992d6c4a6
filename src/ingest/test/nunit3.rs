//! `nunit3`: the result file of NUnit 3 and later, as the NUnit documentation calls it "Test Result XML Format". Also
//! what Unity's test runner and the NUnit logger of `dotnet test` write.
//!
//! It has no retries: of a test that is repeated only the last attempt is written.

use super::TestTally;
use super::xml_report::{Dialect, OpenCase, unknown_result, walk};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::xml::Element;
use crate::ingest::{Format, Parsed};
use crate::model::cases::Outcome;
use crate::model::figures::ReportKind;

/// NUnit 3 result XML.
pub const FORMAT: Format = Format {
    name: "nunit3",
    kind: ReportKind::Test,
    about: "NUnit 3 XML: one test-case a test",
    written_by: "NUnit 3 and 4, NunitXml.TestLogger, Unity Test Runner",
    told_by: "root element test-run or test-suite",
    has_end: true,
    counting: "Each test-case is one test. Passed and Warning passed; Failed with the label Error, Invalid or Cancelled is \
               errored, else failed; Skipped and Inconclusive are skipped. A suite that failed by itself (its set-up, its \
               tear-down, an assembly that is none) and holds no test that failed is one errored test.",
    sniff: |head| head.by_root(ROOTS),
    parse,
};

/// A suite alone is what NUnit's engine hands to its extensions, and some of them write.
const ROOTS: &[&str] = &["test-run", "test-suite"];

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut reader = Reader { tally: TestTally::new(true), suites: Vec::new(), case: None };
    walk(input, &FORMAT, ROOTS, &mut reader)?;
    reader.tally.finish(&FORMAT)
}

/// An open suite.
struct Suite {
    name: String,
    /// It failed, and not because of what it holds.
    failed_itself: bool,
    /// Something in it failed.
    holds_failure: bool,
}

struct Reader {
    tally: TestTally,
    suites: Vec<Suite>,
    case: Option<OpenCase>,
}

impl Dialect for Reader {
    fn start(&mut self, element: &Element<'_>, parent: Option<&str>) -> Result<bool> {
        match (element.name(), parent) {
            ("test-suite", _) => self.suites.push(suite(element)?),
            ("test-case", _) => {
                let case = case(element)?;
                let failed = case.case.outcome.is_bad();
                if let Some(suite) = self.suites.last_mut() {
                    suite.holds_failure |= failed;
                }
                self.case = Some(case);
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
            ("test-case", _) => return self.case.take().map_or(Ok(()), |case| case.done(&mut self.tally)),
            ("test-suite", _) => self.end_suite(),
            _ => {}
        }
        Ok(())
    }
}

impl Reader {
    fn end_suite(&mut self) {
        let Some(suite) = self.suites.pop() else { return };
        let counts = suite.failed_itself && !suite.holds_failure;
        if counts {
            self.tally.unit_failure(&suite.name);
        }
        if let Some(outer) = self.suites.last_mut() {
            outer.holds_failure |= suite.holds_failure || counts;
        }
    }
}

fn suite(element: &Element<'_>) -> Result<Suite> {
    let [result, label, site, full, name] = element.attributes(["result", "label", "site", "fullname", "name"])?;
    let site = site.as_deref();
    // What failed because of what is around it or in it is told there.
    let label_tells =
        matches!(label.as_deref(), Some("Error" | "Invalid")) && !matches!(site, Some("Parent" | "Child"));
    let site_tells = matches!(site, Some("SetUp" | "TearDown"));
    Ok(Suite {
        name: full.or(name).unwrap_or_else(|| "(unnamed suite)".to_owned()),
        failed_itself: result.as_deref() == Some("Failed") && (label_tells || site_tells),
        holds_failure: false,
    })
}

fn case(element: &Element<'_>) -> Result<OpenCase> {
    let names = ["fullname", "classname", "name", "result", "label", "duration"];
    let [full, class, name, result, label, duration] = element.attributes(names)?;
    let result = result.unwrap_or_default();
    let (word, inner) = result.split_once('(').unwrap_or((&result, ""));
    let label = label.as_deref().or(inner.strip_suffix(')'));
    let outcome = match word.trim() {
        "Passed" | "Warning" => Outcome::Passed,
        "Failed" if matches!(label, Some("Error" | "Invalid" | "Cancelled")) => Outcome::Errored,
        "Failed" => Outcome::Failed,
        "Skipped" | "Inconclusive" => Outcome::Skipped,
        _ => return Err(unknown_result(&result, element.spot())),
    };
    Ok(OpenCase::new(full, class, name, outcome).seconds(duration.as_deref()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::test::tests_support::{counts, details};

    fn read(body: &str) -> Result<Parsed> {
        parse(&Input::bytes("x", format!("<test-run>{body}</test-run>").as_bytes()))
    }

    #[test]
    fn results_and_labels_are_outcomes() {
        for (attributes, expected) in [
            ("result='Passed'", [1, 1, 0, 0, 0]),
            ("result='Warning'", [1, 1, 0, 0, 0]),
            ("result='Failed'", [1, 0, 1, 0, 0]),
            ("result='Failed' label='Error'", [1, 0, 0, 1, 0]),
            ("result='Failed' label='Invalid'", [1, 0, 0, 1, 0]),
            ("result='Failed(Cancelled)'", [1, 0, 0, 1, 0]),
            ("result='Skipped' label='Ignored'", [1, 0, 0, 0, 1]),
            ("result='Inconclusive'", [1, 0, 0, 0, 1]),
        ] {
            let parsed = read(&format!("<test-suite><test-case {attributes}/></test-suite>")).unwrap();
            assert_eq!(counts(&parsed), expected, "{attributes}");
        }
        assert_eq!(read("\n<test-case result='Great'/>").unwrap_err().place.line, Some(2));
        assert!(read("<test-case/>").is_err());
    }

    #[test]
    fn a_suite_that_failed_by_itself_counts_where_nothing_in_it_failed() {
        let suite = |inner: &str| {
            let text = format!("<test-suite result='Failed' site='TearDown' name='S'>{inner}</test-suite>");
            let parsed = read(&format!("<test-suite result='Failed' site='Child'>{text}</test-suite>")).unwrap();
            counts(&parsed)
        };
        assert_eq!(suite("<test-case result='Passed'/>"), [2, 1, 0, 1, 0]);
        assert_eq!(suite(""), [1, 0, 0, 1, 0]);
        assert_eq!(suite("<test-suite><test-case result='Failed'/></test-suite>"), [1, 0, 1, 0, 0]);
    }

    #[test]
    fn a_failure_has_message_and_place() {
        let parsed = read(
            "<test-case fullname='N.C.T(1)' result='Failed' duration='0.25'><failure><message><![CDATA[ no\n]]></message>\
             <stack-trace>at N.C.T() in a.cs:line 7</stack-trace></failure></test-case>",
        );
        let details = details(&parsed.unwrap());
        let case = &details.cases.cases["N.C.T(1)"];
        assert_eq!((case.message.as_deref(), case.duration_ms), (Some("no"), Some(250)));
        assert_eq!((case.file.as_deref(), case.line), (Some("a.cs"), Some(7)));
    }
}
