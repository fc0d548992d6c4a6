//! `cunit-xml`: the XML of CUnit's automated interface, `CUnitAutomated-Results.xml`. Its definition is `CUnit-Run.dtd`.
//!
//! Each assertion that fails is a record with the name of its test. A test that is inactive is only counted by CUnit, and has
//! no record.

use super::TestTally;
use super::xml_report::{Dialect, OpenCase, walk};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::text::printable;
use crate::ingest::xml::Element;
use crate::ingest::{Format, Parsed};
use crate::model::cases::Outcome;
use crate::model::figures::ReportKind;

/// CUnit's XML.
pub const FORMAT: Format = Format {
    name: "cunit-xml",
    kind: ReportKind::Test,
    about: "XML of CUnit",
    written_by: "programs with CUnit (CU_automated_run_tests)",
    told_by: "root element CUNIT_TEST_RUN_REPORT",
    has_end: true,
    counting: "Each test with a record is one test, however many of its assertions failed: success passed, failure \
               failed. A suite whose initialization or cleanup failed is one errored test.",
    sniff: |head| head.by_root(&["CUNIT_TEST_RUN_REPORT"]),
    parse,
};

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut reader = Reader { tally: TestTally::new(true), suite: String::new(), open: None, failed: None };
    walk(input, &FORMAT, &["CUNIT_TEST_RUN_REPORT"], &mut reader)?;
    reader.tally.finish(&FORMAT)
}

struct Reader {
    tally: TestTally,
    suite: String,
    open: Option<OpenCase>,
    /// The test of the record before, if that was a failure.
    failed: Option<String>,
}

impl Dialect for Reader {
    fn start(&mut self, element: &Element<'_>, _: Option<&str>) -> Result<bool> {
        match element.name() {
            "CUNIT_RUN_SUITE" | "CUNIT_RUN_GROUP" => (self.suite, self.failed) = (String::new(), None),
            "CUNIT_RUN_TEST_SUCCESS" => self.open = Some(OpenCase::new(None, None, None, Outcome::Passed)),
            "CUNIT_RUN_TEST_FAILURE" => self.open = Some(OpenCase::new(None, None, None, Outcome::Failed)),
            "SUITE_NAME" | "GROUP_NAME" => return Ok(true),
            "TEST_NAME" | "FILE_NAME" | "LINE_NUMBER" | "CONDITION" => return Ok(self.open.is_some()),
            _ => {}
        }
        Ok(false)
    }

    fn end(&mut self, name: &str, text: Option<&str>) -> Result<()> {
        let text = text.map(str::trim).filter(|text| !text.is_empty());
        match (name, &mut self.open) {
            ("SUITE_NAME" | "GROUP_NAME", _) => text.unwrap_or_default().clone_into(&mut self.suite),
            ("TEST_NAME", Some(open)) => {
                open.id = OpenCase::new(None, Some(self.suite.clone()), text.map(str::to_owned), open.case.outcome).id;
            }
            ("FILE_NAME", Some(open)) => open.case.file = text.map(|file| printable(file, 1000)),
            ("LINE_NUMBER", Some(open)) => {
                open.case.line = text.and_then(|line| line.parse().ok()).filter(|line| *line > 0);
            }
            ("CONDITION", Some(open)) => open.message(text),
            ("CUNIT_RUN_TEST_SUCCESS" | "CUNIT_RUN_TEST_FAILURE", Some(_)) => {
                let Some(open) = self.open.take() else { return Ok(()) };
                let failed = Some(open.id.clone()).filter(|_| open.case.outcome == Outcome::Failed);
                // Another assertion of the same test.
                if failed.is_some() && failed == self.failed {
                    return Ok(());
                }
                self.failed = failed;
                return open.done(&mut self.tally);
            }
            ("CUNIT_RUN_SUITE_FAILURE" | "CUNIT_RUN_GROUP_FAILURE", _) => self.tally.unit_failure(&self.suite),
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

    fn read(records: &str) -> Result<Parsed> {
        let text = format!(
            "<?xml version=\"1.0\" ?>\n<!DOCTYPE CUNIT_TEST_RUN_REPORT SYSTEM \"CUnit-Run.dtd\">\n<CUNIT_TEST_RUN_REPORT>\
             <CUNIT_HEADER/><CUNIT_RESULT_LISTING>{records}</CUNIT_RESULT_LISTING></CUNIT_TEST_RUN_REPORT>"
        );
        crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None)
    }

    fn failure(test: &str, line: u64) -> String {
        format!(
            "<CUNIT_RUN_TEST_RECORD><CUNIT_RUN_TEST_FAILURE><TEST_NAME> {test} </TEST_NAME><FILE_NAME> a.c </FILE_NAME>\
             <LINE_NUMBER> {line} </LINE_NUMBER><CONDITION> n &gt; {line} </CONDITION></CUNIT_RUN_TEST_FAILURE></CUNIT_RUN_TEST_RECORD>"
        )
    }

    #[test]
    fn assertions_of_one_test_are_one_failure() {
        let suite = |name: &str, records: &str| {
            format!(
                "<CUNIT_RUN_SUITE><CUNIT_RUN_SUITE_SUCCESS><SUITE_NAME> {name} </SUITE_NAME>{records}</CUNIT_RUN_SUITE_SUCCESS></CUNIT_RUN_SUITE>"
            )
        };
        let passed = "<CUNIT_RUN_TEST_RECORD><CUNIT_RUN_TEST_SUCCESS><TEST_NAME> adds </TEST_NAME></CUNIT_RUN_TEST_SUCCESS></CUNIT_RUN_TEST_RECORD>";
        let cart = suite("cart", &format!("{passed}{}{}{}", failure("x", 3), failure("x", 4), failure("y", 5)));
        let shop = suite("shop", &failure("y", 6));
        let broken = "<CUNIT_RUN_SUITE><CUNIT_RUN_SUITE_FAILURE><SUITE_NAME> db </SUITE_NAME><FAILURE_REASON> no </FAILURE_REASON></CUNIT_RUN_SUITE_FAILURE></CUNIT_RUN_SUITE>";
        let parsed = read(&format!("{cart}{shop}{broken}")).unwrap();
        assert_eq!(counts(&parsed), [5, 1, 3, 1, 0]);
        let details = details(&parsed);
        let case = &details.cases.cases["cart::x"];
        assert_eq!((case.file.as_deref(), case.line, case.message.as_deref()), (Some("a.c"), Some(3), Some("n > 3")));
        assert_eq!((details.failed_units, details.unit_failures), (vec!["db".to_owned()], 1));
        assert_eq!(counts(&read("").unwrap()), [0; 5]);
    }

    #[test]
    fn what_is_not_cunit_s_is_rejected() {
        let error = parse(&Input::bytes("x", b"<testsuites/>")).unwrap_err();
        assert_eq!(error.reject(), Some(Reject::NotThisFormat));
    }
}
