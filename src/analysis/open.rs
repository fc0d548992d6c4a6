//! Losses that stay open along the lineage until they are made good or accepted (ANALYSIS §4): otherwise a deletion is
//! the new normal one iteration later.

use super::Current;
use super::alerts::{hidden_regression, tamper_confirmed};
use super::comparison::Comparison;
use super::suite::Suite;
use crate::model::cases::{Outcome, TestCases};
use crate::model::verdict::{Alert, OpenFinding, Severity};

/// Rules whose findings are losses of tests.
const LOST_TESTS: [&str; 8] = [
    "test_count_decreased",
    "working_tests_failing",
    "failing_test_removed",
    "passing_test_removed",
    "suite_not_run",
    "suite_partial",
    tamper_confirmed::RULE.name,
    hidden_regression::RULE.name,
];

/// Whether the finding is a loss that stays open. Suspicions below CRITICAL (a test that may only have another name) do
/// not: an honest rename must not bar every later iteration from being the best.
pub fn is_lost_tests(alert: &Alert) -> bool {
    LOST_TESTS.contains(&alert.rule.as_str()) && alert.severity == Severity::Critical && alert.counts()
}

/// The highest `test_count` and `tests_passed` among the ancestors, lowered by accepted losses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// Tests.
    pub test_count: Option<u64>,
    /// Tests that passed.
    pub tests_passed: Option<u64>,
}

/// The losses open after this iteration, those accepted here among them (told once, then gone).
pub fn carry(comparison: &Comparison, current: &Current, alerts: &[Alert]) -> Vec<OpenFinding> {
    let mark = mark(comparison, current);
    let mut open: Vec<OpenFinding> = Vec::new();
    for finding in comparison.open_before().iter().filter(|finding| finding.accepted.is_none()) {
        let accepted = current.accepted.iter().find(|said| said.rule == finding.alert.rule);
        if accepted.is_some() || !is_made_good(finding, comparison, current, mark) {
            open.push(OpenFinding { accepted: accepted.cloned(), ..finding.clone() });
        }
    }
    for alert in alerts.iter().filter(|alert| is_lost_tests(alert)) {
        let same = |finding: &OpenFinding| {
            let its = &finding.alert;
            finding.accepted.is_none() && its.rule == alert.rule && its.subjects().eq(alert.subjects())
        };
        if !open.iter().any(same) {
            let closes_when = closes_when(alert, mark);
            open.push(OpenFinding { alert: alert.clone(), since: alert.iteration, closes_when, accepted: None });
        }
    }
    open
}

/// The mark of this iteration. Accepting a loss takes the count at that time for the new mark.
fn mark(comparison: &Comparison, current: &Current) -> Mark {
    let mut mark = Mark::default();
    let mut last = Mark::default();
    let mut ancestors: Vec<_> = comparison.ancestors().collect();
    ancestors.reverse();
    for point in ancestors {
        for finding in &point.open_findings {
            if finding.accepted.is_some() {
                mark.lower(&finding.alert.rule, last);
            }
        }
        let now = Mark { test_count: point.metrics.test_count(), tests_passed: point.metrics.tests_passed() };
        mark = Mark {
            test_count: mark.test_count.max(now.test_count),
            tests_passed: mark.tests_passed.max(now.tests_passed),
        };
        last = Mark {
            test_count: now.test_count.or(last.test_count),
            tests_passed: now.tests_passed.or(last.tests_passed),
        };
    }
    current.accepted.iter().for_each(|said| mark.lower(&said.rule, last));
    mark
}

impl Mark {
    fn lower(&mut self, rule: &str, level: Mark) {
        match rule {
            "test_count_decreased" | "suite_partial" => self.test_count = level.test_count,
            "working_tests_failing" => self.tests_passed = level.tests_passed,
            _ => {}
        }
    }
}

fn is_made_good(finding: &OpenFinding, comparison: &Comparison, current: &Current, mark: Mark) -> bool {
    let reached = |now: Option<u64>, mark: Option<u64>| now.is_some_and(|now| Some(now) >= mark);
    let alert = &finding.alert;
    let each = |holds: &dyn Fn(&TestCases, &str) -> bool| {
        current.cases.is_some_and(|cases| alert.subjects().all(|id| holds(cases, id)))
    };
    match (alert.rule.as_str(), &alert.subject) {
        ("failing_test_removed", Some(_)) if current.cases.is_none() => comparison.are_sources_back(alert.subjects()),
        ("failing_test_removed", Some(_)) => each(&|cases, id| cases.outcome(id).is_some()),
        (rule, Some(_)) if is_proven(rule) => {
            current.proof.is_some_and(|proof| alert.subjects().all(|id| proof.old_passes(id)))
        }
        (_, Some(_)) => each(&passes),
        ("suite_not_run", None) => comparison.suite == Suite::Judged && comparison.metrics.test_count() > Some(0),
        ("working_tests_failing", None) => reached(comparison.passed_now(), mark.tests_passed),
        (_, None) => reached(comparison.metrics.test_count(), mark.test_count),
    }
}

/// Whether findings of the rule come from runs of old tests on new code, which alone tell that they are made good.
pub fn is_proven(rule: &str) -> bool {
    [tamper_confirmed::RULE.name, hidden_regression::RULE.name].contains(&rule)
}

fn passes(cases: &TestCases, id: &str) -> bool {
    cases.outcome(id) == Some(Outcome::Passed)
}

fn closes_when(alert: &Alert, mark: Mark) -> String {
    match (alert.rule.as_str(), &alert.subject) {
        ("failing_test_removed", Some(id)) if alert.others.is_empty() => format!("{id} is back"),
        ("failing_test_removed", Some(id)) => format!("{id} and {} more are back", alert.others.len()),
        (rule, Some(id)) if is_proven(rule) => {
            let passes = match alert.others.len() {
                0 => format!("{id} passes as it was"),
                more => format!("{id} and {more} more pass as they were"),
            };
            format!("{passes} before iteration {}, which runs in copies tell", alert.iteration)
        }
        (_, Some(id)) if alert.others.is_empty() => format!("{id} passes again"),
        (_, Some(id)) => format!("{id} and {} more pass again", alert.others.len()),
        ("suite_not_run", None) => "tests are collected again".to_owned(),
        ("working_tests_failing", None) => match mark.tests_passed {
            Some(1) => "1 test passes".to_owned(),
            Some(count) => format!("{count} tests pass"),
            None => "as many tests as ever pass".to_owned(),
        },
        (_, None) => match mark.test_count {
            Some(1) => "there is 1 test".to_owned(),
            Some(count) => format!("there are {count} tests"),
            None => "there are as many tests as ever".to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::{Story, broken_units, tests};
    use crate::model::ids::Iteration;

    #[test]
    fn what_closes_a_loss_is_said_of_one_and_of_an_unknown_number_too() {
        let mut story = Story::new();
        story.record(tests(1, 0));
        let verdict = story.record(tests(0, 1));
        assert_eq!(verdict.open_findings[0].closes_when, "1 test passes");
        let lost = &verdict.open_findings[0].alert;
        let unknown = Mark { tests_passed: None, test_count: None };
        assert_eq!(closes_when(lost, unknown), "as many tests as ever pass");
        let fewer = Alert { rule: "suite_partial".to_owned(), ..lost.clone() };
        assert_eq!(closes_when(&fewer, unknown), "there are as many tests as ever");
        assert_eq!(closes_when(&fewer, Mark { test_count: Some(1), ..unknown }), "there is 1 test");
    }

    fn open_rules(open: &[OpenFinding]) -> Vec<&str> {
        open.iter().filter(|finding| finding.accepted.is_none()).map(|finding| finding.alert.rule.as_str()).collect()
    }

    #[test]
    fn a_loss_stays_open_until_the_mark_is_reached_again() {
        let mut story = Story::new();
        story.record(tests(10, 0));
        assert_eq!(
            open_rules(&story.record(tests(8, 0)).open_findings),
            ["test_count_decreased", "working_tests_failing"]
        );
        let verdict = story.record(tests(9, 0));
        assert_eq!(verdict.open_findings.len(), 2, "9 is not 10");
        assert_eq!(verdict.open_findings[0].since, Iteration(1));
        assert_eq!(verdict.open_findings[0].closes_when, "there are 10 tests");
        assert_eq!(open_rules(&story.record(tests(9, 1)).open_findings), ["working_tests_failing"]);
        assert!(story.record(tests(10, 0)).open_findings.is_empty());
    }

    #[test]
    fn accepting_closes_the_loss_and_lowers_the_mark() {
        let mut story = Story::new();
        story.record(tests(8, 2));
        story.record(tests(8, 0));
        story.accept("test_count_decreased");
        let verdict = story.record(tests(8, 0));
        assert!(open_rules(&verdict.open_findings).is_empty());
        assert_eq!(verdict.open_findings[0].accepted.as_ref().map(|said| said.reason.as_str()), Some("on purpose"));
        assert!(story.record(tests(8, 0)).open_findings.is_empty(), "told once");
        story.record(tests(7, 0));
        assert!(story.record(tests(8, 0)).open_findings.is_empty(), "the mark is 8 now, not 10");
    }

    #[test]
    fn the_mark_is_lowered_from_the_iteration_on_that_repeats_the_acceptance() {
        let mut story = Story::new();
        story.record(tests(8, 2));
        story.record(tests(8, 0));
        story.accept("test_count_decreased");
        let verdict = story.record(tests(7, 0));
        let open: Vec<&str> = verdict
            .open_findings
            .iter()
            .filter(|finding| finding.accepted.is_none())
            .map(|finding| finding.closes_when.as_str())
            .collect();
        assert_eq!(open, ["there are 8 tests", "8 tests pass"]);
    }

    #[test]
    fn an_acceptance_does_not_cover_a_new_loss() {
        let mut story = Story::new();
        story.record(tests(8, 2));
        story.record(tests(8, 0));
        story.accept("test_count_decreased");
        let verdict = story.record(tests(8, 0).clone());
        assert!(open_rules(&verdict.open_findings).is_empty());
        let verdict = story.record(tests(6, 1));
        assert_eq!(open_rules(&verdict.open_findings), ["test_count_decreased", "working_tests_failing"]);
    }

    #[test]
    fn an_accepted_broken_suite_is_not_raised_every_time() {
        let mut story = Story::new();
        story.record(tests(8, 0));
        story.record(broken_units(tests(0, 0), &["t.a"]));
        story.accept("suite_not_run");
        assert!(open_rules(&story.record(broken_units(tests(0, 0), &["t.a"])).open_findings).is_empty());
        assert!(story.record(broken_units(tests(0, 0), &["t.a"])).open_findings.is_empty());
    }

    #[test]
    fn a_rollback_leaves_the_loss_behind() {
        let mut story = Story::new();
        story.record(tests(10, 0));
        story.record(tests(8, 0));
        story.roll_back_to(0);
        assert!(story.record(tests(10, 0)).open_findings.is_empty());
    }
}
