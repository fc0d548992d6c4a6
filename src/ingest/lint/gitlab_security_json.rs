//! `gitlab-security-json`: the security reports that GitLab reads (`gl-sast-report.json`, `gl-secret-detection-report.json`,
//! `gl-dependency-scanning-report.json`, …).
//! <https://gitlab.com/gitlab-org/security-products/security-report-schemas>

use serde::Deserialize;

use super::findings_json::{Findings, Loose, Place, Told, elements};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::text::printable;
use crate::ingest::values::First;
use crate::ingest::{Format, Head, Parsed, Sniff, Sort};
use crate::model::figures::ReportKind;

/// GitLab's JSON.
pub const FORMAT: Format = Format {
    name: "gitlab-security-json",
    kind: ReportKind::Lint,
    about: "vulnerabilities as GitLab's security reports have them",
    written_by: "GitLab's analyzers, semgrep scan --gitlab-sast, checkov -o gitlab_sast, trivy and grype with their \
                 templates for GitLab",
    told_by: "a JSON object with version and vulnerabilities, which have identifiers and location, or with scan.type",
    has_end: true,
    counting: "Vulnerabilities by severity: critical and high are errors; medium warnings; low, info and unknown notes.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let is_scan = head.has_key("scan.type") || head.has_key("scan.scanner.id");
    let has_one = head.has_key("vulnerabilities.identifiers.type") && head.has_key("vulnerabilities.severity");
    match head.has_key("version") && head.has_key("vulnerabilities") && (is_scan || has_one) {
        true => Sniff::Sure("keys version, vulnerabilities and scan, as for GitLab".into()),
        false => Sniff::No,
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Vulnerability {
    name: Loose,
    message: Loose,
    severity: Option<String>,
    location: Location,
    identifiers: Option<First<Identifier>>,
    scanner: Option<Scanner>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Location {
    file: Loose,
    start_line: Loose,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Identifier {
    value: Loose,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Scanner {
    id: Loose,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut findings = Findings::of_any_tool("gitlab");
    let mut is_clean = true;
    elements(input, Place::Under("vulnerabilities"), |vulnerability: Vulnerability| {
        is_clean = false;
        let Vulnerability { name, message, severity, location: Location { file: path, start_line: line }, .. } =
            vulnerability;
        let level = findings.level(severity.as_deref());
        let rule = vulnerability.identifiers.and_then(|first| first.0).unwrap_or_default().value;
        // Since version 15 the tool is named once, and not with each vulnerability.
        let tool = vulnerability.scanner.and_then(|scanner| scanner.id.text()).unwrap_or_else(|| "gitlab".to_owned());
        let message = if message.is_text() { message } else { name };
        findings.add_of(printable(&tool, 100), Sort::Linter, level, Told { rule, path, line, message })
    })?;
    if is_clean {
        findings.is_clean();
    }
    findings.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::lint::tests_support::first_finding;

    #[test]
    fn vulnerabilities_count_by_severity() {
        let one = |severity: &str| {
            format!(
                r#"{{"id":"x","category":"sast","name":"Eval","severity":"{severity}","scanner":{{"id":"semgrep"}},
                "identifiers":[{{"type":"cwe","name":"CWE-95","value":"95"}}],"location":{{"file":"a.js","start_line":3}}}}"#
            )
        };
        let all = ["Critical", "High", "Medium", "Low", "Info", "Unknown"].map(one).join(",");
        let text = format!("{{\"version\":\"14.0.4\",\"vulnerabilities\":[{all}],\"scan\":{{\"type\":\"sast\"}}}}");
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        let figures = &parsed.figures;
        assert_eq!([figures.errors, figures.warnings, figures.notes], [Some(2), Some(1), Some(3)]);
        assert_eq!(first_finding(&parsed), (Some("a.js"), Some(3), Some("95"), "Eval"));
        let clean =
            br#"{"version":"15.0.4","scan":{"type":"secret_detection","status":"success"},"vulnerabilities":[]}"#;
        let clean = crate::ingest::parse(&Input::bytes("x", clean), None).unwrap();
        assert_eq!((clean.format.name, clean.figures.total), ("gitlab-security-json", Some(0)));
        let other = parse(&Input::bytes("x", b"{\"version\":\"1\"}")).unwrap_err();
        assert!(matches!(other.reject(), Some(Reject::NotThisFormat | Reject::Malformed)));
    }
}
