//! What the tests of findings have in common.

use crate::ingest::{Details, Parsed};

/// Path, line, rule and message of the first finding.
pub(super) fn first_finding(parsed: &Parsed) -> (Option<&str>, Option<u64>, Option<&str>, &str) {
    let Details::Lint(details) = &parsed.details else { panic!("lint") };
    let first = details.findings.first().unwrap();
    (first.path.as_deref(), first.line, first.rule.as_deref(), first.message.as_str())
}
