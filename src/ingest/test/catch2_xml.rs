//! `catch2-xml`: the XML reporters of Catch2 and doctest, which grew out of it. Their source is their definition.
//!
//! Both write one element for each test case, with the assertions that failed and the result at its end. Neither tells a
//! section apart as a test.

use super::TestTally;
use super::xml_report::{Dialect, OpenCase, foreign, walk};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::text::printable;
use crate::ingest::xml::Element;
use crate::ingest::{Format, Parsed};
use crate::model::cases::Outcome;
use crate::model::figures::ReportKind;

/// Catch2's and doctest's XML.
pub const FORMAT: Format = Format {
    name: "catch2-xml",
    kind: ReportKind::Test,
    about: "XML of Catch2 and doctest",
    written_by: "programs with Catch2 or doctest (--reporter xml)",
    told_by: "root element Catch, Catch2TestRun or doctest",
    has_end: true,
    counting: "Each TestCase is one test. Without success it failed, or is errored if it threw; skipped where it is \
               marked so, and where it failed as it should or may. One that does not tell its result is errored.",
    sniff: |head| head.by_root(ROOTS),
    parse,
};

const ROOTS: &[&str] = &["Catch", "Catch2TestRun", "doctest"];

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut reader = Reader { tally: TestTally::new(true), suite: String::new(), open: None };
    walk(input, &FORMAT, ROOTS, &mut reader)?;
    reader.tally.finish(&FORMAT)
}

struct Reader {
    tally: TestTally,
    /// Of doctest.
    suite: String,
    open: Option<Test>,
}

struct Test {
    case: OpenCase,
    /// A failure of it is no failure.
    may_fail: bool,
    failed: bool,
    threw: bool,
    skipped: bool,
    succeeded: Option<bool>,
}

impl Reader {
    fn begin(&mut self, element: &Element<'_>) -> Result<()> {
        let names = ["name", "tags", "filename", "line", "skipped", "should_fail", "may_fail"];
        let [name, tags, file, line, skipped, should_fail, may_fail] = element.attributes(names)?;
        let is_true = |value: &Option<String>| value.as_deref() == Some("true");
        let is_tagged = |tag: &str| tags.as_ref().is_some_and(|tags| tags.contains(tag));
        let mut case = OpenCase::new(None, Some(self.suite.clone()), name, Outcome::Errored);
        case.case.file = file.map(|file| printable(&file, 1000));
        case.case.line = line.and_then(|line| line.parse().ok()).filter(|line| *line > 0);
        self.open = Some(Test {
            case,
            may_fail: is_true(&should_fail)
                || is_true(&may_fail)
                || is_tagged("[!shouldfail]")
                || is_tagged("[!mayfail]"),
            failed: false,
            threw: false,
            skipped: is_true(&skipped),
            succeeded: None,
        });
        Ok(())
    }
}

impl Dialect for Reader {
    fn start(&mut self, element: &Element<'_>, _: Option<&str>) -> Result<bool> {
        let name = element.name();
        let Some(test) = &mut self.open else {
            match name {
                "TestSuite" => self.suite = element.attribute("name")?.unwrap_or_default(),
                "TestCase" => self.begin(element)?,
                // What `--list-test-cases` writes has the root of a run.
                "OverallResultsTestCases" if element.attribute("unskipped")?.is_some() => {
                    return Err(foreign(&FORMAT, "it lists test cases, not their results", element.spot()));
                }
                _ => {}
            }
            return Ok(false);
        };
        match name {
            "Exception" | "FatalErrorCondition" => (test.failed, test.threw) = (true, true),
            "Failure" => test.failed = true,
            "Expression" => test.failed |= element.attribute("success")?.as_deref() == Some("false"),
            "Skip" => test.skipped = true,
            "OverallResult" | "OverallResultsAsserts" => {
                let [success, of_case, failures] = element.attributes(["success", "test_case_success", "failures"])?;
                // Of doctest, whose decorator expected_failures is not told.
                test.may_fail |=
                    of_case.as_deref() == Some("true") && failures.as_deref().is_some_and(|all| all != "0");
                // Older versions of doctest tell numbers alone.
                test.succeeded = match success.or(of_case) {
                    Some(success) => Some(success == "true"),
                    None => failures.map(|failures| failures == "0" && !test.threw),
                };
            }
            "OverallResults" | "StdOut" | "StdErr" => {}
            _ => return Ok(test.failed),
        }
        Ok(matches!(name, "Exception" | "FatalErrorCondition" | "Failure"))
    }

    fn end(&mut self, name: &str, text: Option<&str>) -> Result<()> {
        if name != "TestCase" {
            let text = text.map(str::trim).filter(|text| !text.is_empty());
            self.open.iter_mut().for_each(|test| test.case.message(text));
            return Ok(());
        }
        let Some(mut test) = self.open.take() else { return Ok(()) };
        let case = &mut test.case.case;
        case.outcome = match test.succeeded {
            Some(false) if test.threw => Outcome::Errored,
            Some(false) => Outcome::Failed,
            Some(true) if test.failed && test.may_fail => Outcome::Skipped,
            _ if test.skipped => Outcome::Skipped,
            Some(true) => Outcome::Passed,
            None => Outcome::Errored,
        };
        if matches!(case.outcome, Outcome::Passed | Outcome::Skipped) {
            case.message = None;
        }
        test.case.done(&mut self.tally)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::test::tests_support::{counts, details};

    fn read(text: &str) -> Parsed {
        parse(&Input::bytes("x", text.as_bytes())).unwrap()
    }

    #[test]
    fn catch2_s_cases_count_once_whatever_their_sections() {
        let failing = "<Expression success=\"false\"><Original>1 == 2</Original></Expression>";
        let text = format!(
            "<Catch2TestRun name=\"t\"><TestCase name=\"a\" filename=\"a.cpp\" line=\"3\"><Section name=\"s\">{failing}\
             <OverallResults successes=\"0\" failures=\"1\"/></Section><OverallResult success=\"false\"/></TestCase>\
             <TestCase name=\"b\"><Exception>boom</Exception><OverallResult success=\"false\"/></TestCase>\
             <TestCase name=\"c\" tags=\"[!mayfail]\">{failing}<OverallResult success=\"true\"/></TestCase>\
             <TestCase name=\"d\" tags=\"[!mayfail]\"><OverallResult success=\"true\"/></TestCase>\
             <TestCase name=\"e\"><Skip/><OverallResult success=\"true\" skips=\"1\"/></TestCase>\
             <TestCase name=\"f\">{failing}<OverallResult success=\"true\"/></TestCase><TestCase name=\"g\"/>\
             <OverallResultsCases successes=\"1\"/></Catch2TestRun>"
        );
        let parsed = read(&text);
        assert_eq!(counts(&parsed), [7, 2, 1, 2, 2]);
        let details = details(&parsed);
        let case = &details.cases.cases["a"];
        assert_eq!((case.file.as_deref(), case.line), (Some("a.cpp"), Some(3)));
        assert_eq!(case.message.as_deref(), Some("1 == 2"));
        assert_eq!(details.cases.cases["b"].message.as_deref(), Some("boom"));
    }

    #[test]
    fn doctest_s_suites_are_part_of_the_name() {
        let parsed = read(
            "<doctest><TestSuite name=\"s\"><TestCase name=\"a\"><OverallResultsAsserts failures=\"1\" test_case_success=\"false\"/></TestCase>\
             </TestSuite><TestSuite><TestCase name=\"b\" skipped=\"true\"/><TestCase name=\"c\"><OverallResultsAsserts failures=\"0\"/></TestCase>\
             <TestCase name=\"d\" should_fail=\"true\"><Expression success=\"false\"/><OverallResultsAsserts failures=\"1\" test_case_success=\"true\"/>\
             </TestCase><TestCase name=\"e\"><Expression success=\"false\"/><OverallResultsAsserts failures=\"1\" test_case_success=\"true\"/>\
             </TestCase></TestSuite></doctest>",
        );
        assert_eq!(counts(&parsed), [5, 1, 1, 0, 3]);
        assert_eq!(details(&parsed).cases.outcome("s::a"), Some(Outcome::Failed));
    }

    #[test]
    fn a_list_of_tests_is_no_run() {
        let text =
            "<doctest><TestCase name=\"a\" skipped=\"false\"/><OverallResultsTestCases unskipped=\"1\"/></doctest>";
        let error = (FORMAT.parse)(&Input::bytes("x", text.as_bytes())).unwrap_err();
        assert_eq!(error.reject(), Some(crate::error::Reject::NotThisFormat));
    }
}
