//! Many small packs become one. A snapshot is a pack, so a loop of a thousand small steps leaves a thousand of them, and
//! every start would list and look at them all.

use std::path::PathBuf;
use std::time::Duration;

use super::objects::{FoundPack, Objects};
use super::pack::PackWriter;
use super::prune::{copy_objects, remove_packs};
use crate::disk::layout::Layout;
use crate::disk::lock::Lock;
use crate::error::{ErrorKind, Result};

/// Packs from this size (1 MiB) on stay as they are, so that no byte is copied often.
const SMALL_BYTES: u64 = 1 << 20;
/// A pack with a larger object than this (16 MiB unpacked) stays: it is copied through memory.
const MAX_OBJECT_BYTES: u64 = 16 << 20;
/// So many small packs are worth gathering.
const WORTH_PACKS: usize = 64;

/// Gathers the small packs of a store, if there are many and nobody else is at work in it. Each is removed only when all
/// that it holds is in the new pack, which is synced; a damaged one stays as it is. Answers how many went.
///
/// # Errors
/// A failure that names the file; no object is lost then.
pub fn gather(layout: &Layout, objects: &Objects) -> Result<usize> {
    if objects.pack_files().iter().filter(|(_, size)| *size < SMALL_BYTES).count() < WORTH_PACKS {
        return Ok(0);
    }
    // Who captures holds it until what refers to the snapshot is there; then it is another time.
    let Ok(lock) = Lock::exclusive(&layout.lock(), Duration::ZERO) else { return Ok(0) };
    if !lock.is_held() {
        return Ok(0);
    }
    let objects = Objects::open(layout)?;
    let mut writer = PackWriter::new(layout);
    let mut gathered: Vec<PathBuf> = Vec::new();
    for pack in objects.packs().into_iter().filter(is_small) {
        match copy_objects(&objects, pack.frames.iter().map(|(id, _)| id), &mut writer) {
            Ok(()) => gathered.push(pack.path),
            Err(error) if error.kind == ErrorKind::BadInput => {}
            // The disk said no: the new pack is not to be trusted.
            Err(error) => return Err(error),
        }
    }
    if let Some(pack) = writer.finish()? {
        // Where one of them held it all, that is the new pack.
        gathered.retain(|path| *path != layout.pack(&pack.id));
    }
    remove_packs(layout, &gathered)?;
    Ok(gathered.len())
}

fn is_small(pack: &FoundPack) -> bool {
    let fits = |length: u64| length <= MAX_OBJECT_BYTES;
    pack.is_whole && pack.size < SMALL_BYTES && pack.frames.iter().all(|(_, frame)| fits(frame.length))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::{self, hash::id_of};
    use crate::model::ids::ObjectId;

    struct Store {
        _dir: tempfile::TempDir,
        layout: Layout,
        ids: Vec<ObjectId>,
    }

    /// A store of so many packs, each with an object of its own and one that all have.
    fn store(packs: usize) -> Store {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::new(dir.path());
        disk::open_store(&layout).unwrap();
        disk::make_directory(&layout.objects()).unwrap();
        let mut ids = Vec::new();
        for number in 0..packs {
            let mut writer = PackWriter::new(&layout);
            ids.push(writer.add(format!("object {number}").as_bytes()).unwrap());
            ids.push(writer.add(b"shared").unwrap());
            writer.finish().unwrap();
        }
        Store { _dir: dir, layout, ids }
    }

    impl Store {
        fn gather(&self) -> usize {
            gather(&self.layout, &Objects::open(&self.layout).unwrap()).unwrap()
        }

        fn packs(&self) -> usize {
            disk::list(&self.layout.objects()).unwrap().len()
        }
    }

    #[test]
    fn many_small_packs_become_one_that_holds_all_of_them() {
        let store = store(WORTH_PACKS);
        let before = Objects::open(&store.layout).unwrap();
        assert_eq!(store.gather(), WORTH_PACKS);
        assert_eq!(store.packs(), 1);
        let after = Objects::open(&store.layout).unwrap();
        for id in &store.ids {
            assert_eq!(after.read(id).unwrap(), before.read(id).unwrap(), "who opened the store before reads on");
        }
        assert!(Objects::check(&store.layout).unwrap().faults.is_empty());
        assert_eq!(store.gather(), 0, "one is not many");
    }

    /// The new pack is that one, byte for byte and by its name.
    #[test]
    fn a_pack_that_holds_what_the_others_hold_stays() {
        let store = store(0);
        let pack = |contents: &[String]| {
            let mut contents: Vec<&[u8]> = contents.iter().map(String::as_bytes).collect();
            contents.sort_by_key(|bytes| id_of(bytes));
            let mut writer = PackWriter::new(&store.layout);
            for bytes in contents {
                writer.add(bytes).unwrap();
            }
            writer.finish().unwrap().unwrap().id
        };
        let mut contents: Vec<String> = (1..WORTH_PACKS).map(|number| format!("object {number}")).collect();
        let first = contents.iter().map(|one| pack(std::slice::from_ref(one))).min().unwrap();
        // Gathered first is what has the lowest name.
        let all = (0..).find_map(|number| {
            contents.push(format!("beside {number}"));
            let all = pack(&contents);
            if all > first {
                contents.pop();
                std::fs::remove_file(store.layout.pack(&all)).unwrap();
            }
            (all < first).then_some(all)
        });
        assert_eq!(store.gather(), WORTH_PACKS - 1);
        let objects = Objects::open(&store.layout).unwrap();
        assert_eq!(objects.whole_packs().iter().map(|(id, _)| *id).collect::<Vec<_>>(), all.as_slice());
        assert!(contents.iter().all(|content| objects.read(&id_of(content.as_bytes())).is_ok()));
    }

    #[test]
    fn few_packs_stay() {
        let store = store(WORTH_PACKS - 1);
        assert_eq!(store.gather(), 0);
        assert_eq!(store.packs(), WORTH_PACKS - 1);
    }

    #[test]
    fn nothing_moves_while_somebody_captures() {
        let store = store(WORTH_PACKS);
        let capturing = Lock::shared(&store.layout.lock(), Duration::ZERO).unwrap();
        assert_eq!(store.gather(), 0);
        drop(capturing);
        assert_eq!(store.gather(), WORTH_PACKS);
    }

    #[test]
    fn a_large_pack_and_one_without_its_end_stay() {
        let store = store(WORTH_PACKS + 1);
        let mut writer = PackWriter::new(&store.layout);
        let mut noise = vec![0; usize::try_from(SMALL_BYTES).unwrap()];
        blake3::Hasher::new().finalize_xof().fill(&mut noise);
        writer.add(&noise).unwrap();
        let large = store.layout.pack(&writer.finish().unwrap().unwrap().id);
        // What can still be read in it is not all that a repair may find in it.
        let cut =
            Objects::open(&store.layout).unwrap().packs().into_iter().find(|pack| pack.path != large).unwrap().path;
        let bytes = std::fs::read(&cut).unwrap();
        std::fs::remove_file(&cut).unwrap();
        std::fs::write(&cut, &bytes[..bytes.len() - 1]).unwrap();
        assert_eq!(store.gather(), WORTH_PACKS);
        assert!([large, cut].iter().all(|path| disk::metadata(path).unwrap().is_some()));
    }

    #[test]
    fn a_damaged_pack_stays_and_costs_only_what_it_held() {
        let store = store(WORTH_PACKS + 1);
        let pack = Objects::open(&store.layout).unwrap().packs().remove(0);
        let mut bytes = std::fs::read(&pack.path).unwrap();
        // The first frame, under an index that is whole.
        bytes[8 + 48..8 + 48 + 4].fill(0);
        std::fs::remove_file(&pack.path).unwrap();
        std::fs::write(&pack.path, bytes).unwrap();
        assert_eq!(store.gather(), WORTH_PACKS);
        assert!(disk::metadata(&pack.path).unwrap().is_some());
        let objects = Objects::open(&store.layout).unwrap();
        let lost = store.ids.iter().filter(|id| objects.read(id).is_err()).count();
        assert!(lost <= 1, "{lost}");
    }
}
