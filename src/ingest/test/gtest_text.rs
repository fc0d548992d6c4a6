//! `gtest-text`: what a GoogleTest program prints, and cmocka in its manner. Its definition is
//! `PrettyUnitTestResultPrinter` in GoogleTest's `gtest.cc`. The summary gives the counts.

use super::ctest_text::CTest;
use super::milliseconds;
use super::text_report::{Names, Summary, counted, is_foreign};
use super::text_runs::{Announced, Part, TextRun, all_runs};
use crate::error::{Error, Reject, Result};
use crate::ingest::text::{first_lines, printable};
use crate::ingest::{Format, Head, Parsed, Sniff, add};
use crate::model::cases::Outcome;
use crate::model::figures::ReportKind;

/// What a GoogleTest program prints.
pub const FORMAT: Format = Format {
    name: "gtest-text",
    kind: ReportKind::Test,
    about: "terminal output of GoogleTest",
    written_by: "programs with GoogleTest, cmocka",
    told_by: "its lines \"[==========] Running N tests\", \"[  PASSED  ] N tests.\"",
    has_end: false,
    counting: "The sum of the runs' summaries: PASSED passed, FAILED failed, SKIPPED and DISABLED skipped. A test \
               suite whose fixture failed is one errored test, as are an environment and cmocka's tests whose fixture \
               failed.",
    sniff,
    parse: all_runs::<GTest>,
};

fn sniff(head: &Head<'_>) -> Sniff {
    // `ctest --output-on-failure` hands on what a program prints.
    if is_foreign(head) || head.lines().take(50).any(|line| CTest::begins(line.trim_end())) {
        return Sniff::No;
    }
    if head.lines().any(|line| GTest::begins(line.trim_end())) {
        return Sniff::Sure("line \"[==========] Running N tests\"".into());
    }
    if head.last_lines().any(|line| matches!(marked(line), Some(("PASSED", rest)) if number(rest).is_some())) {
        return Sniff::Sure("line \"[  PASSED  ] N tests.\"".into());
    }
    Sniff::No
}

/// How busted begins, which tells at the end how many tests there were.
const OF_BUSTED: &str = "Running tests from ";

/// One run of a program.
#[derive(Debug, Default)]
pub(in crate::ingest) struct GTest {
    names: Names,
    /// How many tests it announced, and how many it ran.
    announced: Option<u64>,
    ran: Option<u64>,
    passed: Option<u64>,
    /// Of the lists below the summary.
    skipped: u64,
    failed: u64,
    disabled: u64,
    failed_suites: u64,
    /// cmocka counts those whose fixture failed here only.
    failed_or_errored: u64,
    /// busted's errors, of tests and around them.
    errors: u64,
    /// Its list of failures is there, if empty.
    has_failed: bool,
    /// The first line that a test that runs has printed of its failure.
    message: Option<String>,
    running: bool,
    /// Of the runs before, which with `--gtest_brief=1` are not announced.
    before: (Summary, Names),
}

impl Announced for GTest {
    fn begins(line: &str) -> bool {
        matches!(marked(line), Some(("==========", rest)) if running(rest).is_some() || rest.starts_with(OF_BUSTED))
    }

    fn line(&mut self, text: &str) -> Result<()> {
        match marked(text) {
            Some(("==========", rest)) => self.frame(rest)?,
            Some((mark, rest)) if self.is_brief_and_done() => self.below_brief(mark, rest)?,
            Some((mark, rest)) if self.ran.is_some() => self.total(mark, rest)?,
            Some((mark, rest)) => self.result(mark, rest),
            None if self.is_brief_and_done() && text.ends_with(": Failure") => {
                self.next()?;
                self.message = Some(String::new());
            }
            None if self.ran.is_some() => self.below(text)?,
            None if self.may_fail() && self.message.is_none() && text.contains(": Failure") => {
                self.message = Some(String::new());
            }
            None => {
                if let Some(message) = self.message.as_mut().filter(|message| message.is_empty()) {
                    text.clone_into(message);
                }
            }
        }
        Ok(())
    }

    fn ends_alone(line: &str) -> bool {
        // Not above the totals of `--gtest_brief=1`, which tells rows without announcing the run.
        matches!(marked(line), Some(("----------", "Global test environment tear-down")))
    }

    fn is_done(&self) -> bool {
        let told = self.passed.and_then(|passed| passed.checked_add(self.skipped)?.checked_add(self.failed()));
        let told = told.and_then(|told| told.checked_add(self.errored())?.checked_add(self.errors));
        self.ran.is_some() && told >= self.ran
    }

    fn report(self) -> Result<Parsed> {
        self.alone()
    }
}

impl Part for GTest {
    const FORMAT: &'static Format = &FORMAT;
    const IS_COMPILED: bool = true;

    fn told(mut self) -> Result<(Summary, Names)> {
        self.next()?;
        Ok(self.before)
    }
}

impl TextRun for GTest {
    const TOOL: &'static str = "GoogleTest";

    fn is_whole(line: &str) -> bool {
        let end = line.trim_start();
        matches!(marked(line), Some(("PASSED", rest)) if rest.ends_with(['.', ')']))
            || counted(end).is_some_and(|(_, word)| matches!(word, "FAILED TESTS" | "FAILED TEST(S)"))
            || end.strip_prefix("YOU HAVE ").is_some_and(|rest| rest.ends_with(" DISABLED TESTS"))
    }
}

impl GTest {
    /// Whether what fails may be told now. `--gtest_brief=1` does not say that a test runs.
    fn may_fail(&self) -> bool {
        self.running || self.announced.is_none()
    }

    /// Whether the summary of a run is there that nothing announced, so that nothing will announce the next one.
    fn is_brief_and_done(&self) -> bool {
        self.announced.is_none() && self.is_done()
    }

    /// A line below such a summary: the rest of it, or the first test of the next run that is told.
    fn below_brief(&mut self, mark: &str, rest: &str) -> Result<()> {
        // What looks like another total was printed by a test of the next run.
        if mark != "SKIPPED" && number(rest).is_some_and(|number| number != Some(0)) {
            return Ok(());
        }
        if !rest.ends_with(" ms)") {
            return self.total(mark, rest);
        }
        self.next()?;
        self.result(mark, rest);
        Ok(())
    }

    /// Adds the run to those before.
    fn next(&mut self) -> Result<()> {
        let (mut sum, mut names) = std::mem::take(&mut self.before);
        sum.merge(&self.summary()?)?;
        names.merge(std::mem::take(&mut self.names));
        *self = GTest { before: (sum, names), ..GTest::default() };
        Ok(())
    }

    /// `Running 10 tests from 5 test suites.` and `10 tests from 5 test suites ran. (0 ms total)`.
    fn frame(&mut self, rest: &str) -> Result<()> {
        if let Some(announced) = running(rest) {
            if self.announced.is_none() {
                self.announced = Some(announced.ok_or_else(too_large)?);
            }
        } else if let Some(ran) = ran(rest) {
            let ran = ran.ok_or_else(too_large)?;
            // What no test closes failed outside of all: `--gtest_brief=1` counts it nowhere.
            let has_failed_outside = self.announced.is_none() && self.message.take().is_some();
            if self.is_brief_and_done() {
                self.next()?;
            }
            // Another number was printed by a test that tests a test program. A group of cmocka may not begin.
            if self.announced.is_none_or(|announced| announced == ran || ran == 0) {
                (self.ran, self.passed) = (Some(ran), None);
                (self.skipped, self.failed, self.disabled) = (0, 0, 0);
                (self.failed_suites, self.failed_or_errored) = (u64::from(has_failed_outside), 0);
                (self.errors, self.has_failed) = (0, false);
            }
        }
        Ok(())
    }

    /// `5 tests.` behind PASSED, `2 tests, listed below:` behind others, and the names of such lists.
    fn total(&mut self, mark: &str, rest: &str) -> Result<()> {
        if let Some((errors, "error, listed below:" | "errors, listed below:")) =
            counted(rest).filter(|_| mark == "ERROR")
        {
            self.errors = errors.ok_or_else(too_large)?;
            return Ok(());
        }
        let Some(number) = number(rest) else {
            if mark == "FAILED" && rest.ends_with(": SetUpTestSuite or TearDownTestSuite") {
                self.names.unit(rest.split(':').next().unwrap_or(rest));
            }
            return Ok(());
        };
        let number = number.ok_or_else(too_large)?;
        match mark {
            "PASSED" => self.passed = Some(number),
            "SKIPPED" => self.skipped = number,
            "FAILED" => (self.failed, self.has_failed) = (number, true),
            _ => {}
        }
        Ok(())
    }

    /// `Cart.Fails (0 ms)` behind OK, FAILED, SKIPPED, while tests run.
    fn result(&mut self, mark: &str, rest: &str) {
        let outcome = match mark {
            "RUN" => {
                (self.running, self.message) = (true, None);
                return;
            }
            "OK" => Outcome::Passed,
            // The fixture of a group, which ERROR names.
            "FAILED" if rest.starts_with("GROUP ") => return,
            // Printed by a test.
            "FAILED" | "SKIPPED" if number(rest).is_some() => return,
            "FAILED" => Outcome::Failed,
            "SKIPPED" => Outcome::Skipped,
            "ERROR" if rest.ends_with(" ms)") => Outcome::Errored,
            "ERROR" if !rest.starts_with("--- ") => return self.names.unit(rest),
            "ERROR" => {
                self.message = self.message.take().or_else(|| rest.strip_prefix("--- ").map(str::to_owned));
                return;
            }
            _ => return,
        };
        self.running = false;
        let (name, time) = match rest.strip_suffix(" ms)").and_then(|rest| rest.rsplit_once(" (")) {
            Some((name, time)) => (name, milliseconds(time).map(|thousandths| thousandths / 1000)),
            None => (rest, None),
        };
        let name = name.split(", where ").next().unwrap_or(name);
        let id = match name.split_once('.').filter(|_| !name.contains(" @ ")) {
            Some((suite, test)) => format!("{suite}::{test}"),
            None => name.to_owned(),
        };
        let message = self.message.take();
        if let Some(case) = self.names.set(&printable(&id, super::LONGEST_ID), outcome) {
            case.duration_ms = time;
            case.message = message.filter(|_| outcome == Outcome::Failed).as_deref().and_then(first_lines);
        }
    }

    /// ` 1 FAILED TEST SUITE`, `  YOU HAVE 1 DISABLED TEST`, and cmocka's ` 2 FAILED TEST(S)`.
    fn below(&mut self, text: &str) -> Result<()> {
        let text = text.trim_start();
        let is_disabled = text.starts_with("YOU HAVE ");
        let Some((number, word)) = counted(text.strip_prefix("YOU HAVE ").unwrap_or(text)) else { return Ok(()) };
        let slot = match word {
            "FAILED TEST SUITE" | "FAILED TEST SUITES" => &mut self.failed_suites,
            "DISABLED TEST" | "DISABLED TESTS" if is_disabled => &mut self.disabled,
            "FAILED TEST(S)" => &mut self.failed_or_errored,
            _ => return Ok(()),
        };
        *slot = number.ok_or_else(too_large)?;
        Ok(())
    }

    /// As `--gtest_brief=1` has no number of what failed, it is what is left, if the lines of tests name as many.
    fn failed(&self) -> u64 {
        let is_brief = self.announced.is_none() && self.failed == 0 && self.failed_or_errored == 0;
        let left =
            self.ran.zip(self.passed).and_then(|(ran, passed)| ran.checked_sub(passed)?.checked_sub(self.skipped));
        let named = || self.names.cases.values().filter(|case| case.outcome == Outcome::Failed).count();
        left.filter(|left| is_brief && u64::try_from(named()).is_ok_and(|named| named >= *left)).unwrap_or(self.failed)
    }

    /// cmocka's tests whose fixture failed.
    fn errored(&self) -> u64 {
        self.failed_or_errored.saturating_sub(self.failed)
    }

    fn summary(&self) -> Result<Summary> {
        if self.errors > 0 {
            return Ok(self.summary_of_busted());
        }
        let errored = self.errored();
        // A group of cmocka that could not begin has no tests.
        let groups = self.names.unit_count().saturating_sub(errored);
        // What failed outside of all tests and suites is an environment.
        let environments = u64::from(self.has_failed && self.failed == 0 && errored == 0 && groups == 0);
        let suites = if self.failed_suites > 0 { self.failed_suites } else { groups + environments };
        let units = add(errored, suites)?;
        Ok(Summary {
            passed: self.passed.unwrap_or_default(),
            failed: self.failed(),
            errored: units,
            skipped: add(self.skipped, self.disabled)?,
            unit_failures: units,
            ..Summary::default()
        })
    }

    /// Of its errors, those that are no test's are of a `setup` or a file.
    fn summary_of_busted(&self) -> Summary {
        let (passed, failed, skipped) = (self.passed.unwrap_or_default(), self.failed, self.skipped);
        let others = [passed, failed, skipped].into_iter().fold(self.ran.unwrap_or_default(), u64::saturating_sub);
        let unit_failures = self.errors.saturating_sub(others);
        Summary { passed, failed, errored: self.errors, skipped, unit_failures, ..Summary::default() }
    }
}

/// Mark and rest of `[  PASSED  ] 5 tests.`
fn marked(line: &str) -> Option<(&str, &str)> {
    let (mark, rest) = line.strip_prefix('[')?.split_once("] ")?;
    (mark.len() == 10).then(|| (mark.trim(), rest))
}

/// `10` of `Running 10 tests from 5 test suites.`, `Running 4 test(s).`, `tests: Running 4 test(s).`
/// `Some(None)` if the number is too large.
fn running(rest: &str) -> Option<Option<u64>> {
    let rest = rest.split_once("Running ").filter(|(name, _)| name.is_empty() || name.ends_with(": "))?.1;
    number(rest)
}

/// `10` of `10 tests from 5 test suites ran. (0 ms total)`, `4 test(s) run.`, `tests: 4 test(s) run.`
/// `Some(None)` if the number is too large.
fn ran(rest: &str) -> Option<Option<u64>> {
    let is_end = rest.contains(" ran.") || rest.ends_with(" run.");
    let rest = rest.rsplit_once(": ").map_or(rest, |(_, rest)| rest);
    number(rest).filter(|_| is_end)
}

/// `10` of `10 tests from 5 test suites`, `1 test.`, `4 test(s) run.`
/// `Some(None)` if the number is too large.
fn number(text: &str) -> Option<Option<u64>> {
    let (number, rest) = counted(text)?;
    let rest = rest.strip_prefix("test(s)").or_else(|| rest.strip_prefix("tests")).or(rest.strip_prefix("test"))?;
    rest.starts_with([' ', '.', ',']).then_some(number)
}

fn too_large() -> Error {
    Error::report(Reject::Malformed, "a number of the test summary is too large")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::input::Input;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    const RUN: &str = "Running main() from gtest_main.cc\n[==========] Running 5 tests from 2 test suites.\n\
                       [----------] Global test environment set-up.\n[----------] 4 tests from Cart\n[ RUN      ] Cart.Adds\n\
                       [==========] 99 tests from 1 test suite ran. (0 ms total)\n[  PASSED  ] 99 tests.\n\
                       [       OK ] Cart.Adds (12 ms)\n[ RUN      ] Cart.Fails\ngt.cpp:4: Failure\nExpected equality\n  2\n\
                       [  FAILED  ] Cart.Fails (0 ms)\n[ RUN      ] Cart.Skips\n[  SKIPPED ] Cart.Skips (0 ms)\n\
                       [ RUN      ] N/P.Even/0\n[  FAILED  ] N/P.Even/0, where GetParam() = 3 (0 ms)\n[ RUN      ] Db.A\n\
                       [       OK ] Db.A (0 ms)\n\n";
    const END: &str = "[==========] 5 tests from 2 test suites ran. (14 ms total)\n[  PASSED  ] 2 tests.\n\
                       [  SKIPPED ] 1 test, listed below:\n[  SKIPPED ] Cart.Skips\n[  FAILED  ] 2 tests, listed below:\n\
                       [  FAILED  ] Cart.Fails\n[  FAILED  ] N/P.Even/0, where GetParam() = 3\n\n 2 FAILED TESTS\n\
                       [  FAILED  ] Db: SetUpTestSuite or TearDownTestSuite\n\n 1 FAILED TEST SUITE\n  YOU HAVE 3 DISABLED TESTS\n\n";

    fn read(text: &str) -> Result<Parsed> {
        (FORMAT.parse)(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn a_brief_run_tells_what_failed_by_its_tests() {
        let brief = "[  FAILED  ] Math.Fails (0 ms)\n[  FAILED  ] Math.Throws (0 ms)\n\
                     [==========] 6 tests from 2 test suites ran. (0 ms total)\n[  PASSED  ] 3 tests.\n[  SKIPPED ] 1 test.\n";
        let read = |text: &str| (FORMAT.parse)(&Input::bytes("x", text.as_bytes()));
        assert_eq!(counts(&read(brief).unwrap()), [6, 3, 2, 0, 1]);
        let cut = brief.split_once("[  SKIPPED ").unwrap().0;
        assert_eq!(read(cut).unwrap_err().reject(), Some(Reject::NoResult));
        let passed = "[==========] 2 tests from 1 test suite ran. (0 ms total)\n[  PASSED  ] 2 tests.\n";
        let printed = "[  FAILED  ] 5 tests, listed below:\n[  PASSED  ] 3 tests.\n";
        assert_eq!(counts(&read(&format!("{passed}{printed}{brief}{passed}")).unwrap()), [10, 7, 2, 0, 1]);
        assert_eq!(counts(&read(&format!("{printed}{brief}{printed}{brief}")).unwrap()), [12, 6, 4, 0, 2]);
        assert_eq!(read(&format!("{brief}{cut}")).unwrap_err().reject(), Some(Reject::NoResult));
        // Of a suite's set-up, say: no test closes it.
        let failure = "a.cpp:3: Failure\nFailed\ntd\n";
        assert_eq!(counts(&read(&format!("{failure}{passed}{passed}")).unwrap()), [5, 4, 0, 1, 0]);
        assert_eq!(counts(&read(&format!("{passed}{failure}{passed}")).unwrap()), [5, 4, 0, 1, 0]);
        let parsed = read(&format!("{passed}{failure}{brief}")).unwrap();
        assert_eq!(counts(&parsed), [8, 5, 2, 0, 1]);
        assert_eq!(details(&parsed).cases.cases["Math::Fails"].message.as_deref(), Some("Failed"));
    }

    #[test]
    fn summaries_add_up() {
        let parsed = read(&format!("{RUN}{END}")).unwrap();
        assert_eq!((counts(&parsed), details(&parsed).failed_units), ([9, 2, 2, 1, 4], vec!["Db".to_owned()]));
        assert_eq!(counts(&read(&format!("{RUN}{END}").repeat(2)).unwrap()), [18, 4, 4, 2, 8]);
        let plain = "[==========] Running 1 test from 1 test case.\n[==========] 1 test from 1 test case ran.\n[  PASSED  ] 1 test.";
        assert_eq!(counts(&read(plain).unwrap()), [1, 1, 0, 0, 0]);
    }

    #[test]
    fn an_environment_that_failed_is_one_errored() {
        let text = "[==========] Running 1 test from 1 test suite.\n[ RUN      ] A.Ok\n[       OK ] A.Ok (0 ms)\n\n\
                    gt.cc:11: Failure\nFailed\n[==========] 1 test from 1 test suite ran. (0 ms total)\n[  PASSED  ] 1 test.\n\
                    [  FAILED  ] 0 tests, listed below:\n\n 0 FAILED TESTS\n";
        assert_eq!(counts(&read(text).unwrap()), [2, 1, 0, 1, 0]);
        let suite = "[  FAILED  ] A: SetUpTestSuite or TearDownTestSuite\n\n 1 FAILED TEST SUITE\n";
        assert_eq!(counts(&read(&format!("{text}{suite}")).unwrap()), [2, 1, 0, 1, 0]);
    }

    #[test]
    fn tests_have_names_times_and_messages() {
        let details = details(&read(&format!("{RUN}{END}")).unwrap());
        let case = &details.cases.cases["Cart::Fails"];
        assert_eq!((case.outcome, case.message.as_deref()), (Outcome::Failed, Some("Expected equality")));
        assert_eq!(details.cases.cases["Cart::Adds"].duration_ms, Some(12));
        assert_eq!((details.cases.outcome("N/P::Even/0"), details.dropped), (Some(Outcome::Failed), 3));
    }

    #[test]
    fn cmocka_tells_broken_fixtures_apart() {
        let group = "[==========] cart: Running 3 test(s).\n[ RUN      ] adds\n[       OK ] adds\n[ RUN      ] fails\n\
                     [  ERROR   ] --- 0x1 != 0x2\n[   LINE   ] --- cm.c:5: error: Failure!\n[  FAILED  ] fails\n[ RUN      ] bad\n\
                     Could not run test: Test setup failed\n[  ERROR   ] bad\n[==========] cart: 3 test(s) run.\n\
                     [  PASSED  ] 1 test(s).\n[  FAILED  ] 1 test(s), listed below:\n[  FAILED  ] fails\n\n 2 FAILED TEST(S)\n";
        let broken = "[==========] Running 1 test(s).\n[  FAILED  ] GROUP SETUP\n[  ERROR   ] other\n\
                      [==========] 0 test(s) run.\n[  PASSED  ] 0 test(s).\n";
        let parsed = read(&format!("{group}{broken}")).unwrap();
        assert_eq!(
            (counts(&parsed), details(&parsed).failed_units),
            ([4, 1, 1, 2, 0], vec!["bad".into(), "other".into()])
        );
        assert_eq!(details(&parsed).cases.cases["fails"].message.as_deref(), Some("0x1 != 0x2"));
    }

    #[test]
    fn a_run_without_its_summary_is_no_result() {
        let (cut, _) = END.split_once("[  FAILED  ] 2").unwrap();
        for text in [RUN, "", &format!("{RUN}{cut}"), &format!("{RUN}{RUN}{END}"), &format!("{RUN}{END}{RUN}")] {
            assert_eq!(read(text).unwrap_err().reject(), Some(Reject::NoResult), "{text}");
        }
        let inside = format!("{RUN}{}", END.trim_end().trim_end_matches('S'));
        assert_eq!(read(&inside).unwrap_err().reject(), Some(Reject::Malformed));
        assert_eq!(
            read(&RUN.replace(" 5 tests", " 18446744073709551616 tests")).unwrap_err().reject(),
            Some(Reject::Malformed)
        );
    }

    #[test]
    fn it_is_told_by_its_marks() {
        for text in [RUN, END] {
            assert!(matches!(sniffed(&FORMAT, text), Sniff::Sure(_)), "{text}");
        }
        for none in ["[  PASSED  ] all\n", "[PASSED] 5 tests.\n", "Running 5 tests\n"] {
            assert_eq!(sniffed(&FORMAT, none), Sniff::No, "{none}");
        }
    }

    #[test]
    fn busted_tells_errors_apart() {
        let text = "[==========] Running tests from scanned files.\n[ RUN      ] a_spec.lua @ 1: a ok\n\
                    [       OK ] a_spec.lua @ 1: a ok (0.03 ms)\n[ RUN      ] a_spec.lua @ 1: a err\na_spec.lua:1: x\n\
                    [  ERROR   ] a_spec.lua @ 1: a err (0.06 ms)\n[ SKIPPED  ] a_spec.lua @ 1: a later (0.01 ms)\n\n\
                    [==========] 3 tests from 1 test file ran. (0.93 ms total)\n[  PASSED  ] 1 test.\n\
                    [ SKIPPED  ] 1 test, listed below:\n[ SKIPPED  ] a_spec.lua @ 1: a later\n[  ERROR   ] 2 errors, listed below:\n\
                    [  ERROR   ] a_spec.lua @ 1: a err\n[  ERROR   ] a_spec.lua @ 2: b setup\n\n 1 SKIPPED TEST\n 2 ERRORS\n";
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        assert_eq!((parsed.format.name, counts(&parsed)), ("gtest-text", [4, 1, 0, 2, 1]));
        let details = details(&parsed);
        assert_eq!(
            (details.unit_failures, details.cases.outcome("a_spec.lua @ 1: a err")),
            (1, Some(Outcome::Errored))
        );
    }
}
