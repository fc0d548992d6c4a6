//! `rector-json`: Rector's format `json`, and what it prints under an agent where Laravel PAO is installed. Written after their
//! sources, `JsonOutputFactory.php` (<https://github.com/rectorphp/rector-src>) and `src/Drivers/Rector/Starter.php`
//! (<https://github.com/laravel/pao>).

use std::marker::PhantomData;

use serde::Deserialize;

use super::findings_json::{Findings, Loose, OfAFile, Told};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::values::Few;
use crate::ingest::{Format, Level, Parsed, Sort, json};
use crate::model::figures::ReportKind;

/// Rector's JSON.
pub const FORMAT: Format = Format {
    name: "rector-json",
    kind: ReportKind::Lint,
    about: "files that Rector would change or has changed, and those it could not process",
    written_by: "rector process --output-format=json, and rector under an agent with laravel/pao",
    told_by: "a JSON object with totals.changed_files and totals.errors",
    has_end: true,
    counting: "Each file is an error, as for the formatters; its rules are told. PAO tells where they were changed: then \
               none is. A file that could not be processed is an error, too.",
    sniff: |head| head.by_keys(&["totals.changed_files", "totals.errors"]),
    parse,
};

#[derive(Deserialize)]
struct Report {
    totals: Totals,
    /// What PAO says of it.
    #[serde(default)]
    result: Loose,
    #[serde(default)]
    file_diffs: OfAFile<Diff>,
    #[serde(default)]
    errors: OfAFile<Unprocessed>,
}

#[derive(Deserialize)]
struct Totals {
    changed_files: u64,
    errors: u64,
}

#[derive(Deserialize)]
struct Diff {
    file: Loose,
    #[serde(default)]
    applied_rectors: Few<String>,
}

#[derive(Deserialize)]
struct Unprocessed {
    message: Loose,
    #[serde(default)]
    file: Loose,
    #[serde(default)]
    line: Loose,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let report: Report = json::object(input, PhantomData)?;
    let is_done = report.result.text().is_some_and(|result| result == "passed");
    let changed = if is_done { 0 } else { report.totals.changed_files };
    let mut findings = Findings::new("rector", Sort::Linter);
    for Diff { file: path, applied_rectors } in report.file_diffs.0.into_iter().filter(|_| !is_done) {
        let rules = applied_rectors.0.iter().map(|rule| rule.rsplit('\\').next().unwrap_or(rule));
        let message = Loose::Text(rules.collect::<Vec<_>>().join(", "));
        findings.add(Level::Error, Told { path, message, ..Told::default() })?;
    }
    for Unprocessed { message, file: path, line } in report.errors {
        findings.add(Level::Error, Told { path, line, message, ..Told::default() })?;
    }
    // With `--no-diffs` it lists none of them.
    findings.complete([crate::ingest::add(changed, report.totals.errors)?, 0])?;
    findings.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::lint::tests_support::first_finding;

    fn read(text: &str) -> Result<Parsed> {
        crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None)
    }

    #[test]
    fn files_and_errors_count_whether_they_are_listed_or_not() {
        let diffs =
            r#""file_diffs":[{"file":"src/A.php","diff":"x","applied_rectors":["Rector\\X\\ARector","BRector"]}]"#;
        let errors = r#""errors":[{"message":"Syntax error","file":"src/B.php","line":3}]"#;
        for (text, count) in [
            (
                format!(
                    r#"{{"totals":{{"changed_files":1,"errors":1}},{diffs},"changed_files":["src/A.php"],{errors}}}"#
                ),
                2,
            ),
            (format!(r#"{{"tool":"rector","result":"failed","totals":{{"changed_files":1,"errors":0}},{diffs}}}"#), 1),
            (format!(r#"{{"tool":"rector","result":"passed","totals":{{"changed_files":1,"errors":0}},{diffs}}}"#), 0),
            (r#"{"totals":{"changed_files":2,"errors":0},"changed_files":["a.php","b.php"]}"#.to_owned(), 2),
            (r#"{"totals":{"changed_files":0,"errors":0}}"#.to_owned(), 0),
        ] {
            let parsed = read(&text).unwrap();
            assert_eq!((parsed.format.name, parsed.figures.errors), ("rector-json", Some(count)), "{text}");
        }
        let parsed = read(&format!(r#"{{"totals":{{"changed_files":1,"errors":0}},{diffs}}}"#)).unwrap();
        assert_eq!(first_finding(&parsed), (Some("src/A.php"), None, None, "ARector, BRector"));
        let bad = r#"{"totals":{"changed_files":1,"errors":"x"}}"#;
        assert_eq!(read(bad).unwrap_err().reject(), Some(Reject::Malformed));
    }
}
