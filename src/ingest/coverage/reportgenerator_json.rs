//! `reportgenerator-json`: ReportGenerator's report type `JsonSummary`, `Summary.json`. Written after its source,
//! `JsonSummaryReportBuilder`: sums of the whole and of each class, and no lines.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use serde::Deserialize;

use super::totals::{Part, Totals};
use crate::error::{Error, Reject, Result};
use crate::ingest::input::Input;
use crate::ingest::json;
use crate::ingest::{Format, Parsed};
use crate::model::figures::ReportKind;

/// ReportGenerator's summary.
pub const FORMAT: Format = Format {
    name: "reportgenerator-json",
    kind: ReportKind::Coverage,
    about: "ReportGenerator's summary: sums of lines, branches and methods",
    written_by: "reportgenerator -reporttypes:JsonSummary",
    told_by: "a JSON object with summary.coveredlines and summary.coverablelines",
    has_end: true,
    counting: "The sums of the whole: covered of coverable lines, branches, and methods as functions.",
    sniff: |head| head.by_keys(&["summary.coveredlines", "summary.coverablelines"]),
    parse,
};

#[derive(Deserialize)]
struct Report {
    summary: Option<Summary>,
}

#[derive(Deserialize)]
struct Summary {
    coveredlines: Option<u64>,
    coverablelines: Option<u64>,
    coveredbranches: Option<u64>,
    totalbranches: Option<u64>,
    coveredmethods: Option<u64>,
    totalmethods: Option<u64>,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let report: Report = json::object(input, PhantomData)?;
    let lines = report.summary.as_ref().and_then(|sums| part(sums.coveredlines, sums.coverablelines));
    let (Some(lines), Some(sums)) = (lines, report.summary) else {
        let why = "not a reportgenerator-json report: its summary has no coverable lines";
        return Err(Error::report(Reject::NotThisFormat, why));
    };
    let totals = Totals {
        lines: Some(lines),
        branches: part(sums.coveredbranches, sums.totalbranches).unwrap_or_default(),
        functions: part(sums.coveredmethods, sums.totalmethods).unwrap_or_default(),
        ..Totals::default()
    };
    totals.finish(&FORMAT, BTreeMap::new())
}

/// Both, if the report has both: what its input did not tell is null.
fn part(covered: Option<u64>, total: Option<u64>) -> Option<Part> {
    Some(Part { covered: covered?, total: total? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(summary: &str) -> Result<Parsed> {
        let text = format!(r#"{{"summary":{summary},"coverage":{{"assemblies":[]}}}}"#);
        crate::ingest::parse(&Input::bytes("x", text.as_bytes()), Some(&FORMAT))
    }

    #[test]
    fn the_sums_of_the_whole_count() {
        let all = r#"{"parser":"Cobertura","coveredlines":8,"uncoveredlines":2,"coverablelines":10,"totallines":50,"linecoverage":80,
            "coveredbranches":1,"totalbranches":4,"branchcoverage":25,"coveredmethods":3,"totalmethods":3}"#;
        let counts: Vec<u64> = read(all).unwrap().figures.counts().into_iter().map(|(_, count)| count).collect();
        assert_eq!(counts, [8, 10, 1, 4, 3, 3]);
        let lines = r#"{"coveredlines":0,"coverablelines":0,"coveredbranches":null,"totalbranches":null}"#;
        let counts: Vec<u64> = read(lines).unwrap().figures.counts().into_iter().map(|(_, count)| count).collect();
        assert_eq!(counts, [0, 0]);
        assert_eq!(read(r#"{"coveredlines":9,"coverablelines":8}"#).unwrap_err().reject(), Some(Reject::Malformed));
    }

    #[test]
    fn a_summary_of_others_is_rejected() {
        for other in [r#"{"passed":1}"#, "null"] {
            assert_eq!(read(other).unwrap_err().reject(), Some(Reject::NotThisFormat), "{other}");
        }
    }
}
