//! Tests under another name, and those that were deleted, found by their source in the two snapshots (ANALYSIS §12.1).

use super::judge::read_cases;
use crate::analysis::bodies::{Function, Lost, functions, has_source, is_source, lost_sources, same_bodies, says};
use crate::analysis::{self, IdDiff};
use crate::error::Result;
use crate::model::cases::TestCases;
use crate::model::ids::{ObjectId, TreePath};
use crate::model::metrics::Metrics;
use crate::model::record::SameBody;
use crate::model::trajectory::Point;
use crate::model::tree::EntryKind;
use crate::snapshot::objects::Objects;
use crate::snapshot::tree::{diff, files};

/// Changed files whose source is read. Beyond it the work was rewritten, and names decide.
pub(super) const FILES_READ: usize = 200;

/// Tests that failed whose source is looked for.
pub(super) const SOUGHT: usize = 100;

/// Files of a tree in which their names are looked for.
const FILES_SEARCHED: usize = 5_000;

/// A larger file is no source that people write.
const MAX_BYTES: u64 = 1 << 20;

/// Tests gone and new on one side only, above which none is looked for.
const TESTS: usize = 2_000;

/// Pairs of tests, gone since `before` and new in `now`, that have one source. Their files changed, else they would be
/// where they were; so only changed files are read.
///
/// # Errors
/// If stored directories cannot be read. A file that cannot be read, or was let go, has no functions.
pub(super) fn renamed_by_body(
    objects: &Objects,
    tree_before: &ObjectId,
    tree_now: &ObjectId,
    before: &TestCases,
    now: &TestCases,
) -> Result<Vec<SameBody>> {
    let IdDiff { gone, new, .. } = analysis::id_diff(before, now);
    if gone.is_empty() || new.is_empty() || gone.len().max(new.len()) > TESTS {
        return Ok(Vec::new());
    }
    let sources = Sources::of(objects, tree_before, tree_now)?;
    Ok(sources.map(|sources| same_bodies(&gone, &new, &sources.before, &sources.now)).unwrap_or_default())
}

/// What the sources tell of tests of which only those that fail have names.
#[derive(Default)]
pub(super) struct OfFailing {
    /// Failed before and fail now, under another name.
    pub renamed: Vec<SameBody>,
    /// Failed before and do not now, and their source is gone; or it went before, and is not back.
    pub lost: Vec<String>,
}

/// Since `before`, the latest ancestor that tells what failed. `open` are the tests whose source went before it.
///
/// # Errors
/// As for [`renamed_by_body`].
pub(super) fn of_failing(
    objects: &Objects,
    before: &Point,
    tree_now: &ObjectId,
    now: &Metrics,
    open: &[&str],
) -> Result<OfFailing> {
    let (failed, fail) = (failed_at(objects, before)?, now.failing());
    let gone: Vec<String> = failed.iter().filter(|id| !fail.contains(id)).take(SOUGHT).cloned().collect();
    let new: Vec<String> = fail.iter().filter(|id| !failed.contains(id)).cloned().collect();
    if gone.is_empty() && open.is_empty() {
        return Ok(OfFailing::default());
    }
    let owned = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect();
    let Some(sources) = Sources::of(objects, &before.tree, tree_now)? else {
        return Ok(OfFailing { lost: owned(open), ..OfFailing::default() });
    };
    let mut lost: Vec<String> = owned(open);
    lost.retain(|id| !has_source(id, &sources.now) && !fail.contains(id));
    let (placed, mut unplaced): (Vec<Lost<'_>>, Vec<Lost<'_>>) =
        lost_sources(gone.iter().map(String::as_str), &sources.before, &sources.now, &sources.texts)
            .into_iter()
            .partition(|one| one.is_placed);
    leave_out_those_elsewhere(objects, tree_now, &mut unplaced)?;
    lost.extend(placed.iter().chain(&unplaced).map(|one| one.id.to_owned()));
    Ok(OfFailing { renamed: same_bodies(&gone, &new, &sources.before, &sources.now), lost })
}

/// The tests that failed at an iteration, as far as they have names.
pub(super) fn failed_at(objects: &Objects, point: &Point) -> Result<Vec<String>> {
    let Some(id) = point.metrics.cases() else { return Ok(point.metrics.failing().to_vec()) };
    let cases = read_cases(objects, &id)?.cases;
    Ok(cases.into_iter().filter(|(_, case)| case.outcome.is_bad()).map(|(id, _)| id).collect())
}

/// Leaves out the tests of whose name some source file tells, or may: of too many, none is read.
fn leave_out_those_elsewhere(objects: &Objects, root: &ObjectId, lost: &mut Vec<Lost<'_>>) -> Result<()> {
    let mut read = 0;
    for file in files(objects, root)? {
        let (path, _) = file?;
        if lost.is_empty() {
            break;
        }
        if !is_source(&path.to_string()) {
            continue;
        }
        read += 1;
        if read > FILES_SEARCHED {
            lost.clear();
        } else if let Some(text) = text_of(objects, root, &path)? {
            lost.retain(|one| !says(&text, &one.name));
        }
    }
    Ok(())
}

/// The functions of the files that changed between two trees.
#[derive(Default)]
struct Sources {
    before: Vec<Function>,
    now: Vec<Function>,
    /// Those files as they are now.
    texts: Vec<String>,
}

impl Sources {
    /// `None` if most of the work was rewritten.
    fn of(objects: &Objects, tree_before: &ObjectId, tree_now: &ObjectId) -> Result<Option<Sources>> {
        let mut changes = diff(objects, tree_before, tree_now)?;
        changes.retain(|change| is_source(&change.path.to_string()));
        if changes.len() > FILES_READ {
            return Ok(None);
        }
        let mut sources = Sources::default();
        for change in &changes {
            let name = change.path.to_string();
            if let Some(text) = text_of(objects, tree_before, &change.path)? {
                sources.before.extend(functions(&name, &text));
            }
            if let Some(text) = text_of(objects, tree_now, &change.path)? {
                sources.now.extend(functions(&name, &text));
                sources.texts.push(text);
            }
        }
        Ok(Some(sources))
    }
}

fn text_of(objects: &Objects, root: &ObjectId, path: &TreePath) -> Result<Option<String>> {
    Ok(file_at(objects, root, path)?.and_then(|file| read_text(objects, &file)))
}

/// A file's content, if it is text that people write, and can be read.
pub(super) fn read_text(objects: &Objects, file: &ObjectId) -> Option<String> {
    let is_short = objects.length(file).is_some_and(|length| length <= MAX_BYTES);
    is_short.then(|| objects.read(file).ok()).flatten().and_then(|bytes| String::from_utf8(bytes).ok())
}

/// The content of the file of that path; `None` if there is none.
///
/// # Errors
/// If stored directories cannot be read.
pub(super) fn file_at(objects: &Objects, root: &ObjectId, path: &TreePath) -> Result<Option<ObjectId>> {
    let mut at = (EntryKind::Directory, *root);
    for part in path.names() {
        if at.0 != EntryKind::Directory {
            return Ok(None);
        }
        let tree = objects.tree(&at.1)?;
        let Some(entry) = tree.get(part) else { return Ok(None) };
        at = (entry.kind, entry.object);
    }
    Ok((at.0 == EntryKind::File).then_some(at.1))
}
