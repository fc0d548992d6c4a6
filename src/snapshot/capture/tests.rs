use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use super::super::tree::{entries_below, files};
use super::super::walk::{Stat, has_true_times};
use super::*;
use crate::disk::tests_support::{git, make_fifo};

mod rules;

/// A work tree for one test.
struct Work {
    dir: tempfile::TempDir,
    layout: Layout,
    capture: Capture,
    limits: Limits,
}

impl Work {
    fn new() -> Work {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::new(dir.path());
        let capture = Capture { include: Vec::new(), exclude: Vec::new() };
        Work { dir, layout, capture, limits: Limits { reports: 9, report_bytes: 9, file_bytes: 1 << 20 } }
    }

    fn with(files: &[(&str, &str)]) -> Work {
        let work = Work::new();
        for (name, content) in files {
            work.write(name, content);
        }
        work
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.dir.path().join(name)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    fn take(&self) -> Captured {
        self.take_without(&[])
    }

    fn take_without(&self, not_code: &[&str]) -> Captured {
        capture(&self.layout, &self.capture, &self.limits, &[], &paths(not_code), &|_, _| {}).unwrap().0
    }

    /// The paths that a snapshot holds, directories with a `/` at their end.
    fn held(&self) -> Vec<String> {
        self.held_in(&self.take().root)
    }

    fn held_in(&self, root: &ObjectId) -> Vec<String> {
        let objects = Objects::open(&self.layout).unwrap();
        let entries = entries_below(&objects, root).unwrap().map(|entry| {
            let (path, entry) = entry.unwrap();
            if entry.kind == EntryKind::Directory { format!("{path}/") } else { path.to_string() }
        });
        let mut held: Vec<String> = entries.collect();
        held.sort();
        held
    }

    fn content(&self, root: &ObjectId, name: &str) -> Vec<u8> {
        let objects = Objects::open(&self.layout).unwrap();
        let found = files(&objects, root).unwrap().map(Result::unwrap).find(|(path, _)| path.to_string() == name);
        objects.read(&found.unwrap().1.object).unwrap()
    }

    fn packs(&self) -> usize {
        disk::list(&self.layout.objects()).unwrap().len()
    }

    /// Whether there is a git to do this.
    fn git(&self, folder: &str, arguments: &[&str]) -> bool {
        let Some(output) = git(&self.path(folder), arguments) else { return false };
        assert!(output.status.success(), "{output:?}");
        true
    }
}

fn paths(names: &[&str]) -> Vec<TreePath> {
    names.iter().map(|name| TreePath::new(*name).unwrap()).collect()
}

/// Sets back the time of the last change of content, as `touch -d` does.
fn set_modified(path: &Path, time: std::time::SystemTime) {
    std::fs::File::options().append(true).open(path).unwrap().set_modified(time).unwrap();
}

#[test]
fn taking_the_same_tree_twice_writes_nothing_new() {
    let work = Work::with(&[("a.rs", "fn a() {}\n"), ("src/b.rs", "\nfn b() {}\n\n// c\n"), ("bin", "\0\n\n")]);
    let first = work.take();
    assert_eq!(first.census, Census { file_count: 3, loc_total: 3 });
    assert_eq!((first.files, first.bytes), (3, 10 + 17 + 3));
    assert_eq!(first.new_bytes, std::fs::metadata(only_pack(&work)).unwrap().len());
    let second = work.take();
    assert_eq!((second.root, second.census, second.new_bytes), (first.root, first.census, 0));
    assert_eq!(work.packs(), 1);
    // Without anything derived the answer is the same.
    std::fs::remove_dir_all(work.layout.cache()).unwrap();
    assert_eq!(work.take().root, first.root);
    assert_eq!(work.packs(), 1);
}

fn only_pack(work: &Work) -> std::path::PathBuf {
    work.layout.objects().join(&disk::list(&work.layout.objects()).unwrap()[0])
}

#[test]
fn a_survey_sees_what_a_snapshot_holds_and_writes_nothing() {
    let work = Work::with(&[("a", "1"), ("d/b", "2"), ("d/e/c", "3")]);
    symlink("a", work.path("link")).unwrap();
    let seen = survey(&work.layout, &work.capture, &work.limits, Stored::Trusted).unwrap();
    assert!(disk::metadata(&work.layout.store()).unwrap().is_none());
    assert_eq!(seen.tree(&seen.root()).unwrap().entries().len(), 3);
    let taken = work.take();
    assert_eq!((seen.root(), seen.files()), (taken.root, taken.files));
    // Unchanged directories are now those of the store.
    let again = survey(&work.layout, &work.capture, &work.limits, Stored::Trusted).unwrap();
    assert_eq!(again.root(), taken.root);
    assert_eq!(again.tree(&taken.root).unwrap(), seen.tree(&taken.root).unwrap());
}

#[test]
fn a_survey_becomes_the_snapshot_of_what_it_saw() {
    let work = Work::with(&[("a", "1"), ("d/b", "2"), ("d/e/c", "3")]);
    work.take();
    work.write("d/b", "changed");
    work.write("new", "4");
    symlink("a", work.path("link")).unwrap();
    let seen = survey(&work.layout, &work.capture, &work.limits, Stored::Trusted).unwrap();
    let root = seen.root();
    let (taken, objects) = seen.take().unwrap();
    assert_eq!((taken.root, taken.files), (root, 5));
    assert!(taken.new_bytes > 0);
    let held: Vec<_> = entries_below(&objects, &root).unwrap().map(Result::unwrap).collect();
    assert_eq!(held.len(), 7);
    assert_eq!(work.content(&root, "d/b"), b"changed");
    let again = work.take();
    assert_eq!((again.root, again.new_bytes), (root, 0));

    // What is read twice is kept as it is the second time.
    work.write("new", "5");
    let seen = survey(&work.layout, &work.capture, &work.limits, Stored::Trusted).unwrap();
    work.write("new", "6");
    let (taken, _) = seen.take().unwrap();
    assert_eq!(work.content(&taken.root, "new"), b"6");
}

// PROMISES F97: the file is read although size and time say that nothing happened.
#[test]
fn another_content_of_the_same_size_and_time_is_seen() {
    let work = Work::with(&[("a", "one")]);
    let path = work.path("a");
    let first = work.take();
    for round in 0..20 {
        let time = std::fs::metadata(&path).unwrap().modified().unwrap();
        let content = format!("{:03}", round % 7);
        std::fs::write(&path, &content).unwrap();
        set_modified(&path, time);
        let next = work.take();
        assert_eq!(work.content(&next.root, "a"), content.as_bytes());
        assert_ne!(next.root, first.root);
    }
}

#[test]
fn a_name_that_comes_in_the_same_tick_of_the_clock_is_seen() {
    let work = Work::with(&[("sub/a", "one")]);
    for round in 0..20 {
        let names = [format!("sub/{round}-before"), format!("sub/{round}-after")];
        work.write(&names[0], "x");
        // Once all files are counted, the folders are listed.
        let write = |_, all| {
            if all > 0 {
                work.write(&names[1], "x")
            }
        };
        capture(&work.layout, &work.capture, &work.limits, &[], &[], &write).unwrap();
        let held = work.held();
        assert!(names.iter().all(|name| held.contains(name)), "{names:?}");
    }
}

#[test]
fn what_was_not_touched_is_not_read_again_but_stored_again_if_the_store_lost_it() {
    let work = Work::with(&[("a", "one"), ("b", "two")]);
    let first = work.take();
    // Once the clock has moved on, the cache says that `a` is known. Plant a lie in it: only a cache that is used tells it.
    std::thread::sleep(std::time::Duration::from_millis(30));
    work.take();
    let cache = StatCache::load(&work.layout.stat_cache());
    let stat = |path: &str| Stat::of(&std::fs::metadata(work.path(path)).unwrap());
    let mut folder = cache.folder(b"");
    let known = ["a", "b"].map(|name| folder.file(name.as_bytes(), &stat(name)).unwrap().0);
    let later = std::fs::metadata(work.path("b")).unwrap().modified().unwrap() + std::time::Duration::from_millis(30);
    let mut planted = NewCache::new(later, cache.packs());
    let lie = Known { lines: Some(100), ..known[0] };
    let entries = [(&b"a"[..], Remembered::File(lie)), (b"b", Remembered::File(known[1]))];
    planted.add(b"", folder.tree(), None, entries.into_iter());
    planted.store(&work.layout.stat_cache()).unwrap();
    assert_eq!(work.take().census.loc_total, 101);
    std::fs::remove_dir_all(work.layout.objects()).unwrap();
    let again = work.take();
    assert_eq!((again.root, again.census.loc_total), (first.root, 2));
    assert_eq!(work.content(&again.root, "a"), b"one");
}

#[test]
fn a_folder_that_was_not_touched_is_not_listed_again() {
    let work = Work::with(&[("sub/a", "one"), ("sub/b", "two")]);
    if !has_true_times(std::fs::File::open(work.path("sub")).unwrap()) {
        return;
    }
    std::thread::sleep(std::time::Duration::from_millis(30));
    work.take();
    // Plant a lie: only a cache that is used leaves out a file that is there.
    let cache = StatCache::load(&work.layout.stat_cache());
    let stat = |path: &str| Stat::of(&std::fs::metadata(work.path(path)).unwrap());
    let known = cache.folder(b"sub").file(b"a", &stat("sub/a")).unwrap().0;
    let later = std::fs::metadata(work.path("sub")).unwrap().modified().unwrap() + std::time::Duration::from_millis(30);
    let mut planted = NewCache::new(later, cache.packs());
    planted.add(b"sub", None, Some(&stat("sub")), std::iter::once((&b"a"[..], Remembered::File(known))));
    planted.store(&work.layout.stat_cache()).unwrap();
    assert_eq!(work.held(), ["sub/", "sub/a"]);
    work.write("sub/c", "three");
    assert_eq!(work.held(), ["sub/", "sub/a", "sub/b", "sub/c"]);
}

#[test]
fn what_comes_goes_or_becomes_something_else_is_seen_though_folders_are_remembered() {
    type Change = fn(&Work);
    let changes: [(&str, Change); 9] = [
        ("comes", |work| work.write("sub/deep/new", "x")),
        ("goes", |work| std::fs::remove_file(work.path("sub/deep/b")).unwrap()),
        ("is renamed", |work| std::fs::rename(work.path("sub/deep/b"), work.path("sub/deep/c")).unwrap()),
        ("moves", |work| std::fs::rename(work.path("sub/deep"), work.path("other/deep")).unwrap()),
        ("is another file", |work| {
            work.write("other/new", "one");
            std::fs::rename(work.path("other/new"), work.path("sub/deep/b")).unwrap();
        }),
        ("becomes a folder", |work| {
            std::fs::remove_file(work.path("sub/a")).unwrap();
            work.write("sub/a/in", "x");
        }),
        ("becomes a file", |work| {
            std::fs::remove_dir_all(work.path("sub/deep")).unwrap();
            work.write("sub/deep", "x");
        }),
        ("is ignored", |work| work.write(".gitignore", "deep/\n")),
        ("is ignored no longer", |work| work.write("sub/.gitignore", "")),
    ];
    for (what, change) in changes {
        let files = [("sub/a", "one"), ("sub/deep/b", "two"), ("other/z", "three"), ("sub/i/j", "four")];
        let work = Work::with(&files);
        work.write("sub/.gitignore", "i/\n");
        std::thread::sleep(std::time::Duration::from_millis(30));
        let first = work.take();
        assert_eq!(work.take().root, first.root);
        change(&work);
        let next = work.take();
        assert_ne!(next.root, first.root, "{what}");
        std::fs::remove_file(work.layout.stat_cache()).unwrap();
        assert_eq!(work.take().root, next.root, "{what}");
    }
}

#[test]
fn a_folder_that_was_not_touched_keeps_its_directory_object() {
    let work = Work::with(&[("a", "one"), ("sub/deep/b", "two"), ("z", "three")]);
    work.take();
    let cache = StatCache::load(&work.layout.stat_cache());
    for (folder, inner) in [(&b""[..], &b"sub"[..]), (b"sub", b"deep")] {
        let (mut names, below) = (cache.folder(folder), super::super::walk::join(folder, inner));
        let tree = cache.folder(&below).before();
        assert!(names.before().is_some() && tree.is_some(), "all that is in it is remembered");
        let Some(Remembered::Folder { tree: held, .. }) = names.find(inner) else { panic!("{names:?}") };
        assert_eq!(Some(held), tree);
    }
}

#[test]
fn reports_are_kept_but_are_no_code() {
    let work = Work::with(&[("src/a.rs", "x\n")]);
    let bare = work.take();
    work.write("reports/junit.xml", "<testsuites/>\n");
    work.write("src/cov.xml", "<coverage/>\n");
    let with = work.take_without(&["reports/junit.xml", "src/cov.xml"]);
    assert_eq!((with.tree_key, with.census), (bare.root, bare.census));
    assert_ne!(with.root, bare.root);
    assert_eq!(work.held_in(&with.root), ["reports/", "reports/junit.xml", "src/", "src/a.rs", "src/cov.xml"]);
    let objects = Objects::open(&work.layout).unwrap();
    let left = paths(&["reports/junit.xml", "src/cov.xml"]);
    assert_eq!(super::super::tree::without(&objects, &with.root, &left).unwrap(), with.tree_key);
    assert_eq!(super::super::census::of_tree(&objects, &with.root, &left).unwrap(), with.census);
}

#[test]
fn further_objects_go_into_the_same_pack() {
    let work = Work::with(&[("a", "1")]);
    let extra = [b"config".to_vec(), b"cases".to_vec()];
    let (taken, _) = capture(&work.layout, &work.capture, &work.limits, &extra, &[], &|_, _| {}).unwrap();
    assert_eq!(work.packs(), 1);
    let objects = Objects::open(&work.layout).unwrap();
    assert_eq!(objects.read(&taken.extra[0]).unwrap(), b"config");
    assert_eq!(objects.read(&taken.extra[1]).unwrap(), b"cases");
}

// PROMISES W6, F86.
#[test]
fn links_modes_empty_directories_and_odd_names_are_kept_as_they_are() {
    let work = Work::with(&[("run.sh", "#!/bin/sh\n")]);
    std::fs::set_permissions(work.path("run.sh"), std::fs::Permissions::from_mode(0o751)).unwrap();
    std::fs::create_dir_all(work.path("empty/inner")).unwrap();
    symlink("/etc/passwd", work.path("outward")).unwrap();
    symlink("dangling", work.path("empty/loop")).unwrap();
    let odd = OsStr::from_bytes(b"\xff\xfe\n name");
    std::fs::write(work.dir.path().join(odd), "x").unwrap();
    let taken = work.take();
    assert_eq!(
        work.held_in(&taken.root),
        ["\\xff\\xfe\\x0a name", "empty/", "empty/inner/", "empty/loop", "outward", "run.sh"]
    );
    assert_eq!(work.content(&taken.root, "outward"), b"/etc/passwd");
    let objects = Objects::open(&work.layout).unwrap();
    let tree = objects.tree(&taken.root).unwrap();
    assert_eq!(tree.get(b"run.sh").unwrap().mode, 0o751);
    assert_eq!(tree.get(b"outward").unwrap().kind, EntryKind::Link);
}

// PROMISES F90, F91.
#[test]
fn hard_links_are_counted_and_large_files_are_named() {
    let work = Work::with(&[("a", "x"), ("large", "")]);
    std::fs::hard_link(work.path("a"), work.path("b")).unwrap();
    std::fs::File::options().write(true).open(work.path("large")).unwrap().set_len((1 << 20) + 1).unwrap();
    let taken = work.take();
    assert_eq!(taken.hard_links, 2);
    assert_eq!(work.held_in(&taken.root), ["a", "b", "large"]);
    assert_eq!(taken.unheld.len(), 1);
    assert!(taken.unheld[0].1.contains("limits.file_bytes"), "{:?}", taken.unheld);
    assert_eq!((taken.files, taken.census.file_count), (2, 3));
    let objects = Objects::open(&work.layout).unwrap();
    let entry = objects.tree(&taken.root).unwrap().get(b"large").unwrap().clone();
    assert_eq!((entry.kind, entry.size, entry.object), (EntryKind::Unheld, (1 << 20) + 1, ObjectId([0; 32])));
    assert_eq!(super::super::census::of_tree(&objects, &taken.root, &[]).unwrap(), taken.census);
}

// PROMISES F88. Root may read everything, so the test runs itself once more as nobody.
#[test]
fn an_unreadable_file_or_folder_is_named_and_not_held() {
    const AGAIN: &str = "HIGHWATER_TEST_AS_NOBODY";
    if rustix::process::geteuid().is_root() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
        // Nobody may not be able to reach the build folder.
        let program = dir.path().join("test");
        std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
        let name = "snapshot::capture::tests::an_unreadable_file_or_folder_is_named_and_not_held";
        use std::os::unix::process::CommandExt;
        let output = Command::new(&program)
            .args(["--exact", name])
            .uid(65_534)
            .gid(65_534)
            .current_dir(dir.path())
            .env(AGAIN, "1")
            .env("TMPDIR", dir.path())
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success() && told.contains("1 passed"), "{told}");
        return;
    }
    let work = Work::with(&[("a", "x"), ("secret", "12345"), ("closed/b", "x"), ("listed/c", "x")]);
    let set = |name: &str, mode: u32| {
        std::fs::set_permissions(work.path(name), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    set("secret", 0o000);
    set("closed", 0o000);
    set("listed", 0o600);
    let taken = work.take();
    set("closed", 0o700);
    set("listed", 0o700);
    let told: Vec<String> = taken.unheld.iter().map(|(path, why)| format!("{path}: {why}")).collect();
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(told.iter().all(|line| line.contains("denied")), "{told:?}");
    assert_eq!(work.held_in(&taken.root), ["a", "closed", "listed/", "listed/c", "secret"]);
    let objects = Objects::open(&work.layout).unwrap();
    let entry = objects.tree(&taken.root).unwrap().get(b"secret").unwrap().clone();
    assert_eq!((entry.kind, entry.size, entry.mode), (EntryKind::Unheld, 5, 0));
    // Were the work tree itself taken so, the snapshot would be empty.
    set(".", 0o300);
    let error = capture(&work.layout, &work.capture, &work.limits, &[], &[], &|_, _| {}).unwrap_err();
    set(".", 0o700);
    assert_eq!(error.message, "cannot list the work tree");
}

// PROMISES H3: a disk that fails is no reason to leave a file out.
#[test]
fn only_a_refusal_of_that_one_file_leaves_it_out() {
    use rustix::io::Errno;
    let refuses = |errno: Errno| super::super::walk::is_refusal(&errno.into());
    assert!([Errno::ACCESS, Errno::PERM, Errno::NAMETOOLONG, Errno::STALE].into_iter().all(refuses));
    assert!(![Errno::IO, Errno::NOSPC, Errno::MFILE, Errno::NOMEM, Errno::INTR].into_iter().any(refuses));
}

// PROMISES F89.
#[test]
fn a_file_that_is_written_all_the_time_is_held_whole_or_not_at_all() {
    let work = Work::with(&[("a", "x")]);
    let path = work.path("busy");
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::fs::write(&path, vec![b'0'; 300_000]).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut file = std::fs::File::options().append(true).open(&path).unwrap();
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                (0..10_000).for_each(|_| file.write_all(b"more").unwrap());
                file.set_len(300_000).unwrap();
            }
        });
        for _ in 0..12 {
            let taken = work.take();
            let objects = Objects::open(&work.layout).unwrap();
            let entry = objects.tree(&taken.root).unwrap().get(b"busy").unwrap().clone();
            if entry.kind == EntryKind::File {
                assert_eq!(objects.read(&entry.object).unwrap().len() as u64, entry.size);
            } else {
                assert!(taken.unheld[0].1.contains("changed"), "{:?}", taken.unheld);
            }
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}

#[test]
fn a_large_file_goes_through_in_pieces() {
    let mut work = Work::new();
    work.limits.file_bytes = 1 << 30;
    let content: Vec<u8> = (0..3_000_000_u32).flat_map(|number| (number / 3).to_le_bytes()).collect();
    work.write("large.bin", &content);
    let text = "one line of text\n".repeat(400_000);
    work.write("large.txt", &text);
    let taken = work.take();
    assert_eq!(work.content(&taken.root, "large.bin"), content);
    assert_eq!(taken.census, Census { file_count: 2, loc_total: 400_000 });
    let seen = survey(&work.layout, &work.capture, &work.limits, Stored::Trusted).unwrap();
    assert_eq!(seen.tree(&seen.root()).unwrap().entries()[0].object, id_of(&content));
}

// PROMISES F98, scaled down: a deep folder, and many files in one.
#[test]
fn depth_and_width_are_no_trouble() {
    let work = Work::new();
    let mut deep = work.path("d");
    for _ in 0..200 {
        deep.push("d");
    }
    std::fs::create_dir_all(&deep).unwrap();
    std::fs::write(deep.join("leaf"), "x").unwrap();
    for number in 0..3000 {
        work.write(&format!("wide/{number}"), number.to_string());
    }
    let taken = work.take();
    assert_eq!(taken.files, 3001);
    assert_eq!(work.packs(), 1);
}

#[test]
fn progress_is_told_up_to_the_end() {
    let work = Work::with(&[("a", "1"), ("d/b", "2")]);
    let told = std::cell::RefCell::new(Vec::new());
    let tell = |done, total| told.borrow_mut().push((done, total));
    capture(&work.layout, &work.capture, &work.limits, &[], &[], &tell).unwrap();
    let told = told.into_inner();
    assert_eq!(told.first(), Some(&(0, 0)));
    assert!(matches!(told.last(), Some((done, total)) if done == total && *total > 0), "{told:?}");
}

#[test]
fn the_store_itself_is_private_and_never_captured() {
    let work = Work::with(&[("a", "1")]);
    let first = work.take();
    assert_eq!(work.held_in(&first.root), ["a"]);
    for folder in [work.layout.store(), work.layout.objects(), work.layout.cache()] {
        assert_eq!(std::fs::metadata(folder).unwrap().mode() & 0o777, 0o700);
    }
    assert_eq!(std::fs::metadata(work.layout.stat_cache()).unwrap().mode() & 0o777, 0o600);
}

// PROMISES S64: what a damaged pack held is stored again by the next snapshot.
#[test]
fn a_snapshot_does_not_rely_on_a_pack_that_was_cut() {
    let work = Work::with(&[("a", "one"), ("b", "two")]);
    let first = work.take();
    let pack = only_pack(&work);
    std::fs::set_permissions(&pack, std::fs::Permissions::from_mode(0o600)).unwrap();
    std::fs::File::options().write(true).open(&pack).unwrap().set_len(100).unwrap();
    let again = work.take();
    assert_eq!(again.root, first.root);
    assert_eq!(work.content(&again.root, "b"), b"two");
}

#[test]
fn a_pack_with_a_damaged_index_is_not_relied_on_once_there_is_something_to_store() {
    let work = Work::with(&[("a", "one"), ("b", "two")]);
    // Once the clock has moved on, the cache knows both.
    std::thread::sleep(std::time::Duration::from_millis(30));
    work.take();
    let pack = only_pack(&work);
    let mut bytes = std::fs::read(&pack).unwrap();
    let in_the_index = bytes.len() - 100;
    bytes[in_the_index] ^= 1;
    std::fs::set_permissions(&pack, std::fs::Permissions::from_mode(0o600)).unwrap();
    std::fs::write(&pack, bytes).unwrap();
    assert_eq!(work.take().new_bytes, 0, "nothing is to be stored");
    work.write("b", "three");
    let taken = work.take();
    std::fs::remove_file(&pack).unwrap();
    assert_eq!(["a", "b"].map(|name| work.content(&taken.root, name)), [b"one".to_vec(), b"three".to_vec()]);
}

/// Folders need no time to pass: their directories are known by what is in them.
#[test]
fn what_comes_into_a_folder_that_is_known_is_in_the_next_snapshot() {
    let work = Work::new();
    for folder in ["file/in", "link/in", "unheld/in"] {
        std::fs::create_dir_all(work.path(folder)).unwrap();
    }
    work.take();
    work.write("file/new", vec![0; 1 << 20]);
    symlink("nowhere", work.path("link/new")).unwrap();
    work.write("unheld/new", vec![0; (1 << 20) + 1]);
    let taken = work.take();
    assert_eq!(taken.unheld.len(), 1, "{:?}", taken.unheld);
    assert_eq!(
        work.held_in(&taken.root),
        ["file/", "file/in/", "file/new", "link/", "link/in/", "link/new", "unheld/", "unheld/in/", "unheld/new"]
    );
}

// PROMISES N6. The walk goes level by level, so it finds `z` first.
#[test]
fn what_is_told_of_a_snapshot_is_sorted() {
    let work = Work { capture: Capture { include: vec!["**/*.pem".to_owned()], exclude: Vec::new() }, ..Work::new() };
    for folder in ["z", "a/a"] {
        work.write(&format!("{folder}.pem"), "key");
        work.write(&format!("{folder}.large"), vec![0; (1 << 20) + 1]);
        let fifo = work.path(&format!("{folder}.fifo"));
        make_fifo(&fifo);
    }
    let taken = work.take();
    let names = |paths: Vec<&TreePath>| paths.into_iter().map(TreePath::to_string).collect::<Vec<_>>();
    assert_eq!(taken.hard_links, 0);
    assert_eq!(names(taken.included_secrets.iter().collect()), ["a/a.pem", "z.pem"]);
    assert_eq!(names(taken.unheld.iter().map(|(path, _)| path).collect()), ["a/a.large", "z.large"]);
    assert_eq!(taken.skipped.iter().map(|(path, _)| path.as_str()).collect::<Vec<_>>(), ["a/a.fifo", "z.fifo"]);
    let survey = survey(&work.layout, &work.capture, &work.limits, Stored::Trusted).unwrap();
    assert_eq!(names(survey.unheld().iter().map(|(path, _)| path).collect()), ["a/a.large", "z.large"]);
    assert_eq!(survey.take().unwrap().0.unheld, taken.unheld);
}

/// Directories and files alike: what an iteration changes little takes little, however long it was.
#[test]
fn what_changes_little_takes_little() {
    let text = |round: usize| -> String {
        let lines = (0..300_u32).map(|n| format!("{}\n", n.wrapping_mul(2_654_435_761)));
        format!("round {round}\n{}", lines.collect::<String>())
    };
    let names: Vec<String> = (0..60).map(|n| format!("folder/file {n}")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), name.as_str())).collect();
    let work = Work::with(&files);
    work.write("folder/large", text(0));
    let first = work.take();
    let mut roots = vec![first.root];
    for round in 1..4 {
        work.write("folder/large", text(round));
        let next = work.take();
        assert!(next.new_bytes * 4 < first.new_bytes, "{} of {}", next.new_bytes, first.new_bytes);
        roots.push(next.root);
    }
    for (round, root) in roots.iter().enumerate() {
        assert_eq!(work.content(root, "folder/large"), text(round).into_bytes());
        assert_eq!(work.content(root, "folder/file 7"), b"folder/file 7");
    }
    assert!(Objects::check(&work.layout).unwrap().faults.is_empty());
}
