//! `vitest-bench-json`: what `vitest bench --outputJson` writes.

use std::marker::PhantomData;

use serde::Deserialize;

use super::Metrics;
use crate::error::{Error, Reject, Result};
use crate::ingest::input::Input;
use crate::ingest::values::Few;
use crate::ingest::{Format, Parsed, json};
use crate::model::figures::ReportKind;

/// JSON of vitest bench.
pub const FORMAT: Format = Format {
    name: "vitest-bench-json",
    kind: ReportKind::Metric,
    about: "vitest bench JSON: times of JavaScript benchmarks",
    written_by: "vitest bench --outputJson FILE",
    told_by: "a JSON object with files that have groups of benchmarks",
    has_end: true,
    counting: "bench.GROUP > NAME.time (ms, lower): the mean, since a median of so short times is one tick of the clock.",
    sniff: |head| head.by_keys(&["files.groups.fullName", "files.groups.benchmarks"]),
    parse,
};

#[derive(Deserialize)]
struct Report {
    files: Option<Few<File>>,
}

#[derive(Deserialize)]
struct File {
    groups: Few<Group>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Group {
    full_name: String,
    benchmarks: Few<Benchmark>,
}

#[derive(Deserialize)]
struct Benchmark {
    name: String,
    /// Missing where it failed.
    mean: Option<f64>,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let report: Report = json::object(input, PhantomData)?;
    let Some(files) = report.files else {
        return Err(Error::report(Reject::NotThisFormat, "not a report of vitest bench: it has no files"));
    };
    let mut metrics = Metrics::default();
    for group in files.into_iter().flat_map(|file| file.groups) {
        for Benchmark { name, mean } in group.benchmarks {
            metrics.time(&format!("{} > {name}", group.full_name), mean, "ms");
        }
    }
    metrics.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_name_their_benchmarks() {
        let read = |text: &str| crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None);
        let text = r#"{"files":[{"filepath":"/app/a.bench.ts","groups":[{"fullName":"a.bench.ts > sort","benchmarks":[
            {"id":"1","name":"normal","rank":1,"mean":0.25,"median":0.2,"samples":[]},{"id":"2","name":"bad"}]}]},{"filepath":"b","groups":[]}]}"#;
        let metrics = read(text).unwrap().figures.metrics;
        assert_eq!(metrics["bench.a.bench.ts > sort > normal.time"].value, Some(0.25));
        assert_eq!(metrics["bench.a.bench.ts > sort > bad.time"].value, None);
        let none = parse(&Input::bytes("x", b"{\"files\":[]}")).unwrap_err();
        assert_eq!(none.reject(), Some(Reject::NoResult));
    }
}
