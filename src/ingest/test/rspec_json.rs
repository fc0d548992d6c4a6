//! `rspec-json`: the object of RSpec's JSON formatter. Its definition is `rspec/core/formatters/json_formatter.rb`.
//!
//! RSpec's own ids (`./spec/a_spec.rb[1:2]`) change when an example is put before others; the description is taken.

use serde::Deserialize;
use serde::de::MapAccess;
use serde_json::Value;

use super::TestTally;
use super::json_report::{
    Keys, Object, declare, items, lacks, line, path, seconds, text, unit_failures, unknown_status,
};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::text::first_lines;
use crate::ingest::{Format, Head, Parsed, Sniff, json};
use crate::model::cases::{Outcome, TestCase};
use crate::model::figures::{Figures, ReportKind};

/// RSpec's JSON.
pub const FORMAT: Format = Format {
    name: "rspec-json",
    kind: ReportKind::Test,
    about: "JSON of RSpec",
    written_by: "rspec --format json",
    told_by: "a JSON object with examples and summary",
    has_end: true,
    counting: "Each example is one test: passed, failed, pending (skipped). Each error outside of examples, as of a \
               file that does not load, is one errored test.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let others = ["summary_line", "summary.example_count", "examples.full_description"];
    if head.has_key("examples") && others.iter().any(|key| head.has_key(key)) {
        return Sniff::Sure("keys examples and summary".into());
    }
    Sniff::No
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut report = Report { tally: TestTally::new(false), has_examples: false, messages: Vec::new(), summary: None };
    json::object(input, Object(&mut report))?;
    if !report.has_examples {
        return Err(lacks(&FORMAT, "examples"));
    }
    let mut tally = report.tally;
    let summary = report.summary.unwrap_or_default();
    let names = report.messages.iter().filter_map(|message| broken_file(message)).map(str::to_owned);
    unit_failures(&mut tally, summary.errors_outside_of_examples_count.unwrap_or(0), names)?;
    let mut parsed = tally.finish(&FORMAT)?;
    declare(
        &mut parsed,
        Figures {
            tests: summary.example_count,
            failed: summary.failure_count,
            skipped: summary.pending_count,
            ..Figures::default()
        },
    );
    Ok(parsed)
}

/// The file in `An error occurred while loading ./spec/a_spec.rb.`
fn broken_file(message: &str) -> Option<&str> {
    let (_, rest) = message.split_once("An error occurred while loading ")?;
    let file = rest.split([' ', '\n', '\r']).next()?.trim_end_matches('.');
    (!file.is_empty()).then_some(file)
}

struct Report {
    tally: TestTally,
    has_examples: bool,
    messages: Vec<String>,
    summary: Option<Summary>,
}

impl Keys for Report {
    fn key<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        match key {
            "examples" => {
                self.has_examples = true;
                let tally = &mut self.tally;
                map.next_value_seed(items(|example: Example| count(&example, tally)))?;
            }
            "summary" => self.summary = map.next_value()?,
            "messages" => {
                let messages = &mut self.messages;
                map.next_value_seed(items(|message: Value| {
                    messages.extend(message.as_str().filter(|_| messages.len() < super::UNITS_KEPT).map(str::to_owned));
                    Ok(())
                }))?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

#[derive(Deserialize, Default)]
struct Summary {
    example_count: Option<u64>,
    failure_count: Option<u64>,
    pending_count: Option<u64>,
    errors_outside_of_examples_count: Option<u64>,
}

#[derive(Deserialize)]
struct Example {
    status: String,
    #[serde(default)]
    description: Value,
    #[serde(default)]
    full_description: Value,
    #[serde(default)]
    file_path: Value,
    #[serde(default)]
    line_number: Value,
    #[serde(default)]
    run_time: Value,
    #[serde(default)]
    exception: Value,
}

fn count(example: &Example, tally: &mut TestTally) -> Result<()> {
    let outcome = match example.status.as_str() {
        "passed" => Outcome::Passed,
        "failed" => Outcome::Failed,
        "pending" => Outcome::Skipped,
        // It called `exit`.
        "" => Outcome::Errored,
        other => return Err(unknown_status(other)),
    };
    let mut case = TestCase::new(outcome);
    case.duration_ms = seconds(&example.run_time);
    case.file = path(&example.file_path);
    case.line = line(&example.line_number);
    if outcome == Outcome::Failed {
        case.message = example.exception.get("message").and_then(text).and_then(first_lines);
    }
    let name = text(&example.full_description).or(text(&example.description)).unwrap_or("(unnamed)");
    let file = text(&example.file_path).map(|file| file.strip_prefix("./").unwrap_or(file));
    let id = file.map_or_else(|| name.to_owned(), |file| format!("{file}::{name}"));
    tally.case(&id, case)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::test::tests_support::{counts, details};

    fn read(text: &str) -> Result<Parsed> {
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn examples_are_counted_and_details_kept() {
        let parsed = read(
            "{\"examples\":[{\"status\":\"passed\"},{\"status\":\"pending\"},{\"status\":\"failed\",\"full_description\":\"A b\",\
             \"file_path\":\"./spec/a_spec.rb\",\"line_number\":4,\"run_time\":0.25,\"exception\":{\"message\":\"\\nno\\n\"}}],\
             \"summary\":{\"example_count\":3}}",
        )
        .unwrap();
        assert_eq!(counts(&parsed), [3, 1, 1, 0, 1]);
        let details = details(&parsed);
        let case = &details.cases.cases["spec/a_spec.rb::A b"];
        assert_eq!((case.line, case.duration_ms, case.message.as_deref()), (Some(4), Some(250), Some("no")));
        assert!(parsed.declared.is_none());
    }

    #[test]
    fn errors_outside_of_examples_are_units() {
        let parsed = read(
            "{\"messages\":[\"\\nAn error occurred while loading ./spec/b_spec.rb. - Did you\\n\"],\"examples\":[],\
             \"summary\":{\"errors_outside_of_examples_count\":1}}",
        )
        .unwrap();
        assert_eq!(
            (counts(&parsed), details(&parsed).failed_units),
            ([1, 0, 0, 1, 0], vec!["./spec/b_spec.rb".to_owned()])
        );
        for odd in ["-1", "1.5", "\"1\"", "18446744073709551616"] {
            let text = format!("{{\"examples\":[],\"summary\":{{\"errors_outside_of_examples_count\":{odd}}}}}");
            assert_eq!(read(&text).unwrap_err().reject(), Some(Reject::Malformed), "{odd}");
        }
        assert_eq!(read("{\"summary\":{}}").unwrap_err().reject(), Some(Reject::NotThisFormat));
        assert!(read("{\"examples\":[{\"status\":\"odd\"}]}").is_err());
        assert_eq!(counts(&read("{\"examples\":[{\"status\":\"\"}]}").unwrap()), [1, 0, 0, 1, 0]);
    }
}
