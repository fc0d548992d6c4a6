//! One stored file damaged in every way: nothing panics, nothing wrong comes back, `verify` names the file and tells what
//! is still whole (PROMISES H5). `HIGHWATER_SOAK=1` flips every byte of every file of a small loop.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use highwater::engine::{self, Target};
use highwater::model::ids::Iteration;
use serde_json::Value;

use crate::support::work::{Listing, Work, in_memory, listing};
use crate::support::{Answer, Project, is_soak, stride};

/// What can become of a file. `closed` takes away every permission, which nothing but another user's process notices.
const DAMAGES: [&str; 8] = ["gone", "cut", "empty", "flipped", "swapped", "closed", "directory", "link"];

/// A user that owns nothing.
const NOBODY: u32 = 65534;

/// Two loops in one store: `done` is closed and pruned; `loop` is open, was restored once, and has an accepted loss.
fn prepared() -> Project {
    let project = Project::new();
    let all = [("a", true), ("b", true), ("c", true)];
    project.tests(&all);
    project.run(&["begin", "--loop", "done"]).expect(0);
    project.write("src/lib.py", "def one():\n    return 2\n");
    project.write("only/here", "in a snapshot that prune lets go");
    project.tests(&all[..1]);
    project.run(&["record"]).expect(0);
    std::fs::remove_dir_all(project.path("only")).unwrap();
    project.tests(&[("a", true), ("b", true), ("c", true), ("d", true)]);
    project.run(&["record"]).expect(0);
    project.run(&["finish"]).expect(0);
    let day = std::time::Duration::from_secs(3 * 24 * 60 * 60);
    for pack in std::fs::read_dir(project.path(".progress/objects")).unwrap() {
        std::fs::File::open(pack.unwrap().path()).unwrap().set_modified(std::time::SystemTime::now() - day).unwrap();
    }
    let pruned = project.run(&["prune", "--json"]).expect(0).json();
    assert_eq!(pruned["loops"][0]["let_go"], serde_json::json!([1]), "{pruned}");

    std::os::unix::fs::symlink("src/lib.py", project.path("link")).unwrap();
    project.write("notes", "at first");
    project.tests(&all);
    project.run(&["begin", "--loop", "loop"]).expect(0);
    for n in 1..4 {
        project.write("src/lib.py", format!("def one():\n    return {n}{n}\n"));
        project.write("notes", format!("in iteration {n}"));
        project.tests(&all[..4 - n]);
        project.run(&["record"]).expect(0);
        if n == 2 {
            project.run(&["accept", "--reason", "it was the same test twice", "test_count_decreased"]).expect(0);
            project.write("notes", "in the safety snapshot only");
            project.run(&["restore", "1"]).expect(0);
        }
    }
    project.write("notes", "in no snapshot");
    project.tests(&all);
    project
}

/// The files of a store, the locks apart, and what kind each is: its path with every number and hash left out.
fn stored(root: &Path) -> Vec<(PathBuf, String)> {
    let entries = walkdir::WalkDir::new(root.join(".progress")).sort_by_file_name().into_iter().map(Result::unwrap);
    let files = entries.filter(|entry| entry.file_type().is_file() && entry.file_name() != "lock");
    files
        .map(|entry| {
            let name = entry.path().strip_prefix(root).unwrap().to_owned();
            let parts: Vec<String> = name.iter().map(|part| kind_of(part.to_str().unwrap())).collect();
            (name, parts.join("/"))
        })
        .collect()
}

fn kind_of(name: &str) -> String {
    let is_hash = |part: &str| part.len() == 64 && part.bytes().all(|byte| byte.is_ascii_hexdigit());
    let part = |part: &str| if is_hash(part) { "#".into() } else { part.replace(|c: char| c.is_ascii_digit(), "") };
    let parts: Vec<String> =
        name.split('-').map(|one| one.split('.').map(part).collect::<Vec<_>>().join(".")).collect();
    parts.join("-").replace("-baseline", "-metrics")
}

/// Files whose every byte the promise is about.
fn is_promised(kind: &str) -> bool {
    kind.ends_with("progress/iteration--metrics.json") || kind.ends_with(".pack") || kind.contains("/artifacts/")
}

/// The first and the last file of each kind; every one in a soak.
fn some_of_each(root: &Path) -> Vec<(PathBuf, String)> {
    let all = stored(root);
    let is_end = |(name, kind): &(PathBuf, String)| {
        let like_it = || all.iter().filter(|(_, other)| other == kind).map(|(other, _)| other);
        let is_alike = ["report.md", "metrics.json", "manifest.json"].iter().any(|end| kind.ends_with(end));
        like_it().next_back() == Some(name) || (!is_alike || is_promised(kind)) && like_it().next() == Some(name)
    };
    all.iter().filter(|one| is_soak() || is_end(one)).cloned().collect()
}

/// Damages one file; `false` where that damage makes no sense for it.
fn damage(root: &Path, name: &Path, kind: &str, how: &str) -> bool {
    let path = root.join(name);
    let bytes = std::fs::read(&path).unwrap();
    let put = |path: &Path, bytes: &[u8]| {
        let mode = path.metadata().unwrap().permissions();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).unwrap();
        std::fs::write(path, bytes).unwrap();
        std::fs::set_permissions(path, mode).unwrap();
    };
    match how {
        "gone" => std::fs::remove_file(&path).unwrap(),
        "cut" => put(&path, &bytes[..bytes.len() * 2 / 3]),
        "empty" => put(&path, b""),
        "flipped" => {
            let mut flipped = bytes;
            let middle = flipped.len() / 2;
            flipped[middle] ^= 0x10;
            put(&path, &flipped);
        }
        "swapped" => {
            let is_like_it = |(other, of): &&(PathBuf, String)| of == kind && other != name;
            let all = stored(root);
            let Some((other, _)) = all.iter().find(is_like_it) else { return false };
            let others = std::fs::read(root.join(other)).unwrap();
            if others == bytes {
                return false;
            }
            put(&root.join(other), &bytes);
            put(&path, &others);
        }
        "closed" => std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap(),
        "directory" => {
            std::fs::remove_file(&path).unwrap();
            std::fs::create_dir(&path).unwrap();
        }
        "link" => {
            // To a file that is as it should be, outside the store: nothing in the store is read through a link.
            let aside = root.with_extension("aside");
            std::fs::rename(&path, &aside).unwrap();
            std::os::unix::fs::symlink(&aside, &path).unwrap();
        }
        other => panic!("{other}"),
    }
    true
}

/// Who runs the program: nobody in particular where permissions are the damage and we are root, who may read anything.
fn run(work: &Work, how: &str, arguments: &[&str]) -> Answer {
    if how == "closed" && rustix::process::geteuid().is_root() {
        return work.run_as(NOBODY, arguments);
    }
    work.run(arguments)
}

/// Neither a panic nor a fault of ours, and an error says where.
#[track_caller]
fn assert_answered(answer: &Answer, at: &str) {
    assert!(matches!(answer.code, 0 | 1 | 10..=13 | 65), "{at}: {answer:?}");
    assert!(!answer.stderr.contains("panicked"), "{at}: {answer:?}");
    let tells = answer.stderr.contains("--> ") || answer.stdout.contains("damaged: ") || answer.stdout.starts_with('{');
    assert!(!matches!(answer.code, 1 | 65) || tells, "{at}: {answer:?}");
}

/// What each iteration gives back: its files, or a refusal.
fn given_back(work: &Work, how: &str, trees: &[Listing], at: &str) -> Vec<u64> {
    let mut whole = Vec::new();
    for (number, files) in (0..).zip(trees) {
        let place = in_memory();
        let into = place.path().join("into");
        let is_restored = if how == "closed" {
            std::fs::set_permissions(place.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
            let restored = run(work, how, &["restore", &number.to_string(), "--into", into.to_str().unwrap()]);
            assert_answered(&restored, at);
            restored.code == 0
        } else {
            let target = Target { into: Some(&into), ..Target::default() };
            engine::restore_iteration(&work.session(), &work.store(), Iteration(number), target).is_ok()
        };
        if is_restored {
            assert_eq!(&listing(&into), files, "{at}: wrong data came back as iteration {number}");
            whole.push(number.into());
        }
    }
    whole
}

/// What `verify` says: all of it, and which iterations of the open loop come back.
fn verified(work: &Work, of_the_open_loop: bool, how: &str, at: &str) -> (String, Option<Vec<u64>>) {
    let (mut said, mut restorable) = (String::new(), None);
    for id in if of_the_open_loop { &["loop"][..] } else { &["done", "loop"] } {
        let verified = run(work, how, &["verify", "--json", "--loop", id]);
        assert_answered(&verified, at);
        said.push_str(&verified.stderr);
        let Ok(answer) = serde_json::from_str::<Value>(&verified.stdout) else { continue };
        said.push_str(&answer["findings"].to_string());
        restorable = Some(answer["restorable"].as_array().unwrap().iter().filter_map(Value::as_u64).collect());
    }
    (said, restorable)
}

/// One case; answers whether `verify` named the file. `None` where there is nothing of that kind to do.
fn check(base: &Path, name: &Path, kind: &str, how: &str, trees: &[Listing]) -> Option<bool> {
    let work = Work::of(base);
    if !damage(work.root(), name, kind, how) {
        return None;
    }
    if how == "closed" && rustix::process::geteuid().is_root() {
        work.give_to(NOBODY);
    }
    let at = format!("{} {how}", name.display());
    let before = work.listing();
    // Checked.
    let (said, restorable) = verified(&work, !kind.contains("/done/") && !kind.ends_with(".pack"), how, &at);
    // What is gone has no name any more, but its place shows.
    let traces = ["the end of the history was cut off", "its snapshot is not whole", "it cannot be undone"];
    let is_named = said.contains(name.file_name().unwrap().to_str().unwrap())
        || how == "gone" && traces.iter().any(|trace| said.contains(trace));
    // Loaded.
    assert_answered(&run(&work, how, &["log", "--loop", "loop"]), &at);
    // Restored: exactly what `verify` said, and nothing wrong.
    let whole = given_back(&work, how, trees, &at);
    match restorable {
        Some(restorable) => assert_eq!(restorable, whole, "{at}: what verify said is restorable, and what is"),
        None => assert!(is_named, "{at}: not checked, and the file is not named"),
    }
    let restored = run(&work, how, &["restore", "0", "--loop", "loop"]);
    assert_answered(&restored, &at);
    let expected = if restored.code == 0 { &trees[0] } else { &before };
    assert_eq!(&work.listing(), expected, "{at}: {restored:?}");
    if restored.code == 0 {
        let undone = run(&work, how, &["undo"]);
        assert_answered(&undone, &at);
        assert_eq!(&work.listing(), if undone.code == 0 { &before } else { &trees[0] }, "{at}: {undone:?}");
    }
    // Recorded after: under a number that no name has, and nothing is lost by it.
    let numbers = work.store().numbers().unwrap();
    let recorded = run(&work, how, &["record", "--json", "--loop", "loop"]);
    assert_answered(&recorded, &at);
    if recorded.code == 0 {
        assert_eq!(recorded.json()["iteration"], numbers.last().unwrap().next().0, "{at}");
    }
    // What a new pack holds again comes back again; a newest record that is gone without a trace has its number taken.
    let still = numbers.last().map_or(0, |newest| newest.0 as usize + 1);
    let after = given_back(&work, how, &trees[..still], &at);
    assert!(whole.iter().all(|number| after.contains(number)), "{at}: {whole:?}, and {after:?} after recording");
    if how == "link" {
        let _ = std::fs::remove_file(work.root().with_extension("aside"));
    }
    Some(is_named)
}

/// The files of the open loop's iterations.
fn trees(base: &Path) -> Vec<Listing> {
    let work = Work::of(base);
    (0..4).map(|number| work.iteration(number)).collect()
}

#[test]
fn a_damaged_file_is_named_and_costs_only_what_it_held() {
    let project = prepared();
    let base = project.root();
    let (trees, files) = (trees(base), some_of_each(base));
    let kinds: BTreeSet<&String> = files.iter().map(|(_, kind)| kind).collect();
    assert!(kinds.len() >= 14, "{kinds:?}");
    let may_see_closed =
        !rustix::process::geteuid().is_root() || Work::of(base).run_as(NOBODY, &["--version"]).code == 0;
    if !may_see_closed {
        eprintln!("skipped: closed files, because nobody else can run the program here");
    }
    // What is derived, every third time.
    let is_due =
        |nth: usize, kind: &str| is_soak() || nth.is_multiple_of(stride(if is_promised(kind) { 1 } else { 3 }));
    let cases: Vec<_> = files
        .iter()
        .enumerate()
        .flat_map(|(nth, (name, kind))| {
            let due = DAMAGES.into_iter().enumerate().filter(move |(other, _)| is_due(nth + other, kind));
            due.map(move |(_, how)| (name, kind, how))
        })
        .filter(|(_, _, how)| *how != "closed" || may_see_closed)
        .collect();
    let failed = Mutex::new(Vec::new());
    let done = Mutex::new(BTreeMap::<(&str, bool), usize>::new());
    std::thread::scope(|scope| {
        for half in 0..2 {
            let (cases, trees, failed, done) = (&cases, &trees, &failed, &done);
            scope.spawn(move || {
                for (name, kind, how) in cases.iter().skip(half).step_by(2) {
                    match catch_unwind(AssertUnwindSafe(|| check(base, name, kind, how, trees))) {
                        Ok(None) => {}
                        Ok(Some(is_named)) => {
                            *done.lock().unwrap().entry((how, is_named)).or_default() += 1;
                            if !is_named && is_promised(kind) {
                                failed.lock().unwrap().push(format!("{} {how}: not named", name.display()));
                            }
                        }
                        Err(_) => failed.lock().unwrap().push(format!("{} {how}", name.display())),
                    }
                }
            });
        }
    });
    let (failed, done) = (failed.into_inner().unwrap(), done.into_inner().unwrap());
    eprintln!("damaged files, by damage and whether verify named them: {done:?}");
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    // Each is checked, loaded, restored and recorded after.
    assert!(done.values().sum::<usize>() * stride(1) >= 75, "{done:?}: too few, nothing was proved");
}

/// Two iterations of next to nothing.
fn tiny() -> Project {
    let project = Project::new();
    project.tests(&[("a", true)]);
    project.run(&["begin", "--loop", "loop"]).expect(0);
    project.write("src/lib.py", "x = 1\n");
    project.tests(&[("a", true), ("b", true)]);
    project.run(&["record"]).expect(0);
    project.run(&["restore", "0"]).expect(0);
    project
}

// A flipped bit showed it: the tree is whole, but the rules that a restore goes by have another name.
#[test]
fn what_names_no_config_is_not_called_restorable() {
    let project = tiny();
    let work = Work::of(project.root());
    let path = work.store().paths().record(Iteration(0));
    let text = std::fs::read_to_string(&path).unwrap();
    let config = work.store().load(Iteration(0)).unwrap().record.config.to_string();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    std::fs::write(&path, text.replace(&config, &config.chars().rev().collect::<String>())).unwrap();
    let (findings, restorable) = work.verified();
    assert!(findings.iter().any(|finding| finding.contains("the object of its config is missing")), "{findings:?}");
    assert_eq!(restorable, [1]);
    let into = in_memory();
    work.run(&["restore", "0", "--into", into.path().to_str().unwrap()]).expect(65);
    work.run(&["restore", "1"]).expect(0);
}

/// Flips bits of the bytes of a stored file, one at a time. Answers how many bytes there were, and which `verify` missed.
fn flip_bytes(work: &Work, name: &Path, kind: &str, step: usize, trees: &[Listing]) -> (usize, Vec<usize>) {
    let path = work.root().join(name);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    let good = std::fs::read(&path).unwrap();
    let (mut tried, mut missed) = (0, Vec::new());
    for at in (0..good.len()).step_by(step) {
        let mut bad = good.clone();
        bad[at] ^= 1 << (at % 8);
        std::fs::write(&path, &bad).unwrap();
        tried += 1;
        let what = format!("{} byte {at}", name.display());
        let verified =
            engine::verify(&work.session(), &work.store(), None, false).unwrap_or_else(|e| panic!("{what}: {e}"));
        let file = name.file_name().unwrap().to_str().unwrap();
        // Of two records that do not fit together, either may be the one that was changed.
        let is_named =
            verified.findings.iter().any(|finding| finding.file.ends_with(file) || finding.fault.contains(file));
        if !is_named {
            missed.push(at);
        }
        for (number, files) in (0..).zip(trees) {
            let place = in_memory();
            let target = Target { into: Some(place.path()), ..Target::default() };
            let restored = engine::restore_iteration(&work.session(), &work.store(), Iteration(number), target);
            let is_restorable = verified.restorable.contains(&Iteration(number));
            assert_eq!(restored.is_ok(), is_restorable, "{what}: iteration {number}: {:?}", restored.err());
            assert!(!is_restorable || &listing(place.path()) == files, "{what}: wrong data came back");
        }
    }
    std::fs::write(&path, &good).unwrap();
    assert!(missed.is_empty() || !is_promised(kind), "{}: not named: {missed:?}", name.display());
    (tried, missed)
}

#[test]
fn a_flipped_bit_of_what_is_promised_is_found_wherever_it_is() {
    let base = tiny();
    let trees: Vec<Listing> = (0..2).map(|number| Work::of(base.root()).iteration(number)).collect();
    let files = stored(base.root());
    let totals = Mutex::new([0_usize; 4]);
    std::thread::scope(|scope| {
        for half in 0..2 {
            let (files, trees, totals, root) = (&files, &trees, &totals, base.root());
            scope.spawn(move || {
                let work = Work::of(root);
                for (name, kind) in files.iter().skip(half).step_by(2) {
                    let step = if is_soak() { 1 } else { 151 };
                    let (tried, missed) = flip_bytes(&work, name, kind, step, trees);
                    let mut totals = totals.lock().unwrap();
                    let at = if is_promised(kind) { 0 } else { 2 };
                    totals[at] += tried;
                    totals[at + 1] += tried - missed.len();
                    if is_soak() {
                        eprintln!("{}: {} of {tried} found", name.display(), tried - missed.len());
                    }
                }
            });
        }
    });
    let [tried, found, others, others_found] = totals.into_inner().unwrap();
    eprintln!(
        "flipped bytes: {found} of {tried} found in records, packs and reports; {others_found} of {others} elsewhere"
    );
    assert!(found == tried && tried >= 40, "{found} of {tried}");
}
