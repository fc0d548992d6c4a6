//! Which objects are needed, and what they take in the packs.

use std::collections::HashSet;

use super::objects::Objects;
use crate::error::{ErrorKind, Result};
use crate::model::ids::ObjectId;
use crate::model::tree::EntryKind;

/// What somebody needs of the objects.
#[derive(Clone, Debug, Default)]
pub struct Needs {
    /// Root directories whose every file is needed.
    pub snapshots: Vec<ObjectId>,
    /// Root directories of which only the directories are needed: what was there, without the contents.
    pub listings: Vec<ObjectId>,
    /// Further objects.
    pub objects: Vec<ObjectId>,
}

/// Bytes of packs that somebody's objects take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Of objects that nobody else needs.
    pub own_bytes: u64,
    /// Of objects that others need too.
    pub shared_bytes: u64,
}

/// All objects that are needed, those too that others are differences from.
///
/// # Errors
/// Bad input if a directory of a needed snapshot is damaged: what is below it is unknown then. A listing that is damaged ends
/// where it ends. A failure if the disk does not give a directory of either.
pub(super) fn reach(objects: &Objects, needs: &Needs) -> Result<HashSet<ObjectId>> {
    let mut live: HashSet<ObjectId> = needs.objects.iter().copied().collect();
    // Apart from `live`: a file may hold the very bytes of a directory, and is not one.
    let mut entered = HashSet::new();
    let mut waiting = needs.snapshots.clone();
    while let Some(id) = waiting.pop() {
        if !entered.insert(id) {
            continue;
        }
        live.insert(id);
        for entry in objects.tree(&id)?.entries() {
            match entry.kind {
                EntryKind::Directory => waiting.push(entry.object),
                EntryKind::File | EntryKind::Link => {
                    live.insert(entry.object);
                }
                EntryKind::Unheld => {}
            }
        }
    }
    waiting.clone_from(&needs.listings);
    while let Some(id) = waiting.pop() {
        if !entered.insert(id) {
            continue;
        }
        live.insert(id);
        let tree = match objects.tree(&id) {
            Err(error) if error.kind == ErrorKind::BadInput => continue,
            tree => tree?,
        };
        waiting.extend(tree.entries().iter().filter(|e| e.kind == EntryKind::Directory).map(|e| e.object));
    }
    let bases = objects.bases(&live)?;
    live.extend(bases);
    Ok(live)
}

/// What the objects of a store take.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// One for each of those who need them.
    pub shares: Vec<Share>,
    /// Of objects that nobody needs.
    pub unneeded_bytes: u64,
    /// Of all packs.
    pub packs_bytes: u64,
}

/// What those who need objects take in the packs. What only `further` needs is nobody's share, and needed all the same.
/// Objects that are gone take nothing.
///
/// # Errors
/// Bad input if a directory of a needed snapshot cannot be read.
pub fn usage(objects: &Objects, needs: &[Needs], further: &Needs) -> Result<Usage> {
    let live = needs.iter().map(|needs| reach(objects, needs)).collect::<Result<Vec<_>>>()?;
    let further = reach(objects, further)?;
    let mut usage = Usage { shares: vec![Share::default(); live.len()], ..Usage::default() };
    for pack in objects.packs() {
        usage.packs_bytes += pack.size;
        for (id, frame) in &pack.frames {
            let needing = live.iter().filter(|live| live.contains(id)).count();
            if needing == 0 && !further.contains(id) {
                usage.unneeded_bytes += frame.bytes();
            }
            for (share, _) in usage.shares.iter_mut().zip(&live).filter(|(_, live)| live.contains(id)) {
                let bytes = if needing == 1 { &mut share.own_bytes } else { &mut share.shared_bytes };
                *bytes += frame.bytes();
            }
        }
    }
    Ok(usage)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::{self, layout::Layout};
    use crate::model::tree::{Tree, TreeEntry};
    use crate::snapshot::pack::PackWriter;

    fn entry(name: &str, kind: EntryKind, object: ObjectId) -> TreeEntry {
        TreeEntry { name: name.into(), kind, mode: 0o644, size: 0, object }
    }

    fn directory(writer: &mut PackWriter, entries: Vec<TreeEntry>) -> ObjectId {
        writer.add(&Tree::new(entries).unwrap().encode()).unwrap()
    }

    fn snapshots(needs: &[ObjectId]) -> Needs {
        Needs { snapshots: needs.to_vec(), ..Needs::default() }
    }

    #[test]
    fn a_file_with_the_bytes_of_a_directory_hides_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::new(dir.path());
        disk::open_store(&layout).unwrap();
        let mut writer = PackWriter::new(&layout);
        let inner = writer.add(b"in the directory").unwrap();
        let folder = directory(&mut writer, vec![entry("inner", EntryKind::File, inner)]);
        // The file's name sorts before the directory's, so it is met first.
        let entries = vec![entry("a", EntryKind::File, folder), entry("b", EntryKind::Directory, folder)];
        let root = directory(&mut writer, entries);
        let alone = directory(&mut writer, vec![entry("a", EntryKind::File, folder)]);
        writer.finish().unwrap();
        let objects = Objects::open(&layout).unwrap();
        assert!(reach(&objects, &snapshots(&[root])).unwrap().contains(&inner));
        let both = Needs { objects: vec![root, folder], ..snapshots(&[root]) };
        assert!(reach(&objects, &both).unwrap().contains(&inner));
        assert!(!reach(&objects, &snapshots(&[alone])).unwrap().contains(&inner));
    }

    #[test]
    fn a_listing_needs_directories_and_no_contents() {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::new(dir.path());
        disk::open_store(&layout).unwrap();
        let mut writer = PackWriter::new(&layout);
        let inner = writer.add(b"content").unwrap();
        let folder = directory(&mut writer, vec![entry("inner", EntryKind::File, inner)]);
        let root = directory(&mut writer, vec![entry("d", EntryKind::Directory, folder)]);
        writer.finish().unwrap();
        let objects = Objects::open(&layout).unwrap();
        let lost = ObjectId([7; 32]);
        let listing = Needs { listings: vec![root, lost], ..Needs::default() };
        assert_eq!(reach(&objects, &listing).unwrap(), HashSet::from([root, folder, lost]));
        assert!(reach(&objects, &snapshots(&[root, lost])).is_err());
        let all = Needs { snapshots: vec![root], ..listing };
        assert!(reach(&objects, &all).unwrap().contains(&inner));
    }

    #[test]
    fn bytes_are_shared_own_or_nobodys() {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::new(dir.path());
        disk::open_store(&layout).unwrap();
        let mut writer = PackWriter::new(&layout);
        let contents: Vec<ObjectId> = (0..3_u8).map(|n| writer.add(&[n; 100]).unwrap()).collect();
        let file = |n: usize| entry(&n.to_string(), EntryKind::File, contents[n]);
        let one = directory(&mut writer, vec![file(0), file(1)]);
        let two = directory(&mut writer, vec![file(1)]);
        writer.finish().unwrap();
        let objects = Objects::open(&layout).unwrap();
        let bytes = |ids: &[ObjectId]| -> u64 {
            let packs = objects.packs();
            let frames = packs.iter().flat_map(|pack| &pack.frames);
            frames.filter(|(id, _)| ids.contains(id)).map(|(_, frame)| frame.bytes()).sum()
        };
        let needs = [snapshots(&[one]), snapshots(&[two])];
        let found = usage(&objects, &needs, &Needs::default()).unwrap();
        let shared_bytes = bytes(&[contents[1]]);
        assert_eq!(found.shares[0], Share { own_bytes: bytes(&[one, contents[0]]), shared_bytes });
        assert_eq!(found.shares[1], Share { own_bytes: bytes(&[two]), shared_bytes });
        assert_eq!(found.unneeded_bytes, bytes(&[contents[2]]));
        // The pack's two ends are nobody's.
        let of_objects = found.shares[0].own_bytes + shared_bytes + found.shares[1].own_bytes + found.unneeded_bytes;
        assert_eq!(found.packs_bytes, of_objects + 8 + 88);
        let further = Needs { objects: vec![contents[2]], ..Needs::default() };
        let needed = usage(&objects, &needs, &further).unwrap();
        assert_eq!(needed, Usage { unneeded_bytes: 0, ..found });
    }
}
