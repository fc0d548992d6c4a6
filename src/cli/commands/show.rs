//! `show`: one iteration, whole.

use crate::cli::args::LoopChoice;
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::output;
use crate::engine::{Unnamed, iteration};
use crate::error::Result;
use crate::model::ids::Iteration;
use crate::report;

pub fn run(context: &Context, choice: &LoopChoice, number: Iteration) -> Result<Exit> {
    let store = context.store(choice, Unnamed::OpenElseClosed)?;
    let stored = iteration(&store, number)?;
    if context.json() {
        output::json(&stored.record)?;
    } else {
        output::out(&report::terminal::show(&stored.record, context.screen()));
    }
    Ok(Exit::Done)
}
