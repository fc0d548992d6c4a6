//! `begin`: opens a loop.

use super::record::tell;
use crate::cli::args::{Inputs, LoopChoice};
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::inputs::offer;
use crate::disk;
use crate::engine::{Opening, begin, new_name};
use crate::error::{Error, Result};

/// A goal is text that people write.
const GOAL_MAX_BYTES: u64 = 1 << 20;

pub fn run(context: &Context, choice: &LoopChoice, goal: Option<&str>, inputs: &Inputs) -> Result<Exit> {
    let (effective, _) = context.config()?;
    disk::check_store(&context.layout)?;
    let id = match &choice.id {
        Some(id) => id.clone(),
        None => new_name(&context.layout)?,
    };
    let goal = goal.map(|goal| text_of(context, goal)).transpose()?;
    let offer = offer(context, inputs)?;
    let opening = Opening { id, config: effective.config, goal };
    let recorded = context.with_session(|session| begin(session, &opening, offer))?;
    tell(context, &recorded)?;
    Ok(Exit::Done)
}

/// TEXT, or the text of @FILE.
fn text_of(context: &Context, goal: &str) -> Result<String> {
    let Some(file) = goal.strip_prefix('@') else { return Ok(goal.to_owned()) };
    let path = context.folder.join(file);
    let bytes = disk::read_named(&path, GOAL_MAX_BYTES)?;
    let text = String::from_utf8(bytes).map_err(|_| Error::bad_input("the goal is not UTF-8 text").at(&path))?;
    Ok(text.trim().to_owned())
}
