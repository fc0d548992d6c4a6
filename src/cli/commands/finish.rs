//! `finish`: the end of a loop.

use std::path::Path;

use super::restore::{answer as restored, destination, page};
use crate::cli::answers::{Finish, VERSION};
use crate::cli::args::LoopChoice;
use crate::cli::child::{self, Echo};
use crate::cli::context::{Context, now};
use crate::cli::exit::Exit;
use crate::cli::inputs::{measured_with, scratch_folder};
use crate::cli::interrupt;
use crate::cli::output;
use crate::disk::layout::Layout;
use crate::engine::{Finished, Finishing, Offer, Target, Unnamed, Verification, finish};
use crate::error::Result;
use crate::report::{self, terminal::Destination};

pub fn run(
    context: &Context,
    choice: &LoopChoice,
    dry_run: bool,
    into: Option<&Path>,
    verify_cmd: Option<&str>,
) -> Result<Exit> {
    interrupt::watch("nothing was restored, and the loop is open");
    let store = context.store(choice, Unnamed::Open)?;
    let into = into.map(|into| context.folder.join(into));
    let target = Target { paths: &[], into: into.as_deref(), dry_run };
    let scratch = match verify_cmd {
        Some(_) => Some(scratch_folder()?),
        None => None,
    };
    let measure = |layout: &Layout| offer_of(layout, verify_cmd.unwrap_or_default());
    let verification = scratch.as_ref().zip(verify_cmd).map(|(scratch, command)| Verification {
        command,
        scratch: scratch.path(),
        run: &measure,
    });
    let finished = context.with_session(|session| finish(session, &store, &Finishing { target, verification }))?;
    let report = finished.is_closed.then(|| {
        let path = store.paths().selection_report();
        path.strip_prefix(context.layout.root()).unwrap_or(&path).display().to_string()
    });
    tell(context, &finished, &destination(into.as_deref(), dry_run), report.as_deref())?;
    Ok(if finished.selection.selected.is_some() { Exit::Done } else { Exit::Unmeasured })
}

/// `--verify-cmd` is a shell's line, run in the copy; its reports are looked for there.
fn offer_of(layout: &Layout, command: &str) -> Result<Offer> {
    let words = ["sh", "-c", command].map(std::ffi::OsString::from);
    let ran = child::run(layout, &words, Some(layout.root()), Echo::Stderr)?;
    let mut offer =
        Offer { discover: true, folder: layout.root().to_path_buf(), started_at: now(), ..Offer::default() };
    measured_with(&mut offer, ran);
    Ok(offer)
}

fn tell(context: &Context, finished: &Finished, to: &Destination, report: Option<&str>) -> Result<()> {
    for note in &finished.notes {
        context.say(&format!("note: {note}"));
    }
    if context.json() {
        return output::json(&Finish {
            schema_version: VERSION,
            selection: finished.selection.clone(),
            restore: finished.outcome.as_ref().map(|outcome| restored(outcome, *to == Destination::DryRun)),
            report: report.map(str::to_owned),
        });
    }
    output::out(&report::terminal::selected(&finished.selection, &finished.points, context.screen()));
    if let Some(outcome) = &finished.outcome {
        output::out("\n");
        output::out(&page(outcome, to.clone(), context.screen()));
    }
    if let Some(report) = report {
        output::out(&format!("report: {report}\n"));
    }
    Ok(())
}
