//! `gate`: the last recommendation as an exit code and one line. Reads the newest record and the best tracker, nothing else.

use crate::cli::answers::{Best, Gate, VERSION};
use crate::cli::args::LoopChoice;
use crate::cli::context::Context;
use crate::cli::diagnostic::printable;
use crate::cli::exit::Exit;
use crate::cli::output;
use crate::engine::{Unnamed, best_so_far, newest};
use crate::error::Result;
use crate::model::trajectory::BestTracker;
use crate::report;

pub fn run(context: &Context, choice: &LoopChoice) -> Result<Exit> {
    let store = context.store(choice, Unnamed::OpenElseClosed)?;
    let stored = newest(&store)?;
    let record = &stored.record;
    let exit = Exit::of_recommendation(&record.recommendation);
    let best = best_so_far(&context.layout, &store, &stored)?;
    if context.json() {
        output::json(&Gate {
            schema_version: VERSION,
            loop_id: record.loop_id.clone(),
            iteration: record.iteration,
            classification: record.classification,
            recommendation: record.recommendation.clone(),
            best: best_answer(&best),
            for_agent: report::for_agent(record, &best),
        })?;
        return Ok(exit);
    }
    let best = best.iteration.map_or("no best yet".to_owned(), |best| format!("best {best}"));
    let reason = &record.recommendation.reason;
    output::out(&printable(&format!("{reason} (iteration {}, {best})", record.iteration)));
    output::out("\n");
    Ok(exit)
}

pub fn best_answer(best: &BestTracker) -> Option<Best> {
    best.iteration.map(|iteration| Best { iteration, quality_score: best.quality_score })
}
