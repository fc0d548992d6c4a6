//! Records become text: three markdown reports, the screens of the terminal, the paragraph for an agent, and the forms that
//! other programs read.
//!
//! Nothing here judges or measures. Numbers become strings in `view`, once; templates and screens only place them. What was
//! not measured is shown as `–`, and whatever came from outside is escaped for where it is shown.

mod bars;
mod for_agent;
mod forms;
mod markdown;
mod next;
mod render;
mod rows;
mod sources;
pub mod terminal;
mod view;
mod words;

use crate::error::Result;
use crate::model::config::LoopConfig;
use crate::model::ids::{LoopId, ObjectId};
use crate::model::record::IterationRecord;
use crate::model::trajectory::{BestTracker, Point, Selection};

pub use for_agent::for_agent;
pub use forms::{FORMS, Form, OneIteration, Place, RuleText, WholeLoop, Write, form, html};
pub use next::quote;

/// Where a screen is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Screen {
    /// Columns, 40–200. No line is wider.
    pub width: usize,
    /// Whether ANSI colours are written.
    pub colour: bool,
}

/// A report that is written to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// As `report` takes it.
    pub name: &'static str,
    /// One line on what it tells.
    pub about: &'static str,
    /// Its file's name in the loop's `reports/`; `{N}` stands for the iteration's number, at least three digits.
    pub file: &'static str,
}

const ITERATION: Report = Report {
    name: "iteration",
    about: "one iteration: metrics beside the previous and the baseline's, score, alerts, best, recommendation",
    file: "iteration-{N}-report.md",
};

const SELECTION: Report = Report {
    name: "selection",
    about: "the choice at the end of the loop: trajectory, criteria, rationale, what came after the peak",
    file: "output-selection-report.md",
};

const SUMMARY: Report =
    Report { name: "summary", about: "the loop as a whole: one row an iteration, the peak marked", file: "summary.md" };

/// All reports.
pub const REPORTS: &[&Report] = &[&ITERATION, &SELECTION, &SUMMARY];

/// What an iteration's report can tell beside its record.
#[derive(Clone, Debug, Default)]
pub struct IterationExtra<'a> {
    /// `A`, `M` or `D` and the path, of each file that differs from the parent's snapshot; `None` if that is not known.
    pub changed_files: Option<Vec<(char, String)>>,
    /// The earlier iterations, in order of recording. Without them, earlier values are worked out from the stored changes
    /// where that is exact, and absent otherwise.
    pub history: &'a [Point],
    /// Why the loop should end, where the snapshot controller found it stuck.
    pub why_stopped: Option<WhyStopped>,
}

/// "Why we stopped" (ANALYSIS §11).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WhyStopped {
    /// One paragraph.
    pub paragraph: String,
    /// The last five steps.
    pub steps: Vec<StepLine>,
    /// The last lines that the last command printed.
    pub last_output: Vec<String>,
}

/// One step of a loop that is stuck. Unknown is absent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepLine {
    /// The iteration.
    pub step: u64,
    /// What tells its code from other code.
    pub tree: Option<String>,
    /// Failing tests.
    pub failing: Option<u64>,
    /// Errors of tools.
    pub errors: Option<u64>,
    /// What it was measured with.
    pub command: Option<String>,
    /// How that ended.
    pub exit_code: Option<i32>,
}

/// The progress report of one iteration, in markdown.
///
/// # Errors
/// A bug of ours in the template.
pub fn iteration_markdown(
    record: &IterationRecord,
    best: &BestTracker,
    head: &ObjectId,
    extra: &IterationExtra<'_>,
) -> Result<String> {
    markdown::iteration(record, best, head, extra)
}

/// The output-selection report of a loop that has ended, in markdown. `why_stopped` is its last iteration's.
///
/// # Errors
/// A bug of ours in the template.
pub fn selection_markdown(
    selection: &Selection,
    points: &[Point],
    config: &LoopConfig,
    why_stopped: Option<&WhyStopped>,
) -> Result<String> {
    markdown::selection(selection, points, config, why_stopped)
}

/// The loop as a whole, in markdown.
///
/// # Errors
/// A bug of ours in the template.
pub fn summary_markdown(
    loop_id: &LoopId,
    points: &[Point],
    best: &BestTracker,
    selection: Option<&Selection>,
) -> Result<String> {
    markdown::summary(loop_id, points, best, selection)
}
