//! `oxlint-text`: what oxlint prints, its format `default`. <https://oxc.rs/docs/guide/usage/linter/output-formats.html>
//!
//! `  ! eslint(no-debugger): …` with a sign for the level, `,-[path:line:column]` below it, and at the end, one before the
//! other or the other way round, `Found 7 warnings and 1 error.` and `Finished in 26ms on 3 files with 96 rules …`.

use super::LintTally;
use super::github_text::annotation;
use super::lines::{Claim, TextReader, check_summary, counted, finding, is_of_another, read};
use crate::error::{Error, Reject, Result};
use crate::ingest::{CUT_HELP, Format, Head, Level, Parsed, Sniff, Sort, add};
use crate::model::figures::ReportKind;

/// oxlint's output.
pub const FORMAT: Format = Format {
    name: "oxlint-text",
    kind: ReportKind::Lint,
    about: "terminal output of oxlint",
    written_by: "oxlint",
    told_by: "\"Found 7 warnings and 1 error.\" beside \"Finished in 26ms on 3 files with 96 rules …\"",
    has_end: true,
    counting: "Diagnostics by their sign: × is an error, ⚠ a warning. The numbers in the summary are only compared; without a \
               summary the report is cut.",
    sniff,
    parse: |input| read::<Reader>(input, "oxlint"),
};

fn sniff(head: &Head<'_>) -> Sniff {
    let any = |is: fn(&str) -> bool| head.lines().chain(head.last_lines()).any(|line| is(line.trim_end()));
    // Its reporter `github` has the same summary.
    if is_of_another(head) || any(is_annotation) {
        return Sniff::No;
    }
    if any(|line| summary(line).is_some()) && any(finished) {
        return Sniff::Sure("a summary as oxlint prints it".into());
    }
    match any(|line| sign(line).is_some()) && any(|line| place(line).is_some()) {
        true => Sniff::Maybe("diagnostics as oxlint prints them".into()),
        false => Sniff::No,
    }
}

fn is_annotation(line: &str) -> bool {
    annotation(line).is_some_and(|found| found.path.is_some())
}

const TOOL: &str = "oxlint";

/// Level and message of a diagnostic's first line; with and without Unicode.
fn sign(text: &str) -> Option<(Level, &str)> {
    let signs = [("×", Level::Error), ("x", Level::Error), ("⚠", Level::Warning), ("!", Level::Warning)];
    let (sign, message) = text.strip_prefix("  ")?.split_once(' ')?;
    signs.iter().find(|(other, _)| *other == sign).map(|(_, level)| (*level, message))
}

/// Path and line of `   ,-[src/a.js:4:27]`.
fn place(text: &str) -> Option<(&str, Option<u64>)> {
    let told = text.trim_start();
    let place = told.strip_prefix(",-[").or_else(|| told.strip_prefix("╭─["))?.strip_suffix(']')?;
    let mut parts = place.rsplitn(3, ':');
    let (_, line, path) = (parts.next()?, parts.next()?, parts.next()?);
    Some((path, line.parse().ok()))
}

/// Errors and warnings of `Found 7 warnings and 1 error.`
fn summary(text: &str) -> Option<(u64, u64)> {
    let (warnings, errors) = text.strip_prefix("Found ")?.strip_suffix('.')?.split_once(" and ")?;
    Some((counted(errors, "error")?, counted(warnings, "warning")?))
}

/// `Finished in 26ms on 3 files with 96 rules using 2 threads.`
fn finished(text: &str) -> bool {
    text.starts_with("Finished in ") && text.contains(" on ") && text.contains(" rules using ")
}

/// Reads lines.
#[derive(Default)]
pub(in crate::ingest) struct Reader {
    tally: LintTally,
    /// Level and message of a diagnostic whose place may follow.
    open: Option<(Level, String)>,
    /// Diagnostics since the last summary.
    open_rows: u64,
    declared: Option<(u64, u64)>,
}

impl Reader {
    /// The place of the diagnostic above. Other tools have lines like its first one, but no place below it.
    fn close(&mut self, (path, line): (&str, Option<u64>)) -> Result<()> {
        let Some((level, message)) = self.open.take() else { return Ok(()) };
        self.open_rows += 1;
        let split = message.split_once(": ").filter(|(rule, _)| rule.ends_with(')') && !rule.contains(' '));
        let (rule, message) = split.map_or((None, message.as_str()), |(rule, message)| (Some(rule), message));
        self.tally.finding(finding(TOOL, level, (Some(path), line), rule, message), Sort::Linter)
    }
}

impl TextReader for Reader {
    fn line(&mut self, text: &str) -> Result<()> {
        if let Some((errors, warnings)) = summary(text) {
            let (before, below) = self.declared.unwrap_or_default();
            self.declared = Some((add(before, errors)?, add(below, warnings)?));
            self.open_rows = 0;
        } else if let Some((level, message)) = sign(text) {
            self.open = Some((level, message.to_owned()));
        } else if let Some(place) = place(text) {
            self.close(place)?;
        }
        Ok(())
    }

    fn claim(&self, text: &str) -> Claim {
        if summary(text).is_some() { Claim::Last } else { Claim::Other }
    }

    fn is_whole(&self, text: &str) -> bool {
        summary(text).is_some() || finished(text)
    }

    fn finish(mut self) -> Result<Option<Parsed>> {
        let Some((errors, warnings)) = self.declared.filter(|_| self.open_rows == 0) else {
            let why = "report ends before the summary of oxlint";
            return match self.open_rows {
                0 => Ok(None),
                _ => Err(Error::report(Reject::Malformed, why).help(CUT_HELP)),
            };
        };
        self.tally.tool(TOOL, Sort::Linter);
        let mut parsed = self.tally.finish(&FORMAT)?;
        check_summary("oxlint", (errors, warnings), &mut parsed)?;
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

    const ROWS: &str = "
  x Unexpected token
   ,-[src/my app.js:1:7]
 1 | const = 3;
   `----

  ⚠ eslint(no-debugger): `debugger` statement is not allowed
   ╭─[b.ts:5:1]
  help: Remove it
";

    #[test]
    fn diagnostics_have_place_and_rule_wherever_the_summary_stands() {
        let (found, finished) =
            ("Found 1 warning and 1 error.\n", "Finished in 2ms on 2 files with 97 rules using 2 threads.\n");
        for end in [format!("{found}{finished}"), format!("{finished}{found}")] {
            let text = format!("{ROWS}\n{end}");
            assert!(matches!(sniff(&Head::read(&Input::bytes("x", text.as_bytes())).unwrap()), Sniff::Sure(_)));
            let parsed = parsed(&text).unwrap();
            assert_eq!((parsed.figures.errors, parsed.figures.warnings, parsed.warnings.len()), (Some(1), Some(1), 0));
            let Details::Lint(details) = parsed.details else { panic!("lint") };
            let told: Vec<_> = details
                .findings
                .iter()
                .map(|found| (found.path.as_deref(), found.line, found.rule.as_deref(), found.message.as_str()))
                .collect();
            let expected = [
                (Some("src/my app.js"), Some(1), None, "Unexpected token"),
                (Some("b.ts"), Some(5), Some("eslint(no-debugger)"), "`debugger` statement is not allowed"),
            ];
            assert_eq!(told, expected);
        }
    }

    #[test]
    fn a_clean_run_is_zero_and_a_cut_one_is_none() {
        let biome = format!("  × no place below it\n{ROWS}Found 1 warning and 1 error.\n");
        assert_eq!(parsed(&biome).unwrap().warnings, [""; 0]);
        assert_eq!(parsed("Found 0 warnings and 0 errors.\n").unwrap().figures.total, Some(0));
        assert_eq!(parsed(ROWS).unwrap_err().reject(), Some(Reject::Malformed));
        let alone = parsed("Found 3 warnings and 0 errors.\n").unwrap_err();
        assert_eq!(alone.reject(), Some(Reject::NoResult));
    }
}
