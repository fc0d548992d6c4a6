//! Loops as earlier versions wrote them, kept in `fixtures/loops/format-N/`: each still loads, verifies to the number, gives
//! back every iteration, and goes on (PROMISES H8). A fixture is never written again: that is its worth.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::support::{Project, answer};

/// The store of a fixture, in a work tree of its own. In the fixture it has no dot, so that git keeps it.
fn opened(format: &str) -> Project {
    let project = Project::new();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/loops").join(format).join("progress");
    let copied = Command::new("cp").arg("-r").arg(from).arg(project.path(".progress")).status().unwrap();
    assert!(copied.success());
    project
}

/// `src/lib.py` of each iteration of the loop `first`.
fn lib(iteration: u32) -> String {
    format!("def one():\n    return {iteration}\n")
}

#[test]
fn a_loop_of_format_1_loads_verifies_and_restores() {
    let project = opened("format-1");
    let log = project.run(&["log", "--loop", "first", "--json"]).expect(0).json();
    assert_eq!(log["iterations"].as_array().unwrap().len(), 4, "{log}");
    for (id, restorable) in [("first", json!([0, 1, 2, 3])), ("second", json!([0, 1]))] {
        let verified = project.run(&["verify", "--json", "--loop", id]).expect(0).json();
        assert_eq!((&verified["findings"], &verified["restorable"]), (&json!([]), &restorable), "{id}");
        // A later version may judge otherwise. What it reads and counts is what was read and counted then.
        let recomputed = project.run(&["verify", "--recompute", "--json", "--loop", id]).json();
        let mut findings = recomputed["findings"].as_array().unwrap().iter().map(|one| one["fault"].as_str().unwrap());
        assert!(findings.all(|fault| fault.starts_with("judged again")), "{id}: {recomputed}");
    }
    // The head as it was printed then: not a byte of the history was changed since.
    let head = std::fs::read_to_string(fixture("format-1").join("head")).unwrap();
    project.run(&["verify", "--loop", "first", "--head", head.trim()]).expect(0);
    for n in 0..4 {
        let into = format!("into-{n}");
        project.run(&["restore", &n.to_string(), "--loop", "first", "--into", &into]).expect(0);
        assert_eq!(project.read(&format!("{into}/src/lib.py")), lib(n));
        assert_eq!(std::fs::read_link(project.path(&format!("{into}/link"))).unwrap(), Path::new("src/lib.py"));
        assert!(project.path(&format!("{into}/empty")).is_dir());
        assert_eq!(project.exists(&format!("{into}/run")), n > 0);
    }
    for command in [&["report", "selection", "--loop", "first"][..], &["report", "2", "--loop", "first"], &["loops"]] {
        project.run(command).expect(0);
    }
}

#[test]
fn a_loop_of_format_1_goes_on() {
    let project = opened("format-1");
    // The newest restore of the old store was the end of `first`; its work is still to be had.
    project.run(&["restore", "1", "--loop", "second"]).expect(0);
    project.run(&["undo"]).expect(0);
    project.tests(&[("a", true), ("b", true), ("c", true)]);
    assert_eq!(project.run(&["record", "--loop", "second", "--json"]).expect(0).json()["iteration"], 2);
    project.run(&["begin", "--loop", "third"]).expect(0);
    project.run(&["prune"]).expect(0);
    for id in ["first", "second", "third"] {
        project.run(&["verify", "--loop", id]).expect(0);
    }
}

fn fixture(format: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/loops").join(format)
}

// A new format gets a fixture of its own, made by the commands that this test runs, and never made again.
#[test]
fn the_newest_format_has_a_loop() {
    let newest = format!("format-{}", highwater::model::SCHEMA_VERSION);
    if fixture(&newest).is_dir() {
        return;
    }
    let project = Project::new();
    let all = [("a", true), ("b", true), ("c", true), ("d", true)];
    std::fs::create_dir(project.path("empty")).unwrap();
    std::os::unix::fs::symlink("src/lib.py", project.path("link")).unwrap();
    for n in 0..4u32 {
        project.write("src/lib.py", lib(n));
        if n == 1 {
            project.write("run", "#!/bin/sh\n");
        }
        if n == 2 {
            project.run(&["restore", "0", "--loop", "first"]).expect(0);
            project.run(&["undo"]).expect(0);
            project.write("src/lib.py", lib(n));
        }
        project.tests(if n == 3 { &all[..1] } else { &all[..2 + n as usize] });
        project.coverage(5 + n);
        project.run(if n == 0 { &["begin", "--loop", "first"] } else { &["record", "--loop", "first"] }).expect(0);
    }
    project.run(&["accept", "--loop", "first", "--reason", "meant", "test_count_decreased"]).expect(0);
    let verified = project.run(&["verify", "--loop", "first", "--json"]).expect(0).json();
    project.run(&["finish", "--loop", "first"]).expect(0);
    project.tests(&all[..2]);
    project.run(&["begin", "--loop", "second"]).expect(0);
    project.tests(&all[..3]);
    project.run(&["record", "--loop", "second"]).expect(0);
    std::fs::create_dir_all(fixture(&newest)).unwrap();
    let made =
        Command::new("cp").arg("-r").arg(project.path(".progress")).arg(fixture(&newest).join("progress")).output();
    answer(&made.unwrap()).expect(0);
    for name in [".gitignore", "lock", "first/lock", "second/lock", "cache/stat"] {
        let _ = std::fs::remove_file(fixture(&newest).join("progress").join(name));
    }
    let head = format!("{}:{}\n", verified["head_iteration"], verified["head"].as_str().unwrap());
    std::fs::write(fixture(&newest).join("head"), head).unwrap();
    panic!("format {newest} had no loop; one was made: read it, and keep it as it is");
}
