//! One test binary: what it prints between `running N tests` and its result.

use std::collections::{BTreeMap, BTreeSet};

use super::super::rust_failure::{Failure, panic};
use super::super::{CASES_KEPT, LONGEST_ID};
use crate::ingest::text::{is_number, printable};
use crate::model::cases::{Outcome, TestCase};

/// Tests of one binary of which is kept why they failed.
const FAILURES_KEPT: usize = 10_000;

/// The numbers of one result line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub passed: u64,
    pub failed: u64,
    pub ignored: u64,
    pub measured: u64,
}

impl Counts {
    /// Reads `test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.22s`. The inner
    /// result tells of a number that is too large.
    pub fn read(line: &str) -> Option<Option<Counts>> {
        let rest = line.strip_prefix("test result: ")?;
        let (failed, rest) = match rest.strip_prefix("ok. ") {
            Some(rest) => (false, rest),
            None => (true, rest.strip_prefix("FAILED. ")?),
        };
        let mut parts = rest.split("; ");
        let mut numbers = [0; 5];
        let mut fits = true;
        for (slot, word) in numbers.iter_mut().zip([" passed", " failed", " ignored", " measured", " filtered out"]) {
            let number = parts.next()?.strip_suffix(word)?;
            if !is_number(number) {
                return None;
            }
            match number.parse() {
                Ok(number) => *slot = number,
                Err(_) => fits = false,
            }
        }
        let time = parts.next();
        let is_time = time.is_none_or(|time| {
            let number = time.strip_prefix("finished in ").and_then(|time| time.strip_suffix('s'));
            number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'))
        });
        if !is_time || parts.next().is_some() {
            return None;
        }
        let [passed, failures, ignored, measured, _] = numbers;
        // `ok` with failures, or the other way round, is nobody's result.
        if fits && failed != (failures > 0) && !failed {
            return None;
        }
        Some(fits.then_some(Counts { passed, failed: failures, ignored, measured }))
    }

    /// All tests.
    pub fn total(self) -> Option<u64> {
        self.passed.checked_add(self.failed)?.checked_add(self.ignored)?.checked_add(self.measured)
    }

    /// The sum; none if it does not fit.
    pub fn plus(self, other: Counts) -> Option<Counts> {
        let sum = Counts {
            passed: self.passed.checked_add(other.passed)?,
            failed: self.failed.checked_add(other.failed)?,
            ignored: self.ignored.checked_add(other.ignored)?,
            measured: self.measured.checked_add(other.measured)?,
        };
        sum.total().map(|_| sum)
    }
}

/// What stands between `running N tests` and its result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Part {
    /// Lines of single tests.
    #[default]
    Tests,
    /// Captured outputs of tests, after the line `failures:` or `successes:`.
    Captured,
    /// The indented names under a second such line.
    Names,
}

/// One test binary that is running.
#[derive(Debug, Default)]
pub(super) struct Binary {
    expected: u64,
    pub part: Part,
    named: BTreeMap<Name, Outcome>,
    failures: BTreeSet<Name>,
    /// Why tests failed, and the one whose output is read.
    told: BTreeMap<Name, Failure>,
    telling: Option<Name>,
    pub counts: Option<Counts>,
    /// Headings of cargo came among the captured outputs: only a result with the list of its own failures counts.
    pub has_printed_headings: bool,
}

/// Name of a test, and of a doc-test its line.
type Name = (String, Option<u64>);

/// Tests of one binary by name.
pub(super) type Names = BTreeMap<String, TestCase>;

impl Binary {
    /// One that has announced `expected` tests.
    pub fn running(expected: u64) -> Binary {
        Binary { expected, ..Binary::default() }
    }

    /// Whether a result has come that fits the number of tests announced.
    pub fn is_done(&self) -> bool {
        self.counts.is_some_and(|counts| counts.total() == Some(self.expected))
    }

    /// Of several result lines the last one that fits the number announced counts: the others were printed by tests.
    pub fn result(&mut self, counts: Counts) {
        let fits = counts.total() == Some(self.expected);
        let fits_names = match self.part {
            Part::Tests => true,
            Part::Captured => false,
            Part::Names if counts.failed == 0 => !self.has_printed_headings,
            Part::Names => self.lists_the_failed(counts),
        };
        if fits && fits_names {
            self.counts = Some(counts);
        }
    }

    /// Whether the list of failures that stands above a result is its own: as long, and with the tests that failed above. With
    /// `--nocapture` a test may have printed into the lines of some.
    fn lists_the_failed(&self, counts: Counts) -> bool {
        let failed = self.named.iter().filter(|(_, outcome)| **outcome == Outcome::Failed).map(|(name, _)| name);
        let failed: BTreeSet<&Name> = failed.collect();
        u64::try_from(self.failures.len()) == Ok(counts.failed)
            && failed.iter().all(|name| self.failures.contains(*name))
    }

    /// A line of it that is no result.
    pub fn line(&mut self, text: &str) {
        match text {
            "failures:" | "successes:" => {
                self.part = if self.part == Part::Tests { Part::Captured } else { Part::Names };
                self.failures.clear();
                self.telling = None;
                return;
            }
            "" => return,
            _ => {}
        }
        self.tells(text);
        match self.part {
            Part::Tests => self.test(text),
            Part::Captured => {}
            Part::Names => match text.strip_prefix("    ") {
                Some(name) if self.failures.len() <= CASES_KEPT => drop(self.failures.insert(without_line(name))),
                Some(_) => {}
                None => self.part = Part::Captured,
            },
        }
    }

    /// Why tests fail stands below `---- a::b stdout ----` and, with `--nocapture`, among the lines of single tests, where
    /// libtest names a test's thread as the test.
    fn tells(&mut self, text: &str) {
        match self.part {
            Part::Tests => match panic(text) {
                Some((thread, _)) => self.begin_telling(thread),
                None if text == "FAILED" || text.starts_with("test ") => self.telling = None,
                None => {}
            },
            Part::Captured => {
                if let Some(heading) = text.strip_prefix("---- ").and_then(|rest| rest.strip_suffix(" ----")) {
                    self.begin_telling(heading.strip_suffix(" stdout").unwrap_or(heading));
                    return;
                }
            }
            Part::Names => {}
        }
        if let Some(failure) = self.telling.as_ref().and_then(|name| self.told.get_mut(name)) {
            failure.line(text);
        }
    }

    fn begin_telling(&mut self, name: &str) {
        let name = without_line(name);
        self.telling = (self.told.len() < FAILURES_KEPT).then_some(name);
        if let Some(name) = &self.telling {
            self.told.insert(name.clone(), Failure::default());
        }
    }

    /// `test a::b - should panic ... ok`, or `a::b --- FAILED` of `-q`.
    fn test(&mut self, text: &str) {
        if self.named.len() > CASES_KEPT {
            return;
        }
        if let Some(name) = text.strip_suffix(" --- FAILED") {
            self.named.insert(without_line(name), Outcome::Failed);
            return;
        }
        let Some((name, word)) = text.strip_prefix("test ").and_then(|rest| rest.rsplit_once(" ... ")) else { return };
        let outcome = match word.trim() {
            "ok" => Outcome::Passed,
            "FAILED" => Outcome::Failed,
            word if word == "ignored" || word.starts_with("ignored, ") => Outcome::Skipped,
            word if word.starts_with("bench:") => Outcome::Passed,
            _ => return,
        };
        self.named.insert(without_line(name), outcome);
    }

    /// The tests by name, if they agree with the result; else those that failed, which are listed again at the end.
    /// Doc-tests of one item differ in their line alone, which moves with every edit: they are numbered instead.
    pub fn names(self, counts: Counts) -> Names {
        let of = |wanted: Outcome| {
            let number = self.named.values().filter(|outcome| **outcome == wanted).count();
            u64::try_from(number).unwrap_or(u64::MAX)
        };
        let passed = counts.passed.checked_add(counts.measured);
        let agrees = Some(of(Outcome::Passed)) == passed
            && of(Outcome::Failed) == counts.failed
            && of(Outcome::Skipped) == counts.ignored;
        let mut told = self.told;
        let named: Vec<_> = if agrees {
            self.named.into_iter().collect()
        } else if u64::try_from(self.failures.len()) == Ok(counts.failed) {
            self.failures.into_iter().map(|name| (name, Outcome::Failed)).collect()
        } else {
            Vec::new()
        };
        let mut names = Names::new();
        let mut before: Option<(String, u64)> = None;
        for ((name, line), outcome) in named {
            let number = before.filter(|(other, _)| *other == name).map_or(1, |(_, number)| number + 1);
            let id = if number == 1 { name.clone() } else { format!("{name} #{number}") };
            let mut case = TestCase { line, ..TestCase::new(outcome) };
            let name = (name, line);
            if let Some(failure) = told.remove(&name).filter(|_| outcome == Outcome::Failed) {
                failure.tell(&mut case);
            }
            names.insert(id, case);
            before = Some((name.0, number));
        }
        names
    }
}

/// `src/lib.rs - Log::put (line 15)` → `src/lib.rs - Log::put` and 15; ` - should panic` and the like go too.
pub(super) fn without_line(name: &str) -> (String, Option<u64>) {
    let parts = name.split_once(" (line ").and_then(|(name, rest)| {
        let (line, rest) = rest.split_once(')')?;
        (rest.is_empty() || rest.starts_with(" - ")).then_some((name, Some(line.parse().ok()?)))
    });
    let (name, line) = parts.unwrap_or((name.strip_suffix(" - should panic").unwrap_or(name), None));
    (printable(name, LONGEST_ID), line)
}
