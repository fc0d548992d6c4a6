//! Thresholds of what watches a loop beside its reports: a supervisor's steps, an agent's tool calls, output and hooks,
//! estimates.

use serde::{Deserialize, Serialize};

/// The snapshot controller (ANALYSIS §11).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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

/// The progress score (ANALYSIS §8).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Progress {
    /// Score, 0–1, below which there was no progress.
    pub threshold: f64,
    /// Iterations without progress in a row that are stuck.
    pub stuck_after: u32,
    /// Iterations in a row that only talked that are stuck.
    pub talk_only_after: u32,
    /// Code points of an output above which lines are compared instead.
    pub max_codepoints: u32,
    /// Compares as Python does by default. On repetitive logs that finds almost everything new.
    pub autojunk: bool,
    /// What differs from run to run although nothing happened (times, durations, addresses, temporary paths) is no news.
    pub mask_volatile: bool,
}

/// The progress estimate (ANALYSIS §9).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Estimate {
    /// Estimates in a row that are looked at.
    pub window: u32,
    /// Percentage points that they must differ by.
    pub min_spread: f64,
    /// A program and its arguments, fed the prompt as JSON; empty is none.
    pub command: Vec<String>,
    /// A chat completions endpoint.
    pub endpoint: Endpoint,
    /// Milliseconds that the command and the endpoint may take together.
    pub timeout_ms: u64,
}

impl Estimate {
    /// Somebody outside is to be asked.
    pub fn asks(&self) -> bool {
        !self.command.is_empty() || self.endpoint.base_url.is_some()
    }
}

/// An endpoint that speaks the chat completions protocol.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Endpoint {
    /// Where `/chat/completions` is: `https://host/v1`; null is none.
    pub base_url: Option<String>,
    /// The model's name.
    pub model: Option<String>,
    /// The environment variable that holds the key; null sends none.
    pub key_env: Option<String>,
}

/// What is done when an agent's hooks call (`highwater hook run`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Hook {
    /// What an agent is answered at the end of its turn.
    pub policy: HookPolicy,
    /// A program and its arguments, run at the end of a turn before the reports are read; empty is none.
    pub command: Vec<String>,
    /// Milliseconds after which it is killed.
    pub command_timeout_ms: u64,
    /// Ends of a turn that are refused in a row, at most; fewer where the agent's own cap is lower.
    pub max_consecutive_blocks: u32,
}

/// What an agent is answered at the end of its turn, where more is recommended than to continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum HookPolicy {
    /// Nothing that changes what it does.
    Observe,
    /// A loss is a reason to go on with the turn; where a stop or a person is called for, the run ends.
    Guard,
    /// As guard, and the best iteration is put back before the turn goes on.
    Restore,
}
