//! `flake8-text`: what flake8 and pycodestyle print.
//!
//! Written after flake8's formatters: `path:line:column: E302 message`, and `path:line: [E302] message` with
//! `--format=pylint`; source below a line (`--show-source`), counts at the end (`--count`, `--statistics`) are no findings.
//! It prints nothing where it finds nothing, and has no end.

use super::LintTally;
use super::lines::{Claim, Placed, TextReader, finding, is_code, is_of_another, placed, read};
use super::ruff_text::{Teller, is_rule_of_deptry, teller};
use crate::error::Result;
use crate::ingest::{Format, Head, Level, Parsed, Sniff, Sort};
use crate::model::figures::ReportKind;

/// flake8's output.
pub const FORMAT: Format = Format {
    name: "flake8-text",
    kind: ReportKind::Lint,
    about: "terminal output of flake8",
    written_by: "flake8, pycodestyle",
    told_by: "\"a.py:3:1: E302 expected 2 blank lines\", \"a.py:3: [E302] …\"",
    has_end: false,
    counting: "Lines with a place and a code: E and F are errors, all others warnings.",
    sniff,
    parse: |input| read::<Reader>(input, "flake8"),
};

fn sniff(head: &Head<'_>) -> Sniff {
    if teller(head) == Some(Teller::Flake8) && !is_of_another(head) {
        return Sniff::Sure("a line with a place in a Python file and a code".into());
    }
    Sniff::No
}

/// Code and message after a place.
fn coded<'a>(place: &Placed<'a>) -> Option<(&'a str, &'a str)> {
    let bracketed = place.rest.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let (code, message) = bracketed.or_else(|| place.rest.split_once(' '))?;
    // A letter and four digits is pylint's.
    let is_ours = is_code(code, 1..=6, 1..=4) && !is_code(code, 1..=1, 4..=4) && !is_rule_of_deptry(code);
    is_ours.then(|| (code, message.trim_start()))
}

/// Reads lines.
#[derive(Default)]
pub(in crate::ingest) struct Reader {
    tally: LintTally,
}

impl TextReader for Reader {
    fn line(&mut self, text: &str) -> Result<()> {
        let Some(place) = placed(text) else { return Ok(()) };
        let Some((code, message)) = coded(&place) else { return Ok(()) };
        let level = if code.starts_with(['E', 'F']) { Level::Error } else { Level::Warning };
        let finding = finding("flake8", level, (Some(place.path), place.line), Some(code), message);
        self.tally.finding(finding, Sort::Linter)
    }

    /// Where a message ends, nobody can tell, but for the one that is measured: `(144 > 100 characters)`.
    fn claim(&self, text: &str) -> Claim {
        match super::ruff_text::teller_of(text) {
            Some(Some(Teller::Flake8)) => Claim::Ours,
            Some(_) => Claim::Alike,
            None => Claim::Other,
        }
    }

    fn is_whole(&self, text: &str) -> bool {
        placed(text).and_then(|place| coded(&place)).is_some() && text.ends_with(" characters)")
    }

    fn tells_all(&self, text: &str) -> bool {
        placed(text).and_then(|place| coded(&place)).is_some()
    }

    fn finish(self) -> Result<Option<Parsed>> {
        self.tally.finish_found(&FORMAT)
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

    #[test]
    fn both_formats_are_read_and_the_rest_is_not() {
        let text = "\
a.py:1:1: F401 'os' imported but unused
import os
^
a.py:0:1: E902 FileNotFoundError: no
b.py:7: [W605] invalid escape
b.py:8:1: ABC123 plugin's own
b.py:9:1: C0114: pylint's
1     F401 'os' imported but unused
4
";
        let parsed = parsed(text).unwrap();
        assert_eq!((parsed.figures.errors, parsed.figures.warnings), (Some(2), Some(2)));
        let Details::Lint(details) = parsed.details else { panic!("lint") };
        let told: Vec<_> =
            details.findings.iter().map(|f| (f.path.as_deref().unwrap(), f.line, f.rule.as_deref().unwrap())).collect();
        let expected =
            [("a.py", Some(1), "F401"), ("a.py", None, "E902"), ("b.py", Some(7), "W605"), ("b.py", Some(8), "ABC123")];
        assert_eq!(told, expected);
    }

    #[test]
    fn what_is_cut_or_foreign_is_rejected() {
        let one = "a.py:1:1: F401 'os' imported but unused\n";
        for cut in ["b.py:2:1: E30", "b.py:2", "b"] {
            assert_eq!(parsed(&format!("{one}{cut}")).unwrap_err().reject(), Some(Reject::Malformed), "{cut}");
        }
        assert!(
            parsed(&format!("{one}b.py:2:80: E501 line too long (82 > 79 characters)")).unwrap().warnings.is_empty()
        );
        assert_eq!(parsed("all well\n").unwrap_err().reject(), Some(Reject::NotThisFormat));
    }

    #[test]
    fn a_last_line_without_its_end_counts_where_its_code_is_told() {
        let parsed = parsed("a.py:1:1: F401 'os' imported but unused\nb.py:2:1: W291 trailing whitespace").unwrap();
        assert_eq!((parsed.figures.errors, parsed.figures.warnings), (Some(1), Some(1)));
        assert!(parsed.warnings[0].starts_with("line 2, the last one, has no end"), "{:?}", parsed.warnings);
    }

    #[test]
    fn whole_blocks_are_what_a_killed_program_leaves() {
        for (length, is_cut) in [(1023, false), (1024, true), (1025, false), (8192, true)] {
            let text = format!("{:y<length$}", "a.py:1:1: F401 'x");
            assert_eq!(parsed(&text).is_err(), is_cut, "{length}");
        }
    }
}
