//! `k6-json`: the summary of a k6 run, as `k6 run --summary-export FILE` writes it (statistics beside each other), or as
//! `handleSummary` gets and usually stores it (statistics under `values`). Its definition is k6's documentation of both.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use serde::Deserialize;
use serde_json::Value;

use super::{LONGEST_NAME, Metrics};
use crate::error::{Error, Reject, Result};
use crate::ingest::input::Input;
use crate::ingest::text::printable;
use crate::ingest::values::Unique;
use crate::ingest::{Format, Head, Parsed, Sniff, json};
use crate::model::figures::ReportKind;
use crate::model::metrics::Direction;

/// Summary of k6.
pub const FORMAT: Format = Format {
    name: "k6-json",
    kind: ReportKind::Metric,
    about: "summary of a k6 load test",
    written_by: "k6 run --summary-export FILE; handleSummary with JSON.stringify(data)",
    told_by: "a JSON object with metrics, and with root_group or k6's own metrics",
    has_end: true,
    counting: "k6.NAME.med and k6.NAME.p95 of trends (ms, lower, where they are times); k6.NAME.rate of rates (checks \
               higher, http_req_failed lower), and of http_reqs and iterations (1/s, higher); k6.NAME.count of other \
               counters (dropped_iterations lower); k6.NAME.value of gauges. Bytes sent and received, virtual users \
               and the phases of a request are not used.",
    sniff,
    parse,
};

/// Metrics of k6 that say how the test was run, or repeat parts of another one.
const NOT_USED: [&str; 10] = [
    "data_sent",
    "data_received",
    "vus",
    "vus_max",
    "http_req_blocked",
    "http_req_connecting",
    "http_req_tls_handshaking",
    "http_req_sending",
    "http_req_waiting",
    "http_req_receiving",
];

fn sniff(head: &Head<'_>) -> Sniff {
    let is_grouped = head.has_key("root_group.groups") && head.has_key("root_group.checks");
    let has_own = ["metrics.data_received", "metrics.data_sent", "metrics.iteration_duration", "metrics.vus_max"];
    if is_grouped || has_own.iter().any(|key| head.has_key(key)) {
        return Sniff::Sure("the metrics or the root_group of k6".into());
    }
    Sniff::No
}

#[derive(Deserialize)]
struct Report {
    metrics: Option<Unique<Metric>>,
}

#[derive(Deserialize)]
struct Metric {
    contains: Option<String>,
    values: Option<BTreeMap<String, Value>>,
    #[serde(flatten)]
    own: BTreeMap<String, Value>,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let report: Report = json::object(input, PhantomData)?;
    let Some(all) = report.metrics else {
        return Err(Error::report(Reject::NotThisFormat, "not a summary of k6: it has no metrics"));
    };
    let mut metrics = Metrics::default();
    for (name, metric) in &all.0 {
        // `http_req_duration{status:200}` is a part that somebody asked for.
        let base = name.split('{').next().unwrap_or(name);
        if NOT_USED.contains(&base) || name.ends_with("{expected_response:true}") {
            continue;
        }
        let statistics = metric.values.as_ref().unwrap_or(&metric.own);
        for (key, what, direction, unit) in told(base, metric, statistics) {
            let value = statistics.get(key).and_then(Value::as_f64);
            metrics.add(&format!("k6.{}.{what}", printable(name, LONGEST_NAME)), value, unit, direction);
        }
    }
    metrics.finish(&FORMAT)
}

/// A statistic: its key, its name in ours, which way is better, its unit.
type Told = (&'static str, &'static str, Option<Direction>, Option<&'static str>);

/// What is used of a metric. Its statistics show its type, which only `handleSummary` names.
fn told(base: &str, metric: &Metric, statistics: &BTreeMap<String, Value>) -> Vec<Told> {
    let (lower, higher) = (Some(Direction::Lower), Some(Direction::Higher));
    let has = |key: &str| statistics.contains_key(key);
    if has("med") || has("p(95)") {
        let is_time = metric.contains.as_deref() == Some("time") || base.ends_with("_duration");
        let (direction, unit) = if is_time { (lower, Some("ms")) } else { (None, None) };
        return [("med", "med"), ("p(95)", "p95")]
            .into_iter()
            .filter(|(key, _)| has(key))
            .map(|(key, what)| (key, what, direction, unit))
            .collect();
    }
    if has("passes") {
        let direction = match base {
            "checks" => higher,
            "http_req_failed" => lower,
            _ => None,
        };
        return vec![(if has("rate") { "rate" } else { "value" }, "rate", direction, None)];
    }
    if has("count") {
        return match base {
            "http_reqs" | "iterations" => vec![("rate", "rate", higher, Some("1/s"))],
            "dropped_iterations" => vec![("count", "count", lower, None)],
            _ => vec![("count", "count", None, None)],
        };
    }
    if has("value") { vec![("value", "value", None, None)] } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(metrics: &str) -> BTreeMap<String, (Option<f64>, Option<Direction>)> {
        let parsed = parse(&Input::bytes("x", format!(r#"{{"metrics":{{{metrics}}}}}"#).as_bytes())).unwrap();
        parsed.figures.metrics.into_iter().map(|(name, figure)| (name, (figure.value, figure.direction))).collect()
    }

    #[test]
    fn both_shapes_tell_the_same() {
        let flat = read(
            r#""http_req_duration":{"avg":3.5,"med":3.0,"p(95)":9.0},"checks":{"passes":9,"fails":1,"value":0.9},
            "iterations":{"count":10,"rate":2.5},"vus":{"value":1,"min":1,"max":1}"#,
        );
        let nested = read(
            r#""http_req_duration":{"type":"trend","contains":"time","values":{"avg":3.5,"med":3.0,"p(95)":9.0}},
            "checks":{"type":"rate","contains":"default","values":{"passes":9,"fails":1,"rate":0.9}},
            "iterations":{"type":"counter","contains":"default","values":{"count":10,"rate":2.5}}"#,
        );
        assert_eq!(flat, nested);
        assert_eq!(flat["k6.http_req_duration.p95"], (Some(9.0), Some(Direction::Lower)));
        assert_eq!(flat["k6.checks.rate"], (Some(0.9), Some(Direction::Higher)));
        assert_eq!(flat["k6.iterations.rate"], (Some(2.5), Some(Direction::Higher)));
        assert_eq!(flat.len(), 4);
    }

    #[test]
    fn nobody_knows_which_way_a_metric_of_ones_own_is_better() {
        let own = read(
            r#""cart":{"avg":3.5,"med":3.0,"p(95)":9.0},"orders":{"count":4,"rate":0.1},"ok":{"passes":1,"fails":0,"value":1},
            "wait":{"type":"trend","contains":"time","values":{"med":1.0}},"depth":{"value":3,"min":0,"max":4}"#,
        );
        let none = |name: &str| own[name].1.is_none();
        assert!(none("k6.cart.med") && none("k6.orders.count") && none("k6.ok.rate") && none("k6.depth.value"));
        assert_eq!(own["k6.wait.med"], (Some(1.0), Some(Direction::Lower)));
        let error = parse(&Input::bytes("x", b"{\"metrics\":{}}")).unwrap_err();
        assert_eq!(error.reject(), Some(Reject::NoResult));
    }
}
