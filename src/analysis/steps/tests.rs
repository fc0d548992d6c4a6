use super::*;
use crate::analysis::testing::{Story, config, tests};
use crate::model::cases::Outcome;
use crate::model::config::RuleMode;
use crate::model::ids::Iteration;
use crate::model::steps::{LastCommand, StuckReason};
use crate::model::tests_support::digest as id_of;

/// A state with this tree, and everything else the same.
fn state(tree: &str) -> State {
    State {
        node: "coder".into(),
        tree: Some(tree.into()),
        diagnostics_hash: Some("d".into()),
        test_signature: Some("s".into()),
        ..State::default()
    }
}

/// The reason after each of these states.
fn reasons(config: &LoopConfig, states: &[State]) -> Vec<Option<StuckReason>> {
    let mut run = Run::default();
    states.iter().map(|state| run.take(state, config, id_of).stuck.map(|stuck| stuck.reason)).collect()
}

fn trees(trees: &str) -> Vec<State> {
    trees.chars().map(|tree| state(&tree.to_string())).collect()
}

const NONE: Option<StuckReason> = None;

#[test]
fn v27_one_state_three_times_while_steps_and_budget_rise() {
    let states = [1u32, 2, 3].map(|n| State {
        step: Some(n.into()),
        budget_used: Some(f64::from(n)),
        same_error_count: Some(n.into()),
        ..state("t1")
    });
    assert_eq!(reasons(&config(), &states), [NONE, NONE, Some(StuckReason::RepeatedState)]);
}

#[test]
fn v27_two_states_in_turns() {
    assert_eq!(reasons(&config(), &trees("ABAB")), [NONE, NONE, NONE, Some(StuckReason::Alternating)]);
    assert_eq!(reasons(&config(), &trees("ABCABC"))[5], Some(StuckReason::Alternating));
    assert_eq!(reasons(&config(), &trees("ABCABD")), [NONE; 6]);
}

#[test]
fn v27_five_failing_tests_for_seven_snapshots_of_other_code() {
    let states: Vec<State> =
        "ABCDEFG".chars().map(|tree| State { failing: Some(5), ..state(&tree.to_string()) }).collect();
    let mut expected = vec![NONE; 7];
    expected[6] = Some(StuckReason::NoImprovement);
    assert_eq!(reasons(&config(), &states), expected);
}

#[test]
fn v27_step_501() {
    let at = |step| reasons(&config(), &[State { step: Some(step), ..state("A") }]);
    assert_eq!(at(500), [NONE]);
    assert_eq!(at(501), [Some(StuckReason::MaxSteps)]);
}

#[test]
fn a_state_that_comes_back_counts_within_the_window_only() {
    let mut config = config();
    config.controller.window = 6;
    assert_eq!(reasons(&config, &trees("ABCADA"))[5], Some(StuckReason::RevisitedState));
    assert_eq!(reasons(&config, &trees("ABCADEA"))[6], None);
}

#[test]
fn fewer_failing_tests_or_fewer_errors_are_progress() {
    let run = |counts: &[(Option<u64>, Option<u64>)]| {
        let states: Vec<State> = counts
            .iter()
            .enumerate()
            .map(|(n, (failing, errors))| State { failing: *failing, errors: *errors, ..state(&n.to_string()) })
            .collect();
        reasons(&config(), &states).pop().unwrap()
    };
    let stuck = Some(StuckReason::NoImprovement);
    let long = |failing: Option<u64>, errors: Option<u64>, last: (Option<u64>, Option<u64>)| {
        let mut counts = vec![(failing, errors); 6];
        counts.push(last);
        run(&counts)
    };
    assert_eq!(long(Some(5), Some(3), (Some(5), Some(3))), stuck);
    assert_eq!(long(Some(5), Some(3), (Some(4), Some(3))), NONE);
    assert_eq!(long(Some(5), Some(3), (Some(6), Some(2))), NONE);
    assert_eq!(long(None, Some(3), (None, Some(3))), stuck);
    assert_eq!(long(Some(0), Some(0), (Some(0), Some(0))), NONE, "nothing is left to mend");
    assert_eq!(long(None, None, (None, None)), NONE, "nothing is known");
    assert_eq!(long(None, None, (Some(5), None)), NONE, "nothing to compare with");
}

#[test]
fn without_a_change_of_the_tree_nothing_was_tried() {
    // Diagnostics differ each time, so that no state repeats.
    let states: Vec<State> =
        (0..8).map(|n| State { failing: Some(5), diagnostics_hash: Some(n.to_string()), ..state("A") }).collect();
    assert_eq!(reasons(&config(), &states), [NONE; 8]);
}

#[test]
fn the_history_is_bounded_and_steps_are_counted_on() {
    let mut config = config();
    config.controller.history = 12;
    let mut run = Run::default();
    for n in 0..100u64 {
        let assessment = run.take(&state(&n.to_string()), &config, id_of);
        assert_eq!((assessment.step, assessment.status), (n + 1, StepStatus::Ok));
    }
    assert_eq!(run.history.len(), 12);
}

#[test]
fn a_rule_that_is_off_is_silent_and_one_that_observes_decides_nothing() {
    let mut config = config();
    config.rules.insert("repeated_state".into(), RuleMode::Observe);
    config.rules.insert("revisited_state".into(), RuleMode::Off);
    let mut run = Run::default();
    let last = (0..3).map(|_| run.take(&state("A"), &config, id_of)).last().unwrap();
    assert_eq!((last.status, last.terminal_status), (StepStatus::Ok, None));
    let observed: Vec<StuckReason> = last.observed.iter().map(|stuck| stuck.reason).collect();
    assert_eq!(observed, [StuckReason::RepeatedState]);
}

/// The suggestions of a run, one a state that was found stuck.
fn suggestions(config: &LoopConfig, states: &[State]) -> Vec<Suggestion> {
    let mut run = Run::default();
    states.iter().filter_map(|state| run.take(state, config, id_of).suggestion).collect()
}

#[test]
fn each_suggestion_is_given_once_and_then_the_run_is_over() {
    let mut config = config();
    config.controller.profiles = vec!["fast".into(), "strict".into()];
    let states = vec![State { profile: Some("fast".into()), ..state("A") }; 5];
    let mut run = Run::default();
    let told: Vec<_> = states.iter().map(|state| run.take(state, &config, id_of)).collect();
    assert_eq!((told[2].suggestion, told[2].profile.as_deref()), (Some(Suggestion::SwitchProfile), Some("strict")));
    assert_eq!((told[3].suggestion, told[3].profile.as_deref()), (Some(Suggestion::AbortWithExplanation), None));
    assert!(told[2..].iter().all(|one| one.terminal_status == Some(TerminalStatus::AbortedStuck)));
    // After the last profile there is none.
    let states = vec![State { profile: Some("strict".into()), ..state("A") }; 3];
    assert_eq!(suggestions(&config, &states), [Suggestion::AbortWithExplanation]);
}

#[test]
fn alternation_asks_for_a_wider_scope_where_that_is_allowed_and_else_for_a_person() {
    let mut config = config();
    assert_eq!(suggestions(&config, &trees("ABABA")), [Suggestion::EscalateToHuman, Suggestion::AbortWithExplanation]);
    config.controller.allow_widen = true;
    assert_eq!(suggestions(&config, &trees("ABABA")), [Suggestion::WidenScope, Suggestion::EscalateToHuman]);
}

#[test]
fn a_suggestion_of_long_ago_is_not_given_again() {
    let mut story = Story::new();
    story.config.controller.history = 6;
    let mut told = Vec::new();
    for tree in [9, 1, 2, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 10, 11] {
        story.tree(tree);
        story.record(tests(5, 5));
        told.extend(assess_iterations(story.points(), None, &story.config, id_of).map(|(now, _)| now.suggestion));
    }
    let given: Vec<_> = told.iter().enumerate().filter_map(|(at, one)| Some((at + 1, (*one)?))).collect();
    assert!(given.contains(&(4, Suggestion::EscalateToHuman)), "the first time in turns: {given:?}");
    assert_eq!(given.last(), Some(&(14, Suggestion::AbortWithExplanation)));
    assert_eq!(given.iter().filter(|(_, one)| *one == Suggestion::EscalateToHuman).count(), 1);
}

#[test]
fn what_cannot_be_mended_goes_to_a_person_first() {
    let last_command = Some(LastCommand {
        command: "npm ci".into(),
        exit_code: Some(1),
        output: Some("getaddrinfo ENOTFOUND x".into()),
    });
    let states = vec![State { last_command, ..state("A") }; 3];
    assert_eq!(suggestions(&config(), &states), [Suggestion::EscalateToHuman]);
    let long = State { step: Some(501), ..state("A") };
    assert_eq!(suggestions(&config(), &[long]), [Suggestion::AbortWithExplanation]);
}

#[test]
fn why_we_stopped_tells_the_facts_in_one_paragraph() {
    let tests = (0..7).map(|n| (format!("t{n}\x1b"), if n == 0 { Outcome::Passed } else { Outcome::Failed }));
    let output: String = (0..100).map(|n| format!("line {n}\n")).collect();
    let stuck = State {
        tests: Some(tests.collect()),
        last_command: Some(LastCommand { command: "npm test".into(), exit_code: Some(1), output: Some(output) }),
        ..state("A")
    };
    let mut run = Run::default();
    let config = config();
    let answers: Vec<_> = (0..3).map(|_| run.take(&stuck, &config, id_of)).collect();
    let id = "auth".parse().unwrap();
    assert_eq!(why_we_stopped(&answers[1], &stuck, None), None, "not stuck yet");
    assert_eq!(
        why_we_stopped(&answers[2], &stuck, Some((&id, Iteration(2)))).unwrap(),
        "The run is stuck at step 3 (repeated_state, steps 1 to 3): the last 3 steps ended in one state: node coder, 6 \
         failing. The last command, `npm test`, ended with exit code 1. Failing: t1\\x1b, t2\\x1b, t3\\x1b, t4\\x1b, \
         t5\\x1b and 1 more. The best iteration of loop auth is 2: `highwater restore --loop auth 2` brings it back. \
         Suggestion: end the run with this explanation."
    );
    let shown = answers[2].last_output.as_deref().unwrap();
    assert!(shown.starts_with("line 80\n") && shown.ends_with("line 99"), "{shown}");
    assert_eq!(answers[2].last_snapshots.len(), 3);
}

#[test]
fn rules_and_call_detectors_name_keys_of_the_config_and_no_name_twice() {
    let defaults = serde_json::to_value(config()).unwrap();
    let steps = RULES.iter().map(|rule| (rule.reason.name(), rule.thresholds));
    let calls = crate::analysis::monitor::DETECTORS.iter().map(|one| (one.issue_type.name(), one.thresholds));
    let rules = crate::analysis::RULES.iter().map(|rule| (rule.name, rule.thresholds));
    let detectors = crate::analysis::DETECTORS.iter().map(|one| (one.name, one.thresholds));
    let mut names = BTreeSet::new();
    for (name, thresholds) in steps.chain(calls).chain(rules).chain(detectors) {
        assert!(names.insert(name), "{name} is there twice");
        for key in thresholds {
            assert!(defaults.pointer(&format!("/{}", key.replace('.', "/"))).is_some(), "{name} names {key}");
        }
    }
}
