//! Fewer tests than before.

use super::{AlertRule, beside};
use crate::analysis::comparison::{Comparison, Pair};
use crate::model::metrics::Metrics;
use crate::model::verdict::{Alert, Severity};

/// S002's first alert, R1 of the classes.
pub const RULE: AlertRule = AlertRule {
    name: "test_count_decreased",
    about: "there are fewer tests than before",
    meaning: "Tests were deleted, or are no longer collected. The loss stays open along the lineage until as many tests \
              as ever are back, or it is accepted on purpose; until then no iteration can be the best.",
    formula: "test_count < previous; where tests are named and some modules did not load, only tests outside them count",
    source: "S002",
    severity: Severity::Critical,
    reliability: 0.75,
    thresholds: &[],
    check,
};

fn check(comparison: &Comparison) -> Vec<Alert> {
    fewer(comparison)
        .map(|pair| {
            let message = format!("Test count decreased from {} to {}", pair.before, pair.now);
            let mut alert = beside(RULE.alert(comparison, message), pair.before, pair.now);
            // Never explained: renames are one to one, so that what is fewer has left, be it one of two tests of one name.
            if let Some(tests) = &comparison.tests {
                alert.evidence = tests.lost().names.into_iter().map(|id| format!("gone: {id}")).collect();
            }
            alert
        })
        .into_iter()
        .collect()
}

/// The two counts, if they fell.
fn fewer(comparison: &Comparison) -> Option<Pair<u64>> {
    let pair = comparison.pair(Metrics::test_count)?;
    // Modules that did not load took tests with them that are not deleted: `suite_partial` tells of those.
    let is_outside = comparison.failed_units() == 0 || comparison.tests.as_ref().is_none_or(|t| !t.removed.is_empty());
    (pair.now < pair.before && is_outside).then_some(pair)
}

#[cfg(test)]
mod tests {
    use crate::analysis::testing::{Story, broken_units, cases, rules, tests};
    use crate::model::verdict::Status;

    #[test]
    fn one_test_fewer_fires_and_as_many_do_not() {
        let mut story = Story::new();
        story.record(tests(8, 2));
        assert!(rules(&story.record(tests(8, 2))).is_empty());
        let verdict = story.record(tests(8, 1));
        assert_eq!(rules(&verdict), ["test_count_decreased"]);
        assert_eq!(verdict.alerts[0].message, "Test count decreased from 10 to 9");
    }

    #[test]
    fn one_of_two_tests_of_one_name_that_goes_is_a_loss_that_nothing_explains() {
        let named = || cases(&["t.a::x P", "t.a::y P"]);
        let mut story = Story::new();
        story.record_named(tests(3, 0), named());
        let verdict = story.record_named(tests(2, 0), named());
        assert_eq!(rules(&verdict), ["test_count_decreased", "working_tests_failing"]);
        assert!(verdict.alerts.iter().all(|alert| alert.status == Status::Observed && alert.evidence.is_empty()));
    }

    #[test]
    fn tests_of_modules_that_did_not_load_are_not_deleted() {
        let mut story = Story::new();
        story.record_named(tests(3, 0), cases(&["t.a::x P", "t.a::y P", "t.b::z P"]));
        let verdict = story.record_named(broken_units(tests(1, 0), &["t.a"]), cases(&["t.b::z P"]));
        assert_eq!(rules(&verdict), ["suite_partial"]);
        let mut story = Story::new();
        story.record_named(tests(3, 0), cases(&["t.a::x P", "t.a::y P", "t.b::z P"]));
        let verdict = story.record_named(broken_units(tests(0, 1), &["t.a"]), cases(&["t.b::new F"]));
        assert!(rules(&verdict).contains(&"test_count_decreased"), "t.b::z is gone too");
    }
}
