//! shunit2 names each test, tells below it which assertions failed, and sums up how many tests ran, but of what failed and
//! was skipped only how many assertions.

use std::collections::BTreeSet;

use super::super::CASES_KEPT;
use crate::ingest::test::text_report::Summary;
use crate::ingest::values::whole;

/// What shunit2 told of the run that goes on.
#[derive(Debug, Default)]
pub(super) struct Shunit2 {
    /// The test that runs, and those that failed.
    test: String,
    failed: BTreeSet<String>,
    /// What all tests need failed, so that none ran.
    is_fatal: bool,
    ran: Option<u64>,
}

impl Shunit2 {
    /// `testAdds`, `ASSERT:expected:<1> but was:<2>`, `shunit2:ERROR testAdds() returned non-zero return code.`,
    /// `Ran 3 tests.` and `FAILED (failures=3,skipped=1)`.
    pub(super) fn line(&mut self, text: &str) -> Option<(&'static str, Summary)> {
        let text = text.trim();
        if let Some(ran) = text.strip_prefix("Ran ") {
            self.ran = ran.strip_suffix(" tests.").or_else(|| ran.strip_suffix(" test.")).and_then(whole);
        } else if text.starts_with("test") && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            text.clone_into(&mut self.test);
        } else if text.starts_with("shunit2:FATAL ") {
            self.is_fatal = true;
        } else if (text.starts_with("ASSERT:") || text.starts_with("shunit2:ERROR ")) && !self.test.is_empty() {
            if self.failed.len() < CASES_KEPT {
                self.failed.insert(self.test.clone());
            }
        } else if let Some(has_failed) = ended(text) {
            let Shunit2 { failed, is_fatal, ran, .. } = std::mem::take(self);
            let failed = u64::try_from(failed.len()).ok()?;
            let passed = ran?.checked_sub(failed)?;
            let unit_failures = u64::from(is_fatal);
            // A failure whose assertion is not there is of no test that is known.
            let is_told = has_failed == (failed > 0 || is_fatal);
            let summary = Summary { passed, failed, errored: unit_failures, unit_failures, ..Summary::default() };
            return is_told.then_some(("shunit2", summary));
        } else if !text.is_empty() {
            self.ran = None;
        }
        None
    }
}

/// Whether something failed, of the last line.
fn ended(text: &str) -> Option<bool> {
    if let Some(counts) = text.strip_prefix("FAILED (failures=").and_then(|rest| rest.strip_suffix(')')) {
        return whole(counts.split(',').next().unwrap_or(counts)).map(|_| true);
    }
    let skipped = text.strip_prefix("OK (skipped=").and_then(|rest| rest.strip_suffix(')'));
    (text == "OK" || skipped.and_then(whole).is_some()).then_some(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Option<(u64, u64)> {
        let mut shunit2 = Shunit2::default();
        let told: Vec<_> = text.lines().filter_map(|line| shunit2.line(line)).collect();
        told.last().map(|(_, summary)| (summary.passed, summary.failed))
    }

    #[test]
    fn tests_fail_once_however_many_of_their_assertions_do() {
        let run = "testAdds\ntestFails\nASSERT:expected:<1> but was:<2>\nASSERT:\n\
                   shunit2:ERROR testFails() returned non-zero return code.\ntestSkips\n\nRan 3 tests.\n\n";
        assert_eq!(told(&format!("{run}FAILED (failures=3,skipped=1)\n")), Some((2, 1)));
        assert_eq!(told("testAdds\n\nRan 1 test.\n\nOK (skipped=2)\n"), Some((1, 0)));
        let returned =
            "testAdds\ntestFails\nshunit2:ERROR testFails() returned non-zero return code.\n\nRan 2 tests.\n\n";
        assert_eq!(told(&format!("{returned}FAILED (failures=1)\n")), Some((1, 1)), "no assertion of it failed");
        let mut fatal = Shunit2::default();
        let lines = "shunit2:FATAL oneTimeSetUp() returned non-zero return code.\nASSERT:unknown failure\n\nRan 0 tests.\n\n\
                     FAILED (failures=1)\n";
        assert_eq!(lines.lines().find_map(|line| fatal.line(line)).map(|(_, summary)| summary.errored), Some(1));
        assert_eq!(told("testAdds\n\nRan 1 test.\n\nOK\n"), Some((1, 0)));
    }

    #[test]
    fn what_is_not_told_is_not_made_up() {
        assert_eq!(told("Ran 3 tests.\n\nFAILED (failures=1)\n"), None, "no assertion of a test");
        assert_eq!(told("Ran 3 tests in 0.001s\n\nOK\n"), None, "unittest's");
        assert_eq!(told("Ran 3 tests.\n\nDone\nOK\n"), None);
    }
}
