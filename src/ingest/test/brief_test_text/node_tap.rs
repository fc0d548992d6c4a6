//! node-tap's sums, which it paints anew while its tests run, into a file as well: the last one of a run is the whole.

use super::lines::{OF_NODE_TAP, summed_up};
use crate::error::Result;
use crate::ingest::test::text_report::Summary;
use crate::ingest::values::whole;

/// What stands around the numbers up to node-tap 16: a space that has no width.
const NO_WIDTH: char = '\u{200b}';

/// `Asserts:  4 pass  1 fail  5 of 5 complete` above, or below, `Suites:   1 pass  1 fail  2 of 3 complete`.
#[derive(Debug, Default)]
pub(super) struct NodeTap {
    /// Of the runs before.
    sum: Option<Summary>,
    /// The last sum of this run.
    last: Option<Summary>,
    /// It began with nothing, as only a run does that paints.
    is_painted: bool,
    /// A suite has not ended yet.
    is_open: bool,
}

impl NodeTap {
    /// Takes a line; `true` if it is a sum of assertions.
    ///
    /// # Errors
    /// A sum is too large.
    pub(super) fn line(&mut self, text: &str) -> Result<bool> {
        if let Some(suites) = text.strip_prefix("Suites: ") {
            self.is_open = is_open(suites).unwrap_or(self.is_open);
            return Ok(false);
        }
        if !text.starts_with("Asserts: ") {
            return Ok(false);
        }
        let Some((_, summary)) = summed_up(&OF_NODE_TAP, &text.replace(NO_WIDTH, "")) else { return Ok(false) };
        let is_first = summary == Summary::default();
        if is_first || !self.is_painted {
            self.close()?;
        }
        self.is_painted |= is_first;
        // What is painted first tells of no suite yet.
        self.is_open |= is_first;
        self.last = Some(summary);
        Ok(true)
    }

    fn close(&mut self) -> Result<()> {
        self.last.take().map_or(Ok(()), |last| self.sum.get_or_insert_default().merge(&last))
    }

    /// Whether it told anything.
    pub(super) fn is_there(&self) -> bool {
        self.sum.is_some() || self.last.is_some()
    }

    /// What it told, and whether the run was killed.
    ///
    /// # Errors
    /// A sum is too large.
    pub(super) fn told(mut self) -> Result<(Option<Summary>, bool)> {
        self.close()?;
        let is_cut = self.sum.is_some() && self.is_open;
        Ok((self.sum, is_cut))
    }
}

/// Whether `1 pass  2 fail  0 skip  3 of 4 complete` or `1 failed, 3 of 4 completed` speaks of one that goes on.
fn is_open(suites: &str) -> Option<bool> {
    let suites = suites.replace(NO_WIDTH, "");
    let (told, all) = suites.trim_end_matches('d').strip_suffix(" complete")?.rsplit_once(" of ")?;
    let ended = told.rsplit([' ', ',']).next().and_then(whole)?;
    let all = whole(all)?;
    Some(ended < all || all == 0)
}
