//! Start tags: name, attributes and end, found in one go, and quicker yet where a tag is like one before it.

use std::ops::Range;

use crate::ingest::text::{find, printable};

/// Attributes and namespace declarations of one element.
const MOST_ATTRIBUTES: usize = 256;
/// Bytes of a tag that is remembered for those like it.
const LONGEST_PATTERN: usize = 4096;

/// A start tag as it stands in the text.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Tag {
    /// Bytes, with its brackets.
    pub length: usize,
    pub name: Range<usize>,
    pub closes_itself: bool,
}

/// Where an attribute stands in its tag.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::ingest) struct Attribute {
    pub(super) name: Range<usize>,
    pub(super) value: Range<usize>,
    /// Whether the value holds references.
    pub(super) refers: bool,
}

/// A tag that was read, for those like it: nearly all of a report differ in the values of their attributes alone.
#[derive(Default)]
pub(super) struct Pattern {
    text: String,
    tag: Tag,
    attributes: Vec<Attribute>,
}

impl Pattern {
    /// Takes over the tag at the beginning of the text, unless it is too long to be one of many.
    pub(super) fn learn(&mut self, text: &str, tag: &Tag, attributes: &[Attribute]) {
        let Some(text) = text.get(..tag.length).filter(|text| text.len() <= LONGEST_PATTERN) else { return };
        self.text.clear();
        self.text.push_str(text);
        self.tag.clone_from(tag);
        self.attributes.clear();
        self.attributes.extend_from_slice(attributes);
    }

    /// As [`read_tag`], if the tag differs from this one in values without references alone.
    pub(super) fn read(&self, text: &str, attributes: &mut Vec<Attribute>) -> Option<Tag> {
        attributes.clear();
        let (mut text, mut at, mut known_at) = (text.as_bytes(), 0, 0);
        let known = self.text.as_bytes();
        for attribute in &self.attributes {
            let between = known.get(known_at..attribute.value.start)?;
            let rest = text.strip_prefix(between)?;
            let quote = *between.last()?;
            let length = find([quote, b'<', b'&'], rest)?;
            text = rest.get(length..)?;
            if text.first() != Some(&quote) {
                return None;
            }
            let name = at + attribute.name.start - known_at..at + attribute.name.end - known_at;
            let start = at + between.len();
            (at, known_at) = (start + length, attribute.value.end);
            attributes.push(Attribute { name, value: start..at, refers: false });
        }
        let end = known.get(known_at..).filter(|end| !end.is_empty())?;
        text.starts_with(end).then(|| Tag { length: at + end.len(), ..self.tag.clone() })
    }
}

/// Finds name, attributes and end of the start tag that begins the text.
///
/// # Errors
/// What is wrong, where it is not well-formed or not all there.
pub(super) fn read_tag(text: &str, attributes: &mut Vec<Attribute>) -> Result<Tag, String> {
    attributes.clear();
    let bytes = text.as_bytes();
    let not_well_formed = || Err("an attribute is not well-formed".to_owned());
    let after_space = |mut at: usize| {
        while bytes.get(at).is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n')) {
            at += 1;
        }
        at
    };
    let name = name_at(text, 1)?;
    let mut end = name.end;
    loop {
        let at = after_space(end);
        match bytes.get(at..).unwrap_or_default() {
            [b'>', ..] => return Ok(Tag { length: at + 1, name, closes_itself: false }),
            [b'/', b'>', ..] => return Ok(Tag { length: at + 2, name, closes_itself: true }),
            _ if at == end => return Err(not_apart(text, end)),
            _ if attributes.len() >= MOST_ATTRIBUTES => {
                return Err(format!("an element has more than {MOST_ATTRIBUTES} attributes"));
            }
            _ => {}
        }
        let name = name_at(text, at)?;
        let at = after_space(name.end);
        if bytes.get(at) != Some(&b'=') {
            return not_well_formed();
        }
        let at = after_space(at + 1);
        let (Some(quote @ (b'"' | b'\'')), Some(value)) = (bytes.get(at), bytes.get(at + 1..)) else {
            return not_well_formed();
        };
        let mut length = find([*quote, b'<', b'&'], value).unwrap_or(value.len());
        let refers = value.get(length) == Some(&b'&');
        if refers {
            length = memchr::memchr2(*quote, b'<', value).unwrap_or(value.len());
            check_references(text.get(at + 1..at + 1 + length).unwrap_or_default())?;
        }
        if value.get(length) != Some(quote) {
            return not_well_formed();
        }
        let is_same =
            |known: &Range<usize>| known.len() == name.len() && bytes.get(known.clone()) == bytes.get(name.clone());
        if attributes.iter().any(|known| is_same(&known.name)) {
            return Err("an attribute stands twice".to_owned());
        }
        attributes.push(Attribute { name, value: at + 1..at + 1 + length, refers });
        end = at + 1 + length + 1;
    }
}

/// What is wrong where neither space nor the end of the tag follows a name or a value.
fn not_apart(text: &str, end: usize) -> String {
    match text.get(..end) {
        Some(before) if before.ends_with(['"', '\'']) => "two attributes are not kept apart by a space".to_owned(),
        _ => no_name(text),
    }
}

/// The name that begins there. One that is damaged would make the element an unknown one, and what it counts would be
/// missing.
#[inline]
fn name_at(text: &str, start: usize) -> Result<Range<usize>, String> {
    let bytes = text.as_bytes().get(start..).unwrap_or_default();
    let is_first = |byte: u8| matches!(byte, b'a'..=b'z' | b'A'..=b'Z' | b'_' | b':' | 0x80..);
    let is_later = |byte: u8| matches!(byte, b'a'..=b'z' | b'A'..=b'Z' | b'-' | b'.' | b'0'..=b':' | b'_' | 0x80..);
    match bytes.first() {
        Some(first) if is_first(*first) => {
            let length = bytes.iter().position(|byte| !is_later(*byte)).unwrap_or(bytes.len());
            Ok(start..start + length)
        }
        _ => Err(no_name(text.get(start..).unwrap_or_default())),
    }
}

fn no_name(text: &str) -> String {
    let end = |c: char| c.is_ascii_whitespace() || matches!(c, '/' | '>' | '=');
    match text.trim_start_matches('<').split(end).next() {
        None | Some("") => "a tag has no name; is a '<' not written as '&lt;'?".to_owned(),
        Some(name) => format!("{:?} is no name of an element or attribute", printable(name, 40)),
    }
}

/// Whether each `&` begins a reference, known or not.
pub(super) fn check_references(text: &str) -> Result<(), &'static str> {
    if memchr::memchr(b'&', text.as_bytes()).is_none() {
        return Ok(());
    }
    let well_formed = text.split('&').skip(1).all(|after| {
        let name = after.split_once(';').map(|(name, _)| name);
        name.is_some_and(|name| !name.is_empty() && !name.contains(|c: char| c.is_ascii_whitespace()))
    });
    if well_formed { Ok(()) } else { Err("an '&' is not written as '&amp;'") }
}

#[cfg(test)]
#[expect(clippy::string_slice, reason = "a test fails by panicking")]
mod tests {
    use std::borrow::Cow;

    use super::*;

    #[test]
    fn names_are_whole() {
        let is_name = |name: &str| name_at(name, 0).is_ok_and(|found| found == (0..name.len()));
        for good in ["a", "_a", ":a", "a-b.c:d1", "é"] {
            assert!(is_name(good), "{good}");
        }
        for bad in ["", "1a", "-a", "a!", "a=b", "a\"", "a&", "a;", "a<"] {
            assert!(!is_name(bad), "{bad}");
        }
    }

    /// Name and attributes of what stands between the brackets of a tag, as quick-xml finds them.
    fn by_quick_xml(content: &str) -> Option<(String, Vec<[String; 2]>)> {
        let is_name = |name: &str| name_at(name, 0).is_ok_and(|found| found == (0..name.len()));
        let length = content.find(|c: char| c.is_ascii_whitespace()).unwrap_or(content.len());
        let mut found = Vec::new();
        for attribute in quick_xml::events::BytesStart::from_content(content, length).attributes() {
            let attribute = attribute.ok()?;
            let Cow::Borrowed(value) = attribute.value else { return None };
            let name = attribute.key.0;
            let is_apart = content[..name.as_ptr().addr() - content.as_ptr().addr()].ends_with([' ', '\n']);
            if !is_apart || !is_name(name) || check_references(value).is_err() {
                return None;
            }
            found.push([name.to_owned(), value.to_owned()]);
        }
        is_name(&content[..length]).then_some((content[..length].to_owned(), found))
    }

    #[test]
    fn attributes_are_those_that_quick_xml_finds() {
        const PIECES: [&str; 8] = [" ", "\n", "b='1'", "c = \"&lt;\"", "b", "=", "'&'", "/"];
        let (mut well_formed, mut attributes) = (0, Vec::new());
        for number in 0..8_u32.pow(5) {
            let content: String = (0..5).map(|place| PIECES[(number >> (3 * place) & 7) as usize]).collect();
            let text = format!("<a{content}>");
            let ours = read_tag(&text, &mut attributes).ok().map(|tag| {
                assert_eq!((tag.length, tag.closes_itself), (text.len(), text.ends_with("/>")), "{text}");
                let part = |range: &Range<usize>| text[range.clone()].to_owned();
                let pairs = attributes.iter().map(|one| [part(&one.name), part(&one.value)]);
                (part(&tag.name), pairs.collect())
            });
            let content = &text[1..text.len() - 1];
            assert_eq!(ours, by_quick_xml(content.strip_suffix('/').unwrap_or(content)), "{text}");
            well_formed += u32::from(ours.is_some());
        }
        assert!((500..20_000).contains(&well_formed), "{well_formed}");
    }

    #[test]
    fn a_tag_that_is_like_another_is_what_it_is_otherwise() {
        const TAGS: [&str; 12] = [
            "<a>",
            "<a/>",
            "<a b='1'>",
            "<a b='long enough'>",
            "<a b='' c=\"34\"/>",
            "<a b='1'c='2'>",
            "<a b='' c=\"2\"/>",
            "<a\nb='12' c=\"'>\" />",
            "<a b='&lt;' c=\"\"/>",
            "<a b='1' c=\"<\"/>",
            "<a b='1' c='2'/>",
            "<a b='1' c=\"2",
        ];
        let (mut alike, mut pattern, [mut known, mut ours, mut theirs]) =
            (0, Pattern::default(), [const { Vec::new() }; 3]);
        assert_eq!(pattern.read("<a>", &mut ours), None);
        for (one, other) in TAGS.iter().flat_map(|one| TAGS.map(|other| (one, other))) {
            let Ok(tag) = read_tag(one, &mut known) else { continue };
            pattern.learn(one, &tag, &known);
            for length in 1..=other.len() {
                let Some(found) = pattern.read(&other[..length], &mut ours) else { continue };
                assert_eq!(read_tag(&other[..length], &mut theirs).as_ref(), Ok(&found), "{one} {other}");
                assert_eq!(ours, theirs, "{one} {other}");
                alike += 1;
            }
        }
        assert!((9..30).contains(&alike), "{alike}");
    }

    #[test]
    fn references_are_well_formed() {
        for good in ["", "a", "&a;", "a&#1;;b"] {
            assert!(check_references(good).is_ok(), "{good}");
        }
        for bad in ["&", "a & b;", "&;", "&a", "&a;&"] {
            assert!(check_references(bad).is_err(), "{bad}");
        }
    }
}
