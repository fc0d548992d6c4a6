//! Lines that ran before and do not run now, though they did not change (ANALYSIS §12.3).

use serde::{Deserialize, Serialize};

use super::ids::Iteration;

/// All of them, between two iterations whose reports tell the lines of files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LostLines {
    /// The iteration compared with.
    pub since: Iteration,
    /// Lines that ran then, in all files of its reports.
    pub covered: u64,
    /// Those of them that did not change, and do not run now.
    pub lost: u64,
    /// Where they are, the file with most of them first; at most 20 files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<LostInFile>,
}

/// Those of one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LostInFile {
    /// Its path in the work tree; as the reports name it, where that is not the name of one file there.
    pub path: String,
    /// How many.
    pub lost: u64,
    /// Their numbers as the file is now, ascending; the first 20.
    pub lines: Vec<u64>,
    /// No report names the file now.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_unreported: bool,
}
