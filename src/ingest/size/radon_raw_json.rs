//! `radon-raw-json`: what `radon raw --json` writes: lines of each Python file. Strings over several lines are neither code
//! nor comments there. Files that cannot be parsed have an error instead.

use std::marker::PhantomData;

use serde::Deserialize;

use super::Sizes;
use super::radon_cc_json::unread;
use crate::error::{Error, Reject, Result};
use crate::ingest::input::Input;
use crate::ingest::json;
use crate::ingest::text::printable;
use crate::ingest::values::Unique;
use crate::ingest::{Format, Head, Parsed, Sniff, add};
use crate::model::figures::ReportKind;

/// JSON of radon raw.
pub const FORMAT: Format = Format {
    name: "radon-raw-json",
    kind: ReportKind::Size,
    about: "radon JSON: lines, source lines, comments and blank lines of each Python file",
    written_by: "radon raw --json",
    told_by: "JSON objects by file with loc, lloc and sloc",
    has_end: true,
    counting: "loc, sloc, comments and blank of the files, added up.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let is_file = |key: &String| {
        let below = key.strip_suffix(".lloc").map(|file| ["loc", "sloc"].map(|name| format!("{file}.{name}")));
        below.is_some_and(|keys| keys.iter().all(|key| head.has_key(key)))
    };
    if head.keys().iter().any(is_file) { Sniff::Sure("files with loc, lloc and sloc".into()) } else { Sniff::No }
}

/// A file's lines, or why they are not known.
#[derive(Deserialize)]
struct File {
    loc: Option<u64>,
    sloc: Option<u64>,
    comments: Option<u64>,
    blank: Option<u64>,
    error: Option<String>,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let files: Unique<File> = json::object(input, PhantomData)?;
    let mut sizes = Sizes::default();
    let mut lines = 0;
    let mut warnings = Vec::new();
    for (name, file) in files.0 {
        match (file.loc, file.sloc, file.comments, file.blank, file.error) {
            (Some(loc), Some(code), Some(comments), Some(blanks), None) => {
                lines = add(lines, loc)?;
                sizes.add(Sizes { files: 1, code, comments, blanks })?;
            }
            (.., Some(error)) => warnings.push(unread(&name, &error)),
            _ => {
                let why = format!("{:?} does not tell loc, sloc, comments and blank", printable(&name, 60));
                return Err(Error::report(Reject::Malformed, why));
            }
        }
    }
    let mut parsed = sizes.finish(&FORMAT);
    parsed.figures.lines = Some(lines);
    Ok(Parsed { warnings, ..parsed })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_add_up_and_those_not_read_are_told() {
        let text = r#"{"a.py":{"loc":9,"lloc":3,"sloc":4,"comments":1,"multi":0,"blank":2,"single_comments":1},
            "b.py":{"loc":1,"lloc":1,"sloc":1,"comments":0,"multi":0,"blank":0},"c.py":{"error":"invalid syntax"}}"#;
        let parsed = parse(&Input::bytes("x", text.as_bytes())).unwrap();
        let counts: Vec<_> = parsed.figures.counts();
        assert_eq!(counts, [("files", 2), ("lines", 10), ("code", 5), ("comments", 1), ("blanks", 2)]);
        assert_eq!(parsed.warnings.len(), 1);
        for bad in [r#"{"a":{"loc":1}}"#, r#"{"a":{"loc":1.5,"sloc":1,"comments":1,"blank":1}}"#, r#"{"a":[]}"#] {
            let error = parse(&Input::bytes("x", bad.as_bytes())).unwrap_err();
            assert_eq!(error.reject(), Some(Reject::Malformed), "{bad}");
        }
    }
}
