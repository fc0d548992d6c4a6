//! XML, element by element, with the place of each: the only home of quick-xml.
//!
//! Cutting the stream into tags and text is ours, because quick-xml reads a text of any length into memory and accepts a
//! document whose root is never closed. Attributes are found while the end of their tag is looked for, which takes less
//! time than having quick-xml look for them afterwards; a test compares what either finds. A tag that differs from one before
//! it in values alone is found by comparing the two, with a test of its own. References are quick-xml's. Nothing is fetched and
//! no entity is expanded but the five of XML and character references.

use std::cell::Cell;

use self::element::{Counted, at};
pub(super) use self::element::{Element, Spot, unescaped};
use self::tag::{Attribute, Pattern, Tag, check_references, read_tag};
use super::CUT_HELP;
use super::input::{Input, Invalid, Text};
use super::text::{LONGEST_BYTES, find, printable, without_terminal_codes};
use crate::error::{Error, Result};

mod element;
mod tag;

/// Elements inside each other.
const DEEPEST: usize = 256;
/// Longest reference that is looked for: `&#x10FFFF;` and names of entities.
const LONGEST_REFERENCE: usize = 64;

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
            at(self.spot(), "text stands after the root element is closed").help(
                "what the tool says besides went into the report, too: keep them apart, as with `2>/dev/null` behind the command",
            )
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
        if let Some([b'>', after @ ..]) = after.map(str::as_bytes) {
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

#[cfg(test)]
mod tests;
