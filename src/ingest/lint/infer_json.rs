//! `infer-json`: the list of issues that Infer leaves in `infer-out/report.json`. Written after its definition, `jsonbug` in
//! <https://github.com/facebook/infer/blob/main/infer/src/atd/jsonbug.atd>.
//!
//! A list that is empty where nothing was found.

use serde::Deserialize;

use super::findings_json::{Findings, Loose, Place, Told, elements, foreign};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::{Format, Level, Parsed, Sort};
use crate::model::figures::ReportKind;

/// Infer's report.
pub const FORMAT: Format = Format {
    name: "infer-json",
    kind: ReportKind::Lint,
    about: "Infer's issues, as a list",
    written_by: "infer run (infer-out/report.json)",
    told_by: "a JSON list of objects with bug_type, qualifier, severity and file",
    has_end: true,
    counting: "Issues by severity: ERROR, WARNING; INFO, ADVICE and LIKE are notes.",
    sniff: |head| head.by_keys(&["bug_type", "qualifier", "severity", "file"]),
    parse,
};

#[derive(Default, Deserialize)]
#[serde(default)]
struct Issue {
    bug_type: Loose,
    qualifier: Loose,
    severity: Option<String>,
    line: Loose,
    file: Loose,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut findings = Findings::new("infer", Sort::Linter);
    elements(input, Place::Top, |issue: Issue| {
        if !issue.bug_type.is_text() || !issue.qualifier.is_text() {
            return Err(foreign("not a report of Infer: an issue has no bug_type or no qualifier"));
        }
        let level = match issue.severity.as_deref() {
            Some("LIKE") => Level::Note,
            severity => findings.level(severity),
        };
        let Issue { bug_type: rule, qualifier: message, line, file: path, .. } = issue;
        findings.add(level, Told { rule, path, line, message })
    })?;
    findings.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::lint::tests_support::first_finding;

    #[test]
    fn issues_count_by_severity() {
        let text = r#"[{"bug_type":"NULL_DEREFERENCE","qualifier":"q","severity":"ERROR","line":3,"column":5,"procedure":"f","file":"a.c",
            "bug_trace":[{"level":0}],"key":"k","hash":"h"},{"bug_type":"B","qualifier":"q","severity":"WARNING"},
            {"bug_type":"B","qualifier":"q","severity":"LIKE"}]"#;
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        let figures = &parsed.figures;
        assert_eq!([figures.errors, figures.warnings, figures.notes], [Some(1), Some(1), Some(1)]);
        assert_eq!(first_finding(&parsed), (Some("a.c"), Some(3), Some("NULL_DEREFERENCE"), "q"));
    }

    #[test]
    fn what_is_not_infer_s_is_rejected() {
        for other in ["[{\"bug_type\":\"x\"}]", "{\"a\":[]}"] {
            let error = parse(&Input::bytes("x", other.as_bytes())).unwrap_err();
            assert_eq!(error.reject(), Some(Reject::NotThisFormat), "{other}");
        }
    }
}
