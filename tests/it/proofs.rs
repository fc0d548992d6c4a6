//! Old tests on new code, and new tests on old code, in copies of the work tree (ANALYSIS §12.4): what is proven of the edit of a
//! test, and what is not where a copy cannot tell.

use serde_json::{Value, json};

use crate::support::Project;

/// Reads the expectations of a test file and the values of the code, as little as a runner can do, and writes JUnit. `$1` is
/// the folder with the code.
const RUNNER: &str = r#"
value() { sed -n "s/^$1 = //p" "$CODE/cart.py"; }
CODE=${1:-.}
rm -f junit.xml
[ -e tests/test_cart.py ] || exit 5
cases=
for name in $(sed -n 's/^def test_\([a-z]*\)().*/\1/p' tests/test_cart.py); do
    body=$(sed -n "/^def test_$name()/,/^$/p" tests/test_cart.py)
    wanted=$(printf '%s\n' "$body" | sed -n 's/.*assert cart\.[a-z]* == //p')
    least=$(printf '%s\n' "$body" | sed -n 's/.*assert cart\.[a-z]* >= //p')
    is=$(value "$(printf '%s\n' "$body" | sed -n 's/.*assert cart\.\([a-z]*\) .*/\1/p')")
    case "$is" in *[!0-9]*) fault=1 ;; *) fault= ;; esac
    [ -z "$wanted" ] || [ "$is" = "$wanted" ] || fault=1
    [ -z "$least" ] || [ "${is:-0}" -ge "$least" ] || fault=1
    [ -z "$fault" ] || fault='<failure message="no"/>'
    [ -n "$is" ] || fault="<failure message=\"AttributeError: module 'cart' has no attribute\"/>"
    cases="$cases<testcase classname=\"tests.test_cart\" name=\"test_$name\">$fault</testcase>"
done
printf '<testsuites><testsuite name="unit">%s</testsuite></testsuites>\n' "$cases" >junit.xml
case "$cases" in *failure*) exit 1 ;; esac
"#;

const CODE: &str = "total = 3\ncount = 2\n";

fn tests(total: &str, count: &str) -> String {
    format!(
        "import cart\n\n\ndef test_total():\n    assert cart.total {total}\n\n\ndef test_count():\n    assert cart.count {count}\n"
    )
}

/// A project whose test of the total fails, and a loop on it.
fn project() -> Project {
    let project = Project::new();
    project.write("run.sh", RUNNER);
    project.write("cart.py", CODE);
    project.write("tests/test_cart.py", tests("== 4", "== 2"));
    project.run(&["begin", "--", "sh", "run.sh"]).expect(0);
    project
}

fn record(project: &Project, more: &[&str]) -> Value {
    let arguments = [&["record", "--json"], more, &["--", "sh", "run.sh"]].concat();
    project.run(&arguments).expect(0).json()
}

/// `rule severity status` of each alert.
fn alerts(record: &Value) -> Vec<String> {
    let word = |alert: &Value, key: &str| alert[key].as_str().unwrap().to_owned();
    let all = record["alerts"].as_array().unwrap().iter();
    all.map(|alert| ["rule", "severity", "status"].map(|key| word(alert, key)).join(" ")).collect()
}

fn test(name: &str, failed_before: bool, old_on_new: bool, new_on_old: Option<bool>) -> Value {
    let mut test = json!({
        "id": format!("tests.test_cart::test_{name}"),
        "failed_before": failed_before,
        "old_passes_on_new_code": old_on_new,
    });
    if let Some(passes) = new_on_old {
        test["new_passes_on_old_code"] = passes.into();
    }
    test
}

// ANALYSIS V23.
#[test]
fn an_edit_that_alone_turned_a_failing_test_is_proven_and_rolled_back_until_the_old_test_passes() {
    let project = project();
    project.write("tests/test_cart.py", tests("== 3", "== 2"));
    let told = record(&project, &["--replay", "sh run.sh"]);
    assert_eq!(alerts(&told), ["tamper_confirmed critical confirmed", "tamper_suspected high suspected"]);
    assert_eq!(told["proof"]["tests"], json!([test("total", true, false, Some(true))]));
    assert_eq!(told["proof"]["command"], "sh run.sh");
    assert_eq!(told["alerts"][0]["reliability"], 0.95);
    assert_eq!((&told["recommendation"]["action"], &told["recommendation"]["target"]), (&json!("rollback"), &json!(0)));
    assert_eq!(told["base_class"], "regression");
    assert!(told["open_findings"][0]["closes_when"].as_str().unwrap().contains("passes as it was before iteration 1"));

    // Without such runs it stays open; while the edit stands it is not told again; what closes it is the old test.
    let open = |told: &Value| told["open_findings"].as_array().map_or(0, Vec::len);
    let told = record(&project, &[]);
    assert_eq!((alerts(&told), open(&told)), (vec![], 1));
    let told = record(&project, &["--replay", "sh run.sh"]);
    assert_eq!((open(&told), &told["proof"]["since"]), (1, &json!(0)), "{told:#}");
    assert!(!alerts(&told).iter().any(|alert| alert.starts_with("tamper_confirmed")));
    project.write("tests/test_cart.py", tests("== 4", "== 2"));
    project.write("cart.py", "total = 4\ncount = 2\n");
    let told = record(&project, &[]);
    assert_eq!(open(&told), 0, "{told:#}");
    assert!(told["proof"].get("command").is_none(), "the old tests stand as they were: nothing had to be run");

    project.run(&["verify", "--recompute"]).expect(0);
    assert_eq!(project.run(&["replay", "--json"]).expect(0).json()["changes"], json!([]));
    let choice = project.run(&["finish", "--json"]).expect(0).json();
    assert_eq!(choice["selection"]["selected"], 4);
}

#[test]
fn what_two_changes_came_to_is_told_apart() {
    for (code, total, count, alerts_expected, proven) in [
        // Mended, and the test worded otherwise: refuted.
        (
            "total = 4\ncount = 2\n",
            ">= 4",
            "== 2",
            vec!["tamper_suspected low refuted"],
            test("total", true, true, None),
        ),
        // Weakened while other code changed.
        (
            "total = 3\ncount = 2\nother = 1\n",
            ">= 3",
            "== 2",
            vec!["tamper_confirmed critical confirmed", "tamper_suspected low suspected"],
            test("total", true, false, Some(true)),
        ),
        // Both moved.
        (
            "total = 5\ncount = 2\n",
            "== 5",
            "== 2",
            vec!["tamper_suspected low suspected", "spec_change medium observed"],
            test("total", true, false, Some(false)),
        ),
        // A test that passed is weakened, and what it guarded is broken.
        (
            "total = 3\ncount = 1\n",
            "== 4",
            ">= 1",
            vec!["hidden_regression critical confirmed", "tamper_suspected low suspected"],
            test("count", false, false, Some(true)),
        ),
    ] {
        let project = project();
        project.write("cart.py", code);
        project.write("tests/test_cart.py", tests(total, count));
        let told = record(&project, &["--replay", "sh run.sh"]);
        assert_eq!(alerts(&told), alerts_expected, "{code} {total} {count}: {told:#}");
        assert_eq!(told["proof"]["tests"], json!([proven]), "{code} {total} {count}");
        project.run(&["verify", "--recompute"]).expect(0);
    }
}

// As with a package that is installed from the work tree: whatever copy the tests run in, they read the work tree's code.
#[test]
fn tests_that_read_code_from_elsewhere_prove_nothing() {
    let project = project();
    let elsewhere = format!("sh run.sh {}", project.root().display());
    for (code, total, count, why) in [
        ("total = 5\ncount = 2\n", "== 5", "== 2", "test_total: it does not run on the code of a copy"),
        ("total = 4\ncount = 2\n", ">= 4", "== 2", "test_total: it failed, and does not in a copy"),
        ("total = 3\ncount = 1\n", "== 4", ">= 1", "test_count: it passed, and does not in a copy"),
    ] {
        project.write("cart.py", code);
        project.write("tests/test_cart.py", tests(total, count));
        let told = record(&project, &["--parent", "0", "--replay", &elsewhere]);
        assert_eq!(told["proof"]["inconclusive"], format!("tests.test_cart::{why}"), "{told:#}");
        assert!(told["proof"].get("tests").is_none());
        assert_eq!(alerts(&told), ["tamper_suspected low suspected"]);
        let evidence = told["alerts"][0]["evidence"].to_string();
        assert!(evidence.contains("nothing is proven: "), "{evidence}");
    }
}

// Where a language that is compiled would not have built the old test.
#[test]
fn an_old_test_that_asks_for_another_name_proves_nothing() {
    let project = project();
    project.write("cart.py", "total = 3\nsize = 2\n");
    project.write("tests/test_cart.py", tests("== 4", "== 2").replace("cart.count == 2", "cart.size >= 2"));
    let told = record(&project, &["--replay", "sh run.sh"]);
    let why = "tests.test_cart::test_count: as it was, it asks for what is gone, or has another name";
    assert_eq!(told["proof"]["inconclusive"], why, "{told:#}");
    assert_eq!(alerts(&told), ["tamper_suspected low suspected"]);
}

#[test]
fn nothing_is_run_unasked_or_unsuspected_and_copies_go() {
    let project = project();
    let temporary = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        let mut command = project.command(&[&["record", "--json"], arguments, &["--", "sh", "run.sh"]].concat());
        let output = command.env("TMPDIR", temporary.path()).output().unwrap();
        assert_eq!(std::fs::read_dir(temporary.path()).unwrap().count(), 0, "a copy stays");
        crate::support::answer(&output).expect(0).json()
    };
    // The line would tell of each run.
    let ran = project.path("ran");
    let line = format!("echo ran >>{} && sh run.sh", ran.display());
    project.write(".gitignore", "ran\n");
    project.write("cart.py", "total = 4\ncount = 2\n");
    assert!(run(&["--replay", &line]).get("proof").is_none(), "mended, and no test was edited");
    project.write("tests/test_cart.py", tests("== 4", ">= 0"));
    assert!(run(&[]).get("proof").is_none(), "nobody asked");
    assert!(!project.exists("ran"));
    project.write("tests/test_cart.py", tests(">= 0", ">= 0"));
    assert!(run(&["--replay", &line]).get("proof").is_some());
    assert_eq!(project.read("ran"), "ran\n");
}

#[test]
fn the_config_asks_for_it_and_the_iterations_own_command_is_run() {
    let project = Project::new();
    project.write("highwater.yaml", "tamper: { replay: on-suspicion }\n");
    project.write("run.sh", RUNNER);
    project.write("cart.py", CODE);
    project.write("tests/test_cart.py", tests("== 4", "== 2"));
    project.run(&["begin", "--", "sh", "run.sh"]).expect(0);
    project.write("tests/test_cart.py", tests("== 3", "== 2"));
    let told = record(&project, &[]);
    assert_eq!(told["proof"]["command"], "sh run.sh");
    assert_eq!(told["recommendation"]["because"][0], "critical_finding");

    let why = |more: &[&str]| {
        let told = project.run(&[&["record", "--json", "--parent", "0"], more].concat()).expect(0).json();
        told["proof"]["inconclusive"].as_str().unwrap().to_owned()
    };
    project.write("junit.xml", project.read("junit.xml"));
    assert_eq!(why(&[]), "no command is known: `--replay CMD` or tamper.command tells one");
    let whole = project.path("run.sh").display().to_string();
    assert_eq!(why(&["--", "sh", &whole]), "the command names the work tree by its whole path, and not a copy");
    assert_eq!(why(&["--replay", "true", "--", "sh", "run.sh"]), "the old tests do not run on the new code");

    project.write("highwater.yaml", "tamper: { replay: sometimes }\n");
    project.run(&["config", "show"]).expect(65);
}

// The module of tests at the end of a file of code (Rust): the halves of the file are put together.
#[test]
fn tests_that_stand_in_the_file_of_the_code_are_taken_apart() {
    let project = Project::new();
    let text = |value: u32, wanted: u32| {
        format!(
            "pub fn total() -> u32 {{\n    {value}\n}}\n\n#[cfg(test)]\nmod tests {{\n    #[test]\n    fn totals() {{\n        assert_eq!(super::total(), {wanted});\n    }}\n}}\n"
        )
    };
    let runner = r#"
is=$(sed -n 's/^    \([0-9]*\)$/\1/p' src/lib.rs)
wanted=$(sed -n 's/.*assert_eq!(super::total(), \([0-9]*\));/\1/p' src/lib.rs)
[ "$is" = "$wanted" ] && fault= || fault='<failure message="no"/>'
printf '<testsuites><testsuite name="shop"><testcase classname="tests" name="totals">%s</testcase></testsuite></testsuites>\n' "$fault" >junit.xml
"#;
    project.write("run.sh", runner);
    project.write("src/lib.rs", text(3, 4));
    project.run(&["begin", "--", "sh", "run.sh"]).expect(0);
    for (value, wanted, rule) in
        [(3, 3, "tamper_confirmed critical confirmed"), (5, 5, "tamper_suspected low suspected")]
    {
        project.write("src/lib.rs", text(value, wanted));
        let told = record(&project, &["--parent", "0", "--replay", "sh run.sh"]);
        assert_eq!(alerts(&told)[0], rule, "{told:#}");
        assert_eq!(told["proof"]["tests"][0]["new_passes_on_old_code"], value == 3, "{told:#}");
    }
}
