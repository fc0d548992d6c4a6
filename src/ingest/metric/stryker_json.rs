//! `stryker-json`: the mutation testing report schema of Stryker, which Infection and others write too. Its definition is
//! `mutation-testing-report-schema`.

use std::marker::PhantomData;

use serde::Deserialize;

use super::Mutants;
use crate::error::{Error, Reject, Result};
use crate::ingest::input::Input;
use crate::ingest::text::printable;
use crate::ingest::values::{Few, Unique};
use crate::ingest::{Format, Head, Parsed, Sniff, json};
use crate::model::figures::ReportKind;

/// Mutation testing elements.
pub const FORMAT: Format = Format {
    name: "stryker-json",
    kind: ReportKind::Metric,
    about: "mutation testing report schema (Stryker)",
    written_by: "StrykerJS, Stryker.NET, Stryker4s (reporter json), Infection and others",
    told_by: "a JSON object with files that have mutants",
    has_end: true,
    counting: "mutation.score (%): Killed and Timeout of these, Survived and NoCoverage; mutation.survived: the latter two. \
               CompileError, RuntimeError and Ignored do not count; with Pending the run did not come to its end.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let has_mutants = |key: &String| key.starts_with("files.") && key.ends_with(".mutants.mutatorName");
    let is_empty = head.has_key("schemaVersion") && head.has_key("thresholds.high") && head.has_key("files");
    if is_empty || head.keys().iter().any(has_mutants) {
        return Sniff::Sure("files with mutants".into());
    }
    Sniff::No
}

#[derive(Deserialize)]
struct Report {
    files: Option<Unique<File>>,
}

#[derive(Deserialize)]
struct File {
    mutants: Few<Mutant>,
}

#[derive(Deserialize)]
struct Mutant {
    status: String,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let report: Report = json::object(input, PhantomData)?;
    let Some(files) = report.files else {
        return Err(Error::report(Reject::NotThisFormat, "not a mutation testing report: it has no files"));
    };
    let mut mutants = Mutants::default();
    for mutant in files.0.values().flat_map(|file| &file.mutants.0) {
        match mutant.status.as_str() {
            "Killed" | "Timeout" => mutants.detected += 1,
            "Survived" | "NoCoverage" => mutants.undetected += 1,
            "CompileError" | "RuntimeError" | "Ignored" => {}
            "Pending" => return Err(Error::report(Reject::NoResult, "the run did not end: a mutant is pending")),
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

    fn read(statuses: &[&str]) -> Result<Parsed> {
        let mutants: Vec<String> = statuses.iter().map(|status| format!(r#"{{"status":"{status}"}}"#)).collect();
        let text = format!(r#"{{"files":{{"a.js":{{"mutants":[{}]}},"b.js":{{"mutants":[]}}}}}}"#, mutants.join(","));
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn mutants_that_could_not_run_do_not_count() {
        let all = ["Killed", "Timeout", "Survived", "NoCoverage", "CompileError", "RuntimeError", "Ignored"];
        let figures = read(&all).unwrap().figures;
        assert_eq!(figures.metrics["mutation.score"].value, Some(50.0));
        assert_eq!(figures.metrics["mutation.survived"].value, Some(2.0));
        assert_eq!(read(&["Killed", "Pending"]).unwrap_err().reject(), Some(Reject::NoResult));
        assert_eq!(read(&["Vanished"]).unwrap_err().reject(), Some(Reject::Malformed));
        let other = parse(&Input::bytes("x", b"{\"a\":1}")).unwrap_err();
        assert_eq!(other.reject(), Some(Reject::NotThisFormat));
    }
}
