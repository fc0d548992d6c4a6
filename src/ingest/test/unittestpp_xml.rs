//! `unittestpp-xml`: the XML of UnitTest++, which its `XmlTestReporter` writes and defines.

use super::TestTally;
use super::xml_report::{Dialect, OpenCase, walk};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::text::printable;
use crate::ingest::xml::Element;
use crate::ingest::{Format, Parsed};
use crate::model::cases::Outcome;
use crate::model::figures::ReportKind;

/// UnitTest++'s XML.
pub const FORMAT: Format = Format {
    name: "unittestpp-xml",
    kind: ReportKind::Test,
    about: "XML of UnitTest++",
    written_by: "programs with UnitTest++ (XmlTestReporter)",
    told_by: "root element unittest-results",
    has_end: true,
    counting: "Each test is one test: failed if it holds a failure, else passed.",
    sniff: |head| head.by_root(&["unittest-results"]),
    parse,
};

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut reader = Reader { tally: TestTally::new(true), open: None };
    walk(input, &FORMAT, &["unittest-results"], &mut reader)?;
    reader.tally.finish(&FORMAT)
}

struct Reader {
    tally: TestTally,
    open: Option<OpenCase>,
}

impl Dialect for Reader {
    fn start(&mut self, element: &Element<'_>, parent: Option<&str>) -> Result<bool> {
        match (element.name(), parent, &mut self.open) {
            ("test", Some("unittest-results"), _) => {
                let open =
                    OpenCase::new(None, element.attribute("suite")?, element.attribute("name")?, Outcome::Passed);
                self.open = Some(open.seconds(element.attribute("time")?.as_deref()));
            }
            ("failure", Some("test"), Some(open)) if open.case.outcome == Outcome::Passed => {
                open.case.outcome = Outcome::Failed;
                let told = element.attribute("message")?.unwrap_or_default();
                let (place, message) = told.split_once(") : ").unwrap_or(("", &told));
                if let Some((file, line)) = place.rsplit_once('(') {
                    open.case.file = Some(printable(file, 1000));
                    open.case.line = line.parse().ok().filter(|line| *line > 0);
                }
                open.message(Some(message));
            }
            _ => {}
        }
        Ok(false)
    }

    fn end(&mut self, name: &str, _: Option<&str>) -> Result<()> {
        match self.open.take_if(|_| name == "test") {
            Some(open) => open.done(&mut self.tally),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::test::tests_support::{counts, details};

    #[test]
    fn a_test_with_failures_failed_once() {
        let text = "<?xml version=\"1.0\"?><unittest-results tests=\"2\" failedtests=\"1\" failures=\"2\" time=\"0.5\">\
                    <test suite=\"Cart\" name=\"Adds\" time=\"0.25\"/><test suite=\"Cart\" name=\"Removes\" time=\"0\">\
                    <failure message=\"a.cpp(7) : Expected 1 but was 2\"/><failure message=\"a.cpp(8) : n &lt; 0\"/></test></unittest-results>";
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        assert_eq!(counts(&parsed), [2, 1, 1, 0, 0]);
        let details = details(&parsed);
        let case = &details.cases.cases["Cart::Removes"];
        assert_eq!((case.file.as_deref(), case.line), (Some("a.cpp"), Some(7)));
        assert_eq!(case.message.as_deref(), Some("Expected 1 but was 2"));
        assert_eq!(details.cases.cases["Cart::Adds"].duration_ms, Some(250));
    }

    #[test]
    fn what_is_not_unittestpp_s_is_rejected() {
        let error = parse(&Input::bytes("x", b"<testsuites/>")).unwrap_err();
        assert_eq!(error.reject(), Some(Reject::NotThisFormat));
    }
}
