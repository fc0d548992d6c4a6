//! The two requests, as OTLP's JSON: 64-bit numbers as strings, ids in hexadecimal digits, enums as numbers.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::names;
use crate::model::ids::{Iteration, ObjectId};
use crate::model::record::IterationRecord;
use crate::model::verdict::{Alert, Classification, Severity};

/// `SPAN_KIND_INTERNAL`.
const INTERNAL: u8 = 1;
/// `STATUS_CODE_ERROR`.
const ERROR: u8 = 2;
/// `AGGREGATION_TEMPORALITY_DELTA`.
const DELTA: u8 = 1;

/// Digits of the ids of traces and of spans.
const TRACE_DIGITS: usize = 32;
const SPAN_DIGITS: usize = 16;

/// Whose the span is.
#[derive(Debug)]
pub struct Ids {
    trace: String,
    span: String,
    /// The baseline's span, which holds all others; absent for itself.
    root: Option<String>,
    /// The span of the iteration that this one started from.
    parent: Option<String>,
}

impl Ids {
    /// The beginnings of hashes.
    pub fn new(trace: &ObjectId, record: &IterationRecord, span: impl Fn(Iteration) -> ObjectId) -> Ids {
        let digits = |id: ObjectId, count: usize| id.to_string().chars().take(count).collect::<String>();
        let span = |iteration: Iteration| digits(span(iteration), SPAN_DIGITS);
        Ids {
            trace: digits(*trace, TRACE_DIGITS),
            span: span(record.iteration),
            root: (record.iteration != Iteration::BASELINE).then(|| span(Iteration::BASELINE)),
            parent: record.parent.map(span),
        }
    }
}

/// `POST /v1/traces`: the iteration as one span, its alerts as events.
pub fn traces(record: &IterationRecord, ids: &Ids, resource: &[(String, String)]) -> Value {
    let (start, end) = span_of(record);
    let mut span = json!({
        "traceId": ids.trace,
        "spanId": ids.span,
        "name": "iteration",
        "kind": INTERNAL,
        "startTimeUnixNano": nanos(start),
        "endTimeUnixNano": nanos(end),
        "attributes": attributes(record),
        "events": record.alerts.iter().filter(|alert| alert.counts()).map(|alert| event(alert, end)).collect::<Vec<_>>(),
        "status": if result(record) == "success" { json!({}) } else { json!({"code": ERROR, "message": record.recommendation.reason}) },
    });
    if let (Some(span), Some(root)) = (span.as_object_mut(), &ids.root) {
        span.insert("parentSpanId".to_owned(), json!(root));
    }
    if let (Some(span), Some(parent)) = (span.as_object_mut(), &ids.parent) {
        span.insert("links".to_owned(), json!([{"traceId": ids.trace, "spanId": parent}]));
    }
    json!({"resourceSpans": [{
        "resource": {"attributes": texts(resource)},
        "scopeSpans": [{"scope": scope(), "spans": [span]}],
    }]})
}

/// `POST /v1/metrics`: what was measured, as gauges. What was not has no point.
pub fn metrics(record: &IterationRecord, resource: &[(String, String)]) -> Value {
    let (start, end) = span_of(record);
    let point = |value: Value, more: Vec<Value>| {
        let mut attributes = vec![text(names::LOOP_ID, record.loop_id.as_str())];
        attributes.extend(more);
        let mut point = json!({"timeUnixNano": nanos(end), "attributes": attributes});
        if let (Some(point), Some(value)) = (point.as_object_mut(), value.as_object()) {
            point.extend(value.clone());
        }
        point
    };
    let gauge = |name: &str, unit: &str, points: Vec<Value>| json!({"name": name, "unit": unit, "gauge": {"dataPoints": points}});
    let whole = |count: Option<u64>| count.map(|count| point(json!({"asInt": count.to_string()}), Vec::new()));
    let real = |value: Option<f64>| value.map(|value| point(json!({"asDouble": value}), Vec::new()));
    let figures = &record.metrics;
    let ran = figures.testing.as_ref().and_then(|tests| {
        let failed = tests.tests_failed?.checked_add(tests.tests_errored?)?;
        Some([("pass", tests.tests_passed?), ("fail", failed)])
    });
    let tests = ran
        .into_iter()
        .flatten()
        .map(|(status, count)| point(json!({"asInt": count.to_string()}), vec![text(names::CASE_STATUS, status)]));
    let alerts = [Severity::Low, Severity::Medium, Severity::High, Severity::Critical].map(|severity| {
        let count = record.alerts.iter().filter(|alert| alert.counts() && alert.severity == severity).count();
        point(json!({"asInt": count.to_string()}), vec![text(names::ALERT_SEVERITY, severity.name())])
    });
    let gauges = [
        gauge(names::ITERATION, "1", vec![point(json!({"asInt": record.iteration.0.to_string()}), Vec::new())]),
        gauge(
            names::QUALITY_SCORE,
            "1",
            real(record.quality_score.as_ref().map(|score| score.total.get())).into_iter().collect(),
        ),
        gauge(names::TESTS, "{test}", tests.collect()),
        gauge(names::COVERAGE, "%", real(figures.coverage()).into_iter().collect()),
        gauge(names::ERRORS, "{error}", whole(figures.error_count()).into_iter().collect()),
        gauge(names::WARNINGS, "{warning}", whole(figures.lint_warnings()).into_iter().collect()),
        gauge(names::ALERTS, "{alert}", alerts.into()),
        gauge(names::COST, "{USD}", real(record.cost).into_iter().collect()),
        gauge(names::TOKENS, "{token}", whole(record.tokens).into_iter().collect()),
    ];
    let is_measured = |gauge: &Value| gauge.pointer("/gauge/dataPoints/0").is_some();
    let mut all: Vec<Value> = gauges.into_iter().filter(is_measured).collect();
    all.push(json!({"name": names::RUN_DURATION, "unit": "s", "histogram": {
        "aggregationTemporality": DELTA,
        "dataPoints": [{
            "startTimeUnixNano": nanos(start),
            "timeUnixNano": nanos(end),
            "count": "1",
            "sum": seconds(start, end),
            "bucketCounts": ["1"],
            "explicitBounds": [],
            "attributes": [text(names::PIPELINE_NAME, record.loop_id.as_str()), text(names::RESULT, result(record))],
        }],
    }}));
    json!({"resourceMetrics": [{
        "resource": {"attributes": texts(resource)},
        "scopeMetrics": [{"scope": scope(), "metrics": all}],
    }]})
}

fn scope() -> Value {
    json!({"name": "highwater", "version": env!("CARGO_PKG_VERSION")})
}

fn attributes(record: &IterationRecord) -> Vec<Value> {
    let recommendation = &record.recommendation;
    let mut attributes = vec![
        text(names::PIPELINE_NAME, record.loop_id.as_str()),
        text(names::RUN_ID, &format!("{}/{}", record.loop_id, record.iteration)),
        text(names::RESULT, result(record)),
        text(names::LOOP_ID, record.loop_id.as_str()),
        json!({"key": names::ITERATION, "value": {"intValue": record.iteration.0.to_string()}}),
        text(names::RECOMMENDATION, recommendation.action.name()),
        text(names::REASON, &recommendation.reason),
    ];
    attributes.extend(record.classification.map(|class| text(names::CLASSIFICATION, class.name())));
    attributes.extend(
        record
            .quality_score
            .as_ref()
            .map(|score| json!({"key": names::QUALITY_SCORE, "value": {"doubleValue": score.total.get()}})),
    );
    let failed =
        record.metrics.testing.as_ref().and_then(|tests| tests.tests_failed?.checked_add(tests.tests_errored?));
    attributes.extend(failed.map(|failed| text(names::SUITE_STATUS, if failed == 0 { "success" } else { "failure" })));
    attributes
}

/// Of the conventions' words, the three that a verdict can be.
fn result(record: &IterationRecord) -> &'static str {
    match record.classification {
        _ if record.recommendation.is_unmeasured() => "error",
        Some(Classification::Regression) => "failure",
        _ => "success",
    }
}

fn event(alert: &Alert, at: DateTime<Utc>) -> Value {
    json!({
        "name": names::ALERT,
        "timeUnixNano": nanos(at),
        "attributes": [
            text(names::ALERT_RULE, &alert.rule),
            text(names::ALERT_SEVERITY, alert.severity.name()),
            text(names::ALERT_MESSAGE, &alert.message),
        ],
    })
}

/// From the command's start, if one was run, to the record.
fn span_of(record: &IterationRecord) -> (DateTime<Utc>, DateTime<Utc>) {
    let start = record.command.as_ref().map_or(record.started_at, |command| command.started_at.min(record.started_at));
    (start, record.recorded_at.max(start))
}

/// Nanoseconds since 1970. A time that has none, beyond the year 2262, is 0: unknown.
fn nanos(at: DateTime<Utc>) -> String {
    at.timestamp_nanos_opt().unwrap_or(0).max(0).to_string()
}

#[expect(clippy::cast_precision_loss, reason = "the milliseconds of an iteration stay far below 2^53")]
fn seconds(start: DateTime<Utc>, end: DateTime<Utc>) -> f64 {
    (end - start).num_milliseconds() as f64 / 1000.0
}

fn text(key: &str, value: &str) -> Value {
    json!({"key": key, "value": {"stringValue": value}})
}

fn texts(pairs: &[(String, String)]) -> Vec<Value> {
    pairs.iter().map(|(key, value)| text(key, value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::metrics::{Metrics, TestMetrics};
    use crate::model::verdict::Status;

    fn record() -> IterationRecord {
        let at = DateTime::from_timestamp(1_770_026_400, 5).unwrap();
        let mut record = IterationRecord::draft("auth".parse().unwrap(), at, ObjectId([1; 32]), ObjectId([2; 32]));
        record.iteration = Iteration(3);
        record.parent = Some(Iteration(1));
        record.recorded_at = at + chrono::TimeDelta::milliseconds(1500);
        record.classification = Some(Classification::Regression);
        record
    }

    fn ids(record: &IterationRecord) -> Ids {
        Ids::new(&ObjectId([0xab; 32]), record, |iteration| ObjectId([u8::try_from(iteration.0).unwrap(); 32]))
    }

    fn keys(attributes: &Value) -> Vec<&str> {
        attributes.as_array().unwrap().iter().map(|one| one["key"].as_str().unwrap()).collect()
    }

    #[test]
    fn an_iteration_is_a_span_below_the_baseline_s_and_linked_to_its_parent_s() {
        let mut record = record();
        record.alerts.push(Alert {
            rule: "r".to_owned(),
            subject: None,
            others: Vec::new(),
            severity: Severity::High,
            status: Status::Observed,
            message: "m".to_owned(),
            previous: None,
            current: None,
            threshold: None,
            evidence: Vec::new(),
            seed_severity: None,
            reliability: 0.5,
            observe_only: false,
            iteration: record.iteration,
        });
        let value = traces(&record, &ids(&record), &[("service.name".to_owned(), "s".to_owned())]);
        let span = &value["resourceSpans"][0]["scopeSpans"][0]["spans"][0];
        assert_eq!(span["traceId"], "ab".repeat(16));
        assert_eq!(
            (span["spanId"].as_str(), span["parentSpanId"].as_str()),
            (Some("03".repeat(8).as_str()), Some("00".repeat(8).as_str()))
        );
        assert_eq!(span["links"][0]["spanId"], "01".repeat(8));
        assert_eq!(span["startTimeUnixNano"], "1770026400000000005");
        assert_eq!(span["endTimeUnixNano"], "1770026401500000005");
        assert_eq!(span["status"]["code"], 2);
        assert_eq!(keys(&span["events"][0]["attributes"]).len(), 3);
        let names = keys(&span["attributes"]);
        assert!(!names.contains(&names::QUALITY_SCORE) && !names.contains(&names::SUITE_STATUS), "unknown is absent");
        record.iteration = Iteration::BASELINE;
        record.parent = None;
        record.classification = Some(Classification::Baseline);
        let value = traces(&record, &ids(&record), &[]);
        let span = &value["resourceSpans"][0]["scopeSpans"][0]["spans"][0];
        assert!(span.get("parentSpanId").is_none() && span.get("links").is_none());
        assert_eq!(span["status"], json!({}));
    }

    #[test]
    fn what_was_measured_is_a_gauge_and_the_rest_is_not_there() {
        let mut record = record();
        let bare = metrics(&record, &[]);
        let names = |value: &Value| {
            let all = value["resourceMetrics"][0]["scopeMetrics"][0]["metrics"].as_array().unwrap().clone();
            all.into_iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(names(&bare), [names::ITERATION, names::ALERTS, names::RUN_DURATION]);
        record.metrics = Metrics {
            testing: Some(TestMetrics {
                tests_passed: Some(8),
                tests_failed: Some(1),
                tests_errored: Some(2),
                ..TestMetrics::default()
            }),
            ..Metrics::default()
        };
        let value = metrics(&record, &[]);
        let all = value["resourceMetrics"][0]["scopeMetrics"][0]["metrics"].as_array().unwrap();
        let tests = all.iter().find(|one| one["name"] == names::TESTS).unwrap();
        let points = tests["gauge"]["dataPoints"].as_array().unwrap();
        assert_eq!((&points[0]["asInt"], &points[1]["asInt"]), (&json!("8"), &json!("3")));
        let duration = &all.last().unwrap()["histogram"]["dataPoints"][0];
        assert_eq!((&duration["sum"], &duration["count"]), (&json!(1.5), &json!("1")));
    }
}
