//! `maven-text`: what Maven prints of the tests that Surefire and Failsafe run, of any version from 2.12 on, and Ant's
//! junit task: below its name in brackets, or in the files of its formatters plain and brief. Written after the console
//! reporters of Surefire and the formatters of Ant. Ant tells a class twice where it prints summaries and a formatter's
//! output.

use std::collections::BTreeSet;

use super::milliseconds;
use super::runs::{Run, Runs};
use super::telling::Telling;
use super::text_report::{KILLED_HELP, Names, Summary, is_foreign, no_result};
use crate::error::{Error, Reject, Result};
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine, is_number};
use crate::ingest::values::whole;
use crate::ingest::{Format, Head, Parsed, Sniff, add};
use crate::model::cases::Outcome;
use crate::model::figures::ReportKind;
use crate::model::metrics::BuildStatus;

/// What `mvn test` prints.
pub const FORMAT: Format = Format {
    name: "maven-text",
    kind: ReportKind::Test,
    about: "terminal output of Maven's tests",
    written_by: "mvn test, mvn verify (Surefire, Failsafe), ant junit",
    told_by: "\"Tests run: N, Failures: N, Errors: N, Skipped: N\"",
    has_end: false,
    counting: "The sum over the modules' results, or, where there are none, over the classes: Failures failed, Errors \
               errored, Skipped skipped, the rest of the tests run passed, and so many as Flakes says are flaky. A \
               module that does not compile or whose test process crashed beside others that ran is one errored test.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    if is_foreign(head) {
        return Sniff::No;
    }
    if head.last_lines().chain(head.lines()).any(|line| result(unprefixed(line)).is_some()) {
        return Sniff::Sure("line \"Tests run: N, Failures: N, …\"".into());
    }
    if head.lines().any(|line| unprefixed(line).trim() == "T E S T S") {
        return Sniff::Maybe("line \"T E S T S\" of Surefire".into());
    }
    Sniff::No
}

/// The line without Maven's `[INFO] ` or Ant's `    [junit] `.
fn unprefixed(line: &str) -> &str {
    let line = line.trim_end();
    let of_ant = || line.trim_start().strip_prefix("[junit] ");
    let leveled = ["[INFO]", "[WARNING]", "[ERROR]"].iter().find_map(|level| line.strip_prefix(level));
    // An empty line has lost its blank.
    let of_maven = leveled.and_then(|rest| if rest.is_empty() { Some(rest) } else { rest.strip_prefix(' ') });
    of_maven.or_else(of_ant).unwrap_or(line)
}

/// What a line of results counts: tests, failures, errors, skipped, flakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Counts {
    numbers: [Option<u64>; 5],
    /// Of a class; else of a module.
    of_class: bool,
}

/// `Tests run: 5, Failures: 1, Errors: 0, Skipped: 1, Time elapsed: 0.05 s <<< FAILURE! -- in shop.CartTest`.
fn result(line: &str) -> Option<Counts> {
    let mut parts = line.strip_prefix("Tests run: ")?.split(", ");
    let tests = parts.next().filter(|part| is_number(part))?;
    let mut number = |title: &str| {
        let number = parts.next()?.strip_prefix(title)?.strip_prefix(": ")?.trim_end();
        is_number(number).then(|| whole(number))
    };
    let (failures, errors, skipped) = (number("Failures")?, number("Errors")?, number("Skipped")?);
    let mut counts = Counts { numbers: [whole(tests), failures, errors, skipped, Some(0)], of_class: false };
    for rest in parts {
        match rest.strip_prefix("Flakes: ") {
            Some(flakes) if is_number(flakes) => counts.numbers[4] = whole(flakes),
            None if rest.starts_with("Time elapsed: ") => {
                counts.of_class = true;
                break;
            }
            _ => return None,
        }
    }
    Some(counts)
}

/// What Surefire says of tests that failed, in the goal's line or in one of its own.
const TESTS_FAILED: &str = "There are test failures.";

/// Whether it says, in the same line or below it, that a process of tests did not come to its end.
fn is_crash(text: &str) -> bool {
    let crashes = ["The forked VM terminated", "There was a timeout or other error in the fork", "The VM crashed"];
    crashes.iter().any(|crash| text.contains(crash))
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut reader = Reader::default();
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
    let mut last = 0;
    while let Some(line) = lines.next()? {
        last = line.number;
        if !line.ended && !reader.is_whole(&line.text) {
            return Err(Error::report(Reject::Malformed, "maven output ends inside a line")
                .line(last)
                .help(KILLED_HELP));
        }
        reader.line(unprefixed(&line.text)).map_err(|error| error.line(last))?;
    }
    if reader.in_tests {
        return Err(no_result("the tests of a module came to no end", last));
    }
    reader.finish()?.ok_or_else(|| no_result("no \"Tests run:\" of Surefire in it", last))
}

#[derive(Debug, Default)]
struct Reader {
    names: Names,
    modules: Option<Summary>,
    classes: Option<Summary>,
    /// Of classes as Ant's formatters tell them, below a line `Testsuite: shop.CartTest`.
    suites: Option<Summary>,
    in_suite: bool,
    did_not_compile: bool,
    /// The line "BUILD SUCCESS" or "BUILD FAILURE" came: after it, only modules that broke are told.
    ended: bool,
    /// Tests of a module run: what looks like its results was printed by one of them.
    in_tests: bool,
    /// The last of what looked so: without a summary (`-Dsurefire.printSummary=false`) that is the module's.
    unsaid: Option<Counts>,
    /// The module whose tests failed, as the build says at its end, until it is known how.
    failing: Option<String>,
    /// In the list of flaky tests: the one whose runs are told, if it failed before.
    flake: Option<Option<String>>,
    /// The test whose failure is told.
    told: Option<Telling>,
}

impl Reader {
    /// What it told, if it told results.
    fn finish(self) -> Result<Option<Parsed>> {
        let Some(mut summary) = self.suites.or(self.modules).or(self.classes) else { return Ok(None) };
        summary.add_units(self.names.unit_count())?;
        let mut parsed = self.names.report(&FORMAT, &summary, true)?;
        parsed.build = Some(if self.did_not_compile { BuildStatus::Failed } else { BuildStatus::Success });
        Ok(Some(parsed))
    }

    /// Whether a last line without line end is at least all that is counted.
    fn is_whole(&self, line: &str) -> bool {
        const GOAL: &str = "[ERROR] Failed to execute goal ";
        // Maven resets the colours at its end, and that is all there is in the line.
        line.is_empty() || (self.ended && !line.starts_with(GOAL) && !GOAL.starts_with(line))
    }

    fn result(&mut self, counts: Counts) -> Result<()> {
        let sums = match counts.of_class {
            true if std::mem::take(&mut self.in_suite) => &mut self.suites,
            true => &mut self.classes,
            false => &mut self.modules,
        };
        let sum = sums.get_or_insert_default();
        let mut one = Summary::default();
        let [tests, failures, errors, skipped, flakes] = counts.numbers;
        for (slot, number) in [
            (&mut one.passed, tests),
            (&mut one.failed, failures),
            (&mut one.errored, errors),
            (&mut one.skipped, skipped),
            (&mut one.flaky, flakes),
        ] {
            Summary::add(slot, number)?;
        }
        // Fixtures of classes that fail are errors without a test.
        one.passed = one.passed.saturating_sub(add(add(one.failed, one.errored)?, one.skipped)?);
        if one.flaky > one.passed {
            return Err(Error::report(Reject::Malformed, "more tests are told to be flaky than passed"));
        }
        for (slot, number) in [
            (&mut sum.passed, one.passed),
            (&mut sum.failed, one.failed),
            (&mut sum.errored, one.errored),
            (&mut sum.skipped, one.skipped),
            (&mut sum.flaky, one.flaky),
        ] {
            *slot = add(*slot, number)?;
        }
        Ok(())
    }

    fn line(&mut self, text: &str) -> Result<()> {
        match text.trim() {
            "T E S T S" => {
                self.end_tests()?;
                self.in_tests = true;
            }
            "BUILD SUCCESS" | "BUILD FAILURE" => self.end_tests()?,
            "Results:" | "Results :" => (self.in_tests, self.unsaid) = (false, None),
            other => self.in_suite |= other.starts_with("Testsuite: "),
        }
        match result(text) {
            Some(counts) if counts.of_class || !self.in_tests => self.result(counts),
            Some(counts) => {
                self.unsaid = Some(counts);
                Ok(())
            }
            None => {
                self.other(text);
                Ok(())
            }
        }
    }

    /// The tests of a module are over, if any ran.
    fn end_tests(&mut self) -> Result<()> {
        self.in_tests = false;
        self.unsaid.take().map_or(Ok(()), |counts| self.result(counts))
    }

    fn other(&mut self, text: &str) {
        self.ended |= matches!(text, "BUILD SUCCESS" | "BUILD FAILURE");
        if let Some((id, outcome, seconds)) = failed(text) {
            if let Some(case) = self.names.set(&id, outcome) {
                case.duration_ms = seconds.and_then(milliseconds);
            }
            let class = id.split("::").next().unwrap_or_default();
            self.told = Some(Telling::of_class(&self.names, &id, class));
        } else if text.is_empty() {
            (self.told, self.flake) = (None, None);
        } else if let Some(told) = &mut self.told {
            told.line(&mut self.names, text);
        } else if text.trim_end() == "Flakes:" {
            self.flake = Some(None);
        } else if self.flake.is_some() {
            self.flaky(text);
        } else if let Some(rest) = text.strip_prefix("Failed to execute goal ") {
            let Some((project, why)) = rest.split_once(" on project ").and_then(|(_, rest)| rest.split_once(": "))
            else {
                return;
            };
            let did_not_compile = why.starts_with("Compilation failure");
            self.did_not_compile |= did_not_compile;
            if did_not_compile || is_crash(why) {
                self.names.unit(project);
                self.failing = None;
            } else {
                self.failing = why.starts_with(TESTS_FAILED).then(|| project.to_owned());
            }
        } else if text.starts_with(TESTS_FAILED) {
            // The build goes on (`-Dmaven.test.failure.ignore`).
            self.failing = Some("(a module)".to_owned());
        } else if !self.in_tests
            && let Some(module) = self.failing.take_if(|_| is_crash(text))
        {
            self.names.unit(&module);
        }
    }

    /// `shop.CartTest.flaky(shop.CartTest)` or, from 3 on, `shop.CartTest.flaky`, and below it `  Run 2: PASS`.
    fn flaky(&mut self, text: &str) {
        let Some(run) = text.strip_prefix("  Run ") else {
            let id = text.split('(').next().and_then(|name| name.trim().rsplit_once('.'));
            self.flake = Some(id.map(|(class, test)| format!("{class}::{test}")));
            return;
        };
        let known = self.flake.as_ref().and_then(Option::as_ref).and_then(|id| self.names.get_mut(id));
        if let (Some(case), Some((Ok(run), _))) = (known, run.split_once(':').map(|(run, rest)| (run.parse(), rest))) {
            (case.outcome, case.attempts, case.message) = (Outcome::Passed, run, None);
        }
    }
}

/// Its builds in a stream in which others speak too.
#[derive(Debug, Default)]
pub(in crate::ingest) struct Stream {
    reader: Reader,
    runs: Vec<Run>,
}

impl Stream {
    fn close(&mut self) -> Result<()> {
        let build = std::mem::take(&mut self.reader).finish()?;
        self.runs.extend(build.map(|parsed| Run::of(parsed, BTreeSet::new())));
        Ok(())
    }
}

impl Runs for Stream {
    fn line(&mut self, text: &str) -> Result<()> {
        let text = unprefixed(text);
        if text == "Scanning for projects..." && !self.reader.in_tests {
            self.close()?;
        }
        self.reader.line(text)
    }

    fn holds(&self, next: &str) -> bool {
        self.reader.in_tests && !unprefixed(next).starts_with("BUILD ")
    }

    fn count(&self) -> usize {
        self.runs.len()
    }

    fn finish(mut self: Box<Self>) -> Vec<Run> {
        // What cannot be added up is not there, nor is a build whose tests were killed.
        if !self.reader.in_tests {
            let _ = self.close();
        }
        self.runs
    }
}

/// Id, outcome and seconds of `shop.CartTest.fails -- Time elapsed: 0.01 s <<< FAILURE!`, and of older versions'
/// `fails(shop.CartTest)  Time elapsed: 0.005 sec  <<< ERROR!`.
fn failed(text: &str) -> Option<(String, Outcome, Option<&str>)> {
    let (rest, outcome) = match (text.strip_suffix("<<< FAILURE!"), text.strip_suffix("<<< ERROR!")) {
        (Some(rest), _) => (rest, Outcome::Failed),
        (None, Some(rest)) => (rest, Outcome::Errored),
        (None, None) => return None,
    };
    let (name, time) = rest.split_once(" Time elapsed: ")?;
    let name = name.trim_end_matches(['-', ' ']);
    if name.is_empty() || name.starts_with("Tests run: ") {
        return None;
    }
    let older = name.strip_suffix(')').and_then(|name| name.rsplit_once('('));
    let id = match older.filter(|(_, class)| class.contains('.') && !class.contains([' ', ','])) {
        Some((test, class)) => format!("{class}::{test}"),
        None => {
            // A parameter can hold any character.
            let end = name.find(['(', '[', '{']).unwrap_or(name.len());
            let dot = name.get(..end)?.rfind('.');
            dot.map_or_else(
                || name.to_owned(),
                |dot| {
                    let (class, test) = name.split_at(dot);
                    format!("{class}::{}", test.trim_start_matches('.'))
                },
            )
        }
    };
    Some((id, outcome, time.split(' ').next()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    const MODULE: &str = "[INFO]  T E S T S\n[INFO] Running shop.CartTest\n\
                          [ERROR] Tests run: 5, Failures: 1, Errors: 1, Skipped: 1, Time elapsed: 0.05 s <<< FAILURE! -- in shop.CartTest\n\
                          [ERROR] shop.CartTest.fails -- Time elapsed: 0.25 s <<< FAILURE!\norg.opentest4j.AssertionFailedError: no\n\
                          \tat org.junit.jupiter.api.Assertions.fail(Assertions.java:9)\n\tat shop.CartTest.fails(CartTest.java:12)\n\n\
                          [ERROR] breaks(shop.CartTest)  Time elapsed: 0.005 sec  <<< ERROR!\njava.lang.RuntimeException: boom\n\
                          [INFO] Results:\n[INFO] \n[ERROR] Failures: \n[ERROR]   CartTest.fails:12 no\n[INFO] \n\
                          [ERROR] Tests run: 5, Failures: 1, Errors: 1, Skipped: 1\n";

    fn read(text: &str) -> Result<Parsed> {
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn ant_names_itself_and_may_tell_a_class_twice() {
        let summary = "    [junit] Running shop.CartTest\n    [junit] Tests run: 7, Failures: 1, Errors: 2, Skipped: 2, Time elapsed: 0.2 sec\n\
                       \x20   [junit] Test shop.CartTest FAILED\n";
        let brief = "    [junit] Testsuite: shop.CartTest\n    [junit] Tests run: 7, Failures: 1, Errors: 2, Skipped: 2, Time elapsed: 0.2 sec\n\
                     \x20   [junit] ------------- Standard Output ---------------\n    [junit] Tests run: 99, Failures: 9, Errors: 9, Skipped: 0\n";
        for text in
            [summary.to_owned(), brief.to_owned(), format!("{summary}{brief}"), brief.replace("    [junit] ", "")]
        {
            assert_eq!(counts(&read(&text).unwrap()), [7, 2, 1, 2, 2], "{text}");
            assert!(matches!(sniffed(&FORMAT, &text), Sniff::Sure(_)));
        }
    }

    #[test]
    fn what_a_test_prints_is_no_result_and_colours_may_be_reset_at_the_end() {
        let printed = MODULE.replace(
            "Running shop.CartTest",
            "Running shop.CartTest\nTests run: 99, Failures: 0, Errors: 0, Skipped: 0",
        );
        let parsed = read(&format!("{printed}[INFO] BUILD FAILURE\n\u{1b}[0m\u{1b}[0m")).unwrap();
        assert_eq!(counts(&parsed), [5, 2, 1, 1, 1]);
    }

    #[test]
    fn a_flaky_test_is_one_that_passed() {
        let flakes =
            |flakes| format!("{MODULE}[WARNING] Tests run: 3, Failures: 0, Errors: 0, Skipped: 1, Flakes: {flakes}\n");
        assert_eq!(read(&flakes(2)).unwrap().figures.flaky, Some(2));
        assert_eq!(read(&flakes(3)).unwrap_err().reject(), Some(Reject::Malformed));
    }

    #[test]
    fn modules_add_up_and_classes_where_there_are_none() {
        let flaky = "[WARNING] Flakes: \n[WARNING] shop.CartTest.fails(shop.CartTest)\n[ERROR]   Run 1: CartTest.fails:9 first\n[INFO]   Run 2: PASS\n";
        let named = details(&read(&MODULE.replace("[ERROR] Failures: \n", flaky)).unwrap());
        let case = &named.cases.cases["shop.CartTest::fails"];
        assert_eq!((case.outcome, case.attempts, case.message.as_deref()), (Outcome::Passed, 2, None));
        let flakes = "[WARNING] Tests run: 3, Failures: 0, Errors: 0, Skipped: 1, Flakes: 1\n";
        let parsed = read(&format!("{MODULE}{flakes}")).unwrap();
        assert_eq!((counts(&parsed), parsed.figures.flaky), ([8, 4, 1, 1, 2], Some(1)));
        // A line that only bears its level ends the list.
        let flaky = format!("{}[INFO] \n{flakes}", flaky.replace("[WARNING] Flakes: ", "[WARNING] Flakes:"));
        let crash = "[INFO] BUILD FAILURE\n[ERROR] Failed to execute goal surefire:test (default-test) on project till: The forked VM terminated\n";
        assert_eq!(counts(&read(&format!("{flaky}{crash}")).unwrap()), [4, 2, 0, 1, 1]);
        let class = "    [junit] x\nTests run: 2, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.1 sec\n";
        assert_eq!(counts(&read(&class.repeat(2)).unwrap()), [4, 2, 2, 0, 0]);
        let fixture = "Tests run: 0, Failures: 0, Errors: 1, Skipped: 0\n";
        assert_eq!(counts(&read(fixture).unwrap()), [1, 0, 0, 1, 0]);
    }

    #[test]
    fn a_module_that_does_not_compile_is_a_unit() {
        let failure = "[ERROR] Failed to execute goal org.apache.maven.plugins:maven-compiler-plugin:3.13.0:testCompile (x) on project \
                       bill: Compilation failure\n";
        let parsed = read(&format!("{MODULE}{failure}")).unwrap();
        assert_eq!((counts(&parsed), parsed.build), ([6, 2, 1, 2, 1], Some(BuildStatus::Failed)));
        assert_eq!(details(&parsed).failed_units, ["bill"]);
        assert_eq!(read(failure).unwrap_err().reject(), Some(Reject::NoResult));
        let failing =
            "[ERROR] Failed to execute goal x:surefire:3.2.5:test (x) on project shop: There are test failures.\n";
        assert_eq!(counts(&read(&format!("{MODULE}{failing}")).unwrap()), [5, 2, 1, 1, 1]);
    }

    #[test]
    fn a_process_of_tests_that_crashed_is_a_unit_wherever_it_is_told() {
        let goal = "Failed to execute goal x:surefire:2.22.3:test (x) on project shop: ";
        let crash = "The forked VM terminated without properly saying goodbye. VM crash or System.exit called?\n";
        let at_once = format!("[ERROR] {goal}{crash}[ERROR] {crash}");
        let below = format!(
            "[ERROR] {goal}There are test failures.\n[ERROR] \n[ERROR] ExecutionException {crash}[ERROR] {crash}"
        );
        let ignored = format!("[ERROR] There are test failures.\n\n{crash}Crashed tests:\nshop.Exit\n{crash}");
        for told in [at_once, below, ignored] {
            assert_eq!(counts(&read(&format!("{MODULE}{told}")).unwrap()), [6, 2, 1, 2, 1], "{told}");
        }
        assert_eq!(counts(&read(&format!("{MODULE}{crash}")).unwrap()), [5, 2, 1, 1, 1], "a test printed it");
    }

    #[test]
    fn without_a_summary_the_last_line_of_a_module_is_its_own() {
        let module = "[INFO]  T E S T S\nTests run: 9, Failures: 9, Errors: 0, Skipped: 0\n\
                      [ERROR] Tests run: 4, Failures: 1, Errors: 1, Skipped: 1\n";
        assert_eq!(counts(&read(&format!("{module}[INFO] BUILD FAILURE\n")).unwrap()), [4, 1, 1, 1, 1]);
        assert_eq!(counts(&read(&format!("{module}{module}[INFO] BUILD FAILURE\n")).unwrap()), [8, 2, 2, 2, 2]);
        assert_eq!(read(module).unwrap_err().reject(), Some(Reject::NoResult), "it was killed");
    }

    #[test]
    fn failed_tests_have_names_durations_and_messages() {
        let details = details(&read(MODULE).unwrap());
        let case = &details.cases.cases["shop.CartTest::fails"];
        assert_eq!(
            (case.duration_ms, case.message.as_deref()),
            (Some(250), Some("org.opentest4j.AssertionFailedError: no"))
        );
        assert_eq!((case.file.as_deref(), case.line), (Some("CartTest.java"), Some(12)));
        assert_eq!(details.cases.outcome("shop.CartTest::breaks"), Some(Outcome::Errored));
        let id = |name: &str| failed(&format!("{name} -- Time elapsed: 1 s <<< ERROR!")).unwrap().0;
        assert_eq!(id("shop.CartTest.rows(double)[1.5]"), "shop.CartTest::rows(double)[1.5]");
        assert_eq!(id("shop.CartTest"), "shop::CartTest");
    }

    #[test]
    fn a_run_without_its_results_is_no_result() {
        for text in ["[INFO]  T E S T S\n[INFO] Running shop.CartTest\n", ""] {
            assert_eq!(read(text).unwrap_err().reject(), Some(Reject::NoResult), "{text}");
        }
        let is_read = |end: &str| read(&format!("{MODULE}{end}")).is_ok();
        assert!(is_read("[INFO] BUILD FAILURE\n[INFO] ----"));
        let module = "Tests run: 5, Failures: 1, Errors: 1, Skipped: 1";
        for cut in [
            module,
            "[ERROR] Tests run: 5, Failures: 1, Errors: 1, Skipped: 1, Time elapsed: 0.0",
            "[INFO] Run",
            "[INFO] BUILD FAILURE\n[ERROR] Failed to execute g",
        ] {
            assert!(!is_read(cut), "{cut}");
        }
        let large = "Tests run: 18446744073709551616, Failures: 0, Errors: 0, Skipped: 0\n";
        assert_eq!(read(large).unwrap_err().reject(), Some(Reject::Malformed));
    }

    #[test]
    fn it_is_told_by_its_results() {
        assert!(matches!(sniffed(&FORMAT, MODULE), Sniff::Sure(_)));
        assert!(matches!(sniffed(&FORMAT, "[INFO]  T E S T S\n"), Sniff::Maybe(_)));
        for none in ["Tests run: 59, Passed: 56, Errors: 1\n", "Tests run: 3\n", "[INFO] Results:\n"] {
            assert_eq!(sniffed(&FORMAT, none), Sniff::No, "{none}");
        }
    }
}
