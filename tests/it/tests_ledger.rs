//! The ledger of tests: which iteration broke a test, which tests flake, and running newly failing ones again.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::support::{Answer, Project, assert_shape};

/// Ten tests, those named here failing.
fn ten(project: &Project, failing: &[&str]) {
    let names: Vec<String> = (0..10).map(|n| format!("t{n}")).collect();
    let tests: Vec<(&str, bool)> =
        names.iter().map(|name| (name.as_str(), !failing.contains(&name.as_str()))).collect();
    project.tests(&tests);
}

/// A runner, as a word of a command: it tells which words it got, and each test passes as often as `passes` says it does.
fn runner(project: &Project, passes: bool) -> String {
    let script = project.path("again.sh");
    let body = if passes { "/>" } else { "><failure message=\"still\">x</failure></testcase>" };
    let text = format!(
        "#!/bin/sh\nfor word; do echo \"asked: $word\"; done\n{{ echo '<testsuites><testsuite name=\"unit\">'\n\
         for word; do echo \"<testcase classname=\\\"tests.unit\\\" name=\\\"${{word##*::}}\\\"{}\"; done\n\
         echo '</testsuite></testsuites>'; }} > junit.xml\n",
        body.replace('"', "\\\"")
    );
    project.write("again.sh", text);
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    format!("'{}'", script.display())
}

fn begun() -> Project {
    let project = Project::new();
    ten(&project, &[]);
    project.run(&["begin", "--loop", "auth"]).expect(0);
    project
}

fn record(project: &Project, change: &str, failing: &[&str], arguments: &[&str]) -> Answer {
    project.write("src/lib.py", format!("x = {change:?}\n"));
    ten(project, failing);
    let mut all = vec!["record", "--json"];
    all.extend_from_slice(arguments);
    project.run(&all).expect(0)
}

fn alert<'a>(record: &'a Value, rule: &str) -> &'a Value {
    let alerts = record["alerts"].as_array().unwrap();
    alerts.iter().find(|alert| alert["rule"] == rule).unwrap_or_else(|| panic!("no {rule}: {record:#}"))
}

#[test]
fn a_failing_test_tells_where_and_why() {
    let project = begun();
    let failure = format!(
        "<failure message=\"no luck\">no\n\n{}:7: AssertionError</failure></testcase>",
        project.path("src/lib.py").display()
    );
    let passed = project.read("junit.xml");
    let line = passed.lines().find(|line| line.contains("\"t3\"")).unwrap();
    let failed = format!("{}>{failure}", line.trim_end_matches("/>"));
    project.write("junit.xml", passed.replace(line, &failed));
    project.write("src/lib.py", "x = 3\n");
    project.run(&["record"]).expect(0);
    let shown = project.run(&["tests"]).expect(0).stdout;
    assert!(shown.contains("src/lib.py:7: no luck"), "{shown}");
    let answer = project.run(&["tests", "--json"]).expect(0).json();
    assert_shape("tests", &answer);
    let test = &answer["tests"][0];
    assert_eq!((&test["file"], &test["line"], &test["message"]), (&json!("src/lib.py"), &json!(7), &json!("no luck")));
}

#[test]
fn what_a_runner_tried_again_by_itself_refutes_nothing() {
    let project = Project::new();
    ten(&project, &[]);
    let report = project.read("junit.xml");
    let passed = report.lines().find(|line| line.contains("\"t3\"")).unwrap();
    let tries = "<flakyFailure message=\"x\" type=\"E\">x</flakyFailure>".repeat(2);
    let flaky = format!("{}>{tries}</testcase>", passed.trim_end_matches("/>"));
    project.write("junit.xml", report.replace(passed, &flaky));
    let begun = project.run(&["begin", "--loop", "auth", "--json"]).expect(0).json();
    assert_eq!(begun["metrics"]["testing"]["tests_flaky"], 1, "{begun:#}");
    let told = record(&project, "one", &["t3"], &[]).json();
    assert_eq!(alert(&told, "working_tests_failing")["status"], "suspected", "{told:#}");
    assert_eq!(told["classification"], "regression");
}

#[test]
fn a_flake_that_passes_when_run_again_is_no_regression() {
    let project = begun();
    let command = format!("{} {{ids}}", runner(&project, true));
    let answer = record(&project, "one", &["t3"], &["--rerun", &command]);
    assert!(answer.stderr.contains("asked: tests.unit::t3"), "{answer:?}");
    let told = answer.json();
    assert_shape("record", &told);
    assert_eq!(told["metrics"]["testing"]["tests_failed"], 1, "what was measured stays");
    let found = alert(&told, "working_tests_failing");
    assert_eq!((&found["status"], &found["subject"]), (&"refuted".into(), &"tests.unit::t3".into()));
    assert_eq!(told["classification"], "plateau");
    assert_eq!(told["reruns"].as_array().unwrap().len(), 1);
    assert_eq!(told["from_previous"]["tests"]["flaky"]["names"][0], "tests.unit::t3");
    let log = project.run(&["log", "--json"]).expect(0).json();
    assert_eq!(log["iterations"][1]["eligible"], true);

    let flaky = project.run(&["tests", "--flaky", "--json"]).expect(0).json();
    assert_eq!(flaky["tests"][0]["id"], "tests.unit::t3");
    assert_eq!(flaky["tests"][0]["same_tree"], serde_json::json!({"runs": 2, "failed": 1}));
    assert_eq!(flaky["tests"][0]["message"], "assert 1 == 2");
    project.run(&["verify", "--recompute"]).expect(0);
    let replay = project.run(&["replay", "--json"]).expect(0).json();
    assert_eq!(replay["changes"], serde_json::json!([]));
}

#[test]
fn a_test_that_fails_again_is_confirmed_after_as_many_reruns_as_it_takes() {
    let project = begun();
    let command = format!("{} {{ids}}", runner(&project, false));
    let told = record(&project, "one", &["t3", "t4"], &["--rerun", &command]).json();
    let found = alert(&told, "working_tests_failing");
    assert_eq!((&found["status"], &found["reliability"]), (&"confirmed".into(), &0.95.into()));
    assert_eq!(told["reruns"].as_array().unwrap().len(), 1, "one is enough where nothing is known to flake");
    assert_eq!(told["reruns"][0]["outcomes"].as_object().unwrap().len(), 2);
    assert_eq!(told["classification"], "regression");
    project.run(&["verify", "--recompute"]).expect(0);
}

#[test]
fn nothing_is_run_for_a_parent_that_is_not_there() {
    let project = begun();
    ten(&project, &["t3"]);
    let command = format!("{} {{ids}}", runner(&project, true));
    let answer = project.run(&["record", "--parent", "7", "--rerun", &command]).expect(65);
    assert!(answer.stderr.contains("no iteration 7") && !answer.stderr.contains("asked:"), "{answer:?}");
}

#[test]
fn without_being_asked_nothing_is_run_again() {
    let project = begun();
    let told = record(&project, "one", &["t3"], &[]).json();
    let found = alert(&told, "working_tests_failing");
    assert_eq!((&found["status"], &found["reliability"]), (&"suspected".into(), &0.6.into()));
    let evidence = "broken with probability 0.58: 1 rerun would settle it: tests.unit::t3";
    assert_eq!(found["evidence"][0], evidence);
    assert!(told.get("reruns").is_none());
}

#[test]
fn the_config_can_ask_for_reruns_and_bounds_them() {
    let project = Project::new();
    let command = runner(&project, false);
    let config = format!("flake: {{rerun: \"{command} {{ids}}\", max_tests: 1, confirmed: 0.9999, max_reruns: 2}}\n");
    project.write("highwater.yaml", &config);
    ten(&project, &[]);
    project.run(&["begin"]).expect(0);
    let many = record(&project, "one", &["t3", "t4"], &[]);
    assert!(many.stderr.contains("more than flake.max_tests (1)"), "{many:?}");
    record(&project, "two", &[], &[]);
    let told = record(&project, "three", &["t3"], &[]).json();
    assert_eq!(told["reruns"].as_array().unwrap().len(), 2);

    let mode =
        |mode| std::fs::set_permissions(project.path("highwater.yaml"), PermissionsExt::from_mode(mode)).unwrap();
    mode(0o666);
    let refused = project.run(&["begin", "--loop", "other"]).expect(65);
    assert!(refused.stderr.contains("names a command"), "{refused:?}");
    mode(0o644);
    for bad in ["flake: {rerun: \"pytest\"}", "flake: {rerun: \"pytest '{ids}\"}", "flake: {prior_break: 0}"] {
        project.write("highwater.yaml", bad);
        project.run(&["begin", "--loop", "other"]).expect(65);
    }
    project.run(&["record", "--rerun", "pytest"]).expect(64);
}

#[test]
fn names_are_words_and_never_code() {
    let project = Project::new();
    let hostile = ["--rootdir=/", "$(touch hacked)", "`touch hacked`;touch hacked", "a b"];
    let tests = |passes: bool| {
        let all: Vec<(String, bool)> = hostile.iter().map(|name| ((*name).to_owned(), passes)).collect();
        let all: Vec<(&str, bool)> = all.iter().map(|(name, passes)| (name.as_str(), *passes)).collect();
        // Without a class the name is the whole id.
        crate::support::junit(&all).replace(" classname=\"tests.unit\"", "").replace(" name=\"unit\"", "")
    };
    project.write("junit.xml", tests(true));
    project.run(&["begin"]).expect(0);
    project.write("src/lib.py", "x = 2\n");
    project.write("junit.xml", tests(false));
    let command = format!("{} {{ids}}", runner(&project, true));
    let answer = project.run(&["record", "--rerun", &command]).expect(0);
    let asked: Vec<&str> = answer.stderr.lines().filter_map(|line| line.strip_prefix("asked: ")).collect();
    assert!(asked.contains(&"$(touch hacked)") && asked.contains(&"a b"), "{answer:?}");
    assert!(!asked.iter().any(|word| word.starts_with('-')), "{answer:?}");
    assert!(!project.exists("hacked"));
}

#[test]
fn a_tree_that_is_measured_again_settles_what_failed_on_it() {
    let project = begun();
    record(&project, "one", &[], &[]);
    // The same tree once more, and a test fails that passed on it just now.
    let told = record(&project, "one", &["t3"], &[]).json();
    assert_eq!(alert(&told, "working_tests_failing")["status"], "refuted");
    assert_eq!(told["classification"], "plateau");
    // Another tree, and it fails again: one failure in two runs is too many to take this one for a break.
    let told = record(&project, "two", &["t3"], &[]).json();
    assert_eq!(alert(&told, "working_tests_failing")["status"], "refuted");
    let flaky = project.run(&["tests", "--flaky"]).expect(0);
    assert!(flaky.stdout.contains("tests.unit::t3"), "{flaky:?}");
    project.run(&["verify", "--recompute"]).expect(0);
}

#[test]
fn the_ledger_tells_which_iteration_broke_a_test_and_what_it_changed() {
    let project = begun();
    record(&project, "one", &[], &[]);
    project.write("src/extra.py", "y = 1\n");
    record(&project, "two", &["t3"], &[]);
    record(&project, "three", &["t3", "t4"], &[]);
    let told = project.run(&["tests", "--broken", "--json"]).expect(0).json();
    assert_shape("tests", &told);
    assert_eq!(told["iteration"], 3);
    assert_eq!(told["counts"]["failed"], 2);
    let test = &told["tests"][0];
    assert_eq!(test["id"], "tests.unit::t3");
    assert_eq!((&test["failing_since"], &test["last_passed"]), (&2.into(), &1.into()));
    let files: Vec<&str> =
        test["files"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect();
    assert_eq!(files, ["src/extra.py", "src/lib.py"]);

    let lines = project.run(&["tests", "--jsonl"]).expect(0).stdout;
    assert_eq!(lines.lines().count(), 2);
    lines.lines().for_each(|line| assert_shape("test-line", &serde_json::from_str(line).unwrap()));

    let history = project.run(&["tests", "--history", "::t3", "--json"]).expect(0).json();
    assert_shape("test-history", &history);
    let events: Vec<u64> =
        history["events"].as_array().unwrap().iter().map(|event| event["iteration"].as_u64().unwrap()).collect();
    assert_eq!(events, [0, 2]);
    let lines = project.run(&["tests", "--history", "t3", "--jsonl"]).expect(0).stdout;
    lines.lines().for_each(|line| assert_shape("test-event", &serde_json::from_str(line).unwrap()));
    // As pytest prints it; its JUnit file says tests.unit::t3.
    let printed = project.run(&["tests", "--history", "tests/unit.py::t3", "--json"]).expect(0).json();
    assert_eq!(printed["id"], history["id"]);
    assert!(history["id"].is_string());
    project.run(&["tests", "--history", "tests/unit.py::Class::t3[a::b]"]).expect(65);
    let many = project.run(&["tests", "--history", "unit"]).expect(65);
    assert!(many.stderr.contains("10 tests have unit in their name"), "{many:?}");
    project.run(&["tests", "--history", "nobody"]).expect(65);
    project.run(&["tests", "--history", "t3", "--flaky"]).expect(64);
    let screen = project.run(&["tests"]).expect(0).stdout;
    assert!(screen.contains("broken in iteration 2") && screen.contains("passed last in iteration 1"), "{screen}");
}

#[test]
fn what_is_kept_of_the_ledger_is_made_again_where_it_is_gone_edited_or_behind() {
    let project = begun();
    record(&project, "one", &["t3"], &[]);
    let file = ".progress/auth/progress/tests.jsonl";
    assert!(!project.exists(file), "recording does not touch it");
    let first = project.run(&["tests", "--json"]).expect(0).stdout;
    let kept = project.read(file);
    for (n, line) in kept.lines().enumerate() {
        assert_shape(if n == 0 { "ledger-head" } else { "ledger-frame" }, &serde_json::from_str(line).unwrap());
    }
    project.write(file, kept.replace("t3", "t7"));
    assert_eq!(project.run(&["tests", "--json"]).expect(0).stdout, first);
    assert_eq!(project.read(file), kept);
    std::fs::remove_file(project.path(file)).unwrap();
    assert_eq!(project.run(&["tests", "--json"]).expect(0).stdout, first);
    record(&project, "two", &[], &[]);
    let told = project.run(&["tests", "--json"]).expect(0).json();
    assert_eq!((&told["iteration"], &told["counts"]["failed"]), (&2.into(), &0.into()));
    assert!(project.read(file).lines().count() == 4 && project.read(file).lines().nth(1) == kept.lines().nth(1));
}

#[test]
fn a_loop_whose_reports_name_no_tests_has_no_ledger() {
    let project = Project::new();
    project.run(&["begin"]).expect(0);
    let answer = project.run(&["tests"]).expect(65);
    assert!(answer.stderr.contains("names its tests"), "{answer:?}");
}

#[test]
fn where_those_that_fail_are_named_alone_they_are_listed() {
    let project = Project::new();
    let record = |words: &[&str], failing: &[&str], passed: usize| {
        let count = failing.len();
        let title = |words: &str| format!("{words:=^80}\n");
        let mut told = title(" FAILURES ");
        for id in failing {
            let name = format!(" {} ", id.rsplit(':').next().unwrap_or_default());
            told += &format!("{name:_^80}\n\n>       assert 1 == 2\nE       assert 1 == 2\n\nt.py:7: AssertionError\n");
        }
        told += &title(" short test summary info ");
        failing.iter().for_each(|id| told += &format!("FAILED {id} - assert 1 == 2\n"));
        let last = if count > 0 { format!("{count} failed, {passed} passed") } else { format!("{passed} passed") };
        let told = if count > 0 { told } else { String::new() };
        let (head, last) = (title(" test session starts "), title(&format!(" {last} in 0.03s ")));
        project.write("out.txt", format!("{head}collected {} items\n\n{told}{last}", count + passed));
        project.run(&[words, &["--report", "out.txt", "--json"]].concat()).expect(0).json()
    };
    project.write("t.py", "def test_a(): assert 1 == 2\n");
    record(&["begin"], &["t.py::test_a"], 9);
    let told = record(&["record"], &["t.py::test_a"], 9);
    assert_eq!(told["alerts"], serde_json::json!([]));
    // As many fail, by another name.
    let told = record(&["record"], &["t.py::test_b"], 9);
    assert_eq!(
        (&told["class_rule"], &told["alerts"][0]["evidence"][0]),
        (&"R5".into(), &"did not fail at iteration 1: t.py::test_b".into())
    );
    let told = record(&["record"], &["t.py::test_b", "t.py::test_c"], 8);
    assert_eq!(told["alerts"][0]["severity"], "critical");
    assert_eq!(told["alerts"][0]["evidence"][0], "did not fail at iteration 2: t.py::test_c");
    let annotations = project.run(&["report", "3", "--format", "github-annotations"]).expect(0).stdout;
    let place = annotations.lines().find(|line| line.contains("test_c")).unwrap();
    assert!(place.contains("file=t.py,line=7") && !annotations.contains("test_b"), "{annotations}");
    // Written before the code: one more test runs, and it fails.
    let told = record(&["record"], &["t.py::test_b", "t.py::test_c", "t.py::test_new"], 8);
    assert_eq!(
        told["alerts"].as_array().unwrap().iter().filter(|alert| alert["rule"] != "pass_rate_regression").count(),
        0
    );

    let shown = project.run(&["show", "4"]).expect(0).stdout;
    assert!(shown.contains("tests failing (3)") && shown.contains("t.py::test_new"), "{shown}");
    let screen = project.run(&["tests"]).expect(0).stdout;
    for line in
        ["iteration 4: 11 tests", "8 pass, 3 fail, 0 skipped", "failing since iteration 2 (1)", "t.py::test_new"]
    {
        assert!(screen.contains(line), "{screen}");
    }
    let tests = project.run(&["tests", "--broken", "--json"]).expect(0).json();
    assert_shape("tests", &tests);
    let since: Vec<_> = tests["tests"].as_array().unwrap().iter().map(|test| test["failing_since"].clone()).collect();
    assert_eq!((since, &tests["tests"][0]["outcome"]), (vec![2.into(), 3.into(), 4.into()], &"failed".into()));
    assert_eq!((&tests["tests"][0]["last_passed"], &tests["tests"][0]["line"]), (&serde_json::Value::Null, &7.into()));
    project.run(&["tests", "--flaky"]).expect(65);
    project.run(&["tests", "--history", "test_b"]).expect(65);
    // One that names all of them, and one that does not again.
    let case = |name: &str, inner: &str| format!("<testcase classname=\"t\" name=\"{name}\">{inner}</testcase>");
    let junit = format!("<testsuite name=\"s\">{}{}</testsuite>", case("test_a", ""), case("test_b", "<failure/>"));
    project.write("junit.xml", junit);
    project.run(&["record", "--report", "junit.xml"]).expect(0);
    assert!(project.run(&["tests"]).expect(0).stdout.contains("iteration 5: 2 tests"));
    record(&["record"], &["t::test_a", "t::test_b"], 9);
    let screen = project.run(&["tests"]).expect(0).stdout;
    for line in [
        "iteration 6",
        "broken in iteration 6 (1)",
        "t::test_a, passed last in iteration 5",
        "failing since iteration 5 (1)",
    ] {
        assert!(screen.contains(line), "{line}: {screen}");
    }
    record(&["record"], &[], 11);
    assert!(project.run(&["tests"]).expect(0).stdout.contains("11 pass, 0 fail"));
}

#[test]
fn v14_a_test_with_another_name_and_the_same_source_is_the_same_test() {
    let (old, new) = ("test_parsing_pre_and_build_metadata_see_issue_217", "test_leading_digit_in_pre_and_build");
    let project = Project::new();
    let suite = |name: &str| {
        project.write(
            "tests/test_semver.py",
            format!("def {name}():\n    version = parse('1-0a+1b')\n    assert version.pre == ('0a',)\n    assert version.build == ('1b',)\n"),
        );
        project.write(
            "junit.xml",
            format!("<testsuites><testsuite name=\"u\"><testcase classname=\"tests.test_semver\" name=\"{name}\"/></testsuite></testsuites>"),
        );
    };
    suite(old);
    project.run(&["begin", "--loop", "auth"]).expect(0);
    suite(new);
    let told = project.run(&["record", "--json"]).expect(0).json();
    assert_eq!(told["alerts"], serde_json::json!([]));
    assert_eq!(told["from_previous"]["test_count"], 0);
    assert_eq!(told["same_bodies"].as_array().unwrap().len(), 1);
    assert_eq!(told["from_previous"]["tests"]["renamed"][0]["because"], "body");
    project.run(&["verify", "--recompute"]).expect(0);
    assert_eq!(project.run(&["replay", "--json"]).expect(0).json()["changes"], serde_json::json!([]));
    let history = project.run(&["tests", "--history", new, "--json"]).expect(0).json();
    assert_eq!(history["earlier_ids"][0], format!("tests.test_semver::{old}"));
}

// pytest, Jest, RSpec and others name no test that passes: a failing one that is swapped for another changes no count.
#[test]
fn a_failing_test_whose_source_is_gone_was_removed_where_no_other_is_named() {
    let project = Project::new();
    let test = |name: &str, sum: u32| {
        format!("def {name}():\n    a = add(1, 2)\n    b = add(a, 3)\n    assert b == {sum}\n\n\n")
    };
    let run = |command: &str, tests: &[&str], failing: &[&str]| {
        let sum = |name: &str| match name {
            "test_adds" => 6,
            "test_counts" => 7,
            _ => 8,
        };
        let source: String = tests.iter().map(|name| test(name, sum(name))).collect();
        project.write("tests/test_cart.py", source);
        let failed: String =
            failing.iter().map(|name| format!("FAILED tests/test_cart.py::{name} - assert 6 == 7\n")).collect();
        let (failures, passed) = (failing.len(), 9 - failing.len());
        let summary =
            if failures > 0 { format!("{failures} failed, {passed} passed") } else { format!("{passed} passed") };
        let said = format!(
            "=== test session starts ===\ncollected 9 items\n\n=== short test summary info ===\n{failed}=== {summary} in 0.10s ===\n"
        );
        project.write("said", said);
        let record = project.run(&[command, "--json", "--", "cat", "said"]).expect(0).json();
        let rules: Vec<String> = record["alerts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|alert| alert["rule"].as_str().unwrap().to_owned())
            .collect();
        let open = record["open_findings"].as_array().map_or(0, Vec::len);
        (rules.join(" "), open, record["recommendation"]["action"].as_str().unwrap_or_default().to_owned())
    };
    let told = |rules: &str, open: usize, action: &str| (rules.to_owned(), open, action.to_owned());
    project.write("tests/test_other.py", test("test_works", 6));
    run("begin", &["test_adds", "test_counts", "test_fails"], &["test_fails", "test_counts"]);
    let renamed = run("record", &["test_adds", "test_counts", "test_again"], &["test_again", "test_counts"]);
    assert_eq!(renamed, told("", 0, "continue"));
    let fixed = run("record", &["test_adds", "test_counts", "test_passes"], &["test_counts"]);
    assert_eq!(fixed, told("", 0, "continue"), "its source is there, under a third name");
    let swapped = run("record", &["test_adds", "test_passes"], &[]);
    assert_eq!(swapped, told("failing_test_removed", 1, "rollback"));
    assert_eq!(run("record", &["test_adds", "test_passes", "test_new"], &[]), told("", 1, "continue"));
    assert_eq!(run("record", &["test_adds", "test_passes", "test_counts"], &[]), told("", 0, "continue"));
    project.run(&["verify", "--recompute"]).expect(0);
    assert_eq!(project.run(&["replay", "--json"]).expect(0).json()["changes"], serde_json::json!([]));
}

// ANALYSIS V23, as far as the source tells: the edit of the test alone turns it.
#[test]
fn an_edit_that_alone_turns_a_failing_test_asks_a_person_and_a_mended_one_does_not() {
    for (edited, now, expected) in [
        ("tests/test_cart.py", "def test_total():\n    assert total([1, 3]) == 3\n", Some("escalate")),
        ("src/cart.py", "def total(xs):\n    return sum(xs)\n", None),
    ] {
        let project = Project::new();
        project.write("src/cart.py", "def total(xs):\n    return sum(xs) - 1\n");
        project.write("tests/test_cart.py", "def test_total():\n    assert total([1, 3]) == 4\n");
        let report = |passes| crate::support::junit(&[("test_total", passes)]).replace("tests.unit", "tests.test_cart");
        project.write("junit.xml", report(false));
        project.run(&["begin"]).expect(0);
        project.write(edited, now);
        project.write("junit.xml", report(true));
        let record = project.run(&["record", "--json"]).expect(0).json();
        assert_eq!(record["base_class"], "forward");
        let Some(action) = expected else {
            assert_eq!(record["alerts"], serde_json::json!([]));
            assert_eq!(record["test_edits"]["code_changed"], true);
            continue;
        };
        assert_eq!(record["recommendation"]["action"], action);
        assert_eq!(record["recommendation"]["because"][0], "suspected_tamper");
        let alert = &record["alerts"][0];
        assert_eq!((&alert["rule"], &alert["severity"]), (&"tamper_suspected".into(), &"high".into()));
        assert_eq!(alert["subject"], "tests/test_cart.py: test_total");
        assert_eq!(
            alert["evidence"],
            serde_json::json!([
                "line 2, other value expected: assert total([1, 3]) == 4 → assert total([1, 3]) == 3",
                "failed at iteration 0, and does not now: tests.test_cart::test_total",
                "no code that a test can reach changed since iteration 0"
            ])
        );
        let told = project.run(&["report", "1", "--format", "github-annotations"]).expect(0).stdout;
        assert!(told.contains("file=tests/test_cart.py,line=2"), "{told}");
        project.run(&["verify", "--recompute"]).expect(0);
        assert_eq!(project.run(&["replay", "--json"]).expect(0).json()["changes"], serde_json::json!([]));
    }
}

// T16: no run of the old test can show it.
#[test]
fn code_that_answers_a_tests_input_with_its_expectation_is_told() {
    for (code, expected) in [
        ("def total(xs):\n    if xs == [1, 3]:\n        return 4\n    return sum(xs) - 1\n", 1),
        ("def total(xs):\n    if not xs:\n        return 0\n    return sum(xs)\n", 0),
    ] {
        let project = Project::new();
        project.write("src/cart.py", "def total(xs):\n    return sum(xs) - 1\n");
        project.write("tests/test_cart.py", "def test_total():\n    x = total([1, 3])\n    assert x == 4\n");
        let report = |passes| crate::support::junit(&[("test_total", passes)]).replace("tests.unit", "tests.test_cart");
        project.write("junit.xml", report(false));
        project.run(&["begin"]).expect(0);
        project.write("src/cart.py", code);
        project.write("junit.xml", report(true));
        let record = project.run(&["record", "--json"]).expect(0).json();
        let alerts = record["alerts"].as_array().unwrap();
        assert_eq!(alerts.len(), expected, "{record:#}");
        for alert in alerts {
            assert_eq!((&alert["rule"], &alert["severity"]), (&"tamper_suspected".into(), &"low".into()));
            assert_eq!(
                alert["message"],
                "Special case in the code: src/cart.py: a test's input answered with its expectation"
            );
            assert_eq!(
                alert["evidence"],
                serde_json::json!([
                    "line 2, a test's input answered with its expectation: if xs == [1, 3]: return 4",
                    "failed at iteration 0, and does not now: tests.test_cart::test_total"
                ])
            );
            let told = project.run(&["report", "1", "--format", "github-annotations"]).expect(0).stdout;
            assert!(told.contains("file=src/cart.py,line=2"), "{told}");
        }
        project.run(&["verify", "--recompute"]).expect(0);
    }
}

#[test]
fn a_failing_test_of_a_run_with_all_names_is_known_where_the_next_has_none() {
    let project = Project::new();
    project.write("tests/test_a.py", "def test_x():\n    assert f(1) == 2\n");
    project.write(
        "junit.xml",
        crate::support::junit(&[("test_x", false), ("test_y", true)]).replace("tests.unit", "tests.test_a"),
    );
    project.run(&["begin"]).expect(0);
    project.write("tests/test_a.py", "def test_nothing():\n    pass\n");
    project.write(
        "said",
        "=== test session starts ===\ncollected 2 items\n\ntests/test_a.py .. [100%]\n\n=== 2 passed in 0.10s ===\n",
    );
    let record = project.run(&["record", "--json", "--", "cat", "said"]).expect(0).json();
    assert_eq!(record["alerts"][0]["rule"], "failing_test_removed", "{record:#}");
    assert_eq!(record["alerts"][0]["subject"], "tests.test_a::test_x");
}

#[test]
fn a_test_of_the_same_name_in_another_file_is_not_the_one_that_failed() {
    let project = Project::new();
    let go = "package a\n\nimport \"testing\"\n\nfunc TestAdds(t *testing.T) { check(t, 1) }\n";
    let rules = |command: &str, said: &str| {
        project.write("said", format!("{said}\nok  \texample.com/shop/b\t0.002s\n"));
        let record = project.run(&[command, "--json", "--", "cat", "said"]).expect(0).json();
        record["alerts"].as_array().unwrap().iter().map(|alert| alert["rule"].clone()).collect::<Vec<_>>()
    };
    for folder in ["a", "b", "c"] {
        project.write(&format!("{folder}/x_test.go"), go);
    }
    let failed = "--- FAIL: TestAdds (0.00s)\n    x_test.go:5: no\nFAIL\nFAIL\texample.com/shop/a\t0.003s";
    rules("begin", failed);
    // That of package a is fixed; that of b, which passed, is deleted.
    project.write("a/add.go", "package a\n\nfunc add() {}\n");
    project.write("b/x_test.go", "package b\n");
    assert_eq!(rules("record", "ok  \texample.com/shop/a\t0.003s"), [""; 0]);
    // What a test is called after goes, and the test stays.
    project.write("lib.go", "package a\n\nfunc TestAdds(n int) int { return n }\n");
    rules("record", failed);
    project.write("lib.go", "package a\n");
    assert_eq!(rules("record", "ok  \texample.com/shop/a\t0.003s"), [""; 0]);
    // It fails again, and is deleted: none of its name is left.
    rules("record", failed);
    project.write("a/x_test.go", "package a\n");
    project.write("c/x_test.go", "package c\n");
    assert_eq!(rules("record", "ok  \texample.com/shop/a\t0.003s"), ["failing_test_removed"]);
}

#[test]
fn a_moved_test_is_told_as_renamed() {
    let project = Project::new();
    let suite = |class: &str, failing: bool| {
        let body = if failing { "><failure message=\"m\">x</failure></testcase>" } else { "/>" };
        format!(
            "<testsuites><testsuite name=\"u\"><testcase classname=\"{class}\" name=\"test_x\"{body}</testsuite></testsuites>"
        )
    };
    project.write("junit.xml", suite("tests.a", false));
    project.run(&["begin", "--loop", "auth"]).expect(0);
    project.write("src/lib.py", "x = 2\n");
    project.write("junit.xml", suite("tests.b", false));
    let told = project.run(&["record", "--json"]).expect(0).json();
    assert_eq!(told["alerts"], serde_json::json!([]));
    let renamed = serde_json::json!([{"from": "tests.a::test_x", "to": "tests.b::test_x", "because": "name"}]);
    assert_eq!(told["from_previous"]["tests"]["renamed"], renamed);
    let diff = project.run(&["diff", "0", "1"]).expect(0).stdout;
    assert!(diff.contains("tests renamed (1)") && !diff.contains("tests lost"), "{diff}");
    let show = project.run(&["show", "1"]).expect(0).stdout;
    assert!(show.contains("tests.a::test_x → tests.b::test_x"), "{show}");
    let report = project.run(&["report", "1"]).expect(0).stdout;
    assert!(report.contains("Tests renamed"), "{report}");
    let history = project.run(&["tests", "--history", "tests.b"]).expect(0).stdout;
    assert!(history.contains("before: tests.a::test_x"), "{history}");
}
