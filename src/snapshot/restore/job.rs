//! One restore from its journal to its end, and the same for one that was interrupted and is planned again.

use super::Outcome;
use super::apply::Worker;
use super::beneath::Beneath;
use super::folder::{self, Folder};
use super::journal::{self, Direction, Journal};
use super::manifest::Manifest;
use super::plan::Plan;
use super::reached::{Reached, reached};
use super::settle::{self, Held};
use crate::disk::layout::Layout;
use crate::error::Result;

/// A restore whose journal is written.
pub struct Job<'a> {
    /// Where the store is.
    pub layout: &'a Layout,
    /// The work tree.
    pub tree: &'a Beneath,
    /// The restore's own folder.
    pub folder: &'a Folder,
    /// Its steps.
    pub journal: Journal,
    /// The tree that is given back.
    pub target: &'a Manifest,
    /// The tree as it was before.
    pub safety: &'a Manifest,
}

impl Job<'_> {
    /// Does the steps, checks the result, keeps what nobody else has, and ends the restore. `plan` is what the outcome
    /// tells.
    ///
    /// # Errors
    /// A failure that names where it stopped; the journal stays.
    pub fn carry_out(self, plan: Plan) -> Result<Outcome> {
        Worker::new(self.tree, self.folder)?.run(&self.journal)?;
        let born = settle::check_result(self.tree, &self.journal.ops)?;
        settle::rescue(self.folder, Some(&self.journal), &Held::new(self.target, self.safety))?;
        let rescued = settle::rescued(self.layout, self.folder.number)?;
        let mut outcome = Outcome::of(plan);
        outcome.leave(born);
        outcome.rescued_at = settle::places(self.layout, &rescued);
        outcome.rescued = rescued.into_iter().flat_map(|(_, paths)| paths).collect();
        outcome.rescued.sort();
        outcome.rescued.dedup();
        let mut reached = reached();
        if self.journal.direction == Direction::Forward {
            journal::write_record(self.layout, &self.journal.record)?;
            outcome.record = Some(self.journal.record);
        }
        end(self.folder)?;
        *reached = Reached::End;
        Ok(outcome)
    }
}

/// The restore has ended: its journal goes, then what it kept while it ran. The trash goes first, because files in it
/// tell that a restore is pending.
fn end(folder: &Folder) -> Result<()> {
    folder::empty(&folder.trash())?;
    folder.close()?;
    folder.clean()
}
