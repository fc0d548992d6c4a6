//! Some modules did not load.

use super::AlertRule;
use super::suite_not_run::unit_names;
use crate::analysis::comparison::Comparison;
use crate::analysis::counted;
use crate::analysis::suite::Suite;
use crate::model::metrics::Metrics;
use crate::model::verdict::{Alert, Severity};

/// The tests in those modules are unknown, neither gone nor broken.
pub const RULE: AlertRule = AlertRule {
    name: "suite_partial",
    about: "some test modules did not load",
    meaning: "Part of the suite does not load or compile. Where tests are named, those of the broken modules are not \
              called deleted. It stays open until as many tests as ever are collected again.",
    formula: "more units failed to load than before, and other tests were collected",
    source: "beyond the seeds",
    severity: Severity::Critical,
    reliability: 0.90,
    thresholds: &[],
    check,
};

fn check(comparison: &Comparison) -> Vec<Alert> {
    let units = |metrics: &Metrics| metrics.testing.as_ref().map(|testing| testing.collection_errors);
    let Some(pair) = comparison.pair(units) else { return Vec::new() };
    if comparison.suite == Suite::NotRun || comparison.metrics.test_count().is_none() || pair.now <= pair.before {
        return Vec::new();
    }
    let message = format!("{} failed to load", counted(pair.now, "test unit"));
    let mut alert = super::beside(RULE.alert(comparison, message), pair.before, pair.now);
    alert.evidence = unit_names(comparison.metrics);
    vec![alert]
}

#[cfg(test)]
mod tests {
    use crate::analysis::testing::{Story, broken_units, rules, tests};

    #[test]
    fn a_module_more_that_does_not_load_fires_and_as_many_do_not() {
        let mut story = Story::new();
        story.record(tests(8, 0));
        assert_eq!(story.record(broken_units(tests(8, 0), &["t.a"])).alerts[0].message, "1 test unit failed to load");
        assert!(rules(&story.record(broken_units(tests(8, 0), &["t.a"]))).is_empty());
        let verdict = story.record(broken_units(tests(8, 0), &["t.a", "t.b"]));
        assert_eq!(rules(&verdict), ["suite_partial"]);
        assert_eq!(verdict.alerts[0].evidence.len(), 2);
    }
}
