//! The goal comes no nearer.

use super::{Detector, History};
use crate::model::ids::Iteration;
use crate::model::progress::EstimateMark;
use crate::model::units::{Quantity, round_half_up};
use crate::model::verdict::{Alert, Severity};

/// S001's stuck rule.
pub const DETECTOR: Detector = Detector {
    name: "estimate_stuck",
    about: "three estimates of the progress toward the goal that hardly differ",
    meaning: "Whoever estimates sees no movement. Alone it moves nothing; together with progress_stuck a person is asked. \
              Estimates that are all fallbacks say nothing.",
    formula: "the last estimate.window estimates differ by less than estimate.min_spread percentage points, the latest is \
              below 100, and not all of them are fallbacks",
    source: "S001; the end at 100 and the fallbacks: beyond the seeds",
    severity: Severity::Medium,
    reliability: 0.25,
    thresholds: &["estimate.window", "estimate.min_spread"],
    check,
};

fn check(history: &History) -> Vec<Alert> {
    find(history).into_iter().collect()
}

fn find(history: &History) -> Option<Alert> {
    let now = history.seen.last()?.estimate.filter(|now| now.is_stuck == Some(true))?;
    let estimates = history.seen.iter().filter_map(|seen| Some((seen.iteration, seen.estimate?)));
    let estimates: Vec<(Iteration, EstimateMark)> = estimates.collect();
    let window = usize::try_from(history.config.estimate.window).unwrap_or(usize::MAX);
    let told = |(iteration, mark): &(Iteration, EstimateMark)| {
        format!("iteration {iteration}: {} % ({})", round_half_up(mark.progress_percent.get(), 1), mark.source.name())
    };
    let message = format!("The estimated progress stands still at {} %", round_half_up(now.progress_percent.get(), 1));
    let mut alert = DETECTOR.alert(history, message);
    alert.evidence = estimates.iter().skip(estimates.len().saturating_sub(window)).map(told).collect();
    alert.current = Some(Quantity::Real(now.progress_percent.get()));
    alert.threshold = Some(Quantity::Real(history.config.estimate.min_spread));
    Some(alert)
}

#[cfg(test)]
mod tests {
    use crate::analysis::testing::{Story, rules, tests};
    use crate::model::config::RuleMode;
    use crate::model::metrics::Metrics;
    use crate::model::verdict::Action;

    #[test]
    fn three_close_estimates_are_told_with_their_values_and_five_points_are_movement() {
        for (last, told) in [(44.0, true), (45.0, false)] {
            let mut story = Story::new();
            story.record(tests(8, 0));
            for (percent, passed) in [(40.0, 9), (42.0, 10)] {
                story.estimate(percent);
                story.record(tests(passed, 0));
            }
            story.estimate(last);
            let verdict = story.record(tests(11, 0));
            assert_eq!(rules(&verdict) == ["estimate_stuck"], told, "{last}");
            if told {
                let expected = ["iteration 1: 40.0 % (external)", "iteration 2: 42.0 % (external)"];
                assert_eq!(verdict.alerts[0].evidence[..2], expected);
                assert_eq!(verdict.recommendation.because, ["continue"], "alone it moves nothing");
            }
        }
    }

    #[test]
    fn an_iteration_that_could_not_be_measured_is_passed_over() {
        let mut story = Story::new();
        story.record(tests(8, 0));
        story.estimate(40.0);
        story.record(tests(9, 0));
        story.estimate(0.0);
        assert!(story.record(Metrics::default()).recommendation.is_unmeasured());
        for (percent, passed) in [(42.0, 10), (43.0, 11)] {
            story.estimate(percent);
            let verdict = story.record(tests(passed, 0));
            assert_eq!(rules(&verdict) == ["estimate_stuck"], passed == 11, "{percent}");
        }
    }

    #[test]
    fn together_with_progress_a_person_is_asked_unless_one_of_them_is_off() {
        for (off, because) in [(None, "progress_and_estimate_stuck"), (Some("estimate_stuck"), "continue")] {
            let mut story = Story::new();
            if let Some(off) = off {
                story.config.rules.insert(off.to_owned(), RuleMode::Observe);
            }
            story.record(tests(8, 0));
            for passed in 9..13 {
                story.say("the same words", 0);
                story.estimate(40.0);
                let recommendation = story.record(tests(passed, 0)).recommendation;
                let is_last = passed == 12;
                assert_eq!(recommendation.because[0], if is_last { because } else { "continue" }, "{passed}");
                assert_eq!(recommendation.action == Action::Escalate, is_last && off.is_none());
            }
        }
    }
}
