//! `ctrf`: the iteration's tests in the Common Test Report Format, what highwater says of them in its `extra`.

use serde::Serialize;
use serde_json::{Value, json};

use super::{Form, OneIteration, Write, json::line, named_tests, split_id};
use crate::error::Result;
use crate::model::cases::{Outcome, TestCase};

/// CTRF.
pub(super) const FORM: Form = Form {
    name: "ctrf",
    about: "one iteration's tests in the Common Test Report Format (CTRF), with verdict and alerts in extra",
    write: Write::Iteration(ctrf),
};

/// Keys in the order in which readers that look at the first bytes expect them.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report<'a> {
    report_format: &'static str,
    spec_version: &'static str,
    results: Results<'a>,
}

#[derive(Serialize)]
struct Results<'a> {
    tool: Value,
    summary: Value,
    tests: Vec<Test<'a>>,
    extra: Value,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase", rename = "test")]
struct Test<'a> {
    name: &'a str,
    status: &'static str,
    /// Milliseconds. The format asks for one: 0 where none was told, and `extra` says so.
    duration: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    suite: Option<Vec<&'a str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_path: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    /// An error is a failure here.
    #[serde(skip_serializing_if = "Option::is_none")]
    raw_status: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retries: Option<u32>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    flaky: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    extra: Option<Value>,
}

fn ctrf(one: &OneIteration<'_>) -> Result<String> {
    let record = one.record;
    let cases = named_tests(one)?;
    let tests: Vec<Test<'_>> = cases.cases.iter().map(|(id, case)| test(id, case)).collect();
    let count = |status: &str| tests.iter().filter(|test| test.status == status).count();
    let (start, stop) = span(one);
    let summary = json!({
        "tests": tests.len(), "passed": count("passed"), "failed": count("failed"), "skipped": count("skipped"),
        "pending": 0, "other": 0, "flaky": tests.iter().filter(|test| test.flaky).count(),
        "start": start, "stop": stop,
    });
    let testing = record.metrics.testing.as_ref();
    let extra = json!({"highwater": {
        "loop_id": record.loop_id,
        "iteration": record.iteration,
        "classification": record.classification,
        "quality_score": record.quality_score.as_ref().map(|score| score.total),
        "recommendation": record.recommendation,
        "alerts": record.alerts,
        "best": one.best.iteration,
        "failed_units": testing.map(|tests| &tests.failed_units),
    }});
    let tool = json!({"name": "highwater", "version": env!("CARGO_PKG_VERSION")});
    let results = Results { tool, summary, tests, extra };
    line(&Report { report_format: "CTRF", spec_version: "0.0.0", results })
}

fn test<'a>(id: &'a str, case: &'a TestCase) -> Test<'a> {
    let (groups, name) = split_id(id);
    let retries = case.attempts.saturating_sub(1);
    Test {
        name,
        status: match case.outcome {
            Outcome::Passed => "passed",
            Outcome::Failed | Outcome::Errored => "failed",
            Outcome::Skipped => "skipped",
        },
        duration: case.duration_ms.unwrap_or(0),
        suite: groups.map(|groups| groups.split("::").collect()),
        message: case.message.as_deref(),
        file_path: case.file.as_deref(),
        line: case.line,
        raw_status: (case.outcome == Outcome::Errored).then_some("errored"),
        retries: (retries > 0).then_some(retries),
        flaky: retries > 0 && case.outcome == Outcome::Passed,
        extra: case.duration_ms.is_none().then(|| json!({"duration": "unknown"})),
    }
}

/// When the tests ran, in milliseconds since 1970: while the command did, else while the iteration was measured.
fn span(one: &OneIteration<'_>) -> (i64, i64) {
    match &one.record.command {
        Some(command) => {
            let start = command.started_at.timestamp_millis();
            (start, start.saturating_add_unsigned(command.duration_ms))
        }
        None => (one.record.started_at.timestamp_millis(), one.record.recorded_at.timestamp_millis()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Sample;
    use super::*;
    use crate::ingest::{self, Details, Input};
    use crate::model::verdict::Severity;

    #[test]
    fn what_is_written_is_read_as_what_it_was_but_errors_are_failures() {
        let mut sample = Sample::new();
        let first = sample.case("tests.test_a::TestB::test_x", Outcome::Failed);
        (first.duration_ms, first.file, first.line) = (Some(1203), Some("tests/test_a.py".into()), Some(12));
        (first.message, first.attempts) = (Some("one | \"two\"".into()), 2);
        sample.case("alone", Outcome::Errored);
        sample.case("a::flaky", Outcome::Passed).attempts = 3;
        sample.case("a::skipped", Outcome::Skipped);
        sample.alert("known_rule", Severity::High, None);
        let text = ctrf(&sample.one()).unwrap();
        let parsed = ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        assert_eq!((parsed.format.name, parsed.declared.is_none()), ("ctrf-json", true), "{text}");
        let figures = parsed.figures;
        assert_eq!(
            [figures.tests, figures.passed, figures.failed, figures.skipped, figures.flaky],
            [Some(4), Some(1), Some(2), Some(1), Some(1)]
        );
        let Details::Tests(details) = parsed.details else { panic!("tests") };
        let mut expected = sample.cases.unwrap().cases;
        expected.get_mut("alone").unwrap().outcome = Outcome::Failed;
        for case in expected.values_mut().filter(|case| case.duration_ms.is_none()) {
            case.duration_ms = Some(0);
        }
        assert_eq!(details.cases.cases, expected);
    }

    #[test]
    fn our_own_data_is_in_extra_and_an_unknown_duration_is_told() {
        let mut sample = Sample::new();
        sample.case("a::b", Outcome::Errored);
        sample.alert("known_rule", Severity::High, None);
        let value: Value = serde_json::from_str(&ctrf(&sample.one()).unwrap()).unwrap();
        assert_eq!(value["results"]["extra"]["highwater"]["alerts"][0]["rule"], "known_rule");
        assert_eq!(value["results"]["tests"][0]["extra"]["duration"], "unknown");
        assert_eq!(value["results"]["tests"][0]["rawStatus"], "errored");
        assert_eq!(value["results"]["summary"]["start"], 1_770_026_400_000_i64);
    }
}
