//! `snyk-json`: `snyk test --json`. Written after its documentation, <https://docs.snyk.io/developer-tools/snyk-cli/commands/test>,
//! and the types of the program's `lib/snyk-test`.
//!
//! An object for a project, or a list of them. A vulnerability stands in it once for each way to the package that has it.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::findings_json::{Findings, Loose, OfAFile, Place, There, Told, elements, foreign};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::values::Few;
use crate::ingest::{Format, Head, Parsed, Sniff, Sort};
use crate::model::figures::{Figures, ReportKind};

/// Snyk's JSON.
pub const FORMAT: Format = Format {
    name: "snyk-json",
    kind: ReportKind::Lint,
    about: "Snyk's vulnerabilities and issues of a project, or of several",
    written_by: "snyk test --json, snyk container test --json, snyk iac test --json",
    told_by: "a JSON object, or a list of them, with ok, and with vulnerabilities or infrastructureAsCodeIssues",
    has_end: true,
    counting: "Each vulnerability once in a project, in however many ways the package comes into it, as Snyk counts \
               issues: critical and high are errors, medium warnings, low notes. What was ignored is suppressed.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let has_vulnerability = head.has_key("vulnerabilities.packageName") && head.has_key("vulnerabilities.from");
    let is_clean = head.has_key("vulnerabilities") && head.has_key("ok") && head.has_key("dependencyCount");
    match has_vulnerability || is_clean || head.has_key("infrastructureAsCodeIssues") {
        true => Sniff::Sure("keys ok and vulnerabilities, as Snyk writes them".into()),
        false => Sniff::No,
    }
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Project {
    vulnerabilities: Option<OfAFile<Vulnerability>>,
    infrastructure_as_code_issues: Option<OfAFile<Issue>>,
    unique_count: Loose,
    target_file: Loose,
    filtered: Filtered,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Vulnerability {
    id: Option<String>,
    title: Loose,
    severity: Option<String>,
    package_name: Loose,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Issue {
    id: Loose,
    title: Loose,
    severity: Option<String>,
    line_number: Loose,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Filtered {
    ignore: Option<Few<There>>,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut findings = Findings::new("snyk", Sort::Linter);
    // Issues that the projects count.
    let mut said = Some(0_u64);
    elements(input, Place::TopOrAlone, |project: Project| {
        let Project { vulnerabilities, infrastructure_as_code_issues: issues, unique_count, target_file, filtered } =
            project;
        if vulnerabilities.is_none() && issues.is_none() {
            return Err(foreign("not a report of Snyk: a project has no vulnerabilities and no issues"));
        }
        filtered.ignore.unwrap_or_default().into_iter().for_each(|There| findings.suppressed());
        let mut known = BTreeSet::new();
        for one in vulnerabilities.unwrap_or_default() {
            let Some(id) = one.id.filter(|_| one.severity.is_some()) else {
                return Err(foreign("not a report of Snyk: a vulnerability has no id or no severity"));
            };
            if known.insert(id.clone()) {
                let level = findings.level(one.severity.as_deref());
                let Vulnerability { title: message, package_name: path, .. } = one;
                findings.add(level, Told { rule: Loose::Text(id), path, message, ..Told::default() })?;
            }
        }
        said = said.zip(unique_count.number()).and_then(|(all, more)| all.checked_add(more));
        issues.unwrap_or_default().into_iter().try_for_each(|issue| {
            let level = findings.level(issue.severity.as_deref());
            let Issue { id: rule, title: message, line_number: line, .. } = issue;
            findings.add(level, Told { rule, path: target_file.clone(), line, message })
        })
    })?;
    findings.declared = Figures { total: said, ..Figures::default() };
    findings.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::lint::tests_support::first_finding;

    const PROJECT: &str = r#"{"vulnerabilities":[
        {"id":"SNYK-JS-1","title":"ReDoS","severity":"high","packageName":"ms","version":"0.7.0","from":["a@1","ms@0.7.0"]},
        {"id":"SNYK-JS-1","title":"ReDoS","severity":"high","packageName":"ms","from":["a@1","b@1","ms@0.7.0"]},
        {"id":"SNYK-JS-2","title":"t","severity":"medium","packageName":"x","from":[]}],
        "ok":false,"dependencyCount":9,"filtered":{"ignore":[{"id":"SNYK-JS-3"}],"patch":[]},"uniqueCount":2,"summary":"3 vulnerable dependency paths"}"#;

    fn read(text: &str) -> Result<Parsed> {
        crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None)
    }

    #[test]
    fn each_vulnerability_counts_once_in_a_project() {
        let parsed = read(PROJECT).unwrap();
        let figures = &parsed.figures;
        assert_eq!([figures.errors, figures.warnings, figures.suppressed], [Some(1), Some(1), Some(1)]);
        assert_eq!(first_finding(&parsed), (Some("ms"), None, Some("SNYK-JS-1"), "ReDoS"));
        let two = read(&format!("[{PROJECT},{PROJECT}]")).unwrap();
        assert_eq!((two.figures.total, two.warnings.len()), (Some(4), 0));
        assert_eq!(read(r#"{"vulnerabilities":[],"ok":true,"dependencyCount":9}"#).unwrap().figures.total, Some(0));
    }

    #[test]
    fn issues_of_infrastructure_have_lines() {
        let text = r#"{"ok":false,"targetFile":"main.tf","infrastructureAsCodeIssues":[{"id":"SNYK-CC-1","title":"t","severity":"low","lineNumber":3}]}"#;
        let parsed = read(text).unwrap();
        assert_eq!(first_finding(&parsed), (Some("main.tf"), Some(3), Some("SNYK-CC-1"), "t"));
        for other in ["{\"ok\":false,\"error\":\"x\"}", "{\"vulnerabilities\":[{\"id\":\"x\"}]}"] {
            let error = parse(&Input::bytes("x", other.as_bytes())).unwrap_err();
            assert_eq!(error.reject(), Some(Reject::NotThisFormat), "{other}");
        }
    }
}
