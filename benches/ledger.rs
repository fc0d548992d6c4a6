//! A loop of 50,000 tests and 200 iterations, of which each changes 100: what `tests` costs, and what the ledger weighs
//! (limits: 200 ms, 5 MB). And what judging costs with these tests and 1,000 iterations of history (limit: 50 ms).
//!
//! `cargo bench --bench ledger`; `LEDGER_ITERATIONS=20` is a quick look.
#![expect(clippy::unwrap_used, clippy::print_stdout, clippy::disallowed_methods, reason = "a bench, not the product")]

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use highwater::analysis::{Current, Work, assess};
use highwater::model::cases::{Outcome, TestCase, TestCases};
use highwater::model::ids::{Iteration, ObjectId};
use highwater::model::trajectory::{Point, Trajectory};

const TESTS: u32 = 50_000;
const CHANGED: u32 = 100;
const HISTORY: u32 = 1_000;

fn main() {
    let iterations = std::env::var("LEDGER_ITERATIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(200);
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    std::fs::create_dir(root.join("src")).unwrap();
    for n in 0..iterations {
        iterate(root, n);
    }
    let cold = timed(|| tests(root, &["--broken"]));
    let bytes = std::fs::metadata(root.join(".progress/loop-001/progress/tests.jsonl")).unwrap().len();
    let queries: Vec<(&str, Duration)> = [
        ("--broken", &["--broken", "--json"][..]),
        ("--flaky", &["--flaky", "--json"]),
        ("--history", &["--history", "tests.part7.test_part7::test_case_of_the_part_3777", "--json"]),
    ]
    .into_iter()
    .map(|(name, arguments)| (name, (0..9).map(|_| timed(|| tests(root, arguments))).min().unwrap()))
    .collect();
    iterate(root, iterations);
    let behind = timed(|| tests(root, &["--broken", "--json"]));
    let (whole, part) = (bytes / 1_000_000, bytes / 10_000 % 100);
    println!("{TESTS} tests, {iterations} iterations: the ledger has {whole}.{part:02} MB (limit 5)");
    println!("made from nothing in {cold:?}; one iteration behind {behind:?} (limit 200 ms)");
    for (name, time) in queries {
        println!("tests {name}: {time:?} (limit 200 ms)");
    }
    judging(root);
}

/// One iteration: a file changed, and some of the tests came to something else.
fn iterate(root: &Path, n: u32) {
    std::fs::write(root.join("src/lib.py"), format!("x = {n}\n")).unwrap();
    let mut text = String::from("<testsuite name=\"u\">");
    for test in 0..TESTS {
        let body = if fails(test, n) { "><failure message=\"no\"/></testcase>" } else { "/>" };
        writeln!(text, "<testcase classname=\"{}\" name=\"{}\" time=\"0.{n}\"{body}", class(test), name(test)).unwrap();
    }
    text.push_str("</testsuite>");
    std::fs::write(root.join("junit.xml"), text).unwrap();
    run(root, &[if n == 0 { "begin" } else { "record" }]);
}

fn class(test: u32) -> String {
    format!("tests.part{0}.test_part{0}", test / 500)
}

fn name(test: u32) -> String {
    format!("test_case_of_the_part_{test}")
}

/// Half of the changes are tests that break, half are tests that are fixed again.
fn fails(test: u32, n: u32) -> bool {
    let slot = test % (TESTS / (CHANGED / 2));
    slot == n % (TESTS / (CHANGED / 2))
}

fn timed(run: impl FnOnce()) -> Duration {
    let started = Instant::now();
    run();
    started.elapsed()
}

fn tests(root: &Path, arguments: &[&str]) {
    run(root, &[&["tests"], arguments].concat());
}

fn run(root: &Path, arguments: &[&str]) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_highwater"));
    command.args(arguments).current_dir(root).stdout(Stdio::null()).stderr(Stdio::null());
    assert!(command.status().unwrap().success(), "{arguments:?}");
}

/// The verdict alone: everything is read and in memory.
fn judging(root: &Path) {
    let text = std::fs::read_to_string(root.join(".progress/loop-001/progress/trajectory.json")).unwrap();
    let trajectory: Trajectory = serde_json::from_str(&text).unwrap();
    let last = trajectory.iterations.last().unwrap();
    let points: Vec<Point> = (0..HISTORY)
        .map(|n| Point {
            iteration: Iteration(n),
            parent: n.checked_sub(1).map(Iteration),
            tree_key: ObjectId([u8::try_from(n % 251).unwrap(); 32]),
            ..last.clone()
        })
        .collect();
    let cases = |n: u32| {
        let mut cases = TestCases::default();
        for test in 0..TESTS {
            let outcome = if fails(test, n) { Outcome::Failed } else { Outcome::Passed };
            cases.add(format!("{}::{}", class(test), name(test)), TestCase::new(outcome));
        }
        cases
    };
    let (before, now) = (cases(1), cases(2));
    let config = highwater::config::defaults().unwrap();
    let current = Current {
        iteration: Iteration(HISTORY),
        parent: Some(Iteration(HISTORY - 1)),
        metrics: last.metrics.clone(),
        tree: ObjectId([255; 32]),
        tree_key: ObjectId([255; 32]),
        cases: Some(&now),
        previous_cases: Some(&before),
        same_bodies: &[],
        lost_sources: &[],
        test_edits: None,
        proof: None,
        lost_lines: None,
        same_tree: &BTreeMap::new(),
        accepted: &[],
        label: None,
        cost: None,
        tokens: None,
        work: Work::default(),
        digest: |_| ObjectId([0; 32]),
    };
    let time = (0..9).map(|_| timed(|| assert!(!assess(&points, &current, &config).alerts.is_empty()))).min().unwrap();
    println!("judging {TESTS} tests with {HISTORY} iterations of history: {time:?} (limit 50 ms)");
}
