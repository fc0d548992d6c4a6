//! `llvm-cov-text`: the table of `llvm-cov report`, which `cargo llvm-cov` prints too.
//! <https://llvm.org/docs/CommandGuide/llvm-cov.html#llvm-cov-report>

use std::collections::BTreeMap;

use super::table::{is_share, last_total, several};
use super::totals::{Part, Totals};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::values::whole;
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::figures::ReportKind;

/// llvm-cov's table.
pub const FORMAT: Format = Format {
    name: "llvm-cov-text",
    kind: ReportKind::Coverage,
    about: "table of llvm-cov: lines, branches, functions and regions of each file",
    written_by: "llvm-cov report, cargo llvm-cov",
    told_by: "a table with the columns Filename, Regions, Missed Regions, …, Lines, Missed Lines",
    has_end: true,
    counting: "Each unit of the line TOTAL, less what is missed. Of several tables the last.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    if head.xml().is_none() && head.lines().any(|line| heading(line.trim()).is_some()) && !head.is_of_tests() {
        return Sniff::Sure("a table with the columns Filename, Lines and Missed Lines".into());
    }
    Sniff::No
}

/// Whether a table begins with the line.
pub(in crate::ingest) fn begins(line: &str) -> bool {
    line.starts_with("Filename") && heading(line).is_some()
}

/// The names of the columns after the first; they hold single blanks.
fn heading(line: &str) -> Option<Vec<String>> {
    if !line.trim_start().starts_with("Filename") {
        return None;
    }
    let mut names = line.split("  ").map(str::trim).filter(|name| !name.is_empty());
    if names.next() != Some("Filename") {
        return None;
    }
    let names: Vec<String> = names.map(str::to_owned).collect();
    names.iter().any(|name| name == "Missed Lines").then_some(names)
}

/// Every unit of which the heading names `Missed …` after it.
fn total(names: &[String], cells: &[&str]) -> Option<Totals> {
    if names.len() != cells.len() || !cells.last().is_some_and(|share| is_share(share)) {
        return None;
    }
    let part = |unit: &str| -> Option<Option<Part>> {
        let Some(at) = names.iter().position(|name| name == unit) else { return Some(None) };
        if names.get(at + 1).and_then(|name| name.strip_prefix("Missed ")) != Some(unit) {
            return None;
        }
        let total = whole(cells.get(at)?)?;
        Some(Some(Part { covered: total.checked_sub(whole(cells.get(at + 1)?)?)?, total }))
    };
    Some(Totals {
        lines: Some(part("Lines")??),
        branches: part("Branches")?.unwrap_or_default(),
        functions: part("Functions")?.unwrap_or_default(),
        regions: part("Regions")?.unwrap_or_default(),
        ..Totals::default()
    })
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let (totals, tables) = last_total(input, "llvm-cov", heading, |names, cells| total(names, cells))?;
    let mut parsed = totals.finish(&FORMAT, BTreeMap::new())?;
    parsed.warnings.extend(several(tables, "tables"));
    Ok(parsed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;

    fn read(heading: &str, total: &str) -> Result<Parsed> {
        let text = format!("{heading}\n----\na b.c    1   1\n----\nTOTAL   {total}\n");
        crate::ingest::parse(&Input::bytes("x", text.as_bytes()), Some(&FORMAT))
    }

    const LINES: &str = "Filename   Regions    Missed Regions     Cover   Functions  Missed Functions  Executed   Lines   Missed Lines     Cover";

    #[test]
    fn units_are_found_by_the_heading() {
        let counts = |heading: &str, total: &str| -> Vec<u64> {
            let figures = read(heading, total).unwrap().figures;
            figures.counts().into_iter().map(|(_, count)| count).collect()
        };
        let total = "18   11    38.89%   4   2   50.00%   14   9   35.71%";
        assert_eq!(counts(LINES, total), [5, 14, 2, 4, 7, 18], "lines, functions, regions");
        let branches = format!("{LINES}   Branches   Missed Branches     Cover");
        assert_eq!(counts(&branches, &format!("{total}   10   8   20.00%")), [5, 14, 2, 10, 2, 4, 7, 18]);
        assert_eq!(counts(&branches, &format!("{total}   0   0   -")), [5, 14, 2, 4, 7, 18], "none is absent");
    }

    #[test]
    fn what_is_cut_or_foreign_is_rejected() {
        for bad in [
            "18 11 38.89% 4 2 50.00% 14 9",
            "18 11 38.89% 4 2 50.00% 14 9 35.7",
            "18 11 38.89% 4 2 50.00% 9 14 35%",
            "",
        ] {
            assert_eq!(read(LINES, bad).unwrap_err().reject(), Some(Reject::Malformed), "{bad}");
        }
        assert_eq!(read("Filename  Lines", "1 1").unwrap_err().reject(), Some(Reject::NotThisFormat));
    }
}
