//! Going back where something around it is damaged or gone, through the program.

use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Answer, Project, answer, can_trace, overwrite, stride};

/// A loop of two iterations.
fn project() -> Project {
    let project = Project::new();
    project.tests(&[("one", true)]);
    project.run(&["begin", "--loop", "l"]).expect(0);
    project.write("src/lib.py", "def one():\n    return 2\n");
    project.run(&["record"]).expect(0);
    project
}

fn packs(project: &Project) -> Vec<PathBuf> {
    let packs = std::fs::read_dir(project.path(".progress/objects")).unwrap();
    packs.map(|entry| entry.unwrap().path()).collect()
}

const NEWEST: &str = ".progress/l/progress/iteration-001-metrics.json";

// PROMISES W4, H5: what the newest record says beside its config is not needed for going back.
#[test]
fn a_restore_is_undone_although_the_newest_record_is_damaged() {
    let project = project();
    project.run(&["restore", "0"]).expect(0);
    let record = project.read(NEWEST);
    overwrite(&project.path(NEWEST), b"{");
    project.run(&["undo"]).expect(0);
    assert!(project.read("src/lib.py").contains("return 2"));
    // Without any record nobody knows what is to be left alone.
    overwrite(&project.path(NEWEST), record.as_bytes());
    std::fs::rename(project.path(".progress/l"), project.path(".progress/other")).unwrap();
    let refused = project.run(&["undo"]).expect(65);
    assert!(refused.stderr.contains("nothing was changed") && refused.stderr.contains("move it back"), "{refused:?}");
    std::fs::rename(project.path(".progress/other"), project.path(".progress/l")).unwrap();
    project.run(&["undo"]).expect(0);
    assert!(project.read("src/lib.py").contains("return 1"));
}

/// As loops have it that were stored before trackers told by which metric the best one was chosen.
#[test]
fn a_best_tracker_that_does_not_name_its_metric_is_no_damage() {
    let project = Project::new();
    project.write("highwater.yaml", "select: {primary: speed}\n");
    project.run(&["begin", "--loop", "l", "--metric", "speed=1"]).expect(0);
    let tracker = ".progress/l/best-tracker.json";
    let mut best: Value = serde_json::from_str(&project.read(tracker)).unwrap();
    assert_eq!(best["chosen_by"], json!({"metric": "speed", "value": 1.0}));
    best["chosen_by"]["value"] = json!(2.0);
    overwrite(&project.path(tracker), best.to_string().as_bytes());
    project.run(&["verify"]).expect(65);
    best.as_object_mut().unwrap().remove("chosen_by");
    overwrite(&project.path(tracker), best.to_string().as_bytes());
    project.run(&["verify"]).expect(0);
}

#[test]
fn a_best_tracker_that_lies_is_found_and_made_again() {
    let project = project();
    let tracker = ".progress/l/best-tracker.json";
    let right = project.read(tracker);
    overwrite(&project.path(tracker), right.replace("\"iteration\": 0", "\"iteration\": 1").as_bytes());
    let found = project.run(&["verify"]).expect(65);
    assert!(found.stdout.contains(&format!("damaged: {tracker}: it differs from the records")), "{found:?}");
    let repaired = project.run(&["verify", "--repair"]).expect(0);
    assert!(repaired.stdout.contains(&format!("made again: {tracker}")), "{repaired:?}");
    assert_eq!(project.read(tracker), right);
    // One that was made from another record is not believed, and is no fault.
    overwrite(&project.path(tracker), right.replace("\"head\": \"", "\"head\": \"0000").as_bytes());
    project.run(&["verify"]).expect(0);
}

/// What the program answers where the disk does not give these files.
fn kept_back(project: &Project, files: &[&str], arguments: &[&str]) -> Answer {
    let mut traced = Command::new("strace");
    traced.args(["-f", "-qq", "-o", "/dev/null", "-e", "inject=?open,openat:error=EIO"]);
    for file in files {
        traced.arg("-P").arg(project.path(file).canonicalize().unwrap());
    }
    traced.arg(assert_cmd::cargo::cargo_bin!("highwater")).args(arguments);
    answer(&traced.env("HIGHWATER_ROOT", project.root()).output().unwrap())
}

#[test]
fn a_derived_file_that_the_disk_does_not_give_is_a_finding() {
    if !can_trace() {
        return;
    }
    let project = project();
    for file in ["progress/trajectory.json", "best-tracker.json", "iterations/iteration-000/manifest.json"] {
        let file = format!(".progress/l/{file}");
        let verified = kept_back(&project, &[&file], &["verify", "--json"]).expect(65).json();
        assert_eq!(verified["findings"][0]["file"], file, "{verified}");
        assert_eq!(verified["findings"].as_array().unwrap().len(), 1, "{verified}");
    }
}

#[test]
fn records_that_the_disk_does_not_give_are_its_failure_and_no_damage() {
    if !can_trace() {
        return;
    }
    let project = project();
    project.run(&["restore", "0"]).expect(0);
    let records = [".progress/l/progress/iteration-000-baseline.json", NEWEST];
    let failed = kept_back(&project, &records, &["undo"]).expect(1);
    assert!(failed.stderr.contains(NEWEST) && failed.stderr.contains("os error 5"), "{failed:?}");
    project.run(&["undo"]).expect(0);
}

// PROMISES H5: one sector that is bad does not keep the rest from being checked.
#[test]
fn a_record_that_the_disk_does_not_give_is_named_and_the_others_are_checked() {
    if !can_trace() {
        return;
    }
    let project = project();
    project.run(&["record"]).expect(0);
    let verified = kept_back(&project, &[NEWEST], &["verify", "--json"]).expect(65).json();
    assert_eq!(verified["restorable"], serde_json::json!([0, 2]), "{verified}");
    let findings = verified["findings"].as_array().unwrap();
    let is_named =
        |finding: &Value| finding["file"] == NEWEST && finding["fault"].as_str().unwrap().contains("os error 5");
    assert!(findings.iter().any(is_named), "{verified}");
}

// Into another folder, nothing happens in the work tree: not even what is pending there.
#[test]
fn a_pending_restore_keeps_nobody_from_looking_at_an_iteration_elsewhere() {
    if !can_trace() {
        return;
    }
    let project = project();
    let mut traced = Command::new("strace");
    traced.args(["-f", "-qq", "-o", "/dev/null", "-e", "inject=renameat2:signal=KILL:when=1"]);
    traced.arg(assert_cmd::cargo::cargo_bin!("highwater")).args(["restore", "0"]);
    traced.env("HIGHWATER_ROOT", project.root()).output().unwrap();
    project.write("src/lib.py", "mine");
    for (n, arguments) in [&["restore", "0"][..], &["finish"]].into_iter().enumerate() {
        let copies = tempfile::tempdir().unwrap();
        let copy = copies.path().join(n.to_string());
        project.run(&[arguments, &["--into", copy.to_str().unwrap()]].concat()).expect(0);
        assert!(std::fs::read_to_string(copy.join("src/lib.py")).unwrap().contains("return 1"));
    }
    let pending = project.run(&["status", "--json"]).expect(0).json();
    assert_eq!((pending["pending_restore"].as_u64(), project.read("src/lib.py").as_str()), (Some(1), "mine"));
    let refused = project.run(&["restore", "0"]).expect(1);
    assert!(refused.stderr.contains("nothing else was done"), "{refused:?}");
}

#[test]
fn the_config_of_a_loop_is_stored_again_from_its_file() {
    let project = project();
    project.run(&["restore", "0"]).expect(0);
    project.run(&["undo"]).expect(0);
    std::fs::remove_dir_all(project.path(".progress/objects")).unwrap();
    let says = |verified: &Answer| verified.stdout.contains("the object of its config is missing");
    assert!(says(&project.run(&["verify"]).expect(65)));
    let repaired = project.run(&["verify", "--repair"]).expect(65);
    assert!(!says(&repaired) && repaired.stdout.contains("restorable: 1\n"), "{repaired:?}");
}

// What a restore has staged is as large as what it gives back.
#[test]
fn what_a_restore_left_that_was_killed_before_it_began_goes_with_prune() {
    if !can_trace() {
        return;
    }
    let project = project();
    let mut traced = Command::new("strace");
    traced.args(["-f", "-qq", "-o", "/dev/null", "-e", "inject=fchmod:signal=KILL:when=3"]);
    traced.arg(assert_cmd::cargo::cargo_bin!("highwater")).args(["restore", "0"]);
    traced.env("HIGHWATER_ROOT", project.root()).output().unwrap();
    assert!(project.exists(".progress/restores/1/stage"));
    project.run(&["prune", "--dry-run"]).expect(0);
    assert!(project.exists(".progress/restores/1/stage"));
    project.run(&["prune"]).expect(0);
    assert!(!project.exists(".progress/restores/1") && project.read("src/lib.py").contains("return 2"));
}

#[test]
fn directories_and_links_that_the_work_tree_has_are_stored_again() {
    let project = Project::new();
    std::os::unix::fs::symlink("lib.py", project.path("src/link")).unwrap();
    project.tests(&[("one", true)]);
    project.run(&["begin", "--loop", "l"]).expect(0);
    let [pack] = &packs(&project)[..] else { panic!("one pack") };
    let good = std::fs::read(pack).unwrap();
    let mut mended = 0;
    for at in (8..good.len()).step_by(stride(7)) {
        let mut bad = good.clone();
        bad[at] ^= 1;
        // A repair may have set it aside.
        let _ = std::fs::remove_file(pack);
        std::fs::write(pack, &bad).unwrap();
        let verified = project.run(&["verify", "--json"]).json();
        if verified["restorable"].as_array().unwrap().is_empty() {
            let repaired = project.run(&["verify", "--repair", "--json"]).json();
            // The config is in no work tree.
            if !repaired.to_string().contains("object of its config") {
                assert_eq!(repaired["restorable"], serde_json::json!([0]), "byte {at}: {repaired}");
                mended += 1;
            }
        }
        packs(&project).iter().filter(|path| *path != pack).for_each(|path| std::fs::remove_file(path).unwrap());
        let _ = std::fs::remove_dir_all(project.path(".progress/cache"));
    }
    assert!(mended * stride(1) > 20, "{mended}");
}

#[test]
fn whatever_stops_a_restore_before_it_begins_says_that_nothing_was_changed() {
    let project = project();
    std::fs::remove_dir_all(project.path(".progress/objects")).unwrap();
    project.write(".progress/objects", "");
    let refused = project.run(&["restore", "0"]);
    assert_eq!((refused.code, refused.stderr.matches("nothing was changed").count()), (65, 1), "{refused:?}");
}
