//! A metric of the user's own got worse.

use super::{AlertRule, CONFIRMED, beside};
use crate::analysis::comparison::Comparison;
use crate::analysis::custom::{self, Move};
use crate::model::units::EPS;
use crate::model::verdict::{Alert, Severity, Status};

/// R7 of the classes, once confirmed.
pub const RULE: AlertRule = AlertRule {
    name: "metric_worse",
    about: "a metric of your own got worse by more than its smallest effect",
    meaning: "The first time is a suspicion, because how much the metric varies by itself is not known. If the next value \
              is as bad it is confirmed, and the iteration is a regression.",
    formula: "worse than its level by more than metrics.NAME.min_effect; confirmed when the next value is too",
    source: "beyond the seeds",
    severity: Severity::High,
    reliability: 0.50,
    thresholds: &["metrics"],
    check,
};

fn check(comparison: &Comparison) -> Vec<Alert> {
    custom::movements(comparison)
        .filter(|(_, step)| step.gain < -step.min_effect - EPS)
        .map(|(name, step)| worse(comparison, name, &step))
        .collect()
}

fn worse(comparison: &Comparison, name: &str, step: &Move) -> Alert {
    let message = format!("{name} got worse: {} to {}", step.before, step.now);
    let mut alert = beside(RULE.alert(comparison, message), step.before, step.now);
    alert.subject = Some(name.to_owned());
    alert.threshold = Some(step.min_effect.into());
    if step.is_second {
        alert.status = Status::Confirmed;
        alert.reliability = CONFIRMED;
    } else {
        alert.status = Status::Suspected;
        alert.severity = Severity::Medium;
        alert.reliability = 0.25;
        alert.evidence = vec!["its noise is not known; a second value as bad confirms it".to_owned()];
    }
    alert
}

#[cfg(test)]
mod tests {
    use crate::analysis::testing::{Story, latency, rules, tests};
    use crate::model::verdict::{Classification, Status};

    fn story() -> Story {
        let mut story = Story::new();
        story.measure("latency", crate::model::metrics::Direction::Lower, 0.5);
        story.record(latency(tests(8, 0), 10.0));
        story
    }

    #[test]
    fn more_than_the_smallest_effect_is_suspected_and_the_second_time_confirmed() {
        let mut story = story();
        let verdict = story.record(latency(tests(8, 0), 10.6));
        assert_eq!(rules(&verdict), ["metric_worse"]);
        assert_eq!(verdict.alerts[0].status, Status::Suspected);
        assert_eq!(verdict.classification, Some(Classification::Plateau));
        let verdict = story.record(latency(tests(8, 0), 10.7));
        assert_eq!(verdict.alerts[0].status, Status::Confirmed);
        assert_eq!(verdict.class_rule, "R7");
        assert!(rules(&story.record(latency(tests(8, 0), 10.7))).is_empty(), "that is the level now");
    }

    #[test]
    fn the_smallest_effect_itself_and_a_gain_are_silent() {
        let mut story = story();
        assert!(rules(&story.record(latency(tests(8, 0), 10.5))).is_empty());
        let verdict = story.record(latency(tests(8, 0), 9.0));
        assert!(rules(&verdict).is_empty());
        assert_eq!(verdict.classification, Some(Classification::Forward));
    }
}
