//! One pack: the new objects of one snapshot in one file, so that a snapshot costs one sync and one rename.
//!
//! ```text
//! "hwpack" 0 1                                          8 bytes
//! frames:  id (32) length (8) stored (8)  zstd bytes    `length` before, `stored` after compression
//! index:   id (32) offset (8) length (8) stored (8)     one for each frame, sorted by id
//! footer:  offset of the index (8) entries (8)
//!          BLAKE3 of the index and the two numbers (32) BLAKE3 of all bytes before this one (32) "hwpack" 0 255
//! ```
//! Integers are little endian. The pack is named for the last BLAKE3. Frames carry id and length too, so that a damaged
//! index can be made again from them.
//!
//! Where the highest bit of `stored` is set, the content is a difference: the id (32) of another object, its base, and
//! zstd bytes that have the base as their dictionary. The base may be in any pack, and is no difference itself, so that
//! an object never takes more than one other to be read.

mod writer;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt;

pub use writer::{PackWriter, WrittenPack};

use super::objects::{Hasher, id_of};
use super::packed::decompress;
use crate::error::Result;
use crate::model::ids::ObjectId;

const BEGIN: &[u8; 8] = b"hwpack\x00\x01";
const END: &[u8; 8] = b"hwpack\x00\xff";
/// Bytes before a frame's content.
const FRAME_HEADER: u64 = 48;
const INDEX_ENTRY: u64 = 56;
const FOOTER: u64 = 88;
/// Bytes of a pack without objects.
pub(super) const EMPTY_BYTES: u64 = 8 + FOOTER;
/// Bytes of the footer that its own checksum does not cover.
const FOOTER_TAIL: u64 = 40;
/// Up to this size an object is handled in one piece.
pub(super) const PIECE_BYTES: u64 = 4 << 20;
/// Bytes of an index that are read at once: whole entries.
const INDEX_PIECE: usize = 56 << 10;
/// Larger indexes are not ours (1 GiB): it is about 19 million objects.
const MAX_INDEX_BYTES: u64 = 1 << 30;
/// In `stored`: the content is a difference.
const DIFFERENCE: u64 = 1 << 63;
/// Window of the largest frames that are read, as a power of two: more than level 1 ever makes.
const WINDOW_LOG_MAX: u32 = 24;

/// Objects and where in a pack they are.
pub(super) type Frames = Vec<(ObjectId, Frame)>;

/// Where in its pack an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Frame {
    /// Of the frame's header, from the pack's begin.
    pub offset: u64,
    /// Bytes of the object.
    pub length: u64,
    /// Bytes of it in the pack, compressed.
    pub stored: u64,
    /// Whether it can only be read with another object, whose id its content begins with.
    pub is_difference: bool,
}

impl Frame {
    /// As an index has it.
    pub fn numbers(&self) -> [u64; 3] {
        [self.offset, self.length, self.stored | if self.is_difference { DIFFERENCE } else { 0 }]
    }

    /// What [`Frame::numbers`] made.
    pub fn from_numbers([offset, length, stored]: [u64; 3]) -> Frame {
        Frame { offset, length, stored: stored & !DIFFERENCE, is_difference: stored & DIFFERENCE != 0 }
    }

    /// Where it ends in its pack.
    pub fn end(&self) -> u64 {
        self.offset.saturating_add(FRAME_HEADER).saturating_add(self.stored)
    }

    /// Bytes of the pack that it takes, with its header and its place in the index.
    pub fn bytes(&self) -> u64 {
        self.stored.saturating_add(FRAME_HEADER + INDEX_ENTRY)
    }
}

/// The index of these frames, which end at `offset`, and the footer up to and with the index's checksum.
fn index_of(frames: &BTreeMap<ObjectId, Frame>, offset: u64) -> (Vec<u8>, Vec<u8>) {
    let mut bytes = Vec::with_capacity(frames.len().saturating_mul(56));
    for (id, frame) in frames {
        bytes.extend_from_slice(&id.0);
        frame.numbers().iter().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
    }
    let mut footer = [offset.to_le_bytes(), count(frames.len()).to_le_bytes()].concat();
    let mut hasher = Hasher::default();
    hasher.update(&bytes);
    hasher.update(&footer);
    footer.extend_from_slice(&hasher.finish().0);
    (bytes, footer)
}

/// Writes a pack whose index is damaged anew, from its frames, into `out`. What it answers is the checksum of what was
/// written: the pack's name, if nothing but its end was damaged.
///
/// # Errors
/// What the pack or `out` says.
pub(super) fn rewrite(file: &File, out: &mut dyn Write) -> io::Result<ObjectId> {
    let mut frames = BTreeMap::new();
    let mut end = count(BEGIN.len());
    while let Some((id, frame)) = frame_at(file, end)? {
        match check(file, frame, &id) {
            Ok(()) => {}
            Err(Unpack::Unread(error)) => return Err(error),
            Err(Unpack::Damaged(_) | Unpack::Out(_)) => break,
        }
        frames.insert(id, frame);
        end = frame.end();
    }
    let (index, footer) = index_of(&frames, end);
    let mut written = Hashed { out, hasher: Hasher::default() };
    io::copy(&mut Section { file, at: 0, left: end }, &mut written)?;
    written.write_all(&index)?;
    written.write_all(&footer)?;
    let id = written.hasher.finish();
    out.write_all(&id.0)?;
    out.write_all(END)?;
    Ok(id)
}

/// Whether a frame holds what its header says. What a difference is made of lies elsewhere: whoever reads it finds out.
fn check(file: &File, frame: Frame, id: &ObjectId) -> Result<(), Unpack> {
    if frame.is_difference { Ok(()) } else { unpack(file, frame, id, None, &mut io::sink()) }
}

/// Hashes what passes through.
struct Hashed<'a> {
    out: &'a mut dyn Write,
    hasher: Hasher,
}

impl Write for Hashed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.hasher.update(bytes.get(..written).unwrap_or_default());
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Lengths in memory always fit.
pub(super) fn count(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

/// What the end of a pack tells.
#[derive(Debug)]
pub(super) struct Index<T> {
    /// Of each object, in the order of their ids.
    pub entries: Vec<T>,
    /// The pack's checksum as it is written in it; the pack's name, if nothing was changed.
    pub checksum: ObjectId,
}

/// Reads the index of a pack, and keeps what `entry` makes of each object and its place. Inside: a fragment that says what
/// is wrong with it.
///
/// # Errors
/// If the system cannot read it: that says nothing about the pack.
pub(super) fn read_index<T>(file: &File, entry: impl Fn(ObjectId, Frame) -> T) -> io::Result<Result<Index<T>, String>> {
    let damaged = |why: &str| Ok(Err(why.to_owned()));
    let size = file.metadata()?.len();
    let Some(footer_at) = size.checked_sub(FOOTER) else { return damaged("it is cut short") };
    let mut footer = [0; 88];
    file.read_exact_at(&mut footer, footer_at)?;
    let mut rest = footer.as_slice();
    let (index_at, count) = (number(&mut rest), number(&mut rest));
    let (checksum_of_index, checksum) = (id(&mut rest), id(&mut rest));
    if rest != END {
        return damaged("it is cut short, or its end is damaged");
    }
    let length = footer_at.checked_sub(index_at).filter(|length| count.checked_mul(INDEX_ENTRY) == Some(*length));
    if length.is_none_or(|length| length > MAX_INDEX_BYTES) {
        return damaged("its index is damaged");
    }
    let mut entries = Vec::with_capacity(fits(count));
    let mut hasher = Hasher::default();
    let mut is_within = true;
    // Piece by piece: all of it beside the entries would be as much memory again.
    let mut buffer = vec![0; INDEX_PIECE];
    let mut section = Section { file, at: index_at, left: footer_at.saturating_sub(index_at) };
    while section.left > 0 {
        let piece = buffer.get_mut(..fits(section.left).min(INDEX_PIECE)).unwrap_or_default();
        section.read_exact(piece)?;
        hasher.update(piece);
        for mut bytes in piece.chunks_exact(56) {
            let id = id(&mut bytes);
            let frame = Frame::from_numbers([number(&mut bytes), number(&mut bytes), number(&mut bytes)]);
            is_within &= frame.end() <= index_at;
            entries.push(entry(id, frame));
        }
    }
    hasher.update(footer.get(..16).unwrap_or_default());
    if hasher.finish() != checksum_of_index || !is_within {
        return damaged("its index is damaged");
    }
    Ok(Ok(Index { entries, checksum }))
}

/// Takes eight bytes as a number. Callers hand in enough of them.
fn number(rest: &mut &[u8]) -> u64 {
    let Some((head, tail)) = rest.split_first_chunk::<8>() else { return 0 };
    *rest = tail;
    u64::from_le_bytes(*head)
}

/// Takes 32 bytes as an id. Callers hand in enough of them.
fn id(rest: &mut &[u8]) -> ObjectId {
    let Some((head, tail)) = rest.split_first_chunk::<32>() else { return ObjectId([0; 32]) };
    *rest = tail;
    ObjectId(*head)
}

/// Finds the objects of a pack by its frames, for a pack whose index is damaged. Only whole frames are answered, and none
/// that is damaged; of one that the system does not give, whoever reads it is told.
pub(super) fn scan(file: &File) -> Frames {
    let is_whole = |(id, frame): &(ObjectId, Frame)| !matches!(check(file, *frame, id), Err(Unpack::Damaged(_)));
    headers(file).map_while(io::Result::ok).filter(is_whole).collect()
}

/// The objects of a pack whose index is damaged by the headers of its frames, as far as these follow on.
///
/// # Errors
/// If the system does not give one.
pub(super) fn frames(file: &File) -> io::Result<Frames> {
    headers(file).collect()
}

/// The headers of a pack's frames, one after another. After one that the system does not give, nothing more is known.
fn headers(file: &File) -> impl Iterator<Item = io::Result<(ObjectId, Frame)>> + '_ {
    let mut offset = count(BEGIN.len());
    std::iter::from_fn(move || {
        let found = frame_at(file, offset).transpose()?;
        if let Ok((_, frame)) = &found {
            offset = frame.end();
        }
        Some(found)
    })
}

/// The header of a frame; `None` if the pack ends before the frame does.
pub(super) fn frame_at(file: &File, offset: u64) -> io::Result<Option<(ObjectId, Frame)>> {
    let mut header = [0; 48];
    match file.read_exact_at(&mut header, offset) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    let mut rest = header.as_slice();
    let id = id(&mut rest);
    let frame = Frame::from_numbers([offset, number(&mut rest), number(&mut rest)]);
    Ok((frame.end() <= file.metadata()?.len()).then_some((id, frame)))
}

/// The checksum of a pack's bytes as they are now: what its name should be.
pub(super) fn checksum(file: &File) -> io::Result<ObjectId> {
    let covered = file.metadata()?.len().saturating_sub(FOOTER_TAIL);
    let mut section = Section { file, at: 0, left: covered };
    let mut hasher = Hasher::default();
    io::copy(&mut section, &mut hasher)?;
    Ok(hasher.finish())
}

/// The base of a frame that is a difference.
///
/// # Errors
/// As [`unpack`].
pub(super) fn base_of(file: &File, frame: Frame) -> Result<ObjectId, Unpack> {
    let mut id = ObjectId([0; 32]);
    read_content(file, frame, &mut id.0)?;
    Ok(id)
}

/// Decompresses one frame into `out`, checking length and hash. One that is a difference needs its base's bytes.
///
/// # Errors
/// [`Unpack::Damaged`] says what is wrong with the frame; what `out` took until then is worthless.
pub(super) fn unpack(
    file: &File,
    frame: Frame,
    id: &ObjectId,
    base: Option<&[u8]>,
    out: &mut dyn Write,
) -> Result<(), Unpack> {
    if frame.length <= PIECE_BYTES && frame.stored <= PIECE_BYTES * 2 {
        let stored = stored(file, frame)?;
        let compressed = if frame.is_difference { stored.get(32..).unwrap_or_default() } else { &stored };
        let bytes = decompress(compressed, base.unwrap_or_default(), fits(frame.length));
        let bytes = bytes.map_err(|error| broken(&error))?;
        if id_of(&bytes) != *id {
            return Err(Unpack::Damaged("its content is not what its id says".to_owned()));
        }
        return out.write_all(&bytes).map_err(Unpack::Out);
    }
    let begin = frame.offset.saturating_add(FRAME_HEADER);
    unpack_stream(Section { file, at: begin, left: frame.stored }, frame.length, id, out)
}

/// The content of a frame as it is stored.
///
/// # Errors
/// As [`unpack`].
pub(super) fn stored(file: &File, frame: Frame) -> Result<Vec<u8>, Unpack> {
    let mut stored = vec![0; fits(frame.stored)];
    read_content(file, frame, &mut stored)?;
    Ok(stored)
}

fn read_content(file: &File, frame: Frame, buffer: &mut [u8]) -> Result<(), Unpack> {
    let begin = frame.offset.saturating_add(FRAME_HEADER);
    file.read_exact_at(buffer, begin).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => Unpack::Damaged("it is cut short".to_owned()),
        _ => Unpack::Unread(error),
    })
}

fn fits(length: u64) -> usize {
    usize::try_from(length).unwrap_or(usize::MAX)
}

/// Why a frame could not be handed out.
#[derive(Debug)]
pub(super) enum Unpack {
    /// The frame is not what was stored.
    Damaged(String),
    /// The system does not give the pack's bytes: nothing is known of them.
    Unread(io::Error),
    /// Whoever takes the bytes refused them.
    Out(io::Error),
}

impl std::fmt::Display for Unpack {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Unpack::Damaged(why) => f.write_str(why),
            Unpack::Unread(error) => write!(f, "it cannot be read ({error})"),
            Unpack::Out(error) => write!(f, "{error}"),
        }
    }
}

fn broken(error: &io::Error) -> Unpack {
    Unpack::Damaged(format!("it cannot be decompressed ({error})"))
}

fn unpack_stream(section: Section<'_>, length: u64, id: &ObjectId, out: &mut dyn Write) -> Result<(), Unpack> {
    let mut decoder = zstd::stream::read::Decoder::new(section).map_err(|error| broken(&error))?;
    decoder.window_log_max(WINDOW_LOG_MAX).map_err(|error| broken(&error))?;
    let mut hasher = Hasher::default();
    let mut left = length;
    let mut buffer = vec![0; 256 << 10];
    loop {
        // What the system says has a number; what the decoder says has none.
        let read = decoder.read(&mut buffer).map_err(|error| match error.raw_os_error() {
            Some(_) => Unpack::Unread(error),
            None => broken(&error),
        })?;
        let Some(bytes) = buffer.get(..read).filter(|bytes| !bytes.is_empty()) else { break };
        left = left
            .checked_sub(count(read))
            .ok_or_else(|| Unpack::Damaged("it is longer than its length says".to_owned()))?;
        hasher.update(bytes);
        out.write_all(bytes).map_err(Unpack::Out)?;
    }
    if left != 0 || hasher.finish() != *id {
        return Err(Unpack::Damaged("its content is not what its id says".to_owned()));
    }
    Ok(())
}

/// Part of a file, read by position so that several threads can share the file.
struct Section<'a> {
    file: &'a File,
    at: u64,
    left: u64,
}

impl Read for Section<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        let Some(part) = buffer.get_mut(..most) else { return Ok(0) };
        let read = self.file.read_at(part, self.at)?;
        self.at = self.at.saturating_add(count(read));
        self.left = self.left.saturating_sub(count(read));
        Ok(read)
    }
}
