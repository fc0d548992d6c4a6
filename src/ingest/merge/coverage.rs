//! Coverage reports: lines of one file unite, different files add.

use std::collections::{BTreeMap, BTreeSet};

use super::{Copies, Measurement};
use crate::ingest::{CoverageDetails, Details, FileCoverage, FileLines, Parsed};
use crate::model::metrics::CoverageMetrics;
use crate::model::units::Percent;

/// Merges them into the measurement. They come in an order that follows from their content.
pub(super) fn merge(reports: &[(usize, &Parsed)], measurement: &mut Measurement) {
    if reports.is_empty() {
        return;
    }
    let mut united = United::default();
    let (mut reports, mut printed): (Vec<_>, Vec<_>) =
        reports.iter().copied().partition(|(_, parsed)| !parsed.is_spoken());
    if reports.is_empty() {
        std::mem::swap(&mut reports, &mut printed);
    }
    // The report with the most lines first, and of equals one that names them: the others are then told by it, or add to
    // it.
    reports.sort_by_key(|(_, parsed)| (std::cmp::Reverse(parsed.figures.lines_total), !tells_files(parsed)));
    for (index, parsed) in reports.iter().copied() {
        if let (Some(by), Some(slot)) =
            (united.add(index, parsed, &mut measurement.warnings), measurement.same_run_as.get_mut(index))
        {
            *slot = Some(by);
        }
    }
    let sum = united.sum();
    told_again(&printed, &reports, sum, measurement);
    match sum {
        Some((covered, total)) => {
            measurement.coverage = Percent::of(covered, total).map(|percentage| CoverageMetrics {
                percentage,
                lines_covered: Some(covered),
                lines_total: Some(total),
            });
        }
        None => measurement.warnings.push("the counts of covered lines are too large to add up".to_owned()),
    }
    if united.added.is_empty() {
        measurement.coverage = given(&reports, &mut measurement.warnings);
    }
    let single = |files: Vec<File>| <[File; 1]>::try_from(files).ok().map(|[file]| file.lines);
    measurement.lines = united.files.into_iter().filter_map(|(path, files)| Some((path, single(files)?))).collect();
}

/// What a command prints beside its report files is told by those already, if in other units or rounded.
fn told_again(
    printed: &[(usize, &Parsed)],
    files: &[(usize, &Parsed)],
    sum: Option<(u64, u64)>,
    measurement: &mut Measurement,
) {
    let Some((by, _)) = files.first() else { return };
    for (index, parsed) in printed {
        if let Some(same) = measurement.same_run_as.get_mut(*index) {
            *same = Some(*by);
        }
        let told = totals(parsed);
        if told.is_some() && told != sum && !files.iter().any(|(_, file)| totals(file) == told) {
            let name = parsed.format.name;
            measurement
                .warnings
                .push(format!("{name} on the console tells other totals than the report files, which count"));
        }
    }
}

/// The percentage that reports without counts give, if they give the same.
fn given(reports: &[(usize, &Parsed)], warnings: &mut Vec<String>) -> Option<CoverageMetrics> {
    let mut percentages = reports.iter().filter_map(|(_, parsed)| parsed.figures.percent_covered);
    let percentage = percentages.next()?;
    if percentages.any(|other| other != percentage) {
        warnings
            .push("reports give different percentages of coverage without counts: none of them is taken".to_owned());
        return None;
    }
    Some(CoverageMetrics { percentage, lines_covered: None, lines_total: None })
}

/// A file as several reports tell of it.
#[derive(Debug)]
struct File {
    lines: FileLines,
    /// The report that told of it first.
    by: usize,
}

#[derive(Default)]
struct United<'a> {
    /// By path, separators and leading `./` made alike. Files that share a path but not their lines follow each other.
    files: BTreeMap<String, Vec<File>>,
    /// The paths by their last name.
    by_name: BTreeMap<String, BTreeSet<String>>,
    /// Reports that tell no files: lines or statements, covered and in all.
    totals: Vec<(u64, u64)>,
    added: Vec<(usize, &'a Parsed)>,
    copies: Copies<'a>,
}

impl<'a> United<'a> {
    /// Adds a report; the index of the one that told all of it already.
    fn add(&mut self, index: usize, parsed: &'a Parsed, warnings: &mut Vec<String>) -> Option<usize> {
        if let Some((by, _)) = self.copies.of(parsed).next() {
            return Some(by);
        }
        let Details::Coverage(coverage) = &parsed.details else { return None };
        if coverage.files.is_empty() {
            return self.add_totals(index, parsed);
        }
        let places = self.places(coverage);
        let is_apart = places.iter().all(|(_, _, place)| place.is_none());
        if let Some((by, other)) = self.equal_totals(parsed, coverage.files.len()).filter(|_| is_apart) {
            warnings.push(format!(
                "{} and {} have the same totals but no path in common: they are taken for one run",
                other.format.name, parsed.format.name
            ));
            return Some(by);
        }
        let mut told = None;
        let mut is_new = false;
        for (path, lines, place) in places {
            let held = place.and_then(|place| self.files.get_mut(&place.path)?.get_mut(place.at));
            if let Some(file) = held {
                let both = file.lines.unite(lines);
                is_new |= both != file.lines;
                file.lines = both;
                told = told.or(Some(file.by));
                continue;
            }
            let files = self.files.entry(path.clone()).or_default();
            if !files.is_empty() {
                warnings.push("files of one name but with other lines were taken for different files".to_owned());
            }
            files.push(File { lines: lines.clone(), by: index });
            let name = path.rsplit('/').next().unwrap_or_default().to_owned();
            self.by_name.entry(name).or_default().insert(path);
            is_new = true;
        }
        self.added.push((index, parsed));
        self.copies.add(index, parsed);
        told.filter(|_| !is_new)
    }

    /// Where each file of a report is already. Two files of one report are never one file.
    fn places<'c>(&self, coverage: &'c CoverageDetails) -> Vec<(String, &'c FileLines, Option<Place>)> {
        let mut taken: BTreeMap<Place, u64> = BTreeMap::new();
        let mut places = Vec::new();
        for (path, FileCoverage { lines, .. }) in &coverage.files {
            let path = normalized(path);
            let place = self.place(&path, lines);
            if let Some(place) = &place {
                *taken.entry(place.clone()).or_default() += 1;
            }
            places.push((path, lines, place));
        }
        for (path, _, place) in &mut places {
            let is_shared = place.as_ref().is_some_and(|place| place.path != *path && taken.get(place) != Some(&1));
            if is_shared {
                *place = None;
            }
        }
        places
    }

    fn add_totals(&mut self, index: usize, parsed: &'a Parsed) -> Option<usize> {
        let (covered, total) = totals(parsed)?;
        let is_same = |other: &Parsed| other.format != parsed.format && totals(other) == Some((covered, total));
        if let Some((by, _)) = self.added.iter().find(|(_, other)| is_same(other)) {
            return Some(*by);
        }
        self.totals.push((covered, total));
        self.added.push((index, parsed));
        self.copies.add(index, parsed);
        None
    }

    /// The report of another format with as many files and the same totals.
    fn equal_totals(&self, parsed: &Parsed, files: usize) -> Option<(usize, &'a Parsed)> {
        let totals = |parsed: &Parsed| (parsed.figures.lines_covered, parsed.figures.lines_total);
        let same = self.added.iter().find(|(_, other)| {
            let Details::Coverage(coverage) = &other.details else { return false };
            other.format != parsed.format && coverage.files.len() == files && totals(other) == totals(parsed)
        });
        same.copied()
    }

    /// Where the file of that path is already: under the same path if its lines are alike, else under the only path that
    /// ends alike and has exactly its lines.
    fn place(&self, path: &str, lines: &FileLines) -> Option<Place> {
        if let Some(files) = self.files.get(path) {
            return files
                .iter()
                .position(|file| are_alike(&file.lines, lines))
                .map(|at| Place { path: path.to_owned(), at });
        }
        let same_name = self.by_name.get(path.rsplit('/').next().unwrap_or_default())?;
        let mut ends = same_name.iter().filter(|other| ends_with(other, path) || ends_with(path, other));
        let other = ends.next()?;
        if ends.next().is_some() {
            return None;
        }
        let at = self.files.get(other)?.iter().position(|file| have_same_lines(&file.lines, lines))?;
        Some(Place { path: other.clone(), at })
    }

    fn sum(&self) -> Option<(u64, u64)> {
        let files = self.files.values().flatten().map(|file| (file.lines.covered(), file.lines.total()));
        files
            .chain(self.totals.iter().copied())
            .try_fold((0_u64, 0_u64), |(covered, total), (c, t)| Some((covered.checked_add(c)?, total.checked_add(t)?)))
    }
}

fn tells_files(parsed: &Parsed) -> bool {
    matches!(&parsed.details, Details::Coverage(coverage) if !coverage.files.is_empty())
}

/// Covered and in all: lines, else statements.
fn totals(parsed: &Parsed) -> Option<(u64, u64)> {
    let figures = &parsed.figures;
    let lines = figures.lines_covered.zip(figures.lines_total);
    lines.or(figures.statements_covered.zip(figures.statements_total))
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    path: String,
    at: usize,
}

fn normalized(path: &str) -> String {
    let path = path.replace('\\', "/");
    path.trim_start_matches("./").to_owned()
}

/// Whether the longer path has the shorter one's names at its end.
fn ends_with(longer: &str, shorter: &str) -> bool {
    longer.strip_suffix(shorter).is_some_and(|rest| rest.ends_with('/'))
}

fn have_same_lines(a: &FileLines, b: &FileLines) -> bool {
    a.total() == b.total() && a.iter().map(|(line, _)| line).eq(b.iter().map(|(line, _)| line))
}

/// Whether at least half of the lines of both are the same: two packages may each have a `src/index.js`, and tools
/// differ a little in what they take for a line.
fn are_alike(a: &FileLines, b: &FileLines) -> bool {
    let all = a.unite(b).total();
    let common = a.total().saturating_add(b.total()).saturating_sub(all);
    common.saturating_mul(2) >= all
}
