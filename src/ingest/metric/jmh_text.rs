//! `jmh-text`: the table with which JMH ends. Written after the source of its text format, version 1.37; no JMH was at hand.

use super::{Metrics, bench};
use crate::error::{Error, Reject, Result};
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine};
use crate::ingest::{CUT_HELP, Format, Head, Parsed, Sniff};
use crate::model::figures::ReportKind;

/// JMH's table.
pub const FORMAT: Format = Format {
    name: "jmh-text",
    kind: ReportKind::Metric,
    about: "table of JMH: scores of Java benchmarks",
    written_by: "java -jar benchmarks.jar",
    told_by: "a table with the columns Benchmark, Mode, Cnt, Score, Error and Units",
    has_end: false,
    counting: "As jmh-json, NAME without what the packages of all benchmarks have in common, as it is printed. \
               Percentiles and secondary metrics, NAME:…, are not used.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    if head.last_lines().any(begins) && !head.is_of_tests() {
        Sniff::Sure("a table of JMH's columns".into())
    } else {
        Sniff::No
    }
}

/// Whether a table begins with the line.
pub(in crate::ingest) fn begins(line: &str) -> bool {
    heading(line).is_some()
}

/// The parameters that have a column.
fn heading(line: &str) -> Option<Vec<String>> {
    let words: Vec<&str> = line.strip_prefix("Benchmark ")?.split_whitespace().collect();
    // Error is left out where there is none.
    let at = words.iter().position(|word| *word == "Mode")?;
    let (parameters, rest) = words.split_at_checked(at)?;
    let is_ours = matches!(
        rest,
        ["Mode", "Cnt", "Score", "Error", "Units"] | ["Mode", "Score", "Units"] | ["Mode", "Cnt", "Score", "Units"]
    );
    let name = |word: &&str| word.strip_prefix('(')?.strip_suffix(')').map(str::to_owned);
    parameters.iter().map(name).collect::<Option<Vec<String>>>().filter(|_| is_ours)
}

/// A benchmark with its parameters, its mode, score and unit.
fn row<'a>(line: &'a str, parameters: &[String]) -> Option<(String, &'static str, Option<f64>, &'a str)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (name, words) = words.split_first()?;
    let (values, words) = words.split_at_checked(parameters.len())?;
    let (mode, words) = words.split_first()?;
    let mode = super::jmh_json::MODES.iter().map(|(mode, ..)| *mode).find(|known| known == mode)?;
    let (unit, numbers) = words.split_last()?;
    let numbers = numbers.split(|word| *word == "±").next()?;
    // `≈ 10⁻³` is no number.
    let score = numbers.last().and_then(|score| score.parse().ok()).filter(|score: &f64| score.is_finite());
    let params: Vec<String> = parameters.iter().zip(values).map(|(name, value)| format!("{name}={value}")).collect();
    let name = if params.is_empty() { (*name).to_owned() } else { format!("{name}[{}]", params.join(",")) };
    unit.contains('/').then_some((name, mode, score, unit))
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
    let (mut metrics, mut open) = (Metrics::default(), None);
    while let Some(line) = lines.next()? {
        if let Some(parameters) = heading(&line.text) {
            open = Some(parameters);
            continue;
        }
        let Some(parameters) = open.as_ref().filter(|_| !line.text.trim().is_empty()) else { continue };
        if !line.ended {
            // Of the unit a letter may be missing.
            let cut = Error::report(Reject::Malformed, "report ends inside a row of JMH's table");
            return Err(cut.line(line.number).help(CUT_HELP));
        }
        match row(&line.text, parameters) {
            Some((name, ..)) if name.contains(':') => {}
            Some((name, mode, score, unit)) => {
                if let Some((_, what, direction)) = super::jmh_json::MODES.iter().find(|(known, ..)| *known == mode) {
                    metrics.add(&bench(&name, what), score, Some(unit), Some(*direction));
                }
            }
            // Below the table other output follows.
            None => open = None,
        }
    }
    metrics.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# Run complete. Total time: 00:00:05\n\nBenchmark                  (m)   (n)    Mode  Cnt    Score    Error   Units\n\
        SumBench.max                a    10   thrpt    4  812.250 ± 14.500  ops/us\nSumBench.sum                a  1000    avgt       251.500          ns/op\n\
        SumBench.sum:p0.50          a  1000  sample       250.000          ns/op\nSumBench.tiny               a    10    avgt    4   ≈ 10⁻³            ms/op\n\nDone 1 of 1\n";

    fn read(text: &str) -> Result<Parsed> {
        crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None)
    }

    #[test]
    fn rows_have_parameters_and_perhaps_errors() {
        let metrics = read(TEXT).unwrap().figures.metrics;
        let max = &metrics["bench.SumBench.max[m=a,n=10].throughput"];
        assert_eq!((max.value, max.unit.as_deref()), (Some(812.25), Some("ops/us")));
        assert_eq!(metrics["bench.SumBench.sum[m=a,n=1000].time"].value, Some(251.5));
        assert_eq!((metrics["bench.SumBench.tiny[m=a,n=10].time"].value, metrics.len()), (None, 3));
        let bare =
            read("Benchmark  Mode  Cnt  Score  Error  Units\nA.b  ss  5  1.5 ± 0.5  s/op\n").unwrap().figures.metrics;
        assert_eq!(bare["bench.A.b.single_shot_time"].value, Some(1.5));
    }

    #[test]
    fn a_cut_inside_a_row_shows() {
        let begin = TEXT.find("SumBench.max").unwrap();
        for length in begin + 1..TEXT.find("ops/us\n").unwrap() + 6 {
            let Some(cut) = TEXT.get(..length) else { continue };
            assert_eq!(read(cut).unwrap_err().reject(), Some(Reject::Malformed), "{cut}");
        }
        assert_eq!(parse(&Input::bytes("x", b"x\n")).unwrap_err().reject(), Some(Reject::NoResult));
    }
}
