//! `import`: a finished run of another loop tool becomes a loop.

use std::path::Path;

use super::log;
use crate::cli::args::LoopChoice;
use crate::cli::context::{Context, WAIT};
use crate::cli::exit::Exit;
use crate::disk;
use crate::engine::{Importing, import, new_name, opening};
use crate::error::{Error, Result};
use crate::ingest::Input;
use crate::ingest::foreign::{LOOP_FORMATS, LoopFormat, parse_loop};

pub fn run(context: &Context, choice: &LoopChoice, file: &Path, format: Option<&str>) -> Result<Exit> {
    let format = format.map(named).transpose()?;
    let (effective, _) = context.config()?;
    let path = context.folder.join(file);
    let shown = file.display().to_string();
    let bytes = disk::read_named(&path, effective.config.limits.report_bytes)?;
    let (format, told) = parse_loop(&Input::bytes(shown.as_str(), &bytes), format)?;
    disk::check_store(&context.layout)?;
    let _alone = opening(&context.layout, WAIT)?;
    let id = match &choice.id {
        Some(id) => id.clone(),
        None => new_name(&context.layout)?,
    };
    let importing = Importing { id, config: effective.config, file: &shown, format: format.name, told: &told };
    let store = context.with_session(|session| import(session, &importing))?;
    told.notes.iter().for_each(|note| context.say(note));
    let runs = match told.runs.len() {
        1 => "1 run is".to_owned(),
        count => format!("{count} runs are"),
    };
    context.say(&format!("{runs} loop {} now, closed; no files were kept, so none can be restored", store.id()));
    log::run(context, &LoopChoice { id: Some(store.id().clone()) })
}

fn named(name: &str) -> Result<&'static LoopFormat> {
    let known = || LOOP_FORMATS.iter().map(|format| format.name).collect::<Vec<_>>().join(", ");
    LOOP_FORMATS.iter().copied().find(|format| format.name == name).ok_or_else(|| {
        Error::usage(format!("{name:?} is no format of another tool's loop")).because(format!("known are: {}", known()))
    })
}
