//! A failing test is gone.

use super::{AlertRule, by_test};
use crate::analysis::comparison::Comparison;
use crate::model::verdict::{Alert, Severity};

/// Deleting a failing test and adding a trivial one keeps every counter: only names show it.
pub const RULE: AlertRule = AlertRule {
    name: "failing_test_removed",
    about: "a test that failed is gone",
    meaning: "The test was deleted instead of made to pass. It stays open until the test is back.",
    formula: "a test that failed or errored before is gone, and no new test can be it under another name",
    source: "beyond the seeds (test identities)",
    severity: Severity::Critical,
    reliability: 0.75,
    thresholds: &[],
    check,
};

fn check(comparison: &Comparison) -> Vec<Alert> {
    let Some(tests) = &comparison.tests else { return Vec::new() };
    let gone = |id: &String| Alert {
        subject: Some(id.clone()),
        evidence: vec!["failed before, and no new test is like it".to_owned()],
        ..RULE.alert(comparison, format!("Failing test removed: {id}"))
    };
    by_test(&tests.removed_failing, String::as_str, gone)
}

#[cfg(test)]
mod tests {
    use crate::analysis::testing::{Story, cases, rules, tests};

    #[test]
    fn one_deleted_and_a_trivial_one_added_fires_and_a_renamed_one_does_not() {
        let mut story = Story::new();
        story.record_named(tests(1, 1), cases(&["a::test_x P", "a::test_y F"]));
        let verdict = story.record_named(tests(2, 0), cases(&["a::test_x P", "a::test_nothing P"]));
        assert_eq!(rules(&verdict), ["failing_test_removed"]);
        assert_eq!(verdict.open_findings.len(), 1);
        let verdict = story.record_named(tests(3, 0), cases(&["a::test_x P", "a::test_nothing P", "a::test_y P"]));
        assert!(verdict.open_findings.is_empty(), "the test is back");

        let mut story = Story::new();
        story.record_named(tests(1, 1), cases(&["a::test_x P", "a::test_y F"]));
        assert!(rules(&story.record_named(tests(2, 0), cases(&["a::test_x P", "b::test_y P"]))).is_empty());
    }

    #[test]
    fn of_many_none_is_forgotten() {
        let numbered = |range: std::ops::Range<u32>, outcome: &str| -> Vec<String> {
            range.map(|n| format!("a::case{n:02} {outcome}")).collect()
        };
        let mut story = Story::new();
        story.record_named(tests(0, 25), cases(&numbered(0..25, "F")));
        let trivial: Vec<String> = (0..25).map(|n| format!("b::nothing{n:02} P")).collect();
        let verdict = story.record_named(tests(25, 0), cases(&trivial));
        assert_eq!(rules(&verdict), ["failing_test_removed"; 21]);
        let last = &verdict.alerts[20];
        assert_eq!(last.message, "Failing test removed: a::case20 and 4 more");
        assert_eq!(last.others, ["a::case21", "a::case22", "a::case23", "a::case24"]);
        let back = |count: u32| cases(&[trivial.clone(), numbered(0..count, "F")].concat());
        let verdict = story.record_named(tests(25, 24), back(24));
        assert_eq!(verdict.open_findings.len(), 1, "one is still gone");
        assert_eq!(verdict.open_findings[0].closes_when, "a::case20 and 4 more are back");
        assert!(story.record_named(tests(25, 25), back(25)).open_findings.is_empty());
    }
}
