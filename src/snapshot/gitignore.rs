//! The lines of a `.gitignore`, read and matched as git itself does it (its `dir.c` and `wildmatch.c`): byte by byte, with
//! `{` as any other character, with git's classes, and with `**` across folders only where it stands for a whole name.
//!
//! A line is taken apart once, when its file is read. Matching never goes back further than to the last `*` and the last
//! `**`, so that no line, whoever wrote it, takes longer than the product of its length and the path's.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::HashMap;

/// The lines of one file. The last one that matches decides.
#[derive(Debug, Default)]
pub(super) struct Lines {
    lines: Vec<Line>,
    /// Those that match one name only, or names that go on in one way from their last dot: their places, by that. Most
    /// lines are such, and a path is held against few others however many lines there are.
    keyed: HashMap<Vec<u8>, Vec<usize>>,
    shapes: Shapes,
    /// The places of the others.
    others: Vec<usize>,
    folds: bool,
}

/// How long keys are, by the byte that they end with: most names of a work tree are told from all keys by that, at less than
/// a hash.
#[derive(Debug)]
struct Shapes(Box<[u64; 256]>);

impl Default for Shapes {
    fn default() -> Shapes {
        Shapes(Box::new([0; 256]))
    }
}

impl Shapes {
    fn add(&mut self, key: &[u8]) {
        let (end, length) = Shapes::of(key);
        if let Some(lengths) = self.0.get_mut(end) {
            *lengths |= length;
        }
    }

    /// Whether there may be such a key.
    fn has(&self, key: &[u8]) -> bool {
        let (end, length) = Shapes::of(key);
        self.0.get(end).is_some_and(|lengths| lengths & length != 0)
    }

    fn of(key: &[u8]) -> (usize, u64) {
        (key.last().copied().unwrap_or_default().into(), 1 << key.len().min(63))
    }
}

/// What a line says of what it matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Says {
    /// From 1, as git counts them.
    number: usize,
    /// It begins with `!`.
    is_kept: bool,
    /// It ends with `/`.
    only_directories: bool,
}

#[derive(Debug)]
struct Line {
    says: Says,
    /// A `/` in it: it is held against the whole path, else against the last name.
    is_path: bool,
    /// What it spells out before its first wildcard.
    head: Vec<u8>,
    /// What comes after.
    parts: Vec<Part>,
}

#[derive(Debug, PartialEq, Eq)]
enum Part {
    Byte(u8),
    /// `?`
    Any,
    /// `[…]`: which bytes.
    OneOf(Box<[bool; 256]>),
    /// `*`: any bytes but `/`.
    Star,
    /// `**/`: any number of folders; at least one where the `/` has a `\` before it.
    Folders {
        or_none: bool,
    },
    /// `**` at the end.
    Rest,
}

impl Part {
    fn takes(&self, byte: u8) -> bool {
        match self {
            Part::Byte(own) => *own == byte,
            Part::Any => byte != b'/',
            Part::OneOf(bytes) => byte != b'/' && bytes.get(usize::from(byte)).is_some_and(|is_in| *is_in),
            Part::Star | Part::Folders { .. } | Part::Rest => false,
        }
    }
}

impl Lines {
    /// Reads a file. `folds` is git's `core.ignoreCase`.
    pub fn read(file: &[u8], folds: bool) -> Lines {
        let mut lines = Lines { folds, ..Lines::default() };
        let file = file.strip_prefix(b"\xef\xbb\xbf").unwrap_or(file);
        for (number, line) in file.split(|byte| *byte == b'\n').enumerate() {
            lines.add(line.strip_suffix(b"\r").unwrap_or(line), number.saturating_add(1));
        }
        lines
    }

    fn add(&mut self, line: &[u8], number: usize) {
        if line.starts_with(b"#") {
            return;
        }
        // For git, a line is a string of C.
        let line = line.split(|byte| *byte == 0).next().unwrap_or_default();
        let line = without_spaces_at_its_end(line);
        let (line, is_kept) = line.strip_prefix(b"!").map_or((line, false), |line| (line, true));
        let (line, only_directories) = line.strip_suffix(b"/").map_or((line, false), |line| (line, true));
        let is_path = line.contains(&b'/');
        let line = if is_path { line.strip_prefix(b"/").unwrap_or(line) } else { line };
        let wild = line.iter().position(|byte| b"*?[\\".contains(byte)).unwrap_or(line.len());
        let (head, wild) = line.split_at(wild);
        let head = if self.folds { head.to_ascii_lowercase() } else { head.to_vec() };
        // Where it can match nothing it is no line.
        let Some(parts) = parts(wild, is_path, self.folds) else { return };
        let places = match key(&head, &parts) {
            Some(key) => {
                self.shapes.add(&key);
                self.keyed.entry(key).or_default()
            }
            None => &mut self.others,
        };
        places.push(self.lines.len());
        self.lines.push(Line { says: Says { number, is_kept, only_directories }, is_path, head, parts });
    }

    /// Whether there is no line that could match.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Whether git would ignore the path (from the folder that the lines are for), its parents not being ignored; `None`
    /// if no line says anything of it.
    pub fn ignore(&self, path: &[u8], is_directory: bool) -> Option<bool> {
        self.last(path, is_directory).map(|says| !says.is_kept)
    }

    fn last(&self, path: &[u8], is_directory: bool) -> Option<Says> {
        let path = if self.folds { Cow::Owned(path.to_ascii_lowercase()) } else { Cow::Borrowed(path) };
        let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        let end = name.iter().rposition(|byte| *byte == b'.').and_then(|dot| name.get(dot..));
        let line = |place: &usize| self.lines.get(*place);
        let matches = |line: &&Line| (is_directory || !line.says.only_directories) && line.matches(&path, name);
        let last = |places: &Vec<usize>| places.iter().rev().filter_map(line).find(matches).map(|line| line.says);
        let keyed = |key: &[u8]| self.shapes.has(key).then(|| self.keyed.get(key)).flatten();
        let places = [keyed(name), end.and_then(keyed), Some(&self.others)];
        places.into_iter().flatten().filter_map(last).max_by_key(|says| says.number)
    }
}

impl Line {
    fn matches(&self, path: &[u8], name: &[u8]) -> bool {
        let text = if self.is_path { path } else { name };
        text.strip_prefix(self.head.as_slice()).is_some_and(|text| fits(&self.parts, text))
    }
}

/// The only name that a line matches, or what such names have from their last dot on; `None` if there is no such thing.
fn key(head: &[u8], parts: &[Part]) -> Option<Vec<u8>> {
    let spelled = |part: &Part| if let Part::Byte(byte) = part { Some(*byte) } else { None };
    let count = parts.iter().rev().map_while(spelled).count();
    let (wild, end) = parts.split_at(parts.len().saturating_sub(count));
    let mut end: Vec<u8> = end.iter().filter_map(spelled).collect();
    let is_name = match wild {
        [] => {
            end.splice(0..0, head.iter().copied());
            true
        }
        [Part::Folders { or_none: true }] => head.is_empty() || head.ends_with(b"/"),
        [.., Part::Folders { .. }] => true,
        _ => false,
    };
    let slash = end.iter().rposition(|byte| *byte == b'/');
    let dot = end.iter().rposition(|byte| *byte == b'.');
    match (slash, dot) {
        (Some(slash), _) => Some(end.split_off(slash + 1)),
        _ if is_name => Some(end),
        (_, Some(dot)) => Some(end.split_off(dot)),
        _ => None,
    }
}

/// Spaces at the end do not count, unless one has a `\` before it.
fn without_spaces_at_its_end(line: &[u8]) -> &[u8] {
    let mut end = 0;
    let mut at = 0;
    while let Some(byte) = line.get(at) {
        at += if *byte == b'\\' { 2 } else { 1 };
        if *byte != b' ' {
            end = at;
        }
    }
    line.get(..end).unwrap_or(line)
}

/// What a line says from its first wildcard on; `None` if that matches nothing.
fn parts(line: &[u8], is_path: bool, folds: bool) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    let mut at = 0;
    while let Some(byte) = line.get(at) {
        let part = match byte {
            b'\\' => {
                at += 1;
                Part::Byte(*line.get(at)?)
            }
            b'?' => Part::Any,
            b'[' => {
                let (bytes, end) = class(line, at + 1, folds)?;
                at = end;
                Part::OneOf(bytes)
            }
            b'*' => {
                let begin = at;
                while line.get(at + 1) == Some(&b'*') {
                    at += 1;
                }
                let rest = line.get(at + 1..).unwrap_or_default();
                let is_name = begin.checked_sub(1).is_none_or(|before| line.get(before) == Some(&b'/'));
                if at == begin || !is_path || !is_name {
                    Part::Star
                } else if rest.is_empty() {
                    Part::Rest
                } else if rest.starts_with(b"/") {
                    at += 1;
                    Part::Folders { or_none: true }
                } else if rest.starts_with(b"\\/") {
                    at += 2;
                    Part::Folders { or_none: false }
                } else {
                    Part::Star
                }
            }
            other if folds => Part::Byte(other.to_ascii_lowercase()),
            other => Part::Byte(*other),
        };
        at += 1;
        // A second one would add nothing but time.
        if part != (Part::Folders { or_none: true }) || parts.last() != Some(&part) {
            parts.push(part);
        }
    }
    Some(parts)
}

/// The bytes of the class whose `[` is before `at`, and where its `]` is; `None` if it is none.
fn class(line: &[u8], mut at: usize, folds: bool) -> Option<(Box<[bool; 256]>, usize)> {
    let byte_at = |at: usize| line.get(at).copied();
    let mut bytes = Box::new([false; 256]);
    let mut add = |is_in: &dyn Fn(u8) -> bool| {
        for (byte, place) in (0..=u8::MAX).zip(bytes.iter_mut()) {
            *place |= is_in(byte);
        }
    };
    let is_negated = matches!(byte_at(at)?, b'!' | b'^');
    at += usize::from(is_negated);
    // What a `-` can begin a range with.
    let mut before = None;
    loop {
        let mut byte = byte_at(at)?;
        let next = byte_at(at + 1);
        let mut is_single = true;
        match (byte, before) {
            (b'\\', _) => {
                at += 1;
                byte = next?;
            }
            (b'-', Some(first)) if next? != b']' => {
                at += 1;
                if next == Some(b'\\') {
                    at += 1;
                }
                let range = first..=byte_at(at)?;
                add(&|byte| {
                    range.contains(&byte)
                        || folds && byte.is_ascii_lowercase() && range.contains(&byte.to_ascii_uppercase())
                });
                is_single = false;
            }
            (b'[', _) if next == Some(b':') => {
                let begin = at + 2;
                let end = begin + line.get(begin..)?.iter().position(|byte| *byte == b']')?;
                // Without a `:` before its `]`, it is a `[` like any other character.
                if let Some(name) = line.get(begin..end).and_then(|name| name.strip_suffix(b":")) {
                    add(named_class(name, folds)?);
                    at = end;
                    is_single = false;
                }
            }
            _ => {}
        }
        if is_single {
            add(&|other| other == byte);
        }
        before = is_single.then_some(byte);
        at += 1;
        if byte_at(at)? == b']' {
            break;
        }
    }
    if is_negated {
        bytes.iter_mut().for_each(|is_in| *is_in = !*is_in);
    }
    Some((bytes, at))
}

/// The bytes of `[:NAME:]`, as git has them whatever the locale: those of ASCII.
fn named_class(name: &[u8], folds: bool) -> Option<&'static dyn Fn(u8) -> bool> {
    Some(match name {
        b"alnum" => &|byte| byte.is_ascii_alphanumeric(),
        b"alpha" => &|byte| byte.is_ascii_alphabetic(),
        b"blank" => &|byte| matches!(byte, b' ' | b'\t'),
        b"cntrl" => &|byte| byte.is_ascii_control(),
        b"digit" => &|byte| byte.is_ascii_digit(),
        b"graph" => &|byte| byte.is_ascii_graphic(),
        b"lower" => &|byte| byte.is_ascii_lowercase(),
        b"print" => &|byte| byte == b' ' || byte.is_ascii_graphic(),
        b"punct" => &|byte| byte.is_ascii_punctuation(),
        b"space" => &|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'),
        b"upper" if folds => &|byte| byte.is_ascii_alphabetic(),
        b"upper" => &|byte| byte.is_ascii_uppercase(),
        b"xdigit" => &|byte| byte.is_ascii_hexdigit(),
        _ => return None,
    })
}

/// Whether the parts are the whole of the text.
fn fits(mut parts: &[Part], mut text: &[u8]) -> bool {
    // Most texts do not end as they would have to.
    while let [before @ .., last] = parts
        && !matches!(last, Part::Star | Part::Folders { .. } | Part::Rest)
    {
        match text {
            [rest @ .., byte] if last.takes(*byte) => (parts, text) = (before, rest),
            _ => return false,
        }
    }
    let (mut part, mut at) = (0, 0);
    // What comes after the last `*` and the last `**/`, and what they have taken so far. An earlier one need not take more:
    // what is between the two would be found later in the text, where there is less of it.
    let (mut star, mut folders) = (None, None);
    let past_slash = |from: usize| Some(from + text.get(from..)?.iter().position(|byte| *byte == b'/')? + 1);
    loop {
        let next = text.get(at).copied();
        match (parts.get(part), next) {
            (None, None) | (Some(Part::Rest), _) => return true,
            (Some(Part::Star), _) => {
                part += 1;
                star = Some((part, at));
                continue;
            }
            (Some(Part::Folders { or_none }), _) => {
                part += 1;
                let begin = if *or_none { Some(at) } else { past_slash(at) };
                let Some(begin) = begin else { return false };
                at = begin;
                (star, folders) = (None, Some((part, at)));
                continue;
            }
            (Some(one), Some(byte)) if one.takes(byte) => {
                part += 1;
                at += 1;
                continue;
            }
            _ => {}
        }
        if let Some((after, taken)) = star
            && text.get(taken).is_some_and(|byte| *byte != b'/')
        {
            star = Some((after, taken + 1));
            (part, at) = (after, taken + 1);
        } else if let Some((after, begin)) = folders
            && let Some(begin) = past_slash(begin)
        {
            (star, folders) = (None, Some((after, begin)));
            (part, at) = (after, begin);
        } else {
            return false;
        }
    }
}
