//! `hyperfine-text`: what hyperfine prints of each command.

use super::{Metrics, seconds};
use crate::error::{Error, Reject, Result};
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine, is_number};
use crate::ingest::{CUT_HELP, Format, Head, Parsed, Sniff};
use crate::model::figures::ReportKind;

/// Terminal output of hyperfine.
pub const FORMAT: Format = Format {
    name: "hyperfine-text",
    kind: ReportKind::Metric,
    about: "terminal output of hyperfine: times of commands",
    written_by: "hyperfine",
    told_by: "lines \"Benchmark 1: NAME\" and \"Time (mean ± σ):\"",
    has_end: false,
    counting: "bench.NAME.time (s, lower), NAME as the command: the mean, since the median is not told. No result \
               where a run failed, which is told on standard error.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let has = |is: fn(&str) -> bool| head.lines().any(is);
    if has(begins) && has(|line| mean(line).is_some()) && !head.is_of_tests() {
        return Sniff::Sure("a benchmark and its mean as hyperfine prints them".into());
    }
    Sniff::No
}

/// Whether a benchmark begins with the line.
pub(in crate::ingest) fn begins(line: &str) -> bool {
    command(line).is_some()
}

/// `Benchmark 1: sleep 0.01`, or before version 1.12 `Benchmark #1: sleep 0.01`.
fn command(line: &str) -> Option<&str> {
    let (number, command) = line.strip_prefix("Benchmark ")?.split_once(": ")?;
    let digits = number.strip_prefix('#').unwrap_or(number);
    is_number(digits).then_some(command)
}

/// `  Time (mean ± σ):      12.1 ms ±   1.6 ms    [User: …]`; of a single run `  Time (abs ≡):`.
fn mean(line: &str) -> Option<f64> {
    let (_, rest) = line.trim_start().strip_prefix("Time (")?.split_once("):")?;
    let mut words = rest.split_whitespace();
    let value: f64 = words.next()?.parse().ok()?;
    seconds(value, words.next()?)
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
    let (mut metrics, mut open): (Metrics, Option<(String, Option<f64>)>) = (Metrics::default(), None);
    while let Some(line) = lines.next()? {
        let text = line.text.as_ref();
        if !line.ended && (open.is_none() || !text.contains("runs")) {
            return Err(Error::report(Reject::Malformed, "report ends inside a line").line(line.number).help(CUT_HELP));
        }
        if let Some(command) = command(text) {
            close(&mut metrics, open.take());
            open = Some((command.trim().to_owned(), None));
        } else if let Some((_, told)) = &mut open {
            *told = mean(text).or(*told);
            if text.trim() == "Warning: Ignoring non-zero exit code." {
                *told = None;
            }
        }
    }
    close(&mut metrics, open);
    metrics.finish(&FORMAT)
}

fn close(metrics: &mut Metrics, open: Option<(String, Option<f64>)>) {
    if let Some((command, mean)) = open {
        metrics.time(&command, mean, "s");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "Benchmark 1: make: all\n  Time (mean ± σ):      12.5 ms ±   1.6 ms    [User: 0.7 ms, System: 0.5 ms]\n  \
        Range (min … max):    11.4 ms …  15.1 ms    5 runs\n \nBenchmark #2: false\n  Time (abs ≡):        2.500 s               [User: 0.7 s, System: 0.5 s]\n \n  \
        Warning: Ignoring non-zero exit code.\n \n";

    #[test]
    fn a_command_that_failed_has_no_time() {
        let read = |text: &str| crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None);
        let metrics = read(TEXT).unwrap().figures.metrics;
        assert_eq!((metrics["bench.make: all.time"].value, metrics["bench.false.time"].value), (Some(0.0125), None));
        let single = read(&TEXT.replace("Warning", "Note")).unwrap().figures.metrics;
        assert_eq!(single["bench.false.time"].value, Some(2.5));
        let cut = TEXT.get(..TEXT.find("Range").unwrap() + 9).unwrap();
        assert_eq!(read(cut).unwrap_err().reject(), Some(Reject::Malformed));
        assert_eq!(parse(&Input::bytes("x", b"x\n")).unwrap_err().reject(), Some(Reject::NoResult));
    }
}
