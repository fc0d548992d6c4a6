//! `sbt-text`: the summaries of ScalaTest, which sbt, Mill, Maven and Gradle hand on, and those that sbt prints for the other
//! frameworks (MUnit, specs2, ScalaCheck, JUnit). Written after their sources, ScalaTest's `StringReporter` and sbt's
//! `TestResultLogger`.
//!
//! Where ScalaTest and other frameworks run together, sbt's line holds ScalaTest's tests, too.

use super::stack;
use super::text_report::{Names, Summary};
use super::text_runs::{Unannounced, all_summaries};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::text::{first_lines, printable, split_at};
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::cases::Outcome;
use crate::model::figures::ReportKind;

/// What ScalaTest and sbt print.
pub const FORMAT: Format = Format {
    name: "sbt-text",
    kind: ReportKind::Test,
    about: "terminal output of sbt's tests and of ScalaTest",
    written_by: "sbt test, ScalaTest's runner",
    told_by: "\"Tests: succeeded 3, failed 1, canceled 0, …\", or \"Failed: Total 4, Failed 1, Errors 0, …\"",
    has_end: false,
    counting: "The sum of the summaries, one a project: succeeded passed, failed, errors errored; canceled, ignored, \
               pending and skipped are skipped. An aborted suite is one errored test.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let is_ours = |line: &str| scalatest(bare(line)).or_else(|| sbt(bare(line))).is_some();
    match head.xml().is_none() && head.last_lines().any(is_ours) {
        true => Sniff::Sure("a summary of ScalaTest or sbt".into()),
        false if head.lines().any(|line| line.starts_with("[info] welcome to sbt ")) => {
            Sniff::Maybe("first line of sbt".into())
        }
        false => Sniff::No,
    }
}

/// The line without sbt's mark, as `[info] `, and without a time in brackets before it.
fn bare(line: &str) -> &str {
    let marks = ["[info] ", "[error] ", "[warn] "];
    let unmarked = |line| marks.iter().find_map(|mark| str::strip_prefix(line, mark));
    let is_time = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || b":.,-/ TZ+".contains(&byte));
    let timed = || {
        line.strip_prefix('[')?.split_once("] ").filter(|(time, _)| is_time(time)).and_then(|(_, rest)| unmarked(rest))
    };
    unmarked(line).or_else(timed).unwrap_or(line).trim_end()
}

/// The counts of `Tests: succeeded 3, failed 1, canceled 0, ignored 1, pending 0`.
fn scalatest(line: &str) -> Option<Summary> {
    let counts = line.strip_prefix("Tests: succeeded ").map(|rest| format!("succeeded {rest}"))?;
    sum(&counts).filter(|_| counts.contains(", failed ") && counts.contains(", pending "))
}

/// The counts of `Failed: Total 5, Failed 1, Errors 0, Passed 3, Ignored 1`.
fn sbt(line: &str) -> Option<Summary> {
    let (word, rest) = split_at(line, ": Total ")?;
    // As sbt 0.12 wrote it, `Failed: : Total`.
    let word = word.trim_end_matches([':', ' ']);
    let (_, counts) = rest.split_once(", ").filter(|_| matches!(word, "Passed" | "Failed" | "Error"))?;
    sum(&counts.to_ascii_lowercase()).filter(|_| counts.contains("Passed "))
}

fn sum(counts: &str) -> Option<Summary> {
    let swapped: Option<Vec<String>> =
        counts.split(", ").map(|part| part.split_once(' ').map(|(word, number)| format!("{number} {word}"))).collect();
    Summary::of(swapped?.iter().map(String::as_str), |word| match word {
        "succeeded" | "passed" => Some(Outcome::Passed),
        "failed" => Some(Outcome::Failed),
        "errors" => Some(Outcome::Errored),
        "canceled" | "ignored" | "pending" | "skipped" => Some(Outcome::Skipped),
        _ => None,
    })
}

/// The place in `2 did not equal 3 (CartSpec.scala:9)`.
fn place(message: &str) -> Option<(&str, u64)> {
    let (_, place) = message.strip_suffix(')')?.rsplit_once(" (")?;
    stack::numbered(place).filter(|(file, _)| file.ends_with(".scala"))
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    all_summaries::<Told>(input, "ScalaTest or sbt")
}

/// All summaries of an output.
#[derive(Debug, Default)]
pub(in crate::ingest) struct Told {
    names: Names,
    /// The suite whose tests are told.
    suite: String,
    /// The test that failed in the line before, and the column of its dash.
    failed: Option<(String, usize)>,
    /// Suites that ended too early, of the summary that comes.
    aborted: u64,
    /// Of ScalaTest, since the last line of sbt's.
    open: Option<Summary>,
    all: Option<Summary>,
}

impl Told {
    fn take(&mut self, text: &str) -> Result<()> {
        let text = bare(text);
        let column = text.len() - text.trim_start().len();
        if let Some((id, _)) = self.failed.take().filter(|(_, dash)| column > *dash)
            && let Some(case) = self.names.get_mut(&id).filter(|case| case.message.is_none())
        {
            case.message = first_lines(text);
            if let Some((file, line)) = place(text) {
                (case.file, case.line) = (Some(printable(file, 1000)), Some(line));
            }
        }
        if let Some((_, aborted)) =
            text.strip_prefix("Suites: completed ").and_then(|rest| rest.split_once(", aborted "))
        {
            self.aborted = aborted.parse().unwrap_or(0);
        } else if let Some(mut found) = scalatest(text) {
            found.add_units(std::mem::take(&mut self.aborted))?;
            self.open.get_or_insert_default().merge(&found)?;
        } else if let Some(found) = sbt(text) {
            let count = |summary: &Summary| summary.passed.saturating_add(summary.failed);
            // It tells them again, unless they are another project's.
            let open = self.open.take().filter(|open| count(open) > count(&found));
            let all = self.all.get_or_insert_default();
            all.merge(&open.unwrap_or_default())?;
            all.merge(&found)?;
        } else if let Some(name) =
            text.trim_start().strip_prefix("- ").and_then(|name| name.strip_suffix(" *** FAILED ***"))
        {
            let id = printable(&format!("{}::{name}", self.suite), super::LONGEST_ID);
            self.names.set(&id, Outcome::Failed);
            self.failed = Some((id, column));
        } else if let Some(suite) = text.strip_suffix(':').filter(|suite| !suite.is_empty() && !suite.contains(' ')) {
            suite.clone_into(&mut self.suite);
        }
        Ok(())
    }
}

impl Unannounced for Told {
    fn line(&mut self, text: &str) -> Result<Option<Box<Parsed>>> {
        self.take(text)?;
        Ok(None)
    }

    fn is_idle(text: &str) -> bool {
        text.starts_with("[error] Total time: ") || text.starts_with("[success] Total time: ")
    }

    fn report(self) -> Result<Option<Parsed>> {
        let (open, all) = (self.open, self.all);
        let Some(mut summary) = all.or_else(|| open.is_some().then(Summary::default)) else { return Ok(None) };
        summary.merge(&open.unwrap_or_default())?;
        self.names.report(&FORMAT, &summary, true).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    const SCALATEST: &str = "[info] CartSpec:\n[info] - adds\n[info] - fails *** FAILED ***\n[info]   2 did not equal 3 (CartSpec.scala:7)\n\
                             [info] Run completed in 345 milliseconds.\n[info] Total number of tests run: 3\n\
                             [info] Suites: completed 1, aborted 1\n\
                             [info] Tests: succeeded 2, failed 1, canceled 1, ignored 1, pending 0\n[info] *** 1 SUITE ABORTED ***\n";

    fn read(text: &str) -> Result<Parsed> {
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn summaries_of_both_are_read() {
        let parsed = read(SCALATEST).unwrap();
        assert_eq!(counts(&parsed), [6, 2, 1, 1, 2]);
        let details = details(&parsed);
        assert_eq!((details.cases.outcome("CartSpec::fails"), details.unit_failures), (Some(Outcome::Failed), 1));
        assert_eq!(counts(&read(&SCALATEST.replace("[info] ", "")).unwrap()), [6, 2, 1, 1, 2]);
        let sbt = "[error] Error: Total 6, Failed 1, Errors 1, Passed 3, Skipped 1, Pending 2\n";
        assert_eq!(counts(&read(sbt).unwrap()), [8, 3, 1, 1, 3]);
        for other in [
            "[error] Failed: : Total 2, Failed 1, Errors 0, Passed 1, Skipped 0\n",
            "[04-09 22:41:59.531] [error] Failed: Total 2, Failed 1, Errors 0, Passed 1\n",
        ] {
            assert_eq!(counts(&read(other).unwrap()), [2, 1, 1, 0, 0], "{other}");
        }
        assert!(
            matches!(sniffed(&FORMAT, SCALATEST), Sniff::Sure(_)) && matches!(sniffed(&FORMAT, sbt), Sniff::Sure(_))
        );
    }

    #[test]
    fn a_failure_has_its_message_and_place() {
        let more = "[info] - fails *** FAILED ***\n[info] - throws *** FAILED ***\n\
                    [info]   java.lang.RuntimeException: boom\n[info]   at x(Y.scala:3)\n";
        let text = SCALATEST.replace("[info] Run", &format!("[info] OtherSpec:\n{more}[info] Run"));
        let cases = details(&read(&text).unwrap()).cases.cases;
        let of = |id: &str| (cases[id].message.as_deref(), cases[id].file.as_deref(), cases[id].line);
        let unequal = "2 did not equal 3 (CartSpec.scala:7)";
        assert_eq!(of("CartSpec::fails"), (Some(unequal), Some("CartSpec.scala"), Some(7)));
        assert_eq!(of("OtherSpec::fails"), (None, None, None));
        assert_eq!(of("OtherSpec::throws"), (Some("java.lang.RuntimeException: boom"), None, None));
    }

    #[test]
    fn projects_add_up_and_what_is_told_twice_counts_once() {
        assert_eq!(counts(&read(&format!("{SCALATEST}{SCALATEST}")).unwrap()), [12, 4, 2, 2, 4]);
        let all = "[error] Failed: Total 5, Failed 1, Errors 0, Passed 4\n";
        assert_eq!(counts(&read(&format!("{SCALATEST}{all}")).unwrap()), [5, 4, 1, 0, 0]);
        let another = "[info] Passed: Total 1, Failed 0, Errors 0, Passed 1\n";
        assert_eq!(counts(&read(&format!("{SCALATEST}{another}")).unwrap()), [7, 3, 1, 1, 2]);
    }

    #[test]
    fn what_is_cut_or_of_others_is_no_summary() {
        for text in [
            "",
            "Tests: 2 passed, 3 total\n",
            "Failed: Total 5\n",
            "Passed: Total 99999999999999999999, Failed 0, Errors 0, Passed 99999999999999999999\n",
        ] {
            assert_eq!(read(text).unwrap_err().reject(), Some(Reject::NoResult), "{text}");
        }
        assert_eq!(read(SCALATEST.trim_end()).unwrap_err().reject(), Some(Reject::Malformed));
        assert_eq!(counts(&read(&format!("{SCALATEST}[error] Total time: 6 s, comp")).unwrap()), [6, 2, 1, 1, 2]);
    }
}
