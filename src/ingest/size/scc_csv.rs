//! `scc-csv`: what `scc --format csv` and `--format csv-stream` write. Written after the source of scc's formatter, version 3;
//! no scc was at hand.

use super::Sizes;
use crate::error::{Error, Reject, Result};
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine, fields, printable};
use crate::ingest::values::whole;
use crate::ingest::{CUT_HELP, Format, Head, Parsed, Sniff, add};
use crate::model::figures::ReportKind;

/// CSV of scc.
pub const FORMAT: Format = Format {
    name: "scc-csv",
    kind: ReportKind::Size,
    about: "scc CSV: lines, code, comments and blank lines of each language or file",
    written_by: "scc --format csv, scc --format csv --by-file, scc --format csv-stream",
    told_by: "a heading Language,Lines,Code,Comments,Blanks,Complexity,Bytes, or with Location and Filename or Provider",
    has_end: false,
    counting: "The rows added up. Of files each row is one; of languages their number is told by newer versions.",
    sniff,
    parse,
};

/// Where in a row the counts stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Columns {
    /// How many there are.
    all: usize,
    /// The first count; `Code`, `Comments` and `Blanks` follow it.
    lines: usize,
    /// How many files a row stands for.
    files: Option<usize>,
    by_file: bool,
}

fn sniff(head: &Head<'_>) -> Sniff {
    let first = head.first_line().unwrap_or_default();
    if heading(first).is_some() { Sniff::Sure("the heading of scc".into()) } else { Sniff::No }
}

fn heading(line: &str) -> Option<Columns> {
    let names: Vec<&str> = line.trim().split(',').collect();
    let lines = names.iter().position(|name| *name == "Lines")?;
    let is_ours = names.first() == Some(&"Language")
        && names.get(lines..)?.starts_with(&["Lines", "Code", "Comments", "Blanks", "Complexity", "Bytes"]);
    let files = names.iter().position(|name| *name == "Files");
    is_ours.then_some(Columns { all: names.len(), lines, files, by_file: names.contains(&"Filename") })
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut lines = Lines::new(input, LongLine::Refuse, Invalid::Escaped)?;
    let (mut columns, mut sizes, mut all_lines) = (None, Sizes::default(), 0);
    while let Some(line) = lines.next()? {
        let text = line.text.trim();
        if text.is_empty() {
            continue;
        }
        let Some(columns) = columns else {
            columns = heading(text).filter(|_| line.ended);
            if columns.is_none() {
                let why = "not CSV of scc: it does not begin with its heading";
                return Err(Error::report(Reject::NotThisFormat, why).line(line.number));
            }
            continue;
        };
        // Without a line end, digits may be missing.
        let Some((count, row)) = row(text, columns).filter(|_| line.ended) else {
            let why = format!("{:?} is no row of scc's, or no whole one", printable(text, 60));
            return Err(Error::report(Reject::Malformed, why).line(line.number).help(CUT_HELP));
        };
        all_lines = add(all_lines, count).map_err(|error| error.line(line.number))?;
        sizes.add(row).map_err(|error| error.line(line.number))?;
    }
    let Some(columns) = columns else {
        return Err(Error::report(Reject::NotThisFormat, "not CSV of scc: it has no heading").line(1));
    };
    let mut parsed = sizes.finish(&FORMAT);
    parsed.figures.lines = Some(all_lines);
    if !columns.by_file && columns.files.is_none() {
        parsed.figures.files = None;
    }
    Ok(parsed)
}

/// Lines, and what they are. What a stream names is not quoted, and may hold commas.
fn row(line: &str, columns: Columns) -> Option<(u64, Sizes)> {
    let fields = fields(line, ',')?;
    let extra = fields.len().checked_sub(columns.all).filter(|extra| *extra == 0 || columns.by_file)?;
    let [lines, code, comments, blanks, ..] = fields.get(columns.lines + extra..)? else { return None };
    let files = match columns.files {
        Some(at) => whole(fields.get(at + extra)?)?,
        None => 1,
    };
    Some((whole(lines)?, Sizes { files, code: whole(code)?, comments: whole(comments)?, blanks: whole(blanks)? }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<(&'static str, u64)>> {
        Ok(crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None)?.figures.counts())
    }

    const LANGUAGES: &str =
        "Language,Lines,Code,Comments,Blanks,Complexity,Bytes\nGo,20,10,5,5,4,300\nC Header,12,8,1,3,2,90\n";
    const FILES: &str = "Language,Location,Filename,Lines,Code,Comments,Blanks,Complexity,Bytes\nGo,a/b.go,b.go,20,10,5,5,4,300\n\
        C Header,a,b.h,a,b.h,12,8,1,3,2,90\n";

    #[test]
    fn files_are_known_where_each_is_a_row() {
        let lines = [("lines", 32), ("code", 18), ("comments", 6), ("blanks", 8)];
        assert_eq!(read(LANGUAGES).unwrap(), lines);
        assert_eq!(read(FILES).unwrap(), [&[("files", 2)], &lines[..]].concat());
        let newer = LANGUAGES
            .replace("Bytes\n", "Bytes,Files,ULOC\n")
            .replace("300\n", "300,2,0\n")
            .replace("90\n", "90,1,0\n");
        assert_eq!(read(&newer).unwrap(), [&[("files", 3)], &lines[..]].concat());
    }

    #[test]
    fn a_row_that_is_cut_or_foreign_is_refused() {
        let row = LANGUAGES.rfind("C Header").unwrap();
        for length in row + 1..LANGUAGES.len() {
            let error = read(LANGUAGES.get(..length).unwrap()).unwrap_err();
            assert_eq!(error.reject(), Some(Reject::Malformed), "{length}");
        }
        assert_eq!(read(&LANGUAGES.replace("12,8", "12,-8")).unwrap_err().reject(), Some(Reject::Malformed));
        assert_eq!(parse(&Input::bytes("x", b"a,b\n")).unwrap_err().reject(), Some(Reject::NotThisFormat));
    }
}
