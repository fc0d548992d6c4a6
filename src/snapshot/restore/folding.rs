//! File systems that take two names for one (`Readme` and `readme`, or two spellings of `é`), or refuse some names.
//! On those every name of the target is tried out before the first change.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use super::beneath::last_name;
use super::folder;
use super::manifest::Manifest;
use super::plan::Scope;
use crate::disk;
use crate::disk::layout::Layout;
use crate::error::{Error, Result};
use crate::model::ids::TreePath;

/// Pairs of names that some file system takes for one: by case, and by composed and decomposed spelling.
const PAIRS: [(&str, &str); 2] = [("probe-a", "PROBE-A"), ("probe-\u{e9}", "probe-e\u{301}")];

/// Tries out, in the folder `stage`, which must be empty, whether the file system keeps all names of the target apart.
///
/// # Errors
/// Bad input that names two paths that would be one, or a name that the file system refuses.
pub fn check(stage: &Path, target: &Manifest, scope: &Scope) -> Result<()> {
    let open = folder::open(stage)?;
    let named = |error: Errno| Error::io("write", stage, &error.into());
    if !folds(open.as_fd()).map_err(named)? {
        return Ok(());
    }
    for (_, names) in by_folder(target, scope) {
        let result = try_names(open.as_fd(), &names);
        remove(open.as_fd(), &names).map_err(named)?;
        result?;
    }
    Ok(())
}

/// As [`check`], without writing: the store's own name tells whether case matters. Spellings are not looked at. That the
/// other name leads to the same file is not asked: not every file system gives a file the same number whenever it is.
///
/// # Errors
/// Bad input that names two paths that differ in case only, where the file system ignores case.
pub fn check_unwritten(layout: &Layout, target: &Manifest, scope: &Scope) -> Result<()> {
    let store = layout.store();
    let loud = store.file_name().map(std::ffi::OsStr::to_ascii_uppercase).unwrap_or_default();
    let answers = disk::metadata(&store.with_file_name(&loud))?.is_some();
    let ignores_case = answers && disk::list_if(layout.root(), |name| name == loud)?.is_empty();
    if ignores_case { check_case(target, scope) } else { Ok(()) }
}

/// Whether two names of one directory differ in case only.
fn check_case(target: &Manifest, scope: &Scope) -> Result<()> {
    for (_, names) in by_folder(target, scope) {
        let mut seen: BTreeMap<String, &TreePath> = BTreeMap::new();
        for path in names {
            if let Some(other) = seen.insert(folded(path), path) {
                return Err(collision(path, other));
            }
        }
    }
    Ok(())
}

/// The last name without its case.
fn folded(path: &TreePath) -> String {
    String::from_utf8_lossy(last_name(path)).to_lowercase()
}

fn by_folder<'a>(target: &'a Manifest, scope: &Scope) -> BTreeMap<Option<TreePath>, Vec<&'a TreePath>> {
    let mut folders: BTreeMap<Option<TreePath>, Vec<&TreePath>> = BTreeMap::new();
    for (path, _) in target.iter().filter(|(path, _)| scope.covers(path)) {
        folders.entry(path.parent()).or_default().push(path);
    }
    folders
}

/// Whether one name of a pair answers to the other.
fn folds(stage: BorrowedFd<'_>) -> rustix::io::Result<bool> {
    let mut folds = false;
    for (made, asked) in PAIRS {
        create(stage, made.as_bytes())?;
        let answer = rustix::fs::statat(stage, asked, AtFlags::SYMLINK_NOFOLLOW);
        rustix::fs::unlinkat(stage, made, AtFlags::empty())?;
        match answer {
            Ok(_) => folds = true,
            Err(Errno::NOENT) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(folds)
}

fn try_names(stage: BorrowedFd<'_>, paths: &[&TreePath]) -> Result<()> {
    for (index, path) in paths.iter().enumerate() {
        match create(stage, last_name(path)) {
            Ok(()) => {}
            Err(Errno::EXIST) => {
                let earlier = paths.get(..index).unwrap_or_default();
                // Not every file system gives a file the same number whenever it is asked.
                let is_spelt_so = |other: &&&TreePath| folded(other) == folded(path);
                let other = earlier.iter().find(|other| answers(stage, other, path));
                let other = other.or_else(|| earlier.iter().find(is_spelt_so)).unwrap_or(path);
                return Err(collision(path, other));
            }
            Err(error) => {
                return Err(Error::bad_input("the file system refuses a name of the restored tree")
                    .in_file(&path.to_string())
                    .because(format!("{}; nothing was changed", std::io::Error::from(error))));
            }
        }
    }
    Ok(())
}

/// Whether both names stand for one file.
fn answers(stage: BorrowedFd<'_>, one: &TreePath, other: &TreePath) -> bool {
    let inode = |path: &TreePath| rustix::fs::statat(stage, last_name(path), AtFlags::SYMLINK_NOFOLLOW).ok();
    matches!((inode(one), inode(other)), (Some(a), Some(b)) if a.st_ino == b.st_ino)
}

fn create(stage: BorrowedFd<'_>, name: &[u8]) -> rustix::io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    rustix::fs::openat(stage, name, flags, Mode::RUSR | Mode::WUSR).map(drop)
}

fn remove(stage: BorrowedFd<'_>, paths: &[&TreePath]) -> rustix::io::Result<()> {
    for path in paths {
        match rustix::fs::unlinkat(stage, last_name(path), AtFlags::empty()) {
            // Those that were refused, and second names of one file.
            Ok(()) | Err(Errno::NOENT | Errno::INVAL | Errno::NAMETOOLONG | Errno::ILSEQ) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn collision(path: &TreePath, other: &TreePath) -> Error {
    Error::bad_input("two names of the restored tree are one name on this file system")
        .in_file(&path.to_string())
        .because(format!("it cannot be told from {other}; nothing was changed"))
        .help("restore into a directory on another file system: `--into DIR`")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use crate::snapshot::restore::manifest::State;

    fn path(text: &str) -> TreePath {
        TreePath::new(text).unwrap()
    }

    // PROMISES W7. Few machines have a file system at hand that folds names, so its answers are played here.
    #[test]
    fn names_that_are_one_are_refused_and_nothing_is_left_behind() {
        let dir = tempfile::tempdir().unwrap();
        let stage = folder::open(dir.path()).unwrap();
        let (readme, other) = (path("docs/README"), path("docs/other"));
        assert!(try_names(stage.as_fd(), &[&readme, &other]).is_ok());
        remove(stage.as_fd(), &[&readme, &other]).unwrap();
        let error = try_names(stage.as_fd(), &[&readme, &other, &readme]).unwrap_err();
        assert_eq!(error.kind, ErrorKind::BadInput);
        assert!(error.to_string().contains("docs/README"), "{error}");
        remove(stage.as_fd(), &[&readme, &other, &readme]).unwrap();
        assert!(disk::list(dir.path()).unwrap().is_empty());
    }

    #[test]
    fn names_that_differ_in_case_only_are_found_folder_by_folder() {
        let tree =
            |names: &[&str]| names.iter().map(|name| (path(name), State::directory(0o755))).collect::<Manifest>();
        assert!(check_case(&tree(&["a", "a/x", "b", "b/X"]), &Scope::default()).is_ok());
        let twice = tree(&["a", "a/Stra\u{df}e", "a/stra\u{df}e"]);
        assert_eq!(check_case(&twice, &Scope::default()).unwrap_err().kind, ErrorKind::BadInput);
        let elsewhere = [path("b")];
        assert!(check_case(&twice, &Scope { paths: &elsewhere, open_directories: false }).is_ok());
    }
}
