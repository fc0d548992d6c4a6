//! `kcov-json`: kcov's `coverage.json`. Written after its sources, `src/writers/json-writer.cc`:
//! <https://github.com/SimonKagstrom/kcov>. A file's numbers are strings, those of all files are not.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::marker::PhantomData;

use serde::Deserialize;

use super::compare_declared;
use super::totals::{Part, Totals};
use crate::error::{Error, Reject, Result};
use crate::ingest::entries::{Fault, List, Required, take};
use crate::ingest::input::Input;
use crate::ingest::json::{self, Key, each};
use crate::ingest::text::printable;
use crate::ingest::values::whole;
use crate::ingest::{Format, Parsed};
use crate::model::figures::{Figures, ReportKind};

/// kcov's JSON.
pub const FORMAT: Format = Format {
    name: "kcov-json",
    kind: ReportKind::Coverage,
    about: "kcov JSON: sums of lines of each file",
    written_by: "kcov (coverage.json)",
    told_by: "a JSON object with files.percent_covered and files.covered_lines",
    has_end: true,
    counting: "The sums of the files. Those of the whole report are only compared.",
    sniff: |head| head.by_keys(&["files.percent_covered", "files.covered_lines"]),
    parse,
};

#[derive(Deserialize)]
struct Report {
    covered_lines: Option<u64>,
    total_lines: Option<u64>,
}

#[derive(Deserialize)]
struct File {
    covered_lines: String,
    total_lines: String,
}

fn number(value: &str) -> Result<u64> {
    let bad = || Error::report(Reject::Malformed, format!("{:?} is no number of lines", printable(value, 40)));
    whole(value).ok_or_else(bad)
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let report: Report = json::object(input, PhantomData)?;
    let (fault, lines) = (Fault::default(), RefCell::new(Part::default()));
    let add = |file: File| lines.borrow_mut().add(number(&file.covered_lines)?, number(&file.total_lines)?);
    let seed = List(each(|| take(&fault, add)));
    fault.ours(json::object(input, Required(Key { name: "files", seed })))?;
    let totals = Totals { lines: Some(lines.into_inner()), ..Totals::default() };
    let mut parsed = totals.finish(&FORMAT, BTreeMap::new())?;
    let (lines_covered, lines_total) = (report.covered_lines, report.total_lines);
    compare_declared(&mut parsed, Figures { lines_covered, lines_total, ..Figures::default() });
    Ok(parsed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(files: &str) -> Result<Parsed> {
        let text = format!(
            r#"{{"files":[{files}],"percent_covered":"75.00","covered_lines":3,"total_lines":4,"percent_low":25,"percent_high":75,"command":"a.sh","date":"2026-01-01 00:00:00"}}"#
        );
        crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None)
    }

    fn file(covered: &str, total: &str) -> String {
        format!(r#"{{"file":"/app/a.sh","percent_covered":"75.00","covered_lines":{covered},"total_lines":{total}}}"#)
    }

    #[test]
    fn files_add_up_and_another_sum_is_warned_of() {
        let counts = |files: &str| {
            let parsed = read(files).unwrap();
            (parsed.figures.lines_covered, parsed.figures.lines_total, parsed.warnings.len())
        };
        assert_eq!(counts(&file("\"3\"", "\"4\"")), (Some(3), Some(4), 0));
        assert_eq!(counts(&[file("\"3\"", "\"4\""), file("\"0\"", "\"2\"")].join(",")), (Some(3), Some(6), 1));
        for (covered, total) in [("\"-1\"", "\"4\""), ("3", "4"), ("\"5\"", "\"4\""), ("\"\"", "\"4\"")] {
            let error = read(&file(covered, total)).unwrap_err();
            assert_eq!(error.reject(), Some(Reject::Malformed), "{covered}");
        }
    }
}
