//! The names in folders, for who wants no more than them: a folder that is as the last snapshot found it is not listed.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{AtFlags, Mode, OFlags};

use super::index::StatCache;
use super::walk::Stat;
use crate::disk::layout::Layout;

/// What the last snapshot remembers of the folders of a work tree.
pub struct Listings {
    /// The work tree, so that no folder is looked up from the file system's root; `None` if it cannot be opened.
    top: Option<OwnedFd>,
    cache: StatCache,
}

impl Listings {
    /// Of that work tree. Without a snapshot, nothing is known.
    pub fn open(layout: &Layout) -> Listings {
        let top =
            rustix::fs::open(layout.root(), OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).ok();
        Listings { top, cache: StatCache::load(&layout.stat_cache()) }
    }

    /// Tells each name in a folder (its path is from the top), with whether a folder stands there. Answers `false`, and tells
    /// nothing, if the folder may have changed since, or held names that are in no snapshot.
    pub fn each(&self, folder: &Path, take: &mut dyn FnMut(&OsStr, bool)) -> bool {
        let kept = self.cache.folder(folder.as_os_str().as_bytes());
        let path = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let stat = self.top.as_ref().and_then(|top| rustix::fs::statat(top, path, AtFlags::SYMLINK_NOFOLLOW).ok());
        let Some(names) = stat.and_then(|stat| kept.names(&Stat::of_raw(&stat))) else { return false };
        names.for_each(|(name, is_folder)| take(OsStr::from_bytes(name), is_folder));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::config::{Capture, Limits};
    use crate::snapshot::capture::capture;
    use crate::snapshot::walk::has_true_times;

    #[test]
    fn a_folder_is_told_as_long_as_no_name_in_it_came_or_went() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        std::fs::create_dir_all(path("sub/deep")).unwrap();
        ["sub/a", "sub/deep/b", "sub/deep/.env"].iter().for_each(|name| std::fs::write(path(name), "x").unwrap());
        let layout = Layout::new(dir.path());
        let names = |folder: &str| {
            let mut names = Vec::new();
            let take = &mut |name: &OsStr, is_folder| names.push((name.to_str().unwrap().to_owned(), is_folder));
            Listings::open(&layout).each(Path::new(folder), take).then_some(names)
        };
        assert_eq!(names("sub"), None, "there is no snapshot");
        if !has_true_times(std::fs::File::open(dir.path()).unwrap()) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(30));
        let limits = Limits { reports: 9, report_bytes: 9, file_bytes: 9 };
        capture(&layout, &Capture { include: Vec::new(), exclude: Vec::new() }, &limits, &[], &[], &|_, _| {}).unwrap();
        let all = vec![("a".to_owned(), false), ("deep".to_owned(), true)];
        assert_eq!(names("sub"), Some(all.clone()));
        std::fs::write(path("sub/a"), "other").unwrap();
        assert_eq!(names("sub"), Some(all));
        assert_eq!(names("sub/deep"), None, "it holds a name that is in no snapshot");
        assert_eq!(names(""), None, "so does the top: the store");
        assert_eq!(names("gone"), None);
        std::fs::remove_file(path("sub/a")).unwrap();
        assert_eq!(names("sub"), None);
    }
}
