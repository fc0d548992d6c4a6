//! `semgrep-text`: what Semgrep prints. Written after its output, version 1.182.
//!
//! Under the name of a file each rule with an arrow for its severity, its message, and the places where it matched, which a
//! broken line parts. The findings go to stdout, where their title counts them; the summary goes to stderr.

use super::LintTally;
use super::lines::{Claim, TextReader, finding, is_of_another, join, read};
use crate::error::{Error, Reject, Result};
use crate::ingest::values::leading_in;
use crate::ingest::{CUT_HELP, Format, Head, Level, Parsed, Sniff, Sort, add};
use crate::model::figures::{Figures, ReportKind};

/// Semgrep's output.
pub const FORMAT: Format = Format {
    name: "semgrep-text",
    kind: ReportKind::Lint,
    about: "terminal output of Semgrep",
    written_by: "semgrep scan|ci, opengrep scan",
    told_by: "\"│ 5 Code Findings │\" and \"❯❯❱ rule\", or \"Ran 4 rules on 2 files: 5 findings.\"",
    has_end: true,
    counting: "Matches by the arrow of their rule: ❯❯❱ is an error, ❯❱ a warning, ❱ a note. The number in the title, or in \
               the summary, is compared; if fewer are listed than the title says, the report is cut.",
    sniff,
    parse: |input| read::<Reader>(input, "Semgrep"),
};

fn sniff(head: &Head<'_>) -> Sniff {
    let lines = || head.lines_of_both_ends().map(str::trim_end);
    let found = lines().filter_map(summary).max();
    if (found.is_none() && !lines().any(|line| title(line).is_some())) || is_of_another(head) {
        return Sniff::No;
    }
    match found {
        // Where the findings are no text, they may stand in a document between what goes to stderr.
        Some(1..) if !lines().any(|line| title(line).is_some()) => {
            Sniff::Maybe("a summary as Semgrep prints it".into())
        }
        _ => Sniff::Sure("a title or a summary as Semgrep prints it".into()),
    }
}

/// The number in `│ 5 Code Findings │`, `│ 1 Supply Chain Finding │`.
fn title(text: &str) -> Option<u64> {
    let (number, rest) = leading_in(text.strip_prefix("│ ")?)?;
    let words = rest.strip_suffix(" │")?;
    (words.ends_with(" Findings") || words.ends_with(" Finding")).then_some(number)
}

/// The number in `Ran 4 rules on 2 files: 5 findings.`
fn summary(text: &str) -> Option<u64> {
    let (_, rest) = leading_in(text.strip_prefix("Ran ")?)?;
    let (number, rest) = leading_in(rest.split_once(": ")?.1)?;
    (rest == " findings." || rest == " finding.").then_some(number)
}

/// Severity and name of a rule: `   ❯❯❱ rules.shell`.
fn rule(text: &str) -> Option<(Level, &str)> {
    let (arrow, name) = text.strip_prefix("  ")?.trim_start().split_once("❱ ")?;
    let is_arrow = arrow.chars().all(|c| c == '❯');
    let level = match arrow.chars().count() {
        0 => Level::Note,
        1 => Level::Warning,
        _ => Level::Error,
    };
    is_arrow.then_some((level, name))
}

/// `           11┆ subprocess.call(…)`, the line of a match.
fn line_of_code(text: &str) -> Option<u64> {
    let (line, rest) = leading_in(text.trim_start())?;
    rest.starts_with('┆').then_some(line)
}

/// The rule whose matches are told.
struct Open {
    level: Level,
    rule: String,
    message: String,
    /// A match was announced, and its first line did not come yet.
    is_waiting: bool,
}

/// Reads lines.
#[derive(Default)]
pub(in crate::ingest) struct Reader {
    tally: LintTally,
    path: Option<String>,
    open: Option<Open>,
    listed: u64,
    titles: Option<u64>,
    summary: Option<u64>,
}

impl Reader {
    /// The match that was announced, at a line where it has one.
    fn take(&mut self, line: Option<u64>) -> Result<()> {
        let Some(open) = self.open.as_mut().filter(|open| open.is_waiting) else { return Ok(()) };
        open.is_waiting = false;
        self.listed += 1;
        let place = (self.path.as_deref(), line);
        let found = finding("semgrep", open.level, place, Some(&open.rule), &open.message);
        self.tally.finding(found, Sort::Linter)
    }
}

impl TextReader for Reader {
    fn line(&mut self, text: &str) -> Result<()> {
        if let Some((level, name)) = rule(text) {
            self.take(None)?;
            let (rule, message) = (name.to_owned(), String::new());
            self.open = Some(Open { level, rule, message, is_waiting: true });
        } else if let Some(line) = line_of_code(text) {
            self.take(Some(line).filter(|line| *line > 0))?;
        } else if text.trim_start().starts_with("⋮┆---") {
            self.take(None)?;
            self.open.iter_mut().for_each(|open| open.is_waiting = true);
        } else if let Some(number) = title(text) {
            self.titles = Some(add(self.titles.unwrap_or(0), number)?);
        } else if let Some(number) = summary(text) {
            self.summary = Some(add(self.summary.unwrap_or(0), number)?);
        } else if let Some(rest) = text.strip_prefix("    ") {
            match &mut self.open {
                Some(open) if rest.starts_with("    ") => {
                    if open.is_waiting && !text.contains("❰❰") {
                        join(&mut open.message, rest.trim_start());
                    }
                }
                _ if rest.starts_with(' ') => {}
                _ => {
                    self.take(None)?;
                    (self.open, self.path) = (None, Some(rest.to_owned()));
                }
            }
        }
        Ok(())
    }

    fn claim(&self, text: &str) -> Claim {
        match summary(text) {
            Some(_) => Claim::Last,
            None if title(text).is_some() || (self.titles.is_some() && rule(text).is_some()) => Claim::Ours,
            None => Claim::Other,
        }
    }

    fn is_whole(&self, text: &str) -> bool {
        summary(text).is_some()
    }

    fn finish(mut self) -> Result<Option<Parsed>> {
        let Some(said) = self.titles.or(self.summary) else { return Ok(None) };
        self.take(None)?;
        if self.listed < said {
            let why = format!("Semgrep says that it found {said}, but lists {}", self.listed);
            return Err(match self.titles {
                Some(_) => Error::report(Reject::Malformed, why).help(CUT_HELP),
                None => Error::report(Reject::NoResult, why).help("the findings are on stdout, the summary on stderr"),
            });
        }
        self.tally.tool("semgrep", Sort::Linter);
        let mut parsed = self.tally.finish(&FORMAT)?;
        if self.listed != said {
            parsed.declared = Some(Figures { total: Some(said), ..Figures::default() });
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
        crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None)
    }

    const RUN: &str = "┌─────────────────┐\n│ 4 Code Findings │\n└─────────────────┘\n\n    pkg/a.py\n   ❯❯❱ rules.shell\n          ❰❰ Blocking ❱❱\n\
                       \x20         do not\n          call a shell\n\n           11┆ subprocess.call(\n           12┆ x)\n           ⋮┆--------\n           20┆ y\n\n\
                       \x20   ❯❱ asserted\n          m\n            3┆ assert x\n\n    pkg/b.py\n     ❱ printed\n          n\n            2┆ print(x)\n";

    #[test]
    fn each_match_counts_by_the_arrow_of_its_rule() {
        let all = parsed(&format!("{RUN}\nRan 4 rules on 2 files: 4 findings.\n")).unwrap();
        let figures = &all.figures;
        assert_eq!([figures.errors, figures.warnings, figures.notes], [Some(2), Some(1), Some(1)]);
        let Details::Lint(details) = all.details else { panic!("lint") };
        let told: Vec<_> = details.findings.iter().map(|f| (f.path.as_deref().unwrap(), f.line.unwrap())).collect();
        assert_eq!(told, [("pkg/a.py", 11), ("pkg/a.py", 20), ("pkg/a.py", 3), ("pkg/b.py", 2)]);
        let first = details.findings.first().unwrap();
        assert_eq!((first.rule.as_deref(), first.message.as_str()), (Some("rules.shell"), "do not call a shell"));
        assert_eq!(parsed(RUN).unwrap().figures.total, Some(4));
        assert_eq!(parsed("Ran 4 rules on 1 file: 0 findings.\n").unwrap().figures.total, Some(0));
    }

    #[test]
    fn what_is_cut_or_sums_up_alone_is_refused() {
        let cut = RUN.split("    pkg/b.py").next().unwrap();
        assert_eq!(parsed(cut).unwrap_err().reject(), Some(Reject::Malformed));
        assert_eq!(parsed("Ran 1 rule on 1 file: 1 finding.\n").unwrap_err().reject(), Some(Reject::NoResult));
        assert_eq!(parsed("Ran 4 tests on 1 file\n").unwrap_err().reject(), Some(Reject::NotThisFormat));
    }

    #[test]
    fn a_document_between_what_goes_to_stderr_is_read() {
        let json = r#"{"version":"1.185.0","results":[{"check_id":"r","path":"a.py","start":{"line":1},"extra":{"severity":"ERROR","message":"m"}}],"errors":[],"paths":{"scanned":["a.py"]}}"#;
        let log = format!(
            "  Scanning 1 file with 3 python rules.\n{json}\n • Findings: 1\nRan 3 rules on 1 file: 1 finding.\n"
        );
        let parsed = crate::ingest::parse(&Input::bytes("x", log.as_bytes()), None).unwrap();
        assert_eq!((parsed.format.name, parsed.figures.errors), ("semgrep-json", Some(1)));
    }
}
