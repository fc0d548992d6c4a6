//! `credo-json`: Credo's format `json`. Written after its definition
//! (<https://github.com/rrrene/credo/blob/master/lib/credo/cli/output/formatter/json.ex>).
//!
//! It names no files in which nothing was found.

use serde::Deserialize;

use super::findings_json::{Findings, Loose, Place, Told, elements, foreign};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::{Format, Level, Parsed, Sort};
use crate::model::figures::ReportKind;

/// Credo's JSON.
pub const FORMAT: Format = Format {
    name: "credo-json",
    kind: ReportKind::Lint,
    about: "Credo's issues",
    written_by: "mix credo --format json",
    told_by: "a JSON object with issues.check, issues.category and issues.line_no",
    has_end: true,
    counting: "Each issue is an error: Credo has priorities, which are no severities, and fails for each.",
    sniff: |head| head.by_keys(&["issues.check", "issues.category", "issues.line_no", "issues.priority"]),
    parse,
};

#[derive(Default, Deserialize)]
#[serde(default)]
struct Issue {
    check: Loose,
    message: Loose,
    filename: Loose,
    line_no: Loose,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut findings = Findings::new("credo", Sort::Linter);
    elements(input, Place::Under("issues"), |issue: Issue| {
        if !issue.check.is_text() {
            return Err(foreign("not a report of Credo: an issue has no check"));
        }
        let Issue { check: rule, message, filename: path, line_no: line } = issue;
        findings.add(Level::Error, Told { rule, path, line, message })
    })?;
    findings.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::lint::tests_support::first_finding;

    #[test]
    fn issues_have_check_and_place() {
        let text = r#"{"issues":[{"category":"readability","check":"Credo.Check.Readability.ModuleDoc","column":11,"column_end":13,
            "filename":"lib/a.ex","line_no":1,"message":"m","priority":1,"scope":"A","trigger":"A"},{"check":"B","line_no":null}]}"#;
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        let figures = &parsed.figures;
        assert_eq!([figures.errors, figures.warnings, figures.notes], [Some(2), Some(0), Some(0)]);
        assert_eq!(parse(&Input::bytes("x", b"{\"issues\":[]}")).unwrap().figures.total, Some(0));
        assert_eq!(first_finding(&parsed), (Some("lib/a.ex"), Some(1), Some("Credo.Check.Readability.ModuleDoc"), "m"));
    }

    #[test]
    fn what_is_not_credo_s_is_rejected() {
        for other in ["{\"issues\":[{\"rule\":\"x\"}]}", "{\"a\":[]}"] {
            let error = parse(&Input::bytes("x", other.as_bytes())).unwrap_err();
            assert_eq!(error.reject(), Some(Reject::NotThisFormat), "{other}");
        }
    }
}
