//! `mitata-json`: what mitata prints with `format: 'json'`. <https://github.com/evanwashere/mitata>

use std::marker::PhantomData;

use serde::Deserialize;

use super::Metrics;
use crate::error::{Error, Reject, Result};
use crate::ingest::input::Input;
use crate::ingest::values::Few;
use crate::ingest::{Format, Parsed, json};
use crate::model::figures::ReportKind;

/// JSON of mitata.
pub const FORMAT: Format = Format {
    name: "mitata-json",
    kind: ReportKind::Metric,
    about: "mitata JSON: times of JavaScript benchmarks",
    written_by: "mitata, run({ format: 'json' })",
    told_by: "a JSON object with layout, benchmarks.alias and benchmarks.runs",
    has_end: true,
    counting: "bench.NAME.time (ns, lower): the average of a call, without a value where it failed.",
    sniff: |head| head.by_keys(&["layout", "benchmarks.alias", "benchmarks.runs.stats"]),
    parse,
};

#[derive(Deserialize)]
struct Report {
    benchmarks: Option<Few<Benchmark>>,
}

#[derive(Deserialize)]
struct Benchmark {
    runs: Few<Run>,
}

#[derive(Deserialize)]
struct Run {
    name: String,
    /// Missing where it failed.
    stats: Option<Stats>,
}

#[derive(Deserialize)]
struct Stats {
    avg: f64,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let report: Report = json::object(input, PhantomData)?;
    let Some(benchmarks) = report.benchmarks else {
        return Err(Error::report(Reject::NotThisFormat, "not a report of mitata: it has no benchmarks"));
    };
    let mut metrics = Metrics::default();
    for Run { name, stats } in benchmarks.into_iter().flat_map(|benchmark| benchmark.runs) {
        metrics.time(&name, stats.map(|stats| stats.avg), "ns");
    }
    metrics.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_run_of_a_benchmark_has_its_time() {
        let text = r#"{"layout":[{"name":null,"types":[]}],"benchmarks":[{"alias":"a $n","runs":[{"stats":{"avg":6.5},"name":"a 1"},
            {"name":"a 2","error":{}}]}],"context":{}}"#;
        let metrics = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap().figures.metrics;
        assert_eq!((metrics["bench.a 1.time"].value, metrics["bench.a 2.time"].value), (Some(6.5), None));
        assert_eq!(parse(&Input::bytes("x", b"{}")).unwrap_err().reject(), Some(Reject::NotThisFormat));
    }
}
