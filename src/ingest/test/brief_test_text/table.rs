//! The table that Julia's `Test` prints. <https://docs.julialang.org/en/v1/stdlib/Test/>
//!
//! Its columns are those that are not all empty; a number ends where the title ends, and what would be zero is left free.

use crate::ingest::test::text_report::Summary;
use crate::model::cases::Outcome;

/// A table whose head has come.
#[derive(Debug)]
pub(super) struct Table {
    /// Where the names end, in characters, as all columns are.
    bar: usize,
    /// What is counted, and where its title ends.
    columns: Vec<(Outcome, usize)>,
    /// Of the sets of tests that stand in no other; the head's first row.
    indent: Option<usize>,
}

impl Table {
    /// `Test Summary: | Pass  Fail  Error  Broken  Total  Time`.
    pub(super) fn header(text: &str) -> Option<Table> {
        let (title, titles) = text.split_once('|')?;
        if title.trim_end() != "Test Summary:" || !titles.contains(" Total") {
            return None;
        }
        let bar = title.chars().count();
        let mut columns = Vec::new();
        for (outcome, title) in [
            (Outcome::Passed, " Pass "),
            (Outcome::Failed, " Fail "),
            (Outcome::Errored, " Error "),
            (Outcome::Skipped, " Broken "),
        ] {
            let Some(at) = titles.find(title) else { continue };
            columns.push((outcome, bar + at + title.len()));
        }
        Some(Table { bar, columns, indent: None })
    }

    /// The counts of a row; of a set within another one, none. `None` if the line is no row.
    pub(super) fn row(&mut self, text: &str) -> Option<Summary> {
        let characters: Vec<char> = text.chars().collect();
        let (name, numbers) = (characters.get(..self.bar)?, characters.get(self.bar + 1..)?);
        let is_row = characters.get(self.bar) == Some(&'|') && !numbers.is_empty();
        let indent = name.iter().position(|c| *c != ' ').filter(|_| is_row)?;
        let mut summary = Summary::default();
        if *self.indent.get_or_insert(indent) < indent {
            return Some(summary);
        }
        for (outcome, end) in &self.columns {
            let number = characters.get(..*end)?.rsplit(|c| !c.is_ascii_digit()).next()?;
            if !number.is_empty() {
                *summary.slot(*outcome) = number.iter().collect::<String>().parse().ok()?;
            }
        }
        Some(summary)
    }
}
