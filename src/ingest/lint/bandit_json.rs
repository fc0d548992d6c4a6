//! `bandit-json`: Bandit's JSON formatter. <https://bandit.readthedocs.io/en/latest/formatters/json.html>

use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::findings_json::{Findings, Loose, Place, Told, elements, foreign};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::json;
use crate::ingest::{Format, Head, Parsed, Sniff, Sort};
use crate::model::figures::ReportKind;

/// Bandit's JSON.
pub const FORMAT: Format = Format {
    name: "bandit-json",
    kind: ReportKind::Lint,
    about: "Bandit's results",
    written_by: "bandit -f json",
    told_by: "a JSON object with results.issue_severity, or with generated_at and metrics._totals",
    has_end: true,
    counting: "Results by severity: HIGH is an error, MEDIUM a warning, LOW and UNDEFINED are notes. Files that Bandit \
               could not read are told, not counted.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let has_totals = head.has_key("generated_at") && head.has_key("metrics._totals");
    if has_totals || (head.has_key("results.issue_severity") && head.has_key("results.test_id")) {
        return Sniff::Sure("keys results and metrics, as Bandit writes them".into());
    }
    Sniff::No
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Issue {
    filename: Loose,
    issue_severity: Option<String>,
    issue_text: Loose,
    line_number: Loose,
    test_id: Loose,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Document {
    errors: Option<Vec<IgnoredAny>>,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut findings = Findings::new("bandit", Sort::Linter);
    elements(input, Place::Under("results"), |issue: Issue| {
        if issue.issue_severity.is_none() && !issue.issue_text.is_text() {
            return Err(foreign("not a report of Bandit: a result has no issue_severity and no issue_text"));
        }
        let level = findings.level(issue.issue_severity.as_deref());
        let Issue { filename: path, issue_text: message, line_number: line, test_id: rule, .. } = issue;
        findings.add(level, Told { rule, path, line, message })
    })?;
    let errors = json::object(input, PhantomData::<Document>)?.errors.unwrap_or_default().len();
    findings.warnings.extend(unread(u64::try_from(errors).unwrap_or(u64::MAX)));
    findings.finish(&FORMAT)
}

/// What is said of files that Bandit could not read, if there are any.
pub(super) fn unread(files: u64) -> Option<String> {
    (files > 0).then(|| format!("Bandit could not read {files} files"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;

    #[test]
    fn severities_are_levels_and_files_not_read_are_told() {
        let one = |severity: &str| format!("{{\"test_id\":\"B1\",\"issue_severity\":\"{severity}\"}}");
        let text = format!(
            "[main]\tINFO\tx\n{{\"errors\":[{{}},{{}}],\"results\":[{}]}}",
            ["HIGH", "MEDIUM", "LOW", "UNDEFINED"].map(one).join(",")
        );
        let parsed = parse(&Input::bytes("x", text.as_bytes())).unwrap();
        let figures = &parsed.figures;
        assert_eq!([figures.errors, figures.warnings, figures.notes], [Some(1), Some(1), Some(2)]);
        assert_eq!(parsed.warnings, ["Bandit could not read 2 files"]);
        let error = parse(&Input::bytes("x", b"{\"results\":[{\"check_id\":\"x\"}]}")).unwrap_err();
        assert_eq!(error.reject(), Some(Reject::NotThisFormat));
    }
}
