//! More errors than before, by more than a few.

use super::{AlertRule, beside};
use crate::analysis::comparison::Comparison;
use crate::model::verdict::{Alert, Severity};

/// A smaller rise is a regression too (R4), without an alert.
pub const RULE: AlertRule = AlertRule {
    name: "error_increase",
    about: "there are over 5 errors more than before",
    meaning: "Linters, type checkers or compilers report more errors, compared over the tools that reported both times. A \
              smaller rise makes the iteration a regression without this alert.",
    formula: "error_count > previous + alerts.error_increase",
    source: "S002",
    severity: Severity::High,
    reliability: 0.50,
    thresholds: &["alerts.error_increase"],
    check,
};

fn check(comparison: &Comparison) -> Vec<Alert> {
    let allowed = comparison.config.alerts.error_increase;
    match comparison.errors() {
        Some(pair) if pair.now > pair.before.saturating_add(allowed) => {
            let message = format!("Error count increased by {}", pair.change());
            let mut alert = beside(RULE.alert(comparison, message), pair.before, pair.now);
            alert.threshold = Some(allowed.into());
            vec![alert]
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use crate::analysis::testing::{Story, rules, tests, with_errors};
    use crate::model::verdict::Classification;

    #[test]
    fn six_errors_more_fire_and_five_are_only_a_regression() {
        for (now, fires) in [(15, false), (16, true)] {
            let mut story = Story::new();
            story.record(with_errors(tests(10, 0), &[("ruff", 10)]));
            let verdict = story.record(with_errors(tests(10, 0), &[("ruff", now)]));
            assert_eq!(rules(&verdict) == ["error_increase"], fires, "{now}");
            assert_eq!(verdict.classification, Some(Classification::Regression));
            assert_eq!(verdict.class_rule, "R4");
        }
    }
}
