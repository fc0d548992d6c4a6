//! `cfn-lint-json`: cfn-lint's format `json`. <https://github.com/aws-cloudformation/cfn-lint#parameters>
//!
//! A list that is empty where nothing was found.

use serde::Deserialize;

use super::findings_json::{Findings, Loose, Place, Told, elements, foreign};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::{Format, Parsed, Sort};
use crate::model::figures::ReportKind;

/// cfn-lint's JSON.
pub const FORMAT: Format = Format {
    name: "cfn-lint-json",
    kind: ReportKind::Lint,
    about: "cfn-lint's matches, as a list",
    written_by: "cfn-lint --format json",
    told_by: "a JSON list of objects with Filename, Level, Location.Start and Rule.Id",
    has_end: true,
    counting: "Matches by level: Error, Warning; Informational is a note.",
    sniff: |head| head.by_keys(&["Filename", "Level", "Location.Start", "Rule.Id"]),
    parse,
};

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct Match {
    filename: Loose,
    level: Option<String>,
    location: Option<Location>,
    message: Loose,
    rule: Option<Rule>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct Location {
    start: Option<Start>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct Start {
    line_number: Loose,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct Rule {
    id: Loose,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut findings = Findings::new("cfn-lint", Sort::Linter);
    elements(input, Place::Top, |one: Match| {
        let (Some(rule), Some(level)) = (one.rule, one.level) else {
            return Err(foreign("not a report of cfn-lint: a match has no Rule or no Level"));
        };
        let level = findings.level(Some(&level));
        let line = one.location.and_then(|location| location.start).unwrap_or_default().line_number;
        findings.add(level, Told { rule: rule.id, path: one.filename, line, message: one.message })
    })?;
    findings.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::lint::tests_support::first_finding;

    #[test]
    fn matches_count_by_level() {
        let text = r#"[{"Filename":"t.yaml","Level":"Error","Location":{"Start":{"ColumnNumber":3,"LineNumber":9},"End":{}},"Message":"m",
            "Rule":{"Id":"E3002"}},{"Level":"Warning","Rule":{}},{"Level":"Informational","Rule":{}}]"#;
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        let figures = &parsed.figures;
        assert_eq!([figures.errors, figures.warnings, figures.notes], [Some(1), Some(1), Some(1)]);
        assert_eq!(first_finding(&parsed), (Some("t.yaml"), Some(9), Some("E3002"), "m"));
    }

    #[test]
    fn what_is_not_cfn_lint_s_is_rejected() {
        for other in ["[{\"Level\":\"Error\"}]", "{\"a\":[]}"] {
            let error = parse(&Input::bytes("x", other.as_bytes())).unwrap_err();
            assert_eq!(error.reject(), Some(Reject::NotThisFormat), "{other}");
        }
    }
}
