//! `next-text`: what `next lint` and `next build` print of ESLint's findings, and of a type error.
//! <https://nextjs.org/docs/app/api-reference/config/eslint>
//!
//! Rows `5:34  Warning: message  rule` under the name of a file, and a note below all of them. A build tells one type error,
//! below its place, and nothing where it finds nothing.

use super::LintTally;
use super::lines::{Claim, TextReader, bare_place, finding, is_of_another, read};
use crate::error::{Error, Reject, Result};
use crate::ingest::{CUT_HELP, Format, Head, Level, Parsed, Sniff, Sort};
use crate::model::figures::ReportKind;

/// Next.js's output.
pub const FORMAT: Format = Format {
    name: "next-text",
    kind: ReportKind::Lint,
    about: "terminal output of Next.js: ESLint's findings, and a type error",
    written_by: "next lint, next build",
    told_by: "rows \"5:34  Warning: …  react-hooks/exhaustive-deps\", or \"✔ No ESLint warnings or errors\"",
    has_end: false,
    counting: "Rows by level, error or warning; without the note below them the report is cut. A type error is an error.",
    sniff,
    parse: |input| read::<Reader>(input, "Next.js"),
};

fn sniff(head: &Head<'_>) -> Sniff {
    let mut reader = Reader::default();
    let is_ours = head.lines().map(str::trim_end).any(|line| {
        let is_ours = reader.claim(line) != Claim::Other;
        reader.pass(line);
        is_ours
    });
    match is_ours && !is_of_another(head) {
        true => Sniff::Sure("lines of Next.js".into()),
        false => Sniff::No,
    }
}

/// What ends the rows.
const NOTE: &str = "info  - Need to disable some ESLint rules?";

/// `✔ No ESLint warnings or errors`; PowerShell garbles the sign.
fn is_clean(text: &str) -> bool {
    text.ends_with(" No ESLint warnings or errors")
}

struct Row<'a> {
    line: Option<u64>,
    level: Level,
    message: &'a str,
    rule: Option<&'a str>,
}

/// `5:34  Warning: message  rule`. The rule is missing where the file could not be parsed.
fn row(text: &str) -> Option<Row<'_>> {
    let (place, rest) = text.split_once("  ")?;
    let (line, column) = place.split_once(':')?;
    let (level, told) = match rest.split_once(": ")? {
        ("Error", told) => (Level::Error, told),
        ("Warning", told) => (Level::Warning, told),
        _ => return None,
    };
    column.parse::<u64>().ok()?;
    let split = told.rsplit_once("  ").filter(|(_, rule)| !rule.contains(' '));
    let (message, rule) = split.map_or((told, None), |(message, rule)| (message, Some(rule)));
    Some(Row { line: Some(line.parse().ok()?).filter(|line| *line > 0), level, message, rule })
}

/// Reads lines.
#[derive(Default)]
pub(in crate::ingest) struct Reader {
    tally: LintTally,
    /// The file whose rows follow.
    file: Option<String>,
    before: String,
    /// Rows since the last note.
    open_rows: u64,
}

impl Reader {
    fn row<'a>(&self, text: &'a str) -> Option<Row<'a>> {
        self.file.as_ref().and_then(|_| row(text))
    }

    /// Place and message of a type error, below `./app/page.tsx:12:5`.
    fn type_error<'a>(&'a self, text: &'a str) -> Option<((&'a str, Option<u64>), &'a str)> {
        let message = text.strip_prefix("Type error: ")?;
        let is_script = |path: &str| [".ts", ".tsx", ".mts", ".cts"].iter().any(|end| path.ends_with(end));
        let place = bare_place(&self.before).unwrap_or((&self.before, None));
        is_script(place.0).then_some((place, message))
    }

    /// Goes on to the next line.
    fn pass(&mut self, text: &str) {
        text.clone_into(&mut self.before);
        if text.starts_with("./") {
            self.file = Some(text.to_owned());
        } else if text.is_empty() {
            self.file = None;
        }
    }
}

impl TextReader for Reader {
    fn line(&mut self, text: &str) -> Result<()> {
        if let Some(Row { line, level, message, rule }) = self.row(text) {
            self.open_rows += 1;
            let finding = finding("eslint", level, (self.file.as_deref(), line), rule, message);
            self.tally.finding(finding, Sort::Linter)?;
        } else if let Some((place, message)) = self.type_error(text) {
            let finding = finding("tsc", Level::Error, (Some(place.0), place.1), None, message);
            self.tally.finding(finding, Sort::TypeChecker)?;
        } else if is_clean(text) {
            self.tally.tool("eslint", Sort::Linter);
        } else if text.starts_with(NOTE) {
            self.open_rows = 0;
        }
        self.pass(text);
        Ok(())
    }

    fn claim(&self, text: &str) -> Claim {
        if is_clean(text) || (self.open_rows > 0 && text.starts_with(NOTE)) {
            Claim::Last
        } else if self.row(text).is_some() || self.type_error(text).is_some() {
            Claim::Ours
        } else {
            Claim::Other
        }
    }

    fn is_whole(&self, text: &str) -> bool {
        is_clean(text) || (text.starts_with(NOTE) && text.ends_with("#disabling-rules"))
    }

    fn finish(self) -> Result<Option<Parsed>> {
        if self.open_rows > 0 {
            let why = "report ends before the note that Next.js prints below its findings";
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

    fn parsed(text: &str) -> Result<Parsed> {
        crate::ingest::parse(&Input::bytes("x", text.as_bytes()), Some(&FORMAT))
    }

    const ROWS: &str = "./app/page.tsx\n5:34  Warning: It's: two  blanks  a/b\n6:16  Error: Parsing error: no\n\n";

    #[test]
    fn rows_and_a_type_error_have_place_and_rule() {
        let error = "Failed to compile.\n\n./lib/a.ts:12:5\nType error: No.\n";
        let parsed = parsed(&format!("{ROWS}{NOTE} Learn more\n{error}")).unwrap();
        assert_eq!((parsed.figures.errors, parsed.figures.warnings), (Some(2), Some(1)));
        let Details::Lint(details) = parsed.details else { panic!("lint") };
        let told = details.findings.iter().map(|found| {
            (found.tool.as_str(), found.path.as_deref(), found.line, found.rule.as_deref(), found.message.as_str())
        });
        let page = Some("./app/page.tsx");
        let expected = [
            ("eslint", page, Some(5), Some("a/b"), "It's: two  blanks"),
            ("eslint", page, Some(6), None, "Parsing error: no"),
            ("tsc", Some("./lib/a.ts"), Some(12), None, "No."),
        ];
        assert_eq!(told.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_clean_run_is_zero_and_a_cut_or_foreign_one_refused() {
        for sign in ["✔", "Γ£ö"] {
            assert_eq!(parsed(&format!("{sign} No ESLint warnings or errors\n")).unwrap().figures.total, Some(0));
        }
        assert_eq!(parsed(ROWS).unwrap_err().reject(), Some(Reject::Malformed));
        for foreign in ["5:34  Warning: no file  a/b\n", "./a.md\nType error: x\n", "Error: x\n"] {
            assert_eq!(parsed(foreign).unwrap_err().reject(), Some(Reject::NotThisFormat), "{foreign}");
        }
    }
}
