//! The commands, as a person or a hook types them, on work trees with reports.

use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::{Answer, Project, answer, assert_shape, junit};

const ALL: [(&str, bool); 4] = [("a", true), ("b", true), ("c", true), ("d", false)];

/// Baseline with 3 of 4 tests, then all four, then two lost.
fn lossy() -> Project {
    let project = Project::new();
    project.tests(&ALL);
    project.run(&["begin", "--loop", "auth"]).expect(0);
    project.write("src/lib.py", "def one():\n    return 'best'\n");
    project.tests(&[("a", true), ("b", true), ("c", true), ("d", true)]);
    project.run(&["record", "--label", "all pass"]).expect(0);
    project.write("src/lib.py", "def one():\n    return 'worse'\n");
    project.write("notes/new.txt", "made in the last iteration\n");
    project.tests(&[("a", true), ("b", true)]);
    project.run(&["record"]).expect(0);
    project
}

#[test]
fn the_whole_story_gives_the_peak_back() {
    let project = lossy();
    assert_eq!(project.read(".progress/.gitignore"), "*\n");
    let gate = project.run(&["gate", "--json"]).expect(11).json();
    assert_eq!(gate["recommendation"]["action"], "rollback");
    assert_eq!(gate["recommendation"]["target"], 1);
    assert_eq!(gate["best"]["iteration"], 1);
    assert!(gate["for_agent"].as_str().unwrap().contains("test"), "{gate}");

    let log = project.run(&["log", "--json"]).expect(0).json();
    let classes: Vec<&str> =
        log["iterations"].as_array().unwrap().iter().map(|line| line["classification"].as_str().unwrap()).collect();
    assert_eq!(classes, ["baseline", "forward", "regression"]);
    assert!(!log["iterations"][2]["eligible"].as_bool().unwrap());

    let dry = project.run(&["finish", "--dry-run"]).expect(0);
    assert!(dry.stdout.contains("would"), "{dry:?}");
    assert!(project.read("src/lib.py").contains("worse"));

    let finish = project.run(&["finish", "--json"]).expect(0).json();
    assert_eq!(finish["selection"]["selected"], 1);
    assert!(project.read("src/lib.py").contains("best"));
    assert!(!project.exists("notes"), "what came after the peak is gone from the tree");
    assert!(project.read(".progress/auth/reports/output-selection-report.md").contains('#'));
    project.run(&["record", "--loop", "auth"]).expect(65);
    project.run(&["finish", "--loop", "auth"]).expect(65);

    project.run(&["undo"]).expect(0);
    assert!(project.read("src/lib.py").contains("worse"));
    assert_eq!(project.read("notes/new.txt"), "made in the last iteration\n");
    project.run(&["verify", "--loop", "auth", "--recompute"]).expect(0);
}

#[test]
fn after_a_rollback_the_parent_is_the_restored_iteration() {
    let project = lossy();
    project.run(&["restore", "1"]).expect(0);
    project.tests(&[("a", true), ("b", true), ("c", true), ("d", true)]);
    let record = project.run(&["record", "--json"]).expect(0).json();
    assert_eq!(record["parent"], 1);
    assert_eq!(record["classification"], "plateau", "ground that was won back is no progress");
    assert!(record["open_findings"].as_array().unwrap().is_empty(), "the loss is not of this lineage");

    project.run(&["restore", "0"]).expect(0);
    project.run(&["undo"]).expect(0);
    project.tests(&[("a", true), ("b", true), ("c", true), ("d", true), ("e", true)]);
    assert_eq!(project.run(&["record", "--json"]).expect(0).json()["parent"], 3);

    project.run(&["restore", "0", "src"]).expect(0);
    project.tests(&[("a", true), ("b", true), ("c", true), ("d", true), ("e", true), ("f", true)]);
    assert_eq!(project.run(&["record", "--json"]).expect(0).json()["parent"], 4, "a part of a tree is no rollback");

    // Nor does it make one unsaid, whether it is undone or not.
    for undone in [false, true] {
        project.run(&["restore", "3"]).expect(0);
        project.run(&["restore", "0", "src"]).expect(0);
        if undone {
            project.run(&["undo"]).expect(0);
        }
        project.tests(&ALL);
        let record = project.run(&["record", "--json"]).expect(0).json();
        assert_eq!(record["parent"], 3, "{record:#}");
    }

    project.tests(&ALL);
    assert_eq!(project.run(&["record", "--parent", "1", "--json"]).expect(0).json()["parent"], 1);
    let wrong = project.run(&["record", "--parent", "77"]).expect(65);
    assert!(wrong.stderr.contains("have 0 to 8"), "{wrong:?}");
}

#[test]
fn paths_of_a_restore_are_typed_as_everywhere() {
    let project = Project::new();
    let link = tempfile::tempdir().unwrap();
    let link = link.path().join("link");
    std::os::unix::fs::symlink(project.root(), &link).unwrap();
    let files = ["a", "src/lib.py", "src/below/b"];
    files.iter().for_each(|file| project.write(file, "old\n"));
    project.run(&["begin"]).expect(0);
    files.iter().for_each(|file| project.write(file, "new\n"));
    project.run(&["record"]).expect(0);
    let given_back = |folder: &Path, path: &Path| {
        let mut command = project.command(&["restore", "0", "--dry-run", "--json"]);
        let told = answer(&command.arg(path).current_dir(folder).output().unwrap()).expect(0).json();
        told["restored"].as_array().unwrap().iter().map(|path| path.as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let (root, source) = (project.root().to_owned(), project.path("src"));
    let (all, below) = (vec!["a", "src/below/b", "src/lib.py"], vec!["src/below/b", "src/lib.py"]);
    let is = |folder: &Path, path: &str, expected: &[&str]| {
        assert_eq!(given_back(folder, Path::new(path)), expected, "{path} in {}", folder.display());
    };
    is(&root, ".", &all);
    is(&root, "src/..", &all);
    is(&source, "..", &all);
    is(&source, ".", &below);
    is(&source, "below", &["src/below/b"]);
    is(&source, "../a", &["a"]);
    is(&root, link.to_str().unwrap(), &all);
    is(&root, link.join("src/below").to_str().unwrap(), &["src/below/b"]);
    is(&link.join("src"), "lib.py", &["src/lib.py"]);
    is(Path::new("/"), "src", &below);
    is(Path::new("/"), ".", &all);

    let refused = |path: &str| {
        let told = project.run(&["restore", "0", path]).expect(65);
        assert!(told.stderr.contains("nothing was changed") && !told.stderr.contains("verify"), "{told:?}");
        told.stderr
    };
    assert!(refused(".git").contains("no snapshot holds such a path"));
    refused("src/.GIT/config");
    refused(".progress");
    assert!(refused("..").contains("not in the work tree"));
    refused("/etc");
    assert!(refused("gone").contains("no such path"));
    assert_eq!(project.read("a"), "new\n");

    // All of the tree is no part of it: the next iteration comes from there.
    project.run(&["restore", "0", ".", "src"]).expect(0);
    assert_eq!(project.read("src/below/b"), "old\n");
    assert_eq!(project.run(&["record", "--json"]).expect(0).json()["parent"], 0);
}

#[test]
fn a_restore_of_directories_alone_is_told_and_has_its_way_back() {
    use std::os::unix::fs::PermissionsExt;
    let project = Project::new();
    let set = |mode| std::fs::set_permissions(project.path("src"), std::fs::Permissions::from_mode(mode)).unwrap();
    let mode = || std::fs::metadata(project.path("src")).unwrap().permissions().mode() & 0o777;
    set(0o755);
    project.run(&["begin"]).expect(0);
    set(0o700);
    std::fs::create_dir(project.path("empty")).unwrap();
    project.run(&["record"]).expect(0);
    let dry = project.run(&["restore", "0", "--dry-run"]).expect(0).stdout;
    assert!(dry.starts_with("would be restored") && dry.contains("\n  src\n") && dry.contains("\n  empty\n"), "{dry}");
    let json = project.run(&["restore", "0", "--dry-run", "--json"]).expect(0).json();
    assert_shape("restored", &json);
    assert_eq!((&json["directories_restored"], &json["directories_removed"]), (&json!(["src"]), &json!(["empty"])));
    assert_eq!((mode(), project.exists("empty")), (0o700, true));
    let told = project.run(&["restore", "0"]).expect(0).stdout;
    assert!(!told.contains("nothing was changed") && told.contains("highwater undo"), "{told}");
    assert_eq!((mode(), project.exists("empty")), (0o755, false));
    project.run(&["undo"]).expect(0);
    assert_eq!((mode(), project.exists("empty")), (0o700, true));
    let none = project.run(&["restore", "1"]).expect(0).stdout;
    assert!(none.contains("nothing was changed") && !none.contains("highwater undo"), "{none}");
}

#[test]
fn gate_answers_with_the_exit_code_of_the_recommendation() {
    let project = lossy();
    project.run(&["gate"]).expect(11);
    let again = Project::new();
    again.tests(&ALL);
    again.run(&["begin"]).expect(0);
    again.run(&["gate"]).expect(0);
    again.write("src/lib.py", "pass\n");
    // No report is newer than the baseline: it could not be measured.
    again.run(&["record", "--exit-code"]).expect(13);
    again.run(&["gate"]).expect(13);
    let record = again.run(&["show", "1", "--json"]).expect(0).json();
    assert!(record["metrics"].get("testing").is_none(), "not measured is absent: {record}");
    assert!(record.get("classification").is_none());
}

#[test]
fn a_command_is_run_and_its_output_and_reports_are_read() {
    let project = Project::new();
    project.write("report.xml.in", junit(&ALL));
    let begin = project.run(&[
        "begin",
        "--json",
        "--",
        "sh",
        "-c",
        "cp report.xml.in junit.xml; echo out; echo err >&2; exit 3",
    ]);
    let begin = begin.expect(0);
    assert!(begin.stderr.contains("out\n") && begin.stderr.contains("err\n"), "{begin:?}");
    let record = begin.json();
    assert_eq!(record["command"]["exit_code"], 3);
    assert_eq!(record["metrics"]["testing"]["test_count"], 4);
    assert_eq!(record["metrics"]["testing"]["tests_passed"], 3);
    // A report that the command did not write is older than it.
    let record = project.run(&["record", "--json", "--", "true"]).expect(0).json();
    assert_eq!(record["sources"][0]["stale"], true);
    assert!(record["metrics"].get("testing").is_none());
    let killed = project.run(&["record", "--json", "--", "sh", "-c", "kill -9 $$"]).expect(0).json();
    assert_eq!(killed["command"]["exit_code"], 137);
    let absent = project.run(&["record", "--", "no-such-program-here"]).expect(65);
    assert!(absent.stderr.contains("cannot run no-such-program-here"), "{absent:?}");
}

#[test]
fn a_report_is_found_where_the_command_says_that_it_writes_it() {
    let project = Project::new();
    project.write("made.xml", junit(&ALL));
    project.write("in.xml", junit(&ALL[..2]));
    let run = |command: &str, script: &str| {
        let record = project.run(&[command, "--json", "--", "sh", "-c", script]).expect(0).json();
        let source = record["sources"][0].clone();
        let tests = record["metrics"]["testing"]["test_count"].clone();
        (source["path"].clone(), source["stale"].clone(), tests, record["metrics"]["codebase"]["file_count"].clone())
    };
    let none = (Value::Null, Value::Null, Value::Null);
    let one = |tests: u64, files: u64| (json!("out/r.xml"), json!(false), json!(tests), json!(files));
    let with = |(path, stale, tests): (Value, Value, Value), files: u64| (path, stale, tests, json!(files));
    // What it only reads is older than it; what tee writes was printed; elsewhere nobody looks.
    assert_eq!(run("begin", "grep -c . in.xml; tee t.xml <made.xml | wc; cp made.xml hid''den.xml"), with(none, 5));
    assert_eq!(run("record", "mkdir -p out; : --junitxml=out/r.xml; cp made.xml out/r.xml"), one(4, 5));
    // npm prints the script that names it.
    project.write("test.sh", "echo '> tool --out=json:out/r.xml'; cp in.xml out/r.xml\n");
    assert_eq!(run("record", "sh test.sh"), one(2, 6));
    // It did not come to that: what is there is old, and still no code.
    let old = (json!("out/r.xml"), json!(true), Value::Null);
    assert_eq!(run("record", "false --junitxml out/r.xml"), with(old, 6));
    project.write("highwater.yaml", "reports:\n  globs: ['!out/**']\n");
    let left_out = ["begin", "--loop", "other", "--json", "--", "sh", "-c", "cat made.xml > out/r.xml"];
    assert_eq!(project.run(&left_out).expect(0).json()["sources"], json!([]));
    project.run(&["verify", "--recompute"]).expect(0);
}

// N1: of `pytest -qq` nothing but the command's end says that all of it is there.
#[test]
fn a_run_without_a_summary_counts_where_its_command_ended_by_itself() {
    let project = Project::new();
    project.write("said.txt", include_str!("../../fixtures/reports/pytest-text/no-summary.txt"));
    let said = |then: &str| format!("cat said.txt; {then}");
    let tests = |words: &[&str]| project.run(words).json()["metrics"]["testing"]["test_count"].clone();
    // One test has two outcomes: it failed when it was torn down, too.
    assert_eq!(tests(&["begin", "--json", "--", "sh", "-c", &said("exit 1")]), 83);
    for ended in ["exit 124", "kill -9 $$"] {
        assert_eq!(tests(&["record", "--json", "--", "sh", "-c", &said(ended)]), Value::Null, "{ended}");
    }
    assert_eq!(tests(&["record", "--json", "--", "sh", "-c", &said("true")]), 83);
    project.run(&["verify", "--recompute"]).expect(0);
    let file = project.run(&["inspect", "said.txt"]).expect(65);
    assert!(file.stderr.contains("no summary, as with -qq"), "{file:?}");
}

#[test]
fn a_command_that_fails_for_what_no_report_tells_is_mentioned() {
    let run = |green: &str, then: &str| {
        let project = Project::new();
        project.write("said.txt", green);
        let script = format!("cat said.txt; {then}");
        let record = project.run(&["begin", "--json", "--", "sh", "-c", &script]).expect(0).json();
        let text = project.run(&["record", "--", "sh", "-c", &script]).expect(0).stdout;
        let gate = project.run(&["gate", "--json"]).json();
        let told = gate["for_agent"].as_str().unwrap().contains("and no report tells why.");
        assert_eq!(text.contains("the command ended with exit code"), told, "{gate}");
        (record["warnings"].clone(), told)
    };
    let green = "collected 2 items\n\na.py ..    [100%]\n\n============ 2 passed in 0.11s ============\n";
    let tox = format!("{green}py: OK ✔ in 0.7 seconds\n  broken: FAIL code 1 (0.89 seconds)\n  evaluation failed :(\n");
    let warning = "the command ended with exit code 1, and nothing that was read tells of a failure or a finding";
    assert_eq!(run(&tox, "exit 1"), (json!([warning]), true));
    assert_eq!(run(green, "kill -9 $$").0, json!([warning.replace("code 1", "code 137")]));
    let none = (Value::Null, false);
    assert_eq!(run(green, "true"), none);
    // Each of them tells why, and so does what cannot be read.
    let red = "collected 2 items\n\na.py .F    [100%]\n\n======= 1 failed, 1 passed in 0.11s =======\n";
    let warned = format!("{green}src/a.js\n  1:1  warning  no  no-eval\n\n✖ 1 problem (0 errors, 1 warning)\n");
    assert_eq!(run(red, "exit 1"), none);
    assert_eq!(run(&warned, "exit 1"), none);
    assert_eq!(run("hello\n", "true"), none);
    let warning = "the command ended with exit code 1, and no report was read";
    assert_eq!(run("hello\n", "exit 1"), (json!([warning]), true));
}

#[test]
fn one_run_told_by_file_and_console_counts_once() {
    let project = Project::new();
    let console = "============================= test session starts ==============================\n\
                   collected 4 items\n\ntests/unit.py ...F                                    [100%]\n\n\
                   =========================== short test summary info ============================\n\
                   FAILED tests/unit.py::d - assert 1 == 2\n\
                   ========================= 1 failed, 3 passed in 0.10s ==========================\n";
    project.write("console.txt.in", console);
    project.write("report.xml.in", junit(&ALL));
    let script = "cp report.xml.in junit.xml; cat console.txt.in; exit 1";
    let record = project.run(&["begin", "--json", "--", "sh", "-c", script]).expect(0).json();
    assert_eq!(record["metrics"]["testing"]["test_count"], 4, "{record:#}");
    assert_eq!(record["sources"].as_array().unwrap().len(), 2);
    assert_eq!(record["sources"][1]["path"], "(console)");
    assert_eq!(record["sources"][1]["same_run_as"], "junit.xml");
}

#[test]
fn a_report_that_turns_clean_is_what_it_was_before() {
    let found = r#"[{"code":"F401","filename":"a.py","location":{"row":1,"column":8},"message":"`os` imported but unused","end_location":{"row":1,"column":10},"fix":null,"noqa_row":1,"url":null,"cell":null}]"#;
    let named = ["--report", "flake8.txt", "--report", "ruff.json"];
    for discovers in [true, false] {
        let project = Project::new();
        let record = |command: &str, ruff: &str, flake8: &str| {
            project.write("ruff.json", ruff);
            project.write("flake8.txt", flake8);
            let named: &[&str] = if discovers { &[] } else { &named };
            project.run(&[&[command, "--json"], named].concat()).expect(0).json()
        };
        let begin = record("begin", found, "a.py:1:1: F401 'os' imported but unused\n");
        assert_eq!(begin["metrics"]["quality"]["lint_errors"], if discovers { 1 } else { 2 }, "{begin:#}");
        for clean in ["[]\n", "[]"] {
            let now = record("record", clean, "");
            assert_eq!(now["metrics"]["quality"]["lint_errors"], 0, "{now:#}");
            assert!(now["sources"].as_array().unwrap().iter().all(|source| source["warnings"].is_array()), "{now:#}");
        }
        project.run(&["verify", "--recompute"]).expect(0);
    }
    // mypy writes an empty line; the baseline is not refused for it, and what it means is known once it found something.
    let project = Project::new();
    let record = |command: &str, mypy: &str| {
        project.write("mypy.json", mypy);
        let told = project.run(&[command, "--json"]).expect(0).json();
        told["metrics"]["quality"]["type_errors"].as_u64()
    };
    let finding = include_str!("../../fixtures/reports/mypy-json/good.jsonl");
    assert_eq!(record("begin", "\n"), None);
    assert_eq!(record("record", ""), None);
    assert!(record("record", finding) > Some(0));
    assert_eq!([record("record", "\n"), record("record", "")], [Some(0), Some(0)]);
    project.run(&["verify", "--recompute"]).expect(0);
    // Nor is an empty one that was named, or is no such tool's.
    for (name, named) in [("mypy.json", true), ("eslint.json", false)] {
        let project = Project::new();
        project.write(name, "");
        let named: &[&str] = if named { &["--report", name] } else { &[] };
        project.run(&[&["begin"], named].concat()).expect(65);
    }
    // An empty list that was nothing before is no report.
    let project = Project::new();
    project.write("ruff.json", "[]\n");
    let begin = project.run(&["begin", "--json"]).expect(0);
    assert!(begin.json()["metrics"].get("quality").is_none());
    assert!(begin.stderr.contains("ruff.json: an empty list"), "{begin:?}");
    // It is no code: when it holds something, no file is gone.
    project.write("ruff.json", found);
    let record = project.run(&["record", "--json"]).expect(0).json();
    assert_eq!(record["alerts"].as_array().map(Vec::len), Some(0), "{record:#}");
    assert_eq!(record["metrics"]["codebase"]["file_count"], begin.json()["metrics"]["codebase"]["file_count"]);
}

#[test]
fn a_report_that_is_named_by_way_of_the_folder_above_is_one_of_the_work_tree() {
    let project = Project::new();
    project.write("sub/deep/a.py", "x = 1\n");
    project.tests(&[("a", true)]);
    for (at, named) in ["../../junit.xml", "../../*.xml"].into_iter().enumerate() {
        let id = format!("l{at}");
        let mut command = project.command(&["begin", "--loop", &id, "--json", "--report", named]);
        command.current_dir(project.path("sub/deep"));
        let told = answer(&command.output().unwrap()).expect(0).json();
        assert_eq!(told["sources"][0]["path"], "junit.xml", "{named}");
        assert_eq!(told["metrics"]["codebase"]["file_count"], 2, "{told:#}");
    }
}

fn shell(project: &Project, script: &str) -> Answer {
    let mut command = std::process::Command::new("sh");
    let output = command.args(["-c", script]).current_dir(project.root()).output().unwrap();
    answer(&output)
}

#[test]
fn run_is_transparent() {
    let project = Project::new();
    project.write("report.xml.in", junit(&ALL));
    let noise = "i=0; while [ $i -lt 200 ]; do echo out $i; echo err $i >&2; i=$((i+1)); done; \
                 printf 'no newline \\001\\377'; cp report.xml.in junit.xml; exit 7";
    project.write("noise.sh", noise);
    let plain = shell(&project, "sh noise.sh");
    let wrapped = project.run(&["run", "--", "sh", "noise.sh"]);
    assert_eq!((plain.code, &plain.stdout), (wrapped.code, &wrapped.stdout));
    let ours = wrapped.stderr.lines().filter(|line| line.starts_with("highwater:")).count();
    let theirs: String =
        wrapped.stderr.lines().filter(|l| !l.starts_with("highwater:")).map(|l| format!("{l}\n")).collect();
    assert_eq!((ours, theirs), (1, plain.stderr));

    // Both streams into one file: the order of the bytes is the command's own.
    let together = |script: &str| {
        let file = std::fs::File::create(project.path("together.txt")).unwrap();
        let mut command = project.command(&["run", "--quiet", "--", "sh", "-c", script]);
        command.stdout(Stdio::from(file.try_clone().unwrap())).stderr(Stdio::from(file));
        assert_eq!(command.status().unwrap().code(), Some(0));
        project.read("together.txt")
    };
    let wrapped = together("i=0; while [ $i -lt 100 ]; do echo o$i; echo e$i >&2; i=$((i+1)); done");
    let expected: String = (0..100).map(|i| format!("o{i}\ne{i}\n")).collect();
    assert_eq!(wrapped, expected);

    assert_eq!(project.run(&["run", "--", "sh", "-c", "kill -15 $$"]).code, 143);
    assert_eq!(project.run(&["run", "--", "no-such-program-here"]).code, 127);
    let log = project.run(&["log", "--json"]).expect(0).json();
    assert_eq!(log["iterations"].as_array().unwrap().len(), 3, "the first run began a loop, the others recorded");
}

#[test]
fn run_hands_on_the_code_whatever_becomes_of_the_record() {
    let project = Project::new();
    project.write(".progress", "not a directory");
    let answer = project.run(&["run", "--", "sh", "-c", "echo still; exit 5"]);
    assert_eq!((answer.code, answer.stdout.as_str()), (5, "still\n"), "{answer:?}");
    assert!(answer.stderr.contains("nothing was recorded"), "{answer:?}");
    let cut = Project::new();
    cut.write("junit.xml", "<testsuites><testsuite");
    let answer = cut.run(&["run", "--", "touch", "junit.xml"]).expect(0);
    let place_and_cause = "(junit.xml:1:13): read as junit, by its content";
    assert!(answer.stderr.contains(place_and_cause), "{answer:?}");
    // `run` takes no --skip itself.
    assert!(answer.stderr.contains("`begin` and `record` take --skip test"), "{answer:?}");
}

#[test]
fn begin_on_a_loop_that_is_there_says_what_can_be_done_with_it() {
    let project = Project::new();
    project.tests(&ALL);
    project.run(&["begin", "--loop", "auth"]).expect(0);
    let open = project.run(&["begin", "--loop", "auth"]).expect(65).stderr;
    assert!(open.contains("`highwater record` adds an iteration"), "{open}");
    project.run(&["finish"]).expect(0);
    let closed = project.run(&["begin", "--loop", "auth"]).expect(65).stderr;
    assert!(closed.contains("it is closed; ") && !closed.contains("`highwater record`"), "{closed}");
}

#[test]
fn config_show_names_the_config_as_it_lies_in_the_work_tree() {
    let project = Project::new();
    project.write("highwater.yaml", "stall: {window: 4}\n");
    let shown = project.run(&["config", "show"]).expect(0).stdout;
    let row = shown.lines().find(|line| line.starts_with("stall.window ")).unwrap();
    assert_eq!(row.split_whitespace().collect::<Vec<_>>(), ["stall.window", "4", "highwater.yaml"]);
    let outside = tempfile::NamedTempFile::new().unwrap();
    let path = outside.path().to_str().unwrap();
    std::fs::write(path, "stall: {window: 5}\n").unwrap();
    let shown = project.run(&["--config", path, "config", "show"]).expect(0).stdout;
    assert!(shown.contains("stall.window") && !shown.contains("highwater.yaml"), "{shown}");
}

#[test]
fn without_room_for_a_copy_a_command_runs_all_the_same_and_its_output_is_no_report() {
    let project = Project::new();
    project.tests(&ALL);
    project.run(&["begin"]).expect(0);
    let nowhere = |arguments: &[&str]| {
        let output = project.command(arguments).env("TMPDIR", project.path("no-such-folder")).output().unwrap();
        crate::support::answer(&output)
    };
    let speak = "echo 'tests/unit.py:1:1: F401 `os` imported but unused'; echo 'Found 1 error.'; exit 5";
    let answer = nowhere(&["run", "--", "sh", "-c", speak]);
    assert_eq!((answer.code, answer.stdout.lines().count()), (5, 2), "{answer:?}");
    assert!(answer.stderr.contains("(console): what the command printed could not be kept whole"), "{answer:?}");
    let record = nowhere(&["record", "--json", "--", "sh", "-c", speak]).json();
    let console = record["sources"].as_array().unwrap().iter().find(|source| source["path"] == "(console)").unwrap();
    assert_eq!(console["error"]["code"], "refused", "{record:#}");
    assert!(record["metrics"].get("code_quality").is_none(), "{record:#}");
}

#[test]
fn an_accepted_loss_is_told_and_closes_the_finding() {
    let project = lossy();
    let wrong = project.run(&["accept", "coverage_regression", "--reason", "x"]).expect(65);
    assert!(wrong.stderr.contains("open are: "), "{wrong:?}");
    let status = project.run(&["status", "--json"]).expect(0).json();
    let open = status["open_findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| finding["alert"]["rule"].as_str().unwrap().to_owned());
    let open: std::collections::BTreeSet<String> = open.collect();
    assert!(open.contains("test_count_decreased"), "{open:?}");
    let mut accept = vec!["accept", "--reason", "merged two tests"];
    accept.extend(open.iter().map(String::as_str));
    assert!(!project.run(&["status"]).expect(0).stdout.contains("merged two tests"));
    project.run(&accept).expect(0);
    let status = project.run(&["status"]).expect(0).stdout;
    assert!(status.contains("accepted, the next record closes it\n"), "{status}");
    assert!(status.contains("test_count_decreased: merged two tests"), "{status}");
    project.tests(&[("a", true), ("b", true), ("z", true)]);
    let record = project.run(&["record", "--json"]).expect(0).json();
    assert_eq!(record["accepted"][0]["reason"], "merged two tests");
    let report = project.read(".progress/auth/reports/iteration-003-report.md");
    assert!(report.contains("merged two tests"), "{report}");
    project.tests(&[("a", true), ("b", true), ("z", true), ("y", true)]);
    let after = project.run(&["record", "--json"]).expect(0).json();
    assert!(after.get("accepted").is_none(), "it is repeated once: {after}");
    assert!(after["open_findings"].as_array().unwrap().is_empty(), "{after:#}");
}

#[test]
fn deleting_a_failing_test_does_not_make_a_peak() {
    let project = Project::new();
    let tests: Vec<(String, bool)> = (0..10).map(|n| (format!("t{n}"), n < 8)).collect();
    let named =
        |count: usize| tests.iter().take(count).map(|(name, passes)| (name.as_str(), *passes)).collect::<Vec<_>>();
    project.tests(&named(10));
    project.run(&["begin"]).expect(0);
    project.tests(&named(8));
    let record = project.run(&["record", "--json"]).expect(0).json();
    let first = project.run(&["show", "0", "--json"]).expect(0).json();
    assert!(record["quality_score"]["total"].as_f64() > first["quality_score"]["total"].as_f64(), "the score rises");
    // One iteration later nothing is lost against the previous one, and still it cannot be the best.
    project.tests(&named(8));
    project.write("src/lib.py", "x = 1\n");
    project.run(&["record"]).expect(0);
    let log = project.run(&["log", "--json"]).expect(0).json();
    assert_eq!(log["best"], 0, "{log:#}");
    let diff = project.run(&["diff", "0", "1", "--json"]).expect(0).json();
    assert_eq!(diff["tests"]["lost"].as_array().unwrap().len(), 2);
}

#[test]
fn nobody_eligible_restores_nothing() {
    let project = Project::new();
    project.run(&["begin"]).expect(0);
    project.write("src/lib.py", "changed\n");
    let finish = project.run(&["finish", "--json"]).expect(13).json();
    assert!(finish["selection"].get("selected").is_none());
    assert_eq!(project.read("src/lib.py"), "changed\n");
    project.run(&["record"]).expect(0);
}

#[test]
fn a_candidate_that_does_not_give_its_figures_again_is_passed_over() {
    let project = Project::new();
    project.write("make.sh", "cp report.in junit.xml\n");
    project.write("report.in", junit(&ALL));
    project.run(&["begin", "--", "sh", "make.sh"]).expect(0);
    // This iteration's figures are not what its own command gives.
    let claimed = [("a", true), ("b", true), ("c", true), ("d", true)];
    project.write("claimed.in", junit(&claimed));
    project.run(&["record", "--", "cp", "claimed.in", "junit.xml"]).expect(0);
    let finish = project.run(&["finish", "--verify-cmd", "sh make.sh", "--json"]).expect(0);
    let answer = finish.json();
    assert_eq!(answer["selection"]["selected"], 0, "{answer:#}");
    assert!(finish.stderr.contains("iteration 1 was passed over"), "{finish:?}");
}

#[test]
fn the_best_are_measured_again_and_the_lucky_one_does_not_lead() {
    let project = Project::new();
    project.write("highwater.yaml", "select: { revalidate: 2, reruns: 2 }\n");
    // The second iteration was lucky once: measured to be compared, all but one of its tests fail.
    let script = "case $PWD in */iteration-*1-*) cp worse.in junit.xml;; *) cp report.in junit.xml;; esac\n";
    project.write("make.sh", script);
    project.write("worse.in", junit(&[("a", true), ("b", false), ("c", false), ("d", false)]));
    project.write("report.in", junit(&ALL));
    project.run(&["begin", "--", "sh", "make.sh"]).expect(0);
    project.write("report.in", junit(&[("a", true), ("b", true), ("c", true), ("d", true)]));
    project.run(&["record", "--", "sh", "make.sh"]).expect(0);
    let unasked = project.run(&["finish", "--dry-run", "--json"]).expect(0);
    assert_eq!(unasked.json()["selection"]["selected"], 1);
    assert!(unasked.stderr.contains("select.revalidate asks for"), "{unasked:?}");

    let finish = project.run(&["finish", "--verify-cmd", "sh make.sh", "--json"]).expect(0).json();
    assert_shape("finish", &finish);
    let selection = &finish["selection"];
    assert_eq!(selection["selected"], 0, "{selection:#}");
    let lucky = &selection["remeasured"][0];
    assert_eq!((&lucky["iteration"], lucky["again"].as_array().unwrap().len()), (&Value::from(1), 2));
    assert_eq!(lucky["recorded"], selection["scores"][1]["quality_score"]);
    assert!(lucky["mean"].as_f64() < selection["remeasured"][1]["mean"].as_f64(), "{selection:#}");
    assert_eq!(selection["remeasured"][1]["optimism"], 0.0);
    let report = project.run(&["report", "selection"]).expect(0).stdout;
    assert!(
        report.contains("## Measured Again") && report.contains("iteration 0 has the best mean quality_score"),
        "{report}"
    );
}

#[test]
fn a_damaged_candidate_that_would_be_measured_again_does_not_lead() {
    let project = Project::new();
    project.write("highwater.yaml", "select: { revalidate: 2 }\n");
    project.write("make.sh", "cp report.in junit.xml\n");
    project.write("report.in", junit(&ALL));
    project.run(&["begin", "--", "sh", "make.sh"]).expect(0);
    let packs = || -> std::collections::BTreeSet<_> {
        std::fs::read_dir(project.path(".progress/objects")).unwrap().map(|entry| entry.unwrap().path()).collect()
    };
    let before = packs();
    project.write("report.in", junit(&[("a", true), ("b", true), ("c", true), ("d", true)]));
    project.run(&["record", "--", "sh", "make.sh"]).expect(0);
    for pack in packs().difference(&before) {
        let bytes: Vec<u8> = std::fs::read(pack).unwrap().iter().map(|byte| !byte).collect();
        crate::support::overwrite(pack, &bytes);
    }
    let finish = project.run(&["finish", "--verify-cmd", "sh make.sh", "--into", "elsewhere", "--json"]).expect(0);
    assert!(finish.stderr.contains("iteration 1 does not lead"), "{finish:?}");
    let selection = &finish.json()["selection"];
    assert_eq!(selection["selected"], 0, "{selection:#}");
    assert_eq!(selection["remeasured"].as_array().unwrap().len(), 1);
}

#[test]
fn the_copy_that_a_candidate_is_verified_in_is_open_to_nobody_else() {
    let project = Project::new();
    project.tests(&[("a", true)]);
    project.run(&["begin"]).expect(0);
    let temporary = tempfile::tempdir().unwrap();
    let mut command = project.command(&["finish", "--dry-run", "--verify-cmd", "ls -ld .. >&2; ls -d src"]);
    let told = answer(&command.env("TMPDIR", temporary.path()).output().unwrap());
    let (above, _) = told.stderr.split_once(' ').unwrap();
    assert!(above.starts_with("drwx------") && told.stderr.contains("src"), "{told:?}");
    assert_eq!(std::fs::read_dir(temporary.path()).unwrap().count(), 0, "it goes with the command");
}

#[test]
fn reports_that_are_inspected_together_are_told_in_the_order_given() {
    let project = Project::new();
    for number in 1..=9 {
        let large = 1 + 2_000 * usize::from(number % 4 == 1);
        project.write(
            &format!("{number}.xml"),
            format!("<testsuite>{}</testsuite>", "<testcase/>".repeat(number * large)),
        );
    }
    project.write("2.xml", "<testsuite>");
    let files = ["1.xml", "2.xml", "3.xml", "-", "4.xml", "5.xml", "6.xml", "7.xml", "8.xml", "9.xml", "-"];
    let answer = project.run_with(&[&["inspect", "--json"], &files[..]].concat(), "<testsuite/>").expect(65);
    let told: Vec<Value> = answer.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let names: Vec<&str> = told.iter().filter_map(|one| one["file"].as_str()).collect();
    assert_eq!(names, files);
    let tests: Vec<Option<u64>> = told.iter().map(|one| one["figures"]["tests"].as_u64()).collect();
    let large = 2_001;
    let expected =
        [Some(large), None, Some(3), Some(0), Some(4), Some(5 * large), Some(6), Some(7), Some(8), Some(9 * large)];
    assert_eq!(tests, [&expected[..], &[None]].concat(), "{answer:?}");
    let page = project.run(&["inspect", "3.xml", "2.xml", "4.xml"]).expect(65);
    assert!(page.stdout.find("3.xml") < page.stdout.find("4.xml") && page.stderr.contains("2.xml"), "{page:?}");
}

#[test]
fn a_file_that_cannot_be_read_keeps_no_other_from_being_inspected() {
    let project = Project::new();
    project.tests(&[("a", true)]);
    let files = ["gone.xml", "junit.xml", "src", "junit.xml/below"];
    let answer = project.run(&[&["inspect", "--json"], &files[..]].concat()).expect(65);
    let told: Vec<Value> = answer.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    told.iter().for_each(|one| assert_shape("inspected", one));
    let names: Vec<&str> = told.iter().filter_map(|one| one["file"].as_str()).collect();
    assert_eq!(names, files);
    let codes: Vec<&str> = told.iter().map(|one| one["error"]["code"].as_str().unwrap_or("none")).collect();
    assert_eq!(codes, ["refused", "none", "refused", "refused"]);
    assert_eq!(told[0]["error"]["message"], "no such report");
    assert!(told[0]["error"]["help"].as_str().unwrap().contains("was the tool run"), "{}", told[0]);
    assert_eq!((&told[0]["figures"], &told[1]["figures"]["tests"]), (&Value::Null, &json!(1)));
    let page = project.run(&["inspect", "gone.xml", "junit.xml"]).expect(65);
    assert!(page.stderr.contains("gone.xml") && page.stdout.contains("junit.xml"), "{page:?}");
}

/// `make check 2>&1 | highwater record --report -`.
#[test]
fn every_tool_that_speaks_in_a_pipe_is_read() {
    let project = Project::new();
    project.run(&["begin"]).expect(0);
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/reports");
    let capture = |path: &str| std::fs::read_to_string(fixtures.join(path)).unwrap();
    let told = |arguments: &[&str], input: &str| {
        let record = project.run_with(&[&["record", "--json"], arguments].concat(), input).expect(0).json();
        let sources = record["sources"].as_array().unwrap().iter();
        sources
            .map(|one| format!("{} {}", one["path"].as_str().unwrap(), one["format"].as_str().unwrap_or("-")))
            .collect()
    };
    let said = |input: &str| -> Vec<String> { told(&["--report", "-"], input) };
    let (ruff, pytest) = (capture("ruff-text/good.txt"), capture("pytest-text/good.txt"));
    let checkstyle = capture("checkstyle/good.xml");
    assert_eq!(said(&format!("{ruff}{pytest}")), ["(stdin) pytest-text", "(stdin) ruff-text"]);
    assert_eq!(said(&format!("> lint\n{checkstyle}\nbye\n")), ["(stdin) checkstyle"]);
    assert_eq!(said(&pytest), ["- pytest-text"], "one report is read as its file is");
    assert_eq!(said(&checkstyle), ["- checkstyle"]);
    let cut = project.run_with(&["record", "--report", "-"], &capture("checkstyle/truncated.xml")).expect(65);
    assert!(cut.stderr.contains("-:9"), "{cut:?}");
    assert_eq!(told(&["--report", "pytest-text:-"], &format!("{ruff}{pytest}")), ["- pytest-text"]);
    let both = ["--report", "-", "--", "echo", "14 passed, 1 failed"];
    assert_eq!(told(&both, &format!("> lint\n{checkstyle}")), ["(stdin) checkstyle", "(console) brief-test-text"]);
    project.run(&["verify", "--recompute"]).expect(0);
}

#[test]
fn every_screen_fits_its_width() {
    let project = lossy();
    for width in ["60", "80", "100", "140"] {
        for arguments in [
            ["log"].as_slice(),
            &["status"],
            &["show", "2"],
            &["diff", "1", "2"],
            &["list", "formats"],
            &["config", "show"],
        ] {
            let output = project.command(arguments).env("COLUMNS", width).output().unwrap();
            let text = answer(&output).expect(0).stdout;
            let limit: usize = width.parse().unwrap();
            for line in text.lines() {
                assert!(line.chars().count() <= limit, "{arguments:?} at {width}: {line:?}");
            }
        }
    }
}

#[test]
fn reports_are_written_for_reviewers() {
    let project = lossy();
    for what in ["0", "2", "selection", "summary"] {
        let text = project.run(&["report", what]).expect(0).stdout;
        assert!(text.starts_with('#'), "{what}: {text}");
    }
    assert_eq!(project.run(&["report", "2"]).stdout, project.read(".progress/auth/reports/iteration-002-report.md"));
    project.run(&["report", "2", "-o", "out.md"]).expect(0);
    assert!(project.read("out.md").contains("Iteration"));
    project.run(&["report", "nothing"]).expect(64);
    project.run(&["report", "9"]).expect(65);
}

#[test]
fn the_demo_restores_the_peak() {
    let project = Project::new();
    let demo = project.run(&["demo", "--json", "--keep", "demo"]).expect(0).json();
    assert_shape("demo", &demo);
    assert_eq!(demo["selection"]["selected"], 8);
    assert_eq!(demo["peak_tree"], demo["restored_tree"]);
    assert_eq!(demo["selection"]["degradation"]["pattern"], "over_refinement");
    let full = project.run(&["demo", "--keep", "demo"]).expect(65);
    assert!(full.stderr.contains("not empty"), "{full:?}");
    // What is to be pasted into a shell is words for one.
    let spaced = project.run(&["demo", "--keep", "a demo"]).expect(0);
    let line = spaced.stdout.lines().find(|line| line.trim_start().starts_with("cd ")).unwrap();
    let went = project.shell(&format!("{line} && pwd"), &[]).output().unwrap();
    assert!(String::from_utf8_lossy(&went.stdout).trim_end().ends_with("/a demo/work"), "{line}: {went:?}");
}
