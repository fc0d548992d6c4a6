//! `pyperf-json`: what pyperf writes with `-o`. <https://pyperf.readthedocs.io/en/latest/api.html#pyperf-json-file-format>

use std::marker::PhantomData;

use serde::Deserialize;

use super::{Metrics, bench};
use crate::error::{Error, Reject, Result};
use crate::ingest::input::Input;
use crate::ingest::values::Few;
use crate::ingest::{Format, Head, Parsed, Sniff, json};
use crate::model::figures::ReportKind;
use crate::model::metrics::Direction;

/// JSON of pyperf.
pub const FORMAT: Format = Format {
    name: "pyperf-json",
    kind: ReportKind::Metric,
    about: "pyperf JSON: times of Python benchmarks",
    written_by: "pyperf timeit -o FILE, scripts with pyperf.Runner, pyperformance run -o FILE",
    told_by: "a JSON object with benchmarks.runs that have values, warmups or metadata, and version",
    has_end: true,
    counting: "bench.NAME.time (s, lower), or .size (bytes, lower) where memory was measured: the mean of all values, \
               as pyperf has it. Warm-ups and calibrations are no values.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let has_runs = head.has_key("benchmarks.runs.metadata") || head.has_key("benchmarks.runs.values");
    let is_ours = has_runs && (head.has_key("benchmarks.runs.warmups") || head.has_key("benchmarks.metadata.loops"));
    if is_ours { Sniff::Sure("keys benchmarks.runs.values and warmups".into()) } else { Sniff::No }
}

#[derive(Deserialize)]
struct Report {
    benchmarks: Option<Few<Benchmark>>,
    /// What all benchmarks have in common: of one alone, its name.
    #[serde(default)]
    metadata: Metadata,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Metadata {
    name: Option<String>,
    unit: Option<String>,
}

#[derive(Deserialize)]
struct Benchmark {
    #[serde(default)]
    metadata: Metadata,
    runs: Few<Run>,
}

#[derive(Deserialize)]
struct Run {
    /// None where it calibrated.
    values: Option<Few<f64>>,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let Report { benchmarks, metadata } = json::object(input, PhantomData)?;
    let Some(benchmarks) = benchmarks else {
        return Err(Error::report(Reject::NotThisFormat, "not a report of pyperf: it has no benchmarks"));
    };
    let mut metrics = Metrics::default();
    for benchmark in benchmarks {
        let name = benchmark.metadata.name.or_else(|| metadata.name.clone()).unwrap_or_else(|| "timeit".to_owned());
        let unit = benchmark.metadata.unit.or_else(|| metadata.unit.clone());
        let (mut sum, mut count) = (0.0, 0.0);
        for value in benchmark.runs.into_iter().filter_map(|run| run.values).flatten() {
            (sum, count) = (sum + value, count + 1.0);
        }
        let mean = (count > 0.0).then_some(sum / count);
        match unit.as_deref() {
            None | Some("second") => metrics.time(&name, mean, "s"),
            Some("byte") => metrics.add(&bench(&name, "size"), mean, Some("bytes"), Some(Direction::Lower)),
            Some(_) => metrics.add(&bench(&name, "value"), mean, None, None),
        }
    }
    metrics.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_all_values_is_told_and_no_warm_up() {
        let read = |text: &str| crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None);
        let runs = r#""runs":[{"metadata":{},"warmups":[[1,9.0]]},{"warmups":[[1,9.0]],"values":[0.25,0.5]},{"values":[0.75]}]"#;
        let two = format!(
            r#"{{"benchmarks":[{{"metadata":{{"name":"sum","loops":8}},{runs}}},{{"metadata":{{"name":"m","unit":"byte"}},{runs}}}],"metadata":{{}},"version":"1.0"}}"#
        );
        let metrics = read(&two).unwrap().figures.metrics;
        assert_eq!((metrics["bench.sum.time"].value, metrics["bench.m.size"].value), (Some(0.5), Some(0.5)));
        let one = format!(r#"{{"benchmarks":[{{{runs}}}],"metadata":{{"name":"a b"}},"version":"1.0"}}"#);
        assert_eq!(read(&one).unwrap().figures.metrics["bench.a b.time"].value, Some(0.5));
        assert_eq!(parse(&Input::bytes("x", b"{}")).unwrap_err().reject(), Some(Reject::NotThisFormat));
    }
}
