//! Findings and lists of tests: what was lost, what is still open, how much of it a screen shows.

use super::page::{INDENT, Page};
use super::parts::{brief, severity_tone};
use super::text::{Tone, padded, toned};
use crate::model::transitions::Renamed;
use crate::model::verdict::{Alert, NamedTests, OpenFinding};
use crate::report::view::{length, plain};
use crate::report::words::{remark, sorted};

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

/// What one screen holds beside other things.
pub(super) const FEW: Most = Most { entries: 6, details: 3 };

/// Findings, the most severe first. Those of one rule about several subjects stand together.
pub(super) fn alerts(page: &mut Page, alerts: &[Alert], most: Most, where_all: &str) {
    if alerts.is_empty() {
        return;
    }
    page.section("alerts");
    let sorted = sorted(alerts);
    let alike = |a: &&Alert, b: &&Alert| {
        let both = a.subject.is_some() && b.subject.is_some();
        both && (&a.rule, a.severity, a.status, a.observe_only) == (&b.rule, b.severity, b.status, b.observe_only)
    };
    let groups: Vec<&[&Alert]> = sorted.chunk_by(alike).collect();
    for group in groups.iter().take(most.entries) {
        let Some(first) = group.first() else { continue };
        let tone = if first.counts() { severity_tone(first.severity) } else { Tone::Dim };
        let remark = remark(first).map(|remark| format!(", {remark}")).unwrap_or_default();
        let rule = toned(Tone::Dim, &format!("[{}{remark}]", plain(&first.rule)));
        let before = padded(&toned(tone, first.severity.name()), 10);
        if group.len() > 1 {
            let subjects: Vec<String> = group.iter().flat_map(|alert| alert.subjects()).cloned().collect();
            page.hung(INDENT, &before, &format!("{} ({}) {rule}", about_all(first), subjects.len()));
            details(page, &subjects, most, INDENT + 10);
        } else {
            page.hung(INDENT, &before, &format!("{} {rule}", about_one(first)));
            details(page, &first.evidence, most, INDENT + 10);
        }
    }
    let hidden: usize = groups.iter().skip(most.entries).map(|group| group.len()).sum();
    rest(page, hidden, where_all);
}

/// The message, with the subject if it does not name it.
fn about_one(alert: &Alert) -> String {
    let subject = alert.subject.as_deref().filter(|subject| !alert.message.contains(subject));
    let subject = subject.map(|subject| format!(" {}", brief(subject))).unwrap_or_default();
    format!("{}{subject}", brief(&alert.message))
}

/// The message without the subject, for several alike.
fn about_all(alert: &Alert) -> String {
    let subject = alert.subject.as_deref().unwrap_or_default();
    let message = alert.message.strip_suffix(subject).unwrap_or(&alert.message);
    brief(message.trim_end_matches([' ', ':']))
}

/// Further lines of an entry.
pub(super) fn details(page: &mut Page, lines: &[String], most: Most, indent: usize) {
    for line in lines.iter().take(most.details) {
        page.paragraph(indent, 2, &toned(Tone::Dim, &brief(line)));
    }
    if lines.len() > most.details {
        page.paragraph(indent, 2, &toned(Tone::Dim, &format!("and {} more", lines.len() - most.details)));
    }
}

/// How many entries are not shown, and where they are.
pub(super) fn rest(page: &mut Page, hidden: usize, where_all: &str) {
    if hidden > 0 {
        page.paragraph(INDENT, INDENT, &toned(Tone::Dim, &format!("and {hidden} more: {where_all}")));
    }
}

/// Losses that are still open, and what closes them. Those of one rule and iteration stand together.
pub(super) fn open_findings(page: &mut Page, findings: &[OpenFinding], most: Most, where_all: &str) {
    let open: Vec<&OpenFinding> = findings.iter().filter(|finding| finding.accepted.is_none()).collect();
    if open.is_empty() {
        return;
    }
    page.section("still open");
    let alike = |a: &&OpenFinding, b: &&OpenFinding| a.alert.rule == b.alert.rule && a.since == b.since;
    let groups: Vec<&[&OpenFinding]> = open.chunk_by(alike).collect();
    for group in groups.iter().take(most.entries) {
        let Some(first) = group.first() else { continue };
        let since = toned(Tone::Dim, &format!("since iteration {}", first.since));
        let rule = toned(Tone::Warn, &plain(&first.alert.rule));
        let what = if group.len() > 1 {
            format!("{} ({})", about_all(&first.alert), group.len())
        } else {
            about_one(&first.alert)
        };
        page.paragraph(INDENT, INDENT, &format!("{rule} {since}: {what}"));
        for finding in group.iter().take(most.details) {
            page.paragraph(INDENT * 2, INDENT, &format!("closes when {}", brief(&finding.closes_when)));
        }
        if group.len() > most.details {
            page.paragraph(INDENT * 2, 0, &toned(Tone::Dim, &format!("and {} more", group.len() - most.details)));
        }
    }
    let hidden: usize = groups.iter().skip(most.entries).map(|group| group.len()).sum();
    rest(page, hidden, where_all);
}

/// Tests by name.
pub(super) fn named_tests(page: &mut Page, title: &str, tests: &NamedTests, most: Most, tone: Tone) {
    if tests.count == 0 {
        return;
    }
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

/// Tests under another id, and why they are taken for the same.
pub(super) fn renamed(page: &mut Page, count: u64, pairs: &[Renamed], most: Most) {
    if count == 0 {
        return;
    }
    page.section(&format!("tests renamed ({count})"));
    for pair in pairs.iter().take(most.entries) {
        let because = toned(Tone::Dim, &format!("({})", pair.because.what()));
        page.paragraph(INDENT, INDENT, &format!("{} → {} {because}", brief(&pair.from), brief(&pair.to)));
    }
    let shown = u64::try_from(pairs.len().min(most.entries)).unwrap_or(u64::MAX);
    let more = count.saturating_sub(shown);
    if more > 0 {
        page.paragraph(INDENT, INDENT, &toned(Tone::Dim, &format!("and {more} more")));
    }
}
