//! `cloc-yaml`: what `cloc --yaml` writes, by language or, with `--by-file`, by file; `scc --format cloc-yaml` writes it too.
//! Defined by cloc's manual and the source of scc's formatter.

use std::collections::BTreeMap;

use super::{Sizes, compare_declared};
use crate::error::{Error, Reject, Result};
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine, printable};
use crate::ingest::values::whole;
use crate::ingest::{CUT_HELP, Format, Head, Parsed, Sniff};
use crate::model::figures::ReportKind;

/// YAML of cloc.
pub const FORMAT: Format = Format {
    name: "cloc-yaml",
    kind: ReportKind::Size,
    about: "cloc YAML: code, comments and blank lines of each language or file",
    written_by: "cloc --yaml, cloc --by-file --yaml, scc --format cloc-yaml",
    told_by: "a header with n_files and n_lines, and the URL of cloc or of scc",
    has_end: true,
    counting: "The languages, or the files, added up; SUM is only compared. Of files and languages the latter.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let has = |key: &str| head.lines().any(|line| entry(line).is_some_and(|(name, _)| name == key));
    let is_header = |line: &str| line.trim_end().trim_end_matches(':').trim_end() == "header";
    if head.lines().any(is_header) && has("n_files") && has("n_lines") && (has("cloc_url") || has("url")) {
        return Sniff::Sure("a header with n_files and n_lines".into());
    }
    Sniff::No
}

/// `  key : value`.
fn entry(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.strip_prefix(' ')?.split_once(':')?;
    Some((key.trim(), value.trim()))
}

/// The name of a part: a key at the beginning of a line, with nothing behind it.
fn part(line: &str) -> Option<&str> {
    let key = line.trim_end().strip_suffix(':')?.trim_end();
    let is_key = !key.is_empty() && !key.starts_with([' ', '#', '-']);
    is_key.then(|| key.trim_matches(['\'', '"']))
}

/// What to do with `cloc --diff`.
const DIFFERENCES_HELP: &str = "differences of two trees are no sizes; let cloc count one";

/// The counts of a part, as they come.
type Counts = BTreeMap<&'static str, u64>;

/// Parts up to a sum.
#[derive(Default)]
struct List {
    rows: Sizes,
    said: Option<Sizes>,
}

#[derive(Default)]
struct Reader {
    has_header: bool,
    /// The part that is open, and where it began.
    open: Option<(String, u64, Counts)>,
    list: List,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut lines = Lines::new(input, LongLine::Refuse, Invalid::Escaped)?;
    let mut reader = Reader::default();
    let (mut last, mut ended) = (0, true);
    while let Some(line) = lines.next()? {
        (last, ended) = (line.number, line.ended);
        if let Some(name) = part(&line.text) {
            reader.close(last)?;
            if matches!(name, "added" | "same" | "modified" | "removed") {
                let why = format!("{name:?} does not tell code, comment and blank");
                return Err(Error::report(Reject::Malformed, why).line(last).help(DIFFERENCES_HELP));
            }
            reader.open = Some((name.to_owned(), last, Counts::new()));
        } else if let Some((key, value)) = entry(&line.text) {
            reader.entry(key, value).map_err(|error| error.line(last))?;
        }
    }
    reader.finish(last, ended)
}

impl Reader {
    fn entry(&mut self, key: &str, value: &str) -> Result<()> {
        let Some((name, _, counts)) = self.open.as_mut().filter(|(name, ..)| name != "header") else { return Ok(()) };
        let Some(key) = ["nFiles", "code", "comment", "blank"].into_iter().find(|known| *known == key) else {
            return Ok(());
        };
        let Some(count) = whole(value) else {
            let why = format!("{key} of {:?} is no whole number", printable(name, 40));
            return Err(Error::report(Reject::Malformed, why).help(CUT_HELP));
        };
        counts.insert(key, count);
        Ok(())
    }

    /// Takes the part that is open.
    fn close(&mut self, line: u64) -> Result<()> {
        let Some((name, begin, counts)) = self.open.take() else { return Ok(()) };
        if name == "header" {
            self.has_header = true;
            return Ok(());
        }
        let count = |key| counts.get(key).copied();
        let (Some(code), Some(comments), Some(blanks)) = (count("code"), count("comment"), count("blank")) else {
            let why = format!("{:?} does not tell code, comment and blank", printable(&name, 40));
            return Err(Error::report(Reject::Malformed, why).line(begin).help(CUT_HELP));
        };
        let sizes = Sizes { files: count("nFiles").unwrap_or(1), code, comments, blanks };
        if self.list.said.is_some() {
            // With `--by-file-by-lang` the languages come below the files and their sum.
            self.list = List::default();
        }
        if name == "SUM" {
            self.list.said = Some(sizes);
            return Ok(());
        }
        self.list.rows.add(sizes).map_err(|error| error.line(line))
    }

    fn finish(mut self, line: u64, ended: bool) -> Result<Parsed> {
        self.close(line)?;
        if !self.has_header {
            return Err(Error::report(Reject::NotThisFormat, "not YAML of cloc: it has no header"));
        }
        let List { rows, said } = self.list;
        let Some(said) = said.filter(|said| ended || *said == rows) else {
            return Err(Error::report(Reject::Malformed, "report ends before its SUM").line(line).help(CUT_HELP));
        };
        let mut parsed = rows.finish(&FORMAT);
        compare_declared(&mut parsed, said);
        Ok(parsed)
    }
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

    const HEADER: &str = "---\n# github.com/AlDanial/cloc\nheader : \n  cloc_url           : github.com/AlDanial/cloc\n  n_files            : 2\n  n_lines            : 46\n";
    const LANGUAGES: &str = "'C' :\n  nFiles: 2\n  blank: 4\n  comment: 2\n  code: 40\nSUM: \n  blank: 4\n  comment: 2\n  code: 40\n  nFiles: 2\n";
    const FILES: &str = "'a: b.c' :\n  blank: 1\n  comment: 2\n  code: 30\n  language: C\n'b.c' :\n  blank: 3\n  comment: 0\n  code: 10\n  language: C\n\
        SUM: \n  blank: 4\n  comment: 2\n  code: 40\n  nFiles: 2\n";

    #[test]
    fn differences_are_no_sizes() {
        let text = "---\nheader :\n  cloc_url : github.com/AlDanial/cloc\n  n_files : 2\n  n_lines : 9\nadded :\n  'C' :\n    nFiles : 0\n    \
            code : 1\n    comment : 0\n    blank : 0\nSUM :\n  added :\n    code : 1\n    comment : 0\n    blank : 0\n    nFiles : 0\n";
        assert_eq!(read(text).unwrap_err().reject(), Some(Reject::Malformed));
    }

    #[test]
    fn files_and_languages_tell_the_same() {
        for parts in [FILES, LANGUAGES, &format!("{FILES}{LANGUAGES}")] {
            assert_eq!(counts(&format!("{HEADER}{parts}")), [2, 40, 2, 4], "{parts}");
        }
        let scc = "# https://github.com/boyter/scc/\nheader:\n  url: https://github.com/boyter/scc/\n  version: 3.1.0\n  n_files: 2\n  n_lines: 46\n\
            C:\n  name: C\n  code: 40\n  comment: 2\n  blank: 4\n  nFiles: 2\nSUM:\n  code: 40\n  comment: 2\n  blank: 4\n  nFiles: 2\n";
        assert_eq!(counts(scc), [2, 40, 2, 4]);
        let other = read(&format!("{HEADER}{LANGUAGES}").replace("SUM: \n  blank: 4", "SUM: \n  blank: 5")).unwrap();
        assert_eq!(other.warnings.len(), 1);
    }

    #[test]
    fn a_cut_before_the_end_of_the_sum_shows() {
        let whole = format!("{HEADER}{FILES}{LANGUAGES}");
        let (begin, end) = (HEADER.len() + FILES.len(), whole.len() - "\n  nFiles: 2\n".len());
        for length in (HEADER.len()..HEADER.len() + FILES.find("SUM").unwrap()).chain(begin + 6..end) {
            let error = read(whole.get(..length).unwrap()).unwrap_err();
            assert_eq!(error.reject(), Some(Reject::Malformed), "{length}");
        }
        let none = parse(&Input::bytes("x", b"C:\n  code: 1\n  comment: 1\n  blank: 1\n")).unwrap_err();
        assert_eq!(none.reject(), Some(Reject::NotThisFormat));
    }
}
