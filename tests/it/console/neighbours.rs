//! Tools that speak one after the other in one stream: none takes from another, whatever it comes to.

use std::collections::BTreeSet;

use super::{FRAMES, capture, captures, read, stream, told};
use crate::support::{is_soak, stride};

/// What a capture is read as by itself stays where another tool speaks before it or after it: one of these, or each of them
/// with `HIGHWATER_SOAK`.
#[test]
fn no_tool_takes_from_its_neighbour() {
    let neighbours = ["pytest-text/good-quiet.txt", "eslint-text/good.txt", "jest-text/good-20.txt"];
    let neighbours = neighbours.map(|path| (path.split('/').next().unwrap(), capture(path)));
    let longest = if is_soak() { 8_000 } else { 4_000 };
    let (mut wrong, mut asked) = (Vec::new(), 0);
    for (turn, (format, name, text)) in captures().into_iter().step_by(stride(1)).enumerate() {
        // Its summary stands right below what a test printed, where nobody can tell whose it is.
        let is_uncertain = name == "pytest-text/good-3.0.txt";
        if !format.name.ends_with("-text") || text.len() > longest || is_uncertain {
            continue;
        }
        let alone = told(&format!("> work\n\n{text}\n> other\n"));
        let others: Vec<_> = neighbours.iter().filter(|(neighbour, _)| *neighbour != format.name).collect();
        let those = if is_soak() { others.len() } else { 1 };
        for (neighbour, other) in others.iter().cycle().skip(turn).take(those) {
            let mut expected = alone.clone();
            expected.extend(told(other));
            expected.sort();
            for both in
                [format!("> work\n\n{text}\n> other\n\n{other}"), format!("> other\n\n{other}\n> work\n\n{text}\n")]
            {
                let mut found = told(&both);
                found.sort();
                asked += 1;
                if found != expected {
                    wrong.push(format!("{name} and {neighbour}: {found:?} instead of {expected:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty() && asked * stride(1) > 1_000, "{asked}\n{}", wrong.join("\n"));
}

#[test]
fn a_run_that_found_no_tests_is_over() {
    let eslint = capture("eslint-text/good.txt");
    let vitest = "\n RUN  v3.2.7 /app\n\nNo test files found, exiting with code 1\n\ninclude: **/*.test.js\n\n";
    assert_eq!(told(&format!("{vitest}{eslint}")), told(&eslint));
}

#[test]
fn a_run_that_does_not_tell_of_each_file_or_failure_ends_with_its_summary() {
    let eslint = capture("eslint-text/good.txt");
    let head = " RUN  v3.2.7 /app\n\n ❯ a.test.js (3 tests | 1 failed | 1 skipped) 8ms\n   ✓ a 1ms\n   × b 2ms\n     → no\n   ↓ c\n";
    let messages = |last: &str| {
        let rule = "⎯".repeat(20);
        format!("\n⎯⎯⎯ Failed Tests 1 ⎯⎯⎯\n\n FAIL  a.test.js > b\nAssertionError: no\n\n{rule}[{last}]⎯\n\n")
    };
    let end = |files: &str| {
        format!(
            "\n Test Files  {files}\n      Tests  1 failed | 1 passed | 1 skipped (3)\n   Start at  14:11:25\n   Duration  248ms\n\n"
        )
    };
    // With --bail, of two files one ran; of a test that failed in three ways, two messages stand under one number.
    for (last, files) in [("1/1", "1 failed (2)"), ("2/3", "1 failed (1)")] {
        let vitest = format!("{head}{}{}", messages(last), end(files));
        let expected = [vec![("vitest-text", vec![3, 1, 1, 0, 1])], told(&eslint)].concat();
        assert_eq!(told(&format!("{vitest}{eslint}")), expected, "{vitest}");
    }
}

#[test]
fn subtests_and_what_a_class_sets_up_have_marks_of_their_own() {
    let pytest = capture("pytest-text/good-quiet.txt");
    let rule = |mark: &str| mark.repeat(70);
    let run = |marks: &str, status: &str| {
        let failure = format!("{}\nFAIL: test_a (m.T.test_a) (i=1)\n{}\nAssertionError\n\n", rule("="), rule("-"));
        format!("{marks}\n{failure}{}\nRan 3 tests in 0.001s\n\n{status}\n\n", rule("-"))
    };
    let both = |marks: &str, status: &str| told(&format!("{}{pytest}", run(marks, status))).len();
    assert_eq!(both(".FFs", "FAILED (failures=2, skipped=1)"), 2, "one of the tests has two subtests that failed");
    assert_eq!(both(".E.", "FAILED (errors=1)"), 2);
    assert_eq!(both("..E.s", "FAILED (errors=1, skipped=1)"), 2, "a class could not be torn down");
    assert_eq!(both(".FFs", "FAILED (failures=1, skipped=1)"), 1, "it is not what the marks tell");
    assert_eq!(both("....", "OK"), 1);
}

#[test]
fn sums_that_cannot_be_are_none_and_leave_the_others_alone() {
    let lines = |covered: u64| {
        format!(
            "##teamcity[buildStatisticValue key='CodeCoverageAbsLCovered' value='{covered}']\n\
             ##teamcity[buildStatisticValue key='CodeCoverageAbsLTotal' value='5']\n"
        )
    };
    let tests = capture("pytest-text/good-quiet.txt");
    let formats = |covered| {
        let text = format!("{tests}{}", lines(covered));
        told(&text).into_iter().map(|(format, _)| format).collect::<Vec<_>>()
    };
    assert_eq!(formats(5), ["pytest-text", "brief-coverage-text"]);
    assert_eq!(formats(8), ["pytest-text"]);
}

#[test]
fn the_end_of_one_tool_does_not_eat_the_next() {
    for first in FRAMES {
        for second in FRAMES.iter().filter(|second| **second != first) {
            let mut expected = [told(&stream(first)), told(&stream(second))].concat();
            let mut both = told(&[stream(first), stream(second)].concat());
            expected.sort();
            both.sort();
            assert_eq!(both, expected, "{first}, then {second}");
        }
    }
}

/// ruff, ty and zizmor print a place and a piece of source below each finding, and ty says at its end what ruff says.
#[test]
fn tools_that_print_alike_keep_what_is_theirs() {
    let ruffs = ["ruff-text/good-full.txt", "ruff-text/good-preview.txt", "ruff-text/good.txt"].map(capture);
    let types = ["ty-text/good.txt", "ty-text/good-concise.txt"].map(capture);
    let workflows = capture("zizmor-text/good.txt");
    for (ruff, ty) in ruffs.iter().flat_map(|ruff| types.iter().map(move |ty| (ruff, ty))) {
        let mut expected = [told(ruff), told(ty), told(&workflows)].concat();
        expected.sort();
        assert_eq!(
            expected.iter().map(|(format, _)| *format).collect::<Vec<_>>(),
            ["ruff-text", "ty-text", "zizmor-text"]
        );
        for order in [[ruff, ty, &workflows], [ty, &workflows, ruff], [&workflows, ruff, ty]] {
            let text = order.map(String::as_str).concat();
            let mut found = told(&text);
            found.sort();
            assert_eq!(found, expected, "{text}");
        }
    }
}

#[test]
fn what_tail_leaves_of_findings_counts_beside_others() {
    let eslint = "\n✖ 6 problems (3 errors, 3 warnings)\n  1 error and 0 warnings potentially fixable with the `--fix` option.\n\n";
    let tsc = "\n\nFound 2 errors in the same file, starting at: src/math.ts:8\n\n";
    let mypy = "Found 1 error in 1 file (checked 4 source files)\n";
    let ruff = "Found 7 errors.\n[*] 6 fixable with `--fix` (1 unsafe fix available with `--fix --unsafe-fixes`).\n";
    let oxlint = "Found 14 warnings and 1 error.\nFinished in 3.6s on 72 files with 96 rules using 2 threads.\n";
    let pyright = "2 errors, 1 warning, 0 informations \n";
    let pytest = "========== 4 failed, 9 passed in 0.10s ==========\n";
    let all = read(&[eslint, tsc, mypy, ruff, oxlint, pyright, pytest].concat());
    let figures = |kind: &str| all.iter().find(|parsed| parsed.format.name == kind).map(|parsed| &parsed.figures);
    let levels = |kind: &str| figures(kind).map(|found| (found.errors.unwrap(), found.warnings.unwrap()));
    assert_eq!(levels("eslint-text"), Some((3, 3)));
    assert_eq!(levels("tsc-text"), Some((2, 0)));
    assert_eq!(levels("mypy-text"), Some((1, 0)));
    assert_eq!(levels("ruff-text"), Some((7, 0)));
    assert_eq!(levels("oxlint-text"), Some((1, 14)));
    assert_eq!(levels("pyright-text"), Some((2, 1)));
    assert_eq!(figures("pytest-text").and_then(|found| found.tests), Some(13));
    // Other formatters have such a summary, too.
    let (unix, rows) = (capture("unix-text/good-stylelint.txt"), capture("eslint-text/good.txt"));
    let mut both = told(&format!("> a\n\n{unix}\n> b\n\n{rows}"));
    both.retain(|(format, _)| *format == "eslint-text");
    assert_eq!(both, told(&rows));
    // Anybody may have found so many.
    assert_eq!(told(&format!("Found 7 errors.\n{pytest}")), told(pytest));
}

/// `cargo test -p kv; phpunit | tail -3`: what announces a run is the first that tail cuts away.
#[test]
fn what_tail_leaves_of_a_run_counts_beside_others() {
    let cargo = "     Running unittests src/lib.rs (target/debug/deps/kv-c8662255e0b9727b)\n\nrunning 1 test\ntest a ... ok\n\n\
                 test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n";
    let cargo_tail = "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
    let phpunit = "\nERRORS!\nTests: 7, Assertions: 3, Errors: 1, Failures: 1, Skipped: 1, Incomplete: 1, Risky: 1.\n";
    let minitest = "\n5 runs, 3 assertions, 1 failures, 1 errors, 1 skips\n\nYou have skipped tests. Run with --verbose for details.\n";
    let nextest = "────────────\n     Summary [   0.388s] 7 tests run: 5 passed, 2 failed, 1 skipped\n";
    let gtest = "[----------] Global test environment tear-down\n[==========] 2 tests from 1 test suite ran. (0 ms total)\n[  PASSED  ] 2 tests.\n";
    let ctest = "50% tests passed, 1 tests failed out of 2\n\nThe following tests FAILED:\n\t  1 - gt (Failed)\n";
    let tails = [
        ("cargo-test-text", cargo_tail, [1, 1, 0, 0, 0]),
        ("phpunit-text", phpunit, [7, 3, 1, 1, 2]),
        ("minitest-text", minitest, [5, 2, 1, 1, 1]),
        ("nextest-text", nextest, [8, 5, 2, 0, 1]),
        ("gtest-text", gtest, [2, 2, 0, 0, 0]),
        ("ctest-text", ctest, [2, 1, 1, 0, 0]),
    ];
    let tests =
        |text: &str| -> Vec<_> { told(text).into_iter().filter(|(format, _)| *format != "rustc-text").collect() };
    for (name, text, expected) in tails {
        let alone = vec![(name, expected.to_vec())];
        assert_eq!(tests(text), alone);
        if name != "cargo-test-text" {
            for both in [format!("{cargo}{text}"), format!("{text}{cargo}")] {
                let mut found = tests(&both);
                found.retain(|report| report.0 != "cargo-test-text");
                assert_eq!(found, alone, "{both}");
            }
        }
        // Mocha announces nothing: one of its tests may have printed it.
        let mocha = "\n  cart\n    ✔ adds\n\n\n  1 passing (3ms)\n\n";
        assert_eq!(tests(&format!("{text}{mocha}")), tests(mocha), "{text}");
    }
    // Below it, it is no test's; and where Mocha's or Jest's lines of tests were cut away, too, what stands above is not theirs.
    let jest = "Test Suites: 1 failed, 1 total\nTests:       1 failed, 2 passed, 3 total\nSnapshots:   0 total\nTime:        0.6 s\nRan all test suites.\n";
    let pytest = ("pytest-text", "1 failed, 3 passed in 0.04s\n", [4, 3, 1, 0, 0]);
    for (name, text, expected) in tails.into_iter().chain([pytest]) {
        let both = |other: &str| told(other).into_iter().chain([(name, expected.to_vec())]).collect::<BTreeSet<_>>();
        let found = |text: &str| tests(text).into_iter().collect::<BTreeSet<_>>();
        let mocha = "  cart\n    ✔ adds\n\n\n  1 passing (3ms)\n\n";
        assert_eq!(found(&format!("{mocha}{text}")), both(mocha), "{text}");
        assert_eq!(found(&format!("{text}\n  2 passing (3ms)\n\n")), both("\n  2 passing (3ms)\n\n"), "{text}");
        assert_eq!(found(&format!("{text}{jest}")), both(jest), "{text}");
        let whole = format!("FAIL t/a.test.js\n{jest}");
        let told = read(&format!("{text}{whole}"));
        let [only] = told.as_slice() else { panic!("{text}: {told:?}") };
        assert_eq!((only.format.name, only.figures.tests), ("jest-text", Some(3)), "{text}");
        assert!(only.warnings.iter().any(|warning| warning.contains(name)), "{:?}", only.warnings);
        // What the tests of unittest print may come at last.
        let unittest = format!("..\n{}\nRan 2 tests in 0.001s\n\nOK\n", "-".repeat(70));
        assert_eq!(tests(&format!("{unittest}{text}")), tests(&unittest), "{text}");
    }
    // Below a whole run it is somebody's word on it.
    let whole = capture("phpunit-text/good-ok.txt");
    assert_eq!(tests(&format!("{whole}{phpunit}")), tests(&whole));
    // Two commands.
    let twice = read(&format!("{minitest}{}", minitest.replace("5 runs", "6 runs")));
    assert_eq!(twice.iter().map(|report| report.figures.tests).collect::<Vec<_>>(), [Some(5), Some(6)]);
}
