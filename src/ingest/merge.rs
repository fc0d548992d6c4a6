//! Several reports → one [`Measurement`]. Different runs add up; one run that was told twice (a file and the console,
//! JUnit and JSON) counts once, and the richer report wins.
//!
//! The result does not depend on the order of the reports.

use std::collections::BTreeMap;

use crate::ingest::{Details, FileLines, Parsed};
use crate::model::cases::TestCases;
use crate::model::figures::{MetricFigure, ReportKind};
use crate::model::ids::ObjectId;
use crate::model::metrics::{BuildStatus, CoverageMetrics, QualityMetrics, TestMetrics};

mod coverage;
mod findings;
mod fixtures;
mod names;
mod runs;
mod writers;

/// How reports that stand in a command's output are marked in [`Parsed::sniffed_by`].
pub(super) const FROM_CONSOLE: &str = "console";

/// What all reports of one iteration tell together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measurement {
    /// Tests. What failed outside any test is in `collection_errors` and `failed_units` alone, not in the counts.
    pub testing: Option<TestMetrics>,
    /// Outcomes by test id; only if the reports name every test that they count, so that a missing id means a lost test.
    pub cases: Option<TestCases>,
    /// Ids of tests that failed or errored, as far as the reports name them, at most 20, by name.
    pub failing: Vec<String>,
    /// What those of them failed with whose reports say so: the message's first lines.
    pub messages: BTreeMap<String, String>,
    /// Lines that ran.
    pub coverage: Option<CoverageMetrics>,
    /// The lines behind it by file, as the reports name them; without files that share a name and not their lines.
    pub lines: BTreeMap<String, FileLines>,
    /// Findings, and whether the project built.
    pub quality: Option<QualityMetrics>,
    /// Mean cyclomatic complexity per function.
    pub complexity_score: Option<f64>,
    /// Metrics by name, as reports of them tell.
    pub metrics: BTreeMap<String, ReportedMetric>,
    /// What is odd about the reports beside each other, sorted.
    pub warnings: Vec<String>,
    /// For each report the index of the richer one that told all of it already, so that nothing of it was added.
    pub same_run_as: Vec<Option<usize>>,
}

/// A metric that a report tells.
#[derive(Clone, Debug, PartialEq)]
pub struct ReportedMetric {
    /// As told.
    pub figure: MetricFigure,
    /// The report's format.
    pub format: String,
    /// Why there is no value, if there is none.
    pub reason: Option<String>,
}

/// Merges the reports of one iteration.
pub fn merge(parsed: &[Parsed]) -> Measurement {
    let mut order: Vec<usize> = (0..parsed.len()).collect();
    order.sort_by_key(|index| parsed.get(*index).map(content_key));
    let of_kind = |kind: ReportKind| -> Vec<(usize, &Parsed)> {
        let reports = order.iter().filter_map(|index| Some((*index, parsed.get(*index)?)));
        reports.filter(|(_, report)| kind_of(report) == kind).collect()
    };
    let mut measurement = Measurement { same_run_as: vec![None; parsed.len()], ..Measurement::default() };
    let apart: Vec<(usize, Option<Parsed>)> =
        of_kind(ReportKind::Test).into_iter().map(|(index, report)| (index, fixtures::set_apart(report))).collect();
    let tests = apart.iter().filter_map(|(index, apart)| Some((*index, apart.as_ref().or(parsed.get(*index))?)));
    runs::merge(&tests.collect::<Vec<_>>(), &mut measurement);
    coverage::merge(&of_kind(ReportKind::Coverage), &mut measurement);
    findings::merge(&of_kind(ReportKind::Lint), &mut measurement);
    measurement.complexity_score = complexity(&of_kind(ReportKind::Size));
    let reports = order.iter().filter_map(|index| Some((*index, parsed.get(*index)?)));
    // A runner may tell of benchmarks beside its tests.
    let has_metrics =
        |report: &Parsed| matches!(report.details, Details::Metrics) || !report.figures.metrics.is_empty();
    metrics(&reports.filter(|(_, report)| has_metrics(report)).collect::<Vec<_>>(), &mut measurement);
    if let Some(status) = build_status(parsed) {
        measurement.quality.get_or_insert_default().build_status = Some(status);
    }
    measurement.warnings.sort();
    measurement.warnings.dedup();
    measurement
}

fn kind_of(report: &Parsed) -> ReportKind {
    match report.details {
        Details::Tests(_) => ReportKind::Test,
        Details::Coverage(_) => ReportKind::Coverage,
        Details::Lint(_) => ReportKind::Lint,
        Details::Size(_) => ReportKind::Size,
        Details::Metrics => ReportKind::Metric,
    }
}

/// Orders reports by what they are, so that the order in which they were found does not matter. What one output tells stays as
/// it stands there.
fn content_key(report: &Parsed) -> (&'static str, bool, Option<ObjectId>) {
    (report.format.name, report.is_spoken(), report.content)
}

/// Whether two reports say the same, to the last name. Where they name nothing, two runs may say the same, too: they are
/// copies if their bytes are.
fn are_copies(a: &Parsed, b: &Parsed) -> bool {
    let differ = || a.content.is_some() && b.content.is_some() && a.content != b.content && names_nothing(a);
    a.format == b.format && a.figures == b.figures && a.build == b.build && a.details == b.details && !differ()
}

fn names_nothing(report: &Parsed) -> bool {
    match &report.details {
        Details::Tests(tests) => tests.cases.cases.is_empty() && tests.failed_units.is_empty(),
        Details::Coverage(coverage) => coverage.files.is_empty(),
        Details::Lint(lint) => lint.findings.is_empty(),
        Details::Size(_) => true,
        // Their names are in the figures.
        Details::Metrics => false,
    }
}

/// Reports by what copies surely have in common, so that of thousands of files only few are compared.
#[derive(Default)]
struct Copies<'a>(BTreeMap<Likeness<'a>, Vec<(usize, &'a Parsed)>>);

/// Format, counts, first name.
type Likeness<'a> = (&'static str, Vec<(&'static str, u64)>, Option<&'a str>);

impl<'a> Copies<'a> {
    fn likeness(report: &Parsed) -> Likeness<'_> {
        let first = match &report.details {
            Details::Tests(tests) => tests.cases.cases.keys().next(),
            Details::Coverage(coverage) => coverage.files.keys().next(),
            Details::Metrics => report.figures.metrics.keys().next(),
            Details::Lint(_) | Details::Size(_) => None,
        };
        (report.format.name, report.figures.counts(), first.map(String::as_str))
    }

    fn add(&mut self, index: usize, report: &'a Parsed) {
        self.0.entry(Copies::likeness(report)).or_default().push((index, report));
    }

    /// Those of which the report is a copy, in the order in which they were added.
    fn of<'s>(&'s self, report: &'s Parsed) -> impl Iterator<Item = (usize, &'a Parsed)> + 's {
        let alike = self.0.get(&Copies::likeness(report)).into_iter().flatten();
        alike.copied().filter(|(_, other)| are_copies(other, report))
    }
}

/// ANALYSIS §1, `build_status`.
fn build_status(parsed: &[Parsed]) -> Option<BuildStatus> {
    let told = |status: BuildStatus| parsed.iter().any(|report| status_of(report) == Some(status));
    [BuildStatus::Failed, BuildStatus::Success].into_iter().find(|status| told(*status))
}

fn status_of(report: &Parsed) -> Option<BuildStatus> {
    let by_details = || match &report.details {
        Details::Tests(tests) => (tests.compiled && tests.unit_failures == 0).then_some(BuildStatus::Success),
        Details::Lint(lint) => findings::has_build_error(lint).then_some(BuildStatus::Failed),
        Details::Coverage(_) | Details::Size(_) | Details::Metrics => None,
    };
    report.build.or_else(by_details)
}

/// Metrics of all reports by name. Where two tell one metric differently, nobody knows which is meant; but what a file tells
/// is what a command prints, only finer.
fn metrics(reports: &[(usize, &Parsed)], measurement: &mut Measurement) {
    let (printed, files): (Vec<_>, Vec<_>) = reports.iter().partition(|(_, report)| report.is_spoken());
    // By what a command may call it, the first file that tells a metric.
    let mut told_by: BTreeMap<String, usize> = BTreeMap::new();
    for (place, (_, file)) in files.iter().enumerate() {
        for name in file.figures.metrics.keys().flat_map(|name| printed_names(name)) {
            told_by.entry(name).or_insert(place);
        }
    }
    let file_of = |name: &String| told_by.get(name).copied();
    let mut copies = Copies::default();
    for (index, report) in files.iter().chain(&printed) {
        let tellers = || report.figures.metrics.keys().map(file_of).collect::<Option<Vec<usize>>>();
        let again = match report.is_spoken().then(tellers).flatten() {
            Some(places) => places.into_iter().min().and_then(|place| files.get(place)).map(|(first, _)| *first),
            None => copies.of(report).next().map(|(first, _)| first),
        };
        copies.add(*index, report);
        if let Some(first) = again {
            if let Some(same) =
                measurement.same_run_as.get_mut(*index).filter(|_| kind_of(report) == ReportKind::Metric)
            {
                *same = Some(first);
            }
            continue;
        }
        for (name, figure) in &report.figures.metrics {
            if report.is_spoken() && file_of(name).is_some() {
                continue;
            }
            let reason = figure.value.is_none().then(|| "the report has no result for it".to_owned());
            let told = ReportedMetric { figure: figure.clone(), format: report.format.name.to_owned(), reason };
            match measurement.metrics.get_mut(name) {
                Some(other) if other.figure != *figure => {
                    measurement.warnings.push(format!("two reports tell {name} differently, so it is not used"));
                    let figure = MetricFigure { value: None, samples: Vec::new(), ..other.figure.clone() };
                    let reason = Some("two reports tell it differently".to_owned());
                    *other = ReportedMetric { figure, reason, ..told };
                }
                Some(_) => {}
                None => drop(measurement.metrics.insert(name.clone(), told)),
            }
        }
    }
}

/// How the names of benchmarks begin.
const BENCH: &str = "bench.";

/// What a command may call a file's metric: `bench.tests/test_a.py::test_b.time` may be printed without its path.
fn printed_names(told: &str) -> impl Iterator<Item = String> {
    let named = told.strip_prefix(BENCH).unwrap_or_default();
    let without_path = named.char_indices().filter_map(move |(at, _)| {
        let (path, name) = named.split_at_checked(at)?;
        path.ends_with("::").then(|| format!("{BENCH}{name}"))
    });
    std::iter::once(told.to_owned()).chain(without_path)
}

/// The mean over the functions of all reports; copies count once, and what a command prints if no file tells it.
fn complexity(reports: &[(usize, &Parsed)]) -> Option<f64> {
    let mut counted = Copies::default();
    let (mut total, mut functions) = (0.0, 0_u64);
    let is_of_file = |report: &Parsed| !report.is_spoken() && report.figures.ccn_total.is_some();
    let has_file = reports.iter().any(|(_, report)| is_of_file(report));
    for (index, report) in reports.iter().filter(|(_, report)| !has_file || is_of_file(report)) {
        let (Some(ccn), Some(number)) = (report.figures.ccn_total, report.figures.functions) else { continue };
        if counted.of(report).next().is_some() {
            continue;
        }
        total += ccn.as_f64();
        functions = functions.checked_add(number)?;
        counted.add(*index, report);
    }
    #[expect(clippy::cast_precision_loss, reason = "counts of functions stay far below 2^53")]
    let mean = total / functions as f64;
    mean.is_finite().then_some(mean)
}
