//! `watch`: a loop's records and estimates as they come.

use std::time::Duration;

use crate::cli::args::LoopChoice;
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::output;
use crate::engine::Unnamed;
use crate::error::Result;
use crate::model::ids::Iteration;
use crate::report;
use crate::store::{Damaged, Store};

/// How often the loop is looked at.
const TICK: Duration = Duration::from_millis(250);

pub fn run(context: &Context, choice: &LoopChoice) -> Result<Exit> {
    let store = context.store(choice, Unnamed::OpenElseClosed)?;
    let mut told: Option<Iteration> = None;
    loop {
        // Looked at before the records: one that appears between the two is still told.
        let is_closed = store.is_closed()?;
        if !tell_new(context, &store, &mut told)? || is_closed {
            return Ok(Exit::Done);
        }
        std::thread::sleep(TICK);
    }
}

/// Tells the records that came since; `false` once nobody reads any more.
fn tell_new(context: &Context, store: &Store, told: &mut Option<Iteration>) -> Result<bool> {
    for iteration in store.numbers()? {
        if told.is_some_and(|told| iteration <= told) {
            continue;
        }
        *told = Some(iteration);
        let record = match store.load(iteration) {
            Ok(stored) => stored.record,
            Err(error) => {
                context.say_left_out(&[Damaged { iteration, error }]);
                continue;
            }
        };
        let is_read = if context.json() {
            output::json_if_read(&record)?
        } else {
            output::out_if_read(&report::terminal::watched(&record))
        };
        if !is_read {
            return Ok(false);
        }
    }
    Ok(true)
}
