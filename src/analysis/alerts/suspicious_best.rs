//! A value of a metric of the user's own that is too good to be believed.

use super::{AlertRule, beside};
use crate::analysis::comparison::Comparison;
use crate::analysis::custom::{self, brief, gain};
use crate::model::metrics::{CustomMetric, Direction};
use crate::model::trajectory::Point;
use crate::model::units::EPS;
use crate::model::verdict::{Alert, Severity, Status};

/// Standard deviations beyond the best that are too many.
const FAR: f64 = 8.0;

/// What programs write where there is no result.
const SENTINELS: [f64; 5] = [0.0, 999.0, -999.0, 1e9, -1e9];

/// Such an iteration does not lead until it is measured again.
pub const RULE: AlertRule = AlertRule {
    name: "suspicious_best",
    about: "a metric of your own is the best so far by far, or is a number that stands for no result",
    meaning: "A crash that is taken for a result looks like this. Where the metric is select.primary or an objective, the \
              iteration is not eligible; record the same code once more, and if the value comes again it may lead.",
    formula: "better than every earlier value by more than 8σ, or equal to 0, ±999 or ±1e9 and better than those that were \
              not suspicious; measured once, and not before with the same tree",
    source: "beyond the seeds",
    severity: Severity::Medium,
    reliability: 0.25,
    thresholds: &["metrics"],
    check,
};

/// Whether the metric `name` of an iteration must be measured again before it may lead.
pub fn must_be_measured_again(point: &Point, name: &str) -> bool {
    let is_it = |subject: &Option<String>| subject.as_deref() == Some(name);
    point.alerts.iter().any(|mark| mark.rule == RULE.name && is_it(&mark.subject) && !mark.observe_only)
}

fn check(comparison: &Comparison) -> Vec<Alert> {
    let metrics = comparison.metrics.custom.iter();
    metrics.filter_map(|(name, metric)| suspicion(comparison, name, metric)).collect()
}

fn suspicion(comparison: &Comparison, name: &str, metric: &CustomMetric) -> Option<Alert> {
    let value = metric.value?;
    let direction = custom::direction_of(comparison.config.metrics.get(name), metric)?;
    let earlier = || custom::comparable(comparison, name, metric);
    let is_trusted = |point: &Point| !must_be_measured_again(point, name);
    let trusted = earlier().filter(|(point, _)| is_trusted(point)).filter_map(|(_, other)| other.value);
    let trusted = best_of(direction, trusted)?;
    // A value near one that was suspicious bears it out, unless both stand for no result.
    let is_result = |value: &f64| !SENTINELS.contains(value);
    let results = earlier().filter_map(|(_, other)| other.value).filter(is_result);
    let highest = best_of(direction, results).unwrap_or(trusted);
    let beyond = |best: f64, by: f64| gain(direction, best, value) > by + EPS * best.abs();
    if !beyond(trusted, 0.0) {
        return None;
    }
    let sentinel = SENTINELS.contains(&value).then(|| (trusted, format!("{value} often stands for no result")));
    // What never varies for the same code is counted, not measured: any gain would be too many deviations.
    let noise = custom::noise_of(comparison, name).filter(|noise| noise.sigma > 0.0);
    let far = noise.filter(|noise| beyond(highest, FAR * noise.sigma)).map(|noise| {
        let times = brief(gain(direction, highest, value) / noise.sigma);
        (highest, format!("better than the best by {times} standard deviations"))
    });
    let (best, why) = sentinel.or(far)?;
    let again = earlier().filter(|(point, _)| point.tree_key == comparison.tree_key && !is_trusted(point));
    let is_better = |sample: &&f64| gain(direction, trusted, **sample) > 0.0;
    if metric.samples.iter().filter(is_better).count() > 1 || again.count() > 0 {
        return None;
    }
    let message = format!("{name} is too good to be believed: {value}, and {} before", brief(best));
    Some(Alert {
        subject: Some(name.to_owned()),
        status: Status::Suspected,
        evidence: vec![why, "measured once; it must be measured again before it may lead".to_owned()],
        ..beside(RULE.alert(comparison, message), best, value)
    })
}

fn best_of(direction: Direction, values: impl Iterator<Item = f64>) -> Option<f64> {
    values.reduce(match direction {
        Direction::Lower => f64::min,
        Direction::Higher => f64::max,
    })
}

#[cfg(test)]
mod tests {
    use crate::analysis::testing::{Story, latency, rules, tests};
    use crate::analysis::{best, eligibility};
    use crate::model::ids::Iteration;
    use crate::model::metrics::Direction;

    fn story() -> Story {
        let mut story = Story::new();
        story.measure("latency", Direction::Lower, 0.5);
        story.config.select.primary = "latency".to_owned();
        story.config.metrics.get_mut("latency").unwrap().sigma = Some(0.2);
        story.record(latency(tests(8, 0), 10.0));
        story
    }

    #[test]
    fn eight_deviations_are_believed_and_more_are_not_until_they_come_again() {
        let mut story = story();
        assert!(rules(&story.record(latency(tests(8, 0), 8.4))).is_empty(), "8σ from 10 is 8.4");
        let verdict = story.record(latency(tests(8, 0), 6.7));
        assert_eq!(rules(&verdict), ["suspicious_best"]);
        assert!(eligibility(&story.points()[2], story.points(), &story.config).is_err());
        assert_eq!(best(story.points(), &story.config).iteration, Some(Iteration(1)));
        story.same_tree();
        assert!(rules(&story.record(latency(tests(8, 0), 6.7))).is_empty());
        assert_eq!(best(story.points(), &story.config).iteration, Some(Iteration(3)));
        assert!(rules(&story.record(latency(tests(8, 0), 6.5))).is_empty(), "near what was borne out");
    }

    #[test]
    fn a_sentinel_is_suspicious_only_where_it_would_lead() {
        let mut story = story();
        story.config.metrics.get_mut("latency").unwrap().sigma = None;
        assert_eq!(rules(&story.record(latency(tests(8, 0), 0.0))), ["suspicious_best"]);
        assert!(
            rules(&story.record(latency(tests(8, 0), 0.0))).contains(&"suspicious_best"),
            "another tree, no result"
        );
        assert!(!rules(&story.record(latency(tests(8, 0), 999.0))).contains(&"suspicious_best"));
    }
}
