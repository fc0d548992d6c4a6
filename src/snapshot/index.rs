//! The stat cache: a file that the system says was not touched since the last snapshot is not read again, a folder that was
//! not touched is not listed again, and one in which both holds for all is not made again.
//!
//! Wrong guesses here lose work, so a file or folder is only trusted if its size, both times, inode and mode are as they
//! were, and if its times are older than the snapshot that read it: a change in the same tick of the clock could not be told
//! from none. The file is derived; damaged or absent, everything is read.
//!
//! It stays the bytes that it is stored as: folders are found by their paths, and the names in one are passed in their
//! order, as the walk has them.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use super::objects::id_of;
use super::pack::count;
use super::walk::Stat;
use crate::disk;
use crate::error::Result;
use crate::model::ids::ObjectId;

const MAGIC: &[u8; 8] = b"hwstat\x00\x04";
/// About eight million files.
const MAX_BYTES: u64 = 1 << 30;
/// In the place of a directory object.
const NO_TREE: [u8; 32] = [0; 32];
const FILE: u8 = b'f';
const FOLDER: u8 = b'd';
/// Before the names of a folder that are all that it has, and of one that may have more.
const WHOLE: u8 = 1;
const PART: u8 = 0;

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

/// What a name stood for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Remembered {
    /// A file that was read.
    File(Known),
    /// A folder.
    Folder {
        /// Permission bits.
        mode: u32,
        /// Its directory object.
        tree: ObjectId,
    },
}

/// All files as they were read for the last snapshot.
#[derive(Debug, Default)]
pub(super) struct StatCache {
    /// Nanoseconds since 1970, on the work tree's file system, before the first of them was looked at.
    stamp: i64,
    packs: Vec<(ObjectId, u64)>,
    bytes: Vec<u8>,
    folders: HashMap<Vec<u8>, Kept>,
}

/// What is known of a folder.
#[derive(Clone, Debug)]
struct Kept {
    /// Its directory object, if it held no more than names that are remembered.
    tree: Option<ObjectId>,
    /// What the system said of it before it was listed, if these are all names that it had.
    listed: Option<Stat>,
    /// Where its entries are.
    entries: Range<usize>,
}

impl StatCache {
    /// What was stored; empty if that is absent or damaged.
    pub fn load(path: &Path) -> StatCache {
        let bytes = disk::read_if_present(path, MAX_BYTES).ok().flatten().unwrap_or_default();
        decode(bytes).unwrap_or_default()
    }

    /// The packs that, together, had every object that is named here, with their lengths in bytes.
    pub fn packs(&self) -> &[(ObjectId, u64)] {
        &self.packs
    }

    /// The names that a folder had.
    pub fn folder(&self, path: &[u8]) -> Folder<'_> {
        let stamp = self.stamp;
        match self.folders.get(path) {
            Some(Kept { tree, listed, entries }) => {
                let rest = self.bytes.get(entries.clone()).unwrap_or_default();
                Folder { tree: *tree, listed: *listed, rest, is_same: true, stamp }
            }
            None => Folder { tree: None, listed: None, rest: &[], is_same: false, stamp },
        }
    }
}

/// Whether whatever happened after that snapshot began would have another time.
fn is_old(stat: &Stat, stamp: i64) -> bool {
    stat.modified < stamp && stat.changed < stamp
}

/// The names of one folder as they were, asked for in their order.
#[derive(Debug)]
pub(super) struct Folder<'a> {
    tree: Option<ObjectId>,
    listed: Option<Stat>,
    rest: &'a [u8],
    /// All names so far were asked for, were there and unchanged.
    is_same: bool,
    stamp: i64,
}

impl<'a> Folder<'a> {
    /// All names in it, in their order, with whether a folder stands there; `None` if it may have others since.
    pub fn names(self, stat: &Stat) -> Option<impl Iterator<Item = (&'a [u8], bool)> + use<'a>> {
        let mut rest = self.is_listed(stat).then_some(self.rest)?;
        Some(std::iter::from_fn(move || {
            let (name, remembered, after) = entry(rest)?;
            rest = after;
            Some((name, matches!(remembered, Remembered::Folder { .. })))
        }))
    }

    /// What the file held, and whether it cannot have changed since.
    pub fn file(&mut self, name: &[u8], stat: &Stat) -> Option<(Known, bool)> {
        let found = match self.find(name)? {
            Remembered::File(known) => Some((known, known.stat == *stat && is_old(stat, self.stamp))),
            Remembered::Folder { .. } => None,
        };
        self.is_same &= found.is_some_and(|(_, is_unchanged)| is_unchanged);
        found
    }

    /// What the name stood for; later names are asked for later.
    pub fn find(&mut self, name: &[u8]) -> Option<Remembered> {
        while let Some((other, remembered, after)) = entry(self.rest) {
            match other.cmp(name) {
                Ordering::Equal => {
                    self.rest = after;
                    return Some(remembered);
                }
                Ordering::Greater => break,
                Ordering::Less => {
                    self.is_same = false;
                    self.rest = after;
                }
            }
        }
        self.is_same = false;
        None
    }

    /// Whether no name came, went, or was changed, once all that are there were asked for.
    pub fn is_same(&self) -> bool {
        self.is_same && self.rest.is_empty()
    }

    /// Whether it need not be listed as long as the system says that of it.
    pub fn is_listed(&self, stat: &Stat) -> bool {
        self.listed == Some(*stat) && is_old(stat, self.stamp)
    }

    /// Its directory object as it was, if it held no more than names that are remembered.
    pub fn before(&self) -> Option<ObjectId> {
        self.tree
    }

    /// Its directory object, if it is the same and holds no more than names that are remembered.
    pub fn tree(&self) -> Option<ObjectId> {
        self.tree.filter(|_| self.is_same())
    }
}

/// The cache in the making: folder by folder, in each the names in their order.
#[derive(Debug)]
pub(super) struct NewCache {
    bytes: Vec<u8>,
}

impl NewCache {
    /// An empty one for a snapshot that begins at `stamp`, told by the work tree's own file system, and whose objects are
    /// in these packs.
    pub fn new(stamp: SystemTime, packs: &[(ObjectId, u64)]) -> NewCache {
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&nanoseconds(stamp).to_le_bytes());
        push_number(&mut bytes, count(packs.len()));
        for (pack, length) in packs {
            bytes.extend_from_slice(&pack.0);
            push_number(&mut bytes, *length);
        }
        NewCache { bytes }
    }

    /// The next folder, with its directory object if nothing is in it but what `entries` tell, and with what the system said
    /// of it before it was listed if it has no other names.
    pub fn add<'a>(
        &mut self,
        path: &[u8],
        tree: Option<ObjectId>,
        listed: Option<&Stat>,
        entries: impl Iterator<Item = (&'a [u8], Remembered)>,
    ) {
        push_name(&mut self.bytes, path);
        self.bytes.extend_from_slice(&tree.map_or(NO_TREE, |tree| tree.0));
        self.bytes.push(if listed.is_some() { WHOLE } else { PART });
        if let Some(stat) = listed {
            push_stat(&mut self.bytes, stat);
        }
        let at = self.bytes.len();
        self.bytes.extend_from_slice(&[0; 8]);
        entries.for_each(|(name, remembered)| push_entry(&mut self.bytes, name, &remembered));
        let length = count(self.bytes.len().saturating_sub(at + 8));
        if let Some(place) = self.bytes.get_mut(at..at + 8) {
            place.copy_from_slice(&length.to_le_bytes());
        }
    }

    /// Stores what was added.
    ///
    /// # Errors
    /// A failure that names the file.
    pub fn store(self, path: &Path) -> Result<()> {
        disk::replace(path, &self.finish())
    }

    fn finish(mut self) -> Vec<u8> {
        let checksum = id_of(&self.bytes);
        self.bytes.extend_from_slice(&checksum.0);
        self.bytes
    }
}

fn push_entry(bytes: &mut Vec<u8>, name: &[u8], remembered: &Remembered) {
    match remembered {
        Remembered::File(Known { stat, object, lines }) => {
            bytes.push(FILE);
            push_name(bytes, name);
            push_stat(bytes, stat);
            bytes.extend_from_slice(&object.0);
            // None is a binary file.
            push_number(bytes, lines.map_or(0, |lines| lines.saturating_add(1)));
        }
        Remembered::Folder { mode, tree } => {
            bytes.push(FOLDER);
            push_name(bytes, name);
            bytes.extend_from_slice(&tree.0);
            push_number(bytes, (*mode).into());
        }
    }
}

fn push_stat(bytes: &mut Vec<u8>, stat: &Stat) {
    bytes.extend_from_slice(&stat.modified.to_le_bytes());
    bytes.extend_from_slice(&stat.changed.to_le_bytes());
    [stat.size, stat.inode, stat.mode.into()].iter().for_each(|number| push_number(bytes, *number));
}

/// Names and paths: their length, then their bytes.
fn push_name(bytes: &mut Vec<u8>, name: &[u8]) {
    push_number(bytes, count(name.len()));
    bytes.extend_from_slice(name);
}

/// Seven bits a byte, the lowest first; the highest bit says that more come.
fn push_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number > 0x7f {
        bytes.push(0x80 | u8::try_from(number & 0x7f).unwrap_or_default());
        number >>= 7;
    }
    bytes.push(u8::try_from(number).unwrap_or_default());
}

fn nanoseconds(time: SystemTime) -> i64 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_nanos()).unwrap_or(i64::MAX),
        // Before 1970 no file is older than the snapshot: all are read.
        Err(_) => i64::MIN,
    }
}

fn decode(bytes: Vec<u8>) -> Option<StatCache> {
    let (body, checksum) = bytes.split_last_chunk::<32>()?;
    if id_of(body).0 != *checksum {
        return None;
    }
    let mut rest = body.strip_prefix(MAGIC)?;
    let stamp = i64::from_le_bytes(take(&mut rest)?);
    let mut packs = Vec::new();
    for _ in 0..number(&mut rest)? {
        packs.push((ObjectId(take(&mut rest)?), number(&mut rest)?));
    }
    let mut folders = HashMap::new();
    while !rest.is_empty() {
        let path = name(&mut rest)?;
        let tree = Some(take(&mut rest)?).filter(|tree| *tree != NO_TREE).map(ObjectId);
        let listed = match take(&mut rest)? {
            [WHOLE] => Some(stat(&mut rest)?),
            [_] => None,
        };
        let length = usize::try_from(u64::from_le_bytes(take(&mut rest)?)).ok()?;
        let begin = body.len() - rest.len();
        rest = rest.get(length..)?;
        folders.insert(path.to_vec(), Kept { tree, listed, entries: begin..begin + length });
    }
    Some(StatCache { stamp, packs, folders, bytes })
}

/// The first entry of a folder, and what comes after it.
fn entry(mut rest: &[u8]) -> Option<(&[u8], Remembered, &[u8])> {
    let [kind] = take(&mut rest)?;
    let name = name(&mut rest)?;
    let remembered = match kind {
        FILE => {
            let (stat, object) = (stat(&mut rest)?, ObjectId(take(&mut rest)?));
            Remembered::File(Known { stat, object, lines: number(&mut rest)?.checked_sub(1) })
        }
        FOLDER => {
            let tree = ObjectId(take(&mut rest)?);
            Remembered::Folder { mode: u32::try_from(number(&mut rest)?).ok()?, tree }
        }
        _ => return None,
    };
    Some((name, remembered, rest))
}

fn stat(rest: &mut &[u8]) -> Option<Stat> {
    let (modified, changed) = (i64::from_le_bytes(take(rest)?), i64::from_le_bytes(take(rest)?));
    let (size, inode) = (number(rest)?, number(rest)?);
    Some(Stat { size, modified, changed, inode, mode: u32::try_from(number(rest)?).ok()? })
}

fn name<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(number(rest)?).ok()?;
    let (name, after) = rest.split_at_checked(length)?;
    *rest = after;
    Some(name)
}

fn number(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let [byte] = take(rest)?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte <= 0x7f {
            return Some(number);
        }
    }
    None
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (head, tail) = rest.split_first_chunk::<N>()?;
    *rest = tail;
    Some(*head)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TREE: ObjectId = ObjectId([8; 32]);
    const SECOND: i64 = 1_000_000_000;

    fn stat(changed: i64) -> Stat {
        Stat { size: 3, modified: 50 * SECOND + 5, changed: changed * SECOND, inode: 9, mode: 0o100_644 }
    }

    fn known(changed: i64) -> Known {
        Known { stat: stat(changed), object: ObjectId([4; 32]), lines: None }
    }

    fn unchanged_in(folder: &mut Folder<'_>, name: &[u8], stat: &Stat) -> Option<Known> {
        folder.file(name, stat).filter(|(_, is_unchanged)| *is_unchanged).map(|(known, _)| known)
    }

    /// A folder `f` with two files and a folder between them.
    fn bytes(changed: i64) -> Vec<u8> {
        let stamp = UNIX_EPOCH + std::time::Duration::from_secs(100);
        let mut cache = NewCache::new(stamp, &[(ObjectId([1; 32]), 300)]);
        let inner = Remembered::Folder { mode: 0o755, tree: ObjectId([2; 32]) };
        let other = Remembered::File(Known { lines: Some(7), ..known(changed) });
        let entries = [(&b"a"[..], Remembered::File(known(changed))), (b"b", inner), (b"c\xff", other)];
        cache.add(b"f", Some(TREE), Some(&stat(changed)), entries.into_iter());
        cache.add(b"f/b", None, None, std::iter::empty());
        cache.finish()
    }

    #[test]
    fn only_what_is_older_than_the_snapshot_and_wholly_the_same_is_trusted() {
        let unchanged = |changed: i64, name: &[u8], stat: &Stat| {
            unchanged_in(&mut decode(bytes(changed)).unwrap().folder(b"f"), name, stat).is_some()
        };
        assert!(unchanged(99, b"a", &stat(99)));
        // The same tick: it may have been written once more after it was read.
        assert!(!unchanged(100, b"a", &stat(100)));
        assert!(!unchanged(99, b"other", &stat(99)));
        let other = [
            Stat { size: 4, ..stat(99) },
            Stat { modified: 50 * SECOND + 6, ..stat(99) },
            Stat { changed: 98 * SECOND, ..stat(99) },
            Stat { inode: 10, ..stat(99) },
            Stat { mode: 0o100_755, ..stat(99) },
        ];
        assert!(other.iter().all(|stat| !unchanged(99, b"a", stat)));
    }

    #[test]
    fn names_are_told_only_of_a_folder_that_is_older_than_the_snapshot_and_wholly_the_same() {
        let names = |changed: i64, path: &[u8], stat: &Stat| -> Option<Vec<(Vec<u8>, bool)>> {
            let cache = decode(bytes(changed)).unwrap();
            let names: Option<Vec<_>> = cache
                .folder(path)
                .names(stat)
                .map(|names| names.map(|(name, is_folder)| (name.to_vec(), is_folder)).collect());
            assert_eq!(cache.folder(path).is_listed(stat), names.is_some());
            names
        };
        let all = [(&b"a"[..], false), (b"b", true), (b"c\xff", false)].map(|(name, is)| (name.to_vec(), is));
        assert_eq!(names(99, b"f", &stat(99)), Some(all.to_vec()));
        // The same tick: a name may have come after it was listed.
        assert_eq!(names(100, b"f", &stat(100)), None);
        let others = [Stat { size: 4, ..stat(99) }, Stat { inode: 10, ..stat(99) }, stat(98)];
        assert!(others.iter().all(|other| names(99, b"f", other).is_none()));
        assert_eq!(names(99, b"f/b", &stat(99)), None, "it may hold names that are not remembered");
        assert_eq!(names(99, b"new", &stat(99)), None);
    }

    #[test]
    fn a_folder_is_as_it_was_only_if_every_name_in_it_is() {
        let cache = decode(bytes(99)).unwrap();
        let tree_after = |names: &[&[u8]], stat: &Stat| {
            let mut folder = cache.folder(b"f");
            for name in names {
                match *name {
                    b"b" => drop(folder.find(name)),
                    name => drop(folder.file(name, stat)),
                }
            }
            folder.tree()
        };
        let same = stat(99);
        assert_eq!(tree_after(&[b"a", b"b", b"c\xff"], &same), Some(TREE));
        let others: [&[&[u8]]; 5] =
            [&[b"a", b"b"], &[b"b", b"c\xff"], &[b"a", b"b", b"bb", b"c\xff"], &[b"a", b"b", b"c\xff", b"d"], &[]];
        assert!(others.iter().all(|names| tree_after(names, &same).is_none()));
        assert_eq!(tree_after(&[b"a", b"b", b"c\xff"], &Stat { size: 4, ..same }), None);
        assert!(cache.folder(b"f/b").is_same() && !cache.folder(b"new").is_same());
        assert_eq!((cache.folder(b"f/b").tree(), cache.folder(b"new").tree()), (None, None));
    }

    #[test]
    fn it_comes_back_and_any_damage_voids_it() {
        let bytes = bytes(99);
        let cache = decode(bytes.clone()).unwrap();
        assert_eq!(cache.packs(), [(ObjectId([1; 32]), 300)]);
        let mut folder = cache.folder(b"f");
        assert_eq!(unchanged_in(&mut folder, b"a", &stat(99)), Some(known(99)));
        assert_eq!(folder.find(b"b"), Some(Remembered::Folder { mode: 0o755, tree: ObjectId([2; 32]) }));
        assert_eq!(unchanged_in(&mut folder, b"c\xff", &stat(99)).and_then(|known| known.lines), Some(7));
        for at in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1;
            assert!(decode(flipped).is_none(), "byte {at}");
            assert!(decode(bytes[..at].to_vec()).is_none(), "cut at {at}");
        }
    }

    #[test]
    fn a_file_whose_content_was_changed_in_the_same_tick_is_read_again() {
        let seen = |seconds: i64| {
            let stat = Stat { modified: seconds * SECOND, ..stat(99) };
            let mut cache = NewCache::new(UNIX_EPOCH + std::time::Duration::from_secs(100), &[]);
            let known = Remembered::File(Known { stat, ..known(99) });
            cache.add(b"f", None, None, std::iter::once((&b"a"[..], known)));
            unchanged_in(&mut decode(cache.finish()).unwrap().folder(b"f"), b"a", &stat).is_some()
        };
        assert!(seen(99) && !seen(100) && !seen(101));
    }
}
