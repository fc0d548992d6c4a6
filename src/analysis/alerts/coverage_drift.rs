//! Coverage leaks away in small steps.

use super::{AlertRule, beside};
use crate::analysis::comparison::Comparison;
use crate::model::units::{EPS, round_half_up};
use crate::model::verdict::{Alert, Severity};

/// What `coverage_regression` cannot see: no single step is large enough.
pub const RULE: AlertRule = AlertRule {
    name: "coverage_drift",
    about: "coverage leaked away in small steps",
    meaning: "Coverage lies more than 2 percentage points below the highest of the lineage, though no single step fell \
              that far. Raised once, until coverage has recovered.",
    formula: "coverage_percentage < highest of the ancestors − alerts.coverage_drift, and no step since that high fell by \
              more than classify.coverage_drop",
    source: "beyond the seeds",
    severity: Severity::Medium,
    reliability: 0.25,
    thresholds: &["alerts.coverage_drift", "classify.coverage_drop"],
    check,
};

fn check(comparison: &Comparison) -> Vec<Alert> {
    let Some(now) = comparison.metrics.coverage() else { return Vec::new() };
    let earlier: Vec<f64> = comparison.ancestors().filter_map(|point| point.metrics.coverage()).collect();
    let mut values: Vec<f64> = earlier.into_iter().rev().collect();
    let drop = comparison.config.classify.coverage_drop;
    let allowed = comparison.config.alerts.coverage_drift;
    let was_drifting = drift(&values, drop, allowed).is_some();
    values.push(now);
    match drift(&values, drop, allowed) {
        Some(high) if !was_drifting => {
            let message = format!("Coverage leaked {}% since its highest", round_half_up(high - now, 2));
            let mut alert = beside(RULE.alert(comparison, message), high, now);
            alert.threshold = Some((-allowed).into());
            vec![alert]
        }
        _ => Vec::new(),
    }
}

/// The highest value before the last, if the last lies too far below it and no step in between was a fall of its own.
fn drift(values: &[f64], drop: f64, allowed: f64) -> Option<f64> {
    let (now, earlier) = values.split_last()?;
    let high = earlier.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let at = earlier.iter().rposition(|value| *value >= high)?;
    let since = values.get(at..)?;
    let is_slow = since.iter().zip(since.iter().skip(1)).all(|(before, after)| after - before >= -drop - EPS);
    (high - now > allowed + EPS && is_slow).then_some(high)
}

#[cfg(test)]
mod tests {
    use crate::analysis::testing::{Story, rules, tests, with_coverage};

    fn fired(coverages: &[f64]) -> Vec<bool> {
        let mut story = Story::new();
        let verdicts: Vec<_> =
            coverages.iter().map(|value| story.record(with_coverage(tests(10, 0), *value))).collect();
        verdicts.iter().map(|verdict| rules(verdict).contains(&"coverage_drift")).collect()
    }

    #[test]
    fn a_slow_leak_fires_once_when_it_exceeds_two_points() {
        assert_eq!(fired(&[85.0, 84.0, 83.0]), [false, false, false]);
        assert_eq!(fired(&[85.0, 84.0, 82.9, 82.0]), [false, false, true, false]);
    }

    #[test]
    fn one_large_step_is_no_leak() {
        assert_eq!(fired(&[85.0, 80.0, 79.5]), [false, false, false]);
    }
}
