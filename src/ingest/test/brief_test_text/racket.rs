//! What `raco test` says at the end of all files: in it stands what RackUnit summed up in each of them.

use crate::error::Result;
use crate::ingest::test::text_report::Summary;
use crate::ingest::values::whole;

/// A run of `raco test`, or files that RackUnit tells of without one.
#[derive(Debug, Default)]
pub(super) struct Racket {
    /// A file was begun, and the end of the run has not come.
    is_running: bool,
    /// What RackUnit summed up: it counts unless the run's end does.
    of_files: Option<Summary>,
    /// Files that ended otherwise than by their last line.
    broken: u64,
}

impl Racket {
    /// `raco test: "cart.rkt"`, `cart.rkt: raco test: non-zero exit: 1`, and the end: `3/6 test failures`, `2 tests passed`.
    pub(super) fn line(&mut self, text: &str) -> Option<(&'static str, Summary)> {
        if text.starts_with("raco test: ") {
            self.is_running = true;
            return None;
        }
        if text.contains(": raco test: ") {
            self.broken = self.broken.saturating_add(1);
            return None;
        }
        let mut summary = match text.strip_suffix(" test failures").and_then(|told| told.split_once('/')) {
            Some((failed, all)) => {
                let (failed, all) = (whole(failed)?, whole(all)?);
                Summary { passed: all.checked_sub(failed)?, failed, ..Summary::default() }
            }
            None => {
                let passed = text.strip_suffix(" tests passed").or_else(|| text.strip_suffix(" test passed"))?;
                let passed = whole(passed).filter(|_| self.is_running || self.of_files.is_some())?;
                Summary { passed, ..Summary::default() }
            }
        };
        // Most of them are among the failures.
        summary.errored = self.broken.saturating_sub(summary.failed);
        *self = Racket::default();
        Some(("raco test", summary))
    }

    /// Takes what RackUnit summed up in a file.
    pub(super) fn file(&mut self, summary: &Summary) -> Result<()> {
        self.of_files.get_or_insert_default().merge(summary)
    }

    /// What no end of a run counts, and whether a run did not come to its end.
    pub(super) fn told(self) -> (Option<Summary>, bool) {
        let is_cut = self.is_running && (self.of_files.is_some() || self.broken > 0);
        (self.of_files, is_cut)
    }

    /// Whether files told their sums.
    pub(super) fn is_there(&self) -> bool {
        self.of_files.is_some()
    }
}
