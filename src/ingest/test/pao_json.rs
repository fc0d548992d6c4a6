//! `pao-json`: what PHPUnit, Pest and ParaTest print under an agent, where Laravel PAO is installed. Written after its source,
//! `src/Drivers/Concerns/TestResultParsable.php` (<https://github.com/laravel/pao>).
//!
//! It names what failed alone.

use serde::de::MapAccess;
use serde_json::Value;

use super::TestTally;
use super::json_report::{Keys, Object, items, lacks, line, path, text};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::text::first_lines;
use crate::ingest::{Format, Parsed, add, json};
use crate::model::cases::{Outcome, TestCase};
use crate::model::figures::ReportKind;

/// PAO's results of tests.
pub const FORMAT: Format = Format {
    name: "pao-json",
    kind: ReportKind::Test,
    about: "numbers of PHP's tests and what failed, as agents are told of them",
    written_by: "phpunit, pest and paratest under an agent, with laravel/pao",
    told_by: "a JSON object with result, tests, passed and duration_ms",
    has_end: true,
    counting: "Its numbers; incomplete tests are skipped, and risky ones passed. A run that failed without a test that \
               did is one errored test.",
    sniff: |head| head.by_keys(&["result", "tests", "passed", "duration_ms"]),
    parse,
};

/// What it counts, in the order in which the numbers are held. Zeros are left out.
const NUMBERS: [&str; 5] = ["tests", "failed", "errors", "skipped", "incomplete"];

struct Report {
    tally: TestTally,
    numbers: [Option<u64>; 5],
    has_failed: bool,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut report = Report { tally: TestTally::new(false), numbers: [None; 5], has_failed: false };
    json::object(input, Object(&mut report))?;
    let Report { mut tally, numbers: [tests, failed, errored, skipped, incomplete], has_failed } = report;
    let tests = tests.ok_or_else(|| lacks(&FORMAT, "number of tests"))?;
    let [failed, errored, skipped] = [failed, errored, skipped].map(Option::unwrap_or_default);
    let skipped = add(skipped, incomplete.unwrap_or_default())?;
    let others = [errored, skipped].into_iter().try_fold(failed, add)?;
    // A hook that fails is no test that ran, and neither are those that it skips.
    let passed = tests.saturating_sub(others);
    let outcomes = [Outcome::Passed, Outcome::Failed, Outcome::Errored, Outcome::Skipped];
    for (outcome, number) in outcomes.into_iter().zip([passed, failed, errored, skipped]) {
        tally.count(outcome, number)?;
    }
    if has_failed && !tally.has_failed() && tests > 0 {
        tally.unit_failure("PHPUnit");
    }
    tally.finish_with_few_names(&FORMAT)
}

impl Keys for Report {
    fn key<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        if let Some((_, number)) = NUMBERS.iter().zip(&mut self.numbers).find(|(name, _)| **name == key) {
            *number = Some(map.next_value()?);
            return Ok(true);
        }
        let outcome = match key {
            "failures" => Outcome::Failed,
            "error_details" => Outcome::Errored,
            "result" => {
                self.has_failed = map.next_value::<String>()? == "failed";
                return Ok(true);
            }
            _ => return Ok(false),
        };
        map.next_value_seed(items(|test: Value| {
            let of = |key: &str| test.get(key).unwrap_or(&Value::Null);
            let mut case = TestCase::new(outcome);
            (case.file, case.line) = (path(of("file")), line(of("line")));
            case.message = text(of("message")).and_then(first_lines);
            self.tally.keep(text(of("test")).unwrap_or("(unnamed)"), case);
            Ok(())
        }))?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::Sniff;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    fn read(text: &str) -> Result<Parsed> {
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn its_numbers_count_and_what_failed_has_a_name() {
        let test = |name: &str| {
            format!(r#"[{{"test":"Tests\\CartTest::{name}","file":"/a/CartTest.php","line":9,"message":"No.\nx"}}]"#)
        };
        let text = format!(
            r#"{{"tool":"phpunit","result":"failed","tests":9,"passed":5,"assertions":9,"duration_ms":12,"failed":1,
            "failures":{},"errors":1,"error_details":{},"skipped":2,"incomplete":1,"risky":1}}"#,
            test("testAdds"),
            test("testBreaks")
        );
        assert!(matches!(sniffed(&FORMAT, &text), Sniff::Sure(_)));
        let parsed = read(&text).unwrap();
        assert_eq!((counts(&parsed), details(&parsed).dropped), ([9, 4, 1, 1, 3], 7));
        assert!(parsed.warnings.is_empty(), "it names few by its nature");
        let cases = details(&parsed).cases.cases;
        let case = cases.get("Tests\\CartTest::testBreaks").unwrap();
        assert_eq!((case.outcome, case.line, case.message.as_deref()), (Outcome::Errored, Some(9), Some("No. | x")));
        let green = r#"{"result":"passed","tests":2,"passed":2,"duration_ms":1}"#;
        assert_eq!(counts(&read(green).unwrap()), [2, 2, 0, 0, 0]);
    }

    #[test]
    fn what_fails_outside_of_tests_counts_once() {
        let failed = |numbers: &str| read(&format!(r#"{{"result":"failed",{numbers},"passed":1,"duration_ms":1}}"#));
        assert_eq!(counts(&failed(r#""tests":2"#).unwrap()), [3, 2, 0, 1, 0]);
        assert_eq!(counts(&failed(r#""tests":0,"failed":1,"skipped":2"#).unwrap()), [3, 0, 1, 0, 2]);
        assert_eq!(counts(&failed(r#""tests":0,"raw":["No tests found."]"#).unwrap()), [0; 5]);
        assert_eq!(read(r#"{"result":"passed","raw":["x"]}"#).unwrap_err().reject(), Some(Reject::NotThisFormat));
    }
}
