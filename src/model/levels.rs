//! Where the level of a metric changed for good (ANALYSIS §12.6).

use serde::{Deserialize, Serialize};

use super::ids::Iteration;

/// One metric over the iterations that led to the newest one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MetricLevels {
    /// `quality_score`, `coverage_percentage`, or a metric of the user's own.
    pub metric: String,
    /// How many iterations have it.
    pub values: u64,
    /// Its changes of level, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<LevelChange>,
    /// It moves steadily instead, by this much an iteration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trend: Option<f64>,
    /// Why there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_none: Option<String>,
}

/// A change of level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LevelChange {
    /// The first iteration of the new level.
    pub iteration: Iteration,
    /// The mean of the level before.
    pub before: f64,
    /// The mean of the new level.
    pub after: f64,
    /// The probability, 0–1, of two such levels being one.
    pub p: f64,
    /// The iteration at which it could be told for the first time.
    pub seen_at: Iteration,
}
