//! What pytest's progress tells where it names nothing: `..F.s    [ 47%]`. With `-qq`, as with `-q` where the project's own
//! options have one, no summary comes, and the marks are all that counts the tests. Nothing ends them: whether the session
//! came to its end has to be known from elsewhere.

use super::lines::{Counts, are_marks, percentage};

/// Outcomes as their marks tell, and how far pytest said it was.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Marks {
    counts: Counts,
    /// Some marks may be no outcome that a summary would count: attempts (`R`, and what was printed for each), subtests.
    has_others: bool,
    /// How many tests there are, as far as the percentages tell.
    at_least: u64,
    at_most: Option<u64>,
    /// All tests have run, or as many as were to.
    is_whole: bool,
}

impl Marks {
    /// Adds a line of progress that begins with its marks; any other line of progress makes them unknown.
    pub(super) fn line(&mut self, text: &str) {
        let Some((marks, percent)) = percentage(text).filter(|(marks, _)| are_marks(marks)) else {
            self.has_others = true;
            return;
        };
        self.add(marks);
        let percent = u64::from(percent);
        let (fewest, most) = self.tests();
        // pytest rounds down.
        self.at_least = self.at_least.max(fewest.saturating_mul(100) / percent.saturating_add(1) + 1);
        if let Some(limit) = most.saturating_mul(100).checked_div(percent) {
            self.at_most = Some(self.at_most.map_or(limit, |known| known.min(limit)));
        }
        self.is_whole = percent == 100;
    }

    /// Adds marks that are all of their line: the last ones of a session that is stopped.
    pub(super) fn add(&mut self, marks: &str) {
        let counts = &mut self.counts;
        for mark in marks.bytes() {
            match mark {
                b'.' | b'X' => counts.passed += 1,
                b'F' => counts.failed += 1,
                b'E' => counts.errored += 1,
                b's' | b'x' => counts.skipped += 1,
                _ => self.has_others = true,
            }
        }
    }

    /// `stopping after 2 failures` was said: no more tests run.
    pub(super) fn stop(&mut self, failures: u64) {
        self.is_whole = self.counts.failed.saturating_add(self.counts.errored) >= failures;
        // The percentages tell of all tests.
        (self.at_least, self.at_most) = (0, None);
    }

    /// Something failed that may have no mark: a subtest.
    pub(super) fn doubt(&mut self) {
        self.has_others = true;
    }

    /// Whether nothing comes any more.
    pub(super) fn are_whole(&self) -> bool {
        self.is_whole
    }

    /// What all marks together count, where all of them are there and the percentages agree.
    pub(super) fn counts(&self) -> Option<Counts> {
        let (fewest, most) = self.tests();
        let agrees = self.at_least <= most && self.at_most.is_none_or(|limit| fewest <= limit);
        (self.is_whole && !self.has_others && agrees).then_some(self.counts)
    }

    /// Between how many and how many tests have run: one that fails when it is torn down has a mark for that, too.
    fn tests(&self) -> (u64, u64) {
        let all = self.counts.total().unwrap_or(u64::MAX);
        (all.saturating_sub(self.counts.errored), all)
    }
}

/// Whether the line is the progress of the last tests.
pub(super) fn is_last(line: &str) -> bool {
    line.trim_end().strip_suffix("[100%]").is_some_and(|marks| are_marks(marks.trim_end()))
}
