//! `replay` from outside: the same config changes nothing, another one shows what it would have changed.

use serde_json::{Value, json};

use crate::support::{Project, assert_shape};

/// A loop whose second iteration loses four points of coverage.
fn recorded() -> Project {
    let project = Project::new();
    project.tests(&[("a", true), ("b", true)]);
    project.coverage(9);
    project.run(&["begin", "--loop", "auth"]).expect(0);
    project.tests(&[("a", true), ("b", true), ("c", true)]);
    project.run(&["record"]).expect(0);
    project.write("src/lib.py", "def one():\n    return 2\n");
    project.tests(&[("a", true), ("b", true), ("c", true)]);
    project.coverage(8);
    project.run(&["record"]).expect(0);
    project
}

#[test]
fn its_own_config_changes_nothing() {
    let project = recorded();
    let log = project.run(&["log", "--json"]).expect(0).json();
    let answer = project.run(&["replay", "--json"]).expect(0).json();
    assert_shape("replay", &answer);
    assert_eq!((&answer["iterations"], &answer["changes"], &answer["config"]), (&json!(3), &json!([]), &Value::Null));
    assert_eq!((&answer["stored_best"], &answer["stored_best"]["iteration"]), (&answer["replayed_best"], &log["best"]));
    let page = project.run(&["replay"]).expect(0).stdout;
    assert!(page.contains("3 iterations judged again under its own config, 0 of them otherwise"), "{page}");
    // A config that lies at the root is for the next loop; this one has its own.
    project.write("highwater.yaml", "classify: {coverage_drop: 50}\n");
    assert_eq!(project.run(&["replay", "--json"]).expect(0).json()["changes"], json!([]));
}

#[test]
fn another_config_shows_which_verdicts_change_and_why_and_writes_nothing() {
    let project = recorded();
    let stored = project.run(&["show", "2", "--json"]).expect(0).stdout;
    assert!(stored.contains("coverage_regression"), "{stored}");
    project.write("other.yaml", "classify: {coverage_drop: 50}\nalerts: {coverage_drift: 50}\n");
    let answer = project.run(&["replay", "--config", "other.yaml", "--json"]).expect(0).json();
    assert_shape("replay", &answer);
    let changes = answer["changes"].as_array().unwrap();
    assert_eq!(changes.len(), 1, "{answer:#}");
    assert_eq!(changes[0]["iteration"], 2);
    assert_eq!(changes[0]["stored"]["classification"], "regression");
    assert_ne!(changes[0]["replayed"]["classification"], "regression");
    assert!(changes[0]["alerts_gone"].as_array().unwrap().contains(&json!("coverage_regression (high)")), "{answer:#}");
    assert_eq!(changes[0]["alerts_new"], json!([]));
    let page = project.run(&["replay", "--config", "other.yaml"]).expect(0).stdout;
    assert!(page.contains("1 of them otherwise") && page.contains("coverage_regression"), "{page}");
    assert_eq!(project.run(&["show", "2", "--json"]).expect(0).stdout, stored);
    project.write("other.yaml", "classify: {coverage_drop: -1}\n");
    project.run(&["replay", "--config", "other.yaml"]).expect(65);
    project.run(&["replay", "--config", "absent.yaml"]).expect(65);
}

#[test]
fn the_best_is_chosen_anew() {
    let project = recorded();
    // Nothing tells the complexity, so that a score that needs everything is partial, and none can lead.
    project.write("other.yaml", "quality: {min_weight: 1.0}\n");
    let answer = project.run(&["replay", "--config", "other.yaml", "--json"]).expect(0).json();
    assert!(!answer["stored_best"].is_null(), "{answer:#}");
    assert_eq!(answer["replayed_best"], Value::Null);
    let page = project.run(&["replay", "--config", "other.yaml"]).expect(0).stdout;
    assert!(page.contains("best: none instead of"), "{page}");
}

#[test]
fn without_a_loop_it_is_65() {
    Project::new().run(&["replay"]).expect(65);
}
