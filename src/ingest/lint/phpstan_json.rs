//! `phpstan-json`: PHPStan's error formats `json` and `prettyJson`. Written after their definition,
//! <https://phpstan.org/user-guide/output-format>, and the fields that its JSON formatter writes, of versions 1 and 2. Under an
//! agent it writes what Laravel PAO makes of them, where that is installed: `src/Drivers/Phpstan/Starter.php`
//! (<https://github.com/laravel/pao>).
//!
//! It names no files in which nothing was found, and no severities.

use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::findings_json::{Findings, Loose, OfAFile, Place, Told, elements, foreign, members_under};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::json;
use crate::ingest::{Format, Head, Level, Parsed, Sniff, Sort};
use crate::model::figures::{Figures, ReportKind};

/// PHPStan's JSON.
pub const FORMAT: Format = Format {
    name: "phpstan-json",
    kind: ReportKind::Lint,
    about: "PHPStan's errors by file",
    written_by: "phpstan analyse --error-format=json|prettyJson, and phpstan under an agent with laravel/pao",
    told_by: "a JSON object with totals.file_errors, files and errors, or with tool, result and errors",
    has_end: true,
    counting: "The messages of all files and the errors that belong to none: all are errors.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    if head.has_key("totals.file_errors") && head.has_key("files") {
        return Sniff::Sure("keys totals.file_errors and files".into());
    }
    if head.has_key("tool") && head.has_key("errors") && !head.has_key("tests") && head.text().contains("\"phpstan\"") {
        return Sniff::Sure("keys tool and errors, as PAO writes them of PHPStan".into());
    }
    Sniff::No
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct File {
    messages: Option<OfAFile<Message>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Message {
    message: Loose,
    line: Loose,
    /// The rule's name; since version 1.11.
    identifier: Loose,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Document {
    totals: Option<Totals>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Totals {
    errors: Loose,
    file_errors: Loose,
}

/// What PAO makes of it. It may list some of the errors alone.
#[derive(Deserialize)]
struct Pao {
    errors: u64,
    error_details: Option<IgnoredAny>,
    general_errors: Option<IgnoredAny>,
}

fn of_file(findings: &mut Findings, path: &str, messages: OfAFile<Message>) -> Result<()> {
    for Message { message, line, identifier: rule } in messages {
        if !message.is_text() {
            return Err(foreign("not a report of PHPStan: a message has no text"));
        }
        findings.add(Level::Error, Told { rule, path: Loose::Text(path.to_owned()), line, message })?;
    }
    Ok(())
}

fn general(findings: &mut Findings, message: String) -> Result<()> {
    findings.add(Level::Error, Told { message: Loose::Text(message), ..Told::default() })
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut findings = Findings::new("phpstan", Sort::Linter);
    let Some(totals) = json::object(input, PhantomData::<Document>)?.totals else {
        let pao = json::object(input, PhantomData::<Pao>)?;
        if pao.error_details.is_some() {
            let add = |path: String, messages| of_file(&mut findings, &path, messages);
            members_under(input, "error_details", add)?;
        }
        if pao.general_errors.is_some() {
            elements(input, Place::Under("general_errors"), |message: String| general(&mut findings, message))?;
        }
        findings.complete([pao.errors, 0])?;
        return findings.finish(&FORMAT);
    };
    members_under(input, "files", |path: String, file: File| {
        let Some(messages) = file.messages else {
            return Err(foreign("not a report of PHPStan: a file has no messages"));
        };
        of_file(&mut findings, &path, messages)
    })?;
    elements(input, Place::Under("errors"), |message: String| general(&mut findings, message))?;
    let all = totals.errors.number().zip(totals.file_errors.number());
    let errors = all.and_then(|(general, of_files)| general.checked_add(of_files));
    findings.declared = Figures { errors, ..Figures::default() };
    findings.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::Details;
    use crate::ingest::lint::tests_support::first_finding;

    fn read(files: &str, errors: &str) -> Result<Parsed> {
        let totals = r#"{"errors":1,"file_errors":2}"#;
        let text = format!("Note: x\n{{\"totals\":{totals},\"files\":{files},\"errors\":{errors}}}\n");
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn what_pao_makes_of_it_is_read_as_well() {
        let read = |text: &str| crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None);
        let details = r#""error_details":{"/a/A.php":[{"line":9,"message":"No.","identifier":"return.type"}]}"#;
        for (text, count) in [
            (format!(r#"{{"tool":"phpstan","result":"failed","errors":31,{details},"truncated":true}}"#), 31),
            (format!(r#"{{"tool":"phpstan","result":"failed","errors":2,{details},"general_errors":["x"]}}"#), 2),
            (r#"{"tool":"phpstan","result":"passed","errors":0}"#.to_owned(), 0),
        ] {
            let parsed = read(&text).unwrap();
            assert_eq!((parsed.format.name, parsed.figures.errors), ("phpstan-json", Some(count)), "{text}");
        }
        let parsed = read(&format!(r#"{{"tool":"phpstan","result":"failed","errors":1,{details}}}"#)).unwrap();
        assert_eq!(first_finding(&parsed), (Some("/a/A.php"), Some(9), Some("return.type"), "No."));
        assert!(read(r#"{"tool":"phpstan","raw":["x"]}"#).is_err());
    }

    #[test]
    fn errors_of_files_and_of_none_are_errors() {
        let files = r#"{"a.php":{"errors":2,"messages":[{"message":"m","line":3,"ignorable":true,"identifier":"return.type"},
            {"message":"n","line":null,"ignorable":false}]}}"#;
        let parsed = read(files, "[\"general\"]").unwrap();
        assert_eq!((parsed.figures.errors, parsed.figures.total, parsed.warnings.len()), (Some(3), Some(3), 0));
        let Details::Lint(details) = parsed.details else { panic!("lint") };
        let told: Vec<_> = details
            .findings
            .iter()
            .map(|found| (found.path.as_deref(), found.line, found.rule.as_deref(), found.message.as_str()))
            .collect();
        let in_file = Some("a.php");
        let expected =
            [(in_file, Some(3), Some("return.type"), "m"), (in_file, None, None, "n"), (None, None, None, "general")];
        assert_eq!(told, expected);
        let clean = read("[]", "[]").unwrap();
        assert_eq!((clean.figures.total, clean.warnings.len()), (Some(0), 1), "the totals said 3");
    }

    #[test]
    fn what_is_not_phpstan_s_is_rejected() {
        for (files, errors, reject) in [
            ("{\"a\":{}}", "[]", Reject::NotThisFormat),
            ("{\"a\":{\"messages\":[{}]}}", "[]", Reject::NotThisFormat),
            ("[]", "{}", Reject::NotThisFormat),
            ("[]", "[1]", Reject::Malformed),
            ("[]", "[\"a\"", Reject::Malformed),
        ] {
            assert_eq!(read(files, errors).unwrap_err().reject(), Some(reject), "{files} {errors}");
        }
    }
}
