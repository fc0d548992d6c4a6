//! Taking a snapshot: walk, read what was touched, store what is new in one pack.
//!
//! The caller holds `.progress/lock` (shared, until what refers to the snapshot is committed; alone for a restore), so
//! that nobody prunes what is being referred to.

use std::collections::HashMap;
use std::time::UNIX_EPOCH;

use rayon::prelude::*;

use super::census::Census;
use super::index::{Known, StatCache};
use super::objects::{Objects, id_of};
use super::pack::{PackWriter, count};
use super::read::{Content, Reader, Seen};
use super::tree::without_in;
use super::walk::{Kind, Walked, walk};
use crate::disk::layout::Layout;
use crate::disk::{self, time_on};
use crate::error::Result;
use crate::model::config::{Capture, Limits};
use crate::model::ids::{ObjectId, TreePath};
use crate::model::tree::{EntryKind, Tree, TreeEntry};

/// A snapshot that was taken.
#[derive(Clone, Debug)]
pub struct Captured {
    /// The root directory: equal work trees have equal ids.
    pub root: ObjectId,
    /// As `root`, as if the files that are no code were absent.
    pub tree_key: ObjectId,
    /// What the census counted, without the files that are no code.
    pub census: Census,
    /// Files and links that are held.
    pub files: u64,
    /// Bytes of all files and links that are held.
    pub bytes: u64,
    /// Bytes that the store grew by; 0 if there was nothing new.
    pub new_bytes: u64,
    /// What was seen and is not held, with the reason, sorted.
    pub unheld: Vec<(TreePath, String)>,
    /// What cannot be in a snapshot (FIFOs, mount points, refused names), with the reason, sorted.
    pub skipped: Vec<(String, String)>,
    /// Files that have further names. Their contents are held, the sharing is not.
    pub hard_links: u64,
    /// Ignored or secret files that are held only because `capture.include` names them, sorted.
    pub included_secrets: Vec<TreePath>,
    /// The further objects, in the order in which they were given.
    pub extra: Vec<ObjectId>,
}

/// Takes a snapshot of the work tree; what it answers has the objects of the store as they then are. `extra` are further
/// objects for the same pack. The files of `not_code` are in the
/// snapshot, but not in the census and not in `tree_key`. `on_progress` is told files that are done, and all files (0
/// while that is not known).
///
/// # Errors
/// Bad input if a glob is none or `.progress` is no store; a failure that names the file if the system says no. Then
/// there is no new pack.
pub fn capture(
    layout: &Layout,
    capture: &Capture,
    limits: &Limits,
    extra: &[Vec<u8>],
    not_code: &[TreePath],
    on_progress: &dyn Fn(u64, u64),
) -> Result<(Captured, Objects)> {
    let mut session = Session::open(layout, Purpose::Store)?;
    let captured = session.run(capture, limits, extra, not_code, on_progress)?;
    Ok((captured, session.objects))
}

/// What [`capture`] would hold, as paths with their entries (directories and unheld files among them) sorted by the
/// paths' bytes. Nothing is written.
///
/// # Errors
/// As [`capture`].
pub fn survey(layout: &Layout, capture: &Capture, limits: &Limits) -> Result<Vec<(TreePath, TreeEntry)>> {
    let mut session = Session::open(layout, Purpose::Look)?;
    session.run(capture, limits, &[], &[], &|_, _| {})?;
    let mut entries = session.surveyed;
    entries.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(entries)
}

/// Whether anything is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    Store,
    Look,
}

/// Files of one batch: read in parallel, then written in order, so that the pack does not depend on who was faster.
const BATCH_FILES: usize = 1024;
const BATCH_BYTES: u64 = 64 << 20;

/// A file or link that is to be read: the numbers of its folder and of its entry, and its path.
struct Task {
    folder: usize,
    entry: usize,
    path: Vec<u8>,
    size: u64,
}

/// What became of an entry of the walk.
enum Outcome {
    Held { entry: TreeEntry, lines: Option<u64> },
    Unheld { size: u64, mode: u32, why: String },
    Gone,
}

struct Session<'a> {
    layout: &'a Layout,
    purpose: Purpose,
    objects: Objects,
    writer: PackWriter,
    old_cache: StatCache,
    new_cache: StatCache,
    /// Some file was read, so the new cache knows more than the old one.
    has_read: bool,
    trees: HashMap<ObjectId, Tree>,
    surveyed: Vec<(TreePath, TreeEntry)>,
}

impl<'a> Session<'a> {
    fn open(layout: &'a Layout, purpose: Purpose) -> Result<Session<'a>> {
        let stamp = match purpose {
            Purpose::Store => {
                disk::open_store(layout)?;
                disk::make_directory(&layout.objects())?;
                disk::sweep_temporaries(&layout.objects())?;
                disk::sweep_temporaries(&layout.cache())?;
                time_on(&layout.cache())?
            }
            Purpose::Look => UNIX_EPOCH,
        };
        Ok(Session {
            layout,
            purpose,
            objects: Objects::open(layout)?,
            writer: PackWriter::new(layout),
            old_cache: StatCache::load(&layout.stat_cache()),
            new_cache: StatCache::new(stamp),
            has_read: false,
            trees: HashMap::new(),
            surveyed: Vec::new(),
        })
    }

    fn run(
        &mut self,
        capture: &Capture,
        limits: &Limits,
        extra: &[Vec<u8>],
        not_code: &[TreePath],
        on_progress: &dyn Fn(u64, u64),
    ) -> Result<Captured> {
        on_progress(0, 0);
        let walked = walk(self.layout.root(), capture, limits)?;
        let mut outcomes = self.known(&walked);
        self.read(&walked, &mut outcomes, limits, on_progress)?;
        let mut captured = self.build(&walked, &outcomes, not_code)?;
        captured.tree_key = self.key(&captured.root, not_code)?;
        for bytes in extra {
            captured.extra.push(self.put(bytes)?);
        }
        captured.skipped = walked.skipped;
        captured.skipped.sort();
        captured.hard_links = walked.hard_links;
        captured.included_secrets = walked.included;
        captured.included_secrets.sort();
        captured.unheld.sort();
        if self.purpose == Purpose::Store {
            captured.new_bytes = self.finish()?;
        }
        Ok(captured)
    }

    /// What is known without reading.
    fn known(&mut self, walked: &Walked) -> Vec<Vec<Option<Outcome>>> {
        let (old, new, objects) = (&self.old_cache, &mut self.new_cache, &self.objects);
        let mut outcome_of = |path: Vec<u8>, name: &[u8], kind: &Kind| match kind {
            Kind::Unheld { why, size, mode } => Some(Outcome::Unheld { size: *size, mode: *mode, why: why.clone() }),
            Kind::File(stat) => {
                let known = *old.unchanged(&path, stat).filter(|known| objects.has(&known.object))?;
                new.insert(path, known);
                Some(held(name, &known))
            }
            Kind::Link | Kind::Folder(_) => None,
        };
        let folders = walked.folders.iter().map(|folder| {
            let entries = folder.entries.iter();
            entries.map(|entry| outcome_of(folder.path_of(&entry.name), &entry.name, &entry.kind)).collect()
        });
        folders.collect()
    }

    /// Reads the rest, batch by batch.
    fn read(
        &mut self,
        walked: &Walked,
        outcomes: &mut [Vec<Option<Outcome>>],
        limits: &Limits,
        on_progress: &dyn Fn(u64, u64),
    ) -> Result<()> {
        let total: usize = outcomes.iter().map(Vec::len).sum();
        let tasks = tasks(walked, outcomes);
        let mut done = count(total - tasks.len());
        on_progress(done, count(total));
        let mut rest = tasks.as_slice();
        while !rest.is_empty() {
            let (batch, after) = rest.split_at(batch_length(rest));
            rest = after;
            let spool = (self.purpose == Purpose::Store).then(|| self.layout.objects());
            let reader = Reader::new(self.layout.root(), &self.objects, limits.file_bytes, spool)?;
            let seen: Vec<Result<Seen>> = batch.par_iter().map(|task| reader.read(&task.path)).collect();
            for (task, seen) in batch.iter().zip(seen) {
                let outcome = self.take(walked, task, seen?)?;
                let place = outcomes.get_mut(task.folder).and_then(|folder| folder.get_mut(task.entry));
                if let Some(place) = place {
                    *place = Some(outcome);
                }
            }
            done += count(batch.len());
            on_progress(done, count(total));
        }
        Ok(())
    }

    /// Stores what was read.
    fn take(&mut self, walked: &Walked, task: &Task, seen: Seen) -> Result<Outcome> {
        let entry = walked.folders.get(task.folder).and_then(|folder| folder.entries.get(task.entry));
        let name = entry.map(|entry| entry.name.as_slice()).unwrap_or_default();
        Ok(match seen {
            Seen::Gone => Outcome::Gone,
            Seen::Unheld { why, size, mode } => Outcome::Unheld { size, mode, why },
            Seen::Link(target) => {
                let object = self.put(&target)?;
                let size = count(target.len());
                let entry = TreeEntry { name: name.to_vec(), kind: EntryKind::Link, mode: 0, size, object };
                Outcome::Held { entry, lines: None }
            }
            Seen::File(content) => {
                let Content { stat, id, lines, packed } = *content;
                if let Some(packed) = packed {
                    self.writer.add_packed(packed)?;
                }
                let known = Known { stat, object: id, lines };
                self.new_cache.insert(task.path.clone(), known);
                self.has_read = true;
                held(name, &known)
            }
        })
    }

    /// Stores bytes unless the store has them.
    fn put(&mut self, bytes: &[u8]) -> Result<ObjectId> {
        let id = id_of(bytes);
        if self.purpose == Purpose::Store && !self.objects.has(&id) {
            return self.writer.add(bytes);
        }
        Ok(id)
    }

    /// Makes the directories, the innermost first, and counts on the way.
    fn build(&mut self, walked: &Walked, outcomes: &[Vec<Option<Outcome>>], not_code: &[TreePath]) -> Result<Captured> {
        let mut captured = Captured {
            root: ObjectId([0; 32]),
            tree_key: ObjectId([0; 32]),
            census: Census::default(),
            files: 0,
            bytes: 0,
            new_bytes: 0,
            unheld: Vec::new(),
            skipped: Vec::new(),
            hard_links: 0,
            included_secrets: Vec::new(),
            extra: Vec::new(),
        };
        let mut not_code: Vec<&[u8]> = not_code.iter().map(TreePath::as_bytes).collect();
        not_code.sort_unstable();
        let mut ids = vec![ObjectId([0; 32]); walked.folders.len()];
        for (number, folder) in walked.folders.iter().enumerate().rev() {
            let mut entries = Vec::with_capacity(folder.entries.len());
            for (entry, outcome) in folder.entries.iter().zip(outcomes.get(number).into_iter().flatten()) {
                let path = folder.path_of(&entry.name);
                let is_code = not_code.binary_search(&path.as_slice()).is_err();
                let made = match (&entry.kind, outcome) {
                    (Kind::Folder(inner), _) => {
                        let mode = walked.folders.get(*inner).map_or(0o755, |folder| folder.mode);
                        let object = ids.get(*inner).copied().unwrap_or(ObjectId([0; 32]));
                        TreeEntry { name: entry.name.clone(), kind: EntryKind::Directory, mode, size: 0, object }
                    }
                    (_, Some(outcome)) => match captured.count(outcome, &entry.name, &path, is_code)? {
                        Some(made) => made,
                        None => continue,
                    },
                    (_, None) => continue,
                };
                if self.purpose == Purpose::Look {
                    self.surveyed.push((TreePath::new(path)?, made.clone()));
                }
                entries.push(made);
            }
            let tree = Tree::new(entries)?;
            let id = self.put(&tree.encode())?;
            self.trees.insert(id, tree);
            if let Some(place) = ids.get_mut(number) {
                *place = id;
            }
        }
        captured.root = ids.first().copied().unwrap_or(ObjectId([0; 32]));
        Ok(captured)
    }

    fn key(&self, root: &ObjectId, not_code: &[TreePath]) -> Result<ObjectId> {
        let tree = |id: &ObjectId| self.trees.get(id).map_or_else(|| self.objects.tree(id), |tree| Ok(tree.clone()));
        without_in(&tree, root, not_code)
    }

    /// Gives the pack its name, and remembers what was seen. What it returns is the pack's size.
    fn finish(&mut self) -> Result<u64> {
        let writer = std::mem::replace(&mut self.writer, PackWriter::new(self.layout));
        let written = writer.finish()?;
        if let Some(pack) = written {
            self.objects.learn(pack);
        }
        self.objects.merge_indexes(self.layout);
        if self.has_read || self.new_cache.len() != self.old_cache.len() {
            // Derived: without it the next snapshot reads every file, and is the same.
            drop(self.new_cache.store(&self.layout.stat_cache()));
        }
        Ok(written.map_or(0, |pack| pack.bytes))
    }
}

impl Captured {
    /// Counts one name; what it returns is its entry in the directory.
    fn count(&mut self, outcome: &Outcome, name: &[u8], path: &[u8], is_code: bool) -> Result<Option<TreeEntry>> {
        match outcome {
            Outcome::Gone => Ok(None),
            Outcome::Unheld { size, mode, why } => {
                self.unheld.push((TreePath::new(path)?, why.clone()));
                self.census.file_count += u64::from(is_code);
                let (kind, object) = (EntryKind::Unheld, ObjectId([0; 32]));
                Ok(Some(TreeEntry { name: name.to_vec(), kind, mode: *mode, size: *size, object }))
            }
            Outcome::Held { entry, lines } => {
                self.files += 1;
                self.bytes += entry.size;
                if is_code && entry.kind == EntryKind::File {
                    self.census.file_count += 1;
                    self.census.loc_total += lines.unwrap_or_default();
                }
                Ok(Some(entry.clone()))
            }
        }
    }
}

fn held(name: &[u8], known: &Known) -> Outcome {
    let mode = known.stat.mode & 0o777;
    let (size, object) = (known.stat.size, known.object);
    let entry = TreeEntry { name: name.to_vec(), kind: EntryKind::File, mode, size, object };
    Outcome::Held { entry, lines: known.lines }
}

fn tasks(walked: &Walked, outcomes: &[Vec<Option<Outcome>>]) -> Vec<Task> {
    let mut tasks = Vec::new();
    for (folder_number, (folder, outcomes)) in walked.folders.iter().zip(outcomes).enumerate() {
        for (entry_number, (entry, outcome)) in folder.entries.iter().zip(outcomes).enumerate() {
            let size = match entry.kind {
                Kind::File(stat) => stat.size,
                Kind::Link => 0,
                Kind::Folder(_) | Kind::Unheld { .. } => continue,
            };
            if outcome.is_none() {
                let path = folder.path_of(&entry.name);
                tasks.push(Task { folder: folder_number, entry: entry_number, path, size });
            }
        }
    }
    tasks
}

/// How many of the tasks make the next batch; at least one.
fn batch_length(tasks: &[Task]) -> usize {
    let mut bytes = 0u64;
    let fitting = tasks.iter().take(BATCH_FILES).take_while(|task| {
        bytes = bytes.saturating_add(task.size);
        bytes <= BATCH_BYTES
    });
    fitting.count().max(1)
}

#[cfg(test)]
mod tests;
