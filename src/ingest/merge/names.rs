//! Test ids of different formats made comparable: `tests/test_a.py::test_x` of pytest's console is `tests.test_a` and
//! `test_x` of its JUnit file; `it::roundtrip` of cargo is `kvlog::it::roundtrip` of nextest.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::model::cases::{Outcome, TestCases};

/// Stands before each part of an id.
const BEFORE: char = '\u{1f}';

/// The parts of an id, from the outermost: path, module, class, name with its parameters; each after [`BEFORE`].
/// Parameters (`[a/b::c]`) stay whole.
pub(super) fn parts(id: &str) -> String {
    let (head, parameters) = match id.find('[').map(|at| id.split_at(at)) {
        Some((head, parameters)) if !head.is_empty() => (head, parameters),
        _ => (id, ""),
    };
    let head = head.replace(".py::", "::");
    let head = head.strip_suffix(".py").unwrap_or(&head);
    let mut joined = String::with_capacity(id.len() + 8);
    for part in head.split(['/', '\\', '.', ':', '$', '#']).map(str::trim).filter(|part| !part.is_empty()) {
        joined.push(BEFORE);
        joined.push_str(part);
    }
    if joined.is_empty() {
        joined.push(BEFORE);
    }
    joined + parameters
}

/// The single parts, from the innermost.
pub(super) fn from_the_end(parts: &str) -> impl Iterator<Item = &str> {
    parts.rsplit(BEFORE).filter(|part| !part.is_empty())
}

/// The ids of several reports.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// Parts → the report that named it first.
    exact: HashMap<String, usize>,
    /// Innermost part → the parts that end in it.
    by_name: HashMap<String, Vec<String>>,
}

impl Index {
    /// Adds a report's ids; `by` is what [`Index::find`] answers for them.
    pub(super) fn add(&mut self, cases: &TestCases, by: usize) {
        for id in cases.cases.keys() {
            let parts = parts(id);
            let name = from_the_end(&parts).next().unwrap_or_default().to_owned();
            if let std::collections::hash_map::Entry::Vacant(slot) = self.exact.entry(parts.clone()) {
                slot.insert(by);
                self.by_name.entry(name).or_default().push(parts);
            }
        }
    }

    /// Whether no id is in it.
    pub(super) fn is_empty(&self) -> bool {
        self.exact.is_empty()
    }

    /// Who named the id, or one that says the same with more or fewer outer parts.
    pub(super) fn find(&self, id: &str) -> Option<usize> {
        if let Some(by) = self.exact.get(id) {
            return Some(*by);
        }
        let same_name = self.by_name.get(from_the_end(id).next()?)?;
        let other = same_name.iter().find(|other| is_end(other, id) || is_end(id, other))?;
        self.exact.get(other).copied()
    }
}

/// Whether `longer` ends in `shorter`, which says more than a bare name. A bare name is the end of what has but a file
/// or crate before it.
fn is_end(longer: &str, shorter: &str) -> bool {
    let number = |parts: &str| parts.matches(BEFORE).count();
    longer.ends_with(shorter) && (number(shorter) >= 2 || number(longer) == 2)
}

/// What of a report's ids is told by others.
#[derive(Debug, Default)]
pub(super) struct Overlap {
    /// Ids that others name too.
    pub told: u64,
    /// Those that name them.
    pub told_by: BTreeSet<usize>,
    /// The other ids, by outcome.
    pub new: BTreeMap<Outcome, u64>,
}

impl Overlap {
    /// Looks each id up.
    pub(super) fn of(cases: &TestCases, indexes: &[&Index]) -> Overlap {
        let mut overlap = Overlap::default();
        for (id, case) in &cases.cases {
            let parts = parts(id);
            match indexes.iter().find_map(|index| index.find(&parts)) {
                Some(by) => {
                    overlap.told += 1;
                    overlap.told_by.insert(by);
                }
                None => *overlap.new.entry(case.outcome).or_default() += 1,
            }
        }
        overlap
    }

    /// How many ids are new.
    pub(super) fn new_ids(&self) -> u64 {
        self.new.values().fold(0, |sum, number| sum.saturating_add(*number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_one_test_have_the_same_parts_in_all_formats() {
        for (a, b) in [
            ("tests/test_a.py::test_x", "tests.test_a::test_x"),
            ("tests/test_a.py::TestB::test_x[a/b::c]", "tests.test_a.TestB::test_x[a/b::c]"),
            ("kvlog::tests::deep", "kvlog::tests::deep"),
            ("github.com/a/b::TestX/sub", "github.com/a/b::TestX/sub"),
        ] {
            assert_eq!(parts(a), parts(b), "{a} {b}");
        }
        assert_ne!(parts("tests/test_a.py::test_x[1]"), parts("tests/test_a.py::test_x[2]"));
        assert_eq!(parts("[odd]"), "\u{1f}[odd]");
        assert_eq!(parts(""), "\u{1f}");
        assert_eq!(from_the_end(&parts("a/b.py::c[d/e]")).collect::<Vec<_>>(), ["c[d/e]", "b", "a"]);
    }

    #[test]
    fn outer_parts_may_be_missing_but_a_bare_name_says_too_little() {
        let mut index = Index::default();
        let mut cases = TestCases::default();
        for id in ["kvlog::it::roundtrip", "a::b::c::deep", "test_a::test_x"] {
            cases.add(id.into(), crate::model::cases::TestCase::new(Outcome::Passed));
        }
        index.add(&cases, 7);
        for (id, told) in [
            ("it::roundtrip", true),
            ("x::roundtrip", false),
            ("roundtrip", false),
            ("test_x", true),
            ("deep", false),
            ("p/kvlog::it::roundtrip", true),
        ] {
            assert_eq!(index.find(&parts(id)) == Some(7), told, "{id}");
        }
    }
}
