//! `tslint-json`: TSLint's formatter `json`. <https://palantir.github.io/tslint/formatters/json/>
//!
//! It names no files in which nothing was found. Lines are counted from 0.

use serde::Deserialize;

use super::findings_json::{Findings, Loose, Place, Told, elements, foreign};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::{Format, Parsed, Sort};
use crate::model::figures::ReportKind;

/// TSLint's JSON.
pub const FORMAT: Format = Format {
    name: "tslint-json",
    kind: ReportKind::Lint,
    about: "TSLint's failures, as a list",
    written_by: "tslint --format json",
    told_by: "a JSON list of objects with failure, ruleName and startPosition.line",
    has_end: true,
    counting: "Failures by severity: error, warning; before version 5 there was none, and each is an error.",
    sniff: |head| head.by_keys(&["failure", "name", "ruleName", "startPosition.line"]),
    parse,
};

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Failure {
    failure: Loose,
    name: Loose,
    rule_name: Loose,
    rule_severity: Option<String>,
    start_position: Option<Position>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Position {
    line: Loose,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut findings = Findings::new("tslint", Sort::Linter);
    elements(input, Place::Top, |one: Failure| {
        if !one.failure.is_text() || !one.rule_name.is_text() {
            return Err(foreign("not a report of TSLint: an element has no failure or no ruleName"));
        }
        let level = findings.level(one.rule_severity.as_deref());
        let line = one.start_position.unwrap_or_default().line.one_based();
        findings.add(level, Told { rule: one.rule_name, path: one.name, line, message: one.failure })
    })?;
    findings.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::lint::tests_support::first_finding;

    #[test]
    fn failures_count_by_severity_and_lines_from_one() {
        let text = r#"[{"endPosition":{"line":2},"failure":"f","name":"a.ts","ruleName":"r","ruleSeverity":"ERROR",
            "startPosition":{"character":18,"line":0,"position":65}},{"failure":"f","name":"a.ts","ruleName":"r",
            "ruleSeverity":"warning"},{"failure":"f","ruleName":"r"}]"#;
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        let figures = &parsed.figures;
        assert_eq!([figures.errors, figures.warnings, figures.notes], [Some(2), Some(1), Some(0)]);
        assert_eq!(first_finding(&parsed), (Some("a.ts"), Some(1), Some("r"), "f"));
    }

    #[test]
    fn what_is_not_tslint_s_is_rejected() {
        for other in ["[{\"failure\":\"x\"}]", "{\"a\":[]}"] {
            let error = parse(&Input::bytes("x", other.as_bytes())).unwrap_err();
            assert_eq!(error.reject(), Some(Reject::NotThisFormat), "{other}");
        }
    }
}
