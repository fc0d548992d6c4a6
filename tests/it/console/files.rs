//! Console output that somebody kept in a file.

use highwater::ingest::{Input, Parsed, parse, parse_all};

use super::{capture, captures, read};
use crate::support::Project;

fn all(text: &str) -> Vec<Parsed> {
    parse_all(&Input::bytes("build.log", text.as_bytes()), None).unwrap()
}

fn names(reports: &[Parsed]) -> Vec<&'static str> {
    reports.iter().map(|report| report.format.name).collect()
}

/// What a capture is, it stays, and nothing is seen beside it but what its tool, or another, said there.
#[test]
fn a_capture_holds_what_its_tools_said_and_no_more() {
    let mut beside = Vec::new();
    for (_, name, text) in captures() {
        let input = Input::bytes(&name, text.as_bytes());
        let Ok(alone) = parse(&input, None) else { continue };
        let all = parse_all(&input, None).unwrap();
        let is_the_same = all[0].figures == alone.figures && all[0].format == alone.format;
        assert!(is_the_same && !all[0].is_spoken(), "{name}");
        beside.extend(all[1..].iter().map(|other| (name.clone(), other.format.name)));
    }
    beside.sort();
    let beside: Vec<(&str, &str)> = beside.iter().map(|(name, format)| (name.as_str(), *format)).collect();
    let compiled = [
        "color",
        "crash",
        "crash-alone",
        "fail-fast",
        "nocapture",
        "one-thread",
        "result-in-a-test",
        "result-in-a-test-nocapture",
        "result-nocapture",
        "result-nocapture-again",
        "result-nocapture-pty",
        "successes",
    ];
    let mut expected: Vec<(String, &str)> =
        compiled.iter().map(|name| (format!("cargo-test-text/good-{name}.txt"), "rustc-text")).collect();
    let others = [
        ("brief-test-text/good-common-test.txt", "elixir-text"),
        ("brief-text/good-esbuild.txt", "bundle-text"),
        ("bundle-text/good-next-14.txt", "bundler-text"),
        ("bundle-text/good-next-15.txt", "bundler-text"),
        ("bundle-text/good.txt", "webpack-text"),
        ("cargo-test-text/good.txt", "rustc-text"),
        ("criterion-text/good-cargo-bench.txt", "rustc-text"),
        ("exunit-text/good.txt", "elixir-text"),
        ("go-test-text/good-panic-timeout-build-failed.txt", "govet-text"),
        ("gotestsum-text/good-1.22.txt", "govet-text"),
        ("gotestsum-text/good-standard-verbose.txt", "govet-text"),
        ("gotestsum-text/good-standard-verbose.txt", "govet-text"),
        ("gotestsum-text/good.txt", "govet-text"),
        ("jest-text/good.txt", "istanbul-text"),
        ("next-text/good-build.txt", "bundler-text"),
        ("next-text/good-type-error.txt", "bundler-text"),
        ("nextest-text/good.txt", "rustc-text"),
        ("node-test-text/good-20.txt", "brief-text"),
        ("node-test-text/good-coverage.txt", "brief-coverage-text"),
        ("node-test-text/good.txt", "brief-text"),
        ("rspec-json/good-load-error.json", "brief-coverage-text"),
        ("tap/good-node-coverage.tap", "brief-coverage-text"),
        ("vite-build-text/good-map.txt", "bundler-text"),
        ("vite-build-text/good.txt", "bundler-text"),
        ("vitest-text/good-unhandled.txt", "istanbul-text"),
        ("webpack-text/good-warnings.txt", "bundle-text"),
    ];
    expected.extend(others.map(|(name, format)| (name.to_owned(), format)));
    expected.sort();
    let expected: Vec<(&str, &str)> = expected.iter().map(|(name, format)| (name.as_str(), *format)).collect();
    assert_eq!(beside, expected);
}

#[test]
fn every_tool_in_a_log_is_read() {
    let [ruff, mypy, pytest] = ["ruff-text/good.txt", "mypy-text/good.txt", "pytest-text/good-quiet.txt"].map(capture);
    let log = all(&format!("{ruff}{mypy}{pytest}"));
    assert_eq!(names(&log), ["pytest-text", "mypy-text", "ruff-text"]);
    let alone = [&pytest, &mypy, &ruff].map(|text| all(text)[0].figures.clone());
    assert_eq!(log.iter().map(|report| report.figures.clone()).collect::<Vec<_>>(), alone);
}

/// The reader of one tool takes lines that another wrote alike, where it has the file to itself.
#[test]
fn linters_that_write_alike_are_told_apart() {
    let mypy = "a.py:3: error: Incompatible types in assignment  [assignment]\nFound 1 error in 1 file (checked 1 source file)\n";
    let shellcheck = "bin/run:2:3: note: Use $(...). [SC2006]\nb.sh:4:6: warning: y is not assigned. [SC2154]\n";
    let typos = "error: `teh` should be `the`\n  --> a.md:1:3\n  |\n1 | teh\n  | ^^^\n";
    let unknown = "lib/a.foo:3:5: error: something bad\n";
    let ruff = "a.py:1:8: F401 [*] `os` imported but unused\nFound 1 error.\n[*] 1 fixable with the `--fix` option.\n";
    let github = "::error title=ruff (F401),file=/p/a.py,line=1,col=8,endLine=1,endColumn=10::a.py:1:8: F401 `os` imported but unused\n";
    let pytest = capture("pytest-text/good.txt");
    let figures = |text: &str| -> Vec<_> {
        let mut figures: Vec<_> = all(text).iter().map(|one| (one.format.name, one.figures.counts())).collect();
        figures.sort();
        figures
    };
    for (one, other) in [
        (mypy, shellcheck),
        (mypy, typos),
        (ruff, unknown),
        (ruff, shellcheck),
        (github, typos),
        (github, pytest.as_str()),
    ] {
        let mut expected = [figures(one), figures(other)].concat();
        expected.sort();
        for both in [format!("{one}{other}"), format!("{other}{one}")] {
            assert_eq!(figures(&both), expected, "{both}");
        }
    }
    // A runner annotates the tests that failed in the same way.
    let test = "::error file=/p/a.test.js,line=1,title=cart › adds::expected 2 to be 3\n";
    assert_eq!(figures(&format!("{test}{pytest}")), figures(&pytest));
}

/// All of it is no report, but one stands in it. A log in which none stands is refused as before.
#[test]
fn a_report_between_other_lines_is_read() {
    let xml = "<testsuite tests=\"1\"><testcase name=\"a\"/></testsuite>";
    let log = all(&format!("> app@1.0.0 test\n> mocha --reporter xunit\n\n{xml}\nnpm ERR! Test failed.\n"));
    assert_eq!((names(&log), log[0].figures.tests, log[0].is_spoken()), (vec!["junit"], Some(1), true));
    let error =
        parse_all(&Input::bytes("build.log", b"> app@1.0.0 test\n\nnpm ERR! Test failed.\n"), None).unwrap_err();
    assert_eq!(error.reject(), Some(highwater::error::Reject::NotThisFormat));
}

/// A file with a run and its repetition has one result; with the runs of two projects it has two.
#[test]
fn runs_of_two_projects_are_two_reports() {
    let run = |project: &str, passes: bool| {
        let (word, sign, count) = if passes { ("PASS", "✓", "passed") } else { ("FAIL", "✕", "failed") };
        format!(
            "> nx run {project}:test\n\n{word} {project} src/{project}.spec.ts\n  sums\n    {sign} of {project} (2 ms)\n\n\
             Test Suites: 1 {count}, 1 total\nTests:       1 {count}, 1 total\nSnapshots:   0 total\nTime:        0.6 s\n\
             Ran all test suites.\n\n"
        )
    };
    let figures = |reports: &[Parsed]| -> Vec<_> {
        reports.iter().map(|report| (report.figures.passed.unwrap(), report.figures.failed.unwrap())).collect()
    };
    let (web, api) = (run("web", true), run("api", false));
    let both = all(&format!("{web}{api}"));
    assert_eq!((figures(&both), names(&both)), (vec![(0, 1), (1, 0)], vec!["jest-text", "jest-text"]));
    assert!(both.iter().all(|report| report.warnings.is_empty()), "{both:?}");
    assert_eq!(figures(&all(&format!("{web}{web}"))), [(1, 0)]);

    let project = Project::new();
    project.write("test.log", format!("{web}{api}"));
    let record = project.run(&["begin", "--report", "test.log", "--json"]).expect(0).json();
    assert_eq!(record["metrics"]["testing"]["test_count"], 2);
    project.run(&["verify", "--recompute"]).expect(0);
}

#[test]
fn a_log_that_is_kept_gives_the_same_figures_again() {
    let project = Project::new();
    let log = ["ruff-text/good.txt", "mypy-text/good.txt", "pytest-text/good-quiet.txt"].map(capture).concat();
    project.write("build.log", &log);
    let record = project.run(&["begin", "--report", "build.log", "--json"]).expect(0).json();
    let sources = record["sources"].as_array().unwrap();
    let told: Vec<(&str, bool)> =
        sources.iter().map(|source| (source["format"].as_str().unwrap(), source["spoken"] == true)).collect();
    assert_eq!(told, [("pytest-text", false), ("mypy-text", true), ("ruff-text", true)]);
    assert_eq!(record["report_files"], serde_json::json!(["build.log"]));
    project.run(&["verify", "--recompute"]).expect(0);

    // The same, piped; and a kind that is not wanted is left out of the log.
    let shown = project.run(&["inspect", "build.log"]).expect(0).stdout;
    assert!(shown.contains("\nbuild.log: mypy-text (lint), between other lines\n"), "{shown}");
    let piped = project.run_with(&["record", "--report", "-", "--json"], &log).expect(0).json();
    let figures = |record: &serde_json::Value| {
        record["sources"].as_array().unwrap().iter().map(|source| source["figures"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(figures(&piped), figures(&record));
    std::thread::sleep(std::time::Duration::from_millis(20));
    project.write("build.log", format!("{log}\n"));
    let skipped = project.run(&["record", "--report", "build.log", "--skip", "lint", "--json"]).expect(0).json();
    assert_eq!(skipped["sources"].as_array().unwrap().len(), 1);
    project.run(&["verify", "--recompute"]).expect(0);
}

/// The document is whole without a line end.
#[test]
fn json_of_coverage_may_end_a_log_of_tests() {
    let tests = "running 1 test\ntest a ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n";
    let json = capture("llvm-cov-json/good.json").replace('\n', "");
    let both = all(&format!("{tests}{json}"));
    assert_eq!(names(&both), ["cargo-test-text", "llvm-cov-json"]);
    let figures = |reports: &[Parsed]| -> Vec<_> { reports.iter().map(|report| report.figures.clone()).collect() };
    assert_eq!(figures(&both), figures(&all(&format!("{tests}{json}\n"))));
    assert!(
        parse_all(&Input::bytes("build.log", format!("{tests}{}", json.trim_end_matches('}')).as_bytes()), None)
            .is_err()
    );
}

/// Ant sets its tasks' names before what they print.
#[test]
fn what_ant_s_compiler_says_is_read() {
    let log = "    [javac] Compiling 1 source file to /app/out\n    [javac] /app/XTest.java:2: error: cannot find symbol\n    \
               [javac] public class XTest { int x = y; }\n    [javac]                              ^\n    [javac] 1 error\n\nBUILD FAILED\n";
    let found = all(log);
    assert_eq!((names(&found), found[0].figures.errors), (vec!["gcc-text"], Some(1)));
}

/// What it would have told is not there, and neither is what came after it: nobody is to take that for a green run.
#[test]
fn a_run_that_was_killed_among_others_is_mentioned() {
    let [mypy, ruff, eslint] = ["mypy-text/good.txt", "ruff-text/good.txt", "eslint-text/good.txt"].map(capture);
    let killed = |whole: &str| whole.lines().take(5).map(|line| format!("{line}\n")).collect::<String>();
    let warnings =
        |reports: &[Parsed]| -> Vec<String> { reports.iter().flat_map(|report| report.warnings.clone()).collect() };
    for format in
        ["ctest-text", "gtest-text", "minitest-text", "phpunit-text", "playwright-text", "pytest-text", "vitest-text"]
    {
        let whole = capture(&format!("{format}/good.txt"));
        let mention =
            format!("a run of {format} was begun and never ended: it, and what was printed after that, is not read");
        let spoken = read(&format!("{mypy}{ruff}{}{eslint}", killed(&whole)));
        assert_eq!((names(&spoken), warnings(&spoken)), (vec!["mypy-text", "ruff-text"], vec![mention]), "{format}");
        let spoken = read(&format!("{mypy}{ruff}{whole}\n{eslint}"));
        assert!(spoken.len() == 4 && !warnings(&spoken).concat().contains("never ended"), "{format}: {spoken:?}");
    }
    let log = all(&format!("{mypy}{ruff}{}", killed(&capture("ctest-text/good.txt"))));
    assert_eq!(names(&log), ["mypy-text", "ruff-text"]);
    assert!(warnings(&log).concat().contains("a run of ctest-text was begun and never ended"), "{log:?}");
}

/// A file is told by its content, and the surest sign may stand in what a test printed.
#[test]
fn what_a_test_printed_is_not_what_a_file_is() {
    let pytest = capture("pytest-text/good.txt");
    let ctest = format!(
        "Test project /app/build\n    Start 1: py\n1/2 Test #1: py ...............***Failed    0.32 sec\n{pytest}\n    \
         Start 2: ok\n2/2 Test #2: ok ...............   Passed    0.00 sec\n\n50% tests passed, 1 tests failed out of 2\n\n\
         Total Test time (real) =   0.32 sec\n\nThe following tests FAILED:\n\t  1 - py (Failed)\nErrors while running CTest\n"
    );
    let go = format!("=== RUN   TestPy\n{pytest}\n--- PASS: TestPy (0.22s)\nPASS\nok  \tacme.dev/x\t0.221s\n");
    for (text, format, counts) in [(ctest, "ctest-text", [2, 1, 1]), (go, "go-test-text", [1, 1, 0])] {
        let reports = all(&text);
        assert_eq!(names(&reports), [format]);
        let figures = &reports[0].figures;
        assert_eq!([figures.tests, figures.passed, figures.failed], counts.map(Some), "{format}");
        assert!(reports[0].warnings.iter().any(|warning| warning.contains("pytest-text")), "{format}");
    }
}
