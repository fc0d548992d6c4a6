//! What Ginkgo prints of each of its suites. <https://onsi.github.io/ginkgo/>
//!
//! A suite is a test of `go test`'s, which says what it came to below. Where `go test` ran it that is the whole; where the
//! program `ginkgo` did, it says so at its end, and the specs are.

use super::lines::{OF_SUITES, summed_up};
use crate::error::Result;
use crate::ingest::test::text_report::Summary;
use crate::ingest::values::whole;

/// Suites of Ginkgo's.
#[derive(Debug, Default)]
pub(super) struct Ginkgo {
    /// Of the suite whose summary was the line before.
    open: Option<Summary>,
    /// Of those that `go test` does not tell of below, as far as is known.
    told: Option<Summary>,
    /// Of those that it tells of, and of packages that did not build: they count where `ginkgo` ran them.
    claimed: Summary,
    /// Of those that `ginkgo` ran.
    pub(super) ran: Option<Summary>,
}

impl Ginkgo {
    /// Takes a line, and whether it told something.
    pub(super) fn line(&mut self, text: &str) -> Result<bool> {
        if let Some(suite) = self.open.take() {
            if text.starts_with("--- ") {
                self.claimed.merge(&suite)?;
            } else {
                self.told.get_or_insert_default().merge(&suite)?;
            }
        }
        if has_ended(text) {
            let (told, claimed) = (self.told.take().unwrap_or_default(), std::mem::take(&mut self.claimed));
            let ran = self.ran.get_or_insert_default();
            ran.merge(&told)?;
            ran.merge(&claimed)?;
            return Ok(true);
        }
        if text == "Detected Programmatic Focus - setting exit status to 197"
            && let Some(ran) = &mut self.ran
        {
            // The run does not pass where some specs alone were chosen to run.
            ran.add_units(1)?;
            return Ok(true);
        }
        if text.starts_with("ok  \t") || text.starts_with("FAIL\t") {
            (self.told, self.claimed) = (None, Summary::default());
        } else if text.starts_with("Failed to compile ") && text.ends_with(':') {
            self.claimed.merge(&Summary { errored: 1, unit_failures: 1, ..Summary::default() })?;
        } else {
            self.open = summary(text);
        }
        Ok(self.open.is_some())
    }

    /// What is told of suites of which nobody says who ran them.
    pub(super) fn unclaimed(&self) -> Result<Option<Summary>> {
        let mut told = self.told.clone();
        if let Some(open) = &self.open {
            told.get_or_insert_default().merge(open)?;
        }
        Ok(told)
    }
}

/// Whether a suite begins with the line, or the program `ginkgo` says that it ran them all.
pub(in crate::ingest::test) fn is_marker(text: &str) -> bool {
    text.starts_with("Running Suite: ") || has_ended(text) || succinct(text).is_some()
}

/// `Ginkgo ran 2 suites in 829.59292ms`.
pub(in crate::ingest::test) fn has_ended(text: &str) -> bool {
    text.strip_prefix("Ginkgo ran ").and_then(|rest| rest.split_once(" suite")).is_some()
}

fn summary(text: &str) -> Option<Summary> {
    // `FAIL! - Suite Timeout Elapsed -- 1 Passed | …`.
    let behind = text.strip_prefix("FAIL! - ").and_then(|rest| rest.split_once(" -- "));
    let told = match behind {
        Some((_, counts)) => summed_up(&OF_SUITES, &format!("FAIL! -- {counts}")),
        None => summed_up(&OF_SUITES, text),
    };
    let mut told = told.map(|(_, summary)| summary).or_else(|| succinct(text)?)?;
    // What ran after the specs did.
    if text.starts_with("FAIL! ") && told.failed == 0 && told.errored == 0 {
        told.add_units(1).ok()?;
    }
    Some(told)
}

/// `[1795423819] Book Suite - 2/2 specs •• SUCCESS! 180.259µs PASS`: the summary, if the suite passed and each of its specs
/// has its mark in the line.
fn succinct(text: &str) -> Option<Option<Summary>> {
    let (seed, rest) = text.strip_prefix('[')?.split_once("] ")?;
    whole(seed)?;
    let (title, marks) = rest.split_once(" specs ")?;
    let (_, specs) = title.rsplit_once(" - ")?;
    let all = whole(specs.split_once('/')?.1)?;
    let marks = marks.split_once(" procs ").map_or(marks, |(_, marks)| marks);
    let Some((marks, _)) = marks.split_once("SUCCESS! ") else { return Some(None) };
    let count = |mark: &[char]| u64::try_from(marks.matches(mark).count()).unwrap_or(u64::MAX);
    let (passed, skipped) = (count(&['•', '+']), count(&['P', 'S']));
    let is_whole = passed.checked_add(skipped) == Some(all);
    Some(is_whole.then_some(Summary { passed, skipped, ..Summary::default() }))
}
