//! `status`: where the loop stands.

use super::gate::best_answer;
use crate::cli::answers::{Status, VERSION};
use crate::cli::args::LoopChoice;
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::output;
use crate::engine::{best_so_far, newest};
use crate::error::Result;
use crate::report::{self, terminal::StatusView};
use crate::snapshot::restore;

pub fn run(context: &Context, choice: &LoopChoice) -> Result<Exit> {
    let store = context.store(choice, true)?;
    let stored = newest(&store)?;
    let best = best_so_far(&context.layout, &store, &stored)?;
    let is_closed = store.is_closed()?;
    let pending = context.with_session(|session| restore::pending(session.layout, session.wait))?;
    let pending = pending.map(|pending| pending.number);
    let record = stored.record;
    if context.json() {
        output::json(&Status {
            schema_version: VERSION,
            loop_id: record.loop_id,
            is_closed,
            iteration: record.iteration,
            head: stored.id,
            classification: record.classification,
            recommendation: record.recommendation,
            best: best_answer(&best),
            open_findings: record.open_findings,
            pending_restore: pending,
        })?;
        return Ok(Exit::Done);
    }
    let others =
        crate::store::loops(&context.layout)?.into_iter().filter(|one| !one.is_closed && one.id != record.loop_id);
    let others: Vec<String> = others.map(|one| one.id.to_string()).collect();
    let view = StatusView {
        record: &record,
        best: &best,
        head: &stored.id,
        is_closed,
        pending_restore: pending,
        other_open_loops: &others,
    };
    output::out(&report::terminal::status(&view, context.screen()));
    Ok(Exit::Done)
}
