//! What commands print, real captures side by side in one stream, and what may be read out of it.

use std::collections::BTreeSet;
use std::path::Path;

use highwater::ingest::{Details, Format, Input, Parsed, console::console, merge::merge, parse_all};
use highwater::model::figures::ReportKind;
use highwater::model::metrics::BuildStatus;

mod again;
mod files;
mod neighbours;
mod packages;
mod painted;
mod speakers;

fn capture(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/reports").join(path);
    String::from_utf8(std::fs::read(path).unwrap()).unwrap()
}

/// All good captures that are text: of which format, under which name, and what is in them.
fn captures() -> Vec<(&'static Format, String, String)> {
    let mut captures = Vec::new();
    for format in highwater::ingest::FORMATS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/reports").join(format.name);
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let file = path.file_name().unwrap().to_str().unwrap();
            if let (true, Ok(text)) = (file.starts_with("good"), std::fs::read_to_string(&path)) {
                captures.push((*format, format!("{}/{file}", format.name), text));
            }
        }
    }
    captures.sort_by(|(_, one, _), (_, other, _)| one.cmp(other));
    captures
}

fn read(text: &str) -> Vec<Parsed> {
    let reports = console(&Input::bytes("(console)", text.as_bytes()));
    assert!(reports.iter().all(|report| report.sniffed_by.starts_with("console")));
    reports
}

/// Format and figures of each report.
fn told(text: &str) -> Vec<(&'static str, Vec<u64>)> {
    let figures = |report: &Parsed| report.figures.counts().into_iter().map(|(_, count)| count).collect();
    read(text).iter().map(|report| (report.format.name, figures(report))).collect()
}

#[test]
fn each_tool_is_found_in_its_own_output() {
    for (file, expected) in [
        ("pytest-text/good.txt", vec![("pytest-text", vec![36, 23, 5, 3, 5])]),
        ("pytest-text/good-quiet.txt", vec![("pytest-text", vec![36, 23, 5, 3, 5])]),
        ("cargo-test-text/good.txt", vec![("cargo-test-text", vec![11, 6, 3, 0, 2]), ("rustc-text", vec![0, 2, 0, 2])]),
        (
            "cargo-test-text/good-color.txt",
            vec![("cargo-test-text", vec![11, 6, 3, 0, 2]), ("rustc-text", vec![0, 2, 0, 2])],
        ),
        ("rustc-text/good-errors.txt", vec![("rustc-text", vec![2, 1, 0, 3])]),
        ("rustc-text/good.txt", vec![("rustc-text", vec![0, 7, 0, 7])]),
        ("rustc-text/good-manifest.txt", vec![("rustc-text", vec![1, 0, 0, 1])]),
        ("rustc-json/good.jsonl", vec![("rustc-json", vec![0, 7, 0, 7])]),
        ("rustc-json/good-mixed.jsonl", vec![("rustc-json", vec![0, 7, 0, 7])]),
        ("tap/good-prove-dies.tap", vec![("tap", vec![16, 8, 1, 4, 3])]),
    ] {
        assert_eq!(told(&capture(file)), expected, "{file}");
    }
    let go = told(&capture("go-test-json/good.jsonl"));
    assert_eq!((go.len(), go[0].0), (1, "go-test-json"));
}

#[test]
fn coverage_that_node_tells_below_tap_is_read() {
    let reports = read(&capture("tap/good-node-coverage.tap"));
    let shares = reports.iter().map(|report| (report.format.name, report.figures.percent_covered.is_some()));
    assert_eq!(shares.collect::<Vec<_>>(), [("tap", false), ("brief-coverage-text", true)]);
}

#[test]
fn suites_of_ginkgo_count_as_its_specs_where_ginkgo_ran_them() {
    let by_ginkgo = capture("brief-test-text/good-ginkgo.txt");
    assert_eq!(told(&by_ginkgo), [("brief-test-text", vec![7, 3, 2, 0, 2])]);
    let (suite, _) = by_ginkgo.split_once("\nFAIL\n").unwrap();
    let by_go = format!("{suite}\nFAIL\nFAIL\tshop\t0.049s\nFAIL\n");
    assert_eq!(told(&by_go), [("go-test-text", vec![1, 0, 1, 0, 0])]);
    let both = format!("{by_go}{by_ginkgo}");
    assert_eq!(told(&both).len(), 2, "each is told of by itself");
}

#[test]
fn benchmarks_sizes_and_mutants_are_read_between_the_runs_of_tests() {
    let text = stream("cargo-test-bench.txt");
    let measurement = merge(&read(&text));
    assert_eq!(measurement.testing.unwrap().test_count, Some(2), "those that cargo bench left out are no tests");
    let times = measurement.metrics.iter().map(|(name, told)| (name.as_str(), told.figure.value.unwrap()));
    let expected = [
        ("bench.a sum that has a rather long name.time", 133.82),
        ("bench.products.sum.10.time", 2.201),
        ("bench.products.sum.100.time", 14.03),
        ("bench.sum 100.time", 14.037),
    ];
    assert_eq!(times.collect::<Vec<_>>(), expected);
    // A test that prints all of it, and only then passes.
    let printed =
        text.replace("running 2 tests\n", &format!("running 2 tests\n{}", capture("criterion-text/good.txt")));
    assert_eq!(merge(&read(&printed)).metrics.len(), 4);
    // Its tables stand within pytest's run.
    let pytest = merge(&read(&stream("benchmark-pytest.txt")));
    assert_eq!(pytest.testing.unwrap().tests_passed, Some(5));
    assert_eq!((pytest.metrics.len(), pytest.metrics["bench.test_join.time"].figure.value), (4, Some(4.546e-6)));
    let all =
        ["lizard-text/good.txt", "brief-mutation-text/good.txt", "go-bench-text/good.txt"].map(capture).join("\n");
    let measurement = merge(&read(&format!("$ make check\n{all}\n$ done\n")));
    assert!(measurement.complexity_score.is_some() && measurement.testing.is_none());
    assert_eq!(measurement.metrics["mutation.score"].figure.value, Some(50.0));
    assert!(measurement.metrics.keys().any(|name| name.starts_with("bench.example.test/sum.")));
}

#[test]
fn tables_of_coverage_are_read_where_the_tool_prints_them_and_not_where_a_test_does() {
    let coverage = |text: &str| {
        let measurement = merge(&read(text));
        assert!(measurement.testing.is_some(), "{text}");
        measurement.coverage.map(|coverage| (coverage.percentage.to_string(), coverage.lines_total))
    };
    let pytest = stream("coverage-pytest.txt");
    assert_eq!(coverage(&pytest), Some(("62.50".to_owned(), Some(8))));
    assert_eq!(coverage(&stream("coverage-jest.txt")), Some(("75.00".to_owned(), Some(4))));
    assert_eq!(coverage(&stream("coverage-nyc.txt")), Some(("85.71".to_owned(), None)));
    assert_eq!(coverage(&stream("coverage-node.txt")), Some(("71.43".to_owned(), None)));
    assert_eq!(coverage(&stream("coverage-go.txt")), Some(("83.30".to_owned(), None)));
    assert_eq!(coverage(&stream("coverage-mix.txt")), Some(("33.33".to_owned(), None)));
    assert_eq!(coverage(&stream("coverage-phpunit.txt")), Some(("60.00".to_owned(), Some(5))));
    let (before, after) = pytest.split_once("= tests coverage =").unwrap();
    let without = format!("{before}{}", after.split_once("62%\n=").unwrap().1);
    assert_eq!(coverage(&without), None, "only a test printed one");
    assert_eq!(coverage(&pytest.replace("TOTAL         8", "TOTAL")), None, "the table is cut");
}

/// Runners whose names are enough to find their captures.
const RUNNERS: [&str; 29] = [
    "ava-text",
    "boost-text",
    "brief-test-text",
    "bun-test-text",
    "busted-text",
    "ctest-text",
    "dart-test-text",
    "deno-test-text",
    "dotnet-test-text",
    "exunit-text",
    "forge-test-text",
    "gherkin-text",
    "gotestsum-text",
    "gradle-text",
    "gtest-text",
    "karma-text",
    "maven-text",
    "minitest-text",
    "mocha-text",
    "node-test-text",
    "phpunit-text",
    "prove-text",
    "qttest-text",
    "rspec-text",
    "sbt-text",
    "swift-test-text",
    "wdio-text",
    "wtr-text",
    "zig-test-text",
];

#[test]
fn a_run_on_the_console_is_read_as_its_file_is() {
    let tests = |text: &str| -> Vec<_> { told(text).into_iter().filter(|(name, _)| RUNNERS.contains(name)).collect() };
    let (mut all, mut expected) = (String::new(), Vec::new());
    for format in RUNNERS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/reports").join(format);
        for entry in std::fs::read_dir(folder).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            // Dots name no file; a brief run of GoogleTest does not say that it begins.
            let is_other = (name == "good-dot.txt" && format != "mocha-text") || name.starts_with("good-brief");
            if !name.starts_with("good") || is_other {
                continue;
            }
            let text = capture(&format!("{format}/{name}"));
            let file = highwater::ingest::format(format).unwrap();
            let parsed = highwater::ingest::parse(&Input::bytes("x", text.as_bytes()), Some(file)).unwrap();
            let figures: Vec<u64> = parsed.figures.counts().into_iter().map(|(_, count)| count).collect();
            assert_eq!(tests(&text), [(format, figures.clone())], "{format}/{name}");
            if name == "good.txt" {
                all.push_str(&text);
                expected.push((format, figures));
            }
        }
    }
    let mut found = tests(&all);
    found.sort_unstable();
    assert_eq!(found, expected, "one after another");
}

#[test]
fn several_tools_in_one_stream_are_all_found() {
    let stream = [
        "$ make check\nwarning: this is make's own, and no compiler's\n",
        &capture("rustc-text/good.txt"),
        &capture("pytest-text/good.txt"),
        "npm warn deprecated thing@1.0.0\nDownloading  10%\rDownloading 100%\n",
        &capture("cargo-test-text/good.txt"),
        "error: pathspec 'x' did not match any file(s) known to git\n",
        &capture("pytest-text/good-xdist.txt"),
    ]
    .concat();
    let expected = [
        ("pytest-text", vec![36, 23, 5, 3, 5]),
        ("pytest-text", vec![8, 5, 2, 0, 1]),
        ("cargo-test-text", vec![11, 6, 3, 0, 2]),
        ("rustc-text", vec![0, 7, 0, 7]),
        ("rustc-text", vec![0, 2, 0, 2]),
    ];
    assert_eq!(told(&stream), expected);
    assert_eq!(told(&stream.replace('\n', "\r\n")), expected);
}

#[test]
fn what_a_test_prints_is_not_believed() {
    for (file, expected) in [
        ("pytest-text/good-session-in-a-test.txt", vec![("pytest-text", vec![8, 5, 2, 0, 1])]),
        ("pytest-text/good-session-in-a-test-quiet.txt", vec![("pytest-text", vec![8, 5, 2, 0, 1])]),
        (
            "cargo-test-text/good-result-in-a-test.txt",
            vec![("cargo-test-text", vec![7, 5, 1, 0, 1]), ("rustc-text", vec![0, 0, 0, 0])],
        ),
        (
            "cargo-test-text/good-nocapture.txt",
            vec![("cargo-test-text", vec![6, 3, 2, 0, 1]), ("rustc-text", vec![0, 2, 0, 2])],
        ),
    ] {
        assert_eq!(told(&capture(file)), expected, "{file}");
    }
}

#[test]
fn a_run_that_was_killed_gives_no_numbers() {
    let tests = |text: &str| read(text).iter().filter(|report| report.format.kind == ReportKind::Test).count();
    assert_eq!(tests(&capture("pytest-text/truncated.txt")), 0);
    assert_eq!(tests(&capture("cargo-test-text/truncated.txt")), 0);
    let whole = capture("cargo-test-text/good.txt");
    let (first_two, _) = whole.split_once("test roundtrip").unwrap();
    assert_eq!(tests(first_two), 0, "half a run looks like deleted tests");
    let clippy = capture("rustc-text/good.txt");
    let (first_five, _) = clippy.split_once("warning: length comparison").unwrap();
    assert_eq!(told(first_five), [], "and half a build like fewer findings");
    assert_eq!(told(&capture("rustc-json/truncated.jsonl")), []);
}

#[test]
fn other_text_is_no_report() {
    for text in [
        "",
        "\n \n",
        "all good\n5 of 5 done in 0.02s\n",
        "warning: something odd\nerror: it did not work\n",
        "error[bad-argument]: no\n --> script.py:3:1\n",
        "test result: ok. 99 passed; 0 failed (so says my script)\n",
        "2 passed and 3 failed in 0.01s\nin my own runner\n",
        "{\"Action\":\"buy\",\"Item\":3}\n{\"reason\":\"because\"}\n",
    ] {
        assert_eq!(told(text), [], "{text:?}");
    }
}

#[test]
fn a_build_that_failed_says_so_without_any_test() {
    for file in ["rustc-text/good-errors.txt", "rustc-text/good-manifest.txt", "rustc-json/good-errors.jsonl"] {
        let measurement = merge(&read(&capture(file)));
        assert_eq!(measurement.testing, None, "{file}");
        assert_eq!(measurement.quality.unwrap().build_status, Some(BuildStatus::Failed), "{file}");
    }
    let built = merge(&read(&capture("cargo-test-text/good.txt")));
    assert_eq!(built.quality.unwrap().build_status, Some(BuildStatus::Success));
}

#[test]
fn a_crashed_test_binary_is_one_failed_unit() {
    let measurement = merge(&read(&capture("cargo-test-text/good-crash.txt")));
    let testing = measurement.testing.unwrap();
    assert_eq!((testing.test_count, testing.tests_failed, testing.tests_errored), (Some(7), Some(1), Some(0)));
    assert_eq!((testing.collection_errors, testing.failed_units), (1, vec!["crash".to_owned()]));
    let alone = merge(&read(&capture("cargo-test-text/good-crash-alone.txt"))).testing.unwrap();
    assert_eq!((alone.test_count, alone.collection_errors), (Some(0), 1));
}

#[test]
fn the_console_adds_nothing_to_the_file_of_the_same_run() {
    let junit = capture("junit/good.xml");
    let nextest = capture("junit/good-nextest.xml");
    let file = |text: &str| highwater::ingest::parse(&Input::bytes("junit.xml", text.as_bytes()), None).unwrap();
    for (junit, text) in [(&junit, "pytest-text/good.txt"), (&junit, "pytest-text/good-verbose.txt")] {
        let alone = merge(&[file(junit)]);
        let mut reports = read(&capture(text));
        reports.push(file(junit));
        let both = merge(&reports);
        assert_eq!(both.testing, alone.testing, "{text}");
        assert_eq!(both.same_run_as, [Some(1), None], "{text}");
    }
    let mut reports = read(&capture("cargo-test-text/good.txt"));
    reports.push(file(&nextest));
    let testing = merge(&reports).testing.unwrap();
    let Details::Tests(console) = &reports[0].details else { panic!("tests") };
    assert_eq!(testing.test_count, Some(11), "nextest runs no doc-tests: those come from the console, {console:?}");
}

fn stream(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/console").join(name);
    String::from_utf8(std::fs::read(path).unwrap()).unwrap()
}

/// Tests, passed, failed, errored, skipped, flaky ones, units that failed.
fn tests_of(text: &str) -> [u64; 7] {
    let testing = merge(&read(text)).testing.unwrap();
    let counts = [testing.test_count, testing.tests_passed, testing.tests_failed, testing.tests_errored];
    let [tests, passed, failed, errored] = counts.map(Option::unwrap);
    let (skipped, flaky) = (testing.tests_skipped.unwrap(), testing.tests_flaky.unwrap_or(0));
    [tests, passed, failed, errored, skipped, flaky, testing.collection_errors]
}

/// Errors by tool, and warnings.
fn findings_of(text: &str) -> (Vec<(String, u64)>, u64) {
    let quality = merge(&read(text)).quality.unwrap();
    (quality.errors_by_tool.into_iter().collect(), quality.lint_warnings.unwrap())
}

#[test]
fn every_tool_of_a_real_stream_is_read() {
    for (file, expected) in [
        ("python-clean.txt", [1, 1, 0, 0, 0, 0, 0]),
        ("python.txt", [9, 6, 2, 0, 1, 0, 0]),
        ("python-json.txt", [9, 7, 1, 0, 1, 0, 0]),
        ("nox.txt", [4, 2, 1, 0, 1, 0, 0]),
        ("cargo-build-nextest.txt", [4, 2, 1, 0, 1, 1, 0]),
        ("eslint-json-jest.txt", [4, 2, 1, 0, 1, 0, 1]),
        ("tsc-vitest.txt", [4, 2, 1, 0, 1, 0, 1]),
        ("agent-jest-vitest-oxlint.txt", [8, 6, 2, 0, 0, 0, 0]),
        ("agent-passed.txt", [3, 3, 0, 0, 0, 0, 0]),
        // Two environments are no attempts at one test.
        ("tox.txt", [8, 4, 2, 0, 2, 0, 0]),
    ] {
        for text in [stream(file), stream(file).replace('\n', "\r\n")] {
            assert_eq!(tests_of(&text), expected, "{file}");
        }
    }
    for (file, errors, warnings) in [
        ("python-clean.txt", vec![("mypy", 0), ("ruff", 0)], 0),
        ("python.txt", vec![("flake8", 7), ("mypy", 1), ("pylint", 0), ("ruff", 6)], 3),
        ("python-json.txt", vec![("ruff", 7)], 0),
        ("nox.txt", vec![("flake8", 2)], 0),
        ("pre-commit.txt", vec![("mypy", 1), ("pre-commit", 0), ("ruff", 5)], 0),
        ("packages-nx-eslint.txt", vec![("eslint", 1)], 1),
        ("prek-eslint.txt", vec![("eslint", 2), ("pre-commit", 0), ("prettier", 2)], 1),
        // What two commands tell again counts once.
        ("cargo-build-nextest.txt", vec![("rustc", 0)], 1),
        ("eslint-json-jest.txt", vec![("eslint", 1)], 1),
        ("tsc-vitest.txt", vec![("tsc", 2)], 0),
        ("agent-jest-vitest-oxlint.txt", vec![("oxlint", 0)], 2),
        ("agent-passed.txt", vec![("oxlint", 0)], 2),
        ("make-gcc.txt", vec![("gcc", 1)], 2),
        ("vite-sass.txt", vec![("vite", 1)], 0),
        ("webpack-babel.txt", vec![("webpack", 1)], 0),
        ("go-vet-test.txt", vec![("govet", 1), ("typecheck", 2)], 0),
    ] {
        let errors: Vec<(String, u64)> = errors.into_iter().map(|(tool, number)| (tool.to_owned(), number)).collect();
        assert_eq!(findings_of(&stream(file)), (errors, warnings), "{file}");
    }
}

/// flake8-bugbear's codes are those of ruff, too.
#[test]
fn codes_that_ruff_has_too_are_flake8_s_where_ruff_counts_without_them() {
    let flake8 = "a.py:1:1: F401 'os' imported but unused\na.py:3:17: B006 Do not use mutable data structures.\n";
    let ruff = "a.py:1:8: F401 [*] `os` imported but unused\n";
    let one = |tool: &str, errors| (tool.to_owned(), errors);
    for (end, expected) in [
        ("All checks passed!\n".to_owned(), (vec![one("flake8", 1), one("ruff", 0)], 1)),
        (format!("{ruff}Found 1 error.\n"), (vec![one("flake8", 1), one("ruff", 1)], 1)),
        (format!("{ruff}Found 2 errors.\n"), (vec![one("flake8", 1), one("ruff", 2)], 0)),
    ] {
        assert_eq!(findings_of(&format!("$ flake8; ruff check\n{flake8}{end}")), expected, "{end}");
    }
    let text = format!("{ruff}Found 1 error.\na.py:3:17: B006 Do not use mutable data structures.\n");
    let reports = parse_all(&Input::bytes("x", text.as_bytes()), None).unwrap();
    let totals: Vec<_> = reports.iter().map(|report| (report.format.name, report.figures.total)).collect();
    assert_eq!(totals, [("ruff-text", Some(1)), ("flake8-text", Some(1))]);
    let of_pycodestyle = "a.py:2:3: E128 continuation line\na.py:3:1: E901 TokenError: EOF in multi-line statement\n";
    assert_eq!(findings_of(&format!("$ pycodestyle\n{of_pycodestyle}")), (vec![one("flake8", 2)], 0));
}

/// JSON that one tool prints does not stand for what others do.
#[test]
fn what_stands_beside_json_is_read() {
    let rspec = "Finished in 0.1 seconds (files took 0.2 seconds to load)\n3 examples, 2 failures\n";
    let json = r#"{"version":"3.12","examples":[{"id":"./b[1:1]","description":"a","full_description":"A a","status":"passed","file_path":"./b.rb","line_number":2,"run_time":0.1}],"summary":{"duration":0.1,"example_count":1,"failure_count":0,"pending_count":0,"errors_outside_of_examples_count":0},"summary_line":"1 example, 0 failures"}"#;
    let events = "{\"Action\":\"run\",\"Package\":\"m/b\",\"Test\":\"TestB\"}\n{\"Action\":\"pass\",\"Package\":\"m/b\",\"Test\":\"TestB\"}\n\
                  {\"Action\":\"pass\",\"Package\":\"m/b\"}\n";
    let pytest = "..F     [100%]\n1 failed, 2 passed in 0.05s\n";
    let ruff = r#"[{"filename":"/a.py","code":"F401","location":{"row":1,"column":8},"message":"unused"}]"#;
    let gcovr = r#"{"gcovr/summary_format_version":"0.6","files":[],"line_covered":8,"line_total":17,"branch_covered":4,"branch_total":11}"#;
    let go = "--- FAIL: TestA (0.00s)\n    a_test.go:4: bad\nFAIL\nFAIL\tm/a\t0.004s\nFAIL\n";
    for (first, then, expected) in [
        (rspec, json, ["rspec-json", "rspec-text"]),
        (rspec, events, ["go-test-json", "rspec-text"]),
        (go, events, ["go-test-json", "go-test-text"]),
        (pytest, ruff, ["pytest-text", "ruff-json"]),
        (pytest, gcovr, ["gcovr-summary-json", "pytest-text"]),
    ] {
        for text in [format!("{first}{then}\n"), format!("{then}\n{first}")] {
            let reports = parse_all(&Input::bytes("x", text.as_bytes()), None).unwrap();
            let mut formats: Vec<&str> = reports.iter().map(|report| report.format.name).collect();
            formats.sort_unstable();
            assert_eq!(formats, expected, "{text}");
        }
    }
    let sum = "  ✓ m/b.TestB\n\nDONE 1 tests in 0.2s\n";
    let told = told(&format!("{go}{sum}"));
    assert_eq!(told.iter().map(|(format, _)| *format).collect::<Vec<_>>(), ["go-test-text", "gotestsum-text"]);
}

#[test]
fn go_test_without_v_tells_failures_and_not_how_many_tests_there_are() {
    let measurement = merge(&read(&stream("go-vet-test.txt")));
    let testing = measurement.testing.unwrap();
    assert_eq!((testing.test_count, testing.tests_passed, testing.pass_rate), (None, None, None));
    assert_eq!((testing.tests_failed, testing.collection_errors), (Some(1), 1));
    assert_eq!(testing.failed_units, ["example.org/shop/broken"]);
    assert_eq!(measurement.cases, None, "a name that is missing is no lost test");
    assert_eq!(measurement.quality.unwrap().build_status, Some(BuildStatus::Failed));
    let again = merge(&read(&stream("again-go.txt"))).testing.unwrap();
    assert_eq!((again.tests_failed, again.test_count), (Some(0), None), "the package passed the second time");
}

/// What stands for the output of a test in the captures `frame-…`.
const PRINTED: &str = "@@ what a test prints @@";

/// The capture with other lines in the place of what its failing test printed, as far in.
fn with_printed(frame: &str, printed: &str) -> String {
    let mut lines = Vec::new();
    for line in frame.lines() {
        let before = line.strip_suffix(PRINTED);
        let is_place = |before: &str| !before.contains(|c: char| c.is_ascii_alphabetic() && c != 'm');
        match before.filter(|before| is_place(before)) {
            // Colours that were switched off before it stand there once.
            Some(before) if before.starts_with('\x1b') => lines.extend(printed.lines().map(str::to_owned)),
            Some(before) => lines.extend(printed.lines().map(|line| format!("{before}{line}"))),
            None => lines.push(line.to_owned()),
        }
    }
    lines.join("\n") + "\n"
}

const FRAMES: [&str; 12] = [
    "frame-pytest.txt",
    "frame-cargo.txt",
    "frame-nextest.txt",
    "frame-go.txt",
    "frame-jest.txt",
    "frame-vitest.txt",
    "frame-unittest.txt",
    "frame-tap.txt",
    "frame-gtest.txt",
    "frame-minitest.txt",
    "frame-phpunit.txt",
    "frame-bun.txt",
];

/// Whole outputs that a test may print.
fn imitations() -> Vec<(String, String)> {
    let captures = [
        "pytest-text/good.txt",
        "pytest-text/good-quiet.txt",
        "pytest-text/good-verbose.txt",
        "cargo-test-text/good.txt",
        "nextest-text/good.txt",
        "go-test-text/good.txt",
        "jest-text/good.txt",
        "vitest-text/good.txt",
        "unittest-text/good.txt",
        "tap/good.tap",
        "ctest-text/good.txt",
        "exunit-text/good.txt",
        "maven-text/good.txt",
        "mocha-text/good.txt",
        "node-test-text/good.txt",
        "rspec-text/good.txt",
        "mypy-text/good.txt",
        "ruff-text/good.txt",
        "flake8-text/good.txt",
        "pylint-text/good.txt",
        "tsc-text/good.txt",
        "gcc-text/good.txt",
        "govet-text/good.txt",
        "yamllint-text/good.txt",
        "rustc-text/good.txt",
        "rustc-json/good.jsonl",
        "go-test-json/good.jsonl",
        "ruff-json/good.json",
        "eslint-json/good.json",
        "checkstyle/good.xml",
        "junit/good.xml",
    ];
    let reports = captures.iter().map(|name| ((*name).to_owned(), capture(name)));
    reports.chain(FRAMES.iter().map(|name| ((*name).to_owned(), stream(name)))).collect()
}

#[test]
fn whatever_a_test_prints_the_figures_of_its_run_stay() {
    let mut wrong = Vec::new();
    for frame in FRAMES {
        let text = stream(frame);
        let expected = told(&text);
        assert!(!expected.is_empty(), "{frame}");
        for (name, printed) in imitations() {
            // Of two runs of the same tests nobody can tell which printed which.
            if matches!(frame, "frame-go.txt" | "frame-cargo.txt") && name == frame {
                continue;
            }
            let found = told(&with_printed(&text, &printed));
            if found != expected {
                wrong.push(format!("{frame} prints {name}: {found:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_document_counts_only_if_it_is_whole_and_known() {
    let ruff = capture("ruff-json/good.json");
    let expected = told(&ruff);
    assert_eq!(expected.len(), 1);
    for text in
        [format!("$ ruff check\n{ruff}done\n"), format!("{{\n[\n{ruff}"), format!("{}..  [100%]\n", ruff.trim_end())]
    {
        assert_eq!(told(&text), expected, "{text}");
    }
    let cut: String = ruff.lines().take(ruff.lines().count() / 2).map(|line| format!("{line}\n")).collect();
    for text in [cut.as_str(), "[]\n", "[INFO] x\n", "{\"a\": [1, 2\n", "{\n  \"a\": 1\n}\n"] {
        assert_eq!(told(text), [], "{text}");
    }
    let after = format!("{cut}{}", stream("frame-pytest.txt"));
    assert_eq!(told(&after), told(&stream("frame-pytest.txt")), "what follows is not eaten");
}

/// Every good capture that begins with a declaration, and Mocha's, which has none.
fn xml_captures() -> Vec<(&'static Format, String)> {
    let xml = |(format, name, text): (_, String, String)| {
        // `<results>` alone may be anybody's.
        let is_certain = !text.contains("<results>");
        let is_xml = text.starts_with("<?xml ") || name.ends_with("/good-mocha.xml");
        (is_certain && is_xml).then_some((format, text))
    };
    captures().into_iter().filter_map(xml).collect()
}

/// Every text that a tool prints, and what its events are, wherever it stands.
#[test]
fn what_a_tool_prints_is_read_as_its_file_is() {
    // Annotations repeat what else is printed, and gcov writes files.
    let left_out = [
        "github-text",
        "gcov-text",
        // Nothing says that they begin.
        "gtest-text/good-brief.txt",
        "gtest-text/good-brief-repeated.txt",
        "deno-test-text/good-dot.txt",
        "sloccount-text",
        // Its names would be taken for those of workspaces.
        "pyperf-text",
        // Lines that a narrow terminal broke.
        "dart-analyze-text/good-narrow.txt",
    ];
    let events =
        ["dart-json", "cucumber-messages", "mocha-json/good-stream.jsonl", "teamcity", "lcov", "go-cover-func"];
    let (mut wrong, mut read) = (Vec::new(), 0);
    for (format, name, text) in captures() {
        let is_one_of = |names: &[&str]| names.iter().any(|one| name == *one || format.name == *one);
        let is_meant = (format.name.ends_with("-text") || is_one_of(&events)) && !is_one_of(&left_out);
        if !is_meant {
            continue;
        }
        let parsed = highwater::ingest::parse(&Input::bytes("x", text.as_bytes()), Some(format)).unwrap();
        let figures: Vec<u64> = parsed.figures.counts().into_iter().map(|(_, count)| count).collect();
        let metrics = parsed.figures.metrics;
        let between = format!("\n> work\n> tool --option\n\n{text}\nand so on\nDone in 3.2s.\n");
        let found = console(&Input::bytes("(console)", between.as_bytes()));
        let is_it = |found: &Parsed| {
            let counts: Vec<u64> = found.figures.counts().into_iter().map(|(_, count)| count).collect();
            found.format.name == format.name && counts == figures && found.figures.metrics == metrics
        };
        read += 1;
        if !found.iter().any(is_it) {
            wrong.push(format!("{name} {figures:?}: {:?}", told(&between)));
        }
    }
    assert!(wrong.is_empty() && read > 300, "{read}\n{}", wrong.join("\n"));
}

#[test]
fn an_xml_document_between_lines_is_read_as_its_file_is() {
    let captures = xml_captures();
    let formats: BTreeSet<&str> = captures.iter().map(|(format, _)| format.name).collect();
    assert!(formats.len() > 20, "{formats:?}");
    for (format, text) in captures {
        let input = Input::bytes("x", text.as_bytes());
        let parsed = highwater::ingest::parse(&input, Some(format)).unwrap();
        let figures: Vec<u64> = parsed.figures.counts().into_iter().map(|(_, count)| count).collect();
        let between = format!("\n> lint\n> tool --xml\n\n{}and so on\nDone in 3.2s.\n", text.trim_end());
        assert_eq!(told(&between), [(format.name, figures)], "{text}");
        let (cut, _) = text.trim_end().rsplit_once("</").unwrap_or((&text, ""));
        let after = format!("{cut}\n{}", stream("frame-pytest.txt"));
        assert_eq!(told(&after), told(&stream("frame-pytest.txt")), "what follows is not eaten: {text}");
    }
}

#[test]
fn an_xml_document_ends_where_its_first_element_does() {
    let checkstyle =
        |inside: &str| format!("<?xml version=\"1.0\"?>\n<checkstyle version=\"8\">{inside}</checkstyle>\n");
    let error =
        "<file name=\"a.c\"><error line=\"1\" severity=\"error\" message=\"&lt;/checkstyle>\" source=\"x\"/></file>";
    let errors = |text: &str| told(text).iter().map(|(name, counts)| (*name, counts[0])).collect::<Vec<_>>();
    for inside in [
        error.to_owned(),
        format!("<!-- </checkstyle>\n{}-->{error}", "<checkstyle>"),
        format!("<![CDATA[</checkstyle>]]>\n{error}"),
        format!("<checkstyles/><checkstyle/><checkstyle>\n</checkstyle>{error}"),
        format!("<checkstyle a=\"x > y's\" b='\"'/>{error}"),
    ] {
        assert_eq!(errors(&checkstyle(&inside)), [("checkstyle", 1)], "{inside}");
    }
    let two = checkstyle(error).repeat(2);
    assert_eq!(errors(&two), [("checkstyle", 1), ("checkstyle", 1)]);
    let empty = "<?xml version=\"1.0\"?>\n<checkstyle version=\"8\"/>\n";
    assert_eq!(errors(empty), [("checkstyle", 0)]);
    for none in ["<?xml version=\"1.0\"?>\n<a/>\n", "<?xml \n", "<checkstyle />\n", &checkstyle("<file>")] {
        assert_eq!(told(none), [], "{none}");
    }
    let unended = |count: usize, bytes: usize| {
        format!("<?xml version=\"1.0\"?>\n<checkstyle>{}\n", "x".repeat(bytes)).repeat(count) + &checkstyle(error)
    };
    assert_eq!(errors(&unended(10, 5000)), [("checkstyle", 1)]);
    assert_eq!(errors(&unended(100, 5)), [("checkstyle", 1)]);
    assert_eq!(told(&unended(20, 5000)), [], "each might hold the rest");
}

/// Were each line that may begin a document to hold all lines below it, longer ones would take hours.
#[test]
fn documents_that_never_end_take_no_time() {
    let pytest = capture("pytest-text/good.txt");
    for line in
        ["[\n", "{\n", "[{\n", "<testsuites>\n", "<?xml version=\"1\"?><a>\n", "SF:a\n", "TN:\n", "SF:a\nDA:1,1\n"]
    {
        assert_eq!(told(&(pytest.clone() + &line.repeat(2_000))), told(&pytest), "{line}");
    }
}

#[test]
fn the_same_output_is_read_the_same_way_every_time() {
    let stream =
        [capture("pytest-text/good.txt"), capture("cargo-test-text/good.txt"), capture("rustc-json/good.jsonl")]
            .concat();
    let first = format!("{:?}", read(&stream));
    assert_eq!(format!("{:?}", read(&stream)), first);
}

/// Lines that readers look at, whole, cut and mixed with anything.
fn line() -> impl proptest::strategy::Strategy<Value = String> {
    use proptest::prelude::*;
    let known = [
        "=== test session starts ===",
        "=== FAILURES ===",
        "___ test_x ___",
        "---- Captured stdout call ----",
        "=== short test summary info ===",
        "FAILED a.py::test_x - no",
        "a.py::test_y PASSED [ 50%]",
        "=== 1 failed, 2 passed in 0.02s ===",
        "18446744073709551615 passed, 1 failed in 0.02s",
        "     Running unittests src/lib.rs (target/debug/deps/a-0123456789abcdef)",
        "   Doc-tests a",
        "running 2 tests",
        "test a ... ok",
        "failures:",
        "    a",
        "test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
        "test result: ok. 18446744073709551616 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out",
        "error: test failed, to rerun pass `--lib`",
        "error[E0308]: mismatched types",
        "  --> src/lib.rs:1:1",
        "    Finished `dev` profile [unoptimized] target(s) in 0.83s",
        "{\"reason\":\"build-finished\",\"success\":true}",
        "",
    ];
    prop_oneof![8 => prop::sample::select(known.to_vec()).prop_map(str::to_owned), 1 => any::<String>()]
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(200))]

    #[test]
    fn any_text_is_read_without_a_panic_and_adds_up(lines in proptest::collection::vec(line(), 0..40), cut in 0..400usize) {
        let mut bytes = lines.join("\n").into_bytes();
        bytes.truncate(bytes.len().saturating_sub(cut));
        let reports = console(&Input::bytes("(console)", &bytes));
        for report in reports.iter().filter(|report| report.format.kind == ReportKind::Test) {
            let figures = &report.figures;
            let parts = [figures.passed, figures.failed, figures.errored, figures.skipped];
            proptest::prop_assert_eq!(figures.tests, parts.iter().try_fold(0u64, |sum, part| sum.checked_add((*part)?)));
        }
        merge(&reports);
        for format in ["pytest-text", "cargo-test-text", "rustc-json", "rustc-text"] {
            let format = highwater::ingest::format(format);
            let _ = highwater::ingest::parse(&Input::bytes("x", &bytes), format);
        }
    }
}
