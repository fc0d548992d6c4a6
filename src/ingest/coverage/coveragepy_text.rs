//! `coveragepy-text`: the table of `coverage report`, which pytest-cov prints too, plain or as Markdown. Written after
//! coverage.py's documentation, <https://coverage.readthedocs.io/en/latest/cmd.html#reporting-coverage-report>.
//!
//! It tells how many statements there are and how many of them did not run, which are coverage.py's lines. Of branches it
//! tells how many there are and which lines took some of theirs, but not how many were taken.

use std::collections::BTreeMap;

use super::table::{cells, is_share, last_total, several};
use super::totals::{Part, Totals};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::text::split_at;
use crate::ingest::values::whole;
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::figures::ReportKind;

/// coverage.py's table.
pub const FORMAT: Format = Format {
    name: "coveragepy-text",
    kind: ReportKind::Coverage,
    about: "table of coverage.py: statements and misses of each file",
    written_by: "coverage report, pytest --cov",
    told_by: "a table with the columns Name, Stmts, Miss and Cover",
    has_end: true,
    counting: "Stmts less Miss of the line TOTAL, since the rows may leave out what is covered in full. Of several \
               tables the last.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    if head.xml().is_none() && head.lines().any(|line| columns(line).is_some()) && !head.is_of_tests() {
        return Sniff::Sure("a table with the columns Name, Stmts, Miss and Cover".into());
    }
    Sniff::No
}

/// Whether a table begins with the line.
pub(in crate::ingest) fn begins(line: &str) -> bool {
    (line.starts_with("Name") || line.starts_with("| Name")) && columns(line).is_some()
}

/// How many columns of numbers a heading announces.
fn columns(line: &str) -> Option<usize> {
    // Nearly every line is told by that alone.
    split_at(line, "Cover")?;
    let cells = cells(line);
    let columns = match cells.as_slice() {
        ["Name", "Stmts", "Miss", "Cover", ..] => 3,
        ["Name", "Stmts", "Miss", "Branch", "BrPart", "Cover", ..] => 5,
        _ => return None,
    };
    matches!(cells.get(columns + 1..), Some([] | ["Missing"])).then_some(columns)
}

/// Statements that ran, and in all.
fn total(columns: usize, cells: &[&str]) -> Option<Part> {
    let [total, missed, .., share] = cells else { return None };
    let total = whole(total)?;
    let covered = total.checked_sub(whole(missed)?)?;
    (cells.len() == columns && is_share(share)).then_some(Part { covered, total })
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let (lines, tables) = last_total(input, "coverage.py", columns, |columns, cells| total(*columns, cells))?;
    let mut parsed = Totals { lines: Some(lines), ..Totals::default() }.finish(&FORMAT, BTreeMap::new())?;
    parsed.warnings.extend(several(tables, "tables"));
    Ok(parsed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;

    fn read(text: &str) -> Result<Parsed> {
        crate::ingest::parse(&Input::bytes("x", text.as_bytes()), Some(&FORMAT))
    }

    const PLAIN: &str =
        "Name      Stmts   Miss  Cover\n-----\nTOTALS.py    3      3     0%\n-----\nTOTAL        12      2    83%";

    #[test]
    fn the_total_counts_in_every_layout() {
        let markdown = "| Name | Stmts | Miss | Branch | BrPart | Cover | Missing |\n|---|---:|---:|---:|---:|---:|---:|\n\
            | a\\_b.py | 12 | 2 | 6 | 1 | 83% | 5, 12 |\n| **TOTAL** | **12** | **2** | **6** | **1** | **83.33%** | |\n";
        let branches = "Name  Stmts  Miss Branch BrPart  Cover   Missing\n---\nTOTAL  12  2  6  1  83%\n\n2 files skipped due to complete coverage.\n";
        for text in [PLAIN, markdown, branches] {
            let figures = read(text).unwrap().figures;
            assert_eq!((figures.lines_covered, figures.lines_total), (Some(10), Some(12)), "{text}");
            assert_eq!(figures.branches_total, None, "{text}");
        }
        let twice = read(&format!("{}\n{PLAIN}\n", PLAIN.replace("12      2", "40     30"))).unwrap();
        assert_eq!((twice.figures.lines_total, twice.warnings.len()), (Some(12), 1));
        let nothing = "Name Stmts Miss Cover\n-----\nTOTAL 0 0 100%\n";
        assert_eq!(read(nothing).unwrap().figures.lines_total, Some(0));
    }

    #[test]
    fn what_is_cut_or_foreign_is_rejected() {
        for length in PLAIN.find('\n').unwrap()..PLAIN.len() {
            assert_eq!(read(PLAIN.get(..length).unwrap()).unwrap_err().reject(), Some(Reject::Malformed), "{length}");
        }
        for odd in ["TOTAL 2 12 83%", "TOTAL 12 -2 83%", "TOTAL 12 2.5 83%", "TOTAL 12 2 x%", "TOTAL 83%"] {
            let error = read(&format!("Name Stmts Miss Cover\n{odd}\n")).unwrap_err();
            assert_eq!((error.reject(), error.place.line), (Some(Reject::Malformed), Some(2)), "{odd}");
        }
        for foreign in ["No data to report.\n", "Name Stmts Exec Cover\nTOTAL 1 1 100%\n"] {
            assert_eq!(read(foreign).unwrap_err().reject(), Some(Reject::NotThisFormat), "{foreign}");
        }
    }
}
