//! Lines and whole outputs of pytest, real and imitated.

use super::*;
use crate::ingest::console::{console, listen};
use crate::ingest::merge::merge;
use crate::ingest::test::tests_support::sniffed;
use crate::ingest::{Details, Extra, TestDetails};
use crate::model::cases::Outcome;

fn read(text: &str) -> Result<Parsed> {
    crate::ingest::parse(&Input::bytes("log.txt", text.as_bytes()), Some(&FORMAT))
}

fn counts(line: &str) -> Option<(u64, u64, u64, u64)> {
    Counts::read(line).map(|counts| (counts.passed, counts.failed, counts.errored, counts.skipped))
}

fn details(text: &str) -> TestDetails {
    match read(text).unwrap().details {
        Details::Tests(tests) => tests,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_run_of_xdoctest_is_another() {
    let pytest = "=== test session starts ===\ncollected 2 items\n\na.py F.\n\n=== 1 failed, 1 passed in 0.01s ===\n";
    let xdoctest = "Start doctest_module('cart.py')\nListing tests\ngathering tests\nrunning 1 test(s)\n=== 1 passed in 0.01 seconds ===\n";
    for text in [format!("{pytest}{xdoctest}"), format!("{xdoctest}{pytest}")] {
        let runs = crate::ingest::console::console(&Input::bytes("x", text.as_bytes()));
        let runs: Vec<_> = runs.iter().map(crate::ingest::test::tests_support::counts).collect();
        let sum = runs.iter().fold([0; 5], |sum, run| std::array::from_fn(|at| sum[at] + run[at]));
        assert_eq!(sum, [3, 2, 1, 0, 0], "{text}");
    }
}

#[test]
fn a_summary_is_told_from_other_lines() {
    assert_eq!(
        counts("=== 5 failed, 22 passed, 3 skipped, 2 xfailed, 1 xpassed, 3 errors in 0.21s ===="),
        Some((23, 5, 3, 5))
    );
    assert_eq!(counts("1 passed, 2 warnings, 5 rerun, 2 subtests passed in 61.02s (0:01:01)"), Some((1, 0, 0, 0)));
    assert_eq!(counts("= 3 passed, 1 quarantined in 0.12 seconds ="), Some((3, 0, 0, 0)));
    assert_eq!(counts("=== no tests ran in 0.01s ==="), Some((0, 0, 0, 0)));
    for line in [
        "5 tests collected in 0.01s",
        "5 passed in 0.01",
        "5 passed",
        "1,234 passed in 0.01s",
        "+5 passed in 0.01s",
        "-1 failed in 0.01s",
        "5 passed in a while",
        "=== 5 passed in 0.01s",
        "we have 5 passed in 0.01s",
        "５ passed in 0.01s",
    ] {
        assert_eq!(counts(line), None, "{line}");
    }
}

#[test]
fn p23_a_number_that_does_not_fit_is_malformed() {
    for line in ["18446744073709551616 passed in 0.01s", "18446744073709551615 passed, 1 failed in 0.01s"] {
        let error = read(line).unwrap_err();
        assert_eq!((error.reject(), error.place.line), (Some(Reject::Malformed), Some(1)), "{line}");
    }
}

#[test]
fn the_last_summary_counts_and_one_inside_a_session_does_not() {
    assert_eq!(read("1 passed in 0.01s\n2 passed in 0.01s\n").unwrap().figures.passed, Some(2));
    let killed = "=== test session starts ===\n1 passed in 0.01s\na.py .F\n";
    assert_eq!(read(killed).unwrap_err().reject(), Some(Reject::NoResult));
    assert_eq!(read("nothing of it\n").unwrap_err().reject(), Some(Reject::NoResult));
}

#[test]
fn what_a_test_prints_between_tests_is_no_summary() {
    let text = "======= test session starts =======\na.py F\n\n____________ test_a _______________\n\
        ----- Captured stdout call --------\n===== 5 passed in 0.10s =====\n1..4\nok 1\n\n\
        a.py .                       [100%]\n\n==== 1 failed, 1 passed in 0.02s ==\n";
    assert_eq!(counts_of(&read(text).unwrap()), (1, 1, 0, 0));
    let told = console(&Input::bytes("x", text.as_bytes()));
    assert_eq!(told.iter().map(counts_of).collect::<Vec<_>>(), [(1, 1, 0, 0)]);
}

#[test]
fn verbose_lines_name_their_tests() {
    let tests = details(
        "=== test session starts ===\n\
         a.py::test_x[a - b] PASSED                 [ 20%]\n\
         a.py::test_x[PASSED ::] SKIPPED (for now)  [ 40%]\n\
         a.py::test_flaky RERUN                     [ 50%]\n\
         a.py::test_flaky PASSED                    [ 50%]\n\
         a.py::test_down PASSED                     [ 60%]\n\
         a.py::test_down ERROR                      [ 60%]\n\
         [gw3] [ 80%] XFAIL a.py::B::test_z \n\
         === 3 passed, 1 skipped, 1 xfailed, 1 error, 1 rerun in 0.02s ===\n",
    );
    let named: Vec<_> = tests.cases.cases.iter().map(|(id, case)| (id.as_str(), case.outcome, case.attempts)).collect();
    assert_eq!(
        named,
        [
            ("a.py::B::test_z", Outcome::Skipped, 1),
            ("a.py::test_down", Outcome::Errored, 1),
            ("a.py::test_flaky", Outcome::Passed, 2),
            ("a.py::test_x[PASSED ::]", Outcome::Skipped, 1),
            ("a.py::test_x[a - b]", Outcome::Passed, 1),
        ]
    );
    assert_eq!((tests.dropped, tests.unit_failures), (0, 0));
}

#[test]
fn verbose_lines_may_tell_no_progress() {
    let tests = details(
        "=== test session starts ===\na.py::test_x PASSED\na.py::T::test_y[a b] SKIPPED (for now)\n\
         === 1 passed, 1 skipped in 0.02 seconds ===\n",
    );
    assert_eq!(tests.cases.cases.keys().collect::<Vec<_>>(), ["a.py::T::test_y[a b]", "a.py::test_x"]);
    // Without a session it may be anybody's line.
    assert_eq!(details("a.py::test_x PASSED\n1 passed in 0.02s\n").cases.cases.len(), 0);
}

#[test]
fn the_short_summary_names_what_failed_and_why() {
    let tests = details(
        "=== short test summary info ===\n\
         FAILED a.py::test_x[a - b] - assert 1 - 2\n\
         FAILED a.py::test_y[c - d]\n\
         ERROR a.py::test_z - OSError: no\n\
         ERROR broken.py - ImportError: no\n\
         ERROR worse.py\n\
         === 2 failed, 7 passed, 3 errors in 0.02s ===\n",
    );
    let named: Vec<_> = tests.cases.cases.iter().map(|(id, case)| (id.as_str(), case.message.as_deref())).collect();
    assert_eq!(
        named,
        [
            ("a.py::test_x[a - b]", Some("assert 1 - 2")),
            ("a.py::test_y[c - d]", None),
            ("a.py::test_z", Some("OSError: no")),
        ]
    );
    assert_eq!((tests.failed_units, tests.unit_failures), (vec!["broken.py".to_owned(), "worse.py".to_owned()], 2));
    assert_eq!(tests.dropped, 7, "tests that passed have no names here");
}

#[test]
fn modules_that_failed_to_load_are_counted_without_a_short_summary() {
    for text in [
        "======== ERRORS ========\n___ ERROR collecting a.py ___\n=== 1 error in 0.41s ===",
        "!!! Interrupted: 1 error during collection !!!\n=== 1 error in 0.41s ===",
        "=== test session starts ===\ncollecting ... collected 3 items / 1 error / 1 deselected\n=== 1 error in 0.41s ===",
    ] {
        assert_eq!(details(text).unit_failures, 1, "{text}");
    }
    let set_up = "======== ERRORS ========\n___ ERROR at setup of test_x ___\n=== 1 error in 0.41s ===";
    assert_eq!(details(set_up).unit_failures, 0);
}

#[test]
fn an_interrupted_session_is_no_result() {
    let session = "======== test session starts ========\ncollected 3 items\n\na.py .F\n\n============== FAILURES =============\n\
                   ______________ test_b _______________\n\n>   assert 0\n";
    let short = "====== short test summary info ======\nFAILED a.py::test_b - assert 0\n";
    let end = "==== 1 failed, 1 passed in 2.74s ====\n";
    for by in [
        "!!!!!!!!! KeyboardInterrupt !!!!!!!!!",
        "!!! _pytest.outcomes.Exit: stop !!!!!",
        "INTERNALERROR> Traceback (most recent call last):\nINTERNALERROR> ValueError: internal",
    ] {
        for text in [
            format!("{session}{short}{by}\n/p/a.py:4: KeyboardInterrupt\n(to show a full traceback)\n{end}"),
            format!("{session}{by}\n{end}"),
            format!("a.py .\n{by}\n1 passed in 0.01s\n"),
        ] {
            assert_eq!(read(&text).unwrap_err().reject(), Some(Reject::NoResult), "{text}");
            assert!(console(&Input::bytes("x", text.as_bytes())).is_empty(), "{text}");
        }
        // Here a test printed it.
        let printed = format!("{session}--------- Captured stdout call ------\n{by}\n{short}{end}");
        assert_eq!(read(&printed).unwrap().figures.tests, Some(2));
        assert_eq!(
            read(&format!("a.py . [ 50%]\n{by}\nb.py . [100%]\n2 passed in 0.01s\n")).unwrap().figures.tests,
            Some(2)
        );
    }
    // Of `timeout -s INT`, which interrupts twice.
    let killed = "Traceback (most recent call last):\n  File \"main.py\", line 333, in wrap\nKeyboardInterrupt\n";
    for (text, tests) in [
        (format!("a.py .\n1 passed in 0.01s\n{killed}"), None),
        (format!("a.py .\n1 passed in 0.01s\nbye\n{killed}"), Some(1)),
        (format!("a.py .\n1 passed in 0.01s\n{}", killed.replace("KeyboardInterrupt", "OSError")), Some(1)),
        (
            format!("a.py .\n1 passed in 0.01s\n{}", killed.replace("KeyboardInterrupt", "OSError"))
                .replace("main.py", "/lib/_pytest/main.py"),
            None,
        ),
    ] {
        assert_eq!(read(&text).map(|parsed| parsed.figures.tests).ok().flatten(), tests, "{text}");
        let told = console(&Input::bytes("x", text.as_bytes()));
        assert_eq!(told.iter().map(|parsed| parsed.figures.tests).collect::<Vec<_>>(), Vec::from_iter(tests.map(Some)));
    }
    let asked = format!("{session}{short}!!!! stopping after 1 failures !!!!!!\n{end}");
    assert_eq!(read(&asked).unwrap().figures.failed, Some(1));
}

#[test]
fn a_session_that_ended_before_its_tests_is_no_result_unless_one_failed() {
    let session = "=== test session starts ===\ncollected 3 items\n\na.py ..\n\n";
    for (above, sum, below) in [
        ("", "== 2 passed in 0.83s ==", "!! _pytest.outcomes.Exit: stop now !!"),
        ("", "== no tests ran in 0.26s ==", "!! _pytest.outcomes.Exit: no db !!"),
        ("!! session-timeout: 1.0 sec exceeded !!\n", "== 2 passed in 1.41s ==", ""),
        ("!! Interrupted: enough !!\n", "== 2 passed, 1 warning in 1.24s ==", ""),
        ("!!! too many !!!\n", "2 passed in 1.24s", ""),
    ] {
        let session = if sum.starts_with('=') { session } else { "..\n" };
        let text = format!("{session}{above}{sum}\n{below}\n");
        assert_eq!(read(&text).unwrap_err().reject(), Some(Reject::NoResult), "{text}");
        assert!(console(&Input::bytes("x", text.as_bytes())).is_empty(), "{text}");
    }
    let failed = format!("{session}!! Interrupted: enough !!\n== 1 failed, 1 passed in 1.24s ==\n");
    assert_eq!(read(&failed).unwrap().figures.failed, Some(1));
    // What another command prints is not pytest's.
    let other = format!("{session}== 2 passed in 0.83s ==\nnext\n!! _pytest.outcomes.Exit: stop now !!\n");
    assert_eq!(read(&other).unwrap().figures.passed, Some(2));
}

#[test]
fn a_conftest_that_cannot_be_loaded_is_errored() {
    let broken = "ImportError while loading conftest '/app/conftest.py'.\nconftest.py:1: in <module>\n    import no_such\n\
                  E   ModuleNotFoundError: No module named 'no_such'\n";
    assert!(matches!(sniffed(&FORMAT, broken), Sniff::Sure(_)));
    let parsed = read(broken).unwrap();
    assert_eq!((parsed.figures.tests, parsed.figures.errored), (Some(1), Some(1)));
    let passed = "=== test session starts ===\ncollected 2 items\n\na.py ..   [100%]\n\n=== 2 passed in 0.01s ===\n";
    let told = console(&Input::bytes("x", format!("{passed}{broken}").as_bytes()));
    assert_eq!(told.iter().map(|run| run.figures.errored).sum::<Option<u64>>(), Some(1));
    // A test printed it.
    let printed = passed.replace("a.py ..", &format!("a.py {broken}.."));
    assert_eq!(read(&printed).unwrap().figures.errored, Some(0));
}

#[test]
fn a_usage_error_is_told() {
    let text = "=== test session starts ===\n=== no tests ran in 0.01s ===\nERROR: file or directory not found: x\n";
    assert_eq!(read(text).unwrap().warnings, ["pytest: file or directory not found: x"]);
}

#[test]
fn a_summary_that_leaves_no_room_for_its_rule_is_no_imitation() {
    let session = |summary: &str| {
        format!(
            "============ FAILURES ============\n___ test_x ___\n----- Captured stdout call -----\n= 99 passed in 0.01s =\n{summary}\n"
        )
    };
    let parsed = read(&session("= 1 failed, 9 passed, 3 skipped, 2 xfailed in 0.10 seconds =")).unwrap();
    assert_eq!((parsed.figures.passed, parsed.figures.failed), (Some(9), Some(1)));
    assert_eq!(read(&session("")).unwrap_err().reject(), Some(Reject::NoResult));
    // As wide, but with room to spare.
    assert!(read(&session("=========== 9 failed in 0.10 seconds ===========")).is_err());
}

#[test]
fn a_bare_summary_after_a_test_s_output_counts_what_was_reported() {
    let quiet = |reports: &str, summary: &str| {
        format!(".FE [ 75%]\n=== FAILURES ===\n{reports}----- Captured stdout call -----\nok\n{summary}\n")
    };
    let two = "___ test_x ___\nE  no\n___ test_y ___\nE  no\n";
    assert_eq!(read(&quiet(two, "2 failed, 1 passed in 0.03 seconds")).unwrap().figures.failed, Some(2));
    assert_eq!(read(&quiet(two, "3 passed in 0.03 seconds")).unwrap_err().reject(), Some(Reject::NoResult));
}

/// What the output of a command that ended by itself comes to.
fn figures(text: &str) -> Option<[Option<u64>; 5]> {
    let (runs, _) = listen(&Input::bytes("console", text.as_bytes()), true);
    assert!(runs.len() < 2, "{runs:?}");
    let figures = runs.into_iter().next().map(|run| run.figures);
    figures.map(|f| [f.tests, f.passed, f.failed, f.errored, f.skipped])
}

#[test]
fn without_a_summary_the_marks_of_a_whole_progress_count() {
    let some = |counts: [u64; 5]| Some(counts.map(Some));
    let full = ".".repeat(72);
    let short = "=== short test summary info ===\nFAILED a.py::test_f - assert 0\n";
    let quiet = format!("{full} [ 94%]\nFx.s                              [100%]\n{short}");
    assert_eq!(figures(&quiet), some([76, 73, 1, 0, 2]));
    // Of a file nobody knows whether the last lines are missing.
    let error = read(&quiet).unwrap_err();
    assert!(error.reject() == Some(Reject::NoResult) && error.to_string().contains("-qq"), "{error}");
    assert!(console(&Input::bytes("console", quiet.as_bytes())).is_empty());
    // A test that fails when it is torn down has two outcomes, as in a summary.
    assert_eq!(figures(".FEE.X                  [100%]"), some([6, 3, 1, 2, 0]));
    let stopped = |marks: &str, failures: u64| format!("{marks}\n{short}!!! stopping after {failures} failures !!!\n");
    assert_eq!(figures(&stopped(&format!("{full} [ 36%]\n..F"), 1)), some([75, 74, 1, 0, 0]));
    assert_eq!(figures(&stopped("..F.E", 2)), some([5, 3, 1, 1, 0]));
    // What was not collected has no marks.
    let broken = "=== ERRORS ===\n___ ERROR collecting a.py ___\nE  no\n";
    assert_eq!(figures(&format!("..      [100%]\n{broken}")), some([3, 2, 0, 1, 0]));
    let interrupted = "!!! Interrupted: 1 error during collection !!!\n";
    assert_eq!(figures(&format!("{broken}{interrupted}")), some([1, 0, 0, 1, 0]));
    // A summary that comes is the one that counts.
    assert_eq!(figures("..F    [100%]\n1 failed, 2 passed, 1 skipped in 0.02s\n"), some([4, 2, 1, 0, 1]));
    for unknown in [
        // Killed; lost lines; attempts; subtests, also unittest's; more failures than marks; a session with a header.
        &format!("{full} [ 94%]\n"),
        &format!("{full} [ 94%]\n{full} [100%]\n"),
        "...    [ 50%]\n....   [100%]\n",
        ".RF    [100%]",
        "uuF    [100%]",
        ".F     [100%]\n=== short test summary info ===\nSUBFAILED(i=1) a.py::T::test_x - no\nFAILED a.py::T::test_x - no\n",
        &stopped(".F", 2),
        "=== test session starts ===\n..   [100%]\n",
        "tests/a.py ..   [100%]\n",
    ] {
        assert_eq!(figures(unknown), None, "{unknown}");
    }
}

#[test]
fn a_test_that_is_torn_down_badly_is_one_test_with_two_outcomes() {
    let torn_down = |text: &str| {
        let Extra { passed, failed } = details(text).extra;
        [passed, failed]
    };
    let headings = "=== ERRORS ===\n___ ERROR at teardown of test_a ___\nE  no\n___ ERROR at setup of test_b ___\nE  no\n\
                    ___ ERROR at teardown of T.test_c ___\nE  no\n=== FAILURES ===\n___ T.test_c ___\nE  no\n";
    let summary = "= 1 failed, 3 passed, 3 errors in 0.02s =\n";
    assert_eq!(torn_down(&format!("{headings}{summary}")), [1, 1]);
    let short = "=== short test summary info ===\nFAILED a.py::T::test_c - no\nERROR a.py::test_a - no\n\
                 ERROR a.py::test_b - no\nERROR a.py::T::test_c - no\n";
    assert_eq!(torn_down(&format!("{headings}{short}{summary}")), [1, 1]);
    // `--tb=no`: the names alone tell of it.
    assert_eq!(torn_down(&format!("{short}{summary}")), [0, 1]);
    let verbose = "a.py::test_a PASSED [ 25%]\na.py::test_a ERROR [ 25%]\na.py::test_b ERROR [ 50%]\n\
                   a.py::T::test_c FAILED [ 75%]\na.py::T::test_c ERROR [ 75%]\na.py::test_d PASSED [100%]\n";
    assert_eq!(torn_down(&format!("{verbose}{short}{summary}")), [1, 1]);
    // More than the summary has room for was printed by some test.
    assert_eq!(torn_down(&format!("{headings}= 1 failed, 3 passed, 1 error in 0.02s =\n")), [0, 0]);

    let parsed = read(&format!("{headings}{short}{summary}")).unwrap();
    assert_eq!((parsed.figures.tests, parsed.figures.passed), (Some(7), Some(3)), "as pytest counts");
    let testing = merge(&[parsed]).testing.unwrap();
    assert_eq!((testing.test_count, testing.tests_passed), (Some(5), Some(2)));
    assert_eq!((testing.tests_failed, testing.tests_errored), (Some(0), Some(3)));
}

#[test]
fn subtests_that_failed_are_no_tests() {
    let extra = |short: &str, summary: &str| {
        let Extra { passed, failed } = details(&format!("=== short test summary info ===\n{short}{summary}\n")).extra;
        [passed, failed]
    };
    let two = "SUBFAILED(i=1) a.py::test_s - no\nSUBFAILED(i=2) a.py::test_s - no\n";
    let failed = "FAILED a.py::test_s - contains 2 failed subtests\nFAILED a.py::test_t - no\n";
    for short in [format!("{two}{failed}"), format!("{failed}{two}")] {
        assert_eq!(extra(&short, "4 failed, 1 passed in 0.02s"), [0, 2]);
    }
    // pytest-subtests lets the test itself pass.
    assert_eq!(extra(two, "2 failed, 3 passed in 0.02s"), [1, 1]);
}

#[test]
fn two_quiet_runs_are_two() {
    let output = "..F   [100%]\n=== short test summary info ===\nFAILED a.py::test_f - no\n....   [100%]\n";
    let (runs, _) = listen(&Input::bytes("console", output.as_bytes()), true);
    let figures: Vec<_> = runs.iter().map(|run| (run.figures.tests, run.figures.failed)).collect();
    assert_eq!(figures, [(Some(3), Some(1)), (Some(4), Some(0))]);
}

#[test]
fn what_a_test_printed_may_be_the_first_that_is_left() {
    let tail = "----- Captured stdout call -----\ntest result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; \
                finished in 0.00s\n=== short test summary info ===\nFAILED a.py::test_f - no\n1 failed in 0.02s\n";
    assert!(matches!(sniffed(&FORMAT, tail), Sniff::Sure(_)));
    assert_eq!(sniffed(&cargo_test_text::FORMAT, tail), Sniff::No);
    let runs = console(&Input::bytes("console", tail.as_bytes()));
    let told: Vec<_> = runs.iter().map(|run| (run.format.name, run.figures.tests)).collect();
    assert_eq!(told, [("pytest-text", Some(1))]);
}

#[test]
fn a_subtest_that_failed_is_of_its_test() {
    for line in [
        "SUBFAIL a.py::T::test_x - assert 1",
        "[my - name] (i=2) SUBFAIL a.py::T::test_x - assert 1",
        "(i=1) SUBFAIL a.py::T::test_x - assert 1",
        "SUBFAILED[my - name] (i=2) a.py::T::test_x - assert 1",
        "SUBFAILED(i=1) a.py::T::test_x - assert 1",
    ] {
        let tests = details(&format!("=== short test summary info ===\n{line}\n=== 1 failed, 2 passed in 0.02s ===\n"));
        let case = tests.cases.cases.get("a.py::T::test_x").map(|case| (case.outcome, case.message.as_deref()));
        assert_eq!(case, Some((Outcome::Failed, Some("assert 1"))), "{line}");
    }
}

#[test]
fn the_results_of_sugar_and_pretty_stand_for_the_summary() {
    let sugar = "Test session starts (platform: linux, Python 3.13.0, pytest 9.0.0, pytest-sugar 1.1.1)\n\
                 collected 5 items / 1 deselected / 4 selected\n\
                 ――――――――― test_b ―――――――――\n----- Captured stdout call -----\n=== 99 passed in 0.01s ===\n\
                 ―― ERROR at teardown of test_c ―――\n\nResults (0.34s):\n       2 passed\n       1 failed\n         \
                 - a.py:12 test_b\n       1 error\n       1 xfailed\n       1 deselected\n";
    let figures = |text: &str| read(text).map(|parsed| counts_of(&parsed));
    assert_eq!(figures(sugar).unwrap(), (2, 1, 1, 1));
    assert_eq!(details(sugar).extra, Extra { passed: 1, failed: 0 });
    assert_eq!(figures(&format!("{sugar}make: *** [test] Error 1\n")).unwrap(), (2, 1, 1, 1));
    for cut in ["       1 error", "       1 xfailed"] {
        let text = sugar.split_once(cut).unwrap().0;
        assert_eq!(read(text).unwrap_err().reject(), Some(Reject::NoResult), "{cut}");
    }
    let pretty =
        "=== test session starts ===\n2 workers [3 items]\nResults (0.22s):\n\t1 failed\n\t2 passed\n\t1 warning\n";
    assert_eq!(figures(pretty).unwrap(), (2, 1, 0, 0));
    for large in ["18446744073709551615 passed", "99999999999999999999999 passed"] {
        assert_eq!(read(&pretty.replace("2 passed", large)).unwrap_err().reject(), Some(Reject::NoResult));
    }
    let quiet = "F  [ 33%]..  [100%]\n=== FAILURES ===\n___ test_b ___\nE   x\n   Summary of Failures\n┏━━━┓\n└───┘\n\
                 Results (0.07s):\n         1 failed\n         2 passed\n";
    assert_eq!(figures(quiet).unwrap(), (2, 1, 0, 0));
    assert!(figures(&quiet.replace("└───┘\n", "")).is_err(), "a test printed it");
    let broken = "=== test session starts ===\ncollected 28 items / 1 error\n\
                  !!! Interrupted: 1 error during collection !!!\nResults (0.29s):\n        1 warning\n        1 error\n";
    assert_eq!(figures(broken).unwrap(), (0, 0, 1, 0));
}

fn counts_of(parsed: &Parsed) -> (u64, u64, u64, u64) {
    let figures = &parsed.figures;
    let number = Option::unwrap_or_default;
    (number(figures.passed), number(figures.failed), number(figures.errored), number(figures.skipped))
}

#[test]
fn others_may_speak_behind_a_quiet_run() {
    let text = "..F                                  [100%]\n2 passed, 1 failed in 0.01s\nmake: *** [Makefile:3: test] Error 1\n";
    assert!(matches!(sniffed(&FORMAT, text), Sniff::Maybe(_)));
    assert_eq!(sniffed(&FORMAT, "2 passed in 0.01s\nmake: Leaving directory\n"), Sniff::No);
}

/// `-q` leaves the header out, and what others say below it does not make it theirs.
#[test]
fn a_quiet_call_that_runs_nothing_is_told_beside_others() {
    let other = "make: Leaving directory '/shop'\n";
    for (text, warning) in [
        ("\nno tests ran in 0.00s\nERROR: file or directory not found: t.py\n\n", "file or directory not found: t.py"),
        (
            "ERROR: usage: pytest [options] [file_or_dir] [file_or_dir] [...]\n\
             pytest: error: unrecognized arguments: --no\n  inifile: None\n",
            "unrecognized arguments: --no",
        ),
        ("\n5 deselected in 0.01s\n", ""),
    ] {
        for text in [text.to_owned(), format!("{text}{other}")] {
            let told = console(&Input::bytes("x", text.as_bytes()));
            let [parsed] = told.as_slice() else { panic!("{text}: {told:?}") };
            assert_eq!((parsed.format.name, parsed.figures.tests), ("pytest-text", Some(0)), "{text}");
            let warnings: Vec<&str> =
                parsed.warnings.iter().filter_map(|warning| warning.strip_prefix("pytest: ")).collect();
            assert_eq!(warnings.concat(), warning, "{text}");
        }
    }
    // It was called once more.
    let refused = "ERROR: usage: __main__.py [options] [file_or_dir] [file_or_dir] [...]\n__main__.py: error: x\n";
    let told = console(&Input::bytes("x", format!("{refused}..   [100%]\n2 passed in 0.01s\n").as_bytes()));
    assert_eq!(told.iter().map(|parsed| parsed.figures.tests).collect::<Vec<_>>(), [Some(0), Some(2)]);
}

/// `pytest | tail -3` beside another tool.
#[test]
fn of_a_run_the_summary_may_be_all_that_is_left() {
    let counts = |text: &str| {
        let told = console(&Input::bytes("x", text.as_bytes()));
        told.iter().map(counts_of).collect::<Vec<_>>()
    };
    let (red, other) = ("===== 1 failed, 2 passed in 0.12s =====\n", "All is said.\n");
    assert_eq!(counts(&format!("{red}{other}")), [(2, 1, 0, 0)]);
    assert_eq!(counts(&format!("{red}{}", "===== 2 passed in 0.10s =====\n")), [(2, 1, 0, 0), (2, 0, 0, 0)]);
    let quiet = "FAILED tests/test_a.py::test_b - assert 1 == 2\n1 failed, 2 passed in 0.12s\n";
    assert_eq!(counts(&format!("{quiet}{other}")), [(2, 1, 0, 0)]);
    for (above, below) in [("", other), (other, ""), ("", "Success: no issues found in 1 source file\n")] {
        let told = counts(&format!("{above}1 failed, 2 passed in 0.12s\n{below}"));
        assert_eq!(told.first(), Some(&(2, 1, 0, 0)), "{above}{below}");
    }
    let both = "1 failed, 2 passed in 0.12s\n5 passed in 0.01s\n";
    assert_eq!(counts(both), [(2, 1, 0, 0), (5, 0, 0, 0)]);
    assert!(counts("3 modules, 2 passed in 0.12s\nAll is said.\n").is_empty(), "not pytest's words");
    let told = read("..F   [100%]\n1 failed, 2 passed in 0.12s\nSo much for that.\n3 passed in 0.10s\n").unwrap();
    assert_eq!(counts_of(&told), (2, 1, 0, 0), "what stands below a run may be somebody's word");
}

/// `pytest a | tail -3; pytest b | tail -3`.
#[test]
fn what_is_left_of_two_runs_are_two() {
    let counts = |text: &str| {
        let told = console(&Input::bytes("x", text.as_bytes()));
        told.iter().map(counts_of).collect::<Vec<_>>()
    };
    let short = "=========================== short test summary info ============================\n";
    let (header, failures) = (
        "============================= test session starts ==============================\n",
        "=================================== FAILURES ===================================\n",
    );
    let (a, b) = (
        "FAILED a/test_a.py::test_a - assert 0\n=== 1 failed, 3 passed in 0.06s ===\n",
        "FAILED b/test_b.py::test_b - assert 0\n=== 1 failed, 2 passed in 0.06s ===\n",
    );
    let (two, green) = ([(3, 1, 0, 0), (2, 1, 0, 0)], "=== 5 passed in 0.01s ===\n");
    assert_eq!(counts(&format!("{short}{a}{short}{b}")), two);
    assert_eq!(
        counts(&format!(
            "{header}collected 4 items\n\na.py F\n\n{short}{a}F\n{failures}___ test_b ___\n\nE   x\n{short}{b}"
        )),
        two
    );
    assert_eq!(counts(&format!("{green}{short}{b}")), [(5, 0, 0, 0), (2, 1, 0, 0)]);
    let quiet = "F\n=================================== FAILURES ===================================\n___ test_b ___\n\nE   x\n";
    let whole = format!("{header}collected 5 items\n\na.py .....    [100%]\n\n{green}");
    assert_eq!(counts(&format!("{whole}{quiet}{short}1 failed in 0.01s\n")), [(5, 0, 0, 0), (0, 1, 0, 0)]);
    let sugar = "Results (0.14s):\n       3 passed\n       1 failed\n         - a.py:1 test_a\n";
    let other = "All is said.\n";
    assert_eq!(counts(&format!("{sugar}{other}")), [(3, 1, 0, 0)]);
    assert_eq!(
        counts(&format!("{short}FAILED a.py::test_a - assert 0\n\n{sugar}{}", sugar.replace('3', "5"))),
        [(3, 1, 0, 0), (5, 1, 0, 0)]
    );
    let none = "no tests ran in 0.00s\n3 passed in 0.01s\n";
    assert_eq!(counts(none), [(0, 0, 0, 0), (3, 0, 0, 0)]);
    // Below a whole run it is somebody's word on it.
    let word = console(&Input::bytes("x", format!("{whole}5 passed in 0.01s\n{other}").as_bytes()));
    assert_eq!(word.iter().map(|one| (counts_of(one), one.warnings.len())).collect::<Vec<_>>(), [((5, 0, 0, 0), 1)]);
    // A test printed the first.
    let printed = format!("{failures}___ test_b ___\n----- Captured stdout call -----\n{short}{a}{short}{b}");
    assert_eq!(counts(&printed), [(2, 1, 0, 0)]);
    assert_eq!(counts(&printed.replace(failures, "E   x\n")), [(2, 1, 0, 0)]);
}

#[test]
fn a_collection_is_no_run_that_was_killed() {
    let begin = "===== test session starts =====\ncollected 17 items\n\n<Module a.py>\n\n";
    for end in ["17 tests collected in 0.05s", "===== 1/2 tests collected (1 deselected) in 0.05s ====="] {
        let error = read(&format!("{begin}{end}\n")).unwrap_err();
        assert_eq!(error.reject(), Some(Reject::NoResult));
        assert_eq!(error.message, "pytest collected its tests and ran none", "{end}");
    }
    for killed in [begin.to_owned(), format!("{begin}17 tests collected in 0.05s\n{begin}")] {
        assert_eq!(read(&killed).unwrap_err().message, "pytest output ends before its summary line");
    }
}

#[test]
fn failed_tests_have_file_line_and_the_whole_message() {
    let tests = details(
        "=== test session starts ===\ncollected 3 items\n\ntests/test_a.py .F.F    [100%]\n\n=== FAILURES ===\n\
         ___ TestCart.test_sum ___\n\nself = <TestCart>\n\n    def test_sum(self):\n>       total()\n\n\
         tests/test_a.py:12: \n_ _ _ _ _ _ _ _ _ _ _ _ _ _\n\n    def total():\n>       assert 1 == 2\n\
         E       AssertionError: no\nE       assert 1 == 2\n\nsrc/cart.py:3: AssertionError\n\
         --- Captured stdout call ---\nE   printed\nother.py:1: x\n=== short test summary info ===\n\
         FAILED tests/test_a.py::TestCart::test_sum - Assertio...\nFAILED tests/test_a.py::test_b - no\n\
         === 2 failed, 2 passed in 0.01s ===\n",
    );
    let told = |id: &str| {
        let case = &tests.cases.cases[id];
        (case.file.as_deref(), case.line, case.message.as_deref())
    };
    let message = Some("AssertionError: no | assert 1 == 2");
    assert_eq!(told("tests/test_a.py::TestCart::test_sum"), (Some("tests/test_a.py"), Some(12), message));
    assert_eq!(told("tests/test_a.py::test_b"), (Some("tests/test_a.py"), None, Some("no")));

    // pytest-sugar tells the teardown last.
    let tests = details(
        "Test session starts (platform: linux, Python 3.13.0, pytest 9.0.0, pytest-sugar 1.1.1)\ncollected 1 item\n\
         ――― test_a ―――\n>       assert 0\nE       assert 0\n\na.py:3: AssertionError\n\
         ――― ERROR at teardown of test_a ―――\nE       OSError: down\n\nconftest.py:9: OSError\n\
         === short test summary info ===\nFAILED a.py::test_a - assert 0\nFAILED a.py::test_a - OSError: down\n\
         Results (0.07s):\n       1 failed\n         - a.py:2 test_a\n       1 error\n",
    );
    let case = &tests.cases.cases["a.py::test_a"];
    assert_eq!((case.line, case.message.as_deref()), (Some(3), Some("assert 0")));
    assert_eq!(tests.extra, Extra { passed: 0, failed: 1 });
}
