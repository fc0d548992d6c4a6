//! `pytest-json`: the object of the plugin pytest-json-report, defined in its README.

use serde::Deserialize;
use serde::de::MapAccess;
use serde_json::Value;

use super::TestTally;
use super::json_report::{Keys, Object, declare, items, lacks, line, path, seconds, text, unknown_status};
use super::text_report::{KILLED_HELP, Names, Summary};
use crate::error::{Error, Reject, Result};
use crate::ingest::input::Input;
use crate::ingest::text::{first_lines, printable};
use crate::ingest::{Format, Head, Parsed, Sniff, json};
use crate::model::cases::{Outcome, TestCase};
use crate::model::figures::{Figures, ReportKind};

/// JSON of pytest-json-report.
pub const FORMAT: Format = Format {
    name: "pytest-json",
    kind: ReportKind::Test,
    about: "JSON of pytest-json-report",
    written_by: "pytest --json-report",
    told_by: "a JSON object with exitcode, root, summary and tests",
    has_end: true,
    counting: "Each of tests is one test, and its worst phase counts: a set-up or tear-down that failed is errored, a \
               call that failed is failed, as is a test of which a subtest failed. Expected failures are skipped, \
               unexpected passes passed. A collector that failed is one errored test, and so is a session that failed \
               without a failed test. Of --json-report-summary its outcomes count.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let is_ours = head.has_key("exitcode") && head.has_key("root") && head.has_key("summary");
    if is_ours && ["environment", "collectors", "tests"].iter().any(|key| head.has_key(key)) {
        return Sniff::Sure("keys exitcode, root and summary".into());
    }
    Sniff::No
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut report =
        Report { tally: TestTally::new(false), is_ours: false, exit: Value::Null, summary: Outcomes::default() };
    json::object(input, Object(&mut report))?;
    if !report.is_ours {
        return alone(&report.summary, &report.exit);
    }
    if failed_by_itself(report.tally.has_failed(), report.exit.as_u64())? {
        report.tally.unit_failure(BY_ITSELF);
    }
    let mut parsed = report.tally.finish(&FORMAT)?;
    declare(&mut parsed, Figures { tests: report.summary.total, ..Figures::default() });
    Ok(parsed)
}

/// What a session that failed by itself is called.
pub(super) const BY_ITSELF: &str = "(pytest ended with exit code 1)";

/// Whether pytest's exit code tells of a failure where nothing failed that is told: a subtest, a coverage below its limit.
///
/// # Errors
/// No result if the session did not run all tests, and nothing that failed tells why.
pub(super) fn failed_by_itself(has_failed: bool, exit: Option<u64>) -> Result<bool> {
    match exit.filter(|_| !has_failed) {
        None | Some(0 | 5) => Ok(false),
        Some(1) => Ok(true),
        Some(code) => {
            let why = format!("pytest was interrupted, or failed itself (exit code {code}): not all tests ran");
            Err(Error::report(Reject::NoResult, why).help(KILLED_HELP))
        }
    }
}

/// The fault that of a test only the set-up is told: a second interrupt stopped it there, and pytest ended with exit code 0.
pub(super) fn interrupted_in(id: &str) -> Error {
    let why = format!("pytest was interrupted in {}: not all tests ran", printable(id, 200));
    Error::report(Reject::NoResult, why).help(KILLED_HELP)
}

/// Of a report that holds no more than its summary.
fn alone(outcomes: &Outcomes, exit: &Value) -> Result<Parsed> {
    if outcomes.total.is_none() {
        return Err(lacks(&FORMAT, "tests and no summary"));
    }
    // What failed while tests were collected is told of nowhere else.
    if !matches!(exit.as_u64(), Some(0 | 1 | 5)) {
        let why = format!("pytest ended with exit code {exit}, and the report holds only a summary");
        let help = "the tests did not all run; run pytest again, without --json-report-summary to see why";
        return Err(Error::report(Reject::NoResult, why).help(help));
    }
    let mut summary = Summary { errored: outcomes.error, ..Summary::default() };
    for number in [outcomes.passed, outcomes.xpassed, outcomes.rerun, outcomes.retried, outcomes.subtests_passed] {
        Summary::add(&mut summary.passed, Some(number))?;
    }
    for number in [outcomes.failed, outcomes.subtests_failed] {
        Summary::add(&mut summary.failed, Some(number))?;
    }
    for number in [outcomes.skipped, outcomes.xfailed, outcomes.subtests_skipped] {
        Summary::add(&mut summary.skipped, Some(number))?;
    }
    if failed_by_itself(summary.failed > 0 || summary.errored > 0, exit.as_u64())? {
        (summary.errored, summary.unit_failures) = (1, 1);
    }
    let units = summary.unit_failures;
    let mut parsed = Names::default().report(&FORMAT, &summary, false)?;
    declare(
        &mut parsed,
        Figures { tests: outcomes.total.and_then(|total| total.checked_add(units)), ..Figures::default() },
    );
    Ok(parsed)
}

struct Report {
    tally: TestTally,
    /// Tests or collectors were met; a session that was interrupted while collecting has no tests.
    is_ours: bool,
    exit: Value,
    summary: Outcomes,
}

impl Keys for Report {
    fn key<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        let tally = &mut self.tally;
        match key {
            "tests" => map.next_value_seed(items(|test: Test| count(&test, tally)))?,
            "collectors" => map.next_value_seed(items(|collector: Collector| {
                if collector.outcome == "failed" {
                    tally.unit_failure(text(&collector.nodeid).unwrap_or("(a collector)"));
                }
                Ok(())
            }))?,
            "summary" => {
                self.summary = map.next_value::<Option<Outcomes>>()?.unwrap_or_default();
                return Ok(true);
            }
            "exitcode" => {
                self.exit = map.next_value()?;
                return Ok(true);
            }
            _ => return Ok(false),
        }
        self.is_ours = true;
        Ok(true)
    }
}

/// How many tests came to which outcome.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Outcomes {
    passed: u64,
    xpassed: u64,
    failed: u64,
    error: u64,
    skipped: u64,
    xfailed: u64,
    rerun: u64,
    retried: u64,
    #[serde(rename = "subtests passed")]
    subtests_passed: u64,
    #[serde(rename = "subtests failed")]
    subtests_failed: u64,
    #[serde(rename = "subtests skipped")]
    subtests_skipped: u64,
    total: Option<u64>,
}

#[derive(Deserialize)]
struct Collector {
    #[serde(default)]
    nodeid: Value,
    outcome: String,
}

#[derive(Deserialize)]
struct Test {
    nodeid: String,
    outcome: String,
    #[serde(default)]
    lineno: Value,
    setup: Option<Phase>,
    call: Option<Phase>,
    teardown: Option<Phase>,
}

#[derive(Deserialize)]
struct Phase {
    #[serde(default)]
    outcome: Value,
    #[serde(default)]
    duration: Value,
    #[serde(default)]
    crash: Value,
    #[serde(default)]
    longrepr: Value,
}

impl Phase {
    fn failed(&self) -> bool {
        text(&self.outcome) == Some("failed")
    }
}

fn count(test: &Test, tally: &mut TestTally) -> Result<()> {
    let told = match test.outcome.as_str() {
        // A test that was run again and passed keeps the outcome of its first attempt.
        "passed" | "xpassed" | "rerun" | "retried" | "subtests passed" => Outcome::Passed,
        "failed" | "subtests failed" => Outcome::Failed,
        "error" => Outcome::Errored,
        "skipped" | "xfailed" | "subtests skipped" => Outcome::Skipped,
        other => return Err(unknown_status(other)),
    };
    let phases = [
        (test.setup.as_ref(), Outcome::Errored),
        (test.call.as_ref(), Outcome::Failed),
        (test.teardown.as_ref(), Outcome::Errored),
    ];
    if told == Outcome::Passed && matches!(phases, [(Some(_), _), (None, _), (None, _)]) {
        return Err(interrupted_in(&test.nodeid));
    }
    let failed =
        || phases.iter().filter_map(|(phase, outcome)| Some((phase.filter(|phase| phase.failed())?, *outcome)));
    let outcome = failed().map(|(_, outcome)| outcome).fold(told, Outcome::max);
    let mut case = TestCase::new(outcome);
    if matches!(test.outcome.as_str(), "rerun" | "retried") {
        case.attempts = 2;
        if outcome == Outcome::Passed {
            tally.count_flaky();
        }
    }
    let times = phases.iter().filter_map(|(phase, _)| seconds(&phase.as_ref()?.duration));
    case.duration_ms = times.reduce(u64::saturating_add);
    let file = test.nodeid.split("::").next().unwrap_or_default();
    case.file = path(&Value::from(file));
    // pytest counts lines from 0.
    case.line = test.lineno.as_u64().and_then(|number| line(&Value::from(number.checked_add(1)?)));
    case.message = failed().find_map(|(phase, _)| {
        let crash = phase.crash.get("message").and_then(text);
        crash.or(text(&phase.longrepr)).and_then(first_lines)
    });
    tally.case(&test.nodeid, case)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::test::tests_support::{counts, details};

    fn read(tests: &str) -> Result<Parsed> {
        let text =
            format!("{{\"summary\":{{\"total\":1}},\"collectors\":[{{\"outcome\":\"passed\"}}],\"tests\":[{tests}]}}");
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn a_summary_alone_counts_where_all_tests_ran() {
        let read = |exit: &str, summary: &str| {
            let text = format!("{{\"exitcode\":{exit},\"root\":\"/p\",\"summary\":{{{summary},\"collected\":9}}}}");
            parse(&Input::bytes("x", text.as_bytes()))
        };
        let all = "\"passed\":4,\"failed\":1,\"error\":3,\"xfailed\":1,\"xpassed\":1,\"skipped\":1,\"subtests passed\":1,\"total\":12";
        let parsed = read("1", all).unwrap();
        assert_eq!((counts(&parsed), parsed.warnings.len()), ([12, 6, 1, 3, 2], 0));
        // A collector failed, and nobody stopped for it.
        assert_eq!(counts(&read("1", "\"passed\":4,\"total\":4").unwrap()), [5, 4, 0, 1, 0]);
        assert_eq!(counts(&read("5", "\"total\":0").unwrap()), [0; 5]);
        assert_eq!(read("2", "\"total\":0").unwrap_err().reject(), Some(Reject::NoResult));
        assert_eq!(read("0", "\"passed\":1").unwrap_err().reject(), Some(Reject::NotThisFormat));
    }

    #[test]
    fn a_session_that_failed_by_itself_or_did_not_end_is_none_that_passed() {
        let read = |exit: &str, outcome: &str| {
            let tests = format!("[{{\"nodeid\":\"a\",\"outcome\":\"{outcome}\"}}]");
            let text = format!("{{\"exitcode\":{exit},\"root\":\"/p\",\"summary\":{{\"total\":1}},\"tests\":{tests}}}");
            parse(&Input::bytes("x", text.as_bytes()))
        };
        for (exit, outcome, expected) in [
            ("0", "passed", [1, 1, 0, 0, 0]),
            ("null", "passed", [1, 1, 0, 0, 0]),
            ("1", "passed", [2, 1, 0, 1, 0]),
            ("1", "failed", [1, 0, 1, 0, 0]),
            // pytest-xdist stops so after the first failure.
            ("2", "failed", [1, 0, 1, 0, 0]),
        ] {
            assert_eq!(counts(&read(exit, outcome).unwrap()), expected, "{exit} {outcome}");
        }
        for exit in ["2", "3"] {
            assert_eq!(read(exit, "passed").unwrap_err().reject(), Some(Reject::NoResult), "{exit}");
        }
    }

    #[test]
    fn the_worst_phase_counts() {
        let phase = |name: &str| format!(",\"{name}\":{{\"outcome\":\"failed\"}}");
        for (outcome, phases, expected) in [
            ("passed", String::new(), [1, 1, 0, 0, 0]),
            ("xpassed", String::new(), [1, 1, 0, 0, 0]),
            ("failed", phase("call"), [1, 0, 1, 0, 0]),
            ("failed", String::new(), [1, 0, 1, 0, 0]),
            ("failed", phase("call") + &phase("teardown"), [1, 0, 0, 1, 0]),
            ("error", phase("setup"), [1, 0, 0, 1, 0]),
            ("skipped", String::new(), [1, 0, 0, 0, 1]),
            ("xfailed", String::new(), [1, 0, 0, 0, 1]),
            ("rerun", String::new(), [1, 1, 0, 0, 0]),
            ("retried", String::new(), [1, 1, 0, 0, 0]),
            ("subtests passed", String::new(), [1, 1, 0, 0, 0]),
            ("subtests failed", phase("call"), [1, 0, 1, 0, 0]),
        ] {
            let parsed = read(&format!("{{\"nodeid\":\"a.py::t\",\"outcome\":\"{outcome}\"{phases}}}")).unwrap();
            assert_eq!(counts(&parsed), expected, "{outcome}{phases}");
            assert_eq!(parsed.figures.flaky, matches!(outcome, "rerun" | "retried").then_some(1));
        }
        let only = |phases: &str| read(&format!("{{\"nodeid\":\"t\",\"outcome\":\"passed\",\"setup\":{{}}{phases}}}"));
        assert!(only(",\"teardown\":{}").is_ok(), "--setup-only");
        let interrupted = only("").unwrap_err();
        assert!(interrupted.message.contains("pytest was interrupted in t"), "{}", interrupted.message);
        assert_eq!(read("{\"nodeid\":\"t\",\"outcome\":\"odd\"}").unwrap_err().reject(), Some(Reject::Malformed));
        assert!(read("{\"outcome\":\"passed\"}").is_err());
    }

    #[test]
    fn a_test_has_place_duration_and_message() {
        let parsed = read(
            "{\"nodeid\":\"a.py::t\",\"lineno\":4,\"outcome\":\"failed\",\"setup\":{\"outcome\":\"passed\",\"duration\":0.5},\
             \"call\":{\"outcome\":\"failed\",\"duration\":0.25,\"crash\":{\"message\":\"no\"}}}",
        );
        let details = details(&parsed.unwrap());
        let case = &details.cases.cases["a.py::t"];
        assert_eq!((case.line, case.duration_ms, case.file.as_deref()), (Some(5), Some(750), Some("a.py")));
        assert_eq!(case.message.as_deref(), Some("no"));
    }

    #[test]
    fn a_collector_that_failed_is_a_unit() {
        let text = "{\"collectors\":[{\"nodeid\":\"b.py\",\"outcome\":\"failed\"}],\"tests\":[]}";
        let parsed = parse(&Input::bytes("x", text.as_bytes())).unwrap();
        assert_eq!((counts(&parsed), details(&parsed).failed_units), ([1, 0, 0, 1, 0], vec!["b.py".to_owned()]));
        let none = parse(&Input::bytes("x", b"{\"summary\":{}}")).unwrap_err();
        assert_eq!(none.reject(), Some(Reject::NotThisFormat));
    }
}
