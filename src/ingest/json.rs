//! JSON from a stream: decoded, with limits, and with the place of a fault.

use std::borrow::Cow;
use std::collections::HashSet;
use std::marker::PhantomData;
use std::{fmt, io};

use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
};

use super::CUT_HELP;
use super::input::{CHUNK_BYTES, Input, Invalid, Text};
use super::text::printable;
use crate::error::{Error, Reject, Result};

mod steps;

pub(super) use steps::{Steps, steps};

/// Objects and lists inside each other.
const DEEPEST: usize = 127;

/// Blanks between a list's `[` and its first element.
const MOST_BLANKS: usize = 64 * 1024;

/// Reads one JSON object out of a report: banners and other output before or after it are passed over. It begins at
/// the first line that begins with `{`.
///
/// # Errors
/// Malformed if the object is not well-formed, is cut, or another one follows it; not this format if none is there.
pub(super) fn object<'de, S: DeserializeSeed<'de>>(input: &Input<'_>, seed: S) -> Result<S::Value> {
    one(Bytes::new(input.text(Invalid::EscapedTwice)?), seed)
}

/// Likewise one object or one list of objects. A list begins at a line that begins with `[`, where `{` or `]` comes next:
/// a banner's `[INFO]` is none.
///
/// # Errors
/// As for [`object`].
pub(super) fn document<'de, S: DeserializeSeed<'de>>(input: &Input<'_>, seed: S) -> Result<S::Value> {
    one(Bytes { lists: true, ..Bytes::new(input.text(Invalid::EscapedTwice)?) }, seed)
}

/// Likewise all objects and lists of objects, each read by a seed of its own.
///
/// # Errors
/// Malformed if one of them is not well-formed or is cut; not this format if none is there.
pub(super) fn documents<'de, S, F>(input: &Input<'_>, mut seed: F) -> Result<()>
where
    S: DeserializeSeed<'de, Value = ()>,
    F: FnMut() -> S,
{
    let mut bytes = Bytes { lists: true, ..Bytes::new(input.text(Invalid::EscapedTwice)?) };
    bytes.begin()?;
    bytes.value(seed())?;
    while bytes.seek()? {
        bytes.value(seed())?;
    }
    if bytes.has_nul {
        // Of how many documents there were, nothing is left.
        return Err(Error::report(Reject::Malformed, "NUL bytes stand where a JSON document may have stood")
            .help("the machine probably went down while it was written; run the tool again"));
    }
    Ok(())
}

fn one<'de, S: DeserializeSeed<'de>>(mut bytes: Bytes<'_>, seed: S) -> Result<S::Value> {
    bytes.begin()?;
    let value = bytes.value(seed)?;
    bytes.finish()?;
    Ok(value)
}

/// An object of which one key is read, once, and everything else passed over.
pub(super) struct Key<S> {
    /// The key.
    pub name: &'static str,
    /// Reads its value.
    pub seed: S,
}

impl<'de, S: DeserializeSeed<'de, Value = ()>> DeserializeSeed<'de> for Key<S> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, S: DeserializeSeed<'de, Value = ()>> Visitor<'de> for Key<S> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object with the key {}", self.name)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        self.find(map).map(drop)
    }
}

impl<S> Key<S> {
    /// Reads the object; tells whether the key is there.
    pub(super) fn find<'de, A: MapAccess<'de>>(self, mut map: A) -> Result<bool, A::Error>
    where
        S: DeserializeSeed<'de, Value = ()>,
    {
        let mut seed = Some(self.seed);
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            if key != self.name {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            match seed.take() {
                Some(seed) => map.next_value_seed(seed)?,
                None => return Err(A::Error::duplicate_field(self.name)),
            }
        }
        Ok(seed.is_none())
    }
}

/// Takes the elements of a list as they come.
pub(super) trait Elements {
    /// Reads the next one; `false` if there is none.
    fn next<'de, A: SeqAccess<'de>>(&mut self, list: &mut A) -> Result<bool, A::Error>;
}

/// A list whose elements are taken so. `null` is an empty one.
pub(super) struct ListOf<E>(pub E);

impl<'de, E: Elements> DeserializeSeed<'de> for ListOf<E> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, E: Elements> Visitor<'de> for ListOf<E> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_unit<F>(self) -> Result<(), F> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<(), A::Error> {
        while self.0.next(&mut list)? {}
        Ok(())
    }
}

/// Elements each of which is read by a seed of its own.
pub(super) struct Seeds<F>(F);

/// A list of [`Seeds`].
pub(super) fn each<F>(seed: F) -> ListOf<Seeds<F>> {
    ListOf(Seeds(seed))
}

impl<S, F: FnMut() -> S> Elements for Seeds<F>
where
    S: for<'de> DeserializeSeed<'de, Value = ()>,
{
    fn next<'de, A: SeqAccess<'de>>(&mut self, list: &mut A) -> Result<bool, A::Error> {
        Ok(list.next_element_seed((self.0)())?.is_some())
    }
}

/// Elements that are handed to a function.
pub(super) struct Items<T, F> {
    take: F,
    of: PhantomData<T>,
}

/// A list of [`Items`] for `take`, of whose errors the message alone comes through.
pub(super) fn items<T: DeserializeOwned, F: FnMut(T) -> Result<()>>(take: F) -> ListOf<Items<T, F>> {
    ListOf(Items { take, of: PhantomData })
}

impl<T: DeserializeOwned, F: FnMut(T) -> Result<()>> Elements for Items<T, F> {
    fn next<'de, A: SeqAccess<'de>>(&mut self, list: &mut A) -> Result<bool, A::Error> {
        let Some(item) = list.next_element::<T>()? else { return Ok(false) };
        (self.take)(item).map_err(|error| A::Error::custom(&error.message))?;
        Ok(true)
    }
}

/// A fault of serde_json's as ours, in a value that begins in that line behind so many bytes.
fn fault(error: &serde_json::Error, (first_line, indent): (u64, u64)) -> Error {
    let line = first_line.saturating_add(u64::try_from(error.line()).unwrap_or(1).saturating_sub(1));
    let before = if error.line() <= 1 { indent } else { 0 };
    let column = u64::try_from(error.column()).unwrap_or(1).max(1).saturating_add(before);
    // The place is told apart from the message.
    let text = error.to_string();
    let why = text.split(" at line ").next().unwrap_or_default();
    if why == "recursion limit exceeded" {
        return too_deep(line);
    }
    let report = match error.classify() {
        serde_json::error::Category::Eof => {
            Error::report(Reject::Malformed, "report ends before its JSON is closed").help(CUT_HELP)
        }
        _ => Error::report(Reject::Malformed, format!("JSON is not as expected: {}", printable(why, 70))),
    };
    report.line_column(line, column)
}

fn too_deep(line: u64) -> Error {
    Error::report(Reject::Malformed, "too deep: more than 127 objects and lists inside each other").line(line)
}

/// The text of documents: feeds serde_json, counting depth; remembers our own error, which `io::Error` would flatten.
struct Bytes<'a> {
    text: Text<'a>,
    /// Whether a list may be a document, too.
    lists: bool,
    /// What was decoded, of which nothing before `at` is needed any more.
    buffer: String,
    at: usize,
    /// Nothing comes after the buffer.
    is_at_end: bool,
    /// Where the buffer begins: its line, and how many bytes of that come before it.
    line: u64,
    indent: u64,
    /// A NUL byte was met between documents.
    has_nul: bool,
    /// Of the value that serde_json is fed.
    scan: Scan,
    fault: Option<Error>,
}

impl<'a> Bytes<'a> {
    fn new(text: Text<'a>) -> Bytes<'a> {
        let (buffer, fault) = (String::new(), None);
        let scan = Scan::inside(0);
        Bytes { text, lists: false, buffer, at: 0, is_at_end: false, line: 1, indent: 0, has_nul: false, scan, fault }
    }

    fn rest(&self) -> &[u8] {
        self.buffer.as_bytes().get(self.at..).unwrap_or_default()
    }

    /// Decodes more behind what is left; `false` at the end.
    fn refill(&mut self) -> Result<bool> {
        (self.line, self.indent) = self.place();
        self.buffer.drain(..self.at);
        self.at = 0;
        self.is_at_end = !self.text.append(&mut self.buffer)?;
        Ok(!self.is_at_end)
    }

    fn peek(&mut self) -> Result<Option<u8>> {
        if self.rest().is_empty() && !self.refill()? {
            return Ok(None);
        }
        Ok(self.rest().first().copied())
    }

    /// The line of what is next, from 1, and how many bytes of it come before.
    fn place(&self) -> (u64, u64) {
        let before = self.buffer.as_bytes().get(..self.at).unwrap_or_default();
        let column = |bytes: usize| u64::try_from(bytes).unwrap_or(u64::MAX);
        match memchr::memrchr(b'\n', before) {
            Some(last) => (self.line + lines_in(before), column(before.len() - last - 1)),
            None => (self.line, self.indent + column(before.len())),
        }
    }

    /// Moves to the first document.
    fn begin(&mut self) -> Result<()> {
        if self.seek()? {
            return Ok(());
        }
        let what =
            if self.lists { "no JSON object and no list of objects is in it" } else { "no JSON object is in it" };
        Err(Error::report(Reject::NotThisFormat, what))
    }

    /// Moves to the next line that begins a document.
    fn seek(&mut self) -> Result<bool> {
        let mut only_space = true;
        while let Some(byte) = self.peek()? {
            match byte {
                b'{' if only_space => return Ok(true),
                b'[' if only_space && self.lists && self.begins_list()? => return Ok(true),
                b'\n' | b'\r' => only_space = true,
                byte if byte.is_ascii_whitespace() => {}
                b'\x1b' if only_space => {
                    self.skip_code()?;
                    continue;
                }
                _ => (self.has_nul, only_space) = (self.has_nul || byte == 0, false),
            }
            self.at += 1;
        }
        Ok(false)
    }

    /// Moves behind the terminal code that is next, `ESC [ 31 ; 1 m`, which is none of the text.
    fn skip_code(&mut self) -> Result<()> {
        self.at += 1;
        if self.peek()? == Some(b'[') {
            self.at += 1;
            while let Some(b'0'..=b'9' | b';') = self.peek()? {
                self.at += 1;
            }
            if self.peek()?.is_some_and(|byte| byte.is_ascii_alphabetic()) {
                self.at += 1;
            }
        }
        Ok(())
    }

    /// Whether an object or the list's end comes after the `[` that is next. If nothing comes any more, the list is cut.
    fn begins_list(&mut self) -> Result<bool> {
        let mut ahead = 1;
        while ahead < MOST_BLANKS {
            match self.rest().get(ahead).copied() {
                Some(b'{' | b']') => return Ok(true),
                Some(byte) if byte.is_ascii_whitespace() => ahead += 1,
                Some(_) => return Ok(false),
                None if self.refill()? => {}
                None => return Ok(true),
            }
        }
        Ok(false)
    }

    /// The value that is next, which may be of any length.
    fn value<'de, S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value> {
        self.scan = Scan::inside(self.scan.around);
        let place = self.place();
        let mut json = serde_json::Deserializer::from_reader(io::BufReader::with_capacity(CHUNK_BYTES, &mut *self));
        let value = seed.deserialize(&mut json);
        drop(json);
        value.map_err(|error| self.told(&error, place))
    }

    /// What went wrong while a value was read that begins at `place`: our own fault, or serde_json's.
    fn told(&mut self, error: &serde_json::Error, place: (u64, u64)) -> Error {
        self.fault.take().unwrap_or_else(|| fault(error, place))
    }

    /// After the object: other output may follow, another object may not.
    fn finish(&mut self) -> Result<()> {
        if self.seek()? {
            return Err(Error::report(Reject::Malformed, "a second JSON document follows in the same file")
                .line(self.place().0)
                .help("two runs wrote into one report file; let each run write its own"));
        }
        Ok(())
    }

    /// Copies what is there into `target`, the value that is next and no further: what follows it is not JSON, perhaps.
    fn copy(&mut self, target: &mut [u8]) -> Result<usize> {
        if self.scan.is_over || self.peek()?.is_none() {
            return Ok(0);
        }
        let mut scan = self.scan;
        let rest = self.rest();
        let rest = rest.get(..target.len()).unwrap_or(rest);
        let copied = rest.get(..scan.span(rest)).unwrap_or_default();
        if let Some(target) = target.get_mut(..copied.len()) {
            target.copy_from_slice(copied);
        }
        let length = copied.len();
        (self.scan, self.at) = (scan, self.at + length);
        if scan.is_too_deep() { Err(too_deep(self.place().0)) } else { Ok(length) }
    }
}

/// Follows the bytes of an object, a list or a string to its end.
#[derive(Clone, Copy)]
struct Scan {
    /// Objects and lists that the value is in.
    around: usize,
    /// Those and the ones that are open in it.
    depth: usize,
    in_string: bool,
    escaped: bool,
    is_over: bool,
}

impl Scan {
    fn inside(around: usize) -> Scan {
        Scan { around, depth: around, in_string: false, escaped: false, is_over: false }
    }

    fn is_too_deep(&self) -> bool {
        self.depth > DEEPEST
    }

    /// How many of the next bytes are the value's, or stand up to where it gets too deep.
    fn span(&mut self, bytes: &[u8]) -> usize {
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            at += 1;
            if self.escaped {
                self.escaped = false;
            } else if self.in_string {
                // Most bytes are in strings, where only these two mean anything.
                let rest = bytes.get(at - 1..).unwrap_or_default();
                let Some(end) = memchr::memchr2(b'"', b'\\', rest) else { return bytes.len() };
                self.escaped = rest.get(end) == Some(&b'\\');
                self.in_string = self.escaped;
                at += end;
                self.is_over = !self.in_string && self.depth == self.around;
            } else {
                match byte {
                    b'"' => self.in_string = true,
                    b'{' | b'[' => self.depth += 1,
                    b'}' | b']' => {
                        self.depth = self.depth.saturating_sub(1).max(self.around);
                        self.is_over = self.depth == self.around;
                    }
                    _ => {}
                }
            }
            if self.is_over || self.is_too_deep() {
                return at;
            }
        }
        at
    }
}

fn lines_in(bytes: &[u8]) -> u64 {
    u64::try_from(memchr::memchr_iter(b'\n', bytes).count()).unwrap_or(u64::MAX)
}

impl io::Read for Bytes<'_> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        self.copy(target).map_err(|error| {
            let text = error.to_string();
            self.fault = Some(error);
            io::Error::other(text)
        })
    }
}

/// The keys of the first object of a text that may be cut: as paths (`runs`, `runs.tool`), lists passed through, each once,
/// at most four deep, and 200 of those that are deeper than two. It begins at a line that begins with `{` or `[` and has keys: a banner's `[INFO]` has none.
pub(super) fn first_keys(text: &str) -> Vec<String> {
    let mut rest = text;
    let mut tries = 0;
    while tries < 20 {
        if rest.trim_start().starts_with(['{', '[']) {
            tries += 1;
            let keys = keys_from(rest);
            if !keys.is_empty() {
                return keys;
            }
        }
        match rest.split_once('\n') {
            Some((_, after)) => rest = after,
            None => break,
        }
    }
    Vec::new()
}

/// Most keys that are told of below the second level.
const DEEP_KEYS: usize = 200;

fn keys_from(text: &str) -> Vec<String> {
    let (mut keys, mut met, mut deep) = (Vec::new(), HashSet::new(), 0);
    let mut path: Vec<Option<String>> = Vec::new();
    let mut last: Option<String> = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => last = Some(string(&mut chars)),
            ':' => {
                let Some(key) = last.take() else { continue };
                if let Some(slot) = path.last_mut() {
                    *slot = Some(key);
                }
                let full: Vec<&str> = path.iter().flatten().map(String::as_str).collect();
                let is_deep = full.len() > 2;
                if full.len() > 4 || (is_deep && deep == DEEP_KEYS) {
                    continue;
                }
                let key = full.join(".");
                // Lists repeat nearly all of them.
                if !met.contains(&key) {
                    met.insert(key.clone());
                    deep += usize::from(is_deep);
                    keys.push(key);
                }
            }
            '{' | '[' if path.len() < DEEPEST => path.push(None),
            '}' | ']' if path.len() > 1 => drop(path.pop()),
            '{' | '[' | '}' | ']' => return keys,
            c if c.is_whitespace() => {}
            _ => last = None,
        }
    }
    keys
}

/// The characters up to the closing quote, escapes as they stand.
fn string(chars: &mut std::str::Chars<'_>) -> String {
    let mut text = String::new();
    while let Some(c) = chars.next() {
        match c {
            '"' => break,
            '\\' => drop(chars.next()),
            c => text.push(c),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<serde_json::Value> {
        object(&Input::bytes("x", text.as_bytes()), PhantomData)
    }

    #[test]
    fn keys_are_paths_through_objects_and_lists() {
        let text = "[INFO] x\n{ \"a\": {\"b\": [{\"c\": \"d:e\", \"f\\\"\" : 1}]},\n\"g\": [\"x\", \"y\"], \"h";
        assert_eq!(first_keys(text), ["a", "a.b", "a.b.c", "a.b.f", "g"]);
        assert_eq!(first_keys("[\n {\"x\": 1}]"), ["x"]);
        for none in ["", "x {\"a\":1}", "{}", "[1, 2]", "}{\"a\":1"] {
            assert!(first_keys(none).is_empty(), "{none}");
        }
    }

    #[test]
    fn faults_have_the_line_of_the_file() {
        let place = |text: &str| read(text).map_err(|error| (error.place.line, error.place.column)).unwrap_err();
        assert_eq!(place("banner\n\n{\n \"a\": tru }"), (Some(4), Some(10)));
        assert_eq!(place("x\n   {\"a\": tru }"), (Some(2), Some(13)));
        assert_eq!(place("{\n\"a\": 1").0, Some(2));
        assert_eq!(place(&format!("\n{}", "{\"a\":".repeat(200))).0, Some(2));
        assert_eq!(read("{\"a\": [1, \"}\\\"{\"]}\ntrailing").unwrap()["a"][1], "}\"{");
        let coloured =
            "\x1b[33mIt is an experiment.\x1b[0m\n\x1b[0m \x1b[1;31m{\"a\": 1}\n\x1b[0m\x1b[31mIt failed.\x1b[0m\n";
        assert_eq!(read(coloured).unwrap()["a"], 1);
        assert_eq!(read("x\n\x1b[1;{}").unwrap(), serde_json::json!({}));
    }

    #[test]
    fn one_object_is_read_and_no_second_may_follow() {
        assert_eq!(read("x {}\n").unwrap_err().reject(), Some(Reject::NotThisFormat));
        let second = read("{\n}\n{}").unwrap_err();
        assert_eq!((second.reject(), second.place.line), (Some(Reject::Malformed), Some(3)));
        assert_eq!(read("{}{}").unwrap_err().reject(), Some(Reject::Malformed));
        assert!(read("{} {").is_err() && read("{} x {}").is_ok() && read(" {}\n[]").is_ok());
    }

    #[test]
    fn a_list_of_objects_is_a_document_and_a_banner_is_none() {
        let read = |text: &str| document(&Input::bytes("x", text.as_bytes()), PhantomData::<serde_json::Value>);
        assert_eq!(read("[INFO] x\n[1/2] y\n [\n{\"a\": 1}] z").unwrap()[0]["a"], 1);
        assert_eq!(read("[]").unwrap(), serde_json::json!([]));
        assert_eq!(read("x\n{\"a\": [1]}").unwrap()["a"][0], 1);
        let far = format!("{}[\n{{\"a\":2}}]", "\n".repeat(64 * 1024 - 1));
        assert_eq!(read(&far).unwrap()[0]["a"], 2, "the bracket ends a chunk");
        for (text, reject) in [
            ("[1, 2]", Reject::NotThisFormat),
            ("[", Reject::Malformed),
            ("[{}", Reject::Malformed),
            ("[]\n[]", Reject::Malformed),
            ("[]\n{}", Reject::Malformed),
        ] {
            assert_eq!(read(text).unwrap_err().reject(), Some(reject), "{text}");
        }
    }

    #[test]
    fn documents_are_read_one_after_the_other() {
        let count = |text: &str| {
            let elements = std::cell::Cell::new(0);
            let element = || {
                elements.set(elements.get() + 1);
                Key { name: "a", seed: PhantomData::<()> }
            };
            let outcome = documents(&Input::bytes("x", text.as_bytes()), || each(element));
            outcome.map_err(|error| (error.reject(), error.place.line)).map(|()| elements.get())
        };
        // Each list asks for one seed more than it has elements.
        assert_eq!(count("make: x\n[{}, {\"a\": null}]\nx\n[]\n"), Ok(4));
        assert_eq!(count("x"), Err((Some(Reject::NotThisFormat), None)));
        assert_eq!(count("[]\n\n[{"), Err((Some(Reject::Malformed), Some(3))));
        assert_eq!(count("[{}]\rx\r[{}]"), Ok(4), "a lone CR ends a line");
        assert_eq!(count("[{}]\n\0\0\0"), Err((Some(Reject::Malformed), None)));
    }
}
