//! `testcafe-json`: the report of TestCafe's reporter `json`. Written after its source,
//! <https://github.com/DevExpress/testcafe-reporter-json>: TestCafe needs a browser, which was not at hand.

use serde::Deserialize;
use serde::de::MapAccess;
use serde_json::Value;

use super::TestTally;
use super::json_report::{Keys, Object, Waiting, items, lacks, objects, path, text};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::text::first_lines;
use crate::ingest::values::Few;
use crate::ingest::{Format, Parsed, json};
use crate::model::cases::{Outcome, TestCase};
use crate::model::figures::ReportKind;

/// TestCafe's JSON.
pub const FORMAT: Format = Format {
    name: "testcafe-json",
    kind: ReportKind::Test,
    about: "JSON of TestCafe: fixtures and their tests",
    written_by: "testcafe --reporter json",
    told_by: "a JSON object with userAgents and fixtures",
    has_end: true,
    counting: "Each test: skipped, failed if it has errors, else passed, and flaky where it is unstable.",
    sniff: |head| head.by_keys(&["userAgents", "fixtures"]),
    parse,
};

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut report = Report { tally: TestTally::new(false), has_fixtures: false };
    json::object(input, Object(&mut report))?;
    if !report.has_fixtures {
        return Err(lacks(&FORMAT, "fixtures"));
    }
    report.tally.finish(&FORMAT)
}

struct Report {
    tally: TestTally,
    has_fixtures: bool,
}

impl Keys for Report {
    fn key<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        if key == "fixtures" {
            self.has_fixtures = true;
            let tally = std::cell::RefCell::new(&mut self.tally);
            let make = || Fixture { tally: &tally, name: Value::Null, path: Value::Null, tests: Waiting::default() };
            map.next_value_seed(objects(make, |fixture: Fixture<'_, '_>| {
                fixture.end();
                Ok(())
            }))?;
        }
        Ok(key == "fixtures")
    }
}

struct Fixture<'t, 'r> {
    tally: &'t std::cell::RefCell<&'r mut TestTally>,
    name: Value,
    path: Value,
    tests: Waiting,
}

impl Keys for Fixture<'_, '_> {
    fn key<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        match key {
            "name" => self.name = map.next_value()?,
            "path" => self.path = map.next_value()?,
            "tests" => {
                let (tally, tests) = (self.tally, &mut self.tests);
                map.next_value_seed(items(|test: Test| test.count(tests, &mut tally.borrow_mut())))?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl Fixture<'_, '_> {
    fn end(self) {
        let (name, file) = (text(&self.name).unwrap_or("(unnamed)"), path(&self.path));
        self.tests.keep(&mut self.tally.borrow_mut(), |test, case| {
            case.file.clone_from(&file);
            format!("{name}::{test}")
        });
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Test {
    #[serde(default)]
    name: Value,
    errs: Few<Value>,
    #[serde(default)]
    duration_ms: Value,
    #[serde(default)]
    unstable: bool,
    #[serde(default)]
    skipped: bool,
}

impl Test {
    fn count(&self, tests: &mut Waiting, tally: &mut TestTally) -> Result<()> {
        let outcome = match (self.skipped, self.errs.0.is_empty()) {
            (true, _) => Outcome::Skipped,
            (false, true) => Outcome::Passed,
            (false, false) => Outcome::Failed,
        };
        if outcome == Outcome::Passed && self.unstable {
            tally.count_flaky();
        }
        let mut case = TestCase::new(outcome);
        case.duration_ms = self.duration_ms.as_u64();
        case.message = self.errs.0.first().and_then(text).and_then(first_lines);
        tests.add(text(&self.name).unwrap_or("(unnamed)").to_owned(), case, tally)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::Sniff;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    #[test]
    fn errors_and_marks_tell_what_a_test_came_to() {
        let test = |name: &str, errs: &str, unstable: bool, skipped: bool| {
            format!(
                "{{\"name\":\"{name}\",\"errs\":[{errs}],\"durationMs\":12,\"unstable\":{unstable},\"skipped\":{skipped}}}"
            )
        };
        let tests = [
            test("adds", "", false, false),
            test("fails", "\"1) no\\n  at a.js\"", false, false),
            test("flaky", "", true, false),
            test("later", "", false, true),
        ];
        let text = format!(
            "{{\"startTime\":\"t\",\"userAgents\":[\"Chrome\"],\"passed\":2,\"total\":3,\"skipped\":1,\"fixtures\":[{{\"name\":\"Cart\",\
             \"path\":\"cart.js\",\"tests\":[{}]}}],\"warnings\":[]}}",
            tests.join(",")
        );
        assert!(matches!(sniffed(&FORMAT, &text), Sniff::Sure(_)));
        let parsed = parse(&Input::bytes("x", text.as_bytes())).unwrap();
        assert_eq!((counts(&parsed), parsed.figures.flaky), ([4, 2, 1, 0, 1], Some(1)));
        let case = &details(&parsed).cases.cases["Cart::fails"];
        assert_eq!((case.file.as_deref(), case.duration_ms), (Some("cart.js"), Some(12)));
        assert_eq!(case.message.as_deref(), Some("1) no"));
    }

    #[test]
    fn what_has_no_fixtures_is_none() {
        let none = parse(&Input::bytes("x", b"{\"userAgents\":[]}")).unwrap_err();
        assert_eq!(none.reject(), Some(Reject::NotThisFormat));
    }
}
