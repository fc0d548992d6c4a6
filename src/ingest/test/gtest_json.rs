//! `gtest-json`: what GoogleTest writes with `--gtest_output=json`. Its definition is the schema in GoogleTest's
//! `docs/advanced.md`.

use std::cell::RefCell;

use serde::Deserialize;
use serde::de::MapAccess;
use serde_json::Value;

use super::TestTally;
use super::json_report::{Keys, Object, Waiting, items, lacks, line, objects, path, text};
use super::milliseconds;
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::text::first_lines;
use crate::ingest::values::First;
use crate::ingest::{Format, Head, Parsed, Sniff, json};
use crate::model::cases::{Outcome, TestCase};
use crate::model::figures::ReportKind;

/// GoogleTest's JSON.
pub const FORMAT: Format = Format {
    name: "gtest-json",
    kind: ReportKind::Test,
    about: "JSON of GoogleTest",
    written_by: "programs with GoogleTest (--gtest_output=json)",
    told_by: "a JSON object with testsuites, and testsuite in them",
    has_end: true,
    counting: "Each element of a testsuite is one test: failed if it has failures, skipped if it was not run or its \
               result is SKIPPED or SUPPRESSED, else passed.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    if head.has_key("testsuites.testsuite") || (head.has_key("testsuites") && head.has_key("disabled")) {
        return Sniff::Sure("key testsuites".into());
    }
    Sniff::No
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut report = Report { tally: RefCell::new(TestTally::new(true)), has_suites: false };
    json::object(input, Object(&mut report))?;
    if !report.has_suites {
        return Err(lacks(&FORMAT, "testsuites"));
    }
    report.tally.into_inner().finish(&FORMAT)
}

struct Report {
    tally: RefCell<TestTally>,
    has_suites: bool,
}

impl Keys for Report {
    fn key<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        if key != "testsuites" {
            return Ok(false);
        }
        self.has_suites = true;
        let tally = &self.tally;
        let make = || Suite { tally, name: Value::Null, tests: None };
        map.next_value_seed(objects(make, |suite: Suite<'_>| suite.end()))?;
        Ok(true)
    }
}

struct Suite<'t> {
    tally: &'t RefCell<TestTally>,
    name: Value,
    tests: Option<Waiting>,
}

impl Keys for Suite<'_> {
    fn key<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        match key {
            "name" => self.name = map.next_value()?,
            "testsuite" => {
                let (tally, tests) = (self.tally, self.tests.insert(Waiting::default()));
                map.next_value_seed(items(|test: Test| count(&test, tests, &mut tally.borrow_mut())))?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl Suite<'_> {
    fn end(self) -> Result<()> {
        let tests = self.tests.ok_or_else(|| lacks(&FORMAT, "testsuite in one of its testsuites"))?;
        let suite = text(&self.name).unwrap_or_default();
        tests.keep(&mut self.tally.borrow_mut(), |name, _| format!("{suite}::{name}"));
        Ok(())
    }
}

#[derive(Deserialize)]
struct Test {
    #[serde(default)]
    name: Value,
    #[serde(default)]
    file: Value,
    #[serde(default)]
    line: Value,
    #[serde(default)]
    time: Value,
    status: String,
    #[serde(default)]
    result: Value,
    #[serde(default)]
    failures: First<Failure>,
}

#[derive(Deserialize)]
struct Failure {
    #[serde(default)]
    failure: Value,
}

fn count(test: &Test, tests: &mut Waiting, tally: &mut TestTally) -> Result<()> {
    let outcome = match (test.status.as_str(), text(&test.result)) {
        _ if test.failures.0.is_some() => Outcome::Failed,
        ("NOTRUN", _) | (_, Some("SKIPPED" | "SUPPRESSED")) => Outcome::Skipped,
        _ => Outcome::Passed,
    };
    let mut case = TestCase::new(outcome);
    case.duration_ms = text(&test.time).and_then(|time| time.strip_suffix('s')).and_then(milliseconds);
    (case.file, case.line) = (path(&test.file), line(&test.line));
    case.message = test.failures.0.as_ref().and_then(|first| text(&first.failure)).and_then(|text| {
        // Its first line is the place.
        first_lines(text.split_once('\n').map_or(text, |(_, rest)| rest))
    });
    tests.add(text(&test.name).unwrap_or("(unnamed)").to_owned(), case, tally)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    const RUN: &str = "{\"tests\":4,\"disabled\":1,\"name\":\"AllTests\",\"testsuites\":[{\"name\":\"Cart\",\"tests\":4,\"testsuite\":[\
                       {\"name\":\"Adds\",\"file\":\"a.cpp\",\"line\":3,\"status\":\"RUN\",\"result\":\"COMPLETED\",\"time\":\"0.012s\"},\
                       {\"name\":\"Fails\",\"status\":\"RUN\",\"failures\":[{\"failure\":\"a.cpp:4\\nExpected\"},{\"failure\":\"x\"}]},\
                       {\"name\":\"Skips\",\"status\":\"RUN\",\"result\":\"SKIPPED\"},{\"name\":\"DISABLED_Off\",\"status\":\"NOTRUN\"}]}]}";

    fn read(text: &str) -> Result<Parsed> {
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn each_test_counts() {
        let parsed = read(RUN).unwrap();
        assert_eq!(counts(&parsed), [4, 1, 1, 0, 2]);
        let details = details(&parsed);
        let case = &details.cases.cases["Cart::Adds"];
        assert_eq!((case.file.as_deref(), case.line, case.duration_ms), (Some("a.cpp"), Some(3), Some(12)));
        assert_eq!(details.cases.cases["Cart::Fails"].message.as_deref(), Some("Expected"));
        assert!(matches!(sniffed(&FORMAT, RUN), Sniff::Sure(_)));
    }

    #[test]
    fn what_lacks_suites_is_another_report() {
        assert_eq!(read("{\"tests\":0}").unwrap_err().reject(), Some(Reject::NotThisFormat));
        assert_eq!(read("{\"testsuites\":[{\"name\":\"a\"}]}").unwrap_err().reject(), Some(Reject::Malformed));
        assert_eq!(sniffed(&FORMAT, "{\"testsuites\":[]}"), Sniff::No);
    }
}
