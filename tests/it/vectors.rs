//! The worked vectors of ANALYSIS §13, with the numbers as printed there.

mod metrics;
pub mod story;

use chrono::DateTime;
use highwater::analysis::{best, eligibility, select};
use highwater::model::ids::{Iteration, ObjectId};
use highwater::model::metrics::Metrics;
use highwater::model::record::IterationRecord;
use highwater::model::trajectory::{DegradationPattern, Point, PointScore};
use highwater::model::units::{Score, round_half_up};
use highwater::model::verdict::{Action, Classification, Severity, Status};
use story::{Story, With, component, dimensions, open, q, rules, tests};

fn shown(value: f64) -> String {
    round_half_up(value, 4)
}

fn shown_all(values: Vec<Option<f64>>) -> Vec<String> {
    values.into_iter().map(|value| value.map_or_else(|| "-".to_owned(), shown)).collect()
}

#[test]
fn v1_scores_the_baseline_of_the_first_example() {
    let example = || tests(5, 3).coverage(65.0).lint(8, 4).build(true).complexity(12.5).size(3, 450);
    let verdict = Story::new().record(example().errors(12));
    assert_eq!(shown_all(dimensions(&verdict)), ["74.1667", "82.5000", "69.2500", "62.7500", "100.0000"]);
    assert_eq!(shown(q(&verdict)), "0.7646");
    assert_eq!(verdict.classification, Some(Classification::Baseline));
    assert_eq!(shown(q(&Story::new().record(example()))), "0.7746");
}

/// Baseline and three iterations of S002's second example.
fn second_example() -> (Story, Vec<highwater::analysis::Verdict>) {
    let mut story = Story::new();
    let states = [(5, 3, 65.0), (6, 2, 70.0), (8, 2, 75.0), (7, 2, 72.0)];
    let verdicts = states.map(|(passed, failed, percent)| story.record(tests(passed, failed).coverage(percent)));
    (story, verdicts.to_vec())
}

#[test]
fn v2_rolls_the_second_example_back() {
    let (story, verdicts) = second_example();
    let scores: Vec<String> = verdicts[1..].iter().map(|verdict| shown(q(verdict))).collect();
    assert_eq!(scores, ["0.7813", "0.8234", "0.8035"]);
    let score = verdicts[1].quality_score.as_ref().unwrap();
    assert!((score.weight_available - 0.80).abs() < 1e-9 && !score.partial);
    let third = &verdicts[3];
    assert_eq!(third.classification, Some(Classification::Regression));
    assert_eq!(third.class_rule, "R1,R3,R5");
    let alerts: Vec<(&str, Severity)> = third.alerts.iter().map(|a| (a.rule.as_str(), a.severity)).collect();
    assert_eq!(
        alerts,
        [
            ("test_count_decreased", Severity::Critical),
            ("working_tests_failing", Severity::Critical),
            ("coverage_regression", Severity::High)
        ]
    );
    assert_eq!(third.alerts[0].message, "Test count decreased from 10 to 9");
    let recommendation = &third.recommendation;
    assert_eq!((recommendation.action, recommendation.target), (Action::Rollback, Some(Iteration(2))));
    assert_eq!(recommendation.confidence, 0.95);
    let deltas = third.from_baseline.as_ref().unwrap();
    assert_eq!((deltas.test_count, deltas.coverage_points), (Some(1), Some(7.0)));
    assert_eq!(best(story.points(), &story.config).iteration, Some(Iteration(2)));
}

#[test]
fn v3_selects_the_peak_of_the_third_example() {
    let mut story = Story::new();
    story.record(tests(5, 3));
    let states = [(6, 2, 68.0), (9, 1, 78.0), (10, 0, 85.0), (10, 0, 83.0), (9, 1, 80.0)];
    let scores =
        states.map(|(passed, failed, percent)| shown(q(&story.record(tests(passed, failed).coverage(percent)))));
    assert_eq!(scores, ["0.7781", "0.8969", "0.9766", "0.9734", "0.9000"]);
    assert_eq!(select(story.points(), &story.config).selected, Some(Iteration(3)));
}

/// A point of which only the score is known.
fn printed(number: u32, total: f64) -> Point {
    let id = ObjectId([0; 32]);
    let unknown = IterationRecord::draft("printed".parse().unwrap(), DateTime::UNIX_EPOCH, id, id);
    Point {
        iteration: Iteration(number),
        parent: number.checked_sub(1).map(Iteration),
        quality_score: Some(PointScore {
            total: Score::new(total).unwrap(),
            weight_available: 1.0,
            partial: false,
            weights: [0.2; 5],
            components: [Some(total * 100.0); 11],
        }),
        acceptable: true,
        ..Point::of(&unknown)
    }
}

#[test]
fn v3_measures_the_degradation_of_the_printed_scores() {
    let scores = [0.60, 0.65, 0.82, 0.88, 0.85, 0.81];
    let points: Vec<Point> = (0..).zip(scores).map(|(number, total)| printed(number, total)).collect();
    let choice = select(&points, &Story::new().config);
    assert_eq!(choice.selected, Some(Iteration(3)));
    assert_eq!(round_half_up(choice.improvement_percentage.unwrap(), 2), "8.64");
    let degradation = choice.degradation.unwrap();
    assert_eq!(round_half_up(degradation.quality_loss.unwrap(), 2), "-7.95");
    assert_eq!(degradation.started, Some(Iteration(4)));
    assert_eq!(degradation.iterations_after_peak, 2);
    assert_eq!(degradation.pattern, DegradationPattern::OverRefinement);
}

#[test]
fn v4_a_broken_build_scores_well_and_is_not_acceptable() {
    for (works, expected) in [(true, "0.9495"), (false, "0.8495")] {
        let mut story = Story::new();
        story.record(tests(5, 3).build(true).size(3, 450));
        let now = tests(10, 0).build(works).lint(0, 1).coverage(85.0).size(3, 560).complexity(11.0);
        let verdict = story.record(now);
        assert_eq!(shown(q(&verdict)), expected);
        assert_eq!(verdict.acceptable, works);
    }
}

#[test]
fn v5_dropping_a_bad_metric_gains_nothing() {
    let mut story = Story::new();
    story.record(tests(5, 3).build(true));
    let with = story.record(tests(10, 0).build(true).coverage(40.0));
    assert_eq!(shown(q(&with)), "0.9063");
    let without = story.record(tests(10, 0).build(true));
    assert_eq!(shown(q(&without)), "1.0000");
    assert_eq!(without.from_previous.as_ref().unwrap().quality_score, Some(0.0));
    assert_eq!(rules(&without), ["metric_disappeared"]);
    assert_eq!(without.alerts[0].severity, Severity::High);
    assert_eq!(best(story.points(), &story.config).iteration, Some(Iteration(1)));
}

#[test]
fn v6_skipping_failing_tests_gains_nothing() {
    let mut story = Story::new();
    story.record(tests(8, 0));
    assert_eq!(shown(q(&story.record(tests(8, 2)))), "0.8625");
    let skipping = story.record(tests(8, 0).skipped(2));
    assert_eq!(shown(q(&skipping)), "0.8625");
    assert_eq!(shown_all(dimensions(&skipping)), ["80.0000", "100.0000", "80.0000", "-", "-"]);
}

#[test]
fn v7_deleting_the_failing_tests_raises_the_score_and_is_rolled_back() {
    let mut story = Story::new();
    story.record(tests(5, 3).coverage(65.0));
    story.record(tests(8, 2).coverage(75.0));
    let verdict = story.record(tests(8, 0).coverage(75.0));
    assert_eq!(shown(q(&verdict)), "0.9609");
    assert_eq!(verdict.alerts[0].severity, Severity::Critical);
    assert_eq!(verdict.recommendation.action, Action::Rollback);
    assert_eq!(verdict.recommendation.target, Some(Iteration(1)));
    assert_eq!(best(story.points(), &story.config).iteration, Some(Iteration(1)));
    assert_eq!(select(story.points(), &story.config).selected, Some(Iteration(1)));
}

#[test]
fn v7_with_names_each_deleted_test_is_a_finding() {
    let names = ["a::t1 P", "a::t2 P", "a::t3 P", "a::t4 P", "a::t5 P", "a::t6 P", "a::t7 P", "a::t8 P"];
    let mut before = names.to_vec();
    before.extend(["a::x F", "a::y F"]);
    let mut story = Story::new();
    story.record_named(tests(8, 2).coverage(75.0), &before);
    let verdict = story.record_named(tests(8, 0).coverage(75.0), &names);
    assert_eq!(rules(&verdict), ["test_count_decreased", "failing_test_removed", "failing_test_removed"]);
    let lost = verdict.from_previous.unwrap().tests_lost.unwrap();
    assert_eq!((lost.count, lost.names), (2, vec!["a::x".to_owned(), "a::y".to_owned()]));
}

#[test]
fn v8_size_counts_against_the_baseline() {
    let expected = [
        (540, "100.0000", "100.0000"),
        (585, "87.5000", "100.0000"),
        (675, "62.5000", "100.0000"),
        (700, "55.5556", "50.0000"),
        (900, "0.0000", "50.0000"),
        (300, "83.3333", "100.0000"),
    ];
    for (loc, appropriate, bloat) in expected {
        let mut story = Story::new();
        story.record(tests(8, 0).size(3, 450));
        let verdict = story.record(tests(8, 0).size(3, loc));
        assert_eq!(shown(component(&verdict, "loc_appropriate").unwrap()), appropriate, "{loc}");
        assert_eq!(shown(component(&verdict, "no_code_bloat").unwrap()), bloat, "{loc}");
    }
}

#[test]
fn v9_classes_follow_the_precedence() {
    let ten = || tests(10, 0).coverage(85.0).lint(0, 0);
    let many = |passed, failed| tests(passed, failed).coverage(85.0).lint(0, 0);
    let cases = [
        (ten(), ten(), Classification::Plateau, "band"),
        (ten(), ten().coverage(83.0), Classification::Plateau, "band"),
        (ten(), ten().coverage(82.9), Classification::Regression, "R3"),
        (many(40, 0), many(39, 1), Classification::Regression, "R5"),
        (many(100, 0), many(101, 0), Classification::Forward, "material_gain"),
        (ten(), ten().coverage(86.5), Classification::Plateau, "band"),
    ];
    for (before, now, class, rule) in cases {
        let mut story = Story::new();
        story.record(before);
        let verdict = story.record(now);
        assert_eq!((verdict.classification, verdict.class_rule.as_str()), (Some(class), rule));
    }
}

#[test]
fn v10_tests_written_before_the_code_are_explained() {
    let old =
        ["a::t0 P", "a::t1 P", "a::t2 P", "a::t3 P", "a::t4 P", "a::t5 P", "a::t6 P", "a::t7 P", "a::t8 P", "a::t9 P"];
    let mut new = old.to_vec();
    new.extend(["a::red1 F", "a::red2 F"]);

    let mut story = Story::new();
    story.record(tests(10, 0));
    let counters = story.record(tests(10, 2));
    assert_eq!((counters.classification, counters.class_rule.as_str()), (Some(Classification::Regression), "R2"));
    let points = counters.from_previous.unwrap().pass_rate_points.unwrap();
    assert_eq!(round_half_up(points, 2), "-16.67");

    let mut story = Story::new();
    story.record_named(tests(10, 0), &old);
    let named = story.record_named(tests(10, 2), &new);
    assert_eq!(named.classification, Some(Classification::Plateau));
    assert_eq!((named.alerts[0].status, named.alerts[0].severity), (Status::Explained, Severity::Low));
    assert_eq!(named.alerts[0].seed_severity, Some(Severity::High));
}

#[test]
fn v11_three_plateaus_without_a_gain_are_a_stall() {
    let mut story = Story::new();
    let standing = || tests(8, 2).coverage(75.0);
    for _ in 0..3 {
        assert_ne!(story.record(standing()).classification, Some(Classification::Stalled));
    }
    let verdict = story.record(standing());
    assert_eq!(verdict.classification, Some(Classification::Stalled));
    assert_eq!(verdict.base_class, Some(Classification::Plateau));
    assert_eq!((verdict.recommendation.action, verdict.recommendation.confidence), (Action::Stop, 0.75));
    for confidence in [0.88, 0.94] {
        let verdict = story.record(standing());
        assert_eq!(verdict.classification, Some(Classification::Stalled));
        assert_eq!(verdict.recommendation.confidence, confidence);
    }
}

#[test]
fn v13_a_suite_that_does_not_load_is_broken_not_deleted() {
    let mut story = Story::new();
    story.record(tests(73, 0));
    let units: Vec<String> = (0..7).map(|n| format!("tests.test_{n}")).collect();
    let units: Vec<&str> = units.iter().map(String::as_str).collect();
    let middle = story.record(tests(0, 0).units(&units));
    assert_eq!(rules(&middle), ["suite_not_run"]);
    assert_eq!((middle.alerts[0].severity, middle.alerts[0].reliability), (Severity::Critical, 0.90));
    assert_eq!(middle.classification, Some(Classification::Regression));
    assert_eq!(middle.class_rule, "suite_not_run");
    let testing = middle.metrics.testing.as_ref().unwrap();
    assert_eq!(testing.collection_errors, 7);
    assert_eq!((testing.test_count, testing.tests_passed, testing.pass_rate), (None, None, None));
    assert!(eligibility(&story.points()[1], story.points(), &story.config).is_err());
    let third = story.record(tests(73, 0));
    assert_eq!(third.from_previous.as_ref().unwrap().against["test_count"], Iteration(0));
    assert_eq!(third.classification, Some(Classification::Plateau));
    assert!(open(&third).is_empty() && third.alerts.is_empty());
}

/// Ten iterations whose metrics all differ, so that nothing repeats in them; the next is iteration 9 or 4.
fn changing(story: &mut Story, count: u64) {
    for number in 0..count {
        story.tree(100 + u8::try_from(number).unwrap());
        story.record(tests(20 + number, 0).coverage(50.0));
    }
}

#[test]
fn v22_a_state_that_comes_back_after_iteration_ten_ends_the_loop() {
    let mut story = Story::new();
    changing(&mut story, 9);
    let mut verdicts = Vec::new();
    for (letter, tree) in [(0, 1), (1, 2), (0, 1), (1, 2)] {
        story.tree(tree);
        verdicts.push(story.record(tests(40, letter).coverage(60.0)));
    }
    let looping = |at: usize| verdicts[at].alerts.iter().find(|alert| alert.rule == "infinite_loop");
    assert!(looping(0).is_none() && looping(1).is_none(), "iterations 9 and 10");
    assert_eq!(looping(2).unwrap().evidence[0], "kind: revisit");
    assert_eq!(looping(3).unwrap().evidence[0], "kind: cycle(2)");
    for verdict in &verdicts[2..] {
        let recommendation = &verdict.recommendation;
        assert_eq!((recommendation.action, recommendation.confidence), (Action::Stop, 0.75));
        assert_eq!(recommendation.because, ["infinite_loop"]);
        assert_eq!(recommendation.also[0], "escalate");
    }
}

#[test]
fn v22_a_confirmed_loop_is_not_acceptable_and_only_ends_the_loop() {
    let mut story = Story::new();
    changing(&mut story, 11);
    for tree in [1, 1] {
        story.tree(tree);
        story.record(tests(40, 0).coverage(60.0));
    }
    story.tree(1);
    let verdict = story.record(tests(40, 0).coverage(60.0));
    assert_eq!(verdict.alerts[0].status, Status::Confirmed);
    assert!(!verdict.acceptable && q(&verdict) > 0.7);
    assert_eq!(verdict.recommendation.because, ["infinite_loop"]);
    assert_eq!(verdict.recommendation.also, ["escalate", "stop:stuck_candidate"]);
    assert_eq!(verdict.recommendation.confidence, 0.94, "two earlier matches");
}

#[test]
fn v22_repeats_up_to_iteration_ten_are_left_to_the_stall() {
    let mut story = Story::new();
    changing(&mut story, 4);
    for _ in 0..3 {
        story.tree(1);
        let verdict = story.record(tests(40, 0).coverage(60.0));
        assert!(!rules(&verdict).contains(&"infinite_loop"));
    }
}

#[test]
fn v22_one_earlier_match_is_a_revisit() {
    let mut story = Story::new();
    changing(&mut story, 9);
    for (failed, tree) in [(0, 1), (3, 2), (5, 3), (0, 1)] {
        story.tree(tree);
        let verdict = story.record(tests(40, failed).coverage(60.0));
        if story.points().len() == 13 {
            let looping = verdict.alerts.iter().find(|alert| alert.rule == "infinite_loop").unwrap();
            let values = "same metrics as iteration 9: 40 tests, pass rate 100.0 %, coverage 60.0 %";
            assert_eq!(looping.evidence, ["kind: revisit", values]);
        }
    }
}

/// Baseline of 8 tests; then the best; then its two failing tests are deleted; then a point of coverage more.
fn deletion(accept: bool) -> (Story, Vec<highwater::analysis::Verdict>) {
    let mut story = Story::new();
    let mut verdicts = vec![story.record(tests(5, 3).coverage(65.0)), story.record(tests(8, 2).coverage(75.0))];
    verdicts.push(story.record(tests(8, 0).coverage(75.0)));
    if accept {
        story.accept("test_count_decreased");
    }
    verdicts.push(story.record(tests(8, 0).coverage(76.0)));
    (story, verdicts)
}

#[test]
fn v29_a_deletion_is_not_the_new_normal_one_iteration_later() {
    let (story, verdicts) = deletion(false);
    assert_eq!(rules(&verdicts[2]), ["test_count_decreased"]);
    assert_eq!(verdicts[2].recommendation.target, Some(Iteration(1)));
    let third = &verdicts[3];
    assert!(third.alerts.is_empty(), "no new alert");
    assert_eq!(open(third), ["test_count_decreased"]);
    assert_eq!(third.open_findings[0].closes_when, "there are 10 tests");
    assert!(eligibility(&story.points()[3], story.points(), &story.config).is_err());
    assert_eq!(best(story.points(), &story.config).iteration, Some(Iteration(1)));
    assert_eq!(third.recommendation.action, Action::Continue);
    // An open finding moves the confidence: a weight of .80, and .75 for the finding.
    assert_eq!(third.recommendation.confidence, 0.20);
}

#[test]
fn v29_accepting_the_deletion_makes_the_third_eligible() {
    let (story, verdicts) = deletion(true);
    assert!(open(&verdicts[3]).is_empty());
    assert_eq!(eligibility(&story.points()[3], story.points(), &story.config), Ok(()));
    assert_eq!(best(story.points(), &story.config).iteration, Some(Iteration(3)));
}

#[test]
fn v30_reports_that_are_cut_short_are_no_measurement() {
    let mut story = Story::new();
    story.record(tests(10, 0).coverage(84.0));
    story.record(tests(10, 0).coverage(85.0));
    story.record(tests(10, 0).coverage(85.0));
    let cut = story.record(Metrics::default());
    assert!(cut.recommendation.is_unmeasured());
    assert_eq!(cut.recommendation.action, Action::Escalate);
    assert_eq!((cut.classification, cut.base_class, cut.class_rule.as_str()), (None, None, "unmeasured"));
    assert_eq!(cut.metrics, Metrics::default());
    assert!(cut.alerts.is_empty());
    assert_eq!(best(story.points(), &story.config).iteration, Some(Iteration(1)));
    // Two plateaus stood before it; the next one is the third, so the run was neither broken nor extended.
    let next = story.record(tests(10, 0).coverage(85.0));
    assert_eq!(next.classification, Some(Classification::Stalled));
}
