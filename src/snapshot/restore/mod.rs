//! Giving a stored tree back, so that nothing is lost on the way.
//!
//! The order is the promise. A pure [`plan()`] says what has to be done, and whatever forbids it is found before anything
//! is changed. Then the tree as it stands is captured (the *safety* snapshot), the new files are written beside it, and a
//! journal appears: from there on the restore only goes forward, or, when asked, back. Files are swapped, never
//! overwritten; what came out of the tree and is in no snapshot is kept in `rescued/`. A record of it all stays, and with
//! it the way back: [`undo()`].

mod amend;
mod apply;
mod beneath;
mod check;
mod compared;
mod folder;
mod folding;
mod into;
mod job;
mod journal;
mod manifest;
mod modes;
mod pending;
mod plan;
mod reached;
mod settle;
mod shared;
mod stage;
#[cfg(test)]
mod tests;
mod undo;
mod unseen;

use std::os::fd::AsFd;
use std::path::Path;
use std::time::Duration;

use chrono::{DateTime, Utc};

pub use apply::going_on;
pub use folder::sweep;
pub use into::write_into;
pub use journal::{Origin, RestoreRecord, damaged_records, newest_record, read_record};
pub use manifest::{Kind, Manifest, State};
pub use pending::{Pending, abort, is_pending, needed, pending, resume};
pub use plan::{Action, Op, Plan, Scope, plan};
pub use reached::{Reached, reached};
pub use undo::undo;

use crate::disk;
use crate::disk::layout::Layout;
use crate::disk::lock::Lock;
use crate::error::{Error, ErrorKind, Result};
use crate::model::SCHEMA_VERSION;
use crate::model::config::{Capture, Limits};
use crate::model::ids::{ObjectId, TreePath};
use crate::snapshot::capture::{self, Captured, Stored, Survey};
use crate::snapshot::objects::Objects;
use beneath::Beneath;
use compared::{Compared, Standing};
use folder::Folder;
use job::Job;
use journal::{Direction, Journal};

/// How long an undo waits for the store's lock.
const LOCK_WAIT: Duration = Duration::from_secs(10);

/// What is restored, and how.
#[derive(Clone, Debug)]
pub struct Options<'a> {
    /// Only these paths, and what lies below them; empty is the whole tree.
    pub paths: &'a [TreePath],
    /// An absent or empty directory to write to, instead of the work tree.
    pub into: Option<&'a Path>,
    /// Says what would be done, and changes nothing at all.
    pub dry_run: bool,
    /// Which iteration it is, for the record.
    pub origin: Option<Origin>,
    /// What a snapshot holds.
    pub capture: &'a Capture,
    /// What is too much for a snapshot.
    pub limits: &'a Limits,
    /// The time for the record.
    pub now: DateTime<Utc>,
    /// How long to wait for another writer.
    pub wait: Duration,
}

/// What a restore did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The way back; absent after a dry run, after writing into another directory, and after going back.
    pub record: Option<RestoreRecord>,
    /// The steps.
    pub plan: Plan,
    /// Files and links that were written or changed, sorted.
    pub restored: Vec<TreePath>,
    /// Files and links that were removed, sorted.
    pub removed: Vec<TreePath>,
    /// Directories that were made or got other permission bits, sorted.
    pub directories_restored: Vec<TreePath>,
    /// Directories that were removed, sorted.
    pub directories_removed: Vec<TreePath>,
    /// Files and links that were as they should be.
    pub unchanged: u64,
    /// Paths that no snapshot holds, and that were left alone although the restored tree does not have them, sorted.
    pub kept: Vec<TreePath>,
    /// Files that somebody changed while the restore ran: kept under `restores/<n>/rescued/`, sorted.
    pub rescued: Vec<TreePath>,
    /// Where those lie, from the root of the work tree, as text; a path that was rescued twice lies in two places.
    pub rescued_at: Vec<String>,
    /// Paths of the restored tree whose content was not kept when it was captured; left alone, sorted.
    pub unheld: Vec<TreePath>,
}

impl Outcome {
    fn of(plan: Plan) -> Outcome {
        Outcome {
            restored: plan.restored(),
            removed: plan.removed(),
            directories_restored: plan.directories_restored(),
            directories_removed: plan.directories_removed(),
            unchanged: plan.unchanged,
            kept: plan.kept.clone(),
            unheld: plan.unheld.clone(),
            plan,
            ..Outcome::default()
        }
    }

    /// These stay although they were to go: something is in them that no snapshot holds, or was put there since.
    fn leave(&mut self, paths: Vec<TreePath>) {
        self.directories_removed.retain(|path| !paths.contains(path));
        self.kept.extend(paths);
        self.kept.sort();
        self.kept.dedup();
    }
}

/// Gives the tree `target` back.
///
/// # Errors
/// Bad input if the stored tree is damaged or hostile, or something is in the way; then nothing was changed. A failure
/// if the disk says no; if that was half way, the journal stays, and the error says how to go on.
pub fn restore(layout: &Layout, target: ObjectId, options: &Options) -> Result<Outcome> {
    if let Some(into) = options.into {
        let objects = Objects::open(layout)?;
        let tree = Manifest::load(&objects, &target)?;
        check_paths(&tree, options.paths)?;
        return into::write_into(layout, &objects, &tree, into, options);
    }
    let request = || Request {
        target,
        paths: options.paths.to_vec(),
        origin: options.origin.clone(),
        undoes: None,
        gave: None,
        capture: options.capture,
        limits: options.limits,
        now: options.now,
    };
    if options.dry_run {
        refuse_pending(layout)?;
        let request = request();
        return even_if_damaged(layout, |stored| {
            let survey = capture::survey(layout, request.capture, request.limits, stored).map_err(unchanged)?;
            let Prepared { tree, plan, .. } = Prepared::new(layout, &survey, &request).map_err(unchanged)?;
            let staying = check::staying(&tree, &plan).map_err(unchanged)?;
            let mut outcome = Outcome::of(plan);
            outcome.leave(staying);
            Ok(outcome)
        });
    }
    begin(layout, options.wait, || Ok(request()))
}

/// What is asked for, whether it is a restore or its undoing.
struct Request<'a> {
    target: ObjectId,
    paths: Vec<TreePath>,
    origin: Option<Origin>,
    undoes: Option<u64>,
    /// The tree that was given back by the restore that this one undoes.
    gave: Option<ObjectId>,
    capture: &'a Capture,
    limits: &'a Limits,
    now: DateTime<Utc>,
}

impl Request<'_> {
    fn scope(&self) -> Scope<'_> {
        Scope { paths: &self.paths, open_directories: self.undoes.is_some() }
    }
}

/// Takes the lock, looks for a restore that has not ended, and does what `request` then says.
fn begin<'a>(layout: &Layout, wait: Duration, request: impl FnOnce() -> Result<Request<'a>>) -> Result<Outcome> {
    if !disk::check_store(layout)? {
        return Err(Error::bad_input("there is no store here to restore from").at(&layout.store()));
    }
    let _lock = Lock::exclusive(&layout.lock(), wait)?;
    refuse_pending(layout)?;
    folder::sweep(layout)?;
    *reached() = Reached::Nothing;
    let request = request().map_err(unchanged)?;
    let (prepared, folder, journal) = even_if_damaged(layout, |stored| secured(layout, &request, stored))?;
    let Prepared { tree, compared: Compared { target, found, .. }, plan, .. } = prepared;
    Job { layout, tree: &tree, folder: &folder, journal, target: &target, safety: &found }.carry_out(plan)
}

/// A restore up to its journal.
fn secured<'a>(
    layout: &'a Layout,
    request: &'a Request<'a>,
    stored: Stored,
) -> Result<(Prepared<'a>, Folder, Journal)> {
    let survey = capture::survey(layout, request.capture, request.limits, stored).map_err(unchanged)?;
    let prepared = Prepared::new(layout, &survey, request).map_err(unchanged)?;
    let folder = Folder::make_next(layout).map_err(unchanged)?;
    match prepared.secure(survey, &folder) {
        Ok((prepared, journal)) => Ok((prepared, folder, journal)),
        Err(error) => match folder.is_pending() {
            // The next restore sweeps what cannot be removed now.
            Ok(false) => {
                let _ = folder.clean();
                Err(unchanged(error))
            }
            Ok(true) => Err(going_on(error)),
            Err(_) => Err(error),
        },
    }
}

/// What is damaged in the store may still stand in the work tree, which keeps nobody from going back to what is sound: the
/// tree as it stands is then read and kept once more, whatever the store says that it has.
fn even_if_damaged<T>(layout: &Layout, prepare: impl Fn(Stored) -> Result<T>) -> Result<T> {
    let packs = layout.objects();
    let is_of_store = |error: &Error| {
        error.kind == ErrorKind::BadInput
            && error.place.path.as_ref().is_some_and(|path| Path::new(path).starts_with(&packs))
    };
    prepare(Stored::Trusted).or_else(|error| if is_of_store(&error) { prepare(Stored::Doubted) } else { Err(error) })
}

/// Says that nothing came of it, if it does not say so yet.
fn unchanged(mut error: Error) -> Error {
    const UNCHANGED: &str = "nothing was changed";
    let says = |text: &Option<String>| text.as_ref().is_some_and(|text| text.contains(UNCHANGED));
    if !says(&error.cause) && !says(&error.help) {
        let cause = error.cause.take();
        error.cause = Some(cause.map_or(UNCHANGED.to_owned(), |cause| format!("{cause}; {UNCHANGED}")));
    }
    error
}

fn refuse_pending(layout: &Layout) -> Result<()> {
    match folder::pending(layout)? {
        None => Ok(()),
        Some(folder) => Err(Error::failed("an earlier restore was interrupted and is still pending")
            .at(&folder.journal())
            .because("nothing was changed")
            .help("`highwater restore --resume` goes on with it, `--abort` goes back")),
    }
}

/// Paths that the user names must be in the tree: a slip of the pen is not a wish to remove.
fn check_paths(target: &Manifest, paths: &[TreePath]) -> Result<()> {
    match paths.iter().find(|path| target.get(path).is_none()) {
        None => Ok(()),
        Some(path) => Err(Error::bad_input("the restored tree has no such path")
            .in_file(&path.to_string())
            .because("nothing was changed")),
    }
}

/// A restore that was planned and found possible. Nothing was changed yet.
struct Prepared<'a> {
    layout: &'a Layout,
    request: &'a Request<'a>,
    tree: Beneath,
    compared: Compared,
    plan: Plan,
    /// What the restore that is undone added to the tree.
    added: Manifest,
    /// Paths that the target names, or the restore that is undone added, and that the capture rules leave out.
    beside: Vec<TreePath>,
}

impl<'a> Prepared<'a> {
    fn new(layout: &'a Layout, survey: &Survey<'_>, request: &'a Request<'a>) -> Result<Prepared<'a>> {
        let scope = request.scope();
        let (root, files, unheld) = (survey.root(), survey.files(), survey.unheld());
        let standing = Standing { root, files, unheld, tree: &|id| survey.tree(id) };
        let mut compared = Compared::new(&request.target, &standing, &scope)?;
        let Compared { target, found, .. } = &mut compared;
        if request.undoes.is_none() {
            check_paths(target, &request.paths)?;
        }
        let added = match &request.gave {
            Some(gave) => Manifest::only_in(standing.tree, gave, &request.target)?,
            None => Manifest::default(),
        };
        let tree = Beneath::open(layout.root())?;
        unseen::forget(layout, survey.objects(), target, &added, found)?;
        let named = target.iter().chain(added.iter());
        let beside = check::beside_the_rules(&tree, named, found, &scope, request.limits.file_bytes)?;
        let paths = beside.keys().cloned().collect();
        beside.into_iter().for_each(|(path, state)| found.insert(path, state));
        let mut plan = compared.plan(&scope)?;
        shared::set_apart(&tree, &mut plan);
        check::check(&tree, &plan, &compared.found, folder::open(&layout.store())?.as_fd())?;
        folding::check_unwritten(layout, &compared.target, &scope)?;
        stage::verify_new(survey.objects(), &plan)?;
        Ok(Prepared { layout, request, tree, compared, plan, added, beside: paths })
    }

    /// Everything up to the journal: the safety snapshot, the staged files, the journal itself. The plan is made again
    /// from the safety snapshot as it was stored: nothing goes that is not in there.
    fn secure(mut self, survey: Survey<'_>, folder: &Folder) -> Result<(Prepared<'a>, Journal)> {
        let scope = self.request.scope();
        folding::check(&folder.stage(), &self.compared.target, &scope)?;
        let (safety, captured, objects) = self.take_safety(survey)?;
        let (files, unheld) = (captured.files, captured.unheld.as_slice());
        let standing = Standing { root: safety, files, unheld, tree: &|id| objects.tree(id) };
        let mut compared = Compared::new(&self.request.target, &standing, &scope)?;
        if let Some(kept) = modes::as_kept(self.layout, &compared.target)? {
            compared.target = kept;
        }
        unseen::forget(self.layout, &objects, &compared.target, &self.added, &mut compared.found)?;
        let mut plan = compared.plan(&scope)?;
        shared::set_apart(&self.tree, &mut plan);
        if plan != self.plan {
            check::check(&self.tree, &plan, &compared.found, folder::open(&folder.stage())?.as_fd())?;
            stage::verify_new(&objects, &plan)?;
        }
        (self.compared, self.plan) = (compared, plan);
        stage::verify_old(&objects, &self.plan)?;
        stage::stage(&objects, &self.plan, 0, &folder.stage())?;
        let record = RestoreRecord {
            schema_version: SCHEMA_VERSION,
            number: folder.number,
            origin: self.request.origin.clone(),
            target: self.request.target,
            safety,
            paths: self.request.paths.clone(),
            undoes: self.request.undoes,
            at: self.request.now,
            blake3: None,
        };
        journal::write_intent(folder, &record)?;
        let (direction, ops) = (Direction::Forward, self.plan.ops.clone());
        let journal = Journal { schema_version: SCHEMA_VERSION, direction, generation: 0, record, ops };
        let mut reached = reached();
        journal::write(folder, &journal)?;
        *reached = Reached::HalfWay;
        Ok((self, journal))
    }

    /// The tree as it stands, stored; with it what the target is about to replace although the rules leave it out.
    fn take_safety(&self, survey: Survey<'_>) -> Result<(ObjectId, Captured, Objects)> {
        let (captured, objects) = survey.take()?;
        if self.beside.is_empty() {
            return Ok((captured.root, captured, objects));
        }
        let base = Manifest::load(&objects, &captured.root)?;
        let root = amend::amend(self.layout, &objects, &base, &self.tree, self.beside.iter().cloned())?;
        Ok((root, captured, Objects::open(self.layout)?))
    }
}
