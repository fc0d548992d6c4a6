//! The tree of blocks and tests that some reporters print: a line each, what is in a block two columns further in.
//!
//! What a test prints stands between these lines. So the tree names tests only where every line of it is accounted for, and
//! where it has as many of each outcome as the summary counts.

use std::collections::BTreeSet;

use super::CASES_KEPT;
use super::text_report::{Names, Summary};
use crate::model::cases::Outcome;

/// Columns that each block, and the tree itself, is set in.
const STEP: usize = 2;
/// Bytes of names that are kept until the summary comes.
const NAMES_BYTES: usize = 10 * 1024 * 1024;

/// What a line may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Row<'a> {
    Test(Outcome, &'a str),
    /// A test that failed, and whose name is told elsewhere.
    Failure,
    /// The title of a block, or anything.
    Text(&'a str),
}

/// Reads the lines.
#[derive(Clone, Debug, Default)]
pub(super) struct Outline {
    /// What all names begin with.
    file: String,
    /// The blocks around the line before, with their columns.
    blocks: Vec<(usize, String)>,
    /// Titles since the last test: blocks, if a test follows.
    titles: Vec<(usize, String)>,
    /// The line before was blank, or a test in no block.
    is_apart: bool,
    tests: Vec<(String, Outcome)>,
    failures: u64,
    bytes: usize,
    /// A line came that is none of the tree's.
    is_unclear: bool,
}

impl Outline {
    /// The tree of another file begins.
    pub(super) fn begin(&mut self, file: &str) {
        self.leave();
        file.clone_into(&mut self.file);
    }

    /// A line that is not blank, without blanks around it, and the column where it begins.
    pub(super) fn line(&mut self, column: usize, row: Row<'_>) {
        let is_apart = std::mem::take(&mut self.is_apart);
        match row {
            Row::Text(title) => {
                let above = self.titles.last().or_else(|| self.blocks.iter().rfind(|(other, _)| *other < column));
                let fits = match above {
                    Some((above, _)) => above + STEP == column,
                    // Below a file's name the blocks follow each other.
                    None => column == STEP && (is_apart || !self.file.is_empty()),
                };
                if !fits {
                    return self.meet_foreign();
                }
                self.titles.push((column, title.to_owned()));
            }
            Row::Test(..) | Row::Failure => {
                if self.titles.last().is_some_and(|(title, _)| title + STEP != column) {
                    return self.meet_foreign();
                }
                if let Some((first, _)) = self.titles.first() {
                    self.blocks.retain(|(other, _)| other < first);
                    self.blocks.append(&mut self.titles);
                }
                self.blocks.retain(|(other, _)| *other < column);
                if self.blocks.last().map_or(0, |(other, _)| *other) + STEP != column {
                    return self.meet_foreign();
                }
                self.is_apart = self.blocks.is_empty();
                match row {
                    Row::Test(outcome, title) => self.add(title, outcome),
                    _ => self.failures = self.failures.saturating_add(1),
                }
            }
        }
    }

    /// A blank line.
    pub(super) fn blank(&mut self) {
        self.is_apart = true;
        if !self.titles.is_empty() {
            self.meet_foreign();
        }
    }

    /// What comes next is in no block that began before.
    pub(super) fn leave(&mut self) {
        if !self.titles.is_empty() {
            self.meet_foreign();
        }
        self.blocks.clear();
    }

    fn add(&mut self, title: &str, outcome: Outcome) {
        let blocks = self.blocks.iter().map(|(_, block)| block.as_str());
        let path = [self.file.as_str()].into_iter().filter(|file| !file.is_empty()).chain(blocks).chain([title]);
        let id = path.collect::<Vec<_>>().join("::");
        self.bytes = self.bytes.saturating_add(id.len());
        if self.tests.len() >= CASES_KEPT || self.bytes > NAMES_BYTES {
            self.is_unclear = true;
            return;
        }
        self.tests.push((id, outcome));
    }

    /// Before the first test it is somebody else's line.
    fn meet_foreign(&mut self) {
        self.titles.clear();
        if self.tests.is_empty() && self.failures == 0 {
            self.blocks.clear();
        } else {
            self.is_unclear = true;
        }
    }

    /// Goes on with the tree of the next part of the run.
    pub(super) fn append(&mut self, mut next: Outline) {
        self.tests.append(&mut next.tests);
        self.failures = self.failures.saturating_add(next.failures);
        self.is_unclear |= next.is_unclear;
    }

    /// Adds the tests to the names that were told elsewhere, if all of both together are the tests of the summary.
    pub(super) fn name(self, names: &mut Names, summary: &Summary) {
        let count = |outcome: Outcome| self.tests.iter().filter(|(_, other)| *other == outcome).count();
        let is = |counted: usize, told: u64| u64::try_from(counted) == Ok(told);
        let errored = summary.errored.saturating_sub(summary.unit_failures);
        let failed = u64::try_from(count(Outcome::Failed)).unwrap_or(u64::MAX).saturating_add(self.failures);
        if self.is_unclear
            || !is(count(Outcome::Passed), summary.passed)
            || !is(count(Outcome::Skipped), summary.skipped)
            || !is(count(Outcome::Errored), errored)
            || failed != summary.failed
        {
            return;
        }
        let all: BTreeSet<&str> =
            self.tests.iter().map(|(id, _)| id.as_str()).chain(names.cases.keys().map(String::as_str)).collect();
        let tests = [summary.passed, summary.failed, errored, summary.skipped].into_iter().fold(0, u64::saturating_add);
        if !is(all.len(), tests) {
            return;
        }
        for (id, outcome) in self.tests {
            names.set(&id, outcome);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names that a tree gives; `+` passed, `-` was skipped, `!` failed and is named elsewhere.
    fn named(text: &str) -> Vec<String> {
        let mut outline = Outline::default();
        let mut summary = Summary::default();
        let mut names = Names::default();
        outline.blank();
        for line in text.lines() {
            let content = line.trim_start();
            let row = match content.split_at_checked(2) {
                Some(("+ ", title)) => Row::Test(Outcome::Passed, title),
                Some(("- ", title)) => Row::Test(Outcome::Skipped, title),
                Some(("! ", title)) => {
                    names.set(title, Outcome::Failed);
                    Row::Failure
                }
                _ => Row::Text(content),
            };
            match row {
                Row::Test(outcome, _) => *summary.slot(outcome) += 1,
                Row::Failure => summary.failed += 1,
                Row::Text(_) => {}
            }
            if content.is_empty() { outline.blank() } else { outline.line(line.len() - content.len(), row) }
        }
        let told = names.cases.len();
        outline.name(&mut names, &summary);
        if names.cases.len() == told { Vec::new() } else { names.cases.into_keys().collect() }
    }

    #[test]
    fn tests_have_the_names_of_the_blocks_around_them() {
        let tree = "  + top\n  Cart\n    + adds\n    ! fails\n    Inner\n      Deep\n        + x\n      + y\n    - later\n\n\
                    \x20 Next\n    Inner\n      + z\n\n";
        let all =
            ["Cart::Inner::Deep::x", "Cart::Inner::y", "Cart::adds", "Cart::later", "Next::Inner::z", "fails", "top"];
        assert_eq!(named(tree), all);
        assert_eq!(named(&tree.replacen("\n\n", "\n", 1)), [""; 0], "blocks of their own stand apart");
        let before = "> mocha\n\n/app/a.js\n  1:1  error  x\n\n  {\n";
        assert_eq!(named(&format!("{before}\n  Cart\n    + adds\n")), ["Cart::adds"]);
    }

    #[test]
    fn what_a_test_prints_leaves_no_name() {
        let tree = |printed: &str| format!("\n  Cart\n    + adds\n{printed}    + deep\n    Inner\n      + x\n");
        assert_eq!(named(&tree("")).len(), 3);
        for printed in
            ["said\n", "  said\n", "    said\n", "      said\n", "\n  said\n\n", "   + odd\n", "        + far\n"]
        {
            assert_eq!(named(&tree(printed)), [""; 0], "{printed}");
        }
        assert_eq!(named(&tree("    + adds\n")), [""; 0], "two tests of one name");
        assert_eq!(named("\n  Cart\n    + adds\n    Inner\n\n"), [""; 0], "no test is in it");
    }

    #[test]
    fn the_summary_counts_the_same() {
        let mut outline = Outline::default();
        outline.begin("a.js");
        outline.line(2, Row::Test(Outcome::Passed, "adds"));
        let mut next = Outline::default();
        next.begin("b.js");
        next.line(2, Row::Test(Outcome::Failed, "adds"));
        outline.append(next);
        let names = |passed: u64, failed: u64, skipped: u64| {
            let mut names = Names::default();
            outline.clone().name(&mut names, &Summary { passed, failed, skipped, ..Summary::default() });
            names.cases.into_keys().collect::<Vec<_>>()
        };
        assert_eq!(names(1, 1, 0), ["a.js::adds", "b.js::adds"]);
        for (passed, failed, skipped) in [(2, 1, 0), (1, 0, 0), (0, 1, 1), (1, 1, 1)] {
            assert_eq!(names(passed, failed, skipped), [""; 0]);
        }
    }
}
