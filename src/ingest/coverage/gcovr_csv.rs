//! `gcovr-csv`: what `gcovr --csv` writes, a line a file. <https://gcovr.com/en/stable/output/csv.html>

use std::collections::BTreeMap;

use super::totals::{Part, Totals};
use crate::error::{Error, Reject, Result};
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine, printable};
use crate::ingest::values::whole;
use crate::ingest::{CUT_HELP, Format, Head, Parsed, Sniff};
use crate::model::figures::ReportKind;

/// CSV of gcovr.
pub const FORMAT: Format = Format {
    name: "gcovr-csv",
    kind: ReportKind::Coverage,
    about: "gcovr CSV: sums of lines, branches and functions of each file",
    written_by: "gcovr --csv",
    told_by: "the heading filename,line_total,line_covered,…",
    has_end: false,
    counting: "The sums of the files.",
    sniff,
    parse,
};

/// What the columns are called behind the file's name; those of functions came with gcovr 5.
const COLUMNS: &str = "line_total,line_covered,line_percent,branch_total,branch_covered,branch_percent";
const FUNCTIONS: &str = "function_total,function_covered,function_percent";

/// How many columns of numbers the heading names. `None`: it is none.
fn heading(line: &str) -> Option<usize> {
    let rest = line.strip_prefix("filename,")?.strip_prefix(COLUMNS)?;
    match rest.strip_prefix(',') {
        None => rest.is_empty().then_some(6),
        Some(rest) => (rest == FUNCTIONS).then_some(9),
    }
}

fn sniff(head: &Head<'_>) -> Sniff {
    let first = head.first_line();
    match first.is_some_and(|line| heading(line.trim()).is_some()) {
        true => Sniff::Sure("the heading of gcovr".into()),
        false => Sniff::No,
    }
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut lines = Lines::new(input, LongLine::Refuse, Invalid::Escaped)?;
    let (mut totals, mut columns) = (Totals::default(), None);
    while let Some(line) = lines.next()? {
        let text = line.text.trim();
        let refused =
            |why: &str| Error::report(Reject::Malformed, format!("{:?} {why}", printable(text, 60))).line(line.number);
        match columns {
            _ if text.is_empty() => {}
            None => {
                let why = "not gcovr's CSV: it does not begin with its heading";
                let foreign = || Error::report(Reject::NotThisFormat, why).line(line.number);
                columns = Some(heading(text).ok_or_else(foreign)?);
                if !line.ended {
                    return Err(refused("has no end").help(CUT_HELP));
                }
            }
            // A number that is cut is a number, too.
            Some(_) if !line.ended => return Err(refused("has no end").help(CUT_HELP)),
            Some(columns) => {
                let [of_lines, branches, functions] =
                    file(text, columns).ok_or_else(|| refused("is no file of gcovr's"))?;
                let all = totals.lines.get_or_insert_default();
                let sums = [(all, of_lines), (&mut totals.branches, branches), (&mut totals.functions, functions)];
                for (sum, part) in sums {
                    sum.add(part.covered, part.total).map_err(|error| error.line(line.number))?;
                }
            }
        }
    }
    if columns.is_none() {
        return Err(Error::report(Reject::NotThisFormat, "not gcovr's CSV: it has no heading").line(1));
    }
    totals.lines.get_or_insert_default();
    totals.finish(&FORMAT, BTreeMap::new())
}

/// Lines, branches and functions of a file. Its name may hold commas.
fn file(line: &str, columns: usize) -> Option<[Part; 3]> {
    let mut fields: Vec<&str> = line.rsplitn(columns + 1, ',').collect();
    fields.pop().filter(|_| fields.len() == columns)?;
    fields.reverse();
    let mut parts = [Part::default(); 3];
    for (part, numbers) in parts.iter_mut().zip(fields.chunks(3)) {
        let [total, covered, _percent] = numbers else { return None };
        *part = Part { covered: whole(covered)?, total: whole(total)? };
    }
    Some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<u64>> {
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), Some(&FORMAT))?;
        Ok(parsed.figures.counts().into_iter().map(|(_, count)| count).collect())
    }

    #[test]
    fn files_add_up() {
        let old = format!("filename,{COLUMNS}\r\n\"a, b.cpp\",4,3,0.75,2,1,0.5\r\nc.h,2,0,0.0,0,0,\r\n");
        assert_eq!(read(&old).unwrap(), [3, 6, 1, 2]);
        let new = format!("filename,{COLUMNS},{FUNCTIONS}\r\na.cpp,4,3,0.75,2,1,0.5,2,1,0.5\r\n");
        assert_eq!(read(&new).unwrap(), [3, 4, 1, 2, 1, 2]);
        let none = format!("filename,{COLUMNS}\n");
        assert_eq!(read(&none).unwrap(), [0, 0]);
        assert_eq!(crate::ingest::parse(&Input::bytes("x", none.as_bytes()), None).unwrap().format, &FORMAT);
    }

    #[test]
    fn what_is_cut_or_foreign_is_refused() {
        let heading = format!("filename,{COLUMNS}");
        for (text, reject) in [
            (format!("{heading}\na.cpp,4,3,0.75,2,1,0.5"), Reject::Malformed),
            (format!("{heading}\na.cpp,4,3,0.75,2\n"), Reject::Malformed),
            (format!("{heading}\na.cpp,4,x,0.75,2,1,0.5\n"), Reject::Malformed),
            (format!("{heading}\na.cpp,4,5,1.25,2,1,0.5\n"), Reject::Malformed),
            (format!("{heading},more\n"), Reject::NotThisFormat),
            ("a,b\n".to_owned(), Reject::NotThisFormat),
        ] {
            assert_eq!(read(&text).unwrap_err().reject(), Some(reject), "{text}");
        }
    }
}
