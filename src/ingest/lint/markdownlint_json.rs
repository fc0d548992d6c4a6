//! `markdownlint-json`: what `markdownlint --json` prints (to stderr), and markdownlint-cli2's JSON formatter writes: the
//! results of the library markdownlint. <https://github.com/DavidAnson/markdownlint#result>
//!
//! It names no files in which nothing was found, and before version 0.39 no severities.

use serde::Deserialize;

use super::findings_json::{Findings, Loose, Place, Told, elements, foreign};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::values::First;
use crate::ingest::{Format, Parsed, Sort};
use crate::model::figures::ReportKind;

/// markdownlint's JSON.
pub const FORMAT: Format = Format {
    name: "markdownlint-json",
    kind: ReportKind::Lint,
    about: "markdownlint's results, as a list",
    written_by: "markdownlint --json, markdownlint-cli2 with its JSON formatter",
    told_by: "a JSON list of objects with fileName, lineNumber and ruleNames",
    has_end: true,
    counting: "Results by severity, error or warning; one without severity is an error.",
    sniff: |head| head.by_keys(&["fileName", "lineNumber", "ruleNames"]),
    parse,
};

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Problem {
    file_name: Loose,
    line_number: Loose,
    rule_names: Option<First<String>>,
    rule_description: Loose,
    error_detail: Loose,
    severity: Option<String>,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut findings = Findings::new("markdownlint", Sort::Linter);
    elements(input, Place::Top, |problem: Problem| {
        let Some(names) = problem.rule_names else {
            return Err(foreign("not a report of markdownlint: an element has no ruleNames"));
        };
        let level = findings.level(problem.severity.as_deref());
        // `MD013`; the other names are its aliases.
        let rule = names.0.map_or(Loose::Other, Loose::Text);
        let texts = [problem.rule_description.text(), problem.error_detail.text()];
        let message = texts.into_iter().flatten().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(": ");
        let (path, line) = (problem.file_name, problem.line_number);
        findings.add(level, Told { rule, path, line, message: Loose::Text(message) })
    })?;
    findings.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::lint::tests_support::first_finding;

    fn read(text: &str) -> Result<Parsed> {
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn results_count_by_severity_and_as_errors_without() {
        let one = |more: &str| {
            format!(
                "{{\"fileName\":\"a.md\",\"lineNumber\":7,\"ruleNames\":[\"MD009\",\"no-trailing-spaces\"],\"ruleDescription\":\"Trailing spaces\",\"errorDetail\":\"Expected: 0\"{more}}}"
            )
        };
        let parsed = read(&format!("[{},{}]", one(""), one(",\"severity\":\"warning\""))).unwrap();
        assert_eq!((parsed.figures.errors, parsed.figures.warnings), (Some(1), Some(1)));
        assert_eq!(first_finding(&parsed), (Some("a.md"), Some(7), Some("MD009"), "Trailing spaces: Expected: 0"));
        assert_eq!(read("[]").unwrap().figures.total, Some(0));
    }

    #[test]
    fn what_is_not_markdownlint_s_is_rejected() {
        assert_eq!(read("[{\"fileName\":\"a\"}]").unwrap_err().reject(), Some(Reject::NotThisFormat));
        assert_eq!(read("[{\"ruleNames\":[\"MD001\"]}").unwrap_err().reject(), Some(Reject::Malformed));
        assert_eq!(read("[{\"ruleNames\":[1]}]").unwrap_err().reject(), Some(Reject::Malformed));
    }
}
