//! `nim-test-text`: what Nim's `unittest` prints of each test. <https://nim-lang.org/docs/unittest.html>
//!
//! It has no summary and no end; with the output level PRINT_FAILURES tests that passed are not told.

use super::text_report::{Names, Summary, add_line, is_foreign};
use super::text_runs::{Unannounced, all_summaries};
use crate::error::Result;
use crate::ingest::text::printable;
use crate::ingest::values::leading_in;
use crate::ingest::{Details, Format, Head, Parsed, Sniff};
use crate::model::cases::{Outcome, TestCase};
use crate::model::figures::ReportKind;

/// What Nim's `unittest` prints.
pub const FORMAT: Format = Format {
    name: "nim-test-text",
    kind: ReportKind::Test,
    about: "terminal output of Nim's unittest",
    written_by: "nim c -r, nimble test",
    told_by: "\"[Suite] …\" with lines \"[OK] …\", \"[FAILED] …\" below it",
    has_end: false,
    counting: "Each line: [OK] passed, [FAILED] failed, [SKIPPED] skipped. A failure without such a line, after which \
               the program ended, is one errored test, and so is a program that failed without a failed test. Where \
               none passed, those that did may not have been told.",
    sniff,
    parse: |input| all_summaries::<Told>(input, "Nim's unittest"),
};

fn sniff(head: &Head<'_>) -> Sniff {
    let suite = head.lines().any(|line| line.starts_with(SUITE));
    match suite && !is_foreign(head) && head.lines().any(|line| result(line).is_some()) {
        true => Sniff::Sure("a line [Suite], and results".into()),
        false => Sniff::No,
    }
}

const SUITE: &str = "[Suite] ";

/// The result of a test, and its name.
fn result(line: &str) -> Option<(Outcome, &str)> {
    let rest = line.strip_prefix("  ").unwrap_or(line).strip_prefix('[')?;
    let (word, name) = rest.split_once("] ")?;
    let outcome = match word {
        "OK" => Outcome::Passed,
        "FAILED" => Outcome::Failed,
        "SKIPPED" => Outcome::Skipped,
        _ => return None,
    };
    Some((outcome, name))
}

/// What was told so far.
#[derive(Debug, Default)]
pub(in crate::ingest) struct Told {
    /// The suite that is open, if any came.
    suite: Option<String>,
    names: Names,
    sum: Summary,
    /// A check failed, and the line of its test did not come.
    is_open: bool,
    /// What the first of them said.
    failure: Option<TestCase>,
    /// `nim c -r` says that the program failed.
    has_failed: bool,
}

/// `    cart.nim(4, 23): Check failed: 1 == 2`, `    Unhandled exception: no [ValueError]`.
fn is_failure(text: &str) -> bool {
    text.starts_with("    ") && (text.contains("): Check failed: ") || text.contains("Unhandled exception: "))
}

/// Place and message of such a line.
fn failure(text: &str) -> TestCase {
    let mut case = TestCase::new(Outcome::Failed);
    let (place, message) = text.split_once("): ").unwrap_or(("", text));
    add_line(&mut case.message, message);
    if let Some((file, place)) = place.trim_start().rsplit_once('(')
        && let Some((line, _)) = leading_in(place).filter(|(line, _)| *line > 0)
    {
        (case.file, case.line) = (Some(printable(file, 1000)), Some(line));
    }
    case
}

impl Unannounced for Told {
    fn line(&mut self, text: &str) -> Result<Option<Box<Parsed>>> {
        if let Some(suite) = text.strip_prefix(SUITE) {
            self.suite = Some(suite.to_owned());
        } else if is_failure(text) {
            self.is_open = true;
            self.failure.get_or_insert_with(|| failure(text));
        } else if text.starts_with("Error: execution of an external program failed: ") {
            self.has_failed = true;
        } else if let Some((outcome, name)) = result(text) {
            self.is_open = false;
            Summary::add(self.sum.slot(outcome), Some(1))?;
            let id = match &self.suite {
                Some(suite) if text.starts_with(' ') => format!("{suite}::{name}"),
                _ => name.to_owned(),
            };
            let worst = self.names.get(&id).map_or(outcome, |case| case.outcome.max(outcome));
            let failure = self.failure.take().filter(|_| outcome == Outcome::Failed);
            if let (Some(case), Some(failure)) = (self.names.set(&id, worst), failure)
                && case.message.is_none()
            {
                (case.file, case.line, case.message) = (failure.file, failure.line, failure.message);
            }
        } else if let Some(failure) = self.failure.as_mut().filter(|_| text.starts_with("    ")) {
            // The values that were compared.
            add_line(&mut failure.message, text);
        }
        Ok(None)
    }

    fn report(mut self) -> Result<Option<Parsed>> {
        if self.suite.is_none() || self.sum == Summary::default() {
            return Ok(None);
        }
        let unit_failures = u64::from(self.is_open || self.has_failed && self.sum.failed == 0);
        (self.sum.errored, self.sum.unit_failures) = (unit_failures, unit_failures);
        let only_failed = self.sum.passed == 0 && self.sum.failed > 0;
        let mut parsed = self.names.report(&FORMAT, &self.sum, true)?;
        if let Details::Tests(details) = &mut parsed.details {
            details.only_failed = only_failed;
        }
        Ok(Some(parsed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::input::Input;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    const RUN: &str = "[OK] lone\n\n[Suite] cart\n  [OK] adds\n    a.nim(4, 23): Check failed: 1 == 2\n  [FAILED] fails\n  [SKIPPED] later\n";

    fn read(text: &str) -> Result<Parsed> {
        (FORMAT.parse)(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn each_line_of_a_test_counts() {
        let parsed = read(RUN).unwrap();
        assert_eq!(counts(&parsed), [4, 2, 1, 0, 1]);
        assert_eq!(details(&parsed).cases.outcome("cart::fails"), Some(Outcome::Failed));
        assert!(!details(&parsed).only_failed);
        assert!(matches!(sniffed(&FORMAT, RUN), Sniff::Sure(_)));
        let failures = read("[Suite] cart\n  [FAILED] fails\n").unwrap();
        assert!(details(&failures).only_failed, "PRINT_FAILURES");
    }

    #[test]
    fn a_failure_has_the_place_and_message_of_the_first_check() {
        let text = "[Suite] cart\n    /app/a.nim(4, 23): Check failed: x == 2\n    x was 1\n\
                    \x20   /app/a.nim(5, 23): Check failed: no\n\
                    \x20 [FAILED] fails\n    a.nim(9, 1): Check failed: odd\n  [OK] adds\n\
                    \x20   Unhandled exception: no [ValueError]\n  [FAILED] raises\n\
                    \x20 [FAILED] other\n";
        let cases = details(&read(text).unwrap()).cases.cases;
        let of = |id: &str| (cases[id].message.as_deref(), cases[id].file.as_deref(), cases[id].line);
        assert_eq!(of("cart::fails"), (Some("Check failed: x == 2 | x was 1"), Some("/app/a.nim"), Some(4)));
        assert_eq!(of("cart::raises"), (Some("Unhandled exception: no [ValueError]"), None, None));
        assert_eq!([of("cart::adds"), of("cart::other")], [(None, None, None); 2]);
    }

    #[test]
    fn a_failure_without_the_line_of_its_test_is_none_the_less_one() {
        let ok = "[Suite] cart\n  [OK] adds\n";
        let check = "    cart.nim(4, 23): Check failed: 1 == 2\n";
        let failed = "Error: execution of an external program failed: '/tmp/cart '\n";
        for (text, expected) in [
            (format!("{ok}{check}"), [2, 1, 0, 1, 0]),
            (format!("{ok}{check}{failed}"), [2, 1, 0, 1, 0]),
            (format!("{ok}{failed}"), [2, 1, 0, 1, 0]),
            (format!("{ok}{check}  [FAILED] fails\n{failed}"), [2, 1, 1, 0, 0]),
        ] {
            assert_eq!(counts(&read(&text).unwrap()), expected, "{text}");
        }
    }

    #[test]
    fn without_a_suite_nothing_is_told() {
        assert_eq!(read("[OK] Started a service\n").unwrap_err().reject(), Some(Reject::NoResult));
        assert_eq!(sniffed(&FORMAT, "[OK] Started a service\n"), Sniff::No);
        assert_eq!(read("[Suite] cart\n  [OK] ad").unwrap_err().reject(), Some(Reject::Malformed));
    }
}
