//! Objects on their way into a pack: hashed and compressed, by themselves or as what differs from another.

use std::cell::RefCell;
use std::io::{self, Read, Seek, Write};
use std::path::Path;

use tempfile::SpooledTempFile;
use zstd::zstd_safe::{CCtx, DCtx, SafeResult, compress_bound, get_error_name};

use super::objects::{Hasher, id_of};
use super::pack::count;
use crate::error::{Error, Result};
use crate::model::ids::ObjectId;

/// The fastest level that still halves source text.
const LEVEL: i32 = 1;
/// Compressed bytes of one large file that are kept in memory before they go to a spool file.
const SPOOL_BYTES: usize = 16 << 20;

/// An object that is ready to be written: hashed and compressed, away from the writer's thread.
#[derive(Debug)]
pub struct Packed {
    pub(super) id: ObjectId,
    pub(super) length: u64,
    pub(super) is_difference: bool,
    pub(super) stored: Stored,
}

/// An object that others can be stored as differences from.
#[derive(Debug)]
pub(super) struct Base {
    /// Of its bytes.
    pub id: ObjectId,
    /// At most [`PIECE_BYTES`](super::pack::PIECE_BYTES).
    pub bytes: Vec<u8>,
}

/// What goes into the pack.
#[derive(Debug)]
pub(super) enum Stored {
    Memory(Vec<u8>),
    Spool(SpooledTempFile),
}

impl Packed {
    /// Hashes and compresses bytes in memory.
    ///
    /// # Errors
    /// A failure if memory for it is not to be had.
    pub fn new(bytes: &[u8]) -> Result<Packed> {
        Packed::with_id(id_of(bytes), bytes, None)
    }

    /// As [`Packed::new`] for bytes whose id is known. They become a difference from the base if that takes at most a
    /// sixteenth of them, or half of what they take by themselves.
    pub(super) fn with_id(id: ObjectId, bytes: &[u8], base: Option<&Base>) -> Result<Packed> {
        /// Text takes about a quarter by itself. Finding that out takes longer than making a difference.
        const SMALL_PART: usize = 16;
        let length = count(bytes.len());
        let mut difference = base.and_then(|base| difference(bytes, base));
        if let Some(difference) = difference.take_if(|it| it.len() <= bytes.len() / SMALL_PART) {
            return Ok(Packed::from_stored(id, length, true, difference));
        }
        let plain = compress(bytes, &[])
            .map_err(|error| Error::failed("cannot compress an object").because(error.to_string()))?;
        let difference = difference.filter(|it| it.len() <= plain.len() / 2);
        let is_difference = difference.is_some();
        Ok(Packed::from_stored(id, length, is_difference, difference.unwrap_or(plain)))
    }

    /// An object as it was stored before.
    pub(super) fn from_stored(id: ObjectId, length: u64, is_difference: bool, stored: Vec<u8>) -> Packed {
        Packed { id, length, is_difference, stored: Stored::Memory(stored) }
    }

    /// Hashes and compresses what the reader yields, in little memory: large results go to an unnamed file in `folder`.
    ///
    /// # Errors
    /// What the reader or the spool file says.
    pub(super) fn from_reader(reader: &mut dyn Read, folder: &Path) -> io::Result<Packed> {
        let spool = tempfile::spooled_tempfile_in(SPOOL_BYTES, folder);
        let mut encoder = zstd::stream::write::Encoder::new(spool, LEVEL)?;
        let mut hasher = Hasher::default();
        let mut length = 0;
        let mut buffer = vec![0; 256 << 10];
        loop {
            let read = reader.read(&mut buffer)?;
            let Some(bytes) = buffer.get(..read).filter(|bytes| !bytes.is_empty()) else { break };
            hasher.update(bytes);
            encoder.write_all(bytes)?;
            length += count(read);
        }
        let mut spool = encoder.finish()?;
        spool.rewind()?;
        Ok(Packed { id: hasher.finish(), length, is_difference: false, stored: Stored::Spool(spool) })
    }

    /// BLAKE3 of the bytes.
    pub fn id(&self) -> ObjectId {
        self.id
    }

    /// Bytes before compression.
    pub fn length(&self) -> u64 {
        self.length
    }
}

/// The bytes as a difference; `None` if they cannot be one.
fn difference(bytes: &[u8], base: &Base) -> Option<Vec<u8>> {
    let compressed = compress(bytes, &base.bytes).ok()?;
    Some([base.id.0.as_slice(), &compressed].concat())
}

thread_local! {
    // To make a context takes longer than most files take in one.
    static COMPRESSOR: RefCell<Option<CCtx<'static>>> = const { RefCell::new(None) };
    static DECOMPRESSOR: RefCell<Option<DCtx<'static>>> = const { RefCell::new(None) };
}

/// Compresses bytes; what they share with the dictionary is told by its place there.
fn compress(bytes: &[u8], dictionary: &[u8]) -> io::Result<Vec<u8>> {
    let mut stored = Vec::with_capacity(compress_bound(bytes.len()));
    COMPRESSOR.with_borrow_mut(|kept| {
        let context = kept.get_or_insert_default();
        said(context.compress_using_dict(&mut stored, bytes, dictionary, LEVEL))
    })?;
    Ok(stored)
}

/// What [`compress`] made of at most `capacity` bytes, with the same dictionary.
pub(super) fn decompress(stored: &[u8], dictionary: &[u8], capacity: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(capacity);
    DECOMPRESSOR.with_borrow_mut(|kept| {
        let context = kept.get_or_insert_default();
        said(context.decompress_using_dict(&mut bytes, stored, dictionary))
    })?;
    Ok(bytes)
}

fn said(result: SafeResult) -> io::Result<usize> {
    result.map_err(|code| io::Error::other(get_error_name(code)))
}
