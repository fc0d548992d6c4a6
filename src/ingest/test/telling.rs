//! The failure that a text tells line by line: a message, and below it a stack.

use super::text_report::{Names, add_line};
use super::{LONGEST_ID, stack};
use crate::ingest::text::printable;
use crate::model::cases::Outcome;

/// The failed test whose failure is told.
#[derive(Clone, Debug, Default)]
pub(super) struct Telling {
    id: String,
    /// As the rows of its stack name it, where they do.
    class: String,
    /// The line before ends as if more came.
    is_open: bool,
    /// The message came to its end.
    is_told: bool,
    /// Its file was known before.
    has_file: bool,
}

impl Telling {
    /// Of a test that failed, which is named by that.
    pub(super) fn of_failed(names: &mut Names, id: &str) -> Telling {
        names.set(id, Outcome::Failed);
        Telling::of(names, id)
    }

    /// Of a test among the names, by its id.
    pub(super) fn of(names: &Names, id: &str) -> Telling {
        let id = printable(id, LONGEST_ID);
        let case = names.get(&id);
        // Where a failure is told twice, the first one stands.
        let is_told = case.is_some_and(|case| case.message.is_some());
        Telling { has_file: case.is_some_and(|case| case.file.is_some()), id, is_told, ..Telling::default() }
    }

    /// As [`Telling::of`], of a test of that class.
    pub(super) fn of_class(names: &Names, id: &str, class: &str) -> Telling {
        Telling { class: class.to_owned(), ..Telling::of(names, id) }
    }

    /// What comes now is not the message any more.
    pub(super) fn end(&mut self) {
        self.is_told = true;
    }

    /// Whether the message is not at its end where a line ends.
    pub(super) fn is_open(&self) -> bool {
        !self.is_told && self.is_open
    }

    /// A row of its stack, of which the first that tells of a place is the test's.
    pub(super) fn row(&mut self, names: &mut Names, place: stack::Place<'_>) {
        self.end();
        if let Some(case) = names.get_mut(&self.id).filter(|case| case.line.is_none()) {
            stack::put(case, place);
        }
    }

    /// The next line of it.
    pub(super) fn line(&mut self, names: &mut Names, text: &str) {
        let text = text.trim();
        let Some(case) = names.get_mut(&self.id).filter(|_| !text.is_empty()) else { return };
        if let Some(place) = stack::javascript(text) {
            // The outermost row is the test's own.
            if !self.has_file {
                (case.file, case.line) = (None, None);
            }
            stack::put(case, place);
            self.end();
        } else if let Some(place) = stack::row(text, &self.class) {
            self.row(names, place);
        } else if text.starts_with("at ") || text == "+ expected - actual" {
            self.end();
        } else if !self.is_told {
            add_line(&mut case.message, text);
            self.is_open = text.ends_with(':');
        }
    }
}
