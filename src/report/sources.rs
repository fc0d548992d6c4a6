//! What an iteration's reports told, one line each.

use super::view::{counted, number, plain};
use crate::model::figures::{Figures, ReportKind};
use crate::model::record::{IterationRecord, Source, SourceError};

/// What became of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It became numbers.
    Read,
    /// It tells of a run that another one told.
    PassedOver,
    /// It is older than the iteration.
    Stale,
    /// It could not be read.
    Failed,
}

/// A report as people are told of it; nothing in it is escaped for markdown yet.
pub(super) struct SourceLine {
    /// What became of it.
    pub fate: Fate,
    /// Its path, with the place of the fault if there is one.
    pub place: String,
    /// What it was read as, if known.
    pub format: Option<String>,
    /// Its figures, or why there are none.
    pub told: String,
    /// What to do about a fault.
    pub help: Option<String>,
    /// What the reader remarked.
    pub warnings: Vec<String>,
}

/// One line a report, what became numbers first.
pub(super) fn source_lines(record: &IterationRecord) -> Vec<SourceLine> {
    let is_alone = record.metrics.failures_alone().is_some();
    let mut lines: Vec<SourceLine> = record.sources.iter().map(|source| line(source, is_alone)).collect();
    lines.sort_by_key(|line| match line.fate {
        Fate::Read => 0,
        Fate::Failed => 1,
        Fate::Stale => 2,
        Fate::PassedOver => 3,
    });
    lines
}

/// `is_alone`: how many tests passed at the iteration is unknown.
fn line(source: &Source, is_alone: bool) -> SourceLine {
    let (fate, told) = match (&source.error, &source.same_run_as, &source.figures) {
        (Some(error), _, _) => (Fate::Failed, format!("{}: {}", plain(&error.code), plain(&error.message))),
        _ if source.stale => (Fate::Stale, "older than this iteration, so it gives no numbers".to_owned()),
        (_, Some(other), _) => (Fate::PassedOver, format!("tells the run of {} again", plain(other))),
        (_, _, Some(figures)) => (Fate::Read, told(figures, source.kind, is_alone)),
        _ => (Fate::PassedOver, "gives no numbers".to_owned()),
    };
    SourceLine {
        fate,
        place: place(&source.path, source.error.as_ref()),
        format: source.format.as_deref().map(plain),
        told,
        help: source.error.as_ref().and_then(|error| error.help.as_deref().map(plain)),
        warnings: source.warnings.iter().map(|warning| plain(warning)).collect(),
    }
}

fn place(path: &str, error: Option<&SourceError>) -> String {
    let mut place = plain(path);
    let at = error.map(|error| (error.line, error.column)).unwrap_or_default();
    for number in [at.0, at.1].into_iter().flatten() {
        place.push_str(&format!(":{number}"));
    }
    place
}

/// The figures that matter for the kind of report, in words.
fn told(figures: &Figures, kind: Option<ReportKind>, is_alone: bool) -> String {
    let parts = match kind {
        // Its figures say that none passed, as of one in which all failed.
        Some(ReportKind::Test) if is_alone && figures.passed == Some(0) => failure_parts(figures),
        Some(ReportKind::Test) => test_parts(figures),
        Some(ReportKind::Coverage) => coverage_parts(figures),
        Some(ReportKind::Lint) => lint_parts(figures),
        Some(ReportKind::Metric) => metric_parts(figures),
        Some(ReportKind::Size) | None => plain_parts(figures),
    };
    if parts.is_empty() { "no figures".to_owned() } else { parts.join(", ") }
}

/// Counts that are zero are left out of the tail: they would only be noise.
fn some(count: Option<u64>, word: &str) -> Option<String> {
    count.filter(|count| *count > 0).map(|count| format!("{count} {word}"))
}

fn test_parts(figures: &Figures) -> Vec<String> {
    let all = figures.tests.map(|count| counted(count, "test", "tests"));
    let passed = figures.passed.filter(|_| figures.tests != Some(0)).map(|count| format!("{count} passed"));
    let rest = [
        some(figures.failed, "failed"),
        some(figures.errored, "errored"),
        some(figures.skipped, "skipped"),
        some(figures.flaky, "flaky"),
    ];
    [all, passed].into_iter().chain(rest).flatten().collect()
}

fn failure_parts(figures: &Figures) -> Vec<String> {
    let parts: Vec<String> =
        [some(figures.failed, "failed"), some(figures.errored, "errored")].into_iter().flatten().collect();
    if parts.is_empty() { vec!["no failures".to_owned()] } else { parts }
}

fn coverage_parts(figures: &Figures) -> Vec<String> {
    let of = |covered: Option<u64>, total: Option<u64>, word: &str| {
        covered.zip(total).map(|(covered, total)| format!("{covered} of {total} {word}"))
    };
    let percent = figures.percent_covered.map(|percent| format!("{percent} %"));
    let pairs = [
        of(figures.lines_covered, figures.lines_total, "lines"),
        of(figures.statements_covered, figures.statements_total, "statements"),
        of(figures.branches_covered, figures.branches_total, "branches"),
    ];
    // The first is the one that counts; branches are told beside it.
    let main = pairs.iter().take(2).flatten().next().cloned();
    main.or(percent).into_iter().chain(pairs.into_iter().nth(2).flatten()).collect()
}

fn lint_parts(figures: &Figures) -> Vec<String> {
    if figures.errors == Some(0) && figures.warnings.unwrap_or(0) == 0 && figures.notes.unwrap_or(0) == 0 {
        return vec!["no findings".to_owned()];
    }
    let errors = figures.errors.map(|count| counted(count, "error", "errors"));
    let warnings = figures.warnings.map(|count| counted(count, "warning", "warnings"));
    let rest = [some(figures.notes, "below that"), some(figures.suppressed, "suppressed")];
    [errors, warnings].into_iter().chain(rest).flatten().collect()
}

/// The first few by name, and how many more there are.
fn metric_parts(figures: &Figures) -> Vec<String> {
    const MOST: usize = 3;
    let shown = figures.metrics.iter().take(MOST).map(|(name, figure)| match (figure.value, &figure.unit) {
        (Some(_), Some(unit)) => format!("{} {} {}", plain(name), number(figure.value), plain(unit)),
        (Some(_), None) => format!("{} {}", plain(name), number(figure.value)),
        (None, _) => format!("{} not measured", plain(name)),
    });
    let more = figures.metrics.len().saturating_sub(MOST);
    shown.chain((more > 0).then(|| format!("{more} more"))).collect()
}

fn plain_parts(figures: &Figures) -> Vec<String> {
    figures.counts().into_iter().map(|(key, count)| format!("{count} {}", key.replace('_', " "))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_told_by_kind_and_zeros_are_left_out_of_the_tail() {
        let tests =
            Figures { tests: Some(20), passed: Some(17), failed: Some(3), errored: Some(0), ..Figures::default() };
        assert_eq!(told(&tests, Some(ReportKind::Test), false), "20 tests, 17 passed, 3 failed");
        let none = Figures { tests: Some(0), passed: Some(0), ..Figures::default() };
        assert_eq!(told(&none, Some(ReportKind::Test), false), "no tests");
        let coverage = Figures {
            lines_covered: Some(261),
            lines_total: Some(302),
            branches_covered: Some(3),
            branches_total: Some(8),
            ..Figures::default()
        };
        assert_eq!(told(&coverage, Some(ReportKind::Coverage), false), "261 of 302 lines, 3 of 8 branches");
        let clean =
            Figures { errors: Some(0), warnings: Some(0), notes: Some(0), total: Some(0), ..Figures::default() };
        assert_eq!(told(&clean, Some(ReportKind::Lint), false), "no findings");
        let findings = Figures { errors: Some(0), warnings: Some(1), ..Figures::default() };
        assert_eq!(told(&findings, Some(ReportKind::Lint), false), "no errors, 1 warning");
        assert_eq!(told(&Figures::default(), None, false), "no figures");
    }

    #[test]
    fn where_failures_alone_are_told_no_number_of_tests_is() {
        let told = |failed, errored| {
            let tests = failed + errored;
            let figures = Figures {
                tests: Some(tests),
                passed: Some(0),
                failed: Some(failed),
                errored: Some(errored),
                ..Figures::default()
            };
            told(&figures, Some(ReportKind::Test), true)
        };
        assert_eq!(told(0, 0), "no failures");
        assert_eq!(told(2, 1), "2 failed, 1 errored");
    }
}
