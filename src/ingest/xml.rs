//! XML, element by element, with the place of each: the only home of quick-xml.
//!
//! Cutting the stream into tags and text is ours, because quick-xml reads a text of any length into memory and accepts a
//! document whose root is never closed. Attributes are found while the end of their tag is looked for, which takes less
//! time than having quick-xml look for them afterwards; a test compares what either finds. A tag that differs from one before
//! it in values alone is found by comparing the two, with a test of its own. References are quick-xml's. Nothing is fetched and
//! no entity is expanded but the five of XML and character references.

use std::borrow::Cow;
use std::cell::Cell;
use std::ops::Range;

use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::BytesRef;

use self::tag::{Attribute, Pattern, Tag, check_references, read_tag};
use super::CUT_HELP;
use super::input::{Input, Invalid, Text};
use super::text::{LONGEST_BYTES, find, printable, without_terminal_codes};
use crate::error::{Error, Reject, Result};

mod tag;

/// Elements inside each other.
const DEEPEST: usize = 256;
/// Longest reference that is looked for: `&#x10FFFF;` and names of entities.
const LONGEST_REFERENCE: usize = 64;

/// A place in the report, both from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    /// Line.
    pub line: u64,
    /// Column, in characters.
    pub column: u64,
}

impl Spot {
    /// Where one stands after the text.
    fn after(self, text: &str) -> Spot {
        let count = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
        let lines = count(memchr::memchr_iter(b'\n', text.as_bytes()).count());
        match text.rsplit_once('\n') {
            Some((_, last)) => Spot { line: self.line + lines, column: 1 + count(last.chars().count()) },
            None => Spot { column: self.column + count(text.chars().count()), ..self },
        }
    }
}

/// The place that was asked for last, and how far into the text that is. Few are asked for, so that lines are counted only
/// up to those, and none twice.
#[derive(Clone, Copy, Debug)]
struct Counted {
    at: usize,
    spot: Spot,
}

impl Counted {
    /// The place at the end of the text, which may be no shorter than at the last call.
    fn end_of(counted: &Cell<Counted>, text: &str) -> Spot {
        let last = counted.get();
        let spot = last.spot.after(text.get(last.at..).unwrap_or_default());
        counted.set(Counted { at: text.len(), spot });
        spot
    }
}

/// What comes next.
#[derive(Debug)]
pub(super) enum Event<'a> {
    /// An element begins. One that closes itself has its [`Event::End`] too.
    Start(Element<'a>),
    /// A piece of text: as it stands if it is CDATA (`true`), with references if not.
    Text(&'a str, bool),
    /// The innermost element ends.
    End,
    /// The root is closed and nothing but white space and comments came after it.
    Done,
}

/// A start tag.
#[derive(Debug)]
pub(super) struct Element<'a> {
    /// With its brackets.
    tag: &'a str,
    name: &'a str,
    attributes: &'a [Attribute],
    /// The text that it follows, as far as it is held.
    before: &'a str,
    counted: &'a Cell<Counted>,
}

impl<'a> Element<'a> {
    /// Its name without namespace prefix.
    #[inline]
    pub(super) fn name(&self) -> &str {
        local(self.name)
    }

    /// Where it begins.
    pub(super) fn spot(&self) -> Spot {
        Counted::end_of(self.counted, self.before)
    }

    /// The value of an attribute, with its references replaced; `None` if it is not there.
    ///
    /// # Errors
    /// Malformed if the value holds an entity that is not known.
    pub(super) fn attribute(&self, name: &str) -> Result<Option<String>> {
        self.attributes([name]).map(|[value]| value)
    }

    /// The values of several attributes at once, as [`Element::attribute`].
    ///
    /// # Errors
    /// Likewise.
    pub(super) fn attributes<const N: usize>(&self, names: [&str; N]) -> Result<[Option<String>; N]> {
        self.values(names).map(|values| values.map(|value| value.map(Cow::into_owned)))
    }

    /// As [`Element::attributes`], borrowed where no reference had to be replaced.
    ///
    /// # Errors
    /// Likewise.
    #[inline]
    pub(super) fn values<const N: usize>(&self, names: [&str; N]) -> Result<[Option<Cow<'a, str>>; N]> {
        let mut values = [const { None }; N];
        for (name, attribute) in self.pairs() {
            // Nearly all names that differ do so in their length or their first byte.
            let is_like = |wanted: &str| wanted.len() == name.len() && wanted.bytes().next() == name.bytes().next();
            let wanted = names.iter().position(|wanted| is_like(wanted) && *wanted == name);
            if let Some(slot) = wanted.and_then(|at| values.get_mut(at)) {
                *slot = Some(self.value(attribute)?);
            }
        }
        Ok(values)
    }

    /// The names of its attributes, with what [`Element::value`] takes.
    #[inline]
    pub(super) fn pairs(&self) -> impl Iterator<Item = (&'a str, &'a Attribute)> {
        self.attributes.iter().map(|attribute| (self.part(&attribute.name), attribute))
    }

    /// The value of one of its attributes, borrowed where no reference has to be replaced.
    ///
    /// # Errors
    /// As for [`Element::attribute`].
    #[inline]
    pub(super) fn value(&self, attribute: &Attribute) -> Result<Cow<'a, str>> {
        let value = self.part(&attribute.value);
        if !attribute.refers {
            return Ok(Cow::Borrowed(value));
        }
        unescaped(value).map_err(|why| at(self.spot(), &why))
    }

    /// The names of its attributes.
    pub(super) fn attribute_names(&self) -> Vec<String> {
        self.pairs().map(|(name, _)| name.to_owned()).collect()
    }

    #[inline]
    fn part(&self, range: &Range<usize>) -> &'a str {
        self.tag.get(range.clone()).unwrap_or_default()
    }

    /// The value of the attribute that declares the namespace of its name.
    pub(super) fn namespace(&self) -> Option<String> {
        let declared = match self.name.split_once(':') {
            Some((prefix, _)) => format!("xmlns:{prefix}"),
            None => "xmlns".to_owned(),
        };
        self.attribute(&declared).ok().flatten()
    }
}

#[inline]
fn local(name: &str) -> &str {
    // Nearly all have no prefix.
    if name.as_bytes().contains(&b':') { name.rsplit(':').next().unwrap_or(name) } else { name }
}

fn at(spot: Spot, why: &str) -> Error {
    Error::report(Reject::Malformed, why).line_column(spot.line, spot.column)
}

/// Where the reader stands in the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Before the root element.
    Before,
    /// In text.
    Inside,
    /// Between `<![CDATA[` and `]]>`.
    Cdata,
    /// The element that closes itself still has to be closed.
    SelfClosed,
    /// The root is closed.
    After,
}

/// Reads a document from its first byte to its last.
pub(super) struct Xml<'a> {
    text: Text<'a>,
    buffer: String,
    at: usize,
    ended: bool,
    counted: Cell<Counted>,
    open: Open,
    /// Of the tag that was read last.
    attributes: Vec<Attribute>,
    /// Those that tags have been like lately, the latest first.
    patterns: [Pattern; 2],
    state: State,
}

/// The names of the elements that are open, in one piece of memory.
#[derive(Debug, Default)]
struct Open {
    names: String,
    starts: Vec<usize>,
}

impl Open {
    fn push(&mut self, name: &str) {
        self.starts.push(self.names.len());
        self.names.push_str(name);
    }

    fn pop(&mut self) {
        self.names.truncate(self.starts.pop().unwrap_or(0));
    }

    fn last(&self) -> Option<&str> {
        self.starts.last().and_then(|start| self.names.get(*start..))
    }

    fn len(&self) -> usize {
        self.starts.len()
    }

    fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }
}

impl<'a> Xml<'a> {
    /// At the first byte.
    ///
    /// # Errors
    /// The source cannot be read; the declared encoding is not known.
    pub(super) fn new(input: &Input<'a>) -> Result<Xml<'a>> {
        let text = input.text(Invalid::Escaped)?;
        let counted = Cell::new(Counted { at: 0, spot: Spot { line: 1, column: 1 } });
        let (buffer, open, attributes, patterns) = (String::new(), Open::default(), Vec::new(), Default::default());
        Ok(Xml { text, buffer, at: 0, ended: false, counted, open, attributes, patterns, state: State::Before })
    }

    /// What comes next.
    ///
    /// # Errors
    /// Malformed where the document is not well-formed or ends before its root is closed; always with line and column.
    pub(super) fn next(&mut self) -> Result<Event<'_>> {
        if self.state == State::SelfClosed {
            self.close();
            return Ok(Event::End);
        }
        loop {
            if self.state == State::Cdata {
                match self.cdata()? {
                    0 => continue,
                    length => return Ok(Event::Text(self.taken(length), true)),
                }
            }
            if self.buffer.len() - self.at < 2 && self.refill()? {
                continue;
            }
            match self.buffer.as_bytes().get(self.at..).unwrap_or_default() {
                [] => return self.end_of_document(),
                [b'<', b'/', ..] => {
                    self.end_tag()?;
                    return Ok(Event::End);
                }
                [b'<', b'!' | b'?', ..] => {}
                [b'<', ..] => return self.start_tag(),
                _ => {
                    let length = self.text_length()?;
                    if self.outer_text(length)? {
                        return Ok(Event::Text(self.taken(length), false));
                    }
                    continue;
                }
            }
            if self.starts_with("<!--")? {
                self.skip_past("-->", 4, "a comment")?;
            } else if self.starts_with("<![CDATA[")? {
                if self.open.is_empty() {
                    return Err(at(self.spot(), "text stands outside the root element"));
                }
                self.at += 9;
                self.state = State::Cdata;
            } else if self.starts_with("<?")? {
                self.instruction()?;
            } else {
                self.doctype()?;
            }
        }
    }

    fn rest(&self) -> &str {
        self.buffer.get(self.at..).unwrap_or_default()
    }

    /// Appends more text; `false` at the end of it.
    fn refill(&mut self) -> Result<bool> {
        if self.at > 0 {
            let spot = self.spot();
            self.buffer.drain(..self.at);
            self.at = 0;
            self.counted.set(Counted { at: 0, spot });
        }
        if !self.ended {
            self.ended = !self.text.append(&mut self.buffer)?;
        }
        Ok(!self.ended)
    }

    /// Where it stands.
    fn spot(&self) -> Spot {
        Counted::end_of(&self.counted, self.buffer.get(..self.at).unwrap_or_default())
    }

    fn starts_with(&mut self, what: &str) -> Result<bool> {
        while self.rest().len() < what.len() && what.starts_with(self.rest()) && self.refill()? {}
        Ok(self.rest().starts_with(what))
    }

    /// The next `length` bytes, moving past them.
    fn taken(&mut self, length: usize) -> &str {
        let start = self.at;
        self.at += length;
        self.buffer.get(start..self.at).unwrap_or_default()
    }

    /// Length of the text that is there up to the next tag, references whole and well-formed.
    fn text_length(&mut self) -> Result<usize> {
        loop {
            let rest = self.rest();
            let first = find([b'<', b'&', b']'], rest.as_bytes()).unwrap_or(rest.len());
            if matches!(rest.as_bytes().get(first), None | Some(b'<')) {
                return Ok(first);
            }
            let end = memchr::memchr(b'<', rest.as_bytes());
            let length = end.unwrap_or(rest.len());
            let text = rest.get(..length).unwrap_or_default();
            let last = text.rfind('&').filter(|at| text.get(*at..).is_some_and(|last| !last.contains(';')));
            // A reference may be cut by the border of what has been read.
            let cut = last.filter(|at| end.is_none() && length - at < LONGEST_REFERENCE && !self.ended);
            if text.contains("]]>") {
                return Err(at(self.spot(), "character data is closed that was not opened"));
            }
            match cut {
                None => {
                    check_references(text).map_err(|why| at(self.spot(), why))?;
                    return Ok(length);
                }
                Some(0) => drop(self.refill()?),
                Some(cut) => {
                    check_references(text.get(..cut).unwrap_or_default()).map_err(|why| at(self.spot(), why))?;
                    return Ok(cut);
                }
            }
        }
    }

    /// Whether the text lies in an element; outside of the root only white space may stand.
    fn outer_text(&mut self, length: usize) -> Result<bool> {
        if !self.open.is_empty() {
            return Ok(true);
        }
        let text = self.rest().get(..length).unwrap_or_default();
        let Some(odd) = text.find(|c: char| !c.is_ascii_whitespace()) else {
            self.at += length;
            return Ok(false);
        };
        if self.state != State::Before && without_terminal_codes(text).trim().is_empty() {
            self.at += length;
            return Ok(false);
        }
        let is_nul = text.get(odd..).is_some_and(|odd| odd.starts_with('\0'));
        self.at += odd;
        Err(if is_nul {
            at(self.spot(), "report is filled with NUL bytes")
                .help("the machine probably went down while it was written; run the tool again")
        } else if self.state == State::Before {
            at(self.spot(), "text stands before the XML declaration")
                .help("the tool's own output went into the report file; send it elsewhere, and let the tool write the report itself")
        } else {
            at(self.spot(), "text stands after the root element is closed")
        })
    }

    /// The length of the next piece of character data; 0 where it ended or more has to be read.
    fn cdata(&mut self) -> Result<usize> {
        let rest = self.rest();
        match rest.find("]]>") {
            Some(0) => {
                self.at += 3;
                self.state = State::Inside;
                Ok(0)
            }
            Some(length) => Ok(length),
            None => {
                // The last two characters may begin the end.
                let sure = rest.len() - rest.bytes().rev().take(2).take_while(|byte| *byte == b']').count();
                if sure > 0 {
                    return Ok(sure);
                }
                if self.refill()? { Ok(0) } else { Err(self.cut_short()) }
            }
        }
    }

    /// Moves past the next `end`, which begins `skip` bytes from here at the earliest. What is passed is not kept.
    fn skip_past(&mut self, end: &str, skip: usize, what: &str) -> Result<()> {
        let start = self.spot();
        self.at += skip;
        loop {
            if let Some(found) = self.rest().find(end) {
                self.at += found + end.len();
                return Ok(());
            }
            let rest = self.rest();
            let tail = rest.char_indices().rev().nth(end.len() - 2).map_or(0, |(at, _)| at);
            self.at += tail;
            if !self.refill()? {
                let why = format!("{what} that begins at line {} is not closed", start.line);
                return Err(self.cut_short().because(why));
            }
        }
    }

    /// A processing instruction or the XML declaration.
    fn instruction(&mut self) -> Result<()> {
        let is_declaration = self.starts_with("<?xml")?
            && self.rest().get(5..).is_none_or(|rest| rest.starts_with(|c: char| c.is_ascii_whitespace()));
        if is_declaration && self.state == State::After {
            return Err(self.second_document());
        }
        if is_declaration && self.state != State::Before {
            return Err(at(self.spot(), "an XML declaration stands inside the document")
                .help("two reports may have been written into one file; let each run write its own"));
        }
        self.skip_past("?>", 2, "an instruction")
    }

    fn second_document(&self) -> Error {
        at(self.spot(), "a second document follows in the same file")
            .help("two runs wrote into one report file; let each run write its own")
    }

    /// A document type is passed over: never fetched, its entities never used.
    fn doctype(&mut self) -> Result<()> {
        if self.state != State::Before || !self.starts_with("<!DOCTYPE")? {
            return Err(at(self.spot(), "a declaration stands where none may be"));
        }
        let (mut quote, mut subset, mut start) = (None, false, true);
        loop {
            if !start && quote.is_none() && self.starts_with("<!--")? {
                self.skip_past("-->", 4, "a comment")?;
            }
            let Some(c) = self.rest().chars().next() else {
                if self.refill()? {
                    continue;
                }
                return Err(self.cut_short().because("the document type is not closed"));
            };
            start = false;
            self.at += c.len_utf8();
            match (quote, c) {
                (Some(open), c) => quote = Some(open).filter(|open| *open != c),
                (None, '"' | '\'') => quote = Some(c),
                (None, '[') => subset = true,
                (None, ']') => subset = false,
                (None, '>') if !subset => return Ok(()),
                _ => {}
            }
        }
    }

    /// The length of the tag that begins here, with its `>`.
    fn tag_length(&mut self) -> Result<usize> {
        let (mut quote, mut searched) = (None, 1);
        loop {
            let rest = self.rest().as_bytes();
            while let Some(ahead) = rest.get(searched..) {
                let found = match quote {
                    None => ahead.iter().position(|byte| matches!(byte, b'>' | b'"' | b'\'' | b'<')),
                    Some(quote) => memchr::memchr2(quote, b'<', ahead),
                };
                let Some(found) = found else {
                    searched = rest.len();
                    break;
                };
                searched += found + 1;
                match (quote, ahead.get(found)) {
                    (_, Some(b'<')) => return Err(at(self.spot(), "a tag is not closed before the next one begins")),
                    (None, Some(b'>')) => return Ok(searched),
                    (None, byte) => quote = byte.copied(),
                    (Some(_), _) => quote = None,
                }
            }
            if searched > LONGEST_BYTES {
                return Err(at(self.spot(), "a tag is longer than 8 MiB"));
            }
            if !self.refill()? {
                let start = self.spot();
                return Err(self
                    .cut_short()
                    .because(format!("the tag that begins at line {} is not closed", start.line)));
            }
        }
    }

    fn start_tag(&mut self) -> Result<Event<'_>> {
        let rest = self.buffer.get(self.at..).unwrap_or_default();
        let may_begin = self.state != State::After && self.open.len() < DEEPEST;
        let tag = match self.patterns.iter().find_map(|pattern| pattern.read(rest, &mut self.attributes)) {
            Some(tag) if may_begin => tag,
            _ => match read_tag(rest, &mut self.attributes) {
                Ok(tag) if may_begin => {
                    self.patterns.swap(0, 1);
                    self.patterns[0].learn(rest, &tag, &self.attributes);
                    tag
                }
                // It is at fault, or cut by the border of what has been read.
                _ => self.whole_start_tag()?,
            },
        };
        let (before, rest) = self.buffer.split_at_checked(self.at).unwrap_or_default();
        let name = rest.get(tag.name).unwrap_or_default();
        self.open.push(name);
        self.state = if tag.closes_itself { State::SelfClosed } else { State::Inside };
        self.at += tag.length;
        let tag = rest.get(..tag.length).unwrap_or_default();
        Ok(Event::Start(Element { tag, name, attributes: &self.attributes, before, counted: &self.counted }))
    }

    /// The start tag that begins here, once all of it has been read.
    fn whole_start_tag(&mut self) -> Result<Tag> {
        let length = self.tag_length()?;
        if self.state == State::After {
            return Err(self.second_document());
        }
        if self.open.len() >= DEEPEST {
            return Err(at(self.spot(), "too deep: more than 256 elements inside each other"));
        }
        let tag = self.buffer.get(self.at..self.at + length).unwrap_or_default();
        read_tag(tag, &mut self.attributes).map_err(|why| at(self.spot(), &why))
    }

    fn end_tag(&mut self) -> Result<()> {
        // Nearly all are the name alone.
        let after = self.open.last().and_then(|open| self.rest().get(2..)?.strip_prefix(open));
        if let Some(after) = after.and_then(|after| after.strip_prefix('>')) {
            self.at = self.buffer.len() - after.len();
            self.close();
            return Ok(());
        }
        let length = self.tag_length()?;
        let name = self.rest().get(2..length - 1).unwrap_or_default().trim_ascii_end();
        match self.open.last() {
            Some(open) if open == name => {
                self.at += length;
                self.close();
                Ok(())
            }
            Some(open) => {
                let (open, name) = (printable(open, 40), printable(name, 40));
                Err(at(self.spot(), &format!("element {open:?} is closed as {name:?}")))
            }
            None => Err(at(self.spot(), "an element is closed that was not opened")),
        }
    }

    fn close(&mut self) {
        self.open.pop();
        self.state = if self.open.is_empty() { State::After } else { State::Inside };
    }

    fn end_of_document(&mut self) -> Result<Event<'_>> {
        match self.state {
            State::After => Ok(Event::Done),
            _ => Err(self.cut_short()),
        }
    }

    fn cut_short(&self) -> Error {
        let message = match self.open.last() {
            _ if self.state == State::Before => "report ends before its root element begins".to_owned(),
            Some(open) if self.open.len() > 1 => {
                format!("report ends before its root element is closed, inside {:?}", printable(open, 40))
            }
            _ => "report ends before its root element is closed".to_owned(),
        };
        at(self.spot(), &message).help(CUT_HELP)
    }
}

/// The text with its references replaced. A character that cannot be written (a NUL, half a surrogate pair) is left as
/// the reference that it is.
pub(super) fn unescaped(text: &str) -> Result<Cow<'_, str>, String> {
    if memchr::memchr(b'&', text.as_bytes()).is_none() {
        return Ok(Cow::Borrowed(text));
    }
    let mut plain = String::with_capacity(text.len());
    for (index, piece) in text.split('&').enumerate() {
        if index == 0 {
            plain.push_str(piece);
            continue;
        }
        let Some((name, after)) = piece.split_once(';') else { return Err("a reference is not closed".into()) };
        match (resolve_xml_entity(name), BytesRef::new(name).resolve_char_ref()) {
            (Some(character), _) => plain.push_str(character),
            (None, Ok(Some(character))) => plain.push(character),
            (None, Ok(None)) => return Err(format!("entity {:?} is not known", printable(name, 40))),
            (None, Err(_)) => plain.push_str(&format!("&{name};")),
        }
        plain.push_str(after);
    }
    Ok(Cow::Owned(plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What comes out, with the place where each element begins.
    fn events(text: &str) -> Result<String> {
        let input = Input::bytes("x", text.as_bytes());
        let mut xml = Xml::new(&input)?;
        let mut seen = String::new();
        loop {
            match xml.next()? {
                Event::Start(element) => {
                    seen.push_str(&format!("<{} {}:{}>", element.name(), element.spot().line, element.spot().column));
                }
                Event::Text(text, true) => seen.push_str(&format!("[{text}]")),
                Event::Text(text, false) => seen.push_str(text),
                Event::End => seen.push_str("</>"),
                Event::Done => return Ok(seen),
            }
        }
    }

    fn fault(text: &str) -> (String, u64, u64) {
        let error = events(text).unwrap_err();
        assert_eq!(error.reject(), Some(Reject::Malformed));
        (error.message.clone(), error.place.line.unwrap(), error.place.column.unwrap())
    }

    #[test]
    fn elements_have_their_place() {
        let text = "\n<?xml version='1.0'?>\n<!-- é -->\n <a é='&lt;'>é<b\n x='>'/><x:c>&amp;<![CDATA[<d>]]]]><![CDATA[]]></x:c></a>\n<!-- --> <?y?>";
        assert_eq!(events(text).unwrap(), "<a 4:2>é<b 4:15></><c 5:9>&amp;[<d>]]]</></>");
    }

    #[test]
    fn attributes_are_unescaped_once() {
        let input = Input::bytes("x", b"<p:a b='&amp;lt;&#65;&#x42;' c=\"&quot;&apos;\" xmlns:p='n' d=''/>");
        let mut xml = Xml::new(&input).unwrap();
        let Event::Start(element) = xml.next().unwrap() else { panic!("a tag") };
        let [d, b, e, c] = element.attributes(["d", "b", "e", "c"]).unwrap();
        assert_eq!(
            [d.as_deref(), b.as_deref(), e.as_deref(), c.as_deref()],
            [Some(""), Some("&lt;AB"), None, Some("\"'")]
        );
        assert_eq!((element.name(), element.namespace().as_deref()), ("a", Some("n")));
        assert_eq!(element.attribute_names(), ["b", "c", "xmlns:p", "d"]);
    }

    #[test]
    fn faults_have_their_place() {
        assert_eq!(fault("<a>\n <b></c></a>"), ("element \"b\" is closed as \"c\"".into(), 2, 5));
        assert_eq!(fault("<a>\né"), ("report ends before its root element is closed".into(), 2, 2));
        assert_eq!(fault("<a><b>"), ("report ends before its root element is closed, inside \"b\"".into(), 1, 7));
        assert_eq!(fault(" "), ("report ends before its root element begins".into(), 1, 2));
        assert_eq!(fault("\nx<a/>").1, 2);
        assert_eq!(fault("<a b='1' b='2'/>").1, 1);
        assert_eq!(fault("<a><?xml version='1.0'?></a>").0, "an XML declaration stands inside the document");
        assert_eq!(fault("<a/>\n<?xml version='1.0'?>").0, "a second document follows in the same file");
        assert_eq!(fault("<!DOCTYPE a [").0, "report ends before its root element begins");
        assert_eq!(fault("<a/><!DOCTYPE a>").0, "a declaration stands where none may be");
        assert!(events("<?xml-stylesheet x?><a><?xml-x y?></a>").is_ok());
    }

    #[test]
    fn a_tag_that_is_damaged_is_refused() {
        assert!(events("<a><testcase!b='1'/></a>").is_err() && events("<a b='1'c='2'/>").is_err());
        assert!(events("<a b='1'/>").is_ok() && events("<a b='1' ></a >").is_ok() && events("<a>]]></a>").is_err());
    }

    #[test]
    fn a_tag_is_the_same_wherever_it_is_cut() {
        let tag = "<b name='x &amp; y' other=\"&lt;\"/>";
        for before in 64 * 1024 - 5 - tag.len()..64 * 1024 {
            let text = format!("<a>\n{}\n {tag}</a>", " ".repeat(before));
            let input = Input::bytes("x", text.as_bytes());
            let mut xml = Xml::new(&input).unwrap();
            loop {
                if let Event::Start(element) = xml.next().unwrap()
                    && element.name() == "b"
                {
                    let values = element.attributes(["other", "name"]).unwrap();
                    assert_eq!(values, ["<", "x & y"].map(|value| Some(value.to_owned())));
                    assert_eq!(element.spot(), Spot { line: 3, column: 2 });
                    break;
                }
            }
        }
    }

    #[test]
    fn references_are_checked_and_replaced() {
        assert_eq!(unescaped("a&lt;b&gt;&amp;amp;").unwrap(), "a<b>&amp;");
        assert_eq!(unescaped("&#x1b;&#10;&#xD800;&#0;&#x;").unwrap(), "\x1b\n&#xD800;&#0;&#x;");
        assert!(unescaped("&x;").is_err() && unescaped("&").is_err());
    }
}
