//! `hook`: highwater in the agents' own configs, and what their hooks run.

mod change;
mod install;
mod kept;
mod places;
mod run;
mod status;
mod uninstall;

use std::ffi::OsString;

pub use run::swallow;

use crate::cli::args::HookCommand;
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::error::Result;

pub fn run(context: &Context, command: HookCommand) -> Result<Exit> {
    match command {
        HookCommand::Install(asked) => install::run(context, &asked),
        HookCommand::Uninstall(asked) => uninstall::run(context, &asked),
        HookCommand::Status => status::run(context),
        HookCommand::Run { agent, choice, payload } => Ok(run::run(context, &agent, &choice, payload.as_deref())),
    }
}

/// Whether a command line is meant to be `hook run`, even if the rest of it is not understood.
pub fn is_run(words: &[OsString]) -> bool {
    let mut rest = words.iter().skip(1);
    let mut next = || {
        loop {
            let word = rest.next()?.to_str()?;
            match word {
                "--root" | "--config" => {
                    rest.next()?;
                }
                option if option.starts_with('-') => {}
                _ => return Some(word),
            }
        }
    };
    next() == Some("hook") && next() == Some("run")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_is_told_from_other_command_lines() {
        let is_run = |line: &str| is_run(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        for line in
            ["h hook run", "h --root x --json hook --config y run --nonsense", "h hook run --agent", "h hook run a b"]
        {
            assert!(is_run(line), "{line}");
        }
        for line in ["h", "h hook", "h hook status", "h run -- hook run", "h --root hook run", "h record hook run"] {
            assert!(!is_run(line), "{line}");
        }
    }
}
