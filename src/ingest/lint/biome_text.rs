//! `biome-text`: what Biome prints. <https://biomejs.dev/reference/reporters/>
//!
//! A head `path:line:column lint/… ━━━` above each diagnostic, whose first line has a sign for the level; at the end
//! `Checked 3 files in 5ms. No fixes applied.` and, of each level that was met, `Found 2 errors.` Twenty diagnostics are
//! shown unless `--max-diagnostics` says otherwise, and all are counted.

use super::LintTally;
use super::lines::{Claim, TextReader, finding, is_of_another, read};
use crate::error::{Error, Reject, Result};
use crate::ingest::{CUT_HELP, Format, Head, Level, Parsed, Sniff, Sort, add};
use crate::model::figures::ReportKind;

/// Biome's output.
pub const FORMAT: Format = Format {
    name: "biome-text",
    kind: ReportKind::Lint,
    about: "terminal output of Biome",
    written_by: "biome lint|check|ci|format",
    told_by: "\"a.js:2:1 lint/style/useConst ━━━\", and \"Checked 3 files in 5ms. No fixes applied.\"",
    has_end: true,
    counting: "The numbers of the summary, because only the first diagnostics are shown: errors, warnings, infos as notes.",
    sniff,
    parse: |input| read::<Reader>(input, "Biome"),
};

fn sniff(head: &Head<'_>) -> Sniff {
    let is_ours = |line: &str| header(line.trim_end()).is_some() || checked(line.trim_end());
    match head.lines_of_both_ends().any(is_ours) && !is_of_another(head) {
        true => Sniff::Sure("diagnostics or a summary as Biome prints them".into()),
        false => Sniff::No,
    }
}

const TOOL: &str = "biome";

/// Where and by which rule a diagnostic is, above it.
#[derive(Debug, PartialEq, Eq)]
struct Header<'a> {
    path: &'a str,
    line: Option<u64>,
    rule: &'a str,
}

/// `path:line:column lint/style/useConst  FIXABLE  ━━━`, `path format ━━━`; not the command's name alone, which stands above
/// its end.
fn header(text: &str) -> Option<Header<'_>> {
    let is_tag = |word: &str| word.bytes().all(|byte| byte.is_ascii_uppercase());
    let mut told = text.strip_suffix('━')?.trim_end_matches('━').trim_end();
    while let Some((before, tag)) = told.rsplit_once(' ').filter(|(_, word)| is_tag(word)) {
        told = if tag.is_empty() { told.trim_end() } else { before.trim_end() };
    }
    // An underline in a piece of source ends so, too.
    let (place, rule) = told.rsplit_once(' ').filter(|(place, rule)| !place.trim().is_empty() && rule.is_ascii())?;
    let number = |text: &str| text.parse::<u64>().ok();
    let mut parts = place.trim_end().rsplitn(3, ':');
    let (column, line, path) = (parts.next().and_then(number), parts.next().and_then(number), parts.next());
    let placed = column.and(line).zip(path);
    let (line, path) = placed.map_or((None, place.trim_end()), |(line, path)| (Some(line), path));
    Some(Header { path, line, rule })
}

/// Level and message of a diagnostic's first line.
fn sign(text: &str) -> Option<(Level, &str)> {
    let signs = [
        ("×", Level::Error),
        ("✖", Level::Error),
        ("!", Level::Warning),
        ("⚠", Level::Warning),
        ("i", Level::Note),
        ("ℹ", Level::Note),
    ];
    let told = text.strip_prefix("  ")?;
    let (_, level) =
        signs.iter().find(|(sign, _)| told.strip_prefix(sign).is_some_and(|rest| rest.starts_with(' ')))?;
    Some((*level, told.split_once(' ')?.1.trim_start()))
}

/// `Checked 3 files in 5ms. No fixes applied.`; before Biome 1.5 `Checked 3 file(s) in 5ms`.
pub(super) fn checked(text: &str) -> bool {
    let rest = text.strip_prefix("Checked ").and_then(|rest| rest.split_once(" file"));
    rest.is_some_and(|(number, rest)| {
        let is_told = match rest.strip_prefix("(s) in ") {
            Some(time) => time.ends_with('s') && !time.contains(' '),
            None => {
                let rest = rest.strip_prefix('s').unwrap_or(rest);
                rest.starts_with(" in ") && (rest.ends_with(". No fixes applied.") || rest.contains(". Fixed "))
            }
        };
        is_told && number.parse::<u64>().is_ok()
    })
}

/// `Found 2 errors.`, `Found 1 warning.`, `Found 3 infos.`; before Biome 1.5 `Found 2 error(s)`.
fn found(text: &str) -> Option<(Level, u64)> {
    let told = text.strip_prefix("Found ")?;
    let (number, word) = told.strip_suffix('.').or_else(|| told.strip_suffix("(s)"))?.split_once(' ')?;
    let level = match word.strip_suffix('s').unwrap_or(word) {
        "error" => Level::Error,
        "warning" => Level::Warning,
        "info" => Level::Note,
        _ => return None,
    };
    Some((level, number.parse().ok()?))
}

/// `Diagnostics not shown: 13.`
fn held_back(text: &str) -> Option<u64> {
    text.strip_prefix("Diagnostics not shown: ")?.strip_suffix('.')?.parse().ok()
}

/// Reads lines.
#[derive(Default)]
pub(in crate::ingest) struct Reader {
    tally: LintTally,
    /// The diagnostic whose first line follows: path, line, rule.
    open: Option<(String, Option<u64>, String)>,
    /// Shown, and held back.
    listed: u64,
    /// In the summaries.
    counted: u64,
    /// Since the last summary.
    open_rows: bool,
    is_checked: bool,
    /// The lines that count levels may follow.
    is_summing: bool,
}

impl TextReader for Reader {
    fn line(&mut self, text: &str) -> Result<()> {
        if let (true, Some((level, number))) = (self.is_summing, found(text)) {
            let counts = self.tally.tool(TOOL, Sort::Linter);
            let slot = match level {
                Level::Error => &mut counts.errors,
                Level::Warning => &mut counts.warnings,
                Level::Note => &mut counts.notes,
            };
            *slot = add(*slot, number)?;
            self.counted = add(self.counted, number)?;
            return Ok(());
        }
        self.is_summing = checked(text);
        if self.is_summing {
            self.tally.tool(TOOL, Sort::Linter);
            (self.is_checked, self.open_rows) = (true, false);
        } else if let Some(Header { path, line, rule }) = header(text) {
            self.open = Some((path.to_owned(), line, rule.to_owned()));
        } else if let Some(number) = held_back(text) {
            self.listed = add(self.listed, number)?;
            self.tally.details.dropped = add(self.tally.details.dropped, number)?;
        } else if let Some((level, message)) = sign(text)
            && let Some((path, line, rule)) = self.open.take()
        {
            self.open_rows = true;
            // Of a file that it cannot parse the formatter says so once more; the summary does not count it.
            if message.starts_with("Code formatting aborted due to parsing errors.") {
                return Ok(());
            }
            self.listed = add(self.listed, 1)?;
            self.tally.keep(finding(TOOL, level, (Some(&path), line), Some(&rule), message));
        }
        Ok(())
    }

    fn claim(&self, text: &str) -> Claim {
        let is_ours = header(text).is_some() || checked(text) || (self.is_summing && found(text).is_some());
        if is_ours { Claim::Ours } else { Claim::Other }
    }

    fn is_whole(&self, text: &str) -> bool {
        checked(text) || found(text).is_some()
    }

    fn finish(self) -> Result<Option<Parsed>> {
        if self.open_rows || (self.is_checked && self.counted < self.listed) {
            let why = "report ends before the summary of Biome";
            return Err(Error::report(Reject::Malformed, why).help(CUT_HELP));
        }
        if !self.is_checked {
            return Ok(None);
        }
        self.tally.finish(&FORMAT).map(Some)
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

    const SHOWN: &str = "\
src/my app.js:2:1 lint/style/useConst  FIXABLE  ━━━━

  × This let is only assigned once.
  
  i 'unused' is never reassigned.

b.ts format ━━

  ! Formatter would have printed the following:

";
    const END: &str = "lint ━━━━\n\n  × Some errors were emitted while running checks.\n";

    #[test]
    fn a_file_that_is_not_formatted_for_its_errors_is_no_finding_of_its_own() {
        let aborted = "b.js format ━━\n\n  × Code formatting aborted due to parsing errors. To format code with errors, enable it.\n\n";
        let text =
            format!("{SHOWN}{aborted}Checked 3 files in 8ms. No fixes applied.\nFound 1 error.\nFound 1 warning.\n");
        assert_eq!(parsed(&text).unwrap().figures.total, Some(2));
        assert_eq!(parsed(&format!("{SHOWN}{aborted}")).unwrap_err().reject(), Some(Reject::Malformed));
    }

    #[test]
    fn what_is_not_shown_is_counted_all_the_same() {
        let summary =
            "Checked 13 files in 8ms. No fixes applied.\nFound 15 errors.\nFound 1 warning.\nFound 2 infos.\n";
        let text = format!("{SHOWN}Diagnostics not shown: 16.\n{summary}{END}");
        let parsed = parsed(&text).unwrap();
        let figures = &parsed.figures;
        assert_eq!(
            (figures.errors, figures.warnings, figures.notes, figures.total),
            (Some(15), Some(1), Some(2), Some(18))
        );
        assert_eq!(parsed.warnings, ["16 findings are counted but not kept"]);
        let Details::Lint(details) = parsed.details else { panic!("lint") };
        let told: Vec<_> =
            details.findings.iter().map(|f| (f.level, f.path.as_deref(), f.line, f.rule.as_deref())).collect();
        let expected = [
            (Level::Error, Some("src/my app.js"), Some(2), Some("lint/style/useConst")),
            (Level::Warning, Some("b.ts"), None, Some("format")),
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn before_version_1_5_the_summary_has_other_words() {
        let text =
            format!("{}\nChecked 3 file(s) in 1604µs\nFound 2 error(s)\n", SHOWN.split("Checked ").next().unwrap());
        assert_eq!(parsed(&text).unwrap().figures.errors, Some(2));
        for (line, is_summary) in [("Checked 3 file(s) in 1604", false), ("Checked 3 file(s) in 5ms", true)] {
            assert_eq!(checked(line), is_summary, "{line}");
        }
        assert_eq!((found("Found 12 error(s)"), found("Found 1 error")), (Some((Level::Error, 12)), None));
    }

    #[test]
    fn a_clean_run_is_zero_and_a_cut_one_is_none() {
        assert_eq!(parsed("Checked 1 file in 2ms. No fixes applied.\n").unwrap().figures.total, Some(0));
        assert_eq!(parsed("Checked 1 file in 2ms. Fixed 1 file.\n").unwrap().figures.total, Some(0));
        let summary = "Checked 2 files in 2ms. No fixes applied.\n";
        for cut in [SHOWN.to_owned(), format!("{SHOWN}{summary}"), format!("{SHOWN}{summary}Found 1 error.\n")] {
            assert_eq!(parsed(&cut).unwrap_err().reject(), Some(Reject::Malformed), "{cut}");
        }
        assert_eq!(parsed("Found 2 errors.\n").unwrap_err().reject(), Some(Reject::NotThisFormat), "ruff's");
    }
}
