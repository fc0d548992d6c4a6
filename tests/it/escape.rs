//! Links swapped in while a restore runs, and in the store itself: no file and no mode outside the work tree changes
//! (PROMISES W5, W3). The names of stored trees, E78 to E85, are tried in `restore::hostile`.
//!
//! strace stops the program after the n-th call of one name; then a folder or file of the tree becomes a link to one
//! outside that has all the same names, and the program goes on. `HIGHWATER_SOAK=1` swaps every victim at every point, and
//! does it on NTFS as well.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::folding::mounted;
use crate::support::work::{Listing, Work, in_memory, listing, points_of};
use crate::support::{Project, can_trace, is_soak};

/// Calls after which it is stopped: all that change the tree, and those that a change is prepared by.
const PAUSED: [&str; 14] = [
    "openat2",
    "newfstatat",
    "readlinkat",
    "renameat2",
    "renameat",
    "linkat",
    "symlinkat",
    "mkdirat",
    "mkdir",
    "unlinkat",
    "fchmod",
    "fsync",
    "rename",
    "getdents64",
];

/// What becomes a link: folders whose files are written, replaced, removed, made and closed; a file whose mode changes.
const VICTIMS: [&str; 5] = ["d", "d/deep", "more", "run", "closed"];

/// What is stopped.
const RESTORE: [&str; 3] = ["-q", "restore", "0"];

/// A loop of one iteration, and work that differs from it in every way.
fn prepared() -> Project {
    let project = Project::new();
    for name in ["d/edited", "d/gone", "d/deep/edited", "closed/edited", "run"] {
        project.write(name, "at first");
    }
    let mode = |name: &str, mode| {
        std::fs::set_permissions(project.path(name), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    mode("run", 0o755);
    mode("closed", 0o711);
    mode("d/deep", 0o700);
    project.tests(&[("a", true)]);
    project.run(&["begin", "--loop", "loop"]).expect(0);
    for name in ["d/edited", "d/deep/edited", "closed/edited", "more/new", "more/deep/new"] {
        project.write(name, "now");
    }
    std::fs::remove_file(project.path("d/gone")).unwrap();
    mode("run", 0o644);
    mode("closed", 0o755);
    mode("d/deep", 0o755);
    project
}

/// Puts every name of the tree into a folder outside, with contents and modes of its own. It is on the tree's file system:
/// no name can be moved to another one, whoever tries.
fn fill(outside: &Path) {
    // Some file systems have no modes.
    let mode = |path: &Path, mode| {
        let _ = std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode));
    };
    for name in ["d/edited", "d/gone", "d/deep/edited", "closed/edited", "more/new", "more/deep/new", "run"] {
        let path = outside.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, "not ours").unwrap();
        mode(&path, 0o606);
    }
    for name in ["d", "d/deep", "closed", "more", "more/deep"] {
        mode(&outside.join(name), 0o707);
    }
}

/// Runs a restore that is stopped after a call; `meanwhile` happens then. Answers whether it was stopped.
fn paused(work: &Work, (name, nth): (&str, &usize), meanwhile: impl FnOnce()) -> bool {
    let inject = format!("inject={name}:signal=STOP:when={nth}");
    let mut command = work.command(Command::new("strace"), &[]);
    // strace tells what it sees on its stderr, a line at a time.
    command.args(["-f", "-q", "-e", &format!("trace={name}"), "-e", &inject]);
    command.arg(assert_cmd::cargo::cargo_bin!("highwater")).args(RESTORE);
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::piped());
    let mut strace = command.spawn().unwrap();
    let mut meanwhile = Some(meanwhile);
    for line in BufReader::new(strace.stderr.take().unwrap()).split(b'\n') {
        let line = String::from_utf8_lossy(&line.unwrap()).into_owned();
        if line.contains("--- stopped by SIGSTOP ---") {
            if let Some(meanwhile) = meanwhile.take() {
                meanwhile();
            }
            let children = format!("/proc/{0}/task/{0}/children", strace.id());
            // Every thread of it is stopped, and says so: by then it may have gone on already, and be gone.
            let pid = std::fs::read_to_string(children).unwrap_or_default().trim().parse().ok();
            if let Some(pid) = pid.and_then(rustix::process::Pid::from_raw) {
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::CONT);
            }
        }
    }
    strace.wait().unwrap();
    meanwhile.is_none()
}

/// Makes the victim a link to what has its name outside; what it was stays beside it.
fn swap_in(work: &Work, victim: &str, outside: &Path) -> bool {
    let path = work.path(victim);
    // It may be gone by then, or be a link already through a folder above it.
    if std::fs::rename(&path, work.path("moved")).is_err() {
        return false;
    }
    symlink(outside.join(victim), path).unwrap();
    true
}

/// Takes the link out again, whatever stands there.
fn swap_out(work: &Work, victim: &str) {
    let path = work.path(victim);
    if path.is_symlink() {
        std::fs::remove_file(&path).unwrap();
    }
    if !path.exists() {
        let _ = std::fs::rename(work.path("moved"), path);
    }
}

/// After which call what is swapped.
type Case = ((String, usize), &'static str);

/// All victims in turn at the calls of a restore here, and each of them at the moment from which it goes forward: when the
/// steps are known and none was done yet. `every` tries each victim at each call.
fn cases(work: impl Fn() -> Work, every: bool) -> Vec<Case> {
    let calls = points_of(&work(), &RESTORE, |name, _| PAUSED.contains(&name));
    let begins = points_of(&work(), &RESTORE, |name, call| name.starts_with("rename") && call.contains("/journal\""));
    assert_eq!(begins.len(), 1, "{begins:?}");
    let victims = |nth: usize| if every { VICTIMS.to_vec() } else { vec![VICTIMS[nth % VICTIMS.len()]] };
    let at_calls = calls.into_iter().enumerate().map(|(nth, point)| (point, victims(nth)));
    let at_once = begins.into_iter().map(|point| (point, VICTIMS.to_vec()));
    let each = |(point, victims): ((String, usize), Vec<&'static str>)| {
        victims.into_iter().map(move |victim| (point.clone(), victim))
    };
    at_calls.chain(at_once).flat_map(each).collect()
}

/// How often a restore was stopped, and how often something was swapped then.
#[derive(Clone, Copy, Default)]
struct Fired {
    stopped: usize,
    swapped: usize,
}

/// Tries the cases, each in a work tree of its own. Nothing in `outside` may change.
fn swap_each<'a>(cases: impl Iterator<Item = &'a Case>, work: impl Fn() -> Work, outside: &Path) -> Fired {
    let (kept, mut fired): (Listing, Fired) = (listing(outside), Fired::default());
    for ((name, nth), victim) in cases {
        let at = format!("{victim} swapped after {name} {nth}");
        let work = work();
        let mut swapped = false;
        let stopped = paused(&work, (name, nth), || swapped = swap_in(&work, victim, outside));
        fired.stopped += usize::from(stopped);
        fired.swapped += usize::from(swapped);
        assert_eq!(listing(outside), kept, "{at}");
        // Going on, with the link still there and without it.
        work.run(&["restore", "--resume"]);
        assert_eq!(listing(outside), kept, "{at}, resumed");
        swap_out(&work, victim);
        work.run(&["restore", "--abort"]);
        assert_eq!(listing(outside), kept, "{at}, aborted");
        // A file system in a file has little room.
        let _ = std::fs::remove_dir_all(work.root());
    }
    fired
}

impl Fired {
    #[track_caller]
    fn assert_enough(self, what: &str, cases: usize) {
        let Fired { stopped, swapped } = self;
        eprintln!("{what}, {cases} swaps: stopped {stopped} times, swapped {swapped} times");
        assert!(stopped * 20 >= cases * 19 && swapped * 2 >= cases, "nothing was proved");
        assert!(swapped >= 40, "{swapped} swaps are too few: nothing was proved");
    }
}

#[test]
fn nothing_outside_changes_whatever_is_swapped_in_and_whenever() {
    if !can_trace() {
        return;
    }
    let project = prepared();
    let folder = in_memory();
    let outside = folder.path();
    fill(outside);
    let work = || Work::of(project.root());
    let cases: Vec<Case> = cases(work, is_soak()).into_iter().step_by(if is_soak() { 1 } else { 2 }).collect();
    let fired = std::thread::scope(|scope| {
        let half = |half: usize| cases.iter().skip(half).step_by(2);
        let other = scope.spawn(move || swap_each(half(1), work, outside));
        let (one, other) = (swap_each(half(0), work, outside), other.join().unwrap());
        Fired { stopped: one.stopped + other.stopped, swapped: one.swapped + other.swapped }
    });
    fired.assert_enough("in memory", cases.len());
}

// There, names do not swap, and a file is looked at before another one gets its name.
#[test]
fn nothing_outside_changes_on_ntfs_either() {
    if !is_soak() || !can_trace() {
        return;
    }
    let project = prepared();
    // exFAT has no links.
    for (name, folding) in mounted().filter(|(name, _)| *name == "NTFS") {
        let work = || folding.work(project.root());
        let outside = work().root().join("outside");
        fill(&outside);
        let cases = cases(work, false);
        swap_each(cases.iter(), work, &outside).assert_enough(name, cases.len());
    }
}

/// Folders of the store, as one could make them links.
const FOLDERS: [&str; 8] = [
    "objects",
    "restores",
    "cache",
    "loop",
    "loop/progress",
    "loop/iterations",
    "loop/iterations/iteration-001",
    "loop/reports",
];

#[test]
fn a_folder_of_the_store_that_is_a_link_is_not_written_through() {
    let project = prepared();
    project.run(&["restore", "0"]).expect(0);
    project.write("d/edited", "later");
    project.tests(&[("a", true), ("b", true)]);
    project.run(&["record"]).expect(0);
    project.write("d/edited", "later still");
    project.tests(&[("a", true), ("b", true), ("c", true)]);
    let commands: [&[&str]; 9] = [
        &["record"],
        &["restore", "0"],
        &["undo"],
        &["accept", "--reason", "meant", "test_count_decreased"],
        &["verify", "--repair"],
        &["begin", "--loop", "other"],
        &["monitor"],
        &["finish"],
        &["prune"],
    ];
    for folder in FOLDERS {
        for command in commands {
            let work = Work::of(project.root());
            let elsewhere = in_memory();
            let (inside, moved): (PathBuf, PathBuf) =
                (work.layout.store().join(folder), elsewhere.path().join("moved"));
            assert!(Command::new("cp").arg("-a").arg(&inside).arg(&moved).status().unwrap().success());
            std::fs::remove_dir_all(&inside).unwrap();
            symlink(&moved, &inside).unwrap();
            let before = files(elsewhere.path());
            let answer = work.run(command);
            assert!(matches!(answer.code, 0 | 1 | 10..=13 | 64 | 65), "{folder}, {command:?}: {answer:?}");
            assert_eq!(files(elsewhere.path()), before, "{folder} is a link, {command:?}: {answer:?}");
        }
    }
}

/// Names and contents of all files below a folder.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().map(Result::unwrap);
    entries
        .filter(|entry| entry.file_type().is_file() && entry.file_name() != "lock")
        .map(|entry| (entry.path().to_owned(), std::fs::read(entry.path()).unwrap()))
        .collect()
}
