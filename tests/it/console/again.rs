//! Several runs of one tool in one stream: which of them count.

use highwater::ingest::merge::merge;
use highwater::model::cases::Outcome;

use super::{read, stream, tests_of, told};

#[test]
fn of_tests_that_ran_again_the_later_result_counts() {
    for (file, expected) in [
        ("again-pytest-lf.txt", [9, 7, 1, 0, 1, 1, 0]),
        ("again-pytest-quiet-lf.txt", [9, 7, 1, 0, 1, 1, 0]),
        ("again-pytest-verbose.txt", [9, 7, 1, 0, 1, 1, 0]),
        // Only totals: as many tests, so the later run stands.
        ("again-pytest-quiet.txt", [9, 7, 1, 0, 1, 0, 0]),
        ("again-pytest-other-files.txt", [9, 6, 2, 0, 1, 0, 0]),
        ("again-cargo.txt", [4, 2, 1, 0, 1, 1, 0]),
        ("again-cargo-two-streams.txt", [4, 2, 1, 0, 1, 1, 0]),
        ("again-go-verbose.txt", [3, 3, 0, 0, 0, 1, 0]),
        ("again-jest.txt", [4, 2, 1, 0, 1, 0, 1]),
        ("again-robot.txt", [6, 4, 1, 0, 1, 1, 0]),
        // Under an agent, which tells of no file that passed.
        ("again-agent-jest.txt", [6, 5, 1, 0, 0, 0, 0]),
        ("again-agent-vitest.txt", [6, 5, 1, 0, 0, 0, 0]),
    ] {
        assert_eq!(tests_of(&stream(file)), expected, "{file}");
        let warned = read(&stream(file)).iter().any(|report| {
            let about = ["again in this output", "ran twice in this output", "repeat what failed before"];
            report.warnings.iter().any(|warning| about.iter().any(|about| warning.contains(about)))
        });
        assert_eq!(warned, file != "again-pytest-other-files.txt", "{file}");
    }
}

/// What of a binary's events comes below the summary is no run of its own.
#[test]
fn what_nextest_says_in_events_too_counts_once() {
    let text = "{\"type\":\"suite\",\"event\":\"started\",\"test_count\":1}\n Nextest run ID x with nextest profile: default\n    \
                Starting 1 test across 1 binary\n        PASS [   0.009s] a ok\n────────────\n     Summary [   0.009s] 1 test run: 1 passed, 0 \
                skipped\n{\"type\":\"suite\",\"event\":\"started\",\"test_count\":1}\n\
                {\"type\":\"test\",\"event\":\"ok\",\"name\":\"a::a$ok\",\"exec_time\":0.009}\n\
                {\"type\":\"suite\",\"event\":\"ok\",\"passed\":1,\"failed\":0,\"ignored\":0,\"measured\":0,\"filtered_out\":0,\"exec_time\":0.009}\n";
    assert_eq!(tests_of(text), [1, 1, 0, 0, 0, 0, 0]);
}

/// It prints the whole console of a suite that fails, and sums up all of them at last.
#[test]
fn what_pabot_shows_of_its_suites_is_in_its_own_sum() {
    let pabot = stream("pabot.txt");
    assert_eq!(tests_of(&pabot), [6, 3, 2, 0, 1, 0, 0]);
    let beside = format!("{}{pabot}", stream("again-robot.txt"));
    assert_eq!(tests_of(&beside), [12, 7, 3, 0, 2, 1, 0], "what robot ran itself is none of pabot's suites");
}

#[test]
fn only_a_run_that_failed_is_an_attempt_at_a_later_one() {
    let twice = stream("again-pytest-verbose.txt");
    let (once, _) = twice.split_at(twice.rfind("============================= test session starts").unwrap());
    let cases = merge(&read(&format!("{once}{twice}"))).cases.unwrap().cases;
    let of = |id: &str| (cases[id].outcome, cases[id].attempts);
    assert_eq!(of("tests/test_a.py::test_ok"), (Outcome::Passed, 1), "it never failed, so it is no flake");
    assert_eq!(of("tests/test_b.py::test_s"), (Outcome::Skipped, 1));
    assert_eq!(of("tests/test_a.py::test_once"), (Outcome::Passed, 3));
    assert_eq!(of("tests/test_a.py::test_bad"), (Outcome::Failed, 3));
}

#[test]
fn runs_that_tell_too_little_both_count_so_that_no_failure_is_lost() {
    let text = "..F..    [100%]\n1 failed, 4 passed in 0.10s\n...      [100%]\n3 passed in 0.10s\n";
    assert_eq!(tests_of(text), [8, 7, 1, 0, 0, 0, 0]);
    assert!(read(text).iter().any(|report| report.warnings.iter().any(|warning| warning.contains("both count"))));
    let rest = "..F..    [100%]\n1 failed, 4 passed in 0.10s\n.      [100%]\n1 passed, 4 deselected in 0.10s\n";
    assert_eq!(tests_of(rest), [6, 5, 1, 0, 0, 0, 0], "the one may have passed before");
    let session =
        |result: &str| format!("===== test session starts =====\ncollected 3 items\n\ntest_a.py {result}   [100%]\n\n");
    let all = session(".FF") + "===== 2 failed, 1 passed in 0.02s =====\n";
    let passed = session(".") + "===== 1 passed, 2 deselected in 0.01s =====\n";
    assert_eq!(tests_of(&format!("{all}{passed}")), [3, 1, 2, 0, 0, 0, 0], "a part of it");
    let failed = session("F") + "===== 1 failed, 2 deselected in 0.01s =====\n";
    assert_eq!(
        tests_of(&format!("{all}{failed}")),
        [4, 1, 3, 0, 0, 0, 0],
        "of which nobody knows whether it had failed"
    );
}

#[test]
fn apps_of_an_umbrella_and_processes_of_a_run_are_no_attempts_at_one_another() {
    let end = "Finished in 0.1 seconds (0.1s async, 0.00s sync)\n2 tests, 0 failures\n";
    let app = |name: &str| format!("==> {name}\nRunning ExUnit with seed: 1, max_cases: 2\n\n..\n{end}");
    let one = ("exunit-text", vec![2, 2, 0, 0, 0]);
    assert_eq!(told(&format!("{}{}", app("cart"), app("shop"))), [one.clone(), one.clone()]);
    assert_eq!(told(&app("cart").repeat(2)), [one]);
    let process = "..\nFinished in 0.1 seconds\n2 examples, 0 failures\n";
    let rspec = format!(
        "2 processes for 2 specs, ~ 1 specs per process\n{}\n4 examples, 0 failures\n\nTook 1 seconds\n",
        process.repeat(2)
    );
    assert_eq!(told(&rspec), [("rspec-text", vec![4, 4, 0, 0, 0])]);
}
