//! `restore` and `undo`.

use std::path::{Component, Path, PathBuf};

use crate::cli::answers::{Restored, VERSION};
use crate::cli::args::LoopChoice;
use crate::cli::context::Context;
use crate::cli::diagnostic::printable;
use crate::cli::exit::Exit;
use crate::cli::output;
use crate::engine::{self, Target};
use crate::error::{Error, Result};
use crate::model::ids::{Iteration, TreePath};
use crate::snapshot::restore::{self, Outcome};

/// How it is done.
pub struct How<'a> {
    pub dry_run: bool,
    pub into: Option<&'a Path>,
    pub resume: bool,
    pub abort: bool,
}

pub fn run(
    context: &Context,
    choice: &LoopChoice,
    iteration: Option<Iteration>,
    paths: &[PathBuf],
    how: &How<'_>,
) -> Result<Exit> {
    if how.resume || how.abort {
        let outcome = context.with_session(|session| {
            if how.resume {
                restore::resume(session.layout, session.now)
            } else {
                restore::abort(session.layout, session.now)
            }
        })?;
        return tell(context, &outcome, false);
    }
    let Some(iteration) = iteration else { return Err(Error::usage("no iteration was named")) };
    let store = context.store(choice, true)?;
    let paths = paths.iter().map(|path| tree_path(context, path)).collect::<Result<Vec<TreePath>>>()?;
    let into = how.into.map(|into| context.folder.join(into));
    let target = Target { paths: &paths, into: into.as_deref(), dry_run: how.dry_run };
    let outcome = context.with_session(|session| {
        if !how.dry_run {
            for note in engine::settle(session)? {
                context.say(&format!("note: {note}"));
            }
        }
        engine::restore_iteration(session, &store, iteration, target)
    })?;
    tell(context, &outcome, how.dry_run)
}

pub fn undo(context: &Context) -> Result<Exit> {
    if !crate::disk::check_store(&context.layout)? {
        return Err(Error::bad_input("no loop has been begun here, so there is no restore to undo")
            .at(&context.layout.store()));
    }
    let outcome = context.with_session(engine::undo)?;
    tell(context, &outcome, false)
}

/// A path as typed → its place in the tree. Relative paths start where the command was typed, as everywhere.
fn tree_path(context: &Context, path: &Path) -> Result<TreePath> {
    let outside = || {
        Error::bad_input("path is not in the work tree").at(path).help("name paths inside the work tree, files or folders")
    };
    let folder = std::fs::canonicalize(&context.folder).unwrap_or_else(|_| context.folder.clone());
    let mut parts: Vec<&std::ffi::OsStr> = Vec::new();
    let whole = folder.join(path);
    for part in whole.strip_prefix(context.layout.root()).map_err(|_| outside())?.components() {
        match part {
            Component::Normal(name) => parts.push(name),
            Component::CurDir => {}
            _ => {
                parts.pop().ok_or_else(outside)?;
            }
        }
    }
    let bytes: Vec<&[u8]> = parts.iter().map(|part| part.as_encoded_bytes()).collect();
    TreePath::new(bytes.join(&b'/'))
}

/// What was done, counts last.
pub fn tell(context: &Context, outcome: &Outcome, dry_run: bool) -> Result<Exit> {
    if context.json() {
        output::json(&answer(outcome, dry_run))?;
        return Ok(Exit::Done);
    }
    output::out(&page(outcome, dry_run));
    Ok(Exit::Done)
}

pub fn answer(outcome: &Outcome, dry_run: bool) -> Restored {
    Restored {
        schema_version: VERSION,
        number: outcome.record.as_ref().map(|record| record.number),
        dry_run,
        restored: outcome.restored.clone(),
        removed: outcome.removed.clone(),
        unchanged: outcome.unchanged,
        kept: outcome.kept.clone(),
        rescued: outcome.rescued.clone(),
        unheld: outcome.unheld.clone(),
    }
}

/// A path a line, up to a point.
pub fn page(outcome: &Outcome, dry_run: bool) -> String {
    const SHOWN: usize = 20;
    let would = if dry_run { "would " } else { "" };
    let mut page = String::new();
    let mut list = |verb: &str, paths: &[TreePath]| {
        for path in paths.iter().take(SHOWN) {
            page.push_str(&printable(&format!("{verb} {path}\n").replace('\n', "")));
            page.push('\n');
        }
        if let Some(more) = paths.len().checked_sub(SHOWN).filter(|more| *more > 0) {
            page.push_str(&format!("{verb} {more} more\n"));
        }
    };
    list(&format!("{would}write"), &outcome.restored);
    list(&format!("{would}remove"), &outcome.removed);
    list("left alone, not in the snapshot's reach:", &outcome.kept);
    list("edited meanwhile, kept aside:", &outcome.rescued);
    list("named in the snapshot but not held:", &outcome.unheld);
    let word = if dry_run { "would be restored" } else { "restored" };
    page.push_str(&format!(
        "{} {word}, {} removed, {} unchanged, {} kept, {} rescued, {} unheld\n",
        outcome.restored.len(),
        outcome.removed.len(),
        outcome.unchanged,
        outcome.kept.len(),
        outcome.rescued.len(),
        outcome.unheld.len()
    ));
    match (&outcome.record, dry_run) {
        (Some(record), _) => page.push_str(&format!("this was restore {}; `highwater undo` reverts it\n", record.number)),
        (None, true) => page.push_str("nothing was changed\n"),
        (None, false) => {}
    }
    page
}
