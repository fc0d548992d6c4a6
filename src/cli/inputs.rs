//! From what was typed to what the engine is offered.

use std::ffi::OsString;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

use tempfile::TempDir;

use super::args::Inputs;
use super::child::{self, Echo, Ran};
use super::context::{Context, now};
use super::{estimator, interrupt};
use crate::analysis::estimate::{Answer, read_answer};
use crate::config::nearest;
use crate::disk;
use crate::engine::{Asked, Offer, Reran, Runner};
use crate::error::{Error, Result};
use crate::ingest::{self, FORMATS};
use crate::model::figures::ReportKind;
use crate::model::progress::{Estimator, ProgressEstimate};

/// Runs the command, if one is given, and collects the rest.
///
/// # Errors
/// Bad input if the command cannot be started; usage if a format is unknown.
pub fn offer(context: &Context, inputs: &Inputs) -> Result<Offer> {
    let reports = inputs.reports.iter().map(|text| asked(context, text)).collect::<Result<Vec<Asked>>>()?;
    let mut offer = Offer {
        discover: reports.is_empty() || !inputs.command.is_empty(),
        reports,
        folder: context.folder.clone(),
        metrics: inputs.metrics.clone(),
        context: inputs.context.clone(),
        skip: inputs.skip.iter().map(|kind| ReportKind::from(*kind)).collect(),
        label: inputs.label.clone(),
        cost: inputs.cost,
        tokens: inputs.tokens,
        output: inputs.output.clone(),
        transcripts: inputs.transcripts.clone(),
        estimate: inputs.estimate.as_deref().map(|text| estimate(context, text)).transpose()?,
        ask: Some(estimator::ask),
        started_at: now(),
        ..Offer::default()
    };
    if !inputs.command.is_empty() {
        measured_with(&mut offer, child::run(&context.layout, &inputs.command, None, Echo::Stderr)?);
    }
    Ok(offer)
}

/// A folder for the copy of a work tree, which may have been kept from others by what stands above it.
///
/// # Errors
/// A failure if the system has no place for it.
pub fn scratch_folder() -> Result<TempDir> {
    let made = tempfile::Builder::new().permissions(Permissions::from_mode(0o700)).tempdir();
    let folder = made.map_err(|error| Error::failed("cannot make a temporary folder").because(error.to_string()))?;
    interrupt::remove_at_end(folder.path());
    Ok(folder)
}

/// Runs tests again, each time in a process of its own; what it prints goes to stderr.
pub fn runner(context: &Context) -> Runner {
    let context = context.clone();
    Box::new(move |words, copy| {
        if let Some(copy) = copy {
            context.say(&format!("{}, in a copy of the work tree: {}", copy.what, words.join(" ")));
        }
        let argv: Vec<OsString> = words.iter().map(OsString::from).collect();
        let layout = copy.map_or(&context.layout, |copy| copy.layout);
        let ran = child::run(layout, &argv, copy.map(|copy| copy.folder), Echo::Stderr)?;
        Ok(Reran { command: ran.command, console: ran.console, since: ran.since })
    })
}

/// A text file that the user named, without the white space at its end.
///
/// # Errors
/// Bad input if it cannot be read, or is not UTF-8; `what` says what it was to be.
pub fn text_file(context: &Context, what: &str, file: &str) -> Result<String> {
    /// People write it.
    const MAX_BYTES: u64 = 1 << 20;
    let path = context.folder.join(file);
    let bytes = disk::read_named(&path, MAX_BYTES)?;
    let text = String::from_utf8(bytes).map_err(|_| Error::bad_input(format!("{what} is not UTF-8 text")).at(&path))?;
    Ok(text.trim_end().to_owned())
}

/// PERCENT, or the JSON object of @FILE.
fn estimate(context: &Context, text: &str) -> Result<ProgressEstimate> {
    let answer = match text.strip_prefix('@') {
        Some(file) => read_answer(&text_file(context, "the estimate", file)?).ok_or_else(|| {
            Error::bad_input("the estimate has no progress_percent")
                .at(&context.folder.join(file))
                .help("write a JSON object: {\"progress_percent\": 40, \"reasoning\": \"…\", \"next_milestone\": \"…\", \"blockers\": []}")
        })?,
        None => {
            let percent = text.trim().trim_end_matches('%').parse::<f64>().ok().filter(|percent| percent.is_finite());
            percent.and_then(Answer::of_percent).ok_or_else(|| {
                Error::usage(format!("{text:?} is no estimate")).help("write a percentage, or @FILE")
            })?
        }
    };
    Ok(answer.made_by(Estimator::Caller))
}

/// Adds what a command printed, and when it began.
pub fn measured_with(offer: &mut Offer, ran: Ran) {
    offer.since = ran.since;
    offer.console = Some(ran.console);
    offer.command = Some(ran.command);
}

/// `FORMAT:PATH`, or a path. What stands before the colon is a format only if it is one: `C:\x` and `a:b` are paths.
fn asked(context: &Context, text: &str) -> Result<Asked> {
    if let Some((name, path)) = text.split_once(':') {
        if let Some(format) = ingest::format(name) {
            return Ok(Asked { format: Some(format), path: path.to_owned() });
        }
        let looks_like_a_format =
            name.len() > 1 && name.chars().all(|c| c.is_ascii_lowercase() || c == '-' || c.is_ascii_digit());
        if looks_like_a_format && crate::disk::metadata(&context.folder.join(text))?.is_none() {
            return Err(unknown_format(name));
        }
    }
    Ok(Asked { format: None, path: text.to_owned() })
}

/// The name of a format that is none.
pub fn unknown_format(name: &str) -> Error {
    let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
    let meant = nearest(name, &names).map(|nearest| format!("did you mean `{nearest}`? ")).unwrap_or_default();
    Error::usage(format!("{name:?} is no report format"))
        .help(format!("{meant}`highwater list formats` tells what writes each of them"))
}
