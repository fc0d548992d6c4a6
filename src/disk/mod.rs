//! The disk: reading with limits, writing that appears whole or not at all, and every error with its path.
//!
//! What lies in the store is read without following links and only if it is a regular file, so that a link or a FIFO
//! that somebody left there neither leads us away nor makes us wait.

pub mod hash;
pub mod layout;
pub mod lock;
mod many;
pub mod spool;
#[cfg(test)]
pub mod tests_support;
pub mod theirs;
mod time;
mod write;

use std::ffi::{OsStr, OsString};
use std::fs::{DirEntry, File, Metadata};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::Path;

use rustix::fs::{Mode, OFlags, RawMode};

pub use many::for_each;
pub use time::time_on;
pub use write::{
    Created, Durability, Temporary, append_line, create_new, create_new_from, rename_if_free, replace, replace_from,
    replace_synced, sweep_temporaries, sync_directory, sync_open, write_named,
};

use crate::error::{Error, Result};
use crate::model::ids::ObjectId;
use layout::Layout;

/// Opens a regular file of the store for reading; links are not followed, and nothing blocks.
///
/// # Errors
/// Bad input if it is absent or no regular file; a failure if the system says no.
pub fn open_regular(path: &Path) -> Result<File> {
    open_if_present(path)?.ok_or_else(|| Error::bad_input("file is missing").at(path))
}

fn open_if_present(path: &Path) -> Result<Option<File>> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file: File = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(file) => file.into(),
        Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => return Ok(None),
        Err(rustix::io::Errno::LOOP) => return Err(irregular(path, "it is a symbolic link")),
        Err(rustix::io::Errno::NXIO) => return Err(irregular(path, "it is a socket or a device")),
        Err(error) => return Err(Error::io("open", path, &error.into())),
    };
    let meta = file.metadata().map_err(|error| Error::io("look at", path, &error))?;
    if meta.is_dir() {
        return Err(irregular(path, "it is a directory"));
    }
    if !meta.is_file() {
        return Err(irregular(path, "it is a FIFO, a socket or a device"));
    }
    Ok(Some(file))
}

fn irregular(path: &Path, why: &str) -> Error {
    Error::bad_input("not a regular file").at(path).because(why)
}

/// The content of a file of the store, at most `limit` bytes.
///
/// # Errors
/// Bad input if the file is absent, larger, or no regular file; a failure if the system says no.
pub fn read(path: &Path, limit: u64) -> Result<Vec<u8>> {
    read_if_present(path, limit)?.ok_or_else(|| Error::bad_input("file is missing").at(path))
}

/// As [`read`]; `None` if the file is absent.
///
/// # Errors
/// As [`read`].
pub fn read_if_present(path: &Path, limit: u64) -> Result<Option<Vec<u8>>> {
    match open_if_present(path)? {
        Some(file) => read_open(file, path, limit).map(Some),
        None => Ok(None),
    }
}

/// The id of what a file of the store holds, however large; `None` if it is absent.
///
/// # Errors
/// As [`read`].
pub fn id_if_present(path: &Path) -> Result<Option<ObjectId>> {
    let Some(mut file) = open_if_present(path)? else { return Ok(None) };
    let mut hasher = hash::Hasher::new();
    std::io::copy(&mut file, &mut hasher).map_err(|error| Error::io("read", path, &error))?;
    Ok(Some(hasher.finish()))
}

/// The content of a file that the user named, at most `limit` bytes. Links are followed, because the user may.
///
/// # Errors
/// As [`read`].
pub fn read_named(path: &Path, limit: u64) -> Result<Vec<u8>> {
    read_open(open_named(path)?, path, limit)
}

/// Opens a regular file that the user named for reading. Links are followed, because the user may.
///
/// # Errors
/// As [`open_regular`].
pub fn open_named(path: &Path) -> Result<File> {
    let real = match std::fs::canonicalize(path) {
        Ok(real) => real,
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(Error::bad_input("no such file").at(path)),
        Err(error) => return Err(Error::io("open", path, &error)),
    };
    open_regular(&real).map_err(|error| error.at(path))
}

fn read_open(file: File, path: &Path, limit: u64) -> Result<Vec<u8>> {
    let length = file.metadata().map_or(0, |meta| meta.len().min(limit));
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default().saturating_add(1));
    // One byte more tells a file at the limit from one over it, even while it grows.
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(|error| Error::io("read", path, &error))?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length <= limit) {
        return Ok(bytes);
    }
    Err(Error::bad_input(format!("file is larger than {limit} bytes")).at(path))
}

/// The names in a directory, sorted by their bytes; a directory that is absent has none.
///
/// # Errors
/// A failure that names the directory.
pub fn list(dir: &Path) -> Result<Vec<OsString>> {
    list_if(dir, |_| true)
}

/// As [`list`], those of the names that are wanted.
///
/// # Errors
/// As [`list`].
pub fn list_if(dir: &Path, is_wanted: impl Fn(&OsStr) -> bool) -> Result<Vec<OsString>> {
    let mut names = entries(dir, |entry| Ok(Some(entry.file_name()).filter(|name| is_wanted(name))))?;
    names.sort();
    Ok(names)
}

/// The files of a directory whose names `read` makes something of, with their lengths in bytes, in no order; what goes
/// meanwhile is left out. Looking a file up in its open directory costs half of what its whole path does.
///
/// # Errors
/// As [`list`].
pub fn list_lengths<T>(dir: &Path, read: impl Fn(&OsStr) -> Option<T>) -> Result<Vec<(T, u64)>> {
    entries(dir, |entry| {
        let Some(name) = read(&entry.file_name()) else { return Ok(None) };
        match entry.metadata() {
            Ok(meta) => Ok(Some((name, meta.len()))),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    })
}

/// What `take` makes of the entries of a directory, in the system's order.
fn entries<T>(dir: &Path, take: impl Fn(&DirEntry) -> std::io::Result<Option<T>>) -> Result<Vec<T>> {
    let entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::io("list", dir, &error)),
    };
    let taken: std::io::Result<Vec<Option<T>>> = entries.map(|entry| take(&entry?)).collect();
    Ok(taken.map_err(|error| Error::io("list", dir, &error))?.into_iter().flatten().collect())
}

/// Bytes of all files in a directory and below it, links not followed. What goes meanwhile counts nothing.
///
/// # Errors
/// A failure that names what cannot be looked at.
pub fn bytes_below(dir: &Path) -> Result<u64> {
    let mut bytes = 0u64;
    let mut waiting = vec![dir.to_path_buf()];
    while let Some(folder) = waiting.pop() {
        for name in list(&folder)? {
            let path = folder.join(name);
            match metadata(&path)? {
                Some(meta) if meta.is_dir() => waiting.push(path),
                Some(meta) if meta.is_file() => bytes = bytes.saturating_add(meta.len()),
                _ => {}
            }
        }
    }
    Ok(bytes)
}

/// The permission bits of a mode, as the system's own calls answer it.
pub fn permissions(mode: RawMode) -> u32 {
    #[cfg_attr(target_os = "linux", expect(clippy::useless_conversion, reason = "a mode has 16 bits on other systems"))]
    u32::from(mode & 0o777)
}

/// What the system knows of a path, links not followed; `None` if nothing is there.
///
/// # Errors
/// A failure that names the path: an I/O error is not absence.
pub fn metadata(path: &Path) -> Result<Option<Metadata>> {
    match std::fs::symlink_metadata(path) {
        Ok(meta) => Ok(Some(meta)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(Error::io("look at", path, &error)),
    }
}

/// Makes a directory of the store, 0700 whatever the umask, with those above it that are absent, and syncs the
/// directories that got a new name. One that is there is left as it is.
///
/// # Errors
/// Bad input if something else has the name; a failure if the system says no.
pub fn make_directory(path: &Path) -> Result<()> {
    refuse_links(path)?;
    let mut missing = Vec::new();
    for folder in path.ancestors().filter(|folder| !folder.as_os_str().is_empty()) {
        match metadata(folder)? {
            Some(meta) if meta.is_dir() => break,
            // A link above the store (a home directory that is one) is the user's.
            Some(meta) if meta.is_symlink() && folder != path => break,
            Some(_) => return Err(Error::bad_input("not a directory").at(folder)),
            None => missing.push(folder),
        }
    }
    for folder in missing.into_iter().rev() {
        make_directory_unsynced(folder)?;
        if let Some(parent) = folder.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            sync_directory(parent)?;
        }
    }
    Ok(())
}

/// Whether no folder of the store on the way to `folder`, itself included, is a link: nothing of ours is, so somebody
/// wants us to write elsewhere.
fn refuse_links(folder: &Path) -> Result<()> {
    let is_in_store = |folder: &&Path| folder.components().any(|part| part.as_os_str() == ".progress");
    for folder in folder.ancestors().take_while(is_in_store) {
        if metadata(folder)?.is_some_and(|meta| meta.is_symlink()) {
            return Err(Error::bad_input("a folder of the store is a symbolic link")
                .at(folder)
                .because("nothing is written through it")
                .help("put the folder itself there"));
        }
    }
    Ok(())
}

/// Makes a directory of the store, 0700 whatever the umask, below one that is there. Its name lasts once that one is synced.
///
/// # Errors
/// A failure if the system says no.
pub fn make_directory_unsynced(path: &Path) -> Result<()> {
    match std::fs::DirBuilder::new().mode(0o700).create(path) {
        Ok(()) => {}
        // Another process was faster.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(()),
        Err(error) => return Err(Error::io("make the directory", path, &error)),
    }
    let meta = metadata(path)?.ok_or_else(|| Error::failed("directory vanished").at(path))?;
    if meta.is_dir() && meta.mode() & 0o777 != 0o700 {
        #[expect(clippy::disallowed_methods, reason = "the directory was made by us just now")]
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700))
            .map_err(|error| Error::io("set the mode of", path, &error))?;
    }
    Ok(())
}

/// Asks the file system to keep the folders in this one apart from all else and from each other (`chattr +T`). ext4 without a
/// journal is slow at making files where many were removed within minutes, as an earlier restore did. It is only a wish: nothing
/// is said where it is not heard.
pub fn keep_apart(folder: &Path) {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{IFlags, ioctl_getflags, ioctl_setflags};
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let Ok(open) = rustix::fs::open(folder, flags, Mode::empty()) else { return };
        let _ = ioctl_getflags(&open).and_then(|flags| ioctl_setflags(&open, flags | IFlags::TOPDIR));
    }
    #[cfg(not(target_os = "linux"))]
    let _ = folder;
}

/// Removes a folder of ours with all that is in it; one that is absent is no error.
///
/// # Errors
/// A failure that names it.
pub fn remove_folder(path: &Path) -> Result<()> {
    #[expect(clippy::disallowed_methods, reason = "the folder is below the store, and links in it are not followed")]
    match std::fs::remove_dir_all(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(Error::io("remove", path, &error)),
        _ => Ok(()),
    }
}

/// Makes the store if it is absent, and checks it: see [`check_store`].
///
/// # Errors
/// As [`check_store`], and a failure if it cannot be made.
pub fn open_store(layout: &Layout) -> Result<()> {
    if !check_store(layout)? {
        make_directory_unsynced(&layout.store())?;
        sync_directory(layout.root())?;
        check_store(layout)?;
    }
    if metadata(&layout.gitignore())?.is_none() {
        // It is made where every snapshot looks for what killed writers left.
        make_directory_unsynced(&layout.cache())?;
        create_new_from(&layout.cache(), &layout.gitignore(), b"*\n")?;
    }
    Ok(())
}

/// Whether the work tree has a store; nothing is written. A store must be a real directory on the work tree's own file
/// system, and belong to the caller or to the work tree's owner; its own folders are no links.
///
/// # Errors
/// Bad input, with the remedy, if `.progress` is anything else, or the work tree is no directory.
pub fn check_store(layout: &Layout) -> Result<bool> {
    let store = layout.store();
    let tree = std::fs::metadata(layout.root()).map_err(|error| match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => Error::bad_input("no such work tree").at(layout.root()),
        _ => Error::io("look at the work tree", layout.root(), &error),
    })?;
    if !tree.is_dir() {
        return Err(Error::bad_input("the work tree is not a directory").at(layout.root()));
    }
    let Some(meta) = metadata(&store)? else { return Ok(false) };
    let refuse = |why: &str| Error::bad_input("the store cannot be used").at(&store).because(why);
    if !meta.is_dir() {
        let why = if meta.is_symlink() { "it is a symbolic link" } else { "it is not a directory" };
        return Err(refuse(why).help("move it away, then try again: `mv .progress progress-aside`"));
    }
    if meta.dev() != tree.dev() {
        return Err(refuse("it is on another file system than the work tree").help("unmount it, then try again"));
    }
    let caller = rustix::process::geteuid().as_raw();
    if meta.uid() != caller && meta.uid() != tree.uid() {
        return Err(refuse(&format!("it belongs to user {}, neither to you nor to the work tree's owner", meta.uid()))
            .help(format!("if you trust it: `sudo chown -R {caller} .progress`")));
    }
    [layout.objects(), layout.restores(), layout.cache()].iter().try_for_each(|folder| refuse_links(folder))?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind as Kind;

    #[test]
    fn reading_keeps_its_limit_and_takes_regular_files_only() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        std::fs::write(&file, "12345").unwrap();
        assert_eq!(read(&file, 5).unwrap(), b"12345");
        assert_eq!(read(&file, 4).unwrap_err().kind, Kind::BadInput);
        assert_eq!(read_if_present(&dir.path().join("absent"), 4).unwrap(), None);
        assert!(read(&dir.path().join("absent"), 4).is_err());
        assert!(read(dir.path(), 4).unwrap_err().to_string().contains("directory"));
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert!(read(&link, 5).unwrap_err().to_string().contains("symbolic link"));
        assert_eq!(read_named(&link, 5).unwrap(), b"12345");
        let fifo = dir.path().join("fifo");
        tests_support::make_fifo(&fifo);
        assert!(read(&fifo, 5).unwrap_err().to_string().contains("FIFO"));
    }

    #[test]
    fn a_store_is_made_private_and_out_of_gits_sight() {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::new(dir.path());
        assert!(!check_store(&layout).unwrap());
        open_store(&layout).unwrap();
        open_store(&layout).unwrap();
        assert!(check_store(&layout).unwrap());
        assert_eq!(std::fs::metadata(layout.store()).unwrap().mode() & 0o777, 0o700);
        assert_eq!(std::fs::read(layout.gitignore()).unwrap(), b"*\n");
        make_directory(&layout.restore_dir(3).join("stage")).unwrap();
        assert_eq!(std::fs::metadata(layout.restore_dir(3)).unwrap().mode() & 0o777, 0o700);
        assert_eq!(list(&layout.restores()).unwrap(), ["3"]);
    }

    // PROMISES S70, A59.
    #[test]
    fn a_store_that_is_a_link_or_a_file_or_anothers_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        let layout = Layout::new(dir.path());
        std::os::unix::fs::symlink(elsewhere.path(), layout.store()).unwrap();
        let error = open_store(&layout).unwrap_err();
        assert_eq!(error.kind, Kind::BadInput);
        assert!(error.help.is_some());
        assert!(list(elsewhere.path()).unwrap().is_empty());
        std::fs::remove_file(layout.store()).unwrap();
        std::fs::write(layout.store(), "").unwrap();
        assert_eq!(open_store(&layout).unwrap_err().kind, Kind::BadInput);
        std::fs::remove_file(layout.store()).unwrap();
        std::fs::create_dir(layout.store()).unwrap();
        // Only root can give files away.
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(layout.store(), Some(4321), None).unwrap();
            let error = check_store(&layout).unwrap_err();
            assert!(error.to_string().contains("user 4321") && error.help.is_some(), "{error}");
            std::os::unix::fs::chown(dir.path(), Some(4321), None).unwrap();
            assert!(check_store(&layout).unwrap());
        }
    }

    #[test]
    fn bytes_are_those_of_files_and_links_lead_nowhere() {
        let dir = tempfile::tempdir().unwrap();
        make_directory(&dir.path().join("a/b")).unwrap();
        std::fs::write(dir.path().join("a/one"), "12345").unwrap();
        std::fs::write(dir.path().join("a/b/two"), "123").unwrap();
        std::os::unix::fs::symlink("/", dir.path().join("a/b/link")).unwrap();
        assert_eq!(bytes_below(dir.path()).unwrap(), 8);
        assert_eq!(bytes_below(&dir.path().join("absent")).unwrap(), 0);
    }

    #[test]
    fn a_file_in_the_way_of_a_directory_is_named() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a"), "").unwrap();
        assert!(make_directory(&dir.path().join("a/b")).unwrap_err().to_string().contains("not a directory"));
        assert!(metadata(&dir.path().join("a/b")).unwrap().is_none());
        let layout = Layout::new(dir.path());
        open_store(&layout).unwrap();
        let outside = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(outside.path(), layout.restores()).unwrap();
        assert!(make_directory(&layout.restore_dir(1)).is_err());
        assert!(list(outside.path()).unwrap().is_empty());
    }

    #[test]
    fn lengths_are_those_of_the_names_that_are_wanted() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a.pack"), "12345").unwrap();
        std::fs::write(dir.path().join("b.other"), "123").unwrap();
        let packs = |name: &OsStr| name.to_str()?.strip_suffix(".pack").map(str::to_owned);
        assert_eq!(list_lengths(dir.path(), packs).unwrap(), [("a".to_owned(), 5)]);
        assert!(list_lengths(&dir.path().join("absent"), packs).unwrap().is_empty());
        assert!(list_lengths(&dir.path().join("a.pack"), packs).is_err());
        assert_eq!(list_if(dir.path(), |name| name == "b.other").unwrap(), ["b.other"]);
        let names: Vec<OsString> = (10..30).map(|number: u32| number.to_string().into()).collect();
        names.iter().for_each(|name| std::fs::write(dir.path().join(name), "").unwrap());
        assert_eq!(list_if(dir.path(), |name| name.len() == 2).unwrap(), names);
    }

    #[test]
    fn a_work_tree_that_is_none_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        std::fs::write(&file, "").unwrap();
        for (root, why) in [(file.as_path(), "not a directory"), (&dir.path().join("absent"), "no such work tree")] {
            let error = check_store(&Layout::new(root)).unwrap_err();
            assert!(error.kind == Kind::BadInput && error.to_string().contains(why), "{error}");
        }
        let error = read_named(&dir.path().join("absent"), 5).unwrap_err();
        assert!(error.kind == Kind::BadInput && error.to_string().contains("no such file"), "{error}");
        assert_eq!(read_named(&file.join("below"), 5).unwrap_err().kind, Kind::Failed);
    }

    #[test]
    fn what_the_system_cannot_tell_is_not_absent() {
        let dir = tempfile::tempdir().unwrap();
        let too_long = dir.path().join("x".repeat(300));
        assert!(metadata(&too_long).is_err() && read_if_present(&too_long, 5).is_err() && list(&too_long).is_err());
    }

    #[test]
    fn a_link_above_the_store_is_the_users_and_one_in_it_is_nobodys() {
        let dir = tempfile::tempdir().unwrap();
        let (home, link) = (dir.path().join("home"), dir.path().join("link"));
        std::fs::create_dir(&home).unwrap();
        std::os::unix::fs::symlink(&home, &link).unwrap();
        make_directory(&link.join("a/b")).unwrap();
        assert!(metadata(&home.join("a/b")).unwrap().is_some());
        assert!(make_directory(&link).unwrap_err().to_string().contains("not a directory"));
        let layout = Layout::new(dir.path());
        open_store(&layout).unwrap();
        std::os::unix::fs::symlink(&home, layout.objects()).unwrap();
        assert!(check_store(&layout).unwrap_err().to_string().contains("symbolic link"));
    }
}
