//! `coveragepy-json`: what `coverage json` writes: the numbers of the lines that ran and that did not, and, where branches
//! were measured, pairs of lines. Defined by coverage.py's documentation.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use serde::Deserialize;

use super::totals::{Part, Totals};
use super::{FileLines, FileTally, compare_declared};
use crate::error::{Error, Result};
use crate::ingest::input::Input;
use crate::ingest::json;
use crate::ingest::text::printable;
use crate::ingest::values::{Count, Unique};
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::figures::{Figures, ReportKind};

/// JSON reports of coverage.py.
pub const FORMAT: Format = Format {
    name: "coveragepy-json",
    kind: ReportKind::Coverage,
    about: "coverage.py JSON: executed and missing lines of each file",
    written_by: "coverage json, pytest --cov-report=json",
    told_by: "a JSON object with files and meta.show_contexts",
    has_end: true,
    counting: "The executed and the missing lines of each file, and its executed and missing branches. The totals are only \
               compared.",
    sniff,
    parse,
};

/// Newest layout of the format that is known.
const NEWEST: u64 = 3;

fn sniff(head: &Head<'_>) -> Sniff {
    if head.has_key("meta.show_contexts") {
        return Sniff::Sure("key meta.show_contexts".into());
    }
    let has_lines = head.keys().iter().any(|key| key.starts_with("files.") && key.ends_with(".executed_lines"));
    if has_lines { Sniff::Sure("files with executed_lines".into()) } else { Sniff::No }
}

#[derive(Deserialize)]
struct Report {
    meta: Option<Meta>,
    files: Unique<File>,
    totals: Option<Summary>,
}

#[derive(Deserialize)]
struct Meta {
    format: Option<u64>,
}

/// One file, as small as it gets.
#[derive(Deserialize)]
#[serde(try_from = "Entry")]
struct File {
    lines: FileLines,
    branches: Part,
}

#[derive(Deserialize)]
struct Entry {
    executed_lines: Vec<Count>,
    missing_lines: Vec<Count>,
    executed_branches: Option<Vec<(i64, i64)>>,
    missing_branches: Option<Vec<(i64, i64)>>,
    summary: Option<Summary>,
}

#[derive(Deserialize)]
struct Summary {
    covered_lines: Option<u64>,
    num_statements: Option<u64>,
    covered_branches: Option<u64>,
    num_branches: Option<u64>,
}

impl TryFrom<Entry> for File {
    type Error = Error;

    fn try_from(entry: Entry) -> Result<File> {
        let mut tally = FileTally::default();
        for (lines, ran) in [(&entry.executed_lines, true), (&entry.missing_lines, false)] {
            for line in lines {
                tally.line(line.0, ran)?;
            }
        }
        let mut branches = Part::default();
        match (&entry.executed_branches, &entry.missing_branches) {
            (None, None) => {
                // Older versions write only how many there are.
                let counts = entry.summary.and_then(|summary| summary.covered_branches.zip(summary.num_branches));
                let (covered, total) = counts.unwrap_or_default();
                branches.add(covered, total)?;
            }
            (executed, missing) => {
                let mut arcs: BTreeMap<(i64, i64), bool> = BTreeMap::new();
                for arc in executed.iter().flatten() {
                    arcs.insert(*arc, true);
                }
                for arc in missing.iter().flatten() {
                    arcs.entry(*arc).or_default();
                }
                for taken in arcs.values() {
                    branches.count(*taken)?;
                }
            }
        }
        Ok(File { lines: tally.lines.finish(), branches })
    }
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let report: Report = json::object(input, PhantomData)?;
    let mut lines = Part::default();
    let mut totals = Totals::default();
    let mut files = BTreeMap::new();
    for (path, file) in report.files.0 {
        lines.add(file.lines.covered(), file.lines.total())?;
        totals.branches.add(file.branches.covered, file.branches.total)?;
        files.insert(printable(&path, usize::MAX), file.lines);
    }
    totals.lines = Some(lines);
    let mut parsed = totals.finish(&FORMAT, files)?;
    if let Some(said) = report.totals {
        let declared = Figures {
            lines_covered: said.covered_lines,
            lines_total: said.num_statements,
            branches_covered: said.covered_branches,
            branches_total: said.num_branches,
            ..Figures::default()
        };
        compare_declared(&mut parsed, declared);
    }
    if let Some(format) = report.meta.and_then(|meta| meta.format).filter(|format| *format > NEWEST) {
        parsed.warnings.push(format!("layout {format} of the report is newer than {NEWEST}"));
    }
    Ok(parsed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;

    fn read(files: &str) -> Result<Parsed> {
        let text = format!(
            r#"{{"meta":{{"format":9,"show_contexts":false}},"files":{{{files}}},"totals":{{"covered_lines":7}}}}"#
        );
        parse(&Input::bytes("x", text.as_bytes()))
    }

    fn counts(file: &str) -> Vec<u64> {
        let parsed = read(&format!(r#""a.py":{{{file}}}"#)).unwrap();
        parsed.figures.counts().into_iter().map(|(_, count)| count).collect()
    }

    #[test]
    fn lines_and_branches_are_counted_from_their_lists() {
        let lines = r#""executed_lines":[1,2],"missing_lines":[5]"#;
        assert_eq!(counts(lines), [2, 3]);
        let branches = r#""executed_branches":[[1,2]],"missing_branches":[[1,-1],[2,5]]"#;
        assert_eq!(counts(&format!("{lines},{branches}")), [2, 3, 1, 3]);
        let summary = r#""summary":{"covered_branches":1,"num_branches":4}"#;
        assert_eq!(counts(&format!("{lines},{summary}")), [2, 3, 1, 4]);
        let parsed = read(&format!(r#""a.py":{{{lines}}}"#)).unwrap();
        assert_eq!(parsed.warnings.len(), 2, "totals that differ, and a newer layout: {:?}", parsed.warnings);
    }

    #[test]
    fn a_file_without_its_lists_is_malformed() {
        for bad in [r#""a":{}"#, r#""a":{"executed_lines":[1.5],"missing_lines":[]}"#, r#""a":1"#] {
            assert_eq!(read(bad).unwrap_err().reject(), Some(Reject::Malformed), "{bad}");
        }
    }
}
