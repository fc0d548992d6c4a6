//! Restores whose process is killed before each call that changes anything on the disk, or whose calls fail.
//!
//! The test program runs itself under strace, which kills it before the n-th call of one name. Where strace is missing
//! the test says so and passes, unless `FAULTS=required` is set.

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output};

use highwater::model::ids::ObjectId;
use highwater::snapshot::restore::{abort, newest_record, pending, resume};

use super::{Listing, NOW, Work, listing};
use crate::support::{can_trace, stride};

/// Calls that change the disk, or make a change survive.
const CALLS: [&str; 16] = [
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
    "fsync",
    "write",
];

const ROOT: &str = "HIGHWATER_TEST_RESTORE_ROOT";
const WHAT: &str = "HIGHWATER_TEST_RESTORE_WHAT";

/// Not a test of its own: what the tests below run in another process.
#[test]
fn child() {
    let (Some(root), Ok(what)) = (std::env::var_os(ROOT), std::env::var(WHAT)) else { return };
    let work = Work::at(Path::new(&root));
    match what.as_str() {
        "resume" => drop(resume(&work.layout, NOW).unwrap()),
        "abort" => drop(abort(&work.layout, NOW).unwrap()),
        "undo" => drop(work.undo().unwrap()),
        target => drop(work.restore(target.parse().unwrap()).unwrap()),
    }
}

/// Runs the child under strace with these further arguments.
fn strace(work: &Work, what: &str, arguments: &[String]) -> Output {
    let ran = Command::new("strace")
        .args(["-f", "-qq"])
        .args(arguments)
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "restore::kills::child", "--nocapture", "--test-threads=1"])
        .env(ROOT, work.dir.path())
        .env(WHAT, what)
        .output();
    ran.unwrap()
}

/// How often a clean run makes each call; `None` if nothing can be traced.
fn counts(work: &Work, what: &str) -> Option<BTreeMap<String, usize>> {
    if !can_trace() {
        return None;
    }
    let log = tempfile::NamedTempFile::new().unwrap();
    let arguments =
        ["-o".to_owned(), log.path().display().to_string(), "-e".to_owned(), format!("trace={}", CALLS.join(","))];
    let output = strace(work, what, &arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut counts = BTreeMap::new();
    for line in std::fs::read_to_string(log.path()).unwrap().lines() {
        let call = line.split('(').next().and_then(|head| head.split_whitespace().last()).unwrap_or_default();
        if CALLS.contains(&call) {
            *counts.entry(call.to_owned()).or_insert(0) += 1;
        }
    }
    Some(counts)
}

/// Runs the child and kills it before its `nth` call of that name. Answers whether it was killed.
fn killed(work: &Work, what: &str, call: &str, nth: usize) -> bool {
    let arguments = [
        "-o".to_owned(),
        "/dev/null".to_owned(),
        "-e".to_owned(),
        format!("trace={call}"),
        "-e".to_owned(),
        format!("inject={call}:signal=KILL:when={nth}"),
    ];
    let output = strace(work, what, &arguments);
    output.status.signal() == Some(9) || output.status.code() == Some(128 + 9)
}

/// A work tree with every kind of change between the stored tree and what stands there now.
fn changed() -> (Work, ObjectId) {
    let work = Work::new();
    work.write("edited", "one");
    work.write("gone/x", "gone");
    work.write("turns/into", "a file in a directory");
    work.write("run", "#!");
    work.mode("run", 0o755);
    symlink("one", work.path("link")).unwrap();
    let target = work.capture();
    work.write("edited", "two");
    std::fs::remove_dir_all(work.path("gone")).unwrap();
    std::fs::remove_dir_all(work.path("turns")).unwrap();
    work.write("turns", "a file");
    work.mode("run", 0o644);
    std::fs::remove_file(work.path("link")).unwrap();
    work.write("link/new", "a directory");
    (work, target)
}

/// The tree that the restore gives back.
fn listing_of(target: ObjectId, work: &Work) -> Listing {
    let place = tempfile::tempdir().unwrap();
    let options = super::Options { into: Some(place.path()), ..work.options() };
    super::restore(&work.layout, target, &options).unwrap();
    listing(place.path(), false)
}

// PROMISES W1, W2: 0 lost, 0 mixed trees, from every point both ways.
#[test]
fn a_restore_killed_before_any_call_loses_nothing() {
    let (work, target) = changed();
    let (before, after) = (work.listing(), listing_of(target, &work));
    let Some(counts) = counts(&work, &target.to_string()) else { return };
    let (mut points, mut pendings) = (0, 0);
    for (call, count) in counts {
        for nth in (1..=count).step_by(stride(3)) {
            let (work, target) = changed();
            // The last calls are the test program's own, after the restore.
            if !killed(&work, &target.to_string(), &call, nth) {
                continue;
            }
            points += 1;
            let at = format!("{call} {nth}");
            match pending(&work.layout, NOW).unwrap() {
                None if newest_record(&work.layout).unwrap().is_some() => assert_eq!(work.listing(), after, "{at}"),
                None => {
                    assert_eq!(work.listing(), before, "{at}");
                    work.restore(target).unwrap();
                }
                Some(found) => {
                    pendings += 1;
                    assert!(found.safe_to_finish(), "{at}: {:?}", found.changed);
                    if points % 2 == 0 {
                        abort(&work.layout, NOW).unwrap();
                        assert_eq!(work.listing(), before, "{at}");
                        continue;
                    }
                    assert!(resume(&work.layout, NOW).unwrap().rescued.is_empty(), "{at}");
                }
            }
            assert_eq!(work.listing(), after, "{at}");
            assert!(work.undo().unwrap().rescued.is_empty(), "{at}");
            assert_eq!(work.listing(), before, "{at}");
        }
    }
    eprintln!("killed at {points} points, {pendings} of them half way");
    assert!(
        points * stride(1) >= 20 && pendings * stride(1) >= 5,
        "{points} points, {pendings} of them half way: nothing was proved"
    );
}

#[test]
fn going_on_and_going_back_can_be_killed_too() {
    if !can_trace() {
        return;
    }
    for what in ["resume", "abort"] {
        // Where the first kill comes: in the middle; with `FAULTS=all`, wherever a name changes.
        let firsts = if stride(2) == 1 { 1..12 } else { 4..5 };
        let points: usize = firsts.map(|first| killed_again(first, what)).sum();
        eprintln!("{what} of a killed restore: killed at {points} points");
        assert!(points >= 8, "{points} points: nothing was proved");
    }
}

/// Kills a restore at a rename, then what goes on with it at each of its points; answers how many those were.
fn killed_again(first: usize, what: &str) -> usize {
    let half_way = || {
        let (work, target) = changed();
        killed(&work, &target.to_string(), "renameat2", first);
        pending(&work.layout, NOW).unwrap().is_some().then_some(work)
    };
    let (work, target) = changed();
    let (before, after) = (work.listing(), listing_of(target, &work));
    // Before the journal, or after the end.
    let Some(half) = half_way() else { return 0 };
    let mut points = 0;
    for (call, count) in counts(&half, what).unwrap() {
        for nth in (1..=count).step_by(stride(5)) {
            let work = half_way().unwrap();
            if !killed(&work, what, &call, nth) {
                continue;
            }
            points += 1;
            let at = format!("{what} after {first}, {call} {nth}");
            let end = if what == "resume" { &after } else { &before };
            if let Some(found) = pending(&work.layout, NOW).unwrap() {
                assert!(found.safe_to_finish(), "{at}: {:?}", found.changed);
                let outcome =
                    if what == "resume" { resume(&work.layout, NOW) } else { abort(&work.layout, NOW) }.unwrap();
                assert!(outcome.rescued.is_empty(), "{at}");
            }
            assert_eq!(&work.listing(), end, "{at}");
        }
    }
    points
}

/// Runs the child with these calls failing; answers whether it ended well.
fn with_faults(work: &Work, what: &str, faults: &[String]) -> bool {
    let mut arguments = vec!["-o".to_owned(), "/dev/null".to_owned()];
    for fault in faults {
        arguments.extend(["-e".to_owned(), format!("inject={fault}")]);
    }
    strace(work, what, &arguments).status.success()
}

// PROMISES H3, W2.
#[test]
fn a_call_that_fails_stops_the_restore_and_loses_nothing() {
    let (work, target) = changed();
    let (before, after) = (work.listing(), listing_of(target, &work));
    let Some(counts) = counts(&work, &target.to_string()) else { return };
    let (mut points, mut stopped) = (0, 0);
    for (call, count) in counts {
        for (nth, error) in (1..=count).zip(["EIO", "ENOSPC", "EACCES"].into_iter().cycle()).step_by(stride(4)) {
            let (work, target) = changed();
            let at = format!("{call} {nth} {error}");
            // Every other time the trouble stays.
            let lasting = if points % 2 == 1 { "+" } else { "" };
            let fault = format!("{call}:error={error}:when={nth}{lasting}");
            let ended_well = with_faults(&work, &target.to_string(), &[fault]);
            points += 1;
            let found = pending(&work.layout, NOW).unwrap();
            assert!(!ended_well || found.is_none(), "{at}: ended well and is half way");
            if let Some(found) = found {
                stopped += 1;
                assert!(found.safe_to_finish(), "{at}: {:?}", found.changed);
                assert!(resume(&work.layout, NOW).unwrap().rescued.is_empty(), "{at}");
            } else if newest_record(&work.layout).unwrap().is_none() {
                assert!(!ended_well, "{at}");
                assert_eq!(work.listing(), before, "{at}");
                continue;
            }
            assert_eq!(work.listing(), after, "{at}");
            work.undo().unwrap();
            assert_eq!(work.listing(), before, "{at}");
        }
    }
    eprintln!("{points} faults, {stopped} of them stopped it half way");
    assert!(
        points * stride(1) >= 20 && stopped * stride(1) >= 4,
        "{points} faults, {stopped} stopped it: nothing was proved"
    );
}

#[test]
fn a_system_that_cannot_swap_names_or_resolve_paths_gets_the_same_tree() {
    let cases: [&[&str]; 4] = [
        &["openat2:error=ENOSYS"],
        &["renameat2:error=EINVAL"],
        &["renameat2:error=EINVAL", "linkat:error=EPERM"],
        &["renameat2:error=ENOSYS", "linkat:error=EPERM", "openat2:error=EPERM"],
    ];
    if !can_trace() {
        return;
    }
    for faults in cases {
        let (work, target) = changed();
        let (before, after) = (work.listing(), listing_of(target, &work));
        let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
        assert!(with_faults(&work, &target.to_string(), &faults), "{faults:?}");
        assert_eq!(work.listing(), after, "{faults:?}");
        assert!(with_faults(&work, "undo", &faults), "{faults:?}");
        assert_eq!(work.listing(), before, "{faults:?}");
    }
}
