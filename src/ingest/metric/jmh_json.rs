//! `jmh-json`: what JMH writes with `-rf json`. Written after JMH's own JSON result format, version 1.37; no JMH was at hand.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use serde::Deserialize;
use serde_json::Value;

use super::{Metrics, bench};
use crate::error::{Error, Reject, Result};
use crate::ingest::Parsed;
use crate::ingest::input::Input;
use crate::ingest::text::printable;
use crate::ingest::values::Few;
use crate::ingest::{Format, json};
use crate::model::figures::ReportKind;
use crate::model::metrics::Direction;

/// JSON of JMH.
pub const FORMAT: Format = Format {
    name: "jmh-json",
    kind: ReportKind::Metric,
    about: "JMH JSON: scores of Java benchmarks",
    written_by: "java -jar benchmarks.jar -rf json, me.champeau.jmh, kotlinx-benchmark",
    told_by: "a JSON list of objects with benchmark, mode and primaryMetric",
    has_end: true,
    counting: "bench.NAME.throughput (mode thrpt, higher), .time (avgt), .sample_time (sample) or .single_shot_time \
               (ss), all lower, in the unit that is told: the score. NAME is the benchmark with its parameters. \
               Iterations of a fork are no independent runs, and no samples; secondary metrics are not used.",
    sniff: |head| head.by_keys(&["benchmark", "mode", "primaryMetric.score", "primaryMetric.scoreUnit"]),
    parse,
};

/// Modes, what they measure, and which way is better.
pub(super) const MODES: [(&str, &str, Direction); 4] = [
    ("thrpt", "throughput", Direction::Higher),
    ("avgt", "time", Direction::Lower),
    ("sample", "sample_time", Direction::Lower),
    ("ss", "single_shot_time", Direction::Lower),
];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Benchmark {
    benchmark: String,
    mode: String,
    #[serde(default)]
    params: BTreeMap<String, String>,
    primary_metric: Score,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Score {
    /// The text `NaN` where nothing was measured.
    score: Value,
    score_unit: String,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let Few(benchmarks): Few<Benchmark> = json::document(input, PhantomData)?;
    let mut metrics = Metrics::default();
    for Benchmark { benchmark, mode, params, primary_metric } in benchmarks {
        let Some((_, what, direction)) = MODES.iter().find(|(known, ..)| *known == mode) else {
            let why = format!("the mode {:?} is not known", printable(&mode, 20));
            return Err(Error::report(Reject::Malformed, why));
        };
        let params: Vec<String> = params.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let name = if params.is_empty() { benchmark } else { format!("{benchmark}[{}]", params.join(",")) };
        let Score { score, score_unit } = primary_metric;
        metrics.add(&bench(&name, what), score.as_f64(), Some(&score_unit), Some(*direction));
    }
    metrics.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(mode: &str, score: &str) -> Result<Parsed> {
        let text = format!(
            r#"[{{"jmhVersion":"1.37","benchmark":"app.Sum.sum","mode":"{mode}","threads":1,"params":{{"n":"10","m":"2"}},
            "primaryMetric":{{"score":{score},"scoreError":0.5,"scoreUnit":"ns/op","rawData":[[3.0,4.0],[5.0,6.0]]}},"secondaryMetrics":{{}}}}]"#
        );
        crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None)
    }

    #[test]
    fn a_mode_is_a_metric_of_its_own_and_has_a_direction() {
        for (mode, what, direction) in [
            ("avgt", "time", Direction::Lower),
            ("thrpt", "throughput", Direction::Higher),
            ("sample", "sample_time", Direction::Lower),
            ("ss", "single_shot_time", Direction::Lower),
        ] {
            let metrics = read(mode, "4.5").unwrap().figures.metrics;
            let figure = &metrics[&format!("bench.app.Sum.sum[m=2,n=10].{what}")];
            assert_eq!(
                (figure.value, figure.unit.as_deref(), figure.direction),
                (Some(4.5), Some("ns/op"), Some(direction))
            );
            assert_eq!(figure.samples, [] as [f64; 0]);
        }
        let none = read("avgt", "\"NaN\"").unwrap().figures.metrics;
        assert_eq!(none["bench.app.Sum.sum[m=2,n=10].time"].value, None);
        assert_eq!(read("all", "1").unwrap_err().reject(), Some(Reject::Malformed));
        assert_eq!(parse(&Input::bytes("x", b"[]")).unwrap_err().reject(), Some(Reject::NoResult));
    }
}
