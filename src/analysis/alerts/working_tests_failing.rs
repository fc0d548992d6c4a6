//! Tests that passed before do not pass now.

use super::{AlertRule, beside};
use crate::analysis::comparison::Comparison;
use crate::analysis::identity::NAMES_SHOWN;
use crate::model::metrics::Metrics;
use crate::model::verdict::{Alert, Severity, Status};

/// S002's second alert, R5 of the classes. S002's example calls it HIGH, its table CRITICAL: the table holds.
pub const RULE: AlertRule = AlertRule {
    name: "working_tests_failing",
    about: "tests that passed before do not pass now",
    meaning: "Something that worked is broken, or a passing test is gone. The loss stays open along the lineage until as \
              many tests as ever pass again.",
    formula: "tests_passed < previous; where tests are named, also each test that passed and now fails, though the \
              count held",
    source: "S002; by name: beyond the seeds",
    severity: Severity::Critical,
    reliability: 0.60,
    thresholds: &[],
    check,
};

const MESSAGE: &str = "Previously passing tests now failing";

fn check(comparison: &Comparison) -> Vec<Alert> {
    let Some(pair) = comparison.pair(Metrics::tests_passed) else { return Vec::new() };
    let broken: &[String] = comparison.tests.as_ref().map_or(&[], |tests| &tests.newly_failing);
    if pair.now >= pair.before {
        return broken.iter().take(NAMES_SHOWN).map(|id| by_name(comparison, id)).collect();
    }
    let lost_outside = comparison
        .tests
        .as_ref()
        .is_none_or(|tests| !tests.newly_failing.is_empty() || !tests.removed_passing.is_empty());
    if comparison.failed_units() > 0 && !lost_outside {
        return Vec::new();
    }
    let mut alert = beside(RULE.alert(comparison, MESSAGE), pair.before, pair.now);
    alert.evidence = broken.iter().take(NAMES_SHOWN).map(|id| format!("broken: {id}")).collect();
    vec![alert]
}

/// The count held because another test was fixed or added. Without reruns a single failure may be a flake.
fn by_name(comparison: &Comparison, id: &str) -> Alert {
    let mut alert = RULE.alert(comparison, MESSAGE);
    alert.subject = Some(id.to_owned());
    alert.status = Status::Suspected;
    alert.evidence = vec!["passed before; as many tests pass now, but not this one".to_owned()];
    alert
}

#[cfg(test)]
mod tests {
    use crate::analysis::testing::{Story, cases, rules, tests};
    use crate::model::verdict::Status;

    #[test]
    fn one_pass_fewer_fires_and_as_many_do_not() {
        let mut story = Story::new();
        story.record(tests(40, 0));
        assert!(rules(&story.record(tests(40, 1))).is_empty());
        assert_eq!(rules(&story.record(tests(39, 2))), ["working_tests_failing"]);
    }

    #[test]
    fn a_named_test_that_broke_fires_though_another_was_fixed() {
        let mut story = Story::new();
        story.record_named(tests(1, 1), cases(&["a::x P", "a::y F"]));
        let verdict = story.record_named(tests(1, 1), cases(&["a::x F", "a::y P"]));
        assert_eq!(rules(&verdict), ["working_tests_failing"]);
        assert_eq!(verdict.alerts[0].subject.as_deref(), Some("a::x"));
        assert_eq!(verdict.alerts[0].status, Status::Suspected);
        let verdict = story.record_named(tests(1, 1), cases(&["a::x F", "a::y P"]));
        assert!(rules(&verdict).is_empty(), "still broken is not broken again");
        assert_eq!(verdict.open_findings.len(), 1);
        let verdict = story.record_named(tests(2, 0), cases(&["a::x P", "a::y P"]));
        assert!(verdict.open_findings.is_empty());
    }
}
