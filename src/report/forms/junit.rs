//! `junit`: the iteration's tests as JUnit XML, which every CI server reads.
//!
//! The tests are the iteration's and nothing else, so that what a server counts is what highwater counted. What highwater
//! says of them stands in the suite's output.

use std::fmt::Write as _;

use super::{Form, OneIteration, Write, heading, named_tests, split_id};
use crate::error::Result;
use crate::model::cases::{Outcome, TestCase};
use crate::report::words::{remark, short_action, sorted};

/// JUnit XML.
pub(super) const FORM: Form = Form {
    name: "junit",
    about: "one iteration's tests as JUnit XML, for any CI server",
    write: Write::Iteration(junit),
};

/// GitLab reads no file of 30 MB or more.
const MAX_BYTES: usize = 29_900_000;

fn junit(one: &OneIteration<'_>) -> Result<String> {
    written(one, MAX_BYTES)
}

fn written(one: &OneIteration<'_>, most: usize) -> Result<String> {
    let cases = named_tests(one)?;
    let units = one.record.metrics.testing.as_ref().map(|tests| tests.failed_units.as_slice()).unwrap_or_default();
    let mut tests: Vec<(Outcome, String)> =
        cases.cases.iter().map(|(id, case)| (case.outcome, test(id, case))).collect();
    tests.extend(units.iter().map(|unit| (Outcome::Errored, failed_unit(unit))));
    let left_out = cut(&mut tests, most);
    let count = |wanted: Outcome| tests.iter().filter(|(outcome, _)| *outcome == wanted).count();
    let counts = format!(
        "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"",
        tests.len(),
        count(Outcome::Failed),
        count(Outcome::Errored),
        count(Outcome::Skipped)
    );
    let record = one.record;
    let name = escaped(&format!("highwater: {}", heading(&record.loop_id, record.iteration)));
    let time = record.started_at.format("%Y-%m-%dT%H:%M:%S");
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    // Writing into a string cannot fail.
    let _ = writeln!(text, "<testsuites name=\"highwater\" {counts}>");
    let _ = writeln!(text, "<testsuite name=\"{name}\" {counts} timestamp=\"{time}\">");
    tests.iter().for_each(|(_, test)| text.push_str(test));
    let _ = write!(text, "<system-out>{}</system-out>\n</testsuite>\n</testsuites>\n", escaped(&said(one, left_out)));
    Ok(text)
}

/// Leaves out tests until the rest fits: passed and skipped ones before those that matter. Answers how many.
fn cut(tests: &mut Vec<(Outcome, String)>, most: usize) -> usize {
    // What stands around the tests is some kilobytes.
    let mut room = most.saturating_sub(100_000);
    if tests.iter().map(|(_, text)| text.len()).sum::<usize>() <= room {
        return 0;
    }
    let before = tests.len();
    let mut keep = vec![false; before];
    for matters in [true, false] {
        for ((outcome, text), keep) in tests.iter().zip(&mut keep) {
            if outcome.is_bad() == matters && text.len() <= room {
                room -= text.len();
                *keep = true;
            }
        }
    }
    let mut kept = keep.into_iter();
    tests.retain(|_| kept.next().unwrap_or(false));
    before - tests.len()
}

fn test(id: &str, case: &TestCase) -> String {
    let (class, name) = split_id(id);
    // A class that is the name is the id: without one, readers would take the suite's name into it.
    let mut text = format!("<testcase classname=\"{}\" name=\"{}\"", escaped(class.unwrap_or(name)), escaped(name));
    if let Some(ms) = case.duration_ms {
        let _ = write!(text, " time=\"{}.{:03}\"", ms / 1000, ms % 1000);
    }
    if let Some(file) = &case.file {
        let _ = write!(text, " file=\"{}\"", escaped(file));
    }
    if let Some(line) = case.line {
        let _ = write!(text, " line=\"{line}\"");
    }
    let message = escaped(case.message.as_deref().unwrap_or_default());
    let mut children = match case.outcome {
        Outcome::Passed => String::new(),
        Outcome::Skipped => "<skipped/>".to_owned(),
        Outcome::Failed => format!("<failure message=\"{message}\"/>"),
        Outcome::Errored => format!("<error message=\"{message}\"/>"),
    };
    let attempt =
        if case.outcome == Outcome::Passed { "<flakyFailure message=\"\"/>" } else { "<rerunFailure message=\"\"/>" };
    for _ in 1..case.attempts.min(ATTEMPTS) {
        children.push_str(attempt);
    }
    match children.as_str() {
        "" => text.push_str("/>\n"),
        children => {
            let _ = writeln!(text, ">{children}</testcase>");
        }
    }
    text
}

/// Attempts of one test that are written; a report may claim billions.
const ATTEMPTS: u32 = 100;

/// As pytest writes what it could not collect: a unit is no test.
fn failed_unit(unit: &str) -> String {
    format!("<testcase classname=\"\" name=\"{}\"><error message=\"collection failure\"/></testcase>\n", escaped(unit))
}

/// Verdict and alerts, one line each.
fn said(one: &OneIteration<'_>, left_out: usize) -> String {
    let record = one.record;
    let mut text = format!("highwater: {} ({})\n", short_action(&record.recommendation), record.recommendation.reason);
    for alert in sorted(&record.alerts) {
        let remark = remark(alert).map(|remark| format!(" ({remark})")).unwrap_or_default();
        let _ = writeln!(text, "{} {}{remark}: {}", alert.severity.name(), alert.rule, alert.message);
    }
    if left_out > 0 {
        let _ = writeln!(text, "{left_out} tests are left out: the file would be too large to be read");
    }
    text
}

/// As attribute or text. What XML cannot hold at all becomes a replacement character.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' => escaped.push_str("&#10;"),
            '\t' => escaped.push_str("&#9;"),
            '\r' => escaped.push_str("&#13;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::super::testing::Sample;
    use super::*;
    use crate::ingest::{self, Details, Input};
    use crate::model::cases::TestCases;
    use crate::model::figures::Figures;
    use crate::model::verdict::Severity;

    fn read(text: &str) -> (Figures, TestCases, Vec<String>) {
        let parsed = ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        assert_eq!((parsed.format.name, parsed.warnings.as_slice()), ("junit", [].as_slice()));
        let Details::Tests(tests) = parsed.details else { panic!("tests") };
        (parsed.figures, tests.cases, tests.failed_units)
    }

    #[test]
    fn what_is_written_is_read_as_what_it_was() {
        let mut sample = Sample::new();
        let first = sample.case("tests.test_a::TestB::test_<x>[\"a & b\"]", Outcome::Failed);
        (first.duration_ms, first.file, first.line) = (Some(1203), Some("tests/test_a.py".into()), Some(12));
        (first.message, first.attempts) = (Some("one | \"two\" <b>".into()), 2);
        sample.case("alone", Outcome::Errored).message = Some("set-up".into());
        sample.case("a::flaky", Outcome::Passed).attempts = 3;
        sample.case("a::skipped", Outcome::Skipped);
        sample.case("a::\\x1b[31m", Outcome::Passed);
        sample.alert("known_rule", Severity::High, None);
        let (figures, cases, _) = read(&junit(&sample.one()).unwrap());
        assert_eq!(&cases.cases, &sample.cases.as_ref().unwrap().cases);
        let tests = sample.record.metrics.testing.as_ref().unwrap();
        assert_eq!(
            [figures.tests, figures.passed, figures.failed, figures.errored, figures.skipped, figures.flaky],
            [
                tests.test_count,
                tests.tests_passed,
                tests.tests_failed,
                tests.tests_errored,
                tests.tests_skipped,
                Some(1)
            ]
        );
    }

    #[test]
    fn what_did_not_load_is_no_test_and_stays_told() {
        let mut sample = Sample::new();
        sample.case("a::b", Outcome::Passed);
        sample.record.metrics.testing.as_mut().unwrap().failed_units = vec!["tests.test_broken".to_owned()];
        let (figures, cases, units) = read(&junit(&sample.one()).unwrap());
        assert_eq!((figures.tests, cases.cases.len()), (Some(2), 1));
        assert_eq!(units, ["tests.test_broken"]);
    }

    #[test]
    fn verdict_and_alerts_are_output_and_not_tests() {
        let mut sample = Sample::new();
        sample.case("a::b", Outcome::Passed);
        sample.alert("known_rule", Severity::Critical, None);
        let text = junit(&sample.one()).unwrap();
        assert!(text.contains("critical known_rule: message of known_rule&#10;</system-out>"), "{text}");
        assert_eq!(text.matches("<testcase").count(), 1);
    }

    #[test]
    fn a_file_that_would_be_too_large_leaves_out_what_passed() {
        let mut sample = Sample::new();
        for n in 0..40 {
            sample.case(&format!("a::passed{n}"), Outcome::Passed);
        }
        sample.case("z::failed", Outcome::Failed);
        let all = junit(&sample.one()).unwrap();
        assert!(!all.contains("left out"));
        let text = written(&sample.one(), 100_000 + 400).unwrap();
        assert!(text.contains("z") && text.contains("failed") && text.contains("tests are left out"), "{text}");
        assert!(text.len() < all.len() && text.matches("<testcase").count() > 1);
        assert!(ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap().warnings.is_empty());
    }

    #[test]
    fn without_names_there_is_nothing_to_write() {
        let error = junit(&Sample::new().one()).unwrap_err();
        assert_eq!(error.message, "iteration 3 has no tests by name");
    }
}
