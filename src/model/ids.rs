//! Names that are valid by construction: loops, iterations, objects, paths inside a tree.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::Error;

/// The name of a loop: `[A-Za-z0-9._-]`, 1–100 long, begins with a letter or digit, ends in no dot, and is no name
/// that the store or Windows keeps for itself. It is used as a directory name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(test, schemars(with = "String"))]
pub struct LoopId(String);

/// Names under `.progress/` that belong to the store itself.
const STORE_NAMES: [&str; 4] = ["objects", "restores", "cache", "lock"];

/// Device names of Windows; they cannot be directories there, with or without an extension.
fn is_device_name(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name).to_ascii_lowercase();
    let numbered = |prefix: &str| {
        stem.strip_prefix(prefix)
            .is_some_and(|rest| rest.len() == 1 && rest.chars().all(|c| c.is_ascii_digit() && c != '0'))
    };
    matches!(stem.as_str(), "con" | "prn" | "aux" | "nul") || numbered("com") || numbered("lpt")
}

impl LoopId {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for LoopId {
    type Err = Error;

    fn from_str(text: &str) -> Result<LoopId, Error> {
        let refuse = |why: &str| {
            Err(Error::usage(format!("{:?} is not a loop id: {why}", shorten(text))).help(
                "use 1 to 100 letters, digits, '.', '_' or '-', beginning with a letter or digit and not ending in a dot",
            ))
        };
        let Some(first) = text.chars().next() else { return refuse("it is empty") };
        if text.len() > 100 {
            return refuse("it is longer than 100 characters");
        }
        if let Some(odd) = text.chars().find(|c| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))) {
            return refuse(&format!("it holds {odd:?}"));
        }
        if !first.is_ascii_alphanumeric() {
            return refuse("it does not begin with a letter or digit");
        }
        if text.ends_with('.') {
            return refuse("it ends in a dot");
        }
        if STORE_NAMES.contains(&text.to_ascii_lowercase().as_str()) {
            return refuse("the store keeps that name for itself");
        }
        if is_device_name(text) {
            return refuse("Windows keeps that name for a device");
        }
        Ok(LoopId(text.to_owned()))
    }
}

/// The first 40 characters, so that an error's first line stays short.
fn shorten(text: &str) -> String {
    let mut short: String = text.chars().take(40).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

impl TryFrom<String> for LoopId {
    type Error = Error;

    fn try_from(text: String) -> Result<LoopId, Error> {
        text.parse()
    }
}

impl From<LoopId> for String {
    fn from(id: LoopId) -> String {
        id.0
    }
}

impl fmt::Display for LoopId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The number of an iteration; 0 is the baseline. Order is the number, never a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Iteration(pub u32);

impl Iteration {
    /// The baseline, iteration 0.
    pub const BASELINE: Iteration = Iteration(0);

    /// The one recorded after this one.
    #[must_use]
    pub fn next(self) -> Iteration {
        Iteration(self.0.saturating_add(1))
    }

    /// At least three digits, as in file names: `007`, `1000`.
    pub fn padded(self) -> String {
        format!("{:03}", self.0)
    }
}

impl fmt::Display for Iteration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl FromStr for Iteration {
    type Err = Error;

    fn from_str(text: &str) -> Result<Iteration, Error> {
        // `u32::from_str` takes a leading '+', which no iteration number has.
        let digits = !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
        match text.parse() {
            Ok(number) if digits => Ok(Iteration(number)),
            _ => Err(Error::usage(format!("{:?} is not an iteration number", shorten(text)))
                .help("iterations are whole numbers from 0, the baseline; `highwater log` lists them")),
        }
    }
}

/// BLAKE3 of an object's bytes, 32 bytes, written as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(into = "String")]
#[cfg_attr(test, schemars(with = "String", extend("pattern" = "^[0-9a-f]{64}$")))]
pub struct ObjectId(pub [u8; 32]);

impl ObjectId {
    /// The first eight digits, for people.
    pub fn short(&self) -> String {
        self.to_string().chars().take(8).collect()
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // By table: a record writes and compares thousands.
        const DIGITS: [char; 16] = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];
        let nibbles = self.0.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        let text: String = nibbles.filter_map(|nibble| DIGITS.get(usize::from(nibble))).collect();
        f.write_str(&text)
    }
}

impl fmt::Debug for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ObjectId({})", self.short())
    }
}

impl FromStr for ObjectId {
    type Err = Error;

    fn from_str(text: &str) -> Result<ObjectId, Error> {
        let wrong = || Error::bad_input(format!("{:?} is not an object id (64 hexadecimal digits)", shorten(text)));
        let mut id = [0u8; 32];
        let digits = text.as_bytes();
        if digits.len() != 64 {
            return Err(wrong());
        }
        // A long loop's trajectory and packs name thousands.
        let nibble = |digit: u8| match digit {
            b'0'..=b'9' => Some(digit - b'0'),
            b'a'..=b'f' => Some(digit - b'a' + 10),
            _ => None,
        };
        for (byte, [high, low]) in id.iter_mut().zip(digits.as_chunks().0) {
            let (Some(high), Some(low)) = (nibble(*high), nibble(*low)) else { return Err(wrong()) };
            *byte = high << 4 | low;
        }
        Ok(ObjectId(id))
    }
}

impl<'de> Deserialize<'de> for ObjectId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<ObjectId, D::Error> {
        struct Digits;
        impl serde::de::Visitor<'_> for Digits {
            type Value = ObjectId;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("an object id of 64 hexadecimal digits")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<ObjectId, E> {
                text.parse().map_err(E::custom)
            }
        }
        deserializer.deserialize_str(Digits)
    }
}

impl From<ObjectId> for String {
    fn from(id: ObjectId) -> String {
        id.to_string()
    }
}

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
        for name in bytes.split(|byte| *byte == b'/') {
            check_name(name).map_err(|why| {
                Error::bad_input(format!("refused path {:?}: {why}", shorten(&escape(&bytes))))
                    .help("the stored tree was not written by highwater, or is damaged: run `highwater verify`")
            })?;
        }
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
        let mut bytes = self.0.clone();
        bytes.push(b'/');
        bytes.extend_from_slice(name);
        TreePath::new(bytes)
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
    // Most names are plain and begin like none of those.
    if name.is_ascii() && !matches!(name.first(), Some(b'.' | b'g' | b'G' | b'p' | b'P')) {
        return Ok(());
    }
    match folded(name).as_str() {
        ".git" | "git~1" | ".progress" | "progre~1" => Err("it names a repository's or highwater's own store"),
        _ => Ok(()),
    }
}

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
    fn loop_ids_are_safe_directory_names() {
        for good in ["auth", "loop-001", "a", "A.b_c-9", &"x".repeat(100)] {
            assert!(good.parse::<LoopId>().is_ok(), "{good}");
        }
        // PROMISES A53, and the names that CLI.md keeps.
        for bad in [
            "..",
            ".",
            "a/b",
            "",
            "-x",
            "CON",
            "con.txt",
            "lpt1",
            "a.",
            "a ",
            "é",
            "objects",
            "LOCK",
            "cache",
            "restores",
            &"x".repeat(101),
        ] {
            assert!(bad.parse::<LoopId>().is_err(), "{bad}");
        }
        assert!("company".parse::<LoopId>().is_ok());
    }

    #[test]
    fn iteration_numbers_are_digits_only() {
        assert_eq!("17".parse::<Iteration>().ok(), Some(Iteration(17)));
        for bad in ["-1", "+1", "", " 1", "1e3", "100000000000000000000", "x"] {
            assert!(bad.parse::<Iteration>().is_err(), "{bad}");
        }
        assert_eq!(Iteration(7).padded(), "007");
        assert_eq!(Iteration(1000).padded(), "1000");
    }

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
    fn object_ids_are_64_lowercase_hex_digits() {
        let id = ObjectId([0xab; 32]);
        assert_eq!(id.to_string().parse::<ObjectId>().ok(), Some(id));
        assert!("ab".parse::<ObjectId>().is_err());
        assert!("AB".repeat(32).parse::<ObjectId>().is_err());
        assert!("é".repeat(32).parse::<ObjectId>().is_err());
    }

    #[test]
    fn is_within_respects_component_borders() {
        let path = |text: &str| TreePath::new(text).unwrap();
        assert!(path("a/b").is_within(&path("a")));
        assert!(path("a").is_within(&path("a")));
        assert!(!path("ab").is_within(&path("a")));
    }
}
