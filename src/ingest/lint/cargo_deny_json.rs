//! `cargo-deny-json`: `cargo deny --format json check`, one object a line, on stderr. Written after its definition
//! (<https://docs.rs/crate/cargo-deny/latest/source/src/diag/grapher.rs>, `stats.rs`).
//!
//! The last line sums up, but older versions and interrupted runs have none, and the log stands between.

use serde::Deserialize;

use super::findings_json::{Findings, Loose, Told, lines};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::values::First;
use crate::ingest::{Format, Head, Level, Parsed, Sniff, Sort, add};
use crate::model::figures::ReportKind;

/// cargo-deny's JSON.
pub const FORMAT: Format = Format {
    name: "cargo-deny-json",
    kind: ReportKind::Lint,
    about: "cargo-deny's diagnostics, one object a line",
    written_by: "cargo deny --format json check",
    told_by: "JSON lines of type diagnostic with fields.severity, or of type summary with fields.advisories, bans, \
              licenses or sources",
    has_end: false,
    counting: "Diagnostics by severity: error, warning; note and help are notes. Errors and warnings that the summary tells \
               beyond them count, too.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let is_ours = |line: &str| {
        let is_one = |kind: &str| line.contains(&format!("\"type\":\"{kind}\""));
        let has = |key: &str| line.contains(&format!("\"{key}\":"));
        let is_summary = || ["advisories", "bans", "licenses", "sources"].iter().any(|check| has(check));
        (line.starts_with("{\"fields\":{") || line.starts_with("{\"type\":\""))
            && has("fields")
            && ((is_one("diagnostic") && has("severity")) || (is_one("summary") && is_summary()))
    };
    match head.lines().any(is_ours) {
        true => Sniff::Sure("lines with fields and type, as cargo-deny writes them".into()),
        false => Sniff::No,
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Line {
    #[serde(rename = "type")]
    kind: Option<String>,
    fields: Option<Fields>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Fields {
    code: Loose,
    message: Loose,
    severity: Option<String>,
    labels: Option<First<Label>>,
    /// Of the summary.
    advisories: Check,
    bans: Check,
    licenses: Check,
    sources: Check,
}

/// What a check came to.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Check {
    errors: u64,
    warnings: u64,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Label {
    line: Loose,
    span: Loose,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut findings = Findings::new("cargo-deny", Sort::Linter);
    let (mut errors, mut warnings) = (0, 0);
    lines(input, &["{\"fields\":", "{\"type\":\"diagnostic\""], |line: Line| {
        let (Some(kind), Some(fields)) = (line.kind, line.fields) else { return Ok(false) };
        if kind == "summary" {
            let checks = [fields.advisories, fields.bans, fields.licenses, fields.sources];
            for check in checks {
                errors = add(errors, check.errors)?;
                warnings = add(warnings, check.warnings)?;
            }
            return Ok(true);
        }
        if kind != "diagnostic" {
            return Ok(false);
        }
        let level = match fields.severity.as_deref() {
            Some("help") => Level::Note,
            severity => findings.level(severity),
        };
        let Label { line, span: path } = fields.labels.and_then(|labels| labels.0).unwrap_or_default();
        findings.add(level, Told { rule: fields.code, path, line, message: fields.message }).map(|()| true)
    })?;
    findings.complete([errors, warnings])?;
    findings.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::lint::tests_support::first_finding;

    #[test]
    fn diagnostics_count_by_severity() {
        let text = "{\"fields\":{\"level\":\"WARN\",\"message\":\"m\",\"timestamp\":\"t\"},\"type\":\"log\"}\n\
            {\"fields\":{\"code\":\"vulnerability\",\"graphs\":[],\"labels\":[{\"column\":1,\"line\":17,\"message\":\"m\",\"span\":\"time 0.1\"}],\
            \"message\":\"v\",\"notes\":[],\"severity\":\"error\"},\"type\":\"diagnostic\"}\n\
            {\"type\":\"diagnostic\",\"fields\":{\"severity\":\"help\",\"message\":\"h\"}}\n\
            {\"fields\":{\"advisories\":{\"errors\":1,\"helps\":1,\"notes\":0,\"warnings\":0}},\"type\":\"summary\"}\n";
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        let figures = &parsed.figures;
        assert_eq!([figures.errors, figures.warnings, figures.notes], [Some(1), Some(0), Some(1)]);
        let (_, summary) = text.trim_end().rsplit_once('\n').unwrap();
        let alone = crate::ingest::parse(&Input::bytes("x", summary.as_bytes()), None).unwrap();
        assert_eq!((alone.figures.errors, alone.warnings.len()), (Some(1), 1));
        assert_eq!(first_finding(&parsed), (Some("time 0.1"), Some(17), Some("vulnerability"), "v"));
        let cut = parse(&Input::bytes("x", text.get(..150).unwrap().as_bytes())).unwrap_err();
        assert_eq!(cut.reject(), Some(Reject::Malformed));
    }

    #[test]
    fn what_is_not_cargo_deny_s_is_rejected() {
        for other in ["{\"fields\":{\"message\":\"x\"},\"type\":\"log\"}\n", "{\"a\":[]}\n"] {
            let error = parse(&Input::bytes("x", other.as_bytes())).unwrap_err();
            assert_eq!(error.reject(), Some(Reject::NotThisFormat), "{other}");
        }
    }
}
