//! `simplecov-json`: what SimpleCov's JSON formatter writes (`coverage.json`), defined by its schema `coverage-v1`; and the
//! list of files that the older gem simplecov-json writes.

use std::cell::RefCell;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::simplecov::Source;
use super::{Files, compare_declared};
use crate::error::{Error, Reject, Result};
use crate::ingest::entries::{Entries, Fault, take};
use crate::ingest::input::Input;
use crate::ingest::json::{self, Key, each};
use crate::ingest::text::printable;
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::figures::{Figures, ReportKind};

/// JSON reports of SimpleCov.
pub const FORMAT: Format = Format {
    name: "simplecov-json",
    kind: ReportKind::Coverage,
    about: "SimpleCov JSON: hits of each line of each file",
    written_by: "SimpleCov with its JSON formatter",
    told_by: "a JSON object with meta.simplecov_version",
    has_end: true,
    counting: "Numbers among a file's lines are lines, null and \"ignored\" are none; each branch. The totals are only \
               compared.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    if head.has_key("meta.simplecov_version") {
        return Sniff::Sure("key meta.simplecov_version".into());
    }
    match head.has_key("command_name") && head.has_key("files.coverage") {
        true => Sniff::Sure("keys command_name and files.coverage".into()),
        false => Sniff::No,
    }
}

/// What it tells beside its files, and where they stand.
#[derive(Deserialize)]
struct Report {
    coverage: Option<IgnoredAny>,
    files: Option<IgnoredAny>,
    total: Option<Totals>,
}

/// As the older gem lists it.
#[derive(Deserialize)]
struct File {
    filename: String,
    coverage: Source,
}

#[derive(Deserialize)]
struct Totals {
    lines: Option<Total>,
    branches: Option<Total>,
}

#[derive(Deserialize)]
struct Total {
    covered: Option<u64>,
    total: Option<u64>,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    // Twice: the files are too many to be held until it is told what stands after them.
    let report: Report = json::object(input, PhantomData)?;
    let (fault, files) = (Fault::default(), RefCell::new(Files::default()));
    let add = |path: &str, source: Source| files.borrow_mut().join(&printable(path, usize::MAX), source.0);
    if report.coverage.is_some() {
        let of = |path: String| Ok(take(&fault, move |source: Source| add(&path, source)));
        fault.ours(json::object(input, Key { name: "coverage", seed: Entries { of, fault: &fault } }))?;
    } else if report.files.is_some() {
        let each = each(|| take(&fault, |file: File| add(&file.filename, file.coverage)));
        fault.ours(json::object(input, Key { name: "files", seed: each }))?;
    } else {
        return Err(Error::report(Reject::NotThisFormat, "not a JSON report of SimpleCov: it has no coverage"));
    }
    let mut parsed = files.into_inner().finish(&FORMAT)?;
    if let Some(said) = report.total {
        let declared = Figures {
            lines_covered: said.lines.as_ref().and_then(|lines| lines.covered),
            lines_total: said.lines.and_then(|lines| lines.total),
            branches_covered: said.branches.as_ref().and_then(|branches| branches.covered),
            branches_total: said.branches.and_then(|branches| branches.total),
            ..Figures::default()
        };
        compare_declared(&mut parsed, declared);
    }
    Ok(parsed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_that_differ_are_warned_of() {
        let text = r#"{"meta":{"simplecov_version":"1"},"total":{"lines":{"covered":9,"total":2}},"coverage":{"a.rb":{"lines":[1,0,null]}}}"#;
        let parsed = parse(&Input::bytes("x", text.as_bytes())).unwrap();
        assert_eq!((parsed.figures.lines_covered, parsed.figures.lines_total), (Some(1), Some(2)));
        assert_eq!(parsed.warnings.len(), 1);
        let none = parse(&Input::bytes("x", br#"{"meta":{}}"#)).unwrap_err();
        assert_eq!(none.reject(), Some(Reject::NotThisFormat));
    }

    #[test]
    fn the_older_gem_lists_files() {
        let text = r#"{"timestamp":1,"command_name":"RSpec","files":[{"filename":"a.rb","covered_percent":50.0,"coverage":[1,0,null]},
            {"filename":"b.rb","coverage":{"lines":[1]}}],"metrics":{"covered_percent":66.7}}"#;
        let figures = parse(&Input::bytes("x", text.as_bytes())).unwrap().figures;
        assert_eq!((figures.lines_covered, figures.lines_total), (Some(2), Some(3)));
    }
}
