//! `rstest-json`: what Rstest's reporter `json` writes. Its definition is its source,
//! `packages/core/src/reporter/json.ts` (<https://github.com/web-infra-dev/rstest>).
//!
//! A test has no file and line of its own: they are the stack's.

use serde::Deserialize;
use serde::de::MapAccess;
use serde_json::Value;

use super::json_report::{
    Keys, Object, attempts, declare, items, lacks, objects, path, text, unknown_status, whole_milliseconds,
};
use super::text_report::titled;
use super::{TestTally, stack};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::text::first_lines;
use crate::ingest::{Format, Parsed, json};
use crate::model::cases::{Outcome, TestCase};
use crate::model::figures::{Figures, ReportKind};

/// Rstest's JSON.
pub const FORMAT: Format = Format {
    name: "rstest-json",
    kind: ReportKind::Test,
    about: "tests of Rstest as JSON",
    written_by: "rstest --reporter json",
    told_by: "a JSON object with tool, summary.testFiles and summary.todoTests",
    has_end: true,
    counting: "Each of tests is one test: pass passed, fail failed, skip and todo skipped. A file that failed although none \
               of its tests did is one errored test, and so are all errors outside of tests together. A test that passed \
               at a later attempt is flaky. The summary is only compared.",
    sniff: |head| head.by_keys(&["tool", "summary.testFiles", "summary.todoTests"]),
    parse,
};

struct Report {
    tally: TestTally,
    has_tests: bool,
    summary: Summary,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Summary {
    tests: Option<u64>,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut report = Report { tally: TestTally::new(false), has_tests: false, summary: Summary::default() };
    json::object(input, Object(&mut report))?;
    if !report.has_tests {
        return Err(lacks(&FORMAT, "tests"));
    }
    let mut parsed = report.tally.finish(&FORMAT)?;
    declare(&mut parsed, Figures { tests: report.summary.tests, ..Figures::default() });
    Ok(parsed)
}

impl Keys for Report {
    fn key<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        match key {
            "tests" => {
                self.has_tests = true;
                let tally = &mut self.tally;
                map.next_value_seed(items(|test: Test| count(test, tally)))?;
            }
            "files" => {
                let tally = &mut self.tally;
                map.next_value_seed(objects(File::default, |file: File| {
                    if file.has_failed && !file.has_failed_test {
                        tally.unit_failure(&file.path);
                    }
                    Ok(())
                }))?;
            }
            "unhandledErrors" => {
                let mut has_any = false;
                map.next_value_seed(items(|_: Value| {
                    has_any = true;
                    Ok(())
                }))?;
                if has_any {
                    self.tally.unit_failure("unhandled errors");
                }
            }
            "summary" => self.summary = map.next_value()?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

#[derive(Default)]
struct File {
    path: String,
    has_failed: bool,
    has_failed_test: bool,
}

impl Keys for File {
    fn key<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        match key {
            "testPath" => self.path = map.next_value()?,
            "status" => self.has_failed = map.next_value::<String>()? == "fail",
            "results" => map.next_value_seed(items(|test: Status| {
                self.has_failed_test |= test.status == "fail";
                Ok(())
            }))?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

#[derive(Deserialize)]
struct Status {
    status: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Test {
    status: String,
    #[serde(default)]
    test_path: Value,
    #[serde(default)]
    full_name: Value,
    #[serde(default)]
    duration: Value,
    #[serde(default)]
    retry_count: Value,
    #[serde(default)]
    errors: Value,
}

fn count(test: Test, tally: &mut TestTally) -> Result<()> {
    let outcome = match test.status.as_str() {
        "pass" => Outcome::Passed,
        "fail" => Outcome::Failed,
        "skip" | "todo" => Outcome::Skipped,
        other => return Err(unknown_status(other)),
    };
    let mut case = TestCase::new(outcome);
    case.duration_ms = whole_milliseconds(&test.duration);
    case.attempts = attempts(&test.retry_count);
    if outcome == Outcome::Passed && case.attempts > 1 {
        tally.count_flaky();
    }
    if outcome == Outcome::Failed {
        case.file = path(&test.test_path);
        let of_error = |key: &str| text(test.errors.get(0)?.get(key)?);
        case.message = of_error("message").and_then(first_lines);
        stack::place(&mut case, of_error("stack").unwrap_or_default(), "");
    }
    let name = text(&test.full_name).unwrap_or("(unnamed)");
    tally.case(&titled(text(&test.test_path), name), case)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::Sniff;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    fn report(files: &str, tests: &str, errors: &str) -> String {
        format!(
            r#"{{"tool":"rstest","summary":{{"testFiles":1,"tests":3,"todoTests":0}},"files":[{files}],"tests":[{tests}],
            "unhandledErrors":[{errors}]}}"#
        )
    }

    fn read(text: &str) -> Result<Parsed> {
        parse(&Input::bytes("x", text.as_bytes()))
    }

    const TESTS: &str = r#"
        {"status":"pass","testPath":"a.test.js","fullName":"Cart > adds","duration":3,"retryCount":1},
        {"status":"fail","testPath":"a.test.js","fullName":"Cart > breaks","retryCount":2,
         "errors":[{"message":"expected 3 to be 4","stack":"AssertionError: x\n    at /shop/a.test.js:5:88\n"}]},
        {"status":"todo","testPath":"a.test.js","fullName":"later"}"#;

    #[test]
    fn each_of_its_tests_is_one() {
        let file = r#"{"testPath":"a.test.js","status":"fail","results":[{"status":"pass"},{"status":"fail"}]}"#;
        let text = report(file, TESTS, "");
        assert!(matches!(sniffed(&FORMAT, &text), Sniff::Sure(_)));
        let parsed = read(&format!("\n  Rstest v0.12.0\n\n{text}")).unwrap();
        assert_eq!((counts(&parsed), parsed.figures.flaky), ([3, 1, 1, 0, 1], Some(1)));
        assert_eq!((&parsed.declared, parsed.warnings.len()), (&None, 0));
        let cases = details(&parsed).cases.cases;
        let case = cases.get("a.test.js::Cart::breaks").unwrap();
        assert_eq!((case.message.as_deref(), case.line, case.attempts), (Some("expected 3 to be 4"), Some(5), 3));
    }

    #[test]
    fn files_that_fail_without_a_test_and_errors_outside_of_tests_are_units() {
        let files = r#"{"status":"fail","testPath":"b.test.js","results":[]},
            {"status":"fail","testPath":"c.test.js","results":[{"status":"pass"}]},{"status":"pass","results":[]}"#;
        let parsed = read(&report(files, TESTS, r#"{"message":"late"},{"message":"later"}"#)).unwrap();
        assert_eq!(counts(&parsed), [6, 1, 1, 3, 1]);
        assert_eq!(details(&parsed).failed_units, ["b.test.js", "c.test.js", "unhandled errors"]);
    }

    #[test]
    fn what_it_lacks_and_does_not_know_is_said() {
        for (text, reject) in [
            (r#"{"tool":"rstest","summary":{"testFiles":0,"todoTests":0}}"#.to_owned(), Reject::NotThisFormat),
            (report("", r#"{"status":"odd"}"#, ""), Reject::Malformed),
        ] {
            assert_eq!(read(&text).unwrap_err().reject(), Some(reject), "{text}");
        }
        let other = read(&report("", &TESTS.replace("\"todo\"", "\"skip\""), "").replace("\"tests\":3", "\"tests\":4"));
        assert_eq!(other.unwrap().declared.unwrap().tests, Some(4));
    }
}
