//! Lines that ran before, did not change and do not run now (ANALYSIS §12.3), from the reports of both iterations and the
//! snapshots between which they changed.

use std::collections::BTreeMap;

use super::bodies::{FILES_READ, file_at};
use super::measure::{measure_lines, stored_reports};
use super::work::unless_damaged;
use crate::error::Result;
use crate::ingest::FileLines;
use crate::model::figures::ReportKind;
use crate::model::ids::{ObjectId, TreePath};
use crate::model::lost_lines::{LostInFile, LostLines};
use crate::model::trajectory::Point;
use crate::snapshot::lines::kept_lines;
use crate::snapshot::objects::Objects;
use crate::snapshot::tree::{diff, files};
use crate::store::Store;

/// Files, and lines of each, that are kept.
const KEPT: usize = 20;

/// Since `since`, the latest ancestor with coverage. `now` are the lines of this iteration by file; `None` where either side
/// tells no lines, where most of the work was rewritten, and where what is needed is damaged or gone.
///
/// # Errors
/// A failure of the system.
pub(super) fn lost_lines(
    store: &Store,
    objects: &Objects,
    since: &Point,
    tree: &ObjectId,
    now: &BTreeMap<String, FileLines>,
) -> Result<Option<LostLines>> {
    if now.is_empty() {
        return Ok(None);
    }
    let Some(earlier) = unless_damaged(store.load(since.iteration))? else { return Ok(None) };
    let before = measure_lines(&stored_reports(store, &earlier.record, ReportKind::Coverage));
    if before.is_empty() {
        return Ok(None);
    }
    Ok(unless_damaged(compare(objects, since, tree, &before, now))?.flatten())
}

fn compare(
    objects: &Objects,
    since: &Point,
    tree: &ObjectId,
    before: &BTreeMap<String, FileLines>,
    now: &BTreeMap<String, FileLines>,
) -> Result<Option<LostLines>> {
    let changes = diff(objects, &since.tree, tree)?;
    if changes.len() > FILES_READ {
        return Ok(None);
    }
    let changed = changes.into_iter().map(|change| (change.path.to_string(), change.path)).collect();
    let mut comparing = Comparing { objects, trees: [&since.tree, tree], changed, names: None };
    let mut lost = LostLines { since: since.iteration, covered: 0, lost: 0, files: Vec::new() };
    for (path, lines) in before {
        lost.covered = lost.covered.saturating_add(lines.covered());
        if let Some(file) = comparing.lost_in(path, lines, now.get(path))? {
            lost.lost = lost.lost.saturating_add(file.lost);
            lost.files.push(file);
        }
    }
    lost.files.sort_by(|a, b| b.lost.cmp(&a.lost).then_with(|| a.path.cmp(&b.path)));
    lost.files.truncate(KEPT);
    Ok(Some(lost))
}

struct Comparing<'a> {
    objects: &'a Objects,
    /// Before and now.
    trees: [&'a ObjectId; 2],
    /// The files between them that changed, as reports would name them.
    changed: Vec<(String, TreePath)>,
    /// Of all files that are there now, as far as they were asked for.
    names: Option<Vec<String>>,
}

impl Comparing<'_> {
    /// What is lost in one file. Nothing where it cannot be told which of the changed files it is.
    fn lost_in(&mut self, path: &str, before: &FileLines, now: Option<&FileLines>) -> Result<Option<LostInFile>> {
        // Most reports say the same again.
        if now == Some(before) {
            return Ok(None);
        }
        let mut same = self.changed.iter().filter(|(name, _)| is_same_file(name, path));
        let changed = same.next().map(|(_, changed)| changed);
        if same.next().is_some() {
            return Ok(None);
        }
        let kept = match changed {
            None => None,
            Some(changed) => match self.kept(changed)? {
                Some(kept) => Some(kept),
                None => return Ok(None),
            },
        };
        let now_at = |line: u64| match &kept {
            None => Some(line),
            Some(kept) => kept.get(&line).copied(),
        };
        let runs: Option<BTreeMap<u64, bool>> = now.map(|now| now.iter().collect());
        let is_lost = |line: &u64| runs.as_ref().is_none_or(|runs| runs.get(line) == Some(&false));
        let covered = before.iter().filter(|(_, covered)| *covered);
        let lines: Vec<u64> = covered.filter_map(|(line, _)| now_at(line)).filter(is_lost).collect();
        if lines.is_empty() {
            return Ok(None);
        }
        let named = self.named(path)?;
        if now.is_none() && named.is_empty() {
            return Ok(None);
        }
        let only = named.first().filter(|_| named.len() == 1);
        Ok(Some(LostInFile {
            path: only.map_or(path, |name| name.as_str()).to_owned(),
            lost: u64::try_from(lines.len()).unwrap_or(u64::MAX),
            lines: lines.into_iter().take(KEPT).collect(),
            is_unreported: now.is_none(),
        }))
    }

    /// The lines of a changed file that did not change, by their numbers before.
    fn kept(&self, path: &TreePath) -> Result<Option<BTreeMap<u64, u64>>> {
        let [before, now] = self.trees;
        let read = |root| -> Result<Option<Vec<u8>>> {
            let file = file_at(self.objects, root, path)?;
            Ok(file.and_then(|file| self.objects.read(&file).ok()))
        };
        let (Some(old), Some(new)) = (read(before)?, read(now)?) else { return Ok(None) };
        Ok(kept_lines(&old, &new).map(|kept| kept.into_iter().collect()))
    }

    /// The files that are there now which a report may mean: the one of just that name, else all that end so.
    fn named(&mut self, path: &str) -> Result<Vec<&String>> {
        if self.names.is_none() {
            let all = files(self.objects, self.trees[1])?;
            self.names = Some(all.map(|file| Ok(file?.0.to_string())).collect::<Result<_>>()?);
        }
        let all = self.names.iter().flatten();
        let exact: Vec<&String> = all.clone().filter(|name| *name == path).collect();
        Ok(if exact.is_empty() { all.filter(|name| is_same_file(name, path)).collect() } else { exact })
    }
}

/// Whether one of two paths ends as the other is: reports name files from their own root, which may lie above or below the
/// work tree's.
fn is_same_file(path: &str, other: &str) -> bool {
    let ends_with = |long: &str, short: &str| {
        long.strip_suffix(short).is_some_and(|before| before.is_empty() || before.ends_with('/'))
    };
    ends_with(path, other) || ends_with(other, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_the_same_from_another_root() {
        for (path, other) in [("src/cart.py", "cart.py"), ("cart.go", "example.com/shop/cart.go"), ("a/b.rs", "a/b.rs")]
        {
            assert!(is_same_file(path, other), "{path}");
        }
        assert!(!is_same_file("src/mycart.py", "cart.py") && !is_same_file("a/cart.py", "b/cart.py"));
    }
}
