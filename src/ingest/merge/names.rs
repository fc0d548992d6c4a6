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

/// Pairs of ids that are compared by their words.
const PAIRS_COMPARED: usize = 1_000_000;

/// Whether both name the same tests, with the same outcomes, in words that the other puts together in another way:
/// `/app/a.test.js::Cart::adds` of Jest's JSON is `Cart adds` in its JUnit file, and `a.test.js::Cart > adds` in Vitest's.
pub(super) fn are_worded_alike(a: &TestCases, b: &TestCases) -> bool {
    a.cases.len() == b.cases.len() && !a.cases.is_empty() && (ends_all(a, b) || ends_all(b, a))
}

/// Whether each id of `whole` ends in the words of a name in `named`, one to one.
fn ends_all(named: &TestCases, whole: &TestCases) -> bool {
    let mut by_last: HashMap<&str, Vec<(Vec<&str>, Outcome)>> = HashMap::new();
    for (id, case) in &whole.cases {
        let words = words(id);
        by_last.entry(words.last().copied().unwrap_or_default()).or_default().push((words, case.outcome));
    }
    let mut names: Vec<(Vec<&str>, Outcome)> = Vec::with_capacity(named.cases.len());
    for (id, case) in &named.cases {
        names.push((words(id.rsplit_once("::").map_or(id, |(_, name)| name)), case.outcome));
    }
    // The longest first: a short one fits at the end of many.
    names.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    let mut compared = 0;
    names.into_iter().all(|(name, outcome)| {
        let Some(alike) = by_last.get_mut(name.last().copied().unwrap_or_default()) else { return false };
        compared += alike.len();
        let at = alike.iter().position(|(words, other)| *other == outcome && words.ends_with(&name));
        compared <= PAIRS_COMPARED && at.map(|at| alike.swap_remove(at)).is_some()
    })
}

fn words(id: &str) -> Vec<&str> {
    id.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_put_together_in_another_way_name_the_same_tests() {
        let cases = |ids: &[(&str, Outcome)]| {
            let mut cases = TestCases::default();
            for (id, outcome) in ids {
                cases.add((*id).to_owned(), crate::model::cases::TestCase::new(*outcome));
            }
            cases
        };
        use Outcome::{Failed, Passed};
        let json = cases(&[
            ("/app/a.test.js::Cart::adds", Passed),
            ("/app/a.test.js::Cart::Inner::adds", Failed),
            ("/app/b.test.js::Cart::Inner::adds", Passed),
            ("/app/a.test.js::Cart::top", Passed),
            ("/app/a.test.js::top", Passed),
        ]);
        let jest = cases(&[
            ("Cart adds::Cart adds", Passed),
            ("x::Cart Inner adds", Failed),
            ("y::Cart Inner adds", Passed),
            ("z::Cart top", Passed),
            ("a::top", Passed),
        ]);
        let vitest = cases(&[
            ("a.test.js::Cart > adds", Passed),
            ("a.test.js::Cart > Inner > adds", Failed),
            ("b.test.js::Cart > Inner > adds", Passed),
            ("a.test.js::Cart > top", Passed),
            ("a.test.js::top", Passed),
        ]);
        for junit in [&jest, &vitest] {
            assert!(are_worded_alike(&json, junit) && are_worded_alike(junit, &json));
        }
        let mut other = vitest.clone();
        other.cases.values_mut().for_each(|case| case.outcome = Passed);
        assert!(!are_worded_alike(&json, &other), "another outcome");
        other = vitest.clone();
        other.cases.remove("a.test.js::top");
        assert!(!are_worded_alike(&json, &other), "another number");
        other.add("a.test.js::bottom".to_owned(), crate::model::cases::TestCase::new(Passed));
        assert!(!are_worded_alike(&json, &other), "another name");
        assert!(!are_worded_alike(&TestCases::default(), &TestCases::default()));
    }

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
