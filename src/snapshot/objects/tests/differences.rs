//! Tests of objects that are stored as differences from others.

use std::time::Duration;

use super::*;
use crate::disk::lock::Lock;
use crate::snapshot::gather::gather;
use crate::snapshot::prune::{Pruned, copy_objects, prepare};
use crate::snapshot::reach::Needs;
use crate::snapshot::repair::{repair, set_aside};

/// States of one text, which differ in their first line.
fn state(number: usize) -> Vec<u8> {
    let text: Vec<u8> = (0..400_u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_string().into_bytes()).collect();
    [format!("state {number}\n").into_bytes(), text].concat()
}

/// Says that the pack was written so many days ago.
fn age(pack: &Path, days: u64) {
    let now = disk::time_on(pack.parent().unwrap()).unwrap();
    let time = now - Duration::from_secs(days * 24 * 60 * 60);
    File::open(pack).unwrap().set_modified(time).unwrap();
}

struct Store {
    _dir: tempfile::TempDir,
    layout: Layout,
}

impl Store {
    /// The first state in a pack of its own, and so many others in one pack each, all of them old.
    fn new(others: usize) -> Store {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::new(dir.path());
        disk::open_store(&layout).unwrap();
        disk::make_directory(&layout.objects()).unwrap();
        let store = Store { _dir: dir, layout };
        store.pack(0, None);
        for number in 1..=others {
            store.pack(number, Some(number - 1));
        }
        store
    }

    /// Packs a state, as what comes after another.
    fn pack(&self, number: usize, before: Option<usize>) -> PathBuf {
        let base = before.and_then(|before| self.objects().base(&id_of(&state(before))));
        let packed = Packed::with_id(id_of(&state(number)), &state(number), base.as_ref()).unwrap();
        self.write(packed)
    }

    fn write(&self, packed: Packed) -> PathBuf {
        let mut writer = PackWriter::new(&self.layout);
        writer.add_packed(packed).unwrap();
        let path = self.layout.pack(&writer.finish().unwrap().unwrap().id);
        age(&path, 3);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        path
    }

    fn objects(&self) -> Objects {
        Objects::open(&self.layout).unwrap()
    }

    fn frame(&self, number: usize) -> Frame {
        self.objects().locations(&id_of(&state(number)))[0].1.frame
    }

    fn pack_of(&self, number: usize) -> PathBuf {
        let objects = self.objects();
        objects.index().packs[objects.locations(&id_of(&state(number)))[0].1.pack].path.clone()
    }

    fn is_readable(&self, number: usize) -> bool {
        let objects = self.objects();
        let (id, bytes) = (id_of(&state(number)), state(number));
        let is_read = objects.read(&id).is_ok_and(|read| read == bytes);
        assert_eq!(is_read, objects.has(&id), "{number}");
        assert_eq!(is_read, objects.is_at_hand(&id), "{number}");
        is_read
    }

    fn prune(&self, needed: &[usize]) -> Pruned {
        let objects = needed.iter().map(|number| id_of(&state(*number))).collect();
        let needs = Needs { objects, ..Needs::default() };
        let lock = Lock::exclusive(&self.layout.lock(), Duration::ZERO).unwrap();
        prepare(&self.layout, &lock, &needs).unwrap().carry_out().unwrap()
    }
}

#[test]
fn a_later_state_takes_little_and_is_read_with_the_first_alone() {
    let store = Store::new(3);
    assert!(!store.frame(0).is_difference);
    for number in 1..=3 {
        let frame = store.frame(number);
        assert!(frame.is_difference && frame.stored < 100, "{frame:?}");
        assert!(frame.length > 3_000);
        assert!(store.is_readable(number));
    }
    std::fs::remove_file(store.pack_of(2)).unwrap();
    assert!(store.is_readable(3));
    let checked = Objects::check(&store.layout).unwrap();
    assert_eq!((checked.objects, checked.faults), (3, Vec::new()));
}

// PROMISES H8: packs as they were when differences came, which are never written again.
#[test]
fn the_first_packs_with_differences_stay_readable() {
    let store = Store::new(0);
    std::fs::remove_file(store.pack_of(0)).unwrap();
    let packs = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/loops/format-1-differences");
    for pack in std::fs::read_dir(packs).unwrap().map(Result::unwrap) {
        std::fs::copy(pack.path(), store.layout.objects().join(pack.file_name())).unwrap();
    }
    for number in [0, 1] {
        assert!(store.is_readable(number));
        assert_eq!(store.frame(number).is_difference, number > 0);
    }
    assert!(Objects::check(&store.layout).unwrap().faults.is_empty());
}

#[test]
fn what_is_not_much_smaller_as_a_difference_is_stored_plainly() {
    let store = Store::new(0);
    let base = store.objects().base(&id_of(&state(0))).unwrap();
    for bytes in [&b"short"[..], b"", &[7; 500], &noise(5_000)] {
        store.write(Packed::with_id(id_of(bytes), bytes, Some(&base)).unwrap());
        let objects = store.objects();
        assert!(!objects.locations(&id_of(bytes))[0].1.frame.is_difference);
        assert_eq!(objects.read(&id_of(bytes)).unwrap(), bytes);
    }
    assert!(store.objects().base(&id_of(b"absent")).is_none());
}

/// What was read once is not read again, not even as a base.
#[test]
fn what_is_kept_in_memory_needs_no_pack() {
    let store = Store::new(1);
    let objects = store.objects();
    let [first, later] = [0, 1].map(state);
    objects.keep([(id_of(&first), first.clone())].into());
    std::fs::remove_file(store.pack_of(0)).unwrap();
    assert_eq!(objects.read(&id_of(&first)).unwrap(), first);
    assert_eq!(objects.read(&id_of(&later)).unwrap(), later);
    assert!(store.objects().read(&id_of(&later)).is_err());
}

/// zstd takes a dictionary that begins so for one that it made itself.
#[test]
fn a_base_that_looks_like_a_dictionary_changes_nothing() {
    let store = Store::new(0);
    let like = |number: usize| [&[0x37, 0xa4, 0x30, 0xec][..], &state(number)].concat();
    store.write(Packed::new(&like(0)).unwrap());
    let base = store.objects().base(&id_of(&like(0)));
    assert!(base.is_some());
    store.write(Packed::with_id(id_of(&like(1)), &like(1), base.as_ref()).unwrap());
    assert_eq!(store.objects().read(&id_of(&like(1))).unwrap(), like(1));
}

#[test]
fn a_damaged_base_costs_what_is_a_difference_from_it_and_both_are_named() {
    let store = Store::new(1);
    let path = store.pack_of(0);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[8 + 48 + 100] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let error = store.objects().read(&id_of(&state(1))).unwrap_err();
    for named in [&id_of(&state(0)), &id_of(&state(1))] {
        assert!(error.to_string().contains(&named.short()), "{error}");
    }
    assert_eq!(error.kind, ErrorKind::BadInput);
    let mut damaged = Objects::check(&store.layout).unwrap().damaged;
    damaged.sort();
    let mut both = [id_of(&state(0)), id_of(&state(1))];
    both.sort();
    assert_eq!(damaged, both);
    // Another copy makes both good again.
    let mut writer = PackWriter::new(&store.layout);
    writer.add(b"beside").unwrap();
    writer.add(&state(0)).unwrap();
    writer.finish().unwrap();
    assert!(store.is_readable(1));
    assert!(store.is_readable(0));
}

#[test]
fn without_its_base_a_difference_is_not_there() {
    let store = Store::new(1);
    std::fs::remove_file(store.pack_of(0)).unwrap();
    assert!(!store.is_readable(1));
    assert_eq!(Objects::check(&store.layout).unwrap().damaged, [id_of(&state(1))]);
    // It is stored again, and from then on by itself.
    store.pack(1, Some(1));
    assert!(store.is_readable(1));
}

/// The pack with the damaged index is not to be relied on, so neither is what needs it.
#[test]
fn nothing_is_stored_as_a_difference_from_what_no_whole_pack_has() {
    let store = Store::new(1);
    let path = store.pack_of(0);
    let mut bytes = std::fs::read(&path).unwrap();
    let at = bytes.len() - 100;
    bytes[at] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    for before in [0, 1] {
        assert!(store.objects().base(&id_of(&state(before))).is_none());
    }
    let mut writer = PackWriter::new(&store.layout);
    let base = store.objects().base(&id_of(&state(0)));
    writer.add_packed(Packed::with_id(id_of(&state(0)), &state(0), base.as_ref()).unwrap()).unwrap();
    // Without it, it would be the first pack, made good.
    writer.add(b"beside").unwrap();
    writer.finish().unwrap();
    std::fs::remove_file(path).unwrap();
    assert!(store.is_readable(0) && store.is_readable(1));
}

/// Whoever can write to the store can have small files that unpack to anything.
#[test]
fn a_base_is_not_unpacked_beyond_the_size_that_bases_have() {
    let store = Store::new(0);
    let large = noise(usize::try_from(PIECE_BYTES).unwrap() + 1);
    store.write(Packed::new(&large).unwrap());
    assert!(store.objects().base(&id_of(&large)).is_none());
    let end = &large[large.len() - 5_000..];
    let base = Base { id: id_of(&large), bytes: end.to_vec() };
    store.write(Packed::with_id(id_of(end), end, Some(&base)).unwrap());
    let objects = store.objects();
    assert!(objects.locations(&id_of(end))[0].1.frame.is_difference);
    assert_eq!(objects.read(&id_of(end)).unwrap_err().kind, ErrorKind::BadInput);
    assert!(!objects.has(&id_of(end)));
}

#[test]
fn differences_from_each_other_or_themselves_end_in_an_error() {
    let store = Store::new(0);
    let (one, two) = (ObjectId([1; 32]), ObjectId([2; 32]));
    let hostile = |id: ObjectId, base: ObjectId| {
        store.write(Packed::from_stored(id, 5, true, base.0.to_vec()));
    };
    hostile(one, two);
    hostile(two, one);
    hostile(ObjectId([3; 32]), ObjectId([3; 32]));
    // Cut short: no room for a base.
    store.write(Packed::from_stored(ObjectId([4; 32]), 5, true, vec![4; 3]));
    for id in (1..=4).map(|n| ObjectId([n; 32])) {
        let objects = store.objects();
        assert_eq!(objects.read(&id).unwrap_err().kind, ErrorKind::BadInput);
        assert!(!objects.has(&id) && objects.base(&id).is_none());
    }
    let lie = Frame { is_difference: true, ..store.frame(0) };
    let file = disk::open_regular(&store.pack_of(0)).unwrap();
    assert!(pack::unpack(&file, lie, &id_of(&state(0)), None, &mut io::sink()).is_err());
    assert_eq!(Objects::check(&store.layout).unwrap().damaged.len(), 4);
    assert_eq!(store.prune(&[0]).removed_packs, 4);
}

#[test]
fn pruning_keeps_a_base_as_long_as_something_is_a_difference_from_it() {
    let store = Store::new(2);
    let pruned = store.prune(&[2]);
    assert_eq!((pruned.removed_packs, pruned.dropped_objects), (1, 1));
    assert!(store.is_readable(0) && store.is_readable(2));
    // Nobody needs it, and it is too young to go: it stays readable until then.
    age(&store.pack_of(2), 0);
    assert_eq!(store.prune(&[]), Pruned { waiting_objects: 1, ..Pruned::default() });
    assert!(store.is_readable(2));
    age(&store.pack_of(2), 3);
    assert_eq!(store.prune(&[]).removed_packs, 2);
    assert_eq!(store.objects().ids().count(), 0);
}

/// What is damaged has no base to be kept; what the system does not give may have one.
#[test]
fn a_difference_that_cannot_be_read_for_now_stops_the_pruning() {
    let store = Store::new(1);
    let (objects, path, id) = (store.objects(), store.pack_of(1), id_of(&state(1)));
    let bases = |objects: &Objects| objects.bases(&HashSet::from([id]));
    assert_eq!(bases(&objects).unwrap(), [id_of(&state(0))]);
    let unreadable = File::options().write(true).open(&path).unwrap();
    let pack = objects.locations(&id)[0].1.pack;
    *objects.open.lock().unwrap() = vec![(pack, Arc::new(unreadable))];
    assert_eq!(bases(&objects).unwrap_err().kind, ErrorKind::Failed);
    let (objects, later) = (store.objects(), store.objects());
    // Both have looked into the packs before.
    assert_eq!(objects.ids().count() + later.ids().count(), 4);
    std::fs::write(&path, "cut").unwrap();
    assert_eq!(bases(&objects).unwrap(), []);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(bases(&later).unwrap(), [], "what is needed of it was moved");
}

/// A pack that is mostly dead holds a base and a difference: both move as they are.
#[test]
fn what_moves_to_another_pack_stays_a_difference() {
    let store = Store::new(1);
    let before = [store.pack_of(0), store.pack_of(1)];
    let mut writer = PackWriter::new(&store.layout);
    copy_objects(&store.objects(), &[id_of(&state(0)), id_of(&state(1))], &mut writer).unwrap();
    writer.add(&noise(20_000)).unwrap();
    let pack = store.layout.pack(&writer.finish().unwrap().unwrap().id);
    before.iter().for_each(|pack| std::fs::remove_file(pack).unwrap());
    age(&pack, 3);
    let before = store.frame(1);
    let pruned = store.prune(&[1]);
    assert_eq!((pruned.rewritten_packs, pruned.dropped_objects), (1, 1));
    assert!(store.is_readable(0) && store.is_readable(1));
    let after = store.frame(1);
    assert_eq!((after.is_difference, after.stored), (true, before.stored));
    assert_ne!(store.pack_of(1), pack);
}

/// A pack was damaged, what it held was stored again, and the pack was repaired: one object is there in both ways.
#[test]
fn what_others_are_differences_from_moves_as_it_is_by_itself() {
    let store = Store::new(1);
    let base = Base { id: id_of(&state(2)), bytes: state(2) };
    store.write(Packed::new(&state(2)).unwrap());
    let first = store.pack_of(0);
    store.write(Packed::with_id(id_of(&state(0)), &state(0), Some(&base)).unwrap());
    let objects = store.objects();
    assert_eq!(objects.locations(&id_of(&state(0))).len(), 2);
    let mut writer = PackWriter::new(&store.layout);
    copy_objects(&objects, &[id_of(&state(0))], &mut writer).unwrap();
    // A pack of the same objects would be the same file.
    writer.add(b"beside").unwrap();
    writer.finish().unwrap();
    // The copy is now the only one by itself.
    std::fs::remove_file(first).unwrap();
    assert!(store.is_readable(1));
}

#[test]
fn gathered_differences_stay_differences() {
    let store = Store::new(70);
    let objects = store.objects();
    assert_eq!(objects.ids().count(), 71);
    assert_eq!(gather(&store.layout, &objects).unwrap(), 71);
    for number in 0..=70 {
        assert!(store.is_readable(number));
        assert_eq!(store.frame(number).is_difference, number > 0);
        // Who opened the store before finds them where they are now.
        assert_eq!(objects.read(&id_of(&state(number))).unwrap(), state(number));
    }
}

#[test]
fn a_damaged_index_over_differences_is_made_again() {
    let store = Store::new(1);
    let path = store.pack_of(1);
    let good = std::fs::read(&path).unwrap();
    let mut bad = good.clone();
    let at = bad.len() - 100;
    bad[at] ^= 1;
    std::fs::write(&path, &bad).unwrap();
    assert!(!store.objects().has(&id_of(&state(1))));
    assert_eq!(store.objects().read(&id_of(&state(1))).unwrap(), state(1), "it is found by its frame");
    assert_eq!(repair(&store.layout).unwrap(), std::slice::from_ref(&path));
    assert_eq!(std::fs::read(&path).unwrap(), good);
    assert!(store.is_readable(1));
    // Cut inside its frame, there is nothing to be found.
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, &good[..8 + 48 + 33]).unwrap();
    assert!(store.objects().length(&id_of(&state(1))).is_none());
    // Damaged inside too, and its base gone: nothing of it can be saved, and what can be is not kept from being so.
    bad[8 + 48 + 40] ^= 1;
    std::fs::write(&path, &bad).unwrap();
    assert!(repair(&store.layout).unwrap().is_empty());
    assert_eq!(std::fs::read(&path).unwrap(), bad);
    let set_aside = set_aside(&store.layout).unwrap();
    assert_eq!((set_aside.saved, std::fs::read(&set_aside.packs[0]).unwrap()), (None, bad));
}
