//! `phpstan-text`: the tables that PHPStan prints, its format `table`. <https://phpstan.org/user-guide/output-format>
//!
//! A table for each file, its path in the head, a row for each error. A message goes on in rows without a line number; tips
//! and the error's identifier stand below it, behind a picture. Errors of no file have a table without line numbers, in which
//! only the sum at the end tells how many there are.

use super::LintTally;
use super::lines::{Claim, TextReader, finding, finish_said, is_of_another, join, read};
use crate::error::{Error, Reject, Result};
use crate::ingest::{CUT_HELP, Format, Head, Level, Parsed, Sniff, Sort, add};
use crate::model::figures::ReportKind;

/// PHPStan's output.
pub const FORMAT: Format = Format {
    name: "phpstan-text",
    kind: ReportKind::Lint,
    about: "terminal output of PHPStan",
    written_by: "phpstan analyse (format table)",
    told_by: "tables headed by \"Line\" and a file, or \"[OK] No errors\"",
    has_end: true,
    counting: "Rows with a line number, and errors of no file as far as the sum tells of more: all errors. The sum \
               counts what was cut away above it. Without the sum at its end the report is cut.",
    sniff,
    parse: |input| read::<Reader>(input, "PHPStan"),
};

fn sniff(head: &Head<'_>) -> Sniff {
    let mut is_ruled = false;
    let found = head.lines().map(str::trim_end).any(|line| {
        let is_head = is_ruled && table(line).is_some();
        is_ruled = is_rule(line);
        is_head || line == CLEAN
    });
    match found && !is_of_another(head) {
        true => Sniff::Sure("tables as PHPStan prints them".into()),
        false => Sniff::No,
    }
}

/// What is printed where nothing was found.
const CLEAN: &str = " [OK] No errors";

/// ` ------ ---------------`.
fn is_rule(text: &str) -> bool {
    text.starts_with(" --") && text.bytes().all(|byte| matches!(byte, b' ' | b'-'))
}

/// The file of the head `  Line   src/Cart.php`; the head `     Error` has none.
fn table(text: &str) -> Option<Option<&str>> {
    let file = text.trim_start().strip_prefix("Line  ").map(str::trim_start);
    let file = file.map(|file| file.split_once(" (in context of ").map_or(file, |(file, _)| file));
    (file.is_some() || text.trim_start() == "Error").then_some(file)
}

/// Line and message of `  12     Method has no return type.`
fn row(text: &str) -> Option<(u64, &str)> {
    let (line, message) = text.trim_start().split_once("  ")?;
    Some((line.strip_prefix(':').unwrap_or(line).parse().ok()?, message.trim_start()))
}

/// The sum in ` [ERROR] Found 3 errors`.
fn said(text: &str) -> Option<u64> {
    let (number, word) = text.strip_prefix(" [ERROR] Found ")?.split_once(' ')?;
    number.parse().ok().filter(|_| matches!(word, "error" | "errors"))
}

/// Where in a table a line stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Part {
    #[default]
    Outside,
    Head,
    Rows,
}

/// Reads lines.
#[derive(Default)]
pub(in crate::ingest) struct Reader {
    tally: LintTally,
    part: Part,
    is_ruled: bool,
    file: Option<String>,
    open: Option<Open>,
    /// Rows of errors of no file.
    others: Vec<String>,
    listed: u64,
    said: Option<u64>,
}

/// An error whose lines go on.
struct Open {
    line: u64,
    message: String,
    /// PHPStan's identifier.
    rule: Option<String>,
    /// Its message is over: below it stand identifier, tips and a link.
    is_told: bool,
}

/// Rows of errors of no file that are kept.
const OTHERS_KEPT: usize = 1000;

impl Reader {
    fn close(&mut self) -> Result<()> {
        let Some(Open { line, message, rule, .. }) = self.open.take() else { return Ok(()) };
        self.listed += 1;
        let place = (self.file.as_deref(), Some(line).filter(|line| *line > 0));
        self.tally.finding(finding("phpstan", Level::Error, place, rule.as_deref(), &message), Sort::Linter)
    }

    fn in_rows(&mut self, text: &str) -> Result<()> {
        if self.file.is_none() {
            if self.others.len() < OTHERS_KEPT {
                self.others.push(text.trim_start().to_owned());
            }
        } else if let Some((line, message)) = row(text) {
            self.close()?;
            self.open = Some(Open { line, message: message.to_owned(), rule: None, is_told: false });
        } else if let Some(open) = &mut self.open {
            let text = text.trim();
            if let Some(rule) = text.strip_prefix('🪪') {
                open.rule = Some(rule.trim_start().to_owned());
            }
            open.is_told |= ['🪪', '💡', '✏'].iter().any(|mark| text.starts_with(*mark));
            if !open.is_told {
                join(&mut open.message, text);
            }
        }
        Ok(())
    }
}

impl TextReader for Reader {
    fn line(&mut self, text: &str) -> Result<()> {
        let was_ruled = std::mem::replace(&mut self.is_ruled, is_rule(text));
        if self.is_ruled {
            self.close()?;
            self.part = if self.part == Part::Head { Part::Rows } else { Part::Outside };
        } else if let Some(file) = table(text).filter(|_| was_ruled && self.part == Part::Outside) {
            (self.part, self.file) = (Part::Head, file.map(str::to_owned));
        } else if self.part == Part::Rows {
            self.in_rows(text)?;
        } else if text == CLEAN {
            self.said = Some(0);
        } else {
            self.said = said(text).or(self.said);
        }
        Ok(())
    }

    fn claim(&self, text: &str) -> Claim {
        let is_head = self.is_ruled && self.part == Part::Outside && table(text).is_some();
        let is_met = self.listed > 0 || !self.others.is_empty();
        let is_sum = text == CLEAN || (is_met && said(text).is_some());
        match is_sum {
            true => Claim::Last,
            false if is_head || (self.part == Part::Rows && !is_rule(text)) => Claim::Ours,
            false => Claim::Other,
        }
    }

    fn is_whole(&self, text: &str) -> bool {
        self.part == Part::Outside && (text == CLEAN || said(text).is_some())
    }

    fn finish(mut self) -> Result<Option<Parsed>> {
        let is_met = self.listed > 0 || self.part != Part::Outside || !self.others.is_empty();
        let Some(said) = self.said.filter(|_| self.part == Part::Outside) else {
            let cut = || Error::report(Reject::Malformed, "report ends before PHPStan's sum").help(CUT_HELP);
            return if is_met { Err(cut()) } else { Ok(None) };
        };
        let unlisted = usize::try_from(said.saturating_sub(self.listed)).unwrap_or(usize::MAX);
        for message in self.others.iter().take(unlisted) {
            self.tally.finding(finding("phpstan", Level::Error, (None, None), None, message), Sort::Linter)?;
        }
        self.tally.tool("phpstan", Sort::Linter);
        let listed = self.tally.sums()?.into_iter().try_fold(0, add)?;
        finish_said(self.tally, &FORMAT, ("phpstan", Sort::Linter), Some(said), listed).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::Details;
    use crate::ingest::input::Input;

    const TABLE: &str =
        " ------ ---------------\n  Line   src/Cart.php (in context of class App\\Cart)\n ------ ---------------\n";
    const OTHERS: &str =
        " -- -------\n     Error\n -- -------\n     Ignored error pattern #x# was\n     not matched.\n -- -------\n\n";
    const RULE: &str = " ------ ---------------\n\n";

    fn parsed(text: &str) -> Result<Parsed> {
        crate::ingest::parse(&Input::bytes("x", text.as_bytes()), Some(&FORMAT))
    }

    #[test]
    fn rows_have_file_line_and_all_of_their_message() {
        let rows =
            "  12     Method has no\n         return type.\n         🪪  missingType.return\n  :14    Undefined: $x\n";
        let parsed = parsed(&format!("{TABLE}{rows}{RULE}{OTHERS} [ERROR] Found 3 errors\n")).unwrap();
        assert_eq!((parsed.figures.errors, parsed.figures.total), (Some(3), Some(3)));
        let Details::Lint(details) = parsed.details else { panic!("lint") };
        let first = details.findings.first().unwrap();
        let told = (first.path.as_deref(), first.line, first.rule.as_deref(), first.message.as_str());
        assert_eq!(told, (Some("src/Cart.php"), Some(12), Some("missingType.return"), "Method has no return type."));
        assert_eq!(details.findings.get(1).unwrap().line, Some(14));
        assert_eq!(details.findings.get(2).unwrap().path, None);
    }

    #[test]
    fn a_clean_run_is_zero_and_a_cut_one_refused() {
        assert_eq!(parsed("\n [OK] No errors\n\n").unwrap().figures.total, Some(0));
        let row = "  12     Message\n";
        for cut in [format!("{TABLE}{row}"), format!("{TABLE}{row}{RULE}"), format!("{TABLE}{row}{RULE} [ERROR] Fou")] {
            assert_eq!(parsed(&cut).unwrap_err().reject(), Some(Reject::Malformed), "{cut}");
        }
        let alone = parsed(" [ERROR] Found 2 errors\n").unwrap();
        assert_eq!((alone.figures.errors, alone.warnings.len()), (Some(2), 1));
        assert_eq!(parsed("all well\n").unwrap_err().reject(), Some(Reject::NotThisFormat));
    }
}
