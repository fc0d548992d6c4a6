//! Links swapped in while a restore runs, and in the store itself: no file and no mode outside the work tree changes
//! (PROMISES W5, W3). The names of stored trees, E78 to E85, are tried in `restore::hostile`.
//!
//! strace stops the program after the n-th call of one name; then a folder or file of the tree becomes a link to one
//! outside that has all the same names, and the program goes on. `HIGHWATER_SOAK=1` swaps every victim at every point.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::work::{Listing, Work, in_memory, listing, points};
use crate::support::{Project, can_trace};

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

/// A folder outside that has every name of the tree, with contents and modes of its own. It is on the tree's file system: no
/// name can be moved to another one, whoever tries.
fn outside() -> tempfile::TempDir {
    let folder = in_memory();
    for name in ["d/edited", "d/gone", "d/deep/edited", "closed/edited", "more/new", "more/deep/new", "run"] {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, "not ours").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o606)).unwrap();
    }
    for name in ["d", "d/deep", "closed", "more", "more/deep"] {
        std::fs::set_permissions(folder.path().join(name), std::fs::Permissions::from_mode(0o707)).unwrap();
    }
    folder
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

#[test]
fn nothing_outside_changes_whatever_is_swapped_in_and_whenever() {
    if !can_trace() {
        return;
    }
    let project = prepared();
    let outside = outside();
    let kept: Listing = listing(outside.path());
    let calls = points(project.root(), &RESTORE, |name, _| PAUSED.contains(&name));
    let is_soak = std::env::var_os("HIGHWATER_SOAK").is_some();
    // The first calls are the loader's and those that look for the store.
    let victims = |nth: usize| if is_soak { VICTIMS.to_vec() } else { vec![VICTIMS[nth % VICTIMS.len()]] };
    let step = if is_soak { 1 } else { 2 };
    // Every victim when the steps are known and none was done yet; then one at a time.
    let begins =
        points(project.root(), &RESTORE, |name, call| name.starts_with("rename") && call.contains("/journal\""));
    assert_eq!(begins.len(), 1, "{begins:?}");
    let at_once = begins.iter().flat_map(|point| VICTIMS.into_iter().map(move |victim| (point, victim)));
    let cases: Vec<_> = calls
        .iter()
        .enumerate()
        .step_by(step)
        .flat_map(|(nth, point)| victims(nth).into_iter().map(move |victim| (point, victim)))
        .chain(at_once)
        .collect();
    let (stopped, swapped) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for half in 0..2 {
            let (cases, project, outside, kept) = (&cases, &project, outside.path(), &kept);
            let (stopped, swapped) = (&stopped, &swapped);
            scope.spawn(move || {
                for ((name, nth), victim) in cases.iter().skip(half).step_by(2) {
                    let at = format!("{victim} swapped after {name} {nth}");
                    let work = Work::of(project.root());
                    let was_stopped = paused(&work, (name, nth), || {
                        swapped.fetch_add(usize::from(swap_in(&work, victim, outside)), Ordering::Relaxed);
                    });
                    stopped.fetch_add(usize::from(was_stopped), Ordering::Relaxed);
                    assert_eq!(&listing(outside), kept, "{at}");
                    // Going on, with the link still there and without it.
                    work.run(&["restore", "--resume"]);
                    assert_eq!(&listing(outside), kept, "{at}, resumed");
                    swap_out(&work, victim);
                    work.run(&["restore", "--abort"]);
                    assert_eq!(&listing(outside), kept, "{at}, aborted");
                }
            });
        }
    });
    let (stopped, swapped) = (stopped.into_inner(), swapped.into_inner());
    eprintln!("{} swaps: stopped {stopped} times, swapped {swapped} times", cases.len());
    assert!(stopped * 20 >= cases.len() * 19 && swapped * 2 >= cases.len(), "nothing was proved");
    assert!(swapped >= 40, "{swapped} swaps are too few: nothing was proved");
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
