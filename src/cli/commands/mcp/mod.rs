//! `mcp`: a Model Context Protocol server on standard input and output. Every answer is read from the store when it is asked
//! for; nothing is kept between two requests.

mod bounds;
mod calls;
mod parameters;
mod protocol;
mod tools;
mod wire;

use std::fs::File;
use std::io::{BufReader, Write};

use crate::cli::args::LoopChoice;
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::error::{Error, Result};
use tools::Server;

pub fn run(context: &Context, choice: &LoopChoice) -> Result<Exit> {
    let (input, output) = take_streams()
        .map_err(|error| Error::failed("cannot use standard input and output").because(error.to_string()))?;
    let server = Server { context, choice };
    wire::serve(
        BufReader::new(input),
        |request| protocol::answer(&server, request),
        |line| (&output).write_all(line.as_bytes()).is_ok(),
    );
    Ok(Exit::Done)
}

/// Standard input and output, for the protocol alone: from here on, a command that the config names reads nothing there, and
/// whatever it or we print goes to stderr.
fn take_streams() -> std::io::Result<(File, File)> {
    // Numbers from 3 on: those below are the standard streams'.
    let input = rustix::io::fcntl_dupfd_cloexec(std::io::stdin(), 3)?;
    let output = rustix::io::fcntl_dupfd_cloexec(std::io::stdout(), 3)?;
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    rustix::stdio::dup2_stdout(std::io::stderr())?;
    Ok((File::from(input), File::from(output)))
}
