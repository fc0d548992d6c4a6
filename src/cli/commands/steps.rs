//! `steps`: a supervisor pipes its states, one a line, and gets an assessment a line. Nothing is written.

use crate::analysis::steps::{Run, why_we_stopped};
use crate::cli::args::LoopChoice;
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::lines;
use crate::disk::hash::id_of;
use crate::engine::{Unnamed, best_so_far, newest};
use crate::error::Result;
use crate::model::ids::{Iteration, LoopId};
use crate::model::steps::State;

pub fn run(context: &Context, choice: &LoopChoice) -> Result<Exit> {
    let config = context.config()?.0.config;
    if choice.id.is_some() {
        // A supervisor need not have a loop; but one that it names must be there.
        context.store(choice, Unnamed::OpenElseClosed)?;
    }
    let mut run = Run::default();
    lines::answer_each(std::io::stdin().lock(), |state: State| {
        let mut assessment = run.take(&state, &config, id_of);
        if assessment.stuck.is_some() {
            let best = best(context, choice);
            let best = best.as_ref().map(|(id, iteration)| (id, *iteration));
            assessment.why_we_stopped = why_we_stopped(&assessment, &state, best);
        }
        Ok(assessment)
    })
}

/// The best iteration so far of the loop that is meant, if there is one and it can be read: the answer is worth more than
/// this one fact in it.
fn best(context: &Context, choice: &LoopChoice) -> Option<(LoopId, Iteration)> {
    let store = context.store(choice, Unnamed::OpenElseClosed).ok()?;
    let tracker = best_so_far(&context.layout, &store, &newest(&store).ok()?).ok()?;
    Some((store.id().clone(), tracker.iteration?))
}
