//! `psalm-json`: Psalm's output format `json`. Written after its definition, the fields of `IssueData` that its JSON report
//! writes (<https://psalm.dev/docs/running_psalm/command_line_usage/>).
//!
//! It names no files in which nothing was found.

use serde::Deserialize;

use super::findings_json::{Findings, Loose, Place, Told, elements, foreign};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::{Format, Parsed, Sort};
use crate::model::figures::ReportKind;

/// Psalm's JSON.
pub const FORMAT: Format = Format {
    name: "psalm-json",
    kind: ReportKind::Lint,
    about: "Psalm's issues, as a list",
    written_by: "psalm --output-format=json, psalm --report=psalm.json",
    told_by: "a JSON list of objects with severity, line_from, type and file_name",
    has_end: true,
    counting: "Issues by severity: error; info is a note.",
    sniff: |head| head.by_keys(&["severity", "line_from", "type", "file_name"]),
    parse,
};

#[derive(Default, Deserialize)]
#[serde(default)]
struct Issue {
    severity: Option<String>,
    line_from: Loose,
    #[serde(rename = "type")]
    kind: Loose,
    message: Loose,
    file_name: Loose,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut findings = Findings::new("psalm", Sort::Linter);
    elements(input, Place::Top, |issue: Issue| {
        if !issue.kind.is_text() || !issue.file_name.is_text() {
            return Err(foreign("not a report of Psalm: an issue has no type or no file_name"));
        }
        let level = findings.level(issue.severity.as_deref());
        let Issue { line_from: line, kind: rule, message, file_name: path, .. } = issue;
        findings.add(level, Told { rule, path, line, message })
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

    #[test]
    fn issues_count_by_severity() {
        let one = |severity: &str| {
            format!(
                "{{\"severity\":\"{severity}\",\"line_from\":3,\"type\":\"UnusedClass\",\"message\":\"m\",\"file_name\":\"a.php\"}}"
            )
        };
        let parsed = read(&format!("[{},{},{}]", one("error"), one("info"), one("error"))).unwrap();
        assert_eq!((parsed.figures.errors, parsed.figures.notes), (Some(2), Some(1)));
        let Details::Lint(details) = parsed.details else { panic!("lint") };
        let first = details.findings.first().unwrap();
        assert_eq!(
            (first.path.as_deref(), first.line, first.rule.as_deref()),
            (Some("a.php"), Some(3), Some("UnusedClass"))
        );
        assert_eq!(read("[]").unwrap().figures.total, Some(0));
    }

    #[test]
    fn what_is_not_psalm_s_is_rejected() {
        assert_eq!(read("[{\"type\":\"a\"}]").unwrap_err().reject(), Some(Reject::NotThisFormat));
        assert_eq!(read("[{\"type\":\"a\",\"file_name\":\"b\"}").unwrap_err().reject(), Some(Reject::Malformed));
    }
}
