//! Whether the tests could be measured at all (ANALYSIS §4, §5 row 0): a suite that does not load is broken, not empty,
//! and a report that could not be read is no report of deleted tests.

use super::Current;
use super::history::{baseline, previous_with};
use crate::model::metrics::{BuildStatus, Metrics, TestMetrics};
use crate::model::trajectory::Point;

/// What is known of this iteration's test run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suite {
    /// Tests ran, or nobody ever ran any.
    Judged,
    /// Nothing was collected, or nothing was built to collect it from, although an ancestor had tests.
    NotRun,
    /// The baseline had tests, there is no report now, and nothing says why.
    Unmeasured,
}

/// What is known of the current test run.
pub fn state(history: &[Point], current: &Current) -> Suite {
    let has_failed_to_build = current.metrics.build_status() == Some(BuildStatus::Failed);
    match &current.metrics.testing {
        None if has_failed_to_build && had_tests(history, current) => Suite::NotRun,
        None if had_tests_at_baseline(history) && !has_failed_to_build => Suite::Unmeasured,
        Some(testing) if collected_nothing(testing) && had_tests(history, current) => Suite::NotRun,
        _ => Suite::Judged,
    }
}

/// The metrics as they are judged and stored: under [`Suite::NotRun`] the counts are unknown, not zero.
pub fn settled(metrics: &Metrics, suite: Suite) -> Metrics {
    let mut metrics = metrics.clone();
    if suite == Suite::NotRun {
        let testing = metrics.testing.get_or_insert_default();
        *testing = TestMetrics {
            collection_errors: testing.collection_errors,
            failed_units: std::mem::take(&mut testing.failed_units),
            ..TestMetrics::default()
        };
    }
    metrics
}

/// Also true of settled metrics, so that judging a stored record again comes to the same.
pub fn collected_nothing(testing: &TestMetrics) -> bool {
    // A text that names failures alone does not tell how many tests there are.
    testing.test_count.map_or(testing.tests_failed.is_none(), |tests| tests == 0)
}

fn had_tests_at_baseline(history: &[Point]) -> bool {
    baseline(history).is_some_and(|point| point.metrics.test_count().is_some())
}

fn had_tests(history: &[Point], current: &Current) -> bool {
    previous_with(history, current.parent, |metrics| metrics.test_count().is_some())
        .is_some_and(|point| point.metrics.test_count() > Some(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::{Story, rules, tests, with_build};

    #[test]
    fn no_tests_before_and_none_now_is_an_empty_suite() {
        let mut story = Story::new();
        story.record(tests(0, 0));
        let verdict = story.record(tests(0, 0));
        assert_eq!(verdict.metrics.test_count(), Some(0));
        assert!(verdict.alerts.is_empty());
    }

    #[test]
    fn a_failed_build_says_why_there_is_no_report() {
        for (works, unmeasured) in [(true, true), (false, false)] {
            let mut story = Story::new();
            story.record(with_build(tests(8, 0), true));
            let verdict = story.record(with_build(Metrics::default(), works));
            assert_eq!(verdict.recommendation.is_unmeasured(), unmeasured);
            assert_eq!(rules(&verdict).contains(&"build_broken"), !works);
        }
    }

    #[test]
    fn what_does_not_build_has_no_suite_that_runs() {
        let mut story = Story::new();
        // Of a language that is not compiled, nothing says that the build works.
        story.record(tests(8, 0));
        let verdict = story.record(with_build(Metrics::default(), false));
        assert_eq!(rules(&verdict), ["suite_not_run"]);
        assert_eq!(verdict.alerts[0].message, "No test was collected (the build failed)");
        assert!(rules(&story.record(with_build(Metrics::default(), false))).is_empty(), "it is open already");
        assert!(story.record(tests(8, 0)).open_findings.is_empty());
        // There were none before.
        let mut story = Story::new();
        story.record(Metrics::default());
        assert!(rules(&story.record(with_build(Metrics::default(), false))).is_empty());
    }

    #[test]
    fn a_loop_that_never_had_tests_is_not_unmeasured_without_them() {
        let mut story = Story::new();
        story.record(Metrics::default());
        assert!(!story.record(Metrics::default()).recommendation.is_unmeasured());
    }
}
