//! `jscpd-json`: what jscpd's reporter `json` writes: what is duplicated, and how much of all.

use std::marker::PhantomData;

use serde::Deserialize;

use super::Metrics;
use crate::error::{Error, Reject, Result};
use crate::ingest::input::Input;
use crate::ingest::{Format, Head, Parsed, Sniff, json};
use crate::model::figures::ReportKind;
use crate::model::metrics::Direction;
use crate::model::units::Quantity;

/// JSON of jscpd.
pub const FORMAT: Format = Format {
    name: "jscpd-json",
    kind: ReportKind::Metric,
    about: "jscpd JSON: duplicated lines",
    written_by: "jscpd --reporters json (jscpd-report.json)",
    told_by: "a JSON object with duplicates that have firstFile and secondFile, or statistics with detectionDate",
    has_end: true,
    counting: "duplication.percent (%), duplication.lines and duplication.clones, all lower: those of statistics.total.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let has_clone = head.has_key("duplicates.firstFile") && head.has_key("duplicates.secondFile");
    // Of many files the duplicates, which come below, are not reached.
    let has_date = head.has_key("statistics.detectionDate");
    if has_clone || has_date { Sniff::Sure("duplicates, or their statistics".into()) } else { Sniff::No }
}

#[derive(Deserialize)]
struct Report {
    statistics: Option<Statistics>,
}

#[derive(Deserialize)]
struct Statistics {
    total: Duplication,
}

/// What is duplicated in all.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Duplication {
    pub clones: u64,
    pub duplicated_lines: u64,
    /// Of all lines.
    pub percentage: f64,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let report: Report = json::object(input, PhantomData)?;
    let Some(Statistics { total }) = report.statistics else {
        return Err(Error::report(Reject::NotThisFormat, "not a report of jscpd: it has no statistics"));
    };
    let mut metrics = Metrics::default();
    add(&mut metrics, &total);
    metrics.finish(&FORMAT)
}

/// The metrics of it.
pub(super) fn add(metrics: &mut Metrics, total: &Duplication) {
    let real = |count: u64| Some(Quantity::from(count).as_f64());
    metrics.add("duplication.percent", Some(total.percentage), Some("%"), Some(Direction::Lower));
    metrics.add("duplication.lines", real(total.duplicated_lines), Some("lines"), Some(Direction::Lower));
    metrics.add("duplication.clones", real(total.clones), Some("clones"), Some(Direction::Lower));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_counts() {
        let text = r#"{"duplicates":[{"format":"javascript","lines":11,"fragment":"x","tokens":0,"firstFile":{"name":"a.js"},"secondFile":{"name":"b.js"}}],
            "statistics":{"detectionDate":"x","formats":{"javascript":{"total":{"clones":9}}},
            "total":{"lines":44,"tokens":300,"sources":2,"clones":1,"duplicatedLines":11,"duplicatedTokens":90,"percentage":25,"newClones":0}}}"#;
        let metrics = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap().figures.metrics;
        let value = |name: &str| metrics[&format!("duplication.{name}")].value;
        assert_eq!((value("percent"), value("lines"), value("clones")), (Some(25.0), Some(11.0), Some(1.0)));
        let other = parse(&Input::bytes("x", b"{\"duplicates\":[]}")).unwrap_err();
        assert_eq!(other.reject(), Some(Reject::NotThisFormat));
    }
}
