//! Every stored file and answer keeps to its published schema.

use highwater::cli::schemas::SCHEMAS;

use serde_json::Value;

use crate::support::{Project, assert_shape};

/// A loop with a regression, an accepted loss, a restore and an end.
fn story() -> Project {
    let project = Project::new();
    project.tests(&[("a", true), ("b", true), ("c", false)]);
    project.coverage(7);
    project.run(&["begin", "--loop", "story", "--label", "start", "--cost", "0.5", "--tokens", "100"]).expect(0);
    project.write("src/lib.py", "def one():\n    return 1\n\ndef two():\n    return 2\n");
    project.tests(&[("a", true), ("b", true), ("c", true)]);
    project.coverage(9);
    project.run(&["record", "--metric", "p95=12.5"]).expect(0);
    project.write("src/lib.py", "");
    project.tests(&[("a", true)]);
    project.coverage(4);
    project.run(&["record"]).expect(0);
    project
}

fn file(project: &Project, name: &str) -> Value {
    serde_json::from_str(&project.read(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn stored_files_keep_to_their_schemas() {
    let project = story();
    project.run(&["accept", "test_count_decreased", "--reason", "merged into one"]).expect(0);
    project.tests(&[("a", true), ("z", true)]);
    project.run(&["record"]).expect(0);
    project.run(&["restore", "1"]).expect(0);
    project.run(&["finish"]).expect(0);
    for name in ["iteration-000-baseline", "iteration-001-metrics", "iteration-002-metrics", "iteration-003-metrics"] {
        let record = file(&project, &format!(".progress/story/progress/{name}.json"));
        assert_shape("record", &record);
        let id = record["metrics"]["testing"]["cases"].as_str().expect("the tests are named").to_owned();
        let layout = highwater::disk::layout::Layout::new(project.root());
        let objects = highwater::snapshot::objects::Objects::open(&layout).unwrap();
        assert_shape("test-cases", &serde_json::from_slice(&objects.read(&id.parse().unwrap()).unwrap()).unwrap());
    }
    assert_shape("trajectory", &file(&project, ".progress/story/progress/trajectory.json"));
    assert_shape("best-tracker", &file(&project, ".progress/story/best-tracker.json"));
    assert_shape("selection", &file(&project, ".progress/story/selection.json"));
    assert_shape("restore-record", &file(&project, ".progress/restores/1.json"));
    let notes = project.read(".progress/story/accepted.jsonl");
    let notes: Vec<&str> = notes.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!(notes.len(), 1);
    assert_shape("accepted", &serde_json::from_str(notes[0]).unwrap());
    for number in ["000", "001", "002", "003"] {
        assert_shape(
            "metrics",
            &file(&project, &format!(".progress/story/iterations/iteration-{number}/metrics.json")),
        );
        assert_shape(
            "manifest",
            &file(&project, &format!(".progress/story/iterations/iteration-{number}/manifest.json")),
        );
    }
}

#[test]
fn answers_keep_to_their_schemas() {
    let project = story();
    let cases: [(&str, i32, &[&str]); 17] = [
        ("gate", 11, &["gate", "--json"]),
        ("log", 0, &["log", "--json"]),
        ("status", 0, &["status", "--json"]),
        ("record", 0, &["show", "1", "--json"]),
        ("diff", 0, &["diff", "1", "2", "--json"]),
        ("tests", 0, &["tests", "--json"]),
        ("loops", 0, &["loops", "--json"]),
        ("verify", 0, &["verify", "--json", "--recompute"]),
        ("config", 0, &["config", "show", "--json"]),
        ("list", 0, &["list", "formats", "--json"]),
        ("list", 0, &["list", "rules", "--json"]),
        ("explanation", 0, &["explain", "coverage_regression", "--json"]),
        ("inspected", 0, &["inspect", "junit.xml", "--json"]),
        ("restored", 0, &["restore", "1", "--dry-run", "--json"]),
        ("finish", 0, &["finish", "--dry-run", "--json"]),
        ("accept", 0, &["accept", "test_count_decreased", "--reason", "meant", "--json"]),
        ("finish", 0, &["finish", "--json"]),
    ];
    for (schema, code, arguments) in cases {
        let value = project.run(arguments).expect(code).json();
        assert_eq!(value["schema_version"], 1, "{arguments:?}");
        assert_shape(schema, &value);
    }
    assert_shape("restored", &project.run(&["undo", "--json"]).expect(0).json());
    for (schema, arguments) in [
        ("log-line", ["log", "--jsonl", "--loop", "story"].as_slice()),
        ("loop-line", &["loops", "--jsonl"]),
        ("listed", &["list", "detectors", "--jsonl"]),
    ] {
        let answer = project.run(arguments).expect(0);
        assert!(!answer.stdout.is_empty());
        for line in answer.stdout.lines() {
            assert_shape(schema, &serde_json::from_str(line).unwrap());
        }
    }
    let rejected = {
        project.write("cut.xml", "<testsuites><testsuite>");
        project.run(&["inspect", "cut.xml", "--json"]).expect(65).json()
    };
    assert_shape("inspected", &rejected);
    assert_eq!(rejected["error"]["code"], "malformed");
}

#[test]
fn every_schema_is_valid_and_reachable_by_name() {
    let project = Project::new();
    let names = project.run(&["schema"]).expect(0).stdout;
    for schema in SCHEMAS {
        assert!(names.lines().any(|line| line.split("  ").next() == Some(schema.name)));
        let printed = project.run(&["schema", schema.name]).expect(0).stdout;
        assert!(jsonschema::meta::is_valid(&serde_json::from_str(&printed).unwrap()), "{}", schema.name);
    }
    project.run(&["schema", "nothing"]).expect(64);
}
