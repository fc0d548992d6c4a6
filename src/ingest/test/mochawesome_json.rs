//! `mochawesome-json`: the JSON of Mochawesome, which Cypress writes with it, and of mochawesome-merge. Its definition is
//! Mochawesome's `src/utils.js`. Suites hold tests and further suites.

use serde::Deserialize;
use serde::de::MapAccess;
use serde_json::Value;

use super::TestTally;
use super::json_report::{Keys, Object, items, lacks, path, text, whole_milliseconds};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::text::first_lines;
use crate::ingest::{Format, Head, Parsed, Sniff, json};
use crate::model::cases::{Outcome, TestCase};
use crate::model::figures::ReportKind;

/// Mochawesome's JSON.
pub const FORMAT: Format = Format {
    name: "mochawesome-json",
    kind: ReportKind::Test,
    about: "JSON of Mochawesome",
    written_by: "mocha --reporter mochawesome, cypress run --reporter mochawesome, mochawesome-merge",
    told_by: "a JSON object with stats.testsRegistered and results",
    has_end: true,
    counting: "Each test of a suite: fail failed, pending and skipped (after a hook that failed) skipped, pass passed. A hook that \
               failed is a failed test.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    if head.has_key("stats.testsRegistered") && head.has_key("results") {
        return Sniff::Sure("keys stats.testsRegistered and results".into());
    }
    Sniff::No
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut report = Report { tally: TestTally::new(false), has_results: false };
    json::object(input, Object(&mut report))?;
    if !report.has_results {
        return Err(lacks(&FORMAT, "results"));
    }
    report.tally.finish(&FORMAT)
}

struct Report {
    tally: TestTally,
    has_results: bool,
}

impl Keys for Report {
    fn key<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        if key != "results" {
            return Ok(false);
        }
        self.has_results = true;
        let tally = &mut self.tally;
        map.next_value_seed(items(|file: Suite| count_suite(file, None, tally)))?;
        Ok(true)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Suite {
    #[serde(default)]
    file: Value,
    before_hooks: Option<Vec<Test>>,
    tests: Option<Vec<Test>>,
    after_hooks: Option<Vec<Test>>,
    suites: Option<Vec<Suite>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Test {
    #[serde(default)]
    full_title: Value,
    #[serde(default)]
    title: Value,
    #[serde(default)]
    duration: Value,
    #[serde(default)]
    err: Value,
    pass: bool,
    fail: bool,
    #[serde(default)]
    is_hook: bool,
}

/// `file`: of the suite around it.
fn count_suite(suite: Suite, file: Option<&str>, tally: &mut TestTally) -> Result<()> {
    let file = text(&suite.file).or(file).map(str::to_owned);
    let lists = [suite.before_hooks, suite.tests, suite.after_hooks];
    // A hook that passed is no test.
    for test in lists.into_iter().flatten().flatten().filter(|test| test.fail || !test.is_hook) {
        count(&test, file.as_deref(), tally)?;
    }
    for inner in suite.suites.into_iter().flatten() {
        count_suite(inner, file.as_deref(), tally)?;
    }
    Ok(())
}

fn count(test: &Test, file: Option<&str>, tally: &mut TestTally) -> Result<()> {
    let outcome = match test {
        Test { fail: true, .. } => Outcome::Failed,
        Test { pass: true, .. } => Outcome::Passed,
        _ => Outcome::Skipped,
    };
    let mut case = TestCase::new(outcome);
    case.duration_ms = whole_milliseconds(&test.duration);
    case.file = file.and_then(|file| path(&Value::from(file)));
    if outcome == Outcome::Failed {
        case.message = test.err.get("message").and_then(text).and_then(first_lines);
    }
    let name = text(&test.full_title).or(text(&test.title)).unwrap_or("(unnamed)");
    let id = file.map_or_else(|| name.to_owned(), |file| format!("{file}::{name}"));
    tally.case(&id, case)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    fn test(title: &str, pass: bool, fail: bool, is_hook: bool) -> String {
        format!(
            "{{\"title\":\"x\",\"fullTitle\":\"Cart {title}\",\"duration\":3,\"pass\":{pass},\"fail\":{fail},\"isHook\":{is_hook},\
             \"err\":{{\"message\":\"no\"}}}}"
        )
    }

    fn report() -> String {
        let hooks = [test("hook", false, true, true), test("fine hook", true, false, true)].join(",");
        let tests = [test("adds", true, false, false), test("fails", false, true, false)].join(",");
        let inner = format!("{{\"file\":\"\",\"tests\":[{}]}}", test("later", false, false, false));
        format!(
            "{{\"stats\":{{\"tests\":3,\"testsRegistered\":3}},\"results\":[{{\"file\":\"a.js\",\"tests\":[{tests}],\
             \"beforeHooks\":[{hooks}],\"suites\":[{inner}]}}]}}"
        )
    }

    fn read(text: &str) -> Result<Parsed> {
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn tests_and_failed_hooks_count() {
        let parsed = read(&report()).unwrap();
        assert_eq!(counts(&parsed), [4, 1, 2, 0, 1]);
        let details = details(&parsed);
        let case = &details.cases.cases["a.js::Cart fails"];
        assert_eq!((case.message.as_deref(), case.duration_ms), (Some("no"), Some(3)));
        assert_eq!(details.cases.cases["a.js::Cart later"].file.as_deref(), Some("a.js"));
        assert!(matches!(sniffed(&FORMAT, &report()), Sniff::Sure(_)));
    }

    #[test]
    fn what_lacks_results_is_another_report() {
        assert_eq!(read("{\"stats\":{}}").unwrap_err().reject(), Some(Reject::NotThisFormat));
        assert_eq!(read("{\"results\":[{\"tests\":[{}]}]}").unwrap_err().reject(), Some(Reject::Malformed));
        assert_eq!(sniffed(&FORMAT, "{\"results\":[]}"), Sniff::No);
    }
}
