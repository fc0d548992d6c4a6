//! Test ids of different formats made comparable: `tests/test_a.py::test_x` of pytest's console is `tests.test_a` and
//! `test_x` of its JUnit file; `it::roundtrip` of cargo is `kvlog::it::roundtrip` of nextest.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::model::cases::{Outcome, TestCases};

/// The parts of an id, from the outermost: path, module, class, name with its parameters.
pub(super) type Parts = Vec<String>;

/// The parts of an id. Parameters (`[a/b::c]`) stay whole.
pub(super) fn parts(id: &str) -> Parts {
    let (head, parameters) = match id.find('[').map(|at| id.split_at(at)) {
        Some((head, parameters)) if !head.is_empty() => (head, parameters),
        _ => (id, ""),
    };
    let head = head.replace(".py::", "::");
    let head = head.strip_suffix(".py").unwrap_or(&head);
    let mut parts: Parts = head
        .split(['/', '\\', '.', ':', '$', '#'])
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .map(str::to_owned)
        .collect();
    match parts.last_mut() {
        Some(last) => last.push_str(parameters),
        None => parts.push(id.to_owned()),
    }
    parts
}

/// The ids of several reports, by their last part.
#[derive(Debug, Default)]
pub(super) struct Index {
    exact: HashSet<Parts>,
    by_name: HashMap<String, Vec<Parts>>,
}

impl Index {
    /// Adds a report's ids.
    pub(super) fn add(&mut self, cases: &TestCases) {
        for id in cases.cases.keys() {
            let parts = parts(id);
            if let Some(name) = parts.last().filter(|_| !self.exact.contains(&parts)) {
                self.by_name.entry(name.clone()).or_default().push(parts.clone());
                self.exact.insert(parts);
            }
        }
    }

    /// Whether no id is in it.
    pub(super) fn is_empty(&self) -> bool {
        self.exact.is_empty()
    }

    /// Whether the id, or one that says the same with more or fewer outer parts, is in it.
    pub(super) fn has(&self, id: &Parts) -> bool {
        self.exact.contains(id)
            || id
                .last()
                .and_then(|name| self.by_name.get(name))
                .is_some_and(|same_name| same_name.iter().any(|other| is_end(other, id) || is_end(id, other)))
    }
}

/// Whether `longer` ends in `shorter`, which says more than a bare name. A bare name is the end of what has but a file
/// or crate before it.
fn is_end(longer: &Parts, shorter: &Parts) -> bool {
    longer.ends_with(shorter) && (shorter.len() >= 2 || longer.len() == 2)
}

/// What of a report's ids is told by others.
#[derive(Debug, Default)]
pub(super) struct Overlap {
    /// Ids that others name too.
    pub told: u64,
    /// The others, by outcome.
    pub new: BTreeMap<Outcome, u64>,
}

impl Overlap {
    /// Looks each id up.
    pub(super) fn of(cases: &TestCases, index: &Index) -> Overlap {
        let mut overlap = Overlap::default();
        for (id, case) in &cases.cases {
            if index.has(&parts(id)) {
                overlap.told += 1;
            } else {
                *overlap.new.entry(case.outcome).or_default() += 1;
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
        assert_eq!(parts("[odd]"), ["[odd]"]);
        assert_eq!(parts(""), [""]);
    }

    #[test]
    fn outer_parts_may_be_missing_but_a_bare_name_says_too_little() {
        let mut index = Index::default();
        let mut cases = TestCases::default();
        for id in ["kvlog::it::roundtrip", "a::b::c::deep", "test_a::test_x"] {
            cases.add(id.into(), crate::model::cases::TestCase::new(Outcome::Passed));
        }
        index.add(&cases);
        for (id, told) in [
            ("it::roundtrip", true),
            ("x::roundtrip", false),
            ("roundtrip", false),
            ("test_x", true),
            ("deep", false),
            ("p/kvlog::it::roundtrip", true),
        ] {
            assert_eq!(index.has(&parts(id)), told, "{id}");
        }
    }
}
