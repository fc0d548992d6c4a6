//! `vite-build-text`: the sizes that `vite build` prints.

use std::collections::BTreeMap;

use super::Metrics;
use crate::error::{Error, Reject, Result};
use crate::ingest::input::{Input, Invalid};
use crate::ingest::lint::bundler_text::has_failed;
use crate::ingest::text::{Lines, LongLine};
use crate::ingest::{CUT_HELP, Format, Head, Parsed, Sniff};
use crate::model::figures::ReportKind;
use crate::model::metrics::Direction;

/// Terminal output of vite build.
pub const FORMAT: Format = Format {
    name: "vite-build-text",
    kind: ReportKind::Metric,
    about: "terminal output of vite build: sizes of what was built",
    written_by: "vite build",
    told_by: "rows \"dist/assets/index-DVoHNO1Y.js   143.36 kB │ gzip: 46.09 kB\"",
    has_end: true,
    counting: "bundle.size and bundle.gzip (bytes, lower): all files, to the precision of the table, since their names change with their \
               content. A build that does not say \"built in\" after them is cut.",
    sniff,
    parse,
};

/// Most files that are told apart.
const MOST_FILES: usize = 100_000;

fn sniff(head: &Head<'_>) -> Sniff {
    match head.lines().any(begins) && !head.is_of_tests() && !has_failed(head) {
        true => Sniff::Sure("sizes as vite build prints them".into()),
        false => Sniff::No,
    }
}

/// Whether the line tells the size of a file.
pub(in crate::ingest) fn begins(line: &str) -> bool {
    line.contains(" gzip: ") && row(line).is_some()
}

/// A file, its size and that of its gzip: `dist/a.js   143.36 kB │ gzip: 46.09 kB │ map: 331 kB`; before version 4
/// `dist/a.js   140.25 KiB / gzip: 45.20 KiB`.
fn row(line: &str) -> Option<(&str, f64, f64)> {
    let (before, after) = line.split_once(" gzip: ")?;
    let mut words = before.trim_end().strip_suffix(['│', '/'])?.trim().rsplitn(3, ' ');
    let (unit, number, path) = (words.next()?, words.next()?, words.next()?);
    let size = format!("{number} {unit}");
    let gzip = after.split(['│', '/']).next()?;
    Some((path.trim(), bytes(&size)?, bytes(gzip)?))
}

/// `143.36 kB`.
fn bytes(text: &str) -> Option<f64> {
    let (number, unit) = text.trim().split_once(' ')?;
    let factor = match unit.trim() {
        "B" => 1.0,
        "kB" | "KB" => 1_000.0,
        "KiB" => 1_024.0,
        "MB" => 1_000_000.0,
        _ => return None,
    };
    let number: f64 = number.replace(',', "").parse().ok()?;
    (number.is_finite() && number >= 0.0).then_some(number * factor)
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
    let mut files: BTreeMap<String, (f64, f64)> = BTreeMap::new();
    let (mut is_whole, mut last) = (false, 0);
    while let Some(line) = lines.next()? {
        last = line.number;
        is_whole |= line.text.contains("built in ") && line.ended;
        if let Some((path, size, gzip)) = row(&line.text).filter(|_| files.len() < MOST_FILES) {
            is_whole = false;
            files.insert(path.to_owned(), (size, gzip));
        }
    }
    if !is_whole && !files.is_empty() {
        return Err(Error::report(Reject::Malformed, "report ends before the build did").line(last).help(CUT_HELP));
    }
    let mut metrics = Metrics::default();
    if !files.is_empty() {
        let sum = |of: fn(&(f64, f64)) -> f64| Some(files.values().map(of).sum());
        metrics.add("bundle.size", sum(|sizes| sizes.0), Some("bytes"), Some(Direction::Lower));
        metrics.add("bundle.gzip", sum(|sizes| sizes.1), Some("bytes"), Some(Direction::Lower));
    }
    metrics.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<(Option<f64>, Option<f64>)> {
        let metrics = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), Some(&FORMAT))?.figures.metrics;
        Ok((metrics["bundle.size"].value, metrics["bundle.gzip"].value))
    }

    #[test]
    fn all_files_of_a_whole_build_add_up() {
        let rows = "dist/index.html                   0.5 kB │ gzip:  0.25 kB\ndist/assets/index-D.js   143.5 kB │ gzip: 46.25 kB │ map: 331.5 kB\n";
        let end = "✓ built in 1.01s\n";
        assert_eq!(read(&format!("{rows}{end}{rows}{end}")).unwrap(), (Some(144_000.0), Some(46_500.0)));
        assert_eq!(read(rows).unwrap_err().reject(), Some(Reject::Malformed));
        assert_eq!(read(end).unwrap_err().reject(), Some(Reject::NoResult));
        assert_eq!(row("dist/a.js   2.00 KiB / gzip: 1.00 KiB"), Some(("dist/a.js", 2048.0, 1024.0)));
        assert_eq!(row("dist/a b.js 2 kB │ gzip: 1 kB"), Some(("dist/a b.js", 2000.0, 1000.0)));
        assert_eq!(row("total 3 │ gzip: many"), None);
    }
}
