//! `size-limit-text`: the sizes that `size-limit` prints.

use super::{LONGEST_NAME, Metrics};
use crate::error::{Error, Reject, Result};
use crate::ingest::input::{Input, Invalid};
use crate::ingest::metric::bundle_text::bytes;
use crate::ingest::text::{Lines, LongLine, printable};
use crate::ingest::{CUT_HELP, Format, Head, Parsed, Sniff};
use crate::model::figures::ReportKind;
use crate::model::metrics::Direction;

/// Terminal output of size-limit.
pub const FORMAT: Format = Format {
    name: "size-limit-text",
    kind: ReportKind::Metric,
    about: "terminal output of size-limit: sizes of JavaScript bundles",
    written_by: "size-limit",
    told_by: "the lines \"Size limit: 10 kB\" and \"Size: 1.22 kB with all dependencies, …\"",
    has_end: false,
    counting: "bundle.NAME.size (bytes, lower), to the precision of the text; bundle.size where it names none. Times, \
               and whether the limit is kept, are not used. Where a file was not found, there is no result.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    match head.lines().any(begins) && head.lines().any(|line| size(line).is_some()) && !head.is_of_tests() {
        true => Sniff::Sure("sizes as size-limit prints them".into()),
        false => Sniff::No,
    }
}

/// Whether the line tells the limit of a bundle, or a size in words that are size-limit's.
pub(in crate::ingest) fn begins(line: &str) -> bool {
    let is_limit = line.strip_prefix("  Size limit:").is_some_and(|limit| bytes(limit, 1000.0).is_some());
    is_limit || size(line).is_some_and(|(_, of)| !of.is_empty())
}

/// Bytes, and of what: `  Size:       1.22 kB with all dependencies, minified and brotlied`.
fn size(line: &str) -> Option<(f64, &str)> {
    let rest = line.strip_prefix("  Size:")?.trim();
    let (number, rest) = rest.split_once(' ')?;
    let (unit, of) = rest.split_once(' ').unwrap_or((rest, ""));
    let is_ours =
        of.is_empty() || of.starts_with("with all dependencies") || of.ends_with("brotlied") || of.ends_with("gzipped");
    Some((bytes(&format!("{number} {unit}"), 1000.0).filter(|_| is_ours)?, of))
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
    let mut metrics = Metrics::default();
    let mut name: Option<String> = None;
    while let Some(line) = lines.next()? {
        let text = line.text.trim();
        if text.starts_with("Size Limit can") {
            return Err(Error::report(Reject::NoResult, "size-limit has not found a file"));
        }
        if !line.ended {
            let cut = Error::report(Reject::Malformed, "report ends inside a line of size-limit's");
            return Err(cut.line(line.number).help(CUT_HELP));
        }
        if text.is_empty() {
            name = None;
        } else if let Some((bytes, _)) = size(&line.text) {
            let name = name.take().map_or("bundle.size".to_owned(), |name| format!("bundle.{name}.size"));
            metrics.add(&name, Some(bytes), Some("bytes"), Some(Direction::Lower));
        } else if name.is_none() && line.text.starts_with("  ") && !says_something_else(text) {
            name = Some(printable(text, LONGEST_NAME));
        }
    }
    metrics.finish(&FORMAT)
}

/// What stands where there may be a name, and is none.
fn says_something_else(text: &str) -> bool {
    ["Size limit:", "Loading time:", "Running time:", "Total time:", "Package size"]
        .iter()
        .any(|words| text.starts_with(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bundle_is_named_where_there_are_several() {
        let read = |text: &str| {
            let metrics = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), Some(&FORMAT))?.figures.metrics;
            Ok::<_, Error>(metrics.into_iter().map(|(name, figure)| (name, figure.value.unwrap())).collect::<Vec<_>>())
        };
        let one = "  \n  Size limit: 10 kB\n  Size:       1.5 kB with all dependencies, minified and brotlied\n  \n";
        assert_eq!(read(one).unwrap(), [("bundle.size".to_owned(), 1500.0)]);
        let two = "  dist/main.js\n  Size limit: 10 kB\n  Size:       1.5 kB brotlied\n  Loading time: 25 ms on slow 3G\n  \n  lazy\n  \
                   Package size limit has exceeded by 1.24 kB\n  Size limit: 100 B\n  Size: 20 B\n";
        assert_eq!(
            read(two).unwrap(),
            [("bundle.dist/main.js.size".to_owned(), 1500.0), ("bundle.lazy.size".to_owned(), 20.0)]
        );
        assert!(begins("  Size limit: 10 kB") && begins("  Size: 20 B gzipped") && !begins("  Size: 20 B"));
        assert!(!begins("Size limit: 10 kB") && !begins("  Size: many") && !begins("  Size: 20 B of 30"));
        let gone = "  a\n  Size Limit can’t find files at a.js\n";
        for none in [gone, "  Size: 2\n"] {
            assert_eq!(read(none).unwrap_err().reject(), Some(Reject::NoResult), "{none}");
        }
        assert_eq!(read(two.trim_end()).unwrap_err().reject(), Some(Reject::Malformed), "cut");
    }
}
