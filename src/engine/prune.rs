//! Dropping the snapshots that no loop needs any more. Records, reports and what was measured stay.

use super::{Session, needs, settle};
use crate::disk;
use crate::disk::lock::Lock;
use crate::error::{Error, Result};
use crate::model::ids::{Iteration, LoopId};
use crate::snapshot::prune::{self, Pruned};
use crate::snapshot::reach::Needs;
use crate::snapshot::restore;
use crate::store::{Store, loops};

/// What pruning came to.
#[derive(Clone, Debug, Default)]
pub struct Pruning {
    /// In the packs.
    pub pruned: Pruned,
    /// The iterations of closed loops whose snapshots nobody needs; loops without any are left out.
    pub let_go: Vec<(LoopId, Vec<Iteration>)>,
    /// What a person should know.
    pub notes: Vec<String>,
}

/// Drops the objects that neither a loop nor the undo of the newest restore needs. An open loop needs all of its
/// snapshots, a closed one those that its `select.keep_after_finish` names.
///
/// # Errors
/// A failure if the store's lock cannot be had alone, or a restore is pending on which somebody has worked; bad input if
/// what is needed cannot be told, because a record or a directory is damaged. Nothing was dropped then.
pub fn prune(session: &Session<'_>, dry_run: bool) -> Result<Pruning> {
    let layout = session.layout;
    if !disk::check_store(layout)? {
        return Err(Error::bad_input("no loop has been begun here, so there is nothing to prune").at(&layout.store()));
    }
    let notes = if dry_run { Vec::new() } else { settle(session)? };
    let lock = Lock::exclusive(&layout.lock(), session.wait)?;
    let mut all = Needs { snapshots: restore::needed(layout)?, ..Needs::default() };
    let mut let_go = Vec::new();
    for one in loops(layout)? {
        let store = Store::new(layout, one.id.clone());
        let of_loop = needs::of_loop(layout, &store).map_err(nothing_dropped)?;
        all.snapshots.extend(of_loop.needs.snapshots);
        all.listings.extend(of_loop.needs.listings);
        all.objects.extend(of_loop.needs.objects);
        if !of_loop.let_go.is_empty() {
            let_go.push((one.id, of_loop.let_go));
        }
    }
    let prepared = prune::prepare(layout, &lock, &all).map_err(nothing_dropped)?;
    let pruned = prepared.pruned();
    if !dry_run {
        // Whole files lie there, if a restore was killed before it began.
        restore::sweep(layout)?;
    }
    if !dry_run && pruned.dropped_objects > 0 {
        // Noted first: a snapshot that is gone without a note is damage.
        for (id, iterations) in &let_go {
            let store = Store::new(layout, id.clone());
            store.sweep(store.newest_number()?);
            store.note_let_go(iterations)?;
        }
        prepared.carry_out()?;
    }
    Ok(Pruning { pruned, let_go, notes })
}

fn nothing_dropped(error: Error) -> Error {
    let cause = error.cause.clone().map_or(String::new(), |cause| format!("{cause}; "));
    error.because(format!("{cause}nothing was dropped"))
}
