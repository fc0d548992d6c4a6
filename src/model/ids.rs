//! Names that are valid by construction: loops, iterations, objects, paths inside a tree.

mod tree_path;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

pub use tree_path::{TreePath, check_name, escape, names_store};

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
    fn object_ids_are_64_lowercase_hex_digits() {
        let id = ObjectId([0xab; 32]);
        assert_eq!(id.to_string().parse::<ObjectId>().ok(), Some(id));
        assert!("ab".parse::<ObjectId>().is_err());
        assert!("AB".repeat(32).parse::<ObjectId>().is_err());
        assert!("é".repeat(32).parse::<ObjectId>().is_err());
    }
}
