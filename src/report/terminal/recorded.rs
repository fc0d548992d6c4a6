//! The screens of one iteration: the one that `begin` and `record` print, and the whole of it for `show`.

use std::collections::BTreeMap;

use super::findings::{ALL, FEW, Most, alerts, named_tests, open_findings, renamed, rest};
use super::page::{INDENT, Page};
use super::parts::{best_line, brief, head_line, metric_table, score_change, score_line, sources, verdict};
use super::text::{Tone, padded, toned};
use crate::model::ids::{Iteration, ObjectId};
use crate::model::metrics::CustomMetric;
use crate::model::record::IterationRecord;
use crate::model::trajectory::BestTracker;
use crate::model::verdict::NamedTests;
use crate::report::Screen;
use crate::report::next;
use crate::report::rows::metric_rows;
use crate::report::sources::source_lines;
use crate::report::view::{
    POINTS, build_word, class_name, failed_units, failing, fixed, length, number, plain, score, time,
};
use crate::report::words::{activity_words, command_outcome, estimate_words, progress_words, short_action, spent};

/// The screen that `begin` and `record` print: verdict and next command, score beside the best, metrics with their
/// changes, findings, what was read, the head.
pub fn recorded(record: &IterationRecord, best: &BestTracker, head: &ObjectId, screen: Screen) -> String {
    let mut page = Page::new(screen);
    let where_all = format!("highwater show {} --loop {}", record.iteration, record.loop_id);
    title(&mut page, record);
    page.gap();
    verdict(&mut page, record.classification, &record.recommendation, &next::after_record(record));
    page.gap();
    scores(&mut page, record, best);
    page.gap();
    metric_table(&mut page, &metric_rows(record, &[], POINTS));
    build_and_own(&mut page, record);
    progress_and_estimate(&mut page, record);
    alerts(&mut page, &record.alerts, FEW, &where_all);
    tests(&mut page, record, FEW, false);
    open_findings(&mut page, &record.open_findings, FEW, &where_all);
    accepted(&mut page, record);
    sources(&mut page, &source_lines(record), FEW, &where_all);
    warnings(&mut page, record, FEW, &where_all);
    page.gap();
    head_line(&mut page, &format!("recorded iteration {}, head ", record.iteration), head);
    page.finish()
}

/// One iteration, whole.
pub fn show(record: &IterationRecord, screen: Screen) -> String {
    let mut page = Page::new(screen);
    title(&mut page, record);
    page.gap();
    verdict(&mut page, record.classification, &record.recommendation, &next::after_record(record));
    page.gap();
    let delta = record.from_previous.as_ref().and_then(|deltas| deltas.quality_score);
    score_line(&mut page, "score", record.quality_score.as_ref().map(|score| score.total), &[score_change(delta)]);
    dimensions(&mut page, record);
    page.gap();
    metric_table(&mut page, &metric_rows(record, &[], POINTS));
    build_and_own(&mut page, record);
    progress_and_estimate(&mut page, record);
    signals(&mut page, record);
    alerts(&mut page, &record.alerts, ALL, "");
    tests(&mut page, record, ALL, true);
    open_findings(&mut page, &record.open_findings, ALL, "");
    accepted(&mut page, record);
    sources(&mut page, &source_lines(record), ALL, "");
    warnings(&mut page, record, ALL, "");
    identity(&mut page, record);
    page.finish()
}

/// One line on a record, as it comes: number, score, class, what to do, progress and estimate.
pub fn watched(record: &IterationRecord) -> String {
    let class = class_name(record.classification, &record.recommendation);
    let total = score(record.quality_score.as_ref().map(|quality| quality.total));
    let action = short_action(&record.recommendation);
    let told = [progress_words(record), estimate_words(record)].into_iter().flatten();
    let told: String = told.map(|words| format!(", {}", brief(&words))).collect();
    format!("{:>4}  {total:>6}  {class}, {action}{told}\n", record.iteration.to_string())
}

/// Loop, iteration, and the user's own words for it.
fn title(page: &mut Page, record: &IterationRecord) {
    let number = match record.iteration {
        Iteration::BASELINE => "baseline (iteration 0)".to_owned(),
        iteration => format!("iteration {iteration}"),
    };
    let label = record.label.as_deref().map(|label| format!(": {}", brief(label))).unwrap_or_default();
    let head = toned(Tone::Strong, &format!("{}, {number}", record.loop_id));
    page.line(&format!("{head}{label}"));
}

fn scores(page: &mut Page, record: &IterationRecord, best: &BestTracker) {
    let total = record.quality_score.as_ref().map(|score| score.total);
    let delta = record.from_previous.as_ref().and_then(|deltas| deltas.quality_score);
    let is_best = best.iteration == Some(record.iteration);
    let change = score_change(delta);
    let partial = record.quality_score.as_ref().filter(|score| score.partial).map(|score| {
        let measured = fixed(Some(100.0 * score.weight_available), 0);
        format!("partial: {measured}% of the weights measured")
    });
    let peak = is_best.then(|| toned(Tone::Good, "▲ peak, the best so far"));
    let remarks: Vec<String> =
        [Some(change).filter(|text| !text.is_empty()), peak, partial].into_iter().flatten().collect();
    score_line(page, "score", total, &remarks);
    if !is_best {
        best_line(page, best);
        if let Some(why) = best.ineligible.get(&record.iteration) {
            page.field("", 7, &toned(Tone::Warn, &format!("this one cannot be best: {}", brief(why))));
        }
    }
}

/// The five dimensions of the score with their components.
fn dimensions(page: &mut Page, record: &IterationRecord) {
    for row in record.quality_score.iter().flat_map(|score| &score.dimensions) {
        let parts: Vec<String> =
            row.components.iter().map(|(name, value)| format!("{} {}", plain(name), fixed(Some(*value), 2))).collect();
        let parts = if parts.is_empty() { "not measured".to_owned() } else { parts.join(", ") };
        let name = padded(&toned(Tone::Dim, row.dimension.name()), 14);
        let head = format!("{name}{:>6} × {}  ", fixed(row.score, 2), fixed(Some(row.weight), 2));
        page.hung(INDENT, &head, &toned(Tone::Dim, &parts));
    }
}

/// Build, and the user's own metrics. Their changes are in the written report and in `diff`: a record alone does not hold
/// what they were before.
fn build_and_own(page: &mut Page, record: &IterationRecord) {
    if let Some(word) = build_word(&record.metrics) {
        let word = if word == "failed" { toned(Tone::Bad, word) } else { word.to_owned() };
        page.paragraph(INDENT, 0, &format!("build {word}"));
    }
    if record.metrics.custom.is_empty() {
        return;
    }
    page.section("your own metrics");
    for (name, metric) in &record.metrics.custom {
        let unit = metric.unit.as_deref().map(|unit| format!(" {}", brief(unit))).unwrap_or_default();
        let told = match (metric.value, &metric.reason) {
            (Some(_), _) => format!("{}{unit}", number(metric.value)),
            (None, Some(reason)) => toned(Tone::Warn, &format!("not measured: {}", brief(reason))),
            (None, None) => toned(Tone::Warn, "not measured"),
        };
        page.paragraph(INDENT, INDENT, &format!("{} {told}", toned(Tone::Dim, &brief(name))));
    }
    // Said once, where the loop can still be begun anew.
    if record.iteration == Iteration::BASELINE {
        undirected(page, &record.metrics.custom);
    }
}

/// Metrics that are only kept, because nobody said which way is better.
fn undirected(page: &mut Page, custom: &BTreeMap<String, CustomMetric>) {
    let names: Vec<String> =
        custom.iter().filter(|(_, metric)| metric.direction.is_none()).map(|(name, _)| brief(name)).collect();
    let Some(first) = names.first() else { return };
    let are = match names.len() {
        1 => format!("{first} is"),
        n => format!("{first} and {} more are", n - 1),
    };
    let text = format!(
        "{are} kept, and not judged: for that, highwater.yaml says before begin which way is better: \
         metrics: {{{first}: {{direction: lower}}}}"
    );
    page.paragraph(INDENT, INDENT, &toned(Tone::Dim, &text));
}

/// How far it got: shown where the agent's output is known, for the changed lines alone say little; and what it did.
fn progress_and_estimate(page: &mut Page, record: &IterationRecord) {
    if record.output.is_some() {
        progress_words(record).iter().for_each(|words| page.paragraph(INDENT, INDENT, words));
    }
    activity_words(record).iter().for_each(|words| page.paragraph(INDENT, INDENT, words));
    let Some(estimate) = &record.estimate else { return };
    estimate_words(record).iter().for_each(|words| page.paragraph(INDENT, INDENT, &brief(words)));
    if !estimate.reasoning.is_empty() {
        page.paragraph(INDENT * 2, 0, &toned(Tone::Dim, &brief(&estimate.reasoning)));
    }
    for blocker in &estimate.blockers {
        page.paragraph(INDENT * 2, INDENT, &format!("{} {}", toned(Tone::Warn, "blocker:"), brief(blocker)));
    }
}

/// The parts of the progress score.
fn signals(page: &mut Page, record: &IterationRecord) {
    if record.progress.is_none() && record.line_changes.is_none() {
        return;
    }
    page.section("progress score");
    for signal in record.progress.iter().flat_map(|progress| &progress.signals) {
        let name = padded(&toned(Tone::Dim, signal.name.name()), 14);
        page.push(INDENT, &format!("{name}{:>6} × {}", fixed(Some(signal.value), 3), fixed(Some(signal.weight), 2)));
    }
    if let Some(lines) = record.line_changes {
        let text = format!("{} lines came, {} went", lines.insertions, lines.deletions);
        page.paragraph(INDENT, INDENT, &toned(Tone::Dim, &text));
    }
}

/// Tests by name, those left out that a finding above names already; with `added`, those that are new too.
fn tests(page: &mut Page, record: &IterationRecord, most: Most, added: bool) {
    let told = |name: &String| {
        record.alerts.iter().any(|alert| {
            alert.subject.as_ref() == Some(name) || alert.evidence.iter().any(|line| line.ends_with(name.as_str()))
        })
    };
    let list = |page: &mut Page, title: &str, tests: Option<&NamedTests>| {
        let Some(tests) = tests else { return };
        let mut rest = tests.clone();
        rest.names.retain(|name| !told(name));
        rest.count = rest.count.saturating_sub(length(&tests.names) - length(&rest.names));
        named_tests(page, title, &rest, most, Tone::Bad);
    };
    let deltas = record.from_previous.as_ref();
    list(page, "tests lost", deltas.and_then(|deltas| deltas.tests_lost.as_ref()));
    list(page, "tests broken", deltas.and_then(|deltas| deltas.tests_broken.as_ref()));
    list(page, "tests failing", failing(&record.metrics).as_ref());
    if let Some(tests) = deltas.and_then(|deltas| deltas.tests.as_ref()) {
        let further = [
            ("tests fixed", &tests.fixed, Tone::Good),
            ("tests newly skipped", &tests.newly_skipped, Tone::Warn),
            ("tests unskipped", &tests.unskipped, Tone::Dim),
            ("tests flaky", &tests.flaky, Tone::Warn),
            ("tests added, failing", &tests.added_failing, Tone::Warn),
            ("tests added", &tests.added_passing, Tone::Dim),
        ];
        for (title, names, tone) in further.into_iter().take(if added { 6 } else { 4 }) {
            named_tests(page, title, names, most, tone);
        }
        renamed(page, tests.renamed_count, &tests.renamed, most);
    }
    let units = failed_units(record.metrics.testing.as_ref());
    list(page, "failed to load", units.as_ref());
}

fn accepted(page: &mut Page, record: &IterationRecord) {
    if record.accepted.is_empty() {
        return;
    }
    page.section("accepted on purpose");
    for accepted in &record.accepted {
        page.paragraph(INDENT, INDENT, &format!("{}: {}", plain(&accepted.rule), brief(&accepted.reason)));
    }
}

fn warnings(page: &mut Page, record: &IterationRecord, most: Most, where_all: &str) {
    for warning in record.warnings.iter().take(most.entries) {
        page.paragraph(INDENT, INDENT, &format!("{} {}", toned(Tone::Warn, "warning:"), brief(warning)));
    }
    rest(page, record.warnings.len().saturating_sub(most.entries), where_all);
}

/// Times, command, objects: what `show` has beyond the verdict.
fn identity(page: &mut Page, record: &IterationRecord) {
    page.section("record");
    let mut field = |name: &str, text: &str| page.field(name, 9, text);
    field("recorded", &time(record.recorded_at));
    if let Some(parent) = record.parent {
        field("from", &format!("iteration {parent}"));
    }
    if let Some(command) = &record.command {
        field("command", &format!("{} ({})", brief(&command.argv.join(" ")), command_outcome(command)));
    }
    field("class", &format!("decided by {}", plain(&record.class_rule).replace(',', ", ")));
    let because: Vec<String> = record.recommendation.because.iter().map(|name| plain(name)).collect();
    field("because", &because.join(", "));
    let also: Vec<String> = record.recommendation.also.iter().map(|name| plain(name)).collect();
    if !also.is_empty() {
        field("also", &also.join(", "));
    }
    if let Some(spent) = spent(record.cost, record.tokens) {
        field("spent", &spent);
    }
    field("tree", &record.tree.to_string());
    field("config", &record.config.to_string());
    if let Some(previous) = record.previous_record {
        field("previous", &previous.to_string());
    }
    field("by", &plain(&record.tool));
}
