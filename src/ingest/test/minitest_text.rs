//! `minitest-text`: what Minitest prints, Rails with it, and test-unit. Their definitions are `SummaryReporter` in
//! Minitest's `lib/minitest.rb` and `Test::Unit::TestResult#summary`. The last summary gives the counts, the list of
//! failures names; with `-v` all tests have names.

use super::telling::Telling;
use super::text_outline::{Outline, Row};
use super::text_report::{Names, Summary, counted, is_foreign};
use super::text_runs::{Announced, TextRun, last_run};
use crate::error::Result;
use crate::ingest::text::{first_lines, is_number, printable, split_at};
use crate::ingest::{Format, Head, Parsed, Sniff, add};
use crate::model::cases::Outcome;
use crate::model::figures::ReportKind;

/// What Minitest prints.
pub const FORMAT: Format = Format {
    name: "minitest-text",
    kind: ReportKind::Test,
    about: "terminal output of Minitest and test-unit",
    written_by: "minitest, rails test, minitest-reporters, test-unit",
    told_by: "\"N runs, N assertions, N failures, N errors, N skips\"",
    has_end: true,
    counting: "The last summary: failures failed, errors errored, skips, pendings and omissions skipped, the rest of \
               the runs passed.",
    sniff,
    parse: last_run::<Minitest>,
};

fn sniff(head: &Head<'_>) -> Sniff {
    if is_foreign(head) {
        return Sniff::No;
    }
    if head.last_lines().any(|line| summary(line.trim_end()).is_some()) {
        return Sniff::Sure("line \"N runs, N assertions, N failures, N errors, N skips\"".into());
    }
    if head.lines().any(|line| line == "# Running:") {
        return Sniff::Maybe("line \"# Running:\" of Minitest".into());
    }
    Sniff::No
}

/// The counts of `6 runs, 4 assertions, 2 failures, 1 errors, 1 skips`, and of test-unit's
/// `5 tests, 2 assertions, 1 failures, 1 errors, 1 pendings, 1 omissions, 0 notifications`.
fn summary(line: &str) -> Option<Vec<(Option<u64>, &str)>> {
    if !line.trim_start().starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    // Nearly every line is told by that alone.
    split_at(line, ", ")?;
    let counts: Vec<_> = line.split(", ").map(counted).collect::<Option<_>>()?;
    let words: Vec<&str> = counts.iter().map(|(_, word)| word.strip_suffix('s').unwrap_or(word)).collect();
    let is_whole = matches!(
        words.as_slice(),
        ["run" | "test", "assertion", "failure", "error", "skip"]
            | ["test", "assertion", "failure", "error", "pending", "omission", "notification"]
    );
    is_whole.then_some(counts)
}

/// One run.
#[derive(Debug, Default)]
pub(in crate::ingest) struct Minitest {
    names: Names,
    found: Option<Summary>,
    /// What the next line names, and the test whose failure is told.
    heading: Option<Outcome>,
    told: Option<Telling>,
    /// What `-v` tells of each test; the one whose row is not at its end, since it printed something.
    rows: Outline,
    begun: Option<String>,
}

impl Announced for Minitest {
    fn begins(line: &str) -> bool {
        let begins = ["# Running:", "# Running tests:", "Started with run options ", "Loaded suite "];
        begins.iter().any(|begin| line.starts_with(begin))
    }

    fn line(&mut self, text: &str) -> Result<()> {
        if let Some(counts) = summary(text) {
            self.found = Some(total(&counts)?);
        } else if !self.row(text) {
            self.other(text);
        }
        Ok(())
    }

    fn ends_alone(line: &str) -> bool {
        summary(line).is_some()
    }

    fn is_done(&self) -> bool {
        self.found.is_some()
    }

    fn report(mut self) -> Result<Parsed> {
        let found = self.found.unwrap_or_default();
        self.rows.name(&mut self.names, &found);
        self.names.report(&FORMAT, &found, false)
    }
}

impl TextRun for Minitest {
    const TOOL: &'static str = "Minitest";

    fn is_whole(line: &str) -> bool {
        let begins_a_summary = counted(line).is_some_and(|(_, rest)| rest.contains("assertion"));
        !begins_a_summary || line.ends_with(" skips") || line.ends_with(" notifications")
    }
}

/// `CartTest#test_adds` and the rest of the row `CartTest#test_adds = 0.00 s = .`
fn begun(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = text.split_once(" = ").or_else(|| Some((text.strip_suffix(" =")?, "")))?;
    name.contains("#test_").then_some((name, rest))
}

/// The outcome at the end of such a row.
fn ended(text: &str) -> Option<Outcome> {
    let (time, mark) = text.rsplit_once(" s = ")?;
    let (_, hundredths) = time.rsplit_once('.').filter(|(whole, _)| whole.ends_with(|c: char| c.is_ascii_digit()))?;
    match mark {
        _ if hundredths.len() != 2 || !is_number(hundredths) => None,
        "." => Some(Outcome::Passed),
        "F" => Some(Outcome::Failed),
        "E" => Some(Outcome::Errored),
        "S" => Some(Outcome::Skipped),
        _ => None,
    }
}

impl Minitest {
    /// A row of `-v`, or what a test printed into it; whether it is one.
    fn row(&mut self, text: &str) -> bool {
        let rest = match begun(text) {
            Some((name, rest)) => {
                self.begun = Some(name.replacen('#', "::", 1));
                rest
            }
            None => text,
        };
        if text.starts_with("Finished in ") {
            self.begun = None;
        }
        let Some(outcome) = ended(rest) else { return self.begun.is_some() };
        let Some(id) = self.begun.take() else { return false };
        // Rows stand in no block.
        self.rows.line(2, Row::Test(outcome, &id));
        true
    }

    fn other(&mut self, text: &str) {
        let content = text.trim_start();
        let bare = content.split_once(") ").map_or(content, |(number, rest)| {
            if number.bytes().all(|byte| byte.is_ascii_digit()) { rest } else { content }
        });
        match (bare, self.heading.take()) {
            ("Failure:", _) => self.heading = Some(Outcome::Failed),
            ("Error:", _) => self.heading = Some(Outcome::Errored),
            ("Skipped:", _) => self.heading = Some(Outcome::Skipped),
            (_, Some(outcome)) => self.named(content, outcome),
            _ if self.unit(text) => {}
            _ if content.is_empty() || content.contains(".rb:") => self.told = None,
            _ => {
                if let Some(told) = &mut self.told {
                    told.line(&mut self.names, content);
                }
            }
        }
    }

    /// `CartTest#test_fails [test/cart_test.rb:5]:`.
    fn named(&mut self, text: &str, outcome: Outcome) {
        let text = text.strip_suffix(':').unwrap_or(text);
        let (name, place) = match text.strip_suffix(']').and_then(|text| text.rsplit_once(" [")) {
            Some((name, place)) => (name, place.rsplit_once(':')),
            None => (text, None),
        };
        let Some((class, test)) = name.split_once('#') else { return };
        let id = printable(&format!("{class}::{test}"), super::LONGEST_ID);
        let Some(case) = self.names.set(&id, outcome) else { return };
        if let Some((file, line)) = place {
            (case.file, case.line) = (Some(printable(file, 1000)), line.parse().ok().filter(|line| *line > 0));
        }
        self.told = (outcome != Outcome::Skipped).then(|| Telling::of(&self.names, &id));
    }

    /// `Failure: test_fails(CartTest)`, `Error: test_errors(CartTest): RuntimeError: boom` of test-unit.
    fn unit(&mut self, text: &str) -> bool {
        let (outcome, rest) = match (text.strip_prefix("Failure: "), text.strip_prefix("Error: ")) {
            (Some(rest), _) => (Outcome::Failed, rest),
            (None, Some(rest)) => (Outcome::Errored, rest),
            (None, None) => return false,
        };
        let Some((test, (class, message))) =
            rest.split_once('(').and_then(|(test, rest)| Some((test, rest.split_once(')')?)))
        else {
            return false;
        };
        if let Some(case) = self.names.set(&format!("{class}::{test}"), outcome) {
            case.message = message.strip_prefix(": ").and_then(first_lines);
        }
        true
    }
}

fn total(counts: &[(Option<u64>, &str)]) -> Result<Summary> {
    let mut summary = Summary::default();
    for (number, word) in counts {
        let slot = match word.strip_suffix('s').unwrap_or(word) {
            "run" | "test" => &mut summary.passed,
            "failure" => &mut summary.failed,
            "error" => &mut summary.errored,
            "skip" | "pending" | "omission" => &mut summary.skipped,
            _ => continue,
        };
        Summary::add(slot, *number)?;
    }
    let others = add(add(summary.errored, summary.failed)?, summary.skipped)?;
    summary.passed = summary.passed.saturating_sub(others);
    Ok(summary)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::input::Input;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    const RUN: &str = "Run options: --seed 1\n\n# Running:\n\nES.FF.\n\nFinished in 0.0008s, 7127.9 runs/s, 4751.9 assertions/s.\n\n\
                       \x20 1) Error:\nCartTest#test_errors:\nRuntimeError: boom\n    mt.rb:6:in `test_errors'\n\n\
                       \x20 2) Failure:\nCart spec#test_0002_breaks [mt.rb:11]:\nExpected: 2\n  Actual: 1\n\n";
    const END: &str = "6 runs, 4 assertions, 2 failures, 1 errors, 1 skips\n\nYou have skipped tests.\n";
    const UNIT: &str = "Loaded suite tu\nStarted\n.E\n====\nError: test_errors(CartTest): RuntimeError: boom\ntu.rb:5:in `test_errors'\n\
                        ====\nFailure: test_fails(CartTest)\n\nFinished in 0.01 seconds.\n----\n\
                        5 tests, 2 assertions, 1 failures, 1 errors, 1 pendings, 1 omissions, 0 notifications\n25% passed\n";

    fn read(text: &str) -> Result<Parsed> {
        (FORMAT.parse)(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn the_last_summary_counts() {
        assert_eq!(counts(&read(&format!("{RUN}{END}")).unwrap()), [6, 2, 2, 1, 1]);
        assert_eq!(counts(&read(UNIT).unwrap()), [5, 1, 1, 1, 2]);
        // Reporters of minitest-reporters announce nothing.
        assert_eq!(counts(&read("1 tests, 1 assertions, 0 failures, 0 errors, 0 skips").unwrap()), [1, 1, 0, 0, 0]);
        let twice = read(&format!("{RUN}{END}{UNIT}")).unwrap();
        assert_eq!((counts(&twice), twice.warnings.len()), ([5, 1, 1, 1, 2], 1));
    }

    #[test]
    fn failures_have_names_places_and_messages() {
        let minitest = details(&read(&format!("{RUN}{END}")).unwrap());
        let case = &minitest.cases.cases["CartTest::test_errors"];
        assert_eq!((case.outcome, case.message.as_deref()), (Outcome::Errored, Some("RuntimeError: boom")));
        let case = &minitest.cases.cases["Cart spec::test_0002_breaks"];
        assert_eq!(
            (case.file.as_deref(), case.line, case.message.as_deref()),
            (Some("mt.rb"), Some(11), Some("Expected: 2 | Actual: 1"))
        );
        let unit = details(&read(UNIT).unwrap());
        assert_eq!(unit.cases.cases["CartTest::test_errors"].message.as_deref(), Some("RuntimeError: boom"));
        assert_eq!((unit.cases.outcome("CartTest::test_fails"), unit.dropped), (Some(Outcome::Failed), 3));
    }

    #[test]
    fn with_v_all_tests_have_names_whatever_they_print() {
        let row = |test: &str, mark: &str| format!("CartTest#test_{test} = 0.01 s = {mark}\n");
        let verbose = format!(
            "# Running:\n\n{}{}CartTest#test_prints = hello\nCart # 1.5 s = .\nbye1.25 s = .\n{}{}{}\nFinished in 0.0008s\n\n\
             \x20 1) Error:\nCartTest#test_errors:\nRuntimeError: boom\n\n  2) Failure:\nCartTest#test_fails [c.rb:9]:\nno\n\n",
            row("adds", "."),
            row("takes", "."),
            row("errors", "E"),
            row("fails", "F"),
            row("later", "S"),
        );
        let end = "6 runs, 4 assertions, 1 failures, 1 errors, 1 skips\n";
        let told = details(&read(&format!("{verbose}{end}")).unwrap());
        let named: Vec<_> = told
            .cases
            .cases
            .iter()
            .map(|(id, case)| (id.strip_prefix("CartTest::test_").unwrap(), case.outcome))
            .collect();
        let passed = Outcome::Passed;
        let expected = [
            ("adds", passed),
            ("errors", Outcome::Errored),
            ("fails", Outcome::Failed),
            ("later", Outcome::Skipped),
            ("prints", passed),
            ("takes", passed),
        ];
        assert_eq!((named.as_slice(), told.dropped), (&expected[..], 0));
        assert_eq!(told.cases.cases["CartTest::test_fails"].line, Some(9));
        let fewer = verbose.replace(&row("adds", "."), "");
        assert_eq!(details(&read(&format!("{fewer}{end}")).unwrap()).cases.cases.len(), 2, "a row is missing");
    }

    #[test]
    fn a_run_without_its_summary_is_no_result() {
        for text in [RUN, "", &format!("{RUN}{END}{RUN}")] {
            assert_eq!(read(text).unwrap_err().reject(), Some(Reject::NoResult), "{text}");
        }
        for cut in [
            "6 runs, 4 assertions, 2 failures, 1 errors, 1",
            "18446744073709551616 runs, 0 assertions, 0 failures, 0 errors, 0 skips",
        ] {
            assert_eq!(read(&format!("{RUN}{cut}")).unwrap_err().reject(), Some(Reject::Malformed), "{cut}");
        }
    }

    #[test]
    fn it_is_told_by_its_summary() {
        for text in [END, UNIT] {
            assert!(matches!(sniffed(&FORMAT, text), Sniff::Sure(_)), "{text}");
        }
        for none in ["6 runs, 4 assertions\n", "OK (2 tests, 2 assertions)\n", "5 tests, 1 failures\n"] {
            assert_eq!(sniffed(&FORMAT, none), Sniff::No, "{none}");
        }
    }
}
