//! `gremlins-json`: what `gremlins unleash --output FILE` writes. Written after the source of its report, version 0.5; no gremlins
//! was at hand.

use std::marker::PhantomData;

use serde::Deserialize;

use super::Mutants;
use crate::error::{Error, Reject, Result};
use crate::ingest::input::Input;
use crate::ingest::text::printable;
use crate::ingest::values::Few;
use crate::ingest::{Format, Parsed, json};
use crate::model::figures::ReportKind;

/// JSON of gremlins.
pub const FORMAT: Format = Format {
    name: "gremlins-json",
    kind: ReportKind::Metric,
    about: "gremlins' list of mutants in Go code",
    written_by: "gremlins unleash --output FILE",
    told_by: "a JSON object with go_module and test_efficacy",
    has_end: true,
    counting: "mutation.score (%): KILLED and TIMED OUT of these, LIVED and NOT COVERED; mutation.survived: the latter \
               two. NOT VIABLE and SKIPPED do not count. A dry run (RUNNABLE) is no result.",
    sniff: |head| head.by_keys(&["go_module", "test_efficacy"]),
    parse,
};

#[derive(Deserialize)]
struct Report {
    go_module: Option<String>,
    files: Option<Few<File>>,
}

#[derive(Deserialize)]
struct File {
    mutations: Option<Few<Mutation>>,
}

#[derive(Deserialize)]
struct Mutation {
    status: String,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let report: Report = json::object(input, PhantomData)?;
    let (Some(_), Some(files)) = (report.go_module, report.files) else {
        return Err(Error::report(Reject::NotThisFormat, "not a report of gremlins: it has no go_module and files"));
    };
    let mut mutants = Mutants::default();
    for mutation in files.into_iter().filter_map(|file| file.mutations).flatten() {
        match mutation.status.as_str() {
            "KILLED" | "TIMED OUT" => mutants.detected += 1,
            "LIVED" | "NOT COVERED" => mutants.undetected += 1,
            "NOT VIABLE" | "SKIPPED" => {}
            "RUNNABLE" => return Err(Error::report(Reject::NoResult, "a dry run: no mutant was tested")),
            other => {
                let what = format!("a mutant has the unknown status {:?}", printable(other, 40));
                return Err(Error::report(Reject::Malformed, what));
            }
        }
    }
    mutants.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_covered_survives_and_a_dry_run_tells_nothing() {
        let read = |statuses: &[&str]| {
            let mutations: Vec<String> = statuses
                .iter()
                .map(|status| format!(r#"{{"type":"CONDITIONALS_BOUNDARY","status":"{status}","line":1,"column":2}}"#))
                .collect();
            let text = format!(
                r#"{{"go_module":"a.test/b","files":[{{"file_name":"b.go","mutations":[{}]}},{{"file_name":"c.go","mutations":null}}],"test_efficacy":75.0}}"#,
                mutations.join(",")
            );
            crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None)
        };
        let metrics =
            read(&["KILLED", "TIMED OUT", "KILLED", "LIVED", "NOT COVERED", "NOT VIABLE"]).unwrap().figures.metrics;
        assert_eq!((metrics["mutation.score"].value, metrics["mutation.survived"].value), (Some(60.0), Some(2.0)));
        assert_eq!(read(&["RUNNABLE"]).unwrap_err().reject(), Some(Reject::NoResult));
        assert_eq!(read(&["VANISHED"]).unwrap_err().reject(), Some(Reject::Malformed));
        assert_eq!(parse(&Input::bytes("x", b"{}")).unwrap_err().reject(), Some(Reject::NotThisFormat));
    }
}
