//! `shellcheck-text`: what ShellCheck prints on a terminal, its format `tty`, since version 0.8; before that it told no
//! levels. <https://www.shellcheck.net/wiki/>
//!
//! Under `In a.sh line 2:` and that line, arrows with codes; below them all, links to some of the codes. It prints nothing
//! where it finds nothing.

use super::LintTally;
use super::lines::{Claim, TextReader, finding, is_code, is_of_another, read};
use crate::error::{Error, Reject, Result};
use crate::ingest::{CUT_HELP, Format, Head, Level, Parsed, Sniff, Sort};
use crate::model::figures::ReportKind;

/// ShellCheck's output.
pub const FORMAT: Format = Format {
    name: "shellcheck-text",
    kind: ReportKind::Lint,
    about: "terminal output of ShellCheck",
    written_by: "shellcheck (format tty)",
    told_by: "\"In a.sh line 2:\", and \"^-- SC2086 (info): …\" below it",
    has_end: true,
    counting: "Arrows by level: error, warning; info and style are notes; all are errors before version 0.7.2, which \
               prints no level. Without the links at its end the report is cut.",
    sniff,
    parse: |input| read::<Reader>(input, "ShellCheck"),
};

/// Heads the links.
const END: &str = "For more information:";

fn sniff(head: &Head<'_>) -> Sniff {
    let has = |is_ours: fn(&str) -> bool| head.lines().any(|line| is_ours(line.trim_end()));
    match has(|line| place(line).is_some()) && has(|line| arrow(line).is_some()) && !is_of_another(head) {
        true => Sniff::Sure("lines and arrows as ShellCheck prints them".into()),
        false => Sniff::No,
    }
}

/// `In a.sh line 2:`.
fn place(text: &str) -> Option<(&str, Option<u64>)> {
    let (path, line) = text.strip_prefix("In ")?.strip_suffix(':')?.rsplit_once(" line ")?;
    Some((path, Some(line.parse().ok()?).filter(|line| *line > 0)))
}

/// Code, level and message of `  ^---^ SC2164 (warning): …`, `^-- SC2086 (info): …`, and of old `^-- SC2086: …`.
fn arrow(text: &str) -> Option<(&str, Level, &str)> {
    let (arrow, told) = text.trim_start().split_once(' ').filter(|(arrow, _)| arrow.starts_with('^'))?;
    let (code, message) = told.split_once(": ")?;
    let (code, level) = match code.strip_suffix(')').map(|code| code.split_once(" (")) {
        Some(leveled) => leveled?,
        None => (code, "error"),
    };
    if !is_code(code, 2..=2, 4..=5) {
        return None;
    }
    let level = match level {
        "error" => Level::Error,
        "warning" => Level::Warning,
        "info" | "style" => Level::Note,
        _ => return None,
    };
    arrow.bytes().all(|byte| matches!(byte, b'^' | b'-')).then_some((code, level, message))
}

/// Reads lines.
#[derive(Default)]
pub(in crate::ingest) struct Reader {
    tally: LintTally,
    place: Option<(String, Option<u64>)>,
    is_met: bool,
    /// Nothing was found since the last links.
    is_over: bool,
}

impl TextReader for Reader {
    fn line(&mut self, text: &str) -> Result<()> {
        if let Some((path, line)) = place(text) {
            (self.place, self.is_met, self.is_over) = (Some((path.to_owned(), line)), true, false);
        } else if let (Some((path, line)), Some((code, level, message))) = (&self.place, arrow(text)) {
            let finding = finding("shellcheck", level, (Some(path), *line), Some(code), message);
            self.tally.finding(finding, Sort::Linter)?;
        }
        self.is_over |= text == END;
        Ok(())
    }

    fn claim(&self, text: &str) -> Claim {
        let is_ours = place(text).is_some() || arrow(text).is_some() || (text == END && self.is_met);
        if is_ours { Claim::Ours } else { Claim::Other }
    }

    fn is_whole(&self, text: &str) -> bool {
        self.is_over && text.starts_with("  https://")
    }

    fn finish(self) -> Result<Option<Parsed>> {
        if self.is_met && !self.is_over {
            let why = "report ends before the links of ShellCheck";
            return Err(Error::report(Reject::Malformed, why).help(CUT_HELP));
        }
        self.is_met.then(|| self.tally.finish(&FORMAT)).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::Details;
    use crate::ingest::input::Input;

    const ROWS: &str = "\nIn a.sh line 2:\ncd $1\n^---^ SC2164 (warning): Use 'cd ... || exit'.\n   ^-- SC2086 (info): Quote it.\n\n\
                        Did you mean: \ncd \"$1\" || exit\n\n\nIn b c.sh line 4:\n\n^-- SC1072 (error): Expected end.\n\n";

    fn parsed(text: &str) -> Result<Parsed> {
        crate::ingest::parse(&Input::bytes("x", text.as_bytes()), Some(&FORMAT))
    }

    #[test]
    fn arrows_are_findings_of_the_line_above() {
        let text = format!("{ROWS}{END}\n  https://www.shellcheck.net/wiki/SC1072 -- Expected e...\n");
        let parsed = parsed(&text).unwrap();
        let figures = &parsed.figures;
        assert_eq!([figures.errors, figures.warnings, figures.notes], [Some(1); 3]);
        let Details::Lint(details) = parsed.details else { panic!("lint") };
        let told: Vec<_> =
            details.findings.iter().map(|f| (f.path.as_deref().unwrap(), f.line, f.rule.as_deref().unwrap())).collect();
        assert_eq!(told, [("a.sh", Some(2), "SC2164"), ("a.sh", Some(2), "SC2086"), ("b c.sh", Some(4), "SC1072")]);
    }

    #[test]
    fn what_is_cut_or_foreign_is_rejected() {
        for cut in [ROWS.to_owned(), format!("{ROWS}For more inf")] {
            assert_eq!(parsed(&cut).unwrap_err().reject(), Some(Reject::Malformed));
        }
        assert_eq!(parsed("In the end: nothing\n").unwrap_err().reject(), Some(Reject::NotThisFormat));
        let old = arrow("   ^-- SC2086: Quote it: (x): y");
        assert_eq!(old, Some(("SC2086", Level::Error, "Quote it: (x): y")));
        for other in ["^-- Quote it.", "^~~ SC2086 (info): x", "^-- E2086 (info): x", "^-- SC2086 (bug): x"] {
            assert_eq!(arrow(other), None, "{other}");
        }
    }
}
