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
mod lines;
mod output;
mod post;
pub mod schemas;
mod size;
#[cfg(feature = "otlp")]
mod telemetry;
pub mod tool_answers;

use std::ffi::OsString;
use std::io::IsTerminal;
use std::panic::{AssertUnwindSafe, catch_unwind};

use clap::Parser;
use clap::error::ErrorKind as ClapKind;

use crate::error::Error;
use args::Arguments;
use context::Context;
pub use exit::Exit;

/// Runs one command line and prints what comes of it. A panic of ours is told as a bug, and is exit 70.
pub fn run(words: impl IntoIterator<Item = OsString>) -> Exit {
    std::panic::set_hook(Box::new(|_| {}));
    let words: Vec<OsString> = words.into_iter().collect();
    match catch_unwind(AssertUnwindSafe(|| parse_and_run(words))) {
        Ok(exit) => exit,
        Err(panic) => {
            let word = panic
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| panic.downcast_ref::<&str>().copied())
                .unwrap_or("no message");
            tell(&Error::bug("highwater has a fault of its own").because(word).help(
                "the records and snapshots that were acknowledged are safe; please report this with the command you typed",
            ));
            Exit::Bug
        }
    }
}

fn parse_and_run(words: Vec<OsString>) -> Exit {
    let arguments = match Arguments::try_parse_from(words) {
        Ok(arguments) => arguments,
        Err(error) => return told_by_clap(&error),
    };
    match Context::new(arguments.common).and_then(|context| commands::run(&context, arguments.command)) {
        Ok(exit) => exit,
        Err(error) => {
            tell(&error);
            error.kind.into()
        }
    }
}

/// Help and version go to stdout with 0; every fault of the command line is 64 (clap's own code, 2, blocks an agent).
fn told_by_clap(error: &clap::Error) -> Exit {
    let is_wanted = matches!(error.kind(), ClapKind::DisplayHelp | ClapKind::DisplayVersion);
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
