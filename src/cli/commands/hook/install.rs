//! `hook install`: highwater's hooks go into the agent's config.

use super::change::{self, Plan};
use super::places;
use crate::cli::args::HookChange;
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::error::Result;

pub fn run(context: &Context, asked: &HookChange) -> Result<Exit> {
    let targets = places::targets(context, &asked.agent)?;
    let plans = change::plan(context, &targets, asked.scope, &|file, text, _| file.content.install(text).map(Some))?;
    plans.iter().flatten().try_for_each(Plan::check_kept)?;
    if !asked.dry_run {
        plans.iter().flatten().try_for_each(|plan| plan.write_installed(context))?;
    }
    change::tell(context, asked, &targets, &plans, true)?;
    change::warn_of_path(context);
    Ok(Exit::Done)
}
