//! `status`: where the loop stands.

use std::path::PathBuf;

use super::gate::best_answer;
use super::record::warn_of_another_config;
use crate::cli::answers::{HookFaults, Status, VERSION};
use crate::cli::args::LoopChoice;
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::output;
use crate::engine::{Unnamed, best_so_far, newest};
use crate::error::Result;
use crate::model::trajectory::BestTracker;
use crate::model::verdict::Accepted;
use crate::report::{self, terminal::StatusView};
use crate::snapshot::restore;
use crate::store::{Store, Stored, faults};

/// A loop at its newest iteration.
pub struct LoopStanding {
    pub newest: Stored,
    pub best: BestTracker,
    is_closed: bool,
    pending_restore: Option<u64>,
    hook_faults: Option<HookFaults>,
    accepted: Vec<Accepted>,
}

impl LoopStanding {
    pub fn of(context: &Context, store: &Store) -> Result<LoopStanding> {
        let newest = newest(store)?;
        let pending = context.with_session(|session| restore::pending(session.layout, session.wait))?;
        Ok(LoopStanding {
            best: best_so_far(&context.layout, store, &newest)?,
            is_closed: store.is_closed()?,
            pending_restore: pending.map(|pending| pending.number),
            hook_faults: hook_faults(context, store),
            accepted: store.accepted_since(newest.record.iteration)?.0,
            newest,
        })
    }

    pub fn answer(&self) -> Status {
        let record = &self.newest.record;
        Status {
            schema_version: VERSION,
            loop_id: record.loop_id.clone(),
            is_closed: self.is_closed,
            iteration: record.iteration,
            head: self.newest.id,
            classification: record.classification,
            recommendation: record.recommendation.clone(),
            best: best_answer(&self.best),
            open_findings: record.open_findings.clone(),
            pending_restore: self.pending_restore,
            hook_faults: self.hook_faults.clone(),
        }
    }
}

pub fn run(context: &Context, choice: &LoopChoice) -> Result<Exit> {
    let store = context.store(choice, Unnamed::OpenElseClosed)?;
    let standing = LoopStanding::of(context, &store)?;
    // Hooks and `run` record without a word of it.
    if !standing.is_closed {
        warn_of_another_config(context, &store);
    }
    if context.json() {
        output::json(&standing.answer())?;
        return Ok(Exit::Done);
    }
    let record = &standing.newest.record;
    let others =
        crate::store::loops(&context.layout)?.into_iter().filter(|one| !one.is_closed && one.id != record.loop_id);
    let others: Vec<String> = others.map(|one| one.id.to_string()).collect();
    let view = StatusView {
        record,
        best: &standing.best,
        head: &standing.newest.id,
        is_closed: standing.is_closed,
        pending_restore: standing.pending_restore,
        hook_faults: standing.hook_faults.as_ref().map(|faults| (faults.count, faults.last.fault.as_str())),
        accepted: &standing.accepted,
        other_open_loops: &others,
    };
    output::out(&report::terminal::status(&view, context.screen()));
    Ok(Exit::Done)
}

/// What hooks swallowed, of this loop and of when there was none.
fn hook_faults(context: &Context, store: &Store) -> Option<HookFaults> {
    faults_in([context.layout.faults(), store.paths().faults()])
}

/// The faults of these logs together; `None` if there are none. A log that cannot be read tells nothing.
pub fn faults_in(logs: impl IntoIterator<Item = PathBuf>) -> Option<HookFaults> {
    let all: Vec<_> = logs.into_iter().flat_map(|log| faults::read(&log).unwrap_or_default()).collect();
    let count = u64::try_from(all.len()).unwrap_or(u64::MAX);
    all.into_iter().max_by_key(|fault| fault.at).map(|last| HookFaults { count, last })
}
