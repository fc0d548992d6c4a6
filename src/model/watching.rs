//! Thresholds of what watches a loop between its iterations: a supervisor's steps, an agent's tool calls.

use serde::{Deserialize, Serialize};

/// The snapshot controller (ANALYSIS §11).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Controller {
    /// Steps that a run may take.
    pub max_steps: u64,
    /// Equal states that are too many: in a row, or within the window.
    pub repeats: u32,
    /// Snapshots, this one among them, in which a returning state is counted.
    pub window: u32,
    /// Snapshots without fewer failing tests or errors that are too many.
    pub patience: u32,
    /// Snapshots that are kept.
    pub history: u32,
    /// The stuck handler may suggest wider edits.
    pub allow_widen: bool,
    /// Profiles in the order in which the stuck handler may suggest them; empty is none.
    pub profiles: Vec<String>,
}

/// The tool-call monitor (ANALYSIS §10).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Monitor {
    /// Calls, this one among them, in which equal and similar ones are counted.
    pub window: u32,
    /// Equal calls without an edit in between that are a cycle.
    pub cycle: u32,
    /// The same for calls that only wait.
    pub waits: u32,
    /// Reads of one file that are too many.
    pub file_reads: u32,
    /// Unequal calls of one tool with similar arguments that are too many.
    pub similar_calls: u32,
    /// Share of common words, 0–1, from which arguments are similar.
    pub similarity: f64,
    /// Last searches that the hit rate is taken of.
    pub searches: u32,
    /// Share of them with a result, 0–1, below which searching yields little.
    pub hit_rate: f64,
    /// Top-level directories above which the scope creeps; one fewer is a first sign.
    pub directories: u32,
    /// Searches in a row without a result that are too many.
    pub empty_streak: u32,
    /// Calls in a row without an edit that are too many.
    pub no_edit: u32,
    /// Where hashes of results are known, reading a file often is told only if it brought nothing new.
    pub refine: bool,
}
