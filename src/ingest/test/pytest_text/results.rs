//! The block that pytest-sugar and pytest-pretty print where pytest has its summary line:
//!
//! ```text
//! Results (0.34s):
//!        2 passed
//!        1 failed
//!          - tests/a.py:12 test_total
//! ```
//!
//! Nothing ends it. What pytest collected does not let a block that was cut pass for whole.

use super::lines::{Counts, number, ruled};

/// How pytest-sugar begins a session.
pub(super) fn is_header(line: &str) -> bool {
    line.starts_with("Test session starts (platform: ")
}

/// How the block begins.
pub(super) fn begins(line: &str) -> bool {
    line.starts_with("Results (") && line.ends_with("s):")
}

/// What is known of the block, and of how many outcomes it has to tell.
#[derive(Debug, Default)]
pub(super) struct Results {
    /// Of the block that is being read, or was read last.
    counts: Option<Counts>,
    is_open: bool,
    /// The block stands below pytest-pretty's table of failures, which is no test's output.
    is_below_table: bool,
    was_table: bool,
    /// What pytest collected was cut away with the header of the session: `pytest | tail`.
    pub(super) is_tail: bool,
    /// Tests that were collected, those that were left out not among them.
    collected: Option<u64>,
    /// Modules that failed to load, without which nothing ran.
    stopped_by: Option<u64>,
}

impl Results {
    /// The next line. `true` if it is of the block.
    pub(super) fn line(&mut self, text: &str) -> bool {
        if self.is_open {
            self.is_open = self.counts.as_mut().is_some_and(|counts| is_of_block(counts, text));
            if self.is_open {
                return true;
            }
        }
        let was_table = std::mem::replace(&mut self.was_table, text.starts_with('└'));
        if begins(text) {
            (self.counts, self.is_open, self.is_below_table) = (Some(Counts::default()), true, was_table);
            return true;
        }
        if let Some(collected) = collected(text) {
            self.collected = Some(collected);
        } else if let Some(rest) = ruled(text, '!').and_then(|title| title.strip_prefix("Interrupted: ")) {
            self.stopped_by = rest.contains(" during collection").then(|| number(rest)).flatten();
        }
        false
    }

    /// Whether the block tells all, and the line, which comes next, is none of it.
    pub(super) fn end_above(&self, text: &str, torn_down: u64) -> bool {
        let is_of_it = self.is_open && self.counts.is_some_and(|mut counts| is_of_block(&mut counts, text));
        !is_of_it && self.counts(torn_down).is_some()
    }

    /// Whether the block stands below a table of failures.
    pub(super) fn are_below_table(&self) -> bool {
        self.is_below_table
    }

    /// The block was some test's output.
    pub(super) fn forget(&mut self) {
        (self.counts, self.is_open) = (None, false);
    }

    /// Whether the block began.
    pub(super) fn are_there(&self) -> bool {
        self.counts.is_some()
    }

    /// The counts, if all of them are there. Each test that was torn down badly has two outcomes.
    pub(super) fn counts(&self, torn_down: u64) -> Option<Counts> {
        // With `-q`, nothing says how many were collected.
        let collected = self.collected.or((self.is_tail || self.is_below_table).then_some(1));
        let all = self.stopped_by.or_else(|| collected?.checked_add(torn_down))?;
        self.counts.filter(|counts| !counts.overflow && counts.total().is_some_and(|total| total >= all))
    }
}

/// Whether a line below the heading is of the block; the number in it is added.
fn is_of_block(counts: &mut Counts, line: &str) -> bool {
    let text = line.trim_start();
    text.starts_with("- ") || counts.add(text)
}

/// `collected 5 items / 2 deselected / 3 selected`, `2 workers [5 items]`.
fn collected(text: &str) -> Option<u64> {
    if let Some((workers, items)) = text.split_once(" [").filter(|(workers, _)| workers.ends_with([' ', 's', 'r'])) {
        number(workers)?;
        return number(items.strip_suffix(" items]").or_else(|| items.strip_suffix(" item]"))?);
    }
    let rest = text.strip_prefix("collecting ... ").unwrap_or(text).strip_prefix("collected ")?;
    let mut parts = rest.split(" / ");
    let items = number(parts.next().filter(|part| part.contains(" item"))?)?;
    parts.try_fold(items, |items, part| {
        let count = number(part)?;
        match part.split(' ').nth(1)? {
            "deselected" => items.checked_sub(count),
            "error" | "errors" | "skipped" => items.checked_add(count),
            _ => Some(items),
        }
    })
}
