//! `swift-test-text`: what XCTest and Swift Testing print, which `swift test` runs one after the other, and xcodebuild hands
//! on, itself in parallel or through xcbeautify or xcpretty. Written after their sources, swift-corelibs-xctest's
//! `PrintObserver` and swift-testing's `Event.HumanReadableOutputRecorder`.
//!
//! XCTest counts failures, of which a test may have several, so that its tests are counted by their own lines.

use std::collections::BTreeMap;

use super::text_report::{MESSAGES_HELD, Names, Summary, counted, no_result};
use super::text_runs::{Announced, Part, TextRun, all_runs};
use super::{CASES_KEPT, stack};
use crate::error::{Error, Reject, Result};
use crate::ingest::text::{first_lines, printable};
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::cases::{Outcome, TestCase};
use crate::model::figures::ReportKind;

mod pretty;

/// What `swift test` and xcodebuild print.
pub const FORMAT: Format = Format {
    name: "swift-test-text",
    kind: ReportKind::Test,
    about: "terminal output of XCTest and Swift Testing",
    written_by: "swift test, xcodebuild test, xcbeautify, xcpretty",
    told_by: "\"Test Suite '…' started at …\", \"Test suite '…' started on '…'\", or \"Test run started.\"",
    has_end: false,
    counting: "The sum of the runs, of XCTest and of Swift Testing: as many tests as the last line says, of which \
               those failed and were skipped that are told so. Of xcodebuild's parallel tests, each by its last \
               attempt.",
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
    kind: Kind,
    /// The suite that began last: xcbeautify and xcpretty tell a test without it.
    inner: String,
    failed: u64,
    skipped: u64,
    /// By name, where a test may be told more than once: each failure of xcbeautify and xcpretty, each attempt in parallel.
    outcomes: BTreeMap<String, Outcome>,
    /// The first issue of each test whose result has not come: Swift Testing runs them at once.
    issues: BTreeMap<String, Issue>,
    executed: Option<Executed>,
}

/// Where a test failed, and why.
#[derive(Debug, Default)]
struct Issue {
    file: Option<String>,
    line: Option<u64>,
    message: Option<String>,
}

impl Issue {
    fn new(place: &str, message: &str) -> Issue {
        let (file, line) = stack::numbered(place).unzip();
        let message = message.strip_suffix(" -").unwrap_or(message);
        Issue { file: file.map(|file| printable(file, 1000)), line, message: first_lines(message) }
    }

    /// What was told of an earlier attempt stands only where the test failed again.
    fn describe(self, case: &mut TestCase) {
        if case.outcome != Outcome::Failed {
            (case.file, case.line, case.message) = (None, None, None);
        } else if case.message.is_none() {
            (case.file, case.line, case.message) = (self.file, self.line, self.message);
        }
    }
}

/// The test of `/shop/CartTests.swift:11: error: CartTests.testFails : XCTAssertTrue failed - `, on macOS
/// `-[CartTests testFails]`, and of `✘ Test fails() recorded an issue at CartTests.swift:9:5: Expectation failed: …`.
fn issue(line: &str) -> Option<(&str, Issue)> {
    if let Some((name, told)) =
        event(line).and_then(|event| event.strip_prefix("Test ")?.split_once(" recorded an issue "))
    {
        // The arguments of a test may stand before the place.
        let (_, place) = told.split_once(".swift:")?;
        let (before, _) = told.split_at_checked(told.len() - place.len())?;
        let (column, message) = place.split_once(": ")?;
        let file = before.rsplit_once("at ").map_or(before, |(_, file)| file);
        let (line, _) = column.split_once(':')?;
        return Some((name, Issue::new(&format!("{file}{line}"), message)));
    }
    let (place, told) = line.split_once(": error: ")?;
    let (name, message) = told.split_once(" : ")?;
    Some((name, Issue::new(place, message)))
}

/// The name of a test as it is kept.
fn kept(name: &str) -> String {
    let name = name.trim_start_matches("-[").trim_end_matches(']').trim_end_matches("()");
    printable(&name.replace(' ', "."), super::LONGEST_ID)
}

/// How the tests are told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Kind {
    /// By XCTest or Swift Testing themselves.
    #[default]
    Plain,
    /// By xcodebuild, of several at once: there is no sum.
    Parallel,
    /// By xcbeautify or xcpretty.
    Pretty,
}

/// The last line of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Executed {
    tests: u64,
    skipped: u64,
    /// Of which a test may have several.
    failures: u64,
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

/// What `Test run with 5 tests in 2 suites passed after 0.001 seconds.` says: how many there were.
fn ran(event: &str) -> Option<Executed> {
    let (number, rest) = counted(event.strip_prefix("Test run with ")?)?;
    let is_end = (rest.contains(" passed after ") || rest.contains(" failed after ")) && rest.ends_with('.');
    let tests = number.filter(|_| rest.starts_with("test") && is_end)?;
    Some(Executed { tests, ..Executed::default() })
}

/// `Executed 3 tests, with 1 test skipped and 2 failures (0 unexpected) in 0.1 (0.1) seconds`.
fn executed(line: &str) -> Option<Executed> {
    let (counts, rest) = line.trim_start().strip_prefix("Executed ")?.split_once(" (")?;
    if !rest.contains(" unexpected) in ") || !rest.ends_with(" seconds") {
        return None;
    }
    let (tests, with) = counts.split_once(", with ")?;
    let (tests, _) = counted(tests).filter(|(_, word)| word.starts_with("test"))?;
    let mut executed = Executed { tests: tests?, ..Executed::default() };
    for part in with.split(" and ") {
        let (number, word) = counted(part)?;
        let slot = if word.ends_with("skipped") { &mut executed.skipped } else { &mut executed.failures };
        *slot = number?;
    }
    Some(executed)
}

/// xcodebuild's last line: `** TEST SUCCEEDED **`, `** TEST EXECUTE FAILED **`.
fn is_end_of_xcodebuild(line: &str) -> bool {
    line.strip_prefix("** TEST ").is_some_and(|rest| rest.ends_with("SUCCEEDED **") || rest.ends_with("FAILED **"))
}

/// `Test suite 'CartTests' started on 'Clone 1 of iPhone 16 - Shop (123)'`.
fn is_parallel(line: &str) -> bool {
    line.strip_prefix("Test suite '").is_some_and(|rest| rest.contains("' started on '"))
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
    /// Notes what is told of a test; the answer is its name as it is kept.
    fn named(&mut self, name: &str, outcome: Outcome) -> String {
        let name = kept(name);
        let issue = self.issues.remove(&name).unwrap_or_default();
        if let Some(case) = self.names.set(&name, outcome) {
            issue.describe(case);
        }
        name
    }

    /// A result that is told once.
    fn result(&mut self, name: &str, outcome: Outcome) {
        self.named(name, outcome);
        match outcome {
            Outcome::Failed => self.failed += 1,
            Outcome::Skipped => self.skipped += 1,
            _ => {}
        }
    }

    /// A result that may be told again.
    fn latest(&mut self, name: &str, outcome: Outcome) -> Result<()> {
        let name = self.named(name, outcome);
        self.outcomes.insert(name, outcome);
        if self.outcomes.len() > CASES_KEPT {
            return Err(Error::report(Reject::Refused, format!("more than {CASES_KEPT} tests of xcodebuild")));
        }
        Ok(())
    }

    fn pretty_result(&mut self, text: &str, (suite, name, outcome): (Option<&str>, &str, Outcome)) -> Result<()> {
        let name = format!("{}.{name}", suite.unwrap_or(&self.inner));
        if outcome == Outcome::Failed {
            self.issue(&name, Issue { message: pretty::message(text).and_then(first_lines), ..Issue::default() });
        }
        self.latest(&name, outcome)
    }

    fn issue(&mut self, name: &str, issue: Issue) {
        if self.issues.len() < MESSAGES_HELD {
            self.issues.entry(kept(name)).or_insert(issue);
        }
    }

    /// A line between the first and the last of XCTest.
    fn of_xctest(&mut self, text: &str) -> Result<()> {
        if let Some((name, rest)) = suite(text) {
            let is_begin = rest.starts_with("started at ");
            let outer = self.suite.get_or_insert_with(|| name.to_owned());
            self.has_ended |= outer == name && !is_begin;
            if is_begin {
                name.clone_into(&mut self.inner);
            }
        } else if let Some((name, outcome)) = case(text) {
            self.result(name, outcome);
        } else if let Some(told) = pretty::case(text) {
            self.pretty_result(text, told)?;
        } else if self.has_ended {
            self.executed = executed(text);
        }
        Ok(())
    }

    /// A line of xcbeautify or xcpretty, which keep nothing of XCTest's own.
    fn of_pretty(&mut self, text: &str) -> Result<()> {
        if let Some(name) = pretty::suite(text) {
            name.clone_into(&mut self.inner);
        } else if let Some(told) = pretty::case(text) {
            self.pretty_result(text, told)?;
        } else if !text.starts_with(' ') && !text.contains([' ', '/', ':']) && !text.is_empty() {
            // xcpretty's class.
            text.clone_into(&mut self.inner);
        } else {
            self.executed = pretty::summary(text).or_else(|| executed(text));
        }
        Ok(())
    }
}

impl Announced for SwiftTest {
    fn begins(line: &str) -> bool {
        suite(line).is_some_and(|(_, rest)| rest.starts_with("started at "))
            || is_parallel(line)
            || pretty::suite(line).is_some()
            || event(line).is_some_and(|event| event == "Test run started.")
    }

    fn line(&mut self, text: &str) -> Result<()> {
        if self.is_done() {
            return Ok(());
        }
        if self.suite.is_none() && self.kind == Kind::Plain {
            self.kind = match text {
                _ if is_parallel(text) => Kind::Parallel,
                _ if pretty::suite(text).is_some() => Kind::Pretty,
                _ => Kind::Plain,
            };
        }
        if let Some((name, issue)) = issue(text) {
            self.issue(name, issue);
        }
        match self.kind {
            Kind::Parallel if is_end_of_xcodebuild(text) => {
                self.executed = Some(Executed { tests: self.outcomes.len() as u64, ..Executed::default() });
            }
            Kind::Parallel => {
                if let Some((name, outcome)) = case(text) {
                    self.latest(name, outcome)?;
                }
            }
            Kind::Pretty => self.of_pretty(text)?,
            Kind::Plain if self.suite.is_some() || suite(text).is_some() => self.of_xctest(text)?,
            Kind::Plain => {
                if let Some(event) = event(text) {
                    self.executed = ran(event);
                    if let Some((name, outcome)) = test(event).filter(|_| !self.is_done()) {
                        self.result(name, outcome);
                    }
                }
            }
        }
        Ok(())
    }

    fn is_done(&self) -> bool {
        self.executed.is_some()
    }

    fn report(self) -> Result<Parsed> {
        self.alone()
    }
}

impl TextRun for SwiftTest {
    const TOOL: &'static str = "XCTest or Swift Testing";
    const HAS_PARTS: bool = true;

    fn is_whole(line: &str) -> bool {
        executed(line).or_else(|| pretty::summary(line)).or_else(|| ran(event(line)?)).is_some()
            || is_end_of_xcodebuild(line)
    }
}

impl Part for SwiftTest {
    const FORMAT: &'static Format = &FORMAT;
    const IS_COMPILED: bool = true;

    fn told(self) -> Result<(Summary, Names)> {
        let executed = self.executed.unwrap_or_default();
        let told = |outcome| self.outcomes.values().filter(|other| **other == outcome).count() as u64;
        let failed = self.failed.saturating_add(told(Outcome::Failed));
        let skipped = self.skipped.saturating_add(told(Outcome::Skipped)).max(executed.skipped);
        if executed.failures > 0 && failed == 0 {
            return Err(no_result("the last line tells of failures, and no test of one", 0));
        }
        let passed = executed.tests.saturating_sub(failed).saturating_sub(skipped);
        Ok((Summary { passed, failed, skipped, ..Summary::default() }, self.names))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
    fn a_failure_has_the_place_and_message_of_the_first_issue() {
        let of = |text: &str, id: &str| {
            let case = details(&read(text).unwrap()).cases.cases[id].clone();
            (case.file.unwrap_or_default(), case.line.unwrap_or_default(), case.message.unwrap_or_default())
        };
        let told = |file: &str, line: u64, message: &str| (file.to_owned(), line, message.to_owned());
        let unequal = "XCTAssertEqual failed: (\"2\") is not equal to (\"3\")";
        assert_eq!(of(&format!("{XCTEST}{END}"), "CartTests.testFails"), told("/shop/CartTests.swift", 9, unequal));
        let of_macos = include_str!("../../../fixtures/reports/swift-test-text/good-xcodebuild.txt");
        let place = "/home/dev/shop/ShopTests/CartTests.swift";
        assert_eq!(of(of_macos, "ShopTests.CartTests.testFails"), told(place, 11, unequal));
        assert_eq!(of(TESTING, "\"two.fail\""), told("CartTests.swift", 9, "Expectation failed: 1 == 2"));
        let rows = TESTING.replace("\"two fail\"", "rows(n:)").replace("issue at", "issue with 1 argument n → at 2 at");
        assert_eq!(of(&rows, "rows(n:)"), told("CartTests.swift", 9, "Expectation failed: 1 == 2"));
        let pretty = format!(
            "Test Suite Shop.xctest started\nCartTests\n\
             {TOLD}Tests Failed: 2 failed, 1 skipped, 3 total (0.108 seconds)\n"
        );
        assert_eq!(of(&pretty, "CartTests.testFails"), told("", 0, unequal));
        let again = PARALLEL.replacen("Test case", "/a.swift:3: error: CartTests.testAgain : no\nTest case", 1);
        assert_eq!(of(&format!("{again}** TEST FAILED **\n\n"), "CartTests.testAgain"), told("", 0, ""));
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

    const PARALLEL: &str = "Test suite 'CartTests' started on 'Clone 1 of iPhone 16 - Shop (123)'\n\
                            Test case 'CartTests.testAdds()' passed on 'Clone 1 of iPhone 16 - Shop (123)' (0.003 seconds)\n\
                            Test case 'CartTests.testFails()' failed on 'Clone 1 of iPhone 16 - Shop (123)' (0.103 seconds)\n\
                            Test case 'CartTests.testAgain()' failed on 'Clone 2 of iPhone 16 - Shop (124)' (0.103 seconds)\n\
                            Test case 'CartTests.testAgain()' passed on 'Clone 2 of iPhone 16 - Shop (124)' (0.103 seconds)\n\
                            Test case 'CartTests.testLater()' skipped on 'Clone 2 of iPhone 16 - Shop (124)' (0.002 seconds)\n\n\
                            Failing tests:\n\tCartTests.testFails()\n\n";
    const TOLD: &str = "    ✔ testAdds (0.003 seconds)\n    ✖ testFails, XCTAssertEqual failed: (\"2\") is not equal to (\"3\")\n\
                        \x20   ✖ testFails, XCTAssertTrue failed, of two\n    ⊘ testLater (0.002 seconds)\n";

    #[test]
    fn what_xcodebuild_tells_in_parallel_has_no_sum() {
        let parsed = read(&format!("{PARALLEL}** TEST FAILED **\n\n")).unwrap();
        assert_eq!(counts(&parsed), [4, 2, 1, 0, 1]);
        assert_eq!(details(&parsed).cases.outcome("CartTests.testAgain"), Some(Outcome::Passed));
        assert_eq!(read(PARALLEL).unwrap_err().reject(), Some(Reject::NoResult));
    }

    #[test]
    fn a_test_that_fails_twice_is_one_behind_xcbeautify_and_xcpretty() {
        let executed = "\t Executed 3 tests, with 1 test skipped and 2 failures (0 unexpected) in 0.1 (0.2) seconds\n";
        let quoted = format!(
            "Test Suite 'All tests' started at 2026-05-01 10:00:00.000\nTest Suite 'CartTests' started at 2026-05-01 10:00:00.000\n\
             {TOLD}{executed}Test Suite 'All tests' failed at 2026-05-01 10:00:00.100.\n{executed}"
        );
        let plain = format!("Test Suite Shop.xctest started\nCartTests\n{TOLD}");
        let summary = "Tests Failed: 2 failed, 1 skipped, 3 total (0.108 seconds)\n";
        let parallel = "Test Suite Shop.xctest started\n    ✔ [CartTests] testAdds on 'iPhone 16' (0.003 seconds)\n\
                        \x20   ✖ [CartTests] testFails on 'iPhone 16' (0.103 seconds)\n    ⧖ testLater [PENDING]\n";
        let xcpretty = plain.replace('✔', "✓").replace('✖', "✗");
        for text in [
            quoted,
            format!("{plain}{summary}"),
            format!("{parallel}{summary}"),
            format!("All tests\n{xcpretty}\n\nShop.CartTests\n  testFails, XCTAssertTrue failed\n\n{executed}"),
        ] {
            let parsed = read(&text).unwrap();
            assert_eq!(counts(&parsed), [3, 1, 1, 0, 1], "{text}");
            assert_eq!(details(&parsed).cases.outcome("CartTests.testFails"), Some(Outcome::Failed), "{text}");
            assert!(matches!(sniffed(&FORMAT, &text), Sniff::Sure(_)), "{text}");
        }
        // Its signs are other ones: that nothing is seen to have failed is no proof that it did not.
        let ascii = format!("{}{summary}", plain.replace('✖', "x"));
        assert_eq!(read(&ascii).unwrap_err().reject(), Some(Reject::NoResult));
    }

    #[test]
    fn a_run_without_its_last_line_is_no_result() {
        for text in ["", XCTEST, &format!("{XCTEST}{END}{XCTEST}"), &format!("{XCTEST}{END}◇ Test run started.\n")] {
            assert_eq!(read(text).unwrap_err().reject(), Some(Reject::NoResult), "{text}");
        }
    }
}
