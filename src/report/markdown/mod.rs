//! The three markdown reports: views of text for their templates.

mod iteration;
mod selection;
mod summary;

pub(super) use iteration::iteration;
pub(super) use selection::selection;
pub(super) use summary::{SummaryView, summary, view as summary_view};

use serde::Serialize;

use super::view::{ABSENT, number, score};
use super::{StepLine, WhyStopped};
use crate::model::trajectory::BestTracker;
use crate::model::verdict::OpenFinding;

/// An iteration and its score.
#[derive(Serialize)]
struct Scored {
    iteration: String,
    score: String,
}

/// The best iteration and what made it that: its quality, or the metric that chooses.
#[derive(Serialize)]
struct BestView {
    iteration: String,
    by: String,
    value: String,
}

impl BestView {
    fn of(best: &BestTracker) -> Option<BestView> {
        let (by, value) = match &best.chosen_by {
            Some(chosen) => (chosen.metric.clone(), number(Some(chosen.value))),
            None => ("quality".to_owned(), score(best.quality_score)),
        };
        Some(BestView { iteration: best.iteration?.to_string(), by, value })
    }
}

#[derive(Serialize)]
struct OpenLine {
    rule: String,
    since: String,
    message: String,
    closes_when: String,
}

fn open_lines(findings: &[OpenFinding]) -> Vec<OpenLine> {
    let open = findings.iter().filter(|finding| finding.accepted.is_none());
    open.map(|finding| OpenLine {
        rule: finding.alert.rule.clone(),
        since: finding.since.to_string(),
        message: finding.alert.message.clone(),
        closes_when: finding.closes_when.clone(),
    })
    .collect()
}

/// "Why we stopped", as both reports show it.
#[derive(Serialize)]
struct WhyView {
    paragraph: String,
    steps: Vec<StepRow>,
    output: Vec<String>,
}

#[derive(Serialize)]
struct StepRow {
    step: String,
    tree: String,
    failing: String,
    errors: String,
    command: String,
}

/// Characters of a tree's id that tell it from others at a glance.
const TREE_DIGITS: usize = 12;

impl WhyView {
    fn of(why: &WhyStopped) -> WhyView {
        WhyView {
            paragraph: why.paragraph.clone(),
            steps: why.steps.iter().map(StepRow::of).collect(),
            output: why.last_output.clone(),
        }
    }
}

impl StepRow {
    fn of(step: &StepLine) -> StepRow {
        let count = |count: Option<u64>| count.map_or_else(|| ABSENT.to_owned(), |count| count.to_string());
        let tree = step.tree.as_ref().map(|tree| tree.chars().take(TREE_DIGITS).collect());
        let ended = step.exit_code.map(|code| format!(" (exit code {code})")).unwrap_or_default();
        let command = step.command.as_ref().map(|command| format!("{command}{ended}"));
        StepRow {
            step: step.step.to_string(),
            tree: tree.unwrap_or_else(|| ABSENT.to_owned()),
            failing: count(step.failing),
            errors: count(step.errors),
            command: command.unwrap_or_else(|| ABSENT.to_owned()),
        }
    }
}
