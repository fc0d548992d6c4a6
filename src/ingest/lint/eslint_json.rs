//! `eslint-json`: ESLint's formatters `json` and `json-with-metadata`. <https://eslint.org/docs/latest/use/formatters/>
//!
//! It tells nothing of the run as a whole: a run without files is an empty list.

use serde::Deserialize;

use super::findings_json::{Findings, Loose, OfAFile, Place, Told, elements, foreign, level_of, sum};
use crate::error::{Error, Reject, Result};
use crate::ingest::input::Input;
use crate::ingest::text::printable;
use crate::ingest::{Format, Head, Level, Parsed, Sniff, Sort};
use crate::model::figures::{Figures, ReportKind};

/// ESLint's JSON.
pub const FORMAT: Format = Format {
    name: "eslint-json",
    kind: ReportKind::Lint,
    about: "ESLint's messages by file",
    written_by: "eslint -f json, eslint -f json-with-metadata, textlint -f json, secretlint --format json",
    told_by: "a JSON list of objects with filePath and messages, or such a list under results",
    has_end: true,
    counting: "Messages of all files: severity 2 or fatal is an error, 1 a warning. Suppressed messages are left out.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let list = head.has_key("filePath") && head.has_key("messages");
    let with_metadata = head.has_key("results.filePath") && head.has_key("results.messages");
    let no_files = head.has_key("results") && head.has_key("metadata.rulesMeta");
    match (list, with_metadata || no_files) {
        (true, _) => Sniff::Sure("keys filePath and messages".into()),
        (_, true) => Sniff::Sure("keys results and metadata, as ESLint writes them".into()),
        _ => Sniff::No,
    }
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct File {
    file_path: Loose,
    messages: Option<OfAFile<Message>>,
    error_count: Loose,
    warning_count: Loose,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Message {
    rule_id: Loose,
    severity: Option<Severity>,
    fatal: Option<bool>,
    message: Loose,
    line: Loose,
}

/// ESLint's numbers, and the words of secretlint, which writes the same otherwise.
#[derive(Deserialize)]
#[serde(untagged)]
enum Severity {
    Number(u64),
    Word(String),
}

impl Severity {
    /// None for rules that are off, which say nothing.
    fn level(&self) -> Result<Option<Level>> {
        Ok(Some(match self {
            Severity::Number(0) => return Ok(None),
            Severity::Number(1) => Level::Warning,
            Severity::Number(2) => Level::Error,
            Severity::Number(other) => {
                return Err(Error::report(Reject::Malformed, format!("a message has the severity {other}")));
            }
            Severity::Word(word) => level_of(word).ok_or_else(|| {
                Error::report(Reject::Malformed, format!("a message has the severity {:?}", printable(word, 40)))
            })?,
        }))
    }
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut findings = Findings::new("eslint", Sort::Linter);
    findings.declared = Figures { errors: Some(0), warnings: Some(0), ..Figures::default() };
    let mut without_severity = 0;
    elements(input, Place::TopOrUnder("results"), |file: File| {
        let (Loose::Text(_), Some(messages)) = (&file.file_path, file.messages) else {
            return Err(foreign("not a report of ESLint: an element has no filePath or no messages"));
        };
        findings.declared.errors = sum(findings.declared.errors, &file.error_count);
        findings.declared.warnings = sum(findings.declared.warnings, &file.warning_count);
        for message in messages {
            let level = match (message.fatal, &message.severity) {
                (Some(true), _) => Level::Error,
                (_, None) => {
                    without_severity += 1;
                    continue;
                }
                (_, Some(severity)) => match severity.level()? {
                    Some(level) => level,
                    None => continue,
                },
            };
            let Message { rule_id: rule, line, message, .. } = message;
            findings.add(level, Told { rule, path: file.file_path.clone(), line, message })?;
        }
        Ok(())
    })?;
    if without_severity > 0 {
        findings.warnings.push(format!("{without_severity} messages have no severity and are not counted"));
    }
    findings.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::Details;

    fn read(messages: &str) -> Result<Parsed> {
        let text = format!(
            "npm notice\n[{{\"filePath\":\"a.js\",\"messages\":[{messages}],\"errorCount\":1,\"warningCount\":0}}]\n"
        );
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn severities_are_numbers_and_fatal_is_an_error() {
        for (message, expected) in [
            ("{\"severity\":2}", [1, 0]),
            ("{\"severity\":1}", [0, 1]),
            ("{\"severity\":1,\"fatal\":true}", [1, 0]),
            ("{\"ruleId\":null,\"severity\":null}", [0, 0]),
            ("{\"severity\":0}", [0, 0]),
        ] {
            let figures = read(message).unwrap().figures;
            assert_eq!([figures.errors, figures.warnings].map(Option::unwrap), expected, "{message}");
        }
        assert_eq!(read("{\"severity\":\"info\"}").unwrap().figures.notes, Some(1));
        for bad in ["{\"severity\":3}", "{\"severity\":\"bad\"}", "{\"severity\":-1}", "{\"severity\":1e400}"] {
            let error = read(bad).unwrap_err();
            assert_eq!((error.reject(), error.place.line), (Some(Reject::Malformed), Some(2)), "{bad}");
        }
    }

    #[test]
    fn findings_have_rule_and_place_and_totals_are_compared() {
        let parsed =
            read(r#"{"ruleId":"semi","severity":2,"message":"no;","line":3},{"severity":2,"line":-1}"#).unwrap();
        assert_eq!(parsed.declared.unwrap().errors, Some(1));
        let Details::Lint(details) = parsed.details else { panic!("lint") };
        let [first, second] = &details.findings[..] else { panic!("two") };
        assert_eq!((first.rule.as_deref(), first.line, first.message.as_str()), (Some("semi"), Some(3), "no;"));
        assert_eq!((second.path.as_deref(), second.line), (Some("a.js"), None));
        assert_eq!(parse(&Input::bytes("x", b"[{\"a\":1}]")).unwrap_err().reject(), Some(Reject::NotThisFormat));
    }
}
