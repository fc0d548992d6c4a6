//! `brief-test-text`: the summaries of test runners that say in one line, or in a few below each other, how many tests passed,
//! every one in words of its own. The runners' own output was captured where they could be had; the rest is written after
//! their sources.
//!
//! Only numbers are told, no names. Robot Framework and testthat print running sums, and node-tap paints its sum anew: there
//! the last one is the whole.

use self::autotest::Autotest;
use self::criterion::Criterion;
use self::doctest::Doctest;
use self::dune::Dune;
use self::eunit::Eunit;
use self::ginkgo::Ginkgo;
use self::japa::Japa;
use self::jest_reporters::JestReporters;
use self::lines::{
    Block, LINES, OF_ASSEMBLIES, OF_COMMON_TEST, OF_EXPECTO, OF_TCL, RUNNING, is_class_of_junit, is_progress_of_hunit,
    of_assembly, of_buttercup, of_common_test, of_cxxtest, of_dejagnu, of_expecto, of_junit, of_tcl, plain, summed_up,
};
use self::named::{Newman, TestCafe};
use self::node_tap::NodeTap;
use self::racket::Racket;
use self::robot::Robot;
use self::shunit2::Shunit2;
use self::stestr::Stestr;
use self::table::Table;
use super::pytest_text::is_schemathesis;
use super::runs;
use super::text_report::{Names, Summary, is_foreign};
use super::text_runs::{Unannounced, all_summaries};
use crate::error::Result;
use crate::ingest::values::whole;
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::cases::Outcome;
use crate::model::figures::ReportKind;

mod autotest;
mod criterion;
mod doctest;
mod dune;
mod eunit;
pub(super) mod ginkgo;
mod japa;
mod jest_reporters;
mod lines;
mod named;
mod node_tap;
mod racket;
mod robot;
mod shunit2;
mod stestr;
mod table;
#[cfg(test)]
mod tests;

/// What small test runners sum up.
pub const FORMAT: Format = Format {
    name: "brief-test-text",
    kind: ReportKind::Test,
    about: "summaries of test runners in terminal output",
    written_by: "Pest, php artisan test, Robot Framework, bats (pretty), JUnit 3 and 4 and JUnit's console launcher, \
                 Pester, EUnit, testthat, Julia's Test, Meson, Automake, GNU Autotest, Bazel, clojure.test, HUnit, \
                 tasty, OUnit, Alcotest, LuaUnit, uvu, tap-spec, tap-diff, tap-arc, tap-summary, mamba, cram, Vader, \
                 tinytest, CxxTest, CodeceptJS, phpspec, stestr, Check, Criterion, CppUTest, CppUnit, CUnit, Unity \
                 (C), RackUnit and raco test, dune runtest, Buttercup, terraform test, nf-test, snforge, Move, \
                 MoonBit, V, NUnit's and xUnit.net's console, MSTest, TestNG, Ginkgo, Python's doctest, \
                 zope.testrunner, node-tap, jasmine-spec-reporter, jasmine-reporters, lab, Newman, TestCafe, \
                 UnitTest++, Schemathesis, kaocha, ZIO Test, Expecto, Nette Tester, Karate, Dredd, elm-test, hurl, \
                 Avocado, Ward, Buck2, tcltest, DejaGnu, SRFI 64 (Guile), lit, FiveAM, plunit, ERT, Common Test, \
                 RUnit, D's unittest, Japa, bashunit, shunit2, Slash, cocotb, VUnit, dbt, poku, jest-dot-reporter, \
                 jest-progress-bar-reporter, jest-spec-reporter; scripts that end with \"12 passed, 0 failed\"",
    told_by: "the summary of one of them, as \"Tests:  1 failed, 2 passed (3 assertions)\" or \"[ FAIL 1 | WARN 0 | \
              SKIP 1 | PASS 2 ]\"",
    has_end: false,
    counting: "The sum of the summaries; of a run of Robot Framework's, of testthat's, and of a run that node-tap \
               paints anew, the last, and where nothing else is told, that of plain lines, without the last if it is \
               the sum of the others. Failed, errored and skipped as the tool calls them, what is left of all tests \
               passed; expected failures and what is still to do are skipped, unexpected passes failed where the tool \
               fails for them. testthat and Julia count expectations, tap-spec, node-tap and FiveAM assertions, D \
               modules, poku files, and dbt's warnings passed; raco test's end counts what RackUnit counted in each \
               file; a rule of dune's that fails, and whose program sums up no failure, is one failed test; shunit2's \
               tests failed of which an assertion did. A container of JUnit's or Pester's that failed is one errored \
               test, as are each configuration of TestNG's, each hook of a group and what nobody caught of Japa's, and \
               a failure of JUnit 4's beyond its tests, and so are EUnit's tests that took too long, its set-ups and \
               tear-downs, or its cancelled tests together, and each request of Newman's that got no answer, and each \
               script of it that failed.",
    sniff,
    parse: |input| all_summaries::<Told>(input, "a test runner"),
};

fn sniff(head: &Head<'_>) -> Sniff {
    if is_foreign(head) && !head.first_line().is_some_and(is_schemathesis) {
        return Sniff::No;
    }
    let mut told = Told::default();
    // A line more, as what ends with the report has its summary there.
    let found = head.lines_of_both_ends().chain([""]).find_map(|line| told.take(line.trim_end()).ok()?);
    match found {
        Some(tool) => Sniff::Sure(format!("a summary of {tool}")),
        None if told.plain.last.is_some() => Sniff::Maybe("a line \"N passed, N failed\"".into()),
        None if matches!(told.ginkgo.unclaimed(), Ok(Some(_))) => {
            Sniff::Maybe("the summary of a suite of Ginkgo's".into())
        }
        None => Sniff::No,
    }
}

/// All that is summed up in an output.
#[derive(Debug, Default)]
pub(in crate::ingest) struct Told {
    sum: Option<Summary>,
    /// The last summary of a tool that sums up again and again.
    running: Option<Summary>,
    block: Option<Block>,
    table: Option<Table>,
    newman: Newman,
    test_cafe: TestCafe,
    clojure: Clojure,
    shunit2: Shunit2,
    stestr: Stestr,
    plain: Plain,
    automake: Automake,
    autotest: Autotest,
    /// Failures of JUnit 4's that bear the name of a class, since it last summed up.
    classes: u64,
    criterion: Criterion,
    doctest: Doctest,
    dune: Dune,
    eunit: Eunit,
    racket: Racket,
    /// The line before was ExUnit's, or that of one who speaks like it.
    is_anothers: bool,
    ginkgo: Ginkgo,
    japa: Japa,
    jest: JestReporters,
    node_tap: NodeTap,
    robot: Robot,
}

/// `12 passed, 0 failed`, as test scripts of many a project say, for each part and often for all of them at last.
#[derive(Debug, Default)]
struct Plain {
    before: Summary,
    last: Option<Summary>,
}

/// With `VERBOSE=1` Automake prints the log of the tests, which begins with their summary, before it sums up.
#[derive(Debug, Default)]
struct Automake {
    is_in_log: bool,
    /// As the log has it, until the summary itself comes.
    in_log: Option<Summary>,
}

impl Automake {
    /// `   shop 1.0: ./test-suite.log`, `Testsuite summary for shop 1.0`.
    fn line(&mut self, text: &str) {
        if text.starts_with("   ") && text.contains(": ") && text.ends_with("/test-suite.log") {
            self.is_in_log = true;
        } else if text.starts_with("Testsuite summary for ") {
            *self = Automake::default();
        }
    }
}

/// What clojure.test told of the run that goes on. Its summary counts assertions that failed.
#[derive(Debug, Default)]
struct Clojure {
    names: Names,
    ran: Option<u64>,
    /// A run came to its end.
    is_there: bool,
    /// Namespaces that did not compile.
    broken: u64,
}

impl Told {
    /// Takes a line; the tool if a summary ends with it.
    fn take(&mut self, text: &str) -> Result<Option<&'static str>> {
        let is_anothers = std::mem::replace(&mut self.is_anothers, text.starts_with("Finished in "));
        if let Some((tool, summary)) = summed_up(&RUNNING, text) {
            match tool {
                "Robot Framework" => self.robot.sum(summary, text),
                _ => self.running = Some(summary),
            }
            return Ok(Some(tool));
        }
        self.robot.line(text)?;
        if let Some(plain) = plain(text) {
            let before = self.plain.last.replace(plain);
            self.plain.before.merge(&before.unwrap_or_default())?;
            return Ok(None);
        }
        if self.ginkgo.line(text)? {
            return Ok(self.ginkgo.ran.as_ref().map(|_| "Ginkgo"));
        }
        if self.jest.line(text)? {
            return Ok(Some("a reporter of Jest's"));
        }
        if self.node_tap.line(text)? {
            return Ok(Some("node-tap"));
        }
        // Such a summary is like that of bats.
        let of_one = [
            (of_assembly(text), &OF_ASSEMBLIES),
            (of_tcl(text), &OF_TCL),
            (of_common_test(text), &OF_COMMON_TEST),
            (of_expecto(text), &OF_EXPECTO),
        ];
        let alone = match of_one.into_iter().find_map(|(text, patterns)| Some((text?, patterns))) {
            Some((text, patterns)) => summed_up(patterns, text),
            None => summed_up(&LINES, text)
                .filter(|_| !is_progress_of_hunit(text))
                .or_else(|| of_junit(text, self.classes))
                .or_else(|| of_dejagnu(text))
                .or_else(|| of_buttercup(text))
                .or_else(|| of_cxxtest(text))
                .filter(|_| !is_anothers),
        };
        self.classes =
            if text.starts_with("Tests run: ") { 0 } else { self.classes + u64::from(is_class_of_junit(text)) };
        self.automake.line(text);
        self.dune.line(text);
        let named = self.newman.line(text).or_else(|| self.test_cafe.line(text));
        let told = [
            self.block(text),
            alone,
            self.row(text),
            self.clojure.line(text),
            self.shunit2.line(text),
            self.stestr.line(text),
            self.criterion.line(text),
            self.doctest.line(text),
            self.autotest.line(text),
            self.eunit.line(text),
            self.racket.line(text),
            self.japa.line(text),
            named,
        ];
        for (tool, summary) in told.iter().flatten() {
            self.dune.summary(summary);
            if *tool == "Japa" && summary.errored == 0 {
                self.japa.summary();
            }
            if *tool == "RackUnit" {
                self.racket.file(summary)?;
                continue;
            }
            let is_in_log = *tool == "Automake" && self.automake.is_in_log;
            let sum = if is_in_log { &mut self.automake.in_log } else { &mut self.sum };
            sum.get_or_insert_default().merge(summary)?;
        }
        let of_rule = self.dune.told().map(|_| "dune runtest");
        Ok(told.iter().flatten().map(|(tool, _)| *tool).next().or(of_rule))
    }

    /// Goes on with a block, or begins one; what it told if it ended.
    fn block(&mut self, text: &str) -> Option<(&'static str, Summary)> {
        let (mut ended, mut is_taken) = (None, false);
        if let Some(mut block) = self.block.take() {
            is_taken = block.line(text);
            if is_taken && !block.is_whole() {
                self.block = Some(block);
            } else {
                ended = block.told();
            }
        }
        if !is_taken {
            self.block = Block::begun(text);
        }
        ended
    }

    fn row(&mut self, text: &str) -> Option<(&'static str, Summary)> {
        let header = Table::header(text);
        let row = self.table.as_mut().filter(|_| header.is_none()).and_then(|table| table.row(text));
        if row.is_none() {
            self.table = header;
        }
        row.map(|row| ("Julia's Test", row))
    }
}

impl Clojure {
    /// `FAIL in (adds) (cart_test.clj:3)` above `Ran 3 tests containing 5 assertions.` and `2 failures, 1 errors.`
    fn line(&mut self, text: &str) -> Option<(&'static str, Summary)> {
        for (begin, outcome) in [("FAIL in ", Outcome::Failed), ("ERROR in ", Outcome::Errored)] {
            if let Some(name) = text.strip_prefix(begin) {
                // The first name is the test's; those of functions that it called follow. kaocha sets no parenthesis.
                let name = name.trim_start_matches('(').split([' ', ')']).next().unwrap_or(name);
                let worst = self.names.get(name).map_or(outcome, |case| case.outcome.max(outcome));
                self.names.set(name, worst);
                return None;
            }
        }
        // `Syntax error compiling at (cart_test.clj:2:16).`
        if text.starts_with("Syntax error ") && text.contains(" at (") && text.ends_with(").") {
            self.broken = self.broken.saturating_add(1);
            return None;
        }
        let ran = text.strip_prefix("Ran ").and_then(|rest| rest.strip_suffix(" assertions."));
        if let Some((tests, _)) = ran.and_then(|rest| rest.split_once(" tests containing ")) {
            self.ran = tests.parse().ok();
            return None;
        }
        if let Some(all) = kaocha(text) {
            let has_failed = !text.ends_with(" assertions, 0 failures.");
            return self.told(all, has_failed).map(|summary| ("kaocha", summary));
        }
        let all = self.ran.take()?;
        let has_failed = !text.starts_with("0 failures, 0 ");
        let summary = self.told(all, has_failed)?;
        text.ends_with(" errors.").then_some(("clojure.test", summary))
    }

    /// What came to its end, if the names agree with the summary on whether a test failed: it counts assertions.
    fn told(&mut self, all: u64, has_failed: bool) -> Option<Summary> {
        let names = std::mem::take(&mut self.names).cases;
        let of = |outcome| u64::try_from(names.values().filter(|case| case.outcome == outcome).count()).ok();
        let (failed, errored) = (of(Outcome::Failed)?, of(Outcome::Errored)?);
        let passed = all.checked_sub(failed.checked_add(errored)?)?;
        let is_told = names.is_empty() != has_failed;
        self.is_there |= is_told;
        is_told.then_some(Summary { passed, failed, errored, ..Summary::default() })
    }
}

/// The tests of `3 tests, 5 assertions, 1 errors, 2 failures.`
fn kaocha(text: &str) -> Option<u64> {
    let (counts, _) = text.strip_suffix(" failures.")?.split_once(" assertions, ")?;
    let (tests, assertions) = counts.split_once(" tests, ")?;
    whole(assertions)?;
    whole(tests)
}

impl Unannounced for Told {
    /// Its summaries add up, whatever ran them.
    fn line(&mut self, text: &str) -> Result<Option<Box<Parsed>>> {
        self.take(text).map(|_| None)
    }

    /// Anything may print a plain line.
    fn is_certain(&self) -> bool {
        self.sum.is_some()
            || self.automake.in_log.is_some()
            || self.running.is_some()
            || self.ginkgo.ran.is_some()
            || self.jest.is_there()
            || self.node_tap.is_there()
            || self.robot.is_there()
            || self.racket.is_there()
            || self.dune.told().is_some()
    }

    fn report(mut self) -> Result<Option<Parsed>> {
        if self.clojure.is_there {
            let errored = self.clojure.broken;
            self.sum.get_or_insert_default().merge(&Summary { errored, ..Summary::default() })?;
        }
        if let Some(summary) = &self.ginkgo.ran {
            self.sum.get_or_insert_default().merge(summary)?;
        }
        let mut ran_again = 0;
        if self.robot.is_there() {
            let (sum, again) = self.robot.told()?;
            self.sum.get_or_insert_default().merge(&sum)?;
            ran_again = again;
        }
        let (of_jest, is_jest_cut) = self.jest.told()?;
        let (of_node_tap, is_tap_cut) = self.node_tap.told()?;
        let (of_racket, is_racket_cut) = self.racket.told();
        let of_dune = self.dune.told();
        let more = [&of_jest, &of_node_tap, &of_racket, &of_dune, &self.automake.in_log];
        for summary in more.into_iter().flatten() {
            self.sum.get_or_insert_default().merge(summary)?;
        }
        // Optional lines may have been cut off, unless all tests are there.
        let is_cut = is_jest_cut
            | is_tap_cut
            | is_racket_cut
            | match self.block.take().map(Block::accounted) {
                Some(Some((_, summary))) => {
                    self.sum.get_or_insert_default().merge(&summary)?;
                    false
                }
                Some(None) => true,
                None => false,
            };
        if let Some(summary) = &self.running {
            self.sum.get_or_insert_default().merge(summary)?;
        } else if self.sum.is_none()
            && let Some(last) = self.plain.last
        {
            // Unless the last line is the sum of the others.
            let others = if self.plain.before == last { Summary::default() } else { self.plain.before };
            self.sum.insert(last).merge(&others)?;
        }
        let sum = match self.sum {
            Some(sum) => Some(sum),
            None => self.ginkgo.unclaimed()?,
        };
        let Some(sum) = sum.filter(|_| !is_cut) else { return Ok(None) };
        let mut parsed = Names::default().report(&FORMAT, &sum, false)?;
        if ran_again > 0 {
            parsed.warnings.push(runs::ran_again(ran_again));
        }
        Ok(Some(parsed))
    }
}
