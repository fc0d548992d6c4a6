//! The loop's states repeat, or get no better.

use super::{Detector, History};
use crate::analysis::steps;
use crate::model::steps::Stuck;
use crate::model::verdict::{Alert, Severity};

/// S004's controller, with the iterations from 1 on as its steps.
pub const DETECTOR: Detector = Detector {
    name: "stuck_candidate",
    about: "the snapshot controller finds the loop stuck; its steps are the iterations",
    meaning: "Code, tests and errors are as they were, or are worked at in vain. The loop should end: the report tells why, \
              what was run last, which tests fail and how to get the best iteration back. Each reason is a detector of its \
              own, and can be set to observe or off by its name.",
    formula: "the first of max_steps, repeated_state, alternating, revisited_state, no_improvement that fires over the \
              iterations from 1 on: `highwater explain` tells each",
    source: "S004",
    severity: Severity::Medium,
    reliability: 0.25,
    thresholds: &["controller.max_steps", "controller.repeats", "controller.window", "controller.patience"],
    check,
};

fn check(history: &History) -> Vec<Alert> {
    let found = steps::assess(&history.steps, history.config);
    let observed = found.observed.iter().map(|stuck| Alert { observe_only: true, ..alert(history, stuck) });
    found.stuck.iter().map(|stuck| alert(history, stuck)).chain(observed).collect()
}

fn alert(history: &History, stuck: &Stuck) -> Alert {
    let message = format!("The loop is stuck ({}): {}", stuck.reason.name(), stuck.detail);
    Alert {
        subject: Some(stuck.reason.name().to_owned()),
        evidence: vec![format!("iterations {} to {}", stuck.from_step, stuck.to_step)],
        ..DETECTOR.alert(history, message)
    }
}

#[cfg(test)]
mod tests {
    use crate::analysis::testing::{Story, rules, tests};
    use crate::model::config::RuleMode;
    use crate::model::steps::TerminalStatus;
    use crate::model::verdict::Action;

    /// The last verdict of a loop with these trees; the baseline's comes first.
    fn last(mut story: Story, trees: &[u8]) -> crate::analysis::Verdict {
        let mut verdicts = Vec::new();
        for tree in trees {
            story.tree(*tree);
            verdicts.push(story.record(tests(5, 5)));
        }
        verdicts.pop().unwrap()
    }

    #[test]
    fn three_equal_iterations_stop_the_loop_and_the_baseline_is_none_of_them() {
        let verdict = last(Story::new(), &[1, 1, 1]);
        assert!(!rules(&verdict).contains(&"stuck_candidate"), "two steps");
        let verdict = last(Story::new(), &[9, 1, 1, 1]);
        let alert = verdict.alerts.iter().find(|alert| alert.rule == "stuck_candidate").unwrap();
        assert_eq!(alert.subject.as_deref(), Some("repeated_state"));
        assert_eq!(alert.evidence, ["iterations 1 to 3"]);
        assert_eq!(verdict.recommendation.action, Action::Stop);
        assert_eq!(verdict.terminal_status, Some(TerminalStatus::AbortedStuck));
    }

    #[test]
    fn it_stops_where_nothing_is_stalled_and_a_reason_that_is_off_lets_it_go_on() {
        let story = |mode| {
            let mut story = Story::new();
            story.config.rules.insert("stalled".to_owned(), RuleMode::Off);
            story.config.rules.insert("alternating".to_owned(), mode);
            story
        };
        let verdict = last(story(RuleMode::On), &[9, 1, 2, 1, 2]);
        assert_eq!(verdict.recommendation.because, ["stuck_candidate", "alternating"]);
        assert_eq!((verdict.recommendation.confidence, verdict.recommendation.alternatives.len()), (0.75, 3));
        for (mode, told) in [(RuleMode::Observe, true), (RuleMode::Off, false)] {
            let verdict = last(story(mode), &[9, 1, 2, 1, 2]);
            assert_eq!(rules(&verdict).contains(&"stuck_candidate"), told);
            assert_eq!((verdict.recommendation.action, verdict.terminal_status), (Action::Continue, None));
        }
    }

    #[test]
    fn trees_that_come_back_with_fewer_failing_tests_are_no_circle() {
        let mut story = Story::new();
        let verdicts = [9, 1, 2, 1, 2].iter().zip(5..).map(|(tree, passed)| {
            story.tree(*tree);
            story.record(tests(passed, 10 - passed))
        });
        assert!(verdicts.collect::<Vec<_>>().iter().all(|verdict| rules(verdict).is_empty()));
    }
}
