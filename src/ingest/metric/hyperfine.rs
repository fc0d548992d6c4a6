//! `hyperfine`: what `hyperfine --export-json` writes.

use std::marker::PhantomData;

use serde::Deserialize;

use super::Metrics;
use crate::error::{Error, Reject, Result};
use crate::ingest::input::Input;
use crate::ingest::values::Few;
use crate::ingest::{Format, Parsed, json};
use crate::model::figures::ReportKind;

/// JSON of hyperfine.
pub const FORMAT: Format = Format {
    name: "hyperfine",
    kind: ReportKind::Metric,
    about: "hyperfine JSON: times of commands",
    written_by: "hyperfine --export-json FILE",
    told_by: "a JSON object with results that have command, mean and median",
    has_end: true,
    counting: "bench.NAME.time (s), NAME as the command: the median of its runs; no result where a run failed.",
    sniff: |head| head.by_keys(&["results.command", "results.mean", "results.median", "results.system"]),
    parse,
};

#[derive(Deserialize)]
struct Report {
    results: Option<Few<Command>>,
}

#[derive(Deserialize)]
struct Command {
    command: String,
    median: f64,
    /// Null where a signal ended it.
    #[serde(default)]
    exit_codes: Few<Option<i64>>,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let report: Report = json::object(input, PhantomData)?;
    let Some(results) = report.results else {
        return Err(Error::report(Reject::NotThisFormat, "not a report of hyperfine: it has no results"));
    };
    let mut metrics = Metrics::default();
    for command in results {
        let is_whole = command.exit_codes.0.iter().all(|code| *code == Some(0));
        metrics.time(&command.command, is_whole.then_some(command.median), "s");
    }
    metrics.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_failed_has_no_time() {
        let read = |codes: &str| {
            let text = format!(r#"{{"results":[{{"command":"make all","median":0.5,"exit_codes":[{codes}]}}]}}"#);
            parse(&Input::bytes("x", text.as_bytes())).unwrap().figures.metrics["bench.make all.time"].value
        };
        assert_eq!((read("0,0"), read("0,1"), read("0,null"), read("")), (Some(0.5), None, None, Some(0.5)));
        let error = parse(&Input::bytes("x", b"{\"results\":[]}")).unwrap_err();
        assert_eq!(error.reject(), Some(Reject::NoResult));
    }
}
