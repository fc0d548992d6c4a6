//! Taking a snapshot: walk, read what was touched, store what is new in one pack.
//!
//! The caller holds `.progress/lock` (shared, until what refers to the snapshot is committed; alone for a restore), so
//! that nobody prunes what is being referred to.

mod survey;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::time::SystemTime;

use rayon::prelude::*;
pub use survey::{Survey, survey};

use super::census::Census;
use super::index::{Known, NewCache, Remembered, StatCache};
use super::objects::{Objects, id_of};
use super::pack::{PackWriter, count};
use super::packed::Packed;
use super::read::{Content, Reader, Seen};
use super::tree::{split, without_in};
use super::walk::{Entry, Folder, Kind, Walked, walk};
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
    let mut session = Session::open(layout, Purpose::Store, Stored::Trusted)?;
    let captured = session.run(capture, limits, extra, not_code, on_progress)?;
    Ok((captured, session.objects))
}

/// Whether anything is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    Store,
    Look,
}

/// Whether what is in the store is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// What a whole pack names.
    Trusted,
    /// Nothing: something in it is damaged, and all is read and kept once more.
    Doubted,
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
    /// What the file held in the last snapshot.
    before: Option<ObjectId>,
}

impl Task {
    fn put(&self, outcomes: &mut [Outcomes], outcome: Option<Outcome>) {
        let place = outcomes.get_mut(self.folder).and_then(|folder| folder.entries.get_mut(self.entry));
        if let Some(place) = place {
            *place = outcome;
        }
    }
}

/// What became of an entry of the walk.
enum Outcome {
    File(Known),
    /// A file that may be another than in the last snapshot, which had this object: to be read.
    Touched(ObjectId),
    Link {
        size: u64,
        object: ObjectId,
    },
    Unheld {
        size: u64,
        mode: u32,
        why: String,
    },
    Gone,
    /// A folder, as it was in the last snapshot.
    Folder {
        mode: u32,
        tree: ObjectId,
    },
}

/// What became of the entries of a folder.
struct Outcomes {
    /// `None` is still to be read; a folder that was not there before.
    entries: Vec<Option<Outcome>>,
    /// Its directory object in the last snapshot.
    before: Option<ObjectId>,
    /// The same, if all in it is as it was, but for what may have changed inside its folders.
    tree: Option<ObjectId>,
}

struct Session<'a> {
    layout: &'a Layout,
    purpose: Purpose,
    stored: Stored,
    objects: Objects,
    writer: PackWriter,
    cache: StatCache,
    /// The time on the work tree's file system before anything was looked at; without it, no cache can be stored.
    stamp: Option<SystemTime>,
    /// The work tree is not as the cache has it, so that it is to be stored anew.
    is_cache_old: bool,
    trees: HashMap<ObjectId, Tree>,
}

impl<'a> Session<'a> {
    fn open(layout: &'a Layout, purpose: Purpose, stored: Stored) -> Result<Session<'a>> {
        let stamp = match purpose {
            Purpose::Store => {
                prepare(layout)?;
                Some(time_on(&layout.cache())?)
            }
            Purpose::Look => None,
        };
        Ok(Session {
            layout,
            purpose,
            stored,
            objects: Objects::open(layout)?,
            writer: PackWriter::new(layout),
            cache: match stored {
                Stored::Trusted => StatCache::load(&layout.stat_cache()),
                Stored::Doubted => StatCache::default(),
            },
            stamp,
            is_cache_old: false,
            trees: HashMap::new(),
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
        let mut walked = walk(self.layout, capture, limits, &self.cache)?;
        let mut outcomes = self.known(&walked);
        self.read(&tasks(&walked, &outcomes), &mut outcomes, limits, on_progress)?;
        let (mut captured, ids) = self.build(&walked, &outcomes, not_code)?;
        captured.tree_key = self.key(&captured.root, not_code)?;
        for bytes in extra {
            captured.extra.push(self.put(bytes, None)?);
        }
        captured.skipped = std::mem::take(&mut walked.skipped);
        captured.skipped.sort();
        // Each of many repositories inside may have been told the same of one file.
        captured.skipped.dedup();
        captured.hard_links = walked.hard_links;
        captured.included_secrets = std::mem::take(&mut walked.included);
        captured.included_secrets.sort();
        captured.unheld.sort();
        captured.new_bytes = self.finish(&walked, &outcomes, &ids)?;
        Ok(captured)
    }

    /// What is known without reading.
    fn known(&mut self, walked: &Walked) -> Vec<Outcomes> {
        // Where all packs are still there that had what the cache names, nothing has to be looked up in them.
        let mut is_stored = self.has_all_of(self.objects.pack_files());
        let mut known = self.known_in_all(walked, is_stored);
        // They are looked into if there is something to store. What a damaged one holds does not count as stored.
        if self.is_cache_old && is_stored {
            is_stored = self.has_all_of(self.objects.whole_packs());
            if !is_stored {
                known = self.known_in_all(walked, is_stored);
            }
        }
        self.is_cache_old |= !is_stored;
        known
    }

    fn has_all_of(&self, packs: Vec<(ObjectId, u64)>) -> bool {
        let packs: HashSet<(ObjectId, u64)> = packs.into_iter().collect();
        self.cache.packs().iter().all(|pack| packs.contains(pack))
    }

    fn known_in_all(&mut self, walked: &Walked, is_stored: bool) -> Vec<Outcomes> {
        walked.folders.iter().map(|folder| self.known_in(folder, is_stored)).collect()
    }

    fn known_in(&mut self, folder: &Folder, is_stored: bool) -> Outcomes {
        let mut before = self.cache.folder(&folder.path);
        let mut is_plain = true;
        let mut outcome_of = |entry: &Entry| match &entry.kind {
            Kind::File(stat) => {
                let (known, is_unchanged) = before.file(folder.name(entry), stat)?;
                let is_known = is_unchanged && (is_stored || self.objects.has(&known.object));
                Some(if is_known { Outcome::File(known) } else { Outcome::Touched(known.object) })
            }
            Kind::Folder(_) => match before.find(folder.name(entry))? {
                Remembered::Folder { mode, tree } => Some(Outcome::Folder { mode, tree }),
                Remembered::File(_) => None,
            },
            Kind::Unheld { why, size, mode } => {
                is_plain = false;
                Some(Outcome::Unheld { size: *size, mode: *mode, why: why.clone() })
            }
            Kind::Link => {
                is_plain = false;
                None
            }
        };
        let entries: Vec<Option<Outcome>> = folder.entries.iter().map(&mut outcome_of).collect();
        let tree = before.tree().filter(|_| is_plain && is_stored);
        let is_listed = folder.listed.is_none_or(|stat| before.is_listed(&stat));
        self.is_cache_old |= !before.is_same() || is_plain && !is_listed;
        Outcomes { entries, before: before.before(), tree }
    }

    /// Reads what is not known, batch by batch.
    fn read(
        &mut self,
        tasks: &[Task],
        outcomes: &mut [Outcomes],
        limits: &Limits,
        on_progress: &dyn Fn(u64, u64),
    ) -> Result<()> {
        let total: usize = outcomes.iter().map(|folder| folder.entries.len()).sum();
        let mut done = count(total.saturating_sub(tasks.len()));
        on_progress(done, count(total));
        let mut rest = tasks;
        while !rest.is_empty() {
            let (batch, after) = rest.split_at(batch_length(rest));
            rest = after;
            let spool = (self.purpose == Purpose::Store).then(|| self.layout.objects());
            let reader = Reader::new(self.layout.root(), self.trusted(), limits.file_bytes, spool)?;
            let seen: Vec<Result<Seen>> =
                batch.par_iter().map(|task| reader.read(&task.path, task.before.as_ref())).collect();
            for (task, seen) in batch.iter().zip(seen) {
                task.put(outcomes, Some(self.take(seen?)?));
            }
            done += count(batch.len());
            on_progress(done, count(total));
        }
        Ok(())
    }

    /// Stores what was read.
    fn take(&mut self, seen: Seen) -> Result<Outcome> {
        Ok(match seen {
            Seen::Gone => Outcome::Gone,
            Seen::Unheld { why, size, mode } => Outcome::Unheld { size, mode, why },
            Seen::Link(target) => Outcome::Link { size: count(target.len()), object: self.put(&target, None)? },
            Seen::File(content) => {
                let Content { stat, id, lines, packed } = *content;
                if let Some(packed) = packed {
                    self.writer.add_packed(packed)?;
                }
                Outcome::File(Known { stat, object: id, lines })
            }
        })
    }

    fn trusted(&self) -> Option<&Objects> {
        (self.stored == Stored::Trusted).then_some(&self.objects)
    }

    /// Stores bytes unless the store has them; `before` is what was there in the last snapshot.
    fn put(&mut self, bytes: &[u8], before: Option<&ObjectId>) -> Result<ObjectId> {
        let id = id_of(bytes);
        let trusted = self.trusted();
        let is_stored = || trusted.is_some_and(|objects| objects.has(&id));
        if self.purpose == Purpose::Store && !is_stored() && !self.writer.contains(&id) {
            let base = before.and_then(|before| trusted?.base(before));
            self.writer.add_packed(Packed::with_id(id, bytes, base.as_ref())?)?;
        }
        Ok(id)
    }

    /// Makes the directories, the innermost first, and counts on the way. Answers the folders' ids too.
    fn build(
        &mut self,
        walked: &Walked,
        outcomes: &[Outcomes],
        not_code: &[TreePath],
    ) -> Result<(Captured, Vec<ObjectId>)> {
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
        let not_code = by_folder(not_code);
        let mut ids = vec![ObjectId([0; 32]); walked.folders.len()];
        for (number, (folder, outcomes)) in walked.folders.iter().zip(outcomes).enumerate().rev() {
            let not_code = not_code.get(folder.path.as_slice());
            let mut tree = outcomes.tree;
            for (entry, outcome) in folder.entries.iter().zip(&outcomes.entries) {
                let is_code = not_code.is_none_or(|names| !names.contains(&folder.name(entry)));
                captured.count(folder, entry, outcome.as_ref(), is_code)?;
                if let Kind::Folder(inner) = entry.kind {
                    let (mode, id) = made(walked, &ids, inner);
                    if !matches!(outcome, Some(Outcome::Folder { mode: old, tree }) if (*old, *tree) == (mode, id)) {
                        self.is_cache_old = true;
                        tree = None;
                    }
                }
            }
            let id = match tree {
                Some(id) => id,
                None => self.make(walked, folder, outcomes, &ids)?,
            };
            if let Some(place) = ids.get_mut(number) {
                *place = id;
            }
        }
        captured.root = ids.first().copied().unwrap_or(ObjectId([0; 32]));
        Ok((captured, ids))
    }

    /// Makes one directory; those in it are made.
    fn make(&mut self, walked: &Walked, folder: &Folder, outcomes: &Outcomes, ids: &[ObjectId]) -> Result<ObjectId> {
        let entries = folder.entries.iter().zip(&outcomes.entries);
        let entries =
            entries.filter_map(|(entry, outcome)| tree_entry(walked, folder, entry, outcome.as_ref(), ids)).collect();
        let tree = Tree::new(entries)?;
        let id = self.put(&tree.encode(), outcomes.before.as_ref())?;
        self.trees.insert(id, tree);
        Ok(id)
    }

    fn tree(&self, id: &ObjectId) -> Result<Tree> {
        self.trees.get(id).map_or_else(|| self.objects.tree(id), |tree| Ok(tree.clone()))
    }

    fn key(&self, root: &ObjectId, not_code: &[TreePath]) -> Result<ObjectId> {
        without_in(&|id| self.tree(id), root, not_code)
    }

    /// Gives the pack its name, and remembers what was seen. What it returns is the pack's size.
    fn finish(&mut self, walked: &Walked, outcomes: &[Outcomes], ids: &[ObjectId]) -> Result<u64> {
        let writer = std::mem::replace(&mut self.writer, PackWriter::new(self.layout));
        let written = writer.finish()?;
        if let Some(pack) = written {
            self.objects.learn(pack);
        }
        self.objects.merge_indexes(self.layout);
        if let (true, Some(stamp)) = (self.is_cache_old, self.stamp) {
            // Derived: without it the next snapshot reads every file, and is the same.
            drop(self.new_cache(stamp, walked, outcomes, ids).store(&self.layout.stat_cache()));
        }
        Ok(written.map_or(0, |pack| pack.bytes))
    }

    fn new_cache(&self, stamp: SystemTime, walked: &Walked, outcomes: &[Outcomes], ids: &[ObjectId]) -> NewCache {
        let mut cache = NewCache::new(stamp, &self.objects.pack_files());
        for ((folder, outcomes), id) in walked.folders.iter().zip(outcomes).zip(ids) {
            let remembered = |entry: &Entry, outcome: Option<&Outcome>| match (&entry.kind, outcome) {
                (Kind::Folder(inner), _) => {
                    let (mode, tree) = made(walked, ids, *inner);
                    Some(Remembered::Folder { mode, tree })
                }
                (_, Some(Outcome::File(known))) => Some(Remembered::File(*known)),
                _ => None,
            };
            let entries = || {
                let entries = folder.entries.iter().zip(&outcomes.entries);
                entries.map(|(entry, outcome)| (folder.name(entry), remembered(entry, outcome.as_ref())))
            };
            let is_whole = entries().all(|(_, remembered)| remembered.is_some());
            let known = entries().filter_map(|(name, remembered)| Some((name, remembered?)));
            let listed = folder.listed.filter(|_| is_whole);
            cache.add(&folder.path, is_whole.then_some(*id), listed.as_ref(), known);
        }
        cache
    }
}

impl Captured {
    /// Counts one name.
    fn count(&mut self, folder: &Folder, entry: &Entry, outcome: Option<&Outcome>, is_code: bool) -> Result<()> {
        let (size, lines) = match outcome {
            Some(Outcome::Unheld { why, .. }) => {
                self.unheld.push((TreePath::new(folder.path_of(entry))?, why.clone()));
                self.census.file_count += u64::from(is_code);
                return Ok(());
            }
            Some(Outcome::File(known)) => (known.stat.size, Some(known.lines.unwrap_or_default())),
            Some(Outcome::Link { size, .. }) => (*size, None),
            Some(Outcome::Gone | Outcome::Folder { .. } | Outcome::Touched(_)) | None => return Ok(()),
        };
        self.files += 1;
        self.bytes += size;
        if let (true, Some(lines)) = (is_code, lines) {
            self.census.file_count += 1;
            self.census.loc_total += lines;
        }
        Ok(())
    }
}

/// Makes the folders that are written to, and removes what killed writers left in them.
fn prepare(layout: &Layout) -> Result<()> {
    disk::open_store(layout)?;
    disk::make_directory(&layout.objects())?;
    disk::sweep_temporaries(&layout.objects())?;
    disk::sweep_temporaries(&layout.cache()).map(|_| ())
}

/// Names by the folder that they are in.
fn by_folder(paths: &[TreePath]) -> HashMap<&[u8], Vec<&[u8]>> {
    let mut folders: HashMap<&[u8], Vec<&[u8]>> = HashMap::new();
    for path in paths {
        let (folder, name) = split(path.as_bytes());
        folders.entry(folder).or_default().push(name);
    }
    folders
}

/// Mode and id of a folder that was made.
fn made(walked: &Walked, ids: &[ObjectId], folder: usize) -> (u32, ObjectId) {
    let mode = walked.folders.get(folder).map_or(0o755, |folder| folder.mode);
    (mode, ids.get(folder).copied().unwrap_or(ObjectId([0; 32])))
}

/// The entry of a directory that a name comes to; `None` if it is gone.
fn tree_entry(
    walked: &Walked,
    folder: &Folder,
    entry: &Entry,
    outcome: Option<&Outcome>,
    ids: &[ObjectId],
) -> Option<TreeEntry> {
    let (kind, mode, size, object) = match (&entry.kind, outcome) {
        (Kind::Folder(inner), _) => {
            let (mode, id) = made(walked, ids, *inner);
            (EntryKind::Directory, mode, 0, id)
        }
        (_, Some(Outcome::File(Known { stat, object, .. }))) => {
            (EntryKind::File, stat.mode & 0o777, stat.size, *object)
        }
        (_, Some(Outcome::Link { size, object })) => (EntryKind::Link, 0, *size, *object),
        (_, Some(Outcome::Unheld { size, mode, .. })) => (EntryKind::Unheld, *mode, *size, ObjectId([0; 32])),
        (_, Some(Outcome::Gone | Outcome::Folder { .. } | Outcome::Touched(_)) | None) => return None,
    };
    Some(TreeEntry { name: folder.name(entry).to_vec(), kind, mode, size, object })
}

fn tasks(walked: &Walked, outcomes: &[Outcomes]) -> Vec<Task> {
    let mut tasks = Vec::new();
    for (folder_number, (folder, outcomes)) in walked.folders.iter().zip(outcomes).enumerate() {
        for (entry_number, (entry, outcome)) in folder.entries.iter().zip(&outcomes.entries).enumerate() {
            let size = match entry.kind {
                Kind::File(stat) => stat.size,
                Kind::Link => 0,
                Kind::Folder(_) | Kind::Unheld { .. } => continue,
            };
            let before = match outcome {
                None => None,
                Some(Outcome::Touched(before)) => Some(*before),
                Some(_) => continue,
            };
            let path = folder.path_of(entry);
            tasks.push(Task { folder: folder_number, entry: entry_number, path, size, before });
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
