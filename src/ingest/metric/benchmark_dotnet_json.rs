//! `benchmark-dotnet-json`: what BenchmarkDotNet's JSON exporters write. Written after their source, version 0.13; no .NET SDK
//! was at hand.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use serde::Deserialize;

use super::{Metrics, bench};
use crate::error::{Error, Reject, Result};
use crate::ingest::input::Input;
use crate::ingest::values::Few;
use crate::ingest::{Format, Parsed, json};
use crate::model::figures::ReportKind;
use crate::model::metrics::Direction;

/// JSON of BenchmarkDotNet.
pub const FORMAT: Format = Format {
    name: "benchmark-dotnet-json",
    kind: ReportKind::Metric,
    about: "BenchmarkDotNet JSON: times and allocations of .NET benchmarks",
    written_by: "BenchmarkDotNet with --exporters json (brief, full, compressed)",
    told_by: "a JSON object with HostEnvironmentInfo and Benchmarks, or with its caption",
    has_end: true,
    counting: "bench.NAME.time (ns, lower): the median; bench.NAME.bytes (B/op, lower) where memory was diagnosed. NAME is \
               FullName; where several jobs ran it, the second is NAME #2. What failed has no result.",
    sniff: |head| head.by_keys(&["HostEnvironmentInfo.BenchmarkDotNetVersion", "Title"]),
    parse,
};

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Report {
    benchmarks: Option<Few<Benchmark>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Benchmark {
    full_name: String,
    statistics: Option<Statistics>,
    memory: Option<Memory>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Statistics {
    median: f64,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Memory {
    bytes_allocated_per_operation: Option<f64>,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let report: Report = json::object(input, PhantomData)?;
    let Some(benchmarks) = report.benchmarks else {
        return Err(Error::report(Reject::NotThisFormat, "not a report of BenchmarkDotNet: it has no Benchmarks"));
    };
    let mut metrics = Metrics::default();
    let mut met: BTreeMap<String, u64> = BTreeMap::new();
    for Benchmark { full_name, statistics, memory } in benchmarks {
        let jobs = met.entry(full_name.clone()).or_default();
        *jobs += 1;
        let name = if *jobs == 1 { full_name } else { format!("{full_name} #{jobs}") };
        metrics.time(&name, statistics.map(|statistics| statistics.median), "ns");
        if let Some(bytes) = memory.and_then(|memory| memory.bytes_allocated_per_operation) {
            metrics.add(&bench(&name, "bytes"), Some(bytes), Some("B/op"), Some(Direction::Lower));
        }
    }
    metrics.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_of_one_benchmark_are_no_samples_of_each_other() {
        let one = |median: &str, memory: &str| {
            let statistics = if median.is_empty() {
                "null".to_owned()
            } else {
                format!(r#"{{"N":3,"Median":{median},"Mean":9.0}}"#)
            };
            format!(r#"{{"DisplayInfo":"x","FullName":"A.B.Sum(N: 10)","Statistics":{statistics}{memory}}}"#)
        };
        let memory = r#","Memory":{"Gen0Collections":0,"BytesAllocatedPerOperation":24}"#;
        let text = format!(
            r#"{{"Title":"A","HostEnvironmentInfo":{{"BenchmarkDotNetVersion":"0.13.1"}},"Benchmarks":[{},{},{}]}}"#,
            one("12.5", memory),
            one("10.5", ""),
            one("", "")
        );
        let metrics = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap().figures.metrics;
        let value = |name: &str| metrics[&format!("bench.A.B.Sum(N: 10){name}")].value;
        assert_eq!((value(".time"), value(" #2.time"), value(" #3.time")), (Some(12.5), Some(10.5), None));
        assert_eq!((value(".bytes"), metrics.len()), (Some(24.0), 4));
        let other = parse(&Input::bytes("x", b"{\"Title\":\"A\"}")).unwrap_err();
        assert_eq!(other.reject(), Some(Reject::NotThisFormat));
    }
}
