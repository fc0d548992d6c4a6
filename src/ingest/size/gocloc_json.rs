//! `gocloc-json`: what `gocloc --output-type=json` writes, by language or, with `--by-file`, by file. Written after its source,
//! <https://github.com/hhatto/gocloc/blob/master/json.go>.

use std::marker::PhantomData;

use serde::Deserialize;

use super::{Sizes, compare_declared};
use crate::error::{Error, Reject, Result};
use crate::ingest::input::Input;
use crate::ingest::json;
use crate::ingest::values::Few;
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::figures::ReportKind;

/// JSON of gocloc.
pub const FORMAT: Format = Format {
    name: "gocloc-json",
    kind: ReportKind::Size,
    about: "gocloc JSON: code, comments and blank lines of each language or file",
    written_by: "gocloc --output-type=json",
    told_by: "a JSON object with languages or files, each with code, comment and blank, and total",
    has_end: true,
    counting: "The languages, or the files, added up. The total is only compared.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let is_of =
        |list: &str| ["name", "code", "comment", "blank"].iter().all(|key| head.has_key(&format!("{list}.{key}")));
    match is_of("languages") || (is_of("files") && head.has_key("files.Lang")) {
        true => Sniff::Sure("keys code, comment and blank, as gocloc writes them".into()),
        false => Sniff::No,
    }
}

#[derive(Deserialize)]
struct Report {
    languages: Option<Few<Part, 1_000_000>>,
    files: Option<Few<Part, 1_000_000>>,
    total: Option<Part>,
}

#[derive(Deserialize)]
struct Part {
    files: Option<u64>,
    code: u64,
    comment: u64,
    blank: u64,
}

impl Part {
    fn sizes(&self) -> Sizes {
        Sizes { files: self.files.unwrap_or(1), code: self.code, comments: self.comment, blanks: self.blank }
    }
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let report: Report = json::object(input, PhantomData)?;
    let not_ours = || Error::report(Reject::NotThisFormat, "not a report of gocloc: it has no languages and no files");
    let parts = report.languages.or(report.files).ok_or_else(not_ours)?;
    let mut sizes = Sizes::default();
    parts.into_iter().try_for_each(|part| sizes.add(part.sizes()))?;
    let mut parsed = sizes.finish(&FORMAT);
    if let Some(total) = report.total {
        compare_declared(&mut parsed, total.sizes());
    }
    Ok(parsed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_or_files_add_up() {
        let read = |text: &str| crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None);
        let counts = |parsed: &Parsed| parsed.figures.counts().into_iter().map(|(_, count)| count).collect::<Vec<_>>();
        let languages = r#"{"languages":[{"name":"Markdown","files":3,"code":18,"comment":0,"blank":8},{"name":"Go","files":1,"code":323,"comment":1,"blank":29}],
            "total":{"files":4,"code":341,"comment":1,"blank":37}}"#;
        let parsed = read(languages).unwrap();
        assert_eq!((counts(&parsed), parsed.warnings.len()), (vec![4, 341, 1, 37], 0));
        let files = r#"{"files":[{"code":2,"comment":1,"blank":3,"name":"a.go","Lang":"Go"}],"total":{"files":1,"code":9,"comment":1,"blank":3}}"#;
        let parsed = read(files).unwrap();
        assert_eq!((counts(&parsed), parsed.warnings.len()), (vec![1, 2, 1, 3], 1));
        let other = parse(&Input::bytes("x", b"{\"total\":null}")).unwrap_err();
        assert_eq!(other.reject(), Some(Reject::NotThisFormat));
    }
}
