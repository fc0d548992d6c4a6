//! `go-bench-text`: what `go test -bench` prints, which is what benchstat reads. Its definition is the Go benchmark data
//! format.

use super::{Metrics, bench};
use crate::error::{Error, Reject, Result};
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine, is_number};
use crate::ingest::{CUT_HELP, Format, Head, Parsed, Sniff};
use crate::model::figures::ReportKind;
use crate::model::metrics::Direction;

/// Benchmarks of Go.
pub const FORMAT: Format = Format {
    name: "go-bench-text",
    kind: ReportKind::Metric,
    about: "terminal output of Go benchmarks, the input of benchstat",
    written_by: "go test -run '^$' -bench . [-benchmem] [-count N]",
    told_by: "lines \"Benchmark…\", a count, and values with ns/op; no test's line",
    has_end: false,
    counting: "bench.PACKAGE.NAME.time (ns/op), .bytes (B/op), .allocs (allocs/op), all lower, .throughput (MB/s, \
               higher), and units of one's own under their names. NAME is without the number of processors. With \
               -count the runs are samples, and their median is the value.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    if is_benchmarks(head) { Sniff::Sure("lines of Go benchmarks with ns/op".into()) } else { Sniff::No }
}

/// Whether a text holds results of Go benchmarks and none of tests.
pub(in crate::ingest) fn is_benchmarks(head: &Head<'_>) -> bool {
    let is_test = |line: &str| {
        let line = line.trim_start();
        ["--- PASS", "--- FAIL", "--- SKIP", "=== RUN", "FAIL"].iter().any(|start| line.starts_with(start))
            && !line.starts_with("--- SKIP: Benchmark")
    };
    let has_time = |line: &str| result(line).is_some_and(|result| result.values().any(|(_, unit)| unit == "ns/op"));
    head.lines().any(has_time) && !head.lines().any(is_test)
}

/// Whether the line tells a package, whose results may follow, or a result.
pub(in crate::ingest) fn begins(line: &str) -> bool {
    line.starts_with(PACKAGE) || result(line).is_some()
}

/// One line of results.
struct Measured<'a> {
    name: &'a str,
    rest: &'a str,
}

impl<'a> Measured<'a> {
    /// The values with their units.
    fn values(&self) -> impl Iterator<Item = (f64, &'a str)> + use<'a> {
        let mut words = self.rest.split_whitespace();
        std::iter::from_fn(move || {
            let value: f64 = words.next()?.parse().ok()?;
            Some((value, words.next()?))
        })
        .filter(|(value, _)| value.is_finite())
    }
}

/// Above the results of a package.
const PACKAGE: &str = "pkg: ";

/// How a line of results begins.
const START: &str = "Benchmark";

/// `BenchmarkName-8   1000   123 ns/op   …`
fn result(line: &str) -> Option<Measured<'_>> {
    if !line.starts_with(START) {
        return None;
    }
    let (name, rest) = line.split_once(char::is_whitespace)?;
    let (runs, rest) = rest.trim_start().split_once(char::is_whitespace)?;
    runs.parse::<u64>().ok().map(|_| Measured { name, rest })
}

/// The name without `-8`, the number of processors, which Go leaves out for one.
fn without_processors(name: &str) -> &str {
    match name.rsplit_once('-') {
        Some((before, digits)) if is_number(digits) => before,
        _ => name,
    }
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
    let mut metrics = Metrics::default();
    let mut package = String::new();
    let mut has_failed = false;
    while let Some(line) = lines.next()? {
        let text = line.text.trim_end();
        if let Some(name) = text.strip_prefix(PACKAGE) {
            package = format!("{}.", name.trim());
        }
        has_failed |= text.starts_with("FAIL") || text.starts_with("--- FAIL: Benchmark");
        if !line.ended && (text.starts_with(START) || START.starts_with(text)) {
            let cut = Error::report(Reject::Malformed, "report ends inside a benchmark's line");
            return Err(cut.line(line.number).help(CUT_HELP));
        }
        let Some(measured) = result(text) else { continue };
        let name = format!("{package}{}", without_processors(measured.name));
        for (value, unit) in measured.values() {
            let (what, direction) = match unit {
                "ns/op" => ("time", Some(Direction::Lower)),
                "B/op" => ("bytes", Some(Direction::Lower)),
                "allocs/op" => ("allocs", Some(Direction::Lower)),
                "MB/s" => ("throughput", Some(Direction::Higher)),
                other => (other, None),
            };
            metrics.add(&bench(&name, what), Some(value), Some(unit), direction);
        }
    }
    let parsed = metrics.finish(&FORMAT);
    if has_failed && parsed.is_err() {
        return Err(Error::report(Reject::NoResult, "the benchmarks failed"));
    }
    let mut parsed = parsed?;
    if has_failed {
        parsed.warnings.push("a benchmark or a package failed".to_owned());
    }
    Ok(parsed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Parsed> {
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn runs_of_one_name_are_samples() {
        let text = "pkg: a.test/b\nBenchmarkX/n=1-8   \t 100\t 9.5 ns/op\t 0 B/op\nBenchmarkX/n=1-8 100 10.5 ns/op 2 widgets/op\nPASS\n";
        let metrics = read(text).unwrap().figures.metrics;
        let time = &metrics["bench.a.test/b.BenchmarkX/n=1.time"];
        assert_eq!((time.value, time.samples.as_slice()), (Some(10.0), &[9.5, 10.5][..]));
        assert_eq!(metrics["bench.a.test/b.BenchmarkX/n=1.bytes"].value, Some(0.0));
        assert_eq!(metrics["bench.a.test/b.BenchmarkX/n=1.widgets/op"].direction, None);
    }

    #[test]
    fn lines_of_other_sorts_are_none() {
        assert!(result("BenchmarkX").is_none() && result("BenchmarkX-8 \tno result").is_none());
        assert_eq!(
            (without_processors("BenchmarkX-8"), without_processors("BenchmarkX-y")),
            ("BenchmarkX", "BenchmarkX-y")
        );
        assert_eq!(read("PASS\nok a 0.1s\n").unwrap_err().reject(), Some(Reject::NoResult));
        assert_eq!(read("BenchmarkX 1 2 ns/op\nBench").unwrap_err().reject(), Some(Reject::Malformed));
        assert_eq!(read("FAIL\ta [build failed]\n").unwrap_err().message, "the benchmarks failed");
    }
}
