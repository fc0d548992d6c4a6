//! What the text formats share whose tools announce a run before its first test: reading a file of such runs, and
//! finding them in a stream in which others speak too.

use std::collections::BTreeSet;

use super::meson_output;
use super::runs::{self, Run, Runs};
use super::text_report::{KILLED_HELP, Names, Summary, no_result, say_last};
use crate::error::{Error, Reject, Result};
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine};
use crate::ingest::{Format, Parsed};

/// One run of a tool, from the line that announces it.
pub(in crate::ingest) trait Announced: Default {
    /// Whether a run begins with the line.
    fn begins(line: &str) -> bool;

    /// Takes a line of the run, without what stands at its end and says nothing.
    ///
    /// # Errors
    /// A number is too large, or does not fit to the others.
    fn line(&mut self, text: &str) -> Result<()>;

    /// Whether its summary came.
    fn is_done(&self) -> bool;

    /// Whether the line is a run's summary, or begins it, and nobody else's: what announced the run may have been cut away
    /// (`… | tail -5`).
    fn ends_alone(_line: &str) -> bool {
        false
    }

    /// Whether a line with which a run begins is one more of this run, although that is done.
    fn goes_on(&self, _line: &str) -> bool {
        false
    }

    /// Whether it said that no test runs, or ended without a result.
    fn is_off(&self) -> bool {
        false
    }

    /// Whether its summary counts the run before it, too.
    fn is_sum(&self) -> bool {
        false
    }

    /// See [`Run::units`].
    fn units(&self) -> BTreeSet<String> {
        BTreeSet::new()
    }

    /// See [`Runs::prints_table`].
    fn prints_table(_below: &str) -> bool {
        false
    }

    /// What it told, once its summary came.
    ///
    /// # Errors
    /// A sum is too large.
    fn report(self) -> Result<Parsed>;
}

/// What a file of such runs needs beside that.
pub(super) trait TextRun: Announced {
    /// The tool, as a message names it.
    const TOOL: &'static str;

    /// Whether a line that has no end is whole all the same: it says the same however it goes on.
    fn is_whole(line: &str) -> bool;

    /// Whether each part of a run begins as the run does.
    const HAS_PARTS: bool = false;
}

/// Hands over each run of a file, in order. A summary without the line that announces it is a run, too.
///
/// # Errors
/// No result if there is no run, or one has no summary; malformed if the text ends inside a line; what `each` says.
fn read_runs<R: TextRun>(input: &Input<'_>, mut each: impl FnMut(R) -> Result<()>) -> Result<u64> {
    let (mut run, mut begun, mut runs, mut last) = (R::default(), false, 0_u64, 0);
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
    while let Some(line) = lines.next()? {
        last = line.number;
        let text = line.text.trim_end();
        if !line.ended && !R::is_whole(text) {
            return Err(cut(R::TOOL, last));
        }
        if R::begins(text) && !run.goes_on(text) {
            if run.is_done() {
                each(std::mem::take(&mut run)).map_err(|error| error.line(last))?;
                runs += 1;
            } else if begun && !R::HAS_PARTS {
                return Err(no_result(&format!("a run of {} has no summary", R::TOOL), last));
            }
            begun = true;
        }
        run.line(text).map_err(|error| error.line(last))?;
    }
    if !run.is_done() {
        return Err(no_result(&format!("no summary of {} at its end", R::TOOL), last));
    }
    each(run).map_err(|error| error.line(last))?;
    Ok(runs + 1)
}

/// What a text is that ends inside a line.
pub(super) fn cut(tool: &str, line: u64) -> Error {
    Error::report(Reject::Malformed, format!("output of {tool} ends inside a line")).line(line).help(KILLED_HELP)
}

/// The last of a file's runs.
///
/// # Errors
/// As [`read_runs`].
pub(super) fn last_run<R: TextRun>(input: &Input<'_>) -> Result<Parsed> {
    let mut last = None;
    let runs = read_runs(input, |run: R| {
        last = Some(run);
        Ok(())
    })?;
    let mut parsed = last.unwrap_or_default().report()?;
    say_last(&mut parsed, runs, R::TOOL);
    Ok(parsed)
}

/// A run of a part of the tests, as of one program: those of a file belong together.
pub(super) trait Part: TextRun {
    /// What it is a report of.
    const FORMAT: &'static Format;
    /// See [`crate::ingest::TestDetails::compiled`].
    const IS_COMPILED: bool;

    /// What it told.
    ///
    /// # Errors
    /// A sum is too large.
    fn told(self) -> Result<(Summary, Names)>;

    /// What cannot be told of it.
    fn warning(&self) -> Option<String> {
        None
    }

    /// That as a report of its own: what [`Announced::report`] answers.
    ///
    /// # Errors
    /// Likewise.
    fn alone(self) -> Result<Parsed> {
        let warning = self.warning();
        let (summary, names) = self.told()?;
        let mut parsed = names.report(Self::FORMAT, &summary, Self::IS_COMPILED)?;
        parsed.warnings.extend(warning);
        Ok(parsed)
    }
}

/// All runs of a file.
///
/// # Errors
/// As [`read_runs`]; a sum is too large.
pub(super) fn all_runs<R: Part>(input: &Input<'_>) -> Result<Parsed> {
    let (mut sum, mut names, mut warnings) = (Summary::default(), Names::default(), Vec::new());
    read_runs(input, |run: R| {
        warnings.extend(run.warning());
        let (one, named) = run.told()?;
        names.merge(named);
        sum.merge(&one)
    })?;
    let mut parsed = names.report(R::FORMAT, &sum, R::IS_COMPILED)?;
    parsed.warnings.extend(warnings);
    Ok(parsed)
}

/// Finds runs in a stream in which others speak too: from the line that announces one to its summary, only its tool
/// speaks. What comes below the summary may still name what failed.
pub(in crate::ingest) struct Stream<R> {
    run: Option<R>,
    /// Nothing announced it.
    is_alone: bool,
    /// If so, a test of another tool may have printed it.
    is_doubted: bool,
    runs: Vec<Run>,
}

impl<R> Default for Stream<R> {
    fn default() -> Stream<R> {
        Stream { run: None, is_alone: false, is_doubted: false, runs: Vec::new() }
    }
}

impl<R: Announced> Stream<R> {
    fn close(&mut self) -> Result<()> {
        if let Some(run) = self.run.take().filter(R::is_done) {
            self.runs.push(Run::of(run.report()?, BTreeSet::new()).alone(self.is_alone, self.is_doubted));
        }
        Ok(())
    }
}

impl<R: Announced> Runs for Stream<R> {
    fn line(&mut self, text: &str) -> Result<()> {
        let text = text.trim_end();
        // What a test prints may look like another run.
        let begins = R::begins(text);
        let is_next = |run: &R| run.is_done() && !run.goes_on(text);
        if (begins || R::ends_alone(text)) && self.run.as_ref().is_none_or(is_next) {
            self.close()?;
            (self.run, self.is_alone, self.is_doubted) = (Some(R::default()), !begins, false);
        }
        self.run.as_mut().map_or(Ok(()), |run| run.line(text))
    }

    fn holds(&self, _: &str) -> bool {
        self.run.as_ref().is_some_and(|run| !self.is_alone && !run.is_done() && !run.is_off())
    }

    fn doubt(&mut self) {
        self.is_doubted = true;
        runs::doubt(&mut self.runs);
    }

    fn prints_table(&self, below: &str) -> bool {
        R::prints_table(below)
    }

    fn leave(&mut self) -> Result<bool> {
        if self.run.as_ref().is_some_and(R::is_done) {
            self.close()?;
        }
        Ok(true)
    }

    fn count(&self) -> usize {
        self.runs.len()
    }

    fn finish(mut self: Box<Self>) -> Vec<Run> {
        // What cannot be added up is not there.
        let _ = self.close();
        self.runs
    }
}

/// Which runs before the last one were printed by its tests: those since the one before it whose own lines proved its summary,
/// if they prove its own.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::ingest) struct Enclosing {
    /// What the lines around it told is what the last summary counts.
    pub is_proven: bool,
    unproven: usize,
}

impl Enclosing {
    /// Another run begins, or ends, behind the last one.
    pub fn next(&mut self) {
        self.unproven = if self.is_proven { 0 } else { self.unproven.saturating_add(1) };
        self.is_proven = false;
    }

    /// See [`Unannounced::encloses`].
    pub fn runs(self) -> usize {
        if self.is_proven { self.unproven } else { 0 }
    }
}

/// The runs of a tool that does not announce them: a summary is a run.
pub(in crate::ingest) trait Unannounced: Default {
    /// Takes a line. The run before it, if the summary of another one comes with it: on the heap, as most lines end none.
    ///
    /// # Errors
    /// A number is too large.
    fn line(&mut self, text: &str) -> Result<Option<Box<Parsed>>>;

    /// See [`Run::is_certain`].
    fn is_certain(&self) -> bool {
        true
    }

    /// Whether a line tells nothing, however it goes on: the last one of a file, if it has no end.
    fn is_idle(_text: &str) -> bool {
        false
    }

    /// Whether its summary counts the run before it, too.
    fn is_sum(&self) -> bool {
        false
    }

    /// How many of the runs before it were printed by tests of this one: all that its own lines tell stands around them.
    fn encloses(&self) -> usize {
        0
    }

    /// Whether the next line may come after it, so that what is told of it as a whole is asked for.
    fn may_end(&self) -> bool {
        true
    }

    /// Whether its summary came. `None` if that cannot be told before the end.
    fn is_whole(&self) -> Option<bool> {
        None
    }

    /// Whether nothing was told of its tests one by one, so that what stands above it is of another command
    /// (`… | tail -5`).
    fn is_tail(&self) -> bool {
        false
    }

    /// See [`Run::units`].
    fn units(&self) -> BTreeSet<String> {
        BTreeSet::new()
    }

    /// The last run, if there was one.
    ///
    /// # Errors
    /// A sum is too large.
    fn report(self) -> Result<Option<Parsed>>;
}

/// What a file tells, all of whose summaries belong together: none ends a run. What Meson's tests printed is passed over.
///
/// # Errors
/// No result if there is no summary; malformed if the text ends inside a line, or a number is too large.
pub(super) fn all_summaries<R: Unannounced>(input: &Input<'_>, tool: &str) -> Result<Parsed> {
    let (mut run, mut last, mut shown) = (R::default(), 0, meson_output::Shown::default());
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
    while let Some(line) = lines.next()? {
        last = line.number;
        let text = line.text.trim_end();
        if !line.ended && !R::is_idle(text) {
            return Err(cut(tool, last));
        }
        if shown.holds_back(text) {
            continue;
        }
        run.line(text).map_err(|error| error.line(last))?;
    }
    run.report()?.ok_or_else(|| no_result(&format!("no summary of {tool} at its end"), last))
}

/// A run that its tool does not always announce: its summary ends it.
#[derive(Default)]
pub(in crate::ingest) struct Unmarked<R>(R);

impl<R: Announced> Unannounced for Unmarked<R> {
    fn line(&mut self, text: &str) -> Result<Option<Box<Parsed>>> {
        let is_done = self.0.is_done();
        let before = is_done.then(|| std::mem::take(&mut self.0).report().map(Box::new)).transpose()?;
        self.0.line(text)?;
        Ok(before)
    }

    fn is_sum(&self) -> bool {
        self.0.is_sum()
    }

    fn may_end(&self) -> bool {
        self.0.is_done()
    }

    fn is_whole(&self) -> Option<bool> {
        Some(self.0.is_done())
    }

    fn units(&self) -> BTreeSet<String> {
        self.0.units()
    }

    fn report(self) -> Result<Option<Parsed>> {
        self.0.is_done().then(|| self.0.report()).transpose()
    }
}

/// Finds such runs in a stream in which others speak too, also between a test and the summary.
#[derive(Default)]
pub(in crate::ingest) struct Summaries<R> {
    run: R,
    runs: Vec<Run>,
    /// How many of them may enclose what stands above them: asked for at every line.
    enclosing: usize,
}

impl<R> Summaries<R> {
    /// Adds a run in place of so many before it.
    fn add(&mut self, run: Run, replaced: usize) {
        self.runs.truncate(self.runs.len().saturating_sub(replaced));
        self.runs.push(run);
        self.enclosing = runs::enclosing(&self.runs);
    }
}

/// How many of the runs before it do not count beside it.
fn replaced(run: &impl Unannounced) -> usize {
    usize::from(run.is_sum()).max(run.encloses())
}

impl<R: Unannounced> Summaries<R> {
    fn end(&mut self) -> Result<()> {
        let run = std::mem::take(&mut self.run);
        let (is_certain, may_enclose) = (run.is_certain(), !run.is_tail());
        let (units, replaced) = (run.units(), replaced(&run));
        if let Some(parsed) = run.report()? {
            self.add(Run { is_certain, may_enclose, ..Run::of(parsed, units) }, replaced);
        }
        Ok(())
    }
}

impl<R: Unannounced> Runs for Summaries<R> {
    fn line(&mut self, text: &str) -> Result<()> {
        let units = if self.run.may_end() { self.run.units() } else { BTreeSet::new() };
        let (replaced, may_enclose) = (replaced(&self.run), !self.run.is_tail());
        if let Some(before) = self.run.line(text.trim_end())? {
            self.add(Run { may_enclose, ..Run::of(*before, units) }, replaced);
        }
        Ok(())
    }

    fn holds(&self, _: &str) -> bool {
        false
    }

    fn enclosing(&self) -> usize {
        let is_open = self.run.is_whole() == Some(true) && !self.run.is_tail();
        self.enclosing + usize::from(is_open)
    }

    fn leave(&mut self) -> Result<bool> {
        let is_whole = self.run.is_whole();
        if is_whole == Some(true) {
            self.end()?;
        }
        Ok(is_whole.is_some())
    }

    fn count(&self) -> usize {
        self.runs.len()
    }

    fn finish(mut self: Box<Self>) -> Vec<Run> {
        // What cannot be added up is not there.
        let _ = self.end();
        self.runs
    }
}
