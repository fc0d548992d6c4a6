//! What became of the tests between two iterations, by name (ANALYSIS §12.1).

use serde::{Deserialize, Serialize};

use super::verdict::NamedTests;

/// Why two ids are one test. Ordered from the surest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SameBecause {
    /// They are one id as two formats spell it.
    Spelling,
    /// Their source without name and decorators is the same.
    Body,
    /// They have the same name, in other files.
    Name,
    /// They have the same name without its parameters.
    Parameters,
    /// Their names share four words of five, in one file.
    Words,
}

impl SameBecause {
    /// In a sentence: the same …
    pub fn what(self) -> &'static str {
        match self {
            SameBecause::Spelling => "same id",
            SameBecause::Body => "same body",
            SameBecause::Name => "same name",
            SameBecause::Parameters => "other parameters",
            SameBecause::Words => "names alike",
        }
    }
}

/// One test under two ids.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Renamed {
    /// Its id before.
    pub from: String,
    /// Its id now.
    pub to: String,
    /// Why it is the same test.
    pub because: SameBecause,
}

/// Tests by what became of them. A renamed test is one test, told by its id now.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Transitions {
    /// Passed, and fail or error now.
    #[serde(skip_serializing_if = "NamedTests::is_empty")]
    pub newly_failing: NamedTests,
    /// Failed or errored, and pass now.
    #[serde(skip_serializing_if = "NamedTests::is_empty")]
    pub fixed: NamedTests,
    /// Ran, and are skipped now.
    #[serde(skip_serializing_if = "NamedTests::is_empty")]
    pub newly_skipped: NamedTests,
    /// Were skipped, and run now.
    #[serde(skip_serializing_if = "NamedTests::is_empty")]
    pub unskipped: NamedTests,
    /// Passed, and are gone.
    #[serde(skip_serializing_if = "NamedTests::is_empty")]
    pub removed_passing: NamedTests,
    /// Failed or errored, and are gone.
    #[serde(skip_serializing_if = "NamedTests::is_empty")]
    pub removed_failing: NamedTests,
    /// Are new and pass.
    #[serde(skip_serializing_if = "NamedTests::is_empty")]
    pub added_passing: NamedTests,
    /// Are new, and fail or error.
    #[serde(skip_serializing_if = "NamedTests::is_empty")]
    pub added_failing: NamedTests,
    /// Failed and passed on the tree of now.
    #[serde(skip_serializing_if = "NamedTests::is_empty")]
    pub flaky: NamedTests,
    /// How many have another id.
    #[serde(skip_serializing_if = "super::is_zero")]
    pub renamed_count: u64,
    /// The first twenty of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub renamed: Vec<Renamed>,
}

impl Transitions {
    /// All but the renames, each with its name for people, in the order of this type.
    pub fn lists(&self) -> [(&'static str, &NamedTests); 9] {
        [
            ("newly failing", &self.newly_failing),
            ("fixed", &self.fixed),
            ("newly skipped", &self.newly_skipped),
            ("unskipped", &self.unskipped),
            ("removed, passed before", &self.removed_passing),
            ("removed, failed before", &self.removed_failing),
            ("added, passing", &self.added_passing),
            ("added, failing", &self.added_failing),
            ("flaky", &self.flaky),
        ]
    }
}
