//! `boost-text`: what programs with Boost.Test print: their log, and the report, which is more than a line only with
//! `--report_level=short` or `detailed`.
//! <https://www.boost.org/doc/libs/release/libs/test/doc/html/boost_test/test_output.html>
//!
//! Without such a report nothing tells test cases with several failures, or with expected ones, but the names in the log.

use std::collections::BTreeMap;

use super::text_report::{Names, Summary, counted};
use super::text_runs::{Announced, Part, TextRun, all_runs};
use crate::error::Result;
use crate::ingest::entries::hash;
use crate::ingest::text::printable;
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::cases::Outcome;
use crate::model::figures::ReportKind;

/// What programs with Boost.Test print.
pub const FORMAT: Format = Format {
    name: "boost-text",
    kind: ReportKind::Test,
    about: "terminal output of Boost.Test",
    written_by: "programs with Boost.Test, with --report_level=short or detailed best",
    told_by: "\"Running 5 test cases...\", and \"*** No errors detected\" or \"Test module \"cart\" has …\"",
    has_end: false,
    counting: "The sum of the runs. By their reports: passed, failed, aborted errored, skipped; a fixture of all test \
               cases that failed is one errored test. Without: of as many test cases as were announced, those failed \
               that the log names, errored after a fatal error, and the others passed; what was expected to fail \
               passed if nothing else failed, else the log does not tell it apart.",
    sniff,
    parse: all_runs::<BoostTest>,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let is_ours = |line: &str| BoostTest::begins(line.trim_end()) || begins_report(line.trim_end());
    match head.xml().is_none() && head.lines().any(is_ours) {
        // `ctest -V` and other runners hand on what a program prints.
        true => Sniff::Maybe("line \"Running N test cases...\" or report of Boost.Test".into()),
        false => Sniff::No,
    }
}

/// One run of a program.
#[derive(Debug, Default)]
pub(in crate::ingest) struct BoostTest {
    names: Names,
    announced: u64,
    /// What the log tells of test cases, by the hash of their names.
    told: BTreeMap<u64, Outcome>,
    /// Of the report, while it goes on.
    report: Option<Summary>,
    aborted: u64,
    /// The report calls the module failed or aborted.
    has_failed: bool,
    is_done: bool,
    /// Of the failures so many were expected; which is not told.
    expected: u64,
}

impl BoostTest {
    /// `cart.cpp(7): error: in "sums/fails": check 1 + 1 == 3 has failed`.
    fn log(&mut self, text: &str) {
        let skipped = text.split_once("Test case \"").and_then(|(_, rest)| rest.split_once("\" is skipped because "));
        if let Some((name, _)) = skipped.filter(|_| self.report.is_none()) {
            // As the log level test_suite tells it; what is disabled was not announced.
            if !text.ends_with(" because disabled") && self.told.insert(hash(name), Outcome::Skipped).is_none() {
                self.names.set(name, Outcome::Skipped);
            }
            return;
        }
        let Some((place, rest)) = text.split_once("): ").filter(|_| self.report.is_none()) else { return };
        let fatal = rest.strip_prefix("fatal error: in \"").map(|rest| (rest, Outcome::Errored));
        let Some((rest, outcome)) = fatal.or_else(|| Some((rest.strip_prefix("error: in \"")?, Outcome::Failed)))
        else {
            return;
        };
        let Some((name, message)) = rest.split_once("\": ") else { return };
        let worst = self.told.get(&hash(name)).map_or(outcome, |told| outcome.max(*told));
        if self.told.insert(hash(name), worst).is_none()
            && let (Some(case), Some((file, line))) = (self.names.set(name, worst), place.rsplit_once('('))
        {
            (case.file, case.line) = (Some(printable(file, 1000)), line.parse().ok().filter(|line| *line > 0));
            case.message = Some(printable(message, 1000));
        } else if let Some(case) = self.names.get_mut(name) {
            case.outcome = worst;
        }
    }

    /// What failed under the module's own name is no test case, but a fixture of all of them.
    fn module(&mut self, name: &str) {
        if self.told.remove(&hash(name)).is_some_and(Outcome::is_bad) {
            self.names.remove(name);
            self.names.unit(name);
        }
    }

    /// `  3 test cases out of 6 passed`.
    fn reported(&mut self, text: &str) -> Option<()> {
        let (number, rest) = counted(text.strip_prefix("  ").filter(|text| !text.starts_with(' '))?)?;
        let what = rest
            .strip_prefix("test cases out of ")
            .or_else(|| rest.strip_prefix("test case out of "))?
            .split_once(' ')?
            .1;
        let report = self.report.as_mut()?;
        match what {
            "passed" | "passed with warnings" => report.passed = report.passed.checked_add(number?)?,
            "failed" => report.failed = number?,
            "skipped" => report.skipped = number?,
            // Those are among the failed.
            "aborted" | "timed out" => self.aborted = self.aborted.checked_add(number?)?,
            _ => {}
        }
        Some(())
    }
}

/// `Test module "cart" has failed with:`.
fn begins_report(line: &str) -> bool {
    line.starts_with("Test module \"") && (line.ends_with(" with:") || line.ends_with(" with"))
}

/// How many test cases `Running 5 test cases...` announces.
fn announced(line: &str) -> Option<u64> {
    let (number, rest) = counted(line.strip_prefix("Running ")?)?;
    number.filter(|_| matches!(rest, "test cases..." | "test case..."))
}

impl Announced for BoostTest {
    fn begins(line: &str) -> bool {
        announced(line).is_some()
    }

    fn line(&mut self, text: &str) -> Result<()> {
        if let Some(announced) = announced(text) {
            self.announced = announced;
        } else if begins_report(text) {
            (self.report, self.aborted) = (Some(Summary::default()), 0);
            self.has_failed = text.contains("\" has failed ") || text.contains("\" was aborted ");
        } else if self.report.is_some() && !self.is_done {
            let is_told = self.reported(text).is_some();
            // An empty line is its end.
            self.is_done = text.is_empty() && !is_told;
        } else if text == "*** No errors detected" {
            // What the log calls errors was expected.
            self.told.values_mut().filter(|told| told.is_bad()).for_each(|told| *told = Outcome::Passed);
            let cases = self.names.cases.values_mut().filter(|case| case.outcome.is_bad());
            cases.for_each(|case| case.outcome = Outcome::Passed);
            self.is_done = true;
        } else if let Some((detected, module)) = text.split_once(" in the test module \"")
            && detected.starts_with("*** ")
        {
            self.module(module.trim_end_matches(['"', '!']));
            self.expected = text.split_once(" detected (").and_then(|(_, rest)| counted(rest)?.0).unwrap_or_default();
            self.is_done = true;
        } else {
            self.log(text);
        }
        Ok(())
    }

    fn is_done(&self) -> bool {
        self.is_done
    }

    fn ends_alone(line: &str) -> bool {
        begins_report(line)
    }

    fn report(self) -> Result<Parsed> {
        self.alone()
    }
}

impl TextRun for BoostTest {
    const TOOL: &'static str = "Boost.Test";

    fn is_whole(_: &str) -> bool {
        false
    }
}

impl Part for BoostTest {
    const FORMAT: &'static Format = &FORMAT;
    const IS_COMPILED: bool = true;

    fn warning(&self) -> Option<String> {
        let expected = self.expected;
        let is_any = expected > 0 && self.report.is_none();
        is_any.then(|| format!("Boost.Test expected {expected} of the failures, and does not tell which: all count"))
    }

    fn told(self) -> Result<(Summary, Names)> {
        let count =
            |outcome| u64::try_from(self.told.values().filter(|told| **told == outcome).count()).unwrap_or(u64::MAX);
        let summary = match self.report {
            Some(report) => {
                let errored = self.aborted.min(report.failed);
                // Then a fixture of all test cases did.
                let units = u64::from(self.has_failed && report.failed == 0);
                let mut summary = Summary { failed: report.failed - errored, errored, ..report };
                summary.add_units(units)?;
                summary
            }
            None => {
                let (failed, errored) = (count(Outcome::Failed), count(Outcome::Errored));
                let skipped = count(Outcome::Skipped);
                let passed = self.announced.saturating_sub(failed).saturating_sub(errored).saturating_sub(skipped);
                let mut summary = Summary { passed, failed, errored, skipped, ..Summary::default() };
                summary.add_units(self.names.unit_count())?;
                summary
            }
        };
        Ok((summary, self.names))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::input::Input;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    const RUN: &str = "Running 5 test cases...\ncart.cpp(7): error: in \"sums/fails\": check 1 + 1 == 3 has failed [1 + 1 != 3]\n\
                       cart.cpp(8): error: in \"sums/fails\": check 1 + 1 == 4 has failed\n\
                       unknown location(0): fatal error: in \"sums/throws\": std::runtime_error: boom\n\
                       cart.cpp(8): last checkpoint: \"throws\" test entry\n";
    const SHORT: &str = "\nTest module \"cart\" has failed with:\n  3 test cases out of 6 passed\n  2 test cases out of 6 failed\n\
                         \x20 1 test case out of 6 skipped\n  1 test case out of 6 aborted\n  2 assertions out of 6 passed\n\
                         \x20 1 expected failure\n\n";

    fn read(text: &str) -> Result<Parsed> {
        (FORMAT.parse)(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn a_fixture_of_all_test_cases_that_failed_is_one_errored_test() {
        let log = "Running 1 test case...\na.cpp(3): error: in \"M\": check false has failed\n\n";
        let with = |end: &str| counts(&(FORMAT.parse)(&Input::bytes("x", format!("{log}{end}").as_bytes())).unwrap());
        let report = |how: &str| {
            format!("Test module \"M\" {how} with:\n  1 test case out of 1 passed\n  1 assertion out of 2 failed\n\n")
        };
        assert_eq!(with(&report("has failed")), [2, 1, 0, 1, 0]);
        assert_eq!(with(&report("was aborted")), [2, 1, 0, 1, 0]);
        assert_eq!(with(&report("has passed")), [1, 1, 0, 0, 0]);
        assert_eq!(with("*** 1 failure is detected in the test module \"M\"\n"), [2, 1, 0, 1, 0]);
        assert_eq!(with("*** 1 failure is detected in the test module \"N\"\n"), [1, 0, 1, 0, 0]);
    }

    #[test]
    fn a_report_counts_else_what_the_log_names() {
        let parsed = read(&format!("{RUN}{SHORT}")).unwrap();
        assert_eq!(counts(&parsed), [6, 3, 1, 1, 1]);
        let cases = details(&parsed).cases.cases;
        let failed = &cases["sums/fails"];
        assert_eq!((failed.outcome, failed.line, failed.file.as_deref()), (Outcome::Failed, Some(7), Some("cart.cpp")));
        assert_eq!(cases["sums/throws"].outcome, Outcome::Errored);
        let parsed = read(&format!("{RUN}\n*** 3 failures are detected in the test module \"cart\"\n")).unwrap();
        assert_eq!(counts(&parsed), [5, 3, 1, 1, 0]);
        let skipped = "a.cpp(9): Test case \"sums/b\" is skipped because dependency test case \"sums/fails\" has failed\n\
                       a.cpp(3): Test case \"sums/c\" is skipped because disabled\n";
        let ended = "\n*** 3 failures are detected in the test module \"cart\"\n";
        assert_eq!(counts(&read(&format!("{RUN}{skipped}{ended}")).unwrap()), [5, 2, 1, 1, 1]);
        let warned =
            SHORT.replace("  2 test cases out", "  1 test case out of 7 passed with warnings\n  2 test cases out");
        assert_eq!(counts(&read(&format!("{RUN}{warned}")).unwrap()), [7, 4, 1, 1, 1]);
        let fine = "Running 1 test case...\n\n*** No errors detected\n";
        assert_eq!(counts(&read(&format!("{fine}{RUN}{SHORT}")).unwrap()), [7, 4, 1, 1, 1]);
        assert!(matches!(sniffed(&FORMAT, fine), Sniff::Maybe(_)));
    }

    #[test]
    fn what_was_expected_to_fail_passed_if_it_can_be_told() {
        let fine = read(&format!("{RUN}\n*** No errors detected\n")).unwrap();
        assert_eq!(
            (counts(&fine), details(&fine).cases.outcome("sums/fails")),
            ([5, 5, 0, 0, 0], Some(Outcome::Passed))
        );
        let expected = "*** 4 failures are detected (1 failure is expected) in the test module \"cart\"\n";
        let unclear = read(&format!("{RUN}{expected}")).unwrap();
        assert_eq!((counts(&unclear), unclear.warnings.len()), ([5, 3, 1, 1, 0], 1));
        assert!(unclear.warnings[0].starts_with("Boost.Test expected 1 of"), "{:?}", unclear.warnings);
    }

    #[test]
    fn a_report_needs_no_log() {
        assert_eq!(counts(&read(SHORT).unwrap()), [6, 3, 1, 1, 1]);
        assert!(matches!(sniffed(&FORMAT, SHORT), Sniff::Maybe(_)));
    }

    #[test]
    fn what_is_cut_is_no_result() {
        for text in ["", RUN, &format!("{RUN}{}", SHORT.trim_end_matches('\n').to_owned() + "\n")] {
            assert_eq!(read(text).unwrap_err().reject(), Some(Reject::NoResult), "{text}");
        }
    }
}
