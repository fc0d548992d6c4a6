//! `rdjson`: Reviewdog's diagnostic format. <https://github.com/reviewdog/reviewdog/tree/master/proto/rdf>
//!
//! Its other form, `rdjsonl`, has a diagnostic on each line and no end.

use std::marker::PhantomData;

use serde::Deserialize;

use super::findings_json::{Findings, Loose, Place, There, Told, elements, foreign, lines};
use super::tool_and_sort;
use crate::error::{Error, Reject, Result};
use crate::ingest::input::Input;
use crate::ingest::json;
use crate::ingest::text::printable;
use crate::ingest::{Format, Head, Level, Parsed, Sniff};
use crate::model::figures::ReportKind;

/// Reviewdog's JSON, one object or one a diagnostic.
pub const FORMAT: Format = Format {
    name: "rdjson",
    kind: ReportKind::Lint,
    about: "Reviewdog's diagnostic format",
    written_by: "ruff --output-format rdjson, biome --reporter=rdjson, buf, and converters for reviewdog",
    told_by: "a JSON object with diagnostics.location.path and diagnostics.message, or diagnostics and source.name; \
              JSON lines with location.path and message",
    has_end: false,
    counting: "Diagnostics by severity, ERROR, WARNING or INFO: their own, else that of the whole report, else error.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    // Issues of Code Climate have a description instead of a message.
    if is_lines(head.keys()) {
        return Sniff::Sure("keys location.path and message, as for reviewdog".into());
    }
    // Biome's own report has such diagnostics too, beside a summary.
    let of_diagnostics = head.has_key("diagnostics.location.path") && head.has_key("diagnostics.message");
    let is_other = head.has_key("summary") || head.has_key("diagnostics.category");
    if !is_other && (of_diagnostics || (head.has_key("diagnostics") && head.has_key("source.name"))) {
        return Sniff::Sure("keys diagnostics and location, as for reviewdog".into());
    }
    Sniff::No
}

/// Whether the first object is a diagnostic by itself.
fn is_lines(keys: &[String]) -> bool {
    let has = |key: &str| keys.iter().any(|other| other == key);
    has("message")
        && has("location.path")
        && (has("location.range.start.line") || has("severity") || has("source.name"))
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Document {
    source: Option<Source>,
    severity: Option<Severity>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Source {
    name: Option<String>,
}

/// Protocol Buffers may write an enumeration as its name or its number.
#[derive(Deserialize)]
#[serde(untagged)]
enum Severity {
    Name(String),
    Number(u64),
    Other(There),
}

impl Severity {
    /// None: unknown, as the format has it.
    fn level(&self) -> Result<Option<Level>> {
        match self {
            Severity::Name(name) if name.eq_ignore_ascii_case("ERROR") => Ok(Some(Level::Error)),
            Severity::Name(name) if name.eq_ignore_ascii_case("WARNING") => Ok(Some(Level::Warning)),
            Severity::Name(name) if name.eq_ignore_ascii_case("INFO") => Ok(Some(Level::Note)),
            Severity::Name(name) if name.is_empty() || name == "UNKNOWN_SEVERITY" => Ok(None),
            Severity::Name(name) => {
                let why = format!("a diagnostic has the severity {:?}", printable(name, 40));
                Err(Error::report(Reject::Malformed, why))
            }
            Severity::Number(0) => Ok(None),
            Severity::Number(1) => Ok(Some(Level::Error)),
            Severity::Number(2) => Ok(Some(Level::Warning)),
            Severity::Number(3) => Ok(Some(Level::Note)),
            Severity::Number(other) => {
                Err(Error::report(Reject::Malformed, format!("a diagnostic has the severity {other}")))
            }
            Severity::Other(There) => {
                Err(Error::report(Reject::Malformed, "a severity is neither a name nor a number"))
            }
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Diagnostic {
    message: Loose,
    location: Option<Location>,
    severity: Option<Severity>,
    source: Option<Source>,
    code: Option<Code>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Location {
    path: Loose,
    range: Option<Range>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Range {
    start: Option<Start>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Start {
    line: Loose,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Code {
    value: Loose,
}

/// What the tool is called where it does not tell.
const UNNAMED: &str = "rdjson";

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let (_, head) = input.first()?;
    if is_lines(&json::first_keys(&head)) {
        let mut findings = Findings::of_any_tool(UNNAMED);
        lines(input, &["{\"message\":", "{\"location\":", "{\"source\":"], |diagnostic: Diagnostic| {
            let is_ours = diagnostic.message.is_text() && diagnostic.location.is_some();
            if is_ours { add(&mut findings, diagnostic, Level::Error).map(|()| true) } else { Ok(false) }
        })?;
        return findings.finish(&FORMAT);
    }
    // Twice: the severity and the source of the whole may come after the diagnostics.
    let whole = json::object(input, PhantomData::<Document>)?;
    let default = whole.severity.as_ref().map(Severity::level).transpose()?.flatten().unwrap_or(Level::Error);
    let name = whole.source.and_then(|source| source.name).filter(|name| !name.trim().is_empty());
    let (tool, sort) = tool_and_sort(&printable(name.as_deref().unwrap_or(UNNAMED), 100), None);
    let mut findings = Findings::new(&tool, sort);
    elements(input, Place::Under("diagnostics"), |diagnostic: Diagnostic| {
        if diagnostic.location.is_none() && !diagnostic.message.is_text() {
            return Err(foreign("not in Reviewdog's format: a diagnostic has no location and no message"));
        }
        add(&mut findings, diagnostic, default)
    })?;
    findings.finish(&FORMAT)
}

/// Counts a diagnostic, whose level is `default` if it tells none.
fn add(findings: &mut Findings, diagnostic: Diagnostic, default: Level) -> Result<()> {
    let Diagnostic { message, location, severity, source, code } = diagnostic;
    let location = location.unwrap_or_default();
    let level = severity.as_ref().map(Severity::level).transpose()?.flatten().unwrap_or(default);
    let line = location.range.and_then(|range| range.start).unwrap_or_default().line;
    let told = Told { rule: code.unwrap_or_default().value, path: location.path, line, message };
    match source.and_then(|source| source.name).filter(|name| !name.trim().is_empty()) {
        Some(name) => {
            let (tool, sort) = tool_and_sort(&printable(&name, 100), None);
            findings.add_of(tool, sort, level, told)
        }
        None => findings.add(level, told),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::Details;

    fn read(diagnostics: &str, rest: &str) -> Result<Parsed> {
        let text = format!("{{\"diagnostics\":[{diagnostics}]{rest}}}");
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn a_severity_is_the_diagnostic_s_the_report_s_or_error() {
        let with = |severity: &str| format!("{{\"message\":\"m\",\"location\":{{\"path\":\"a\"}}{severity}}}");
        for (own, whole, expected) in [
            ("", "", [1, 0, 0]),
            (",\"severity\":\"UNKNOWN_SEVERITY\"", "", [1, 0, 0]),
            (",\"severity\":\"INFO\"", ",\"severity\":\"WARNING\"", [0, 0, 1]),
            // ruff 0.1 to 0.4.
            ("", ",\"severity\":\"warning\"", [0, 1, 0]),
            (",\"severity\":0", ",\"severity\":\"WARNING\"", [0, 1, 0]),
            (",\"severity\":2", "", [0, 1, 0]),
        ] {
            let figures = read(&with(own), whole).unwrap().figures;
            let levels = [figures.errors, figures.warnings, figures.notes].map(Option::unwrap);
            assert_eq!(levels, expected, "{own} {whole}");
        }
        for bad in [",\"severity\":\"odd\"", ",\"severity\":4", ",\"severity\":1.5", ",\"severity\":[]"] {
            assert_eq!(read(&with(bad), "").unwrap_err().reject(), Some(Reject::Malformed), "{bad}");
        }
    }

    #[test]
    fn tools_and_places_are_told() {
        let diagnostics = r#"{"message":"m","code":{"value":"E1"},"location":{"path":"a.py","range":{"start":{"line":3}}}},
            {"source":{"name":"mypy"},"location":{"path":"b.py"}}"#;
        let parsed = read(diagnostics, ",\"source\":{\"name\":\"Ruff\"}").unwrap();
        let Details::Lint(details) = parsed.details else { panic!("lint") };
        let told: Vec<_> = details.findings.iter().map(|f| (f.tool.as_str(), f.rule.as_deref(), f.line)).collect();
        assert_eq!(told, [("ruff", Some("E1"), Some(3)), ("mypy", None, None)]);
        assert_eq!(read("", "").unwrap().figures.total, Some(0));
        assert_eq!(read("{}", "").unwrap_err().reject(), Some(Reject::NotThisFormat));
    }

    #[test]
    fn a_diagnostic_may_stand_on_each_line() {
        let text = r#"{"message":"m","location":{"path":"a.go","range":{"start":{"line":14}}},"severity":"ERROR"}
            {"message":"n","location":{"path":"b.go","range":{"start":{"line":1}}},"severity":"INFO","source":{"name":"vet"}}"#;
        let input = Input::bytes("x", text.as_bytes());
        assert!(matches!(sniff(&Head::read(&input).unwrap()), Sniff::Sure(_)));
        let parsed = parse(&input).unwrap();
        assert_eq!((parsed.figures.errors, parsed.figures.notes), (Some(1), Some(1)));
        let Details::Lint(details) = parsed.details else { panic!("lint") };
        let told: Vec<_> = details.findings.iter().map(|f| (f.tool.as_str(), f.line)).collect();
        assert_eq!(told, [("rdjson", Some(14)), ("vet", Some(1))]);
        let cut = text.get(..text.len() - 3).unwrap();
        assert_eq!(parse(&Input::bytes("x", cut.as_bytes())).unwrap_err().reject(), Some(Reject::Malformed));
    }
}
