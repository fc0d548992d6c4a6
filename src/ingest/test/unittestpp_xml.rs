//! `unittestpp-xml`: what UnitTest++'s `XmlTestReporter` writes. <https://github.com/unittest-cpp/unittest-cpp>

use super::TestTally;
use super::xml_report::{Dialect, OpenCase, walk};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::text::printable;
use crate::ingest::xml::Element;
use crate::ingest::{Format, Parsed};
use crate::model::cases::Outcome;
use crate::model::figures::{Figures, ReportKind};

/// UnitTest++'s XML.
pub const FORMAT: Format = Format {
    name: "unittestpp-xml",
    kind: ReportKind::Test,
    about: "XML of UnitTest++: one test element a test",
    written_by: "programs with UnitTest++ (XmlTestReporter)",
    told_by: "root element unittest-results",
    has_end: true,
    counting: "Each test: failed if a failure is in it, else passed. The root's numbers are only compared.",
    sniff: |head| head.by_root(ROOTS),
    parse,
};

const ROOTS: &[&str] = &["unittest-results"];

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut reader = Reader { tally: TestTally::new(true), open: None, declared: Figures::default() };
    walk(input, &FORMAT, ROOTS, &mut reader)?;
    let mut parsed = reader.tally.finish(&FORMAT)?;
    super::json_report::declare(&mut parsed, reader.declared);
    Ok(parsed)
}

struct Reader {
    tally: TestTally,
    open: Option<OpenCase>,
    declared: Figures,
}

impl Dialect for Reader {
    fn start(&mut self, element: &Element<'_>, parent: Option<&str>) -> Result<bool> {
        match (element.name(), parent) {
            (_, None) => {
                let [tests, failed] = element.attributes(["tests", "failedtests"])?;
                let count = |text: Option<String>| text.and_then(|text| text.parse().ok());
                self.declared = Figures { tests: count(tests), failed: count(failed), ..Figures::default() };
            }
            ("test", Some("unittest-results")) => {
                let [suite, name, time] = element.attributes(["suite", "name", "time"])?;
                let open = OpenCase::new(None, suite, name, Outcome::Passed);
                self.open = Some(open.seconds(time.as_deref()));
            }
            ("failure", Some("test")) => {
                let message = element.attribute("message")?;
                let Some(open) = &mut self.open else { return Ok(false) };
                open.case.outcome = Outcome::Failed;
                open.message(message.as_deref());
                // `cart.cpp(6) : Expected 1 but was 2`.
                let place = message.as_deref().and_then(|message| message.split_once(") : ")?.0.rsplit_once('('));
                if let Some((file, line)) = place.filter(|_| open.case.file.is_none()) {
                    open.case.file = Some(printable(file, 1000));
                    open.case.line = line.parse().ok().filter(|line| *line > 0);
                }
            }
            _ => {}
        }
        Ok(false)
    }

    fn end(&mut self, name: &str, _: Option<&str>) -> Result<()> {
        let ended = if name == "test" { self.open.take() } else { None };
        ended.map_or(Ok(()), |open| open.done(&mut self.tally))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::test::tests_support::{counts, details};

    #[test]
    fn a_test_with_failures_failed_once() {
        let read = |failed: u64| {
            let text = format!(
                "<unittest-results tests=\"2\" failedtests=\"{failed}\" failures=\"2\" time=\"0\"><test suite=\"Cart\" name=\"Adds\" time=\"0.25\"/>\
                 <test suite=\"Cart\" name=\"Fails\" time=\"0\"><failure message=\"a.cpp(6) : no\"/><failure message=\"b\"/></test></unittest-results>"
            );
            parse(&Input::bytes("x", text.as_bytes())).unwrap()
        };
        let parsed = read(1);
        assert_eq!((counts(&parsed), parsed.warnings.len()), ([2, 1, 1, 0, 0], 0));
        let cases = details(&parsed).cases.cases;
        let failed = &cases["Cart::Fails"];
        assert_eq!((failed.file.as_deref(), failed.line), (Some("a.cpp"), Some(6)));
        assert_eq!((failed.message.as_deref(), cases["Cart::Adds"].duration_ms), (Some("a.cpp(6) : no"), Some(250)));
        assert_eq!(read(2).warnings.len(), 1);
    }
}
