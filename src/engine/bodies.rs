//! Tests under another name, found by their source in the two snapshots (ANALYSIS §12.1).

use crate::analysis::bodies::{Function, functions, is_source, same_bodies};
use crate::analysis::{self, IdDiff};
use crate::error::Result;
use crate::model::cases::TestCases;
use crate::model::ids::{ObjectId, TreePath};
use crate::model::record::SameBody;
use crate::model::tree::EntryKind;
use crate::snapshot::objects::Objects;
use crate::snapshot::tree::diff;

/// Changed files whose source is read. Beyond it the work was rewritten, and names decide.
const FILES_READ: usize = 200;

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
    let mut changes = diff(objects, tree_before, tree_now)?;
    changes.retain(|change| is_source(&change.path.to_string()));
    if changes.len() > FILES_READ {
        return Ok(Vec::new());
    }
    let (mut functions_before, mut functions_now) = (Vec::new(), Vec::new());
    for change in &changes {
        functions_before.extend(functions_of(objects, tree_before, &change.path)?);
        functions_now.extend(functions_of(objects, tree_now, &change.path)?);
    }
    Ok(same_bodies(&gone, &new, &functions_before, &functions_now))
}

fn functions_of(objects: &Objects, root: &ObjectId, path: &TreePath) -> Result<Vec<Function>> {
    let Some(file) = file_at(objects, root, path)? else { return Ok(Vec::new()) };
    if objects.length(&file).is_none_or(|length| length > MAX_BYTES) {
        return Ok(Vec::new());
    }
    let text = objects.read(&file).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    Ok(text.map(|text| functions(&path.to_string(), &text)).unwrap_or_default())
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
