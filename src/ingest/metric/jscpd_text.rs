//! `jscpd-text`: the table that jscpd prints, or its one line with `--silent`. Written after the output of versions 4 and 5.

use super::Metrics;
use super::jscpd_json::{Duplication, add};
use crate::error::{Error, Reject, Result};
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine};
use crate::ingest::values::whole;
use crate::ingest::{CUT_HELP, Format, Head, Parsed, Sniff};
use crate::model::figures::ReportKind;

/// Terminal output of jscpd.
pub const FORMAT: Format = Format {
    name: "jscpd-text",
    kind: ReportKind::Metric,
    about: "terminal output of jscpd: duplicated lines",
    written_by: "jscpd (reporters console, consoleFull, silent)",
    told_by: "a table with the columns \"Clones found\" and \"Duplicated lines\", or \"Duplications detection: Found …\"",
    has_end: true,
    counting: "duplication.percent (%), duplication.lines and duplication.clones, all lower: those of the row \
               \"Total:\". A table without \"Found N clones.\" below it is cut.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let has_any = head.lines_of_both_ends().any(begins);
    if has_any && !head.is_of_tests() { Sniff::Sure("a table of jscpd's columns".into()) } else { Sniff::No }
}

/// Whether the line is the heading of the table, or all that is told.
pub(in crate::ingest) fn begins(line: &str) -> bool {
    columns(line).is_some() || silent(line).is_some()
}

/// Where the clones and the duplicated lines stand in a row.
fn columns(line: &str) -> Option<(usize, usize)> {
    let cells = cells(line)?;
    let at = |name: &str| cells.iter().position(|cell| *cell == name);
    Some((at("Clones found")?, at("Duplicated lines")?))
}

fn cells(line: &str) -> Option<Vec<&str>> {
    Some(line.trim().strip_prefix('│')?.strip_suffix('│')?.split('│').map(str::trim).collect())
}

/// `│ Total: │ 2 │ 60 │ 2396 │ 1 │ 29 (48.33%) │ 1198 (50%) │`.
fn total(line: &str, (clones, lines): (usize, usize)) -> Option<Duplication> {
    let cells = cells(line).filter(|cells| cells.first() == Some(&"Total:"))?;
    told(cells.get(clones)?, cells.get(lines)?)
}

/// `Duplications detection: Found 1 exact clones with 29(48.33%) duplicated lines in 2 (1 formats) files.`
fn silent(line: &str) -> Option<Duplication> {
    let (clones, rest) =
        line.trim().strip_prefix("Duplications detection: Found ")?.split_once(" exact clones with ")?;
    told(clones, rest.split_once(" duplicated lines in ").filter(|(_, rest)| rest.ends_with(" files."))?.0)
}

/// Of `1` and `29 (48.33%)`.
fn told(clones: &str, lines: &str) -> Option<Duplication> {
    let (lines, percent) = lines.strip_suffix("%)")?.split_once('(')?;
    let percentage = percent.parse().ok().filter(|value: &f64| (0.0..=100.0).contains(value))?;
    Some(Duplication { clones: whole(clones)?, duplicated_lines: whole(lines.trim())?, percentage })
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
    let mut metrics = Metrics::default();
    let (mut table, mut waiting, mut last) = (None, None, 0);
    while let Some(line) = lines.next()? {
        last = line.number;
        if let Some(heading) = columns(&line.text) {
            table = Some(heading);
        } else if let Some(row) = table.and_then(|table| total(&line.text, table)) {
            (table, waiting) = (None, Some(row));
        } else if line.ended && line.text.starts_with("Found ") && line.text.trim_end().ends_with(" clones.") {
            waiting.take().into_iter().for_each(|row| add(&mut metrics, &row));
        } else if let Some(told) = silent(&line.text).filter(|_| line.ended) {
            add(&mut metrics, &told);
        }
    }
    if table.is_some() || waiting.is_some() {
        return Err(Error::report(Reject::Malformed, "report ends before jscpd's \"Found N clones.\"")
            .line(last)
            .help(CUT_HELP));
    }
    metrics.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_row_of_the_total_is_read() {
        let read = |text: &str| crate::ingest::parse(&Input::bytes("x", text.as_bytes()), Some(&FORMAT));
        let table = "│ Format     │ Files analyzed │ Clones found │ Duplicated lines │ Duplicated tokens │\n├──┤\n\
                     │ javascript │ 2              │ 3            │ 29 (48.33%)      │ 1198 (50%)        │\n\
                     │ Total:     │ 2              │ 1            │ 29 (48.33%)      │ 1198 (50%)        │\n└──┘\n";
        let silent =
            "Duplications detection: Found 1 exact clones with 29(48.33%) duplicated lines in 2 (1 formats) files.\n";
        for text in [format!("{table}Found 1 clones.\n"), silent.to_owned()] {
            let metrics = read(&text).unwrap().figures.metrics;
            let value = |name: &str| metrics[&format!("duplication.{name}")].value;
            assert_eq!([value("percent"), value("lines"), value("clones")], [Some(48.33), Some(29.0), Some(1.0)]);
        }
        let heading = table.split('\n').next().unwrap().to_owned() + "\n";
        for cut in [table, &heading, &format!("{table}Found 1 clones.")] {
            assert_eq!(read(cut).unwrap_err().reject(), Some(Reject::Malformed), "{cut}");
        }
        for none in ["", "Found 1 clones.\n", silent.trim_end(), &silent.replace("48.33", "148.33")] {
            assert!(read(none).unwrap_err().reject().is_some(), "{none}");
        }
    }
}
