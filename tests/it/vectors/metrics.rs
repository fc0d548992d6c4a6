//! V17 to V19, V24 and V25: metrics of the user's own.

use highwater::analysis::custom::{Measured, NoiseSource, estimate, replicates};
use highwater::analysis::stats::{Group, NORMAL_REACH, quantile, reach, two_sided};
use highwater::analysis::{Verdict, best, select};
use highwater::engine::given;
use highwater::model::config::{Effect, MetricConfig};
use highwater::model::ids::{Iteration, ObjectId};
use highwater::model::metrics::{CustomMetric, Direction, Metrics};
use highwater::model::units::round_half_up;
use highwater::model::verdict::{Alert, Classification, Severity, Status};

use super::story::{Story, rules, tests};

fn value(value: f64) -> CustomMetric {
    CustomMetric { value: Some(value), ..CustomMetric::default() }
}

fn with(name: &str, metric: CustomMetric) -> Metrics {
    let mut metrics = tests(8, 0);
    metrics.custom.insert(name.to_owned(), metric);
    metrics
}

fn lower(min_effect: Option<Effect>) -> MetricConfig {
    MetricConfig { direction: Some(Direction::Lower), min_effect, ..MetricConfig::default() }
}

fn story(name: &str, declared: MetricConfig) -> Story {
    let mut story = Story::new();
    story.config.metrics.insert(name.to_owned(), declared);
    story.config.select.primary = name.to_owned();
    story
}

fn about<'a>(alerts: &'a [Alert], rule: &str) -> Option<&'a Alert> {
    alerts.iter().find(|alert| alert.rule == rule)
}

/// The findings that are about metrics of the user's own.
fn own(verdict: &Verdict) -> Vec<&str> {
    let is_own = |rule: &&str| ["metric_", "guard_", "suspicious_"].iter().any(|start| rule.starts_with(start));
    rules(verdict).into_iter().filter(is_own).collect()
}

#[test]
fn v17_one_pair_of_replicates_is_no_noise_so_the_difference_is_only_suspected() {
    let samples = [156.65, 155.27];
    let pair = [Measured { tree_key: ObjectId([1; 32]), samples: &samples }];
    let noise = replicates(&pair).unwrap();
    assert_eq!((round_half_up(noise.sigma, 3).as_str(), noise.df), ("0.976", Some(1)));
    assert_eq!(estimate(None, &pair, &[251.25, 238.07, 237.98, 213.61]), None, "df ≥ 2 is not met");

    let mut story = story("ms", lower(Some(Effect::Percent(2.0))));
    story.record(with("ms", value(156.65)));
    story.tree(0);
    let verdict = story.record(with("ms", value(155.27)));
    assert!(own(&verdict).is_empty(), "within 2 %");
    let verdict = story.record(with("ms", value(213.61)));
    let alert = about(&verdict.alerts, "metric_worse").unwrap();
    assert_eq!((alert.status, alert.severity), (Status::Suspected, Severity::Medium));
    assert!(alert.evidence[0].starts_with("its noise is not known"), "{:?}", alert.evidence);
    assert_eq!(verdict.classification, Some(Classification::Plateau));
}

#[test]
fn v17_the_spread_of_the_levels_is_no_noise() {
    let mut story = story("ms", lower(None));
    for time in [251.25, 238.07, 237.98, 213.61] {
        let verdict = story.record(with("ms", value(time)));
        assert!(own(&verdict).is_empty());
        assert_ne!(verdict.classification, Some(Classification::Forward), "progress is in them, and so is the noise");
    }
}

#[test]
fn v18_two_pairs_of_replicates_tell_that_a_difference_is_none() {
    let tree = |tree: u8| ObjectId([tree; 32]);
    let (a, b) = ([3556.0, 3464.0], [3350.0, 3314.0]);
    let pairs = [Measured { tree_key: tree(1), samples: &a }, Measured { tree_key: tree(2), samples: &b }];
    let noise = estimate(None, &pairs, &[]).unwrap();
    assert_eq!((noise.source, noise.df), (NoiseSource::Replicates, Some(2)));
    assert_eq!(round_half_up(noise.sigma, 2), "49.40");
    let z = (3445.0 - 3314.0) / (noise.sigma * 2.0_f64.sqrt());
    assert_eq!(round_half_up(z, 3), "1.875");
    assert_eq!(round_half_up(two_sided(z, 2.0), 4), "0.2016");
    // Runs on each side until such a difference is beyond the noise.
    let runs = |n: f64| (3445.0 - 3314.0) / (noise.sigma * (2.0 / n).sqrt()) > quantile(0.975, 2.0 * n - 2.0);
    assert!(!runs(2.0) && runs(3.0), "about three runs each decide");
}

/// Its first iterations are measured twice, so that their noise is known; then comes a slower one with fewer allocations.
#[test]
fn v18_the_faster_and_the_leaner_one_are_both_on_the_front() {
    let mut story = story("us", lower(None));
    story.config.metrics.insert("allocs".to_owned(), lower(None));
    story.config.select.objectives = vec!["us".to_owned(), "allocs".to_owned()];
    let runs =
        [(1, 3556.0, 25000.0), (1, 3464.0, 25000.0), (2, 3350.0, 24882.0), (2, 3314.0, 24882.0), (3, 3445.0, 24647.0)];
    let mut last = Vec::new();
    for (tree, us, allocs) in runs {
        let mut metrics = with("us", value(us));
        metrics.custom.insert("allocs".to_owned(), value(allocs));
        story.tree(tree);
        let verdict = story.record(metrics);
        last = verdict.alerts;
    }
    assert!(about(&last, "metric_worse").is_none(), "not a regression");
    let choice = select(story.points(), &story.config);
    assert_eq!(choice.pareto_front, [Iteration(3), Iteration(4)]);
    let pareto = choice.pareto.unwrap();
    let dominated: Vec<Option<Iteration>> = pareto.candidates.iter().map(|candidate| candidate.dominated_by).collect();
    let by_third = Some(Iteration(3));
    assert_eq!(dominated, [by_third, by_third, by_third, None, None]);
    assert_eq!(pareto.candidates[4].values["allocs"], 24647.0);
    let leaders: Vec<(&str, Iteration)> = pareto.leaders().map(|(one, at, _)| (one.name.as_str(), at)).collect();
    assert_eq!(leaders, [("us", Iteration(3)), ("allocs", Iteration(4))]);
    assert_eq!(choice.selected, Some(Iteration(3)), "on the front by the primary");
    assert!(choice.rationale.contains(&"iteration 4 has the best allocs of them (24647)".to_owned()));
}

#[test]
fn v19_a_crash_is_no_result_and_never_the_best() {
    let mut story = story("val", lower(None));
    for text in ["0.9979", "0.9860", "", "0.9697"] {
        let metric = match given(text) {
            Ok(number) => value(number),
            Err(reason) => CustomMetric { reason: Some(reason), ..CustomMetric::default() },
        };
        story.record(with("val", metric));
    }
    let points = story.points();
    assert_eq!(points[2].metrics.custom["val"].value, None);
    assert!(points[2].metrics.custom["val"].reason.is_some());
    let tracker = best(points, &story.config);
    assert_eq!(tracker.iteration, Some(Iteration(3)));
    assert_eq!(points[3].metrics.custom["val"].value, Some(0.9697));
    assert_eq!(tracker.ineligible[&Iteration(2)], "val was not measured");
}

#[test]
fn v19_a_zero_that_was_recorded_as_a_value_does_not_lead_either() {
    let mut story = story("val", lower(None));
    for number in [0.9979, 0.9860, 0.0, 0.9697] {
        story.record(with("val", value(number)));
    }
    assert_eq!(best(story.points(), &story.config).iteration, Some(Iteration(3)));
    assert!(story.points()[2].alerts.iter().any(|mark| mark.rule == "suspicious_best"));
}

#[test]
fn v19_a_pair_of_seeds_bounds_the_noise() {
    let sigma = Group::of(&[0.973_104, 0.973_799]).unwrap().variance().unwrap().sqrt();
    assert_eq!(round_half_up(sigma, 4), "0.0005");
    // Two-sided 5 % for the difference of two runs.
    let least = quantile(0.975, 1e9) * sigma * 2.0_f64.sqrt();
    assert_eq!(round_half_up(least, 4), "0.0014");
    assert!(NORMAL_REACH < reach(19));
}

#[test]
fn v24_the_same_value_for_tree_after_tree_is_told_and_the_first_of_them_is_a_regression() {
    let mut story = story("ms", lower(None));
    let varying = [193.02, 192.11, 193.45, 191.98, 192.74, 193.20, 192.05, 192.63, 191.87, 191.45];
    for time in varying {
        let verdict = story.record(with("ms", value(time)));
        assert!(own(&verdict).is_empty(), "{time}: {:?}", own(&verdict));
    }
    let mut fired = Vec::new();
    let mut classes = Vec::new();
    for attempt in 1..=11 {
        let verdict = story.record(with("ms", value(210.43)));
        if let Some(alert) = about(&verdict.alerts, "metric_unresponsive") {
            assert_eq!(alert.severity, Severity::High);
            fired.push(attempt);
        }
        classes.push(verdict.class_rule);
    }
    assert_eq!(fired, [4], "from the fourth, told once");
    assert_eq!(classes[1], "R7", "kept, and confirmed by the next value");
    let tracker = best(story.points(), &story.config);
    assert_eq!(tracker.iteration, Some(Iteration(9)));
    assert_eq!(story.points()[9].metrics.custom["ms"].value, Some(191.45));
}

#[test]
fn v25_five_values_reach_as_far_as_t_says() {
    for (now, beyond) in [(106.0, false), (106.2, true)] {
        let mut story = story("ms", lower(None));
        for time in [100.0, 102.0, 99.0, 101.0, 100.0] {
            assert!(own(&story.record(with("ms", value(time)))).is_empty());
        }
        let verdict = story.record(with("ms", value(now)));
        let alert = about(&verdict.alerts, "metric_worse");
        assert_eq!(alert.map(|alert| alert.status), beyond.then_some(Status::Suspected), "{now}");
        if let Some(alert) = alert {
            assert_eq!(round_half_up(alert.threshold.unwrap().as_f64(), 4), "106.1505");
        }
    }
}
