//! What the tests of test formats share.

use crate::ingest::input::Input;
use crate::ingest::{Details, Format, Head, Parsed, Sniff, TestDetails};

/// Tests, passed, failed, errored, skipped.
pub(super) fn counts(parsed: &Parsed) -> [u64; 5] {
    let figures = &parsed.figures;
    [figures.tests, figures.passed, figures.failed, figures.errored, figures.skipped].map(Option::unwrap)
}

/// The tests behind the figures.
pub(super) fn details(parsed: &Parsed) -> TestDetails {
    match &parsed.details {
        Details::Tests(details) => details.clone(),
        _ => panic!("not a test report"),
    }
}

/// What a format makes of a text.
pub(super) fn sniffed(format: &Format, text: &str) -> Sniff {
    (format.sniff)(&Head::read(&Input::bytes("x", text.as_bytes())).unwrap())
}
