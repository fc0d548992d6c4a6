//! The journal: its appearing is the moment from which a restore goes forward. And the record that a restore leaves.

use std::ffi::OsStr;
use std::path::Path;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::folder::{Folder, numbers};
use super::plan::Op;
use crate::disk;
use crate::disk::hash::{self, id_of};
use crate::disk::layout::Layout;
use crate::error::{Error, Result};
use crate::model::SCHEMA_VERSION;
use crate::model::ids::{Iteration, LoopId, ObjectId, TreePath};

/// Which iteration a restore gives back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Origin {
    /// The loop.
    pub loop_id: LoopId,
    /// The iteration whose tree is given back.
    pub iteration: Iteration,
    /// The newest iteration of the loop at that time.
    pub last_recorded: Iteration,
    /// The iteration that the next one would have started from, had nothing been restored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_parent: Option<Iteration>,
}

/// What a restore leaves behind (`restores/<n>.json`): the way back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RestoreRecord {
    /// Version of this file's layout.
    pub schema_version: u32,
    /// From 1; a later restore has a higher number.
    pub number: u64,
    /// The iteration given back; absent if the tree came from elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// The tree that was given back.
    pub target: ObjectId,
    /// The tree as it was before.
    pub safety: ObjectId,
    /// Only these paths, and what lies below them; empty is the whole tree.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<TreePath>,
    /// The restore that this one takes back; its `origin` is repeated here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<u64>,
    /// When it was asked for.
    pub at: DateTime<Utc>,
    /// BLAKE3 of the file's bytes before the comma in front of this key, which is the last one; absent in files of earlier
    /// versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blake3: Option<ObjectId>,
}

/// Which way a pending restore goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// To the tree that is given back.
    Forward,
    /// To the tree as it was before.
    Back,
}

/// What a restore does, step by step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Journal {
    /// Version of this file's layout.
    pub schema_version: u32,
    /// Which way.
    pub direction: Direction,
    /// How often the steps were planned again; part of the names in `stage/` and `trash/`.
    pub generation: u32,
    /// What is restored.
    pub record: RestoreRecord,
    /// The steps.
    pub ops: Vec<Op>,
}

impl Journal {
    /// The name of step `index` in `stage/` and `trash/`.
    pub fn name_of(&self, index: usize) -> String {
        staged_name(self.generation, index)
    }
}

/// The name of a step's file in `stage/` and `trash/`.
pub fn staged_name(generation: u32, index: usize) -> String {
    format!("{generation}-{index}")
}

/// The generation that a name in `stage/` or `trash/` was made for.
pub fn generation_of(name: &OsStr) -> Option<u32> {
    name.to_str()?.split_once('-')?.0.parse().ok()
}

/// First line of a journal; the id of all bytes after the line follows, then a line break.
const HEAD: &str = "highwater restore journal ";

/// Largest journal and record that are read, bytes. A step is some 400 bytes.
const JOURNAL_BYTES_MAX: u64 = 4 << 30;
const RECORD_BYTES_MAX: u64 = 64 << 20;

/// Writes the journal in place of an older one; when it returns, it survives a power loss.
///
/// # Errors
/// A failure that names the journal.
pub fn write(folder: &Folder, journal: &Journal) -> Result<()> {
    let body = to_json(journal)?;
    let mut bytes = format!("{HEAD}{}\n", id_of(&body)).into_bytes();
    bytes.extend_from_slice(&body);
    disk::replace_synced(&folder.journal(), &bytes)
}

/// Reads the journal.
///
/// # Errors
/// Bad input if it is damaged, or written by a newer version.
pub fn read(folder: &Folder) -> Result<Journal> {
    let path = folder.journal();
    let bytes = disk::read(&path, JOURNAL_BYTES_MAX)?;
    let damaged = |why: &str| {
        Error::bad_input("the journal of a pending restore is damaged")
            .at(&path)
            .because(why)
            .help("`highwater restore --abort` gives back the tree as it was, from the safety snapshot")
    };
    let line = bytes.iter().position(|byte| *byte == b'\n').and_then(|end| bytes.split_at_checked(end));
    let Some((head, body)) = line else { return Err(damaged("it is cut short")) };
    let body = body.strip_prefix(b"\n").unwrap_or(body);
    if head != format!("{HEAD}{}", id_of(body)).as_bytes() {
        return Err(damaged("its checksum does not match"));
    }
    let journal: Journal = serde_json::from_slice(body).map_err(|error| damaged(&error.to_string()))?;
    check_version(journal.schema_version, &path)?;
    Ok(journal)
}

/// Writes down what the restore is about, before its journal.
///
/// # Errors
/// A failure that names the file.
pub fn write_intent(folder: &Folder, record: &RestoreRecord) -> Result<()> {
    disk::replace_synced(&folder.intent(), &sealed(record)?)
}

/// Reads what the restore is about.
///
/// # Errors
/// Bad input if it is missing or damaged.
pub fn read_intent(folder: &Folder) -> Result<RestoreRecord> {
    read_record_at(&folder.intent())
}

/// Writes the record of a restore that has ended. Written by us before, it stays.
///
/// # Errors
/// A failure that names the file.
pub fn write_record(layout: &Layout, record: &RestoreRecord) -> Result<()> {
    disk::create_new(&layout.restore_record(record.number), &sealed(record)?).map(|_| ())
}

/// Reads the record of restore `number`.
///
/// # Errors
/// Bad input if it is missing, damaged, or written by a newer version.
pub fn read_record(layout: &Layout, number: u64) -> Result<RestoreRecord> {
    let path = layout.restore_record(number);
    let record = read_record_at(&path)?;
    if record.number == number {
        return Ok(record);
    }
    Err(Error::bad_input("the record of a restore has another number than its name").at(&path))
}

/// The record of the newest restore that has ended; `None` if there was none.
///
/// # Errors
/// Bad input if it is damaged, or written by a newer version.
pub fn newest_record(layout: &Layout) -> Result<Option<RestoreRecord>> {
    for number in numbers(layout)?.into_iter().rev() {
        if disk::metadata(&layout.restore_record(number))?.is_some() {
            return read_record(layout, number).map(Some);
        }
    }
    Ok(None)
}

/// What is wrong with the records of restores that ended; each error names its file.
///
/// # Errors
/// A failure that names the folder.
pub fn damaged_records(layout: &Layout) -> Result<Vec<Error>> {
    let mut damaged = Vec::new();
    for number in numbers(layout)? {
        if disk::metadata(&layout.restore_record(number))?.is_some() {
            damaged.extend(read_record(layout, number).err());
        }
    }
    Ok(damaged)
}

fn read_record_at(path: &Path) -> Result<RestoreRecord> {
    let bytes = disk::read(path, RECORD_BYTES_MAX)?;
    let damaged = |why: &str| {
        Error::bad_input("the record of a restore is damaged").at(path).because(why.to_owned()).help(CHANGED)
    };
    let mut record: RestoreRecord = serde_json::from_slice(&bytes).map_err(|error| damaged(&error.to_string()))?;
    check_version(record.schema_version, path)?;
    let is_as_written = match record.blake3.take() {
        Some(_) => hash::is_sealed(&bytes),
        // Earlier versions wrote no more than what is read.
        None => bytes == to_json(&record)?,
    };
    if is_as_written { Ok(record) } else { Err(damaged("it is not as it was written")) }
}

const CHANGED: &str = "nobody knows what it said; the iterations themselves can be restored all the same";

/// A record as it is stored.
fn sealed(record: &RestoreRecord) -> Result<Vec<u8>> {
    to_json(record).map(hash::sealed)
}

fn check_version(version: u32, path: &Path) -> Result<()> {
    if version <= SCHEMA_VERSION {
        return Ok(());
    }
    Err(Error::bad_input("written by a newer version of highwater")
        .at(path)
        .because(format!("its schema_version is {version}, the newest known one is {SCHEMA_VERSION}"))
        .help("update highwater"))
}

fn to_json<T: Serialize>(value: &T) -> Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec_pretty(value)
        .map_err(|error| Error::bug("a restore cannot be written as JSON").because(error.to_string()))?;
    bytes.push(b'\n');
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::restore::plan::Action;

    fn journal() -> Journal {
        let record = RestoreRecord {
            schema_version: SCHEMA_VERSION,
            number: 1,
            origin: None,
            target: ObjectId([1; 32]),
            safety: ObjectId([2; 32]),
            paths: vec![TreePath::new(b"\xffodd\n".to_vec()).unwrap()],
            undoes: None,
            at: DateTime::UNIX_EPOCH,
            blake3: None,
        };
        let path = TreePath::new("a").unwrap();
        let ops = vec![Op { action: Action::RemoveDirectory, path, before: None, after: None }];
        Journal { schema_version: SCHEMA_VERSION, direction: Direction::Forward, generation: 0, record, ops }
    }

    // PROMISES S73.
    #[test]
    fn every_changed_byte_of_a_journal_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::new(dir.path());
        let folder = Folder::make_next(&layout).unwrap();
        write(&folder, &journal()).unwrap();
        assert_eq!(read(&folder).unwrap(), journal());
        let good = std::fs::read(folder.journal()).unwrap();
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 1;
            std::fs::write(folder.journal(), &bad).unwrap();
            assert!(read(&folder).is_err(), "byte {at}");
            std::fs::write(folder.journal(), &good[..at]).unwrap();
            assert!(read(&folder).is_err(), "cut at {at}");
        }
    }

    // PROMISES H5.
    #[test]
    fn every_changed_byte_of_a_record_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::new(dir.path());
        disk::make_directory(&layout.restores()).unwrap();
        let (path, record) = (layout.restore_record(1), journal().record);
        write_record(&layout, &record).unwrap();
        let sealed = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        for (at, bit) in (0..sealed.len()).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
            let mut bad = sealed.clone();
            bad[at] ^= 1 << bit;
            std::fs::write(&path, &bad).unwrap();
            assert!(read_record(&layout, 1).is_err(), "byte {at}, bit {bit}");
        }
        // An earlier version says less.
        std::fs::write(&path, to_json(&record).unwrap()).unwrap();
        assert_eq!(read_record(&layout, 1).unwrap(), record);
        // A later version may say more.
        let mut later = to_json(&record).unwrap();
        later.truncate(later.len() - 3);
        later.extend_from_slice(b",\n  \"more\": true\n}\n");
        std::fs::write(&path, hash::sealed(later)).unwrap();
        assert_eq!(read_record(&layout, 1).unwrap(), record);
        // And an earlier one reads this.
        let plain: serde_json::Value = serde_json::from_slice(&sealed).unwrap();
        assert_eq!(plain["blake3"].as_str().map(str::len), Some(64));
    }

    #[test]
    fn a_newer_journal_is_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::make_next(&Layout::new(dir.path())).unwrap();
        let newer = Journal { schema_version: SCHEMA_VERSION + 1, ..journal() };
        write(&folder, &newer).unwrap();
        assert!(read(&folder).unwrap_err().to_string().contains("newer version"));
    }

    #[test]
    fn a_record_that_is_newer_or_of_another_number_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::new(dir.path());
        disk::make_directory(&layout.restores()).unwrap();
        let sound = journal().record;
        write_record(&layout, &sound).unwrap();
        write_record(&layout, &RestoreRecord { schema_version: SCHEMA_VERSION + 1, number: 2, ..sound.clone() })
            .unwrap();
        std::fs::write(layout.restore_record(3), to_json(&sound).unwrap()).unwrap();
        assert_eq!(read_record(&layout, 1).unwrap(), sound);
        let damaged = damaged_records(&layout).unwrap();
        assert_eq!(damaged.len(), 2, "{damaged:?}");
        assert!(damaged[0].to_string().contains("newer version") && damaged[1].to_string().contains("another number"));
        assert!(newest_record(&layout).is_err());
    }
}
