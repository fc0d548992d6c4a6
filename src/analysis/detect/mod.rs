//! Detectors: each reads a window of iterations in order of recording, across rollbacks (ANALYSIS §3, §5).
//!
//! To add one: a file with a constant, a line in [`DETECTORS`], a story that trips it and one that just does not. A
//! detector is silent on histories shorter than its window.

pub mod estimate_stuck;
pub mod infinite_loop;
pub mod metric_cycling;
pub mod progress_stuck;
pub mod stalled;
pub mod stuck_candidate;

use super::measured;
use super::rule::{Rule, mode};
use crate::model::config::LoopConfig;
use crate::model::ids::{Iteration, ObjectId};
use crate::model::metrics::{Metrics, Signature};
use crate::model::progress::{EstimateMark, Progress};
use crate::model::steps::Snapshot;
use crate::model::trajectory::Point;
use crate::model::verdict::{Alert, Classification};

/// What a detector sees of one iteration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    /// Which.
    pub iteration: Iteration,
    /// What repeats in a cycle; absent if too little was measured.
    pub signature: Option<Signature>,
    /// Two iterations with one key had the same code.
    pub tree_key: ObjectId,
    /// Its class before the stall overlay.
    pub base_class: Option<Classification>,
    /// Its score, 0–1.
    pub score: Option<f64>,
    /// How it stands by its progress score.
    pub progress: Option<ProgressSeen>,
    /// How much of the goal was reached.
    pub estimate: Option<EstimateMark>,
}

/// What a detector sees of a progress score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProgressSeen {
    /// 0–1.
    pub score: f64,
    /// It is below the threshold.
    pub no_progress: bool,
    /// It is above it by other words alone.
    pub talk_only: bool,
    /// Iterations without progress in a row, this one among them.
    pub no_progress_count: u32,
    /// Iterations in a row that only talked, this one among them.
    pub talk_only_count: u32,
    /// Either is too many.
    pub is_stuck: bool,
}

impl ProgressSeen {
    /// The projection of a score.
    pub fn of(progress: &Progress) -> ProgressSeen {
        ProgressSeen {
            score: progress.score.get(),
            no_progress: progress.no_progress,
            talk_only: progress.talk_only,
            no_progress_count: progress.no_progress_count,
            talk_only_count: progress.talk_only_count,
            is_stuck: progress.is_stuck,
        }
    }
}

impl Seen {
    /// What is seen of the iteration being judged, progress and estimate apart.
    pub fn current(
        iteration: Iteration,
        metrics: &Metrics,
        tree_key: ObjectId,
        base_class: Option<Classification>,
        score: Option<f64>,
    ) -> Seen {
        let signature = Signature::of(metrics);
        Seen { iteration, signature, tree_key, base_class, score, progress: None, estimate: None }
    }
}

/// All iterations that could be measured, in order of recording, the current one last.
pub struct History<'a> {
    /// Never empty when a detector is asked.
    pub seen: Vec<Seen>,
    /// The iterations from 1 on as steps of the snapshot controller: the last `controller.history` of them.
    pub steps: Vec<Snapshot>,
    /// The latest iteration at which a metric that chooses in the score's place was better than ever before.
    pub gained: Option<Iteration>,
    /// Thresholds.
    pub config: &'a LoopConfig,
}

impl<'a> History<'a> {
    /// The earlier iterations and the current one. Those that could not be measured are passed over.
    pub fn new(
        points: &[Point],
        current: Seen,
        steps: Vec<Snapshot>,
        gained: Option<Iteration>,
        config: &'a LoopConfig,
    ) -> History<'a> {
        let earlier = measured(points).map(|point| Seen {
            iteration: point.iteration,
            signature: Signature::of(&point.metrics),
            tree_key: point.tree_key,
            base_class: point.base_class,
            score: point.score().map(crate::model::units::Score::get),
            progress: point.progress.as_ref().map(ProgressSeen::of),
            estimate: point.estimate,
        });
        History { seen: earlier.chain([current]).collect(), steps, gained, config }
    }

    /// The last `size` iterations; `None` if there are fewer.
    pub fn window(&self, size: usize) -> Option<&[Seen]> {
        self.seen.get(self.seen.len().checked_sub(size)?..)
    }
}

/// A rule that reads a window.
pub type Detector = Rule<fn(&History) -> Vec<Alert>>;

/// Every detector.
pub const DETECTORS: &[&Detector] = &[
    &infinite_loop::DETECTOR,
    &metric_cycling::DETECTOR,
    &stalled::DETECTOR,
    &stuck_candidate::DETECTOR,
    &progress_stuck::DETECTOR,
    &estimate_stuck::DETECTOR,
];

impl Detector {
    /// A finding of this detector about the last iteration of `history`.
    pub fn alert(&self, history: &History, message: impl Into<String>) -> Alert {
        self.at(history.seen.last().map_or(Iteration::BASELINE, |seen| seen.iteration), message)
    }
}

/// All findings of the detectors that are not off.
pub fn detect_all(history: &History) -> Vec<Alert> {
    let mut alerts = Vec::new();
    for detector in DETECTORS {
        if let Some(observe_only) = mode(history.config, detector.name) {
            let found = (detector.check)(history).into_iter();
            alerts.extend(found.map(|alert| Alert { observe_only: observe_only || alert.observe_only, ..alert }));
        }
    }
    alerts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Verdict;
    use crate::analysis::testing::{Story, config, tests};
    use crate::model::config::RuleMode;

    #[test]
    fn names_are_unlike_those_of_the_rules_and_thresholds_are_keys_of_the_config() {
        let defaults = serde_json::to_value(config()).unwrap();
        for detector in DETECTORS {
            assert!(crate::analysis::RULES.iter().all(|rule| rule.name != detector.name));
            for key in detector.thresholds {
                let pointer = format!("/{}", key.replace('.', "/"));
                assert!(defaults.pointer(&pointer).is_some(), "{} names {key}", detector.name);
            }
        }
    }

    #[test]
    fn a_window_is_there_only_when_it_is_full() {
        let config = config();
        let seen = |n| Seen {
            iteration: Iteration(n),
            signature: None,
            tree_key: ObjectId([0; 32]),
            base_class: None,
            score: None,
            progress: None,
            estimate: None,
        };
        let history = History { seen: (0..3).map(seen).collect(), steps: Vec::new(), gained: None, config: &config };
        assert_eq!(history.window(4), None);
        assert_eq!(history.window(2).unwrap()[0].iteration, Iteration(1));
    }

    /// The last verdict of a loop that is stuck in the detector's sense, and as far as it goes in no other.
    fn stuck(name: &str, mode: RuleMode) -> Verdict {
        let mut story = Story::new();
        if name == "stuck_candidate" {
            story.config.rules.insert("stalled".to_owned(), RuleMode::Off);
        }
        story.config.rules.insert(name.to_owned(), mode);
        let mut last = story.record(tests(8, 2));
        for n in 1..=12_u64 {
            let (passed, failed) = match name {
                "metric_cycling" if n <= 5 => (8 + n % 2, 2 - n % 2),
                "stalled" if n <= 3 => (8, 2),
                "stuck_candidate" if n <= 3 => (8, 2),
                "progress_stuck" | "estimate_stuck" if n <= 4 => (8 + n, 2),
                // After ten, a state of before comes back with its code.
                "infinite_loop" => (8 + [n, 9][usize::from(n == 12)], 2),
                _ => break,
            };
            match name {
                "progress_stuck" => story.say("the same words", 0),
                "estimate_stuck" => story.estimate(40.0),
                "stuck_candidate" => story.tree(1),
                "infinite_loop" => story.tree(u8::try_from([n, 9][usize::from(n == 12)]).unwrap()),
                _ => {}
            }
            last = story.record(tests(passed, failed));
        }
        last
    }

    #[test]
    fn each_meaning_of_stuck_tells_its_evidence_can_observe_and_can_be_off() {
        for detector in DETECTORS {
            let name = detector.name;
            let of = |verdict: &Verdict| verdict.alerts.iter().find(|alert| alert.rule == name).cloned();
            let is_cause = |verdict: &Verdict| verdict.recommendation.because.iter().any(|cause| cause == name);
            let on = stuck(name, RuleMode::On);
            let alert = of(&on).unwrap_or_else(|| panic!("{name} is not told: {:?}", on.alerts));
            assert!(alert.counts() && !alert.evidence.is_empty(), "{alert:?}");
            // Progress and estimate ask a person only where both are stuck.
            assert_eq!(is_cause(&on), !["progress_stuck", "estimate_stuck"].contains(&name), "{name}");
            let observed = stuck(name, RuleMode::Observe);
            assert!(of(&observed).is_some_and(|alert| alert.observe_only), "{name}");
            assert!(!is_cause(&observed), "{name}: {:?}", observed.recommendation);
            assert_ne!(observed.classification, Some(Classification::Stalled).filter(|_| name == "stalled"));
            assert_eq!(of(&stuck(name, RuleMode::Off)), None, "{name}");
        }
    }
}
