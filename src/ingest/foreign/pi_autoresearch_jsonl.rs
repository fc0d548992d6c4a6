//! `pi-autoresearch-jsonl`: the log of pi-autoresearch and of the tools that follow it (`autoresearch.jsonl`): an object
//! that declares the metric, then one a run. Another declaration begins a new segment, with a baseline of its own.

use serde::Deserialize;
use serde_json::Value;

use super::{Fate, ForeignLoop, ForeignRun, LoopFormat, check_length, no_value, unknown_status};
use crate::error::{Error, Reject, Result};
use crate::ingest::Head;
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine, printable};
use crate::model::metrics::Direction;

/// A log of pi-autoresearch.
pub const FORMAT: LoopFormat = LoopFormat {
    name: "pi-autoresearch-jsonl",
    about: "autoresearch.jsonl of pi-autoresearch: a config line, then one run a line",
    told_by: "a first JSON object with type config and metricName",
    sniff,
    parse,
};

/// Milliseconds are above this since 1973; seconds are not for long.
const MILLISECONDS_FROM: f64 = 1e11;

fn sniff(head: &Head<'_>) -> bool {
    (head.has_key("metricName") || head.has_key("metric_name")) && head.has_key("type")
}

#[derive(Deserialize)]
struct Line {
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(rename = "metricName", alias = "metric_name")]
    metric_name: Option<String>,
    #[serde(rename = "metricUnit", alias = "metric_unit")]
    metric_unit: Option<String>,
    #[serde(rename = "bestDirection", alias = "direction")]
    direction: Option<Direction>,
    metric: Option<f64>,
    #[serde(default)]
    metrics: serde_json::Map<String, Value>,
    status: Option<String>,
    commit: Option<String>,
    description: Option<String>,
    timestamp: Option<f64>,
    #[serde(rename = "iterationTokens")]
    tokens: Option<u64>,
}

fn parse(input: &Input<'_>) -> Result<ForeignLoop> {
    let mut lines = Lines::new(input, LongLine::Refuse, Invalid::Escaped)?;
    let mut told: Option<ForeignLoop> = None;
    let mut earlier = 0;
    while let Some(line) = lines.next()? {
        let number = line.number;
        if line.text.trim().is_empty() {
            continue;
        }
        let parsed: Line = serde_json::from_str(&line.text).map_err(|error| malformed(&error, number))?;
        match (&mut told, parsed.kind.as_deref(), &parsed.metric_name) {
            (_, Some("config"), Some(name)) => {
                earlier += told.as_ref().map_or(0, |told| told.runs.len());
                let metric = printable(name, 100);
                let unit = parsed.metric_unit.filter(|unit| !unit.is_empty()).map(|unit| printable(&unit, 40));
                told = Some(ForeignLoop { metric, unit, direction: parsed.direction, ..ForeignLoop::default() });
            }
            (Some(told), None | Some("result" | "run"), _) if parsed.status.is_some() => {
                told.runs.push(run(parsed, number)?);
                check_length(&told.runs, number)?;
            }
            // What else the tool notes: hooks, remarks.
            (Some(_), Some(_), _) => {}
            (Some(_), None, _) => {
                return Err(Error::report(Reject::Malformed, "a run has no status").line(number));
            }
            (None, _, _) => {
                let why = "not a log of pi-autoresearch: no config line comes first";
                return Err(Error::report(Reject::NotThisFormat, why).line(number));
            }
        }
    }
    let mut told = told.unwrap_or_default();
    if earlier > 0 {
        let runs = if earlier == 1 { "1 run of an earlier segment is" } else { "the runs of earlier segments are" };
        told.notes.push(format!("{runs} left out: each segment has its own baseline"));
    }
    Ok(told)
}

fn run(line: Line, number: u64) -> Result<ForeignRun> {
    let status = line.status.unwrap_or_default();
    let fate = Fate::of(&status).ok_or_else(|| unknown_status(&status, number))?;
    let value = match (fate, line.metric) {
        // 0 stands there.
        (Fate::Failed, _) => Err(no_value(&status)),
        (_, Some(value)) => Ok(value),
        (_, None) => Err("the run has no metric".to_owned()),
    };
    let others = line.metrics.iter().filter(|_| fate != Fate::Failed);
    let others = others.filter_map(|(name, value)| Some((printable(name, 100), value.as_f64()?))).collect();
    let commit = line.commit.filter(|commit| !commit.is_empty()).map(|commit| printable(&commit, 64));
    Ok(ForeignRun {
        value,
        others,
        // What is not kept is logged with the commit that it was tried on.
        code: commit.clone().filter(|_| fate == Fate::Kept),
        fate,
        status,
        commit,
        description: line.description.map(|text| printable(&text, 500)),
        at_ms: line.timestamp.and_then(milliseconds),
        tokens: line.tokens,
    })
}

#[expect(clippy::cast_possible_truncation, reason = "the range is looked at first")]
fn milliseconds(timestamp: f64) -> Option<i64> {
    let ms = if timestamp > MILLISECONDS_FROM { timestamp } else { timestamp * 1000.0 };
    // Up to the year 9999.
    (0.0..253_402_300_800_000.0).contains(&ms).then_some(ms as i64)
}

fn malformed(error: &serde_json::Error, line: u64) -> Error {
    let text = error.to_string();
    let why = text.split(" at line ").next().unwrap_or_default();
    let column = u64::try_from(error.column()).unwrap_or(1).max(1);
    Error::report(Reject::Malformed, format!("a line is not as expected: {}", printable(why, 70)))
        .line_column(line, column)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: &str =
        r#"{"type":"config","name":"x","metricName":"total_ms","metricUnit":"ms","bestDirection":"lower"}"#;

    fn read(text: &str) -> Result<ForeignLoop> {
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn the_config_declares_the_metric_and_failed_runs_have_none() {
        let runs = r#"{"run":1,"commit":"aaa1111","metric":1620,"metrics":{"size_kib":50},"status":"keep","description":"baseline","timestamp":1777278226000,"iterationTokens":9}
{"type":"hook","note":"x"}
{"run":2,"commit":"aaa1111","metric":0,"metrics":{},"status":"crash","description":"x","timestamp":1777278284}
{"run":3,"commit":"aaa1111","metric":1500,"metrics":{},"status":"checks_failed","description":"x","timestamp":null}"#;
        let told = read(&format!("{CONFIG}\n{runs}\n")).unwrap();
        assert_eq!((told.metric.as_str(), told.unit.as_deref()), ("total_ms", Some("ms")));
        assert_eq!(told.direction, Some(Direction::Lower));
        let [first, crash, checks] = &told.runs[..] else { panic!("three runs") };
        assert_eq!((first.value.clone(), first.at_ms, first.tokens), (Ok(1620.0), Some(1_777_278_226_000), Some(9)));
        assert_eq!((first.code.as_deref(), crash.code.as_deref()), (Some("aaa1111"), None));
        assert_eq!((crash.value.is_err(), crash.at_ms), (true, Some(1_777_278_284_000)));
        assert_eq!(checks.value, Err("the run ended as checks_failed".to_owned()));
    }

    #[test]
    fn a_new_segment_leaves_the_ones_before_it_out() {
        let run = r#"{"metric":1,"status":"keep"}"#;
        let told = read(&format!("{CONFIG}\n{run}\n{run}\n{CONFIG}\n{run}\n")).unwrap();
        assert_eq!((told.runs.len(), told.notes.len()), (1, 1));
    }

    #[test]
    fn what_is_broken_is_refused_with_its_place() {
        for (line, reject) in [
            (r#"{"metric":1,"status":"ke"#, Reject::Malformed),
            (r#"{"metric":1,"status":"odd"}"#, Reject::Malformed),
            (r#"{"metric":1}"#, Reject::Malformed),
            (r#"{"metric":"1","status":"keep"}"#, Reject::Malformed),
        ] {
            let error = read(&format!("{CONFIG}\n{line}\n")).unwrap_err();
            assert_eq!((error.reject(), error.place.line), (Some(reject), Some(2)), "{line}");
        }
        let first = read(r#"{"metric":1,"status":"keep"}"#).unwrap_err();
        assert_eq!(first.reject(), Some(Reject::NotThisFormat));
    }
}
