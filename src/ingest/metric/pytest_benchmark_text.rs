//! `pytest-benchmark-text`: the tables that pytest-benchmark prints below the tests. Written after the output of version 5.

use super::Metrics;
use crate::error::{Error, Reject, Result};
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine};
use crate::ingest::values::whole;
use crate::ingest::{CUT_HELP, Format, Head, Parsed, Sniff};
use crate::model::figures::ReportKind;

/// Tables of pytest-benchmark.
pub const FORMAT: Format = Format {
    name: "pytest-benchmark-text",
    kind: ReportKind::Metric,
    about: "tables of pytest-benchmark",
    written_by: "pytest with pytest-benchmark",
    told_by: "a title \"benchmark: N tests\" between dashes over the columns \"Name (time in …)\"",
    has_end: false,
    counting: "bench.NAME.time (s, lower), NAME as the table has it: the median, or of what is shown the first of \
               mean, min and max. Of a comparison the run that is (NOW). A table that tells another number of \
               benchmarks than its title gives none. With pytest's own lines around it, a file is taken for tests; a \
               command's output gives both.",
    sniff,
    parse,
};

/// What a benchmark's time is, the first that there is a column of.
const TIMES: [&str; 4] = ["Median", "Mean", "Min", "Max"];

/// Of a comparison, the name of what was measured just now ends so.
const NOW: &str = " (NOW)";

fn sniff(head: &Head<'_>) -> Sniff {
    let has_any = head.lines().any(begins);
    if has_any && !head.is_of_tests() { Sniff::Sure("a table of pytest-benchmark's".into()) } else { Sniff::No }
}

/// Whether the line is the title of a table.
pub(in crate::ingest) fn begins(line: &str) -> bool {
    title(line).is_some()
}

/// Whether the line may stand in a table.
pub(in crate::ingest) fn is_of_table(line: &str) -> bool {
    let is_row = || line.trim_end().ends_with(|c: char| c.is_ascii_digit() || c == ')');
    begins(line) || line.starts_with(HEADING) || is_rule(line) || is_row()
}

/// `--- benchmark 'GROUP': 3 tests ---`: how many benchmarks the table has.
fn title(line: &str) -> Option<u64> {
    let title = line.trim_end().strip_prefix("---")?.strip_suffix("---")?.trim_matches('-').trim();
    let (group, number) = title.strip_prefix("benchmark")?.strip_suffix(" tests")?.rsplit_once(": ")?;
    if group.is_empty() || group.starts_with(" '") { whole(number) } else { None }
}

fn is_rule(line: &str) -> bool {
    let line = line.trim_end();
    line.len() > 3 && line.bytes().all(|byte| byte == b'-')
}

const HEADING: &str = "Name (time in ";

/// The columns after the name, and what makes seconds of a number.
fn heading(line: &str) -> Option<(Vec<&str>, &'static str)> {
    let (unit, columns) = line.strip_prefix(HEADING)?.split_once(')')?;
    let exponent = match unit {
        "ns" => "e-9",
        "us" | "µs" | "μs" => "e-6",
        "ms" => "e-3",
        "s" => "",
        _ => return None,
    };
    // A unit in brackets stands after its column.
    let columns = columns.split_whitespace().filter(|word| !word.starts_with('(')).collect();
    Some((columns, exponent))
}

/// Name and seconds of a row. Behind each number its share of the best one may stand in brackets.
fn row<'a>(line: &'a str, columns: &[&str], exponent: &str) -> Option<(&'a str, f64)> {
    let time = TIMES.iter().find_map(|time| columns.iter().position(|column| column == time))?;
    let (mut rest, mut told) = (line.trim_end(), None);
    for at in (0..columns.len()).rev() {
        let (mut before, mut number) = rest.rsplit_once(' ')?;
        if number.starts_with('(') && number.ends_with(')') {
            (before, number) = before.trim_end().rsplit_once(' ')?;
        }
        if at == time {
            let seconds = number.replace(',', "") + exponent;
            told = seconds.parse().ok().filter(|value: &f64| value.is_finite());
        }
        rest = before.trim_end();
    }
    Some((rest, told?)).filter(|(name, _)| !name.is_empty())
}

/// Adds the benchmarks of a whole table, if it is what it says.
fn read(table: &[String], metrics: &mut Metrics) {
    let [told, heads, above, rows @ ..] = table else { return };
    let Some((columns, exponent)) = heading(heads).filter(|_| is_rule(above)) else { return };
    let rows: Vec<(&str, f64)> = rows.iter().map_while(|line| row(line, &columns, exponent)).collect();
    if title(told) != u64::try_from(rows.len()).ok() {
        return;
    }
    let is_comparison = rows.iter().any(|(name, _)| name.ends_with(NOW));
    for (name, time) in rows.iter().filter(|(name, _)| !is_comparison || name.ends_with(NOW)) {
        metrics.time(name.strip_suffix(NOW).unwrap_or(name), Some(*time), "s");
    }
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
    let mut table: Vec<String> = Vec::new();
    let mut metrics = Metrics::default();
    while let Some(line) = lines.next()? {
        let text = line.text.trim_end();
        if begins(text) {
            table.clear();
        }
        // Title, heading and rule stand above the rows, and the same rule below them.
        let is_end = table.len() > 3 && table.get(2).is_some_and(|rule| rule == text);
        if !line.ended && !is_end && (!table.is_empty() || text.starts_with('-')) {
            let cut = Error::report(Reject::Malformed, "report ends inside a table of pytest-benchmark's");
            return Err(cut.line(line.number).help(CUT_HELP));
        }
        if is_end {
            read(&std::mem::take(&mut table), &mut metrics);
        } else if !table.is_empty() || begins(text) {
            table.push(text.to_owned());
        }
    }
    if !table.is_empty() {
        let cut = Error::report(Reject::Malformed, "a table of pytest-benchmark's has no end");
        return Err(cut.line(lines.number()).help(CUT_HELP));
    }
    metrics.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(text: &str) -> Result<Vec<(String, Option<f64>)>> {
        let metrics = parse(&Input::bytes("x", text.as_bytes()))?.figures.metrics;
        Ok(metrics.into_iter().map(|(name, figure)| (name, figure.value)).collect())
    }

    const TABLE: &str = "------- benchmark: 2 tests -------\n\
        Name (time in us)        Min            Median         Outliers  OPS (Kops/s)\n\
        ----------------------------------\n\
        test_a[x y]        1.5 (1.0)      2.0 (1.0)            1;2      500.0 (1.0)\n\
        test_b         1,234.5 (>1000.0)  2,000.0 (1000.0)      0;0        0.5 (0.00)\n\
        ----------------------------------\n";

    #[test]
    fn the_median_counts_in_seconds_and_else_the_next_best() {
        let told = |median: f64, other: f64| {
            vec![("bench.test_a[x y].time".to_owned(), Some(median)), ("bench.test_b.time".to_owned(), Some(other))]
        };
        assert_eq!(times(TABLE).unwrap(), told(2e-6, 2e-3));
        assert_eq!(times(&TABLE.replace("Median", "Rounds")).unwrap(), told(1.5e-6, 1234.5e-6));
        let grouped = TABLE.replace("benchmark:", "benchmark 'a: b':");
        assert_eq!(times(&grouped.replace("test_", "test_0")).unwrap().len(), 2);
    }

    #[test]
    fn of_a_comparison_the_newest_run_counts() {
        let compared = TABLE.replace("test_b ", "test_b (0001_old) ").replace("test_a[x y] ", "test_b (NOW) ");
        assert_eq!(times(&compared).unwrap(), [("bench.test_b.time".to_owned(), Some(2e-6))]);
    }

    #[test]
    fn a_table_that_is_not_whole_or_not_what_it_says_gives_none() {
        let two = format!("{TABLE}\n{TABLE}");
        for length in 1..two.len() - 1 {
            let cut = two.get(..length).unwrap();
            let is_between = length == TABLE.len() - 1 || cut.trim_end() == TABLE.trim_end();
            assert_eq!(times(cut).is_ok(), is_between, "{cut}");
        }
        for other in ["3 tests", "2 others", "tests"] {
            assert!(times(&TABLE.replace("2 tests", other)).is_err(), "{other}");
        }
        for (from, to) in [("in us", "in hours"), ("Name (time", "Name"), ("2.0 (1.0)", "two (1.0)")] {
            assert!(times(&TABLE.replace(from, to)).is_err(), "{to}");
        }
        assert!(times(&TABLE.replace("Min ", "A ").replace("Median", "B")).is_err(), "no column tells a time");
    }
}
