//! An agent's tool calls as the monitor reads them, and what it finds in them (ANALYSIS §10).

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::verdict::Severity;

/// What a line on the standard input of `monitor` tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// A tool is called, or was: `tool`, and `result` if it is known already.
    #[default]
    Call,
    /// What a call told before came to: `id` and `result`.
    Result,
    /// The user said something new: everything counted so far is forgotten.
    NewTurn,
    /// Asks for what was counted so far.
    Metrics,
}

/// A line on the standard input of `monitor`. Keys that are not listed here are passed over.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CallLine {
    /// What the line tells; a call if it does not say.
    #[serde(default)]
    pub event: Event,
    /// The call's name, which its result refers to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The tool's name. Every call has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// As the tool got them.
    #[serde(default, skip_serializing_if = "serde_json::Value::is_null")]
    pub args: serde_json::Value,
    /// The files and directories it is about; without it, those that the usual keys of `args` name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paths: Option<Vec<String>>,
    /// What the tool does; without it, the tool's name decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<CallKind>,
    /// What came of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<CallResult>,
}

/// A line of an iteration's `activity.jsonl`: a call with its result, as `monitor` reads it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ActivityLine {
    /// Version of this layout.
    pub schema_version: u32,
    /// When it was told, UTC.
    pub at: DateTime<Utc>,
    /// The agent's session, and the subagent if it is one's: each is watched by itself.
    pub session: String,
    /// The call. Long texts in its arguments are cut, with their length and BLAKE3 in place of the rest.
    #[serde(flatten)]
    pub call: CallLine,
}

/// What a tool does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CallKind {
    /// Reads a file.
    Read,
    /// Looks for files or text.
    Search,
    /// Changes files.
    Edit,
    /// Runs a command.
    Run,
    /// Anything else.
    Other,
}

/// What came of a call. All of it may be unknown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CallResult {
    /// Nothing was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub empty: Option<bool>,
    /// How much was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hits: Option<u64>,
    /// It did what it should.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ok: Option<bool>,
    /// Anything that is equal exactly when what was returned is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
}

impl CallResult {
    /// Whether a search found something, if that is known.
    pub fn is_hit(&self) -> Option<bool> {
        self.empty.map(|empty| !empty).or(self.hits.map(|hits| hits > 0))
    }
}

/// What the monitor looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum IssueType {
    /// The very same call again and again, and nothing was edited.
    ExactCycle,
    /// One file is read again and again.
    RepeatedFile,
    /// Calls that hardly differ.
    SimilarCalls,
    /// Searches yield little.
    LowHitRate,
    /// Files in many places are touched.
    ScopeCreep,
    /// Search after search without a result.
    EmptyStreak,
    /// Call after call without an edit.
    NoEdit,
}

impl IssueType {
    /// As stored, and as the key under `rules` in the config.
    pub fn name(self) -> &'static str {
        match self {
            IssueType::ExactCycle => "exact_cycle",
            IssueType::RepeatedFile => "repeated_file",
            IssueType::SimilarCalls => "similar_calls",
            IssueType::LowHitRate => "low_hit_rate",
            IssueType::ScopeCreep => "scope_creep",
            IssueType::EmptyStreak => "empty_streak",
            IssueType::NoEdit => "no_edit",
        }
    }
}

/// Something that was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Issue {
    /// What.
    pub issue_type: IssueType,
    /// `high` is told to the agent at once, `medium` together with another kind of medium, `low` never.
    pub severity: Severity,
    /// For the agent.
    pub message: String,
    /// The rule is set to observe: it is told here, and never to the agent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub observe_only: bool,
    /// What it was found by.
    pub metadata: IssueMetadata,
}

/// The figures of an issue; those that belong to its type.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct IssueMetadata {
    /// Calls, reads, searches or directories.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// The file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_path: Option<String>,
    /// Share of searches with a result, 0–1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hit_rate: Option<f64>,
    /// Top-level directories.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dir_count: Option<u64>,
    /// Reads that brought content seen before, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen_before: Option<u64>,
    /// The call that it was found at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
}

/// A line on the standard output of `monitor`: one for each line read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Watched {
    /// Version of this shape.
    pub schema_version: u32,
    /// The call's name, as given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The line itself, where it was read from a transcript.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<CallLine>,
    /// What is new, or has doubled since it was told, or got more severe.
    pub issues: Vec<Issue>,
    /// What the agent should be told now; empty is nothing.
    pub inject: Vec<String>,
    /// What was counted so far, where the line asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metrics: Option<CallMetrics>,
}

/// What was counted in this turn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CallMetrics {
    /// Calls.
    pub calls: u64,
    /// Path → how often it was read.
    pub file_access_count: BTreeMap<String, u64>,
    /// Searches.
    pub search_metrics: SearchMetrics,
    /// First components of the paths that were touched.
    pub unique_top_level_dirs: BTreeSet<String>,
    /// The last calls, the newest last.
    pub recent_calls: Vec<RecentCall>,
}

/// Searches of which it is known what they found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SearchMetrics {
    /// All.
    pub total_searches: u64,
    /// Those that found nothing.
    pub empty_results: u64,
    /// Those that found nothing since one found something.
    pub consecutive_empty: u64,
}

/// A call among the last ones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RecentCall {
    /// Its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The tool.
    pub tool: String,
    /// What the tool does.
    pub kind: CallKind,
    /// As canonical JSON: keys sorted, no white space.
    pub args: String,
}
