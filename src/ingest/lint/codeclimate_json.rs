//! `codeclimate-json`: the issues of Code Climate, of which GitLab's Code Quality reads a part.
//! <https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format>,
//! <https://github.com/codeclimate/platform/blob/master/spec/analyzers/SPEC.md#issues>
//!
//! Only Code Climate itself names the tool (`engine_name`); of the others it is not known. A run that found nothing is an
//! empty list.

use serde::Deserialize;

use super::findings_json::{Findings, Loose, Place, Told, elements, foreign};
use super::tool_and_sort;
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::text::printable;
use crate::ingest::{Format, Head, Level, Parsed, Sniff};
use crate::model::figures::ReportKind;

/// Code Climate's and GitLab's JSON.
pub const FORMAT: Format = Format {
    name: "codeclimate-json",
    kind: ReportKind::Lint,
    about: "issues as Code Climate and GitLab's Code Quality have them",
    written_by: "codeclimate analyze -f json, and many linters for GitLab: Ruff, Biome, golangci-lint, RuboCop, \
                 PHPStan, Psalm",
    told_by: "a JSON list of objects with location.path, and fingerprint or check_name",
    has_end: true,
    counting: "Issues by severity: blocker and critical are errors; major, normal and minor warnings; info is a note. \
               Measurements are no issues.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let is_issue = head.has_key("description") && (head.has_key("fingerprint") || head.has_key("check_name"));
    // Phan's issues have numbers for severities.
    if is_issue && head.has_key("location.path") && !head.has_key("type_id") {
        return Sniff::Sure("keys description, fingerprint and location.path".into());
    }
    Sniff::No
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Issue {
    #[serde(rename = "type")]
    kind: Option<String>,
    engine_name: Option<String>,
    check_name: Loose,
    description: Loose,
    severity: Option<String>,
    location: Option<Location>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Location {
    path: Loose,
    lines: Option<Lines>,
    positions: Option<Positions>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Lines {
    begin: Loose,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Positions {
    begin: Option<Position>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Position {
    line: Loose,
}

/// What the tool is called where it does not tell.
const UNNAMED: &str = "codeclimate";

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut findings = Findings::of_any_tool(UNNAMED);
    let mut is_empty = true;
    elements(input, Place::Top, |issue: Issue| {
        is_empty = false;
        let Issue { kind, engine_name, check_name: rule, description: message, severity, location } = issue;
        if kind.is_some_and(|kind| kind.eq_ignore_ascii_case("measurement")) {
            return Ok(());
        }
        if location.is_none() && severity.is_none() {
            return Err(foreign("not a Code Climate report: an issue has no location and no severity"));
        }
        let location = location.unwrap_or_default();
        let level = match severity.as_deref() {
            // What the first version of the specification called them.
            Some("normal") => Level::Warning,
            word => findings.level(word),
        };
        let begin = location.positions.and_then(|positions| positions.begin).unwrap_or_default();
        let line = location.lines.map_or(begin.line, |lines| lines.begin);
        let name = engine_name.map_or_else(|| UNNAMED.to_owned(), |name| printable(&name, 100));
        let (tool, sort) = tool_and_sort(&name, None);
        findings.add_of(tool, sort, level, Told { rule, path: location.path, line, message })
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

    fn read(text: &str) -> Result<Parsed> {
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn severities_are_levels_and_measurements_are_none() {
        let one = |severity: &str| {
            format!(
                "{{\"description\":\"d\",\"severity\":\"{severity}\",\"location\":{{\"path\":\"a\",\"lines\":{{\"begin\":2}}}}}}"
            )
        };
        let all = ["blocker", "critical", "major", "minor", "normal", "info"].map(one).join(",");
        let figures = read(&format!("[{all},{{\"type\":\"measurement\",\"value\":1}}]")).unwrap().figures;
        assert_eq!([figures.errors, figures.warnings, figures.notes], [Some(2), Some(3), Some(1)]);
        assert_eq!(read("[{\"location\":{}}]").unwrap().figures.errors, Some(1));
    }

    #[test]
    fn tools_are_named_where_they_tell() {
        let text = r#"[{"engine_name":"rubocop","check_name":"X","severity":"minor","location":{"path":"a.rb",
            "positions":{"begin":{"line":4,"column":1}}}},{"location":{"path":"b"}}]"#;
        let tools = |text: &str| {
            let Details::Lint(details) = read(text).unwrap().details else { panic!("lint") };
            (details.by_tool.into_keys().collect::<Vec<_>>(), details.findings.first().and_then(|one| one.line))
        };
        assert_eq!(tools(text), (vec!["codeclimate".to_owned(), "rubocop".to_owned()], Some(4)));
        assert_eq!(tools("[]"), (vec!["codeclimate".to_owned()], None));
    }

    #[test]
    fn what_is_no_list_of_issues_is_rejected() {
        assert_eq!(read("[{\"description\":\"x\"}]").unwrap_err().reject(), Some(Reject::NotThisFormat));
        assert_eq!(read("{\"a\":[]}").unwrap_err().reject(), Some(Reject::NotThisFormat));
    }
}
