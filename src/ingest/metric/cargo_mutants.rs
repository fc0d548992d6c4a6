//! `cargo-mutants`: `mutants.out/outcomes.json`. It is written again after every mutant, so its end has to be looked for.

use std::marker::PhantomData;

use serde::Deserialize;

use super::Mutants;
use crate::error::{Error, Reject, Result};
use crate::ingest::input::Input;
use crate::ingest::text::printable;
use crate::ingest::values::Few;
use crate::ingest::{Format, Head, Parsed, Sniff, json};
use crate::model::figures::ReportKind;

/// Outcomes of cargo-mutants.
pub const FORMAT: Format = Format {
    name: "cargo-mutants",
    kind: ReportKind::Metric,
    about: "outcomes of cargo-mutants (mutants.out/outcomes.json)",
    written_by: "cargo mutants",
    told_by: "a JSON object with outcomes that have a scenario and phase_results",
    has_end: true,
    counting: "mutation.score (%): CaughtMutant and Timeout of these and MissedMutant; mutation.survived: the latter. \
               Unviable mutants do not count. A failed baseline, or a run without an end_time, is no result.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    if head.has_key("outcomes.scenario") && head.has_key("outcomes.phase_results") {
        return Sniff::Sure("outcomes with scenario and phase_results".into());
    }
    Sniff::No
}

#[derive(Deserialize)]
struct Report {
    outcomes: Option<Few<Outcome>>,
    end_time: Option<String>,
}

#[derive(Deserialize)]
struct Outcome {
    summary: String,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let report: Report = json::object(input, PhantomData)?;
    let Some(outcomes) = report.outcomes else {
        return Err(Error::report(Reject::NotThisFormat, "not a report of cargo-mutants: it has no outcomes"));
    };
    let mut mutants = Mutants::default();
    for outcome in outcomes {
        match outcome.summary.as_str() {
            "CaughtMutant" | "Timeout" => mutants.detected += 1,
            "MissedMutant" => mutants.undetected += 1,
            // The baseline went well.
            "Success" | "Unviable" => {}
            "Failure" => return Err(Error::report(Reject::NoResult, "the tests fail without any mutant already")),
            other => {
                let what = format!("an outcome has the unknown summary {:?}", printable(other, 40));
                return Err(Error::report(Reject::Malformed, what));
            }
        }
    }
    if report.end_time.is_none() {
        return Err(Error::report(Reject::NoResult, "the run did not end: it has no end_time"));
    }
    mutants.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(summaries: &[&str], end: &str) -> Result<Parsed> {
        let outcomes: Vec<String> = summaries.iter().map(|summary| format!(r#"{{"summary":"{summary}"}}"#)).collect();
        let text = format!(r#"{{"outcomes":[{}],"end_time":{end}}}"#, outcomes.join(","));
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn only_a_run_that_came_to_its_end_has_a_score() {
        let summaries = ["Success", "CaughtMutant", "Timeout", "CaughtMutant", "MissedMutant", "Unviable"];
        let figures = read(&summaries, "\"2026-01-01T00:00:00Z\"").unwrap().figures;
        assert_eq!(figures.metrics["mutation.score"].value, Some(75.0));
        for (summaries, end, reject) in [
            (&summaries[..], "null", Reject::NoResult),
            (&["Failure"], "\"x\"", Reject::NoResult),
            (&["Vanished"], "\"x\"", Reject::Malformed),
        ] {
            assert_eq!(read(summaries, end).unwrap_err().reject(), Some(reject));
        }
    }
}
