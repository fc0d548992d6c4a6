//! `stylelint-text`: what stylelint prints, its formatter `string`.
//! <https://stylelint.io/user-guide/options#formatter>
//!
//! Rows under the name of a file as ESLint's, a sign in place of the level. It prints nothing where it finds nothing. Before
//! version 14 it has no summary; its rows, as those of version 14, stand one column in instead of two.

use super::eslint_text::{Stylish, stylish};
use super::lines::{Claim, TextReader, read};
use crate::error::Result;
use crate::ingest::{Format, Head, Level, Parsed, Sniff};
use crate::model::figures::ReportKind;

/// stylelint's output.
pub const FORMAT: Format = Format {
    name: "stylelint-text",
    kind: ReportKind::Lint,
    about: "terminal output of stylelint",
    written_by: "stylelint (formatter string)",
    told_by: "rows \"1:18  ✖  …  property-no-unknown\", and \"✖ 6 problems (5 errors, 1 warning)\"",
    // Before version 14 nothing stands below the rows.
    has_end: false,
    counting: "Rows by their sign, ✖ (error) or ⚠ (warning). The numbers in the summary are compared, and count what \
               was cut away above it; without a summary the report is cut, but for rows that stand one column in, as \
               before version 15.",
    sniff,
    parse: |input| read::<Reader>(input, "stylelint"),
};

/// The signs that stand for levels, with and without Unicode.
pub(super) const SIGNS: [(&str, Level); 4] =
    [("✖", Level::Error), ("⚠", Level::Warning), ("×", Level::Error), ("‼", Level::Warning)];

fn sniff(head: &Head<'_>) -> Sniff {
    stylish(head, &SIGNS, "stylelint")
}

/// Reads lines.
#[derive(Default)]
pub(in crate::ingest) struct Reader(Stylish);

impl TextReader for Reader {
    fn line(&mut self, text: &str) -> Result<()> {
        self.0.line(text, "stylelint", &SIGNS)
    }

    fn claim(&self, text: &str) -> Claim {
        self.0.claim(text, &SIGNS)
    }

    fn other(&mut self, text: &str) -> Result<()> {
        self.0.other(text, "stylelint", &SIGNS)
    }

    fn is_whole(&self, text: &str) -> bool {
        Stylish::is_whole(text)
    }

    fn finish(self) -> Result<Option<Parsed>> {
        self.0.finish(&FORMAT, "stylelint")
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
    fn signs_are_levels() {
        let rows = "\na.css\n  1:18  ✖  Unknown property \"colr\"  property-no-unknown\n  2:3   ⚠  Empty block             block-no-empty\n\n";
        let parsed_rows = parsed(&format!("{rows}✖ 2 problems (1 error, 1 warning)\n")).unwrap();
        assert_eq!((parsed_rows.figures.errors, parsed_rows.figures.warnings), (Some(1), Some(1)));
        let Details::Lint(details) = parsed_rows.details else { panic!("lint") };
        let first = details.findings.first().unwrap();
        let told = (first.tool.as_str(), first.path.as_deref(), first.line, first.rule.as_deref());
        assert_eq!(told, ("stylelint", Some("a.css"), Some(1), Some("property-no-unknown")));
        assert_eq!(parsed(rows).unwrap_err().reject(), Some(Reject::Malformed));
        let before_14 = parsed(
            "\na.css\n 1:18  ✖  Unknown property   property-no-unknown\n 2:3   ⚠  Empty block   block-no-empty\n\n",
        );
        let figures = before_14.unwrap().figures;
        assert_eq!((figures.errors, figures.warnings), (Some(1), Some(1)));
        let eslint = "a.js\n  1:1  error  no  x\n\n✖ 1 problem (1 error, 0 warnings)\n";
        let parsed = parsed(eslint).unwrap();
        assert_eq!((parsed.figures.total, parsed.warnings.len()), (Some(1), 1), "no row of stylelint's");
    }
}
