//! `knip-text`: what Knip prints, its reporters `symbols` and `compact`. <https://knip.dev/features/reporters>
//!
//! A title with the number of rows, and below it the rows: `foo  src/b.js:1:9`, or `src/b.js: foo, bar`. Where nothing is found
//! it says so in a terminal only. There is no end.

use super::LintTally;
use super::lines::{Claim, TextReader, bare_place, finding, is_of_another, read};
use crate::error::{Error, Reject, Result};
use crate::ingest::{CUT_HELP, Format, Head, Level, Parsed, Sniff, Sort};
use crate::model::figures::ReportKind;

/// Knip's output.
pub const FORMAT: Format = Format {
    name: "knip-text",
    kind: ReportKind::Lint,
    about: "terminal output of Knip",
    written_by: "knip (reporters symbols, compact)",
    told_by: "titles \"Unused exports (2)\" and rows below them; or \"Excellent, Knip found no issues.\"",
    has_end: false,
    counting: "Each name is an error, and so is each file that is not used, as in its JSON. A title with fewer rows \
               than it says is cut.",
    sniff,
    parse: |input| read::<Reader>(input, "Knip"),
};

fn sniff(head: &Head<'_>) -> Sniff {
    let is_ours = |line: &str| title(line.trim_end()).is_some() || is_clean(line);
    match head.lines().any(is_ours) && !is_of_another(head) {
        true => Sniff::Sure("a title as Knip prints it".into()),
        false => Sniff::No,
    }
}

fn is_clean(text: &str) -> bool {
    text.trim_end().ends_with("Excellent, Knip found no issues.")
}

/// Titles, and what its JSON calls what stands below them.
const TITLES: [(&str, &str); 19] = [
    ("Unused files", "files"),
    ("Unused dependencies", "dependencies"),
    ("Unused devDependencies", "devDependencies"),
    ("Unused optionalPeerDependencies", "optionalPeerDependencies"),
    ("Referenced optional peerDependencies", "optionalPeerDependencies"),
    ("Unlisted dependencies", "unlisted"),
    ("Unlisted binaries", "binaries"),
    ("Unresolved imports", "unresolved"),
    ("Unused exports", "exports"),
    ("Exports in used namespace", "nsExports"),
    ("Unused exported types", "types"),
    ("Exported types in used namespace", "nsTypes"),
    ("Unused exported enum members", "enumMembers"),
    ("Unused exported class members", "classMembers"),
    ("Unused exported namespace members", "namespaceMembers"),
    ("Duplicate exports", "duplicates"),
    ("Unused catalog entries", "catalog"),
    ("Unused catalog references", "catalogReferences"),
    ("Unresolved catalog references", "catalogReferences"),
];

/// What stands below a title, and how many rows.
fn title(text: &str) -> Option<(&'static str, u64)> {
    let (text, rows) = text.strip_suffix(')')?.split_once(" (")?;
    let (_, sort) = TITLES.iter().find(|(title, _)| *title == text)?;
    Some((sort, rows.parse().ok()?))
}

/// Reads lines.
#[derive(Default)]
pub(in crate::ingest) struct Reader {
    tally: LintTally,
    is_met: bool,
    sort: &'static str,
    /// Rows that are still to come.
    missing: u64,
}

impl Reader {
    fn check(&self) -> Result<()> {
        let why = format!("{} rows that Knip counts are not there", self.missing);
        if self.missing == 0 { Ok(()) } else { Err(Error::report(Reject::Malformed, why).help(CUT_HELP)) }
    }

    fn row(&mut self, text: &str) -> Result<()> {
        let mut add = |place: (Option<&str>, Option<u64>), name: &str| {
            self.tally.finding(finding("knip", Level::Error, place, Some(self.sort), name), Sort::Linter)
        };
        if let Some((name, place)) = text.rsplit_once("  ") {
            let place = place.trim();
            let (path, line) = bare_place(place).unwrap_or((place, None));
            return add((Some(path), line), name.trim());
        }
        match text.split_once(": ") {
            // Of duplicates all names of a row are one export.
            Some((path, names)) if self.sort != "duplicates" => {
                names.split(", ").try_for_each(|name| add((Some(path), None), name))
            }
            Some((path, names)) => add((Some(path), None), names),
            None => add((Some(text), None), ""),
        }
    }
}

impl TextReader for Reader {
    fn line(&mut self, text: &str) -> Result<()> {
        if let Some((sort, rows)) = title(text) {
            self.check()?;
            (self.sort, self.missing, self.is_met) = (sort, rows, true);
        } else if is_clean(text) {
            self.tally.tool("knip", Sort::Linter);
            self.is_met = true;
        } else if self.missing > 0 && !text.is_empty() {
            self.missing -= 1;
            self.row(text)?;
        }
        Ok(())
    }

    fn claim(&self, text: &str) -> Claim {
        let is_row = self.missing > 0 && !text.is_empty();
        if is_row || title(text).is_some() || is_clean(text) { Claim::Ours } else { Claim::Other }
    }

    fn is_whole(&self, text: &str) -> bool {
        is_clean(text)
    }

    fn finish(self) -> Result<Option<Parsed>> {
        self.check()?;
        self.is_met.then(|| self.tally.finish(&FORMAT)).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::input::Input;
    use crate::ingest::lint::tests_support::first_finding;

    fn read_text(text: &str) -> Result<Parsed> {
        crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None)
    }

    #[test]
    fn rows_of_both_reporters_are_names() {
        let symbols = "Unused exports (2)\nfoo  src/b.js:1:9\nbar  src/b.js:2:9\nUnused files (1)\nsrc/a b.ts\n";
        let parsed = read_text(symbols).unwrap();
        assert_eq!((parsed.figures.errors, parsed.figures.total), (Some(3), Some(3)));
        assert_eq!(first_finding(&parsed), (Some("src/b.js"), Some(1), Some("exports"), "foo"));
        let compact = "Unused exports (1)\nsrc/b.js: foo, bar\nDuplicate exports (1)\nsrc/c.js: a, b\n";
        let parsed = read_text(compact).unwrap();
        assert_eq!(parsed.figures.errors, Some(3));
        assert_eq!(first_finding(&parsed), (Some("src/b.js"), None, Some("exports"), "foo"));
        assert_eq!(read_text("✂️  Excellent, Knip found no issues.\n").unwrap().figures.total, Some(0));
    }

    #[test]
    fn what_is_cut_or_nobody_s_is_rejected() {
        for cut in ["Unused exports (2)\nfoo  src/b.js:1:9\n", "Unused files (2)\na.ts\nUnused exports (1)\nx  b.ts\n"]
        {
            assert_eq!(read_text(cut).unwrap_err().reject(), Some(Reject::Malformed), "{cut}");
        }
        assert!(title("Unused bits (3)").is_none() && title("Unused files (x)").is_none());
    }
}
