//! The quality score (ANALYSIS §2): five dimensions, each the mean of the components that could be computed.

use std::collections::BTreeMap;

use super::real;
use crate::model::config::Quality;
use crate::model::metrics::{BuildStatus, Metrics, TestMetrics};
use crate::model::trajectory::{Point, PointScore};
use crate::model::units::{EPS, Score};
use crate::model::verdict::{COMPONENTS, Dimension, DimensionScore, QualityScore};

/// The score of `metrics` beside the loop's baseline (for iteration 0: itself). `None` if no component is known.
pub fn score(metrics: &Metrics, baseline: &Metrics, config: &Quality) -> Option<QualityScore> {
    let dimensions: Vec<DimensionScore> = Dimension::ALL
        .into_iter()
        .map(|dimension| {
            let mut components = components(dimension, metrics, baseline);
            components.values_mut().for_each(|value| *value = value.min(config.cap).clamp(0.0, 100.0));
            DimensionScore {
                dimension,
                score: mean(components.values().copied()),
                weight: config.weights.of(dimension),
                contribution: 0.0,
                components,
            }
        })
        .collect();
    total(dimensions, config)
}

fn total(mut dimensions: Vec<DimensionScore>, config: &Quality) -> Option<QualityScore> {
    let known = |dimension: Dimension| dimensions.iter().any(|d| d.dimension == dimension && d.score.is_some());
    let is_blind = !known(Dimension::Validation) && !known(Dimension::Correctness);
    let weight_available: f64 = dimensions.iter().filter(|d| d.score.is_some()).map(|d| d.weight).sum();
    if weight_available <= 0.0 {
        return None;
    }
    for dimension in &mut dimensions {
        dimension.contribution =
            dimension.score.map_or(0.0, |score| dimension.weight * score / weight_available / 100.0);
    }
    let total = Score::new(dimensions.iter().map(|d| d.contribution).sum())?;
    let partial = weight_available < config.min_weight - EPS || is_blind;
    Some(QualityScore { total, weight_available: weight_available.min(1.0), partial, dimensions })
}

/// A score and the metrics that it was made from.
#[derive(Clone, Copy)]
pub struct Scored<'a> {
    score: PointScore,
    metrics: &'a Metrics,
}

impl<'a> Scored<'a> {
    /// A score and the metrics that it was made from.
    pub fn new(score: PointScore, metrics: &'a Metrics) -> Scored<'a> {
        Scored { score, metrics }
    }

    /// The score of an earlier iteration; `None` if it has none.
    pub fn of(point: &'a Point) -> Option<Scored<'a>> {
        Some(Scored { score: point.quality_score?, metrics: &point.metrics })
    }

    /// The tools that reported findings, by name.
    fn tools(self) -> impl Iterator<Item = &'a String> {
        self.metrics.quality.iter().flat_map(|quality| quality.errors_by_tool.keys())
    }

    /// The total over the components that `other` has too, 0–1.
    fn restricted(self, other: Scored, with_findings: bool) -> Option<f64> {
        let mut weighted = 0.0;
        let mut weight = 0.0;
        for (dimension, its_weight) in Dimension::ALL.into_iter().zip(self.score.weights) {
            let sides = self.score.components.iter().zip(&other.score.components).zip(&COMPONENTS);
            let common = sides.filter_map(|((mine, theirs), (of, name))| {
                let is_compared = *of == dimension && theirs.is_some() && (with_findings || !FINDINGS.contains(name));
                mine.filter(|_| is_compared)
            });
            if let Some(mean) = mean(common) {
                weighted += its_weight * mean;
                weight += its_weight;
            }
        }
        (weight > 0.0).then(|| weighted / weight / 100.0)
    }
}

/// Components that count findings.
const FINDINGS: [&str; 3] = ["no_lint_errors", "error_count_inverted", "lint_warnings_inverted"];

/// Two scores over the components that both have: like is compared with like, so that dropping a bad metric gains
/// nothing. Findings are left out where other tools reported them: a linter that is no longer run did not get better, and
/// one that is new did not make the code worse. `None` if the scores have nothing in common.
pub fn over_common(left: Scored, right: Scored) -> Option<(f64, f64)> {
    let same_tools = left.tools().eq(right.tools());
    let known = |side: Scored| side.score.components.map(|component| component.is_some());
    if same_tools && known(left) == known(right) {
        return Some((left.score.total.get(), right.score.total.get()));
    }
    Some((left.restricted(right, same_tools)?, right.restricted(left, same_tools)?))
}

fn components(dimension: Dimension, metrics: &Metrics, baseline: &Metrics) -> BTreeMap<String, f64> {
    let named: Vec<(&str, Option<f64>)> = match dimension {
        Dimension::Validation => vec![
            ("all_tests_pass", passing(metrics, baseline)),
            ("build_success", metrics.build_status().map(|status| f64::from(status == BuildStatus::Success) * 100.0)),
            ("no_lint_errors", metrics.lint_errors().map(|errors| less(5.0, real(errors)))),
        ],
        Dimension::Completeness => vec![
            ("coverage_percentage", metrics.coverage()),
            ("test_count_vs_baseline", test_count_vs_baseline(metrics, baseline)),
        ],
        Dimension::Correctness => vec![
            ("pass_rate", passing(metrics, baseline)),
            ("error_count_inverted", metrics.error_count().map(|errors| less(2.0, real(errors)))),
        ],
        Dimension::Readability => vec![
            ("lint_warnings_inverted", metrics.lint_warnings().map(|warnings| less(3.0, real(warnings)))),
            ("complexity_reasonable", metrics.complexity().map(|complexity| less(5.0, complexity))),
        ],
        Dimension::Efficiency => {
            let growth = growth(metrics, baseline);
            vec![("loc_appropriate", growth.map(loc_appropriate)), ("no_code_bloat", growth.map(no_code_bloat))]
        }
    };
    named.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// `100 − factor·amount`, not below 0.
fn less(factor: f64, amount: f64) -> f64 {
    (100.0 - factor * amount).max(0.0)
}

/// `100·passed/effective_total`; 0 if nothing ran although there is a report.
pub(super) fn passing(metrics: &Metrics, baseline: &Metrics) -> Option<f64> {
    let testing = metrics.testing.as_ref()?;
    let passed = testing.tests_passed?;
    let total = effective_total(testing, baseline)?;
    Some(if total == 0 { 0.0 } else { 100.0 * real(passed) / real(total) })
}

/// Tests that ran, and tests skipped beyond those that the baseline skipped: turning a failing test into a skip gains
/// nothing. By counters, because the ledger of the baseline is not at hand when a record is judged again.
fn effective_total(testing: &TestMetrics, baseline: &Metrics) -> Option<u64> {
    let skipped_before = baseline.testing.as_ref().and_then(|testing| testing.tests_skipped);
    let newly_skipped = match (testing.tests_skipped, skipped_before) {
        (Some(now), Some(before)) => now.saturating_sub(before),
        _ => 0,
    };
    testing.ran()?.checked_add(newly_skipped)
}

fn test_count_vs_baseline(metrics: &Metrics, baseline: &Metrics) -> Option<f64> {
    match (metrics.test_count()?, baseline.test_count()?) {
        (0, 0) => None,
        (_, 0) => Some(100.0),
        (now, before) => Some(100.0 * real(now) / real(before)),
    }
}

/// Relative growth of the lines against the baseline; 0.5 is +50 %.
fn growth(metrics: &Metrics, baseline: &Metrics) -> Option<f64> {
    let base = real(baseline.loc_total().filter(|lines| *lines > 0)?);
    Some((real(metrics.loc_total()?) - base) / base)
}

/// 100 up to ±20 %, then falling to 0 at ±100 %.
fn loc_appropriate(growth: f64) -> f64 {
    let excess = growth.abs() - 0.20;
    if excess <= EPS { 100.0 } else { (100.0 - 100.0 * excess / 0.80).max(0.0) }
}

fn no_code_bloat(growth: f64) -> f64 {
    if growth > 0.50 + EPS { 50.0 } else { 100.0 }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0u32);
    for value in values {
        sum += value;
        count += 1;
    }
    (count > 0).then(|| sum / f64::from(count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::{config, tests};
    use crate::model::metrics::CodebaseMetrics;
    use crate::model::units::Percent;

    fn total_of(metrics: &Metrics, baseline: &Metrics) -> f64 {
        score(metrics, baseline, &config().quality).unwrap().total.get()
    }

    #[test]
    fn skipping_a_failing_test_gains_nothing() {
        let baseline = tests(8, 0);
        let failing = tests(8, 2);
        let mut skipping = tests(8, 0);
        let testing = skipping.testing.as_mut().unwrap();
        testing.tests_skipped = Some(2);
        testing.test_count = Some(10);
        testing.pass_rate = Percent::new(100.0);
        assert!((total_of(&failing, &baseline) - 0.8625).abs() < 1e-12);
        assert_eq!(total_of(&failing, &baseline), total_of(&skipping, &baseline));
    }

    #[test]
    fn nothing_measured_is_no_score_and_little_is_partial() {
        assert_eq!(score(&Metrics::default(), &Metrics::default(), &config().quality), None);
        let size = Metrics {
            codebase: Some(CodebaseMetrics { loc_total: Some(10), ..CodebaseMetrics::default() }),
            ..Metrics::default()
        };
        let score = score(&size, &size, &config().quality).unwrap();
        assert!(score.partial);
        assert!((score.weight_available - 0.1).abs() < 1e-12);
    }

    #[test]
    fn without_tests_build_and_lint_a_score_is_partial_whatever_the_weights_ask() {
        let mut config = config().quality;
        config.min_weight = 0.1;
        let metrics = crate::analysis::testing::with_coverage(Metrics::default(), 90.0);
        assert!(score(&metrics, &metrics, &config).unwrap().partial);
        assert!(!score(&tests(1, 0), &tests(1, 0), &config).unwrap().partial);
    }

    #[test]
    fn three_times_the_tests_count_no_more_than_as_many() {
        let (many, same) = (tests(24, 0), tests(8, 0));
        assert_eq!(total_of(&many, &same), total_of(&same, &same));
    }

    #[test]
    fn a_suite_that_ran_nothing_passes_nothing() {
        assert_eq!(passing(&tests(0, 0), &tests(0, 0)), Some(0.0));
        assert_eq!(test_count_vs_baseline(&tests(0, 0), &tests(0, 0)), None);
        assert_eq!(test_count_vs_baseline(&tests(3, 0), &tests(0, 0)), Some(100.0));
    }
}
