//! How long `gate` takes from start to exit, beside a Rust program that prints one line. The two are run alternately; what
//! counts is the ratio of their medians (limit: 3).
//!
//! `cargo bench --bench startup`. Needs `rustc` on the path for the peer.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a bench, not the product"
)]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Runs of each program; the first few are for the caches.
const RUNS: usize = 300;
const WARM_UP: usize = 20;

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let hello = folder.path().join("hello");
    let source = folder.path().join("hello.rs");
    std::fs::write(&source, "fn main() { println!(\"continue\"); }").unwrap();
    let built = Command::new("rustc").args(["-O", "-o"]).arg(&hello).arg(&source).status().unwrap();
    assert!(built.success(), "the peer was built");

    let work = folder.path().join("work");
    std::fs::create_dir(&work).unwrap();
    let highwater = Path::new(env!("CARGO_BIN_EXE_highwater"));
    for n in 0..10 {
        std::fs::write(work.join("code.py"), format!("x = {n}\n")).unwrap();
        std::fs::write(work.join("junit.xml"), format!("<testsuite><testcase name=\"t{n}\"/></testsuite>")).unwrap();
        let verb = if n == 0 { "begin" } else { "record" };
        let status = Command::new(highwater).arg(verb).current_dir(&work).stdout(Stdio::null()).status().unwrap();
        assert!(status.success());
    }

    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..RUNS + WARM_UP {
        let peer = time(Command::new(&hello).current_dir(&work));
        let ours = time(Command::new(highwater).arg("gate").current_dir(&work));
        times[0].push(peer);
        times[1].push(ours);
    }
    let [peer, ours] = times.map(|mut times| {
        times.drain(..WARM_UP);
        times.sort_unstable();
        times[times.len() / 2]
    });
    println!(
        "hello world {peer:?}, highwater gate {ours:?}, ratio {:.2} (limit 3)",
        ours.as_secs_f64() / peer.as_secs_f64()
    );
}

fn time(command: &mut Command) -> Duration {
    let started = Instant::now();
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    started.elapsed()
}
