//! `restore` and `undo`.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use crate::cli::answers::{Restored, VERSION};
use crate::cli::args::LoopChoice;
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::interrupt;
use crate::cli::output;
use crate::engine::{self, Target, Unnamed};
use crate::error::{Error, Result};
use crate::model::ids::{Iteration, TreePath, check_name};
use crate::report::terminal::{Destination, RestoredView};
use crate::report::{self, Screen};
use crate::snapshot::restore::{self, Outcome};

/// What is said of a restore that was interrupted before it began.
const UNCHANGED: &str = "nothing was changed";

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
    interrupt::watch(UNCHANGED);
    if how.resume || how.abort {
        let outcome = context.with_session(|session| {
            let go = if how.resume { restore::resume } else { restore::abort };
            go(session.layout, session.wait)
        })?;
        return tell(context, &outcome, Destination::WorkTree);
    }
    let Some(iteration) = iteration else {
        return Err(Error::usage("no iteration was named").help("`highwater log` lists them"));
    };
    let store = context.store(choice, Unnamed::OpenElseClosed)?;
    let paths = tree_paths(context, paths)?;
    let into = how.into.map(|into| context.folder.join(into));
    let target = Target { paths: &paths, into: into.as_deref(), dry_run: how.dry_run };
    let outcome = context.with_session(|session| {
        // Into another folder, the work tree has no part in it.
        if !how.dry_run && how.into.is_none() {
            for note in engine::settle(session)? {
                context.say(&format!("note: {note}"));
            }
        }
        engine::restore_iteration(session, &store, iteration, target)
    })?;
    tell(context, &outcome, destination(how.into, how.dry_run))
}

pub fn undo(context: &Context) -> Result<Exit> {
    interrupt::watch(UNCHANGED);
    if !crate::disk::check_store(&context.layout)? {
        return Err(
            Error::bad_input("no loop has been begun here, so there is no restore to undo").at(&context.layout.store())
        );
    }
    let outcome = context.with_session(engine::undo)?;
    tell(context, &outcome, Destination::WorkTree)
}

/// Paths as typed → their places in the tree; none if one of them is its top, which is the whole tree.
fn tree_paths(context: &Context, paths: &[PathBuf]) -> Result<Vec<TreePath>> {
    let places = paths.iter().map(|path| tree_path(context, path)).collect::<Result<Option<Vec<TreePath>>>>()?;
    Ok(places.unwrap_or_default())
}

/// A path as typed → its place in the tree; `None` is the top. Relative paths start where the command was typed, as
/// everywhere; at the top, where that is no folder of the work tree.
fn tree_path(context: &Context, path: &Path) -> Result<Option<TreePath>> {
    let root = context.layout.root();
    let typed_in = real(&context.folder)?.unwrap_or_else(|| context.folder.clone());
    let whole = if typed_in.starts_with(root) { typed_in } else { root.to_path_buf() }.join(path);
    // Links that lead into the work tree are followed, those in it are files like others.
    let mut ways_in: Vec<&Path> = whole.ancestors().collect();
    ways_in.reverse();
    let mut parts = None;
    for way in ways_in {
        let Some(real) = real(way)? else { break };
        parts = real
            .strip_prefix(root)
            .ok()
            .zip(whole.strip_prefix(way).ok())
            .and_then(|(top, rest)| parts_below(top, rest));
        if parts.is_some() {
            break;
        }
    }
    let Some(parts) = parts else {
        return Err(Error::bad_input("path is not in the work tree")
            .at(path)
            .because("nothing was changed")
            .help("name paths inside the work tree, files or folders"));
    };
    if parts.is_empty() {
        return Ok(None);
    }
    let names: Vec<&[u8]> = parts.iter().map(|part| part.as_encoded_bytes()).collect();
    if let Some(why) = names.iter().find_map(|name| check_name(name).err()) {
        return Err(Error::bad_input("no snapshot holds such a path")
            .at(path)
            .because(format!("{why}; nothing was changed"))
            .help("name files or folders of the work tree other than .git and .progress"));
    }
    TreePath::new(names.join(&b'/')).map(Some)
}

/// Where a path leads, links followed; `None` if nothing is there.
fn real(path: &Path) -> Result<Option<PathBuf>> {
    match std::fs::canonicalize(path) {
        Ok(real) => Ok(Some(real)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(Error::io("look at", path, &error)),
    }
}

/// The names on the way from the top, `..` resolved; `None` if it leads out.
fn parts_below(real: &Path, rest: &Path) -> Option<Vec<OsString>> {
    let mut parts = Vec::new();
    for part in real.components().chain(rest.components()) {
        match part {
            Component::Normal(name) => parts.push(name.to_owned()),
            Component::CurDir => {}
            _ => {
                parts.pop()?;
            }
        }
    }
    Some(parts)
}

/// What was done, counts last.
fn tell(context: &Context, outcome: &Outcome, destination: Destination) -> Result<Exit> {
    if context.json() {
        output::json(&answer(outcome, destination == Destination::DryRun))?;
        return Ok(Exit::Done);
    }
    output::out(&page(outcome, destination, context.screen()));
    Ok(Exit::Done)
}

pub fn answer(outcome: &Outcome, dry_run: bool) -> Restored {
    Restored {
        schema_version: VERSION,
        number: outcome.record.as_ref().map(|record| record.number),
        dry_run,
        restored: outcome.restored.clone(),
        removed: outcome.removed.clone(),
        directories_restored: outcome.directories_restored.clone(),
        directories_removed: outcome.directories_removed.clone(),
        unchanged: outcome.unchanged,
        kept: outcome.kept.clone(),
        rescued: outcome.rescued.clone(),
        rescued_at: outcome.rescued_at.clone(),
        unheld: outcome.unheld.clone(),
    }
}

pub fn page(outcome: &Outcome, to: Destination, screen: Screen) -> String {
    let view = RestoredView {
        // A restore that was backed out of leaves no record: `undo` would take back the one before it.
        to: if to == Destination::WorkTree && outcome.record.is_none() { Destination::Back } else { to },
        restored: outcome.restored.clone(),
        removed: outcome.removed.clone(),
        directories_restored: outcome.directories_restored.clone(),
        directories_removed: outcome.directories_removed.clone(),
        unchanged: outcome.unchanged,
        kept: outcome.kept.clone(),
        rescued_at: outcome.rescued_at.clone(),
        unheld: outcome.unheld.clone(),
    };
    report::terminal::restored(&view, screen)
}

/// Where a restore writes, from its options.
pub fn destination(into: Option<&Path>, dry_run: bool) -> Destination {
    match into {
        _ if dry_run => Destination::DryRun,
        Some(into) => Destination::Directory(into.display().to_string()),
        None => Destination::WorkTree,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::restore::RestoreRecord;

    fn outcome(record: Option<RestoreRecord>) -> Outcome {
        let path = TreePath::new("src/lib.py").unwrap();
        let rescued_at = vec![".progress/restores/3/rescued/src/lib.py".to_owned()];
        Outcome { record, restored: vec![path.clone()], rescued: vec![path], rescued_at, ..Outcome::default() }
    }

    /// Without a record of its own, the way back would take an earlier restore back.
    #[test]
    fn the_way_back_is_told_only_where_there_is_one() {
        let record = serde_json::from_value(serde_json::json!({
            "schema_version": 1, "number": 3, "target": "0".repeat(64), "safety": "1".repeat(64), "paths": [],
            "at": "2026-01-01T00:00:00Z",
        }));
        let screen = Screen { width: 100, colour: false };
        for (outcome, number) in [(outcome(None), None), (outcome(Some(record.unwrap())), Some(3))] {
            let page = page(&outcome, Destination::WorkTree, screen);
            assert_eq!(page.contains("highwater undo"), number.is_some(), "{page}");
            assert_eq!(page.starts_with("restored into the work tree"), number.is_some(), "{page}");
            let answer = answer(&outcome, false);
            assert_eq!((answer.number, &answer.rescued_at), (number, &outcome.rescued_at));
            assert!(page.contains(&outcome.rescued_at[0]), "{page}");
        }
    }
}
