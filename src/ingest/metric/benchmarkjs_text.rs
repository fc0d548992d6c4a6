//! `benchmarkjs-text`: the lines in which Benchmark.js tells of its benchmarks.

use super::{Metrics, bench};
use crate::error::{Error, Reject, Result};
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine};
use crate::ingest::{CUT_HELP, Format, Head, Parsed, Sniff};
use crate::model::figures::ReportKind;
use crate::model::metrics::Direction;

/// Terminal output of Benchmark.js.
pub const FORMAT: Format = Format {
    name: "benchmarkjs-text",
    kind: ReportKind::Metric,
    about: "lines of Benchmark.js: operations a second",
    written_by: "Benchmark.js (String(event.target)), and what prints as it does",
    told_by: "lines \"NAME x 1,234 ops/sec ±1.23% (90 runs sampled)\"",
    has_end: false,
    counting: "bench.NAME.rate (ops/s, higher).",
    sniff,
    parse,
};

/// What every such line holds.
const UNIT: &str = " ops/sec ±";

fn sniff(head: &Head<'_>) -> Sniff {
    if head.lines().any(begins) && !head.is_of_tests() {
        Sniff::Sure("lines of Benchmark.js".into())
    } else {
        Sniff::No
    }
}

/// Whether the line tells a benchmark's result.
pub(in crate::ingest) fn begins(line: &str) -> bool {
    rate(line).is_some()
}

/// Name and operations a second.
fn rate(line: &str) -> Option<(&str, f64)> {
    let (before, after) = line.split_once(UNIT)?;
    let (name, number) = before.rsplit_once(" x ")?;
    let is_whole = after.trim_end().ends_with(" sampled)");
    let value: f64 = number.replace(',', "").parse().ok()?;
    (is_whole && value.is_finite()).then_some((name.trim(), value))
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
    let mut metrics = Metrics::default();
    while let Some(line) = lines.next()? {
        if let Some((name, value)) = rate(&line.text) {
            metrics.add(&bench(name, "rate"), Some(value), Some("ops/s"), Some(Direction::Higher));
        } else if !line.ended && !line.text.starts_with("Fastest is ") {
            return Err(Error::report(Reject::Malformed, "report ends inside a line").line(line.number).help(CUT_HELP));
        }
    }
    metrics.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_have_commas_and_names_anything() {
        let read = |text: &str| crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None);
        let text = "a x b x 1,234,567 ops/sec ±1.23% (90 runs sampled)\nbroken: \nslow x 0.25 ops/sec ±10.00% (5 runs sampled)\nFastest is a x b";
        let metrics = read(text).unwrap().figures.metrics;
        assert_eq!(
            (metrics["bench.a x b.rate"].value, metrics["bench.slow.rate"].value),
            (Some(1_234_567.0), Some(0.25))
        );
        let cut = text.get(..text.find("5 runs").unwrap()).unwrap();
        assert_eq!(read(cut).unwrap_err().reject(), Some(Reject::Malformed));
        assert_eq!(parse(&Input::bytes("x", b"x\n")).unwrap_err().reject(), Some(Reject::NoResult));
    }
}
