//! `pylint-json`: Pylint's reporters `json` and `json2`. <https://pylint.readthedocs.io/en/stable/user_guide/usage/output.html>
//!
//! `json` tells nothing of the run as a whole, and is an empty list where nothing was found.

use std::marker::PhantomData;

use serde::Deserialize;

use super::findings_json::{Findings, Loose, Place, Told, elements, foreign};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::json;
use crate::ingest::values::Unique;
use crate::ingest::{Format, Head, Level, Parsed, Sniff, Sort};
use crate::model::figures::{Figures, ReportKind};

/// Pylint's JSON, old and new.
pub const FORMAT: Format = Format {
    name: "pylint-json",
    kind: ReportKind::Lint,
    about: "Pylint's messages, as a list or with statistics",
    written_by: "pylint -f json, pylint -f json2",
    told_by: "a JSON list of objects with type, module and symbol, or such a list under messages",
    has_end: true,
    counting: "Messages by type: fatal and error are errors; warning; refactor, convention and info are notes.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    if ["type", "module", "symbol"].iter().all(|key| head.has_key(key)) {
        return Sniff::Sure("keys type, module and symbol".into());
    }
    let of_messages = head.has_key("messages.symbol") && head.has_key("messages.module");
    if of_messages || (head.has_key("messages") && head.has_key("statistics.messageTypeCount")) {
        return Sniff::Sure("keys messages and statistics, as Pylint writes them".into());
    }
    Sniff::No
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Message {
    #[serde(rename = "type")]
    kind: Option<String>,
    symbol: Loose,
    message: Loose,
    path: Loose,
    line: Loose,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Summary {
    statistics: Option<Statistics>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Statistics {
    message_type_count: Unique<Loose>,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut findings = Findings::new("pylint", Sort::Linter);
    elements(input, Place::TopOrUnder("messages"), |message: Message| {
        if !message.symbol.is_text() {
            return Err(foreign("not a report of Pylint: a message has no symbol"));
        }
        let level = findings.level(message.kind.as_deref());
        let Message { symbol: rule, path, line, message, .. } = message;
        findings.add(level, Told { rule, path, line, message })
    })?;
    // The list alone has none.
    let summary = json::object(input, PhantomData::<Summary>).ok().and_then(|summary| summary.statistics);
    if let Some(statistics) = summary {
        findings.declared = declared(&mut findings, &statistics);
    }
    findings.finish(&FORMAT)
}

fn declared(findings: &mut Findings, statistics: &Statistics) -> Figures {
    let mut totals = Figures { errors: Some(0), warnings: Some(0), notes: Some(0), ..Figures::default() };
    for (kind, count) in &statistics.message_type_count.0 {
        let total = match findings.level(Some(kind)) {
            Level::Error => &mut totals.errors,
            Level::Warning => &mut totals.warnings,
            Level::Note => &mut totals.notes,
        };
        *total = super::findings_json::sum(*total, count);
    }
    totals
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;

    fn read(text: &str) -> Result<Parsed> {
        parse(&Input::bytes("x", text.as_bytes()))
    }

    fn messages(types: &[&str]) -> String {
        let one = |kind: &&str| format!("{{\"type\":\"{kind}\",\"module\":\"m\",\"symbol\":\"s\",\"line\":2}}");
        types.iter().map(one).collect::<Vec<_>>().join(",")
    }

    #[test]
    fn types_are_levels_in_both_dialects() {
        let all = messages(&["fatal", "error", "warning", "refactor", "convention", "info"]);
        let old = read(&format!("[{all}]")).unwrap();
        let new =
            read(&format!("{{\"messages\":[{all}],\"statistics\":{{\"messageTypeCount\":{{\"error\":2}}}}}}")).unwrap();
        for parsed in [&old, &new] {
            let figures = &parsed.figures;
            assert_eq!([figures.errors, figures.warnings, figures.notes], [Some(2), Some(1), Some(3)]);
        }
        assert_eq!(old.details, new.details);
        assert_eq!((old.declared, new.declared.unwrap().warnings), (None, Some(0)));
        assert_eq!(read("[]").unwrap().figures.total, Some(0));
    }

    #[test]
    fn what_is_not_pylint_s_is_rejected() {
        for text in ["[{\"type\":\"error\"}]", "{\"message\":[]}", "[{\"message\":\"x\"}]"] {
            assert_eq!(read(text).unwrap_err().reject(), Some(Reject::NotThisFormat), "{text}");
        }
        assert_eq!(read(&format!("[{}", messages(&["error"]))).unwrap_err().reject(), Some(Reject::Malformed));
    }
}
