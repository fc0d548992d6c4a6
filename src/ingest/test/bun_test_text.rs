//! `bun-test-text`: what `bun test` prints. The last summary gives the counts. Names stand in the lines `(pass)` and
//! `(fail)`, with marks in their place on a terminal; under an agent bun leaves out those that passed.

use super::milliseconds;
use super::text_report::{Names, Summary, counted, is_foreign, no_result, say_last, titled};
use super::text_runs::Announced;
use crate::error::Result;
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine, first_lines, printable};
use crate::ingest::{Format, Head, Parsed, Sniff, add};
use crate::model::cases::Outcome;
use crate::model::figures::ReportKind;
use crate::model::fixtures::BUN_HOOK;

/// What `bun test` prints.
pub const FORMAT: Format = Format {
    name: "bun-test-text",
    kind: ReportKind::Test,
    about: "terminal output of bun test",
    written_by: "bun test",
    told_by: "its line \"bun test v…\", or \"Ran N tests across N files.\"",
    has_end: true,
    counting: "The last summary: pass passed, fail failed, skip and todo skipped; what is filtered out is no test. \
               Errors outside of tests, which bun counts as failures too, are errored. A run that bailed out has no \
               counts: its tests less the failed, skipped and to-do ones passed.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    if is_foreign(head) {
        return Sniff::No;
    }
    if head.lines().take(50).any(begins) {
        return Sniff::Sure("line \"bun test v…\"".into());
    }
    if head.last_lines().any(|line| ran(line).is_some()) {
        return Sniff::Sure("line \"Ran N tests across N files.\" of bun".into());
    }
    Sniff::No
}

/// `bun test v1.4.5 (a7733435c)`.
fn begins(line: &str) -> bool {
    let version = line.strip_prefix("bun test v");
    version.is_some_and(|version| version.starts_with(|c: char| c.is_ascii_digit()) && version.contains('('))
}

/// `13` of `Ran 13 tests across 4 files. [39.00ms]`; `Some(None)` if it is too large.
fn ran(line: &str) -> Option<Option<u64>> {
    let (number, rest) = counted(line.trim_end().strip_prefix("Ran ")?)?;
    let rest = rest.strip_prefix("tests across ").or_else(|| rest.strip_prefix("test across "))?;
    let (_, rest) = counted(rest)?;
    let time = rest.strip_prefix("files. [").or_else(|| rest.strip_prefix("file. ["))?;
    time.ends_with(']').then_some(number)
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut run = Run::default();
    let (mut found, mut last, mut runs) = (None, 0, 0_u64);
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
    while let Some(line) = lines.next()? {
        last = line.number;
        if let Some(summary) = run.line(line.text.trim_end()).map_err(|error| error.line(last))? {
            found = Some((summary, std::mem::take(&mut run).names));
            runs = add(runs, 1)?;
        }
    }
    let Some((summary, names)) = found.filter(|_| !run.has_begun()) else {
        return Err(no_result("no summary of bun test at its end", last));
    };
    let mut parsed = names.report(&FORMAT, &summary, false)?;
    say_last(&mut parsed, runs, "bun test");
    Ok(parsed)
}

/// One run.
#[derive(Debug, Default)]
struct Run {
    names: Names,
    file: String,
    /// What the error above the next failed test said.
    message: Option<String>,
    /// Inside "Unhandled error between tests".
    in_unit: bool,
    /// Counts that stand directly above; there once "pass" was met.
    block: Option<Summary>,
    /// What "Ran" said, where no counts stood above it.
    ran: Option<Option<u64>>,
    skipped: u64,
    flaky: u64,
    /// Hooks that failed beside another of their block, which has the same name.
    hooks: u64,
}

impl Run {
    /// Takes a line; the summary, if it ends here.
    fn line(&mut self, text: &str) -> Result<Option<Summary>> {
        if let Some(ran) = ran(text) {
            match self.block.take() {
                Some(summary) => return self.finish(summary).map(Some),
                None => self.ran = Some(ran),
            }
        } else if let (Some(ran), Some(rest)) = (self.ran, text.strip_prefix("Bailed out after ")) {
            return self.bailed_out(ran, rest);
        } else if let Some((number, word)) = counted(text) {
            self.count(number, word)?;
        } else if !text.starts_with("snapshots: ") {
            // `snapshots: +1 added` and `snapshots: 1 failed` stand between the counts.
            self.block = None;
            self.other(text);
        }
        Ok(None)
    }

    fn count(&mut self, number: Option<u64>, word: &str) -> Result<()> {
        if word == "pass" {
            self.block = Some(Summary::default());
        }
        let Some(summary) = &mut self.block else { return Ok(()) };
        let slot = match word {
            "pass" => &mut summary.passed,
            "fail" => &mut summary.failed,
            "skip" | "todo" => &mut summary.skipped,
            "error" | "errors" => &mut summary.errored,
            _ => return Ok(()),
        };
        Summary::add(slot, number)
    }

    fn finish(&self, mut summary: Summary) -> Result<Summary> {
        summary.failed = summary.failed.saturating_sub(summary.errored);
        summary.unit_failures = summary.errored;
        summary.flaky = self.flaky.min(summary.passed);
        summary.extra.failed = self.hooks.min(summary.failed);
        Ok(summary)
    }

    /// `1 failure` of `Bailed out after 1 failure`.
    fn bailed_out(&mut self, ran: Option<u64>, rest: &str) -> Result<Option<Summary>> {
        let Some((failed, "failure" | "failures")) = counted(rest) else { return Ok(None) };
        let mut summary = Summary { skipped: self.skipped, ..Summary::default() };
        Summary::add(&mut summary.failed, failed)?;
        Summary::add(&mut summary.passed, ran)?;
        let others = add(summary.failed, summary.skipped)?;
        summary.passed = summary.passed.saturating_sub(others);
        self.finish(summary).map(Some)
    }

    fn other(&mut self, text: &str) {
        if begins(text) {
            *self = Run::default();
        } else if text == "# Unhandled error between tests" {
            self.in_unit = true;
            self.names.unit(if self.file.is_empty() { "(a test file)" } else { &self.file });
        } else if let Some((outcome, name)) = result(text) {
            self.result(outcome, name);
        } else if let Some(file) = text.strip_suffix(':').filter(|file| is_file(file)) {
            file.clone_into(&mut self.file);
        } else if text.starts_with("error: ") {
            self.message = Some(text.to_owned()).filter(|_| !self.in_unit);
            self.in_unit = false;
        }
    }

    fn result(&mut self, outcome: Outcome, name: &str) {
        let (name, time) = match name.strip_suffix("ms]").and_then(|name| name.rsplit_once(" [")) {
            Some((name, time)) => (name, milliseconds(time).map(|thousandths| thousandths / 1000)),
            None => (name, None),
        };
        let attempt = name.strip_suffix(')').and_then(|name| name.rsplit_once(" (attempt "));
        let (name, attempts) = match attempt.and_then(|(name, times)| Some((name, times.parse().ok()?))) {
            Some((name, times)) => (name, times),
            None => (name, 1),
        };
        match outcome {
            Outcome::Skipped => self.skipped = self.skipped.saturating_add(1),
            Outcome::Passed if attempts > 1 => self.flaky = self.flaky.saturating_add(1),
            _ => {}
        }
        let file = Some(self.file.as_str()).filter(|file| !file.is_empty());
        let id = titled(file, name);
        let message = self.message.take();
        let is_another_hook = name.ends_with(BUN_HOOK) && self.names.get(&id).is_some();
        self.hooks = self.hooks.saturating_add(u64::from(is_another_hook));
        let Some(case) = self.names.set(&id, outcome) else { return };
        (case.duration_ms, case.attempts) = (time, attempts);
        case.file = file.map(|file| printable(file, 1000));
        case.message = message.filter(|_| outcome == Outcome::Failed).as_deref().and_then(first_lines);
    }

    /// Something of a run was met that has no summary yet.
    fn has_begun(&self) -> bool {
        !self.file.is_empty() || self.ran.is_some()
    }
}

/// A run in a stream in which others speak too.
#[derive(Debug, Default)]
pub(in crate::ingest) struct Told {
    run: Run,
    found: Option<(Summary, Names)>,
}

impl Announced for Told {
    fn begins(line: &str) -> bool {
        begins(line)
    }

    /// A summary that a test printed is followed by the run's own.
    fn line(&mut self, text: &str) -> Result<()> {
        if let Some(summary) = self.run.line(text)? {
            self.found = Some((summary, std::mem::take(&mut self.run).names));
        }
        Ok(())
    }

    fn is_done(&self) -> bool {
        self.found.is_some()
    }

    /// Its table has four columns, and stands above its summary.
    fn prints_table(below: &str) -> bool {
        below.starts_with("---") && below.split('|').count() == 4
    }

    fn report(self) -> Result<Parsed> {
        let (summary, names) = self.found.unwrap_or_default();
        names.report(&FORMAT, &summary, false)
    }
}

/// `cart.test.ts`, `src/a_spec.js`: what bun takes for a test file.
fn is_file(text: &str) -> bool {
    [".test.", "_test.", ".spec.", "_spec."].iter().any(|part| text.contains(part)) && !text.contains(": ")
}

/// Outcome and name of `(pass) Suite > in suite [0.02ms]`, and of the marks in its place on a terminal.
fn result(text: &str) -> Option<(Outcome, &str)> {
    let (mark, name) = text.split_once(' ')?;
    let outcome = match mark {
        "(pass)" | "✓" => Outcome::Passed,
        "(fail)" | "✗" => Outcome::Failed,
        "(skip)" | "(todo)" | "»" | "✎" => Outcome::Skipped,
        _ => return None,
    };
    Some((outcome, name.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    const RUN: &str = "bun test v1.4.5 (a7733435c)\n\ncart.test.ts:\n(pass) adds [0.02ms]\nerror: expect(received).toBe(expected)\n\
                       (fail) Suite > fails [2.10ms]\n(skip) later\n(todo) soon\n 99 pass\n(pass) flaky (attempt 2) [0.01ms]\n\n\
                       broken.test.ts:\n\n# Unhandled error between tests\n---\nerror: Cannot find module\n---\n\n";
    const END: &str = " 2 pass\n 1 skip\n 1 todo\n 9 filtered out\n 2 fail\n 1 error\n 3 snapshots, 2 expect() calls\n\
                       Ran 6 tests across 2 files. [39.00ms]\n";

    fn read(text: &str) -> Result<Parsed> {
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn its_table_of_coverage_is_read() {
        let table = |dashes: &str, columns: &str| {
            format!(
                "{dashes}\nFile       {columns} | Uncovered Line #s\n{dashes}\nAll files  |   66.67 |  100.00 |\n src/m.js  |   66.67 |  100.00 | \n{dashes}\n\n"
            )
        };
        let own = table("-----------|---------|---------|-------------------", "| % Funcs | % Lines");
        let told = |table: &str| -> Vec<&str> {
            let text = format!("{RUN}{table}{END}");
            let told = crate::ingest::console::console(&Input::bytes("x", text.as_bytes()));
            told.iter().map(|report| report.format.name).collect()
        };
        assert_eq!(told(&own), ["bun-test-text", "istanbul-text"]);
        let others = table("-----|-----|-----|-----|-----|-----", "| % Stmts | % Branch | % Funcs | % Lines");
        assert_eq!(told(&others), ["bun-test-text"], "a test printed it");
    }

    #[test]
    fn the_last_summary_counts() {
        let parsed = read(&format!("{RUN}{END}")).unwrap();
        assert_eq!((counts(&parsed), parsed.figures.flaky), ([6, 2, 1, 1, 2], Some(1)));
        assert_eq!(details(&parsed).failed_units, ["broken.test.ts"]);
        let twice = read(&format!("{RUN}{END}{END}")).unwrap();
        assert_eq!((counts(&twice), twice.warnings.len()), ([6, 2, 1, 1, 2], 1));
        for told in ["+1 added", "1 failed"] {
            let snapshots = END.replace(" 3 snapshots, ", &format!("snapshots: {told}\n "));
            assert_eq!(counts(&read(&format!("{RUN}{snapshots}")).unwrap()), [6, 2, 1, 1, 2]);
        }
        let dots = END.replace("\n ", "\n").replace(" 2 pass", "2 pass");
        assert_eq!(counts(&read(&dots).unwrap()), [6, 2, 1, 1, 2]);
    }

    #[test]
    fn a_run_that_bailed_out_is_counted_by_its_lines() {
        let ran = "Ran 6 tests across 2 files. [10.00ms]\n";
        let parsed = read(&format!("{RUN}{ran}Bailed out after 1 failure\n")).unwrap();
        assert_eq!(counts(&parsed), [6, 3, 1, 0, 2]);
        assert_eq!(read(&format!("{RUN}{ran}")).unwrap_err().reject(), Some(Reject::NoResult));
    }

    #[test]
    fn tests_have_file_attempts_duration_and_message() {
        let details = details(&read(&format!("{RUN}{END}")).unwrap());
        let case = &details.cases.cases["cart.test.ts::Suite::fails"];
        assert_eq!((case.duration_ms, case.file.as_deref()), (Some(2), Some("cart.test.ts")));
        assert_eq!(case.message.as_deref(), Some("error: expect(received).toBe(expected)"));
        assert_eq!(details.cases.cases["cart.test.ts::flaky"].attempts, 2);
        assert_eq!((details.cases.cases.len(), details.dropped), (5, 0));
    }

    #[test]
    fn hooks_that_failed_are_no_tests_in_a_verdict() {
        let text = "bun test v1.4.5 (a7733435c)\n\ncart.test.ts:\n(pass) Cart > adds [0.02ms]\nerror: no base\n\
                    (fail) Cart > (unnamed) [0.10ms]\nerror: no end\n(fail) Cart > (unnamed) [0.01ms]\n\n\
                    \x20 1 pass\n 2 fail\nRan 3 tests across 1 file. [9.00ms]\n";
        let parsed = read(text).unwrap();
        assert_eq!(counts(&parsed), [3, 1, 2, 0, 0], "as Bun counts");
        let tests = crate::ingest::merge::merge(&[parsed]).testing.unwrap();
        assert_eq!((tests.test_count, tests.tests_failed, tests.collection_errors), (Some(1), Some(0), 1));
    }

    #[test]
    fn a_run_without_its_summary_is_no_result() {
        for text in [RUN, "", &format!("{RUN}{END}\nbun test v1.4.5 (a)\n\na.test.ts:\n"), " 2 pass\n 1 fail\n"] {
            assert_eq!(read(text).unwrap_err().reject(), Some(Reject::NoResult), "{text}");
        }
        let large = END.replace("2 fail", "18446744073709551616 fail");
        assert_eq!(read(&large).unwrap_err().reject(), Some(Reject::Malformed));
    }

    #[test]
    fn it_is_told_by_its_first_or_last_line() {
        for text in [RUN, END] {
            assert!(matches!(sniffed(&FORMAT, text), Sniff::Sure(_)), "{text}");
        }
        for none in ["Ran 3 tests in 0.001s\n\nOK\n", "bun test vitals\n", "Ran all test suites.\n"] {
            assert_eq!(sniffed(&FORMAT, none), Sniff::No, "{none}");
        }
    }
}
