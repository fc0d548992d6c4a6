//! `pytest-benchmark-json`: what `pytest --benchmark-json` writes.

use std::marker::PhantomData;

use serde::Deserialize;

use super::Metrics;
use crate::error::{Error, Reject, Result};
use crate::ingest::input::Input;
use crate::ingest::values::Few;
use crate::ingest::{Format, Head, Parsed, Sniff, json};
use crate::model::figures::ReportKind;

/// JSON of pytest-benchmark.
pub const FORMAT: Format = Format {
    name: "pytest-benchmark-json",
    kind: ReportKind::Metric,
    about: "pytest-benchmark JSON",
    written_by: "pytest --benchmark-json=FILE, or --benchmark-autosave",
    told_by: "a JSON object with machine_info, commit_info and benchmarks",
    has_end: true,
    counting: "bench.NAME.time (s), NAME as fullname: the median of the rounds, which one slow round does not move.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    if head.has_key("machine_info") && head.has_key("commit_info") {
        return Sniff::Sure("keys machine_info and commit_info".into());
    }
    Sniff::No
}

#[derive(Deserialize)]
struct Report {
    benchmarks: Option<Few<Benchmark>>,
}

#[derive(Deserialize)]
struct Benchmark {
    fullname: String,
    stats: Stats,
}

#[derive(Deserialize)]
struct Stats {
    median: f64,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let report: Report = json::object(input, PhantomData)?;
    let Some(benchmarks) = report.benchmarks else {
        return Err(Error::report(Reject::NotThisFormat, "not a report of pytest-benchmark: it has no benchmarks"));
    };
    let mut metrics = Metrics::default();
    for benchmark in benchmarks {
        metrics.time(&benchmark.fullname, Some(benchmark.stats.median), "s");
    }
    metrics.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_benchmark_has_its_median_and_a_report_without_any_no_result() {
        let read = |text: &str| parse(&Input::bytes("x", text.as_bytes()));
        let one = r#"{"fullname":"a.py::b[1]","stats":{"median":2e-7,"mean":3.0,"data":[1,2]}}"#;
        let figures = read(&format!(r#"{{"benchmarks":[{one}]}}"#)).unwrap().figures;
        assert_eq!(figures.metrics["bench.a.py::b[1].time"].value, Some(2e-7));
        for (text, reject) in [
            (r#"{"benchmarks":[]}"#, Reject::NoResult),
            ("{}", Reject::NotThisFormat),
            (r#"{"benchmarks":[{"fullname":"a"}]}"#, Reject::Malformed),
            (r#"{"benchmarks":[{"fullname":"a","stats":{"median":1e999}}]}"#, Reject::Malformed),
        ] {
            assert_eq!(read(text).unwrap_err().reject(), Some(reject), "{text}");
        }
    }
}
