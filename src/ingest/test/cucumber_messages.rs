//! `cucumber-messages`: the stream of messages that the Cucumbers of all languages write, one a line; defined by the
//! schemas of <https://github.com/cucumber/messages>. It ends with `testRunFinished`.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::Value;

use super::cucumber_json::outcome_of_step;
use super::json_report::{attempts, cut_short, events, lacks, line, path, text};
use super::{CASES_KEPT, TestTally};
use crate::error::{Error, Reject, Result};
use crate::ingest::input::Input;
use crate::ingest::text::{first_lines, split_at};
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::cases::{Outcome, TestCase};
use crate::model::figures::ReportKind;

/// Messages of Cucumber.
pub const FORMAT: Format = Format {
    name: "cucumber-messages",
    kind: ReportKind::Test,
    about: "JSON lines of Cucumber: its messages",
    written_by: "cucumber --format message (JavaScript, JVM, Ruby)",
    told_by: "JSON lines with meta.protocolVersion, gherkinDocument, testCaseStarted",
    has_end: true,
    counting: "As cucumber-json: each scenario is one test, by the worst of its steps and hooks. Of one that is \
               retried the last attempt counts, and it is flaky if it passed. A hook of the whole run that fails, a \
               source that cannot be parsed, and a run that was no success though nothing in it failed are one errored \
               test each.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    if head.has_key("meta.protocolVersion") || head.has_key("gherkinDocument.feature") {
        return Sniff::Sure("messages of Cucumber".into());
    }
    Sniff::No
}

/// Whether the line is a message.
pub(in crate::ingest) fn is_message(line: &str) -> bool {
    let name = line.strip_prefix("{\"").and_then(|rest| split_at(rest, "\":{")).map_or("", |(name, _)| name);
    let of_run = ["testRunStarted", "testRunFinished", "testRunHookStarted", "testRunHookFinished"];
    let of_test = ["testCase", "testCaseStarted", "testCaseFinished", "testStepStarted", "testStepFinished"];
    let others =
        ["meta", "source", "gherkinDocument", "pickle", "hook", "stepDefinition", "parameterType", "attachment"];
    let faults = ["parseError", "undefinedParameterType", "suggestion"];
    of_run.contains(&name) || of_test.contains(&name) || others.contains(&name) || faults.contains(&name)
}

/// What only a message holds.
const MARKER: &str = "\"testCaseStartedId\"";

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Envelope {
    pickle: Option<Pickle>,
    test_case: Option<Planned>,
    test_case_started: Option<Started>,
    test_step_finished: Option<Step>,
    test_case_finished: Option<Finished>,
    test_run_hook_finished: Option<Hook>,
    parse_error: Option<Value>,
    test_run_finished: Option<End>,
}

/// A scenario, or a row of an outline.
#[derive(Deserialize)]
struct Pickle {
    id: String,
    #[serde(default)]
    uri: Value,
    #[serde(default)]
    name: Value,
    /// Since protocol 29.
    #[serde(default)]
    location: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Planned {
    id: String,
    pickle_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Started {
    id: String,
    test_case_id: String,
    /// From 0.
    #[serde(default)]
    attempt: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Step {
    test_case_started_id: String,
    test_step_result: StepResult,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StepResult {
    #[serde(default)]
    status: Value,
    #[serde(default)]
    message: Value,
    #[serde(default)]
    duration: Value,
    /// Before protocol 17 it stood here.
    #[serde(default)]
    will_be_retried: bool,
}

impl StepResult {
    fn outcome(&self) -> Result<Outcome> {
        outcome_of_step(text(&self.status).unwrap_or("unknown"))
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Finished {
    test_case_started_id: String,
    #[serde(default)]
    will_be_retried: bool,
}

#[derive(Deserialize)]
struct Hook {
    result: Option<StepResult>,
}

#[derive(Deserialize)]
struct End {
    success: Option<bool>,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let (mut run, mut tally) = (Run::default(), TestTally::new(false));
    let last = events(input, MARKER, |envelope: Envelope| run.message(envelope, &mut tally))?;
    match (run.is_begun, run.is_done && run.open.is_empty()) {
        (false, _) => Err(lacks(&FORMAT, "message of a test run")),
        (true, false) => Err(cut_short("the run is finished", last)),
        (true, true) => tally.finish(&FORMAT),
    }
}

/// Attempts that are open at once: as many as run side by side.
const OPEN_HELD: usize = 10_000;

/// An attempt at a scenario.
struct Attempt {
    test_case: String,
    /// None before its first step.
    worst: Option<Outcome>,
    case: TestCase,
    will_be_retried: bool,
}

#[derive(Default)]
struct Run {
    pickles: HashMap<String, (String, TestCase)>,
    /// The pickle of each test case.
    planned: HashMap<String, String>,
    open: HashMap<String, Attempt>,
    is_begun: bool,
    is_done: bool,
    /// Something tells why the run was no success.
    is_explained: bool,
}

impl Run {
    fn message(&mut self, envelope: Envelope, tally: &mut TestTally) -> Result<()> {
        if let Some(pickle) = envelope.pickle.filter(|_| self.pickles.len() < CASES_KEPT) {
            let file = path(&pickle.uri);
            let name = text(&pickle.name).unwrap_or("(unnamed)");
            let id = format!("{}::{name}", file.as_deref().unwrap_or("(a feature)"));
            let place = pickle.location.get("line").and_then(line);
            self.pickles.insert(pickle.id, (id, TestCase { file, line: place, ..TestCase::new(Outcome::Skipped) }));
        }
        if let Some(planned) = envelope.test_case.filter(|_| self.planned.len() < CASES_KEPT) {
            self.planned.insert(planned.id, planned.pickle_id);
        }
        if let Some(started) = envelope.test_case_started {
            (self.is_begun, self.is_done) = (true, false);
            self.start(started)?;
        }
        if let Some(step) = envelope.test_step_finished {
            self.step(&step)?;
        }
        if let Some(finished) = envelope.test_case_finished {
            self.end(&finished, tally)?;
        }
        if let Some(result) = envelope.test_run_hook_finished.and_then(|hook| hook.result)
            && result.outcome()?.is_bad()
        {
            self.is_explained = true;
            tally.unit_failure(text(&result.message).unwrap_or("(a hook of the run)"));
        }
        if let Some(error) = envelope.parse_error {
            self.is_explained = true;
            let file = error.get("source").and_then(|source| source.get("uri")).and_then(text);
            tally.unit_failure(file.unwrap_or("(a source)"));
        }
        if let Some(end) = envelope.test_run_finished {
            (self.is_begun, self.is_done) = (true, true);
            if end.success == Some(false) && !self.is_explained {
                tally.unit_failure("(the run)");
            }
            self.is_explained = false;
        }
        Ok(())
    }

    fn start(&mut self, started: Started) -> Result<()> {
        if self.open.len() >= OPEN_HELD {
            return Err(Error::report(Reject::Malformed, "too many scenarios have begun and did not end"));
        }
        let mut case = TestCase::new(Outcome::Skipped);
        case.attempts = attempts(&started.attempt);
        let attempt = Attempt { test_case: started.test_case_id, worst: None, case, will_be_retried: false };
        self.open.insert(started.id, attempt);
        Ok(())
    }

    fn step(&mut self, step: &Step) -> Result<()> {
        let result = &step.test_step_result;
        let outcome = result.outcome()?;
        // Where pending steps are forbidden, they are no success.
        self.is_explained |= outcome != Outcome::Passed;
        let Some(attempt) = self.open.get_mut(&step.test_case_started_id) else { return Ok(()) };
        if Some(outcome) > attempt.worst {
            attempt.worst = Some(outcome);
            attempt.case.message = text(&result.message).and_then(first_lines);
        }
        attempt.will_be_retried |= result.will_be_retried;
        let part = |key: &str| result.duration.get(key).and_then(Value::as_u64);
        if let (Some(seconds), Some(nanoseconds)) = (part("seconds"), part("nanos")) {
            let taken = seconds.saturating_mul(1000).saturating_add(nanoseconds / 1_000_000);
            let sum = attempt.case.duration_ms.unwrap_or_default().saturating_add(taken);
            attempt.case.duration_ms = Some(sum);
        }
        Ok(())
    }

    fn end(&mut self, finished: &Finished, tally: &mut TestTally) -> Result<()> {
        let Some(attempt) = self.open.remove(&finished.test_case_started_id) else { return Ok(()) };
        if finished.will_be_retried || attempt.will_be_retried {
            return Ok(());
        }
        let mut case = attempt.case;
        case.outcome = attempt.worst.unwrap_or(Outcome::Skipped);
        if !case.outcome.is_bad() {
            case.message = None;
        }
        if case.outcome == Outcome::Passed && case.attempts > 1 {
            tally.count_flaky();
        }
        let pickle = self.planned.get(&attempt.test_case).and_then(|pickle| self.pickles.get(pickle));
        let Some((id, known)) = pickle else {
            tally.count(case.outcome, 1)?;
            tally.details.dropped = tally.details.dropped.saturating_add(1);
            return Ok(());
        };
        (case.file, case.line) = (known.file.clone(), known.line);
        tally.case(id, case)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    const META: &str = "{\"meta\":{\"protocolVersion\":\"32.2.0\"}}\n";
    const DONE: &str = "{\"testRunFinished\":{\"success\":true}}\n";

    /// An attempt at the scenario of that name.
    fn attempt(name: &str, number: u64, statuses: &[&str], retried: bool) -> String {
        let step = |status: &&str| {
            format!(
                "{{\"testStepFinished\":{{\"testCaseStartedId\":\"s{name}{number}\",\"testStepResult\":{{\"status\":\"{status}\",\
                 \"message\":\"it said {status}\",\"duration\":{{\"seconds\":1,\"nanos\":5000000}}}}}}}}\n"
            )
        };
        format!(
            "{{\"pickle\":{{\"id\":\"p{name}\",\"uri\":\"a.feature\",\"name\":\"{name}\",\"location\":{{\"line\":3}}}}}}\n\
             {{\"testCase\":{{\"id\":\"t{name}\",\"pickleId\":\"p{name}\"}}}}\n\
             {{\"testCaseStarted\":{{\"id\":\"s{name}{number}\",\"testCaseId\":\"t{name}\",\"attempt\":{number}}}}}\n{}\
             {{\"testCaseFinished\":{{\"testCaseStartedId\":\"s{name}{number}\",\"willBeRetried\":{retried}}}}}\n",
            statuses.iter().map(step).collect::<String>()
        )
    }

    fn read(text: &str) -> Result<Parsed> {
        assert!(matches!(sniffed(&FORMAT, &format!("{META}{text}")), Sniff::Sure(_)));
        parse(&Input::bytes("x", format!("{META}{text}").as_bytes()))
    }

    #[test]
    fn the_worst_step_counts() {
        for (statuses, expected) in [
            (&["PASSED", "PASSED"][..], [1, 1, 0, 0, 0]),
            (&["PASSED", "FAILED", "SKIPPED"], [1, 0, 1, 0, 0]),
            (&["PENDING", "SKIPPED"], [1, 0, 0, 0, 1]),
            (&["FAILED", "UNDEFINED"], [1, 0, 0, 1, 0]),
            (&["AMBIGUOUS"], [1, 0, 0, 1, 0]),
            (&[], [1, 0, 0, 0, 1]),
        ] {
            let parsed = read(&format!("{}{DONE}", attempt("a", 0, statuses, false))).unwrap();
            assert_eq!(counts(&parsed), expected, "{statuses:?}");
        }
        let parsed = read(&format!("{}{DONE}", attempt("a", 0, &["PASSED", "FAILED"], false))).unwrap();
        let case = &details(&parsed).cases.cases["a.feature::a"];
        assert_eq!((case.file.as_deref(), case.line, case.duration_ms), (Some("a.feature"), Some(3), Some(2010)));
        assert_eq!(case.message.as_deref(), Some("it said FAILED"));
        let odd = read(&format!("{}{DONE}", attempt("a", 0, &["GREAT"], false))).unwrap_err();
        assert_eq!((odd.reject(), odd.place.line), (Some(Reject::Malformed), Some(5)));
    }

    #[test]
    fn no_more_attempts_are_held_than_run_side_by_side() {
        let begun =
            |number| format!("{{\"testCaseStarted\":{{\"id\":\"s{number}\",\"testCaseId\":\"t\",\"attempt\":0}}}}\n");
        let text: String = (0..=OPEN_HELD).map(begun).collect();
        let error = read(&text).unwrap_err();
        let line = u64::try_from(OPEN_HELD).unwrap() + 2;
        assert_eq!((error.reject(), error.place.line), (Some(Reject::Malformed), Some(line)));
    }

    #[test]
    fn the_last_attempt_counts() {
        let retried = attempt("a", 0, &["FAILED"], true);
        let parsed = read(&format!("{retried}{}{DONE}", attempt("a", 1, &["PASSED"], false))).unwrap();
        assert_eq!((counts(&parsed), parsed.figures.flaky), ([1, 1, 0, 0, 0], Some(1)));
        let parsed = read(&format!("{retried}{}{DONE}", attempt("a", 1, &["FAILED"], false))).unwrap();
        assert_eq!((counts(&parsed), parsed.figures.flaky), ([1, 0, 1, 0, 0], None));
    }

    #[test]
    fn what_fails_outside_any_scenario_is_errored() {
        let passed = attempt("a", 0, &["PASSED"], false);
        let no_success = "{\"testRunFinished\":{\"success\":false}}\n";
        assert_eq!(counts(&read(&format!("{passed}{no_success}")).unwrap()), [2, 1, 0, 1, 0]);
        let hook = "{\"testRunHookFinished\":{\"result\":{\"status\":\"FAILED\",\"message\":\"no base\"}}}\n";
        assert_eq!(counts(&read(&format!("{passed}{hook}{no_success}")).unwrap()), [2, 1, 0, 1, 0]);
        let source = "{\"parseError\":{\"source\":{\"uri\":\"b.feature\"},\"message\":\"(1:1)\"}}\n";
        let parsed = read(&format!("{source}{no_success}")).unwrap();
        assert_eq!((counts(&parsed), details(&parsed).failed_units), ([1, 0, 0, 1, 0], vec!["b.feature".to_owned()]));
        let pending = attempt("a", 0, &["PENDING"], false);
        assert_eq!(counts(&read(&format!("{pending}{no_success}")).unwrap()), [1, 0, 0, 0, 1]);
    }

    #[test]
    fn a_run_that_was_cut_is_refused() {
        let passed = attempt("a", 0, &["PASSED"], false);
        assert_eq!(read(&passed).unwrap_err().reject(), Some(Reject::Malformed));
        let lacking = passed.lines().filter(|line| !line.contains("Finished\":{\"testCaseStartedId\":\"sa0\",\"will"));
        let lacking = lacking.collect::<Vec<_>>().join("\n");
        assert_eq!(read(&format!("{lacking}\n{DONE}")).unwrap_err().reject(), Some(Reject::Malformed));
        assert_eq!(read(&format!("{passed}{DONE}{passed}")).unwrap_err().reject(), Some(Reject::Malformed));
        assert_eq!(read("").unwrap_err().reject(), Some(Reject::NotThisFormat));
    }
}
