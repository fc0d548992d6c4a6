//! Differences against the previous iteration and against the baseline, metric by metric (ANALYSIS §1, §3).

use std::collections::BTreeMap;

use super::comparison::{Comparison, Pair, errors_between};
use super::score::{Scored, over_common};
use crate::model::ids::Iteration;
use crate::model::metrics::Metrics;
use crate::model::trajectory::{Point, PointScore};
use crate::model::verdict::{Deltas, QualityScore};

/// Against the latest ancestor that has each metric; `None` for an iteration without ancestors.
pub fn from_previous(comparison: &Comparison, score: Option<&QualityScore>) -> Option<Deltas> {
    comparison.ancestors().next()?;
    let score = score.map(PointScore::from);
    let mut deltas = deltas(comparison.metrics, score, |has| comparison.ancestors().find(|point| has(point)));
    if let Some(tests) = &comparison.tests {
        deltas.tests_lost = Some(tests.lost());
        deltas.tests_broken = Some(tests.broken(|id| comparison.is_flake(id)));
        let flakes: Vec<&str> =
            comparison.refuted().filter(|(_, doubt)| doubt.known.again.passed() > 0).map(|(id, _)| id).collect();
        deltas.tests = Some(tests.transitions(&flakes));
        if let Some(point) = comparison.previous(|metrics| metrics.testing.as_ref().is_some_and(|t| t.cases.is_some()))
        {
            deltas.against.insert("cases".to_owned(), point.iteration);
        }
    }
    Some(deltas)
}

/// Against iteration 0; `None` while judging it.
pub fn from_baseline(comparison: &Comparison, score: Option<&QualityScore>) -> Option<Deltas> {
    let baseline = comparison.baseline()?;
    Some(deltas(comparison.metrics, score.map(PointScore::from), |has| Some(baseline).filter(|point| has(point))))
}

/// The differences of one iteration to another, whatever lies between them.
pub fn deltas_between(before: &Point, after: &Point) -> Deltas {
    deltas(&after.metrics, after.quality_score, |has| Some(before).filter(|point| has(point)))
}

/// The differences of `metrics` to the points that `find` gives. `against` names each metric as [`Metrics`] stores it.
pub fn deltas<'h>(
    metrics: &Metrics,
    score: Option<PointScore>,
    find: impl Fn(&dyn Fn(&Point) -> bool) -> Option<&'h Point>,
) -> Deltas {
    let mut sides = Sides { metrics, find, against: BTreeMap::new() };
    let loc = sides.pair("loc_total", Metrics::loc_total);
    Deltas {
        test_count: sides.pair("test_count", Metrics::test_count).map(|pair| pair.change()),
        tests_passed: sides.pair("tests_passed", Metrics::tests_passed).map(|pair| pair.change()),
        tests_failed: sides.pair("tests_failed", Metrics::failures_alone).map(|pair| pair.change()),
        pass_rate_points: sides.pair("pass_rate", Metrics::pass_rate).map(|pair| pair.change()),
        coverage_points: sides.pair("coverage_percentage", Metrics::coverage).map(|pair| pair.change()),
        error_count: sides.errors().map(|pair| pair.change()),
        lint_warnings: sides.pair("lint_warnings", Metrics::lint_warnings).map(|pair| pair.change()),
        file_count: sides.pair("file_count", Metrics::file_count).map(|pair| pair.change()),
        loc_total: loc.map(|pair| pair.change()),
        loc_ratio: loc.and_then(|pair| pair.ratio()),
        complexity_ratio: sides.pair("complexity_score", Metrics::complexity).and_then(|pair| relative(&pair)),
        quality_score: sides.score(score),
        tests_lost: None,
        tests_broken: None,
        tests: None,
        against: sides.against,
    }
}

fn relative(pair: &Pair<f64>) -> Option<f64> {
    (pair.before > 0.0).then(|| pair.change() / pair.before)
}

/// Both sides of every metric, and a note of whom each was compared with.
struct Sides<'m, F> {
    metrics: &'m Metrics,
    find: F,
    against: BTreeMap<String, Iteration>,
}

impl<'h, F: Fn(&dyn Fn(&Point) -> bool) -> Option<&'h Point>> Sides<'_, F> {
    fn pair<T>(&mut self, name: &str, read: impl Fn(&Metrics) -> Option<T>) -> Option<Pair<T>> {
        let now = read(self.metrics)?;
        let point = (self.find)(&|point| read(&point.metrics).is_some())?;
        let before = read(&point.metrics)?;
        self.against.insert(name.to_owned(), point.iteration);
        Some(Pair { before, now, against: point.iteration })
    }

    fn errors(&mut self) -> Option<Pair<u64>> {
        let point = (self.find)(&|point| point.metrics.error_count().is_some())?;
        let pair = errors_between(point, self.metrics)?;
        self.against.insert("error_count".to_owned(), pair.against);
        Some(pair)
    }

    fn score(&mut self, score: Option<PointScore>) -> Option<f64> {
        let now = Scored::new(score?, self.metrics);
        let point = (self.find)(&|point| point.quality_score.is_some())?;
        let (now, before) = over_common(now, Scored::of(point)?)?;
        self.against.insert("quality_score".to_owned(), point.iteration);
        Some(now - before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::{Story, tests, with_coverage, with_errors};

    #[test]
    fn each_metric_is_compared_with_the_latest_iteration_that_has_it() {
        let mut story = Story::new();
        story.record(with_coverage(tests(8, 2), 70.0));
        story.record(tests(9, 1));
        let verdict = story.record(with_coverage(tests(10, 0), 75.0));
        let deltas = verdict.from_previous.unwrap();
        assert_eq!(deltas.against["tests_passed"], Iteration(1));
        assert_eq!(deltas.against["coverage_percentage"], Iteration(0));
        assert_eq!((deltas.tests_passed, deltas.coverage_points), (Some(1), Some(5.0)));
        assert_eq!(deltas.error_count, None);
    }

    #[test]
    fn errors_are_compared_over_the_tools_that_both_sides_have() {
        let mut story = Story::new();
        story.record(with_errors(tests(8, 0), &[("ruff", 3), ("mypy", 7)]));
        let verdict = story.record(with_errors(tests(8, 0), &[("ruff", 2), ("eslint", 9)]));
        assert_eq!(verdict.from_previous.unwrap().error_count, Some(-1));
        let mut story = Story::new();
        story.record(with_errors(tests(8, 0), &[("ruff", 3)]));
        let verdict = story.record(with_errors(tests(8, 0), &[("eslint", 9)]));
        assert_eq!(verdict.from_previous.unwrap().error_count, None);
    }
}
