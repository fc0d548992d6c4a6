//! Paths inside a snapshot: any bytes that cannot leave the tree, and the text that they are written as.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::shorten;
use crate::error::Error;

/// A path inside a snapshot: components of any bytes, separated by `/`, relative, and unable to leave the tree or to
/// name a store (`.git`, `.progress`, by any spelling that some file system folds to them).
///
/// As text (JSON, messages) a byte that is not printable UTF-8 is written `\xNN` and a backslash `\\`: reversible, and
/// harmless on a terminal.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(test, schemars(with = "String"))]
pub struct TreePath(Vec<u8>);

/// Longest component, in bytes, that common file systems take.
const NAME_MAX_BYTES: usize = 255;

impl TreePath {
    /// Checks and keeps the raw bytes of a relative path.
    ///
    /// # Errors
    /// Bad input if a component is empty, `.`, `..`, over 255 bytes, holds NUL, or is a spelling of `.git` or `.progress`.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Result<TreePath, Error> {
        let bytes = bytes.into();
        check_names(&bytes).map_err(|why| refused(&bytes, why))?;
        Ok(TreePath(bytes))
    }

    /// The raw bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Its components, first to last; never empty.
    pub fn names(&self) -> impl Iterator<Item = &[u8]> {
        self.0.split(|byte| *byte == b'/')
    }

    /// The path of `name` inside this directory.
    ///
    /// # Errors
    /// As [`TreePath::new`].
    pub fn join(&self, name: &[u8]) -> Result<TreePath, Error> {
        let bytes = [self.0.as_slice(), name].join(&b'/');
        check_names(name).map_err(|why| refused(&bytes, why))?;
        Ok(TreePath(bytes))
    }

    /// The directory that holds it; `None` at the top of the tree.
    pub fn parent(&self) -> Option<TreePath> {
        let slash = self.0.iter().rposition(|byte| *byte == b'/')?;
        self.0.get(..slash).map(|bytes| TreePath(bytes.to_vec()))
    }

    /// Whether this is `folder` itself or lies below it.
    pub fn is_within(&self, folder: &TreePath) -> bool {
        self.0.strip_prefix(folder.0.as_slice()).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
    }
}

fn check_names(path: &[u8]) -> Result<(), &'static str> {
    path.split(|byte| *byte == b'/').try_for_each(check_name)
}

fn refused(path: &[u8], why: &str) -> Error {
    Error::bad_input(format!("refused path {:?}: {why}", shorten(&escape(path))))
        .help("the stored tree was not written by highwater, or is damaged: run `highwater verify`")
}

/// Checks one component of a path.
///
/// # Errors
/// A fragment that says why the name is refused.
pub fn check_name(name: &[u8]) -> Result<(), &'static str> {
    match name {
        b"" => return Err("a component is empty"),
        b"." | b".." => return Err("a component is '.' or '..'"),
        _ => {}
    }
    if name.len() > NAME_MAX_BYTES {
        return Err("a component is longer than 255 bytes");
    }
    if name.contains(&0) || name.contains(&b'/') {
        return Err("a component holds NUL or '/'");
    }
    if names_store(name) {
        return Err("it names a repository's or highwater's own store");
    }
    Ok(())
}

/// Whether a component is a spelling of `.git` or `.progress`.
pub fn names_store(name: &[u8]) -> bool {
    // Of a plain name, only the end is dropped.
    let begins_like =
        |store: &str| name.get(..store.len()).is_some_and(|name| name.eq_ignore_ascii_case(store.as_bytes()));
    (!name.is_ascii() || STORES.iter().any(|store| begins_like(store))) && STORES.contains(&folded(name).as_str())
}

/// What repositories and we are kept in, also as file systems with short names call it.
const STORES: [&str; 4] = [".git", "git~1", ".progress", "progre~1"];

/// The name as the most forgiving file systems see it: case folded, characters that HFS+ ignores removed, cut at an
/// alternate stream, trailing dots and spaces dropped.
fn folded(name: &[u8]) -> String {
    let text = String::from_utf8_lossy(name);
    let visible: String = text
        .chars()
        .filter(
            |c| !matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'),
        )
        .flat_map(char::to_lowercase)
        .collect();
    let stream = visible.split(':').next().unwrap_or_default();
    stream.trim_end_matches(['.', ' ']).to_owned()
}

/// Reversible, printable text of any bytes: see [`TreePath`].
pub fn escape(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\\' => text.push_str("\\\\"),
                c if c.is_control() || is_invisible(c) => {
                    let mut buffer = [0; 4];
                    c.encode_utf8(&mut buffer).bytes().for_each(|byte| push_hex(&mut text, byte));
                }
                c => text.push(c),
            }
        }
        chunk.invalid().iter().for_each(|byte| push_hex(&mut text, *byte));
    }
    text
}

/// Characters that reorder or hide what stands around them on a terminal.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2028}' | '\u{2029}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

fn push_hex(text: &mut String, byte: u8) {
    text.push_str(&format!("\\x{byte:02x}"));
}

/// The bytes that [`escape`] made the text from; `None` if it is no such text.
fn unescape(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (plain, escaped) = rest.split_at(at);
        bytes.extend_from_slice(plain.as_bytes());
        if let Some(after) = escaped.strip_prefix("\\\\") {
            bytes.push(b'\\');
            rest = after;
        } else {
            let hex = escaped.strip_prefix("\\x")?;
            bytes.push(u8::from_str_radix(hex.get(..2)?, 16).ok()?);
            rest = hex.get(2..)?;
        }
    }
    bytes.extend_from_slice(rest.as_bytes());
    Some(bytes)
}

impl TryFrom<String> for TreePath {
    type Error = Error;

    fn try_from(text: String) -> Result<TreePath, Error> {
        let bytes =
            unescape(&text).ok_or_else(|| Error::bad_input(format!("{:?} is not an escaped path", shorten(&text))))?;
        TreePath::new(bytes)
    }
}

impl From<TreePath> for String {
    fn from(path: TreePath) -> String {
        escape(&path.0)
    }
}

impl fmt::Display for TreePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&escape(&self.0))
    }
}

impl fmt::Debug for TreePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TreePath({self})")
    }
}

/// The path as lossy text, for globs and display columns that take `str`.
impl<'a> From<&'a TreePath> for Cow<'a, str> {
    fn from(path: &'a TreePath) -> Cow<'a, str> {
        String::from_utf8_lossy(&path.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tree_paths_cannot_leave_the_tree_or_name_a_store() {
        for good in
            ["a", "a/b", "..a", "a..", ".gitignore", ".github/x", "git", "progress", "a\nb", "C:x", "aux.txt", "..\\x"]
        {
            assert!(TreePath::new(good).is_ok(), "{good:?}");
        }
        // PROMISES E78–E80, E82.
        let long = "n".repeat(256);
        for bad in [
            "../x",
            "a/../../x",
            "/etc/x",
            "",
            ".",
            "a//b",
            "a/",
            "a/.",
            ".git/hooks/x",
            ".GIT",
            "sub/.git",
            ".progress",
            ".Progress/x",
            "git~1",
            ".git.",
            ".git ",
            ".git::$INDEX_ALLOCATION",
            ".g\u{200c}it",
            "a\0b",
            &long,
        ] {
            assert!(TreePath::new(bad).is_err(), "{bad:?}");
        }
        assert!(TreePath::new("n".repeat(255)).is_ok());
    }

    #[test]
    fn escaped_paths_come_back_to_the_byte() {
        for bytes in [&b"plain"[..], b"a\\b", b"\xff\xfe/x", b"a\nb\x1b[31m", "ü\u{202e}x".as_bytes(), b"\\x41"] {
            let path = TreePath::new(bytes).unwrap();
            let text = String::from(path.clone());
            assert!(!text.chars().any(char::is_control), "{text:?}");
            assert_eq!(TreePath::try_from(text).unwrap(), path);
        }
    }

    #[test]
    fn is_within_respects_component_borders() {
        let path = |text: &str| TreePath::new(text).unwrap();
        assert!(path("a/b").is_within(&path("a")));
        assert!(path("a").is_within(&path("a")));
        assert!(!path("ab").is_within(&path("a")));
    }
}
