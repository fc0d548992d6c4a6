//! `pint-json`: what Laravel Pint prints under an agent, its format `agent`. Written after its source,
//! `app/Output/AgentReporter.php` (<https://github.com/laravel/pint>).
//!
//! It names no files in which nothing was to be fixed.

use std::marker::PhantomData;

use serde::Deserialize;

use super::findings_json::{Findings, Loose, OfAFile, Told, foreign};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::values::Few;
use crate::ingest::{Format, Head, Level, Parsed, Sniff, Sort, json};
use crate::model::figures::ReportKind;

/// Pint's JSON for agents.
pub const FORMAT: Format = Format {
    name: "pint-json",
    kind: ReportKind::Lint,
    about: "files that Pint would change, and those it cannot read",
    written_by: "pint under an agent, or with --format=agent",
    told_by: "a JSON object with result and files.fixers or errors.path, or with the result pass alone",
    has_end: true,
    counting: "Each file is an error, as for the other formatters; its fixers are told. Where all were fixed, none is. A \
               file that it cannot parse is an error, too.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let has_files = head.has_key("files.path") && head.has_key("files.fixers");
    let has_errors = head.has_key("errors.path") && head.has_key("errors.message");
    let is_clean = || head.has_only(&["result"]) && head.text().contains("\"pass\"");
    match head.has_key("result") && (has_files || has_errors || is_clean()) {
        true => Sniff::Sure("key result, as Pint writes it for agents".into()),
        false => Sniff::No,
    }
}

#[derive(Deserialize)]
struct Report {
    result: String,
    #[serde(default)]
    files: OfAFile<File>,
    #[serde(default)]
    errors: OfAFile<Unread>,
}

#[derive(Deserialize)]
struct File {
    path: String,
    fixers: Few<String>,
}

#[derive(Deserialize)]
struct Unread {
    path: String,
    message: String,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let report: Report = json::object(input, PhantomData)?;
    let files = match report.result.as_str() {
        "pass" | "fail" => report.files.0,
        "fixed" => Vec::new(),
        _ => return Err(foreign("not a report of Pint: its result is none that Pint knows")),
    };
    let mut findings = Findings::new("pint", Sort::Linter);
    let files = files.into_iter().map(|file| (file.path, file.fixers.0.join(", ")));
    let unread = report.errors.0.into_iter().map(|file| (file.path, file.message));
    for (path, message) in files.chain(unread) {
        let told = Told { path: Loose::Text(path), message: Loose::Text(message), ..Told::default() };
        findings.add(Level::Error, told)?;
    }
    findings.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::lint::tests_support::first_finding;

    fn read(text: &str) -> Result<Parsed> {
        crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None)
    }

    #[test]
    fn files_that_are_fixed_are_no_errors_any_more() {
        let files = r#""files":[{"path":"app/A.php","fixers":["braces","no_x"]},{"path":"b.php","fixers":["y"]}]"#;
        let errors = r#""errors":[{"path":"c.php","message":"Parse error: syntax error on line 3."}]"#;
        for (text, count) in [
            (format!(r#"{{"result":"fail",{files}}}"#), 2),
            (format!(r#"{{"result":"fixed",{files}}}"#), 0),
            (format!(r#"{{"result":"fail",{files},{errors}}}"#), 3),
            (format!(r#"{{"result":"fail",{errors}}}"#), 1),
            (r#"{"result":"pass"}"#.to_owned(), 0),
        ] {
            let parsed = read(&text).unwrap();
            assert_eq!((parsed.format.name, parsed.figures.errors), ("pint-json", Some(count)), "{text}");
        }
        let parsed = read(&format!(r#"{{"result":"fail",{files}}}"#)).unwrap();
        assert_eq!(first_finding(&parsed), (Some("app/A.php"), None, None, "braces, no_x"));
    }

    #[test]
    fn another_result_is_not_pint() {
        assert!(read(r#"{"result":"fail"}"#).is_err() && read(r#"{"result":"pass","x":1}"#).is_err());
        let other = r#"{"result":"ok","files":[{"path":"a","fixers":[]}]}"#;
        assert_eq!(read(other).unwrap_err().reject(), Some(Reject::NotThisFormat));
    }
}
