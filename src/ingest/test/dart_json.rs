//! `dart-json`: the events of Dart's and Flutter's test runner, one a line; defined in `json_reporter.md` of the Dart
//! package `test`. They end with `done`.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::Value;

use super::json_report::{cut_short, events, lacks, line, path, text, unknown_status};
use super::{CASES_KEPT, TestTally};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::text::first_lines;
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::cases::{Outcome, TestCase};
use crate::model::figures::ReportKind;

/// Events of Dart's test runner.
pub const FORMAT: Format = Format {
    name: "dart-json",
    kind: ReportKind::Test,
    about: "JSON lines of Dart and Flutter tests",
    written_by: "dart test --reporter json, flutter test --machine",
    told_by: "JSON lines of the types start, testStart, testDone",
    has_end: true,
    counting: "Each testDone that is not hidden is one test: skipped, else success passed, failure failed, error \
               errored. A file that does not load is such a test.",
    sniff,
    parse,
};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Event {
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    protocol_version: Value,
    #[serde(default)]
    suite: Value,
    #[serde(default)]
    test: Value,
    #[serde(default, rename = "testID")]
    test_id: Value,
    #[serde(default)]
    result: Value,
    #[serde(default)]
    skipped: bool,
    #[serde(default)]
    hidden: bool,
    #[serde(default)]
    error: Value,
    #[serde(default)]
    time: Value,
}

const MARKER: &str = "\"type\":\"test";

/// Whether the line is an event: its type and its time come last.
pub(in crate::ingest) fn is_event(line: &str) -> bool {
    let rest = line.trim_end().strip_suffix('}').map(|rest| rest.trim_end_matches(|c: char| c.is_ascii_digit()));
    let kind = rest.and_then(|rest| rest.strip_suffix("\",\"time\":")).and_then(|rest| rest.rsplit_once('"'));
    line.starts_with('{') && kind.is_some_and(|(before, _)| before.ends_with("\"type\":"))
}

fn sniff(head: &Head<'_>) -> Sniff {
    let is_event = |line: &str| {
        let event = serde_json::from_str::<Event>(line).ok()?;
        match event.kind.as_deref()? {
            "start" => event.protocol_version.is_string().then_some(()),
            "testStart" => event.test.is_object().then_some(()),
            "testDone" => (event.test_id.is_number() && event.result.is_string()).then_some(()),
            _ => None,
        }
    };
    if head.lines().filter(|line| line.starts_with('{')).take(50).any(|line| is_event(line).is_some()) {
        return Sniff::Sure("JSON lines of a Dart test run".into());
    }
    Sniff::No
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut run = Run::default();
    let mut tally = TestTally::new(true);
    let last = events(input, MARKER, |event: Event| run.event(&event, &mut tally))?;
    if !run.seen {
        return Err(lacks(&FORMAT, "line that starts or ends a test"));
    }
    if !run.done {
        return Err(cut_short("the run is done", last));
    }
    tally.finish(&FORMAT)
}

/// A test that started.
struct Started {
    id: String,
    case: TestCase,
    /// Milliseconds since the run began.
    at: Option<u64>,
}

#[derive(Default)]
struct Run {
    /// Paths of the suites.
    suites: HashMap<u64, String>,
    running: HashMap<u64, Started>,
    seen: bool,
    done: bool,
}

impl Run {
    fn event(&mut self, event: &Event, tally: &mut TestTally) -> Result<()> {
        let number = |value: &Value, key: &str| value.get(key).and_then(Value::as_u64);
        match event.kind.as_deref() {
            Some("start") if event.protocol_version.is_string() => self.seen = true,
            Some("suite") => {
                let path = event.suite.get("path").and_then(text);
                if let (Some(id), Some(path)) = (number(&event.suite, "id"), path)
                    && self.suites.len() < CASES_KEPT
                {
                    self.suites.insert(id, path.to_owned());
                }
            }
            Some("testStart") => {
                self.seen = true;
                if let Some(id) = number(&event.test, "id").filter(|_| self.running.len() < CASES_KEPT) {
                    let started = self.started(event);
                    self.running.insert(id, started);
                }
            }
            Some("error") => {
                let test = event.test_id.as_u64().and_then(|id| self.running.get_mut(&id));
                if let Some(test) = test.filter(|test| test.case.message.is_none()) {
                    test.case.message = text(&event.error).and_then(first_lines);
                }
            }
            Some("testDone") => {
                self.seen = true;
                self.test_done(event, tally)?;
            }
            Some("done") => self.done = true,
            _ => {}
        }
        Ok(())
    }

    fn started(&self, event: &Event) -> Started {
        let get = |key: &str| event.test.get(key).unwrap_or(&Value::Null);
        let suite = get("suiteID").as_u64().and_then(|id| self.suites.get(&id));
        let name = text(get("name")).unwrap_or("(unnamed)");
        let mut case = TestCase::new(Outcome::Passed);
        case.file = suite.and_then(|suite| path(&Value::from(suite.as_str())));
        // A line in a helper has its place in `root_line`.
        case.line = line(get("root_line")).or(line(get("line")));
        let id = suite.map_or_else(|| name.to_owned(), |suite| format!("{suite}::{name}"));
        Started { id, case, at: event.time.as_u64() }
    }

    fn test_done(&mut self, event: &Event, tally: &mut TestTally) -> Result<()> {
        let started = event.test_id.as_u64().and_then(|id| self.running.remove(&id));
        if event.hidden {
            return Ok(());
        }
        let outcome = match text(&event.result).unwrap_or_default() {
            _ if event.skipped => Outcome::Skipped,
            "success" => Outcome::Passed,
            "failure" => Outcome::Failed,
            "error" => Outcome::Errored,
            other => return Err(unknown_status(other)),
        };
        let started =
            started.unwrap_or_else(|| Started { id: "(unnamed)".to_owned(), case: TestCase::new(outcome), at: None });
        let duration_ms = event.time.as_u64().zip(started.at).and_then(|(end, start)| end.checked_sub(start));
        let message = started.case.message.filter(|_| outcome.is_bad());
        tally.case(&started.id, TestCase { outcome, duration_ms, message, ..started.case })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::test::tests_support::{counts, details};

    const DONE: &str = "{\"success\":true,\"type\":\"done\",\"time\":9}\n";

    fn done(result: &str) -> String {
        format!("{{\"testID\":3,\"result\":\"{result}\",\"type\":\"testDone\",\"time\":7}}\n")
    }

    fn read(text: &str) -> Result<Parsed> {
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn results_are_outcomes_and_hidden_ones_none() {
        for (text, expected) in [
            (done("success"), [1, 1, 0, 0, 0]),
            (done("failure"), [1, 0, 1, 0, 0]),
            (done("error"), [1, 0, 0, 1, 0]),
            (done("success").replace("\"type\"", "\"skipped\":true,\"type\""), [1, 0, 0, 0, 1]),
            (done("success").replace("\"type\"", "\"hidden\":true,\"type\""), [0, 0, 0, 0, 0]),
        ] {
            assert_eq!(counts(&read(&(text.clone() + DONE)).unwrap()), expected, "{text}");
        }
        assert!(read(&(done("odd") + DONE)).is_err());
        assert_eq!(read(&done("success")).unwrap_err().reject(), Some(Reject::Malformed), "p02: it is not done");
        assert_eq!(read(DONE).unwrap_err().reject(), Some(Reject::NotThisFormat));
    }

    #[test]
    fn a_test_has_suite_name_place_duration_and_message() {
        let start = "{\"suite\":{\"id\":0,\"path\":\"test/a.dart\"},\"type\":\"suite\"}\n[{\"event\":\"x\"}]\n\
                     {\"test\":{\"id\":3,\"name\":\"A b\",\"suiteID\":0,\"line\":4},\"type\":\"testStart\",\"time\":2}\n\
                     {\"testID\":3,\"error\":\"no\",\"type\":\"error\"}\n";
        let details = details(&read(&(start.to_owned() + &done("failure") + DONE)).unwrap());
        let case = &details.cases.cases["test/a.dart::A b"];
        assert_eq!((case.line, case.duration_ms, case.file.as_deref()), (Some(4), Some(5), Some("test/a.dart")));
        assert_eq!(case.message.as_deref(), Some("no"));
    }
}
