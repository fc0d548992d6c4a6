//! Nothing was collected after a run that had tests.

use super::AlertRule;
use crate::analysis::comparison::{Comparison, suite_was_broken};
use crate::analysis::suite::Suite;
use crate::model::metrics::{BuildStatus, Metrics};
use crate::model::verdict::{Alert, Severity};

/// A broken import makes 73 tests 0: that is a broken suite, not deleted tests.
pub const RULE: AlertRule = AlertRule {
    name: "suite_not_run",
    about: "no test was collected, after a run that had some",
    meaning: "The suite does not load or compile, or none was found. The counts are unknown, not zero, so nothing is \
              called deleted. It stays open until tests are collected again.",
    formula: "no test collected now, and the previous run had some; not raised again while that lasts",
    source: "beyond the seeds (a real loop read 73, 0, 73 because an import broke)",
    severity: Severity::Critical,
    reliability: 0.90,
    thresholds: &[],
    check,
};

fn check(comparison: &Comparison) -> Vec<Alert> {
    if comparison.suite != Suite::NotRun || suite_was_broken(comparison) {
        return Vec::new();
    }
    let before = comparison.previous(|metrics| metrics.test_count().is_some()).and_then(|p| p.metrics.test_count());
    let testing = comparison.metrics.testing.as_ref();
    let units = testing.map_or(0, |testing| testing.collection_errors);
    let unloaded = match units {
        0 if comparison.metrics.build_status() == Some(BuildStatus::Failed) => " (the build failed)".to_owned(),
        0 => String::new(),
        1 => " (1 unit failed to load)".to_owned(),
        _ => format!(" ({units} units failed to load)"),
    };
    let mut alert = RULE.alert(comparison, format!("No test was collected{unloaded}"));
    alert.previous = before.map(Into::into);
    alert.evidence = unit_names(comparison.metrics);
    vec![alert]
}

/// One line for each unit that did not load.
pub fn unit_names(metrics: &Metrics) -> Vec<String> {
    let units = metrics.testing.as_ref().map_or(&[][..], |testing| &testing.failed_units);
    units.iter().map(|unit| format!("did not load: {unit}")).collect()
}

#[cfg(test)]
mod tests {
    use crate::analysis::testing::{Story, broken_units, rules, tests};

    #[test]
    fn nothing_collected_fires_once_and_one_test_collected_does_not() {
        let mut story = Story::new();
        story.record(tests(73, 0));
        let verdict = story.record(broken_units(tests(0, 0), &["t.a"]));
        assert_eq!(rules(&verdict), ["suite_not_run"]);
        assert_eq!(verdict.metrics.test_count(), None);
        assert_eq!(verdict.alerts[0].evidence, ["did not load: t.a"]);
        assert_eq!(verdict.alerts[0].message, "No test was collected (1 unit failed to load)");
        let verdict = story.record(broken_units(tests(0, 0), &["t.a"]));
        assert!(rules(&verdict).is_empty(), "it is open already");
        assert_eq!(verdict.open_findings.len(), 1);
        let verdict = story.record(tests(1, 0));
        assert!(!rules(&verdict).contains(&"suite_not_run"));
    }

    #[test]
    fn units_that_failed_to_load_are_told_only_where_there_are_some() {
        let mut story = Story::new();
        story.record(tests(3, 0));
        let verdict = story.record(tests(0, 0));
        let alert = verdict.alerts.iter().find(|alert| alert.rule == "suite_not_run").unwrap();
        assert_eq!(alert.message, "No test was collected");
    }
}
