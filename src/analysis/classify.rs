//! The class of an iteration (ANALYSIS §3): a summary of the alerts, then of the differences.

use super::comparison::{Comparison, Pair};
use super::open::is_lost_tests;
use super::real;
use super::suite::Suite;
use crate::model::config::{Classify, RuleMode};
use crate::model::ids::Iteration;
use crate::model::metrics::Metrics;
use crate::model::units::EPS;
use crate::model::verdict::{Alert, Classification, Deltas, Severity, Status};

/// A class and what decided it.
#[derive(Clone, Debug, PartialEq)]
pub struct Class {
    /// Before the stall overlay; absent if there was too little to judge.
    pub base: Option<Classification>,
    /// `baseline`, `R1` to `R7` or rule names joined by commas, `material_gain`, `band`, `forward_conditions`,
    /// `fallback`, `quality_drop`, `insufficient_data`, `unmeasured`.
    pub rule: String,
    /// The severity of a regression that no alert stands for: errors that rose by a few (R4), a score that fell.
    pub silent: Option<Severity>,
}

impl Class {
    fn new(base: Option<Classification>, rule: impl Into<String>) -> Class {
        Class { base, rule: rule.into(), silent: None }
    }
}

/// Which alert stands for which rule of the classes. R4 has no alert below its threshold.
const REGRESSIONS: [(&str, &str); 8] = [
    ("test_count_decreased", "R1"),
    ("pass_rate_regression", "R2"),
    ("coverage_regression", "R3"),
    ("error_increase", "R4"),
    ("working_tests_failing", "R5"),
    ("build_broken", "R6"),
    ("metric_worse", "R7"),
    ("guard_worse", "R7"),
];

/// The class before the stall overlay; first match wins.
pub fn classify(comparison: &Comparison, alerts: &[Alert], deltas: Option<&Deltas>) -> Class {
    if comparison.iteration == Iteration::BASELINE {
        return Class::new(Some(Classification::Baseline), "baseline");
    }
    if comparison.suite == Suite::Unmeasured {
        return Class::new(None, "unmeasured");
    }
    if let Some(class) = regression(comparison, alerts) {
        return class;
    }
    let explains = |alert: &Alert| alert.rule == "pass_rate_regression" && alert.status == Status::Explained;
    let is_explained = alerts.iter().any(|alert| explains(alert) && !alert.observe_only);
    by_terms(&Terms::of(comparison, is_explained), comparison, deltas)
}

fn regression(comparison: &Comparison, alerts: &[Alert]) -> Option<Class> {
    let mut rules: Vec<&str> = alerts.iter().filter_map(regression_rule).collect();
    let errors_rose = comparison.errors().is_some_and(|pair| pair.now > pair.before)
        && comparison.config.mode("error_increase") == RuleMode::On;
    let silent = errors_rose && !rules.contains(&"R4");
    if silent {
        rules.push("R4");
    }
    if rules.is_empty() {
        return None;
    }
    rules.sort_unstable();
    rules.dedup();
    let class = Class::new(Some(Classification::Regression), rules.join(","));
    Some(Class { silent: silent.then_some(Severity::High), ..class })
}

/// The rule by which an alert makes a regression.
fn regression_rule(alert: &Alert) -> Option<&str> {
    let numbered = REGRESSIONS.iter().find(|(rule, _)| *rule == alert.rule).map(|(_, number)| *number);
    let counts = alert.counts() && alert.severity >= Severity::High;
    match numbered {
        // A metric of the user's own varies by itself, so it regresses only when that is confirmed.
        Some("R7") if alert.status != Status::Confirmed => None,
        Some(number) if counts => Some(number),
        None if is_lost_tests(alert) => Some(&alert.rule),
        _ => None,
    }
}

/// The differences that decide where nothing was lost; each absent if a side is.
struct Terms {
    tests: Option<Pair<u64>>,
    passed: Option<Pair<u64>>,
    pass_rate: Option<Pair<f64>>,
    pass_rate_now: Option<f64>,
    coverage: Option<Pair<f64>>,
    errors: Option<Pair<u64>>,
    custom_gain: Option<bool>,
}

impl Terms {
    /// `is_explained`: the pass rate fell, and only because of new tests.
    fn of(comparison: &Comparison, is_explained: bool) -> Terms {
        let mut custom = comparison.moves().iter().map(|(_, step)| step.is_gain()).peekable();
        let custom_gain = custom.peek().is_some().then(|| custom.any(|gained| gained));
        let terms = Terms {
            tests: comparison.pair(Metrics::test_count),
            passed: comparison.passed(),
            pass_rate: comparison.pass_rate(),
            pass_rate_now: comparison.pass_rate().map_or(comparison.metrics.pass_rate(), |pair| Some(pair.now)),
            coverage: comparison.pair(Metrics::coverage),
            errors: comparison.errors(),
            custom_gain,
        };
        if is_explained { terms.over_known_tests(comparison) } else { terms.with_skips(comparison) }
    }

    /// Turning failing tests into skips raises the pass rate of what ran, and must gain nothing, as in the score (V6).
    /// Tests that turned into skips, by the counters, stay in the total; new tests that are skipped do not matter. S002
    /// divides by all tests, so its own rate does not rise either.
    fn with_skips(mut self, comparison: &Comparison) -> Terms {
        let skipped = comparison.pair(|metrics| metrics.testing.as_ref()?.tests_skipped);
        let ran = comparison.metrics.tests_ran();
        let (Some(skipped), Some(tests), Some(ran), Some(passed)) = (skipped, self.tests, ran, self.passed) else {
            return self;
        };
        let added = tests.now.saturating_sub(tests.before);
        let turned = skipped.now.saturating_sub(skipped.before).saturating_sub(added);
        if turned > 0 {
            let rate = 100.0 * real(passed.now) / real(ran.saturating_add(turned));
            self.pass_rate_now = Some(rate);
            self.pass_rate = self.pass_rate.map(|pair| Pair { now: rate, ..pair });
        }
        self
    }

    /// Tests written before the code count only once they pass (ANALYSIS §4, `red_tests_added`).
    fn over_known_tests(mut self, comparison: &Comparison) -> Terms {
        let (Some(changes), Some(tests)) = (&comparison.tests, self.tests) else { return self };
        let rate = |tally: super::identity::Tally| {
            let ran = tally.passed + tally.failed;
            (ran > 0).then(|| 100.0 * real(tally.passed) / real(ran))
        };
        let (before, mut now, against) = (changes.before, changes.now, tests.against);
        let flakes = comparison.flakes().min(now.failed);
        now.passed += flakes;
        now.failed -= flakes;
        self.tests = Some(Pair { before: before.count(), now: now.count(), against });
        self.passed = Some(Pair { before: before.passed, now: now.passed, against });
        self.pass_rate_now = rate(now);
        self.pass_rate = rate(before).zip(rate(now)).map(|(before, now)| Pair { before, now, against });
        self
    }

    fn is_empty(&self) -> bool {
        self.tests.is_none()
            && self.pass_rate.is_none()
            && self.coverage.is_none()
            && self.errors.is_none()
            && self.custom_gain.is_none()
    }

    /// `ΔT ≥ 0 ∧ (ΔPR > 0 ∨ pass_rate ≥ 90) ∧ ΔC ≥ 0 ∧ ΔE ≤ 0`.
    fn is_forward(&self, config: &Classify) -> bool {
        let is_healthy = self.pass_rate_now.is_some_and(|rate| rate >= config.healthy_pass_rate - EPS);
        self.tests.is_none_or(|pair| pair.now >= pair.before)
            && (is_healthy || self.pass_rate.is_none_or(|pair| pair.change() > EPS))
            && self.coverage.is_none_or(|pair| pair.change() >= -EPS)
            && self.errors.is_none_or(|pair| pair.now <= pair.before)
    }

    /// `ΔT > 0 ∨ ΔP > 0 ∨ ΔE < 0 ∨ ΔPR > +2 ∨ ΔC > +2`, or a metric of the user's own gained.
    fn is_gain(&self, config: &Classify) -> bool {
        let rose = |pair: Option<Pair<u64>>| pair.is_some_and(|pair| pair.now > pair.before);
        let exceeds = |pair: Option<Pair<f64>>| pair.is_some_and(|pair| pair.change() > config.band + EPS);
        rose(self.tests)
            || rose(self.passed)
            || self.errors.is_some_and(|pair| pair.now < pair.before)
            || exceeds(self.pass_rate)
            || exceeds(self.coverage)
            || self.custom_gain == Some(true)
    }

    /// Every known difference lies inside the band: counts in percent of the value before, rates in points.
    fn is_in_band(&self, config: &Classify) -> bool {
        let small = |change: f64| change.abs() <= config.band + EPS;
        let percent = |pair: Pair<u64>| match (pair.before, pair.now) {
            (0, 0) => 0.0,
            (0, _) => f64::INFINITY,
            _ => 100.0 * pair.ratio().unwrap_or(0.0),
        };
        self.tests.is_none_or(|pair| small(percent(pair)))
            && self.errors.is_none_or(|pair| small(percent(pair)))
            && self.pass_rate.is_none_or(|pair| small(pair.change()))
            && self.coverage.is_none_or(|pair| small(pair.change()))
    }
}

/// Steps 3 to 6.
fn by_terms(terms: &Terms, comparison: &Comparison, deltas: Option<&Deltas>) -> Class {
    let config = &comparison.config.classify;
    if terms.is_empty() {
        return Class::new(None, "insufficient_data");
    }
    let is_forward = terms.is_forward(config);
    if is_forward && terms.is_gain(config) {
        return Class::new(Some(Classification::Forward), "material_gain");
    }
    if terms.is_in_band(config) {
        return Class::new(Some(Classification::Plateau), "band");
    }
    if is_forward {
        return Class::new(Some(Classification::Forward), "forward_conditions");
    }
    let change = deltas.and_then(|deltas| deltas.quality_score).unwrap_or(0.0);
    // The score is of what was measured, with the flakes failing: a fall may be theirs, and then decides nothing.
    let change = if comparison.flakes() > 0 { change.max(0.0) } else { change };
    by_score(change, config.score_step)
}

/// Step 6: nothing else decided.
fn by_score(change: f64, step: f64) -> Class {
    if change >= step - EPS {
        Class::new(Some(Classification::Forward), "fallback")
    } else if change <= -step + EPS {
        let class = Class::new(Some(Classification::Regression), "quality_drop");
        Class { silent: Some(Severity::Medium), ..class }
    } else {
        Class::new(Some(Classification::Plateau), "fallback")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::{Story, tests, with_coverage, with_errors};

    fn class(before: Metrics, now: Metrics) -> (Option<Classification>, String) {
        let mut story = Story::new();
        story.record(before);
        let verdict = story.record(now);
        (verdict.base_class, verdict.class_rule)
    }

    fn at(metrics: Metrics, coverage: f64) -> Metrics {
        with_errors(with_coverage(metrics, coverage), &[("ruff", 0)])
    }

    #[test]
    fn every_step_of_the_precedence_decides_something() {
        let ten = || at(tests(10, 0), 85.0);
        let cases = [
            (ten(), ten(), Some(Classification::Plateau), "band"),
            (ten(), at(tests(10, 0), 83.0), Some(Classification::Plateau), "band"),
            (ten(), at(tests(10, 0), 82.9), Some(Classification::Regression), "R3"),
            (ten(), at(tests(11, 0), 85.0), Some(Classification::Forward), "material_gain"),
            (ten(), at(tests(10, 0), 86.5), Some(Classification::Plateau), "band"),
            (ten(), at(tests(10, 0), 87.5), Some(Classification::Forward), "material_gain"),
            (ten(), at(tests(9, 0), 80.0), Some(Classification::Regression), "R1,R3,R5"),
            (ten(), with_errors(ten(), &[("ruff", 1)]), Some(Classification::Regression), "R4"),
            (Metrics::default(), Metrics::default(), None, "insufficient_data"),
            (ten(), Metrics::default(), None, "unmeasured"),
        ];
        for (before, now, expected, rule) in cases {
            assert_eq!(class(before, now), (expected, rule.to_owned()));
        }
    }

    #[test]
    fn errors_that_rose_by_a_few_do_not_count_where_their_rule_is_off() {
        let mut story = Story::new();
        story.config.rules.insert("error_increase".to_owned(), RuleMode::Off);
        story.record(with_errors(tests(10, 0), &[("ruff", 100)]));
        let verdict = story.record(with_errors(tests(10, 0), &[("ruff", 101)]));
        assert_eq!(verdict.base_class, Some(Classification::Plateau));
    }

    #[test]
    fn turning_failing_tests_into_skips_is_no_progress() {
        let skipping = |passed, failed, skipped| {
            let mut metrics = tests(passed, failed);
            let testing = metrics.testing.as_mut().unwrap();
            testing.tests_skipped = Some(skipped);
            testing.test_count = Some(passed + failed + skipped);
            metrics
        };
        assert_eq!(class(tests(8, 2), skipping(8, 0, 2)), (Some(Classification::Plateau), "band".to_owned()));
        let forward = (Some(Classification::Forward), "material_gain".to_owned());
        assert_eq!(class(tests(8, 2), skipping(10, 0, 0)), forward, "fixed");
        assert_eq!(class(tests(10, 0), skipping(10, 0, 2)), forward, "two new tests, skipped");
    }

    #[test]
    fn what_neither_gained_nor_stood_still_falls_back_on_the_score() {
        // More tests, all of them failing: not forward, outside the band, no rule.
        let (class_now, rule) = class(at(tests(50, 40), 85.0), at(tests(50, 42), 85.0));
        assert_eq!((class_now, rule.as_str()), (Some(Classification::Plateau), "fallback"));
        let config = crate::analysis::testing::config().classify;
        assert_eq!(by_score(0.02, config.score_step).base, Some(Classification::Forward));
        assert_eq!(by_score(-0.02, config.score_step).rule, "quality_drop");
        assert_eq!(by_score(0.019, config.score_step).base, Some(Classification::Plateau));
    }

    #[test]
    fn terms_that_are_missing_are_skipped() {
        let (class_now, _) = class(tests(10, 0), with_coverage(tests(10, 0), 10.0));
        assert_eq!(class_now, Some(Classification::Plateau));
    }
}
