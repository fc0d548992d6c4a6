//! The records of the loops: committing one, loading them, and what is derived from them.
//!
//! A record's appearing is the commit. Everything else in a loop's folder is derived and is made again when its head is not
//! the newest record's.

pub mod faults;
mod history;
mod ledger;
mod let_go;
mod notes;
mod sessions;

use std::path::Path;
use std::time::SystemTime;

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use history::{Damaged, History, Unread};
pub use let_go::LetGo;
pub use notes::AcceptedNote;
pub use sessions::{Refusals, is_first_delivery};

use crate::disk::layout::{Layout, LoopLayout, record_number};
use crate::disk::{self, Created, hash};
use crate::error::{Error, ErrorKind, Result};
use crate::model::SCHEMA_VERSION;
use crate::model::ids::{Iteration, LoopId, ObjectId};
use crate::model::record::IterationRecord;
use crate::model::trajectory::Selection;

/// A stored file of ours is far below this; over it, it is none.
pub(crate) const MAX_BYTES: u64 = 256 << 20;

/// One loop's folder.
#[derive(Clone, Debug)]
pub struct Store {
    id: LoopId,
    paths: LoopLayout,
}

/// A record as it lies on disk.
#[derive(Clone, Debug)]
pub struct Stored {
    /// What it says.
    pub record: IterationRecord,
    /// BLAKE3 of its file.
    pub id: ObjectId,
}

/// What became of a record that was to be committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Commit {
    /// It is there, durable; the id is BLAKE3 of its file.
    Done(ObjectId),
    /// Another writer took the number first.
    Taken,
}

/// A loop as `loops` lists it.
#[derive(Clone, Debug)]
pub struct Loop {
    /// Its name.
    pub id: LoopId,
    /// `finish` was there.
    pub is_closed: bool,
    /// When its first record appeared, by the file system.
    pub opened: SystemTime,
}

/// All loops that have a record, the newest first.
///
/// # Errors
/// If a folder cannot be read.
pub fn loops(layout: &Layout) -> Result<Vec<Loop>> {
    let mut loops = Vec::new();
    for name in disk::list(&layout.store())? {
        let Some(id) = name.to_str().and_then(|name| name.parse::<LoopId>().ok()) else { continue };
        let store = Store::new(layout, id);
        let Some(opened) = store.opened()? else { continue };
        loops.push(Loop { is_closed: store.is_closed()?, opened, id: store.id });
    }
    loops.sort_by(|a, b| b.opened.cmp(&a.opened).then_with(|| b.id.cmp(&a.id)));
    Ok(loops)
}

impl Store {
    /// The folder of one loop, whether or not it is there.
    pub fn new(layout: &Layout, id: LoopId) -> Store {
        let paths = layout.of_loop(&id);
        Store { id, paths }
    }

    /// A loop that is imported, before it is moved to where the others are.
    pub fn of_import(layout: &Layout, id: LoopId) -> Store {
        let paths = layout.of_import(&id);
        Store { id, paths }
    }

    /// The loop's name.
    pub fn id(&self) -> &LoopId {
        &self.id
    }

    /// Its paths.
    pub fn paths(&self) -> &LoopLayout {
        &self.paths
    }

    /// The recorded numbers by the names of the files, ascending. Names that are no record's are passed over.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn numbers(&self) -> Result<Vec<Iteration>> {
        let mut numbers: Vec<Iteration> =
            disk::list(&self.paths.progress())?.iter().filter_map(|name| record_number(name)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        Ok(numbers)
    }

    /// The highest number by name; `None` without a record.
    ///
    /// # Errors
    /// As [`Store::numbers`].
    pub fn newest_number(&self) -> Result<Option<Iteration>> {
        Ok(self.numbers()?.pop())
    }

    /// Removes what writers left behind when they were killed: in the loop's own folder, where its files are made, and in
    /// those of the iteration `newest` and the one after. What cannot be removed now stays for the next time.
    pub fn sweep(&self, newest: Option<Iteration>) {
        let iterations = [newest, Some(newest.map_or(Iteration::BASELINE, Iteration::next))];
        let folders = iterations.into_iter().flatten();
        let folders = folders.flat_map(|one| [self.paths.iteration(one), self.paths.artifacts(one)]);
        for folder in folders.chain([self.paths.dir().to_path_buf()]) {
            let _ = disk::sweep_temporaries(&folder);
        }
    }

    /// Whether `finish` closed it.
    ///
    /// # Errors
    /// If the system cannot tell.
    pub fn is_closed(&self) -> Result<bool> {
        Ok(disk::metadata(&self.paths.selection())?.is_some())
    }

    /// When its first record appeared; `None` if it has none. The names are listed only if the baseline's is gone.
    ///
    /// # Errors
    /// If the system cannot tell.
    pub fn opened(&self) -> Result<Option<SystemTime>> {
        if let Some(opened) = self.recorded_at(Iteration::BASELINE)? {
            return Ok(Some(opened));
        }
        match self.numbers()?.first() {
            Some(first) => Ok(Some(self.recorded_at(*first)?.unwrap_or(SystemTime::UNIX_EPOCH))),
            None => Ok(None),
        }
    }

    /// When the record's file appeared, by the file system; `None` if there is none.
    ///
    /// # Errors
    /// If the system cannot tell.
    pub fn recorded_at(&self, iteration: Iteration) -> Result<Option<SystemTime>> {
        Ok(disk::metadata(&self.paths.record(iteration))?.and_then(|meta| meta.modified().ok()))
    }

    /// One record.
    ///
    /// # Errors
    /// Bad input that names the file if it is empty, cut, no record, of another number or loop, or from a newer version.
    pub fn load(&self, iteration: Iteration) -> Result<Stored> {
        let path = self.paths.record(iteration);
        let bytes = disk::read(&path, MAX_BYTES)?;
        let record: IterationRecord = parse(&bytes).map_err(|error| error.at(&path))?;
        if record.iteration != iteration || record.loop_id != self.id {
            let (said, of) = (record.iteration, record.loop_id);
            let hint = if said == iteration {
                format!("; was the folder {of} renamed? then name it so again")
            } else {
                String::new()
            };
            return Err(damaged("its number or loop is not the one of its name")
                .at(&path)
                .because(format!("it says iteration {said} of loop {of}{hint}")));
        }
        Ok(Stored { record, id: disk::hash::id_of(&bytes) })
    }

    /// Writes a record, synced, under its number: nobody sees half of it, and a number is given once.
    ///
    /// # Errors
    /// If the disk says no; nothing was recorded then.
    pub fn commit(&self, record: &IterationRecord) -> Result<Commit> {
        disk::make_directory(&self.paths.progress())?;
        let bytes = encode(record)?;
        Ok(match disk::create_new_from(self.paths.dir(), &self.paths.record(record.iteration), &bytes)? {
            Created::Written => Commit::Done(disk::hash::id_of(&bytes)),
            Created::AlreadyThere => Commit::Taken,
        })
    }

    /// Writes a derived file of the loop, whole or not at all.
    ///
    /// # Errors
    /// A failure that names the file.
    pub fn replace(&self, path: &Path, bytes: &[u8]) -> Result<()> {
        disk::replace_from(self.paths.dir(), path, bytes)
    }

    /// The selection that closed the loop, if it is closed.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn selection(&self) -> Result<Option<Selection>> {
        let path = self.paths.selection();
        let Some(bytes) = disk::read_if_present(&path, MAX_BYTES)? else { return Ok(None) };
        let mut selection: Selection = parse(&bytes).map_err(|error| error.at(&path))?;
        // Earlier versions wrote none.
        if selection.blake3.take().is_some() && !hash::is_sealed(&bytes) {
            return Err(Error::bad_input("the selection that closed the loop is damaged")
                .at(&path)
                .because("it is not as it was written")
                .help("move it away, and `highwater finish` chooses again"));
        }
        Ok(Some(selection))
    }

    /// Closes the loop: the selection appears, synced.
    ///
    /// # Errors
    /// Bad input if it is closed already; a failure if the disk says no.
    pub fn close(&self, selection: &Selection) -> Result<()> {
        match disk::create_new(&self.paths.selection(), &hash::sealed(encode(selection)?))? {
            Created::Written => Ok(()),
            Created::AlreadyThere => Err(Error::bad_input(format!("loop {} is closed already", self.id))),
        }
    }
}

/// A stored file's text: pretty JSON with a final newline.
///
/// # Errors
/// None in practice: every stored number is finite.
pub fn encode(value: &impl Serialize) -> Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec_pretty(value)
        .map_err(|error| Error::bug("a stored file cannot be written as JSON").because(error.to_string()))?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// What is said of a stored file whose version is not known yet.
const LATER: &str = "stored file was written by a later version of highwater";

/// A stored file's value; its version is looked at first.
///
/// # Errors
/// Bad input: damaged, with line and column, or written by a later version.
pub fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    #[derive(serde::Deserialize)]
    struct Versioned {
        schema_version: u32,
    }
    let explain = |error: &serde_json::Error| {
        let at = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        let error_with_place = damaged("it is cut or no JSON of ours").because(error.to_string());
        if error.line() == 0 {
            error_with_place
        } else {
            error_with_place.line_column(at(error.line()), at(error.column()))
        }
    };
    let Versioned { schema_version } = serde_json::from_slice(bytes).map_err(|error| explain(&error))?;
    if schema_version > SCHEMA_VERSION {
        return Err(Error::bad_input(LATER)
            .because(format!("its schema_version is {schema_version}, this highwater knows {SCHEMA_VERSION}"))
            .help("use the later version; nothing was changed"));
    }
    serde_json::from_slice(bytes).map_err(|error| explain(&error))
}

/// Whether that is no damage: a later version wrote the file, and knows what it says.
pub fn is_later(error: &Error) -> bool {
    error.message == LATER
}

fn damaged(why: &str) -> Error {
    Error::new(ErrorKind::BadInput, format!("stored file is damaged: {why}"))
        .help("run `highwater verify` to see what is affected; the other records still work")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// A loop with files that have the names of these records.
    fn named(layout: &Layout, id: &str, numbers: &[u32]) -> Store {
        let store = Store::new(layout, id.parse().unwrap());
        disk::make_directory(&store.paths().progress()).unwrap();
        for number in numbers {
            std::fs::write(store.paths().record(Iteration(*number)), "").unwrap();
        }
        store
    }

    // PROMISES S77.
    #[test]
    fn records_are_ordered_by_number_and_loops_by_age() {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::new(dir.path());
        let old = named(&layout, "a-old", &[999, 1000, 0]);
        assert_eq!(old.numbers().unwrap(), [0, 999, 1000].map(Iteration));
        assert_eq!(old.newest_number().unwrap(), Some(Iteration(1000)));
        let record = std::fs::File::open(old.paths().record(Iteration::BASELINE)).unwrap();
        record.set_modified(SystemTime::now() - Duration::from_secs(60)).unwrap();
        named(&layout, "b-new", &[0]);
        named(&layout, "c-empty", &[]);
        let names: Vec<String> = loops(&layout).unwrap().into_iter().map(|one| one.id.to_string()).collect();
        assert_eq!(names, ["b-new", "a-old"]);
    }

    #[test]
    fn a_loop_whose_folder_was_renamed_is_told_its_name() {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::new(dir.path());
        let (old, new) = (Store::new(&layout, "old".parse().unwrap()), Store::new(&layout, "new".parse().unwrap()));
        let none = crate::model::ids::ObjectId([7; 32]);
        let record = IterationRecord::draft(old.id().clone(), chrono::DateTime::UNIX_EPOCH, none, none);
        old.commit(&record).unwrap();
        std::fs::rename(old.paths().dir(), new.paths().dir()).unwrap();
        let error = new.load(Iteration::BASELINE).unwrap_err();
        assert!(error.cause.as_deref().unwrap_or_default().contains("was the folder old renamed?"), "{error:?}");
    }

    // PROMISES S71.
    #[test]
    fn what_a_killed_writer_left_is_swept_where_it_can_be() {
        let dir = tempfile::tempdir().unwrap();
        let store = named(&Layout::new(dir.path()), "loop", &[]);
        let paths = store.paths();
        let (newest, next) = (Iteration(4), Iteration(5));
        let folders = [paths.dir().to_path_buf(), paths.iteration(newest), paths.artifacts(next)];
        for folder in &folders {
            disk::make_directory(folder).unwrap();
            // No process has that id.
            std::fs::write(folder.join(".tmp-2147483646-abc"), "").unwrap();
        }
        store.sweep(Some(newest));
        for folder in &folders {
            assert!(!disk::list(folder).unwrap().contains(&".tmp-2147483646-abc".into()), "{}", folder.display());
        }
    }
}
