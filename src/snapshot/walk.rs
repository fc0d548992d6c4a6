//! The files that a snapshot covers: what git would track, no secrets, and nothing that tools make again.
//!
//! Folders are listed level by level and in parallel, never recursively, so that depth costs no stack. Links are not
//! followed and other file systems are not entered. What git tracks is taken even where an ignore rule matches it.

use std::ffi::CStr;
use std::fs::Metadata;
use std::io::ErrorKind;
use std::ops::Range;
use std::os::fd::BorrowedFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rayon::prelude::*;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat as RawStat};

use super::disposable::{has_disposable_name, is_marked_disposable};
use super::rules::{Git, Globs, as_path, is_secret};
use crate::error::{Error, Result};
use crate::model::config::{Capture, Limits};
use crate::model::ids::{TreePath, check_name, escape};

/// What the system says of a file; as long as it says the same, the content is the same (see `index`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stat {
    /// Bytes.
    pub size: u64,
    /// Seconds and nanoseconds of the last change of content.
    pub modified: (i64, i64),
    /// Seconds and nanoseconds of the last change of content or properties; no program can set it back.
    pub changed: (i64, i64),
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
            modified: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
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
    fn of_raw(stat: &RawStat) -> Stat {
        Stat {
            size: u64::try_from(stat.st_size).unwrap_or_default(),
            modified: (stat.st_mtime.into(), i64::try_from(stat.st_mtime_nsec).unwrap_or_default()),
            changed: (stat.st_ctime.into(), i64::try_from(stat.st_ctime_nsec).unwrap_or_default()),
            inode: stat.st_ino.into(),
            mode: stat.st_mode.into(),
        }
    }
}

/// What a name stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A file to be read.
    File(Stat),
    /// A link.
    Link,
    /// The folder of that number.
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

/// Names of one folder in one piece of memory, each with the NUL after it that the system wants.
#[derive(Debug, Default)]
struct Names {
    bytes: Vec<u8>,
}

impl Names {
    /// Where the name now is, without its NUL.
    fn push(&mut self, name: &[u8]) -> Range<usize> {
        let begin = self.bytes.len();
        self.bytes.extend_from_slice(name);
        self.bytes.push(0);
        begin..begin + name.len()
    }

    fn get(&self, at: &Range<usize>) -> &[u8] {
        self.bytes.get(at.clone()).unwrap_or_default()
    }

    /// As the system takes it.
    fn as_c_str(&self, at: &Range<usize>) -> &CStr {
        self.bytes.get(at.start..=at.end).and_then(|name| CStr::from_bytes_with_nul(name).ok()).unwrap_or_default()
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
    mode: u32,
    git: Git,
    reach: Reach,
    /// `capture.include` matches it or a folder around it.
    is_included: bool,
    /// The number of the folder that it is in.
    parent: usize,
}

/// What listing a folder found.
#[derive(Default)]
struct Listed {
    /// It is in the snapshot only for what was found in it.
    is_passage: bool,
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
    /// We may not.
    Unreadable(String),
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
    root: &'a Path,
    /// What the system says of it: what is on another device is not entered.
    stat: RawStat,
    globs: Globs,
    limits: &'a Limits,
}

/// Walks the work tree.
///
/// # Errors
/// Bad input if a glob is none; a failure that names the folder or file that could not be looked at.
pub(super) fn walk(root: &Path, capture: &Capture, limits: &Limits) -> Result<Walked> {
    let stat = rustix::fs::stat(root).map_err(|error| Error::io("look at the work tree", root, &error.into()))?;
    let globs = Globs::new(capture)?;
    let walk = Walk { root, stat, globs, limits };
    let mut found = Walked::default();
    // Fewer folders than this are listed before another thread has woken up.
    const WORTH_THREADS: usize = 32;
    let mut level = vec![Waiting {
        path: Vec::new(),
        mode: Stat::of_raw(&stat).mode & 0o777,
        git: Git::around(root, &mut found.skipped),
        reach: Reach::Open,
        is_included: false,
        parent: 0,
    }];
    while !level.is_empty() {
        let listed: Vec<_> = if level.len() < WORTH_THREADS {
            level.iter().map(|waiting| walk.list(waiting)).collect()
        } else {
            level.par_iter().map(|waiting| walk.list(waiting)).collect()
        };
        let mut next = Vec::new();
        for (waiting, listed) in level.into_iter().zip(listed) {
            match listed {
                Ok(listed) => next.extend(found.take(waiting, listed)),
                Err(Unlisted::Failed(error)) => return Err(error),
                Err(Unlisted::Unreadable(why)) if waiting.path.is_empty() => {
                    return Err(Error::failed("cannot list the work tree").at(root).because(why));
                }
                Err(Unlisted::Unreadable(why)) => {
                    found.refer(&waiting, Kind::Unheld { why, size: 0, mode: waiting.mode })
                }
                Err(Unlisted::Vanished) => {}
            }
        }
        level = next;
    }
    found.drop_empty_passages();
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
        let Listed { is_passage, entries, names, .. } = listed;
        self.folders.push(Folder { path: waiting.path, mode: waiting.mode, is_passage, entries, names });
        listed.folders.into_iter().map(|folder| Waiting { parent: number, ..folder }).collect()
    }

    /// Puts a folder, or what stands for it, into the folder that it is in.
    fn refer(&mut self, waiting: &Waiting, kind: Kind) {
        if waiting.reach != Reach::Open && !matches!(kind, Kind::Folder(_)) {
            return;
        }
        let name = waiting.path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        if let Some(parent) = self.folders.get_mut(waiting.parent) {
            let at = parent.entries.partition_point(|other| parent.names.get(&other.name) < name);
            let name = parent.names.push(name);
            parent.entries.insert(at, Entry { name, kind });
        }
    }

    /// Takes ignored folders out again in which nothing was found.
    fn drop_empty_passages(&mut self) {
        let mut is_empty = vec![false; self.folders.len()];
        // Folders come after those that they are in, so the innermost are looked at first.
        for (number, folder) in self.folders.iter_mut().enumerate().rev() {
            folder.entries.retain(|entry| match entry.kind {
                Kind::Folder(inner) => !is_empty.get(inner).copied().unwrap_or_default(),
                _ => true,
            });
            if let Some(empty) = is_empty.get_mut(number) {
                *empty = folder.is_passage && folder.entries.is_empty();
            }
        }
    }
}

impl Walk<'_> {
    fn list(&self, folder: &Waiting) -> Result<Listed, Unlisted> {
        let path = self.root.join(as_path(&folder.path));
        let (directory, names, found) =
            names_in(&path, folder.path.is_empty()).map_err(|error| match error.kind() {
                ErrorKind::NotFound | ErrorKind::NotADirectory => Unlisted::Vanished,
                _ if is_refusal(&error) => Unlisted::Unreadable(error.to_string()),
                _ => Unlisted::Failed(Error::io("list", &path, &error)),
            })?;
        let open = directory.fd().map_err(|error| Unlisted::Failed(Error::io("list", &path, &error.into())))?;
        let has = |name: &[u8]| found.binary_search_by(|other| names.get(other).cmp(name)).is_ok();
        let is_open = folder.reach == Reach::Open && !folder.is_included && !folder.path.is_empty();
        let marked;
        let folder = if is_open && is_marked_disposable(&path, has) {
            marked = Waiting { reach: self.reach_below(&folder.git, &folder.path)?, ..folder.clone() };
            &marked
        } else {
            folder
        };
        let entries = Vec::with_capacity(found.len());
        let mut listed = Listed { is_passage: folder.reach != Reach::Open, entries, ..Listed::default() };
        let git = if folder.reach == Reach::Open && (has(b".git") || has(b".gitignore")) {
            folder.git.inside(self.root, &folder.path, &mut listed.skipped)
        } else {
            folder.git.clone()
        };
        let place = Place { folder, git: &git, open };
        let mut path = join(&folder.path, b"");
        let folder_bytes = path.len();
        for name in found {
            path.truncate(folder_bytes);
            path.extend_from_slice(names.get(&name));
            if let Some(kind) = self.look(&place, names.as_c_str(&name), &path, &mut listed)? {
                listed.entries.push(Entry { name, kind });
            }
        }
        listed.names = names;
        Ok(listed)
    }

    /// How far the snapshot reaches into a folder that is left out: not at all, unless something below it is wanted.
    fn reach_below(&self, git: &Git, path: &[u8]) -> Result<Reach, Unlisted> {
        let is_wanted = git.tracks_below(path) || self.globs.include_below(path);
        if is_wanted { Ok(Reach::Ignored) } else { Err(Unlisted::Vanished) }
    }

    /// What a name stands for in the snapshot; a folder is still to be listed.
    fn look(&self, place: &Place<'_>, name: &CStr, path: &[u8], listed: &mut Listed) -> Result<Option<Kind>, Unlisted> {
        let bytes = name.to_bytes();
        if bytes == b".git" || bytes == b".progress" {
            return Ok(None);
        }
        if let Err(why) = check_name(bytes) {
            listed.skipped.push((escape(path), why.to_owned()));
            return Ok(None);
        }
        match rustix::fs::statat(place.open, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Directory => {
                self.look_into(place, path, bytes, &stat, listed);
                Ok(None)
            }
            Ok(stat) => Ok(self.look_at(place, path, bytes, &stat, listed)),
            Err(rustix::io::Errno::NOENT) => Ok(None),
            Err(error) => {
                let error = std::io::Error::from(error);
                if !is_refusal(&error) {
                    return Err(Unlisted::Failed(Error::io("look at", &self.root.join(as_path(path)), &error)));
                }
                let is_wanted =
                    place.folder.reach == Reach::Open && !place.git.ignores(path, false) && !is_secret(bytes);
                Ok(is_wanted.then(|| Kind::Unheld { why: error.to_string(), size: 0, mode: 0 }))
            }
        }
    }

    /// Decides how far into a folder the snapshot reaches.
    fn look_into(&self, place: &Place<'_>, path: &[u8], name: &[u8], stat: &RawStat, listed: &mut Listed) {
        let Place { folder, git, open } = *place;
        let is_included = folder.is_included || self.globs.include(path);
        if self.globs.exclude(path) {
            return;
        }
        let is_left_out = || folder.reach == Reach::Ignored || git.ignores(path, true) || has_disposable_name(name);
        let reach = if !is_included && is_left_out() {
            let Ok(reach) = self.reach_below(git, path) else { return };
            reach
        } else {
            Reach::Open
        };
        if stat.st_dev != self.stat.st_dev || is_mount_point(open, name) {
            listed.skipped.push((escape(path), "another file system is mounted there".to_owned()));
            return;
        }
        let mode = Stat::of_raw(stat).mode & 0o777;
        let path = path.to_vec();
        listed.folders.push(Waiting { path, mode, git: git.clone(), reach, is_included, parent: 0 });
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

/// A folder, open, and the names in it, sorted. Only the top of the work tree may be a link.
fn names_in(folder: &Path, is_top: bool) -> std::io::Result<(Dir, Names, Vec<Range<usize>>)> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let flags = if is_top { flags } else { flags | OFlags::NOFOLLOW };
    let mut directory = Dir::new(rustix::fs::open(folder, flags, Mode::empty())?)?;
    let (mut names, mut found) = (Names::default(), Vec::new());
    while let Some(entry) = directory.read() {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if !matches!(name, b"." | b"..") {
            found.push((beginning(name), names.push(name)));
        }
    }
    found.sort_unstable_by(|(beginning, one), (other_beginning, other)| {
        beginning.cmp(other_beginning).then_with(|| names.get(one).cmp(names.get(other)))
    });
    Ok((directory, names, found.into_iter().map(|(_, name)| name).collect()))
}

/// The first bytes of a name as a number that is ordered as they are: most names differ there, and no name holds NUL.
fn beginning(name: &[u8]) -> u128 {
    let mut bytes = [0; 16];
    bytes.iter_mut().zip(name).for_each(|(place, byte)| *place = *byte);
    u128::from_be_bytes(bytes)
}

/// Whether the system refuses this one file, and not us altogether.
pub(super) fn is_refusal(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::InvalidFilename | ErrorKind::StaleNetworkFileHandle)
}

/// Whether something is mounted on the folder of that name, even from the same file system.
#[cfg(target_os = "linux")]
fn is_mount_point(around: BorrowedFd<'_>, name: &[u8]) -> bool {
    use rustix::fs::{StatxAttributes, StatxFlags};
    let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
    rustix::fs::statx(around, name, flags, StatxFlags::empty())
        .is_ok_and(|answer| answer.stx_attributes.contains(StatxAttributes::MOUNT_ROOT))
}

/// Other systems tell mounts by the device alone, which the caller has compared.
#[cfg(not(target_os = "linux"))]
fn is_mount_point(_around: BorrowedFd<'_>, _name: &[u8]) -> bool {
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
        let walked = walk(dir.path(), &ALL, &LIMITS).unwrap();
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
        assert!(names_in(&link, true).is_ok() && names_in(&real, false).is_ok());
        assert!(names_in(&link, false).is_err());
        let globs = Globs::new(&ALL).unwrap();
        let stat = rustix::fs::stat(dir.path()).unwrap();
        let walk = Walk { root: dir.path(), stat, globs, limits: &LIMITS };
        let git = Git::around(dir.path(), &mut Vec::new());
        for name in ["gone", "link", "file"] {
            let path = name.as_bytes().to_vec();
            let waiting =
                Waiting { path, mode: 0, git: git.clone(), reach: Reach::Open, is_included: false, parent: 0 };
            assert!(matches!(walk.list(&waiting), Err(Unlisted::Vanished)), "{name}");
        }
    }
}
