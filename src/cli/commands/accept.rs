//! `accept`: closes open findings on purpose.

use crate::cli::answers::{Accept, VERSION};
use crate::cli::args::LoopChoice;
use crate::cli::context::{Context, now};
use crate::cli::exit::Exit;
use crate::cli::output;
use crate::engine::{Unnamed, accept};
use crate::error::{Error, Result};

pub fn run(context: &Context, choice: &LoopChoice, rules: &[String], reason: &str) -> Result<Exit> {
    if reason.trim().is_empty() {
        return Err(Error::usage("the reason is empty").help("say in a few words why the loss is meant"));
    }
    let store = context.store(choice, Unnamed::Open)?;
    context.with_session(|session| accept(session, &store, rules, reason.trim(), now()))?;
    if context.json() {
        output::json(&Accept {
            schema_version: VERSION,
            loop_id: store.id().clone(),
            accepted: rules.to_vec(),
            reason: reason.trim().to_owned(),
        })?;
    } else {
        output::out(&format!("accepted: {}; the next record closes it and every report tells it\n", rules.join(", ")));
    }
    Ok(Exit::Done)
}
