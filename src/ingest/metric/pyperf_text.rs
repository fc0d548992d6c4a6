//! `pyperf-text`: the lines in which pyperf tells means, and Python's own timeit its best.
//!
//! It is no format of the console: a name and a colon before each line are what runners of workspaces write, too.

use super::{Metrics, seconds};
use crate::error::{Error, Reject, Result};
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine, split_at};
use crate::ingest::values::leading_in;
use crate::ingest::{CUT_HELP, Format, Head, Parsed, Sniff};
use crate::model::figures::ReportKind;

/// Terminal output of pyperf.
pub const FORMAT: Format = Format {
    name: "pyperf-text",
    kind: ReportKind::Metric,
    about: "terminal output of pyperf and timeit: times of Python benchmarks",
    written_by: "scripts with pyperf.Runner, pyperf timeit, pyperf show, python -m timeit",
    told_by: "lines \"NAME: Mean +- std dev: 477 ns +- 5 ns\" or \"1000 loops, best of 5: 3.26 nsec per loop\"",
    has_end: false,
    counting: "bench.NAME.time (s, lower): the mean; of timeit, which tells no name, bench.timeit.time, the best of \
               its runs.",
    sniff,
    parse,
};

/// What stands before pyperf's means.
const MEAN: &str = "Mean +- std dev: ";

fn sniff(head: &Head<'_>) -> Sniff {
    if head.lines().any(begins) && !head.is_of_tests() {
        Sniff::Sure("a time as pyperf prints it".into())
    } else {
        Sniff::No
    }
}

/// Whether the line tells a time.
fn begins(line: &str) -> bool {
    mean(line.trim_end()).is_some() || best(line.trim_end()).is_some()
}

/// `sum: Mean +- std dev: 477 ns +- 5 ns`: the name before it, if there is one, and the time.
fn mean(text: &str) -> Option<(&str, f64)> {
    let (before, rest) = split_at(text, MEAN)?;
    let (value, deviation) = rest.split_once(" +- ")?;
    time(deviation)?;
    let name = if before.is_empty() { "" } else { before.strip_suffix(": ")? };
    Some((name, time(value)?))
}

/// `1000 loops, best of 5: 3.26 nsec per loop`.
fn best(text: &str) -> Option<f64> {
    let (_, rest) = leading_in(text)?;
    let (_, rest) = rest.strip_prefix(" loop")?.trim_start_matches('s').strip_prefix(", best of ")?.split_once(": ")?;
    time(rest.strip_suffix(" per loop")?)
}

/// `477 ns`.
fn time(text: &str) -> Option<f64> {
    let (value, unit) = text.split_once(' ')?;
    seconds(value.parse().ok()?, unit)
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
    let (mut metrics, mut title, mut before) = (Metrics::default(), String::new(), String::new());
    while let Some(line) = lines.next()? {
        let text = line.text.trim_end();
        if let Some((name, value)) = mean(text).or_else(|| Some(("timeit", best(text)?))) {
            if !line.ended {
                let why = "report ends inside a line";
                return Err(Error::report(Reject::Malformed, why).line(line.number).help(CUT_HELP));
            }
            let name = match (name, title.as_str()) {
                ("", "") => "timeit",
                ("", title) => title,
                (name, _) => name,
            };
            metrics.time(name, Some(value), "s");
        } else if !line.ended && !text.is_empty() {
            return Err(Error::report(Reject::Malformed, "report ends inside a line").line(line.number).help(CUT_HELP));
        } else if !text.is_empty() && text.len() == before.chars().count() && text.bytes().all(|byte| byte == b'-') {
            // `pyperf show` underlines the name of each benchmark.
            title.clone_from(&before);
        }
        text.clone_into(&mut before);
    }
    metrics.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(text: &str) -> Vec<(String, Option<f64>)> {
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        parsed.figures.metrics.into_iter().map(|(name, figure)| (name, figure.value)).collect()
    }

    #[test]
    fn names_stand_before_or_above_or_nowhere() {
        assert_eq!(times("sum: Mean +- std dev: 500 ms +- 5 ms\n"), [("bench.sum.time".to_owned(), Some(0.5))]);
        let shown = "sum\n---\n\nWARNING: unstable\n\nMean +- std dev: 250 ms +- 27 ns\n\nf\n-\n\nMean +- std dev: 1 sec +- 1 ms\n\na: b\n----\n\nMean +- std dev: 2 sec +- 1 ms\n";
        assert_eq!(
            times(shown),
            [
                ("bench.a: b.time".to_owned(), Some(2.0)),
                ("bench.f.time".to_owned(), Some(1.0)),
                ("bench.sum.time".to_owned(), Some(0.25)),
            ]
        );
        assert_eq!(times("1 loop, best of 5: 125 msec per loop\n"), [("bench.timeit.time".to_owned(), Some(0.125))]);
    }

    #[test]
    fn what_is_cut_or_foreign_is_rejected() {
        for (text, reject) in [
            ("a: Mean +- std dev: 477 ns +- 5 ns\nb: Mean +- std", Reject::Malformed),
            ("a: Mean +- std dev: 477 ns +- 5 ns", Reject::Malformed),
            ("Mean +- std dev: many\n", Reject::NoResult),
        ] {
            assert_eq!(parse(&Input::bytes("x", text.as_bytes())).unwrap_err().reject(), Some(reject), "{text}");
        }
    }
}
