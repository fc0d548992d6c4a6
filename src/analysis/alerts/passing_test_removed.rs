//! A passing test is gone.

use super::{AlertRule, by_test};
use crate::analysis::comparison::Comparison;
use crate::model::verdict::{Alert, Severity, Status};

/// Only names show it where as many tests were added.
pub const RULE: AlertRule = AlertRule {
    name: "passing_test_removed",
    about: "a test that passed is gone",
    meaning: "What the test guarded is no longer guarded. It stays open until the test is back and passes. Where as many \
              tests came to the same file it may only have another name: then it is a suspicion and moves no class.",
    formula: "a test that passed before is gone, and no new test can be it under another name",
    source: "beyond the seeds (test identities)",
    severity: Severity::Critical,
    reliability: 0.75,
    thresholds: &[],
    check,
};

fn check(comparison: &Comparison) -> Vec<Alert> {
    let Some(tests) = &comparison.tests else { return Vec::new() };
    let balances = tests.balances();
    let (rewritten, lost): (Vec<&String>, Vec<&String>) =
        tests.removed_passing.iter().partition(|id| balances.may_be_rewritten(id));
    let mut alerts = by_test(&lost, |id| id, |id| gone(comparison, id, false));
    alerts.extend(by_test(&rewritten, |id| id, |id| gone(comparison, id, true)));
    alerts
}

fn gone(comparison: &Comparison, id: &str, may_be_rewritten: bool) -> Alert {
    let mut alert = RULE.alert(comparison, format!("Passing test removed: {id}"));
    alert.subject = Some(id.to_owned());
    // Names alone miss honest renames (one real rename shares a third of its words), and a body may be edited with it.
    if may_be_rewritten {
        alert.seed_severity = Some(alert.severity);
        alert.severity = Severity::Medium;
        alert.reliability = 0.25;
        alert.status = Status::Suspected;
        alert.evidence = vec!["as many tests came to the same place: it may have another name now".to_owned()];
    } else {
        alert.evidence = vec!["passed before, and no new test is like it".to_owned()];
    }
    alert
}

#[cfg(test)]
mod tests {
    use crate::analysis::testing::{Story, cases, rules, tests};
    use crate::model::verdict::{Classification, Severity};

    #[test]
    fn one_deleted_fires_though_another_file_gained_one() {
        let mut story = Story::new();
        story.record_named(tests(2, 0), cases(&["a::test_x P", "a::test_y P"]));
        let verdict = story.record_named(tests(2, 0), cases(&["a::test_x P", "b::test_other P"]));
        assert_eq!(rules(&verdict), ["passing_test_removed"]);
        assert_eq!(verdict.alerts[0].severity, Severity::Critical);
        assert_eq!(verdict.classification, Some(Classification::Regression));
    }

    #[test]
    fn v14_a_rename_with_the_same_body_is_no_loss_whatever_the_names_say() {
        let (old, new) =
            ("t::test_parsing_pre_and_build_metadata_see_issue_217", "t::test_leading_digit_in_pre_and_build");
        let mut story = Story::new();
        story.record_named(tests(1, 0), cases(&[format!("{old} P")]));
        story.same_body(old, new);
        let verdict = story.record_named(tests(1, 0), cases(&[format!("{new} P")]));
        assert!(rules(&verdict).is_empty());
        assert_eq!(verdict.metrics.test_count(), Some(1));
        let renamed = verdict.from_previous.unwrap().tests.unwrap().renamed;
        assert_eq!((renamed[0].from.as_str(), renamed[0].to.as_str()), (old, new));
    }

    #[test]
    fn one_rewritten_under_another_name_is_only_a_suspicion() {
        let mut story = Story::new();
        story.record_named(tests(2, 0), cases(&["a::test_x P", "a::test_y P"]));
        let verdict = story.record_named(tests(2, 0), cases(&["a::test_x P", "a::reads_lines P"]));
        assert_eq!(verdict.alerts[0].severity, Severity::Medium);
        assert_eq!(verdict.classification, Some(Classification::Plateau));
        assert!(verdict.open_findings.is_empty());
    }
}
