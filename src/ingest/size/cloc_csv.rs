//! `cloc-csv`: what `cloc --csv` writes, by language or, with `--by-file`, by file. Defined by cloc's manual.

use super::{Sizes, compare_declared};
use crate::error::{Error, Reject, Result};
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine, fields, printable};
use crate::ingest::values::whole;
use crate::ingest::{CUT_HELP, Format, Head, Parsed, Sniff};
use crate::model::figures::ReportKind;

/// CSV of cloc.
pub const FORMAT: Format = Format {
    name: "cloc-csv",
    kind: ReportKind::Size,
    about: "cloc CSV: code, comments and blank lines of each language or file",
    written_by: "cloc --csv, cloc --by-file --csv",
    told_by: "a heading files,language,blank,comment,code or language,filename,blank,comment,code",
    has_end: true,
    counting: "The rows added up; SUM is only compared. Of a list of files and one of languages the latter.",
    sniff,
    parse,
};

/// The columns before the counts.
const BY_LANGUAGE: [&str; 2] = ["files", "language"];
const BY_FILE: [&str; 2] = ["language", "filename"];
const COUNTS: [&str; 3] = ["blank", "comment", "code"];

/// What a heading tells of the rows below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Columns {
    delimiter: char,
    by_file: bool,
    /// Columns after `code`.
    more: usize,
}

fn sniff(head: &Head<'_>) -> Sniff {
    if head.lines().any(|line| heading(line).is_some()) { Sniff::Sure("a heading of cloc's".into()) } else { Sniff::No }
}

fn heading(line: &str) -> Option<Columns> {
    let line = line.trim();
    let by_file = line.starts_with("language");
    let [first, second] = if by_file { BY_FILE } else { BY_LANGUAGE };
    let delimiter = line.strip_prefix(first)?.chars().next()?;
    let fields = fields(line, delimiter)?;
    let rest = fields.strip_prefix(&[first.to_owned(), second.to_owned()])?.strip_prefix(&COUNTS.map(str::to_owned))?;
    // Which version of cloc it was, and how fast, has a column in the heading alone.
    let more = rest.iter().filter(|name| !name.contains("cloc")).count();
    Some(Columns { delimiter, by_file, more })
}

/// A list of rows.
#[derive(Default)]
struct List {
    by_file: bool,
    rows: Sizes,
    said: Option<Sizes>,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut lines = Lines::new(input, LongLine::Refuse, Invalid::Escaped)?;
    let (mut open, mut told, mut last): (Option<(Columns, List)>, Option<List>, u64) = (None, None, 0);
    while let Some(line) = lines.next()? {
        last = line.number;
        if let Some(columns) = heading(&line.text) {
            if open.is_some() {
                return Err(cut(last));
            }
            open = Some((columns, List { by_file: columns.by_file, ..List::default() }));
            continue;
        }
        let Some((columns, list)) = open.as_mut().filter(|_| !line.text.trim().is_empty()) else { continue };
        let Some((name, sizes)) = row(&line.text, *columns) else {
            let why = format!("{:?} is no row of cloc's", printable(&line.text, 60));
            return Err(Error::report(Reject::Malformed, why).line(last).help(CUT_HELP));
        };
        if name != "SUM" {
            list.rows.add(sizes).map_err(|error| error.line(last))?;
            continue;
        }
        let is_sum = Sizes { files: list.rows.files, ..sizes } == list.rows;
        if !line.ended && !is_sum {
            return Err(cut(last));
        }
        list.said = Some(sizes);
        told = told.filter(|told| columns.by_file && !told.by_file).or(open.take().map(|(_, list)| list));
    }
    match (open, told) {
        (None, Some(list)) => {
            let mut parsed = list.rows.finish(&FORMAT);
            if let Some(said) = list.said {
                compare_declared(&mut parsed, said);
            }
            Ok(parsed)
        }
        (Some(_), _) => Err(cut(last)),
        (None, None) => Err(Error::report(Reject::NotThisFormat, "not CSV of cloc: it has no such heading").line(1)),
    }
}

fn cut(line: u64) -> Error {
    Error::report(Reject::Malformed, "report ends before the row SUM").line(line).help(CUT_HELP)
}

/// What a row is of, and its counts. A name that holds the delimiter is not always quoted.
fn row(line: &str, columns: Columns) -> Option<(String, Sizes)> {
    let fields = fields(line.trim(), columns.delimiter)?;
    let (named, counts) = fields.split_at_checked(fields.len().checked_sub(COUNTS.len() + columns.more)?)?;
    let [blanks, comments, code, ..] = counts else { return None };
    let (first, rest) = named.split_first()?;
    let (files, name) = match (columns.by_file, rest) {
        (true, [_, ..]) => (1, first),
        // With `--by-file-by-lang` the sum has no files.
        (false, [name]) if first.is_empty() || (name.is_empty() && first == "SUM") => {
            (0, if name.is_empty() { first } else { name })
        }
        (false, [name, ..]) => (whole(first)?, name),
        (_, []) => return None,
    };
    Some((name.clone(), Sizes { files, code: whole(code)?, comments: whole(comments)?, blanks: whole(blanks)? }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Parsed> {
        crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None)
    }

    fn counts(text: &str) -> Vec<u64> {
        read(text).unwrap().figures.counts().into_iter().map(|(_, count)| count).collect()
    }

    const LANGUAGES: &str = "files,language,blank,comment,code,\"github.com/AlDanial/cloc v 1.96  T=0.01 s\"\n2,C,4,5,60\n1,Bourne Shell,1,2,30\n";
    const FILES: &str = "language,filename,blank,comment,code,\"github.com/AlDanial/cloc v 1.96\"\nC,a.c,1,5,50\nC,\"b,c.c\",3,0,10\nBourne Shell,a,b.sh,1,2,30\nSUM,,5,7,90\n";

    #[test]
    fn lists_of_files_and_of_languages_tell_the_same() {
        let sum = format!("{LANGUAGES}3,SUM,5,7,90\n");
        assert_eq!((counts(&sum), counts(FILES)), (vec![3, 90, 7, 5], vec![3, 90, 7, 5]));
        let both = read(&format!("{FILES}{LANGUAGES}SUM,,5,7,90\n")).unwrap();
        assert_eq!((both.figures.code, both.figures.files, both.warnings.len()), (Some(90), Some(3), 0));
        let scaled = "files;language;blank;comment;code;scale;3rd gen. equiv;\"cloc v 1.96\"\n3;C;5;7;90;0.77;69.3\n3;SUM;5;7;90;69.3;0.77";
        assert_eq!(counts(scaled), [3, 90, 7, 5]);
        assert_eq!(read(&format!("{LANGUAGES}3,SUM,5,7,99\n")).unwrap().warnings.len(), 1);
    }

    #[test]
    fn a_list_without_its_sum_is_cut() {
        for bad in [
            LANGUAGES,
            &format!("{LANGUAGES}3,SUM,5,7,9"),
            &format!("{LANGUAGES}3,SUM,5\n"),
            &format!("{FILES}{LANGUAGES}"),
            &format!("{LANGUAGES}{FILES}"),
            &format!("{LANGUAGES}1,C,8.33,1.00,3\n3,SUM,5,7,90\n"),
        ] {
            assert_eq!(read(bad).unwrap_err().reject(), Some(Reject::Malformed), "{bad}");
        }
        let foreign = parse(&Input::bytes("x", b"a,b\n1,2\n")).unwrap_err();
        assert_eq!(foreign.reject(), Some(Reject::NotThisFormat));
    }
}
