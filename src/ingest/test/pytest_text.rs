//! `pytest-text`: what plain `pytest` prints. The summary line gives the counts, `-v` lines and the short summary give
//! names. A captured output can hold a whole pytest session of its own: what it says is not believed.

use std::collections::{BTreeMap, BTreeSet};

use self::failures::Failures;
use self::lines::{Counts, failed_subtest, file, is_progress, outcome, plain_verbose_parts, ruled, verbose_parts};
use self::results::Results;
use super::text_report::KILLED_HELP;
use super::{CASES_KEPT, LONGEST_ID, UNITS_KEPT, cargo_test_text, runs};
use crate::error::{Error, Reject, Result};
use crate::ingest::input::{Input, Invalid};
use crate::ingest::metric::pytest_benchmark_text;
use crate::ingest::text::{Lines, LongLine, first_lines, printable};
use crate::ingest::{Details, Format, Head, Parsed, Sniff, TestDetails};
use crate::model::SCHEMA_VERSION;
use crate::model::cases::{Outcome, TestCase, TestCases};
use crate::model::figures::{Figures, ReportKind};

mod failures;
mod lines;
mod results;
#[cfg(test)]
mod tests;

/// What `pytest` prints.
pub const FORMAT: Format = Format {
    name: "pytest-text",
    kind: ReportKind::Test,
    about: "terminal output of pytest",
    written_by: "pytest, with any verbosity down to -q; pytest-sugar; pytest-pretty",
    told_by: "its summary line (\"3 passed in 0.02s\"), or the line \"test session starts\"",
    has_end: true,
    counting: "The last summary line: passed + xpassed, failed, error(s), skipped + xfailed. Deselected tests, warnings, \
               reruns and subtests that passed are no tests. A test that fails in teardown too counts twice, as pytest \
               prints it. What fails to be collected counts as one errored, and so does a \
               conftest.py that cannot be loaded. A session that was interrupted (KeyboardInterrupt, \
               pytest.exit, INTERNALERROR) is no result; one that ended by -x or --maxfail is.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    // An XML report can quote whole sessions, and a test of another tool can print them.
    let first = head.lines().find(|line| is_marker(line) || cargo_test_text::is_marker(line));
    if head.xml().is_some() || first.is_some_and(cargo_test_text::is_marker) {
        return Sniff::No;
    }
    if first.is_some_and(|line| ruled(line.trim_end(), '=') == Some("test session starts") || results::is_header(line))
    {
        return Sniff::Sure("line \"test session starts\"".to_owned());
    }
    if head.lines().any(|line| broken_conftest(line).is_some()) {
        return Sniff::Sure("line \"ImportError while loading conftest\"".to_owned());
    }
    if head.lines().any(is_usage) {
        return Sniff::Sure("line \"ERROR: usage:\" of pytest's options".to_owned());
    }
    let mut last_lines = head.last_lines().rev().map(str::trim_end);
    if last_lines.clone().find(|line| !line.is_empty()).and_then(Counts::read).is_some() {
        return Sniff::Sure("its last line is a pytest summary".to_owned());
    }
    // Behind `pytest -q`, others may speak.
    if first.is_some_and(is_progress) && last_lines.clone().any(|line| Counts::read(line).is_some()) {
        return Sniff::Maybe("progress of pytest, and a line that looks like its summary".to_owned());
    }
    if last_lines.any(|line| ruled(line, '=').and_then(Counts::read).is_some()) {
        return Sniff::Maybe("a line that looks like a pytest summary".to_owned());
    }
    Sniff::No
}

/// Whether the line tells pytest, or a test that prints its output.
pub(super) fn is_marker(line: &str) -> bool {
    let line = line.trim_end();
    is_progress(line)
        || results::is_header(line)
        || broken_conftest(line).is_some()
        || is_usage(line)
        || matches!(ruled(line, '='), Some("test session starts" | "FAILURES" | "ERRORS"))
}

/// Whether a hook or a plugin ended the session for that: `session.shouldstop`, pytest-timeout's `--session-timeout`. Beside a
/// failure it may be what it was asked to end for.
fn is_stop(title: &str) -> bool {
    !title.contains("stopping after ") && !title.ends_with(" during collection")
}

/// What ended the session from outside of its tests, by `pytest.exit` or by a fault of pytest or its plugins. `-x` and
/// `--maxfail` end it as asked.
fn interruption(line: &str) -> Option<&str> {
    if line.starts_with("INTERNALERROR> ") {
        return Some(line);
    }
    let is_one = |title: &&str| {
        *title == "KeyboardInterrupt" || title.starts_with("_pytest.outcomes.Exit") || title.starts_with("Exit: ")
    };
    ruled(line, '!').filter(is_one)
}

/// The file in `ImportError while loading conftest '/app/conftest.py'.`: pytest ends there, without a summary.
fn broken_conftest(line: &str) -> Option<&str> {
    line.strip_prefix("ImportError while loading conftest '")?.trim_end().strip_suffix("'.")
}

/// `ERROR: usage: pytest [options] [file_or_dir] [file_or_dir] [...]`, above what is wrong with the call: nothing ran.
fn is_usage(line: &str) -> bool {
    line.starts_with("ERROR: usage: ") && line.trim_end().ends_with(" [options] [file_or_dir] [file_or_dir] [...]")
}

/// `17 tests collected in 0.05s`, `3/5 tests collected (2 deselected) in 0.01s`.
fn is_collection(line: &str) -> bool {
    let title = ruled(line, '=').unwrap_or(line);
    // Most lines need no search.
    title.starts_with(|c: char| c.is_ascii_digit())
        && [" tests collected", " test collected"]
            .iter()
            .any(|word| title.split_once(word).is_some_and(|(_, rest)| rest.contains(" in ")))
}

/// `FAILED tests/a.py::test_b - assert 1 == 2`.
fn is_failure(line: &str) -> bool {
    let rest = line.strip_prefix("FAILED ").or_else(|| line.strip_prefix("ERROR "));
    rest.is_some_and(|rest| rest.split(' ').next().is_some_and(|id| id.contains(".py")))
}

/// Whether Schemathesis begins to speak.
pub(super) fn is_schemathesis(line: &str) -> bool {
    line.strip_prefix("Schemathesis v").is_some_and(|version| version.starts_with(|c: char| c.is_ascii_digit()))
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut reader = Reader::default();
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
    let mut last = 0;
    while let Some(line) = lines.next()? {
        last = line.number;
        reader.line(&line.text).map_err(|error| error.line(last))?;
    }
    let (seen, has_collected) = (reader.is_pytest(), reader.has_collected);
    let (runs, complete) = reader.finish();
    // A bare line below a run may be anybody's.
    let at = runs.iter().rposition(|run| run.has_evidence).unwrap_or(runs.len().saturating_sub(1));
    match runs.into_iter().nth(at).filter(|_| complete) {
        Some(Run { interrupted: Some(by), .. }) => {
            Err(Error::report(Reject::NoResult, format!("pytest did not come to its end: {by}")).line(last).help(
                "what else there is to tell is unknown; run it again, or leave it out: `begin` and `record` take \
                     --skip test",
            ))
        }
        Some(run) => Ok(run.parsed()),
        None if has_collected => {
            let why = "pytest collected its tests and ran none";
            Err(Error::report(Reject::NoResult, why).line(last).help("leave --collect-only out"))
        }
        None if seen => Err(Error::report(Reject::NoResult, "pytest output ends before its summary line")
            .line(last)
            .help(KILLED_HELP)),
        None => Err(Error::report(Reject::NoResult, "no pytest summary line in it")
            .help("pytest prints it last, like \"3 passed in 0.02s\"; with -qq it does not")),
    }
}

/// In which part of a session a line stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Section {
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
struct Rule {
    /// Of the whole line, in characters.
    width: usize,
    /// The rule is down to one mark on each side, as the text is too long for the terminal.
    is_tight: bool,
}

impl Rule {
    fn of(line: &str) -> Rule {
        Rule { width: line.chars().count(), is_tight: line.starts_with("= ") }
    }
}

/// One run of pytest.
#[derive(Debug, Default)]
struct Run {
    has_header: bool,
    /// Something but the summary told that this is pytest.
    has_evidence: bool,
    section: Section,
    /// Characters of its rules, which all fill the terminal's width.
    width: Option<usize>,
    /// How many failures and errors were reported at length.
    reports: u64,
    /// Whether those are what is being reported.
    reports_failures: bool,
    results: Results,
    counts: Option<Counts>,
    /// What ended it before all its tests had run.
    interrupted: Option<String>,
    /// What did so, unless a test failed.
    stopped: Option<String>,
    /// Whether a rule stands around its summary that is not as wide as the one that announced the session.
    is_odd: bool,
    /// What a test printed is shown between the tests.
    shows_output: bool,
    /// Characters of the rule that announced it.
    header: Option<usize>,
    /// Lines with text after the summary.
    followed: bool,
    /// They are Python's traceback.
    ends_in_traceback: bool,
    /// Its summary stands alone, and a test may have printed it.
    is_doubted: bool,
    /// A summary is its own: it stands below the short one, which no test printed, or below marks that say that all is done,
    /// or nothing else of the run is there.
    is_at_end: bool,
    /// It was called with what it does not know: the next line says with what.
    is_refused: bool,
    cases: TestCases,
    failures: Failures,
    /// Attempts before the one that counts.
    reruns: BTreeMap<String, u32>,
    /// Outcomes that name their test.
    named: u64,
    has_verbose: bool,
    units: BTreeSet<String>,
    /// Units that failed, as a line counts them.
    units_told: u64,
    /// Files whose tests ran, as far as it names them.
    files: BTreeSet<String>,
    /// As its header tells.
    root: Option<String>,
    /// How many failures of the run before it says to repeat, and no other tests.
    repeated: Option<u64>,
    warnings: BTreeSet<String>,
}

impl Run {
    /// The report, once the summary has come.
    fn parsed(mut self) -> Parsed {
        for (id, reruns) in &self.reruns {
            if let Some(case) = self.cases.cases.get_mut(id) {
                case.attempts = case.attempts.saturating_add(*reruns);
            }
        }
        self.cases.schema_version = SCHEMA_VERSION;
        let counts = self.counts.unwrap_or_default();
        let named_units = u64::try_from(self.units.len()).unwrap_or(u64::MAX);
        let unit_failures = named_units.max(self.units_told).min(counts.errored);
        let tests = counts.total().unwrap_or(u64::MAX);
        let figures = Figures {
            tests: Some(tests),
            passed: Some(counts.passed),
            failed: Some(counts.failed),
            errored: Some(counts.errored),
            skipped: Some(counts.skipped),
            ..Figures::default()
        };
        let details = TestDetails {
            cases: self.cases,
            duplicates: 0,
            failed_units: self.units.into_iter().collect(),
            unit_failures,
            compiled: false,
            dropped: tests.saturating_sub(unit_failures).saturating_sub(self.named),
            only_failed: false,
        };
        let mut parsed = Parsed::new(&FORMAT, figures, Details::Tests(details));
        parsed.warnings.extend(self.warnings);
        parsed
    }

    /// A line `id OUTCOME [ 3%]`, or `[gw0] [ 3%] OUTCOME id` of xdist.
    fn verbose(&mut self, id: &str, word: &str) {
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
    fn short(&mut self, text: &str) {
        let subtest = failed_subtest(text).map(|rest| (Some(Outcome::Failed), rest));
        let sub = subtest.is_some();
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
    fn is_imitation(&self, counts: &Counts, rule: Option<Rule>) -> bool {
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
    fn has_results_above(&self, text: &str) -> bool {
        let is_own = matches!(self.section, Section::Progress | Section::Short) || self.results.are_below_table();
        is_own && self.counts.is_none() && self.results.end_above(text)
    }

    /// pytest goes on: what looked like its summary was some test's output.
    fn go_on(&mut self) {
        (self.counts, self.interrupted, self.stopped) = (None, None, None);
        self.results.forget();
    }

    fn unit(&mut self, name: &str) {
        if self.units.len() < UNITS_KEPT {
            self.units.insert(printable(name, 200));
        }
    }

    fn add(&mut self, id: String, case: TestCase) {
        if let Some(before) = self.cases.cases.get_mut(&id) {
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
}

/// Reads lines of one or several runs.
#[derive(Debug, Default)]
pub(in crate::ingest) struct Reader {
    runs: Vec<Run>,
    run: Option<Run>,
    /// Sessions that the output of a test holds, one in the other.
    nested: u32,
    seen: bool,
    /// Schemathesis speaks, whose rules are like pytest's.
    is_anothers: bool,
    /// The line above ended a run.
    has_left: bool,
    /// The line above is of a short summary.
    is_below_failure: bool,
    /// What a test printed is shown, in a run whose beginning was cut away.
    is_shown: bool,
    /// It ended without a summary, as it was to collect tests alone.
    has_collected: bool,
    /// What may have stopped a session of which the line above is the first that is told: `pytest -q` has no header.
    above: Option<String>,
}

impl Reader {
    /// Whether the line before was inside a session, so that other tools' lines are a test's output.
    fn is_inside(&self) -> bool {
        self.run.as_ref().is_some_and(|run| match run.section {
            // A summary straight after a test's output is that output, as a rule.
            Section::Reports | Section::Captured => true,
            Section::Progress | Section::Short => run.has_header && (run.counts.is_none() || run.is_odd),
        })
    }

    /// Whether anything of pytest was met.
    fn is_pytest(&self) -> bool {
        self.seen
    }

    /// The runs whose summary came, in order; `false` if the last one's did not.
    fn finish(mut self) -> (Vec<Run>, bool) {
        self.close_results();
        let complete = self.run.as_ref().is_none_or(|run| run.counts.is_some());
        self.close();
        (self.runs, complete)
    }

    /// A block of results stands where the summary line would.
    fn close_results(&mut self) {
        if let Some(run) = self.run.as_mut().filter(|run| run.results.are_there()) {
            run.counts = run.results.counts();
        }
    }

    fn close(&mut self) {
        self.close_results();
        self.nested = 0;
        let Some(mut run) = self.run.take() else { return };
        let Some(counts) = &run.counts else { return };
        if counts.failed == 0 && counts.errored == 0 {
            run.interrupted = run.interrupted.take().or(run.stopped.take());
        }
        self.runs.push(run);
    }

    fn open(&mut self) -> &mut Run {
        self.seen = true;
        self.run.get_or_insert_default()
    }

    /// The next line.
    ///
    /// # Errors
    /// A summary's number is too large.
    fn line(&mut self, text: &str) -> Result<()> {
        let text = text.trim_end();
        if text.is_empty() {
            return Ok(());
        }
        if std::mem::take(&mut self.has_left)
            && self.run.is_none()
            && let Some(run) = self.runs.last_mut()
        {
            run.after_summary(text);
        }
        if let Some(run) = self.run.as_mut().filter(|run| run.has_results_above(text)) {
            (run.counts, run.section) = (run.results.counts(), Section::Progress);
        }
        if self.is_anothers || (!self.is_inside() && is_schemathesis(text)) {
            let is_end = ruled(text, '=').is_some_and(|title| title.contains(" in ") && title.ends_with('s'));
            self.is_anothers = !is_end;
            return Ok(());
        }
        let is_over = |run: &Run| run.counts.is_some();
        if let Some(file) = broken_conftest(text).filter(|_| self.run.as_ref().is_none_or(is_over) || !self.is_inside())
        {
            self.close();
            let run = self.open();
            (run.has_evidence, run.counts) = (true, Some(Counts { errored: 1, ..Counts::default() }));
            run.unit(file);
            self.close();
            return Ok(());
        }
        if is_usage(text) && !self.is_inside() {
            self.close();
            let run = self.open();
            (run.has_evidence, run.is_refused, run.counts) = (true, true, Some(Counts::default()));
            return Ok(());
        }
        let is_of_xdoctest = text.starts_with("Start doctest_module('");
        if ruled(text, '=') == Some("test session starts") || results::is_header(text) || is_of_xdoctest {
            self.session_starts(ruled(text, '=').map(|_| Rule::of(text)));
            return Ok(());
        }
        if self.nested > 0 {
            if ruled(text, '=').and_then(Counts::read).is_some() {
                self.nested -= 1;
            }
            return Ok(());
        }
        if results::begins(text) && self.run.as_ref().is_none_or(|run| run.is_at_end && !run.has_header) {
            if self.run.as_ref().is_some_and(|run| is_over(run) || run.results.are_there()) {
                self.close();
            }
            let run = self.open();
            (run.has_evidence, run.is_at_end, run.results.is_tail) = (true, true, true);
        }
        if self.run.as_mut().is_some_and(|run| run.results.line(text)) {
            return Ok(());
        }
        self.has_collected |= is_collection(text);
        let above = self.above.take();
        let is_below_failure = std::mem::replace(&mut self.is_below_failure, is_failure(text));
        if let Some(counts) = Counts::read(text) {
            let rule = ruled(text, '=').map(|_| Rule::of(text));
            // Of `pytest | tail`, that may be all: nobody else rules off such a line, or puts it below its failures.
            let is_certain = counts.is_certain || rule.is_some() || is_below_failure;
            self.summary(Counts { is_certain, ..counts }, rule)?;
            if let Some(run) = self.run.as_mut().filter(|run| !run.followed) {
                run.stopped = run.stopped.take().or(above);
            }
            return Ok(());
        }
        if self.structure(text) {
            return Ok(());
        }
        let title = ruled(text, '!');
        if title.is_some_and(|title| title.starts_with("Interrupted: ")) {
            self.open();
        }
        let by = interruption(text);
        let stop = title.filter(|title| by.is_none() && is_stop(title));
        if self.run.as_ref().is_none_or(is_over) {
            self.above = stop.map(|told| printable(told, 200));
        }
        if let Some(told) = by.or_else(|| stop.filter(|_| self.run.is_some())) {
            let run = self.open();
            // What a test printed is followed by what pytest says next.
            let is_own = match title {
                Some(_) => run.width.is_none_or(|width| width == text.chars().count()),
                None => run.section != Section::Captured,
            };
            // `pytest.exit` with a code is told below the summary.
            let is_below = by.is_some() && title.is_some() && !run.followed;
            let slot = if by.is_some() { &mut run.interrupted } else { &mut run.stopped };
            if is_own && (run.counts.is_none() || is_below) {
                *slot = Some(printable(told, 200));
            }
        }
        if let Some(run) = &mut self.run {
            if run.counts.is_some() {
                run.after_summary(text);
                run.followed = true;
            } else if run.section == Section::Short {
                run.short(text);
            } else {
                run.told(text);
            }
        }
        Ok(())
    }

    /// `rule` is what stands around the line, if it is one.
    fn session_starts(&mut self, rule: Option<Rule>) {
        self.has_collected = false;
        match &self.run {
            Some(run) if run.counts.is_none() && (run.has_header || run.section == Section::Captured) => {
                self.nested += 1
            }
            _ => {
                self.close();
                let run = self.open();
                run.has_header = true;
                run.has_evidence = true;
                run.header = rule.map(|rule| rule.width);
            }
        }
    }

    /// `rule` is what stands around it.
    fn summary(&mut self, counts: Counts, rule: Option<Rule>) -> Result<()> {
        if self.run.as_ref().is_some_and(|run| run.is_imitation(&counts, rule)) {
            return Ok(());
        }
        if counts.overflow {
            return Err(Error::report(Reject::Malformed, "a number of the pytest summary is too large"));
        }
        // A second summary of a session with a header replaces the first, which some test printed.
        if self.run.as_ref().is_some_and(|run| run.counts.is_some() && !(run.has_header && rule.is_some())) {
            self.close();
        }
        let run = self.open();
        run.is_at_end |= !run.has_evidence;
        run.has_evidence |= counts.is_certain;
        run.counts = Some(counts);
        let is_other = |rule: Rule| !rule.is_tight && run.header.is_some_and(|width| width != rule.width);
        run.is_odd = run.shows_output && rule.is_some_and(is_other);
        run.followed = false;
        Ok(())
    }

    /// Lines that only pytest writes. `true` if it was one.
    fn structure(&mut self, text: &str) -> bool {
        let awaits_tests = |run: &Run| run.has_header && run.section == Section::Progress && run.counts.is_none();
        let verbose = verbose_parts(text)
            .or_else(|| self.run.as_ref().filter(|run| awaits_tests(run)).and_then(|_| plain_verbose_parts(text)));
        if verbose.is_some() || is_progress(text) {
            match &mut self.run {
                // pytest-instafail shows what a test printed before the next one runs.
                Some(run) if run.is_odd => run.go_on(),
                Some(run) if run.counts.is_some() => self.close(),
                _ => {}
            }
            let run = self.open();
            (run.has_evidence, run.interrupted, run.stopped) = (true, None, None);
            run.is_at_end = run.section == Section::Progress && text.ends_with("[100%]");
            if let Some(file) = file(text).filter(|_| run.files.len() < CASES_KEPT && run.section == Section::Progress)
            {
                run.files.insert(printable(file, LONGEST_ID));
            }
            if let (Some((id, word)), Section::Progress) = (verbose, run.section) {
                run.verbose(id, word);
            }
            return true;
        }
        let section = match ruled(text, '=') {
            Some("FAILURES" | "ERRORS" | "PASSES" | "XPASSES" | "XFAILURES") => Some(Section::Reports),
            Some("short test summary info") => Some(Section::Short),
            Some("warnings summary" | "warnings summary (final)" | "rerun test summary info" | "tests coverage") => {
                Some(Section::Progress)
            }
            _ => None,
        };
        if let Some(section) = section {
            if self.run.as_ref().is_some_and(|run| run.is_at_end && run.counts.is_some()) {
                self.close();
            }
            let is_shown = std::mem::take(&mut self.is_shown);
            let run = self.open();
            run.is_at_end = section == Section::Short && run.section != Section::Captured && !is_shown;
            run.width = run.width.or(Some(text.chars().count()));
            run.go_on();
            run.has_evidence = true;
            run.section = section;
            run.reports_failures = matches!(ruled(text, '='), Some("FAILURES" | "ERRORS"));
            run.failures.begin(None);
            return true;
        }
        let captured = ruled(text, '-').is_some_and(|title| title.starts_with("Captured "));
        let Some(run) = self.run.as_mut().filter(|run| run.has_evidence) else {
            self.is_shown |= captured;
            return false;
        };
        // pytest-sugar reports a failure at once.
        if ruled(text, '―').is_some() {
            run.width = run.width.or(Some(text.chars().count()));
            run.section = Section::Reports;
        }
        let in_reports = matches!(run.section, Section::Reports | Section::Captured);
        // Between two frames stands `_ _ _ _`.
        let is_heading = |title: &&str| !title.bytes().all(|byte| matches!(byte, b'_' | b' '));
        if let Some(title) = ruled(text, '_').filter(|_| in_reports).filter(is_heading) {
            if let Some(unit) = title.strip_prefix("ERROR collecting ") {
                run.unit(unit);
            }
            run.go_on();
            run.section = Section::Reports;
            run.reports = run.reports.saturating_add(u64::from(run.reports_failures));
            run.failures.begin(Some(title).filter(|_| run.reports_failures));
            return true;
        }
        run.shows_output |= captured && !in_reports;
        if captured && in_reports {
            run.go_on();
            run.section = Section::Captured;
        }
        captured
    }
}

impl runs::Runs for Reader {
    fn line(&mut self, text: &str) -> Result<()> {
        Reader::line(self, text)
    }

    fn leave(&mut self) -> Result<bool> {
        if !self.is_inside() && self.run.as_ref().is_some_and(|run| run.counts.is_some()) {
            self.close();
            self.has_left = true;
        }
        Ok(true)
    }

    fn count(&self) -> usize {
        self.runs.len()
    }

    /// Tests of `pytest -q -s` may have printed what stands above their marks, too.
    fn doubt(&mut self) {
        self.runs.iter_mut().chain(&mut self.run).for_each(|run| run.is_doubted = true);
    }

    fn holds(&self, text: &str) -> bool {
        self.is_inside() && !self.run.as_ref().is_some_and(|run| run.has_results_above(text))
    }

    /// pytest-cov says so, between dashes or underscores.
    fn prints_table(&self, below: &str) -> bool {
        below.starts_with(['-', '_']) && below.contains(" coverage: platform ")
    }

    fn prints_measurement(&self, text: &str) -> bool {
        pytest_benchmark_text::is_of_table(text)
    }

    fn finish(self: Box<Self>) -> Vec<runs::Run> {
        let (runs, _) = Reader::finish(*self);
        // A bare summary that other text follows is nobody's, unless pytest alone has such words.
        let is_bare = |run: &Run| run.counts.as_ref().is_some_and(Counts::is_own);
        let possible = runs.into_iter().filter(|run| run.has_evidence || !run.followed || is_bare(run));
        let possible = possible.filter(|run| run.interrupted.is_none());
        possible
            .map(|mut run| {
                let (is_alone, is_doubted) = (!run.has_evidence, run.is_doubted || !is_bare(&run));
                let (units, repeated, root) = (std::mem::take(&mut run.files), run.repeated, run.root.take());
                let run = runs::Run::of(run.parsed(), units).alone(is_alone, is_doubted);
                runs::Run { repeated, root, ..run }
            })
            .collect()
    }
}

impl Run {
    /// Lines outside the short summary that say how many units failed.
    fn told(&mut self, text: &str) {
        let number = |text: &str| text.split(' ').next().and_then(|number| number.parse().ok());
        let interrupted = ruled(text, '!').and_then(|title| title.strip_prefix("Interrupted: "));
        if let Some(rest) = interrupted.filter(|rest| rest.contains("during collection")) {
            self.units_told = self.units_told.max(number(rest).unwrap_or(0));
        }
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
    fn after_summary(&mut self, text: &str) {
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
