//! Two runs compared test by test (ANALYSIS §12.1): which tests broke, which are gone, which only changed their name.

use std::cell::LazyCell;
use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap, HashSet};

use super::alerts::working_tests_failing;
use super::renames::{renames, split};
use crate::model::cases::{Outcome, TestCase, TestCases};
use crate::model::record::SameBody;
use crate::model::trajectory::Point;
use crate::model::transitions::{Renamed, Transitions};
use crate::model::verdict::{NAMES_SHOWN, NamedTests, Status};

/// What became of the tests, by id. A renamed test is one test, told by its id now.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TestChanges {
    /// Passed before, fail or error now.
    pub newly_failing: Vec<String>,
    /// Failed or errored before, pass now.
    pub fixed: Vec<String>,
    /// Ran before, are skipped now.
    pub newly_skipped: Vec<String>,
    /// Those of them that passed.
    pub skipped_passing: Vec<String>,
    /// Were skipped before, run now.
    pub unskipped: Vec<String>,
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
    /// New, whatever they are: the two above, and the skipped.
    pub added: Vec<String>,
    /// Passed at a later attempt of the same run.
    pub flaky: Vec<String>,
    /// Under another id now.
    pub renamed: Vec<Renamed>,
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

/// The ids by side, each list in order: only before, only now, and on both sides.
struct Sides<'a> {
    gone: Vec<(&'a str, &'a TestCase)>,
    new: Vec<(&'a str, &'a TestCase)>,
    both: Vec<(&'a str, &'a TestCase, &'a TestCase)>,
}

/// Every test of either run in order of id: what it was before, and what it is now. Both are sorted by id, so one pass is
/// enough.
pub fn side_by_side<'a>(
    before: &'a TestCases,
    now: &'a TestCases,
) -> impl Iterator<Item = (&'a str, Option<&'a TestCase>, Option<&'a TestCase>)> {
    let (mut before, mut now) = (before.cases.iter().peekable(), now.cases.iter().peekable());
    std::iter::from_fn(move || {
        let order = match (before.peek(), now.peek()) {
            (None, None) => return None,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some((old, _)), Some((new, _))) => old.cmp(new),
        };
        let old = if order.is_le() { before.next() } else { None };
        let new = if order.is_ge() { now.next() } else { None };
        let (id, _) = old.or(new)?;
        Some((id.as_str(), old.map(|(_, case)| case), new.map(|(_, case)| case)))
    })
}

impl<'a> Sides<'a> {
    fn of(before: &'a TestCases, now: &'a TestCases) -> Sides<'a> {
        let mut sides = Sides { gone: Vec::new(), new: Vec::new(), both: Vec::with_capacity(now.cases.len()) };
        for test in side_by_side(before, now) {
            match test {
                (id, Some(old), Some(new)) => sides.both.push((id, old, new)),
                (id, Some(old), None) => sides.gone.push((id, old)),
                (id, None, Some(new)) => sides.new.push((id, new)),
                (_, None, None) => {}
            }
        }
        sides
    }

    /// Takes no test for gone whose module did not load.
    fn without(mut self, failed_units: &[String]) -> Sides<'a> {
        if failed_units.is_empty() {
            return self;
        }
        let units: HashSet<String> = failed_units.iter().map(|unit| normalised(unit)).collect();
        self.gone.retain(|(id, _)| !places_of(&spelled(id)).any(|place| units.contains(place)));
        self
    }

    fn renamed(&self, same_bodies: &[SameBody]) -> Vec<Renamed> {
        let ids = |side: &[(&str, &TestCase)]| side.iter().map(|(id, _)| (*id).to_owned()).collect::<Vec<String>>();
        renames(&ids(&self.gone), &ids(&self.new), same_bodies)
    }
}

/// Ids of two runs whose evidence must be looked up before they can be compared whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IdDiff {
    /// Only before.
    pub gone: Vec<String>,
    /// Only now.
    pub new: Vec<String>,
    /// Passed before, fail or error now, under the same id.
    pub newly_failing: Vec<String>,
}

/// Takes the tests that were told to be flakes at `point` for passed: they are newly failing if they fail again.
pub fn forgive(cases: &mut TestCases, point: &Point) {
    for id in flakes_at(point) {
        if let Some(case) = cases.cases.get_mut(id) {
            case.outcome = Outcome::Passed;
        }
    }
}

/// The newly failing tests that were told to be flakes at an iteration.
pub fn flakes_at(point: &Point) -> impl Iterator<Item = &str> {
    let refuted = point
        .alerts
        .iter()
        .filter(|alert| alert.rule == working_tests_failing::RULE.name && alert.status == Status::Refuted);
    refuted.filter_map(|alert| alert.subject.as_deref())
}

/// What two runs differ in by id alone: renames are not looked for.
pub fn id_diff(before: &TestCases, now: &TestCases) -> IdDiff {
    let sides = Sides::of(before, now);
    let owned = |ids: &[(&str, &TestCase)]| ids.iter().map(|(id, _)| (*id).to_owned()).collect();
    let broke = |(id, old, new): &(&str, &TestCase, &TestCase)| {
        (old.outcome == Outcome::Passed && new.outcome.is_bad()).then(|| (*id).to_owned())
    };
    IdDiff {
        gone: owned(&sides.gone),
        new: owned(&sides.new),
        newly_failing: sides.both.iter().filter_map(broke).collect(),
    }
}

/// The tests that stand under another id now; the arguments are those of [`compare`].
pub fn renamed(before: &TestCases, now: &TestCases, failed_units: &[String], same_bodies: &[SameBody]) -> Vec<Renamed> {
    Sides::of(before, now).without(failed_units).renamed(same_bodies)
}

/// Compares two runs. Tests of `failed_units`, modules that did not load now, are left out: they are neither gone nor
/// broken, only unknown. `same_bodies` are tests gone and new that have one source.
pub fn compare(before: &TestCases, now: &TestCases, failed_units: &[String], same_bodies: &[SameBody]) -> TestChanges {
    let sides = Sides::of(before, now).without(failed_units);
    let renamed = sides.renamed(same_bodies);
    let new_id: BTreeMap<&str, &Renamed> = renamed.iter().map(|pair| (pair.from.as_str(), pair)).collect();
    let old_id: BTreeMap<&str, &Renamed> = renamed.iter().map(|pair| (pair.to.as_str(), pair)).collect();

    // Seldom needed, and then for each test that is gone.
    let all_now = LazyCell::new(|| {
        let mut all: Vec<String> = now.cases.keys().map(|id| spelled(id)).collect();
        all.sort_unstable();
        all
    });

    let mut changes = TestChanges::default();
    for (id, old, new) in sides.both {
        changes.keep(id, old, new);
    }
    for (id, old) in sides.gone {
        match new_id.get(id).and_then(|pair| Some((pair, now.cases.get(&pair.to)?))) {
            Some((pair, new)) => changes.keep(&pair.to, old, new),
            None if old.outcome.is_bad() && is_unit(id, &all_now) => {}
            None => changes.lose(id, old.outcome),
        }
    }
    for (id, new) in sides.new.into_iter().filter(|(id, _)| !old_id.contains_key(id)) {
        changes.gain(id, new);
    }
    changes.newly_failing.sort_unstable();
    changes.renamed = renamed;
    changes
}

/// Whether it is a class or file that failed as a whole: there are tests in it now. `now` are their ids in order, as
/// [`spelled`].
fn is_unit(id: &str, now: &[String]) -> bool {
    let unit = normalised(id);
    let inside = format!("{unit}.");
    let first = now.partition_point(|test| *test < inside);
    let has_tests = now.get(first).is_some_and(|test| test.starts_with(&inside));
    !unit.is_empty() && (has_tests || now.binary_search(&unit).is_ok())
}

impl TestChanges {
    fn keep(&mut self, id: &str, before: &TestCase, now: &TestCase) {
        self.before.add(before.outcome);
        self.now.add(now.outcome);
        self.note_flake(id, now);
        if (before.outcome, now.outcome) == (Outcome::Passed, Outcome::Skipped) {
            self.skipped_passing.push(id.to_owned());
        }
        let list = match (before.outcome, now.outcome) {
            (Outcome::Passed, Outcome::Failed | Outcome::Errored) => &mut self.newly_failing,
            (Outcome::Failed | Outcome::Errored, Outcome::Passed) => &mut self.fixed,
            (was, Outcome::Skipped) if was != Outcome::Skipped => &mut self.newly_skipped,
            (Outcome::Skipped, is) if is != Outcome::Skipped => &mut self.unskipped,
            _ => return,
        };
        list.push(id.to_owned());
    }

    fn lose(&mut self, id: &str, before: Outcome) {
        self.removed.push(id.to_owned());
        match before {
            Outcome::Passed => self.removed_passing.push(id.to_owned()),
            Outcome::Failed | Outcome::Errored => self.removed_failing.push(id.to_owned()),
            Outcome::Skipped => {}
        }
    }

    fn gain(&mut self, id: &str, now: &TestCase) {
        self.added.push(id.to_owned());
        self.note_flake(id, now);
        match now.outcome {
            Outcome::Passed => {
                self.now.add(now.outcome);
                self.added_passing.push(id.to_owned());
            }
            Outcome::Failed | Outcome::Errored => self.added_failing.push(id.to_owned()),
            Outcome::Skipped => {}
        }
    }

    fn note_flake(&mut self, id: &str, now: &TestCase) {
        if now.attempts > 1 && now.outcome == Outcome::Passed {
            self.flaky.push(id.to_owned());
        }
    }

    /// How many tests came to each place, and how many left it.
    pub fn balances(&self) -> Balances<'_> {
        let mut balances = Balances::default();
        for (ids, came) in [(&self.added_passing, 1), (&self.added_failing, 1), (&self.removed, -1)] {
            for id in ids {
                *balances.0.entry(split(id).0).or_default() += came;
            }
        }
        balances
    }

    /// The tests that are gone.
    pub fn lost(&self) -> NamedTests {
        named(&self.removed)
    }

    /// The tests that broke: the newly failing ones, without the flakes.
    pub fn broken(&self, is_flake: impl Fn(&str) -> bool) -> NamedTests {
        named(&self.newly_failing.iter().filter(|id| !is_flake(id)).cloned().collect::<Vec<String>>())
    }

    /// As a record keeps them. `flaky` are further tests that failed and passed on the tree of now.
    pub fn transitions(&self, flaky: &[&str]) -> Transitions {
        let mut flaky: Vec<String> =
            self.flaky.iter().cloned().chain(flaky.iter().map(|id| (*id).to_owned())).collect();
        flaky.sort_unstable();
        flaky.dedup();
        Transitions {
            newly_failing: named(&self.newly_failing),
            fixed: named(&self.fixed),
            newly_skipped: named(&self.newly_skipped),
            unskipped: named(&self.unskipped),
            removed_passing: named(&self.removed_passing),
            removed_failing: named(&self.removed_failing),
            added_passing: named(&self.added_passing),
            added_failing: named(&self.added_failing),
            flaky: named(&flaky),
            renamed_count: u64::try_from(self.renamed.len()).unwrap_or(u64::MAX),
            renamed: self.renamed.iter().take(NAMES_SHOWN).cloned().collect(),
        }
    }
}

/// Tests that came less those that left, by the place where they stand.
#[derive(Debug, Default)]
pub struct Balances<'a>(HashMap<&'a str, i64>);

impl Balances<'_> {
    /// Whether as many tests came to the place of `id` as left it: then it may have been rewritten under another name.
    pub fn may_be_rewritten(&self, id: &str) -> bool {
        self.0.get(split(id).0).is_none_or(|balance| *balance >= 0)
    }
}

fn named(ids: &[String]) -> NamedTests {
    NamedTests {
        count: u64::try_from(ids.len()).unwrap_or(u64::MAX),
        names: ids.iter().take(NAMES_SHOWN).cloned().collect(),
    }
}

/// One spelling for `tests/test_a.py` and `tests.test_a`.
fn normalised(unit: &str) -> String {
    let unit = unit.trim();
    let stem = unit.strip_suffix(".py").unwrap_or(unit);
    stem.replace(['/', '\\'], ".").replace("::", ".")
}

/// A test's id as [`normalised`] spells its unit.
fn spelled(id: &str) -> String {
    normalised(&id.replace(".py::", "::"))
}

/// A test's id, as it is [`spelled`], and every unit that it may lie in.
fn places_of(id: &str) -> impl Iterator<Item = &str> {
    id.match_indices('.').filter_map(|(at, _)| id.get(..at)).chain([id]).filter(|place| !place.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::cases;

    #[test]
    fn a_test_that_moves_to_another_file_is_the_same_test() {
        let changes = compare(&cases(&["tests.a::test_x P"]), &cases(&["tests.b::test_x P"]), &[], &[]);
        assert!(changes.removed.is_empty() && changes.added_passing.is_empty());
        assert_eq!(changes.before, changes.now);
    }

    #[test]
    fn other_parameters_are_the_same_test_but_fewer_of_them_are_a_loss() {
        let before = cases(&["t::test_x[1] P", "t::test_x[2] P"]);
        assert!(compare(&before, &cases(&["t::test_x[one] P", "t::test_x[two] P"]), &[], &[]).removed.is_empty());
        assert_eq!(compare(&before, &cases(&["t::test_x[one] P"]), &[], &[]).removed_passing, ["t::test_x[2]"]);
    }

    #[test]
    fn names_that_share_four_words_of_five_are_one_test_and_less_alike_are_two() {
        let old = cases(&["t::test_reads_long_lines P"]);
        let alike = cases(&["t::test_reads_long_lines_too P"]);
        assert!(compare(&old, &alike, &[], &[]).removed.is_empty());
        let other = cases(&["t::test_reads_short_lines_too P"]);
        assert_eq!(compare(&old, &other, &[], &[]).removed_passing, ["t::test_reads_long_lines"]);
    }

    #[test]
    fn tests_of_a_module_that_did_not_load_are_unknown() {
        let before = cases(&["tests.test_a::test_x P", "tests.test_ab::test_y P"]);
        for unit in ["tests.test_a", "tests/test_a.py"] {
            let changes = compare(&before, &TestCases::default(), &[unit.to_owned()], &[]);
            assert_eq!(changes.removed, ["tests.test_ab::test_y"], "{unit}");
        }
    }

    #[test]
    fn a_place_is_a_whole_word_of_an_id() {
        let now = ["t.a-b.x", "t.a.b.x", "t.ab.x"].map(str::to_owned);
        for (unit, is_one) in [
            ("t.a", true),
            ("t.a.b", true),
            ("t.a-b", true),
            ("t.a.b.x", true),
            ("t.a.b.", false),
            ("t.b", false),
            ("", false),
        ] {
            assert_eq!(is_unit(unit, &now), is_one, "{unit}");
        }
        assert_eq!(places_of("t.a.x").collect::<Vec<_>>(), ["t", "t.a", "t.a.x"]);
    }

    #[test]
    fn a_class_or_file_that_failed_as_a_whole_is_not_gone_where_its_tests_run() {
        for (unit, test) in [
            ("com.example.CartTest", "com.example.CartTest::adds P"),
            ("src/a.test.js", "src/a.test.js::Cart::adds P"),
            ("tests.test_a", "tests/test_a.py::test_x P"),
        ] {
            let before = cases(&[&format!("{unit} F")]);
            assert_eq!(compare(&before, &cases(&[test]), &[], &[]).removed, [""; 0], "{unit}");
            assert_eq!(compare(&before, &cases(&["other::adds P"]), &[], &[]).removed_failing, [unit]);
        }
    }

    #[test]
    fn a_renamed_test_that_fails_now_is_broken() {
        let changes = compare(&cases(&["a::test_x P"]), &cases(&["b::test_x F"]), &[], &[]);
        assert_eq!(changes.newly_failing, ["b::test_x"]);
        assert_eq!(changes.broken(|_| false).count, 1);
        assert!(changes.broken(|id| id == "b::test_x").is_empty());
    }

    #[test]
    fn every_way_to_change_has_its_list() {
        let before = cases(&["t::a P", "t::b F", "t::c P", "t::d S", "t::e P", "t::f E", "t::g S"]);
        let mut now = cases(&["t::a F", "t::b P", "t::c S", "t::d P", "u::new_one P", "u::red_one F", "u::off S"]);
        if let Some(case) = now.cases.get_mut("t::d") {
            case.attempts = 2;
        }
        let changes = compare(&before, &now, &[], &[]);
        assert_eq!(changes.newly_failing, ["t::a"]);
        assert_eq!(changes.fixed, ["t::b"]);
        assert_eq!(changes.newly_skipped, ["t::c"]);
        assert_eq!((&changes.unskipped, &changes.flaky), (&vec!["t::d".to_owned()], &vec!["t::d".to_owned()]));
        assert_eq!(changes.removed_passing, ["t::e"]);
        assert_eq!(changes.removed_failing, ["t::f"]);
        assert_eq!(changes.removed, ["t::e", "t::f", "t::g"]);
        assert_eq!(changes.added_passing, ["u::new_one"]);
        assert_eq!(changes.added_failing, ["u::red_one"]);
        assert_eq!(changes.added, ["u::new_one", "u::off", "u::red_one"]);
    }

    #[test]
    fn two_runs_differ_in_what_is_gone_new_or_newly_failing() {
        let diff = id_diff(&cases(&["t::a P", "t::b P", "t::c F"]), &cases(&["t::b F", "t::c F", "t::d P"]));
        assert_eq!((diff.gone, diff.new), (vec!["t::a".to_owned()], vec!["t::d".to_owned()]));
        assert_eq!(diff.newly_failing, ["t::b"]);
    }
}
