//! A metric that was to be guarded got worse.

use super::{AlertRule, metric_worse::worse};
use crate::analysis::comparison::Comparison;
use crate::model::verdict::{Alert, Severity};

/// As `metric_worse`, for metrics with `guard: true`.
pub const RULE: AlertRule = AlertRule {
    name: "guard_worse",
    about: "a metric that is guarded got worse",
    meaning: "It must not get worse, whatever else gets better, so the first time weighs as much as a confirmed loss of \
              another metric; confirmed, the iteration is a regression.",
    formula: "metrics.NAME.guard, and worse as metric_worse has it",
    source: "beyond the seeds",
    severity: Severity::High,
    reliability: 0.50,
    thresholds: &["metrics"],
    check,
};

fn check(comparison: &Comparison) -> Vec<Alert> {
    let is_guard = |name: &str| comparison.config.metrics.get(name).is_some_and(|declared| declared.guard);
    let moved = comparison.moves().iter().filter(|(name, step)| step.is_worse() && is_guard(name));
    moved.map(|(name, step)| worse(&RULE, comparison, name, step)).collect()
}

#[cfg(test)]
mod tests {
    use crate::analysis::testing::{Story, latency, rules, tests};
    use crate::model::metrics::Direction;
    use crate::model::verdict::{Classification, Severity, Status};

    #[test]
    fn a_guard_is_high_at_once_and_a_regression_once_it_is_confirmed() {
        let mut story = Story::new();
        story.measure("latency", Direction::Lower, 0.5);
        story.config.metrics.get_mut("latency").unwrap().guard = true;
        story.record(latency(tests(8, 0), 10.0));
        assert!(rules(&story.record(latency(tests(8, 0), 10.5))).is_empty());
        let verdict = story.record(latency(tests(8, 0), 11.0));
        assert_eq!(rules(&verdict), ["guard_worse"]);
        assert_eq!((verdict.alerts[0].severity, verdict.alerts[0].status), (Severity::High, Status::Suspected));
        assert_eq!(verdict.classification, Some(Classification::Plateau));
        let verdict = story.record(latency(tests(8, 0), 11.0));
        assert_eq!((verdict.alerts[0].status, verdict.class_rule.as_str()), (Status::Confirmed, "R7"));
    }
}
