//! `ruff-json`: Ruff's output formats `json` and `json-lines`. <https://docs.astral.sh/ruff/settings/#output-format>
//!
//! As lines it has no end, and nothing at all where nothing was found.

use serde::Deserialize;

use super::findings_json::{Findings, Loose, Place, Told, elements, foreign, lines};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::{Format, Head, Level, Parsed, Sniff, Sort};
use crate::model::figures::ReportKind;

/// Ruff's JSON.
pub const FORMAT: Format = Format {
    name: "ruff-json",
    kind: ReportKind::Lint,
    about: "Ruff's findings, as one list or one a line",
    written_by: "ruff check --output-format json|json-lines",
    told_by: "JSON objects with filename, code and location.row",
    has_end: false,
    counting: "Every finding, by its severity; without one (before Ruff 0.12) it is an error, as are those that \
               --statistics counts.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    // Of a finding, of a file that cannot be read, of `--statistics`.
    let forms: [&[&'static str]; 3] = [
        &["filename", "code", "location.row"],
        &["filename", "code", "location", "noqa_row"],
        &["code", "name", "count", "fixable"],
    ];
    forms.into_iter().map(|keys| head.by_keys(keys)).find(|told| *told != Sniff::No).unwrap_or(Sniff::No)
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Diagnostic {
    code: Loose,
    filename: Option<String>,
    location: Option<Location>,
    message: Loose,
    severity: Option<String>,
    /// Of a rule, with `--statistics`.
    count: Option<u64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Location {
    row: Loose,
}

/// Whether the list comes before any object: JSON lines have none.
fn begins_with_list(input: &Input<'_>) -> Result<bool> {
    let (_, text) = input.first()?;
    let is_list = |line: &str| line.strip_prefix('[').map(|rest| rest.trim_start().starts_with(['{', ']']));
    let mut lines = text.split(['\n', '\r']).map(str::trim).filter(|line| line.starts_with(['[', '{']));
    Ok(lines.find_map(|line| if line == "[" { Some(true) } else { is_list(line).or(Some(false)) }).unwrap_or(false))
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut findings = Findings::new("ruff", Sort::Linter);
    let mut count = |diagnostic: Diagnostic| -> Result<bool> {
        if let (Some(number), None) = (diagnostic.count, &diagnostic.filename) {
            return findings.count(Level::Error, number).map(|()| true);
        }
        // A file that cannot be read has no location.
        let is_unread = || diagnostic.code == Loose::Text("io".to_owned());
        let location = diagnostic.location.or_else(|| is_unread().then(Location::default));
        let (Some(path), Some(location)) = (diagnostic.filename, location) else { return Ok(false) };
        let level = findings.level(diagnostic.severity.as_deref());
        let (path, line) = (Loose::Text(path), location.row);
        findings.add(level, Told { rule: diagnostic.code, path, line, message: diagnostic.message })?;
        Ok(true)
    };
    if begins_with_list(input)? {
        elements(input, Place::Top, |diagnostic| match count(diagnostic)? {
            true => Ok(()),
            false => Err(foreign("not a report of Ruff: an element has no filename or no location")),
        })?;
    } else {
        lines(input, &["{\"cell\":", "{\"code\":", "{\"filename\":"], count)?;
    }
    findings.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;

    const ONE: &str = r#"{"code":"F401","filename":"a.py","location":{"row":3,"column":1},"message":"m"}"#;

    fn read(text: &str) -> Result<Parsed> {
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn a_list_and_lines_give_the_same() {
        let list = read(&format!("warning: x\n[\n  {ONE},\n{ONE}]\n")).unwrap();
        let lines = read(&format!("warning: x\n{ONE}\n{{\"other\":1}}\n{{ x\n{ONE}\nFound 2 errors.\n")).unwrap();
        assert_eq!((list.figures.errors, list.details), (Some(2), lines.details));
        assert_eq!(read("[]").unwrap().figures.total, Some(0));
    }

    #[test]
    fn a_file_that_cannot_be_read_has_no_location() {
        let unread = r#"{"cell":null,"code":"io","end_location":null,"filename":"a.py","location":null,"message":"m","noqa_row":null}"#;
        for text in [format!("[{unread},{ONE}]"), format!("{unread}\n{ONE}\n")] {
            assert_eq!(read(&text).unwrap().figures.errors, Some(2), "{text}");
        }
        let alone = crate::ingest::parse(&Input::bytes("x", unread.as_bytes()), None).unwrap();
        assert_eq!((alone.format.name, alone.figures.errors), ("ruff-json", Some(1)));
        assert!(read(&format!("[{}]", unread.replace("io", "F401"))).is_err());
    }

    #[test]
    fn statistics_count() {
        let text = "[\n  {\"code\":null,\"name\":\"invalid-syntax\",\"count\":2,\"fixable\":false,\"fixable_count\":0},\n\
                    {\"code\":\"F401\",\"name\":\"unused-import\",\"count\":3,\"fixable\":true,\"fixable_count\":3}\n]\n";
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        assert_eq!((parsed.format.name, parsed.figures.errors), ("ruff-json", Some(5)));
    }

    #[test]
    fn a_severity_decides_where_it_is_told() {
        let with = |severity: &str| ONE.replace("\"message\"", &format!("\"severity\":{severity},\"message\""));
        assert_eq!(read(&with("\"warning\"")).unwrap().figures.warnings, Some(1));
        assert_eq!(read(&with("null")).unwrap().figures.errors, Some(1));
    }

    #[test]
    fn what_is_cut_foreign_or_two_reports_is_rejected() {
        for (text, reject) in [
            (format!("[{ONE},"), Reject::Malformed),
            (format!("{ONE}\n{}\n", ONE.get(..30).unwrap()), Reject::Malformed),
            (format!("{ONE}\n{{\"c"), Reject::Malformed),
            (format!("[{ONE}]\n[{ONE}]"), Reject::Malformed),
            ("[{\"a\":1}]".to_owned(), Reject::NotThisFormat),
            ("{\"a\":1}".to_owned(), Reject::NotThisFormat),
            ("All checks passed!".to_owned(), Reject::NotThisFormat),
        ] {
            assert_eq!(read(&text).unwrap_err().reject(), Some(reject), "{text}");
        }
    }
}
