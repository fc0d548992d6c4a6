//! The ledger of tests of a loop: kept from query to query, brought up to date from the stored outcomes.

use rayon::prelude::*;

use super::judge::read_cases;
use super::measure::stored_reports;
use super::places::inside;
use crate::analysis;
use crate::disk::layout::Layout;
use crate::error::Result;
use crate::ingest::Details;
use crate::model::cases::TestCases;
use crate::model::figures::ReportKind;
use crate::model::ids::{Iteration, ObjectId};
use crate::model::ledger::Frame;
use crate::model::metrics::Metrics;
use crate::model::record::IterationRecord;
use crate::model::trajectory::Point;
use crate::snapshot::objects::Objects;
use crate::snapshot::tree::{Change, diff};
use crate::store::{Damaged, Store};

/// Iterations whose outcomes are read at once, by all cores.
const BATCH: usize = 16;

/// What the ledger is read from.
pub struct TestLedger {
    /// One an iteration.
    pub points: Vec<Point>,
    /// Those of them that name their tests.
    pub frames: Vec<Frame>,
    /// Records that cannot be read.
    pub damaged: Vec<Damaged>,
}

/// The ledger of a loop. What is kept of it is made again where it is gone, was edited or is behind; a store that cannot
/// be written costs only that the next query does it again.
///
/// # Errors
/// If the records or stored outcomes cannot be read.
pub fn test_ledger(layout: &Layout, store: &Store) -> Result<TestLedger> {
    let history = store.history()?;
    let points = history.points;
    let wanted: Vec<(&Point, ObjectId)> =
        points.iter().filter_map(|point| Some((point, point.metrics.cases()?))).collect();
    let mut frames = store.ledger();
    let is_kept = |(frame, (point, cases)): &(&Frame, &(&Point, ObjectId))| {
        frame.iteration == point.iteration && frame.cases == *cases && frame.against == told_against(&points, point)
    };
    let kept = frames.iter().zip(&wanted).take_while(is_kept).count();
    if kept < frames.len() || kept < wanted.len() {
        frames.truncate(kept);
        let objects = Objects::open(layout)?;
        // The last one kept is read once more: most often, what follows is told against it.
        let behind = wanted.get(kept.saturating_sub(1)..).unwrap_or_default();
        bring_up_to_date(store, &objects, &points, behind, &mut frames)?;
        let _ = store.keep_ledger(&frames);
    }
    Ok(TestLedger { points, frames, damaged: history.damaged })
}

/// The tests of an iteration, with what its reports told of each; none if they did not name them. Of those that failed, files
/// inside the work tree are named from its root, whatever the report called them.
///
/// # Errors
/// If the stored outcomes cannot be read.
pub fn tests_of(layout: &Layout, objects: &Objects, points: &[Point], iteration: Iteration) -> Result<TestCases> {
    let Some(id) = point_of(points, iteration).and_then(|point| point.metrics.cases()) else {
        return Ok(TestCases::default());
    };
    let mut tests = read_cases(objects, &id)?;
    place_inside(layout, &mut tests);
    Ok(tests)
}

fn place_inside(layout: &Layout, tests: &mut TestCases) {
    let failed = tests.cases.values_mut().filter(|case| case.outcome.is_bad());
    for file in failed.filter_map(|case| case.file.as_mut()) {
        if let Some(inside) = inside(layout.root(), file) {
            *file = inside;
        }
    }
}

/// The failing tests of an iteration whose reports name no others, as its stored reports tell of them; without those that
/// are told by reports that were let go. Files as in [`tests_of`].
pub fn failing_of(layout: &Layout, store: &Store, record: &IterationRecord) -> TestCases {
    let mut tests = TestCases::default();
    if record.metrics.failing().is_empty() {
        return tests;
    }
    for parsed in stored_reports(store, record, ReportKind::Test) {
        let Details::Tests(details) = parsed.details else { continue };
        for (id, case) in details.cases.cases {
            if case.outcome.is_bad() && record.metrics.failing().contains(&id) {
                tests.add(id, case);
            }
        }
    }
    place_inside(layout, &mut tests);
    tests
}

fn bring_up_to_date(
    store: &Store,
    objects: &Objects,
    points: &[Point],
    behind: &[(&Point, ObjectId)],
    frames: &mut Vec<Frame>,
) -> Result<()> {
    let mut last: Option<(Iteration, TestCases)> = None;
    for batch in behind.chunks(BATCH) {
        let read: Vec<Result<TestCases>> = batch.par_iter().map(|(_, id)| read_cases(objects, id)).collect();
        for ((point, id), now) in batch.iter().zip(read) {
            let now = now?;
            if frames.last().is_none_or(|frame| frame.iteration < point.iteration) {
                let against = told_against(points, point);
                let before = match (against, last.take()) {
                    (Some(against), Some((iteration, cases))) if iteration == against => Some(cases),
                    (Some(against), _) => {
                        let id = point_of(points, against).and_then(|point| point.metrics.cases());
                        id.map(|id| read_cases(objects, &id)).transpose()?
                    }
                    (None, _) => None,
                };
                let same_bodies = store.load(point.iteration)?.record.same_bodies;
                let before = against.zip(before.as_ref());
                frames.push(analysis::ledger::frame(point, *id, before, &now, &same_bodies));
            }
            last = Some((point.iteration, now));
        }
    }
    Ok(())
}

/// The latest ancestor that names its tests.
fn told_against(points: &[Point], point: &Point) -> Option<Iteration> {
    let names = |metrics: &Metrics| metrics.cases().is_some();
    analysis::previous_with(points, point.parent, names).map(|point| point.iteration)
}

fn point_of(points: &[Point], iteration: Iteration) -> Option<&Point> {
    points.iter().find(|point| point.iteration == iteration)
}

/// The files that an iteration changed, without reports; none for the baseline.
///
/// # Errors
/// If its record or stored directories cannot be read.
pub fn changed_in(store: &Store, objects: &Objects, points: &[Point], iteration: Iteration) -> Result<Vec<Change>> {
    let point = point_of(points, iteration);
    let Some((point, parent)) = point.and_then(|point| Some((point, point_of(points, point.parent?)?))) else {
        return Ok(Vec::new());
    };
    let reports = store.load(iteration)?.record.report_files;
    let mut changes = diff(objects, &parent.tree, &point.tree)?;
    changes.retain(|change| !reports.contains(&change.path));
    Ok(changes)
}
