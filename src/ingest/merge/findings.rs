//! Findings of linters, type checkers and compilers: what several reports tell of one tool counts once.

use std::collections::BTreeMap;

use super::Measurement;
use crate::ingest::{Details, Finding, Level, LintDetails, Parsed, Sort, ToolCounts};
use crate::model::metrics::QualityMetrics;

/// What makes two findings of different reports one: level, line, first line of the message, end of the path.
type Key<'a> = (Level, Option<u64>, &'a str, Option<&'a str>);

/// A finding, and its file as far as it is told.
type InFile<'a> = (Key<'a>, File<'a>);

/// A file, of which several may end in the same names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum File<'a> {
    /// In some folder.
    Anywhere,
    /// As a package's tool told it from there: with the path, whose package it is.
    Of(Option<&'a str>, &'a str),
    /// By its whole path.
    Whole(&'a str),
}

/// One tool over all reports.
#[derive(Debug, Default)]
struct Tool<'a> {
    sort: Option<Sort>,
    /// Finding → how often the report that has it most often has it.
    met: BTreeMap<Key<'a>, Met<'a>>,
    /// The same by rule instead of message, with the format of that report: another format may word it differently.
    met_rules: BTreeMap<Key<'a>, (u64, &'static str)>,
    counts: Counts,
    /// The reports that have told of the tool, the first one first.
    told_by: Vec<usize>,
}

/// How often a finding was met.
#[derive(Debug, Default)]
struct Met<'a> {
    /// By what was told of the file, in the report that has it most often.
    at: BTreeMap<File<'a>, u64>,
    /// In files by their whole paths.
    whole: u64,
    /// By a path that packages told.
    of: BTreeMap<Option<&'a str>, u64>,
    /// The most of what was told in any other way.
    most: u64,
}

impl<'a> Met<'a> {
    /// Takes what one report has of it; how many of these no report had before. Two whole paths that differ are two files,
    /// and so is one path in two packages; but what is told in another way may tell of the same.
    fn add(&mut self, file: File<'a>, number: u64) -> u64 {
        let before = self.whole.max(self.most);
        let known = self.at.entry(file).or_default();
        let more = number.saturating_sub(*known);
        *known = number.max(*known);
        match file {
            File::Whole(_) => self.whole = self.whole.saturating_add(more),
            File::Anywhere => self.most = self.most.max(number),
            File::Of(path, _) => {
                let of_path = self.of.entry(path).or_default();
                *of_path = of_path.saturating_add(more);
                self.most = self.most.max(*of_path);
            }
        }
        self.whole.max(self.most) - before
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    errors: u64,
    warnings: u64,
}

/// Whether a compiler found an error.
pub(super) fn has_build_error(lint: &LintDetails) -> bool {
    lint.by_tool.values().any(|counts| counts.sort == Sort::Compiler && counts.errors > 0)
}

/// Merges them into the measurement. They come in an order that follows from their content.
pub(super) fn merge(reports: &[(usize, &Parsed)], measurement: &mut Measurement) {
    let mut reports: Vec<(usize, &Parsed, &LintDetails)> = reports
        .iter()
        .filter_map(|(index, parsed)| match &parsed.details {
            Details::Lint(lint) => Some((*index, *parsed, lint)),
            _ => None,
        })
        .collect();
    if reports.is_empty() {
        return;
    }
    // The richest first: a later report is then told by an earlier one, or adds to it.
    reports.sort_by_key(|(_, parsed, lint)| (std::cmp::Reverse(lint.findings.len()), parsed.is_spoken()));
    let mut tools: BTreeMap<&str, Tool<'_>> = BTreeMap::new();
    for (index, parsed, lint) in &reports {
        let mut told = Vec::new();
        let mut added = false;
        for (name, counts) in &lint.by_tool {
            let tool = tools.entry(name).or_default();
            tool.sort = tool.sort.max(Some(counts.sort));
            let before = tool.counts;
            let was_told = tool.told_by.first().copied();
            tool.add(name, counts, lint, parsed);
            added |= tool.counts != before || was_told.is_none();
            told.extend(was_told);
            tool.told_by.push(*index);
        }
        if lint.dropped > 0 && !told.is_empty() {
            measurement.warnings.push(format!(
                "{} has too many findings to be compared with other reports of the same tools: the larger count stands",
                parsed.format.name
            ));
        }
        if let (false, Some(by), Some(slot)) = (added, told.first(), measurement.same_run_as.get_mut(*index)) {
            *slot = Some(*by);
        }
    }
    match quality(&tools) {
        Some(quality) => measurement.quality = Some(quality),
        None => measurement.warnings.push("the counts of findings are too large to add up".to_owned()),
    }
}

impl<'a> Tool<'a> {
    /// The finding as an earlier report told it, which may have had nothing but the name of a file at the top, or more than
    /// that; what none told is itself.
    fn known_as(&self, key: Key<'a>) -> Key<'a> {
        let (level, line, message, Some(path)) = key else { return key };
        if self.told_by.is_empty() || self.met.contains_key(&key) {
            return key;
        }
        let name = |path: &'a str| path.rsplit(['/', '\\']).next().unwrap_or_default();
        if name(path) != path {
            let at_the_top = (level, line, message, Some(name(path)));
            return if self.met.contains_key(&at_the_top) { at_the_top } else { key };
        }
        let alike = self.met.range((level, line, message, None)..).map(|(other, _)| *other);
        let mut alike = alike.take_while(|(l, n, m, _)| (*l, *n, *m) == (level, line, message));
        alike.find(|(.., other)| other.map(name) == Some(path)).unwrap_or(key)
    }

    fn add(&mut self, name: &str, counts: &ToolCounts, lint: &'a LintDetails, parsed: &'a Parsed) {
        let format = parsed.format.name;
        let package = parsed.package.as_ref().map(|package| package.name.as_str());
        let of_tool: Vec<&Finding> = lint.findings.iter().filter(|finding| finding.tool == name).collect();
        let all_kept = u64::try_from(of_tool.len()).ok() == total(counts);
        if !all_kept {
            self.counts.errors = self.counts.errors.max(counts.errors);
            self.counts.warnings = self.counts.warnings.max(counts.warnings);
            return;
        }
        let mut here: BTreeMap<InFile<'_>, (u64, Option<Key<'a>>)> = BTreeMap::new();
        let mut rules: BTreeMap<Key<'a>, u64> = BTreeMap::new();
        for finding in of_tool {
            let rule = rule_key(finding);
            let path = finding.path.as_deref();
            let file = match (path.filter(|path| is_whole(path)), package) {
                (Some(path), _) => File::Whole(path),
                (None, Some(package)) => File::Of(path, package),
                (None, None) => File::Anywhere,
            };
            here.entry((key(finding), file)).or_insert((0, rule)).0 += 1;
            if let Some(rule) = rule {
                *rules.entry(rule).or_default() += 1;
            }
        }
        for ((key, file), (number, rule)) in here {
            let is_reworded = rule.is_some_and(|rule| self.tells_reworded(&rule, rules.get(&rule).copied(), format));
            let new = self.met.entry(self.known_as(key)).or_default().add(file, number);
            let count = match key.0 {
                Level::Error => &mut self.counts.errors,
                Level::Warning => &mut self.counts.warnings,
                Level::Note => continue,
            };
            *count = count.saturating_add(if is_reworded { 0 } else { new });
        }
        for (rule, number) in rules {
            let known = self.met_rules.entry(rule).or_insert((number, format));
            if number > known.0 {
                *known = (number, format);
            }
        }
    }

    /// Whether a report of another format has as many findings of the rule there.
    fn tells_reworded(&self, rule: &Key<'a>, number: Option<u64>, format: &str) -> bool {
        let known = self.met_rules.get(rule);
        known.is_some_and(|(known, other)| number.is_some_and(|number| number <= *known) && *other != format)
    }
}

fn total(counts: &ToolCounts) -> Option<u64> {
    counts.errors.checked_add(counts.warnings)?.checked_add(counts.notes)
}

fn key(finding: &Finding) -> Key<'_> {
    let message = finding.message.split(" | ").next().unwrap_or_default();
    // Some text leaves out the full stop that the JSON has, or the rule in brackets.
    let without_rule = || {
        let (before, rule) = message.strip_suffix(')')?.rsplit_once(" (")?;
        let is_name =
            |rule: &str| rule.contains('-') && !rule.contains(|c: char| c.is_whitespace() || c.is_uppercase());
        (finding.rule.as_deref().map_or_else(|| is_name(rule), |known| known == rule)).then_some(before)
    };
    let message = without_rule().unwrap_or(message).trim_end_matches('.');
    (finding.level, finding.line, message, finding.path.as_deref().map(end_of_path))
}

/// As [`key`], with the rule in place of the message.
fn rule_key(finding: &Finding) -> Option<Key<'_>> {
    let (level, line, _, path) = key(finding);
    Some((level, line, finding.rule.as_deref()?, path))
}

/// Whether a path begins at the top of a file system.
fn is_whole(path: &str) -> bool {
    path.starts_with(['/', '\\']) || matches!(path.as_bytes(), [_, b':', b'/' | b'\\', ..])
}

/// The last two names of a path: reports of one run may differ in where it begins.
fn end_of_path(path: &str) -> &str {
    let mut separators = path.rmatch_indices(['/', '\\']);
    separators.next();
    separators.next().and_then(|(at, _)| path.get(at + 1..)).unwrap_or_else(|| path.trim_start_matches("./"))
}

fn quality(tools: &BTreeMap<&str, Tool<'_>>) -> Option<QualityMetrics> {
    let sum_of = |sort: Sort| -> Option<Option<u64>> {
        let mut of_sort = tools.values().filter(|tool| tool.sort == Some(sort)).peekable();
        let is_there = of_sort.peek().is_some();
        let sum = of_sort.try_fold(0_u64, |sum, tool| sum.checked_add(tool.counts.errors))?;
        Some(is_there.then_some(sum))
    };
    let (lint, types, build) = (sum_of(Sort::Linter)?, sum_of(Sort::TypeChecker)?, sum_of(Sort::Compiler)?);
    let known = [lint, types, build];
    let mut present = known.iter().flatten().peekable();
    let is_there = present.peek().is_some();
    let error_count = present.try_fold(0_u64, |sum, errors| sum.checked_add(*errors))?;
    let warnings = tools.values().try_fold(0_u64, |sum, tool| sum.checked_add(tool.counts.warnings))?;
    Some(QualityMetrics {
        lint_errors: lint,
        lint_warnings: is_there.then_some(warnings),
        type_errors: types,
        build_errors: build,
        build_status: None,
        error_count: is_there.then_some(error_count),
        errors_by_tool: tools.iter().map(|(name, tool)| ((*name).to_owned(), tool.counts.errors)).collect(),
    })
}
