//! Finished runs of other loop tools → one [`ForeignLoop`], so that they can be judged afterwards. They tell a metric a run,
//! and whether the tool kept the change; of the files they tell nothing.
//!
//! To add one: a file with a constant, a line in [`LOOP_FORMATS`], a fixture in `fixtures/loops`.

use std::fmt;

use super::detect::Head;
use super::input::Input;
use super::text::printable;
use crate::error::{Error, Reject, Result};
use crate::model::metrics::Direction;

pub mod autoresearch_tsv;
pub mod pi_autoresearch_jsonl;

/// Runs of one file that are read: over this it is no loop of anybody's.
const MOST_RUNS: usize = 100_000;

/// A file in which another tool keeps its runs.
pub struct LoopFormat {
    /// Its name.
    pub name: &'static str,
    /// One line on what it is.
    pub about: &'static str,
    /// What in the content tells it.
    pub told_by: &'static str,
    /// Looks at the first bytes.
    pub sniff: fn(&Head<'_>) -> bool,
    /// Reads all of it.
    pub parse: fn(&Input<'_>) -> Result<ForeignLoop>,
}

impl fmt::Debug for LoopFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LoopFormat({})", self.name)
    }
}

/// All of them.
pub const LOOP_FORMATS: &[&LoopFormat] = &[&autoresearch_tsv::FORMAT, &pi_autoresearch_jsonl::FORMAT];

/// A finished run of another loop tool.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ForeignLoop {
    /// The metric that it went after.
    pub metric: String,
    /// Its unit, if the file tells it.
    pub unit: Option<String>,
    /// Which way it is better, if the file tells it, or what was kept.
    pub direction: Option<Direction>,
    /// In the order of the file; the first is the baseline.
    pub runs: Vec<ForeignRun>,
    /// What a person should know of how it was read.
    pub notes: Vec<String>,
}

/// One run.
#[derive(Clone, Debug, PartialEq)]
pub struct ForeignRun {
    /// The value of the metric, or why there is none.
    pub value: Result<f64, String>,
    /// Further metrics by name.
    pub others: Vec<(String, f64)>,
    /// What became of it.
    pub fate: Fate,
    /// The tool's own word for that.
    pub status: String,
    /// The commit that the file names.
    pub commit: Option<String>,
    /// What tells the code apart from that of other runs, where that is known.
    pub code: Option<String>,
    /// The tool's words for the change.
    pub description: Option<String>,
    /// Milliseconds since 1970, UTC.
    pub at_ms: Option<i64>,
    /// Tokens that were spent.
    pub tokens: Option<u64>,
}

/// What the tool did with a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The next run started from it.
    Kept,
    /// The next run started from the one kept before.
    Discarded,
    /// It gave no result; and as discarded.
    Failed,
}

impl Fate {
    /// The word of a tool; `None` if it is none that is known.
    fn of(status: &str) -> Option<Fate> {
        match status.to_ascii_lowercase().as_str() {
            "keep" | "kept" | "baseline" => Some(Fate::Kept),
            "discard" | "discarded" | "revert" | "reverted" => Some(Fate::Discarded),
            "crash" | "crashed" | "error" | "timeout" | "checks_failed" => Some(Fate::Failed),
            _ => None,
        }
    }
}

/// Reads a file, as `format` or as what its content tells.
///
/// # Errors
/// A report error with place: empty, malformed, of no format that is known.
pub fn parse_loop(
    input: &Input<'_>,
    format: Option<&'static LoopFormat>,
) -> Result<(&'static LoopFormat, ForeignLoop)> {
    read(input, format).map_err(|error| error.in_file(input.name()))
}

fn read(input: &Input<'_>, format: Option<&'static LoopFormat>) -> Result<(&'static LoopFormat, ForeignLoop)> {
    let head = Head::read(input)?;
    let told = || LOOP_FORMATS.iter().copied().find(|format| (format.sniff)(&head));
    let Some(format) = format.or_else(told) else {
        let names: Vec<&str> = LOOP_FORMATS.iter().map(|format| format.name).collect();
        return Err(Error::report(Reject::NotThisFormat, "not the runs of any loop tool that is known")
            .help(format!("known are: {}; --format says which one is meant", names.join(", "))));
    };
    let mut told = (format.parse)(input)?;
    if told.runs.is_empty() {
        return Err(Error::report(Reject::NoResult, "no run is in it"));
    }
    told.direction = told.direction.or_else(|| direction_kept(&told));
    Ok((format, told))
}

/// The way in which what was kept went: a tool keeps what it takes for better.
fn direction_kept(told: &ForeignLoop) -> Option<Direction> {
    let kept = told.runs.iter().filter(|run| run.fate == Fate::Kept).filter_map(|run| run.value.as_ref().ok());
    let kept: Vec<f64> = kept.copied().collect();
    let steps = || kept.iter().zip(kept.iter().skip(1));
    let up = steps().filter(|(before, after)| after > before).count();
    let down = steps().filter(|(before, after)| after < before).count();
    match up.cmp(&down) {
        std::cmp::Ordering::Greater => Some(Direction::Higher),
        std::cmp::Ordering::Less => Some(Direction::Lower),
        std::cmp::Ordering::Equal => None,
    }
}

/// What is said where a run has no value.
fn no_value(status: &str) -> String {
    format!("the run ended as {status}")
}

/// A number that a run has as its value.
fn finite(text: &str) -> Result<f64, String> {
    let number = text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    number.ok_or_else(|| format!("{:?} is no number", printable(text.trim(), 40)))
}

/// A status that is not known.
fn unknown_status(status: &str, line: u64) -> Error {
    let what = format!("the status {:?} is not known", printable(status, 40));
    Error::report(Reject::Malformed, what).line(line).help("known are keep, discard, crash and checks_failed")
}

/// Refuses a file of too many runs.
fn check_length(runs: &[ForeignRun], line: u64) -> Result<()> {
    if runs.len() <= MOST_RUNS {
        return Ok(());
    }
    Err(Error::report(Reject::Refused, format!("more than {MOST_RUNS} runs")).line(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_tells_which_way_is_better() {
        let read = |values: &[(&str, &str)]| {
            let rows: String = values.iter().map(|(value, status)| format!("c\t{value}\t{status}\tx\n")).collect();
            let text = format!("commit\tscore\tstatus\tdescription\n{rows}");
            parse_loop(&Input::bytes("x", text.as_bytes()), None).unwrap().1.direction
        };
        assert_eq!(read(&[("1", "keep"), ("9", "discard"), ("2", "keep"), ("3", "keep")]), Some(Direction::Higher));
        assert_eq!(read(&[("3", "keep"), ("2", "keep")]), Some(Direction::Lower));
        assert_eq!(read(&[("3", "keep"), ("4", "discard")]), None);
    }

    #[test]
    fn what_is_no_loop_is_refused_with_the_names_of_those_that_are_known() {
        let read = |text: &str| parse_loop(&Input::bytes("x", text.as_bytes()), None).unwrap_err();
        assert_eq!(read("").reject(), Some(Reject::Empty));
        let error = read("a b c\n");
        assert_eq!(error.reject(), Some(Reject::NotThisFormat));
        assert!(error.help.as_deref().unwrap().contains("autoresearch-tsv"));
        assert_eq!(read("commit\tval_bpb\tstatus\tdescription\n").reject(), Some(Reject::NoResult));
    }
}
