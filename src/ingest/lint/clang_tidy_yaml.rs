//! `clang-tidy-yaml`: what `clang-tidy --export-fixes` writes, and what run-clang-tidy makes of many such files. Its definition
//! is clang's `DiagnosticsYaml.h`. It tells offsets, and no lines.

use serde::Deserialize;

use super::LintTally;
use crate::error::{Error, Reject, Result};
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine, first_lines, printable};
use crate::ingest::{CUT_HELP, Finding, Format, Head, Level, Parsed, Sniff, Sort};
use crate::model::figures::ReportKind;

/// YAML of clang-tidy.
pub const FORMAT: Format = Format {
    name: "clang-tidy-yaml",
    kind: ReportKind::Lint,
    about: "clang-tidy's exported fixes: its diagnostics as YAML",
    written_by: "clang-tidy --export-fixes=FILE, run-clang-tidy -export-fixes FILE",
    told_by: "the keys MainSourceFile and Diagnostics at the beginning of lines, DiagnosticName below them",
    has_end: true,
    counting: "Each diagnostic with its Level: Error, Warning, or Remark (a note). Before clang 10 there is none: what \
               the compiler itself refused (clang-diagnostic-error) is an error, all else a warning. Notes of a \
               diagnostic belong to it.",
    sniff,
    parse,
};

/// Longest report, in bytes: all of it is held.
const LONGEST: usize = 16 << 20;

fn sniff(head: &Head<'_>) -> Sniff {
    let has = |key: &str| head.lines().any(|line| line.starts_with(key));
    let names = || head.lines().any(|line| line.trim_start_matches([' ', '-']).starts_with("DiagnosticName:"));
    let is_empty = || head.lines().any(|line| line.starts_with("Diagnostics:") && line.trim_end().ends_with("[]"));
    if has("Diagnostics:") && (names() || has("MainSourceFile:") && is_empty()) {
        return Sniff::Sure("keys Diagnostics and DiagnosticName".into());
    }
    Sniff::No
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Report {
    /// Written first by clang-tidy, and last by run-clang-tidy.
    main_source_file: Option<String>,
    diagnostics: Option<Vec<Diagnostic>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Diagnostic {
    diagnostic_name: String,
    diagnostic_message: Option<Message>,
    /// Before clang 9 the message has no part of its own.
    #[serde(flatten)]
    own: Message,
    level: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Message {
    message: Option<String>,
    file_path: Option<String>,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut lines = Lines::new(input, LongLine::Refuse, Invalid::Escaped)?;
    let (mut text, mut last, mut begins, mut ends) = (String::new(), 0, false, false);
    while let Some(line) = lines.next()? {
        last = line.number;
        begins |= line.text.trim_end() == "---";
        ends = line.text.trim_end() == "..." || ends && line.text.trim().is_empty();
        if text.len() + line.text.len() > LONGEST {
            let why = "more YAML than 16 MiB";
            return Err(Error::report(Reject::Refused, why).help("export the fixes of fewer files into one report"));
        }
        text.push_str(&line.text);
        text.push('\n');
    }
    let cut = || Error::report(Reject::Malformed, "report ends before its YAML does").line(last).help(CUT_HELP);
    let report: Report = serde_yaml::from_str(&text).map_err(|error| {
        let line = error.location().and_then(|place| u64::try_from(place.line()).ok()).unwrap_or(last);
        let why = format!("YAML is not as expected: {}", printable(&error.to_string(), 70));
        if line >= last { cut() } else { Error::report(Reject::Malformed, why).line(line) }
    })?;
    let (Some(diagnostics), Some(_)) = (report.diagnostics, report.main_source_file) else { return Err(cut()) };
    if begins && !ends {
        return Err(cut());
    }
    let mut tally = LintTally::default();
    tally.tool(TOOL, Sort::Linter);
    for diagnostic in diagnostics {
        tally.finding(finding(diagnostic)?, Sort::Linter)?;
    }
    tally.finish(&FORMAT)
}

const TOOL: &str = "clang-tidy";

fn finding(diagnostic: Diagnostic) -> Result<Finding> {
    let Message { message, file_path } = diagnostic.diagnostic_message.unwrap_or(diagnostic.own);
    let level = match diagnostic.level.as_deref() {
        Some("Error") => Level::Error,
        Some("Warning") => Level::Warning,
        Some("Remark") => Level::Note,
        None if diagnostic.diagnostic_name == "clang-diagnostic-error" => Level::Error,
        None => Level::Warning,
        Some(other) => {
            let why = format!("the level {:?} is none of clang-tidy's", printable(other, 40));
            return Err(Error::report(Reject::Malformed, why));
        }
    };
    Ok(Finding {
        tool: TOOL.to_owned(),
        rule: Some(printable(&diagnostic.diagnostic_name, 200)),
        level,
        path: file_path.filter(|path| !path.is_empty()).map(|path| printable(&path, 1000)),
        line: None,
        message: message.as_deref().and_then(first_lines).unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::Details;

    fn read(text: &str) -> Result<Parsed> {
        crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None)
    }

    const REPORT: &str = "---\nMainSourceFile:  '/app/a.cpp'\nDiagnostics:\n  - DiagnosticName:  modernize-use-nullptr\n    \
        DiagnosticMessage:\n      Message:         'it''s NULL'\n      FilePath:        '/app/a.cpp'\n      FileOffset:      7\n      \
        Replacements:    []\n    Notes:\n      - Message:         a note\n        FilePath:        ''\n    Level:           Warning\n  \
        - DiagnosticName:  clang-diagnostic-error\n    DiagnosticMessage:\n      Message:         no\n      FilePath:        ''\n    \
        Level:           Error\n...\n";

    #[test]
    fn a_diagnostic_is_a_finding_and_its_notes_are_not() {
        let parsed = read(REPORT).unwrap();
        assert_eq!((parsed.figures.errors, parsed.figures.warnings, parsed.figures.notes), (Some(1), Some(1), Some(0)));
        let Details::Lint(lint) = parsed.details else { unreachable!("a report of findings") };
        let told: Vec<_> = lint.findings.iter().map(|one| (one.path.as_deref(), one.message.as_str())).collect();
        assert_eq!(told, [(Some("/app/a.cpp"), "it's NULL"), (None, "no")]);
    }

    #[test]
    fn older_and_merged_reports_are_read() {
        let old = "---\nMainSourceFile: a.c\nDiagnostics:\n  - DiagnosticName: clang-diagnostic-error\n    Message: no\n    \
                   FileOffset: 7\n    FilePath: a.c\n  - DiagnosticName: x-y\n    Message: m\n    FilePath: a.c\n...\n";
        let figures = read(old).unwrap().figures;
        assert_eq!((figures.errors, figures.warnings), (Some(1), Some(1)));
        let merged = "Diagnostics:\n- BuildDirectory: /app\n  DiagnosticMessage:\n    FilePath: a.c\n    Message: it goes on\n      \
                      and on\n  DiagnosticName: x-y\n  Level: Remark\nMainSourceFile: ''\n";
        let Details::Lint(lint) = read(merged).unwrap().details else { unreachable!("a report of findings") };
        assert_eq!((lint.findings[0].level, lint.findings[0].message.as_str()), (Level::Note, "it goes on and on"));
        assert_eq!(read("Diagnostics: []\nMainSourceFile: ''\n").unwrap().figures.total, Some(0));
        for length in 1..merged.len() - "MainSourceFile: ''\n".len() {
            let cut = merged.get(..length).unwrap();
            assert!(parse(&Input::bytes("x", cut.as_bytes())).is_err(), "{cut}");
        }
    }

    #[test]
    fn what_is_cut_or_of_another_kind_is_refused() {
        for length in 1..REPORT.len() - 1 {
            let cut = REPORT.get(..length).unwrap();
            assert!(parse(&Input::bytes("x", cut.as_bytes())).is_err(), "{cut}");
        }
        assert_eq!(
            read(&REPORT.replace("Level:           E", "Level: e")).unwrap_err().reject(),
            Some(Reject::Malformed)
        );
        let long = REPORT.replace("a note", &"n".repeat(LONGEST));
        assert!(matches!(read(&long).unwrap_err().reject(), Some(Reject::Refused | Reject::Malformed)));
    }
}
