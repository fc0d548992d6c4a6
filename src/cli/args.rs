//! What can be typed. Parsing only: what it means is each command's own file.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};

use crate::engine::{Given, given};
use crate::integrations::install::INSTALLS;
use crate::model::figures::ReportKind;
use crate::model::ids::{Iteration, LoopId};
use crate::model::reruns::RerunCommand;
use crate::report::FORMS;

const AFTER_HELP: &str = "\
The whole story:
  highwater begin --loop auth -- cargo test   iteration 0: run the command, read its reports, keep the tree
  highwater record -- cargo test              after each iteration: measure, judge, keep, recommend
  highwater gate || break                     0 go on, 10 stop, 11 roll back, 12 ask a person, 13 not measured
  highwater log                               the trajectory as a table, the peak marked
  highwater finish                            choose the peak, put it back into the work tree, write the report
  highwater undo                              the way back from any restore

Exit codes: 0 done or continue, 10 stop, 11 rollback, 12 escalate, 13 could not measure, 1 failed, 64 usage, \
65 bad input, 70 a bug of highwater's. `run` answers with its child's code.";

/// Measures an autonomous coding loop from outside, and gives back its best iteration instead of its last.
#[derive(Debug, Parser)]
#[command(name = "highwater", version, after_help = AFTER_HELP, max_term_width = 100, disable_help_subcommand = true)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Options of every command.
    #[command(flatten)]
    pub common: Common,
}

/// Options of every command.
#[derive(Clone, Debug, Args)]
pub struct Common {
    /// The work tree [default: the nearest folder upward that holds .progress or .git]
    #[arg(long, global = true, value_name = "DIR", env = "HIGHWATER_ROOT", hide_env_values = true)]
    pub root: Option<PathBuf>,
    /// Config file [default: highwater.yaml at the root]
    #[arg(long, global = true, value_name = "FILE", env = "HIGHWATER_CONFIG", hide_env_values = true)]
    pub config: Option<PathBuf>,
    /// Print one JSON object on stdout
    #[arg(long, global = true)]
    pub json: bool,
    /// Print JSON, one object a line, where a command prints a list
    #[arg(long, global = true, conflicts_with = "json")]
    pub jsonl: bool,
    /// Say nothing on stderr but errors
    #[arg(long, short, global = true)]
    pub quiet: bool,
}

/// What `--loop` is to a command that makes one.
const NEW_LOOP: &str = "The new loop's name [default: the first of loop-001, loop-002 and so on that is free]";

/// The loop that a command is about.
#[derive(Debug, Args)]
pub struct LoopChoice {
    /// The loop [default: the newest open one]
    #[arg(long = "loop", value_name = "ID", env = "HIGHWATER_LOOP", hide_env_values = true)]
    pub id: Option<LoopId>,
}

/// Where an iteration's figures come from.
#[derive(Debug, Default, Args)]
pub struct Inputs {
    /// A report: PATH or GLOB, FORMAT:PATH to say what it is, - for stdin (repeatable) [default: reports.globs]
    #[arg(long = "report", value_name = "[FORMAT:]PATH")]
    pub reports: Vec<String>,
    /// What the agent said in this iteration
    #[arg(long, value_name = "FILE")]
    pub output: Option<String>,
    /// What the agent did: its transcript, file or folder (repeatable; `list transcripts`); cost and tokens too
    #[arg(long = "transcript", value_name = "FILE")]
    pub transcripts: Vec<String>,
    /// How much of the goal is reached: PERCENT, or @FILE with a JSON object that has progress_percent
    #[arg(long, value_name = "PERCENT|@FILE", allow_negative_numbers = true)]
    pub estimate: Option<String>,
    /// A metric of your own (repeatable; several values of one name are samples)
    #[arg(long = "metric", value_name = "NAME=VALUE", value_parser = metric)]
    pub metrics: Vec<(String, Given)>,
    /// Where the metrics were measured (a machine, a load): values of other contexts are not compared
    #[arg(long, value_name = "TEXT")]
    pub context: Option<String>,
    /// Leave out a kind of figures (repeatable); size includes the census of files and lines
    #[arg(long = "skip", value_name = "KIND")]
    pub skip: Vec<SkipKind>,
    /// Your own words for the iteration
    #[arg(long, value_name = "TEXT")]
    pub label: Option<String>,
    /// US dollars spent in this iteration [default: as the transcript tells]
    #[arg(long, value_name = "USD", value_parser = cost)]
    pub cost: Option<f64>,
    /// Tokens spent in this iteration [default: as the transcript tells]
    #[arg(long, value_name = "N")]
    pub tokens: Option<u64>,
    /// The command to measure with; its output is read as a report too
    #[arg(last = true, value_name = "CMD")]
    pub command: Vec<std::ffi::OsString>,
}

/// A kind of figures, as `--skip` takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum SkipKind {
    /// Test results.
    Test,
    /// Coverage.
    Coverage,
    /// Findings.
    Lint,
    /// Size reports and the census.
    Size,
    /// Reports of metrics.
    Metric,
}

impl From<SkipKind> for ReportKind {
    fn from(kind: SkipKind) -> ReportKind {
        match kind {
            SkipKind::Test => ReportKind::Test,
            SkipKind::Coverage => ReportKind::Coverage,
            SkipKind::Lint => ReportKind::Lint,
            SkipKind::Size => ReportKind::Size,
            SkipKind::Metric => ReportKind::Metric,
        }
    }
}

/// The form of a report: markdown, our own JSON, or one that other programs read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReportFormat(&'static str);

impl Default for ReportFormat {
    fn default() -> ReportFormat {
        ReportFormat("md")
    }
}

impl ReportFormat {
    /// What `--json` means.
    pub const JSON: ReportFormat = ReportFormat("json");

    /// Every name, and what it is.
    fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
        let own = [("md", "markdown"), ("json", "our own JSON, as `show` and `log` print it")];
        own.into_iter().chain(FORMS.iter().map(|form| (form.name, form.about)))
    }

    /// The one of this name.
    pub fn named(name: &str) -> Option<ReportFormat> {
        ReportFormat::all().find(|(one, _)| *one == name).map(|(one, _)| ReportFormat(one))
    }

    /// As `--format` takes it.
    pub fn name(self) -> String {
        self.0.to_owned()
    }

    /// All names, as `--format` takes them.
    #[cfg(feature = "mcp")]
    pub fn names() -> Vec<String> {
        ReportFormat::all().map(|(name, _)| name.to_owned()).collect()
    }

    fn parser() -> impl TypedValueParser<Value = ReportFormat> {
        let values = ReportFormat::all().map(|(name, about)| PossibleValue::new(name).help(about));
        PossibleValuesParser::new(values).map(|name| ReportFormat::named(&name).unwrap_or_default())
    }
}

/// What `list` can list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum Listing {
    /// Report formats that are read.
    Formats,
    /// Alert rules.
    Rules,
    /// Detectors.
    Detectors,
    /// Classes that an iteration can have.
    Classes,
    /// Actions that can be recommended.
    Actions,
    /// Reports that are written.
    Reports,
    /// Agents' transcripts that are read.
    Transcripts,
    /// Agent CLIs whose hooks are understood.
    Agents,
}

/// What `config` can do.
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Prints every key with its value and where it comes from
    Show,
    /// Writes highwater.yaml with every default and its reason
    Init,
}

/// Whose config hooks are installed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum Scope {
    /// The work tree's.
    Project,
    /// The user's own, for every work tree.
    User,
}

/// What `hook` can do.
#[derive(Debug, Subcommand)]
pub enum HookCommand {
    /// Adds highwater's hooks to the agent's config, and changes nothing else there
    Install(HookChange),
    /// Takes them out again, to the byte
    Uninstall(HookChange),
    /// Which agents have them, and whether they work
    Status,
    /// What an agent's hook runs: takes its payload, answers in its dialect. Exits 0 and says nothing of its own, whatever
    /// happens; faults are in faults.log, and `status` tells them
    Run {
        /// The agent whose hooks these are, or detected
        #[arg(long, value_name = "NAME", default_value = "detected")]
        agent: String,
        #[command(flatten)]
        choice: LoopChoice,
        /// The payload [default: standard input]
        #[arg(value_name = "PAYLOAD")]
        payload: Option<OsString>,
    },
}

/// A change of an agent's config.
#[derive(Debug, Args)]
pub struct HookChange {
    /// The agent; detected is every one that is used here
    #[arg(long, value_name = "NAME|detected", value_parser = agents())]
    pub agent: String,
    /// The work tree's config, or the user's own
    #[arg(long, value_enum, default_value = "project")]
    pub scope: Scope,
    /// Print the difference; change nothing
    #[arg(long)]
    pub dry_run: bool,
}

fn agents() -> clap::builder::PossibleValuesParser {
    INSTALLS.iter().map(|install| install.agent).chain(["detected"]).into()
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Replays a recorded real loop in a temporary folder: verdicts, restore, reports
    Demo {
        /// Keep the folder: DIR must not exist or be empty
        #[arg(long, value_name = "DIR")]
        keep: Option<PathBuf>,
    },
    /// Opens a loop: measures the baseline (iteration 0) and keeps the tree
    #[command(mut_arg("id", |id| id.help(NEW_LOOP)))]
    Begin {
        #[command(flatten)]
        choice: LoopChoice,
        /// What the loop is for: TEXT, or @FILE
        #[arg(long, value_name = "TEXT|@FILE")]
        goal: Option<String>,
        /// Progress score (0-1) below which there was no progress [default: progress.threshold]
        #[arg(long, value_name = "X", value_parser = share)]
        progress_threshold: Option<f64>,
        /// Iterations without progress in a row that are stuck [default: progress.stuck_after]
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
        stuck_after: Option<u32>,
        #[command(flatten)]
        inputs: Inputs,
    },
    /// Records one iteration: measure, keep, judge, recommend
    #[command(
        after_help = "Exit codes: 0 recorded (with --exit-code those of `gate`), 65 recorded without a report that could \
                      not be read, or refused with nothing recorded."
    )]
    Record {
        #[command(flatten)]
        choice: LoopChoice,
        /// Exit like gate: 10 stop, 11 roll back, 12 ask a person, 13 not measured
        #[arg(long)]
        exit_code: bool,
        /// Append the head (loop, number, hash) to FILE, kept outside the work tree
        #[arg(long, value_name = "FILE")]
        anchor: Option<PathBuf>,
        /// The iteration whose tree this one started from [default: the last one, or the one restored since]
        #[arg(long, value_name = "ITER")]
        parent: Option<Iteration>,
        /// Run newly failing tests again until it is clear which are flakes: words without a shell, {ids} becomes one word
        /// a test [default: flake.rerun]
        #[arg(long, value_name = "CMD {ids}")]
        rerun: Option<RerunCommand>,
        /// Where tests were edited in a suspicious way, run the old tests on the new code and the new tests on the old code,
        /// in temporary copies of the work tree: a shell's line [default: tamper.command, as tamper.replay says]
        #[arg(long, value_name = "CMD")]
        replay: Option<String>,
        #[command(flatten)]
        inputs: Inputs,
    },
    /// Runs CMD with its own output and exit code unchanged, then begins or records
    Run {
        #[command(flatten)]
        choice: LoopChoice,
        /// Print the alerts on stderr after the command's output
        #[arg(long)]
        annotate: bool,
        /// The command
        #[arg(last = true, required = true, value_name = "CMD")]
        command: Vec<std::ffi::OsString>,
    },
    /// The last recommendation as an exit code and one line
    #[command(after_help = "Exit codes: 0 go on, 10 stop, 11 roll back, 12 ask a person, 13 not measured.")]
    Gate {
        #[command(flatten)]
        choice: LoopChoice,
    },
    /// Closes open findings on purpose; kept in the next record and shown in every report
    Accept {
        #[command(flatten)]
        choice: LoopChoice,
        /// Names of the findings' rules
        #[arg(required = true, value_name = "RULE")]
        rules: Vec<String>,
        /// Why the loss is meant
        #[arg(long, value_name = "TEXT")]
        reason: String,
    },
    /// Chooses the best iteration, puts it back into the work tree, writes the report, closes the loop
    #[command(after_help = "Exit codes: 0 one was chosen, 13 none is eligible and nothing was put back.")]
    Finish {
        #[command(flatten)]
        choice: LoopChoice,
        /// Print what would happen; change nothing
        #[arg(long)]
        dry_run: bool,
        /// Write the tree to DIR (absent or empty) instead of the work tree; the loop stays open
        #[arg(long, value_name = "DIR")]
        into: Option<PathBuf>,
        /// Run CMD in a fresh copy of the candidate, made where temporary files are kept (TMPDIR) and open to nobody else; its
        /// reports must give the recorded metrics. Interrupted (Ctrl-C), it leaves the copy there. With `select.revalidate`,
        /// CMD measures the best few again first, and the mean decides
        #[arg(long, value_name = "CMD")]
        verify_cmd: Option<String>,
    },
    /// Puts an iteration's files back; what is replaced is kept first
    #[command(
        after_help = "Exit codes: 0 put back, 65 refused and nothing was changed, 1 stopped on the way: --resume or --abort."
    )]
    Restore {
        #[command(flatten)]
        choice: LoopChoice,
        /// The iteration
        #[arg(value_name = "ITER", required_unless_present_any = ["resume", "abort"])]
        iteration: Option<Iteration>,
        /// Only these files and folders with what is below them, from the current folder (from the root of the work tree
        /// where that is outside of it); . is the folder itself
        #[arg(value_name = "PATH")]
        paths: Vec<PathBuf>,
        /// Print what would happen; change nothing
        #[arg(long)]
        dry_run: bool,
        /// Write to DIR (absent or empty) instead of the work tree
        #[arg(long, value_name = "DIR")]
        into: Option<PathBuf>,
        /// Finish a restore that was interrupted
        #[arg(long, conflicts_with_all = ["iteration", "abort", "dry_run", "into"])]
        resume: bool,
        /// Back out of a restore that was interrupted
        #[arg(long, conflicts_with_all = ["iteration", "dry_run", "into"])]
        abort: bool,
    },
    /// Reverts the last restore
    Undo,
    /// Where the loop stands
    Status {
        #[command(flatten)]
        choice: LoopChoice,
    },
    /// The trajectory as a table, the peak marked
    Log {
        #[command(flatten)]
        choice: LoopChoice,
        /// Instead, where the level of each metric changed for good, along the iterations that led to the newest one
        #[arg(long)]
        changes: bool,
    },
    /// One iteration, whole
    Show {
        #[command(flatten)]
        choice: LoopChoice,
        /// The iteration
        #[arg(value_name = "ITER")]
        iteration: Iteration,
    },
    /// Metrics, tests by name and files that differ between two iterations
    Diff {
        #[command(flatten)]
        choice: LoopChoice,
        /// From
        #[arg(value_name = "A")]
        a: Iteration,
        /// To
        #[arg(value_name = "B")]
        b: Iteration,
    },
    /// The ledger of tests: which fail and since when, which iteration broke them, which flake
    Tests {
        #[command(flatten)]
        choice: LoopChoice,
        /// Only tests that failed on a tree that they passed on
        #[arg(long)]
        flaky: bool,
        /// Only tests that fail now, and what changed in the iteration that broke them
        #[arg(long)]
        broken: bool,
        /// Everything that became of one test: ID, or a part of it that no other has
        #[arg(long, value_name = "ID", conflicts_with_all = ["flaky", "broken"])]
        history: Option<String>,
    },
    /// Records and estimates as they come, those that are there first; ends when the loop closes
    Watch {
        #[command(flatten)]
        choice: LoopChoice,
    },
    /// A line in, a line out: an agent's tool calls, what is wrong with them (JSON; `schema call`, `watched`)
    Monitor {
        /// Read the calls of an agent's transcript instead of standard input
        #[arg(long, value_name = "FILE")]
        transcript: Option<PathBuf>,
        /// Read it as this: a name of `list transcripts` [default: the content decides]
        #[arg(long, value_name = "NAME", requires = "transcript")]
        format: Option<String>,
    },
    /// A line in, a line out: a supervisor's states, whether its run gets on (JSON; `schema state`, `assessment`)
    Steps {
        #[command(flatten)]
        choice: LoopChoice,
    },
    /// A Model Context Protocol server on standard input and output, for agents
    #[cfg(feature = "mcp")]
    Mcp {
        #[command(flatten)]
        choice: LoopChoice,
    },
    /// Writes a report: an iteration's number, selection, or summary
    Report {
        #[command(flatten)]
        choice: LoopChoice,
        /// ITER, selection or summary [default: summary; the newest iteration where the form tells one]
        #[arg(value_name = "WHAT")]
        what: Option<String>,
        /// The form
        #[arg(long, value_name = "FORM", value_parser = ReportFormat::parser(), default_value = "md")]
        format: ReportFormat,
        /// Write to FILE instead of stdout
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Makes a closed loop of a finished run of another loop tool, so that it can be judged; no files are restorable
    #[command(mut_arg("id", |id| id.help(NEW_LOOP)))]
    Import {
        #[command(flatten)]
        choice: LoopChoice,
        /// Its results: results.tsv of autoresearch, autoresearch.jsonl of pi-autoresearch
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Read it as this: autoresearch-tsv, pi-autoresearch-jsonl [default: the content decides]
        #[arg(long, value_name = "NAME")]
        format: Option<String>,
    },
    /// Parses report files and prints their figures
    Inspect {
        /// Report files; - for stdin
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Read them as this format [default: the content decides]
        #[arg(long, value_name = "NAME")]
        format: Option<String>,
    },
    /// What is built in
    List {
        /// What to list
        #[arg(value_enum)]
        what: Listing,
    },
    /// One rule's, class's, action's or format's meaning, thresholds in force and source
    Explain {
        /// Its name, as `list` prints it
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Judges a stored loop again, under the config that --config names if it does, and prints what would change
    Replay {
        #[command(flatten)]
        choice: LoopChoice,
    },
    /// All loops of this work tree, and the disk that each one takes
    Loops,
    /// Checks every record, object and artifact
    #[command(after_help = "Exit codes: 0 everything is as it was written, 65 something is damaged or missing.")]
    Verify {
        #[command(flatten)]
        choice: LoopChoice,
        /// Check against a head that was kept outside: N:HASH
        #[arg(long, value_name = "N:HASH")]
        head: Option<String>,
        /// Parse the stored reports and count the stored tree again: the metrics must come out the same
        #[arg(long)]
        recompute: bool,
        /// First make again what is derived (indexes, trajectory, manifests, metrics, reports), store lost files again that the
        /// work tree or a stored report still has, and set damaged packs aside
        #[arg(long)]
        repair: bool,
    },
    /// Drops the snapshots that no loop needs; records, figures and reports stay
    Prune {
        /// Print what would go; change nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// The configuration
    Config {
        /// What to do with it
        #[command(subcommand)]
        command: ConfigCommand,
    },
    /// Prints the completions of a shell, to be sourced or kept where the shell looks for them
    Completions {
        /// Which
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// Prints the manual page
    Man {
        /// Write the pages of all commands into DIR instead
        #[arg(long, short, value_name = "DIR")]
        output: Option<PathBuf>,
    },
    /// Lets an agent's own hooks record, judge and answer
    Hook {
        /// What to do with them
        #[command(subcommand)]
        command: HookCommand,
    },
    /// Prints the JSON Schema of a stored file or of an answer
    Schema {
        /// Its name; without one, the names
        #[arg(value_name = "NAME")]
        name: Option<String>,
    },
}

/// The command line, for what is made from it.
pub fn command() -> clap::Command {
    Arguments::command()
}

fn metric(text: &str) -> Result<(String, Given), String> {
    let (name, value) = text.split_once('=').ok_or("write NAME=VALUE")?;
    check_metric_name(name)?;
    Ok((name.to_owned(), given(value)))
}

/// Refuses what is no name of a metric, with the reason.
pub fn check_metric_name(name: &str) -> Result<(), String> {
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
    if is_name { Ok(()) } else { Err("a metric's name is letters, digits, '_', '-' or '.'".into()) }
}

fn share(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| format!("{text:?} is not a number"))?;
    if (0.0..=1.0).contains(&value) { Ok(value) } else { Err("it is between 0 and 1".into()) }
}

fn cost(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| format!("{text:?} is not a number"))?;
    if value.is_finite() && value >= 0.0 { Ok(value) } else { Err("a cost is finite and not negative".into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn metrics_have_a_plain_name_and_what_is_no_number_is_no_result() {
        assert_eq!(metric("p95=1.5"), Ok(("p95".into(), Ok(1.5))));
        for bad in ["p95", "=1", "a b=1"] {
            assert!(metric(bad).is_err(), "{bad}");
        }
        for none in ["x=", "x=inf", "x=NaN", "x=1e400", "x=1,5"] {
            assert!(metric(none).unwrap().1.is_err(), "{none}");
        }
    }
}
