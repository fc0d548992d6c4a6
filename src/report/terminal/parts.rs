//! Parts that several screens share: the verdict, the score, findings, sources.

use super::page::{Column, INDENT, Page};
use super::text::{Tone, padded, toned, width};
use crate::model::ids::ObjectId;
use crate::model::metrics::TestMetrics;
use crate::model::trajectory::BestTracker;
use crate::model::units::Score;
use crate::model::verdict::{Alert, Classification, NamedTests, OpenFinding, Recommendation, Severity};
use crate::report::bars::{bar, position, sparkline};
use crate::report::markdown::{remark, sorted};
use crate::report::sources::{Fate, SourceLine};
use crate::report::view::{Change, MetricRow, PairRow, action_phrase, class_name, fixed, length, plain, score, signed};

/// Characters of one message on a screen; what is longer is in `show --json` and in the report.
const MESSAGE_LIMIT: usize = 600;

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
pub(super) fn score_line(page: &mut Page, name: &str, total: Option<Score>, remark: &str) {
    let cells = (page.width() / 4).min(24);
    let drawn = total.map(|total| bar(total.get(), cells)).unwrap_or_default();
    let name = padded(&toned(Tone::Dim, name), NAMES);
    let line = format!("{name}{}  {}", padded(&score(total), 6), padded(&drawn, cells));
    if INDENT + width(&line) + 2 + width(remark) <= page.width() {
        page.push(INDENT, &format!("{line}  {remark}"));
    } else {
        // The remark has no room beside the bar: it stands below.
        page.push(INDENT, &line);
        page.paragraph(INDENT + NAMES, 0, remark);
    }
}

/// The best so far as a score line.
pub(super) fn best_line(page: &mut Page, best: &BestTracker) {
    match best.iteration {
        Some(iteration) => score_line(page, "best", best.quality_score, &format!("{PEAK} peak, iteration {iteration}")),
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

/// The metrics with their changes.
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
    page.table(INDENT, &columns, &rows.iter().map(cells).collect::<Vec<_>>());
}

/// The metrics of two iterations side by side.
pub(super) fn pair_table(page: &mut Page, a: &str, b: &str, rows: &[PairRow]) {
    let columns = [Column::left(""), Column::right(a), Column::right(b), Column::right("change")];
    let cells =
        |row: &PairRow| vec![row.name.to_lowercase(), row.a.clone(), row.b.clone(), change(&row.delta, row.change)];
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

/// How much of a list a screen shows.
#[derive(Clone, Copy)]
pub(super) struct Most {
    /// Entries.
    pub entries: usize,
    /// Lines below each.
    pub details: usize,
}

/// Everything.
pub(super) const ALL: Most = Most { entries: usize::MAX, details: usize::MAX };

/// Findings, the most severe first.
pub(super) fn alerts(page: &mut Page, alerts: &[Alert], most: Most, where_all: &str) {
    if alerts.is_empty() {
        return;
    }
    page.section("alerts");
    for alert in sorted(alerts).into_iter().take(most.entries) {
        let severity = alert.severity.name();
        let tone = if alert.counts() { severity_tone(alert.severity) } else { Tone::Dim };
        let subject = alert.subject.as_deref().map(|subject| format!(" {}", brief(subject))).unwrap_or_default();
        let remark = remark(alert).map(|remark| format!(", {remark}")).unwrap_or_default();
        let rule = toned(Tone::Dim, &format!("[{}{remark}]", plain(&alert.rule)));
        page.hung(INDENT, &padded(&toned(tone, severity), 10), &format!("{}{subject} {rule}", brief(&alert.message)));
        details(page, &alert.evidence, most, INDENT + 10);
    }
    rest(page, alerts.len(), most, where_all);
}

fn details(page: &mut Page, lines: &[String], most: Most, indent: usize) {
    for line in lines.iter().take(most.details) {
        page.paragraph(indent, 2, &toned(Tone::Dim, &brief(line)));
    }
    if lines.len() > most.details {
        page.paragraph(indent, 2, &toned(Tone::Dim, &format!("and {} more", lines.len() - most.details)));
    }
}

/// How many entries are not shown, and where they are.
fn rest(page: &mut Page, count: usize, most: Most, where_all: &str) {
    if count > most.entries {
        page.paragraph(INDENT, INDENT, &toned(Tone::Dim, &format!("and {} more: {where_all}", count - most.entries)));
    }
}

/// Losses that are still open, and what closes them.
pub(super) fn open_findings(page: &mut Page, findings: &[OpenFinding], most: Most, where_all: &str) {
    let open: Vec<&OpenFinding> = findings.iter().filter(|finding| finding.accepted.is_none()).collect();
    if open.is_empty() {
        return;
    }
    page.section("still open");
    for finding in open.iter().take(most.entries) {
        let since = toned(Tone::Dim, &format!("since iteration {}", finding.since));
        let rule = toned(Tone::Warn, &plain(&finding.alert.rule));
        page.paragraph(INDENT, INDENT, &format!("{rule} {since}: {}", brief(&finding.alert.message)));
        page.paragraph(INDENT * 2, 0, &format!("closes when {}", brief(&finding.closes_when)));
    }
    rest(page, open.len(), most, where_all);
}

/// Tests by name.
pub(super) fn named_tests(page: &mut Page, title: &str, tests: Option<&NamedTests>, most: Most, tone: Tone) {
    let Some(tests) = tests.filter(|tests| tests.count > 0) else { return };
    page.section(&format!("{title} ({})", tests.count));
    for name in tests.names.iter().take(most.entries) {
        page.paragraph(INDENT, INDENT, &toned(tone, &brief(name)));
    }
    let shown = u64::try_from(most.entries).unwrap_or(u64::MAX).min(length(&tests.names));
    let more = tests.count.saturating_sub(shown);
    if more > 0 {
        page.paragraph(INDENT, INDENT, &toned(Tone::Dim, &format!("and {more} more")));
    }
}

/// What could not be loaded, as named tests.
pub(super) fn failed_units(testing: Option<&TestMetrics>) -> Option<NamedTests> {
    testing.map(|testing| NamedTests { count: testing.collection_errors, names: testing.failed_units.clone() })
}

/// Where the numbers came from, and why others gave none.
pub(super) fn sources(page: &mut Page, lines: &[SourceLine], most: Most, where_all: &str) {
    page.section("read");
    if lines.is_empty() {
        page.paragraph(INDENT, 0, &toned(Tone::Warn, "no report was found"));
    }
    for line in lines.iter().take(most.entries) {
        let (word, tone) = match line.fate {
            Fate::Read => (line.format.as_deref().unwrap_or("read"), None),
            Fate::PassedOver => ("passed over", Some(Tone::Dim)),
            Fate::Stale => ("stale", Some(Tone::Warn)),
            Fate::Failed => ("not read", Some(Tone::Bad)),
        };
        let told = format!("{} {} {}", line.place, toned(Tone::Dim, "·"), brief(&line.told));
        page.hung(INDENT, &padded(&maybe(tone, word), 13), &told);
        if let Some(help) = &line.help {
            page.paragraph(INDENT + 13, 0, &format!("{} {}", toned(Tone::Dim, "help:"), brief(help)));
        }
        details(page, &line.warnings, most, INDENT + 13);
    }
    rest(page, lines.len(), most, where_all);
}
