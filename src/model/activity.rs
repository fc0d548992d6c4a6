//! What an agent did in an iteration: the part of its transcripts that is the iteration's, and what its tool calls add up to
//! (ANALYSIS §10).

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::calls::Issue;
use super::ids::ObjectId;

/// How far a transcript was read. What comes after it is a later iteration's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TranscriptMark {
    /// Calls, results and turns from its beginning.
    pub lines: u64,
    /// Hash of what tells these apart from those of any other transcript: a file that begins with them goes on from here.
    pub hash: ObjectId,
    /// Tokens from its beginning; absent if it does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// US dollars from its beginning; absent if it does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

/// An iteration's part of a transcript.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TranscriptPart {
    /// The file or folder, as the user would type it.
    pub path: String,
    /// The format it was read as.
    pub format: String,
    /// The calls, one a line as `monitor` reads them: their copy's name in the iteration's `artifacts/`.
    pub artifact: String,
    /// BLAKE3 of that copy.
    pub blake3: ObjectId,
    /// Where the part ends.
    pub end: TranscriptMark,
    /// Lines or steps of the whole file that were not understood.
    #[serde(default, skip_serializing_if = "super::is_zero")]
    pub skipped: u64,
    /// Tokens spent in this part; absent if that cannot be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// US dollars spent in this part; absent if that cannot be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

/// What an iteration's tool calls add up to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Activity {
    /// Calls.
    pub tool_calls: u64,
    /// Those that read a file.
    pub reads: u64,
    /// Those that looked for files or text.
    pub searches: u64,
    /// Those that changed files.
    pub edits: u64,
    /// Those that ran a command.
    pub runs: u64,
    /// Searches that are known to have found nothing.
    pub empty_searches: u64,
    /// Of these, the most in a row.
    pub longest_empty_streak: u64,
    /// File → times it was read; the hundred that were read most.
    pub files_read: BTreeMap<String, u64>,
    /// First components of the paths that were touched.
    pub top_level_dirs: BTreeSet<String>,
    /// What the monitor found, each kind once for each file.
    pub issues: Vec<Issue>,
}
