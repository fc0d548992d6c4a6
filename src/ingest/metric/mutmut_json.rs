//! `mutmut-json`: the counts that `mutmut export-cicd-stats` writes. mutmut's other outputs list only what was not killed, or
//! are made for terminals.

use std::marker::PhantomData;

use serde::Deserialize;

use super::Mutants;
use crate::error::{Error, Reject, Result};
use crate::ingest::input::Input;
use crate::ingest::{Format, Parsed, json};
use crate::model::figures::ReportKind;

/// Counts of mutmut 3.
pub const FORMAT: Format = Format {
    name: "mutmut-json",
    kind: ReportKind::Metric,
    about: "mutmut's counts of mutants (mutmut-cicd-stats.json)",
    written_by: "mutmut export-cicd-stats",
    told_by: "a JSON object with killed, survived, no_tests and suspicious",
    has_end: true,
    counting: "mutation.score (%): killed, timeout, segfault and caught_by_type_check of these, survived and no_tests; \
               mutation.survived: the latter two. skipped and suspicious do not count; what was interrupted is no result.",
    sniff: |head| head.by_keys(&["killed", "survived", "no_tests", "suspicious"]),
    parse,
};

#[derive(Deserialize)]
struct Stats {
    killed: Option<u64>,
    survived: Option<u64>,
    #[serde(default)]
    no_tests: u64,
    #[serde(default)]
    timeout: u64,
    #[serde(default)]
    segfault: u64,
    #[serde(default)]
    caught_by_type_check: u64,
    #[serde(default)]
    check_was_interrupted_by_user: u64,
    #[serde(default)]
    not_checked: u64,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let stats: Stats = json::object(input, PhantomData)?;
    let (Some(killed), Some(survived)) = (stats.killed, stats.survived) else {
        return Err(Error::report(Reject::NotThisFormat, "not mutmut's counts: it has no killed and survived"));
    };
    if stats.check_was_interrupted_by_user > 0 || stats.not_checked > 0 {
        return Err(Error::report(Reject::NoResult, "the run was interrupted: some mutants were not checked"));
    }
    let sum = |counts: &[u64]| counts.iter().try_fold(0, |sum, count| crate::ingest::add(sum, *count));
    let detected = sum(&[killed, stats.timeout, stats.segfault, stats.caught_by_type_check])?;
    Mutants { detected, undetected: sum(&[survived, stats.no_tests])? }.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Parsed> {
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn what_was_not_decided_is_no_part_of_the_score() {
        let text =
            r#"{"killed":5,"survived":1,"total":20,"no_tests":2,"skipped":7,"suspicious":3,"timeout":1,"segfault":1}"#;
        let figures = read(text).unwrap().figures;
        assert_eq!(figures.metrics["mutation.score"].value, Some(70.0));
        assert_eq!(figures.metrics["mutation.survived"].value, Some(3.0));
        let cut = read(r#"{"killed":5,"survived":1,"check_was_interrupted_by_user":1}"#).unwrap_err();
        assert_eq!(cut.reject(), Some(Reject::NoResult));
        assert_eq!(read(r#"{"killed":5}"#).unwrap_err().reject(), Some(Reject::NotThisFormat));
        assert_eq!(read(r#"{"killed":-1,"survived":1}"#).unwrap_err().reject(), Some(Reject::Malformed));
        assert!(read(&format!(r#"{{"killed":{0},"survived":1,"timeout":{0}}}"#, u64::MAX)).is_err());
    }
}
