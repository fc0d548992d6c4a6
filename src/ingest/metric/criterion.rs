//! `criterion`: the `estimates.json` that criterion.rs leaves for each benchmark. It does not name the benchmark: its folder
//! does (`target/criterion/GROUP/FUNCTION/new/estimates.json`), so the metric's name is taken from there, never the format.

use std::marker::PhantomData;

use serde::Deserialize;

use super::Metrics;
use crate::error::{Error, Reject, Result};
use crate::ingest::input::Input;
use crate::ingest::{Format, Parsed, json};
use crate::model::figures::ReportKind;

/// Estimates of criterion.rs.
pub const FORMAT: Format = Format {
    name: "criterion",
    kind: ReportKind::Metric,
    about: "estimates of a benchmark by criterion.rs (estimates.json)",
    written_by: "cargo bench with criterion",
    told_by: "a JSON object with mean, median and median_abs_dev that have a point_estimate",
    has_end: true,
    counting: "bench.NAME.time (ns): the median's point_estimate. NAME is the folder below criterion, as \
               GROUP/FUNCTION; read it from target/criterion/**/new/estimates.json. Estimates of a change \
               (change/estimates.json) are no such report.",
    sniff: |head| head.by_keys(&["median.point_estimate", "median_abs_dev.point_estimate"]),
    parse,
};

#[derive(Deserialize)]
struct Estimates {
    median: Option<Estimate>,
    median_abs_dev: Option<Estimate>,
}

#[derive(Deserialize)]
struct Estimate {
    point_estimate: f64,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let estimates: Estimates = json::object(input, PhantomData)?;
    let (Some(median), Some(_)) = (estimates.median, estimates.median_abs_dev) else {
        return Err(Error::report(Reject::NotThisFormat, "not estimates of a benchmark: no median or median_abs_dev"));
    };
    let mut metrics = Metrics::default();
    metrics.time(&benchmark(input.name()), Some(median.point_estimate), "ns");
    metrics.finish(&FORMAT)
}

/// The benchmark whose folder a path names: what lies between `criterion` and `new` or `base`.
fn benchmark(path: &str) -> String {
    let mut folders: Vec<&str> = path.split(['/', '\\']).collect();
    folders.pop();
    if matches!(folders.last(), Some(&("new" | "base"))) {
        folders.pop();
    }
    let below = folders.iter().rposition(|folder| *folder == "criterion").map_or(folders.len(), |at| at + 1);
    let named = folders.get(below..).unwrap_or_default().join("/");
    if named.is_empty() { "criterion".to_owned() } else { named }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_names_the_benchmark() {
        assert_eq!(benchmark("target/criterion/sum 100/new/estimates.json"), "sum 100");
        assert_eq!(benchmark("x\\target\\criterion\\largest\\forward\\10\\new\\estimates.json"), "largest/forward/10");
        assert_eq!(benchmark("target/criterion/new/new/estimates.json"), "new");
        for unnamed in ["estimates.json", "-", "new/estimates.json", "a/b/estimates.json", ""] {
            assert_eq!(benchmark(unnamed), "criterion", "{unnamed}");
        }
    }

    #[test]
    fn estimates_of_a_change_are_none() {
        let read = |text: &str| parse(&Input::bytes("criterion/a/new/estimates.json", text.as_bytes()));
        let estimate = r#"{"point_estimate":18.2,"standard_error":0.1}"#;
        let change = format!(r#"{{"mean":{estimate},"median":{estimate}}}"#);
        assert_eq!(read(&change).unwrap_err().reject(), Some(Reject::NotThisFormat));
        let figures =
            read(&format!(r#"{{"median":{estimate},"median_abs_dev":{estimate},"slope":null}}"#)).unwrap().figures;
        assert_eq!(figures.metrics["bench.a.time"].value, Some(18.2));
    }
}
