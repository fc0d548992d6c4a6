//! `phpcs-json`: PHP_CodeSniffer's JSON report. <https://github.com/PHPCSStandards/PHP_CodeSniffer/wiki/Reporting>

use std::marker::PhantomData;

use serde::Deserialize;

use super::findings_json::{Findings, Loose, OfAFile, Told, foreign, members_under};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::json;
use crate::ingest::{Format, Parsed, Sort};
use crate::model::figures::{Figures, ReportKind};

/// PHP_CodeSniffer's JSON.
pub const FORMAT: Format = Format {
    name: "phpcs-json",
    kind: ReportKind::Lint,
    about: "PHP_CodeSniffer's messages by file",
    written_by: "phpcs --report=json",
    told_by: "a JSON object with totals.errors, totals.warnings and files",
    has_end: true,
    counting: "Messages of all files by type, ERROR or WARNING.",
    sniff: |head| head.by_keys(&["totals.errors", "totals.warnings", "files"]),
    parse,
};

#[derive(Default, Deserialize)]
#[serde(default)]
struct File {
    messages: Option<OfAFile<Message>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Message {
    message: Loose,
    source: Loose,
    #[serde(rename = "type")]
    kind: Option<String>,
    line: Loose,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Document {
    totals: Totals,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Totals {
    errors: Loose,
    warnings: Loose,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut findings = Findings::new("phpcs", Sort::Linter);
    members_under(input, "files", |path: String, file: File| {
        let Some(messages) = file.messages else {
            return Err(foreign("not a report of PHP_CodeSniffer: a file has no messages"));
        };
        for Message { message, source: rule, kind, line } in messages {
            if kind.is_none() && !message.is_text() {
                return Err(foreign("not a report of PHP_CodeSniffer: a message has no type and no text"));
            }
            let level = findings.level(kind.as_deref());
            findings.add(level, Told { rule, path: Loose::Text(path.clone()), line, message })?;
        }
        Ok(())
    })?;
    let totals = json::object(input, PhantomData::<Document>)?.totals;
    let (errors, warnings) = (totals.errors.number(), totals.warnings.number());
    findings.declared = Figures { errors, warnings, ..Figures::default() };
    findings.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;

    fn read(files: &str) -> Result<Parsed> {
        let text = format!(
            "..E 3 / 3\n{{\"totals\":{{\"errors\":1,\"warnings\":0,\"fixable\":0}},\"files\":{files}}}\n\nTime: 1s"
        );
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn types_are_levels_and_totals_are_compared() {
        let parsed = read(
            r#"{"a.php":{"messages":[{"type":"ERROR","message":"m","source":"S","line":3}]},
            "b.php":{"messages":[{"type":"WARNING"}]}}"#,
        );
        let parsed = parsed.unwrap();
        assert_eq!((parsed.figures.errors, parsed.figures.warnings), (Some(1), Some(1)));
        assert_eq!(parsed.declared.unwrap().warnings, Some(0));
        assert_eq!(read("[]").unwrap().figures.total, Some(0));
    }

    #[test]
    fn what_is_not_phpcs_s_is_rejected() {
        for (files, reject) in [
            ("{\"a\":{}}", Reject::NotThisFormat),
            ("{\"a\":{\"messages\":[{\"text\":\"x\"}]}}", Reject::NotThisFormat),
            ("[{}]", Reject::NotThisFormat),
            ("{\"a\":{\"messages\":[]},\"a\":{\"messages\":[]}}", Reject::Malformed),
        ] {
            assert_eq!(read(files).unwrap_err().reject(), Some(reject), "{files}");
        }
    }
}
