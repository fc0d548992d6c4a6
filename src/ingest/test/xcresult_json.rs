//! `xcresult-json`: what Xcode's `xcresulttool get test-results summary` and `… tests` print. Defined by the schemas that
//! `xcresulttool help get test-results` prints; there is no Xcode at hand.

use std::cell::RefCell;

use serde::de::MapAccess;
use serde_json::Value;

use super::TestTally;
use super::json_report::{Keys, Object, declare, items, lacks, objects, seconds, text, unknown_status};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::text::first_lines;
use crate::ingest::{Format, Head, Parsed, Sniff, add, json};
use crate::model::cases::{Outcome, TestCase};
use crate::model::figures::{Figures, ReportKind};

/// Results of Xcode.
pub const FORMAT: Format = Format {
    name: "xcresult-json",
    kind: ReportKind::Test,
    about: "JSON of Xcode's test results: their summary, or the tests",
    written_by: "xcrun xcresulttool get test-results summary, xcrun xcresulttool get test-results tests",
    told_by: "a JSON object with totalTestCount and passedTests, or with testNodes",
    has_end: true,
    counting: "Of a summary its numbers; of tests each Test Case, passed and flaky if a repetition of it failed \
               before. Expected failures are skipped.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let told =
        [&["devicesAndConfigurations", "passedTests"][..], &["totalTestCount", "passedTests"], &["testNodes.nodeType"]];
    told.iter().map(|keys| head.by_keys(keys)).find(|told| *told != Sniff::No).unwrap_or(Sniff::No)
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let tally = RefCell::new(TestTally::new(true));
    let mut report = Report { tally: &tally, numbers: [None; 5], names: Vec::new(), has_nodes: false };
    json::object(input, Object(&mut report))?;
    let Report { numbers, names, has_nodes, .. } = report;
    let mut tally = tally.into_inner();
    match numbers {
        _ if has_nodes => {}
        [Some(all), Some(passed), Some(failed), Some(skipped), expected] => {
            let skipped = add(skipped, expected.unwrap_or_default())?;
            for (outcome, number) in [(Outcome::Passed, passed), (Outcome::Failed, failed), (Outcome::Skipped, skipped)]
            {
                tally.count(outcome, number)?;
            }
            for name in names {
                tally.keep(&name, TestCase::new(Outcome::Failed));
            }
            let mut parsed = tally.finish_with_few_names(&FORMAT)?;
            declare(&mut parsed, Figures { tests: Some(all), ..Figures::default() });
            return Ok(parsed);
        }
        _ => return Err(lacks(&FORMAT, "numbers of tests and no test")),
    }
    tally.finish(&FORMAT)
}

/// What a summary counts, in the order in which its numbers are held.
const NUMBERS: [&str; 5] = ["totalTestCount", "passedTests", "failedTests", "skippedTests", "expectedFailures"];
/// Names of failures that are held of a summary.
const NAMES_HELD: usize = 1_000;

struct Report<'t> {
    tally: &'t RefCell<TestTally>,
    numbers: [Option<u64>; 5],
    /// Of what failed, as a summary lists it.
    names: Vec<String>,
    has_nodes: bool,
}

impl Keys for Report<'_> {
    fn key<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        if let Some((_, number)) = NUMBERS.iter().zip(&mut self.numbers).find(|(name, _)| **name == key) {
            *number = Some(map.next_value()?);
            return Ok(true);
        }
        match key {
            "testFailures" => map.next_value_seed(items(|failure: Value| {
                let name = failure.get("testIdentifierString").or(failure.get("testName")).and_then(text);
                self.names.extend(name.filter(|_| self.names.len() < NAMES_HELD).map(str::to_owned));
                Ok(())
            }))?,
            "testNodes" => {
                self.has_nodes = true;
                map.next_value_seed(objects(|| Node::of(self.tally), |node: Node<'_>| node.end()))?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// A plan, a bundle, a suite, a test, or something of a test.
struct Node<'t> {
    tally: &'t RefCell<TestTally>,
    kind: Value,
    name: Value,
    id: Value,
    result: Value,
    seconds: Value,
    /// The first failure that stands in it.
    message: Option<String>,
    repetitions: u32,
}

impl<'t> Node<'t> {
    fn of(tally: &'t RefCell<TestTally>) -> Node<'t> {
        let none = || Value::Null;
        let (kind, name, id, result, seconds) = (none(), none(), none(), none(), none());
        Node { tally, kind, name, id, result, seconds, message: None, repetitions: 0 }
    }

    fn end(self) -> Result<()> {
        if text(&self.kind) != Some("Test Case") {
            return Ok(());
        }
        let outcome = match text(&self.result) {
            Some("Passed") => Outcome::Passed,
            Some("Failed") => Outcome::Failed,
            Some("Skipped" | "Expected Failure") => Outcome::Skipped,
            other => return Err(unknown_status(other.unwrap_or_default())),
        };
        let mut case = TestCase::new(outcome);
        (case.message, case.duration_ms) = (self.message, seconds(&self.seconds));
        case.attempts = self.repetitions.max(1);
        let mut tally = self.tally.borrow_mut();
        if outcome == Outcome::Passed && case.attempts > 1 {
            tally.count_flaky();
        }
        let name = text(&self.id).or(text(&self.name)).unwrap_or("(unnamed)");
        tally.case(name, case)
    }
}

impl Keys for Node<'_> {
    fn key<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        let slot = match key {
            "nodeType" => &mut self.kind,
            "name" => &mut self.name,
            "nodeIdentifier" => &mut self.id,
            "result" => &mut self.result,
            "durationInSeconds" => &mut self.seconds,
            "children" => {
                let (tally, message, repetitions) = (self.tally, &mut self.message, &mut self.repetitions);
                let mut has_failed = false;
                let take = |node: Node<'_>| {
                    let found = match text(&node.kind) {
                        Some("Failure Message") => text(&node.name).and_then(first_lines),
                        _ => node.message.clone(),
                    };
                    *message = message.take().or(found);
                    if text(&node.kind) == Some("Repetition") {
                        // It may be run again though it passed.
                        *repetitions = if has_failed { repetitions.saturating_add(1) } else { 1 };
                        has_failed |= text(&node.result) == Some("Failed");
                    }
                    node.end()
                };
                map.next_value_seed(objects(|| Node::of(tally), take))?;
                return Ok(true);
            }
            _ => return Ok(false),
        };
        *slot = map.next_value()?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    fn read(text: &str) -> Result<Parsed> {
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn a_summary_has_numbers() {
        let summary = |passed: u32| {
            format!(
                "{{\"title\":\"Test - Shop\",\"result\":\"Failed\",\"totalTestCount\":6,\"passedTests\":{passed},\"failedTests\":1,\
                 \"skippedTests\":1,\"expectedFailures\":1,\"testFailures\":[{{\"testIdentifierString\":\"CartTests/testAdds()\"}}]}}"
            )
        };
        let parsed = read(&summary(3)).unwrap();
        assert_eq!((counts(&parsed), details(&parsed).dropped), ([6, 3, 1, 0, 2], 5));
        assert!(details(&parsed).cases.cases.contains_key("CartTests/testAdds()"));
        assert!(matches!(sniffed(&FORMAT, &summary(3)), Sniff::Sure(_)));
        assert_eq!(read(&summary(4)).unwrap().declared.unwrap().tests, Some(6));
        assert_eq!(read("{\"totalTestCount\":1}").unwrap_err().reject(), Some(Reject::NotThisFormat));
    }

    #[test]
    fn test_cases_count_wherever_they_stand() {
        let case = |name: &str, result: &str, inside: &str| {
            format!(
                "{{\"children\":[{inside}],\"durationInSeconds\":0.25,\"name\":\"{name}\",\"nodeIdentifier\":\"CartTests/{name}\",\
                 \"nodeType\":\"Test Case\",\"result\":\"{result}\"}}"
            )
        };
        let repetition = |result: &str, inside: &str| {
            format!("{{\"children\":[{inside}],\"nodeType\":\"Repetition\",\"name\":\"Run\",\"result\":\"{result}\"}}")
        };
        let message = "{\"name\":\"CartTests.swift:9: no\",\"nodeType\":\"Failure Message\"}";
        let runs = [repetition("Failed", message), repetition("Passed", "")].join(",");
        let twice = [repetition("Passed", ""), repetition("Passed", "")].join(",");
        let cases = [
            case("a()", "Passed", &twice),
            case("b()", "Failed", message),
            case("c()", "Skipped", ""),
            case("d()", "Expected Failure", ""),
            case("e()", "Passed", &runs),
        ];
        let nodes = |cases: &str| {
            format!(
                "{{\"devices\":[],\"testNodes\":[{{\"children\":[{{\"children\":[{cases}],\"nodeType\":\"Test Suite\"}}],\"nodeType\":\"Test Plan\"}}]}}"
            )
        };
        let parsed = read(&nodes(&cases.join(","))).unwrap();
        assert_eq!((counts(&parsed), parsed.figures.flaky), ([5, 2, 1, 0, 2], Some(1)));
        let details = details(&parsed);
        let failed = &details.cases.cases["CartTests/b()"];
        assert_eq!((failed.message.as_deref(), failed.duration_ms), (Some("CartTests.swift:9: no"), Some(250)));
        assert_eq!(details.cases.cases["CartTests/a()"].attempts, 1);
        assert!(matches!(sniffed(&FORMAT, &nodes(&case("a()", "Passed", ""))), Sniff::Sure(_)));
        assert_eq!(read(&nodes(&case("a()", "odd", ""))).unwrap_err().reject(), Some(Reject::Malformed));
    }
}
