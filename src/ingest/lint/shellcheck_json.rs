//! `shellcheck-json`: ShellCheck's formats `json` and `json1`. <https://github.com/koalaman/shellcheck/wiki/Integration>
//!
//! It names no files in which nothing was found.

use serde::Deserialize;

use super::findings_json::{Findings, Loose, Place, Told, elements, foreign, value_begins};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::{Format, Head, Parsed, Sniff, Sort};
use crate::model::figures::ReportKind;

/// ShellCheck's JSON, old and new.
pub const FORMAT: Format = Format {
    name: "shellcheck-json",
    kind: ReportKind::Lint,
    about: "ShellCheck's comments, as a list or under comments",
    written_by: "shellcheck -f json, shellcheck -f json1",
    told_by: "a JSON list of objects with file, line, level and a code that is a number, or such a list under comments",
    has_end: true,
    counting: "Comments by level: error, warning; info and style are notes.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let has_all =
        |prefix: &str| ["file", "line", "level", "code"].iter().all(|key| head.has_key(&format!("{prefix}{key}")));
    // Hadolint's objects have the same keys; its codes are text.
    let by_number = || value_begins(head, "code").is_some_and(|begin| begin.is_ascii_digit());
    if (has_all("") || has_all("comments.")) && by_number() {
        return Sniff::Sure("keys file, line, level and a code that is a number".into());
    }
    let letters: String = head.text().chars().filter(|c| !c.is_whitespace()).take(20).collect();
    if letters == "{\"comments\":[]}" { Sniff::Sure("no comments, as ShellCheck writes it".into()) } else { Sniff::No }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Comment {
    file: Loose,
    line: Loose,
    level: Option<String>,
    code: Loose,
    message: Loose,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut findings = Findings::new("shellcheck", Sort::Linter);
    elements(input, Place::TopOrUnder("comments"), |comment: Comment| {
        let Some(code) = comment.code.number() else {
            return Err(foreign("not a report of ShellCheck: a comment has no number as its code"));
        };
        let (rule, level) = (Loose::Text(format!("SC{code}")), findings.level(comment.level.as_deref()));
        let Comment { file: path, line, message, .. } = comment;
        findings.add(level, Told { rule, path, line, message })
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
    fn both_dialects_are_read() {
        let one = |level: &str| {
            format!("{{\"file\":\"a.sh\",\"line\":2,\"level\":\"{level}\",\"code\":2086,\"message\":\"m\"}}")
        };
        let all = ["error", "warning", "info", "style"].map(one).join(",");
        let (old, new) = (read(&format!("[{all}]")).unwrap(), read(&format!("{{\"comments\":[{all}]}}")).unwrap());
        assert_eq!([old.figures.errors, old.figures.warnings, old.figures.notes], [Some(1), Some(1), Some(2)]);
        assert_eq!(old.details, new.details);
        let Details::Lint(details) = old.details else { panic!("lint") };
        assert_eq!(details.findings[0].rule.as_deref(), Some("SC2086"));
        assert_eq!(read("[]").unwrap().figures.total, Some(0));
        assert_eq!(read("{\"comments\":[]}").unwrap().figures.total, Some(0));
    }

    #[test]
    fn what_is_not_shellcheck_s_is_rejected() {
        for text in ["[{\"code\":\"DL3008\",\"level\":\"info\"}]", "{\"x\":[]}", "[{\"level\":\"info\"}]"] {
            assert_eq!(read(text).unwrap_err().reject(), Some(Reject::NotThisFormat), "{text}");
        }
    }
}
