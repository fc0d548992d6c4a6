//! `newman-json`: the report of Newman's reporter `json`, Postman's runner. Defined by its documentation,
//! <https://github.com/postmanlabs/newman#reporters>.

use std::cell::RefCell;

use serde::Deserialize;
use serde::de::{IgnoredAny, MapAccess};
use serde_json::Value;

use super::TestTally;
use super::json_report::{Keys, Object, items, lacks, text};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::text::first_lines;
use crate::ingest::values::Few;
use crate::ingest::{Format, Head, Parsed, Sniff, json};
use crate::model::cases::{Outcome, TestCase};
use crate::model::figures::ReportKind;

/// Newman's JSON.
pub const FORMAT: Format = Format {
    name: "newman-json",
    kind: ReportKind::Test,
    about: "JSON of Newman: assertions of each request of a Postman collection",
    written_by: "newman run --reporters json",
    told_by: "a JSON object with run.executions and run.stats",
    has_end: true,
    counting: "Each assertion of a request is one test. A request that got no answer, and a script that failed outside its \
               assertions, is one errored test.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let told = head.by_keys(&["run.executions", "run.stats"]);
    // The collection comes first, and may be long.
    match told == Sniff::No && head.has_key("collection.item") && head.has_key("collection.info") {
        true => Sniff::Maybe("keys collection.item and collection.info".into()),
        false => told,
    }
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut report = Report { run: Run { tally: TestTally::new(false), has_executions: false } };
    json::object(input, Object(&mut report))?;
    if !report.run.has_executions {
        return Err(lacks(&FORMAT, "executions"));
    }
    report.run.tally.finish(&FORMAT)
}

struct Report {
    run: Run,
}

impl Keys for Report {
    fn key<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        if key == "run" {
            map.next_value_seed(Object(&mut self.run))?;
        }
        Ok(key == "run")
    }
}

struct Run {
    tally: TestTally,
    has_executions: bool,
}

impl Keys for Run {
    fn key<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        if key == "executions" {
            self.has_executions = true;
            let tally = RefCell::new(&mut self.tally);
            map.next_value_seed(items(|execution: Execution| execution.count(&mut tally.borrow_mut())))?;
        }
        Ok(key == "executions")
    }
}

/// One request of one iteration.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Execution {
    #[serde(default)]
    item: Value,
    assertions: Option<Few<Assertion>>,
    request_error: Option<IgnoredAny>,
    test_script: Option<Few<Script>>,
    prerequest_script: Option<Few<Script>>,
}

#[derive(Deserialize)]
struct Assertion {
    #[serde(default)]
    assertion: Value,
    #[serde(default)]
    skipped: bool,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Script {
    error: Option<IgnoredAny>,
}

impl Execution {
    fn count(self, tally: &mut TestTally) -> Result<()> {
        let name = self.item.get("name").and_then(text).unwrap_or("(unnamed)");
        for assertion in self.assertions.unwrap_or_default() {
            let outcome = match assertion {
                Assertion { error: Some(_), .. } => Outcome::Failed,
                Assertion { skipped: true, .. } => Outcome::Skipped,
                _ => Outcome::Passed,
            };
            let mut case = TestCase::new(outcome);
            let message = assertion.error.as_ref().and_then(|error| error.get("message"));
            case.message = message.and_then(text).and_then(first_lines);
            tally.case(&format!("{name}::{}", text(&assertion.assertion).unwrap_or("(unnamed)")), case)?;
        }
        let scripts = [self.prerequest_script, self.test_script].into_iter().flatten().flatten();
        let failed =
            scripts.filter(|script| script.error.is_some()).count() + usize::from(self.request_error.is_some());
        (0..failed).for_each(|_| tally.unit_failure(name));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    fn report(executions: &str) -> String {
        format!(
            "{{\"collection\":{{\"item\":[]}},\"run\":{{\"stats\":{{}},\"executions\":[{executions}],\"failures\":[]}}}}"
        )
    }

    #[test]
    fn assertions_count_and_what_failed_outside_them() {
        let good = r#"{"item":{"name":"cart"},"assertions":[{"assertion":"is 200","skipped":false},{"assertion":"later","skipped":true},
            {"assertion":"has a","skipped":false,"error":{"name":"AssertionError","message":"no a"}}],"testScript":[{"cursor":{}}]}"#;
        let script =
            r#"{"item":{"name":"script"},"prerequestScript":[{"error":{"message":"x"}}],"testScript":[{"error":{}}]}"#;
        let down = r#"{"item":{"name":"down"},"requestError":{"code":"ECONNREFUSED"}}"#;
        let text = report(&[good, script, down].join(","));
        let parsed = parse(&Input::bytes("x", text.as_bytes())).unwrap();
        assert_eq!(counts(&parsed), [6, 1, 1, 3, 1]);
        let details = details(&parsed);
        assert_eq!(details.cases.cases["cart::has a"].message.as_deref(), Some("no a"));
        assert_eq!(details.failed_units, ["script", "script", "down"]);
        assert!(matches!(sniffed(&FORMAT, &text), Sniff::Sure(_)));
    }

    #[test]
    fn a_collection_is_no_report() {
        let code = |text: &str| parse(&Input::bytes("x", text.as_bytes())).unwrap_err().reject();
        assert_eq!(code("{\"collection\":{\"item\":[],\"info\":{}}}"), Some(Reject::NotThisFormat));
        assert_eq!(code("{\"run\":{\"stats\":{}}}"), Some(Reject::NotThisFormat));
        assert_eq!(code(&report("{\"assertions\":[{\"skipped\":1}]}")), Some(Reject::Malformed));
    }
}
