//! Locks between processes. They are a courtesy that avoids wasted work: that no iteration is lost does not depend on
//! them, so a file system without locks is no error.

use std::fs::{File, Metadata, TryLockError};
use std::io::{Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use chrono::{DateTime, SecondsFormat, Utc};
use rustix::fs::{Mode, OFlags};

use crate::error::{Error, Result};

/// A lock that is held until it is dropped, or until its process ends in whatever way.
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    file: Option<File>,
}

/// First pause between two tries; it doubles up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(2);
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

impl Lock {
    /// Takes the lock alone, waiting at most `wait`.
    ///
    /// # Errors
    /// A failure that names the holder if it is still held after `wait`.
    pub fn exclusive(path: &Path, wait: Duration) -> Result<Lock> {
        Lock::take(path, wait, File::try_lock)
    }

    /// Takes the lock together with others that share it, waiting at most `wait`.
    ///
    /// # Errors
    /// As [`Lock::exclusive`].
    pub fn shared(path: &Path, wait: Duration) -> Result<Lock> {
        Lock::take(path, wait, File::try_lock_shared)
    }

    /// Whether the system gave the lock. It is false where locks are not supported or the lock file cannot be opened;
    /// what must not run beside others (prune) refuses then.
    pub fn is_held(&self) -> bool {
        self.file.is_some()
    }

    /// The lock file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn take(path: &Path, wait: Duration, attempt: fn(&File) -> Result<(), TryLockError>) -> Result<Lock> {
        let unheld = || Lock { path: path.to_path_buf(), file: None };
        let Some(mut file) = open(path) else { return Ok(unheld()) };
        let mut waited = Duration::ZERO;
        let mut pause = FIRST_PAUSE;
        loop {
            match attempt(&file) {
                Ok(()) if is_still_there(&file, path) => {
                    sign(&mut file);
                    return Ok(Lock { path: path.to_path_buf(), file: Some(file) });
                }
                // Somebody removed the file before we locked it: others would then lock another one.
                Ok(()) => match open(path) {
                    Some(again) => file = again,
                    None => return Ok(unheld()),
                },
                Err(TryLockError::Error(_)) => return Ok(unheld()),
                Err(TryLockError::WouldBlock) => {}
            }
            if waited >= wait {
                return Err(busy(path, &mut file));
            }
            let pausing = pause.min(wait.saturating_sub(waited));
            std::thread::sleep(pausing);
            // Sleeps are counted instead of a clock being read.
            waited += pausing;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if let Some(file) = &self.file {
            // Closing the file frees the lock as well; a child that is just being started may still hold a copy of it.
            let _ = file.unlock();
        }
    }
}

/// Opens the lock file, making it if it is absent. `None` if that is not possible (a directory, a read-only disk): then
/// the work goes on without a lock.
fn open(path: &Path) -> Option<File> {
    let flags = OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let mode = Mode::RUSR | Mode::WUSR;
    let file: File = rustix::fs::open(path, flags | OFlags::RDWR | OFlags::CREATE, mode)
        .or_else(|_| rustix::fs::open(path, flags | OFlags::RDONLY, Mode::empty()))
        .ok()?
        .into();
    let meta = file.metadata().ok().filter(Metadata::is_file)?;
    if meta.mode() & 0o777 != 0o600 && meta.len() == 0 {
        // Made just now, under a umask that takes more away than it should.
        let _ = rustix::fs::fchmod(&file, mode);
    }
    Some(file)
}

fn is_still_there(file: &File, path: &Path) -> bool {
    match (file.metadata(), std::fs::symlink_metadata(path)) {
        (Ok(ours), Ok(there)) => (ours.dev(), ours.ino()) == (there.dev(), there.ino()),
        _ => false,
    }
}

/// Writes our process id for those who wait; the file's time then says since when. It is for people only.
fn sign(file: &mut File) {
    let _ = file.set_len(0).and_then(|()| file.write_all(format!("{}\n", std::process::id()).as_bytes()));
}

fn busy(path: &Path, file: &mut File) -> Error {
    let mut text = String::new();
    let holder = match file.take(64).read_to_string(&mut text) {
        Ok(_) if !text.trim().is_empty() && text.trim().chars().all(|c| c.is_ascii_digit()) => {
            format!("process {}", text.trim())
        }
        _ => "another process".to_owned(),
    };
    let since = file
        .metadata()
        .and_then(|meta| meta.modified())
        .map(|time| format!(" since {}", DateTime::<Utc>::from(time).to_rfc3339_opts(SecondsFormat::Secs, true)));
    Error::failed("the store is busy")
        .at(path)
        .because(format!("{holder} holds the lock{}", since.unwrap_or_default()))
        .help("nothing was changed; try again when it has ended")
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Duration = Duration::ZERO;

    #[test]
    fn one_alone_or_many_together_and_the_holder_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let alone = Lock::exclusive(&path, NOW).unwrap();
        assert!(alone.is_held());
        let error = Lock::shared(&path, Duration::from_millis(5)).unwrap_err();
        assert!(error.to_string().contains(&format!("process {}", std::process::id())), "{error}");
        assert!(error.to_string().contains(" since 2"), "{error}");
        drop(alone);
        let first = Lock::shared(&path, NOW).unwrap();
        let second = Lock::shared(&path, NOW).unwrap();
        assert!(first.is_held() && second.is_held());
        assert!(Lock::exclusive(&path, NOW).is_err());
        drop((first, second));
        assert!(Lock::exclusive(&path, NOW).unwrap().is_held());
    }

    #[test]
    fn the_lock_file_is_private_and_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        drop(Lock::exclusive(&path, NOW).unwrap());
        let meta = std::fs::symlink_metadata(&path).unwrap();
        assert_eq!(meta.mode() & 0o777, 0o600);
    }

    // PROMISES S69.
    #[test]
    fn a_lock_that_cannot_be_is_no_error() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        std::fs::create_dir(&path).unwrap();
        assert!(!Lock::exclusive(&path, NOW).unwrap().is_held());
        std::fs::remove_dir(&path).unwrap();
        std::os::unix::fs::symlink(dir.path().join("elsewhere"), &path).unwrap();
        assert!(!Lock::exclusive(&path, NOW).unwrap().is_held());
        assert!(std::fs::symlink_metadata(dir.path().join("elsewhere")).is_err());
        std::fs::write(dir.path().join("elsewhere"), "theirs").unwrap();
        assert!(!Lock::exclusive(&path, NOW).unwrap().is_held(), "nobody else's file is locked");
        assert!(!Lock::exclusive(&dir.path().join("no/folder/lock"), NOW).unwrap().is_held());
    }

    #[test]
    fn a_lock_file_that_was_removed_is_made_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let old = Lock::exclusive(&path, NOW).unwrap();
        std::fs::remove_file(&path).unwrap();
        let new = Lock::exclusive(&path, NOW).unwrap();
        assert!(new.is_held());
        drop(old);
        assert!(Lock::exclusive(&path, NOW).is_err(), "the new holder still holds it");
    }

    /// Between opening and locking, the file may be removed, and made again by somebody else.
    #[test]
    fn a_lock_on_a_file_that_has_no_name_any_more_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let file = open(&path).unwrap();
        assert!(is_still_there(&file, &path));
        std::fs::remove_file(&path).unwrap();
        assert!(!is_still_there(&file, &path));
        let other = open(&path).unwrap();
        assert!(!is_still_there(&file, &path) && is_still_there(&other, &path));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_lock_file_that_goes_just_before_it_is_locked_is_made_again() {
        use std::os::fd::AsRawFd;
        /// Somebody puts another file in the place of one that was never locked.
        fn attempt(file: &File) -> Result<(), TryLockError> {
            if file.metadata().unwrap().len() == 0 {
                let path = std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).unwrap();
                std::fs::remove_file(&path).unwrap();
                std::fs::write(&path, "0").unwrap();
            }
            file.try_lock()
        }
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let lock = Lock::take(&path, Duration::from_secs(1), attempt).unwrap();
        assert!(lock.is_held() && Lock::exclusive(&path, NOW).is_err(), "what others find is locked");
    }
}
