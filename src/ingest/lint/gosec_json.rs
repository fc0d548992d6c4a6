//! `gosec-json`: gosec's format `json`. Written after its definition, the types of its reports
//! (<https://github.com/securego/gosec/blob/master/report.go>, `issue/issue.go`).
//!
//! It names no files in which nothing was found.

use std::marker::PhantomData;

use serde::Deserialize;

use super::findings_json::{Findings, Loose, Place, There, Told, elements, foreign};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::json;
use crate::ingest::values::{Few, Unique};
use crate::ingest::{Format, Parsed, Sort};
use crate::model::figures::ReportKind;

/// gosec's JSON.
pub const FORMAT: Format = Format {
    name: "gosec-json",
    kind: ReportKind::Lint,
    about: "gosec's issues",
    written_by: "gosec -fmt json",
    told_by: "a JSON object with Golang errors and Issues",
    has_end: true,
    counting: "Issues by severity: HIGH is an error, MEDIUM a warning, LOW a note. What a comment or the configuration \
               silenced is suppressed. Packages that gosec could not load are told, not counted.",
    sniff: |head| head.by_keys(&["Golang errors", "Issues"]),
    parse,
};

#[derive(Default, Deserialize)]
#[serde(default)]
struct Issue {
    severity: Option<String>,
    rule_id: Loose,
    details: Loose,
    file: Loose,
    line: Loose,
    nosec: bool,
    suppressions: Option<Few<There>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Document {
    #[serde(rename = "Golang errors")]
    errors: Unique<There>,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut findings = Findings::new("gosec", Sort::Linter);
    elements(input, Place::Under("Issues"), |issue: Issue| {
        if !issue.rule_id.is_text() {
            return Err(foreign("not a report of gosec: an issue has no rule_id"));
        }
        if issue.nosec || issue.suppressions.is_some_and(|all| !all.0.is_empty()) {
            findings.suppressed();
            return Ok(());
        }
        let level = findings.level(issue.severity.as_deref());
        let Issue { rule_id: rule, details: message, file: path, line, .. } = issue;
        findings.add(level, Told { rule, path, line: line.leading(), message })
    })?;
    let errors = json::object(input, PhantomData::<Document>)?.errors.0.len();
    if errors > 0 {
        findings.warnings.push(format!("gosec could not load {errors} files: not everything was looked at"));
    }
    findings.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::lint::tests_support::first_finding;

    #[test]
    fn severities_are_levels_and_what_is_silenced_is_none() {
        let text = r#"{"Golang errors":{"a.go":[{"line":1,"column":2,"error":"e"}]},"Issues":[
            {"severity":"HIGH","confidence":"LOW","rule_id":"G101","details":"d","file":"/a/b.go","line":"12-14","column":"2"},
            {"severity":"MEDIUM","rule_id":"G104","details":"d","file":"b.go","line":"3","nosec":false,"suppressions":null},
            {"severity":"LOW","rule_id":"G104","line":"3","nosec":true,"suppressions":[{"kind":"inSource"}]}],
            "Stats":{"files":1,"lines":9,"nosec":1,"found":2},"GosecVersion":"dev"}"#;
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        let figures = &parsed.figures;
        assert_eq!([figures.errors, figures.warnings, figures.notes], [Some(1), Some(1), Some(0)]);
        assert_eq!(first_finding(&parsed), (Some("/a/b.go"), Some(12), Some("G101"), "d"));
        assert_eq!((figures.suppressed, parsed.warnings.len()), (Some(1), 1));
    }

    #[test]
    fn what_is_not_gosec_s_is_rejected() {
        for other in ["{\"Issues\":[{\"FromLinter\":\"x\"}]}", "{\"Stats\":{}}"] {
            let error = parse(&Input::bytes("x", other.as_bytes())).unwrap_err();
            assert_eq!(error.reject(), Some(Reject::NotThisFormat), "{other}");
        }
    }
}
