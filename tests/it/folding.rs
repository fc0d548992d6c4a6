//! File systems that take two names for one: exFAT, which has neither links nor modes nor names that swap, and NTFS that
//! ignores case, both through FUSE (PROMISES W2, W7). They need root and the programs that mount them: without these the
//! tests say "skipped" and pass, unless `FAULTS` is `required` or `all`.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use highwater::snapshot::restore;

use crate::disks::skipped;
use crate::faults::{assert_kept, assert_one_tree, first_two};
use crate::support::work::{Listing, Work, in_memory, points_of};
use crate::support::{Project, can_trace, is_soak};

/// A file system in a file, mounted by a program of its own until this is dropped.
pub struct Folding {
    at: PathBuf,
    folders: Cell<u32>,
    _folder: tempfile::TempDir,
}

impl Folding {
    /// Makes and mounts it, or says why not. `{image}` and `{at}` stand for the file and the place.
    fn new(make: &str, mount: &str) -> Result<Folding, String> {
        let folder = in_memory();
        let (image, at) = (folder.path().join("image"), folder.path().join("at"));
        std::fs::create_dir(&at).unwrap();
        std::fs::File::create(&image).unwrap().set_len(32 << 20).unwrap();
        for line in [make, mount] {
            let line = line.replace("{image}", image.to_str().unwrap()).replace("{at}", at.to_str().unwrap());
            let ran = Command::new("sh").args(["-ec", &line]).output().unwrap();
            if !ran.status.success() {
                return Err(String::from_utf8_lossy(&ran.stderr).trim().to_owned());
            }
        }
        Ok(Folding { at, folders: Cell::new(0), _folder: folder })
    }

    /// A copy of a work tree with its store, in a folder of its own on it.
    pub fn work(&self, base: &Path) -> Work {
        // lowntfs-3g may not find what is in a folder to which it gave the number of one that was removed just before.
        let copied = (0..5).find_map(|_| self.copied(base));
        copied.unwrap_or_else(|| panic!("nothing can be copied to {}", self.at.display()))
    }

    fn copied(&self, base: &Path) -> Option<Work> {
        self.folders.set(self.folders.get() + 1);
        let root = self.at.join(self.folders.get().to_string());
        std::fs::create_dir(&root).unwrap();
        // Neither modes nor owners can be kept.
        let copied = Command::new("cp").arg("-r").arg(base.join(".")).arg(&root).status().unwrap();
        copied.success().then(|| Work::at(&root))
    }
}

impl Drop for Folding {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.at).status();
    }
}

const FILE_SYSTEMS: [(&str, &str, &str); 2] = [
    // The loop device goes with the mount.
    (
        "exFAT",
        "mkfs.exfat {image}",
        "device=$(losetup --find --show {image}); mount.exfat-fuse $device {at} || failed=1; losetup --detach $device; \
         exit ${failed:-0}",
    ),
    ("NTFS", "mkntfs --quiet --fast --force {image}", "lowntfs-3g -o ignore_case {image} {at}"),
];

/// Those that can be had.
pub fn mounted() -> impl Iterator<Item = (&'static str, Folding)> {
    FILE_SYSTEMS.into_iter().filter_map(|(name, make, mount)| match Folding::new(make, mount) {
        Ok(folding) => Some((name, folding)),
        Err(why) => {
            skipped(&format!("no {name} can be mounted ({why})"));
            None
        }
    })
}

/// What does not depend on the file system.
fn contents(files: &Listing) -> Vec<(&PathBuf, &Vec<u8>)> {
    files.iter().map(|(name, (_, content))| (name, content)).collect()
}

/// Iteration 0 can be had everywhere. Those after it have names that are one to somebody, or that not everybody takes.
fn prepared() -> Project {
    let project = Project::new();
    project.write("docs/readme", "in iteration 0");
    project.write("gone/x", "in iteration 0");
    project.tests(&[("a", true)]);
    project.run(&["begin", "--loop", "loop"]).expect(0);
    std::fs::remove_dir_all(project.path("gone")).unwrap();
    for (name, also) in
        [("docs/README", None), ("docs/stra\u{df}e", Some("docs/STRA\u{df}E")), ("c:x", None), ("a\\b", None)]
    {
        project.write(name, "in one iteration");
        also.inspect(|also| project.write(also, "in one iteration"));
        project.run(&["record", "--skip", "test"]).expect(0);
        std::fs::remove_file(project.path(name)).unwrap();
        also.inspect(|also| std::fs::remove_file(project.path(also)).unwrap());
    }
    project.write("docs/readme", "now");
    project.write("new/x", "now");
    project.tests(&[("a", true), ("b", true)]);
    project
}

#[test]
fn names_that_are_one_are_refused_and_all_others_come_back() {
    let project = prepared();
    let base = Work::of(project.root());
    for (name, folding) in mounted() {
        let work = folding.work(project.root());
        let before = work.listing();
        let mut refused = 0;
        for number in 0..5 {
            let at = format!("{name}, iteration {number}");
            let told = work.run(&["restore", &number.to_string(), "--dry-run"]);
            assert_eq!(
                told.code == 65 && told.stderr.contains("are one name"),
                matches!(number, 1 | 2),
                "{at}: {told:?}"
            );
            let answer = work.run(&["restore", &number.to_string(), "--json"]);
            if answer.code == 0 {
                assert_eq!(contents(&work.listing()), contents(&base.iteration(number)), "{at}");
                work.run(&["undo"]).expect(0);
            } else {
                refused += 1;
                assert_eq!(answer.code, 65, "{at}: {answer:?}");
                assert!(answer.stderr.contains("nothing was changed"), "{at}: {answer:?}");
                assert!(restore::pending(&work.layout, Duration::ZERO).unwrap().is_none(), "{at}");
            }
            assert_eq!(work.listing(), before, "{at}");
            assert_eq!(
                answer.code == 65 && answer.stderr.contains("are one name"),
                matches!(number, 1 | 2),
                "{at}: {answer:?}"
            );
        }
        assert!(refused < 5, "{name}");
        // A name that changed in nothing but case comes back as it was.
        std::fs::rename(work.path("docs/readme"), work.path("docs/README")).unwrap();
        work.run(&["restore", "0"]).expect(0);
        assert_eq!(contents(&work.listing()), contents(&base.iteration(0)), "{name}");
        work.run(&["undo"]).expect(0);
        work.run(&["record"]).expect(0);
        work.run(&["verify", "--recompute"]).expect(0);
        eprintln!("{name}: {refused} of 5 trees refused");
    }
}

// Without swaps and links, what is replaced goes to the trash first, and what comes is renamed after a look.
#[test]
fn a_restore_that_is_killed_there_loses_nothing() {
    if !is_soak() || !can_trace() {
        return;
    }
    let project = prepared();
    for (name, folding) in mounted() {
        let base = folding.work(project.root());
        let (before, first) = (base.listing(), first_two(base.root()));
        let clean = folding.work(base.root());
        clean.run(&["restore", "0"]).expect(0);
        let after = clean.listing();
        let command = ["restore", "0", "--json"];
        let changes = |name: &str, _: &str| {
            ["rename", "renameat", "renameat2", "unlink", "unlinkat", "mkdirat", "rmdir", "fsync"].contains(&name)
        };
        let points = points_of(&folding.work(base.root()), &command, changes);
        let mut killed = 0;
        for (call, count) in &points {
            let work = folding.work(base.root());
            let inject = format!("inject={call}:signal=KILL:when={count}");
            let output = work.traced(&["-o", "/dev/null", "-e", &format!("trace={call}"), "-e", &inject], &command);
            killed += usize::from(!output.status.success());
            let at = format!("{name}, killed before {call} {count}");
            assert_kept(&work, &first, &at);
            assert_one_tree(&work, &before, &after, output.status.success(), &at);
            assert_kept(&work, &first, &at);
            // Drivers that are programs may leave out names while others go.
            let is_gone = |_| std::fs::remove_dir_all(work.root()).is_ok() || !work.root().exists();
            assert!((0..10).any(is_gone), "{at}: the copy cannot be removed");
        }
        eprintln!("{name}: {killed} of {} kills", points.len());
        assert!(killed >= 20 && killed * 20 >= points.len() * 19, "{killed} kills: nothing was proved");
    }
}
