//! How far an iteration got: the progress score of what was said and changed (ANALYSIS §8), and the estimate of how much of
//! the goal is reached (§9).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::ids::{Iteration, LoopId, ObjectId};
use super::units::{Percent, Score};

/// What the agent said in an iteration: its output, kept byte for byte.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Output {
    /// The file, as the user would type it.
    pub path: String,
    /// Its copy's name in the iteration's `artifacts/`.
    pub artifact: String,
    /// BLAKE3 of its bytes.
    pub blake3: ObjectId,
}

/// Lines that differ between the snapshots of an iteration and of the one it started from. Reports and the agent's output
/// are left out; a binary file has no lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LineChanges {
    /// Lines that came.
    pub insertions: u64,
    /// Lines that went.
    pub deletions: u64,
}

impl LineChanges {
    /// Both together.
    pub fn all(self) -> u64 {
        self.insertions.saturating_add(self.deletions)
    }
}

/// The four signals of S000.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SignalName {
    /// How different the output is from the one before.
    OutputDiff,
    /// How many lines of the work tree changed.
    FileChanges,
    /// `<progress>…</progress>` in the output.
    Markers,
    /// List items got checked off.
    Checklist,
}

impl SignalName {
    /// The weight, 0–1, while all four are known; they sum to 1.
    pub fn weight(self) -> f64 {
        match self {
            SignalName::OutputDiff | SignalName::FileChanges => 0.30,
            SignalName::Markers => 0.25,
            SignalName::Checklist => 0.15,
        }
    }

    /// As S000 names it.
    pub fn name(self) -> &'static str {
        match self {
            SignalName::OutputDiff => "output_diff",
            SignalName::FileChanges => "file_changes",
            SignalName::Markers => "markers",
            SignalName::Checklist => "checklist",
        }
    }
}

/// What two outputs were compared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ComparedBy {
    /// Code points, as S000 does.
    CodePoints,
    /// Lines, because there were too many code points.
    Lines,
    /// Lines in whatever order, because there were too many lines.
    BagOfLines,
}

/// One signal.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Signal {
    /// Which.
    pub name: SignalName,
    /// 0–1.
    pub value: f64,
    /// Its share of the score, 0–1: the weights of those that are known sum to 1.
    pub weight: f64,
}

/// The progress score of an iteration, and how the loop stands by it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Progress {
    /// 0–1.
    pub score: Score,
    /// There was nothing to compare with: the score is 1 and never counts as none.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_first: bool,
    /// Those that are known.
    pub signals: Vec<Signal>,
    /// What the outputs were compared by; absent if they were not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compared_by: Option<ComparedBy>,
    /// The score is below the threshold.
    pub no_progress: bool,
    /// It is above it by other words alone.
    pub talk_only: bool,
    /// Iterations without progress in a row, this one among them; those that only talked are passed over.
    pub no_progress_count: u32,
    /// Iterations in a row that only talked, this one among them.
    pub talk_only_count: u32,
    /// Either is too many.
    pub is_stuck: bool,
}

/// Where an estimate comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum EstimateSource {
    /// Somebody else made it.
    External,
    /// From tests, checklist and score.
    Heuristic,
    /// Nothing was known: half if the last step succeeded, else nothing.
    Fallback,
}

impl EstimateSource {
    /// As stored.
    pub fn name(self) -> &'static str {
        match self {
            EstimateSource::External => "external",
            EstimateSource::Heuristic => "heuristic",
            EstimateSource::Fallback => "fallback",
        }
    }
}

/// Who made an estimate that is not ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Estimator {
    /// `--estimate`.
    Caller,
    /// `estimate.command`.
    Command,
    /// `estimate.endpoint`.
    Endpoint,
}

impl Estimator {
    /// As stored.
    pub fn name(self) -> &'static str {
        match self {
            Estimator::Caller => "caller",
            Estimator::Command => "command",
            Estimator::Endpoint => "endpoint",
        }
    }
}

/// How much of the goal is reached, and what stands in the way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ProgressEstimate {
    /// 0–100.
    pub progress_percent: Percent,
    /// Why.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    /// What has to happen next.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub next_milestone: String,
    /// What stands in the way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blockers: Vec<String>,
    /// The last estimates hardly differ; absent if that cannot be told, because all of them are fallbacks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_stuck: Option<bool>,
    /// Where it comes from.
    pub source: EstimateSource,
    /// Who made it, if it is external.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Estimator>,
    /// What else the estimator said.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub extra: BTreeMap<String, serde_json::Value>,
}

/// An estimate, as later iterations need to know it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EstimateMark {
    /// 0–100.
    pub progress_percent: Percent,
    /// As recorded.
    pub source: EstimateSource,
    /// As recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_stuck: Option<bool>,
}

impl EstimateMark {
    /// The projection of an estimate.
    pub fn of(estimate: &ProgressEstimate) -> EstimateMark {
        EstimateMark {
            progress_percent: estimate.progress_percent,
            source: estimate.source,
            is_stuck: estimate.is_stuck,
        }
    }
}

/// What an estimator is told: one JSON object on the standard input of `estimate.command`, and the prompt of
/// `estimate.endpoint` in words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EstimatePrompt {
    /// Version of this shape.
    pub schema_version: u32,
    /// The loop.
    pub loop_id: LoopId,
    /// The iteration that is estimated.
    pub iteration: Iteration,
    /// What the loop is for; absent if `begin` was not told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
    /// Iterations before this one, the baseline not counted.
    pub completed_steps: u32,
    /// What the agent did: the end of its output, else the label; absent if neither is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latest_action: Option<String>,
    /// What was measured.
    pub latest_outcome: String,
    /// What earlier iterations came to, one a line.
    pub known_facts: Vec<String>,
}
