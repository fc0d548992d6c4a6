//! `phpcs-text`: what PHP_CodeSniffer prints, its reports `full`, `code` and `summary`.
//! <https://github.com/PHPCSStandards/PHP_CodeSniffer/wiki/Reporting>
//!
//! A file, what was found in it, and rows, over several lines where they are long; the report `code` has the code between
//! them, and `summary` has the numbers of each file and their sum. A file in which nothing is found is not named, and the
//! time at the end is missing where the report goes into a file: there is no end.

use super::LintTally;
use super::lines::{Claim, TextReader, counted, finding, is_of_another, read};
use crate::error::{Error, Reject, Result};
use crate::ingest::values::leading_in;
use crate::ingest::{CUT_HELP, Format, Head, Level, Parsed, Sniff, Sort, add};
use crate::model::figures::ReportKind;

/// PHP_CodeSniffer's output.
pub const FORMAT: Format = Format {
    name: "phpcs-text",
    kind: ReportKind::Lint,
    about: "terminal output of PHP_CodeSniffer",
    written_by: "phpcs (reports full, code, summary)",
    told_by: "\"FOUND 3 ERRORS AND 1 WARNING AFFECTING 2 LINES\" below \"FILE: …\", and rows \"3 | ERROR | …\" or \
              \"LINE 3: ERROR …\"; or \"A TOTAL OF 3 ERRORS AND 1 WARNING WERE FOUND IN 2 FILES\"",
    has_end: false,
    counting: "Rows by level: error, warning. A file with fewer rows than were found in it is cut. The sum of a \
               summary counts where there are no rows.",
    sniff,
    parse: |input| read::<Reader>(input, "PHP_CodeSniffer"),
};

fn sniff(head: &Head<'_>) -> Sniff {
    let has = |is_ours: fn(&str) -> bool| head.lines().any(|line| is_ours(line.trim_end()));
    let has_files = has(|line| line.starts_with("FILE: ")) && has(|line| said(line).is_some());
    match (has_files || has(|line| total(line).is_some())) && !is_of_another(head) {
        true => Sniff::Sure("files and what was found in them, as PHP_CodeSniffer prints them".into()),
        false => Sniff::No,
    }
}

/// Findings in `FOUND 3 ERRORS AND 1 WARNING AFFECTING 2 LINES`.
fn said(text: &str) -> Option<u64> {
    let (found, _) = text.strip_prefix("FOUND ")?.split_once(" AFFECTING ")?;
    let (errors, warnings) = errors_and_warnings(found)?;
    errors.checked_add(warnings)
}

/// Errors and warnings in `A TOTAL OF 3 ERRORS AND 1 WARNING WERE FOUND IN 2 FILES`.
fn total(text: &str) -> Option<(u64, u64)> {
    errors_and_warnings(text.strip_prefix("A TOTAL OF ")?.split_once(" WERE FOUND IN ")?.0)
}

fn errors_and_warnings(found: &str) -> Option<(u64, u64)> {
    // `ERROR(S)` before version 2.
    let found = found.to_ascii_lowercase().replace("(s)", "s");
    let (errors, warnings) = found.split_once(" and ").unwrap_or((&found, "0 warnings"));
    Some((counted(errors, "error")?, counted(warnings, "warning")?))
}

/// Line, level and message of ` 3 | ERROR   | [x] Line indented incorrectly`, or of `LINE 3: ERROR   [x] Line`.
fn row(text: &str) -> Option<(Option<u64>, Level, &str)> {
    let of_code = text.strip_prefix("LINE ");
    let (line, rest) = leading_in(of_code.unwrap_or(text).trim_start())?;
    let split = if of_code.is_some() {
        rest.strip_prefix(": ")?.split_once(' ')
    } else {
        rest.strip_prefix(" | ")?.split_once(" | ")
    };
    let (word, message) = split?;
    let level = match word.trim() {
        "ERROR" => Level::Error,
        "WARNING" => Level::Warning,
        _ => return None,
    };
    let message = message.trim_start();
    let fixable = message.strip_prefix("[x] ").or_else(|| message.strip_prefix("[ ] "));
    Some((Some(line).filter(|line| *line > 0), level, fixable.unwrap_or(message)))
}

/// Reads lines.
#[derive(Default)]
pub(in crate::ingest) struct Reader {
    tally: LintTally,
    file: String,
    is_met: bool,
    /// Rows of the file that are still to come.
    missing: u64,
    /// Errors and warnings of a summary.
    total: Option<(u64, u64)>,
}

impl Reader {
    fn check(&self) -> Result<()> {
        let why = format!("{} findings that PHP_CodeSniffer counts are not listed", self.missing);
        let cut = || Error::report(Reject::Malformed, why).help(CUT_HELP);
        if self.missing == 0 { Ok(()) } else { Err(cut()) }
    }
}

impl TextReader for Reader {
    fn line(&mut self, text: &str) -> Result<()> {
        if let Some(file) = text.strip_prefix("FILE: ") {
            self.check()?;
            self.file = file.to_owned();
        } else if let Some(said) = said(text) {
            (self.missing, self.is_met) = (said, true);
        } else if let Some((errors, warnings)) = total(text) {
            // Several runs may follow each other.
            let (before, below) = self.total.unwrap_or_default();
            self.total = Some((add(before, errors)?, add(below, warnings)?));
        } else if let Some((line, level, message)) = row(text).filter(|_| self.missing > 0) {
            self.missing -= 1;
            let finding = finding("phpcs", level, (Some(&self.file), line), None, message);
            self.tally.finding(finding, Sort::Linter)?;
        }
        Ok(())
    }

    fn claim(&self, text: &str) -> Claim {
        let is_row = self.missing > 0 && row(text).is_some();
        if said(text).is_some() || total(text).is_some() || is_row { Claim::Ours } else { Claim::Other }
    }

    fn is_whole(&self, text: &str) -> bool {
        self.missing == 0 && text.starts_with("Time: ")
    }

    fn finish(mut self) -> Result<Option<Parsed>> {
        self.check()?;
        if let Some((errors, warnings)) = self.total.filter(|_| !self.is_met) {
            self.is_met = true;
            self.tally.tool("phpcs", Sort::Linter);
            self.tally.count("phpcs", Sort::Linter, Level::Error, errors)?;
            self.tally.count("phpcs", Sort::Linter, Level::Warning, warnings)?;
        }
        self.is_met.then(|| self.tally.finish(&FORMAT)).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::Details;
    use crate::ingest::input::Input;

    const TEXT: &str = "\nFILE: /p/a.php\n-----\nFOUND 2 ERRORS AND 1 WARNING AFFECTING 2 LINES\n-----\n  1 | ERROR   | [x] Header blocks\n\
                        \x20   |         |     must be separated\n 12 | WARNING | Line exceeds 120 characters\n 12 | ERROR   | [ ] no | more\n\
                        -----\nPHPCBF CAN FIX THE 1 MARKED SNIFF VIOLATIONS AUTOMATICALLY\n-----\n\n\
                        FILE: /p/b.php\n-----\nFOUND 1 ERROR AFFECTING 1 LINE\n-----\n 3 | ERROR | x\n-----\n\nTime: 44ms; Memory: 6MB\n";

    fn parsed(text: &str) -> Result<Parsed> {
        crate::ingest::parse(&Input::bytes("x", text.as_bytes()), Some(&FORMAT))
    }

    #[test]
    fn rows_are_findings_of_the_file_above() {
        let parsed = parsed(TEXT).unwrap();
        assert_eq!((parsed.figures.errors, parsed.figures.warnings), (Some(3), Some(1)));
        let Details::Lint(details) = parsed.details else { panic!("lint") };
        let told: Vec<_> = details.findings.iter().map(|f| (f.path.as_deref().unwrap(), f.line, &*f.message)).collect();
        let expected = [
            ("/p/a.php", Some(1), "Header blocks"),
            ("/p/a.php", Some(12), "Line exceeds 120 characters"),
            ("/p/a.php", Some(12), "no | more"),
            ("/p/b.php", Some(3), "x"),
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn a_summary_counts_where_there_are_no_rows() {
        let summary = "FILE   ERRORS  WARNINGS\n-----\n/p/a.php  3  1\n-----\nA TOTAL OF 3 ERRORS AND 1 WARNING WERE FOUND IN 1 FILE\n-----\n";
        let counts = |text: &str| parsed(text).map(|parsed| (parsed.figures.errors, parsed.figures.warnings));
        assert_eq!(counts(summary).unwrap(), (Some(3), Some(1)));
        assert_eq!(counts(&format!("{TEXT}{summary}")).unwrap(), (Some(3), Some(1)));
        let old = summary.replace("3 ERRORS AND 1 WARNING", "3 ERROR(S) AND 1 WARNING(S)");
        assert_eq!(counts(&old).unwrap(), (Some(3), Some(1)));
    }

    #[test]
    fn rows_of_the_report_code_begin_with_their_line() {
        assert_eq!(row("LINE 12: WARNING [ ] Line exceeds it"), Some((Some(12), Level::Warning, "Line exceeds it")));
        assert_eq!(row("LINE 3: ERROR   Class x"), Some((Some(3), Level::Error, "Class x")));
        assert_eq!(row(">> 3:  class x"), None);
    }

    #[test]
    fn what_is_cut_or_foreign_is_rejected() {
        let lines: Vec<&str> = TEXT.split_inclusive('\n').collect();
        for cut in [4, 8, 16] {
            assert_eq!(parsed(&lines[..cut].concat()).unwrap_err().reject(), Some(Reject::Malformed), "{cut}");
        }
        assert_eq!(parsed("FOUND 3 OF 4\n 1 | ERROR | x\n").unwrap_err().reject(), Some(Reject::NotThisFormat));
    }
}
