//! Reaching into the work tree without ever leaving it: every directory is opened from the top, no link on the way is
//! followed, no mount is crossed, and what is then done is done by name relative to that descriptor. A directory that
//! somebody swaps for a link while we work leads nowhere.

use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::manifest::{Kind, State};
use crate::disk;
use crate::disk::hash::{Hasher, id_of};
use crate::error::{Error, Result};
use crate::model::ids::TreePath;
use crate::snapshot::below::{is_unknown_call, open_below};

/// A directory, opened for reading its names and syncing them.
const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC).union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK);

/// A file, opened for reading; a FIFO does not make us wait.
const FILE: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK);

/// What was found at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// Nothing.
    Absent,
    /// Something that a snapshot can hold.
    There(State),
    /// A device, a socket, a FIFO, or something that we may not read.
    Other,
}

impl Seen {
    /// The state, if it is one that a snapshot can hold.
    pub fn state(self) -> Option<State> {
        match self {
            Seen::There(state) => Some(state),
            Seen::Absent | Seen::Other => None,
        }
    }
}

/// A directory tree that is entered from its top only.
pub struct Beneath {
    top: OwnedFd,
    path: PathBuf,
    /// What the system says of the top: what is below it is on the same device.
    stat: Stat,
    /// Whether the kernel resolves paths for us (`openat2`); else we go component by component.
    kernel_resolves: AtomicBool,
}

impl Beneath {
    /// Opens the top. It is the user's own path, so links in it are followed.
    ///
    /// # Errors
    /// A failure that names the path.
    pub fn open(path: &Path) -> Result<Beneath> {
        let named = |error: Errno| Error::io("open the directory", path, &error.into());
        let top = rustix::fs::open(path, DIRECTORY.difference(OFlags::NOFOLLOW), Mode::empty()).map_err(named)?;
        let stat = rustix::fs::fstat(&top).map_err(named)?;
        Ok(Beneath { top, path: path.to_path_buf(), stat, kernel_resolves: AtomicBool::new(cfg!(target_os = "linux")) })
    }

    /// The top, for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The top's own descriptor.
    pub fn top(&self) -> BorrowedFd<'_> {
        self.top.as_fd()
    }

    /// The path of an entry, for messages.
    pub fn name_of(&self, path: &TreePath) -> PathBuf {
        self.path.join(path.to_string())
    }

    /// A failed call on an entry.
    pub fn failed(&self, doing: &str, path: &TreePath, error: Errno) -> Error {
        Error::io(doing, &self.name_of(path), &error.into())
    }

    /// Opens a directory; `None` is the top.
    ///
    /// # Errors
    /// `LOOP` or `NOTDIR` if a link or another thing stands on the way, `XDEV` if it is on another file system or
    /// mount, `NOENT` if it is absent.
    pub fn directory(&self, path: Option<&TreePath>) -> rustix::io::Result<OwnedFd> {
        let Some(path) = path else { return self.top.try_clone().map_err(|error| errno(&error)) };
        if self.kernel_resolves.load(Ordering::Relaxed) {
            match open_below(self.top.as_fd(), path.as_bytes(), DIRECTORY) {
                Err(error) if is_unknown_call(error) => self.kernel_resolves.store(false, Ordering::Relaxed),
                other => return other,
            }
        }
        self.walk(path)
    }

    /// Opens the directory that holds an entry.
    ///
    /// # Errors
    /// As [`Beneath::directory`].
    pub fn holder(&self, path: &TreePath) -> rustix::io::Result<OwnedFd> {
        self.directory(path.parent().as_ref())
    }

    fn walk(&self, path: &TreePath) -> rustix::io::Result<OwnedFd> {
        let mut folder = self.top.try_clone().map_err(|error| errno(&error))?;
        for name in path.names() {
            folder = rustix::fs::openat(&folder, name, DIRECTORY, Mode::empty())?;
            if rustix::fs::fstat(&folder)?.st_dev != self.stat.st_dev {
                return Err(Errno::XDEV);
            }
        }
        Ok(folder)
    }

    /// What stands at a path, its content hashed.
    ///
    /// # Errors
    /// A failure that names the path: an I/O error is not absence.
    pub fn look(&self, path: &TreePath) -> Result<Seen> {
        let folder = match self.holder(path) {
            Ok(folder) => folder,
            // A link or file where a directory was: nothing of ours is below it.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(Seen::Absent),
            Err(Errno::ACCESS | Errno::XDEV) => return Ok(Seen::Other),
            Err(error) => return Err(self.failed("look at", path, error)),
        };
        look_at(folder.as_fd(), last_name(path)).map_err(|error| self.failed("read", path, error))
    }
}

/// The last component of a path.
pub fn last_name(path: &TreePath) -> &[u8] {
    path.names().last().unwrap_or_default()
}

/// The system's error number behind a standard error.
pub fn errno(error: &std::io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

/// What stands at `name` in an open directory, its content hashed; links are not followed.
///
/// # Errors
/// Whatever the system says except that nothing is there or that we may not read it.
pub fn look_at(folder: BorrowedFd<'_>, name: &[u8]) -> rustix::io::Result<Seen> {
    let stat = match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => stat,
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(Seen::Absent),
        Err(error) => return Err(error),
    };
    let mode = disk::permissions(stat.st_mode);
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => Ok(Seen::There(State::directory(mode))),
        FileType::Symlink => {
            let target = rustix::fs::readlinkat(folder, name, Vec::new())?.into_bytes();
            let size = u64::try_from(target.len()).unwrap_or(u64::MAX);
            Ok(Seen::There(State { kind: Kind::Link, mode: 0, size, object: id_of(&target) }))
        }
        FileType::RegularFile => match rustix::fs::openat(folder, name, FILE, Mode::empty()) {
            Ok(file) => read_state(File::from(file)),
            Err(Errno::NOENT) => Ok(Seen::Absent),
            Err(Errno::ACCESS | Errno::LOOP | Errno::NXIO) => Ok(Seen::Other),
            Err(error) => Err(error),
        },
        _ => Ok(Seen::Other),
    }
}

/// Hashes an open file.
fn read_state(mut file: File) -> rustix::io::Result<Seen> {
    /// Bytes that are read at a time.
    const PIECE_MIN: usize = 512;
    const PIECE_MAX: usize = 64 * 1024;
    let stat = rustix::fs::fstat(&file)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Ok(Seen::Other);
    }
    let mode = disk::permissions(stat.st_mode);
    let mut hasher = Hasher::new();
    // Most files are small: one more byte than they have shows their end.
    let length = usize::try_from(stat.st_size).unwrap_or_default().saturating_add(1);
    let mut buffer = vec![0; length.clamp(PIECE_MIN, PIECE_MAX)];
    let mut size: u64 = 0;
    loop {
        let count = file.read(&mut buffer).map_err(|error| errno(&error))?;
        let Some(part) = buffer.get(..count).filter(|part| !part.is_empty()) else { break };
        hasher.update(part);
        size = size.saturating_add(u64::try_from(count).unwrap_or_default());
    }
    Ok(Seen::There(State { kind: Kind::File, mode, size, object: hasher.finish() }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::tests_support::make_fifo;

    fn path(text: &str) -> TreePath {
        TreePath::new(text).unwrap()
    }

    #[test]
    fn no_way_leads_through_a_link_with_or_without_the_kernels_help() {
        let dir = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("a/b")).unwrap();
        std::fs::create_dir(outside.path().join("b")).unwrap();
        std::os::unix::fs::symlink(outside.path(), dir.path().join("out")).unwrap();
        std::os::unix::fs::symlink("a", dir.path().join("in")).unwrap();
        for kernel in [true, false] {
            let tree = Beneath::open(dir.path()).unwrap();
            tree.kernel_resolves.store(kernel, Ordering::Relaxed);
            assert!(tree.directory(Some(&path("a/b"))).is_ok());
            for link in ["out", "out/b", "in", "in/b"] {
                let error = tree.directory(Some(&path(link))).unwrap_err();
                assert!(matches!(error, Errno::LOOP | Errno::NOTDIR), "{link}: {error}");
            }
            assert_eq!(tree.directory(Some(&path("a/none"))).unwrap_err(), Errno::NOENT);
            assert_eq!(tree.look(&path("out/b")).unwrap(), Seen::Absent);
            let root = Beneath::open(Path::new("/")).unwrap();
            root.kernel_resolves.store(kernel, Ordering::Relaxed);
            // Another file system is mounted there, wherever Linux runs.
            if cfg!(target_os = "linux") {
                assert_eq!(root.directory(Some(&path("proc"))).unwrap_err(), Errno::XDEV);
                assert_eq!(root.look(&path("proc/version")).unwrap(), Seen::Other);
            }
        }
    }

    #[test]
    fn what_stands_there_is_told_apart() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::write(at("file"), "abc").unwrap();
        std::os::unix::fs::symlink("/etc/passwd", at("link")).unwrap();
        make_fifo(&at("fifo"));
        let tree = Beneath::open(dir.path()).unwrap();
        let file = tree.look(&path("file")).unwrap().state().unwrap();
        assert_eq!((file.kind, file.size, file.object), (Kind::File, 3, id_of(b"abc")));
        let link = tree.look(&path("link")).unwrap().state().unwrap();
        assert_eq!((link.kind, link.size, link.object), (Kind::Link, 11, id_of(b"/etc/passwd")));
        assert_eq!(tree.look(&path("fifo")).unwrap(), Seen::Other);
        assert_eq!(tree.look(&path("file/below")).unwrap(), Seen::Absent);
        assert_eq!(tree.look(&path("none")).unwrap(), Seen::Absent);
    }
}
