//! Old tests run on new code, and new tests on old code: what proves or refutes that tests were tampered with (ANALYSIS §12.4).

use serde::{Deserialize, Serialize};

use super::ids::Iteration;

/// What the runs in copies of the work tree told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TamperProof {
    /// The iteration whose tests are the old ones, and whose code is the old one.
    pub since: Iteration,
    /// What was run in each copy, as one line; absent where the old tests stand as they were, and nothing had to be run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The tests that failed then and do not now, and those that passed then and, as they were, fail on the new code; at most
    /// 200.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<ProvenTest>,
    /// Why nothing is proven, or not all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inconclusive: Option<String>,
}

/// How one test ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ProvenTest {
    /// Its id.
    pub id: String,
    /// It failed at `since`.
    pub failed_before: bool,
    /// As it was then, it passes on the code as it is now; absent where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_passes_on_new_code: Option<bool>,
    /// As it is now, it passes (or is skipped) on the code as it was then; absent where that was not asked, or is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_passes_on_old_code: Option<bool>,
}

/// What two such runs prove.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proven {
    /// It failed, and as it was it passes now: the code was mended.
    HonestFix,
    /// It failed, as it was it fails still, and as it is it passed on the old code, too: the edit alone turned it.
    Tampered,
    /// It failed, as it was it fails still, and as it is it needs the new code: both moved.
    SpecChange,
    /// It passed, and as it was it passes still.
    NothingHidden,
    /// It passed, and as it was it fails on the new code.
    HiddenRegression,
}

impl ProvenTest {
    /// By the table of ANALYSIS §12.4; `None` where a run that it needs told nothing.
    pub fn proven(&self) -> Option<Proven> {
        Some(match (self.failed_before, self.old_passes_on_new_code?) {
            (true, true) => Proven::HonestFix,
            (true, false) if self.new_passes_on_old_code? => Proven::Tampered,
            (true, false) => Proven::SpecChange,
            (false, true) => Proven::NothingHidden,
            (false, false) => Proven::HiddenRegression,
        })
    }
}

impl TamperProof {
    /// The tests of which that was proven.
    pub fn all(&self, proven: Proven) -> impl Iterator<Item = &str> {
        self.tests.iter().filter(move |test| test.proven() == Some(proven)).map(|test| test.id.as_str())
    }

    /// Whether the test, as it was, passes on the code as it is.
    pub fn old_passes(&self, id: &str) -> bool {
        self.tests.iter().any(|test| test.id == id && test.old_passes_on_new_code == Some(true))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_two_runs() {
        use Proven::{HiddenRegression, HonestFix, NothingHidden, SpecChange, Tampered};
        let (pass, fail) = (Some(true), Some(false));
        for (failed_before, old_on_new, new_on_old, proven) in [
            (true, pass, None, Some(HonestFix)),
            (true, pass, fail, Some(HonestFix)),
            (true, fail, pass, Some(Tampered)),
            (true, fail, fail, Some(SpecChange)),
            (true, fail, None, None),
            (true, None, pass, None),
            (false, pass, None, Some(NothingHidden)),
            (false, fail, None, Some(HiddenRegression)),
            (false, fail, pass, Some(HiddenRegression)),
            (false, None, None, None),
        ] {
            let test = ProvenTest {
                id: "t::a".to_owned(),
                failed_before,
                old_passes_on_new_code: old_on_new,
                new_passes_on_old_code: new_on_old,
            };
            assert_eq!(test.proven(), proven, "{test:?}");
        }
    }
}
