//! `brakeman-json`: Brakeman's format `json`. Written after its definition
//! (<https://github.com/presidentbeef/brakeman/blob/main/lib/brakeman/report/report_json.rb>).
//!
//! It has no severities; its own SARIF takes the confidence for them.

use std::marker::PhantomData;

use serde::Deserialize;

use super::findings_json::{Findings, Loose, Place, There, Told, elements, foreign};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::json;
use crate::ingest::values::Few;
use crate::ingest::{Format, Level, Parsed, Sort};
use crate::model::figures::ReportKind;

/// Brakeman's JSON.
pub const FORMAT: Format = Format {
    name: "brakeman-json",
    kind: ReportKind::Lint,
    about: "Brakeman's warnings",
    written_by: "brakeman -f json",
    told_by: "a JSON object with scan_info and warnings",
    has_end: true,
    counting: "Warnings by confidence, as in its SARIF: High is an error, Medium a warning, Weak a note. Ignored \
               warnings are suppressed. Errors of Brakeman itself are told, not counted.",
    sniff: |head| head.by_keys(&["scan_info.security_warnings", "scan_info.brakeman_version"]),
    parse,
};

#[derive(Default, Deserialize)]
#[serde(default)]
struct Warning {
    warning_type: Loose,
    message: Loose,
    file: Loose,
    line: Loose,
    confidence: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Document {
    ignored_warnings: Option<Few<There>>,
    errors: Option<Few<There>>,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut findings = Findings::new("brakeman", Sort::Linter);
    elements(input, Place::Under("warnings"), |warning: Warning| {
        if !warning.warning_type.is_text() {
            return Err(foreign("not a report of Brakeman: a warning has no warning_type"));
        }
        let level = match warning.confidence.as_deref() {
            Some("Weak") => Level::Note,
            confidence => findings.level(confidence),
        };
        let Warning { warning_type: rule, message, file: path, line, .. } = warning;
        findings.add(level, Told { rule, path, line, message })
    })?;
    let Document { ignored_warnings, errors } = json::object(input, PhantomData::<Document>)?;
    ignored_warnings.unwrap_or_default().into_iter().for_each(|There| findings.suppressed());
    let errors = errors.unwrap_or_default().0.len();
    if errors > 0 {
        findings.warnings.push(format!("Brakeman tells {errors} errors of its own: not everything was looked at"));
    }
    findings.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::lint::tests_support::first_finding;

    #[test]
    fn confidence_is_the_level() {
        let text = r#"{"scan_info":{"app_path":"/app","security_warnings":3,"brakeman_version":"6.1.2"},"warnings":[
            {"warning_type":"SQL Injection","warning_code":0,"check_name":"SQL","message":"m","file":"app/a.rb","line":4,"confidence":"High"},
            {"warning_type":"X","line":null,"confidence":"Medium"},{"warning_type":"Y","confidence":"Weak"}],
            "ignored_warnings":[{}],"errors":[{"error":"e"}],"obsolete":[]}"#;
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        let figures = &parsed.figures;
        assert_eq!([figures.errors, figures.warnings, figures.notes], [Some(1), Some(1), Some(1)]);
        assert_eq!(first_finding(&parsed), (Some("app/a.rb"), Some(4), Some("SQL Injection"), "m"));
        assert_eq!((figures.suppressed, parsed.warnings.len()), (Some(1), 1));
    }

    #[test]
    fn what_is_not_brakeman_s_is_rejected() {
        for other in ["{\"warnings\":[{\"text\":\"x\"}]}", "{\"scan_info\":{}}"] {
            let error = parse(&Input::bytes("x", other.as_bytes())).unwrap_err();
            assert_eq!(error.reject(), Some(Reject::NotThisFormat), "{other}");
        }
    }
}
