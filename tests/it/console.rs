//! What commands print, real captures side by side in one stream, and what may be read out of it.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test may fail in any way it likes")]

use std::path::Path;

use highwater::ingest::{Details, Input, Parsed, console::console, merge::merge};
use highwater::model::figures::ReportKind;
use highwater::model::metrics::BuildStatus;

fn capture(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/reports").join(path);
    String::from_utf8(std::fs::read(path).unwrap()).unwrap()
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
    ] {
        assert_eq!(told(&capture(file)), expected, "{file}");
    }
    let go = told(&capture("go-test-json/good.jsonl"));
    assert_eq!((go.len(), go[0].0), (1, "go-test-json"));
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
        ("rustc-text", vec![0, 9, 0, 9]),
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
        "2 passed in 0.01s\nand 3 failed in my own runner\n",
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
