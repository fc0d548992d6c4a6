//! `vitest-bench-text`: the tables that `vitest bench` prints.

use super::Metrics;
use crate::error::{Error, Reject, Result};
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine, is_number};
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
    counting: "bench.GROUP > NAME.time (ms, lower), as of its JSON: the mean, or below 0.1 ms what the \
               number of runs in a second makes it, as the mean has four digits alone. A run without its summary is cut.",
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
    let mut tables = Tables::default();
    let (mut is_whole, mut last) = (false, 0);
    while let Some(line) = lines.next()? {
        last = line.number;
        let text = line.text.trim_end();
        is_whole |= text.trim_start().starts_with("BENCH  Summary");
        tables.line(text);
    }
    if !is_whole {
        return Err(Error::report(Reject::Malformed, "report ends before the summary of vitest bench")
            .line(last)
            .help(CUT_HELP));
    }
    tables.metrics.finish(&FORMAT)
}

/// Reads the tables, wherever they stand in the output.
#[derive(Debug, Default)]
pub(in crate::ingest) struct Tables {
    /// Of the file and the blocks, with their indentation.
    titles: Vec<(usize, String)>,
    /// How many columns the table has, and which of them is the mean.
    table: Option<(usize, usize)>,
    /// It stands right below a test, as since version 5: its rows begin with no dot.
    is_of_test: bool,
    pub metrics: Metrics,
}

impl Tables {
    /// The next line, without blanks at its end.
    pub fn line(&mut self, text: &str) {
        // What follows was printed by a test.
        if text.starts_with("stdout | ") || text.starts_with("stderr | ") {
            self.titles.clear();
        } else if let Some((indent, title)) = title(text) {
            self.titles.retain(|(other, _)| *other < indent);
            self.titles.push((indent, title.to_owned()));
        } else if let Some(columns) = columns(text) {
            let indent = text.len() - text.trim_start().len();
            self.table = Some(columns);
            self.is_of_test = self.titles.last().is_some_and(|(title, _)| title + 2 == indent);
        }
        let Some(table) = self.table else { return };
        match row(text, table) {
            Some(Row { name, time, has_dot: true }) => self.add(&self.group(), name, time),
            Some(Row { name, time, .. }) if self.is_of_test => {
                let group = self.group();
                let (file, blocks) = group.split_once(" > ").unwrap_or((&group, ""));
                // As of the JSON, which tells where the file is on that machine.
                let file = file.rsplit('/').next().unwrap_or_default();
                self.add(&format!("{file} > {blocks}"), name, time);
            }
            _ => self.is_of_test &= columns(text).is_some(),
        }
    }

    fn group(&self) -> String {
        self.titles.iter().map(|(_, title)| title.as_str()).collect::<Vec<_>>().join(" > ")
    }

    fn add(&mut self, group: &str, name: &str, time: f64) {
        self.metrics.time(&format!("{group} > {name}"), Some(time), "ms");
    }
}

/// Indentation and text of ` ✓ a.bench.ts > sort 554ms`; before version 3 with the number of benchmarks, `(2)`; since version 5
/// ` ✓  bench  a.bench.ts (3 tests | 1 failed) 554ms`, where the project may stand before the word.
fn title(text: &str) -> Option<(usize, &str)> {
    let rest = text.trim_start();
    let indent = text.len() - rest.len();
    let rest = rest.strip_prefix(['✓', '✔', '√', '×', '❯'])?.trim_start();
    let is_project = |badge: &str| badge == "bench" || badge.ends_with(" (bench)");
    let rest = rest.split_once("  ").filter(|(badge, _)| is_project(badge)).map_or(rest, |(_, rest)| rest);
    let (before, time) = rest.rsplit_once(' ').unwrap_or((rest, ""));
    let is_time = time.ends_with("ms") && time.bytes().next().is_some_and(|byte| byte.is_ascii_digit());
    let rest = if is_time { before } else { rest };
    let (before, count) = rest.rsplit_once(" (").unwrap_or((rest, ""));
    let is_count = |count: &str| is_number(count.split(" test").next().unwrap_or_default());
    let is_counted = count.strip_suffix(')').is_some_and(is_count);
    Some((indent, if is_counted { before } else { rest }.trim_end()))
}

/// A benchmark in a table.
struct Row<'a> {
    name: &'a str,
    /// ms
    time: f64,
    has_dot: bool,
}

/// `   · fast  4,952,856.76  0.0001  6.9123  0.0002  …  ±54.59%   148586   fastest`. With `--compare` `[0.26x] ⇓` stands there,
/// and below it the row of then, which ends in `(baseline)`.
fn row(text: &str, (columns, mean): (usize, usize)) -> Option<Row<'_>> {
    let rest = text.trim_start();
    let (rest, has_dot) = rest.strip_prefix('·').map_or((rest, false), |rest| (rest.trim_start(), true));
    if rest.ends_with("(baseline)") {
        return None;
    }
    let compared = rest.strip_suffix(['⇓', '⇑', '=']).and_then(|rest| rest.trim_end().strip_suffix("x]"));
    let rest = compared.and_then(|rest| rest.rsplit_once('[')).map_or(rest, |(rest, _)| rest.trim_end());
    let rest = ["fastest", "slowest"].iter().find_map(|end| rest.strip_suffix(end)).unwrap_or(rest).trim_end();
    let mut cells: Vec<&str> = rest.rsplitn(columns + 1, char::is_whitespace).collect();
    // Columns are aligned with blanks.
    if cells.iter().any(|cell| cell.is_empty()) {
        cells = rest.split_whitespace().rev().take(columns).collect();
    }
    let numbers: Vec<&str> = cells.iter().take(columns).rev().copied().collect();
    let number = |cell: &str| cell.replace(',', "").parse().ok().filter(|value: &f64| value.is_finite());
    let (hz, mean) = (*numbers.first()?, number(numbers.get(mean)?)?);
    let name = rest.get(..rest.rfind(&format!(" {hz} "))?)?.trim_end();
    // Of less the four digits behind the point tell too little, or nothing at all.
    let by_hz = || number(hz).filter(|hz| *hz > 0.0).map(|hz| 1e3 / hz);
    Some(Row { name, time: if mean < 0.1 { by_hz()? } else { mean }, has_dot })
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
        assert_eq!(value(&text, "a.bench.ts > sort > a  b"), Some(1e3 / 4_952_856.76));
        let older = format!(" ✓ a.bench.ts (2) 1234ms\n   ✓ sort (2) 1233ms\n{table}{end}");
        assert_eq!(value(&older, "a.bench.ts > sort > a  b"), Some(1e3 / 4_952_856.76));
        let none = table.replace("0.0002  0.0001", "0.0000  0.0001").replace("4,952,856.76", "0");
        assert_eq!(
            read(&format!(" ✓ a\n{none}{end}")).unwrap_err().reject(),
            Some(Reject::NoResult),
            "too short to tell"
        );
        let long = table.replace("0.0002  0.0001", "0.2345  0.0001");
        assert_eq!(value(&format!(" ✓ a\n{long}{end}"), "a > a  b"), Some(0.2345));
        assert_eq!(read(&format!(" ✓ a\n{table}")).unwrap_err().reject(), Some(Reject::Malformed));
        let then = table.replace("· a  b", "a  b").replace("fastest", "(baseline)");
        let compared = format!(" ✓ a\n{}{}{end}", table.replace("fastest", "[0.26x] ⇓"), then.lines().last().unwrap());
        let metrics = read(&compared).unwrap().figures.metrics;
        assert_eq!(metrics.keys().collect::<Vec<_>>(), ["bench.a > a  b.time"]);
        assert_eq!(value(&compared, "a > a  b"), Some(1e3 / 4_952_856.76));
    }
}
