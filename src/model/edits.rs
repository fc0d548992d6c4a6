//! What was done to tests, and to what decides how they run, between two snapshots (ANALYSIS §12.4).

use serde::{Deserialize, Serialize};

use super::ids::{Iteration, TreePath};

/// What an edit does that may make a test pass without better code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum EditKind {
    /// A test holds fewer assertions, and no other test or helper more (T2).
    FewerAssertions,
    /// A test is skipped, expected to fail, or alone is run (T3).
    Skipped,
    /// An assertion accepts more than before: `==` became `>=`, `in`, or mere truth; a tolerance came or grew (T4).
    WeakerAssertion,
    /// What a test throws is caught and forgotten, or a command's failure is (T5).
    FailureSwallowed,
    /// What is expected is another value (T6).
    OtherExpectation,
    /// What is compared is sorted, cut, or made alike first (T7).
    SubjectWrapped,
    /// A constant or an option that turns tests or checks on is turned over (T8).
    GuardFlipped,
    /// What is tested is replaced while it is tested (T9).
    SubjectPatched,
    /// A test returns before its assertions, or the process ends as if all were well (T10).
    EarlyExit,
    /// What equals what is defined anew (T11).
    EqualityOverridden,
    /// A linter or type checker is told to be silent (T12).
    FindingSuppressed,
    /// Code is left out of the coverage (T13).
    CoverageExcluded,
    /// What runs tests and checks has less to ask for (T14).
    ConfigLoosened,
    /// A recorded expectation was recorded again, or deleted (T15).
    SnapshotRewritten,
    /// A case of a test that has many went (T1).
    CaseRemoved,
    /// An assertion of a test that failed was rewritten, in none of the ways above.
    AssertionRewritten,
    /// Code answers what a test asks with what it expects, and no other question so (T16).
    SpecialCased,
}

impl EditKind {
    /// What was done, in words.
    pub fn said(self) -> &'static str {
        match self {
            EditKind::FewerAssertions => "fewer assertions",
            EditKind::Skipped => "skipped or expected to fail",
            EditKind::WeakerAssertion => "weaker assertion",
            EditKind::FailureSwallowed => "failure swallowed",
            EditKind::OtherExpectation => "other value expected",
            EditKind::SubjectWrapped => "compared value wrapped",
            EditKind::GuardFlipped => "guard turned over",
            EditKind::SubjectPatched => "tested code replaced",
            EditKind::EarlyExit => "early exit",
            EditKind::EqualityOverridden => "equality overridden",
            EditKind::FindingSuppressed => "finding suppressed",
            EditKind::CoverageExcluded => "code excluded from coverage",
            EditKind::ConfigLoosened => "checks loosened",
            EditKind::SnapshotRewritten => "recorded expectation rewritten",
            EditKind::CaseRemoved => "case removed",
            EditKind::AssertionRewritten => "assertion rewritten",
            EditKind::SpecialCased => "a test's input answered with its expectation",
        }
    }
}

/// One such edit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TestEdit {
    /// What it does.
    pub kind: EditKind,
    /// The file.
    pub path: TreePath,
    /// The line, from 1, in the file as it is now; absent where the file is gone, or is changed as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The function or block of a test that it stands in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// How it read; at most 160 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// How it reads; at most 160 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now: Option<String>,
    /// Tests that failed before and do not now, which it may have turned.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turned: Vec<String>,
}

impl TestEdit {
    /// The file, and the test in it: `tests/test_cart.py: test_total`.
    pub fn place(&self) -> String {
        match &self.test {
            Some(test) => format!("{}: {test}", self.path),
            None => self.path.to_string(),
        }
    }

    /// What was done: `other value expected: assert x == 4 → assert x == 3`.
    pub fn said(&self) -> String {
        self.texts().map_or_else(|| self.kind.said().to_owned(), |texts| format!("{}: {texts}", self.kind.said()))
    }

    /// How the line read and reads: `assert x == 4 → assert x == 3`.
    pub fn texts(&self) -> Option<String> {
        match (&self.before, &self.now) {
            (Some(before), Some(now)) => Some(format!("{before} → {now}")),
            (Some(before), None) => Some(format!("{before} is gone")),
            (None, Some(now)) => Some(now.clone()),
            (None, None) => None,
        }
    }
}

/// All of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TestEdits {
    /// The iteration whose snapshot was compared with.
    pub since: Iteration,
    /// A file that tests can reach changed in more than comments: no test, no config of tools, no document.
    pub code_changed: bool,
    /// At most 200, in order of paths and lines.
    pub edits: Vec<TestEdit>,
}

impl TestEdits {
    /// Edits that are kept.
    pub const MOST: usize = 200;

    /// Adds further ones in their places, as far as there is room.
    pub fn add(&mut self, more: Vec<TestEdit>) {
        let room = TestEdits::MOST.saturating_sub(self.edits.len());
        self.edits.extend(more.into_iter().take(room));
        self.edits.sort_by(|one, other| (&one.path, one.line, one.kind).cmp(&(&other.path, other.line, other.kind)));
    }
}
