use std::os::unix::fs::PermissionsExt;

use super::super::pack::{PIECE_BYTES, PackWriter};
use super::*;

mod differences;

fn store(objects: &[&[u8]]) -> (tempfile::TempDir, Layout) {
    let dir = tempfile::tempdir().unwrap();
    let layout = Layout::new(dir.path());
    write_pack(&layout, objects);
    (dir, layout)
}

fn write_pack(layout: &Layout, objects: &[&[u8]]) -> PathBuf {
    let mut writer = PackWriter::new(layout);
    for bytes in objects {
        writer.add(bytes).unwrap();
    }
    layout.pack(&writer.finish().unwrap().unwrap().id)
}

fn only_pack(layout: &Layout) -> PathBuf {
    layout.pack(&pack_files(layout).unwrap().pop().unwrap().0)
}

fn change(path: &Path, edit: impl Fn(&mut Vec<u8>)) {
    let mut bytes = std::fs::read(path).unwrap();
    edit(&mut bytes);
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).unwrap();
    std::fs::write(path, bytes).unwrap();
}

/// Pseudo-random bytes that do not compress.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut bytes = Vec::with_capacity(length);
    while bytes.len() < length {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}

#[test]
fn objects_come_back_to_the_byte_and_packs_are_read_only() {
    let large = noise(usize::try_from(PIECE_BYTES).unwrap() + 12_345);
    let contents: [&[u8]; 4] = [b"", b"one", &[0; 100_000], &large];
    let (_dir, layout) = store(&contents);
    let objects = Objects::open(&layout).unwrap();
    for bytes in contents {
        let id = id_of(bytes);
        assert!(objects.has(&id));
        assert_eq!(objects.read(&id).unwrap(), bytes);
        assert_eq!(objects.length(&id), Some(bytes.len() as u64));
    }
    assert_eq!(objects.ids().count(), 4);
    assert!(!objects.has(&id_of(b"other")));
    let meta = std::fs::metadata(only_pack(&layout)).unwrap();
    assert_eq!(meta.permissions().mode() & 0o777, 0o400);
    let checked = Objects::check(&layout).unwrap();
    assert_eq!(checked, Checked { objects: 4, faults: Vec::new(), damaged: Vec::new() });
}

#[test]
fn a_streamed_object_is_the_same_object() {
    let dir = tempfile::tempdir().unwrap();
    let layout = Layout::new(dir.path());
    let bytes = noise(20 << 20);
    let mut writer = PackWriter::new(&layout);
    assert_eq!(writer.add_reader(&mut bytes.as_slice()).unwrap(), id_of(&bytes));
    assert_eq!(writer.add_reader(&mut bytes.as_slice()).unwrap(), id_of(&bytes));
    writer.add(b"after").unwrap();
    assert_eq!(writer.finish().unwrap().unwrap().bytes, std::fs::metadata(only_pack(&layout)).unwrap().len());
    let objects = Objects::open(&layout).unwrap();
    assert_eq!(objects.read(&id_of(&bytes)).unwrap(), bytes);
    assert_eq!(objects.read(&id_of(b"after")).unwrap(), b"after");
}

// PROMISES S64, for objects that are handled in pieces.
#[test]
fn a_flipped_byte_of_a_large_object_is_found() {
    let large = noise(usize::try_from(PIECE_BYTES).unwrap() + 12_345);
    let (_dir, layout) = store(&[&large]);
    let path = only_pack(&layout);
    for at in [100, 2 << 20, 4 << 20] {
        change(&path, |bytes| bytes[at] ^= 1);
        assert!(Objects::open(&layout).unwrap().read(&id_of(&large)).is_err(), "byte {at}");
        assert_eq!(Objects::check(&layout).unwrap().damaged, [id_of(&large)]);
        change(&path, |bytes| bytes[at] ^= 1);
    }
    assert_eq!(Objects::open(&layout).unwrap().read(&id_of(&large)).unwrap(), large);
}

#[test]
fn nothing_new_writes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let layout = Layout::new(dir.path());
    assert!(PackWriter::new(&layout).finish().unwrap().is_none());
    assert!(disk::metadata(&layout.store()).unwrap().is_none());
    assert_eq!(Objects::open(&layout).unwrap().ids().count(), 0);
}

#[test]
fn an_abandoned_pack_leaves_nothing_behind() {
    let dir = tempfile::tempdir().unwrap();
    let layout = Layout::new(dir.path());
    let mut writer = PackWriter::new(&layout);
    writer.add(&noise(3 << 20)).unwrap();
    assert_eq!(disk::list(&layout.objects()).unwrap().len(), 1);
    drop(writer);
    assert!(disk::list(&layout.objects()).unwrap().is_empty());
}

// PROMISES S64 and H5: every flipped bit of a pack is found, and no read ever answers wrong bytes.
#[test]
fn every_flipped_byte_is_found_and_costs_at_most_one_object() {
    let contents: [&[u8]; 3] = [b"first object", b"second object", b"third object"];
    let (_dir, layout) = store(&contents);
    let path = only_pack(&layout);
    let size = std::fs::read(&path).unwrap().len();
    for at in 0..size {
        change(&path, |bytes| bytes[at] ^= 0x10);
        let objects = Objects::open(&layout).unwrap();
        let mut lost = 0;
        for bytes in contents {
            match objects.read(&id_of(bytes)) {
                Ok(read) => assert_eq!(read, bytes, "byte {at}"),
                Err(error) => {
                    lost += 1;
                    assert!(
                        error.place.path.as_deref().is_some_and(|name| name.ends_with(".pack")),
                        "byte {at}: {error}"
                    );
                }
            }
        }
        assert!(lost <= 1, "byte {at}: {lost} objects lost");
        let checked = Objects::check(&layout).unwrap();
        assert!(checked.faults.iter().any(|(named, _)| *named == path), "byte {at} was not found");
        change(&path, |bytes| bytes[at] ^= 0x10);
    }
}

// PROMISES S64.
#[test]
fn a_pack_that_was_cut_is_named_and_not_trusted_but_gives_what_is_whole() {
    let (_dir, layout) = store(&[b"first object", b"second object"]);
    let path = only_pack(&layout);
    let whole = std::fs::read(&path).unwrap();
    for length in 0..whole.len() {
        change(&path, |bytes| bytes.truncate(length));
        let objects = Objects::open(&layout).unwrap();
        assert!(!objects.has(&id_of(b"first object")), "cut at {length}");
        assert!(!objects.faults().is_empty(), "cut at {length}");
        // 8 bytes of magic, then the first frame: 48 bytes of header and a zstd frame.
        let stored = usize::try_from(u64::from_le_bytes(whole[48..56].try_into().unwrap())).unwrap();
        assert_eq!(objects.read(&id_of(b"first object")).is_ok(), length >= 56 + stored, "cut at {length}");
        change(&path, |bytes| *bytes = whole.clone());
    }
}

// PROMISES S64.
#[test]
fn a_pack_that_is_missing_or_a_directory_or_a_link_is_named() {
    let (dir, layout) = store(&[b"first object"]);
    let other = write_pack(&layout, &[b"second object"]);
    let id = id_of(b"second object");
    let aside = dir.path().join("aside");
    std::fs::rename(&other, &aside).unwrap();
    let missing = Objects::open(&layout).unwrap().read(&id).unwrap_err();
    assert_eq!(missing.kind, ErrorKind::BadInput);
    assert!(missing.to_string().contains("is missing"), "{missing}");
    std::os::unix::fs::symlink(&aside, &other).unwrap();
    let link = Objects::open(&layout).unwrap().read(&id).unwrap_err();
    assert!(link.to_string().contains("symbolic link") && link.to_string().contains(".pack"), "{link}");
    std::fs::remove_file(&other).unwrap();
    std::fs::create_dir(&other).unwrap();
    let objects = Objects::open(&layout).unwrap();
    assert!(objects.read(&id).unwrap_err().to_string().contains("directory"));
    assert_eq!(objects.read(&id_of(b"first object")).unwrap(), b"first object");
}

#[test]
fn an_object_that_is_in_two_packs_survives_the_loss_of_one() {
    let (_dir, layout) = store(&[b"shared object", b"a"]);
    write_pack(&layout, &[b"shared object", b"b"]);
    for (id, _) in pack_files(&layout).unwrap() {
        let path = layout.pack(&id);
        // Every frame of this pack is spoilt, its index is not.
        change(&path, |bytes| bytes[8 + 48..8 + 48 + 4].fill(0));
        let objects = Objects::open(&layout).unwrap();
        assert_eq!(objects.read(&id_of(b"shared object")).unwrap(), b"shared object");
        change(&path, |bytes| bytes[8 + 48..8 + 48 + 4].copy_from_slice(&[0x28, 0xb5, 0x2f, 0xfd]));
        assert!(Objects::check(&layout).unwrap().faults.is_empty());
    }
}

// PROMISES S71.
#[test]
fn strays_are_no_packs() {
    let (_dir, layout) = store(&[b"one"]);
    let pack = only_pack(&layout);
    let name = pack.file_name().unwrap().to_str().unwrap();
    for stray in [".tmp-1-x", ".DS_Store", "a.pack", &format!("{name}~"), &format!("{name} (conflicted copy)")] {
        std::fs::write(layout.objects().join(stray), "x").unwrap();
    }
    assert_eq!(Objects::check(&layout).unwrap(), Checked { objects: 1, ..Checked::default() });
    assert!(Objects::open(&layout).unwrap().faults().is_empty());
}

#[test]
fn a_pack_under_a_wrong_name_is_named_and_not_trusted() {
    let (_dir, layout) = store(&[b"one"]);
    std::fs::rename(only_pack(&layout), layout.pack(&ObjectId([7; 32]))).unwrap();
    let objects = Objects::open(&layout).unwrap();
    assert!(!objects.has(&id_of(b"one")));
    assert_eq!(objects.faults().len(), 1);
    assert_eq!(objects.read(&id_of(b"one")).unwrap(), b"one");
    assert_eq!(Objects::check(&layout).unwrap().faults.len(), 1);
}

#[test]
fn many_packs_are_read_through_the_merged_index_and_damage_to_it_costs_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let layout = Layout::new(dir.path());
    let contents: Vec<Vec<u8>> = (0..40_u32).map(|number| number.to_le_bytes().repeat(9)).collect();
    for bytes in &contents {
        write_pack(&layout, &[bytes]);
    }
    let all_there = || {
        let objects = Objects::open(&layout).unwrap();
        contents.iter().all(|bytes| objects.has(&id_of(bytes)) && objects.read(&id_of(bytes)).unwrap() == *bytes)
    };
    assert!(all_there());
    assert!(disk::metadata(&layout.cache()).unwrap().is_none(), "opening writes nothing");
    let objects = Objects::open(&layout).unwrap();
    objects.merge_indexes(&layout);
    assert!(disk::metadata(&layout.pack_index()).unwrap().is_none(), "nobody has asked for an object");
    assert!(objects.has(&id_of(&contents[0])));
    objects.merge_indexes(&layout);
    assert!(disk::metadata(&layout.pack_index()).unwrap().is_some());
    assert!(all_there());
    // A pack that shrank is not believed to be what the merged index says.
    let gone = layout.pack(&pack_files(&layout).unwrap()[3].0);
    let whole = std::fs::read(&gone).unwrap();
    change(&gone, |bytes| bytes.truncate(20));
    assert!(!all_there());
    change(&gone, |bytes| *bytes = whole.clone());
    std::fs::write(layout.pack_index(), "not an index").unwrap();
    assert!(all_there());
}

#[test]
fn the_merged_index_tells_of_each_pack_that_is_still_there_whatever_came_and_went() {
    let dir = tempfile::tempdir().unwrap();
    let layout = Layout::new(dir.path());
    let contents: Vec<Vec<u8>> = (0..16_u32).map(|number| number.to_le_bytes().repeat(9)).collect();
    let (early, late) = contents.split_at(10);
    early.iter().for_each(|bytes| drop(write_pack(&layout, &[bytes])));
    let objects = Objects::open(&layout).unwrap();
    let gone: Vec<ObjectId> = [2, 7].map(|at| objects.packs()[at].frames[0].0).to_vec();
    for (at, pack) in objects.packs().iter().enumerate() {
        if matches!(at, 2 | 7) {
            std::fs::rename(&pack.path, pack.path.with_extension("away")).unwrap();
        }
    }
    objects.merge_indexes(&layout);
    late.iter().for_each(|bytes| drop(write_pack(&layout, &[bytes])));
    let objects = Objects::open(&layout).unwrap();
    for bytes in &contents {
        let id = id_of(bytes);
        assert_eq!(objects.has(&id), !gone.contains(&id));
        assert_eq!(objects.read(&id).ok(), objects.has(&id).then(|| bytes.clone()));
    }
    assert_eq!(objects.ids().count(), 14);
    assert_eq!(objects.index().unmerged, 8, "six came and two went");
}

#[test]
fn packs_do_not_depend_on_who_writes_them() {
    let (_one, first) = store(&[b"a", b"b", b"a"]);
    let (_two, second) = store(&[b"a", b"b"]);
    assert_eq!(only_pack(&first).file_name(), only_pack(&second).file_name());
}

#[test]
fn a_hostile_length_neither_takes_memory_nor_ends_the_program() {
    let (_dir, layout) = store(&[b"one object"]);
    let path = only_pack(&layout);
    for lie in [u64::MAX, 1 << 62, 1 << 33, 9, 0] {
        let frame = Frame { offset: 8, length: lie, stored: u64::MAX, is_difference: false };
        let file = disk::open_regular(&path).unwrap();
        assert!(pack::unpack(&file, frame, &id_of(b"one object"), None, &mut io::sink()).is_err(), "{lie}");
        let frame = Frame { offset: u64::MAX - 3, length: lie, stored: lie, is_difference: true };
        assert!(pack::unpack(&file, frame, &id_of(b"one object"), None, &mut io::sink()).is_err(), "{lie}");
    }
}

/// Its checksums are right, as whoever can write to the store can make them.
#[test]
fn an_index_that_points_out_of_its_pack_is_not_used() {
    let (_dir, layout) = store(&[b"one object"]);
    let path = only_pack(&layout);
    let good = std::fs::read(&path).unwrap();
    let (footer, end) = (good.len() - 88, good.len() - 40);
    // Behind the id: where the frame is, how long the object, how long the frame.
    for (place, lie) in [(32, u64::MAX - 3), (32, 1 << 40), (48, u64::MAX >> 1), (48, 1 << 40), (48, 1 << 63 | 1 << 40)]
    {
        let mut bytes = good.clone();
        let at = footer - 56 + place;
        bytes[at..at + 8].copy_from_slice(&lie.to_le_bytes());
        let checksum = id_of(&bytes[footer - 56..footer + 16]);
        bytes[footer + 16..end].copy_from_slice(&checksum.0);
        let name = id_of(&bytes[..end]);
        bytes[end..end + 32].copy_from_slice(&name.0);
        std::fs::remove_file(only_pack(&layout)).unwrap();
        std::fs::write(layout.pack(&name), &bytes).unwrap();
        let objects = Objects::open(&layout).unwrap();
        assert!(!objects.has(&id_of(b"one object")), "{place} {lie}");
        assert!(objects.faults()[0].to_string().contains("its index is damaged"), "{:?}", objects.faults());
        assert_eq!(objects.read(&id_of(b"one object")).unwrap(), b"one object");
        assert!(objects.packed(&id_of(b"one object")).is_ok());
    }
}

#[test]
fn a_directory_is_decoded_and_other_objects_are_no_directories() {
    let tree = Tree::default().encode();
    let (_dir, layout) = store(&[&tree, b"text"]);
    let objects = Objects::open(&layout).unwrap();
    assert_eq!(objects.tree(&id_of(&tree)).unwrap(), Tree::default());
    let error = objects.tree(&id_of(b"text")).unwrap_err();
    assert!(error.to_string().contains(&id_of(b"text").short()), "{error}");
}

#[test]
fn objects_whose_pack_is_replaced_meanwhile_are_found_in_the_new_one() {
    let (_dir, layout) = store(&[b"needed", b"dead"]);
    let old = only_pack(&layout);
    let objects = Objects::open(&layout).unwrap();
    write_pack(&layout, &[b"needed"]);
    std::fs::remove_file(&old).unwrap();
    assert_eq!(objects.read(&id_of(b"needed")).unwrap(), b"needed");
    assert!(objects.read(&id_of(b"dead")).unwrap_err().to_string().contains("is missing"));
    // What was opened before stays readable, whoever removes its name.
    let (_dir, layout) = store(&[b"needed", b"dead"]);
    let objects = Objects::open(&layout).unwrap();
    assert_eq!(objects.read(&id_of(b"needed")).unwrap(), b"needed");
    std::fs::remove_file(only_pack(&layout)).unwrap();
    assert_eq!(objects.read(&id_of(b"dead")).unwrap(), b"dead");
}

#[test]
fn entries_of_all_packs_come_in_one_order() {
    let entry = |id: u8, pack: usize| {
        let frame = Frame { offset: 8, length: 1, stored: 1, is_difference: false };
        (ObjectId([id; 32]), Location { pack, frame })
    };
    let of_pack = |ids: &[u8], pack| ids.iter().map(|id| entry(*id, pack)).collect::<Vec<_>>();
    let large: Vec<u8> = (10..200).collect();
    for small in [&[][..], &[0], &[9, 10, 11], &[150, 250], &[250, 10, 0], &[199; 3]] {
        for others in [vec![], vec![of_pack(small, 1)], vec![of_pack(&[100, 120], 2), of_pack(small, 1)]] {
            let packs = || std::iter::once(of_pack(&large, 0)).chain(others.clone());
            let mut sorted: Vec<_> = packs().flatten().collect();
            sorted.sort();
            assert_eq!(in_order(packs().collect()), sorted);
        }
    }
    // None is much larger than the others.
    assert_eq!(in_order(vec![of_pack(&[3, 5], 0), of_pack(&[4, 1], 1)]).len(), 4);
    assert!(in_order(vec![of_pack(&[3, 5], 0), of_pack(&[4, 1], 1)]).is_sorted());
    assert!(in_order(Vec::new()).is_empty());
}
