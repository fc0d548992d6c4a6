//! What the agent said and changed, from outside: `--output`, the progress score, the reasons to call a loop stuck.

use serde_json::{Value, json};

use crate::support::{Project, assert_shape};

const PREVIOUS: &str = "Ran tests: 3 failed, 5 passed";
const CURRENT: &str = "Ran tests: 2 failed, 6 passed";

/// So many lines, of which none is in a text made with another letter.
fn lines(letter: char, count: usize) -> String {
    (0..count).map(|number| format!("{letter}{number}\n")).collect()
}

/// A loop whose agent said this before it began.
fn begun(output: &str, options: &[&str]) -> Project {
    let project = Project::new();
    project.tests(&[("a", true), ("b", false)]);
    project.write("said.txt", output);
    let begin = ["begin", "--loop", "auth", "--output", "said.txt"];
    project.run(&[&begin[..], options].concat()).expect(0);
    project
}

fn record(project: &Project, output: &str) -> Value {
    project.write("said.txt", output);
    // Another time in it: a report, but the same figures.
    project.tests(&[("a", true), ("b", false)]);
    let record = project.run(&["record", "--output", "said.txt", "--json"]).expect(0).json();
    assert_shape("record", &record);
    record
}

fn signal(record: &Value, name: &str) -> f64 {
    let signals = record["progress"]["signals"].as_array().unwrap();
    signals.iter().find(|signal| signal["name"] == name).unwrap()["value"].as_f64().unwrap()
}

fn close(a: &Value, b: f64) -> bool {
    (a.as_f64().unwrap() - b).abs() < 5e-7
}

fn rules(record: &Value) -> Vec<&str> {
    record["alerts"].as_array().unwrap().iter().map(|alert| alert["rule"].as_str().unwrap()).collect()
}

#[test]
fn v15_all_four_signals_come_from_the_output_and_the_two_snapshots() {
    let project = begun(PREVIOUS, &[]);
    project.write("src/new.py", lines('a', 10));
    project.write("src/lib.py", "def one():\n    return 2\n");
    let first = record(&project, CURRENT);
    assert!((signal(&first, "output_diff") - 0.068966).abs() < 5e-7, "{first:#}");
    assert_eq!(first["line_changes"], json!({"insertions": 11, "deletions": 1}));
    assert!((signal(&first, "file_changes") - 0.12).abs() < 1e-9);
    assert_eq!((signal(&first, "markers"), signal(&first, "checklist")), (0.0, 0.0));
    assert!(close(&first["progress"]["score"], 0.3 * 0.068_965_5 + 0.3 * 0.12), "{first:#}");
    let marked = format!("{CURRENT}\n<progress>login</progress>\n- [x] login\n");
    let second = record(&project, &marked);
    assert_eq!((signal(&second, "markers"), signal(&second, "checklist")), (0.5, 1.0));
    assert_eq!(second["progress"]["no_progress"], false);
    let page = project.run(&["show", "2"]).expect(0).stdout;
    assert!(page.contains("checklist") && page.contains("0 lines came, 0 went"), "{page}");
    let report = project.read(".progress/auth/reports/iteration-001-report.md");
    assert!(
        report.contains("| output_diff | 0.069 | 0.300 |") || report.contains("| output_diff | 0.069 |"),
        "{report}"
    );
    assert!(report.contains("**Lines**: 11 came, 1 went"), "{report}");
}

#[test]
fn v15_49_lines_alone_are_no_progress_and_50_are() {
    for (count, no_progress, score) in [(49, true, 0.147), (50, false, 0.15)] {
        let project = begun("the same", &[]);
        project.write("src/new.py", lines('a', count));
        let record = record(&project, "the same");
        assert!(close(&record["progress"]["score"], score), "{record:#}");
        assert_eq!(record["progress"]["no_progress"], no_progress);
    }
}

#[test]
fn without_an_output_nothing_is_invented_and_nothing_is_stuck() {
    let project = Project::new();
    project.tests(&[("a", true)]);
    project.run(&["begin", "--", "true"]).expect(0);
    for number in 1..=4 {
        project.write("src/new.py", lines('a', number * 3));
        let record = project.run(&["record", "--json", "--", "true"]).expect(0).json();
        let progress = &record["progress"];
        assert_eq!(progress["signals"][0]["name"], "file_changes");
        assert_eq!(
            (&progress["signals"][0]["weight"], progress["signals"].as_array().unwrap().len()),
            (&json!(1.0), 1)
        );
        assert_eq!((&progress["no_progress_count"], &progress["no_progress"]), (&json!(0), &json!(false)));
        assert!(record["output"].is_null() && !rules(&record).contains(&"progress_stuck"), "{record:#}");
    }
}

#[test]
fn the_first_thing_that_the_agent_says_is_new_and_one_after_a_gap_is_not_known() {
    let project = Project::new();
    project.tests(&[("a", true)]);
    project.run(&["begin"]).expect(0);
    let first = record(&project, "hello");
    assert_eq!(signal(&first, "output_diff"), 1.0);
    let project = Project::new();
    project.tests(&[("a", true)]);
    project.run(&["begin"]).expect(0);
    project.run(&["record"]).expect(0);
    let later = record(&project, "hello");
    assert_eq!(later["progress"]["signals"][0]["name"], "file_changes");
}

#[test]
fn three_in_a_row_are_stuck_by_flag_after_two_and_other_rules_say_when() {
    let project = begun("same", &[]);
    record(&project, "same");
    record(&project, "same");
    let third = record(&project, "same");
    assert!(rules(&third).contains(&"progress_stuck"), "{third:#}");
    assert_eq!((&third["progress"]["no_progress_count"], &third["progress"]["is_stuck"]), (&json!(3), &json!(true)));
    let log = project.run(&["log", "--json"]).expect(0).json();
    assert_eq!(log["iterations"][3]["progress"]["no_progress_count"], 3);

    let project = begun("same", &["--stuck-after", "2", "--progress-threshold", "0.2"]);
    record(&project, "same");
    project.write("src/new.py", lines('a', 60));
    let second = record(&project, "same");
    assert!(close(&second["progress"]["score"], 0.18) && rules(&second).contains(&"progress_stuck"), "{second:#}");
    let evidence =
        &second["alerts"].as_array().unwrap().iter().find(|a| a["rule"] == "progress_stuck").unwrap()["evidence"];
    assert_eq!(evidence, &json!(["iteration 1: progress 0.000", "iteration 2: progress 0.180"]));
    let answer = project.run(&["record"]).expect(0);
    assert!(!answer.stderr.contains("config was changed"), "the flags are no change: {answer:?}");
    assert!(project.read(".progress/auth/config.yaml").contains("stuck_after: 2"));

    let project = Project::new();
    project.write("highwater.yaml", "rules: {progress_stuck: off}\nprogress: {stuck_after: 1}\n");
    project.tests(&[("a", true), ("b", false)]);
    project.write("said.txt", "same");
    project.run(&["begin", "--output", "said.txt"]).expect(0);
    assert!(!rules(&record(&project, "same")).contains(&"progress_stuck"));
    let answer = project.run(&["explain", "progress_stuck"]).expect(0);
    assert!(answer.stdout.contains("progress.stuck_after: 1") && answer.stdout.contains("\"off\""), "{answer:?}");
}

#[test]
fn every_meaning_of_stuck_is_listed_and_explained() {
    let project = Project::new();
    let listed = project.run(&["list", "detectors", "--jsonl"]).expect(0).stdout;
    for name in [
        "stalled",
        "infinite_loop",
        "metric_cycling",
        "progress_stuck",
        "estimate_stuck",
        "stuck_candidate",
        "repeated_state",
        "no_improvement",
        "exact_cycle",
    ] {
        assert!(listed.contains(&format!("\"{name}\"")), "{name}");
        let told = project.run(&["explain", name]).expect(0).stdout;
        assert!(told.contains("Formula:") && told.contains(&format!("rules.{name}: \"on\"")), "{told}");
    }
}

#[test]
fn flags_out_of_range_are_64() {
    let project = Project::new();
    for wrong in [["--progress-threshold", "1.5"], ["--progress-threshold", "x"], ["--stuck-after", "0"]] {
        project.run(&["begin", wrong[0], wrong[1]]).expect(64);
    }
    assert!(!project.exists(".progress"));
}

#[test]
fn the_output_is_kept_as_evidence_and_is_no_code() {
    let project = begun("one", &[]);
    let first = record(&project, "<progress>two</progress>");
    let second = record(&project, "three and more");
    assert_eq!(first["tree_key"], second["tree_key"], "only the output differs");
    assert_eq!(second["line_changes"], json!({"insertions": 0, "deletions": 0}));
    assert_eq!(first["metrics"]["codebase"]["file_count"], 1, "src/lib.py alone");
    let answer = project.run(&["verify", "--recompute", "--json"]).expect(0).json();
    assert_eq!(answer["findings"], json!([]), "{answer:#}");
    assert_eq!(project.run(&["replay", "--json"]).expect(0).json()["changes"], json!([]));
    let artifact =
        format!(".progress/auth/iterations/iteration-002/artifacts/{}", second["output"]["artifact"].as_str().unwrap());
    assert_eq!(project.read(&artifact), "three and more");
    std::fs::remove_file(project.path(&artifact)).unwrap();
    project.write(&artifact, "another");
    let answer = project.run(&["verify", "--json"]).json();
    assert!(answer["findings"].to_string().contains("its hash differs"), "{answer:#}");
}

#[test]
fn an_output_that_looks_like_a_report_is_none() {
    let project = Project::new();
    project.tests(&[("a", true)]);
    project.write("test-output.txt", "============ 7 passed in 0.12s ============\n");
    let record = project.run(&["begin", "--output", "test-output.txt", "--json"]).expect(0).json();
    assert_eq!(record["metrics"]["testing"]["test_count"], 1, "{record:#}");
}

#[test]
fn an_output_that_cannot_be_read_opens_no_loop_and_loses_no_iteration() {
    let project = Project::new();
    project.tests(&[("a", true)]);
    std::fs::create_dir(project.path("folder")).unwrap();
    project.run(&["begin", "--output", "folder"]).expect(65);
    project.run(&["begin", "--output", "absent.txt"]).expect(65);
    project.run(&["begin"]).expect(0);
    let answer = project.run(&["record", "--output", "folder", "--json"]).expect(65);
    assert!(answer.json()["output"].is_null() && answer.stderr.contains("folder"), "{answer:?}");
    project.write("large.txt", vec![b'x'; (16 << 20) + 1]);
    let answer = project.run(&["record", "--output", "large.txt", "--json"]).expect(65);
    assert_eq!(answer.json()["iteration"], 2);
}

/// A loop that does the same thing three times, measured with a command that fails.
fn stuck() -> Project {
    let project = Project::new();
    let console = "F.\nsomething went wrong\n========= 1 failed, 1 passed in 0.12s =========\n";
    project.write("console.txt", console);
    let command = ["--", "sh", "-c", "cat console.txt; exit 1"];
    project.run(&[&["begin", "--loop", "auth"][..], &command].concat()).expect(0);
    project.write("src/lib.py", "def one():\n    return 3\n");
    for _ in 0..3 {
        project.run(&[&["record"][..], &command].concat()).expect(0);
    }
    project
}

#[test]
fn a_loop_whose_state_repeats_should_end_and_its_reports_say_why_it_stopped() {
    let project = stuck();
    let record = project.run(&["show", "3", "--json"]).expect(0).json();
    assert_eq!(record["terminal_status"], "aborted_stuck", "{record:#}");
    assert!(rules(&record).contains(&"stuck_candidate"));
    project.run(&["gate"]).expect(10);
    let text = project.read(".progress/auth/reports/iteration-003-report.md");
    let (_, why) = text.split_once("### Why We Stopped").unwrap_or_else(|| panic!("{text}"));
    for told in [
        "repeated_state, steps 1 to 3",
        "ended with exit code 1",
        "highwater restore --loop auth",
        "Suggestion:",
        "| 3 |",
        "`something went wrong`",
    ] {
        assert!(why.contains(told), "{told}: {why}");
    }
    assert!(!project.read(".progress/auth/reports/iteration-002-report.md").contains("Why We Stopped"));
    assert_eq!(project.run(&["report", "3"]).expect(0).stdout, text);
    project.run(&["finish"]).expect(0);
    let selection = project.read(".progress/auth/reports/output-selection-report.md");
    assert!(selection.contains("## Why We Stopped") && selection.contains("repeated"), "{selection}");
    let answer = project.run(&["verify", "--repair", "--json"]).expect(0).json();
    assert!(answer["repaired"].is_null(), "what is made again is the same: {answer:#}");
}

#[test]
fn with_the_controller_off_the_loop_goes_on() {
    let project = Project::new();
    project.write("highwater.yaml", "rules: {stuck_candidate: off, stalled: off}\n");
    project.tests(&[("a", true)]);
    project.run(&["begin"]).expect(0);
    for _ in 0..4 {
        project.tests(&[("a", true)]);
        project.run(&["record"]).expect(0);
    }
    project.run(&["gate"]).expect(0);
}
