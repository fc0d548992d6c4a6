//! What EUnit says of tests that it cancelled: why, where that happens, and below its counts no more than that there were some.

use crate::ingest::test::text_report::Summary;

/// Set-ups and tear-downs that failed, and tests that took too long, since the last counts.
#[derive(Debug, Default)]
pub(super) struct Eunit {
    cancelled: u64,
}

impl Eunit {
    /// `*** context setup failed ***`, `cart_tests: slow_test...*timed out*`, and `One or more tests were cancelled.`
    pub(super) fn line(&mut self, text: &str) -> Option<(&'static str, Summary)> {
        let is_fixture = matches!(text.trim_start(), "*** context setup failed ***" | "*** context cleanup failed ***");
        self.cancelled += u64::from(is_fixture || text.ends_with("...*timed out*"));
        if text != "One or more tests were cancelled." {
            return None;
        }
        let errored = std::mem::take(&mut self.cancelled).max(1);
        Some(("EUnit", Summary { errored, ..Summary::default() }))
    }
}
