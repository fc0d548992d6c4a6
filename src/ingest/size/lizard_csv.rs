//! `lizard-csv`: what `lizard --csv` writes: one line a function, eleven columns, with a heading only if it was asked for.

use super::Functions;
use crate::error::{Error, Reject, Result};
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine, fields, printable};
use crate::ingest::values::whole;
use crate::ingest::{CUT_HELP, Format, Head, Parsed, Sniff};
use crate::model::figures::ReportKind;

/// CSV of lizard.
pub const FORMAT: Format = Format {
    name: "lizard-csv",
    kind: ReportKind::Size,
    about: "lizard CSV: cyclomatic complexity and lines of each function",
    written_by: "lizard --csv",
    told_by: "eleven columns: five numbers, name@first-last@file, file, function, signature, first and last line",
    has_end: false,
    counting: "Each line is a function: its first column is its lines of code, its second its complexity.",
    sniff,
    parse,
};

/// What the columns are called.
const HEADING: &str = "NLOC,CCN,token,PARAM,length,location,file,function,long_name,start,end";

fn sniff(head: &Head<'_>) -> Sniff {
    let first = head.first_line().unwrap_or_default().trim();
    if is_heading(first) {
        return Sniff::Sure("the heading of lizard".into());
    }
    match function(first) {
        Some(_) => Sniff::Sure("a first line of five numbers, name@first-last@file and five more columns".into()),
        None => Sniff::No,
    }
}

fn is_heading(line: &str) -> bool {
    line.eq_ignore_ascii_case(HEADING)
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut functions = Functions::default();
    let mut lines = Lines::new(input, LongLine::Refuse, Invalid::Escaped)?;
    let mut has_any = false;
    while let Some(line) = lines.next()? {
        let text = line.text.trim();
        if text.is_empty() || (is_heading(text) && !has_any) {
            has_any |= !text.is_empty();
            continue;
        }
        let Some((nloc, ccn)) = function(text) else {
            let code = if has_any { Reject::Malformed } else { Reject::NotThisFormat };
            let why = format!("{:?} is no function of lizard's", printable(text, 60));
            let error = Error::report(code, why).line(line.number);
            return Err(if line.ended { error } else { error.help(CUT_HELP) });
        };
        has_any = true;
        functions.add(ccn, Some(nloc)).map_err(|error| error.line(line.number))?;
    }
    if !has_any {
        return Err(Error::report(Reject::NotThisFormat, "not a report of lizard: it has no line").line(1));
    }
    Ok(functions.finish(&FORMAT))
}

/// Lines of code and complexity. A number that is cut shows: the last column is told in the sixth as well.
fn function(line: &str) -> Option<(u64, u64)> {
    let fields = fields(line, ',')?;
    let [nloc, ccn, tokens, parameters, length, location, file, _, _, start, end] = fields.as_slice() else {
        return None;
    };
    for number in [tokens, parameters, length, start, end] {
        whole(number)?;
    }
    let is_located = location.ends_with(&format!("@{start}-{end}@{file}"));
    is_located.then_some((whole(nloc)?, whole(ccn)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r#"22,9,99,5,22,"f@4-25@a,b.py","a,b.py","f","f( a , b = ""x"" )",4,25"#;

    fn read(text: &str) -> Result<[Option<u64>; 2]> {
        let figures = parse(&Input::bytes("x", text.as_bytes()))?.figures;
        Ok([figures.functions, figures.nloc])
    }

    #[test]
    fn a_line_is_a_function_with_or_without_heading() {
        assert_eq!(read(&format!("{LINE}\n{LINE}\n")).unwrap(), [Some(2), Some(44)]);
        assert_eq!(read(&format!("{HEADING}\n{LINE}")).unwrap(), [Some(1), Some(22)]);
        assert_eq!(read(HEADING).unwrap(), [Some(0), None]);
    }

    #[test]
    fn a_line_that_is_cut_or_foreign_is_refused() {
        for cut in 1..LINE.len() {
            let cut = LINE.get(..cut).unwrap();
            let error = read(&format!("{LINE}\n{cut}")).unwrap_err();
            assert_eq!((error.reject(), error.place.line), (Some(Reject::Malformed), Some(2)), "{cut}");
        }
        assert_eq!(read("a,b\n").unwrap_err().reject(), Some(Reject::NotThisFormat));
        assert_eq!(read("\n").unwrap_err().reject(), Some(Reject::NotThisFormat));
    }
}
