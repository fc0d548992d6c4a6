//! The journey of an iteration: measured from reports, captured as a snapshot, judged against the history, committed as a
//! record; and at the end of the loop: chosen, restored, reported.

mod accept;
mod activity;
mod argv;
mod begin;
mod bodies;
mod edits;
mod estimate;
mod evidence;
mod finish;
pub mod hook;
mod import;
mod inspect;
mod judge;
mod loops;
mod lost_lines;
mod measure;
mod needs;
mod own;
mod places;
mod proof;
mod prune;
mod record;
mod remeasure;
mod repair;
mod replay;
mod rerun;
mod restore;
mod silence;
mod tests;
mod transcript;
mod verify;
mod view;
mod why;
mod work;

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use chrono::{DateTime, Utc};
use tempfile::TempDir;

use crate::disk::layout::Layout;
use crate::error::Result;
use crate::ingest::Format;
use crate::model::figures::ReportKind;
use crate::model::ids::Iteration;
use crate::model::progress::ProgressEstimate;
use crate::model::record::Command;
use crate::model::reruns::RerunCommand;

pub use accept::accept;
pub use activity::watch;
pub use begin::{Opening, begin};
pub use estimate::{Answers, Ask};
pub use finish::{Finished, Finishing, finish, selection, selection_report};
pub use import::{Importing, import};
pub use inspect::read_reports;
pub use loops::{Frozen, Unnamed, config_in_force, frozen_config, new_name, no_iterations, opening, resolve};
pub use measure::PassedOver;
pub use needs::{DiskUse, LoopUse, disk_use};
pub use own::{Given, given};
pub use places::{IterationDetails, iteration_details};
pub use prune::{Pruning, prune};
pub use record::{ManifestChange, Recorded, SnapshotManifest, change_name, changed_files, check_open, record};
pub use remeasure::Verification;
pub use repair::{Repaired, repair};
pub use replay::{Replayed, replay};
pub use restore::{Target, restore_iteration, settle, undo};
pub use tests::{TestLedger, changed_in, failing_of, test_ledger, tests_of};
pub use transcript::read_transcript;
pub use verify::{Finding, Verified, verify};
pub use view::{Difference, SoFar, best_so_far, difference, iteration, iteration_report, loop_so_far, newest};

/// What every stage needs from outside.
pub struct Session<'a> {
    /// The work tree and its store.
    pub layout: &'a Layout,
    /// The time that records get. The engine reads no clock.
    pub now: DateTime<Utc>,
    /// How long to wait for another writer.
    pub wait: Duration,
    /// Told while a snapshot is taken: files done, files in all (0 while unknown).
    pub on_progress: &'a (dyn Fn(u64, u64) + Sync),
}

/// A report that the user named.
#[derive(Clone)]
pub struct Asked {
    /// Read it as this; without it, the content decides.
    pub format: Option<&'static Format>,
    /// A path or a glob; `-` is standard input.
    pub path: String,
}

/// A rerun command that has ended.
pub struct Reran {
    /// For the record.
    pub command: Command,
    /// What it printed, at its first byte; or why there is no whole copy of it.
    pub console: Result<std::fs::File>,
    /// Just before it began, by the clock of the work tree's file system.
    pub since: Option<SystemTime>,
}

/// A copy of the work tree in which a command is run.
#[derive(Clone, Copy)]
pub struct InCopy<'a> {
    /// The copy.
    pub layout: &'a Layout,
    /// The folder in it.
    pub folder: &'a Path,
    /// What the copy holds, for people.
    pub what: &'a str,
}

/// Runs a command's words as they are, without a shell: where we are, or in a copy. The engine starts no process by itself.
pub type Runner = Box<dyn Fn(&[String], Option<InCopy<'_>>) -> Result<Reran> + Sync>;

/// Makes an empty folder that nobody else reads; it goes when it is dropped.
pub type Scratch = Box<dyn Fn() -> Result<TempDir> + Sync>;

/// What an iteration is measured from.
#[derive(Default)]
pub struct Offer {
    /// The reports that the user named.
    pub reports: Vec<Asked>,
    /// Whether reports are looked for by the config's globs too.
    pub discover: bool,
    /// Where relative names start.
    pub folder: PathBuf,
    /// What the command printed; or why there is no whole copy of it, which is a fault of the iteration.
    pub console: Option<Result<std::fs::File>>,
    /// The command that was run.
    pub command: Option<Command>,
    /// Reports that changed before this are none of this iteration's; without it, the last record's appearing counts.
    pub since: Option<SystemTime>,
    /// Metrics of the user's own; several values of one name are its samples.
    pub metrics: Vec<(String, Given)>,
    /// Where they were measured, if the user says so.
    pub context: Option<String>,
    /// Kinds of figures that are left out.
    pub skip: Vec<ReportKind>,
    /// The user's words.
    pub label: Option<String>,
    /// US dollars; without it, the transcripts tell.
    pub cost: Option<f64>,
    /// Tokens; without it, the transcripts tell.
    pub tokens: Option<u64>,
    /// The file with what the agent said, as the user names it.
    pub output: Option<String>,
    /// Files and folders with what the agent did, as the user names them.
    pub transcripts: Vec<String>,
    /// What the loop is for; kept with the baseline.
    pub goal: Option<String>,
    /// How much of the goal the caller says is reached.
    pub estimate: Option<ProgressEstimate>,
    /// Asks those whom the config names; without it, nobody is asked.
    pub ask: Option<Ask>,
    /// The iteration that this one started from, if the user says so.
    pub parent: Option<Iteration>,
    /// Runs newly failing tests again, in the place of the config's `flake.rerun`.
    pub rerun: Option<RerunCommand>,
    /// Who runs it; without one, nothing is run.
    pub run: Option<Runner>,
    /// A shell's line that runs the tests in copies of the work tree, where they may have been tampered with, in the place of
    /// the config's `tamper.command`.
    pub replay: Option<String>,
    /// Where the copies are made; without it, none is.
    pub scratch: Option<Scratch>,
    /// When measuring began.
    pub started_at: DateTime<Utc>,
}
