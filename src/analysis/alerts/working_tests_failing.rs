//! Tests that passed before do not pass now.

use super::{AlertRule, CONFIRMED, beside, by_test};
use crate::analysis::comparison::Comparison;
use crate::analysis::flakes::Doubt;
use crate::model::ids::Iteration;
use crate::model::metrics::Metrics;
use crate::model::verdict::{Alert, NAMES_SHOWN, Severity, Status};

/// S002's second alert, R5 of the classes. S002's example calls it HIGH, its table CRITICAL: the table holds.
pub const RULE: AlertRule = AlertRule {
    name: "working_tests_failing",
    about: "tests that passed before do not pass now",
    meaning: "Something that worked is broken, or a passing test is gone. The loss stays open along the lineage until as \
              many tests as ever pass again. Where tests are named, each newly failing one is weighed against its being \
              a flake: suspected, confirmed or refuted by its runs on one tree, reruns (record --rerun) among them. A \
              refuted one moves nothing. A report that names none but the tests that fail does not tell whether one of \
              them passed before or is new: that is a suspicion (HIGH), and does not stay open.",
    formula: "tests_passed < previous; where tests are named, also each test that passed and now fails, though the \
              count held; where those that fail are named alone, also more tests that did not fail before than there \
              are new ones that ran; where only failures are known (go test without -v), more of them, or one by another \
              name. Named tests broke with probability π/(π + (1−π)·f^(r+1)), π = flake.prior_break, r reruns that all \
              failed, f = (flake.prior_rate + failures)/(1 + runs) over earlier trees that it passed on; a pass on the \
              same tree refutes",
    source: "S002; by name: beyond the seeds",
    severity: Severity::Critical,
    reliability: 0.60,
    thresholds: &["flake.prior_break", "flake.prior_rate", "flake.confirmed", "flake.refuted"],
    check,
};

const MESSAGE: &str = "Previously passing tests now failing";

/// Of tests that nobody knows to have passed.
const NEW_FAILURES: &str = "Tests fail that did not fail before";

fn check(comparison: &Comparison) -> Vec<Alert> {
    let Some(pair) = comparison.passed() else { return suspicion(comparison).into_iter().collect() };
    // What a flake did is told by name, and is no part of the loss.
    let mut alerts: Vec<Alert> = comparison.refuted().map(|(id, doubt)| by_name(comparison, id, doubt)).collect();
    let broken = || comparison.doubts.iter().filter(|(_, doubt)| doubt.status != Status::Refuted);
    if pair.now >= pair.before {
        // Those that are settled first.
        let (settled, open): (Vec<_>, Vec<_>) = broken().partition(|(_, doubt)| doubt.status == Status::Confirmed);
        for tests in [settled, open] {
            alerts.extend(by_test(&tests, |(id, _)| id, |(id, doubt)| by_name(comparison, id, doubt)));
        }
        alerts.extend(suspicion(comparison));
        return alerts;
    }
    let lost_outside =
        comparison.tests.as_ref().is_none_or(|tests| broken().next().is_some() || !tests.removed_passing.is_empty());
    if comparison.failed_units() > 0 && !lost_outside {
        return alerts;
    }
    let mut alert = beside(RULE.alert(comparison, MESSAGE), pair.before, pair.now);
    // S002's words say "failing" of a test that is skipped, too.
    let skipped =
        comparison.tests.iter().flat_map(|tests| &tests.skipped_passing).map(|id| format!("skipped now: {id}"));
    let broke = broken().map(|(id, doubt)| format!("{}: {id}", doubt.evidence()));
    alert.evidence = broke.chain(skipped).chain(did_not_fail(comparison)).take(NAMES_SHOWN).collect();
    if broken().any(|(_, doubt)| doubt.status == Status::Confirmed) {
        alert.status = Status::Confirmed;
        alert.reliability = CONFIRMED;
    } else if broken().next().is_some() {
        alert.status = Status::Suspected;
    }
    alerts.insert(0, alert);
    alerts
}

/// Tests fail that did not fail before, and nobody knows which of them passed: more of them than there are new ones that ran,
/// or, where that is unknown, any.
fn suspicion(comparison: &Comparison) -> Option<Alert> {
    let failures = comparison.pair(Metrics::failures)?;
    let evidence: Vec<String> = did_not_fail(comparison).collect();
    let newly_red = u64::try_from(evidence.len()).unwrap_or(u64::MAX);
    let fires = match comparison.pair(Metrics::tests_ran) {
        Some(ran) => newly_red > ran.now.saturating_sub(ran.before),
        None => newly_red > 0 || failures.now > failures.before,
    };
    if !fires {
        return None;
    }
    let mut alert = beside(RULE.alert(comparison, NEW_FAILURES), failures.before, failures.now);
    alert.severity = Severity::High;
    alert.status = Status::Suspected;
    alert.evidence = evidence.into_iter().take(NAMES_SHOWN).collect();
    Some(alert)
}

fn did_not_fail(comparison: &Comparison) -> impl Iterator<Item = String> {
    let against = comparison.pair(Metrics::failures).map_or(Iteration::BASELINE, |pair| pair.against);
    comparison.newly_red().into_iter().map(move |id| format!("did not fail at iteration {against}: {id}"))
}

/// One test: the count held because another was fixed or added, or it is a flake.
fn by_name(comparison: &Comparison, id: &str, doubt: &Doubt) -> Alert {
    let mut alert = RULE.alert(comparison, MESSAGE);
    alert.subject = Some(id.to_owned());
    alert.status = doubt.status;
    alert.evidence = vec![doubt.evidence()];
    if doubt.status == Status::Confirmed {
        alert.reliability = CONFIRMED;
    }
    alert
}

#[cfg(test)]
mod tests {
    use crate::analysis::eligibility;
    use crate::analysis::testing::{Story, cases, failing, rules, tests};
    use crate::model::verdict::{Action, Classification, Severity, Status};

    #[test]
    fn one_pass_fewer_fires_and_as_many_do_not() {
        let mut story = Story::new();
        story.record(tests(40, 0));
        assert!(rules(&story.record(tests(40, 1))).is_empty());
        assert_eq!(rules(&story.record(tests(39, 2))), ["working_tests_failing"]);
    }

    #[test]
    fn where_failures_alone_are_told_more_of_them_are_a_suspicion() {
        let mut story = Story::new();
        story.record(failing(0, &[]));
        let verdict = story.record(failing(1, &["a::x"]));
        assert_eq!(rules(&verdict), ["working_tests_failing"]);
        assert_eq!(verdict.classification, Some(Classification::Regression));
        let alert = &verdict.alerts[0];
        assert_eq!((alert.severity, alert.status), (Severity::High, Status::Suspected));
        assert_eq!(alert.evidence, ["did not fail at iteration 0: a::x"]);
        assert_eq!(verdict.recommendation.action, Action::Continue, "the test may be new");
        assert!(verdict.open_findings.is_empty());
        // The same one fails still; then another one in its place; then none.
        assert!(rules(&story.record(failing(1, &["a::x"]))).is_empty());
        let verdict = story.record(failing(1, &["a::y::z"]));
        assert_eq!(verdict.alerts[0].evidence, ["did not fail at iteration 2: a::y::z"]);
        assert!(rules(&story.record(failing(1, &["a::y > z"]))).is_empty(), "as another format spells it");
        let verdict = story.record(failing(0, &[]));
        assert_eq!((verdict.alerts.len(), verdict.classification), (0, None), "mended, or gone");
    }

    #[test]
    fn failures_that_are_not_all_named_are_only_counted() {
        let mut story = Story::new();
        story.record(failing(2, &["a::x"]));
        assert!(rules(&story.record(failing(2, &["a::y"]))).is_empty());
        let verdict = story.record(failing(3, &["a::z"]));
        assert_eq!(rules(&verdict), ["working_tests_failing"]);
        assert!(verdict.alerts[0].evidence.is_empty());
        assert!(rules(&story.record(tests(5, 3))).is_empty(), "all are told now, and as many fail");
    }

    #[test]
    fn a_test_that_is_skipped_now_is_named_as_that() {
        let mut story = Story::new();
        story.record_named(tests(2, 1), cases(&["a::x P", "a::y P", "a::z F"]));
        let mut two_skipped = tests(1, 0);
        let testing = two_skipped.testing.as_mut().unwrap();
        (testing.tests_skipped, testing.test_count) = (Some(2), Some(3));
        let verdict = story.record_named(two_skipped, cases(&["a::x P", "a::y S", "a::z S"]));
        assert_eq!(rules(&verdict), ["working_tests_failing"]);
        assert_eq!(verdict.alerts[0].evidence, ["skipped now: a::y"]);
    }

    #[test]
    fn a_named_test_that_broke_fires_though_another_was_fixed() {
        let mut story = Story::new();
        story.record_named(tests(1, 1), cases(&["a::x P", "a::y F"]));
        let verdict = story.record_named(tests(1, 1), cases(&["a::x F", "a::y P"]));
        assert_eq!(rules(&verdict), ["working_tests_failing"]);
        assert_eq!(verdict.alerts[0].subject.as_deref(), Some("a::x"));
        assert_eq!(verdict.alerts[0].status, Status::Suspected);
        let verdict = story.record_named(tests(1, 1), cases(&["a::x F", "a::y P"]));
        assert!(rules(&verdict).is_empty(), "still broken is not broken again");
        assert_eq!(verdict.open_findings.len(), 1);
        let verdict = story.record_named(tests(2, 0), cases(&["a::x P", "a::y P"]));
        assert!(verdict.open_findings.is_empty());
    }

    fn ten(failing: &[&str]) -> (crate::model::metrics::Metrics, crate::model::cases::TestCases) {
        let outcome = |id: &String| if failing.contains(&id.as_str()) { "F" } else { "P" };
        let ids = (0..10).map(|n| format!("a::t{n}"));
        let lines: Vec<String> = ids.map(|id| format!("{id} {}", outcome(&id))).collect();
        let failed = u64::try_from(failing.len()).unwrap();
        (tests(10 - failed, failed), cases(&lines))
    }

    /// A test, and what [`Story::runs`] is told of it.
    type Known<'a> = (&'a str, (u32, u32), (u32, u32));

    fn story_of(runs: &[Known], failing: &[&str]) -> (Story, crate::analysis::Verdict) {
        let mut story = Story::new();
        let (metrics, named) = ten(&[]);
        story.record_named(metrics, named);
        runs.iter().for_each(|(id, earlier, again)| story.runs(id, *earlier, *again));
        let (metrics, named) = ten(failing);
        let verdict = story.record_named(metrics, named);
        (story, verdict)
    }

    #[test]
    fn a_flake_that_passed_again_is_no_regression_and_may_be_the_best() {
        let (mut story, verdict) = story_of(&[("a::t3", (0, 0), (1, 0))], &["a::t3"]);
        assert_eq!(rules(&verdict), ["working_tests_failing"]);
        assert_eq!((verdict.alerts[0].status, verdict.alerts[0].subject.as_deref()), (Status::Refuted, Some("a::t3")));
        assert_eq!(
            verdict.classification,
            Some(Classification::Plateau),
            "ten points of the pass rate are the flake's"
        );
        assert!(verdict.open_findings.is_empty());
        assert!(eligibility(&story.points()[1], story.points(), &story.config).is_ok());
        assert_eq!(verdict.from_previous.unwrap().tests.unwrap().flaky.names, ["a::t3"]);
        let (metrics, named) = ten(&[]);
        let verdict = story.record_named(metrics, named);
        assert_eq!(verdict.classification, Some(Classification::Plateau), "what a flake gives back is no gain");
    }

    #[test]
    fn a_flake_that_fails_once_more_is_newly_failing_again() {
        let (mut story, _) = story_of(&[("a::t3", (0, 0), (1, 0))], &["a::t3"]);
        let (metrics, named) = ten(&["a::t3"]);
        let verdict = story.record_named(metrics, named);
        assert_eq!(verdict.alerts[0].status, Status::Suspected);
        assert_eq!(verdict.classification, Some(Classification::Regression));
    }

    #[test]
    fn a_rerun_that_fails_confirms_and_a_flake_beside_it_does_not_hide_it() {
        let runs = [("a::t3", (0, 0), (1, 0)), ("a::t4", (0, 0), (1, 1))];
        let (_, verdict) = story_of(&runs, &["a::t3", "a::t4"]);
        let found: Vec<_> = verdict.alerts.iter().filter(|alert| alert.rule == super::RULE.name).collect();
        let statuses: Vec<Status> = found.iter().map(|alert| alert.status).collect();
        assert_eq!(statuses, [Status::Confirmed, Status::Refuted]);
        assert_eq!(found[0].reliability, 0.95);
        assert_eq!(
            found[0].evidence,
            ["broken with probability 0.99: failed in 1 of 1 further run on the same tree: a::t4"]
        );
        assert_eq!(verdict.classification, Some(Classification::Regression));
        assert!(!verdict.acceptable);
    }

    #[test]
    fn one_that_nothing_is_known_of_is_suspected_and_says_what_would_settle_it() {
        let (_, verdict) = story_of(&[], &["a::t3"]);
        assert_eq!((verdict.alerts[0].status, verdict.alerts[0].reliability), (Status::Suspected, 0.60));
        let evidence = "broken with probability 0.58: 1 rerun would settle it: a::t3";
        assert_eq!(verdict.alerts[0].evidence, [evidence]);
    }

    #[test]
    fn the_same_tree_measured_again_without_the_failure_makes_the_first_eligible() {
        let (mut story, verdict) = story_of(&[], &["a::t3"]);
        assert_eq!(verdict.open_findings.len(), 1);
        let config = story.config.clone();
        assert!(eligibility(&story.points()[1], story.points(), &config).is_err());
        let (metrics, named) = ten(&[]);
        story.record_named(metrics, named);
        assert!(eligibility(&story.points()[1], story.points(), &config).is_err(), "another tree says nothing");
        let mut points = story.points().to_vec();
        points[2].tree_key = points[1].tree_key;
        assert!(eligibility(&points[1], &points, &config).is_ok());
    }
}
