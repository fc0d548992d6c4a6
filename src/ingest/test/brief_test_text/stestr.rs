//! What stestr says of a run whose tests it does not list: how many there were, with what was different in the run before,
//! and below it of how many it was not that they passed.

use crate::ingest::test::text_report::Summary;
use crate::ingest::values::whole;

/// What stestr told in the line before.
#[derive(Debug, Default)]
pub(super) struct Stestr {
    ran: Option<u64>,
}

impl Stestr {
    /// `Ran 16 (+14) tests in 0.241s (+0.018s)` and `FAILED (id=6, failures=6 (+6), skips=2)`.
    pub(super) fn line(&mut self, text: &str) -> Option<(&'static str, Summary)> {
        let first = |text: &str| text.split(' ').next().and_then(whole);
        let all = std::mem::replace(&mut self.ran, text.strip_prefix("Ran ").and_then(first))?;
        let told = text.strip_prefix("PASSED (id=").or_else(|| text.strip_prefix("FAILED (id="))?;
        let mut summary = Summary::default();
        for part in told.strip_suffix(')')?.split(", ").skip(1) {
            match part.split_once('=')? {
                ("failures", count) => summary.failed = first(count)?,
                ("skips", count) => summary.skipped = first(count)?,
                _ => return None,
            }
        }
        summary.passed = all.checked_sub(summary.failed)?.checked_sub(summary.skipped)?;
        Some(("stestr", summary))
    }
}
