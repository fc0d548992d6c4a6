//! One run of pytest, as its lines tell it.

use std::collections::{BTreeMap, BTreeSet};

use super::FORMAT;
use super::failures::{Failures, TEARDOWN};
use super::lines::{Counts, failed_subtest, number, outcome};
use super::marks::Marks;
use super::results::Results;
use crate::ingest::test::{CASES_KEPT, LONGEST_ID, UNITS_KEPT};
use crate::ingest::text::{first_lines, printable};
use crate::ingest::{Details, Extra, Parsed, TestDetails};
use crate::model::SCHEMA_VERSION;
use crate::model::cases::{Outcome, TestCase, TestCases};
use crate::model::figures::Figures;

/// In which part of a session a line stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Section {
    /// Header, progress, and whatever has no meaning here.
    #[default]
    Progress,
    /// Failures, errors, passes: source text and messages.
    Reports,
    /// What a test printed.
    Captured,
    /// The short test summary.
    Short,
}

/// The rule around a summary.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    /// Of the whole line, in characters.
    pub(super) width: usize,
    /// The rule is down to one mark on each side, as the text is too long for the terminal.
    pub(super) is_tight: bool,
}

impl Rule {
    pub(super) fn of(line: &str) -> Rule {
        Rule { width: line.chars().count(), is_tight: line.starts_with("= ") }
    }
}

/// One run of pytest.
#[derive(Debug, Default)]
pub(super) struct Run {
    pub(super) has_header: bool,
    /// Something but the summary told that this is pytest.
    pub(super) has_evidence: bool,
    pub(super) section: Section,
    /// Characters of its rules, which all fill the terminal's width.
    pub(super) width: Option<usize>,
    /// How many failures and errors were reported at length.
    pub(super) reports: u64,
    /// Whether those are what is being reported.
    pub(super) reports_failures: bool,
    pub(super) results: Results,
    pub(super) counts: Option<Counts>,
    /// What stands for its tests where no summary comes.
    pub(super) marks: Marks,
    /// What ended it before all its tests had run.
    pub(super) interrupted: Option<String>,
    /// What did so, unless a test failed.
    pub(super) stopped: Option<String>,
    /// Whether a rule stands around its summary that is not as wide as the one that announced the session.
    pub(super) is_odd: bool,
    /// What a test printed is shown between the tests.
    pub(super) shows_output: bool,
    /// Characters of the rule that announced it.
    pub(super) header: Option<usize>,
    /// Lines with text after the summary.
    pub(super) followed: bool,
    /// They are Python's traceback.
    pub(super) ends_in_traceback: bool,
    /// Its summary stands alone, and a test may have printed it.
    pub(super) is_doubted: bool,
    /// A summary is its own: it stands below the short one, which no test printed, or below marks that say that all is done,
    /// or nothing else of the run is there.
    pub(super) is_at_end: bool,
    /// It was called with what it does not know: the next line says with what.
    pub(super) is_refused: bool,
    pub(super) cases: TestCases,
    pub(super) failures: Failures,
    /// Attempts before the one that counts.
    pub(super) reruns: BTreeMap<String, u32>,
    /// How many reports at length there are about a test's end, and how many about the test itself: modules may have tests of
    /// the same names.
    told_of: BTreeMap<String, (u64, u64)>,
    /// All reports at length about the end of a test.
    teardowns: u64,
    /// Outcomes of ids beyond one: of tests that passed or failed, and then failed in their teardown.
    named_twice: Extra,
    /// Of each test in which subtests failed, how many, and whether it failed itself.
    subtests: BTreeMap<String, (u64, bool)>,
    /// Outcomes that name their test.
    pub(super) named: u64,
    pub(super) has_verbose: bool,
    pub(super) units: BTreeSet<String>,
    /// Units that failed, as a line counts them.
    pub(super) units_told: u64,
    /// Nothing ran for them.
    pub(super) is_stopped_by_units: bool,
    /// Its marks count, which nothing ends.
    pub(super) is_open_ended: bool,
    /// Files whose tests ran, as far as it names them.
    pub(super) files: BTreeSet<String>,
    /// As its header tells.
    pub(super) root: Option<String>,
    /// How many failures of the run before it says to repeat, and no other tests.
    pub(super) repeated: Option<u64>,
    pub(super) warnings: BTreeSet<String>,
}

impl Run {
    /// The report, once the summary has come.
    pub(super) fn parsed(mut self) -> Parsed {
        for (id, reruns) in &self.reruns {
            if let Some(case) = self.cases.cases.get_mut(id) {
                case.attempts = case.attempts.saturating_add(*reruns);
            }
        }
        self.cases.schema_version = SCHEMA_VERSION;
        let counts = self.counts.unwrap_or_default();
        let unit_failures = self.failed_units().min(counts.errored);
        let tests = counts.total().unwrap_or(u64::MAX);
        let figures = Figures {
            tests: Some(tests),
            passed: Some(counts.passed),
            failed: Some(counts.failed),
            errored: Some(counts.errored),
            skipped: Some(counts.skipped),
            ..Figures::default()
        };
        let extra = self.extra(&counts);
        let details = TestDetails {
            cases: self.cases,
            failed_units: self.units.into_iter().collect(),
            unit_failures,
            dropped: tests.saturating_sub(unit_failures).saturating_sub(self.named),
            extra,
            ..TestDetails::default()
        };
        let mut parsed = Parsed::new(&FORMAT, figures, Details::Tests(details));
        parsed.warnings.extend(self.warnings);
        parsed.is_open_ended = self.is_open_ended;
        parsed
    }

    /// A line `id OUTCOME [ 3%]`, or `[gw0] [ 3%] OUTCOME id` of xdist.
    pub(super) fn verbose(&mut self, id: &str, word: &str) {
        self.has_verbose = true;
        let id = printable(id, LONGEST_ID);
        match outcome(word) {
            Some(outcome) => {
                self.add(id, TestCase::new(outcome));
                self.named += 1;
            }
            None if self.reruns.len() < CASES_KEPT => *self.reruns.entry(id).or_insert(0) += 1,
            None => {}
        }
    }

    /// A line of the short summary: `FAILED id - message`.
    pub(super) fn short(&mut self, text: &str) {
        let subtest = failed_subtest(text).map(|rest| (Some(Outcome::Failed), rest));
        let sub = subtest.is_some();
        if sub {
            self.marks.doubt();
        }
        let told = subtest.or_else(|| text.split_once(' ').map(|(word, rest)| (outcome(word), rest)));
        let Some((outcome, rest)) = told else { return };
        let Some(outcome) = outcome else { return };
        let (id, message) = self.split_message(rest);
        if !id.contains("::") {
            if outcome == Outcome::Errored {
                self.unit(id);
            }
            return;
        }
        let id = printable(id, LONGEST_ID);
        // A collector can be a class; its heading has told that already.
        if outcome == Outcome::Errored && self.units.contains(&id) {
            return;
        }
        if sub || !self.has_verbose {
            self.named += 1;
        }
        if sub && (self.subtests.len() < CASES_KEPT || self.subtests.contains_key(&id)) {
            let is_failed = self.cases.outcome(&id) == Some(Outcome::Failed);
            self.subtests.entry(id.clone()).or_insert((0, is_failed)).0 += 1;
        } else if let Some((_, is_failed)) = self.subtests.get_mut(&id) {
            *is_failed |= outcome == Outcome::Failed;
        }
        let mut case = TestCase { message: message.and_then(first_lines), ..TestCase::new(outcome) };
        if outcome.is_bad() {
            case.file = id.split("::").next().map(str::to_owned);
            if let Some(told) = self.failures.take(&id) {
                (case.line, case.message) = (Some(told.line), told.message.or(case.message));
            }
        }
        self.add(id, case);
    }

    /// Id and message of the rest of a short summary line. A parameter may hold ` - ` itself.
    fn split_message<'t>(&self, rest: &'t str) -> (&'t str, Option<&'t str>) {
        let known = rest.match_indices(" - ").find_map(|(at, _)| {
            let id = rest.get(..at)?;
            self.cases.cases.contains_key(id).then(|| (id, rest.get(at + 3..)))
        });
        let bracket = || {
            let (id, message) = rest.split_once("] - ")?;
            (id.contains('[') && !id.split('[').next()?.contains(" - "))
                .then(|| (rest.get(..id.len() + 1), Some(message)))
        };
        match known.or_else(|| bracket().and_then(|(id, message)| Some((id?, message)))) {
            Some(parts) => parts,
            None if rest.ends_with(']') && !rest.split('[').next().unwrap_or_default().contains(" - ") => (rest, None),
            None => rest.split_once(" - ").map_or((rest, None), |(id, message)| (id, Some(message))),
        }
    }

    /// Whether a summary of that width, bare if absent, is what some test printed. A session that has a header ends with
    /// a ruled summary; after a test's output only one as wide as the other rules is its own, or wider where the counts
    /// leave no room. A bare one there counts what was reported.
    pub(super) fn is_imitation(&self, counts: &Counts, rule: Option<Rule>) -> bool {
        if self.counts.is_some() {
            return false;
        }
        match (self.section, rule) {
            (Section::Reports | Section::Captured, Some(rule)) => {
                self.width.is_some_and(|width| rule.width != width && !(rule.is_tight && rule.width > width))
            }
            (Section::Captured, None) if !self.has_header => {
                counts.failed.checked_add(counts.errored) != Some(self.reports)
            }
            (Section::Captured, None) => true,
            (_, None) => self.has_header,
            (Section::Progress | Section::Short, Some(_)) => false,
        }
    }

    /// Whether its block of results has ended above that line. After a test's output it is that output, as a summary is,
    /// unless a table of the failures stands between.
    pub(super) fn has_results_above(&self, text: &str) -> bool {
        let is_own = matches!(self.section, Section::Progress | Section::Short) || self.results.are_below_table();
        is_own && self.counts.is_none() && self.results.end_above(text, self.teardowns)
    }

    /// What its block of results counts.
    pub(super) fn block(&self) -> Option<Counts> {
        self.results.counts(self.teardowns)
    }

    /// A block of results, or the marks of a quiet run, stand where the summary line would.
    pub(super) fn count_without_summary(&mut self) {
        if self.results.are_there() {
            self.counts = self.block();
        } else if self.counts.is_none() && !self.has_header {
            self.counts = self.counts_of_marks();
        }
    }

    /// How many units failed, as far as it says.
    fn failed_units(&self) -> u64 {
        u64::try_from(self.units.len()).unwrap_or(u64::MAX).max(self.units_told)
    }

    fn counts_of_marks(&mut self) -> Option<Counts> {
        let units = self.failed_units();
        let counts = match self.marks.counts() {
            Some(counts) => counts,
            None if self.is_stopped_by_units => Counts::default(),
            None => return None,
        };
        self.is_open_ended = true;
        self.warnings.insert(
            "pytest printed no summary (-qq): its marks count, in which modules that were skipped as a whole have none"
                .to_owned(),
        );
        Some(Counts { errored: counts.errored.saturating_add(units), ..counts })
    }

    /// pytest goes on: what looked like its summary was some test's output.
    pub(super) fn go_on(&mut self) {
        (self.counts, self.interrupted, self.stopped) = (None, None, None);
        self.results.forget();
    }

    pub(super) fn unit(&mut self, name: &str) {
        if self.units.len() < UNITS_KEPT {
            self.units.insert(printable(name, 200));
        }
    }

    fn add(&mut self, id: String, case: TestCase) {
        if let Some(before) = self.cases.cases.get_mut(&id) {
            match (before.outcome, case.outcome) {
                (Outcome::Passed, Outcome::Errored) => self.named_twice.passed += 1,
                (Outcome::Failed, Outcome::Errored) => self.named_twice.failed += 1,
                _ => {}
            }
            before.outcome = before.outcome.max(case.outcome);
            before.message = before.message.take().or(case.message);
            before.file = before.file.take().or(case.file);
            before.line = before.line.or(case.line);
            return;
        }
        if self.cases.cases.len() >= CASES_KEPT {
            self.named = self.named.saturating_sub(1);
            return;
        }
        self.cases.add(id, case);
    }

    /// The title of a report at length about what failed.
    pub(super) fn reported(&mut self, title: &str) {
        self.reports = self.reports.saturating_add(1);
        let torn_down = title.strip_prefix(TEARDOWN);
        self.teardowns = self.teardowns.saturating_add(u64::from(torn_down.is_some()));
        let test = printable(torn_down.unwrap_or(title), LONGEST_ID);
        if self.told_of.len() >= CASES_KEPT && !self.told_of.contains_key(&test) {
            return;
        }
        let (teardowns, failures) = self.told_of.entry(test).or_default();
        *(if torn_down.is_some() { teardowns } else { failures }) += 1;
    }

    /// What the counts hold beyond one outcome for each test.
    fn extra(&self, counts: &Counts) -> Extra {
        let mut twice = Extra::default();
        for (teardowns, failures) in self.told_of.values() {
            twice.failed += teardowns.min(failures);
            twice.passed += teardowns.saturating_sub(*failures);
        }
        if self.teardowns == 0 {
            twice = self.named_twice;
        }
        if twice.passed.saturating_add(twice.failed) > counts.errored {
            twice = Extra::default();
        }
        for (subtests, is_failed) in self.subtests.values() {
            // Of a test that passed but for them, pytest-subtests tells that, too.
            twice.passed += u64::from(!is_failed && *subtests > 0);
            twice.failed += if *is_failed { *subtests } else { subtests.saturating_sub(1) };
        }
        if twice.passed <= counts.passed && twice.failed <= counts.failed { twice } else { Extra::default() }
    }

    /// The title of a rule of `!`: why no more tests run.
    pub(super) fn ended_early(&mut self, title: &str) {
        if let Some(rest) = title.strip_prefix("Interrupted: ").filter(|rest| rest.contains("during collection")) {
            self.units_told = self.units_told.max(number(rest).unwrap_or(0));
            self.is_stopped_by_units = true;
        } else if let Some(failures) = title.strip_prefix("stopping after ").and_then(number) {
            self.marks.stop(failures.saturating_sub(self.failed_units()));
        }
    }

    /// Lines outside the short summary that say how many units failed.
    pub(super) fn told(&mut self, text: &str) {
        if self.section == Section::Reports {
            self.failures.line(text);
        }
        if self.section == Section::Progress {
            if let Some(rest) = text.strip_prefix("rootdir: ").filter(|_| self.has_header && self.root.is_none()) {
                let ends = [", configfile: ", ", inifile:", ", testpaths: "];
                let end = ends.iter().filter_map(|end| rest.find(end)).min();
                self.root = rest.get(..end.unwrap_or(rest.len())).map(|root| printable(root, LONGEST_ID));
            }
            let collected = text.strip_prefix("collecting ... ").unwrap_or(text).strip_prefix("collected ");
            let errors = collected
                .and_then(|rest| rest.split(" / ").find(|part| part.ends_with(" error") || part.ends_with(" errors")));
            self.units_told = self.units_told.max(errors.and_then(number).unwrap_or(0));
            let repeated = text.strip_prefix("run-last-failure: rerun previous ");
            // With `--failed-first` all others run, too.
            if let Some(repeated) = repeated.filter(|rest| !rest.ends_with(" first")) {
                self.repeated = number(repeated);
            }
        }
    }

    /// What was wrong with the call comes after the summary, which says that no tests ran. So does what the summary knows
    /// nothing of: what a second interrupt did (`timeout -s INT` sends two), and a plugin that fails when all is over.
    pub(super) fn after_summary(&mut self, text: &str) {
        self.ends_in_traceback |= !self.followed && text == "Traceback (most recent call last):";
        if self.ends_in_traceback && text == "KeyboardInterrupt" {
            self.interrupted = Some(text.to_owned());
        } else if self.ends_in_traceback && text.starts_with("  File \"") && text.contains("/_pytest/") {
            self.interrupted.get_or_insert_with(|| "an error that no test had, below its summary".to_owned());
        }
        let nothing_ran = self.counts.is_some_and(|counts| counts.total() == Some(0));
        let message = match std::mem::take(&mut self.is_refused) {
            true => text.split_once(": error: ").map(|(_, message)| message),
            false => text.strip_prefix("ERROR: "),
        };
        if let Some(message) = message.filter(|_| nothing_ran && self.warnings.len() < 20) {
            self.warnings.insert(format!("pytest: {}", printable(message, 200)));
        }
    }
}
