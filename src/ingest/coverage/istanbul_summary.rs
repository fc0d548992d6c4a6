//! `istanbul-summary`: Istanbul's `coverage-summary.json`: sums of each file, and of all under `total`. It tells no lines,
//! only how many.

use std::cell::RefCell;
use std::collections::BTreeMap;

use serde::Deserialize;

use super::compare_declared;
use super::totals::Totals;
use crate::error::{Error, Reject, Result};
use crate::ingest::entries::{Entries, Fault, take};
use crate::ingest::input::Input;
use crate::ingest::json;
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::figures::{Figures, ReportKind};

/// Istanbul's summaries.
pub const FORMAT: Format = Format {
    name: "istanbul-summary",
    kind: ReportKind::Coverage,
    about: "Istanbul summary: sums of lines, statements, functions and branches of each file",
    written_by: "nyc, c8, jest, vitest (reporter json-summary)",
    told_by: "a JSON object with total.lines.pct",
    has_end: true,
    counting: "The sums of the files; those under total only if there are no files.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let Some(first) = head.keys().first() else { return Sniff::No };
    let has_share = |unit: &str| head.has_key(&format!("{first}.{unit}.pct")) && !head.has_key("meta");
    match ["lines", "statements"].into_iter().find(|unit| has_share(unit)) {
        Some(unit) if first == "total" => Sniff::Sure(format!("key total.{unit}.pct")),
        Some(unit) => Sniff::Sure(format!("a file with {unit} and pct")),
        None => Sniff::No,
    }
}

/// The sums of one file.
#[derive(Deserialize)]
struct Summary {
    lines: Option<Sum>,
    statements: Option<Sum>,
    functions: Option<Sum>,
    branches: Option<Sum>,
}

#[derive(Deserialize)]
struct Sum {
    total: u64,
    covered: u64,
}

impl Summary {
    fn add_to(&self, totals: &mut Totals) -> Result<()> {
        let Totals { lines, statements, functions, branches, .. } = totals;
        let parts = [
            (lines.get_or_insert_default(), &self.lines),
            (statements, &self.statements),
            (functions, &self.functions),
            (branches, &self.branches),
        ];
        for (part, sum) in parts {
            if let Some(sum) = sum {
                part.add(sum.covered, sum.total)?;
            }
        }
        Ok(())
    }
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let fault = Fault::default();
    // Of the files, if there are any; and what stands under `total`.
    let (files, total) = (&RefCell::new(None), &RefCell::new(None));
    let entry = |key: String| {
        Ok(take(&fault, move |summary: Summary| {
            if key == "total" {
                *total.borrow_mut() = Some(summary);
                return Ok(());
            }
            summary.add_to(files.borrow_mut().get_or_insert_default())
        }))
    };
    fault.ours(json::object(input, Entries { of: entry, fault: &fault }))?;
    let total: Option<Summary> = total.take();
    let totals = match (files.take(), &total) {
        (Some(files), _) => files,
        (None, Some(total)) => {
            let mut totals = Totals::default();
            total.add_to(&mut totals)?;
            totals
        }
        (None, None) => {
            return Err(Error::report(Reject::NotThisFormat, "not an Istanbul summary: it has no files and no total"));
        }
    };
    let mut parsed = totals.finish(&FORMAT, BTreeMap::new())?;
    if let Some(total) = total {
        let declared = Figures {
            lines_covered: total.lines.as_ref().map(|sum| sum.covered),
            lines_total: total.lines.map(|sum| sum.total),
            branches_covered: total.branches.as_ref().map(|sum| sum.covered),
            branches_total: total.branches.map(|sum| sum.total),
            ..Figures::default()
        };
        compare_declared(&mut parsed, declared);
    }
    Ok(parsed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Parsed> {
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn the_total_counts_only_if_it_is_alone() {
        let sums = |covered| format!(r#"{{"lines":{{"total":4,"covered":{covered},"skipped":0,"pct":"Unknown"}}}}"#);
        let counts = |text: &str| read(text).unwrap().figures.counts();
        let both = format!(r#"{{"total":{},"a":{},"b":{}}}"#, sums(3), sums(1), sums(1));
        assert_eq!(counts(&both), [("lines_covered", 2), ("lines_total", 8)]);
        assert_eq!(read(&both).unwrap().warnings.len(), 2);
        assert_eq!(counts(&format!(r#"{{"total":{}}}"#, sums(3))), [("lines_covered", 3), ("lines_total", 4)]);
        assert_eq!(read("{}").unwrap_err().reject(), Some(Reject::NotThisFormat));
    }

    #[test]
    fn sums_are_whole_numbers() {
        for bad in ["-1", "3.7", "\"3\"", "18446744073709551616", "null"] {
            let text = format!(r#"{{"total":{{"lines":{{"total":{bad},"covered":0}}}}}}"#);
            assert_eq!(read(&text).unwrap_err().reject(), Some(Reject::Malformed), "{bad}");
        }
    }
}
