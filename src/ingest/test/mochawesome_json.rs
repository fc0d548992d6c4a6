//! `mochawesome-json`: the JSON of Mochawesome, which Cypress writes with it, and of mochawesome-merge. Its definition is
//! Mochawesome's `src/utils.js`. Suites hold tests and further suites; before version 4 one of them holds all the others.

use std::cell::RefCell;

use serde::Deserialize;
use serde::de::MapAccess;
use serde_json::Value;

use super::json_report::{Keys, Object, Waiting, items, lacks, objects, path, text, whole_milliseconds};
use super::{TestTally, stack};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::text::first_lines;
use crate::ingest::{Format, Head, Parsed, Sniff, json};
use crate::model::cases::{Outcome, TestCase};
use crate::model::figures::ReportKind;

/// Mochawesome's JSON.
pub const FORMAT: Format = Format {
    name: "mochawesome-json",
    kind: ReportKind::Test,
    about: "JSON of Mochawesome",
    written_by: "mocha --reporter mochawesome, cypress run --reporter mochawesome, mochawesome-merge",
    told_by: "a JSON object with stats.testsRegistered and results, or suites.uuid",
    has_end: true,
    counting: "Each test of a suite: fail failed, pending and skipped (after a hook that failed) skipped, pass passed. \
               A hook that failed is a failed test.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    if head.has_key("stats.testsRegistered") && head.has_key("results") {
        return Sniff::Sure("keys stats.testsRegistered and results".into());
    }
    if head.has_key("stats.testsRegistered") && head.has_key("suites.uuid") {
        return Sniff::Sure("keys stats.testsRegistered and suites.uuid".into());
    }
    Sniff::No
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut report = Report { tally: RefCell::new(TestTally::new(false)), has_results: false };
    json::object(input, Object(&mut report))?;
    if !report.has_results {
        return Err(lacks(&FORMAT, "results"));
    }
    report.tally.into_inner().finish(&FORMAT)
}

struct Report {
    tally: RefCell<TestTally>,
    has_results: bool,
}

impl Keys for Report {
    fn key<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        let (tally, mut of_no_file) = (&self.tally, Waiting::default());
        match key {
            "results" => {
                let take = |suite: Suite<'_>| {
                    suite.end(&mut of_no_file);
                    Ok(())
                };
                map.next_value_seed(objects(|| Suite::of(tally), take))?;
            }
            "suites" => {
                let mut all = Suite::of(tally);
                map.next_value_seed(Object(&mut all))?;
                all.end(&mut of_no_file);
            }
            _ => return Ok(false),
        }
        self.has_results = true;
        of_no_file.keep(&mut tally.borrow_mut(), |name, _| name);
        Ok(true)
    }
}

struct Suite<'t> {
    tally: &'t RefCell<TestTally>,
    file: Value,
    /// Its tests, and those of suites in it that name no file.
    tests: Waiting,
}

impl Keys for Suite<'_> {
    fn key<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        let (tally, tests) = (self.tally, &mut self.tests);
        match key {
            "file" => self.file = map.next_value()?,
            "beforeHooks" | "tests" | "afterHooks" => map.next_value_seed(items(|test: Test| {
                // A hook that passed is no test.
                if test.fail || !test.is_hook { count(&test, tests, &mut tally.borrow_mut()) } else { Ok(()) }
            }))?,
            "suites" => {
                let take = |inner: Suite<'_>| {
                    inner.end(tests);
                    Ok(())
                };
                map.next_value_seed(objects(|| Suite::of(tally), take))?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl<'t> Suite<'t> {
    fn of(tally: &'t RefCell<TestTally>) -> Suite<'t> {
        Suite { tally, file: Value::Null, tests: Waiting::default() }
    }

    /// Its file is its own, or that of the suite around it.
    fn end(self, outer: &mut Waiting) {
        let Some(file) = text(&self.file) else { return outer.append(self.tests) };
        self.tests.keep(&mut self.tally.borrow_mut(), |name, case| {
            case.file = path(&self.file);
            format!("{file}::{name}")
        });
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Test {
    #[serde(default)]
    full_title: Value,
    #[serde(default)]
    title: Value,
    #[serde(default)]
    duration: Value,
    #[serde(default)]
    err: Value,
    pass: bool,
    fail: bool,
    #[serde(default)]
    is_hook: bool,
}

fn count(test: &Test, tests: &mut Waiting, tally: &mut TestTally) -> Result<()> {
    let outcome = match test {
        Test { fail: true, .. } => Outcome::Failed,
        Test { pass: true, .. } => Outcome::Passed,
        _ => Outcome::Skipped,
    };
    let mut case = TestCase::new(outcome);
    case.duration_ms = whole_milliseconds(&test.duration);
    if outcome == Outcome::Failed {
        case.message = test.err.get("message").and_then(text).and_then(first_lines);
        stack::place(&mut case, test.err.get("estack").and_then(text).unwrap_or_default(), "");
    }
    let name = text(&test.full_title).or(text(&test.title)).unwrap_or("(unnamed)");
    tests.add(name.to_owned(), case, tally)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    fn test(title: &str, pass: bool, fail: bool, is_hook: bool) -> String {
        format!(
            "{{\"title\":\"x\",\"fullTitle\":\"Cart {title}\",\"duration\":3,\"pass\":{pass},\"fail\":{fail},\"isHook\":{is_hook},\
             \"err\":{{\"message\":\"no\"}}}}"
        )
    }

    fn report() -> String {
        let hooks = [test("hook", false, true, true), test("fine hook", true, false, true)].join(",");
        let tests = [test("adds", true, false, false), test("fails", false, true, false)].join(",");
        let inner = format!("{{\"file\":\"\",\"tests\":[{}]}}", test("later", false, false, false));
        format!(
            "{{\"stats\":{{\"tests\":3,\"testsRegistered\":3}},\"results\":[{{\"file\":\"a.js\",\"tests\":[{tests}],\
             \"beforeHooks\":[{hooks}],\"suites\":[{inner}]}}]}}"
        )
    }

    fn read(text: &str) -> Result<Parsed> {
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn tests_and_failed_hooks_count() {
        let parsed = read(&report()).unwrap();
        assert_eq!(counts(&parsed), [4, 1, 2, 0, 1]);
        let details = details(&parsed);
        let case = &details.cases.cases["a.js::Cart fails"];
        assert_eq!((case.message.as_deref(), case.duration_ms), (Some("no"), Some(3)));
        assert_eq!(details.cases.cases["a.js::Cart later"].file.as_deref(), Some("a.js"));
        assert!(matches!(sniffed(&FORMAT, &report()), Sniff::Sure(_)));
    }

    #[test]
    fn before_version_4_one_suite_holds_the_others() {
        let text = report().replace("\"results\":[{", "\"suites\":{\"uuid\":\"1\",");
        let text = format!("{}}}", text.strip_suffix("]}").unwrap());
        assert_eq!(counts(&read(&text).unwrap()), [4, 1, 2, 0, 1]);
        assert!(matches!(sniffed(&FORMAT, &text), Sniff::Sure(_)));
    }

    #[test]
    fn what_lacks_results_is_another_report() {
        assert_eq!(read("{\"stats\":{}}").unwrap_err().reject(), Some(Reject::NotThisFormat));
        assert_eq!(read("{\"results\":[{\"tests\":[{}]}]}").unwrap_err().reject(), Some(Reject::Malformed));
        assert_eq!(sniffed(&FORMAT, "{\"results\":[]}"), Sniff::No);
    }
}
