//! The build worked and fails now.

use super::AlertRule;
use crate::analysis::comparison::Comparison;
use crate::model::metrics::{BuildStatus, Metrics};
use crate::model::verdict::{Alert, Severity};

/// R6 of the classes.
pub const RULE: AlertRule = AlertRule {
    name: "build_broken",
    about: "the build worked before and fails now",
    meaning: "A compiler reported errors, or a unit did not build. An iteration whose build failed is never acceptable \
              and never the best.",
    formula: "build_status: success before, failed now",
    source: "beyond the seeds (the mean alone lets a broken build score 0.85)",
    severity: Severity::Critical,
    reliability: 0.90,
    thresholds: &[],
    check,
};

fn check(comparison: &Comparison) -> Vec<Alert> {
    match comparison.pair(Metrics::build_status) {
        Some(pair) if pair.before == BuildStatus::Success && pair.now == BuildStatus::Failed => {
            vec![RULE.alert(comparison, "The build worked before and fails now")]
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use crate::analysis::testing::{Story, rules, tests, with_build};

    #[test]
    fn the_step_from_success_to_failure_fires_and_failing_still_does_not() {
        let mut story = Story::new();
        story.record(with_build(tests(8, 0), true));
        assert!(rules(&story.record(with_build(tests(8, 0), true))).is_empty());
        assert_eq!(rules(&story.record(with_build(tests(8, 0), false))), ["build_broken"]);
        assert!(rules(&story.record(with_build(tests(8, 0), false))).is_empty());
    }
}
