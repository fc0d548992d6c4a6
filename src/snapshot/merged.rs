//! The indexes of many packs in one derived file, so that a long loop does not open every pack at each start.
//!
//! The packs stay the truth: an index is taken from here only for a pack of the same name and size, everything read
//! through it is checked against its id, and a file that is not whole is not used at all.

use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use super::objects::{Entries, Hasher, Location, id_of};
use super::pack::{Frame, Frames, count};
use crate::disk;
use crate::disk::layout::Layout;
use crate::model::ids::ObjectId;

const MAGIC: &[u8; 8] = b"hwpidx\x00\x01";
/// Packs whose own index had to be read before it is worth writing this file again.
pub(super) const WORTH_PACKS: usize = 8;
/// An id and three numbers.
const ENTRY_BYTES: usize = 32 + 3 * 8;
/// Larger files are not ours: it is about 1.8 million objects a 100 MB.
const MAX_BYTES: u64 = 1 << 30;

/// The index of a whole pack.
#[derive(Debug)]
pub(super) struct KnownPack {
    /// Bytes of the pack.
    pub size: u64,
    /// Where its objects are.
    pub frames: Frames,
}

/// What was stored, as it is looked up.
#[derive(Debug, Default)]
pub(super) struct Merged {
    /// Each with its size in bytes.
    pub packs: Vec<(ObjectId, u64)>,
    /// What is in each of them; the numbers are those of `packs`.
    pub entries: Vec<Entries>,
}

/// What was stored; nothing if that is absent or damaged.
pub(super) fn load(path: &Path) -> Merged {
    let decoded = disk::open_regular(path).ok().and_then(|file| {
        let length = file.metadata().ok()?.len();
        if length > MAX_BYTES { None } else { decode(file, length) }
    });
    decoded.unwrap_or_default()
}

/// Stores the indexes. Failing costs time at the next start and nothing else.
pub(super) fn store(layout: &Layout, packs: &[(ObjectId, KnownPack)]) {
    let written =
        disk::make_directory(&layout.cache()).and_then(|()| disk::replace(&layout.pack_index(), &encode(packs)));
    // Derived data: the packs are there.
    drop(written);
}

/// The file's bytes.
pub(super) fn encode(packs: &[(ObjectId, KnownPack)]) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    for (id, pack) in packs {
        bytes.extend_from_slice(&id.0);
        bytes.extend_from_slice(&pack.size.to_le_bytes());
        bytes.extend_from_slice(&count(pack.frames.len()).to_le_bytes());
        for (id, frame) in &pack.frames {
            bytes.extend_from_slice(&id.0);
            frame.numbers().iter().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
        }
    }
    let checksum = id_of(&bytes);
    bytes.extend_from_slice(&checksum.0);
    bytes
}

/// Piece by piece, as it is large and memory for all of it is not to be had for nothing.
fn decode(mut file: impl Read, length: u64) -> Option<Merged> {
    let body = length.checked_sub(32)?;
    let mut hashed = Hashed { inner: file.by_ref().take(body), hasher: Hasher::new() };
    let mut rest = BufReader::with_capacity(64 << 10, &mut hashed);
    if take(&mut rest)? != *MAGIC {
        return None;
    }
    let mut merged = Merged::default();
    let most = usize::try_from(body).ok()? / ENTRY_BYTES;
    while !rest.fill_buf().ok()?.is_empty() {
        let id = ObjectId(take(&mut rest)?);
        let (size, count) = (number(&mut rest)?, number(&mut rest)?);
        let pack = merged.packs.len();
        // Whatever it says: there are no more of them than there are bytes for.
        let mut entries = Vec::with_capacity(usize::try_from(count).ok()?.min(most));
        for _ in 0..count {
            let id = ObjectId(take(&mut rest)?);
            let frame = Frame::from_numbers([number(&mut rest)?, number(&mut rest)?, number(&mut rest)?]);
            if frame.end() > size {
                return None;
            }
            entries.push((id, Location { pack, frame }));
        }
        merged.entries.push(entries);
        merged.packs.push((id, size));
    }
    let checksum = hashed.hasher.finish();
    (take(&mut file)? == checksum.0).then_some(merged)
}

/// Hashes what is read.
struct Hashed<R> {
    inner: R,
    hasher: Hasher,
}

impl<R: Read> Read for Hashed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.hasher.update(buffer.get(..read).unwrap_or_default());
        Ok(read)
    }
}

fn take<const N: usize>(rest: &mut impl Read) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    rest.read_exact(&mut bytes).ok().map(|()| bytes)
}

fn number(rest: &mut impl Read) -> Option<u64> {
    take(rest).map(u64::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stored_comes_back_and_any_damage_voids_it() {
        let plain = Frame { offset: 8, length: 5, stored: 14, is_difference: false };
        let difference = Frame { is_difference: true, ..plain };
        let frames = vec![(ObjectId([7; 32]), plain), (ObjectId([8; 32]), difference)];
        let packs = [
            (ObjectId([1; 32]), KnownPack { size: 300, frames }),
            (ObjectId([2; 32]), KnownPack { size: 96, frames: Vec::new() }),
        ];
        let bytes = encode(&packs);
        let back = decode(&*bytes, count(bytes.len())).unwrap();
        assert_eq!(back.packs, packs.each_ref().map(|(id, pack)| (*id, pack.size)));
        let location = |(id, frame): &(ObjectId, Frame)| (*id, Location { pack: 0, frame: *frame });
        assert_eq!(back.entries, [packs[0].1.frames.iter().map(location).collect(), Vec::new()]);
        for at in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1;
            assert!(decode(&*flipped, count(flipped.len())).is_none(), "byte {at}");
            assert!(decode(&bytes[..at], count(at)).is_none(), "cut at {at}");
        }
    }

    #[test]
    fn what_points_out_of_its_pack_is_not_believed() {
        for (stored, is_believed) in [(96 - 8 - 48, true), (96 - 8 - 48 + 1, false), (u64::MAX >> 1, false)] {
            let frame = Frame { offset: 8, length: 5, stored, is_difference: false };
            let packs = [(ObjectId([1; 32]), KnownPack { size: 96, frames: vec![(ObjectId([7; 32]), frame)] })];
            let bytes = encode(&packs);
            assert_eq!(decode(&*bytes, count(bytes.len())).is_some(), is_believed, "{stored}");
        }
    }
}
