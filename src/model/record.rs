//! The record of one iteration: written once, and its appearing is the commit.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind, Reject};

use super::activity::{Activity, TranscriptPart};
use super::edits::TestEdits;
use super::figures::{Figures, ReportKind};
use super::ids::{Iteration, LoopId, ObjectId, TreePath};
use super::lost_lines::LostLines;
use super::metrics::Metrics;
use super::progress::{LineChanges, Output, Progress, ProgressEstimate};
use super::proof::TamperProof;
use super::reruns::Rerun;
use super::steps::TerminalStatus;
use super::verdict::{Accepted, Action, Alert, Classification, Deltas, OpenFinding, QualityScore, Recommendation};

/// A report that was offered to an iteration, whether or not it became numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Source {
    /// As found, relative to the work tree where it lies in it; `-` is standard input, `(console)` the command's output.
    pub path: String,
    /// The format it was read as.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// What it tells about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<ReportKind>,
    /// BLAKE3 of its bytes, which is also the artifact's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blake3: Option<ObjectId>,
    /// The artifact's file name under the iteration's `artifacts/`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact: Option<String>,
    /// Its time of change, UTC, as the file system had it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified_at: Option<DateTime<Utc>>,
    /// It stands between other lines of the file, as in a command's output.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub spoken: bool,
    /// The command printed nothing of tools that print nothing where they find nothing. There are figures where that is known
    /// to mean that they ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub silence: Option<Silence>,
    /// Older than the iteration's start: nobody ran that tool, so it gives no numbers.
    pub stale: bool,
    /// It tells of a run that another source told already, and was not added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_run_as: Option<String>,
    /// The numbers, if it gave any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figures: Option<Figures>,
    /// What the reader had to say beside the numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Why it gave none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<SourceError>,
}

impl Source {
    /// Whether it tells of what makes its tool fail, or could not be read.
    pub fn has_failed(&self) -> bool {
        let has_failures =
            |figures: &Figures| [figures.failed, figures.errored, figures.errors].iter().flatten().any(|n| *n > 0);
        self.error.is_some() || self.figures.as_ref().is_some_and(has_failures)
    }

    /// A source of which only the name is known yet.
    pub fn named(path: &str) -> Source {
        Source {
            path: path.to_owned(),
            format: None,
            kind: None,
            blake3: None,
            artifact: None,
            modified_at: None,
            spoken: false,
            silence: None,
            stale: false,
            same_run_as: None,
            figures: None,
            warnings: Vec::new(),
            error: None,
        }
    }
}

/// Of whom nothing was heard.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Silence {
    /// The iteration in which the same command last had them speak.
    pub since: Iteration,
    /// Their names.
    pub tools: Vec<String>,
}

/// Why a report gave no numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SourceError {
    /// The corpus's code, or `refused`.
    pub code: String,
    /// What failed.
    pub message: String,
    /// From 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// From 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u64>,
    /// What to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

impl SourceError {
    /// What a record and `inspect` keep of an error. Whatever is no report's own fault was refused.
    pub fn of(error: &Error) -> SourceError {
        let reject = match error.kind {
            ErrorKind::Report(reject) => reject,
            _ => Reject::Refused,
        };
        SourceError {
            code: reject.code().to_owned(),
            message: error.message.clone(),
            line: error.place.line,
            column: error.place.column,
            help: error.help.clone(),
        }
    }
}

/// The command that the iteration was measured with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Command {
    /// As typed.
    pub argv: Vec<String>,
    /// Its exit code; 128+n if signal n ended it; absent if it could not be started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// UTC.
    pub started_at: DateTime<Utc>,
    /// Milliseconds from start to end.
    pub duration_ms: u64,
}

/// A test that is gone, and a new one whose source is the same but for its name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SameBody {
    /// The id that is gone.
    pub from: String,
    /// The new id.
    pub to: String,
}

/// Where an imported iteration comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Imported {
    /// The format of the file.
    pub format: String,
    /// What the other tool made of it, in its own word.
    pub status: String,
    /// The commit that the file names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

/// Everything known of one iteration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct IterationRecord {
    /// Version of this layout.
    pub schema_version: u32,
    /// The loop.
    pub loop_id: LoopId,
    /// Its number; 0 is the baseline.
    pub iteration: Iteration,
    /// The iteration whose tree this one started from; absent for the baseline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Iteration>,
    /// When measuring began, UTC.
    pub started_at: DateTime<Utc>,
    /// When the record was made, UTC. For people: order is the number.
    pub recorded_at: DateTime<Utc>,
    /// What was measured.
    pub metrics: Metrics,
    /// Where it came from.
    pub sources: Vec<Source>,
    /// Report files inside the work tree, read or not: they are no code, so neither the census nor `tree_key` counts them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub report_files: Vec<TreePath>,
    /// What the agent said, if that was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Output>,
    /// What the agent did, if that was told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub transcripts: Vec<TranscriptPart>,
    /// Against the snapshot of the parent; absent for the baseline, and where that cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_changes: Option<LineChanges>,
    /// What the loop is for, in the record of the baseline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
    /// What the readers had to say over several sources.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Absent if nothing that enters it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quality_score: Option<QualityScore>,
    /// The score reaches the acceptance level, the build did not fail, no critical finding is confirmed.
    pub acceptable: bool,
    /// Against the latest of the lineage; absent for the baseline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_previous: Option<Deltas>,
    /// Against iteration 0; absent for the baseline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_baseline: Option<Deltas>,
    /// Absent if there was too little to judge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classification: Option<Classification>,
    /// The class under `stalled`; else the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_class: Option<Classification>,
    /// What decided the class.
    pub class_rule: String,
    /// What was said and changed, as a score; absent if neither is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<Progress>,
    /// What the agent's tool calls add up to; absent if they are not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub activity: Option<Activity>,
    /// How much of the goal is reached; absent if nobody asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate: Option<ProgressEstimate>,
    /// Set where the loop should end because the snapshot controller found it stuck.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminal_status: Option<TerminalStatus>,
    /// Findings raised here.
    pub alerts: Vec<Alert>,
    /// Losses of the lineage that are still open, those raised here among them.
    pub open_findings: Vec<OpenFinding>,
    /// What `accept` was told since the record before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accepted: Vec<Accepted>,
    /// What to do next.
    pub recommendation: Recommendation,
    /// The object of the snapshot's root directory.
    pub tree: ObjectId,
    /// Hash of the snapshot without the reports that were read: two iterations with one key had the same code.
    pub tree_key: ObjectId,
    /// The object that holds the effective config.
    pub config: ObjectId,
    /// BLAKE3 of the file of the record before; absent for the baseline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_record: Option<ObjectId>,
    /// The command that was run, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<Command>,
    /// Runs of the rerun command, in order: newly failing tests alone, on the same tree.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reruns: Vec<Rerun>,
    /// Tests that are gone and new ones with the same source, as it was when this was recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub same_bodies: Vec<SameBody>,
    /// Tests that failed before and whose source is gone and not back, as it was when this was recorded; only where reports
    /// name none but the tests that fail.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost_sources: Vec<String>,
    /// What was done to tests, and to what decides how they run, as it was when this was recorded; absent for the baseline, and
    /// where most of the work was rewritten.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_edits: Option<TestEdits>,
    /// What old tests on new code told, where tests were edited so that it was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<TamperProof>,
    /// Lines that ran before, did not change and do not run now; absent where the reports of either do not tell the lines of
    /// files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost_lines: Option<LostLines>,
    /// The user's own words for the iteration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// US dollars spent in this iteration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// Tokens spent in this iteration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Another loop tool's run: there are no files of it, and `tree` is empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<Imported>,
    /// Who wrote it: `highwater 0.1.0`.
    pub tool: String,
}

impl IterationRecord {
    /// The exit code of the command, if it failed and no report tells of a failure or a finding: what failed may be a step
    /// without a report, such as a build, or an environment that a task runner could not make.
    pub fn unexplained_exit(&self) -> Option<i32> {
        let code = self.command.as_ref()?.exit_code.filter(|code| *code != 0)?;
        let has_findings = |figures: &Figures| figures.warnings > Some(0) || figures.notes > Some(0);
        let is_told = |source: &Source| source.has_failed() || source.figures.as_ref().is_some_and(has_findings);
        (!self.sources.iter().any(is_told)).then_some(code)
    }

    /// A baseline of which nothing is known and nothing was said yet, made by this version.
    pub fn draft(loop_id: LoopId, at: DateTime<Utc>, tree: ObjectId, config: ObjectId) -> IterationRecord {
        IterationRecord {
            schema_version: super::SCHEMA_VERSION,
            loop_id,
            iteration: Iteration::BASELINE,
            parent: None,
            started_at: at,
            recorded_at: at,
            metrics: Metrics::default(),
            sources: Vec::new(),
            report_files: Vec::new(),
            output: None,
            transcripts: Vec::new(),
            line_changes: None,
            goal: None,
            warnings: Vec::new(),
            quality_score: None,
            acceptable: false,
            from_previous: None,
            from_baseline: None,
            classification: None,
            base_class: None,
            class_rule: String::new(),
            progress: None,
            activity: None,
            estimate: None,
            terminal_status: None,
            alerts: Vec::new(),
            open_findings: Vec::new(),
            accepted: Vec::new(),
            recommendation: Recommendation {
                action: Action::Continue,
                target: None,
                reason: String::new(),
                because: Vec::new(),
                also: Vec::new(),
                alternatives: Vec::new(),
                confidence: 0.0,
            },
            tree,
            tree_key: tree,
            config,
            previous_record: None,
            command: None,
            reruns: Vec::new(),
            same_bodies: Vec::new(),
            lost_sources: Vec::new(),
            test_edits: None,
            proof: None,
            lost_lines: None,
            label: None,
            cost: None,
            tokens: None,
            imported: None,
            tool: concat!("highwater ", env!("CARGO_PKG_VERSION")).to_owned(),
        }
    }
}
