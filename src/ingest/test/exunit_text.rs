//! `exunit-text`: what `mix test` prints. Its definition is Elixir's `ExUnit.CLIFormatter`. The last summary gives the
//! counts, of an umbrella the last of each app; the list of failures names.
//!
//! Up to Elixir 1.18 what is excluded is among the tests, `3 tests, 0 failures, 1 excluded`; 1.19 leaves it out,
//! `2 tests, 0 failures (1 excluded)`; 1.20 tells `Result: 1/2 passed, 1 excluded`, where only what passed or failed is in
//! the sum.

use std::collections::{BTreeMap, BTreeSet};

use super::text_report::{Names, Summary, counted, is_foreign, no_result};
use super::text_runs::{Announced, cut};
use crate::error::Result;
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine, first_lines, is_number, printable};
use crate::ingest::{Format, Head, Parsed, Sniff, add};
use crate::model::cases::Outcome;
use crate::model::figures::ReportKind;

/// What `mix test` prints.
pub const FORMAT: Format = Format {
    name: "exunit-text",
    kind: ReportKind::Test,
    about: "terminal output of ExUnit",
    written_by: "mix test",
    told_by: "\"Finished in … seconds\" with \"N tests, N failures\" or \"Result: N passed\" below it",
    has_end: true,
    counting: "The last summary, of each app of an umbrella: failures failed, invalid (of a module whose set-up \
               failed) errored, skipped skipped, the rest of the tests, doctests and properties passed. What is \
               excluded is no test.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    if is_foreign(head) {
        return Sniff::No;
    }
    let mut finished = false;
    for line in head.last_lines() {
        if finished && summary(line.trim_end()).is_some() {
            return Sniff::Sure("line \"N tests, N failures\" or \"Result: N passed\" below \"Finished in …\"".into());
        }
        finished = finishes(line) || finished && is_of_slowest(line);
    }
    if head.lines().any(|line| ExUnit::begins(line) || heading(line).is_some()) {
        return Sniff::Maybe("line \"  1) test … (…)\" of ExUnit".into());
    }
    Sniff::No
}

/// `Finished in 0.4 seconds (0.00s async, 0.4s sync)`; before Elixir 1.12 `(0.2s on load, 0.2s on tests)`.
fn finishes(line: &str) -> bool {
    line.starts_with("Finished in ") && [" sync)", " on tests)", " seconds"].iter().any(|end| line.ends_with(end))
}

/// What may stand between that and the summary: nothing, or the list of `--slowest`.
fn is_of_slowest(line: &str) -> bool {
    line.is_empty() || line.ends_with("ms)") || ["Top ", "  * ", " ["].iter().any(|begin| line.starts_with(begin))
}

/// The counts of a summary. `None` if it is none; a number is `None` if it is too large.
fn summary(line: &str) -> Option<Vec<(Slot, Option<u64>)>> {
    line.strip_prefix("Result: ").map_or_else(|| of_tests(line), of_result)
}

/// What a number of a summary counts.
#[derive(Clone, Copy, PartialEq)]
enum Slot {
    /// Tests, of any outcome.
    All,
    /// The same, with those that were excluded.
    AllAndExcluded,
    /// Of what passed or failed.
    Run,
    Passed,
    Failed,
    Invalid,
    Skipped,
    Excluded,
}

fn slot(word: &str) -> Option<Slot> {
    Some(match word {
        "failure" | "failures" => Slot::Failed,
        "excluded" => Slot::Excluded,
        "invalid" => Slot::Invalid,
        "skipped" => Slot::Skipped,
        _ => return None,
    })
}

/// `2 doctests, 7 tests, 2 failures, 1 excluded, 2 invalid, 1 skipped`, or `2 tests, 0 failures (1 excluded)`.
fn of_tests(line: &str) -> Option<Vec<(Slot, Option<u64>)>> {
    counted(line)?;
    let (line, outside) = match line.strip_suffix(" excluded)") {
        Some(rest) => rest.rsplit_once(" (").map(|(line, number)| (line, Some(number)))?,
        None => (line, None),
    };
    outside.map_or(Some(0), |number| number.parse::<u64>().ok())?;
    let parts: Vec<_> = line.split(", ").map(counted).collect::<Option<_>>()?;
    let failures = parts.iter().position(|(_, word)| matches!(*word, "failure" | "failures"))?;
    let (kinds, rest) = parts.split_at(failures);
    // A project may name kinds of its own; RSpec's examples are another summary.
    let is_kind = |word: &str| !word.contains(' ') && !matches!(word, "example" | "examples" | "assertions");
    if kinds.is_empty() || !kinds.iter().all(|(_, word)| is_kind(word)) {
        return None;
    }
    let all = if outside.is_some() { Slot::All } else { Slot::AllAndExcluded };
    let mut counts: Vec<_> = kinds.iter().map(|(number, _)| (all, *number)).collect();
    for (number, word) in rest {
        counts.push((slot(word)?, *number));
    }
    Some(counts)
}

/// What stands behind `Result: `: `1506/1509 passed (3/3 doctests, 1503/1506 tests), 13 invalid, 179 skipped`.
fn of_result(text: &str) -> Option<Vec<(Slot, Option<u64>)>> {
    let (passed, rest) = text.split_once(" passed")?;
    let rest = match rest.strip_prefix(" (") {
        Some(kinds) => kinds.split_once(')')?.1,
        None => rest,
    };
    let (passed, run) = passed.split_once('/').unwrap_or((passed, passed));
    if !is_number(passed) || !is_number(run) {
        return None;
    }
    let mut counts = vec![(Slot::Passed, passed.parse().ok()), (Slot::Run, run.parse().ok())];
    for part in rest.split(", ").skip(1) {
        let (number, word) = counted(part)?;
        counts.push((slot(word).filter(|slot| *slot != Slot::Failed)?, number));
    }
    rest.split(", ").next().filter(|first| first.is_empty())?;
    Some(counts)
}

/// The app of an umbrella whose output begins: `==> cart`.
fn app(line: &str) -> Option<&str> {
    line.strip_prefix("==> ").filter(|name| !name.is_empty() && !name.contains(' '))
}

/// The last run of each app.
fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut apps: BTreeMap<String, ExUnit> = BTreeMap::new();
    let (mut run, mut begun, mut runs, mut last) = (ExUnit::default(), false, 0_usize, 0);
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
    while let Some(line) = lines.next()? {
        last = line.number;
        let text = line.text.trim_end();
        // It may go on with a count.
        if !line.ended && (text.starts_with(|c: char| c.is_ascii_digit()) || text.starts_with("Result: ")) {
            return Err(cut("ExUnit", last));
        }
        if run.is_done() && (ExUnit::begins(text) || app(text).is_some()) {
            let run = std::mem::take(&mut run);
            apps.insert(run.app.clone(), run);
            (begun, runs) = (false, runs + 1);
        } else if begun && ExUnit::begins(text) {
            return Err(no_result("a run of ExUnit has no summary", last));
        }
        begun |= ExUnit::begins(text) || tests_run(text);
        run.line(text).map_err(|error| error.line(last))?;
    }
    if run.is_done() {
        apps.insert(run.app.clone(), run);
        runs += 1;
    } else if begun || apps.is_empty() {
        // An app of an umbrella may have no tests.
        return Err(no_result("no summary of ExUnit at its end", last));
    }
    let repeated = runs > apps.len();
    let (mut sum, mut names) = (Summary::default(), Names::default());
    for (_, run) in apps {
        sum.merge(&run.found.unwrap_or_default())?;
        names.merge(run.names);
    }
    let mut parsed = names.report(&FORMAT, &sum, true)?;
    if repeated {
        parsed.warnings.push(format!("{runs} runs of ExUnit are in it: the last one counts"));
    }
    Ok(parsed)
}

/// `..*.?`, or the heading of a failure.
fn tests_run(line: &str) -> bool {
    let is_progress = !line.is_empty() && line.bytes().all(|byte| matches!(byte, b'.' | b'*' | b'?'));
    is_progress || heading(line).is_some()
}

/// One run.
#[derive(Debug, Default)]
pub(in crate::ingest) struct ExUnit {
    names: Names,
    found: Option<Summary>,
    /// Of an umbrella; empty of what is none.
    app: String,
    /// "Finished in …" came, and nothing since that does not belong to it.
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
        if let Some(app) = app(text) {
            self.app = printable(app, 200);
        }
        let finished = self.finished;
        self.finished = finishes(text) || finished && is_of_slowest(text);
        match summary(text).filter(|_| finished) {
            Some(counts) => self.found = Some(total(&counts)?),
            None => self.failure(text),
        }
        Ok(())
    }

    fn is_done(&self) -> bool {
        self.found.is_some()
    }

    fn units(&self) -> BTreeSet<String> {
        Some(self.app.clone()).filter(|app| !app.is_empty()).into_iter().collect()
    }

    fn report(self) -> Result<Parsed> {
        self.names.report(&FORMAT, &self.found.unwrap_or_default(), true)
    }
}

impl ExUnit {
    /// `  1) test fails (CartTest)`, `     test/cart_test.exs:5`, and after that its message.
    fn failure(&mut self, text: &str) {
        if let Some(id) = heading(text) {
            self.told = Some(id).filter(|id| self.names.set(id, Outcome::Failed).is_some()).map(|id| (id, false));
        } else if let Some((id, has_place)) = self.told.take().filter(|_| text.starts_with("     "))
            && let Some(case) = self.names.get_mut(&id)
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
    let is_test = ["test ", "doctest ", "property "].iter().any(|kind| name.starts_with(kind));
    let (test, module) = name.strip_suffix(')').filter(|_| is_number(number) && is_test)?.rsplit_once(" (")?;
    Some(printable(&format!("{module}::{test}"), super::LONGEST_ID))
}

fn total(counts: &[(Slot, Option<u64>)]) -> Result<Summary> {
    let (mut summary, mut all, mut run, mut excluded) = (Summary::default(), 0, 0, 0);
    for (slot, number) in counts {
        let sum = match slot {
            Slot::All | Slot::AllAndExcluded => &mut all,
            Slot::Run => &mut run,
            Slot::Passed => &mut summary.passed,
            Slot::Failed => &mut summary.failed,
            Slot::Invalid => &mut summary.errored,
            Slot::Skipped => &mut summary.skipped,
            Slot::Excluded => &mut excluded,
        };
        Summary::add(sum, *number)?;
    }
    if counts.iter().any(|(slot, _)| *slot == Slot::Run) {
        summary.failed = run.saturating_sub(summary.passed);
        return Ok(summary);
    }
    let outside = if counts.iter().any(|(slot, _)| *slot == Slot::AllAndExcluded) { excluded } else { 0 };
    let others = [summary.errored, summary.skipped, outside].into_iter().try_fold(summary.failed, add)?;
    summary.passed = all.saturating_sub(others);
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
    fn summaries_of_all_versions_count() {
        for (end, expected) in [
            ("8 tests, 1 failure, 1 invalid, 1 skipped (2 excluded)\n", [8, 5, 1, 1, 1]),
            ("\nResult: 8 passed\n", [8, 8, 0, 0, 0]),
            (
                "\nResult: 7/9 passed (3/3 doctests, 4/6 tests), 1 invalid, 2 skipped, 5 excluded\nFailed: 2 tests\n",
                [12, 7, 2, 1, 2],
            ),
            (
                "\nTop 1 slowest (0.1s), 9% of total time:\n\n  * test adds (CartTest) (0.1ms) [test/cart.exs:5]\n\n2 tests, 0 failures\n",
                [2, 2, 0, 0, 0],
            ),
        ] {
            assert_eq!(counts(&read(&format!("{RUN}{end}")).unwrap()), expected, "{end}");
            assert!(matches!(sniffed(&FORMAT, &format!("{RUN}{end}")), Sniff::Sure(_)), "{end}");
        }
        let old = "..\n\nFinished in 0.04 seconds (0.04s on load, 0.00s on tests)\n2 tests, 0 failures\n";
        assert_eq!(counts(&read(old).unwrap()), [2, 2, 0, 0, 0]);
    }

    #[test]
    fn apps_of_an_umbrella_add_up() {
        let of = |app: &str| format!("==> {app}\n{RUN}{END}");
        let both = read(&format!("{}{}==> docs\nThere are no tests to run\n", of("cart"), of("shop"))).unwrap();
        assert_eq!((counts(&both), both.warnings.len()), ([14, 6, 2, 4, 2], 0));
        let old = "==> cart\n.\n\nFinished in 0.4 seconds\n1 test, 0 failures\n==> shop\n..\n";
        assert_eq!(read(old).unwrap_err().reject(), Some(Reject::NoResult));
        assert_eq!(
            counts(&read(&format!("{old}\nFinished in 0.4 seconds\n2 tests, 0 failures\n")).unwrap()),
            [3, 3, 0, 0, 0]
        );
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
        for text in [RUN, "", END, &format!("{RUN}{END}{RUN}"), &format!("{RUN}{RUN}{END}")] {
            assert_eq!(read(text).unwrap_err().reject(), Some(Reject::NoResult), "{text}");
        }
        for cut in ["8 tests, 1 failures", "18446744073709551616 tests, 0 failures\n", "\nResult: 8 passed"] {
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
