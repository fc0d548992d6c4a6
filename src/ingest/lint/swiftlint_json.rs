//! `swiftlint-json`: SwiftLint's reporter `json`. Written after its definition: a list of violations with the keys
//! character, file, line, reason, rule_id, severity and type (<https://realm.github.io/SwiftLint/Structs/JSONReporter.html>).
//!
//! It names no files in which nothing was found.

use serde::Deserialize;

use super::findings_json::{Findings, Loose, Place, Told, elements, foreign};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::{Format, Parsed, Sort};
use crate::model::figures::ReportKind;

/// SwiftLint's JSON.
pub const FORMAT: Format = Format {
    name: "swiftlint-json",
    kind: ReportKind::Lint,
    about: "SwiftLint's violations, as a list",
    written_by: "swiftlint lint --reporter json",
    told_by: "a JSON list of objects with rule_id, reason, severity, file and type",
    has_end: true,
    counting: "Violations by severity, Error or Warning.",
    sniff: |head| head.by_keys(&["rule_id", "reason", "severity", "file", "type"]),
    parse,
};

#[derive(Default, Deserialize)]
#[serde(default)]
struct Violation {
    file: Loose,
    line: Loose,
    reason: Loose,
    rule_id: Loose,
    severity: Option<String>,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut findings = Findings::new("swiftlint", Sort::Linter);
    elements(input, Place::Top, |violation: Violation| {
        if !violation.rule_id.is_text() || !violation.reason.is_text() {
            return Err(foreign("not a report of SwiftLint: an element has no rule_id or no reason"));
        }
        let level = findings.level(violation.severity.as_deref());
        let Violation { file: path, line, reason: message, rule_id: rule, .. } = violation;
        findings.add(level, Told { rule, path, line, message })
    })?;
    findings.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::lint::tests_support::first_finding;

    fn read(text: &str) -> Result<Parsed> {
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn violations_count_by_severity() {
        let one = |severity: &str| {
            format!(
                "{{\"character\":null,\"file\":\"/A.swift\",\"line\":3,\"reason\":\"r\",\"rule_id\":\"colon\",\"severity\":\"{severity}\",\"type\":\"Colon\"}}"
            )
        };
        let parsed = read(&format!("Linting 'A.swift' (1/1)\n[\n{},{}]", one("Error"), one("Warning"))).unwrap();
        assert_eq!((parsed.figures.errors, parsed.figures.warnings), (Some(1), Some(1)));
        assert_eq!(first_finding(&parsed), (Some("/A.swift"), Some(3), Some("colon"), "r"));
        assert_eq!(read("[\n\n]").unwrap().figures.total, Some(0));
    }

    #[test]
    fn what_is_not_swiftlint_s_is_rejected() {
        assert_eq!(read("[{\"rule_id\":\"a\"}]").unwrap_err().reject(), Some(Reject::NotThisFormat));
        assert_eq!(read("{\"rule_id\":\"a\",\"reason\":\"b\"}").unwrap_err().reject(), Some(Reject::NotThisFormat));
        assert_eq!(read("[{\"rule_id\":\"a\",\"reason\":\"b\"").unwrap_err().reject(), Some(Reject::Malformed));
    }
}
