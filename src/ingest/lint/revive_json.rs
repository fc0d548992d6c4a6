//! `revive-json`: revive's formatter `json`. Written after its definition, the fields of `Failure`
//! (<https://github.com/mgechev/revive/blob/master/lint/failure.go>).
//!
//! It names no files in which nothing was found.

use serde::Deserialize;

use super::findings_json::{Findings, Loose, Place, Told, elements, foreign};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::{Format, Parsed, Sort};
use crate::model::figures::ReportKind;

/// revive's JSON.
pub const FORMAT: Format = Format {
    name: "revive-json",
    kind: ReportKind::Lint,
    about: "revive's failures, as a list",
    written_by: "revive -formatter json",
    told_by: "a JSON list of objects with Severity, Failure, RuleName and Position.Start",
    has_end: true,
    counting: "Failures by severity: error, warning.",
    sniff: |head| head.by_keys(&["Severity", "Failure", "RuleName", "Position.Start"]),
    parse,
};

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct Failure {
    severity: Option<String>,
    failure: Loose,
    rule_name: Loose,
    position: Option<Position>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct Position {
    start: Option<Start>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct Start {
    filename: Loose,
    line: Loose,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut findings = Findings::new("revive", Sort::Linter);
    elements(input, Place::Top, |one: Failure| {
        if !one.failure.is_text() || !one.rule_name.is_text() {
            return Err(foreign("not a report of revive: an element has no Failure or no RuleName"));
        }
        let level = findings.level(one.severity.as_deref());
        let Start { filename: path, line } = one.position.and_then(|position| position.start).unwrap_or_default();
        findings.add(level, Told { rule: one.rule_name, path, line, message: one.failure })
    })?;
    findings.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::lint::tests_support::first_finding;

    #[test]
    fn failures_count_by_severity() {
        let text = r#"[{"Severity":"warning","Failure":"f","RuleName":"exported","Category":"comments","Position":{"Start":
            {"Filename":"a.go","Offset":9,"Line":3,"Column":1},"End":{"Line":3}},"Confidence":1,"ReplacementLine":""},
            {"Severity":"error","Failure":"f","RuleName":"r"}]"#;
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        let figures = &parsed.figures;
        assert_eq!([figures.errors, figures.warnings, figures.notes], [Some(1), Some(1), Some(0)]);
        assert_eq!(first_finding(&parsed), (Some("a.go"), Some(3), Some("exported"), "f"));
    }

    #[test]
    fn what_is_not_revive_s_is_rejected() {
        for other in ["[{\"Failure\":\"x\"}]", "{\"a\":[]}"] {
            let error = parse(&Input::bytes("x", other.as_bytes())).unwrap_err();
            assert_eq!(error.reject(), Some(Reject::NotThisFormat), "{other}");
        }
    }
}
