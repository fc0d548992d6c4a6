//! The views of the three markdown reports: what their templates name, all of it text.

use serde::Serialize;

use super::sources::source_lines;
use super::view::{
    ABSENT, MetricRow, action_phrase, build_word, class_name, fixed, length, metric_rows, pair_rows, passed_of_all,
    plain, score, signed, time,
};
use super::{IterationExtra, bars, next, render};
use crate::error::Result;
use crate::model::config::LoopConfig;
use crate::model::ids::{Iteration, LoopId, ObjectId};
use crate::model::record::{Command, IterationRecord};
use crate::model::trajectory::{AlertMark, BestTracker, Candidate, DegradationPattern, Point, Selection};
use crate::model::verdict::{Alert, NamedTests, OpenFinding, Recommendation, Severity, Status};

/// Names that a list in a report holds at most.
const LISTED: usize = 50;

/// An iteration and its score.
#[derive(Serialize)]
struct Scored {
    iteration: String,
    score: String,
}

impl Scored {
    fn of_best(best: &BestTracker) -> Option<Scored> {
        Some(Scored { iteration: best.iteration?.to_string(), score: score(best.quality_score) })
    }
}

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
struct AlertLine {
    severity: String,
    rule: String,
    message: String,
    remark: Option<String>,
    evidence: Vec<String>,
}

#[derive(Serialize)]
struct OpenLine {
    rule: String,
    since: String,
    message: String,
    closes_when: String,
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
    alerts: Vec<AlertLine>,
    open: Vec<OpenLine>,
    accepted: Vec<AcceptedLine>,
    best: Option<Scored>,
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
    sources: Vec<SourceItem>,
    warnings: Vec<String>,
    changed: Option<Changed>,
    head: String,
    tree: String,
    tool: String,
}

/// See [`super::iteration_markdown`].
pub(super) fn iteration(
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
        alerts: sorted(&record.alerts).into_iter().map(alert_line).collect(),
        open: open_lines(&record.open_findings),
        accepted: accepted_lines(record),
        best: Scored::of_best(best),
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
        sources: source_items(record),
        warnings: record.warnings.clone(),
        changed: extra.changed_files.as_deref().map(changed),
        head: head.to_string(),
        tree: record.tree.to_string(),
        tool: record.tool.clone(),
    };
    render::render("iteration", include_str!("../../templates/iteration.md"), &view)
}

/// The most severe first; among equals as they were raised.
pub(super) fn sorted(alerts: &[Alert]) -> Vec<&Alert> {
    let mut sorted: Vec<&Alert> = alerts.iter().collect();
    sorted.sort_by(|a, b| b.counts().cmp(&a.counts()).then(b.severity.cmp(&a.severity)));
    sorted
}

/// What a reader must know beside severity and message: how sure it is, and whether it moves anything.
pub(super) fn remark(alert: &Alert) -> Option<String> {
    let status = match alert.status {
        Status::Observed => None,
        Status::Suspected => Some("suspected"),
        Status::Confirmed => Some("confirmed"),
        Status::Refuted => Some("refuted"),
        Status::Explained => Some("explained"),
    };
    let observed = alert.observe_only.then_some("told only: its rule is set to observe");
    let seed = alert.seed_severity.filter(|seed| *seed != alert.severity).map(|seed| format!("was {}", seed.name()));
    let parts: Vec<String> =
        [status.map(str::to_owned), seed, observed.map(str::to_owned)].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
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

/// Exit code and duration.
pub(super) fn command_outcome(command: &Command) -> String {
    let seconds = u32::try_from(command.duration_ms).map_or(f64::INFINITY, f64::from) / 1000.0;
    let took = if seconds.is_finite() { format!("{} s", fixed(Some(seconds), 1)) } else { "very long".to_owned() };
    match command.exit_code {
        Some(code) => format!("exit code {code}, {took}"),
        None => "could not be started".to_owned(),
    }
}

/// Money and tokens, if any were told.
pub(super) fn spent(cost: Option<f64>, tokens: Option<u64>) -> Option<String> {
    let cost = cost.map(|cost| format!("{} US dollars", fixed(Some(cost), 2)));
    let tokens = tokens.map(|tokens| format!("{tokens} tokens"));
    let parts: Vec<String> = [cost, tokens].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
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
    let failed_units = record
        .metrics
        .testing
        .as_ref()
        .map(|testing| NamedTests { count: testing.collection_errors, names: testing.failed_units.clone() });
    [
        list("Tests lost", &deltas.tests_lost),
        list("Tests broken", &deltas.tests_broken),
        list("Failed to load", &failed_units),
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
    verification: Vec<String>,
    details: Vec<DetailRow>,
    improvement: String,
    why_not_final: String,
    rationale: Vec<String>,
    degradation: Option<DegradationView>,
    applied: String,
    restored: Vec<String>,
    more_restored: Option<String>,
    head: String,
}

/// See [`super::selection_markdown`].
pub(super) fn selection(selection: &Selection, points: &[Point], config: &LoopConfig) -> Result<String> {
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
        verification: selection.verification.clone(),
        details: details(selection, points),
        improvement: improvement(selection),
        why_not_final: why_not_final(selection),
        rationale: selection.rationale.clone(),
        degradation: degradation(selection),
        applied: applied(selection),
        restored: selection.restored.iter().map(ToString::to_string).collect(),
        more_restored: (more > 0).then(|| more.to_string()),
        head: selection.head.to_string(),
    };
    render::render("selection", include_str!("../../templates/selection.md"), &view)
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

pub(super) fn improvement(selection: &Selection) -> String {
    match (selection.selected, selection.improvement_percentage) {
        (Some(selected), _) if selected == selection.last => "none needed: the final iteration is the peak".to_owned(),
        (Some(_), Some(percent)) => format!("{}% over the final iteration", signed(Some(percent), 2)),
        _ => ABSENT.to_owned(),
    }
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

pub(super) fn pattern_words(pattern: DegradationPattern) -> &'static str {
    match pattern {
        DegradationPattern::None => "none: the final iteration is the peak",
        DegradationPattern::LateRegression => "late regression: only the final iteration is lower",
        DegradationPattern::OverRefinement => "over-refinement: it only went down after the peak",
        DegradationPattern::Oscillation => "oscillation: it went up and down after the peak",
        DegradationPattern::Mixed => "mixed",
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
        (Some(selected), 0) => format!("The work tree already held iteration {selected}; nothing had to change."),
        (Some(selected), 1) => format!("Iteration {selected} was restored into the work tree; 1 path changed:"),
        (Some(selected), count) => {
            format!("Iteration {selected} was restored into the work tree; {count} paths changed:")
        }
    }
}

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

#[derive(Serialize)]
struct SummaryView {
    loop_id: String,
    state: String,
    best: Option<Scored>,
    recommendation: Option<RecommendationView>,
    next: Option<String>,
    chart: Option<String>,
    rows: Vec<SummaryRow>,
    absent: &'static str,
    ineligible: Vec<IneligibleRow>,
    open: Vec<OpenLine>,
    spent: Option<String>,
}

/// See [`super::summary_markdown`].
pub(super) fn summary(
    loop_id: &LoopId,
    points: &[Point],
    best: &BestTracker,
    selection: Option<&Selection>,
) -> Result<String> {
    let last = points.last();
    // A closed loop has nothing left to do: its last recommendation is history.
    let current = last.filter(|_| selection.is_none());
    let scores: Vec<_> = points.iter().map(Point::score).collect();
    let view = SummaryView {
        loop_id: loop_id.to_string(),
        state: state(points, selection),
        best: Scored::of_best(best),
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
    };
    render::render("summary", include_str!("../../templates/summary.md"), &view)
}

/// Begins with a capital and ends in a period.
fn sentence(text: &str) -> String {
    let mut letters = text.trim_end_matches('.').chars();
    let first: String = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str())
}

pub(super) fn state(points: &[Point], selection: Option<&Selection>) -> String {
    let recorded = match points.iter().filter(|point| point.iteration.0 > 0).count() {
        0 => "the baseline alone".to_owned(),
        1 => "the baseline and 1 iteration".to_owned(),
        n => format!("the baseline and {n} iterations"),
    };
    match selection {
        None => format!("open, {recorded}"),
        Some(Selection { selected: Some(selected), .. }) => {
            format!("closed, {recorded}; iteration {selected} selected")
        }
        Some(_) => format!("closed, {recorded}; none selected"),
    }
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

/// `rollback 3`, `continue`.
pub(super) fn short_action(recommendation: &Recommendation) -> String {
    match recommendation.target {
        Some(target) => format!("{} {target}", recommendation.action.name()),
        None => recommendation.action.name().to_owned(),
    }
}

/// `2 critical, 1 high`, empty if there are none. Those that move nothing are left out.
fn alert_counts(alerts: &[AlertMark]) -> String {
    let parts: Vec<String> = severity_counts(alerts).map(|(severity, n)| format!("{n} {}", severity.name())).collect();
    parts.join(", ")
}

/// How many alerts of each severity move verdicts, the most severe first, those without left out.
pub(super) fn severity_counts(alerts: &[AlertMark]) -> impl Iterator<Item = (Severity, usize)> {
    [Severity::Critical, Severity::High, Severity::Medium, Severity::Low].into_iter().filter_map(|severity| {
        let counts = |alert: &&AlertMark| alert.status.stands() && !alert.observe_only && alert.severity == severity;
        let count = alerts.iter().filter(counts).count();
        (count > 0).then_some((severity, count))
    })
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
