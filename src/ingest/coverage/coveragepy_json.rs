//! `coveragepy-json`: what `coverage json` writes: the numbers of the lines that ran and that did not, and, where branches
//! were measured, pairs of lines. Defined by coverage.py's documentation.

use std::cell::RefCell;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer};

use super::totals::{Part, Totals};
use super::{FileTally, Listed, compare_declared};
use crate::error::Result;
use crate::ingest::entries::{Entries, Fault, Required, take};
use crate::ingest::input::Input;
use crate::ingest::json::{self, Key, items};
use crate::ingest::text::printable;
use crate::ingest::values::{Count, Few};
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
    counting: "The executed and the missing lines of each file, and its executed and missing branches; a file without \
               statements has no lines. The totals are only compared.",
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

/// What is told beside the files.
#[derive(serde::Deserialize)]
struct Report {
    meta: Option<Meta>,
    totals: Option<Summary>,
}

#[derive(serde::Deserialize)]
struct Meta {
    format: Option<u64>,
}

/// One file.
#[derive(serde::Deserialize)]
struct Entry {
    executed_lines: Numbers<true>,
    missing_lines: Numbers<false>,
    /// Some of them ran all the same.
    excluded_lines: Option<Numbers<true>>,
    executed_branches: Option<Few<(i64, i64)>>,
    missing_branches: Option<Few<(i64, i64)>>,
    summary: Option<Summary>,
}

/// Numbers of lines that ran, or did not.
struct Numbers<const RAN: bool>(FileTally);

impl<'de, const RAN: bool> Deserialize<'de> for Numbers<RAN> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Numbers<RAN>, D::Error> {
        let mut tally = FileTally::default();
        deserializer.deserialize_seq(items(|line: Count| tally.line(line.0, RAN)))?;
        Ok(Numbers(tally))
    }
}

#[derive(serde::Deserialize)]
struct Summary {
    covered_lines: Option<u64>,
    num_statements: Option<u64>,
    covered_branches: Option<u64>,
    num_branches: Option<u64>,
}

impl Entry {
    /// Adds what it counts, and tells its lines and branches.
    fn add_to(self, totals: &mut Totals) -> Result<FileTally> {
        // Up to 6.5, an empty module has a line that ran, and no statement: the interpreter says so, and coverage.py's sums do not.
        let has_none = self.summary.as_ref().is_some_and(|summary| summary.num_statements == Some(0));
        let mut tally = if has_none { FileTally::default() } else { self.executed_lines.0 };
        if let Some(excluded) = self.excluded_lines {
            tally.lines.remove(excluded.0.lines);
        }
        tally.join(self.missing_lines.0)?;
        match (self.executed_branches, self.missing_branches) {
            (None, None) => {
                // Older versions write only how many there are.
                let counts = self.summary.and_then(|summary| summary.covered_branches.zip(summary.num_branches));
                let (covered, total) = counts.unwrap_or_default();
                totals.branches.add(covered, total)?;
                tally.conditions_are(covered, total)?;
            }
            (executed, missing) => {
                let distinct = |mut arcs: Vec<(i64, i64)>| {
                    arcs.sort_unstable();
                    arcs.dedup();
                    arcs
                };
                let executed = distinct(executed.unwrap_or_default().0);
                let mut missing = distinct(missing.unwrap_or_default().0);
                missing.retain(|arc| executed.binary_search(arc).is_err());
                for (arcs, taken) in [(executed, true), (missing, false)] {
                    for (from, to) in arcs {
                        totals.branches.count(taken)?;
                        tally.branch(u64::try_from(from).unwrap_or(0), &arm(from, to), taken)?;
                    }
                }
            }
        }
        let [covered, total] = tally.lines.count();
        totals.lines.get_or_insert_default().add(covered, total)?;
        Ok(tally)
    }
}

/// What tells a branch from the others of its line: where it leads to. Below zero it leads out of the code that begins there.
fn arm(from: i64, to: i64) -> String {
    if from < 1 { format!("{from} {to}") } else { format!("{},{}", u8::from(to < 0), to.unsigned_abs()) }
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    // Twice: the files are too many to be held until it is told what comes after them.
    let report: Report = json::object(input, PhantomData)?;
    let fault = Fault::default();
    let totals = RefCell::new(Totals { lines: Some(Part::default()), ..Totals::default() });
    let listed = RefCell::new(Listed::default());
    let file = |path: String| {
        let path = printable(&path, usize::MAX);
        let (totals, listed) = (&totals, &listed);
        Ok(take(&fault, move |entry: Entry| {
            let file = entry.add_to(&mut totals.borrow_mut())?;
            listed.borrow_mut().add(path, file);
            Ok(())
        }))
    };
    let files = Required(Key { name: "files", seed: Entries { of: file, fault: &fault } });
    fault.ours(json::object(input, files))?;
    let mut parsed = totals.into_inner().finish_listed(&FORMAT, listed.into_inner())?;
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
        let empty = r#""executed_lines":[1],"missing_lines":[],"summary":{"num_statements":0}"#;
        assert_eq!(counts(empty), [0, 0]);
        let excluded = r#""excluded_lines":[2,9]"#;
        assert_eq!(counts(&format!("{lines},{excluded}")), [1, 2], "it ran, and is left out");
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
