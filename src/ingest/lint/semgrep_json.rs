//! `semgrep-json`: Semgrep's JSON output. <https://semgrep.dev/docs/semgrep-appsec-platform/json-and-sarif>

use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::findings_json::{Findings, Loose, Place, Told, elements, foreign};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::json;
use crate::ingest::{Format, Head, Parsed, Sniff, Sort};
use crate::model::figures::ReportKind;

/// Semgrep's JSON.
pub const FORMAT: Format = Format {
    name: "semgrep-json",
    kind: ReportKind::Lint,
    about: "Semgrep's results",
    written_by: "semgrep --json, opengrep --json",
    told_by: "a JSON object with results.check_id, or with results and paths.scanned",
    has_end: true,
    counting: "Results by severity: ERROR, HIGH and CRITICAL are errors; WARNING and MEDIUM; INFO and LOW are notes. What a \
               comment silences is suppressed. Errors of Semgrep itself are told, not counted.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    match (head.has_key("results.check_id"), head.has_key("results") && head.has_key("paths.scanned")) {
        (true, _) => Sniff::Sure("keys results and check_id".into()),
        (_, true) => Sniff::Sure("keys results and paths.scanned".into()),
        _ => Sniff::No,
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Match {
    check_id: Loose,
    path: Loose,
    start: Option<Start>,
    extra: Option<Extra>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Start {
    line: Loose,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Extra {
    message: Loose,
    severity: Option<String>,
    /// A comment in the source, as `nosemgrep`, silences it.
    is_ignored: Option<bool>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Document {
    errors: Option<Vec<IgnoredAny>>,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut findings = Findings::new("semgrep", Sort::Linter);
    elements(input, Place::Under("results"), |one: Match| {
        if !one.check_id.is_text() {
            return Err(foreign("not a report of Semgrep: a result has no check_id"));
        }
        let extra = one.extra.unwrap_or_default();
        if extra.is_ignored == Some(true) {
            findings.suppressed();
            return Ok(());
        }
        let level = findings.level(extra.severity.as_deref());
        let line = one.start.unwrap_or_default().line;
        findings.add(level, Told { rule: one.check_id, path: one.path, line, message: extra.message })
    })?;
    let errors = json::object(input, PhantomData::<Document>)?.errors.unwrap_or_default().len();
    if errors > 0 {
        findings.warnings.push(format!("Semgrep tells {errors} errors of its own: not everything was looked at"));
    }
    findings.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::Details;

    #[test]
    fn severities_old_and_new_are_levels() {
        let one = |severity: &str| {
            format!(
                "{{\"check_id\":\"c\",\"path\":\"a.py\",\"start\":{{\"line\":2}},\"extra\":{{\"message\":\"m\",\"severity\":\"{severity}\"}}}}"
            )
        };
        let words = ["ERROR", "CRITICAL", "HIGH", "WARNING", "MEDIUM", "INFO", "LOW"].map(one).join(",");
        let text = format!("{{\"errors\":[{{}}],\"results\":[{words}]}}");
        let parsed = parse(&Input::bytes("x", text.as_bytes())).unwrap();
        let figures = &parsed.figures;
        assert_eq!([figures.errors, figures.warnings, figures.notes], [Some(3), Some(2), Some(2)]);
        assert_eq!(parsed.warnings.len(), 1);
        let Details::Lint(details) = parsed.details else { panic!("lint") };
        assert_eq!((details.findings[0].line, details.findings[0].message.as_str()), (Some(2), "m"));
    }

    #[test]
    fn what_a_comment_silences_is_suppressed() {
        let one = |ignored: &str| {
            format!("{{\"check_id\":\"c\",\"extra\":{{\"severity\":\"ERROR\",\"is_ignored\":{ignored}}}}}")
        };
        let text = format!("{{\"results\":[{}]}}", ["true", "false", "null"].map(one).join(","));
        let figures = parse(&Input::bytes("x", text.as_bytes())).unwrap().figures;
        assert_eq!((figures.errors, figures.suppressed), (Some(2), Some(1)));
    }

    #[test]
    fn what_is_not_semgrep_s_is_rejected() {
        for text in ["{\"results\":[{\"path\":\"x\"}]}", "{\"paths\":{}}"] {
            let error = parse(&Input::bytes("x", text.as_bytes())).unwrap_err();
            assert_eq!(error.reject(), Some(Reject::NotThisFormat), "{text}");
        }
    }
}
