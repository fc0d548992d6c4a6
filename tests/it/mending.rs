//! What failed around tests and works again: never a failing test that was removed. What one run tells twice counts once.

use serde_json::Value;

use crate::support::Project;

/// Records what the command prints, or writes into `report`, in an iteration of its own.
fn record(project: &Project, output: &str, report: Option<(&str, &str)>) -> Value {
    project.write("out.txt", output);
    project.write("next.xml", report.map_or("", |(_, text)| text));
    let name = report.map_or("none.xml", |(name, _)| name);
    let verb = if project.exists(".progress/loop-001") { "record" } else { "begin" };
    let command = format!("cat out.txt; cp next.xml {name}");
    let answer = project.run(&[verb, "--json", "--", "sh", "-c", &command]);
    assert!(matches!(answer.code, 0 | 10..=13), "{answer:?}");
    answer.json()
}

fn rules(record: &Value) -> Vec<&str> {
    record["alerts"].as_array().unwrap().iter().map(|alert| alert["rule"].as_str().unwrap()).collect()
}

fn count(record: &Value) -> u64 {
    record["metrics"]["testing"]["test_count"].as_u64().unwrap()
}

fn junit(cases: &str) -> String {
    format!("<testsuite name=\"com.example.CartTest\">{cases}</testsuite>\n")
}

const TESTS: &str = "<testcase classname=\"com.example.CartTest\" name=\"adds\"/><testcase classname=\"com.example.CartTest\" name=\"drops\"/>";

#[test]
fn what_ran_around_tests_and_works_again_is_a_step_forward() {
    let error = "<error message=\"no database\"/></testcase>";
    for broken in [
        format!("<testcase classname=\"com.example.CartTest\" name=\"\">{error}"),
        format!("<testcase classname=\"com.example.CartTest\" name=\"initializationError\">{error}"),
        format!(
            "<testcase classname=\"unittest.suite._ErrorHolder\" name=\"setUpClass (com.example.CartTest)\">{error}"
        ),
        format!("<testcase classname=\"x\" name=\"Cart &quot;before all&quot; hook for &quot;adds&quot;\">{error}"),
        format!("<testcase classname=\"com.example.CartTest\" name=\"com.example.CartTest\">{error}"),
    ] {
        let project = Project::new();
        let other = "<testcase classname=\"com.example.OtherTest\" name=\"runs\"/>";
        let before = record(&project, "", Some(("junit.xml", &junit(&(broken.clone() + other)))));
        let after = record(&project, "", Some(("junit.xml", &junit(&(TESTS.to_owned() + other)))));
        assert_eq!((rules(&after), after["classification"].as_str()), (Vec::new(), Some("forward")), "{broken}");
        assert_eq!((count(&after), before["metrics"]["testing"]["tests_passed"].as_u64()), (3, Some(1)));
        // Its tests are tests: deleting them is told.
        let removed = record(&project, "", Some(("junit.xml", &junit(other))));
        assert!(rules(&removed).contains(&"passing_test_removed"), "{removed}");
    }
}

#[test]
fn a_summary_beside_the_file_of_its_run_counts_once() {
    let maven = "[INFO] Results:\n[INFO] \n[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0\n[INFO] \n[INFO] BUILD SUCCESS\n";
    let project = Project::new();
    let both = record(&project, maven, Some(("junit.xml", &junit(TESTS))));
    let formats: Vec<_> = both["sources"].as_array().unwrap().iter().map(|source| source["format"].as_str()).collect();
    assert_eq!((count(&both), formats), (2, vec![Some("junit"), Some("maven-text")]), "{both}");
    let alone = record(&project, maven, None);
    assert_eq!(count(&alone), 2);
}
