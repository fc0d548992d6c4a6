//! `restores/<n>/`: what one restore keeps while it runs, and which restores there are.
//!
//! `stage/` and `trash/` are flat, hold only names of our making, and go when the restore ends; `rescued/` stays.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use rustix::io::Errno;

use crate::disk::layout::Layout;
use crate::disk::{self, for_each};
use crate::error::{Error, Result};

/// The folder of one restore.
#[derive(Clone, Debug)]
pub struct Folder {
    /// The restore's number, from 1.
    pub number: u64,
    dir: PathBuf,
}

impl Folder {
    /// The folder of restore `number`; nothing is made.
    pub fn of(layout: &Layout, number: u64) -> Folder {
        Folder { number, dir: layout.restore_dir(number) }
    }

    /// Makes the folder of the next restore.
    ///
    /// # Errors
    /// A failure that names the folder.
    pub fn make_next(layout: &Layout) -> Result<Folder> {
        let number = numbers(layout)?.last().map_or(1, |last| last.saturating_add(1));
        let folder = Folder::of(layout, number);
        disk::make_directory(&layout.restores())?;
        disk::keep_apart(&layout.restores());
        disk::make_directory(&folder.dir)?;
        // Writing the journal syncs their names.
        disk::make_directory_unsynced(&folder.stage())?;
        disk::make_directory_unsynced(&folder.trash())?;
        Ok(folder)
    }

    /// What the restore is about, written before its journal: the way back if the journal is damaged.
    pub fn intent(&self) -> PathBuf {
        self.dir.join("intent.json")
    }

    /// Its being there means: begun and not ended.
    pub fn journal(&self) -> PathBuf {
        self.dir.join("journal")
    }

    /// New files, before they get their places.
    pub fn stage(&self) -> PathBuf {
        self.dir.join("stage")
    }

    /// Files that had to go.
    pub fn trash(&self) -> PathBuf {
        self.dir.join("trash")
    }

    /// Files that somebody changed while the restore ran, under their own paths.
    pub fn rescued(&self) -> PathBuf {
        self.dir.join("rescued")
    }

    /// Whether it was begun and has not ended. Files in the trash tell so too, should the journal have been lost.
    ///
    /// # Errors
    /// A failure that names the journal or the trash.
    pub fn is_pending(&self) -> Result<bool> {
        Ok(disk::metadata(&self.journal())?.is_some() || !disk::list(&self.trash())?.is_empty())
    }

    /// Removes the journal: the restore has ended.
    ///
    /// # Errors
    /// A failure that names the journal.
    pub fn close(&self) -> Result<()> {
        unlink(&self.journal())?;
        disk::sync_directory(&self.dir).map(|_| ())
    }

    /// Removes what an ended restore no longer needs, and the folder itself if nothing was rescued.
    ///
    /// # Errors
    /// A failure that names what could not be removed.
    pub fn clean(&self) -> Result<()> {
        empty(&self.stage())?;
        empty(&self.trash())?;
        disk::sweep_temporaries(&self.dir)?;
        unlink(&self.intent())?;
        match rustix::fs::unlinkat(CWD, &self.dir, AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT | Errno::NOTEMPTY | Errno::EXIST) => Ok(()),
            Err(error) => Err(Error::io("remove the directory", &self.dir, &error.into())),
        }
    }
}

/// Opens a directory of the store.
///
/// # Errors
/// A failure that names it.
pub fn open(path: &Path) -> Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    rustix::fs::open(path, flags, Mode::empty()).map_err(|error| Error::io("open the directory", path, &error.into()))
}

/// Removes a flat directory of ours; one that is absent is no error.
///
/// # Errors
/// A failure that names what could not be removed.
pub fn empty(path: &Path) -> Result<()> {
    // Where the disk is told of freed blocks at once, each file waits for that.
    for_each(&disk::list(path)?, |name| unlink(&path.join(name)))?;
    match rustix::fs::unlinkat(CWD, path, AtFlags::REMOVEDIR) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(Error::io("remove the directory", path, &error.into())),
    }
}

/// Removes a file; one that is absent is no error.
///
/// # Errors
/// A failure that names it.
pub fn unlink(path: &Path) -> Result<()> {
    match rustix::fs::unlink(path) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(Error::io("remove", path, &error.into())),
    }
}

/// The numbers of all restores of which anything is there, ascending.
///
/// # Errors
/// A failure that names the directory.
pub fn numbers(layout: &Layout) -> Result<BTreeSet<u64>> {
    named(layout, |name| name.strip_suffix(".json").unwrap_or(name))
}

/// Those whose folder is there: records stay, and there may be thousands.
fn with_folder(layout: &Layout) -> Result<BTreeSet<u64>> {
    named(layout, |name| name)
}

/// The numbers of which `digits` makes names. Only what we would write ourselves: no sign, no leading zero.
fn named(layout: &Layout, digits: impl Fn(&str) -> &str) -> Result<BTreeSet<u64>> {
    let number = |name: OsString| {
        let digits = digits(name.to_str()?);
        digits.parse().ok().filter(|number: &u64| number.to_string() == digits)
    };
    Ok(disk::list(&layout.restores())?.into_iter().filter_map(number).collect())
}

/// The restore that was begun and has not ended.
///
/// # Errors
/// A failure that names the journal.
pub fn pending(layout: &Layout) -> Result<Option<Folder>> {
    for number in with_folder(layout)?.into_iter().rev() {
        let folder = Folder::of(layout, number);
        // With its record written, all that is left to do is cleaning up.
        if folder.is_pending()? && disk::metadata(&layout.restore_record(number))?.is_none() {
            return Ok(Some(folder));
        }
    }
    Ok(None)
}

/// Cleans up after restores that ended, or that were killed before anything was changed.
///
/// # Errors
/// A failure that names what could not be removed.
pub fn sweep(layout: &Layout) -> Result<()> {
    for number in with_folder(layout)? {
        let folder = Folder::of(layout, number);
        let ended = disk::metadata(&layout.restore_record(number))?.is_some();
        if ended {
            folder.close()?;
        }
        if ended || !folder.is_pending()? {
            folder.clean()?;
        }
    }
    disk::sweep_temporaries(&layout.restores()).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the file system takes marks at all, as the temporary folder shows.
    #[test]
    #[cfg(target_os = "linux")]
    fn restores_lie_apart_from_each_other() {
        use rustix::fs::{IFlags, ioctl_getflags, ioctl_setflags};
        let dir = tempfile::tempdir().unwrap();
        let mark = |open| ioctl_setflags(open, ioctl_getflags(open)? | IFlags::TOPDIR);
        if let Err(error) = mark(&open(dir.path()).unwrap()) {
            eprintln!("skipped: no marks here ({error})");
            return;
        }
        let layout = Layout::new(dir.path());
        let first = Folder::make_next(&layout).unwrap();
        let is_apart = |path: &Path| ioctl_getflags(open(path).unwrap()).unwrap().contains(IFlags::TOPDIR);
        assert_eq!([layout.restores(), first.stage(), first.trash()].map(|path| is_apart(&path)), [true, false, false]);
    }

    #[test]
    fn no_link_is_followed_into_a_folder() {
        let dir = tempfile::tempdir().unwrap();
        let link = dir.path().join("stage");
        std::os::unix::fs::symlink(dir.path(), &link).unwrap();
        assert!(open(dir.path()).is_ok() && open(&link).is_err());
    }
}
