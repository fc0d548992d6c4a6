//! Where a loop stands.

use super::findings::{FEW, open_findings};
use super::page::{INDENT, Page};
use super::parts::{best_line, brief, head_line, score_line, verdict};
use super::text::{Tone, toned};
use crate::model::ids::ObjectId;
use crate::model::record::IterationRecord;
use crate::model::trajectory::BestTracker;
use crate::model::verdict::Accepted;
use crate::report::Screen;
use crate::report::next;

/// What `status` shows.
#[derive(Clone, Copy, Debug)]
pub struct StatusView<'a> {
    /// The newest iteration.
    pub record: &'a IterationRecord,
    /// The best so far.
    pub best: &'a BestTracker,
    /// BLAKE3 of the newest record's file.
    pub head: &'a ObjectId,
    /// `finish` has closed the loop.
    pub is_closed: bool,
    /// The number of a restore that was interrupted.
    pub pending_restore: Option<u64>,
    /// How many faults agents' hooks swallowed, and the newest one.
    pub hook_faults: Option<(u64, &'a str)>,
    /// What was accepted since that iteration.
    pub accepted: &'a [Accepted],
    /// Names of the other open loops of this work tree.
    pub other_open_loops: &'a [String],
}

/// The screen of `status`.
pub fn status(status: &StatusView<'_>, screen: Screen) -> String {
    let mut page = Page::new(screen);
    let record = status.record;
    let state = if status.is_closed { "closed" } else { "open" };
    page.line(&toned(Tone::Strong, &format!("{}, {state}, iteration {}", record.loop_id, record.iteration)));
    if let Some(number) = status.pending_restore {
        page.gap();
        pending(&mut page, number);
    }
    page.gap();
    standing(&mut page, status);
    // What a closed loop left open was left behind with its last iteration.
    if !status.is_closed {
        let where_all = format!("highwater show {} --loop {}", record.iteration, record.loop_id);
        open_findings(&mut page, &record.open_findings, FEW, &where_all);
        accepted_since(&mut page, status.accepted);
    }
    faults(&mut page, status.hook_faults);
    others(&mut page, status.other_open_loops);
    page.gap();
    head_line(&mut page, &format!("newest is iteration {}, head ", record.iteration), status.head);
    page.finish()
}

/// The record does not know of these yet, so its findings stand as open until then.
fn accepted_since(page: &mut Page, accepted: &[Accepted]) {
    if accepted.is_empty() {
        return;
    }
    page.section("accepted, the next record closes it");
    for said in accepted {
        page.paragraph(INDENT, INDENT, &format!("{}: {}", brief(&said.rule), brief(&said.reason)));
    }
}

fn standing(page: &mut Page, status: &StatusView<'_>) {
    let record = status.record;
    if status.is_closed {
        page.paragraph(INDENT, 0, "closed: the best iteration was chosen");
        page.paragraph(INDENT, INDENT, &format!("$ highwater report selection --loop {}", record.loop_id));
    } else {
        verdict(page, record.classification, &record.recommendation, &next::after_record(record));
    }
    page.gap();
    let is_best = status.best.iteration == Some(record.iteration);
    let peak: Vec<String> = is_best.then(|| toned(Tone::Good, "▲ peak, the best so far")).into_iter().collect();
    score_line(page, "last", record.quality_score.as_ref().map(|score| score.total), &peak);
    if !is_best {
        best_line(page, status.best);
    }
}

fn pending(page: &mut Page, number: u64) {
    page.paragraph(INDENT, INDENT, &toned(Tone::Bad, &format!("restore {number} was interrupted")));
    page.paragraph(
        INDENT,
        INDENT,
        "the work tree may be half restored; nothing is recorded until it is finished or undone",
    );
    page.paragraph(INDENT, INDENT, "$ highwater restore --resume");
    page.paragraph(INDENT, INDENT, "$ highwater restore --abort");
}

fn faults(page: &mut Page, faults: Option<(u64, &str)>) {
    let Some((count, last)) = faults else { return };
    page.section("hooks");
    let many = if count == 1 {
        "a fault that the agent was not told of".to_owned()
    } else {
        format!("{count} faults that the agent was not told of, the last")
    };
    page.paragraph(INDENT, INDENT, &toned(Tone::Bad, &many));
    page.paragraph(INDENT, INDENT, &brief(last));
}

fn others(page: &mut Page, names: &[String]) {
    if names.is_empty() {
        return;
    }
    page.section("other open loops");
    for name in names {
        page.paragraph(INDENT, INDENT, &brief(name));
    }
}
