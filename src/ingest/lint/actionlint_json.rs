//! `actionlint-json`: actionlint's errors with `-format '{{json .}}'`.
//! <https://github.com/rhysd/actionlint/blob/main/docs/usage.md#format-error-messages>, the fields of `ErrorTemplateFields`
//!
//! A list that is empty where nothing was found.

use serde::Deserialize;

use super::findings_json::{Findings, Loose, Place, Told, elements, foreign};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::{Format, Level, Parsed, Sort};
use crate::model::figures::ReportKind;

/// actionlint's JSON.
pub const FORMAT: Format = Format {
    name: "actionlint-json",
    kind: ReportKind::Lint,
    about: "actionlint's errors in workflows, as a list",
    written_by: "actionlint -format '{{json .}}'",
    told_by: "a JSON list of objects with message, filepath, line and kind",
    has_end: true,
    counting: "Each error is one; there are no levels.",
    sniff: |head| head.by_keys(&["message", "filepath", "line", "column", "kind"]),
    parse,
};

#[derive(Default, Deserialize)]
#[serde(default)]
struct Failure {
    message: Loose,
    filepath: Loose,
    line: Loose,
    kind: Loose,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut findings = Findings::new("actionlint", Sort::Linter);
    elements(input, Place::Top, |one: Failure| {
        if !one.kind.is_text() || !one.message.is_text() {
            return Err(foreign("not a report of actionlint: an element has no kind or no message"));
        }
        let Failure { message, filepath: path, line, kind: rule } = one;
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
    fn errors_have_kind_and_place() {
        let text = r#"[{"message":"m","filepath":".github/workflows/a.yml","line":3,"column":5,"kind":"syntax-check","snippet":"s",
            "end_column":9},{"message":"m","kind":"expression"}]"#;
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        let figures = &parsed.figures;
        assert_eq!([figures.errors, figures.warnings, figures.notes], [Some(2), Some(0), Some(0)]);
        assert_eq!(first_finding(&parsed), (Some(".github/workflows/a.yml"), Some(3), Some("syntax-check"), "m"));
    }

    #[test]
    fn what_is_not_actionlint_s_is_rejected() {
        for other in ["[{\"kind\":\"x\"}]", "{\"a\":[]}"] {
            let error = parse(&Input::bytes("x", other.as_bytes())).unwrap_err();
            assert_eq!(error.reject(), Some(Reject::NotThisFormat), "{other}");
        }
    }
}
