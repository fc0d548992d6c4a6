//! After the steps: is the tree as it was meant to be, and did anything come out of it that no snapshot holds?

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::os::fd::AsFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use rustix::io::Errno;

use super::apply::going_on;
use super::beneath::{Beneath, Seen, look_at};
use super::folder::{self, Folder};
use super::journal::{Journal, generation_of};
use super::manifest::{Kind, Manifest, State};
use super::plan::Op;
use crate::disk;
use crate::disk::layout::Layout;
use crate::error::{Error, Result};
use crate::model::ids::{ObjectId, TreePath, escape};

/// Checks every path that the steps changed. Answers the paths that were to go and where something of somebody else's
/// stands now: they are left alone.
///
/// # Errors
/// A failure that names a path that is not as it should be: somebody is working on the tree right now.
pub fn check_result(tree: &Beneath, ops: &[Op]) -> Result<Vec<TreePath>> {
    // Where several steps concern one path, the last one says how it ends.
    let ends: BTreeMap<&TreePath, &Op> = ops.iter().map(|op| (&op.path, op)).collect();
    let ends: Vec<(&TreePath, &Op)> = ends.into_iter().collect();
    let kept: Vec<Result<Option<&TreePath>>> = ends.par_iter().map(|(path, op)| kept_at(tree, path, op)).collect();
    kept.into_iter().filter_map(|kept| kept.map(|kept| kept.cloned()).transpose()).collect()
}

/// The path, if something of somebody else's stands where a step took something away.
fn kept_at<'a>(tree: &Beneath, path: &'a TreePath, op: &Op) -> Result<Option<&'a TreePath>> {
    match (op.after, tree.look(path)?) {
        (Some(wanted), Seen::There(there)) if wanted == there => Ok(None),
        (None, Seen::Absent) => Ok(None),
        (None, Seen::There(there)) if op.before != Some(there) || there.kind == Kind::Directory => Ok(Some(path)),
        (None, Seen::Other) => Ok(Some(path)),
        _ => {
            let error = Error::failed("the work tree is changing while it is restored");
            Err(going_on(error.at(&tree.name_of(path)).because("another program wrote there just now")))
        }
    }
}

/// What the snapshots hold, so that a file that came out of the tree can be told from one that nobody has.
pub struct Held<'a> {
    manifests: [&'a Manifest; 2],
    objects: BTreeSet<ObjectId>,
}

impl<'a> Held<'a> {
    /// The tree that is given back, and the tree as it was before.
    pub fn new(target: &'a Manifest, safety: &'a Manifest) -> Held<'a> {
        let manifests = [target, safety];
        let states = manifests.iter().flat_map(|manifest| manifest.iter());
        let objects = states.filter(|(_, state)| state.has_content()).map(|(_, state)| state.object).collect();
        Held { manifests, objects }
    }

    fn holds(&self, path: Option<&TreePath>, state: &State) -> bool {
        match path {
            Some(path) => {
                self.manifests.iter().any(|manifest| manifest.get(path).is_some_and(|held| held.same_content(state)))
            }
            None => self.objects.contains(&state.object),
        }
    }
}

/// Moves whatever came out of the tree and is in no snapshot from stage and trash to `rescued/`. The rest may go.
///
/// # Errors
/// A failure that names the file.
pub fn rescue(folder: &Folder, journal: Option<&Journal>, held: &Held) -> Result<()> {
    let paths: BTreeMap<String, &TreePath> = journal
        .map(|journal| journal.ops.iter().enumerate().map(|(index, op)| (journal.name_of(index), &op.path)).collect())
        .unwrap_or_default();
    for place in [folder.trash(), folder.stage()] {
        let names = disk::list(&place)?;
        if names.is_empty() {
            continue;
        }
        let open = folder::open(&place)?;
        let looks: Vec<_> = names.par_iter().map(|name| look_at(open.as_fd(), name.as_bytes())).collect();
        for (name, seen) in names.into_iter().zip(looks) {
            let from = place.join(&name);
            let seen = seen.map_err(|error| Error::io("read", &from, &error.into()))?;
            let path = name.to_str().and_then(|name| paths.get(name)).copied();
            let is_held = seen.state().is_some_and(|state| held.holds(path, &state));
            if !is_held && seen != Seen::Absent {
                let own = path.map_or_else(|| PathBuf::from(&name), |path| PathBuf::from(os_name(path)));
                move_to_rescued(folder, &from, &own, &name)?;
            }
        }
    }
    Ok(())
}

/// Removes what was staged for steps that no journal ever named: it is ours, half written perhaps, and was never used.
///
/// # Errors
/// A failure that names the file.
pub fn discard_unnamed(folder: &Folder, journal: &Journal) -> Result<()> {
    let stage = folder.stage();
    let names = disk::list(&stage)?;
    let unnamed = names.iter().filter(|name| generation_of(name) > Some(journal.generation));
    unnamed.map(|name| stage.join(name)).try_for_each(|path| folder::unlink(&path))
}

/// Under its own path; in a folder of its own if that is taken; under the name that it has if its path is too long.
fn move_to_rescued(folder: &Folder, from: &Path, own: &Path, name: &OsString) -> Result<()> {
    let mut other = folder.rescued().into_os_string();
    other.push("-");
    other.push(name);
    let other = PathBuf::from(other);
    for to in [folder.rescued().join(own), other.join(own), other.join(name)] {
        let Some(parent) = to.parent() else { continue };
        if disk::make_directory(parent).is_err() {
            continue;
        }
        match disk::rename_if_free(from, &to) {
            Ok(()) => return disk::sync_directory(parent).map(|_| ()),
            Err(Errno::EXIST | Errno::ISDIR | Errno::NOTDIR | Errno::NOTEMPTY | Errno::NAMETOOLONG) => {}
            Err(error) => return Err(going_on(Error::io("rescue", &to, &error.into()))),
        }
    }
    Err(going_on(Error::failed("cannot rescue a changed file").at(from)))
}

/// The path's bytes as a name of the system.
fn os_name(path: &TreePath) -> OsString {
    OsString::from_vec(path.as_bytes().to_vec())
}

/// The folders of rescued files, the newest last, each with the paths of the files in it.
///
/// # Errors
/// A failure that names a folder.
pub fn rescued(layout: &Layout, number: u64) -> Result<Vec<(PathBuf, Vec<TreePath>)>> {
    let dir = layout.restore_dir(number);
    let mut folders = Vec::new();
    for name in disk::list(&dir)? {
        if name.as_bytes() == b"rescued" || name.as_bytes().starts_with(b"rescued-") {
            let folder = dir.join(name);
            let paths = files_below(&folder)?;
            folders.push((folder, paths));
        }
    }
    Ok(folders)
}

/// Where rescued files lie, from the root of the work tree, written as their paths are.
pub fn places(layout: &Layout, rescued: &[(PathBuf, Vec<TreePath>)]) -> Vec<String> {
    let below = |folder: &Path| escape(folder.strip_prefix(layout.root()).unwrap_or(folder).as_os_str().as_bytes());
    let places = rescued.iter().flat_map(|(folder, paths)| paths.iter().map(move |path| (below(folder), path)));
    places.map(|(folder, path)| format!("{folder}/{path}")).collect()
}

fn files_below(top: &Path) -> Result<Vec<TreePath>> {
    let mut files = Vec::new();
    let mut waiting = vec![None::<TreePath>];
    while let Some(folder) = waiting.pop() {
        let dir = folder.as_ref().map_or_else(|| top.to_path_buf(), |path| top.join(os_name(path)));
        for name in disk::list(&dir)? {
            let path = match &folder {
                Some(folder) => folder.join(name.as_bytes())?,
                None => TreePath::new(name.as_bytes())?,
            };
            match disk::metadata(&dir.join(&name))? {
                Some(meta) if meta.is_dir() => waiting.push(Some(path)),
                Some(_) => files.push(path),
                None => {}
            }
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::hash::id_of;
    use crate::disk::tests_support::make_fifo;
    use crate::snapshot::restore::journal::{Direction, RestoreRecord};
    use crate::snapshot::restore::plan::Action;

    fn file(content: &[u8]) -> State {
        State { kind: Kind::File, mode: 0o644, size: content.len() as u64, object: id_of(content) }
    }

    #[test]
    fn what_is_not_as_it_should_be_is_told_and_what_came_meanwhile_is_kept() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let tree = Beneath::open(dir.path()).unwrap();
        let path = TreePath::new("a").unwrap();
        let check = |before: Option<State>, after: Option<State>| {
            let op = Op { action: Action::Replace, path: path.clone(), before, after };
            check_result(&tree, &[op]).map(|kept| kept.len())
        };
        let (old, new) = (file(b"old"), file(b"new"));
        assert!(check(None, Some(new)).is_err(), "it is not there");
        assert_eq!(check(Some(old), None).unwrap(), 0);
        std::fs::write(tree.path().join("a"), "new").unwrap();
        std::fs::set_permissions(tree.path().join("a"), std::fs::Permissions::from_mode(0o644)).unwrap();
        assert_eq!(check(Some(old), Some(new)).unwrap(), 0);
        assert!(check(Some(old), Some(old)).is_err(), "it has another content");
        assert!(check(None, Some(State { mode: 0o600, ..new })).is_err(), "it has another mode");
        assert!(check(Some(new), None).is_err(), "it is still there");
        assert_eq!(check(Some(old), None).unwrap(), 1, "it is somebody else's");
        std::fs::remove_file(tree.path().join("a")).unwrap();
        make_fifo(&tree.path().join("a"));
        assert_eq!(check(Some(old), None).unwrap(), 1, "no snapshot can hold it");
        assert!(check(Some(old), Some(new)).is_err());
    }

    #[test]
    fn no_rescued_file_takes_the_place_of_another() {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::new(dir.path());
        let folder = Folder::make_next(&layout).unwrap();
        let at = |name: &str| layout.restore_dir(1).join(name);
        let write = |name: &str, text: &str| {
            std::fs::create_dir_all(at(name).parent().unwrap()).unwrap();
            std::fs::write(at(name), text).unwrap();
        };
        let (same, below) = (TreePath::new("same").unwrap(), TreePath::new("file/below").unwrap());
        let record = RestoreRecord {
            schema_version: 1,
            number: 1,
            origin: None,
            target: ObjectId([1; 32]),
            safety: ObjectId([2; 32]),
            paths: Vec::new(),
            undoes: None,
            at: chrono::DateTime::UNIX_EPOCH,
            blake3: None,
        };
        let step = |path| Op { action: Action::Remove, path, before: None, after: None };
        let ops = vec![step(same), step(below)];
        let journal = Journal { schema_version: 1, direction: Direction::Forward, generation: 0, record, ops };
        for (name, text) in [("rescued/same", "1"), ("rescued/file", "2"), ("trash/0-0", "3"), ("trash/0-1", "4")] {
            write(name, text);
        }
        let nothing = Manifest::default();
        rescue(&folder, Some(&journal), &Held::new(&nothing, &nothing)).unwrap();
        let texts = ["rescued/same", "rescued/file", "rescued-0-0/same", "rescued-0-1/file/below"];
        assert_eq!(texts.map(|name| std::fs::read_to_string(at(name)).unwrap()), ["1", "2", "3", "4"]);
        let found = rescued(&layout, 1).unwrap();
        let told: Vec<(PathBuf, usize)> = found.into_iter().map(|(folder, paths)| (folder, paths.len())).collect();
        assert_eq!(told, [(at("rescued"), 2), (at("rescued-0-0"), 1), (at("rescued-0-1"), 1)]);
        let places = ["rescued/file", "rescued/same", "rescued-0-0/same", "rescued-0-1/file/below"];
        let places = places.map(|place| format!(".progress/restores/1/{place}"));
        assert_eq!(super::places(&layout, &rescued(&layout, 1).unwrap()), places);
    }

    #[test]
    fn the_same_bytes_of_another_kind_are_not_held() {
        let path = TreePath::new("a").unwrap();
        let mut target = Manifest::default();
        target.insert(path.clone(), file(b"x"));
        let safety = Manifest::default();
        let held = Held::new(&target, &safety);
        assert!(held.holds(Some(&path), &State { mode: 0o600, ..file(b"x") }));
        assert!(!held.holds(Some(&path), &State { kind: Kind::Link, ..file(b"x") }));
        assert!(!held.holds(Some(&path), &file(b"y")));
        assert!(!held.holds(Some(&TreePath::new("b").unwrap()), &file(b"x")));
        assert!(held.holds(None, &file(b"x")) && !held.holds(None, &file(b"y")));
    }
}
