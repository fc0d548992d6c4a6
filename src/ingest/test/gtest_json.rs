//! `gtest-json`: what GoogleTest writes with `--gtest_output=json`. Its definition is the schema in GoogleTest's
//! `docs/advanced.md`.

use serde::Deserialize;
use serde::de::MapAccess;
use serde_json::Value;

use super::TestTally;
use super::json_report::{Keys, Object, items, lacks, line, path, text};
use super::milliseconds;
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::text::first_lines;
use crate::ingest::{Format, Head, Parsed, Sniff, json};
use crate::model::cases::{Outcome, TestCase};
use crate::model::figures::ReportKind;

/// GoogleTest's JSON.
pub const FORMAT: Format = Format {
    name: "gtest-json",
    kind: ReportKind::Test,
    about: "JSON of GoogleTest",
    written_by: "programs with GoogleTest (--gtest_output=json)",
    told_by: "a JSON object with testsuites, and testsuite in them",
    has_end: true,
    counting: "Each element of a testsuite is one test: failed if it has failures, skipped if it was not run or its result is \
               SKIPPED or SUPPRESSED, else passed.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    if head.has_key("testsuites.testsuite") || (head.has_key("testsuites") && head.has_key("disabled")) {
        return Sniff::Sure("key testsuites".into());
    }
    Sniff::No
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut report = Report { tally: TestTally::new(true), has_suites: false };
    json::object(input, Object(&mut report))?;
    if !report.has_suites {
        return Err(lacks(&FORMAT, "testsuites"));
    }
    report.tally.finish(&FORMAT)
}

struct Report {
    tally: TestTally,
    has_suites: bool,
}

impl Keys for Report {
    fn key<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        if key != "testsuites" {
            return Ok(false);
        }
        self.has_suites = true;
        let tally = &mut self.tally;
        map.next_value_seed(items(|suite: Suite| {
            let name = text(&suite.name).unwrap_or_default();
            suite.testsuite.iter().try_for_each(|test| count(test, name, tally))
        }))?;
        Ok(true)
    }
}

#[derive(Deserialize)]
struct Suite {
    #[serde(default)]
    name: Value,
    testsuite: Vec<Test>,
}

#[derive(Deserialize)]
struct Test {
    #[serde(default)]
    name: Value,
    #[serde(default)]
    file: Value,
    #[serde(default)]
    line: Value,
    #[serde(default)]
    time: Value,
    status: String,
    #[serde(default)]
    result: Value,
    #[serde(default)]
    failures: Vec<Failure>,
}

#[derive(Deserialize)]
struct Failure {
    #[serde(default)]
    failure: Value,
}

fn count(test: &Test, suite: &str, tally: &mut TestTally) -> Result<()> {
    let outcome = match (test.status.as_str(), text(&test.result)) {
        _ if !test.failures.is_empty() => Outcome::Failed,
        ("NOTRUN", _) | (_, Some("SKIPPED" | "SUPPRESSED")) => Outcome::Skipped,
        _ => Outcome::Passed,
    };
    let mut case = TestCase::new(outcome);
    case.duration_ms = text(&test.time).and_then(|time| time.strip_suffix('s')).and_then(milliseconds);
    (case.file, case.line) = (path(&test.file), line(&test.line));
    case.message = test.failures.first().and_then(|first| text(&first.failure)).and_then(|text| {
        // Its first line is the place.
        first_lines(text.split_once('\n').map_or(text, |(_, rest)| rest))
    });
    tally.case(&format!("{suite}::{}", text(&test.name).unwrap_or("(unnamed)")), case)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    const RUN: &str = "{\"tests\":4,\"disabled\":1,\"name\":\"AllTests\",\"testsuites\":[{\"name\":\"Cart\",\"tests\":4,\"testsuite\":[\
                       {\"name\":\"Adds\",\"file\":\"a.cpp\",\"line\":3,\"status\":\"RUN\",\"result\":\"COMPLETED\",\"time\":\"0.012s\"},\
                       {\"name\":\"Fails\",\"status\":\"RUN\",\"failures\":[{\"failure\":\"a.cpp:4\\nExpected\"},{\"failure\":\"x\"}]},\
                       {\"name\":\"Skips\",\"status\":\"RUN\",\"result\":\"SKIPPED\"},{\"name\":\"DISABLED_Off\",\"status\":\"NOTRUN\"}]}]}";

    fn read(text: &str) -> Result<Parsed> {
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn each_test_counts() {
        let parsed = read(RUN).unwrap();
        assert_eq!(counts(&parsed), [4, 1, 1, 0, 2]);
        let details = details(&parsed);
        let case = &details.cases.cases["Cart::Adds"];
        assert_eq!((case.file.as_deref(), case.line, case.duration_ms), (Some("a.cpp"), Some(3), Some(12)));
        assert_eq!(details.cases.cases["Cart::Fails"].message.as_deref(), Some("Expected"));
        assert!(matches!(sniffed(&FORMAT, RUN), Sniff::Sure(_)));
    }

    #[test]
    fn what_lacks_suites_is_another_report() {
        assert_eq!(read("{\"tests\":0}").unwrap_err().reject(), Some(Reject::NotThisFormat));
        assert_eq!(read("{\"testsuites\":[{\"name\":\"a\"}]}").unwrap_err().reject(), Some(Reject::Malformed));
        assert_eq!(sniffed(&FORMAT, "{\"testsuites\":[]}"), Sniff::No);
    }
}
