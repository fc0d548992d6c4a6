//! Which loop a command is about, and the config that was frozen at its baseline.

use std::time::Duration;

use crate::config;
use crate::disk::{self, layout::Layout, lock::Lock};
use crate::error::{Error, ErrorKind, Result};
use crate::model::config::LoopConfig;
use crate::model::ids::{LoopId, ObjectId};
use crate::snapshot::objects::Objects;
use crate::store::{Loop, Store, loops};

/// Which loop is meant where none is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unnamed {
    /// The newest open one: something is to be recorded in it, or it is to be closed.
    Open,
    /// The newest open one, else the newest: it is only read.
    OpenElseClosed,
}

/// The loop that is meant: the one that was named, else as `unnamed` says.
///
/// # Errors
/// Bad input if there is none.
pub fn resolve(layout: &Layout, named: Option<&LoopId>, unnamed: Unnamed) -> Result<Store> {
    if let Some(id) = named {
        let store = Store::new(layout, id.clone());
        if store.opened()?.is_none() {
            return Err(Error::bad_input(format!("no loop named {id}"))
                .at(store.paths().dir())
                .because(known(&loops(layout)?))
                .help("`highwater loops` lists the loops of this work tree; `highwater begin --loop ID` opens one"));
        }
        return Ok(store);
    }
    let all = loops(layout)?;
    let newest_open = all.iter().find(|one| !one.is_closed);
    match newest_open.or(all.first().filter(|_| unnamed == Unnamed::OpenElseClosed)) {
        Some(one) => Ok(Store::new(layout, one.id.clone())),
        None => Err(Error::bad_input("no open loop here")
            .at(layout.root())
            .because(known(&all))
            .help("`highwater begin` opens one")),
    }
}

fn known(all: &[Loop]) -> String {
    if all.is_empty() {
        return "there are no loops".into();
    }
    let names: Vec<String> =
        all.iter().take(5).map(|one| format!("{}{}", one.id, if one.is_closed { " (closed)" } else { "" })).collect();
    format!(
        "there {}: {}{}",
        if all.len() == 1 { "is" } else { "are" },
        names.join(", "),
        if all.len() > 5 { ", …" } else { "" }
    )
}

/// Held by who opens a loop whose name was not given: of several at once, each finds what the one before it opened. Another
/// one is waited for at most `wait`.
///
/// # Errors
/// If the store cannot be made; a failure that names the holder if it is still held after `wait`.
pub fn opening(layout: &Layout, wait: Duration) -> Result<Lock> {
    disk::open_store(layout)?;
    disk::make_directory(&layout.cache())?;
    Lock::exclusive(&layout.opening(), wait)
}

/// The first free name of `loop-001`, `loop-002`, …; it stays free as long as [`opening`] is held.
///
/// # Errors
/// If the store cannot be read.
pub fn new_name(layout: &Layout) -> Result<LoopId> {
    let taken = disk::list(&layout.store())?;
    (1u32..)
        .map(|number| format!("loop-{number:03}"))
        .find(|name| !taken.iter().any(|other| other.to_str() == Some(name)))
        .ok_or_else(|| Error::bug("every loop name is taken"))?
        .parse()
}

/// A loop's config, as it was when the loop was opened.
pub struct Frozen {
    /// In force.
    pub config: LoopConfig,
    /// Its text.
    pub text: String,
    /// BLAKE3 of the text.
    pub id: ObjectId,
    /// `config.yaml` is not what the records name, so the stored object was read.
    pub was_edited: bool,
}

/// What is said of a loop without records: whoever opened it was stopped before the baseline was there, or somebody removed
/// them.
pub fn no_iterations(store: &Store) -> Error {
    Error::bad_input(format!("loop {} has no iterations", store.id()))
        .at(store.paths().dir())
        .help(format!("`highwater begin --loop {}` records its baseline", store.id()))
}

/// What is said of a loop whose records are all damaged.
pub(super) fn no_readable_record(store: &Store) -> Error {
    Error::bad_input(format!("no record of loop {} can be read", store.id()))
        .at(store.paths().dir())
        .help(format!("`highwater verify --loop {}` names what is wrong with each", store.id()))
}

/// The config that a loop goes by now: the one that its newest readable record names.
///
/// # Errors
/// If no record can be read: a failure if the disk keeps the newest back; as [`frozen_config`].
pub fn config_in_force(layout: &Layout, store: &Store) -> Result<LoopConfig> {
    let mut unread = None;
    for number in store.numbers()?.into_iter().rev() {
        match store.load(number) {
            Ok(newest) => return Ok(frozen_config(layout, store, newest.record.config)?.config),
            Err(error) => unread = unread.or(Some(error)),
        }
    }
    Err(unread.filter(|error| error.kind == ErrorKind::Failed).unwrap_or_else(|| {
        no_readable_record(store)
            .because("nobody knows by which rules its snapshots were taken; nothing was changed")
            .help("`highwater verify` names what is wrong; if the loop was moved away or renamed, move it back")
    }))
}

/// The config that `id` names: the loop's `config.yaml`, or the stored object where that file was edited or is gone.
///
/// # Errors
/// If neither is there, or it does not load.
pub fn frozen_config(layout: &Layout, store: &Store, id: ObjectId) -> Result<Frozen> {
    let path = store.paths().config();
    // Whatever became of the file, the object says the same.
    let on_disk = disk::read_if_present(&path, 1 << 20).ok().flatten();
    let on_disk = on_disk.filter(|bytes| disk::hash::id_of(bytes) == id);
    let was_edited = on_disk.is_none();
    let bytes = match on_disk {
        Some(bytes) => bytes,
        None => Objects::open(layout)?.read(&id)?,
    };
    let text = String::from_utf8(bytes).map_err(|_| Error::bad_input("the loop's config is not text").at(&path))?;
    let config = config::read(&text, &path.display().to_string())?;
    Ok(Frozen { config, text, id, was_edited })
}
