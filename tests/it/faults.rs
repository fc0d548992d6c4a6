//! The program killed before every call that changes the disk, and with calls that fail: nothing that was acknowledged is
//! lost, no tree is mixed unnoticed, and the next command works (PROMISES W1, W2, H1, H3).
//!
//! What is on disk changes only in such calls, so these are all the states that a kill can leave. `FAULTS=all` kills
//! before every call of any kind and fails every one that is about files, in three ways. Without strace the tests say so
//! and pass, unless `FAULTS` is `required` or `all`.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use highwater::model::ids::Iteration;
use highwater::snapshot::pack::PackWriter;
use highwater::snapshot::restore;
use serde_json::Value;

use crate::support::work::{Listing, Work, listing, points};
use crate::support::{Answer, Project, answer, can_trace, stride};

mod others;

/// Calls that change the disk, lock it or make a change survive.
const CHANGING: [&str; 26] = [
    "write",
    "pwrite64",
    "writev",
    "copy_file_range",
    "sendfile",
    "fallocate",
    "ftruncate",
    "rename",
    "renameat",
    "renameat2",
    "link",
    "linkat",
    "unlink",
    "unlinkat",
    "rmdir",
    "mkdir",
    "mkdirat",
    "symlink",
    "symlinkat",
    "chmod",
    "fchmod",
    "fchmodat",
    "fchmodat2",
    "utimensat",
    "fsync",
    "flock",
];

/// Calls that read it.
const READING: [&str; 13] = [
    "open",
    "openat",
    "openat2",
    "read",
    "pread64",
    "newfstatat",
    "fstat",
    "statx",
    "lstat",
    "getdents64",
    "readlink",
    "readlinkat",
    "lseek",
];

/// Calls by which memory, threads and the process itself are had: where they fail nothing can be answered, and the
/// standard library ends the program.
const MACHINERY: [&str; 24] = [
    "mmap",
    "munmap",
    "mprotect",
    "madvise",
    "brk",
    "arch_prctl",
    "set_tid_address",
    "set_robust_list",
    "rseq",
    "prlimit64",
    "rt_sigaction",
    "rt_sigprocmask",
    "sigaltstack",
    "poll",
    "getrandom",
    "futex",
    "clone3",
    "sched_getaffinity",
    "sched_yield",
    "gettid",
    "geteuid",
    "getcwd",
    "clock_nanosleep",
    "close",
];

/// Every how manyth call that changes something is tried, and how many of those that read.
struct Quick {
    kills: usize,
    failures: usize,
    reading: usize,
}

impl Quick {
    fn of(arguments: &[&str]) -> Quick {
        match arguments {
            ["record" | "undo", ..] | ["restore", _, "--json"] => Quick { kills: 1, failures: 3, reading: 100 },
            // They share the machinery of those.
            _ => Quick { kills: 7, failures: 8, reading: 20 },
        }
    }
}

/// A thread that had less to do this time does not reach its last calls: then it is tried again.
const TRIES: usize = 3;

/// How calls fail, once or from there on (`+`), one way after the other: the first four always, all of them with `FAULTS=all`.
const FAILURES: [(&str, &str); 13] = [
    ("EIO", ""),
    ("ENOSPC", "+"),
    ("ENOSPC", ""),
    ("EIO", "+"),
    ("EDQUOT", ""),
    ("EROFS", "+"),
    ("EACCES", ""),
    ("EMFILE", "+"),
    // Once alone: that nothing ever gets through, the standard library does not believe.
    ("EINTR", ""),
    ("EDQUOT", "+"),
    ("EROFS", ""),
    ("EACCES", "+"),
    ("EMFILE", ""),
];

fn wants(what: &str) -> bool {
    std::env::var("FAULTS").is_ok_and(|faults| faults == what)
}

pub fn changes_the_disk(name: &str, call: &str) -> bool {
    wants("all") || CHANGING.contains(&name) || (matches!(name, "open" | "openat") && call.contains("O_CREAT"))
}

/// Points at which something did not hold. Each tells so itself; the others are looked at all the same.
#[derive(Default)]
struct Failed(AtomicUsize);

impl Failed {
    fn look(&self, check: impl FnOnce()) {
        if catch_unwind(AssertUnwindSafe(check)).is_err() {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[track_caller]
    fn none(self) {
        assert_eq!(self.0.into_inner(), 0, "points at which something did not hold");
    }
}

/// Kills the command before each of its points, and has what is left looked at.
fn kill_everywhere(base: &Path, arguments: &[&str], at_least: usize, check: impl Fn(&Work, &Output, &str) + Sync) {
    if !can_trace() {
        return;
    }
    let all = points(base, arguments, changes_the_disk);
    assert!(all.len() >= at_least, "{} points are too few: nothing was proved", all.len());
    let points: Vec<_> = all.into_iter().step_by(stride(Quick::of(arguments).kills)).collect();
    let (killed, failed) = (AtomicUsize::new(0), Failed::default());
    std::thread::scope(|scope| {
        for half in 0..2 {
            let (points, killed, failed, check) = (&points, &killed, &failed, &check);
            scope.spawn(move || {
                for (name, count) in points.iter().skip(half).step_by(2) {
                    let inject = format!("inject={name}:signal=KILL:when={count}");
                    let options = ["-o", "/dev/null", "-e", &format!("trace={name}"), "-e", &inject];
                    let at = format!("{arguments:?} killed before {name} {count}");
                    for _ in 0..TRIES {
                        let work = Work::of(base);
                        let output = work.traced(&options, arguments);
                        let was_killed = output.status.signal() == Some(9) || output.status.code() == Some(128 + 9);
                        failed.look(|| check(&work, &output, &at));
                        if was_killed {
                            killed.fetch_add(1, Ordering::Relaxed);
                            break;
                        }
                    }
                }
            });
        }
    });
    let killed = killed.into_inner();
    failed.none();
    eprintln!("{arguments:?}: {killed} of {} kills", points.len());
    assert!(killed * 20 >= points.len() * 19, "only {killed} of {} kills fired", points.len());
}

/// Has each of the command's calls fail, once or from there on, and has what is left looked at.
fn fail_everywhere(base: &Path, arguments: &[&str], at_least: usize, check: impl Fn(&Work, &Answer, &str) + Sync) {
    if !can_trace() {
        return;
    }
    let all = points(base, arguments, |name, _| {
        wants("all") && !MACHINERY.contains(&name) || CHANGING.contains(&name) || READING.contains(&name)
    });
    let (changing, reading): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|(name, _)| !READING.contains(&name.as_str()));
    // Calls that read are many and alike; the loader's come first.
    let reading: Vec<_> = reading.into_iter().filter(|(_, count)| wants("all") || *count > 6).collect();
    let found = changing.len() + reading.len();
    assert!(found >= at_least, "{arguments:?}: {found} points are too few: nothing was proved");
    let quick = Quick::of(arguments);
    let step = stride(reading.len().div_ceil(quick.reading).max(1));
    let points = changing.into_iter().step_by(stride(quick.failures)).chain(reading.into_iter().step_by(step));
    // Each once in the usual ways, and once in one of the others.
    let ways = if wants("all") { 3 } else { 1 };
    let faults: Vec<_> = points
        .enumerate()
        .flat_map(|(nth, point)| {
            let failures = [nth / 2 % 4, (nth / 2 + 2) % 4, 4 + nth % 9];
            failures.into_iter().take(ways).map(move |way| (point.clone(), FAILURES[way]))
        })
        .collect();
    let (fired, failed) = (AtomicUsize::new(0), Failed::default());
    std::thread::scope(|scope| {
        for half in 0..2 {
            let (faults, fired, failed, check) = (&faults, &fired, &failed, &check);
            scope.spawn(move || {
                for ((name, count), (error, lasting)) in faults.iter().skip(half).step_by(2) {
                    let at = format!("{arguments:?} with {name} {count}{lasting} failing with {error}");
                    let inject = format!("inject={name}:error={error}:when={count}{lasting}");
                    for _ in 0..TRIES {
                        let work = Work::of(base);
                        let log = tempfile::NamedTempFile::new().unwrap();
                        let trace = format!("trace={name}");
                        let options = ["-o", log.path().to_str().unwrap(), "-e", &trace, "-e", &inject];
                        let output = work.traced(&options, arguments);
                        failed.look(|| check(&work, &answer(&output), &at));
                        if std::fs::read_to_string(log.path()).unwrap().contains("(INJECTED)") {
                            fired.fetch_add(1, Ordering::Relaxed);
                            break;
                        }
                    }
                }
            });
        }
    });
    let fired = fired.into_inner();
    failed.none();
    eprintln!("{arguments:?}: {fired} of {} faults", faults.len());
    assert!(fired * 20 >= faults.len() * 19, "only {fired} of {} faults fired", faults.len());
}

/// A loop of two iterations, and work that is in neither.
pub fn prepared() -> Project {
    let project = Project::new();
    std::fs::create_dir(project.path("empty")).unwrap();
    std::os::unix::fs::symlink("src/lib.py", project.path("link")).unwrap();
    project.write("gone/later", "here at first");
    project.write("run", "#!/bin/sh\n");
    std::fs::set_permissions(project.path("run"), std::fs::Permissions::from_mode(0o755)).unwrap();
    project.tests(&[("a", true), ("b", true)]);
    project.run(&["begin", "--loop", "loop"]).expect(0);
    project.write("src/lib.py", "def one():\n    return 11\n");
    project.tests(&[("a", true), ("b", true), ("c", true)]);
    project.run(&["record"]).expect(0);
    std::fs::remove_dir_all(project.path("gone")).unwrap();
    std::fs::remove_file(project.path("link")).unwrap();
    project.write("link/new", "a directory now");
    project.write("src/lib.py", "def one():\n    return 111\n");
    std::fs::set_permissions(project.path("run"), std::fs::Permissions::from_mode(0o644)).unwrap();
    project.tests(&[("a", true), ("b", true), ("c", true), ("d", true)]);
    project
}

/// What must hold after whatever happened: the acknowledged iterations are sound and come back.
#[track_caller]
pub fn assert_kept(work: &Work, first: &[Listing], at: &str) {
    let findings = assert_restorable(work, first, at);
    assert!(findings.is_empty(), "{at}: {findings:?}");
}

/// The acknowledged iterations come back. Answers what `verify` finds.
#[track_caller]
pub fn assert_restorable(work: &Work, first: &[Listing], at: &str) -> Vec<String> {
    let (findings, restorable) = work.verified();
    for (number, files) in (0..).zip(first) {
        assert!(restorable.contains(&number), "{at}: iteration {number} is lost: {findings:?}");
        assert_eq!(&work.iteration(number), files, "{at}: iteration {number}");
    }
    findings
}

/// The next record works, as the number after those that are there, and sweeps up.
#[track_caller]
pub fn assert_next_record(work: &Work, at: &str) {
    let next = work.store().numbers().unwrap().last().unwrap().next();
    let recorded = work.run(&["record", "--json"]);
    assert_eq!(recorded.code, 0, "{at}: {recorded:?}");
    assert_eq!(recorded.json()["iteration"], next.0, "{at}");
    // Those of a restore are swept by the next one.
    let restores = work.layout.restores();
    let left: Vec<PathBuf> = work.leftovers().into_iter().filter(|path| !path.starts_with(&restores)).collect();
    assert!(left.is_empty(), "{at}: {left:?}");
}

/// The first two iterations' files.
pub fn first_two(base: &Path) -> Vec<Listing> {
    let work = Work::of(base);
    (0..2).map(|number| work.iteration(number)).collect()
}

#[test]
fn a_record_that_is_killed_loses_nothing() {
    let project = prepared();
    let (before, first) = (listing(project.root()), first_two(project.root()));
    kill_everywhere(project.root(), &["record", "--json"], 30, |work, output, at| {
        assert_eq!(work.listing(), before, "{at}");
        let numbers = work.store().numbers().unwrap();
        let is_acknowledged = String::from_utf8_lossy(&output.stdout).contains("\"iteration\":2");
        assert!(!is_acknowledged || numbers.contains(&Iteration(2)), "{at}: acknowledged and not there");
        assert_kept(work, &first, at);
        assert_next_record(work, at);
        assert_eq!(work.listing(), before, "{at}");
        assert_kept(work, &first, at);
    });
}

/// After a restore or undo from `before` to `after` was stopped somewhere.
#[track_caller]
pub fn assert_one_tree(work: &Work, before: &Listing, after: &Listing, ended: bool, at: &str) {
    match restore::pending(&work.layout, Duration::ZERO).unwrap() {
        Some(pending) => {
            assert!(pending.safe_to_finish(), "{at}: {:?}", pending.changed);
            assert!(!ended, "{at}: it said that it had ended");
            let status = work.run(&["status", "--json"]);
            assert!(status.json()["pending_restore"].is_u64(), "{at}: {status:?}");
            assert_next_record(work, at);
            assert_eq!(&work.listing(), after, "{at}: the next record finishes it first");
        }
        None => {
            let there = work.listing();
            let unlike = |other: &Listing| -> Vec<PathBuf> {
                let names = there.keys().chain(other.keys()).filter(|name| there.get(*name) != other.get(*name));
                names.cloned().collect()
            };
            let (from_before, from_after) = (unlike(before), unlike(after));
            assert!(
                from_after.is_empty() || from_before.is_empty() && !ended,
                "{at}: a mixed tree: {from_before:?} are not as before, {from_after:?} not as after"
            );
            assert_next_record(work, at);
            assert_eq!(work.listing(), there, "{at}");
        }
    }
}

#[test]
fn a_restore_that_is_killed_loses_nothing_and_its_undo_too() {
    let project = prepared();
    let (before, first) = (listing(project.root()), first_two(project.root()));
    let restored = Work::of(project.root());
    restored.run(&["restore", "0"]).expect(0);
    let after = restored.listing();
    assert_eq!(after, first[0]);
    kill_everywhere(project.root(), &["restore", "0", "--json"], 60, |work, output, at| {
        assert_kept(work, &first, at);
        assert_one_tree(work, &before, &after, !output.stdout.is_empty(), at);
        assert_kept(work, &first, at);
        if work.listing() == after {
            work.run(&["undo"]).expect(0);
            assert_eq!(work.listing(), before, "{at}");
        }
    });
    kill_everywhere(restored.root(), &["undo", "--json"], 60, |work, output, at| {
        assert_kept(work, &first, at);
        assert_one_tree(work, &after, &before, !output.stdout.is_empty(), at);
        assert_kept(work, &first, at);
    });
}

/// The loop at its end, its packs three days old: one pack that nobody needs, some that are mostly not needed.
pub fn finished() -> Work {
    let project = prepared();
    for n in 0..2_u64 {
        let noise: String =
            (1..400_u64).map(|i| format!("{:x}\n", (i + 1000 * n).wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect();
        project.write("noise/deep", &noise);
        project.run(&["record", "--skip", "test"]).expect(0);
    }
    project.write("noise/deep", "in the safety snapshot of a restore that is not the newest");
    project.run(&["restore", "1"]).expect(0);
    project.write("src/lib.py", "worse");
    project.tests(&[("a", true)]);
    project.run(&["record"]).expect(0);
    let work = Work::of(project.root());
    work.run(&["finish"]).expect(0);
    let then = SystemTime::now() - Duration::from_secs(3 * 24 * 60 * 60);
    for pack in std::fs::read_dir(work.layout.objects()).unwrap() {
        std::fs::File::open(pack.unwrap().path()).unwrap().set_modified(then).unwrap();
    }
    work
}

#[test]
fn an_end_that_is_killed_is_made_again() {
    let project = prepared();
    let first = first_two(project.root());
    let whole = Work::of(project.root());
    whole.run(&["finish"]).expect(0);
    let after = whole.listing();
    kill_everywhere(project.root(), &["finish", "--json"], 20, |work, output, at| {
        assert_kept(work, &first, at);
        let is_closed = work.store().is_closed().unwrap();
        assert!(is_closed || output.stdout.is_empty(), "{at}: it said that it had ended");
        if !is_closed {
            work.run(&["finish"]).expect(0);
        }
        assert_eq!(work.listing(), after, "{at}");
        assert_kept(work, &first, at);
    });
}

#[test]
fn a_pruning_that_is_killed_drops_nothing_that_is_needed() {
    let base = finished();
    let clean = Work::of(base.root());
    let pruned = clean.run(&["prune", "--json"]).expect(0).json();
    assert!(pruned["removed_packs"].as_u64() > Some(0) && pruned["rewritten_packs"].as_u64() > Some(0), "{pruned}");
    let let_go = pruned["loops"][0]["let_go"].as_array().unwrap();
    let kept: Vec<u32> = (0..5).filter(|n| !let_go.contains(&(*n).into())).collect();
    assert!(kept.len() >= 2 && let_go.len() >= 2, "{pruned}");
    let kept: BTreeMap<u32, Listing> = kept.into_iter().map(|number| (number, base.iteration(number))).collect();
    let before = base.listing();
    let packs = |work: &Work| -> BTreeSet<PathBuf> {
        std::fs::read_dir(work.layout.objects()).unwrap().map(|entry| entry.unwrap().file_name().into()).collect()
    };
    let going: BTreeSet<PathBuf> = packs(&base).difference(&packs(&clean)).cloned().collect();
    kill_everywhere(base.root(), &["prune", "--json"], 10, |work, _, at| {
        let sound = |work: &Work| {
            let (findings, restorable) = work.verified();
            assert!(findings.is_empty(), "{at}: {findings:?}");
            for (number, files) in &kept {
                assert!(restorable.contains(number), "{at}: {restorable:?}");
                assert_eq!(&work.iteration(*number), files, "{at}");
            }
        };
        sound(work);
        work.run(&["prune"]).expect(0);
        sound(work);
        // A second pack may hold what the first pruning had moved already; what was to go is gone.
        assert!(packs(work).is_disjoint(&going), "{at}: {:?}", packs(work));
        assert!(work.leftovers().is_empty(), "{at}: {:?}", work.leftovers());
        work.run(&["undo"]).expect(0);
        assert_ne!(work.listing(), before, "{at}");
        work.run(&["begin", "--loop", "next"]).expect(0);
    });
}

// Packs are gathered by the way, and a disk that is full for a moment fails one of many writes.
#[test]
fn a_gathering_whose_writes_fail_once_leaves_the_packs_as_they_are() {
    if !can_trace() {
        return;
    }
    let base = Work::of(prepared().root());
    let mut word = 1_u64;
    for _ in 0..80 {
        let noise = std::iter::repeat_with(|| {
            word = word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            word.to_le_bytes()
        });
        let mut writer = PackWriter::new(&base.layout);
        writer.add(noise.take(9_000).flatten().collect::<Vec<u8>>().as_slice()).unwrap();
        writer.finish().unwrap();
    }
    let packs = |work: &Work| std::fs::read_dir(work.layout.objects()).unwrap().count();
    let (before, first) = (packs(&base), first_two(base.root()));
    // What is gathered is written a MiB at a time, and nothing else is. What came of a call is not in the line if another
    // thread interrupted it: `write(6, "…"..., 1080448 <unfinished ...>`.
    let is_large = |call: &str| {
        let (_, rest) = call.rsplit_once(", ").unwrap_or_default();
        let digits = rest.split(|c: char| !c.is_ascii_digit()).next();
        digits.and_then(|bytes| bytes.parse().ok()) > Some(1 << 20)
    };
    let points = points(base.root(), &["record"], |name, call| name == "write" && is_large(call));
    assert!(points.len() >= 2, "{points:?}");
    for (name, count) in points {
        let work = Work::of(base.root());
        let inject = format!("inject={name}:error=ENOSPC:when={count}");
        let answer = answer(&work.traced(&["-o", "/dev/null", "-e", "trace=write", "-e", &inject], &["record"]));
        assert!(answer.code == 0 && packs(&work) > before, "{count}: {answer:?}");
        assert_kept(&work, &first, &format!("write {count}"));
        work.run(&["record"]).expect(0);
        assert!(packs(&work) < before, "{count}: it is made good");
        assert_kept(&work, &first, &format!("write {count}"));
    }
}

/// An error that names the file, or the right result.
#[track_caller]
fn assert_told(answer: &Answer, at: &str) {
    match answer.code {
        0 => {}
        1 => {
            let names_a_file = answer.stderr.contains("--> ") || answer.stderr.is_empty();
            assert!(names_a_file, "{at}: {answer:?}");
        }
        // What may not be read is in no snapshot, and no work tree: refused before the first change.
        65 if at.ends_with("EACCES") => {
            let is_refused = ["nothing was changed", "Permission denied"].iter().any(|why| answer.stderr.contains(why));
            assert!(is_refused, "{at}: {answer:?}");
        }
        // The loader's calls: the program did not begin.
        127 => assert!(answer.stderr.contains("shared"), "{at}: {answer:?}"),
        _ => panic!("{at}: {answer:?}"),
    }
}

#[test]
fn a_record_whose_calls_fail_says_so_or_is_right() {
    let project = prepared();
    let (before, first) = (listing(project.root()), first_two(project.root()));
    fail_everywhere(project.root(), &["record", "--json"], 30, |work, answer, at| {
        // A report that could not be looked at: the iteration is kept, and says that it has no figures of it.
        let is_without_report = answer.code == 65 && answer.stderr.contains("cannot read the report");
        if !is_without_report {
            assert_told(answer, at);
        }
        assert_eq!(work.listing(), before, "{at}");
        assert_kept(work, &first, at);
        let is_there = work.store().numbers().unwrap().contains(&Iteration(2));
        assert!(answer.code != 0 || is_there, "{at}: {answer:?}");
        if answer.code == 0 {
            let unheld = answer.stderr.contains("not kept");
            assert!(unheld || work.iteration(2) == before, "{at}: exit 0 and wrong");
        }
        assert_next_record(work, at);
        assert_kept(work, &first, at);
    });
}

#[test]
fn a_restore_whose_calls_fail_says_so_or_is_right() {
    let project = prepared();
    let (before, first) = (listing(project.root()), first_two(project.root()));
    fail_everywhere(project.root(), &["restore", "0", "--json"], 30, |work, answer, at| {
        assert_told(answer, at);
        assert_kept(work, &first, at);
        assert_one_tree(work, &before, &first[0], answer.code == 0, at);
        assert_kept(work, &first, at);
        if work.listing() == first[0] {
            work.run(&["undo"]).expect(0);
            assert_eq!(work.listing(), before, "{at}");
        }
    });
}

// What the quick proof says of restoring holds of what else changes a store.
#[test]
fn an_undo_whose_calls_fail_says_so_or_is_right() {
    if !wants("all") {
        return;
    }
    let project = prepared();
    let (before, first) = (listing(project.root()), first_two(project.root()));
    let restored = Work::of(project.root());
    restored.run(&["restore", "0"]).expect(0);
    let after = restored.listing();
    fail_everywhere(restored.root(), &["undo", "--json"], 30, |work, answer, at| {
        assert_told(answer, at);
        assert_kept(work, &first, at);
        // Nothing is told where nothing can be printed.
        let told: Value = serde_json::from_str(&answer.stdout).unwrap_or_default();
        let kept: Vec<&str> = told["kept"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        if kept.is_empty() {
            assert_one_tree(work, &after, &before, answer.code == 0, at);
        } else {
            // A directory that may not be listed is left as it is, and told.
            assert!(at.ends_with("EACCES"), "{at}: {answer:?}");
            let mut there = work.listing();
            there.retain(|path, _| !kept.iter().any(|kept| path.starts_with(kept)));
            assert_eq!(there, before, "{at}");
            assert_next_record(work, at);
        }
        assert_kept(work, &first, at);
    });
}

#[test]
fn an_end_whose_calls_fail_says_so_or_is_right() {
    if !wants("all") {
        return;
    }
    let project = prepared();
    let first = first_two(project.root());
    let whole = Work::of(project.root());
    whole.run(&["finish"]).expect(0);
    let after = whole.listing();
    fail_everywhere(project.root(), &["finish", "--json"], 30, |work, answer, at| {
        assert_told(answer, at);
        assert_kept(work, &first, at);
        if !work.store().is_closed().unwrap() {
            assert_ne!(answer.code, 0, "{at}: {answer:?}");
            work.run(&["finish"]).expect(0);
        }
        assert_eq!(work.listing(), after, "{at}");
        assert_kept(work, &first, at);
    });
}

// A disk that does not give the bytes of an object or a record says nothing about it.
#[test]
fn an_unreadable_disk_is_no_reason_to_choose_another_iteration() {
    if !can_trace() {
        return;
    }
    let project = prepared();
    let whole = Work::of(project.root());
    whole.run(&["finish"]).expect(0);
    let after = whole.listing();
    let points = points(project.root(), &["finish"], |name, call| match name {
        "pread64" => true,
        "open" | "openat" => call.contains("/progress/iteration-"),
        _ => false,
    });
    let (objects, records): (Vec<_>, Vec<_>) = points.into_iter().partition(|(name, _)| name == "pread64");
    assert!(records.len() >= 2, "{records:?}");
    let points: Vec<_> = objects.into_iter().skip(6).step_by(stride(8)).chain(records).collect();
    let mut stopped = 0;
    for (name, count) in &points {
        let work = Work::of(project.root());
        // An object is read again wherever else it is, a record is not.
        let lasting = if name == "pread64" { "+" } else { "" };
        let (trace, inject) = (format!("trace={name}"), format!("inject={name}:error=EIO:when={count}{lasting}"));
        let answer = answer(&work.traced(&["-o", "/dev/null", "-e", &trace, "-e", &inject], &["finish"]));
        if answer.code == 0 {
            assert_eq!(work.listing(), after, "{name} {count}: {answer:?}");
            continue;
        }
        stopped += 1;
        assert_eq!(answer.code, 1, "{name} {count}: {answer:?}");
        assert!(!work.store().is_closed().unwrap(), "{name} {count}");
        work.run(&["finish"]).expect(0);
        assert_eq!(work.listing(), after, "{name} {count}");
    }
    assert!(stopped >= 3, "{stopped} of {} stopped it: nothing was proved", points.len());
}
