//! The indexes of many packs in one derived file, so that a long loop does not open every pack at each start.
//!
//! The packs stay the truth: an index is taken from here only for a pack of the same name and size, everything read
//! through it is checked against its id, and a file that is not whole is not used at all.

use std::collections::BTreeMap;
use std::path::Path;

use super::objects::id_of;
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
#[derive(Debug, PartialEq, Eq)]
pub(super) struct KnownPack {
    /// Bytes of the pack.
    pub size: u64,
    /// Where its objects are.
    pub frames: Frames,
}

/// What was stored; nothing if that is absent or damaged.
pub(super) fn load(path: &Path) -> BTreeMap<ObjectId, KnownPack> {
    let bytes = disk::read_if_present(path, MAX_BYTES).ok().flatten().unwrap_or_default();
    decode(&bytes).unwrap_or_default()
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

fn decode(bytes: &[u8]) -> Option<BTreeMap<ObjectId, KnownPack>> {
    let (body, checksum) = bytes.split_last_chunk::<32>()?;
    if id_of(body).0 != *checksum {
        return None;
    }
    let mut rest = body.strip_prefix(MAGIC)?;
    let mut packs = BTreeMap::new();
    while !rest.is_empty() {
        let id = ObjectId(take(&mut rest)?);
        let (size, entries) = (number(&mut rest)?, number(&mut rest)?);
        let room = rest.len() / ENTRY_BYTES;
        let mut frames = Vec::with_capacity(usize::try_from(entries).map_or(room, |entries| entries.min(room)));
        for _ in 0..entries {
            let id = ObjectId(take(&mut rest)?);
            let numbers = [number(&mut rest)?, number(&mut rest)?, number(&mut rest)?];
            let frame = Frame::from_numbers(numbers);
            if frame.end() > size {
                return None;
            }
            frames.push((id, frame));
        }
        packs.insert(id, KnownPack { size, frames });
    }
    Some(packs)
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (head, tail) = rest.split_first_chunk::<N>()?;
    *rest = tail;
    Some(*head)
}

fn number(rest: &mut &[u8]) -> Option<u64> {
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
        let back: Vec<_> = decode(&bytes).unwrap().into_iter().collect();
        assert_eq!(back, packs);
        for at in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1;
            assert!(decode(&flipped).is_none(), "byte {at}");
            assert!(decode(&bytes[..at]).is_none(), "cut at {at}");
        }
    }

    #[test]
    fn what_points_out_of_its_pack_is_not_believed() {
        for (stored, is_believed) in [(96 - 8 - 48, true), (96 - 8 - 48 + 1, false), (u64::MAX >> 1, false)] {
            let frame = Frame { offset: 8, length: 5, stored, is_difference: false };
            let packs = [(ObjectId([1; 32]), KnownPack { size: 96, frames: vec![(ObjectId([7; 32]), frame)] })];
            assert_eq!(decode(&encode(&packs)).is_some(), is_believed, "{stored}");
        }
    }
}
