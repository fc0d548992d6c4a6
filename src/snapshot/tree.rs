//! Stored directories: what differs between two, which files are in one, and what one would be without some files.

use std::collections::HashMap;

use super::objects::{Objects, id_of};
use crate::error::{Error, Result};
use crate::model::ids::{ObjectId, TreePath};
use crate::model::tree::{EntryKind, Tree, TreeEntry};

/// Entries of one snapshot. More can only be a hostile store, whose directories hold each other many times over: a few
/// kilobytes of it name more paths than anybody waits for. Tests do not wait either.
const MAX_ENTRIES: u64 = if cfg!(test) { 20_000 } else { 10_000_000 };

/// Counts the entries that are met on the way through a snapshot, or through two beside each other.
#[derive(Debug, Default)]
pub(super) struct Met(u64);

impl Met {
    /// Takes in one more.
    ///
    /// # Errors
    /// Bad input if no work tree has so many.
    pub(super) fn one(&mut self) -> Result<()> {
        self.0 += 1;
        if self.0 <= MAX_ENTRIES {
            return Ok(());
        }
        Err(Error::bad_input("stored tree is larger than any work tree").help("run `highwater verify`"))
    }
}

/// What became of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// It is new.
    Added,
    /// It is gone.
    Removed,
    /// Its content is another, and perhaps its mode.
    Modified,
    /// Only its permission bits are others.
    ModeChanged,
    /// It became a file, a link or a directory and was something else.
    TypeChanged,
}

/// One path that differs between two snapshots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Where.
    pub path: TreePath,
    /// What.
    pub kind: ChangeKind,
}

/// What differs between snapshots `a` (before) and `b` (after), sorted by the paths' bytes. Directories are entered only
/// where their ids differ. A directory itself is named if its mode changed, if its kind did, or if it came or went empty.
///
/// # Errors
/// Bad input that names the pack if a directory is missing or damaged.
pub fn diff(objects: &Objects, a: &ObjectId, b: &ObjectId) -> Result<Vec<Change>> {
    let mut changes = Vec::new();
    each_pair(objects, a, b, |path, old, new| {
        if let Some(kind) = change_of(objects, old, new)? {
            changes.push(Change { path: TreePath::new(path)?, kind });
        }
        Ok(())
    })?;
    changes.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(changes)
}

/// Every path of either snapshot, with what each has there. Directories are entered only where their ids differ.
pub(super) fn each_pair(
    objects: &Objects,
    a: &ObjectId,
    b: &ObjectId,
    mut visit: impl FnMut(&[u8], Option<&TreeEntry>, Option<&TreeEntry>) -> Result<()>,
) -> Result<()> {
    let mut met = Met::default();
    let mut waiting = vec![(Vec::new(), Some(*a), Some(*b))];
    while let Some((folder, before, after)) = waiting.pop() {
        if before == after {
            continue;
        }
        let (before, after) = (tree_or_empty(objects, before)?, tree_or_empty(objects, after)?);
        for (old, new) in pairs(&before, &after) {
            met.one()?;
            let Some(name) = old.or(new).map(|entry| entry.name.as_slice()) else { continue };
            let path = super::walk::join(&folder, name);
            visit(&path, old, new)?;
            let [old, new] = [old, new].map(|entry| object_of(entry, EntryKind::Directory));
            if old.is_some() || new.is_some() {
                waiting.push((path, old, new));
            }
        }
    }
    Ok(())
}

/// The object of an entry that is of this kind.
pub(super) fn object_of(entry: Option<&TreeEntry>, kind: EntryKind) -> Option<ObjectId> {
    entry.filter(|entry| entry.kind == kind).map(|entry| entry.object)
}

fn tree_or_empty(objects: &Objects, id: Option<ObjectId>) -> Result<Tree> {
    id.map_or_else(|| Ok(Tree::default()), |id| objects.tree(&id))
}

/// Entries of the same name beside each other.
fn pairs<'a>(before: &'a Tree, after: &'a Tree) -> Vec<(Option<&'a TreeEntry>, Option<&'a TreeEntry>)> {
    let mut pairs: Vec<_> = before.entries().iter().map(|old| (Some(old), after.get(&old.name))).collect();
    let added = after.entries().iter().filter(|new| before.get(&new.name).is_none());
    pairs.extend(added.map(|new| (None, Some(new))));
    pairs
}

/// What became of one name; `None` if nothing is to be told of it.
fn change_of(objects: &Objects, old: Option<&TreeEntry>, new: Option<&TreeEntry>) -> Result<Option<ChangeKind>> {
    // Directories that come or go are told by what is in them, and by themselves only if that is nothing.
    let is_told = |entry: &TreeEntry| -> Result<bool> {
        Ok(entry.kind != EntryKind::Directory || objects.tree(&entry.object)?.entries().is_empty())
    };
    let (old, new) = match (old, new) {
        (Some(old), Some(new)) => (old, new),
        (Some(old), None) => return Ok(is_told(old)?.then_some(ChangeKind::Removed)),
        (None, Some(new)) => return Ok(is_told(new)?.then_some(ChangeKind::Added)),
        (None, None) => return Ok(None),
    };
    // A file that could not be kept is still a file.
    let sort = |kind: EntryKind| if kind == EntryKind::Unheld { EntryKind::File } else { kind };
    if sort(old.kind) != sort(new.kind) {
        return Ok(Some(ChangeKind::TypeChanged));
    }
    let is_directory = old.kind == EntryKind::Directory;
    if !is_directory && (old.kind, old.object, old.size) != (new.kind, new.object, new.size) {
        return Ok(Some(ChangeKind::Modified));
    }
    Ok((old.mode != new.mode).then_some(ChangeKind::ModeChanged))
}

/// The files, links and unheld files of a snapshot, each with its path. The order is that of names within each
/// directory, files before what is in directories.
///
/// # Errors
/// Bad input that names the pack if the root is missing or damaged; the iterator answers it for what is below.
pub fn files(objects: &Objects, root: &ObjectId) -> Result<impl Iterator<Item = Result<(TreePath, TreeEntry)>>> {
    let all = entries_below(objects, root)?;
    Ok(all.filter(|entry| !matches!(entry, Ok((_, entry)) if entry.kind == EntryKind::Directory)))
}

/// As [`files`], with directories, each before what is in it.
///
/// # Errors
/// As [`files`].
pub fn entries_below<'a>(objects: &'a Objects, root: &ObjectId) -> Result<Entries<'a>> {
    let tree = objects.tree(root)?;
    Ok(Entries { objects, ready: in_folder(&[], &tree), waiting: Vec::new(), met: Met::default(), is_over: false })
}

/// Iterates over the entries of a snapshot: see [`entries_below`].
#[derive(Debug)]
pub struct Entries<'a> {
    objects: &'a Objects,
    /// Of the folder that is being passed, last first.
    ready: Vec<(Vec<u8>, TreeEntry)>,
    /// Folders that are still to be entered.
    waiting: Vec<(Vec<u8>, ObjectId)>,
    met: Met,
    is_over: bool,
}

fn in_folder(folder: &[u8], tree: &Tree) -> Vec<(Vec<u8>, TreeEntry)> {
    let entries = tree.entries().iter().rev();
    entries.map(|entry| (super::walk::join(folder, &entry.name), entry.clone())).collect()
}

impl Iterator for Entries<'_> {
    type Item = Result<(TreePath, TreeEntry)>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let next = self.advance().transpose();
        // After an error there is nothing that could be relied on.
        self.is_over = !matches!(next, Some(Ok(_)));
        next
    }
}

impl Entries<'_> {
    fn advance(&mut self) -> Result<Option<(TreePath, TreeEntry)>> {
        while self.ready.is_empty() {
            let Some((folder, id)) = self.waiting.pop() else { return Ok(None) };
            self.ready = in_folder(&folder, &self.objects.tree(&id)?);
        }
        let Some((path, entry)) = self.ready.pop() else { return Ok(None) };
        self.met.one()?;
        if entry.kind == EntryKind::Directory {
            self.waiting.push((path.clone(), entry.object));
        }
        Ok(Some((TreePath::new(path)?, entry)))
    }
}

/// The id that the snapshot would have if those files were absent, and with them the directories that become empty by
/// it. Nothing is stored.
///
/// # Errors
/// Bad input that names the pack if a directory is missing or damaged.
pub fn without(objects: &Objects, root: &ObjectId, paths: &[TreePath]) -> Result<ObjectId> {
    without_in(&|id| objects.tree(id), root, paths)
}

/// As [`without`], with directories from wherever they are.
pub(super) fn without_in(
    tree: &dyn Fn(&ObjectId) -> Result<Tree>,
    root: &ObjectId,
    paths: &[TreePath],
) -> Result<ObjectId> {
    let mut folders = folders_of(paths);
    // The innermost come first, so that a folder knows what became of those in it.
    let mut order: Vec<Vec<u8>> = folders.keys().cloned().collect();
    order.sort_by_key(|folder| std::cmp::Reverse(depth(folder)));
    let mut changed: HashMap<Vec<u8>, Option<TreeEntry>> = HashMap::new();
    for folder in order {
        let Some(names) = folders.remove(&folder) else { continue };
        let Some(id) = directory_at(tree, root, &folder)? else { continue };
        let before = tree(&id)?;
        let mut entries = Vec::new();
        for entry in before.entries() {
            let path = super::walk::join(&folder, &entry.name);
            match changed.remove(&path) {
                Some(replaced) => entries.extend(replaced),
                None if entry.kind != EntryKind::Directory && names.contains(&entry.name) => {}
                None => entries.push(entry.clone()),
            }
        }
        let became_empty = entries.is_empty() && !before.entries().is_empty();
        let id = id_of(&Tree::new(entries)?.encode());
        if folder.is_empty() {
            return Ok(id);
        }
        let kept = entry_at(tree, root, &folder)?.filter(|_| !became_empty);
        changed.insert(folder, kept.map(|entry| TreeEntry { object: id, ..entry }));
    }
    Ok(*root)
}

/// The folders around those paths, the top among them, each with the names in it that are to go.
fn folders_of(paths: &[TreePath]) -> HashMap<Vec<u8>, Vec<Vec<u8>>> {
    let mut folders: HashMap<Vec<u8>, Vec<Vec<u8>>> = HashMap::new();
    for path in paths {
        let (mut folder, name) = split(path.as_bytes());
        folders.entry(folder.to_vec()).or_default().push(name.to_vec());
        while !folder.is_empty() {
            folder = split(folder).0;
            folders.entry(folder.to_vec()).or_default();
        }
    }
    folders
}

fn depth(folder: &[u8]) -> usize {
    if folder.is_empty() { 0 } else { 1 + folder.iter().filter(|byte| **byte == b'/').count() }
}

/// The folder of a path, empty at the top, and its last name.
pub(super) fn split(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(slash) => (path.get(..slash).unwrap_or_default(), path.get(slash + 1..).unwrap_or_default()),
        None => (&[], path),
    }
}

fn entry_at(tree: &dyn Fn(&ObjectId) -> Result<Tree>, root: &ObjectId, path: &[u8]) -> Result<Option<TreeEntry>> {
    let (folder, name) = split(path);
    match directory_at(tree, root, folder)? {
        Some(id) => Ok(tree(&id)?.get(name).cloned()),
        None => Ok(None),
    }
}

fn directory_at(tree: &dyn Fn(&ObjectId) -> Result<Tree>, root: &ObjectId, path: &[u8]) -> Result<Option<ObjectId>> {
    let mut id = *root;
    for name in path.split(|byte| *byte == b'/').filter(|name| !name.is_empty()) {
        match tree(&id)?.get(name) {
            Some(entry) if entry.kind == EntryKind::Directory => id = entry.object,
            _ => return Ok(None),
        }
    }
    Ok(Some(id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::layout::Layout;
    use crate::snapshot::lines::changed_lines;
    use crate::snapshot::pack::PackWriter;

    /// Paths → a stored snapshot; a path that ends in `/` is an empty directory, `path=text` has that content.
    fn snapshot(writer: &mut PackWriter, paths: &[&str]) -> ObjectId {
        let mut entries: Vec<TreeEntry> = Vec::new();
        let mut folders: std::collections::BTreeMap<String, Vec<String>> = std::collections::BTreeMap::new();
        for path in paths {
            match path.split_once('/') {
                Some((folder, rest)) => folders.entry(folder.to_owned()).or_default().push(rest.to_owned()),
                None if path.is_empty() => {}
                None => {
                    let (name, content) = path.split_once('=').unwrap_or((path, "x"));
                    let (name, mode) = name.strip_suffix('*').map_or((name, 0o644), |name| (name, 0o755));
                    let (kind, content) =
                        content.strip_prefix("->").map_or((EntryKind::File, content), |to| (EntryKind::Link, to));
                    let object = writer.add(content.as_bytes()).unwrap();
                    let size = content.len() as u64;
                    entries.push(TreeEntry { name: name.into(), kind, mode, size, object });
                }
            }
        }
        for (name, inside) in folders {
            let inside: Vec<&str> = inside.iter().map(String::as_str).collect();
            let object = snapshot(writer, &inside);
            entries.push(TreeEntry { name: name.into(), kind: EntryKind::Directory, mode: 0o755, size: 0, object });
        }
        writer.add(&Tree::new(entries).unwrap().encode()).unwrap()
    }

    fn stored(snapshots: &[&[&str]]) -> (tempfile::TempDir, Objects, Vec<ObjectId>) {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::new(dir.path());
        let mut writer = PackWriter::new(&layout);
        let ids = snapshots.iter().map(|paths| snapshot(&mut writer, paths)).collect();
        writer.finish().unwrap();
        let objects = Objects::open(&layout).unwrap();
        (dir, objects, ids)
    }

    #[test]
    fn differences_are_named_by_path_and_kind() {
        let before = ["same/deep/a", "gone", "edited=1", "mode", "swap=text", "folder/x", "empty/", "link=->a"];
        let after = ["same/deep/a", "new/in/here", "edited=2", "mode*", "swap/y", "folder=file", "bare/", "link=->b"];
        let (_dir, objects, ids) = stored(&[&before, &after]);
        let changes = diff(&objects, &ids[0], &ids[1]).unwrap();
        let told: Vec<String> = changes.iter().map(|change| format!("{} {:?}", change.path, change.kind)).collect();
        assert_eq!(
            told,
            [
                "bare Added",
                "edited Modified",
                "empty Removed",
                "folder TypeChanged",
                "folder/x Removed",
                "gone Removed",
                "link Modified",
                "mode ModeChanged",
                "new/in/here Added",
                "swap TypeChanged",
                "swap/y Added",
            ]
        );
        assert!(diff(&objects, &ids[0], &ids[0]).unwrap().is_empty());
    }

    #[test]
    fn every_file_is_met_once() {
        let (_dir, objects, ids) = stored(&[&["b/c/d", "b/a", "a", "e/", "z=->a"]]);
        let paths: Vec<String> = files(&objects, &ids[0]).unwrap().map(|entry| entry.unwrap().0.to_string()).collect();
        assert_eq!(paths, ["a", "z", "b/a", "b/c/d"]);
        assert_eq!(entries_below(&objects, &ids[0]).unwrap().count(), 7);
    }

    #[test]
    fn a_missing_directory_ends_the_iteration_with_its_error() {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::new(dir.path());
        let mut writer = PackWriter::new(&layout);
        let lost = TreeEntry {
            name: b"lost".to_vec(),
            kind: EntryKind::Directory,
            mode: 0o755,
            size: 0,
            object: ObjectId([9; 32]),
        };
        let root = writer.add(&Tree::new(vec![lost]).unwrap().encode()).unwrap();
        writer.finish().unwrap();
        let objects = Objects::open(&layout).unwrap();
        let all: Vec<_> = entries_below(&objects, &root).unwrap().collect();
        assert_eq!(all.len(), 2);
        assert!(all[1].as_ref().unwrap_err().to_string().contains("missing"));
    }

    // PROMISES N4: directories that hold each other twice, and again, name 2^40 paths.
    #[test]
    fn a_small_store_that_names_endless_paths_ends_with_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::new(dir.path());
        let mut writer = PackWriter::new(&layout);
        let mut root = snapshot(&mut writer, &["file"]);
        for _ in 0..40 {
            let entry = |name: &str| TreeEntry {
                name: name.into(),
                kind: EntryKind::Directory,
                mode: 0o755,
                size: 0,
                object: root,
            };
            root = writer.add(&Tree::new(vec![entry("a"), entry("b")]).unwrap().encode()).unwrap();
        }
        let empty = writer.add(&Tree::default().encode()).unwrap();
        writer.finish().unwrap();
        let objects = Objects::open(&layout).unwrap();
        let too_large = |error: Error| error.to_string().contains("larger than any work tree");
        assert!(too_large(diff(&objects, &empty, &root).unwrap_err()));
        assert!(too_large(diff(&objects, &root, &empty).unwrap_err()));
        assert!(too_large(changed_lines(&objects, &empty, &root, &[]).unwrap_err()));
        let mut all: Vec<_> = entries_below(&objects, &root).unwrap().collect();
        assert!(too_large(all.pop().unwrap().unwrap_err()));
        assert_eq!(all.len() as u64, MAX_ENTRIES);
    }

    #[test]
    fn leaving_files_out_is_as_if_they_had_never_been() {
        let full = ["src/a", "reports/deep/cov.xml", "reports/junit.xml", "lib/out.xml", "lib/b", "empty/", "top.xml"];
        let bare = ["src/a", "lib/b", "empty/"];
        let (_dir, objects, ids) = stored(&[&full, &bare, &["reports/deep/x", "reports/deep/cov.xml"], &["a"], &[]]);
        let paths =
            |names: &[&str]| -> Vec<TreePath> { names.iter().map(|name| TreePath::new(*name).unwrap()).collect() };
        let left = paths(&["reports/junit.xml", "reports/deep/cov.xml", "lib/out.xml", "top.xml", "not/there", "src"]);
        assert_eq!(without(&objects, &ids[0], &left).unwrap(), ids[1]);
        assert_eq!(without(&objects, &ids[1], &left).unwrap(), ids[1]);
        assert_eq!(without(&objects, &ids[1], &[]).unwrap(), ids[1]);
        assert_ne!(without(&objects, &ids[2], &left).unwrap(), ids[2]);
        assert_eq!(without(&objects, &ids[3], &paths(&["a"])).unwrap(), ids[4]);
    }

    #[test]
    fn lines_count_of_texts_that_are_not_left_out() {
        let (_dir, objects, ids) = stored(&[&["a=1\n"], &["a=1\n2\n", "b=\0\n\n", "c=3\n4\n", "l=->a"]]);
        let insertions = |left_out: &[TreePath]| {
            let changes = changed_lines(&objects, &ids[0], &ids[1], left_out).unwrap();
            assert_eq!(changes.deletions, 0);
            changes.insertions
        };
        assert_eq!((insertions(&[]), insertions(&[TreePath::new("c").unwrap()])), (3, 1));
    }
}
