//! PROMISES §6 by number: report files as a work tree offers them (P36–P41), config (C44–C50).

use std::os::unix::fs::PermissionsExt;

use crate::support::{Project, junit, make_fifo};

const TESTS: [(&str, bool); 2] = [("a", true), ("b", true)];

/// A loop with one iteration; the next record offers what the test prepares.
fn begun() -> Project {
    let project = Project::new();
    project.tests(&TESTS);
    project.run(&["begin"]).expect(0);
    project
}

/// What `record` made of a broken report: exit 65, kept without figures, nothing earlier harmed.
#[track_caller]
fn refused(project: &Project, arguments: &[&str], word: &str) {
    let before = project.read(".progress/loop-001/progress/iteration-000-baseline.json");
    let answer = project.run(&[&["record"], arguments].concat()).expect(65);
    assert!(answer.stderr.contains(word), "{answer:?}");
    let record = project.run(&["show", "1", "--json"]).expect(0).json();
    assert!(record["metrics"].get("testing").is_none(), "{record}");
    assert!(record["sources"].as_array().unwrap().iter().all(|source| source.get("figures").is_none()));
    assert_eq!(project.read(".progress/loop-001/progress/iteration-000-baseline.json"), before);
    project.run(&["gate"]).expect(13);
}

#[test]
fn p01_empty_reports_are_refused() {
    for text in ["", " \n\t", "\u{feff}"] {
        let project = begun();
        project.write("junit.xml", text);
        refused(&project, &[], "empty");
    }
}

#[test]
fn p02_a_cut_report_is_refused_and_opens_no_loop() {
    let whole = junit(&TESTS);
    let project = begun();
    project.write("junit.xml", &whole[..whole.len() - 15]);
    refused(&project, &[], "junit.xml");
    let fresh = Project::new();
    fresh.write("junit.xml", &whole[..whole.len() - 15]);
    let answer = fresh.run(&["begin"]).expect(65);
    assert!(answer.stderr.contains("junit.xml:") && answer.stderr.contains("no loop was opened"), "{answer:?}");
    assert_eq!(fresh.run(&["loops", "--json"]).expect(0).json()["loops"].as_array().unwrap().len(), 0);
    fresh.write("junit.xml", &whole);
    fresh.run(&["begin"]).expect(0);
}

#[test]
fn p03_a_named_file_that_is_no_report_is_refused_and_a_found_one_passed_over() {
    let html = "<!DOCTYPE html><html><body>502 Bad Gateway</body></html>\n";
    let project = begun();
    project.write("report.xml", html);
    refused(&project, &["--report", "report.xml"], "--report FORMAT:PATH");
    let project = begun();
    project.write("junit.xml", html);
    let answer = project.run(&["record"]).expect(0);
    assert!(answer.stderr.contains("passed over: junit.xml"), "{answer:?}");
    project.run(&["gate"]).expect(13);
}

#[test]
fn a_config_with_the_name_of_a_report_is_told_of_while_it_is_new() {
    let project = begun();
    let tells = || project.run(&["record"]).expect(0).stderr.contains("passed over: pyrightconfig.json");
    project.write("pyrightconfig.json", "{\"strict\": [\"src\"]}\n");
    assert!(tells() && !tells());
    project.write("pyrightconfig.json", "{\"strict\": []}\n");
    assert!(tells() && !tells());
}

#[test]
fn p07_a_report_given_as_another_format_is_refused() {
    let project = begun();
    project.coverage(5);
    refused(&project, &["--report", "junit:coverage.xml"], "coverage.xml");
    let unknown = project.run(&["record", "--report", "jnit:coverage.xml"]).expect(64);
    assert!(unknown.stderr.contains("junit"), "{unknown:?}");
}

#[test]
fn p36_a_link_inside_is_read_and_one_that_leads_out_is_refused() {
    let project = begun();
    project.write("out/real.xml", junit(&TESTS));
    std::fs::remove_file(project.path("junit.xml")).unwrap();
    std::os::unix::fs::symlink("out/real.xml", project.path("junit.xml")).unwrap();
    project.run(&["record"]).expect(0);
    let elsewhere = Project::new();
    elsewhere.tests(&TESTS);
    for target in [elsewhere.path("junit.xml"), "/proc/self/environ".into(), "/dev/zero".into()] {
        let project = begun();
        std::fs::remove_file(project.path("junit.xml")).unwrap();
        std::os::unix::fs::symlink(target, project.path("junit.xml")).unwrap();
        refused(&project, &[], "link out of the work tree");
    }
}

#[test]
fn p37_what_is_no_regular_file_is_refused_at_once() {
    let project = begun();
    std::fs::remove_file(project.path("junit.xml")).unwrap();
    let path = project.path("junit.xml");
    make_fifo(&path);
    refused(&project, &[], "not a regular file");

    let project = begun();
    std::fs::remove_file(project.path("junit.xml")).unwrap();
    let socket = std::os::unix::net::UnixListener::bind(project.path("junit.xml")).unwrap();
    let answer = project.run(&["record"]);
    assert!(matches!(answer.code, 1 | 65), "{answer:?}");
    drop(socket);

    let project = begun();
    project.write("folder/x", "");
    refused(&project, &["--report", "folder"], "a directory, not a file");
    for folder in [".", "./folder"] {
        let answer = project.run(&["inspect", folder]);
        assert!(answer.code == 65 && answer.stderr.contains(&format!("--> {folder}\n")), "{answer:?}");
    }
}

#[test]
fn p38_a_report_that_keeps_changing_is_refused() {
    let project = begun();
    let path = project.path("growing.xml");
    // Large enough that a copy takes longer than a change, without taking room on the disk.
    std::fs::write(&path, junit(&TESTS)).unwrap();
    std::fs::OpenOptions::new().append(true).open(&path).unwrap().set_len(64 << 20).unwrap();
    let stop = std::sync::atomic::AtomicBool::new(false);
    let answer = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                let file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
                std::io::Write::write_all(&mut &file, b"\n").unwrap();
            }
        });
        let answer = project.run(&["record", "--report", "growing.xml"]);
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        answer
    });
    assert_eq!(answer.code, 65, "{answer:?}");
    assert!(answer.stderr.contains("changes while it is read"), "{answer:?}");
}

#[test]
fn p39_a_stale_report_gives_no_numbers() {
    let project = begun();
    let record = project.run(&["record", "--json"]).expect(0).json();
    assert_eq!(record["sources"][0]["stale"], true, "{record}");
    assert!(record["metrics"].get("testing").is_none());
    project.run(&["gate"]).expect(13);
    // Touched but not written: the bytes are the same and the time is new, so somebody ran the tests again.
    project.tests(&TESTS);
    let record = project.run(&["record", "--json"]).expect(0).json();
    assert_eq!(record["metrics"]["testing"]["test_count"], 2);
    // The same time and the same bytes as the record before saw, although the record's own time is put back.
    let file = std::fs::File::open(project.path(".progress/loop-001/progress/iteration-002-metrics.json")).unwrap();
    let long_ago = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(86_400);
    file.set_times(std::fs::FileTimes::new().set_modified(long_ago)).unwrap();
    let record = project.run(&["record", "--json"]).expect(0).json();
    assert_eq!(record["sources"][0]["stale"], true, "{record}");
}

#[test]
fn p40_a_named_report_that_is_missing_is_an_error_and_nothing_is_recorded() {
    let project = begun();
    for missing in ["gone.xml", "gone/*.xml"] {
        let answer = project.run(&["record", "--report", missing]).expect(65);
        assert!(answer.stderr.contains("no such report") && answer.stderr.contains("help:"), "{answer:?}");
    }
    assert_eq!(project.run(&["log", "--json"]).json()["iterations"].as_array().unwrap().len(), 1);
    // A link to nothing, found by its name, is as missing: nothing to read, and no fault.
    std::fs::remove_file(project.path("junit.xml")).unwrap();
    std::os::unix::fs::symlink("nothing", project.path("junit.xml")).unwrap();
    project.run(&["record"]).expect(0);
}

#[test]
fn p41_too_many_reports_are_refused_with_their_count() {
    let project = Project::new();
    project.write("highwater.yaml", "limits:\n  reports: 3\n");
    for n in 0..5 {
        project.write(&format!("out/junit-{n}.xml"), junit(&TESTS));
    }
    let answer = project.run(&["begin"]).expect(65);
    assert!(answer.stderr.contains("more than 3 files") && answer.stderr.contains("limits.reports"), "{answer:?}");
}

#[test]
fn p41_a_report_over_the_limit_is_refused_unread() {
    let project = Project::new();
    project.write("highwater.yaml", "limits:\n  report_bytes: 100\n");
    project.tests(&TESTS);
    let answer = project.run(&["begin"]).expect(65);
    assert!(answer.stderr.contains("too large") && answer.stderr.contains("limits.report_bytes"), "{answer:?}");
}

#[track_caller]
fn config_refused(text: &str, words: &[&str]) {
    let project = Project::new();
    project.tests(&TESTS);
    project.write("highwater.yaml", text);
    let answer = project.run(&["begin"]).expect(65);
    for word in words {
        assert!(answer.stderr.contains(word), "{word}: {}", answer.stderr);
    }
    assert!(!project.exists(".progress/loop-001"), "nothing was opened");
}

#[test]
fn c44_unknown_keys_and_wrong_types_are_refused_with_their_line() {
    config_refused("stall:\n  windw: 4\n", &["windw", "window", "highwater.yaml:2"]);
    config_refused("stall:\n  window: many\n", &["highwater.yaml:2"]);
    config_refused("stall:\n\twindow: 4\n", &["highwater.yaml"]);
}

#[test]
fn c45_an_empty_config_is_the_defaults() {
    let project = Project::new();
    let defaults = project.run(&["config", "show", "--json"]).expect(0).json();
    project.write("highwater.yaml", "");
    assert_eq!(project.run(&["config", "show", "--json"]).expect(0).json()["config"], defaults["config"]);
}

#[test]
fn c46_values_out_of_range_are_refused() {
    config_refused("quality:\n  weights:\n    validation: 0.9\n", &["weights"]);
    config_refused("select:\n  threshold: 1.5\n", &["threshold"]);
    config_refused("select:\n  threshold: .nan\n", &["threshold"]);
}

#[test]
fn c47_bombs_and_doubles_are_refused() {
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for n in 1..12 {
        bomb.push_str(&format!("a{n}: &a{n} [{}]\n", vec![format!("*a{}", n - 1); 9].join(", ")));
    }
    config_refused(&bomb, &[]);
    config_refused(&"[".repeat(10_000), &[]);
    config_refused("stall:\n  window: 4\n  window: 5\n", &["window"]);
    config_refused(&format!("# {}\n", "x".repeat(3 << 20)), &[]);
}

#[test]
fn c48_text_that_looks_like_a_number_or_a_boolean_stays_text() {
    let project = Project::new();
    project.write("highwater.yaml", "capture:\n  include: [no, 12:30, 1e3, 010, 'yes']\n");
    let config = project.run(&["config", "show", "--json"]).expect(0).json();
    assert_eq!(config["config"]["capture"]["include"], serde_json::json!(["no", "12:30", "1e3", "010", "yes"]));
    // And it is the same after a loop has frozen it.
    project.run(&["begin"]).expect(0);
    project.run(&["record"]).expect(0);
    assert!(!project.run(&["record"]).expect(0).stderr.contains("config was changed"));
}

#[test]
fn c49_globs_that_lead_out_are_refused() {
    for glob in ["/**", "../x", "[z-a]"] {
        config_refused(&format!("reports:\n  globs: ['{glob}']\n"), &["globs"]);
    }
}

#[test]
fn c50_a_config_that_cannot_be_read_is_refused() {
    let project = Project::new();
    project.run(&["begin", "--config", "missing.yaml"]).expect(65);
    project.run(&["begin", "--config", "src"]).expect(65);
    project.write("highwater.yaml", "");
    std::fs::set_permissions(project.path("highwater.yaml"), std::fs::Permissions::from_mode(0o666)).unwrap();
    assert!(project.run(&["config", "show"]).expect(0).stderr.contains("everybody can write"));
}

#[test]
fn c51_a_config_that_is_changed_later_is_told_and_does_not_count() {
    let project = begun();
    project.write("highwater.yaml", "terminate:\n  max_iterations: 1\n");
    project.tests(&[("a", true), ("b", true), ("c", true)]);
    let answer = project.run(&["record"]).expect(0);
    assert!(answer.stderr.contains("config was changed since the baseline"), "{answer:?}");
    project.run(&["gate"]).expect(0);
    // The loop's own copy is edited: the object counts.
    project.write(".progress/loop-001/config.yaml", "stall:\n  window: 9\n");
    project.tests(&[("a", true), ("b", true), ("c", true), ("d", true)]);
    let answer = project.run(&["record"]).expect(0);
    assert!(answer.stderr.contains("config.yaml of the loop was edited"), "{answer:?}");
    project.run(&["verify", "--recompute"]).expect(0);
}
