//! How long the monitor takes for one call with 10,000 calls of history, in one turn (limit: 10 ms).
//!
//! `cargo bench --bench monitor`.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a bench, not the product")]

use std::time::{Duration, Instant};

use highwater::analysis::monitor::Monitor;
use highwater::config;

/// Calls before the first that is timed.
const HISTORY: usize = 10_000;
const TIMED: usize = 2_000;

fn main() {
    let config = config::defaults().unwrap();
    let mut monitor = Monitor::new(Some("/repo"));
    let mut times = Vec::with_capacity(TIMED);
    for n in 0..HISTORY + TIMED {
        let text = line(n);
        let started = Instant::now();
        let watched = monitor.take(serde_json::from_str(&text).unwrap(), &config).unwrap();
        let answer = serde_json::to_string(&watched).unwrap();
        let took = started.elapsed();
        std::hint::black_box(answer);
        if n >= HISTORY {
            times.push(took);
        }
    }
    times.sort_unstable();
    let at = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or(Duration::MAX);
    println!(
        "a call after {HISTORY}: median {:?}, 99 % {:?}, slowest {:?} (limit 10 ms)",
        at(50),
        at(99),
        times.last().unwrap()
    );
}

/// Searches, reads of ever new files, edits of 8 KB and commands.
fn line(n: usize) -> String {
    let (tool, args, result) = match n % 4 {
        0 => ("Grep", format!("{{\"pattern\":\"word{n}\",\"path\":\"d{}\"}}", n % 50), "{\"hits\":1}".to_owned()),
        1 => ("Read", format!("{{\"file_path\":\"/repo/d{}/f{n}.rs\"}}", n % 50), format!("{{\"hash\":\"{n}\"}}")),
        2 => {
            let text = format!("let x{n} = {n}; ").repeat(500);
            ("Edit", format!("{{\"file_path\":\"d{}/f{n}.rs\",\"new_string\":\"{text}\"}}", n % 50), "{}".to_owned())
        }
        _ => ("Bash", format!("{{\"command\":\"make test{n}\"}}"), "{\"ok\":false}".to_owned()),
    };
    format!("{{\"id\":\"{n}\",\"tool\":\"{tool}\",\"args\":{args},\"result\":{result}}}")
}
