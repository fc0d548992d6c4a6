//! `gradle-text`: what Gradle says of test tasks. Written after its sources, `TestCountLogger` and `TestExceptionFormatter`, and
//! output of Gradle 4.4.
//!
//! Of a task in which nothing failed it tells no number. It names the tests where the build's `testLogging` says so; the XML that
//! it writes beside always does.

use std::collections::BTreeMap;

use super::stack;
use super::text_report::{Names, Summary, counted};
use super::text_runs::{Unannounced, all_summaries};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::text::first_lines;
use crate::ingest::{Format, Head, Parsed, Sniff, add};
use crate::model::cases::Outcome;
use crate::model::figures::ReportKind;

/// What `gradle test` prints.
pub const FORMAT: Format = Format {
    name: "gradle-text",
    kind: ReportKind::Test,
    about: "terminal output of Gradle's test tasks",
    written_by: "gradle test, where a test failed or testLogging names those that passed",
    told_by: "\"8 tests completed, 1 failed, 2 skipped\", below \"> Task :test\" \"CartTest > adds() PASSED\", or how \
              a process of tests ended",
    has_end: false,
    counting: "The sum of the lines, one a task in which a test failed: failed, skipped, the other tests passed. Of \
               other tasks the tests that are named (testLogging), and else nothing. A task whose process of tests \
               ended before them is one errored test.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    if head.xml().is_some() {
        return Sniff::No;
    }
    let (mut has_task, mut has_named) = (false, false);
    for line in head.lines_of_both_ends().map(str::trim_end) {
        if completed(line).is_some() {
            return Sniff::Sure("line \"N tests completed, N failed\"".into());
        }
        if is_death(line) {
            return Sniff::Sure("line \"> Process 'Gradle Test Executor N' finished …\"".into());
        }
        has_task |= task(line).is_some();
        // Where a test failed, a sum comes.
        has_named |= row(line).is_some_and(|(.., outcome)| outcome != Outcome::Failed);
    }
    match has_task && has_named {
        true => Sniff::Sure("lines \"CartTest > adds() PASSED\" of a task of Gradle's".into()),
        false => Sniff::No,
    }
}

/// `> Process 'Gradle Test Executor 1' finished with non-zero exit value 3`.
fn is_death(line: &str) -> bool {
    line.starts_with("> Process 'Gradle Test Executor ")
}

/// The task in `> Task :cart:test FAILED`, and in `:cart:test FAILED` of Gradle 4.
fn task(line: &str) -> Option<&str> {
    let task = line.strip_prefix("> Task ").unwrap_or(line);
    let task = task.split(' ').next().filter(|task| task.starts_with(':') && task.len() > 1)?;
    task.bytes().all(|byte| byte.is_ascii_alphanumeric() || b":-_.".contains(&byte)).then_some(task)
}

/// Class, test and outcome of `CartTest > adds() PASSED`.
fn row(line: &str) -> Option<(&str, &str, Outcome)> {
    let (name, word) = line.rsplit_once(' ')?;
    let outcome = match word {
        "PASSED" => Outcome::Passed,
        "FAILED" => Outcome::Failed,
        "SKIPPED" => Outcome::Skipped,
        _ => return None,
    };
    let (class, test) = name.split_once(" > ").filter(|(class, _)| !class.starts_with([' ', '>']))?;
    Some((class, test, outcome))
}

/// The counts of `8 tests completed, 1 failed, 2 skipped`.
fn completed(line: &str) -> Option<Summary> {
    let (all, rest) = counted(line)?;
    let parts = rest.strip_prefix("tests completed, ").or_else(|| rest.strip_prefix("test completed, "))?;
    let summary = Summary::of(parts.split(", "), |word| match word {
        "failed" => Some(Outcome::Failed),
        "skipped" => Some(Outcome::Skipped),
        _ => None,
    })?;
    let passed = all?.checked_sub(add(summary.failed, summary.skipped).ok()?)?;
    Some(Summary { passed, ..summary })
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    all_summaries::<Gradle>(input, "Gradle")
}

/// All test tasks of an output.
#[derive(Debug, Default)]
pub(in crate::ingest) struct Gradle {
    names: Names,
    found: Option<Summary>,
    /// The test whose message comes.
    failed: Option<String>,
    /// The task that failed, until it is known how.
    broken: Option<String>,
    /// The task whose tests are told.
    task: Option<String>,
    /// What the lines of its tests tell of each task that has not told its sum.
    tasks: BTreeMap<String, Summary>,
    /// The build came to its end.
    is_built: bool,
}

impl Gradle {
    fn take(&mut self, text: &str) -> Result<()> {
        let failed = self.failed.take();
        if let Some(found) = completed(text) {
            // They are all in it.
            if let Some(task) = &self.task {
                self.tasks.remove(task);
            }
            return self.found.get_or_insert_default().merge(&found);
        }
        if let Some(task) = text.strip_prefix("Execution failed for task '").and_then(|rest| rest.strip_suffix("'.")) {
            self.broken = Some(task.to_owned());
        } else if is_death(text)
            && let Some(task) = self.broken.take()
        {
            self.names.unit(&task);
        } else if let Some((class, test, outcome)) = row(text) {
            self.test(class, test, outcome)?;
        } else if let Some(task) = task(text) {
            (self.task, self.is_built) = (Some(task.to_owned()), false);
        } else if text.starts_with("BUILD ") {
            (self.task, self.is_built) = (None, true);
        } else if let (Some(message), Some(name)) = (text.strip_prefix("    "), failed)
            && let Some(case) = self.names.get_mut(&name)
        {
            case.message = first_lines(message);
            // `java.lang.IllegalStateException at CartTest.java:22`
            if let Some(place) = message.rsplit_once(" at ").and_then(|(_, place)| stack::numbered(place)) {
                stack::put(case, place);
            }
        }
        Ok(())
    }
}

impl Gradle {
    fn test(&mut self, class: &str, test: &str, outcome: Outcome) -> Result<()> {
        if let Some(task) = &self.task {
            let summary = self.tasks.entry(task.clone()).or_default();
            Summary::add(summary.slot(outcome), Some(1))?;
        } else if outcome != Outcome::Failed {
            return Ok(());
        }
        let name = format!("{}::{}", class, test.replace(" > ", "::").trim_end_matches("()"));
        let is_set = self.names.set(&name, outcome).is_some();
        self.failed = (is_set && outcome == Outcome::Failed).then_some(name);
        Ok(())
    }
}

impl Unannounced for Gradle {
    fn line(&mut self, text: &str) -> Result<Option<Box<Parsed>>> {
        self.take(text)?;
        Ok(None)
    }

    fn is_idle(text: &str) -> bool {
        text.starts_with("BUILD ") || text.contains(" actionable task")
    }

    fn report(mut self) -> Result<Option<Parsed>> {
        for (task, summary) in &self.tasks {
            // A sum would have come where a test failed, unless the process of tests ended before.
            if !self.is_built || summary.failed > 0 && !self.names.units.contains(task) {
                return Ok(None);
            }
            self.found.get_or_insert_default().merge(summary)?;
        }
        let units = self.names.unit_count();
        let Some(mut found) = self.found.or((units > 0).then(Summary::default)) else { return Ok(None) };
        found.add_units(units)?;
        self.names.report(&FORMAT, &found, true).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    const RUN: &str = "> Task :test FAILED\n\nCartTest > fails() FAILED\n    org.opentest4j.AssertionFailedError at CartTest.java:12\n\n\
                       CartTest > Inner > adds(int) > [1] 3 FAILED\n    java.lang.IllegalStateException at CartTest.java:20\n\n";
    const END: &str = "8 tests completed, 2 failed, 1 skipped\n";

    fn read(text: &str) -> Result<Parsed> {
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn tasks_with_failures_add_up() {
        let parsed = read(&format!("{RUN}{END}")).unwrap();
        assert_eq!(counts(&parsed), [8, 5, 2, 0, 1]);
        let cases = details(&parsed).cases.cases;
        let fails = &cases["CartTest::fails"];
        assert_eq!(fails.message.as_deref(), Some("org.opentest4j.AssertionFailedError at CartTest.java:12"));
        assert_eq!((fails.file.as_deref(), fails.line), (Some("CartTest.java"), Some(12)));
        assert_eq!(cases["CartTest::Inner::adds(int)::[1] 3"].outcome, Outcome::Failed);
        assert_eq!(counts(&read(&format!("{RUN}{END}1 test completed, 1 failed\n")).unwrap()), [9, 5, 3, 0, 1]);
        assert!(matches!(sniffed(&FORMAT, END), Sniff::Sure(_)));
    }

    #[test]
    fn a_task_whose_process_died_is_a_unit() {
        let why = |task, why| format!("* What went wrong:\nExecution failed for task '{task}'.\n> {why}\n");
        let failed = why(":a:test", "There were failing tests. See the report at: file:///a/index.html");
        let died = why(":b:test", "Process 'Gradle Test Executor 9' finished with non-zero exit value 3");
        assert_eq!(counts(&read(&format!("{END}{failed}{died}")).unwrap()), [9, 5, 2, 1, 1]);
        assert_eq!(details(&read(&format!("{END}{failed}{died}")).unwrap()).failed_units, [":b:test"]);
        assert_eq!(counts(&read(&format!("{END}{failed}")).unwrap()), [8, 5, 2, 0, 1]);
    }

    #[test]
    fn named_tests_count_where_their_task_tells_no_sum() {
        let green = "> Task :a:test\n\nCartTest > adds() PASSED\n\nCartTest > Inner > later() SKIPPED\n";
        assert_eq!(counts(&read(&format!("{green}\nBUILD SUCCESSFUL in 3s\n")).unwrap()), [2, 1, 0, 0, 1]);
        assert!(matches!(sniffed(&FORMAT, green), Sniff::Sure(_)));
        assert!(read(green).is_err());
        let red = "> Task :b:test\n\nShopTest > sells() PASSED\n\n> Task :a:jar\n> Task :b:test FAILED\n\n\
                   ShopTest > buys() FAILED\n    java.lang.AssertionError at ShopTest.java:3\n\n2 tests completed, 1 failed\n";
        let both = read(&format!("{green}{red}\nBUILD FAILED in 3s\n")).unwrap();
        assert_eq!((counts(&both), details(&both).cases.cases.len()), ([4, 2, 1, 0, 1], 4));
        // The process ended before the task had a sum.
        let died = "Execution failed for task ':b:test'.\n> Process 'Gradle Test Executor 2' finished with non-zero exit value 3\n";
        let ran = ":b:test\n\nShopTest > sells PASSED\n:b:test FAILED\n";
        assert_eq!(counts(&read(&format!("{ran}{died}\nBUILD FAILED in 7s\n")).unwrap()), [2, 1, 0, 1, 0]);
        assert_eq!(counts(&read(died).unwrap()), [1, 0, 0, 1, 0]);
        assert!(matches!(sniffed(&FORMAT, died), Sniff::Sure(_)));
        // Of no task of Gradle's.
        assert!(read("CartTest > adds() PASSED\nBUILD SUCCESSFUL in 3s\n").is_err());
    }

    #[test]
    fn what_does_not_add_up_or_is_cut_is_no_result() {
        for text in [RUN, "BUILD SUCCESSFUL in 3s\n", "1 test completed, 2 failed\n", "✔ 3 tests completed\n"] {
            assert_eq!(read(text).unwrap_err().reject(), Some(Reject::NoResult), "{text}");
            assert_eq!(sniffed(&FORMAT, text), Sniff::No, "{text}");
        }
        assert_eq!(read(&format!("{END}1 test compl")).unwrap_err().reject(), Some(Reject::Malformed));
        assert_eq!(
            counts(&read(&format!("{END}BUILD FAILED in 1s\n5 actionable tasks: 5 exe")).unwrap()),
            [8, 5, 2, 0, 1]
        );
    }
}
