//! `apex-json`: the results of Apex tests as Salesforce's command line writes them: `test-result-ID.json`, and below `result`
//! what it prints. Written after its reference,
//! <https://developer.salesforce.com/docs/atlas.en-us.sfdx_cli_reference.meta/sfdx_cli_reference/cli_reference_apex_commands_unified.htm>:
//! to run it takes an organisation of theirs.

use serde::Deserialize;
use serde::de::MapAccess;
use serde_json::Value;

use super::TestTally;
use super::json_report::{Keys, Object, declare, items, lacks, text, unknown_status, whole_milliseconds};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::text::first_lines;
use crate::ingest::{Format, Head, Parsed, Sniff, json};
use crate::model::cases::{Outcome, TestCase};
use crate::model::figures::{Figures, ReportKind};

/// Results of Apex tests.
pub const FORMAT: Format = Format {
    name: "apex-json",
    kind: ReportKind::Test,
    about: "results of Salesforce's Apex tests",
    written_by: "sf apex run test --result-format json, --output-dir",
    told_by: "a JSON object with tests.ApexClass and tests.Outcome, at the top or below result",
    has_end: true,
    counting: "Each test: Pass passed, Fail failed, CompileFail errored, Skip skipped. The summary is left aside.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    match head.by_keys(&["tests.ApexClass", "tests.Outcome"]) {
        Sniff::No => head.by_keys(&["result.tests.ApexClass", "result.tests.Outcome"]),
        sure => sure,
    }
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut report = Report { tally: TestTally::new(true), has_tests: false, summary: Summary::default() };
    json::object(input, Object(&mut report))?;
    if !report.has_tests {
        return Err(lacks(&FORMAT, "tests"));
    }
    let mut parsed = report.tally.finish(&FORMAT)?;
    let Summary { tests_ran, passing, failing, skipped } = report.summary;
    // Classes that do not compile are among the failing.
    let failing =
        failing.as_u64().zip(parsed.figures.errored).map(|(failing, errored)| failing.saturating_sub(errored));
    let said = Figures {
        tests: tests_ran.as_u64(),
        passed: passing.as_u64(),
        failed: failing,
        skipped: skipped.as_u64(),
        ..Figures::default()
    };
    declare(&mut parsed, said);
    Ok(parsed)
}

struct Report {
    tally: TestTally,
    has_tests: bool,
    summary: Summary,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Summary {
    tests_ran: Value,
    passing: Value,
    failing: Value,
    skipped: Value,
}

impl Keys for Report {
    fn key<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        match key {
            "result" => map.next_value_seed(Object(self))?,
            "summary" => self.summary = map.next_value()?,
            "tests" => {
                self.has_tests = true;
                map.next_value_seed(items(|test: Test| test.count(&mut self.tally)))?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct Test {
    outcome: Value,
    full_name: Value,
    method_name: Value,
    message: Value,
    run_time: Value,
    apex_class: Class,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct Class {
    name: Value,
}

impl Test {
    fn count(&self, tally: &mut TestTally) -> Result<()> {
        let outcome = match text(&self.outcome).unwrap_or_default() {
            "Pass" => Outcome::Passed,
            "Fail" => Outcome::Failed,
            "CompileFail" => Outcome::Errored,
            "Skip" => Outcome::Skipped,
            other => return Err(unknown_status(other)),
        };
        let mut case = TestCase::new(outcome);
        case.duration_ms = whole_milliseconds(&self.run_time);
        case.message = text(&self.message).and_then(first_lines);
        let class = text(&self.apex_class.name);
        let id = match (class, text(&self.method_name), text(&self.full_name)) {
            (Some(class), Some(method), _) => format!("{class}::{method}"),
            (_, _, Some(full)) => full.to_owned(),
            (class, method, None) => class.or(method).unwrap_or("(unnamed)").to_owned(),
        };
        tally.case(&id, case)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    fn test(method: &str, outcome: &str, message: &str) -> String {
        format!(
            "{{\"Id\":\"07M\",\"StackTrace\":null,\"Message\":{message},\"MethodName\":\"{method}\",\"Outcome\":\"{outcome}\",\
             \"ApexClass\":{{\"Id\":\"01p\",\"Name\":\"CartTest\",\"NamespacePrefix\":null}},\"RunTime\":12,\
             \"FullName\":\"CartTest.{method}\"}}"
        )
    }

    #[test]
    fn outcomes_are_those_of_the_tests_at_the_top_and_below_result() {
        let tests = [
            test("adds", "Pass", "null"),
            test("fails", "Fail", "\"System.AssertException: no\""),
            test("built", "CompileFail", "\"x\""),
            test("later", "Skip", "null"),
        ];
        let summary = |passing: u64| {
            format!(
                "\"summary\":{{\"failing\":2,\"outcome\":\"Failed\",\"passing\":{passing},\"skipped\":1,\"testsRan\":4}}"
            )
        };
        let inner = format!("{{{},\"tests\":[{}]}}", summary(1), tests.join(","));
        let outer = format!("{{\"status\":100,\"result\":{inner},\"warnings\":[]}}");
        for text in [inner, outer] {
            assert!(matches!(sniffed(&FORMAT, &text), Sniff::Sure(_)), "{text}");
            let parsed = parse(&Input::bytes("x", text.as_bytes())).unwrap();
            assert_eq!((counts(&parsed), parsed.warnings.len()), ([4, 1, 1, 1, 1], 0));
            let case = &details(&parsed).cases.cases["CartTest::fails"];
            assert_eq!((case.duration_ms, case.message.as_deref()), (Some(12), Some("System.AssertException: no")));
            let wrong = text.replace("\"passing\":1", "\"passing\":7");
            assert_eq!(parse(&Input::bytes("x", wrong.as_bytes())).unwrap().warnings.len(), 1);
        }
    }

    #[test]
    fn other_outcomes_and_objects_without_tests_are_refused() {
        let read = |text: String| parse(&Input::bytes("x", text.as_bytes())).unwrap_err().reject();
        assert_eq!(read(format!("{{\"tests\":[{}]}}", test("a", "Great", "null"))), Some(Reject::Malformed));
        assert_eq!(read("{\"summary\":{}}".to_owned()), Some(Reject::NotThisFormat));
    }
}
