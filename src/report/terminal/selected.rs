//! The end of a loop, and every restore: what was chosen, what happened to the work tree, the way back.

use super::page::{INDENT, Page};
use super::parts::{brief, chart, pair_table, score_line};
use super::text::{Tone, toned};
use crate::model::ids::{Iteration, TreePath};
use crate::model::trajectory::{Candidate, Point, Selection};
use crate::report::Screen;
use crate::report::rows::pair_rows;
use crate::report::view::{POINTS, counted, length, signed};
use crate::report::words::{improvement, pattern_words};

/// Where a restore wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// Into the work tree.
    WorkTree,
    /// Into the work tree, as it was before a restore that was interrupted; `undo` knows nothing of it.
    Back,
    /// Into another directory.
    Directory(String),
    /// Nowhere: it was only planned.
    DryRun,
}

/// What a restore did, or would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestoredView {
    /// Where.
    pub to: Destination,
    /// Written: new, replaced, or with another mode.
    pub restored: Vec<TreePath>,
    /// Taken away; they are in the safety snapshot.
    pub removed: Vec<TreePath>,
    /// Directories that were made or given another mode.
    pub directories_restored: Vec<TreePath>,
    /// Directories that were taken away.
    pub directories_removed: Vec<TreePath>,
    /// Paths that were as they should be.
    pub unchanged: u64,
    /// Never captured, so left alone.
    pub kept: Vec<TreePath>,
    /// Where files lie that were changed while we restored, from the root of the work tree.
    pub rescued_at: Vec<String>,
    /// In the snapshot by name only, so not restored.
    pub unheld: Vec<TreePath>,
}

/// Paths of one kind that a screen lists.
const LISTED: usize = 12;

/// The screen of `finish`: the choice with its reasons, and what came after the peak. What was restored is told by
/// [`restored`].
pub fn selected(selection: &Selection, points: &[Point], screen: Screen) -> String {
    let mut page = Page::new(screen);
    choice(&mut page, selection);
    let scores: Vec<_> = selection.scores.iter().map(|candidate| candidate.quality_score).collect();
    chart(&mut page, &scores, selection.scores.iter().position(|c| Some(c.iteration) == selection.selected));
    beside_last(&mut page, selection, points);
    reasons(&mut page, selection);
    page.finish()
}

/// The screen of `restore` and `undo`: what happened to which paths.
pub fn restored(view: &RestoredView, screen: Screen) -> String {
    let mut page = Page::new(screen);
    write_restored(&mut page, view);
    page.finish()
}

fn choice(page: &mut Page, selection: &Selection) {
    let Some(chosen) = selection.selected else {
        page.line(&toned(Tone::Strong, &format!("{}: no iteration can be selected", selection.loop_id)));
        page.paragraph(INDENT, 0, "nothing was restored");
        for candidate in selection.scores.iter().filter(|candidate| !candidate.eligible) {
            let why = candidate.ineligible_because.as_deref().unwrap_or("not eligible");
            page.paragraph(INDENT, INDENT, &format!("iteration {}: {}", candidate.iteration, brief(why)));
        }
        return;
    };
    let head = format!("{}: {}", selection.loop_id, toned(Tone::Good, &format!("iteration {chosen} selected")));
    page.line(&toned(Tone::Strong, &head));
    page.gap();
    let peak = toned(Tone::Good, &format!("▲ peak, iteration {chosen}"));
    score_line(page, "chosen", candidate(selection, chosen).and_then(|c| c.quality_score), &[peak]);
    if chosen != selection.last {
        let last = candidate(selection, selection.last);
        let remark = format!("iteration {}", selection.last);
        score_line(page, "last", last.and_then(|c| c.quality_score), &[remark]);
    }
    page.paragraph(INDENT, INDENT, &improvement(selection));
}

/// The metrics of the chosen iteration beside those of the last.
fn beside_last(page: &mut Page, selection: &Selection, points: &[Point]) {
    let point = |iteration: Iteration| points.iter().find(|point| point.iteration == iteration);
    let (Some(chosen), Some(last)) = (selection.selected.and_then(point), point(selection.last)) else { return };
    if chosen.iteration == last.iteration {
        return;
    }
    page.gap();
    let titles = (format!("last ({})", last.iteration), format!("chosen ({})", chosen.iteration));
    pair_table(page, &titles.0, &titles.1, &pair_rows(last, chosen, None, POINTS));
}

fn candidate(selection: &Selection, iteration: Iteration) -> Option<&Candidate> {
    selection.scores.iter().find(|candidate| candidate.iteration == iteration)
}

fn reasons(page: &mut Page, selection: &Selection) {
    let why = selection.rationale.iter().chain(&selection.verification);
    let mut why = why.peekable();
    if why.peek().is_some() {
        page.section("why");
    }
    for line in why {
        page.paragraph(INDENT, INDENT, &brief(line));
    }
    if let Some(degradation) = selection.degradation.as_ref().filter(|d| d.iterations_after_peak > 0) {
        page.section("after the peak");
        page.paragraph(INDENT, INDENT, pattern_words(degradation.pattern));
        let after = counted(degradation.iterations_after_peak, "iteration", "iterations");
        let of_what = if selection.primary == "quality_score" { "score".to_owned() } else { brief(&selection.primary) };
        let loss = degradation.quality_loss.map(|loss| format!(", {}% of its {of_what}", signed(Some(loss), 2)));
        page.paragraph(INDENT, INDENT, &format!("{after}{}", loss.unwrap_or_default()));
    }
}

fn write_restored(page: &mut Page, view: &RestoredView) {
    let changed = length(&view.restored) + length(&view.removed);
    let directories = length(&view.directories_restored) + length(&view.directories_removed);
    let head = match (&view.to, changed + directories) {
        (Destination::WorkTree, 0) => "the work tree was as it should be: nothing was changed".to_owned(),
        (Destination::WorkTree, _) => "restored into the work tree".to_owned(),
        (Destination::Back, 0) => "the work tree was as before the restore: nothing was changed".to_owned(),
        (Destination::Back, _) => "backed out: the work tree is as it was before the restore".to_owned(),
        (Destination::Directory(path), _) => format!("restored into {}", brief(path)),
        (Destination::DryRun, 0) => "nothing would be changed".to_owned(),
        (Destination::DryRun, _) => "would be restored; nothing was changed".to_owned(),
    };
    page.line(&toned(Tone::Strong, &head));
    let counts = format!(
        "{changed} changed ({} written, {} removed), {} unchanged, {} kept, {} rescued, {} unheld",
        view.restored.len(),
        view.removed.len(),
        view.unchanged,
        view.kept.len(),
        view.rescued_at.len(),
        view.unheld.len()
    );
    page.paragraph(INDENT, INDENT, &counts);
    if directories > 0 {
        let (restored, removed) = (view.directories_restored.len(), view.directories_removed.len());
        page.paragraph(INDENT, INDENT, &format!("directories: {restored} made or changed, {removed} removed"));
    }
    paths(page, "written", &view.restored, None);
    paths(page, "removed", &view.removed, None);
    paths(page, "directories made or changed", &view.directories_restored, None);
    paths(page, "directories removed", &view.directories_removed, None);
    paths(page, "rescued: changed while being restored, kept here", &view.rescued_at, Some(Tone::Warn));
    paths(page, "unheld: never kept, so not restored", &view.unheld, Some(Tone::Warn));
    paths(page, "kept: never captured, so left alone", &view.kept, Some(Tone::Dim));
    if view.to == Destination::WorkTree && changed + directories > 0 {
        page.gap();
        page.line(&format!("{} {}", toned(Tone::Dim, "the way back: $"), toned(Tone::Strong, "highwater undo")));
    }
}

fn paths(page: &mut Page, title: &str, paths: &[impl ToString], tone: Option<Tone>) {
    if paths.is_empty() {
        return;
    }
    page.section(title);
    for path in paths.iter().take(LISTED) {
        let path = path.to_string();
        let path = tone.map_or(path.clone(), |tone| toned(tone, &path));
        page.paragraph(INDENT, INDENT, &path);
    }
    if paths.len() > LISTED {
        page.paragraph(INDENT, INDENT, &toned(Tone::Dim, &format!("and {} more", paths.len() - LISTED)));
    }
}
