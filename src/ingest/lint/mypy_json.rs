//! `mypy-json`: mypy's `--output json`, one object a line. <https://mypy.readthedocs.io/en/stable/command_line.html>
//!
//! It has no end, and no line at all where nothing was found.

use serde::Deserialize;

use super::findings_json::{Findings, Loose, Told, lines};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::{Format, Parsed, Sort};
use crate::model::figures::ReportKind;

/// Mypy's JSON lines.
pub const FORMAT: Format = Format {
    name: "mypy-json",
    kind: ReportKind::Lint,
    about: "mypy's messages, one JSON object a line",
    written_by: "mypy --output json",
    told_by: "JSON lines with file, line, message, hint and severity",
    has_end: false,
    counting: "Every line by its severity: error; note. Lines that are no JSON are skipped.",
    sniff: |head| head.by_keys(&["file", "line", "message", "hint", "severity"]),
    parse,
};

#[derive(Default, Deserialize)]
#[serde(default)]
struct Message {
    file: Option<String>,
    line: Loose,
    message: Loose,
    code: Loose,
    severity: Option<String>,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut findings = Findings::new("mypy", Sort::TypeChecker);
    lines(input, &["{\"file\":"], |message: Message| {
        let (Some(file), Some(severity)) = (message.file, message.severity) else { return Ok(false) };
        let level = findings.level(Some(&severity));
        let Message { line, message, code: rule, .. } = message;
        findings.add(level, Told { rule, path: Loose::Text(file), line, message })?;
        Ok(true)
    })?;
    findings.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;

    const ONE: &str =
        r#"{"file": "a.py", "line": 3, "column": 0, "message": "m", "hint": null, "code": "c", "severity": "error"}"#;

    fn read(text: &str) -> Result<Parsed> {
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn lines_count_by_severity_among_other_output() {
        let note = ONE.replace("\"error\"", "\"note\"");
        let figures = read(&format!("warning: x\n{ONE}\r\n{{ odd\n{{\"a\":1}}\n{note}\n{ONE}")).unwrap().figures;
        assert_eq!([figures.errors, figures.warnings, figures.notes], [Some(2), Some(0), Some(1)]);
    }

    #[test]
    fn what_is_cut_or_foreign_is_rejected() {
        for (text, reject) in [
            (ONE.get(..50).unwrap().to_owned(), Reject::Malformed),
            (format!("{ONE}\n{}\n{ONE}\n", ONE.get(..20).unwrap()), Reject::Malformed),
            (format!("{ONE}\n{{"), Reject::Malformed),
            (ONE.replace("\"line\"", "\"file\""), Reject::Malformed),
            ("Success: no issues found in 1 source file\n".to_owned(), Reject::NotThisFormat),
            ("{\"file\":\"a\"}\n".to_owned(), Reject::NotThisFormat),
        ] {
            assert_eq!(read(&text).unwrap_err().reject(), Some(reject), "{text}");
        }
    }
}
