//! `unittest-text`: what Python's own `unittest` prints, and Django's runner with it. Its definition is the class
//! `TextTestRunner`. Set-ups of classes and modules that fail are errors that `Ran` does not count.

use std::collections::{BTreeMap, BTreeSet};

use super::runs::{Run, Runs};
use super::stack;
use super::text_report::{MESSAGES_HELD, Names, Summary, is_foreign, no_result};
use crate::error::{Error, Reject, Result};
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine, first_lines, is_number, split_at};
use crate::ingest::{Format, Head, Parsed, Sniff, add};
use crate::model::cases::Outcome;
use crate::model::figures::ReportKind;

/// What `python -m unittest` prints.
pub const FORMAT: Format = Format {
    name: "unittest-text",
    kind: ReportKind::Test,
    about: "terminal output of Python's unittest",
    written_by: "python -m unittest, Django's manage.py test, nose, nose2, green, testtools, Twisted's trial",
    told_by: "\"Ran N tests in …\" with OK or FAILED after it",
    has_end: true,
    counting: "Failures and unexpected successes failed, errors are errored, skipped and expected failures are \
               skipped; what is left of \"Ran N tests\" passed. Where the marks or lines of the tests say that those \
               that were skipped are not among the N (CPython 3.12.1), all N without them passed.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    if is_foreign(head) {
        return Sniff::No;
    }
    let mut ran = false;
    let mut told = false;
    for line in head.last_lines().map(str::trim_end) {
        if self::ran(line).is_some() {
            (ran, told) = (true, false);
        } else if ran && status(line).is_some() {
            told = true;
        }
    }
    match (told, ran) {
        (true, _) => Sniff::Sure("lines \"Ran N tests\" and OK or FAILED".into()),
        (false, true) => Sniff::Maybe("a line \"Ran N tests\"".into()),
        (false, false) if head.lines().filter_map(verbose).take(2).count() == 2 => {
            Sniff::Maybe("lines \"test (class) ... ok\"".into())
        }
        (false, false) => Sniff::No,
    }
}

/// `5` of `Ran 5 tests in 0.001s`; `Some(None)` if it is too large.
fn ran(line: &str) -> Option<Option<u64>> {
    let rest = line.strip_prefix("Ran ")?;
    let (number, rest) = rest.split_once(' ')?;
    let time = rest.strip_prefix("tests in ").or_else(|| rest.strip_prefix("test in "))?;
    // green goes on with ` using 2 processes`.
    let seconds = time.split(" using ").next()?.strip_suffix('s')?;
    let is_time = seconds.split('.').all(is_number);
    (is_number(number) && is_time).then(|| number.parse().ok())
}

/// `Ran 5 tests in 0.031s using 2 processes`: green puts no rule above it.
fn is_green_s(line: &str) -> bool {
    line.contains("s using ") && (line.ends_with(" process") || line.ends_with(" processes"))
}

/// The counts of `FAILED (failures=1, errors=1)`, `PASSED (successes=1)` of trial; empty for `OK`, and for what green says
/// where there is no test.
fn status(line: &str) -> Option<Vec<(&str, Option<u64>)>> {
    if matches!(line, "OK" | "NO TESTS RAN" | "No Tests Found") {
        return Some(Vec::new());
    }
    let starts = ["OK (", "FAILED (", "PASSED (", "NO TESTS RAN ("];
    let rest = starts.iter().find_map(|start| line.strip_prefix(start))?;
    rest.strip_suffix(')')?
        .split(", ")
        .map(|part| {
            let (word, number) = part.split_once('=')?;
            is_number(number).then(|| (word, number.parse().ok()))
        })
        .collect()
}

/// Name and outcome of `test_a (mod.Class.test_a) ... ok`.
fn verbose(line: &str) -> Option<(String, Outcome)> {
    split_at(line, " ... ")?;
    let (name, word) = line.trim_end().rsplit_once(" ... ")?;
    let outcome = match word {
        "ok" | "unexpected success" => Outcome::Passed,
        "FAIL" => Outcome::Failed,
        "ERROR" => Outcome::Errored,
        "expected failure" => Outcome::Skipped,
        word if word == "skipped" || word.starts_with("skipped ") => Outcome::Skipped,
        _ => return None,
    };
    let outcome = if word == "unexpected success" { Outcome::Failed } else { outcome };
    id(name.trim_start()).map(|id| (id, outcome))
}

/// `mod.Class.test_a` of `test_a (mod.Class.test_a) (i=1)`, and of `test_a (mod.Class)` as older versions print it.
fn id(name: &str) -> Option<String> {
    if fixture(name).is_some() {
        return None;
    }
    let (test, rest) = name.split_once(" (")?;
    let (class, _) = rest.split_once(')')?;
    let is_name = |text: &str| !text.is_empty() && !text.contains(char::is_whitespace);
    if !is_name(test) || !is_name(class) {
        return None;
    }
    Some(if class.ends_with(&format!(".{test}")) { class.to_owned() } else { format!("{class}.{test}") })
}

/// The class or module of `setUpClass (mod.Class)`, which is no test.
fn fixture(name: &str) -> Option<&str> {
    let (fixture, rest) = name.split_once(" (")?;
    let is_fixture = matches!(fixture, "setUpClass" | "setUpModule" | "tearDownClass" | "tearDownModule");
    is_fixture.then(|| rest.split(')').next())?
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut reader = Reader::default();
    // What a test prints may look like a summary, and come below the real one: that has a rule above it.
    let mut own = Stream { is_file: true, ..Stream::default() };
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
    let mut last = 0;
    while let Some(line) = lines.next()? {
        last = line.number;
        reader.line(&line.text, line.ended).map_err(|error| error.line(last))?;
        own.take(&line.text, line.ended).map_err(|error| error.line(last))?;
    }
    if own.reader.ran.is_some() {
        return Err(no_result("unittest output ends before its OK or FAILED", last));
    }
    if let Some((parsed, _)) = own.runs.pop() {
        return Ok(parsed);
    }
    let seen = reader.seen;
    match reader.finish()? {
        Some(parsed) => Ok(parsed),
        None if seen => Err(no_result("unittest output ends before its OK or FAILED", last)),
        None => Err(no_result("no \"Ran N tests\" of unittest in it", last)),
    }
}

/// A failure that is being told.
#[derive(Debug)]
struct Told {
    id: String,
    outcome: Outcome,
    is_unit: bool,
    /// What the last of its tracebacks ends with.
    message: String,
    /// File and line of the first row of its traceback that is no library's.
    place: Option<(String, u64)>,
    /// The rule under its heading was met.
    in_body: bool,
    /// The next heading of green's ends it, no rule.
    is_green_s: bool,
}

impl Told {
    fn new(id: String, outcome: Outcome) -> Told {
        let message = String::new();
        Told { id, outcome, is_unit: false, message, place: None, in_body: false, is_green_s: false }
    }

    /// A line below its heading.
    fn line(&mut self, text: &str) {
        // Below another exception, the one that came of it is told.
        if text.ends_with("Traceback (most recent call last):") {
            self.message.clear();
        } else if self.message.is_empty() && !text.starts_with([' ', '\t']) {
            self.message = text.chars().take(400).collect();
        }
        if self.place.is_none() {
            self.place = stack::python(text.trim_start()).map(|(file, line)| (file.to_owned(), line));
        }
    }
}

/// What marks of progress, or lines of tests, tell one by one.
#[derive(Debug, Default)]
struct Seen {
    told: Summary,
    /// Of the skipped, those that did not fail as expected.
    left_out: u64,
    lines: u64,
}

impl Seen {
    /// Whether all tests are in it, and those that were left out not in that number, as CPython 3.12.1 counts. So do other
    /// versions where a whole class is skipped.
    fn are_without_skipped(&self, ran: u64, summary: &Summary) -> bool {
        let counts = |summary: &Summary| (summary.failed, summary.errored, summary.skipped);
        let all = [self.told.passed, self.told.failed, self.told.errored, self.told.skipped];
        let all = all.iter().try_fold(0_u64, |sum, number| sum.checked_add(*number));
        let without = all.and_then(|all| all.checked_sub(self.left_out));
        self.left_out > 0 && counts(&self.told) == counts(summary) && without == Some(ran)
    }
}

/// Reads lines of one or several runs.
#[derive(Debug, Default)]
pub(in crate::ingest) struct Reader {
    names: Names,
    told: Option<Told>,
    /// What the `Ran` line said, until the status comes.
    ran: Option<Option<u64>>,
    done: Option<(Summary, Names)>,
    seen: bool,
    /// A progress line or a test's line tells of skipped tests, so that a bare `OK` cannot be all.
    skips: bool,
    marks: Seen,
    verbose: Seen,
    /// Of tests that green tells of, how many failed and how many errored outcomes each has: its sums count them all.
    outcomes: BTreeMap<String, [u64; 2]>,
}

impl Reader {
    /// The next line; `ended` if a line end followed.
    ///
    /// # Errors
    /// A number is too large.
    pub(in crate::ingest) fn line(&mut self, text: &str, ended: bool) -> Result<()> {
        let text = text.trim_end();
        if let Some(ran) = ran(text).filter(|_| ended) {
            self.close_told();
            (self.ran, self.seen) = (Some(ran), true);
        } else if let Some(ran) = self.ran {
            match status(text) {
                Some(counts) if ended || text != "OK" || !self.skips => {
                    self.ran = None;
                    self.finish_run(ran, &counts)?;
                }
                _ => {}
            }
        } else if let Some(heading) = text.strip_prefix("FAIL: ").or_else(|| text.strip_prefix("ERROR: ")) {
            self.heading(heading, text.starts_with("FAIL"));
        } else if let Some(told) = self.told_by_green(text) {
            self.close_told();
            self.told = Some(told);
        } else if text.starts_with("======") {
            self.close_told();
        } else if let Some(told) = &mut self.told {
            match text.starts_with("------") {
                true => told.in_body = true,
                false if told.in_body => told.line(text),
                false => {}
            }
        } else if let Some((id, outcome)) = verbose(text) {
            self.seen = true;
            self.skips |= outcome == Outcome::Skipped;
            *self.verbose.told.slot(outcome) += 1;
            self.verbose.left_out += u64::from(outcome == Outcome::Skipped && !text.ends_with("expected failure"));
            self.names.set(&id, outcome);
        } else if are_marks(text) {
            self.skips |= text.contains(['s', 'x']);
            self.marks.lines += 1;
            text.bytes().filter_map(marked).for_each(|outcome| *self.marks.told.slot(outcome) += 1);
            self.marks.left_out += text.bytes().filter(|mark| *mark == b's').map(|_| 1).sum::<u64>();
        }
        Ok(())
    }

    fn heading(&mut self, heading: &str, failed: bool) {
        self.close_told();
        let is_unit = heading.contains("unittest.loader._FailedTest")
            || heading.contains("unittest.loader.ModuleImportFailure")
            || fixture(heading).is_some();
        let id = if is_unit { Some(heading.to_owned()) } else { id(heading) };
        if let Some(id) = id {
            let outcome = if failed { Outcome::Failed } else { Outcome::Errored };
            self.told = Some(Told { is_unit, ..Told::new(id, outcome) });
        }
    }

    /// A heading of green's, `Failure in test_a.Cart.test_sum (i=0)`, in whose bodies no rule stands.
    fn told_by_green(&self, text: &str) -> Option<Told> {
        if self.told.as_ref().is_some_and(|told| !told.is_green_s) {
            return None;
        }
        let error = text.strip_prefix("Error in ").map(|test| (test, Outcome::Errored));
        let (test, outcome) = error.or_else(|| Some((text.strip_prefix("Failure in ")?, Outcome::Failed)))?;
        let is_unit = test == ".." || test.starts_with("Error in class or module ");
        let id = if is_unit { "(a class or module)" } else { test.split(" (").next()? };
        let is_id = |id: &str| id.contains('.') && !id.contains(char::is_whitespace);
        if !is_unit && !is_id(id) {
            return None;
        }
        Some(Told { is_unit, in_body: true, is_green_s: true, ..Told::new(id.to_owned(), outcome) })
    }

    fn close_told(&mut self) {
        let Some(told) = self.told.take() else { return };
        if told.is_unit {
            let name = fixture(&told.id).or_else(|| told.id.split(" (").next()).unwrap_or_default();
            self.names.cases.retain(|id, _| !id.contains("unittest.loader._FailedTest"));
            self.names.unit(name);
            return;
        }
        if told.is_green_s && (self.outcomes.len() < MESSAGES_HELD || self.outcomes.contains_key(&told.id)) {
            let [failed, errored] = self.outcomes.entry(told.id.clone()).or_default();
            *(if told.outcome == Outcome::Failed { failed } else { errored }) += 1;
        }
        let worst = self.names.get(&told.id).map_or(told.outcome, |case| case.outcome.max(told.outcome));
        if let Some(case) = self.names.set(&told.id, worst) {
            case.message = case.message.take().or_else(|| first_lines(&told.message));
            if let (None, Some((file, line))) = (case.line, told.place) {
                stack::put(case, (&file, line));
            }
        }
    }

    fn finish_run(&mut self, ran: Option<u64>, counts: &[(&str, Option<u64>)]) -> Result<()> {
        let too_large = || Error::report(Reject::Malformed, "the number of tests is too large");
        let ran = ran.ok_or_else(too_large)?;
        let mut summary = Summary::default();
        for (word, number) in counts {
            let slot = match *word {
                "failures" | "unexpected successes" | "unexpected_successes" | "unexpectedSuccesses" => {
                    &mut summary.failed
                }
                "errors" => &mut summary.errored,
                // The latter are nose's, trial's and green's.
                "skipped" | "expected failures" | "SKIP" | "skips" | "expectedFailures" | "expected_failures" => {
                    &mut summary.skipped
                }
                _ => continue,
            };
            Summary::add(slot, *number)?;
        }
        let others = add(add(summary.failed, summary.errored)?, summary.skipped)?;
        // Subtests and class fixtures can fail more often than tests were run.
        summary.passed = ran.saturating_sub(others);
        let (marks, verbose) = (std::mem::take(&mut self.marks), std::mem::take(&mut self.verbose));
        // Marks in several lines may be what a test printed.
        for seen in [Some(marks).filter(|marks| marks.lines == 1), Some(verbose)].into_iter().flatten() {
            if seen.are_without_skipped(ran, &summary) {
                summary.passed = seen.told.passed;
            }
        }
        summary.unit_failures = self.names.unit_count().min(summary.errored);
        if summary.passed == 0 {
            let of_tests = others.saturating_sub(summary.unit_failures);
            summary.extra.failed = of_tests.saturating_sub(ran);
        }
        for [failed, errored] in std::mem::take(&mut self.outcomes).into_values() {
            summary.extra.failed += failed.saturating_sub(u64::from(errored == 0));
        }
        summary.extra.failed = summary.extra.failed.min(summary.failed);
        self.done = Some((summary, std::mem::take(&mut self.names)));
        self.skips = false;
        Ok(())
    }

    /// The report of the last run; `None` if its summary did not come.
    ///
    /// # Errors
    /// The sum is too large.
    pub(in crate::ingest) fn finish(self) -> Result<Option<Parsed>> {
        match self.done {
            Some((summary, names)) if self.ran.is_none() => names.report(&FORMAT, &summary, false).map(Some),
            _ => Ok(None),
        }
    }
}

/// Reads the runs in a stream.
#[derive(Debug, Default)]
pub(in crate::ingest) struct Stream {
    reader: Reader,
    /// What marks of progress, and lines of tests, told since the run before.
    marks: Summary,
    /// How many marks there are with those before what a test logs or prints: `..WARNING:root:no stock`.
    leading: u64,
    /// More of them that may be letters of what follows: `.FAILED`.
    unsure: u64,
    verbose: Summary,
    is_verbose: bool,
    /// The line before was a rule, of `=` or of `-`.
    after_rule: Option<char>,
    /// testtools said that it begins. It puts no rule above its summary.
    is_testtools: bool,
    /// A test's line has begun, and its outcome stands alone below what it printed.
    is_open: bool,
    /// Only the last run of a file counts.
    is_file: bool,
    /// A run told more than its summary.
    has_more: bool,
    /// The line before was a summary's first without the rule above it, below which a blank line stands.
    is_below_tail: bool,
    /// With whether marks or lines came that fit.
    runs: Vec<(Parsed, bool)>,
}

/// Whether marks or lines are those of that run. A test of which subtests fail has theirs in place of its own, and what is set
/// up for a class has some as well: then each count must be the summary's.
fn are_of(told: &Summary, ran: Option<u64>, summary: &Summary) -> bool {
    let others = [(told.failed, summary.failed), (told.errored, summary.errored), (told.skipped, summary.skipped)];
    let all = others.iter().fold(told.passed, |sum, (told, _)| sum.saturating_add(*told));
    let is_each_the_same = others.iter().all(|(told, summed)| told == summed);
    ran == Some(all) || (is_each_the_same && ran.is_some_and(|ran| (told.passed..=all).contains(&ran)))
}

/// The outcome at the end of trial's `    test_a ...    [OK]`; below what the test printed it stands there alone. At the
/// beginning of a line it is the heading of what failed.
fn of_trial(line: &str) -> Option<Outcome> {
    let (before, word) = line.strip_suffix(']')?.rsplit_once('[')?;
    match word {
        _ if before.is_empty() => None,
        "OK" => Some(Outcome::Passed),
        "FAIL" | "SUCCESS!?!" => Some(Outcome::Failed),
        "ERROR" => Some(Outcome::Errored),
        "SKIPPED" | "TODO" => Some(Outcome::Skipped),
        _ => None,
    }
}

/// The outcome at the beginning of green's `F   test_a`, below the names of module and class.
fn of_green(line: &str) -> Option<Outcome> {
    let (mark, name) = (line.bytes().next()?, line.get(1..)?.strip_prefix("   ")?);
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') && name.starts_with("test");
    marked(mark).filter(|_| is_name)
}

/// The outcome that a mark of progress stands for.
fn marked(mark: u8) -> Option<Outcome> {
    match mark {
        b'.' => Some(Outcome::Passed),
        b'F' | b'u' => Some(Outcome::Failed),
        b'E' => Some(Outcome::Errored),
        b's' | b'x' => Some(Outcome::Skipped),
        _ => None,
    }
}

/// Whether it is a line of progress: `..F.s`.
fn are_marks(line: &str) -> bool {
    !line.is_empty() && line.bytes().all(|mark| marked(mark).is_some())
}

/// The marks before what a test logs, from a point on: those up to the last point, and how many come next that may be letters
/// of a word.
fn leading_marks(line: &str) -> (&str, u64) {
    let marks = line.bytes().take_while(|mark| marked(*mark).is_some()).count();
    let marks = line.get(..marks).filter(|marks| marks.starts_with('.')).unwrap_or_default();
    let (sure, unsure) = marks.split_at(marks.rfind('.').map_or(0, |last| last + 1));
    (sure, u64::try_from(unsure.len()).unwrap_or(u64::MAX))
}

impl Stream {
    /// Whether nothing told of a test so far, but summaries.
    fn may_be_tail(&self) -> bool {
        let tells_tests = self.leading + self.unsure > 0 || self.verbose != Summary::default();
        !(tells_tests || self.is_open || self.is_verbose || self.has_more)
    }

    fn take(&mut self, text: &str, ended: bool) -> Result<()> {
        let text = text.trim_end();
        let after_rule = self.after_rule.take();
        self.after_rule = ['=', '-'].into_iter().find(|mark| text.len() >= 70 && text.chars().all(|c| c == *mark));
        let is_heading = text.starts_with("FAIL: ") || text.starts_with("ERROR: ");
        if std::mem::take(&mut self.is_below_tail) && !text.is_empty() {
            self.reader.ran = None;
        }
        let has_no_rule = ran(text).is_some() && after_rule != Some('-') && !self.is_testtools && !is_green_s(text);
        if (is_heading && after_rule != Some('=')) || (has_no_rule && !self.may_be_tail()) {
            return Ok(());
        }
        self.is_below_tail = has_no_rule;
        let is_all = are_marks(text);
        let (sure, unsure) = if is_all { (text, 0) } else { leading_marks(text) };
        self.unsure = self.unsure.saturating_add(unsure);
        for outcome in sure.bytes().filter_map(marked) {
            self.leading += 1;
            *self.marks.slot(outcome) += u64::from(is_all);
        }
        if self.is_testtools && text.is_empty() {
            // Its own status follows at once.
            self.reader.ran = None;
        }
        let outcome = verbose(text).map(|(_, outcome)| outcome);
        self.is_verbose |= outcome.is_some();
        let alone = if self.is_open { alone(text) } else { None };
        let begins =
            outcome.is_none() && format!("{text} ").split_once(" ... ").is_some_and(|(name, _)| id(name).is_some());
        self.is_open = begins || (self.is_open && outcome.or(alone).is_none());
        if let Some(outcome) = outcome.or(alone).or_else(|| of_trial(text)).or_else(|| of_green(text)) {
            *self.verbose.slot(outcome) += 1;
        }
        self.is_testtools |= text == "Tests running...";
        let ran = self.reader.ran.flatten();
        self.reader.line(text, ended)?;
        if let Some((summary, names)) = &self.reader.done {
            let most = self.leading.saturating_add(self.unsure);
            let is_about = self.leading > 0 && ran.is_some_and(|ran| (self.leading..=most).contains(&ran));
            let is_exact = [&self.marks, &self.verbose].into_iter().any(|told| are_of(told, ran, summary));
            let is_own = is_exact || is_about || self.is_testtools;
            let tells_tests = self.marks != Summary::default() || self.verbose != Summary::default();
            let is_any = is_own || tells_tests || !names.cases.is_empty() || !names.units.is_empty();
            // Of `python -m unittest | tail` nothing else is there.
            let is_tail = !is_any && self.may_be_tail();
            let parsed = std::mem::take(&mut self.reader).finish()?;
            // Below a run whose tests were told, one without any is what a test printed, and what reached its end late.
            let is_late = self.is_file && !is_any && self.runs.iter().any(|(_, is_own)| *is_own);
            if self.is_file && !is_late {
                self.runs.clear();
            }
            self.runs.extend(parsed.filter(|_| !is_late).map(|parsed| (parsed, is_own || (is_tail && !self.is_file))));
            let has_more = self.has_more || !is_tail;
            let (runs, is_file) = (std::mem::take(&mut self.runs), self.is_file);
            *self = Stream { runs, is_file, has_more, after_rule: self.after_rule, ..Stream::default() };
        }
        Ok(())
    }
}

/// The outcome that stands alone in a line, as what a test printed came between it and its name.
fn alone(line: &str) -> Option<Outcome> {
    verbose(&format!("t (C) ... {line}")).map(|(_, outcome)| outcome)
}

impl Runs for Stream {
    fn line(&mut self, text: &str) -> Result<()> {
        self.take(text, true)
    }

    /// Ended runs are there at once.
    fn leave(&mut self) -> Result<bool> {
        Ok(true)
    }

    fn count(&self) -> usize {
        self.runs.len()
    }

    fn holds(&self, _: &str) -> bool {
        self.is_verbose || self.reader.told.is_some() || self.reader.ran.is_some()
    }

    /// What a test printed comes without its marks.
    fn finish(self: Box<Self>) -> Vec<Run> {
        // It may also come below the summary: that it encloses is told at the end, of everything.
        let run = |(parsed, is_certain)| Run { is_certain, may_enclose: true, ..Run::of(parsed, BTreeSet::new()) };
        self.runs.into_iter().map(run).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::console::console;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    fn read(text: &str) -> Result<Parsed> {
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn what_was_skipped_may_not_be_among_those_that_ran() {
        let end = "\n------\nRan 2 tests in 0.1s\n\nOK (skipped=1)\n";
        for (above, expected) in [
            ("..s\n", [3, 2, 0, 0, 1]),
            (
                "test_a (t.T.test_a) ... ok\ntest_b (t.T.test_b) ... ok\ntest_c (t.T.test_c) ... skipped 'no'\n",
                [3, 2, 0, 0, 1],
            ),
            // As all other versions count, or nobody can tell.
            (".s\n", [2, 1, 0, 0, 1]),
            ("", [2, 1, 0, 0, 1]),
            (".\n.s\n", [2, 1, 0, 0, 1]),
            ("...s\n", [2, 1, 0, 0, 1]),
            (".ss\n", [2, 1, 0, 0, 1]),
        ] {
            let text = format!("{above}{end}");
            assert_eq!(counts(&read(&text).unwrap()), expected, "{text}");
        }
        let failed = "Fsx.\n======\nFAIL: test_a (t.T.test_a)\n------\nno\n\n------\nRan 3 tests in 0.1s\n\n\
                      FAILED (failures=1, skipped=1, expected failures=1)\n";
        assert_eq!(counts(&read(failed).unwrap()), [4, 1, 1, 0, 2]);
    }

    #[test]
    fn green_names_tests_and_counts_what_is_one_several_times() {
        let text = "EF.FFE\n\nError in test_a.A.test_two\n  File \"/p/test_a.py\", line 4, in tearDown\n    raise\n\
                    RuntimeError: td\n\nFailure in test_a.A.test_two\n  File \"/p/test_a.py\", line 6, in test_two\n\
                    AssertionError: 1 != 2\n\nFailure in test_a.C.test_sub (i=0)\n  File \"/p/test_a.py\", line 18, in test_sub\n\
                    AssertionError: 0 != 9\n\nFailure in test_a.C.test_sub (i=1)\n  File \"/p/test_a.py\", line 18, in test_sub\n\
                    AssertionError: 1 != 9\n\nError in Error in class or module teardown\nRuntimeError: tdc\n\n\
                    Ran 6 tests in 0.081s using 2 processes\n\nFAILED (errors=2, failures=3, passes=1)\n";
        let parsed = read(text).unwrap();
        let told = details(&parsed);
        assert_eq!((counts(&parsed), told.unit_failures, told.extra.failed), ([6, 1, 3, 2, 0], 1, 2));
        let cases = &told.cases.cases;
        assert_eq!(cases.keys().collect::<Vec<_>>(), ["test_a.A.test_two", "test_a.C.test_sub"]);
        let case = &cases["test_a.C.test_sub"];
        assert_eq!((case.line, case.message.as_deref()), (Some(18), Some("AssertionError: 0 != 9")));
        let testing = crate::ingest::merge::merge(&[parsed]).testing.unwrap();
        assert_eq!((testing.test_count, testing.tests_failed, testing.tests_errored), (Some(3), Some(1), Some(1)));
        assert_eq!(details(&read("Error in the end\nRan 1 test in 0.1s\n\nOK\n").unwrap()).cases.cases.len(), 0);
    }

    #[test]
    fn runs_of_trial_and_green_are_certain_where_their_tests_failed() {
        let rule = "-".repeat(79);
        let trial = format!(
            "m.test_one\n  A\n    test_bad ...      [FAIL]\n    test_ok ...       [OK]\n\n{}\n[FAIL]\nTraceback (most recent call last):\n\
             builtins.AssertionError: None\n\nm.test_one.A.test_bad\n{rule}\nRan 2 tests in 0.019s\n\nFAILED (failures=1, successes=1)\n",
            "=".repeat(79)
        );
        let green = format!(
            "m.test_one\n  A\nF   test_bad\n.   test_ok\n\nFailure in m.test_one.A.test_bad\nAssertionError: None\n\n{rule}\n\
             Ran 2 tests in 0.055s using 2 processes\n\nFAILED (failures=1, passes=1)\n"
        );
        for text in [trial, green.replace(&format!("{rule}\n"), "")] {
            let runs = console(&Input::bytes("x", format!("{text}make: other output\n{text}").as_bytes()));
            assert_eq!(runs.iter().map(counts).collect::<Vec<_>>(), [[2, 1, 1, 0, 0]], "{text}");
            assert!(runs.iter().all(|run| run.is_of_several), "{text}");
        }
    }

    #[test]
    fn subtests_that_failed_are_no_tests() {
        let extra = |text: &str| details(&read(text).unwrap()).extra.failed;
        assert_eq!(extra("Ran 2 tests in 0.000s\n\nFAILED (failures=4)\n"), 2);
        assert_eq!(extra("Ran 2 tests in 0.000s\n\nFAILED (failures=1, errors=2)\n"), 1, "torn down badly");
        assert_eq!(extra("Ran 5 tests in 0.000s\n\nFAILED (failures=4)\n"), 0, "some of them may have passed");
        let (double, rule) = ("=".repeat(70), "-".repeat(70));
        let fixture = format!("EF\n{double}\nERROR: setUpClass (t.T)\n{rule}\nno\n\n{rule}\n");
        assert_eq!(extra(&format!("{fixture}Ran 1 test in 0.000s\n\nFAILED (failures=1, errors=1)\n")), 0);
    }

    #[test]
    fn the_last_summary_counts() {
        for (text, expected) in [
            ("Ran 3 tests in 0.001s\n\nOK\n", [3, 3, 0, 0, 0]),
            ("Ran 3 tests in 0.001s\n\nOK (skipped=1, expected failures=1)\n", [3, 1, 0, 0, 2]),
            ("Ran 5 tests in 1s\n\nFAILED (failures=1, errors=2, unexpected successes=1)\n", [5, 1, 2, 2, 0]),
            ("Ran 0 tests in 0.000s\n\nFAILED (errors=1)\n", [1, 0, 0, 1, 0]),
            ("Ran 1 test in 0.000s\n\nFAILED (failures=3)\n", [3, 0, 3, 0, 0]),
            ("Ran 0 tests in 0.000s\n\nNO TESTS RAN\n", [0; 5]),
            ("Ran 5 tests in 0.1s\n\nFAILED (SKIP=1, errors=1, failures=1)\n", [5, 2, 1, 1, 1]),
            ("Ran 6 tests in 0.1s\n\nPASSED (skips=1, expectedFailures=2, successes=3)\n", [6, 3, 0, 0, 3]),
            // By green.
            ("\nRan 0 tests in 0.020s using 2 processes\n\nNo Tests Found\n", [0; 5]),
            (
                "Ran 9 tests in 0.1s using 2 processes\n\nFAILED (errors=1, failures=2, passes=4, skips=2)\n",
                [9, 4, 2, 1, 2],
            ),
            (
                "Ran 5 tests in 0.1s using 2 processes\n\nFAILED (expected_failures=1, passes=3, unexpected_successes=1)\n",
                [5, 3, 1, 0, 1],
            ),
            ("Ran 1 test in 0.1s\n\nOK\nRan 2 tests in 0.1s\n\nOK\n", [2, 2, 0, 0, 0]),
        ] {
            assert_eq!(counts(&read(text).unwrap()), expected, "{text}");
        }
        for none in [
            "hello\n",
            "Ran 3 tests in 0.001s\n",
            "Ran 3 tests in 0.001s\n\nFAILED\n",
            "Ran 1 test in 0.1s\n\nOK\nRan 2 tests in 0.1s\n",
        ] {
            assert_eq!(read(none).unwrap_err().reject(), Some(Reject::NoResult), "{none}");
        }
        let large = "Ran 18446744073709551616 tests in 0.1s\n\nOK\n";
        assert_eq!(read(large).unwrap_err().reject(), Some(Reject::Malformed));
    }

    #[test]
    fn testtools_puts_no_rule_above_its_summary() {
        let text = "Tests running...\nE======\nERROR: m.T.test_a\n------\nOSError: no\n\n\nRan 1 test in 0.001s\nFAILED (failures=1)\n";
        let told = |text: &str| console(&Input::bytes("x", text.as_bytes())).iter().map(counts).collect::<Vec<_>>();
        assert_eq!(told(text), [[1, 0, 1, 0, 0]]);
        assert!(told("Ran 1 test in 0.001s\nFAILED (failures=1)\n").is_empty());
    }

    #[test]
    fn of_a_run_the_summary_may_be_all_that_is_left() {
        let told = |text: &str| console(&Input::bytes("x", text.as_bytes())).iter().map(counts).collect::<Vec<_>>();
        let (red, green) = ("Ran 5 tests in 0.1s\n\nFAILED (failures=1)\n", "Ran 2 tests in 0.1s\n\nOK\n");
        assert_eq!(told(&format!("{red}make: *** [test] Error 1\n")), [[5, 4, 1, 0, 0]]);
        assert_eq!(told(&format!("{red}{green}")), [[5, 4, 1, 0, 0], [2, 2, 0, 0, 0]]);
        let rule = "-".repeat(70);
        let own = format!(".{red}.{green}.\n{rule}\nRan 3 tests in 0.2s\n\nOK\n");
        assert_eq!(told(&own), [[3, 3, 0, 0, 0]], "tests printed the others");
    }

    #[test]
    fn what_a_test_prints_is_no_summary_though_it_comes_last() {
        let rule = "-".repeat(70);
        let printed = "Ran 99 tests in 0.001s\n\nOK\n";
        let own = format!("\n{rule}\nRan 2 tests in 0.001s\n\nFAILED (failures=1)\n");
        let dots = format!(".F\n{own}");
        let verbose = format!("test_a (m.C.test_a) ... \n{printed}ok\ntest_b (m.C.test_b) ... FAIL\n{own}");
        for run in [&dots, &verbose] {
            for late in [printed, &format!("{rule}\n{printed}"), "Ran 99 tests in 0.001s\n"] {
                let text = format!("{run}{late}");
                assert_eq!(counts(&read(&text).unwrap()), [2, 1, 1, 0, 0], "{text}");
                let reports = console(&Input::bytes("x", text.as_bytes()));
                assert_eq!(reports.iter().map(counts).collect::<Vec<_>>(), [[2, 1, 1, 0, 0]], "{text}");
            }
        }
        // The last of several runs counts, and one that is cut is none.
        let next = format!("..\n\n{rule}\nRan 2 tests in 0.001s\n\nOK\n");
        assert_eq!(counts(&read(&format!("{dots}{next}")).unwrap()), [2, 2, 0, 0, 0]);
        assert!(read(&format!("{dots}{}", next.replace("\nOK\n", ""))).is_err());
        // What a test logs stands behind the marks of those before it, and lets the run be its own all the same.
        let logged =
            dots.replacen(".F\n", ".WARNING:root:no stock\n.FERROR:root:none\n.\n", 1).replace("Ran 2", "Ran 4");
        for text in [
            &logged,
            &format!("{logged}$ cargo test\n{}", include_str!("../../../fixtures/reports/cargo-test-text/good.txt")),
        ] {
            let reports = console(&Input::bytes("x", text.as_bytes()));
            let told = reports.iter().find(|report| report.format.name == "unittest-text");
            assert_eq!(told.map(counts), Some([4, 3, 1, 0, 0]), "{text}");
        }
        let of_testtools = format!("Tests running...\n{printed}.F\nRan 2 tests in 0.1s\nFAILED (failures=1)\n");
        assert_eq!(counts(&read(&of_testtools).unwrap()), [2, 1, 1, 0, 0]);
        let reports = console(&Input::bytes("x", of_testtools.as_bytes()));
        assert_eq!(reports.iter().map(counts).collect::<Vec<_>>(), [[2, 1, 1, 0, 0]]);
    }

    #[test]
    fn a_bare_ok_without_line_end_is_taken_if_nothing_was_skipped() {
        assert!(read("..\nRan 2 tests in 0.001s\n\nOK").is_ok());
        assert!(
            read(".s\nRan 2 tests in 0.001s\n\nOK").is_err()
                && read(".s\nRan 2 tests in 0.001s\n\nOK (skipped=1)").is_ok()
        );
    }

    #[test]
    fn names_come_from_verbose_lines_and_headings() {
        let text = "test_a (m.C.test_a) ... ok\ntest_b (m.C) ... skipped 'x'\nsetUpClass (m.D) ... ERROR\n======\nFAIL: test_c (m.C.test_c) (i=1)\n------\n\
                    Traceback (most recent call last):\n  File \"/shop/m.py\", line 9, in test_c\nAssertionError: 1 == 1\n- 2\n+ 1\n\n\
                    ======\nERROR: setUpClass (m.D)\n------\nOSError: no\n\n------\n\
                    Ran 3 tests in 0.001s\n\nFAILED (failures=1, errors=1, skipped=1)\n";
        let parsed = read(text).unwrap();
        assert_eq!(counts(&parsed), [3, 0, 1, 1, 1]);
        let details = details(&parsed);
        assert_eq!(details.cases.outcome("m.C.test_b"), Some(Outcome::Skipped));
        assert!(details.cases.cases.keys().all(|id| !id.contains("setUpClass")));
        let case = &details.cases.cases["m.C.test_c"];
        assert_eq!(case.message.as_deref(), Some("AssertionError: 1 == 1"));
        assert_eq!((case.file.as_deref(), case.line), (Some("/shop/m.py"), Some(9)));
        assert_eq!((details.failed_units, details.unit_failures), (vec!["m.D".to_owned()], 1));
    }

    #[test]
    fn it_is_told_by_its_last_lines() {
        assert!(matches!(sniffed(&FORMAT, "Ran 3 tests in 0.001s\n\nOK\n"), Sniff::Sure(_)));
        assert!(matches!(
            sniffed(&FORMAT, "test_a (m.C.test_a) ... ok\ntest_b (m.C.test_b) ... ok\n"),
            Sniff::Maybe(_)
        ));
        for none in
            ["Ran all test suites.\n", "test a ... ok\n", "OK\n", "running 1 test\nRan 3 tests in 0.001s\n\nOK\n"]
        {
            assert_eq!(sniffed(&FORMAT, none), Sniff::No, "{none}");
        }
    }
}
