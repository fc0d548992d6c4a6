//! `busted-text`: what busted, Lua's test runner, prints with its handlers utfTerminal and plainTerminal.
//! <https://lunarmodules.github.io/busted/>
//!
//! The summary stands above the list of what failed. An error outside of tests is an error like that of a test.

use super::text_report::{Names, Summary, counted};
use super::text_runs::{Announced, TextRun, last_run};
use crate::error::Result;
use crate::ingest::text::{first_lines, printable};
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::cases::Outcome;
use crate::model::figures::ReportKind;

/// What `busted` prints.
pub const FORMAT: Format = Format {
    name: "busted-text",
    kind: ReportKind::Test,
    about: "terminal output of busted",
    written_by: "busted (Lua)",
    told_by: "\"2 successes / 1 failure / 2 errors / 1 pending : 0.001534 seconds\"",
    has_end: true,
    counting: "The last summary: successes passed, failures failed, errors errored, pending skipped.",
    sniff,
    parse: last_run::<Busted>,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let is_ours = |line: &str| summary(line.trim_end()).is_some();
    match head.xml().is_none() && (head.lines().any(is_ours) || head.last_lines().any(is_ours)) {
        true => Sniff::Sure("line \"N successes / N failures / N errors / N pending\"".into()),
        false => Sniff::No,
    }
}

/// The counts of `2 successes / 1 failure / 2 errors / 1 pending : 0.001534 seconds`.
fn summary(line: &str) -> Option<Summary> {
    counted(line)?;
    let (counts, time) = line.split_once(" : ")?;
    let parts: Vec<&str> = counts.split(" / ").collect();
    let meaning = |word: &str| match word {
        "success" | "successes" => Some(Outcome::Passed),
        "failure" | "failures" => Some(Outcome::Failed),
        "error" | "errors" => Some(Outcome::Errored),
        "pending" => Some(Outcome::Skipped),
        _ => None,
    };
    let is_whole = parts.len() == 4 && (time.ends_with(" seconds") || time.ends_with(" second"));
    Summary::of(parts, meaning).filter(|_| is_whole)
}

/// One run.
#[derive(Debug, Default)]
pub(in crate::ingest) struct Busted {
    names: Names,
    found: Option<Summary>,
    /// What is told, its place, and its name once it came.
    told: Option<(Outcome, String, Option<String>)>,
}

impl Announced for Busted {
    fn begins(_: &str) -> bool {
        false
    }

    fn line(&mut self, text: &str) -> Result<()> {
        let headings = [("Failure", Outcome::Failed), ("Error", Outcome::Errored)];
        let outcome = headings.iter().find_map(|(word, outcome)| {
            let rest = text.strip_prefix(word)?;
            let place = rest.strip_prefix(" → ").or_else(|| rest.strip_prefix(" -> "))?;
            Some((*outcome, place))
        });
        if let Some(found) = summary(text) {
            (self.found, self.names) = (Some(found), Names::default());
        } else if let Some((outcome, place)) = outcome.filter(|_| self.found.is_some()) {
            self.told = Some((outcome, place.to_owned(), None));
        } else if let Some((outcome, place, name)) = self.told.take() {
            let Some(name) = name else {
                if let (Some(case), Some((file, line))) = (self.names.set(text, outcome), place.rsplit_once(" @ ")) {
                    (case.file, case.line) = (Some(printable(file, 1000)), line.parse().ok().filter(|line| *line > 0));
                }
                self.told = Some((outcome, place, Some(text.to_owned())));
                return Ok(());
            };
            if let Some(case) = self.names.get_mut(&name) {
                case.message = first_lines(text);
            }
        }
        Ok(())
    }

    fn is_done(&self) -> bool {
        self.found.is_some()
    }

    fn report(self) -> Result<Parsed> {
        self.names.report(&FORMAT, &self.found.unwrap_or_default(), false)
    }
}

impl TextRun for Busted {
    const TOOL: &'static str = "busted";

    fn is_whole(line: &str) -> bool {
        summary(line).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::input::Input;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    const END: &str = "++-*.\n2 successes / 1 failure / 2 errors / 1 pending : 0.001534 seconds\n";
    const BELOW: &str = "\nPending -> spec/cart_spec.lua @ 6\ncart waits\n\nFailure → spec/cart_spec.lua @ 4\ncart fails\n\
                         spec/cart_spec.lua:4: Expected objects to be equal.\nPassed in:\n(number) 2\n";

    fn read(text: &str) -> Result<Parsed> {
        (FORMAT.parse)(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn the_summary_counts_and_failures_are_named_below_it() {
        let parsed = read(&format!("{END}{BELOW}")).unwrap();
        assert_eq!(counts(&parsed), [6, 2, 1, 2, 1]);
        let failed = details(&parsed).cases.cases.remove("cart fails").unwrap();
        assert_eq!((failed.file.as_deref(), failed.line), (Some("spec/cart_spec.lua"), Some(4)));
        assert_eq!(failed.message.as_deref(), Some("spec/cart_spec.lua:4: Expected objects to be equal."));
        let twice = format!("{END}{BELOW}1 success / 0 failures / 0 errors / 0 pending : 0.1 seconds\n");
        assert_eq!(counts(&read(&twice).unwrap()), [1, 1, 0, 0, 0]);
        assert!(matches!(sniffed(&FORMAT, END), Sniff::Sure(_)));
    }

    #[test]
    fn without_its_summary_there_is_no_result() {
        for (text, reject) in [("++-*.\n", Reject::NoResult), (END.trim_end_matches("onds\n"), Reject::Malformed)] {
            assert_eq!(read(text).unwrap_err().reject(), Some(reject), "{text}");
        }
    }
}
