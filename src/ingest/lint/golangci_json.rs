//! `golangci-json`: golangci-lint's JSON output. <https://golangci-lint.run/docs/configuration/file/#output-configuration>
//!
//! Version 1 writes it with `--out-format json`, version 2 with `--output.json.path`.

use std::marker::PhantomData;

use serde::Deserialize;

use super::findings_json::{Findings, Loose, Place, Told, elements, foreign};
use crate::error::{Error, Reject, Result};
use crate::ingest::input::Input;
use crate::ingest::json;
use crate::ingest::text::printable;
use crate::ingest::{Format, Head, Parsed, Sniff, Sort};
use crate::model::figures::ReportKind;

/// golangci-lint's JSON.
pub const FORMAT: Format = Format {
    name: "golangci-json",
    kind: ReportKind::Lint,
    about: "golangci-lint's issues",
    written_by: "golangci-lint run --output.json.path FILE, --out-format json",
    told_by: "a JSON object with Issues and Report",
    has_end: true,
    counting: "Issues by severity; an empty one, which is the default, is an error. Issues of typecheck are the compiler's.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    if head.has_key("Issues") && (head.has_key("Report") || head.has_key("Issues.FromLinter")) {
        return Sniff::Sure("keys Issues and Report, as golangci-lint writes them".into());
    }
    Sniff::No
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct Issue {
    from_linter: Option<String>,
    text: Loose,
    severity: Option<String>,
    pos: Option<Pos>,
    line_range: Option<LineRange>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct Pos {
    filename: Loose,
    line: Loose,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct LineRange {
    from: Loose,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct Document {
    report: Option<Report>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct Report {
    error: Loose,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut findings = Findings::new("golangci-lint", Sort::Linter);
    elements(input, Place::Under("Issues"), |issue: Issue| {
        let linter = issue.from_linter.unwrap_or_default();
        if linter.is_empty() && !issue.text.is_text() {
            return Err(foreign("not a report of golangci-lint: an issue has no FromLinter and no Text"));
        }
        let level = findings.level(issue.severity.as_deref());
        let pos = issue.pos.unwrap_or_default();
        let range = issue.line_range.unwrap_or_default();
        let line = if pos.line == Loose::Other { range.from } else { pos.line };
        let is_compiler_s = linter == "typecheck";
        let told = Told { rule: Loose::Text(linter), path: pos.filename, line, message: issue.text };
        if is_compiler_s {
            return findings.add_of("typecheck".to_owned(), Sort::Compiler, level, told);
        }
        findings.add(level, told)
    })?;
    let error = json::object(input, PhantomData::<Document>)?.report.and_then(|report| report.error.text());
    let error = error.filter(|error| !error.is_empty()).map(|error| printable(&error, 200));
    findings.warnings.extend(error.iter().map(|error| format!("golangci-lint did not come to its end: {error}")));
    let parsed = findings.finish(&FORMAT)?;
    match error {
        Some(error) if parsed.figures.total == Some(0) => {
            Err(Error::report(Reject::NoResult, format!("golangci-lint did not come to its end: {error}"))
                .help("no issue was found because not all was looked at; run it again"))
        }
        _ => Ok(parsed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::Details;

    fn read(issues: &str, report: &str) -> Result<Parsed> {
        let text = format!("level=warning msg=x\n{{\"Issues\":{issues},\"Report\":{report}}}\n0 issues.\n");
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn severities_may_be_empty_and_typecheck_is_the_compiler() {
        let issues = r#"[{"FromLinter":"errcheck","Text":"t","Severity":"","Pos":{"Filename":"a.go","Line":3}},
            {"FromLinter":"gocritic","Severity":"warning","LineRange":{"From":7}},{"FromLinter":"typecheck"}]"#;
        let parsed = read(issues, "{}").unwrap();
        assert_eq!((parsed.figures.errors, parsed.figures.warnings), (Some(2), Some(1)));
        let Details::Lint(details) = parsed.details else { panic!("lint") };
        assert_eq!(details.by_tool["typecheck"].sort, Sort::Compiler);
        let places: Vec<_> = details.findings.iter().map(|one| (one.path.as_deref(), one.line)).collect();
        assert_eq!(places, [(Some("a.go"), Some(3)), (None, Some(7)), (None, None)]);
    }

    #[test]
    fn nothing_found_because_the_run_failed_is_no_zero() {
        assert_eq!(read("null", "{\"Linters\":[]}").unwrap().figures.total, Some(0));
        let failed = "{\"Error\":\"context deadline exceeded\"}";
        assert_eq!(read("[]", failed).unwrap_err().reject(), Some(Reject::NoResult));
        assert_eq!(read("[{\"FromLinter\":\"x\"}]", failed).unwrap().warnings.len(), 1);
        assert_eq!(read("[{}]", "{}").unwrap_err().reject(), Some(Reject::NotThisFormat));
    }
}
