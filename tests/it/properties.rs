//! What holds of every history, not only of the examples.

use highwater::analysis::{DETECTORS, Detector, History, Seen, best, deltas_between, select};
use highwater::model::ids::{Iteration, ObjectId};
use highwater::model::metrics::{Metrics, Signature};
use highwater::model::verdict::{Action, Classification, Deltas, Severity};
use proptest::prelude::*;
use proptest::test_runner::Config;

use crate::vectors::story::{Story, With, q, tests};

/// Failures are shown, not written beside the tests.
pub fn runs(cases: u32) -> Config {
    Config { cases, failure_persistence: None, ..Config::default() }
}

prop_compose! {
    /// A suite with at least one test.
    fn suite()(passed in 0u64..12, failed in 0u64..6, skipped in 0u64..3, units in 0usize..2) -> Metrics {
        let passed = if passed + failed + skipped == 0 { 1 } else { passed };
        tests(passed, failed).skipped(skipped).units(&["t.broken"][..units])
    }
}

prop_compose! {
    /// Every group measured.
    fn complete()(
        suite in suite(), coverage in 0.0f64..=100.0, lint in 0u64..20, warnings in 0u64..40, works in any::<bool>(),
        files in 1u64..9, loc in 0u64..900, complexity in 0.0f64..30.0,
    ) -> Metrics {
        suite.coverage(coverage).lint(lint, warnings).build(works).size(files, loc).complexity(complexity)
    }
}

prop_compose! {
    /// Any groups measured, perhaps none; perhaps a suite that collects nothing.
    pub fn any_metrics()(metrics in complete(), keep in prop::array::uniform4(any::<bool>()), empty in 0u8..8) -> Metrics {
        let mut metrics = metrics;
        if empty == 0 {
            metrics.testing = tests(0, 0).units(&["t.broken"]).testing;
        }
        Metrics {
            testing: metrics.testing.filter(|_| keep[0]),
            coverage: metrics.coverage.filter(|_| keep[1]),
            quality: metrics.quality.filter(|_| keep[2]),
            codebase: metrics.codebase.filter(|_| keep[3]),
            ..metrics
        }
    }
}

/// What happens before an iteration is recorded.
#[derive(Clone, Debug)]
enum Before {
    Nothing,
    RollBack(prop::sample::Index),
    Accept(&'static str),
    SameTree,
}

fn before() -> impl Strategy<Value = Before> {
    prop_oneof![
        6 => Just(Before::Nothing),
        1 => any::<prop::sample::Index>().prop_map(Before::RollBack),
        1 => prop::sample::select(vec!["test_count_decreased", "working_tests_failing", "suite_not_run"])
            .prop_map(Before::Accept),
        1 => Just(Before::SameTree),
    ]
}

/// Records a history; [`Story`] itself asserts that judging each record again says the same.
fn record_all(history: &[(Before, Metrics)]) -> (Story, Vec<highwater::analysis::Verdict>) {
    let mut story = Story::new();
    let mut verdicts = Vec::new();
    for (before, metrics) in history {
        match before {
            Before::RollBack(index) if !story.points().is_empty() => {
                let target = u32::try_from(index.index(story.points().len())).unwrap();
                story.roll_back_to(target);
            }
            Before::Accept(rule) => story.accept(rule),
            Before::SameTree => story.tree(7),
            _ => {}
        }
        verdicts.push(story.record(metrics.clone()));
    }
    (story, verdicts)
}

fn negated(deltas: &Deltas) -> Vec<Option<f64>> {
    counts_and_points(deltas).into_iter().map(|delta| delta.map(|delta| -delta)).collect()
}

fn counts_and_points(deltas: &Deltas) -> Vec<Option<f64>> {
    let whole = |delta: Option<i64>| delta.map(|delta| f64::from(i32::try_from(delta).unwrap()));
    vec![
        whole(deltas.test_count),
        whole(deltas.tests_passed),
        deltas.pass_rate_points,
        deltas.coverage_points,
        whole(deltas.error_count),
        whole(deltas.lint_warnings),
        whole(deltas.file_count),
        whole(deltas.loc_total),
    ]
}

proptest! {
    #![proptest_config(runs(64))]

    #[test]
    fn scores_stay_in_bounds_and_their_parts_add_up(baseline in any_metrics(), now in any_metrics()) {
        let mut story = Story::new();
        for metrics in [baseline, now] {
            let Some(score) = story.record(metrics).quality_score else { continue };
            let parts: f64 = score.dimensions.iter().map(|dimension| dimension.contribution).sum();
            prop_assert!((parts - score.total.get()).abs() < 1e-9);
            prop_assert!((0.0..=1.0).contains(&score.weight_available));
            for value in score.dimensions.iter().filter_map(|dimension| dimension.score) {
                prop_assert!((0.0..=100.0).contains(&value));
            }
            prop_assert!(score.components().all(|(_, value)| (0.0..=100.0).contains(&value)));
        }
    }

    #[test]
    fn a_test_that_passes_instead_of_failing_never_lowers_the_score(
        baseline in complete(), rest in complete(), passed in 0u64..12, failed in 1u64..6,
    ) {
        let score = |metrics: Metrics| {
            let mut story = Story::new();
            story.record(baseline.clone());
            q(&story.record(Metrics { testing: metrics.testing, ..rest.clone() }))
        };
        prop_assert!(score(tests(passed + 1, failed - 1)) >= score(tests(passed, failed)) - 1e-12);
    }

    #[test]
    fn what_was_measured_twice_has_a_class(before in suite(), now in suite()) {
        let mut story = Story::new();
        prop_assert_eq!(story.record(before).classification, Some(Classification::Baseline));
        prop_assert!(story.record(now).classification.is_some());
    }

    #[test]
    fn count_and_point_deltas_are_antisymmetric(a in complete(), b in complete()) {
        let between = |before: &Metrics, now: &Metrics| {
            let mut story = Story::new();
            story.record(before.clone());
            story.record(now.clone()).from_previous.unwrap()
        };
        let (there, back) = (between(&a, &b), between(&b, &a));
        prop_assert_eq!(counts_and_points(&there), negated(&back));
        prop_assert_eq!(there.against.len(), back.against.len());
        let mut story = Story::new();
        story.record(a);
        story.record(b);
        let [first, second] = story.points() else { panic!("two were recorded") };
        prop_assert_eq!(deltas_between(first, second), there);
        prop_assert_eq!(deltas_between(first, first).quality_score, Some(0.0));
    }

    #[test]
    fn every_history_is_judged_and_judged_alike_again(
        history in prop::collection::vec((before(), any_metrics()), 1..16),
    ) {
        let (story, verdicts) = record_all(&history);
        for (verdict, point) in verdicts.iter().zip(story.points()) {
            let recommendation = &verdict.recommendation;
            prop_assert!((0.05..=0.99).contains(&recommendation.confidence));
            prop_assert!(!recommendation.because.is_empty());
            prop_assert_eq!(recommendation.target.is_some(), recommendation.action == Action::Rollback);
            prop_assert!(recommendation.target.is_none_or(|target| target < point.iteration));
            let silent = ["unmeasured", "insufficient_data"].contains(&verdict.class_rule.as_str());
            prop_assert_eq!(verdict.classification.is_none(), silent);
            let mut seen: Vec<_> = verdict.alerts.iter().map(|alert| (&alert.rule, &alert.subject)).collect();
            seen.sort();
            seen.dedup();
            prop_assert_eq!(seen.len(), verdict.alerts.len(), "one alert a rule and subject");
        }
        let tracker = best(story.points(), &story.config);
        prop_assert!(tracker.iteration.is_none_or(|best| !tracker.ineligible.contains_key(&best)));
    }

    #[test]
    fn a_loss_bars_the_lineage_until_the_mark_is_reached(
        history in prop::collection::vec(suite(), 2..12),
    ) {
        let mut story = Story::new();
        let mut mark = 0;
        for metrics in history {
            let count = metrics.test_count().unwrap();
            let verdict = story.record(metrics);
            let is_open = verdict.open_findings.iter().any(|finding| finding.alert.rule == "test_count_decreased");
            prop_assert_eq!(is_open, count < mark, "{} of {}", count, mark);
            mark = mark.max(count);
        }
    }

    #[test]
    fn dropping_reports_gains_nothing_over_the_same_state(
        full in complete(), dropped in prop::array::uniform3(any::<bool>()),
    ) {
        let mut story = Story::new();
        story.record(full.clone());
        let less = Metrics {
            coverage: full.coverage.clone().filter(|_| dropped[0]),
            quality: full.quality.clone().filter(|_| dropped[1]),
            codebase: full.codebase.clone().filter(|_| dropped[2]),
            ..full
        };
        story.record(less);
        let tracker = best(story.points(), &story.config);
        prop_assert!(tracker.iteration != Some(Iteration(1)) || tracker.ineligible.contains_key(&Iteration(0)));
    }
}

proptest! {
    #![proptest_config(runs(32))]

    #[test]
    fn the_best_so_far_is_the_selection_over_that_prefix(
        history in prop::collection::vec((before(), complete()), 1..12),
    ) {
        let (story, _) = record_all(&history);
        for length in 1..=story.points().len() {
            let prefix = &story.points()[..length];
            prop_assert_eq!(best(prefix, &story.config).iteration, select(prefix, &story.config).selected);
        }
    }
}

fn detector(name: &str) -> &'static Detector {
    DETECTORS.iter().find(|detector| detector.name == name).unwrap()
}

prop_compose! {
    /// What detectors see: few signatures and few trees, so that repeats are common.
    fn seen()(signature in 0u64..4, tree in 0u8..4, class in 0u8..5, score in 0.5f64..0.9) -> Seen {
        Seen {
            iteration: Iteration::BASELINE,
            signature: (signature > 0).then(|| Signature::of(&tests(signature, 0))).flatten(),
            tree_key: ObjectId([tree; 32]),
            base_class: [Some(Classification::Plateau), Some(Classification::Plateau), Some(Classification::Plateau),
                Some(Classification::Forward), None][usize::from(class)],
            score: Some(score),
            progress: None,
            estimate: None,
        }
    }
}

fn numbered(seen: Vec<Seen>, last: u32) -> Vec<Seen> {
    let first = last + 1 - u32::try_from(seen.len()).unwrap();
    seen.into_iter().zip(first..).map(|(seen, number)| Seen { iteration: Iteration(number), ..seen }).collect()
}

proptest! {
    #![proptest_config(runs(256))]

    #[test]
    fn detectors_depend_only_on_their_window(
        window in prop::collection::vec(seen(), 12), before in prop::collection::vec(seen(), 0..8), last in 30u32..40,
    ) {
        let config = Story::new().config;
        let longer: Vec<Seen> = before.into_iter().chain(window.clone()).collect();
        let short = History { seen: numbered(window, last), steps: Vec::new(), gained: None, config: &config };
        let long = History { seen: numbered(longer, last), steps: Vec::new(), gained: None, config: &config };
        // Twelve is the longest cycle twice over. The stall counts iterations with a class: three, and the one before.
        for name in ["infinite_loop", "metric_cycling"] {
            prop_assert_eq!((detector(name).check)(&short), (detector(name).check)(&long), "{}", name);
        }
        let classed = short.seen.iter().filter(|seen| seen.base_class.is_some()).count();
        if classed >= 4 {
            let stalled = detector("stalled");
            prop_assert_eq!((stalled.check)(&short), (stalled.check)(&long));
        }
    }

    #[test]
    fn detectors_are_silent_on_histories_shorter_than_their_window(
        history in prop::collection::vec(seen(), 1..4), last in 30u32..40,
    ) {
        let config = Story::new().config;
        let history = History { seen: numbered(history, last), steps: Vec::new(), gained: None, config: &config };
        for detector in DETECTORS {
            prop_assert!((detector.check)(&history).is_empty(), "{}", detector.name);
        }
    }

    #[test]
    fn a_stall_is_never_told_of_a_window_that_gained(
        scores in prop::collection::vec(0.0f64..1.0, 4),
    ) {
        let config = Story::new().config;
        let plateaus = scores.iter().map(|score| Seen {
            iteration: Iteration::BASELINE,
            signature: None,
            tree_key: ObjectId([0; 32]),
            base_class: Some(Classification::Plateau),
            score: Some(*score),
            progress: None,
            estimate: None,
        });
        let history = History { seen: numbered(plateaus.collect(), 20), steps: Vec::new(), gained: None, config: &config };
        let highest = scores[1..].iter().copied().fold(f64::MIN, f64::max);
        let fired = (detector("stalled").check)(&history);
        prop_assert!(fired.is_empty() || highest - scores[0] < config.stall.min_gain);
        prop_assert!(fired.iter().all(|alert| alert.severity == Severity::Medium));
    }
}
