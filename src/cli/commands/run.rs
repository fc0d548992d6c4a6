//! `run`: a wrapper that nobody notices. The command's bytes, their order and its exit code are unchanged; whatever
//! highwater has to say, its faults too, goes to stderr and changes nothing.

use std::ffi::OsString;
use std::time::Duration;

use super::record::export;
use crate::cli::args::LoopChoice;
use crate::cli::child::{self, Echo, NOT_RECORDED};
use crate::cli::context::{Context, WAIT};
use crate::cli::estimator;
use crate::cli::exit::Exit;
use crate::cli::inputs::measured_with;
use crate::disk;
use crate::engine::{Offer, Opening, Recorded, begin, new_name, opening, record};
use crate::error::{Error, Result};
use crate::store::Store;

pub fn run(context: &Context, choice: &LoopChoice, annotate: bool, command: &[OsString]) -> Result<Exit> {
    let ran = match child::run(&context.layout, command, None, Echo::Through) {
        Ok(ran) => ran,
        // As a shell answers for a command that is not there.
        Err(error) => {
            context.say(&format!("highwater: {}", error.said()));
            return Ok(Exit::Child(127));
        }
    };
    let code = ran.command.exit_code.and_then(|code| u8::try_from(code & 0xff).ok()).unwrap_or(1);
    if ran.is_interrupted {
        context.say(&format!("highwater: interrupted: {NOT_RECORDED}"));
        return Ok(Exit::Child(code));
    }
    let mut offer = Offer {
        discover: true,
        folder: context.folder.clone(),
        ask: Some(estimator::ask),
        started_at: ran.command.started_at,
        ..Offer::default()
    };
    measured_with(&mut offer, ran);
    match keep(context, choice, offer, WAIT) {
        Ok(recorded) => tell(context, &recorded, annotate),
        Err(error) => tell_fault(context, &error),
    }
    Ok(Exit::Child(code))
}

/// Records into the loop that is meant, or opens it; another writer is waited for at most `wait`.
pub fn keep(context: &Context, choice: &LoopChoice, offer: Offer, wait: Duration) -> Result<Recorded> {
    if let Some(store) = open_loop(context, choice)? {
        return context.with_patience(wait, |session| record(session, &store, offer));
    }
    let _alone = opening(&context.layout, wait)?;
    if let Some(store) = open_loop(context, choice)? {
        return context.with_patience(wait, |session| record(session, &store, offer));
    }
    let id = match &choice.id {
        Some(id) => id.clone(),
        None => new_name(&context.layout)?,
    };
    let opening = Opening { id, config: context.config()?.0.config, goal: None };
    context.with_patience(wait, |session| begin(session, &opening, offer))
}

/// The loop that goes on; `None` if one is to be opened.
pub fn open_loop(context: &Context, choice: &LoopChoice) -> Result<Option<Store>> {
    disk::check_store(&context.layout)?;
    match &choice.id {
        Some(id) => {
            let store = Store::new(&context.layout, id.clone());
            Ok(if store.numbers()?.is_empty() { None } else { Some(store) })
        }
        None => {
            let newest = crate::store::loops(&context.layout)?.into_iter().find(|one| !one.is_closed);
            Ok(newest.map(|one| Store::new(&context.layout, one.id)))
        }
    }
}

fn tell(context: &Context, recorded: &Recorded, annotate: bool) {
    let record = &recorded.record;
    let class = record.classification.map_or("not measured", |class| class.name());
    context.say(&format!(
        "highwater: {} iteration {} {class}, {} ({}), head {}",
        record.loop_id,
        record.iteration,
        record.recommendation.action.name(),
        record.recommendation.reason,
        recorded.head
    ));
    for fault in &recorded.faults {
        context.say(&format!("highwater: {}: {}", fault.place, fault.message));
    }
    if annotate {
        for alert in &record.alerts {
            context.say(&format!("highwater: {} {}: {}", alert.severity.name(), alert.rule, alert.message));
        }
    }
    export(context, recorded);
}

fn tell_fault(context: &Context, error: &Error) {
    context.say(&format!("highwater: nothing was recorded: {error}"));
    if let Some(help) = &error.help {
        context.say(&format!("highwater: {help}"));
    }
}
