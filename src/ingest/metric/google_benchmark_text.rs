//! `google-benchmark-text`: the table that Google Benchmark prints. Its definition is the console reporter's documentation.

use super::Metrics;
use crate::error::{Error, Reject, Result};
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine};
use crate::ingest::{CUT_HELP, Format, Head, Parsed, Sniff};
use crate::model::figures::ReportKind;

/// Google Benchmark's table.
pub const FORMAT: Format = Format {
    name: "google-benchmark-text",
    kind: ReportKind::Metric,
    about: "table of Google Benchmark",
    written_by: "a benchmark program",
    told_by: "a table with the columns Benchmark, Time, CPU and Iterations",
    has_end: false,
    counting: "bench.NAME.time (in the unit that is told, lower): the column Time. Repetitions are samples, and their \
               median is the value; aggregates are used, the median, only where the repetitions are not told. Counters \
               are not used.",
    sniff,
    parse,
};

/// Of a name, where it is an aggregate of repetitions.
const AGGREGATES: [&str; 5] = ["_mean", "_median", "_stddev", "_cv", "_rms"];

fn sniff(head: &Head<'_>) -> Sniff {
    let has_any = head.lines().any(begins);
    if has_any && !head.is_of_tests() { Sniff::Sure("a table of Google Benchmark's columns".into()) } else { Sniff::No }
}

/// Whether a table begins with the line.
pub(in crate::ingest) fn begins(line: &str) -> bool {
    let words = || line.split_whitespace();
    line.starts_with("Benchmark") && words().take(4).eq(["Benchmark", "Time", "CPU", "Iterations"])
}

/// Name, time and unit: `BM_sum/10   12.3 ns   12.2 ns   5000000 …`.
fn row(line: &str) -> Option<(String, f64, &str)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_unit = |word: &str| matches!(word, "ns" | "us" | "ms" | "s");
    // A name may hold blanks; the first time after it is followed by a second one and a count.
    let at = words.windows(5).position(|five| {
        let [time, unit, cpu, same, count] = five else { return false };
        is_unit(unit)
            && is_unit(same)
            && cpu.parse::<f64>().is_ok()
            && time.parse::<f64>().is_ok()
            && count.parse::<u64>().is_ok()
    })?;
    let value: f64 = words.get(at)?.parse().ok()?;
    let name = words.get(..at)?.join(" ");
    (!name.is_empty() && value.is_finite()).then_some((name, value, words.get(at + 1)?))
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
    let (mut metrics, mut medians, mut is_open) = (Metrics::default(), Vec::new(), false);
    while let Some(line) = lines.next()? {
        let text = line.text.as_ref();
        if begins(text) {
            is_open = true;
            continue;
        }
        if is_open && !line.ended && !text.starts_with('-') && !text.is_empty() {
            // The last number may be another one, or a time.
            let cut = Error::report(Reject::Malformed, "report ends inside a benchmark's line");
            return Err(cut.line(line.number).help(CUT_HELP));
        }
        let Some((name, value, unit)) = row(text).filter(|_| is_open) else {
            if let Some((name, _)) = text.split_once("ERROR OCCURRED:").filter(|_| is_open) {
                metrics.time(name.trim(), None, "ns");
            }
            continue;
        };
        match AGGREGATES.iter().find_map(|suffix| Some((name.strip_suffix(suffix)?, *suffix))) {
            Some((base, "_median")) => medians.push((base.to_owned(), value, unit.to_owned())),
            Some(_) => {}
            None => metrics.time(&name, Some(value), unit),
        }
    }
    for (name, value, unit) in medians {
        if !metrics.has_time(&name) {
            metrics.time(&name, Some(value), &unit);
        }
    }
    metrics.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(rows: &str) -> Result<Parsed> {
        let heading = "2026-01-01T00:00:00+00:00\nRunning ./b\n-----\nBenchmark         Time             CPU   Iterations UserCounters...\n-----\n";
        crate::ingest::parse(&Input::bytes("x", format!("{heading}{rows}").as_bytes()), None)
    }

    #[test]
    fn repetitions_are_samples_and_aggregates_none() {
        let rows = "BM_sum/10 4.0 ns 3.9 ns 1000\nBM_sum/10 2.0 ns 1.9 ns 1000 items=3/s\nBM_sum/10_mean 3.0 ns 2.9 ns 2\nBM_sum/10_median 3.5 ns 2.9 ns 2\n\
            BM_sum/10_cv 9.00 % 8.00 % 2\nBM_only_median 7.5 us 7 us 3\nBM_bad ERROR OCCURRED: 'no file'\n";
        let metrics = read(rows).unwrap().figures.metrics;
        let sum = &metrics["bench.BM_sum/10.time"];
        assert_eq!((sum.value, sum.samples.as_slice(), sum.unit.as_deref()), (Some(3.0), &[4.0, 2.0][..], Some("ns")));
        assert_eq!((metrics["bench.BM_only.time"].value, metrics["bench.BM_bad.time"].value), (Some(7.5), None));
    }

    #[test]
    fn a_cut_inside_a_row_shows() {
        for cut in ["BM_a 4.0 ns 3.9 ns 1000", "BM_a 4.0 ns", "BM_a 1 ns 1 ns 5\nB"] {
            assert_eq!(read(cut).unwrap_err().reject(), Some(Reject::Malformed), "{cut}");
        }
        assert_eq!(read("BM_a 4.0 ns 3.9 ns 1000\n").unwrap().figures.metrics.len(), 1);
        assert_eq!(read("").unwrap_err().reject(), Some(Reject::NoResult));
    }
}
