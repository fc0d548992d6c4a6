//! `checkov-json`: Checkov's output `json`. <https://www.checkov.io/2.Basics/Reviewing%20Scan%20Results.html>
//!
//! An object for the one framework that was looked at, a list of them for several; where none was met, an object of zeros.
//! Severities are there for those who have an account with its maker.

use serde::Deserialize;

use super::findings_json::{Findings, Loose, OfAFile, Place, There, Told, elements, foreign};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::values::{Few, First};
use crate::ingest::{Format, Head, Parsed, Sniff, Sort};
use crate::model::figures::ReportKind;

/// Checkov's JSON.
pub const FORMAT: Format = Format {
    name: "checkov-json",
    kind: ReportKind::Lint,
    about: "Checkov's failed checks, by framework",
    written_by: "checkov -o json",
    told_by: "a JSON object or a list of them with check_type and results.failed_checks; or with checkov_version and failed",
    has_end: true,
    counting: "Failed checks by severity, or errors where it is not told. Skipped checks are suppressed. Files that \
               could not be parsed are told, not counted.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    match (head.has_key("check_type") && head.has_key("results"), head.has_key("checkov_version")) {
        (true, _) => Sniff::Sure("keys check_type and results, as Checkov writes them".into()),
        (_, true) => Sniff::Sure("key checkov_version".into()),
        _ => Sniff::No,
    }
}

/// Of one framework; zeros alone where none was met.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Report {
    results: Option<Results>,
    checkov_version: Option<There>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Results {
    failed_checks: OfAFile<Check>,
    skipped_checks: Option<Few<There>>,
    parsing_errors: Option<Few<There>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Check {
    check_id: Loose,
    check_name: Loose,
    file_path: Loose,
    file_line_range: Option<First<Loose>>,
    severity: Option<String>,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut findings = Findings::new("checkov", Sort::Linter);
    let mut not_parsed = 0;
    elements(input, Place::TopOrAlone, |report: Report| {
        let results = match (report.results, report.checkov_version) {
            (Some(results), _) => results,
            (None, Some(There)) => return Ok(()),
            _ => return Err(foreign("not a report of Checkov: it has no results")),
        };
        not_parsed += results.parsing_errors.unwrap_or_default().0.len();
        results.skipped_checks.unwrap_or_default().into_iter().for_each(|There| findings.suppressed());
        results.failed_checks.into_iter().try_for_each(|check| {
            let level = findings.level(check.severity.as_deref());
            let line = check.file_line_range.and_then(|range| range.0).unwrap_or_default();
            let Check { check_id: rule, check_name: message, file_path: path, .. } = check;
            findings.add(level, Told { rule, path, line, message })
        })
    })?;
    if not_parsed > 0 {
        findings.warnings.push(format!("Checkov could not parse {not_parsed} files"));
    }
    findings.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::lint::tests_support::first_finding;

    #[test]
    fn failed_checks_count_in_each_framework() {
        let text = r#"[{"check_type":"terraform","results":{"passed_checks":[{}],"failed_checks":[
            {"check_id":"CKV_1","check_name":"n","file_path":"/a.tf","file_line_range":[3,9],"severity":null},
            {"check_id":"CKV_2","severity":"MEDIUM"}],"skipped_checks":[{}],"parsing_errors":["/b.tf"]},"summary":{"failed":2}},
            {"check_type":"secrets","results":{"failed_checks":[{"check_id":"CKV_3","severity":"LOW"}]}}]"#;
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        let figures = &parsed.figures;
        assert_eq!([figures.errors, figures.warnings, figures.notes], [Some(1), Some(1), Some(1)]);
        assert_eq!(first_finding(&parsed), (Some("/a.tf"), Some(3), Some("CKV_1"), "n"));
        assert_eq!((figures.suppressed, parsed.warnings.len()), (Some(1), 1));
        let none = r#"{"passed":0,"failed":0,"skipped":0,"parsing_errors":0,"resource_count":0,"checkov_version":"3"}"#;
        assert_eq!(parse(&Input::bytes("x", none.as_bytes())).unwrap().figures.total, Some(0));
    }

    #[test]
    fn what_is_not_checkov_s_is_rejected() {
        for other in ["[{\"check_type\":\"x\"}]", "{\"a\":{}}"] {
            let error = parse(&Input::bytes("x", other.as_bytes())).unwrap_err();
            assert_eq!(error.reject(), Some(Reject::NotThisFormat), "{other}");
        }
    }
}
