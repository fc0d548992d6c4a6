//! `pyright-json`: the type checker's `--outputjson`. <https://github.com/microsoft/pyright/blob/main/docs/command-line.md>

use std::marker::PhantomData;

use serde::Deserialize;

use super::findings_json::{Findings, Loose, Place, Told, elements, foreign};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::json;
use crate::ingest::{Format, Head, Parsed, Sniff, Sort};
use crate::model::figures::{Figures, ReportKind};

/// Pyright's JSON.
pub const FORMAT: Format = Format {
    name: "pyright-json",
    kind: ReportKind::Lint,
    about: "Pyright's diagnostics",
    written_by: "pyright --outputjson, basedpyright --outputjson",
    told_by: "a JSON object with generalDiagnostics",
    has_end: true,
    counting: "Diagnostics by severity: error, warning; information and hints are notes.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    if head.has_key("generalDiagnostics") { Sniff::Sure("key generalDiagnostics".into()) } else { Sniff::No }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Diagnostic {
    file: Loose,
    severity: Option<String>,
    message: Loose,
    range: Option<Range>,
    rule: Loose,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Range {
    start: Start,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Start {
    line: Loose,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Report {
    summary: Summary,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Summary {
    error_count: Loose,
    warning_count: Loose,
    information_count: Loose,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut findings = Findings::new("pyright", Sort::TypeChecker);
    elements(input, Place::Under("generalDiagnostics"), |diagnostic: Diagnostic| {
        if diagnostic.severity.is_none() && !diagnostic.message.is_text() {
            return Err(foreign("not a report of Pyright: a diagnostic has no severity and no message"));
        }
        let level = findings.level(diagnostic.severity.as_deref());
        let line = diagnostic.range.unwrap_or_default().start.line.one_based();
        let Diagnostic { file: path, message, rule, .. } = diagnostic;
        findings.add(level, Told { rule, path, line, message })
    })?;
    let summary = json::object(input, PhantomData::<Report>)?.summary;
    findings.declared = Figures {
        errors: summary.error_count.number(),
        warnings: summary.warning_count.number(),
        notes: summary.information_count.number(),
        ..Figures::default()
    };
    findings.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::Details;

    #[test]
    fn lines_count_from_one_and_totals_are_compared() {
        let text = r#"No configuration file found.
{"generalDiagnostics":[{"file":"/a.py","severity":"error","message":"x\n  y","range":{"start":{"line":0}},"rule":"r"},
{"file":"/a.py","severity":"information","message":"i"}],"summary":{"errorCount":1,"warningCount":7}}"#;
        let parsed = parse(&Input::bytes("x", text.as_bytes())).unwrap();
        assert_eq!((parsed.figures.errors, parsed.figures.notes, parsed.warnings.len()), (Some(1), Some(1), 1));
        assert_eq!(parsed.declared.unwrap().warnings, Some(7));
        let Details::Lint(details) = parsed.details else { panic!("lint") };
        assert_eq!((details.findings[0].line, details.findings[0].message.as_str()), (Some(1), "x | y"));
        assert_eq!(details.by_tool["pyright"].sort, Sort::TypeChecker);
    }

    #[test]
    fn what_is_not_pyright_s_is_rejected() {
        for text in ["{\"summary\":{}}", "{\"generalDiagnostics\":[{}]}"] {
            let error = parse(&Input::bytes("x", text.as_bytes())).unwrap_err();
            assert_eq!(error.reject(), Some(Reject::NotThisFormat), "{text}");
        }
    }
}
