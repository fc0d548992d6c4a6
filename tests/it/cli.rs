//! The command line itself: usage, help, environment, streams. PROMISES A52–A58.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::Stdio;

use crate::support::{Project, answer};

fn begun() -> Project {
    let project = Project::new();
    project.tests(&[("a", true), ("b", false)]);
    project.run(&["begin"]).expect(0);
    project
}

#[test]
fn a52_a_wrong_command_line_is_64() {
    let project = Project::new();
    for arguments in
        [[].as_slice(), &["nonsense"], &["log", "--nonsense"], &["record", "--metric", "x"], &["gate", "a"]]
    {
        let answer = project.run(arguments).expect(64);
        assert!(answer.stdout.is_empty() && !answer.stderr.is_empty(), "{answer:?}");
    }
    let help = project.run(&["--help"]).expect(0);
    assert!(help.stdout.contains("The whole story"), "{help:?}");
    assert!(project.run(&["--version"]).expect(0).stdout.starts_with("highwater "));
    for line in help.stdout.lines() {
        assert!(line.chars().count() <= 120, "{line}");
    }
}

#[test]
fn a53_loop_ids_that_are_none_are_64() {
    let project = begun();
    let long = "x".repeat(300);
    for id in ["..", "a/b", "", "-x", "CON", "objects", "a.", "a ", &long] {
        let choice = format!("--loop={id}");
        project.run(&["status", &choice]).expect(64);
    }
    let mut command = project.command(&["status", "--loop"]);
    let output = command.arg(std::ffi::OsStr::from_bytes(b"\xff\xfe")).output().unwrap();
    answer(&output).expect(64);
    project.run(&["status", "--loop", "absent"]).expect(65);
}

#[test]
fn a54_iterations_that_are_none_are_64_and_those_not_there_65() {
    let project = begun();
    for number in ["-1", "100000000000000000000", "x", "+1"] {
        project.run(&["show", number]).expect(64);
    }
    let absent = project.run(&["show", "17"]).expect(65);
    assert!(absent.stderr.contains("have 0 to 0"), "{absent:?}");
}

#[test]
fn a56_a_closed_or_full_stream_changes_no_result() {
    let project = begun();
    for arguments in [["log"].as_slice(), &["gate"], &["list", "formats"], &["log", "--json"]] {
        let expected = project.run(arguments).code;
        let closed = |close: &str| {
            let mut command = project.shell(&format!(r#"exec "$0" "$@" {close}"#), arguments);
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap().code()
        };
        for close in [">&-", "2>&-", ">&- 2>&-", ">/dev/full", "2>/dev/full"] {
            assert_eq!(closed(close), Some(expected), "{arguments:?} {close}");
        }
    }
    // Half a report in a file is no surprise for later.
    let told = |sink: &str| answer(&project.shell(&format!(r#""$0" report {sink}"#), &[]).output().unwrap()).stderr;
    assert!(told(">/dev/full").contains("standard output did not take"), "{}", told(">/dev/full"));
    assert_eq!([told("| head -c 1 >/dev/null"), told(">/dev/null")], ["", ""]);
    let script = r#""$0" record | head -c 1 >/dev/null; "$0" log --json"#;
    let output = project.shell(script, &[]).output().unwrap();
    assert_eq!(answer(&output).expect(0).json()["iterations"].as_array().unwrap().len(), 2);
}

#[test]
fn a57_places_that_are_no_work_tree_are_65() {
    let project = begun();
    let at = |folder: &std::path::Path| {
        let mut command = project.command(&["status"]);
        command.env_remove("HIGHWATER_ROOT").current_dir(folder);
        answer(&command.output().unwrap())
    };
    at(std::path::Path::new("/")).expect(65);
    at(&project.path(".progress")).expect(65);
    std::fs::create_dir_all(project.path(".git/hooks")).unwrap();
    at(&project.path(".git/hooks")).expect(65);
    let script = r#"mkdir gone && cd gone && rmdir ../gone && exec "$0" status"#;
    let output = project.shell(script, &[]).output().unwrap();
    answer(&output).expect(65);
    // From a folder inside, the work tree is found upward.
    at(&project.path("src")).expect(0);
    // Giving files of a bare repository back would take its branches back; a work tree may lie inside of it.
    for folder in ["bare/objects", "bare/refs/heads", "bare/tree/.git"] {
        std::fs::create_dir_all(project.path(folder)).unwrap();
    }
    project.write("bare/HEAD", "ref: refs/heads/main\n");
    for folder in ["bare", "bare/refs/heads"] {
        let refused = at(&project.path(folder)).expect(65);
        assert!(refused.stderr.contains("a bare git repository"), "{refused:?}");
    }
    assert!(!at(&project.path("bare/tree")).stderr.contains("a bare git repository"));
}

#[test]
fn a58_the_environment_changes_neither_bytes_nor_modes() {
    let modes_and_tree = |umask: &str, bare: bool| {
        let project = Project::new();
        project.tests(&[("a", true), ("b", false)]);
        let environment = if bare { "env -i" } else { "" };
        let script = format!(r#"umask {umask}; exec {environment} "$0" begin --json"#);
        let output = project.shell(&script, &[]).output().unwrap();
        let record = answer(&output).expect(0).json();
        project.tests(&[("a", true)]);
        let accept = "accept --reason meant test_count_decreased";
        let script = format!(r#"umask {umask}; "$0" record > /dev/null; exec {environment} "$0" {accept}"#);
        answer(&project.shell(&script, &[]).output().unwrap()).expect(0);
        for entry in walkdir::WalkDir::new(project.path(".progress")) {
            let entry = entry.unwrap();
            let mode = entry.metadata().unwrap().mode() & 0o777;
            let modes: &[u32] = if entry.file_type().is_dir() { &[0o700] } else { &[0o600, 0o400] };
            assert!(modes.contains(&mode), "umask {umask}: {} has {mode:o}", entry.path().display());
        }
        (record["tree_key"].clone(), record["metrics"].clone(), record["quality_score"].clone())
    };
    let plain = modes_and_tree("022", false);
    assert_eq!(plain, modes_and_tree("000", false));
    assert_eq!(plain, modes_and_tree("777", false));
    assert_eq!(plain, modes_and_tree("022", true));
}

#[test]
fn a59_a_store_that_is_no_directory_of_ours_is_refused_without_a_write() {
    let project = Project::new();
    std::os::unix::fs::symlink("elsewhere", project.path(".progress")).unwrap();
    let link = project.run(&["begin"]).expect(65);
    assert!(link.stderr.contains("symbolic link"), "{link:?}");
    assert!(!project.exists("elsewhere"));
    std::fs::remove_file(project.path(".progress")).unwrap();
    project.write(".progress", "a file");
    project.run(&["begin"]).expect(65);
    assert_eq!(project.read(".progress"), "a file");
}

#[test]
fn a_tree_that_cannot_be_written_is_exit_1_with_the_path() {
    let project = begun();
    let before = project.run(&["log", "--json"]).expect(0).stdout;
    let folder = project.path(".progress/loop-001/progress");
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o500)).unwrap();
    let answer = project.run(&["record"]);
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o700)).unwrap();
    if rustix::process::geteuid().is_root() {
        // Root writes anyway.
        assert_eq!(answer.code, 0);
        return;
    }
    let answer = answer.expect(1);
    assert!(answer.stderr.contains("progress"), "{answer:?}");
    assert_eq!(project.run(&["log", "--json"]).expect(0).stdout, before);
}

#[test]
fn colours_come_only_to_a_terminal() {
    let project = begun();
    for arguments in [["log"].as_slice(), &["status"], &["show", "0"]] {
        assert!(!project.run(arguments).stdout.contains('\x1b'));
    }
}

#[test]
fn what_list_prints_explain_knows() {
    let project = Project::new();
    for what in ["formats", "rules", "detectors", "classes", "actions", "reports", "transcripts", "agents"] {
        let listed = project.run(&["list", what, "--json"]).expect(0).json();
        for member in listed["members"].as_array().unwrap().iter().rev().take(3) {
            project.run(&["explain", member["name"].as_str().unwrap()]).expect(0);
        }
    }
}

#[test]
fn a_command_s_help_tells_what_its_exit_codes_mean() {
    for (command, codes) in [
        ("record", &["0 ", "65 ", "--exit-code"][..]),
        ("gate", &["0 ", "10 ", "11 ", "12 ", "13 "]),
        ("finish", &["0 ", "13 "]),
        ("restore", &["0 ", "1 ", "65 "]),
        ("verify", &["0 ", "65 "]),
    ] {
        let help = Project::new().run(&[command, "--help"]).expect(0).stdout;
        let told = help.split_once("Exit codes: ").unwrap_or_else(|| panic!("{command}: {help}")).1;
        assert!(codes.iter().all(|code| told.contains(code)), "{command}: {told}");
    }
}

#[test]
fn tests_that_are_not_compared_by_name_say_why() {
    let project = Project::new();
    project.tests(&[("a", true)]);
    project.run(&["begin"]).expect(0);
    project.run(&["record"]);
    let diff = project.run(&["diff", "0", "1"]).expect(0);
    assert!(diff.stdout.contains("not compared by name: no test report was read at iteration 1"), "{diff:?}");
}

#[test]
fn more_failures_are_a_regression_where_they_alone_are_told() {
    let project = Project::new();
    let output = |text: &str| project.write("go.txt", text);
    output("ok  \tex\t0.002s\n");
    project.run(&["begin", "--report", "go.txt"]).expect(0);
    output("--- FAIL: TestAdd (0.00s)\n    a_test.go:3: bad\nFAIL\nFAIL\tex\t0.006s\nFAIL\n");
    let record = project.run(&["record", "--report", "go.txt", "--json"]).expect(0).json();
    assert_eq!(record["classification"], "regression");
    assert_eq!(record["metrics"]["testing"]["failing"][0], "ex::TestAdd");
    assert_eq!(record["alerts"][0]["evidence"][0], "did not fail at iteration 0: ex::TestAdd");
    let told = project.run(&["gate", "--json"]).expect(0).json()["for_agent"].as_str().unwrap().to_owned();
    assert!(told.contains("1 failed test (+1)") && told.contains("Failing: ex::TestAdd"), "{told}");
    output("--- FAIL: TestB (0.00s)\n    a_test.go:4: bad\nFAIL\nFAIL\tex\t0.006s\nFAIL\n");
    let record = project.run(&["record", "--report", "go.txt", "--json"]).expect(0).json();
    assert_eq!(record["class_rule"], "R5", "another one fails in its place");
    let diff = project.run(&["diff", "0", "1"]).expect(0).stdout;
    assert!(diff.contains("the report of iteration 0 tells failures alone;"), "{diff}");
    project.run(&["verify", "--recompute"]).expect(0);
}

#[test]
fn every_class_and_recommendation_is_explained() {
    let project = Project::new();
    let explained = |word: &str| project.run(&["explain", word, "--json"]).expect(0).json();
    for word in ["baseline", "forward", "plateau", "regression"] {
        assert_eq!(explained(word)["what"], "class", "{word}");
    }
    for word in ["continue", "stop", "rollback", "escalate", "unmeasured"] {
        assert_eq!(explained(word)["what"], "action", "{word}");
    }
    assert_eq!(explained("plateau")["thresholds"]["classify.band"], 2.0);
    assert_eq!(explained("stalled")["what"], "detector", "its mode is in force");
    let typo = project.run(&["explain", "platau"]).expect(64);
    assert!(typo.stderr.contains("did you mean plateau?"), "{typo:?}");
}

#[test]
fn a_negative_estimate_is_clamped_however_it_is_typed() {
    for typed in [&["--estimate=-5"][..], &["--estimate", "-5"]] {
        let begun = Project::new().run(&[&["begin", "--json"], typed].concat()).expect(0).json();
        assert_eq!(begun["estimate"]["progress_percent"], 0.0, "{typed:?}");
    }
}

#[test]
fn an_agent_is_told_of_one_test_in_the_singular() {
    let project = Project::new();
    project.tests(&[("a", true)]);
    project.run(&["begin"]).expect(0);
    let told = project.run(&["gate", "--json"]).expect(0).json()["for_agent"].as_str().unwrap().to_owned();
    assert!(told.contains("1 test, 1 passed"), "{told}");
}

#[test]
fn a_config_that_is_too_large_says_what_to_do() {
    let project = begun();
    project.write("highwater.yaml", "# ".repeat(1 << 20));
    let error = project.run(&["begin", "--loop", "large"]).expect(65);
    assert!(error.stderr.contains("help: ") && error.stderr.contains("config show"), "{error:?}");
}
