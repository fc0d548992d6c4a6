//! The trajectory: one row an iteration, the peak marked, the scores drawn.

use super::page::{Column, INDENT, Page};
use super::parts::{PEAK, brief, chart, class_tone, maybe, severity_tone};
use super::text::{Tone, fit, toned};
use crate::model::ids::{Iteration, LoopId};

use crate::model::trajectory::{BestTracker, Point, Selection};
use crate::model::verdict::Action;
use crate::report::Screen;
use crate::report::bars::bar;
use crate::report::view::number as measure;
use crate::report::view::{ABSENT, action_phrase, class_name, dollars, fixed, passed_of_all, plain, score, signed};
use crate::report::words::{severity_counts, short_action, state};

/// The loop as a table: where it stands, the scores as a line, a row an iteration, and why a higher score than the peak's
/// cannot be chosen. `primary` is what the loop is chosen by, `quality_score` or a metric of the user's own.
pub fn log(
    loop_id: &LoopId,
    points: &[Point],
    best: &BestTracker,
    primary: &str,
    selection: Option<&Selection>,
    screen: Screen,
) -> String {
    let mut page = Page::new(screen);
    let Some(last) = points.last() else {
        page.line("nothing is recorded yet");
        return page.finish();
    };
    page.line(&toned(Tone::Strong, &format!("{loop_id}: {}", state(points, selection))));
    page.gap();
    // A closed loop says itself what it was chosen by.
    let primary = selection.map_or(primary, |selection| selection.primary.as_str());
    stand(&mut page, points, last, best, primary);
    // What a closed loop recommended last is history.
    if selection.is_none() {
        let action = toned(Tone::Strong, &action_phrase(&last.recommendation));
        page.paragraph(INDENT, INDENT, &format!("→ {action}"));
        page.paragraph(INDENT * 2, 0, &brief(&last.recommendation.reason));
    }
    let scores: Vec<_> = points.iter().map(Point::score).collect();
    chart(&mut page, &scores, points.iter().position(|point| best.iteration == Some(point.iteration)));
    page.gap();
    let titles = table(&mut page, points, best, primary);
    let has_alerts = points.iter().any(|point| severity_counts(&point.alerts).next().is_some());
    if has_alerts && titles.contains(&"alerts") {
        page.gap();
        page.line(&toned(Tone::Dim, "alerts: C critical, H high, M medium, L low"));
    }
    // Where a metric chooses, a higher score is no question.
    if best.iteration.is_none() || !points.iter().any(|point| point.metrics.custom.contains_key(primary)) {
        higher_but_not_peak(&mut page, points, best);
    }
    page.finish()
}

/// The peak, and the last iteration beside it.
fn stand(page: &mut Page, points: &[Point], last: &Point, best: &BestTracker, primary: &str) {
    if let Some(text) = peak_by_metric(points, last, best, primary) {
        page.paragraph(INDENT, INDENT, &text);
        return;
    }
    match best.iteration {
        Some(iteration) if iteration == last.iteration => {
            let text = format!("{PEAK} peak: iteration {iteration}, {}, the last one", score(best.quality_score));
            page.paragraph(INDENT, INDENT, &toned(Tone::Good, &text));
        }
        Some(iteration) => {
            let text = format!("{PEAK} peak: iteration {iteration}, {}", score(best.quality_score));
            let behind = last.score().zip(best.quality_score).map(|(last, best)| last.get() - best.get());
            let behind = behind.map(|gap| format!(" ({})", signed(Some(gap), 4))).unwrap_or_default();
            let last = format!("; the last, {}, has {}{behind}", last.iteration, score(last.score()));
            page.paragraph(INDENT, INDENT, &format!("{}{last}", toned(Tone::Good, &text)));
        }
        None => page.paragraph(INDENT, INDENT, &toned(Tone::Warn, "no iteration can be the peak yet")),
    }
}

/// The peak and the last iteration by the metric that chose: their scores say nothing of why.
fn peak_by_metric(points: &[Point], last: &Point, best: &BestTracker, name: &str) -> Option<String> {
    let peak = points.iter().find(|point| best.iteration == Some(point.iteration))?;
    let text =
        format!("{PEAK} peak: iteration {}, {} {}", peak.iteration, brief(name), measure(Some(own(peak, name)?)));
    let beside = if peak.iteration == last.iteration {
        ", the last one".to_owned()
    } else {
        format!("; the last, {}, has {}", last.iteration, measure(own(last, name)))
    };
    Some(format!("{}{beside}", toned(Tone::Good, &text)))
}

/// The value of a metric of the user's own.
fn own(point: &Point, name: &str) -> Option<f64> {
    point.metrics.custom.get(name)?.value
}

/// The titles of the columns that had room.
fn table(page: &mut Page, points: &[Point], best: &BestTracker, primary: &str) -> Vec<&'static str> {
    // A column that would only count up by one is left out.
    let branches = points.iter().any(|point| point.parent.is_some_and(|parent| parent.next() != point.iteration));
    let costs = points.iter().any(|point| point.cost.is_some());
    let labels = points.iter().any(|point| point.label.is_some());
    let has_own = points.iter().any(|point| point.metrics.custom.contains_key(primary));
    let cells = match page.width() {
        120.. => 12,
        90.. => 6,
        _ => 3,
    };
    let mut columns = vec![Column::right("#")];
    columns.extend(branches.then(|| Column::right("from").rank(5)));
    columns.push(Column::right("score"));
    columns.push(Column::left("").rank(6));
    columns.extend(has_own.then(|| Column::right("metric")));
    columns.push(Column::left("class"));
    columns.push(Column::right("tests").rank(1));
    columns.push(Column::right("pass %").rank(4));
    columns.push(Column::right("cov %").rank(2));
    columns.push(Column::right("errors").rank(2));
    columns.push(Column::left("alerts").rank(3));
    columns.extend(costs.then(|| Column::right("cost").rank(7)));
    columns.push(Column::left("next"));
    columns.extend(labels.then(|| Column::left("label").rank(8)));
    let rows: Vec<Vec<String>> = points
        .iter()
        .map(|point| {
            let mut row = vec![number(point, best)];
            row.extend(branches.then(|| from(point)));
            row.push(score(point.score()));
            row.push(point.score().map(|score| toned(Tone::Dim, &bar(score.get(), cells))).unwrap_or_default());
            row.extend(has_own.then(|| measure(own(point, primary))));
            row.push(maybe(class_tone(point.classification), class_name(point.classification, &point.recommendation)));
            row.push(passed_of_all(&point.metrics));
            row.push(fixed(point.metrics.pass_rate(), 2));
            row.push(fixed(point.metrics.coverage(), 2));
            row.push(point.metrics.error_count().map_or_else(|| ABSENT.to_owned(), |count| count.to_string()));
            row.push(alert_letters(point));
            row.extend(costs.then(|| dollars(point.cost)));
            row.push(action(point));
            row.extend(labels.then(|| label(point, page.width())));
            row
        })
        .collect();
    page.table(0, &columns, &rows)
}

/// The number, with the peak's mark before it.
fn number(point: &Point, best: &BestTracker) -> String {
    if best.iteration == Some(point.iteration) {
        toned(Tone::Good, &format!("{PEAK} {}", point.iteration))
    } else {
        format!("  {}", point.iteration)
    }
}

/// Where it started, if that is not the one before.
fn from(point: &Point) -> String {
    let parent = point.parent.filter(|parent| parent.next() != point.iteration);
    parent.map(|parent| parent.to_string()).unwrap_or_default()
}

fn action(point: &Point) -> String {
    let text = short_action(&point.recommendation);
    match point.recommendation.action {
        Action::Continue => toned(Tone::Dim, &text),
        Action::Stop | Action::Escalate => toned(Tone::Warn, &text),
        Action::Rollback => toned(Tone::Bad, &text),
    }
}

/// The label, cut to what a wide screen has left; its record and the summary have it whole.
fn label(point: &Point, screen_width: usize) -> String {
    let text = plain(point.label.as_deref().unwrap_or_default());
    toned(Tone::Dim, &fit(&text, screen_width.saturating_sub(100).clamp(16, 80)))
}

/// `1C 2H`: how many of each severity.
fn alert_letters(point: &Point) -> String {
    let parts: Vec<String> = severity_counts(&point.alerts)
        .map(|(severity, count)| {
            let letter: String = severity.name().chars().take(1).collect();
            toned(severity_tone(severity), &format!("{count}{}", letter.to_uppercase()))
        })
        .collect();
    parts.join(" ")
}

/// Iterations with a higher score than the peak's, and why they are not the peak.
fn higher_but_not_peak(page: &mut Page, points: &[Point], best: &BestTracker) {
    let peak = best.quality_score.map_or(0.0, |score| score.get());
    let higher: Vec<(Iteration, String)> = points
        .iter()
        .filter(|point| best.iteration != Some(point.iteration))
        .filter(|point| point.score().is_some_and(|score| score.get() > peak))
        .filter_map(|point| Some((point.iteration, format!("{}, {}", score(point.score()), reason(point, best)?))))
        .collect();
    if higher.is_empty() {
        return;
    }
    page.section(if best.iteration.is_some() { "higher, but not the peak" } else { "not the peak" });
    for (iteration, why) in higher {
        page.paragraph(INDENT, INDENT, &format!("iteration {iteration}: {why}"));
    }
}

fn reason(point: &Point, best: &BestTracker) -> Option<String> {
    best.ineligible.get(&point.iteration).map(|why| brief(why))
}
