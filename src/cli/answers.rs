//! The shapes of `--json` answers that are no stored file. Their schemas are made from these types.

pub mod hook;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::cases::Outcome;
use crate::model::config::LoopConfig;
use crate::model::figures::{Figures, ReportKind};
use crate::model::ids::{Iteration, LoopId, ObjectId, TreePath};
use crate::model::levels::MetricLevels;
use crate::model::progress::{EstimateMark, Progress};
use crate::model::record::SourceError;
use crate::model::reruns::Runs;
use crate::model::trajectory::Selection;
use crate::model::transitions::Renamed;
use crate::model::units::Score;
use crate::model::verdict::{Classification, Deltas, OpenFinding, Recommendation};
use crate::store::faults::Fault;

/// The version of every answer's shape.
pub const VERSION: u32 = 1;

/// An iteration and its score.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Best {
    /// Which.
    pub iteration: Iteration,
    /// 0–1.
    pub quality_score: Option<Score>,
}

/// `gate --json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Gate {
    /// Version of this shape.
    pub schema_version: u32,
    /// The loop.
    pub loop_id: LoopId,
    /// The newest iteration.
    pub iteration: Iteration,
    /// Its class; null if there was too little to judge.
    pub classification: Option<Classification>,
    /// What to do next.
    pub recommendation: Recommendation,
    /// The best so far; null if none can be.
    pub best: Option<Best>,
    /// One short paragraph of facts, ready to be pasted into the next prompt.
    pub for_agent: String,
}

/// One line of `log`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LogLine {
    /// Its number.
    pub iteration: Iteration,
    /// The iteration it started from.
    pub parent: Option<Iteration>,
    /// 0–1.
    pub quality_score: Option<Score>,
    /// Its class.
    pub classification: Option<Classification>,
    /// Names of the rules that fired.
    pub alerts: Vec<String>,
    /// Tests.
    pub test_count: Option<u64>,
    /// Tests.
    pub tests_passed: Option<u64>,
    /// Percent.
    pub pass_rate: Option<f64>,
    /// Percent.
    pub coverage_percentage: Option<f64>,
    /// Errors of linters, type checkers and compilers.
    pub error_count: Option<u64>,
    /// What was said and changed, as a score.
    pub progress: Option<Progress>,
    /// How much of the goal was reached; its reasons are in the record.
    pub estimate: Option<EstimateMark>,
    /// What was recommended.
    pub recommendation: Recommendation,
    /// It is the best so far.
    pub is_best: bool,
    /// It could be.
    pub eligible: bool,
    /// Why it could not.
    pub ineligible_because: Option<String>,
}

/// `log --json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Log {
    /// Version of this shape.
    pub schema_version: u32,
    /// The loop.
    pub loop_id: LoopId,
    /// The best so far; null if none can be.
    pub best: Option<Iteration>,
    /// In order.
    pub iterations: Vec<LogLine>,
}

/// `log --changes --json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LogChanges {
    /// Version of this shape.
    pub schema_version: u32,
    /// The loop.
    pub loop_id: LoopId,
    /// Every metric that was measured.
    pub metrics: Vec<MetricLevels>,
}

/// `status --json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Status {
    /// Version of this shape.
    pub schema_version: u32,
    /// The loop.
    pub loop_id: LoopId,
    /// `finish` was there.
    pub is_closed: bool,
    /// The newest iteration.
    pub iteration: Iteration,
    /// BLAKE3 of its record's file.
    pub head: ObjectId,
    /// Its class.
    pub classification: Option<Classification>,
    /// What to do next.
    pub recommendation: Recommendation,
    /// The best so far.
    pub best: Option<Best>,
    /// Losses that are open.
    pub open_findings: Vec<OpenFinding>,
    /// Number of a restore that was interrupted.
    pub pending_restore: Option<u64>,
    /// What agents' hooks swallowed; absent if nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hook_faults: Option<HookFaults>,
}

/// Faults in agents' hooks, of this loop and of when there was none.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HookFaults {
    /// Those that the logs still hold.
    pub count: u64,
    /// The newest.
    pub last: Fault,
}

/// `diff --json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Difference {
    /// Version of this shape.
    pub schema_version: u32,
    /// The loop.
    pub loop_id: LoopId,
    /// From.
    pub a: Iteration,
    /// To.
    pub b: Iteration,
    /// b − a; each absent if either side is.
    pub deltas: Deltas,
    /// Tests by name; null if either side does not name its tests.
    pub tests: Option<TestDifference>,
    /// Files, all of them.
    pub files: Vec<FileDifference>,
}

/// Tests that differ between two iterations, by id.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TestDifference {
    /// In a and not in b.
    pub lost: Vec<String>,
    /// Only in b.
    pub added: Vec<String>,
    /// Passed in a, failing or erroring in b.
    pub broken: Vec<String>,
    /// Failing or erroring in a, passed in b.
    pub fixed: Vec<String>,
    /// Ran in a, skipped in b.
    pub newly_skipped: Vec<String>,
    /// Skipped in a, ran in b.
    pub unskipped: Vec<String>,
    /// Under another id in b.
    pub renamed: Vec<Renamed>,
}

/// A file that differs.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FileDifference {
    /// Where.
    pub path: TreePath,
    /// `added`, `removed` or `modified`.
    pub change: String,
}

/// Tests by outcome; null is unknown, where a report tells failures alone.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TestCounts {
    /// Passed.
    pub passed: Option<u64>,
    /// Failed.
    pub failed: Option<u64>,
    /// Errored.
    pub errored: Option<u64>,
    /// Skipped.
    pub skipped: Option<u64>,
}

/// A test that fails or flakes.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TestLine {
    /// Its id.
    pub id: String,
    /// What it came to at the newest iteration; null if it is gone, or if a report that was let go told of it.
    pub outcome: Option<Outcome>,
    /// Failing or erroring: the iteration from which on it does.
    pub failing_since: Option<Iteration>,
    /// The last iteration of the lineage at which it passed; null with `failing_since`: it never did, or reports name failing
    /// tests alone.
    pub last_passed: Option<Iteration>,
    /// Failing or erroring: the source file, from the root of the work tree if it lies in there, else as the report names it;
    /// null if that is not told.
    pub file: Option<String>,
    /// Line in that file, from 1.
    pub line: Option<u64>,
    /// The first lines of why it fails, on one line.
    pub message: Option<String>,
    /// The files that changed in the iteration that broke it.
    pub files: Vec<FileDifference>,
    /// Its runs on trees on which it ran more than once and passed: those that failed are flakes.
    pub same_tree: Runs,
    /// The iterations with such a failure.
    pub flaked_in: Vec<Iteration>,
}

/// `tests --json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Tests {
    /// Version of this shape.
    pub schema_version: u32,
    /// The loop.
    pub loop_id: LoopId,
    /// The newest iteration of the lineage that names its tests, or those that fail alone.
    pub iteration: Iteration,
    /// All its tests.
    pub counts: TestCounts,
    /// Those that fail or flake, by id; with `--broken` or `--flaky` only these.
    pub tests: Vec<TestLine>,
}

/// A change of one test.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TestEvent {
    /// The iteration.
    pub iteration: Iteration,
    /// Its id then.
    pub id: String,
    /// What it was where the iteration came from; null if it was not there.
    pub was: Option<Outcome>,
    /// What it came to; null if it is gone.
    pub now: Option<Outcome>,
    /// The files that changed in the iteration.
    pub files: Vec<FileDifference>,
}

/// `tests --history --json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TestHistory {
    /// Version of this shape.
    pub schema_version: u32,
    /// The loop.
    pub loop_id: LoopId,
    /// Its latest id.
    pub id: String,
    /// Its ids before that, the latest first.
    pub earlier_ids: Vec<String>,
    /// As in `tests --json`.
    pub outcome: Option<Outcome>,
    /// As in `tests --json`.
    pub failing_since: Option<Iteration>,
    /// As in `tests --json`.
    pub last_passed: Option<Iteration>,
    /// As in `tests --json`.
    pub same_tree: Runs,
    /// As in `tests --json`.
    pub flaked_in: Vec<Iteration>,
    /// Every change, in order of recording.
    pub events: Vec<TestEvent>,
}

/// `restore --json`, `undo --json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Restored {
    /// Version of this shape.
    pub schema_version: u32,
    /// The number that `undo` reverts; null for a dry run, for another directory, and where a restore that was interrupted
    /// was backed out of.
    pub number: Option<u64>,
    /// Nothing was changed.
    pub dry_run: bool,
    /// Paths that were (would be) written.
    pub restored: Vec<TreePath>,
    /// Paths that were (would be) removed; they are in the safety snapshot.
    pub removed: Vec<TreePath>,
    /// Directories that were (would be) made or given other permission bits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub directories_restored: Vec<TreePath>,
    /// Directories that were (would be) removed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub directories_removed: Vec<TreePath>,
    /// Files that were the same already.
    pub unchanged: u64,
    /// Paths in the work tree that no snapshot covers, and that were left alone.
    pub kept: Vec<TreePath>,
    /// Files that were edited meanwhile, and kept aside.
    pub rescued: Vec<TreePath>,
    /// Where those lie, from the root of the work tree; a file that was rescued twice lies in two places.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rescued_at: Vec<String>,
    /// Files that the snapshot names and does not hold.
    pub unheld: Vec<TreePath>,
}

/// `finish --json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Finish {
    /// Version of this shape.
    pub schema_version: u32,
    /// The choice.
    pub selection: Selection,
    /// What the restore did; null if nothing could be selected.
    pub restore: Option<Restored>,
    /// Where the report is, relative to the work tree; null for a dry run and for another directory.
    pub report: Option<String>,
}

/// `accept --json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Accept {
    /// Version of this shape.
    pub schema_version: u32,
    /// The loop.
    pub loop_id: LoopId,
    /// The findings that the next record closes.
    pub accepted: Vec<String>,
    /// As given.
    pub reason: String,
}

/// One line of `inspect --json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Inspected {
    /// Version of this shape.
    pub schema_version: u32,
    /// As given.
    pub file: String,
    /// What it came to.
    #[serde(flatten)]
    pub reading: Option<Reading>,
    /// What other tools say in it, if it is what tools print for people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Reading>,
    /// Why there are no figures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<SourceError>,
}

/// A report that was read.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Reading {
    /// What it was read as.
    pub format: String,
    /// What it tells about.
    pub kind: ReportKind,
    /// How the format was told.
    pub sniffed_by: String,
    /// What was counted.
    pub figures: Figures,
    /// The file's own totals, where they differ from what was counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared: Option<Figures>,
    /// What the reader had to say beside the figures.
    pub warnings: Vec<String>,
}

/// One member of `list --json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Listed {
    /// Its name, as `explain` takes it.
    pub name: String,
    /// One line.
    pub about: String,
    /// Formats: the kind of figures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<ReportKind>,
    /// Formats: what writes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_by: Option<String>,
    /// Formats: how it is told by its content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told_by: Option<String>,
    /// Formats: whether a cut anywhere is seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub has_end: Option<bool>,
}

/// `list --json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct List {
    /// Version of this shape.
    pub schema_version: u32,
    /// What is listed: `formats`, `rules`, `detectors`, `classes`, `actions`, `reports`, `transcripts`, `agents`.
    pub list: String,
    /// Its members.
    pub members: Vec<Listed>,
}

/// `explain --json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Explanation {
    /// Version of this shape.
    pub schema_version: u32,
    /// What was asked for.
    pub name: String,
    /// `format`, `rule`, `detector`, `class`, `action`, `report`, `transcript` or `agent`.
    pub what: String,
    /// One line.
    pub about: String,
    /// Its meaning, at length.
    pub text: String,
    /// Config keys that it uses, with the values in force.
    pub thresholds: BTreeMap<String, serde_json::Value>,
}

/// One loop of `loops --json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LoopLine {
    /// Its name.
    pub loop_id: LoopId,
    /// `finish` was there.
    pub is_closed: bool,
    /// The newest iteration.
    pub newest: Iteration,
    /// The best so far, or the selected one.
    pub best: Option<Iteration>,
    /// Bytes of its own folder: records, stored reports, what is derived.
    pub folder_bytes: u64,
    /// Bytes of packed objects that no other loop needs; null if that cannot be told, because something is damaged.
    pub own_bytes: Option<u64>,
    /// Bytes of packed objects that other loops need too; null as above.
    pub shared_bytes: Option<u64>,
}

/// `loops --json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Loops {
    /// Version of this shape.
    pub schema_version: u32,
    /// The newest first.
    pub loops: Vec<LoopLine>,
    /// Bytes of all packs of objects.
    pub packs_bytes: u64,
    /// Bytes of objects in them that neither a loop nor an undo needs; null if that cannot be told.
    pub unneeded_bytes: Option<u64>,
    /// Bytes of packs that `verify --repair` set aside, since they are damaged; nothing reads them any more.
    pub set_aside_bytes: u64,
}

/// A closed loop's iterations whose snapshots nobody needs.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PrunedLoop {
    /// The loop.
    pub loop_id: LoopId,
    /// Their files may go; their records and the names of their files stay.
    pub let_go: Vec<Iteration>,
}

/// `prune --json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Prune {
    /// Version of this shape.
    pub schema_version: u32,
    /// Nothing was changed.
    pub dry_run: bool,
    /// Packs that went (would go) because nothing in them is needed.
    pub removed_packs: u64,
    /// Packs that were mostly not needed, and whose other objects are in a new pack.
    pub rewritten_packs: u64,
    /// Objects that went.
    pub dropped_objects: u64,
    /// Objects that nobody needs and that stay for now, in packs that are younger than a day or mostly needed.
    pub waiting_objects: u64,
    /// Bytes that the store shrank by.
    pub freed_bytes: u64,
    /// Loops with snapshots that nobody needs.
    pub loops: Vec<PrunedLoop>,
}

/// What `verify` found wrong.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct VerifyFinding {
    /// The file.
    pub file: String,
    /// What is wrong with it.
    pub fault: String,
}

/// `verify --json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Verify {
    /// Version of this shape.
    pub schema_version: u32,
    /// The loop.
    pub loop_id: LoopId,
    /// Nothing was found wrong.
    pub is_sound: bool,
    /// Records that were checked.
    pub records: u64,
    /// Objects that were checked.
    pub objects: u64,
    /// Stored reports that were checked.
    pub artifacts: u64,
    /// Number of the newest iteration.
    pub head_iteration: Option<Iteration>,
    /// BLAKE3 of its record's file.
    pub head: Option<ObjectId>,
    /// What was found wrong.
    pub findings: Vec<VerifyFinding>,
    /// Iterations whose snapshot is whole.
    pub restorable: Vec<Iteration>,
    /// Iterations whose snapshot `prune` let go.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub let_go: Vec<Iteration>,
    /// Files that `--repair` made again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repaired: Vec<String>,
    /// Damaged packs that `--repair` set aside, under the names that they have now: nothing reads them any more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set_aside: Vec<String>,
}

/// A verdict in short.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ReplayVerdict {
    /// Its class; null if there was too little to judge.
    pub classification: Option<Classification>,
    /// What decided the class.
    pub class_rule: String,
    /// 0–1.
    pub quality_score: Option<Score>,
    /// Good enough, and nothing critical confirmed.
    pub acceptable: bool,
    /// What to do next.
    pub recommendation: Recommendation,
}

/// An iteration that is judged otherwise.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ReplayChange {
    /// Its number.
    pub iteration: Iteration,
    /// As it was recorded.
    pub stored: ReplayVerdict,
    /// As it is judged now.
    pub replayed: ReplayVerdict,
    /// Rules that had raised an alert and do not now, with the severity.
    pub alerts_gone: Vec<String>,
    /// Rules that raise an alert now and had not, with the severity.
    pub alerts_new: Vec<String>,
}

/// `replay --json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Replay {
    /// Version of this shape.
    pub schema_version: u32,
    /// The loop.
    pub loop_id: LoopId,
    /// The config file that it was judged under; null is the loop's own config.
    pub config: Option<String>,
    /// Iterations that were judged again.
    pub iterations: u64,
    /// Those that are judged otherwise, in order.
    pub changes: Vec<ReplayChange>,
    /// The best as recorded; null if none could be.
    pub stored_best: Option<Best>,
    /// The best now.
    pub replayed_best: Option<Best>,
    /// Iterations whose record cannot be read, and that were left out.
    pub damaged: Vec<Iteration>,
}

/// `config show --json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Config {
    /// Version of this shape.
    pub schema_version: u32,
    /// The file, if there is one.
    pub file: Option<String>,
    /// Every key with its value.
    pub config: LoopConfig,
    /// Dotted keys that the file sets; all others are defaults.
    pub given: Vec<String>,
}

/// `demo --json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Demo {
    /// Version of this shape.
    pub schema_version: u32,
    /// The loop's trajectory.
    pub log: Log,
    /// The choice.
    pub selection: Selection,
    /// The root object of the peak's snapshot.
    pub peak_tree: ObjectId,
    /// The root object of the work tree after the restore: the same.
    pub restored_tree: ObjectId,
    /// Where the reports are, if they were kept.
    pub reports: Option<String>,
}
