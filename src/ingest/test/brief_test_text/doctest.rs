//! What Python's doctest says without `-v`: nothing, or below the examples that failed, how many of each docstring did.

use crate::ingest::test::text_report::Summary;
use crate::ingest::values::whole;

/// Examples in docstrings of which one failed. With `-v`, `5 tests in 3 items.` begins a summary of all examples below them.
#[derive(Debug, Default)]
pub(super) struct Doctest {
    rows: Summary,
}

impl Doctest {
    /// `   2 of   3 in shop.total`, and `***Test Failed*** 2 failures.`
    pub(super) fn line(&mut self, text: &str) -> Option<(&'static str, Summary)> {
        if let Some((failed, passed)) = row(text) {
            self.rows.failed = self.rows.failed.saturating_add(failed);
            self.rows.passed = self.rows.passed.saturating_add(passed);
            return None;
        }
        if [" had failures:", " items.", " item."].iter().any(|end| text.ends_with(end)) {
            self.rows = Summary::default();
            return None;
        }
        let (failed, _) = text.strip_prefix("***Test Failed*** ")?.split_once(" failure")?;
        let rows = std::mem::take(&mut self.rows);
        (whole(failed)? == rows.failed).then_some(("doctest", rows))
    }
}

/// Failed and passed examples of a docstring.
fn row(text: &str) -> Option<(u64, u64)> {
    let (failed, rest) = text.strip_prefix(' ')?.trim_start().split_once(" of ")?;
    let (all, _) = rest.trim_start().split_once(" in ")?;
    let failed = whole(failed)?;
    Some((failed, whole(all)?.checked_sub(failed)?))
}
