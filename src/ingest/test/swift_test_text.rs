//! `swift-test-text`: what XCTest and Swift Testing print, which `swift test` runs one after the other, and xcodebuild hands
//! on. Written after their sources, swift-corelibs-xctest's `PrintObserver` and swift-testing's
//! `Event.HumanReadableOutputRecorder`.
//!
//! XCTest counts failures, of which a test may have several, so that its tests are counted by their own lines.

use super::text_report::{Names, Summary, counted};
use super::text_runs::{Announced, Part, TextRun, all_runs};
use crate::error::Result;
use crate::ingest::text::printable;
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::cases::Outcome;
use crate::model::figures::ReportKind;

/// What `swift test` and xcodebuild print.
pub const FORMAT: Format = Format {
    name: "swift-test-text",
    kind: ReportKind::Test,
    about: "terminal output of XCTest and Swift Testing",
    written_by: "swift test, xcodebuild test",
    told_by: "\"Test Suite '…' started at …\", or \"Test run started.\"",
    has_end: false,
    counting: "The sum of the runs, of XCTest and of Swift Testing: as many tests as the last line says, of which those failed and \
               were skipped that are told so.",
    sniff,
    parse: all_runs::<SwiftTest>,
};

fn sniff(head: &Head<'_>) -> Sniff {
    if head.xml().is_none() && head.lines().any(|line| SwiftTest::begins(line.trim_end())) {
        return Sniff::Sure("first line of XCTest or Swift Testing".into());
    }
    Sniff::No
}

/// A run of one of the two.
#[derive(Debug, Default)]
pub(in crate::ingest) struct SwiftTest {
    names: Names,
    /// The suite of XCTest that holds all others, and whether it ended.
    suite: Option<String>,
    has_ended: bool,
    tests: Option<u64>,
    failed: u64,
    skipped: u64,
}

/// The name in `Test Suite 'All tests' started at 2024-05-01 10:00:00.000`, and what comes after it.
fn suite(line: &str) -> Option<(&str, &str)> {
    line.strip_prefix("Test Suite '")?.split_once("' ")
}

/// What a line of Swift Testing says, behind a symbol that differs between systems.
fn event(line: &str) -> Option<&str> {
    let (symbol, event) = line.split_once(' ')?;
    let event = event.trim_start();
    (!symbol.is_ascii() && event.starts_with("Test ")).then_some(event)
}

/// How many tests `Test run with 5 tests in 2 suites passed after 0.001 seconds.` says there were.
fn ran(event: &str) -> Option<u64> {
    let (number, rest) = counted(event.strip_prefix("Test run with ")?)?;
    let is_end = (rest.contains(" passed after ") || rest.contains(" failed after ")) && rest.ends_with('.');
    number.filter(|_| rest.starts_with("test") && is_end)
}

/// How many tests `Executed 3 tests, with 1 test skipped and 2 failures (0 unexpected) in 0.1 (0.1) seconds` tells of.
fn executed(line: &str) -> Option<u64> {
    let line = line.trim_start();
    let (number, rest) = counted(line.strip_prefix("Executed ")?)?;
    number.filter(|_| rest.starts_with("test") && rest.contains(" unexpected) in ") && rest.ends_with(" seconds"))
}

/// Name and result of `Test Case 'CartTests.testAdds' passed (0.001 seconds)`, on macOS `'-[Shop.CartTests testAdds]'`, and
/// in parallel `Test case 'CartTests.testAdds()' passed on 'My Mac' (0.001 seconds)`.
fn case(line: &str) -> Option<(&str, Outcome)> {
    let rest = line.strip_prefix("Test Case '").or_else(|| line.strip_prefix("Test case '"))?;
    let (name, rest) = rest.split_once("' ")?;
    Some((name, outcome(rest).filter(|_| line.ends_with(" seconds)") || line.ends_with(" seconds)."))?))
}

/// Likewise of `Test adds() failed after 0.001 seconds with 2 issues.` and `Test later() skipped: "reason"`.
fn test(event: &str) -> Option<(&str, Outcome)> {
    // Each case of one with arguments has a line of its own.
    let told = event.strip_prefix("Test ").filter(|told| !told.starts_with("case "))?;
    let marks = [" passed after ", " failed after ", " skipped"].into_iter();
    let found = marks.filter_map(|mark| Some((told.split_once(mark)?, mark)));
    let is_told = |rest: &str| rest.is_empty() || rest.starts_with([':', '.']) || rest.contains(" second");
    let ((name, _), mark) = found.filter(|((_, rest), _)| is_told(rest)).min_by_key(|((name, _), _)| name.len())?;
    let name =
        name.strip_suffix(" test cases").and_then(|name| name.rsplit_once(" with ")).map_or(name, |(name, _)| name);
    Some((name, outcome(mark.trim_start())?))
}

fn outcome(word: &str) -> Option<Outcome> {
    match word.split(' ').next()? {
        "passed" => Some(Outcome::Passed),
        "failed" => Some(Outcome::Failed),
        "skipped" => Some(Outcome::Skipped),
        _ => None,
    }
}

impl SwiftTest {
    fn result(&mut self, name: &str, outcome: Outcome) {
        match outcome {
            Outcome::Failed => self.failed += 1,
            Outcome::Skipped => self.skipped += 1,
            _ => {}
        }
        let name = name.trim_start_matches("-[").trim_end_matches(']').trim_end_matches("()");
        self.names.set(&printable(&name.replace(' ', "."), super::LONGEST_ID), outcome);
    }
}

impl Announced for SwiftTest {
    fn begins(line: &str) -> bool {
        suite(line).is_some_and(|(_, rest)| rest.starts_with("started at "))
            || event(line).is_some_and(|event| event == "Test run started.")
    }

    fn line(&mut self, text: &str) -> Result<()> {
        if let Some((name, rest)) = suite(text) {
            let outer = self.suite.get_or_insert_with(|| name.to_owned());
            self.has_ended |= outer == name && !rest.starts_with("started at ");
        } else if self.has_ended && self.tests.is_none() {
            self.tests = executed(text);
        } else if let Some((name, outcome)) = case(text).filter(|_| self.suite.is_some()) {
            self.result(name, outcome);
        } else if let Some(event) = event(text).filter(|_| self.suite.is_none()) {
            if let Some(tests) = ran(event) {
                self.tests = Some(tests);
            } else if let Some((name, outcome)) = test(event) {
                self.result(name, outcome);
            }
        }
        Ok(())
    }

    fn is_done(&self) -> bool {
        self.tests.is_some()
    }

    fn report(self) -> Result<Parsed> {
        self.alone()
    }
}

impl TextRun for SwiftTest {
    const TOOL: &'static str = "XCTest or Swift Testing";
    const HAS_PARTS: bool = true;

    fn is_whole(line: &str) -> bool {
        executed(line).or_else(|| ran(event(line)?)).is_some()
    }
}

impl Part for SwiftTest {
    const FORMAT: &'static Format = &FORMAT;
    const IS_COMPILED: bool = true;

    fn told(self) -> Result<(Summary, Names)> {
        let (failed, skipped) = (self.failed, self.skipped);
        let passed = self.tests.unwrap_or_default().saturating_sub(failed).saturating_sub(skipped);
        Ok((Summary { passed, failed, skipped, ..Summary::default() }, self.names))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::input::Input;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    const XCTEST: &str = "Test Suite 'All tests' started at 2024-05-01 10:00:00.000\nTest Suite 'CartTests' started at 2024-05-01 10:00:00.001\n\
                          Test Case 'CartTests.testAdds' started at 2024-05-01 10:00:00.001\n\
                          Test Case 'CartTests.testAdds' passed (0.001 seconds)\n\
                          /shop/CartTests.swift:9: error: CartTests.testFails : XCTAssertEqual failed: (\"2\") is not equal to (\"3\") - \n\
                          /shop/CartTests.swift:10: error: CartTests.testFails : XCTAssertTrue failed - \n\
                          Test Case 'CartTests.testFails' failed (0.002 seconds)\n\
                          Test Case '-[Shop.CartTests testLater]' skipped (0.001 seconds).\n\
                          Test Suite 'CartTests' failed at 2024-05-01 10:00:00.010\n\
                          \t Executed 3 tests, with 1 test skipped and 2 failures (0 unexpected) in 0.004 (0.004) seconds\n";
    const END: &str = "Test Suite 'All tests' failed at 2024-05-01 10:00:00.010\n\
                       \t Executed 3 tests, with 1 test skipped and 2 failures (0 unexpected) in 0.004 (0.005) seconds\n";
    const TESTING: &str = "◇ Test run started.\n↳ Testing Library Version: 124\n◇ Suite Sums started.\n◇ Test adds() started.\n\
                           ✔ Test adds() passed after 0.001 seconds.\n✘ Test \"two fail\" recorded an issue at CartTests.swift:9:3: Expectation failed: 1 == 2\n\
                           ✘ Test \"two fail\" failed after 0.001 seconds with 2 issues.\n➜ Test later() skipped: \"not passed after all\"\n\
                           ✘ Suite Sums failed after 0.001 seconds with 2 issues.\n\
                           ✘ Test run with 3 tests in 1 suite failed after 0.001 seconds with 2 issues.\n";

    fn read(text: &str) -> Result<Parsed> {
        (FORMAT.parse)(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn tests_count_and_not_failures() {
        let parsed = read(&format!("{XCTEST}{END}")).unwrap();
        assert_eq!(counts(&parsed), [3, 1, 1, 0, 1]);
        let cases = details(&parsed).cases.cases;
        assert_eq!(
            cases.keys().collect::<Vec<_>>(),
            ["CartTests.testAdds", "CartTests.testFails", "Shop.CartTests.testLater"]
        );
        let parsed = read(TESTING).unwrap();
        assert_eq!(counts(&parsed), [3, 1, 1, 0, 1]);
        assert_eq!(details(&parsed).cases.outcome("later"), Some(Outcome::Skipped));
        assert!(
            matches!(sniffed(&FORMAT, XCTEST), Sniff::Sure(_)) && matches!(sniffed(&FORMAT, TESTING), Sniff::Sure(_))
        );
    }

    #[test]
    fn the_runs_of_both_add_up() {
        assert_eq!(
            counts(&read(&format!("Building for debugging...\n{XCTEST}{END}{TESTING}")).unwrap()),
            [6, 2, 2, 0, 2]
        );
        let none = "Test Suite 'All tests' started at x\nTest Suite 'All tests' passed at x\n\t Executed 0 tests, with 0 failures (0 unexpected) in 0.0 (0.0) seconds\n";
        assert_eq!(counts(&read(&format!("{none}{TESTING}")).unwrap()), [3, 1, 1, 0, 1]);
    }

    #[test]
    fn a_run_without_its_last_line_is_no_result() {
        for text in ["", XCTEST, &format!("{XCTEST}{END}{XCTEST}"), &format!("{XCTEST}{END}◇ Test run started.\n")] {
            assert_eq!(read(text).unwrap_err().reject(), Some(Reject::NoResult), "{text}");
        }
    }
}
