//! Runs of test tools in a stream in which others speak too: where each begins and ends, and what it told.

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::error::Result;
use crate::ingest::Parsed;

/// What is said of tests of which a later run counts.
pub(in crate::ingest) fn ran_again(count: u64) -> String {
    let tests = if count == 1 { "test" } else { "tests" };
    format!("{count} {tests} ran again in this output: the later result counts")
}

/// Runs that are held of one tool. What has more is no project's output, and gives no numbers.
pub(in crate::ingest) const RUNS_HELD: usize = 5_000;

/// One run of a tool.
#[derive(Debug)]
pub(in crate::ingest) struct Run {
    /// What it told.
    pub parsed: Parsed,
    /// The files, packages or targets whose tests ran, as far as it names them all; empty if it does not.
    pub units: BTreeSet<String>,
    /// It says that it repeated so many failures of the run before, and no other tests.
    pub repeated: Option<u64>,
    /// Whether it is certain that the tool wrote it, and no test. What is not counts only if nothing is certain.
    pub is_certain: bool,
    /// It is a summary that no line above it announced: `tail` may have cut that away, or a test of a tool that announces
    /// nothing printed it.
    pub is_alone: bool,
    /// Its tests may have printed what stands above it: its tool does not say where a run begins.
    pub may_enclose: bool,
    /// The folder that it says to run in.
    pub root: Option<String>,
    /// The package whose script called it, and which of those that were met it was.
    pub script: Option<(usize, Rc<str>)>,
}

impl Run {
    /// A run of these units.
    pub(in crate::ingest) fn of(parsed: Parsed, units: BTreeSet<String>) -> Run {
        Run {
            parsed,
            units,
            repeated: None,
            is_certain: true,
            is_alone: false,
            may_enclose: false,
            root: None,
            script: None,
        }
    }

    /// That run, where it is a summary that stands alone; `is_doubted`: a test of another tool may have printed it.
    pub(in crate::ingest) fn alone(self, is_alone: bool, is_doubted: bool) -> Run {
        Run { is_alone, is_certain: self.is_certain && !(is_alone && is_doubted), ..self }
    }
}

/// How many of them may enclose what stands above them.
pub(in crate::ingest) fn enclosing(runs: &[Run]) -> usize {
    runs.iter().filter(|run| run.may_enclose).count()
}

/// Of the runs of one tool, those that stand alone beside one that does not: that is somebody's word on it.
pub(in crate::ingest) fn settle_alone(mut runs: Vec<Run>) -> Vec<Run> {
    let is_whole = |run: &Run| !run.is_alone && run.parsed.figures.tests != Some(0);
    if runs.iter().any(is_whole) {
        doubt(&mut runs);
    }
    runs
}

/// See [`Runs::doubt`].
pub(in crate::ingest) fn doubt(runs: &mut [Run]) {
    runs.iter_mut().filter(|run| run.is_alone).for_each(|run| run.is_certain = false);
}

/// Reads the runs of one tool.
pub(in crate::ingest) trait Runs {
    /// The next line, without terminal codes.
    ///
    /// # Errors
    /// A count is too large. The reader is of no use any more.
    fn line(&mut self, text: &str) -> Result<()>;

    /// Whether a run has begun and the next line is still within it: no other tool speaks there, so that what looks like
    /// one was printed by a test.
    fn holds(&self, next: &str) -> bool;

    /// How many runs came to their end so far that may enclose what stands above them ([`Run::may_enclose`]).
    fn enclosing(&self) -> usize {
        0
    }

    /// Such a run of another tool came to its end: its tests may have printed the summaries that stand alone so far.
    fn doubt(&mut self) {}

    /// Whether a table of coverage that stands in a run, below that line, is the runner's own.
    fn prints_table(&self, _below: &str) -> bool {
        false
    }

    /// Whether a line that stands in a run may tell the runner's own share of coverage.
    fn prints_share(&self, _text: &str) -> bool {
        false
    }

    /// Whether a line that stands in a run is the runner's own word on a benchmark.
    fn prints_measurement(&self, _text: &str) -> bool {
        false
    }

    /// Another package's tests may run next: takes the run that is whole for ended. `false` if the reader does not know.
    ///
    /// # Errors
    /// As [`Runs::line`].
    fn leave(&mut self) -> Result<bool> {
        Ok(false)
    }

    /// How many runs came to their end so far.
    fn count(&self) -> usize;

    /// The runs whose results came, in order.
    fn finish(self: Box<Self>) -> Vec<Run>;
}
