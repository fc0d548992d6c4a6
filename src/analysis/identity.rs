//! Two runs compared test by test (ANALYSIS §12.1): which tests broke, which are gone, which only changed their name.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::cases::{Outcome, TestCases};
use crate::model::verdict::NamedTests;

/// How many names a finding lists.
pub const NAMES_SHOWN: usize = 20;

/// Names that share this part of their words (Jaccard) within one file are one renamed test.
const SAME_NAME_SHARE: f64 = 0.80;

/// Pairs of names compared within one file; beyond it the file was rewritten, and likeness says nothing.
const PAIRS_COMPARED: usize = 250_000;

/// What became of the tests, by id. Renamed tests count as the same test.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TestChanges {
    /// Passed before, fail or error now.
    pub newly_failing: Vec<String>,
    /// Passed before, gone now.
    pub removed_passing: Vec<String>,
    /// Failed or errored before, gone now.
    pub removed_failing: Vec<String>,
    /// Gone now, whatever they were: the two above, and the skipped.
    pub removed: Vec<String>,
    /// New and passing.
    pub added_passing: Vec<String>,
    /// New and failing or in error.
    pub added_failing: Vec<String>,
    /// Tests on both sides, and what they were before.
    pub before: Tally,
    /// The same tests now, and the added ones that pass.
    pub now: Tally,
}

/// Counts of tests by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Passed.
    pub passed: u64,
    /// Failed or errored.
    pub failed: u64,
    /// Skipped.
    pub skipped: u64,
}

impl Tally {
    /// All of them.
    pub fn count(self) -> u64 {
        self.passed + self.failed + self.skipped
    }

    fn add(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Passed => self.passed += 1,
            Outcome::Skipped => self.skipped += 1,
            Outcome::Failed | Outcome::Errored => self.failed += 1,
        }
    }
}

/// Compares two runs. Tests of `failed_units`, modules that did not load now, are left out: they are neither gone nor
/// broken, only unknown.
pub fn compare(before: &TestCases, now: &TestCases, failed_units: &[String]) -> TestChanges {
    let units: Vec<String> = failed_units.iter().map(|unit| normalised(unit)).collect();
    let is_unknown = |id: &str| units.iter().any(|unit| lies_in(id, unit));
    let gone: Vec<&str> =
        before.cases.keys().map(String::as_str).filter(|id| !now.cases.contains_key(*id) && !is_unknown(id)).collect();
    let new: Vec<&str> = now.cases.keys().map(String::as_str).filter(|id| !before.cases.contains_key(*id)).collect();
    let renamed = renames(&gone, &new);

    let mut changes = TestChanges::default();
    for (id, case) in &before.cases {
        let id_now = renamed.get(id.as_str()).copied().unwrap_or(id);
        match now.outcome(id_now) {
            Some(outcome) => changes.keep(id_now, case.outcome, outcome),
            None if is_unknown(id) => {}
            None => changes.lose(id, case.outcome),
        }
    }
    let taken: BTreeSet<&str> = renamed.values().copied().collect();
    for id in new.into_iter().filter(|id| !taken.contains(id)) {
        if let Some(outcome) = now.outcome(id) {
            changes.gain(id, outcome);
        }
    }
    changes
}

impl TestChanges {
    fn keep(&mut self, id: &str, before: Outcome, now: Outcome) {
        self.before.add(before);
        self.now.add(now);
        if before == Outcome::Passed && matches!(now, Outcome::Failed | Outcome::Errored) {
            self.newly_failing.push(id.to_owned());
        }
    }

    fn lose(&mut self, id: &str, before: Outcome) {
        self.removed.push(id.to_owned());
        match before {
            Outcome::Passed => self.removed_passing.push(id.to_owned()),
            Outcome::Failed | Outcome::Errored => self.removed_failing.push(id.to_owned()),
            Outcome::Skipped => {}
        }
    }

    fn gain(&mut self, id: &str, now: Outcome) {
        match now {
            Outcome::Passed => {
                self.now.add(now);
                self.added_passing.push(id.to_owned());
            }
            Outcome::Failed | Outcome::Errored => self.added_failing.push(id.to_owned()),
            Outcome::Skipped => {}
        }
    }

    /// Whether as many tests came to the place of `id` as left it: then it may have been rewritten under another name.
    pub fn may_be_rewritten(&self, id: &str) -> bool {
        let place = split(id).0;
        let here = |ids: &[String]| ids.iter().filter(|other| split(other).0 == place).count();
        here(&self.added_passing) + here(&self.added_failing) >= here(&self.removed)
    }

    /// The tests that are gone.
    pub fn lost(&self) -> NamedTests {
        named(&self.removed)
    }

    /// The tests that broke.
    pub fn broken(&self) -> NamedTests {
        named(&self.newly_failing)
    }
}

fn named(ids: &[String]) -> NamedTests {
    NamedTests {
        count: u64::try_from(ids.len()).unwrap_or(u64::MAX),
        names: ids.iter().take(NAMES_SHOWN).cloned().collect(),
    }
}

/// Old id → new id, one to one: the surest matches first.
fn renames<'a>(gone: &[&'a str], new: &[&'a str]) -> BTreeMap<&'a str, &'a str> {
    let mut left = Unmatched { gone: gone.to_vec(), new: new.to_vec(), pairs: BTreeMap::new() };
    left.pair_by(|id| split(id).1);
    left.pair_by(|id| (split(id).0, base_name(split(id).1)));
    left.pair_by_likeness();
    left.pairs
}

struct Unmatched<'a> {
    gone: Vec<&'a str>,
    new: Vec<&'a str>,
    pairs: BTreeMap<&'a str, &'a str>,
}

impl<'a> Unmatched<'a> {
    /// Pairs ids that share `key`, in order.
    fn pair_by<K: Ord>(&mut self, key: impl Fn(&'a str) -> K) {
        let mut by_key: BTreeMap<K, Vec<&'a str>> = BTreeMap::new();
        for id in self.new.iter().rev() {
            by_key.entry(key(id)).or_default().push(id);
        }
        for id in &self.gone {
            if let Some(partner) = by_key.get_mut(&key(id)).and_then(Vec::pop) {
                self.pairs.insert(id, partner);
            }
        }
        self.drop_paired();
    }

    /// Pairs ids of one file whose names share most of their words, the most alike first.
    fn pair_by_likeness(&mut self) {
        let mut places: BTreeMap<&str, (Vec<&'a str>, Vec<&'a str>)> = BTreeMap::new();
        self.gone.iter().for_each(|id| places.entry(split(id).0).or_default().0.push(id));
        self.new.iter().for_each(|id| places.entry(split(id).0).or_default().1.push(id));
        for (gone, new) in places.into_values() {
            if gone.len().saturating_mul(new.len()) > PAIRS_COMPARED {
                continue;
            }
            let mut alike: Vec<(f64, &str, &str)> = Vec::new();
            for old in &gone {
                let words = words(split(old).1);
                alike.extend(new.iter().map(|id| (likeness(&words, split(id).1), *old, *id)));
            }
            alike.retain(|(share, ..)| *share >= SAME_NAME_SHARE);
            alike.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)).then(a.2.cmp(b.2)));
            let mut taken = BTreeSet::new();
            for (_, old, id) in alike {
                if !self.pairs.contains_key(old) && taken.insert(id) {
                    self.pairs.insert(old, id);
                }
            }
        }
        self.drop_paired();
    }

    fn drop_paired(&mut self) {
        let taken: BTreeSet<&str> = self.pairs.values().copied().collect();
        self.gone.retain(|id| !self.pairs.contains_key(id));
        self.new.retain(|id| !taken.contains(id));
    }
}

/// Place (file, module, class) and name of an id.
fn split(id: &str) -> (&str, &str) {
    match id.rsplit_once("::") {
        Some((place, name)) => (place.trim(), name.trim()),
        None => ("", id),
    }
}

/// The name without its parameters.
fn base_name(name: &str) -> &str {
    name.split(['[', '(']).next().unwrap_or(name).trim_end()
}

fn words(name: &str) -> BTreeSet<String> {
    name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

fn likeness(words_before: &BTreeSet<String>, name: &str) -> f64 {
    let words_now = words(name);
    let shared = words_before.intersection(&words_now).count();
    let all = words_before.union(&words_now).count();
    let share = |count: usize| u32::try_from(count).map_or(f64::from(u32::MAX), f64::from);
    if all == 0 { 0.0 } else { share(shared) / share(all) }
}

/// One spelling for `tests/test_a.py` and `tests.test_a`.
fn normalised(unit: &str) -> String {
    let unit = unit.trim();
    let stem = unit.strip_suffix(".py").unwrap_or(unit);
    stem.replace(['/', '\\'], ".").replace("::", ".")
}

fn lies_in(id: &str, unit: &str) -> bool {
    let id = normalised(&id.replace(".py::", "::"));
    !unit.is_empty() && id.strip_prefix(unit).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::cases;

    #[test]
    fn a_test_that_moves_to_another_file_is_the_same_test() {
        let changes = compare(&cases(&["tests.a::test_x P"]), &cases(&["tests.b::test_x P"]), &[]);
        assert!(changes.removed.is_empty() && changes.added_passing.is_empty());
        assert_eq!(changes.before, changes.now);
    }

    #[test]
    fn other_parameters_are_the_same_test_but_fewer_of_them_are_a_loss() {
        let before = cases(&["t::test_x[1] P", "t::test_x[2] P"]);
        assert!(compare(&before, &cases(&["t::test_x[one] P", "t::test_x[two] P"]), &[]).removed.is_empty());
        assert_eq!(compare(&before, &cases(&["t::test_x[one] P"]), &[]).removed_passing, ["t::test_x[2]"]);
    }

    #[test]
    fn names_that_share_four_words_of_five_are_one_test_and_less_alike_are_two() {
        let old = cases(&["t::test_reads_long_lines P"]);
        let alike = cases(&["t::test_reads_long_lines_too P"]);
        assert!(compare(&old, &alike, &[]).removed.is_empty());
        let other = cases(&["t::test_reads_short_lines_too P"]);
        assert_eq!(compare(&old, &other, &[]).removed_passing, ["t::test_reads_long_lines"]);
    }

    #[test]
    fn the_real_rename_of_v14_is_not_seen_by_its_name() {
        let words_before = words("test_parsing_pre_and_build_metadata_see_issue_217");
        assert!((likeness(&words_before, "test_leading_digit_in_pre_and_build") - 1.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn tests_of_a_module_that_did_not_load_are_unknown() {
        let before = cases(&["tests.test_a::test_x P", "tests.test_ab::test_y P"]);
        for unit in ["tests.test_a", "tests/test_a.py"] {
            let changes = compare(&before, &TestCases::default(), &[unit.to_owned()]);
            assert_eq!(changes.removed, ["tests.test_ab::test_y"], "{unit}");
        }
    }

    #[test]
    fn a_renamed_test_that_fails_now_is_broken() {
        let changes = compare(&cases(&["a::test_x P"]), &cases(&["b::test_x F"]), &[]);
        assert_eq!(changes.newly_failing, ["b::test_x"]);
        assert_eq!(changes.broken().count, 1);
    }
}
