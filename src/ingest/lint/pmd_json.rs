//! `pmd-json`: the format `json` of PMD, and that of PHPMD, which took it over.
//! <https://docs.pmd-code.org/latest/pmd_userdocs_report_formats.html#json>; written after the sources of both renderers.
//!
//! It names no files in which nothing was found.

use std::marker::PhantomData;

use serde::Deserialize;

use super::findings_json::{Findings, Loose, OfAFile, Place, There, Told, elements, foreign};
use crate::error::{Error, Reject, Result};
use crate::ingest::input::Input;
use crate::ingest::json;
use crate::ingest::values::Few;
use crate::ingest::{Format, Head, Level, Parsed, Sniff, Sort};
use crate::model::figures::ReportKind;

/// PMD's JSON.
pub const FORMAT: Format = Format {
    name: "pmd-json",
    kind: ReportKind::Lint,
    about: "violations of PMD or PHPMD, by file",
    written_by: "pmd check -f json, phpmd … json",
    told_by: "a JSON object with pmdVersion and files; or with package, timestamp and files.violations.ruleSet",
    has_end: true,
    counting: "As pmd: priorities 1 and 2 are errors, 3 and 4 warnings, 5 notes; without one, an error. A file that \
               could not be processed is an error. Suppressed violations are suppressed.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let is_php = || head.has_key("files") && head.text().contains("\"phpmd\"");
    match (head.has_key("pmdVersion"), head.has_key("package") && head.has_key("timestamp")) {
        (true, _) => Sniff::Sure("key pmdVersion".into()),
        (_, true) if is_php() => Sniff::Sure("the package phpmd".into()),
        _ => Sniff::No,
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct File {
    filename: Loose,
    /// PHPMD's name for it.
    file: Loose,
    violations: Option<OfAFile<Violation>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Violation {
    beginline: Loose,
    #[serde(rename = "beginLine")]
    begin_line: Loose,
    description: Loose,
    rule: Loose,
    priority: Option<u64>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Document {
    suppressed_violations: Option<Few<There>>,
    processing_errors: Option<Few<NotProcessed>>,
    /// PHPMD's name for them.
    errors: Option<Few<NotProcessed>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct NotProcessed {
    filename: Loose,
    #[serde(rename = "fileName")]
    file_name: Loose,
    message: Loose,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut findings = Findings::new("pmd", Sort::Linter);
    elements(input, Place::Under("files"), |file: File| {
        let path = if file.filename.is_text() { file.filename } else { file.file };
        let (Loose::Text(_), Some(violations)) = (&path, file.violations) else {
            return Err(foreign("not a report of PMD: a file has no name or no violations"));
        };
        violations.into_iter().try_for_each(|one| {
            let line = if one.beginline == Loose::Other { one.begin_line } else { one.beginline };
            let Violation { description: message, rule, priority, .. } = one;
            findings.add(level(priority)?, Told { rule, path: path.clone(), line, message })
        })
    })?;
    let Document { suppressed_violations, processing_errors, errors } = json::object(input, PhantomData::<Document>)?;
    suppressed_violations.unwrap_or_default().into_iter().for_each(|There| findings.suppressed());
    for one in processing_errors.unwrap_or_default().into_iter().chain(errors.unwrap_or_default()) {
        let path = if one.filename.is_text() { one.filename } else { one.file_name };
        findings.add(Level::Error, Told { path, message: one.message, ..Told::default() })?;
    }
    findings.finish(&FORMAT)
}

fn level(priority: Option<u64>) -> Result<Level> {
    match priority {
        None | Some(1 | 2) => Ok(Level::Error),
        Some(3 | 4) => Ok(Level::Warning),
        Some(5) => Ok(Level::Note),
        Some(other) => {
            let why = format!("a violation has the priority {other}, which is not from 1 to 5");
            Err(Error::report(Reject::Malformed, why))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::Details;
    use crate::ingest::lint::tests_support::first_finding;

    #[test]
    fn priorities_and_errors_count() {
        let text = r#"{"formatVersion":0,"pmdVersion":"7.0.0","timestamp":"t","files":[{"filename":"A.java","violations":[
            {"beginline":3,"begincolumn":1,"endline":3,"description":"d","rule":"R","ruleset":"S","priority":1},
            {"priority":3},{"priority":5}]}],"suppressedViolations":[{}],"processingErrors":[{"filename":"B.java","message":"m"}],
            "configurationErrors":[]}"#;
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        let figures = &parsed.figures;
        assert_eq!([figures.errors, figures.warnings, figures.notes], [Some(2), Some(1), Some(1)]);
        assert_eq!(first_finding(&parsed), (Some("A.java"), Some(3), Some("R"), "d"));
        assert_eq!(figures.suppressed, Some(1));
        let php = r#"{"version":"2.15.0","package":"phpmd","timestamp":"t","files":[{"file":"a.php","violations":[
            {"beginLine":4,"endLine":4,"description":"d","rule":"R","ruleSet":"S","priority":3}]}]}"#;
        let parsed = crate::ingest::parse(&Input::bytes("x", php.as_bytes()), None).unwrap();
        let Details::Lint(details) = parsed.details else { panic!("lint") };
        assert_eq!(details.findings.first().unwrap().line, Some(4));
        let odd = r#"{"pmdVersion":"7","files":[{"filename":"A","violations":[{"priority":9}]}]}"#;
        assert_eq!(parse(&Input::bytes("x", odd.as_bytes())).unwrap_err().reject(), Some(Reject::Malformed));
    }

    #[test]
    fn what_is_not_pmd_s_is_rejected() {
        for other in ["{\"files\":[{\"path\":\"x\"}]}", "{\"a\":[]}"] {
            let error = parse(&Input::bytes("x", other.as_bytes())).unwrap_err();
            assert_eq!(error.reject(), Some(Reject::NotThisFormat), "{other}");
        }
    }
}
