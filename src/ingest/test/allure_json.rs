//! `allure-json`: what adapters write for Allure, a file a test (`…-result.json`), defined by
//! <https://allurereport.org/docs/how-it-works-test-result-file/>; and the summary of its report (`widgets/summary.json`).

use std::marker::PhantomData;

use serde::Deserialize;
use serde_json::Value;

use super::TestTally;
use super::json_report::{lacks, text, unknown_status};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::text::first_lines;
use crate::ingest::{Format, Head, Parsed, Sniff, json};
use crate::model::cases::{Outcome, TestCase};
use crate::model::figures::ReportKind;

/// Allure's JSON.
pub const FORMAT: Format = Format {
    name: "allure-json",
    kind: ReportKind::Test,
    about: "JSON of Allure: the result of one test, or the summary of a report",
    written_by: "adapters of Allure (allure-results/…-result.json), allure generate (widgets/summary.json)",
    told_by: "a JSON object with uuid, status and fullName or historyId; or with statistic.broken",
    has_end: true,
    counting: "A result is one test. Broken is errored, unknown skipped.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let results = ["fullName", "historyId", "testCaseId"].map(|key| head.by_keys(&["uuid", "status", key]));
    let told = results.into_iter().chain([head.by_keys(&["statistic.broken", "statistic.passed"])]);
    told.into_iter().find(|told| *told != Sniff::No).unwrap_or(Sniff::No)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    uuid: Option<String>,
    #[serde(default)]
    name: Value,
    #[serde(default)]
    full_name: Value,
    status: Option<String>,
    #[serde(default)]
    status_details: Value,
    #[serde(default)]
    start: Value,
    #[serde(default)]
    stop: Value,
    statistic: Option<Statistic>,
}

#[derive(Deserialize)]
struct Statistic {
    #[serde(default)]
    passed: u64,
    #[serde(default)]
    failed: u64,
    #[serde(default)]
    broken: u64,
    #[serde(default)]
    skipped: u64,
    #[serde(default)]
    unknown: u64,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let report: Report = json::object(input, PhantomData)?;
    let mut tally = TestTally::new(false);
    match (&report.statistic, report.uuid.is_some().then_some(report.status.as_deref()).flatten()) {
        (Some(sums), _) => {
            let all = [
                (Outcome::Passed, sums.passed),
                (Outcome::Failed, sums.failed),
                (Outcome::Errored, sums.broken),
                (Outcome::Skipped, sums.skipped),
                (Outcome::Skipped, sums.unknown),
            ];
            for (outcome, number) in all {
                tally.count(outcome, number)?;
                tally.details.dropped = tally.details.dropped.saturating_add(number);
            }
        }
        (None, Some(status)) => report.count(outcome(status)?, &mut tally)?,
        (None, None) => return Err(lacks(&FORMAT, "status of a test, and no sums")),
    }
    tally.finish(&FORMAT)
}

fn outcome(status: &str) -> Result<Outcome> {
    match status {
        "passed" => Ok(Outcome::Passed),
        "failed" => Ok(Outcome::Failed),
        "broken" => Ok(Outcome::Errored),
        "skipped" | "unknown" => Ok(Outcome::Skipped),
        other => Err(unknown_status(other)),
    }
}

impl Report {
    fn count(&self, outcome: Outcome, tally: &mut TestTally) -> Result<()> {
        let mut case = TestCase::new(outcome);
        case.duration_ms =
            self.stop.as_u64().zip(self.start.as_u64()).and_then(|(stop, start)| stop.checked_sub(start));
        if outcome.is_bad() {
            case.message = self.status_details.get("message").and_then(text).and_then(first_lines);
        }
        let name = text(&self.name).unwrap_or("(unnamed)");
        match text(&self.full_name) {
            // Of a test with parameters the full name is that of all of them.
            Some(full) if !full.ends_with(name) => tally.case(&format!("{full}::{name}"), case),
            full => tally.case(full.unwrap_or(name), case),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    fn read(text: &str) -> Result<Parsed> {
        parse(&Input::bytes("x", text.as_bytes()))
    }

    fn result(status: &str) -> String {
        format!(
            "{{\"uuid\":\"1\",\"historyId\":\"2\",\"name\":\"test_par[2]\",\"fullName\":\"test_a#test_par\",\"status\":\"{status}\",\
             \"statusDetails\":{{\"message\":\"no\"}},\"start\":1000,\"stop\":1250,\"steps\":[{{\"name\":\"s\",\"status\":\"failed\"}}]}}"
        )
    }

    #[test]
    fn a_file_is_one_test() {
        for (status, expected) in [
            ("passed", [1, 1, 0, 0, 0]),
            ("failed", [1, 0, 1, 0, 0]),
            ("broken", [1, 0, 0, 1, 0]),
            ("skipped", [1, 0, 0, 0, 1]),
            ("unknown", [1, 0, 0, 0, 1]),
        ] {
            assert_eq!(counts(&read(&result(status)).unwrap()), expected, "{status}");
        }
        let failed = details(&read(&result("failed")).unwrap());
        let case = &failed.cases.cases["test_a#test_par::test_par[2]"];
        assert_eq!((case.message.as_deref(), case.duration_ms), (Some("no"), Some(250)));
        assert!(matches!(sniffed(&FORMAT, &result("failed")), Sniff::Sure(_)));
        assert_eq!(read(&result("odd")).unwrap_err().reject(), Some(Reject::Malformed));
    }

    #[test]
    fn a_summary_has_sums() {
        let text = "{\"reportName\":\"x\",\"statistic\":{\"failed\":1,\"broken\":2,\"skipped\":3,\"passed\":4,\"unknown\":5,\"total\":15}}";
        assert_eq!(counts(&read(text).unwrap()), [15, 4, 1, 2, 8]);
        assert!(matches!(sniffed(&FORMAT, text), Sniff::Sure(_)));
        // A container of fixtures has no status.
        assert_eq!(read("{\"uuid\":\"1\",\"children\":[\"2\"]}").unwrap_err().reject(), Some(Reject::NotThisFormat));
    }
}
