//! The recipes of README, run as they stand. Only the agent, and the project that it works on, are ours: programs that are first
//! on the PATH, and that do what the agent of that name does with its arguments and streams.

use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use crate::support::{Answer, Project, answer};

/// The tests of the project: as many pass as `code` has lines; they fail until there are three.
const TESTS: &str = r#"#!/bin/sh
lines=$(wc -l <code)
{
    echo '<testsuite name="t">'
    for n in 1 2 3; do
        if [ "$n" -le "$lines" ]; then echo "<testcase name='t$n'/>"; else echo "<testcase name='t$n'><failure/></testcase>"; fi
    done
    echo '</testsuite>'
} >junit.xml
[ "$lines" -ge 3 ]
"#;

/// What each start of the agent leaves in `code`: two steps ahead, then a loss.
const WORK: &str = r#"n=$(($(cat "$0.starts" 2>/dev/null || echo 0) + 1))
echo "$n" >"$0.starts"
case $n in 1) echo one >code ;; 2) printf 'one\ntwo\n' >code ;; *) : >code ;; esac
"#;

fn project() -> Project {
    let project = Project::new();
    program(&project, "run-tests", TESTS);
    project.write("code", "");
    project.write("PROMPT.md", "make the tests pass\n");
    project
}

fn program(project: &Project, name: &str, text: &str) {
    project.write(name, text);
    std::fs::set_permissions(project.path(name), std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// The agent of this name, outside the work tree's snapshots.
fn agent(project: &Project, name: &str, text: &str) {
    program(project, &format!(".progress-bin/{name}"), &format!("#!/bin/sh\n{text}"));
    project.write(".gitignore", ".progress-bin\n");
}

/// A recipe's script, without what it says above the first blank line.
fn recipe(name: &str) -> String {
    let path = format!("{}/templates/recipes/{name}.sh", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    text.split_once("\n\n").unwrap().1.to_owned()
}

fn command(project: &Project, program: &str) -> Command {
    let highwater = assert_cmd::cargo::cargo_bin!("highwater").parent().unwrap().to_owned();
    let first = project.path(".progress-bin");
    let path = std::env::join_paths(
        [first, highwater].into_iter().chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    let mut command = Command::new(program);
    command.current_dir(project.root()).env("PATH", path.unwrap()).env("HOME", project.path(".progress-bin"));
    command.env_remove("XDG_CONFIG_HOME");
    for name in ["HIGHWATER_ROOT", "HIGHWATER_CONFIG", "HIGHWATER_LOOP", "CLAUDE_PROJECT_DIR"] {
        command.env_remove(name);
    }
    command
}

fn run(project: &Project, name: &str) -> Answer {
    answer(&command(project, "sh").args(["-c", &recipe(name)]).stdin(Stdio::null()).output().unwrap())
}

fn classes(project: &Project, id: &str) -> Vec<String> {
    let log = project.run(&["log", "--loop", id, "--json"]).expect(0).json();
    let class = |line: &serde_json::Value| line["classification"].as_str().unwrap_or("none").to_owned();
    log["iterations"].as_array().unwrap().iter().map(class).collect()
}

#[test]
fn a_shell_loop_ends_at_the_gate_with_the_best_iteration() {
    let project = project();
    agent(&project, "agent", &format!("{WORK}printf '%s' \"$2\" >\"$0.prompt\"\n"));
    run(&project, "1-shell-loop").expect(0);
    assert_eq!(classes(&project, "demo"), ["baseline", "forward", "forward", "regression"]);
    assert_eq!(project.read("code"), "one\ntwo\n");
    let prompt = project.read(".progress-bin/agent.prompt");
    assert!(prompt.starts_with("make the tests pass\n{") && prompt.contains("\"for_agent\""), "{prompt}");
}

#[test]
fn aider_records_an_iteration_for_each_run_of_its_test_command() {
    let project = project();
    // It edits, runs the test command in a shell, and tries again while that fails, three times at most.
    let edits = "while [ $# -gt 0 ]; do [ \"$1\" = --test-cmd ] && test=$2; shift; done\nfor try in 1 2 3; do\n    \
                 echo line >>code\n    sh -c \"$test\" && break\ndone\n";
    agent(&project, "aider", edits);
    let said = run(&project, "2-aider").expect(0);
    assert_eq!(classes(&project, "aider"), ["baseline", "forward", "forward", "forward"], "{said:?}");
    assert_eq!(project.read("code"), "line\nline\nline\n");
}

#[test]
fn a_loop_that_starts_its_agent_as_a_program_is_measured_from_before_the_agent() {
    let project = project();
    agent(
        &project,
        "real",
        &format!("[ \"$1\" = --version ] && exec echo 2.0.76\n{WORK}cat\necho \"said $*\" >&2\nexit 3\n"),
    );
    program(&project, ".progress-bin/claude", &recipe("3-started-agent"));
    let start = |arguments: &[&str]| {
        let mut claude = command(&project, "claude");
        let prompt = std::fs::File::open(project.path("PROMPT.md")).unwrap();
        answer(&claude.args(arguments).env("AGENT", project.path(".progress-bin/real")).stdin(prompt).output().unwrap())
    };
    assert_eq!(start(&["--version"]).stdout, "2.0.76\n");
    assert!(!project.exists(".progress"), "asking for the version is no iteration");
    // As snarktank/ralph, ralph-claude-code and ralph-orchestrator call it: the prompt on stdin, or as an argument.
    for arguments in [
        ["--dangerously-skip-permissions", "--print"].as_slice(),
        &["--output-format", "json", "--allowedTools", "Write", "Bash(git *)"],
        &["-p", "two words\nand a line"],
    ] {
        let said = start(arguments).expect(3);
        assert_eq!(
            said.stdout, "make the tests pass\n",
            "the agent reads the prompt, and nothing is added to what it says"
        );
        assert_eq!(said.stderr, format!("said {}\n", arguments.join(" ")));
    }
    assert_eq!(classes(&project, "ralph"), ["baseline", "forward", "forward", "regression"]);
    let stopped = start(&["--print"]).expect(1);
    assert_eq!((stopped.stdout.as_str(), project.read(".progress-bin/real.starts").trim()), ("", "3"));
    project.run(&["finish"]).expect(0);
    assert_eq!(project.read("code"), "one\ntwo\n");
}

#[test]
fn the_ralph_plugin_loses_its_state_file_when_the_gate_says_no() {
    let project = project();
    let state = ".claude/ralph-loop.local.md";
    project.write(state, "---\nactive: true\niteration: 4\nmax_iterations: 0\n---\nmake the tests pass\n");
    project.run(&["begin", "--loop", "ralph", "--", "./run-tests"]).expect(0);
    agent(&project, "agent", WORK);
    for (keeps_going, label) in [(true, "turn 4"), (true, "turn 4"), (false, "turn 4")] {
        assert!(command(&project, "agent").status().unwrap().success());
        let said = run(&project, "4-ralph-plugin").expect(0);
        assert_eq!(said.stdout, "", "what a hook prints is read by the agent");
        assert_eq!(project.exists(state), keeps_going);
        let last = (classes(&project, "ralph").len() - 1).to_string();
        assert_eq!(project.run(&["show", &last, "--json"]).expect(0).json()["label"], label);
    }
    run(&project, "4-ralph-plugin").expect(0);
    assert_eq!(classes(&project, "ralph"), ["baseline", "forward", "forward", "regression"], "no loop, no iteration");
}

#[test]
fn experiments_that_do_not_give_the_best_number_are_taken_back() {
    let project = project();
    project.write("program.md", "lower val_bpb\n");
    project.write("train.py", "0.9979\n");
    program(&project, "train", "#!/bin/sh\necho training\nsed 's/^/val_bpb: /' train.py | grep -v crash\n");
    // Better, worse, and a crash that prints no number; each is to find what the one before it left.
    let agent_text = "n=$(($(cat \"$0.starts\" 2>/dev/null || echo 0) + 1))\necho \"$n\" >\"$0.starts\"\n\
                      cat train.py >>\"$0.found\"\ncase $n in 1) echo 0.9932 ;; 2) echo 1.0050 ;; 3) echo crash ;; esac >train.py\n";
    agent(&project, "agent", agent_text);
    let said = run(&project, "5-one-number").expect(0);
    assert_eq!(project.read(".progress-bin/agent.found"), "0.9979\n0.9932\n0.9932\n", "{said:?}");
    assert_eq!(project.read("train.py"), "0.9932\n");
    let selection: serde_json::Value =
        serde_json::from_str(&project.read(".progress/research/selection.json")).unwrap();
    assert_eq!(selection["selected"], 1);
}

#[test]
fn a_step_in_ci_ends_as_its_tests_do_and_writes_the_summary() {
    let project = project();
    let step = |project: &Project| {
        let script = recipe("6-ci-step");
        let summary = project.path(".progress-bin/summary.md");
        let mut shell = command(project, "sh");
        answer(&shell.args(["-c", &script]).env("GITHUB_STEP_SUMMARY", &summary).output().unwrap())
    };
    agent(&project, "unused", "");
    step(&project).expect(1);
    project.write("code", "1\n2\n3\n");
    step(&project).expect(0);
    assert_eq!(classes(&project, "loop-001"), ["baseline", "forward"]);
    assert_eq!(project.read(".progress-bin/summary.md").matches("\n# ").count() + 1, 2);
}

#[test]
fn the_hook_of_pre_commit_holds_a_push_for_a_verdict_and_for_nothing_else() {
    let text = include_str!("../../.pre-commit-hooks.yaml");
    let entry = text.split_once("entry: >-\n").unwrap().1.split_once("  language:").unwrap().0;
    let entry: String = entry.lines().map(|line| format!("{} ", line.trim())).collect();
    let project = Project::new();
    let hook = || command(&project, "sh").args(["-c", &entry]).output().unwrap().status.code();
    assert_eq!(hook(), Some(0), "no store");
    // Its backups are a store without a loop.
    project.run(&["hook", "install", "--agent", "claude"]).expect(0);
    assert!(project.exists(".progress"));
    assert_eq!(hook(), Some(0), "no loop");
    project.tests(&[("a", true), ("b", true)]);
    project.run(&["begin"]).expect(0);
    assert_eq!(hook(), Some(0), "the baseline");
    project.tests(&[("a", true)]);
    project.run(&["record"]).expect(0);
    assert_eq!(hook(), Some(11), "a test is gone");
    project.run(&["finish"]).expect(0);
    assert_eq!(hook(), Some(0), "the loop is closed");
}
