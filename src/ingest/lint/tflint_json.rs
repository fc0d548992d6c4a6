//! `tflint-json`: TFLint's format `json`. Written after its definition
//! (<https://github.com/terraform-linters/tflint/blob/master/formatter/json.go>).
//!
//! What could not be read as Terraform stands in `errors`; such a run looked at nothing more.

use serde::Deserialize;

use super::findings_json::{Findings, Loose, Place, Told, elements, foreign};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::{Format, Head, Parsed, Sniff, Sort};
use crate::model::figures::ReportKind;

/// TFLint's JSON.
pub const FORMAT: Format = Format {
    name: "tflint-json",
    kind: ReportKind::Lint,
    about: "TFLint's issues and errors",
    written_by: "tflint --format json",
    told_by: "a JSON object with issues and errors alone, or with issues.rule, issues.range and issues.callers",
    has_end: true,
    counting: "Issues by severity: error, warning; notice is a note. What stands in errors is an error, or what it says.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let has_issues = ["issues.rule.name", "issues.range", "issues.callers"].iter().all(|key| head.has_key(key));
    let is_known = |key: &String| matches!(key.split('.').next(), Some("issues" | "errors"));
    let has_nothing_else = || head.has_key("issues") && head.has_key("errors") && head.keys().iter().all(is_known);
    match has_issues || has_nothing_else() {
        true => Sniff::Sure("keys issues and errors, as TFLint writes them".into()),
        false => Sniff::No,
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Issue {
    rule: Option<Rule>,
    message: Loose,
    range: Option<Range>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Rule {
    name: Loose,
    severity: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Failure {
    message: Loose,
    severity: Option<String>,
    range: Option<Range>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Range {
    filename: Loose,
    start: Option<Start>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Start {
    line: Loose,
}

fn told(rule: Loose, range: Option<Range>, message: Loose) -> Told {
    let Range { filename: path, start } = range.unwrap_or_default();
    Told { rule, path, line: start.unwrap_or_default().line, message }
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut findings = Findings::new("tflint", Sort::Linter);
    elements(input, Place::Under("issues"), |issue: Issue| {
        let Some(Rule { name, severity }) = issue.rule else {
            return Err(foreign("not a report of TFLint: an issue has no rule"));
        };
        let level = findings.level(severity.as_deref());
        findings.add(level, told(name, issue.range, issue.message))
    })?;
    elements(input, Place::Under("errors"), |failure: Failure| {
        let level = findings.level(failure.severity.as_deref());
        findings.add(level, told(Loose::Other, failure.range, failure.message))
    })?;
    findings.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::lint::tests_support::first_finding;

    #[test]
    fn issues_and_errors_count() {
        let text = r#"{"issues":[{"rule":{"name":"r","severity":"warning","link":""},"message":"m","range":{"filename":"a.tf",
            "start":{"line":3,"column":1},"end":{}},"callers":[]},{"rule":{"severity":"notice"}}],
            "errors":[{"summary":"s","message":"e","severity":"error","range":{"filename":"b.tf"}},{"message":"f"}]}"#;
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        let figures = &parsed.figures;
        assert_eq!([figures.errors, figures.warnings, figures.notes], [Some(2), Some(1), Some(1)]);
        assert_eq!(first_finding(&parsed), (Some("a.tf"), Some(3), Some("r"), "m"));
        let clean = crate::ingest::parse(&Input::bytes("x", b"{\"issues\":[],\"errors\":[]}"), None).unwrap();
        assert_eq!((clean.format.name, clean.figures.total), ("tflint-json", Some(0)));
    }

    #[test]
    fn what_is_not_tflint_s_is_rejected() {
        for other in ["{\"issues\":[{\"a\":1}],\"errors\":[]}", "{\"issues\":[]}"] {
            let error = parse(&Input::bytes("x", other.as_bytes())).unwrap_err();
            assert_eq!(error.reject(), Some(Reject::NotThisFormat), "{other}");
        }
    }
}
