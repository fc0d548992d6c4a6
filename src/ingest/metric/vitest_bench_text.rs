//! `vitest-bench-text`: the tables that `vitest bench` prints.

use super::Metrics;
use crate::error::{Error, Reject, Result};
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine};
use crate::ingest::{CUT_HELP, Format, Head, Parsed, Sniff};
use crate::model::figures::ReportKind;

/// Terminal output of vitest bench.
pub const FORMAT: Format = Format {
    name: "vitest-bench-text",
    kind: ReportKind::Metric,
    about: "terminal output of vitest bench: times of JavaScript benchmarks",
    written_by: "vitest bench",
    told_by: "a heading \"name  hz  min  max  mean  p75\", and rows \"· NAME …\"",
    has_end: true,
    counting: "bench.GROUP > NAME.time (ms, lower), as of its JSON: the mean. A run without its summary is cut.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    match head.lines().any(is_heading) && !head.is_of_tests() {
        true => Sniff::Sure("a heading as vitest bench prints it".into()),
        false => Sniff::No,
    }
}

/// Whether the line announces benchmarks: no test runs below it.
pub(in crate::ingest) fn begins(line: &str) -> bool {
    line.starts_with("Benchmarking is an experimental feature.")
}

/// Whether the line is the heading of a table.
pub(in crate::ingest) fn is_heading(line: &str) -> bool {
    columns(line).is_some()
}

/// How many columns the heading has, and which of them is the mean.
fn columns(line: &str) -> Option<(usize, usize)> {
    let rest = line.trim_start().strip_prefix("name ")?.trim_start();
    rest.strip_prefix("hz ")?;
    let at = rest.split_whitespace().position(|column| column == "mean")?;
    Some((rest.split_whitespace().count(), at))
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
    let mut metrics = Metrics::default();
    let (mut titles, mut table, mut is_whole, mut last): (Vec<(usize, String)>, _, _, _) = (Vec::new(), None, false, 0);
    while let Some(line) = lines.next()? {
        last = line.number;
        let text = line.text.trim_end();
        is_whole |= text.trim_start().starts_with("BENCH  Summary");
        if let Some((indent, title)) = title(text) {
            titles.retain(|(other, _)| *other < indent);
            titles.push((indent, title.to_owned()));
        }
        table = columns(text).or(table);
        let Some((name, mean)) = table.and_then(|table| row(text, table)) else { continue };
        let group: Vec<&str> = titles.iter().map(|(_, title)| title.as_str()).collect();
        metrics.time(&format!("{} > {name}", group.join(" > ")), Some(mean), "ms");
    }
    if !is_whole {
        return Err(Error::report(Reject::Malformed, "report ends before the summary of vitest bench")
            .line(last)
            .help(CUT_HELP));
    }
    metrics.finish(&FORMAT)
}

/// Indentation and text of ` ✓ a.bench.ts > sort 554ms`; before version 3 with the number of benchmarks, `(2)`.
fn title(text: &str) -> Option<(usize, &str)> {
    let rest = text.trim_start();
    let indent = text.len() - rest.len();
    let rest = rest.strip_prefix(['✓', '✔', '√', '×', '❯'])?.trim_start();
    let (before, time) = rest.rsplit_once(' ').unwrap_or((rest, ""));
    let is_time = time.ends_with("ms") && time.bytes().next().is_some_and(|byte| byte.is_ascii_digit());
    let rest = if is_time { before } else { rest };
    let (before, count) = rest.rsplit_once(" (").unwrap_or((rest, ""));
    let is_count = count.strip_suffix(')').is_some_and(|count| count.parse::<u64>().is_ok());
    Some((indent, if is_count { before } else { rest }.trim_end()))
}

/// Name and mean of `   · fast  4,952,856.76  0.0001  6.9123  0.0002  …  ±54.59%   148586   fastest`.
fn row(text: &str, (columns, mean): (usize, usize)) -> Option<(&str, f64)> {
    let rest = text.trim_start().strip_prefix('·')?.trim_start();
    let rest = ["fastest", "slowest"].iter().find_map(|end| rest.strip_suffix(end)).unwrap_or(rest).trim_end();
    let mut cells: Vec<&str> = rest.rsplitn(columns + 1, char::is_whitespace).collect();
    // Columns are aligned with blanks.
    if cells.iter().any(|cell| cell.is_empty()) {
        cells = rest.split_whitespace().rev().take(columns).collect();
    }
    let numbers: Vec<&str> = cells.iter().take(columns).rev().copied().collect();
    let value: f64 = numbers.get(mean)?.replace(',', "").parse().ok()?;
    let first = *numbers.first()?;
    let name = rest.get(..rest.rfind(&format!(" {first} "))?)?.trim_end();
    value.is_finite().then_some((name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_name_their_benchmarks() {
        let read = |text: &str| crate::ingest::parse(&Input::bytes("x", text.as_bytes()), Some(&FORMAT));
        let table = "     name            hz     min     max    mean     p75     p99    p995    p999      rme  samples\n   \
                     · a  b  4,952,856.76  0.0001  6.9123  0.0002  0.0001  0.0004  0.0004  0.0006  ±54.59%   148586   fastest\n";
        let end = "\n BENCH  Summary\n\n  a  b - x\n";
        let value = |text: &str, name: &str| read(text).unwrap().figures.metrics[&format!("bench.{name}.time")].value;
        let text = format!(" ✓ a.bench.ts > sort 554ms\n{table}{end}");
        assert_eq!(value(&text, "a.bench.ts > sort > a  b"), Some(0.0002));
        let older = format!(" ✓ a.bench.ts (2) 1234ms\n   ✓ sort (2) 1233ms\n{table}{end}");
        assert_eq!(value(&older, "a.bench.ts > sort > a  b"), Some(0.0002));
        assert_eq!(read(&format!(" ✓ a\n{table}")).unwrap_err().reject(), Some(Reject::Malformed));
    }
}
