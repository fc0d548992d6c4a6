//! `oxlint-json`: Oxlint's JSON format. <https://oxc.rs/docs/guide/usage/linter/output-formats.html>
//!
//! Early versions wrote the list of diagnostics alone.

use serde::Deserialize;

use super::findings_json::{Findings, Loose, Place, Told, elements, foreign};
use super::oxlint_text::teller;
use super::sort_of;
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::values::Few;
use crate::ingest::{Format, Head, Parsed, Sniff, Sort};
use crate::model::figures::ReportKind;

/// Oxlint's JSON.
pub const FORMAT: Format = Format {
    name: "oxlint-json",
    kind: ReportKind::Lint,
    about: "Oxlint's diagnostics",
    written_by: "oxlint --format json",
    told_by: "a JSON object with diagnostics and number_of_rules, or diagnostics with filename, severity and labels",
    has_end: true,
    counting: "Diagnostics by severity: error; warning; advice is a note. typescript(TS…) is of tsc.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let has_all = |prefix: &str| {
        ["message", "severity", "filename", "labels"].iter().all(|key| head.has_key(&format!("{prefix}{key}")))
    };
    if head.has_key("diagnostics") && head.has_key("number_of_rules") {
        return Sniff::Sure("keys diagnostics and number_of_rules".into());
    }
    if has_all("diagnostics.") || has_all("") {
        return Sniff::Sure("keys severity, filename and labels, as Oxlint writes them".into());
    }
    Sniff::No
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Diagnostic {
    message: Loose,
    code: Loose,
    severity: Option<String>,
    filename: Loose,
    labels: Option<Few<Label>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Label {
    span: Option<Span>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Span {
    line: Loose,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut findings = Findings::new("oxlint", Sort::Linter);
    elements(input, Place::TopOrUnder("diagnostics"), |diagnostic: Diagnostic| {
        let Diagnostic { message, code, severity, filename, labels } = diagnostic;
        if !message.is_text() || (severity.is_none() && labels.is_none()) {
            return Err(foreign("not a report of Oxlint: a diagnostic has no message, or no severity and no labels"));
        }
        let level = findings.level(severity.as_deref());
        let span = labels.unwrap_or_default().into_iter().find_map(|label| label.span);
        let (path, line) = (filename, span.unwrap_or_default().line);
        let tool = teller(if let Loose::Text(code) = &code { Some(code) } else { None });
        findings.add_of(tool.to_owned(), sort_of(tool), level, Told { rule: code, path, line, message })
    })?;
    findings.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::Details;

    fn read(text: &str) -> Result<Parsed> {
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn both_shapes_are_read() {
        let one = |severity: &str| {
            format!(
                "{{\"message\":\"m\",\"code\":\"eslint(no-x)\",\"severity\":\"{severity}\",\"filename\":\"a.js\",\"labels\":[{{\"span\":{{\"line\":3}}}}]}}"
            )
        };
        let all = ["error", "warning", "advice"].map(one).join(",");
        let new = read(&format!("{{ \"diagnostics\": [{all}],\n \"number_of_rules\": 96 }}\n   ")).unwrap();
        let old = read(&format!("[{all}]")).unwrap();
        assert_eq!([new.figures.errors, new.figures.warnings, new.figures.notes], [Some(1); 3]);
        assert_eq!(new.details, old.details);
        let Details::Lint(details) = new.details else { panic!("lint") };
        assert_eq!((details.findings[0].rule.as_deref(), details.findings[0].line), (Some("eslint(no-x)"), Some(3)));
    }

    #[test]
    fn errors_of_types_are_those_of_the_compiler() {
        let one = |code: &str| {
            format!(
                "{{\"message\":\"m\",\"code\":\"{code}\",\"severity\":\"error\",\"filename\":\"a.ts\",\"labels\":[]}}"
            )
        };
        let text = format!(
            "{{\"diagnostics\":[{},{}],\"number_of_rules\":9}}",
            one("typescript(TS2322)"),
            one("typescript(no-x)")
        );
        let Details::Lint(details) = read(&text).unwrap().details else { panic!("lint") };
        let told: Vec<_> =
            details.by_tool.iter().map(|(tool, counts)| (tool.as_str(), counts.sort, counts.errors)).collect();
        assert_eq!(told, [("oxlint", Sort::Linter, 1), ("tsc", Sort::TypeChecker, 1)]);
    }

    #[test]
    fn what_is_not_oxlint_s_is_rejected() {
        for text in ["{\"diagnostics\":[{\"severity\":\"error\"}]}", "[{\"filename\":\"a\"}]", "{\"a\":1}"] {
            assert_eq!(read(text).unwrap_err().reject(), Some(Reject::NotThisFormat), "{text}");
        }
    }
}
