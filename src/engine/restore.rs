//! Putting an iteration's files back, the way back from that, and what both mean for the next record.

use std::collections::BTreeSet;
use std::path::Path;

use super::Session;
use super::loops::{config_in_force, frozen_config, no_iterations};
use super::record::no_such_iteration;
use super::verify::reachable;
use crate::config;
use crate::disk::layout::Layout;
use crate::error::{Error, Result};
use crate::model::ids::{Iteration, LoopId, TreePath};
use crate::snapshot::objects::Objects;
use crate::snapshot::restore::{self, Options, Origin, Outcome, Pending, RestoreRecord};
use crate::store::{Store, Stored};

/// What a restore is told beside the iteration.
#[derive(Clone, Copy, Default)]
pub struct Target<'a> {
    /// Only these; empty is the whole tree.
    pub paths: &'a [TreePath],
    /// An absent or empty directory instead of the work tree.
    pub into: Option<&'a Path>,
    /// Plan only.
    pub dry_run: bool,
}

/// Puts an iteration's files back into the work tree (or into a directory).
///
/// # Errors
/// Bad input if there is no such iteration, its snapshot is damaged, or the plan is refused; nothing was changed then.
pub fn restore_iteration(
    session: &Session<'_>,
    store: &Store,
    iteration: Iteration,
    target: Target<'_>,
) -> Result<Outcome> {
    let numbers = store.numbers()?;
    let Some(newest) = numbers.last().copied() else {
        return Err(no_iterations(store));
    };
    if !numbers.contains(&iteration) {
        return Err(no_such_iteration(store, iteration, newest));
    }
    let stored = store.load(iteration)?;
    if store.let_go()?.contains(&iteration) {
        refuse_if_gone(session.layout, store, &stored)?;
    }
    put_back(session, store, &stored, newest, target)
}

/// A snapshot that was let go may be whole all the same, as long as others need its files.
fn refuse_if_gone(layout: &Layout, store: &Store, stored: &Stored) -> Result<()> {
    let objects = Objects::open(layout)?;
    reachable(&objects, &stored.record.tree, &BTreeSet::new(), &mut BTreeSet::new()).map_err(|missing| {
        Error::bad_input(format!("iteration {} was let go by `highwater prune`", stored.record.iteration))
            .at(&store.paths().pruned())
            .because(format!("{missing}; nothing was changed"))
            .help("`highwater verify` lists the restorable ones; select.keep_after_finish says which ones prune leaves")
    })
}

pub(super) fn put_back(
    session: &Session<'_>,
    store: &Store,
    stored: &Stored,
    newest: Iteration,
    target: Target<'_>,
) -> Result<Outcome> {
    if let Some(imported) = &stored.record.imported {
        return Err(Error::bad_input(format!("iteration {} has no files to restore", stored.record.iteration))
            .at(&store.paths().record(stored.record.iteration))
            .because(format!("it was imported ({}); nothing was changed", imported.format))
            .help(match &imported.commit {
                Some(commit) => format!("the file that it comes from names the commit {commit}"),
                None => "only the tool that ran it can have kept them".to_owned(),
            }));
    }
    let config = frozen_config(session.layout, store, stored.record.config)?.config;
    let origin = Origin {
        loop_id: store.id().clone(),
        iteration: stored.record.iteration,
        last_recorded: newest,
        // Should the record of an earlier restore be damaged: that is no reason to keep an iteration from anybody.
        previous_parent: parent(session.layout, store.id(), newest).ok(),
    };
    restore::restore(
        session.layout,
        stored.record.tree,
        &Options {
            paths: target.paths,
            into: target.into,
            dry_run: target.dry_run,
            origin: Some(origin),
            capture: &config.capture,
            limits: &config.limits,
            now: session.now,
            wait: session.wait,
        },
    )
}

/// Deals with a restore that was interrupted, before anything is recorded: finished unasked if nobody has worked on
/// since. The notes say so.
///
/// # Errors
/// A failure (exit 1) if somebody has: a half-restored tree must not become an iteration.
pub fn settle(session: &Session<'_>) -> Result<Vec<String>> {
    let Some(pending) = restore::pending(session.layout, session.wait)? else { return Ok(Vec::new()) };
    refuse_if_changed(session.layout, &pending)?;
    let outcome = restore::resume(session.layout, session.wait)?;
    let mut notes = vec![format!("restore {} had been interrupted; it was finished first", pending.number)];
    let rescued = outcome.rescued_at.iter();
    notes.extend(rescued.map(|at| format!("a file that was changed while it was restored is kept: {at}")));
    Ok(notes)
}

/// Whether no restore is pending on which somebody has worked.
///
/// # Errors
/// As [`settle`].
pub(super) fn check(session: &Session<'_>) -> Result<()> {
    let pending = restore::pending(session.layout, session.wait)?;
    pending.map_or(Ok(()), |pending| refuse_if_changed(session.layout, &pending))
}

fn refuse_if_changed(layout: &Layout, pending: &Pending) -> Result<()> {
    if pending.safe_to_finish() {
        return Ok(());
    }
    Err(Error::failed("a restore was interrupted, and files were changed since")
        .at(&layout.restore_dir(pending.number))
        .because("the work tree may be half restored: it becomes no iteration, and nothing else was done")
        .help("`highwater restore --resume` finishes it, `highwater restore --abort` backs out of it"))
}

/// Reverts the last restore. What it replaces is kept as the restore's own loop keeps it.
///
/// # Errors
/// Bad input if there is none; otherwise as a restore.
pub fn undo(session: &Session<'_>) -> Result<Outcome> {
    settle(session)?;
    let last = restore::newest_record(session.layout)?.and_then(|record| record.origin);
    let config = match last {
        Some(origin) => config_in_force(session.layout, &Store::new(session.layout, origin.loop_id))?,
        None => config::defaults()?,
    };
    restore::undo(session.layout, &config.capture, &config.limits, session.now)
}

/// The iteration that the work tree came from: the newest one, unless another was restored whole since.
pub(super) fn parent(layout: &Layout, id: &LoopId, newest: Iteration) -> Result<Iteration> {
    let Some(last) = restore::newest_record(layout)? else { return Ok(newest) };
    let concerns = |origin: &Origin| origin.loop_id == *id && origin.last_recorded == newest;
    let (record, is_undone) = standing(layout, last)?;
    let Some(origin) = record.origin.filter(concerns) else { return Ok(newest) };
    // A part of a tree does not change where the rest of it came from.
    let is_rollback = !is_undone && record.paths.is_empty();
    Ok(if is_rollback { origin.iteration } else { origin.previous_parent.unwrap_or(newest) })
}

/// The restore that the newest one came to, once undos and undos of undos are followed, and whether it is undone.
fn standing(layout: &Layout, last: RestoreRecord) -> Result<(RestoreRecord, bool)> {
    let mut record = last;
    let mut is_undone = false;
    while let Some(number) = record.undoes {
        record = restore::read_record(layout, number)?;
        is_undone = !is_undone;
    }
    Ok((record, is_undone))
}
