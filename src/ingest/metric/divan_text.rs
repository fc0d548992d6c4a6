//! `divan-text`: the tree that divan prints of its benchmarks.

use super::Metrics;
use crate::error::{Error, Reject, Result};
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine};
use crate::ingest::{CUT_HELP, Format, Head, Parsed, Sniff};
use crate::model::figures::ReportKind;

/// Terminal output of divan.
pub const FORMAT: Format = Format {
    name: "divan-text",
    kind: ReportKind::Metric,
    about: "terminal output of divan benchmarks",
    written_by: "cargo bench with divan",
    told_by: "a tree with the columns fastest, slowest, median and mean",
    has_end: false,
    counting: "bench.PROGRAM.GROUP.NAME.time (ns, lower): the median. Counters and allocations are not used.",
    sniff,
    parse,
};

/// Groups inside each other.
const DEEPEST: usize = 64;

fn sniff(head: &Head<'_>) -> Sniff {
    if head.lines().any(begins) && !head.is_of_tests() { Sniff::Sure("divan's columns".into()) } else { Sniff::No }
}

/// Whether a table begins with the line.
pub(in crate::ingest) fn begins(line: &str) -> bool {
    heading(line).is_some()
}

/// The name of the program.
fn heading(line: &str) -> Option<&str> {
    let (before, rest) = line.split_once('│')?;
    let program = before.trim_end().strip_suffix(" fastest")?.trim();
    (rest.trim_start().starts_with("slowest") && rest.contains("│ median") && !program.is_empty()).then_some(program)
}

/// How deep a row stands, its name, and its median in nanoseconds if it is a benchmark.
fn row(line: &str) -> Option<(usize, &str, Option<f64>)> {
    let mut cells = line.rsplitn(6, '│');
    let (_, _, _, median, _) = (cells.next()?, cells.next()?, cells.next()?, cells.next()?, cells.next()?);
    let first = cells.next()?;
    let at = first.find(['├', '╰'])?;
    let depth = first.get(..at)?.chars().count() / 3;
    let named = first.get(at..)?.trim_start_matches(['├', '╰', '─']).trim();
    if median.trim().is_empty() {
        return Some((depth, named, None));
    }
    let mut words = median.split_whitespace();
    let value: f64 = words.next()?.parse().ok()?;
    let factor = match words.next()? {
        "ps" => 1e-3,
        "ns" => 1.0,
        "µs" | "μs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => return None,
    };
    // The fastest time stands behind the name.
    let name = named.rsplit_once(' ')?.0.trim_end().rsplit_once(' ')?.0.trim_end();
    value.is_finite().then_some((depth, name, Some(value * factor)))
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
    let (mut metrics, mut path): (Metrics, Vec<String>) = (Metrics::default(), Vec::new());
    let (mut last, mut goes_on) = (0, false);
    while let Some(line) = lines.next()? {
        last = line.number;
        if let Some(program) = heading(&line.text) {
            path = vec![program.to_owned()];
            continue;
        }
        let found = row(&line.text).filter(|(depth, ..)| *depth < DEEPEST && *depth < path.len());
        let Some((depth, name, median)) = found else {
            if !line.ended && !path.is_empty() {
                let cut = Error::report(Reject::Malformed, "report ends inside a line of divan's");
                return Err(cut.line(line.number).help(CUT_HELP));
            }
            continue;
        };
        goes_on = is_followed(&line.text, median.is_none());
        path.truncate(depth + 1);
        path.push(name.to_owned());
        if median.is_some() {
            metrics.time(&path.join("."), median, "ns");
        }
    }
    if goes_on {
        let cut = Error::report(Reject::Malformed, "report ends before the last row of divan's tree");
        return Err(cut.line(last).help(CUT_HELP));
    }
    metrics.finish(&FORMAT)
}

/// Whether another row has to follow a row of the tree: one beside it or beside what it is in, or one in it if it is a group.
fn is_followed(row: &str, has_no_time: bool) -> bool {
    let (tree, rest) = row.split_at(row.find('─').unwrap_or_default());
    !tree.ends_with('╰') || tree.contains('│') || (has_no_time && !rest.contains("(ignored)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "Timer precision: 20 ns\ndiv        fastest       │ slowest       │ median        │ mean          │ samples │ iters\n\
        ├─ many                  │               │               │               │         │\n\
        │  ├─ 10   2.102 ns      │ 2.199 ns      │ 2.121 ns      │ 2.127 ns      │ 100     │ 102400\n\
        │  ╰─ 100  14.49 µs      │ 14.69 µs      │ 14.5 µs       │ 14.55 µs      │ 100     │ 25600\n\
        ╰─ one     2.013 ns      │ 2.062 ns      │ 2.024 ns      │ 2.028 ns      │ 100     │ 102400\n";

    fn read(text: &str) -> Result<Parsed> {
        crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None)
    }

    #[test]
    fn groups_name_their_benchmarks() {
        let metrics = read(TEXT).unwrap().figures.metrics;
        let value = |name: &str| metrics[&format!("bench.div.{name}.time")].value;
        assert_eq!((value("many.10"), value("many.100"), value("one")), (Some(2.121), Some(14_500.0), Some(2.024)));
        assert_eq!(metrics.len(), 3);
    }

    #[test]
    fn a_cut_inside_a_line_shows() {
        let begin = TEXT.find("╰─ one").unwrap();
        for length in
            begin + 1..begin + "╰─ one     2.013 ns      │ 2.062 ns      │ 2.024 ns      │ 2.028 ns      │ 100".len()
        {
            let Some(cut) = TEXT.get(..length) else { continue };
            assert_eq!(read(cut).unwrap_err().reject(), Some(Reject::Malformed), "{cut}");
        }
        assert_eq!(parse(&Input::bytes("x", b"x\n")).unwrap_err().reject(), Some(Reject::NoResult));
    }
}
