//! `deptry-json`: what deptry writes with `--json-output`. <https://deptry.com/usage/#json-output>
//!
//! A list that is empty where nothing was found.

use serde::Deserialize;

use super::findings_json::{Findings, Loose, Place, Told, elements, foreign};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::{Format, Level, Parsed, Sort};
use crate::model::figures::ReportKind;

/// deptry's JSON.
pub const FORMAT: Format = Format {
    name: "deptry-json",
    kind: ReportKind::Lint,
    about: "deptry's issues of dependencies, as a list",
    written_by: "deptry --json-output FILE",
    told_by: "a JSON list of objects with error.code, module and location",
    has_end: true,
    counting: "Each issue is an error; there are no levels.",
    sniff: |head| head.by_keys(&["error.code", "error.message", "module", "location.file"]),
    parse,
};

#[derive(Default, Deserialize)]
#[serde(default)]
struct Issue {
    error: Option<Violation>,
    location: Location,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Violation {
    code: Loose,
    message: Loose,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Location {
    file: Loose,
    line: Loose,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut findings = Findings::new("deptry", Sort::Linter);
    elements(input, Place::Top, |Issue { error, location }: Issue| {
        let Some(Violation { code: rule, message }) = error.filter(|error| error.code.is_text()) else {
            return Err(foreign("not a report of deptry: an element has no error.code"));
        };
        findings.add(Level::Error, Told { rule, path: location.file, line: location.line, message })
    })?;
    findings.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::lint::tests_support::first_finding;

    #[test]
    fn issues_have_code_and_place() {
        let text = r#"[{"error":{"code":"DEP001","message":"'yaml' imported but missing"},"module":"yaml","location":{"file":"a.py","line":3,"column":8}},
            {"error":{"code":"DEP002","message":"m"},"module":"x","location":{"file":"pyproject.toml","line":null,"column":null}}]"#;
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        assert_eq!((parsed.figures.errors, parsed.figures.total), (Some(2), Some(2)));
        assert_eq!(first_finding(&parsed), (Some("a.py"), Some(3), Some("DEP001"), "'yaml' imported but missing"));
        let error = parse(&Input::bytes("x", b"[{\"error\":1}]")).unwrap_err();
        assert!(matches!(error.reject(), Some(Reject::NotThisFormat | Reject::Malformed)));
    }
}
