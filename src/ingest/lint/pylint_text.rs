//! `pylint-text`: what pylint prints.
//!
//! Written after pylint's text reporters: `text` and `colorized` (`path:line:column: C0114: message (symbol)`), `parseable`
//! (`path:line: [C0114(symbol), object] message`), `msvs` (`path(line): [C0114(symbol)object] message`), `github`
//! (annotations of workflows), and the one of pylint 1 (`C:  1, 0: message (symbol)` below the name of the module). The score
//! may be switched off, so that the report has no sure end.

use super::LintTally;
use super::github_text::annotation;
use super::lines::{
    Claim, TextReader, bracketed, finding, is_code, is_dashed_name, is_of_another, is_path, placed, read,
};
use crate::error::{Error, Reject, Result};
use crate::ingest::text::{is_number, split_at};
use crate::ingest::{Format, Head, Level, Parsed, Sniff, Sort};
use crate::model::figures::ReportKind;

/// pylint's output.
pub const FORMAT: Format = Format {
    name: "pylint-text",
    kind: ReportKind::Lint,
    about: "terminal output of pylint",
    written_by: "pylint --output-format text|colorized|parseable|msvs",
    told_by: "\"a.py:1:0: C0114: … (symbol)\", \"************* Module a\", \"Your code has been rated at …\"",
    has_end: false,
    counting: "Messages by their letter: F and E are errors, W warnings, R, C and I notes.",
    sniff,
    parse: |input| read::<Reader>(input, "pylint"),
};

/// Above the messages of a module.
const MODULE: &str = "************* Module ";
/// Above the score.
const SCORE: &str = "Your code has been rated at ";

fn sniff(head: &Head<'_>) -> Sniff {
    let is_ours = |line: &str| line.starts_with(MODULE) || message(line).is_some_and(|message| message.is_certain);
    let is_sure = head.lines().any(is_ours) || head.last_lines().any(|line| line.starts_with(SCORE));
    if is_sure && !is_of_another(head) {
        return Sniff::Sure("messages as pylint prints them, or its score".into());
    }
    Sniff::No
}

struct Message<'a> {
    path: Option<&'a str>,
    line: Option<u64>,
    id: &'a str,
    text: &'a str,
    /// It has a symbol, which no other tool writes so.
    is_certain: bool,
}

fn is_id(text: &str) -> bool {
    is_code(text, 1..=1, 4..=5) && text.starts_with(LETTERS)
}

/// Fatal, error, warning, refactor, convention, information.
const LETTERS: [char; 6] = ['F', 'E', 'W', 'R', 'C', 'I'];

fn message(text: &str) -> Option<Message<'_>> {
    // `--output-format=github`: `::notice file=a.py,line=1,endline=,col=0,title=C0114::message`.
    if let Some(found) = annotation(text) {
        let id = found.title.filter(|title| is_id(title))?;
        return Some(Message { path: found.path, line: found.line, id, text: found.message, is_certain: true });
    }
    if let Some(place) = placed(text) {
        let (path, line) = (Some(place.path), place.line);
        if let Some((id, rest)) = split_at(place.rest, ": ").filter(|(id, _)| is_id(id)) {
            let (text, is_certain) = without_symbol(rest);
            return Some(Message { path, line, id, text, is_certain });
        }
        return in_brackets(place.rest).map(|message| Message { path, line, ..message });
    }
    // `path(line): [C0114(symbol)object] message`.
    if let Some((place, rest)) = split_at(text, "): [") {
        let (path, line) = place.rsplit_once('(')?;
        let rest = text.get(text.len() - rest.len() - 1..)?;
        let message = in_brackets(rest).filter(|_| is_number(line) && is_path(path))?;
        return Some(Message { path: Some(path), line: line.parse().ok().filter(|line| *line > 0), ..message });
    }
    old(text)
}

/// `[C0114(symbol), object] message`.
fn in_brackets(text: &str) -> Option<Message<'_>> {
    let (inside, text) = text.strip_prefix('[')?.split_once(']')?;
    let end = inside.find(['(', ',']).unwrap_or(inside.len());
    let (id, rest) = inside.split_at_checked(end)?;
    let is_certain = rest.starts_with(',') || rest.contains(')');
    is_id(id).then(|| Message { path: None, line: None, id, text: text.trim_start(), is_certain })
}

/// `C:  1, 0: message (symbol)`.
fn old(text: &str) -> Option<Message<'_>> {
    let (id, rest) = text.split_once(':')?;
    let is_ours = is_id(id) || (id.len() == 1 && id.starts_with(LETTERS));
    let (place, rest) = rest.split_once(": ").filter(|_| is_ours)?;
    let (line, column) = place.trim().split_once(',').unwrap_or((place.trim(), "0"));
    let (text, is_certain) = without_symbol(rest);
    (is_number(line) && is_number(column.trim())).then(|| Message {
        path: None,
        line: line.parse().ok().filter(|line| *line > 0),
        id,
        text,
        is_certain,
    })
}

/// The message, and whether a symbol stood after it.
fn without_symbol(text: &str) -> (&str, bool) {
    match bracketed(text, '(', ')').filter(|(_, symbol)| is_dashed_name(symbol)) {
        Some((text, _)) => (text, true),
        None => (text, false),
    }
}

/// Reads lines.
#[derive(Default)]
pub(in crate::ingest) struct Reader {
    tally: LintTally,
    module: Option<String>,
    is_pylint: bool,
    /// Messages came since the last score, and whether one stood below none and tells of some: they were cut away.
    has_messages: bool,
    is_cut: bool,
}

impl TextReader for Reader {
    fn line(&mut self, text: &str) -> Result<()> {
        if let Some(module) = text.strip_prefix(MODULE) {
            self.module = Some(module.to_owned());
            self.is_pylint = true;
        } else if let Some(score) = text.strip_prefix(SCORE) {
            self.is_pylint = true;
            self.is_cut |= !std::mem::take(&mut self.has_messages) && !score.starts_with("10.00/");
        } else if let Some(message) = message(text) {
            (self.is_pylint, self.has_messages) = (true, true);
            let level = match message.id.chars().next() {
                Some('F' | 'E') => Level::Error,
                Some('W') => Level::Warning,
                _ => Level::Note,
            };
            let path = message.path.or(self.module.as_deref());
            let finding = finding("pylint", level, (path, message.line), Some(message.id), message.text);
            self.tally.finding(finding, Sort::Linter)?;
        }
        Ok(())
    }

    fn claim(&self, text: &str) -> Claim {
        match message(text) {
            _ if text.starts_with(SCORE) => Claim::Last,
            _ if text.starts_with(MODULE) => Claim::Ours,
            Some(message) if message.is_certain => Claim::Ours,
            Some(_) => Claim::Alike,
            None => Claim::Other,
        }
    }

    fn is_whole(&self, text: &str) -> bool {
        let is_score = || text.starts_with(SCORE) && (text.ends_with("/10") || text.ends_with(')'));
        // A word in brackets may be the message's. Of some messages the source follows, and the symbol behind it.
        let has_symbol = || {
            let symbol = bracketed(text, '(', ')').map(|(_, symbol)| symbol);
            symbol.is_some_and(|symbol| symbol.contains('-') && is_dashed_name(symbol))
                && message(text).is_none_or(|message| message.is_certain)
        };
        is_score() || has_symbol()
    }

    fn tells_all(&self, text: &str) -> bool {
        message(text).is_some_and(|message| message.is_certain)
    }

    fn finish(mut self) -> Result<Option<Parsed>> {
        if !self.is_pylint {
            return Ok(None);
        }
        self.tally.tool("pylint", Sort::Linter);
        let mut parsed = self.tally.finish(&FORMAT)?;
        if self.is_cut && parsed.figures.total == Some(0) {
            let why = "pylint's score is below 10, and no message that lowers it is there";
            return Err(
                Error::report(Reject::NoResult, why).help("let pylint's whole output through, not its last lines")
            );
        }
        if self.is_cut {
            parsed.warnings.push("a score of pylint's tells of messages that were cut away above it".to_owned());
        }
        if self.module.is_some() && parsed.figures.total == Some(0) {
            // It names only modules in which it found something.
            let why = "pylint names modules with messages, but none of these is as pylint words them";
            return Err(Error::report(Reject::NoResult, why).help("let pylint print one of its own formats"));
        }
        Ok(Some(parsed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::Details;
    use crate::ingest::input::Input;

    fn parsed(text: &str) -> Result<Parsed> {
        crate::ingest::parse(&Input::bytes("x", text.as_bytes()), Some(&FORMAT))
    }

    #[test]
    fn every_reporter_tells_the_same() {
        for text in [
            "************* Module p.a\np/a.py:12:4: W0702: No exception type(s) specified (bare-except)\n",
            "p/a.py:12: [W0702(bare-except), f] No exception type(s) specified\n",
            "p/a.py:12: [W0702, f] No exception type(s) specified\n",
            "p/a.py(12): [W0702(bare-except)A.f] No exception type(s) specified\n",
            "************* Module p/a.py\nW: 12, 4: No exception type(s) specified (bare-except)\n",
            "************* Module p.a\n::warning file=p/a.py,line=12,endline=13,col=4,title=W0702::No exception type(s) specified\n",
            "************* Module p/a.py\nW0702: 12: No exception type(s) specified\n",
        ] {
            let parsed = parsed(text).unwrap();
            assert_eq!((parsed.figures.warnings, parsed.figures.total), (Some(1), Some(1)), "{text}");
            let Details::Lint(details) = parsed.details else { panic!("lint") };
            let first = details.findings.first().unwrap();
            assert_eq!((first.path.as_deref(), first.line), (Some("p/a.py"), Some(12)), "{text}");
            assert_eq!(first.message, "No exception type(s) specified", "{text}");
        }
    }

    #[test]
    fn a_message_may_end_behind_its_source_and_without_a_line_end() {
        let text = "************* Module a\na.py:1:0: R0801: Similar lines in 2 files\n==a:[53:75]\n    f(self)\n    # not BN (duplicate-code)";
        let figures = parsed(text).unwrap().figures;
        assert_eq!((figures.notes, figures.total), (Some(1), Some(1)));
        for cut in [" (duplicate-code)", "-code)", ")"] {
            let cut = text.strip_suffix(cut).unwrap();
            assert_eq!(parsed(cut).unwrap_err().reject(), Some(Reject::Malformed), "{cut}");
        }
    }

    #[test]
    fn letters_are_levels_and_a_score_alone_is_a_report() {
        let all: String = ["F0001", "E1101", "W0102", "R0911", "C0114", "I0011"]
            .map(|id| format!("a.py:1:0: {id}: text (some-symbol)\n"))
            .concat();
        let figures = parsed(&all).unwrap().figures;
        assert_eq!((figures.errors, figures.warnings, figures.notes), (Some(2), Some(1), Some(3)));
        let clean = "\n------------------------------------\nYour code has been rated at 10.00/10\n\n";
        assert_eq!(parsed(clean).unwrap().figures.total, Some(0));
        let cut = clean.replace("10.00/10", "9.41/10 (previous run: 10.00/10, -0.59)");
        assert_eq!(parsed(&cut).unwrap_err().reject(), Some(Reject::NoResult));
        for (text, warnings) in
            [(format!("{all}{cut}"), 0), (format!("{all}{cut}{clean}"), 0), (format!("{all}{cut}{cut}"), 1)]
        {
            let parsed = parsed(&text).unwrap();
            assert_eq!((parsed.figures.total, parsed.warnings.len()), (Some(6), warnings), "{text}");
        }
        let unread = parsed("************* Module p.a\np/a.py 12 oh no\n").unwrap_err();
        assert_eq!(unread.reject(), Some(Reject::NoResult));
        assert_eq!(parsed("nothing\n").unwrap_err().reject(), Some(Reject::NotThisFormat));
        assert_eq!(parsed(&format!("{all}b.py:1:0: C0114: Mis")).unwrap_err().reject(), Some(Reject::Malformed));
        assert!(parsed(all.trim_end()).is_ok());
    }
}
