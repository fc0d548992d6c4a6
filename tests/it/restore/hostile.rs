//! Stored trees that highwater never wrote: names that leave the tree, contradictions, links in the way.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::PathBuf;

use highwater::disk::hash::id_of;
use highwater::error::ErrorKind;
use highwater::model::ids::ObjectId;
use highwater::model::tree::{EntryKind, Tree, TreeEntry};
use highwater::snapshot::restore::{Options, newest_record, pending, restore};

use super::{NOW, Work, listing};

/// The bytes of a stored directory, with no check of anything: kind, mode, size, object, name.
fn raw_tree(entries: &[(u8, u16, u64, ObjectId, &[u8])]) -> Vec<u8> {
    let mut bytes = b"hwtree\x00\x01".to_vec();
    for (kind, mode, size, object, name) in entries {
        bytes.push(*kind);
        bytes.extend_from_slice(&mode.to_le_bytes());
        bytes.extend_from_slice(&size.to_le_bytes());
        bytes.extend_from_slice(&object.0);
        bytes.extend_from_slice(&u16::try_from(name.len()).unwrap().to_le_bytes());
        bytes.extend_from_slice(name);
    }
    bytes
}

/// Whether an entry of a listing belongs to the work tree and not to the store.
fn is_work(entry: &(PathBuf, String)) -> bool {
    !entry.0.starts_with(".progress")
}

/// Restoring `target` is refused as bad input, in whichever way it is tried, and nothing is changed.
fn assert_refused(work: &Work, target: ObjectId, what: &str) {
    let before = listing(work.dir.path(), true);
    let place = tempfile::tempdir().unwrap();
    let into = place.path().join("into");
    for options in
        [work.options(), Options { dry_run: true, ..work.options() }, Options { into: Some(&into), ..work.options() }]
    {
        let error = restore(&work.layout, target, &options).expect_err(what);
        assert_eq!(error.kind, ErrorKind::BadInput, "{what}: {error}");
    }
    assert!(!into.try_exists().unwrap(), "{what}");
    assert!(pending(&work.layout, NOW).unwrap().is_none() && newest_record(&work.layout).unwrap().is_none(), "{what}");
    let names: Vec<_> = listing(work.dir.path(), true).into_iter().filter(is_work).collect();
    assert_eq!(names, before.into_iter().filter(is_work).collect::<Vec<_>>(), "{what}");
}

// PROMISES E78, E79, E80, E82.
#[test]
fn stored_trees_with_names_that_leave_the_tree_or_reach_a_store_are_refused() {
    let long = vec![b'n'; 256];
    let names: [&[u8]; 25] = [
        b"../x",
        b"a/../../x",
        b"/etc/x",
        b"",
        b".",
        b"..",
        b"a//b",
        b"a/",
        b"a/.",
        b"a/b",
        b".git",
        b".GIT",
        b".Git",
        b".git/hooks/x",
        b".progress",
        b".PROGRESS",
        b"git~1",
        b"GIT~1",
        b".git.",
        b".git ",
        b".git::$INDEX_ALLOCATION",
        b".g\xe2\x80\x8cit",
        b"a\0b",
        b".git\0",
        &long,
    ];
    let work = Work::new();
    work.write("kept", "kept");
    let content = b"hostile".to_vec();
    for name in names {
        for kind in [b'f', b'l', b'd', b'u'] {
            let object = if kind == b'd' { Tree::default().encode() } else { content.clone() };
            let top = raw_tree(&[(kind, 0o644, 7, id_of(&object), name)]);
            let sub = raw_tree(&[(b'd', 0o755, 0, id_of(&top), b"sub")]);
            work.store(&[object, top.clone(), sub.clone()]);
            assert_refused(&work, id_of(&top), &format!("{name:?} as {}", char::from(kind)));
            assert_refused(&work, id_of(&sub), &format!("sub/{name:?} as {}", char::from(kind)));
        }
    }
}

// PROMISES E81, E82.
#[test]
fn names_that_are_odd_only_elsewhere_are_restored() {
    let work = Work::new();
    let names: [&[u8]; 9] =
        [b"..\\x", b"C:x", b"con", b"aux.txt", b"a\nb", b"a\rb", b"\xff\xfe", b"...", b"\xc3\xa9\x1b[31m"];
    let long = vec![b'n'; 255];
    let content = b"plain".to_vec();
    let entry = |name: &[u8]| TreeEntry {
        name: name.to_vec(),
        kind: EntryKind::File,
        mode: 0o640,
        size: 5,
        object: id_of(&content),
    };
    let tree = Tree::new(names.into_iter().chain([long.as_slice()]).map(entry).collect()).unwrap().encode();
    work.store(&[content.clone(), tree.clone()]);
    let outcome = work.restore(id_of(&tree)).unwrap();
    assert_eq!(outcome.restored.len(), 10);
    for name in names.into_iter().chain([long.as_slice()]) {
        let path = work.path(std::ffi::OsStr::from_bytes(name));
        assert_eq!(std::fs::read(&path).unwrap(), content);
        assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o7777, 0o640);
    }
}

// PROMISES E83, E85.
#[test]
fn stored_trees_that_contradict_themselves_are_refused() {
    let work = Work::new();
    work.write("kept", "kept");
    let (content, empty, nul) = (b"hostile".to_vec(), Vec::new(), b"a\0b".to_vec());
    let long_target = vec![b't'; 5000];
    let id = id_of(&content);
    work.store(&[content.clone(), empty.clone(), nul.clone(), long_target.clone()]);
    let cases: [(&str, Vec<u8>); 14] = [
        ("the same name twice", raw_tree(&[(b'f', 0o644, 7, id, b"a"), (b'f', 0o644, 7, id, b"a")])),
        ("a file and a directory of one name", raw_tree(&[(b'd', 0o755, 0, id, b"a"), (b'f', 0o644, 7, id, b"a")])),
        ("a link and a directory of one name", raw_tree(&[(b'l', 0, 7, id, b"a"), (b'd', 0o755, 0, id, b"a")])),
        ("names out of order", raw_tree(&[(b'f', 0o644, 7, id, b"b"), (b'f', 0o644, 7, id, b"a")])),
        ("an unknown kind", raw_tree(&[(b'p', 0o644, 7, id, b"a")])),
        ("setuid", raw_tree(&[(b'f', 0o4755, 7, id, b"a")])),
        ("sticky directory", raw_tree(&[(b'd', 0o1777, 0, id_of(&Tree::default().encode()), b"a")])),
        ("a size that is not the object's", raw_tree(&[(b'f', 0o644, 8, id, b"a")])),
        ("a directory that is none", raw_tree(&[(b'd', 0o755, 0, id, b"a")])),
        ("an object that is not there", raw_tree(&[(b'f', 0o644, 7, ObjectId([9; 32]), b"a")])),
        ("a directory that is not there", raw_tree(&[(b'd', 0o755, 0, ObjectId([9; 32]), b"a")])),
        ("a link to nothing", raw_tree(&[(b'l', 0, 0, id_of(&empty), b"a")])),
        ("a link to NUL", raw_tree(&[(b'l', 0, 3, id_of(&nul), b"a")])),
        ("a link with a long target", raw_tree(&[(b'l', 0, 5000, id_of(&long_target), b"a")])),
    ];
    for (what, tree) in cases {
        work.store(&[Tree::default().encode(), tree.clone()]);
        assert_refused(&work, id_of(&tree), what);
    }
    assert_refused(&work, id, "a root that is no directory");
}

#[test]
fn a_small_store_that_names_endless_paths_is_refused() {
    let work = Work::new();
    let mut tree = raw_tree(&[(b'f', 0o644, 0, id_of(b""), b"end")]);
    let mut objects = vec![Vec::new(), tree.clone()];
    for _ in 0..64 {
        let id = id_of(&tree);
        tree = raw_tree(&[(b'd', 0o755, 0, id, b"a"), (b'd', 0o755, 0, id, b"b")]);
        objects.push(tree.clone());
    }
    work.store(&objects);
    let error = work.restore(id_of(&tree)).unwrap_err();
    assert_eq!(error.kind, ErrorKind::BadInput);
}

// PROMISES E84.
#[test]
fn nothing_is_written_or_changed_through_a_link() {
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("x"), "outside").unwrap();
    std::fs::set_permissions(outside.path(), std::fs::Permissions::from_mode(0o711)).unwrap();
    let kept = listing(outside.path(), true);
    let work = Work::new();
    work.write("d/x", "inside");
    work.write("d/deep/y", "inside");
    work.mode("d", 0o777);
    let target = work.capture();
    let expected = work.listing();
    std::fs::remove_dir_all(work.path("d")).unwrap();
    // A chain of two links that ends outside, where the directory was.
    symlink(outside.path(), work.path("hop")).unwrap();
    symlink("hop", work.path("d")).unwrap();
    let before = work.listing();
    work.restore(target).unwrap();
    assert_eq!(work.listing(), expected);
    assert_eq!(listing(outside.path(), true), kept);
    assert_eq!(std::fs::metadata(outside.path()).unwrap().mode() & 0o7777, 0o711);
    work.undo().unwrap();
    assert_eq!(work.listing(), before);
    assert_eq!(listing(outside.path(), true), kept);
}
