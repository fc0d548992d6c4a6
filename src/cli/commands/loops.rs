//! `loops`: all loops of this work tree.

use crate::cli::answers::{LoopLine, Loops, VERSION};
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::output;
use crate::disk;
use crate::engine::{best_so_far, newest};
use crate::error::Result;
use crate::report;
use crate::store::{Store, loops};

pub fn run(context: &Context) -> Result<Exit> {
    let mut lines = Vec::new();
    if disk::check_store(&context.layout)? {
        for one in loops(&context.layout)? {
            let store = Store::new(&context.layout, one.id.clone());
            // A loop whose newest record is damaged is listed all the same: `verify` says what is wrong.
            let best = newest(&store).and_then(|stored| best_so_far(&context.layout, &store, &stored));
            lines.push(LoopLine {
                loop_id: one.id,
                is_closed: one.is_closed,
                newest: one.newest,
                best: best.ok().and_then(|best| best.iteration),
            });
        }
    }
    if context.jsonl() {
        lines.iter().try_for_each(output::json)?;
    } else if context.json() {
        output::json(&Loops { schema_version: VERSION, loops: lines })?;
    } else if lines.is_empty() {
        context.say("no loops here; `highwater begin -- CMD` opens one");
    } else {
        let rows: Vec<Vec<String>> = lines
            .iter()
            .map(|line| {
                let state = if line.is_closed { "closed" } else { "open" };
                let best = line.best.map_or("–".to_owned(), |best| best.to_string());
                vec![line.loop_id.to_string(), state.to_owned(), line.newest.to_string(), best]
            })
            .collect();
        output::out(&report::terminal::table(&["loop", "state", "newest", "best"], &rows, context.screen()));
    }
    Ok(Exit::Done)
}
