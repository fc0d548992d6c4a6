//! `sonar-tests`: SonarQube's generic test execution report.
//! <https://docs.sonarsource.com/sonarqube-server/analyzing-source-code/test-coverage/generic-test-data/>

use super::TestTally;
use super::xml_report::{Dialect, OpenCase, walk};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::text::printable;
use crate::ingest::xml::Element;
use crate::ingest::{Format, Parsed};
use crate::model::cases::Outcome;
use crate::model::figures::ReportKind;

/// SonarQube's generic test execution.
pub const FORMAT: Format = Format {
    name: "sonar-tests",
    kind: ReportKind::Test,
    about: "SonarQube's generic test execution XML",
    written_by: "jest-sonar, vitest-sonar-reporter, karma-sonarqube-unit-reporter, Catch2 --reporter sonarqube",
    told_by: "root element testExecutions or unitTest",
    has_end: true,
    counting: "Each testCase is one test: errored with error, else failed with failure, else skipped with skipped, \
               else passed.",
    sniff: |head| head.by_root(ROOTS),
    parse,
};

const ROOTS: &[&str] = &["testExecutions", "unitTest"];

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut reader = Reader { tally: TestTally::new(false), file: None, open: None };
    walk(input, &FORMAT, ROOTS, &mut reader)?;
    reader.tally.finish(&FORMAT)
}

struct Reader {
    tally: TestTally,
    file: Option<String>,
    open: Option<OpenCase>,
}

impl Dialect for Reader {
    fn start(&mut self, element: &Element<'_>, parent: Option<&str>) -> Result<bool> {
        let outcome = match (element.name(), parent) {
            ("file", Some("testExecutions" | "unitTest")) => {
                self.file = element.attribute("path")?.map(|path| printable(&path, 1000));
                return Ok(false);
            }
            ("testCase", Some("file")) => {
                let [name, duration] = element.attributes(["name", "duration"])?;
                let mut open = OpenCase::new(None, self.file.clone(), name, Outcome::Passed);
                open.case.file = self.file.clone();
                open.case.duration_ms = duration.and_then(|duration| duration.parse().ok());
                self.open = Some(open);
                return Ok(false);
            }
            ("error", Some("testCase")) => Outcome::Errored,
            ("failure", Some("testCase")) => Outcome::Failed,
            ("skipped", Some("testCase")) => Outcome::Skipped,
            _ => return Ok(false),
        };
        let Some(open) = &mut self.open else { return Ok(false) };
        open.case.outcome = open.case.outcome.max(outcome);
        open.message(element.attribute("message")?.as_deref());
        Ok(true)
    }

    fn end(&mut self, name: &str, text: Option<&str>) -> Result<()> {
        match (name, &mut self.open) {
            ("testCase", open) => open.take().map_or(Ok(()), |open| open.done(&mut self.tally)),
            (_, Some(open)) => {
                open.message(text);
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::test::tests_support::{counts, details};

    #[test]
    fn the_worst_result_of_a_test_counts_once() {
        let text = "<testExecutions version=\"1\"><file path=\"a.js\"><testCase name=\"a\" duration=\"12\"/><testCase name=\"b\">\
                    <failure message=\"no\">at b</failure></testCase><testCase name=\"c\"><skipped message=\"x\"/></testCase>\
                    <testCase name=\"d\"><failure/><error message=\"\">boom</error></testCase></file></testExecutions>";
        let parsed = parse(&Input::bytes("x", text.as_bytes())).unwrap();
        assert_eq!(counts(&parsed), [4, 1, 1, 1, 1]);
        let cases = &details(&parsed).cases.cases;
        assert_eq!(cases["a.js::a"].duration_ms, Some(12));
        let told = ["a.js::b", "a.js::d"].map(|id| cases[id].message.as_deref());
        assert_eq!(told, [Some("no"), Some("boom")]);
        assert_eq!(cases["a.js::b"].file.as_deref(), Some("a.js"));
    }
}
