//! Parts that several screens share: the verdict, the score, findings, sources.

use super::findings::{Most, details, rest};
use super::page::{Column, INDENT, Page};
use super::text::{Tone, padded, toned, width};
use crate::model::ids::ObjectId;
use crate::model::trajectory::BestTracker;
use crate::model::units::Score;
use crate::model::verdict::{Classification, Recommendation, Severity};
use crate::report::bars::{bar, position, sparkline};
use crate::report::rows::{Change, MetricRow, PairRow};
use crate::report::sources::{Fate, SourceLine};
use crate::report::view::{action_phrase, class_name, fixed, merit, plain, score, signed};

/// Characters of one message on a screen; what is longer is in `show --json` and in the report.
const MESSAGE_LIMIT: usize = 300;

/// Text from outside, harmless and of bounded length.
pub(super) fn brief(text: &str) -> String {
    let mut chars = text.chars();
    let kept: String = chars.by_ref().take(MESSAGE_LIMIT).collect();
    let more = if chars.next().is_some() { "…" } else { "" };
    format!("{}{more}", plain(&kept))
}

/// The tone of a class.
pub(super) fn class_tone(class: Option<Classification>) -> Option<Tone> {
    match class {
        Some(Classification::Forward) => Some(Tone::Good),
        Some(Classification::Regression) => Some(Tone::Bad),
        Some(Classification::Stalled) | None => Some(Tone::Warn),
        Some(Classification::Baseline | Classification::Plateau) => None,
    }
}

/// The text in a tone, if there is one.
pub(super) fn maybe(tone: Option<Tone>, text: &str) -> String {
    tone.map_or_else(|| text.to_owned(), |tone| toned(tone, text))
}

/// The tone of a severity.
pub(super) fn severity_tone(severity: Severity) -> Tone {
    match severity {
        Severity::Critical | Severity::High => Tone::Bad,
        Severity::Medium => Tone::Warn,
        Severity::Low => Tone::Dim,
    }
}

/// A change in the tone of its worth.
pub(super) fn change(text: &str, change: Change) -> String {
    match change {
        Change::Better => toned(Tone::Good, text),
        Change::Worse => toned(Tone::Bad, text),
        // What did not change asks for no attention; neither does what nobody knows.
        Change::Neutral if !text.starts_with(['+', '-']) => toned(Tone::Dim, text),
        Change::Neutral => text.to_owned(),
    }
}

/// The class, what to do, why, and the exact command.
pub(super) fn verdict(page: &mut Page, class: Option<Classification>, recommendation: &Recommendation, next: &str) {
    let word = class_name(class, recommendation).to_uppercase();
    let confidence = fixed(Some(recommendation.confidence), 2);
    let head = format!(
        "{} → {} {}",
        toned(Tone::Strong, &maybe(class_tone(class), &word)),
        toned(Tone::Strong, &action_phrase(recommendation)),
        toned(Tone::Dim, &format!("(confidence {confidence})"))
    );
    page.paragraph(INDENT, 0, &head);
    page.paragraph(INDENT, 0, &brief(&recommendation.reason));
    for alternative in &recommendation.alternatives {
        page.paragraph(INDENT, INDENT, &format!("- {}", brief(alternative)));
    }
    page.paragraph(INDENT, INDENT, &format!("{} {}", toned(Tone::Dim, "$"), toned(Tone::Strong, &brief(next))));
}

/// What marks the peak.
pub(super) const PEAK: &str = "▲";

/// The scores of a loop as a line, the peak marked below; nothing for fewer than two scores.
pub(super) fn chart(page: &mut Page, scores: &[Option<Score>], peak: Option<usize>) {
    if scores.iter().flatten().count() < 2 {
        return;
    }
    let cells = page.width().saturating_sub(2 * INDENT);
    page.gap();
    page.push(INDENT, &sparkline(scores, cells));
    if let Some(index) = peak {
        let at = position(index, scores.len(), cells);
        // Near the right edge the word stands before its mark.
        let line = if at + 6 <= cells {
            format!("{}{PEAK} peak", " ".repeat(at))
        } else {
            format!("{}peak {PEAK}", " ".repeat(at.saturating_sub(5)))
        };
        page.push(INDENT, &toned(Tone::Good, &line));
    }
}

/// Columns of the names before scores.
const NAMES: usize = 8;

/// The name of a row, its score, its bar, and what there is to say of it.
pub(super) fn score_line(page: &mut Page, name: &str, total: Option<Score>, remarks: &[String]) {
    let cells = (page.width() / 4).min(24);
    // Dim: a bar is for comparing, and must not outshine the verdict.
    let drawn = total.map(|total| toned(Tone::Dim, &bar(total.get(), cells))).unwrap_or_default();
    let name = padded(&toned(Tone::Dim, name), NAMES);
    let line = format!("{name}{}  {}", padded(&score(total), 6), padded(&drawn, cells));
    let remark = remarks.join("  ");
    if INDENT + width(&line) + 2 + width(&remark) <= page.width() {
        page.push(INDENT, &format!("{line}  {remark}"));
    } else {
        // The remarks have no room beside the bar: they stand below, where text is filled and only a comma tells them apart.
        page.push(INDENT, &line);
        page.paragraph(INDENT + NAMES, 0, &remarks.join(", "));
    }
}

/// The best so far as a score line.
pub(super) fn best_line(page: &mut Page, best: &BestTracker) {
    match best.iteration {
        Some(iteration) => {
            let by = best.chosen_by.as_ref().map(|_| format!("by {}", brief(&merit(best))));
            let peak = format!("{PEAK} peak, iteration {iteration}");
            score_line(page, "best", best.quality_score, &[Some(peak), by].into_iter().flatten().collect::<Vec<_>>())
        }
        None => page.field("best", NAMES - 1, "none: no iteration is eligible yet"),
    }
}

/// The change of the score since the previous, for a score line.
pub(super) fn score_change(delta: Option<f64>) -> String {
    match delta {
        None => String::new(),
        Some(delta) if delta > 0.0 => toned(Tone::Good, &signed(Some(delta), 4)),
        Some(delta) if delta < 0.0 => toned(Tone::Bad, &signed(Some(delta), 4)),
        Some(_) => "unchanged".to_owned(),
    }
}

/// The built-in metrics with their changes.
pub(super) fn metric_table(page: &mut Page, rows: &[MetricRow]) {
    let columns = [
        Column::left(""),
        Column::right("now"),
        Column::right("since previous"),
        Column::right("since baseline").rank(1),
    ];
    let cells = |row: &MetricRow| {
        vec![
            row.name.to_lowercase(),
            row.current.clone(),
            change(&row.delta, row.change),
            change(&row.delta_baseline, row.change_baseline),
        ]
    };
    let built_in = rows.iter().filter(|row| !row.is_custom);
    page.table(INDENT, &columns, &built_in.map(cells).collect::<Vec<_>>());
}

/// The metrics of two iterations side by side.
pub(super) fn pair_table(page: &mut Page, a: &str, b: &str, rows: &[PairRow]) {
    let columns = [Column::left(""), Column::right(a), Column::right(b), Column::right("change")];
    let cells = |row: &PairRow| {
        vec![
            if row.is_custom { row.name.clone() } else { row.name.to_lowercase() },
            row.a.clone(),
            row.b.clone(),
            change(&row.delta, row.change),
        ]
    };
    page.table(INDENT, &columns, &rows.iter().map(cells).collect::<Vec<_>>());
}

/// The head of the history, which is for copying: it stands whole on one line wherever there is room for it.
pub(super) fn head_line(page: &mut Page, before: &str, head: &ObjectId) {
    let head = head.to_string();
    if before.len() + head.len() <= page.width() {
        page.push(0, &format!("{}{head}", toned(Tone::Dim, before)));
    } else {
        page.line(&toned(Tone::Dim, before.trim_end()));
        page.paragraph(if page.width() >= head.len() + INDENT { INDENT } else { 0 }, 0, &head);
    }
}

/// Where the numbers came from, and why others gave none.
pub(super) fn sources(page: &mut Page, lines: &[SourceLine], most: Most, where_all: &str) {
    page.section("read");
    if lines.is_empty() {
        page.paragraph(INDENT, 0, &toned(Tone::Warn, "no report was found"));
    }
    let word_of = |line: &SourceLine| match line.fate {
        Fate::Read => (line.format.clone().unwrap_or_else(|| "read".to_owned()), None),
        Fate::PassedOver => ("passed over".to_owned(), Some(Tone::Dim)),
        Fate::Stale => ("stale".to_owned(), Some(Tone::Warn)),
        Fate::Failed => ("not read".to_owned(), Some(Tone::Bad)),
    };
    let shown = || lines.iter().take(most.entries);
    let column = shown().map(|line| word_of(line).0.chars().count() + 1).fold(13, usize::max);
    for line in shown() {
        let (word, tone) = word_of(line);
        let told = format!("{} {} {}", line.place, toned(Tone::Dim, "·"), brief(&line.told));
        page.hung(INDENT, &padded(&maybe(tone, &word), column), &told);
        if let Some(help) = &line.help {
            page.paragraph(INDENT + column, 0, &format!("{} {}", toned(Tone::Dim, "help:"), brief(help)));
        }
        details(page, &line.warnings, most, INDENT + column);
    }
    rest(page, lines.len().saturating_sub(most.entries), where_all);
}
