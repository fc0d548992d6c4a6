//! The way back from a restore that has ended.

use chrono::{DateTime, Utc};

use super::amend::amend;
use super::beneath::Beneath;
use super::journal::{RestoreRecord, newest_record};
use super::manifest::Manifest;
use super::{LOCK_WAIT, Outcome, Request, begin, settle};
use crate::disk::layout::Layout;
use crate::error::{Error, Result};
use crate::model::config::{Capture, Limits};
use crate::model::ids::ObjectId;
use crate::snapshot::objects::Objects;

/// Takes the newest restore back: the tree becomes what it was before, with the files that were rescued from it. That
/// is a restore of its own, so a second undo gives the first restore's tree again.
///
/// # Errors
/// Bad input if nothing was restored yet, and as [`super::restore`].
pub fn undo(layout: &Layout, capture: &Capture, limits: &Limits, now: DateTime<Utc>) -> Result<Outcome> {
    let none = || {
        Error::bad_input("there is no restore to undo")
            .at(&layout.restores())
            .help("`highwater log` lists the iterations; `highwater restore` gives one back")
    };
    begin(layout, LOCK_WAIT, || {
        let record = newest_record(layout)?.ok_or_else(none)?;
        let target = tree_before(layout, &record)?;
        Ok(Request {
            target,
            paths: record.paths,
            origin: record.origin,
            undoes: Some(record.number),
            gave: Some(record.target),
            capture,
            limits,
            now,
        })
    })
}

/// The tree before a restore, with what was rescued from it.
fn tree_before(layout: &Layout, record: &RestoreRecord) -> Result<ObjectId> {
    let mut root = record.safety;
    for (folder, paths) in settle::rescued(layout, record.number)? {
        if paths.is_empty() {
            continue;
        }
        // Opened each time: what the folder before added is in a new pack.
        let objects = Objects::open(layout)?;
        let base = Manifest::load(&objects, &root)?;
        root = amend(layout, &objects, &base, &Beneath::open(&folder)?, paths.into_iter())?;
    }
    Ok(root)
}
