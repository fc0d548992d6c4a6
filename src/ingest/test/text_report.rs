//! What the text formats of tests share: numbers with words behind them, and a report of a summary with some names.

use std::collections::BTreeMap;

use super::{CASE_BYTES, CASES_KEPT, LONGEST_ID, TestTally, UNITS_KEPT, cargo_test_text, pytest_text};
use crate::error::{Error, Reject, Result};
use crate::ingest::text::{first_lines, is_number, printable, shown};
use crate::ingest::{Extra, Format, Head, Parsed, add};
use crate::model::cases::{Outcome, TestCase};

/// Bytes of names and messages that are kept until the summary comes.
const NAMES_BYTES: usize = 20 * 1024 * 1024;
/// What a failed test's place and message take, as a rule.
const MESSAGE_BYTES: usize = 500;

/// What to do about a log without a summary.
pub(super) const KILLED_HELP: &str =
    "the test run was probably killed; run it again, or leave it out: `begin` and `record` take --skip test";

/// A log whose summary never came, or that is another one.
pub(super) fn no_result(why: &str, line: u64) -> Error {
    Error::report(Reject::NoResult, why).line(line.max(1)).help(KILLED_HELP)
}

/// Whether it is XML, or cargo test or pytest wrote it, whose tests may print what any other runner does.
pub(super) fn is_foreign(head: &Head<'_>) -> bool {
    head.xml().is_some() || *head.found.has_foreign_line.get_or_init(|| head.lines().any(is_foreign_line))
}

/// Whether cargo test or pytest wrote the line.
pub(super) fn is_foreign_line(line: &str) -> bool {
    cargo_test_text::is_marker(line) || pytest_text::is_marker(line)
}

/// `4` and `failed` of `4 failed`. `None` if it is not so; the number is `None` if it is too large.
pub(super) fn counted(part: &str) -> Option<(Option<u64>, &str)> {
    let (number, word) = part.trim().split_once(' ')?;
    is_number(number).then(|| (number.parse().ok(), word.trim()))
}

/// The id of a test by its file, the blocks that it stands in and its own title: `Cart > adds`.
pub(super) fn titled(file: Option<&str>, titles: &str) -> String {
    file.into_iter().chain(titles.split(" > ")).collect::<Vec<_>>().join("::")
}

/// Messages of tests that failed that are held until their tests are named.
pub(super) const MESSAGES_HELD: usize = 10_000;

/// Adds a line to the message of a test that failed, which has three lines at most.
pub(super) fn add_line(message: &mut Option<String>, line: &str) {
    let before = message.as_deref().unwrap_or_default();
    if before.matches(" | ").count() < 2 {
        let line: String = line.chars().take(400).collect();
        *message = first_lines(&format!("{before}\n{line}"));
    }
}

/// Says of the last run of a tool's text that it stands for itself, where there are several.
pub(super) fn say_last(parsed: &mut Parsed, runs: u64, tool: &str) {
    if runs > 1 {
        parsed.warnings.push(format!("{runs} runs of {tool} are in it: the last one counts"));
    }
}

/// The counts of a summary, and the names that stand elsewhere in the text.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Summary {
    pub passed: u64,
    pub failed: u64,
    pub errored: u64,
    pub skipped: u64,
    /// Of the passed.
    pub flaky: u64,
    /// Of the errored: units that failed outside any test.
    pub unit_failures: u64,
    /// Further outcomes of tests.
    pub extra: Extra,
}

impl Summary {
    /// Adds a number of the summary to one of its counts.
    ///
    /// # Errors
    /// Malformed if it does not fit.
    pub(super) fn add(slot: &mut u64, number: Option<u64>) -> Result<()> {
        let too_large = || Error::report(Reject::Malformed, "a number of the test summary is too large");
        *slot = add(*slot, number.ok_or_else(too_large)?)?;
        Ok(())
    }

    /// The sum of `3 passed` and others like it, by what each word means. `None` if one is not so, or a number too large.
    pub(super) fn of<'t>(
        parts: impl IntoIterator<Item = &'t str>,
        meaning: impl Fn(&str) -> Option<Outcome>,
    ) -> Option<Summary> {
        let mut summary = Summary::default();
        for part in parts {
            let (number, word) = counted(part)?;
            let slot = summary.slot(meaning(word)?);
            *slot = slot.checked_add(number?)?;
        }
        Some(summary)
    }

    /// The count of these.
    pub(super) fn slot(&mut self, outcome: Outcome) -> &mut u64 {
        match outcome {
            Outcome::Passed => &mut self.passed,
            Outcome::Failed => &mut self.failed,
            Outcome::Errored => &mut self.errored,
            Outcome::Skipped => &mut self.skipped,
        }
    }

    /// Adds what failed outside any test.
    ///
    /// # Errors
    /// Malformed if the sum does not fit.
    pub(super) fn add_units(&mut self, units: u64) -> Result<()> {
        self.errored = add(self.errored, units)?;
        self.unit_failures = add(self.unit_failures, units)?;
        Ok(())
    }

    /// Adds the counts of another run.
    ///
    /// # Errors
    /// Malformed if a sum does not fit.
    pub(super) fn merge(&mut self, other: &Summary) -> Result<()> {
        for (sum, number) in [
            (&mut self.passed, other.passed),
            (&mut self.failed, other.failed),
            (&mut self.errored, other.errored),
            (&mut self.skipped, other.skipped),
            (&mut self.flaky, other.flaky),
            (&mut self.unit_failures, other.unit_failures),
        ] {
            *sum = add(*sum, number)?;
        }
        Ok(())
    }
}

/// Names of tests and units met in a text, as many as are kept.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    pub cases: BTreeMap<String, TestCase>,
    pub units: Vec<String>,
    /// Of the cases, with room for messages.
    bytes: usize,
}

impl Names {
    /// Notes an outcome; what is told later of the same test stands.
    pub(super) fn set(&mut self, id: &str, outcome: Outcome) -> Option<&mut TestCase> {
        let id = printable(id, LONGEST_ID);
        if !self.has_room(&id, outcome) {
            return None;
        }
        let case = self.cases.entry(id).or_insert_with(|| TestCase::new(outcome));
        case.outcome = outcome;
        Some(case)
    }

    /// The test that was noted with this id.
    pub(super) fn get(&self, id: &str) -> Option<&TestCase> {
        self.cases.get(&*shown(id, LONGEST_ID))
    }

    /// As [`Names::get`].
    pub(super) fn get_mut(&mut self, id: &str) -> Option<&mut TestCase> {
        self.cases.get_mut(&*shown(id, LONGEST_ID))
    }

    /// Forgets what turned out to be no test.
    pub(super) fn remove(&mut self, id: &str) {
        self.cases.remove(&*shown(id, LONGEST_ID));
    }

    /// Whether the test is kept; one that is new is counted as such.
    fn has_room(&mut self, id: &str, outcome: Outcome) -> bool {
        if self.cases.contains_key(id) {
            return true;
        }
        if self.cases.len() >= CASES_KEPT || self.bytes >= NAMES_BYTES {
            return false;
        }
        let message = if outcome.is_bad() { MESSAGE_BYTES } else { 0 };
        self.bytes += CASE_BYTES + id.len() + message;
        true
    }

    /// Notes a unit that failed outside any test.
    pub(super) fn unit(&mut self, name: &str) {
        if self.units.len() < UNITS_KEPT {
            self.units.push(printable(name, 200));
        }
    }

    /// How many units are noted.
    pub(super) fn unit_count(&self) -> u64 {
        u64::try_from(self.units.len()).unwrap_or(u64::MAX)
    }

    /// Those of another run, too, as far as there is room.
    pub(super) fn merge(&mut self, other: Names) {
        for (id, case) in other.cases {
            if self.has_room(&id, case.outcome) {
                self.cases.insert(id, case);
            }
        }
        self.units.extend(other.units);
        self.units.truncate(UNITS_KEPT);
    }

    /// The report of a summary with these names.
    ///
    /// # Errors
    /// Malformed if the sum does not fit.
    pub(super) fn report(self, format: &'static Format, summary: &Summary, compiled: bool) -> Result<Parsed> {
        let mut tally = TestTally::new(compiled);
        let tests = summary.errored.saturating_sub(summary.unit_failures);
        for (outcome, number) in [
            (Outcome::Passed, summary.passed),
            (Outcome::Failed, summary.failed),
            (Outcome::Errored, tests),
            (Outcome::Skipped, summary.skipped),
        ] {
            tally.count(outcome, number)?;
        }
        for (id, case) in self.cases {
            tally.keep(&id, case);
        }
        tally.flaky = summary.flaky;
        tally.add_extra(summary.extra);
        tally.details.failed_units = self.units;
        tally.details.unit_failures = summary.unit_failures.min(summary.errored);
        tally.finish_with_few_names(format)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::test::junit;
    use crate::ingest::test::tests_support::{counts, details};

    #[test]
    fn numbers_have_a_word() {
        assert_eq!(counted(" 4 failed"), Some((Some(4), "failed")));
        assert_eq!(counted("18446744073709551616 failed"), Some((None, "failed")));
        for none in ["failed", "4", "-4 failed", "+4 failed", "4.5 failed", "１ failed", ""] {
            assert_eq!(counted(none), None, "{none}");
        }
        assert!(Summary::add(&mut 1, None).is_err() && Summary::add(&mut 1, Some(u64::MAX)).is_err());
    }

    #[test]
    fn a_message_has_three_lines() {
        let mut message = None;
        ["a", "", "  b\t", "c", "d"].iter().for_each(|line| add_line(&mut message, line));
        assert_eq!(message.as_deref(), Some("a | b | c"));
    }

    #[test]
    fn a_test_is_found_by_the_name_that_it_was_noted_with() {
        let mut names = Names::default();
        for id in ["a::b", "splits a\tb", &"n".repeat(LONGEST_ID + 10)] {
            assert!(names.get(id).is_none());
            names.set(id, Outcome::Failed);
            names.get_mut(id).unwrap().line = Some(7);
            assert_eq!(names.get(id).unwrap().line, Some(7), "{id}");
        }
        assert_eq!(names.cases.len(), 3);
    }

    #[test]
    fn the_names_of_many_runs_take_no_more_room_than_those_of_one() {
        let long = "n".repeat(LONGEST_ID - 10);
        let mut all = Names::default();
        for run in 0..300 {
            let mut one = Names::default();
            for test in 0..100 {
                one.set(&format!("{long}{run}.{test}"), Outcome::Passed);
            }
            (0..10).for_each(|_| one.unit("u"));
            all.merge(one);
        }
        let kept: usize = all.cases.keys().map(|id| CASE_BYTES + id.len()).sum();
        assert!((NAMES_BYTES..NAMES_BYTES + 2 * LONGEST_ID).contains(&kept), "{kept}");
        assert_eq!(all.units.len(), UNITS_KEPT);
    }

    #[test]
    fn what_a_text_does_not_name_is_told_as_dropped() {
        let mut names = Names::default();
        names.set("a", Outcome::Failed);
        names.set("a", Outcome::Passed);
        names.unit("u");
        let summary = Summary { passed: 3, errored: 1, unit_failures: 1, flaky: 1, ..Summary::default() };
        let parsed = names.report(&junit::FORMAT, &summary, true).unwrap();
        assert_eq!((counts(&parsed), parsed.figures.flaky, parsed.warnings.len()), ([4, 3, 0, 1, 0], Some(1), 0));
        let details = details(&parsed);
        assert_eq!((details.dropped, details.unit_failures, details.cases.outcome("a")), (2, 1, Some(Outcome::Passed)));
    }
}
