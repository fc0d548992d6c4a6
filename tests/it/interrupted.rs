//! Ctrl-C, and being asked to end: what is said, what stays behind, and what a command that we run may still do (PROMISES A60).

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::support::{Answer, Project, answer, can_trace};

/// A loop of two iterations; the first one is the better.
fn project() -> Project {
    let project = Project::new();
    project.tests(&[("one", true), ("two", true)]);
    project.run(&["begin", "--loop", "l"]).expect(0);
    project.write("src/lib.py", "def one():\n    return 2\n");
    project.tests(&[("one", true), ("two", false)]);
    project.run(&["record"]).expect(0);
    project
}

/// Runs a command line and sends it a signal once `is_time`.
fn interrupted(command: &mut Command, signal: Signal, is_time: impl Fn() -> bool) -> Answer {
    let child = command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let id = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    while !is_time() {
        std::thread::sleep(Duration::from_millis(5));
    }
    kill_process(id, signal).unwrap();
    answer(&child.wait_with_output().unwrap())
}

fn has_name_below(folder: &Path, name: &str) -> bool {
    walkdir::WalkDir::new(folder).into_iter().flatten().any(|entry| entry.file_name() == name)
}

#[test]
fn a_restore_that_is_interrupted_half_way_says_how_to_go_on() {
    if !can_trace() {
        return;
    }
    for (command, signal) in [(&["restore", "0"][..], "TERM"), (&["finish"], "HUP")] {
        let project = project();
        // At the second file; the step after it takes long enough for the signal to be heard.
        // Whoever runs the tests under nohup has hang-ups ignored, and so has what they start.
        let mut traced = Command::new("env");
        traced.args(["--default-signal", "strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=renameat,renameat2"]);
        traced.arg("-e").arg(format!("inject=renameat2:signal={signal}:when=2"));
        traced.args(["-e", "inject=renameat:delay_enter=1000000"]);
        traced.arg(assert_cmd::cargo::cargo_bin!("highwater")).args(command);
        let answer = answer(&traced.env("HIGHWATER_ROOT", project.root()).output().unwrap());
        assert!(answer.code > 128, "{answer:?}");
        assert!(answer.stderr.contains("error: interrupted\n"), "{answer:?}");
        assert!(answer.stderr.contains("`highwater restore --resume` goes on, `--abort` goes back"), "{answer:?}");
        project.run(&["restore", "--abort"]).expect(0);
        assert!(project.read("src/lib.py").contains("return 2"));
    }
}

#[test]
fn a_record_that_is_interrupted_while_it_finishes_a_restore_says_how_to_go_on() {
    if !can_trace() {
        return;
    }
    for command in ["record", "prune"] {
        let project = project();
        let traced = |injected: &[&str], arguments: &[&str]| {
            let mut traced = Command::new("strace");
            traced.args(["-f", "-qq", "-o", "/dev/null", "-e", "trace=renameat,renameat2"]);
            for inject in injected {
                traced.args(["-e", inject]);
            }
            traced.arg(assert_cmd::cargo::cargo_bin!("highwater")).args(arguments);
            answer(&traced.env("HIGHWATER_ROOT", project.root()).output().unwrap())
        };
        traced(&["inject=renameat2:signal=KILL:when=1"], &["restore", "0"]);
        let slow = ["inject=renameat2:signal=TERM:when=1", "inject=renameat:delay_enter=1000000"];
        let answer = traced(&slow, &[command]);
        assert!(answer.code > 128, "{answer:?}");
        assert!(answer.stderr.contains("`highwater restore --resume` goes on, `--abort` goes back"), "{answer:?}");
        project.run(&["restore", "--abort"]).expect(0);
        assert!(project.read("src/lib.py").contains("return 2"));
    }
}

#[test]
fn the_copy_that_is_verified_goes_with_who_made_it() {
    let project = project();
    let copies = tempfile::tempdir().unwrap();
    let mut command = project.command(&["finish", "--verify-cmd", "touch begun && exec sleep 60"]);
    let begun = || has_name_below(copies.path(), "begun");
    let answer = interrupted(command.env("TMPDIR", copies.path()), Signal::TERM, begun);
    assert_eq!(answer.code, 128 + 15, "{answer:?}");
    assert!(answer.stderr.contains("nothing was restored, and the loop is open"), "{answer:?}");
    assert_eq!(std::fs::read_dir(copies.path()).unwrap().count(), 0);
    project.run(&["finish"]).expect(0);
}

#[test]
fn a_command_that_is_interrupted_may_end_in_its_own_way() {
    let project = project();
    let script = "trap 'echo summary; exit 7' TERM; touch begun; while true; do sleep 0.05; done";
    for (words, code, told) in [
        (&["run", "--", "sh", "-c", script][..], 7, "interrupted: nothing was recorded"),
        (&["record", "--", "sh", "-c", script], 128 + 15, "nothing was recorded"),
    ] {
        let _ = std::fs::remove_file(project.path("begun"));
        let answer = interrupted(&mut project.command(words), Signal::TERM, || project.exists("begun"));
        assert_eq!(answer.code, code, "{answer:?}");
        assert!((answer.stdout + &answer.stderr).contains("summary\n"));
        assert!(answer.stderr.contains(told), "{}", answer.stderr);
    }
    let log = project.run(&["log", "--json"]).expect(0).json();
    assert_eq!(log["iterations"].as_array().unwrap().len(), 2, "{log}");
}
