//! The output-selection report.

use serde::Serialize;

use super::{Scored, WhyView};
use crate::error::Result;
use crate::model::config::LoopConfig;
use crate::model::ids::Iteration;
use crate::model::metrics::Direction;
use crate::model::trajectory::{Candidate, Objective, Pareto, ParetoCandidate, Point, Remeasured, Selection};
use crate::report::rows::pair_rows;
use crate::report::view::{ABSENT, fixed, length, number, score, signed, signed_number};
use crate::report::words::{improvement, pattern_words};
use crate::report::{WhyStopped, render};

#[derive(Serialize)]
struct TrajectoryRow {
    iteration: String,
    score: String,
    mark: bool,
    class: String,
    remark: String,
}

#[derive(Serialize)]
struct DetailRow {
    name: String,
    selected: String,
    last: String,
    delta: String,
}

#[derive(Serialize)]
struct ParetoView {
    objectives: Vec<String>,
    rows: Vec<ParetoRow>,
}

#[derive(Serialize)]
struct ParetoRow {
    iteration: String,
    values: Vec<String>,
    dominated_by: String,
}

#[derive(Serialize)]
struct RemeasuredRow {
    iteration: String,
    recorded: String,
    again: String,
    mean: String,
    expected: String,
    optimism: String,
}

#[derive(Serialize)]
struct DegradationView {
    pattern: &'static str,
    started: String,
    after: String,
    loss: String,
}

#[derive(Serialize)]
struct SelectionView {
    loop_id: String,
    selected: Option<Scored>,
    last: Scored,
    total: String,
    rows: Vec<TrajectoryRow>,
    primary: String,
    threshold: String,
    threshold_dropped: bool,
    pareto: Option<String>,
    compared: Option<ParetoView>,
    verification: Vec<String>,
    remeasured: Vec<RemeasuredRow>,
    details: Vec<DetailRow>,
    improvement: String,
    why_not_final: String,
    rationale: Vec<String>,
    degradation: Option<DegradationView>,
    applied: String,
    restored: Vec<String>,
    more_restored: Option<String>,
    why: Option<WhyView>,
    head: String,
}

/// See [`crate::report::selection_markdown`].
pub(in crate::report) fn selection(
    selection: &Selection,
    points: &[Point],
    config: &LoopConfig,
    why_stopped: Option<&WhyStopped>,
) -> Result<String> {
    let score_of = |iteration: Iteration| {
        let candidate = selection.scores.iter().find(|candidate| candidate.iteration == iteration);
        Scored { iteration: iteration.to_string(), score: score(candidate.and_then(|c| c.quality_score)) }
    };
    let more = selection.restored_count.saturating_sub(length(&selection.restored));
    let front: Vec<String> = selection.pareto_front.iter().map(Iteration::to_string).collect();
    let view = SelectionView {
        loop_id: selection.loop_id.to_string(),
        selected: selection.selected.map(score_of),
        last: score_of(selection.last),
        total: selection.scores.iter().filter(|candidate| candidate.iteration.0 > 0).count().to_string(),
        rows: selection.scores.iter().map(|candidate| trajectory_row(candidate, selection)).collect(),
        primary: primary_words(&selection.primary),
        threshold: fixed(Some(selection.threshold), 2),
        threshold_dropped: selection.threshold_dropped,
        pareto: (!front.is_empty())
            .then(|| format!("iterations {} (objectives: {})", front.join(", "), config.select.objectives.join(", "))),
        compared: selection.pareto.as_ref().map(compared),
        verification: selection.verification.clone(),
        remeasured: selection.remeasured.iter().map(remeasured_row).collect(),
        details: details(selection, points),
        improvement: improvement(selection),
        why_not_final: why_not_final(selection),
        rationale: selection.rationale.clone(),
        degradation: degradation(selection),
        applied: applied(selection),
        restored: selection.restored.iter().map(ToString::to_string).collect(),
        more_restored: (more > 0).then(|| more.to_string()),
        why: why_stopped.map(WhyView::of),
        head: selection.head.to_string(),
    };
    render::render("selection", include_str!("../../../templates/selection.md"), &view)
}

fn remeasured_row(one: &Remeasured) -> RemeasuredRow {
    let again: Vec<String> = one.again.iter().map(|value| number(Some(*value))).collect();
    RemeasuredRow {
        iteration: one.iteration.to_string(),
        recorded: number(Some(one.recorded)),
        again: again.join(", "),
        mean: number(Some(one.mean)),
        expected: number(Some(one.expected)),
        optimism: signed_number(Some(one.optimism)),
    }
}

/// Who dominates whom.
fn compared(pareto: &Pareto) -> ParetoView {
    let title = |objective: &Objective| {
        let better = match objective.direction {
            Direction::Lower => "lower is better",
            Direction::Higher => "higher is better",
        };
        let unit = objective.unit.as_ref().map(|unit| format!("{unit}, ")).unwrap_or_default();
        format!("{} ({unit}{better})", objective.name)
    };
    let row = |candidate: &ParetoCandidate| ParetoRow {
        iteration: candidate.iteration.to_string(),
        values: pareto.objectives.iter().map(|one| number(candidate.values.get(&one.name).copied())).collect(),
        dominated_by: candidate
            .dominated_by
            .map_or_else(|| "none: on the front".to_owned(), |by| format!("iteration {by}")),
    };
    ParetoView {
        objectives: pareto.objectives.iter().map(title).collect(),
        rows: pareto.candidates.iter().map(row).collect(),
    }
}

fn primary_words(primary: &str) -> String {
    if primary == "quality_score" { "highest quality score".to_owned() } else { format!("best {primary}") }
}

fn trajectory_row(candidate: &Candidate, selection: &Selection) -> TrajectoryRow {
    let is_selected = Some(candidate.iteration) == selection.selected;
    let selected = is_selected.then(|| "selected (peak)".to_owned());
    let last = (candidate.iteration == selection.last).then(|| "final".to_owned());
    let why = candidate.ineligible_because.clone().filter(|_| !candidate.eligible);
    let why = why.map(|why| format!("not eligible: {why}"));
    let parts: Vec<String> = [selected, last, why].into_iter().flatten().collect();
    TrajectoryRow {
        iteration: candidate.iteration.to_string(),
        score: score(candidate.quality_score),
        mark: is_selected,
        class: candidate.classification.map_or(ABSENT, |class| class.name()).to_owned(),
        remark: parts.join("; "),
    }
}

fn details(selection: &Selection, points: &[Point]) -> Vec<DetailRow> {
    let point = |iteration: Iteration| points.iter().find(|point| point.iteration == iteration);
    let Some((selected, last)) = selection.selected.and_then(point).zip(point(selection.last)) else {
        return Vec::new();
    };
    let rows = pair_rows(last, selected, None, "%").into_iter();
    rows.map(|row| DetailRow { name: row.name, selected: row.b, last: row.a, delta: row.delta }).collect()
}

fn why_not_final(selection: &Selection) -> String {
    let last = selection.scores.iter().find(|candidate| candidate.iteration == selection.last);
    let why = last.and_then(|last| last.ineligible_because.clone().filter(|_| !last.eligible));
    if selection.selected == Some(selection.last) {
        return "it was selected".to_owned();
    }
    if let Some(why) = why {
        return format!("it is not eligible: {why}");
    }
    match (selection.selected, selection.degradation.as_ref().and_then(|degradation| degradation.started)) {
        (None, _) => "no iteration was".to_owned(),
        (Some(_), Some(started)) => format!("quality degraded from iteration {started} on"),
        (Some(selected), None) => format!("it does not exceed iteration {selected}, and ties keep the earliest"),
    }
}

fn degradation(selection: &Selection) -> Option<DegradationView> {
    let degradation = selection.degradation.as_ref()?;
    Some(DegradationView {
        pattern: pattern_words(degradation.pattern),
        started: degradation.started.map_or_else(|| ABSENT.to_owned(), |started| format!("iteration {started}")),
        after: degradation.iterations_after_peak.to_string(),
        loss: match degradation.quality_loss {
            Some(_) => format!("{}%", signed(degradation.quality_loss, 2)),
            None => ABSENT.to_owned(),
        },
    })
}

fn applied(selection: &Selection) -> String {
    match (selection.selected, selection.restored_count) {
        (None, _) => "Nothing was restored.".to_owned(),
        (Some(selected), 0) => {
            format!("Iteration {selected} was selected; no path of the work tree was changed for it.")
        }
        (Some(selected), 1) => format!("Iteration {selected} was restored into the work tree; 1 path changed:"),
        (Some(selected), count) => {
            format!("Iteration {selected} was restored into the work tree; {count} paths changed:")
        }
    }
}
