//! `catch2-json`: what Catch2's reporter JSON writes, from version 3.6 on. Written after its source,
//! <https://github.com/catchorg/Catch2/blob/devel/src/catch2/reporters/catch_reporter_json.cpp>: no such version was at hand.
//!
//! It tells whether assertions held, and nothing of exceptions: a test case that threw failed.

use serde::Deserialize;
use serde::de::MapAccess;
use serde_json::Value;

use super::TestTally;
use super::json_report::{Keys, Object, declare, lacks, line, path, text};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::json::items;
use crate::ingest::{Format, Parsed, json};
use crate::model::cases::{Outcome, TestCase};
use crate::model::figures::{Figures, ReportKind};

/// Catch2's JSON.
pub const FORMAT: Format = Format {
    name: "catch2-json",
    kind: ReportKind::Test,
    about: "JSON of Catch2: test cases with their assertions",
    written_by: "programs with Catch2 3.6 and newer, --reporter JSON",
    told_by: "a JSON object with metadata.catch2-version and test-run",
    has_end: true,
    counting: "Each test case is one test: failed if an assertion of it failed, else skipped if one failed as expected \
               or was skipped, else passed.",
    sniff: |head| head.by_keys(&["metadata.catch2-version", "test-run"]),
    parse,
};

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut report = Report { run: Run { tally: TestTally::new(true), total: None, has_cases: false } };
    json::object(input, Object(&mut report))?;
    let Run { tally, total, has_cases } = report.run;
    if !has_cases {
        return Err(lacks(&FORMAT, "test-cases"));
    }
    let mut parsed = tally.finish(&FORMAT)?;
    let said = total.map(|total| Figures {
        passed: Some(total.passed),
        failed: Some(total.failed),
        skipped: total.fail_but_ok.checked_add(total.skipped),
        ..Figures::default()
    });
    declare(&mut parsed, said.unwrap_or_default());
    Ok(parsed)
}

struct Report {
    run: Run,
}

impl Keys for Report {
    fn key<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        if key == "test-run" {
            map.next_value_seed(Object(&mut self.run))?;
        }
        Ok(key == "test-run")
    }
}

struct Run {
    tally: TestTally,
    total: Option<Counts>,
    has_cases: bool,
}

impl Keys for Run {
    fn key<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        match key {
            "test-cases" => {
                self.has_cases = true;
                let tally = &mut self.tally;
                map.next_value_seed(items(|test: Test| test.count(tally)))?;
            }
            "totals" => self.total = map.next_value::<RunTotals>()?.test_cases,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct RunTotals {
    test_cases: Option<Counts>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Counts {
    passed: u64,
    failed: u64,
    fail_but_ok: u64,
    /// Since version 3.3.
    #[serde(default)]
    skipped: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Test {
    #[serde(default)]
    test_info: Value,
    totals: Totals,
}

#[derive(Deserialize)]
struct Totals {
    assertions: Counts,
}

impl Test {
    fn count(&self, tally: &mut TestTally) -> Result<()> {
        let assertions = &self.totals.assertions;
        let outcome = match (assertions.failed, assertions.fail_but_ok, assertions.skipped) {
            (0, 0, 0) => Outcome::Passed,
            (0, _, _) => Outcome::Skipped,
            _ => Outcome::Failed,
        };
        let mut case = TestCase::new(outcome);
        if let Some(place) = self.test_info.get("source-location") {
            case.file = place.get("filename").and_then(path);
            case.line = place.get("line").and_then(line);
        }
        let name = self.test_info.get("name").and_then(text).unwrap_or("(unnamed)");
        tally.case(name, case)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::Sniff;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    fn read(run: &str) -> Result<Parsed> {
        let text = format!(
            "{{\"version\":1,\"metadata\":{{\"name\":\"t\",\"catch2-version\":\"3.6.0\"}},\"test-run\":{run}}}"
        );
        assert!(matches!(sniffed(&FORMAT, &text), Sniff::Sure(_)));
        parse(&Input::bytes("x", text.as_bytes()))
    }

    fn test(passed: u64, failed: u64, fail_but_ok: u64, skipped: u64) -> String {
        let totals =
            format!("\"passed\":{passed},\"failed\":{failed},\"fail-but-ok\":{fail_but_ok},\"skipped\":{skipped}");
        format!(
            "{{\"test-info\":{{\"name\":\"adds\",\"source-location\":{{\"filename\":\"a.cpp\",\"line\":5}},\"tags\":[\"cart\"]}},\
             \"runs\":[{{\"run-idx\":0,\"path\":[],\"totals\":{{\"assertions\":{{{totals}}}}}}}],\"totals\":{{\"assertions\":{{{totals}}}}}}}"
        )
    }

    #[test]
    fn assertions_tell_what_a_test_case_came_to() {
        for (assertions, expected) in [
            ([2, 0, 0, 0], [1, 1, 0, 0, 0]),
            ([0, 0, 0, 0], [1, 1, 0, 0, 0]),
            ([1, 1, 1, 1], [1, 0, 1, 0, 0]),
            ([1, 0, 1, 0], [1, 0, 0, 0, 1]),
            ([0, 0, 0, 1], [1, 0, 0, 0, 1]),
        ] {
            let [passed, failed, fail_but_ok, skipped] = assertions;
            let parsed = read(&format!("{{\"test-cases\":[{}]}}", test(passed, failed, fail_but_ok, skipped))).unwrap();
            assert_eq!(counts(&parsed), expected, "{assertions:?}");
            let case = &details(&parsed).cases.cases["adds"];
            assert_eq!((case.file.as_deref(), case.line), (Some("a.cpp"), Some(5)));
        }
    }

    #[test]
    fn totals_are_compared_and_a_list_of_tests_is_no_report() {
        let totals = "\"totals\":{\"test-cases\":{\"passed\":2,\"failed\":0,\"fail-but-ok\":0,\"skipped\":0}}";
        let parsed = read(&format!("{{\"test-cases\":[{}],{totals}}}", test(1, 0, 0, 0))).unwrap();
        assert_eq!((parsed.warnings.len(), parsed.declared.unwrap().passed), (1, Some(2)));
        assert_eq!(read("{}").unwrap_err().reject(), Some(Reject::NotThisFormat));
        let cut = format!(
            "{{\"metadata\":{{\"catch2-version\":\"3.6.0\"}},\"test-run\":{{\"test-cases\":[{}",
            test(1, 0, 0, 0)
        );
        assert_eq!(parse(&Input::bytes("x", cut.as_bytes())).unwrap_err().reject(), Some(Reject::Malformed));
    }
}
