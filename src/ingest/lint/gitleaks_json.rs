//! `gitleaks-json`: Gitleaks' report format `json`. Written after its definition, the fields of `Finding`
//! (<https://github.com/gitleaks/gitleaks/blob/master/report/finding.go>).
//!
//! A list that is empty where nothing was found. The secrets that stand in it are not kept.

use serde::Deserialize;

use super::findings_json::{Findings, Loose, Place, Told, elements, foreign};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::{Format, Head, Level, Parsed, Sniff, Sort};
use crate::model::figures::ReportKind;

/// Gitleaks' JSON.
pub const FORMAT: Format = Format {
    name: "gitleaks-json",
    kind: ReportKind::Lint,
    about: "Gitleaks' leaks, as a list",
    written_by: "gitleaks detect|git|dir --report-format json",
    told_by: "a JSON list of objects with RuleID, Description, StartLine, File and Match; before version 8 with rule, \
              offender, lineNumber and file",
    has_end: true,
    counting: "Each leak is an error; there are no levels.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    match head.by_keys(&["RuleID", "Description", "StartLine", "File", "Match"]) {
        Sniff::No => head.by_keys(&["rule", "offender", "lineNumber", "file", "leakURL"]),
        sure => sure,
    }
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct Leak {
    description: Loose,
    #[serde(alias = "lineNumber")]
    start_line: Loose,
    #[serde(alias = "file")]
    file: Loose,
    #[serde(rename = "RuleID", alias = "rule")]
    rule_id: Loose,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut findings = Findings::new("gitleaks", Sort::Linter);
    elements(input, Place::Top, |leak: Leak| {
        if !leak.rule_id.is_text() {
            return Err(foreign("not a report of Gitleaks: a leak has no RuleID"));
        }
        let Leak { description: message, start_line: line, file: path, rule_id: rule } = leak;
        findings.add(Level::Error, Told { rule, path, line, message })
    })?;
    findings.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::lint::tests_support::first_finding;

    #[test]
    fn leaks_are_errors_and_secrets_are_not_kept() {
        let text = r#"[{"Description":"Generic API Key","StartLine":3,"EndLine":3,"StartColumn":1,"EndColumn":9,"Match":"k=s3",
            "Secret":"s3","File":"a.env","SymlinkFile":"","Commit":"","RuleID":"generic-api-key","Fingerprint":"a.env:generic-api-key:3"}]"#;
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        let figures = &parsed.figures;
        assert_eq!([figures.errors, figures.warnings, figures.notes], [Some(1), Some(0), Some(0)]);
        assert_eq!(first_finding(&parsed), (Some("a.env"), Some(3), Some("generic-api-key"), "Generic API Key"));
    }

    #[test]
    fn leaks_of_version_7_are_read() {
        let text = r#"[{"line":"k=s3","lineNumber":3,"offender":"s3","offenderEntropy":-1,"commit":"c0","repo":"a","repoURL":"","leakURL":"",
            "rule":"AWS Access Key","commitMessage":"m","author":"x","email":"y","file":"a.env","date":"","tags":"key"}]"#;
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        assert_eq!(first_finding(&parsed), (Some("a.env"), Some(3), Some("AWS Access Key"), "AWS Access Key"));
    }

    #[test]
    fn what_is_not_gitleaks_s_is_rejected() {
        for other in ["[{\"Match\":\"x\"}]", "{\"a\":[]}"] {
            let error = parse(&Input::bytes("x", other.as_bytes())).unwrap_err();
            assert_eq!(error.reject(), Some(Reject::NotThisFormat), "{other}");
        }
    }
}
