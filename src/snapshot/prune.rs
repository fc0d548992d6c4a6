//! Dropping objects that no loop needs any more. Which those are, the caller says; what cannot be read is no reason to
//! drop anything.

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use super::objects::{FoundPack, Objects};
use super::pack::{EMPTY_BYTES, PackWriter};
use super::reach::{Needs, reach};
use crate::disk;
use crate::disk::layout::Layout;
use crate::disk::lock::Lock;
use crate::error::{Error, Result};
use crate::model::ids::ObjectId;

/// Younger packs stay: what refers to them may still be on its way.
const MIN_AGE: Duration = Duration::from_secs(24 * 60 * 60);
/// A pack with a larger live object than this (256 MiB) is not written anew, only dropped once it is wholly dead.
const MAX_MOVED_BYTES: u64 = 256 << 20;

/// What pruning did, or would do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Packs that went because nothing in them is needed.
    pub removed_packs: u64,
    /// Packs that were mostly dead, and whose live objects are in a new pack now.
    pub rewritten_packs: u64,
    /// Objects that nobody needs and that went.
    pub dropped_objects: u64,
    /// Objects that nobody needs and that stay for now, in packs that are young or mostly live.
    pub waiting_objects: u64,
    /// Bytes that the store shrank by.
    pub freed_bytes: u64,
}

/// How a pack is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PackUse {
    /// Its index is whole.
    pub is_whole: bool,
    /// Since it was written; `None` if the clock was set back meanwhile.
    pub age: Option<Duration>,
    /// Bytes of the pack that needed objects take.
    pub live_bytes: u64,
    /// Bytes of the pack that other objects take.
    pub dead_bytes: u64,
    /// Bytes of its largest needed object, not compressed.
    pub largest_live: u64,
}

/// What becomes of a pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It stays.
    Keep,
    /// Nothing in it is needed.
    Remove,
    /// What is needed moves to a new pack, then it goes.
    Rewrite,
}

/// Decides what becomes of a pack (pure).
pub fn plan(pack: &PackUse) -> Fate {
    let is_old = pack.age.is_some_and(|age| age >= MIN_AGE);
    if !pack.is_whole || !is_old || pack.dead_bytes == 0 {
        return Fate::Keep;
    }
    if pack.live_bytes == 0 {
        return Fate::Remove;
    }
    if pack.live_bytes < pack.dead_bytes && pack.largest_live <= MAX_MOVED_BYTES { Fate::Rewrite } else { Fate::Keep }
}

/// A pruning that was decided on and not yet done. It holds the lock that it was decided under.
#[derive(Debug)]
pub struct Prepared<'a> {
    layout: &'a Layout,
    _lock: &'a Lock,
    objects: Objects,
    going: Vec<PathBuf>,
    moving: Vec<ObjectId>,
    pruned: Pruned,
}

/// Decides what goes of all that `needs` does not name. Nothing is changed.
///
/// # Errors
/// A failure if `lock`, which must be the store's and held alone, is not held; bad input if a snapshot that is needed
/// cannot be read wholly.
pub fn prepare<'a>(layout: &'a Layout, lock: &'a Lock, needs: &Needs) -> Result<Prepared<'a>> {
    if !lock.is_held() {
        return Err(Error::failed("cannot prune without the store's lock")
            .at(lock.path())
            .because("the file system gave none")
            .help("nothing was dropped; the store works without pruning, it only grows"));
    }
    let objects = Objects::open(layout)?;
    let mut live = reach(&objects, needs)?;
    let now = disk::time_on(&layout.cache())?;
    let packs = objects.packs();
    let ages = packs.iter().map(|pack| age(&pack.path, now)).collect::<Result<Vec<_>>>()?;
    let fates = loop {
        let of_pack = |(pack, age): (&FoundPack, &Option<Duration>)| {
            let (used, dead) = usage(&pack.frames, &live);
            let used = PackUse { is_whole: pack.is_whole, age: *age, ..used };
            (plan(&used), used, dead)
        };
        let fates: Vec<(Fate, PackUse, u64)> = packs.iter().zip(&ages).map(of_pack).collect();
        // What nobody needs and stays all the same, stays readable.
        let staying = packs.iter().zip(&fates).filter(|(_, (fate, ..))| *fate == Fate::Keep);
        let staying = staying.flat_map(|(pack, _)| pack.frames.iter().map(|(id, _)| *id)).collect();
        let needed = live.len();
        live.extend(objects.bases(&staying)?);
        if live.len() == needed {
            break fates;
        }
    };
    let mut pruned = Pruned::default();
    let mut going = Vec::new();
    let mut moving = Vec::new();
    for (pack, (fate, used, dead)) in packs.into_iter().zip(fates) {
        let count = match fate {
            Fate::Keep => &mut pruned.waiting_objects,
            Fate::Remove | Fate::Rewrite => &mut pruned.dropped_objects,
        };
        *count += dead;
        match fate {
            Fate::Keep => continue,
            Fate::Remove => {
                pruned.removed_packs += 1;
                pruned.freed_bytes += pack.size;
            }
            Fate::Rewrite => {
                pruned.rewritten_packs += 1;
                pruned.freed_bytes += pack.size.saturating_sub(used.live_bytes);
                moving.extend(pack.frames.iter().map(|(id, _)| *id).filter(|id| live.contains(id)));
            }
        }
        going.push(pack.path);
    }
    if !moving.is_empty() {
        pruned.freed_bytes = pruned.freed_bytes.saturating_sub(EMPTY_BYTES);
    }
    Ok(Prepared { layout, _lock: lock, objects, going, moving, pruned })
}

impl Prepared<'_> {
    /// What it comes to.
    pub fn pruned(&self) -> Pruned {
        self.pruned
    }

    /// Does it. Live objects of packs that go are in a new, synced pack before the first old one is removed; killed at
    /// any instant, nothing needed is gone.
    ///
    /// # Errors
    /// A failure that names the file; bad input if a needed object of a pack that goes is damaged: then nothing went.
    pub fn carry_out(self) -> Result<Pruned> {
        for folder in [self.layout.objects(), self.layout.cache()] {
            disk::sweep_temporaries(&folder)?;
        }
        move_objects(self.layout, &self.objects, &self.moving)?;
        remove_packs(self.layout, &self.going)?;
        Ok(self.pruned)
    }
}

/// How much of a pack is needed, and how many of its objects are not.
fn usage(frames: &super::pack::Frames, live: &HashSet<ObjectId>) -> (PackUse, u64) {
    let mut used = PackUse::default();
    let mut dead = 0;
    for (id, frame) in frames {
        let bytes = frame.bytes();
        if live.contains(id) {
            used.live_bytes += bytes;
            used.largest_live = used.largest_live.max(frame.length);
        } else {
            used.dead_bytes += bytes;
            dead += 1;
        }
    }
    (used, dead)
}

fn age(pack: &std::path::Path, now: SystemTime) -> Result<Option<Duration>> {
    let Some(meta) = disk::metadata(pack)? else { return Ok(None) };
    let written = meta.modified().map_err(|error| Error::io("look at", pack, &error))?;
    Ok(now.duration_since(written).ok())
}

fn move_objects(layout: &Layout, objects: &Objects, ids: &[ObjectId]) -> Result<()> {
    let mut writer = PackWriter::new(layout);
    copy_objects(objects, ids, &mut writer)?;
    writer.finish().map(|_| ())
}

/// Adds objects to a pack that is being written, each once and checked.
///
/// # Errors
/// What reading or writing one says.
pub(super) fn copy_objects<'i>(
    objects: &Objects,
    ids: impl IntoIterator<Item = &'i ObjectId>,
    writer: &mut PackWriter,
) -> Result<()> {
    for id in ids {
        if !writer.contains(id) {
            writer.add_packed(objects.packed(id)?)?;
        }
    }
    Ok(())
}

/// Removes packs, synced.
///
/// # Errors
/// A failure that names the file.
pub(super) fn remove_packs(layout: &Layout, packs: &[PathBuf]) -> Result<()> {
    for pack in packs {
        std::fs::remove_file(pack).map_err(|error| Error::io("remove the pack", pack, &error))?;
    }
    if packs.is_empty() { Ok(()) } else { disk::sync_directory(&layout.objects()).map(|_| ()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::hash::id_of;
    use crate::model::tree::{EntryKind, Tree, TreeEntry};

    struct Store {
        _dir: tempfile::TempDir,
        layout: Layout,
        lock: Lock,
    }

    impl Store {
        fn new() -> Store {
            let dir = tempfile::tempdir().unwrap();
            let layout = Layout::new(dir.path());
            disk::open_store(&layout).unwrap();
            let lock = Lock::exclusive(&layout.lock(), Duration::ZERO).unwrap();
            Store { _dir: dir, layout, lock }
        }

        /// A snapshot of files with these contents, in a pack that was written so many days ago.
        fn snapshot(&self, contents: &[&[u8]], days: u64) -> ObjectId {
            let mut writer = PackWriter::new(&self.layout);
            let mut entries = Vec::new();
            for (number, content) in contents.iter().enumerate() {
                let object = writer.add(content).unwrap();
                let name = format!("f{number}").into_bytes();
                let size = content.len() as u64;
                entries.push(TreeEntry { name, kind: EntryKind::File, mode: 0o644, size, object });
            }
            let root = writer.add(&Tree::new(entries).unwrap().encode()).unwrap();
            let pack = self.layout.pack(&writer.finish().unwrap().unwrap().id);
            let time = SystemTime::now() - Duration::from_secs(days * 24 * 60 * 60 + 60);
            std::fs::File::open(pack).unwrap().set_modified(time).unwrap();
            root
        }

        fn prepare(&self, snapshots: &[ObjectId]) -> Prepared<'_> {
            let needs = Needs { snapshots: snapshots.to_vec(), ..Needs::default() };
            prepare(&self.layout, &self.lock, &needs).unwrap()
        }

        fn prune(&self, snapshots: &[ObjectId]) -> Pruned {
            self.prepare(snapshots).carry_out().unwrap()
        }

        fn packs(&self) -> usize {
            disk::list(&self.layout.objects()).unwrap().len()
        }

        fn readable(&self, contents: &[&[u8]]) -> usize {
            let objects = Objects::open(&self.layout).unwrap();
            contents.iter().filter(|content| objects.read(&id_of(content)).is_ok_and(|read| read == **content)).count()
        }
    }

    #[test]
    fn packs_without_live_objects_go_and_the_rest_stays_readable() {
        let store = Store::new();
        let (old, new): ([&[u8]; 2], [&[u8]; 2]) = ([b"old one", b"old two"], [b"new one", b"new two"]);
        store.snapshot(&old, 3);
        let kept = store.snapshot(&new, 3);
        let told = store.prepare(&[kept]).pruned();
        assert_eq!((store.packs(), told.removed_packs, told.dropped_objects), (2, 1, 3));
        assert_eq!(store.prune(&[kept]), told);
        assert_eq!((store.packs(), store.readable(&old), store.readable(&new)), (1, 0, 2));
        assert_eq!(store.prune(&[kept]), Pruned::default());
    }

    #[test]
    fn a_mostly_dead_pack_is_written_anew_with_what_is_needed() {
        let store = Store::new();
        let dead: Vec<Vec<u8>> = (0..20_u8).map(|number| vec![number; 50]).collect();
        let mut contents: Vec<&[u8]> = dead.iter().map(Vec::as_slice).collect();
        contents.push(b"needed");
        store.snapshot(&contents, 3);
        let needed = id_of(b"needed");
        let needs = Needs { objects: vec![needed], ..Needs::default() };
        let pruned = prepare(&store.layout, &store.lock, &needs).unwrap().carry_out().unwrap();
        assert_eq!((pruned.rewritten_packs, pruned.dropped_objects, store.packs()), (1, 21, 1));
        assert_eq!((store.readable(&[b"needed"]), store.readable(&contents)), (1, 1));
        assert!(Objects::check(&store.layout).unwrap().faults.is_empty());
    }

    // PROMISES S65.
    #[test]
    fn what_is_young_is_counted_and_stays() {
        let store = Store::new();
        store.snapshot(&[b"young"], 0);
        let pruned = store.prune(&[]);
        assert_eq!((pruned.waiting_objects, pruned.dropped_objects, store.packs()), (2, 0, 1));
        // Young is what is not a day old.
        let pack = disk::list(&store.layout.objects()).unwrap().remove(0);
        let file = std::fs::File::open(store.layout.objects().join(pack)).unwrap();
        for (minutes, packs) in [(23 * 60 + 55, 1), (24 * 60 + 5, 0)] {
            file.set_modified(SystemTime::now() - Duration::from_secs(minutes * 60)).unwrap();
            store.prune(&[]);
            assert_eq!(store.packs(), packs);
        }
    }

    #[test]
    fn nothing_goes_while_a_needed_snapshot_is_not_whole_or_the_lock_is_not_held() {
        let store = Store::new();
        store.snapshot(&[b"old"], 3);
        let lost = Needs { snapshots: vec![ObjectId([7; 32])], ..Needs::default() };
        assert!(prepare(&store.layout, &store.lock, &lost).is_err());
        let unheld = Lock::exclusive(&store.layout.store().join("no/lock"), Duration::ZERO).unwrap();
        assert!(prepare(&store.layout, &unheld, &Needs::default()).is_err());
        assert_eq!(store.packs(), 1);
    }

    #[test]
    fn the_plan_keeps_whenever_it_is_in_doubt() {
        let old = Some(MIN_AGE);
        let pack = PackUse { is_whole: true, age: old, live_bytes: 10, dead_bytes: 11, largest_live: 5 };
        assert_eq!(plan(&pack), Fate::Rewrite);
        assert_eq!(plan(&PackUse { live_bytes: 0, ..pack }), Fate::Remove);
        assert_eq!(plan(&PackUse { live_bytes: 11, ..pack }), Fate::Keep);
        assert_eq!(plan(&PackUse { largest_live: MAX_MOVED_BYTES + 1, ..pack }), Fate::Keep);
        assert_eq!(plan(&PackUse { live_bytes: 0, is_whole: false, ..pack }), Fate::Keep);
        assert_eq!(plan(&PackUse { live_bytes: 0, age: None, ..pack }), Fate::Keep);
        assert_eq!(plan(&PackUse { live_bytes: 0, age: Some(MIN_AGE - Duration::from_secs(1)), ..pack }), Fate::Keep);
    }

    #[test]
    fn what_is_freed_is_what_the_store_shrinks_by() {
        let store = Store::new();
        let bytes = || disk::bytes_below(&store.layout.objects()).unwrap();
        store.snapshot(&[b"one", b"two"], 3);
        let contents: Vec<Vec<u8>> = (0..20_u8).map(|number| vec![number; 50]).collect();
        store.snapshot(&contents.iter().map(Vec::as_slice).collect::<Vec<_>>(), 3);
        let other: Vec<Vec<u8>> = (20..30_u8).map(|number| vec![number; 50]).collect();
        store.snapshot(&other.iter().map(Vec::as_slice).collect::<Vec<_>>(), 3);
        let live = HashSet::from([id_of(&contents[0]), id_of(&contents[1]), id_of(&other[0])]);
        let frames =
            &Objects::open(&store.layout).unwrap().packs().into_iter().max_by_key(|pack| pack.size).unwrap().frames;
        let (used, dead) = usage(frames, &live);
        assert_eq!((used.largest_live, dead), (50, 19));
        let needs = Needs { objects: live.into_iter().collect(), ..Needs::default() };
        let before = bytes();
        let pruned = prepare(&store.layout, &store.lock, &needs).unwrap().carry_out().unwrap();
        assert_eq!((pruned.removed_packs, pruned.rewritten_packs), (1, 2));
        assert_eq!(pruned.freed_bytes, before - bytes());
    }
}
