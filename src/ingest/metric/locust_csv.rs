//! `locust-csv`: the statistics that `locust --csv` writes of a load test.

use super::Metrics;
use crate::error::{Error, Reject, Result};
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine, fields};
use crate::ingest::{CUT_HELP, Format, Parsed, Sniff};
use crate::model::figures::ReportKind;
use crate::model::metrics::Direction;

/// CSV of Locust.
pub const FORMAT: Format = Format {
    name: "locust-csv",
    kind: ReportKind::Metric,
    about: "Locust CSV: response times and rate of a load test",
    written_by: "locust --csv PREFIX (PREFIX_stats.csv)",
    told_by: "a heading Type,Name,Request Count,Failure Count,Median Response Time,…",
    has_end: true,
    counting: "Of the row Aggregated: locust.response_time.p50 and .p95 (ms, lower), locust.requests.rate (1/s, \
               higher), and locust.failures (%, lower) of the requests.",
    sniff: |head| {
        let first = head.first_line().unwrap_or_default();
        if is_heading(first) { Sniff::Sure("the heading of Locust's statistics".into()) } else { Sniff::No }
    },
    parse,
};

fn is_heading(line: &str) -> bool {
    line.starts_with("Type,Name,Request Count,Failure Count,Median Response Time,")
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut lines = Lines::new(input, LongLine::Refuse, Invalid::Escaped)?;
    let (mut columns, mut all, mut last) = (Vec::new(), None, 0);
    while let Some(line) = lines.next()? {
        last = line.number;
        let text = line.text.trim();
        if text.is_empty() {
            continue;
        }
        if columns.is_empty() {
            if !is_heading(text) {
                let why = "not statistics of Locust: it does not begin with their heading";
                return Err(Error::report(Reject::NotThisFormat, why).line(last));
            }
            columns = text.split(',').map(str::to_owned).collect();
            continue;
        }
        let row = fields(text, ',').filter(|row| row.len() == columns.len() && all.is_none());
        let Some(row) = row else {
            return Err(Error::report(Reject::Malformed, "not a row of Locust's statistics").line(last).help(CUT_HELP));
        };
        if row.get(1).is_some_and(|name| name == "Aggregated") {
            all = Some(row);
        }
    }
    let Some(row) = all else {
        return Err(Error::report(Reject::Malformed, "report ends before the row Aggregated")
            .line(last)
            .help(CUT_HELP));
    };
    let value = |name: &str| -> Option<f64> {
        let at = columns.iter().position(|column| column == name)?;
        row.get(at)?.parse().ok().filter(|value: &f64| value.is_finite())
    };
    let mut metrics = Metrics::default();
    for (name, column) in [("p50", "50%"), ("p95", "95%")] {
        metrics.add(&format!("locust.response_time.{name}"), value(column), Some("ms"), Some(Direction::Lower));
    }
    metrics.add("locust.requests.rate", value("Requests/s"), Some("1/s"), Some(Direction::Higher));
    let share = value("Failure Count").zip(value("Request Count").filter(|count| *count > 0.0));
    let share = share.map(|(failures, requests)| 100.0 * failures / requests);
    metrics.add("locust.failures", share, Some("%"), Some(Direction::Lower));
    metrics.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "Type,Name,Request Count,Failure Count,Median Response Time,Requests/s,Failures/s,50%,95%,100%\nGET,\"/a,b\",10,0,5,2.5,0.0,5,9,10\n\
        ,Aggregated,20,5,5,2.5,0.5,5,12,24\n";

    fn read(text: &str) -> Result<Parsed> {
        crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None)
    }

    #[test]
    fn the_aggregated_row_counts() {
        let metrics = read(TEXT).unwrap().figures.metrics;
        let value = |name: &str| metrics[&format!("locust.{name}")].value;
        assert_eq!(
            (value("response_time.p95"), value("requests.rate"), value("failures")),
            (Some(12.0), Some(2.5), Some(25.0))
        );
        let none = read("Type,Name,Request Count,Failure Count,Median Response Time,50%\n,Aggregated,0,0,N/A,N/A\n")
            .unwrap()
            .figures
            .metrics;
        assert_eq!((none["locust.failures"].value, none["locust.response_time.p50"].value), (None, None));
    }

    #[test]
    fn statistics_without_their_last_row_are_cut() {
        for bad in [
            TEXT.get(..TEXT.find(",Agg").unwrap()).unwrap(),
            TEXT.get(..TEXT.len() - 5).unwrap(),
            &format!("{TEXT}{TEXT}"),
        ] {
            assert_eq!(read(bad).unwrap_err().reject(), Some(Reject::Malformed), "{bad}");
        }
        assert_eq!(parse(&Input::bytes("x", b"a,b\n")).unwrap_err().reject(), Some(Reject::NotThisFormat));
    }
}
