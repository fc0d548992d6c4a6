//! `dart-analyze-text`: what `dart analyze` and `flutter analyze` print. <https://dart.dev/tools/dart-analyze>
//!
//! Dart prints `error - path:line:column - message - rule`, Flutter `error • message • path:line:column • rule`, which it
//! breaks into several lines on a narrow terminal. Both tell how many there are at the end.

use super::LintTally;
use super::lines::{Claim, TextReader, bare_place, check_listed, finding, is_of_another, join, read};
use crate::error::{Error, Reject, Result};
use crate::ingest::{CUT_HELP, Format, Head, Level, Parsed, Sniff, Sort};
use crate::model::figures::ReportKind;

/// The output of Dart's analyzer.
pub const FORMAT: Format = Format {
    name: "dart-analyze-text",
    kind: ReportKind::Lint,
    about: "terminal output of Dart's analyzer",
    written_by: "dart analyze, flutter analyze",
    told_by: "\"error • … • lib/a.dart:3:5 • undefined_name\" (Dart: with - between), \"3 issues found.\", \"No issues \
              found!\"",
    has_end: true,
    counting: "Findings by level: error, warning, info (a note). The number at the end is only compared; without it the \
               report is cut.",
    sniff,
    parse: |input| read::<Reader>(input, "Dart's analyzer"),
};

fn sniff(head: &Head<'_>) -> Sniff {
    let has = |is_one: &dyn Fn(&str) -> bool| head.lines().any(is_one);
    let is_begun = has(&|line| line.starts_with("Analyzing "));
    let is_told = || has(&|line| row(line).is_some() || said(line) == Some(0));
    let is_sure = || has(&|line| row(line).is_some_and(|row| row.place.is_some()));
    match ((is_begun && is_told()) || is_sure()) && !is_of_another(head) {
        true => Sniff::Sure("findings as Dart's analyzer prints them, or none".into()),
        false => Sniff::No,
    }
}

/// The number in `3 issues found.`, `No issues found! (ran in 2.3s)`.
fn said(text: &str) -> Option<u64> {
    let text = text.trim();
    let text = match text.ends_with("s)") {
        true => text.rsplit_once(" (ran in ").map_or(text, |(text, _)| text),
        false => text,
    };
    if text == "No issues found!" {
        return Some(0);
    }
    text.strip_suffix(" issues found.").or_else(|| text.strip_suffix(" issue found."))?.parse().ok()
}

struct Row<'a> {
    level: Level,
    message: &'a str,
    rule: Option<&'a str>,
    /// None where the line is broken before it.
    place: Option<(&'a str, Option<u64>)>,
}

/// A finding, or the first of its lines.
fn row(text: &str) -> Option<Row<'_>> {
    let (word, rest) = text.trim().split_once(' ')?;
    let level = match word {
        "error" => Level::Error,
        "warning" => Level::Warning,
        "info" => Level::Note,
        _ => return None,
    };
    let (sign, rest) = rest.split_once(' ')?;
    let place =
        |text| bare_place(text).filter(|(path, _)| [".dart", ".yaml", ".xml"].iter().any(|end| path.ends_with(end)));
    if sign == "-" {
        let (at, rest) = rest.split_once(" - ")?;
        let (message, rule) = rest.rsplit_once(" - ")?;
        return Some(Row { level, message, rule: Some(rule), place: Some(place(at)?) });
    }
    // PowerShell garbles the bullet.
    if sign.is_empty() || sign.contains(|c: char| c.is_ascii()) {
        return None;
    }
    let whole = || {
        let (rest, rule) = rest.rsplit_once(sign)?;
        let (message, at) = rest.rsplit_once(sign)?;
        Some(Row { level, message: message.trim_end(), rule: Some(rule.trim()), place: Some(place(at.trim())?) })
    };
    Some(whole().unwrap_or(Row { level, message: rest, rule: None, place: None }))
}

/// Reads lines.
#[derive(Default)]
pub(in crate::ingest) struct Reader {
    tally: LintTally,
    /// It said that it analyzes: alone, `No issues found!` may be anybody's.
    is_analyzing: bool,
    /// A finding whose place did not come yet.
    open: String,
    listed: u64,
    said: Option<u64>,
}

impl Reader {
    fn add(&mut self, Row { level, message, rule, place }: &Row<'_>) -> Result<()> {
        self.listed += 1;
        let (path, line) = place.unzip();
        let finding = finding("dart", *level, (path, line.flatten()), *rule, message);
        self.tally.finding(finding, Sort::TypeChecker)
    }

    /// The finding that is open has no more lines.
    fn close(&mut self) -> Result<()> {
        let open = std::mem::take(&mut self.open);
        row(&open).map_or(Ok(()), |row| self.add(&row))
    }
}

impl TextReader for Reader {
    fn line(&mut self, text: &str) -> Result<()> {
        if let Some(row) = row(text) {
            self.close()?;
            match row.place {
                Some(_) => self.add(&row)?,
                None => text.clone_into(&mut self.open),
            }
        } else if !self.open.is_empty() && text.starts_with("       ") {
            join(&mut self.open, text.trim_start());
        } else {
            self.close()?;
            self.is_analyzing |= text.starts_with("Analyzing ");
            self.said = said(text).or(self.said);
        }
        Ok(())
    }

    fn claim(&self, text: &str) -> Claim {
        let is_met = || self.listed > 0 || !self.open.is_empty();
        match (row(text), said(text)) {
            (Some(row), _) if row.place.is_some() => Claim::Ours,
            (Some(_), _) => Claim::Alike,
            (None, Some(said)) if (said == 0 && self.is_analyzing) || is_met() => Claim::Last,
            (None, _) if !self.open.is_empty() && text.starts_with("       ") => Claim::Ours,
            (None, _) => Claim::Other,
        }
    }

    fn is_whole(&self, text: &str) -> bool {
        said(text).is_some()
    }

    fn finish(mut self) -> Result<Option<Parsed>> {
        self.close()?;
        let Some(said) = self.said else {
            let cut = || Error::report(Reject::Malformed, "report ends before the number of issues").help(CUT_HELP);
            return if self.listed > 0 { Err(cut()) } else { Ok(None) };
        };
        check_listed("Dart's analyzer", said, self.listed)?;
        self.tally.tool("dart", Sort::TypeChecker);
        let mut parsed = self.tally.finish(&FORMAT)?;
        if said != self.listed {
            parsed.warnings.push(format!("the last line says {said} issues, but {} are listed", self.listed));
        }
        Ok(Some(parsed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::input::Input;
    use crate::ingest::lint::tests_support::first_finding;

    fn parsed(text: &str) -> Result<Parsed> {
        crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None)
    }

    #[test]
    fn both_tell_the_same() {
        let dart = "Analyzing shop...\n\n  error - lib/a.dart:3:5 - No 'x' - or y. - undefined_name\n   info - pubspec.yaml:9:1 - Sort. - sort\n\n2 issues found.\n";
        let flutter = "Analyzing shop...   \n\n  error • No 'x' - or y. • lib/a.dart:3:5 • undefined_name\n   info • Sort. • pubspec.yaml:9:1 • sort\n\n2 issues found. (ran in 2.3s)\n";
        let broken = "  error • No 'x' -\n       or y. •\n       lib/a.dart:3:5 • undefined_name\n   info • Sort. • pubspec.yaml:9:1 • sort\n\n2 issues found.\n";
        for text in [dart, flutter, broken, &flutter.replace('•', "ΓÇó")] {
            let parsed = parsed(text).unwrap();
            assert_eq!((parsed.figures.errors, parsed.figures.notes, parsed.warnings.len()), (Some(1), Some(1), 0));
            assert_eq!(
                first_finding(&parsed),
                (Some("lib/a.dart"), Some(3), Some("undefined_name"), "No 'x' - or y."),
                "{text}"
            );
        }
    }

    #[test]
    fn a_clean_run_is_zero_and_a_cut_or_foreign_one_refused() {
        assert!(Reader::default().claim("No issues found!") == Claim::Other, "it may be anybody's");
        assert_eq!(parsed("Analyzing shop...\nNo issues found! (ran in 2.3s)\n").unwrap().figures.total, Some(0));
        let rows = "Analyzing shop...\n\nwarning - lib/a.dart:3:5 - No. - x\n";
        assert_eq!(parsed(&format!("{rows}\n2 issues found.\n")).unwrap().warnings.len(), 1);
        for cut in [rows.to_owned(), format!("{rows}\n1 issue found")] {
            assert_eq!(parsed(&cut).unwrap_err().reject(), Some(Reject::Malformed), "{cut}");
        }
        for foreign in ["error - all - over - here\n", "info  - Need to disable\n", "No issues found!\n"] {
            assert_eq!(parsed(foreign).unwrap_err().reject(), Some(Reject::NotThisFormat), "{foreign}");
        }
    }
}
