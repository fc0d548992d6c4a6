//! `staticcheck-json`: staticcheck's format `json`, one object a line. <https://staticcheck.dev/docs/running-staticcheck/cli/formatters/>
//!
//! It prints nothing where it finds nothing, and has no end.

use serde::Deserialize;

use super::findings_json::{Findings, Loose, Told, lines};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::{Format, Parsed, Sort};
use crate::model::figures::ReportKind;

/// staticcheck's JSON.
pub const FORMAT: Format = Format {
    name: "staticcheck-json",
    kind: ReportKind::Lint,
    about: "staticcheck's problems, one object a line",
    written_by: "staticcheck -f json",
    told_by: "JSON lines with code, severity, location.file, end and message",
    has_end: false,
    counting: "Problems by severity, error or warning; those ignored by a directive are suppressed.",
    sniff: |head| head.by_keys(&["code", "severity", "location.file", "end.file", "message"]),
    parse,
};

#[derive(Default, Deserialize)]
#[serde(default)]
struct Problem {
    code: Loose,
    severity: Option<String>,
    location: Option<Location>,
    message: Loose,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Location {
    file: Loose,
    line: Loose,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut findings = Findings::new("staticcheck", Sort::Linter);
    lines(input, &["{\"code\":"], |problem: Problem| {
        let (Loose::Text(_), Some(severity), Some(location)) = (&problem.code, problem.severity, problem.location)
        else {
            return Ok(false);
        };
        if severity == "ignored" {
            findings.suppressed();
            return Ok(true);
        }
        let level = findings.level(Some(&severity));
        let (Location { file: path, line }, rule, message) = (location, problem.code, problem.message);
        findings.add(level, Told { rule, path, line, message }).map(|()| true)
    })?;
    findings.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::Details;

    fn read(text: &str) -> Result<Parsed> {
        parse(&Input::bytes("x", text.as_bytes()))
    }

    fn one(severity: &str) -> String {
        format!(
            "{{\"code\":\"S1003\",\"severity\":\"{severity}\",\"location\":{{\"file\":\"a.go\",\"line\":15,\"column\":5}},\"end\":{{\"file\":\"\",\"line\":0,\"column\":0}},\"message\":\"m\"}}\n"
        )
    }

    #[test]
    fn problems_count_by_severity() {
        let text = format!("{}go: downloading x\n{}{}", one("error"), one("warning"), one("ignored"));
        let parsed = read(&text).unwrap();
        let figures = &parsed.figures;
        assert_eq!((figures.errors, figures.warnings, figures.suppressed), (Some(1), Some(1), Some(1)));
        let Details::Lint(details) = parsed.details else { panic!("lint") };
        let first = details.findings.first().unwrap();
        assert_eq!((first.path.as_deref(), first.line, first.rule.as_deref()), (Some("a.go"), Some(15), Some("S1003")));
    }

    #[test]
    fn what_is_cut_or_foreign_is_rejected() {
        let text = one("error").repeat(2);
        let cut = read(text.get(..text.len() - 9).unwrap()).unwrap_err();
        assert_eq!((cut.reject(), cut.place.line), (Some(Reject::Malformed), Some(2)));
        assert_eq!(read("{\"code\":1}\n").unwrap_err().reject(), Some(Reject::NotThisFormat));
    }
}
