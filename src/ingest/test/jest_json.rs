//! `jest-json`: the object that Jest prints with `--json`, and that Vitest's JSON reporter imitates. Its definition is
//! the type `FormattedTestResults` of `@jest/test-result`.
//!
//! Files are told by absolute paths. Retries are told by Jest alone, as `invocations`; benchmarks by Vitest alone, since
//! version 5.

use std::cell::RefCell;

use serde::Deserialize;
use serde::de::MapAccess;
use serde_json::Value;

use super::json_report::{
    Keys, Object, Waiting, declare, items, lacks, line, objects, text, unknown_status, whole_milliseconds,
};
use super::{TestTally, stack};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::metric::Metrics;
use crate::ingest::text::{first_lines, printable};
use crate::ingest::values::Few;
use crate::ingest::{Format, Head, Parsed, Sniff, json};
use crate::model::cases::{Outcome, TestCase};
use crate::model::figures::{Figures, ReportKind};

/// Jest's JSON.
pub const FORMAT: Format = Format {
    name: "jest-json",
    kind: ReportKind::Test,
    about: "JSON of Jest and Vitest",
    written_by: "jest --json, vitest --reporter=json",
    told_by: "a JSON object with numTotalTests and testResults",
    has_end: true,
    counting: "Each of a file's assertionResults is one test: passed, failed; pending, todo, skipped and disabled are \
               skipped. A file that failed without a failed test (it did not load, a hook of it failed) is one errored \
               test, and so is a run that was no success though nothing in it failed. The report's totals are only \
               compared. Benchmarks in tests: bench.FILE > TEST > NAME.time (ms, lower), FILE without its folders: the \
               mean.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    if head.has_key("numTotalTests") && (head.has_key("testResults") || head.has_key("numTotalTestSuites")) {
        return Sniff::Sure("keys numTotalTests and testResults".into());
    }
    // Written anew by another program, its totals may come last.
    if head.has_key("testResults.assertionResults") {
        return Sniff::Sure("key testResults.assertionResults".into());
    }
    Sniff::No
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut report = Report {
        tally: RefCell::new(TestTally::new(false)),
        benchmarks: RefCell::default(),
        has_results: false,
        has_files: false,
        success: Value::Null,
        declared: Figures::default(),
        todo: None,
    };
    json::object(input, Object(&mut report))?;
    if !report.has_results {
        return Err(lacks(&FORMAT, "testResults"));
    }
    let mut said = report.declared;
    said.skipped = said.skipped.map(|pending| pending.saturating_add(report.todo.unwrap_or(0)));
    let mut tally = report.tally.into_inner();
    // A threshold of coverage, or a snapshot that is obsolete in CI.
    if report.success == Value::Bool(false) && report.has_files && !tally.has_failed() {
        tally.unit_failure("(the run was no success)");
    }
    let mut parsed = tally.finish(&FORMAT)?;
    report.benchmarks.into_inner().put_into(&mut parsed);
    declare(&mut parsed, said);
    Ok(parsed)
}

struct Report {
    tally: RefCell<TestTally>,
    benchmarks: RefCell<Metrics>,
    has_results: bool,
    /// Whether any file was met: a run without one is no failure.
    has_files: bool,
    success: Value,
    declared: Figures,
    todo: Option<u64>,
}

impl Keys for Report {
    fn key<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        let slot = match key {
            "testResults" => {
                self.has_results = true;
                let (tally, benchmarks) = (&self.tally, &self.benchmarks);
                let make = || File {
                    tally,
                    benchmarks,
                    times: Vec::new(),
                    name: Value::Null,
                    status: Value::Null,
                    message: Value::Null,
                    tests: None,
                    has_tests: false,
                    failed: false,
                    did_not_load: false,
                };
                let has_files = &mut self.has_files;
                map.next_value_seed(objects(make, |file: File<'_>| {
                    *has_files = true;
                    file.end()
                }))?;
                return Ok(true);
            }
            "success" => {
                self.success = map.next_value()?;
                return Ok(true);
            }
            "numTotalTests" => &mut self.declared.tests,
            "numPassedTests" => &mut self.declared.passed,
            "numFailedTests" => &mut self.declared.failed,
            "numPendingTests" => &mut self.declared.skipped,
            "numTodoTests" => &mut self.todo,
            _ => return Ok(false),
        };
        *slot = map.next_value::<Value>()?.as_u64();
        Ok(true)
    }
}

struct File<'t> {
    tally: &'t RefCell<TestTally>,
    benchmarks: &'t RefCell<Metrics>,
    /// Benchmarks, and their means (ms).
    times: Vec<(String, Option<f64>)>,
    name: Value,
    status: Value,
    /// Vitest before 1 calls a file that did not load passed, and says here why it did not.
    message: Value,
    tests: Option<Waiting>,
    /// It has a test, and one that failed.
    has_tests: bool,
    failed: bool,
    /// Jest 29 says so among its tests, in an entry without a title.
    did_not_load: bool,
}

impl Keys for File<'_> {
    fn key<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        match key {
            "name" => self.name = map.next_value()?,
            "status" => self.status = map.next_value()?,
            "message" => self.message = map.next_value()?,
            "assertionResults" => {
                let (tally, tests, failed) = (self.tally, self.tests.insert(Waiting::default()), &mut self.failed);
                let (has_tests, times) = (&mut self.has_tests, &mut self.times);
                let did_not_load = &mut self.did_not_load;
                map.next_value_seed(items(|test: Assertion| {
                    if test.status == "error" && test.title.is_none() {
                        *did_not_load = true;
                        return Ok(());
                    }
                    *has_tests = true;
                    times.extend(test.times());
                    *failed |= test.status == "failed";
                    count(test, tests, &mut tally.borrow_mut())
                }))?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl File<'_> {
    fn end(self) -> Result<()> {
        let tests = self.tests.ok_or_else(|| lacks(&FORMAT, "assertionResults of a file"))?;
        let (tally, file) = (&mut self.tally.borrow_mut(), text(&self.name));
        let name = file.unwrap_or("(a file)");
        tests.keep(tally, |test, case| {
            let row = case.file.take().zip(case.line);
            case.file = file.map(|name| printable(name, 1000));
            // The row of a stack may be of another file.
            if let Some((file, line)) = row {
                case.line = None;
                stack::put(case, (&file, line));
            }
            if test.is_empty() { name.to_owned() } else { format!("{name}::{test}") }
        });
        let file_name = name.rsplit(['/', '\\']).next().unwrap_or_default();
        for (benchmark, time) in self.times {
            self.benchmarks.borrow_mut().time(&format!("{file_name} > {benchmark}"), time, "ms");
        }
        let did_not_load =
            self.did_not_load || !self.has_tests && text(&self.message).is_some_and(|message| !message.is_empty());
        if did_not_load || (text(&self.status) == Some("failed") && !self.failed) {
            tally.unit_failure(name);
        }
        Ok(())
    }
}

/// Most titles of blocks inside each other.
const MOST_TITLES: usize = 1_000;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Assertion {
    status: String,
    #[serde(default)]
    ancestor_titles: Option<Few<String, MOST_TITLES>>,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    duration: Value,
    #[serde(default)]
    failure_messages: Value,
    #[serde(default)]
    location: Value,
    #[serde(default)]
    invocations: Value,
    #[serde(default)]
    benchmarks: Value,
}

impl Assertion {
    /// Its benchmarks, behind the name of the test with its blocks, and their means (ms).
    fn times(&self) -> impl Iterator<Item = (String, Option<f64>)> {
        let name = |value: &Value| value.get("name").and_then(text).unwrap_or_default().to_owned();
        list(Some(&self.benchmarks)).flat_map(move |benchmark| {
            let test = name(benchmark);
            list(benchmark.get("tasks")).map(move |task| {
                (format!("{test} > {}", name(task)), task.pointer("/latency/mean").and_then(Value::as_f64))
            })
        })
    }
}

fn list(value: Option<&Value>) -> impl Iterator<Item = &Value> {
    value.and_then(Value::as_array).into_iter().flatten()
}

fn count(test: Assertion, tests: &mut Waiting, tally: &mut TestTally) -> Result<()> {
    let outcome = match test.status.as_str() {
        "passed" => Outcome::Passed,
        "failed" => Outcome::Failed,
        "pending" | "todo" | "skipped" | "disabled" => Outcome::Skipped,
        other => return Err(unknown_status(other)),
    };
    let mut case = TestCase::new(outcome);
    case.duration_ms = whole_milliseconds(&test.duration);
    case.line = test.location.get("line").and_then(line);
    case.attempts = test.invocations.as_u64().and_then(|times| u32::try_from(times).ok()).unwrap_or(1).max(1);
    if outcome == Outcome::Failed {
        let told = test.failure_messages.get(0).and_then(text).unwrap_or_default();
        case.message = first_lines(told);
        stack::place(&mut case, told, "");
    }
    let titles = test.ancestor_titles.unwrap_or_default().0.into_iter().chain(test.title);
    tests.add(titles.collect::<Vec<_>>().join("::"), case, tally)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::test::tests_support::{counts, details};

    fn read(files: &str) -> Result<Parsed> {
        parse(&Input::bytes("x", format!("{{\"numTotalTests\":2,\"testResults\":[{files}]}}").as_bytes()))
    }

    #[test]
    fn statuses_are_outcomes() {
        for (status, expected) in [
            ("passed", [1, 1, 0, 0, 0]),
            ("failed", [1, 0, 1, 0, 0]),
            ("pending", [1, 0, 0, 0, 1]),
            ("todo", [1, 0, 0, 0, 1]),
            ("skipped", [1, 0, 0, 0, 1]),
            ("disabled", [1, 0, 0, 0, 1]),
        ] {
            let parsed = read(&format!("{{\"assertionResults\":[{{\"status\":\"{status}\"}}]}}")).unwrap();
            assert_eq!(counts(&parsed), expected, "{status}");
        }
        assert_eq!(
            read("{\"assertionResults\":[{\"status\":\"odd\"}]}").unwrap_err().reject(),
            Some(Reject::Malformed)
        );
        assert!(read("{\"assertionResults\":[{}]}").is_err() && read("{}").is_err());
    }

    #[test]
    fn a_file_that_failed_by_itself_is_one_errored_test() {
        let file = |tests: &str| format!("{{\"name\":\"a.js\",\"status\":\"failed\",\"assertionResults\":[{tests}]}}");
        let parsed = read(&file("")).unwrap();
        assert_eq!((counts(&parsed), details(&parsed).failed_units), ([1, 0, 0, 1, 0], vec!["a.js".to_owned()]));
        assert_eq!(counts(&read(&file("{\"status\":\"passed\"}")).unwrap()), [2, 1, 0, 1, 0]);
        assert_eq!(counts(&read(&file("{\"status\":\"failed\"}")).unwrap()), [1, 0, 1, 0, 0]);
        assert_eq!(counts(&read(&file("{\"status\":\"error\"}")).unwrap()), [1, 0, 0, 1, 0]);
        assert!(read(&file("{\"status\":\"error\",\"title\":\"a\"}")).is_err());
        let run = |success: &str, files: &str| {
            let text = format!("{{\"success\":{success},\"numTotalTests\":1,\"testResults\":[{files}]}}");
            counts(&parse(&Input::bytes("x", text.as_bytes())).unwrap())
        };
        let passed = "{\"status\":\"passed\",\"assertionResults\":[{\"status\":\"passed\"}]}";
        assert_eq!(
            (run("true", passed), run("false", passed)),
            ([1, 1, 0, 0, 0], [2, 1, 0, 1, 0]),
            "as it says itself"
        );
        assert_eq!((run("false", &file("")), run("false", "")), ([1, 0, 0, 1, 0], [0; 5]));
        let passed = |message: &str, tests: &str| {
            let file = format!("{{\"status\":\"passed\",\"message\":\"{message}\",\"assertionResults\":[{tests}]}}");
            counts(&read(&file).unwrap())
        };
        assert_eq!(passed("No test suite found in file a.js", ""), [1, 0, 0, 1, 0]);
        assert_eq!((passed("", ""), passed("odd", "{\"status\":\"passed\"}")), ([0; 5], [1, 1, 0, 0, 0]));
    }

    #[test]
    fn a_test_has_its_path_duration_place_and_message() {
        let parsed = read(
            "{\"name\":\"/a.js\",\"assertionResults\":[{\"status\":\"failed\",\"ancestorTitles\":[\"A\",\"b\"],\"title\":\"c\",\
             \"duration\":6.2,\"location\":{\"line\":3},\"failureMessages\":[\"Error: no\\n at x\"],\"invocations\":2}]}",
        )
        .unwrap();
        let details = details(&parsed);
        let case = &details.cases.cases["/a.js::A::b::c"];
        assert_eq!((case.duration_ms, case.line, case.attempts), (Some(6), Some(3), 2));
        assert_eq!((case.message.as_deref(), case.file.as_deref()), (Some("Error: no"), Some("/a.js")));
        assert_eq!(parsed.warnings.len(), 1, "its totals say 2 tests");
        for (file, line) in [("/a.js", Some(8)), ("/b.js", None)] {
            let text = format!(
                "{{\"name\":\"/a.js\",\"assertionResults\":[{{\"status\":\"failed\",\"title\":\"c\",\
                 \"failureMessages\":[\"Error: no\\n    at Object.<anonymous> ({file}:8:5)\"]}}]}}"
            );
            let of_stack = super::tests::details(&read(&text).unwrap());
            let case = &of_stack.cases.cases["/a.js::c"];
            assert_eq!((case.file.as_deref(), case.line), (Some("/a.js"), line));
        }
        let none = parse(&Input::bytes("x", b"{\"numTotalTests\":2}")).unwrap_err();
        assert_eq!(none.reject(), Some(Reject::NotThisFormat));
    }
}
