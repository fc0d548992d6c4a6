//! Robot Framework's console, and what pabot prints around it. Every suite sums up below its own tests; the sum of the
//! outermost stands last, above the paths of what was written, and is that of the run.

use std::collections::BTreeSet;
use std::mem;

use crate::error::Result;
use crate::ingest::test::LONGEST_ID;
use crate::ingest::test::text_report::{Names, Summary};
use crate::model::cases::Outcome;

/// Suites of a run that are held. One with more of them, or longer names, counts for itself.
const SUITES_HELD: usize = 5_000;

/// Its runs.
#[derive(Debug, Default)]
pub(super) struct Robot {
    /// The last sum of the run that goes on, and whether it is pabot's.
    last: Option<(Summary, bool)>,
    run: Named,
    /// The latest outcome of each test, of the runs that name all of theirs; and the sum of the others.
    tests: Names,
    unnamed: Summary,
    has_run: bool,
    /// Runs that pabot made, which sums them up at last.
    parts: Summary,
    /// Tests that ran again, and those that passed only then.
    again: u64,
    flaky: u64,
    /// What was wrong with a command that ran nothing, until the hint below it comes.
    has_fault: bool,
    faults: u64,
}

/// The tests of one run by name.
#[derive(Debug, Default)]
struct Named {
    suites: BTreeSet<String>,
    suite: String,
    tests: Names,
    /// Whether a line stands below a rule, and what it said: the name of a suite or a test.
    is_below_rule: bool,
    above: String,
    /// There are more than are held, or two of one name.
    is_off: bool,
}

impl Robot {
    /// Takes a line that sums up.
    pub(super) fn sum(&mut self, summary: Summary, text: &str) {
        // Only pabot sets a full stop.
        self.last = Some((summary, text.ends_with('.')));
    }

    /// Takes any other line.
    pub(super) fn line(&mut self, text: &str) -> Result<()> {
        if text.starts_with("Output:  ") {
            return self.end(text.contains("pabot_results"));
        }
        if text.starts_with("[ ERROR ] ") {
            self.has_fault = true;
        } else if !text.is_empty() && mem::take(&mut self.has_fault) && text == "Try --help for usage information." {
            self.faults = self.faults.saturating_add(1);
        }
        self.run.line(text);
        Ok(())
    }

    /// A run is over.
    fn end(&mut self, is_part: bool) -> Result<()> {
        let run = mem::take(&mut self.run);
        let Some((summary, is_sum)) = self.last.take() else { return Ok(()) };
        self.has_run = true;
        if is_part {
            return self.parts.merge(&summary);
        }
        if is_sum {
            self.parts = Summary::default();
        }
        if !run.tells(&summary) {
            return self.unnamed.merge(&summary);
        }
        for (test, case) in run.tests.cases {
            let (before, now) = (self.tests.get(&test).map(|case| case.outcome), case.outcome);
            match before {
                // It did not run again.
                Some(_) if now == Outcome::Skipped => continue,
                Some(before) => {
                    self.again += 1;
                    self.flaky += u64::from(before == Outcome::Failed && now == Outcome::Passed);
                }
                None => {}
            }
            if self.tests.set(&test, now).is_none() {
                *self.unnamed.slot(now) += 1;
            }
        }
        Ok(())
    }

    /// Whether anything was summed up, or failed without.
    pub(super) fn is_there(&self) -> bool {
        self.last.is_some() || self.has_run || self.faults > 0
    }

    /// The sum of all runs, and how many tests of it ran again.
    pub(super) fn told(mut self) -> Result<(Summary, u64)> {
        if let Some((_, is_sum)) = self.last {
            self.end(!is_sum && self.parts != Summary::default())?;
        }
        let mut sum = self.unnamed;
        sum.merge(&self.parts)?;
        for case in self.tests.cases.into_values() {
            *sum.slot(case.outcome) += 1;
        }
        sum.flaky = self.flaky;
        sum.add_units(self.faults)?;
        Ok((sum, self.again))
    }
}

impl Named {
    fn line(&mut self, text: &str) {
        if is_rule(text) {
            // `====`, the name, `====`; below the name of a test stands what it prints.
            if text.starts_with('=') && !self.is_below_rule && !self.above.is_empty() {
                self.suite = mem::take(&mut self.above);
                self.is_off |= self.suites.len() >= SUITES_HELD || self.suite.len() > LONGEST_ID;
                if !self.is_off {
                    self.suites.insert(self.suite.clone());
                }
            }
            self.above.clear();
            self.is_below_rule = true;
            return;
        }
        let is_below_rule = mem::take(&mut self.is_below_rule);
        let told = OUTCOMES.iter().find_map(|(end, outcome)| Some((text.strip_suffix(end)?, *outcome)));
        if let Some((name, outcome)) = told {
            // What a test printed stands between its name and its outcome.
            let name = if name.trim().is_empty() { mem::take(&mut self.above) } else { name_of(name).to_owned() };
            self.above.clear();
            self.test(&name, outcome);
        } else if is_below_rule {
            name_of(text).clone_into(&mut self.above);
        }
    }

    fn test(&mut self, name: &str, outcome: Outcome) {
        if self.suites.contains(name) {
            return;
        }
        let id = format!("{}.{name}", self.suite);
        self.is_off |= self.tests.get(&id).is_some() || self.tests.set(&id, outcome).is_none();
    }

    /// Whether these are the tests of that sum.
    fn tells(&self, sum: &Summary) -> bool {
        let of = |outcome| self.tests.cases.values().filter(|case| case.outcome == outcome).count();
        let counts = [(Outcome::Passed, sum.passed), (Outcome::Failed, sum.failed), (Outcome::Skipped, sum.skipped)];
        !self.is_off && counts.into_iter().all(|(outcome, count)| u64::try_from(of(outcome)) == Ok(count))
    }
}

const OUTCOMES: [(&str, Outcome); 3] =
    [("| PASS |", Outcome::Passed), ("| FAIL |", Outcome::Failed), ("| SKIP |", Outcome::Skipped)];

/// The name of a suite or test in front of its documentation, or of the room up to its outcome.
fn name_of(text: &str) -> &str {
    let name = text.split("  ").next().unwrap_or_default();
    name.split(" :: ").next().unwrap_or_default().trim()
}

fn is_rule(text: &str) -> bool {
    const SHORTEST: usize = 10;
    let is_all = |sign: u8| text.bytes().all(|byte| byte == sign);
    text.len() >= SHORTEST && (is_all(b'=') || is_all(b'-'))
}
