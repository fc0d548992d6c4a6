//! A failing test is gone.

use super::{AlertRule, by_test};
use crate::analysis::comparison::Comparison;
use crate::model::verdict::{Alert, Severity};

/// Deleting a failing test and adding a trivial one keeps every counter: only names show it.
pub const RULE: AlertRule = AlertRule {
    name: "failing_test_removed",
    about: "a test that failed is gone",
    meaning: "The test was deleted instead of made to pass. It stays open until the test is back.",
    formula: "a test that failed or errored before is gone, and no new test can be it under another name; where reports name \
              none but the tests that fail, its source is gone from the snapshot",
    source: "beyond the seeds (test identities)",
    severity: Severity::Critical,
    reliability: 0.75,
    thresholds: &[],
    check,
};

fn check(comparison: &Comparison) -> Vec<Alert> {
    let evidence = if comparison.tests.is_some() {
        "failed before, and no new test is like it"
    } else {
        "failed before, and its source is gone"
    };
    let gone = |id: &&str| Alert {
        subject: Some((*id).to_owned()),
        evidence: vec![evidence.to_owned()],
        ..RULE.alert(comparison, format!("Failing test removed: {id}"))
    };
    by_test(&comparison.removed_failing(), |id| *id, gone)
}

#[cfg(test)]
mod tests {
    use crate::analysis::testing::{Story, broken_units, cases, rules, tests};
    use crate::model::metrics::Metrics;
    use crate::model::verdict::Action;

    /// Of which only the tests that fail have names.
    fn named(passed: u64, failed: u64, failing: &[&str]) -> Metrics {
        let mut metrics = tests(passed, failed);
        if let Some(testing) = &mut metrics.testing {
            testing.failing = failing.iter().map(|id| (*id).to_owned()).collect();
        }
        metrics
    }

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
    fn where_only_those_that_fail_are_named_its_source_tells_and_closes_it() {
        let mut story = Story::new();
        story.record(named(4, 2, &["a::x", "a::y"]));
        story.lose_source("a::y");
        let verdict = story.record(named(5, 1, &["a::x"]));
        assert_eq!(rules(&verdict), ["failing_test_removed"]);
        assert_eq!(verdict.recommendation.action, Action::Rollback);
        // Told once; open while it is not back, though nothing is known of the tests in between.
        story.lose_source("a::y");
        let verdict = story.record(named(6, 0, &[]));
        assert_eq!((rules(&verdict), verdict.open_findings.len()), (vec![], 1));
        assert_eq!(
            story.record(broken_units(tests(0, 0), &["a"])).open_findings.first().map(|open| open.alert.rule.as_str()),
            Some("failing_test_removed")
        );
        assert!(story.record(named(7, 0, &[])).open_findings.is_empty());
    }

    #[test]
    fn one_that_fails_under_another_name_is_the_same() {
        for (is_same, expected) in [(true, &[][..]), (false, &["working_tests_failing"])] {
            let mut story = Story::new();
            story.record(named(4, 1, &["a::x"]));
            if is_same {
                story.same_body("a::x", "a::z");
            }
            assert_eq!(rules(&story.record(named(4, 1, &["a::z"]))), expected);
        }
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
