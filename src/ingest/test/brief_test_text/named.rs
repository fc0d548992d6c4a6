//! Runners whose summary is known by what they print above it.

use crate::ingest::test::text_report::{Summary, counted};
use crate::ingest::values::whole;

/// The table of Newman, Postman's runner, in boxes or in ASCII. It counts skipped assertions among those executed, and a
/// request without an answer, or a script that failed, apart from them.
#[derive(Clone, Debug, Default)]
pub(super) struct Newman {
    skipped: u64,
    /// Executed and failed.
    assertions: Option<(u64, u64)>,
    errored: u64,
}

impl Newman {
    /// Takes a line; what was told if the table ends with it.
    pub(super) fn line(&mut self, text: &str) -> Option<(&'static str, Summary)> {
        if text == "newman" {
            *self = Newman::default();
        } else if text.trim_start().starts_with("-  [skipped] ") {
            self.skipped = self.skipped.saturating_add(1);
        }
        let row = text.strip_prefix(['│', '|'])?.trim_end_matches(['│', '|', ' ']);
        let mut cells = row.split(['│', '|']).map(str::trim);
        let name = cells.next()?;
        if name.starts_with("total run duration: ") {
            let Newman { skipped, assertions, errored } = std::mem::take(self);
            let (executed, failed) = assertions?;
            let passed = executed.checked_sub(failed)?.checked_sub(skipped)?;
            let summary = Summary { passed, failed, skipped, errored, unit_failures: errored, ..Summary::default() };
            return Some(("Newman", summary));
        }
        let (executed, failed) = (whole(cells.next()?)?, whole(cells.next()?)?);
        match name {
            "assertions" => self.assertions = Some((executed, failed)),
            "requests" | "test-scripts" | "prerequest-scripts" => self.errored = self.errored.checked_add(failed)?,
            _ => {}
        }
        None
    }
}

/// What TestCafe's reporters spec, list and minimal say below the names of the browsers: `2/6 failed (15m 25s)`, `4 passed (2s)`,
/// and below that `2 skipped`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum TestCafe {
    #[default]
    Off,
    Running,
    Done,
}

impl TestCafe {
    /// Takes a line; what it told.
    pub(super) fn line(&mut self, text: &str) -> Option<(&'static str, Summary)> {
        let text = text.trim_start();
        if text == "Running tests in:" {
            *self = TestCafe::Running;
            return None;
        }
        let summary = match self {
            TestCafe::Off => return None,
            TestCafe::Running => footer(text)?,
            TestCafe::Done => {
                let skipped = counted(text).filter(|(_, word)| *word == "skipped")?.0?;
                Summary { skipped, ..Summary::default() }
            }
        };
        *self = if matches!(self, TestCafe::Running) { TestCafe::Done } else { TestCafe::Off };
        Some(("TestCafe", summary))
    }
}

fn footer(text: &str) -> Option<Summary> {
    // The reporter minimal tells no time.
    let (told, time) = text.split_once(" (").unwrap_or((text, "s)"));
    let (numbers, word) = told.split_once(' ').filter(|_| time.ends_with("s)"))?;
    match (word, numbers.split_once('/')) {
        ("passed", None) => Some(Summary { passed: whole(numbers)?, ..Summary::default() }),
        ("failed", Some((failed, all))) => {
            let failed = whole(failed)?;
            Some(Summary { passed: whole(all)?.checked_sub(failed)?, failed, ..Summary::default() })
        }
        _ => None,
    }
}
