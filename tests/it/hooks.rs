//! Agents' hooks from outside: what they are answered, and that nothing of ours ever reaches the agent otherwise.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use highwater::disk::layout::Layout;
use highwater::disk::lock::Lock;
use highwater::integrations::AGENTS;
use serde_json::{Value, json};

use crate::support::work::{copy, in_memory};
use crate::support::{Answer, Project, answer, assert_shape, is_soak, make_fifo};

/// One end of a turn of Claude Code in `project`.
fn stop(project: &Project, said: &str, active: bool) -> Answer {
    let payload = json!({
        "session_id": "s1", "prompt_id": "p1", "cwd": project.root(), "hook_event_name": "Stop",
        "transcript_path": project.path("transcript.jsonl"), "stop_hook_active": active, "last_assistant_message": said,
        "background_tasks": [],
    });
    hook(project, "claude", &payload)
}

/// These tests may themselves be run by an agent.
fn without_surroundings(command: &mut Command) {
    for name in ["HIGHWATER_ROOT", "HIGHWATER_CONFIG", "HIGHWATER_LOOP"] {
        command.env_remove(name);
    }
    AGENTS.iter().filter_map(|agent| agent.project).for_each(|name| {
        command.env_remove(name);
    });
}

/// One event of an agent.
fn hook(project: &Project, agent: &str, payload: &Value) -> Answer {
    hook_with(project, agent, payload, |_| {})
}

/// The same, with an environment of its own.
fn hook_with(project: &Project, agent: &str, payload: &Value, set: impl FnOnce(&mut Command)) -> Answer {
    // What the agent itself would write meanwhile.
    let log = std::fs::read_to_string(project.path("transcript.jsonl")).unwrap_or_default();
    project.write("transcript.jsonl", format!("{log}{{}}\n"));
    let mut command = project.command(&["hook", "run", "--agent", agent]);
    without_surroundings(&mut command);
    set(&mut command);
    let mut child =
        command.current_dir("/").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    serde_json::to_writer(child.stdin.take().unwrap(), payload).unwrap();
    let answer = answer(&child.wait_with_output().unwrap());
    assert_eq!((answer.code, answer.stderr.as_str()), (0, ""), "{answer:?}");
    answer
}

fn iterations(project: &Project) -> usize {
    let log = project.run(&["log", "--json"]).expect(0).json();
    log["iterations"].as_array().unwrap().len()
}

const GOOD: &[(&str, bool)] = &[("a", true), ("b", true), ("c", true), ("d", true), ("e", true), ("f", true)];
const WORSE: &[(&str, bool)] = &[("a", true)];

/// A project whose policy is this, with a loop of two iterations that the hook recorded by itself.
fn begun(policy: &str) -> Project {
    let project = Project::new();
    project.write(".gitignore", "transcript.jsonl\n");
    project.write("highwater.yaml", format!("hook: {{policy: {policy}}}\nterminate: {{max_rollbacks_per_best: 9}}\n"));
    project.tests(&[("a", true), ("b", false)]);
    assert_eq!(stop(&project, "zero", false).stdout, "");
    project.tests(GOOD);
    assert_eq!(stop(&project, "one", false).stdout, "", "more tests pass");
    assert_eq!(iterations(&project), 2);
    project
}

#[test]
fn to_observe_records_and_changes_nothing() {
    let project = begun("observe");
    project.tests(WORSE);
    let told = stop(&project, "two", false).json();
    let told = told.as_object().unwrap();
    assert_eq!(told.keys().collect::<Vec<_>>(), ["systemMessage"]);
    assert!(told["systemMessage"].as_str().unwrap().contains("Test count decreased from 6 to 1"), "{told:?}");
    assert_eq!(iterations(&project), 3);
    assert!(!project.exists(".progress/loop-001/faults.log") && !project.exists(".progress/.faults.log"));
}

#[test]
fn the_agents_own_log_tells_an_iterations_calls_and_cost() {
    let project = begun("observe");
    let session = format!("{}/fixtures/transcripts/claude-jsonl/good.jsonl", env!("CARGO_MANIFEST_DIR"));
    let log = project.read("transcript.jsonl") + &std::fs::read_to_string(session).unwrap();
    project.write("transcript.jsonl", log);
    project.tests(GOOD);
    stop(&project, "two", false);
    let record = project.run(&["show", "2", "--json"]).expect(0).json();
    assert_eq!(
        (&record["activity"]["tool_calls"], &record["tokens"]),
        (&json!(5), &json!(5 * 1204 + 150)),
        "{record:#}"
    );
    project.tests(GOOD);
    stop(&project, "three", false);
    let record = project.run(&["show", "3", "--json"]).expect(0).json();
    assert_eq!(record["activity"]["tool_calls"], 0, "they are the iteration's before");
}

#[test]
fn a_guard_refuses_with_facts_a_few_times_and_then_ends_the_run() {
    let project = begun("guard");
    project.run(&["log"]).expect(0);
    // A loss a turn, in the same words: what somebody else refused is not counted, and neither are the agent's words.
    for turn in 0..4 {
        let left: Vec<(&str, bool)> = GOOD.iter().copied().take(5 - turn).collect();
        project.tests(&left);
        project.write("src/lib.py", format!("# {turn}\n"));
        let said = stop(&project, "same words", turn > 0).json();
        if turn < 3 {
            assert_eq!(said.as_object().unwrap().keys().collect::<Vec<_>>(), ["decision", "reason"]);
            let reason = said["reason"].as_str().unwrap();
            let head = format!("loop-001 {}:", turn + 2);
            assert!(reason.contains("regression") && reason.contains(&head), "{reason}");
        } else {
            assert_eq!(said["continue"], false, "{said}");
        }
    }
    assert_eq!(std::fs::read_dir(project.path(".progress/loop-001/sessions")).unwrap().count(), 0);
    // The next turn is a new chain.
    project.tests(&GOOD[..1]);
    assert_eq!(stop(&project, "another turn", false).json()["decision"], "block");
}

#[test]
fn to_restore_puts_the_best_back_and_goes_on_below_the_cap() {
    let project = begun("restore");
    let best = project.read("src/lib.py");
    for turn in 0..4 {
        project.tests(WORSE);
        project.write("src/lib.py", format!("# {turn}\n"));
        let said = stop(&project, "same words", turn > 0).json();
        if turn < 3 {
            assert_eq!(said["decision"], "block", "{turn}: {said}");
            assert!(said["reason"].as_str().unwrap().contains("put back to iteration 1"), "{said}");
            assert_eq!(project.read("src/lib.py"), best);
        } else {
            assert_eq!(said["continue"], false, "{turn}: {said}");
            assert_eq!(project.read("src/lib.py"), best, "the run ends on the best all the same");
        }
    }
    assert_eq!(iterations(&project), 6);
    project.run(&["undo"]).expect(0);
    assert_eq!(project.read("src/lib.py"), "# 3\n", "nothing is lost");
}

#[test]
fn a_restore_that_cannot_be_is_told_and_the_turn_goes_on_all_the_same() {
    let project = begun("restore");
    project.tests(WORSE);
    std::fs::remove_file(project.path("src/lib.py")).unwrap();
    make_fifo(&project.path("src/lib.py"));
    let said = stop(&project, "two", false).json();
    assert_eq!(said["decision"], "block", "{said}");
    let reason = said["reason"].as_str().unwrap();
    assert!(reason.contains("Test count decreased") && reason.contains("was not put back: "), "{reason}");
    assert_eq!(project.run(&["status", "--json"]).expect(0).json()["hook_faults"]["count"], 1);
}

#[test]
fn who_changes_the_policy_of_a_loop_learns_that_it_goes_on_as_it_began() {
    let project = begun("observe");
    let is_told = || project.run(&["status"]).expect(0).stderr.contains("the config was changed since the baseline");
    assert!(!is_told());
    let config = project.read("highwater.yaml").replace("observe", "guard");
    project.write("highwater.yaml", config);
    assert!(is_told());
}

#[test]
fn no_loop_is_begun_in_a_home_unless_something_says_that_it_is_meant() {
    for (home, mark, expected) in [
        (".", None, false),
        ("below", None, false),
        ("..", None, true),
        (".", Some(".git"), true),
        (".", Some("highwater.yaml"), true),
    ] {
        let project = Project::new();
        project.write("notes.txt", "of somebody's home\n");
        match mark {
            Some(".git") => std::fs::create_dir(project.path(".git")).unwrap(),
            Some(name) => project.write(name, ""),
            None => {}
        }
        std::fs::create_dir(project.path("below")).unwrap();
        let payload = json!({"session_id": "s1", "cwd": project.root(), "hook_event_name": "Stop"});
        let answer = hook_with(&project, "claude", &payload, |command| {
            command.env("HOME", project.path(home));
        });
        assert_eq!(answer.stdout, "");
        assert_eq!(project.path(".progress").exists(), expected, "{home} {mark:?}");
    }
}

#[test]
fn two_deliveries_of_one_event_are_one_iteration() {
    let project = begun("guard");
    project.tests(WORSE);
    let deliver = |said: &str| {
        let payload = json!({
            "session_id": "s1", "turn_id": "t1", "model": "m", "cwd": project.root(), "hook_event_name": "Stop",
            "stop_hook_active": false, "last_assistant_message": said,
        });
        hook(&project, "codex", &payload).stdout
    };
    let said: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..3).map(|_| scope.spawn(|| deliver("once"))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(said.iter().filter(|said| !said.is_empty()).count(), 1, "{said:?}");
    assert_eq!(iterations(&project), 3);
    deliver("once");
    assert_eq!(iterations(&project), 3);
    deliver("another turn's last word");
    assert_eq!(iterations(&project), 4);
}

#[test]
fn what_is_no_end_is_no_iteration_and_a_command_runs_under_its_limit() {
    let project = Project::new();
    let command = "hook: {command: [sh, -c, 'cp made.xml junit.xml; cat; echo to nobody; echo to nobody >&2; sleep 60'], \
                   command_timeout_ms: 1500}\n";
    project.write("highwater.yaml", command);
    project.write("made.xml", crate::support::junit(GOOD));
    let mut running =
        json!({"session_id": "s", "hook_event_name": "Stop", "cwd": project.root(), "background_tasks": [{"id": 1}]});
    assert_eq!(hook(&project, "claude", &running).stdout, "");
    assert!(!project.exists(".progress"), "its work goes on in the background");
    running["background_tasks"] = json!([]);
    assert_eq!(hook(&project, "claude", &running).stdout, "");
    let record = project.run(&["show", "0", "--json"]).expect(0).json();
    assert_eq!(record["metrics"]["testing"]["test_count"], 6, "{record:#}");
    assert_eq!(record["command"]["exit_code"], 128 + 9);
}

#[test]
fn tool_calls_are_kept_with_the_iteration_and_a_cycle_is_told() {
    let project = begun("observe");
    let call = |n: u32| {
        let payload = json!({
            "session_id": "s1", "cwd": project.path("src"), "hook_event_name": "PostToolUse", "tool_name": "Bash",
            "tool_input": {"command": "pytest -q", "description": "x".repeat(5000)}, "tool_use_id": format!("t{n}"),
            "tool_response": {"stdout": "1 failed", "stderr": ""},
        });
        hook(&project, "claude", &payload).stdout
    };
    assert_eq!((call(1), call(2)), (String::new(), String::new()));
    let told: Value = serde_json::from_str(&call(3)).unwrap();
    let context = told["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert!(context.contains("same Bash call 3 times"), "{told}");
    let kept = project.read(".progress/loop-001/iterations/iteration-002/activity.jsonl");
    let lines: Vec<Value> =
        kept.lines().filter(|line| !line.is_empty()).map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 3);
    lines.iter().for_each(|line| assert_shape("activity", line));
    assert!(kept.len() < 3 * 4000, "long texts are cut");
    // What is kept is what `monitor` reads.
    assert_eq!(project.run_with(&["monitor"], &kept).expect(0).stdout.lines().count(), 3);
    project.run(&["verify"]).expect(0);
    // They are part of the iteration that is recorded next, where the agent names no log of its own.
    project.tests(GOOD);
    hook(&project, "claude", &json!({"session_id": "s1", "cwd": project.root(), "hook_event_name": "Stop"}));
    let record = project.run(&["show", "2", "--json"]).expect(0).json();
    assert_eq!(record["activity"]["tool_calls"], 3, "{record:#}");
    project.run(&["verify", "--recompute"]).expect(0);
    // The session that starts after compacting is told where the loop stands.
    let start =
        json!({"session_id": "s1", "cwd": project.root(), "hook_event_name": "SessionStart", "source": "compact"});
    let told = hook(&project, "claude", &start).json();
    assert!(
        told["hookSpecificOutput"]["additionalContext"].as_str().unwrap().starts_with("Iteration 2: plateau"),
        "{told}"
    );
}

#[test]
fn faults_are_told_by_status_and_by_nobody_else() {
    let project = begun("observe");
    let run = |arguments: &[&str], input: &str| {
        let answer = project.run_with(arguments, input);
        assert_eq!((answer.code, answer.stdout.as_str(), answer.stderr.as_str()), (0, "", ""), "{arguments:?}");
    };
    run(&["hook", "run", "--agent", "claude"], "no payload at all");
    run(&["hook", "run", "--agent", "clade"], "{}");
    run(&["hook", "run", "--nonsense"], "");
    run(&["hook", "run", "{\"hook_event_name\":\"Stop\"}", "one too many"], "");
    run(&["hook", "run", "[]"], "");
    let status = project.run(&["status", "--json"]).expect(0).json();
    assert_shape("status", &status);
    assert_eq!(status["hook_faults"]["count"], 5, "{status:#}");
    assert!(status["hook_faults"]["last"]["fault"].as_str().unwrap().contains("no JSON object"), "{status:#}");
    assert!(project.run(&["status"]).expect(0).stdout.contains("5 faults"));
    assert!(project.run(&["hook", "run", "--help"]).expect(0).stdout.contains("faults.log"), "a person asks");
}

#[test]
fn the_agents_are_listed_and_explained() {
    let project = Project::new();
    let listed = project.run(&["list", "agents", "--json"]).expect(0).json();
    assert_shape("list", &listed);
    assert_eq!(listed["members"].as_array().unwrap().len(), AGENTS.len());
    let explained = project.run(&["explain", "claude", "--json"]).expect(0).json();
    assert_shape("explanation", &explained);
    let text = explained["text"].as_str().unwrap();
    assert!(text.contains("8 in a row, set by CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"), "{text}");
    assert_eq!(explained["thresholds"]["hook.policy"], "observe");
    assert!(project.run(&["explain", "goose"]).expect(0).stdout.contains("its dialect cannot"));
}

/// What is wrong while a hook runs.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Trouble {
    None,
    NoStore,
    Locked,
    Damaged,
    Newer,
    ReadOnly,
    FullDisk,
    LongPayload,
    ClosedStdout,
    FullStdout,
    ClosedStdin,
}

const TROUBLES: [Trouble; 11] = [
    Trouble::None,
    Trouble::NoStore,
    Trouble::Locked,
    Trouble::Damaged,
    Trouble::Newer,
    Trouble::ReadOnly,
    Trouble::FullDisk,
    Trouble::LongPayload,
    Trouble::ClosedStdout,
    Trouble::FullStdout,
    Trouble::ClosedStdin,
];

/// Keys that a dialect takes at the end of a turn, and at other events; those below `hookSpecificOutput` after a dot. What
/// products say of themselves, not what our code prints.
fn allowed(agent: &str, is_end: bool) -> &'static [&'static str] {
    const CONTEXT: &[&str] = &["systemMessage", "hookSpecificOutput", ".hookEventName", ".additionalContext"];
    match (agent, is_end) {
        ("claude" | "codex" | "gemini", true) => &["continue", "stopReason", "systemMessage", "decision", "reason"],
        ("vscode", true) => {
            &["continue", "stopReason", "systemMessage", "hookSpecificOutput", ".hookEventName", ".decision", ".reason"]
        }
        ("claude" | "codex" | "gemini" | "vscode", false) => CONTEXT,
        ("copilot" | "goose" | "openhands", true) => &["decision", "reason"],
        ("openhands" | "copilot", false) => &["additionalContext"],
        ("cursor", true) => &["followup_message"],
        ("opencode", true) => &["prompt"],
        ("opencode", false) => &["context"],
        _ => &[],
    }
}

#[track_caller]
fn assert_dialect(agent: &str, event: &str, stdout: &str) {
    if stdout.is_empty() {
        return;
    }
    let printed: Value =
        serde_json::from_str(stdout).unwrap_or_else(|error| panic!("{agent} {event}: {error}: {stdout}"));
    let is_end = event.starts_with("stop") || event == "notify";
    let mut keys: Vec<String> = printed.as_object().unwrap().keys().cloned().collect();
    if let Some(inner) = printed["hookSpecificOutput"].as_object() {
        keys.extend(inner.keys().map(|key| format!(".{key}")));
    }
    let allowed = allowed(agent, is_end);
    assert!(keys.iter().all(|key| allowed.contains(&key.as_str())), "{agent} {event}: {stdout}");
    let word = if matches!(agent, "gemini" | "openhands") { "deny" } else { "block" };
    assert!(printed["decision"].is_null() || printed["decision"] == word, "{agent} {event}: {stdout}");
    assert!(printed["continue"].is_null() || printed["continue"] == false, "{agent} {event}: {stdout}");
}

/// A loop in which the next end of a turn is a regression, and the policy answers it.
fn prepared() -> tempfile::TempDir {
    let folder = in_memory();
    let project = begun("guard");
    project.tests(WORSE);
    copy(project.root(), folder.path());
    folder
}

fn payloads() -> Vec<(String, String, Value)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/hooks");
    let files = walkdir::WalkDir::new(&root).sort_by_file_name().into_iter().map(|entry| entry.unwrap().into_path());
    files
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .map(|path| {
            let part = |path: &Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
            let payload = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
            (part(path.parent().unwrap()), part(&path), payload)
        })
        .collect()
}

/// The program in a copy of `base`, in trouble: its answer, whether the loop's log has a fault, and how long it took.
fn in_trouble(base: &Path, agent: &str, payload: &Value, trouble: Trouble) -> (Answer, bool, Duration) {
    let folder = in_memory();
    copy(base, folder.path());
    let root: PathBuf = folder.path().canonicalize().unwrap();
    let store = root.join(".progress");
    let layout = Layout::new(&root);
    let mut payload = payload.clone();
    let mut held = Vec::new();
    let program = assert_cmd::cargo::cargo_bin!("highwater").to_owned();
    let mut shell = "exec \"$0\" \"$@\"";
    match trouble {
        Trouble::NoStore => std::fs::remove_dir_all(&store).unwrap(),
        Trouble::Locked => {
            for path in [layout.lock(), layout.of_loop(&"loop-001".parse().unwrap()).lock()] {
                held.push(Lock::exclusive(&path, Duration::ZERO).unwrap());
            }
        }
        Trouble::Damaged => {
            for name in ["iteration-000-baseline.json", "iteration-001-metrics.json", "trajectory.json"] {
                std::fs::write(store.join("loop-001/progress").join(name), "{\"schema_version\": 1, \"loop").unwrap();
            }
        }
        Trouble::Newer => {
            for name in ["iteration-000-baseline.json", "iteration-001-metrics.json", "trajectory.json"] {
                let file = store.join("loop-001/progress").join(name);
                let text = std::fs::read_to_string(&file).unwrap();
                let newer = text.replacen("\"schema_version\": 1,", "\"schema_version\": 99,", 1);
                std::fs::write(&file, newer).unwrap();
            }
        }
        Trouble::ReadOnly => {
            for entry in walkdir::WalkDir::new(&root).contents_first(true) {
                let path = entry.unwrap().into_path();
                let mode = if path.is_dir() { 0o555 } else { 0o444 };
                std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            }
            // Root may write whatever a mode says.
            shell = "if [ \"$(id -u)\" = 0 ]; then chown -R 4321 . && exec setpriv --reuid=4321 --clear-groups --inh-caps=-all \
                     --bounding-set=-all \"$0\" \"$@\"; else exec \"$0\" \"$@\"; fi";
        }
        Trouble::FullDisk => shell = "trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\"",
        Trouble::LongPayload => payload["tool_response"] = "x".repeat(1_000_000).into(),
        Trouble::ClosedStdout => shell = "exec \"$0\" \"$@\" >&-",
        Trouble::FullStdout => shell = "exec \"$0\" \"$@\" >/dev/full",
        Trouble::ClosedStdin => shell = "exec \"$0\" \"$@\" <&-",
        Trouble::None => {}
    }
    let mut command = Command::new("sh");
    command.args(["-c", shell]).arg(&program).args(["hook", "run", "--agent", agent]).current_dir(&root);
    without_surroundings(&mut command);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let started = std::time::Instant::now();
    let mut child = command.spawn().unwrap();
    // Who closes the stream reads nothing.
    let _ = serde_json::to_writer(child.stdin.take().unwrap(), &payload);
    let answer = answer(&child.wait_with_output().unwrap());
    let is_noted = std::fs::metadata(layout.of_loop(&"loop-001".parse().unwrap()).faults()).is_ok();
    (answer, is_noted, started.elapsed())
}

// PROMISES G1, A55.
#[test]
fn whatever_is_wrong_the_agent_gets_a_valid_answer_or_none() {
    let base = prepared();
    let mut cases = Vec::new();
    for (agent, event, payload) in payloads() {
        for trouble in TROUBLES {
            // Every payload where nothing is wrong; in trouble each agent's end of a turn, and one tool call for all.
            let writes = event == "stop" || (agent == "claude" && event == "tool");
            if trouble == Trouble::None || writes || is_soak() {
                cases.push((agent.clone(), event.clone(), payload.clone(), trouble));
            }
        }
    }
    assert!(cases.len() > 100, "{}", cases.len());
    let (cases, refused) = (Mutex::new(cases), Mutex::new(0));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                loop {
                    let case = cases.lock().unwrap().pop();
                    let Some((agent, event, payload, trouble)) = case else { return };
                    let (answer, is_noted, took) = in_trouble(base.path(), &agent, &payload, trouble);
                    let at = format!("{agent} {event} {trouble:?} after {took:?}");
                    assert_eq!((answer.code, answer.stderr.as_str()), (0, ""), "{at}: {answer:?}");
                    assert_dialect(&agent, &event, &answer.stdout);
                    if event == "stop" && matches!(trouble, Trouble::Locked | Trouble::Damaged | Trouble::Newer) {
                        assert!(answer.stdout.is_empty() && is_noted, "{at}: {answer:?}");
                    }
                    if trouble == Trouble::None && event == "stop" {
                        assert!(!answer.stdout.is_empty(), "{at}: a regression is answered");
                        *refused.lock().unwrap() += 1;
                    }
                }
            });
        }
    });
    assert_eq!(refused.into_inner().unwrap(), 9);
}
