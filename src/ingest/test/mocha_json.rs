//! `mocha-json`: the object of Mocha's JSON reporter, which Cypress has too. Its definition is Mocha's
//! `lib/reporters/json.js`. Mochawesome's JSON is another one: it has `results`. The reporter `json-stream` prints a line
//! for each event: what passed and what failed, and at the end how many are pending.

use serde::Deserialize;
use serde::de::MapAccess;
use serde_json::Value;

use super::json_report::{Keys, Object, attempts, cut_short, items, lacks, path, text, whole_milliseconds};
use super::{TestTally, stack};
use crate::error::{Error, Reject, Result};
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine, first_lines};
use crate::ingest::{Format, Head, Parsed, Sniff, json};
use crate::model::cases::{Outcome, TestCase};
use crate::model::figures::ReportKind;

/// Mocha's JSON.
pub const FORMAT: Format = Format {
    name: "mocha-json",
    kind: ReportKind::Test,
    about: "JSON of Mocha",
    written_by: "mocha --reporter json, mocha --reporter json-stream, cypress --reporter json",
    told_by: "a JSON object with stats and the lists tests, passes, failures, pending, or a line [\"start\",{\"total\":…",
    has_end: true,
    counting: "As many passed, failed and skipped tests as passes, failures and pending have elements; of a stream, as \
               many as it has events pass and fail, and skipped as its end says. A hook that failed is among the \
               failures.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let lists = ["tests", "passes", "failures"];
    if head.has_key("stats.passes") && lists.iter().any(|list| head.has_key(list)) {
        return Sniff::Sure("keys stats and tests".into());
    }
    // Written anew by another program, its totals may come last.
    if lists.iter().any(|list| head.has_key(&format!("{list}.fullTitle")) && head.has_key(&format!("{list}.err"))) {
        return Sniff::Sure("tests with fullTitle and err".into());
    }
    match head.lines().any(|line| line.starts_with(STARTS)) {
        true => Sniff::Sure("line [\"start\",{\"total\":…".into()),
        false => Sniff::No,
    }
}

/// How a stream begins.
const STARTS: &str = "[\"start\",{\"total\":";

/// Whether the line is an event of a stream.
pub(in crate::ingest) fn is_event(line: &str) -> bool {
    [STARTS, "[\"pass\",{\"", "[\"fail\",{\"", "[\"end\",{\""].iter().any(|start| line.starts_with(start))
}

/// An event of a stream. What a test prints stands between them.
fn event(line: &str) -> Option<(String, Value)> {
    line.starts_with("[\"").then(|| serde_json::from_str(line).ok()).flatten()
}

fn stream(input: &Input<'_>) -> Result<Option<Parsed>> {
    let mut tally: Option<TestTally> = None;
    let (mut has_ended, mut last) = (false, 0);
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
    while let Some(line) = lines.next()? {
        last = line.number;
        if line.text.starts_with(STARTS) {
            tally.get_or_insert_with(|| TestTally::new(false));
        }
        let (Some(tally), Some((name, told))) = (&mut tally, event(&line.text)) else { continue };
        let outcome = match name.as_str() {
            "pass" => Outcome::Passed,
            "fail" => Outcome::Failed,
            "end" => {
                has_ended = true;
                tally.count(Outcome::Skipped, told.get("pending").and_then(Value::as_u64).unwrap_or(0))?;
                continue;
            }
            _ => continue,
        };
        let test = serde_json::from_value(told).map_err(|error| {
            Error::report(Reject::Malformed, format!("an event of Mocha is none: {error}")).line(last)
        })?;
        count(&test, outcome, tally)?;
    }
    match tally {
        Some(tally) if has_ended => tally.finish(&FORMAT).map(Some),
        Some(_) => Err(cut_short("its event end", last)),
        None => Ok(None),
    }
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    if Head::read(input)?.lines().any(|line| line.starts_with(STARTS))
        && let Some(parsed) = stream(input)?
    {
        return Ok(parsed);
    }
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
        case.message = test.err.get("message").and_then(text).or(text(&test.err)).and_then(first_lines);
        stack::place(&mut case, test.err.get("stack").and_then(text).unwrap_or_default(), "");
    }
    let name = text(&test.full_title).or(text(&test.title)).unwrap_or("(unnamed)");
    let id = text(&test.file).map_or_else(|| name.to_owned(), |file| format!("{file}::{name}"));
    tally.case(&id, case)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::console::console;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    #[test]
    fn lists_are_counted_and_details_kept() {
        let text = "{\"stats\":{\"passes\":9},\"tests\":[{}],\"pending\":[{\"title\":\"p\"}],\"passes\":[{\"fullTitle\":\"A b\",\
                    \"file\":\"a.js\",\"duration\":3,\"currentRetry\":1}],\"failures\":[{\"fullTitle\":\"f\",\
                    \"err\":{\"message\":\"no\",\"stack\":\"Error: no\\n at Context.<anonymous> (test/a.js:8:5)\"}},{\"fullTitle\":\"hook\"}]}";
        let parsed = parse(&Input::bytes("x", text.as_bytes())).unwrap();
        assert_eq!(counts(&parsed), [4, 1, 2, 0, 1]);
        let details = details(&parsed);
        let case = &details.cases.cases["a.js::A b"];
        assert_eq!((case.duration_ms, case.attempts, case.file.as_deref()), (Some(3), 2, Some("a.js")));
        let failed = &details.cases.cases["f"];
        assert_eq!(
            (failed.message.as_deref(), failed.file.as_deref(), failed.line),
            (Some("no"), Some("test/a.js"), Some(8))
        );
        assert!(matches!(sniffed(&FORMAT, text), Sniff::Sure(_)));
    }

    #[test]
    fn a_stream_has_a_line_for_each_event() {
        let events = "hello\n[\"start\",{\"total\":3}]\n[\"pass\",{\"fullTitle\":\"A b\",\"file\":\"a.js\",\"duration\":3}]\n\
                      [1,2]\n[\"fail\",{\"fullTitle\":\"A c\",\"err\":\"no\",\"stack\":\"Error: no\"}]\n";
        let end = "[\"end\",{\"tests\":3,\"passes\":1,\"pending\":1,\"failures\":1}]\n";
        let text = format!("{events}{end}");
        let parsed = parse(&Input::bytes("x", text.as_bytes())).unwrap();
        assert_eq!((counts(&parsed), details(&parsed).cases.cases.len()), ([3, 1, 1, 0, 1], 2));
        assert_eq!(details(&parsed).cases.cases["A c"].message.as_deref(), Some("no"));
        assert!(matches!(sniffed(&FORMAT, &text), Sniff::Sure(_)));
        let told = console(&Input::bytes("x", text.as_bytes()));
        assert_eq!(told.iter().map(counts).collect::<Vec<_>>(), [[3, 1, 1, 0, 1]]);
        let cut = parse(&Input::bytes("x", events.as_bytes())).unwrap_err();
        assert_eq!(cut.reject(), Some(Reject::Malformed));
    }

    #[test]
    fn mochawesome_is_another_format() {
        let text = "{\"stats\":{\"suites\":1,\"passes\":1,\"failures\":0},\"results\":[{\"tests\":[]}]}";
        assert_eq!(sniffed(&FORMAT, text), Sniff::No);
        assert_eq!(parse(&Input::bytes("x", text.as_bytes())).unwrap_err().reject(), Some(Reject::NotThisFormat));
    }
}
