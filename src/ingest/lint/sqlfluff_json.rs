//! `sqlfluff-json`: sqlfluff's format `json`. <https://docs.sqlfluff.com/en/stable/reference/cli.html>
//!
//! A list of files, each with its violations, also those without any.

use serde::Deserialize;

use super::findings_json::{Findings, Loose, OfAFile, Place, Told, elements, foreign};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::{Format, Head, Level, Parsed, Sniff, Sort};
use crate::model::figures::ReportKind;

/// sqlfluff's JSON.
pub const FORMAT: Format = Format {
    name: "sqlfluff-json",
    kind: ReportKind::Lint,
    about: "sqlfluff's violations, a list of files",
    written_by: "sqlfluff lint --format json",
    told_by: "a JSON list of objects with filepath and violations",
    has_end: true,
    counting: "Violations: errors, or warnings where they are marked as such.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    if head.has_key("filepath") && head.has_key("violations") {
        return Sniff::Sure("keys filepath and violations, as sqlfluff writes them".into());
    }
    Sniff::No
}

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    filepath: Option<String>,
    #[serde(default)]
    violations: Option<OfAFile<Violation>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Violation {
    start_line_no: Loose,
    /// Before version 3.
    line_no: Loose,
    code: Loose,
    description: Loose,
    warning: bool,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut findings = Findings::new("sqlfluff", Sort::Linter);
    elements(input, Place::Top, |file: File| {
        let (Some(path), Some(violations)) = (file.filepath, file.violations) else {
            return Err(foreign("not a report of sqlfluff: a file has no filepath or no violations"));
        };
        violations.into_iter().try_for_each(|violation| {
            let Violation { start_line_no, line_no, code: rule, description: message, warning } = violation;
            let level = if warning { Level::Warning } else { Level::Error };
            let line = if start_line_no.number().is_some() { start_line_no } else { line_no };
            findings.add(level, Told { rule, path: Loose::Text(path.clone()), line, message })
        })
    })?;
    findings.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::Details;

    #[test]
    fn violations_of_each_file_count() {
        let text = "[{\"filepath\":\"a.sql\",\"violations\":[{\"start_line_no\":3,\"code\":\"LT01\",\"description\":\"d\",\"warning\":false},\
                    {\"line_no\":4,\"code\":\"L010\",\"description\":\"e\",\"warning\":true}],\"statistics\":{}},{\"filepath\":\"b.sql\",\"violations\":[]}]";
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        assert_eq!((parsed.figures.errors, parsed.figures.warnings), (Some(1), Some(1)));
        let Details::Lint(details) = parsed.details else { panic!("lint") };
        let places: Vec<_> = details.findings.iter().map(|f| (f.rule.as_deref(), f.line)).collect();
        assert_eq!(places, [(Some("LT01"), Some(3)), (Some("L010"), Some(4))]);
        let other = parse(&Input::bytes("x", b"[{\"filepath\":\"a\"}]")).unwrap_err();
        assert_eq!(other.reject(), Some(Reject::NotThisFormat));
    }
}
