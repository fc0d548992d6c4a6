//! `lizard-text`: what lizard prints: a table of functions, one of files, and the sums.

use super::Functions;
use super::table::cells;
use crate::error::{Error, Reject, Result};
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine, printable};
use crate::ingest::values::whole;
use crate::ingest::{CUT_HELP, Format, Head, Parsed, Sniff};
use crate::model::figures::ReportKind;

/// lizard's tables.
pub const FORMAT: Format = Format {
    name: "lizard-text",
    kind: ReportKind::Size,
    about: "tables of lizard: cyclomatic complexity and lines of each function",
    written_by: "lizard",
    told_by: "a table with the columns NLOC, CCN, token, PARAM, length and location",
    has_end: true,
    counting: "Each row of the table of functions, its NLOC and its CCN; those that are told again among the warnings \
               count once. The sums are only compared.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    if head.xml().is_none() && head.lines().any(begins) && !head.is_of_tests() {
        return Sniff::Sure("a table of lizard's columns".into());
    }
    Sniff::No
}

/// How many numbers stand before the location.
fn heading(line: &str) -> Option<usize> {
    if !line.trim_start().starts_with("NLOC") {
        return None;
    }
    match cells(line).as_slice() {
        ["NLOC", "CCN", "token", "PARAM", numbers @ .., "location"] => Some(4 + numbers.len()),
        _ => None,
    }
}

/// Where in the report a line stands.
enum Part {
    /// Before the table of functions, or below it.
    Other,
    /// In the table of functions, with so many numbers in a row.
    Functions(usize),
    /// Below what the sums are called.
    Sums,
}

/// Whether a table begins with the line.
pub(in crate::ingest) fn begins(line: &str) -> bool {
    heading(line).is_some()
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
    let (mut part, mut functions, mut told, mut last) = (Part::Other, None::<Functions>, None, 0);
    while let Some(line) = lines.next()? {
        last = line.number;
        let text = line.text.trim();
        if let Some(numbers) = heading(text) {
            // Warnings have the same heading, and stand before the sums.
            if functions.is_none() {
                (part, functions) = (Part::Functions(numbers), Some(Functions::default()));
            }
            continue;
        }
        match (&part, &mut functions) {
            (Part::Functions(_), _) if text.ends_with("file analyzed.") || text.ends_with("files analyzed.") => {
                part = Part::Other
            }
            (Part::Functions(numbers), Some(functions)) if !text.is_empty() && !text.starts_with("---") => {
                let (nloc, ccn) = function(text, *numbers).ok_or_else(|| bad_row(text, last))?;
                functions.add(ccn, Some(nloc)).map_err(|error| error.line(last))?;
            }
            (Part::Other, Some(_)) if text.starts_with("Total nloc") => part = Part::Sums,
            (Part::Sums, Some(found)) if text.starts_with(|c: char| c.is_ascii_digit()) => {
                // Cut within the fifth number, it would be the last.
                let count = sums(text).ok_or_else(|| bad_row(text, last))?;
                let mut parsed = found.finish(&FORMAT);
                // Of no function at all lizard says that it was one.
                if count != found.functions.max(1) {
                    let warning = format!("the report says {count} functions, but {} are in it", found.functions);
                    parsed.warnings.push(warning);
                }
                told = Some(parsed);
                (part, functions) = (Part::Other, None);
            }
            _ => {}
        }
    }
    match (told, functions) {
        (Some(parsed), None) => Ok(parsed),
        (_, Some(_)) => {
            Err(Error::report(Reject::Malformed, "report ends before lizard's sums").line(last).help(CUT_HELP))
        }
        (None, None) => Err(Error::report(Reject::NotThisFormat, "no table of lizard is in it")),
    }
}

fn bad_row(text: &str, line: u64) -> Error {
    let why = format!("{:?} is no row of lizard's table", printable(text, 60));
    Error::report(Reject::Malformed, why).line(line).help(CUT_HELP)
}

/// Lines of code and complexity; a location follows the numbers.
fn function(line: &str, numbers: usize) -> Option<(u64, u64)> {
    let cells = cells(line);
    let (numbers, location) = cells.split_at_checked(numbers)?;
    let [nloc, ccn, ..] = numbers else { return None };
    let is_located = location.iter().any(|cell| cell.contains('@'));
    is_located.then_some((whole(nloc)?, whole(ccn)?))
}

/// How many functions there were.
fn sums(line: &str) -> Option<u64> {
    let cells = cells(line);
    let [_, _, _, _, functions, _, ..] = cells.as_slice() else { return None };
    whole(functions)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Parsed> {
        crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None)
    }

    const TEXT: &str = "=====\n  NLOC    CCN   token  PARAM  length  location  \n-----\n       9      6     47      1       9 classify@18-26@src/a b.py\n\
       2      1     21      2       2 describe@29-30@src/a b.py\n1 file analyzed.\n=====\nNLOC    Avg.NLOC  AvgCCN  Avg.token  function_cnt    file\n\
       -----\n     19       4.2     2.5       26.2         2     src/a b.py\n\n=====\n!!!! Warnings (cyclomatic_complexity > 2) !!!!\n=====\n  \
       NLOC    CCN   token  PARAM  length  location  \n-----\n       9      6     47      1       9 classify@18-26@src/a b.py\n=====\n\
       Total nloc   Avg.NLOC  AvgCCN  Avg.token   Fun Cnt  Warning cnt   Fun Rt   nloc Rt\n-----\n\
       19       5.4     2.7       34.9        2            1      0.00    0.00\n";

    #[test]
    fn each_function_counts_once() {
        let figures = read(TEXT).unwrap().figures;
        assert_eq!((figures.functions, figures.nloc), (Some(2), Some(11)));
        assert_eq!((figures.ccn_total, figures.ccn_max), (Some(7_u64.into()), Some(6_u64.into())));
        let nested = TEXT
            .replace("length  location", "length   NS   location")
            .replace("9 classify", "9 2 classify")
            .replace("2 describe", "2 0 describe");
        assert_eq!(read(&nested).unwrap().figures.functions, Some(2));
        assert_eq!(read(&TEXT.replace("34.9        2", "34.9        3")).unwrap().warnings.len(), 1);
    }

    #[test]
    fn tables_without_their_sums_are_cut() {
        for length in (TEXT.find("PARAM").unwrap() + 30..TEXT.rfind("1      0.00").unwrap()).step_by(7) {
            assert_eq!(read(TEXT.get(..length).unwrap()).unwrap_err().reject(), Some(Reject::Malformed), "{length}");
        }
        assert_eq!(parse(&Input::bytes("x", b"9 6\n")).unwrap_err().reject(), Some(Reject::NotThisFormat));
    }
}
