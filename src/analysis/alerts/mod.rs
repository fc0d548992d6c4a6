//! Alert rules: each compares an iteration with the one before it (ANALYSIS §4).
//!
//! To add one: a file with a constant, a line in [`RULES`], a story that trips it and one that just does not.

mod build_broken;
mod complexity_explosion;
mod coverage_drift;
mod coverage_gain_without_new_lines;
mod coverage_regression;
mod error_increase;
pub mod failing_test_removed;
mod file_deletion;
mod guard_worse;
pub mod hidden_regression;
mod lost_coverage;
mod metric_context_changed;
mod metric_disappeared;
mod metric_unresponsive;
mod metric_worse;
mod pass_rate_regression;
mod passing_test_removed;
mod spec_change;
mod suite_not_run;
mod suite_partial;
pub mod suspicious_best;
pub mod tamper_confirmed;
pub mod tamper_suspected;
mod test_count_decreased;
pub mod working_tests_failing;

use super::comparison::Comparison;
use super::rule::{Rule, mode};
use crate::model::units::Quantity;
use crate::model::verdict::{Alert, NAMES_SHOWN};

/// Reliability of a finding that is settled.
pub const CONFIRMED: f64 = 0.95;

/// How many tests one finding names beside its subject.
const OTHERS_KEPT: usize = 1_000;

/// A rule that compares two iterations: one alert a subject.
pub type AlertRule = Rule<fn(&Comparison) -> Vec<Alert>>;

/// Every alert rule, the gravest first.
pub const RULES: &[&AlertRule] = &[
    &test_count_decreased::RULE,
    &working_tests_failing::RULE,
    &failing_test_removed::RULE,
    &passing_test_removed::RULE,
    &suite_not_run::RULE,
    &suite_partial::RULE,
    &tamper_confirmed::RULE,
    &hidden_regression::RULE,
    &build_broken::RULE,
    &tamper_suspected::RULE,
    &spec_change::RULE,
    &pass_rate_regression::RULE,
    &coverage_regression::RULE,
    &lost_coverage::RULE,
    &error_increase::RULE,
    &metric_disappeared::RULE,
    &guard_worse::RULE,
    &metric_worse::RULE,
    &metric_unresponsive::RULE,
    &suspicious_best::RULE,
    &file_deletion::RULE,
    &complexity_explosion::RULE,
    &coverage_drift::RULE,
    &coverage_gain_without_new_lines::RULE,
    &metric_context_changed::RULE,
];

impl AlertRule {
    /// An alert of this rule, as its counters alone give it.
    pub fn alert(&self, comparison: &Comparison, message: impl Into<String>) -> Alert {
        self.at(comparison.iteration, message)
    }
}

/// A finding for each test, and for those beyond the first [`NAMES_SHOWN`] one together: each stays open by its name.
fn by_test<T>(tests: &[T], id: impl Fn(&T) -> &str, alert: impl Fn(&T) -> Alert) -> Vec<Alert> {
    let (first, rest) = tests.split_at_checked(NAMES_SHOWN).unwrap_or((tests, &[]));
    let mut alerts: Vec<Alert> = first.iter().map(&alert).collect();
    if let Some((next, others)) = rest.split_first() {
        let mut together = alert(next);
        if !others.is_empty() {
            together.message = format!("{} and {} more", together.message, others.len());
        }
        together.others = others.iter().take(OTHERS_KEPT).map(|test| id(test).to_owned()).collect();
        alerts.push(together);
    }
    alerts
}

/// Adds the two values to an alert.
fn beside(mut alert: Alert, previous: impl Into<Quantity>, current: impl Into<Quantity>) -> Alert {
    alert.previous = Some(previous.into());
    alert.current = Some(current.into());
    alert
}

/// All findings of the rules that are not off. Nothing is compared at the baseline.
pub fn check_all(comparison: &Comparison) -> Vec<Alert> {
    let mut alerts = Vec::new();
    for rule in RULES {
        if let Some(observe_only) = mode(comparison.config, rule.name) {
            let found = (rule.check)(comparison).into_iter().map(|alert| Alert { observe_only, ..alert });
            alerts.extend(found);
        }
    }
    alerts
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::analysis::testing::{Story, config, tests};
    use crate::model::config::RuleMode;
    use crate::model::verdict::Action;

    #[test]
    fn names_are_unique_and_thresholds_are_keys_of_the_config() {
        let defaults = serde_json::to_value(config()).unwrap();
        let mut names = BTreeSet::new();
        for rule in RULES {
            assert!(names.insert(rule.name), "{} is there twice", rule.name);
            assert!(rule.reliability > 0.0 && rule.reliability < 1.0);
            for key in rule.thresholds {
                let pointer = format!("/{}", key.replace('.', "/"));
                assert!(defaults.pointer(&pointer).is_some(), "{} names {key}", rule.name);
            }
        }
    }

    #[test]
    fn a_rule_that_is_off_says_nothing_and_one_that_observes_moves_nothing() {
        for (mode, raised) in [(RuleMode::Off, 0), (RuleMode::Observe, 1)] {
            let mut story = Story::new();
            story.config.rules.insert("test_count_decreased".to_owned(), mode);
            story.record(tests(8, 2));
            let verdict = story.record(tests(8, 0));
            assert_eq!(verdict.alerts.len(), raised);
            assert!(verdict.alerts.iter().all(|alert| alert.observe_only));
            assert!(verdict.open_findings.is_empty());
            assert_eq!(verdict.recommendation.action, Action::Continue);
        }
    }
}
