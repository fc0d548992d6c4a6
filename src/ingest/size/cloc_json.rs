//! `cloc-json`: what `cloc --json` writes, by language or, with `--by-file`, by file. Defined by cloc's manual. It does not
//! tell how many lines there are in all but in its header.

use std::cell::RefCell;

use serde::Deserialize;

use super::{Sizes, compare_declared};
use crate::error::{Error, Reject, Result};
use crate::ingest::entries::{Entries, Fault, Nested, take};
use crate::ingest::input::Input;
use crate::ingest::json;
use crate::ingest::text::printable;
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::figures::ReportKind;

/// JSON of cloc.
pub const FORMAT: Format = Format {
    name: "cloc-json",
    kind: ReportKind::Size,
    about: "cloc JSON: code, comments and blank lines of each language or file",
    written_by: "cloc --json",
    told_by: "a JSON object with header.cloc_version",
    has_end: true,
    counting: "The languages, or the files, added up. SUM is only compared.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let header = ["header", "by_file.header"].into_iter().find(|header| {
        let has = |name| head.has_key(&format!("{header}.{name}"));
        has("cloc_version") || has("cloc_url")
    });
    match header {
        Some(header) => Sniff::Sure(format!("key {header}.cloc_version")),
        None => Sniff::No,
    }
}

/// A language, a file, the sum, or the header, which has none of these.
#[derive(Deserialize)]
struct Part {
    #[serde(rename = "nFiles")]
    files: Option<u64>,
    code: Option<u64>,
    comment: Option<u64>,
    blank: Option<u64>,
}

/// What was read so far.
#[derive(Default)]
struct Read {
    has_header: bool,
    sizes: Sizes,
    /// What SUM says.
    said: Option<Sizes>,
    /// The first part that tells no sizes.
    bad: Option<String>,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let (fault, read) = (&Fault::default(), &RefCell::new(Read::default()));
    let part = |name: String| Ok(take(fault, move |part: Part| read.borrow_mut().take(&name, &part)));
    // With `--by-file-by-lang` everything is told twice: the files in one object, the languages in another.
    let of = |name: String| match name.as_str() {
        "by_file" => Ok(Nested::Many(Entries { of: part, fault })),
        _ => part(name).map(Nested::One),
    };
    fault.ours(json::object(input, Entries { of, fault }))?;
    let Read { has_header, sizes, said, bad } = read.take();
    if !has_header {
        return Err(Error::report(Reject::NotThisFormat, "not a report of cloc: it has no header"));
    }
    if let Some(name) = bad {
        let why = format!("{:?} does not tell code, comment and blank", printable(&name, 40));
        return Err(
            Error::report(Reject::Malformed, why).help("differences of two trees are no sizes; let cloc count one")
        );
    }
    let mut parsed = sizes.finish(&FORMAT);
    if let Some(said) = said {
        compare_declared(&mut parsed, said);
    }
    Ok(parsed)
}

impl Read {
    fn take(&mut self, name: &str, part: &Part) -> Result<()> {
        match (name, part.sizes()) {
            ("header", _) => self.has_header = true,
            ("by_lang", _) => {}
            ("SUM", said) => self.said = said,
            (_, Some(sizes)) => self.sizes.add(sizes)?,
            (_, None) => drop(self.bad.get_or_insert_with(|| name.to_owned())),
        }
        Ok(())
    }
}

impl Part {
    fn sizes(&self) -> Option<Sizes> {
        let (code, comments, blanks) = (self.code?, self.comment?, self.blank?);
        Some(Sizes { files: self.files.unwrap_or(1), code, comments, blanks })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(parts: &str) -> Result<Parsed> {
        parse(&Input::bytes("x", format!(r#"{{"header":{{"cloc_version":"2"}}{parts}}}"#).as_bytes()))
    }

    #[test]
    fn languages_have_their_files_and_a_file_is_one() {
        let figures = |parts: &str| {
            let figures = read(parts).unwrap().figures;
            figures.counts().into_iter().map(|(_, count)| count).collect::<Vec<_>>()
        };
        let c = r#","C":{"nFiles":2,"blank":3,"comment":4,"code":5}"#;
        assert_eq!(figures(c), [2, 5, 4, 3]);
        assert_eq!(
            figures(&format!(r#"{c},"a.py":{{"blank":1,"comment":1,"code":1,"language":"Python"}}"#)),
            [3, 6, 5, 4]
        );
        assert_eq!(figures(""), [0, 0, 0, 0]);
        assert_eq!(read(r#","SUM":{"nFiles":1,"blank":0,"comment":0,"code":9}"#).unwrap().warnings.len(), 1);
    }

    #[test]
    fn what_is_told_twice_counts_once() {
        let part = r#"{"blank":1,"comment":2,"code":3}"#;
        let by_file = format!(r#"{{"header":{{"cloc_version":"2"}},"a.c":{part},"SUM":{part}}}"#);
        let text = format!(r#"{{"by_file":{by_file},"by_lang":{{"C":{part},"SUM":{part}}}}}"#);
        let parsed = parse(&Input::bytes("x", text.as_bytes())).unwrap();
        assert_eq!((parsed.figures.files, parsed.figures.code, parsed.warnings.len()), (Some(1), Some(3), 0));
        let twice = format!(r#"{{"header":{{}},"C":{part},"C":{part}}}"#);
        assert_eq!(parse(&Input::bytes("x", twice.as_bytes())).unwrap_err().reject(), Some(Reject::Malformed));
    }

    #[test]
    fn differences_are_no_sizes() {
        for bad in [r#","added":{"C":{"code":1}}"#, r#","C":{"nFiles":-1,"blank":0,"comment":0,"code":0}"#] {
            assert_eq!(read(bad).unwrap_err().reject(), Some(Reject::Malformed), "{bad}");
        }
        assert_eq!(parse(&Input::bytes("x", b"{}")).unwrap_err().reject(), Some(Reject::NotThisFormat));
    }
}
