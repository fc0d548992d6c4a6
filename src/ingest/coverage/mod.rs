//! Coverage formats, and the lines that they share.

use std::collections::BTreeMap;

use super::{CoverageDetails, Details, Format, Parsed};
use crate::error::{Error, Reject, Result};
use crate::model::figures::Figures;

pub mod clover;
pub mod cobertura;
pub mod coveragepy_json;
mod gcc;
pub mod gcov_json;
pub mod gcovr_json;
pub mod gcovr_summary_json;
pub mod go_cover;
pub mod istanbul_final;
pub mod istanbul_summary;
pub mod jacoco;
pub mod lcov;
pub mod llvm_cov_json;
pub mod opencover;
mod simplecov;
pub mod simplecov_json;
pub mod simplecov_resultset;
mod totals;

/// Largest line number that is kept apart: 2³¹ − 1.
const LAST_LINE: u64 = 0x7fff_ffff;

/// Which lines of one file could run, and which of them did. Four bytes a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileLines {
    /// Line number twice, plus one if covered: ascending, each line once.
    marks: Vec<u32>,
}

impl FileLines {
    /// From lines in any order; a line that is given twice is covered if it is covered once. Numbers below 1 or above
    /// 2³¹ − 1 are left out.
    pub fn new(lines: impl IntoIterator<Item = (u64, bool)>) -> FileLines {
        let mut marks = Marks::default();
        for (line, covered) in lines {
            if (1..=LAST_LINE).contains(&line) {
                marks.push(line, covered);
            }
        }
        marks.finish()
    }

    /// Lines that ran.
    pub fn covered(&self) -> u64 {
        count(self.marks.iter().filter(|mark| *mark & 1 == 1).count())
    }

    /// Lines that could run.
    pub fn total(&self) -> u64 {
        count(self.marks.len())
    }

    /// Line number and whether it ran, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (u64, bool)> + '_ {
        self.marks.iter().map(|mark| (u64::from(mark >> 1), mark & 1 == 1))
    }

    /// The lines of either, covered where either covers them.
    #[must_use]
    pub fn unite(&self, other: &FileLines) -> FileLines {
        let mut marks = Marks { marks: self.marks.clone(), settled: self.marks.len() };
        marks.marks.extend_from_slice(&other.marks);
        marks.finish()
    }
}

fn count(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}

/// Lines while they are being collected; those met twice are folded now and then, so that memory follows the lines there
/// are and not the records about them.
#[derive(Debug, Default)]
struct Marks {
    marks: Vec<u32>,
    settled: usize,
}

impl Marks {
    fn push(&mut self, line: u64, covered: bool) {
        let Ok(line) = u32::try_from(line) else { return };
        self.marks.push(line << 1 | u32::from(covered));
        if self.marks.len() > self.settled * 2 + 4096 {
            self.settle();
        }
    }

    fn settle(&mut self) {
        // Descending, the covered mark of a line comes first and is the one that stays.
        self.marks.sort_unstable_by(|a, b| b.cmp(a));
        self.marks.dedup_by_key(|mark| *mark >> 1);
        self.settled = self.marks.len();
    }

    fn finish(mut self) -> FileLines {
        self.settle();
        self.marks.reverse();
        self.marks.shrink_to_fit();
        FileLines { marks: self.marks }
    }
}

/// What can be met in a file besides lines, by key: covered or not.
type Parts<K> = BTreeMap<K, bool>;

/// One file while it is being read.
#[derive(Debug, Default)]
struct FileTally {
    lines: Marks,
    /// (line, what the report names it by) → whether it was taken.
    branches: Parts<(u64, Box<str>)>,
    functions: Parts<Box<str>>,
    /// Line → conditions taken, of how many: where a report has no single branches.
    conditions: BTreeMap<u64, (u64, u64)>,
}

impl FileTally {
    /// A line number below 1 is no line and is dropped.
    fn line(&mut self, line: u64, covered: bool) -> Result<()> {
        if line > LAST_LINE {
            return Err(Error::report(Reject::Malformed, format!("line number {line} is out of range")));
        }
        if line > 0 {
            self.lines.push(line, covered);
        }
        Ok(())
    }
}

/// Sets a part, which stays covered once it was.
fn mark<K: Ord>(parts: &mut Parts<K>, key: K, covered: bool) {
    *parts.entry(key).or_default() |= covered;
}

/// Adds the files up. Branches and functions are in the figures only if the report has any.
fn finished(format: &'static Format, files: BTreeMap<String, FileTally>) -> Result<Parsed> {
    let mut figures = Figures::default();
    let (mut lines, mut branches, mut functions) = ([0; 2], [0; 2], [0; 2]);
    let mut details = CoverageDetails::default();
    for (name, tally) in files {
        add_up(&mut branches, tally.branches.values())?;
        add_up(&mut functions, tally.functions.values())?;
        for (taken, all) in tally.conditions.values() {
            branches = [super::add(branches[0], *taken)?, super::add(branches[1], *all)?];
        }
        let file = tally.lines.finish();
        lines = [super::add(lines[0], file.covered())?, super::add(lines[1], file.total())?];
        details.files.insert(name, file);
    }
    (figures.lines_covered, figures.lines_total) = (Some(lines[0]), Some(lines[1]));
    if branches[1] > 0 {
        (figures.branches_covered, figures.branches_total) = (Some(branches[0]), Some(branches[1]));
    }
    if functions[1] > 0 {
        (figures.functions_covered, figures.functions_total) = (Some(functions[0]), Some(functions[1]));
    }
    Ok(Parsed::new(format, figures, Details::Coverage(details)))
}

fn add_up<'a>(sum: &mut [u64; 2], parts: impl Iterator<Item = &'a bool>) -> Result<()> {
    for covered in parts {
        *sum = [super::add(sum[0], u64::from(*covered))?, super::add(sum[1], 1)?];
    }
    Ok(())
}

/// Sets aside the report's own totals where they differ, and says so.
fn compare_declared(parsed: &mut Parsed, declared: Figures) {
    for (key, said) in declared.counts() {
        let found = parsed.figures.counts().into_iter().find(|(other, _)| *other == key).map(|(_, count)| count);
        if found.is_some_and(|found| found != said) {
            let found = found.unwrap_or_default();
            parsed.warnings.push(format!("the report's own {key} is {said}, but its lines add up to {found}"));
            parsed.declared = Some(declared.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_kept_once_sorted_and_covered_if_ever_covered() {
        let lines =
            FileLines::new([(7, false), (3, true), (7, true), (3, false), (9, false), (0, true), (1 << 40, true)]);
        assert_eq!(lines.iter().collect::<Vec<_>>(), [(3, true), (7, true), (9, false)]);
        assert_eq!((lines.covered(), lines.total()), (2, 3));
        let other = FileLines::new([(9, true), (1, false), (3, false)]);
        let both = lines.unite(&other);
        assert_eq!(both.iter().collect::<Vec<_>>(), [(1, false), (3, true), (7, true), (9, true)]);
        assert_eq!(both, other.unite(&lines));
    }

    #[test]
    fn memory_follows_the_lines_not_the_records() {
        let mut marks = Marks::default();
        for round in 0..1000 {
            for line in 1..=100 {
                marks.push(line, round == 999 && line == 5);
            }
            assert!(marks.marks.len() <= 4096 + 200);
        }
        let lines = marks.finish();
        assert_eq!((lines.covered(), lines.total()), (1, 100));
    }

    #[test]
    fn the_last_line_number_fits() {
        let lines = FileLines::new([(LAST_LINE, true)]);
        assert_eq!(lines.iter().collect::<Vec<_>>(), [(LAST_LINE, true)]);
    }
}
