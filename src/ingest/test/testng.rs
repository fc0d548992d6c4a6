//! `testng`: `testng-results.xml`, TestNG's own report. <https://testng.org/#_testng_reports>

use std::collections::HashSet;

use super::TestTally;
use super::xml_report::{Dialect, OpenCase, unknown_result, walk};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::xml::Element;
use crate::ingest::{Format, Parsed};
use crate::model::cases::Outcome;
use crate::model::figures::ReportKind;

/// TestNG's own XML.
pub const FORMAT: Format = Format {
    name: "testng",
    kind: ReportKind::Test,
    about: "testng-results.xml of TestNG",
    written_by: "TestNG, alone and under Maven or Gradle",
    told_by: "root element testng-results",
    has_end: true,
    counting: "Each test-method is one test by its status; a failure within the success percentage passed. A \
               configuration method counts, as one errored test, only if it failed. An attempt that was retried is no \
               test; what passed after one is flaky.",
    sniff: |head| head.by_root(ROOTS),
    parse,
};

const ROOTS: &[&str] = &["testng-results"];

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let tally = TestTally::new(true);
    let mut reader = Reader { tally, class: String::new(), open: None, is_test: false, retried: HashSet::new() };
    walk(input, &FORMAT, ROOTS, &mut reader)?;
    reader.tally.finish(&FORMAT)
}

struct Reader {
    tally: TestTally,
    class: String,
    open: Option<OpenCase>,
    /// What is open counts as a test.
    is_test: bool,
    /// Ids of tests of the class that were tried before.
    retried: HashSet<String>,
}

impl Reader {
    fn begin(&mut self, element: &Element<'_>) -> Result<()> {
        let names = ["name", "status", "is-config", "retried", "duration-ms"];
        let [name, status, is_config, retried, duration] = element.attributes(names)?;
        let outcome = match status.as_deref().unwrap_or_default() {
            "PASS" | "SUCCESS_PERCENTAGE_FAILURE" => Outcome::Passed,
            "FAIL" => Outcome::Failed,
            "SKIP" => Outcome::Skipped,
            other => return Err(unknown_result(other, element.spot())),
        };
        let mut open = OpenCase::new(None, Some(self.class.clone()), name, outcome);
        open.case.duration_ms = duration.and_then(|duration| duration.parse().ok());
        let is_config = is_config.as_deref() == Some("true");
        if is_config && outcome == Outcome::Failed {
            self.tally.unit_failure(&open.id);
        }
        let is_retried = retried.as_deref() == Some("true");
        if is_retried && self.retried.len() < super::UNITS_KEPT {
            self.retried.insert(open.id.clone());
        }
        self.is_test = !is_config && !is_retried;
        self.open = Some(open);
        Ok(())
    }
}

impl Dialect for Reader {
    fn start(&mut self, element: &Element<'_>, parent: Option<&str>) -> Result<bool> {
        match (element.name(), parent) {
            ("class", Some("test")) => {
                self.class = element.attribute("name")?.unwrap_or_default();
                self.retried.clear();
            }
            ("test-method", Some("class")) => self.begin(element)?,
            ("message", Some("exception")) => return Ok(self.open.is_some()),
            _ => {}
        }
        Ok(false)
    }

    fn end(&mut self, name: &str, text: Option<&str>) -> Result<()> {
        match (name, &mut self.open) {
            ("message", Some(open)) => open.message(text),
            ("test-method", open) => {
                let Some(open) = open.take().filter(|_| self.is_test) else { return Ok(()) };
                if open.case.outcome == Outcome::Passed && self.retried.contains(&open.id) {
                    self.tally.count_flaky();
                }
                return open.done(&mut self.tally);
            }
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

    fn read(methods: &str) -> Result<Parsed> {
        let text =
            format!("<testng-results><suite><test><class name=\"C\">{methods}</class></test></suite></testng-results>");
        parse(&Input::bytes("x", text.as_bytes()))
    }

    fn method(name: &str, attributes: &str) -> String {
        let exception = "<exception class=\"E\"><message><![CDATA[ boom ]]></message></exception>";
        format!("<test-method name=\"{name}\" duration-ms=\"7\" {attributes}>{exception}</test-method>")
    }

    #[test]
    fn methods_count_by_status_and_failed_configuration_is_a_failed_unit() {
        let methods = [
            method("a", "status=\"PASS\""),
            method("b", "status=\"FAIL\""),
            method("c", "status=\"SKIP\""),
            method("p", "status=\"SUCCESS_PERCENTAGE_FAILURE\""),
            method("setUp", "status=\"PASS\" is-config=\"true\""),
            method("tearDown", "status=\"FAIL\" is-config=\"true\""),
        ];
        let parsed = read(&methods.concat()).unwrap();
        assert_eq!(counts(&parsed), [5, 2, 1, 1, 1]);
        let details = details(&parsed);
        assert_eq!(details.failed_units, ["C::tearDown"]);
        let case = &details.cases.cases["C::b"];
        assert_eq!((case.message.as_deref(), case.duration_ms), (Some("boom"), Some(7)));
        assert_eq!(read(&method("x", "status=\"ODD\"")).unwrap_err().reject(), Some(Reject::Malformed));
    }

    #[test]
    fn an_attempt_that_was_retried_is_no_test() {
        let methods = [
            method("a", "status=\"SKIP\" retried=\"true\""),
            method("a", "status=\"PASS\""),
            method("b", "status=\"SKIP\" retried=\"true\""),
            method("b", "status=\"FAIL\""),
        ];
        let parsed = read(&methods.concat()).unwrap();
        assert_eq!((counts(&parsed), parsed.figures.flaky), ([2, 1, 1, 0, 0], Some(1)));
    }
}
