//! `pyrefly-json`: Pyrefly's output format `json`, as version 1.4 writes it.

use serde::Deserialize;

use super::findings_json::{Findings, Loose, Place, Told, elements, foreign};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::{Format, Head, Parsed, Sniff, Sort};
use crate::model::figures::ReportKind;

/// Pyrefly's JSON.
pub const FORMAT: Format = Format {
    name: "pyrefly-json",
    kind: ReportKind::Lint,
    about: "Pyrefly's errors",
    written_by: "pyrefly check --output-format json",
    told_by: "a JSON object with errors, which have concise_description",
    has_end: true,
    counting: "Errors by severity; info is a note. Those without severity are errors.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let is_empty = || head.text().chars().filter(|c| !c.is_whitespace()).eq("{\"errors\":[]}".chars());
    if head.has_key("errors.concise_description") && head.has_key("errors.stop_line") {
        return Sniff::Sure("keys errors and concise_description, as Pyrefly writes them".into());
    }
    if is_empty() { Sniff::Maybe("key errors alone".into()) } else { Sniff::No }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Problem {
    line: Loose,
    path: Loose,
    name: Loose,
    concise_description: Loose,
    severity: Option<String>,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut findings = Findings::new("pyrefly", Sort::TypeChecker);
    elements(input, Place::Under("errors"), |problem: Problem| {
        let Problem { line, path, name: rule, concise_description: message, severity } = problem;
        if !path.is_text() || !message.is_text() {
            return Err(foreign("not a report of Pyrefly: an error has no path or no concise_description"));
        }
        let level = findings.level(severity.as_deref());
        findings.add(level, Told { rule, path, line, message })
    })?;
    findings.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;

    fn read(text: &str) -> Result<Parsed> {
        crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None)
    }

    #[test]
    fn errors_count_by_severity() {
        let one = |severity: &str| {
            format!(
                "{{\"line\":1,\"stop_line\":1,\"path\":\"a.py\",\"name\":\"bad-return\",\"concise_description\":\"d\"{severity}}}"
            )
        };
        let all = ["", ",\"severity\":\"warn\"", ",\"severity\":\"info\""].map(one).join(",");
        let parsed = read(&format!("{{\"errors\":[{all}]}}")).unwrap();
        assert_eq!((parsed.figures.errors, parsed.figures.warnings, parsed.figures.notes), (Some(1), Some(1), Some(1)));
        let other = parse(&Input::bytes("x", b"{\"errors\":[{\"path\":\"a\"}]}")).unwrap_err();
        assert_eq!(other.reject(), Some(Reject::NotThisFormat));
    }

    #[test]
    fn no_errors_are_told_as_an_empty_list() {
        for clean in ["{\n  \"errors\": []\n}", "{\"errors\":[]}\n"] {
            assert_eq!(read(clean).unwrap().figures.total, Some(0), "{clean}");
        }
    }
}
