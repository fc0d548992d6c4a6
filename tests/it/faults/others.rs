//! What holds of recording and restoring holds of the other commands, too.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::Value;

use super::{assert_kept, assert_next_record, assert_told, fail_everywhere, first_two, kill_everywhere, prepared};
use crate::support::work::{Listing, Work, listing, points};
use crate::support::{Answer, Project, answer, can_trace};

/// Commands that change nothing.
const READING: [&[&str]; 12] = [
    &["gate", "--json"],
    &["status", "--json"],
    &["log", "--json"],
    &["show", "1", "--json"],
    &["diff", "0", "1", "--json"],
    &["tests", "--json"],
    &["report", "1"],
    &["report", "summary"],
    &["verify", "--json"],
    &["loops", "--json"],
    &["replay", "--json"],
    &["restore", "0", "--dry-run", "--json"],
];

#[test]
fn what_the_disk_does_not_give_is_not_answered_as_something_else() {
    let project = prepared();
    let first = first_two(project.root());
    for arguments in READING {
        let sound = Work::of(project.root()).run(arguments);
        assert_eq!(sound.code, 0, "{arguments:?}: {sound:?}");
        fail_everywhere(project.root(), arguments, 10, |work, answer, at| {
            // What cannot be read is a finding of `verify`'s, and bad input where it may not be.
            let is_found = arguments[0] == "verify" || at.ends_with("EACCES");
            let is_told = matches!(answer.code, 1 | 127) || (answer.code == 65 && is_found);
            // A full or closed stdout changes no result.
            let is_cut = at.contains(" with write ") && sound.stdout.starts_with(&answer.stdout);
            let is_right = answer.code == 0 && (answer.stdout == sound.stdout || is_cut);
            let says = |what: &str| answer.stderr.contains(what) || answer.stdout.contains(what);
            let is_left_out =
                answer.code == 0 && (says("unread: iteration ") || says("\":null") && arguments[0] == "loops");
            assert!(is_told || is_right || is_left_out, "{at}: {answer:?}");
            assert_kept(work, &first, at);
        });
    }
}

/// What is stored, without locks, caches and what writers left that were killed.
fn stored(work: &Work) -> BTreeMap<PathBuf, Vec<u8>> {
    let root = work.layout.store();
    let files =
        walkdir::WalkDir::new(&root).into_iter().map(Result::unwrap).filter(|entry| entry.file_type().is_file());
    let paths = files.map(|entry| entry.path().strip_prefix(&root).unwrap().to_owned());
    let is_kept = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap();
        name != "lock" && !name.starts_with(".tmp-") && !path.starts_with("cache")
    };
    paths.filter(is_kept).map(|path| (path.clone(), std::fs::read(root.join(&path)).unwrap())).collect()
}

/// The paths at which two stores are not the same.
fn other_files(one: &BTreeMap<PathBuf, Vec<u8>>, other: &BTreeMap<PathBuf, Vec<u8>>) -> Vec<String> {
    let paths: BTreeSet<&PathBuf> = one.keys().chain(other.keys()).collect();
    let differ = paths.into_iter().filter(|path| one.get(*path) != other.get(*path));
    differ.map(|path| path.display().to_string()).collect()
}

/// A loop in which a file was not kept, and the same with its derived files and the index of a pack damaged.
fn sound_and_damaged() -> (Work, Work) {
    let project = Project::new();
    project.write("highwater.yaml", "limits:\n  file_bytes: 2000\n");
    project.write("large", "x".repeat(3_000));
    project.tests(&[("a", true)]);
    project.run(&["begin", "--loop", "loop"]).expect(0);
    project.write("src/lib.py", "def one():\n    return 11\n");
    project.tests(&[("a", true), ("b", true)]);
    project.run(&["record"]).expect(0);
    let sound = Work::of(project.root());
    let damaged = Work::of(project.root());
    for (path, bytes) in stored(&damaged) {
        let name = path.file_name().unwrap().to_str().unwrap();
        let cut = match name {
            "trajectory.json" | "best-tracker.json" | "metrics.json" => 0,
            name if name.ends_with(".pack") => bytes.len() - 20,
            _ => continue,
        };
        let path = damaged.layout.store().join(path);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        std::fs::write(path, &bytes[..cut]).unwrap();
    }
    (sound, damaged)
}

#[test]
fn a_repair_that_is_killed_is_made_again() {
    let (sound, damaged) = sound_and_damaged();
    let (before, first) = (stored(&sound), first_two(sound.root()));
    kill_everywhere(damaged.root(), &["verify", "--repair", "--json"], 20, |work, _, at| {
        work.run(&["verify", "--repair"]).expect(0);
        assert_eq!(stored(work), before, "{at}");
        assert_kept(work, &first, at);
        assert_next_record(work, at);
    });
}

#[test]
fn a_repair_whose_calls_fail_says_so_or_is_right() {
    let (sound, damaged) = sound_and_damaged();
    let (before, first) = (stored(&sound), first_two(sound.root()));
    fail_everywhere(damaged.root(), &["verify", "--repair", "--json"], 30, |work, answer, at| {
        // What the disk does not give is a finding, too.
        if answer.code != 65 {
            assert_told(answer, at);
        }
        if answer.code == 0 {
            assert_eq!(other_files(&stored(work), &before), [""; 0], "{at}: exit 0 and not repaired");
        }
        work.run(&["verify", "--repair"]).expect(0);
        assert_eq!(stored(work), before, "{at}");
        assert_kept(work, &first, at);
        assert_next_record(work, at);
    });
}

/// What the program answers when the call of that name and number fails.
fn failing_once(work: &Work, name: &str, count: usize, arguments: &[&str]) -> Answer {
    let (trace, inject) = (format!("trace={name}"), format!("inject={name}:error=EIO:when={count}"));
    answer(&work.traced(&["-o", "/dev/null", "-e", &trace, "-e", &inject], arguments))
}

// Why a file was not kept is told in its manifest alone, and a pack is set aside only if it cannot be made whole.
#[test]
fn a_manifest_or_pack_that_the_disk_does_not_give_is_not_taken_for_damaged() {
    if !can_trace() {
        return;
    }
    let (sound, damaged) = sound_and_damaged();
    let before = stored(&sound);
    let repair = ["verify", "--repair"];
    let is_one = |call: &str| call.contains("/manifest.json\"") || call.contains(".pack\"");
    let points = points(damaged.root(), &repair, |name, call| name.starts_with("open") && is_one(call));
    assert!(points.len() >= 10, "{points:?}");
    for (name, count) in points {
        let work = Work::of(damaged.root());
        let answer = failing_once(&work, &name, count, &repair);
        assert!(answer.code != 0 || stored(&work) == before, "{name} {count}: {answer:?}");
        work.run(&repair).expect(0);
        assert_eq!(stored(&work), before, "{name} {count}");
    }
}

#[test]
fn a_loop_that_is_not_begun_for_faults_can_be_begun() {
    let project = Project::new();
    project.write("src/lib.py", "def one():\n    return 1\n");
    project.tests(&[("a", true), ("b", true)]);
    let before = listing(project.root());
    let begin = ["begin", "--loop", "loop", "--json"];
    // A file that may not be read is in no snapshot, and that is said.
    let goes_on = |work: &Work, is_begun: bool, is_whole: bool, at: &str| {
        assert_eq!(work.listing(), before, "{at}");
        let again = work.run(&begin);
        let is_there = again.code == 65 && again.stderr.contains("loop");
        assert!(again.code == 0 && !is_begun || is_there, "{at}: {again:?}");
        assert_kept(work, if is_whole { std::slice::from_ref(&before) } else { &[] }, at);
        assert_next_record(work, at);
    };
    kill_everywhere(project.root(), &begin, 20, |work, output, at| goes_on(work, !output.stdout.is_empty(), true, at));
    fail_everywhere(project.root(), &begin, 30, |work, answer, at| {
        let is_without_report = answer.code == 65 && answer.stderr.contains("cannot read the report");
        if !is_without_report {
            assert_told(answer, at);
        }
        goes_on(work, answer.code == 0, !answer.stderr.contains("not kept"), at);
    });
}

#[test]
fn files_put_back_by_path_are_put_back_or_not() {
    let project = prepared();
    let (before, first) = (listing(project.root()), first_two(project.root()));
    let arguments = ["restore", "0", "src/lib.py", "run", "--json"];
    let restored = Work::of(project.root());
    restored.run(&arguments).expect(0);
    let after = restored.listing();
    assert_ne!(after, before);
    kill_everywhere(project.root(), &arguments, 40, |work, output, at| {
        assert_kept(work, &first, at);
        super::assert_one_tree(work, &before, &after, !output.stdout.is_empty(), at);
        assert_kept(work, &first, at);
    });
    fail_everywhere(project.root(), &arguments, 30, |work, answer, at| {
        assert_told(answer, at);
        super::assert_one_tree(work, &before, &after, answer.code == 0, at);
        assert_kept(work, &first, at);
    });
}

#[test]
fn files_that_are_written_elsewhere_are_whole_where_it_says_so() {
    let project = prepared();
    let (before, first) = (listing(project.root()), first_two(project.root()));
    fail_everywhere(project.root(), &["restore", "0", "--into", "elsewhere", "--json"], 30, |work, answer, at| {
        assert_told(answer, at);
        let (there, mut here): (Vec<_>, Vec<_>) =
            work.listing().into_iter().partition(|(path, _)| path.starts_with("elsewhere"));
        here.sort_unstable();
        assert_eq!(here.into_iter().collect::<BTreeMap<_, _>>(), before, "{at}");
        if answer.code == 0 {
            let files = there.into_iter().filter_map(|(path, file)| {
                let path = path.strip_prefix("elsewhere").unwrap().to_owned();
                (path != PathBuf::new()).then_some((path, file))
            });
            assert_eq!(files.collect::<BTreeMap<_, _>>(), first[0], "{at}");
        }
        assert_kept(work, &first, at);
    });
}

/// The names that differ between the baseline and each of the others; they stay when files are let go.
fn names(work: &Work) -> Vec<Value> {
    let diff = |other: &str| work.run(&["diff", "0", other, "--json"]).expect(0).json()["files"].clone();
    ["1", "2", "3", "4"].map(diff).into()
}

#[test]
fn a_read_that_fails_costs_no_names_of_what_is_let_go() {
    if !can_trace() {
        return;
    }
    let base = super::finished();
    let clean = Work::of(base.root());
    let pruned = clean.run(&["prune", "--json"]).expect(0).json();
    assert!(pruned["dropped_objects"].as_u64() > Some(0), "{pruned}");
    let listed = names(&clean);
    let points = points(base.root(), &["prune"], |name, _| name == "pread64");
    assert!(points.len() >= 20, "{points:?}");
    for (name, count) in points {
        let work = Work::of(base.root());
        failing_once(&work, &name, count, &["prune"]);
        assert_eq!(names(&work), listed, "{name} {count}");
    }
}

#[test]
fn a_pruning_whose_calls_fail_drops_nothing_that_is_needed() {
    let base = super::finished();
    let clean = Work::of(base.root());
    let pruned = clean.run(&["prune", "--json"]).expect(0).json();
    let let_go = pruned["loops"][0]["let_go"].as_array().unwrap();
    let listed = names(&clean);
    let kept: Vec<u32> = (0..5).filter(|n| !let_go.contains(&(*n).into())).collect();
    let kept: BTreeMap<u32, _> = kept.into_iter().map(|number| (number, base.iteration(number))).collect();
    fail_everywhere(base.root(), &["prune", "--json"], 30, |work, answer, at| {
        assert_told(answer, at);
        let sound = |work: &Work| {
            let (findings, restorable) = work.verified();
            assert!(findings.is_empty(), "{at}: {findings:?}");
            for (number, files) in &kept {
                assert!(restorable.contains(number), "{at}: {restorable:?}");
                assert_eq!(&work.iteration(*number), files, "{at}");
            }
            assert_eq!(names(work), listed, "{at}");
        };
        sound(work);
        work.run(&["prune"]).expect(0);
        sound(work);
        work.run(&["undo"]).expect(0);
    });
}

#[test]
fn what_is_accepted_is_accepted_or_not() {
    let project = prepared();
    project.tests(&[("a", true)]);
    project.run(&["record"]).expect(0);
    project.tests(&[("a", true), ("b", true)]);
    let (before, first) = (listing(project.root()), first_two(project.root()));
    let accept = ["accept", "--reason", "merged", "test_count_decreased", "--json"];
    let accepted = Work::of(project.root());
    accepted.run(&accept).expect(0);
    let open = |work: &Work| {
        let status = work.run(&["status", "--json"]).expect(0).json();
        status["open_findings"].as_array().map(Vec::len)
    };
    let (open_before, open_after) = (open(&Work::of(project.root())), open(&accepted));
    let is_one = |work: &Work, is_told: bool, at: &str| {
        let open = open(work);
        assert!(open == open_after || (open == open_before && !is_told), "{at}: {open:?}");
        assert_eq!(work.listing(), before, "{at}");
        assert_kept(work, &first, at);
        assert_next_record(work, at);
    };
    kill_everywhere(project.root(), &accept, 5, |work, output, at| is_one(work, !output.stdout.is_empty(), at));
    fail_everywhere(project.root(), &accept, 10, |work, answer, at| {
        assert_told(answer, at);
        is_one(work, answer.code == 0, at);
    });
}

// PROMISES G1: whatever the disk says, the agent gets an answer that it can read, and goes on.
#[test]
fn a_hook_whose_calls_fail_answers_and_goes_on() {
    let project = prepared();
    let payload = |root: &std::path::Path| {
        serde_json::json!({
            "session_id": "s", "transcript_path": "/none", "cwd": root, "hook_event_name": "Stop",
            "stop_hook_active": false, "last_assistant_message": "done",
        })
    };
    let (before, first) = (listing(project.root()), first_two(project.root()));
    project.write(Work::INPUT, payload(project.root()).to_string());
    fail_everywhere(project.root(), &["hook", "run", "--agent", "claude"], 30, |work, answer, at| {
        assert!(matches!(answer.code, 0 | 127), "{at}: {answer:?}");
        let is_json = serde_json::from_str::<Value>(&answer.stdout).is_ok_and(|reply| reply.is_object());
        assert!(answer.stdout.is_empty() || is_json, "{at}: {answer:?}");
        assert_eq!(work.listing(), before, "{at}");
        assert_kept(work, &first, at);
        assert_next_record(work, at);
    });
}

// What is changed beside the store is somebody else's: it is as it was, or as it was to become.
#[test]
fn files_of_other_programs_are_as_before_or_as_told() {
    let project = prepared();
    project.write(".claude/settings.json", "{\n  // the house style\n  \"model\": \"opus\",\n}");
    project.write("report.md", "# of the last loop\n");
    let installed = Work::of(project.root());
    let install = ["hook", "install", "--agent", "claude"];
    installed.run(&install).expect(0);
    for (base, arguments) in [
        (project.root(), &install[..]),
        (installed.root(), &["hook", "uninstall", "--agent", "claude"]),
        (project.root(), &["report", "summary", "-o", "report.md"]),
        (project.root(), &["report", "1", "--format", "junit", "-o", "as-junit.xml"]),
    ] {
        let (before, whole) = (listing(base), Work::of(base));
        whole.run(arguments).expect(0);
        let after = whole.listing();
        assert_ne!(before, after, "{arguments:?}");
        // What a killed writer made beside it stays: nothing is removed from folders of others by its name alone.
        let is_beside = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().starts_with(".tmp-");
        let files = |listing: Listing| -> BTreeMap<PathBuf, _> {
            listing.into_iter().filter(|(path, _)| !is_beside(path)).collect()
        };
        let (before, after) = (files(before), files(after));
        let is_either = |work: &Work, is_told: bool, at: &str| {
            let there = files(work.listing());
            let is_right = there == after || (there == before && !is_told);
            assert!(is_right, "{at}: {:?}", there.iter().filter(|(path, file)| before.get(*path) != Some(file)));
            work.run(arguments).expect(0);
            assert_eq!(files(work.listing()), after, "{at}");
        };
        kill_everywhere(base, arguments, 3, |work, _, at| is_either(work, false, at));
        fail_everywhere(base, arguments, 5, |work, answer, at| {
            assert_told(answer, at);
            is_either(work, answer.code == 0, at);
        });
    }
}

#[test]
fn a_loop_is_imported_whole_or_not() {
    let project = Project::new();
    let runs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/loops/results.tsv");
    project.write("results.tsv", std::fs::read(runs).unwrap());
    let import = ["import", "results.tsv", "--loop", "loop", "--json"];
    let whole = Work::of(project.root());
    let log = whole.run(&import).expect(0).json();
    let is_whole_or_not = |work: &Work, is_told: bool, at: &str| {
        let loops = work.run(&["loops", "--json"]).expect(0).json();
        let loops = loops["loops"].as_array().unwrap();
        assert!(loops.len() == 1 || (loops.is_empty() && !is_told), "{at}: {loops:?}");
        assert!(loops.iter().all(|one| one["is_closed"] == true), "{at}: {loops:?}");
        if loops.is_empty() {
            work.run(&import).expect(0);
        }
        // Times aside, it is the same loop.
        let again = work.run(&["log", "--loop", "loop", "--json"]).expect(0).json();
        assert_eq!(again["iterations"].as_array().unwrap().len(), log["iterations"].as_array().unwrap().len(), "{at}");
        assert!(work.verified().0.is_empty(), "{at}: {:?}", work.verified().0);
    };
    kill_everywhere(project.root(), &import, 20, |work, output, at| {
        is_whole_or_not(work, !output.stdout.is_empty(), at)
    });
    fail_everywhere(project.root(), &import, 30, |work, answer, at| {
        if answer.code != 65 || !at.ends_with("EACCES") {
            assert_told(answer, at);
        }
        is_whole_or_not(work, answer.code == 0, at);
    });
}
