//! One file a command; a command's few lines say what it asks of the engine and how the answer is printed.

mod accept;
mod begin;
mod config;
mod demo;
mod diff;
mod finish;
mod gate;
pub mod hook;
mod import;
mod inspect;
mod list;
mod log;
mod loops;
#[cfg(feature = "mcp")]
mod mcp;
mod monitor;
mod prune;
mod record;
mod replay;
mod report;
mod restore;
mod run;
mod schema;
mod shell;
mod show;
mod status;
mod steps;
mod tests;
mod verify;
mod watch;

use super::args::Command;
use super::context::Context;
use super::exit::Exit;
use crate::error::Result;

/// Runs one command.
///
/// # Errors
/// What the command cannot do; nothing was changed then, unless the error says how to go on.
pub fn run(context: &Context, command: Command) -> Result<Exit> {
    match command {
        Command::Demo { keep } => demo::run(context, keep.as_deref()),
        Command::Begin { choice, goal, progress_threshold, stuck_after, inputs } => {
            let options = begin::Options { goal, progress_threshold, stuck_after };
            begin::run(context, &choice, &inputs, &options)
        }
        Command::Record { choice, exit_code, anchor, parent, rerun, replay, inputs } => record::run(
            context,
            &choice,
            &inputs,
            record::Options { exit_code, anchor, asked: record::Asked { parent, rerun, replay } },
        ),
        Command::Run { choice, annotate, command } => run::run(context, &choice, annotate, &command),
        Command::Gate { choice } => gate::run(context, &choice),
        Command::Accept { choice, rules, reason } => accept::run(context, &choice, &rules, &reason),
        Command::Finish { choice, dry_run, into, verify_cmd } => {
            finish::run(context, &choice, dry_run, into.as_deref(), verify_cmd.as_deref())
        }
        Command::Restore { choice, iteration, paths, dry_run, into, resume, abort } => {
            let how = restore::How { dry_run, into: into.as_deref(), resume, abort };
            restore::run(context, &choice, iteration, &paths, &how)
        }
        Command::Undo => restore::undo(context),
        Command::Status { choice } => status::run(context, &choice),
        Command::Log { choice, changes: false } => log::run(context, &choice),
        Command::Log { choice, changes: true } => log::changes(context, &choice),
        Command::Show { choice, iteration } => show::run(context, &choice, iteration),
        Command::Diff { choice, a, b } => diff::run(context, &choice, a, b),
        Command::Tests { choice, flaky, broken, history } => {
            tests::run(context, &choice, &tests::Asked { flaky, broken, history })
        }
        Command::Watch { choice } => watch::run(context, &choice),
        Command::Monitor { transcript, format } => monitor::run(context, transcript.as_deref(), format.as_deref()),
        Command::Steps { choice } => steps::run(context, &choice),
        #[cfg(feature = "mcp")]
        Command::Mcp { choice } => mcp::run(context, &choice),
        Command::Report { choice, what, format, output } => {
            report::run(context, &choice, what.as_deref(), format, output.as_deref())
        }
        Command::Import { choice, file, format } => import::run(context, &choice, &file, format.as_deref()),
        Command::Inspect { files, format } => inspect::run(context, &files, format.as_deref()),
        Command::List { what } => list::list(context, what),
        Command::Explain { name } => list::explain(context, &name),
        Command::Replay { choice } => replay::run(context, &choice),
        Command::Loops => loops::run(context),
        Command::Verify { choice, head, recompute, repair } => {
            verify::run(context, &choice, head.as_deref(), recompute, repair)
        }
        Command::Prune { dry_run } => prune::run(context, dry_run),
        Command::Config { command } => config::run(context, &command),
        Command::Completions { shell } => shell::completions(shell),
        Command::Man { output } => shell::man(context, output.as_deref()),
        Command::Hook { command } => hook::run(context, command),
        Command::Schema { name } => schema::run(name.as_deref()),
    }
}
