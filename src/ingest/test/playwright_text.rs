//! `playwright-text`: what Playwright prints with its reporters `list`, `line` and `dot`: the same summary.
//! <https://playwright.dev/docs/test-reporters>
//!
//! Each outcome that occurred has a line at its end, with the tests that failed or flaked below it. How many tests there are
//! is told at the beginning: what a test prints cannot pass for the summary, nor can a part of it.

use std::collections::BTreeMap;

use super::text_report::{MESSAGES_HELD, Names, Summary, add_line, counted};
use super::text_runs::{Announced, TextRun, last_run};
use crate::error::Result;
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine, is_number, printable};
use crate::ingest::{Format, Head, Parsed, Sniff, add};
use crate::model::cases::Outcome;
use crate::model::figures::ReportKind;

/// What `playwright test` prints.
pub const FORMAT: Format = Format {
    name: "playwright-text",
    kind: ReportKind::Test,
    about: "terminal output of Playwright",
    written_by: "playwright test (--reporter=list, line or dot)",
    told_by: "\"Running 5 tests using 2 workers\", or GitHub's \"Playwright Run Summary\"",
    has_end: false,
    counting: "The last summary: failed and interrupted failed, flaky passed, skipped and did not run skipped. It is \
               one only if it adds up to the tests that were announced. Each error that was not a part of any test is \
               one errored test, and so is each file that does not load, for which no test runs.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    if head.xml().is_some() {
        Sniff::No
    } else if head.lines().any(|line| announced(line.trim_end()).is_some()) {
        Sniff::Sure("line \"Running N tests using N workers\"".into())
    } else if head.last_lines().any(|line| notice(line).is_some()) {
        Sniff::Sure("GitHub's notice \"Playwright Run Summary\"".into())
    } else if has_unloaded(head) {
        Sniff::Sure("a file of Playwright's that does not load".into())
    } else {
        Sniff::No
    }
}

/// Whether an error stands in a file's head with the lines that it is about, and no heading of a test above it.
fn has_unloaded(head: &Head<'_>) -> bool {
    let below = head.lines().skip_while(|line| unloaded(line.trim_end()).is_none()).skip(1);
    let mut frame = below.filter(|line| !line.trim().is_empty()).map(framed);
    frame.find(|framed| *framed != Some(false)) == Some(Some(true))
}

/// `  1 failed%0A  2 passed (5.0s)`, the summary as the reporter for GitHub repeats it. Of merged reports it tells nothing else.
fn notice(line: &str) -> Option<&str> {
    let (title, told) = line.trim_end().strip_prefix("::notice title=")?.split_once("::")?;
    title.ends_with("Playwright Run Summary").then_some(told)
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let (mut told, mut has_error) = (None, false);
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
    while let Some(line) = lines.next()? {
        if announced(line.text.trim_end()).is_some() {
            return last_run::<Playwright>(input);
        }
        told = notice(&line.text).filter(|_| line.ended).map(str::to_owned).or(told);
        has_error |= line.text.starts_with("::error ") || line.text.starts_with("Error: ");
    }
    let Some(told) = told else { return last_run::<Playwright>(input) };
    let mut run = Playwright::default();
    told.split("%0A").try_for_each(|line| run.line(line.trim_end()))?;
    // The summary is empty where a file does not load.
    if has_error && run.summary == Summary::default() {
        (run.summary.errored, run.summary.unit_failures) = (1, 1);
    }
    run.report()
}

/// The file in `   at cart.spec.ts:3`, which stands between an error and the lines that it is about. Below the heading of a test
/// it is indented further.
fn unloaded(line: &str) -> Option<&str> {
    let (path, line) = line.strip_prefix("   at ")?.rsplit_once(':')?;
    let (name, end) = path.rsplit_once('.')?;
    let is_script = matches!(end, "js" | "mjs" | "cjs" | "jsx" | "ts" | "mts" | "cts" | "tsx");
    (is_script && is_number(line) && !name.contains([' ', '('])).then_some(path)
}

/// Whether the error is in the line, `> 3 | test('adds' () => {});`, or beside it, `  2 | `. `None` for other lines.
fn framed(line: &str) -> Option<bool> {
    let (is_marked, rest) = line.strip_prefix('>').map_or((false, line), |rest| (true, rest));
    let (number, _) = rest.split_once('|')?;
    is_number(number.trim()).then_some(is_marked)
}

/// The number in `Running 5 tests using 2 workers`; `using 2 workers, shard 1 of 3`.
fn announced(line: &str) -> Option<u64> {
    let (number, rest) = line.strip_prefix("Running ")?.split_once(' ')?;
    let workers = rest.strip_prefix("tests using ").or_else(|| rest.strip_prefix("test using "))?;
    let (_, word) = workers.split_once(' ')?;
    word.starts_with("worker").then(|| number.parse().ok()).flatten()
}

/// Number and word of `  3 failed`, `  3 passed (1.2s)`.
fn outcome(line: &str) -> Option<(Option<u64>, &str)> {
    let told = line.strip_prefix("  ").filter(|told| !told.starts_with(' '))?;
    let (number, word) = counted(told)?;
    let word = word.split_once(" (").map_or(word, |(word, _)| word);
    matches!(word, "passed" | "failed" | "flaky" | "interrupted" | "skipped" | "did not run").then_some((number, word))
}

/// The number in `  1 error was not a part of any test, see above for details`.
fn outside(line: &str) -> Option<Option<u64>> {
    let (number, word) = counted(line.strip_prefix("  ")?)?;
    word.contains("not a part of any test").then_some(number)
}

/// What stands in `  1) a.spec.ts:3:1 › fails ──────`, above a failure.
fn heading(line: &str) -> Option<&str> {
    let (number, told) = line.strip_prefix("  ")?.split_once(") ")?;
    (is_number(number) && told.contains(" › ")).then(|| told.trim_end_matches('─').trim())
}

/// Whether the line stands below the message of a failure: source, frames, names of files, another attempt.
fn ends_message(content: &str) -> bool {
    framed(content).is_some()
        || ["at ", "Error Context: ", "attachment #", "Retry #", "───"].iter().any(|begin| content.starts_with(begin))
}

/// Its run.
#[derive(Debug, Default)]
pub(in crate::ingest) struct Playwright {
    names: Names,
    tests: Option<u64>,
    /// Of the last lines of outcomes that stand together.
    summary: Summary,
    /// Something else came below them.
    is_over: bool,
    /// What the tests that are named below the last of them came to.
    named: Option<Outcome>,
    /// The time for all of it was over; not every version counts that.
    timed_out: bool,
    /// The file of the error that is told, before the lines that it is about.
    unloaded: Option<String>,
    /// Messages by the headings of what failed, and the heading below which they stand.
    messages: BTreeMap<String, Option<String>>,
    told_of: Option<String>,
    /// A message of Playwright's own: without a test it tells why there is none.
    has_error: bool,
}

impl Playwright {
    fn add(&mut self, number: Option<u64>, word: &str) -> Result<()> {
        if std::mem::take(&mut self.is_over) {
            // A test printed what came before.
            (self.summary, self.names) = (Summary::default(), Names::default());
        }
        let summary = &mut self.summary;
        let slot = match word {
            "passed" | "flaky" => &mut summary.passed,
            "failed" | "interrupted" => &mut summary.failed,
            _ => &mut summary.skipped,
        };
        Summary::add(slot, number)?;
        self.named = match word {
            "flaky" => Some(Outcome::Passed),
            "failed" | "interrupted" => Some(Outcome::Failed),
            _ => None,
        };
        if word == "flaky" { Summary::add(&mut summary.flaky, number) } else { Ok(()) }
    }

    /// Errors that are not a part of any test.
    fn errors(&mut self, number: Option<u64>) -> Result<()> {
        Summary::add(&mut self.summary.errored, number)?;
        self.summary.unit_failures = self.summary.errored;
        Ok(())
    }

    /// `    [chromium] › a.spec.ts:3:5 › cart › adds ──────`, below an outcome.
    fn name(&mut self, line: &str, outcome: Outcome) {
        let told = line.trim_end_matches('─').trim();
        let parts: Vec<&str> = told.split(" › ").collect();
        let place = parts.iter().find_map(|part| {
            let (file, line) = part.rsplit_once(':')?.0.rsplit_once(':')?;
            Some((file, line.parse::<u64>().ok()?))
        });
        let Some(case) = self.names.set(told, outcome) else { return };
        if let Some((file, line)) = place {
            (case.file, case.line) = (Some(printable(file, 1000)), Some(line).filter(|line| *line > 0));
        }
        if outcome == Outcome::Failed {
            case.message = self.messages.get(told).cloned().flatten();
        }
    }

    /// A line that may tell of a failure: its heading, or what stands below that until the lines of the source.
    fn failure(&mut self, text: &str) {
        if let Some(heading) = heading(text) {
            let has_room = self.messages.len() < MESSAGES_HELD || self.messages.contains_key(heading);
            self.told_of = Some(heading.to_owned()).filter(|_| has_room && heading.len() <= super::LONGEST_ID);
            if let Some(heading) = &self.told_of {
                self.messages.insert(heading.clone(), None);
            }
        } else if !text.is_empty() {
            let content = text.strip_prefix("    ").map(str::trim).filter(|content| !ends_message(content));
            self.told_of.take_if(|_| content.is_none());
            let message = self.told_of.as_ref().and_then(|heading| self.messages.get_mut(heading));
            if let (Some(message), Some(content)) = (message, content) {
                add_line(message, content);
            }
        }
    }
}

impl Announced for Playwright {
    fn begins(line: &str) -> bool {
        announced(line).is_some() || unloaded(line).is_some()
    }

    fn line(&mut self, text: &str) -> Result<()> {
        self.failure(text);
        if let Some(tests) = announced(text) {
            // What a test prints may look like it, too.
            self.tests.get_or_insert(tests);
        } else if let Some((number, word)) = outcome(text) {
            self.add(number, word)?;
        } else if let Some(outcome) = self.named.filter(|_| text.starts_with("    ")) {
            self.name(text, outcome);
        } else if let Some(number) = outside(text) {
            self.errors(number)?;
        } else if let Some(file) = unloaded(text).filter(|_| self.tests.is_none() || self.is_done()) {
            // Before its summary a run tells of errors that the summary counts; below it, another call has none.
            self.unloaded = Some(file.to_owned());
        } else if let Some(file) = self.unloaded.take_if(|_| framed(text) == Some(true)) {
            self.errors(Some(1))?;
            self.names.unit(&file);
        } else if !text.is_empty() {
            (self.is_over, self.named) = (true, None);
            if framed(text).is_none() {
                self.unloaded = None;
            }
            self.timed_out |= text.trim_start().starts_with("Timed out waiting ") && text.contains(" for the ");
            self.has_error |= text.starts_with("Error: ");
        }
        Ok(())
    }

    fn is_done(&self) -> bool {
        if self.tests == Some(0) && self.has_error {
            return false;
        }
        let Summary { passed, failed, skipped, unit_failures, .. } = self.summary;
        if self.tests.is_none() {
            return unit_failures > 0;
        }
        let sum = add(passed, failed).and_then(|sum| add(sum, skipped)).ok();
        self.tests == sum
    }

    /// What no line announced is no run in which a test may print.
    fn is_off(&self) -> bool {
        self.tests.is_none()
    }

    fn goes_on(&self, line: &str) -> bool {
        unloaded(line).is_some()
    }

    fn report(mut self) -> Result<Parsed> {
        if self.timed_out && self.summary.errored == 0 {
            (self.summary.errored, self.summary.unit_failures) = (1, 1);
        }
        self.names.report(&FORMAT, &self.summary, false)
    }
}

impl TextRun for Playwright {
    const TOOL: &'static str = "Playwright";

    /// The sum decides.
    fn is_whole(_: &str) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    const RUN: &str = "Running 6 tests using 2 workers\n\n  \u{2713}  1 a.spec.ts:3:5 › adds (5ms)\n  6 passed (1.0s)\n\n\
                       \u{20}  1) [chromium] › a.spec.ts:7:5 › cart › fails ───\n\n    Error: no\n\n\n";
    const END: &str = "  1 failed\n    [chromium] › a.spec.ts:7:5 › cart › fails ────\n  1 flaky\n    a.spec.ts:9:1 › flaky ───\n\
                       \u{20} 1 skipped\n  2 did not run\n  1 passed (1.2m)\n";

    fn read(text: &str) -> Result<Parsed> {
        (FORMAT.parse)(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn the_summary_counts_and_what_a_test_prints_does_not() {
        let parsed = read(&format!("{RUN}{END}\nTo open last HTML report run:\n")).unwrap();
        assert_eq!((counts(&parsed), parsed.figures.flaky), ([6, 2, 1, 0, 3], Some(1)));
        let details = details(&parsed);
        let case = &details.cases.cases["[chromium] › a.spec.ts:7:5 › cart › fails"];
        assert_eq!((case.outcome, case.file.as_deref(), case.line), (Outcome::Failed, Some("a.spec.ts"), Some(7)));
        assert_eq!((details.cases.outcome("a.spec.ts:9:1 › flaky"), details.dropped), (Some(Outcome::Passed), 4));
        let outside =
            read(&format!("{RUN}{END}  1 error was not a part of any test, see above for details\n")).unwrap();
        assert_eq!(counts(&outside), [7, 2, 1, 1, 3]);
    }

    #[test]
    fn failures_have_their_messages() {
        let text = "Running 3 tests using 1 worker\n\n\
                    \x20 1) a.spec.ts:3:1 › fails ─────\n\n\
                    \x20   Error: expect(received).toBe(expected) // Object.is equality\n\n\
                    \x20   Expected: 3\n    Received: 2\n\n      2 | test('adds', async () => {});\n\
                    \x20   > 3 | test('fails', async () => {});\n        |     ^\n\
                    \x20       at /home/dev/shop/a.spec.ts:3:86\n\n\
                    \x20   Error Context: test-results/a-fails/error-context.md\n\n    Retry #1 ─────\n\n\
                    \x20   Error: again\n\n\n\
                    \x20 2) a.spec.ts:8:1 › timeout ─────\n\n    Test timeout of 300ms exceeded.\n\n\
                    \x20   Error Context: a.md\n\n\
                    \x20 3) a.spec.ts:9:1 › flaky ─────\n\n    Error: first\n\n\
                    \x20 2 failed\n    a.spec.ts:3:1 › fails ─────\n    a.spec.ts:8:1 › timeout ─────\n\
                    \x20 1 flaky\n    a.spec.ts:9:1 › flaky ─────\n";
        let cases = details(&read(text).unwrap()).cases.cases;
        let message = |id: &str| cases[id].message.as_deref();
        assert_eq!(
            message("a.spec.ts:3:1 › fails"),
            Some("Error: expect(received).toBe(expected) // Object.is equality | Expected: 3 | Received: 2")
        );
        assert_eq!(message("a.spec.ts:8:1 › timeout"), Some("Test timeout of 300ms exceeded."));
        assert_eq!(message("a.spec.ts:9:1 › flaky"), None);
    }

    #[test]
    fn tests_that_a_test_announces_are_not_the_run_s() {
        let printed = RUN.replacen("\n\n", "\n\nRunning 9 tests using 1 worker\n\n  9 passed (1.0s)\n\n", 1);
        let reports = crate::ingest::console::console(&Input::bytes("x", format!("{printed}{END}").as_bytes()));
        assert_eq!(reports.iter().map(counts).collect::<Vec<_>>(), [counts(&read(&format!("{RUN}{END}")).unwrap())]);
    }

    /// As `merge-reports` prints it.
    #[test]
    fn what_github_s_reporter_alone_sums_up_is_read() {
        let merged = "merging reports from /app/blob-report\n\n::error file=a.spec.js,title=a › b,line=1,col=5::  1) a%0A    no\n\
                      ::notice title=🎭 Playwright Run Summary::  1 failed%0A    a.spec.js:1:121 › b ───%0A  2 passed (5.0s)\n";
        assert_eq!(counts(&read(merged).unwrap()), [3, 2, 1, 0, 0]);
        assert!(matches!(sniffed(&FORMAT, merged), Sniff::Sure(_)));
        assert_eq!(
            counts(&read(&format!("{RUN}{END}{merged}")).unwrap()),
            counts(&read(&format!("{RUN}{END}")).unwrap())
        );
    }

    #[test]
    fn the_time_that_is_over_and_files_that_do_not_load_are_no_success() {
        let late =
            "Running 2 tests using 1 worker\n\nTimed out waiting 9s for the test suite to run\n\n  2 did not run\n";
        assert_eq!(counts(&read(late).unwrap()), [3, 0, 0, 1, 2]);
        let broken = "\nRunning 0 test using 0 worker\n\n\nError: Cannot find module './nope'\n\n=================\n no tests found.\n";
        assert_eq!(read(broken).unwrap_err().reject(), Some(Reject::NoResult));
        assert_eq!(counts(&read("Running 0 tests using 0 workers\n").unwrap()), [0; 5]);
    }

    #[test]
    fn each_file_that_does_not_load_is_errored_where_no_test_runs() {
        let syntax = "SyntaxError: /p/a.spec.js: Unexpected token (1:53)\n\n   at a.spec.js:1\n\n\
                      > 1 | test('ok' ()=>{});\n    |          ^\n  2 |\n";
        let thrown = "Error: load\n\n   at b.spec.ts:2\n\n  1 | x\n> 2 | throw new Error('load');\n    |       ^\n  3 |\n    \
                      at Object.<anonymous> (/p/b.spec.ts:2:7)\n\n";
        let parsed = read(&format!("{syntax}{thrown}")).unwrap();
        assert_eq!((counts(&parsed), parsed.warnings.len()), ([2, 0, 0, 2, 0], 0));
        assert_eq!(details(&parsed).failed_units, ["a.spec.js", "b.spec.ts"]);
        assert!(matches!(sniffed(&FORMAT, thrown), Sniff::Sure(_)));
        let told = |text: &str| {
            let told = crate::ingest::console::console(&Input::bytes("x", text.as_bytes()));
            told.iter().filter(|one| one.format.name == FORMAT.name).map(counts).collect::<Vec<_>>()
        };
        assert_eq!(told(&format!("hi\n{thrown}{syntax}bye\n")), [[2, 0, 0, 2, 0]]);
        // Of a run that was announced, the summary counts them.
        let outside = format!("{thrown}{END}  1 error was not a part of any test, see above for details\n");
        assert_eq!(counts(&read(&format!("{RUN}{outside}")).unwrap()), [7, 2, 1, 1, 3]);
        assert_eq!(told(&format!("hi\n{RUN}{outside}")), [[7, 2, 1, 1, 3]]);
        assert_eq!(told(&format!("hi\n{RUN}{END}{thrown}")), [[7, 2, 1, 1, 3]]);
        let pytest = "collected 2 items\n\na.py ..    [100%]\n\n============ 2 passed in 0.11s ============\n";
        let beside = format!("   at a.js:1\n\nsaid\n> 1 | x\n{pytest}bye\n");
        let beside = crate::ingest::console::console(&Input::bytes("x", beside.as_bytes()));
        assert_eq!(beside.iter().map(counts).collect::<Vec<_>>(), [[2, 2, 0, 0, 0]]);
        for other in ["   at a.spec.js:1\n\nsaid\n> 1 | x\n", "    at a.spec.js:1\n\n> 1 | x\n", "> 1 | x\n"] {
            assert_eq!(sniffed(&FORMAT, other), Sniff::No, "{other}");
            assert_eq!(told(other), Vec::<[u64; 5]>::new());
        }
    }

    #[test]
    fn a_summary_that_is_not_all_there_is_no_result() {
        for cut in [0, 10, 60, 100, END.len() - 15] {
            let cut = END.get(..cut).unwrap_or_default();
            let text = format!("{}{cut}", RUN.replace("6 passed", "5 passed"));
            assert_eq!(read(&text).unwrap_err().reject(), Some(Reject::NoResult), "{cut}");
        }
    }

    #[test]
    fn it_is_told_by_its_first_line() {
        for line in ["Running 1 test using 1 worker", "Running 12 tests using 4 workers, shard 1 of 3"] {
            assert!(matches!(sniffed(&FORMAT, line), Sniff::Sure(_)), "{line}");
        }
        assert_eq!(sniffed(&FORMAT, "Running 8 test cases..."), Sniff::No);
    }
}
