//! `criterion-text`: what criterion.rs prints of each benchmark. Its definition is the command line reporter of criterion 0.5.

use super::{Metrics, bench};
use crate::error::{Error, Reject, Result};
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine, split_at};
use crate::ingest::{CUT_HELP, Format, Head, Parsed, Sniff};
use crate::model::figures::ReportKind;
use crate::model::metrics::Direction;

/// Terminal output of criterion.rs.
pub const FORMAT: Format = Format {
    name: "criterion-text",
    kind: ReportKind::Metric,
    about: "terminal output of criterion.rs benchmarks",
    written_by: "cargo bench with criterion, codspeed-criterion-compat",
    told_by: "lines \"NAME time: [LOW MIDDLE HIGH]\" with units of time",
    has_end: false,
    counting: "bench.NAME.time (ns, lower) and .throughput (elem/s or B/s, higher): the middle of the three, in the \
               same unit whichever was printed. Changes against the last run are not used.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    if head.lines().any(begins) && !head.is_of_tests() {
        Sniff::Sure("lines of criterion's times".into())
    } else {
        Sniff::No
    }
}

/// Whether the line, below that with its name, tells a time.
pub(in crate::ingest) fn begins(line: &str) -> bool {
    interval(line, "time:").is_some_and(|(_, estimate)| estimate.is_some())
}

/// What stands before the key, and the middle of the interval after it, if it is whole.
fn interval<'a>(line: &'a str, key: &str) -> Option<(&'a str, Option<(f64, &'static str)>)> {
    let (name, rest) = split_at(line, key)?;
    let words =
        rest.trim().strip_prefix('[')?.strip_suffix(']').map(|inside| inside.split_whitespace().collect::<Vec<_>>());
    let estimate = words.and_then(|words| match words.as_slice() {
        [_, _, value, unit, _, _] => scaled(value, unit),
        _ => None,
    });
    Some((name.trim(), estimate))
}

/// The number in nanoseconds, elements a second or bytes a second.
fn scaled(value: &str, unit: &str) -> Option<(f64, &'static str)> {
    let (factor, unit) = match unit {
        "ps" => (1e-3, "ns"),
        "ns" => (1.0, "ns"),
        "µs" | "μs" | "us" => (1e3, "ns"),
        "ms" => (1e6, "ns"),
        "s" => (1e9, "ns"),
        "elem/s" => (1.0, "elem/s"),
        "Kelem/s" => (1e3, "elem/s"),
        "Melem/s" => (1e6, "elem/s"),
        "Gelem/s" => (1e9, "elem/s"),
        "B/s" => (1.0, "B/s"),
        "KiB/s" => (1024.0, "B/s"),
        "MiB/s" => (1_048_576.0, "B/s"),
        "GiB/s" => (1_073_741_824.0, "B/s"),
        "KB/s" => (1e3, "B/s"),
        "MB/s" => (1e6, "B/s"),
        "GB/s" => (1e9, "B/s"),
        _ => return None,
    };
    let value: f64 = value.parse().ok()?;
    value.is_finite().then_some((value * factor, unit))
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
    let mut metrics = Metrics::default();
    // A long name has a line of its own.
    let (mut before, mut benchmark) = (String::new(), String::new());
    while let Some(line) = lines.next()? {
        let text = line.text.as_ref();
        if !line.ended && !is_whole(text) {
            let cut = Error::report(Reject::Malformed, "report ends inside a line");
            return Err(cut.line(line.number).help(CUT_HELP));
        }
        if let Some((name, estimate)) = interval(text, "time:") {
            benchmark = if name.is_empty() { before.clone() } else { name.to_owned() };
            if let Some((value, unit)) = estimate {
                metrics.time(&benchmark, Some(value), unit);
            }
        } else if let Some(("", Some((value, unit)))) = interval(text, "thrpt:").filter(|_| !benchmark.is_empty()) {
            metrics.add(&bench(&benchmark, "throughput"), Some(value), Some(unit), Some(Direction::Higher));
            // That of the change follows.
            benchmark.clear();
        }
        if !text.trim().is_empty() {
            text.trim().clone_into(&mut before);
        }
    }
    metrics.finish(&FORMAT)
}

/// Whether a line with which criterion's output may end is all there.
fn is_whole(line: &str) -> bool {
    let line = line.trim();
    let ends = [" mild", " severe", " detected.", " regressed.", " improved.", " threshold."];
    let is_summary = line.starts_with("Found ") && line.ends_with("%)");
    // Below a change stands what it means.
    let is_result = line.ends_with(']') && !line.contains('%');
    is_summary || is_result || ends.iter().any(|end| line.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Parsed> {
        crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None)
    }

    const TEXT: &str = "Benchmarking sum 100: Analyzing\nsum 100                 time:   [46.059 ns 46.281 ns 46.543 ns]\n                        \
        change: [-1.3% +0.1% +1.5%] (p = 0.9 > 0.05)\n                        No change in performance detected.\nFound 3 outliers among 100 measurements (3.00%)\n\
        sums of a rather long group name/sum/10\n                        time:   [5.1 µs 5.2 µs 5.3 µs]\n                        \
        thrpt:  [1.8868 Melem/s 1.9231 Melem/s 1.9608 Melem/s]\n                 change:\n                        time:   [-1.0% +0.5% +2.0%] (p = 0.5 > 0.05)\n                        \
        thrpt:  [-2.0% -0.5% +1.0%]\n";

    #[test]
    fn times_are_in_one_unit_whichever_was_printed() {
        let metrics = read(TEXT).unwrap().figures.metrics;
        assert_eq!(metrics["bench.sum 100.time"].value, Some(46.281));
        let long = &metrics["bench.sums of a rather long group name/sum/10.time"];
        assert_eq!(
            (long.value, long.unit.as_deref(), long.direction),
            (Some(5200.0), Some("ns"), Some(Direction::Lower))
        );
        let rate = &metrics["bench.sums of a rather long group name/sum/10.throughput"];
        assert_eq!((rate.value, rate.unit.as_deref(), metrics.len()), (Some(1_923_100.0), Some("elem/s"), 3));
    }

    #[test]
    fn a_cut_inside_a_line_shows() {
        let (begin, end) = (TEXT.find("µs 5.2").unwrap(), TEXT.find(" change:\n").unwrap() - 20);
        for length in (begin..end).filter(|length| TEXT.is_char_boundary(*length)) {
            let cut = TEXT.get(..length).unwrap();
            let is_whole = cut.ends_with(']') || cut.ends_with('\n');
            assert_eq!(read(cut).map_err(|error| error.reject()).is_ok(), is_whole, "{cut}");
        }
        assert_eq!(parse(&Input::bytes("x", b"x\n")).unwrap_err().reject(), Some(Reject::NoResult));
        assert!(scaled("1", "min").is_none() && scaled("inf", "s").is_none());
    }
}
