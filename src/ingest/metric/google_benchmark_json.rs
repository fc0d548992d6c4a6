//! `google-benchmark-json`: what Google Benchmark prints with `--benchmark_format=json`.

use std::collections::BTreeSet;
use std::marker::PhantomData;

use serde::Deserialize;

use super::Metrics;
use crate::error::{Error, Reject, Result};
use crate::ingest::input::Input;
use crate::ingest::text::printable;
use crate::ingest::values::Few;
use crate::ingest::{Format, Parsed, json};
use crate::model::figures::ReportKind;

/// JSON of Google Benchmark.
pub const FORMAT: Format = Format {
    name: "google-benchmark-json",
    kind: ReportKind::Metric,
    about: "Google Benchmark JSON",
    written_by: "a benchmark program with --benchmark_format=json or --benchmark_out=FILE",
    told_by: "a JSON object with benchmarks that have real_time and time_unit",
    has_end: true,
    counting: "bench.NAME.time (ns, us, ms or s, as told), NAME as run_name: real_time, the median where it was \
               repeated. Aggregates are used only where the repetitions are not told; complexities are not used; what \
               reports an error has no result.",
    sniff: |head| head.by_keys(&["benchmarks.real_time", "benchmarks.time_unit"]),
    parse,
};

#[derive(Deserialize)]
struct Report {
    benchmarks: Option<Few<Benchmark>>,
}

#[derive(Deserialize)]
struct Benchmark {
    name: String,
    run_name: Option<String>,
    #[serde(default)]
    run_type: String,
    #[serde(default)]
    aggregate_name: String,
    #[serde(default)]
    error_occurred: bool,
    real_time: Option<f64>,
    time_unit: Option<String>,
}

impl Benchmark {
    fn name(&self) -> &str {
        self.run_name.as_deref().unwrap_or(&self.name)
    }

    fn is_run(&self) -> bool {
        self.run_type != "aggregate"
    }
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let report: Report = json::object(input, PhantomData)?;
    let Some(Few(benchmarks)) = report.benchmarks else {
        return Err(Error::report(Reject::NotThisFormat, "not a report of Google Benchmark: it has no benchmarks"));
    };
    let repeated: BTreeSet<&str> = benchmarks.iter().filter(|one| one.is_run()).map(Benchmark::name).collect();
    let mut metrics = Metrics::default();
    for benchmark in &benchmarks {
        let is_used =
            benchmark.is_run() || (benchmark.aggregate_name == "median" && !repeated.contains(benchmark.name()));
        if !is_used {
            continue;
        }
        let unit = match benchmark.time_unit.as_deref() {
            Some(unit @ ("ns" | "us" | "ms" | "s")) => unit,
            _ if benchmark.error_occurred => "ns",
            other => {
                let what = format!("the time_unit {:?} is not known", printable(other.unwrap_or_default(), 20));
                return Err(Error::report(Reject::Malformed, what));
            }
        };
        metrics.time(benchmark.name(), benchmark.real_time.filter(|_| !benchmark.error_occurred), unit);
    }
    metrics.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(benchmarks: &[&str]) -> Result<Parsed> {
        parse(&Input::bytes("x", format!(r#"{{"benchmarks":[{}]}}"#, benchmarks.join(",")).as_bytes()))
    }

    #[test]
    fn aggregates_count_only_without_their_repetitions() {
        let run = |time: &str| {
            format!(r#"{{"name":"A","run_name":"A","run_type":"iteration","real_time":{time},"time_unit":"ns"}}"#)
        };
        let median = r#"{"name":"A_median","run_name":"A","run_type":"aggregate","aggregate_name":"median","real_time":9.0,"time_unit":"ns"}"#;
        let cv = r#"{"name":"A_cv","run_name":"A","run_type":"aggregate","aggregate_name":"cv","real_time":0.1,"time_unit":"ns"}"#;
        let figures = read(&[&run("1"), &run("3"), median, cv]).unwrap().figures;
        assert_eq!(figures.metrics["bench.A.time"].value, Some(2.0));
        assert_eq!(read(&[cv, median]).unwrap().figures.metrics["bench.A.time"].value, Some(9.0));
    }

    #[test]
    fn an_error_is_no_time_and_an_unknown_unit_no_report() {
        let failed = r#"{"name":"A","run_type":"iteration","error_occurred":true,"real_time":0.0,"time_unit":"ns"}"#;
        assert_eq!(read(&[failed]).unwrap().figures.metrics["bench.A.time"].value, None);
        let odd = r#"{"name":"A","real_time":1.0,"time_unit":"h"}"#;
        assert_eq!(read(&[odd]).unwrap_err().reject(), Some(Reject::Malformed));
        assert_eq!(read(&[]).unwrap_err().reject(), Some(Reject::NoResult));
    }
}
