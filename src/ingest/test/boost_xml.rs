//! `boost-xml`: the log and the report that Boost.Test writes as XML.
//! <https://www.boost.org/doc/libs/release/libs/test/doc/html/boost_test/test_output.html>
//!
//! The log tells what failed, the report (`--report_level=detailed`) what each test case came to.

use super::TestTally;
use super::xml_report::{Dialect, OpenCase, foreign, unknown_result, walk};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::text::printable;
use crate::ingest::xml::{Element, Spot};
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::cases::Outcome;
use crate::model::figures::ReportKind;

/// Boost.Test's XML.
pub const FORMAT: Format = Format {
    name: "boost-xml",
    kind: ReportKind::Test,
    about: "XML log or report of Boost.Test",
    written_by: "programs with Boost.Test (--log_format=XML, or --report_format=XML --report_level=detailed)",
    told_by: "root element TestLog or TestResult with TestSuite in it",
    has_end: true,
    counting: "Each TestCase is one test. In a report by its result: an aborted or timed out one is errored. In a log \
               it is errored with an Exception, else failed with an Error or FatalError (those that were expected too: \
               the log does not tell them), else skipped if it says so. A skipped suite is no test; a fixture of a \
               suite that failed is one errored test.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    match head.rooted(ROOTS) {
        Some(xml) if xml.has_child("TestSuite") => Sniff::Sure(format!("root element {} with TestSuite", xml.root)),
        _ => Sniff::No,
    }
}

const ROOTS: &[&str] = &["TestLog", "TestResult"];

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut reader = Reader {
        tally: TestTally::new(true),
        suites: Vec::new(),
        open: None,
        is_ours: false,
        is_short: false,
        broken: 0,
    };
    walk(input, &FORMAT, ROOTS, &mut reader)?;
    let spot = Spot { line: 1, column: 1 };
    if !reader.is_ours {
        return Err(foreign(&FORMAT, "no TestSuite is in it", spot));
    }
    if reader.is_short {
        return Err(foreign(&FORMAT, "it sums test cases up, and names none (--report_level=detailed does)", spot));
    }
    reader.tally.finish(&FORMAT)
}

struct Reader {
    tally: TestTally,
    /// Names of the open suites.
    suites: Vec<String>,
    open: Option<OpenCase>,
    is_ours: bool,
    /// A report that counts test cases, and has had none so far.
    is_short: bool,
    /// How many suites are open where a fixture of a suite failed last: what fails in it again is no other.
    broken: usize,
}

impl Reader {
    fn begin(&mut self, element: &Element<'_>) -> Result<()> {
        let [name, file, line, result, skipped] = element.attributes(["name", "file", "line", "result", "skipped"])?;
        let outcome = match (result.as_deref(), skipped.as_deref()) {
            (Some("passed"), _) | (None, None) => Outcome::Passed,
            (Some("failed"), _) => Outcome::Failed,
            (Some("aborted" | "timed-out"), _) => Outcome::Errored,
            (Some("skipped"), _) | (None, Some(_)) => Outcome::Skipped,
            (Some(other), _) => return Err(unknown_result(other, element.spot())),
        };
        let mut open = OpenCase::new(None, Some(self.suites.join("::")), name, outcome);
        open.case.file = file.map(|file| printable(&file, 1000));
        open.case.line = line.and_then(|line| line.parse().ok()).filter(|line| *line > 0);
        (self.open, self.is_short) = (Some(open), false);
        Ok(())
    }
}

impl Dialect for Reader {
    fn start(&mut self, element: &Element<'_>, _: Option<&str>) -> Result<bool> {
        let outcome = match element.name() {
            "TestSuite" => {
                let [name, result, late, counts @ ..] = element.attributes([
                    "name",
                    "result",
                    "test_cases_timed_out",
                    "test_cases_passed",
                    "test_cases_failed",
                    "test_cases_skipped",
                    "test_cases_aborted",
                ])?;
                // No test case did, so that it was a fixture of all of them.
                let has_failed = matches!(result.as_deref(), Some("failed" | "aborted")) && self.suites.is_empty();
                let [_, failed, _, aborted] = &counts;
                if has_failed && [failed, aborted, &late].into_iter().flatten().all(|count| count == "0") {
                    self.tally.unit_failure(name.as_deref().unwrap_or_default());
                }
                let counts_any = counts.iter().flatten().any(|count| count != "0");
                self.is_short |= !self.is_ours && counts_any;
                self.is_ours = true;
                self.suites.push(printable(&name.unwrap_or_default(), super::LONGEST_ID));
                return Ok(false);
            }
            "TestCase" => return self.begin(element).map(|()| false),
            "Error" | "FatalError" => Outcome::Failed,
            "Exception" => Outcome::Errored,
            _ => return Ok(false),
        };
        let Some(open) = &mut self.open else {
            if std::mem::replace(&mut self.broken, self.suites.len()) != self.suites.len() {
                self.tally.unit_failure(&self.suites.join("::"));
            }
            return Ok(false);
        };
        open.case.outcome = open.case.outcome.max(outcome);
        Ok(true)
    }

    fn end(&mut self, name: &str, text: Option<&str>) -> Result<()> {
        match (name, &mut self.open) {
            ("TestSuite", _) => {
                self.suites.pop();
                self.broken = 0;
            }
            ("TestCase", open) => return open.take().map_or(Ok(()), |open| open.done(&mut self.tally)),
            (_, Some(open)) => open.message(text),
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::test::tests_support::{counts, details};

    fn read(text: &str) -> Result<Parsed> {
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn a_fixture_of_all_test_cases_that_failed_is_one_errored_test() {
        let ok = "<TestCase name=\"ok\" file=\"a.cpp\" line=\"5\"></TestCase>";
        let log = format!("<TestLog><TestSuite name=\"M\">{ok}<Error>x</Error><Error>y</Error></TestSuite></TestLog>");
        let parsed = read(&log).unwrap();
        assert_eq!((counts(&parsed), details(&parsed).failed_units), ([2, 1, 0, 1, 0], vec!["M".to_owned()]));
        let thrown = read("<TestLog><TestSuite name=\"M\"><Exception>gs</Exception></TestSuite></TestLog>").unwrap();
        assert_eq!(counts(&thrown), [1, 0, 0, 1, 0]);
        let report = |result: &str, failed: u64, case: &str| {
            let suite = format!(
                "<TestSuite name=\"M\" result=\"{result}\" test_cases_passed=\"1\" test_cases_failed=\"{failed}\" \
                 test_cases_skipped=\"0\" test_cases_aborted=\"0\" test_cases_timed_out=\"0\">"
            );
            counts(
                &read(&format!("<TestResult>{suite}<TestCase name=\"a\" result=\"{case}\"/></TestSuite></TestResult>"))
                    .unwrap(),
            )
        };
        assert_eq!(report("failed", 0, "passed"), [2, 1, 0, 1, 0]);
        assert_eq!(report("aborted", 0, "passed"), [2, 1, 0, 1, 0]);
        assert_eq!(report("failed", 1, "failed"), [1, 0, 1, 0, 0]);
        assert_eq!(report("passed", 0, "passed"), [1, 1, 0, 0, 0]);
    }

    #[test]
    fn a_log_tells_by_what_failed() {
        let parsed = read(
            "<TestLog><TestSuite name=\"M\"><TestSuite name=\"s\" file=\"a.cpp\" line=\"1\"><TestCase name=\"a\" file=\"a.cpp\" line=\"5\">\
             <Error file=\"a.cpp\" line=\"6\"><![CDATA[1 != 2]]></Error><TestingTime>1</TestingTime></TestCase><TestCase name=\"b\">\
             <Error>x</Error><Exception><![CDATA[boom]]><LastCheckpoint>y</LastCheckpoint></Exception></TestCase></TestSuite>\
             <TestCase name=\"c\" skipped=\"yes\" reason=\"disabled\"/><TestCase name=\"d\"><Warning>w</Warning></TestCase></TestSuite></TestLog>",
        );
        let parsed = parsed.unwrap();
        assert_eq!(counts(&parsed), [4, 1, 1, 1, 1]);
        let case = &details(&parsed).cases.cases["M::s::a"];
        assert_eq!((case.line, case.message.as_deref()), (Some(5), Some("1 != 2")));
    }

    #[test]
    fn a_report_tells_by_result_and_one_that_names_no_test_is_refused() {
        let suite = |inner: &str| {
            format!(
                "<TestResult><TestSuite name=\"M\" test_cases_passed=\"1\" test_cases_failed=\"0\">{inner}</TestSuite></TestResult>"
            )
        };
        let case = |result: &str| format!("<TestCase name=\"{result}\" result=\"{result}\"/>");
        let all = ["passed", "failed", "aborted", "timed-out", "skipped"].map(case).concat();
        assert_eq!(counts(&read(&suite(&all)).unwrap()), [5, 1, 1, 2, 1]);
        assert_eq!(read(&suite("")).unwrap_err().reject(), Some(Reject::NotThisFormat));
        assert_eq!(read(&suite(&case("odd"))).unwrap_err().reject(), Some(Reject::Malformed));
        assert_eq!(read("<TestResult/>").unwrap_err().reject(), Some(Reject::NotThisFormat));
        let none = read("<TestResult><TestSuite name=\"M\" test_cases_passed=\"0\"/></TestResult>");
        assert_eq!(counts(&none.unwrap()), [0; 5]);
    }
}
