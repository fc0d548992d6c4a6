//! Metrics of the user's own (ANALYSIS §12.5), as far as a declared smallest effect carries: the noise of the metric is
//! not known, so one value that is worse is a suspicion, and a second one confirms it.

use super::comparison::Comparison;
use crate::model::metrics::{Direction, Metrics};
use crate::model::trajectory::Point;
use crate::model::verdict::Status;

/// How one metric moved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Move {
    /// The level compared with.
    pub before: f64,
    /// Now.
    pub now: f64,
    /// The smallest difference that matters.
    pub min_effect: f64,
    /// Positive is better, in the metric's unit.
    pub gain: f64,
    /// The iteration before was worse already, so this is the second time.
    pub is_second: bool,
}

/// How the metric `name` moved against its level: the latest ancestor, or the one before it if that was suspected to be
/// worse. `None` without values on both sides, or without a direction and a smallest effect in the config.
pub fn movement(comparison: &Comparison, name: &str) -> Option<Move> {
    let declared = comparison.config.metrics.get(name)?;
    let now = value(comparison.metrics, name)?;
    let mut earlier = comparison.ancestors().filter(|point| value(&point.metrics, name).is_some());
    let latest = earlier.next()?;
    let suspect = is_suspect(latest, name);
    let level = if suspect { earlier.next().unwrap_or(latest) } else { latest };
    let before = value(&level.metrics, name)?;
    let gain = match declared.direction {
        Direction::Higher => now - before,
        Direction::Lower => before - now,
    };
    Some(Move { before, now, min_effect: declared.min_effect?, gain, is_second: suspect })
}

/// The moves of all declared metrics, by name.
pub fn movements<'a>(comparison: &'a Comparison) -> impl Iterator<Item = (&'a str, Move)> {
    comparison.metrics.custom.keys().filter_map(|name| Some((name.as_str(), movement(comparison, name)?)))
}

fn value(metrics: &Metrics, name: &str) -> Option<f64> {
    metrics.custom.get(name)?.value
}

fn is_suspect(point: &Point, name: &str) -> bool {
    point.alerts.iter().any(|mark| {
        mark.rule == "metric_worse" && mark.subject.as_deref() == Some(name) && mark.status == Status::Suspected
    })
}
