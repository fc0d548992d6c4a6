//! `prospector-json`: Prospector's format `json`. <https://prospector.landscape.io/en/master/usage.html#output-format>

use std::marker::PhantomData;

use serde::Deserialize;

use super::findings_json::{Findings, Loose, Place, Told, elements, foreign};
use super::tool_and_sort;
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::{Format, Level, Parsed, Sort, json};
use crate::model::figures::{Figures, ReportKind};

/// Prospector's JSON.
pub const FORMAT: Format = Format {
    name: "prospector-json",
    kind: ReportKind::Lint,
    about: "Prospector's messages, of all the tools that it runs",
    written_by: "prospector --output-format json",
    told_by: "a JSON object with summary.message_count and messages",
    has_end: true,
    counting: "Each message is an error of the tool that is its source; there are no levels.",
    sniff: |head| head.by_keys(&["summary.message_count", "summary.tools", "summary.strictness"]),
    parse,
};

#[derive(Default, Deserialize)]
#[serde(default)]
struct Item {
    source: Loose,
    code: Loose,
    location: Location,
    message: Loose,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Location {
    path: Loose,
    line: Loose,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Document {
    summary: Summary,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Summary {
    message_count: Loose,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut findings = Findings::new("prospector", Sort::Linter);
    elements(input, Place::Under("messages"), |item: Item| {
        let Item { source, code: rule, location: Location { path, line }, message } = item;
        let Loose::Text(source) = source else {
            return Err(foreign("not a report of Prospector: a message has no source"));
        };
        let (tool, sort) = tool_and_sort(&source, None);
        findings.add_of(tool, sort, Level::Error, Told { rule, path, line, message })
    })?;
    let count = json::object(input, PhantomData::<Document>)?.summary.message_count;
    findings.declared = Figures { total: count.number(), ..Figures::default() };
    findings.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::lint::tests_support::first_finding;

    #[test]
    fn messages_are_of_the_tools_that_found_them() {
        let text = r#"{"summary":{"strictness":null,"tools":["pylint"],"message_count":3},"messages":[
            {"source":"pylint","code":"unused-import","location":{"path":"a.py","module":"a","function":null,"line":1,"character":0},"message":"Unused import os"},
            {"source":"mypy","code":"arg-type","location":{"path":"a.py","line":9},"message":"m"}]}"#;
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        assert_eq!((parsed.figures.errors, parsed.warnings.len()), (Some(2), 1));
        assert_eq!(first_finding(&parsed), (Some("a.py"), Some(1), Some("unused-import"), "Unused import os"));
        for other in ["{\"messages\":[{\"text\":\"x\"}]}", "{\"summary\":{}}"] {
            let error = parse(&Input::bytes("x", other.as_bytes())).unwrap_err();
            assert_eq!(error.reject(), Some(Reject::NotThisFormat), "{other}");
        }
    }
}
