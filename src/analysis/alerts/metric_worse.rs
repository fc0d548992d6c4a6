//! A metric of the user's own got worse.

use super::{AlertRule, CONFIRMED, beside};
use crate::analysis::comparison::Comparison;
use crate::analysis::custom::{Method, Move, brief};
use crate::analysis::stats::two_sided;
use crate::model::custom::Effect;
use crate::model::metrics::Direction;
use crate::model::verdict::{Alert, Severity, Status};

/// R7 of the classes, once confirmed.
pub const RULE: AlertRule = AlertRule {
    name: "metric_worse",
    about: "a metric of your own got worse by more than its noise and its smallest effect",
    meaning: "The first time is a suspicion. If the next value is as bad, or if there are enough samples, it is confirmed, \
              and the iteration is a regression. How much the metric varies by itself is taken from sigma or cv, else from \
              code that was measured more than once, else from its values.",
    formula: "beyond its level by more than metrics.NAME.min_effect and by more than its noise: with a declared sigma or cv, or \
              fewer than 3 values: t(.995)·σ√(1+1/n), or the smallest effect alone while σ is not known; else 3 to 7: mean ± \
              t(.995, n−1)·s·√(1+1/n); 8 and more: median ± t(.995, n−1)·max(1.4826·MAD, 0.5 %)·√(1+1/n); 3 samples on both \
              sides: Welch's p < .05",
    source: "beyond the seeds",
    severity: Severity::High,
    reliability: 0.50,
    thresholds: &["metrics"],
    check,
};

fn check(comparison: &Comparison) -> Vec<Alert> {
    let is_guard = |name: &str| comparison.config.metrics.get(name).is_some_and(|declared| declared.guard);
    let worse_ones = comparison.moves().iter().filter(|(name, step)| step.is_worse() && !is_guard(name));
    worse_ones
        .map(|(name, step)| {
            let alert = worse(&RULE, comparison, name, step);
            match alert.status {
                Status::Suspected => Alert { severity: Severity::Medium, reliability: 0.25, ..alert },
                _ => alert,
            }
        })
        .collect()
}

/// What is said of a metric that got worse, of this rule and of the guards'.
pub(super) fn worse(rule: &AlertRule, comparison: &Comparison, name: &str, step: &Move) -> Alert {
    let before = brief(step.judged.center);
    let message = format!("{name} got worse: {before} to {}", step.now);
    let mut alert = beside(rule.alert(comparison, message), before, step.now);
    alert.subject = Some(name.to_owned());
    alert.threshold = Some(threshold(comparison, name, step).into());
    alert.evidence = evidence(step);
    if step.judged.is_confirmed {
        alert.status = Status::Confirmed;
        alert.reliability = CONFIRMED;
    } else {
        alert.status = Status::Suspected;
    }
    alert
}

/// The smallest effect where nothing else is known, else the value beyond which it is worse.
fn threshold(comparison: &Comparison, name: &str, step: &Move) -> f64 {
    let effect = comparison.config.metrics.get(name).and_then(|declared| declared.min_effect);
    match (step.judged.method, step.judged.reach) {
        (Method::EffectOnly, _) | (_, None) => effect.map_or(0.0, Effect::size),
        (_, Some(reach)) => brief(match step.direction {
            Direction::Lower => step.judged.center + reach,
            Direction::Higher => step.judged.center - reach,
        }),
    }
}

fn evidence(step: &Move) -> Vec<String> {
    let judged = &step.judged;
    let mut lines = vec![match judged.method {
        Method::EffectOnly if judged.is_confirmed => "its noise is not known".to_owned(),
        Method::EffectOnly => "its noise is not known; a second value as bad confirms it".to_owned(),
        Method::Noise { z, df: None } => format!("z = {} by its declared noise", brief(z)),
        Method::Noise { z, df: Some(df) } => {
            let p = two_sided(z, f64::from(df));
            format!("z = {}, p = {} by its measured noise (df {df})", brief(z), brief(p))
        }
        Method::Interval | Method::Robust => format!("its level has {} values", judged.count),
        Method::Welch { p } => format!("p = {} between its samples and {} of its level", brief(p), judged.count),
    }];
    if !judged.is_confirmed && judged.method != Method::EffectOnly {
        lines.push("a second value as bad confirms it".to_owned());
    }
    lines
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
        let verdict = story.record(latency(tests(8, 0), 9.0));
        assert_eq!(verdict.classification, Some(Classification::Plateau), "a gain counts once");
    }

    #[test]
    fn a_metric_that_nobody_told_the_direction_of_is_kept_and_not_judged() {
        let mut story = story();
        story.config.metrics.clear();
        for value in [10.0, 10.1, 9.9, 90.0, 90.0] {
            assert!(!rules(&story.record(latency(tests(8, 0), value))).contains(&"metric_worse"));
        }
    }
}
