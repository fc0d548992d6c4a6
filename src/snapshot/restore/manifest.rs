//! A whole tree as one flat list: what stands at each path. Read from stored directories, every name checked again.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::model::ids::{ObjectId, TreePath};
use crate::model::tree::{EntryKind, Tree, TreeEntry};
use crate::snapshot::objects::Objects;

/// Longest path, in bytes, that is read from a store: what Linux takes in one call.
const PATH_MAX_BYTES: usize = 4095;

/// In how many places of one tree the same directory may stand, if anything is in it. Directories share objects, so a
/// few kilobytes of a hostile store could name 2^1000 paths.
const PLACES_MAX: u32 = 10_000;

/// What a path stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A regular file.
    File,
    /// A symbolic link.
    Link,
    /// A directory.
    Directory,
    /// A file that was seen when the tree was captured, and not kept.
    Unheld,
}

/// What stands at one path. Two that are equal need no work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// What it is.
    pub kind: Kind,
    /// Permission bits, at most 0o777; 0 for links.
    pub mode: u32,
    /// Bytes of a file or of a link's target; 0 for directories.
    pub size: u64,
    /// Content of a file, target of a link; all zero for directories and for what is not held.
    pub object: ObjectId,
}

impl State {
    /// A directory of that mode.
    pub fn directory(mode: u32) -> State {
        State { kind: Kind::Directory, mode, size: 0, object: ObjectId([0; 32]) }
    }

    /// Whether it is a file or a link: something with bytes of its own.
    pub fn has_content(&self) -> bool {
        matches!(self.kind, Kind::File | Kind::Link)
    }

    /// Whether both are the same kind of thing with the same bytes, whatever their modes.
    pub fn same_content(&self, other: &State) -> bool {
        self.kind == other.kind && self.size == other.size && self.object == other.object
    }
}

impl From<&TreeEntry> for State {
    fn from(entry: &TreeEntry) -> State {
        let (kind, object) = match entry.kind {
            EntryKind::File => (Kind::File, entry.object),
            EntryKind::Link => (Kind::Link, entry.object),
            EntryKind::Directory => return State::directory(entry.mode),
            EntryKind::Unheld => (Kind::Unheld, ObjectId([0; 32])),
        };
        State { kind, mode: entry.mode, size: entry.size, object }
    }
}

/// All paths of a tree, the top itself left out. A directory comes before what it holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manifest {
    entries: BTreeMap<TreePath, State>,
}

impl Manifest {
    /// Reads the tree under `root`.
    ///
    /// # Errors
    /// Bad input if a directory is missing or damaged, a name is refused, or a path or the tree is too long.
    pub fn load(objects: &Objects, root: &ObjectId) -> Result<Manifest> {
        Manifest::load_from(&|id| objects.tree(id), root)
    }

    /// As [`Manifest::load`], with directories from wherever they are.
    ///
    /// # Errors
    /// As [`Manifest::load`].
    pub fn load_from(read: &dyn Fn(&ObjectId) -> Result<Tree>, root: &ObjectId) -> Result<Manifest> {
        let mut listed = Vec::new();
        let mut waiting: Vec<(Option<TreePath>, ObjectId)> = vec![(None, *root)];
        let mut seen = Seen::default();
        while let Some((folder, id)) = waiting.pop() {
            let tree = seen.tree(read, id)?;
            list(&mut listed, folder.as_ref(), &tree)?;
            for entry in tree.0.entries().iter().filter(|entry| entry.kind == EntryKind::Directory) {
                waiting.push((Some(below(folder.as_ref(), &entry.name)?), entry.object));
            }
        }
        Ok(listed.into_iter().collect())
    }

    /// Two trees, both without what is in directories that are the same in both.
    ///
    /// # Errors
    /// As [`Manifest::load`].
    pub fn load_different(
        read: &dyn Fn(&ObjectId) -> Result<Tree>,
        one: &ObjectId,
        other: &ObjectId,
    ) -> Result<(Manifest, Manifest)> {
        let mut listed = [Vec::new(), Vec::new()];
        let mut seen = [Seen::default(), Seen::default()];
        let mut waiting: Vec<(Option<TreePath>, [Option<ObjectId>; 2])> = vec![(None, [Some(*one), Some(*other)])];
        while let Some((folder, [one, other])) = waiting.pop() {
            if one == other {
                continue;
            }
            let mut inside: BTreeMap<Vec<u8>, [Option<ObjectId>; 2]> = BTreeMap::new();
            for (side, id) in [one, other].into_iter().enumerate() {
                let (Some(id), Some(listed), Some(seen)) = (id, listed.get_mut(side), seen.get_mut(side)) else {
                    continue;
                };
                let tree = seen.tree(read, id)?;
                list(listed, folder.as_ref(), &tree)?;
                for entry in tree.0.entries().iter().filter(|entry| entry.kind == EntryKind::Directory) {
                    if let Some(place) = inside.entry(entry.name.clone()).or_default().get_mut(side) {
                        *place = Some(entry.object);
                    }
                }
            }
            for (name, ids) in inside {
                waiting.push((Some(below(folder.as_ref(), &name)?), ids));
            }
        }
        let [one, other] = listed;
        Ok((one.into_iter().collect(), other.into_iter().collect()))
    }

    /// The paths of the tree `one` that are not in `other`.
    ///
    /// # Errors
    /// As [`Manifest::load`].
    pub fn only_in(read: &dyn Fn(&ObjectId) -> Result<Tree>, one: &ObjectId, other: &ObjectId) -> Result<Manifest> {
        let (mut one, other) = Manifest::load_different(read, one, other)?;
        one.retain(|path, _| other.get(path).is_none());
        Ok(one)
    }

    /// What stands at `path`.
    pub fn get(&self, path: &TreePath) -> Option<&State> {
        self.entries.get(path)
    }

    /// Puts `state` at `path`, over what is there.
    pub fn insert(&mut self, path: TreePath, state: State) {
        self.entries.insert(path, state);
    }

    /// Keeps only the paths for which `keep` says so.
    pub fn retain(&mut self, mut keep: impl FnMut(&TreePath, &State) -> bool) {
        self.entries.retain(|path, state| keep(path, state));
    }

    /// All paths, in the order of their bytes: a directory before what it holds.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&TreePath, &State)> {
        self.entries.iter()
    }
}

/// Lists what is in a folder.
fn list(
    listed: &mut Vec<(TreePath, State)>,
    folder: Option<&TreePath>,
    (tree, too_often): &(Rc<Tree>, bool),
) -> Result<()> {
    for entry in tree.entries() {
        let path = below(folder, &entry.name)?;
        // One that was too long to be kept is named, and never restored.
        let is_too_long = path.as_bytes().len() > PATH_MAX_BYTES && entry.kind != EntryKind::Unheld;
        if is_too_long || *too_often {
            return Err(Error::bad_input("the stored tree is too deep or too large to be restored")
                .in_file(&path.to_string())
                .help("highwater did not write it: run `highwater verify`"));
        }
        listed.push((path, State::from(entry)));
    }
    Ok(())
}

/// The path of a name in a folder; `None` is the top.
fn below(folder: Option<&TreePath>, name: &[u8]) -> Result<TreePath> {
    match folder {
        Some(folder) => folder.join(name),
        None => TreePath::new(name),
    }
}

/// Directories that were read, and in how many places they stand.
#[derive(Default)]
struct Seen {
    places: HashMap<[u8; 32], u32>,
    /// Those that stand in several places, so that they are not read for each.
    repeated: HashMap<[u8; 32], Rc<Tree>>,
}

impl Seen {
    /// The directory, and whether it stands in more places than one of ours that holds something.
    fn tree(&mut self, read: &dyn Fn(&ObjectId) -> Result<Tree>, id: ObjectId) -> Result<(Rc<Tree>, bool)> {
        let places = self.places.entry(id.0).or_default();
        *places = places.saturating_add(1);
        if let Some(tree) = self.repeated.get(&id.0) {
            return Ok((Rc::clone(tree), *places > PLACES_MAX));
        }
        let tree = Rc::new(read(&id)?);
        if *places > 1 {
            self.repeated.insert(id.0, Rc::clone(&tree));
        }
        Ok((tree, false))
    }
}

impl FromIterator<(TreePath, State)> for Manifest {
    fn from_iter<I: IntoIterator<Item = (TreePath, State)>>(entries: I) -> Manifest {
        Manifest { entries: entries.into_iter().collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::hash::id_of;

    /// Stored directories.
    #[derive(Default)]
    struct Stored(HashMap<[u8; 32], Tree>);

    impl Stored {
        /// Stores a directory with these names, a directory each if that is given, else a file; answers its id.
        fn add(&mut self, names: impl Iterator<Item = String>, inside: Option<ObjectId>) -> ObjectId {
            let kind = if inside.is_some() { EntryKind::Directory } else { EntryKind::File };
            let object = inside.unwrap_or(ObjectId([7; 32]));
            let entry = |name: String| TreeEntry { name: name.into_bytes(), kind, mode: 0o755, size: 0, object };
            let tree = Tree::new(names.map(entry).collect()).unwrap();
            let id = id_of(&tree.encode());
            self.0.insert(id.0, tree);
            id
        }

        fn one(&mut self, name: &str, inside: Option<ObjectId>) -> ObjectId {
            self.add(std::iter::once(name.to_owned()), inside)
        }

        /// Reads the tree both ways; how many paths it has.
        fn load(&self, root: &ObjectId) -> Result<usize> {
            let read = |id: &ObjectId| self.0.get(&id.0).cloned().ok_or_else(|| Error::bad_input("missing"));
            let whole = Manifest::load_from(&read, root);
            let nothing = Manifest::load_different(
                &|id| if id.0 == [0; 32] { Ok(Tree::default()) } else { read(id) },
                root,
                &ObjectId([0; 32]),
            );
            assert_eq!(whole.as_ref().ok(), nothing.as_ref().ok().map(|(one, _)| one));
            whole.map(|manifest| manifest.iter().count())
        }
    }

    #[test]
    fn no_path_is_longer_than_the_system_takes() {
        let path_of = |last: usize| {
            let mut stored = Stored::default();
            let mut id = stored.one(&"x".repeat(last), None);
            for _ in 0..19 {
                id = stored.one(&"d".repeat(203), Some(id));
            }
            stored.load(&id)
        };
        // Nineteen folders and as many slashes.
        let left = PATH_MAX_BYTES - 19 * 204;
        assert_eq!(path_of(left).unwrap(), 20);
        assert!(path_of(left + 1).unwrap_err().to_string().contains("too deep"));
        // A capture names what it could not keep for that reason.
        let mut stored = Stored::default();
        let entry = |name: &str, kind, object| TreeEntry { name: name.into(), kind, mode: 0o755, size: 0, object };
        let unheld = entry(&"x".repeat(left + 1), EntryKind::Unheld, ObjectId([0; 32]));
        let inner = Tree::new(vec![unheld]).unwrap();
        let mut id = id_of(&inner.encode());
        stored.0.insert(id.0, inner);
        for _ in 0..19 {
            id = stored.one(&"d".repeat(203), Some(id));
        }
        assert_eq!(stored.load(&id).unwrap(), 20);
    }

    #[test]
    fn a_directory_stands_in_so_many_places_and_an_empty_one_in_any() {
        let (most, more) = (PLACES_MAX as usize, PLACES_MAX as usize + 1);
        let mut stored = Stored::default();
        let (full, empty) = (stored.one("a", None), stored.add(std::iter::empty(), None));
        let mut often = |inside, count: usize| {
            let id = stored.add((0..count).map(|name| format!("{name:05}")), Some(inside));
            stored.load(&id)
        };
        assert_eq!(often(full, most).unwrap(), 2 * most);
        assert!(often(full, more).unwrap_err().to_string().contains("too large"));
        assert_eq!(often(empty, more).unwrap(), more);
    }
}
