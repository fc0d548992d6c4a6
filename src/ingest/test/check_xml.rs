//! `check-xml`: the XML of Check, the unit test framework for C (`srunner_set_xml`, `CK_XML_LOG_FILE_NAME`). Its root is
//! that of JUnit, but what it holds is its own; its definition is Check's `check_log.c`.

use super::TestTally;
use super::xml_report::{Dialect, OpenCase, foreign, unknown_result, walk};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::text::printable;
use crate::ingest::xml::{Element, Spot};
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::cases::Outcome;
use crate::model::figures::ReportKind;

/// Check's XML.
pub const FORMAT: Format = Format {
    name: "check-xml",
    kind: ReportKind::Test,
    about: "XML of Check: one test element a test",
    written_by: "programs with Check (srunner_set_xml)",
    told_by: "root element testsuites with suite in it",
    has_end: true,
    counting: "Each test is one test, each run of a loop too: success passed, failure failed, error (it crashed or \
               took too long) errored.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    match head.rooted(&["testsuites"]) {
        Some(xml) if xml.has_child("suite") => Sniff::Sure("root element testsuites with suite".into()),
        _ => Sniff::No,
    }
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut reader = Reader { tally: TestTally::new(true), suites: 0, suite: String::new(), open: None };
    walk(input, &FORMAT, &["testsuites"], &mut reader)?;
    if reader.suites == 0 {
        return Err(foreign(&FORMAT, "no suite is in its testsuites", Spot { line: 1, column: 1 }));
    }
    reader.tally.finish(&FORMAT)
}

struct Reader {
    tally: TestTally,
    suites: u64,
    /// Its title.
    suite: String,
    open: Option<Open>,
}

/// A test that is open: its case, whose id is made at its end, and the parts of that.
struct Open {
    case: OpenCase,
    test: String,
    iteration: String,
}

impl Dialect for Reader {
    fn start(&mut self, element: &Element<'_>, parent: Option<&str>) -> Result<bool> {
        match (element.name(), parent) {
            ("suite", Some("testsuites")) => {
                self.suites = self.suites.saturating_add(1);
                self.suite.clear();
            }
            ("test", Some("suite")) => {
                let result = element.attribute("result")?.unwrap_or_default();
                let outcome = match result.as_str() {
                    "success" => Outcome::Passed,
                    "failure" => Outcome::Failed,
                    "error" => Outcome::Errored,
                    other => return Err(unknown_result(other, element.spot())),
                };
                let case = OpenCase::new(None, None, None, outcome);
                self.open = Some(Open { case, test: String::new(), iteration: String::new() });
            }
            ("title", Some("suite")) => return Ok(true),
            (_, Some("test")) => return Ok(true),
            _ => {}
        }
        Ok(false)
    }

    fn end(&mut self, name: &str, text: Option<&str>) -> Result<()> {
        let text = text.map(str::trim);
        match (name, &mut self.open) {
            ("title", None) => self.suite = text.unwrap_or_default().to_owned(),
            ("id", Some(open)) => open.test = text.unwrap_or_default().to_owned(),
            ("iteration", Some(open)) => open.iteration = text.unwrap_or_default().to_owned(),
            // `cart.c:12`.
            ("fn", Some(open)) => {
                let place = text.and_then(|place| place.rsplit_once(':'));
                if let Some((file, Ok(line))) = place.map(|(file, line)| (file, line.parse::<u64>())) {
                    (open.case.case.file, open.case.case.line) =
                        (Some(printable(file, 1000)), Some(line).filter(|line| *line > 0));
                }
            }
            ("duration", Some(open)) => open.case.case.duration_ms = text.and_then(super::milliseconds),
            ("message", Some(open)) => open.case.message(text),
            ("test", Some(_)) => return self.end_test(),
            _ => {}
        }
        Ok(())
    }
}

impl Reader {
    /// Only the runs of a loop have numbers other than 0; the first of them cannot be told from a test of its own.
    fn end_test(&mut self) -> Result<()> {
        let Some(Open { mut case, test, iteration }) = self.open.take() else { return Ok(()) };
        case.id = format!("{}::{test}", self.suite);
        if !matches!(iteration.as_str(), "" | "0") {
            case.id = format!("{}[{iteration}]", case.id);
        }
        case.done(&mut self.tally)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::test::junit;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    const RUN: &str = "<?xml version=\"1.0\"?>\n<testsuites xmlns=\"http://check.sourceforge.net/ns\">\n<datetime>x</datetime>\n<suite><title>cart</title>\
                       <test result=\"success\"><path>.</path><fn>ck.c:3</fn><id>adds</id><iteration>0</iteration><duration>0.012</duration><message>Passed</message></test>\
                       <test result=\"failure\"><fn>ck.c:7</fn><id>loop</id><iteration>2</iteration><duration>-1.0</duration><message>a &lt; b</message></test>\
                       <test result=\"error\"><fn>ck.c:9</fn><id>slow</id><iteration>0</iteration><message>timeout</message></test></suite>\n</testsuites>\n";

    fn read(text: &str) -> Result<Parsed> {
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn each_test_counts() {
        let parsed = read(RUN).unwrap();
        assert_eq!(counts(&parsed), [3, 1, 1, 1, 0]);
        let details = details(&parsed);
        let case = &details.cases.cases["cart::loop[2]"];
        assert_eq!((case.file.as_deref(), case.line, case.message.as_deref()), (Some("ck.c"), Some(7), Some("a < b")));
        assert_eq!((case.duration_ms, details.cases.cases["cart::adds"].duration_ms), (None, Some(12)));
    }

    #[test]
    fn junit_and_it_are_told_apart() {
        let other = "<testsuites><testsuite name=\"a\"><testcase name=\"b\"/></testsuite></testsuites>";
        assert!(matches!(sniffed(&FORMAT, RUN), Sniff::Sure(_)));
        assert_eq!((sniffed(&FORMAT, other), sniffed(&junit::FORMAT, RUN)), (Sniff::No, Sniff::No));
        // DejaGnu's root is JUnit's, too.
        let dejagnu = "<testsuite><test><input></input><result>FAIL</result><name>a.exp</name></test></testsuite>";
        assert_eq!((sniffed(&FORMAT, dejagnu), sniffed(&junit::FORMAT, dejagnu)), (Sniff::No, Sniff::No));
        assert!((junit::FORMAT.parse)(&Input::bytes("x", dejagnu.as_bytes())).is_err());
        let errors = [read(other), (junit::FORMAT.parse)(&Input::bytes("x", RUN.as_bytes()))];
        for error in errors {
            assert_eq!(error.unwrap_err().reject(), Some(Reject::NotThisFormat));
        }
        let odd = RUN.replace("\"error\"", "\"odd\"");
        assert_eq!(read(&odd).unwrap_err().reject(), Some(Reject::Malformed));
    }
}
