//! `import` from outside: a finished run of another loop tool becomes a loop that can be read and judged, and not restored.

use serde_json::{Value, json};

use crate::support::{Project, assert_shape};

fn imported(file: &str) -> (Project, Value) {
    let project = Project::new();
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/loops");
    project.write(file, std::fs::read(folder.join(file)).unwrap());
    let answer = project.run(&["import", file, "--json"]).expect(0);
    assert!(answer.stderr.contains("none can be restored"), "{answer:?}");
    let log = answer.json();
    assert_shape("log", &log);
    (project, log)
}

#[test]
fn a_table_of_autoresearch_becomes_a_closed_loop() {
    let (project, log) = imported("results.tsv");
    assert_eq!((&log["loop_id"], &log["best"]), (&json!("loop-001"), &json!(4)));
    assert_eq!(log["iterations"].as_array().unwrap().len(), 6);
    assert_eq!(log["iterations"][3]["ineligible_because"], "val_bpb was not measured");
    let crash = project.run(&["show", "3", "--json"]).expect(0).json();
    assert_shape("record", &crash);
    let metric = &crash["metrics"]["custom"]["val_bpb"];
    assert_eq!((&metric["value"], &metric["reason"]), (&Value::Null, &json!("the run ended as crash")));
    assert_eq!(crash["imported"], json!({"format": "autoresearch-tsv", "status": "crash", "commit": "d92b7f1"}));
    assert_eq!(crash["parent"], 1, "what was discarded before it was undone");
    assert_eq!(crash["label"], "twice the width: out of memory");
    let page = project.run(&["show", "4"]).expect(0).stdout;
    assert!(page.contains("not restorable"), "{page}");
    let page = project.run(&["log"]).expect(0).stdout;
    assert!(page.contains("metric") && page.contains("0.9697"), "{page}");
    let report = project.run(&["report", "selection"]).expect(0).stdout;
    assert!(report.contains("best val_bpb") && report.contains("nothing was restored"), "{report}");
    assert_eq!(project.run(&["replay", "--json"]).expect(0).json()["changes"], json!([]));
    let verified = project.run(&["verify", "--recompute", "--json"]).expect(0).json();
    assert_eq!(verified["restorable"], json!([]));
    project.run(&["diff", "0", "4"]).expect(0);
}

#[test]
fn nothing_of_it_can_be_restored_and_the_work_tree_stays() {
    let (project, _) = imported("results.tsv");
    let refused = project.run(&["restore", "4"]).expect(65);
    assert!(refused.stderr.contains("no files to restore") && refused.stderr.contains("3e8a550"), "{refused:?}");
    project.run(&["finish", "--loop", "loop-001"]).expect(65);
    project.run(&["record", "--loop", "loop-001"]).expect(65);
    assert!(project.exists("src/lib.py"));
    project.tests(&[("a", true)]);
    project.run(&["begin", "--loop", "next"]).expect(0);
    project.run(&["import", "results.tsv", "--loop", "next"]).expect(65);
}

#[test]
fn a_log_of_pi_autoresearch_is_read_from_its_last_segment_on() {
    let (project, log) = imported("autoresearch.jsonl");
    assert_eq!(log["iterations"].as_array().unwrap().len(), 5);
    assert_eq!(log["best"], 1, "failed checks do not count, however fast it was");
    let first = project.run(&["show", "0", "--json"]).expect(0).json();
    assert_eq!(first["recorded_at"], "2026-04-27T08:23:46Z");
    assert_eq!((&first["tokens"], &first["metrics"]["custom"]["size_kib"]["value"]), (&json!(18000), &json!(5015.0)));
    assert_eq!(first["metrics"]["custom"]["build_ms"]["unit"], "ms");
    let again = project.run(&["import", "autoresearch.jsonl", "--loop", "again"]).expect(0);
    assert!(again.stderr.contains("1 run of an earlier segment is left out"), "{again:?}");
}

#[test]
fn what_cannot_be_imported_is_said_and_opens_nothing() {
    let project = Project::new();
    project.write("odd.txt", "nothing of the sort\n");
    let answer = project.run(&["import", "odd.txt"]).expect(65);
    assert!(answer.stderr.contains("autoresearch-tsv, pi-autoresearch-jsonl"), "{answer:?}");
    project.run(&["import", "odd.txt", "--format", "no-such-format"]).expect(64);
    project.run(&["import", "absent.tsv"]).expect(65);
    project.write("cut.tsv", "commit\tval_bpb\tstatus\tdescription\naaa\t0.9\tkeep\tx\nbbb\t0.");
    let answer = project.run(&["import", "cut.tsv"]).expect(65);
    assert!(answer.stderr.contains("cut.tsv:3"), "{answer:?}");
    project.write("score.tsv", "commit\tscore\tstatus\tdescription\naaa\t0.9\tkeep\tx\n");
    let answer = project.run(&["import", "score.tsv"]).expect(65);
    assert!(answer.stderr.contains("which way score is better is not known"), "{answer:?}");
    project.write("highwater.yaml", "metrics: {score: {direction: higher}}\n");
    project.run(&["import", "score.tsv"]).expect(0);
    assert_eq!(project.run(&["loops", "--json"]).expect(0).json()["loops"].as_array().unwrap().len(), 1);
}
