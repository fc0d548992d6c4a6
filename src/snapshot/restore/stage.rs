//! Before the journal: every object that will be needed is read and checked, then written beside the work tree, with
//! its mode, synced, so that applying is renaming only.

use std::collections::BTreeMap;
use std::fs::{File, Permissions};
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rayon::prelude::*;
use rustix::fs::{Mode, OFlags};

use super::folder::{self, for_each};
use super::journal::staged_name;
use super::manifest::{Kind, State};
use super::plan::{Action, Op, Plan};
use crate::disk;
use crate::error::{Error, Result};
use crate::model::ids::{ObjectId, TreePath};
use crate::snapshot::objects::Objects;

/// Longest target of a link, bytes: what Linux takes.
const LINK_BYTES_MAX: u64 = 4095;

/// Reads every file and link that the plan writes, and checks it.
///
/// # Errors
/// Bad input that names the path and the object if one is missing, damaged, or not what its directory says.
pub fn verify_new(objects: &Objects, plan: &Plan) -> Result<()> {
    verify(objects, plan.staged().map(|(_, path, state)| (path, state)))
}

/// Reads every file and link that the plan takes away, from the safety snapshot, and checks it.
///
/// # Errors
/// As [`verify_new`].
pub fn verify_old(objects: &Objects, plan: &Plan) -> Result<()> {
    let takes_away = |op: &&Op| matches!(op.action, Action::Replace | Action::Remove);
    verify(objects, plan.ops.iter().filter(takes_away).filter_map(|op| op.before.map(|state| (&op.path, state))))
}

fn verify<'a>(objects: &Objects, wanted: impl Iterator<Item = (&'a TreePath, State)>) -> Result<()> {
    let mut each_once: BTreeMap<(ObjectId, u64, bool), (&TreePath, State)> = BTreeMap::new();
    for (path, state) in wanted {
        each_once.entry((state.object, state.size, state.kind == Kind::Link)).or_insert((path, state));
    }
    let wanted: Vec<(&TreePath, State)> = each_once.into_values().collect();
    let faults = wanted.par_iter().filter_map(|(path, state)| verify_one(objects, path, *state).err());
    faults.find_first(|_| true).map_or(Ok(()), Err)
}

fn verify_one(objects: &Objects, path: &TreePath, state: State) -> Result<()> {
    let size = match state.kind {
        Kind::Link => u64::try_from(link_target(objects, path, state)?.len()).unwrap_or(u64::MAX),
        _ => objects.write_to(&state.object, &mut io::sink()).map_err(|error| needed_for(path, error))?,
    };
    if size == state.size {
        return Ok(());
    }
    Err(Error::bad_input("a stored file has another size than its directory says")
        .in_file(&path.to_string())
        .because(format!("{size} bytes instead of {}; nothing was changed", state.size))
        .help("run `highwater verify` to see what is affected"))
}

/// An object that cannot be read, with the path that needs it.
fn needed_for(path: &TreePath, error: Error) -> Error {
    let cause = match &error.cause {
        Some(cause) => format!("{cause}; needed for {path}; nothing was changed"),
        None => format!("needed for {path}; nothing was changed"),
    };
    error.because(cause)
}

/// The target of a stored link.
///
/// # Errors
/// Bad input if the object is missing or damaged, or no link can have that target.
pub fn link_target(objects: &Objects, path: &TreePath, state: State) -> Result<Vec<u8>> {
    let refuse = |why: &str| {
        Err(Error::bad_input("a stored link cannot be made").in_file(&path.to_string()).because(why.to_owned()))
    };
    if state.size > LINK_BYTES_MAX {
        return refuse("its target is longer than 4095 bytes");
    }
    let target = objects.read(&state.object).map_err(|error| needed_for(path, error))?;
    if target.is_empty() || target.contains(&0) {
        return refuse("its target is empty or holds NUL");
    }
    Ok(target)
}

/// Writes every file and link that the plan needs into `into`, and syncs them.
///
/// # Errors
/// A failure that names the file; bad input if an object was damaged meanwhile.
pub fn stage(objects: &Objects, plan: &Plan, generation: u32, into: &Path) -> Result<()> {
    let stage = folder::open(into)?;
    let files: Vec<(usize, &TreePath, State)> = plan.staged().collect();
    let name = |index: usize| staged_name(generation, index);
    write_all(
        &files,
        |(index, path, state)| make(objects, path, *state, stage.as_fd(), name(*index).as_bytes()),
        |(index, path, _)| (path, into.join(name(*index)).display().to_string()),
    )?;
    disk::sync_directory(into).map(|_| ())
}

/// Writes files with [`make`], and syncs them then: what a file system writes to its journal for one of them need not be
/// written for the others. `place` tells what is restored, and where it is written.
///
/// # Errors
/// That of the first that could not be written or synced.
pub fn write_all<'a, T: Sync>(
    items: &'a [T],
    make: impl Fn(&'a T) -> Result<Option<File>> + Sync,
    place: impl Fn(&'a T) -> (&'a TreePath, String) + Sync,
) -> Result<()> {
    /// All of them are open.
    const AT_ONCE: usize = 128;
    /// Fewer are written before another thread has woken up.
    const WORTH_THREAD: usize = 16;
    items.chunks(AT_ONCE).try_for_each(|items| {
        let made: Vec<Result<Option<File>>> = items.par_iter().with_min_len(WORTH_THREAD).map(&make).collect();
        let made = items.iter().zip(made).map(|(item, made)| match made {
            Ok(file) => Ok((item, file)),
            Err(error) => Err(error.in_file(&place(item).1)),
        });
        for_each(&made.collect::<Result<Vec<_>>>()?, |(item, file)| {
            file.as_ref().map_or(Ok(()), File::sync_all).map_err(|error| {
                let (path, place) = place(item);
                not_written(path, &error).in_file(&place)
            })
        })
    })
}

fn not_written(path: &TreePath, error: &io::Error) -> Error {
    Error::failed(format!("cannot write the restored {path}")).because(error.to_string())
}

/// Makes one file or link under a name that must be free, with its mode. A file is still to be synced.
///
/// # Errors
/// A failure, without a place; bad input if the object is damaged.
pub fn make(
    objects: &Objects,
    path: &TreePath,
    state: State,
    folder: BorrowedFd<'_>,
    name: &[u8],
) -> Result<Option<File>> {
    let failed = |error: &io::Error| not_written(path, error);
    if state.kind == Kind::Link {
        let target = link_target(objects, path, state)?;
        rustix::fs::symlinkat(target, folder, name).map_err(|error| failed(&error.into()))?;
        return Ok(None);
    }
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let file =
        rustix::fs::openat(folder, name, flags, Mode::RUSR | Mode::WUSR).map_err(|error| failed(&error.into()))?;
    let mut file = File::from(file);
    objects.write_to(&state.object, &mut file)?;
    file.flush().map_err(|error| failed(&error))?;
    file.set_permissions(Permissions::from_mode(state.mode & 0o777)).map_err(|error| failed(&error))?;
    Ok(Some(file))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::hash::id_of;
    use crate::disk::layout::Layout;
    use crate::snapshot::pack::PackWriter;

    #[test]
    fn what_is_not_stored_as_the_plan_says_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::new(dir.path());
        let mut writer = PackWriter::new(&layout);
        let (longest, too_long) = ([b'x'; 4095], [b'x'; 4096]);
        for bytes in [&b"file"[..], b"", b"a\0b", &longest, &too_long] {
            writer.add(bytes).unwrap();
        }
        writer.finish().unwrap();
        let objects = Objects::open(&layout).unwrap();
        let state = |kind, bytes: &[u8]| State { kind, mode: 0, size: bytes.len() as u64, object: id_of(bytes) };
        let old_and_new = |action, before, after| {
            let op = Op { action, path: TreePath::new("a").unwrap(), before, after };
            let plan = Plan { ops: vec![op], ..Plan::default() };
            (verify_old(&objects, &plan).is_ok(), verify_new(&objects, &plan).is_ok())
        };
        let (file, lost) = (state(Kind::File, b"file"), state(Kind::File, b"lost"));
        assert_eq!(old_and_new(Action::Replace, Some(file), Some(file)), (true, true));
        assert_eq!(old_and_new(Action::Replace, Some(lost), Some(file)), (false, true));
        assert_eq!(old_and_new(Action::Replace, Some(file), Some(lost)), (true, false));
        assert_eq!(old_and_new(Action::Remove, Some(lost), None), (false, true));
        assert_eq!(old_and_new(Action::Chmod, Some(lost), Some(lost)), (true, true), "its bytes stay where they are");
        assert_eq!(old_and_new(Action::Write, None, Some(State { size: 5, ..file })), (true, false));
        let link = |target: &[u8]| old_and_new(Action::Link, None, Some(state(Kind::Link, target))).1;
        assert!(link(b"file") && link(&longest));
        assert!(!link(b"") && !link(b"a\0b") && !link(&too_long) && !link(b"lost"));
        let other_size = State { size: 3, ..state(Kind::Link, b"file") };
        assert!(!old_and_new(Action::Link, None, Some(other_size)).1);
    }
}
