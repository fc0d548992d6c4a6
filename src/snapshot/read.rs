//! Reading one file of the work tree while others may write to it: what is kept is one state of the file, or nothing.

use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::buffer::spare_capacity;
use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};

use super::below::{is_unknown_call, open_below};
use super::census::LineCounter;
use super::objects::{Hasher, Objects, id_of};
use super::pack::PIECE_BYTES;
use super::packed::Packed;
use super::rules::as_path;
use super::walk::{Stat, is_refusal};
use crate::error::{Error, Result};
use crate::model::ids::ObjectId;

/// How often a file is read that changes while it is read.
const ATTEMPTS: u32 = 4;

/// What reading a path came to.
#[derive(Debug)]
pub(super) enum Seen {
    /// A file, in one state.
    File(Box<Content>),
    /// A link and the bytes of its target.
    Link(Vec<u8>),
    /// It is there and cannot be kept.
    Unheld {
        /// Why.
        why: String,
        /// Bytes, as it was seen.
        size: u64,
        /// Permission bits, as they were seen.
        mode: u32,
    },
    /// It is not there any more.
    Gone,
}

/// A file as it was read.
#[derive(Debug)]
pub(super) struct Content {
    /// As the system had it before and after.
    pub stat: Stat,
    /// Of its bytes.
    pub id: ObjectId,
    /// Non-blank lines; `None` for a binary file.
    pub lines: Option<u64>,
    /// The bytes, if the store does not have them and they are to be kept.
    pub packed: Option<Packed>,
}

/// Reads files of one work tree.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    root: &'a Path,
    directory: OwnedFd,
    /// What is stored already; `None` is nothing.
    objects: Option<&'a Objects>,
    file_bytes: u64,
    /// Where large compressed files are put meanwhile; `None` if nothing is to be kept.
    spool: Option<PathBuf>,
}

/// One attempt.
enum Attempt {
    Done(Seen),
    Changed,
}

impl<'a> Reader<'a> {
    /// A reader below `root`. Without `spool` contents are only hashed.
    ///
    /// # Errors
    /// The root cannot be opened.
    pub fn new(
        root: &'a Path,
        objects: Option<&'a Objects>,
        file_bytes: u64,
        spool: Option<PathBuf>,
    ) -> Result<Reader<'a>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = rustix::fs::open(root, flags, Mode::empty())
            .map_err(|error| Error::io("open the work tree", root, &error.into()))?;
        Ok(Reader { root, directory, objects, file_bytes, spool })
    }

    /// Reads what is at the path now. A file that changes meanwhile is read again, three times. `old` is what it held
    /// in the last snapshot.
    ///
    /// # Errors
    /// A failure that names the file: the system failed, which is not the file's fault.
    pub fn read(&self, path: &[u8], old: Option<&ObjectId>) -> Result<Seen> {
        let full = self.root.join(as_path(path));
        // The walk has just seen a file there. If it still is one, it need not be looked at by its name again.
        let first = self.open(path, &full).map_err(io::Error::from).and_then(|file| self.take(file, old));
        if let Ok(Attempt::Done(seen)) = first {
            return Ok(seen);
        }
        let named = |error: io::Error| Error::io("read", &full, &error);
        let mut size = 0;
        let mut mode = 0;
        for _ in 1..ATTEMPTS {
            let meta = match std::fs::symlink_metadata(&full) {
                Ok(meta) => meta,
                Err(error) if is_absence(&error) => return Ok(Seen::Gone),
                Err(error) if is_refusal(&error) => return Ok(Seen::Unheld { why: error.to_string(), size, mode }),
                Err(error) => return Err(named(error)),
            };
            (size, mode) = (meta.size(), meta.mode() & 0o777);
            match self.attempt(path, &full, &meta, old) {
                Ok(Attempt::Done(seen)) => return Ok(seen),
                Ok(Attempt::Changed) => {}
                Err(error) if is_absence(&error) => {}
                Err(error) if is_refusal(&error) => return Ok(Seen::Unheld { why: error.to_string(), size, mode }),
                Err(error) => return Err(named(error)),
            }
        }
        Ok(Seen::Unheld { why: "it changed each time it was read".to_owned(), size, mode })
    }

    fn attempt(&self, path: &[u8], full: &Path, meta: &Metadata, old: Option<&ObjectId>) -> io::Result<Attempt> {
        if meta.is_symlink() {
            return Ok(Attempt::Done(Seen::Link(std::fs::read_link(full)?.as_os_str().as_bytes().to_vec())));
        }
        let unheld = |why: &str| {
            let (size, mode) = (meta.size(), meta.mode() & 0o777);
            Ok(Attempt::Done(Seen::Unheld { why: why.to_owned(), size, mode }))
        };
        if !meta.is_file() {
            return unheld("it was replaced by something else while the snapshot was made");
        }
        if meta.size() > self.file_bytes {
            return unheld("it grew beyond limits.file_bytes while the snapshot was made");
        }
        match self.open(path, full) {
            Ok(file) => self.take(file, old),
            // It, or a folder around it, became a link.
            Err(Errno::LOOP | Errno::AGAIN) => Ok(Attempt::Changed),
            Err(Errno::XDEV) => unheld("another file system is mounted there"),
            Err(error) => Err(error.into()),
        }
    }

    /// One state of an open file.
    fn take(&self, mut file: File, old: Option<&ObjectId>) -> io::Result<Attempt> {
        let before = file.metadata()?;
        if !before.is_file() || before.size() > self.file_bytes {
            return Ok(Attempt::Changed);
        }
        let stat = Stat::of(&before);
        let (id, lines, length, packed) = self.content(&mut file, stat.size, old)?;
        if Stat::of(&file.metadata()?) != stat || length != stat.size {
            return Ok(Attempt::Changed);
        }
        Ok(Attempt::Done(Seen::File(Box::new(Content { stat, id, lines, packed }))))
    }

    /// Reads the open file to its end, but not much further than it was long.
    fn content(
        &self,
        file: &mut File,
        size: u64,
        old: Option<&ObjectId>,
    ) -> io::Result<(ObjectId, Option<u64>, u64, Option<Packed>)> {
        let mut counter = LineCounter::default();
        if size <= PIECE_BYTES {
            let length = usize::try_from(size).unwrap_or_default();
            // Room for one byte more: a file that has grown shows without being asked for its end.
            let mut bytes = Vec::with_capacity(length.saturating_add(1));
            while retry_on_intr(|| rustix::io::read(&*file, spare_capacity(&mut bytes)))? > 0 && bytes.len() < length {}
            counter.update(&bytes);
            let id = id_of(&bytes);
            let length = super::pack::count(bytes.len());
            let is_new = self.spool.is_some() && !self.has(&id);
            let base = old.filter(|_| is_new).and_then(|old| self.objects?.base(old));
            let pack = || Packed::with_id(id, &bytes, base.as_ref()).map_err(io::Error::other);
            let packed = is_new.then(pack).transpose()?;
            return Ok((id, counter.finish(), length, packed));
        }
        let mut bounded = file.take(size.saturating_add(1));
        let mut counted = Counted { inner: &mut bounded, counter: &mut counter };
        if let Some(folder) = &self.spool {
            let packed = Packed::from_reader(&mut counted, folder)?;
            let (id, length) = (packed.id(), packed.length());
            return Ok((id, counter.finish(), length, (!self.has(&id)).then_some(packed)));
        }
        let mut hasher = Hasher::default();
        let length = io::copy(&mut counted, &mut hasher)?;
        Ok((hasher.finish(), counter.finish(), length, None))
    }

    fn has(&self, id: &ObjectId) -> bool {
        self.objects.is_some_and(|objects| objects.has(id))
    }

    /// Opens a path below the root; no part of it may be a link, whatever is swapped in meanwhile.
    fn open(&self, path: &[u8], full: &Path) -> Result<File, Errno> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        match open_below(self.directory.as_fd(), path, flags) {
            Err(error) if is_unknown_call(error) => rustix::fs::open(full, flags, Mode::empty()),
            other => other,
        }
        .map(File::from)
    }
}

fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// Counts lines of what passes through.
struct Counted<'a, R> {
    inner: &'a mut R,
    counter: &'a mut LineCounter,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.counter.write_all(buffer.get(..read).unwrap_or_default())?;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::disk::layout::Layout;

    /// A folder was swapped for a link after it was listed: what lies behind the link is somebody else's.
    #[test]
    #[cfg(target_os = "linux")]
    fn no_file_is_read_through_a_link_in_its_path() {
        let (dir, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::write(outside.path().join("secret"), "theirs").unwrap();
        std::os::unix::fs::symlink(outside.path(), dir.path().join("folder")).unwrap();
        std::fs::write(dir.path().join("own"), "ours").unwrap();
        let objects = Objects::open(&Layout::new(dir.path())).unwrap();
        let reader = Reader::new(dir.path(), Some(&objects), 100, None).unwrap();
        assert!(matches!(reader.read(b"folder/secret", None).unwrap(), Seen::Unheld { .. }));
        assert!(matches!(reader.read(b"own", None).unwrap(), Seen::File(content) if content.id == id_of(b"ours")));
        assert!(matches!(reader.read(b"folder", None).unwrap(), Seen::Link(_)));
        assert!(matches!(reader.read(b"absent", None).unwrap(), Seen::Gone));
        assert!(matches!(reader.read(b"own/below", None).unwrap(), Seen::Gone));
        std::fs::create_dir(dir.path().join("inner")).unwrap();
        std::fs::write(dir.path().join("inner/own"), "ours").unwrap();
        std::os::unix::fs::symlink("inner", dir.path().join("beside")).unwrap();
        assert!(matches!(reader.read(b"beside/own", None).unwrap(), Seen::Unheld { .. }));
    }

    #[test]
    fn what_became_something_else_is_not_held() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("folder")).unwrap();
        std::fs::write(dir.path().join("grown"), "12345").unwrap();
        for (name, mode) in [("folder", 0o750), ("grown", 0o640)] {
            std::fs::set_permissions(dir.path().join(name), std::fs::Permissions::from_mode(mode)).unwrap();
        }
        let objects = Objects::open(&Layout::new(dir.path())).unwrap();
        let reader = Reader::new(dir.path(), Some(&objects), 4, None).unwrap();
        for (path, said, bits) in [(&b"folder"[..], "replaced", 0o750), (b"grown", "grew", 0o640)] {
            let seen = reader.read(path, None).unwrap();
            assert!(matches!(seen, Seen::Unheld { why, mode, .. } if why.contains(said) && mode == bits));
        }
    }

    #[test]
    fn what_the_system_does_not_tell_of_is_not_gone() {
        let dir = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("loop", dir.path().join("loop")).unwrap();
        let objects = Objects::open(&Layout::new(dir.path())).unwrap();
        let reader = Reader::new(dir.path(), Some(&objects), 4, None).unwrap();
        let error = reader.read(b"loop/file", None).unwrap_err();
        assert_eq!(error.kind, crate::error::ErrorKind::Failed, "{error}");
        // The file system takes no such name.
        assert!(matches!(reader.read(&[b'x'; 300], None).unwrap(), Seen::Unheld { size: 0, mode: 0, .. }));
    }

    /// The system's own files say that they are empty and are not: as if they grew between looking and reading.
    #[test]
    #[cfg(target_os = "linux")]
    fn a_file_that_is_not_as_long_as_it_was_said_to_be_is_not_held() {
        let objects = Objects::open(&Layout::new(Path::new("/absent"))).unwrap();
        let reader = Reader::new(Path::new("/proc/self"), Some(&objects), 100, None).unwrap();
        let seen = reader.read(b"status", None).unwrap();
        assert!(matches!(seen, Seen::Unheld { why, mode: 0o444, .. } if why.contains("changed")));
    }
}
