//! What Criterion warns of: a test that crashed while it was set up is among those that failed, one that crashed while it was
//! torn down among those that passed.

use crate::ingest::test::text_report::Summary;
use crate::ingest::values::leading_in;

/// A run of Criterion's.
#[derive(Debug, Default)]
pub(super) struct Criterion {
    /// Tests that crashed beside their own code, and those that are told to have failed.
    crashed: u64,
    failed: u64,
}

impl Criterion {
    /// `[FAIL] cart::adds: (0.00s)`, ``[----] Warning! The test `cart::adds` crashed during its setup or teardown.``, and the
    /// summary, in which the first are.
    pub(super) fn line(&mut self, text: &str) -> Option<(&'static str, Summary)> {
        if text.starts_with("[----] Warning! The test `") {
            self.crashed = self.crashed.saturating_add(1);
        } else if text.starts_with("[FAIL] ") {
            self.failed = self.failed.saturating_add(1);
        }
        let (_, failing) = text.strip_prefix("[====] Synthesis: ")?.split_once(" Failing: ")?;
        let (failing, _) = leading_in(failing)?;
        let Criterion { crashed, failed } = std::mem::take(self);
        let errored = crashed.saturating_sub(failing.saturating_sub(failed));
        (errored > 0).then(|| ("Criterion", Summary { errored, ..Summary::default() }))
    }
}
