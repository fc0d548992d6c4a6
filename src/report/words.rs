//! Phrases that reports and screens share.

use super::view::{ABSENT, dollars, fixed, signed};
use crate::model::record::{Command, IterationRecord};
use crate::model::trajectory::{AlertMark, DegradationPattern, Point, Selection};
use crate::model::verdict::{Alert, Recommendation, Severity, Status};

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

/// Exit code and duration.
pub(super) fn command_outcome(command: &Command) -> String {
    let took = duration(command.duration_ms);
    match command.exit_code {
        Some(code) => format!("exit code {code}, {took}"),
        None => "could not be started".to_owned(),
    }
}

/// Tenths of a second below a minute, else minutes and seconds; half up.
fn duration(ms: u64) -> String {
    let tenths = ms.saturating_add(50) / 100;
    if tenths < 600 {
        return format!("{}.{} s", tenths / 10, tenths % 10);
    }
    let seconds = ms.saturating_add(500) / 1000;
    format!("{} min {} s", seconds / 60, seconds % 60)
}

/// Money and tokens, if any were told.
pub(super) fn spent(cost: Option<f64>, tokens: Option<u64>) -> Option<String> {
    let cost = cost.map(|cost| format!("{} US dollars", dollars(Some(cost))));
    let tokens = tokens.map(|tokens| format!("{tokens} tokens"));
    let parts: Vec<String> = [cost, tokens].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// What the choice gains over the last iteration.
pub(super) fn improvement(selection: &Selection) -> String {
    match (selection.selected, selection.improvement_percentage) {
        (Some(selected), _) if selected == selection.last => "none needed: the final iteration is the peak".to_owned(),
        (Some(_), Some(percent)) => format!("{}% over the final iteration", signed(Some(percent), 2)),
        _ => ABSENT.to_owned(),
    }
}

/// The shape of the scores after the peak.
pub(super) fn pattern_words(pattern: DegradationPattern) -> &'static str {
    match pattern {
        DegradationPattern::None => "none: no later iteration is worse",
        DegradationPattern::LateRegression => "late regression: only the final iteration is worse",
        DegradationPattern::OverRefinement => "over-refinement: it only got worse after the peak",
        DegradationPattern::Oscillation => "oscillation: it got worse and better after the peak",
        DegradationPattern::Mixed => "mixed",
    }
}

/// Open or closed, and how much was recorded.
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

/// `progress 0.420`, and how long there was none.
pub(super) fn progress_words(record: &IterationRecord) -> Option<String> {
    let progress = record.progress.as_ref()?;
    let score = format!("progress {}", fixed(Some(progress.score.get()), 3));
    let remark = match (progress.no_progress, progress.talk_only) {
        _ if progress.is_first => " (the first iteration)".to_owned(),
        (true, _) => format!(" (none, {} in a row)", progress.no_progress_count),
        (_, true) => format!(" (other words alone, {} in a row)", progress.talk_only_count),
        _ => String::new(),
    };
    Some(format!("{score}{remark}"))
}

/// `estimate 40.0 % (external: command)` and what has to happen next.
pub(super) fn estimate_words(record: &IterationRecord) -> Option<String> {
    let estimate = record.estimate.as_ref()?;
    let percent = fixed(Some(estimate.progress_percent.get()), 1);
    let by = estimate.by.map(|by| format!(": {}", by.name())).unwrap_or_default();
    let stuck = if estimate.is_stuck == Some(true) { ", stands still" } else { "" };
    let next = &estimate.next_milestone;
    let next = if next.is_empty() { String::new() } else { format!("; next: {next}") };
    Some(format!("estimate {percent} % ({}{by}{stuck}){next}", estimate.source.name()))
}

/// `12 tool calls: 5 read, 2 searched (1 found nothing), 2 edited, 3 ran`.
pub(super) fn activity_words(record: &IterationRecord) -> Option<String> {
    let activity = record.activity.as_ref()?;
    let nothing = match activity.empty_searches {
        0 => String::new(),
        empty => format!(" ({empty} found nothing)"),
    };
    let other = [activity.reads, activity.searches, activity.edits, activity.runs].into_iter();
    let other = activity.tool_calls.saturating_sub(other.fold(0, u64::saturating_add));
    let parts = [
        (activity.reads, "read", ""),
        (activity.searches, "searched", nothing.as_str()),
        (activity.edits, "edited", ""),
        (activity.runs, "ran", ""),
        (other, "did something else", ""),
    ];
    let parts: Vec<String> = parts
        .iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, did, more)| format!("{count} {did}{more}"))
        .collect();
    let calls = if activity.tool_calls == 1 { "tool call" } else { "tool calls" };
    let parts = if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) };
    Some(format!("{} {calls}{parts}", activity.tool_calls))
}

/// `rollback 3`, `continue`.
pub(super) fn short_action(recommendation: &Recommendation) -> String {
    match recommendation.target {
        Some(target) => format!("{} {target}", recommendation.action.name()),
        None => recommendation.action.name().to_owned(),
    }
}

/// How many alerts of each severity move verdicts, the most severe first, those without left out.
pub(super) fn severity_counts(alerts: &[AlertMark]) -> impl Iterator<Item = (Severity, usize)> {
    [Severity::Critical, Severity::High, Severity::Medium, Severity::Low].into_iter().filter_map(|severity| {
        let counts = |alert: &&AlertMark| alert.status.stands() && !alert.observe_only && alert.severity == severity;
        let count = alerts.iter().filter(counts).count();
        (count > 0).then_some((severity, count))
    })
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;
    use crate::model::activity::Activity;
    use crate::model::ids::ObjectId;

    #[test]
    fn calls_are_told_by_what_they_did() {
        let told = |activity: Activity| {
            let nothing = ObjectId([0; 32]);
            let mut record = IterationRecord::draft("x".parse().unwrap(), DateTime::UNIX_EPOCH, nothing, nothing);
            record.activity = Some(activity);
            activity_words(&record).unwrap()
        };
        assert_eq!(told(Activity::default()), "0 tool calls");
        assert_eq!(told(Activity { tool_calls: 1, runs: 1, ..Activity::default() }), "1 tool call: 1 ran");
        let many =
            Activity { tool_calls: 9, reads: 3, searches: 2, empty_searches: 1, edits: 2, ..Activity::default() };
        assert_eq!(told(many), "9 tool calls: 3 read, 2 searched (1 found nothing), 2 edited, 2 did something else");
    }

    #[test]
    fn a_peak_that_later_iterations_only_equal_is_not_said_to_be_the_final_one() {
        assert!(!pattern_words(DegradationPattern::None).contains("final"));
    }

    #[test]
    fn durations_are_read_at_a_glance() {
        let shown = [0, 49, 4321, 59_949, 59_950, 61_499, 754_200].map(duration);
        assert_eq!(shown, ["0.0 s", "0.0 s", "4.3 s", "59.9 s", "1 min 0 s", "1 min 1 s", "12 min 34 s"]);
    }
}
