//! `sonar-issues-json`: SonarQube's format for issues of other tools, as many linters write it.
//! <https://docs.sonarsource.com/sonarqube-server/latest/analyzing-source-code/importing-external-issues/generic-issue-import-format/>
//!
//! Each issue names its tool. Since SonarQube 10.3 the rules tell the severity, before that the issues.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use serde::Deserialize;

use super::findings_json::{Findings, Loose, Place, Told, elements, foreign};
use super::tool_and_sort;
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::json;
use crate::ingest::text::printable;
use crate::ingest::values::{Few, First};
use crate::ingest::{Format, Parsed};
use crate::model::figures::ReportKind;

/// SonarQube's generic issues.
pub const FORMAT: Format = Format {
    name: "sonar-issues-json",
    kind: ReportKind::Lint,
    about: "issues of any tool in SonarQube's generic format",
    written_by: "hadolint -f sonarqube, eslint, SwiftLint, detekt, tflint and others, for sonar.externalIssuesReportPaths",
    told_by: "a JSON object with issues.ruleId and issues.primaryLocation",
    has_end: true,
    counting: "Issues by severity: BLOCKER, CRITICAL and HIGH are errors; MAJOR, MINOR and MEDIUM warnings; INFO and \
               LOW notes. Where the rules tell it, by the first impact of the rule.",
    sniff: |head| head.by_keys(&["issues.ruleId", "issues.primaryLocation"]),
    parse,
};

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Issue {
    engine_id: Option<String>,
    rule_id: Loose,
    severity: Option<String>,
    primary_location: Option<Location>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Location {
    message: Loose,
    file_path: Loose,
    text_range: Option<Range>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Range {
    start_line: Loose,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Document {
    rules: Option<Few<Rule>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Rule {
    id: String,
    engine_id: Option<String>,
    severity: Option<String>,
    impacts: Option<First<Impact>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Impact {
    severity: Option<String>,
}

/// What the tool is called where it does not tell.
const UNNAMED: &str = "sonar";

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let rules = json::object(input, PhantomData::<Document>)?.rules.unwrap_or_default().into_iter();
    let rules: BTreeMap<String, Rule> = rules.map(|rule| (rule.id.clone(), rule)).collect();
    let mut findings = Findings::of_any_tool(UNNAMED);
    let mut is_empty = true;
    elements(input, Place::Under("issues"), |issue: Issue| {
        let (Loose::Text(id), Some(location)) = (&issue.rule_id, issue.primary_location) else {
            return Err(foreign("no issues for SonarQube: one has no ruleId or no primaryLocation"));
        };
        is_empty = false;
        let rule = rules.get(id);
        let of_rule = || {
            let impact = rule?.impacts.as_ref().and_then(|impacts| impacts.0.as_ref()?.severity.as_deref());
            impact.or(rule?.severity.as_deref())
        };
        let level = findings.level(issue.severity.as_deref().or_else(of_rule));
        let engine = issue.engine_id.as_deref().or_else(|| rule?.engine_id.as_deref()).unwrap_or(UNNAMED);
        let (tool, sort) = tool_and_sort(&printable(engine, 100), None);
        let line = location.text_range.unwrap_or_default().start_line;
        let Location { message, file_path: path, .. } = location;
        findings.add_of(tool, sort, level, Told { rule: issue.rule_id, path, line, message })
    })?;
    if is_empty {
        findings.is_clean();
    }
    findings.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::Details;
    use crate::ingest::lint::tests_support::first_finding;

    #[test]
    fn issues_or_their_rules_tell_the_severity() {
        let text = r#"{"rules":[{"id":"R2","name":"n","engineId":"Hadolint","impacts":[{"softwareQuality":"SECURITY","severity":"HIGH"}]}],
            "issues":[{"engineId":"Hadolint","ruleId":"DL3008","severity":"MINOR","type":"CODE_SMELL","primaryLocation":{"message":"m",
            "filePath":"Dockerfile","textRange":{"startLine":3,"endLine":3}}},{"ruleId":"R2","primaryLocation":{"message":"n","filePath":"b"}},
            {"engineId":"x","ruleId":"R3","severity":"INFO","primaryLocation":{}}]}"#;
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        let figures = &parsed.figures;
        assert_eq!([figures.errors, figures.warnings, figures.notes], [Some(1), Some(1), Some(1)]);
        assert_eq!(first_finding(&parsed), (Some("Dockerfile"), Some(3), Some("DL3008"), "m"));
        let Details::Lint(details) = parsed.details else { panic!("lint") };
        assert_eq!(details.by_tool.into_keys().collect::<Vec<_>>(), ["hadolint", "x"]);
        assert_eq!(parse(&Input::bytes("x", b"{\"issues\":[]}")).unwrap().figures.total, Some(0));
    }

    #[test]
    fn what_is_not_sonar_s_is_rejected() {
        for other in ["{\"issues\":[{\"check\":\"x\"}]}", "{\"a\":[]}"] {
            let error = parse(&Input::bytes("x", other.as_bytes())).unwrap_err();
            assert_eq!(error.reject(), Some(Reject::NotThisFormat), "{other}");
        }
    }
}
