//! `mypy-text`: what mypy prints.
//!
//! Written after mypy's command line reference: `path:line: level: message  [code]`, with columns and ends of ranges if
//! asked for; with `--pretty` the message goes on over several lines and the source follows, indented. The summary may be
//! switched off, so that the report has no sure end.

use super::LintTally;
use super::brief_checkers::is_of_lizard;
use super::lines::{
    Claim, PYTHON, TextReader, bracketed, finding, finish_said, found, is_of_another, is_path, is_python, join, placed,
    read,
};
use super::pyright_text::CYCLE;
use crate::error::Result;
use crate::ingest::text::split_at;
use crate::ingest::{Format, Head, Level, Parsed, Sniff, Sort};
use crate::model::figures::ReportKind;

/// mypy's output.
pub const FORMAT: Format = Format {
    name: "mypy-text",
    kind: ReportKind::Lint,
    about: "terminal output of mypy",
    written_by: "mypy, dmypy",
    told_by: "\"book.py:48: error: …\", \"Found 1 error in 1 file\", or \"Success: no issues found in 3 source files\"",
    has_end: false,
    counting: "Lines with a file and a level: error, warning, note. The number in the summary is compared, and counts \
               what was cut away above it.",
    sniff,
    parse: |input| read::<Reader>(input, "mypy"),
};

fn sniff(head: &Head<'_>) -> Sniff {
    let has_usage = head.lines().any(|line| is_usage(line, false));
    let is_of_python =
        |line: &str| diagnostic(line).is_some_and(|found| found.is_python && (found.line.is_some() || !has_usage));
    let Some(line) = head.lines_of_both_ends().find(|line| is_of_python(line) || is_summary(line)) else {
        return Sniff::No;
    };
    if is_of_another(head) {
        return Sniff::No;
    }
    let why = if is_summary(line) { "mypy's summary" } else { "an error, warning or note in a Python file" };
    Sniff::Sure(why.into())
}

/// A line that begins a finding.
struct Diagnostic<'a> {
    path: &'a str,
    line: Option<u64>,
    level: Level,
    message: &'a str,
    is_python: bool,
}

fn diagnostic(text: &str) -> Option<Diagnostic<'_>> {
    if let Some(place) = placed(text) {
        let (level, message) = level_of(place.rest).filter(|(_, message)| !is_of_lizard(message))?;
        return Some(Diagnostic { path: place.path, line: place.line, level, message, is_python: place.is_a(&PYTHON) });
    }
    // `nofile.py: error: Cannot read file`, `log.py: note: In member "filter" of class "F":`.
    let (path, rest) = split_at(text, ": ")?;
    let (level, message) = level_of(rest).filter(|(_, message)| *message != CYCLE)?;
    (is_python(path) && is_path(path)).then_some(Diagnostic { path, line: None, level, message, is_python: true })
}

/// `usage: shop.py [options]`, and what goes on below it: under that, argparse names the program and what is wrong with its
/// arguments as mypy would a file.
fn is_usage(text: &str, is_below: bool) -> bool {
    text.strip_prefix("ERROR: ").unwrap_or(text).starts_with("usage: ") || (is_below && text.starts_with(' '))
}

fn level_of(text: &str) -> Option<(Level, &str)> {
    let levels = [("error:", Level::Error), ("warning:", Level::Warning), ("note:", Level::Note)];
    levels.iter().find_map(|(name, level)| {
        let message = text.strip_prefix(name)?;
        (message.is_empty() || message.starts_with(' ')).then(|| (*level, message.trim_start()))
    })
}

/// `Found 1 error in 1 file (checked 4 source files)`, `Success: no issues found in 1 source file`.
fn is_summary(text: &str) -> bool {
    errors_found(text).is_some() || is_success(text)
}

fn is_success(text: &str) -> bool {
    let rest = text.strip_prefix("Success: no issues found in ");
    rest.is_some_and(|rest| rest.ends_with(" source file") || rest.ends_with(" source files"))
}

fn errors_found(text: &str) -> Option<u64> {
    let (number, rest) = found(text)?;
    let is_ours = rest.starts_with(" in ") && (rest.contains(" (checked ") || rest.contains(" (errors prevented "));
    (is_ours && rest.ends_with(')')).then_some(number)
}

/// A finding whose message may go on.
struct Open {
    path: String,
    line: Option<u64>,
    level: Level,
    message: String,
}

/// Reads lines.
#[derive(Default)]
pub(in crate::ingest) struct Reader {
    tally: LintTally,
    open: Option<Open>,
    total: u64,
    errors: u64,
    /// Errors as the summaries count them.
    said: Option<u64>,
    is_success: bool,
    /// The last line was of a program's usage.
    in_usage: bool,
}

impl Reader {
    fn diagnostic<'a>(&self, text: &'a str) -> Option<Diagnostic<'a>> {
        diagnostic(text).filter(|found| found.line.is_some() || !self.in_usage)
    }

    fn close(&mut self) -> Result<()> {
        let Some(open) = self.open.take() else { return Ok(()) };
        let (message, rule) = match bracketed(open.message.trim_end(), '[', ']') {
            Some((message, rule)) => (message, Some(rule)),
            None => (open.message.as_str(), None),
        };
        self.total += 1;
        self.errors += u64::from(open.level == Level::Error);
        let finding = finding("mypy", open.level, (Some(&open.path), open.line), rule, message);
        self.tally.finding(finding, Sort::TypeChecker)
    }
}

impl TextReader for Reader {
    fn line(&mut self, text: &str) -> Result<()> {
        let found = self.diagnostic(text);
        self.in_usage = is_usage(text, self.in_usage);
        if let Some(found) = found {
            self.close()?;
            let (path, message) = (found.path.to_owned(), found.message.to_owned());
            self.open = Some(Open { path, line: found.line, level: found.level, message });
        } else if let Some(said) = errors_found(text) {
            self.close()?;
            self.said = Some(crate::ingest::add(self.said.unwrap_or(0), said)?);
        } else if is_success(text) {
            self.close()?;
            self.is_success = true;
        } else if text.is_empty() || text.starts_with(char::is_whitespace) {
            // The source, and what else is not the message's.
            self.close()?;
        } else if let Some(open) = &mut self.open {
            join(&mut open.message, text);
        }
        Ok(())
    }

    fn claim(&self, text: &str) -> Claim {
        match self.diagnostic(text) {
            _ if is_summary(text) => Claim::Last,
            Some(found) if found.is_python => Claim::Ours,
            Some(_) => Claim::Alike,
            None => Claim::Other,
        }
    }

    fn is_whole(&self, text: &str) -> bool {
        let has_code = || diagnostic(text).is_some_and(|found| bracketed(found.message, '[', ']').is_some());
        is_summary(text) || has_code()
    }

    fn tells_all(&self, text: &str) -> bool {
        placed(text).is_some() && self.diagnostic(text).is_some()
    }

    fn finish(mut self) -> Result<Option<Parsed>> {
        self.close()?;
        if self.total == 0 && self.said.is_none() && !self.is_success {
            return Ok(None);
        }
        finish_said(self.tally, &FORMAT, ("mypy", Sort::TypeChecker), self.said, self.errors).map(Some)
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

    fn told(text: &str) -> Vec<(Option<u64>, Level, String, String)> {
        let Details::Lint(details) = parsed(text).unwrap().details else { panic!("lint") };
        let rule = |rule: Option<String>| rule.unwrap_or_default();
        details.findings.into_iter().map(|f| (f.line, f.level, rule(f.rule), f.message)).collect()
    }

    #[test]
    fn plain_and_pretty_messages_are_read_whole() {
        let plain =
            "a.py:4:1:5:2: error: Missing type arguments for generic type \"list\"  [type-arg]\na.py:5: note: See x\n";
        let pretty = "a.py:4:1: error: Missing type arguments for generic type \"list\" \n[type-arg]\n    x: list\n       ^~~~\n\
                      a.py:5: note: See\nx\n    y\nFound 1 error in 1 file (checked 4 source files)\n";
        for text in [plain, pretty] {
            let expected = [
                (
                    Some(4),
                    Level::Error,
                    "type-arg".to_owned(),
                    "Missing type arguments for generic type \"list\"".to_owned(),
                ),
                (Some(5), Level::Note, String::new(), "See x".to_owned()),
            ];
            assert_eq!(told(text), expected, "{text}");
        }
        assert_eq!(told("no.py: error: Cannot read file\n").len(), 1);
        assert_eq!(told("Success: no issues found in 1 source file\n"), []);
    }

    #[test]
    fn the_summary_is_compared_and_counts_where_rows_were_cut_away() {
        let one = "a.py:1: error: e  [x]\n";
        assert_eq!(parsed(&format!("{one}Found 1 error in 1 file (checked 1 source file)\n")).unwrap().declared, None);
        for rows in [one, "", "a.py:1: note: n\n"] {
            let parsed = parsed(&format!("{rows}Found 3 errors in 1 file (checked 1 source file)\n")).unwrap();
            assert_eq!((parsed.figures.errors, parsed.declared, parsed.warnings.len()), (Some(3), None, 1), "{rows}");
        }
        let two = parsed(&format!("{one}{one}Found 1 error in 1 file (checked 1 source file)\n")).unwrap();
        assert_eq!((two.figures.errors, two.declared.and_then(|said| said.errors)), (Some(2), Some(1)));
        assert_eq!(parsed("Found 3 errors.\n").unwrap_err().reject(), Some(Reject::NotThisFormat));
    }

    #[test]
    fn arguments_of_a_program_that_are_wrong_are_no_finding() {
        let usage = "usage: shop.py [-h]\n               [--foo]\nshop.py: error: unrecognized arguments: --bar\n";
        for text in [usage.to_owned(), format!("ERROR: {usage}")] {
            assert_eq!(parsed(&text).unwrap_err().reject(), Some(Reject::NotThisFormat));
        }
        assert_eq!(told(&format!("{usage}no.py: error: Cannot read file\n")).len(), 1);
    }

    #[test]
    fn a_cut_line_is_refused_unless_it_is_whole() {
        let before = "a.py:1: error: e  [x]\n";
        for cut in ["a.py:2: err", "a.py", "Found 3 err", "    x = "] {
            assert_eq!(parsed(&format!("{before}{cut}")).unwrap_err().reject(), Some(Reject::Malformed), "{cut}");
        }
        assert!(parsed(&format!("{before}Found 1 error in 1 file (checked 1 source file)")).is_ok());
        let open = parsed(&format!("{before}a.py:2: error: Missing return statement")).unwrap();
        assert_eq!((open.figures.errors, open.warnings.len()), (Some(2), 1));
    }
}
