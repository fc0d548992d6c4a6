//! `steps` from outside: a line in, a line out.

use serde_json::{Value, json};

use crate::support::{Project, assert_shape};

fn lines(values: &[Value]) -> String {
    values.iter().map(|value| format!("{value}\n")).collect()
}

fn state(tree: &str) -> Value {
    json!({
        "node": "coder", "tree": tree, "budget_used": 0.5, "something_else": [1],
        "diagnostics": [{"tool": "tsc", "code": "TS2304", "path": "a.ts", "message": "cannot find name 'x'"}],
        "tests": {"a": "passed", "b": "failed"},
        "last_command": {"command": "npm test", "exit_code": 1, "output": "1 failed"},
    })
}

#[test]
fn each_state_gets_an_assessment_and_a_stuck_run_is_told_how_to_get_back() {
    let project = Project::new();
    project.tests(&[("a", true), ("b", false)]);
    project.coverage(9);
    project.run(&["begin", "--loop", "auth"]).expect(0);
    project.run(&["record"]).expect(0);
    let best = project.run(&["log", "--json"]).expect(0).json()["best"].clone();
    let states = [state("t1"), state("t1"), state("t1")];
    states.iter().for_each(|state| assert_shape("state", state));
    let answer = project.run_with(&["steps"], &lines(&states)).expect(0);
    let told: Vec<Value> = answer.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(told.len(), 3, "{answer:?}");
    told.iter().for_each(|one| assert_shape("assessment", one));
    assert_eq!((&told[1]["status"], &told[1]["stuck"]), (&json!("ok"), &Value::Null));
    let last = &told[2];
    assert_eq!((&last["status"], &last["step"]), (&json!("stuck_candidate"), &json!(3)));
    assert_eq!(last["stuck"]["reason"], "repeated_state");
    assert_eq!(last["terminal_status"], "aborted_stuck");
    let why = last["why_we_stopped"].as_str().unwrap();
    assert!(why.contains("`npm test`, ended with exit code 1. Failing: b."), "{why}");
    assert!(why.contains(&format!("`highwater restore --loop auth {best}`")), "{why}");
}

#[test]
fn no_loop_is_needed_but_one_that_is_named_must_be_there() {
    let project = Project::new();
    let input = lines(&[state("t1"), state("t1"), state("t1")]);
    let answer = project.run_with(&["steps"], &input).expect(0);
    assert!(answer.stdout.contains("repeated_state") && !answer.stdout.contains("The best"), "{answer:?}");
    project.run_with(&["steps", "--loop", "absent"], &input).expect(65);
    assert!(!project.exists(".progress"), "nothing is written");
}

#[test]
fn thresholds_come_from_the_config() {
    let project = Project::new();
    project.write("highwater.yaml", "controller: {repeats: 2}\n");
    let answer = project.run_with(&["steps"], &lines(&[state("t1"), state("t1")])).expect(0);
    assert!(answer.stdout.lines().nth(1).unwrap().contains("repeated_state"), "{answer:?}");
    for wrong in ["controller: {repeats: 1}", "controller: {history: 19}", "controller: {window: 2}"] {
        project.write("highwater.yaml", wrong);
        let answer = project.run_with(&["steps"], "").expect(65);
        assert!(answer.stderr.contains("controller."), "{answer:?}");
    }
}

#[test]
fn a_wrong_line_is_answered_too() {
    let project = Project::new();
    let input = format!("{{\"node\": 3}}\nnonsense\n{}", lines(&[state("t1")]));
    let answer = project.run_with(&["steps"], &input).expect(65);
    let told: Vec<Value> = answer.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(told.len(), 3, "{answer:?}");
    told[..2].iter().for_each(|one| assert_shape("line-error", one));
    assert_eq!((&told[0]["line"], &told[0]["error"]["code"]), (&json!(1), &json!("not-this-format")));
    assert_eq!((&told[1]["line"], &told[1]["error"]["code"]), (&json!(2), &json!("malformed")));
    assert_shape("assessment", &told[2]);
}
