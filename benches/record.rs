//! What recording costs early and late in a loop: medians of 20 records up to iteration 30 and up to iteration 1,020 of the
//! same work tree, measured alternately in two loops (limit of the ratio: 1.5). And what it takes to judge the long one again
//! under another config (limit: 2 s for 1,000 iterations).
//!
//! `cargo bench --bench record`. A folder on a file system in memory shows the worst ratio, because nothing waits for the
//! disk: `TMPDIR=/dev/shm cargo bench --bench record`.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a bench, not the product"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const SAMPLES: u32 = 20;

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let early = tree(&folder.path().join("early"));
    let late = tree(&folder.path().join("late"));
    for n in 1..10 {
        record(&early, n);
    }
    for n in 1..1000 {
        record(&late, n);
    }
    let mut times = [Vec::new(), Vec::new()];
    for n in 0..SAMPLES {
        times[0].push(record(&early, 10 + n));
        times[1].push(record(&late, 1000 + n));
    }
    std::fs::write(folder.path().join("other.yaml"), "classify:\n  coverage_drop: 0.5\n").unwrap();
    let replay = (0..5).map(|_| run(&late, &["replay", "--config", "../other.yaml"])).min().unwrap();
    let [early, late] = times.map(|mut times| {
        times.sort_unstable();
        times[times.len() / 2]
    });
    println!(
        "record at iteration 10 {early:?}, at iteration 1,000 {late:?}, ratio {:.2} (limit 1.5)",
        late.as_secs_f64() / early.as_secs_f64()
    );
    println!("replay of {} iterations: {replay:?} (limit 2 s)", 1000 + SAMPLES);
}

/// A work tree of 400 files with a loop's baseline.
fn tree(root: &Path) -> PathBuf {
    for n in 0..400 {
        let file = root.join(format!("src/part{}/file{n}.py", n % 20));
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, format!("def f{n}():\n    return {n}\n").repeat(20)).unwrap();
    }
    reports(root, 0);
    run(root, &["begin"]);
    root.to_path_buf()
}

/// One iteration: a file changed, 200 tests, coverage.
fn record(root: &Path, n: u32) -> Duration {
    std::fs::write(root.join("src/part0/file0.py"), format!("x = {n}\n")).unwrap();
    reports(root, n);
    run(root, &["record"])
}

fn reports(root: &Path, n: u32) {
    let tests: String =
        (0..200).map(|t| format!("<testcase classname=\"c\" name=\"t{t}\" time=\"0.{n}\"/>\n")).collect();
    std::fs::write(root.join("junit.xml"), format!("<testsuite name=\"u\">{tests}</testsuite>")).unwrap();
    let lines: String = (1..200).map(|l| format!("DA:{l},{}\n", u32::from((l + n) % 9 > 1))).collect();
    std::fs::write(root.join("lcov.info"), format!("SF:src/part0/file0.py\n{lines}end_of_record\n")).unwrap();
}

fn run(root: &Path, arguments: &[&str]) -> Duration {
    let mut command = Command::new(env!("CARGO_BIN_EXE_highwater"));
    command.args(arguments).current_dir(root).stdout(Stdio::null()).stderr(Stdio::null());
    let started = Instant::now();
    assert!(command.status().unwrap().success(), "{arguments:?}");
    started.elapsed()
}
