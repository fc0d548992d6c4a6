//! A metric of the user's own was measured otherwise than before.

use super::AlertRule;
use crate::analysis::comparison::Comparison;
use crate::model::metrics::CustomMetric;
use crate::model::verdict::{Alert, Severity};

/// Tells why a metric is not compared.
pub const RULE: AlertRule = AlertRule {
    name: "metric_context_changed",
    about: "a metric of your own was measured by another command or in another context than before",
    meaning: "The two values are not compared: the same code gives other numbers on another machine, or beside other work. \
              A level of its own begins for the new way of measuring.",
    formula: "the context or the command differs from those of the latest ancestor that has the metric",
    source: "beyond the seeds",
    severity: Severity::Low,
    reliability: 0.05,
    thresholds: &["metrics"],
    check,
};

fn check(comparison: &Comparison) -> Vec<Alert> {
    let metrics = comparison.metrics.custom.iter().filter(|(_, metric)| metric.value.is_some());
    let changed = metrics.filter_map(|(name, metric)| {
        let value = |point: &CustomMetric| point.value.is_some();
        let point = comparison.previous(|metrics| metrics.custom.get(name).is_some_and(value))?;
        let before = point.metrics.custom.get(name)?;
        (!before.is_comparable(metric)).then(|| {
            let message = format!("{name} is not compared with iteration {}: {}", point.iteration, why(before, metric));
            Alert { subject: Some(name.clone()), ..RULE.alert(comparison, message) }
        })
    });
    changed.collect()
}

fn why(before: &CustomMetric, now: &CustomMetric) -> String {
    let shown = |text: &Option<String>| text.as_deref().map_or_else(|| "none".to_owned(), |text| format!("{text:?}"));
    if before.context != now.context {
        format!("its context was {} and is {}", shown(&before.context), shown(&now.context))
    } else {
        format!("its command was {} and is {}", shown(&before.command), shown(&now.command))
    }
}

#[cfg(test)]
mod tests {
    use crate::analysis::testing::{Story, latency, rules, tests};
    use crate::model::metrics::{Direction, Metrics};

    fn measured(value: f64, context: Option<&str>, command: Option<&str>) -> Metrics {
        let mut metrics = latency(tests(8, 0), value);
        let metric = metrics.custom.get_mut("latency").unwrap();
        metric.context = context.map(str::to_owned);
        metric.command = command.map(str::to_owned);
        metrics
    }

    #[test]
    fn values_of_another_context_or_command_are_told_and_not_compared() {
        let mut story = Story::new();
        story.measure("latency", Direction::Lower, 0.5);
        story.record(measured(10.0, None, Some("bench")));
        let verdict = story.record(measured(20.0, Some("loaded"), Some("bench")));
        assert_eq!(rules(&verdict), ["metric_context_changed"]);
        let message = "latency is not compared with iteration 0: its context was none and is \"loaded\"";
        assert_eq!(verdict.alerts[0].message, message);
        let verdict = story.record(measured(30.0, Some("loaded"), Some("bench")));
        assert_eq!(rules(&verdict), ["metric_worse"]);
        let verdict = story.record(measured(90.0, Some("loaded"), Some("other")));
        assert!(rules(&verdict).contains(&"metric_context_changed") && !rules(&verdict).contains(&"metric_worse"));
        let verdict = story.record(measured(91.0, Some("loaded"), None));
        assert!(rules(&verdict).contains(&"metric_worse"), "a command that is not known is no other one");
    }
}
