//! The progress report of one iteration.

use serde::Serialize;

use super::{BestView, OpenLine, WhyView, open_lines};
use crate::error::Result;
use crate::model::ids::ObjectId;
use crate::model::progress::Signal;
use crate::model::record::IterationRecord;
use crate::model::trajectory::BestTracker;
use crate::model::verdict::{Alert, NamedTests};
use crate::report::rows::{MetricRow, metric_rows};
use crate::report::sources::source_lines;
use crate::report::view::{ABSENT, build_word, class_name, failed_units, failing, fixed, length, score, time};
use crate::report::words::{activity_words, command_outcome, estimate_words, progress_words, remark, sorted, spent};
use crate::report::{IterationExtra, next, render};

/// Names that a list in a report holds at most.
const LISTED: usize = 50;

/// Names, and how many are not shown.
#[derive(Serialize)]
struct NameList {
    title: &'static str,
    count: String,
    names: Vec<String>,
    more: Option<String>,
}

#[derive(Serialize)]
struct DimensionRow {
    name: String,
    score: String,
    weight: String,
    contribution: String,
}

#[derive(Serialize)]
struct Component {
    name: String,
    value: String,
}

#[derive(Serialize)]
struct Unmeasured {
    name: String,
    reason: String,
}

#[derive(Serialize)]
struct SignalRow {
    name: &'static str,
    value: String,
    weight: String,
}

#[derive(Serialize)]
struct ProgressView {
    told: String,
    signals: Vec<SignalRow>,
    lines: Option<String>,
}

#[derive(Serialize)]
struct EstimateView {
    told: String,
    reasoning: String,
    blockers: Vec<String>,
}

#[derive(Serialize)]
struct AlertLine {
    severity: String,
    rule: String,
    message: String,
    remark: Option<String>,
    evidence: Vec<String>,
}

#[derive(Serialize)]
struct AcceptedLine {
    rule: String,
    reason: String,
    at: String,
}

#[derive(Serialize)]
struct SourceItem {
    place: String,
    format: Option<String>,
    told: String,
    remarks: Vec<String>,
}

#[derive(Serialize)]
struct ChangedFile {
    kind: String,
    path: String,
}

#[derive(Serialize)]
struct Changed {
    summary: String,
    files: Vec<ChangedFile>,
    more: Option<String>,
}

#[derive(Serialize)]
struct IterationView {
    iteration: String,
    timestamp: String,
    classification: String,
    quality_score: String,
    loop_id: String,
    parent: Option<String>,
    label: Option<String>,
    command: Option<String>,
    command_outcome: String,
    spent: Option<String>,
    activity: Option<String>,
    rows: Vec<MetricRow>,
    absent: &'static str,
    build: Option<&'static str>,
    unmeasured: Vec<Unmeasured>,
    tests: Vec<NameList>,
    dimensions: Vec<DimensionRow>,
    total: String,
    weight: String,
    partial: bool,
    components: Vec<Component>,
    progress: Option<ProgressView>,
    estimate: Option<EstimateView>,
    alerts: Vec<AlertLine>,
    open: Vec<OpenLine>,
    accepted: Vec<AcceptedLine>,
    best: Option<BestView>,
    preserved: &'static str,
    ineligible: Option<String>,
    action: &'static str,
    target: Option<String>,
    reason: String,
    confidence: String,
    because: Vec<String>,
    also: Vec<String>,
    alternatives: Vec<String>,
    next: String,
    why: Option<WhyView>,
    sources: Vec<SourceItem>,
    warnings: Vec<String>,
    changed: Option<Changed>,
    head: String,
    tree: String,
    tool: String,
}

/// See [`crate::report::iteration_markdown`].
pub(in crate::report) fn iteration(
    record: &IterationRecord,
    best: &BestTracker,
    head: &ObjectId,
    extra: &IterationExtra<'_>,
) -> Result<String> {
    let recommendation = &record.recommendation;
    let quality = record.quality_score.as_ref();
    let view = IterationView {
        iteration: record.iteration.to_string(),
        timestamp: time(record.recorded_at),
        classification: class_name(record.classification, recommendation).to_owned(),
        quality_score: score(quality.map(|quality| quality.total)),
        loop_id: record.loop_id.to_string(),
        parent: record.parent.filter(|parent| parent.next() != record.iteration).map(|parent| parent.to_string()),
        label: record.label.clone(),
        command: record.command.as_ref().map(|command| command.argv.join(" ")),
        command_outcome: record.command.as_ref().map(command_outcome).unwrap_or_default(),
        spent: spent(record.cost, record.tokens),
        activity: activity_words(record),
        rows: metric_rows(record, extra.history, "%"),
        absent: ABSENT,
        build: build_word(&record.metrics),
        unmeasured: unmeasured(record),
        tests: lost_and_broken(record),
        dimensions: dimension_rows(record),
        total: score(quality.map(|quality| quality.total)),
        weight: fixed(quality.map(|quality| quality.weight_available), 2),
        partial: quality.is_some_and(|quality| quality.partial),
        components: components(record),
        progress: progress(record),
        estimate: estimate(record),
        alerts: sorted(&record.alerts).into_iter().map(alert_line).collect(),
        open: open_lines(&record.open_findings),
        accepted: accepted_lines(record),
        best: BestView::of(best),
        preserved: if best.manifest.is_some() { "yes" } else { "no" },
        ineligible: best.ineligible.get(&record.iteration).cloned(),
        action: recommendation.action.name(),
        target: recommendation.target.map(|target| target.to_string()),
        reason: recommendation.reason.clone(),
        confidence: fixed(Some(recommendation.confidence), 2),
        because: recommendation.because.clone(),
        also: recommendation.also.clone(),
        alternatives: recommendation.alternatives.clone(),
        next: next::after_record(record),
        why: extra.why_stopped.as_ref().map(WhyView::of),
        sources: source_items(record),
        warnings: record.warnings.clone(),
        changed: extra.changed_files.as_deref().map(changed),
        head: head.to_string(),
        tree: record.tree.to_string(),
        tool: record.tool.clone(),
    };
    render::render("iteration", include_str!("../../../templates/iteration.md"), &view)
}

fn alert_line(alert: &Alert) -> AlertLine {
    AlertLine {
        severity: alert.severity.name().to_uppercase(),
        rule: alert.rule.clone(),
        message: alert.message.clone(),
        remark: remark(alert),
        evidence: alert.evidence.clone(),
    }
}

fn accepted_lines(record: &IterationRecord) -> Vec<AcceptedLine> {
    let lines = record.accepted.iter();
    lines
        .map(|accepted| AcceptedLine {
            rule: accepted.rule.clone(),
            reason: accepted.reason.clone(),
            at: time(accepted.at),
        })
        .collect()
}

fn unmeasured(record: &IterationRecord) -> Vec<Unmeasured> {
    let custom = record.metrics.custom.iter();
    custom
        .filter(|(_, metric)| metric.value.is_none())
        .map(|(name, metric)| Unmeasured {
            name: name.clone(),
            reason: metric.reason.clone().unwrap_or_else(|| "not measured".to_owned()),
        })
        .collect()
}

fn lost_and_broken(record: &IterationRecord) -> Vec<NameList> {
    let Some(deltas) = &record.from_previous else { return Vec::new() };
    let list = |title, tests: &Option<NamedTests>| {
        let tests = tests.as_ref().filter(|tests| tests.count > 0)?;
        let more = tests.count.saturating_sub(length(&tests.names));
        Some(NameList {
            title,
            count: tests.count.to_string(),
            names: tests.names.clone(),
            more: (more > 0).then(|| more.to_string()),
        })
    };
    let tests = deltas.tests.clone().unwrap_or_default();
    let pairs = tests.renamed.iter().map(|pair| format!("{} → {}", pair.from, pair.to)).collect();
    let renamed = NamedTests { count: tests.renamed_count, names: pairs };
    [
        list("Tests lost", &deltas.tests_lost),
        list("Tests broken", &deltas.tests_broken),
        list("Tests failing", &failing(&record.metrics)),
        list("Tests fixed", &Some(tests.fixed)),
        list("Tests newly skipped", &Some(tests.newly_skipped)),
        list("Tests unskipped", &Some(tests.unskipped)),
        list("Tests flaky", &Some(tests.flaky)),
        list("Tests added, failing", &Some(tests.added_failing)),
        list("Tests added", &Some(tests.added_passing)),
        list("Tests renamed", &Some(renamed)),
        list("Failed to load", &failed_units(record.metrics.testing.as_ref())),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn dimension_rows(record: &IterationRecord) -> Vec<DimensionRow> {
    let dimensions = record.quality_score.iter().flat_map(|score| &score.dimensions);
    dimensions
        .map(|row| {
            let name = row.dimension.name();
            let mut letters = name.chars();
            let first = letters.next().map(|c| c.to_ascii_uppercase());
            DimensionRow {
                name: first.into_iter().chain(letters).collect(),
                score: fixed(row.score, 2),
                weight: fixed(Some(row.weight), 2),
                contribution: fixed(row.score.map(|_| row.contribution), 4),
            }
        })
        .collect()
}

fn components(record: &IterationRecord) -> Vec<Component> {
    let components = record.quality_score.iter().flat_map(|score| score.components());
    components.map(|(name, value)| Component { name: name.to_owned(), value: fixed(Some(value), 2) }).collect()
}

/// Shown where the agent's output is known: the changed lines alone say little.
fn progress(record: &IterationRecord) -> Option<ProgressView> {
    let progress = record.progress.as_ref().filter(|_| record.output.is_some())?;
    let signal = |signal: &Signal| SignalRow {
        name: signal.name.name(),
        value: fixed(Some(signal.value), 3),
        weight: fixed(Some(signal.weight), 3),
    };
    Some(ProgressView {
        told: progress_words(record)?,
        signals: progress.signals.iter().map(signal).collect(),
        lines: record.line_changes.map(|lines| format!("{} came, {} went", lines.insertions, lines.deletions)),
    })
}

fn estimate(record: &IterationRecord) -> Option<EstimateView> {
    let estimate = record.estimate.as_ref()?;
    Some(EstimateView {
        told: estimate_words(record)?,
        reasoning: estimate.reasoning.clone(),
        blockers: estimate.blockers.clone(),
    })
}

fn source_items(record: &IterationRecord) -> Vec<SourceItem> {
    let lines = source_lines(record).into_iter();
    lines
        .map(|line| SourceItem {
            place: line.place,
            format: line.format,
            told: line.told,
            remarks: line.help.into_iter().chain(line.warnings).collect(),
        })
        .collect()
}

fn changed(files: &[(char, String)]) -> Changed {
    let count = |kind: char| files.iter().filter(|(letter, _)| *letter == kind).count();
    let shown = files.iter().take(LISTED);
    let more = files.len().saturating_sub(LISTED);
    Changed {
        summary: format!("{} added, {} modified, {} deleted", count('A'), count('M'), count('D')),
        files: shown.map(|(kind, path)| ChangedFile { kind: kind.to_string(), path: path.clone() }).collect(),
        more: (more > 0).then(|| more.to_string()),
    }
}
