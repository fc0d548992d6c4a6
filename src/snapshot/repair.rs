//! Making again what packs carry beside their objects: an index that is damaged, from the frames, and the merged index.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use super::merged;
use super::objects::{FoundPack, Objects, id_of};
use super::pack::{self, PackWriter};
use super::rules::as_path;
use crate::disk::layout::Layout;
use crate::disk::{self, Temporary};
use crate::error::{Error, ErrorKind, Result};
use crate::model::ids::ObjectId;
use crate::model::tree::EntryKind;

/// Larger files (256 MiB) are not stored again: it is done in memory.
const MAX_BYTES: u64 = 256 << 20;

/// Makes damaged indexes of packs again. A pack that comes out as its name says takes the place of the damaged one. What it
/// answers are the files that were written. The caller holds the store's lock alone.
///
/// # Errors
/// A failure that names the file.
pub fn repair(layout: &Layout) -> Result<Vec<PathBuf>> {
    let mut written = Vec::new();
    for pack in open(layout)?.packs().into_iter().filter(|pack| !pack.is_whole) {
        if remake(layout, &pack.path, &pack.id)? {
            written.push(pack.path);
        }
    }
    if !merged_is_right(layout)? {
        disk::make_directory(&layout.cache())?;
        disk::replace(&layout.pack_index(), &merged::encode(&open(layout)?.known_packs()))?;
        written.push(layout.pack_index());
    }
    Ok(written)
}

/// The store as its packs are themselves. One that the disk does not give now may be whole, and must not be passed over: what is
/// done next takes what is not there for lost.
fn open(layout: &Layout) -> Result<Objects> {
    let objects = Objects::open_from_packs(layout)?;
    let unread = objects.faults().iter().find(|fault| fault.kind != ErrorKind::BadInput).cloned();
    unread.map_or(Ok(objects), Err)
}

/// Whether the pack, written anew from its frames, is the one that its name says, and so took its place.
fn remake(layout: &Layout, path: &Path, id: &ObjectId) -> Result<bool> {
    let damaged = disk::open_regular(path)?;
    let mut new = Temporary::new(&layout.objects())?;
    let made = pack::rewrite(&damaged, new.file()).map_err(|error| Error::io("write the pack anew", path, &error))?;
    if made != *id {
        return Ok(false);
    }
    new.seal(0o400)?;
    new.rename_to(path)?;
    disk::sync_directory(&layout.objects())?;
    Ok(true)
}

/// Damaged packs that are no packs any more.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct SetAside {
    /// The pack into which went what they alone held.
    pub saved: Option<PathBuf>,
    /// Each under the name that it has now.
    pub packs: Vec<PathBuf>,
}

/// Gives packs that are damaged inside another name, so that nothing that they cannot give is taken for stored. What can be
/// read of them, and is in no other one, goes to a new pack before. The caller holds the store's lock alone.
///
/// # Errors
/// A failure that names the file.
pub fn set_aside(layout: &Layout) -> Result<SetAside> {
    let damaged = damaged(layout)?;
    let saved = save(layout, &damaged)?;
    let mut packs = Vec::new();
    // One that comes out as it was has taken its own place.
    for pack in damaged.iter().filter(|pack| saved != Some(pack.id)) {
        let aside = pack.path.with_extension(Layout::SET_ASIDE);
        rustix::fs::rename(&pack.path, &aside)
            .map_err(|error| Error::io("set the pack aside", &aside, &error.into()))?;
        packs.push(aside);
    }
    if !packs.is_empty() {
        disk::sync_directory(&layout.objects())?;
    }
    Ok(SetAside { saved: saved.map(|id| layout.pack(&id)), packs })
}

/// The packs whose bytes are not those that their names say, with every object whose frame can be found.
fn damaged(layout: &Layout) -> Result<Vec<FoundPack>> {
    let mut packs = Vec::new();
    for mut pack in open(layout)?.packs() {
        let named = |error: io::Error| Error::io("read the pack", &pack.path, &error);
        let file = disk::open_regular(&pack.path)?;
        if !pack.is_whole {
            // Again, because here a frame that the disk does not give is not passed over.
            pack.frames = pack::frames(&file).map_err(named)?;
        } else if pack::checksum(&file).map_err(named)? == pack.id {
            continue;
        }
        packs.push(pack);
    }
    Ok(packs)
}

/// Writes what can be read of these packs, and is in no other one, into a new one.
fn save(layout: &Layout, damaged: &[FoundPack]) -> Result<Option<ObjectId>> {
    if damaged.is_empty() {
        return Ok(None);
    }
    let is_sound = |id: &ObjectId| damaged.iter().all(|pack| pack.id != *id);
    let (all, others) = (open(layout)?, Objects::open_some(layout, is_sound)?);
    let mut writer = PackWriter::new(layout);
    for (id, _) in damaged.iter().flat_map(|pack| &pack.frames) {
        if is_lost(&others, id)? && !is_lost(&all, id)? {
            writer.add(&all.read(id)?)?;
        }
    }
    Ok(writer.finish()?.map(|pack| pack.id))
}

/// Whether an object is gone or damaged; what the disk does not give is neither.
fn is_lost(objects: &Objects, id: &ObjectId) -> Result<bool> {
    match objects.write_to(id, &mut io::sink()) {
        Ok(_) => Ok(false),
        Err(error) if error.kind == ErrorKind::BadInput => Ok(true),
        Err(error) => Err(error),
    }
}

/// Stores files of these snapshots again that are damaged or gone in the store, where the work tree or one of `copies`
/// still has the bytes, and `others`, which are in no snapshot. What it answers is the pack, if there was something. The
/// caller holds the store's lock alone.
///
/// # Errors
/// A failure that names the file.
pub fn store_again(
    layout: &Layout,
    snapshots: &[ObjectId],
    copies: &[(ObjectId, PathBuf)],
    others: &[(ObjectId, PathBuf)],
) -> Result<Option<PathBuf>> {
    let objects = Objects::open(layout)?;
    let is_lost = |id: &ObjectId| is_lost(&objects, id).unwrap_or(false);
    let (mut lost, mut met) = (HashMap::new(), HashSet::new());
    let mut places = Vec::new();
    let mut waiting: Vec<_> = snapshots.iter().map(|root| (*root, layout.root().to_path_buf())).collect();
    while let Some((id, folder)) = waiting.pop() {
        if !met.insert(id) {
            continue;
        }
        // What lies in a directory that is damaged itself, nobody knows.
        let Ok(tree) = objects.tree(&id) else { continue };
        for entry in tree.entries() {
            let path = folder.join(as_path(&entry.name));
            match entry.kind {
                EntryKind::Directory => waiting.push((entry.object, path)),
                EntryKind::File if *lost.entry(entry.object).or_insert_with_key(is_lost) => {
                    places.push((entry.object, path));
                }
                EntryKind::File | EntryKind::Link | EntryKind::Unheld => {}
            }
        }
    }
    places.extend(copies.iter().filter(|(id, _)| lost.get(id) == Some(&true)).cloned());
    places.extend(others.iter().filter(|(id, _)| *lost.entry(*id).or_insert_with_key(is_lost)).cloned());
    let mut writer = PackWriter::new(layout);
    for (id, path) in places {
        // Something else may be there by now.
        if let Some(bytes) = disk::read(&path, MAX_BYTES).ok().filter(|bytes| id_of(bytes) == id) {
            writer.add(&bytes)?;
        }
    }
    Ok(writer.finish()?.map(|pack| layout.pack(&pack.id)))
}

/// Directories and links of these snapshots that are damaged or gone in the store.
///
/// # Errors
/// A failure that names the pack that cannot be read.
pub fn lost_names(layout: &Layout, snapshots: &[ObjectId]) -> Result<Vec<ObjectId>> {
    let objects = Objects::open(layout)?;
    let mut lost = Vec::new();
    let mut met = HashSet::new();
    let mut waiting: Vec<(ObjectId, EntryKind)> = snapshots.iter().map(|id| (*id, EntryKind::Directory)).collect();
    while let Some((id, kind)) = waiting.pop() {
        if !met.insert(id) {
            continue;
        }
        let read = match kind {
            EntryKind::Directory => objects.tree(&id).map(|tree| {
                waiting.extend(tree.entries().iter().map(|entry| (entry.object, entry.kind)));
            }),
            EntryKind::Link => objects.read(&id).map(drop),
            EntryKind::File | EntryKind::Unheld => Ok(()),
        };
        match read {
            Ok(()) => {}
            Err(error) if error.kind == ErrorKind::BadInput => lost.push(id),
            Err(error) => return Err(error),
        }
    }
    Ok(lost)
}

/// Whether the merged index is absent, or can be read and says nothing wrong. Packs that it does not know, or that are
/// gone, are no fault.
fn merged_is_right(layout: &Layout) -> Result<bool> {
    let path = layout.pack_index();
    if disk::metadata(&path)?.is_none() {
        return Ok(true);
    }
    let said = merged::load(&path);
    if said.packs.is_empty() {
        return Ok(false);
    }
    let packs: HashMap<_, _> = open(layout)?.known_packs().into_iter().collect();
    Ok(said.packs.iter().zip(&said.entries).all(|((id, size), entries)| {
        let frames = entries.iter().map(|(id, at)| (*id, at.frame));
        packs.get(id).is_none_or(|pack| pack.size == *size && pack.frames.iter().copied().eq(frames))
    }))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::snapshot::packed::{Base, Packed};

    const CONTENTS: [&[u8]; 3] = [b"one", b"two", b"three"];

    fn stored() -> (tempfile::TempDir, Layout, PathBuf, Vec<u8>) {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::new(dir.path());
        let mut writer = PackWriter::new(&layout);
        for bytes in CONTENTS {
            writer.add(bytes).unwrap();
        }
        let path = layout.pack(&writer.finish().unwrap().unwrap().id);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        (dir, layout, path, bytes)
    }

    fn held(layout: &Layout) -> usize {
        let objects = Objects::open(layout).unwrap();
        CONTENTS.iter().filter(|bytes| objects.has(&id_of(bytes))).count()
    }

    /// Whatever happens to a pack behind its last frame, it comes back byte for byte.
    #[test]
    fn every_damage_of_an_index_is_made_good() {
        let (_dir, layout, path, good) = stored();
        let frames: u64 = Objects::open(&layout).unwrap().packs()[0].frames.iter().map(|(_, f)| 48 + f.stored).sum();
        let end = 8 + usize::try_from(frames).unwrap();
        let mut bad: Vec<Vec<u8>> = (end..good.len()).map(|at| good[..at].to_vec()).collect();
        bad.extend((end..good.len()).map(|at| {
            let mut flipped = good.clone();
            flipped[at] ^= 4;
            flipped
        }));
        for bad in bad {
            std::fs::write(&path, &bad).unwrap();
            assert_eq!(held(&layout), 0);
            assert_eq!(repair(&layout).unwrap(), std::slice::from_ref(&path));
            assert_eq!(std::fs::read(&path).unwrap(), good);
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o400);
            assert_eq!(held(&layout), 3);
            assert!(repair(&layout).unwrap().is_empty());
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        }
    }

    // A file that was opened for writing alone gives an error wherever it is read.
    #[test]
    fn what_the_system_does_not_give_is_no_end_of_a_pack() {
        let (_dir, _layout, path, good) = stored();
        let unread = std::fs::File::options().write(true).open(&path).unwrap();
        assert!(pack::frame_at(&unread, 8).is_err() && pack::rewrite(&unread, &mut Vec::new()).is_err());
        assert!(pack::scan(&unread).is_empty());
        // Inside a header it ends.
        let read = |length: usize| {
            std::fs::write(&path, &good[..length]).unwrap();
            pack::rewrite(&std::fs::File::open(&path).unwrap(), &mut Vec::new())
        };
        assert_eq!(read(8 + 20).unwrap(), read(8).unwrap());
    }

    #[test]
    fn of_a_pack_that_is_damaged_inside_the_sound_objects_are_saved_and_it_is_set_aside() {
        let (_dir, layout, path, good) = stored();
        let last = good.len() - 1;
        // The first frame's content, with the index and without it: an index that is whole does not look into the frames.
        for damaged in [&[8 + 48 + 2, last][..], &[8 + 48 + 2]] {
            let mut bytes = good.clone();
            damaged.iter().for_each(|at| bytes[*at] ^= 1);
            std::fs::write(&path, &bytes).unwrap();
            assert!(repair(&layout).unwrap().is_empty());
            let SetAside { saved, packs } = set_aside(&layout).unwrap();
            assert_eq!(held(&layout), 2, "what is lost is not said to be held");
            assert_eq!(packs, [path.with_extension("damaged")]);
            assert_eq!(std::fs::read(&packs[0]).unwrap(), bytes);
            assert!(Objects::check(&layout).unwrap().faults.is_empty());
            assert_eq!(set_aside(&layout).unwrap(), SetAside::default());
            std::fs::remove_file(saved.unwrap()).unwrap();
        }
    }

    #[test]
    fn a_pack_that_is_saved_under_its_own_name_is_not_set_aside() {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::new(dir.path());
        let mut writer = PackWriter::new(&layout);
        writer.add(CONTENTS[0]).unwrap();
        let path = layout.pack(&writer.finish().unwrap().unwrap().id);
        let good = std::fs::read(&path).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        std::fs::write(&path, [b"H", &good[1..]].concat()).unwrap();
        assert_eq!(set_aside(&layout).unwrap(), SetAside { saved: Some(path.clone()), packs: Vec::new() });
        assert_eq!(std::fs::read(&path).unwrap(), good);
    }

    /// A difference stays where it is, and is read again once its base is there again.
    #[test]
    fn a_pack_whose_bytes_are_right_stays_although_a_base_is_lost() {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::new(dir.path());
        let store = |bytes: &[u8], base: Option<&Base>| {
            let mut writer = PackWriter::new(&layout);
            writer.add_packed(Packed::with_id(id_of(bytes), bytes, base).unwrap()).unwrap();
            layout.pack(&writer.finish().unwrap().unwrap().id)
        };
        let noise: Vec<u8> = (0..64_u8).flat_map(|number| id_of(&[number]).0).collect();
        let new = [&noise[..], b"and more"].concat();
        let pack = store(&noise, None);
        let other = store(&new, Objects::open(&layout).unwrap().base(&id_of(&noise)).as_ref());
        let read = || Objects::open(&layout).unwrap().read(&id_of(&new));
        assert_eq!(Objects::open(&layout).unwrap().bases(&HashSet::from([id_of(&new)])).unwrap(), [id_of(&noise)]);
        let mut bytes = std::fs::read(&pack).unwrap();
        bytes[8 + 48 + 20] ^= 1;
        std::fs::set_permissions(&pack, std::fs::Permissions::from_mode(0o600)).unwrap();
        std::fs::write(&pack, &bytes).unwrap();
        assert_eq!(set_aside(&layout).unwrap().packs, [pack.with_extension("damaged")]);
        assert!(other.exists() && read().is_err());
        assert_eq!(Objects::check(&layout).unwrap().damaged, [id_of(&new)]);
        // Stored by itself elsewhere, nothing is lost with the difference.
        let plain = store(&new, None);
        assert_eq!(Objects::check(&layout).unwrap().faults, []);
        std::fs::remove_file(plain).unwrap();
        store(&noise, None);
        assert_eq!(read().unwrap(), new);
    }

    #[test]
    fn a_merged_index_that_lies_is_made_again() {
        let (_dir, layout, path, good) = stored();
        assert!(repair(&layout).unwrap().is_empty());
        let mut packs = Objects::open(&layout).unwrap().known_packs();
        merged::store(&layout, &packs);
        assert!(repair(&layout).unwrap().is_empty());
        packs[0].1.frames.pop();
        merged::store(&layout, &packs);
        assert_eq!(held(&layout), 2);
        assert_eq!(repair(&layout).unwrap(), [layout.pack_index()]);
        assert_eq!(held(&layout), 3);
        std::fs::write(layout.pack_index(), "junk").unwrap();
        assert_eq!(repair(&layout).unwrap(), [layout.pack_index()]);
        assert_eq!(std::fs::read(path).unwrap(), good);
    }
}
