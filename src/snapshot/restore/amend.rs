//! Trees that differ from a stored one in a few paths: files that a capture leaves out, and files that were rescued.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;

use rustix::fs::{Mode, OFlags};

use super::beneath::{Beneath, Seen, last_name};
use super::manifest::{Kind, Manifest, State};
use crate::disk::layout::Layout;
use crate::error::{Error, Result};
use crate::model::ids::{ObjectId, TreePath};
use crate::model::tree::{EntryKind, Tree, TreeEntry};
use crate::snapshot::objects::Objects;
use crate::snapshot::pack::PackWriter;

/// Mode of directories that have to be made up because what is put into the tree lies in them.
const NEW_DIRECTORY_MODE: u32 = 0o755;

/// Stores the tree `base` with the files, links and directories that stand at `paths` below `source` put into it, and
/// answers its root. A path that would have to take the place of a directory, or lies below a file, is left out.
///
/// # Errors
/// A failure if something cannot be read or stored.
pub fn amend(
    layout: &Layout,
    objects: &Objects,
    base: &Manifest,
    source: &Beneath,
    paths: impl Iterator<Item = TreePath>,
) -> Result<ObjectId> {
    let mut pack = PackWriter::new(layout);
    let mut manifest = base.clone();
    for path in paths.filter(|path| fits(base, path)) {
        let Seen::There(state) = source.look(&path)? else { continue };
        let state = match state.kind {
            Kind::File => store_file(&mut pack, source, &path, state)?,
            Kind::Link => store_link(&mut pack, source, &path, state)?,
            Kind::Directory | Kind::Unheld => state,
        };
        add_parents(&mut manifest, &path);
        manifest.insert(path, state);
    }
    let root = store_directories(&mut pack, objects, &manifest)?;
    pack.finish()?;
    Ok(root)
}

fn fits(base: &Manifest, path: &TreePath) -> bool {
    let is_directory = |path: &TreePath| base.get(path).is_some_and(|state| state.kind == Kind::Directory);
    let mut above = std::iter::successors(path.parent(), TreePath::parent);
    !is_directory(path) && above.all(|folder| base.get(&folder).is_none() || is_directory(&folder))
}

fn add_parents(manifest: &mut Manifest, path: &TreePath) {
    for folder in std::iter::successors(path.parent(), TreePath::parent) {
        if manifest.get(&folder).is_none() {
            manifest.insert(folder, State::directory(NEW_DIRECTORY_MODE));
        }
    }
}

/// Counts what is read through it.
struct Counted {
    file: File,
    bytes: u64,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.bytes = self.bytes.saturating_add(u64::try_from(count).unwrap_or_default());
        Ok(count)
    }
}

fn store_file(pack: &mut PackWriter, source: &Beneath, path: &TreePath, state: State) -> Result<State> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let open = source.holder(path).and_then(|holder| rustix::fs::openat(holder, last_name(path), flags, Mode::empty()));
    let file = File::from(open.map_err(|error| source.failed("read", path, error))?);
    let mut reader = Counted { file, bytes: 0 };
    let object = pack.add_reader(&mut reader)?;
    Ok(State { object, size: reader.bytes, ..state })
}

fn store_link(pack: &mut PackWriter, source: &Beneath, path: &TreePath, state: State) -> Result<State> {
    let read = source.holder(path).and_then(|holder| rustix::fs::readlinkat(holder, last_name(path), Vec::new()));
    let target = read.map_err(|error| source.failed("read", path, error))?.into_bytes();
    let size = u64::try_from(target.len()).unwrap_or(u64::MAX);
    Ok(State { object: pack.add(&target)?, size, ..state })
}

/// Stores the directories of a manifest that are not stored yet, and answers the root.
fn store_directories(pack: &mut PackWriter, objects: &Objects, manifest: &Manifest) -> Result<ObjectId> {
    let mut held: BTreeMap<Option<TreePath>, Vec<TreeEntry>> = BTreeMap::new();
    let mut store = |entries: Vec<TreeEntry>| -> Result<ObjectId> {
        let bytes = Tree::new(entries)?.encode();
        let id = crate::disk::hash::id_of(&bytes);
        if objects.has(&id) { Ok(id) } else { pack.add(&bytes) }
    };
    // Backwards, a directory comes after all that it holds.
    for (path, state) in manifest.iter().rev() {
        let (kind, object) = match state.kind {
            Kind::File => (EntryKind::File, state.object),
            Kind::Link => (EntryKind::Link, state.object),
            Kind::Unheld => (EntryKind::Unheld, state.object),
            Kind::Directory => (EntryKind::Directory, store(held.remove(&Some(path.clone())).unwrap_or_default())?),
        };
        let entry = TreeEntry { name: last_name(path).to_vec(), kind, mode: state.mode, size: state.size, object };
        held.entry(path.parent()).or_default().push(entry);
    }
    let root = store(held.remove(&None).unwrap_or_default())?;
    match held.keys().next().and_then(Option::as_ref) {
        None => Ok(root),
        Some(lost) => Err(Error::bug("a path of a tree lies in no directory").in_file(&lost.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::hash::id_of;

    #[test]
    fn what_is_put_into_a_tree_brings_its_folders_and_displaces_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::new(dir.path());
        for (name, text) in [("a/b/new", "new"), ("file/below", "x"), ("folder", "x")] {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let path = |name: &str| TreePath::new(name).unwrap();
        let objects = Objects::open(&layout).unwrap();
        let mut base = Manifest::default();
        let file = State { kind: Kind::File, mode: 0o644, size: 1, object: id_of(b"x") };
        base.insert(path("file"), file);
        base.insert(path("folder"), State::directory(0o700));
        let names = ["a/b/new", "absent", "file/below", "folder"].map(path);
        let source = Beneath::open(dir.path()).unwrap();
        let root = amend(&layout, &objects, &base, &source, names.into_iter()).unwrap();
        let amended = Manifest::load(&Objects::open(&layout).unwrap(), &root).unwrap();
        for (name, mode) in [("a", NEW_DIRECTORY_MODE), ("a/b", NEW_DIRECTORY_MODE), ("folder", 0o700)] {
            assert_eq!(amended.get(&path(name)), Some(&State::directory(mode)), "{name}");
        }
        assert_eq!(amended.get(&path("file")), Some(&file));
        let new = amended.get(&path("a/b/new")).unwrap();
        assert_eq!((new.kind, new.size, new.object), (Kind::File, 3, id_of(b"new")));
        assert_eq!(amended.iter().count(), 5);
    }
}
