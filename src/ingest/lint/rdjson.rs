//! `rdjson`: Reviewdog's diagnostic format. <https://github.com/reviewdog/reviewdog/tree/master/proto/rdf>

use std::marker::PhantomData;

use serde::Deserialize;

use super::findings_json::{Findings, Loose, Place, There, Told, elements, foreign};
use super::tool_and_sort;
use crate::error::{Error, Reject, Result};
use crate::ingest::input::Input;
use crate::ingest::json;
use crate::ingest::text::printable;
use crate::ingest::{Format, Head, Level, Parsed, Sniff};
use crate::model::figures::ReportKind;

/// Reviewdog's JSON, one object.
pub const FORMAT: Format = Format {
    name: "rdjson",
    kind: ReportKind::Lint,
    about: "Reviewdog's diagnostic format",
    written_by: "ruff --output-format rdjson, biome --reporter=rdjson, buf, and converters for reviewdog",
    told_by: "a JSON object with diagnostics.location.path and diagnostics.message, or diagnostics and source.name",
    has_end: true,
    counting: "Diagnostics by severity, ERROR, WARNING or INFO: their own, else that of the whole report, else error.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    // Biome's own report has such diagnostics too, beside a summary.
    let of_diagnostics = head.has_key("diagnostics.location.path") && head.has_key("diagnostics.message");
    let is_other = head.has_key("summary") || head.has_key("diagnostics.category");
    if !is_other && (of_diagnostics || (head.has_key("diagnostics") && head.has_key("source.name"))) {
        return Sniff::Sure("keys diagnostics and location, as for reviewdog".into());
    }
    Sniff::No
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
    // Twice: the severity and the source of the whole may come after the diagnostics.
    let whole = json::object(input, PhantomData::<Document>)?;
    let default = whole.severity.as_ref().map(Severity::level).transpose()?.flatten().unwrap_or(Level::Error);
    let name = whole.source.and_then(|source| source.name).filter(|name| !name.trim().is_empty());
    let (tool, sort) = tool_and_sort(&printable(name.as_deref().unwrap_or(UNNAMED), 100), None);
    let mut findings = Findings::new(&tool, sort);
    elements(input, Place::Under("diagnostics"), |diagnostic: Diagnostic| {
        let Diagnostic { message, location, severity, source, code } = diagnostic;
        if location.is_none() && !message.is_text() {
            return Err(foreign("not in Reviewdog's format: a diagnostic has no location and no message"));
        }
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
    })?;
    findings.finish(&FORMAT)
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
}
