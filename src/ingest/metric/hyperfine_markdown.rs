//! `hyperfine-markdown`: the table that `hyperfine --export-markdown` writes.

use super::{Metrics, seconds};
use crate::error::{Error, Reject, Result};
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine};
use crate::ingest::{CUT_HELP, Format, Head, Parsed, Sniff};
use crate::model::figures::ReportKind;

/// Markdown of hyperfine.
pub const FORMAT: Format = Format {
    name: "hyperfine-markdown",
    kind: ReportKind::Metric,
    about: "hyperfine's table in Markdown: times of commands",
    written_by: "hyperfine --export-markdown FILE",
    told_by: "a heading | Command | Mean [ms] | Min [ms] | Max [ms] | Relative |",
    has_end: false,
    counting: "bench.NAME.time (s, lower), NAME as the command: the mean, since the median is not told. Whether a run \
               failed is not told.",
    sniff,
    parse,
};

/// The unit in the heading; parameters may stand behind the command.
fn unit(line: &str) -> Option<(&str, usize)> {
    let cells = line.trim().strip_prefix("| Command |")?;
    let (before, rest) = cells.split_once(" Mean [")?;
    let (unit, rest) = rest.split_once("] |")?;
    seconds(0.0, unit).filter(|_| rest.ends_with(" Relative |"))?;
    Some((unit, before.matches('|').count()))
}

fn sniff(head: &Head<'_>) -> Sniff {
    match head.lines().any(|line| unit(line).is_some()) {
        true => Sniff::Sure("the heading of hyperfine's table".into()),
        false => Sniff::No,
    }
}

/// Command and mean of ``| `sleep 0.01` | 14.1 ± 2.3 | 12.4 | 16.7 | 1.00 |``. A bar in a command is escaped.
fn row(line: &str, parameters: usize) -> Option<(String, f64)> {
    let cells = line.strip_prefix("| `")?.strip_suffix(" |")?;
    let (command, cells) = cells.split_once("` | ")?;
    let mut cells = cells.split(" | ").skip(parameters);
    let mean = cells.next()?.split(' ').next()?.parse().ok()?;
    (cells.count() == 3).then(|| (command.replace("\\|", "|"), mean))
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
    let (mut metrics, mut open) = (Metrics::default(), None);
    while let Some(line) = lines.next()? {
        let text = line.text.trim_end();
        if let Some((unit, parameters)) = unit(text) {
            open = Some((unit.to_owned(), parameters));
            continue;
        }
        let Some((unit, parameters)) = &open else { continue };
        if text.is_empty() {
            open = None;
        } else if !text.starts_with("|:") {
            let told = row(text, *parameters).filter(|_| line.ended);
            let Some((command, mean)) = told else {
                let why = "not a row of hyperfine's table";
                return Err(Error::report(Reject::Malformed, why).line(line.number).help(CUT_HELP));
            };
            metrics.time(&command, seconds(mean, unit), "s");
        }
    }
    metrics.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_read_in_the_unit_of_the_heading() {
        let read = |text: &str| crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None);
        let text = "| Command | Mean [ms] | Min [ms] | Max [ms] | Relative |\n|:---|---:|---:|---:|---:|\n\
            | `a \\| b` | 12.5 ± 2.3 | 12.4 | 16.7 | 1.00 |\n| `c` | 25 | 19.1 | 26.4 | 1.66 ± 0.38 |\n";
        let metrics = read(text).unwrap().figures.metrics;
        assert_eq!((metrics["bench.a | b.time"].value, metrics["bench.c.time"].value), (Some(0.0125), Some(0.025)));
        let scan = text.replace("| Mean", "| n | Mean").replace("` | ", "` | 7 | ");
        assert_eq!(read(&scan).unwrap().figures.metrics["bench.c.time"].value, Some(0.025));
        assert_eq!(read(text.get(..text.len() - 4).unwrap()).unwrap_err().reject(), Some(Reject::Malformed));
    }
}
