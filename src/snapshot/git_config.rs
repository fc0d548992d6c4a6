//! The few settings of git that say what it ignores, read from its config files as git reads them. Git is not run.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use crate::disk;
use crate::disk::layout::GitUser;
use crate::error::Result;

/// A larger config is none that people wrote.
const MAX_BYTES: u64 = 8 << 20;
/// How deep files may include each other, as for git.
const MAX_DEPTH: u32 = 10;
/// How many files are read: each could include many, and each of these, down to there.
const MAX_FILES: u32 = 100;

/// What the config files of a repository and of its user say; of files that say the same, the last.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Settings {
    /// `core.excludesFile`, as it stands there.
    excludes: Option<Vec<u8>>,
    /// `core.ignoreCase`.
    pub folds: bool,
    /// `extensions.worktreeConfig`: each work tree has a config file of its own.
    has_worktree_config: bool,
}

/// Given section, key, both in lower case, and value of an entry; without a `=` there is no value.
type Take<'a> = &'a mut dyn FnMut(&[u8], &[u8], Option<Vec<u8>>);

/// Told of a file that could not be used, and why.
pub(super) type Note<'a> = &'a mut dyn FnMut(&Path, String);

/// What reading goes by.
struct Reading<'a, 'n> {
    user: &'a GitUser,
    note: Note<'n>,
    /// Files that may still be read.
    left: u32,
}

impl Settings {
    /// Reads them. `own` is where this work tree's repository keeps its files, `shared` those of all its work trees.
    pub fn read(user: &GitUser, own: &Path, shared: &Path, note: Note<'_>) -> Settings {
        let mut settings = Settings::default();
        let mut reading = Reading { user, note, left: MAX_FILES };
        for file in &user.configs {
            settings.take_file(file, 0, &mut reading);
        }
        settings.take_file(&shared.join("config"), 0, &mut reading);
        if settings.has_worktree_config {
            settings.take_file(&own.join("config.worktree"), 0, &mut reading);
        }
        settings
    }

    /// The file with the user's own ignore rules; `top` is the work tree of the repository.
    pub fn excludes(&self, user: &GitUser, top: &Path) -> Option<PathBuf> {
        match &self.excludes {
            Some(path) => Some(top.join(expand(path, user))),
            None => user.excludes.clone(),
        }
    }

    fn take_file(&mut self, file: &Path, depth: u32, reading: &mut Reading<'_, '_>) {
        let Some(left) = reading.left.checked_sub(1) else { return };
        reading.left = left;
        let bytes = match read_through_links(file, MAX_BYTES) {
            Ok(bytes) => bytes.unwrap_or_default(),
            Err(error) => return (reading.note)(file, format!("its settings are not used: {error}")),
        };
        entries(&bytes, &mut |section, key, value| match (section, key, value) {
            (b"core", b"excludesfile", Some(path)) => self.excludes = Some(path),
            (b"core", b"ignorecase", value) => self.folds = is_true(value.as_deref()),
            (b"extensions", b"worktreeconfig", value) => self.has_worktree_config = is_true(value.as_deref()),
            (b"include", b"path", Some(path)) if depth < MAX_DEPTH => {
                let beside = file.parent().unwrap_or(file).join(expand(&path, reading.user));
                self.take_file(&beside, depth + 1, reading);
            }
            _ => {}
        });
    }
}

/// A path of a config; `~` is the user's home.
fn expand(path: &[u8], user: &GitUser) -> PathBuf {
    match (path.strip_prefix(b"~/"), &user.home) {
        (Some(below), Some(home)) => home.join(OsStr::from_bytes(below)),
        _ => PathBuf::from(OsStr::from_bytes(path)),
    }
}

/// A file of git's outside of the work tree, links followed, as git does; `None` if it is absent, or no more than
/// `/dev/null`.
///
/// # Errors
/// As [`disk::read_named`].
pub(super) fn read_through_links(file: &Path, limit: u64) -> Result<Option<Vec<u8>>> {
    match std::fs::metadata(file) {
        Ok(meta) if meta.file_type().is_char_device() => Ok(None),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        _ => disk::read_named(file, limit).map(Some),
    }
}

fn is_true(value: Option<&[u8]>) -> bool {
    let Some(value) = value else { return true };
    let number = std::str::from_utf8(value).ok().and_then(|value| value.parse::<i64>().ok());
    number.map_or_else(
        || [b"true".as_slice(), b"yes", b"on"].iter().any(|word| value.eq_ignore_ascii_case(word)),
        |number| number != 0,
    )
}

/// Gives each entry, up to where the text is no config.
fn entries(text: &[u8], take: Take<'_>) {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let mut text =
        text.iter().copied().enumerate().filter(|(at, byte)| *byte != b'\r' || text.get(at + 1) != Some(&b'\n'));
    let mut text = text.by_ref().map(|(_, byte)| byte).peekable();
    let mut section = Vec::new();
    while let Some(byte) = text.next() {
        match byte {
            b'#' | b';' => drop(text.by_ref().find(|byte| *byte == b'\n')),
            b'[' => match header(&mut text) {
                Some(name) => section = name,
                None => return,
            },
            byte if byte.is_ascii_whitespace() => {}
            byte if byte.is_ascii_alphabetic() => {
                let mut key = vec![byte];
                while let Some(byte) = text.next_if(|byte| byte.is_ascii_alphanumeric() || *byte == b'-') {
                    key.push(byte);
                }
                key.make_ascii_lowercase();
                while text.next_if(|byte| matches!(byte, b' ' | b'\t')).is_some() {}
                match text.next() {
                    None | Some(b'\n') => take(&section, &key, None),
                    Some(b'=') => match value(&mut text) {
                        Some(value) => take(&section, &key, Some(value)),
                        None => return,
                    },
                    Some(_) => return,
                }
            }
            _ => return,
        }
    }
}

/// The name of a section, what is in quotes included; `None` if its line ends before it does.
fn header(text: &mut impl Iterator<Item = u8>) -> Option<Vec<u8>> {
    let mut name = Vec::new();
    let mut is_quoted = false;
    loop {
        match text.next()? {
            b'\n' => return None,
            b']' if !is_quoted => return Some(name.to_ascii_lowercase()),
            b'\\' if is_quoted => name.push(text.next()?),
            byte => {
                is_quoted ^= byte == b'"';
                name.push(byte);
            }
        }
    }
}

/// A value, up to the end of its line; `None` if it is none.
fn value(text: &mut impl Iterator<Item = u8>) -> Option<Vec<u8>> {
    let mut value = Vec::new();
    // Its length without spaces at its end.
    let mut length = 0;
    let mut is_quoted = false;
    loop {
        let byte = match text.next() {
            None | Some(b'\n') if is_quoted => return None,
            None | Some(b'\n') => break,
            Some(b'#' | b';') if !is_quoted => {
                text.find(|byte| *byte == b'\n');
                break;
            }
            Some(b'"') => {
                is_quoted = !is_quoted;
                length = value.len();
                continue;
            }
            Some(byte) if byte.is_ascii_whitespace() && !is_quoted => {
                if !value.is_empty() {
                    value.push(byte);
                }
                continue;
            }
            Some(b'\\') => match text.next()? {
                b'\n' => continue,
                b't' => b'\t',
                b'b' => 8,
                b'n' => b'\n',
                byte @ (b'\\' | b'"') => byte,
                _ => return None,
            },
            Some(byte) => byte,
        };
        value.push(byte);
        length = value.len();
    }
    value.truncate(length);
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::tests_support::git;

    fn read(text: &[u8]) -> Settings {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("config"), text).unwrap();
        let note: Note<'_> = &mut |file, why| panic!("{}: {why}", file.display());
        Settings::read(&GitUser::default(), dir.path(), dir.path(), note)
    }

    #[test]
    fn values_are_read_as_git_reads_them() {
        let dir = tempfile::tempdir().unwrap();
        for text in [
            "[core]\n\texcludesFile = ~/ignore\n",
            "[core]excludesfile=a b \t\n",
            "# c\n; c\n[CORE] EXCLUDESFILE = a # b\n",
            "[core]\nexcludesfile = a # excludesfile = b\n# excludesfile = c\n;excludesfile = d\n",
            "[core]\nexcludesfile = \"a # b \" \n",
            "[core]\nexcludesfile = a\" \"b  c ; d\n",
            "[core]\r\nexcludesfile = a\\tb\\\\c\\\"d\\\r\ne\r\n",
            "[core]\nexcludesfile = a\n[core]\nexcludesfile = b",
            "[core]\nexcludesfile = a\n[core \"x\"]\nexcludesfile = b\n[user]\nexcludesfile = c\n",
            "[core \"a]\\\"b\"]\nexcludesfile = b\n",
            "[core \"a\"]\nexcludesfile = b\n[core \"a\\\"]b\"]\nexcludesfile = c\n[core]\nexcludesfile = d\n",
            "[core]\nexcludesfile = a\\bb\\nc\n",
            "[core]\nexcludesfile =\n",
            "\u{feff}[core]\n  bare\n  x-1 = y\n  excludesfile = a\"\"\n",
            "[core]\nexcludesfile = \" \" \n",
            "[user]\n\tname = x\n",
        ] {
            std::fs::write(dir.path().join("config"), text).unwrap();
            let Some(theirs) = git(dir.path(), &["config", "-z", "-f", "config", "core.excludesfile"]) else { return };
            let theirs = theirs.stdout.strip_suffix(b"\0").map(<[u8]>::to_vec);
            assert_eq!(read(text.as_bytes()).excludes, theirs, "{text:?}");
        }
    }

    #[test]
    fn what_is_no_config_is_read_up_to_there() {
        for rest in [
            "[core\nexcludesfile = b",
            "excludesfile = \"b\n",
            "excludesfile = \\x\n",
            "excludesfile ? b\n",
            "= b\n",
            "1x = b\n",
        ] {
            let settings = read(format!("[core]\nignorecase\nexcludesfile = a\n{rest}\nexcludesfile = c").as_bytes());
            assert_eq!(settings.excludes.as_deref(), Some(b"a".as_slice()), "{rest:?}");
            assert!(settings.folds);
        }
        assert_eq!(read(b"\0\xff[core]\nignorecase = true"), Settings::default());
        assert!(!read(b"[core]\nignorecase = off").folds && read(b"[core]\nignorecase = 1").folds);
    }

    #[test]
    fn files_that_include_each_other_many_times_come_to_an_end() {
        let dir = tempfile::tempdir().unwrap();
        let text = "[include]\npath = config\n".repeat(50) + "[core]\nexcludesfile = a\n";
        std::fs::write(dir.path().join("config"), text).unwrap();
        let mut noted = 0;
        let settings = Settings::read(&GitUser::default(), dir.path(), dir.path(), &mut |_, _| noted += 1);
        assert_eq!((settings.excludes.as_deref(), noted), (Some(b"a".as_slice()), 0));
    }

    #[test]
    fn a_file_that_cannot_be_read_is_told() {
        let dir = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("config", dir.path().join("config")).unwrap();
        let mut noted = Vec::new();
        let note: Note<'_> = &mut |file, _| noted.push(file.to_path_buf());
        assert_eq!(Settings::read(&GitUser::default(), dir.path(), dir.path(), note), Settings::default());
        assert_eq!(noted, [dir.path().join("config")]);
    }

    #[test]
    fn the_repositorys_own_file_comes_last_and_files_include_others() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
        let user = GitUser {
            home: Some("/home/u".into()),
            configs: vec!["/dev/null".into(), dir.path().join("absent"), dir.path().join("user")],
            excludes: Some("/xdg/ignore".into()),
        };
        let excludes = || {
            let note: Note<'_> = &mut |file, why| panic!("{}: {why}", file.display());
            Settings::read(&user, dir.path(), dir.path(), note).excludes(&user, Path::new("/top")).unwrap()
        };
        assert_eq!(excludes(), Path::new("/xdg/ignore"));
        write("user", "[include]\npath = more\npath = absent\n[include]\npath = user\n");
        write("more", "[core]\nexcludesfile = ~/mine\n");
        assert_eq!(excludes(), Path::new("/home/u/mine"));
        write("config", "[core]\nexcludesfile = rules\n[extensions]\nworktreeconfig = true\n");
        assert_eq!(excludes(), Path::new("/top/rules"));
        write("config.worktree", "[core]\nexcludesfile = /w\n");
        assert_eq!(excludes(), Path::new("/w"));
    }
}
