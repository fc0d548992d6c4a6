//! GNU Autotest: a row for each group of tests, and below them sentences that leave out how many were expected to fail.

use crate::ingest::test::text_report::Summary;
use crate::ingest::values::whole;

/// The groups of the test suite that runs.
#[derive(Debug, Default)]
pub(super) struct Autotest {
    groups: Option<Summary>,
}

impl Autotest {
    /// `## shop 1.0 test suite. ##`, the rows below it, and `## Test results. ##`.
    pub(super) fn line(&mut self, text: &str) -> Option<(&'static str, Summary)> {
        if let Some(heading) = text.strip_prefix("## ").and_then(|text| text.strip_suffix(". ##")) {
            if heading == "Test results" {
                return self.groups.take().map(|groups| ("Autotest", groups));
            }
            if heading.ends_with(" test suite") {
                self.groups = Some(Summary::default());
            }
            return None;
        }
        let groups = self.groups.as_mut()?;
        let (number, row) = text.trim_start().split_once(": ")?;
        whole(number)?;
        let (_, result) = row.rsplit_once("  ")?;
        let slot = match result.split(" (").next()? {
            "ok" => &mut groups.passed,
            "FAILED" | "UNEXPECTED PASS" => &mut groups.failed,
            "skipped" | "expected failure" => &mut groups.skipped,
            _ => return None,
        };
        *slot = slot.saturating_add(1);
        None
    }
}
