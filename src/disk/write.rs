//! Writing: never in place. A file is made beside its final name, and appears there whole or not at all.

use std::ffi::OsStr;
use std::fs::{File, Permissions};
use std::io::Write;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, RenameFlags};
use rustix::io::Errno;
use tempfile::NamedTempFile;

use crate::error::{Error, Result};

/// Names of files that are being written begin so; then come the process id, `-` and random characters.
const TEMPORARY: &str = ".tmp-";

/// How [`create_new`] ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Created {
    /// The file is there, whole and synced, and we wrote it.
    Written,
    /// The name was taken; nothing was changed.
    AlreadyThere,
}

/// What is known after a directory was synced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// The names in it survive a power loss.
    Synced,
    /// The file system cannot sync directories, so nothing is known.
    Unknown,
}

/// Whether a file is synced before it gets its name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sync {
    Yes,
    No,
}

/// A file in the making, beside its final name. Dropped before it is published, it is removed again.
#[derive(Debug)]
pub struct Temporary {
    file: NamedTempFile,
}

impl Temporary {
    /// A new, empty file in `folder`, named for our process and locked, so that nobody takes it for a leftover.
    ///
    /// # Errors
    /// A failure that names `folder`; bad input if that is in the store and reached through a link.
    pub fn new(folder: &Path) -> Result<Temporary> {
        super::refuse_links(folder)?;
        let prefix = format!("{TEMPORARY}{}-", std::process::id());
        let file = tempfile::Builder::new().prefix(&prefix).rand_bytes(12).tempfile_in(folder).map_err(|error| {
            // The name that the file was to have is nobody's business.
            let told = error.to_string();
            let systems = told.split_once(" at path \"").map_or(told.as_str(), |(systems, _)| systems);
            Error::io("make a file", folder, &error).because(systems)
        })?;
        // Without locks the process id alone protects it.
        let _ = file.as_file().try_lock();
        Ok(Temporary { file })
    }

    /// The open file.
    pub fn file(&mut self) -> &mut File {
        self.file.as_file_mut()
    }

    /// Its name for now.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Gives the file its permission bits, whatever the umask, and syncs its content. A failed sync is final: the
    /// system may have dropped what was not written, so the file is given up and removed.
    ///
    /// # Errors
    /// A failure that names the file.
    pub fn seal(&mut self, mode: u32) -> Result<()> {
        self.set_mode(mode)?;
        self.file.as_file().sync_all().map_err(|error| Error::io("sync", self.file.path(), &error))
    }

    /// Gives the file its permission bits, whatever the umask.
    ///
    /// # Errors
    /// A failure that names the file.
    pub(super) fn set_mode(&mut self, mode: u32) -> Result<()> {
        let set = self.file.as_file().set_permissions(Permissions::from_mode(mode));
        set.map_err(|error| Error::io("set the mode of", self.file.path(), &error))
    }

    /// Renames the file to `path`, in place of what is there.
    ///
    /// # Errors
    /// A failure that names `path`.
    pub fn rename_to(self, path: &Path) -> Result<()> {
        let named = |error: Errno| Error::io("write", path, &error.into());
        rustix::fs::rename(self.file.path(), path).map_err(named)?;
        // The name is gone; there is nothing left to remove.
        let _ = self.file.into_temp_path().keep();
        Ok(())
    }

    /// Gives the file its final name unless that is taken, by a hard link where the file system has them.
    pub(super) fn publish(self, path: &Path) -> Result<Created> {
        let named = |error: Errno| Error::io("write", path, &error.into());
        match rustix::fs::link(self.file.path(), path) {
            Ok(()) => return Ok(Created::Written),
            // NFS may repeat a request whose answer was lost: then the name is taken by ourselves.
            Err(Errno::EXIST) if self.is_same_file(path) => return Ok(Created::Written),
            Err(Errno::EXIST) => return Ok(Created::AlreadyThere),
            Err(Errno::PERM | Errno::NOTSUP | Errno::NOSYS | Errno::MLINK | Errno::ACCESS | Errno::INVAL) => {}
            Err(error) => return Err(named(error)),
        }
        match rename_if_free(self.file.path(), path) {
            Ok(()) => {
                let _ = self.file.into_temp_path().keep();
                Ok(Created::Written)
            }
            Err(Errno::EXIST) => Ok(Created::AlreadyThere),
            Err(error) => Err(named(error)),
        }
    }

    fn is_same_file(&self, path: &Path) -> bool {
        match (self.file.as_file().metadata(), std::fs::symlink_metadata(path)) {
            (Ok(ours), Ok(there)) => (ours.dev(), ours.ino()) == (there.dev(), there.ino()),
            _ => false,
        }
    }
}

/// Renames without replacing. Where the file system cannot do that in one step, it is looked at first; a lock of the caller's
/// is then what keeps two writers apart.
///
/// # Errors
/// What the system says; `EXIST` if the name is taken.
pub fn rename_if_free(from: &Path, to: &Path) -> rustix::io::Result<()> {
    match rustix::fs::renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => match std::fs::symlink_metadata(to) {
            Ok(_) => Err(Errno::EXIST),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => rustix::fs::rename(from, to),
            Err(error) => Err(Errno::from_io_error(&error).unwrap_or(Errno::IO)),
        },
        other => other,
    }
}

/// The folder of a file, for writing beside it.
pub(super) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Replaces `path` by these bytes, whole or not at all. For derived files: it is not synced.
///
/// # Errors
/// A failure that names the file.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    replace_from(folder_of(path), path, bytes)
}

/// As [`replace`]; the file is made in `staging`, on the same file system. What a killed writer leaves is then looked for
/// there, and not among all the files of a folder that grows.
///
/// # Errors
/// As [`replace`].
pub fn replace_from(staging: &Path, path: &Path, bytes: &[u8]) -> Result<()> {
    replace_as(staging, path, bytes, Sync::No)
}

/// Replaces `path` by these bytes; when it returns, they survive a power loss.
///
/// # Errors
/// A failure that names the file.
pub fn replace_synced(path: &Path, bytes: &[u8]) -> Result<()> {
    replace_as(folder_of(path), path, bytes, Sync::Yes)
}

fn replace_as(staging: &Path, path: &Path, bytes: &[u8], sync: Sync) -> Result<()> {
    let mut temporary = Temporary::new(staging)?;
    temporary.file().write_all(bytes).map_err(|error| Error::io("write", path, &error))?;
    match sync {
        Sync::Yes => temporary.seal(0o600)?,
        Sync::No => temporary.set_mode(0o600)?,
    }
    temporary.rename_to(path)?;
    if sync == Sync::Yes {
        sync_directory(folder_of(path))?;
    }
    Ok(())
}

/// Writes a file that is written once: synced, whole, and only if the name is free. The one who gets
/// [`Created::Written`] is the only one.
///
/// # Errors
/// A failure that names the file; then it is not there, or it is there whole and the next writer finds it taken.
pub fn create_new(path: &Path, bytes: &[u8]) -> Result<Created> {
    create_new_from(folder_of(path), path, bytes)
}

/// As [`create_new`]; the file is made in `staging`, as for [`replace_from`].
///
/// # Errors
/// As [`create_new`].
pub fn create_new_from(staging: &Path, path: &Path, bytes: &[u8]) -> Result<Created> {
    let mut temporary = Temporary::new(staging)?;
    temporary.file().write_all(bytes).map_err(|error| Error::io("write", path, &error))?;
    temporary.seal(0o600)?;
    let created = temporary.publish(path)?;
    sync_directory(folder_of(path))?;
    Ok(created)
}

/// Appends one entry, which must not hold a line break, as a line of its own: in one write and with a line break before
/// it, so that an entry that was cut off spoils only itself. The file is made if it is absent.
///
/// # Errors
/// A failure that names the file.
pub fn append_line(path: &Path, bytes: &[u8]) -> Result<()> {
    super::refuse_links(folder_of(path))?;
    let flags =
        OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let named = |error: &std::io::Error| Error::io("append to", path, error);
    let mode = Mode::RUSR | Mode::WUSR;
    let mut file: File = rustix::fs::open(path, flags, mode).map_err(|error| named(&error.into()))?.into();
    let meta = file.metadata().map_err(|error| named(&error))?;
    if !meta.is_file() {
        return Err(Error::bad_input("not a regular file").at(path));
    }
    if meta.mode() & 0o777 != 0o600 && meta.len() == 0 {
        rustix::fs::fchmod(&file, mode).map_err(|error| named(&error.into()))?;
    }
    let mut line = Vec::with_capacity(bytes.len() + 2);
    line.push(b'\n');
    line.extend_from_slice(bytes);
    line.push(b'\n');
    let written = file.write(&line).map_err(|error| named(&error))?;
    if written == line.len() {
        return Ok(());
    }
    Err(named(&std::io::Error::from(std::io::ErrorKind::StorageFull)))
}

/// Makes the names in a directory survive a power loss.
///
/// # Errors
/// A failure that names the directory; a file system that cannot do it is none.
pub fn sync_directory(path: &Path) -> Result<Durability> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let named = |error: Errno| Error::io("sync the directory", path, &error.into());
    let directory = rustix::fs::open(path, flags, Mode::empty()).map_err(named)?;
    sync_open(directory.as_fd()).map_err(named)
}

/// As [`sync_directory`], of a directory that is open; of a file, its mode with it.
///
/// # Errors
/// What the system says.
pub fn sync_open(open: BorrowedFd<'_>) -> rustix::io::Result<Durability> {
    // There, fsync ends at the drive's own cache.
    #[cfg(target_vendor = "apple")]
    let synced = rustix::fs::fcntl_fullfsync(open);
    #[cfg(not(target_vendor = "apple"))]
    let synced = rustix::fs::fsync(open);
    match synced {
        Ok(()) => Ok(Durability::Synced),
        Err(Errno::INVAL | Errno::NOTSUP) => Ok(Durability::Unknown),
        Err(error) => Err(error),
    }
}

/// Writes a file that the user named. Links are followed, because the user may; what is no regular file (a terminal, a
/// pipe, `/dev/null`) is written into and stays what it is.
///
/// # Errors
/// A failure that names the file.
pub fn write_named(path: &Path, bytes: &[u8]) -> Result<()> {
    match std::fs::metadata(path) {
        Ok(meta) if !meta.is_file() => {
            let open = std::fs::OpenOptions::new().write(true).open(path);
            open.and_then(|mut file| file.write_all(bytes)).map_err(|error| Error::io("write", path, &error))
        }
        Ok(_) => {
            let real = std::fs::canonicalize(path).map_err(|error| Error::io("write", path, &error))?;
            replace(&real, bytes)
        }
        Err(_)
            if std::fs::metadata(folder_of(path)).is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound) =>
        {
            let folder = folder_of(path);
            let make = format!("make it first: `mkdir -p {}`", folder.display());
            Err(Error::bad_input("no such folder").at(folder).help(make))
        }
        Err(_) => replace(path, bytes),
    }
}

/// Removes what writers of ours left behind in `folder` when they were killed, and nothing of a process that lives.
/// Answers how many files went.
///
/// # Errors
/// The folder cannot be listed. A leftover that cannot be removed stays for the next time.
pub fn sweep_temporaries(folder: &Path) -> Result<u64> {
    let is_left_behind = |name: &OsStr| name.to_str().and_then(writer_of).is_some_and(|pid| !is_alive(pid));
    let mut swept = 0;
    for name in super::list_if(folder, is_left_behind)? {
        let path = folder.join(&name);
        if !is_locked(&path) && std::fs::remove_file(&path).is_ok() {
            swept += 1;
        }
    }
    Ok(swept)
}

/// The process that a temporary file's name says is writing it.
fn writer_of(name: &str) -> Option<i32> {
    let (pid, random) = name.strip_prefix(TEMPORARY)?.split_once('-')?;
    if random.is_empty() { None } else { pid.parse().ok() }
}

fn is_alive(pid: i32) -> bool {
    let Some(pid) = rustix::process::Pid::from_raw(pid) else { return true };
    !matches!(rustix::process::test_kill_process(pid), Err(Errno::SRCH))
}

/// Whether its writer, perhaps in another container where process ids mean something else, still has it open.
fn is_locked(path: &Path) -> bool {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(file) => matches!(File::from(file).try_lock(), Err(std::fs::TryLockError::WouldBlock)),
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests_support::make_fifo;
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        super::super::list(folder).unwrap().into_iter().map(|name| name.into_string().unwrap()).collect()
    }

    #[test]
    fn a_link_that_the_user_named_is_followed_and_a_device_stays_one() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("file"), dir.path().join("link"));
        write_named(&file, b"one").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let before = dir.path().join("before");
        std::fs::hard_link(&file, &before).unwrap();
        write_named(&link, b"two").unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), b"two");
        assert_eq!(std::fs::read(&before).unwrap(), b"one", "it is replaced, not written over");
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        let fifo = dir.path().join("fifo");
        make_fifo(&fifo);
        let reader = std::thread::spawn({
            let fifo = fifo.clone();
            move || std::fs::read(fifo).unwrap()
        });
        write_named(&fifo, b"three").unwrap();
        assert_eq!(reader.join().unwrap(), b"three");
        assert!(!std::fs::symlink_metadata(&fifo).unwrap().is_file(), "it is still a FIFO");
        assert!(write_named(dir.path(), b"").is_err());
        let error = write_named(&dir.path().join("none/file"), b"").unwrap_err();
        assert_eq!(
            (error.message.as_str(), error.place.path.as_deref()),
            ("no such folder", dir.path().join("none").to_str())
        );
        let error = Temporary::new(&dir.path().join("none")).unwrap_err();
        assert!(!error.to_string().contains(TEMPORARY), "{error}");
    }

    #[test]
    fn a_name_is_given_once_and_nothing_is_left_beside_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("record.json");
        assert_eq!(create_new(&path, b"one").unwrap(), Created::Written);
        assert_eq!(create_new(&path, b"two").unwrap(), Created::AlreadyThere);
        assert_eq!(std::fs::read(&path).unwrap(), b"one");
        assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(names(dir.path()), ["record.json"]);
        assert_eq!(std::fs::metadata(&path).unwrap().nlink(), 1);
    }

    #[test]
    fn a_dangling_link_takes_the_name_too() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("record.json");
        std::os::unix::fs::symlink(dir.path().join("outside"), &path).unwrap();
        assert_eq!(create_new(&path, b"one").unwrap(), Created::AlreadyThere);
        assert!(std::fs::symlink_metadata(dir.path().join("outside")).is_err());
    }

    /// NFS may answer that a name is taken to the very request that took it, sent twice.
    #[test]
    fn a_name_that_is_taken_by_the_same_file_is_ours() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("record.json");
        let temporary = Temporary::new(dir.path()).unwrap();
        rustix::fs::link(temporary.path(), &path).unwrap();
        assert_eq!(temporary.publish(&path).unwrap(), Created::Written);
        assert_eq!(Temporary::new(dir.path()).unwrap().publish(&path).unwrap(), Created::AlreadyThere);
        assert_eq!(names(dir.path()), ["record.json"]);
    }

    #[test]
    fn rename_without_links_does_not_replace_either() {
        let dir = tempfile::tempdir().unwrap();
        let (from, to) = (dir.path().join("from"), dir.path().join("to"));
        std::fs::write(&from, "new").unwrap();
        std::fs::write(&to, "old").unwrap();
        assert_eq!(rename_if_free(&from, &to), Err(Errno::EXIST));
        std::fs::remove_file(&to).unwrap();
        assert_eq!(rename_if_free(&from, &to), Ok(()));
        assert_eq!(std::fs::read(&to).unwrap(), b"new");
    }

    #[test]
    fn replacing_is_whole_and_replaces_a_link_instead_of_following_it() {
        let dir = tempfile::tempdir().unwrap();
        let (outside, path) = (dir.path().join("outside"), dir.path().join("derived.json"));
        std::fs::write(&outside, "mine").unwrap();
        std::os::unix::fs::symlink(&outside, &path).unwrap();
        replace(&path, b"first").unwrap();
        replace_synced(&path, b"second").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"second");
        assert_eq!(std::fs::read(&outside).unwrap(), b"mine");
        assert_eq!(names(dir.path()), ["derived.json", "outside"]);
    }

    #[test]
    fn lines_are_appended_each_on_its_own_even_after_a_torn_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("activity.jsonl");
        append_line(&path, b"{\"a\":1}").unwrap();
        let torn = [std::fs::read(&path).unwrap(), b"\n{\"b\":".to_vec()].concat();
        std::fs::write(&path, torn).unwrap();
        append_line(&path, b"{\"c\":3}").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"\n{\"a\":1}\n\n{\"b\":\n{\"c\":3}\n");
        assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        std::os::unix::fs::symlink(&path, dir.path().join("link")).unwrap();
        assert!(append_line(&dir.path().join("link"), b"{}").is_err());
    }

    // PROMISES S71.
    #[test]
    fn only_leftovers_of_dead_processes_are_swept() {
        let dir = tempfile::tempdir().unwrap();
        // The highest process id that Linux gives is 4194304.
        let dead = dir.path().join(".tmp-2147483646-abc");
        let living = dir.path().join(format!(".tmp-{}-abc", std::process::id()));
        let elsewhere = dir.path().join(".tmp-2147483645-abc");
        for path in [&dead, &living, &elsewhere, &dir.path().join(".tmp-x-abc"), &dir.path().join("note.txt~")] {
            std::fs::write(path, "x").unwrap();
        }
        let writer = File::open(&elsewhere).unwrap();
        writer.lock().unwrap();
        // Whoever put that there would have us wait for a writer.
        let fifo = dir.path().join(".tmp-2147483644-abc");
        make_fifo(&fifo);
        assert_eq!(sweep_temporaries(dir.path()).unwrap(), 2);
        assert!([&dead, &fifo].iter().all(|path| std::fs::symlink_metadata(path).is_err()));
        assert_eq!(names(dir.path()).len(), 4);
        assert_eq!(sweep_temporaries(&dir.path().join("absent")).unwrap(), 0);
    }

    // PROMISES S70.
    #[test]
    fn nothing_is_written_through_a_folder_of_the_store_that_is_a_link() {
        let (dir, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let folder = dir.path().join(".progress");
        std::os::unix::fs::symlink(outside.path(), &folder).unwrap();
        let path = folder.join("file");
        assert!(create_new(&path, b"x").is_err() && replace(&path, b"x").is_err() && append_line(&path, b"x").is_err());
        assert!(names(outside.path()).is_empty());
    }

    #[test]
    fn a_file_in_the_making_is_locked_for_those_who_cannot_see_its_process() {
        let dir = tempfile::tempdir().unwrap();
        let temporary = Temporary::new(dir.path()).unwrap();
        assert!(is_locked(temporary.path()));
        let path = temporary.path().to_owned();
        temporary.rename_to(&dir.path().join("final")).unwrap();
        assert!(!is_locked(&path) && !is_locked(&dir.path().join("final")));
    }
}
