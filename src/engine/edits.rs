//! What was done to tests between two snapshots (ANALYSIS §12.4).

use std::collections::BTreeSet;

use super::bodies::{FILES_READ, failed_at, file_at, read_text};
use super::work::unless_damaged;
use crate::analysis::spelling;
use crate::analysis::tamper::{Changed, Content, test_edits};
use crate::error::Result;
use crate::model::cases::TestCases;
use crate::model::edits::TestEdits;
use crate::model::ids::{ObjectId, TreePath};
use crate::model::record::IterationRecord;
use crate::model::trajectory::Point;
use crate::snapshot::objects::Objects;
use crate::snapshot::tree::diff;
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
    let Some(earlier) = unless_damaged(store.load(since.iteration))? else { return Ok(None) };
    let Some(changes) = unless_damaged(diff(objects, &since.tree, &draft.tree))? else { return Ok(None) };
    let reports: BTreeSet<&TreePath> = earlier.record.report_files.iter().chain(&draft.report_files).collect();
    let changed: Vec<TreePath> =
        changes.into_iter().map(|change| change.path).filter(|path| !reports.contains(path)).collect();
    if changed.len() > FILES_READ {
        return Ok(None);
    }
    let turned = match changed.is_empty() {
        true => Vec::new(),
        false => unless_damaged(turned(objects, since, draft, before, now))?.unwrap_or_default(),
    };
    let read = |root: &ObjectId| {
        unless_damaged(changed.iter().map(|path| side(objects, root, path)).collect::<Result<Vec<_>>>())
    };
    let (Some(old), Some(new)) = (read(&since.tree)?, read(&draft.tree)?) else { return Ok(None) };
    let sides = old.iter().zip(&new).map(|(old, new)| (old.content(), new.content()));
    let changed: Vec<Changed<'_>> =
        changed.iter().zip(sides).map(|(path, (before, now))| Changed { path, before, now }).collect();
    Ok(Some(test_edits(since.iteration, &changed, &turned)))
}

/// The tests that failed then and do not now. None, where not all that fail now have names.
fn turned(
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
