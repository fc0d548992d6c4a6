//! `pytest-reportlog`: the JSON lines of the plugin pytest-reportlog, one a report of pytest: a phase of a test, a
//! subtest, a collector. They end with `SessionFinish`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::json_report::{cut_short, events, lacks, line, path, seconds, text, unknown_status};
use super::{CASES_KEPT, TestTally, pytest_json};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::text::first_lines;
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::cases::{Outcome, TestCase};
use crate::model::figures::ReportKind;

/// JSON lines of pytest-reportlog.
pub const FORMAT: Format = Format {
    name: "pytest-reportlog",
    kind: ReportKind::Test,
    about: "JSON lines of pytest-reportlog",
    written_by: "pytest --report-log",
    told_by: "JSON lines with $report_type",
    has_end: true,
    counting: "Each test id is one test, and its worst phase counts: a set-up or tear-down that failed is errored, a \
               call or a subtest that failed is failed. Attempts that were run again do not count; a test that then \
               passed is flaky. A collector that failed is one errored test, and so is a session that failed without a \
               failed test.",
    sniff,
    parse,
};

const MARKER: &str = "\"$report_type\"";

fn sniff(head: &Head<'_>) -> Sniff {
    let is_event = |line: &str| {
        line.starts_with('{')
            && (line.contains(MARKER) || line.contains("\"nodeid\""))
            && serde_json::from_str::<Event>(line).is_ok_and(|event| event.kind().is_some())
    };
    if head.lines().take(200).any(is_event) {
        return Sniff::Sure("JSON lines with $report_type".into());
    }
    Sniff::No
}

#[derive(Deserialize)]
struct Event {
    #[serde(rename = "$report_type")]
    report_type: Option<String>,
    nodeid: Option<String>,
    outcome: Option<String>,
    when: Option<String>,
    #[serde(default)]
    location: Value,
    #[serde(default)]
    duration: Value,
    #[serde(default)]
    longrepr: Value,
    #[serde(default)]
    exitstatus: Value,
}

impl Event {
    /// What it reports. A subtest of pytest-subtests before 0.14 names that otherwise, one of unittest not at all.
    fn kind(&self) -> Option<&str> {
        let is_subtest = self.nodeid.is_some() && self.when.is_some() && self.outcome.is_some();
        self.report_type.as_deref().or_else(|| is_subtest.then_some("SubTestReport"))
    }
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut session = Session::default();
    let mut tally = TestTally::new(false);
    let last = events(input, MARKER, |event: Event| session.event(&event, &mut tally))?;
    if !session.seen {
        return Err(lacks(&FORMAT, "line with $report_type"));
    }
    if !session.finished {
        return Err(cut_short("pytest's session is finished", last));
    }
    if let Some((id, _)) = session.tests.iter().find(|(_, test)| test.is_set_up) {
        return Err(pytest_json::interrupted_in(id));
    }
    session.settle(&mut tally)?;
    if pytest_json::failed_by_itself(tally.has_failed(), session.exit)? {
        tally.unit_failure(pytest_json::BY_ITSELF);
    }
    tally.finish(&FORMAT)
}

/// A test of which some phases were met.
struct Test {
    case: TestCase,
    reruns: u32,
    /// Its set-up passed, and nothing else of it has come.
    is_set_up: bool,
}

#[derive(Default)]
struct Session {
    tests: BTreeMap<String, Test>,
    seen: bool,
    finished: bool,
    exit: Option<u64>,
}

impl Session {
    fn event(&mut self, event: &Event, tally: &mut TestTally) -> Result<()> {
        let Some(kind) = event.kind() else { return Ok(()) };
        self.seen = true;
        let outcome = event.outcome.as_deref().unwrap_or_default();
        match kind {
            "SessionFinish" => (self.finished, self.exit) = (true, event.exitstatus.as_u64()),
            "CollectReport" if outcome == "failed" => {
                tally.unit_failure(event.nodeid.as_deref().filter(|id| !id.is_empty()).unwrap_or("(a collector)"));
            }
            "TestReport" => self.phase(event, outcome, false)?,
            // Named by pytest-subtests, and by pytest itself since 9.
            "SubTestReport" | "SubtestReport" => self.phase(event, outcome, true)?,
            _ => {}
        }
        if self.tests.len() > CASES_KEPT { self.settle(tally) } else { Ok(()) }
    }

    fn phase(&mut self, event: &Event, outcome: &str, is_subtest: bool) -> Result<()> {
        let id = event.nodeid.clone().unwrap_or_else(|| "(unnamed)".to_owned());
        let in_call = is_subtest || event.when.as_deref() == Some("call");
        let outcome = match outcome {
            "passed" => Some(Outcome::Passed),
            // One of several parts that was skipped does not skip the test.
            "skipped" if is_subtest => Some(Outcome::Passed),
            "skipped" => Some(Outcome::Skipped),
            "failed" if in_call => Some(Outcome::Failed),
            "failed" => Some(Outcome::Errored),
            // By pytest-rerunfailures and by pytest-retry.
            "rerun" | "retried" => None,
            other => return Err(unknown_status(other)),
        };
        let test =
            self.tests.entry(id).or_insert_with_key(|id| Test { case: first(id, event), reruns: 0, is_set_up: false });
        test.is_set_up = event.when.as_deref() == Some("setup") && outcome == Some(Outcome::Passed);
        match outcome {
            Some(outcome) => {
                test.case.outcome = test.case.outcome.max(outcome);
                if outcome.is_bad() && test.case.message.is_none() {
                    test.case.message = message(&event.longrepr);
                }
            }
            None => test.reruns = test.reruns.saturating_add(1),
        }
        // The parts of a test are within its call.
        if let Some(time) = seconds(&event.duration).filter(|_| !is_subtest) {
            test.case.duration_ms = Some(test.case.duration_ms.unwrap_or(0).saturating_add(time));
        }
        Ok(())
    }

    /// Counts the tests that were met.
    fn settle(&mut self, tally: &mut TestTally) -> Result<()> {
        for (id, mut test) in std::mem::take(&mut self.tests) {
            test.case.attempts = test.reruns.saturating_add(1);
            if test.reruns > 0 && test.case.outcome == Outcome::Passed {
                tally.count_flaky();
            }
            tally.case(&id, test.case)?;
        }
        Ok(())
    }
}

fn first(id: &str, event: &Event) -> TestCase {
    let mut case = TestCase::new(Outcome::Passed);
    case.file =
        path(event.location.get(0).unwrap_or(&Value::Null)).or_else(|| path(&Value::from(id.split("::").next()?)));
    // pytest counts lines from 0.
    let number = event.location.get(1).and_then(Value::as_u64);
    case.line = number.and_then(|number| line(&Value::from(number.checked_add(1)?)));
    case
}

fn message(longrepr: &Value) -> Option<String> {
    let crash = longrepr.get("reprcrash").and_then(|crash| crash.get("message")).and_then(text);
    crash.or(text(longrepr)).and_then(first_lines)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::console::console;
    use crate::ingest::test::tests_support::{counts, details};

    const END: &str = "{\"exitstatus\": 0, \"$report_type\": \"SessionFinish\"}\n";

    fn report(when: &str, outcome: &str) -> String {
        format!(
            "{{\"nodeid\":\"a.py::t\",\"when\":\"{when}\",\"outcome\":\"{outcome}\",\"duration\":0.25,\"$report_type\":\"TestReport\"}}\n"
        )
    }

    fn read(text: &str) -> Result<Parsed> {
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn the_worst_phase_of_a_test_counts() {
        let subtest = report("call", "failed").replace("TestReport", "SubTestReport");
        for (text, expected) in [
            (report("setup", "passed") + &report("call", "passed") + &report("teardown", "passed"), [1, 1, 0, 0, 0]),
            (report("setup", "failed") + &report("teardown", "passed"), [1, 0, 0, 1, 0]),
            (report("call", "failed") + &report("teardown", "failed"), [1, 0, 0, 1, 0]),
            (report("call", "failed"), [1, 0, 1, 0, 0]),
            (subtest + &report("call", "passed"), [1, 0, 1, 0, 0]),
            (report("setup", "skipped") + &report("teardown", "passed"), [1, 0, 0, 0, 1]),
        ] {
            let parsed = read(&(text.clone() + END)).unwrap();
            assert_eq!(counts(&parsed), expected, "{text}");
        }
        assert_eq!(read(&(report("call", "odd") + END)).unwrap_err().place.line, Some(1));
    }

    #[test]
    fn a_subtest_of_old_names_its_type_otherwise_or_not_at_all() {
        for name in ["\"_report_type\":\"SubTestReport\"", "\"result\":null"] {
            let subtest = |outcome| report("call", outcome).replace("\"$report_type\":\"TestReport\"", name);
            let text = report("setup", "passed") + &subtest("failed") + &subtest("skipped") + &report("call", "passed");
            let text = text + END;
            assert_eq!(counts(&read(&text).unwrap()), [1, 0, 1, 0, 0], "{name}");
            let told = console(&Input::bytes("x", text.as_bytes()));
            assert_eq!(told.iter().map(counts).collect::<Vec<_>>(), [[1, 0, 1, 0, 0]], "{name}");
        }
    }

    #[test]
    fn attempts_that_were_run_again_do_not_count() {
        let again = report("call", "rerun") + &report("teardown", "passed");
        let parsed = read(&(again.clone() + &report("call", "passed") + END)).unwrap();
        assert_eq!((counts(&parsed), parsed.figures.flaky), ([1, 1, 0, 0, 0], Some(1)));
        let details = details(&parsed);
        let case = &details.cases.cases["a.py::t"];
        assert_eq!((case.attempts, case.duration_ms, case.file.as_deref()), (2, Some(750), Some("a.py")));
        let parsed = read(&(again + &report("call", "failed") + END)).unwrap();
        assert_eq!((counts(&parsed), parsed.figures.flaky), ([1, 0, 1, 0, 0], None));
        // By pytest-retry.
        let parsed = read(&(report("call", "retried") + &report("call", "passed") + END)).unwrap();
        assert_eq!((counts(&parsed), parsed.figures.flaky), ([1, 1, 0, 0, 0], Some(1)));
    }

    #[test]
    fn p02_a_session_that_did_not_finish_is_cut() {
        let error = read(&report("call", "passed")).unwrap_err();
        assert_eq!((error.reject(), error.place.line), (Some(Reject::Malformed), Some(1)));
        assert_eq!(read("{}\n").unwrap_err().reject(), Some(Reject::NotThisFormat));
        let ended = |code: &str| read(&(report("call", "passed") + &END.replace(": 0", &format!(": {code}"))));
        assert_eq!(counts(&ended("1").unwrap()), [2, 1, 0, 1, 0], "it failed by itself");
        assert_eq!(ended("2").unwrap_err().reject(), Some(Reject::NoResult), "it was interrupted");
        let twice = read(&(report("setup", "passed") + END)).unwrap_err();
        assert!(twice.message.contains("pytest was interrupted in a.py::t"), "{}", twice.message);
        assert!(read(&(report("setup", "passed") + &report("teardown", "passed") + END)).is_ok(), "--setup-only");
        let collector = "{\"nodeid\":\"b.py\",\"outcome\":\"failed\",\"$report_type\":\"CollectReport\"}\n";
        assert_eq!(counts(&read(&(collector.to_owned() + END)).unwrap()), [1, 0, 0, 1, 0]);
    }
}
