//! `monitor`: an agent's tool calls, one a line, and what is wrong with how it works, a line each. Nothing is written.

use crate::analysis::monitor::Monitor;
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::lines;
use crate::error::Result;
use crate::model::calls::CallLine;

pub fn run(context: &Context) -> Result<Exit> {
    let config = context.config()?.0.config;
    let mut monitor = Monitor::new(context.layout.root().to_str());
    lines::answer_each(std::io::stdin().lock(), |line: CallLine| monitor.take(line, &config))
}
