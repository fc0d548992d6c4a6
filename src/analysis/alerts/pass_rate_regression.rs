//! The pass rate fell.

use super::{AlertRule, beside};
use crate::analysis::comparison::Comparison;
use crate::model::units::{EPS, round_half_up};
use crate::model::verdict::{Alert, Severity, Status};

/// R2 of the classes.
pub const RULE: AlertRule = AlertRule {
    name: "pass_rate_regression",
    about: "the pass rate fell by more than 5 percentage points",
    meaning: "A larger share of the tests fails. Where tests are named and only new tests fail, the fall is explained: \
              tests were written before the code.",
    formula: "pass_rate − previous < −classify.pass_rate_drop",
    source: "S002; explained by new failing tests: beyond the seeds",
    severity: Severity::High,
    reliability: 0.50,
    thresholds: &["classify.pass_rate_drop"],
    check,
};

fn check(comparison: &Comparison) -> Vec<Alert> {
    let drop = comparison.config.classify.pass_rate_drop;
    let Some(pair) = comparison.pass_rate().filter(|pair| pair.change() < -drop - EPS) else {
        return Vec::new();
    };
    let message = format!("Pass rate dropped {}%", round_half_up(-pair.change(), 2));
    let mut alert = beside(RULE.alert(comparison, message), pair.before, pair.now);
    alert.threshold = Some((-drop).into());
    if comparison.only_new_tests_fail() {
        alert.seed_severity = Some(alert.severity);
        alert.severity = Severity::Low;
        alert.status = Status::Explained;
        alert.evidence = vec!["red_tests_added: only new tests fail, none broke and none is gone".to_owned()];
    }
    vec![alert]
}

#[cfg(test)]
mod tests {
    use crate::analysis::testing::{Story, cases, rules, tests};
    use crate::model::verdict::{Classification, Status};

    #[test]
    fn more_than_five_points_fire_and_five_do_not() {
        let mut story = Story::new();
        story.record(tests(95, 0));
        assert!(rules(&story.record(tests(95, 5))).is_empty());
        let mut story = Story::new();
        story.record(tests(94, 0));
        assert_eq!(rules(&story.record(tests(94, 6))), ["pass_rate_regression"]);
    }

    #[test]
    fn new_failing_tests_explain_the_fall() {
        let old: Vec<String> = (0..10).map(|n| format!("a::t{n} P")).collect();
        let mut new = old.clone();
        new.extend(["a::red1 F".to_owned(), "a::red2 F".to_owned()]);
        let mut story = Story::new();
        story.record_named(tests(10, 0), cases(&old));
        let verdict = story.record_named(tests(10, 2), cases(&new));
        assert_eq!(verdict.alerts[0].status, Status::Explained);
        assert_eq!(verdict.classification, Some(Classification::Plateau));
    }

    #[test]
    fn a_broken_or_a_missing_test_beside_the_new_ones_explains_nothing() {
        for now in [["a::x P", "a::y F", "b::red F"], ["a::x P", "b::red F", "b::too F"]] {
            let mut story = Story::new();
            story.record_named(tests(2, 0), cases(&["a::x P", "a::y P"]));
            let verdict = story.record_named(tests(1, 2), cases(&now));
            let fall = verdict.alerts.iter().find(|alert| alert.rule == "pass_rate_regression").unwrap();
            assert_eq!(fall.status, Status::Observed, "{now:?}");
        }
    }

    #[test]
    fn a_rule_that_observes_does_not_explain_either() {
        use crate::model::config::RuleMode;
        for (mode, class_rule) in [(RuleMode::On, "band"), (RuleMode::Observe, "quality_drop")] {
            let mut story = Story::new();
            story.config.rules.insert("pass_rate_regression".to_owned(), mode);
            story.record_named(tests(2, 0), cases(&["a::x P", "a::y P"]));
            let verdict = story.record_named(tests(2, 1), cases(&["a::x P", "a::y P", "a::red F"]));
            assert_eq!(verdict.class_rule, class_rule);
        }
    }

    #[test]
    fn a_fall_too_small_to_be_a_regression_needs_no_explanation() {
        let old: Vec<String> = (0..50).map(|n| format!("a::t{n} P")).collect();
        let mut new = old.clone();
        new.push("a::red F".to_owned());
        let mut story = Story::new();
        story.record_named(tests(50, 0), cases(&old));
        let verdict = story.record_named(tests(50, 1), cases(&new));
        assert!(rules(&verdict).is_empty());
        assert_eq!(verdict.classification, Some(Classification::Forward), "a test more, and 98 % pass");
    }
}
