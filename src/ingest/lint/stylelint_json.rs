//! `stylelint-json`: stylelint's JSON formatter. <https://stylelint.io/user-guide/options#formatter>
//!
//! Before version 16 it went to stdout, since then to stderr.

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::findings_json::{Findings, Loose, OfAFile, Place, Told, elements, foreign};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::{Format, Head, Level, Parsed, Sniff, Sort};
use crate::model::figures::ReportKind;

/// stylelint's JSON.
pub const FORMAT: Format = Format {
    name: "stylelint-json",
    kind: ReportKind::Lint,
    about: "stylelint's warnings by style sheet",
    written_by: "stylelint --formatter json",
    told_by: "a JSON list of objects with source, warnings and invalidOptionWarnings, deprecations or errored",
    has_end: true,
    counting: "Warnings by severity, error or warning; parse errors are errors. Options that are not valid are told, not \
               counted.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let marks = ["invalidOptionWarnings", "deprecations", "errored"];
    if head.has_key("source") && head.has_key("warnings") && marks.iter().any(|key| head.has_key(key)) {
        return Sniff::Sure("keys source, warnings and errored, as stylelint writes them".into());
    }
    Sniff::No
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Sheet {
    source: Loose,
    warnings: Option<OfAFile<Problem>>,
    parse_errors: Option<OfAFile<Problem>>,
    invalid_option_warnings: Option<Vec<IgnoredAny>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Problem {
    line: Loose,
    rule: Loose,
    severity: Option<String>,
    text: Loose,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut findings = Findings::new("stylelint", Sort::Linter);
    let mut invalid_options = 0;
    elements(input, Place::Top, |sheet: Sheet| {
        let Some(warnings) = sheet.warnings else {
            return Err(foreign("not a report of stylelint: an element has no warnings"));
        };
        invalid_options += sheet.invalid_option_warnings.map_or(0, |all| all.len());
        let path = sheet.source;
        for Problem { line, rule, severity, text: message } in warnings {
            let level = findings.level(severity.as_deref());
            findings.add(level, Told { rule, path: path.clone(), line, message })?;
        }
        for Problem { line, rule, text: message, .. } in sheet.parse_errors.unwrap_or_default() {
            findings.add(Level::Error, Told { rule, path: path.clone(), line, message })?;
        }
        Ok(())
    })?;
    if invalid_options > 0 {
        findings.warnings.push(format!("stylelint met options that are not valid, {invalid_options} times"));
    }
    findings.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;

    fn read(text: &str) -> Result<Parsed> {
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn warnings_count_by_severity_and_parse_errors_as_errors() {
        let text = r#"[{"source":"a.css","errored":true,"invalidOptionWarnings":[{"text":"x"}],"parseErrors":[{"text":"p"}],
            "warnings":[{"line":1,"rule":"r","severity":"error","text":"t"},{"severity":"warning"}]}]npm notice"#;
        let parsed = read(text).unwrap();
        assert_eq!((parsed.figures.errors, parsed.figures.warnings), (Some(2), Some(1)));
        assert_eq!(parsed.warnings, ["stylelint met options that are not valid, 1 times"]);
    }

    #[test]
    fn what_is_not_stylelint_s_is_rejected() {
        assert_eq!(read("[{\"source\":\"a\"}]").unwrap_err().reject(), Some(Reject::NotThisFormat));
        assert_eq!(read("[{\"warnings\":[]}").unwrap_err().reject(), Some(Reject::Malformed));
    }
}
