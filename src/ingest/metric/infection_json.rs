//! `infection-json`: what Infection writes as its `json` or `summaryJson` log. Written after the source of its loggers, version
//! 0.32; no Infection was at hand. Its `html` and `stryker` logs are `stryker-json`.

use std::marker::PhantomData;

use serde::Deserialize;

use super::Mutants;
use crate::error::{Error, Reject, Result};
use crate::ingest::input::Input;
use crate::ingest::{Format, Parsed, add, json};
use crate::model::figures::ReportKind;

/// JSON of Infection.
pub const FORMAT: Format = Format {
    name: "infection-json",
    kind: ReportKind::Metric,
    about: "Infection's counts of mutants (infection-log.json)",
    written_by: "Infection with the log json or summaryJson",
    told_by: "a JSON object with stats that have totalMutantsCount, escapedCount and msi",
    has_end: true,
    counting: "mutation.score (%): all mutants but those that were skipped, ignored, escaped or not covered, of all but the \
               skipped and the ignored, which is Infection's MSI; mutation.survived: escapedCount and notCoveredCount.",
    sniff: |head| head.by_keys(&["stats.totalMutantsCount", "stats.escapedCount", "stats.msi"]),
    parse,
};

#[derive(Deserialize)]
struct Report {
    stats: Option<Stats>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Stats {
    total_mutants_count: u64,
    escaped_count: u64,
    not_covered_count: u64,
    #[serde(default)]
    skipped_count: u64,
    #[serde(default)]
    ignored_count: u64,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let report: Report = json::object(input, PhantomData)?;
    let Some(stats) = report.stats else {
        return Err(Error::report(Reject::NotThisFormat, "not a log of Infection: it has no stats"));
    };
    let undetected = add(stats.escaped_count, stats.not_covered_count)?;
    let others = add(undetected, add(stats.skipped_count, stats.ignored_count)?)?;
    let Some(detected) = stats.total_mutants_count.checked_sub(others) else {
        return Err(Error::report(Reject::Malformed, "there are more mutants of a sort than mutants"));
    };
    Mutants { detected, undetected }.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_score_is_infections() {
        let read = |total: u64| {
            let text = format!(
                r#"{{"stats":{{"totalMutantsCount":{total},"killedCount":5,"notCoveredCount":2,"escapedCount":1,"errorCount":1,"syntaxErrorCount":1,
                "skippedCount":1,"ignoredCount":3,"timeOutCount":2,"msi":75,"mutationCodeCoverage":83.3,"coveredCodeMsi":90}},"escaped":[]}}"#
            );
            crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None)
        };
        let metrics = read(16).unwrap().figures.metrics;
        assert_eq!((metrics["mutation.score"].value, metrics["mutation.survived"].value), (Some(75.0), Some(3.0)));
        assert_eq!(read(4).unwrap_err().reject(), Some(Reject::Malformed));
        assert_eq!(parse(&Input::bytes("x", b"{}")).unwrap_err().reject(), Some(Reject::NotThisFormat));
    }
}
