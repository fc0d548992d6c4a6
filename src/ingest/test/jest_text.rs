//! `jest-text`: what Jest prints. Its last `Tests:` line gives the counts, the bullets of failed tests give names, the
//! trees of `--verbose` and of a single file those of the others; a file that does not load has a bullet of its own and is
//! not among the tests.

use std::collections::BTreeSet;

use super::runs::{self, Runs};
use super::telling::Telling;
use super::text_outline::{Outline, Row};
use super::text_report::{Names, Summary, counted, is_foreign, no_result};
use crate::error::Result;
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine, is_number, printable};
use crate::ingest::{Details, Format, Head, Parsed, Sniff, add};
use crate::model::cases::Outcome;
use crate::model::figures::ReportKind;

/// What `jest` prints.
pub const FORMAT: Format = Format {
    name: "jest-text",
    kind: ReportKind::Test,
    about: "terminal output of Jest",
    written_by: "jest",
    told_by: "its lines \"Test Suites:\" and \"Tests:\"",
    has_end: true,
    counting: "The last \"Tests:\" line: passed, failed, skipped and todo as skipped. Each \"Test suite failed to \
               run\" is one errored test, and so is a globalTeardown that throws.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    if is_foreign(head) {
        return Sniff::No;
    }
    let tail = || head.last_lines().map(str::trim_end);
    let suites = tail().any(|line| line.starts_with("Test Suites: ") && line.ends_with(" total"));
    if suites && tail().any(|line| tests(line).is_some()) {
        return Sniff::Sure("lines \"Test Suites:\" and \"Tests:\"".into());
    }
    if head.lines().any(|line| is_suite_failed(line.trim_end())) && head.lines().any(|line| file(line).is_some()) {
        return Sniff::Maybe("a line \"Test suite failed to run\"".into());
    }
    Sniff::No
}

/// `  ● Test suite failed to run`. Windows' code pages make something else of the bullet.
pub(super) fn is_suite_failed(line: &str) -> bool {
    let bullet = line.strip_prefix("  ").and_then(|line| line.strip_suffix(" Test suite failed to run"));
    bullet.is_some_and(|bullet| !bullet.is_empty() && !bullet.contains(' '))
}

/// The counts of `Tests:       4 failed, 1 skipped, 5 passed, 10 total`.
fn tests(line: &str) -> Option<Vec<(Option<u64>, &str)>> {
    let rest = line.trim_end().strip_prefix("Tests: ")?;
    rest.ends_with(" total").then(|| rest.split(", ").map(counted).collect())?
}

/// Whether it is of the source that stands below a message: `> 11 |   expect(sum).toBe(2)`, `     |               ^`.
fn is_source(content: &str) -> bool {
    let rest = content.trim_start_matches("> ").trim_start_matches(|c: char| c.is_ascii_digit());
    rest.starts_with(" |") || content.starts_with("| ")
}

/// The file in `FAIL jt/cart.test.js (5.1 s)`, `PASS project jt/cart.test.js`; in the groups of a log on GitHub, in
/// `::group::PASS jt/cart.test.js`, too, and above its messages in `::group::Errors thrown in jt/cart.test.js`.
fn file(line: &str) -> Option<&str> {
    let line = line.trim();
    let line = ["::group::", "##[group]"].iter().find_map(|group| line.strip_prefix(group)).unwrap_or(line);
    let rest = ["FAIL ", "PASS ", "Errors thrown in "].iter().find_map(|begin| line.strip_prefix(begin))?;
    let rest = rest.split(" (").next().unwrap_or(rest).trim();
    let file = rest.rsplit(' ').next().unwrap_or_default();
    file.rsplit(['/', '\\']).next().is_some_and(|name| name.contains('.')).then_some(file)
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut run = Run::default();
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
    let (mut found, mut last, mut times) = (None, 0, 0u64);
    let mut summaries = Summaries::default();
    while let Some(line) = lines.next()? {
        last = line.number;
        if summaries.repeat(&line.text) {
            run = Run::default();
        } else if let Some(counts) = tests(&line.text) {
            times += 1;
            found = Some(std::mem::take(&mut run).finish(&counts).map_err(|error| error.line(last))?);
        } else if let Some(parsed) = found.as_mut().filter(|_| is_tear_down(&line.text)) {
            add_tear_down(parsed)?;
        } else {
            run.line(&line.text);
        }
    }
    let has_failed_since = run.is_unfinished();
    let mut parsed = match found {
        Some(parsed) if !has_failed_since => parsed,
        _ => return Err(no_result("no \"Tests:\" line of Jest at its end", last)),
    };
    if times > 1 {
        parsed.warnings.push(format!("{times} runs of Jest are in it: the last one counts"));
    }
    Ok(parsed)
}

/// What Jest says below its summary, from 27 on, where its `globalTeardown` throws.
fn is_tear_down(line: &str) -> bool {
    line.starts_with("Error: Jest: Got error running globalTeardown - ")
}

/// Counts that as what failed outside of any test.
///
/// # Errors
/// A count does not fit.
fn add_tear_down(parsed: &mut Parsed) -> Result<()> {
    for count in [&mut parsed.figures.tests, &mut parsed.figures.errored].into_iter().flatten() {
        *count = add(*count, 1)?;
    }
    if let Details::Tests(details) = &mut parsed.details {
        details.unit_failures = add(details.unit_failures, 1)?;
        details.failed_units.push("globalTeardown".to_owned());
    }
    Ok(())
}

/// The summaries of one output. With `--bail` Jest sums a run up twice, without a line between, and counts the files that it
/// left out among those that failed.
#[derive(Debug, Default)]
struct Summaries {
    /// The line before ended a summary.
    ended: bool,
    /// Another follows at once.
    follows: bool,
    /// The line `Tests:` of the one before.
    tests: String,
}

impl Summaries {
    /// Takes the next line; whether it is a line `Tests:` that was said before.
    fn repeat(&mut self, text: &str) -> bool {
        let text = text.trim_end();
        self.follows |= self.ended && (text == "Snapshot Summary" || text.starts_with("Test Suites: "));
        self.ended = text.starts_with("Ran all test suites");
        if tests(text).is_none() {
            return false;
        }
        let is_same = std::mem::take(&mut self.follows) && text == self.tests;
        text.clone_into(&mut self.tests);
        is_same
    }
}

/// One run of Jest.
#[derive(Clone, Debug, Default)]
struct Run {
    names: Names,
    file: String,
    /// The test whose failure is told.
    told: Option<Telling>,
    unit_failures: u64,
    /// What is told in GitHub's groups of errors, and whether that is being told: they repeat all that another reporter told.
    grouped: Names,
    grouped_unit_failures: u64,
    in_group: bool,
    /// As its line `Test Suites:` says.
    failed_suites: u64,
    /// Jest repeats all failures where there are many.
    repeats: bool,
    tree: Outline,
    /// The line before was one of the tree, or told its file.
    in_tree: bool,
}

impl Run {
    fn line(&mut self, text: &str) {
        let text = text.trim_end();
        let content = text.trim_start();
        self.in_tree &= text.starts_with(' ') && !content.starts_with('●') && !is_suite_failed(text);
        self.in_tree &= test_file(text).is_none();
        if self.in_tree {
            self.tree.line(text.len() - content.len(), row(content));
        } else if let Some(failed) = suites(text, &["failed"]) {
            self.failed_suites = failed;
        } else if text == "Summary of all failing tests" {
            self.repeats = true;
        } else if self.repeats {
            // Everything was told before.
        } else if is_suite_failed(text) {
            self.told = None;
            let file = if self.file.is_empty() { "(a test file)".to_owned() } else { self.file.clone() };
            let slot = if self.in_group { &mut self.grouped_unit_failures } else { &mut self.unit_failures };
            *slot = slot.saturating_add(1);
            self.names().unit(&file);
        } else if let Some(name) = file(text) {
            self.told = None;
            self.file = name.to_owned();
            self.tree.begin(name);
            self.in_tree = true;
            self.in_group = text.contains("Errors thrown in ");
        } else if text.starts_with("  ●  ") {
            // What --detectOpenHandles found, below the summary.
            self.told = None;
        } else if let Some(name) = text.strip_prefix("  ● ") {
            self.told = None;
            if !matches!(
                name,
                "Console" | "Cannot log after tests are done. Did you forget to wait for something async in your test?"
            ) {
                let id = [self.file.as_str()].into_iter().chain(name.split(" › ")).filter(|part| !part.is_empty());
                let id = id.collect::<Vec<_>>().join("::");
                let file = Some(printable(&self.file, 1000)).filter(|file| !file.is_empty());
                if let Some(case) = self.names().set(&id, Outcome::Failed) {
                    case.file = file;
                }
                self.told = Some(Telling::of(self.names(), &id));
            }
        } else if let Some(mut told) = self.told.take() {
            if is_source(content) {
                told.end();
            } else {
                told.line(self.names(), content);
            }
            self.told = Some(told);
        }
    }

    fn names(&mut self) -> &mut Names {
        if self.in_group { &mut self.grouped } else { &mut self.names }
    }

    /// A file failed, and no summary counts it.
    fn is_unfinished(&self) -> bool {
        let unit_failures = self.unit_failures.max(self.grouped_unit_failures);
        unit_failures > 0 || !self.names.cases.is_empty() || !self.grouped.cases.is_empty()
    }

    fn finish(mut self, counts: &[(Option<u64>, &str)]) -> Result<Parsed> {
        if self.unit_failures == 0 && self.names.cases.is_empty() {
            (self.names, self.unit_failures) = (std::mem::take(&mut self.grouped), self.grouped_unit_failures);
        }
        let mut summary = Summary::default();
        for (number, word) in counts {
            let slot = match *word {
                "passed" => &mut summary.passed,
                "failed" => &mut summary.failed,
                "skipped" | "todo" | "pending" => &mut summary.skipped,
                _ => continue,
            };
            Summary::add(slot, *number)?;
        }
        // Of a reporter that only sums up, or whose messages went elsewhere: where more files failed than tests did, the others
        // failed by themselves. If all tests that failed are in one file, so did more of them.
        let untold = self.failed_suites.saturating_sub(summary.failed);
        let is_untold = self.unit_failures == 0 && self.names.cases.is_empty();
        let unit_failures = if self.unit_failures == 0 { untold } else { self.unit_failures };
        let may_be_more = is_untold && self.failed_suites > 1 && summary.failed > 1;
        summary.errored = add(summary.errored, unit_failures)?;
        summary.unit_failures = unit_failures;
        // More bullets than failures: some are no tests.
        if u64::try_from(self.names.cases.len()).unwrap_or(u64::MAX) > summary.failed {
            self.names.cases.clear();
        }
        self.tree.name(&mut self.names, &summary);
        let mut parsed = self.names.report(&FORMAT, &summary, false)?;
        if may_be_more {
            parsed.warnings.push(format!(
                "{} test files failed, and Jest's summary does not tell which of them failed outside of any test: {unit_failures} \
                 at least",
                self.failed_suites
            ));
        }
        Ok(parsed)
    }
}

/// A line of the tree below a file: `✓ adds (2 ms)`, `✕ fails`, `○ skipped later`, `✎ todo later`, `Cart`.
fn row(content: &str) -> Row<'_> {
    let Some((mark, title)) = content.split_once(' ') else { return Row::Text(content) };
    let (outcome, title) = match mark {
        "✓" | "√" => (Outcome::Passed, title),
        "✕" | "×" => (Outcome::Failed, title),
        "○" => (Outcome::Skipped, title.strip_prefix("skipped ").unwrap_or(title)),
        "✎" => (Outcome::Skipped, title.strip_prefix("todo ").unwrap_or(title)),
        _ => return Row::Text(content),
    };
    let is_time = |time: &str| [" ms)", " s)"].iter().any(|unit| time.strip_suffix(unit).is_some_and(is_decimal));
    let timed = title.rsplit_once(" (").filter(|(_, time)| is_time(time));
    Row::Test(outcome, timed.map_or(title, |(title, _)| title))
}

fn is_decimal(text: &str) -> bool {
    text.split_once('.').map_or_else(|| is_number(text), |(whole, part)| is_number(whole) && is_number(part))
}

/// Reads the runs in a stream.
#[derive(Debug, Default)]
pub(in crate::ingest) struct Stream {
    run: Run,
    files: BTreeSet<String>,
    /// Lines that tell of a file.
    told: u64,
    /// One of them, of a file that passed: not under an agent.
    tells_passed: bool,
    /// What the last lines `Test Suites:` and `Tests:` said; lines of files after them say that a test printed them.
    ran: Option<u64>,
    counted: Option<Parsed>,
    summaries: Summaries,
    /// With how many lines of files each told.
    runs: Vec<(runs::Run, u64)>,
    /// How many of them may enclose what stands above them.
    enclosing: usize,
    /// How many of them another package may have run.
    left: usize,
}

impl Stream {
    fn close(&mut self) {
        let enclosed = self.enclosed();
        if let Some(parsed) = self.counted.take() {
            for (run, told) in self.runs.drain(self.runs.len().saturating_sub(enclosed.unwrap_or_default())..) {
                self.files.extend(run.units);
                self.told = self.told.saturating_add(told);
            }
            // Of those that failed alone nobody knows what else ran.
            let are_all_told = self.tells_passed || self.ran == Some(self.told);
            let units = if are_all_told { std::mem::take(&mut self.files) } else { BTreeSet::new() };
            let run = runs::Run::of(parsed, units);
            // Below what a test prints, its file is told.
            let (is_certain, may_enclose) = (enclosed.is_some(), self.told > 0);
            self.runs.push((runs::Run { is_certain, may_enclose, ..run }, self.told));
        }
        let (runs, summaries) = (std::mem::take(&mut self.runs), std::mem::take(&mut self.summaries));
        let enclosing = runs.iter().filter(|(run, _)| run.may_enclose).count();
        *self = Stream { runs, summaries, enclosing, left: self.left, ..Stream::default() };
    }

    /// How many of the runs before were printed by tests of this one, whose summary came: those above its first file, and those
    /// that stand between its files. `None` where it counts other files than were told of, so that it is not the run's own.
    fn enclosed(&self) -> Option<usize> {
        if self.told == 0 {
            return Some(0);
        }
        let before = self.runs.iter().skip(self.left).rev().map(|(_, told)| *told);
        let mut sums = before.scan(self.told, |sum, told| {
            *sum = sum.saturating_add(told);
            Some(*sum)
        });
        let is_brief = !self.tells_passed && self.run.failed_suites == self.told;
        match self.ran == Some(self.told) || is_brief {
            true => Some(sums.take_while(|sum| *sum == self.told).count()),
            false => sums.position(|sum| self.ran == Some(sum)).map(|at| at + 1),
        }
    }
}

impl Runs for Stream {
    fn line(&mut self, text: &str) -> Result<()> {
        let text = text.trim_end();
        if self.summaries.repeat(text) {
            (self.counted, self.ran) = (None, None);
        } else if let Some(ran) = suites(text, &["failed", "passed"]) {
            self.ran = Some(ran);
            self.run.line(text);
        } else if let Some(counts) = tests(text) {
            if self.ran.is_some() {
                self.counted = Some(self.run.clone().finish(&counts)?);
            }
        } else if text.starts_with("Time: ") {
            if self.counted.is_some() && self.enclosed().is_some() {
                self.close();
            }
        } else if let Some((run, _)) = self.runs.last_mut().filter(|_| self.told == 0 && is_tear_down(text)) {
            add_tear_down(&mut run.parsed)?;
        } else {
            if let Some(name) = test_file(text).filter(|_| !self.run.repeats) {
                (self.counted, self.ran) = (None, None);
                self.told = self.told.saturating_add(1);
                self.tells_passed |= text.trim_start().starts_with("PASS");
                if self.files.len() < super::CASES_KEPT {
                    self.files.insert(printable(name, super::LONGEST_ID));
                }
            }
            if self.told > 0 {
                self.run.line(text);
            }
        }
        Ok(())
    }

    /// Ended runs are there at once.
    fn leave(&mut self) -> Result<bool> {
        self.left = self.runs.len();
        Ok(true)
    }

    fn count(&self) -> usize {
        self.runs.len()
    }

    fn enclosing(&self) -> usize {
        self.enclosing
    }

    fn holds(&self, _: &str) -> bool {
        self.told > 0
    }

    /// What a test logs is set in.
    fn prints_table(&self, _: &str) -> bool {
        true
    }

    fn finish(mut self: Box<Self>) -> Vec<runs::Run> {
        self.close();
        self.runs.into_iter().map(|(run, _)| run).collect()
    }
}

/// How many files came to that, of `Test Suites: 1 failed, 1 skipped, 2 passed, 3 of 4 total`. Those that were skipped
/// have no line of their own.
fn suites(line: &str, words: &[&str]) -> Option<u64> {
    let rest = line.strip_prefix("Test Suites: ").filter(|rest| rest.ends_with(" total"))?;
    let mut ran = rest.split(", ").filter_map(counted).filter(|(_, word)| words.contains(word));
    ran.try_fold(0_u64, |sum, (number, _)| sum.checked_add(number?))
}

/// The file in a line that tells how a test file ended. In colour it stands one column in, and below GitHub's groups two;
/// what a test prints is further in.
fn test_file(text: &str) -> Option<&str> {
    let columns = text.bytes().take_while(|byte| *byte == b' ').count();
    let name = file(text).filter(|_| columns <= 2 && !text.contains("Errors thrown in "))?;
    let extensions = ["js", "jsx", "ts", "tsx", "mjs", "cjs", "mts", "cts", "vue", "svelte"];
    name.rsplit_once('.').is_some_and(|(_, extension)| extensions.contains(&extension)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    const FAILED: &str = "FAIL jt/a.test.js (5.1 s)\n  ● Cart › adds\n\n    expect(received)\n\n    Expected: 3\n\n    > 8 |   expect(2)\n        |   ^\n\n\
                          \x20     at Object.<anonymous> (jt/a.test.js:8:3)\n\nFAIL jt/b.test.js\n\
                          \x20 ● Test suite failed to run\n\n    Cannot find module\n\n";
    const END: &str =
        "Test Suites: 2 failed, 2 total\nTests:       1 failed, 1 skipped, 1 todo, 5 passed, 8 total\nTime: 1 s\n";

    fn read(text: &str) -> Result<Parsed> {
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn a_summary_that_a_test_printed_is_no_run() {
        let printed = "Test Suites: 1 passed, 1 total\nTests:       9 passed, 9 total\nTime:        0.5 s\n\
                       Ran all test suites.\n";
        let end = "\nTest Suites: 1 failed, 1 passed, 2 total\nTests:       1 failed, 1 passed, 2 total\nTime: 1 s\n\
                   Ran all test suites.\n";
        let (one, other) = ("FAIL a.test.js\n  ● adds\n\n    no\n\n", "PASS b.test.js\n");
        let console = |text: &str| -> Vec<_> {
            crate::ingest::console::console(&Input::bytes("x", text.as_bytes())).iter().map(counts).collect()
        };
        for text in [
            format!("{printed}{one}{other}{end}"),
            format!("{one}{printed}{other}{end}"),
            format!("{printed}{one}{printed}{other}{end}"),
        ] {
            assert_eq!(console(&text), [[2, 1, 1, 0, 0]], "{text}");
        }
        let (next, of_another) = (printed.replace('9', "3"), "\n> other@1.0.0 test\n> jest\n\n");
        assert_eq!(console(&format!("{one}{other}{end}PASS c.test.js\n{next}")).len(), 2);
        assert_eq!(console(&format!("{printed}{of_another}{one}{other}{end}")).len(), 2);
    }

    #[test]
    fn the_last_tests_line_and_files_that_failed_count() {
        let parsed = read(&format!("{FAILED}Summary of all failing tests\n{FAILED}{END}")).unwrap();
        assert_eq!(counts(&parsed), [9, 5, 1, 1, 2]);
        let of_a_code_page = FAILED.replace('●', "ΓùÅ");
        assert_eq!(counts(&read(&format!("{of_a_code_page}{END}")).unwrap()), [9, 5, 1, 1, 2]);
        let details = details(&parsed);
        let case = &details.cases.cases["jt/a.test.js::Cart::adds"];
        assert_eq!(
            (case.message.as_deref(), case.file.as_deref(), case.line),
            (Some("expect(received) | Expected: 3"), Some("jt/a.test.js"), Some(8))
        );
        assert_eq!((details.failed_units, details.dropped), (vec!["jt/b.test.js".to_owned()], 7));
        assert_eq!(counts(&read("Tests:       0 total\n").unwrap()), [0; 5]);
        let twice = read(&format!("{FAILED}{END}Tests:       2 passed, 2 total\n")).unwrap();
        assert_eq!((counts(&twice), twice.warnings.len()), ([2, 2, 0, 0, 0], 1));
    }

    #[test]
    fn files_that_failed_count_where_nothing_else_tells_of_them() {
        let end = |tests: &str| format!("Test Suites: 2 failed, 1 passed, 3 total\nTests:       {tests}\nTime: 1 s\n");
        assert_eq!(counts(&read(&end("3 passed, 3 total")).unwrap()), [5, 3, 0, 2, 0]);
        // One of the two has the test.
        let one = read(&end("1 failed, 3 passed, 4 total")).unwrap();
        assert_eq!((counts(&one), one.warnings.len()), ([5, 3, 1, 1, 0], 0));
        let two = read(&end("2 failed, 3 passed, 5 total")).unwrap();
        assert_eq!((counts(&two), two.warnings.len()), ([5, 3, 2, 0, 0], 1), "{:?}", two.warnings);
        assert_eq!(counts(&read(&format!("{FAILED}{}", end("1 failed, 3 passed, 4 total"))).unwrap()), [5, 3, 1, 1, 0]);
    }

    #[test]
    fn a_summary_told_again_is_no_other_run() {
        let text = include_str!("../../../fixtures/reports/jest-text/good-bail.txt");
        let parsed = read(text).unwrap();
        assert_eq!((counts(&parsed), parsed.warnings.len()), ([2, 1, 1, 0, 0], 0));
        assert!(details(&parsed).cases.cases.contains_key("./a.test.js::fails"));
        let heard = |text: &str| crate::ingest::console::console(&Input::bytes("x", text.as_bytes()));
        let printed = heard(text);
        assert_eq!(printed.len(), 1);
        assert_eq!((counts(&printed[0]), printed[0].warnings.len()), ([2, 1, 1, 0, 0], 0));
        // Another command's.
        let other = text.replace("test suites.\nTest", "test suites.\n\nTest");
        assert_eq!((read(&other).unwrap().warnings.len(), heard(&other).len()), (1, 2));
    }

    #[test]
    fn errors_in_groups_of_github_count_once() {
        let groups = "::group::Errors thrown in a.test.js\n  ● Cart › adds\n\n    expect(received)\n\n::endgroup::\n\
                      ::group::Errors thrown in b.test.js\n  ● Test suite failed to run\n\n    Cannot find module\n\n::endgroup::\n";
        let told = FAILED.replace("jt/", "./");
        for text in [groups.to_owned(), format!("{told}{groups}"), format!("{groups}{told}")] {
            let parsed = read(&format!("{text}{END}")).unwrap();
            assert_eq!(counts(&parsed), [9, 5, 1, 1, 2], "{text}");
            let details = details(&parsed);
            assert_eq!((details.failed_units.len(), details.cases.cases.len()), (1, 1), "{text}");
            assert_eq!(read(&text).unwrap_err().reject(), Some(Reject::NoResult));
        }
    }

    #[test]
    fn groups_of_github_name_files() {
        for (line, name) in [
            ("::group::PASS jt/a.test.js (0.2 s)", Some("jt/a.test.js")),
            ("##[group]Errors thrown in jt/a.test.js", Some("jt/a.test.js")),
            (" FAIL  jt/a.test.js", Some("jt/a.test.js")),
            ("::group::    add", None),
        ] {
            assert_eq!(file(line), name, "{line}");
        }
        assert!(test_file("  FAIL jt/a.test.js").is_some() && test_file("    PASS jt/a.test.js").is_none());
    }

    #[test]
    fn trees_name_all_tests_of_their_files() {
        let tree = include_str!("../../../fixtures/reports/jest-text/good-verbose.txt");
        let names = |text: &str| details(&read(text).unwrap()).cases.cases.into_keys().collect::<Vec<_>>();
        let of_file =
            |file: &str| ["adds", "fails", "known", "later"].map(|name| format!("{file}/x.test.js::Cart::{name}"));
        assert_eq!(names(tree), [of_file("a"), of_file("b")].concat());
        let printed = crate::ingest::console::console(&Input::bytes("x", tree.as_bytes()));
        assert_eq!(details(&printed[0]).cases.cases.len(), 8);
        let plain = "PASS a.test.js\n  Cart\n    ✓ adds (2 ms)\n  Next\n    ○ skipped later\n    ✎ todo more\n  ✓ slow (1.5 s)\n\n\
                     Test Suites: 1 passed, 1 total\nTests:       1 skipped, 1 todo, 2 passed, 4 total\n";
        assert_eq!(
            names(plain),
            ["a.test.js::Cart::adds", "a.test.js::Next::later", "a.test.js::Next::more", "a.test.js::slow"]
        );
        assert_eq!(names(&plain.replace("  Next\n", "said\n  Next\n")), [""; 0]);
    }

    #[test]
    fn a_global_tear_down_that_throws_is_told_below_the_summary() {
        let run = "PASS ./a.test.js\nTest Suites: 1 passed, 1 total\nTests:       1 passed, 1 total\nTime:        1 s\n\
                   Ran all test suites.\n";
        let thrown = "Error: Jest: Got error running globalTeardown - /app/t.js, reason: no\n    at module.exports (/app/t.js:2:9)\n";
        let parsed = read(&format!("{run}{thrown}")).unwrap();
        assert_eq!(counts(&parsed), [2, 1, 0, 1, 0]);
        assert_eq!(details(&parsed).failed_units, ["globalTeardown"]);
        let mut stream = Box::<Stream>::default();
        format!("{run}{thrown}$ eslint .\n").lines().for_each(|line| stream.line(line).unwrap());
        let told = stream.finish();
        assert_eq!(told.iter().map(|run| counts(&run.parsed)).collect::<Vec<_>>(), [[2, 1, 0, 1, 0]]);
        assert!(read(thrown).is_err(), "without a summary it is no run");
    }

    #[test]
    fn a_run_without_its_summary_is_no_result() {
        for text in [FAILED.to_owned(), "Tests: 1 failed, 1 tot".to_owned(), format!("{END}{FAILED}"), String::new()] {
            assert_eq!(read(&text).unwrap_err().reject(), Some(Reject::NoResult), "{text}");
        }
        assert_eq!(
            read("Tests: 18446744073709551616 passed, 1 total\n").unwrap_err().reject(),
            Some(Reject::Malformed)
        );
    }

    #[test]
    fn it_is_told_by_both_lines() {
        assert!(matches!(sniffed(&FORMAT, END), Sniff::Sure(_)));
        assert!(matches!(sniffed(&FORMAT, FAILED), Sniff::Maybe(_)));
        for none in ["Tests: 3, Assertions: 4\n", " Tests  1 failed (1)\n", "FAIL\tpkg\t0.1s\n"] {
            assert_eq!(sniffed(&FORMAT, none), Sniff::No, "{none}");
        }
    }
}
