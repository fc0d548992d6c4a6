//! What is told in another way, and is the same, is judged the same: other units, another order, other names, the same
//! iteration once more.

use highwater::analysis::{RULES, Verdict, best, eligibility};
use highwater::ingest::{self, Details, Input};
use highwater::model::config::{Effect, MetricConfig};
use highwater::model::ids::Iteration;
use highwater::model::metrics::{CustomMetric, Direction, Metrics};
use highwater::model::verdict::{Action, Classification, Severity, Status};
use proptest::prelude::*;

use crate::properties::{any_metrics, runs};
use crate::vectors::story::{Story, tests};

/// Rule, severity and status.
type Found = (String, Severity, Status);

/// A verdict without the words, which name values and tests.
#[derive(Debug, PartialEq)]
struct Shape {
    class: (Option<Classification>, String),
    alerts: Vec<Found>,
    open: Vec<String>,
    advice: (Action, Option<Iteration>, f64),
    score: Option<f64>,
}

fn shape(verdict: &Verdict) -> Shape {
    let recommendation = &verdict.recommendation;
    Shape {
        class: (verdict.classification, verdict.class_rule.clone()),
        alerts: verdict.alerts.iter().map(|alert| (alert.rule.clone(), alert.severity, alert.status)).collect(),
        open: verdict.open_findings.iter().map(|finding| finding.alert.rule.clone()).collect(),
        advice: (recommendation.action, recommendation.target, recommendation.confidence),
        score: verdict.quality_score.as_ref().map(|score| score.total.get()),
    }
}

/// What is judged of a metric whose values, smallest effect and deviation are told in a unit so many times smaller.
fn measured(values: &[f64], scale: f64, sigma: Option<f64>, guard: bool) -> (Vec<Shape>, Option<Iteration>) {
    let mut story = Story::new();
    let declared = MetricConfig {
        direction: Some(Direction::Lower),
        min_effect: Some(Effect::Absolute(0.5 * scale)),
        sigma: sigma.map(|sigma| sigma * scale),
        guard,
        ..MetricConfig::default()
    };
    story.config.metrics.insert("latency".to_owned(), declared);
    story.config.select.primary = "latency".to_owned();
    let shapes = values.iter().map(|value| {
        let mut metrics = tests(8, 0);
        let metric = CustomMetric { value: Some(value * scale), ..CustomMetric::default() };
        metrics.custom.insert("latency".to_owned(), metric);
        shape(&story.record(metrics))
    });
    let shapes = shapes.collect();
    (shapes, best(story.points(), &story.config).iteration)
}

/// Tests by name, of which any may be missing: `(file, name, outcome)`.
type Suite = Vec<(usize, usize, usize)>;

fn suite() -> impl Strategy<Value = Suite> {
    let places = (0..2usize).flat_map(|file| (0..5usize).map(move |name| (file, name)));
    let places: Vec<(usize, usize)> = places.collect();
    let outcomes = prop::collection::vec(0..4usize, places.len());
    (prop::sample::subsequence(places, 1..=10), outcomes)
        .prop_map(|(places, outcomes)| places.into_iter().zip(outcomes).map(|((f, n), o)| (f, n, o)).collect())
}

const WORDS: [&str; 5] = ["reads_empty_rows", "reads_long_rows", "adds_hours", "adds_no_hours", "sums"];

/// The ids and counts of a suite whose files and words are called otherwise by a prefix, so that their order stays.
fn told(suite: &Suite, prefix: &str) -> (Metrics, Vec<String>) {
    let word = |name: usize| WORDS[name].split('_').map(|word| format!("{prefix}{word}")).collect::<Vec<_>>().join("_");
    let ids = suite.iter().map(|(file, name, outcome)| {
        format!("{prefix}f{file}::test_{} {}", word(*name), ["P", "P", "F", "S"][*outcome])
    });
    let count =
        |end: char| u64::try_from(suite.iter().filter(|(.., o)| ['P', 'P', 'F', 'S'][*o] == end).count()).unwrap();
    let mut metrics = tests(count('P'), count('F'));
    if let Some(testing) = &mut metrics.testing {
        testing.tests_skipped = Some(count('S'));
        testing.test_count = testing.test_count.map(|all| all + count('S'));
    }
    (metrics, ids.collect())
}

fn renamed(history: &[Suite], prefix: &str) -> Vec<Shape> {
    let mut story = Story::new();
    let each = history.iter().map(|suite| {
        let (metrics, ids) = told(suite, prefix);
        shape(&story.record_named(metrics, &ids.iter().map(String::as_str).collect::<Vec<_>>()))
    });
    each.collect()
}

/// What the rules that compare two iterations say, and what is open.
fn compared(verdict: &Verdict) -> (Option<Classification>, Vec<Found>, Vec<String>) {
    let Shape { mut alerts, open, .. } = shape(verdict);
    alerts.retain(|(rule, ..)| RULES.iter().any(|one| one.name == rule));
    (verdict.base_class, alerts, open)
}

/// A suite whose modules all load, or none. One that loads in part is open until its count is reached, which may be at the very
/// next iteration.
fn loaded(mut metrics: Metrics) -> Metrics {
    if let Some(testing) = metrics.testing.as_mut().filter(|testing| testing.test_count > Some(0)) {
        testing.collection_errors = 0;
        testing.failed_units.clear();
    }
    metrics
}

proptest! {
    #![proptest_config(runs(24))]

    #[test]
    fn another_unit_changes_no_verdict(
        values in prop::collection::vec(5.0f64..20.0, 2..14), exponent in -6i32..7, sigma in prop::option::of(0.1f64..1.0),
        guard in any::<bool>(),
    ) {
        let scaled = measured(&values, 10f64.powi(exponent), sigma, guard);
        prop_assert_eq!(measured(&values, 1.0, sigma, guard), scaled);
    }

    #[test]
    fn another_order_of_the_tests_is_the_same_report(
        order in Just((0..12u32).collect::<Vec<_>>()).prop_shuffle(), failing in 0..12u32,
    ) {
        let report = |order: &[u32]| {
            let one = |n: &u32| match *n {
                n if n == failing => format!("<testcase classname=\"a\" name=\"t{n}\"><failure/></testcase>"),
                n if n % 5 == 4 => format!("<testcase classname=\"a\" name=\"t{n}\"><skipped/></testcase>"),
                n => format!("<testcase classname=\"b{}\" name=\"t{n}\"/>", n % 2),
            };
            let cases: String = order.iter().map(one).collect();
            let text = format!("<testsuite name=\"u\">{cases}</testsuite>");
            let parsed = ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
            let Details::Tests(details) = parsed.details else { panic!("tests") };
            (parsed.figures, details.cases)
        };
        prop_assert_eq!(report(&order), report(&(0..12).collect::<Vec<_>>()));
    }

    #[test]
    fn other_names_for_all_tests_change_no_verdict(history in prop::collection::vec(suite(), 2..6)) {
        prop_assert_eq!(renamed(&history, ""), renamed(&history, "x"));
    }

    #[test]
    fn the_same_iteration_once_more_changes_nothing_between_the_others(
        history in prop::collection::vec(any_metrics(), 2..10), index in any::<prop::sample::Index>(),
    ) {
        let history: Vec<Metrics> = history.into_iter().map(loaded).collect();
        let again = index.index(history.len() - 1);
        let record = |twice: bool| {
            let mut story = Story::new();
            let mut verdicts = Vec::new();
            for (number, metrics) in history.iter().enumerate() {
                for _ in 0..if twice && number == again { 2 } else { 1 } {
                    story.tree(u8::try_from(number).unwrap());
                    verdicts.push(story.record(metrics.clone()));
                }
            }
            (story, verdicts)
        };
        let ((once, short), (twice, mut long)) = (record(false), record(true));
        let inserted = long.remove(again + 1);
        prop_assert!(matches!(inserted.base_class, None | Some(Classification::Plateau)), "{:?}", inserted.base_class);
        prop_assert!(compared(&inserted).1.is_empty(), "{:?}", inserted.alerts);
        for (number, (one, other)) in short.iter().zip(&long).enumerate() {
            prop_assert_eq!(compared(one), compared(other), "iteration {}", number);
            let moved = number + usize::from(number > again);
            let eligible = |story: &Story, at: usize| eligibility(&story.points()[at], story.points(), &story.config).is_ok();
            prop_assert_eq!(eligible(&once, number), eligible(&twice, moved));
        }
        let at = |best: Option<Iteration>, shift: u32| best.map(|best| best.0 + if best.0 > u32::try_from(again).unwrap() { shift } else { 0 });
        prop_assert_eq!(at(best(once.points(), &once.config).iteration, 1), at(best(twice.points(), &twice.config).iteration, 0));
    }
}
