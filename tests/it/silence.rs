//! Linters that print nothing where they find nothing, in what a command prints: zero where that is known, never else.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::support::Project;

/// A linter that prints what is in `NAME.txt`, and fails if there is anything.
const LINTER: &str = "#!/bin/sh\nname=$(basename \"$0\")\ncat \"$name.txt\"\ntest ! -s \"$name.txt\"\n";

/// A project in which `bin/tsc`, `bin/eslint`, `bin/ty` and `bin/tests` print what these tools print.
fn project() -> Project {
    let project = Project::new();
    for name in ["tsc", "eslint", "tests"] {
        program(&project, name, LINTER);
        project.write(&format!("{name}.txt"), "");
    }
    project.write("tests.txt", "");
    program(&project, "tests", "#!/bin/sh\ncat tests.txt\n! grep -q failed tests.txt\n");
    project
}

fn program(project: &Project, name: &str, text: &str) {
    let path = format!("bin/{name}");
    project.write(&path, text);
    std::fs::set_permissions(project.path(&path), std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn fixture(name: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/reports").join(name);
    std::fs::read_to_string(path).unwrap()
}

fn findings(project: &Project, tool: &str) {
    project.write(&format!("{tool}.txt"), fixture(&format!("{tool}-text/good.txt")));
}

fn tests(project: &Project, text: &str) {
    project.write("tests.txt", format!("============ {text} in 0.12s ============\n"));
}

/// The record of an iteration that is measured by the command.
fn record(project: &Project, command: &[&str]) -> Value {
    let verb = if project.exists(".progress/loop-001") { "record" } else { "begin" };
    let answer = project.run(&[&[verb, "--json", "--"], command].concat());
    assert!(matches!(answer.code, 0 | 10..=13), "{answer:?}");
    answer.json()
}

/// What a record tells of a format: how many findings, since when it is silent, and why it has no figures.
fn told(record: &Value, format: &str) -> (Option<u64>, Option<u64>, Option<String>) {
    let sources = record["sources"].as_array().unwrap();
    let Some(source) = sources.iter().find(|source| source["format"] == format) else { return (None, None, None) };
    let code = source["error"]["code"].as_str().map(ToOwned::to_owned);
    (source["figures"]["total"].as_u64(), source["silence"]["since"].as_u64(), code)
}

fn has_disappeared(record: &Value) -> bool {
    record["alerts"].as_array().unwrap().iter().any(|alert| alert["rule"] == "metric_disappeared")
}

fn clean_since(iteration: u64) -> (Option<u64>, Option<u64>, Option<String>) {
    (Some(0), Some(iteration), None)
}

fn unknown_since(iteration: u64) -> (Option<u64>, Option<u64>, Option<String>) {
    (None, Some(iteration), Some("silent".to_owned()))
}

#[test]
fn a_command_that_fails_by_its_linter_alone_and_then_does_not_has_a_clean_linter() {
    let project = project();
    findings(&project, "tsc");
    tests(&project, "3 passed");
    let command = ["sh", "-c", "bin/tests; bin/tsc"];
    let first = record(&project, &command);
    assert!(told(&first, "tsc-text").0 > Some(0) && first["metrics"]["quality"]["type_errors"].as_u64() > Some(0));
    project.write("tsc.txt", "");
    for _ in 0..2 {
        let clean = record(&project, &command);
        assert_eq!(told(&clean, "tsc-text"), clean_since(0));
        assert_eq!(clean["metrics"]["quality"]["type_errors"], 0);
        assert!(!has_disappeared(&clean), "{clean}");
        tests(&project, "4 passed");
    }
    findings(&project, "tsc");
    assert_eq!(told(&record(&project, &command), "tsc-text").1, None);
    project.run(&["verify", "--recompute"]).expect(0);
    // Another command is no witness.
    project.write("tsc.txt", "");
    assert_eq!(told(&record(&project, &["sh", "-c", "bin/tsc"]), "tsc-text"), (None, None, None));
}

#[test]
fn a_command_that_says_nothing_new_and_does_not_fail_has_clean_linters() {
    let project = project();
    project.write("bin/both.sh", "echo '> lint 1.0.0'\nbin/tsc\nbin/eslint\necho 'Done in 1.32s.'\n");
    findings(&project, "tsc");
    findings(&project, "eslint");
    let command = ["sh", "bin/both.sh"];
    record(&project, &command);
    for tool in ["tsc", "eslint"] {
        project.write(&format!("{tool}.txt"), "");
    }
    let clean = record(&project, &command);
    assert_eq!((told(&clean, "tsc-text"), told(&clean, "eslint-text")), (clean_since(0), clean_since(0)));
    // It could not be started: that is something new, and the command does not fail by it.
    std::fs::remove_file(project.path("bin/tsc")).unwrap();
    let broken = record(&project, &command);
    assert_eq!(told(&broken, "tsc-text"), unknown_since(0));
    assert!(has_disappeared(&broken), "{broken}");
}

#[test]
fn a_linter_that_lets_the_tests_run_has_passed() {
    let project = project();
    findings(&project, "eslint");
    let command = ["sh", "-c", "bin/eslint && bin/tests"];
    assert_eq!(record(&project, &command)["metrics"]["testing"], Value::Null);
    project.write("eslint.txt", "");
    tests(&project, "1 failed, 3 passed");
    let clean = record(&project, &command);
    assert_eq!((told(&clean, "eslint-text"), clean["command"]["exit_code"].clone()), (clean_since(0), json!(1)));
    // Where the tests ran while it failed, that they run says nothing of it.
    let project = self::project();
    findings(&project, "eslint");
    tests(&project, "1 failed, 3 passed");
    let command = ["sh", "-c", "bin/eslint; bin/tests"];
    record(&project, &command);
    project.write("eslint.txt", "");
    assert_eq!(told(&record(&project, &command), "eslint-text"), unknown_since(0));
}

#[test]
fn a_linter_before_another_in_a_chain_has_passed() {
    let project = project();
    findings(&project, "tsc");
    let command = ["sh", "-c", "bin/tsc && bin/eslint && bin/tests"];
    record(&project, &command);
    project.write("tsc.txt", "");
    findings(&project, "eslint");
    assert_eq!(told(&record(&project, &command), "tsc-text"), clean_since(0));
    project.write("eslint.txt", "");
    tests(&project, "4 passed");
    let both = record(&project, &command);
    assert_eq!((told(&both, "tsc-text"), told(&both, "eslint-text")), (clean_since(0), clean_since(1)));
    // npm prints what its script is.
    let project = self::project();
    findings(&project, "tsc");
    project.write("check.sh", "echo '> bin/tsc && bin/eslint'; bin/tsc && bin/eslint\n");
    record(&project, &["sh", "check.sh"]);
    project.write("tsc.txt", "");
    findings(&project, "eslint");
    assert_eq!(told(&record(&project, &["sh", "check.sh"]), "tsc-text"), clean_since(0));
    // The other way round it has not run at all.
    let project = self::project();
    findings(&project, "tsc");
    let command = ["sh", "-c", "bin/eslint && bin/tsc"];
    record(&project, &command);
    findings(&project, "eslint");
    assert_eq!(told(&record(&project, &command), "tsc-text"), unknown_since(0));
}

#[test]
fn what_go_tests_it_has_compiled_and_vetted() {
    for tested in ["ok  \tx\t0.002s\n", "--- FAIL: TestA (0.00s)\n    a_test.go:3: no\nFAIL\nFAIL\tx\t0.002s\nFAIL\n"] {
        let project = project();
        let unbuilt = "# x\n./a.go:2:32: undefined: y\n./a.go:3:2: unreachable code\nFAIL\tx [build failed]\n";
        project.write("go.txt", format!("{unbuilt}FAIL\n"));
        let command = ["sh", "-c", "cat go.txt; exit 1"];
        record(&project, &command);
        project.write("go.txt", tested);
        let second = record(&project, &command);
        assert_eq!(told(&second, "govet-text"), clean_since(0), "{tested}");
        assert!(!has_disappeared(&second), "there were none before: {second}");
        // Of one package of several that was not built nothing is known.
        let project = self::project();
        project.write("go.txt", format!("{unbuilt}FAIL\n"));
        record(&project, &command);
        project.write("go.txt", format!("FAIL\tx [build failed]\n{}", tested.replace("\tx\t", "\ty\t")));
        assert_eq!(told(&record(&project, &command), "govet-text"), unknown_since(0));
    }
}

#[test]
fn an_interpreter_that_runs_a_script_has_parsed_it() {
    let project = project();
    program(&project, "python3", "#!/bin/sh\ncat \"$1\"\n");
    let tests = "Ran 2 tests in 0.001s\n\nOK\n";
    let error = "  File \"/p/test_a.py\", line 3\n    def f(:\n          ^\nSyntaxError: invalid syntax\n";
    project.write("test_a.py", error);
    let command = ["bin/python3", "test_a.py"];
    record(&project, &command);
    project.write("test_a.py", format!("..\n{}\n{tests}", "-".repeat(70)));
    let second = record(&project, &command);
    assert_eq!(told(&second, "brief-text"), clean_since(0), "{second}");
    assert!(!has_disappeared(&second));
}

#[test]
fn who_takes_the_linter_out_of_the_script_has_not_made_it_clean() {
    let project = project();
    project.write("check.sh", "bin/tsc\n");
    findings(&project, "tsc");
    let command = ["sh", "check.sh"];
    record(&project, &command);
    project.write("check.sh", "true\n");
    let silenced = record(&project, &command);
    assert_eq!(told(&silenced, "tsc-text"), unknown_since(0));
    assert!(has_disappeared(&silenced));
    let shown = project.run(&["show", "1"]).expect(0).stdout;
    assert!(shown.contains("whether it ran cannot be told"), "{shown}");
    project.write("check.sh", "bin/tsc\n");
    project.write("tsc.txt", "");
    assert_eq!(told(&record(&project, &command), "tsc-text"), clean_since(0), "it is as it was again");
}

#[test]
fn what_a_runner_leaves_out_may_be_warnings_of_a_linter_that_passed() {
    let project = project();
    let left_out = "Output of 1 successful task was not shown. Run with --verbose or --output-style=static to see it.";
    project.write(
        "check.sh",
        format!("bin/tsc; tsc=$?; bin/eslint; eslint=$?; echo '{left_out}'; test $tsc$eslint = 00\n"),
    );
    findings(&project, "tsc");
    findings(&project, "eslint");
    let command = ["sh", "check.sh"];
    let first = record(&project, &command);
    assert!(first["metrics"]["quality"]["lint_warnings"].as_u64() > Some(0), "{first}");
    project.write("tsc.txt", "");
    project.write("eslint.txt", "");
    let second = record(&project, &command);
    assert_eq!((told(&second, "tsc-text"), told(&second, "eslint-text")), (clean_since(0), unknown_since(0)));
}

#[test]
fn ty_says_what_ruff_says_and_is_told_by_the_command_or_by_what_it_said_before() {
    let clean = "All checks passed!\n";
    let ty = "#!/bin/sh\ncat ty.txt\n! grep -q Found ty.txt\n";
    for command in [&["bin/ty"][..], &["sh", "check.sh"]] {
        let project = project();
        program(&project, "ty", ty);
        project.write("check.sh", "bin/ty\n");
        findings(&project, "ty");
        assert_eq!(record(&project, command)["metrics"]["quality"]["type_errors"], 4);
        project.write("ty.txt", clean);
        for _ in 0..2 {
            let record = record(&project, command);
            assert_eq!((told(&record, "ty-text").0, told(&record, "ruff-text").0), (Some(0), None), "{command:?}");
            assert_eq!(record["metrics"]["quality"]["type_errors"], 0);
            assert!(!has_disappeared(&record));
        }
        project.run(&["verify", "--recompute"]).expect(0);
    }
    let project = project();
    program(&project, "ty", ty);
    project.write("ty.txt", clean);
    assert_eq!(told(&record(&project, &["bin/ty"]), "ty-text").0, Some(0));
    assert_eq!(told(&record(&project, &["sh", "-c", "bin/ty # ruff"]), "ruff-text").0, Some(0));
}

/// What make did not build again says nothing, whether it was without warnings or not; but it built.
#[test]
fn a_build_that_fails_no_more_has_no_errors() {
    let project = project();
    program(&project, "cc", "#!/bin/sh\ncat cc.txt\n! grep -q error: cc.txt\n");
    let quality = |record: &Value| {
        let quality = &record["metrics"]["quality"];
        ["build_status", "build_errors", "lint_warnings"].map(|key| quality[key].clone())
    };
    project
        .write("cc.txt", "a.c:3:1: error: expected ';'\na.c:5:1: warning: unused variable 'x' [-Wunused-variable]\n");
    let command = ["sh", "-c", "bin/cc && bin/tests"];
    assert_eq!(quality(&record(&project, &command)), [json!("failed"), json!(1), json!(1)]);
    project.write("cc.txt", "a.c:5:1: warning: unused variable 'x' [-Wunused-variable]\n");
    tests(&project, "1 failed, 3 passed");
    let warned = record(&project, &command);
    assert_eq!(quality(&warned), [json!("success"), json!(0), json!(1)]);
    project.write("cc.txt", "");
    tests(&project, "4 passed");
    let built = record(&project, &command);
    assert_eq!(told(&built, "gcc-text"), clean_since(1));
    assert_eq!(quality(&built), [json!("success"), json!(0), json!(0)]);
    assert!(!has_disappeared(&built), "{built}");
    // It fails before the tests, and not by the compiler.
    program(&project, "cc", "#!/bin/sh\necho 'make: *** No rule to make target'\nfalse\n");
    let stopped = record(&project, &command);
    assert_eq!((told(&stopped, "gcc-text"), quality(&stopped)[0].clone()), (unknown_since(1), Value::Null));
    project.run(&["verify", "--recompute"]).expect(0);
}

/// Measured again by a shell, which is another command, nobody knows who is silent.
#[test]
fn the_best_is_verified_though_its_linter_is_silent() {
    let project = project();
    findings(&project, "tsc");
    project.tests(&[("a", true), ("b", true)]);
    project.coverage(8);
    for (report, kept) in [("junit.xml", "tests.kept"), ("coverage.xml", "coverage.kept")] {
        std::fs::rename(project.path(report), project.path(kept)).unwrap();
    }
    project.write("check.sh", "cp tests.kept junit.xml\ncp coverage.kept coverage.xml\nbin/tsc\n");
    let command = ["sh", "check.sh"];
    record(&project, &command);
    project.write("tsc.txt", "");
    assert_eq!(told(&record(&project, &command), "tsc-text"), clean_since(0));
    let finished = project.run(&["finish", "--json", "--verify-cmd", "sh -e check.sh"]).expect(0).json();
    assert_eq!(finished["selection"]["selected"], 1, "{finished}");
}

/// It has written a report as well.
#[test]
fn a_linter_of_which_a_file_tells_is_not_missed() {
    let project = project();
    findings(&project, "eslint");
    tests(&project, "1 failed, 3 passed");
    let command = ["sh", "-c", "bin/eslint; bin/tests"];
    record(&project, &command);
    project.write("eslint.txt", "");
    let report = r#"[{"filePath": "a.js", "messages": [], "errorCount": 0, "warningCount": 0}]"#;
    project.write("bin/eslint", format!("#!/bin/sh\necho '{report}' >eslint-report.json\n"));
    let both = record(&project, &command);
    assert_eq!((told(&both, "eslint-text"), told(&both, "eslint-json").0), ((None, None, None), Some(0)));
    assert_eq!(both["metrics"]["quality"]["errors_by_tool"]["eslint"], 0);
}

/// Of small linters that are told of in one format, one speaks and the other does not.
#[test]
fn one_of_several_linters_of_a_format_is_silent() {
    let project = project();
    program(&project, "isort", "#!/bin/sh\ncat isort.txt\ntest ! -s isort.txt\n");
    program(&project, "black", "#!/bin/sh\ncat black.txt\n! grep -q would black.txt\n");
    let unsorted = "ERROR: a.py Imports are incorrectly sorted and/or formatted.\n";
    let (black, formatted) = ("would reformat a.py\n", "All done! ✨ 🍰 ✨\n1 file left unchanged.\n");
    let by_tool = |record: &Value| record["metrics"]["quality"]["errors_by_tool"].clone();
    for (command, clean) in [("bin/isort && bin/black", true), ("bin/isort; bin/black", false)] {
        project.write("isort.txt", unsorted);
        project.write("black.txt", black);
        let command = ["sh", "-c", command];
        record(&project, &command);
        project.write("isort.txt", "");
        let halfway = record(&project, &command);
        let expected = if clean { json!({"black": 1, "isort": 0}) } else { json!({"black": 1}) };
        assert_eq!(by_tool(&halfway), expected, "{command:?}");
        project.write("black.txt", formatted);
        let both = record(&project, &command);
        let expected = if clean { json!({"black": 0, "isort": 0}) } else { json!({"black": 0}) };
        assert_eq!(by_tool(&both), expected, "{command:?}");
        project.run(&["verify", "--recompute"]).expect(0);
    }
}
