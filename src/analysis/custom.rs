//! Metrics of the user's own (ANALYSIS §12.5): each value against the level that it had, by how much it varies by itself.
//! What is beyond its level for the first time is a suspicion; a second, independent time confirms it.

mod level;
mod noise;

pub use level::{Judged, Level, Method, Side};
pub use noise::{Measured, Noise, NoiseSource, estimate, replicates};

use super::comparison::Comparison;
use crate::model::config::MetricConfig;
use crate::model::metrics::{CustomMetric, Direction};
use crate::model::trajectory::Point;

/// Values of the lineage that are looked back at: five times the longest level.
const LOOK_BACK: usize = 100;

/// How one metric moved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Move {
    /// Now.
    pub now: f64,
    /// Which way is better.
    pub direction: Direction,
    /// Against its level.
    pub judged: Judged,
}

impl Move {
    /// Beyond the level, on the wrong side.
    pub fn is_worse(&self) -> bool {
        self.judged.side.is_some_and(|side| side != better(self.direction))
    }

    /// Beyond the level, on the right side, and further than the value that was suspected before.
    pub fn is_gain(&self) -> bool {
        self.judged.is_further && self.judged.side == Some(better(self.direction))
    }
}

/// The side on which values are better.
fn better(direction: Direction) -> Side {
    match direction {
        Direction::Lower => Side::Below,
        Direction::Higher => Side::Above,
    }
}

/// Which way a metric is better: the config's word, else the report's.
pub fn direction_of(declared: Option<&MetricConfig>, metric: &CustomMetric) -> Option<Direction> {
    declared.and_then(|declared| declared.direction).or(metric.direction)
}

/// How much better `now` is than `before`, in the metric's unit; negative is worse.
pub fn gain(direction: Direction, before: f64, now: f64) -> f64 {
    match direction {
        Direction::Higher => now - before,
        Direction::Lower => before - now,
    }
}

/// How the metric `name` moved against its level. `None` without values on both sides that were measured alike, without a
/// direction, or where neither its noise nor a smallest effect is known.
fn movement(comparison: &Comparison, name: &str) -> Option<Move> {
    let declared = comparison.config.metrics.get(name);
    let metric = comparison.metrics.custom.get(name)?;
    let (now, direction) = (metric.value?, direction_of(declared, metric)?);
    let lineage = lineage(comparison, name, metric);
    let noise = noise_of(comparison, name);
    let level = Level::after(&lineage, declared, noise.as_ref());
    Some(Move { now, direction, judged: level.judge(metric)? })
}

/// The moves of all metrics that can be judged, by name.
pub fn movements(comparison: &Comparison) -> Vec<(String, Move)> {
    let names = comparison.metrics.custom.keys();
    names.filter_map(|name| Some((name.clone(), movement(comparison, name)?))).collect()
}

/// How much the metric varies by itself, as far as that is known with the current iteration.
pub fn noise_of(comparison: &Comparison, name: &str) -> Option<Noise> {
    let metric = comparison.metrics.custom.get(name)?;
    let earlier = comparable(comparison, name, metric).map(|(point, other)| Measured::new(point.tree_key, other));
    let all: Vec<Measured> = earlier.chain([Measured::new(comparison.tree_key, metric)]).collect();
    let mut in_line: Vec<f64> = lineage(comparison, name, metric).iter().filter_map(|metric| metric.value).collect();
    in_line.extend(metric.value);
    estimate(comparison.config.metrics.get(name), &all, &in_line)
}

/// Earlier measurements that compare with `metric`, in order of recording.
pub fn comparable<'a>(
    comparison: &Comparison<'a>,
    name: &str,
    metric: &CustomMetric,
) -> impl Iterator<Item = (&'a Point, &'a CustomMetric)> {
    let measured = comparison.history.iter().filter_map(move |point| Some((point, point.metrics.custom.get(name)?)));
    measured.filter(move |(_, other)| other.value.is_some() && other.is_comparable(metric))
}

/// The latest of them among the ancestors, the oldest first.
fn lineage<'a>(comparison: &Comparison<'a>, name: &str, metric: &CustomMetric) -> Vec<&'a CustomMetric> {
    let ancestors = comparison.ancestors().filter_map(|point| point.metrics.custom.get(name));
    let alike = ancestors.filter(|other| other.value.is_some() && other.is_comparable(metric));
    let mut lineage: Vec<&CustomMetric> = alike.take(LOOK_BACK).collect();
    lineage.reverse();
    lineage
}

/// The number with seven significant digits: what arithmetic adds beyond them is no knowledge.
pub fn brief(value: f64) -> f64 {
    format!("{value:.6e}").parse().unwrap_or(value)
}
