//! `pytest-text`: what plain `pytest` prints. The summary line gives the counts, `-v` lines and the short summary give
//! names. A captured output can hold a whole pytest session of its own: what it says is not believed.

use self::lines::{Counts, are_marks, file, is_progress, plain_verbose_parts, ruled, verbose_parts};
use self::run::{Rule, Run, Section};
use super::text_report::KILLED_HELP;
use super::{CASES_KEPT, LONGEST_ID, cargo_test_text, runs};
use crate::error::{Error, Reject, Result};
use crate::ingest::input::{Input, Invalid};
use crate::ingest::metric::pytest_benchmark_text;
use crate::ingest::text::{Lines, LongLine, printable};
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::figures::ReportKind;

mod failures;
mod lines;
mod marks;
mod results;
mod run;
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
               prints it, and once in a verdict. What fails to be collected counts as one errored, and so does a \
               conftest.py that cannot be loaded. With -qq there is no summary: where highwater \
               runs the command, the marks of a progress that comes to [100%], or ends by -x or --maxfail, count. A \
               session that was interrupted (KeyboardInterrupt, pytest.exit, INTERNALERROR) is no result; one that \
               ended by -x or --maxfail is.",
    sniff,
    parse,
};

/// Of the rule above the tests that did not pass.
const SHORT_SUMMARY: &str = "short test summary info";

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
    if first.is_some_and(|line| is_progress(line) || is_capture(line))
        && last_lines.clone().any(|line| Counts::read(line).is_some())
    {
        return Sniff::Maybe("progress of pytest, and a line that looks like its summary".to_owned());
    }
    if last_lines.clone().any(|line| ruled(line, '=').and_then(Counts::read).is_some()) {
        return Sniff::Maybe("a line that looks like a pytest summary".to_owned());
    }
    let is_end = |line: &str| marks::is_last(line) || ruled(line.trim_end(), '=') == Some(SHORT_SUMMARY);
    if first.is_some() && (head.lines().any(is_end) || last_lines.any(is_end)) {
        return Sniff::Sure("progress of pytest to its end, or its short summary".to_owned());
    }
    Sniff::No
}

/// Whether the line tells pytest, or a test that prints its output.
pub(super) fn is_marker(line: &str) -> bool {
    let line = line.trim_end();
    is_progress(line)
        || is_capture(line)
        || results::is_header(line)
        || broken_conftest(line).is_some()
        || is_usage(line)
        || matches!(ruled(line, '='), Some("test session starts" | "FAILURES" | "ERRORS"))
}

/// `---- Captured stdout call ----`, above what a test printed.
fn is_capture(line: &str) -> bool {
    ruled(line.trim_end(), '-').is_some_and(|title| title.starts_with("Captured "))
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
        Some(Run { is_open_ended: true, .. }) => {
            Err(Error::report(Reject::NoResult, "pytest printed no summary, as with -qq").line(last).help(
                "leave a -q out (it may stand in the project's own options, too), or let highwater run it: \
                     `begin -- CMD`, `record -- CMD`",
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
    /// The line above, if it is marks and nothing else.
    bare: Option<String>,
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
        if let Some(run) = &mut self.run {
            run.count_without_summary();
        }
        let complete = self.run.as_ref().is_none_or(|run| run.counts.is_some());
        self.close();
        (self.runs, complete)
    }

    fn close(&mut self) {
        self.nested = 0;
        let Some(mut run) = self.run.take() else { return };
        run.count_without_summary();
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
        if ruled(text, '=').is_none() {
            self.bare = are_marks(text).then(|| text.to_owned());
        }
        if std::mem::take(&mut self.has_left)
            && self.run.is_none()
            && let Some(run) = self.runs.last_mut()
        {
            run.after_summary(text);
        }
        if let Some(run) = self.run.as_mut().filter(|run| run.has_results_above(text)) {
            (run.counts, run.section) = (run.block(), Section::Progress);
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
        if let (Some(title), Some(run)) = (title, &mut self.run)
            && run.section != Section::Captured
        {
            run.ended_early(title);
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
                Some(run) if run.counts.is_some() || run.marks.are_whole() => self.close(),
                _ => {}
            }
            let run = self.open();
            (run.has_evidence, run.interrupted, run.stopped) = (true, None, None);
            if verbose.is_none() && run.section == Section::Progress {
                run.marks.line(text);
            }
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
            Some(SHORT_SUMMARY) => Some(Section::Short),
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
            let bare = self.bare.take();
            let run = self.open();
            if let Some(marks) = bare.filter(|_| run.section == Section::Progress) {
                run.marks.add(&marks);
            }
            run.is_at_end = section == Section::Short && run.section != Section::Captured && !is_shown;
            run.width = run.width.or(Some(text.chars().count()));
            run.go_on();
            run.has_evidence = true;
            run.section = section;
            run.reports_failures = matches!(ruled(text, '='), Some("FAILURES" | "ERRORS"));
            run.failures.begin(None);
            return true;
        }
        let captured = is_capture(text);
        if captured && self.run.is_none() {
            // Of `pytest | tail`, that may be the first that is left.
            let run = self.open();
            (run.has_evidence, run.section) = (true, Section::Captured);
            return true;
        }
        let Some(run) = self.run.as_mut().filter(|run| run.has_evidence) else {
            self.is_shown |= captured;
            return false;
        };
        // pytest-sugar reports a failure at once.
        let at_once = ruled(text, '―');
        if at_once.is_some() {
            run.width = run.width.or(Some(text.chars().count()));
            (run.section, run.reports_failures) = (Section::Reports, true);
        }
        let in_reports = matches!(run.section, Section::Reports | Section::Captured);
        // Between two frames stands `_ _ _ _`.
        let is_heading = |title: &&str| !title.bytes().all(|byte| matches!(byte, b'_' | b' '));
        if let Some(title) = at_once.or(ruled(text, '_').filter(|_| in_reports).filter(is_heading)) {
            if let Some(unit) = title.strip_prefix("ERROR collecting ") {
                run.unit(unit);
            }
            run.go_on();
            run.section = Section::Reports;
            if run.reports_failures {
                run.reported(title);
            }
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
