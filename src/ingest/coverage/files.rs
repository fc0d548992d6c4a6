//! The source files of a report, in memory that does not grow with the report.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::lines::{Condition, Conditions, FileBranches, FileLines, LAST_LINE, LineBranches, Marks, Numbered};
use crate::error::{Error, Reject, Result};
use crate::ingest::entries::hash;
use crate::ingest::text::printable;
use crate::ingest::values::leading;
use crate::ingest::{CoverageDetails, Details, Format, Parsed, add};
use crate::model::figures::Figures;

/// Bytes of lines, branches, functions and names that are held: of all files that may be told again, and of the one that
/// is open. That is some 30 million lines.
const HELD_BYTES: usize = 20 * 1024 * 1024;
/// Files beyond [`HELD_BYTES`] that are known to have been told.
const NAMES_KNOWN: usize = 900_000;
/// What an entry of a map takes beside its text.
const ENTRY_BYTES: usize = 80;

/// Said where files were added up and let go.
const NOT_KEPT: &str = "the lines of single files are counted but, being too many, not kept";

/// One source file of a report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileCoverage {
    /// Its lines.
    pub lines: FileLines,
    /// Its branches; none, too, where the report tells only how many all files have.
    pub branches: FileBranches,
}

impl FileCoverage {
    fn bytes(&self) -> usize {
        self.lines.bytes() + self.branches.bytes()
    }
}

/// One file while it is being read.
#[derive(Debug, Default)]
pub(super) struct FileTally {
    pub lines: Marks,
    /// (line, what the report names it by) → whether it was taken.
    pub branches: BTreeMap<(u64, Box<str>), bool>,
    /// Branches that the report names by two small numbers.
    pub numbered: Numbered,
    /// Functions by what [`hash`] makes of their names: of a hundred thousand in one file, two are taken for one in one of
    /// a billion reports.
    pub functions: Numbered,
    /// Where a report has no single branches.
    pub conditions: Conditions,
    /// Bytes of the entries of `branches`.
    entries: usize,
}

impl FileTally {
    /// A line number below 1 is no line and is dropped.
    ///
    /// # Errors
    /// Malformed beyond the last line number; refused where one file takes too much memory.
    #[inline]
    pub(super) fn line(&mut self, line: u64, covered: bool) -> Result<()> {
        if line > LAST_LINE {
            return Err(Error::report(Reject::Malformed, format!("line number {line} is out of range")));
        }
        if line > 0 && self.lines.push(line, covered) { self.fits() } else { Ok(()) }
    }

    /// A branch that the report names by the number of its block and its own.
    ///
    /// # Errors
    /// Refused where one file takes too much memory.
    pub(super) fn branch(&mut self, line: u64, name: &str, taken: bool) -> Result<()> {
        match numbers(name).and_then(|(block, branch)| Numbered::number(line, block, branch)) {
            Some(number) => self.numbered_branch(number, taken),
            None => {
                self.named_branch((line, name.into()), taken);
                self.fits()
            }
        }
    }

    /// As [`FileTally::branch`], by what [`Numbered::number`] makes of it.
    ///
    /// # Errors
    /// Likewise.
    #[inline]
    pub(super) fn numbered_branch(&mut self, number: u64, taken: bool) -> Result<()> {
        self.numbered.push(number, taken);
        self.fits()
    }

    fn named_branch(&mut self, branch: (u64, Box<str>), taken: bool) {
        let bytes = ENTRY_BYTES + branch.1.len();
        let entries = &mut self.entries;
        *self.branches.entry(branch).or_insert_with(|| {
            *entries += bytes;
            false
        }) |= taken;
    }

    /// A function by its name.
    ///
    /// # Errors
    /// Likewise.
    pub(super) fn function(&mut self, name: &str, covered: bool) -> Result<()> {
        self.functions.push(hash(name) >> 1, covered);
        self.fits()
    }

    /// Conditions of a line: of several tellings the larger numbers.
    ///
    /// # Errors
    /// Likewise.
    pub(super) fn condition(&mut self, line: u64, taken: u64, all: u64) -> Result<()> {
        self.conditions.push(Condition { line, taken, all });
        self.fits()
    }

    /// Conditions taken on all lines, of how many.
    pub(super) fn conditions_in_all(&mut self) -> (u64, u64) {
        self.conditions.lines().iter().fold((0, 0), |(taken, all), line| {
            (u64::saturating_add(taken, line.taken), u64::saturating_add(all, line.all))
        })
    }

    /// What the report itself counts in the file: where its lines come to another number, or there are none, that stands
    /// without lines.
    ///
    /// # Errors
    /// Refused where one file takes too much memory.
    pub(super) fn conditions_are(&mut self, taken: u64, all: u64) -> Result<()> {
        if self.conditions_in_all() == (taken, all) {
            return Ok(());
        }
        self.conditions = Conditions::default();
        if all > 0 { self.condition(0, taken, all) } else { Ok(()) }
    }

    /// All of it, in no more room than it takes. Some room stays for the next file.
    fn take(&mut self) -> FileTally {
        FileTally {
            lines: self.lines.take(),
            branches: std::mem::take(&mut self.branches),
            numbered: self.numbered.take(),
            functions: self.functions.take(),
            conditions: self.conditions.take(),
            entries: std::mem::take(&mut self.entries),
        }
    }

    /// What is kept of it.
    pub(super) fn finish(mut self) -> FileCoverage {
        let numbered = self.numbered.lines();
        let named = self.branches.into_iter().map(|((line, _), taken)| (line, taken));
        let single = numbered.chain(named).map(|(line, taken)| LineBranches::new(line, u64::from(taken), 1));
        let conditions = self.conditions.lines().iter().map(|line| LineBranches::new(line.line, line.taken, line.all));
        FileCoverage { lines: self.lines.finish(), branches: FileBranches::new(single.chain(conditions)) }
    }

    /// Lines and branches that another telling of the file has.
    ///
    /// # Errors
    /// Likewise.
    pub(super) fn join(&mut self, other: FileTally) -> Result<()> {
        self.lines.join(other.lines);
        self.numbered.join(other.numbered);
        self.conditions.join(other.conditions);
        for (branch, taken) in other.branches {
            self.named_branch(branch, taken);
        }
        self.fits()
    }

    #[inline]
    fn bytes(&self) -> usize {
        self.entries + self.lines.bytes() + self.numbered.bytes() + self.functions.bytes() + self.conditions.bytes()
    }

    #[inline]
    fn fits(&self) -> Result<()> {
        if self.bytes() <= HELD_BYTES {
            return Ok(());
        }
        let why = format!("what it tells of one file takes more than {} MiB", HELD_BYTES >> 20);
        Err(Error::report(Reject::Refused, "report is too large").because(why))
    }
}

/// The files of a report that may tell of one in several places.
#[derive(Debug, Default)]
pub(super) struct Files {
    open: Option<(String, FileTally)>,
    /// Room for the next file.
    spare: FileTally,
    kept: HashMap<String, Box<FileTally>>,
    /// Bytes of those.
    held: usize,
    sums: Sums,
    /// Hashes of the names of files that were added up already, because there was no room to keep them.
    added: HashSet<u64>,
    /// Files that were added up, in all.
    added_files: usize,
}

impl Files {
    /// Begins or goes on with a file; ends the one before it.
    ///
    /// # Errors
    /// Refused if the file was added up already; a sum does not fit.
    pub(super) fn open(&mut self, name: &str) -> Result<()> {
        if self.open.as_ref().is_some_and(|(open, _)| open == name) {
            return Ok(());
        }
        self.close()?;
        if !self.added.is_empty() && self.added.contains(&hash(name)) {
            let why =
                format!("it tells of {:?} in two places, and its lines take too much memory", printable(name, 80));
            return Err(Error::report(Reject::Refused, "report is too large")
                .because(why)
                .help("let the tool write one report a package, or unite the sections of each file first"));
        }
        let kept = self.kept.remove(name);
        self.held -= kept.as_ref().map_or(0, |tally| held_by(name, tally)).min(self.held);
        let tally = kept.map_or_else(|| std::mem::take(&mut self.spare), |tally| *tally);
        self.open = Some((name.to_owned(), tally));
        Ok(())
    }

    /// Adds a file, or what it has at another place of the report.
    ///
    /// # Errors
    /// As for [`Files::open`]; refused where one file takes too much memory.
    pub(super) fn join(&mut self, name: &str, tally: FileTally) -> Result<()> {
        self.open(name)?;
        match self.current() {
            Some(open) => open.join(tally),
            None => Ok(()),
        }
    }

    /// The file that is open.
    pub(super) fn current(&mut self) -> Option<&mut FileTally> {
        self.open.as_mut().map(|(_, tally)| tally)
    }

    /// Ends the file that is open.
    ///
    /// # Errors
    /// A sum does not fit.
    pub(super) fn close(&mut self) -> Result<()> {
        let Some((name, mut open)) = self.open.take() else { return Ok(()) };
        let mut tally = open.take();
        self.spare = open;
        let bytes = held_by(&name, &tally);
        if self.held + bytes <= HELD_BYTES {
            self.held += bytes;
            self.kept.insert(name, Box::new(tally));
            return Ok(());
        }
        if self.added.len() < NAMES_KNOWN {
            self.added.insert(hash(&name));
        }
        self.added_files += 1;
        self.sums.add(&mut tally)
    }

    /// Adds the files up. Their lines are kept only if all of them are: a part would be taken for the whole.
    ///
    /// # Errors
    /// A sum does not fit.
    pub(super) fn finish(mut self, format: &'static Format) -> Result<Parsed> {
        self.close()?;
        let mut parsed = sum_up(format, self.kept, self.sums, self.added_files == 0)?;
        if self.added_files > 0 {
            let more = self.added_files - self.added.len();
            parsed.warnings.push(NOT_KEPT.to_owned());
            if more > 0 {
                parsed.warnings.push(format!("{more} of its files would count again if it told of them again"));
            }
        }
        Ok(parsed)
    }
}

/// The two numbers that a name is made of.
fn numbers(name: &str) -> Option<(u64, u64)> {
    let (block, [b',', rest @ ..]) = part_of_name(name.as_bytes())? else { return None };
    let (branch, []) = part_of_name(rest)? else { return None };
    Some((block, branch))
}

/// The number at the beginning of a name, without zeros before it (with them it is another name), and what comes after it.
#[inline]
pub(super) fn part_of_name(name: &[u8]) -> Option<(u64, &[u8])> {
    leading(name).filter(|(_, rest)| !matches!(name, [b'0', ..]) || name.len() - rest.len() == 1)
}

fn held_by(name: &str, tally: &FileTally) -> usize {
    tally.bytes() + name.len() + ENTRY_BYTES + size_of::<FileTally>()
}

/// The lines and branches of files whose counts come from elsewhere, as far as there is room: all of them or none.
#[derive(Debug, Default)]
pub(super) struct Listed {
    files: BTreeMap<String, FileCoverage>,
    /// Bytes of those.
    held: usize,
    is_full: bool,
}

impl Listed {
    /// Adds what is told of a file, which may be told of in several places.
    pub(super) fn add(&mut self, name: String, file: FileTally) {
        if self.is_full {
            return;
        }
        let file = file.finish();
        let entry = name.len() + ENTRY_BYTES + size_of::<FileCoverage>();
        match self.files.get_mut(&name) {
            Some(known) => {
                self.held -= known.bytes().min(self.held);
                known.lines = known.lines.unite(&file.lines);
                known.branches = FileBranches::new(known.branches.iter().chain(file.branches.iter()));
                self.held += known.bytes();
            }
            None => {
                self.held += entry + file.bytes();
                self.files.insert(name, file);
            }
        }
        if self.held > HELD_BYTES {
            *self = Listed { is_full: true, ..Listed::default() };
        }
    }

    /// The files, and what is to be said of them.
    pub(super) fn finish(self) -> (BTreeMap<String, FileCoverage>, Option<&'static str>) {
        (self.files, self.is_full.then_some(NOT_KEPT))
    }
}

/// Covered, and all.
#[derive(Debug, Default)]
struct Sums {
    lines: [u64; 2],
    branches: [u64; 2],
    functions: [u64; 2],
}

impl Sums {
    fn add(&mut self, tally: &mut FileTally) -> Result<()> {
        let named = tally.branches.values().fold([0, 0], |[taken, all], one| [taken + u64::from(*one), all + 1]);
        grow(&mut self.branches, named)?;
        grow(&mut self.functions, tally.functions.count())?;
        grow(&mut self.branches, tally.numbered.count())?;
        for line in tally.conditions.lines() {
            grow(&mut self.branches, [line.taken, line.all])?;
        }
        grow(&mut self.lines, tally.lines.count())
    }
}

fn grow(sum: &mut [u64; 2], by: [u64; 2]) -> Result<()> {
    *sum = [add(sum[0], by[0])?, add(sum[1], by[1])?];
    Ok(())
}

/// Branches and functions are in the figures only if the report has any.
fn sum_up(
    format: &'static Format,
    files: HashMap<String, Box<FileTally>>,
    mut sums: Sums,
    keep: bool,
) -> Result<Parsed> {
    let mut kept = Vec::with_capacity(if keep { files.len() } else { 0 });
    for (name, mut tally) in files {
        sums.add(&mut tally)?;
        if keep {
            kept.push((name, tally.finish()));
        }
    }
    // Sorted once: with a hundred thousand files, a search for each one's place takes longer than the lines.
    let details = CoverageDetails { files: kept.into_iter().collect() };
    let mut figures = Figures::default();
    let if_any = |[covered, all]: [u64; 2]| (all > 0).then_some((covered, all)).unzip();
    (figures.lines_covered, figures.lines_total) = (Some(sums.lines[0]), Some(sums.lines[1]));
    (figures.branches_covered, figures.branches_total) = if_any(sums.branches);
    (figures.functions_covered, figures.functions_total) = if_any(sums.functions);
    Ok(Parsed::new(format, figures, Details::Coverage(details)))
}

#[cfg(test)]
mod tests {
    use super::super::lcov::FORMAT;
    use super::*;

    /// A file of many lines, none of which are neighbours, so that a few of them fill the memory.
    fn large(files: &mut Files, name: &str) {
        files.open(name).unwrap();
        for line in 0..500_000 {
            files.current().unwrap().line(line * 40 + 1, line % 2 == 0).unwrap();
        }
    }

    #[test]
    fn p19_files_beyond_the_memory_are_added_up_and_not_kept() {
        let mut files = Files::default();
        for number in 0..6 {
            large(&mut files, &number.to_string());
        }
        let parsed = files.finish(&FORMAT).unwrap();
        assert_eq!((parsed.figures.lines_covered, parsed.figures.lines_total), (Some(1_500_000), Some(3_000_000)));
        let Details::Coverage(details) = &parsed.details else { panic!("coverage") };
        assert_eq!((details.files.len(), parsed.warnings.len()), (0, 1));
    }

    #[test]
    fn p19_a_file_that_was_added_up_is_not_counted_twice() {
        let mut files = Files::default();
        for number in 0..6 {
            large(&mut files, &number.to_string());
        }
        files.open("0").unwrap();
        files.current().unwrap().line(2, true).unwrap();
        assert_eq!(files.open("4").unwrap_err().reject(), Some(Reject::Refused));
        let parsed = files.finish(&FORMAT).unwrap();
        assert_eq!(parsed.figures.lines_total, Some(3_000_001), "the first file was kept and went on");
    }

    #[test]
    fn p19_what_is_held_is_what_is_kept() {
        let mut files = Files::default();
        for name in ["a", "b", "c", "a"] {
            files.open(name).unwrap();
            files.current().unwrap().line(1, true).unwrap();
        }
        files.close().unwrap();
        assert_eq!(files.held, files.kept.iter().map(|(name, tally)| held_by(name, tally)).sum::<usize>());
    }

    #[test]
    fn p19_lines_that_are_too_many_to_list_are_let_go_and_said_to_be() {
        let file = |lines: u64| {
            let mut file = FileTally::default();
            for line in 1..=lines {
                file.line(line * 40, true).unwrap();
                if line % 100_000 == 1 {
                    file.condition(line, 1, 2).unwrap();
                }
            }
            file
        };
        let mut listed = Listed::default();
        for _ in 0..3 {
            listed.add("a".into(), file(1_000_000));
        }
        listed.add("b".into(), file(3));
        assert_eq!(
            listed.held,
            listed.files.values().map(|file| file.bytes() + 1 + ENTRY_BYTES + size_of::<FileCoverage>()).sum::<usize>()
        );
        listed.add("c".into(), file(1_000_000));
        listed.add("d".into(), file(1));
        assert_eq!((listed.held, listed.finish()), (0, (BTreeMap::new(), Some(NOT_KEPT))));
    }

    #[test]
    fn a_file_told_in_very_many_places_is_read_in_time() {
        let mut files = Files::default();
        large(&mut files, "a");
        for line in 1..=20_000 {
            files.open("b").unwrap();
            files.current().unwrap().line(line, true).unwrap();
            files.open("a").unwrap();
            files.current().unwrap().line(line * 40 + 2, true).unwrap();
        }
        let figures = files.finish(&FORMAT).unwrap().figures;
        assert_eq!(figures.lines_total, Some(20_000 + 500_000 + 20_000));
    }

    #[test]
    fn one_file_that_takes_all_memory_is_refused() {
        let mut tally = FileTally::default();
        let refused = (1..).find_map(|line| tally.line(line * 32, true).err()).unwrap();
        assert_eq!(refused.reject(), Some(Reject::Refused));
        let mut tally = FileTally::default();
        let name = "f".repeat(1_000_000);
        assert!((0..30).any(|number| tally.branch(1, &format!("{name}{number}"), true).is_err()));
    }

    #[test]
    fn a_file_may_have_very_many_lines_with_branches() {
        let mut tally = FileTally::default();
        for line in (1..=700_000).rev() {
            tally.line(line, true).unwrap();
            tally.condition(line, 1, 2).unwrap();
        }
        assert_eq!(tally.conditions_in_all(), (700_000, 1_400_000));
        assert_eq!(tally.finish().branches.iter().count(), 700_000);
    }

    #[test]
    fn branches_are_one_whether_numbered_or_named() {
        let mut files = Files::default();
        files.open("a").unwrap();
        let tally = files.current().unwrap();
        for (name, taken) in
            [("0,1", false), ("0,1", true), ("0,01", false), ("0,x", false), ("0,x", true), ("e0,1", false)]
        {
            tally.branch(3, name, taken).unwrap();
        }
        tally.condition(3, 1, 4).unwrap();
        tally.condition(3, 2, 3).unwrap();
        let figures = files.finish(&FORMAT).unwrap().figures;
        assert_eq!((figures.branches_covered, figures.branches_total), (Some(4), Some(8)));
    }
}
