//! Doing the steps. Nothing is overwritten: what has to go is renamed into `trash/`, and what replaces a file is swapped
//! with it, so that every byte that was there at that instant is still there afterwards.

use std::collections::BTreeSet;
use std::fs::{File, Permissions};
#[cfg(target_os = "linux")]
use std::os::fd::AsRawFd;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use super::beneath::{Beneath, errno, last_name};
use super::folder::{self, Folder};
use super::journal::Journal;
use super::manifest::{Kind, State};
use super::plan::{Action, Op};
use crate::disk::{self, for_each};
use crate::error::{Error, Result};
use crate::model::ids::TreePath;

/// Does the steps of one journal.
pub struct Worker<'a> {
    tree: &'a Beneath,
    folder: &'a Folder,
    stage: OwnedFd,
    trash: OwnedFd,
    /// Whether the file system swaps two names in one step; where it cannot, the old file goes to the trash first.
    swaps: bool,
    /// Directories whose names were changed; `None` is the top.
    touched: BTreeSet<Option<TreePath>>,
}

impl<'a> Worker<'a> {
    /// A worker for the restore of that folder.
    ///
    /// # Errors
    /// A failure if the stage or the trash cannot be opened.
    pub fn new(tree: &'a Beneath, folder: &'a Folder) -> Result<Worker<'a>> {
        let (stage, trash) = (folder::open(&folder.stage())?, folder::open(&folder.trash())?);
        Ok(Worker { tree, folder, stage, trash, swaps: true, touched: BTreeSet::new() })
    }

    /// Does all steps, then makes them survive a power loss.
    ///
    /// # Errors
    /// A failure that names the path at which it stopped. The steps before are done; the journal stays.
    pub fn run(&mut self, journal: &Journal) -> Result<()> {
        for (index, op) in journal.ops.iter().enumerate() {
            self.step(op, &journal.name_of(index))?;
        }
        self.sync()
    }

    /// Does one step; `name` is what its file is called in the stage and in the trash.
    ///
    /// # Errors
    /// A failure that names the path.
    pub fn step(&mut self, op: &Op, name: &str) -> Result<()> {
        let done = match self.tree.holder(&op.path) {
            Ok(holder) => {
                let at = last_name(&op.path);
                match op.action {
                    Action::Write | Action::Link | Action::Replace => self.put(holder.as_fd(), at, name),
                    Action::Remove => self.take(holder.as_fd(), at, name),
                    Action::MakeDirectory => make_directory(holder.as_fd(), at, op),
                    Action::RemoveDirectory => remove_directory(holder.as_fd(), at),
                    Action::Chmod => change_mode(holder.as_fd(), at, op),
                }
            }
            Err(error) => Err(error),
        };
        match done {
            Ok(()) => {
                self.touched.insert(op.path.parent());
                Ok(())
            }
            // What was to go went with what held it.
            Err(Errno::NOENT | Errno::NOTDIR) if op.after.is_none() => Ok(()),
            Err(error) => Err(self.stopped(op, error)),
        }
    }

    /// The staged file gets its place; what stood there goes to the trash.
    fn put(&mut self, holder: BorrowedFd<'_>, at: &[u8], name: &str) -> rustix::io::Result<()> {
        match self.place(holder, at, name) {
            Err(Errno::EXIST) => {}
            other => return other,
        }
        // A directory is never swapped: what is in it was not asked for.
        if is_directory(holder, at)? {
            return Err(Errno::ISDIR);
        }
        if self.swaps {
            match rustix::fs::renameat_with(&self.stage, name, holder, at, RenameFlags::EXCHANGE) {
                Ok(()) => return rustix::fs::renameat(&self.stage, name, &self.trash, name),
                Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => self.swaps = false,
                // It vanished since: then the place is free.
                Err(Errno::NOENT) => {}
                Err(error) => return Err(error),
            }
        }
        match self.take(holder, at, name) {
            Ok(()) | Err(Errno::NOENT) => self.place(holder, at, name),
            Err(error) => Err(error),
        }
    }

    /// The staged file gets a place that must be free.
    fn place(&self, holder: BorrowedFd<'_>, at: &[u8], name: &str) -> rustix::io::Result<()> {
        match rustix::fs::renameat_with(&self.stage, name, holder, at, RenameFlags::NOREPLACE) {
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
            other => return other,
        }
        match rustix::fs::linkat(&self.stage, name, holder, at, AtFlags::empty()) {
            Ok(()) => return rustix::fs::unlinkat(&self.stage, name, AtFlags::empty()),
            Err(Errno::PERM | Errno::NOSYS | Errno::NOTSUP | Errno::MLINK) => {}
            Err(error) => return Err(error),
        }
        // Neither: all that is left is to look first.
        match rustix::fs::statat(holder, at, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(_) => Err(Errno::EXIST),
            Err(Errno::NOENT) => rustix::fs::renameat(&self.stage, name, holder, at),
            Err(error) => Err(error),
        }
    }

    /// A file or link goes to the trash; a directory does not.
    fn take(&self, holder: BorrowedFd<'_>, at: &[u8], name: &str) -> rustix::io::Result<()> {
        if is_directory(holder, at)? {
            return Err(Errno::NOTDIR);
        }
        rustix::fs::renameat(holder, at, &self.trash, name)
    }

    /// Makes all changes survive a power loss.
    fn sync(&mut self) -> Result<()> {
        let touched: Vec<Option<TreePath>> = std::mem::take(&mut self.touched).into_iter().collect();
        for_each(&touched, |folder| {
            match self.tree.directory(folder.as_ref()).and_then(|open| disk::sync_open(open.as_fd())) {
                // It went itself, later in the plan.
                Ok(_) | Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(()),
                Err(error) => Err(self.failed_at(folder.as_ref(), error)),
            }
        })?;
        let ours = [(&self.stage, self.folder.stage()), (&self.trash, self.folder.trash())];
        ours.into_iter().try_for_each(|(open, path)| {
            let synced = disk::sync_open(open.as_fd()).map(drop);
            synced.map_err(|error| going_on(Error::io("sync the directory", &path, &error.into())))
        })
    }

    fn failed_at(&self, folder: Option<&TreePath>, error: Errno) -> Error {
        let path = folder.map_or_else(|| std::path::PathBuf::from("."), |folder| self.tree.name_of(folder));
        going_on(Error::io("sync the directory", &path, &error.into()))
    }

    fn stopped(&self, op: &Op, error: Errno) -> Error {
        let doing = match op.action {
            Action::Write | Action::Link | Action::Replace => "restore",
            Action::Remove => "take away",
            Action::MakeDirectory => "make the directory",
            Action::RemoveDirectory => "remove the directory",
            Action::Chmod => "set the mode of",
        };
        going_on(self.tree.failed(doing, &op.path, error))
    }
}

/// How to go on after a restore stopped half way.
pub fn going_on(error: Error) -> Error {
    error.help("the restore stopped half way: `highwater restore --resume` goes on, `--abort` goes back")
}

fn is_directory(holder: BorrowedFd<'_>, at: &[u8]) -> rustix::io::Result<bool> {
    let stat = rustix::fs::statat(holder, at, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(FileType::from_raw_mode(stat.st_mode) == FileType::Directory)
}

/// Makes a directory that we can work in, or finds it there.
pub fn make_directory(holder: BorrowedFd<'_>, at: &[u8], op: &Op) -> rustix::io::Result<()> {
    match rustix::fs::mkdirat(holder, at, Mode::RWXU) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(error) => return Err(error),
    }
    let mode = op.after.map_or(0o700, |state| state.mode | 0o700);
    set_mode(holder, at, Kind::Directory, mode).map(drop)
}

/// Removes a directory if it is empty. What somebody put into it since keeps it.
fn remove_directory(holder: BorrowedFd<'_>, at: &[u8]) -> rustix::io::Result<()> {
    match rustix::fs::unlinkat(holder, at, AtFlags::REMOVEDIR) {
        Err(Errno::NOTEMPTY | Errno::EXIST) => Ok(()),
        other => other,
    }
}

/// Gives a file or directory that was there before its mode. What is synced later are names, and this one stays the same:
/// btrfs would lose the mode.
pub fn change_mode(holder: BorrowedFd<'_>, at: &[u8], op: &Op) -> rustix::io::Result<()> {
    match op.after {
        Some(State { kind: kind @ (Kind::Directory | Kind::File), mode, .. }) => {
            disk::sync_open(set_mode(holder, at, kind, mode)?.as_fd()).map(drop)
        }
        _ => Ok(()),
    }
}

/// Lets its owner into a directory, as a umask may not have done when it was made. It is reached without a look into it, and
/// never through a link.
///
/// # Errors
/// `ACCESS` if it is none, or somebody else's.
pub fn open_up(holder: BorrowedFd<'_>, at: &[u8]) -> rustix::io::Result<()> {
    let open = || -> rustix::io::Result<()> {
        #[cfg(target_os = "linux")]
        {
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let entry = rustix::fs::openat(holder, at, flags, Mode::empty())?;
            let mode = Mode::from_raw_mode(rustix::fs::fstat(&entry)?.st_mode);
            // A descriptor of a place sets no mode; the name that the system has for it leads to nothing else.
            rustix::fs::chmod(format!("/proc/self/fd/{}", entry.as_raw_fd()), mode | Mode::RWXU)
        }
        #[cfg(not(target_os = "linux"))]
        {
            let stat = rustix::fs::statat(holder, at, AtFlags::SYMLINK_NOFOLLOW)?;
            let mode = Mode::from_raw_mode(stat.st_mode) | Mode::RWXU;
            rustix::fs::chmodat(holder, at, mode, AtFlags::SYMLINK_NOFOLLOW)
        }
    };
    open().map_err(|_| Errno::ACCESS)
}

/// Sets the mode of exactly what was opened, and only if it is of that kind: never through a link. Answers it, still open.
fn set_mode(holder: BorrowedFd<'_>, at: &[u8], kind: Kind, mode: u32) -> rustix::io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let open = || rustix::fs::openat(holder, at, flags, Mode::empty()).map(File::from);
    let open = match open() {
        Err(Errno::ACCESS) if kind == Kind::Directory => open_up(holder, at).and_then(|()| open()),
        other => other,
    }?;
    let meta = open.metadata().map_err(|error| errno(&error))?;
    let is_directory = kind == Kind::Directory;
    if !(if is_directory { meta.is_dir() } else { meta.is_file() }) {
        return Err(if is_directory { Errno::NOTDIR } else { Errno::EXIST });
    }
    let (now, permissions) = (meta.mode(), mode & 0o777);
    if now & 0o777 == permissions {
        return Ok(open);
    }
    // A directory that hands its group down (set-group-ID) or keeps its files from others (sticky) goes on doing so; a file
    // gets no more than its permission bits.
    let special = if is_directory { now & 0o3000 } else { 0 };
    let set = open.set_permissions(Permissions::from_mode(permissions | special));
    set.map(|()| open).map_err(|error| errno(&error))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::disk::tests_support::make_fifo;

    // PROMISES W5: whatever is swapped in just before the call.
    #[test]
    fn no_mode_is_set_through_a_link_or_of_something_else() {
        let (dir, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let file = outside.path().join("file");
        std::fs::write(&file, "theirs").unwrap();
        let set = |path: &Path, mode| std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        let mode = |path: &Path| std::fs::symlink_metadata(path).unwrap().mode() & 0o777;
        set(&file, 0o600);
        set(outside.path(), 0o500);
        std::os::unix::fs::symlink(outside.path(), dir.path().join("folder")).unwrap();
        std::os::unix::fs::symlink(&file, dir.path().join("link")).unwrap();
        make_fifo(&dir.path().join("pipe"));
        let holder = folder::open(dir.path()).unwrap();
        for (name, kind) in [("folder", Kind::Directory), ("link", Kind::File), ("pipe", Kind::File)] {
            let after = State { kind, ..State::directory(0o777) };
            let path = TreePath::new(name).unwrap();
            let op = Op { action: Action::Chmod, path, before: None, after: Some(after) };
            assert!(change_mode(holder.as_fd(), name.as_bytes(), &op).is_err(), "{name}");
        }
        #[cfg(target_os = "linux")]
        for name in ["folder", "link", "pipe", "absent"] {
            assert_eq!(open_up(holder.as_fd(), name.as_bytes()), Err(Errno::ACCESS), "{name}");
        }
        assert_eq!((mode(outside.path()), mode(&file)), (0o500, 0o600));
        let closed = dir.path().join("closed");
        std::fs::create_dir(&closed).unwrap();
        set(&closed, 0o050);
        open_up(holder.as_fd(), b"closed").unwrap();
        assert_eq!(mode(&closed), 0o750);
        set(outside.path(), 0o700);
    }
}
