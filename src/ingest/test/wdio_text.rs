//! `wdio-text`: what WebdriverIO's runner prints with its spec reporter. Their definitions are `@wdio/cli`'s `interface.ts`
//! and `@wdio/spec-reporter`. <https://webdriver.io/docs/spec-reporter/>
//!
//! The runner tells of each spec file whether it failed, and counts the files at the end. In between, the reporter tells the
//! tests of each file, with what runs it in brackets before each line (`showPreface`). A file that cannot be loaded, or gets
//! no browser, has no tests: only the runner tells of it. A file that is run again (`specFileRetries`) is told once more.

use std::collections::{BTreeMap, BTreeSet};

use super::text_report::{Names, Summary, counted};
use super::text_runs::{Announced, TextRun, last_run};
use crate::error::{Error, Reject, Result};
use crate::ingest::text::{first_lines, is_number};
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::cases::Outcome;
use crate::model::figures::ReportKind;

/// What `wdio run` prints.
pub const FORMAT: Format = Format {
    name: "wdio-text",
    kind: ReportKind::Test,
    about: "terminal output of WebdriverIO",
    written_by: "wdio run (WebdriverIO, reporter spec)",
    told_by: "\"Spec Files: 1 passed, 1 failed, 2 total (100% completed) in 00:00:05\"",
    has_end: true,
    counting: "The counts of each spec file, of its last attempt where it was run again: a test that passes then is \
               flaky. A file that failed without a failing test (it cannot be loaded, there is no browser) is one \
               errored test.",
    sniff,
    parse: last_run::<Wdio>,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let is_ours = |line: &str| is_end(line) || Wdio::begins(line);
    match head.xml().is_none() && head.lines_of_both_ends().any(is_ours) {
        true => Sniff::Sure("\"Execution of N workers\", \"Spec Files: N passed, N failed, N total\"".into()),
        false => Sniff::No,
    }
}

/// Spec files of one run.
const MOST_FILES: usize = 100_000;

/// Whether a run ends with the line.
pub(super) fn is_end(line: &str) -> bool {
    failed_files(line).is_some()
}

/// How many failed, of `Spec Files: 2 passed, 1 failed, 1 retries, 3 total (100% completed) in 00:00:05`.
fn failed_files(line: &str) -> Option<u64> {
    let (counts, _) = line.strip_prefix("Spec Files:")?.split_once(" total (")?;
    let (counts, total) = counts.rsplit_once(", ").filter(|(_, total)| is_number(total))?;
    let mut failed = 0;
    for part in counts.split(", ") {
        let (number, word) = counted(part)?;
        failed = if word == "failed" { number? } else { failed };
    }
    total.parse::<u64>().ok().map(|_| failed)
}

/// The file of `[0-0] FAILED in chrome - file:///s/a.js`, and what became of it.
fn of_runner(line: &str) -> Option<(&str, &str)> {
    let (worker, rest) = line.strip_prefix('[')?.split_once("] ")?;
    let (state, rest) = rest.split_once(" in ")?;
    let file = rest.split_once(" - ")?.1.split(" (").next()?;
    let is_worker = worker.split_once('-').is_some_and(|(number, spec)| is_number(number) && is_number(spec));
    is_worker.then_some((state, file.strip_prefix("file:///").unwrap_or(file)))
}

/// The mark and what stands behind it: `[chrome 140.0 linux #0-0] 2 passing (1.1s)`.
fn of_reporter(line: &str) -> Option<(&str, &str)> {
    let (mark, rest) = line.strip_prefix('[')?.split_once(']')?;
    let (worker, spec) = mark.rsplit_once('#')?.1.split_once('-')?;
    (is_number(worker) && is_number(spec)).then(|| (mark, rest.strip_prefix(' ').unwrap_or(rest)))
}

/// One run.
#[derive(Debug, Default)]
pub(in crate::ingest) struct Wdio {
    /// By what runs it and its name.
    files: BTreeMap<String, Told>,
    names: Names,
    /// Of the reporter's lines. Without them nobody tells of tests.
    place: Place,
    /// Files that the runner says failed.
    failed: BTreeSet<String>,
    /// The number of them.
    said: Option<u64>,
    has_other_reporter: bool,
}

/// What is told of a spec file.
#[derive(Debug, Default)]
struct Told {
    name: String,
    summary: Summary,
}

/// Where among the lines of the spec reporter the next one is.
#[derive(Debug, Default)]
struct Place {
    is_open: bool,
    /// What stands in brackets before each line of the next file; empty without.
    mark: String,
    /// What runs that file.
    runner: String,
    /// The key of the file.
    file: Option<String>,
    is_again: bool,
    /// Names of the suites around, with their indentation.
    suites: Vec<(usize, String)>,
    /// By the title under which a failure's message comes.
    ids: BTreeMap<String, String>,
    /// Messages come.
    is_below: bool,
    told: Option<String>,
}

impl Wdio {
    /// Takes a line of the reporter.
    fn told(&mut self, mark: &str, text: &str) -> Result<()> {
        if text.starts_with("Running: ") {
            let (mark, runner) = (mark.to_owned(), text.to_owned());
            self.place = Place { is_open: true, mark, runner, ..Place::default() };
            return Ok(());
        }
        if let Some(name) = text.strip_prefix("» ").filter(|_| self.place.file.is_none()) {
            let key = format!("{} {} {name}", self.place.mark, self.place.runner);
            if self.files.len() >= MOST_FILES {
                return Err(Error::report(Reject::Malformed, format!("there are more than {MOST_FILES} spec files")));
            }
            let told = Told { name: name.to_owned(), summary: Summary::default() };
            self.place.is_again = self.files.insert(key.clone(), told).is_some();
            self.place.file = Some(key);
            return Ok(());
        }
        let Some(file) = self.place.file.as_ref().and_then(|key| self.files.get_mut(key)) else { return Ok(()) };
        let title = text.split_once(") ").filter(|(number, _)| is_number(number)).map(|(_, title)| title);
        if let Some(title) = title {
            self.place.is_below = true;
            self.place.told = self.place.ids.get(title).cloned();
        } else if self.place.is_below {
            let case = self.place.told.take().and_then(|id| self.names.get_mut(&id));
            if let Some(case) = case {
                case.message = first_lines(text);
            }
        } else if let Some((number, outcome)) = count(text) {
            Summary::add(file.summary.slot(outcome), number)?;
        } else if !text.is_empty() {
            self.line_of_tree(text);
        }
        Ok(())
    }

    /// A suite or a test.
    fn line_of_tree(&mut self, text: &str) {
        let Some(file) = self.place.file.as_ref().and_then(|key| self.files.get_mut(key)) else { return };
        let name = text.trim_start();
        let indent = text.len() - name.len();
        let marks = [("✓ ", Outcome::Passed), ("✖ ", Outcome::Failed), ("- ", Outcome::Skipped)];
        let test = marks.iter().find_map(|(mark, outcome)| Some((name.strip_prefix(mark)?, *outcome)));
        self.place.suites.retain(|(around, _)| *around < indent);
        let Some((name, outcome)) = test.filter(|_| indent > 0) else {
            self.place.suites.push((indent, name.to_owned()));
            return;
        };
        let retried = name.rsplit_once(" (").and_then(|(name, rest)| Some((name, rest.strip_suffix("x retries)")?)));
        let (name, retries) = retried.map_or((name, 0), |(name, retries)| (name, retries.parse().unwrap_or(0)));
        let titles: Vec<&str> = self.place.suites.iter().map(|(_, title)| &**title).chain([name]).collect();
        let id = [&*file.name, titles.join("::").as_str()].join("::");
        let before = self.names.get(&id).map(|case| (case.outcome, case.attempts));
        // The same file may run in several browsers.
        if before.is_some_and(|(before, _)| before >= outcome && !self.place.is_again) {
            return;
        }
        let has_failed = before.filter(|(before, _)| self.place.is_again && *before == Outcome::Failed);
        let attempts = has_failed.map_or(1, |(_, attempts)| attempts.saturating_add(1)).saturating_add(retries);
        let is_flaky = outcome == Outcome::Passed && attempts > 1;
        file.summary.flaky = file.summary.flaky.saturating_add(u64::from(is_flaky));
        if let Some(case) = self.names.set(&id, outcome) {
            (case.attempts, case.message) = (attempts, None);
            if outcome == Outcome::Failed {
                self.place.ids.insert(titles.join(" "), id);
            }
        }
    }
}

/// `2 passing (1.1s)`, `1 failing`, `1 skipped`.
fn count(text: &str) -> Option<(Option<u64>, Outcome)> {
    let (number, word) = counted(text).filter(|_| !text.starts_with(' '))?;
    let outcome = match word.split(" (").next()? {
        "passing" => Outcome::Passed,
        "failing" => Outcome::Failed,
        "skipped" | "pending" => Outcome::Skipped,
        _ => return None,
    };
    Some((number, outcome))
}

impl Announced for Wdio {
    fn begins(line: &str) -> bool {
        line.strip_prefix("Execution of ")
            .and_then(|rest| rest.split_once(" workers started at "))
            .is_some_and(|(number, _)| is_number(number))
    }

    fn line(&mut self, text: &str) -> Result<()> {
        if let Some(failed) = failed_files(text) {
            self.said = Some(failed);
            self.place = Place::default();
        } else if let Some(reporter) = text.strip_prefix(" \"").and_then(|rest| rest.strip_suffix("\" Reporter:")) {
            self.place = Place { is_open: reporter == "spec", ..Place::default() };
            self.has_other_reporter |= reporter != "spec";
        } else if let Some((mark, rest)) = of_reporter(text) {
            self.told(mark, rest)?;
        } else if let Some((state, file)) = of_runner(text) {
            if state == "FAILED" && self.failed.len() < MOST_FILES {
                self.failed.insert(file.to_owned());
            }
        } else if self.place.is_open && self.place.mark.is_empty() {
            self.told("", text)?;
        }
        Ok(())
    }

    fn is_done(&self) -> bool {
        self.said.is_some() && !self.is_off()
    }

    fn is_off(&self) -> bool {
        let is_told = !self.files.is_empty() || (self.said != Some(0) && !self.has_other_reporter);
        self.said.is_some() && !is_told
    }

    fn report(mut self) -> Result<Parsed> {
        let mut sum = Summary::default();
        let mut failing = BTreeSet::new();
        let mut number = 0;
        for told in self.files.values_mut() {
            // The tree may tell of more tests than the counts do.
            told.summary.flaky = told.summary.flaky.min(told.summary.passed);
            sum.merge(&told.summary)?;
            if told.summary.failed > 0 {
                failing.insert(&told.name);
                number += 1;
            }
        }
        for file in self.failed.iter().filter(|file| !failing.contains(file)) {
            self.names.unit(file);
        }
        let without_test = self.said.unwrap_or_default().saturating_sub(number);
        (sum.errored, sum.unit_failures) = (without_test, without_test);
        self.names.report(&FORMAT, &sum, false)
    }
}

impl TextRun for Wdio {
    const TOOL: &'static str = "WebdriverIO's spec reporter";

    fn is_whole(line: &str) -> bool {
        is_end(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::input::Input;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    const BEGUN: &str = "\nExecution of 3 workers started at 2026-11-27T06:45:15.092Z\n\n[0-0] RUNNING in chrome - file:///s/a.js\n\
        [0-1] RUNNING in chrome - file:///s/b.js\n[0-1] Error in \"B.bad\"\nError: 2 passing\n[0-1] FAILED in chrome - file:///s/b.js\n\
        [0-2] FAILED in chrome - file:///s/top.js\n[0-0] PASSED in chrome - file:///s/a.js (1 retries)\n\n \"spec\" Reporter:\n";
    const TOLD: &str = "------------\n\
        [chrome 156.0 linux #0-1] Running: chrome (v156.0) on linux\n[chrome 156.0 linux #0-1] Session ID: 81\n\
        [chrome 156.0 linux #0-1]\n[chrome 156.0 linux #0-1] » s/b.js\n[chrome 156.0 linux #0-1] B\n\
        [chrome 156.0 linux #0-1]    ✖ bad\n[chrome 156.0 linux #0-1]\n[chrome 156.0 linux #0-1]     deep\n\
        [chrome 156.0 linux #0-1]        - later\n[chrome 156.0 linux #0-1]\n[chrome 156.0 linux #0-1] 1 failing (12ms)\n\
        [chrome 156.0 linux #0-1] 1 skipped\n[chrome 156.0 linux #0-1]\n[chrome 156.0 linux #0-1] 1) B bad\n\
        [chrome 156.0 linux #0-1] 7 passing\n[chrome 156.0 linux #0-1] Error: 7 passing\n------------\n\
        [chrome 156.0 linux #0-0] Running: chrome (v156.0) on linux\n[chrome 156.0 linux #0-0]\n\
        [chrome 156.0 linux #0-0] » s/a.js\n[chrome 156.0 linux #0-0] A\n[chrome 156.0 linux #0-0]    ✓ ok\n\
        [chrome 156.0 linux #0-0]    ✖ f\n[chrome 156.0 linux #0-0]\n[chrome 156.0 linux #0-0] 1 passing (8ms)\n\
        [chrome 156.0 linux #0-0] 1 failing\n[chrome 156.0 linux #0-0]\n[chrome 156.0 linux #0-0] 1) A f\n\
        [chrome 156.0 linux #0-0] first\n------------\n\
        [chrome 156.0 linux #0-0] Running: chrome (v156.0) on linux\n[chrome 156.0 linux #0-0]\n\
        [chrome 156.0 linux #0-0] » s/a.js\n[chrome 156.0 linux #0-0] A\n[chrome 156.0 linux #0-0]    ✓ ok\n\
        [chrome 156.0 linux #0-0]    ✓ f\n[chrome 156.0 linux #0-0]\n[chrome 156.0 linux #0-0] 2 passing (8ms)\n\n\n";
    const END: &str = "Spec Files:\t 1 passed, 2 failed, 1 retries, 3 total (100% completed) in 00:00:05  \n\n";

    fn read(text: &str) -> Result<Parsed> {
        (FORMAT.parse)(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn the_last_attempt_of_each_file_counts_and_what_has_no_tests_is_errored() {
        for told in
            [TOLD.to_owned(), TOLD.replace("[chrome 156.0 linux #0-0] ", "").replace("[chrome 156.0 linux #0-1] ", "")]
        {
            let parsed = read(&format!("{BEGUN}{told}{END}")).unwrap();
            assert_eq!((counts(&parsed), parsed.figures.flaky), ([5, 2, 1, 1, 1], Some(1)), "{told}");
            let details = details(&parsed);
            let case = |id: &str| details.cases.cases.get(id).map(|case| (case.outcome, case.attempts));
            assert_eq!(case("s/a.js::A::f"), Some((Outcome::Passed, 2)));
            assert_eq!(case("s/b.js::B::deep::later"), Some((Outcome::Skipped, 1)));
            assert_eq!(details.cases.cases.get("s/b.js::B::bad").unwrap().message.as_deref(), Some("7 passing"));
            assert_eq!(details.failed_units, ["s/top.js"]);
        }
        assert!(matches!(sniffed(&FORMAT, END), Sniff::Sure(_)));
    }

    #[test]
    fn a_test_that_was_retried_is_flaky() {
        let mark = "[chrome 156.0 linux #0-0] ";
        let lines = [
            "Running: chrome",
            "» a.js",
            "A",
            "   ✓ f (1x retries)",
            "   ✖ bad (2x retries)",
            "1 passing",
            "1 failing",
        ];
        let told: String = lines.iter().map(|line| format!("{mark}{line}\n")).collect();
        let parsed = read(&format!("{told}{}", END.replace("2 failed", "1 failed"))).unwrap();
        assert_eq!((counts(&parsed), parsed.figures.flaky), ([2, 1, 1, 0, 0], Some(1)));
        assert_eq!(details(&parsed).cases.cases.get("a.js::A::bad").unwrap().attempts, 3);
        let without_count = read(&format!("{}{END}", told.replace("1 passing", "0 passing"))).unwrap();
        assert_eq!((without_count.figures.passed, without_count.figures.flaky), (Some(0), None));
    }

    #[test]
    fn a_file_is_red_where_one_of_two_browsers_says_so() {
        let told = |mark: &str, test: &str, sum: &str| {
            ["Running: it", "» a.js", "A", test, sum].map(|line| format!("[{mark} 1.0 linux #0-0] {line}\n")).concat()
        };
        let (red, green) = (told("firefox", "   ✖ f", "1 failing"), told("chrome", "   ✓ f", "1 passing"));
        for text in [format!("{red}{green}"), format!("{green}{red}")] {
            let parsed =
                read(&format!("{text}Spec Files:\t 1 passed, 1 failed, 2 total (100% completed) in 00:00:05\n"))
                    .unwrap();
            assert_eq!((counts(&parsed), parsed.figures.flaky), ([2, 1, 1, 0, 0], None));
            assert_eq!(details(&parsed).cases.outcome("a.js::A::f"), Some(Outcome::Failed));
        }
    }

    #[test]
    fn without_the_end_or_without_tests_there_is_no_result() {
        let none = "Spec Files:\t 0 passed, 0 total (0% completed) in 00:00:00  \n";
        let dots = format!("{} \"dot\" Reporter:\n..F\n\n{END}", BEGUN.replace(" \"spec\" Reporter:\n", ""));
        for text in ["", BEGUN, &format!("{BEGUN}{TOLD}"), none, &dots] {
            assert_eq!(read(text).unwrap_err().reject(), Some(Reject::NoResult), "{text}");
        }
        assert_eq!(counts(&read(&format!("{BEGUN}{END}")).unwrap()), [2, 0, 0, 2, 0], "none of them could be loaded");
        let cut = format!("{BEGUN}{TOLD}Spec Files:\t 1 passed, 2 failed, 1 re");
        assert_eq!(read(&cut).unwrap_err().reject(), Some(Reject::Malformed));
    }
}
