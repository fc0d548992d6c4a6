//! `begin`: opens a loop.

use super::record::tell;
use crate::cli::args::{Inputs, LoopChoice};
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::inputs::{offer, text_file};
use crate::disk;
use crate::engine::{Opening, begin};
use crate::error::Result;
use crate::model::figures::ReportKind;
use crate::model::record::Source;

/// What only `begin` takes.
pub struct Options {
    pub goal: Option<String>,
    pub progress_threshold: Option<f64>,
    pub stuck_after: Option<u32>,
}

pub fn run(context: &Context, choice: &LoopChoice, inputs: &Inputs, options: &Options) -> Result<Exit> {
    let mut config = context.config()?.0.config;
    if let Some(threshold) = options.progress_threshold {
        config.progress.threshold = threshold;
    }
    if let Some(stuck_after) = options.stuck_after {
        config.progress.stuck_after = stuck_after;
    }
    disk::check_store(&context.layout)?;
    let goal = options.goal.as_deref().map(|goal| text_of(context, goal)).transpose()?;
    let offer = offer(context, inputs)?;
    let (id, _alone) = context.new_loop(choice)?;
    let opening = Opening { id, config, goal };
    let recorded = context.with_session(|session| begin(session, &opening, offer))?;
    if inputs.command.is_empty() && inputs.reports.is_empty() && !inputs.metrics.is_empty() {
        say_what_lay_about(context, &recorded.record.sources);
    }
    tell(context, &recorded)?;
    Ok(Exit::Done)
}

/// Who gives metrics alone may not know that an old report of tests was found: then no later iteration would be measured.
fn say_what_lay_about(context: &Context, sources: &[Source]) {
    let found = sources.iter().find(|source| source.kind == Some(ReportKind::Test) && source.figures.is_some());
    if let Some(Source { path, .. }) = found {
        context.say(&format!(
            "note: {path} was found and counts, so each iteration has to write its tests anew; to leave them out, begin with \
             --skip test"
        ));
    }
}

/// TEXT, or the text of @FILE.
fn text_of(context: &Context, goal: &str) -> Result<String> {
    match goal.strip_prefix('@') {
        Some(file) => text_file(context, "the goal", file),
        None => Ok(goal.to_owned()),
    }
}
