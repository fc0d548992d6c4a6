//! The stat cache: a file that the system says was not touched since the last snapshot is not read again.
//!
//! Wrong guesses here lose work, so a file is only trusted if its size, both times, inode and mode are as they were,
//! and if its times are older than the snapshot that read it: a change in the same tick of the clock could not be told
//! from none. The file is derived; damaged or absent, everything is read.

use std::collections::HashMap;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use super::objects::id_of;
use super::walk::Stat;
use crate::disk;
use crate::error::Result;
use crate::model::ids::ObjectId;

const MAGIC: &[u8; 8] = b"hwstat\x00\x01";
/// About eight million files.
const MAX_BYTES: u64 = 1 << 30;
/// In the place of a count of lines: the file is binary.
const BINARY: u64 = u64::MAX;

/// What a file held when it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Known {
    /// What the system said of it.
    pub stat: Stat,
    /// Its content.
    pub object: ObjectId,
    /// Its non-blank lines; `None` for a binary file.
    pub lines: Option<u64>,
}

/// All files as they were read for the last snapshot.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct StatCache {
    /// Seconds and nanoseconds, on the work tree's file system, before the first of them was looked at.
    stamp: (i64, i64),
    files: HashMap<Vec<u8>, Known>,
}

impl StatCache {
    /// An empty one for a snapshot that begins at `stamp`, told by the work tree's own file system.
    pub fn new(stamp: SystemTime) -> StatCache {
        StatCache { stamp: seconds(stamp), files: HashMap::new() }
    }

    /// What was stored; empty if that is absent or damaged.
    pub fn load(path: &Path) -> StatCache {
        let bytes = disk::read_if_present(path, MAX_BYTES).ok().flatten().unwrap_or_default();
        decode(&bytes).unwrap_or_default()
    }

    /// What the file held, if it cannot have changed since.
    pub fn unchanged(&self, path: &[u8], stat: &Stat) -> Option<&Known> {
        let known = self.files.get(path)?;
        (known.stat == *stat && stat.modified < self.stamp && stat.changed < self.stamp).then_some(known)
    }

    /// Remembers a file.
    pub fn insert(&mut self, path: Vec<u8>, known: Known) {
        self.files.insert(path, known);
    }

    /// How many files it knows.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Stores what is remembered.
    ///
    /// # Errors
    /// A failure that names the file.
    pub fn store(&self, path: &Path) -> Result<()> {
        disk::replace(path, &self.encode())
    }

    fn encode(&self) -> Vec<u8> {
        let mut files: Vec<_> = self.files.iter().collect();
        files.sort_unstable_by_key(|(path, _)| *path);
        let mut bytes = MAGIC.to_vec();
        push_time(&mut bytes, self.stamp);
        for (path, known) in files {
            bytes.extend_from_slice(&u32::try_from(path.len()).unwrap_or_default().to_le_bytes());
            bytes.extend_from_slice(path);
            bytes.extend_from_slice(&known.stat.size.to_le_bytes());
            push_time(&mut bytes, known.stat.modified);
            push_time(&mut bytes, known.stat.changed);
            bytes.extend_from_slice(&known.stat.inode.to_le_bytes());
            bytes.extend_from_slice(&known.stat.mode.to_le_bytes());
            bytes.extend_from_slice(&known.object.0);
            bytes.extend_from_slice(&known.lines.unwrap_or(BINARY).to_le_bytes());
        }
        let checksum = id_of(&bytes);
        bytes.extend_from_slice(&checksum.0);
        bytes
    }
}

fn seconds(time: SystemTime) -> (i64, i64) {
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => (i64::try_from(since.as_secs()).unwrap_or(i64::MAX), i64::from(since.subsec_nanos())),
        // Before 1970 no file is older than the snapshot: all are read.
        Err(_) => (i64::MIN, 0),
    }
}

fn push_time(bytes: &mut Vec<u8>, (seconds, nanoseconds): (i64, i64)) {
    bytes.extend_from_slice(&seconds.to_le_bytes());
    bytes.extend_from_slice(&nanoseconds.to_le_bytes());
}

fn decode(bytes: &[u8]) -> Option<StatCache> {
    let (body, checksum) = bytes.split_last_chunk::<32>()?;
    if id_of(body).0 != *checksum {
        return None;
    }
    let mut rest = body.strip_prefix(MAGIC)?;
    let stamp = time(&mut rest)?;
    let mut files = HashMap::new();
    while !rest.is_empty() {
        let length = usize::try_from(u32::from_le_bytes(take(&mut rest)?)).ok()?;
        let (path, after) = rest.split_at_checked(length)?;
        rest = after;
        let stat = Stat {
            size: u64::from_le_bytes(take(&mut rest)?),
            modified: time(&mut rest)?,
            changed: time(&mut rest)?,
            inode: u64::from_le_bytes(take(&mut rest)?),
            mode: u32::from_le_bytes(take(&mut rest)?),
        };
        let object = ObjectId(take(&mut rest)?);
        let lines = Some(u64::from_le_bytes(take(&mut rest)?)).filter(|lines| *lines != BINARY);
        files.insert(path.to_vec(), Known { stat, object, lines });
    }
    Some(StatCache { stamp, files })
}

fn time(rest: &mut &[u8]) -> Option<(i64, i64)> {
    Some((i64::from_le_bytes(take(rest)?), i64::from_le_bytes(take(rest)?)))
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (head, tail) = rest.split_first_chunk::<N>()?;
    *rest = tail;
    Some(*head)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stat(changed: i64) -> Stat {
        Stat { size: 3, modified: (50, 5), changed: (changed, 0), inode: 9, mode: 0o100_644 }
    }

    fn cache(changed: i64) -> StatCache {
        let mut cache = StatCache { stamp: (100, 0), files: HashMap::new() };
        let known = Known { stat: stat(changed), object: ObjectId([4; 32]), lines: None };
        cache.insert(b"a".to_vec(), known);
        cache.insert(b"b\xff".to_vec(), Known { lines: Some(7), ..known });
        cache
    }

    #[test]
    fn only_what_is_older_than_the_snapshot_and_wholly_the_same_is_trusted() {
        assert!(cache(99).unchanged(b"a", &stat(99)).is_some());
        // The same tick: it may have been written once more after it was read.
        assert!(cache(100).unchanged(b"a", &stat(100)).is_none());
        assert!(cache(99).unchanged(b"other", &stat(99)).is_none());
        let other = [
            Stat { size: 4, ..stat(99) },
            Stat { modified: (50, 6), ..stat(99) },
            Stat { changed: (98, 0), ..stat(99) },
            Stat { inode: 10, ..stat(99) },
            Stat { mode: 0o100_755, ..stat(99) },
        ];
        assert!(other.iter().all(|stat| cache(99).unchanged(b"a", stat).is_none()));
    }

    #[test]
    fn it_comes_back_and_any_damage_voids_it() {
        let bytes = cache(99).encode();
        assert_eq!(decode(&bytes).unwrap(), cache(99));
        for at in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1;
            assert!(decode(&flipped).is_none(), "byte {at}");
            assert!(decode(&bytes[..at]).is_none(), "cut at {at}");
        }
    }
}
