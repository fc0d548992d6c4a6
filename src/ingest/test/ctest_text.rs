//! `ctest-text`: what `ctest` prints. Its definition is CTest's `cmCTestRunTest.cxx` and `cmCTestTestHandler.cxx`. The
//! tests are counted by their lines, because the summary counts skipped tests as passed and leaves disabled ones out.

use std::collections::BTreeMap;

use super::text_report::{Names, Summary, counted, is_foreign};
use super::text_runs::{Announced, TextRun, last_run};
use super::{CASES_KEPT, milliseconds};
use crate::error::{Error, Reject, Result};
use crate::ingest::text::{is_number, printable, split_at};
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::cases::Outcome;
use crate::model::figures::ReportKind;

/// What `ctest` prints.
pub const FORMAT: Format = Format {
    name: "ctest-text",
    kind: ReportKind::Test,
    about: "terminal output of CTest",
    written_by: "ctest, make test, ninja test",
    told_by: "\"N% tests passed, N tests failed out of N\"",
    has_end: true,
    counting: "The line of each test, the last if it was repeated: Passed passed, Skipped and Not Run (Disabled) \
               skipped, Not Run (its program is missing) errored, Failed, Timeout and Exception failed. One that \
               passed after it had failed is flaky. A test program is one test, whatever it runs itself.",
    sniff,
    parse: last_run::<CTest>,
};

fn sniff(head: &Head<'_>) -> Sniff {
    if is_foreign(head) {
        return Sniff::No;
    }
    if head.last_lines().any(|line| total(line.trim_end()).is_some()) {
        return Sniff::Sure("line \"N% tests passed, N tests failed out of N\"".into());
    }
    match head.lines().filter(|line| result(line).is_some()).take(2).count() {
        2 => Sniff::Maybe("lines \"1/8 Test #1: …\" of CTest".into()),
        _ => Sniff::No,
    }
}

/// One run.
#[derive(Debug, Default)]
pub(in crate::ingest) struct CTest {
    /// Outcome and id by the test's number.
    tests: BTreeMap<u64, (Outcome, bool, String)>,
    names: Names,
    disabled: u64,
    flaky: u64,
    /// Only what did not pass has a line (`--progress` on a terminal); how many tests had none.
    is_progress: bool,
    unlisted: u64,
    is_announced: bool,
    /// Tests that failed, as a summary says of which not all lines are there; those that did not pass are listed below it.
    failed_said: Option<u64>,
    is_done: bool,
    /// The tests are listed only.
    is_off: bool,
}

impl Announced for CTest {
    fn begins(line: &str) -> bool {
        line.strip_prefix("Test project ").is_some_and(|path| path.starts_with('/') || path.contains(":/"))
    }

    fn line(&mut self, text: &str) -> Result<()> {
        if self.is_done {
            if let Some(result) = listed(text).filter(|result| self.is_unlisted(result)) {
                self.unlisted -= u64::from(!result.is_disabled);
                self.test(&result)?;
            }
            return Ok(());
        }
        self.is_announced |= Self::begins(text);
        if let Some((failed, tests)) = total(text) {
            let counted = u64::try_from(self.tests.len()).unwrap_or(u64::MAX).saturating_sub(self.disabled);
            let is_partial = self.is_progress || !self.is_announced;
            self.unlisted = tests.filter(|_| is_partial).map_or(0, |tests| tests.saturating_sub(counted));
            // One that counts others was printed by a test.
            self.is_done = tests == Some(counted.saturating_add(self.unlisted));
            self.failed_said = failed.filter(|_| self.is_done && !self.is_announced && self.unlisted > 0);
        } else if self.tests.is_empty() && text == "No tests were found!!!" {
            self.is_done = true;
        } else if self.tests.is_empty() && text.starts_with("Total Tests: ") {
            self.is_off = true;
        } else if let Some(result) = result(text) {
            self.test(&result)?;
        } else if let Some(result) = progress(text) {
            self.is_progress = true;
            result.map_or(Ok(()), |result| self.test(&result))?;
        }
        Ok(())
    }

    fn ends_alone(line: &str) -> bool {
        total(line).is_some()
    }

    fn is_done(&self) -> bool {
        self.is_done
    }

    fn is_off(&self) -> bool {
        self.is_off
    }

    fn report(self) -> Result<Parsed> {
        let mut summary = Summary { passed: self.unlisted, flaky: self.flaky, ..Summary::default() };
        for (outcome, ..) in self.tests.values() {
            let slot = match outcome {
                Outcome::Passed => &mut summary.passed,
                Outcome::Failed => &mut summary.failed,
                Outcome::Errored => &mut summary.errored,
                Outcome::Skipped => &mut summary.skipped,
            };
            *slot = slot.saturating_add(1);
        }
        // The list was cut away as well.
        let known = summary.failed.saturating_add(summary.errored);
        let missing = self.failed_said.unwrap_or_default().saturating_sub(known).min(self.unlisted);
        (summary.passed, summary.failed) = (summary.passed - missing, summary.failed.saturating_add(missing));
        self.names.report(&FORMAT, &summary, true)
    }
}

impl TextRun for CTest {
    const TOOL: &'static str = "CTest";

    /// Below the summary nothing counts.
    fn is_whole(line: &str) -> bool {
        result(line).is_none() && total(line).is_none()
    }
}

impl CTest {
    /// Whether it is a test of which no line came, and one may have been cut away.
    fn is_unlisted(&self, result: &Line<'_>) -> bool {
        let is_counted = result.is_disabled || self.unlisted > 0;
        self.failed_said.is_some() && is_counted && !self.tests.contains_key(&result.number)
    }

    fn test(&mut self, result: &Line<'_>) -> Result<()> {
        if self.tests.len() >= CASES_KEPT && !self.tests.contains_key(&result.number) {
            return Err(Error::report(Reject::Refused, format!("more than {CASES_KEPT} tests of CTest")));
        }
        let id = printable(result.name, super::LONGEST_ID);
        let known = self.tests.insert(result.number, (result.outcome, result.is_disabled, id.clone()));
        self.disabled += u64::from(result.is_disabled && known.is_none());
        let Some(case) = self.names.set(&id, result.outcome) else { return Ok(()) };
        case.duration_ms = result.seconds.and_then(milliseconds);
        if let Some((before, ..)) = known {
            case.attempts = case.attempts.saturating_add(1);
            self.flaky += u64::from(before > Outcome::Skipped && result.outcome == Outcome::Passed);
        }
        Ok(())
    }
}

/// What a line tells of a test.
struct Line<'a> {
    number: u64,
    name: &'a str,
    outcome: Outcome,
    is_disabled: bool,
    seconds: Option<&'a str>,
}

/// `2/8 Test #2: fails ............................***Failed    0.07 sec`; when it is repeated, without `2/8`.
fn result(line: &str) -> Option<Line<'_>> {
    let (before, rest) = split_at(line.trim_end(), "Test ")?;
    let rest = rest.trim_start().strip_prefix('#')?;
    let is_place =
        |(at, all): (&str, &str)| [at, all].iter().all(|part| part.trim().bytes().all(|b| b.is_ascii_digit()));
    if !before.trim().is_empty() && !before.split_once('/').is_some_and(is_place) {
        return None;
    }
    let (number, rest) = rest.split_once(": ")?;
    let rest = rest.trim_start();
    // A name may hold blanks, and dots: what follows it tells where it ends.
    let (name, (word, outcome, seconds)) = rest
        .match_indices(" .")
        .find_map(|(at, _)| Some((rest.get(..at)?, status(rest.get(at..)?.trim_start_matches(['.', ' ']))?)))?;
    let (number, is_disabled) = (number.trim().parse().ok()?, word == "Not Run (Disabled)");
    Some(Line { number, name, outcome, is_disabled, seconds })
}

/// `2/2 Test #2: bad`, as `--progress` draws it on a terminal, and what stands behind that if it did not pass:
/// `2/2 Test #2: bad......***Failed    0.00 sec`.
fn progress(line: &str) -> Option<Option<Line<'_>>> {
    let line = line.trim();
    let (prefix, rest) = line.split_at_checked(line.find(": ")? + 2)?;
    let (place, number) = prefix.strip_suffix(": ")?.split_once(" Test #")?;
    let (at, all) = place.split_once('/')?;
    let number = number.parse().ok().filter(|_| is_number(at) && is_number(all))?;
    let Some((_, told)) = rest.rsplit_once(prefix) else {
        // Dots lead to a result, which was cut off.
        return (!rest.contains("..")).then_some(None);
    };
    let result = || {
        let told_at = |at| Some((told.get(..at)?, status(told.get(at..)?.trim_start_matches(['.', ' ']))?));
        let (name, (word, outcome, seconds)) = told.match_indices("..").find_map(|(at, _)| told_at(at))?;
        Some(Line { number, name, outcome, is_disabled: word == "Not Run (Disabled)", seconds })
    };
    Some(result())
}

/// The word of `Passed    0.09 sec`, `***Failed    0.07 sec` or `Subprocess aborted***Exception:   0.01 sec`, its outcome, and
/// its time.
fn status(text: &str) -> Option<(&str, Outcome, Option<&str>)> {
    let (signal, text) = text.split_once("***").unwrap_or(("", text));
    let (word, seconds) = match text.strip_suffix(" sec") {
        Some(rest) => rest.rsplit_once(' ').map(|(word, seconds)| (word.trim_end(), Some(seconds)))?,
        None => (text, None),
    };
    let outcome = match word {
        // Only a crash has something before its stars: `Subprocess aborted`.
        word if word.starts_with("Exception:") && !signal.contains('.') => Outcome::Failed,
        _ if !signal.is_empty() => return None,
        "Passed" => Outcome::Passed,
        "Skipped" | "Not Run (Disabled)" => Outcome::Skipped,
        word if word.starts_with("Not Run") => Outcome::Errored,
        "Failed" | "Timeout" => Outcome::Failed,
        word if word.starts_with("Failed ") || word.starts_with("Timeout ") => Outcome::Failed,
        _ => return None,
    };
    Some((word, outcome, seconds))
}

/// `\t  3 - slow (Timeout)`, in the lists below the summary of what failed and what did not run.
fn listed(line: &str) -> Option<Line<'_>> {
    let (number, rest) = line.strip_prefix('\t')?.trim_start().split_once(" - ")?;
    let (name, word) = rest.split_once(')')?.0.rsplit_once(" (")?;
    let is_disabled = word == "Disabled";
    // Of a crash the signal is told.
    let outcome = status(word).map_or(Outcome::Failed, |(_, outcome, _)| outcome);
    let outcome = if is_disabled { Outcome::Skipped } else { outcome };
    Some(Line { number: number.parse().ok()?, name, outcome, is_disabled, seconds: None })
}

/// `4` and `7` of `43% tests passed, 4 tests failed out of 7`, or, from CMake 4.4 on where none failed, of `100% tests passed
/// out of 7`. `None` inside if the number is too large.
fn total(line: &str) -> Option<(Option<u64>, Option<u64>)> {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = rest.strip_prefix("% tests passed").filter(|_| rest != line)?;
    let (failed, tests) = match rest.strip_prefix(" out of ") {
        Some(tests) => (Some(0), tests),
        None => {
            let (failed, rest) = counted(rest.strip_prefix(", ")?)?;
            let tests = rest.strip_prefix("tests failed out of ");
            (failed, tests.or_else(|| rest.strip_prefix("test failed out of "))?)
        }
    };
    is_number(tests).then(|| (failed, tests.parse().ok()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::input::Input;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    const RUN: &str = "Test project /src/build\n    Start 1: adds\n1/6 Test #1: adds .............   Passed    0.09 sec\n\
                       \x20   Start 2: fails\n2/6 Test #2: fails ............***Failed    0.07 sec\nTest #9: printed\n\
                       \x20   Start 2: fails\n    Test #2: fails ............   Passed    0.01 sec\n\
                       3/6 Test #3: slow .............***Timeout   1.05 sec\n4/6 Test #4: missing ..........***Not Run   0.00 sec\n\
                       5/6 Test #5: off ..............***Not Run (Disabled)   0.00 sec\n6/6 Test #6: skip .............***Skipped   0.06 sec\n\n";
    const END: &str = "60% tests passed, 2 tests failed out of 5\n\nTotal Test time (real) =   1.39 sec\n\nThe following tests FAILED:\n\
                       \t  3 - slow (Timeout)\nErrors while running CTest\n";

    fn read(text: &str) -> Result<Parsed> {
        (FORMAT.parse)(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn what_its_tests_print_is_theirs() {
        let log = "Test project /b\n1/1 Test #1: gt ....***Failed    0.01 sec\n[==========] Running 2 tests from 1 test suite.\n\
                   [==========] 2 tests from 1 test suite ran. (0 ms total)\n[  PASSED  ] 1 test.\n\
                   [  FAILED  ] 1 test, listed below:\n[  FAILED  ] A.b\n\n 1 FAILED TEST\n\n\
                   0% tests passed, 1 tests failed out of 1\n\nTotal Test time (real) =   0.01 sec\n";
        let parsed = crate::ingest::parse(&Input::bytes("x", log.as_bytes()), None).unwrap();
        assert_eq!((parsed.format.name, parsed.figures.tests), ("ctest-text", Some(1)));
    }

    #[test]
    fn the_line_of_each_test_counts() {
        let parsed = read(&format!("{RUN}{END}")).unwrap();
        assert_eq!((counts(&parsed), parsed.figures.flaky), ([6, 2, 1, 1, 2], Some(1)));
        let details = details(&parsed);
        let case = &details.cases.cases["fails"];
        assert_eq!((case.outcome, case.attempts, case.duration_ms), (Outcome::Passed, 2, Some(10)));
        assert_eq!((details.cases.outcome("missing"), details.dropped), (Some(Outcome::Errored), 0));
        let crash = " 7/12 Test  #7: crash ......***Exception: SegFault  0.05 sec";
        assert_eq!(result(crash).unwrap().outcome, Outcome::Failed);
        let abort = " 5/17 Test  #5: a 1 ... b .............Subprocess aborted***Exception:   0.01 sec";
        assert_eq!(result(abort).map(|line| (line.name, line.outcome)), Some(("a 1 ... b", Outcome::Failed)));
        assert!(result("1/2 Test #1: a ...it is***Passed 0.01 sec").is_none(), "no status of CTest");
        assert_eq!((total("100% tests passed out of 7"), total("100% tests passed")), (Some((Some(0), Some(7))), None));
        assert_eq!(counts(&read("Test project /src\nNo tests were found!!!\n").unwrap()), [0; 5]);
        let twice = read(&format!("{RUN}{END}").repeat(2)).unwrap();
        assert_eq!((counts(&twice), twice.warnings.len()), ([6, 2, 1, 1, 2], 1));
    }

    /// CMake 3.25 and 4.4, `ctest --progress` on a terminal.
    #[test]
    fn with_its_progress_only_what_did_not_pass_has_a_line() {
        let run = "Test project /b\n0/3 Test #1: ok\u{1b}[K\r1/3 Test #2: bad\u{1b}[K\r\u{1b}[K\r2/3 Test #2: bad\u{1b}[K2/3 Test #2: \
                   bad....***Failed    0.00 sec\n3/3 Test #3: last\u{1b}[K\r\n67% tests passed\u{1b}[0;0m, \u{1b}[0;31m1 tests failed\u{1b}[0;0m out of 3\n\n";
        let parsed = read(run).unwrap();
        assert_eq!(counts(&parsed), [3, 2, 1, 0, 0]);
        assert_eq!(details(&parsed).cases.outcome("bad"), Some(Outcome::Failed));
        assert!(read(&run.replace("out of 3", "out of 0")).is_err());
        assert!(progress("3/3 Test #3: slow ....").is_none());
    }

    #[test]
    fn a_summary_that_counts_others_is_not_believed() {
        for text in [
            &format!("Test project /src\n{END}"),
            &format!("{RUN}{}", END.replace("of 5", "of 6")),
            &format!("{RUN}{}", END.replace("of 5", "of 18446744073709551616")),
        ] {
            assert_eq!(read(text).unwrap_err().reject(), Some(Reject::NoResult), "{text}");
        }
    }

    #[test]
    fn what_tail_leaves_of_a_run_is_told_by_its_summary_and_the_lists_below() {
        let end = "33% tests passed, 4 tests failed out of 6\n\nTotal Test time (real) =   1.04 sec\n\n\
                   The following tests did not run:\n\t  6 - skipme (Skipped)\n\t  7 - off (Disabled)\n\n\
                   The following tests FAILED:\n\t  1 - gt (Failed)\n\t  3 - ca (Failed)\n\t  4 - miss (Not Run)\n\t  5 - sleepy (Timeout)\n\
                   Errors while running CTest\n";
        let parsed = read(end).unwrap();
        assert_eq!(counts(&parsed), [7, 1, 3, 1, 2]);
        assert_eq!(details(&parsed).cases.outcome("miss"), Some(Outcome::Errored));
        let row =
            "1/7 Test #1: gt ....***Failed    0.01 sec\n7/7 Test #7: off ....***Not Run (Disabled)   0.00 sec\n\n";
        assert_eq!(counts(&read(&format!("{row}{end}")).unwrap()), [7, 1, 3, 1, 2]);
        // grep 'tests passed'
        let first = "33% tests passed, 4 tests failed out of 6\n";
        assert_eq!(counts(&read(first).unwrap()), [6, 2, 4, 0, 0]);
        let beside = format!("3 runs, 3 assertions, 0 failures, 0 errors, 0 skips\n{end}");
        let both = crate::ingest::console::console(&Input::bytes("x", beside.as_bytes()));
        assert_eq!(both.iter().map(counts).collect::<Vec<_>>(), [[7, 1, 3, 1, 2], [3, 3, 0, 0, 0]]);
    }

    #[test]
    fn a_run_without_its_summary_is_no_result() {
        for text in [RUN, "", &format!("{RUN}{END}{RUN}")] {
            assert_eq!(read(text).unwrap_err().reject(), Some(Reject::NoResult), "{text}");
        }
        assert_eq!(
            read(&format!("{RUN}60% tests passed, 2 tests failed out of 5")).unwrap_err().reject(),
            Some(Reject::Malformed)
        );
    }

    #[test]
    fn it_is_told_by_its_summary_or_its_lines() {
        assert!(matches!(sniffed(&FORMAT, END), Sniff::Sure(_)));
        assert!(matches!(sniffed(&FORMAT, RUN), Sniff::Maybe(_)));
        for none in ["60% tests passed\n", "x% tests passed, 2 tests failed out of 5\n", "Test #1: a ... Passed\n"] {
            assert_eq!(sniffed(&FORMAT, none), Sniff::No, "{none}");
        }
    }
}
