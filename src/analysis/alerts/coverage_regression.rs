//! Coverage fell in one step.

use super::{AlertRule, beside};
use crate::analysis::comparison::Comparison;
use crate::model::metrics::Metrics;
use crate::model::units::{EPS, round_half_up};
use crate::model::verdict::{Alert, Severity};

/// R3 of the classes.
pub const RULE: AlertRule = AlertRule {
    name: "coverage_regression",
    about: "coverage fell by more than 2 percentage points",
    meaning: "New code came without tests, or tests of old code are gone.",
    formula: "coverage_percentage − previous < −classify.coverage_drop; exactly the drop does not fire",
    source: "S002",
    severity: Severity::High,
    reliability: 0.50,
    thresholds: &["classify.coverage_drop"],
    check,
};

fn check(comparison: &Comparison) -> Vec<Alert> {
    let drop = comparison.config.classify.coverage_drop;
    let Some(pair) = comparison.pair(Metrics::coverage).filter(|pair| pair.change() < -drop - EPS) else {
        return Vec::new();
    };
    let message = format!("Coverage dropped {}%", round_half_up(-pair.change(), 2));
    let mut alert = beside(RULE.alert(comparison, message), pair.before, pair.now);
    alert.threshold = Some((-drop).into());
    vec![alert]
}

#[cfg(test)]
mod tests {
    use crate::analysis::testing::{Story, rules, tests, with_coverage};

    #[test]
    fn more_than_two_points_fire_and_two_do_not() {
        for (now, fires) in [(83.0, false), (82.9, true)] {
            let mut story = Story::new();
            story.record(with_coverage(tests(10, 0), 85.0));
            let verdict = story.record(with_coverage(tests(10, 0), now));
            assert_eq!(rules(&verdict) == ["coverage_regression"], fires, "{now}");
        }
    }
}
