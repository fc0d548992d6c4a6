//! `ktlint-json`: ktlint's JSON reporter. <https://pinterest.github.io/ktlint/latest/install/cli/>
//!
//! It names no files in which nothing was found, and no severities.

use serde::Deserialize;

use super::findings_json::{Findings, Loose, OfAFile, Place, Told, elements, foreign};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::{Format, Level, Parsed, Sort};
use crate::model::figures::ReportKind;

/// ktlint's JSON.
pub const FORMAT: Format = Format {
    name: "ktlint-json",
    kind: ReportKind::Lint,
    about: "ktlint's errors by file",
    written_by: "ktlint --reporter=json",
    told_by: "a JSON list of objects with file and errors.rule",
    has_end: true,
    counting: "All are errors.",
    sniff: |head| head.by_keys(&["file", "errors.rule", "errors.line", "errors.message"]),
    parse,
};

#[derive(Default, Deserialize)]
#[serde(default)]
struct File {
    file: Loose,
    errors: Option<OfAFile<Fault>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Fault {
    line: Loose,
    message: Loose,
    rule: Loose,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut findings = Findings::new("ktlint", Sort::Linter);
    elements(input, Place::Top, |file: File| {
        let (Loose::Text(_), Some(errors)) = (&file.file, file.errors) else {
            return Err(foreign("not a report of ktlint: an element has no file or no errors"));
        };
        for Fault { line, message, rule } in errors {
            findings.add(Level::Error, Told { rule, path: file.file.clone(), line, message })?;
        }
        Ok(())
    })?;
    findings.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::Details;

    #[test]
    fn errors_are_counted_by_file() {
        let text = r#"[{"file":"A.kt","errors":[{"line":2,"column":1,"message":"m","rule":"standard:indent"},{}]},{"file":"B.kt","errors":[]}]"#;
        let parsed = parse(&Input::bytes("x", text.as_bytes())).unwrap();
        assert_eq!((parsed.figures.errors, parsed.figures.total), (Some(2), Some(2)));
        let Details::Lint(details) = parsed.details else { panic!("lint") };
        assert_eq!((details.findings[0].path.as_deref(), details.findings[0].line), (Some("A.kt"), Some(2)));
        for foreign in ["[{\"file\":\"A.kt\"}]", "{\"errors\":[]}"] {
            let error = parse(&Input::bytes("x", foreign.as_bytes())).unwrap_err();
            assert_eq!(error.reject(), Some(Reject::NotThisFormat), "{foreign}");
        }
    }
}
