//! What an agent waits for when its hooks call us: a tool call with 10,000 calls of history beside a Rust program that prints
//! one line (limit: 1.5 times that and 10 ms), the end of a turn beside `record` in a tree of 5,000 files (limit: 100 ms more),
//! and the end of a turn after 1,000 iterations (limit: 200 ms for 95 of 100).
//!
//! `cargo bench --bench hook`. Needs `rustc` on the path for the peer. What is compared is run alternately.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a bench, not the product"
)]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const CALLS: usize = 10_000;
const FILES: usize = 5_000;
const ITERATIONS: usize = 1_000;
const RUNS: usize = 200;
const TURNS: usize = 40;

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let peer = hello(folder.path());
    tool_call(&peer, &tree(folder.path(), "calls", 20));
    end_of_turn(&tree(folder.path(), "hooked", FILES), &tree(folder.path(), "recorded", FILES));
}

/// A Rust program that prints one line.
fn hello(folder: &Path) -> PathBuf {
    let (program, source) = (folder.join("hello"), folder.join("hello.rs"));
    std::fs::write(&source, "fn main() { println!(\"continue\"); }").unwrap();
    assert!(Command::new("rustc").args(["-O", "-o"]).arg(&program).arg(&source).status().unwrap().success());
    program
}

/// A work tree of that many files, with a baseline.
fn tree(folder: &Path, name: &str, files: usize) -> PathBuf {
    let root = folder.join(name);
    for n in 0..files {
        let folder = root.join(format!("d{}", n / 100));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(format!("f{n}.py")), format!("x = {n}\n").repeat(20)).unwrap();
    }
    change(&root, 0);
    run(&root, &["begin"], "");
    root
}

/// One file and the report, as an iteration would.
fn change(root: &Path, n: usize) {
    std::fs::write(root.join("code.py"), format!("x = {n}\n")).unwrap();
    std::fs::write(root.join("junit.xml"), format!("<testsuite><testcase name=\"t\" time=\"{n}\"/></testsuite>"))
        .unwrap();
}

fn run(root: &Path, arguments: &[&str], input: &str) -> Duration {
    let mut command = Command::new(env!("CARGO_BIN_EXE_highwater"));
    time(command.args(arguments).current_dir(root), input)
}

fn time(command: &mut Command, input: &str) -> Duration {
    let started = Instant::now();
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    started.elapsed()
}

fn call(root: &Path, n: usize) -> String {
    format!(
        "{{\"session_id\":\"s\",\"cwd\":{root:?},\"hook_event_name\":\"PostToolUse\",\"tool_name\":\"Read\",\"tool_use_id\":\"{n}\",\
         \"tool_input\":{{\"file_path\":\"d{}/f{n}.py\"}},\"tool_response\":{{\"content\":\"{}\"}}}}",
        n % 50,
        "x = 1; ".repeat(500)
    )
}

fn turn(root: &Path, n: usize) -> String {
    format!(
        "{{\"session_id\":\"s\",\"prompt_id\":\"{n}\",\"cwd\":{root:?},\"hook_event_name\":\"Stop\",\"stop_hook_active\":false}}"
    )
}

const HOOK: &[&str] = &["hook", "run", "--agent", "claude"];

fn tool_call(peer: &Path, root: &Path) {
    let lines: String = (0..CALLS)
        .map(|n| {
            format!(
                "\n{{\"schema_version\":1,\"at\":\"2026-01-01T00:00:00Z\",\"session\":\"s\",\"event\":\"call\",\"id\":\"{n}\",\"tool\":\"Read\",\
                 \"args\":{{\"file_path\":\"d{}/f{n}.py\"}},\"result\":{{\"ok\":true,\"hash\":\"{n:032x}\"}}}}\n",
                n % 50
            )
        })
        .collect();
    let iteration = root.join(".progress/loop-001/iterations/iteration-001");
    std::fs::create_dir_all(&iteration).unwrap();
    std::fs::write(iteration.join("activity.jsonl"), lines).unwrap();
    let mut times = [Vec::new(), Vec::new()];
    for n in 0..RUNS {
        times[0].push(time(Command::new(peer).current_dir(root), ""));
        times[1].push(run(root, HOOK, &call(root, CALLS + n)));
    }
    let [hello, ours] = times.map(|times| share(times, 50));
    let over = ours.saturating_sub(hello.mul_f64(1.5));
    println!("tool call after {CALLS}: {ours:?}, hello world {hello:?}, {over:?} over 1.5 times that (limit 10 ms)");
}

fn end_of_turn(hooked: &Path, recorded: &Path) {
    let mut times = [Vec::new(), Vec::new()];
    for n in 1..=TURNS {
        change(hooked, n);
        times[0].push(run(hooked, HOOK, &turn(hooked, n)));
        change(recorded, n);
        times[1].push(run(recorded, &["record"], ""));
    }
    let [ours, record] = times.map(|times| share(times, 50));
    println!(
        "end of a turn, {FILES} files: {ours:?}, record {record:?}, {:?} more (limit 100 ms)",
        ours.saturating_sub(record)
    );
    let mut times = Vec::new();
    for n in TURNS + 1..=ITERATIONS + TURNS {
        change(hooked, n);
        let took = run(hooked, HOOK, &turn(hooked, n));
        if n > ITERATIONS {
            times.push(took);
        }
    }
    println!("end of a turn after {ITERATIONS} iterations: 95 % within {:?} (limit 200 ms)", share(times, 95));
}

/// The time that so many of a hundred keep.
fn share(mut times: Vec<Duration>, percent: usize) -> Duration {
    times.sort_unstable();
    times[(times.len() * percent / 100).min(times.len() - 1)]
}
