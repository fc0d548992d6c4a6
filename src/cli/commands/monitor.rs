//! `monitor`: an agent's tool calls, one a line, and what is wrong with how it works, a line each. Nothing is written.

use std::path::Path;

use crate::analysis::monitor::Monitor;
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::{lines, output};
use crate::engine::read_transcript;
use crate::error::{Error, Result};
use crate::ingest::transcript::{TRANSCRIPT_FORMATS, TranscriptFormat, transcript_format};
use crate::model::calls::{CallLine, Watched};

pub fn run(context: &Context, transcript: Option<&Path>, format: Option<&str>) -> Result<Exit> {
    let config = context.config()?.0.config;
    let root = context.layout.root();
    let mut monitor = Monitor::new(root.to_str());
    let Some(file) = transcript else {
        return lines::answer_each(std::io::stdin().lock(), |line: CallLine| monitor.take(line, &config));
    };
    let format = format.map(named).transpose()?;
    let told = read_transcript(root, &context.folder, file, format, &config.limits)?;
    for line in told.lines {
        let watched = monitor.take(line.clone(), &config)?;
        output::json(&Watched { line: Some(line), ..watched })?;
    }
    if told.skipped > 0 {
        context.say(&format!("note: {} lines or steps are not understood ({})", told.skipped, told.format.name));
    }
    Ok(Exit::Done)
}

fn named(name: &str) -> Result<&'static TranscriptFormat> {
    let known = || TRANSCRIPT_FORMATS.iter().map(|format| format.name).collect::<Vec<_>>().join(", ");
    transcript_format(name).ok_or_else(|| {
        Error::usage(format!("{name:?} is no format of a transcript")).because(format!("known are: {}", known()))
    })
}
