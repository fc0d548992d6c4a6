//! JSON and XML documents, and records of a tracefile, between lines of text: `ruff check --output-format json`,
//! `npm run lint -- -f checkstyle`, `cargo llvm-cov --lcov`.
//!
//! A document begins at the start of a line. It counts only if it is whole and a format is certain of it.

use serde::de::IgnoredAny;

use crate::ingest::test::runs::RUNS_HELD;
use crate::ingest::text::{LONGEST_BYTES, split_at};
use crate::ingest::{FORMATS, Format, Head, Input, Parsed, Sniff};

/// What became of a line.
pub(super) enum Step {
    /// It is no part of a document.
    Text,
    /// It is the beginning of a document, or more of it.
    Open,
    /// It ended a document of that format. What followed on its line, where no line end was written, is text.
    Whole(&'static Format, String, String),
    /// The lines so far are no document of a known format.
    Broken(String),
}

/// The document that is open.
#[derive(Default)]
pub(super) struct Document {
    text: String,
    lines: u32,
    syntax: Syntax,
    /// How many did not end, though much of them was held.
    unended: u32,
}

/// What was held of a document that did not end is read again, and another may begin in it. After so many no more are
/// looked for.
const UNENDED_MOST: u32 = 16;
/// Those of which no more bytes were held are not counted: to read them again takes no time.
const UNENDED_BYTES: usize = 1024;

/// Where in a document its last line ends.
enum Syntax {
    Json {
        depth: i64,
        in_string: bool,
    },
    Xml(Elements),
    /// Of a tracefile, one record.
    Record,
}

impl Default for Syntax {
    fn default() -> Syntax {
        Syntax::Json { depth: 0, in_string: false }
    }
}

impl Document {
    /// The next line.
    pub(super) fn line(&mut self, line: &str) -> Step {
        // A declaration inside a document is none: the first did not end.
        if !self.text.is_empty() && is_declaration(line) {
            let held = self.take();
            // The first of these lines is text; this one may begin a document.
            return Step::Broken(if held.is_empty() { format!("\n{line}") } else { held + line });
        }
        if self.text.is_empty() {
            let begun = begun_by(line).filter(|_| self.unended < UNENDED_MOST);
            let Some(syntax) = begun else { return Step::Text };
            self.syntax = syntax;
        }
        let end = match &mut self.syntax {
            Syntax::Json { depth, in_string } => end_of_json(line, depth, in_string),
            Syntax::Xml(elements) => elements.end(line),
            Syntax::Record => (line.trim_end() == "end_of_record").then_some(line.len()),
        };
        let (line, rest) = line.split_at_checked(end.unwrap_or(line.len())).unwrap_or((line, ""));
        self.text.push_str(line);
        self.text.push('\n');
        self.lines = self.lines.saturating_add(1);
        if end.is_none() && self.may_go_on(line) {
            return Step::Open;
        }
        if end.is_none() {
            return Step::Broken(self.take());
        }
        let format = if self.is_well_formed() { format_of(&self.text) } else { None };
        let text = self.reset().text;
        match format {
            Some(format) => Step::Whole(format, text, rest.to_owned()),
            None => Step::Broken(format!("{}{rest}", text.trim_end_matches('\n'))),
        }
    }

    /// Whether it may be read; a reader of XML says so itself.
    fn is_well_formed(&self) -> bool {
        match self.syntax {
            Syntax::Json { .. } => serde_json::from_str::<IgnoredAny>(&self.text).is_ok(),
            Syntax::Xml(_) | Syntax::Record => true,
        }
    }

    /// Whether what is held, up to that line, may be the beginning of a document.
    fn may_go_on(&self, last: &str) -> bool {
        self.text.len() <= LONGEST_BYTES
            && match self.syntax {
                // Looked at after one, two, four… lines, so that it is not read again for each.
                Syntax::Json { .. } if self.lines.is_power_of_two() => {
                    serde_json::from_str::<IgnoredAny>(&self.text).is_err_and(|error| error.is_eof())
                }
                Syntax::Record => {
                    let key = last.split_once(':').map_or("", |(key, _)| key);
                    let is_first = self.lines == 1 || (self.lines == 2 && self.text.starts_with("TN:"));
                    !key.is_empty() && key.bytes().all(|b| b.is_ascii_uppercase()) && is_first == begins_record(last)
                }
                _ => true,
            }
    }

    /// What was held of a document that did not end. Of a report, no more than the lines below its last tag: what stands
    /// above them may have been printed by a test.
    pub(super) fn take(&mut self) -> String {
        let Document { mut text, syntax, .. } = self.reset();
        self.unended += u32::from(text.len() > UNENDED_BYTES);
        let Syntax::Xml(elements) = syntax else { return text };
        if format_of(&text).is_some() {
            let tag = text.rfind(['<', '>']).unwrap_or(text.len());
            let below = text.get(tag..).and_then(|last| last.split_once('\n')).filter(|_| elements.closing.is_none());
            text = below.map(|(_, below)| below.to_owned()).unwrap_or_default();
        }
        text
    }

    /// The document; the next one begins.
    fn reset(&mut self) -> Document {
        let next = Document { unended: self.unended, ..Document::default() };
        std::mem::replace(self, next)
    }
}

/// The document that begins with the line.
fn begun_by(line: &str) -> Option<Syntax> {
    if begins_xml(line) {
        Some(Syntax::Xml(Elements::default()))
    } else if begins_record(line) {
        Some(Syntax::Record)
    } else {
        begins_json(line).then(Syntax::default)
    }
}

/// Follows strings and brackets. The bytes of the line up to the bracket that ends the document.
fn end_of_json(line: &str, depth: &mut i64, in_string: &mut bool) -> Option<usize> {
    let mut is_escaped = false;
    for (at, byte) in line.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = *in_string,
            b'"' => *in_string = !*in_string,
            b'[' | b'{' if !*in_string => *depth += 1,
            b']' | b'}' if !*in_string => *depth -= 1,
            _ => {}
        }
        if *depth <= 0 && !*in_string {
            return Some(at + 1);
        }
    }
    None
}

/// Follows the elements that are called as the first one is.
#[derive(Default)]
struct Elements {
    name: String,
    depth: u64,
    /// What ends the comment or the character data that is open.
    closing: Option<&'static str>,
}

impl Elements {
    /// The bytes of the line up to the tag that ends the document.
    fn end(&mut self, line: &str) -> Option<usize> {
        let mut rest = line;
        loop {
            if let Some(closing) = self.closing {
                (_, rest) = split_at(rest, closing)?;
                self.closing = None;
            }
            (_, rest) = rest.split_once('<')?;
            if rest.starts_with("!--") {
                self.closing = Some("-->");
            } else if rest.starts_with("![CDATA[") {
                self.closing = Some("]]>");
            } else if self.is_last(rest) {
                return Some(line.len() - rest.len() + end_of_tag(rest).map_or(rest.len(), |end| end + 1));
            }
        }
    }

    /// Takes what stands in a tag; whether the document ends with it.
    fn is_last(&mut self, tag: &str) -> bool {
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
        if self.name.is_empty() && tag.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            self.name = tag.chars().take_while(|c| is_name(*c)).collect();
        }
        let named = |tag: &str| tag.strip_prefix(self.name.as_str()).is_some_and(|rest| !rest.starts_with(is_name));
        if self.name.is_empty() {
            return false;
        }
        match tag.strip_prefix('/') {
            Some(tag) if named(tag) => self.depth = self.depth.saturating_sub(1),
            None if named(tag) => {
                let inside = end_of_tag(tag).and_then(|end| tag.get(..end));
                self.depth += u64::from(!inside.is_some_and(|inside| inside.ends_with('/')));
            }
            _ => return false,
        }
        self.depth == 0
    }
}

/// Where the `>` of a tag stands, which may also stand in an attribute.
fn end_of_tag(tag: &str) -> Option<usize> {
    let mut quote = None;
    for (at, byte) in tag.bytes().enumerate() {
        match byte {
            b'"' | b'\'' if quote.is_none() => quote = Some(byte),
            _ if quote == Some(byte) => quote = None,
            b'>' if quote.is_none() => return Some(at),
            _ => {}
        }
    }
    None
}

/// `<?xml version="1.0"?>`; a byte order mark stands before .NET's.
fn is_declaration(line: &str) -> bool {
    line.strip_prefix('\u{feff}').unwrap_or(line).starts_with("<?xml ")
}

/// A declaration, or the first tag of a report of tests, which may have none.
pub(in crate::ingest) fn begins_xml(line: &str) -> bool {
    begins_report(line) || is_declaration(line)
}

/// The first tag of a report of tests.
pub(in crate::ingest) fn begins_report(line: &str) -> bool {
    const ROOTS: [&str; 8] =
        ["testsuites", "testsuite", "assemblies", "assembly", "test-run", "test-suite", "TestLog", "TestResult"];
    let named = |tag: &str| tag.starts_with([' ', '>']);
    let root = |tag: &str| ROOTS.iter().any(|root| tag.strip_prefix(root).is_some_and(named));
    let line = line.strip_prefix('\u{feff}').unwrap_or(line);
    line.strip_prefix('<').is_some_and(root)
}

/// The name of a test, which may be empty, or of a file.
fn begins_record(line: &str) -> bool {
    line.starts_with("TN:") || line.starts_with("SF:")
}

/// An object or an array of objects; `[INFO] …`, `[1/3] …` and `{ cd src; …` are none.
fn begins_json(line: &str) -> bool {
    let line = line.trim_end();
    let after = |open| line.strip_prefix(open).map(str::trim_start);
    let begins = |rest: &str| rest.is_empty() || rest.starts_with('"');
    after('{').is_some_and(begins) || after('[').is_some_and(|rest| rest.is_empty() || rest.starts_with('{'))
}

fn format_of(text: &str) -> Option<&'static Format> {
    let head = Head::read(&Input::bytes("", text.as_bytes())).ok()?;
    FORMATS.iter().copied().find(|format| matches!((format.sniff)(&head), Sniff::Sure(_)))
}

/// The documents that were met.
#[derive(Default)]
pub(super) struct Documents {
    /// Of one format, one after the other: lines of one report, or a report each.
    open: Option<(&'static Format, Vec<String>)>,
    bytes: usize,
    reports: Vec<Parsed>,
    /// There were more than are held: none counts.
    is_too_much: bool,
}

impl Documents {
    /// One more.
    pub(super) fn add(&mut self, format: &'static Format, text: String) {
        self.bytes = self.bytes.saturating_add(text.len());
        self.is_too_much |= self.bytes > LONGEST_BYTES || self.reports.len() > RUNS_HELD;
        match &mut self.open {
            _ if self.is_too_much => self.open = None,
            Some((before, texts)) if *before == format => texts.push(text),
            _ => {
                self.close();
                self.open = Some((format, vec![text]));
            }
        }
    }

    /// Other text follows.
    pub(super) fn close(&mut self) {
        let Some((format, texts)) = self.open.take() else { return };
        let read = |text: &str| (format.parse)(&Input::bytes("", text.as_bytes())).ok();
        match read(&texts.concat()) {
            Some(parsed) => self.reports.push(parsed),
            None => self.reports.extend(texts.iter().filter_map(|text| read(text))),
        }
    }

    /// The reports, if all of them are there.
    pub(super) fn take(&mut self) -> Vec<Parsed> {
        self.close();
        let documents = std::mem::take(self);
        if documents.is_too_much { Vec::new() } else { documents.reports }
    }
}
