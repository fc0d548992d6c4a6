//! `exunit-text`: what `mix test` prints. Its definition is Elixir's `ExUnit.CLIFormatter`. The last summary gives the
//! counts, the list of failures names.

use super::text_report::{Names, Summary, counted, is_foreign};
use super::text_runs::{Announced, TextRun, last_run};
use crate::error::Result;
use crate::ingest::text::{first_lines, printable};
use crate::ingest::{Format, Head, Parsed, Sniff, add};
use crate::model::cases::Outcome;
use crate::model::figures::ReportKind;

/// What `mix test` prints.
pub const FORMAT: Format = Format {
    name: "exunit-text",
    kind: ReportKind::Test,
    about: "terminal output of ExUnit",
    written_by: "mix test",
    told_by: "\"Finished in … seconds\" with \"N tests, N failures\" below it",
    has_end: true,
    counting: "The last summary: failures failed, invalid (of a module whose set-up failed) errored, skipped skipped, the rest of \
               the tests, doctests and properties passed. What is excluded is no test.",
    sniff,
    parse: last_run::<ExUnit>,
};

fn sniff(head: &Head<'_>) -> Sniff {
    if is_foreign(head) {
        return Sniff::No;
    }
    let mut finished = false;
    for line in head.last_lines() {
        if finished && summary(line.trim_end()).is_some() {
            return Sniff::Sure("line \"N tests, N failures\" below \"Finished in …\"".into());
        }
        finished = finishes(line);
    }
    if head.lines().any(|line| ExUnit::begins(line) || heading(line).is_some()) {
        return Sniff::Maybe("line \"  1) test … (…)\" of ExUnit".into());
    }
    Sniff::No
}

/// `Finished in 0.4 seconds (0.00s async, 0.4s sync)`.
fn finishes(line: &str) -> bool {
    line.starts_with("Finished in ") && (line.ends_with(" sync)") || line.ends_with(" seconds"))
}

/// The counts of `2 doctests, 7 tests, 2 failures, 1 excluded, 2 invalid, 1 skipped`.
fn summary(line: &str) -> Option<Vec<(Option<u64>, &str)>> {
    counted(line)?;
    let counts: Vec<_> = line.split(", ").map(counted).collect::<Option<_>>()?;
    let failures = counts.iter().position(|(_, word)| matches!(*word, "failure" | "failures"))?;
    let (kinds, rest) = counts.split_at(failures);
    // A project may name kinds of its own; RSpec's examples are another summary.
    let is_kind = |word: &str| !word.contains(' ') && !matches!(word, "example" | "examples" | "assertions");
    let is_ours = !kinds.is_empty()
        && kinds.iter().all(|(_, word)| is_kind(word))
        && rest.iter().skip(1).all(|(_, word)| matches!(*word, "excluded" | "invalid" | "skipped"));
    is_ours.then_some(counts)
}

/// One run.
#[derive(Debug, Default)]
pub(in crate::ingest) struct ExUnit {
    names: Names,
    found: Option<Summary>,
    /// The line before was "Finished in …".
    finished: bool,
    /// The failure that is told, and whether its place came.
    told: Option<(String, bool)>,
}

impl Announced for ExUnit {
    /// Since Elixir 1.15.
    fn begins(line: &str) -> bool {
        line.starts_with("Running ExUnit with seed: ")
    }

    fn line(&mut self, text: &str) -> Result<()> {
        let finished = std::mem::replace(&mut self.finished, finishes(text));
        match summary(text).filter(|_| finished) {
            Some(counts) => self.found = Some(total(&counts)?),
            None => self.failure(text),
        }
        Ok(())
    }

    fn is_done(&self) -> bool {
        self.found.is_some()
    }

    fn report(self) -> Result<Parsed> {
        self.names.report(&FORMAT, &self.found.unwrap_or_default(), true)
    }
}

impl TextRun for ExUnit {
    const TOOL: &'static str = "ExUnit";

    /// Its last line may go on with a count.
    fn is_whole(line: &str) -> bool {
        !line.starts_with(|c: char| c.is_ascii_digit())
    }
}

impl ExUnit {
    /// `  1) test fails (CartTest)`, `     test/cart_test.exs:5`, and after that its message.
    fn failure(&mut self, text: &str) {
        if let Some(id) = heading(text) {
            self.told = Some(id).filter(|id| self.names.set(id, Outcome::Failed).is_some()).map(|id| (id, false));
        } else if let Some((id, has_place)) = self.told.take().filter(|_| text.starts_with("     "))
            && let Some(case) = self.names.cases.get_mut(&id)
        {
            let place = text.trim().rsplit_once(':').and_then(|(file, line)| Some((file, line.parse::<u64>().ok()?)));
            match place.filter(|(_, line)| !has_place && *line > 0) {
                Some((file, line)) => {
                    (case.file, case.line) = (Some(printable(file, 1000)), Some(line));
                    self.told = Some((id, true));
                }
                None => case.message = first_lines(text),
            }
        }
    }
}

/// The id in `  1) test fails (CartTest)`.
fn heading(text: &str) -> Option<String> {
    let (number, name) = text.strip_prefix("  ")?.split_once(") ")?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let is_test = ["test ", "doctest ", "property "].iter().any(|kind| name.starts_with(kind));
    let (test, module) = name.strip_suffix(')').filter(|_| is_number && is_test)?.rsplit_once(" (")?;
    Some(printable(&format!("{module}::{test}"), super::LONGEST_ID))
}

fn total(counts: &[(Option<u64>, &str)]) -> Result<Summary> {
    let (mut summary, mut excluded) = (Summary::default(), 0);
    for (number, word) in counts {
        let slot = match *word {
            "failure" | "failures" => &mut summary.failed,
            "invalid" => &mut summary.errored,
            "skipped" => &mut summary.skipped,
            "excluded" => &mut excluded,
            _ => &mut summary.passed,
        };
        Summary::add(slot, *number)?;
    }
    let others = [summary.errored, summary.skipped, excluded].into_iter().try_fold(summary.failed, add)?;
    summary.passed = summary.passed.saturating_sub(others);
    Ok(summary)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::input::Input;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    const RUN: &str = "Running ExUnit with seed: 1, max_cases: 8\n\n.9 tests, 0 failures\n\n  1) test fails (CartTest)\n\
                       \x20    test/cart_test.exs:5\n     Assertion with == failed\n     code:  assert 1 == 2\n\n..\n\n\
                       Finished in 0.4 seconds (0.00s async, 0.4s sync)\n";
    const END: &str = "1 doctest, 8 tests, 1 failure, 2 excluded, 2 invalid, 1 skipped\n\nRandomized with seed 1\n";

    fn read(text: &str) -> Result<Parsed> {
        (FORMAT.parse)(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn the_last_summary_counts() {
        assert_eq!(counts(&read(&format!("{RUN}{END}")).unwrap()), [7, 3, 1, 2, 1]);
        let (_, older) = RUN.split_once('\n').unwrap();
        assert_eq!(counts(&read(&format!("{older}3 tests, 0 failures\n")).unwrap()), [3, 3, 0, 0, 0]);
        let twice = read(&format!("{RUN}{END}").repeat(2)).unwrap();
        assert_eq!((counts(&twice), twice.warnings.len()), ([7, 3, 1, 2, 1], 1));
    }

    #[test]
    fn failures_have_place_and_message() {
        let details = details(&read(&format!("{RUN}{END}")).unwrap());
        let case = &details.cases.cases["CartTest::test fails"];
        assert_eq!((case.file.as_deref(), case.line), (Some("test/cart_test.exs"), Some(5)));
        assert_eq!(case.message.as_deref(), Some("Assertion with == failed"));
    }

    #[test]
    fn a_run_without_its_summary_is_no_result() {
        for text in [RUN, "", END, &format!("{RUN}{END}{RUN}")] {
            assert_eq!(read(text).unwrap_err().reject(), Some(Reject::NoResult), "{text}");
        }
        for cut in ["8 tests, 1 failures", "18446744073709551616 tests, 0 failures\n"] {
            assert_eq!(read(&format!("{RUN}{cut}")).unwrap_err().reject(), Some(Reject::Malformed), "{cut}");
        }
    }

    #[test]
    fn it_is_told_by_its_summary() {
        assert!(matches!(sniffed(&FORMAT, &format!("{RUN}{END}")), Sniff::Sure(_)));
        let rspec = "Finished in 0.05 seconds\n10 examples, 2 failures\n";
        let minitest = "Finished in 0.05 seconds\n2 tests, 2 assertions, 0 failures, 0 errors, 0 skips\n";
        assert!(matches!(sniffed(&FORMAT, RUN), Sniff::Maybe(_)));
        for none in [END, rspec, minitest] {
            assert_eq!(sniffed(&FORMAT, none), Sniff::No, "{none}");
        }
    }
}
