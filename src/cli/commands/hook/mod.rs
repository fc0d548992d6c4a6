//! `hook`: highwater in the agents' own configs.

mod change;
mod install;
mod kept;
mod places;
mod status;
mod uninstall;

use crate::cli::args::HookCommand;
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::error::Result;

pub fn run(context: &Context, command: HookCommand) -> Result<Exit> {
    match command {
        HookCommand::Install(asked) => install::run(context, &asked),
        HookCommand::Uninstall(asked) => uninstall::run(context, &asked),
        HookCommand::Status => status::run(context),
    }
}
