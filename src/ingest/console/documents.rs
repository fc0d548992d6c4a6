//! JSON documents between lines of text: `ruff check --output-format json`, `eslint -f json`.
//!
//! A document begins at the start of a line. It counts only if it is whole and a format is certain of it.

use serde::de::IgnoredAny;

use crate::ingest::test::runs::RUNS_HELD;
use crate::ingest::text::LONGEST_BYTES;
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
    depth: i64,
    in_string: bool,
}

impl Document {
    /// The next line.
    pub(super) fn line(&mut self, line: &str) -> Step {
        if self.text.is_empty() && !may_begin(line) {
            return Step::Text;
        }
        let (line, rest) = line.split_at_checked(self.measure(line)).unwrap_or((line, ""));
        self.text.push_str(line);
        self.text.push('\n');
        self.lines = self.lines.saturating_add(1);
        let is_closed = self.depth <= 0 && !self.in_string;
        // Looked at after one, two, four… lines, so that it is not read again for each.
        if !is_closed && !self.lines.is_power_of_two() && self.text.len() <= LONGEST_BYTES {
            return Step::Open;
        }
        match serde_json::from_str::<IgnoredAny>(&self.text) {
            Err(error) if error.is_eof() && !is_closed && self.text.len() <= LONGEST_BYTES => Step::Open,
            read => {
                let text = self.take();
                match format_of(&text).filter(|_| read.is_ok()) {
                    Some(format) => Step::Whole(format, text, rest.to_owned()),
                    None => Step::Broken(format!("{}{rest}", text.trim_end_matches('\n'))),
                }
            }
        }
    }

    /// What was held of a document that did not end.
    pub(super) fn take(&mut self) -> String {
        std::mem::take(self).text
    }

    /// Follows strings and brackets. The bytes of the line up to the bracket that ends the document.
    fn measure(&mut self, line: &str) -> usize {
        let mut is_escaped = false;
        for (at, byte) in line.bytes().enumerate() {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = self.in_string,
                b'"' => self.in_string = !self.in_string,
                b'[' | b'{' if !self.in_string => self.depth += 1,
                b']' | b'}' if !self.in_string => self.depth -= 1,
                _ => {}
            }
            if self.depth <= 0 && !self.in_string {
                return at + 1;
            }
        }
        line.len()
    }
}

/// An object or an array of objects; `[INFO] …`, `[1/3] …` and `{ cd src; …` are none.
fn may_begin(line: &str) -> bool {
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
