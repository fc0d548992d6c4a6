//! `rubocop-text`: what RuboCop prints, its formatters `progress`, `clang` and `simple`.
//! <https://docs.rubocop.org/rubocop/formatters.html>
//!
//! `path:line:column: C: Cop/Name: message`, or rows under `== path ==`, and a summary at the end, also where nothing was
//! found. Without the names of cops where `--no-display-cop-names` wants it so, as versions before 0.49 did by themselves.
//! The formatter `emacs` has neither: it is `brief-text`.

use super::LintTally;
use super::brief_scripts::is_rubocop_emacs;
use super::lines::{Claim, TextReader, check_listed, finding, is_of_another, placed, read};
use crate::error::{Error, Reject, Result};
use crate::ingest::{CUT_HELP, Format, Head, Level, Parsed, Sniff, Sort, add};
use crate::model::figures::{Figures, ReportKind};

/// RuboCop's output.
pub const FORMAT: Format = Format {
    name: "rubocop-text",
    kind: ReportKind::Lint,
    about: "terminal output of RuboCop",
    written_by: "rubocop (formatters progress, clang, simple)",
    told_by: "\"a.rb:3:1: W: Lint/UselessAssignment: …\", and \"3 files inspected, 7 offenses detected\"",
    has_end: true,
    counting: "Offenses by their letter, corrected ones too: F and E are errors, W warnings, C, R and I notes. The \
               number in the summary is only compared; without a summary the report is cut.",
    sniff,
    parse: |input| read::<Reader>(input, "RuboCop"),
};

fn sniff(head: &Head<'_>) -> Sniff {
    let is_ours = |line: &str| {
        offense(line.trim_end()).is_some_and(|offense| offense.cop.is_some()) || summary(line.trim_end()).is_some()
    };
    if head.lines().any(is_ours) && !is_of_another(head) && !is_rubocop_emacs(head) {
        return Sniff::Sure("offenses or a summary as RuboCop prints them".into());
    }
    Sniff::No
}

struct Offense<'a> {
    path: Option<&'a str>,
    line: Option<u64>,
    level: Level,
    cop: Option<&'a str>,
    message: &'a str,
}

fn level_of(letter: &str) -> Option<Level> {
    match letter {
        "F" | "E" => Some(Level::Error),
        "W" => Some(Level::Warning),
        "C" | "R" | "I" => Some(Level::Note),
        _ => None,
    }
}

/// `path:line:column: C: Cop/Name: message`, or `C:  1:  3: Cop/Name: message`.
fn offense(text: &str) -> Option<Offense<'_>> {
    let (path, line, letter, told) = match placed(text).filter(|place| place.has_column) {
        Some(place) => {
            let (letter, told) = place.rest.split_once(": ")?;
            (Some(place.path), place.line, letter, told)
        }
        None => {
            let (letter, _) = text.split_at_checked(1)?;
            level_of(letter)?;
            let mut parts = text.splitn(4, ':');
            let (letter, line, column, told) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
            column.trim_start().parse::<u64>().ok()?;
            (None, Some(line.trim_start().parse().ok()?), letter, told.trim_start())
        }
    };
    let level = level_of(letter)?;
    let told =
        ["[Correctable] ", "[Corrected] ", "[Todo] "].iter().find_map(|mark| told.strip_prefix(mark)).unwrap_or(told);
    // `Lint/Syntax`, `RSpec/Rails/HaveHttpStatus`.
    let is_name = |part: &str| part.starts_with(|c: char| c.is_ascii_uppercase()) && !part.contains(' ');
    let named = told.split_once(": ").filter(|(cop, _)| cop.contains('/') && cop.split('/').all(is_name));
    let (cop, message) = named.map_or((None, told), |(cop, message)| (Some(cop), message));
    Some(Offense { path, line, level, cop, message })
}

/// Files of Ruby: linters of other languages have letters, too.
fn is_ruby(path: &str) -> bool {
    [".rb", ".rake", ".ru", ".gemspec", "Gemfile", "Rakefile"].iter().any(|end| path.ends_with(end))
}

/// How many offenses `3 files inspected, 7 offenses detected, 5 offenses autocorrectable` tells.
pub(super) fn summary(text: &str) -> Option<u64> {
    let (number, rest) = text.split_once(' ')?;
    // The formatter pacman inspects none, whatever was found.
    number.parse::<u64>().ok().filter(|number| *number > 0)?;
    let (word, rest) = rest.split_once(" inspected, ")?;
    matches!(word, "file" | "files").then_some(())?;
    let offenses = rest.split(", ").next()?;
    let (count, word) = offenses.strip_suffix(" detected")?.split_once(' ')?;
    let is_ours = matches!(word, "offense" | "offenses");
    if count == "no" { is_ours.then_some(0) } else { count.parse().ok().filter(|_| is_ours) }
}

/// Reads lines.
#[derive(Default)]
pub(in crate::ingest) struct Reader {
    tally: LintTally,
    /// The file whose rows follow.
    file: Option<String>,
    /// Whether offenses follow, as RuboCop says above them.
    is_headed: bool,
    /// Offenses since the last summary.
    open: u64,
    declared: Option<u64>,
}

impl Reader {
    fn is_ours(&self, offense: &Offense<'_>) -> bool {
        offense.cop.is_some() || offense.path.map_or(self.file.is_some(), |path| self.is_headed || is_ruby(path))
    }
}

impl TextReader for Reader {
    fn line(&mut self, text: &str) -> Result<()> {
        if let Some(offense) = offense(text).filter(|offense| self.is_ours(offense)) {
            // Without the name of a cop, only the summary tells whose it is.
            self.open += u64::from(offense.cop.is_some());
            let path = offense.path.or(self.file.as_deref());
            let finding = finding("rubocop", offense.level, (path, offense.line), offense.cop, offense.message);
            return self.tally.finding(finding, Sort::Linter);
        }
        if let Some(path) = text.strip_prefix("== ").and_then(|rest| rest.strip_suffix(" ==")) {
            self.file = Some(path.to_owned());
        } else if text == "Offenses:" {
            self.is_headed = true;
        } else if let Some(offenses) = summary(text) {
            self.declared = Some(add(self.declared.unwrap_or(0), offenses)?);
            (self.open, self.is_headed) = (0, false);
        }
        Ok(())
    }

    fn claim(&self, text: &str) -> Claim {
        match offense(text).filter(|offense| self.is_ours(offense)) {
            Some(offense) if offense.cop.is_some() => Claim::Ours,
            Some(_) => Claim::Alike,
            None if summary(text).is_some() => Claim::Last,
            None => Claim::Other,
        }
    }

    fn is_whole(&self, text: &str) -> bool {
        summary(text).is_some()
    }

    fn finish(mut self) -> Result<Option<Parsed>> {
        if self.open > 0 {
            return Err(Error::report(Reject::Malformed, "report ends before RuboCop's summary").help(CUT_HELP));
        }
        let Some(offenses) = self.declared else { return Ok(None) };
        self.tally.tool("rubocop", Sort::Linter);
        let mut parsed = self.tally.finish(&FORMAT)?;
        let total = parsed.figures.total.unwrap_or(0);
        check_listed("RuboCop", offenses, total)?;
        if total != offenses {
            parsed.warnings.push(format!("the summary says {offenses} offenses, but {total} are listed"));
            parsed.declared = Some(Figures { total: Some(offenses), ..Figures::default() });
        }
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

    #[test]
    fn of_no_files_nothing_is_known() {
        assert_eq!(summary("0 files inspected, no offenses detected"), None);
        assert_eq!(summary("1 file inspected, no offenses detected"), Some(0));
    }

    #[test]
    fn letters_are_levels_in_both_layouts() {
        let rows = "Inspecting 2 files\nCW\n\nOffenses:\n\nb.rb:3:13: E: Lint/Syntax: unexpected token $end\n  puts x: y\n  ^^^^\n\
            a.rb:1:1: C: [Correctable] Style/StringLiterals: Prefer: 'x'.\na.rb:2:1: W: RSpec/Rails/Have: m\n";
        let simple = "== b.rb ==\nE:  3: 13: Lint/Syntax: unexpected token $end\n== a.rb ==\nC:  1:  1: [Correctable] Style/StringLiterals: Prefer: 'x'.\nW:  2:  1: RSpec/Rails/Have: m\n";
        for rows in [rows, simple] {
            let parsed =
                parsed(&format!("{rows}\n2 files inspected, 3 offenses detected, 1 offense autocorrectable\n"))
                    .unwrap();
            let figures = &parsed.figures;
            assert_eq!([figures.errors, figures.warnings, figures.notes], [Some(1); 3], "{rows}");
            assert!(parsed.warnings.is_empty());
            let Details::Lint(details) = parsed.details else { panic!("lint") };
            let second = &details.findings[1];
            let told = (second.path.as_deref(), second.line, second.rule.as_deref(), second.message.as_str());
            assert_eq!(told, (Some("a.rb"), Some(1), Some("Style/StringLiterals"), "Prefer: 'x'."));
        }
    }

    #[test]
    fn offenses_need_no_names_of_cops() {
        let clang = "Offenses:\n\na.rb:1:5: C: Use snake_case: it reads better.\ndef badName\n    ^^^^^^^\nbin/run:4:5: W: [Corrected] end is not aligned\n";
        let simple = "== a.rb ==\nC:  1:  5: Use snake_case: it reads better.\nW:  4:  5: end is not aligned\n";
        for rows in [clang, simple] {
            let text = format!("{rows}\n2 files inspected, 2 offenses detected\n");
            let figures = parsed(&text).unwrap().figures;
            assert_eq!((figures.errors, figures.warnings, figures.notes), (Some(0), Some(1), Some(1)), "{rows}");
        }
        let other = "a.slim:1:5: W: too long\n1 file inspected, 1 offense detected\n";
        assert_eq!(parsed(other).unwrap_err().reject(), Some(Reject::NoResult));
    }

    #[test]
    fn the_summary_tells_that_nothing_was_found_and_that_it_is_whole() {
        assert_eq!(
            parsed("Inspecting 1 file\n.\n\n1 file inspected, no offenses detected\n").unwrap().figures.total,
            Some(0)
        );
        let row = "a.rb:2:1: W: Lint/Void: m\n";
        for cut in [row, "a.rb:2:1: W: Lint/Void: m\n\n2 files inspected, 1 off"] {
            assert_eq!(parsed(cut).unwrap_err().reject(), Some(Reject::Malformed), "{cut}");
        }
        let other = parsed(&format!("{row}2 files inspected, 5 offenses detected\n")).unwrap();
        assert_eq!((other.declared.unwrap().total, other.warnings.len()), (Some(5), 1));
        assert_eq!(parsed("2 files inspected, 5 offenses detected\n").unwrap_err().reject(), Some(Reject::NoResult));
        for foreign in ["1 file inspected, 0 lints detected\n", "a.rb:2:1: W: no cop\n", "a.rb:2:1: X: Lint/Void: m\n"]
        {
            assert_eq!(parsed(foreign).unwrap_err().reject(), Some(Reject::NotThisFormat), "{foreign}");
        }
    }
}
