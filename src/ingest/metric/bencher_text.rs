//! `bencher-text`: the lines of libtest's benchmarks, which criterion prints with `--output-format bencher`. Its definition is
//! the pretty formatter of libtest.

use super::{Metrics, bench};
use crate::error::{Error, Reject, Result};
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine};
use crate::ingest::{CUT_HELP, Format, Head, Parsed, Sniff};
use crate::model::figures::ReportKind;
use crate::model::metrics::Direction;

/// Benchmarks of libtest.
pub const FORMAT: Format = Format {
    name: "bencher-text",
    kind: ReportKind::Metric,
    about: "terminal output of Rust benchmarks in the manner of libtest",
    written_by: "cargo bench -- --output-format bencher with criterion; cargo +nightly bench",
    told_by: "lines \"test NAME ... bench: 1,234 ns/iter (+/- 5)\", and no test's result",
    has_end: false,
    counting: "bench.NAME.time (ns, lower), and .throughput (MB/s, higher) where it is told. libtest's own output, \
               with its line \"test result\", is taken for tests, unless this format is given.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    if head.lines().any(begins) && !head.is_of_tests() {
        Sniff::Sure("lines of libtest's benchmarks".into())
    } else {
        Sniff::No
    }
}

/// Whether the line tells a benchmark's result.
pub(in crate::ingest) fn begins(line: &str) -> bool {
    result(line).is_some()
}

/// A benchmark: its name, nanoseconds, and megabytes a second.
struct Measured<'a> {
    name: &'a str,
    time: f64,
    throughput: Option<f64>,
}

/// `test copy ... bench:      45.32 ns/iter (+/- 1.20) = 22755 MB/s`.
fn result(line: &str) -> Option<Measured<'_>> {
    let (name, rest) = line.strip_prefix("test ")?.split_once(" ... bench:")?;
    let (time, rest) = rest.split_once(" ns/iter (+/- ")?;
    let (spread, rest) = rest.split_once(')')?;
    number(spread)?;
    let throughput = match rest.trim() {
        "" => None,
        rest => Some(number(rest.strip_prefix("= ")?.strip_suffix(" MB/s")?)?),
    };
    Some(Measured { name: name.trim(), time: number(time)?, throughput })
}

/// A number with commas between thousands.
fn number(text: &str) -> Option<f64> {
    let text = text.trim().replace(',', "");
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    text.parse().ok().filter(|_| is_plain)
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
    let mut metrics = Metrics::default();
    while let Some(line) = lines.next()? {
        match result(&line.text) {
            // Cut, the throughput may be missing.
            Some(measured) if line.ended => {
                metrics.time(measured.name, Some(measured.time), "ns");
                if let Some(throughput) = measured.throughput {
                    let name = bench(measured.name, "throughput");
                    metrics.add(&name, Some(throughput), Some("MB/s"), Some(Direction::Higher));
                }
            }
            _ if !line.ended && (line.text.starts_with("test ") || "test ".starts_with(line.text.as_ref())) => {
                let cut = Error::report(Reject::Malformed, "report ends inside a benchmark's line");
                return Err(cut.line(line.number).help(CUT_HELP));
            }
            _ => {}
        }
    }
    metrics.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Parsed> {
        parse(&Input::bytes("x", text.as_bytes()))
    }

    const TEXT: &str = "test copy ... bench:       1,045.32 ns/iter (+/- 1.20) = 22755 MB/s\n\
        test group/sum/10 ... bench:          45 ns/iter (+/- 1)\n";

    #[test]
    fn times_have_commas_and_throughput_is_told_of_some() {
        let metrics = read(TEXT).unwrap().figures.metrics;
        assert_eq!(
            (metrics["bench.copy.time"].value, metrics["bench.copy.throughput"].value),
            (Some(1045.32), Some(22755.0))
        );
        assert_eq!((metrics["bench.group/sum/10.time"].value, metrics.len()), (Some(45.0), 3));
    }

    #[test]
    fn a_cut_shows_and_a_test_is_no_benchmark() {
        for length in TEXT.find("test copy").unwrap() + 1..TEXT.len() - 1 {
            let cut = TEXT.get(..length).unwrap();
            if !cut.ends_with('\n') {
                assert_eq!(read(cut).unwrap_err().reject(), Some(Reject::Malformed), "{cut}");
            }
        }
        assert_eq!(read("test a ... ok\n").unwrap_err().reject(), Some(Reject::NoResult));
        for other in [
            "test a ... bench: x ns/iter (+/- 1)",
            "test a ... bench: 1 ns/iter (+/- inf)",
            "test a ... bench: 1 ns/iter (+/- 1) = 3 GB/s",
        ] {
            assert!(result(other).is_none(), "{other}");
        }
        let libtest = format!(
            "running 3 tests\n{TEXT}\ntest result: ok. 0 passed; 0 failed; 1 ignored; 2 measured; 0 filtered out; finished in 0.10s\n"
        );
        assert_eq!(
            crate::ingest::parse(&Input::bytes("x", libtest.as_bytes()), None).unwrap().format.name,
            "cargo-test-text"
        );
        assert_eq!(
            crate::ingest::parse(&Input::bytes("x", TEXT.as_bytes()), None).unwrap().format.name,
            "bencher-text"
        );
    }
}
