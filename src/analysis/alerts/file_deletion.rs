//! Fewer files than before.

use super::{AlertRule, beside};
use crate::analysis::comparison::Comparison;
use crate::model::metrics::Metrics;
use crate::model::verdict::{Alert, Severity};

/// For review: deleting a file is often right.
pub const RULE: AlertRule = AlertRule {
    name: "file_deletion",
    about: "there are fewer files than before",
    meaning: "Files were deleted or merged. Worth a look.",
    formula: "file_count < previous",
    source: "S002",
    severity: Severity::Medium,
    reliability: 0.25,
    thresholds: &[],
    check,
};

fn check(comparison: &Comparison) -> Vec<Alert> {
    match comparison.pair(Metrics::file_count) {
        Some(pair) if pair.now < pair.before => {
            let alert = RULE.alert(comparison, "File count decreased (potential code deletion)");
            vec![beside(alert, pair.before, pair.now)]
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use crate::analysis::testing::{Story, rules, tests, with_files};

    #[test]
    fn one_file_fewer_fires_and_as_many_do_not() {
        let mut story = Story::new();
        story.record(with_files(tests(8, 0), 20));
        assert!(rules(&story.record(with_files(tests(8, 0), 20))).is_empty());
        assert_eq!(rules(&story.record(with_files(tests(8, 0), 19))), ["file_deletion"]);
    }
}
