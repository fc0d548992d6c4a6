//! Telling a report by its first bytes.

use std::cell::OnceCell;
use std::ops::Range;

use serde::de::IgnoredAny;

use super::input::{CHUNK_BYTES, Input};
use super::json;
use super::text::without_terminal_codes;
use super::xml::{Event, Xml};
use super::{FORMATS, Format};
use crate::error::{Error, Reject, Result};
use crate::model::figures::ReportKind;

/// What a format makes of a [`Head`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sniff {
    /// It is something else.
    No,
    /// It may be, for the reason given; taken if nobody is sure.
    Maybe(String),
    /// It is, for the reason given. No other format may be sure of the same report.
    Sure(String),
}

/// The beginning of an XML document.
#[derive(Clone, Debug, Default)]
pub struct XmlHead {
    /// The root element's name, without prefix.
    pub root: String,
    /// The namespace of that name.
    pub namespace: Option<String>,
    /// The names of the root's attributes.
    pub attributes: Vec<String>,
    /// The names of its first children (at most 20), without prefixes.
    pub children: Vec<String>,
}

impl XmlHead {
    /// Whether the root has such an attribute.
    pub fn has_attribute(&self, name: &str) -> bool {
        self.attributes.iter().any(|attribute| attribute == name)
    }

    /// Whether such an element is among the root's first children.
    pub fn has_child(&self, name: &str) -> bool {
        self.children.iter().any(|child| child == name)
    }
}

/// The first 64 KiB of a report, looked at from several sides.
pub struct Head<'a> {
    input: Input<'a>,
    text: Split,
    xml: Option<XmlHead>,
    keys: Vec<String>,
    /// The report has no more than its beginning.
    is_whole: bool,
    tail: OnceCell<Split>,
    pub(super) found: Found,
}

/// What one format found out about a report, and another asks, too.
#[derive(Default)]
pub(super) struct Found {
    is_of_tests: OnceCell<bool>,
    /// Whether cargo test or pytest wrote one of its lines.
    pub has_foreign_line: OnceCell<bool>,
    /// Whether it is of another than linters that print text.
    pub is_of_another: OnceCell<bool>,
}

impl<'a> Head<'a> {
    /// Reads the beginning.
    ///
    /// # Errors
    /// Empty; filled with NUL bytes (malformed); compressed (not this format); not readable.
    pub(super) fn read(input: &Input<'a>) -> Result<Head<'a>> {
        let (raw, text) = input.first()?;
        refuse_hopeless(&raw, &text)?;
        let text = plain(&text);
        let xml = if text.trim_start().starts_with('<') { xml_head(&text) } else { None };
        let keys = json::first_keys(&text);
        let (input, text, is_whole) = (input.clone(), Split::new(text), raw.len() < CHUNK_BYTES);
        Ok(Head { input, text, xml, keys, is_whole, tail: OnceCell::new(), found: Found::default() })
    }

    /// The decoded text, terminal codes removed and every line ended by LF; its last line may be cut.
    pub fn text(&self) -> &str {
        &self.text.text
    }

    /// Its lines.
    pub fn lines(&self) -> impl DoubleEndedIterator<Item = &str> + Clone {
        self.text.lines()
    }

    /// The first of its lines that is not blank.
    pub fn first_line(&self) -> Option<&str> {
        self.lines().find(|line| !line.trim().is_empty())
    }

    /// Its beginning as XML, if it begins with a tag.
    pub fn xml(&self) -> Option<&XmlHead> {
        self.xml.as_ref()
    }

    /// Likewise, if its root element is one of those.
    pub fn rooted(&self, roots: &[&str]) -> Option<&XmlHead> {
        self.xml().filter(|xml| roots.contains(&xml.root.as_str()))
    }

    /// For formats whose root element is nobody else's.
    pub fn by_root(&self, roots: &[&str]) -> Sniff {
        self.rooted(roots).map_or(Sniff::No, |xml| Sniff::Sure(format!("root element {}", xml.root)))
    }

    /// Whether its first JSON object has the key: `runs`, or as a path, lists passed through, `runs.tool`.
    pub fn has_key(&self, path: &str) -> bool {
        self.keys.iter().any(|key| key == path)
    }

    /// For formats of JSON that alone have all of those keys, as [`Head::has_key`] names them.
    pub fn by_keys(&self, keys: &[&str]) -> Sniff {
        let has_all = keys.iter().all(|key| self.has_key(key));
        if has_all { Sniff::Sure(format!("keys {}", keys.join(", "))) } else { Sniff::No }
    }

    /// Whether its first JSON object has these keys, as [`Head::has_key`] names them, and no others.
    pub fn has_only(&self, keys: &[&str]) -> bool {
        self.keys.len() == keys.len() && keys.iter().all(|key| self.has_key(key))
    }

    /// The keys of its first JSON object, as [`Head::has_key`] names them, in the order in which they stand, each once.
    pub fn keys(&self) -> &[String] {
        &self.keys
    }

    /// The lines of the last 64 KiB or more, as [`Head::lines`]: where text logs have their summary. Reads a report that is
    /// longer than that whole at the first call; none if that fails (parsing will say why).
    pub fn last_lines(&self) -> impl DoubleEndedIterator<Item = &str> + Clone {
        let tail = || Split::new(plain(&self.input.last().unwrap_or_default()));
        let split = if self.is_whole { &self.text } else { self.tail.get_or_init(tail) };
        split.lines()
    }

    /// Its lines, and of a report that is longer the last ones, as [`Head::last_lines`].
    pub fn lines_of_both_ends(&self) -> impl DoubleEndedIterator<Item = &str> + Clone {
        let last = (!self.is_whole).then(|| self.last_lines());
        self.lines().chain(last.into_iter().flatten())
    }

    /// As [`Head::lines_of_both_ends`], without those that may be cut.
    pub fn uncut_lines(&self) -> impl Iterator<Item = &str> {
        let (mut first, mut last) = (self.lines(), (!self.is_whole).then(|| self.last_lines()));
        if let Some(last) = &mut last {
            first.next_back();
            last.next();
        }
        first.chain(last.into_iter().flatten())
    }

    /// Whether it is a document in Markdown that shows a report of the format in a block of code: a README, not what a tool
    /// wrote.
    pub(super) fn is_quoted(&self, format: &Format) -> bool {
        let Some(prose) =
            Some(self).filter(|head| head.is_whole && head.xml.is_none()).and_then(|head| prose(head.text()))
        else {
            return false;
        };
        // Nothing but blocks: nothing is left to be told.
        Head::read(&Input::bytes("", prose.as_bytes())).is_ok_and(|head| (format.sniff)(&head) == Sniff::No)
    }

    /// Whether it is JSON and nothing else, one document or several, as far as it goes, and ends so: no line of text stands
    /// in it.
    pub(super) fn is_json(&self) -> bool {
        let text = self.text().trim_start();
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
        let ends_so = || self.last_lines().map(str::trim_end).rfind(|line| !line.is_empty());
        text.starts_with(['{', '['])
            && values.find_map(Result::err).is_none_or(|error| error.is_eof())
            && (self.is_whole || ends_so().is_some_and(|line| line.ends_with(['}', ']'])))
    }

    /// Whether a format of tests is certain of it: a test runner's output may hold what any other tool prints.
    pub(super) fn is_of_tests(&self) -> bool {
        let is_certain = |format: &&Format| matches!((format.sniff)(self), Sniff::Sure(_));
        let mut formats = FORMATS.iter().filter(|format| format.kind == ReportKind::Test);
        *self.found.is_of_tests.get_or_init(|| formats.any(is_certain))
    }

    /// What [`Head::is_of_tests`] answers, where each of those formats was asked already and none was certain, or none was
    /// because a test runner is told in another way.
    pub(super) fn settle_tests(&self, is_of_tests: bool) {
        self.found.is_of_tests.get_or_init(|| is_of_tests);
    }
}

/// Text that is asked for its lines by nearly every format.
struct Split {
    text: String,
    lines: OnceCell<Vec<Range<usize>>>,
}

impl Split {
    fn new(text: String) -> Split {
        Split { text, lines: OnceCell::new() }
    }

    fn lines(&self) -> impl DoubleEndedIterator<Item = &str> + Clone {
        let lines = self.lines.get_or_init(|| {
            let mut begin = 0;
            let lines = self.text.split_inclusive('\n').map(|line| {
                let range = begin..begin + line.strip_suffix('\n').unwrap_or(line).len();
                begin += line.len();
                range
            });
            lines.collect()
        });
        lines.iter().map(|line| self.text.get(line.clone()).unwrap_or_default())
    }
}

/// The text without terminal codes, and with LF at the end of every line: CRLF is one end, not two, and so is what a terminal
/// within a terminal makes of it.
fn plain(text: &str) -> String {
    let text = without_terminal_codes(text);
    if text.contains('\r') {
        text.replace("\r\r\n", "\n").replace("\r\n", "\n").replace('\r', "\n")
    } else {
        text.into_owned()
    }
}

/// What stands beside the blocks of code in Markdown. `None` if it is none: it has no heading, no block, or one without an
/// end.
fn prose(text: &str) -> Option<String> {
    if !text.contains("```") && !text.contains("~~~") {
        return None;
    }
    let (mut prose, mut fence, mut blocks, mut has_heading) = (String::new(), None, 0, false);
    for line in text.lines() {
        // A compiler underlines with the same sign.
        let is_info = |info: &str| !info.contains(['^', '~']);
        let found = ["```", "~~~"].into_iter().find(|fence| line.trim_start().strip_prefix(fence).is_some_and(is_info));
        match (fence, found) {
            (None, Some(_)) => (fence, blocks) = (found, blocks + 1),
            (Some(open), Some(close)) if open == close && line.trim().len() == close.len() => fence = None,
            (Some(_), _) => {}
            (None, None) => {
                let is_underline = line.len() > 2 && line.trim_end_matches('=').is_empty();
                let title = line.trim_start_matches('#');
                has_heading |= is_underline || (title.len() < line.len() && title.starts_with(' '));
                prose.push_str(line);
                prose.push('\n');
            }
        }
    }
    (has_heading && blocks > 0 && fence.is_none()).then_some(prose)
}

/// What is no report of any format.
fn refuse_hopeless(raw: &[u8], text: &str) -> Result<()> {
    // A terminal's own codes are no content, but a report of theirs alone is not empty either.
    if text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}').is_empty() {
        return Err(Error::report(Reject::Empty, "report is empty")
            .help("the tool wrote nothing; was it started, and did it come to its end?"));
    }
    if raw.iter().all(|byte| *byte == 0) {
        return Err(Error::report(Reject::Malformed, "report is filled with NUL bytes")
            .line(1)
            .help("the machine probably went down while it was written; run the tool again"));
    }
    let packed = [
        (&b"\x1f\x8b"[..], "gzip"),
        (b"PK\x03\x04", "zip"),
        (b"\x28\xb5\x2f\xfd", "zstd"),
        (b"\xfd7zXZ\0", "xz"),
        (b"BZh", "bzip2"),
    ];
    match packed.iter().find(|(magic, _)| raw.starts_with(magic)) {
        Some((_, how)) => {
            Err(Error::report(Reject::NotThisFormat, format!("report is compressed ({how})")).help("unpack it first"))
        }
        None => Ok(()),
    }
}

/// Reads as far as the text goes; what is wrong with it, parsing will say.
fn xml_head(text: &str) -> Option<XmlHead> {
    // Decoded already: a declared encoding must not be taken at its word again, and a declaration alone is no root.
    let decoded;
    let text = match text.find("?>") {
        Some(end) if text.trim_start().starts_with("<?xml") => {
            decoded = text.get(end + 2..).unwrap_or_default();
            decoded
        }
        _ => text,
    };
    let input = Input::bytes("", text.as_bytes());
    let mut xml = Xml::new(&input).ok()?;
    let mut head: Option<XmlHead> = None;
    let mut depth = 0usize;
    loop {
        match xml.next() {
            Ok(Event::Start(element)) => {
                depth += 1;
                match &mut head {
                    None => {
                        head = Some(XmlHead {
                            root: element.name().to_owned(),
                            namespace: element.namespace(),
                            attributes: element.attribute_names(),
                            children: Vec::new(),
                        });
                    }
                    Some(head) if depth == 2 && head.children.len() < 20 => {
                        head.children.push(element.name().to_owned());
                    }
                    Some(_) => {}
                }
            }
            Ok(Event::End) => depth = depth.saturating_sub(1),
            Ok(Event::Text(..)) => {}
            Ok(Event::Done) | Err(_) => return head,
        }
    }
}

/// What is said of a report that no format knows, where the reason can be seen.
pub(super) fn unknown(head: &Head<'_>) -> Option<Error> {
    let starts_with_xml = head.text().trim_start().starts_with("<?xml");
    if starts_with_xml && head.xml.is_none() {
        let mut xml = Xml::new(&head.input).ok()?;
        return xml.next().err();
    }
    let declared = head.lines().position(|line| line.trim_start().starts_with("<?xml"));
    declared.filter(|_| !starts_with_xml).map(|line| {
        Error::report(Reject::Malformed, "text stands before the XML declaration")
            .line(u64::try_from(line).unwrap_or(0) + 1)
            .help("the tool's own output went into the report file; send it elsewhere, and let the tool write the report itself")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Option<&'static str> {
        crate::ingest::detect(&Input::bytes("x", text.as_bytes())).unwrap().map(|(format, _)| format.name)
    }

    #[test]
    fn text_behind_a_long_json_document_is_heard() {
        let json = format!("{{\"words\": [{}\"\"]}}\n", "\"some of them\",\n".repeat(2 * CHUNK_BYTES / 16));
        assert_eq!(told(&format!("{json}=== 2 passed in 0.01s ===\n")), Some("pytest-text"));
        assert_eq!(told(&json), None);
    }

    /// At its beginning, at its end, or between the two where all of it is seen.
    #[test]
    fn what_speaks_between_records_is_heard() {
        let run = "=== test session starts ===\n=== 2 passed in 0.01s ===\n";
        let tracefile = ("TN:\nSF:a.c\nBRDA:1,0,0,-\n", "DA:1,1\n", "end_of_record\n", "lcov");
        let profile = ("mode: set\n", "a/b.go:1.2,3.4 5 1\n", "", "go-cover");
        for (begin, record, end, name) in [tracefile, profile] {
            for count in [2, CHUNK_BYTES] {
                let records = record.repeat(count);
                assert_eq!(told(&format!("{begin}{records}{end}")), Some(name));
                for text in [format!("{run}{begin}{records}{end}"), format!("{begin}{records}{end}{run}")] {
                    assert_eq!(told(&text), Some("pytest-text"), "{name} {count}");
                }
            }
            let records = record.repeat(2);
            assert_eq!(told(&format!("{begin}{records}{run}{records}{end}")), Some("pytest-text"), "{name}");
        }
    }

    #[test]
    fn a_document_that_shows_a_report_is_none() {
        let log = "test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
        let json = "{\"total\": {\"lines\": {\"total\": 1, \"covered\": 1, \"skipped\": 0, \"pct\": 100}}}\n";
        for report in [log, json] {
            assert!(told(report).is_some());
            assert_eq!(
                told(&format!("# Cart\n\nIt passes:\n\n```text\n{report}```\n\nSo it does.\n")),
                None,
                "{report}"
            );
            assert_eq!(told(&format!("Cart\n====\n\n  ~~~\n{report}  ~~~\n")), None, "{report}");
        }
        // Without a heading, or with a block that has no end, it is what a tool printed; so is what stands beside blocks.
        let underlined = format!("# a\n  f(x)\n  ~~~^\n{log}  f(y)\n  ~~~\n");
        for text in
            [format!("```\n{log}```\n"), format!("# a\n```\n{log}"), format!("# a\n```\nx\n```\n{log}"), underlined]
        {
            assert_eq!(told(&text), Some("cargo-test-text"), "{text}");
        }
    }
}
