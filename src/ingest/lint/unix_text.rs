//! `unix-text`: one finding a line, as ESLint's formatters `unix`, `compact` and `visualstudio` write it and many linters
//! after them.
//! <https://www.npmjs.com/package/eslint-formatter-unix>, <https://www.npmjs.com/package/eslint-formatter-compact>

use super::LintTally;
use super::lines::{Claim, TextReader, bracketed, finding, is_of_another, is_path, placed, read};
use crate::error::Result;
use crate::ingest::text::split_at;
use crate::ingest::values::leading_in;
use crate::ingest::{Format, Head, Level, Parsed, Sniff, Sort};
use crate::model::figures::ReportKind;

/// One finding a line.
pub const FORMAT: Format = Format {
    name: "unix-text",
    kind: ReportKind::Lint,
    about: "findings as ESLint's formatters unix and compact write them",
    written_by: "eslint, oxlint, stylelint, htmlhint, textlint, csslint, secretlint, xo -f unix, compact or visualstudio",
    told_by: "\"a.js:2:5: … [Error/no-undef]\", \"a.js: line 2, col 5, Error - … (no-undef)\", or \
              \"a.js(2,5): error no-undef : …\"",
    has_end: false,
    counting: "Findings by level; which tool wrote them is not told.",
    sniff,
    parse: |input| read::<Reader>(input, "ESLint's formatters unix and compact"),
};

fn sniff(head: &Head<'_>) -> Sniff {
    match head.lines().any(|line| told(line.trim_end()).is_some()) && !is_of_another(head) {
        true => Sniff::Sure("findings as ESLint's one-line formatters write them".into()),
        false => Sniff::No,
    }
}

pub(super) struct Told<'a> {
    path: &'a str,
    line: Option<u64>,
    level: Level,
    rule: Option<&'a str>,
    message: &'a str,
}

fn told(text: &str) -> Option<Told<'_>> {
    compact(text).or_else(|| unix(text)).or_else(|| visualstudio(text))
}

/// `path:2:5: message [Error/rule]`; stylelint's has the rule before: `message (rule) [error]`.
fn unix(text: &str) -> Option<Told<'_>> {
    let place = placed(text).filter(|place| place.has_column)?;
    let (message, told) = bracketed(place.rest, '[', ']').or_else(|| of_preset(place.rest))?;
    let (level, rule) = told.split_once('/').map_or((told, None), |(level, rule)| (level, Some(rule)));
    let before = || bracketed(message, '(', ')').filter(|_| rule.is_none());
    let (message, rule) = before().map_or((message, rule), |(message, rule)| (message, Some(rule)));
    Some(Told { path: place.path, line: place.line, level: level_of(level)?, rule, message })
}

/// secretlint names the preset of a rule, too: `message [Error/preset > rule]`.
fn of_preset(text: &str) -> Option<(&str, &str)> {
    text.strip_suffix(']')?.rsplit_once(" [").filter(|(_, told)| told.contains(" > "))
}

/// `path: line 2, col 5, Error - message (rule)`.
fn compact(text: &str) -> Option<Told<'_>> {
    let (path, rest) = split_at(text, ": line ").filter(|(path, _)| is_path(path))?;
    let (line, rest) = rest.split_once(", col ")?;
    let (column, rest) = rest.split_once(", ")?;
    let (level, message) = rest.split_once(" - ")?;
    column.parse::<u64>().ok()?;
    let split = bracketed(message, '(', ')');
    let (message, rule) = split.map_or((message, None), |(message, rule)| (message, Some(rule)));
    let line = Some(line.parse().ok()?).filter(|line| *line > 0);
    Some(Told { path, line, level: level_of(level)?, rule, message })
}

/// `path(2,5): error rule : message`, as ESLint's formatter visualstudio writes it; without a rule where the file could not be
/// parsed.
pub(super) fn visualstudio(text: &str) -> Option<Told<'_>> {
    let (place, rest) = split_at(text, "): ")?;
    let (path, numbers) = place.rsplit_once('(').filter(|(path, _)| is_path(path))?;
    let (line, column) = numbers.split_once(',')?;
    let (level, (rule, message)) =
        rest.split_once(' ').and_then(|(level, rest)| Some((level, rest.split_once(": ")?)))?;
    column.parse::<u64>().ok()?;
    let rule = match rule.strip_suffix(' ') {
        Some(rule) if !rule.is_empty() && !rule.contains(' ') => Some(rule),
        None if rule.is_empty() && message.starts_with("Parsing error") => None,
        _ => return None,
    };
    Some(Told { path, line: Some(line.parse().ok()?).filter(|line| *line > 0), level: level_of(level)?, rule, message })
}

fn level_of(word: &str) -> Option<Level> {
    match word {
        "Error" | "error" => Some(Level::Error),
        "Warning" | "warning" => Some(Level::Warning),
        "Info" | "info" => Some(Level::Note),
        _ => None,
    }
}

/// Reads lines.
#[derive(Default)]
pub(in crate::ingest) struct Reader {
    tally: LintTally,
    is_met: bool,
}

impl TextReader for Reader {
    fn line(&mut self, text: &str) -> Result<()> {
        let Some(Told { path, line, level, rule, message }) = told(text) else { return Ok(()) };
        self.is_met = true;
        self.tally.finding(finding("lint", level, (Some(path), line), rule, message), Sort::Linter)
    }

    fn claim(&self, text: &str) -> Claim {
        if told(text).is_some() { Claim::Ours } else { Claim::Other }
    }

    fn other(&mut self, _: &str) -> Result<()> {
        Ok(())
    }

    /// stylelint ends the last line of its formatter compact only since version 15: with its rule it is whole.
    fn is_whole(&self, text: &str) -> bool {
        // With which formatters end.
        if leading_in(text).is_some_and(|(_, rest)| matches!(rest, " problem" | " problems")) {
            return true;
        }
        let is_rule = |rule: &str| rule.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-/@".contains(&byte));
        compact(text).and_then(|told| told.rule).is_some_and(is_rule)
    }

    fn finish(self) -> Result<Option<Parsed>> {
        self.is_met.then(|| self.tally.finish(&FORMAT)).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::Details;
    use crate::ingest::input::Input;

    #[test]
    fn a_last_line_with_its_rule_is_whole() {
        for (line, is_whole) in [
            ("/a.css: line 2, col 40, error - Unexpected unit (length-zero-no-unit)", true),
            ("/a.css: line 2, col 40, error - Unexpected unit (two words)", false),
            ("/a.css: line 2, col 40, error - Unexpected", false),
            ("/a.js:2:40: no [Error/semi]", false),
            ("22 problems", true),
            ("22 problem", true),
            ("22 prob", false),
        ] {
            assert_eq!(Reader::default().is_whole(line), is_whole, "{line}");
        }
    }

    #[test]
    fn each_writer_s_lines_have_place_level_and_rule() {
        let text = "\
/p/a.js:2:5: 'x [y]' is never used. [Error/no-unused-vars]
a.js:1:7: Parsing error: Unexpected token = [Error]
b.ts:2:10: Function 'g' is never used. [Warning/eslint(no-unused-vars)]
c.css:1:5: Unexpected duplicate \"color\" (declaration-block-no-duplicate-properties) [warning]
c.css: line 3, col 11, Error - Unexpected token '1pxx' at line 3, col 11. (errors)
a.js: line 1, col 7, Error - Parsing error: Unexpected token =
/p/a.js(2,5): warning no-var : Unexpected var: use let.
/p/a.js(1,7): error : Parsing error: Unexpected token =

8 problems
";
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), Some(&FORMAT)).unwrap();
        assert_eq!((parsed.figures.errors, parsed.figures.warnings), (Some(5), Some(3)));
        let Details::Lint(details) = parsed.details else { panic!("lint") };
        let found = &details.findings;
        let told: Vec<_> = found.iter().map(|f| (f.path.as_deref().unwrap(), f.line, f.rule.as_deref())).collect();
        let expected = [
            ("/p/a.js", Some(2), Some("no-unused-vars")),
            ("a.js", Some(1), None),
            ("b.ts", Some(2), Some("eslint(no-unused-vars)")),
            ("c.css", Some(1), Some("declaration-block-no-duplicate-properties")),
            ("c.css", Some(3), Some("errors")),
            ("a.js", Some(1), None),
            ("/p/a.js", Some(2), Some("no-var")),
            ("/p/a.js", Some(1), None),
        ];
        assert_eq!(told, expected);
        assert_eq!(found[4].message, "Unexpected token '1pxx' at line 3, col 11.");
    }

    #[test]
    fn what_others_write_is_not_taken() {
        for other in [
            "a.py:3:5: error: no  [name-defined]",
            "a.c:3:5: error: x [-Werror=format]",
            "a.yaml:1:1: [error] too many spaces (colons)",
            "a.js:2:5: no column rule [Fatal/x]",
            "a.js: line 2, col x, Error - m (r)",
            "a.js:2: message [error]",
            "a.cs(2,5): error CS0103: message",
            "a.targets(9,5): warning : message",
            "a.ts(2,5): error TS2322: message",
        ] {
            assert!(told(other).is_none(), "{other}");
        }
    }
}
