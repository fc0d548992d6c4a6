//! `log`: the trajectory, read from the records.

use crate::analysis::level_changes;
use crate::cli::answers::{Log, LogChanges, LogLine, VERSION};
use crate::cli::args::LoopChoice;
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::output;
use crate::engine::{Unnamed, loop_so_far};
use crate::error::{ErrorKind, Result};
use crate::model::ids::LoopId;
use crate::model::trajectory::{BestTracker, Point};
use crate::report;

pub fn run(context: &Context, choice: &LoopChoice) -> Result<Exit> {
    let store = context.store(choice, Unnamed::OpenElseClosed)?;
    let so_far = loop_so_far(&context.layout, &store)?;
    context.say_left_out(&so_far.damaged);
    if context.jsonl() {
        lines(&so_far.points, &so_far.best).iter().try_for_each(output::json)?;
    } else if context.json() {
        output::json(&answer(store.id(), &so_far.points, &so_far.best))?;
    } else {
        let selection = match store.selection() {
            // What the records tell is told all the same.
            Err(error) if error.kind == ErrorKind::BadInput => {
                context.say(&format!("note: {}", error.said()));
                None
            }
            other => other?,
        };
        output::out(&report::terminal::log(
            store.id(),
            &so_far.points,
            &so_far.best,
            &so_far.config.select.primary,
            selection.as_ref(),
            context.screen(),
        ));
    }
    Ok(Exit::Done)
}

/// Where the level of each metric changed for good.
pub fn changes(context: &Context, choice: &LoopChoice) -> Result<Exit> {
    let store = context.store(choice, Unnamed::OpenElseClosed)?;
    let so_far = loop_so_far(&context.layout, &store)?;
    context.say_left_out(&so_far.damaged);
    let metrics = level_changes(&so_far.points);
    if context.jsonl() {
        metrics.iter().try_for_each(output::json)?;
    } else if context.json() {
        output::json(&LogChanges { schema_version: VERSION, loop_id: store.id().clone(), metrics })?;
    } else {
        output::out(&report::terminal::level_changes(&metrics, context.screen()));
    }
    Ok(Exit::Done)
}

pub fn answer(loop_id: &LoopId, points: &[Point], best: &BestTracker) -> Log {
    Log { schema_version: VERSION, loop_id: loop_id.clone(), best: best.iteration, iterations: lines(points, best) }
}

pub fn lines(points: &[Point], best: &BestTracker) -> Vec<LogLine> {
    let line = |point: &Point| {
        let ineligible_because = best.ineligible.get(&point.iteration).cloned();
        LogLine {
            iteration: point.iteration,
            parent: point.parent,
            quality_score: point.score(),
            classification: point.classification,
            alerts: point.alerts.iter().map(|alert| alert.rule.clone()).collect(),
            test_count: point.metrics.test_count(),
            tests_passed: point.metrics.tests_passed(),
            pass_rate: point.metrics.pass_rate(),
            coverage_percentage: point.metrics.coverage(),
            error_count: point.metrics.error_count(),
            progress: point.progress.clone(),
            estimate: point.estimate,
            recommendation: point.recommendation.clone(),
            is_best: best.iteration == Some(point.iteration),
            eligible: ineligible_because.is_none(),
            ineligible_because,
        }
    };
    points.iter().map(line).collect()
}
