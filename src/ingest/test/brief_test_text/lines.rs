//! How each runner sums up, as [`patterns`] of lines.
//!
//! Numbers: `p` passed, `f` failed, `e` errored, `s` skipped, `a` all tests, `r` all but those skipped, `n` all but those
//! errored, `b` all but both, `c` all tests, of which each stands in another number, `_` of no meaning here; `@P`, `@F`, `@E` and `@S` are one such test without a number.

use std::sync::LazyLock;

use crate::ingest::patterns::{self, Index, Numbers, indented};
use crate::ingest::test::text_report::Summary;
use crate::ingest::values::whole;

/// A runner, and its summary of one line.
pub(super) type Lines = LazyLock<Index<(&'static str, &'static str)>>;

fn by_pattern(lines: &'static [(&'static str, &'static str)]) -> Index<(&'static str, &'static str)> {
    Index::of(lines, |(_, pattern)| pattern)
}

/// Several add up.
pub(super) static LINES: Lines = Lines::new(|| {
    by_pattern(&[
        (
            "Pest",
            "Tests:{ @f failed}{,}{ @e errors}{,}{ @p warning{s}}{,}{ @p deprecated}{,}{ @p risky}{,}{ @s incomplete}{,}\
         { @p notice{s}}{,}{ @s todo{s}}{,}{ @s skipped}{,}{ @p passed}{,}{ @s pending}{ (@_ assertion{s})}",
        ),
        ("snforge", "Tests: @p passed, @f failed, @s {skipped}{ignored}{, @s ignored}, @_ filtered out"),
        ("bats", "@a test{s}, @f failure{s}{, @s skipped}{, @e not run}{ in @_ seconds}"),
        ("JUnit 4", "OK (@p test{s})"),
        (
            "Pester",
            "Tests Passed: @p, Failed: @f, Skipped: @s{,} {Pending: @s, }{Inconclusive: @s, }{Inconclusive: @s}\
         {Total: @_, }{NotRun: @_}",
        ),
        ("Pester", "Container failed: @e"),
        ("EUnit", " Failed: @f. Skipped: @s. Passed: @p."),
        ("EUnit", " All @p tests passed."),
        ("EUnit", " Test passed.@P"),
        ("EUnit", " 2 tests passed.@P@P"),
        (
            "Bazel",
            "Executed @_ out of @_ test{s}:{ @p test{s} pass{es}}{,}{ and}{ @e fail{s} to build}{,}{ and}{ @f fail{s} locally}\
         {,}{ and}{ @f fail{s} remotely}{,}{ and}{ @s {was}{were} skipped}.",
        ),
        ("tasty", "All @p tests passed (@*"),
        ("tasty", "@f out of @a tests failed (@*"),
        ("HUnit", "Cases: @a Tried: @_ Errors: @e Failures: @f"),
        ("OUnit", "FAILED: Cases: @a Tried: @_ Errors: @e Failures: @f Skip: @s Todo: @f Timeouts: @f."),
        ("OUnit", "OK: Cases: @a Skip: @s{ Todo: @s}"),
        ("CppUnit", "Run: @a {Failure total: @_ }Failures: @f Errors: @e"),
        ("stestr", "The following tests exited without returning a status@E"),
        ("lab", "The following leaks were detected: @*@E"),
        ("Automake", ":test-result: PASS{ @*}@P"),
        ("Automake", ":test-result: {FAIL}{XPASS}{ @*}@F"),
        ("Automake", ":test-result: {SKIP}{XFAIL}{ @*}@S"),
        ("Automake", ":test-result: ERROR{ @*}@E"),
        ("Alcotest", "Test Successful in @_s. @p test{s} run."),
        ("Alcotest", "@f failure{s}! in @_s. @a test{s} run."),
        (
            "LuaUnit",
            "Ran @r tests in @_ seconds, @p success{es}, @f failure{s}{, @e error{s}}{, @s skipped}{, @_ non-selected}",
        ),
        (
            "zope.testrunner",
            " Ran @a tests with @f failure{s}{,}{ and} @e error{s}{ and @s skipped}{, @s skipped} in @*",
        ),
        ("CodeceptJS", " OK | @p passed{, @s skipped} // @*"),
        ("CodeceptJS", " FAIL | @p passed{, @f failed}{, @_ failedHooks}{, @s skipped} // @*"),
        ("phpspec", "@a example{s} ({@p passed}{, }{@s pending}{, }{@s skipped}{, }{@f failed}{, }{@e broken})"),
        ("Check", "@_%: Checks: @a, Failures: @f, Errors: @e"),
        ("Criterion", "[====] Synthesis: Tested: @a | Passing: @p | Failing: @f | Crashing: @_"),
        ("CppUTest", "OK (@_ tests, @r ran, @_ checks, @s ignored, @_ filtered out, @_ ms)"),
        ("CppUTest", "Errors (@f failures, @_ tests, @r ran, @_ checks, @s ignored, @_ filtered out, @_ ms)"),
        ("CUnit", " suites @_ @_ n/a @e @_"),
        ("CUnit", " tests @_ @_ @p @f @s"),
        ("Unity", "@a Tests @f Failures @s Ignored"),
        ("MSTest", "@p/@a test(s) Passed{, @f Failed}{, @e Error}{, @e Timeout}{, @s Inconclusive}{, @s Not Executed}"),
        ("RackUnit", "@p success(es) @f failure(s) @e error(s) @a test(s) run"),
        ("ZIO Test", "@p tests passed. @f tests failed. @s tests ignored.{ @*}"),
        ("Nette Tester", "OK (@a test{s}{, @s skipped}, @_ seconds)"),
        ("Nette Tester", "FAILURES! (@a test{s}, @f failure{s}{, @s skipped}, @_ seconds)"),
        ("Karate", "scenarios: @_ | passed: @p | failed: @f"),
        // Of files; what is left out in them is told where there is something.
        ("poku", " PASS › @p FAIL › @f{ SKIP › @_}{ TODO › @_}"),
        ("Dredd", "complete: @p passing, @f failing, @e errors, @s skipped, @_ total"),
        ("Schemathesis", "@a generated, @f found @_ unique failure{s}{, @e errored}{, @s skipped}"),
        ("Schemathesis", "@a generated, @_ passed{, @e errored}{, @s skipped}"),
        ("UnitTest++", "FAILURE: @f out of @a tests failed (@_ failure{s})."),
        ("UnitTest++", "Success: @p test{s} passed."),
        ("terraform test", "Success! @p passed, @f failed{, @s skipped}."),
        ("terraform test", "Failure! @p passed, @f failed{, @s skipped}."),
        ("nf-test", "SUCCESS: Executed @p test{s} in @*"),
        ("nf-test", "FAILURE: Executed @a test{s} in @_s (@f failed)"),
        ("Move", "Test result: {OK}{FAILED}. Total tests: @a; passed: @p; failed: @f"),
        ("V", "Summary for all V _test.v files:{ @f failed}{,}{ @s skipped}{,}{ @p passed}, @a total.@*"),
        ("MoonBit", "Total tests: @a, passed: @p, failed: @f.{ [@*}"),
        (
            "Buck2",
            "Tests finished: Pass @p. Fail @f.{ Timeout @f.}{ Fatal @e.}{ Skip @s.}{ Omit @s.}{ Infra Failure @e.}{ Build failure @e}",
        ),
        ("Avocado", "RESULTS : PASS @p | ERROR @e | FAIL @f | SKIP @s | WARN @p | INTERRUPT @e | CANCEL @s"),
        (
            "jasmine-spec-reporter",
            "Executed @b of @_ spec{s}{ INCOMPLETE}{ SUCCESS}{ (@e ERROR{S})}{ (@f FAILED)}{ (@s PENDING)}{ (@s SKIPPED)} in @*",
        ),
        ("ERT", "Ran @a test{s}, @p result{s} as expected{, @f unexpected}{, @s skipped} (@*"),
        ("tcltest", "Test file error: @*@E"),
        ("cocotb", " ** TESTS=@a PASS=@p FAIL=@f SKIP=@s @*"),
        ("slash", "= Session ended. @p successful, @s skipped, @f failed, @e erroneous.{ @s not run.} @*"),
        ("D's unittest", "@p module{s} passed unittests"),
        ("D's unittest", "@f/@a module{s} FAILED unittests"),
        ("plunit", "% one test is blocked:@S"),
        ("plunit", "% @s tests are blocked:"),
        ("plunit", "% @f test{s} failed"),
        ("plunit", "% {All }@p test{s} passed"),
        ("plunit", "% test passed@P"),
        ("dbt", "@_:@_:@_ Done. PASS=@p WARN=@p ERROR=@f SKIP=@s{ NO-OP=@s} TOTAL=@_"),
        ("cram", "# Ran @a test{s}, @s skipped, @f failed."),
        ("tap-diff", "passed: @p failed: @f of @_ tests (@*"),
        ("Vader", "Success/Total: @p/@a (assertions: @_/@_)"),
        ("tinytest", "All ok, @p result{s} (@*"),
        ("tinytest", "Showing @_ out of @a result{s}: @f fail{s}, @p pass{es} (@*"),
        ("CxxTest", "Failed @f and Skipped @s of @a test{s}"),
        ("mamba", "@p example{s} ran in @_ second{s}"),
        ("mamba", "@f example{s} failed of @a ran in @_ second{s}"),
        ("jasmine-reporters", "{FAILURE}{SUCCESS}: @a spec{s}, @f failure{s}, @s skipped, @_ disabled in @_s."),
    ])
});

/// What node-tap paints again and again while it runs, without the marks of no width that stand in it up to 16.
pub(super) static OF_NODE_TAP: Lines = Lines::new(|| {
    by_pattern(&[
        ("node-tap", "Asserts: @p pass @f fail{ @s skip}{ @s todo} @_ of @_ complete"),
        ("node-tap", "Asserts: {@f failed, }{@p passed, }{@s todo, }{@s skip, }of @a"),
        ("node-tap", "Asserts: @_ of @a"),
    ])
});

/// Of a suite of Ginkgo's. Where the run ended for several reasons at once, the counts have a line of their own.
pub(super) static OF_SUITES: Lines = Lines::new(|| {
    by_pattern(&[
        (
            "Ginkgo",
            "{{SUCCESS!}{FAIL!} -- }@p Passed | @f Failed | {@_ Flaked | }{@_ Repeated | }@s Pending | @s Skipped",
        ),
        ("Ginkgo", "FAIL! -- A BeforeSuite node failed so all tests were skipped.@E"),
    ])
});

/// What xUnit.net says behind the name of each assembly.
pub(super) static OF_ASSEMBLIES: Lines = Lines::new(|| {
    by_pattern(&[("xUnit.net", "Total: @n, Errors: @e, Failed: @f, Skipped: @s,{ Not Run: @s,} Time: @*")])
});

/// The line behind such a name: `   Shop.Tests  Total: 7, Errors: 0, …`.
pub(super) fn of_assembly(text: &str) -> Option<&str> {
    let (_, rest) = text.trim_start().split_once(' ')?;
    Some(rest.trim_start()).filter(|rest| rest.starts_with("Total: "))
}

/// What Common Test says behind the name of what it ran.
pub(super) static OF_COMMON_TEST: Lines = Lines::new(|| {
    by_pattern(&[
        ("Common Test", "TEST COMPLETE, @p ok, @f failed{, @s skipped} of @a test case{s}"),
        ("Common Test", "*** FAILED @*@E"),
    ])
});

/// The end of `Testing lib.demo: TEST COMPLETE, 3 ok, 5 failed, 4 skipped of 12 test cases`, and of
/// `Testing lib.demo: *** FAILED {cart_SUITE,init_per_suite} ***`: what all tests of a suite or group need.
pub(super) fn of_common_test(text: &str) -> Option<&str> {
    let (_, told) = text.strip_prefix("Testing ")?.split_once(": ")?;
    let is_fixture = told.starts_with("*** FAILED {") && told.ends_with("} ***");
    (is_fixture || told.starts_with("TEST COMPLETE, ")).then_some(told)
}

/// What tcltest says behind the name of each file, or of the script that runs them all.
pub(super) static OF_TCL: Lines =
    Lines::new(|| by_pattern(&[("tcltest", "Total\t@a\tPassed\t@_\tSkipped\t@s\tFailed\t@f")]));

/// The line behind such a name: `cart.test: Total 4 Passed 1 …`, with tabs between them.
pub(super) fn of_tcl(text: &str) -> Option<&str> {
    let (name, told) = text.split_once('\t')?;
    (name.ends_with(':') && told.starts_with("Total\t")).then_some(told)
}

/// JUnit 3's `Tests run: 4,  Failures: 1,  Errors: 1`, and JUnit 4's `Tests run: 0,  Failures: 1` where fixtures of classes
/// failed, or a test and its clean-up: they are failures that no test is left for. `classes` is how many failures bear the
/// name of a class.
pub(super) fn of_junit(text: &str, classes: u64) -> Option<(&'static str, Summary)> {
    let mut parts = text.strip_prefix("Tests run: ")?.split(',').map(str::trim_start);
    let all = whole(parts.next()?)?;
    let told = whole(parts.next()?.strip_prefix("Failures: ")?)?;
    let (tool, errors, classes) = match parts.next() {
        // Maven and Ant speak alike, but for the blanks.
        Some(errors) if text.contains(",  E") => ("JUnit 3", whole(errors.strip_prefix("Errors: ")?)?, 0),
        Some(_) => return None,
        None => ("JUnit 4", 0, classes),
    };
    let failed = told.saturating_sub(classes).min(all);
    let unit_failures = told - failed;
    let errored = errors.checked_add(unit_failures)?;
    let passed = all.saturating_sub(failed).saturating_sub(errors);
    parts.next().is_none().then_some((tool, Summary { passed, failed, errored, unit_failures, ..Summary::default() }))
}

/// Whether it is the heading of a failure of JUnit 4's that bears the name of a class, `4) org.shop.CartTest`, where that of a
/// test has the class in brackets.
pub(super) fn is_class_of_junit(text: &str) -> bool {
    let is_numbered = text.starts_with(|c: char| c.is_ascii_digit());
    let heading = is_numbered.then(|| text.split_once(") ")).flatten();
    let name = heading.and_then(|(number, name)| whole(number).map(|_| name));
    name.is_some_and(|name| {
        let is_part = |part: &str| part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_$".contains(&byte));
        name.rsplit('.').next().is_some_and(|class| class.starts_with(|c: char| c.is_ascii_uppercase()))
            && name.split('.').all(is_part)
    })
}

/// A line of DejaGnu's summary, and of SRFI 64's in its manner: `# of expected passes\t\t5`. They add up.
pub(super) fn of_dejagnu(text: &str) -> Option<(&'static str, Summary)> {
    let (name, number) = text.strip_prefix("# of ")?.rsplit_once([' ', '\t'])?;
    let number = whole(number)?;
    let mut summary = Summary::default();
    let slot = match name.trim_end() {
        "expected passes" => &mut summary.passed,
        // For these runtest fails, too.
        "unexpected failures" | "unexpected successes" | "unknown successes" => &mut summary.failed,
        "unresolved testcases" => &mut summary.errored,
        "expected failures" | "known failures" | "untested testcases" | "unsupported tests" | "skipped tests" => {
            &mut summary.skipped
        }
        _ => return None,
    };
    *slot = number;
    Some(("DejaGnu", summary))
}

/// Buttercup's `Ran 6 specs, 2 failed, in 49.49ms.`, and `Ran 4 out of 6 specs, …` where the others are pending or left out.
pub(super) fn of_buttercup(text: &str) -> Option<(&'static str, Summary)> {
    let (specs, rest) = text.strip_prefix("Ran ")?.split_once(" specs, ")?;
    let (failed, _) = rest.strip_suffix("s.")?.split_once(" failed, in ")?;
    let (ran, all) = specs.split_once(" out of ").unwrap_or((specs, specs));
    let (ran, all, failed) = (whole(ran)?, whole(all)?, whole(failed)?);
    let (passed, skipped) = (ran.checked_sub(failed)?, all.checked_sub(ran)?);
    Some(("Buttercup", Summary { passed, failed, skipped, ..Summary::default() }))
}

/// CxxTest's `Running cxxtest tests (3 tests)...OK!`.
pub(super) fn of_cxxtest(text: &str) -> Option<(&'static str, Summary)> {
    let (tests, marks) = text.strip_prefix("Running cxxtest tests (")?.strip_suffix("OK!")?.split_once(" test")?;
    let is_whole = marks.trim_start_matches('s').strip_prefix(')')?.bytes().all(|mark| mark == b'.');
    is_whole.then_some(("CxxTest", Summary { passed: whole(tests)?, ..Summary::default() }))
}

/// Whether HUnit says how far it came: it writes that anew for each test.
pub(super) fn is_progress_of_hunit(text: &str) -> bool {
    let numbers = || {
        let (cases, rest) = text.strip_prefix("Cases: ")?.split_once(" Tried: ")?;
        Some((cases.trim(), rest.split(' ').next()?))
    };
    numbers().is_some_and(|(cases, tried)| cases != tried)
}

/// What Expecto says at the end of the line that its banner stands in.
pub(super) static OF_EXPECTO: Lines =
    Lines::new(|| by_pattern(&[("Expecto", "@p passed, @s ignored, @f failed, @e errored.{ @*}")]));

/// The end of `[12:00:00 INF] EXPECTO! 6 tests run in 00:00:00.08 for cart – 2 passed, …`.
pub(super) fn of_expecto(text: &str) -> Option<&str> {
    let (before, told) = text.split_once('!')?;
    let (_, told) = told.rsplit_once(" – ")?;
    before.ends_with("EXPECTO").then_some(told)
}

/// Likewise, of runners that sum up again and again: the last summary is the whole.
pub(super) static RUNNING: Lines = Lines::new(|| {
    by_pattern(&[
        ("Robot Framework", "@a {test}{task}{s}{ total}, @p passed, @f failed{, @s skipped}{.}"),
        ("testthat", "[ FAIL @f | WARN @_ | SKIP @s | PASS @p ]{ @*}"),
    ])
});

/// A runner, and its summary of several lines, in order. `?` stands before what may be missing.
static BLOCKS: LazyLock<Index<(&str, &[&str])>> = LazyLock::new(|| {
    Index::of(
        &[
            (
                "Meson",
                &["Ok: @p", "?Expected Fail: @s", "Fail: @f", "?Unexpected Pass: @f", "?Skipped: @s", "?Timeout: @f"],
            ),
            (
                "Automake",
                &["# TOTAL: @_", "# PASS: @p", "# SKIP: @s", "# XFAIL: @s", "# FAIL: @f", "# XPASS: @f", "# ERROR: @e"],
            ),
            (
                "JUnit",
                &[
                    "[ @e containers failed ]",
                    "[ @_ tests found ]",
                    "[ @s tests skipped ]",
                    "[ @_ tests started ]",
                    "[ @s tests aborted ]",
                    "[ @p tests successful ]",
                    "[ @f tests failed ]",
                ],
            ),
            (
                "stestr",
                &[
                    " - Passed: @p",
                    " - Skipped: @s",
                    " - Expected Fail: @s",
                    " - Unexpected Success: @f",
                    " - Failed: @f",
                ],
            ),
            // In the second line are methods that set up and take down. Of each test of a suite it may stand alone before.
            (
                "TestNG",
                &[
                    "Total tests run: @n,{ Passes: @_,} Failures: @f, Skips: @s",
                    "?Configuration Failures: @e, Skips: @_",
                ],
            ),
            ("uvu", &[" Total: @r", " Passed: @p", " Skipped: @s", " Duration: @*"]),
            ("tap-spec", &[" total: @_", " passing: @p", "? failing: @f", " duration: @*"]),
            ("tap-arc", &["total: @a", "passing: @_", "?failing: @f", "?skipped: @s", "?todo: @s"]),
            ("tap-summary", &["assertions: @a", "pass: @p", "fail: @f"]),
            (
                "NUnit",
                &[
                    "Test Count: @a, Passed: @p, Failed: @_, {Warnings: @p, }Inconclusive: @s, Skipped: @s",
                    "?Failed Tests - Failures: @f, Errors: @e, Invalid: @e",
                ],
            ),
            (
                "NUnit",
                &[
                    "Tests run: @r, Errors: @e, Failures: @f, Inconclusive: 0, Time: @*",
                    "Not run: @s, Invalid: @_, Ignored: @_, Skipped: @_",
                ],
            ),
            ("OUnit", &["Ran: @p tests in: @_ seconds.", "OK"]),
            ("doctest", &["@_ test{s} in @_ item{s}.", "@p passed{ and @f failed}{, @s skipped}."]),
            ("elm-test", &["Duration: @_ ms", "Passed: @p", "Failed: @f", "?Skipped: @s", "?Todo: @s"]),
            (
                "hurl",
                &[
                    "Executed files: @_",
                    "?Executed requests: @*",
                    "Succeeded files: @p (@*",
                    "Failed files: @f (@*",
                    "Duration: @*",
                ],
            ),
            (
                "lit",
                &[
                    "Total Discovered Tests: @c",
                    "?Excluded{ }: @s (@*",
                    "?Skipped{ }: @s (@*",
                    "?Unsupported{ }: @s (@*",
                    "?Passed{ }: @p (@*",
                    "?Passed With Retry{ }: @p (@*",
                    "?Expectedly Failed{ }: @s (@*",
                    "?Unresolved{ }: @e (@*",
                    "?Timed Out{ }: @f (@*",
                    "?Failed{ }: @f (@*",
                    "?Unexpectedly Passed{ }: @f (@*",
                ],
            ),
            (
                "Ward",
                &[
                    "│ @c Test{s} Encountered │",
                    "?│ @p Passes (@*",
                    "?│ @f Failures (@*",
                    "?│ @s Skips (@*",
                    "?│ @s Expected Failures (@*",
                    "?│ @f Unexpected Passes (@*",
                    "╰@*",
                ],
            ),
            ("VUnit", &["pass @p of @_", "?fail @f of @_", "=@*"]),
            ("VUnit", &["fail @f of @_", "=@*"]),
            (
                "Japa",
                &["Tests{ @p passed}{,}{ @f failed}{,}{ @s todo}{,}{ @s skipped}{,}{ @s regression} (@a)", " Time @*"],
            ),
            (
                "RUnit",
                &[
                    "Number of test functions: @r",
                    "?Number of deactivated test functions: @s",
                    "Number of errors: @e",
                    "Number of failures: @f",
                ],
            ),
            ("FiveAM", &[" Did @_ check{s}.", " Pass: @p (@*", " Skip: @s (@*", " Fail: @f (@*"]),
            (
                "bashunit",
                &[
                    "Tests:{ @p passed}{,}{ @s skipped}{,}{ @s incomplete}{,}{ @p snapshot}{,}{ @f failed}{,}{ @p risky}{,} @_ total",
                    "Assertions: @*",
                ],
            ),
            ("poku", &["PASS › @p", "FAIL › @f", "?SKIP › @_", "?TODO › @_"]),
            ("lab", &["@p tests complete{ (@s skipped)}", "Test duration: @*"]),
            ("lab", &["@f of @r tests failed{ (@s skipped)}", "Test duration: @*"]),
        ],
        |(_, lines)| lines.first().copied().unwrap_or_default(),
    )
});

/// The numbers of a summary, as they come.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    summary: Summary,
    all: Option<u64>,
    has_all_but_skipped: bool,
    has_all_but_errored: bool,
    is_complete: bool,
    has_passed: bool,
    told: usize,
}

impl Numbers for Counts {
    fn take(&mut self, kind: char, digits: &str) -> Option<()> {
        let number = if kind.is_uppercase() { 1 } else { whole(digits)? };
        self.told += 1;
        let slot = match kind {
            'p' | 'P' => {
                self.has_passed = true;
                &mut self.summary.passed
            }
            'f' | 'F' => &mut self.summary.failed,
            'e' | 'E' => &mut self.summary.errored,
            's' | 'S' => &mut self.summary.skipped,
            _ => {
                self.has_all_but_skipped = matches!(kind, 'r' | 'b');
                self.has_all_but_errored = matches!(kind, 'n' | 'b');
                self.is_complete = kind == 'c';
                self.all.get_or_insert_default()
            }
        };
        *slot = slot.checked_add(number)?;
        Some(())
    }
}

impl Counts {
    /// What is left of all tests passed, or, if those that passed are told, failed. `None` if it tells nothing, or of more
    /// tests than there are, or of less where each must be there.
    pub(super) fn summary(self) -> Option<Summary> {
        let Counts { mut summary, all, has_all_but_skipped, has_all_but_errored, is_complete, has_passed, told } = self;
        if let Some(all) = all {
            let skipped = if has_all_but_skipped { 0 } else { summary.skipped };
            let errored = if has_all_but_errored { 0 } else { summary.errored };
            let parts = [summary.passed, summary.failed, errored, skipped];
            let left = parts.into_iter().try_fold(all, u64::checked_sub)?;
            if is_complete && left > 0 {
                return None;
            }
            let slot = if has_passed { &mut summary.failed } else { &mut summary.passed };
            *slot = slot.checked_add(left)?;
        }
        (told > 0).then_some(summary)
    }
}

/// What a line tells by itself.
pub(super) fn summed_up(patterns: &Lines, text: &str) -> Option<(&'static str, Summary)> {
    patterns.like(text).find_map(|((tool, pattern), text)| {
        let mut counts = Counts::default();
        patterns::line(pattern, text, &mut counts).then(|| counts.summary())?.map(|summary| (*tool, summary))
    })
}

/// What `12 passed, 0 failed` tells, alone or behind a title as in `=== Results: 12 passed, 0 failed ===`.
pub(super) fn plain(text: &str) -> Option<Summary> {
    let text = text.trim_matches([' ', '=', '-', '*', '─', '═']);
    if !text.ends_with(['d', '.']) {
        return None;
    }
    let (title, told) = text.split_once(": ").unwrap_or(("", text));
    let mut counts = Counts::default();
    let is_plain = patterns::line("@p passed, @f failed{, @s skipped}{.}", told, &mut counts);
    let is_title = title.chars().all(|c| c.is_ascii_alphabetic() || c == ' ') && title.split(' ').count() <= 2;
    counts.summary().filter(|_| is_plain && is_title)
}

/// A summary of several lines that has begun.
#[derive(Debug)]
pub(super) struct Block {
    tool: &'static str,
    /// What may come yet.
    left: &'static [&'static str],
    counts: Counts,
}

impl Block {
    /// The one that begins with the line.
    pub(super) fn begun(text: &str) -> Option<Block> {
        BLOCKS.like(text).find_map(|((tool, lines), text)| {
            let (first, left) = lines.split_first()?;
            let mut counts = Counts::default();
            patterns::line(first, text, &mut counts).then_some(Block { tool, left, counts })
        })
    }

    /// Takes a line; `false` if it is none of the block's.
    pub(super) fn line(&mut self, text: &str) -> bool {
        while let Some((pattern, left)) = self.left.split_first() {
            let may_be_missing = pattern.starts_with('?');
            let pattern = pattern.trim_start_matches('?');
            if patterns::line(pattern, indented(pattern, text), &mut self.counts) {
                self.left = left;
                return true;
            }
            if !may_be_missing {
                return false;
            }
            self.left = left;
        }
        false
    }

    /// Whether nothing can come any more.
    pub(super) fn is_whole(&self) -> bool {
        self.left.is_empty()
    }

    /// What it told, if each test stands in it, so that nothing can have been cut off.
    pub(super) fn accounted(self) -> Option<(&'static str, Summary)> {
        let is_complete = self.counts.is_complete;
        self.told().filter(|_| is_complete)
    }

    /// What it told, if nothing is missing.
    pub(super) fn told(self) -> Option<(&'static str, Summary)> {
        let is_whole = self.left.iter().all(|pattern| pattern.starts_with('?'));
        let summary = self.counts.summary().filter(|_| is_whole)?;
        Some((self.tool, summary))
    }
}
