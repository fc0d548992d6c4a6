//! The shapes of `mcp`'s answers that no command prints. Their schemas are made from these types.

use serde::{Deserialize, Serialize};

use super::answers::{Best, LogLine};
use crate::model::ids::{Iteration, LoopId};
use crate::model::units::Score;
use crate::model::verdict::{Alert, Classification, OpenFinding, Recommendation};

/// The tools `assess` and `record`: the judgement of one iteration.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Verdict {
    /// Version of this shape.
    pub schema_version: u32,
    /// The loop.
    pub loop_id: LoopId,
    /// The newest iteration.
    pub iteration: Iteration,
    /// Its class; null if there was too little to judge.
    pub classification: Option<Classification>,
    /// The row of the table of classes that matched.
    pub class_rule: String,
    /// 0–1.
    pub quality_score: Option<Score>,
    /// What its rules and detectors found.
    pub alerts: Vec<Alert>,
    /// Losses that are open.
    pub open_findings: Vec<OpenFinding>,
    /// What to do next.
    pub recommendation: Recommendation,
    /// The best so far; null if none can be.
    pub best: Option<Best>,
    /// Reports that gave no numbers, and why.
    pub refused: Vec<String>,
    /// One short paragraph of facts.
    pub for_agent: String,
}

/// The tool `history`: a page of the trajectory.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct History {
    /// Version of this shape.
    pub schema_version: u32,
    /// The loop.
    pub loop_id: LoopId,
    /// The best so far; null if none can be.
    pub best: Option<Iteration>,
    /// Iterations of the loop that can be read.
    pub count: u64,
    /// Those of this page, in order.
    pub iterations: Vec<LogLine>,
    /// There are earlier ones: what `before` gives the page of.
    pub before: Option<Iteration>,
}

/// The tool `best`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Peak {
    /// Version of this shape.
    pub schema_version: u32,
    /// The loop.
    pub loop_id: LoopId,
    /// The newest iteration.
    pub newest: Iteration,
    /// The best so far; null if none can be.
    pub best: Option<LogLine>,
}

/// The tool `report`: a page of a report.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ReportPage {
    /// Version of this shape.
    pub schema_version: u32,
    /// The loop.
    pub loop_id: LoopId,
    /// What was asked for; absent, it is the loop as a whole, or the newest iteration where the format tells one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub what: Option<String>,
    /// Of the text.
    pub format: String,
    /// Bytes of the whole text.
    pub bytes: u64,
    /// Where the page begins in it, in bytes.
    pub offset: u64,
    /// The page.
    pub text: String,
    /// There is more: where the next page begins, in bytes.
    pub next_offset: Option<u64>,
}
