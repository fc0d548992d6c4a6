//! The loop as a whole.

use serde::Serialize;

use super::{BestView, OpenLine, open_lines};
use crate::error::Result;
use crate::model::ids::LoopId;
use crate::model::trajectory::{AlertMark, BestTracker, Point, Selection};
use crate::report::view::{ABSENT, action_phrase, class_name, fixed, passed_of_all, plain, score};
use crate::report::words::{severity_counts, short_action, spent, state};
use crate::report::{bars, next, render};

#[derive(Serialize)]
struct RecommendationView {
    action: String,
    reason: String,
    confidence: String,
}

#[derive(Serialize)]
struct SummaryRow {
    iteration: String,
    score: String,
    mark: bool,
    class: String,
    tests: String,
    pass_rate: String,
    coverage: String,
    errors: String,
    alerts: String,
    action: String,
    label: String,
}

#[derive(Serialize)]
struct IneligibleRow {
    iteration: String,
    score: String,
    why: String,
}

/// The loop as text, for the markdown and the page.
#[derive(Serialize)]
pub(in crate::report) struct SummaryView {
    loop_id: String,
    state: String,
    best: Option<BestView>,
    recommendation: Option<RecommendationView>,
    next: Option<String>,
    chart: Option<String>,
    rows: Vec<SummaryRow>,
    absent: &'static str,
    ineligible: Vec<IneligibleRow>,
    open: Vec<OpenLine>,
    spent: Option<String>,
}

/// See [`crate::report::summary_markdown`].
pub(in crate::report) fn summary(
    loop_id: &LoopId,
    points: &[Point],
    best: &BestTracker,
    selection: Option<&Selection>,
) -> Result<String> {
    render::render("summary", include_str!("../../../templates/summary.md"), &view(loop_id, points, best, selection))
}

/// The same as strings.
pub(in crate::report) fn view(
    loop_id: &LoopId,
    points: &[Point],
    best: &BestTracker,
    selection: Option<&Selection>,
) -> SummaryView {
    let last = points.last();
    // A closed loop has nothing left to do: its last recommendation is history.
    let current = last.filter(|_| selection.is_none());
    let scores: Vec<_> = points.iter().map(Point::score).collect();
    SummaryView {
        loop_id: loop_id.to_string(),
        state: state(points, selection),
        best: BestView::of(best),
        recommendation: current.map(|point| RecommendationView {
            action: action_phrase(&point.recommendation),
            reason: sentence(&point.recommendation.reason),
            confidence: fixed(Some(point.recommendation.confidence), 2),
        }),
        next: current.map(|point| next::after_point(point, loop_id)),
        chart: scores.iter().any(Option::is_some).then(|| bars::sparkline(&scores, 100)),
        rows: points.iter().map(|point| summary_row(point, best)).collect(),
        absent: ABSENT,
        ineligible: ineligible_rows(points, best),
        open: last.map(|point| open_lines(&point.open_findings)).unwrap_or_default(),
        spent: spent(total(points, |point| point.cost), total_tokens(points)),
    }
}

/// Begins with a capital and ends in a period.
fn sentence(text: &str) -> String {
    let mut letters = text.trim_end_matches('.').chars();
    let first: String = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str())
}

fn total(points: &[Point], value: impl Fn(&Point) -> Option<f64>) -> Option<f64> {
    points.iter().filter_map(value).fold(None, |sum: Option<f64>, one| Some(sum.unwrap_or(0.0) + one))
}

fn total_tokens(points: &[Point]) -> Option<u64> {
    points
        .iter()
        .filter_map(|point| point.tokens)
        .fold(None, |sum: Option<u64>, n| Some(sum.unwrap_or(0).saturating_add(n)))
}

fn summary_row(point: &Point, best: &BestTracker) -> SummaryRow {
    let percent = |value: Option<f64>| value.map_or_else(|| ABSENT.to_owned(), |_| format!("{}%", fixed(value, 2)));
    let is_best = best.iteration == Some(point.iteration);
    SummaryRow {
        iteration: if is_best { format!("{} ▲ peak", point.iteration) } else { point.iteration.to_string() },
        score: score(point.score()),
        mark: is_best,
        class: class_name(point.classification, &point.recommendation).to_owned(),
        tests: passed_of_all(&point.metrics),
        pass_rate: percent(point.metrics.pass_rate()),
        coverage: percent(point.metrics.coverage()),
        errors: point.metrics.error_count().map_or_else(|| ABSENT.to_owned(), |count| count.to_string()),
        alerts: alert_counts(&point.alerts),
        action: short_action(&point.recommendation),
        label: point.label.as_deref().map(plain).unwrap_or_default(),
    }
}

/// `2 critical, 1 high`, empty if there are none. Those that move nothing are left out.
fn alert_counts(alerts: &[AlertMark]) -> String {
    let parts: Vec<String> = severity_counts(alerts).map(|(severity, n)| format!("{n} {}", severity.name())).collect();
    parts.join(", ")
}

fn ineligible_rows(points: &[Point], best: &BestTracker) -> Vec<IneligibleRow> {
    let rows = best.ineligible.iter();
    rows.map(|(iteration, why)| IneligibleRow {
        iteration: iteration.to_string(),
        score: score(points.iter().find(|point| point.iteration == *iteration).and_then(Point::score)),
        why: why.clone(),
    })
    .collect()
}
