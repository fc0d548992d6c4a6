//! What the text formats of findings have in common: lines that begin with a place, and reading to the end.

use std::borrow::Cow;

use serde::de::IgnoredAny;

use super::LintTally;
use crate::error::{Error, Reject, Result};
use crate::ingest::console::begins_report;
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine, first_lines, printable};
use crate::ingest::{Finding, Format, Head, Level, Parsed, Sniff, Sort, add};
use crate::model::figures::Figures;

/// Longest message that is put together of several lines, in bytes.
const LONGEST_MESSAGE: usize = 4096;

/// Whose a line is, in a stream in which several tools speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ingest) enum Claim {
    /// The tool's: nobody else writes it so.
    Ours,
    /// Ours, and the last of a run.
    Last,
    /// A run's last, of which nothing else was met: it was cut away (`… | tail -5`). What some tool has open goes before.
    Alone,
    /// The tool's reader would count it, but others write so too.
    Alike,
    /// Nothing that counts. It may belong to what stands above it.
    Other,
}

/// Reads what one tool prints, line by line.
pub(in crate::ingest) trait TextReader: Default + Send {
    /// The next line, without its end.
    ///
    /// # Errors
    /// A count is too large.
    fn line(&mut self, text: &str) -> Result<()>;

    /// Whose the next line is, beside other tools.
    fn claim(&self, text: &str) -> Claim;

    /// The reader of what follows the last line of a run. It may know what was said in that.
    fn next(&self) -> Self {
        Self::default()
    }

    /// The next line, if it is nobody's: what [`TextReader::line`] does then, without finding that out again.
    ///
    /// # Errors
    /// A count is too large.
    fn other(&mut self, text: &str) -> Result<()> {
        self.line(text)
    }

    /// Whether a last line without a line end is known to be a whole one.
    fn is_whole(&self, text: &str) -> bool;

    /// Whether a last line without a line end counts the same, however it would go on: its level is told before its
    /// message, or it belongs to the finding above it and can be none itself.
    fn tells_all(&self, _text: &str) -> bool {
        false
    }

    /// The report; none if nothing of the tool was met.
    ///
    /// # Errors
    /// A sum is too large; the tool counts findings that are not there.
    fn finish(self) -> Result<Option<Parsed>>;
}

/// Reads a report. It is cut if its last line has no end, is not known to be whole, and would tell something else if it
/// went on, or if whole blocks are there. Otherwise its end was only trimmed, as programs do that keep what others print.
///
/// # Errors
/// Not this format if nothing of `tool` is in it; malformed if it is cut; what the reader refuses.
pub(super) fn read<R: TextReader>(input: &Input<'_>, tool: &str) -> Result<Parsed> {
    let mut reader = R::default();
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
    let (mut last, mut is_cut, mut is_open) = (0, false, false);
    while let Some(line) = lines.next()? {
        last = line.number;
        let text = line.text.trim_end();
        // What a terminal code hides may be cut, too.
        let is_plain = matches!(line.text, Cow::Borrowed(_));
        let is_whole = line.ended || (is_plain && (reader.is_whole(text) || is_document(text)));
        is_open = !is_whole;
        // A file system that crashed fills what it lost with NUL.
        is_cut = is_open && (text.contains('\0') || !reader.tells_all(text));
        reader.line(text).map_err(|error| error.line(last))?;
    }
    let is_cut = is_cut || (is_open && lines.fills_blocks());
    let parsed = reader.finish().map_err(|error| error.line(last))?;
    let nothing = || Error::report(Reject::NotThisFormat, format!("nothing that {tool} prints is in it"));
    let mut parsed = parsed.ok_or_else(nothing)?;
    if is_cut {
        return Err(Error::report(Reject::Malformed, format!("the output of {tool} ends inside a line"))
            .line(last)
            .help("the tool was probably killed; run it again"));
    }
    if is_open {
        parsed
            .warnings
            .push(format!("line {last}, the last one, has no end: if {tool} was killed there, findings are missing"));
    }
    Ok(parsed)
}

/// Whether the line is a whole document of JSON: two formatters of one tool may print one below the other.
fn is_document(text: &str) -> bool {
    text.starts_with('{') && text.ends_with('}') && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// Whether some line is the tool's, as its reader says that nobody else writes it, and no other format is certain.
pub(super) fn is_claimed<R: TextReader>(head: &Head<'_>) -> bool {
    let mut reader = R::default();
    let is_ours = head.lines_of_both_ends().map(str::trim_end).any(|line| {
        let claim = reader.claim(line);
        // A count that is too large is told where it is read.
        matches!(claim, Claim::Ours | Claim::Last) || reader.line(line).is_err()
    });
    is_ours && !is_of_another(head)
}

/// Whether another format is certain of it: a test runner's output may hold lines of any tool, and XML is no text, also where
/// it is a report of tests between other lines.
pub(super) fn is_of_another(head: &Head<'_>) -> bool {
    *head.found.is_of_another.get_or_init(|| {
        head.xml().is_some()
            || head.is_of_tests()
            || matches!((super::rustc_text::FORMAT.sniff)(head), Sniff::Sure(_))
            || head.lines().any(|line| is_of_go_test(line) || begins_report(line))
    })
}

/// Lines around which `go test` prints what go vet would, too.
fn is_of_go_test(line: &str) -> bool {
    ["FAIL\t", "ok  \t", "--- FAIL: ", "--- PASS: ", "=== RUN "].iter().any(|start| line.starts_with(start))
}

/// A line that begins with a place: `path:line: …`, `path:line:column: …`, `path:line:column:line:column: …`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Placed<'a> {
    pub path: &'a str,
    /// From 1; none if the tool says 0, or a number that is none.
    pub line: Option<u64>,
    /// Whether there is a column.
    pub has_column: bool,
    /// After the last colon, without blanks before it.
    pub rest: &'a str,
}

impl Placed<'_> {
    /// Whether the path ends in one of the extensions (`py`, not `.py`).
    pub(super) fn is_a(&self, extensions: &[&str]) -> bool {
        let extension = self.path.rsplit_once('.').map(|(_, extension)| extension);
        extension.is_some_and(|extension| extensions.iter().any(|one| one.eq_ignore_ascii_case(extension)))
    }
}

/// How names of Python's files end.
pub(super) const PYTHON: [&str; 3] = ["py", "pyi", "ipynb"];

/// Whether it is the path of one of them.
pub(super) fn is_python(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, extension)| PYTHON.contains(&extension))
}

/// The place with which a line begins.
pub(super) fn placed(text: &str) -> Option<Placed<'_>> {
    for (colon, _) in text.match_indices(':') {
        let (path, after) = (text.get(..colon)?, text.get(colon + 1..)?);
        let Some((line, after)) = number(after, false) else { continue };
        if !is_path(path) {
            return None;
        }
        let (mut rest, mut has_column) = (after, false);
        while let Some((_, after)) = number(rest, true) {
            (rest, has_column) = (after, true);
        }
        let line = line.parse().ok().filter(|line| *line > 0);
        return Some(Placed { path, line, has_column, rest: rest.trim_start() });
    }
    None
}

/// `path:3:5` or `path:3`, and nothing else.
pub(super) fn bare_place(text: &str) -> Option<(&str, Option<u64>)> {
    let (rest, last) = text.rsplit_once(':')?;
    let last: u64 = last.parse().ok()?;
    let before = rest.rsplit_once(':').and_then(|(path, line)| Some((path, line.parse::<u64>().ok()?)));
    let (path, line) = before.unwrap_or((rest, last));
    is_path(path).then_some((path, Some(line).filter(|line| *line > 0)))
}

/// `12:` at the beginning: the number, and what follows. A range, `12-15:`, where it is a column.
fn number(text: &str, is_later: bool) -> Option<(&str, &str)> {
    let digits = |from: usize| text.bytes().skip(from).take_while(u8::is_ascii_digit).count();
    let mut end = digits(0);
    if is_later && end > 0 && text.get(end..)?.starts_with('-') {
        let last = digits(end + 1);
        end += if last > 0 { 1 + last } else { 0 };
    }
    let rest = text.get(end..)?.strip_prefix(':')?;
    (end > 0).then_some((text.get(..end)?, rest))
}

/// Whether it may be the path of a file: no log level, no time of day, no address. A colon stands after a drive only: tools
/// that print `path:line` leave no other way to tell where the path ends.
pub(super) fn is_path(text: &str) -> bool {
    if ends_with_hour(text) {
        return false;
    }
    let after_drive =
        text.get(1..).and_then(|rest| rest.strip_prefix(':')).filter(|rest| rest.starts_with(['/', '\\']));
    let starts_like_one = text.starts_with(|c: char| !c.is_whitespace() && !matches!(c, '"' | '\'' | '{' | '|' | '#'));
    // A time of day, and the number of a version or of a machine: `10.0.0.1:8080: error: …`.
    let is_number = || text.trim_start_matches('[').bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let is_address = after_drive.is_some_and(|rest| rest.starts_with("//"));
    // `12 main f a.go` is an entry of gocyclo's.
    let is_listed = || text.split_once(' ').is_some_and(|(first, _)| first.bytes().all(|byte| byte.is_ascii_digit()));
    // Behind who wrote a line, as runners of several commands put it: `[api] a.go`, `app-1  | a.go`.
    let is_marked = || text.contains(" | ") || text.starts_with('[') && text.contains("] ");
    // Source code, what a comment in it tells, and an entry of a changelog.
    let is_code = || text.contains('"') || ["// ", "- ", "* "].iter().any(|begin| text.starts_with(begin));
    starts_like_one
        && !is_address
        && !after_drive.unwrap_or(text).contains([':', '\t'])
        && !is_listed()
        && !is_code()
        && !is_marked()
        && !is_number()
        && text != "localhost"
}

/// Whether minutes come next: `2026-01-05 12`, `2026-01-05T12`, `Jan  5 12`.
fn ends_with_hour(text: &str) -> bool {
    match text.as_bytes() {
        [before @ .., b'0'..=b'2', b'0'..=b'9'] => {
            matches!(before, [] | [.., b' ' | b'['] | [.., b'0'..=b'9', b'T'])
        }
        _ => false,
    }
}

/// Whether a rule has a name as a class has: `UnusedImports`.
pub(super) fn is_class_name(rule: &str) -> bool {
    rule.starts_with(|c: char| c.is_ascii_uppercase()) && rule.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Whether a rule has a name of lower case, digits and dashes: `no-unused-vars`.
pub(super) fn is_dashed_name(rule: &str) -> bool {
    rule.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

/// A finding, its texts made fit to be shown.
pub(super) fn finding(
    tool: &str,
    level: Level,
    place: (Option<&str>, Option<u64>),
    rule: Option<&str>,
    message: &str,
) -> Finding {
    let rule = rule.filter(|rule| !rule.is_empty()).map(|rule| printable(rule, 200));
    Finding {
        tool: tool.to_owned(),
        level,
        path: place.0.filter(|path| !path.is_empty()).map(|path| printable(path, 1000)),
        line: place.1,
        message: first_lines(message).or_else(|| rule.clone()).unwrap_or_default(),
        rule,
    }
}

/// Puts one more line to a message.
pub(super) fn join(message: &mut String, text: &str) {
    if message.len() < LONGEST_MESSAGE {
        if !message.is_empty() && !message.ends_with(' ') {
            message.push(' ');
        }
        message.push_str(text);
    }
}

/// What stands in brackets at the end: `message [rule]`, `message (rule)`. The brackets hold no blanks, and a blank
/// stands before them.
pub(super) fn bracketed(text: &str, open: char, close: char) -> Option<(&str, &str)> {
    let (message, rule) = text.strip_suffix(close)?.rsplit_once(open)?;
    let is_apart = message.is_empty() || message.ends_with(char::is_whitespace);
    (is_apart && !rule.is_empty() && !rule.contains(char::is_whitespace)).then(|| (message.trim_end(), rule))
}

/// Whether letters come first and digits after them, so many of each: `F401`, `SC2086`.
pub(super) fn is_code(
    text: &str,
    letters: std::ops::RangeInclusive<usize>,
    digits: std::ops::RangeInclusive<usize>,
) -> bool {
    let first = text.bytes().take_while(u8::is_ascii_uppercase).count();
    let rest = text.len() - first;
    letters.contains(&first) && digits.contains(&rest) && text.bytes().skip(first).all(|byte| byte.is_ascii_digit())
}

/// The number in `Found 3 errors…`, and what follows it.
pub(super) fn found(text: &str) -> Option<(u64, &str)> {
    let (number, rest) = text.strip_prefix("Found ")?.split_once(' ')?;
    let rest = rest.strip_prefix("errors").or_else(|| rest.strip_prefix("error"))?;
    Some((number.parse().ok()?, rest))
}

/// The number in `3 errors`, `1 error`.
pub(super) fn counted(text: &str, word: &str) -> Option<u64> {
    let (number, named) = text.split_once(' ')?;
    number.parse().ok().filter(|_| named.strip_suffix('s').unwrap_or(named) == word)
}

/// A tool that counts findings and lists none has not told them: that is not zero.
///
/// # Errors
/// No result.
pub(super) fn check_listed(tool: &str, said: u64, listed: u64) -> Result<()> {
    if said > 0 && listed == 0 {
        let why = format!("{tool} says that it found {said} errors, but lists none");
        return Err(Error::report(Reject::NoResult, why).help("let the tool print its findings, not a summary alone"));
    }
    Ok(())
}

fn other_than_rows(said: &str) -> String {
    format!("the summary says {said}, which is not what the rows add up to")
}

/// The figures of a tool that lists its findings and says how many errors there are; `listed` are those of its findings
/// that are among these.
///
/// # Errors
/// A sum is too large.
pub(super) fn finish_said(
    mut tally: LintTally,
    format: &'static Format,
    (tool, sort): (&str, Sort),
    said: Option<u64>,
    listed: u64,
) -> Result<Parsed> {
    tally.tool(tool, sort);
    let [errors, warnings, notes] = tally.sums()?;
    let missing = said.unwrap_or(0).saturating_sub(listed);
    tally.complete((tool, sort), [add(errors, missing)?, warnings, notes])?;
    let mut parsed = tally.finish(format)?;
    if let Some(said) = said.filter(|said| *said < listed) {
        parsed.warnings.push(other_than_rows(&format!("{said} errors")));
        parsed.declared = Some(Figures { errors: Some(said), ..Figures::default() });
    }
    Ok(parsed)
}

/// What a summary counts: errors, warnings, and what is below, if it tells that.
pub(super) type Said = (u64, u64, Option<u64>);

/// The figures of a tool that lists its findings and sums them up by level.
///
/// # Errors
/// A sum is too large.
pub(super) fn finish_levels(
    mut tally: LintTally,
    format: &'static Format,
    of: (&str, Sort),
    said: Said,
) -> Result<Parsed> {
    let (errors, warnings, notes) = said;
    let [_, _, notes_listed] = tally.sums()?;
    tally.complete(of, [errors, warnings, notes.unwrap_or(notes_listed)])?;
    let mut parsed = tally.finish(format)?;
    compare_levels(said, &mut parsed);
    Ok(parsed)
}

/// Compares what is listed with a summary.
pub(super) fn compare_levels((errors, warnings, notes): Said, parsed: &mut Parsed) {
    let figures = &parsed.figures;
    let is_of_notes = notes.is_none() || figures.notes == notes;
    if (figures.errors, figures.warnings, is_of_notes) == (Some(errors), Some(warnings), true) {
        return;
    }
    let said = match notes {
        Some(notes) => format!("{errors} errors, {warnings} warnings and {notes} below that"),
        None => format!("{errors} errors and {warnings} warnings"),
    };
    parsed.warnings.push(other_than_rows(&said));
    parsed.declared = Some(Figures { errors: Some(errors), warnings: Some(warnings), notes, ..Figures::default() });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_found_where_they_are() {
        let at = |text| placed(text).map(|p| (p.path, p.line, p.has_column, p.rest));
        assert_eq!(at("a.c:4:39: error: x: 3"), Some(("a.c", Some(4), true, "error: x: 3")));
        assert_eq!(at("a b.go:7: 12: msg"), Some(("a b.go", Some(7), false, "12: msg")));
        assert_eq!(at("C:\\p\\a.c:4: x"), Some(("C:\\p\\a.c", Some(4), false, "x")));
        assert_eq!(at("fo:oo.cpp:8: error: e"), None, "where the path ends cannot be told");
        assert_eq!(at("a.py:13:22:13:25: error: e"), Some(("a.py", Some(13), true, "error: e")));
        assert_eq!(at("a.hs:3:5-8: error: e"), Some(("a.hs", Some(3), true, "error: e")));
        assert_eq!(at("a.py:0:1: E902 x"), Some(("a.py", None, true, "E902 x")));
        assert_eq!(at("a.py:99999999999999999999: x"), Some(("a.py", None, false, "x")));
        assert_eq!(at("v 12.py:3: x"), Some(("v 12.py", Some(3), false, "x")));
        assert_eq!(at("lib/PORT80:3: x"), Some(("lib/PORT80", Some(3), false, "x")));
        for other in [
            "",
            "a.c:",
            "a.c: error: x",
            "  a.c:4: x",
            "12:30:45: error: x",
            "[12:30:45 AM] x",
            "http://host:80: x",
            "warning: p@0.1.0: a.c:3:5: warning: w",
            "\"a\":1:2: x",
            "12 main f a.go:3:1: x",
            "let a = \"a.c:3: x",
            "// a.c:3: x",
            "- a.c:3: x",
            "x.go:3.14,5.2 1 0",
            "2026-01-05 12:30:45: error: x",
            "2026-01-05T12:30:45: error: x",
            "[Jan  5 12:30:45: error: x",
            "10.0.0.1:8080: error: x",
            "localhost:8080: error: x",
        ] {
            assert_eq!(at(other), None, "{other}");
        }
    }

    #[test]
    fn rules_and_counts_at_the_end() {
        assert_eq!(bracketed("unused [-Wunused]", '[', ']'), Some(("unused", "-Wunused")));
        assert_eq!(bracketed("[type-arg]", '[', ']'), Some(("", "type-arg")));
        assert_eq!(bracketed("in arr[2]", '[', ']'), None);
        assert_eq!(bracketed("x (not a rule)", '(', ')'), None);
        assert!(is_code("F401", 1..=3, 3..=4) && is_code("SC2086", 2..=2, 4..=4));
        assert!(!is_code("F4O1", 1..=3, 3..=4) && !is_code("F40", 1..=3, 3..=4) && !is_code("", 1..=3, 3..=4));
        assert_eq!(found("Found 1 error."), Some((1, ".")));
        assert_eq!(found("Found 12 errors in 2 files."), Some((12, " in 2 files.")));
        assert_eq!(found("Found many errors"), None);
        assert!(check_listed("x", 3, 0).is_err() && check_listed("x", 3, 1).is_ok() && check_listed("x", 0, 0).is_ok());
    }
}
