//! `autocannon-json`: what `autocannon --json` prints of a load test.

use std::marker::PhantomData;

use serde::Deserialize;

use super::Metrics;
use crate::error::{Error, Reject, Result};
use crate::ingest::input::Input;
use crate::ingest::{Format, Parsed, json};
use crate::model::figures::ReportKind;
use crate::model::metrics::Direction;

/// JSON of autocannon.
pub const FORMAT: Format = Format {
    name: "autocannon-json",
    kind: ReportKind::Metric,
    about: "autocannon JSON: latency and rate of an HTTP load test",
    written_by: "autocannon --json",
    told_by: "a JSON object with latency.p97_5, requests and throughput",
    has_end: true,
    counting: "autocannon.latency.p50, .p97_5 and .p99 (ms, lower), autocannon.requests.rate (1/s, higher), \
               autocannon.errors, .timeouts and .non2xx (lower). Where nothing was answered, latencies are unknown.",
    sniff: |head| head.by_keys(&["latency.p97_5", "requests.average", "throughput.average", "non2xx"]),
    parse,
};

#[derive(Deserialize)]
struct Report {
    latency: Option<Latency>,
    requests: Option<Requests>,
    errors: Option<f64>,
    timeouts: Option<f64>,
    non2xx: Option<f64>,
}

#[derive(Deserialize)]
struct Latency {
    p50: Option<f64>,
    p97_5: Option<f64>,
    p99: Option<f64>,
}

#[derive(Deserialize)]
struct Requests {
    average: Option<f64>,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let report: Report = json::object(input, PhantomData)?;
    let (Some(latency), Some(requests)) = (report.latency, report.requests) else {
        return Err(Error::report(Reject::NotThisFormat, "not a report of autocannon: it has no latency and requests"));
    };
    let mut metrics = Metrics::default();
    let is_answered = requests.average != Some(0.0);
    for (name, value) in [("p50", latency.p50), ("p97_5", latency.p97_5), ("p99", latency.p99)] {
        let value = value.filter(|_| is_answered);
        metrics.add(&format!("autocannon.latency.{name}"), value, Some("ms"), Some(Direction::Lower));
    }
    metrics.add("autocannon.requests.rate", requests.average, Some("1/s"), Some(Direction::Higher));
    for (name, value) in [("errors", report.errors), ("timeouts", report.timeouts), ("non2xx", report.non2xx)] {
        metrics.add(&format!("autocannon.{name}"), value, None, Some(Direction::Lower));
    }
    metrics.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_told_is_not_known() {
        let text = r#"{"url":"http://localhost","latency":{"p50":1,"p97_5":9.5},"requests":{"average":73880},"throughput":{"average":1},"errors":2,"non2xx":0}"#;
        let metrics = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap().figures.metrics;
        let value = |name: &str| metrics[&format!("autocannon.{name}")].value;
        assert_eq!(
            (value("latency.p97_5"), value("latency.p99"), value("requests.rate")),
            (Some(9.5), None, Some(73880.0))
        );
        let dead = text.replace("73880", "0");
        let metrics = crate::ingest::parse(&Input::bytes("x", dead.as_bytes()), None).unwrap().figures.metrics;
        assert_eq!(metrics["autocannon.latency.p50"].value, None);
        assert_eq!((value("errors"), value("timeouts"), value("non2xx")), (Some(2.0), None, Some(0.0)));
        let other = parse(&Input::bytes("x", b"{\"latency\":{}}")).unwrap_err();
        assert_eq!(other.reject(), Some(Reject::NotThisFormat));
    }
}
