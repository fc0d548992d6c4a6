//! A loop's iterations as the controller's steps, from 1: the baseline is where the run starts, and no step of it.

use super::snapshot::{Digest, make_snapshot};
use super::{Run, last};
use crate::analysis::Current;
use crate::model::config::LoopConfig;
use crate::model::ids::{Iteration, ObjectId};
use crate::model::metrics::{Metrics, QualityMetrics, TestMetrics};
use crate::model::steps::{Assessment, LastCommand, Snapshot, State, Suggestion};
use crate::model::trajectory::Point;

/// The node that every iteration ran.
const NODE: &str = "iteration";

/// The earlier iterations and the current one, the last `controller.history` of them. Those that could not be measured
/// are passed over.
pub fn of_iterations(points: &[Point], current: &Current, metrics: &Metrics, config: &LoopConfig) -> Vec<Snapshot> {
    let kept = usize::try_from(config.controller.history).unwrap_or(usize::MAX);
    let steps: Vec<&Point> = steps(points).collect();
    let now = (current.iteration != Iteration::BASELINE).then(|| state(current.iteration, current.tree_key, metrics));
    let states = last(&steps, kept.saturating_sub(1)).iter().map(|point| state_of(point)).chain(now);
    states.map(|state| make_snapshot(&state, 0, current.digest)).collect()
}

/// The controller's word on the last of these iterations, and the state that it was given. `ran` is the command that was
/// run there and what it printed. `None` if there is no step.
pub fn assess_iterations(
    points: &[Point],
    ran: Option<LastCommand>,
    config: &LoopConfig,
    digest: Digest,
) -> Option<(Assessment, State)> {
    let steps: Vec<&Point> = steps(points).collect();
    let (now, earlier) = steps.split_last()?;
    let now = State { last_command: ran, ..state_of(now) };
    let kept = usize::try_from(config.controller.history).unwrap_or(usize::MAX);
    let recent = last(earlier, kept.saturating_sub(1)).iter().map(|point| make_snapshot(&state_of(point), 0, digest));
    let assessment = Run::after(recent.collect()).take(&now, config, digest);
    if matches!(assessment.suggestion, None | Some(Suggestion::AbortWithExplanation)) {
        return Some((assessment, now));
    }
    // A suggestion is given once in a run: only where one fits, the whole run tells whether it was given before.
    let mut run = Run::default();
    for point in earlier {
        run.take(&state_of(point), config, digest);
    }
    Some((run.take(&now, config, digest), now))
}

fn steps(points: &[Point]) -> impl Iterator<Item = &Point> {
    points.iter().filter(|point| point.iteration != Iteration::BASELINE && !point.recommendation.is_unmeasured())
}

fn state_of(point: &Point) -> State {
    state(point.iteration, point.tree_key, &point.metrics)
}

fn state(iteration: Iteration, tree_key: ObjectId, metrics: &Metrics) -> State {
    State {
        node: NODE.to_owned(),
        step: Some(iteration.0.into()),
        tree: Some(tree_key.to_string()),
        diagnostics_hash: metrics.quality.as_ref().map(findings),
        test_signature: metrics.testing.as_ref().map(counts),
        failing: metrics.testing.as_ref().and_then(failing),
        errors: metrics.error_count(),
        ..State::default()
    }
}

/// What the tools counted: what they said is not in the trajectory.
fn findings(quality: &QualityMetrics) -> String {
    let QualityMetrics { lint_errors, lint_warnings, type_errors, build_errors, errors_by_tool, .. } = quality;
    format!("{lint_errors:?} {lint_warnings:?} {type_errors:?} {build_errors:?} {errors_by_tool:?}")
}

/// The counts of tests: their names are not in the trajectory.
fn counts(tests: &TestMetrics) -> String {
    let TestMetrics { tests_passed, tests_failed, tests_errored, tests_skipped, collection_errors, .. } = tests;
    format!("{tests_passed:?} {tests_failed:?} {tests_errored:?} {tests_skipped:?} {collection_errors}")
}

fn failing(tests: &TestMetrics) -> Option<u64> {
    tests.tests_failed?.checked_add(tests.tests_errored?)
}
