//! `gradle-text`: what Gradle says of a test task in which something failed. Written after its sources, `TestCountLogger` and
//! `TestExceptionFormatter`.
//!
//! Of a task in which nothing failed it tells no number; the XML that it writes beside does.

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
    written_by: "gradle test, where a test failed",
    told_by: "\"8 tests completed, 1 failed, 2 skipped\"",
    has_end: false,
    counting: "The sum of the lines, one a task in which a test failed: failed, skipped, the other tests passed. Tasks in which \
               nothing failed are not in it. A task whose process of tests ended before them is one errored test.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let is_ours = |line: &str| completed(line.trim_end()).is_some();
    match head.xml().is_none() && (head.lines().any(is_ours) || head.last_lines().any(is_ours)) {
        true => Sniff::Sure("line \"N tests completed, N failed\"".into()),
        false => Sniff::No,
    }
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
    task: Option<String>,
}

impl Gradle {
    fn take(&mut self, text: &str) -> Result<()> {
        let failed = self.failed.take();
        if let Some(found) = completed(text) {
            return self.found.get_or_insert_default().merge(&found);
        }
        if let Some(task) = text.strip_prefix("Execution failed for task '").and_then(|rest| rest.strip_suffix("'.")) {
            self.task = Some(task.to_owned());
        } else if text.starts_with("> Process 'Gradle Test Executor ")
            && let Some(task) = self.task.take()
        {
            self.names.unit(&task);
        } else if let Some((class, test)) = text.strip_suffix(" FAILED").and_then(|test| test.split_once(" > ")) {
            let name = format!("{}::{}", class, test.replace(" > ", "::").trim_end_matches("()"));
            self.failed = self.names.set(&name, Outcome::Failed).map(|_| name);
        } else if let (Some(message), Some(name)) = (text.strip_prefix("    "), failed)
            && let Some(case) = self.names.cases.get_mut(&name)
        {
            case.message = first_lines(message);
        }
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

    fn report(self) -> Result<Option<Parsed>> {
        let Some(mut found) = self.found else { return Ok(None) };
        found.add_units(self.names.unit_count())?;
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
        let message = cases["CartTest::fails"].message.as_deref();
        assert_eq!(message, Some("org.opentest4j.AssertionFailedError at CartTest.java:12"));
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
