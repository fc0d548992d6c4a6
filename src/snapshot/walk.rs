//! The files that a snapshot covers: what git would track, no secrets, and nothing that tools make again.
//!
//! Folders are listed level by level and in parallel, never recursively, so that depth costs no stack. Links are not
//! followed and other file systems are not entered. What git tracks is taken even where an ignore rule matches it.

use std::fs::Metadata;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use rayon::prelude::*;

use super::disposable::is_disposable;
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
    /// Raw bytes, checked.
    pub name: Vec<u8>,
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
}

impl Folder {
    /// The path of a name in it.
    pub fn path_of(&self, name: &[u8]) -> Vec<u8> {
        join(&self.path, name)
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
    entries: Vec<Entry>,
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

struct Walk<'a> {
    root: &'a Path,
    device: u64,
    globs: Globs,
    limits: &'a Limits,
}

/// Walks the work tree.
///
/// # Errors
/// Bad input if a glob is none; a failure that names the folder or file that could not be looked at.
pub(super) fn walk(root: &Path, capture: &Capture, limits: &Limits) -> Result<Walked> {
    let meta = std::fs::metadata(root).map_err(|error| Error::io("look at the work tree", root, &error))?;
    let globs = Globs::new(capture)?;
    let walk = Walk { root, device: meta.dev(), globs, limits };
    let mut found = Walked::default();
    let mut level = vec![Waiting {
        path: Vec::new(),
        mode: meta.mode() & 0o777,
        git: Git::around(root, &mut found.skipped),
        reach: Reach::Open,
        is_included: false,
        parent: 0,
    }];
    while !level.is_empty() {
        let listed: Vec<_> = level.par_iter().map(|waiting| walk.list(waiting)).collect();
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
        let is_passage = waiting.reach != Reach::Open;
        self.folders.push(Folder { path: waiting.path, mode: waiting.mode, is_passage, entries: listed.entries });
        listed.folders.into_iter().map(|folder| Waiting { parent: number, ..folder }).collect()
    }

    /// Puts a folder, or what stands for it, into the folder that it is in.
    fn refer(&mut self, waiting: &Waiting, kind: Kind) {
        let name = waiting.path.rsplit(|byte| *byte == b'/').next().unwrap_or_default().to_vec();
        let entry = Entry { name, kind };
        if waiting.reach != Reach::Open && !matches!(entry.kind, Kind::Folder(_)) {
            return;
        }
        if let Some(parent) = self.folders.get_mut(waiting.parent) {
            let at = parent.entries.partition_point(|other| other.name < entry.name);
            parent.entries.insert(at, entry);
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
        let mut names = names_in(&path).map_err(|error| match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => Unlisted::Vanished,
            _ if is_refusal(&error) => Unlisted::Unreadable(error.to_string()),
            _ => Unlisted::Failed(Error::io("list", &path, &error)),
        })?;
        names.sort_unstable();
        let mut listed = Listed::default();
        let has = |name: &[u8]| names.binary_search_by(|other| other.as_slice().cmp(name)).is_ok();
        let git = if folder.reach == Reach::Open && (has(b".git") || has(b".gitignore")) {
            folder.git.inside(self.root, &folder.path, &mut listed.skipped)
        } else {
            folder.git.clone()
        };
        for name in names {
            self.look(folder, &git, name, &mut listed)?;
        }
        Ok(listed)
    }

    fn look(&self, folder: &Waiting, git: &Git, name: Vec<u8>, listed: &mut Listed) -> Result<(), Unlisted> {
        if name == b".git" || name == b".progress" {
            return Ok(());
        }
        let path = join(&folder.path, &name);
        if let Err(why) = check_name(&name) {
            listed.skipped.push((escape(&path), why.to_owned()));
            return Ok(());
        }
        let full = self.root.join(as_path(&path));
        let meta = match std::fs::symlink_metadata(&full) {
            Ok(meta) => meta,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) if is_refusal(&error) => {
                if folder.reach == Reach::Open && !git.ignores(&path, false) && !is_secret(&name) {
                    let kind = Kind::Unheld { why: error.to_string(), size: 0, mode: 0 };
                    listed.entries.push(Entry { name, kind });
                }
                return Ok(());
            }
            Err(error) => return Err(Unlisted::Failed(Error::io("look at", &full, &error))),
        };
        if meta.is_dir() {
            self.look_into(folder, git, path, &full, &meta, listed);
        } else {
            self.look_at(folder, git, path, name, &meta, listed);
        }
        Ok(())
    }

    /// Decides how far into a folder the snapshot reaches.
    fn look_into(&self, folder: &Waiting, git: &Git, path: Vec<u8>, full: &Path, meta: &Metadata, listed: &mut Listed) {
        let is_included = folder.is_included || self.globs.include(&path);
        if self.globs.exclude(&path) {
            return;
        }
        let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        let is_left_out = || folder.reach == Reach::Ignored || git.ignores(&path, true) || is_disposable(name, full);
        let reach = if !is_included && is_left_out() {
            if !(git.tracks_below(&path) || self.globs.include_below(&path)) {
                return;
            }
            Reach::Ignored
        } else {
            Reach::Open
        };
        if meta.dev() != self.device || is_mount_point(full) {
            listed.skipped.push((escape(&path), "another file system is mounted there".to_owned()));
            return;
        }
        let mode = meta.mode() & 0o777;
        listed.folders.push(Waiting { path, mode, git: git.clone(), reach, is_included, parent: 0 });
    }

    /// Decides whether a file or link is taken.
    fn look_at(&self, folder: &Waiting, git: &Git, path: Vec<u8>, name: Vec<u8>, meta: &Metadata, listed: &mut Listed) {
        let is_kept_from_git = folder.reach == Reach::Ignored || git.ignores(&path, false);
        let is_ignored = is_kept_from_git && !git.tracks(&path);
        let is_secret = is_secret(&name);
        let is_included = folder.is_included || self.globs.include(&path);
        let is_left_out = is_ignored && !is_included || is_secret && !self.globs.name(&path);
        if is_left_out || self.globs.exclude(&path) {
            return;
        }
        if is_ignored || is_secret {
            listed.included.extend(TreePath::new(path.as_slice()).ok());
        }
        let kind = match self.kind_of(meta) {
            Ok(kind) => kind,
            Err(what) => {
                listed.skipped.push((escape(&path), what.to_owned()));
                return;
            }
        };
        if matches!(kind, Kind::File(_)) && meta.nlink() > 1 {
            listed.hard_links += 1;
        }
        listed.entries.push(Entry { name, kind });
    }

    fn kind_of(&self, meta: &Metadata) -> Result<Kind, &'static str> {
        let kind = meta.file_type();
        if kind.is_symlink() {
            return Ok(Kind::Link);
        }
        if kind.is_fifo() {
            return Err("it is a FIFO");
        }
        if kind.is_socket() {
            return Err("it is a socket");
        }
        if !kind.is_file() {
            return Err("it is a device");
        }
        if meta.size() > self.limits.file_bytes {
            return Ok(too_large(self.limits, meta));
        }
        Ok(Kind::File(Stat::of(meta)))
    }
}

/// A file over the limit.
pub(super) fn too_large(limits: &Limits, meta: &Metadata) -> Kind {
    let why = format!("it is larger than limits.file_bytes ({} bytes)", limits.file_bytes);
    Kind::Unheld { why, size: meta.size(), mode: meta.mode() & 0o777 }
}

fn names_in(folder: &Path) -> std::io::Result<Vec<Vec<u8>>> {
    std::fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.file_name().as_bytes().to_vec())).collect()
}

/// Whether the system refuses this one file, and not us altogether.
pub(super) fn is_refusal(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::InvalidFilename | ErrorKind::StaleNetworkFileHandle)
}

/// Whether something is mounted on the folder, even from the same file system.
#[cfg(target_os = "linux")]
fn is_mount_point(folder: &Path) -> bool {
    use rustix::fs::{AtFlags, CWD, StatxAttributes, StatxFlags};
    let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
    rustix::fs::statx(CWD, folder, flags, StatxFlags::empty())
        .is_ok_and(|answer| answer.stx_attributes.contains(StatxAttributes::MOUNT_ROOT))
}

/// Other systems tell mounts by the device alone, which the caller has compared.
#[cfg(not(target_os = "linux"))]
fn is_mount_point(_folder: &Path) -> bool {
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
