//! History and measurements → verdict. Pure: same history, same config, same verdict, to the byte.
//!
//! [`assess`] is the table of contents of the judgement. A rule is a file in `alerts`, a detector one in `detect`.

mod alerts;
pub mod bodies;
mod change_points;
mod classify;
mod comparison;
mod confidence;
pub mod custom;
mod degradation;
mod delta;
mod detect;
pub mod estimate;
mod flakes;
mod history;
mod identity;
pub mod ledger;
pub mod monitor;
mod open;
mod primary;
pub mod progress;
mod recommend;
mod renames;
mod rule;
mod score;
mod select;
pub mod stats;
pub mod steps;
#[cfg(test)]
mod stories;
mod suite;
pub mod tamper;
#[cfg(test)]
pub(crate) mod testing;
mod words;

pub use alerts::{AlertRule, RULES};
pub use change_points::level_changes;
pub use comparison::{Comparison, removed_failing};
pub use delta::deltas_between;
pub use detect::{DETECTORS, Detector, History, ProgressSeen, Seen};
pub use flakes::{Doubt, SameTree, doubts};
pub use history::{find, previous_with};
pub use identity::{IdDiff, TestChanges, compare, forgive, id_diff};
pub use open::is_proven;
pub use primary::QUALITY_SCORE;
pub use renames::{base_name, spelling, split as split_id};
pub use rule::Rule;
pub use select::{Choice, best, eligibility, remeasured, select, select_without};
pub use words::{ACTIONS, CLASSES, Word};

use std::collections::BTreeMap;

use classify::{Class, classify};
use recommend::Facts;

use crate::model::activity::Activity;
use crate::model::calls::CallLine;
use crate::model::cases::TestCases;
use crate::model::config::LoopConfig;
use crate::model::edits::TestEdits;
use crate::model::ids::{Iteration, ObjectId};
use crate::model::lost_lines::LostLines;
use crate::model::metrics::{BuildStatus, Metrics};
use crate::model::progress::{EstimateMark, Progress, ProgressEstimate};
use crate::model::proof::TamperProof;
use crate::model::record::SameBody;
use crate::model::steps::TerminalStatus;
use crate::model::trajectory::Point;
use crate::model::units::{EPS, Quantity};
use crate::model::verdict::{
    Accepted, Action, Alert, Classification, Deltas, OpenFinding, QualityScore, Recommendation, Severity, Status,
};

/// The iteration that is to be judged.
#[derive(Clone, Debug)]
pub struct Current<'a> {
    /// Its number; later than all of the history.
    pub iteration: Iteration,
    /// The iteration whose tree it started from; absent for the baseline.
    pub parent: Option<Iteration>,
    /// As measured, or as stored when a record is judged again.
    pub metrics: Metrics,
    /// The root directory of its snapshot.
    pub tree: ObjectId,
    /// The snapshot without reports.
    pub tree_key: ObjectId,
    /// The outcomes by test id, if the reports named the tests.
    pub cases: Option<&'a TestCases>,
    /// The same of the latest ancestor that has them: [`previous_with`].
    pub previous_cases: Option<&'a TestCases>,
    /// Tests that are gone and new ones with the same source, as the record keeps them.
    pub same_bodies: &'a [SameBody],
    /// Tests that failed before and whose source is gone and not back, where only those that fail are named.
    pub lost_sources: &'a [String],
    /// What was done to tests, as the record keeps it.
    pub test_edits: Option<&'a TestEdits>,
    /// What old tests on new code told, as the record keeps it.
    pub proof: Option<&'a TamperProof>,
    /// Lines that did not change and do not run any more, as the record keeps them.
    pub lost_lines: Option<&'a LostLines>,
    /// Of newly failing tests, what is known of their runs on one tree. Not named is not known.
    pub same_tree: &'a BTreeMap<String, SameTree>,
    /// What `accept` was told since the record before.
    pub accepted: &'a [Accepted],
    /// The user's own words for the iteration; they decide nothing.
    pub label: Option<&'a str>,
    /// US dollars spent in this iteration.
    pub cost: Option<f64>,
    /// Tokens spent in this iteration.
    pub tokens: Option<u64>,
    /// What was said and done.
    pub work: Work<'a>,
    /// The hash of the crate, which lives below the disk.
    pub digest: steps::Digest,
}

/// What was said and done in an iteration, beside what was measured. Unknown is `None`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Work<'a> {
    /// What the agent said.
    pub output: Option<&'a str>,
    /// What it said in the latest iteration of which that is known; empty while it has not said anything.
    pub previous_output: Option<&'a str>,
    /// Its tool calls, by transcript.
    pub calls: Option<&'a [Vec<CallLine>]>,
    /// Lines inserted and deleted since the snapshot that it started from.
    pub changed_lines: Option<u64>,
    /// An estimate from outside.
    pub estimate: Option<&'a ProgressEstimate>,
    /// Whether an estimate is wanted where nobody outside made one.
    pub is_estimated: bool,
    /// The command ended with exit code 0.
    pub has_succeeded: bool,
}

/// What is said of an iteration.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Settled: as measured, but unknown where a broken suite makes a number meaningless.
    pub metrics: Metrics,
    /// Absent if nothing that enters it was measured.
    pub quality_score: Option<QualityScore>,
    /// The score reaches the acceptance level, the build did not fail, no critical finding is confirmed.
    pub acceptable: bool,
    /// Against the latest ancestors; absent for the baseline.
    pub from_previous: Option<Deltas>,
    /// Against iteration 0; absent for the baseline.
    pub from_baseline: Option<Deltas>,
    /// Absent if there was too little to judge.
    pub classification: Option<Classification>,
    /// The class under `stalled`; else the same.
    pub base_class: Option<Classification>,
    /// What decided the class.
    pub class_rule: String,
    /// What was said and changed, as a score; absent if neither is known.
    pub progress: Option<Progress>,
    /// What the tool calls add up to; absent if they are not known.
    pub activity: Option<Activity>,
    /// How much of the goal is reached; absent if nobody asked.
    pub estimate: Option<ProgressEstimate>,
    /// Set where the loop should end because the snapshot controller found it stuck.
    pub terminal_status: Option<TerminalStatus>,
    /// Findings raised here: of rules, then of detectors.
    pub alerts: Vec<Alert>,
    /// Losses of the lineage that are still open, those raised here among them.
    pub open_findings: Vec<OpenFinding>,
    /// What to do next.
    pub recommendation: Recommendation,
}

/// Judges one iteration. `points` are all earlier ones, in order of recording.
///
/// Detectors follow the class, not the other way round, because the stall reads classes and lies over the last of them.
pub fn assess(points: &[Point], current: &Current, config: &LoopConfig) -> Verdict {
    let suite = suite::state(points, current);
    let metrics = suite::settled(&current.metrics, suite);
    let score = score::score(&metrics, baseline_of(points, &metrics), &config.quality);
    let comparison = Comparison::new(points, current, &metrics, suite, config);
    let from_previous = delta::from_previous(&comparison, score.as_ref());
    let from_baseline = delta::from_baseline(&comparison, score.as_ref());
    let mut alerts = alerts::check_all(&comparison);
    let class = classify(&comparison, &alerts, from_previous.as_ref());
    let progress = progress_of(points, current, config);
    let estimate = estimate_of(points, current, &metrics, score.as_ref(), config);
    let seen = Seen {
        progress: progress.as_ref().map(ProgressSeen::of),
        estimate: estimate.as_ref().map(EstimateMark::of),
        ..seen(current, &metrics, &class, score.as_ref())
    };
    let steps = steps::of_iterations(points, current, &metrics, config);
    let gained = primary::last_gain(points, current.iteration, &metrics, config);
    let history = History::new(points, seen, steps, gained, config);
    alerts.extend(detected(&history, suite));
    let activity = current.work.calls.map(|calls| monitor::activity(calls, config));
    alerts.extend(activity.iter().flat_map(|activity| monitor::alerts(activity, current.iteration)));
    let open_findings = open::carry(&comparison, current, &alerts);
    let acceptable = is_acceptable(&metrics, score.as_ref(), &alerts, config);
    let facts = Facts {
        comparison: &comparison,
        current,
        score: score.as_ref(),
        acceptable,
        class: &class,
        alerts: &alerts,
        open: &open_findings,
        history: &history,
    };
    let recommendation = recommend::recommend(&facts);
    let (classification, class_rule) = overlaid(&class, &alerts);
    let is_stuck = alerts.iter().any(|alert| alert.rule == detect::stuck_candidate::DETECTOR.name && alert.counts());
    let terminal_status = (is_stuck && recommendation.action == Action::Stop).then_some(TerminalStatus::AbortedStuck);
    Verdict {
        progress,
        activity,
        estimate,
        terminal_status,
        quality_score: score,
        acceptable,
        from_previous,
        from_baseline,
        classification,
        base_class: class.base,
        class_rule,
        alerts,
        open_findings,
        recommendation,
        metrics,
    }
}

/// The iterations that could be measured: runs and windows pass over the others.
fn measured(points: &[Point]) -> impl DoubleEndedIterator<Item = &Point> {
    points.iter().filter(|point| !point.recommendation.is_unmeasured())
}

/// The metrics of iteration 0, which are its own while it is judged.
fn baseline_of<'m>(points: &'m [Point], metrics: &'m Metrics) -> &'m Metrics {
    history::baseline(points).map_or(metrics, |point| &point.metrics)
}

fn seen(current: &Current, metrics: &Metrics, class: &Class, score: Option<&QualityScore>) -> Seen {
    Seen::current(current.iteration, metrics, current.tree_key, class.base, score.map(|score| score.total.get()))
}

/// The progress score, counted on from the latest iteration that has one.
fn progress_of(points: &[Point], current: &Current, config: &LoopConfig) -> Option<Progress> {
    let evidence = progress::Evidence {
        is_first: current.iteration == Iteration::BASELINE,
        previous: current.work.previous_output,
        current: current.work.output,
        changed_lines: current.work.changed_lines,
    };
    // Of a baseline alone, S000 knows nothing but that it is the first.
    if evidence.is_first && evidence.current.is_none() {
        return None;
    }
    let before = measured(points).rev().find_map(|point| point.progress.as_ref());
    progress::recorded(progress::progress(&evidence, &config.progress)?, before, &config.progress)
}

/// The estimate from outside, else what stands in for it; `None` if none is wanted.
fn estimate_of(
    points: &[Point],
    current: &Current,
    metrics: &Metrics,
    score: Option<&QualityScore>,
    config: &LoopConfig,
) -> Option<ProgressEstimate> {
    let work = &current.work;
    let estimate = match work.estimate {
        Some(estimate) => estimate.clone(),
        None if work.is_estimated => {
            let checked = work.output.and_then(|output| {
                let (done, open) = (progress::checked_items(output), progress::unchecked_items(output));
                (done + open > 0).then(|| real(done) / real(done + open))
            });
            let terms = estimate::Terms {
                passing: score::passing(metrics, baseline_of(points, metrics)).map(|percent| percent / 100.0),
                checked,
                quality: score.map(|score| score.total.get()),
            };
            estimate::stand_in(&terms, work.has_succeeded)
        }
        None => return None,
    };
    let before = measured(points).filter_map(|point| point.estimate);
    let marks: Vec<EstimateMark> = before.chain([EstimateMark::of(&estimate)]).collect();
    Some(ProgressEstimate { is_stuck: estimate::is_stuck(&marks, &config.estimate), ..estimate })
}

/// The findings of the detectors; an iteration that could not be measured has no window.
fn detected(history: &History, suite: suite::Suite) -> Vec<Alert> {
    if suite == suite::Suite::Unmeasured { Vec::new() } else { detect::detect_all(history) }
}

/// The score reaches the acceptance level, the build did not fail, no critical finding is confirmed.
fn is_acceptable(metrics: &Metrics, score: Option<&QualityScore>, alerts: &[Alert], config: &LoopConfig) -> bool {
    let is_confirmed = |alert: &Alert| {
        alert.severity == Severity::Critical && alert.status == Status::Confirmed && !alert.observe_only
    };
    score.is_some_and(|score| score.total.get() >= config.quality.acceptance - EPS)
        && metrics.build_status() != Some(BuildStatus::Failed)
        && !alerts.iter().any(is_confirmed)
}

/// The class with the stall over it.
fn overlaid(class: &Class, alerts: &[Alert]) -> (Option<Classification>, String) {
    if alerts.iter().any(|alert| alert.rule == detect::stalled::DETECTOR.name && alert.counts()) {
        (Some(Classification::Stalled), detect::stalled::DETECTOR.name.to_owned())
    } else {
        (class.base, class.rule.clone())
    }
}

/// `1 run`, `2 runs`.
fn counted(count: impl Into<u64>, what: &str) -> String {
    let count = count.into();
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// A count as a real number.
fn real(count: u64) -> f64 {
    Quantity::from(count).as_f64()
}

#[cfg(test)]
mod tests {
    use crate::model::config::LoopConfig;

    /// The built-in defaults. Rooms on one floor do not know each other, so tests read the file itself.
    pub(super) fn defaults() -> LoopConfig {
        serde_yaml::from_str(include_str!("../config/default.yaml")).expect("the defaults load")
    }

    #[test]
    fn the_defaults_judge_by_weights_that_sum_to_one() {
        let weights = defaults().quality.weights;
        let sum: f64 = crate::model::verdict::Dimension::ALL.into_iter().map(|dimension| weights.of(dimension)).sum();
        assert!((sum - 1.0).abs() < 1e-12);
    }
}
