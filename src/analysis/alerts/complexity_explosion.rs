//! The mean complexity grew by half.

use super::{AlertRule, beside};
use crate::analysis::comparison::Comparison;
use crate::model::metrics::Metrics;
use crate::model::units::{EPS, round_half_up};
use crate::model::verdict::{Alert, Severity};

/// Relative to the value before.
pub const RULE: AlertRule = AlertRule {
    name: "complexity_explosion",
    about: "the mean complexity grew by more than half",
    meaning: "Functions became much more complex in one step.",
    formula: "(complexity_score − previous)/previous > alerts.complexity_increase; not judged if it was 0",
    source: "S002",
    severity: Severity::Medium,
    reliability: 0.25,
    thresholds: &["alerts.complexity_increase"],
    check,
};

fn check(comparison: &Comparison) -> Vec<Alert> {
    let allowed = comparison.config.alerts.complexity_increase;
    match comparison.pair(Metrics::complexity) {
        Some(pair) if pair.before > 0.0 && pair.change() / pair.before > allowed + EPS => {
            let message = format!("Complexity increased >{}%", round_half_up(allowed * 100.0, 0));
            let mut alert = beside(RULE.alert(comparison, message), pair.before, pair.now);
            alert.threshold = Some(allowed.into());
            vec![alert]
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use crate::analysis::testing::{Story, rules, tests, with_complexity};

    #[test]
    fn more_than_half_fires_and_half_does_not() {
        for (before, now, fires) in [(4.0, 6.0, false), (4.0, 6.1, true), (0.0, 9.0, false)] {
            let mut story = Story::new();
            story.record(with_complexity(tests(8, 0), before));
            let verdict = story.record(with_complexity(tests(8, 0), now));
            assert_eq!(rules(&verdict) == ["complexity_explosion"], fires, "{before} to {now}");
        }
    }
}
