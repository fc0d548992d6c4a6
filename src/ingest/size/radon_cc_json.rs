//! `radon-cc-json`: what `radon cc --json` writes: the functions, methods and classes of each Python file with their
//! cyclomatic complexity. Files that cannot be parsed have an error instead.

use std::marker::PhantomData;

use serde::Deserialize;

use super::Functions;
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::json;
use crate::ingest::text::printable;
use crate::ingest::values::Unique;
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::figures::ReportKind;

/// JSON of radon cc.
pub const FORMAT: Format = Format {
    name: "radon-cc-json",
    kind: ReportKind::Size,
    about: "radon JSON: cyclomatic complexity of each Python function and method",
    written_by: "radon cc --json",
    told_by: "JSON lists by file with complexity, rank and type",
    has_end: true,
    counting: "Functions and methods that stand in a file's own list; a class repeats its methods, and is none itself.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let is_block = |key: &String| {
        let below =
            key.strip_suffix(".complexity").map(|file| ["rank", "type", "lineno"].map(|name| format!("{file}.{name}")));
        below.is_some_and(|keys| keys.iter().all(|key| head.has_key(key)))
    };
    if head.keys().iter().any(is_block) {
        Sniff::Sure("files with complexity, rank and type".into())
    } else {
        Sniff::No
    }
}

/// A file's blocks, or why there are none.
#[derive(Deserialize)]
#[serde(untagged, expecting = "a file has neither blocks nor an error")]
enum File {
    Blocks(Vec<Block>),
    Failed { error: String },
}

#[derive(Deserialize)]
struct Block {
    #[serde(rename = "type")]
    kind: String,
    complexity: u64,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let files: Unique<File> = json::object(input, PhantomData)?;
    let mut functions = Functions::default();
    let mut warnings = Vec::new();
    for (name, file) in files.0 {
        match file {
            File::Blocks(blocks) => {
                for block in blocks.iter().filter(|block| block.kind != "class") {
                    functions.add(block.complexity, None)?;
                }
            }
            File::Failed { error } => warnings.push(unread(&name, &error)),
        }
    }
    let parsed = functions.finish(&FORMAT);
    Ok(Parsed { warnings, ..parsed })
}

/// What is said of a file that radon could not read.
pub(super) fn unread(name: &str, error: &str) -> String {
    format!("{:?} is not counted: {}", printable(name, 200), printable(error, 100))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;

    #[test]
    fn classes_are_no_functions() {
        let block = |kind: &str, ccn: u64| {
            format!(
                r#"{{"type":"{kind}","rank":"A","lineno":1,"complexity":{ccn},"methods":[{{"type":"method","complexity":99}}]}}"#
            )
        };
        let text = format!(
            r#"{{"a.py":[{},{},{}],"b.py":{{"error":"invalid syntax"}},"c.py":[]}}"#,
            block("class", 50),
            block("method", 3),
            block("function", 4)
        );
        let parsed = parse(&Input::bytes("x", text.as_bytes())).unwrap();
        let figures = parsed.figures;
        assert_eq!(
            (figures.functions, figures.ccn_total, figures.ccn_max),
            (Some(2), Some(7_u64.into()), Some(4_u64.into()))
        );
        assert_eq!((figures.nloc, parsed.warnings.len()), (None, 1));
        for bad in [r#"{"a":[{"type":"method"}]}"#, r#"{"a":[{"type":"method","complexity":-1}]}"#, r#"{"a":1}"#] {
            let error = parse(&Input::bytes("x", bad.as_bytes())).unwrap_err();
            assert_eq!(error.reject(), Some(Reject::Malformed), "{bad}");
        }
    }
}
