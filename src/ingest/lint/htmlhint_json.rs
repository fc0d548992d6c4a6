//! `htmlhint-json`: HTMLHint's formatter `json`. <https://htmlhint.com/usage/cli/>
//!
//! It names no files in which nothing was found.

use serde::Deserialize;

use super::findings_json::{Findings, Loose, OfAFile, Place, Told, elements, foreign};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::{Format, Parsed, Sort};
use crate::model::figures::ReportKind;

/// HTMLHint's JSON.
pub const FORMAT: Format = Format {
    name: "htmlhint-json",
    kind: ReportKind::Lint,
    about: "HTMLHint's messages by file",
    written_by: "htmlhint --format json",
    told_by: "a JSON list of objects with file, messages.type, messages.evidence and messages.rule.id",
    has_end: true,
    counting: "Messages by type: error, warning; info is a note.",
    sniff: |head| head.by_keys(&["file", "messages.type", "messages.evidence", "messages.rule.id"]),
    parse,
};

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    file: Option<String>,
    #[serde(default)]
    messages: Option<OfAFile<Message>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Message {
    #[serde(rename = "type")]
    kind: Option<String>,
    message: Loose,
    line: Loose,
    rule: Option<Rule>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Rule {
    id: Loose,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut findings = Findings::new("htmlhint", Sort::Linter);
    elements(input, Place::Top, |file: File| {
        let (Some(path), Some(messages)) = (file.file, file.messages) else {
            return Err(foreign("not a report of HTMLHint: an element has no file or no messages"));
        };
        messages.into_iter().try_for_each(|one| {
            let level = findings.level(one.kind.as_deref());
            let Message { message, line, rule, .. } = one;
            let rule = rule.unwrap_or_default().id;
            findings.add(level, Told { rule, path: Loose::Text(path.clone()), line, message })
        })
    })?;
    findings.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::lint::tests_support::first_finding;

    #[test]
    fn messages_count_by_type() {
        let text = r#"[{"file":"a.html","messages":[{"type":"error","message":"m","raw":"<p>","evidence":"<p>","line":3,"col":1,
            "rule":{"id":"doctype-first","description":"d","link":"l"}},{"type":"warning"},{"type":"info"}],"time":7}]"#;
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        let figures = &parsed.figures;
        assert_eq!([figures.errors, figures.warnings, figures.notes], [Some(1), Some(1), Some(1)]);
        assert_eq!(first_finding(&parsed), (Some("a.html"), Some(3), Some("doctype-first"), "m"));
    }

    #[test]
    fn what_is_not_htmlhint_s_is_rejected() {
        for other in ["[{\"file\":\"x\"}]", "{\"a\":[]}"] {
            let error = parse(&Input::bytes("x", other.as_bytes())).unwrap_err();
            assert_eq!(error.reject(), Some(Reject::NotThisFormat), "{other}");
        }
    }
}
