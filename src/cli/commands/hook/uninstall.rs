//! `hook uninstall`: they come out again, to the byte.

use super::change;
use super::kept::Before;
use super::places;
use crate::cli::args::HookChange;
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::error::Result;
use crate::integrations::install::{File, State};

pub fn run(context: &Context, asked: &HookChange) -> Result<Exit> {
    let targets = places::targets(context, &asked.agent)?;
    let plans = change::plan(context, &targets, asked.scope, &without)?;
    if !asked.dry_run {
        plans.iter().flatten().try_for_each(change::Plan::write_uninstalled)?;
    }
    change::tell(context, asked, &targets, &plans, false)?;
    Ok(Exit::Done)
}

/// The file as it was, if nobody has touched it since; else as it is, without our part.
fn without(file: &File, text: Option<&str>, before: Option<&Before>) -> Result<Option<String>> {
    let Some(text) = text else { return Ok(None) };
    match before {
        Some(before) if before.is_untouched => Ok(before.text.clone()),
        _ if file.content.state(Some(text))? == State::Absent => Ok(Some(text.to_owned())),
        _ => {
            let left = file.content.uninstall(text)?;
            // What we made, and nobody added anything to.
            let was_made = before.is_some_and(|before| before.text.is_none());
            Ok(left.filter(|left| !(was_made && file.content.is_bare(left))))
        }
    }
}
