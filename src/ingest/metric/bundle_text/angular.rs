//! `ng build`: a table of chunks, and the total of those that are loaded at first.

use super::{Bundler, Outcome, bytes};

#[derive(Default)]
pub(super) struct Angular {
    /// Bytes as they are, and as they are sent.
    initial: Option<(f64, Option<f64>)>,
    is_begun: bool,
    is_over: bool,
}

pub(super) fn begins(line: &str) -> bool {
    let heading = line.trim().to_ascii_lowercase();
    heading.starts_with("initial chunk files") && heading.contains("raw size")
}

impl Bundler for Angular {
    fn line(&mut self, line: &str) {
        if begins(line) && (self.is_over || !self.is_begun) {
            *self = Angular { is_begun: true, ..Angular::default() };
        } else if self.is_begun && self.initial.is_none() {
            let mut cells = line.split('|').map(str::trim).filter(|cell| !cell.is_empty());
            if cells.next().is_some_and(|cell| cell.eq_ignore_ascii_case("initial total")) {
                let mut sizes = cells.map(|cell| bytes(cell, 1000.0));
                self.initial = sizes.next().flatten().map(|raw| (raw, sizes.next().flatten()));
            }
        }
        self.is_over |= line.starts_with("Application bundle generation complete.") || line.starts_with("Build at: ");
    }

    fn outcome(&self) -> Option<Outcome> {
        if !self.is_begun {
            return None;
        }
        Some(match (self.is_over, self.initial) {
            (true, Some((raw, sent))) => {
                let sent = sent.map(|bytes| ("bundle.transfer", bytes));
                Outcome::Sizes([("bundle.initial", raw)].into_iter().chain(sent).collect())
            }
            (true, None) => Outcome::Nothing("the table has no total"),
            (false, _) => Outcome::Cut,
        })
    }
}
