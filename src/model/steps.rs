//! What a supervisor tells of its run, a state a line, and what the snapshot controller answers (ANALYSIS §11).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::cases::Outcome;
use super::ids::ObjectId;

/// A supervisor's state after one hop: a line on the standard input of `steps`. All but the node may be unknown; keys that
/// are not listed here are passed over.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct State {
    /// The node of the graph that was run: `planner`, `coder`.
    pub node: String,
    /// The step's number; without it, one more than the step before, from 1.
    #[serde(default)]
    pub step: Option<u64>,
    /// Anything that is equal exactly when the work tree is: a commit, a hash, a snapshot's `tree_key`.
    #[serde(default)]
    pub tree: Option<String>,
    /// Files changed so far. Where no tree is given, this stands in for it.
    #[serde(default)]
    pub file_change_count: Option<u64>,
    /// What compilers, linters and language servers said last.
    #[serde(default)]
    pub diagnostics: Option<Vec<Diagnostic>>,
    /// The supervisor's own hash of the diagnostics, if it does not tell them.
    #[serde(default)]
    pub diagnostics_hash: Option<String>,
    /// Outcomes of the last test run, by test id.
    #[serde(default)]
    pub tests: Option<BTreeMap<String, Outcome>>,
    /// The supervisor's own signature of the tests, if it does not tell them.
    #[serde(default)]
    pub test_signature: Option<String>,
    /// Failing tests; without it, those of `tests` that failed or erred.
    #[serde(default)]
    pub failing: Option<u64>,
    /// Errors of tools; without it, the number of `diagnostics`.
    #[serde(default)]
    pub errors: Option<u64>,
    /// How often in a row the supervisor met the same error.
    #[serde(default)]
    pub same_error_count: Option<u64>,
    /// What was spent, in the supervisor's own unit. It only rises, so it decides nothing.
    #[serde(default)]
    pub budget_used: Option<f64>,
    /// The profile that the run uses now, one of `controller.profiles`.
    #[serde(default)]
    pub profile: Option<String>,
    /// The last test or diagnostic command.
    #[serde(default)]
    pub last_command: Option<LastCommand>,
}

/// One finding of a tool, as the supervisor knows it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Diagnostic {
    /// The tool.
    #[serde(default)]
    pub tool: Option<String>,
    /// The tool's code for it.
    #[serde(default)]
    pub code: Option<String>,
    /// The file.
    #[serde(default)]
    pub path: Option<String>,
    /// The tool's words. Numbers, paths and quoted text in them do not make two findings different.
    #[serde(default)]
    pub message: String,
}

/// A command and what came of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LastCommand {
    /// As typed.
    pub command: String,
    /// Absent if it never ended.
    #[serde(default)]
    pub exit_code: Option<i32>,
    /// What it printed, or the part of it that matters.
    #[serde(default)]
    pub output: Option<String>,
}

/// A state reduced to what is compared: hashes and counts. Unknown is absent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Snapshot {
    /// The step's number, from 1.
    pub step: u64,
    /// The node.
    pub node: String,
    /// As given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
    /// Files changed so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_change_count: Option<u64>,
    /// Hash of what the tools said, without line numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diagnostics_hash: Option<String>,
    /// Hash of the tests and their outcomes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_signature: Option<String>,
    /// Failing tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failing: Option<u64>,
    /// Errors of tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errors: Option<u64>,
    /// As given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_error_count: Option<u64>,
    /// As given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_used: Option<f64>,
    /// As given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// What the agent cannot mend, as the tools' words tell it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub obstacle: Option<Obstacle>,
    /// Hash of node, tree, diagnostics and tests; absent if nothing but the node is known, for a node alone is no state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<ObjectId>,
}

/// What an agent cannot mend from inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Obstacle {
    /// A program is not installed.
    Tool,
    /// A package is not installed.
    Dependency,
    /// The system refuses.
    Permission,
    /// The network does not answer.
    Network,
}

impl Obstacle {
    /// For people.
    pub fn about(self) -> &'static str {
        match self {
            Obstacle::Tool => "a tool is missing",
            Obstacle::Dependency => "a dependency is missing",
            Obstacle::Permission => "a permission is missing",
            Obstacle::Network => "the network does not answer",
        }
    }
}

/// Whether a run gets on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StepStatus {
    /// It does, as far as can be told.
    Ok,
    /// It probably does not.
    StuckCandidate,
}

/// Which rule found the run stuck, in the order in which they are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StuckReason {
    /// More steps than allowed.
    MaxSteps,
    /// One state, several times in a row.
    RepeatedState,
    /// States that take turns.
    Alternating,
    /// A state that keeps coming back.
    RevisitedState,
    /// Work that mends nothing.
    NoImprovement,
}

impl StuckReason {
    /// As stored, and as the key under `rules` in the config.
    pub fn name(self) -> &'static str {
        match self {
            StuckReason::MaxSteps => "max_steps",
            StuckReason::RepeatedState => "repeated_state",
            StuckReason::Alternating => "alternating",
            StuckReason::RevisitedState => "revisited_state",
            StuckReason::NoImprovement => "no_improvement",
        }
    }
}

/// A rule that fired: why, and over which steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Stuck {
    /// The rule.
    pub reason: StuckReason,
    /// The facts, in one sentence.
    pub detail: String,
    /// The first step that counts for it.
    pub from_step: u64,
    /// The last one.
    pub to_step: u64,
}

/// What could be done about a run that is stuck. Each is suggested once a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Suggestion {
    /// Ask a person.
    EscalateToHuman,
    /// Go on with another profile.
    SwitchProfile,
    /// Allow wider edits.
    WidenScope,
    /// End the run and tell why.
    AbortWithExplanation,
}

/// The one value of `terminal_status`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TerminalStatus {
    /// The run is over. A planner that meets this does not plan again.
    AbortedStuck,
}

/// What the controller says of a run after a step: a line on the standard output of `steps`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Assessment {
    /// Version of this shape.
    pub schema_version: u32,
    /// The step's number.
    pub step: u64,
    /// Whether the run gets on.
    pub status: StepStatus,
    /// The first rule that fired; absent while the run gets on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stuck: Option<Stuck>,
    /// Rules that fired and are set to observe: they are told, and decide nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub observed: Vec<Stuck>,
    /// Set when the run is stuck.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminal_status: Option<TerminalStatus>,
    /// What could be done instead of ending.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<Suggestion>,
    /// For `switch_profile`: the next one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// One paragraph for the run's report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_we_stopped: Option<String>,
    /// What the last command printed: its last lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_output: Option<String>,
    /// The last five snapshots, when the run is stuck.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub last_snapshots: Vec<Snapshot>,
}
