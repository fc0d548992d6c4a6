//! `ctrf-json`: the Common Test Report Format, one JSON for all runners. Its definition is the schema at ctrf.io.
//!
//! It has no status for a test that could not be run: what broke in a set-up is failed.

use serde::Deserialize;
use serde::de::MapAccess;
use serde_json::Value;

use super::json_report::{
    Keys, Object, attempts, declare, items, lacks, line, path, text, unknown_status, whole_milliseconds,
};
use super::{TestTally, stack};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::text::first_lines;
use crate::ingest::{Format, Head, Parsed, Sniff, json};
use crate::model::cases::{Outcome, TestCase};
use crate::model::figures::{Figures, ReportKind};

/// CTRF.
pub const FORMAT: Format = Format {
    name: "ctrf-json",
    kind: ReportKind::Test,
    about: "Common Test Report Format (CTRF)",
    written_by: "the CTRF reporters of Jest, Playwright, pytest, Mocha, Cypress, Go, .NET and others",
    told_by: "a JSON object with results.tool and results.tests",
    has_end: true,
    counting: "Each of results.tests is one test: passed, failed; skipped, pending and other are skipped. A passed \
               test that is marked flaky is flaky. The summary is only compared.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    if head.has_key("results.tool") && (head.has_key("results.summary") || head.has_key("results.tests")) {
        return Sniff::Sure("keys results.tool and results.summary".into());
    }
    // The tool may come after the tests.
    if ["name", "status", "duration"].iter().all(|key| head.has_key(&format!("results.tests.{key}"))) {
        return Sniff::Sure("key results.tests".into());
    }
    Sniff::No
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let results = Results { tally: TestTally::new(false), has_tests: false, summary: None };
    let mut report = Report { results };
    json::object(input, Object(&mut report))?;
    let results = report.results;
    if !results.has_tests {
        return Err(lacks(&FORMAT, "results.tests"));
    }
    let summary = results.summary.unwrap_or_default();
    let not_run = [summary.skipped, summary.pending, summary.other];
    let skipped = not_run.iter().flatten().fold(0u64, |sum, count| sum.saturating_add(*count));
    let mut parsed = results.tally.finish(&FORMAT)?;
    let said = Figures {
        tests: summary.tests,
        passed: summary.passed,
        failed: summary.failed,
        skipped: summary.skipped.map(|_| skipped),
        ..Figures::default()
    };
    declare(&mut parsed, said);
    Ok(parsed)
}

struct Report {
    results: Results,
}

impl Keys for Report {
    fn key<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        if key == "results" {
            map.next_value_seed(Object(&mut self.results))?;
        }
        Ok(key == "results")
    }
}

struct Results {
    tally: TestTally,
    has_tests: bool,
    summary: Option<Summary>,
}

impl Keys for Results {
    fn key<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        match key {
            "tests" => {
                self.has_tests = true;
                let tally = &mut self.tally;
                map.next_value_seed(items(|test: Test| count(&test, tally)))?;
            }
            "summary" => self.summary = map.next_value()?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

#[derive(Deserialize, Default)]
struct Summary {
    tests: Option<u64>,
    passed: Option<u64>,
    failed: Option<u64>,
    skipped: Option<u64>,
    pending: Option<u64>,
    other: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Test {
    status: String,
    #[serde(default)]
    name: Value,
    #[serde(default)]
    suite: Value,
    #[serde(default)]
    duration: Value,
    #[serde(default)]
    message: Value,
    #[serde(default)]
    trace: Value,
    #[serde(default)]
    file_path: Value,
    #[serde(default)]
    line: Value,
    #[serde(default)]
    retries: Value,
    #[serde(default)]
    flaky: Value,
}

fn count(test: &Test, tally: &mut TestTally) -> Result<()> {
    let outcome = match test.status.as_str() {
        "passed" => Outcome::Passed,
        "failed" => Outcome::Failed,
        "skipped" | "pending" | "other" => Outcome::Skipped,
        other => return Err(unknown_status(other)),
    };
    if outcome == Outcome::Passed && test.flaky == Value::Bool(true) {
        tally.count_flaky();
    }
    let mut case = TestCase::new(outcome);
    case.duration_ms = whole_milliseconds(&test.duration);
    case.file = path(&test.file_path);
    case.line = line(&test.line);
    case.attempts = attempts(&test.retries);
    if outcome == Outcome::Failed {
        case.message = text(&test.message).and_then(first_lines);
        stack::place(&mut case, text(&test.trace).unwrap_or_default(), "");
    }
    tally.case(&id(test), case)
}

/// Suite and name; a name that begins with its file, as of pytest, says it all.
fn id(test: &Test) -> String {
    let name = text(&test.name).unwrap_or("(unnamed)");
    let file = text(&test.file_path);
    if file.is_some_and(|file| name.starts_with(file)) {
        return name.to_owned();
    }
    let suite = match &test.suite {
        Value::Array(suites) => Some(suites.iter().filter_map(text).collect::<Vec<_>>().join("::")),
        suite => text(suite).map(|suite| suite.replace(" > ", "::")),
    };
    match suite.filter(|suite| !suite.is_empty()).or(file.map(str::to_owned)) {
        Some(suite) => format!("{suite}::{name}"),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::test::tests_support::{counts, details};

    fn read(tests: &str) -> Result<Parsed> {
        let text = format!("{{\"results\":{{\"tool\":{{}},\"summary\":{{\"tests\":1}},\"tests\":[{tests}]}}}}");
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn statuses_are_outcomes_and_flaky_is_marked() {
        for (status, expected) in [
            ("passed", [1, 1, 0, 0, 0]),
            ("failed", [1, 0, 1, 0, 0]),
            ("skipped", [1, 0, 0, 0, 1]),
            ("pending", [1, 0, 0, 0, 1]),
            ("other", [1, 0, 0, 0, 1]),
        ] {
            let parsed = read(&format!("{{\"status\":\"{status}\",\"flaky\":true}}")).unwrap();
            assert_eq!(
                (counts(&parsed), parsed.figures.flaky),
                (expected, (status == "passed").then_some(1)),
                "{status}"
            );
        }
        assert!(read("{\"status\":\"Passed\"}").is_err());
        assert_eq!(parse(&Input::bytes("x", b"{\"results\":{}}")).unwrap_err().reject(), Some(Reject::NotThisFormat));
    }

    #[test]
    fn ids_are_suite_and_name() {
        for (test, expected) in [
            ("\"name\":\"t/a.py::b\",\"filePath\":\"t/a.py\",\"suite\":[\"t/a.py\"]", "t/a.py::b"),
            ("\"name\":\"c\",\"suite\":[\"A\",\"b\"]", "A::b::c"),
            ("\"name\":\"c\",\"suite\":\"A > b\",\"filePath\":\"x.js\"", "A::b::c"),
            ("\"name\":\"c\",\"suite\":[],\"filePath\":\"x.js\"", "x.js::c"),
            ("\"name\":\"c\"", "c"),
        ] {
            let parsed =
                read(&format!("{{\"status\":\"failed\",\"message\":\"no\",\"retries\":1,\"line\":2,{test}}}")).unwrap();
            let details = details(&parsed);
            let case = details.cases.cases.get(expected).unwrap_or_else(|| panic!("{expected}"));
            assert_eq!((case.message.as_deref(), case.attempts, case.line), (Some("no"), 2, Some(2)));
        }
    }
}
