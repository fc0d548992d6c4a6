//! The paragraph of plain facts that a loop can paste into its agent's next prompt.

use super::view::{class_name, failing, fixed, length, merit, number, plain, signed};
use super::words::short_action;
use crate::model::calls::Issue;
use crate::model::ids::Iteration;
use crate::model::record::IterationRecord;
use crate::model::trajectory::BestTracker;
use crate::model::units::Quantity;
use crate::model::verdict::{NamedTests, OpenFinding, Severity};

/// Characters of the paragraph, at most.
const LIMIT: usize = 600;

/// Characters of one name or message in it, at most: one long name must not push the other facts out.
const NAME_LIMIT: usize = 90;

/// Names of tests in one list of it, at most.
const NAMES: usize = 3;

/// At most 600 characters on an iteration: what it came to and how that differs from the iteration before it, the best so
/// far, what is recommended, which losses are open, what was odd about its tool calls. Facts only, no instructions.
pub fn for_agent(record: &IterationRecord, best: &BestTracker) -> String {
    let mut facts = vec![what_it_was(record), metrics(record)];
    let unexplained = record.unexplained_exit();
    facts.extend(unexplained.map(|code| format!("The command ended with exit code {code}, and no report tells why.")));
    facts.extend([best_so_far(record, best), recommended(record)]);
    facts.extend(lost_and_broken(record));
    facts.extend(open(record));
    facts.extend(own(record));
    facts.extend(calls(record));
    join(&facts)
}

/// As many whole facts as fit; a fact that does not fit is cut, and those after it are left out.
fn join(facts: &[String]) -> String {
    let mut text = String::new();
    for fact in facts.iter().filter(|fact| !fact.is_empty()) {
        let gap = if text.is_empty() { "" } else { " " };
        let room = LIMIT.saturating_sub(text.chars().count() + gap.len());
        if fact.chars().count() <= room {
            text.push_str(gap);
            text.push_str(fact);
            continue;
        }
        // A stump of a few letters tells nothing.
        if room > 40 {
            text.push_str(gap);
            text.push_str(&cut(fact, room));
        }
        break;
    }
    text
}

fn cut(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit {
        return text.to_owned();
    }
    let kept: String = text.chars().take(limit.saturating_sub(1)).collect();
    format!("{kept}…")
}

fn what_it_was(record: &IterationRecord) -> String {
    let class = class_name(record.classification, &record.recommendation);
    let total = record.quality_score.as_ref().map(|quality| quality.total);
    let total = total.map(|total| format!(", quality score {total}")).unwrap_or_default();
    format!("Iteration {}: {class}{total}.", record.iteration)
}

fn metrics(record: &IterationRecord) -> String {
    let (now, deltas) = (&record.metrics, record.from_previous.as_ref());
    let count = |now: Option<u64>, change: Option<i64>, one: &str, many: &str| {
        let change = change.map(|change| Quantity::Count(change).as_f64());
        let now = now?;
        Some(format!("{now} {}{}", if now == 1 { one } else { many }, changed(change, 0)))
    };
    let percent = |now: Option<f64>, change: Option<f64>, what: &str| {
        Some(format!("{what} {}%{}", fixed(Some(now?), 2), changed(change, 2)))
    };
    let parts: Vec<String> = [
        count(now.test_count(), deltas.and_then(|d| d.test_count), "test", "tests"),
        count(now.tests_passed(), deltas.and_then(|d| d.tests_passed), "passed", "passed"),
        count(now.failures_alone(), deltas.and_then(|d| d.tests_failed), "failed test", "failed tests"),
        percent(now.coverage(), deltas.and_then(|d| d.coverage_points), "coverage"),
        count(now.error_count(), deltas.and_then(|d| d.error_count), "error", "errors"),
    ]
    .into_iter()
    .flatten()
    .collect();
    if parts.is_empty() {
        return "No tests, coverage or findings were measured.".to_owned();
    }
    let text = parts.join(", ");
    let against = match deltas {
        None => "",
        Some(_) if text.contains(['+', '-']) => "; changes since the previous in brackets",
        Some(_) => "; none of it changed since the previous",
    };
    format!("{text}{against}.")
}

/// The change in brackets; nothing where nothing changed or nobody knows.
fn changed(change: Option<f64>, digits: u32) -> String {
    let text = signed(change, digits);
    if text.starts_with(['+', '-']) { format!(" ({text})") } else { String::new() }
}

/// Tests by name, where the reports name them.
fn lost_and_broken(record: &IterationRecord) -> Vec<String> {
    let Some(deltas) = &record.from_previous else { return Vec::new() };
    let told = |what: &str, tests: &Option<NamedTests>| {
        let tests = tests.as_ref().filter(|tests| tests.count > 0)?;
        let names: Vec<String> = tests.names.iter().take(NAMES).map(|name| tidy(name)).collect();
        Some(listed(what, &names, tests.count))
    };
    [told("Broken", &deltas.tests_broken), told("Failing", &failing(&record.metrics)), told("Gone", &deltas.tests_lost)]
        .into_iter()
        .flatten()
        .collect()
}

fn open(record: &IterationRecord) -> Vec<String> {
    let open: Vec<&OpenFinding> = record.open_findings.iter().filter(|finding| finding.accepted.is_none()).collect();
    open.iter()
        .map(|finding| {
            let rule = plain(&finding.alert.rule);
            let subject = finding.alert.subject.as_deref().map(|s| format!(" ({})", tidy(s))).unwrap_or_default();
            let closes = tidy(&finding.closes_when);
            format!("Open since iteration {}: {rule}{subject}, until {closes}.", finding.since)
        })
        .collect()
}

/// Metrics of the user's own. What they were before is in no record.
fn own(record: &IterationRecord) -> Option<String> {
    let custom = record.metrics.custom.iter();
    let measured: Vec<(&String, f64)> = custom.filter_map(|(name, metric)| Some((name, metric.value?))).collect();
    let told = measured.iter().take(NAMES).map(|(name, value)| format!("{} {}", tidy(name), number(Some(*value))));
    (!measured.is_empty()).then(|| listed("Metrics", &told.collect::<Vec<_>>(), length(&measured)))
}

/// The first of `all`, and how many more there are.
fn listed(what: &str, first: &[String], all: u64) -> String {
    let more = all.saturating_sub(length(first));
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{what}: {}{more}.", first.join(", "))
}

/// One line, harmless and of bounded length.
fn tidy(text: &str) -> String {
    cut(plain(text).trim_end_matches('.'), NAME_LIMIT)
}

/// What the monitor found in the tool calls, the most severe first: the fact of each message, without the advice after it.
fn calls(record: &IterationRecord) -> Vec<String> {
    let issues = record.activity.iter().flat_map(|activity| &activity.issues);
    let mut told: Vec<&Issue> = issues.filter(|one| one.severity > Severity::Low && !one.observe_only).collect();
    told.sort_by_key(|issue| std::cmp::Reverse(issue.severity));
    told.iter().filter_map(|issue| Some(format!("{}.", tidy(issue.message.rsplit_once(". ")?.0)))).collect()
}

fn best_so_far(record: &IterationRecord, best: &BestTracker) -> String {
    match best.iteration {
        Some(iteration) if iteration == record.iteration => "It is the best so far.".to_owned(),
        Some(Iteration::BASELINE) => format!("The best so far is the baseline ({}).", merit(best)),
        Some(iteration) => format!("The best so far is iteration {iteration} ({}).", merit(best)),
        None => "No iteration can be best yet.".to_owned(),
    }
}

fn recommended(record: &IterationRecord) -> String {
    let recommendation = &record.recommendation;
    let reason = tidy(&recommendation.reason);
    // Most reasons begin with the action; told twice it would only take room.
    let action = if reason.to_lowercase().starts_with(recommendation.action.name()) {
        String::new()
    } else {
        format!("{}: ", short_action(recommendation))
    };
    format!("Recommended: {action}{reason}.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_facts_are_kept_and_the_one_that_does_not_fit_is_cut() {
        let facts = vec!["a".repeat(300), "b".repeat(400), "c".to_owned()];
        let text = join(&facts);
        assert_eq!(text.chars().count(), LIMIT);
        assert!(text.ends_with("b…") && !text.contains('c'), "{text}");
        let facts = vec!["a".repeat(580), "b".repeat(400)];
        assert_eq!(join(&facts), "a".repeat(580), "no room for more than a stump");
    }

    #[test]
    fn a_long_or_hostile_name_becomes_a_short_harmless_one() {
        let name = tidy(&format!("x\n\x1b[31m{}", "ü".repeat(500)));
        assert_eq!(name.chars().count(), NAME_LIMIT);
        assert!(!name.chars().any(char::is_control), "{name:?}");
    }

    #[test]
    fn what_did_not_change_has_no_sign() {
        assert_eq!(changed(Some(0.0), 2), "");
        assert_eq!(changed(None, 0), "");
        assert_eq!(changed(Some(-1.0), 0), " (-1)");
    }
}
