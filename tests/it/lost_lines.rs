//! Lines that ran before, did not change and do not run now (ANALYSIS §12.3).

use serde_json::{Value, json};

use crate::support::Project;

/// An LCOV tracefile: by file, each line and whether it ran.
fn lcov(files: &[(&str, &[(u32, bool)])]) -> String {
    let line = |(line, runs): &(u32, bool)| format!("DA:{line},{}\n", u8::from(*runs));
    let file = |(path, lines): &(&str, &[(u32, bool)])| {
        let lines: String = lines.iter().map(line).collect();
        format!("SF:{path}\n{lines}end_of_record\n")
    };
    files.iter().map(file).collect()
}

const CART: &str = "def total(xs):\n    if xs:\n        return sum(xs)\n    return 0\n";

fn recorded(project: &Project, command: &str, source: &str, report: &str) -> Value {
    project.write("src/cart.py", source);
    project.write("src/shop.py", "a = 1\nb = 2\n");
    project.write("lcov.info", report);
    project.run(&[command, "--json"]).expect(0).json()
}

#[test]
fn new_code_that_runs_does_not_hide_old_code_that_does_not_any_more() {
    let project = Project::new();
    // The report's root is the folder of sources.
    let all = |last: u32| (1..=last).map(|line| (line, true)).collect::<Vec<_>>();
    let shop: &[(u32, bool)] = &[(1, true), (2, true)];
    recorded(&project, "begin", CART, &lcov(&[("cart.py", &all(4)), ("shop.py", shop)]));
    // Two lines came above, so that all others moved; one that ran does not.
    let grown = format!("import os\nNAME = os.name\n{CART}");
    let lines = [(1, true), (2, true), (3, true), (4, true), (5, false), (6, true)];
    let record = recorded(&project, "record", &grown, &lcov(&[("cart.py", &lines), ("shop.py", shop)]));
    let lost =
        json!({"since": 0, "covered": 6, "lost": 1, "files": [{"path": "src/cart.py", "lost": 1, "lines": [5]}]});
    assert_eq!(record["lost_lines"], lost, "{record:#}");
    let alerts = record["alerts"].as_array().unwrap();
    let alert = alerts.iter().find(|alert| alert["rule"] == "lost_coverage").unwrap();
    assert_eq!(alert["severity"], "high");
    assert_eq!(alert["message"], "1 line of 6 that ran at iteration 0 did not change and does not run now");
    assert_eq!(alert["evidence"], json!(["src/cart.py: line 5"]));
    let told = project.run(&["report", "1", "--format", "github-annotations"]).expect(0).stdout;
    assert!(told.contains("file=src/cart.py,line=5"), "{told}");

    // A line that was changed, or has left, is not lost, whether or not it runs.
    let changed = grown.replace("return 0", "return 0.0");
    let lines = [(1, true), (2, true), (3, true), (4, true), (5, true), (6, false)];
    let record = recorded(&project, "record", &changed, &lcov(&[("cart.py", &lines), ("shop.py", shop)]));
    assert_eq!(record["lost_lines"]["lost"], 0, "{record:#}");

    // A file that nothing imports any more is in no report: then no line of it runs, though the percentage is higher.
    let lines = all(6);
    let record = recorded(&project, "record", &changed, &lcov(&[("cart.py", &lines)]));
    let expected = json!([{"path": "src/shop.py", "lost": 2, "lines": [1, 2], "is_unreported": true}]);
    assert_eq!(record["lost_lines"]["files"], expected, "{record:#}");
    std::fs::remove_file(project.path("src/shop.py")).unwrap();
    project.run(&["verify", "--recompute"]).expect(0);
    assert_eq!(project.run(&["replay", "--json"]).expect(0).json()["changes"], json!([]));
}

#[test]
fn what_is_not_known_is_not_lost() {
    let project = Project::new();
    let lines = [(1, true), (2, true), (3, true), (4, true)];
    recorded(&project, "begin", CART, &lcov(&[("cart.py", &lines), ("gone.py", &[(1, true)])]));
    // The report does not name a file that is nowhere.
    let record = recorded(&project, "record", CART, &lcov(&[("cart.py", &lines)]));
    assert_eq!(record["lost_lines"]["lost"], 0, "{record:#}");
    // Two files that changed end alike: which of them it is, nobody knows.
    project.write("other/cart.py", CART);
    recorded(&project, "record", CART, &lcov(&[("cart.py", &lines)]));
    project.write("other/cart.py", "x = 1\n");
    let record = recorded(&project, "record", &format!("\n{CART}"), &lcov(&[("cart.py", &[(2, false)])]));
    assert_eq!(record["lost_lines"]["lost"], 0, "{record:#}");
}
