//! Before the journal: every object that will be needed is read and checked, then written beside the work tree, with
//! its mode, synced, so that applying is renaming only.

use std::collections::{BTreeMap, HashMap};
use std::fs::{File, Permissions};
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rayon::prelude::*;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::folder;
use super::journal::staged_name;
use super::manifest::{Kind, State};
use super::plan::{Action, Op, Plan};
use crate::disk::{self, for_each};
use crate::error::{Error, Result};
use crate::model::ids::{ObjectId, TreePath};
use crate::snapshot::objects::Objects;

/// Longest target of a link, bytes: what Linux takes.
const LINK_BYTES_MAX: u64 = 4095;
/// Bytes of files that stay in memory between being checked and being written (32 MiB); what is beyond is read again.
const KEPT_BYTES: u64 = 32 << 20;

/// Reads every file and link that the plan writes, and checks it. The objects keep what they will be asked for again.
///
/// # Errors
/// Bad input that names the path and the object if one is missing, damaged, or not what its directory says.
pub fn verify_new(objects: &Objects, plan: &Plan) -> Result<()> {
    objects.keep(verify(objects, plan.staged().map(|(_, path, state)| (path, state)), KEPT_BYTES)?);
    Ok(())
}

/// Reads every file and link that the plan takes away, from the safety snapshot, and checks it.
///
/// # Errors
/// As [`verify_new`].
pub fn verify_old(objects: &Objects, plan: &Plan) -> Result<()> {
    let takes_away = |op: &&Op| matches!(op.action, Action::Replace | Action::Remove);
    let wanted = plan.ops.iter().filter(takes_away).filter_map(|op| op.before.map(|state| (&op.path, state)));
    verify(objects, wanted, 0).map(drop)
}

/// Keeps files of `room` bytes in all.
fn verify<'a>(
    objects: &Objects,
    wanted: impl Iterator<Item = (&'a TreePath, State)>,
    mut room: u64,
) -> Result<HashMap<ObjectId, Vec<u8>>> {
    let mut each_once: BTreeMap<(ObjectId, u64, bool), (&TreePath, State)> = BTreeMap::new();
    for (path, state) in wanted {
        each_once.entry((state.object, state.size, state.kind == Kind::Link)).or_insert((path, state));
    }
    let wanted = each_once.into_values().map(|(path, state)| {
        let left = room.checked_sub(state.size).filter(|_| state.kind == Kind::File);
        room = left.unwrap_or(room);
        (path, state, left.is_some())
    });
    let wanted: Vec<(&TreePath, State, bool)> = wanted.collect();
    let read = wanted.par_iter().map(|(path, state, keeps)| verify_one(objects, path, *state, *keeps));
    // By way of a list, so that of many faults the same one is told each time.
    read.collect::<Vec<_>>().into_iter().filter_map(Result::transpose).collect()
}

/// Answers the object and what is in it, if that is to be kept.
fn verify_one(objects: &Objects, path: &TreePath, state: State, keeps: bool) -> Result<Option<(ObjectId, Vec<u8>)>> {
    let mut kept = Vec::new();
    let mut sink = io::sink();
    let out: &mut dyn Write = if keeps { &mut kept } else { &mut sink };
    let size = match state.kind {
        Kind::Link => u64::try_from(link_target(objects, path, state)?.len()).unwrap_or(u64::MAX),
        _ => objects.write_to(&state.object, out).map_err(|error| needed_for(path, error))?,
    };
    if size == state.size {
        return Ok(keeps.then_some((state.object, kept)));
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
    let wanted = plan.staged().map(|(index, path, state)| {
        let name = staged_name(generation, index);
        Wanted { path, state, place: into.join(&name).display().to_string(), name: name.into_bytes() }
    });
    write_all(objects, &wanted.collect::<Vec<_>>(), |_| Ok(&stage))?;
    disk::sync_directory(into).map(|_| ())
}

/// A file or link that is to be written.
pub struct Wanted<'a> {
    /// What is restored with it.
    pub path: &'a TreePath,
    /// As what.
    pub state: State,
    /// Its name in its folder, which must be free.
    pub name: Vec<u8>,
    /// Where it is written, for messages.
    pub place: String,
}

impl Wanted<'_> {
    fn failed(&self, error: &io::Error) -> Error {
        Error::failed(format!("cannot write the restored {}", self.path))
            .because(error.to_string())
            .in_file(&self.place)
    }

    /// Makes the link, or the file, which is still empty.
    fn create(&self, objects: &Objects, folder: BorrowedFd<'_>) -> Result<Option<File>> {
        let failed = |error: Errno| self.failed(&error.into());
        if self.state.kind == Kind::Link {
            let target = link_target(objects, self.path, self.state)?;
            return rustix::fs::symlinkat(target, folder, &*self.name).map(|()| None).map_err(failed);
        }
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let file = rustix::fs::openat(folder, &*self.name, flags, Mode::RUSR | Mode::WUSR).map_err(failed)?;
        Ok(Some(File::from(file)))
    }

    /// Writes the file, and gives it its mode.
    fn fill(&self, objects: &Objects, mut file: &File) -> Result<()> {
        objects.write_to(&self.state.object, &mut file).map_err(|error| error.in_file(&self.place))?;
        file.set_permissions(Permissions::from_mode(self.state.mode & 0o777)).map_err(|error| self.failed(&error))
    }
}

/// Writes files and links into the folders that `folder_of` opens, with their modes, and syncs the files then: what a file
/// system writes to its journal for one of them need not be written for the others.
///
/// # Errors
/// That of the first that could not be written or synced; bad input if an object is damaged.
pub fn write_all<F: AsFd>(
    objects: &Objects,
    wanted: &[Wanted<'_>],
    folder_of: impl Fn(&Wanted<'_>) -> Result<F>,
) -> Result<()> {
    /// All of them are open.
    const AT_ONCE: usize = 128;
    /// Fewer are written before another thread has woken up.
    const WORTH_THREAD: usize = 16;
    wanted.chunks(AT_ONCE).try_for_each(|wanted| {
        let mut files = Vec::with_capacity(wanted.len());
        // One after another: threads would wait for each other, as a directory takes one name at a time.
        for wanted in wanted {
            let file = wanted.create(objects, folder_of(wanted)?.as_fd())?;
            files.extend(file.map(|file| (wanted, file)));
        }
        let filled = files.par_iter().with_min_len(WORTH_THREAD);
        let faults = filled.filter_map(|(wanted, file)| wanted.fill(objects, file).err());
        faults.find_first(|_| true).map_or(Ok(()), Err)?;
        for_each(&files, |(wanted, file)| file.sync_all().map_err(|error| wanted.failed(&error)))
    })
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

    #[test]
    fn files_that_were_checked_are_kept_as_far_as_there_is_room() {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::new(dir.path());
        let mut writer = PackWriter::new(&layout);
        let contents: [&[u8]; 4] = [b"first", b"link", b"too long for it", b"last"];
        let ids = contents.map(|bytes| writer.add(bytes).unwrap());
        writer.finish().unwrap();
        let objects = Objects::open(&layout).unwrap();
        let path = TreePath::new("a").unwrap();
        let state = |at: usize, kind| State { kind, mode: 0, size: contents[at].len() as u64, object: ids[at] };
        let wanted = [
            state(0, Kind::File),
            state(0, Kind::File),
            state(1, Kind::Link),
            state(2, Kind::File),
            state(3, Kind::File),
        ];
        let kept = |room| verify(&objects, wanted.iter().map(|state| (&path, *state)), room).unwrap();
        let files =
            |numbers: &[usize]| numbers.iter().map(|at| (ids[*at], contents[*at].to_vec())).collect::<HashMap<_, _>>();
        assert_eq!(kept(0), files(&[]));
        assert_eq!(kept(9), files(&[0, 3]), "each object once, and no link");
        assert_eq!(kept(5 + 15 + 4), files(&[0, 2, 3]));
    }

    // PROMISES W1: where a copy goes there was nothing, until just now.
    #[test]
    fn what_came_meanwhile_is_not_written_over() {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::new(dir.path());
        let mut writer = PackWriter::new(&layout);
        let object = writer.add(b"ours").unwrap();
        writer.finish().unwrap();
        let objects = Objects::open(&layout).unwrap();
        let path = TreePath::new("a").unwrap();
        let place = dir.path().join("a");
        let state = State { kind: Kind::File, mode: 0o600, size: 4, object };
        let write = || {
            let wanted = Wanted { path: &path, state, name: b"a".to_vec(), place: place.display().to_string() };
            write_all(&objects, &[wanted], |_| folder::open(dir.path()))
        };
        std::fs::write(&place, "theirs").unwrap();
        assert!(write().is_err());
        assert_eq!(std::fs::read(&place).unwrap(), b"theirs");
        std::fs::remove_file(&place).unwrap();
        write().unwrap();
        assert_eq!(std::fs::read(&place).unwrap(), b"ours");
    }
}
