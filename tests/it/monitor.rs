//! `monitor` from outside: a call in, what is wrong out.

use serde_json::{Value, json};

use crate::support::{Project, assert_shape};

#[test]
fn each_line_is_answered_and_what_is_told_is_in_the_seeds_words() {
    let project = Project::new();
    let path = project.path("src/lib.py");
    let call = |n: u32| json!({"id": format!("t{n}"), "tool": "Read", "args": {"file_path": path, "offset": n}});
    let mut lines: Vec<Value> = (1..=5).map(call).collect();
    lines.push(json!({"event": "metrics"}));
    lines.push(json!({"event": "new_turn"}));
    lines.push(call(6));
    lines.iter().for_each(|line| assert_shape("call", line));
    let input: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let answer = project.run_with(&["monitor"], &input).expect(0);
    let told: Vec<Value> = answer.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(told.len(), lines.len(), "{answer:?}");
    told.iter().for_each(|one| assert_shape("watched", one));
    assert!(told[..4].iter().all(|one| one["issues"] == json!([]) && one["inject"] == json!([])));
    let message = "You've read src/lib.py 5 times. Consider if you already have the information you need.";
    assert_eq!(
        told[4],
        json!({
            "schema_version": 1, "id": "t5", "inject": [message],
            "issues": [{
                "issue_type": "repeated_file", "severity": "high", "message": message,
                "metadata": {"count": 5, "file_path": "src/lib.py", "tool_call_id": "t5"},
            }],
        })
    );
    assert_eq!(told[5]["metrics"]["file_access_count"], json!({"src/lib.py": 5}));
    assert_eq!(told[7]["issues"], json!([]));
    assert!(!project.exists(".progress"), "nothing is written");
}

#[test]
fn a_line_that_is_no_call_is_answered_too_and_ends_in_65() {
    let project = Project::new();
    let answer = project.run_with(&["monitor"], "{\"args\":{}}\n{\"tool\":7}\n{\"tool\":\"Read\"}\n").expect(65);
    let told: Vec<Value> = answer.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(told.len(), 3, "{answer:?}");
    told[..2].iter().for_each(|one| assert_shape("line-error", one));
    assert_eq!(told[0]["error"]["message"], "the call names no tool");
    assert_shape("watched", &told[2]);
}

#[test]
fn rules_and_thresholds_come_from_the_config() {
    let project = Project::new();
    let input = "{\"tool\":\"Read\",\"args\":{\"path\":\"a\"}}\n".repeat(2);
    project.write("highwater.yaml", "monitor: {file_reads: 2}\n");
    assert!(project.run_with(&["monitor"], &input).expect(0).stdout.contains("repeated_file"));
    project.write("highwater.yaml", "monitor: {file_reads: 2}\nrules: {repeated_file: off}\n");
    assert!(!project.run_with(&["monitor"], &input).expect(0).stdout.contains("repeated_file"));
    for wrong in ["monitor: {window: 9}", "monitor: {similarity: 1.5}", "monitor: {cycle: 1}"] {
        project.write("highwater.yaml", wrong);
        assert!(project.run_with(&["monitor"], "").expect(65).stderr.contains("monitor."));
    }
}

#[test]
fn detectors_are_listed_and_explained_with_their_thresholds() {
    let project = Project::new();
    let listed = project.run(&["list", "detectors"]).expect(0).stdout;
    for (name, key) in [
        ("exact_cycle", "monitor.cycle: 3"),
        ("revisited_state", "controller.window: 20"),
        ("stalled", "stall.window: 3"),
        ("infinite_loop", "loop.window: 5"),
        ("metric_cycling", "Formula: "),
        ("progress_stuck", "progress.stuck_after: 3"),
        ("estimate_stuck", "estimate.window: 3"),
        ("stuck_candidate", "controller.repeats: 3"),
    ] {
        assert!(listed.contains(name), "{listed}");
        let page = project.run(&["explain", name]).expect(0).stdout;
        assert!(page.contains(key) && page.contains(&format!("rules.{name}: \"on\"")), "{page}");
    }
}
