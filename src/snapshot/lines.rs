//! Lines that differ between two snapshots. Home of `similar`.

use std::collections::{HashMap, HashSet};
use std::convert::Infallible;

use similar::algorithms::{DiffHook, myers};

use super::objects::Objects;
use super::tree::{each_pair, object_of};
use crate::error::Result;
use crate::model::ids::{ObjectId, TreePath};
use crate::model::progress::LineChanges;
use crate::model::tree::{EntryKind, TreeEntry};

/// Files above this are no text that people edit: they have no lines, as binary files have none.
const MAX_BYTES: u64 = 8 << 20;

/// A NUL among so many first bytes makes a file binary.
const PROBED_BYTES: usize = 8 << 10;

/// Lines of both sides together up to which the fewest changes are looked for. Above it, lines are counted in whatever
/// order, which takes one pass: a line that only moved is no change then.
const MAX_LINES: usize = 10_000;

/// Lines that came and went between snapshots `a` (before) and `b` (after), without the files of `left_out`. Those of a
/// file that moved went and came.
///
/// # Errors
/// Bad input that names the pack if an object is missing or damaged.
pub fn changed_lines(objects: &Objects, a: &ObjectId, b: &ObjectId, left_out: &[TreePath]) -> Result<LineChanges> {
    let left_out: HashSet<&[u8]> = left_out.iter().map(TreePath::as_bytes).collect();
    let mut changes = LineChanges::default();
    each_pair(objects, a, b, |path, old, new| {
        let (old_file, new_file) = (object_of(old, EntryKind::File), object_of(new, EntryKind::File));
        if old_file != new_file && !left_out.contains(path) {
            let (old, new) = (text(objects, old_file, old)?, text(objects, new_file, new)?);
            let (gone, come) = differing(&old, &new);
            changes.deletions = changes.deletions.saturating_add(gone);
            changes.insertions = changes.insertions.saturating_add(come);
        }
        Ok(())
    })?;
    Ok(changes)
}

/// Of two versions of a text, the lines that both have, in order: their numbers before and now, from 1. `None` where there are
/// too many to tell which.
pub fn kept_lines(old: &[u8], new: &[u8]) -> Option<Vec<(u64, u64)>> {
    let (old, new) = (lines(old), lines(new));
    if old.len() + new.len() > MAX_LINES {
        return None;
    }
    let mut kept = Kept::default();
    let Ok(()) = myers::diff(&mut kept, &old, 0..old.len(), &new, 0..new.len());
    Some(kept.0)
}

/// The bytes of a text file; nothing of what is none.
fn text(objects: &Objects, id: Option<ObjectId>, entry: Option<&TreeEntry>) -> Result<Vec<u8>> {
    let Some(id) = id.filter(|_| entry.is_some_and(|entry| entry.size <= MAX_BYTES)) else { return Ok(Vec::new()) };
    let bytes = objects.read(&id)?;
    let is_binary = bytes.iter().take(PROBED_BYTES).any(|byte| *byte == 0);
    Ok(if is_binary { Vec::new() } else { bytes })
}

/// Lines that are only in the first text, and those that are only in the second.
fn differing(old: &[u8], new: &[u8]) -> (u64, u64) {
    let (old, new): (Vec<&[u8]>, Vec<&[u8]>) = (lines(old), lines(new));
    let ahead = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let (old, new) = (old.get(ahead..).unwrap_or_default(), new.get(ahead..).unwrap_or_default());
    let behind = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    let old = old.get(..old.len() - behind).unwrap_or_default();
    let new = new.get(..new.len() - behind).unwrap_or_default();
    if old.is_empty() || new.is_empty() {
        return (count(old.len()), count(new.len()));
    }
    if old.len() + new.len() > MAX_LINES {
        let common = common(old, new);
        return (count(old.len() - common), count(new.len() - common));
    }
    let mut changed = Changed::default();
    let Ok(()) = myers::diff(&mut changed, old, 0..old.len(), new, 0..new.len());
    (count(changed.gone), count(changed.come))
}

/// Lines of the fewest changes. The algorithm is named where it is called: `similar` would compile all that it has otherwise.
#[derive(Default)]
struct Changed {
    gone: usize,
    come: usize,
}

impl DiffHook for Changed {
    type Error = Infallible;

    fn delete(&mut self, _: usize, lines: usize, _: usize) -> Result<(), Infallible> {
        self.gone += lines;
        Ok(())
    }

    fn insert(&mut self, _: usize, _: usize, lines: usize) -> Result<(), Infallible> {
        self.come += lines;
        Ok(())
    }
}

/// Numbers of the lines that both have.
#[derive(Default)]
struct Kept(Vec<(u64, u64)>);

impl DiffHook for Kept {
    type Error = Infallible;

    fn equal(&mut self, old: usize, new: usize, lines: usize) -> Result<(), Infallible> {
        self.0.extend((1..=lines).map(|line| (count(old + line), count(new + line))));
        Ok(())
    }
}

/// Lines with their breaks; a last one without a break is one too.
fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

/// Lines that both have, in whatever order.
fn common(old: &[&[u8]], new: &[&[u8]]) -> usize {
    let mut left: HashMap<&[u8], usize> = HashMap::new();
    old.iter().for_each(|line| *left.entry(line).or_default() += 1);
    let is_left = |line: &&&[u8]| {
        left.get_mut(**line).filter(|count| **count > 0).is_some_and(|count| {
            *count -= 1;
            true
        })
    };
    new.iter().filter(is_left).count()
}

fn count(lines: usize) -> u64 {
    u64::try_from(lines).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_came_and_went_are_counted_as_git_counts_them() {
        for (old, new, expected) in [
            ("", "a\nb\n", (0, 2)),
            ("a\nb\n", "", (2, 0)),
            ("a\nb\nc\n", "a\nB\nc\n", (1, 1)),
            ("a\nb\nc\nd\n", "b\nc\nd\ne\n", (1, 1)),
            ("a\nb\n", "a\nb", (1, 1)),
            ("a\n", "a\n", (0, 0)),
        ] {
            assert_eq!(differing(old.as_bytes(), new.as_bytes()), expected, "{old:?} {new:?}");
        }
    }

    #[test]
    fn of_very_many_lines_those_that_moved_are_no_change() {
        let number = |n: usize| format!("{n}\n");
        let old: String = (0..9_000).map(number).collect();
        let new: String = (0..9_000).rev().map(number).chain(["more\n".to_owned(), "again\n".to_owned()]).collect();
        assert_eq!(differing(old.as_bytes(), new.as_bytes()), (0, 2));
        let some: Vec<String> = (0..200).map(number).collect();
        let reversed: String = some.iter().rev().map(String::as_str).collect();
        assert_eq!(differing(some.concat().as_bytes(), reversed.as_bytes()), (199, 199), "of few they are");
        assert_eq!(common(&[b"a", b"b"], &[b"a", b"a", b"c"]), 1, "one line is not two");
    }
}
