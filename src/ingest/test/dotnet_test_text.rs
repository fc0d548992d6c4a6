//! `dotnet-test-text`: what `dotnet test` prints, in its four ways to sum up: VSTest's console logger (a line a project
//! with the verbosities quiet and minimal, a block a project with normal and detailed), MSBuild's terminal logger (one line
//! for all projects) and the Microsoft Testing Platform (a block). Written after the console output that Microsoft's
//! documentation and the projects vstest, testfx and sdk show. Of translated output the line of a project is read.
//!
//! Only failed tests are named unless the verbosity asks for all.

use super::telling::Telling;
use super::text_report::{KILLED_HELP, Names, Summary, is_foreign, no_result};
use super::text_runs::Unannounced;
use crate::error::{Error, Reject, Result};
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine, is_number};
use crate::ingest::values::whole;
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::cases::Outcome;
use crate::model::figures::ReportKind;

/// What `dotnet test` prints.
pub const FORMAT: Format = Format {
    name: "dotnet-test-text",
    kind: ReportKind::Test,
    about: "terminal output of dotnet test",
    written_by: "dotnet test, dotnet vstest, test programs of the Microsoft Testing Platform",
    told_by: "\"Passed! - Failed: …\", \"Total tests:\", \"Test summary: total: …\" or \"Test run summary:\"",
    has_end: false,
    counting: "The sum over the projects' summaries: passed or succeeded, failed, skipped. Where MSBuild's terminal \
               logger sums all projects up in a line of its own, that counts instead. A run that was aborted, and what \
               the Microsoft Testing Platform calls an error of a whole test program, is one errored test.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    if is_foreign(head) {
        return Sniff::No;
    }
    let mut reader = Reader::default();
    // What is too large, parsing will say.
    let tells = |line: &str, reader: &mut Reader| reader.line(line).is_err() || reader.has_result();
    if head.last_lines().any(|line| tells(line, &mut reader)) {
        return Sniff::Sure("a summary of dotnet test".into());
    }
    let begins = ["Starting test execution, please wait...", "A total of 1 test files matched"];
    if head.lines().any(|line| begins.iter().any(|begin| line.starts_with(begin))) {
        return Sniff::Sure("line \"Starting test execution\" of dotnet test".into());
    }
    Sniff::No
}

/// The numbers of `Passed!  - Failed:     0, Passed:     3, Skipped:     0, Total:     3, Duration: 9 ms - a.dll (net8.0)`:
/// failed, passed, skipped.
fn project(line: &str) -> Option<[Option<u64>; 3]> {
    let (word, rest) = line.trim_start().split_once('!')?;
    if !matches!(word, "Passed" | "Failed" | "Skipped" | "Aborted" | "Canceled") {
        return None;
    }
    let rest = rest.strip_prefix(' ')?.trim_start().strip_prefix("- ")?;
    let mut numbers = rest.splitn(5, ", ");
    let mut number = |title: &str| numbers.next()?.strip_prefix(title)?.strip_prefix(':').map(str::trim).map(digits)?;
    let counts = [number("Failed")?, number("Passed")?, number("Skipped")?];
    number("Total")?;
    numbers.next()?.starts_with("Duration: ").then_some(counts)
}

/// Likewise in any other language: `Réussi!  - échec :     0, réussite :     3, ignorée(s) :     0, total :     3, durée :
/// 46 ms - a.dll (net8.0)`, `通过!  - 失败:     0，通过:     3，…`. The order is the same, and the numbers add up.
fn translated(line: &str) -> Option<[Option<u64>; 3]> {
    let is_ours = line.ends_with(')') && line.contains(".dll (");
    let (_, rest) = if is_ours { line.split_once("! ") } else { None }?;
    let mut numbers = rest.split([',', '，']);
    let mut number = || {
        let (title, number) = numbers.next()?.rsplit_once(' ')?;
        digits(number).flatten().filter(|_| !title.trim().is_empty())
    };
    let [failed, passed, skipped, total] = [number()?, number()?, number()?, number()?];
    let sum = failed.checked_add(passed)?.checked_add(skipped)?;
    (sum == total).then_some([Some(failed), Some(passed), Some(skipped)])
}

/// Likewise of `Test summary: total: 17, failed: 1, succeeded: 16, skipped: 0, duration: 1.0s`.
fn solution(line: &str) -> Option<[Option<u64>; 3]> {
    let rest = line.trim_start().strip_prefix("Test summary: ")?;
    let mut numbers = rest.splitn(5, ", ");
    let mut number = |title: &str| numbers.next()?.strip_prefix(title)?.strip_prefix(": ").map(digits)?;
    number("total")?;
    let [failed, passed, skipped] = [number("failed")?, number("succeeded")?, number("skipped")?];
    numbers.next()?.starts_with("duration: ").then_some([failed, passed, skipped])
}

/// A number, which may be too large; `None` if it is none.
fn digits(text: &str) -> Option<Option<u64>> {
    is_number(text).then(|| whole(text))
}

/// Outcome and name of `  Failed Ns.Class.Test [3 s]` (VSTest) and `failed Ns.Class.Test (12ms)` (the platform).
fn result(line: &str) -> Option<(Outcome, &str)> {
    let content = line.trim_start();
    let (word, rest) = content.split_once(' ')?;
    let outcome = match word {
        "Passed" | "passed" | "√" | "✔" => Outcome::Passed,
        "Failed" | "failed" | "X" => Outcome::Failed,
        "Skipped" | "skipped" | "!" => Outcome::Skipped,
        _ => return None,
    };
    let (close, open) = if word.starts_with(|c: char| c.is_ascii_lowercase()) { (')', " (") } else { (']', " [") };
    let (name, time) = rest.trim().strip_suffix(close)?.rsplit_once(open)?;
    let is_time = time.split(' ').any(|part| part.ends_with('s') || part.ends_with('m') || part.ends_with('h'));
    (is_time && time.contains(|c: char| c.is_ascii_digit())).then(|| (outcome, name.trim()))
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut reader = Reader::default();
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
    let mut last = 0;
    while let Some(line) = lines.next()? {
        last = line.number;
        if !line.ended && !is_whole(line.text.trim_end()) {
            return Err(Error::report(Reject::Malformed, "dotnet test output ends inside a line")
                .line(last)
                .help(KILLED_HELP));
        }
        reader.line(&line.text).map_err(|error| error.line(last))?;
    }
    if !reader.has_result() || reader.block.is_some() {
        return Err(no_result("no summary of dotnet test at its end", last));
    }
    reader.finish()
}

/// Whether a last line without line end is all of it: a project's line ends with the framework in parentheses.
fn is_whole(line: &str) -> bool {
    let ends_block = (line.starts_with(" Total time: ") || line.starts_with("  duration: ")) && line.ends_with('s');
    ends_block
        || line.starts_with("Build ")
        || (project(line).is_some() && line.ends_with(')'))
        || translated(line).is_some()
        || solution(line).is_some()
}

/// A block whose last line has not come yet.
#[derive(Debug, Default)]
struct Block {
    summary: Summary,
    /// Of the Microsoft Testing Platform; else of VSTest.
    is_platform: bool,
}

#[derive(Debug, Default)]
pub(in crate::ingest) struct Reader {
    names: Names,
    /// Of the projects' own summaries.
    projects: Option<Summary>,
    /// Of the terminal logger's lines.
    solutions: Option<Summary>,
    block: Option<Block>,
    aborted: u64,
    /// The test whose failure is told.
    told: Option<Telling>,
}

impl Reader {
    fn has_result(&self) -> bool {
        self.projects.is_some() || self.solutions.is_some() || self.aborted > 0
    }

    fn line(&mut self, text: &str) -> Result<()> {
        let text = text.trim_end();
        if self.block.is_some() {
            return self.in_block(text);
        }
        let tests = text.strip_prefix("Total tests: ");
        if let Some(counts) = project(text).or_else(|| translated(text)) {
            add_counts(self.projects.get_or_insert_default(), counts)?;
        } else if let Some(counts) = solution(text) {
            add_counts(self.solutions.get_or_insert_default(), counts)?;
        } else if let Some(counts) = tests.and_then(old_block) {
            add_counts(self.projects.get_or_insert_default(), counts)?;
        } else if tests.is_some_and(|tests| tests == "Unknown" || digits(tests).is_some()) {
            self.block = Some(Block::default());
        } else if text.starts_with("Test run summary: ") {
            self.block = Some(Block { is_platform: true, ..Block::default() });
        } else if text.starts_with("No test matches the given testcase filter")
            || text.starts_with("No test is available in ")
        {
            self.projects.get_or_insert_default();
        } else if matches!(text, "Test Run Aborted.") || text.starts_with("Test Run Aborted with error ") {
            self.aborted = self.aborted.saturating_add(1);
            self.names.unit("an aborted test run");
        } else if let Some((outcome, name)) = result(text) {
            self.names.set(name, outcome);
            self.told = (outcome == Outcome::Failed).then(|| Telling::of(&self.names, name));
        } else if let Some(told) = &mut self.told {
            match text.trim() {
                // VSTest puts titles above message and stack; the platform does not.
                "Error Message:" => {}
                "Stack Trace:" => told.end(),
                text => told.line(&mut self.names, text),
            }
        }
        Ok(())
    }

    /// `     Passed: 3007`, `  succeeded: 12`.
    fn in_block(&mut self, text: &str) -> Result<()> {
        let Some(mut block) = self.block.take() else { return Ok(()) };
        let Some((title, number)) = text.trim().split_once(": ") else {
            // The platform leaves a line free below its errors.
            self.block = Some(block).filter(|block| text.is_empty() && block.is_platform);
            return Ok(());
        };
        if matches!((block.is_platform, title), (false, "Total time") | (true, "duration")) {
            let sum = self.projects.get_or_insert_default();
            let Summary { passed, failed, errored, skipped, .. } = block.summary;
            add_counts(sum, [Some(failed), Some(passed), Some(skipped)])?;
            Summary::add(&mut sum.errored, Some(errored))?;
            return Summary::add(&mut sum.unit_failures, Some(errored));
        }
        // `5 (+1 retried)`
        let number = number.split(' ').next().and_then(digits);
        let summary = &mut block.summary;
        let slot = match (block.is_platform, title) {
            (false, "Passed") | (true, "succeeded") => &mut summary.passed,
            (false, "Failed") | (true, "failed") => &mut summary.failed,
            (false, "Skipped") | (true, "skipped") => &mut summary.skipped,
            (true, "error") => &mut summary.errored,
            _ => {
                self.block = Some(block);
                return Ok(());
            }
        };
        if let Some(number) = number {
            Summary::add(slot, number)?;
        }
        self.block = Some(block);
        Ok(())
    }

    fn finish(self) -> Result<Parsed> {
        let mut summary = self.solutions.or(self.projects).unwrap_or_default();
        Summary::add(&mut summary.errored, Some(self.aborted))?;
        Summary::add(&mut summary.unit_failures, Some(self.aborted))?;
        self.names.report(&FORMAT, &summary, true)
    }
}

impl Unannounced for Reader {
    /// Its projects add up, whatever ran them.
    fn line(&mut self, text: &str) -> Result<Option<Box<Parsed>>> {
        Reader::line(self, text).map(|()| None)
    }

    fn report(self) -> Result<Option<Parsed>> {
        let is_whole = self.has_result() && self.block.is_none();
        is_whole.then(|| self.finish()).transpose()
    }
}

fn add_counts(summary: &mut Summary, [failed, passed, skipped]: [Option<u64>; 3]) -> Result<()> {
    Summary::add(&mut summary.failed, failed)?;
    Summary::add(&mut summary.passed, passed)?;
    Summary::add(&mut summary.skipped, skipped)
}

/// `39. Passed: 33. Failed: 4. Skipped: 2.`, as VSTest wrote it before version 16.
fn old_block(tests: &str) -> Option<[Option<u64>; 3]> {
    let mut numbers = tests.strip_suffix('.')?.split(". ");
    digits(numbers.next()?)?;
    let mut number = |title: &str| numbers.next()?.strip_prefix(title)?.strip_prefix(": ").map(digits)?;
    let [passed, failed, skipped] = [number("Passed")?, number("Failed")?, number("Skipped")?];
    Some([failed, passed, skipped])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    const QUIET: &str = "  Failed Shop.Tests.CartTests.Fails(x: 1) [3 s]\n  Error Message:\n   Assert.Equal() Failure\n  Stack Trace:\n\
                         \x20    at Shop.Tests.CartTests.Fails() in /src/CartTests.cs:line 12\n  Skipped Shop.Tests.CartTests.Later [1 ms]\n\n\
                         Failed!  - Failed:     1, Passed:     2, Skipped:     1, Total:     4, Duration: 39 ms - Shop.Tests.dll (net8.0)\n";
    const NORMAL: &str = "  Passed Adds [< 1 ms]\n\nTest Run Failed.\nTotal tests: 7\n     Passed: 3\n     Failed: 2\n    Skipped: 2\n Total time: 1,5 Seconds\n";
    const PLATFORM: &str = "failed Fails (12ms)\n  Assert.Equal() Failure\n\nTest run summary: Failed! - bin/Shop.Tests.dll (net8.0|x64)\n  error: 1\n\n\
                            \x20 total: 5 (+1 retried)\n  failed: 1 (+1 retried)\n  succeeded: 3\n  skipped: 1\n  duration: 8s 095ms\n";
    const LOGGER: &str = "Test summary: total: 17, failed: 1, succeeded: 16, skipped: 0, duration: 1.0s\nBuild failed with 1 error(s) in 1.7s\n";

    fn read(text: &str) -> Result<Parsed> {
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn each_way_to_sum_up_is_read() {
        let old = "Total tests: 39. Passed: 33. Failed: 4. Skipped: 2.\nTest Run Failed.\n";
        let one_space = "  Passed! - Failed: 0, Passed: 1, Skipped: 0, Total: 1, Duration: 93ms - a.dll (net8.0|x64)\n";
        for (text, expected) in [
            (QUIET, [4, 2, 1, 0, 1]),
            (one_space, [1, 1, 0, 0, 0]),
            (NORMAL, [7, 3, 2, 0, 2]),
            (PLATFORM, [6, 3, 1, 1, 1]),
            (LOGGER, [17, 16, 1, 0, 0]),
            (old, [39, 33, 4, 0, 2]),
            ("No test matches the given testcase filter `x` in /a.dll\n", [0; 5]),
            (
                "Bestanden!   : Fehler:     0, erfolgreich:     4, übersprungen:     0, gesamt:     4, Dauer: 24 ms - a.dll (net9.0)\n",
                [4, 4, 0, 0, 0],
            ),
            (
                "Échoué!  - échec :     1, réussite :     5, ignorée(s) :     2, total :     8, durée : 1 h 13 m - a.dll (net8.0)\n",
                [8, 5, 1, 0, 2],
            ),
            (
                "通过!  - 失败:     0，通过:   241，已跳过:     0，总计:   241，持续时间 6 s - a.dll (net8.0)\n",
                [241, 241, 0, 0, 0],
            ),
            (
                "Пройден!   : не пройдено     0, пройдено    99, пропущено     1, всего   100, длительность 9 s. - a.dll (net48)\n",
                [100, 99, 0, 0, 1],
            ),
        ] {
            assert_eq!(counts(&read(text).unwrap()), expected, "{text}");
            assert!(matches!(sniffed(&FORMAT, text), Sniff::Sure(_)), "{text}");
        }
    }

    #[test]
    fn projects_add_up_and_the_line_of_the_whole_solution_wins() {
        assert_eq!(counts(&read(&format!("{QUIET}{QUIET}{NORMAL}")).unwrap()), [15, 7, 4, 0, 4]);
        assert_eq!(counts(&read(&format!("{QUIET}{LOGGER}")).unwrap()), [17, 16, 1, 0, 0]);
    }

    #[test]
    fn an_aborted_run_is_one_errored_test() {
        let block = "Test Run Aborted.\nTotal tests: Unknown\n     Passed: 3\n Total time: 1.0 Seconds\n";
        let parsed = read(block).unwrap();
        assert_eq!((counts(&parsed), details(&parsed).unit_failures), ([4, 3, 0, 1, 0], 1));
        assert_eq!(counts(&read("Test Run Aborted with error System.Exception: x.\n").unwrap()), [1, 0, 0, 1, 0]);
    }

    #[test]
    fn failed_tests_have_names_and_messages() {
        let of_vstest = details(&read(QUIET).unwrap());
        let case = &of_vstest.cases.cases["Shop.Tests.CartTests.Fails(x: 1)"];
        assert_eq!((case.outcome, case.message.as_deref()), (Outcome::Failed, Some("Assert.Equal() Failure")));
        assert_eq!((case.file.as_deref(), case.line), (Some("/src/CartTests.cs"), Some(12)));
        assert_eq!((of_vstest.cases.cases.len(), of_vstest.dropped), (2, 2));
        let of_platform = details(&read(PLATFORM).unwrap());
        assert_eq!(of_platform.cases.cases["Fails"].message.as_deref(), Some("Assert.Equal() Failure"));
    }

    #[test]
    fn a_run_without_its_summary_is_no_result() {
        let started =
            "Starting test execution, please wait...\nA total of 1 test files matched the specified pattern.\n";
        assert!(matches!(sniffed(&FORMAT, started), Sniff::Sure(_)));
        let cut_in_number = QUIET.split(", Duration").next().unwrap();
        for text in [started, "Total tests: 7\n     Passed: 3\n", "Passed!\n", ""] {
            assert_eq!(read(text).unwrap_err().reject(), Some(Reject::NoResult), "{text}");
        }
        assert_eq!(read(cut_in_number).unwrap_err().reject(), Some(Reject::Malformed));
        assert_eq!(read(&format!("{QUIET}Passed!  - Fai")).unwrap_err().reject(), Some(Reject::Malformed));
        for whole in [QUIET, PLATFORM, NORMAL, LOGGER] {
            assert!(read(whole.trim_end()).is_ok(), "{whole}");
        }
        let large = LOGGER.replace("16", "18446744073709551616");
        assert_eq!(read(&large).unwrap_err().reject(), Some(Reject::Malformed));
        for none in [
            "Wow! a 1, b 2, c 3, d 7, e - a.dll (net8.0)\n",
            "Passed!\n",
            "Test summary: Total: 3 | Passed: 3\n",
            "Total tests: 3 of 4\n",
        ] {
            assert_eq!(sniffed(&FORMAT, none), Sniff::No, "{none}");
        }
    }
}
