//! The files that a snapshot covers: what git would track, no secrets, and nothing that tools make again.
//!
//! Folders are listed level by level and in parallel, never recursively, so that depth costs no stack. Links are not
//! followed and other file systems are not entered. What git tracks is taken even where an ignore rule matches it.

use std::ffi::CStr;
use std::fs::Metadata;
use std::io::ErrorKind;
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use rayon::prelude::*;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat as RawStat};
use rustix::io::Errno;

use super::below::{is_unknown_call, open_below};
use super::disposable::{has_disposable_name, is_marked_disposable};
use super::index::StatCache;
use super::names::{Found, Lister, Names};
use super::rules::{Git, Globs, as_path, is_secret};
use crate::disk::layout::Layout;
use crate::error::{Error, Result};
use crate::model::config::{Capture, Limits};
use crate::model::ids::{TreePath, check_name, escape};

/// What the system says of a file; as long as it says the same, the content is the same (see `index`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stat {
    /// Bytes.
    pub size: u64,
    /// When the content was last changed: nanoseconds since 1970.
    pub modified: i64,
    /// When content or properties were last changed: nanoseconds since 1970. No program can set it back.
    pub changed: i64,
    /// Number of the file on its file system.
    pub inode: u64,
    /// Kind and permission bits.
    pub mode: u32,
}

impl Stat {
    /// The part of the system's answer that counts.
    pub fn of(meta: &Metadata) -> Stat {
        Stat {
            size: meta.size(),
            modified: nanoseconds(meta.mtime(), meta.mtime_nsec()),
            changed: nanoseconds(meta.ctime(), meta.ctime_nsec()),
            inode: meta.ino(),
            mode: meta.mode(),
        }
    }

    /// As [`Stat::of`], of what the system's own call answers.
    #[allow(
        clippy::useless_conversion,
        clippy::unnecessary_fallible_conversions,
        reason = "systems differ in the types"
    )]
    pub(super) fn of_raw(stat: &RawStat) -> Stat {
        Stat {
            size: u64::try_from(stat.st_size).unwrap_or_default(),
            modified: nanoseconds(stat.st_mtime.into(), i64::try_from(stat.st_mtime_nsec).unwrap_or_default()),
            changed: nanoseconds(stat.st_ctime.into(), i64::try_from(stat.st_ctime_nsec).unwrap_or_default()),
            inode: stat.st_ino.into(),
            mode: stat.st_mode.into(),
        }
    }
}

/// Times before 1677 and after 2262 all read as the first or the last.
fn nanoseconds(seconds: i64, nanoseconds: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds)
}

/// In the place of a folder's number.
const UNLISTED: usize = usize::MAX;

/// As which folders are opened.
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC).union(OFlags::NOFOLLOW);

/// What a name stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A file to be read.
    File(Stat),
    /// A link.
    Link,
    /// The folder of that number; of none if it was not listed.
    Folder(usize),
    /// Seen, and cannot be kept.
    Unheld {
        /// Why.
        why: String,
        /// Bytes, as it was seen.
        size: u64,
        /// Permission bits, as they were seen.
        mode: u32,
    },
}

/// One name in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// Where its name is among the folder's: see [`Folder::name`].
    name: Range<usize>,
    /// What it is.
    pub kind: Kind,
}

/// One folder that was walked.
#[derive(Debug)]
pub(super) struct Folder {
    /// From the top of the work tree; empty for the top itself.
    pub path: Vec<u8>,
    /// Permission bits.
    pub mode: u32,
    /// It is ignored, and in the snapshot only for what was found in it.
    pub is_passage: bool,
    /// What the system said of it before it was listed, if every name in it is among the entries, and if a name that comes or
    /// goes changes that.
    pub listed: Option<Stat>,
    /// By the bytes of their names.
    pub entries: Vec<Entry>,
    names: Names,
}

impl Folder {
    /// The name of one of its entries: raw bytes, checked.
    pub fn name(&self, entry: &Entry) -> &[u8] {
        self.names.get(&entry.name)
    }

    /// The path of one of its entries.
    pub fn path_of(&self, entry: &Entry) -> Vec<u8> {
        join(&self.path, self.name(entry))
    }
}

/// What the walk found.
#[derive(Debug, Default)]
pub(super) struct Walked {
    /// The top first, every folder after the one that it is in. A folder that nothing refers to is not in the snapshot.
    pub folders: Vec<Folder>,
    /// What cannot be in a snapshot and why: FIFOs, sockets, devices, mount points, names that are refused.
    pub skipped: Vec<(String, String)>,
    /// Files with more than one name.
    pub hard_links: u64,
    /// Taken only because `capture.include` names them.
    pub included: Vec<TreePath>,
}

/// How far into a folder the snapshot reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// Everything in it, unless a rule says otherwise.
    Open,
    /// It is ignored: what git tracks in it, what `capture.include` matches.
    Ignored,
}

/// A folder that is still to be listed.
#[derive(Clone)]
struct Waiting {
    path: Vec<u8>,
    git: Git,
    reach: Reach,
    /// `capture.include` matches it or a folder around it.
    is_included: bool,
    /// The number of the folder that it is in, and that of its entry there.
    parent: usize,
    entry: usize,
}

/// What listing a folder found.
#[derive(Default)]
struct Listed {
    /// Permission bits.
    mode: u32,
    /// It is in the snapshot only for what was found in it.
    is_passage: bool,
    /// As [`Folder::listed`].
    listed: Option<Stat>,
    entries: Vec<Entry>,
    names: Names,
    folders: Vec<Waiting>,
    skipped: Vec<(String, String)>,
    hard_links: u64,
    included: Vec<TreePath>,
}

/// Why a folder was not listed.
enum Unlisted {
    /// It is gone, or no folder any more.
    Vanished,
    /// Tools fill it, and nothing below it is wanted.
    LeftOut,
    /// Another file system is mounted there.
    Mounted,
    /// We may not: why, and its permission bits.
    Unreadable(String, u32),
    /// The system failed.
    Failed(Error),
}

/// A folder that is being listed.
struct Place<'a> {
    folder: &'a Waiting,
    /// What git knows inside it.
    git: &'a Git,
    open: BorrowedFd<'a>,
}

struct Walk<'a> {
    layout: &'a Layout,
    cache: &'a StatCache,
    /// Whether folders tell by their times that a name came or went.
    has_true_times: bool,
    /// The same, open.
    top: OwnedFd,
    /// What the system says of it: what is on another device is not entered.
    stat: RawStat,
    globs: Globs,
    limits: &'a Limits,
}

/// Walks the work tree. Folders that are as the cache has them are not listed.
///
/// # Errors
/// Bad input if a glob is none; a failure that names the folder or file that could not be looked at.
pub(super) fn walk(layout: &Layout, capture: &Capture, limits: &Limits, cache: &StatCache) -> Result<Walked> {
    let walk = Walk::new(layout, capture, limits, cache)?;
    let mut found = Walked::default();
    // Fewer folders than this are listed before another thread has woken up.
    const WORTH_THREADS: usize = 32;
    let mut lister = Lister::new();
    let mut level = vec![Waiting {
        path: Vec::new(),
        git: Git::around(layout, &mut found.skipped),
        reach: Reach::Open,
        is_included: false,
        parent: 0,
        entry: 0,
    }];
    while !level.is_empty() {
        let listed: Vec<_> = if level.len() < WORTH_THREADS {
            level.iter().map(|waiting| walk.list(waiting, &mut lister)).collect()
        } else {
            level.par_iter().map_init(Lister::new, |lister, waiting| walk.list(waiting, lister)).collect()
        };
        let mut next = Vec::new();
        for (waiting, listed) in level.into_iter().zip(listed) {
            match listed {
                Ok(listed) => next.extend(found.take(waiting, listed)),
                Err(Unlisted::Failed(error)) => return Err(error),
                Err(Unlisted::Unreadable(why, _)) if waiting.path.is_empty() => {
                    return Err(Error::failed("cannot list the work tree").at(layout.root()).because(why));
                }
                Err(Unlisted::Unreadable(why, mode)) => found.refer(&waiting, Kind::Unheld { why, size: 0, mode }),
                Err(Unlisted::Mounted) => {
                    found.skipped.push((escape(&waiting.path), "another file system is mounted there".to_owned()))
                }
                Err(Unlisted::Vanished | Unlisted::LeftOut) => {}
            }
        }
        level = next;
    }
    found.drop_what_is_empty();
    Ok(found)
}

impl Walked {
    /// Keeps what was listed; what it returns are the folders in it, which know their parent now.
    fn take(&mut self, waiting: Waiting, listed: Listed) -> Vec<Waiting> {
        let number = self.folders.len();
        if !waiting.path.is_empty() {
            self.refer(&waiting, Kind::Folder(number));
        }
        self.skipped.extend(listed.skipped);
        self.included.extend(listed.included);
        self.hard_links += listed.hard_links;
        let Listed { mode, is_passage, listed: stat, entries, names, .. } = listed;
        self.folders.push(Folder { path: waiting.path, mode, is_passage, listed: stat, entries, names });
        listed.folders.into_iter().map(|folder| Waiting { parent: number, ..folder }).collect()
    }

    /// Says in the folder that a folder is in what became of it.
    fn refer(&mut self, waiting: &Waiting, kind: Kind) {
        if waiting.reach != Reach::Open && !matches!(kind, Kind::Folder(_)) {
            return;
        }
        let parent = self.folders.get_mut(waiting.parent);
        if let Some(entry) = parent.and_then(|parent| parent.entries.get_mut(waiting.entry)) {
            entry.kind = kind;
        }
    }

    /// Takes folders out again that were not listed, and ignored ones in which nothing was found.
    fn drop_what_is_empty(&mut self) {
        let mut is_empty = vec![false; self.folders.len()];
        // Folders come after those that they are in, so the innermost are looked at first.
        for (number, folder) in self.folders.iter_mut().enumerate().rev() {
            let all = folder.entries.len();
            folder.entries.retain(|entry| match entry.kind {
                Kind::Folder(inner) => is_empty.get(inner).is_some_and(|is_empty| !is_empty),
                _ => true,
            });
            folder.listed = folder.listed.filter(|_| folder.entries.len() == all);
            if let Some(empty) = is_empty.get_mut(number) {
                *empty = folder.is_passage && folder.entries.is_empty();
            }
        }
    }
}

impl<'a> Walk<'a> {
    fn new(layout: &'a Layout, capture: &Capture, limits: &'a Limits, cache: &'a StatCache) -> Result<Walk<'a>> {
        let root = layout.root();
        let failed = |error: Errno| Error::io("list the work tree", root, &error.into());
        // Only the top of the work tree may be a link.
        let top = rustix::fs::open(root, FOLDER.difference(OFlags::NOFOLLOW), Mode::empty()).map_err(failed)?;
        let stat = rustix::fs::fstat(&top).map_err(failed)?;
        let has_true_times = has_true_times(&top);
        Ok(Walk { layout, cache, has_true_times, top, stat, globs: Globs::new(capture)?, limits })
    }

    fn full(&self, path: &[u8]) -> PathBuf {
        self.layout.root().join(as_path(path))
    }

    fn list(&self, folder: &Waiting, lister: &mut Lister) -> Result<Listed, Unlisted> {
        let (open, stat) = self.open(&folder.path)?;
        let stat = Stat::of_raw(&stat);
        match self.cache.folder(&folder.path).names(&stat) {
            Some(names) => lister.recall(names),
            None => lister.list(open.as_fd()).map_err(|error| self.unlisted(&folder.path, error))?,
        }
        let is_open = folder.reach == Reach::Open && !folder.is_included && !folder.path.is_empty();
        let marked;
        let folder = if is_open && is_marked_disposable(&self.full(&folder.path), |name| lister.has(name)) {
            let reach = self.reach_below(&folder.git, &folder.path).ok_or(Unlisted::LeftOut)?;
            marked = Waiting { reach, ..folder.clone() };
            &marked
        } else {
            folder
        };
        let mut listed = Listed {
            mode: stat.mode & 0o777,
            is_passage: folder.reach != Reach::Open,
            entries: Vec::with_capacity(lister.found.len()),
            names: lister.names.clone(),
            ..Listed::default()
        };
        let git = if folder.reach == Reach::Open && (lister.has(b".git") || lister.has(b".gitignore")) {
            folder.git.inside(self.layout, &folder.path, &mut listed.skipped)
        } else {
            folder.git.clone()
        };
        let place = Place { folder, git: &git, open: open.as_fd() };
        let mut path = join(&folder.path, b"");
        let folder_bytes = path.len();
        for found in &lister.found {
            path.truncate(folder_bytes);
            path.extend_from_slice(lister.names.get(&found.name));
            if let Some(kind) = self.look(&place, found, lister.names.as_c_str(&found.name), &path, &mut listed)? {
                listed.entries.push(Entry { name: found.name.clone(), kind });
            }
        }
        listed.listed = Some(stat).filter(|_| self.has_true_times && listed.entries.len() == lister.found.len());
        Ok(listed)
    }

    /// Opens a folder of the work tree that nothing is mounted on.
    fn open(&self, path: &[u8]) -> Result<(OwnedFd, RawStat), Unlisted> {
        let open = if path.is_empty() {
            rustix::io::fcntl_dupfd_cloexec(&self.top, 0)
        } else {
            open_below(self.top.as_fd(), path, FOLDER).or_else(|error| match error {
                error if !is_unknown_call(error) => Err(error),
                _ if is_mount_point(self.top.as_fd(), path) => Err(Errno::XDEV),
                _ => rustix::fs::openat(&self.top, as_path(path), FOLDER, Mode::empty()),
            })
        };
        let open = open.map_err(|error| self.unlisted(path, error))?;
        // Nobody is refused a look at what is open: the system failed.
        let stat = rustix::fs::fstat(&open)
            .map_err(|error| Unlisted::Failed(Error::io("look at", &self.full(path), &error.into())))?;
        if stat.st_dev == self.stat.st_dev { Ok((open, stat)) } else { Err(Unlisted::Mounted) }
    }

    /// Why a folder is not listed, by what the system said.
    fn unlisted(&self, path: &[u8], error: Errno) -> Unlisted {
        match error {
            Errno::XDEV => return Unlisted::Mounted,
            Errno::NOENT | Errno::NOTDIR | Errno::LOOP => return Unlisted::Vanished,
            _ => {}
        }
        let error = std::io::Error::from(error);
        if !is_refusal(&error) {
            return Unlisted::Failed(Error::io("list", &self.full(path), &error));
        }
        let stat = rustix::fs::statat(&self.top, as_path(path), AtFlags::SYMLINK_NOFOLLOW);
        Unlisted::Unreadable(error.to_string(), stat.map_or(0, |stat| Stat::of_raw(&stat).mode & 0o777))
    }

    /// How far the snapshot reaches into a folder that is left out: not at all, unless something below it is wanted.
    fn reach_below(&self, git: &Git, path: &[u8]) -> Option<Reach> {
        (git.tracks_below(path) || self.globs.include_below(path)).then_some(Reach::Ignored)
    }

    /// What a name stands for in the snapshot; a folder is still to be listed.
    fn look(
        &self,
        place: &Place<'_>,
        found: &Found,
        name: &CStr,
        path: &[u8],
        listed: &mut Listed,
    ) -> Result<Option<Kind>, Unlisted> {
        let bytes = name.to_bytes();
        if bytes == b".git" || bytes == b".progress" {
            return Ok(None);
        }
        if let Err(why) = check_name(bytes) {
            listed.skipped.push((escape(path), why.to_owned()));
            return Ok(None);
        }
        if found.file_type == FileType::Directory {
            return Ok(self.look_into(place, path, bytes, listed));
        }
        match rustix::fs::statat(place.open, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Directory => {
                Ok(self.look_into(place, path, bytes, listed))
            }
            Ok(stat) => Ok(self.look_at(place, path, bytes, &stat, listed)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => {
                let error = std::io::Error::from(error);
                if !is_refusal(&error) {
                    return Err(Unlisted::Failed(Error::io("look at", &self.full(path), &error)));
                }
                let is_wanted =
                    place.folder.reach == Reach::Open && !place.git.ignores(path, false) && !is_secret(bytes);
                Ok(is_wanted.then(|| Kind::Unheld { why: error.to_string(), size: 0, mode: 0 }))
            }
        }
    }

    /// Decides how far into a folder the snapshot reaches.
    fn look_into(&self, place: &Place<'_>, path: &[u8], name: &[u8], listed: &mut Listed) -> Option<Kind> {
        let Place { folder, git, .. } = *place;
        if self.globs.exclude(path) {
            return None;
        }
        let is_included = folder.is_included || self.globs.include(path);
        let is_left_out = || folder.reach == Reach::Ignored || git.ignores(path, true) || has_disposable_name(name);
        let reach = if !is_included && is_left_out() { self.reach_below(git, path)? } else { Reach::Open };
        let entry = listed.entries.len();
        listed.folders.push(Waiting { path: path.to_vec(), git: git.clone(), reach, is_included, parent: 0, entry });
        Some(Kind::Folder(UNLISTED))
    }

    /// What a file or link is in the snapshot, if it is taken.
    fn look_at(
        &self,
        place: &Place<'_>,
        path: &[u8],
        name: &[u8],
        stat: &RawStat,
        listed: &mut Listed,
    ) -> Option<Kind> {
        let Place { folder, git, .. } = *place;
        let is_kept_from_git = folder.reach == Reach::Ignored || git.ignores(path, false);
        let is_ignored = is_kept_from_git && !git.tracks(path);
        let is_secret = is_secret(name);
        let is_included = folder.is_included || self.globs.include(path);
        let is_left_out = is_ignored && !is_included || is_secret && !self.globs.name(path);
        if is_left_out || self.globs.exclude(path) {
            return None;
        }
        if is_ignored || is_secret {
            listed.included.extend(TreePath::new(path).ok());
        }
        let kind = self.kind_of(stat).map_err(|what| listed.skipped.push((escape(path), what.to_owned()))).ok()?;
        if matches!(kind, Kind::File(_)) && stat.st_nlink > 1 {
            listed.hard_links += 1;
        }
        Some(kind)
    }

    fn kind_of(&self, stat: &RawStat) -> Result<Kind, &'static str> {
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Symlink => return Ok(Kind::Link),
            FileType::Fifo => return Err("it is a FIFO"),
            FileType::Socket => return Err("it is a socket"),
            FileType::RegularFile => {}
            _ => return Err("it is a device"),
        }
        let stat = Stat::of_raw(stat);
        if stat.size > self.limits.file_bytes {
            let why = format!("it is larger than limits.file_bytes ({} bytes)", self.limits.file_bytes);
            return Ok(Kind::Unheld { why, size: stat.size, mode: stat.mode & 0o777 });
        }
        Ok(Kind::File(stat))
    }
}

/// Whether the system refuses this one file, and not us altogether.
pub(super) fn is_refusal(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::InvalidFilename | ErrorKind::StaleNetworkFileHandle)
}

/// Whether the file system gives a folder new times whenever a name in it comes or goes: others may not (FAT's top folder,
/// servers far away, programs that play a file system).
#[cfg(target_os = "linux")]
pub(super) fn has_true_times(folder: impl AsFd) -> bool {
    /// ext2, ext3 and ext4; XFS; btrfs; tmpfs; overlayfs, whose folders have the times of the one that is written to.
    const KNOWN: [u32; 5] = [0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0x794c_7630];
    rustix::fs::fstatfs(folder).is_ok_and(|answer| u32::try_from(answer.f_type).is_ok_and(|kind| KNOWN.contains(&kind)))
}

/// Nobody has looked at what other systems do.
#[cfg(not(target_os = "linux"))]
pub(super) fn has_true_times(_folder: impl AsFd) -> bool {
    false
}

/// Whether something is mounted on that folder, even from the same file system.
#[cfg(target_os = "linux")]
fn is_mount_point(top: BorrowedFd<'_>, path: &[u8]) -> bool {
    use rustix::fs::{StatxAttributes, StatxFlags};
    let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
    rustix::fs::statx(top, as_path(path), flags, StatxFlags::empty())
        .is_ok_and(|answer| answer.stx_attributes.contains(StatxAttributes::MOUNT_ROOT))
}

/// Other systems tell mounts by the device alone, which the caller compares.
#[cfg(not(target_os = "linux"))]
fn is_mount_point(_top: BorrowedFd<'_>, _path: &[u8]) -> bool {
    false
}

/// The path of a name in a folder; the top's path is empty.
pub(super) fn join(folder: &[u8], name: &[u8]) -> Vec<u8> {
    if folder.is_empty() {
        return name.to_vec();
    }
    let mut path = Vec::with_capacity(folder.len() + 1 + name.len());
    path.extend_from_slice(folder);
    path.push(b'/');
    path.extend_from_slice(name);
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Capture = Capture { include: Vec::new(), exclude: Vec::new() };
    const LIMITS: Limits = Limits { reports: 9, report_bytes: 9, file_bytes: 9 };

    #[test]
    fn names_of_files_and_folders_come_in_one_order() {
        // The cache is asked in this order: a name out of it would be read again every time.
        let dir = tempfile::tempdir().unwrap();
        let names = ["a", "a.b", "a0", "b", "longer than sixteen bytes 1", "longer than sixteen bytes 2", "z", "é"];
        for (number, name) in names.iter().enumerate().rev() {
            let path = dir.path().join(name);
            if number % 3 == 1 { std::fs::write(path, "x").unwrap() } else { std::fs::create_dir(path).unwrap() }
        }
        let walked = walk(&Layout::new(dir.path()), &ALL, &LIMITS, &StatCache::default()).unwrap();
        let top = walked.folders.first().unwrap();
        let found: Vec<&[u8]> = top.entries.iter().map(|entry| top.name(entry)).collect();
        assert_eq!(found, names.map(str::as_bytes));
    }

    #[test]
    fn a_folder_that_goes_while_the_tree_is_walked_is_not_in_it_and_no_link_is_followed_in_its_place() {
        let dir = tempfile::tempdir().unwrap();
        let [real, link, file] = ["real", "link", "file"].map(|name| dir.path().join(name));
        std::fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        std::fs::write(&file, "x").unwrap();
        let layout = Layout::new(dir.path());
        let cache = StatCache::default();
        let walk = Walk::new(&layout, &ALL, &LIMITS, &cache).unwrap();
        assert!(Walk::new(&Layout::new(&link), &ALL, &LIMITS, &cache).is_ok() && walk.open(b"real").is_ok());
        let git = Git::around(&layout, &mut Vec::new());
        for name in ["gone", "link", "file"] {
            let path = name.as_bytes().to_vec();
            let git = git.clone();
            let waiting = Waiting { path, git, reach: Reach::Open, is_included: false, parent: 0, entry: 0 };
            assert!(matches!(walk.list(&waiting, &mut Lister::new()), Err(Unlisted::Vanished)), "{name}");
        }
    }
}
