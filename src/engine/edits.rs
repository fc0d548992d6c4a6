//! What was done to tests between two snapshots (ANALYSIS §12.4).

use std::collections::BTreeSet;

use super::bodies::{FILES_READ, SOUGHT, failed_at, file_at, read_text};
use super::work::unless_damaged;
use crate::analysis::bodies::tells_file;
use crate::analysis::tamper::{
    Changed, Content, TestValues, answered, may_hold_tests, special_cases, test_edits, values_of_tests,
};
use crate::analysis::{self, spelling};
use crate::error::Result;
use crate::model::cases::TestCases;
use crate::model::edits::TestEdits;
use crate::model::ids::{Iteration, ObjectId, TreePath};
use crate::model::metrics::Metrics;
use crate::model::record::IterationRecord;
use crate::model::trajectory::Point;
use crate::snapshot::objects::Objects;
use crate::snapshot::tree::{diff, files};
use crate::store::Store;

/// Since `since`, reports of both left out. `None` where most of the work was rewritten, and where a snapshot or that record is
/// damaged or gone.
///
/// # Errors
/// A failure of the system.
pub(super) fn edits_since(
    store: &Store,
    objects: &Objects,
    since: &Point,
    draft: &IterationRecord,
    (before, now): (Option<&TestCases>, Option<&TestCases>),
) -> Result<Option<TestEdits>> {
    let Some(changes) = Changes::since(store, objects, since, draft)? else { return Ok(None) };
    let turned = match changes.paths.is_empty() {
        true => Vec::new(),
        false => unless_damaged(turned(objects, since, draft, before, now))?.unwrap_or_default(),
    };
    let files = changes.files();
    let mut found = test_edits(since.iteration, &files, &turned);
    let cases = if turned.is_empty() { Vec::new() } else { special_cases(&files) };
    if !cases.is_empty() {
        let sought = turned.get(..SOUGHT).unwrap_or(&turned);
        let tests = unless_damaged(tests_of(objects, &draft.tree, &changes.paths, sought))?.unwrap_or_default();
        found.add(answered(cases, &tests));
    }
    Ok(Some(found))
}

/// Test files that are read for the values in them.
const TEST_FILES: usize = 200;

/// What is in the tests of these ids: in the files that the ids name, else in files of tests and, for Rust, in those that
/// changed.
fn tests_of(objects: &Objects, root: &ObjectId, changed: &[TreePath], ids: &[String]) -> Result<Vec<TestValues>> {
    let mut paths: Vec<TreePath> = changed.iter().filter(|path| path.to_string().ends_with(".rs")).cloned().collect();
    for file in files(objects, root)? {
        let (path, _) = file?;
        if may_hold_tests(&path.to_string()) && !paths.contains(&path) {
            paths.push(path);
        }
    }
    let is_named = |path: &TreePath| {
        let path = path.to_string();
        ids.iter().any(|id| tells_file(id, &path))
    };
    // Of files of tests, those that an id names go before the others.
    paths.sort_by_cached_key(|path| !is_named(path));
    let mut tests = Vec::new();
    for path in paths.iter().take(TEST_FILES) {
        if let Side::Text(text) = side(objects, root, path)? {
            tests.extend(values_of_tests(&path.to_string(), &text, ids));
        }
    }
    Ok(tests)
}

/// What an iteration's tests are compared with: the ancestor that names them, else the latest that tells what failed, else
/// the parent.
pub(super) fn compared_with<'p>(
    points: &'p [Point],
    parent: Option<Iteration>,
    named: Option<&'p Point>,
) -> Option<&'p Point> {
    let tells = |metrics: &Metrics| metrics.failures().is_some();
    let telling = || analysis::previous_with(points, parent, tells);
    named.or_else(telling).or_else(|| analysis::find(points, parent?))
}

/// The files that changed between two snapshots.
pub(super) struct Changes {
    /// Which, in order.
    pub paths: Vec<TreePath>,
    old: Vec<Side>,
    new: Vec<Side>,
    /// The reports of both.
    pub reports: BTreeSet<TreePath>,
}

impl Changes {
    /// Since `since`, reports of both left out. `None` where most of the work was rewritten, and where a snapshot or that
    /// record is damaged or gone.
    ///
    /// # Errors
    /// A failure of the system.
    pub fn since(store: &Store, objects: &Objects, since: &Point, draft: &IterationRecord) -> Result<Option<Changes>> {
        let Some(earlier) = unless_damaged(store.load(since.iteration))? else { return Ok(None) };
        let Some(changes) = unless_damaged(diff(objects, &since.tree, &draft.tree))? else { return Ok(None) };
        let reports: BTreeSet<TreePath> =
            earlier.record.report_files.into_iter().chain(draft.report_files.iter().cloned()).collect();
        let paths: Vec<TreePath> =
            changes.into_iter().map(|change| change.path).filter(|path| !reports.contains(path)).collect();
        if paths.len() > FILES_READ {
            return Ok(None);
        }
        let read = |root: &ObjectId| {
            unless_damaged(paths.iter().map(|path| side(objects, root, path)).collect::<Result<Vec<_>>>())
        };
        let (Some(old), Some(new)) = (read(&since.tree)?, read(&draft.tree)?) else { return Ok(None) };
        Ok(Some(Changes { paths, old, new, reports }))
    }

    /// Each with what it was and is.
    pub fn files(&self) -> Vec<Changed<'_>> {
        let sides = self.old.iter().zip(&self.new).map(|(old, new)| (old.content(), new.content()));
        self.paths.iter().zip(sides).map(|(path, (before, now))| Changed { path, before, now }).collect()
    }
}

/// The tests that failed then and do not now. None, where not all that fail now have names.
pub(super) fn turned(
    objects: &Objects,
    since: &Point,
    draft: &IterationRecord,
    before: Option<&TestCases>,
    now: Option<&TestCases>,
) -> Result<Vec<String>> {
    let metrics = &draft.metrics;
    let fails: BTreeSet<_> = match now {
        Some(now) => bad(now).map(|id| spelling(id)).collect(),
        None if metrics.failures() == u64::try_from(metrics.failing().len()).ok() => {
            metrics.failing().iter().map(|id| spelling(id)).collect()
        }
        None => return Ok(Vec::new()),
    };
    let mut failed = match before {
        Some(before) => bad(before).cloned().collect(),
        None => failed_at(objects, since)?,
    };
    failed.retain(|id| !fails.contains(&spelling(id)));
    Ok(failed)
}

fn bad(cases: &TestCases) -> impl Iterator<Item = &String> {
    cases.cases.iter().filter(|(_, case)| case.outcome.is_bad()).map(|(id, _)| id)
}

/// One side of a changed file.
enum Side {
    Absent,
    Opaque,
    Text(String),
}

impl Side {
    fn content(&self) -> Content<'_> {
        match self {
            Side::Absent => Content::Absent,
            Side::Opaque => Content::Opaque,
            Side::Text(text) => Content::Text(text),
        }
    }
}

fn side(objects: &Objects, root: &ObjectId, path: &TreePath) -> Result<Side> {
    let Some(file) = file_at(objects, root, path)? else { return Ok(Side::Absent) };
    Ok(read_text(objects, &file).map_or(Side::Opaque, Side::Text))
}
