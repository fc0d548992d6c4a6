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
    told_by: "rows \"dist/assets/index-DVoHNO1Y.js   143.36 kB │ gzip: 46.09 kB\", or without gzip below \"vite v8.3.8 \
              building …\"",
    has_end: true,
    counting: "bundle.size and bundle.gzip (bytes, lower): all files, to the precision of the table, since their names \
               change with their content. Rows without gzip count where none has it: what is built for a server. A \
               build that does not say \"built in\" after them is cut.",
    sniff,
    parse,
};

/// Most files that are told apart.
const MOST_FILES: usize = 100_000;

fn sniff(head: &Head<'_>) -> Sniff {
    let mut rows = Rows::default();
    match head.lines().any(|line| rows.next(line).is_some()) && !head.is_of_tests() && !has_failed(head) {
        true => Sniff::Sure("sizes as vite build prints them".into()),
        false => Sniff::No,
    }
}

/// Whether the line tells the size of a file, or that a build begins.
pub(in crate::ingest) fn begins(line: &str) -> bool {
    announces(line) || row(line).is_some_and(|row| row.gzip.is_some())
}

/// `vite v8.3.8 building ssr environment for production...`
fn announces(line: &str) -> bool {
    line.strip_prefix("vite v")
        .is_some_and(|rest| rest.split_once(' ').is_some_and(|(_, rest)| rest.starts_with("building ")))
}

/// A file, and its bytes.
#[derive(Debug, PartialEq)]
struct Row<'a> {
    path: &'a str,
    size: f64,
    gzip: Option<f64>,
}

/// The rows of builds: one without gzip is one only where a build began.
#[derive(Default)]
struct Rows {
    is_announced: bool,
}

impl Rows {
    fn next<'a>(&mut self, line: &'a str) -> Option<Row<'a>> {
        self.is_announced |= announces(line);
        row(line).filter(|row| row.gzip.is_some() || self.is_announced)
    }
}

/// `dist/a.js   143.36 kB │ gzip: 46.09 kB │ map: 331 kB`, before version 4 `dist/a.js   140.25 KiB / gzip: 45.20 KiB`, and
/// without what is not told.
fn row(line: &str) -> Option<Row<'_>> {
    let mut words = line.split('│').next()?.split(" / ").next()?.trim().rsplitn(3, ' ');
    let (unit, number, path) = (words.next()?, words.next()?, words.next()?.trim());
    let gzip = match line.split_once(" gzip: ") {
        Some((_, after)) => Some(bytes(after.split(['│', '/']).next()?)?),
        None => None,
    };
    let size = bytes(&format!("{number} {unit}"))?;
    (gzip.is_some() || path.contains('.') && !path.contains("  ")).then_some(Row { path, size, gzip })
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
    let mut files: BTreeMap<String, (f64, Option<f64>)> = BTreeMap::new();
    let (mut rows, mut is_whole, mut last) = (Rows::default(), false, 0);
    while let Some(line) = lines.next()? {
        last = line.number;
        is_whole |= line.text.contains("built in ") && line.ended;
        if let Some(Row { path, size, gzip }) = rows.next(&line.text).filter(|_| files.len() < MOST_FILES) {
            is_whole = false;
            files.insert(path.to_owned(), (size, gzip));
        }
    }
    if !is_whole && !files.is_empty() {
        return Err(Error::report(Reject::Malformed, "report ends before the build did").line(last).help(CUT_HELP));
    }
    if files.values().any(|(_, gzip)| gzip.is_some()) {
        files.retain(|_, (_, gzip)| gzip.is_some());
    }
    let mut metrics = Metrics::default();
    let size = files.values().map(|(size, _)| *size).reduce(|a, b| a + b);
    let gzip = files.values().filter_map(|(_, gzip)| *gzip).reduce(|a, b| a + b);
    for (name, sum) in [("bundle.size", size), ("bundle.gzip", gzip)] {
        if sum.is_some() {
            metrics.add(name, sum, Some("bytes"), Some(Direction::Lower));
        }
    }
    metrics.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Parsed> {
        crate::ingest::parse(&Input::bytes("x", text.as_bytes()), Some(&FORMAT))
    }

    fn sizes(text: &str) -> Vec<(&'static str, f64)> {
        let parsed = read(text).unwrap();
        let of = |name| Some((name, parsed.figures.metrics.get(name)?.value?));
        ["bundle.gzip", "bundle.size"].into_iter().filter_map(of).collect()
    }

    #[test]
    fn all_files_of_a_whole_build_add_up() {
        let rows = "dist/index.html                   0.5 kB │ gzip:  0.25 kB\ndist/assets/index-D.js   143.5 kB │ gzip: 46.25 kB │ map: 331.5 kB\n";
        let end = "✓ built in 1.01s\n";
        let expected = [("bundle.gzip", 46_500.0), ("bundle.size", 144_000.0)];
        assert_eq!(sizes(&format!("{rows}{end}{rows}{end}")), expected);
        assert_eq!(read(rows).unwrap_err().reject(), Some(Reject::Malformed));
        assert_eq!(read(end).unwrap_err().reject(), Some(Reject::NoResult));
        let told = |line| row(line).map(|row| (row.path, row.size, row.gzip));
        assert_eq!(told("dist/a.js   2.00 KiB / gzip: 1.00 KiB"), Some(("dist/a.js", 2048.0, Some(1024.0))));
        assert_eq!(told("dist/a b.js 2 kB │ gzip: 1 kB"), Some(("dist/a b.js", 2000.0, Some(1000.0))));
        assert_eq!(told("dist/a.js  2 kB │ map: 5 kB"), Some(("dist/a.js", 2000.0, None)));
        assert_eq!(told("total 3 │ gzip: many"), None);
    }

    /// `vite build --ssr`, `build.reportCompressedSize: false`.
    #[test]
    fn sizes_without_gzip_count_below_the_build_that_tells_them() {
        let begin = "vite v8.3.8 building ssr environment for production...\n✓ 2 modules transformed.\n";
        let (rows, end) = ("dist/j.mjs     0.5 kB\ndist/k.mjs  1.5 kB │ map: 9 kB\n", "\n✓ built in 49ms\n");
        assert_eq!(sizes(&format!("{begin}{rows}{end}")), [("bundle.size", 2_000.0)]);
        let client = "dist/a.js  3 kB │ gzip: 1 kB\n";
        let both = format!("{client}{end}{begin}{rows}{end}");
        assert_eq!(sizes(&both), [("bundle.gzip", 1_000.0), ("bundle.size", 3_000.0)], "what browsers are sent");
        assert_eq!(read(&format!("{rows}{end}")).unwrap_err().reject(), Some(Reject::NoResult));
        assert_eq!(read(&format!("{begin}{rows}")).unwrap_err().reject(), Some(Reject::Malformed));
        assert_eq!(read(&format!("{begin}{end}")).unwrap_err().reject(), Some(Reject::NoResult));
    }
}
