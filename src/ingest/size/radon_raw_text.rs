//! `radon-raw-text`: what `radon raw` prints: the lines of each Python file, and with `--summary` of all.

use std::collections::BTreeMap;

use super::Sizes;
use super::radon_cc_json::unread;
use crate::error::{Error, Reject, Result};
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine, printable};
use crate::ingest::values::whole;
use crate::ingest::{CUT_HELP, Format, Head, Parsed, Sniff, add};
use crate::model::figures::ReportKind;

/// Text of radon raw.
pub const FORMAT: Format = Format {
    name: "radon-raw-text",
    kind: ReportKind::Size,
    about: "radon's lines, source lines, comments and blank lines of each Python file",
    written_by: "radon raw, radon raw --summary",
    told_by: "lines LOC, LLOC and SLOC below each other, set in by four blanks",
    has_end: false,
    counting: "LOC, SLOC, Comments and Blank of the files, added up; the total of --summary is not used.",
    sniff,
    parse,
};

/// The counts of a file, in their order.
const KEYS: [&str; 7] = ["LOC", "LLOC", "SLOC", "Comments", "Single comments", "Multi", "Blank"];

/// What stands above the sums.
const TOTAL: &str = "** Total **";

fn sniff(head: &Head<'_>) -> Sniff {
    let mut below = head.lines().skip_while(|line| !begins(line)).skip(1);
    let has = |line: Option<&str>, key: &str| line.is_some_and(|line| entry(line).is_some_and(|(name, _)| name == key));
    if has(below.next(), "LLOC") && has(below.next(), "SLOC") && !head.is_of_tests() {
        return Sniff::Sure("lines LOC, LLOC and SLOC".into());
    }
    Sniff::No
}

/// `    LOC: 30`.
fn entry(line: &str) -> Option<(&'static str, &str)> {
    let (name, value) = line.strip_prefix("    ")?.split_once(": ")?;
    let name = KEYS.into_iter().find(|key| *key == name)?;
    Some((name, value.trim_end()))
}

#[derive(Default)]
struct Reader {
    file: String,
    counts: BTreeMap<&'static str, u64>,
    sizes: Sizes,
    lines: u64,
    warnings: Vec<String>,
}

/// Whether the line, below that with its file, is the first of its counts.
pub(in crate::ingest) fn begins(line: &str) -> bool {
    line.starts_with("    LOC: ")
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
    let mut reader = Reader::default();
    let mut last = 0;
    while let Some(line) = lines.next()? {
        last = line.number;
        let text = line.text.as_ref();
        if let Some((name, value)) = entry(text) {
            // Without a line end, digits may be missing.
            let Some(count) = whole(value).filter(|_| line.ended) else { return Err(bad(&reader.file, last)) };
            reader.counts.insert(name, count);
        } else if let Some(error) = text.strip_prefix("    ERROR: ") {
            reader.warnings.push(unread(&reader.file, error));
        } else if !text.starts_with(' ') && !text.is_empty() {
            reader.close(last)?;
            text.clone_into(&mut reader.file);
        }
    }
    reader.close(last)?;
    if reader.sizes.files == 0 && reader.warnings.is_empty() {
        return Err(Error::report(Reject::NotThisFormat, "no file of radon raw is in it"));
    }
    let mut parsed = reader.sizes.finish(&FORMAT);
    parsed.figures.lines = Some(reader.lines);
    Ok(Parsed { warnings: reader.warnings, ..parsed })
}

fn bad(file: &str, line: u64) -> Error {
    let why = format!("{:?} does not tell LOC, SLOC, Comments and Blank", printable(file, 60));
    Error::report(Reject::Malformed, why).line(line).help(CUT_HELP)
}

impl Reader {
    /// Takes the file that is open.
    fn close(&mut self, line: u64) -> Result<()> {
        let counts = std::mem::take(&mut self.counts);
        if counts.is_empty() || self.file.trim_end() == TOTAL {
            return Ok(());
        }
        let [loc, code, comments, blanks] = ["LOC", "SLOC", "Comments", "Blank"].map(|key| counts.get(key).copied());
        let (Some(loc), Some(code), Some(comments), Some(blanks)) = (loc, code, comments, blanks) else {
            return Err(bad(&self.file, line));
        };
        self.lines = add(self.lines, loc).map_err(|error| error.line(line))?;
        self.sizes.add(Sizes { files: 1, code, comments, blanks }).map_err(|error| error.line(line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Parsed> {
        crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None)
    }

    const FILE: &str = "    LOC: 30\n    LLOC: 21\n    SLOC: 19\n    Comments: 1\n    Single comments: 3\n    Multi: 0\n    Blank: 8\n    \
        - Comment Stats\n        (C % L): 3%\n";

    #[test]
    fn files_add_up_and_their_total_does_not_count() {
        let text =
            format!("src/a.py\n{FILE}src/b.py\n    ERROR: SyntaxError at line: 1\nc.py\n{FILE}** Total **\n{FILE}");
        let parsed = read(&text).unwrap();
        let counts = [("files", 2), ("lines", 60), ("code", 38), ("comments", 2), ("blanks", 16)];
        assert_eq!((parsed.figures.counts(), parsed.warnings.len()), (counts.to_vec(), 1));
    }

    #[test]
    fn a_file_that_is_cut_is_refused() {
        let text = format!("src/a.py\n{FILE}");
        for length in text.find("    SLOC: 1").unwrap() + 11..text.find("8\n").unwrap() + 2 {
            let error = read(text.get(..length).unwrap()).unwrap_err();
            assert_eq!(error.reject(), Some(Reject::Malformed), "{length}");
        }
        assert_eq!(parse(&Input::bytes("x", b"a.py\n")).unwrap_err().reject(), Some(Reject::NotThisFormat));
    }
}
