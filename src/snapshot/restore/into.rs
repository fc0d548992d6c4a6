//! Writing a stored tree into an empty directory. Nothing is replaced there, so there is no journal and no way back.

use std::fs::DirBuilder;
use std::io::ErrorKind;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Component, Path, PathBuf};

use rustix::fs::CWD;

use super::apply;
use super::beneath::{Beneath, last_name};
use super::manifest::Manifest;
use super::plan::{Action, Op, Plan, Scope, plan};
use super::stage::{self, Wanted};
use super::{Options, Outcome, check, folding};
use crate::disk;
use crate::disk::layout::Layout;
use crate::error::{Error, Result};
use crate::model::ids::names_store;
use crate::snapshot::objects::Objects;

/// Writes the tree, or some of its paths, into `into`, which must be absent or empty.
///
/// # Errors
/// Bad input if it is anything else, or the tree cannot be written there; a failure names the path at which it stopped.
pub fn write_into(
    layout: &Layout,
    objects: &Objects,
    target: &Manifest,
    into: &Path,
    options: &Options,
) -> Result<Outcome> {
    let scope = Scope { paths: options.paths, open_directories: false };
    let plan = plan(target, &Manifest::default(), &scope)?;
    check_place(layout, into)?;
    stage::verify_new(objects, &plan)?;
    if options.dry_run {
        return Ok(Outcome::of(plan));
    }
    if disk::metadata(into)?.is_none() {
        let failed = |error: std::io::Error| Error::io("make the directory", into, &error);
        DirBuilder::new().mode(0o777).create(into).map_err(failed)?;
        if std::fs::symlink_metadata(into).map_err(failed)?.mode() & 0o700 != 0o700 {
            apply::open_up(CWD, into.as_os_str().as_bytes()).map_err(|error| failed(error.into()))?;
        }
    }
    let tree = Beneath::open(into)?;
    check::check(&tree, &plan, &Manifest::default(), tree.top())?;
    folding::check(into, target, &scope)?;
    write(objects, &tree, &plan)
        .map_err(|error| error.help("the copy is not complete: delete the directory, and try again"))?;
    disk::sync_directory(into)?;
    Ok(Outcome::of(plan))
}

/// An absent or empty directory that is in no store.
fn check_place(layout: &Layout, into: &Path) -> Result<()> {
    let refuse = |what: &str| {
        Error::bad_input(what).at(into).because("nothing was changed").help("name a directory that is absent or empty")
    };
    // Without the slash at its end, which would follow a link.
    let named: PathBuf = into.components().collect();
    let parent = named.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    let place = real(&named).or_else(|| Some(real(parent)?.join(named.file_name()?)));
    if let (Some(place), Some(store)) = (&place, real(&layout.store()))
        && place.starts_with(&store)
    {
        return Err(refuse("cannot restore into highwater's own store"));
    }
    // Whatever name the file system takes for one: hooks that were put into a repository would be run.
    let is_store = |part: Component<'_>| matches!(part, Component::Normal(name) if names_store(name.as_bytes()));
    if place.is_some_and(|place| place.components().any(is_store)) {
        return Err(refuse("cannot restore into a repository's or highwater's own store"));
    }
    match std::fs::symlink_metadata(&named) {
        Ok(meta) if meta.is_symlink() => {
            Err(refuse("the place to restore into is a symbolic link").help("name the directory that it leads to"))
        }
        Ok(meta) if !meta.is_dir() => Err(refuse("the place to restore into is not a directory")),
        Ok(_) if !disk::list(into)?.is_empty() => Err(refuse("the directory to restore into is not empty")),
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => match std::fs::metadata(parent) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                Err(refuse("there is no folder to make the directory in").help("make the folder above it first"))
            }
            _ => Ok(()),
        },
        Err(error) if error.kind() == ErrorKind::NotADirectory => {
            Err(refuse("the place to restore into lies below something that is no directory"))
        }
        Err(error) => Err(Error::io("look at", into, &error)),
    }
}

fn write(objects: &Objects, tree: &Beneath, plan: &Plan) -> Result<()> {
    let is_file = |op: &Op| matches!(op.action, Action::Write | Action::Link);
    plan.ops.chunk_by(|op, next| is_file(op) == is_file(next)).try_for_each(|steps| {
        // The steps are in phases: the folders are there before the files, and are closed after them.
        if steps.first().is_some_and(is_file) {
            let wanted = steps.iter().filter_map(|op| {
                let (path, name) = (&op.path, last_name(&op.path).to_vec());
                Some(Wanted { path, state: op.after?, name, place: path.to_string() })
            });
            stage::write_all(objects, &wanted.collect::<Vec<_>>(), |wanted| {
                tree.holder(wanted.path).map_err(|error| tree.failed("write", wanted.path, error))
            })
        } else {
            steps.iter().try_for_each(|op| change_folder(tree, op))
        }
    })
}

fn change_folder(tree: &Beneath, op: &Op) -> Result<()> {
    let failed = |error| tree.failed("write", &op.path, error);
    let (holder, name) = (tree.holder(&op.path).map_err(failed)?, last_name(&op.path));
    match op.action {
        Action::MakeDirectory => apply::make_directory(holder.as_fd(), name, op).map_err(failed),
        Action::Chmod => apply::change_mode(holder.as_fd(), name, op).map_err(failed),
        _ => Err(Error::bug("a step that an empty directory does not need").in_file(&op.path.to_string())),
    }
}
