//! `record`: one iteration.

use std::path::PathBuf;

use crate::cli::args::{Inputs, LoopChoice};
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::inputs::{offer, runner, scratch_folder};
use crate::cli::interrupt;
use crate::cli::output;
use crate::config;
use crate::disk;
use crate::engine::{Offer, Recorded, Unnamed, record};
use crate::error::{ErrorKind, Result};
use crate::model::ids::Iteration;
use crate::model::reruns::RerunCommand;
use crate::report;
use crate::store::Store;

/// What only `record` takes.
pub struct Options {
    pub exit_code: bool,
    pub anchor: Option<PathBuf>,
    pub asked: Asked,
}

/// What is asked beside the measuring.
#[derive(Default)]
pub struct Asked {
    pub parent: Option<Iteration>,
    pub rerun: Option<RerunCommand>,
    pub replay: Option<String>,
}

pub fn run(context: &Context, choice: &LoopChoice, inputs: &Inputs, options: Options) -> Result<Exit> {
    interrupt::watch_pending(&context.layout);
    let store = context.store(choice, Unnamed::Open)?;
    let recorded = measure(context, &store, inputs, options.asked)?;
    tell(context, &recorded)?;
    if let Some(anchor) = &options.anchor {
        let line = format!("{} {}:{}", store.id(), recorded.record.iteration, recorded.head);
        disk::append_line(&context.folder.join(anchor), line.as_bytes())?;
    }
    if !recorded.faults.is_empty() {
        return Ok(Exit::BadInput);
    }
    Ok(if options.exit_code { Exit::of_recommendation(&recorded.record.recommendation) } else { Exit::Done })
}

/// Measures, keeps and judges an iteration.
pub fn measure(context: &Context, store: &Store, inputs: &Inputs, asked: Asked) -> Result<Recorded> {
    // Looked at before the command runs, so that nobody waits for tests that cannot be recorded.
    check(context, store)?;
    warn_of_another_config(context, store);
    let Asked { parent, rerun, replay } = asked;
    let offer = Offer {
        parent,
        rerun,
        replay,
        run: Some(runner(context)),
        scratch: Some(Box::new(scratch_folder)),
        ..offer(context, inputs)?
    };
    context.with_session(|session| record(session, store, offer))
}

/// What would stop a record anyway.
pub fn check(context: &Context, store: &Store) -> Result<()> {
    context.with_session(|session| crate::engine::check_open(session, store))
}

/// The config is frozen at the baseline; who edits highwater.yaml later should know.
pub fn warn_of_another_config(context: &Context, store: &Store) {
    let (Ok((now, _)), Ok(Some(frozen))) = (context.config(), disk::read_if_present(&store.paths().config(), 1 << 20))
    else {
        return;
    };
    // As it was written then, mostly; reading it costs more.
    if config::to_yaml(&now.config).is_ok_and(|text| text.as_bytes() == frozen) {
        return;
    }
    let frozen = String::from_utf8(frozen).ok().and_then(|text| config::read(&text, "").ok());
    let Some(mut frozen) = frozen else { return };
    // What `begin` was told on its command line stands in no file.
    if !now.given.contains("progress.threshold") {
        frozen.progress.threshold = now.config.progress.threshold;
    }
    if !now.given.contains("progress.stuck_after") {
        frozen.progress.stuck_after = now.config.progress.stuck_after;
    }
    if now.config != frozen {
        context.say("note: the config was changed since the baseline; this loop goes on with the one frozen there");
    }
}

/// One screen (or the record as JSON) on stdout; what was passed over and what went wrong on stderr.
pub fn tell(context: &Context, recorded: &Recorded) -> Result<()> {
    for note in &recorded.notes {
        context.say(&format!("note: {note}"));
    }
    tell_passed_over(context, recorded);
    for fault in &recorded.faults {
        // `rejected` rather than `error`: the iteration was recorded all the same.
        let kind = match fault.kind {
            ErrorKind::Report(reject) => reject.code(),
            _ => "bad input",
        };
        context.say(&format!("rejected ({kind}): {}: {}", fault.place, fault.message));
        if let Some(help) = &fault.help {
            context.say(&format!("help: {help}"));
        }
    }
    if context.json() {
        output::json(&recorded.record)?;
    } else {
        let screen = context.screen();
        output::out(&report::terminal::recorded(&recorded.record, &recorded.best, &recorded.head, screen));
    }
    export(context, recorded);
    Ok(())
}

/// Tells a collector of it, where one is asked for. Last, so that nobody waits for the answer to be shown.
pub fn export(context: &Context, recorded: &Recorded) {
    if let Some(warning) = crate::cli::telemetry::export(context, &recorded.record) {
        context.say(&warning);
    }
}

fn tell_passed_over(context: &Context, recorded: &Recorded) {
    const SHOWN: usize = 5;
    for passed in recorded.passed_over.iter().take(SHOWN) {
        context.say(&format!("passed over: {}: {}", passed.name, passed.why));
    }
    if let Some(more) = recorded.passed_over.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        context.say(&format!("passed over: {more} more files"));
    }
}
