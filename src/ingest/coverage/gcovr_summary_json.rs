//! `gcovr-summary-json`: what `gcovr --json-summary` writes: how many lines and branches of each file ran, and not which.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use serde::Deserialize;

use super::compare_declared;
use super::totals::{Part, Totals};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::json;
use crate::ingest::values::Few;
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::figures::{Figures, ReportKind};

/// gcovr's summaries.
pub const FORMAT: Format = Format {
    name: "gcovr-summary-json",
    kind: ReportKind::Coverage,
    about: "gcovr summary: sums of lines and branches of each file",
    written_by: "gcovr --json-summary",
    told_by: "a JSON object with gcovr/summary_format_version",
    has_end: true,
    counting: "The sums of the files. The sums of the whole are only compared.",
    sniff,
    parse,
};

/// The key that names the format.
const VERSION: &str = "gcovr/summary_format_version";

fn sniff(head: &Head<'_>) -> Sniff {
    if head.has_key(VERSION) { Sniff::Sure(format!("key {VERSION}")) } else { Sniff::No }
}

#[derive(Deserialize)]
struct Report {
    files: Few<Sums, 1_000_000>,
    line_covered: Option<u64>,
    line_total: Option<u64>,
    branch_covered: Option<u64>,
    branch_total: Option<u64>,
}

/// The sums of one file.
#[derive(Deserialize)]
struct Sums {
    line_covered: u64,
    line_total: u64,
    #[serde(default)]
    branch_covered: u64,
    #[serde(default)]
    branch_total: u64,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let report: Report = json::object(input, PhantomData)?;
    let mut lines = Part::default();
    let mut totals = Totals::default();
    for file in report.files {
        lines.add(file.line_covered, file.line_total)?;
        totals.branches.add(file.branch_covered, file.branch_total)?;
    }
    totals.lines = Some(lines);
    let mut parsed = totals.finish(&FORMAT, BTreeMap::new())?;
    let declared = Figures {
        lines_covered: report.line_covered,
        lines_total: report.line_total,
        branches_covered: report.branch_covered,
        branches_total: report.branch_total,
        ..Figures::default()
    };
    compare_declared(&mut parsed, declared);
    Ok(parsed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;

    #[test]
    fn files_add_up_and_other_sums_are_warned_of() {
        let read = |text: &str| parse(&Input::bytes("x", text.as_bytes()));
        let text = r#"{"files":[{"line_covered":1,"line_total":2,"branch_covered":1,"branch_total":2},{"line_covered":0,"line_total":3}],"line_total":6}"#;
        let parsed = read(text).unwrap();
        let counts: Vec<u64> = parsed.figures.counts().into_iter().map(|(_, count)| count).collect();
        assert_eq!((counts, parsed.warnings.len()), (vec![1, 5, 1, 2], 1));
        assert_eq!(read(r#"{"files":[{"line_total":2}]}"#).unwrap_err().reject(), Some(Reject::Malformed));
    }
}
