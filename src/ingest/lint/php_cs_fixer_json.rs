//! `php-cs-fixer-json`: PHP CS Fixer's format `json`. Written after its definition
//! (<https://github.com/PHP-CS-Fixer/PHP-CS-Fixer/blob/master/doc/schemas/fix/schema.json>).
//!
//! It names no files in which nothing was to be fixed.

use serde::Deserialize;

use super::findings_json::{Findings, Loose, Place, Told, elements, foreign};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::values::Few;
use crate::ingest::{Format, Head, Level, Parsed, Sniff, Sort};
use crate::model::figures::ReportKind;

/// PHP CS Fixer's JSON.
pub const FORMAT: Format = Format {
    name: "php-cs-fixer-json",
    kind: ReportKind::Lint,
    about: "files that PHP CS Fixer would change or has changed",
    written_by: "php-cs-fixer fix|check --format=json",
    told_by: "a JSON object with files, memory and time.total",
    has_end: true,
    counting: "Each file is an error, as for the other formatters; its fixers are told.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let has_fixers = head.has_key("files.name") && head.has_key("files.appliedFixers");
    match has_fixers || ["files", "memory", "time.total"].iter().all(|key| head.has_key(key)) {
        true => Sniff::Sure("keys files, memory and time, as PHP CS Fixer writes them".into()),
        false => Sniff::No,
    }
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct File {
    name: Loose,
    applied_fixers: Option<Few<String>>,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut findings = Findings::new("php-cs-fixer", Sort::Linter);
    elements(input, Place::Under("files"), |file: File| {
        if !file.name.is_text() {
            return Err(foreign("not a report of PHP CS Fixer: a file has no name"));
        }
        let fixers = file.applied_fixers.unwrap_or_default().0.join(", ");
        let message = if fixers.is_empty() { "is not formatted".to_owned() } else { fixers };
        findings.add(Level::Error, Told { path: file.name, message: Loose::Text(message), ..Told::default() })
    })?;
    findings.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::lint::tests_support::first_finding;

    #[test]
    fn files_are_errors() {
        let text = r#"{"about":"PHP CS Fixer 3.64","files":[{"name":"src/a.php","appliedFixers":["braces","no_x"],"diff":""},
            {"name":"b.php"}],"time":{"total":1.5},"memory":12}"#;
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        let figures = &parsed.figures;
        assert_eq!([figures.errors, figures.warnings, figures.notes], [Some(2), Some(0), Some(0)]);
        assert_eq!(first_finding(&parsed), (Some("src/a.php"), None, None, "braces, no_x"));
        let clean =
            crate::ingest::parse(&Input::bytes("x", br#"{"files":[],"memory":1,"time":{"total":1}}"#), None).unwrap();
        assert_eq!(clean.figures.total, Some(0));
    }

    #[test]
    fn what_is_not_php_cs_fixer_s_is_rejected() {
        for other in ["{\"files\":[{\"path\":1}]}", "{\"a\":[]}"] {
            let error = parse(&Input::bytes("x", other.as_bytes())).unwrap_err();
            assert_eq!(error.reject(), Some(Reject::NotThisFormat), "{other}");
        }
    }
}
