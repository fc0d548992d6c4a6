//! `hyperfine-csv`: what `hyperfine --export-csv` writes.

use super::Metrics;
use crate::error::{Error, Reject, Result};
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine, fields};
use crate::ingest::{CUT_HELP, Format, Head, Parsed, Sniff};
use crate::model::figures::ReportKind;

/// CSV of hyperfine.
pub const FORMAT: Format = Format {
    name: "hyperfine-csv",
    kind: ReportKind::Metric,
    about: "hyperfine CSV: times of commands",
    written_by: "hyperfine --export-csv FILE",
    told_by: "a heading command,mean,stddev,median,user,system,min,max",
    has_end: false,
    counting: "bench.NAME.time (s, lower), NAME as the command: the median of its runs. Whether a run failed is not told.",
    sniff,
    parse,
};

/// How the heading begins; parameters follow.
const HEADING: &str = "command,mean,stddev,median,user,system,min,max";

fn is_heading(line: &str) -> bool {
    line.strip_prefix(HEADING).is_some_and(|rest| rest.is_empty() || rest.starts_with(','))
}

fn sniff(head: &Head<'_>) -> Sniff {
    let first = head.first_line().unwrap_or_default();
    if is_heading(first.trim()) { Sniff::Sure("the heading of hyperfine's CSV".into()) } else { Sniff::No }
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut lines = Lines::new(input, LongLine::Refuse, Invalid::Escaped)?;
    let (mut metrics, mut columns) = (Metrics::default(), None);
    while let Some(line) = lines.next()? {
        let text = line.text.trim();
        if text.is_empty() {
            continue;
        }
        let Some(columns) = columns else {
            if !is_heading(text) {
                return Err(Error::report(Reject::NotThisFormat, "not CSV of hyperfine").line(line.number));
            }
            columns = Some(text.split(',').count());
            continue;
        };
        let row = fields(text, ',').filter(|row| row.len() == columns && line.ended).unwrap_or_default();
        let [command, _, _, median, ..] = row.as_slice() else {
            return Err(Error::report(Reject::Malformed, "not a row of hyperfine's").line(line.number).help(CUT_HELP));
        };
        metrics.time(command, median.parse().ok().filter(|median: &f64| median.is_finite()), "s");
    }
    metrics.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_are_read_and_cut_rows_are_not() {
        let text = "command,mean,stddev,median,user,system,min,max,parameter_n\n\"sleep 1, 2\",1.5,0.1,1.25,0,0,1,2,3\ntrue,0.1,,0.5,0,0,0.1,0.1,4\n";
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        let value = |name: &str| parsed.figures.metrics[name].value;
        assert_eq!((value("bench.sleep 1, 2.time"), value("bench.true.time")), (Some(1.25), Some(0.5)));
        for cut in [text.len() - 1, text.len() - 6] {
            let error = parse(&Input::bytes("x", &text.as_bytes()[..cut])).unwrap_err();
            assert_eq!(error.reject(), Some(Reject::Malformed));
        }
    }
}
