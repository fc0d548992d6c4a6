//! `rstest-text`: what Rstest prints. The last `Tests` line gives the counts; the files' tests and the `FAIL` lines give names.

use std::collections::BTreeSet;

use super::stack;
use super::text_report::{Names, Summary, add_line, counted, is_foreign, titled};
use super::text_runs::{Announced, TextRun, last_run};
use crate::error::Result;
use crate::ingest::text::{first_lines, printable};
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::cases::Outcome;
use crate::model::figures::ReportKind;

/// What `rstest` prints.
pub const FORMAT: Format = Format {
    name: "rstest-text",
    kind: ReportKind::Test,
    about: "terminal output of Rstest",
    written_by: "rstest",
    told_by: "its line \"Rstest v…\", or its lines \"Test Files\" and \"Tests\"",
    has_end: true,
    counting: "The last \"Tests\" line: passed, failed, skipped and todo as skipped. A file that failed although none of \
               its tests did is one errored test, and so are all errors outside of tests together.",
    sniff,
    parse: last_run::<Rstest>,
};

fn sniff(head: &Head<'_>) -> Sniff {
    // Its other reporters write below the same line.
    if is_foreign(head) || !head.keys().is_empty() {
        return Sniff::No;
    }
    if head.lines().take(50).any(Rstest::begins) {
        return Sniff::Sure("line \"Rstest v…\"".into());
    }
    let has = |title: &str| head.last_lines().any(|line| totals(line, title).is_some());
    match has("Test Files") && has("Tests") {
        true => Sniff::Sure("lines \"Test Files\" and \"Tests\" of Rstest".into()),
        false => Sniff::No,
    }
}

/// The counts of `      Tests 1 failed | 6 passed (7)`; empty for `Tests no tests`. Vitest has two blanks there.
fn totals<'l>(line: &'l str, title: &str) -> Option<Vec<(Option<u64>, &'l str)>> {
    let rest = line.trim().strip_prefix(title)?.strip_prefix(' ').filter(|rest| !rest.starts_with(' '))?;
    if rest == "no tests" {
        return Some(Vec::new());
    }
    let counts = rest.split_once(" (").map_or(rest, |(counts, _)| counts);
    let words = ["passed", "failed", "skipped", "todo"];
    counts.split(" | ").map(|part| counted(part).filter(|(_, word)| words.contains(word))).collect()
}

/// What failed and is no test, as both of its texts tell.
#[derive(Debug, Default)]
pub(super) struct Outside {
    /// Files that failed although none of their tests did, as far as they are named.
    pub files: BTreeSet<String>,
    /// Files that failed, whatever failed in them.
    pub failed_files: u64,
    /// Something failed in no file.
    pub has_unhandled: bool,
}

impl Outside {
    /// The report of a summary of tests, with this.
    ///
    /// # Errors
    /// Malformed if a sum does not fit.
    pub(super) fn report(self, format: &'static Format, mut summary: Summary, mut names: Names) -> Result<Parsed> {
        let named = u64::try_from(self.files.len()).unwrap_or(u64::MAX);
        // What failed is named elsewhere where its messages went another way.
        let files = if summary.failed == 0 { named.max(self.failed_files) } else { named };
        summary.add_units(files.saturating_add(u64::from(self.has_unhandled)))?;
        self.files.iter().for_each(|file| names.unit(file));
        if self.has_unhandled {
            names.unit("unhandled errors");
        }
        names.report(format, &summary, false)
    }
}

/// One run.
#[derive(Debug, Default)]
pub(in crate::ingest) struct Rstest {
    names: Names,
    file: String,
    /// The test whose failure is told.
    told: Option<String>,
    /// Below the names of what failed, where a message is one more time told.
    in_failures: bool,
    outside: Outside,
    /// A failed file, none of whose tests came so far.
    failed_file: Option<String>,
    counts: Option<Summary>,
    is_done: bool,
    /// Another reporter than those that print text writes.
    is_off: bool,
    has_begun: bool,
}

impl Rstest {
    /// ` ✓ test/cart.test.js (5)`, and its tests below it.
    fn file(&mut self, failed: bool, file: &str) {
        self.end_file();
        file.clone_into(&mut self.file);
        self.failed_file = failed.then(|| file.to_owned());
        // Tests ran below a summary: one of them printed it.
        (self.counts, self.is_done, self.told) = (None, false, None);
    }

    fn end_file(&mut self) {
        self.outside.files.extend(self.failed_file.take());
    }

    fn test(&mut self, test: &Told<'_>) {
        let id = titled(Some(&self.file), test.name);
        self.told = (test.outcome == Outcome::Failed).then(|| id.clone());
        if self.told.is_some() {
            self.failed_file = None;
        }
        let Some(case) = self.names.set(&id, test.outcome) else { return };
        (case.duration_ms, case.attempts) = (test.duration_ms, test.retries.saturating_add(1));
        case.file = Some(printable(&self.file, 1000)).filter(|_| test.outcome == Outcome::Failed);
    }

    /// ` FAIL  test/price.test.js > prices > rounds`, or a file alone.
    fn fail(&mut self, name: &str) {
        self.in_failures = true;
        let Some((file, name)) = name.split_once(" > ") else {
            self.told = None;
            self.outside.files.insert(name.to_owned());
            return;
        };
        let id = titled(Some(file), name);
        if let Some(case) = self.names.set(&id, Outcome::Failed) {
            case.file = Some(printable(file, 1000));
        }
        self.told = Some(id);
    }

    /// A line below a test that failed: its message, or a row of its stack.
    fn failure(&mut self, content: &str) {
        let Some(case) = self.told.as_ref().and_then(|id| self.names.get_mut(id)) else { return };
        if let Some(place) = stack::javascript(content) {
            if case.line.is_none() {
                stack::put(case, place);
            }
        } else if !self.in_failures {
            add_line(&mut case.message, content);
        } else if case.message.is_none() {
            case.message = first_lines(content);
        }
    }

    fn summary(&mut self, counts: Vec<(Option<u64>, &str)>) -> Result<()> {
        self.end_file();
        let mut summary = Summary::default();
        for (number, word) in counts {
            let slot = match word {
                "passed" => &mut summary.passed,
                "failed" => &mut summary.failed,
                _ => &mut summary.skipped,
            };
            Summary::add(slot, number)?;
        }
        self.counts = Some(summary);
        Ok(())
    }
}

impl Announced for Rstest {
    /// `  Rstest v0.12.0`.
    fn begins(line: &str) -> bool {
        let version = line.trim_start().strip_prefix("Rstest v");
        version.is_some_and(|version| version.starts_with(|c: char| c.is_ascii_digit()) && !version.contains(' '))
    }

    fn line(&mut self, text: &str) -> Result<()> {
        let content = text.trim();
        if Rstest::begins(text) {
            *self = Rstest { has_begun: true, ..Rstest::default() };
        } else if std::mem::take(&mut self.has_begun) {
            self.has_begun = content.is_empty();
            self.is_off = content == "{" || content == "---" || content.starts_with("<?xml");
        }
        if let Some(counts) = totals(text, "Test Files") {
            let failed = counts.iter().find(|(_, word)| *word == "failed");
            self.outside.failed_files = failed.and_then(|(number, _)| *number).unwrap_or(0);
        } else if let Some(counts) = totals(text, "Tests") {
            self.summary(counts)?;
        } else if content.starts_with("Duration ") && content.contains(" (build ") {
            self.is_done = self.counts.is_some();
        } else if content == "Unhandled Error" {
            (self.outside.has_unhandled, self.told) = (true, None);
        } else if let Some(name) = content.strip_prefix("FAIL  ") {
            self.fail(name);
        } else if let Some((failed, file)) = file(text) {
            self.file(failed, file);
        } else if let Some(test) = Told::of(text).filter(|_| !self.file.is_empty() && !self.in_failures) {
            self.test(&test);
        } else if !content.is_empty() {
            self.failure(content);
        }
        Ok(())
    }

    fn is_done(&self) -> bool {
        self.is_done
    }

    /// Nor has it said anything below its name, where other reporters of it may write.
    fn is_off(&self) -> bool {
        self.is_off || self.has_begun
    }

    fn ends_alone(line: &str) -> bool {
        totals(line, "Test Files").is_some()
    }

    fn report(self) -> Result<Parsed> {
        self.outside.report(&FORMAT, self.counts.unwrap_or_default(), self.names)
    }
}

impl TextRun for Rstest {
    const TOOL: &'static str = "Rstest";

    /// Its last line may be cut in the times.
    fn is_whole(line: &str) -> bool {
        line.trim_start().starts_with("Duration ") && line.ends_with(')')
    }
}

/// Whether it failed, and which, of ` ✗ test/price.test.js (3) 115ms [web]`.
fn file(line: &str) -> Option<(bool, &str)> {
    let (outcome, rest) = marked(line.strip_prefix(' ')?)?;
    let (file, count) = rest.rsplit_once(" (")?;
    let (count, _) = count.split_once(')')?;
    let is_file = !file.starts_with(' ') && file.contains('.');
    (is_file && count.bytes().all(|byte| byte.is_ascii_digit())).then_some((outcome == Outcome::Failed, file))
}

/// A test of a file.
struct Told<'l> {
    outcome: Outcome,
    name: &'l str,
    duration_ms: Option<u64>,
    retries: u32,
}

impl<'l> Told<'l> {
    /// `  ✓ prices > is flaky (2ms) (retry x1)`.
    fn of(line: &'l str) -> Option<Told<'l>> {
        let (outcome, rest) = marked(line.strip_prefix("  ")?)?;
        let retried = rest.rsplit_once(" (retry x");
        let retries = retried.and_then(|(rest, times)| Some((rest, times.split_once(')')?.0.parse().ok()?)));
        let (rest, retries) = retries.unwrap_or((rest, 0));
        let (name, time) = rest.rsplit_once(" (").unwrap_or((rest, ""));
        let duration_ms = time.strip_suffix("ms)").and_then(|time| time.parse().ok());
        let name = if time.ends_with("s)") { name } else { rest };
        (!name.starts_with(' ')).then_some(Told { outcome, name, duration_ms, retries })
    }
}

fn marked(line: &str) -> Option<(Outcome, &str)> {
    [("✓ ", Outcome::Passed), ("✗ ", Outcome::Failed), ("- ", Outcome::Skipped)]
        .into_iter()
        .find_map(|(mark, outcome)| Some((outcome, line.strip_prefix(mark)?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::input::Input;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    const HEAD: &str = "\n  Rstest v0.12.0\n\n";
    const TREE: &str = " ✗ a.test.js (3) 115ms\n  ✗ prices > rounds (up) (8ms)\n    expected 3 to be 4\n  ✓ prices > is flaky \
                        (2ms) (retry x1)\n  - later\n ✗ b.test.js (0)\n ✓ c.test.js (5)\n\n";
    const FAILURES: &str = "Summary of all failing tests:\n\n FAIL  b.test.js \nError: no database\n\n        at b.test.js:2:7\n\n \
                            FAIL  a.test.js > prices > rounds (up)\nAssertionError: expected 3 to be 4\n\n- Expected\n+ Received\n\n        \
                            at a.test.js:5:88\n\n\n";
    const SUMMARY: &str = " Test Files 2 failed | 1 passed (3)\n      Tests 1 failed | 6 passed | 1 skipped (8)\n   Duration 550ms \
                           (build 48ms, tests 502ms)\n";

    fn read(text: &str) -> Result<Parsed> {
        (FORMAT.parse)(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn the_last_summary_counts_and_a_file_that_failed_alone() {
        for text in [
            format!("{HEAD}{TREE}{FAILURES}{SUMMARY}"),
            format!("{HEAD}{TREE}{SUMMARY}"),
            format!("{HEAD}{FAILURES}{SUMMARY}"),
        ] {
            let parsed = read(&text).unwrap();
            assert_eq!(counts(&parsed), [9, 6, 1, 1, 1], "{text}");
            assert_eq!(details(&parsed).failed_units, ["b.test.js"]);
            let cases = details(&parsed).cases.cases;
            let case = cases.get("a.test.js::prices::rounds (up)").unwrap();
            assert_eq!((case.outcome, case.file.as_deref()), (Outcome::Failed, Some("a.test.js")));
            assert!(case.message.as_deref().unwrap().contains("expected 3 to be 4"));
            assert_eq!(case.line, text.contains("FAIL").then_some(5));
        }
        let parsed = read(&format!("{HEAD}{TREE}{SUMMARY}")).unwrap();
        let flaky = &details(&parsed).cases.cases["a.test.js::prices::is flaky"];
        assert_eq!((flaky.duration_ms, flaky.attempts), (Some(2), 2));
    }

    #[test]
    fn a_summary_that_a_test_printed_gives_way_to_the_runs_own() {
        let printed = SUMMARY.replace("6 passed", "60 passed");
        let parsed = read(&format!("{HEAD}{printed}{TREE}{FAILURES}{SUMMARY}")).unwrap();
        assert_eq!(counts(&parsed), [9, 6, 1, 1, 1]);
        assert_eq!(read(&format!("{HEAD}{printed}{TREE}")).unwrap_err().reject(), Some(Reject::NoResult));
    }

    #[test]
    fn errors_outside_of_tests_are_one() {
        let text = format!(
            "{HEAD} Unhandled Error \nError: late\n\n Unhandled Error \nError: later\n\n Test Files 1 passed\n      \
                            Tests 2 passed\n   Duration 5ms (build 4ms, tests 1ms)\n"
        );
        assert_eq!(counts(&read(&text).unwrap()), [3, 2, 0, 1, 0]);
        let none =
            format!("{HEAD} Test Files no tests\n      Tests no tests\n   Duration 0ms (build 0ms, tests 0ms)\n");
        assert_eq!(counts(&read(&none).unwrap()), [0; 5]);
    }

    #[test]
    fn it_is_told_from_vitest_and_from_its_other_reporters() {
        assert!(matches!(sniffed(&FORMAT, &format!("{HEAD}{TREE}")), Sniff::Sure(_)));
        assert!(matches!(sniffed(&FORMAT, SUMMARY), Sniff::Sure(_)));
        for other in [
            SUMMARY.replace("Files ", "Files  ").replace("Tests ", "Tests  "),
            format!("{HEAD}{{\n \"tool\": \"rstest\"\n}}\n"),
        ] {
            assert_eq!(sniffed(&FORMAT, &other), Sniff::No, "{other}");
        }
        let json = format!("{HEAD}{{\n");
        let mut run = Rstest::default();
        json.lines().for_each(|line| run.line(line).unwrap());
        assert!(run.is_off());
    }
}
