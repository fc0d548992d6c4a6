//! `hadolint-json`: findings in Dockerfiles. <https://github.com/hadolint/hadolint#output-formats>
//!
//! A list that is empty where nothing was found; the shell rules in it are ShellCheck's.

use serde::Deserialize;

use super::findings_json::{Findings, Loose, Place, Told, elements, foreign, value_begins};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::{Format, Head, Parsed, Sniff, Sort};
use crate::model::figures::ReportKind;

/// Hadolint's JSON.
pub const FORMAT: Format = Format {
    name: "hadolint-json",
    kind: ReportKind::Lint,
    about: "hadolint's findings in Dockerfiles",
    written_by: "hadolint -f json",
    told_by: "a JSON list of objects with file, line, level and a code that is text",
    has_end: true,
    counting: "Findings by level: error, warning; info and style are notes.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    // ShellCheck's objects have the same keys; its codes are numbers.
    let has_all = ["file", "line", "column", "level", "code"].iter().all(|key| head.has_key(key));
    if has_all && value_begins(head, "code") == Some('"') {
        return Sniff::Sure("keys file, line, level and a code that is text".into());
    }
    Sniff::No
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Item {
    file: Loose,
    line: Loose,
    level: Option<String>,
    code: Loose,
    message: Loose,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut findings = Findings::new("hadolint", Sort::Linter);
    elements(input, Place::Top, |item: Item| {
        if !item.code.is_text() {
            return Err(foreign("not a report of hadolint: an element has no text as its code"));
        }
        let level = findings.level(item.level.as_deref());
        let Item { file: path, line, code: rule, message, .. } = item;
        findings.add(level, Told { rule, path, line, message })
    })?;
    findings.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;

    #[test]
    fn levels_are_counted_and_shellcheck_s_list_is_not_this() {
        let one = |level: &str| {
            format!("{{\"file\":\"D\",\"line\":2,\"level\":\"{level}\",\"code\":\"DL1\",\"message\":\"m\"}}")
        };
        let text = format!("[{}]", ["error", "warning", "info", "style"].map(one).join(","));
        let figures = parse(&Input::bytes("x", text.as_bytes())).unwrap().figures;
        assert_eq!([figures.errors, figures.warnings, figures.notes], [Some(1), Some(1), Some(2)]);
        let error = parse(&Input::bytes("x", b"[{\"code\":2086,\"level\":\"info\"}]")).unwrap_err();
        assert_eq!(error.reject(), Some(Reject::NotThisFormat));
    }
}
