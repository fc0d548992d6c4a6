//! `pygount-json`: what `pygount --format json` writes. Its code counts leave out lines that hold nothing but strings or
//! brackets.

use std::marker::PhantomData;

use serde::Deserialize;

use super::{Sizes, compare_declared};
use crate::error::{Error, Reject, Result};
use crate::ingest::input::Input;
use crate::ingest::json;
use crate::ingest::values::Few;
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::figures::ReportKind;

/// JSON of pygount.
pub const FORMAT: Format = Format {
    name: "pygount-json",
    kind: ReportKind::Size,
    about: "pygount JSON: code, documentation and empty lines of each file",
    written_by: "pygount --format json",
    told_by: "a JSON object with pygountVersion",
    has_end: true,
    counting: "All files added up, as pygount does: those that it could not count have no lines. Code is codeCount, or \
               sourceCount where there is no other. The summary is only compared.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    if head.has_key("pygountVersion") { Sniff::Sure("key pygountVersion".into()) } else { Sniff::No }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    files: Few<File, 1_000_000>,
    summary: Option<Summary>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct File {
    code_count: Option<u64>,
    /// Code and strings; all that there was in the format's version 1.0.
    source_count: Option<u64>,
    documentation_count: u64,
    empty_count: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Summary {
    total_code_count: Option<u64>,
    total_source_count: Option<u64>,
    total_documentation_count: u64,
    total_empty_count: u64,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let report: Report = json::object(input, PhantomData)?;
    let mut sizes = Sizes::default();
    for file in report.files {
        let File { code_count, source_count, documentation_count: comments, empty_count: blanks } = file;
        let none = || Error::report(Reject::Malformed, "a file has neither codeCount nor sourceCount");
        let code = code_count.or(source_count).ok_or_else(none)?;
        sizes.add(Sizes { files: 1, code, comments, blanks })?;
    }
    let mut parsed = sizes.finish(&FORMAT);
    if let Some(said) = report.summary
        && let Some(code) = said.total_code_count.or(said.total_source_count)
    {
        let comments = said.total_documentation_count;
        compare_declared(&mut parsed, Sizes { files: 0, code, comments, blanks: said.total_empty_count });
    }
    Ok(parsed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_add_up_and_other_sums_are_warned_of() {
        let file = r#"{"codeCount":1,"documentationCount":2,"emptyCount":3,"state":"analyzed"}"#;
        let summary = r#"{"totalCodeCount":2,"totalDocumentationCount":4,"totalEmptyCount":7}"#;
        let text = format!(r#"{{"pygountVersion":"3","files":[{file},{file}],"summary":{summary}}}"#);
        let parsed = parse(&Input::bytes("x", text.as_bytes())).unwrap();
        assert_eq!(parsed.figures.counts().into_iter().map(|(_, count)| count).collect::<Vec<_>>(), [2, 2, 4, 6]);
        assert_eq!(parsed.warnings.len(), 1);
        let old = text.replace("codeCount", "sourceCount").replace("totalCodeCount", "totalSourceCount");
        let old = parse(&Input::bytes("x", old.as_bytes())).unwrap();
        assert_eq!((old.figures, old.warnings.len()), (parsed.figures, 1));
        for bad in [
            "{}",
            r#"{"files":[{"documentationCount":2,"emptyCount":3}]}"#,
            r#"{"files":[{}]}"#,
            r#"{"files":[{"codeCount":1.5,"documentationCount":2,"emptyCount":3}]}"#,
        ] {
            let error = parse(&Input::bytes("x", bad.as_bytes())).unwrap_err();
            assert_eq!(error.reject(), Some(Reject::Malformed), "{bad}");
        }
    }
}
