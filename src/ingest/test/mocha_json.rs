//! `mocha-json`: the object of Mocha's JSON reporter, which Cypress has too. Its definition is Mocha's
//! `lib/reporters/json.js`. Mochawesome's JSON is another one: it has `results`.

use serde::Deserialize;
use serde::de::MapAccess;
use serde_json::Value;

use super::TestTally;
use super::json_report::{Keys, Object, attempts, items, lacks, path, text, whole_milliseconds};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::text::first_lines;
use crate::ingest::{Format, Head, Parsed, Sniff, json};
use crate::model::cases::{Outcome, TestCase};
use crate::model::figures::ReportKind;

/// Mocha's JSON.
pub const FORMAT: Format = Format {
    name: "mocha-json",
    kind: ReportKind::Test,
    about: "JSON of Mocha",
    written_by: "mocha --reporter json, cypress --reporter json",
    told_by: "a JSON object with stats and the lists tests, passes, failures, pending",
    has_end: true,
    counting: "As many passed, failed and skipped tests as passes, failures and pending have elements. A hook that failed is \
               among the failures.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let lists = ["tests", "passes", "failures"];
    if head.has_key("stats.passes") && lists.iter().any(|list| head.has_key(list)) {
        return Sniff::Sure("keys stats and tests".into());
    }
    Sniff::No
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut report = Report { tally: TestTally::new(false), lists: 0 };
    json::object(input, Object(&mut report))?;
    if report.lists < 3 {
        return Err(lacks(&FORMAT, "passes, failures and pending"));
    }
    report.tally.finish(&FORMAT)
}

struct Report {
    tally: TestTally,
    /// How many of the three lists were met.
    lists: u8,
}

impl Keys for Report {
    fn key<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        let outcome = match key {
            "passes" => Outcome::Passed,
            "failures" => Outcome::Failed,
            "pending" => Outcome::Skipped,
            _ => return Ok(false),
        };
        self.lists += 1;
        let tally = &mut self.tally;
        map.next_value_seed(items(|test: Test| count(&test, outcome, tally)))?;
        Ok(true)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Test {
    #[serde(default)]
    title: Value,
    #[serde(default)]
    full_title: Value,
    #[serde(default)]
    file: Value,
    #[serde(default)]
    duration: Value,
    #[serde(default)]
    current_retry: Value,
    #[serde(default)]
    err: Value,
}

fn count(test: &Test, outcome: Outcome, tally: &mut TestTally) -> Result<()> {
    let mut case = TestCase::new(outcome);
    case.duration_ms = whole_milliseconds(&test.duration);
    case.file = path(&test.file);
    case.attempts = attempts(&test.current_retry);
    if outcome == Outcome::Failed {
        case.message = test.err.get("message").and_then(text).and_then(first_lines);
    }
    let name = text(&test.full_title).or(text(&test.title)).unwrap_or("(unnamed)");
    let id = text(&test.file).map_or_else(|| name.to_owned(), |file| format!("{file}::{name}"));
    tally.case(&id, case)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    #[test]
    fn lists_are_counted_and_details_kept() {
        let text = "{\"stats\":{\"passes\":9},\"tests\":[{}],\"pending\":[{\"title\":\"p\"}],\"passes\":[{\"fullTitle\":\"A b\",\
                    \"file\":\"a.js\",\"duration\":3,\"currentRetry\":1}],\"failures\":[{\"fullTitle\":\"f\",\
                    \"err\":{\"message\":\"no\"}},{\"fullTitle\":\"hook\"}]}";
        let parsed = parse(&Input::bytes("x", text.as_bytes())).unwrap();
        assert_eq!(counts(&parsed), [4, 1, 2, 0, 1]);
        let details = details(&parsed);
        let case = &details.cases.cases["a.js::A b"];
        assert_eq!((case.duration_ms, case.attempts, case.file.as_deref()), (Some(3), 2, Some("a.js")));
        assert_eq!(details.cases.cases["f"].message.as_deref(), Some("no"));
        assert!(matches!(sniffed(&FORMAT, text), Sniff::Sure(_)));
    }

    #[test]
    fn mochawesome_is_another_format() {
        let text = "{\"stats\":{\"suites\":1,\"passes\":1,\"failures\":0},\"results\":[{\"tests\":[]}]}";
        assert_eq!(sniffed(&FORMAT, text), Sniff::No);
        assert_eq!(parse(&Input::bytes("x", text.as_bytes())).unwrap_err().reject(), Some(Reject::NotThisFormat));
    }
}
