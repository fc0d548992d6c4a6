//! Reports in the forms that other programs read, from a loop on disk.

use highwater::ingest::{self, Input};
use serde_json::Value;

use crate::support::{Project, assert_shape};

/// Two iterations: a test broke, another is gone, and a compiler found seven errors.
fn worse() -> Project {
    let project = Project::new();
    let case = |name: &str, inner: &str| {
        format!(
            "<testcase classname=\"tests.test_lib\" name=\"{name}\" file=\"src/lib.py\" line=\"2\">{inner}</testcase>"
        )
    };
    let suite = |cases: &[String]| format!("<testsuite name=\"s\">{}</testsuite>", cases.concat());
    let errors = |count: u32| {
        let line = |n: u32| format!("{}/src/lib.py:{n}:1: error: no {n}\n", project.root().display());
        (1..=count).map(line).collect::<String>()
    };
    let record = |words: &[&str]| {
        let reports = ["--report", "junit.xml", "--report", "gcc-text:gcc.log"];
        project.run(&[words, &reports].concat()).expect(0);
    };
    project.write("junit.xml", suite(&[case("test_a", ""), case("test_gone", "<failure/>")]));
    project.write("gcc.log", errors(1));
    record(&["begin", "--loop", "auth"]);
    project.write("src/lib.py", "def one():\n    return 2\n");
    project.write("junit.xml", suite(&[case("test_a", "<failure message=\"no\"/>")]));
    project.write("gcc.log", errors(8));
    record(&["record"]);
    project
}

fn report(project: &Project, words: &[&str]) -> String {
    project.run(&[&["report"], words].concat()).expect(0).stdout
}

#[test]
fn alerts_stand_where_their_tests_and_new_findings_are() {
    let project = worse();
    let sarif: Value = serde_json::from_str(&report(&project, &["--format", "sarif"])).unwrap();
    let places: Vec<(String, u64)> = sarif["runs"][0]["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|result| {
            let place = &result["locations"][0]["physicalLocation"];
            assert_eq!(place["artifactLocation"]["uri"], "src/lib.py");
            (result["ruleId"].as_str().unwrap().to_owned(), place["region"]["startLine"].as_u64().unwrap())
        })
        .collect();
    let of = |rule: &str| places.iter().filter(|(one, _)| one == rule).map(|(_, line)| *line).collect::<Vec<_>>();
    assert_eq!(of("working_tests_failing"), [2]);
    assert_eq!(of("failing_test_removed"), [1], "its line is another's by now");
    assert_eq!(of("error_increase"), [2, 3, 4, 5, 6, 7, 8], "the first was there before");
    let issues: Value = serde_json::from_str(&report(&project, &["1", "--format", "gitlab"])).unwrap();
    let mut prints: Vec<&str> =
        issues.as_array().unwrap().iter().map(|issue| issue["fingerprint"].as_str().unwrap()).collect();
    assert_eq!(prints.len(), places.len());
    prints.sort_unstable();
    prints.dedup();
    assert_eq!(prints.len(), places.len(), "no two fingerprints are the same");
    assert_eq!(report(&project, &["0", "--format", "gitlab"]), "[]\n", "nothing is worse than before the baseline");
}

#[test]
fn a_stack_that_names_no_folder_leads_to_the_only_file_of_that_name_or_to_the_one_in_the_class_s_folder() {
    let project = Project::new();
    let stack = |file: &str| format!("<failure message=\"no\">no\n\tat dev.shop.CartTest.sum({file}:12)</failure>");
    let record = |command: &str, inner: &str| {
        let case = format!("<testcase classname=\"dev.shop.CartTest\" name=\"sum\">{inner}</testcase>");
        project.write("junit.xml", format!("<testsuite name=\"s\">{case}</testsuite>"));
        // Else a test that fails on a tree that it passed on is taken to be flaky.
        project.write("src/lib.py", project.read("src/lib.py") + "x = 1\n");
        project.run(&[command, "--report", "junit.xml"]).expect(0);
        report(&project, &["--format", "github-annotations"])
    };
    record("begin", "");
    project.write("app/src/test/java/dev/shop/CartTest.java", "class CartTest {}\n");
    let only = record("record", &stack("CartTest.java"));
    assert!(
        only.contains("file=app/src/test/java/dev/shop/CartTest.java,line=12,title=working_tests_failing"),
        "{only}"
    );
    record("record", "");
    project.write("app/src/test/java/dev/till/CartTest.java", "class CartTest {}\n");
    let named = record("record", &stack("CartTest.java"));
    assert!(
        named.contains("file=app/src/test/java/dev/shop/CartTest.java,line=12,title=working_tests_failing"),
        "{named}"
    );
    record("record", "");
    project.write("web/src/test/java/dev/shop/CartTest.java", "class CartTest {}\n");
    let either = record("record", &stack("CartTest.java"));
    assert!(either.contains("title=working_tests_failing") && !either.contains("CartTest.java"), "{either}");
}

#[test]
fn every_form_is_written_and_tests_are_read_back() {
    let project = worse();
    for (form, name, failed) in [("junit", "junit", 1), ("ctrf", "ctrf-json", 1)] {
        let text = report(&project, &["--format", form]);
        let parsed = ingest::parse(&Input::bytes(form, text.as_bytes()), None).unwrap();
        assert_eq!((parsed.format.name, parsed.figures.tests, parsed.figures.failed), (name, Some(1), Some(failed)));
        let before = report(&project, &["0", "--format", form]);
        assert_eq!(ingest::parse(&Input::bytes(form, before.as_bytes()), None).unwrap().figures.tests, Some(2));
    }
    assert!(report(&project, &["--format", "openmetrics"]).contains("highwater_iteration{loop=\"auth\"} 1\n"));
    assert!(report(&project, &["--format", "github-outputs"]).starts_with("loop=auth\niteration=1\n"));
    assert!(
        report(&project, &["--format", "github-annotations"])
            .contains("::error file=src/lib.py,line=2,title=working_tests_failing ")
    );
    for what in ["1", "selection", "summary"] {
        let text = report(&project, &[what, "--format", "github"]);
        assert_eq!(text, format!("<!-- highwater:auth -->\n{}", report(&project, &[what])));
    }
    assert!(report(&project, &["--format", "html"]).starts_with("<!DOCTYPE html>"));
    let json = |words: &[&str]| serde_json::from_str::<Value>(&report(&project, words)).unwrap();
    assert_shape("record", &json(&["1", "--format", "json"]));
    assert_shape("log", &json(&["--json"]));
    assert_shape("selection", &json(&["selection", "--json"]));
}

#[test]
fn what_was_written_of_an_iteration_is_no_measurement_of_the_next() {
    let project = worse();
    std::fs::create_dir(project.path("reports")).unwrap();
    let written = ["junit.xml", "highwater.sarif", "ctrf-report.json", "gl-code-quality-report.json"];
    for (name, form) in written.iter().zip(["junit", "sarif", "ctrf", "gitlab"]) {
        project.run(&["report", "--format", form, "-o", &format!("reports/{name}")]).expect(0);
    }
    std::fs::remove_file(project.path("junit.xml")).unwrap();
    let answer = project.run(&["record", "--json"]).expect(0);
    let record = answer.json();
    assert!(record.get("sources").is_none_or(|sources| sources.as_array().unwrap().is_empty()), "{record:#}");
    assert!(
        record["metrics"].get("testing").is_none() && record["metrics"].get("code_quality").is_none(),
        "{record:#}"
    );
    for name in written {
        assert!(answer.stderr.contains(&format!("passed over: reports/{name}: written by")), "{answer:?}");
    }
    // Who names such a file means it.
    project.run(&["report", "1", "--format", "junit", "-o", "reports/junit.xml"]).expect(0);
    let named = project.run(&["record", "--json", "--report", "reports/junit.xml"]).expect(0).json();
    assert_eq!(named["metrics"]["testing"]["test_count"], 1);
    // And it is told while it is new.
    assert!(!project.run(&["record"]).expect(0).stderr.contains("written by"));
}

#[test]
fn a_form_that_tells_something_else_is_a_usage_error() {
    let project = worse();
    for words in [["selection", "--format", "sarif"], ["1", "--format", "html"], ["summary", "--format", "word"]] {
        project.run(&[&["report"], words.as_slice()].concat()).expect(64);
    }
}

#[test]
fn the_end_of_a_loop_leaves_a_page_and_repair_makes_it_again() {
    let project = Project::new();
    project.tests(&[("a", true)]);
    project.run(&["begin", "--loop", "auth", "--report", "junit.xml"]).expect(0);
    project.run(&["finish"]).expect(0);
    let page = project.read(".progress/auth/reports/summary.html");
    assert_eq!(page, report(&project, &["--format", "html"]));
    project.write(".progress/auth/reports/summary.html", "");
    project.run(&["verify", "--repair"]).expect(0);
    assert_eq!(project.read(".progress/auth/reports/summary.html"), page);
}
