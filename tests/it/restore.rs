//! Restoring, through the library's own door: nothing is lost, nothing leaves the tree, everything can be taken back.

use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use chrono::DateTime;
use highwater::disk;
use highwater::disk::hash::id_of;
use highwater::disk::layout::Layout;
use highwater::error::{ErrorKind, Result};
use highwater::model::config::{Capture, Limits};
use highwater::model::ids::{Iteration, ObjectId, TreePath};
use highwater::model::tree::{EntryKind, Tree, TreeEntry};
use highwater::snapshot::capture::capture;
use highwater::snapshot::pack::PackWriter;
use highwater::snapshot::restore::{self, Options, Origin, Outcome, newest_record, pending, restore, undo};

use crate::support::{make_fifo, overwrite};

/// No waiting for locks.
const NOW: Duration = Duration::ZERO;

/// Largest file that a snapshot keeps in these tests, bytes.
const FILE_BYTES: u64 = 64 * 1024;

mod edges;
mod hostile;
mod kills;

type Listing = BTreeMap<PathBuf, String>;

/// Every path below `root` with kind, mode, content and time of change; the store is listed only if asked for.
fn listing(root: &Path, with_store_and_times: bool) -> Listing {
    let mut found = Listing::new();
    let mut waiting = vec![root.to_path_buf()];
    while let Some(dir) = waiting.pop() {
        for entry in std::fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().to_path_buf();
            if name == Path::new(".progress") && !with_store_and_times {
                continue;
            }
            let meta = std::fs::symlink_metadata(&path).unwrap();
            let mode = meta.mode() & 0o7777;
            let mut what = if meta.is_symlink() {
                format!("link {:?}", std::fs::read_link(&path).unwrap())
            } else if meta.is_dir() {
                waiting.push(path);
                format!("directory {mode:o}")
            } else if meta.is_file() {
                format!("file {mode:o} {:?}", id_of(&std::fs::read(&path).unwrap()))
            } else {
                "special".to_owned()
            };
            if with_store_and_times {
                what.push_str(&format!(" {}.{}", meta.mtime(), meta.mtime_nsec()));
            }
            found.insert(name, what);
        }
    }
    found
}

/// Where a work tree is.
enum Place {
    /// Removed at the end.
    Own(tempfile::TempDir),
    /// Another process's.
    Given(PathBuf),
}

impl Place {
    fn path(&self) -> &Path {
        match self {
            Place::Own(dir) => dir.path(),
            Place::Given(path) => path,
        }
    }
}

/// A work tree with a store.
struct Work {
    dir: Place,
    layout: Layout,
    capture: Capture,
    limits: Limits,
}

impl Work {
    fn new() -> Work {
        Work::in_place(Place::Own(tempfile::tempdir().unwrap()))
    }

    fn at(root: &Path) -> Work {
        Work::in_place(Place::Given(root.to_path_buf()))
    }

    fn in_place(dir: Place) -> Work {
        let layout = Layout::new(dir.path());
        disk::open_store(&layout).unwrap();
        disk::make_directory(&layout.objects()).unwrap();
        let capture = Capture { include: Vec::new(), exclude: Vec::new() };
        Work { dir, layout, capture, limits: Limits { reports: 10, report_bytes: 1 << 20, file_bytes: FILE_BYTES } }
    }

    fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.dir.path().join(name)
    }

    fn write(&self, name: &str, content: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    fn read(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.path(name)).ok()
    }

    fn mode(&self, name: &str, mode: u32) {
        std::fs::set_permissions(self.path(name), std::fs::Permissions::from_mode(mode)).unwrap();
    }

    fn capture(&self) -> ObjectId {
        capture(&self.layout, &self.capture, &self.limits, &[], &[], &|_, _| {}).unwrap().0.root
    }

    fn listing(&self) -> Listing {
        listing(self.dir.path(), false)
    }

    fn options(&self) -> Options<'_> {
        Options {
            paths: &[],
            into: None,
            dry_run: false,
            origin: None,
            capture: &self.capture,
            limits: &self.limits,
            wait: std::time::Duration::from_secs(10),
            now: DateTime::UNIX_EPOCH,
        }
    }

    fn restore(&self, target: ObjectId) -> Result<Outcome> {
        restore(&self.layout, target, &self.options())
    }

    fn undo(&self) -> Result<Outcome> {
        undo(&self.layout, &self.capture, &self.limits, DateTime::UNIX_EPOCH)
    }

    /// Stores objects as they are, whatever they hold.
    fn store(&self, objects: &[Vec<u8>]) {
        let mut pack = PackWriter::new(&self.layout);
        for bytes in objects {
            pack.add(bytes).unwrap();
        }
        pack.finish().unwrap();
    }
}

fn path(text: impl Into<Vec<u8>>) -> TreePath {
    TreePath::new(text).unwrap()
}

fn texts(paths: &[TreePath]) -> Vec<String> {
    paths.iter().map(ToString::to_string).collect()
}

// PROMISES S64.
#[test]
fn a_damaged_object_is_found_before_anything_is_changed() {
    let work = Work::new();
    for number in 0..5 {
        work.write(&format!("f{number}"), &format!("content of {number}"));
    }
    let target = work.capture();
    let packs = || -> Vec<PathBuf> {
        std::fs::read_dir(work.layout.objects()).unwrap().map(|entry| entry.unwrap().path()).collect()
    };
    let pack = packs().remove(0);
    for number in 0..5 {
        work.write(&format!("f{number}"), "changed");
    }
    let good = std::fs::read(&pack).unwrap();
    let refused = |what: &str| {
        let before = work.listing();
        let error = work.restore(target).expect_err(what);
        assert_eq!(error.kind, ErrorKind::BadInput, "{what}: {error}");
        assert_eq!(work.listing(), before, "{what}");
        assert!(pending(&work.layout, NOW).unwrap().is_none(), "{what}");
    };
    let known = packs();
    // What is stored on the way would heal the pack.
    let forget = || {
        packs().into_iter().filter(|path| !known.contains(path)).for_each(|path| std::fs::remove_file(path).unwrap());
        for derived in [work.layout.restores(), work.layout.cache()] {
            let _ = std::fs::remove_dir_all(derived);
        }
    };
    let mut harmless = 0;
    for at in (0..good.len()).step_by(41) {
        let mut bad = good.clone();
        bad[at] ^= 0x10;
        overwrite(&pack, &bad);
        let before = work.listing();
        match work.restore(target) {
            // Damage to what this restore does not need, such as the index, which can be made again.
            Ok(_) => {
                harmless += 1;
                assert_eq!(work.read("f3").as_deref(), Some("content of 3"), "flipped byte {at}");
                work.undo().unwrap();
            }
            Err(error) => assert_eq!(error.kind, ErrorKind::BadInput, "flipped byte {at}: {error}"),
        }
        assert_eq!(work.listing(), before, "flipped byte {at}");
        forget();
    }
    assert!(harmless * 41 < good.len(), "no flip was noticed");
    overwrite(&pack, &good[..good.len() / 3]);
    refused("cut");
    std::fs::remove_file(&pack).unwrap();
    refused("missing");
    std::fs::create_dir(&pack).unwrap();
    refused("a directory");
}

#[test]
fn some_paths_are_restored_and_taken_back_alone() {
    let work = Work::new();
    work.write("src/a", "a1");
    work.write("src/b/c", "c1");
    work.write("top", "t1");
    let target = work.capture();
    work.write("src/a", "a2");
    work.write("src/b/c", "c2");
    work.write("src/b/new", "new");
    work.write("top", "t2");
    let before = work.listing();
    let only = [path("src/b")];
    let options = Options { paths: &only, ..work.options() };
    let outcome = restore(&work.layout, target, &options).unwrap();
    assert_eq!((texts(&outcome.restored), texts(&outcome.removed)), (vec!["src/b/c".into()], vec!["src/b/new".into()]));
    assert_eq!(
        (work.read("src/a"), work.read("src/b/c"), work.read("src/b/new"), work.read("top")),
        (Some("a2".into()), Some("c1".into()), None, Some("t2".into()))
    );
    work.write("top", "t3");
    work.undo().unwrap();
    assert_eq!(work.read("top").as_deref(), Some("t3"), "what was not restored is not taken back");
    work.write("top", "t2");
    assert_eq!(work.listing(), before);
    let unknown = [path("src/none")];
    let error = restore(&work.layout, target, &Options { paths: &unknown, ..work.options() }).unwrap_err();
    assert_eq!(error.kind, ErrorKind::BadInput);
    assert!(error.to_string().contains("src/none"), "{error}");
}

#[test]
fn a_path_whose_folders_are_gone_gets_them_back_and_undo_takes_them() {
    let work = Work::new();
    work.write("a/b/c/d", "d");
    let target = work.capture();
    std::fs::remove_dir_all(work.path("a")).unwrap();
    work.write("a", "a file now");
    let before = work.listing();
    let only = [path("a/b/c/d")];
    restore(&work.layout, target, &Options { paths: &only, ..work.options() }).unwrap();
    assert_eq!(work.read("a/b/c/d").as_deref(), Some("d"));
    work.undo().unwrap();
    assert_eq!(work.listing(), before);
}

#[test]
fn a_tree_is_written_into_an_empty_directory_only() {
    let work = Work::new();
    work.write("a/b", "b");
    work.write("run", "#!");
    work.mode("run", 0o755);
    work.mode("a", 0o555);
    symlink("/nowhere", work.path("link")).unwrap();
    std::fs::create_dir(work.path("empty")).unwrap();
    let target = work.capture();
    let expected = work.listing();
    work.mode("a", 0o755);
    std::fs::remove_dir_all(work.path("a")).unwrap();
    let before = listing(work.dir.path(), true);
    let place = tempfile::tempdir().unwrap();
    let write = |into: &Path, paths: &[TreePath], dry_run: bool| {
        restore(&work.layout, target, &Options { into: Some(into), paths, dry_run, ..work.options() })
    };
    let into = place.path().join("absent");
    assert_eq!(write(&into, &[], true).unwrap().restored.len(), 3);
    assert!(!into.try_exists().unwrap());
    assert_eq!(write(&into, &[], false).unwrap().record, None);
    assert_eq!(listing(&into, false), expected);
    assert_eq!(write(&into, &[], false).unwrap_err().kind, ErrorKind::BadInput);
    let some = place.path().join("some");
    std::fs::create_dir(&some).unwrap();
    write(&some, &[path("a/b")], false).unwrap();
    assert_eq!(listing(&some, false).len(), 2);
    std::fs::write(place.path().join("file"), "").unwrap();
    assert_eq!(write(&place.path().join("file"), &[], false).unwrap_err().kind, ErrorKind::BadInput);
    assert!(write(&work.layout.store().join("x"), &[], false).is_err());
    symlink("empty", place.path().join("link")).unwrap();
    std::fs::create_dir(place.path().join("empty")).unwrap();
    for name in ["no/parent", "file/below", "link", "link/"] {
        for dry_run in [true, false] {
            let error = write(&place.path().join(name), &[], dry_run).unwrap_err();
            assert_eq!(error.kind, ErrorKind::BadInput, "{name}: {error}");
            assert!(error.to_string().contains("nothing was changed") && error.help.is_some(), "{name}: {error}");
        }
    }
    assert!(listing(&place.path().join("empty"), false).is_empty());
    assert_eq!(listing(work.dir.path(), true), before, "neither tree nor store was touched");
}

// PROMISES W5: hooks of a repository are run.
#[test]
fn a_tree_is_written_into_no_repository_by_any_spelling() {
    let work = Work::new();
    work.write("pre-commit", "#!");
    let target = work.capture();
    let place = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(place.path().join(".git/empty")).unwrap();
    symlink(".git", place.path().join("link")).unwrap();
    let before = listing(place.path(), true);
    let refused =
        [".git/hooks", ".git/empty", ".git", "link/hooks", "link/empty", ".GIT", "git~1", ".git.", ".Progress"];
    for name in refused {
        for dry_run in [true, false] {
            let into = place.path().join(name);
            let options = Options { into: Some(&into), dry_run, ..work.options() };
            let error = restore(&work.layout, target, &options).unwrap_err();
            assert!(error.kind == ErrorKind::BadInput && error.to_string().contains("own store"), "{name}: {error}");
            assert!(error.to_string().contains("nothing was changed") && error.help.is_some(), "{name}: {error}");
        }
    }
    assert_eq!(listing(place.path(), true), before);
    for name in [".github", "git"] {
        let into = place.path().join(name);
        restore(&work.layout, target, &Options { into: Some(&into), ..work.options() }).unwrap();
    }
}

#[test]
fn a_dry_run_tells_every_step_and_changes_nothing() {
    let work = Work::new();
    work.write("a", "a1");
    work.write("old/x", "x");
    let target = work.capture();
    work.write("a", "a2");
    std::fs::remove_dir_all(work.path("old")).unwrap();
    work.write("new", "new");
    let before = listing(work.dir.path(), true);
    let outcome = restore(&work.layout, target, &Options { dry_run: true, ..work.options() }).unwrap();
    assert_eq!(outcome.plan.to_string(), "remove new\nmake directory old\nreplace a\nwrite old/x\n");
    assert_eq!(outcome.record, None);
    assert_eq!(listing(work.dir.path(), true), before);
    assert_eq!(work.restore(target).unwrap().plan.to_string(), outcome.plan.to_string());
}

// PROMISES W6.
#[test]
fn equal_files_keep_their_times() {
    let work = Work::new();
    work.write("same", "same");
    work.write("edited", "one");
    work.write("mode", "mode");
    work.mode("mode", 0o644);
    let target = work.capture();
    work.write("edited", "two");
    work.mode("mode", 0o600);
    let old = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    for name in ["same", "mode"] {
        std::fs::File::options().write(true).open(work.path(name)).unwrap().set_modified(old).unwrap();
    }
    let outcome = work.restore(target).unwrap();
    assert_eq!((outcome.unchanged, texts(&outcome.restored)), (1, vec!["edited".into(), "mode".into()]));
    for name in ["same", "mode"] {
        assert_eq!(std::fs::metadata(work.path(name)).unwrap().modified().unwrap(), old, "{name}");
    }
    assert_eq!(std::fs::metadata(work.path("mode")).unwrap().mode() & 0o777, 0o644);
}

// PROMISES F93, F94, W3.
#[test]
fn what_no_snapshot_holds_is_left_alone() {
    let work = Work::new();
    work.write(".gitignore", "*.ignored\n");
    work.write("a", "a1");
    work.write("secret.ignored", "mine");
    work.write("new/out.ignored", "built");
    let target = work.capture();
    work.write("a", "a2");
    work.write("new/file", "new");
    work.write("large.big", &"x".repeat(100_000));
    let outcome = work.restore(target).unwrap();
    assert_eq!(work.read("secret.ignored").as_deref(), Some("mine"));
    assert_eq!(work.read("new/out.ignored").as_deref(), Some("built"));
    assert_eq!(work.read("large.big").map(|text| text.len()), Some(100_000));
    assert_eq!(work.read("new/file"), None);
    assert!(texts(&outcome.kept).contains(&"large.big".to_owned()), "{outcome:?}");
}

// PROMISES F93.
#[test]
fn a_file_that_is_ignored_since_is_kept_before_it_is_replaced() {
    let work = Work::new();
    work.write("notes.ignored", "first");
    let entry = |name: &str, content: &str| TreeEntry {
        name: name.into(),
        kind: EntryKind::File,
        mode: 0o644,
        size: content.len() as u64,
        object: id_of(content.as_bytes()),
    };
    let folder = Tree::new(vec![entry("deep.ignored", "first")]).unwrap().encode();
    let inner = TreeEntry {
        name: b"out.ignored".to_vec(),
        kind: EntryKind::Directory,
        mode: 0o755,
        size: 0,
        object: id_of(&folder),
    };
    let tree = Tree::new(vec![inner, entry("notes.ignored", "first")]).unwrap().encode();
    work.store(&[b"first".to_vec(), folder, tree.clone()]);
    work.write(".gitignore", "*.ignored\n");
    work.write("notes.ignored", "second");
    work.write("out.ignored/deep.ignored", "second");
    work.write("out.ignored/other", "not ours");
    let before = work.listing();
    let outcome = work.restore(id_of(&tree)).unwrap();
    assert_eq!(work.read("notes.ignored").as_deref(), Some("first"));
    assert_eq!(work.read("out.ignored/deep.ignored").as_deref(), Some("first"));
    assert_eq!(work.read("out.ignored/other").as_deref(), Some("not ours"));
    assert!(outcome.rescued.is_empty());
    work.undo().unwrap();
    assert_eq!(work.listing(), before);
}

// PROMISES F93: deletes follow manifests, never today's ignore rules.
#[test]
fn what_the_restored_tree_ignored_is_not_removed_because_nothing_ignores_it_now() {
    let work = Work::new();
    work.write(".gitignore", "/data/\n*.log\n!kept.log\nspare/\ncache{\n[[:digit:]]key\n*.{js,map}\n");
    work.write("sub/.gitignore", "local\n");
    work.write("cache{", "cache");
    work.write("1key", "key");
    work.write("data/set/one", "precious");
    std::fs::create_dir(work.path("spare")).unwrap();
    work.write("run.log", "log");
    work.write("sub/local", "local");
    work.write("a", "a1");
    let target = work.capture();
    std::fs::remove_file(work.path(".gitignore")).unwrap();
    std::fs::remove_file(work.path("sub/.gitignore")).unwrap();
    work.write("a", "a2");
    work.write("data/set/two", "precious too");
    work.write("kept.log", "new, and not ignored then");
    work.write("new", "new");
    work.write("new.js", "new, and ignored only by who reads braces as a shell does");
    work.write("sub/spare", "no directory, so not ignored then");
    let before = work.listing();
    let outcome = work.restore(target).unwrap();
    assert_eq!(texts(&outcome.removed), ["kept.log", "new", "new.js", "sub/spare"]);
    assert!(work.path("spare").is_dir());
    for (name, content) in [
        ("data/set/one", "precious"),
        ("data/set/two", "precious too"),
        ("run.log", "log"),
        ("sub/local", "local"),
        ("cache{", "cache"),
        ("1key", "key"),
    ] {
        assert_eq!(work.read(name).as_deref(), Some(content), "{name}");
    }
    work.undo().unwrap();
    assert_eq!(work.listing(), before);
}

// PROMISES W4: a file that came back goes again, though the rules of the tree before it leave it out.
#[test]
fn undo_takes_away_what_the_restore_added_whatever_is_ignored() {
    let work = Work::new();
    work.write("dist/deep/a", "a");
    work.write("out/a", "was a folder");
    work.write("kept", "k1");
    let target = work.capture();
    for folder in ["dist", "out"] {
        std::fs::remove_dir_all(work.path(folder)).unwrap();
    }
    work.write(".gitignore", "dist/\nout/\n*.local\n");
    work.write("out", "is a file");
    work.write("kept", "k2");
    work.write("mine.local", "never captured");
    let later = work.capture();
    let before = work.listing();
    work.restore(target).unwrap();
    assert_eq!(work.read("dist/deep/a").as_deref(), Some("a"));
    work.undo().unwrap();
    assert_eq!(work.listing(), before);
    work.undo().unwrap();
    assert_eq!(work.read("out/a").as_deref(), Some("was a folder"));
    work.restore(later).unwrap();
    assert_eq!(work.read("out").as_deref(), Some("is a file"));
    assert_eq!(work.read("mine.local").as_deref(), Some("never captured"));
}

// PROMISES W3: a collision stops the restore before its first change.
#[test]
fn what_no_snapshot_holds_and_stands_in_the_way_stops_the_restore() {
    let fifo = |work: &Work, name: &str| make_fifo(&work.path(name));
    let large = "x".repeat(100_000);
    type Put<'a> = &'a dyn Fn(&Work);
    let ignore_late = |work: &Work| work.write(".gitignore", "*.ignored\n*.late\n");
    let cases: [(&str, Put); 8] = [
        ("a file too large", &|work| work.write("a.big", &large)),
        ("a FIFO", &|work| fifo(work, "a.big")),
        ("a FIFO where a directory was", &|work| fifo(work, "d")),
        ("a repository where a file was", &|work| work.write("f/.git/config", "theirs")),
        ("an ignored file in a directory where a file was", &|work| work.write("f/x.ignored", "theirs")),
        ("a large file in a directory where a file was", &|work| work.write("f/deep/x.big", &large)),
        ("a file too large that is ignored since", &|work| {
            ignore_late(work);
            work.write("b.late", &large);
        }),
        ("a FIFO that is ignored since", &|work| {
            ignore_late(work);
            fifo(work, "b.late");
        }),
    ];
    for (what, put) in cases {
        let work = Work::new();
        work.write(".gitignore", "*.ignored\n");
        for (name, content) in [("a.big", "small"), ("b.late", "small"), ("f", "file"), ("d/x", "x"), ("edited", "one")]
        {
            work.write(name, content);
        }
        let target = work.capture();
        for name in ["a.big", "b.late", "f"] {
            std::fs::remove_file(work.path(name)).unwrap();
        }
        std::fs::remove_dir_all(work.path("d")).unwrap();
        work.write("edited", "two");
        put(&work);
        let before = listing(work.dir.path(), false);
        for dry_run in [true, false] {
            let error = restore(&work.layout, target, &Options { dry_run, ..work.options() }).expect_err(what);
            assert_eq!(error.kind, ErrorKind::BadInput, "{what}: {error}");
            assert!(error.place.path.is_some() && error.help.is_some(), "{what}: {error}");
        }
        assert_eq!(listing(work.dir.path(), false), before, "{what}");
        let only = [path("edited")];
        restore(&work.layout, target, &Options { paths: &only, ..work.options() }).expect(what);
        assert_eq!(work.read("edited").as_deref(), Some("one"), "{what}");
    }
}

#[test]
fn what_the_snapshot_did_not_keep_is_left_alone_and_told() {
    let work = Work::new();
    work.write("large.big", &"x".repeat(100_000));
    work.write("a", "a1");
    let target = work.capture();
    work.write("large.big", "small now");
    work.write("a", "a2");
    let outcome = work.restore(target).unwrap();
    assert_eq!(texts(&outcome.unheld), ["large.big"]);
    assert_eq!((work.read("large.big").as_deref(), work.read("a").as_deref()), (Some("small now"), Some("a1")));
}

// PROMISES H3.
#[test]
fn a_restore_that_does_not_fit_is_refused_before_anything_is_changed() {
    let work = Work::new();
    work.write("kept", "kept");
    let content = b"small".to_vec();
    let entry = TreeEntry {
        name: b"huge".to_vec(),
        kind: EntryKind::File,
        mode: 0o644,
        size: 1 << 60,
        object: id_of(&content),
    };
    let tree = Tree::new(vec![entry]).unwrap().encode();
    work.store(&[content, tree.clone()]);
    let before = work.listing();
    let error = work.restore(id_of(&tree)).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Failed);
    assert!(error.to_string().contains("no space"), "{error}");
    assert_eq!(work.listing(), before);
}

// PROMISES F98.
#[test]
fn a_tree_two_hundred_folders_deep_comes_back() {
    let work = Work::new();
    let deep = format!("{}file", "d/".repeat(200));
    work.write(&deep, "one");
    let target = work.capture();
    std::fs::remove_dir_all(work.path("d")).unwrap();
    work.write("d", "a file");
    work.restore(target).unwrap();
    assert_eq!(work.read(&deep).as_deref(), Some("one"));
    work.undo().unwrap();
    assert_eq!(work.read("d").as_deref(), Some("a file"));
}

#[test]
fn a_folder_that_hands_its_group_down_goes_on_doing_so() {
    let work = Work::new();
    work.write("shared/x", "one");
    work.mode("shared", 0o750);
    let target = work.capture();
    work.mode("shared", 0o2770);
    work.restore(target).unwrap();
    assert_eq!(std::fs::metadata(work.path("shared")).unwrap().mode() & 0o7777, 0o2750);
}

// PROMISES F96.
#[test]
fn a_read_only_directory_in_the_way_is_refused_and_opened_on_the_way_back() {
    const INSIDE: &str = "HIGHWATER_TEST_UNPRIVILEGED";
    if rustix::process::geteuid().is_root() && std::env::var_os(INSIDE).is_none() {
        // Root may write anywhere, so another user does it.
        let this = std::env::current_exe().unwrap();
        let name = "restore::a_read_only_directory_in_the_way_is_refused_and_opened_on_the_way_back";
        let ran = Command::new("setpriv")
            .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
            .arg(this)
            .args(["--exact", name, "--nocapture"])
            .env(INSIDE, "1")
            // It may be root's alone.
            .env_remove("TMPDIR")
            .output();
        match ran {
            Ok(output) => assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout)),
            Err(error) => eprintln!("skipped: no setpriv ({error})"),
        }
        return;
    }
    let work = Work::new();
    work.write("closed/x", "one");
    work.mode("closed", 0o555);
    let closed = work.capture();
    work.mode("closed", 0o755);
    work.write("closed/x", "two");
    work.write("other", "other");
    let open = work.capture();
    // There and back again, over a directory that the restore itself closes.
    work.restore(closed).unwrap();
    assert_eq!(work.read("closed/x").as_deref(), Some("one"));
    work.undo().unwrap();
    assert_eq!(work.read("closed/x").as_deref(), Some("two"));
    assert_eq!(std::fs::metadata(work.path("closed")).unwrap().mode() & 0o777, 0o755);
    // Closed before and after, with a change inside: somebody meant it.
    work.mode("closed", 0o555);
    let before = work.listing();
    let error = work.restore(closed).unwrap_err();
    assert_eq!(error.kind, ErrorKind::BadInput);
    assert!(error.to_string().contains("closed") && error.help.is_some(), "{error}");
    assert_eq!(work.listing(), before);
    work.restore(open).unwrap();
    assert_eq!(std::fs::metadata(work.path("closed")).unwrap().mode() & 0o777, 0o755);
}

#[test]
fn the_record_tells_what_was_restored_and_repeats_it_when_taken_back() {
    let work = Work::new();
    work.write("a", "a1");
    let target = work.capture();
    work.write("a", "a2");
    let before = work.capture();
    let origin = Origin {
        loop_id: "auth".parse().unwrap(),
        iteration: Iteration(3),
        last_recorded: Iteration(7),
        previous_parent: Some(Iteration(6)),
    };
    let options = Options { origin: Some(origin.clone()), ..work.options() };
    let record = restore(&work.layout, target, &options).unwrap().record.unwrap();
    assert_eq!((record.number, record.target, record.safety), (1, target, before));
    assert_eq!((record.origin.as_ref(), record.undoes, record.paths.len()), (Some(&origin), None, 0));
    assert_eq!(newest_record(&work.layout).unwrap(), Some(record));
    let back = work.undo().unwrap().record.unwrap();
    assert_eq!((back.number, back.target, back.safety, back.undoes), (2, before, target, Some(1)));
    assert_eq!(back.origin, Some(origin));
    // A tree that is as it should be is a restore too: the next iteration starts from it.
    let again = work.restore(before).unwrap();
    assert!(again.plan.ops.is_empty() && again.record.is_some_and(|record| record.number == 3));
}

#[test]
fn nothing_to_undo_resume_or_abort_is_said() {
    let work = Work::new();
    for result in [work.undo(), restore::resume(&work.layout, NOW), restore::abort(&work.layout, NOW)] {
        assert_eq!(result.unwrap_err().kind, ErrorKind::BadInput);
    }
    let bare = tempfile::tempdir().unwrap();
    let layout = Layout::new(bare.path());
    assert!(pending(&layout, NOW).unwrap().is_none());
    assert!(restore::resume(&layout, NOW).is_err());
    assert!(!layout.store().try_exists().unwrap());
}

// PROMISES W6: git's own files are not touched.
#[test]
fn a_repository_keeps_its_head_index_and_stash() {
    let work = Work::new();
    work.write(".git/HEAD", "ref: refs/heads/main\n");
    work.write(".git/index", "index");
    work.write("sub/.git/HEAD", "sub");
    work.write("sub/file", "one");
    let target = work.capture();
    work.write("sub/file", "two");
    let git = |work: &Work| -> Vec<_> {
        listing(work.dir.path(), true).into_iter().filter(|(path, _)| path.iter().any(|name| name == ".git")).collect()
    };
    let before = git(&work);
    work.restore(target).unwrap();
    assert_eq!(work.read("sub/file").as_deref(), Some("one"));
    assert_eq!(git(&work), before);
    // Without the nested folder in the target, its repository still stays.
    let empty = Tree::default().encode();
    work.store(std::slice::from_ref(&empty));
    work.restore(id_of(&empty)).unwrap();
    assert_eq!(work.read("sub/.git/HEAD").as_deref(), Some("sub"));
    assert_eq!(work.read("sub/file"), None);
}
