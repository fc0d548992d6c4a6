//! What iterations are ranked by: the quality score, or metrics that the config names in its place.

use super::real;
use super::score::{Scored, over_common};
use super::select::eligibility;
use crate::model::config::LoopConfig;
use crate::model::ids::Iteration;
use crate::model::metrics::{CustomMetric, Direction, Metrics};
use crate::model::trajectory::{Objective, Pareto, ParetoCandidate, Point};
use crate::model::units::EPS;

/// The usual `select.primary`.
pub const QUALITY_SCORE: &str = "quality_score";

/// The value of the metric `name` at `point`: the score, one of the measured ones, or the user's own.
pub fn measure(point: &Point, name: &str) -> Option<f64> {
    match name {
        QUALITY_SCORE => point.score().map(crate::model::units::Score::get),
        _ => measured(&point.metrics, name),
    }
}

fn measured(metrics: &Metrics, name: &str) -> Option<f64> {
    match name {
        "test_count" => metrics.test_count().map(real),
        "tests_passed" => metrics.tests_passed().map(real),
        "pass_rate" => metrics.pass_rate(),
        "coverage_percentage" => metrics.coverage(),
        "error_count" => metrics.error_count().map(real),
        "lint_errors" => metrics.lint_errors().map(real),
        "lint_warnings" => metrics.lint_warnings().map(real),
        "complexity_score" => metrics.complexity(),
        "loc_total" => metrics.loc_total().map(real),
        _ => metrics.custom.get(name)?.value,
    }
}

/// Which way a metric is better. A metric of the user's own that the config does not declare is better higher, unless
/// it says itself.
pub(super) fn direction(metrics: &Metrics, name: &str, config: &LoopConfig) -> Direction {
    match name {
        "error_count" | "lint_errors" | "lint_warnings" | "complexity_score" | "loc_total" => Direction::Lower,
        _ => {
            let declared = config.metrics.get(name).and_then(|declared| declared.direction);
            let own = || metrics.custom.get(name).and_then(|metric| metric.direction);
            declared.or_else(own).unwrap_or(Direction::Higher)
        }
    }
}

/// The latest iteration, that of `metrics` among them, at which a metric that chooses in the score's place was better than at
/// all eligible ones before, by more than its smallest effect.
pub fn last_gain(points: &[Point], iteration: Iteration, metrics: &Metrics, config: &LoopConfig) -> Option<Iteration> {
    let names = config.select.objectives.iter().chain([&config.select.primary]).filter(|name| *name != QUALITY_SCORE);
    let mut names = names.peekable();
    names.peek()?;
    let is_candidate = |point: &&Point| eligibility(point, points, config).is_ok();
    let earlier = points.iter().filter(is_candidate).map(|point| (point.iteration, &point.metrics));
    let candidates: Vec<(Iteration, &Metrics)> = earlier.chain([(iteration, metrics)]).collect();
    let gain_of = |name: &String| {
        let (mut best, mut gained) = (None, None);
        for (iteration, metrics) in candidates.iter().copied() {
            let Some(value) = measured(metrics, name) else { continue };
            let Some(before) = best else {
                best = Some(value);
                continue;
            };
            let gain = super::custom::gain(direction(metrics, name, config), before, value);
            if gain > min_effect(name, before, config) + EPS {
                gained = Some(iteration);
            }
            if gain > 0.0 {
                best = Some(value);
            }
        }
        gained
    };
    names.filter_map(gain_of).max()
}

/// The smallest difference of a metric that matters, beside this value; 0 unless it is declared.
fn min_effect(name: &str, before: f64, config: &LoopConfig) -> f64 {
    config.metrics.get(name).and_then(|declared| declared.min_effect).map_or(0.0, |effect| effect.at(before))
}

/// Whether `point` is strictly better than `best` by `select.primary`; scores over the components that both have.
pub fn better(point: &Point, best: &Point, config: &LoopConfig) -> bool {
    gain(point, best, &config.select.primary, config).is_some_and(|gain| gain > EPS)
}

/// The metric `name` at two points, compared alike, and which way it is better.
pub fn pair(point: &Point, other: &Point, name: &str, config: &LoopConfig) -> Option<(f64, f64, Direction)> {
    if name == QUALITY_SCORE {
        let (mine, theirs) = over_common(Scored::of(point)?, Scored::of(other)?)?;
        return Some((mine, theirs, Direction::Higher));
    }
    let is_alike =
        |metric: &CustomMetric| other.metrics.custom.get(name).is_none_or(|theirs| metric.is_comparable(theirs));
    if !point.metrics.custom.get(name).is_none_or(is_alike) {
        return None;
    }
    Some((measure(point, name)?, measure(other, name)?, direction(&point.metrics, name, config)))
}

/// How much better `point` is than `other` by the metric `name`; negative is worse.
fn gain(point: &Point, other: &Point, name: &str, config: &LoopConfig) -> Option<f64> {
    let (mine, theirs, direction) = pair(point, other, name, config)?;
    Some(super::custom::gain(direction, theirs, mine))
}

/// The candidates beside each other in `select.objectives`; `None` without objectives, or if nobody has them all.
pub fn pareto(candidates: &[&Point], config: &LoopConfig) -> Option<Pareto> {
    let names = &config.select.objectives;
    let has_all = |point: &&&Point| names.iter().all(|name| measure(point, name).is_some());
    let complete: Vec<&Point> = candidates.iter().filter(has_all).copied().collect();
    let first = complete.first().filter(|_| !names.is_empty())?;
    let objective = |name: &String| Objective {
        name: name.clone(),
        direction: direction(&first.metrics, name, config),
        unit: first.metrics.custom.get(name).and_then(|metric| metric.unit.clone()),
    };
    let is_free = |point: &Point| !complete.iter().any(|other| dominates(other, point, config));
    let front: Vec<&Point> = complete.iter().copied().filter(|point| is_free(point)).collect();
    let candidate = |point: &&Point| {
        let values = names.iter().filter_map(|name| Some((name.clone(), measure(point, name)?)));
        // One of the front says most; with smallest effects there may be none that dominates.
        let mut others = front.iter().chain(&complete);
        ParetoCandidate {
            iteration: point.iteration,
            values: values.collect(),
            dominated_by: others.find(|other| dominates(other, point, config)).map(|other| other.iteration),
        }
    };
    Some(Pareto {
        objectives: names.iter().map(objective).collect(),
        candidates: complete.iter().map(candidate).collect(),
    })
}

/// No worse on all objectives, and better on one by more than its smallest effect.
fn dominates(point: &Point, other: &Point, config: &LoopConfig) -> bool {
    let gains: Vec<(f64, f64)> = config
        .select
        .objectives
        .iter()
        .filter_map(|name| {
            let min_effect = min_effect(name, measure(other, name).unwrap_or(0.0), config);
            Some((gain(point, other, name, config)?, min_effect))
        })
        .collect();
    gains.len() == config.select.objectives.len()
        && gains.iter().all(|(gain, _)| *gain >= -EPS)
        && gains.iter().any(|(gain, min_effect)| *gain > min_effect + EPS)
}
