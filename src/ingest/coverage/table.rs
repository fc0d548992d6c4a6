//! What the terminal tables of coverage have in common: a heading, rows, and a line `TOTAL`, which is what counts, since the
//! rows may leave out what is covered in full.

use crate::error::{Error, Reject, Result};
use crate::ingest::CUT_HELP;
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine, printable};

/// The cells of a row, whether drawn as Markdown or not.
pub(super) fn cells(line: &str) -> Vec<&str> {
    let cells = line.split(|c: char| c.is_whitespace() || c == '|').map(|cell| cell.trim_matches('*'));
    cells.filter(|cell| !cell.is_empty()).collect()
}

/// Whether a cell is a percentage; `-` and `--%` stand for that of nothing.
pub(super) fn is_share(cell: &str) -> bool {
    let number =
        cell.strip_suffix('%').filter(|number| number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'));
    matches!(cell, "-" | "--%") || number.is_some_and(|number| number.parse::<f64>().is_ok())
}

/// What `total` makes of the cells after `TOTAL` of the last table that begins with a `heading`, and how many tables there
/// are.
///
/// # Errors
/// Not this format without a table; malformed if one ends before its total, or the total does not tell what it should.
pub(super) fn last_total<H, T>(
    input: &Input<'_>,
    what: &str,
    heading: impl Fn(&str) -> Option<H>,
    total: impl Fn(&H, &[&str]) -> Option<T>,
) -> Result<(T, u64)> {
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
    let (mut open, mut found, mut tables, mut last) = (None, None, 0, 0);
    while let Some(line) = lines.next()? {
        last = line.number;
        let text = line.text.trim();
        if let Some(columns) = heading(text) {
            open = Some(columns);
            continue;
        }
        let Some(columns) = &open else { continue };
        let cells = cells(text);
        if let Some(("TOTAL", numbers)) = cells.split_first().map(|(first, rest)| (*first, rest)) {
            let Some(sums) = total(columns, numbers) else {
                let why = format!("{:?} does not tell what the heading of the table names", printable(text, 60));
                return Err(Error::report(Reject::Malformed, why).line(last).help(CUT_HELP));
            };
            (open, found, tables) = (None, Some(sums), tables + 1);
        }
    }
    if open.is_some() {
        return Err(Error::report(Reject::Malformed, "report ends before the line TOTAL").line(last).help(CUT_HELP));
    }
    let none = || Error::report(Reject::NotThisFormat, format!("no table of {what} is in it"));
    Ok((found.ok_or_else(none)?, tables))
}

/// What is said where several tables, or sums, are in one report.
pub(in crate::ingest) fn several(count: u64, what: &str) -> Option<String> {
    (count > 1).then(|| format!("{count} {what} are in it: the last one counts"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_and_shares() {
        assert_eq!(cells("| **TOTAL** | **12** |  | a  b"), ["TOTAL", "12", "a", "b"]);
        for share in ["83%", "83.33%", "-", "--%"] {
            assert!(is_share(share), "{share}");
        }
        for other in ["83", "x%", "%", "inf%", "NaN%", "-1%", "1e2%", ""] {
            assert!(!is_share(other), "{other}");
        }
    }

    #[test]
    fn the_last_table_counts_and_none_may_be_open() {
        let read = |text: &str| {
            let heading = |line: &str| (line == "H").then_some(2);
            let total = |columns: &usize, cells: &[&str]| {
                let number = cells.first()?.parse::<u64>().ok()?;
                (cells.len() == *columns).then_some(number)
            };
            last_total(&Input::bytes("x", text.as_bytes()), "nobody", heading, total).map_err(|error| error.reject())
        };
        assert_eq!(read("TOTAL 9 9\nH\nrow\nTOTAL 1 x\nH\nTOTAL 2 x"), Ok((2, 2)));
        for cut in ["H\n", "H\nTOTAL", "H\nTOTAL 1", "H\nTOTAL 1 x y", "H\nTOTAL 1 x\nH\nTOT"] {
            assert_eq!(read(cut), Err(Some(Reject::Malformed)), "{cut}");
        }
        assert_eq!(read("TOTAL 1 x"), Err(Some(Reject::NotThisFormat)));
        assert_eq!((several(1, "tables"), several(2, "tables").is_some()), (None, true));
    }
}
