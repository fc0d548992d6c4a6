//! How alike two sequences are: Python's `difflib.SequenceMatcher(None, a, b).ratio()`, to the last bit.
//!
//! The algorithm as Python documents it: find the longest block that both share (the earliest in `a`, then in `b`), then do
//! the same left and right of it; the ratio is twice the length of all blocks over both lengths. It is not symmetric.
//! `fixtures/difflib` holds CPython's own answers.

use std::collections::HashMap;
use std::hash::Hash;

use crate::model::units::Quantity;

/// From this length on, `autojunk` drops elements of `b` that are common.
const JUNK_FROM: usize = 200;

/// The ratio, 0–1; two empty sequences are alike. `autojunk` is Python's default: in a `b` of 200 elements or more, those
/// that make up more than 1 % of it begin no block. `None` if it takes more than `budget` comparisons.
pub fn ratio<T: Copy + Eq + Hash>(a: &[T], b: &[T], autojunk: bool, budget: u64) -> Option<f64> {
    let matched = Matcher::new(a, b, autojunk, budget).matched()?;
    let all = length(a.len() + b.len());
    Some(if all == 0.0 { 1.0 } else { 2.0 * length(matched) / all })
}

/// The same as if all elements that both have were matched, in whatever order: never less than [`ratio`] without
/// `autojunk`, and made in one pass over each.
pub fn ratio_of_bags<T: Copy + Eq + Hash>(a: &[T], b: &[T]) -> f64 {
    let mut left: HashMap<T, usize> = HashMap::new();
    b.iter().for_each(|one| *left.entry(*one).or_default() += 1);
    let mut matched = 0;
    for one in a {
        if let Some(count) = left.get_mut(one).filter(|count| **count > 0) {
            *count -= 1;
            matched += 1;
        }
    }
    let all = length(a.len() + b.len());
    if all == 0.0 { 1.0 } else { 2.0 * length(matched) / all }
}

fn length(length: usize) -> f64 {
    Quantity::from(u64::try_from(length).unwrap_or(u64::MAX)).as_f64()
}

/// A part of both sequences: from the first index up to, not including, the second.
#[derive(Clone, Copy)]
struct Part {
    a: (usize, usize),
    b: (usize, usize),
}

/// Length of the block that ends at a place of `b`, and the row that it belongs to; older rows are void.
#[derive(Clone, Copy, Default)]
struct Cell {
    row: u64,
    length: usize,
}

struct Matcher<'a, T> {
    a: &'a [T],
    b: &'a [T],
    /// Where each element stands in `b`, in order.
    places: HashMap<T, Vec<usize>>,
    /// Two rows of cells, used in turn.
    rows: [Vec<Cell>; 2],
    row: u64,
    budget: u64,
}

impl<'a, T: Copy + Eq + Hash> Matcher<'a, T> {
    fn new(a: &'a [T], b: &'a [T], autojunk: bool, budget: u64) -> Matcher<'a, T> {
        let mut places: HashMap<T, Vec<usize>> = HashMap::new();
        for (at, one) in b.iter().enumerate() {
            places.entry(*one).or_default().push(at);
        }
        if autojunk && b.len() >= JUNK_FROM {
            let most = b.len() / 100 + 1;
            places.retain(|_, at| at.len() <= most);
        }
        let row = || vec![Cell::default(); b.len()];
        Matcher { a, b, places, rows: [row(), row()], row: 0, budget }
    }

    /// Elements in all blocks.
    fn matched(&mut self) -> Option<usize> {
        let mut matched = 0;
        let mut open = vec![Part { a: (0, self.a.len()), b: (0, self.b.len()) }];
        while let Some(part) = open.pop() {
            let (a, b, size) = self.longest(part)?;
            if size == 0 {
                continue;
            }
            matched += size;
            open.push(Part { a: (part.a.0, a), b: (part.b.0, b) });
            open.push(Part { a: (a + size, part.a.1), b: (b + size, part.b.1) });
        }
        Some(matched)
    }

    /// The longest block of a part: where it begins in `a` and in `b`, and its length.
    fn longest(&mut self, part: Part) -> Option<(usize, usize, usize)> {
        let (mut best_a, mut best_b, mut size) = (part.a.0, part.b.0, 0);
        // A row that no earlier one precedes.
        self.row += 1;
        let [mut above, mut here] = std::mem::take(&mut self.rows);
        for (at_a, one) in self.a.iter().enumerate().take(part.a.1).skip(part.a.0) {
            self.row += 1;
            std::mem::swap(&mut above, &mut here);
            let places = self.places.get(one).map(Vec::as_slice).unwrap_or_default();
            let first = places.partition_point(|at| *at < part.b.0);
            for at_b in places.iter().skip(first).copied().take_while(|at| *at < part.b.1) {
                self.budget = self.budget.checked_sub(1)?;
                let before = at_b.checked_sub(1).and_then(|at| above.get(at)).filter(|cell| cell.row + 1 == self.row);
                let length = before.map_or(1, |cell| cell.length + 1);
                if let Some(cell) = here.get_mut(at_b) {
                    *cell = Cell { row: self.row, length };
                }
                if length > size {
                    (best_a, best_b, size) = (at_a + 1 - length, at_b + 1 - length, length);
                }
            }
            self.budget = self.budget.checked_sub(1)?;
        }
        self.rows = [above, here];
        // Elements that begin no block may still widen one.
        while best_a > part.a.0 && best_b > part.b.0 && self.are_equal(best_a - 1, best_b - 1) {
            (best_a, best_b, size) = (best_a - 1, best_b - 1, size + 1);
        }
        while best_a + size < part.a.1 && best_b + size < part.b.1 && self.are_equal(best_a + size, best_b + size) {
            size += 1;
        }
        Some((best_a, best_b, size))
    }

    fn are_equal(&self, at_a: usize, at_b: usize) -> bool {
        self.a.get(at_a) == self.b.get(at_b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(a: &str, b: &str) -> f64 {
        let chars = |text: &str| text.chars().collect::<Vec<char>>();
        ratio(&chars(a), &chars(b), false, u64::MAX).unwrap()
    }

    #[test]
    fn it_is_as_python_documents_it() {
        assert_eq!(of("", ""), 1.0);
        assert_eq!(of("a", ""), 0.0);
        assert_eq!(of("tide", "diet"), 0.25);
        assert_eq!(of("diet", "tide"), 0.5);
        assert_eq!(of("abcd", "bcde"), 0.75);
        assert_eq!(of("äöü", "äxü"), 4.0 / 6.0, "code points, not bytes");
    }

    #[test]
    fn over_the_budget_there_is_no_answer() {
        let a = [0u8; 100];
        assert_eq!(ratio(&a, &a, false, 1_000), None);
        assert_eq!(ratio(&a, &a, false, 100_000), Some(1.0));
    }

    #[test]
    fn bags_are_an_upper_bound_in_one_pass() {
        assert_eq!(ratio_of_bags(b"tide", b"diet"), 1.0);
        assert_eq!(ratio_of_bags(b"aab", b"abb"), 4.0 / 6.0);
        assert_eq!(ratio_of_bags::<u8>(&[], &[]), 1.0);
    }
}
