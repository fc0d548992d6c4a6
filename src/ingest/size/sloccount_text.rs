//! `sloccount-text`: the lines of code of each file as SLOCCount writes them with `--details`, and pygount, whose default it
//! is: `19<TAB>Python<TAB>src<TAB>src/a.py`. <https://dwheeler.com/sloccount/sloccount.html>

use super::Sizes;
use crate::error::{Error, Reject, Result};
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine};
use crate::ingest::values::whole;
use crate::ingest::{CUT_HELP, Format, Head, Parsed, Sniff};
use crate::model::figures::ReportKind;

/// Details of SLOCCount.
pub const FORMAT: Format = Format {
    name: "sloccount-text",
    kind: ReportKind::Size,
    about: "lines of code of each file, as SLOCCount writes its details",
    written_by: "pygount, pygount --format sloccount, sloccount --wide --details",
    told_by: "nothing but lines of a count, a language, a group and a path, parted by tabs",
    has_end: false,
    counting: "All files added up: code alone is told. Files that were not counted (__empty__, __duplicate__) are \
               files, too, without lines.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let mut told = head.lines().filter(|line| line.contains('\t'));
    // Before the rows SLOCCount tells what it does.
    match told.next().and_then(row).is_some() && told.all(|line| row(line).is_some()) {
        true => Sniff::Sure("lines of a count, a language, a group and a path".into()),
        false => Sniff::No,
    }
}

/// The lines of a file.
fn row(line: &str) -> Option<u64> {
    let mut cells = line.trim_end_matches(['\r', '\n']).split('\t');
    let (count, language, group, path) = (cells.next()?, cells.next()?, cells.next()?, cells.next()?);
    let is_name = |name: &str| name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    // The group is the folder, or a part of it.
    let is_ours = is_name(language) && !group.is_empty() && path.contains(['.', '/', '\\']) && cells.next().is_none();
    whole(count).filter(|_| is_ours)
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
    let mut sizes = Sizes::default();
    while let Some(line) = lines.next()? {
        if !line.ended && !line.text.is_empty() {
            let why = "report ends inside a line";
            return Err(Error::report(Reject::Malformed, why).line(line.number).help(CUT_HELP));
        }
        let Some(code) = row(&line.text) else { continue };
        sizes.add(Sizes { files: 1, code, ..Sizes::default() }).map_err(|error| error.line(line.number))?;
    }
    if sizes.files == 0 {
        return Err(Error::report(Reject::NotThisFormat, "no line of SLOCCount is in it"));
    }
    let mut parsed = sizes.finish(&FORMAT);
    (parsed.figures.comments, parsed.figures.blanks) = (None, None);
    Ok(parsed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Parsed> {
        crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None)
    }

    #[test]
    fn files_add_up_and_code_alone_is_known() {
        let text = "6\tC\tsrc\tsrc/a b.c\n19\tCommon Lisp\tsrc\tsrc/a.lisp\n0\t__empty__\tsrc\tsrc/e.py\n\n\n";
        let parsed = read(text).unwrap();
        assert_eq!(parsed.figures.counts(), [("files", 3), ("code", 25)]);
        let cut = read("6\tC\tsrc\tsrc/a.c\n19\tC\tsrc\tsrc/b.c").unwrap_err();
        assert_eq!(cut.reject(), Some(Reject::Malformed));
        for other in ["6\tC\tsrc\n", "6\t7\tsrc\ta.c\n", "6\tC\tsrc\ta.c\nx\ty\n", "6\tC\tsrc\ta.c\tb\n"] {
            assert!(
                !matches!(sniff(&Head::read(&Input::bytes("x", other.as_bytes())).unwrap()), Sniff::Sure(_)),
                "{other}"
            );
        }
    }
}
