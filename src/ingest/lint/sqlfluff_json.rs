//! `sqlfluff-json`: sqlfluff's format `json`. <https://docs.sqlfluff.com/en/stable/reference/cli.html>
//!
//! A list of files, each with its violations, also those without any. For GitHub a list of annotations, which is empty where
//! nothing was found.

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
    written_by: "sqlfluff lint --format json, --format github-annotation",
    told_by: "a JSON list of objects with filepath and violations, or with start_line and annotation_level",
    has_end: true,
    counting: "Violations: errors, or warnings where they are marked as such. Annotations by level: failure is an \
               error, warning, notice is a note.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    if head.has_key("filepath") && head.has_key("violations") {
        return Sniff::Sure("keys filepath and violations, as sqlfluff writes them".into());
    }
    if ["file", "start_line", "title", "message", "annotation_level"].iter().all(|key| head.has_key(key)) {
        return Sniff::Sure("keys start_line and annotation_level, as sqlfluff writes them for GitHub".into());
    }
    Sniff::No
}

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    filepath: Option<String>,
    #[serde(default)]
    violations: Option<OfAFile<Violation>>,
    #[serde(flatten)]
    annotation: Annotation,
}

/// One finding, for GitHub.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Annotation {
    file: Loose,
    start_line: Loose,
    message: Loose,
    annotation_level: Option<String>,
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
        if let Annotation { file: path, start_line: line, message, annotation_level: Some(level) } = file.annotation {
            // The level is called so there, and nowhere else.
            let level = if level == "failure" { Level::Error } else { findings.level(Some(&level)) };
            let text = message.text().unwrap_or_default();
            let (rule, message) = text.split_once(": ").unwrap_or(("", &text));
            let (rule, message) = (Loose::Text(rule.to_owned()), Loose::Text(message.to_owned()));
            return findings.add(level, Told { rule, path, line, message });
        }
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
    fn annotations_have_a_level_of_their_own() {
        let one = |level: &str| {
            format!(
                r#"{{"file":"q.sql","start_line":2,"start_column":1,"title":"SQLFluff","message":"LT09: One: two.","annotation_level":"{level}"}}"#
            )
        };
        let text = format!("[{},{},{}]", one("warning"), one("failure"), one("notice"));
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        let figures = &parsed.figures;
        assert_eq!([figures.errors, figures.warnings, figures.notes], [Some(1), Some(1), Some(1)]);
        let Details::Lint(details) = parsed.details else { panic!("lint") };
        let first = &details.findings[0];
        assert_eq!((first.rule.as_deref(), first.line, first.message.as_str()), (Some("LT09"), Some(2), "One: two."));
    }

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
