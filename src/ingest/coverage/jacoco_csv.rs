//! `jacoco-csv`: JaCoCo's CSV report, one line a class. Defined by JaCoCo's documentation of its CSV columns,
//! <https://www.jacoco.org/jacoco/trunk/doc/counters.html>, and its sources.

use std::collections::BTreeMap;

use super::jacoco::tell_no_lines;
use super::totals::{Part, Totals};
use crate::error::{Error, Reject, Result};
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine, printable};
use crate::ingest::values::whole;
use crate::ingest::{CUT_HELP, Format, Head, Parsed, Sniff};
use crate::model::figures::ReportKind;

/// JaCoCo CSV.
pub const FORMAT: Format = Format {
    name: "jacoco-csv",
    kind: ReportKind::Coverage,
    about: "JaCoCo CSV: counters of lines and branches of each class",
    written_by: "JaCoCo (Gradle, Maven, its command line)",
    told_by: "the heading GROUP,PACKAGE,CLASS,INSTRUCTION_MISSED,…",
    has_end: false,
    counting: "The sums of the columns LINE and BRANCH, missed and covered. Of classes compiled without line numbers \
               no lines are told.",
    sniff,
    parse,
};

/// What the columns are called.
const HEADING: &str = "GROUP,PACKAGE,CLASS,INSTRUCTION_MISSED,INSTRUCTION_COVERED,BRANCH_MISSED,BRANCH_COVERED,\
                       LINE_MISSED,LINE_COVERED,COMPLEXITY_MISSED,COMPLEXITY_COVERED,METHOD_MISSED,METHOD_COVERED";
/// Columns of numbers, the last ones; names before them may hold commas.
const NUMBERS: usize = 10;

fn sniff(head: &Head<'_>) -> Sniff {
    let first = head.first_line();
    match first.is_some_and(|line| line.trim() == HEADING) {
        true => Sniff::Sure("the heading of JaCoCo".into()),
        false => Sniff::No,
    }
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut lines = Lines::new(input, LongLine::Refuse, Invalid::Escaped)?;
    let (mut totals, mut sum, mut instructions) = (Totals::default(), None, Part::default());
    while let Some(line) = lines.next()? {
        let text = line.text.trim();
        let malformed =
            |why: &str| Error::report(Reject::Malformed, format!("{:?} {why}", printable(text, 60))).line(line.number);
        match &mut sum {
            _ if text.is_empty() => {}
            None if text == HEADING => sum = Some(Part::default()),
            None => {
                let why = "not JaCoCo's CSV: it does not begin with its heading";
                return Err(Error::report(Reject::NotThisFormat, why).line(line.number));
            }
            // A number that is cut is a number, too.
            Some(_) if !line.ended => return Err(malformed("has no end").help(CUT_HELP)),
            Some(sum) => {
                let [ran, branches, lines] = class(text).ok_or_else(|| malformed("is no class of JaCoCo's"))?;
                for (all, part) in [(&mut instructions, ran), (&mut totals.branches, branches), (sum, lines)] {
                    all.add(part.covered, part.total).map_err(|error| error.line(line.number))?;
                }
            }
        }
    }
    let none = || Error::report(Reject::NotThisFormat, "not JaCoCo's CSV: it has no heading").line(1);
    let lines = sum.ok_or_else(none)?;
    totals.lines = Some(lines);
    let mut parsed = totals.finish(&FORMAT, BTreeMap::new())?;
    if lines.total == 0 && instructions.total > 0 {
        tell_no_lines(&mut parsed);
    }
    Ok(parsed)
}

/// Instructions, branches and lines of a class.
fn class(line: &str) -> Option<[Part; 3]> {
    let mut fields = line.rsplitn(NUMBERS + 1, ',');
    let mut numbers = [0_u64; NUMBERS];
    for number in numbers.iter_mut().rev() {
        *number = whole(fields.next()?)?;
    }
    // Group, package and class.
    fields.next().filter(|names| names.matches(',').count() >= 2)?;
    let part = |missed: u64, covered: u64| Some(Part { covered, total: missed.checked_add(covered)? });
    let (pairs, _) = numbers.as_chunks::<2>();
    let [[missed, ran], [branches_missed, branches_covered], [lines_missed, lines_covered], ..] = pairs else {
        return None;
    };
    Some([part(*missed, *ran)?, part(*branches_missed, *branches_covered)?, part(*lines_missed, *lines_covered)?])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<u64>> {
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), Some(&FORMAT))?;
        Ok(parsed.figures.counts().into_iter().map(|(_, count)| count).collect())
    }

    #[test]
    fn classes_add_up() {
        let rows = "shop,org.shop,Cart,4,10,1,3,2,6,1,3,0,2\r\n\"a, b\",org.shop,\"Price.f(int, int)\",7,0,0,0,3,0,1,0,1,0\r\n";
        assert_eq!(read(&format!("{HEADING}\r\n{rows}")).unwrap(), [6, 11, 3, 4]);
        assert_eq!(read(&format!("{HEADING}\n")).unwrap(), [0, 0]);
        assert_eq!(
            read(&format!("{HEADING}\nshop,shop,Cart,4,42,0,4,0,0,1,5,1,3\n")).unwrap(),
            [4, 4],
            "no line numbers"
        );
        let told = crate::ingest::parse(&Input::bytes("x", format!("{HEADING}\n{rows}").as_bytes()), None).unwrap();
        assert_eq!(told.format, &FORMAT);
    }

    #[test]
    fn what_is_cut_or_foreign_is_rejected() {
        let whole = format!("{HEADING}\nshop,org.shop,Cart,4,10,1,3,2,6,1,3,0,12\n");
        for length in HEADING.len() + 2..whole.len() {
            let error = read(whole.get(..length).unwrap()).unwrap_err();
            assert_eq!((error.reject(), error.place.line), (Some(Reject::Malformed), Some(2)), "{length}");
        }
        for foreign in ["", "a,b\n", "GROUP,PACKAGE,CLASS\n"] {
            assert!(read(foreign).is_err(), "{foreign}");
        }
    }
}
