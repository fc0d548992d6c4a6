//! Writing a pack: frames as objects come, then the index, one sync and one name.

use std::collections::BTreeMap;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use tempfile::SpooledTempFile;

use super::{BEGIN, END, FOOTER_TAIL, Frame, count, index_of};
use crate::disk::layout::Layout;
use crate::disk::{self, Temporary};
use crate::error::{Error, Result};
use crate::model::ids::ObjectId;
use crate::snapshot::objects::{Hasher, id_of};
use crate::snapshot::packed::{Packed, Stored};

/// Bytes collected before they are written.
const BUFFER_BYTES: usize = 1 << 20;

/// A pack that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrittenPack {
    /// Its name.
    pub id: ObjectId,
    /// Its size on disk, in bytes.
    pub bytes: u64,
}

/// Writes the objects of one snapshot into one pack. Nothing is on disk before the first object comes, and nothing has
/// its final name before [`PackWriter::finish`].
#[derive(Debug)]
pub struct PackWriter {
    folder: PathBuf,
    file: Option<Temporary>,
    hasher: Hasher,
    buffer: Vec<u8>,
    offset: u64,
    index: BTreeMap<ObjectId, Frame>,
}

impl PackWriter {
    /// A writer into the objects of this store.
    pub fn new(layout: &Layout) -> PackWriter {
        PackWriter {
            folder: layout.objects(),
            file: None,
            hasher: Hasher::default(),
            buffer: Vec::new(),
            offset: 0,
            index: BTreeMap::new(),
        }
    }

    /// Whether the object is in this pack already.
    pub fn contains(&self, id: &ObjectId) -> bool {
        self.index.contains_key(id)
    }

    /// Adds an object, unless it is in this pack already.
    ///
    /// # Errors
    /// A failure that names the folder of packs.
    pub fn add_packed(&mut self, packed: Packed) -> Result<()> {
        if self.contains(&packed.id) {
            return Ok(());
        }
        if self.offset == 0 {
            self.put(BEGIN)?;
        }
        let offset = self.offset;
        let Packed { id, length, is_difference, stored } = packed;
        let mut frame = Frame { offset, length, stored: 0, is_difference };
        match stored {
            Stored::Memory(bytes) => {
                frame.stored = count(bytes.len());
                self.put_header(&id, &frame)?;
                self.put(&bytes)?;
            }
            Stored::Spool(spool) => self.put_spool(&id, &mut frame, spool)?,
        }
        self.index.insert(id, frame);
        Ok(())
    }

    /// Hashes, compresses and adds bytes, unless they are in this pack already. Whether another pack of the store holds
    /// them, only [`Objects::has`](crate::snapshot::objects::Objects::has) knows.
    ///
    /// # Errors
    /// As [`PackWriter::add_packed`].
    pub fn add(&mut self, bytes: &[u8]) -> Result<ObjectId> {
        let id = id_of(bytes);
        if !self.contains(&id) {
            self.add_packed(Packed::with_id(id, bytes, None)?)?;
        }
        Ok(id)
    }

    /// As [`PackWriter::add`] for bytes of any length, which need not fit into memory.
    ///
    /// # Errors
    /// As [`PackWriter::add_packed`], and what the reader says.
    pub fn add_reader(&mut self, reader: &mut dyn Read) -> Result<ObjectId> {
        disk::make_directory(&self.folder)?;
        let packed = Packed::from_reader(reader, &self.folder)
            .map_err(|error| Error::failed("cannot store an object").because(error.to_string()))?;
        let id = packed.id();
        self.add_packed(packed)?;
        Ok(id)
    }

    fn put_header(&mut self, id: &ObjectId, frame: &Frame) -> Result<()> {
        let [_, length, stored] = frame.numbers();
        self.put(&id.0)?;
        self.put(&length.to_le_bytes())?;
        self.put(&stored.to_le_bytes())
    }

    fn put_spool(&mut self, id: &ObjectId, frame: &mut Frame, mut spool: SpooledTempFile) -> Result<()> {
        let named = |error: &io::Error, folder: &Path| Error::io("read back a compressed object", folder, error);
        frame.stored = spool.seek(io::SeekFrom::End(0)).map_err(|error| named(&error, &self.folder))?;
        spool.rewind().map_err(|error| named(&error, &self.folder))?;
        self.put_header(id, frame)?;
        let mut buffer = vec![0; BUFFER_BYTES];
        loop {
            let read = spool.read(&mut buffer).map_err(|error| named(&error, &self.folder))?;
            let Some(bytes) = buffer.get(..read).filter(|bytes| !bytes.is_empty()) else { return Ok(()) };
            self.put(bytes)?;
        }
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.buffer.extend_from_slice(bytes);
        self.offset += count(bytes.len());
        if self.buffer.len() >= BUFFER_BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => {
                disk::make_directory(&self.folder)?;
                none.insert(Temporary::new(&self.folder)?)
            }
        };
        self.hasher.update(&self.buffer);
        file.file().write_all(&self.buffer).map_err(|error| Error::io("write the pack", &self.folder, &error))?;
        self.buffer.clear();
        Ok(())
    }

    /// Writes index and checksum, syncs the pack and gives it its name. `None` if nothing was added.
    ///
    /// # Errors
    /// A failure that names the file; then there is no pack.
    pub fn finish(mut self) -> Result<Option<WrittenPack>> {
        if self.index.is_empty() {
            return Ok(None);
        }
        let footer = self.put_index()?;
        self.put(&footer)?;
        self.flush()?;
        let id = self.hasher.finish();
        self.buffer.extend_from_slice(&id.0);
        self.buffer.extend_from_slice(END);
        self.offset += FOOTER_TAIL;
        self.flush()?;
        let Some(mut file) = self.file else { return Err(Error::bug("a pack was flushed to no file")) };
        file.seal(0o400)?;
        file.rename_to(&self.folder.join(format!("{id}.pack")))?;
        disk::sync_directory(&self.folder)?;
        Ok(Some(WrittenPack { id, bytes: self.offset }))
    }

    /// Writes the index; what it returns is the footer up to and with the index's checksum.
    fn put_index(&mut self) -> Result<Vec<u8>> {
        let (index, footer) = index_of(&self.index, self.offset);
        self.put(&index)?;
        Ok(footer)
    }
}
