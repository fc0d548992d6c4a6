//! `report`: an iteration's number, `selection` or `summary`, as markdown.

use std::path::Path;

use crate::cli::args::LoopChoice;
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::output;
use crate::disk;
use crate::engine::{iteration_report, loop_so_far, selection_report};
use crate::error::{Error, Result};
use crate::report;

pub fn run(context: &Context, choice: &LoopChoice, what: &str, file: Option<&Path>) -> Result<Exit> {
    let store = context.store(choice, true)?;
    let text = match what {
        "selection" => selection_report(&context.layout, &store)?,
        "summary" => {
            let so_far = loop_so_far(&context.layout, &store)?;
            report::summary_markdown(store.id(), &so_far.points, &so_far.best, store.selection()?.as_ref())?
        }
        number => {
            let number = number.parse().map_err(|_| {
                Error::usage(format!("{number:?} is no report"))
                    .help("name an iteration by its number, or write selection or summary")
            })?;
            iteration_report(&context.layout, &store, number)?
        }
    };
    match file {
        Some(file) => disk::write_named(&context.folder.join(file), text.as_bytes())?,
        None => output::out(&text),
    }
    Ok(Exit::Done)
}
