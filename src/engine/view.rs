//! Reading a loop without changing it: where it stands, one iteration, two side by side.

use super::judge::read_cases;
use super::loops::{frozen_config, no_iterations};
use super::record::{changed_files, no_such_iteration};
use super::why::why_stopped;
use crate::analysis::{self, TestChanges};
use crate::disk::{self, layout::Layout};
use crate::error::Result;
use crate::model::config::LoopConfig;
use crate::model::ids::{Iteration, ObjectId};
use crate::model::record::{IterationRecord, SameBody};
use crate::model::trajectory::{BestTracker, Point};
use crate::model::verdict::Deltas;
use crate::report::{self, IterationExtra};
use crate::snapshot::objects::Objects;
use crate::snapshot::tree::{Change, diff};
use crate::store::{Damaged, Store, Stored};

/// The newest record.
///
/// # Errors
/// Bad input if it is damaged, or there is none.
pub fn newest(store: &Store) -> Result<Stored> {
    match store.newest_number()? {
        Some(newest) => store.load(newest),
        None => Err(no_iterations(store)),
    }
}

/// One record.
///
/// # Errors
/// Bad input if there is none of that number, which names those that are there, or it is damaged.
pub fn iteration(store: &Store, wanted: Iteration) -> Result<Stored> {
    let numbers = store.numbers()?;
    match numbers.last() {
        Some(newest) if !numbers.contains(&wanted) => Err(no_such_iteration(store, wanted, *newest)),
        _ => store.load(wanted),
    }
}

/// The best so far: from the tracker's file if that was made from the newest record, else from the history.
///
/// # Errors
/// If records cannot be read.
pub fn best_so_far(layout: &Layout, store: &Store, newest: &Stored) -> Result<BestTracker> {
    let derived = disk::read_if_present(&store.paths().best_tracker(), crate::store::MAX_BYTES).ok().flatten();
    let tracker = derived.and_then(|bytes| crate::store::parse::<BestTracker>(&bytes).ok());
    if let Some(tracker) = tracker.filter(|tracker| tracker.head == Some(newest.id)) {
        return Ok(tracker);
    }
    let config = frozen_config(layout, store, newest.record.config)?.config;
    Ok(analysis::best(&store.history()?.points, &config))
}

/// The last of the records that can be read.
///
/// # Errors
/// What is wrong with the first damaged one if none can; bad input if there is none at all.
pub(super) fn newest_readable<'r>(store: &Store, records: &'r [Stored], damaged: &[Damaged]) -> Result<&'r Stored> {
    let unreadable = || match damaged.first() {
        Some(first) => first.error.clone(),
        None => no_iterations(store),
    };
    records.last().ok_or_else(unreadable)
}

/// A loop's iterations, from the records.
pub struct SoFar {
    /// In order.
    pub points: Vec<Point>,
    /// The best of them.
    pub best: BestTracker,
    /// Records that could not be read.
    pub damaged: Vec<Damaged>,
    /// In force.
    pub config: LoopConfig,
}

/// Everything that was recorded, from the records alone.
///
/// # Errors
/// If no record can be read.
pub fn loop_so_far(layout: &Layout, store: &Store) -> Result<SoFar> {
    let (records, damaged) = store.load_all()?;
    let last = newest_readable(store, &records, &damaged)?;
    let config = frozen_config(layout, store, last.record.config)?.config;
    let points: Vec<Point> = records.iter().map(|stored| Point::of(&stored.record)).collect();
    Ok(SoFar { best: analysis::best(&points, &config), points, damaged, config })
}

/// The markdown report of an iteration of the loop, made from its record.
///
/// # Errors
/// If the record or stored directories cannot be read.
pub fn iteration_report(layout: &Layout, store: &Store, so_far: &SoFar, wanted: Iteration) -> Result<String> {
    let stored = iteration(store, wanted)?;
    report_of(store, &Objects::open(layout)?, &stored, &so_far.points, &so_far.config)
}

/// The markdown report of a record of these iterations.
pub(super) fn report_of(
    store: &Store,
    objects: &Objects,
    stored: &Stored,
    all: &[Point],
    config: &LoopConfig,
) -> Result<String> {
    // As it was then: what came later has no place in it.
    let points = all.partition_point(|point| point.iteration <= stored.record.iteration);
    let points = all.get(..points).unwrap_or_default();
    let best = analysis::best(points, config);
    let parent = stored.record.parent.and_then(|parent| points.iter().find(|point| point.iteration == parent));
    let changes = parent.map(|parent| diff(objects, &parent.tree, &stored.record.tree)).transpose()?;
    let extra = IterationExtra {
        changed_files: changes.map(|changes| changed_files(&changes)),
        history: points,
        why_stopped: why_stopped(store, objects, &stored.record, points, &best, config)?,
    };
    report::iteration_markdown(&stored.record, &best, &stored.id, &extra)
}

/// Two iterations side by side.
pub struct Difference {
    /// From.
    pub a: IterationRecord,
    /// To.
    pub b: IterationRecord,
    /// b − a.
    pub deltas: Deltas,
    /// Tests by name; absent if either side does not name its tests.
    pub tests: Option<TestChanges>,
    /// Files that differ.
    pub files: Vec<Change>,
}

/// Compares two iterations of a loop.
///
/// # Errors
/// Bad input if one of them is not there; a failure if stored objects cannot be read.
pub fn difference(layout: &Layout, store: &Store, a: Iteration, b: Iteration) -> Result<Difference> {
    let (a, b) = (iteration(store, a)?.record, iteration(store, b)?.record);
    let objects = Objects::open(layout)?;
    let named = |record: &IterationRecord| record.metrics.testing.as_ref().and_then(|tests| tests.cases);
    let read = |id: Option<ObjectId>| id.map(|id| read_cases(&objects, &id)).transpose();
    let tests = match (read(named(&a))?, read(named(&b))?) {
        (Some(before), Some(after)) => Some(analysis::compare(&before, &after, &[], &same_bodies(&a, &b))),
        _ => None,
    };
    Ok(Difference {
        deltas: analysis::deltas_between(&Point::of(&a), &Point::of(&b)),
        files: diff(&objects, &a.tree, &b.tree)?,
        tests,
        a,
        b,
    })
}

/// What the later of two iterations knows of tests with one source, if it was compared with the other.
fn same_bodies(a: &IterationRecord, b: &IterationRecord) -> Vec<SameBody> {
    if b.parent == Some(a.iteration) { b.same_bodies.clone() } else { Vec::new() }
}
