//! `ginkgo-json`: Ginkgo's JSON report of Go specs, one object a suite. Defined by its type `Report`,
//! <https://pkg.go.dev/github.com/onsi/ginkgo/v2/types#Report>.

use std::cell::RefCell;

use serde::Deserialize;
use serde::de::MapAccess;
use serde_json::Value;

use super::TestTally;
use super::json_report::{Keys, Waiting, items, lacks, line, objects, path, text, unknown_status};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::text::first_lines;
use crate::ingest::values::Few;
use crate::ingest::{Format, Parsed, json};
use crate::model::cases::{Outcome, TestCase};
use crate::model::figures::ReportKind;

/// Ginkgo's JSON.
pub const FORMAT: Format = Format {
    name: "ginkgo-json",
    kind: ReportKind::Test,
    about: "JSON of Ginkgo: specs of each suite",
    written_by: "ginkgo --json-report",
    told_by: "JSON objects with SuitePath and SpecReports",
    has_end: true,
    counting: "Each spec (It): failed and timedout failed; panicked, aborted and interrupted errored; pending and \
               skipped skipped; passed passed, and flaky where it had to be run again. A node of a suite that failed \
               (BeforeSuite), or a suite that failed without a failing spec, is one errored test.",
    sniff: |head| head.by_keys(&["SuitePath", "SuiteSucceeded"]),
    parse,
};

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let tally = RefCell::new(TestTally::new(true));
    let mut is_foreign = false;
    let make = || Suite { tally: &tally, path: Value::Null, succeeded: None, specs: None, has_failed: false };
    let take = |suite: Suite<'_>| {
        is_foreign |= suite.succeeded.is_none();
        suite.end();
        Ok(())
    };
    json::document(input, objects(make, take))?;
    if is_foreign {
        return Err(lacks(&FORMAT, "SuiteSucceeded"));
    }
    tally.into_inner().finish(&FORMAT)
}

struct Suite<'t> {
    tally: &'t RefCell<TestTally>,
    path: Value,
    succeeded: Option<bool>,
    specs: Option<Waiting>,
    has_failed: bool,
}

impl Keys for Suite<'_> {
    fn key<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        match key {
            "SuitePath" => self.path = map.next_value()?,
            "SuiteSucceeded" => self.succeeded = Some(map.next_value()?),
            "SpecReports" => {
                let (tally, specs) = (self.tally, self.specs.insert(Waiting::default()));
                let has_failed = &mut self.has_failed;
                map.next_value_seed(items(|spec: Spec| {
                    let outcome = spec.outcome()?;
                    *has_failed |= outcome.is_bad();
                    spec.count(outcome, specs, &mut tally.borrow_mut())
                }))?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl Suite<'_> {
    fn end(self) {
        let (name, mut tally) = (text(&self.path).unwrap_or_default(), self.tally.borrow_mut());
        if self.succeeded == Some(false) && !self.has_failed {
            tally.unit_failure(name);
        }
        if let Some(specs) = self.specs {
            specs.keep(&mut tally, |spec, _| spec);
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Spec {
    #[serde(default)]
    container_hierarchy_texts: Option<Few<String>>,
    #[serde(default)]
    leaf_node_type: Value,
    #[serde(default)]
    leaf_node_text: Value,
    #[serde(default)]
    leaf_node_location: Value,
    state: String,
    /// Nanoseconds.
    #[serde(default)]
    run_time: Value,
    #[serde(default)]
    num_attempts: Value,
    #[serde(default)]
    max_flake_attempts: Value,
    #[serde(default)]
    failure: Value,
}

impl Spec {
    fn outcome(&self) -> Result<Outcome> {
        match self.state.as_str() {
            "passed" => Ok(Outcome::Passed),
            "failed" | "timedout" => Ok(Outcome::Failed),
            "panicked" | "aborted" | "interrupted" => Ok(Outcome::Errored),
            "pending" | "skipped" | "" => Ok(Outcome::Skipped),
            other => Err(unknown_status(other)),
        }
    }

    fn count(&self, outcome: Outcome, specs: &mut Waiting, tally: &mut TestTally) -> Result<()> {
        let leaf = text(&self.leaf_node_text).or(text(&self.leaf_node_type)).unwrap_or("(unnamed)");
        if text(&self.leaf_node_type) != Some("It") {
            // What is set up and taken down is no test, unless it fails.
            if outcome.is_bad() {
                tally.unit_failure(leaf);
            }
            return Ok(());
        }
        let containers = self.container_hierarchy_texts.iter().flat_map(|texts| texts.0.iter().map(String::as_str));
        let name = containers.chain([leaf]).collect::<Vec<_>>().join("::");
        let mut case = TestCase::new(outcome);
        // A spec may also have to pass several times.
        if self.max_flake_attempts.as_u64() > Some(1) {
            case.attempts = self.num_attempts.as_u64().and_then(|times| u32::try_from(times).ok()).unwrap_or(1).max(1);
        }
        if outcome == Outcome::Passed && case.attempts > 1 {
            tally.count_flaky();
        }
        case.duration_ms = self.run_time.as_u64().map(|nanoseconds| nanoseconds / 1_000_000);
        let place = |key: &str| self.leaf_node_location.get(key).unwrap_or(&Value::Null);
        (case.file, case.line) = (path(place("FileName")), line(place("LineNumber")));
        case.message = self.failure.get("Message").and_then(text).and_then(first_lines);
        specs.add(name, case, tally)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::Sniff;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    fn spec(kind: &str, name: &str, state: &str, more: &str) -> String {
        format!(
            "{{\"ContainerHierarchyTexts\":[\"Cart\"],\"LeafNodeType\":\"{kind}\",\"LeafNodeText\":\"{name}\",\"State\":\"{state}\",\
             \"LeafNodeLocation\":{{\"FileName\":\"/app/cart_test.go\",\"LineNumber\":9}},\"RunTime\":2500000{more}}}"
        )
    }

    fn report(succeeded: bool, specs: &[String]) -> String {
        format!("[{{\"SuitePath\":\"/app\",\"SuiteSucceeded\":{succeeded},\"SpecReports\":[{}]}}]", specs.join(","))
    }

    fn read(text: &str) -> Result<Parsed> {
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn specs_count_and_what_failed_around_them() {
        let again = |most: u32| format!(",\"NumAttempts\":2,\"MaxFlakeAttempts\":{most}");
        let specs = [
            spec("BeforeSuite", "", "passed", ""),
            spec("It", "adds", "passed", ""),
            spec("It", "flaky", "passed", &again(3)),
            spec("It", "must pass twice", "passed", &again(0)),
            spec("It", "fails", "failed", ",\"Failure\":{\"Message\":\"no\"}"),
            spec("It", "slow", "timedout", ""),
            spec("It", "panics", "panicked", ""),
            spec("It", "later", "pending", ""),
            spec("AfterSuite", "", "failed", ""),
        ];
        let parsed = read(&report(false, &specs)).unwrap();
        assert_eq!((counts(&parsed), parsed.figures.flaky), ([8, 3, 2, 2, 1], Some(1)));
        let details = details(&parsed);
        let case = &details.cases.cases["Cart::fails"];
        assert_eq!((case.message.as_deref(), case.line, case.duration_ms), (Some("no"), Some(9), Some(2)));
        assert_eq!(details.failed_units, ["AfterSuite"]);
        assert!(matches!(sniffed(&FORMAT, &report(true, &specs)), Sniff::Sure(_)));
    }

    #[test]
    fn a_suite_that_failed_without_a_spec_is_errored() {
        assert_eq!(counts(&read(&report(false, &[spec("It", "adds", "passed", "")])).unwrap()), [2, 1, 0, 1, 0]);
        assert_eq!(counts(&read("[{\"SuiteSucceeded\":true,\"SpecReports\":null}]").unwrap()), [0; 5]);
        let code = |text: &str| read(text).unwrap_err().reject();
        assert_eq!(code("[{\"SpecReports\":[]}]"), Some(Reject::NotThisFormat));
        assert_eq!(code(&report(true, &[spec("It", "adds", "odd", "")])), Some(Reject::Malformed));
    }
}
