//! What only the disk knows, asked before the first change: may we write here, is it one file system, is there room,
//! and does anything stand in the way that no snapshot holds.

use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use rustix::fs::{Access, AtFlags, Dir, Mode, StatVfs};
use rustix::io::Errno;
use rustix::process::Uid;

use super::beneath::{Beneath, Seen, last_name};
use super::manifest::{Kind, Manifest, State};
use super::plan::{Action, Op, Plan, Scope, in_the_way};
use crate::error::{Error, Result};
use crate::model::ids::{TreePath, escape};

/// Room that a restore needs beside the files themselves, bytes: directories, journal, record.
const ROOM_TO_WORK: u64 = 1 << 20;

/// Whether the plan can be carried out in this work tree. `store` is a directory on the store's file system.
///
/// # Errors
/// Bad input that names the first path in the way; a failure if there is no room or the disk says no.
pub fn check(tree: &Beneath, plan: &Plan, found: &Manifest, store: BorrowedFd<'_>) -> Result<()> {
    check_folders(tree, plan)?;
    check_swapped_directories(tree, plan, found)?;
    check_what_goes(tree, plan, rustix::process::geteuid())?;
    let stat = rustix::fs::fstatvfs(store)
        .map_err(|error| Error::io("look at the file system", tree.path(), &error.into()))?;
    check_room(tree.path(), plan, &stat)
}

/// Directories whose entries change can be reached, are on our file system and can be written.
fn check_folders(tree: &Beneath, plan: &Plan) -> Result<()> {
    let made = paths_of(plan, Action::MakeDirectory);
    let opens = |op: &&Op| op.action == Action::Chmod && op.after.is_some_and(|state| state.mode & 0o300 == 0o300);
    let opened: BTreeSet<&TreePath> = plan.ops.iter().filter(opens).map(|op| &op.path).collect();
    let changing = plan.ops.iter().filter(|op| op.action != Action::Chmod);
    let folders: BTreeSet<Option<TreePath>> = changing.map(|op| op.path.parent()).collect();
    for folder in folders {
        if folder.as_ref().is_some_and(|path| made.contains(path)) {
            continue;
        }
        let open = tree.directory(folder.as_ref()).map_err(|error| unreachable_folder(tree, folder.as_ref(), error))?;
        if is_marked(open.as_fd(), b".") {
            return Err(marked(folder.as_ref()));
        }
        if folder.as_ref().is_some_and(|path| opened.contains(path)) {
            continue;
        }
        match rustix::fs::accessat(&open, c".", Access::WRITE_OK | Access::EXEC_OK, AtFlags::empty()) {
            Ok(()) => {}
            Err(Errno::ACCESS | Errno::PERM) => return Err(read_only(folder.as_ref())),
            Err(error) => return Err(unreachable_folder(tree, folder.as_ref(), error)),
        }
    }
    Ok(())
}

fn paths_of(plan: &Plan, action: Action) -> BTreeSet<&TreePath> {
    plan.ops.iter().filter(|op| op.action == action).map(|op| &op.path).collect()
}

fn unreachable_folder(tree: &Beneath, folder: Option<&TreePath>, error: Errno) -> Error {
    let Some(folder) = folder else {
        return Error::failed("cannot write the work tree")
            .in_file(".")
            .because(std::io::Error::from(error).to_string());
    };
    match error {
        Errno::XDEV => in_the_way(folder, "a directory on another file system is in the way"),
        Errno::LOOP | Errno::NOTDIR => in_the_way(folder, "something other than a directory is in the way"),
        error => tree.failed("write the directory", folder, error),
    }
}

fn read_only(folder: Option<&TreePath>) -> Error {
    at(folder, "a read-only directory is in the way").help("make it writable (`chmod u+w`) and restore again")
}

/// What is in the way there; `None` is the top.
fn at(path: Option<&TreePath>, what: &str) -> Error {
    let name = path.map_or_else(|| ".".to_owned(), TreePath::to_string);
    Error::bad_input(what).in_file(&name).because("nothing was changed")
}

/// A directory that makes room for a file holds nothing but what goes with it.
fn check_swapped_directories(tree: &Beneath, plan: &Plan, found: &Manifest) -> Result<()> {
    let comes: BTreeSet<&TreePath> =
        plan.ops.iter().filter(|op| op.after.is_some_and(|state| state.has_content())).map(|op| &op.path).collect();
    for folder in paths_of(plan, Action::RemoveDirectory) {
        let is_swapped =
            std::iter::successors(Some(folder.clone()), TreePath::parent).any(|path| comes.contains(&path));
        if !is_swapped {
            continue;
        }
        for name in names_in(tree, Some(folder))? {
            // A name that no tree may hold (`.git`) is in no snapshot either.
            let held = folder.join(&name).ok().filter(|path| found.get(path).is_some());
            if held.is_none() {
                let what = "a directory that has to go holds a file that no snapshot has";
                return Err(in_the_way(folder, what).because(format!("it is {}; nothing was changed", escape(&name))));
            }
        }
    }
    Ok(())
}

/// Directories that the plan removes and that will stay, because something is in them that it does not.
///
/// # Errors
/// A failure that names the directory that cannot be listed.
pub fn staying(tree: &Beneath, plan: &Plan) -> Result<Vec<TreePath>> {
    let mut going = paths_of(plan, Action::Remove);
    let mut staying = Vec::new();
    // What is inside of another one comes before it.
    for op in plan.ops.iter().filter(|op| op.action == Action::RemoveDirectory) {
        let goes = |name: &Vec<u8>| op.path.join(name).is_ok_and(|path| going.contains(&path));
        if names_in(tree, Some(&op.path))?.iter().all(goes) {
            going.insert(&op.path);
        } else {
            staying.push(op.path.clone());
        }
    }
    Ok(staying)
}

/// The names in a directory of the work tree; none if it is absent.
fn names_in(tree: &Beneath, folder: Option<&TreePath>) -> Result<BTreeSet<Vec<u8>>> {
    let named = |error: Errno| match folder {
        Some(folder) => tree.failed("list", folder, error),
        None => {
            Error::failed("cannot list the work tree").in_file(".").because(std::io::Error::from(error).to_string())
        }
    };
    let open = match tree.directory(folder) {
        Ok(open) => open,
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(BTreeSet::new()),
        Err(Errno::XDEV) => return Err(unreachable_folder(tree, folder, Errno::XDEV)),
        Err(error) => return Err(named(error)),
    };
    let mut names = BTreeSet::new();
    for entry in Dir::read_from(&open).map_err(named)? {
        let name = entry.map_err(named)?.file_name().to_bytes().to_vec();
        if name != b"." && name != b".." {
            names.insert(name);
        }
    }
    Ok(names)
}

/// What is changed or taken away is neither marked so that nobody does that, nor somebody else's: only its owner changes the
/// mode of a file, and takes it out of a folder that keeps each one's files from the others (sticky), but for the folder's
/// owner.
fn check_what_goes(tree: &Beneath, plan: &Plan, caller: Uid) -> Result<()> {
    for op in plan.ops.iter().filter(|op| op.before.is_some()) {
        // What the plan itself makes is not there yet, and will be ours.
        let Ok(holder) = tree.holder(&op.path) else { continue };
        if is_marked(holder.as_fd(), last_name(&op.path)) {
            return Err(marked(Some(&op.path)));
        }
        if caller.is_root() {
            continue;
        }
        let Ok(stat) = rustix::fs::statat(&holder, last_name(&op.path), AtFlags::SYMLINK_NOFOLLOW) else { continue };
        if stat.st_uid == caller.as_raw() {
            continue;
        }
        if op.action == Action::Chmod {
            return Err(in_the_way(&op.path, "its mode has to change, and it belongs to somebody else"));
        }
        let Ok(folder) = rustix::fs::fstat(&holder) else { continue };
        if folder.st_uid != caller.as_raw() && Mode::from_raw_mode(folder.st_mode).contains(Mode::SVTX) {
            let what = "its folder lets nobody take away what belongs to somebody else (sticky), as it does";
            return Err(in_the_way(&op.path, what));
        }
    }
    Ok(())
}

/// Whether it may not be changed, or only be added to (`chattr +i`, `+a`). Where that cannot be told, the step itself will.
fn is_marked(holder: BorrowedFd<'_>, name: &[u8]) -> bool {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{StatxAttributes, StatxFlags, statx};
        let stat = statx(holder, name, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::empty());
        let marks = StatxAttributes::IMMUTABLE | StatxAttributes::APPEND;
        stat.is_ok_and(|stat| stat.stx_attributes.intersects(marks))
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (holder, name);
        false
    }
}

fn marked(path: Option<&TreePath>) -> Error {
    at(path, "something that is marked as not to be changed is in the way")
        .help("`lsattr -d` shows the mark (i or a), and `chattr -ia` takes it away; then try again")
}

/// The new files fit beside the old ones, which stay until the end.
fn check_room(tree: &Path, plan: &Plan, stat: &StatVfs) -> Result<()> {
    let block = stat.f_frsize.max(1);
    let files = plan.staged().count();
    let count = u64::try_from(files).unwrap_or(u64::MAX);
    let needed = plan.bytes().saturating_add(count.saturating_mul(block)).saturating_add(ROOM_TO_WORK);
    let free = stat.f_bavail.saturating_mul(block);
    if needed > free && count > 0 {
        return Err(Error::failed("no space for the restore")
            .at(tree)
            .because(format!("it needs {needed} bytes and {free} are free; nothing was changed"))
            .help("free some space and restore again, or restore only some paths"));
    }
    // A file system without a count of files says 0 of 0.
    if stat.f_files > 0 && stat.f_favail < count.saturating_add(8) {
        return Err(Error::failed("no space for the restore")
            .at(tree)
            .because(format!("it needs {count} files and {} more can be made; nothing was changed", stat.f_favail)));
    }
    Ok(())
}

/// What stands at paths that the restore is about and the capture rules leave out (ignored since, or secret): it is to be
/// kept in the safety snapshot too, because it is about to be replaced. `named` are they, with what is expected there, those
/// of a folder next to each other.
///
/// # Errors
/// Bad input if it is something that no snapshot can hold.
pub fn beside_the_rules<'a>(
    tree: &Beneath,
    named: impl Iterator<Item = (&'a TreePath, &'a State)>,
    found: &Manifest,
    scope: &Scope,
    file_bytes: u64,
) -> Result<BTreeMap<TreePath, State>> {
    let mut beside = BTreeMap::new();
    let mut listed: Option<(Option<TreePath>, BTreeSet<Vec<u8>>)> = None;
    let missing =
        named.filter(|(path, wanted)| wanted.kind != Kind::Unheld && scope.covers(path) && found.get(path).is_none());
    for (path, wanted) in missing {
        let folder = path.parent();
        let is_same = listed.as_ref().is_some_and(|(last, _)| *last == folder);
        if !is_same {
            let names = names_in(tree, folder.as_ref())?;
            listed = Some((folder, names));
        }
        // The exact name: `Readme` is not `readme`, though the file system may answer to both.
        if !listed.as_ref().is_some_and(|(_, names)| names.contains(last_name(path))) {
            continue;
        }
        match tree.look(path)? {
            Seen::Absent => {}
            Seen::There(state) if state.kind != Kind::File || state.size <= file_bytes || state == *wanted => {
                beside.insert(path.clone(), state);
            }
            Seen::There(_) => return Err(in_the_way(path, "a file too large for a snapshot is in the way")),
            Seen::Other => return Err(in_the_way(path, "something that no snapshot can hold is in the way")),
        }
    }
    Ok(beside)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use crate::model::ids::ObjectId;

    fn path(text: &str) -> TreePath {
        TreePath::new(text).unwrap()
    }

    fn file(size: u64) -> State {
        State { kind: Kind::File, mode: 0o644, size, object: ObjectId([1; 32]) }
    }

    fn plan(ops: &[(Action, &str, State)]) -> Plan {
        let op = |(action, name, state): &(Action, &str, State)| {
            let after = (*action != Action::Remove).then_some(*state);
            Op { action: *action, path: path(name), before: Some(*state), after }
        };
        Plan { ops: ops.iter().map(op).collect(), ..Plan::default() }
    }

    // PROMISES W3, W5.
    #[test]
    fn a_folder_is_reached_without_leaving_the_tree_or_it_is_in_the_way() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("folder")).unwrap();
        std::fs::write(dir.path().join("file"), "").unwrap();
        std::os::unix::fs::symlink("folder", dir.path().join("link")).unwrap();
        let tree = Beneath::open(dir.path()).unwrap();
        let writing = |name: &str| check_folders(&tree, &plan(&[(Action::Write, name, file(1))]));
        assert!(writing("a").is_ok() && writing("folder/a").is_ok());
        for name in ["file/a", "link/a"] {
            let error = writing(name).unwrap_err();
            assert!(error.kind == ErrorKind::BadInput && error.to_string().contains("in the way"), "{error}");
        }
        assert_eq!(writing("absent/a").unwrap_err().kind, ErrorKind::Failed);
        let folder = State::directory(0o755);
        let made = [(Action::MakeDirectory, "absent", folder), (Action::Write, "absent/a", file(1))];
        assert!(check_folders(&tree, &plan(&made)).is_ok(), "the plan makes it");
        assert!(check_folders(&tree, &plan(&[(Action::Chmod, "file/a", file(1))])).is_ok(), "no name changes there");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_folder_on_another_file_system_is_in_the_way() {
        let tree = Beneath::open(Path::new("/")).unwrap();
        let error = check_folders(&tree, &plan(&[(Action::Write, "proc/a", file(1))])).unwrap_err();
        assert!(error.to_string().contains("another file system"), "{error}");
        // It was mounted over files that a snapshot has.
        let target: Manifest =
            [(path("proc"), State::directory(0o755)), (path("proc/a"), file(1))].into_iter().collect();
        let all = Scope::default();
        let error = beside_the_rules(&tree, target.iter(), &Manifest::default(), &all, 1).unwrap_err();
        assert_eq!((error.kind, error.place.path.as_deref()), (ErrorKind::BadInput, Some("proc")));
        assert!(error.to_string().contains("another file system") && error.help.is_some(), "{error}");
        assert_eq!(error.cause.as_deref(), Some("nothing was changed"));
    }

    #[test]
    fn only_who_owns_a_file_may_be_asked_to_change_its_mode() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("file"), "").unwrap();
        let tree = Beneath::open(dir.path()).unwrap();
        let check =
            |action, name, caller| check_what_goes(&tree, &plan(&[(action, name, file(1))]), Uid::from_raw(caller));
        let owner = rustix::process::geteuid().as_raw();
        let other = owner + 1;
        assert!(check(Action::Chmod, "file", owner).is_ok() && check(Action::Chmod, "file", 0).is_ok());
        assert!(check(Action::Chmod, "file", other).unwrap_err().to_string().contains("somebody else"));
        assert!(check(Action::Replace, "file", other).is_ok(), "who may write the folder may do that");
        assert!(check(Action::Chmod, "absent", other).is_ok() && check(Action::Chmod, "absent/a", other).is_ok());
        std::fs::create_dir(dir.path().join("folder")).unwrap();
        assert!(check(Action::Chmod, "folder", other).is_err() && check(Action::Chmod, "folder", owner).is_ok());
        // Nor to take it out of a sticky folder.
        std::fs::write(dir.path().join("folder/file"), "").unwrap();
        let mode = |mode| {
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(dir.path().join("folder"), std::fs::Permissions::from_mode(mode)).unwrap();
        };
        for action in [Action::Replace, Action::Remove, Action::RemoveDirectory] {
            mode(0o1777);
            assert!(check(action, "folder/file", other).unwrap_err().to_string().contains("sticky"));
            assert!(check(action, "folder/file", owner).is_ok() && check(action, "folder/file", 0).is_ok());
            mode(0o777);
            assert!(check(action, "folder/file", other).is_ok());
        }
    }

    // PROMISES H3.
    #[test]
    fn room_is_what_the_new_files_take_and_some_to_work_in() {
        let dir = tempfile::tempdir().unwrap();
        let stat = StatVfs { f_frsize: 4096, f_files: 100, f_favail: 10, ..rustix::fs::statvfs(dir.path()).unwrap() };
        let two = plan(&[(Action::Write, "a", file(5000)), (Action::Replace, "b", file(3192))]);
        let fits = |plan: &Plan, stat: StatVfs| check_room(dir.path(), plan, &stat).is_ok();
        let blocks = 2 + 2 + ROOM_TO_WORK / 4096;
        let free = |f_bavail| StatVfs { f_bavail, ..stat };
        assert!(fits(&two, free(blocks)) && !fits(&two, free(blocks - 1)));
        assert!(fits(&plan(&[(Action::Remove, "a", file(5000))]), free(0)), "to take away needs no room");
        let names = |f_files, f_favail| StatVfs { f_files, f_favail, ..free(blocks) };
        assert!(fits(&two, names(100, 10)) && !fits(&two, names(100, 9)));
        assert!(fits(&two, names(0, 0)), "it does not count files");
    }
}
