//! `dart-test-text`: what `dart test` and `flutter test` print, with their reporters expanded, compact and github. Written
//! after their sources, `pkgs/test_core/lib/src/runner/reporter/` of dart-lang/test.
//!
//! Each line counts what came before it; a test is named when it begins, and again when it fails.

use super::stack;
use super::telling::Telling;
use super::text_report::{Names, Summary, counted};
use super::text_runs::{Announced, TextRun, last_run};
use crate::error::Result;
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::cases::Outcome;
use crate::model::figures::ReportKind;

/// What `dart test` and `flutter test` print.
pub const FORMAT: Format = Format {
    name: "dart-test-text",
    kind: ReportKind::Test,
    about: "terminal output of Dart's and Flutter's tests",
    written_by: "dart test, flutter test (reporters expanded, compact, github)",
    told_by: "\"00:01 +3 ~1 -1: Some tests failed.\", or \"::error::3 tests passed, 1 failed.\"",
    has_end: true,
    counting: "The last summary: + passed, - failed, ~ skipped. A file that does not load, which is among the failed, \
               is one errored test.",
    sniff,
    parse: last_run::<DartTest>,
};

fn sniff(head: &Head<'_>) -> Sniff {
    if head.xml().is_some() {
        return Sniff::No;
    }
    if head.last_lines().any(|line| end(line.trim_end()).is_some()) {
        return Sniff::Sure("line \"00:01 +3 -1: Some tests failed.\" or like it".into());
    }
    match head.lines().any(DartTest::begins) {
        true => Sniff::Maybe("line \"00:00 +0: …\" of dart test".into()),
        false => Sniff::No,
    }
}

/// The counts of `00:01 +3 ~1 -1: Some tests failed.`, and what comes after them.
fn clocked(line: &str) -> Option<(Summary, &str)> {
    let (clock, rest) = line.split_once(' ')?;
    let is_number = |part: &str| part.len() > 1 && part.bytes().all(|byte| byte.is_ascii_digit());
    clock.split_once(':').filter(|(minutes, seconds)| is_number(minutes) && is_number(seconds))?;
    let (counts, text) = rest.split_once(": ")?;
    let mut summary = Summary::default();
    for count in counts.split(' ') {
        let (slot, number) = match count.split_at_checked(1)? {
            ("+", number) => (&mut summary.passed, number),
            ("~", number) => (&mut summary.skipped, number),
            ("-", number) => (&mut summary.failed, number),
            _ => return None,
        };
        *slot = number.parse().ok()?;
    }
    counts.starts_with('+').then_some((summary, text))
}

/// The summary, where the line is its end.
fn end(line: &str) -> Option<Summary> {
    if let Some((summary, text)) = clocked(line) {
        let ends =
            ["All tests passed!", "All tests skipped.", "Some tests failed.", "No tests ran.", "No tests were found."];
        return ends.contains(&text).then_some(summary);
    }
    let told = line.strip_prefix("🎉 ").or_else(|| line.strip_prefix("::error::"))?.strip_suffix('.')?;
    let meaning = |word: &str| match word {
        "test passed" | "tests passed" => Some(Outcome::Passed),
        "failed" => Some(Outcome::Failed),
        "skipped" => Some(Outcome::Skipped),
        _ => None,
    };
    counted(told).filter(|(_, rest)| rest.starts_with("test"))?;
    Summary::of(told.split(", "), meaning)
}

/// One run.
#[derive(Debug, Default)]
pub(in crate::ingest) struct DartTest {
    names: Names,
    found: Option<Summary>,
    /// The test whose failure is told.
    told: Option<Telling>,
}

impl DartTest {
    /// `loading test/broken_test.dart`, or a test.
    fn failure(&mut self, name: &str) {
        if let Some(file) = name.strip_prefix("loading ") {
            self.names.unit(file);
        } else {
            self.told = Some(Telling::of_failed(&mut self.names, name));
        }
    }
}

/// File and line of `test/cart_test.dart 9:7     main.<fn>.<fn>`.
fn row(text: &str) -> Option<(&str, u64)> {
    let (file, rest) = text.split_once(' ').filter(|(file, _)| file.ends_with(".dart") && !file.contains(':'))?;
    Some((file, stack::number(rest.split_once(':')?.0)?))
}

impl Announced for DartTest {
    fn begins(line: &str) -> bool {
        let is_of_github = ["✅ ", "::group::❌ ", "::group::❎ "].iter().any(|mark| line.starts_with(mark));
        line.starts_with("00:00 +0: ") || (is_of_github && line.contains("_test.dart: "))
    }

    fn line(&mut self, text: &str) -> Result<()> {
        if let Some(found) = end(text) {
            self.found = Some(found);
        } else if let Some((_, name)) = clocked(text) {
            self.told = None;
            if let Some(name) = name.strip_suffix(" [E]") {
                self.failure(name);
            }
        } else if let Some(name) = text.strip_prefix("::group::❌ ").and_then(|name| name.strip_suffix(" (failed)")) {
            self.failure(name);
        } else if text.starts_with("To run this test again: ") {
            self.told = None;
        } else if let Some(told) = &mut self.told {
            match row(text.trim_start()) {
                Some(place) => told.row(&mut self.names, place),
                None if text.trim_start().starts_with("package:") => told.end(),
                None => told.line(&mut self.names, text),
            }
        }
        Ok(())
    }

    fn is_done(&self) -> bool {
        self.found.is_some()
    }

    fn report(self) -> Result<Parsed> {
        let mut summary = self.found.unwrap_or_default();
        let units = self.names.unit_count().min(summary.failed);
        (summary.failed, summary.errored, summary.unit_failures) = (summary.failed - units, units, units);
        self.names.report(&FORMAT, &summary, true)
    }
}

impl TextRun for DartTest {
    const TOOL: &'static str = "dart test";
    const HAS_PARTS: bool = true;

    fn is_whole(line: &str) -> bool {
        end(line).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::input::Input;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    const RUN: &str = "00:00 +0: loading test/cart_test.dart\n00:00 +0: test/cart_test.dart: cart adds\n\
                       00:01 +1: test/cart_test.dart: cart fails\n00:01 +1 -1: test/cart_test.dart: cart fails [E]\n\
                       \x20 Expected: <3>\n    Actual: <2>\n  package:matcher  expect\n  test/cart_test.dart 8:5  main.<fn>\n\n\
                       00:01 +1 -1: test/cart_test.dart: cart waits\n  Skip: later\n\
                       00:01 +1 ~1 -2: loading test/broken_test.dart [E]\n  Failed to load \"test/broken_test.dart\":\n";
    const END: &str = "00:01 +1 ~1 -2: Some tests failed.\n";

    fn read(text: &str) -> Result<Parsed> {
        (FORMAT.parse)(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn the_last_line_counts_and_files_that_do_not_load_are_told_apart() {
        let parsed = read(&format!("{RUN}{END}")).unwrap();
        assert_eq!(counts(&parsed), [4, 1, 1, 1, 1]);
        let details = details(&parsed);
        assert_eq!(details.failed_units, ["test/broken_test.dart"]);
        let failed = &details.cases.cases["test/cart_test.dart: cart fails"];
        assert_eq!((failed.outcome, failed.message.as_deref()), (Outcome::Failed, Some("Expected: <3> | Actual: <2>")));
        assert_eq!((failed.file.as_deref(), failed.line), (Some("test/cart_test.dart"), Some(8)));
        assert_eq!(counts(&read("00:00 +0: a\n00:02 +12: All tests passed!\n").unwrap()), [12, 12, 0, 0, 0]);
        assert_eq!(counts(&read("No tests match \"x\".\n00:00 +0: No tests ran.\n").unwrap()), [0; 5]);
        assert!(matches!(sniffed(&FORMAT, &format!("{RUN}{END}")), Sniff::Sure(_)));
        assert!(matches!(sniffed(&FORMAT, RUN), Sniff::Maybe(_)));
    }

    #[test]
    fn the_reporter_for_github_has_its_own_words() {
        let run = "✅ test/cart_test.dart: adds\n::group::❌ test/cart_test.dart: fails (failed)\nExpected: <3>\n::endgroup::\n";
        let parsed = read(&format!("{run}::error::1 test passed, 1 failed, 2 skipped.\n")).unwrap();
        assert_eq!(counts(&parsed), [4, 1, 1, 0, 2]);
        assert_eq!(details(&parsed).cases.outcome("test/cart_test.dart: fails"), Some(Outcome::Failed));
        assert_eq!(counts(&read("🎉 3 tests passed.\n").unwrap()), [3, 3, 0, 0, 0]);
        for none in
            ["::error::3 files failed.\n", "🎉 3 passed.\n", "00:01 +3: All tests\n", "12:01 -3: All tests passed!\n"]
        {
            assert_eq!(sniffed(&FORMAT, none), Sniff::No, "{none}");
        }
    }

    #[test]
    fn a_run_without_its_last_line_is_no_result() {
        for text in ["", RUN] {
            assert_eq!(read(text).unwrap_err().reject(), Some(Reject::NoResult), "{text}");
        }
        assert_eq!(read(&format!("{RUN}00:01 +1 ~1 -2: Some tes")).unwrap_err().reject(), Some(Reject::Malformed));
    }
}
