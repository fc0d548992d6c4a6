//! `ty-text`: what ty prints. <https://docs.astral.sh/ty/reference/cli/>
//!
//! Headings with a place and a piece of source below them, or with `--output-format concise` one line each; then how many
//! there are. Where it finds nothing it says what ruff says, so that it is read as ruff's if the format is not given.

use super::LintTally;
use super::annotated::{Heading, Open, heading, place_below};
use super::brief_advisories::ast_grep;
use super::lines::{Claim, TextReader, check_listed, counted, is_claimed, placed, read};
use super::ruff_text::ALL_PASSED;
use crate::error::{Error, Reject, Result};
use crate::ingest::{CUT_HELP, Format, Head, Parsed, Sniff, Sort, add};
use crate::model::figures::{Figures, ReportKind};

/// ty's output.
pub const FORMAT: Format = Format {
    name: "ty-text",
    kind: ReportKind::Lint,
    about: "terminal output of ty",
    written_by: "ty check",
    told_by: "\"error[invalid-assignment]: …\" above \"--> b.py:3:10\", and \"Found 3 diagnostics\"",
    has_end: true,
    counting: "Diagnostics by level: error and fatal, warning; info is a note. The number in the last line is only \
               compared; without it the report is cut. A clean run says what ruff says, and is taken for ruff's unless \
               the format is given.",
    sniff,
    parse: |input| read::<Reader>(input, "ty"),
};

fn sniff(head: &Head<'_>) -> Sniff {
    if is_claimed::<Reader>(head) { Sniff::Sure("diagnostics as ty prints them".into()) } else { Sniff::No }
}

/// `Found 3 diagnostics`.
fn summary(text: &str) -> Option<u64> {
    counted(text.strip_prefix("Found ")?, "diagnostic")
}

/// Whether ty checks it, or is configured by it.
fn is_checked(path: &str) -> bool {
    [".py", ".pyi", ".ipynb", "pyproject.toml", "ty.toml"].iter().any(|end| path.ends_with(end))
}

/// `b.py:3:10: error[invalid-assignment] message`.
fn concise(text: &str) -> Option<(&str, Option<u64>, Heading<'_>)> {
    let place = placed(text).filter(|place| is_checked(place.path) && ast_grep(place).is_none())?;
    Some((place.path, place.line, heading(place.rest)?))
}

/// Reads lines.
#[derive(Default)]
pub(in crate::ingest) struct Reader {
    tally: LintTally,
    /// A heading without a place yet. Of few there is none: a file that cannot be read.
    open: Option<Open>,
    total: u64,
    /// Diagnostics since the last summary.
    listed: u64,
    said: Option<u64>,
}

impl Reader {
    fn add(&mut self, open: &Open, place: (Option<&str>, Option<u64>)) -> Result<()> {
        self.listed += 1;
        self.total += 1;
        self.tally.finding(open.finding("ty", place), Sort::TypeChecker)
    }
}

impl TextReader for Reader {
    fn line(&mut self, text: &str) -> Result<()> {
        if let Some(open) = self.open.take() {
            if let Some((path, line)) = place_below(text) {
                return self.add(&open, (Some(path), line));
            }
            // Other tools' headings are like these, and something else follows.
            if text.is_empty() || summary(text).is_some() || concise(text).is_some() || heading(text).is_some() {
                self.add(&open, (None, None))?;
            }
        }
        if let Some((path, line, heading)) = concise(text) {
            return self.add(&Open::new(&heading), (Some(path), line));
        }
        self.open = heading(text).map(|heading| Open::new(&heading));
        if let Some(said) = summary(text).or_else(|| (text == ALL_PASSED).then_some(0)) {
            (self.said, self.listed) = (Some(add(self.said.unwrap_or(0), said)?), 0);
        }
        Ok(())
    }

    fn claim(&self, text: &str) -> Claim {
        if summary(text).is_some() {
            return if self.listed > 0 || self.open.is_some() { Claim::Last } else { Claim::Alike };
        }
        let is_placed = || self.open.is_some() && place_below(text).is_some_and(|(path, _)| is_checked(path));
        if is_placed() || concise(text).is_some() { Claim::Ours } else { Claim::Other }
    }

    fn is_whole(&self, text: &str) -> bool {
        summary(text).is_some() || text == ALL_PASSED
    }

    fn finish(mut self) -> Result<Option<Parsed>> {
        if self.listed > 0 || self.open.is_some() {
            return Err(Error::report(Reject::Malformed, "report ends before ty's last line").help(CUT_HELP));
        }
        let Some(said) = self.said else { return Ok(None) };
        check_listed("ty", said, self.total)?;
        self.tally.tool("ty", Sort::TypeChecker);
        let mut parsed = self.tally.finish(&FORMAT)?;
        parsed.declared = Some(said)
            .filter(|said| *said != self.total)
            .map(|said| Figures { total: Some(said), ..Figures::default() });
        Ok(Some(parsed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::input::Input;
    use crate::ingest::{Details, Level};

    fn parsed(text: &str) -> Result<Parsed> {
        crate::ingest::parse(&Input::bytes("x", text.as_bytes()), Some(&FORMAT))
    }

    const FULL: &str = "error[invalid-assignment]: Object of type `str`\n --> b.py:3:10\n  |\n3 | x: int = \"s\"\n  |    ---   ^^^\n  |\n\
                        info: declared here\n --> c.py:1:1\n\ninfo[revealed-type]: Revealed type\n --> b.py:4:1\n\n\
                        error[io]: `n.py`: No such file or directory (os error 2)\n\n";
    const CONCISE: &str = "b.py:3:10: error[invalid-assignment] Object of type `str`\nb.py:4:1: info[revealed-type] Revealed type\n\
                           error[io] `n.py`: No such file or directory (os error 2)\n";

    #[test]
    fn both_forms_tell_the_same() {
        for text in [FULL, CONCISE] {
            let parsed = parsed(&format!("{text}Found 3 diagnostics\n")).unwrap();
            assert!(parsed.declared.is_none(), "{text}");
            let Details::Lint(details) = parsed.details else { panic!("lint") };
            let all = details.findings.iter();
            let told: Vec<_> = all.map(|f| (f.rule.as_deref(), f.path.as_deref(), f.line, f.level)).collect();
            let expected = [
                (Some("invalid-assignment"), Some("b.py"), Some(3), Level::Error),
                (Some("revealed-type"), Some("b.py"), Some(4), Level::Note),
                (Some("io"), None, None, Level::Error),
            ];
            assert_eq!(told, expected, "{text}");
            assert_eq!(details.by_tool.get("ty").map(|tool| tool.sort), Some(Sort::TypeChecker));
        }
    }

    #[test]
    fn the_last_line_is_compared_and_never_alone() {
        assert_eq!(parsed(&format!("{CONCISE}Found 4 diagnostics\n")).unwrap().declared.unwrap().total, Some(4));
        assert_eq!(parsed("Found 1 diagnostic\n").unwrap_err().reject(), Some(Reject::NoResult));
        assert_eq!(parsed("All checks passed!\n").unwrap().figures.total, Some(0));
        for end in ["", "Found 3", "Found 3 diag"] {
            assert_eq!(parsed(&format!("{FULL}{end}")).unwrap_err().reject(), Some(Reject::Malformed), "{end}");
        }
        assert_eq!(parsed("all well\n").unwrap_err().reject(), Some(Reject::NotThisFormat));
        // cargo-deny's is above a place of another form.
        let other = "error[unmaintained]: x is unmaintained\n  ┌─ Cargo.lock:1:1\n\n";
        assert_eq!(parsed(other).unwrap_err().reject(), Some(Reject::NotThisFormat));
    }
}
