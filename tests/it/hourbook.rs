//! The recorded loop of `fixtures/loops/hourbook`, whose figures and scores were counted by a script of its own.

use std::path::Path;

use highwater::analysis::{best, eligibility, select};
use highwater::model::ids::Iteration;
use highwater::model::metrics::{CodebaseMetrics, CoverageMetrics, Metrics, QualityMetrics, TestMetrics};
use highwater::model::trajectory::DegradationPattern;
use highwater::model::units::Percent;
use highwater::model::verdict::{Action, Classification};

use crate::vectors::story::{Story, open, rules};

/// The figures of one iteration, and the score that the oracle gives it.
fn oracle(number: u32) -> (Metrics, f64) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/loops/hourbook/iterations");
    let text = std::fs::read_to_string(folder.join(format!("{number:03}/expected.json"))).unwrap();
    let figures: serde_json::Value = serde_json::from_str(&text).unwrap();
    let count = |key: &str| figures[key].as_u64().unwrap();
    let ran = count("passed") + count("failed") + count("errored");
    let testing = TestMetrics {
        test_count: Some(count("tests")),
        tests_passed: Some(count("passed")),
        tests_failed: Some(count("failed")),
        tests_errored: Some(count("errored")),
        tests_skipped: Some(count("skipped")),
        pass_rate: Percent::of(count("passed"), ran),
        ..TestMetrics::default()
    };
    let coverage = CoverageMetrics {
        percentage: Percent::of(count("lines_covered"), count("lines_total")).unwrap(),
        lines_covered: Some(count("lines_covered")),
        lines_total: Some(count("lines_total")),
    };
    let quality = QualityMetrics {
        lint_errors: Some(count("lint_errors")),
        lint_warnings: Some(count("lint_warnings")),
        error_count: Some(count("lint_errors")),
        errors_by_tool: [("ruff".to_owned(), count("lint_errors"))].into(),
        ..QualityMetrics::default()
    };
    let codebase = CodebaseMetrics {
        file_count: Some(count("files")),
        loc_total: Some(count("loc_nonblank")),
        complexity_score: None,
    };
    let metrics = Metrics {
        testing: Some(testing),
        coverage: Some(coverage),
        quality: Some(quality),
        codebase: Some(codebase),
        ..Metrics::default()
    };
    (metrics, figures["score"].as_f64().unwrap())
}

/// The class of each iteration, as the recording's README tells its story, and what decided it.
const STORY: [(Classification, &str); 12] = [
    (Classification::Baseline, "baseline"),
    (Classification::Forward, "material_gain"),
    (Classification::Forward, "material_gain"),
    (Classification::Plateau, "band"),
    (Classification::Regression, "R1"),
    (Classification::Forward, "material_gain"),
    (Classification::Regression, "R3"),
    (Classification::Forward, "material_gain"),
    (Classification::Forward, "material_gain"),
    (Classification::Plateau, "band"),
    (Classification::Regression, "R3,R4"),
    (Classification::Regression, "R4,R5"),
];

#[test]
fn scores_classes_and_the_best_are_those_of_the_oracle() {
    let mut story = Story::new();
    for (number, (class, rule)) in (0..).zip(STORY) {
        let (metrics, expected) = oracle(number);
        let verdict = story.record(metrics);
        let score = verdict.quality_score.as_ref().unwrap().total.get();
        assert!((score - expected).abs() < 1e-8, "iteration {number}: {score} is not {expected}");
        assert_eq!(verdict.classification, Some(class), "iteration {number}");
        assert_eq!(verdict.class_rule, rule, "iteration {number}");
        let so_far = best(story.points(), &story.config).iteration.unwrap().0;
        let expected_best = [0, 1, 2, 2, 2, 5, 5, 7, 8, 8, 8, 8];
        assert_eq!(so_far, expected_best[usize::try_from(number).unwrap()], "iteration {number}");
    }
}

#[test]
fn the_deletion_is_rolled_back_and_the_peak_is_selected() {
    let mut story = Story::new();
    let verdicts: Vec<_> = (0..12).map(|number| story.record(oracle(number).0)).collect();
    let trap = &verdicts[4];
    assert_eq!(rules(trap), ["test_count_decreased"]);
    assert_eq!((trap.recommendation.action, trap.recommendation.target), (Action::Rollback, Some(Iteration(2))));
    assert!(eligibility(&story.points()[4], story.points(), &story.config).is_err());
    assert!(open(&verdicts[5]).is_empty(), "the tests are back");
    assert_eq!(verdicts[11].recommendation.target, Some(Iteration(8)));

    let choice = select(story.points(), &story.config);
    assert_eq!((choice.selected, choice.last), (Some(Iteration(8)), Iteration(11)));
    let degradation = choice.degradation.unwrap();
    assert_eq!(degradation.pattern, DegradationPattern::OverRefinement);
    assert_eq!(degradation.started, Some(Iteration(9)));
    assert_eq!(degradation.iterations_after_peak, 3);
}
