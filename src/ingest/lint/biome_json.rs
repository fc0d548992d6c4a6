//! `biome-json`: Biome's reporters `json` and `json-pretty`. <https://biomejs.dev/reference/reporters/>
//!
//! Its summary counts all that was found, so that it shows where diagnostics were held back. In version 1 messages were
//! lists of pieces, and places had an offset instead of a line.

use std::marker::PhantomData;

use serde::Deserialize;

use super::findings_json::{Findings, Loose, Place, There, Told, elements, foreign};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::json;
use crate::ingest::{Format, Parsed, Sort};
use crate::model::figures::{Figures, ReportKind};

/// Biome's JSON.
pub const FORMAT: Format = Format {
    name: "biome-json",
    kind: ReportKind::Lint,
    about: "Biome's diagnostics",
    written_by: "biome lint|check|ci|format --reporter=json",
    told_by: "a JSON object with summary.errors, summary.unchanged and diagnostics",
    has_end: true,
    counting: "Diagnostics by severity: fatal and error are errors; warning; information and hint are notes.",
    sniff: |head| head.by_keys(&["summary.errors", "summary.unchanged", "diagnostics"]),
    parse,
};

#[derive(Default, Deserialize)]
#[serde(default)]
struct Diagnostic {
    severity: Option<String>,
    category: Loose,
    description: Loose,
    message: Loose,
    location: Option<Location>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Location {
    path: Option<Path>,
    start: Option<Start>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Path {
    Name(String),
    Of { file: String },
    Other(There),
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Start {
    line: Loose,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Document {
    summary: Option<Summary>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Summary {
    errors: Loose,
    warnings: Loose,
    infos: Loose,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut findings = Findings::new("biome", Sort::Linter);
    elements(input, Place::Under("diagnostics"), |diagnostic: Diagnostic| {
        let Diagnostic { severity, category: rule, description, message, location } = diagnostic;
        if severity.is_none() && !message.is_text() && !description.is_text() {
            return Err(foreign("not a report of Biome: a diagnostic has no severity and no message"));
        }
        let level = findings.level(severity.as_deref());
        let location = location.unwrap_or_default();
        let path = match location.path {
            Some(Path::Name(path) | Path::Of { file: path }) => Loose::Text(path),
            Some(Path::Other(There)) | None => Loose::Other,
        };
        let message = if message.is_text() { message } else { description };
        let line = location.start.unwrap_or_default().line;
        findings.add(level, Told { rule, path, line, message })
    })?;
    let Some(summary) = json::object(input, PhantomData::<Document>)?.summary else {
        return Err(foreign("not a report of Biome: it has no summary"));
    };
    let (errors, warnings, notes) = (summary.errors.number(), summary.warnings.number(), summary.infos.number());
    findings.declared = Figures { errors, warnings, notes, ..Figures::default() };
    findings.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::Details;

    fn read(diagnostics: &str) -> Result<Parsed> {
        let text = format!(
            "The json reporter is experimental\n{{\"summary\":{{\"unchanged\":1,\"errors\":1,\"warnings\":0}},\"diagnostics\":[{diagnostics}],\"command\":\"lint\"}}\nlint ━━━\n"
        );
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn both_versions_are_read_and_what_was_not_printed_is_told() {
        let new =
            r#"{"severity":"error","message":"m","category":"lint/x","location":{"path":"a.js","start":{"line":4}}}"#;
        let old = r#"{"severity":"fatal","description":"d","message":[{"content":"d"}],"location":{"path":{"file":"b.js"},"span":[0,1]}}"#;
        let rest = r#"{"severity":"information"},{"severity":"hint","location":{"path":null}},{"severity":"warning"}"#;
        let parsed = read(&format!("{new},{old},{rest}")).unwrap();
        let figures = &parsed.figures;
        assert_eq!([figures.errors, figures.warnings, figures.notes], [Some(2), Some(1), Some(2)]);
        assert_eq!(parsed.declared.unwrap().errors, Some(1));
        let Details::Lint(details) = parsed.details else { panic!("lint") };
        let told: Vec<_> =
            details.findings.iter().map(|f| (f.path.as_deref(), f.line, f.message.as_str())).take(2).collect();
        assert_eq!(told, [(Some("a.js"), Some(4), "m"), (Some("b.js"), None, "d")]);
    }

    #[test]
    fn what_is_not_biome_s_is_rejected() {
        assert_eq!(read("{}").unwrap_err().reject(), Some(Reject::NotThisFormat));
        let error = parse(&Input::bytes("x", b"{\"diagnostics\":[]}")).unwrap_err();
        assert_eq!(error.reject(), Some(Reject::NotThisFormat));
    }
}
