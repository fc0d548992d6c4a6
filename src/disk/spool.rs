//! A report as it was read: copied once into the store, hashed on the way, and parsed from the copy. What the numbers came
//! from and what is kept as evidence are then the same bytes, whoever writes to the original meanwhile.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

use rustix::io::Errno;

use super::hash::Hasher;
use super::write::folder_of;
use super::{Created, Temporary};
use crate::error::{Error, Reject, Result};
use crate::model::ids::ObjectId;

/// A private copy of some bytes. It goes away with this value; [`Spool::keep_as`] gives it a lasting name.
#[derive(Debug)]
pub struct Spool {
    file: Temporary,
    /// BLAKE3 of the bytes.
    pub id: ObjectId,
    /// How many there are.
    pub bytes: u64,
}

impl Spool {
    /// Copies all of `reader` into a temporary file in `folder`.
    ///
    /// # Errors
    /// `refused` over `limit` bytes; a failure if reading or writing fails.
    pub fn copy(folder: &Path, reader: &mut dyn Read, limit: u64) -> Result<Spool> {
        super::make_directory(folder)?;
        let mut file = Temporary::new(folder)?;
        // It is opened by its name again, and keeps its mode under the name that lasts.
        file.set_mode(0o600)?;
        let mut hasher = Hasher::new();
        let mut buffer = vec![0; 1 << 16];
        let mut bytes: u64 = 0;
        loop {
            let read = match reader.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(Error::failed("cannot read the report").because(error.to_string())),
            };
            bytes = bytes.saturating_add(u64::try_from(read).unwrap_or(u64::MAX));
            if bytes > limit {
                return Err(Error::report(Reject::Refused, "report is too large")
                    .because(format!("it has more than {limit} bytes, which is limits.report_bytes")));
            }
            let chunk = buffer.get(..read).unwrap_or_default();
            hasher.update(chunk);
            file.file().write_all(chunk).map_err(|error| Error::io("write", folder, &error))?;
        }
        Ok(Spool { file, id: hasher.finish(), bytes })
    }

    /// At its first byte.
    ///
    /// # Errors
    /// If the system cannot open it.
    pub fn open(&self) -> std::io::Result<File> {
        File::open(self.file.path())
    }

    /// Gives the bytes a lasting name beside which nothing is replaced: a file that is there already holds the same
    /// bytes, since the name holds their hash. They are synced first; the caller syncs the directory.
    ///
    /// # Errors
    /// If the disk says no.
    pub fn keep_as(&self, path: &Path) -> Result<()> {
        let synced = self.open().and_then(|file| file.sync_all());
        synced.map_err(|error| Error::io("write to disk", self.file.path(), &error))?;
        match rustix::fs::link(self.file.path(), path) {
            Ok(()) | Err(Errno::EXIST) => Ok(()),
            // A file system without hard links.
            Err(_) => {
                let mut copy = Temporary::new(folder_of(path))?;
                let copied = self.open().and_then(|mut bytes| std::io::copy(&mut bytes, copy.file()));
                copied.map_err(|error| Error::io("write", path, &error))?;
                copy.seal(0o600)?;
                copy.publish(path).map(|_: Created| ())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::hash::id_of;
    use crate::disk::list;

    /// One byte a call, and interrupted before each.
    struct Halting<'a>(&'a [u8], bool);

    impl Read for Halting<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            self.1 = !self.1;
            if self.1 { Err(std::io::ErrorKind::Interrupted.into()) } else { self.0.read(&mut buffer[..1]) }
        }
    }

    /// Says that the disk is broken.
    struct Broken;

    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("broken"))
        }
    }

    #[test]
    fn what_is_kept_is_what_was_read_up_to_the_limit() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("cache");
        let spool = Spool::copy(&folder, &mut Halting(b"12345", false), 5).unwrap();
        assert_eq!((spool.bytes, spool.id), (5, id_of(b"12345")));
        let kept = dir.path().join("kept");
        spool.keep_as(&kept).unwrap();
        spool.keep_as(&kept).unwrap();
        assert!(spool.keep_as(&dir.path().join("no/folder")).is_err());
        drop(spool);
        assert_eq!(std::fs::read(&kept).unwrap(), b"12345");
        let too_large = Spool::copy(&folder, &mut &b"123456"[..], 5).unwrap_err();
        assert!(too_large.to_string().contains("limits.report_bytes"), "{too_large}");
        assert!(Spool::copy(&folder, &mut Broken, 5).unwrap_err().to_string().contains("broken"));
        assert!(list(&folder).unwrap().is_empty());
    }
}
