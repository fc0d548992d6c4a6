//! The command line: parse, dispatch, print, exit. The only place that reads the clock or prints.

pub mod answers;
mod args;
mod bounded;
mod child;
mod commands;
mod context;
mod diagnostic;
mod estimator;
mod exit;
mod inputs;
mod interrupt;
mod lines;
mod output;
mod post;
pub mod schemas;
mod size;
mod telemetry;
pub mod tool_answers;

use std::any::Any;
use std::ffi::OsString;
use std::io::IsTerminal;
use std::panic::{AssertUnwindSafe, catch_unwind};

use clap::Parser;
use clap::error::ErrorKind as ClapKind;

use crate::error::Error;
use args::{Arguments, Command, HookCommand};
use commands::hook;
use context::Context;
pub use exit::Exit;

/// Runs one command line and prints what comes of it. A panic of ours is told as a bug, and is exit 70.
pub fn run(words: impl IntoIterator<Item = OsString>) -> Exit {
    std::panic::set_hook(Box::new(|_| {}));
    let words: Vec<OsString> = words.into_iter().collect();
    let is_hook = hook::is_run(&words);
    let ended = catch_unwind(AssertUnwindSafe(|| parse_and_run(&words)));
    while interrupt::is_ending() {
        std::thread::park();
    }
    if let Some(why) = output::lost().filter(|_| !is_hook) {
        tell(&Error::failed("standard output did not take what was printed").because(why));
    }
    match ended.unwrap_or_else(|panic| Err(Failure::Failed(bug(panic.as_ref())))) {
        Ok(exit) => exit,
        Err(Failure::NotUnderstood(error)) if !is_hook || is_wanted(&error) => told_by_clap(&error),
        // An agent must not learn of it: see `hook::run`.
        Err(failure) if is_hook => hook::swallow(&failure.into()),
        Err(failure) => {
            let error = failure.into();
            tell(&error);
            error.kind.into()
        }
    }
}

/// Why a command line came to nothing.
enum Failure {
    /// It is no command line of ours, or asks for help.
    NotUnderstood(Box<clap::Error>),
    /// What it asks for failed.
    Failed(Error),
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Error {
        match failure {
            Failure::NotUnderstood(error) => {
                let text = error.render().to_string();
                Error::usage(text.lines().next().unwrap_or_default().trim_start_matches("error: "))
            }
            Failure::Failed(error) => error,
        }
    }
}

fn parse_and_run(words: &[OsString]) -> Result<Exit, Failure> {
    let Arguments { command, common } =
        Arguments::try_parse_from(words).map_err(|error| Failure::NotUnderstood(Box::new(error)))?;
    let context = match &command {
        // Its payload says where the work tree is.
        Command::Hook { command: HookCommand::Run { .. } } => Ok(Context::anywhere(common)),
        _ => Context::new(common),
    };
    context.and_then(|context| commands::run(&context, command)).map_err(Failure::Failed)
}

fn bug(panic: &(dyn Any + Send)) -> Error {
    let word = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    Error::bug("highwater has a fault of its own").because(word.unwrap_or("no message")).help(
        "the records and snapshots that were acknowledged are safe; please report this with the command you typed",
    )
}

fn is_wanted(error: &clap::Error) -> bool {
    matches!(error.kind(), ClapKind::DisplayHelp | ClapKind::DisplayVersion)
}

/// Help and version go to stdout with 0; every fault of the command line is 64 (clap's own code, 2, blocks an agent).
fn told_by_clap(error: &clap::Error) -> Exit {
    let is_wanted = is_wanted(error);
    let text = error.render();
    let colour = if is_wanted { std::io::stdout().is_terminal() } else { std::io::stderr().is_terminal() };
    let text = if colour && context::colour_is_wanted() { text.ansi().to_string() } else { text.to_string() };
    if is_wanted {
        output::out(&text);
        return Exit::Done;
    }
    output::err(&text);
    Exit::Usage
}

/// An error as people see it, on stderr.
fn tell(error: &Error) {
    let colour = std::io::stderr().is_terminal() && context::colour_is_wanted();
    output::err(&diagnostic::render(error, colour));
}
