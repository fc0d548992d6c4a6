//! `ruff-text`: what ruff prints.
//!
//! Written after ruff's output formats: `concise` (`path:line:column: F401 [*] message`), `full` (the same above a piece of
//! the source, or since 0.13 the rule above `--> path:line:column`), `grouped` (rows under the name of a file), `pylint`
//! (`path:line: [F401] message`). Severities are told by preview versions only. `--quiet` leaves the summary out, so that
//! the report has no sure end.

use std::collections::BTreeMap;

use super::lines::{
    Claim, TextReader, finding, finish_said, found, is_code, is_dashed_name, is_of_another, placed, read,
};
use super::{LintTally, biome_text};
use crate::error::Result;
use crate::ingest::text::{is_number, printable};
use crate::ingest::values::leading_in;
use crate::ingest::{Format, Head, Level, Parsed, Sniff, Sort, add};
use crate::model::figures::ReportKind;

/// ruff's output.
pub const FORMAT: Format = Format {
    name: "ruff-text",
    kind: ReportKind::Lint,
    about: "terminal output of ruff check",
    written_by: "ruff check, ruff format --check",
    told_by: "\"a.py:1:8: F401 [*] `os` imported but unused\", or \"F401 …\" above \"--> a.py:1:8\"",
    has_end: false,
    counting: "Each finding is an error, unless it tells another severity; those that --statistics counts, and files \
               that are not formatted or cannot be parsed, and errors that --diff would mend, too. The number in the \
               summary is compared, and counts what was cut away above it.",
    sniff,
    parse: |input| read::<Reader>(input, "ruff"),
};

fn sniff(head: &Head<'_>) -> Sniff {
    match teller(head) {
        Some(Teller::Ruff) if !is_of_another(head) => Sniff::Sure("findings as ruff prints them".into()),
        None if head
            .lines_of_both_ends()
            .any(|line| line == ALL_PASSED || unformatted(line).or_else(|| mendable(line)).is_some()) =>
        {
            Sniff::Maybe("a line with which ruff ends".into())
        }
        // Its findings were cut away.
        None if head.lines().any(is_summary) && head.lines_of_both_ends().any(is_fixable) => {
            Sniff::Maybe("a summary as ruff prints it".into())
        }
        _ => Sniff::No,
    }
}

/// How often a rule was broken, as `--statistics` tells, parted by tabs: `4 F401 [*] unused-import`; syntax errors have no code.
fn statistic(text: &str) -> Option<u64> {
    let (number, rest) = text.split_once('\t')?;
    let (rule, rest) = rest.split_once('\t')?;
    let is_one = is_rule(rule.trim_end()) || rule.trim_end().is_empty();
    number.trim_start().parse().ok().filter(|_| is_one && rest.starts_with('['))
}

/// How many files `ruff format --check` would change, as it says at its end: `2 files would be reformatted, 1 file already
/// formatted`, before version 0.1.10 `… left unchanged`.
fn unformatted(text: &str) -> Option<u64> {
    let of_part = |part: &str| {
        let (number, rest) = leading_in(part)?;
        let rest = rest.strip_prefix(" file")?;
        match rest.strip_prefix('s').unwrap_or(rest) {
            " would be reformatted" => Some(number),
            " already formatted" | " left unchanged" => Some(0),
            _ => None,
        }
    };
    // A number comes first in many a line of a log.
    leading_in(text).filter(|(_, rest)| rest.starts_with(" file"))?;
    text.split(", ").try_fold(0_u64, |sum, part| sum.checked_add(of_part(part)?))
}

/// How many errors `ruff check --diff` would mend, as it says at its end: `Would fix 3 errors (5 additional fixes available …).`
fn mendable(text: &str) -> Option<u64> {
    let (number, rest) = leading_in(text.strip_prefix("Would fix ")?)?;
    (rest.starts_with(" error") && rest.ends_with('.')).then_some(number)
}

/// A file that cannot be parsed: `error: Failed to parse a.py:1:12: Expected …`, `error: Failed to format a.py: …`.
fn unparsed(text: &str) -> Option<(&str, Option<u64>, &str)> {
    let rest = text.strip_prefix("error: Failed to ")?;
    let rest = ["parse ", "format ", "read "].iter().find_map(|verb| rest.strip_prefix(verb))?;
    let (path, line, message) = match placed(rest) {
        Some(place) => (place.path, place.line, place.rest),
        None => rest.split_once(": ").map(|(path, message)| (path, None, message))?,
    };
    PYTHON.iter().any(|end| path.ends_with(end)).then_some((path, line, message))
}

/// A file that `ruff format` cannot read: `a.py: io: stream did not contain valid UTF-8`.
fn unread(text: &str) -> Option<(&str, &str)> {
    let (path, message) = text.split_once(": io: ")?;
    PYTHON.iter().any(|end| path.ends_with(end)).then_some((path, message))
}

/// Most files that cannot be parsed and are remembered.
const MOST_UNPARSED: usize = 10_000;

/// What ruff says when it finds nothing, and ty.
pub(in crate::ingest) const ALL_PASSED: &str = "All checks passed!";

/// Who writes `path.py:1:8: F401 …`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ingest) enum Teller {
    Ruff,
    Flake8,
}

/// Which of the two it is, if any: their lines look alike, but ruff marks what it can fix, sums up, and begins its
/// messages in upper case or with a backtick.
pub(super) fn teller(head: &Head<'_>) -> Option<Teller> {
    let mut reader = Reader::default();
    let mut by_message = None;
    let mut is_alike = false;
    let mut is_summed_up = false;
    for line in head.lines() {
        let is_of_biome = reader.is_below_biome;
        reader.line(line.trim_end()).ok()?;
        is_summed_up |= (is_summary(line) && !is_of_biome) || is_fixable(line);
        let Some(told) = teller_of(line) else { continue };
        is_alike = true;
        by_message = by_message.or(told);
    }
    // Of a long report, of which the first lines do not tell the end.
    let has_end = || head.last_lines().any(|line| is_summary(line) || is_fixable(line));
    is_summed_up |= !head.last_lines().any(biome_text::checked) && has_end();
    match by_message {
        _ if reader.is_certain => Some(Teller::Ruff),
        _ if is_alike && is_summed_up => Some(Teller::Ruff),
        Some(teller) => Some(teller),
        None => is_alike.then_some(Teller::Flake8),
    }
}

/// What `ruff format --check` says above a place, since version 0.15; before that `Would reformat: a.py`.
const UNFORMATTED: &str = "unformatted: File would be reformatted";

/// Files that ruff checks, by their ends.
const PYTHON: [&str; 4] = [".py", ".pyi", ".ipynb", ".toml"];

/// Who writes a line, if one of the two does; the inner one is absent if it may be either.
pub(in crate::ingest) fn teller_of(line: &str) -> Option<Option<Teller>> {
    let place = placed(line).filter(|place| place.is_a(&["py", "pyi", "ipynb", "toml"]))?;
    let bracketed = || place.rest.strip_prefix('[')?.split_once("] ");
    let (code, message) = place.rest.split_once(' ').filter(|(code, _)| is_rule(code)).or_else(bracketed)?;
    // Pylint's own have a letter and four digits.
    let is_ours = is_rule(code) && !is_code(code, 1..=1, 4..=4);
    let is_marked = message.starts_with("[*] ") || message.starts_with("[ ] ");
    is_ours.then(|| if is_marked { Some(Teller::Ruff) } else { by_words(code, message) })
}

/// Who words a message so, for the rules that both have.
fn by_words(code: &str, message: &str) -> Option<Teller> {
    if !is_code(code, 1..=1, 3..=3) || !code.starts_with(['E', 'F', 'W']) || matches!(code, "E902" | "E999") {
        return None;
    }
    // ``F824 `global x` is unused: …`` and `E901 TokenError: …`, which ruff does not have.
    if matches!(code, "F824" | "E901") {
        return Some(Teller::Flake8);
    }
    match message.chars().next()? {
        '`' | 'A'..='Z' => Some(Teller::Ruff),
        '\'' | 'a'..='z' if !message.starts_with("f-string") => Some(Teller::Flake8),
        _ => None,
    }
}

/// `F401`, `PLR0911`, `ASYNC100`.
fn is_rule(text: &str) -> bool {
    is_code(text, 1..=6, 2..=4) && !is_rule_of_deptry(text)
}

/// `DEP002`, which deptry prints in the same manner.
pub(super) fn is_rule_of_deptry(code: &str) -> bool {
    code.strip_prefix("DEP").is_some_and(|number| is_code(number, 0..=0, 3..=3))
}

/// `Found 25 errors.`, `Found 2 errors (1 fixed, 1 remaining).`
/// `Found 7 errors.`, `Found 7 errors (3 fixed, 4 remaining).`
pub(in crate::ingest) fn is_summary(text: &str) -> bool {
    remaining(text).is_some()
}

fn remaining(text: &str) -> Option<u64> {
    let (number, rest) = found(text)?;
    if rest == "." {
        return Some(number);
    }
    let (_, remaining) = rest.strip_prefix(" (")?.strip_suffix(" remaining).")?.split_once(" fixed, ")?;
    remaining.parse().ok()
}

/// `[*] 7 fixable with the `--fix` option.`, `No fixes available (2 hidden fixes can be enabled …).`, below the summary.
pub(in crate::ingest) fn is_fixable(text: &str) -> bool {
    (text.starts_with("[*] ") && text.contains(" fixable with ")) || text.starts_with("No fixes available (")
}

/// Level, rule and message of what stands after a place, or above it.
struct Told<'a> {
    level: Level,
    rule: &'a str,
    message: &'a str,
    /// Nobody but ruff writes it so.
    is_certain: bool,
}

/// Names that ruff has instead of a code; nobody else has them.
fn is_own_name(rule: &str) -> bool {
    matches!(rule, "invalid-syntax" | "unformatted" | "io")
}

/// What stands behind a place; with the rule in brackets, as pylint would.
fn told_at_place(text: &str) -> Option<Told<'_>> {
    let pylint = text.strip_prefix('[').and_then(|rest| rest.split_once("] "));
    let bracketed = pylint.filter(|(code, _)| is_rule(code) || code.contains('-') || is_own_name(code));
    let bracketed =
        bracketed.map(|(rule, message)| Told { level: Level::Error, rule, message, is_certain: is_own_name(rule) });
    bracketed.or_else(|| told(text, false))
}

/// `is_row`: in a table, where a rule by name has no colon.
fn told(text: &str, is_row: bool) -> Option<Told<'_>> {
    let (first, rest) = text.split_once(' ').unwrap_or((text, ""));
    let rest = rest.trim_start();
    let unmarked = rest.strip_prefix("[*] ").or_else(|| rest.strip_prefix("[ ] "));
    let message = unmarked.unwrap_or(rest);
    let is_name =
        |name: &str| name.contains('-') && name.starts_with(|c: char| c.is_ascii_lowercase()) && is_dashed_name(name);
    if is_rule(first) {
        return Some(Told { level: Level::Error, rule: first, message, is_certain: unmarked.is_some() });
    }
    if text == UNFORMATTED {
        return Some(Told { level: Level::Error, rule: "unformatted", message, is_certain: true });
    }
    let severities =
        [("error[", Level::Error), ("warning[", Level::Warning), ("info[", Level::Note), ("help[", Level::Note)];
    for (severity, level) in severities {
        if let Some(rule) = first.strip_prefix(severity) {
            let rule = rule.strip_suffix(':').unwrap_or(rule).strip_suffix(']')?;
            // Where the rule has a name it is another's, ty's or zizmor's.
            let is_ours = is_rule(rule) && !is_code(rule, 1..=1, 4..=4);
            return is_ours.then_some(Told { level, rule, message, is_certain: true });
        }
    }
    let name = first.strip_suffix(':').or(Some(first).filter(|_| is_row))?;
    let is_ours = is_name(name) || matches!(name, "SyntaxError" | "io");
    is_ours.then_some(Told {
        level: Level::Error,
        rule: name,
        message,
        is_certain: is_own_name(name) || unmarked.is_some(),
    })
}

/// Finding and line of `   1:8  F401 [*] …`.
fn row_parts(text: &str) -> Option<(Told<'_>, Option<u64>)> {
    let (place, rest) = text.trim_start().split_once(' ')?;
    let (line, column) = place.split_once(':')?;
    let told = told(rest.trim_start(), true).filter(|_| is_number(line) && is_number(column))?;
    Some((told, line.parse().ok().filter(|line| *line > 0)))
}

/// A finding whose place follows.
struct Open {
    level: Level,
    rule: String,
    message: String,
}

/// Reads lines.
#[derive(Default)]
pub(in crate::ingest) struct Reader {
    tally: LintTally,
    open: Option<Open>,
    /// The file whose rows follow.
    group: Option<String>,
    total: u64,
    /// Files that are not formatted: of all runs, and since the formatter last summed up.
    files: u64,
    open_files: u64,
    said: Option<u64>,
    has_passed: bool,
    is_certain: bool,
    /// Biome's summary goes on: its number of errors is told like ruff's.
    is_below_biome: bool,
    /// Files that cannot be parsed, with line and message, as long as there is no finding for it.
    unparsed: BTreeMap<String, (Option<u64>, String)>,
}

impl Reader {
    /// Whether its summary tells as many findings as it told.
    pub(in crate::ingest) fn is_summed_up(&self) -> bool {
        let findings = self.total.saturating_sub(self.files);
        self.said.map_or(self.has_passed && findings == 0, |said| said == findings)
    }

    fn add(&mut self, told: &Told<'_>, path: &str, line: Option<u64>) -> Result<()> {
        if told.rule == "unformatted" {
            self.open_files += 1;
            self.files += 1;
        }
        if matches!(told.rule, "E999" | "SyntaxError" | "invalid-syntax") {
            self.unparsed.remove(path);
        }
        self.total += 1;
        let finding = finding("ruff", told.level, (Some(path), line), Some(told.rule), told.message);
        self.tally.finding(finding, Sort::Linter)
    }

    /// `   1:8  F401 [*] …` under the name of its file.
    fn row(&mut self, text: &str) -> Result<bool> {
        let Some(path) = self.group.clone() else { return Ok(false) };
        // A file that cannot be read has no place.
        let of_file = || text.strip_prefix("  io: ").and_then(|_| told(text.trim_start(), false));
        let Some((told, line)) = row_parts(text).or_else(|| Some((of_file()?, None))) else { return Ok(false) };
        self.is_certain = true;
        self.add(&told, &path, line)?;
        Ok(true)
    }

    /// `--> a.py:1:8` below its finding.
    fn arrow(&mut self, place: &str) -> Result<()> {
        let Some(open) = self.open.take() else { return Ok(()) };
        let mut parts = place.rsplitn(3, ':');
        let (column, line, path) = (parts.next(), parts.next(), parts.next());
        let (path, line) = match (column, line.map(str::parse), path) {
            (Some(_), Some(Ok(line)), Some(path)) => (path, Some(line).filter(|line| *line > 0)),
            _ => (place, None),
        };
        self.is_certain = true;
        let told = Told { level: open.level, rule: &open.rule, message: &open.message, is_certain: true };
        self.add(&told, path, line)
    }
}

impl TextReader for Reader {
    fn line(&mut self, text: &str) -> Result<()> {
        if let Some(place) = text.trim_start().strip_prefix("--> ") {
            return self.arrow(place);
        }
        let is_below_biome = std::mem::replace(&mut self.is_below_biome, biome_text::checked(text));
        // Numbers stand one below another, the shorter ones behind spaces.
        let statistic = statistic(text);
        if text.starts_with(' ') && statistic.is_none() {
            self.row(text)?;
            return Ok(());
        }
        self.open = None;
        if let Some(number) = statistic {
            self.is_certain = true;
            if text.contains("\tE999\t") || text.contains("\tinvalid-syntax") || text.ends_with(" invalid-syntax") {
                self.unparsed.clear();
            }
            self.total = add(self.total, number)?;
            return self.tally.count("ruff", Sort::Linter, Level::Error, number);
        }
        if let Some(path) = text.strip_prefix("Would reformat: ") {
            let told = Told { level: Level::Error, rule: "unformatted", message: "is not formatted", is_certain: true };
            self.is_certain = true;
            return self.add(&told, path, None);
        }
        if text.is_empty() {
            self.group = None;
            return Ok(());
        }
        if let Some((path, message)) = unread(text) {
            self.is_certain = true;
            return self.add(&Told { level: Level::Error, rule: "io", message, is_certain: true }, path, None);
        }
        if let Some((path, line, message)) = unparsed(text) {
            self.is_certain = true;
            if self.unparsed.len() < MOST_UNPARSED {
                self.unparsed.insert(path.to_owned(), (line, printable(message, 400)));
            }
            return Ok(());
        }
        if let Some(number) = mendable(text) {
            (self.has_passed, self.is_certain) = (true, true);
            return self.tally.count("ruff", Sort::Linter, Level::Error, number);
        }
        if let Some(place) = placed(text)
            && let Some(told) = told_at_place(place.rest)
        {
            self.is_certain |= told.is_certain;
            return self.add(&told, place.path, place.line);
        }
        if let Some(told) = told(text, false) {
            let (rule, message) = (told.rule.to_owned(), told.message.to_owned());
            self.open = Some(Open { level: told.level, rule, message });
        } else if let Some(path) = text.strip_suffix(':') {
            self.group = Some(path.to_owned());
        } else if let Some(said) = remaining(text).filter(|_| !is_below_biome) {
            self.said = Some(add(self.said.unwrap_or(0), said)?);
        } else if let Some(number) = unformatted(text) {
            self.has_passed = true;
            // With --diff the files are not listed.
            let listed = std::mem::take(&mut self.open_files);
            return self.tally.count("ruff", Sort::Linter, Level::Error, number.saturating_sub(listed));
        } else if text == ALL_PASSED {
            self.has_passed = true;
        }
        Ok(())
    }

    fn claim(&self, text: &str) -> Claim {
        let is_python =
            |place: &str| PYTHON.iter().any(|end| place.split(':').next().is_some_and(|path| path.ends_with(end)));
        // A severity and a rule by name above a place are other checkers' too.
        let is_code = || self.open.as_ref().is_some_and(|open| is_rule(&open.rule) || is_own_name(&open.rule));
        let is_arrow = || is_code() && text.trim_start().strip_prefix("--> ").is_some_and(is_python);
        let row = || text.starts_with(' ').then(|| row_parts(text)).flatten();
        match remaining(text) {
            _ if text == ALL_PASSED || unformatted(text).is_some() || mendable(text).is_some() => Claim::Last,
            _ if unparsed(text).is_some() || unread(text).is_some() => Claim::Ours,
            Some(said) if self.total > 0 || said == 0 => Claim::Last,
            Some(_) => Claim::Alike,
            None if is_arrow() || statistic(text).is_some() || text.starts_with("Would reformat: ") => Claim::Ours,
            None if self.group.is_some() && row().is_some() => Claim::Ours,
            None => match placed(text).and_then(|place| told_at_place(place.rest)) {
                Some(told) if told.is_certain => Claim::Ours,
                Some(_) => Claim::Alike,
                None => Claim::Other,
            },
        }
    }

    fn is_whole(&self, text: &str) -> bool {
        text == ALL_PASSED
            || is_summary(text)
            || unformatted(text).is_some()
            || mendable(text).is_some()
            || (is_fixable(text) && text.ends_with('.'))
    }

    fn tells_all(&self, text: &str) -> bool {
        teller_of(text).is_some()
    }

    fn finish(mut self) -> Result<Option<Parsed>> {
        for (path, (line, message)) in std::mem::take(&mut self.unparsed) {
            self.files += 1;
            self.total += 1;
            let finding = finding("ruff", Level::Error, (Some(&path), line), Some("invalid-syntax"), &message);
            self.tally.finding(finding, Sort::Linter)?;
        }
        if self.total == 0 && self.said.is_none() && !self.has_passed {
            return Ok(None);
        }
        finish_said(self.tally, &FORMAT, ("ruff", Sort::Linter), self.said, self.total - self.files).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::Details;
    use crate::ingest::input::Input;

    fn parsed(text: &str) -> Result<Parsed> {
        crate::ingest::parse(&Input::bytes("x", text.as_bytes()), Some(&FORMAT))
    }

    fn told_of(text: &str) -> Vec<(String, Option<u64>, String, Level, String)> {
        let Details::Lint(details) = parsed(text).unwrap().details else { panic!("lint") };
        let all = details.findings.into_iter();
        all.map(|f| (f.path.unwrap(), f.line, f.rule.unwrap_or_default(), f.level, f.message)).collect()
    }

    fn teller_of(text: &str) -> Option<Teller> {
        teller(&Head::read(&Input::bytes("x", text.as_bytes())).unwrap())
    }

    #[test]
    fn every_output_format_tells_the_same() {
        let concise = "a.py:1:8: F401 [*] `os` imported but unused\nb.py:3:1: invalid-syntax: Expected `)`\n";
        let older = "a.py:1:8: F401 [*] `os` imported but unused\n  |\n1 | import os\n  |        ^^ F401\n\nb.py:3:1: invalid-syntax: Expected `)`\n";
        let full = "F401 [*] `os` imported but unused\n --> a.py:1:8\n  |\n1 | import os\n  |        ^^\n  |\nhelp: Remove\n\n\
                    invalid-syntax: Expected `)`\n  --> b.py:3:1\n   |\n";
        let grouped = "a.py:\n  1:8 F401 [*] `os` imported but unused\n\nb.py:\n  3:1 invalid-syntax: Expected `)`\n";
        let pylint = "a.py:1: [F401] `os` imported but unused\nb.py:3: [invalid-syntax] Expected `)`\n";
        for text in [concise, older, full, grouped, pylint] {
            let all = told_of(&format!("{text}\nFound 2 errors.\n"));
            let expected = [
                ("a.py".to_owned(), Some(1), "F401".to_owned(), Level::Error, "`os` imported but unused".to_owned()),
                ("b.py".to_owned(), Some(3), "invalid-syntax".to_owned(), Level::Error, "Expected `)`".to_owned()),
            ];
            assert_eq!(all, expected, "{text}");
        }
        for rule in ["invalid-syntax", "unformatted"] {
            assert_eq!(told_of(&format!("a.py:3: [{rule}] x\n"))[0].2, rule, "alone it is no pylint");
        }
        let preview = "a.py:1:8: unused-import: [*] `os` imported\na.py:2:1: warning[F841] x\n";
        let all = told_of(preview);
        assert_eq!(all.iter().map(|f| f.3).collect::<Vec<_>>(), [Level::Error, Level::Warning]);
    }

    #[test]
    fn a_file_that_cannot_be_parsed_is_one_error() {
        let failed = "error: Failed to parse pkg/bad.py:1:12: Expected a parameter\n";
        let found = "pkg/bad.py:1:12: E999 SyntaxError: Unexpected token\nFound 1 error.\n";
        for text in
            [failed.to_owned(), format!("{failed}{found}"), format!("{failed}{failed}1 file already formatted\n")]
        {
            let all = told_of(&text);
            assert_eq!(
                all.iter().map(|one| (one.0.as_str(), one.1)).collect::<Vec<_>>(),
                [("pkg/bad.py", Some(1))],
                "{text}"
            );
        }
        let counted = parsed(&format!("{failed}1\tE999\t[ ] syntax-error\nFound 1 error.\n")).unwrap();
        assert_eq!(counted.figures.errors, Some(1));
        let both = "error: Failed to format b.py: source contains syntax errors: x\n1 file would be reformatted\n";
        assert_eq!(parsed(both).unwrap().figures.errors, Some(2));
        assert!(
            parsed("error: Failed to parse a.toml: x\n").is_ok() && parsed("error: Failed to parse x: y\n").is_err()
        );
        let mended = "--- a.py\n+++ a.py\n\nWould fix 3 errors (5 additional fixes available with `--unsafe-fixes`).\n";
        let mended = crate::ingest::parse(&Input::bytes("x", mended.as_bytes()), None).unwrap();
        assert_eq!((mended.format.name, mended.figures.errors), ("ruff-text", Some(3)));
    }

    #[test]
    fn statistics_and_the_formatter_count() {
        let statistics = "14\tF401\t[*] unused-import\n 2\t    \t[ ] invalid-syntax\nFound 16 errors.\n";
        let all = crate::ingest::parse(&Input::bytes("x", statistics.as_bytes()), None).unwrap();
        assert_eq!((all.figures.errors, all.declared.is_some(), all.warnings.len()), (Some(16), false, 1));
        let new = "unformatted: File would be reformatted\n  --> pkg/a.py:6:5\n   |\n6  + x\n\n1 file would be reformatted, 2 files already formatted\n";
        assert_eq!(told_of(new).first().map(|one| (one.0.as_str(), one.1)), Some(("pkg/a.py", Some(6))));
        assert_eq!(told_of("Would reformat: pkg/a.py\n1 file would be reformatted\n").len(), 1);
        assert_eq!(parsed("--- a.py\n+++ a.py\n\n2 files would be reformatted\n").unwrap().figures.errors, Some(2));
        let both = parsed(&format!("a.py:1:8: F401 [*] `os` imported\nFound 1 error.\n{new}")).unwrap();
        assert_eq!((both.figures.errors, both.declared), (Some(2), None));
        assert_eq!(parsed("3 files already formatted\n").unwrap().figures.total, Some(0));
        for (unread, line) in [
            ("io: no UTF-8\n--> a.py:1:1\n\n", Some(1)),
            ("a.py: io: no UTF-8\n", None),
            ("a.py:\n  io: no UTF-8\n\n", None),
            ("error: Failed to read a.py: no UTF-8\n", None),
        ] {
            let told = told_of(&format!("{unread}1 file already formatted\n"));
            assert_eq!(
                told.iter().map(|one| (one.0.as_str(), one.1)).collect::<Vec<_>>(),
                [("a.py", line)],
                "{unread}"
            );
        }
        assert_eq!(parsed("3 files formatted\n").unwrap_err().reject(), Some(Reject::NotThisFormat));
    }

    #[test]
    fn the_summary_is_compared_and_counts_where_rows_were_cut_away() {
        let one = "a.py:1:8: F401 [*] `os` imported but unused\n";
        assert_eq!(
            parsed(&format!("{one}Found 1 error.\n[*] 1 fixable with the `--fix` option.\n")).unwrap().declared,
            None
        );
        assert_eq!(parsed(&format!("{one}Found 4 errors (3 fixed, 1 remaining).\n")).unwrap().declared, None);
        for rows in [one, ""] {
            let parsed = parsed(&format!("{rows}Found 4 errors.\n")).unwrap();
            assert_eq!((parsed.figures.errors, parsed.declared, parsed.warnings.len()), (Some(4), None, 1));
        }
        assert_eq!(parsed("All checks passed!\n").unwrap().figures.total, Some(0));
        assert_eq!(parsed("Found 1 error (1 fixed, 0 remaining).\n").unwrap().figures.total, Some(0));
        assert_eq!(parsed(&format!("{one}a.py:2:1: F84")).unwrap_err().reject(), Some(Reject::Malformed));
        let open = parsed(&format!("{one}a.py:2:1: F841 Local variable `x` is assigned to but never used")).unwrap();
        assert_eq!((open.figures.errors, open.warnings.len()), (Some(2), 1));
        assert!(parsed(&format!("{one}Found 1 error.")).is_ok());
    }

    #[test]
    fn the_sum_of_biome_is_none_of_ruff() {
        let biome = "Checked 3 files in 5ms. No fixes applied.\nFound 23 errors.\n";
        let rows = "./a.py:1:1: F401 'os' imported but unused\n./a.py:1:10: E401 multiple imports on one line\n";
        assert_eq!(teller_of(&format!("{biome}{rows}")), Some(Teller::Flake8));
        assert_eq!(parsed("a.py:1:8: F401 [*] `os` imported\nFound 1 error.\n").unwrap().warnings, [""; 0]);
        let both = format!("a.py:1:8: F401 [*] `os` imported but unused\nFound 1 error.\n{biome}");
        assert_eq!(parsed(&both).unwrap().figures.errors, Some(1));
    }

    #[test]
    fn ruff_and_flake8_are_told_apart() {
        for (text, teller) in [
            ("a.py:1:8: F401 [*] `os` imported but unused\n", Some(Teller::Ruff)),
            ("a.py:1:8: F401 `os` imported but unused\n", Some(Teller::Ruff)),
            ("a.py:1:8: B006 Do not\nFound 1 error.\n", Some(Teller::Ruff)),
            ("a.py:1:1: E722 Do not use bare `except`\n", Some(Teller::Ruff)),
            ("a.py:1:1: E722 do not use bare 'except'\n", Some(Teller::Flake8)),
            ("a.py:1:1: F401 'os' imported but unused\n", Some(Teller::Flake8)),
            ("a.py:1: [F401] 'os' imported but unused\n", Some(Teller::Flake8)),
            ("a.py:1: [F401] `os` imported but unused\n", Some(Teller::Ruff)),
            ("a.py:1:1: D100 Missing docstring\n", Some(Teller::Flake8)),
            ("a.py:1:1: C0114: Missing docstring (x)\n", None),
            ("a.py:1: [C0114(x), ] Missing docstring\n", None),
            ("a.py:1:1: error: x  [y]\n", None),
            ("a.c:1:1: C99 x\n", None),
        ] {
            assert_eq!(teller_of(text), teller, "{text}");
        }
    }
}
