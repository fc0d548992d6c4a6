//! `libtest-json`: the events of Rust's test harness, one a line (`--format json`, unstable), and cargo-nextest's
//! imitation. Defined by `library/test/src/formatters/json.rs`. Each suite ends with an event of its own.

use serde::Deserialize;
use serde_json::Value;

use super::TestTally;
use super::json_report::{cut_short, declare, events, lacks, seconds, text, unknown_status};
use super::rust_failure::Failure;
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::text::first_lines;
use crate::ingest::{Format, Head, Parsed, Sniff, add};
use crate::model::cases::{Outcome, TestCase};
use crate::model::figures::{Figures, ReportKind};

/// Events of Rust's test harness.
pub const FORMAT: Format = Format {
    name: "libtest-json",
    kind: ReportKind::Test,
    about: "JSON lines of Rust tests",
    written_by: "cargo test -- --format json (nightly), cargo nextest --message-format libtest-json",
    told_by: "JSON lines of the types suite and test with an event",
    // Only a suite has one: whether another one was to come, nobody can tell.
    has_end: false,
    counting: "Each ok, failed or ignored event of a test is one test; a benchmark passed. A suite that started and \
               did not end was cut short.",
    sniff,
    parse,
};

#[derive(Deserialize)]
struct Event {
    #[serde(rename = "type")]
    kind: Option<String>,
    event: Option<String>,
    #[serde(default)]
    name: Value,
    #[serde(default)]
    exec_time: Value,
    #[serde(default)]
    stdout: Value,
    #[serde(default)]
    message: Value,
    #[serde(default)]
    passed: Value,
    #[serde(default)]
    failed: Value,
    #[serde(default)]
    ignored: Value,
    #[serde(default)]
    measured: Value,
}

const MARKER: &str = "\"event\"";

fn sniff(head: &Head<'_>) -> Sniff {
    let lines = || head.lines().filter(|line| line.starts_with('{'));
    let is_event = |line: &str| {
        let event = serde_json::from_str::<Event>(line).ok();
        event.is_some_and(|event| match (event.kind.as_deref(), event.event.as_deref()) {
            (Some("suite"), Some("started" | "ok" | "failed")) => true,
            (Some("test"), Some("started" | "ok" | "failed" | "ignored")) => event.name.is_string(),
            _ => false,
        })
    };
    // With `--message-format json` cargo's own messages stand before them, and those have a format of their own.
    let by_cargo = lines().any(|line| line.starts_with("{\"reason\":\""));
    match (lines().take(200).any(is_event), by_cargo) {
        (true, false) => Sniff::Sure("JSON lines of a Rust test run".into()),
        (true, true) => Sniff::Maybe("JSON lines of a Rust test run".into()),
        (false, _) => Sniff::No,
    }
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut run = Run { tally: TestTally::new(true), seen: false, open: 0, said: [0; 3] };
    let last = events(input, MARKER, |event: Event| run.event(&event))?;
    if !run.seen {
        return Err(lacks(&FORMAT, "event of a suite or test"));
    }
    if run.open > 0 {
        return Err(cut_short("its last suite ends", last));
    }
    let mut parsed = run.tally.finish(&FORMAT)?;
    let [passed, failed, skipped] = run.said.map(Some);
    declare(&mut parsed, Figures { passed, failed, skipped, ..Figures::default() });
    Ok(parsed)
}

struct Run {
    tally: TestTally,
    seen: bool,
    /// Suites that started and did not end.
    open: u64,
    /// Passed, failed and ignored, as the suites say.
    said: [u64; 3],
}

impl Run {
    fn event(&mut self, event: &Event) -> Result<()> {
        let (kind, what) = (event.kind.as_deref().unwrap_or_default(), event.event.as_deref().unwrap_or_default());
        match (kind, what) {
            ("suite", "started") => (self.seen, self.open) = (true, self.open.saturating_add(1)),
            ("suite", "ok" | "failed") => {
                (self.seen, self.open) = (true, self.open.saturating_sub(1));
                let count = |value: &Value| value.as_u64().unwrap_or(0);
                let ended =
                    [add(count(&event.passed), count(&event.measured))?, count(&event.failed), count(&event.ignored)];
                for (sum, count) in self.said.iter_mut().zip(ended) {
                    *sum = add(*sum, count)?;
                }
            }
            // A test that is slow is told to be so before it ends.
            ("test", "started" | "timeout") => self.seen = true,
            ("test", "ok") => self.case(event, Outcome::Passed)?,
            ("test", "failed") => self.case(event, Outcome::Failed)?,
            ("test", "ignored") => self.case(event, Outcome::Skipped)?,
            ("test", other) => return Err(unknown_status(other)),
            ("bench", _) => self.case(event, Outcome::Passed)?,
            _ => {}
        }
        Ok(())
    }

    fn case(&mut self, event: &Event, outcome: Outcome) -> Result<()> {
        self.seen = true;
        let mut case = TestCase::new(outcome);
        case.duration_ms = seconds(&event.exec_time);
        if outcome == Outcome::Failed {
            match text(&event.message) {
                Some(message) => case.message = first_lines(message),
                None => Failure::of(text(&event.stdout).unwrap_or_default()).tell(&mut case),
            }
        }
        let name = text(&event.name).unwrap_or("(unnamed)");
        // nextest puts the binary before a `$`, and the attempt after a `#`.
        let (binary, test) = name.split_once('$').map_or((None, name), |(binary, test)| (Some(binary), test));
        let mut test = test;
        if let Some((before, attempt)) = test.rsplit_once('#').filter(|_| binary.is_some())
            && let Ok(attempt) = attempt.parse()
        {
            (test, case.attempts) = (before, attempt);
        }
        let id = binary.map_or_else(|| test.to_owned(), |binary| format!("{binary}::{test}"));
        self.tally.case(&id, case)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    fn read(text: &str) -> Result<Parsed> {
        let end = "{\"type\":\"suite\",\"event\":\"failed\",\"passed\":1,\"failed\":1,\"ignored\":1}\n";
        parse(&Input::bytes("x", format!("{{\"type\":\"suite\",\"event\":\"started\"}}\n{text}{end}").as_bytes()))
    }

    const TESTS: &str = "{\"type\":\"test\",\"event\":\"started\",\"name\":\"a\"}\nRunning x\n\
                         {\"type\":\"test\",\"event\":\"ok\",\"name\":\"a\",\"exec_time\":0.25}\n\
                         {\"type\":\"test\",\"event\":\"failed\",\"name\":\"k::k$m::b#2\",\"stdout\":\"\\nno\\n\"}\n\
                         {\"type\":\"test\",\"event\":\"ignored\",\"name\":\"c\"}\n";

    #[test]
    fn results_are_counted_and_details_kept() {
        let parsed = read(TESTS).unwrap();
        assert_eq!((counts(&parsed), parsed.declared.is_none()), ([3, 1, 1, 0, 1], true));
        let details = details(&parsed);
        assert_eq!(details.cases.cases["a"].duration_ms, Some(250));
        let failed = &details.cases.cases["k::k::m::b"];
        assert_eq!((failed.message.as_deref(), failed.attempts, details.compiled), (Some("no"), 2, true));
        let bench = "{\"type\":\"bench\",\"name\":\"d\",\"median\":1}\n";
        assert_eq!(counts(&read(&(TESTS.to_owned() + bench)).unwrap()), [4, 2, 1, 0, 1]);
    }

    #[test]
    fn p32_a_suite_that_did_not_end_is_cut() {
        let open = "{\"type\":\"suite\",\"event\":\"started\"}\n";
        let error = read(&(TESTS.to_owned() + open)).unwrap_err();
        assert_eq!((error.reject(), error.place.line), (Some(Reject::Malformed), Some(8)));
        assert!(read("{\"type\":\"test\",\"event\":\"odd\"}\n").is_err());
        assert_eq!(parse(&Input::bytes("x", b"{}\n")).unwrap_err().reject(), Some(Reject::NotThisFormat));
    }

    #[test]
    fn beside_cargo_s_messages_it_may_be() {
        assert!(matches!(sniffed(&FORMAT, TESTS), Sniff::Sure(_)));
        let mixed = "{\"reason\":\"build-finished\",\"success\":true}\n".to_owned() + TESTS;
        assert!(matches!(sniffed(&FORMAT, &mixed), Sniff::Maybe(_)));
        assert_eq!(sniffed(&FORMAT, "{\"type\":\"suite\",\"suite\":{\"id\":0}}\n"), Sniff::No);
    }
}
