//! What the loops of a work tree need of its objects, and what that takes.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::Path;

use super::loops::frozen_config;
use crate::disk::{self, layout::Layout};
use crate::error::Result;
use crate::model::config::Keep;
use crate::model::ids::Iteration;
use crate::snapshot::objects::Objects;
use crate::snapshot::reach::{self, Needs, Share};
use crate::snapshot::restore;
use crate::store::{Loop, Store, Stored, loops};

/// A loop's needs.
pub(super) struct LoopNeeds {
    /// Its objects.
    pub needs: Needs,
    /// Iterations whose files are not needed any more.
    pub let_go: Vec<Iteration>,
}

/// What a loop needs: every snapshot while it is open; those of `select.keep_after_finish` once it is closed, and of the
/// others only which files there were. Configs and test outcomes stay as the records do.
///
/// # Errors
/// Bad input if a record or the selection cannot be read: what it needs is unknown then.
pub(super) fn of_loop(layout: &Layout, store: &Store) -> Result<LoopNeeds> {
    let records = records(store)?;
    let kept = kept(layout, store, &records)?;
    let mut of_loop = LoopNeeds { needs: of_records(&records), let_go: Vec::new() };
    let Some(kept) = kept else { return Ok(of_loop) };
    of_loop.needs.snapshots.clear();
    for record in records.iter().map(|stored| &stored.record) {
        if kept.contains(&record.iteration) {
            of_loop.needs.snapshots.push(record.tree);
        } else {
            of_loop.needs.listings.push(record.tree);
            of_loop.let_go.push(record.iteration);
        }
    }
    Ok(of_loop)
}

/// All that the records name.
fn of_records(records: &[Stored]) -> Needs {
    let mut needs = Needs::default();
    for record in records.iter().map(|stored| &stored.record) {
        needs.snapshots.push(record.tree);
        needs.objects.push(record.config);
        needs.objects.extend(record.metrics.cases());
    }
    needs
}

/// The loops of a work tree, the newest first, and the disk that they take.
pub struct DiskUse {
    /// One a loop.
    pub loops: Vec<(Loop, LoopUse)>,
    /// Bytes of all packs of objects.
    pub packs_bytes: u64,
    /// Bytes of objects in them that neither a loop nor an undo needs; absent if that cannot be told.
    pub unneeded_bytes: Option<u64>,
    /// Bytes of packs that `verify --repair` set aside, since they are damaged.
    pub set_aside_bytes: u64,
}

/// The disk that one loop takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopUse {
    /// Bytes of its own folder: records, stored reports, what is derived.
    pub folder_bytes: u64,
    /// What its objects take; absent if that cannot be told, because records or directories are damaged.
    pub share: Option<Share>,
}

/// The loops of a work tree and the disk that they take.
///
/// # Errors
/// If a folder cannot be read. What is damaged makes a figure absent.
pub fn disk_use(layout: &Layout) -> Result<DiskUse> {
    let all = loops(layout)?;
    let objects = Objects::open(layout)?;
    let mut needs = Vec::new();
    for one in &all {
        needs.push(records(&Store::new(layout, one.id.clone())).map(|records| of_records(&records)));
    }
    // If one is unknown, what the others have alone and what they share is unknown too.
    let known: Result<Vec<Needs>> = needs.into_iter().collect();
    let usage = known.and_then(|needs| {
        let further = Needs { snapshots: restore::needed(layout)?, ..Needs::default() };
        reach::usage(&objects, &needs, &further)
    });
    let packs_bytes = reach::usage(&objects, &[], &Needs::default())?.packs_bytes;
    let (shares, unneeded_bytes) = match usage {
        Ok(usage) => (usage.shares.into_iter().map(Some).collect(), Some(usage.unneeded_bytes)),
        Err(_) => (vec![None; all.len()], None),
    };
    let mut uses = Vec::new();
    for (one, share) in all.into_iter().zip(shares) {
        let folder_bytes = disk::bytes_below(Store::new(layout, one.id.clone()).paths().dir())?;
        uses.push((one, LoopUse { folder_bytes, share }));
    }
    let is_set_aside = |name: &OsStr| (Path::new(name).extension()? == Layout::SET_ASIDE).then_some(());
    let set_aside_bytes = disk::list_lengths(&layout.objects(), is_set_aside)?.iter().map(|((), bytes)| bytes).sum();
    Ok(DiskUse { loops: uses, packs_bytes, unneeded_bytes, set_aside_bytes })
}

fn records(store: &Store) -> Result<Vec<Stored>> {
    let (records, damaged) = store.load_all()?;
    match damaged.into_iter().next() {
        None => Ok(records),
        Some(first) => {
            Err(first.error.help("which objects it needs is unknown; `highwater verify` says what is affected"))
        }
    }
}

/// The iterations whose snapshots are needed; `None` is every one.
fn kept(layout: &Layout, store: &Store, records: &[Stored]) -> Result<Option<BTreeSet<Iteration>>> {
    let (Some(selection), Some(newest)) = (store.selection()?, records.last()) else { return Ok(None) };
    let rules = frozen_config(layout, store, newest.record.config)?.config.select.keep_after_finish;
    if rules.contains(&Keep::All) {
        return Ok(None);
    }
    let of_rule = |rule: &Keep| match rule {
        Keep::Baseline => Some(Iteration::BASELINE),
        Keep::Best => selection.selected,
        // A record that came after the end is somebody's race, and no reason to lose anything.
        Keep::Last | Keep::All => Some(newest.record.iteration),
    };
    let mut kept: BTreeSet<Iteration> = rules.iter().filter_map(of_rule).collect();
    kept.extend(rules.contains(&Keep::Last).then_some(selection.last));
    kept.extend(records.iter().map(|stored| stored.record.iteration).filter(|iteration| *iteration > selection.last));
    Ok(Some(kept))
}
