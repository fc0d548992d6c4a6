//! The answers of `hook`, and the note that it keeps.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::HookFaults;
use crate::model::ids::ObjectId;

/// What is kept of a file before hooks go into it, beside a copy of its text.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Note {
    /// Version of this shape.
    pub schema_version: u32,
    /// The file.
    pub file: PathBuf,
    /// Whether it was there; if not, there is no copy.
    pub was_there: bool,
    /// The folders that were made for it, the outermost first.
    pub folders: Vec<PathBuf>,
    /// BLAKE3 of what was written.
    pub written: ObjectId,
}

/// `hook install --json`, `hook uninstall --json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Changes {
    /// Version of this shape.
    pub schema_version: u32,
    /// Nothing was written.
    pub dry_run: bool,
    /// Whose config it is.
    pub scope: Scope,
    /// The agents that were meant.
    pub agents: Vec<AgentChanges>,
}

/// Whose config.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// The work tree's.
    Project,
    /// The user's own.
    User,
}

/// What became of one agent's config.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AgentChanges {
    /// The agent.
    pub agent: String,
    /// What shows that it is used here; null if nothing does.
    pub found_by: Option<String>,
    /// Its files.
    pub files: Vec<FileChange>,
    /// What the user has to know, or to do once.
    pub advice: String,
    /// The setting, and its file, by which the agent runs no hooks at all; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub switched_off: Option<String>,
}

/// What became of one file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FileChange {
    /// The file.
    pub path: String,
    /// The file that was edited, if a link led to it.
    pub real_path: Option<String>,
    /// What happened to it.
    pub change: Change,
    /// A copy of it as it was; null if it was not there, or nothing is to be kept.
    pub kept: Option<String>,
    /// The change, as `diff -u` tells it; null if there is none.
    pub diff: Option<String>,
}

/// What happened to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// It was made.
    Created,
    /// Our entries were added to it, brought up to date, or taken out of it.
    Changed,
    /// It was made by us and went.
    Removed,
    /// Nothing: it is as it should be.
    Unchanged,
}

/// `hook status --json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Status {
    /// Version of this shape.
    pub schema_version: u32,
    /// Every agent that is known.
    pub agents: Vec<AgentStatus>,
    /// The program that the hooks would run.
    pub program: Program,
    /// What hooks of this work tree swallowed; absent if nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hook_faults: Option<HookFaults>,
}

/// Where one agent's hooks are.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AgentStatus {
    /// The agent.
    pub agent: String,
    /// What shows that it is used here; null if nothing does.
    pub found_by: Option<String>,
    /// Its files, those of the work tree first.
    pub files: Vec<FileStatus>,
    /// The setting, and its file, by which the agent runs no hooks at all; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub switched_off: Option<String>,
}

/// What one file says of our hooks.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FileStatus {
    /// Whose config it is.
    pub scope: Scope,
    /// The file.
    pub path: String,
    /// What it says.
    pub state: HookState,
    /// Why it cannot be read.
    pub error: Option<String>,
}

/// What a file says of our hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum HookState {
    /// Nothing.
    Absent,
    /// What this version would write.
    Current,
    /// Something else: an older version wrote it, or somebody changed it.
    Differs,
    /// It cannot be read.
    Unreadable,
}

/// The program that the hooks would run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Program {
    /// The `highwater` that PATH leads to; null if there is none, and hooks cannot run.
    pub path: Option<String>,
    /// Whether it is the one that answers now.
    pub is_this: bool,
}
