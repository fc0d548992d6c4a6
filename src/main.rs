//! The `highwater` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    highwater::cli::run(std::env::args_os()).into()
}
