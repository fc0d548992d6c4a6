//! The agent says and changes nothing new.

use super::{Detector, History, ProgressSeen};
use crate::model::ids::Iteration;
use crate::model::units::{Quantity, round_half_up};
use crate::model::verdict::{Alert, Severity};

/// S000's stuck rule.
pub const DETECTOR: Detector = Detector {
    name: "progress_stuck",
    about: "three iterations in a row with hardly any progress in what was said and changed",
    meaning: "By its output and its edits the agent stands still, or only talks. Alone it moves nothing; together with \
              estimate_stuck a person is asked. Iterations whose output is not known neither count nor save.",
    formula: "progress score < progress.threshold in progress.stuck_after iterations in a row; those above it by other \
              words alone are passed over, and progress.talk_only_after of them in a row are stuck too",
    source: "S000; talking alone: beyond the seeds",
    severity: Severity::Medium,
    reliability: 0.25,
    thresholds: &["progress.threshold", "progress.stuck_after", "progress.talk_only_after"],
    check,
};

fn check(history: &History) -> Vec<Alert> {
    find(history).into_iter().collect()
}

fn find(history: &History) -> Option<Alert> {
    let now = history.seen.last()?.progress.filter(|now| now.is_stuck)?;
    let only_talks = now.no_progress_count < history.config.progress.stuck_after;
    let (count, message) = if only_talks {
        (now.talk_only_count, format!("Other words and no work for {} iterations", now.talk_only_count))
    } else {
        (now.no_progress_count, format!("No progress in output and edits for {} iterations", now.no_progress_count))
    };
    let counted = |one: &ProgressSeen| if only_talks { one.talk_only } else { one.no_progress };
    let run = history.seen.iter().rev().filter_map(|seen| Some((seen.iteration, seen.progress?)));
    let run = run.filter(|(_, one)| counted(one)).take(usize::try_from(count).unwrap_or(usize::MAX));
    let told = |(iteration, one): (Iteration, ProgressSeen)| {
        format!("iteration {iteration}: progress {}", round_half_up(one.score, 3))
    };
    let mut evidence: Vec<String> = run.map(told).collect();
    evidence.reverse();
    let mut alert = Alert { evidence, ..DETECTOR.alert(history, message) };
    alert.current = Some(Quantity::Real(now.score));
    alert.threshold = Some(Quantity::Real(history.config.progress.threshold));
    Some(alert)
}

#[cfg(test)]
mod tests {
    use crate::analysis::Verdict;
    use crate::analysis::testing::{Story, rules, tests};
    use crate::model::config::RuleMode;

    /// A loop in which the tests get on, so that nothing but the output is stuck.
    fn loop_of(outputs: &[(&str, u64)]) -> Vec<Verdict> {
        record(Story::new(), outputs)
    }

    fn record(mut story: Story, outputs: &[(&str, u64)]) -> Vec<Verdict> {
        story.record(tests(8, 0));
        let mut passed = 8;
        let each = outputs.iter().map(|(output, lines)| {
            passed += 1;
            story.say(output, *lines);
            story.record(tests(passed, 0))
        });
        each.collect()
    }

    #[test]
    fn the_third_iteration_without_progress_is_told_with_its_values_and_the_second_is_not() {
        let verdicts = loop_of(&[("a", 80), ("a", 20), ("a", 0), ("a", 49)]);
        assert!(rules(&verdicts[2]).is_empty());
        let alert = &verdicts[3].alerts[0];
        assert_eq!(
            (alert.rule.as_str(), alert.message.as_str()),
            ("progress_stuck", "No progress in output and edits for 3 iterations")
        );
        assert_eq!(
            alert.evidence,
            ["iteration 2: progress 0.060", "iteration 3: progress 0.000", "iteration 4: progress 0.147"]
        );
        assert_eq!(verdicts[3].recommendation.because, ["continue"], "alone it moves nothing");
        assert!(rules(&loop_of(&[("a", 80), ("a", 20), ("a", 0), ("a", 50)])[3]).is_empty(), "0.15 is progress");
    }

    #[test]
    fn six_iterations_of_other_words_are_told_and_five_are_not() {
        let talk = ["b", "c", "d", "e", "f", "g"].map(|word| (word, 0));
        let outputs: Vec<(&str, u64)> = [("a", 80)].into_iter().chain(talk).collect();
        let verdicts = loop_of(&outputs);
        assert!(rules(&verdicts[5]).is_empty());
        let alert = &verdicts[6].alerts[0];
        assert_eq!(alert.message, "Other words and no work for 6 iterations");
        assert_eq!(alert.evidence.len(), 6);
        assert_eq!(alert.evidence[0], "iteration 2: progress 0.300");
    }

    #[test]
    fn it_can_observe_and_be_off() {
        for (mode, told) in [(RuleMode::Observe, true), (RuleMode::Off, false)] {
            let mut story = Story::new();
            story.config.rules.insert("progress_stuck".to_owned(), mode);
            let verdicts = record(story, &[("a", 80), ("a", 0), ("a", 0), ("a", 0)]);
            assert_eq!(!rules(&verdicts[3]).is_empty(), told);
            assert!(verdicts[3].alerts.iter().all(|alert| alert.observe_only));
            assert!(verdicts[3].progress.as_ref().unwrap().is_stuck, "the fact stands");
        }
    }
}
