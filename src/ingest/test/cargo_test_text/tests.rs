//! Lines and whole outputs of cargo test, real and imitated.

use super::binary::without_line;
use super::*;
use crate::model::cases::Outcome;

const OK: &str = "test result: ok. 1 passed; 0 failed; 1 ignored; 0 measured; 3 filtered out; finished in 0.22s\n";

fn read(text: &str) -> Result<Parsed> {
    crate::ingest::parse(&Input::bytes("log.txt", text.as_bytes()), Some(&FORMAT))
}

fn details(text: &str) -> TestDetails {
    match read(text).unwrap().details {
        Details::Tests(tests) => tests,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_result_line_is_told_from_its_imitations() {
    assert!(Counts::read(OK.trim_end()).is_some());
    assert!(Counts::read("test result: FAILED. 0 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out").is_some());
    for line in [
        "test result: ok. 99 passed; 0 failed (this is only captured output)",
        "test result: ok. 99 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out",
        "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in a while",
        "test result: ok. -1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out",
        " test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out",
        "test result: maybe. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out",
    ] {
        assert!(Counts::read(line).is_none(), "{line}");
    }
}

#[test]
fn results_of_all_binaries_add_up() {
    let bench = "test result: ok. 0 passed; 0 failed; 0 ignored; 4 measured; 0 filtered out; finished in 0.22s\n";
    let figures = read(&format!("{OK}{OK}{bench}")).unwrap().figures;
    assert_eq!((figures.tests, figures.passed, figures.skipped), (Some(8), Some(6), Some(2)));
}

#[test]
fn p23_numbers_that_do_not_fit_are_malformed() {
    let many = |number: &str| {
        format!(
            "test result: ok. {number} passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n"
        )
    };
    for text in [many("18446744073709551616"), many("18446744073709551615") + OK] {
        assert_eq!(read(&text).unwrap_err().reject(), Some(Reject::Malformed), "{text}");
    }
}

#[test]
fn a_binary_without_its_result_is_a_run_that_was_killed() {
    let killed = format!(
        "running 2 tests\n{OK}     Running tests/it.rs (t/it-0123456789abcdef)\n\nrunning 3 tests\ntest a ... ok\n"
    );
    assert_eq!(read(&killed).unwrap_err().reject(), Some(Reject::NoResult));
    assert_eq!(read("     Running tests/it.rs (t/it-0)\n").unwrap_err().reject(), Some(Reject::NoResult));
    assert_eq!(read(OK.trim_end()).unwrap().figures.tests, Some(2), "a whole line needs no line end");
    let cut = format!("{OK}test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out");
    assert_eq!(read(&cut).unwrap_err().reject(), Some(Reject::Malformed));
}

#[test]
fn a_result_that_does_not_agree_with_the_number_announced_is_nobody_s() {
    let printed = "test result: ok. 9 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
    let end = "test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.07s\n";
    // With `--nocapture` what a test prints may stand in the line of another.
    let tests = "running 3 tests\ntest ok ... ok\ntest bad ... FAILED\n  test worse ...  FAILED3\n";
    let list = "\nfailures:\n\nfailures:\n    bad\n    worse\n\n";
    let next = "     Running tests/it.rs (t/it-0123456789abcdef)\n\nrunning 2 tests\n";
    let head = "     Running unittests src/lib.rs (t/a-0123456789abcdef)\n\n";
    let figures = read(&format!("{head}{tests}{printed}{list}{end}{next}{OK}")).unwrap().figures;
    assert_eq!((figures.tests, figures.passed, figures.failed), (Some(5), Some(2), Some(2)));
    let killed = format!("{head}{tests}{printed}");
    assert_eq!(read(&killed).unwrap_err().reject(), Some(Reject::NoResult));
}

#[test]
fn names_stay_from_build_to_build() {
    for (heading, name) in [
        ("unittests src/lib.rs (/t/debug/deps/kv_log-9e74985b7ad5a62a)", "kv_log"),
        ("unittests src/main.rs (target\\debug\\deps\\kv-cat-eb0ae1ca8076e66b.exe)", "bin/kv-cat"),
        ("unittests src/bin/two.rs (t/two-eb0ae1ca8076e66b)", "bin/two"),
        ("tests/it.rs (t/it-0005fa5a7f8e9980)", "it"),
        ("tests/it.rs (t/it-extra)", "it-extra"),
    ] {
        assert_eq!(binary_name(heading), name);
    }
    assert_eq!(without_line("src/lib.rs - Log::put (line 15)"), ("src/lib.rs - Log::put".to_owned(), Some(15)));
    assert_eq!(without_line("src/lib.rs - Log (line 15) - compile fail"), ("src/lib.rs - Log".to_owned(), Some(15)));
    assert_eq!(without_line("tests::panics - should panic"), ("tests::panics".to_owned(), None));
}

#[test]
fn tests_are_named_by_binary_and_doc_tests_of_one_item_are_numbered_by_line() {
    let tests = details(
        "   Doc-tests kvlog\n\nrunning 3 tests\ntest src/lib.rs - two (line 15) ... FAILED\n\
         test src/lib.rs - two (line 4) ... ok\ntest src/lib.rs - one (line 9) - compile ... ignored\n\nfailures:\n\n\
         ---- src/lib.rs - two (line 15) stdout ----\nno\n\nfailures:\n    src/lib.rs - two (line 15)\n\n\
         test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.31s\n",
    );
    let named: Vec<_> = tests
        .cases
        .cases
        .iter()
        .map(|(id, case)| (id.as_str(), case.outcome, case.line, case.file.as_deref()))
        .collect();
    let file = Some("src/lib.rs");
    assert_eq!(
        named,
        [
            ("doc/kvlog::src/lib.rs - one", Outcome::Skipped, Some(9), file),
            ("doc/kvlog::src/lib.rs - two", Outcome::Passed, Some(4), file),
            ("doc/kvlog::src/lib.rs - two #2", Outcome::Failed, Some(15), file),
        ]
    );
    assert_eq!(tests.dropped, 0);
}

#[test]
fn names_that_do_not_agree_with_the_result_are_not_kept() {
    let tests = details(
        "running 2 tests\ntest a ... ok\ntest printed ... ok\ntest b ... FAILED\n\nfailures:\n\n---- b stdout ----\n\n\
         failures:\n    b\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\n",
    );
    assert_eq!(tests.cases.cases.keys().collect::<Vec<_>>(), ["b"], "the failed one is listed again");
    assert_eq!(tests.dropped, 1);
}

#[test]
fn a_target_that_failed_without_a_failed_test_is_a_failed_unit() {
    let text = "     Running tests/crash.rs (t/crash-fa6e45021b599b29)\n\nrunning 2 tests\nerror: test failed, to rerun pass `--test crash`\n";
    let parsed = read(text).unwrap();
    assert_eq!((parsed.figures.tests, parsed.figures.errored), (Some(1), Some(1)));
    assert_eq!(parsed.warnings.len(), 1, "what came after it did not run");
    assert_eq!(details(text).failed_units, ["crash"]);
    let failed = "running 1 test\ntest a ... FAILED\n\nfailures:\n\nfailures:\n    a\n\ntest result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\n\nerror: test failed, to rerun pass `--lib`\n";
    assert_eq!(read(failed).unwrap().figures.errored, Some(0));
}

#[test]
fn nothing_comes_after_the_doc_tests_of_one_package() {
    let run = "   Doc-tests kv\n\nrunning 1 test\ntest src/lib.rs - a (line 5) ... FAILED\n\nfailures:\n\nfailures:\n    \
               src/lib.rs - a (line 5)\n\ntest result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\n\n";
    for (target, warnings) in [("--doc", 0), ("-p kv --doc", 1)] {
        let text = format!("{run}error: doctest failed, to rerun pass `{target}`\n");
        assert_eq!(read(&text).unwrap().warnings.len(), warnings, "{target}");
    }
}

#[test]
fn a_target_that_failed_without_libtest_is_a_failed_unit_wherever_its_line_begins() {
    let passed = "\nrunning 1 test\n.\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n\n";
    let failed = "\nrunning 1 test\nF\nfailures:\n\nfailures:\n    a\n\ntest result: FAILED. 0 passed; 1 failed; 0 ignored; \
                  0 measured; 0 filtered out\n\nerror: test failed, to rerun pass `--lib`\n";
    let own = "checking 1, 2 ...error: test failed, to rerun pass `--test own`\n";
    let abort = "\nrunning 3 tests\n..error: test failed, to rerun pass `--test it`\n\nCaused by:\n  process didn't exit \
                 successfully: `t/it --quiet` (signal: 6, SIGABRT: process abort signal)\n";
    let counts = |text: &str| {
        let figures = read(text).unwrap().figures;
        (figures.passed, figures.failed, figures.errored)
    };
    assert_eq!(counts(&format!("{passed}{own}")), (Some(1), Some(0), Some(1)));
    assert_eq!(counts(&format!("{passed}{failed}")), (Some(1), Some(1), Some(0)));
    assert_eq!(counts(&format!("{passed}{failed}{own}{passed}")), (Some(2), Some(1), Some(1)));
    assert_eq!(counts(&format!("{passed}{own}{failed}{abort}")), (Some(1), Some(1), Some(2)));
    assert_eq!(counts(&format!("{abort}{failed}")), (Some(0), Some(1), Some(1)));
    let headed = format!("     Running tests/own.rs (t/own-9e74985b7ad5a62a)\n{own}");
    assert_eq!(details(&headed).failed_units, ["own"]);
}

#[test]
fn results_and_headings_that_were_kept_apart_are_put_together() {
    let failed = "test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
    let passed = "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
    let out = format!(
        "\nrunning 1 test\ntest tests::a ... FAILED\n\nfailures:\n\nfailures:\n    tests::a\n\n{failed}\n\
         running 2 tests\n\nrunning 1 test\ntest tests::a ... ok\n\n{passed}\n\
         running 1 test\ntest src/lib.rs - two (line 4) ... ok\n\n{passed}\n"
    );
    let err = "     Running unittests src/lib.rs (t/kv-9e74985b7ad5a62a)\nerror: test failed, to rerun pass `--lib`\n     \
               Running tests/crash.rs (t/crash-fa6e45021b599b29)\nerror: test failed, to rerun pass `--test crash`\n\n\
               Caused by:\n  process didn't exit successfully: `t/crash` (signal: 6, SIGABRT: process abort signal)\n     \
               Running tests/it.rs (t/it-8ad7cd9173829fed)\n   Doc-tests kv\nerror: 2 targets failed:\n    `--lib`\n";
    let tests = details(&(out.clone() + err));
    let names: Vec<_> = tests.cases.cases.keys().map(String::as_str).collect();
    assert_eq!(names, ["doc/kv::src/lib.rs - two", "it::tests::a", "kv::tests::a"]);
    assert_eq!((tests.failed_units, tests.unit_failures, tests.dropped), (vec!["crash".to_owned()], 1, 0));
    let unknown = details(&(out.clone() + &err.replace("   Doc-tests kv\n", "")));
    assert_eq!((unknown.cases.cases.len(), unknown.dropped), (0, 3), "names without their binary are no names");
    let killed =
        out + "     Running unittests src/lib.rs (t/kv-9e74985b7ad5a62a)\nerror: test failed, to rerun pass `--lib`\n";
    assert_eq!(read(&killed).unwrap_err().reject(), Some(Reject::NoResult));
}

/// `cargo test --no-fail-fast | tail`, `| grep`.
#[test]
fn what_was_cut_away_above_cargo_s_list_of_targets_failed() {
    let doc = "   Doc-tests util\n\nrunning 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n";
    let list = "error: 2 targets failed:\n    `-p acore --lib`\n    `-p shop --test it`\n";
    for text in [format!("{doc}{list}"), list.to_owned()] {
        let parsed = read(&text).unwrap();
        assert_eq!((parsed.figures.tests, parsed.figures.errored), (Some(2), Some(2)));
        assert_eq!(details(&text).failed_units, ["-p acore --lib", "-p shop --test it"]);
    }
    let told = format!("error: test failed, to rerun pass `-p acore --lib`\n{doc}{list}");
    assert_eq!(details(&told).failed_units, ["-p acore --lib", "-p shop --test it"]);
    let whole = format!("{doc}error: test failed, to rerun pass `--lib`\nerror: 1 target failed:\n    `--lib`\n");
    assert_eq!(read(&format!("{whole}{list}")).unwrap().figures.errored, Some(3), "another command's");
    assert_eq!(read("error: 2 targets failed:\n").unwrap().figures.errored, Some(2));
    let failed = "test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.25s\n";
    let one = format!("{failed}error: 1 target failed:\n    `--lib`\n");
    assert_eq!((read(&one).unwrap().figures.failed, read(&one).unwrap().figures.errored), (Some(1), Some(0)));
    // grep -E 'Running|test result'
    let passed = "test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
    let heading = "     Running unittests src/lib.rs (target/debug/deps/kv-c8662255e0b9727b)\n";
    let results = read(&format!("{heading}{passed}{failed}")).unwrap().figures;
    assert_eq!((results.tests, results.failed), (Some(4), Some(1)));
}

#[test]
fn failed_tests_tell_why() {
    let captured = "running 4 tests\ntest a ... ok\ntest fails ... FAILED\ntest returns ... FAILED\n\
                    test should - should panic ... FAILED\n\nfailures:\n\n\
                    ---- fails stdout ----\nout\n\nthread 'fails' (16221) panicked at src/lib.rs:77:9:\nno luck\n\
                    note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n\n\
                    ---- returns stdout ----\nError: \"typed\"\n\
                    ---- should stdout ----\nnote: test did not panic as expected at src/lib.rs:15:32\n";
    let printed = "running 4 tests\ntest a ... out\nok\ntest fails ... out\n\n\
                   thread 'fails' (10127) panicked at src/lib.rs:77:9:\nno luck\nFAILED\n\
                   test returns ... Error: \"typed\"\nFAILED\ntest should - should panic ... FAILED\n\nfailures:\n\n\
                   ---- should stdout ----\nnote: test did not panic as expected at src/lib.rs:15:32\n";
    let end = "\nfailures:\n    fails\n    returns\n    should\n\n\
               test result: FAILED. 1 passed; 3 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
    for (text, returned) in [(captured, Some("Error: \"typed\"")), (printed, None)] {
        let tests = details(&format!("{text}{end}"));
        let told = |id: &str| {
            let case = &tests.cases.cases[id];
            (case.message.as_deref(), case.file.as_deref(), case.line)
        };
        assert_eq!(told("fails"), (Some("no luck"), Some("src/lib.rs"), Some(77)));
        assert_eq!(told("returns"), (returned, None, None));
        assert_eq!(told("should").0, Some("test did not panic as expected at src/lib.rs:15:32"));
    }
}
