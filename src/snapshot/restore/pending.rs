//! Restores that were interrupted: looking at them, going on, going back.
//!
//! Both ways plan anew from what stands in the work tree now, and only for the paths that the restore was about; so it
//! does not matter where it was interrupted, nor how often.

use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::AsFd;
use std::time::Duration;

use chrono::{DateTime, Utc};

use super::beneath::{Beneath, Seen};
use super::folder::{self, Folder};
use super::job::Job;
use super::journal::{self, Direction, Journal, Origin, RestoreRecord};
use super::manifest::{Kind, Manifest, State};
use super::modes;
use super::plan::{Op, Plan, Scope, in_the_way, plan};
use super::reached::{Reached, reached};
use super::settle::{self, Held};
use super::{Outcome, check, shared, stage, unseen};
use crate::disk;
use crate::disk::layout::Layout;
use crate::disk::lock::Lock;
use crate::error::{Error, Result};
use crate::model::SCHEMA_VERSION;
use crate::model::ids::{ObjectId, TreePath};
use crate::snapshot::objects::Objects;

/// A restore that was begun and has not ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending {
    /// Its number.
    pub number: u64,
    /// Which iteration it gives back, if it was one.
    pub origin: Option<Origin>,
    /// The tree that it gives back.
    pub target: ObjectId,
    /// The tree as it was before.
    pub safety: ObjectId,
    /// When it was asked for.
    pub at: DateTime<Utc>,
    /// Whether it was on its way back (`--abort`) when it was interrupted.
    pub is_aborting: bool,
    /// Whether its journal can be read. If not, only going back is possible.
    pub is_readable: bool,
    /// Paths of the restore that somebody changed since it was interrupted, sorted.
    pub changed: Vec<TreePath>,
}

impl Pending {
    /// Whether it may be finished unasked: nobody has worked on since.
    pub fn safe_to_finish(&self) -> bool {
        self.is_readable && self.changed.is_empty()
    }
}

/// Whether there may be one, as far as a look at the folders tells.
pub fn is_pending(layout: &Layout) -> bool {
    folder::pending(layout).is_ok_and(|folder| folder.is_some())
}

/// The restore that was begun and has not ended. It waits at most `wait` for one that is running right now,
/// so the caller must not hold the store's lock.
///
/// # Errors
/// A failure if one is still running, or the work tree cannot be read; bad input if what is known of it is damaged.
pub fn pending(layout: &Layout, wait: Duration) -> Result<Option<Pending>> {
    if !disk::check_store(layout)? || folder::pending(layout)?.is_none() {
        return Ok(None);
    }
    let _lock = Lock::shared(&layout.lock(), wait)?;
    let Some(folder) = folder::pending(layout)? else { return Ok(None) };
    let (record, journal) = read(&folder)?;
    let changed = match &journal {
        Some(journal) => changed_since(&Beneath::open(layout.root())?, &journal.ops)?,
        None => Vec::new(),
    };
    Ok(Some(Pending {
        number: folder.number,
        origin: record.origin,
        target: record.target,
        safety: record.safety,
        at: record.at,
        is_aborting: journal.as_ref().is_some_and(|journal| journal.direction == Direction::Back),
        is_readable: journal.is_some(),
        changed,
    }))
}

/// The trees that giving back still needs: those of the newest restore, for its undo, and of one that is pending. The
/// caller holds the store's lock.
///
/// # Errors
/// Bad input if one of the two is damaged: what it needs is unknown then.
pub fn needed(layout: &Layout) -> Result<Vec<ObjectId>> {
    let pending = folder::pending(layout)?.map(|folder| read(&folder).map(|(record, _)| record)).transpose()?;
    let records = journal::newest_record(layout)?.into_iter().chain(pending);
    Ok(records.flat_map(|record| [record.safety, record.target]).collect())
}

/// What is known of a pending restore: its record, and its journal if that is whole.
fn read(folder: &Folder) -> Result<(RestoreRecord, Option<Journal>)> {
    match journal::read(folder) {
        Ok(journal) => Ok((journal.record.clone(), Some(journal))),
        Err(error) => match journal::read_intent(folder) {
            Ok(record) => Ok((record, None)),
            Err(_) => Err(error),
        },
    }
}

/// Paths that are neither as they were found nor as they will be: of the steps, and above them. A path that is absent
/// holds nobody's work.
fn changed_since(tree: &Beneath, ops: &[Op]) -> Result<Vec<TreePath>> {
    let mut known: BTreeMap<&TreePath, Vec<State>> = BTreeMap::new();
    for op in ops {
        known.entry(&op.path).or_default().extend(op.before.into_iter().chain(op.after));
    }
    // Somebody's file where a directory was hides all below it, which looks absent.
    let above = above(ops.iter().map(|op| &op.path));
    for path in &above {
        known.entry(path).or_default().push(State::directory(0));
    }
    let mut changed = Vec::new();
    for (path, states) in known {
        let is_known = match tree.look(path)? {
            Seen::Absent => true,
            // The modes of directories are what the restore itself plays with, and nobody's work is lost with them.
            Seen::There(there) if there.kind == Kind::Directory => {
                states.iter().any(|state| state.kind == Kind::Directory)
            }
            Seen::There(there) => states.contains(&there),
            Seen::Other => false,
        };
        if !is_known {
            changed.push(path.clone());
        }
    }
    Ok(changed)
}

/// The directories above paths.
fn above<'a>(paths: impl Iterator<Item = &'a TreePath>) -> BTreeSet<TreePath> {
    paths.flat_map(|path| std::iter::successors(path.parent(), TreePath::parent)).collect()
}

/// Goes on with a pending restore, the way it was going. What somebody wrote there since is kept in `rescued/`.
///
/// # Errors
/// Bad input if no restore is pending, its journal is damaged, or something is in the way; a failure if it stops again.
pub fn resume(layout: &Layout, wait: Duration) -> Result<Outcome> {
    go(layout, wait, |folder| {
        let journal = journal::read(folder)?;
        Ok((journal.record.clone(), journal.direction, Some(journal)))
    })
}

/// Goes back: the paths of a pending restore become what they were before it. What somebody wrote there since is kept
/// in `rescued/`. The outcome has no record.
///
/// # Errors
/// As [`resume`]; a damaged journal is none.
pub fn abort(layout: &Layout, wait: Duration) -> Result<Outcome> {
    go(layout, wait, |folder| read(folder).map(|(record, journal)| (record, Direction::Back, journal)))
}

type Known = (RestoreRecord, Direction, Option<Journal>);

fn go(layout: &Layout, wait: Duration, read: impl Fn(&Folder) -> Result<Known>) -> Result<Outcome> {
    let none = || Error::bad_input("no restore is pending").at(&layout.restores());
    if !disk::check_store(layout)? {
        return Err(none());
    }
    let _lock = Lock::exclusive(&layout.lock(), wait)?;
    let folder = folder::pending(layout)?.ok_or_else(none)?;
    *reached() = Reached::HalfWay;
    let (record, direction, journal) = read(&folder)?;
    let objects = Objects::open(layout)?;
    let mut safety = Manifest::load(&objects, &record.safety)?;
    let target = match Manifest::load(&objects, &record.target) {
        // Going back needs the tree as it was, and nothing else.
        Err(_) if direction == Direction::Back && journal.is_some() => Manifest::default(),
        other => other?,
    };
    let target = modes::as_kept(layout, &target)?.unwrap_or(target);
    let added = record.undoes.map_or(Ok(Manifest::default()), |number| {
        let undone = journal::read_record(layout, number)?;
        Manifest::only_in(&|id| objects.tree(id), &undone.target, &record.target)
    });
    let added = match added {
        Err(_) if direction == Direction::Back => Manifest::default(),
        other => other?,
    };
    unseen::forget(layout, &objects, &target, &added, &mut safety)?;
    let tree = Beneath::open(layout.root())?;
    let again = Again { record: &record, direction, target: &target, safety: &safety };
    let paths = again.paths(journal.as_ref())?;
    let (found, kept) = again.find(&tree, &paths)?;
    let mut left = again.plan(&paths, &found)?;
    shared::set_apart(&tree, &mut left);
    check::check(&tree, &left, &found, folder::open(&layout.store())?.as_fd())?;
    stage::verify_new(&objects, &left)?;
    if let Some(journal) = &journal {
        settle::discard_unnamed(&folder, journal)?;
    }
    settle::rescue(&folder, journal.as_ref(), &Held::new(&target, &safety))?;
    let generation = next_generation(&folder, journal.as_ref())?;
    disk::make_directory(&folder.stage())?;
    disk::make_directory(&folder.trash())?;
    stage::stage(&objects, &left, generation, &folder.stage())?;
    let mut whole = again.whole_plan()?;
    whole.kept.extend(kept);
    let record = record.clone();
    let journal = Journal { schema_version: SCHEMA_VERSION, direction, generation, record, ops: left.ops };
    journal::write(&folder, &journal)?;
    let job = Job { layout, tree: &tree, folder: &folder, journal, target: &target, safety: &safety };
    job.carry_out(whole)
}

/// A number that no name in stage or trash begins with.
fn next_generation(folder: &Folder, journal: Option<&Journal>) -> Result<u32> {
    let mut names = disk::list(&folder.stage())?;
    names.extend(disk::list(&folder.trash())?);
    let generations = names.iter().filter_map(|name| journal::generation_of(name));
    let last = generations.chain(journal.map(|journal| journal.generation)).max();
    Ok(last.map_or(1, |last| last.saturating_add(1)))
}

/// A pending restore, to be planned again.
struct Again<'a> {
    record: &'a RestoreRecord,
    direction: Direction,
    target: &'a Manifest,
    safety: &'a Manifest,
}

impl Again<'_> {
    fn scope(&self) -> Scope<'_> {
        Scope { paths: &self.record.paths, open_directories: true }
    }

    /// What the restore as a whole does, for the outcome.
    fn whole_plan(&self) -> Result<Plan> {
        match self.direction {
            Direction::Forward => plan(self.target, self.safety, &self.scope()),
            Direction::Back => plan(self.safety, self.target, &self.scope()),
        }
    }

    /// The paths that the restore changes, and the directories above them.
    fn paths(&self, journal: Option<&Journal>) -> Result<BTreeSet<TreePath>> {
        let mut paths: BTreeSet<TreePath> = match journal {
            Some(journal) => journal.ops.iter().map(|op| op.path.clone()).collect(),
            None => plan(self.target, self.safety, &self.scope())?.ops.into_iter().map(|op| op.path).collect(),
        };
        paths.extend(above(paths.iter()));
        Ok(paths)
    }

    /// What is to stand at a path at the end.
    fn wanted(&self, path: &TreePath) -> Option<State> {
        let (target, safety) = (self.target.get(path), self.safety.get(path));
        let is_directory = |state: Option<&State>| state.is_some_and(|state| state.kind == Kind::Directory);
        let kept = is_directory(target) && is_directory(safety) && !self.scope().selects(path);
        let end = if self.direction == Direction::Back || kept { safety } else { target };
        end.copied().filter(|state| state.kind != Kind::Unheld)
    }

    /// What the snapshots say stood at a path, or was put there by the restore.
    fn is_ours(&self, path: &TreePath, there: &State) -> bool {
        [self.target, self.safety].into_iter().any(|held| held.get(path).is_some_and(|state| state == there))
    }

    /// What stands at the paths now, and which paths are left to somebody who put a file where nothing is to be.
    fn find(&self, tree: &Beneath, paths: &BTreeSet<TreePath>) -> Result<(Manifest, Vec<TreePath>)> {
        let (mut found, mut kept) = (Manifest::default(), Vec::new());
        for path in paths {
            let goes = self.wanted(path).is_none();
            match tree.look(path)? {
                Seen::Absent => {}
                Seen::There(there) if goes && there.kind != Kind::Directory && !self.is_ours(path, &there) => {
                    kept.push(path.clone());
                }
                Seen::There(there) => found.insert(path.clone(), there),
                Seen::Other if goes => kept.push(path.clone()),
                Seen::Other => return Err(in_the_way(path, "something that no snapshot can hold is in the way")),
            }
        }
        Ok((found, kept))
    }

    /// The steps that are left.
    fn plan(&self, paths: &BTreeSet<TreePath>, found: &Manifest) -> Result<Plan> {
        let wanted = paths.iter().filter_map(|path| Some((path.clone(), self.wanted(path)?))).collect();
        plan(&wanted, found, &Scope { paths: &[], open_directories: true })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With a name that is there already, a file that had to go would take the place of one that went before.
    #[test]
    fn a_new_generation_has_a_name_of_its_own_in_stage_and_trash() {
        let next = |staged: &str, gone: &str, journal: Option<u32>| {
            let dir = tempfile::tempdir().unwrap();
            let folder = Folder::make_next(&Layout::new(dir.path())).unwrap();
            std::fs::write(folder.stage().join(staged), "").unwrap();
            std::fs::write(folder.trash().join(gone), "").unwrap();
            let journal = journal.map(|generation| {
                let at = DateTime::UNIX_EPOCH;
                let (target, safety) = (ObjectId([1; 32]), ObjectId([2; 32]));
                let (origin, paths, undoes) = (None, Vec::new(), None);
                let record = RestoreRecord {
                    schema_version: SCHEMA_VERSION,
                    number: 1,
                    origin,
                    target,
                    safety,
                    paths,
                    undoes,
                    at,
                    blake3: None,
                };
                let (direction, ops) = (Direction::Back, Vec::new());
                Journal { schema_version: SCHEMA_VERSION, direction, generation, record, ops }
            });
            next_generation(&folder, journal.as_ref()).unwrap()
        };
        assert_eq!(next("0-1", "0-2", None), 1);
        assert_eq!(next("3-1", "0-2", None), 4);
        assert_eq!(next("0-1", "3-2", None), 4);
        assert_eq!(next("0-1", "3-2", Some(7)), 8);
        assert_eq!(next("stray", "10-2", Some(9)), 11);
        assert_eq!(next("stray", "stray", None), 1);
    }

    #[test]
    fn where_nothing_is_pending_nobody_is_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::new(dir.path());
        disk::open_store(&layout).unwrap();
        let lock = Lock::exclusive(&layout.lock(), Duration::ZERO).unwrap();
        assert!(lock.is_held() && !is_pending(&layout));
        assert!(pending(&layout, Duration::ZERO).unwrap().is_none());
    }
}
