//! Reporters of Jest that sum up in words of their own: jest-dot-reporter, jest-progress-bar-reporter, jest-spec-reporter. Tests
//! to do are among all, and in none of the lines below; a file that failed by itself is told above them alone.

use crate::error::Result;
use crate::ingest::test::jest_text::is_suite_failed;
use crate::ingest::test::text_report::{Summary, counted};
use crate::ingest::values::whole;
use crate::model::cases::Outcome;

/// `Ran 7 tests in 0.440 s` above `✔ 4 passing`, `✘ 1 failing` and `- 1 pending`, each where there is one.
#[derive(Debug, Default)]
pub(super) struct JestReporters {
    /// Messages of tests, and of files that failed by themselves.
    messages: u64,
    files: u64,
    run: Option<Run>,
    sum: Option<Summary>,
    is_cut: bool,
}

#[derive(Debug)]
struct Run {
    all: u64,
    messages: u64,
    told: Summary,
    is_told: bool,
}

impl JestReporters {
    /// Takes a line; `true` if it is one of the counts.
    ///
    /// # Errors
    /// A number is too large.
    pub(super) fn line(&mut self, text: &str) -> Result<bool> {
        let all = text.strip_prefix("Ran ").and_then(|rest| rest.strip_suffix(" s")?.split_once(" tests in "));
        if let Some((all, _)) = all.filter(|(_, time)| time.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'))
            && let Some(all) = whole(all)
        {
            self.close()?;
            let told = Summary { errored: self.files, unit_failures: self.files, ..Summary::default() };
            self.run = Some(Run { all, messages: self.messages, told, is_told: false });
            (self.messages, self.files) = (0, 0);
            return Ok(false);
        }
        if is_suite_failed(text) {
            self.files = self.files.saturating_add(1);
        } else if text.starts_with("  ● ") {
            self.messages = self.messages.saturating_add(1);
        } else if text.starts_with("Test Suites: ") {
            (self.messages, self.files) = (0, 0);
        }
        let Some(run) = &mut self.run else { return Ok(false) };
        if let Some((number, outcome)) = count(text) {
            Summary::add(run.told.slot(outcome), number)?;
            run.is_told = true;
            return Ok(true);
        }
        if !text.is_empty() && !text.starts_with("Obsolete snapshot(s) found") {
            self.close()?;
        }
        Ok(false)
    }

    /// Ends the run whose lines came.
    fn close(&mut self) -> Result<()> {
        let Some(mut run) = self.run.take().filter(|run| run.is_told) else { return Ok(()) };
        let told = [run.told.passed, run.told.failed, run.told.skipped];
        let left = told.into_iter().try_fold(run.all, u64::checked_sub);
        // Each test that failed has its message.
        match left.filter(|_| run.messages <= run.told.failed) {
            Some(left) => {
                Summary::add(&mut run.told.skipped, Some(left))?;
                self.sum.get_or_insert_default().merge(&run.told)?;
            }
            None => self.is_cut = true,
        }
        Ok(())
    }

    /// Whether it told anything.
    pub(super) fn is_there(&self) -> bool {
        self.sum.is_some() || self.run.as_ref().is_some_and(|run| run.is_told)
    }

    /// What it told, and whether lines are missing in it.
    ///
    /// # Errors
    /// A sum is too large.
    pub(super) fn told(mut self) -> Result<(Option<Summary>, bool)> {
        self.close()?;
        Ok((self.sum, self.is_cut))
    }
}

/// `✔ 4 passing`.
fn count(text: &str) -> Option<(Option<u64>, Outcome)> {
    let (mark, told) = text.split_once(' ')?;
    let (number, word) = counted(told)?;
    match (mark, word) {
        ("✔", "passing") => Some((number, Outcome::Passed)),
        ("✘", "failing") => Some((number, Outcome::Failed)),
        ("-", "pending") => Some((number, Outcome::Skipped)),
        _ => None,
    }
}
