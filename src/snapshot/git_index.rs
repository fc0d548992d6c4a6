//! What git tracks, read from its index file. Git itself is neither needed nor run, and nothing of it is written.
//!
//! Layout: git's own `gitformat-index`, versions 2 to 4.

use std::io::{self, BufRead, BufReader, Seek};
use std::path::{Path, PathBuf};

use crate::disk;

/// Indexes of the largest known repositories stay below this (1 GiB).
const MAX_BYTES: u64 = 1 << 30;
const MAX_PATH_BYTES: usize = 1 << 30;
/// A `.git` file or `commondir` is one line.
const MAX_LINE_BYTES: u64 = 64 << 10;
/// Bytes of an entry before its object id, and the two of its flags after it.
const STAT_BYTES: usize = 40;
const FLAG_EXTENDED: u16 = 0x4000;
/// Of the mode: directory (a sparse index has them) and submodule.
const KIND_MASK: u32 = 0o170_000;
const KIND_DIRECTORY: u32 = 0o040_000;
const KIND_SUBMODULE: u32 = 0o160_000;

const CUT: &str = "it is cut short";
const UNORDERED: &str = "its names are out of order";
const SPLIT: &str = "git keeps a part of it in another file (a split index), which is not read; `git update-index \
                     --no-split-index` makes it one again";

/// The files that git tracks in one repository, relative to its top.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Tracked {
    /// All paths in their order, one after another.
    bytes: Vec<u8>,
    /// Where each one ends.
    ends: Vec<usize>,
}

impl Tracked {
    /// Whether git tracks this file.
    pub fn contains(&self, path: &[u8]) -> bool {
        self.path(self.first_from(path)) == Some(path)
    }

    /// Whether git tracks a file below this directory.
    pub fn reaches_below(&self, directory: &[u8]) -> bool {
        let mut prefix = directory.to_vec();
        prefix.push(b'/');
        self.path(self.first_from(&prefix)).is_some_and(|path| path.starts_with(&prefix))
    }

    /// The number of the first path that is not before this one.
    fn first_from(&self, path: &[u8]) -> usize {
        let (mut low, mut high) = (0, self.ends.len());
        while low < high {
            let middle = low.midpoint(high);
            if self.path(middle).is_some_and(|other| other < path) { low = middle + 1 } else { high = middle }
        }
        low
    }

    fn path(&self, number: usize) -> Option<&[u8]> {
        let begin = number.checked_sub(1).map_or(Some(0), |before| self.ends.get(before).copied())?;
        self.bytes.get(begin..*self.ends.get(number)?)
    }

    fn push(&mut self, path: &[u8]) {
        self.bytes.extend_from_slice(path);
        self.ends.push(self.bytes.len());
    }
}

/// Where the repository that has `.git` in `folder` keeps its files; `None` if there is no such repository. A link is followed,
/// as git does: what it leads to is read, and neither captured nor written.
pub(super) fn git_directory(folder: &Path) -> Option<PathBuf> {
    let dot_git = folder.join(".git");
    if std::fs::metadata(&dot_git).ok()?.is_dir() {
        return Some(dot_git);
    }
    // A linked work tree or a submodule: one line, `gitdir: PATH`.
    let line = disk::read_named(&dot_git, MAX_LINE_BYTES).ok()?;
    Some(folder.join(path_of(line.strip_prefix(b"gitdir: ")?)))
}

/// Where the rules of a repository are that all its work trees share.
pub(super) fn common_directory(git_directory: &Path) -> PathBuf {
    match disk::read_if_present(&git_directory.join("commondir"), MAX_LINE_BYTES) {
        Ok(Some(line)) => git_directory.join(path_of(&line)),
        _ => git_directory.to_path_buf(),
    }
}

fn path_of(line: &[u8]) -> &Path {
    use std::os::unix::ffi::OsStrExt;
    Path::new(std::ffi::OsStr::from_bytes(line.trim_ascii_end()))
}

/// Reads what a repository tracks. A repository without an index tracks nothing.
///
/// # Errors
/// A fragment that says why the index is not used; then nothing counts as tracked.
pub(super) fn load(git_directory: &Path) -> Result<Tracked, String> {
    let path = git_directory.join("index");
    match disk::metadata(&path) {
        Ok(None) => return Ok(Tracked::default()),
        Ok(Some(_)) => {}
        Err(error) => return Err(format!("what git tracks is not known, so the ignore rules alone decide: {error}")),
    }
    let parse = |id_bytes| {
        let file = disk::open_named(&path).map_err(|error| error.to_string())?;
        let length = file.metadata().map_err(fault)?.len();
        parse(BufReader::with_capacity(64 << 10, file), length, id_bytes)
    };
    // Only the repository's config says how long its object ids are; the index itself tells by fitting, to its last byte.
    let tracked = parse(20).or_else(|why| parse(32).map_err(|other| if other == SPLIT { other } else { why }));
    tracked.map_err(|why| format!("what git tracks is not known, so the ignore rules alone decide: {why}"))
}

fn parse(mut index: impl BufRead + Seek, length: u64, id_bytes: usize) -> Result<Tracked, String> {
    let mut magic = [0; 4];
    if index.read_exact(&mut magic).is_err() || magic != *b"DIRC" {
        return Err("it does not begin as an index".to_owned());
    }
    if length > MAX_BYTES {
        return Err("it is too large".to_owned());
    }
    let version = number(&mut index).map_err(fault)?;
    if !(2..=4).contains(&version) {
        return Err("its version is not known".to_owned());
    }
    let count = number(&mut index).map_err(fault)?;
    let mut tracked = Tracked::default();
    let (mut name, mut last) = (Vec::new(), Vec::new());
    let mut has_no_name = false;
    for _ in 0..count {
        let mode = entry(&mut index, version, id_bytes, &mut name).map_err(fault)?;
        if name.is_empty() {
            has_no_name = true;
            continue;
        }
        if name < last {
            return Err(UNORDERED.to_owned());
        }
        // A file in conflict is there once for each side.
        let is_again = tracked.ends.len().checked_sub(1).is_some_and(|last| tracked.path(last) == Some(&name));
        if !matches!(mode & KIND_MASK, KIND_DIRECTORY | KIND_SUBMODULE) && !is_again {
            tracked.push(&name);
        }
        // Names that repeat what was before them can be more than the file has room for.
        if tracked.bytes.len() > MAX_PATH_BYTES {
            return Err("its names are too long".to_owned());
        }
        last.clone_from(&name);
    }
    check_end(&mut index, length, id_bytes)?;
    // Entries of a split index that stand for others have no name.
    if has_no_name { Err(UNORDERED.to_owned()) } else { Ok(tracked) }
}

/// Walks the extensions, which are all that stands between the entries and the checksum.
fn check_end(index: &mut (impl BufRead + Seek), length: u64, id_bytes: usize) -> Result<(), String> {
    let end = u64::try_from(id_bytes).ok().and_then(|checksum| length.checked_sub(checksum));
    let end = end.ok_or_else(|| CUT.to_owned())?;
    loop {
        let at = index.stream_position().map_err(fault)?;
        if at >= end {
            return if at == end { Ok(()) } else { Err(CUT.to_owned()) };
        }
        let mut name = [0; 4];
        index.read_exact(&mut name).map_err(fault)?;
        let bytes = number(index).map_err(fault)?;
        // This one moves entries to another file.
        if name == *b"link" {
            return Err(SPLIT.to_owned());
        }
        index.seek_relative(bytes.into()).map_err(fault)?;
    }
}

fn fault(error: io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => CUT.to_owned(),
        _ => error.to_string(),
    }
}

/// The next entry: its name, which was the one before, and what it returns is its mode.
fn entry(index: &mut impl BufRead, version: u32, id_bytes: usize, name: &mut Vec<u8>) -> io::Result<u32> {
    let mut fixed = [0; STAT_BYTES + 32 + 2];
    let fixed = fixed.get_mut(..STAT_BYTES + id_bytes + 2).unwrap_or_default();
    index.read_exact(fixed)?;
    let mut length = fixed.len();
    let flags = fixed.last_chunk::<2>().copied().unwrap_or_default();
    if u16::from_be_bytes(flags) & FLAG_EXTENDED != 0 {
        index.read_exact(&mut [0; 2])?;
        length += 2;
    }
    let kept = match version {
        // How many bytes of the last name to drop, then what to add.
        4 => variable_number(index)?.and_then(|dropped| name.len().checked_sub(dropped)),
        _ => Some(0),
    };
    let Some(kept) = kept else { return Err(io::Error::other("a name in it is damaged")) };
    name.truncate(kept);
    index.read_until(0, name)?;
    if name.pop() != Some(0) {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    if version < 4 {
        // The entry, its NUL included, is filled up to a multiple of eight bytes.
        length += name.len() + 1;
        let filler = length.next_multiple_of(8) - length;
        index.read_exact([0; 8].get_mut(..filler).unwrap_or_default())?;
    }
    Ok(fixed.get(24..).and_then(|mode| mode.first_chunk()).map_or(0, |mode| u32::from_be_bytes(*mode)))
}

/// Git's offset encoding: seven bits a byte, the highest bit says that more come, and each continuation adds one. `None`
/// is too large.
fn variable_number(index: &mut impl BufRead) -> io::Result<Option<usize>> {
    let mut value = 0usize;
    loop {
        let mut byte = 0;
        index.read_exact(std::slice::from_mut(&mut byte))?;
        value |= usize::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Ok(Some(value));
        }
        match value.checked_add(1).and_then(|value| value.checked_mul(128)) {
            Some(next) => value = next,
            None => return Ok(None),
        }
    }
}

fn number(index: &mut impl BufRead) -> io::Result<u32> {
    let mut bytes = [0; 4];
    index.read_exact(&mut bytes)?;
    Ok(u32::from_be_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::tests_support;

    fn git(folder: &Path, arguments: &[&str]) -> bool {
        tests_support::git(folder, arguments).is_some_and(|output| output.status.success())
    }

    fn repository(arguments: &[&str]) -> Option<tempfile::TempDir> {
        let dir = tempfile::tempdir().unwrap();
        let init: Vec<&str> = ["init", "-q"].iter().chain(arguments).copied().collect();
        let made = tests_support::git(dir.path(), &init)?;
        assert!(made.status.success(), "{made:?}");
        std::fs::create_dir_all(dir.path().join("src/deep/er")).unwrap();
        for name in ["a", "src/b", "src/deep/c.txt", "src/deep/er/much longer name than the others", "z"] {
            std::fs::write(dir.path().join(name), name).unwrap();
        }
        assert!(git(dir.path(), &["add", "."]));
        Some(dir)
    }

    #[test]
    fn every_version_and_both_hashes_say_what_git_tracks() {
        for format in [&["--object-format=sha1"][..], &["--object-format=sha256"]] {
            for version in ["2", "3", "4"] {
                let Some(dir) = repository(format) else { continue };
                assert!(git(dir.path(), &["update-index", "--index-version", version]));
                if version == "3" {
                    assert!(git(dir.path(), &["update-index", "--skip-worktree", "src/b"]));
                }
                let tracked = load(&git_directory(dir.path()).unwrap()).unwrap();
                assert_eq!(tracked.ends.len(), 5, "{format:?} {version}");
                assert!(tracked.contains(b"src/deep/er/much longer name than the others"));
                assert!(!tracked.contains(b"src/deep"));
                assert!(tracked.reaches_below(b"src/deep") && !tracked.reaches_below(b"src/de"));
            }
        }
    }

    #[test]
    fn an_index_of_one_file_is_read_by_the_hash_that_it_has() {
        for format in ["sha1", "sha256"] {
            for name in ["gen", "a", "ab", "abcd", "abcdefghij", "a/b/c/d"] {
                let dir = tempfile::tempdir().unwrap();
                let path = dir.path().join(name);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, name).unwrap();
                if !git(dir.path(), &["init", "-q", &format!("--object-format={format}")]) {
                    return;
                }
                for step in [&["add", "."][..], &["commit", "-qm", "one"]] {
                    assert!(git(dir.path(), step));
                    let tracked = load(&git_directory(dir.path()).unwrap()).unwrap();
                    assert_eq!((tracked.ends.len(), tracked.contains(name.as_bytes())), (1, true), "{format} {name}");
                }
                assert!(git(dir.path(), &["rm", "-q", "--cached", name]));
                assert_eq!(load(&git_directory(dir.path()).unwrap()), Ok(Tracked::default()));
            }
        }
    }

    #[test]
    fn a_split_index_is_told_as_what_it_is() {
        for format in ["--object-format=sha1", "--object-format=sha256"] {
            let Some(dir) = repository(&[format]) else { return };
            let load = || load(&git_directory(dir.path()).unwrap());
            assert!(git(dir.path(), &["update-index", "--split-index"]));
            assert!(load().unwrap_err().contains("a split index"), "{:?}", load());
            // Some entries take the place of others now.
            std::fs::write(dir.path().join("src/b"), "changed").unwrap();
            std::fs::write(dir.path().join("new"), "new").unwrap();
            assert!(git(dir.path(), &["add", "."]));
            assert!(load().unwrap_err().contains("a split index"), "{:?}", load());
            assert!(git(dir.path(), &["update-index", "--no-split-index"]));
            assert_eq!(load().unwrap().ends.len(), 6);
        }
    }

    #[test]
    fn a_link_to_a_repository_is_followed_as_git_follows_it() {
        let Some(dir) = repository(&[]) else { return };
        let linked = tempfile::tempdir().unwrap();
        let dot_git = linked.path().join(".git");
        std::os::unix::fs::symlink(dir.path().join(".git"), &dot_git).unwrap();
        assert_eq!(load(&git_directory(linked.path()).unwrap()).unwrap().ends.len(), 5);
        let file = linked.path().join("file");
        std::fs::write(&file, format!("gitdir: {}\n", dir.path().join(".git").display())).unwrap();
        std::fs::remove_file(&dot_git).unwrap();
        std::os::unix::fs::symlink("file", &dot_git).unwrap();
        assert_eq!(load(&git_directory(linked.path()).unwrap()).unwrap().ends.len(), 5);
        std::fs::remove_file(&file).unwrap();
        assert_eq!(git_directory(linked.path()), None);
    }

    #[test]
    fn a_file_in_conflict_is_tracked_once() {
        let Some(dir) = repository(&[]) else { return };
        let change = |text: &str| {
            std::fs::write(dir.path().join("src/b"), text).unwrap();
            git(dir.path(), &["commit", "-qam", text])
        };
        assert!(change("base") && git(dir.path(), &["checkout", "-qb", "other"]) && change("theirs"));
        assert!(git(dir.path(), &["checkout", "-q", "main"]) && change("ours"));
        assert!(!git(dir.path(), &["merge", "-q", "other"]), "a conflict");
        let tracked = load(&git_directory(dir.path()).unwrap()).unwrap();
        assert_eq!(tracked.ends.len(), 5);
        assert!(tracked.contains(b"src/b"));
    }

    #[test]
    fn a_damaged_index_is_not_used_and_never_ends_the_program() {
        let Some(dir) = repository(&[]) else { return };
        let bytes = std::fs::read(dir.path().join(".git/index")).unwrap();
        let parse = |bytes: &[u8], id_bytes| parse(io::Cursor::new(bytes), bytes.len().try_into().unwrap(), id_bytes);
        assert!(parse(&bytes, 20).is_ok());
        assert!(parse(&bytes, 32).is_err());
        for end in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[end] ^= 0xff;
            assert!(parse(&flipped, 20).is_err() || end >= 4, "it does not begin as one");
            let _ = parse(&flipped, 32);
        }
        assert!((0..bytes.len()).all(|end| parse(&bytes[..end], 20).is_err()));
        std::fs::write(dir.path().join(".git/index"), "no index").unwrap();
        assert!(load(&dir.path().join(".git")).unwrap_err().contains("not known"));
        assert!(git_directory(&dir.path().join("src")).is_none());
    }

    #[test]
    fn a_linked_work_tree_has_its_own_index_and_shared_rules() {
        let Some(dir) = repository(&[]) else { return };
        assert!(git(dir.path(), &["commit", "-q", "-m", "one"]));
        let linked = tempfile::tempdir().unwrap();
        let path = linked.path().join("tree");
        assert!(git(dir.path(), &["worktree", "add", "-q", path.to_str().unwrap()]));
        let own = git_directory(&path).unwrap();
        assert_eq!(load(&own).unwrap().ends.len(), 5);
        let common = std::fs::canonicalize(common_directory(&own)).unwrap();
        assert_eq!(common, std::fs::canonicalize(dir.path().join(".git")).unwrap());
    }
}
