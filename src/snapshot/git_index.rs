//! What git tracks, read from its index file. Git itself is neither needed nor run, and nothing of it is written.
//!
//! Layout: git's own `gitformat-index`, versions 2 to 4.

use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::disk;

/// Indexes of the largest known repositories stay below this (1 GiB).
const MAX_BYTES: u64 = 1 << 30;
/// A `.git` file or `commondir` is one line.
const MAX_LINE_BYTES: u64 = 64 << 10;
/// Bytes of an entry before its object id, and the two of its flags after it.
const STAT_BYTES: usize = 40;
const FLAG_EXTENDED: u16 = 0x4000;
/// Of the mode: directory (a sparse index has them) and submodule.
const KIND_MASK: u32 = 0o170_000;
const KIND_DIRECTORY: u32 = 0o040_000;
const KIND_SUBMODULE: u32 = 0o160_000;

/// The files that git tracks in one repository, relative to its top.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Tracked {
    /// All paths, one after another.
    bytes: Vec<u8>,
    /// Where each one is, in the order of the paths.
    paths: Vec<Range<usize>>,
}

impl Tracked {
    /// Whether git tracks this file.
    pub fn contains(&self, path: &[u8]) -> bool {
        self.paths.binary_search_by(|other| self.path(other).cmp(path)).is_ok()
    }

    /// Whether git tracks a file below this directory.
    pub fn reaches_below(&self, directory: &[u8]) -> bool {
        let mut prefix = directory.to_vec();
        prefix.push(b'/');
        let at = self.paths.partition_point(|other| self.path(other) < prefix.as_slice());
        self.paths.get(at).is_some_and(|path| self.path(path).starts_with(&prefix))
    }

    fn path(&self, at: &Range<usize>) -> &[u8] {
        self.bytes.get(at.clone()).unwrap_or_default()
    }
}

/// Where the repository that has `.git` in `folder` keeps its files; `None` if there is no such repository.
pub(super) fn git_directory(folder: &Path) -> Option<PathBuf> {
    let dot_git = folder.join(".git");
    if disk::metadata(&dot_git).ok()??.is_dir() {
        return Some(dot_git);
    }
    // A linked work tree or a submodule: one line, `gitdir: PATH`.
    let line = disk::read_if_present(&dot_git, MAX_LINE_BYTES).ok()??;
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
    let bytes = disk::read_named(&path, MAX_BYTES)
        .map_err(|error| format!("what git tracks is not known, so the ignore rules alone decide: {error}"))?;
    // Only the repository's config says how long its object ids are; the index itself tells by fitting.
    parse(&bytes, 20).or_else(|why| {
        parse(&bytes, 32).map_err(|_| format!("what git tracks is not known, so the ignore rules alone decide: {why}"))
    })
}

fn parse(bytes: &[u8], id_bytes: usize) -> Result<Tracked, &'static str> {
    const CUT: &str = "it is cut short";
    let mut rest = bytes.strip_prefix(b"DIRC").ok_or("it does not begin as an index")?;
    let version = number(&mut rest).ok_or(CUT)?;
    if !(2..=4).contains(&version) {
        return Err("its version is not known");
    }
    let count = number(&mut rest).ok_or(CUT)?;
    let mut tracked = Tracked::default();
    let mut last = 0..0;
    for _ in 0..count {
        let before = rest.len();
        let mode = entry_mode(&mut rest, id_bytes).ok_or(CUT)?;
        let begin = tracked.bytes.len();
        let name = match version {
            4 => compressed_name(&mut rest, &mut tracked.bytes, &last),
            _ => plain_name(&mut rest, &mut tracked.bytes),
        };
        name.ok_or("a name in it is damaged")?;
        if version < 4 {
            // The entry, its NUL included, is filled up to a multiple of eight bytes; one NUL is taken already.
            let length = before - rest.len();
            let filler = length.next_multiple_of(8) - length;
            rest = rest.get(filler..).ok_or(CUT)?;
        }
        let name = begin..tracked.bytes.len();
        if name.is_empty() || tracked.path(&name) < tracked.path(&last) {
            return Err("its names are out of order");
        }
        last = name.clone();
        // A file in conflict is there once for each side.
        let is_again = tracked.paths.last().is_some_and(|other| tracked.path(other) == tracked.path(&name));
        if !matches!(mode & KIND_MASK, KIND_DIRECTORY | KIND_SUBMODULE) && !is_again {
            tracked.paths.push(name);
        }
    }
    // What stands between entries and checksum are extensions; this one moves entries to another file.
    if rest.starts_with(b"link") {
        return Err("it is a split index");
    }
    if rest.len() < id_bytes {
        return Err(CUT);
    }
    Ok(tracked)
}

/// Passes the fixed part of an entry; what it returns is the mode.
fn entry_mode(rest: &mut &[u8], id_bytes: usize) -> Option<u32> {
    let fixed = rest.get(..STAT_BYTES)?;
    let mode = number(&mut fixed.get(24..28)?)?;
    *rest = rest.get(STAT_BYTES + id_bytes..)?;
    let (flags, after) = rest.split_first_chunk::<2>()?;
    *rest = after;
    if u16::from_be_bytes(*flags) & FLAG_EXTENDED != 0 {
        *rest = rest.get(2..)?;
    }
    Some(mode)
}

/// A name up to its NUL, added to `names`.
fn plain_name(rest: &mut &[u8], names: &mut Vec<u8>) -> Option<()> {
    let end = rest.iter().position(|byte| *byte == 0)?;
    names.extend_from_slice(rest.get(..end)?);
    *rest = rest.get(end + 1..)?;
    Some(())
}

/// Version 4: how many bytes of the last name to drop, then what to add.
fn compressed_name(rest: &mut &[u8], names: &mut Vec<u8>, last: &Range<usize>) -> Option<()> {
    let dropped = variable_number(rest)?;
    let kept = last.len().checked_sub(dropped)?;
    names.extend_from_within(last.start..last.start + kept);
    plain_name(rest, names)
}

/// Git's offset encoding: seven bits a byte, the highest bit says that more come, and each continuation adds one.
fn variable_number(rest: &mut &[u8]) -> Option<usize> {
    let mut value = 0usize;
    loop {
        let (byte, after) = rest.split_first()?;
        *rest = after;
        value = value.checked_add(usize::from(byte & 0x7f))?;
        if byte & 0x80 == 0 {
            return Some(value);
        }
        value = value.checked_add(1)?.checked_mul(128)?;
    }
}

fn number(rest: &mut &[u8]) -> Option<u32> {
    let (head, tail) = rest.split_first_chunk::<4>()?;
    *rest = tail;
    Some(u32::from_be_bytes(*head))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn git(folder: &Path, arguments: &[&str]) -> bool {
        std::process::Command::new("git")
            .args(["-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main"])
            .args(arguments)
            .current_dir(folder)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .is_ok_and(|output| output.status.success())
    }

    fn repository(arguments: &[&str]) -> Option<tempfile::TempDir> {
        let dir = tempfile::tempdir().unwrap();
        let init: Vec<&str> = ["init", "-q"].iter().chain(arguments).copied().collect();
        if !git(dir.path(), &init) {
            return None;
        }
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
                assert_eq!(tracked.paths.len(), 5, "{format:?} {version}");
                assert!(tracked.contains(b"src/deep/er/much longer name than the others"));
                assert!(!tracked.contains(b"src/deep"));
                assert!(tracked.reaches_below(b"src/deep") && !tracked.reaches_below(b"src/de"));
            }
        }
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
        assert_eq!(tracked.paths.len(), 5);
        assert!(tracked.contains(b"src/b"));
    }

    #[test]
    fn a_damaged_index_is_not_used_and_never_ends_the_program() {
        let Some(dir) = repository(&[]) else { return };
        let bytes = std::fs::read(dir.path().join(".git/index")).unwrap();
        assert!(parse(&bytes, 20).is_ok());
        for end in 0..bytes.len() {
            let _ = parse(&bytes[..end], 20);
            let mut flipped = bytes.clone();
            flipped[end] ^= 0xff;
            let _ = parse(&flipped, 20);
            let _ = parse(&flipped, 32);
        }
        assert!(parse(&bytes[..100], 20).is_err());
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
        assert_eq!(load(&own).unwrap().paths.len(), 5);
        let common = std::fs::canonicalize(common_directory(&own)).unwrap();
        assert_eq!(common, std::fs::canonicalize(dir.path().join(".git")).unwrap());
    }
}
