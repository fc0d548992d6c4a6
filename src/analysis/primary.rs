//! What iterations are ranked by: the quality score, or metrics that the config names in its place.

use super::real;
use super::score::{Scored, over_common};
use crate::model::config::LoopConfig;
use crate::model::ids::Iteration;
use crate::model::metrics::Direction;
use crate::model::trajectory::Point;
use crate::model::units::EPS;

/// The usual `select.primary`.
pub const QUALITY_SCORE: &str = "quality_score";

/// The value of the metric `name` at `point`: one of the measured ones, or the user's own.
pub fn measure(point: &Point, name: &str) -> Option<f64> {
    let metrics = &point.metrics;
    match name {
        QUALITY_SCORE => point.score().map(crate::model::units::Score::get),
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
fn direction(point: &Point, name: &str, config: &LoopConfig) -> Direction {
    match name {
        "error_count" | "lint_errors" | "lint_warnings" | "complexity_score" | "loc_total" => Direction::Lower,
        _ => {
            let declared = config.metrics.get(name).map(|declared| declared.direction);
            let own = || point.metrics.custom.get(name).and_then(|metric| metric.direction);
            declared.or_else(own).unwrap_or(Direction::Higher)
        }
    }
}

/// Whether `point` is strictly better than `best` by `select.primary`; scores over the components that both have.
pub fn better(point: &Point, best: &Point, config: &LoopConfig) -> bool {
    gain(point, best, &config.select.primary, config).is_some_and(|gain| gain > EPS)
}

/// How much better `point` is than `other` by the metric `name`; negative is worse.
fn gain(point: &Point, other: &Point, name: &str, config: &LoopConfig) -> Option<f64> {
    if name == QUALITY_SCORE {
        let (mine, theirs) = over_common(Scored::of(point)?, Scored::of(other)?)?;
        return Some(mine - theirs);
    }
    let (mine, theirs) = (measure(point, name)?, measure(other, name)?);
    Some(match direction(point, name, config) {
        Direction::Higher => mine - theirs,
        Direction::Lower => theirs - mine,
    })
}

/// The candidates that no other dominates in `select.objectives`; empty without objectives, or if nobody has them all.
pub fn pareto_front(candidates: &[&Point], config: &LoopConfig) -> Vec<Iteration> {
    let objectives = &config.select.objectives;
    if objectives.is_empty() {
        return Vec::new();
    }
    let has_all = |point: &&&Point| objectives.iter().all(|name| measure(point, name).is_some());
    let complete: Vec<&Point> = candidates.iter().filter(has_all).copied().collect();
    let is_free = |point: &&&Point| !complete.iter().any(|other| dominates(other, point, config));
    complete.iter().filter(is_free).map(|point| point.iteration).collect()
}

/// No worse on all objectives, and better on one by more than its smallest effect.
fn dominates(point: &Point, other: &Point, config: &LoopConfig) -> bool {
    let gains: Vec<(f64, f64)> = config
        .select
        .objectives
        .iter()
        .filter_map(|name| {
            let min_effect = config.metrics.get(name).and_then(|declared| declared.min_effect).unwrap_or(0.0);
            Some((gain(point, other, name, config)?, min_effect))
        })
        .collect();
    gains.len() == config.select.objectives.len()
        && gains.iter().all(|(gain, _)| *gain >= -EPS)
        && gains.iter().any(|(gain, min_effect)| *gain > min_effect + EPS)
}
