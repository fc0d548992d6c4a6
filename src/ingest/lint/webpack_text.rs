//! `webpack-text`: the errors and warnings that webpack and Rspack print above their last line.
//! <https://webpack.js.org/configuration/stats/>
//!
//! `ERROR in ./src/a.js 3:5-10`, its message below it, and in the last line how many there are. What webpack 4 prints has no
//! such line, and is not read. The sizes of a build without errors are `bundle-text`'s.
//!
//! Of several compilers each has such a line below its name, and nothing tells how many there are.

use std::sync::LazyLock;

use memchr::memmem;

use super::LintTally;
use super::lines::{Claim, TextReader, bare_place, finding, is_of_another, read};
use crate::error::{Error, Reject, Result};
use crate::ingest::metric::bundle_text;
use crate::ingest::text::is_number;
use crate::ingest::values::leading_in;
use crate::ingest::{CUT_HELP, Finding, Format, Head, Level, Parsed, Sniff, Sort};
use crate::model::figures::ReportKind;

/// webpack's output.
pub const FORMAT: Format = Format {
    name: "webpack-text",
    kind: ReportKind::Lint,
    about: "terminal output of webpack and Rspack: errors and warnings",
    written_by: "webpack 5, Rspack",
    told_by: "\"ERROR in ./src/a.js 3:5-10\", or \"webpack 5.90.0 compiled with 1 error in 12 ms\"",
    has_end: false,
    counting: "As many as the last line says; of several compilers their sum. What ESLint and stylelint report through \
               webpack is theirs.",
    sniff,
    parse: |input| read::<Reader>(input, "webpack"),
};

fn sniff(head: &Head<'_>) -> Sniff {
    let has_end = || head.lines_of_both_ends().any(|line| counts(line.trim_end()).is_some());
    let has_entries = has_entries(head);
    let is_told = || has_entries || !head.lines().any(bundle_text::begins);
    match (has_end() && is_told(), has_entries) {
        (true, _) if !is_of_another(head) => Sniff::Sure("the last line of webpack".into()),
        (false, true) if !is_of_another(head) => Sniff::Maybe("an error or a warning as webpack prints it".into()),
        _ => Sniff::No,
    }
}

/// Whether an error or a warning stands in it.
pub(in crate::ingest) fn has_entries(head: &Head<'_>) -> bool {
    head.lines().any(|line| entry(line).is_some())
}

/// Level and place of `ERROR in ./src/a.js 3:5-10`; that of one of several compilers stands further in.
fn entry(text: &str) -> Option<(Level, &str)> {
    let text = text.strip_prefix("  ").unwrap_or(text);
    match text.strip_prefix("ERROR in ") {
        // R's RUnit.
        Some(place) if place.contains(": Error in ") => None,
        Some(place) => Some((Level::Error, place)),
        None => Some((Level::Warning, text.strip_prefix("WARNING in ")?)),
    }
}

/// The tool, and errors and warnings of `webpack 5.90.0 compiled with 1 error and 2 warnings in 12 ms`, with `errors-only`
/// without version and time; of one compiler of several `  client (webpack 5.90.0) compiled successfully in 12 ms`.
pub(in crate::ingest) fn counts(text: &str) -> Option<(&'static str, [u64; 2])> {
    // In these words, `split_at` finds no sign that is rare.
    static COMPILED: LazyLock<memmem::Finder<'static>> = LazyLock::new(|| memmem::Finder::new(" compiled "));
    let at = COMPILED.find(text.as_bytes())?;
    let (who, how) = (text.get(..at)?, text.get(at + " compiled ".len()..)?);
    let who = who.strip_suffix(')').unwrap_or(who);
    let is_version = |word: &str| word.split('.').count() == 3 && word.starts_with(|c: char| c.is_ascii_digit());
    let who = who.rsplit_once(' ').filter(|(_, last)| is_version(last)).map_or(who, |(name, _)| name);
    let (tool, before) = match who.strip_suffix("Rspack") {
        Some(before) => ("rspack", before),
        None => ("webpack", who.strip_suffix("webpack")?),
    };
    if !matches!(before.chars().next_back(), None | Some(' ' | '(')) {
        return None;
    }
    let is_end = |rest: &str| rest.is_empty() || rest.starts_with(" in ") || rest.starts_with(" (");
    if how.strip_prefix("successfully").is_some_and(is_end) {
        return Some((tool, [0, 0]));
    }
    let (mut counts, mut rest) = ([0, 0], how.strip_prefix("with ")?);
    loop {
        let (number, after) = leading_in(rest)?;
        let ([errors, warnings], words) = (&mut counts, after.strip_prefix(' ')?);
        let (slot, after) = match words.strip_prefix("error") {
            Some(after) => (errors, after),
            None => (warnings, words.strip_prefix("warning")?),
        };
        *slot = number;
        let after = after.strip_prefix('s').unwrap_or(after);
        match after.strip_prefix(" and ") {
            Some(next) => rest = next,
            None => return is_end(after).then_some((tool, counts)),
        }
    }
}

/// An error or a warning that has begun.
struct Open {
    level: Level,
    /// As it stands behind `ERROR in`.
    place: String,
    /// What stands below it, as far as the first line that tells.
    message: String,
    line: Option<u64>,
}

impl Open {
    /// The next line of it.
    fn line(&mut self, text: &str) {
        let text = text.trim();
        if let Some(place) = text.strip_prefix("[tsl] ").and_then(|text| text.strip_suffix(')')) {
            // ts-loader's `[tsl] ERROR in /app/src/a.ts(3,5)`.
            let numbers = place.rsplit_once('(').and_then(|(_, numbers)| numbers.split_once(','));
            self.line = numbers.and_then(|(line, _)| line.parse().ok());
            self.message.clear();
        } else if self.message.is_empty() {
            // Rspack's messages have a sign.
            text.strip_prefix("× ").unwrap_or(text).clone_into(&mut self.message);
        }
    }

    /// Its tool is told below it.
    fn finding(self) -> Finding {
        let Open { level, place, message, line } = self;
        let (path, place_line) = path_and_line(&place);
        let Some(path) = path else {
            // `asset size limit: The following …`; `configuration`, of which the next line tells.
            let message = if place.contains(": ") { place } else { format!("{place}: {message}") };
            return finding("", level, (None, None), None, &message);
        };
        let is_code = |code: &str| code.strip_prefix("TS").is_some_and(is_number);
        let told = message.split_once(": ").filter(|(code, _)| is_code(code));
        let (rule, message) = told.map_or((None, message.as_str()), |(code, message)| (Some(code), message));
        finding("", level, (Some(path), line.or(place_line)), rule, message)
    }
}

/// The file behind loaders, and its line: `./loader.js!./src/a.css 3:5-10`, `./src/a.ts:3:5`. No file: a part of the build.
fn path_and_line(place: &str) -> (Option<&str>, Option<u64>) {
    let place = place.rsplit('!').next().unwrap_or(place);
    let numbered =
        place.rsplit_once(' ').and_then(|(path, at)| Some((path, at.split_once(':')?.0.parse::<u64>().ok()?)));
    let (path, line) = match numbered {
        Some((path, line)) => (path, Some(line)),
        None => bare_place(place).unwrap_or((place, None)),
    };
    let is_file = path.contains(['/', '\\']) && !path.contains(": ");
    (is_file.then_some(path), line.filter(|line| *line > 0))
}

/// Reads lines.
#[derive(Default)]
pub(in crate::ingest) struct Reader {
    tally: LintTally,
    open: Option<Open>,
    /// Since the last line that counts them.
    entries: Vec<Finding>,
    /// Errors and warnings among them that linters report through webpack.
    of_linters: [u64; 2],
    /// One of several compilers has counted its own.
    is_of_several: bool,
    /// The line before may be the name of another one.
    is_named: bool,
    /// Another one has begun and has not counted yet.
    is_begun: bool,
}

/// Entries that are kept until they are counted.
const ENTRIES_HELD: usize = 10_000;

impl Reader {
    fn close(&mut self) {
        let Some(open) = self.open.take() else { return };
        if open.place.starts_with("[eslint]") || open.place.starts_with("[stylelint]") {
            let [errors, warnings] = &mut self.of_linters;
            let slot = if open.level == Level::Error { errors } else { warnings };
            *slot = slot.saturating_add(1);
        } else if self.entries.len() < ENTRIES_HELD {
            self.entries.push(open.finding());
        }
    }

    /// Counts what the last line tells of, by name as far as it was told.
    fn count(&mut self, tool: &str, counts: [u64; 2]) -> Result<()> {
        self.tally.tool(tool, Sort::Compiler);
        let of_linters = std::mem::take(&mut self.of_linters);
        let mut entries = std::mem::take(&mut self.entries);
        for ((level, said), others) in [Level::Error, Level::Warning].into_iter().zip(counts).zip(of_linters) {
            let mut left = said.saturating_sub(others);
            for entry in entries.extract_if(.., |entry| entry.level == level) {
                if left > 0 {
                    left -= 1;
                    self.tally.finding(Finding { tool: tool.to_owned(), ..entry }, Sort::Compiler)?;
                }
            }
            self.tally.count(tool, Sort::Compiler, level, left)?;
        }
        Ok(())
    }
}

impl TextReader for Reader {
    fn line(&mut self, text: &str) -> Result<()> {
        let is_inside = text.starts_with("  ");
        self.is_begun |= self.is_named && is_inside;
        self.is_named = self.is_of_several && !is_inside && text.ends_with(':');
        if let Some((level, place)) = entry(text) {
            self.close();
            self.open = Some(Open { level, place: place.trim_end().to_owned(), message: String::new(), line: None });
        } else if let Some((tool, counts)) = counts(text) {
            self.close();
            self.count(tool, counts)?;
            (self.is_of_several, self.is_begun) = (is_inside, false);
        } else if text.trim().is_empty() {
            self.close();
        } else if let Some(open) = &mut self.open {
            open.line(text);
        }
        Ok(())
    }

    fn claim(&self, text: &str) -> Claim {
        match counts(text) {
            // Other compilers follow.
            Some(_) if text.starts_with(' ') => Claim::Ours,
            Some(_) => Claim::Last,
            // What is told above counts only where it is counted below.
            None => Claim::Other,
        }
    }

    fn is_whole(&self, text: &str) -> bool {
        counts(text).is_some() && text.ends_with(" ms")
    }

    fn finish(mut self) -> Result<Option<Parsed>> {
        self.close();
        if !self.entries.is_empty() || self.of_linters != [0, 0] || self.is_begun {
            let why = "report ends before the line in which webpack counts its errors";
            return Err(Error::report(Reject::Malformed, why).help(CUT_HELP));
        }
        self.tally.finish_found(&FORMAT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::Details;
    use crate::ingest::input::Input;

    fn told(text: &str) -> Vec<Finding> {
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), Some(&FORMAT)).unwrap();
        let Details::Lint(lint) = parsed.details else { panic!("lint") };
        lint.findings
    }

    #[test]
    fn a_compiler_of_several_that_has_begun_has_to_count() {
        let read = |text: &str| crate::ingest::parse(&Input::bytes("x", text.as_bytes()), Some(&FORMAT));
        let first = "client:\n  asset a.js 3 bytes\n  client (webpack 5.90.0) compiled with 1 error in 12 ms\n";
        let begun = format!("{first}\nserver:\n  asset b.js 3 bytes\n");
        assert_eq!(read(&begun).unwrap_err().reject(), Some(Reject::Malformed));
        let both = format!("{begun}  server (webpack 5.90.0) compiled with 2 errors in 12 ms\nsee:\nhttps://x\n");
        assert_eq!((read(first).unwrap().figures.errors, read(&both).unwrap().figures.errors), (Some(1), Some(3)));
        let alone =
            "ERROR in ./a.js\nno\nEntrypoints:\n  main (3 KiB)\nwebpack 5.90.0 compiled with 1 error in 12 ms\n";
        assert_eq!(read(&format!("{alone}Files:\n  a.js\n")).unwrap().figures.errors, Some(1));
    }

    #[test]
    fn the_last_line_counts() {
        for (text, expected) in [
            ("webpack 5.90.0 compiled with 1 error in 12 ms", Some([1, 0])),
            ("webpack 5.90.0 compiled with 2 errors and 1 warning in 12 ms", Some([2, 1])),
            ("webpack compiled with 3 warnings", Some([0, 3])),
            ("webpack 5.90.0 compiled successfully in 12 ms", Some([0, 0])),
            ("  client (webpack 5.90.0) compiled with 1 error in 12 ms", Some([1, 0])),
            ("2026-11-25 03:22:37: webpack 5.112.2 compiled with 2 errors in 205 ms (bcbc8a47)", Some([2, 0])),
            ("Rspack compiled with 2 errors in 24 ms", Some([2, 0])),
            ("webpack 5.90.0 compiled with 1 error and ", None),
            ("webpack 5.90.0 compiled with 1 problem", None),
            ("a.webpack compiled successfully", None),
            ("rustc 1.90.0 compiled successfully in 12 ms", None),
        ] {
            assert_eq!(counts(text).map(|(_, counts)| counts), expected, "{text}");
        }
    }

    #[test]
    fn findings_have_place_rule_and_message() {
        let text = "ERROR in ./style.js!./src/a.css 3:5-10\nModule build failed: no\n  at x\n\n\
            ERROR in /app/src/a.ts\n./src/a.ts 2:6-7\n[tsl] ERROR in /app/src/a.ts(2,7)\n      TS2322: Type 'string'.\n\n\
            ERROR in ./src/b.ts:4:1\nTS2304: Cannot find name 'y'.\n\n\
            WARNING in asset size limit: The following asset(s) are large.\nThis can impact\n\n\
            WARNING in configuration\nThe 'mode' option has not been set.\n\n\
            webpack 5.90.0 compiled with 3 errors and 2 warnings in 12 ms\n";
        let finding = |level, path, line, rule, message| finding("webpack", level, (path, line), rule, message);
        assert_eq!(
            told(text),
            [
                finding(Level::Error, Some("./src/a.css"), Some(3), None, "Module build failed: no"),
                finding(Level::Error, Some("/app/src/a.ts"), Some(2), Some("TS2322"), "Type 'string'."),
                finding(Level::Error, Some("./src/b.ts"), Some(4), Some("TS2304"), "Cannot find name 'y'."),
                finding(Level::Warning, None, None, None, "asset size limit: The following asset(s) are large."),
                finding(Level::Warning, None, None, None, "configuration: The 'mode' option has not been set."),
            ]
        );
    }

    #[test]
    fn what_linters_report_is_theirs_and_what_is_not_told_is_counted() {
        let linted = "ERROR in [eslint] \n/app/a.js\n  1:1  error  No  no-x\n\nERROR in ./a.js 1:1\nNo\n\n";
        assert_eq!(told(&format!("{linted}webpack compiled with 2 errors\n")).len(), 1);
        let parsed = |text: &str| crate::ingest::parse(&Input::bytes("x", text.as_bytes()), Some(&FORMAT));
        assert_eq!(parsed("webpack 5.90.0 compiled with 7 errors in 2 ms\n").unwrap().figures.errors, Some(7));
        assert!(parsed("ERROR in ./a.js 1:1\nNo\n\n").is_err());
        let two = "  ERROR in ./a.js 1:1\n  No\n\n  a (webpack 5.90.0) compiled with 1 error in 2 ms\n\n";
        assert_eq!(parsed(&two.repeat(2)).unwrap().figures.errors, Some(2));
    }
}
