//! Trees, files and stores at the edge of what can be given back.

use std::collections::BTreeSet;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};

use highwater::snapshot::objects::Objects;
use highwater::snapshot::restore::{Options, pending, restore};

use super::{NOW, Work, path, texts};
use crate::support::overwrite;

// What lies deeper than one call reaches is named as not kept, and keeps nothing else from coming back.
#[test]
fn a_tree_deeper_than_a_path_is_long_comes_back_as_far_as_it_was_kept() {
    use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};
    let work = Work::new();
    work.write("file", "one");
    let name = "d".repeat(200);
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    let mut folder = openat(CWD, work.dir.path(), flags, Mode::empty()).unwrap();
    for level in 0..24 {
        if level == 3 {
            let file = openat(&folder, "near", OFlags::CREATE | OFlags::WRONLY, Mode::RWXU).unwrap();
            rustix::io::write(file, b"one").unwrap();
        }
        mkdirat(&folder, &name, Mode::RWXU).unwrap();
        folder = openat(&folder, &name, flags, Mode::empty()).unwrap();
    }
    let target = work.capture();
    let near = format!("{name}/{name}/{name}/near");
    work.write("file", "two");
    work.write(&near, "two");
    let whole = |work: &Work| [work.read("file"), work.read(&near)].map(Option::unwrap);
    for paths in [&[][..], &[path("file"), path(near.as_str())]] {
        let done = restore(&work.layout, target, &Options { paths, ..work.options() }).unwrap();
        assert_eq!((whole(&work), done.restored.len()), (["one", "one"].map(String::from), 2));
        work.undo().unwrap();
        assert_eq!(whole(&work), ["two", "two"].map(String::from));
    }
    let copy = tempfile::tempdir().unwrap();
    let done = restore(&work.layout, target, &Options { into: Some(copy.path()), ..work.options() }).unwrap();
    assert_eq!((done.restored.len(), done.unheld.len()), (2, 1));
}

// PROMISES F96: what even its owner may not change is told before the first change, and how that is taken away.
#[test]
fn what_is_marked_as_not_to_be_changed_is_refused_in_the_plan() {
    use std::process::Command;
    let work = Work::new();
    let mark = |flags: &str, name: &str| {
        let set = Command::new("chattr").arg(flags).arg(work.dir.path().join(name)).output();
        set.is_ok_and(|output| output.status.success())
    };
    for name in ["folder/inner", "first", "gone"] {
        work.write(name, "one");
    }
    let target = work.capture();
    for name in ["folder/inner", "first", "new"] {
        work.write(name, "two");
    }
    std::fs::remove_file(work.dir.path().join("gone")).unwrap();
    let texts = || ["folder/inner", "first", "new", "gone"].map(|name| work.read(name));
    let before = texts();
    for (flag, name) in [("i", "first"), ("a", "first"), ("i", "folder"), ("a", "folder"), ("i", "new"), ("i", ".")] {
        if !mark(&format!("+{flag}"), name) {
            eprintln!("skipped: no file can be marked here");
            return;
        }
        let refused = restore(&work.layout, target, &work.options());
        let as_it_was = texts() == before && pending(&work.layout, NOW).unwrap().is_none();
        assert!(mark(&format!("-{flag}"), name));
        let refused = refused.unwrap_err();
        assert!(as_it_was && refused.to_string().contains("nothing was changed"), "{flag} {name}: {refused}");
        assert!(refused.help.as_ref().is_some_and(|help| help.contains("chattr -ia")), "{flag} {name}");
    }
    work.restore(target).unwrap();
    assert_eq!(texts(), [Some("one"), Some("one"), None, Some("one")].map(|text| text.map(String::from)));
}

// A folder goes if nothing is left in it, which is to be told beforehand.
#[test]
fn a_dry_run_tells_which_folders_stay_for_what_is_in_them() {
    let work = Work::new();
    work.write("file", "one");
    let target = work.capture();
    work.write(".gitignore", "ignored\n");
    for name in ["a/seen", "a/inner/seen", "a/inner/ignored", "b/seen", "b/inner/seen"] {
        work.write(name, "two");
    }
    let planned = restore(&work.layout, target, &Options { dry_run: true, ..work.options() }).unwrap();
    let done = work.restore(target).unwrap();
    assert_eq!(texts(&done.kept), ["a", "a/inner"]);
    assert_eq!(texts(&done.directories_removed), ["b", "b/inner"]);
    assert_eq!((planned.kept, planned.directories_removed), (done.kept, done.directories_removed));
}

// PROMISES W5: what has another name has it anywhere.
#[test]
fn a_mode_that_is_restored_does_not_reach_other_names_of_the_file() {
    let work = Work::new();
    let outside = tempfile::tempdir().unwrap();
    let other = outside.path().join("other");
    work.write("file", "one");
    work.mode("file", 0o600);
    let target = work.capture();
    work.mode("file", 0o755);
    std::fs::hard_link(work.path("file"), &other).unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().mode() & 0o777;
    let before = work.listing();
    let planned = restore(&work.layout, target, &Options { dry_run: true, ..work.options() }).unwrap();
    assert_eq!(planned.plan.to_string(), "replace file\n");
    work.restore(target).unwrap();
    assert_eq!((mode(&work.path("file")), mode(&other)), (0o600, 0o755));
    work.undo().unwrap();
    assert_eq!((work.listing(), mode(&other)), (before, 0o755));
}

// PROMISES H5: what the newest pack held costs itself, and the work tree still has it.
#[test]
fn a_damaged_pack_of_the_tree_as_it_stands_keeps_nobody_from_going_back() {
    let work = Work::new();
    work.write("file", "one");
    work.write("gone/later", "one");
    let target = work.capture();
    let packs = || -> BTreeSet<PathBuf> {
        std::fs::read_dir(work.layout.objects()).unwrap().map(|entry| entry.unwrap().path()).collect()
    };
    let old = packs();
    std::fs::remove_dir_all(work.path("gone")).unwrap();
    work.write("file", &"two ".repeat(100));
    work.write("new/file", "two");
    symlink("two", work.path("link")).unwrap();
    let newest = work.capture();
    let pack = packs().difference(&old).next().unwrap().clone();
    let (good, before) = (std::fs::read(&pack).unwrap(), work.listing());
    let cache = std::fs::read(work.layout.stat_cache()).unwrap();
    for at in (0..good.len()).step_by(23) {
        let mut bad = good.clone();
        bad[at] ^= 1;
        overwrite(&pack, &bad);
        let planned = restore(&work.layout, target, &Options { dry_run: true, ..work.options() });
        assert_eq!(planned.unwrap().restored.len(), 2, "flipped byte {at}");
        work.restore(target).unwrap();
        assert_eq!(work.read("gone/later").as_deref(), Some("one"));
        work.undo().unwrap();
        assert_eq!(work.listing(), before, "flipped byte {at}");
        // It is stored again on the way.
        assert!(Objects::open(&work.layout).unwrap().tree(&newest).is_ok(), "flipped byte {at}");
        packs().into_iter().filter(|path| *path != pack && !old.contains(path)).for_each(|path| {
            std::fs::remove_file(path).unwrap();
        });
        std::fs::remove_dir_all(work.layout.restores()).unwrap();
        overwrite(&work.layout.stat_cache(), &cache);
    }
}
