//! The ledger of tests (ANALYSIS §12.1): what became of each test over a loop, and which flake.
//!
//! When a test broke is told along the lineage; whether it flakes over all iterations, because a tree may be measured again
//! after a rollback.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::history::{find, lineage};
use super::identity::{renamed, side_by_side};
use crate::model::cases::{Outcome, TestCase, TestCases};
use crate::model::ids::{Iteration, ObjectId};
use crate::model::ledger::{Changed, Event, Flaking, Frame, Ids, TestHistory, TestStanding};
use crate::model::record::SameBody;
use crate::model::reruns::Runs;
use crate::model::trajectory::Point;

/// The frame of an iteration with these outcomes; `before` are those of the iteration that it is told against.
pub fn frame(
    point: &Point,
    cases_id: ObjectId,
    before: Option<(Iteration, &TestCases)>,
    now: &TestCases,
    same_bodies: &[SameBody],
) -> Frame {
    let empty = TestCases::default();
    let old = before.map_or(&empty, |(_, cases)| cases);
    let units = point.metrics.testing.as_ref().map_or(&[][..], |testing| &testing.failed_units);
    let outcome = |case: Option<&TestCase>| case.map(|case| case.outcome);
    let changed: Vec<(&str, Option<Outcome>)> = side_by_side(old, now)
        .filter(|(_, old, new)| outcome(*old) != outcome(*new))
        .map(|(id, _, new)| (id, outcome(new)))
        .collect();
    let to = |outcome| -> Ids { changed.iter().filter(|(_, now)| *now == outcome).map(|(id, _)| *id).collect() };
    Frame {
        iteration: point.iteration,
        cases: cases_id,
        against: before.map(|(iteration, _)| iteration),
        changed: Changed {
            gone: to(None),
            passed: to(Some(Outcome::Passed)),
            skipped: to(Some(Outcome::Skipped)),
            failed: to(Some(Outcome::Failed)),
            errored: to(Some(Outcome::Errored)),
        },
        renamed: renamed(old, now, units, same_bodies).into_iter().map(|pair| (pair.from, pair.to)).collect(),
        again: ran_again(point, now),
    }
}

/// Tests that ran more than once at an iteration: attempts, and reruns.
fn ran_again(point: &Point, now: &TestCases) -> Vec<(String, Runs)> {
    let tried = now.cases.iter().filter(|(_, case)| case.attempts > 1).map(|(id, _)| id.as_str());
    let again: BTreeSet<&str> = tried.chain(point.reruns.keys().map(String::as_str)).collect();
    again.into_iter().map(|id| (id.to_owned(), runs_of(now, point, id))).collect()
}

/// The runs of one test at one iteration: its attempts, and its reruns.
fn runs_of(cases: &TestCases, point: &Point, id: &str) -> Runs {
    let mut runs = fresh_runs_of(cases, point, id);
    if let Some(case) = cases.cases.get(id) {
        // All attempts but the last failed, else there were none after them.
        let failed = if case.outcome == Outcome::Skipped { 0 } else { case.attempts.saturating_sub(1) };
        runs.add_all(Runs { runs: failed, failed });
    }
    runs
}

/// Those of them that were each in a process of its own. What a runner tries again in the same process often fails again
/// for the same reason (ANALYSIS §12.2).
pub fn fresh_runs_of(cases: &TestCases, point: &Point, id: &str) -> Runs {
    let mut runs = point.reruns.get(id).copied().unwrap_or_default();
    if let Some(case) = cases.cases.get(id) {
        runs.add(case.outcome);
    }
    runs
}

/// The tests that fail at an iteration whose report names these and not those that pass.
pub struct FailingAlone<'a> {
    /// The iteration.
    pub point: &'a Point,
    /// By name, at most 20, and what became of each as far as it is known. That it failed may be that it errored.
    pub tests: Vec<(&'a String, TestStanding)>,
}

/// A loop's frames in order of recording.
pub struct Ledger<'a> {
    points: &'a [Point],
    frames: &'a [Frame],
    descent: Descent,
}

/// Which frame is told against which, over all steps. Frames are numbered so that those told against one, and against these,
/// follow it without a gap: then two numbers answer, however many there are.
#[derive(Debug)]
struct Descent(BTreeMap<Iteration, std::ops::Range<usize>>);

/// What a frame is told against; only an earlier one can be it.
fn earlier(frame: &Frame) -> Option<Iteration> {
    frame.against.filter(|against| *against < frame.iteration)
}

impl Descent {
    fn of(frames: &[Frame]) -> Descent {
        let mut sizes: BTreeMap<Iteration, usize> = BTreeMap::new();
        for frame in frames.iter().rev() {
            let size = sizes.entry(frame.iteration).or_default();
            *size += 1;
            let size = *size;
            if let Some(against) = earlier(frame) {
                *sizes.entry(against).or_default() += size;
            }
        }
        let mut spans: BTreeMap<Iteration, std::ops::Range<usize>> = BTreeMap::new();
        let mut free: BTreeMap<Option<Iteration>, usize> = BTreeMap::new();
        for frame in frames {
            let above = earlier(frame).filter(|against| spans.contains_key(against));
            let start = *free.entry(above).or_default();
            let end = start + sizes.get(&frame.iteration).copied().unwrap_or(1);
            free.insert(above, end);
            free.insert(Some(frame.iteration), start + 1);
            spans.insert(frame.iteration, start..end);
        }
        Descent(spans)
    }

    fn knows(&self, iteration: Iteration) -> bool {
        self.0.contains_key(&iteration)
    }

    /// Whether `ancestor` is the iteration, or one that it is told against over any number of steps.
    fn leads(&self, ancestor: Iteration, iteration: Iteration) -> bool {
        let (Some(span), Some(own)) = (self.0.get(&ancestor), self.0.get(&iteration)) else { return false };
        span.contains(&own.start)
    }
}

impl<'a> Ledger<'a> {
    /// The ledger of these frames, and the iterations that they are of.
    pub fn new(points: &'a [Point], frames: &'a [Frame]) -> Ledger<'a> {
        Ledger { points, frames, descent: Descent::of(frames) }
    }

    /// The latest iteration of the newest one's lineage that names its tests.
    pub fn newest(&self) -> Option<Iteration> {
        let last = self.points.last()?;
        let named = |point: &&Point| self.descent.knows(point.iteration);
        lineage(self.points, Some(last.iteration)).find(named).map(|point| point.iteration)
    }

    /// What is told of the latest measured iteration of the newest one's lineage, if it names those tests alone that fail.
    pub fn failing_alone(&self) -> Option<FailingAlone<'a>> {
        let is_measured = |point: &&Point| point.metrics.failures().is_some();
        let measured: Vec<&Point> =
            lineage(self.points, self.points.last().map(|last| last.iteration)).filter(is_measured).collect();
        let (point, named) = (*measured.first()?, self.newest());
        let failing = point.metrics.failing();
        if named >= Some(point.iteration) || failing.is_empty() && point.metrics.failures() > Some(0) {
            return None;
        }
        let before = named.map(|named| self.standings(named)).unwrap_or_default();
        let standing = |id: &String| {
            let before = before.get(id);
            let mut bad_since = None;
            for point in &measured {
                if Some(point.iteration) == named {
                    bad_since = before.and_then(|before| before.bad_since).or(bad_since);
                    break;
                }
                if !point.metrics.failing().contains(id) {
                    break;
                }
                bad_since = Some(point.iteration);
            }
            let last_passed = before.and_then(|before| before.last_passed);
            TestStanding { outcome: Outcome::Failed, bad_since, last_passed }
        };
        Some(FailingAlone { point, tests: failing.iter().map(|id| (id, standing(id))).collect() })
    }

    /// Every test of an iteration.
    pub fn standings(&self, iteration: Iteration) -> HashMap<String, TestStanding> {
        let mut standings: HashMap<String, TestStanding> = HashMap::new();
        let mut before = None;
        for frame in self.frames.iter().filter(|frame| self.descent.leads(frame.iteration, iteration)) {
            let moved: Vec<(&String, Option<TestStanding>)> =
                frame.renamed.iter().map(|(from, to)| (to, standings.remove(from))).collect();
            for (to, standing) in moved {
                standings.extend(standing.map(|standing| (to.clone(), standing)));
            }
            for (outcome, ids) in frame.changed.lists() {
                for id in ids.iter() {
                    match outcome {
                        Some(outcome) => {
                            let old = standings.get(&id).copied();
                            standings.insert(id, after(old, outcome, before, frame.iteration));
                        }
                        None => {
                            standings.remove(&id);
                        }
                    }
                }
            }
            before = Some(frame.iteration);
        }
        for standing in standings.values_mut().filter(|standing| standing.outcome == Outcome::Passed) {
            standing.last_passed = Some(iteration);
        }
        standings
    }

    /// The tests that failed and passed on one tree.
    pub fn flaking(&self) -> BTreeMap<String, Flaking> {
        let mut suspects: HashSet<String> = HashSet::new();
        for frame in self.frames {
            suspects.extend(frame.changed.failed.iter());
            suspects.extend(frame.changed.errored.iter());
            suspects.extend(frame.again.iter().map(|(id, _)| id.clone()));
        }
        let mut flaking = self.flaking_among(&suspects);
        flaking.retain(|_, found| found.runs.failed > 0);
        flaking
    }

    fn flaking_among(&self, ids: &HashSet<String>) -> BTreeMap<String, Flaking> {
        let events = self.outcomes_of(ids);
        let mut found: BTreeMap<String, Flaking> = BTreeMap::new();
        for iterations in self.by_tree().values() {
            for (id, events) in &events {
                let each: Vec<(Iteration, Runs)> =
                    iterations.iter().map(|iteration| (*iteration, self.runs_at(id, events, *iteration))).collect();
                let mut runs = Runs::default();
                each.iter().for_each(|(_, at)| runs.add_all(*at));
                if runs.runs > 1 && runs.passed() > 0 {
                    let flaking = found.entry(id.clone()).or_default();
                    flaking.runs.add_all(runs);
                    flaking.iterations.extend(each.iter().filter(|(_, at)| at.failed > 0).map(|(n, _)| *n));
                }
            }
        }
        found.values_mut().for_each(|flaking| flaking.iterations.sort_unstable());
        found
    }

    /// Iterations by tree, of trees on which tests ran more than once.
    fn by_tree(&self) -> BTreeMap<ObjectId, Vec<Iteration>> {
        let mut by_tree: BTreeMap<ObjectId, Vec<Iteration>> = BTreeMap::new();
        let mut again: BTreeSet<ObjectId> = BTreeSet::new();
        for frame in self.frames {
            let Some(point) = find(self.points, frame.iteration) else { continue };
            let iterations = by_tree.entry(point.tree_key).or_default();
            iterations.push(frame.iteration);
            if iterations.len() > 1 || !frame.again.is_empty() {
                again.insert(point.tree_key);
            }
        }
        by_tree.retain(|tree, _| again.contains(tree));
        by_tree
    }

    /// Every change of these tests: where, and what they came to.
    fn outcomes_of(&self, ids: &HashSet<String>) -> HashMap<String, Vec<(Iteration, Option<Outcome>)>> {
        let mut events: HashMap<String, Vec<(Iteration, Option<Outcome>)>> = HashMap::new();
        for frame in self.frames {
            for (outcome, changed) in frame.changed.lists() {
                for id in changed.iter().filter(|id| ids.contains(id)) {
                    events.entry(id).or_default().push((frame.iteration, outcome));
                }
            }
        }
        events
    }

    fn outcome_at(&self, events: &[(Iteration, Option<Outcome>)], iteration: Iteration) -> Option<Outcome> {
        events.iter().rev().find(|(at, _)| self.descent.leads(*at, iteration)).and_then(|(_, outcome)| *outcome)
    }

    fn runs_at(&self, id: &str, events: &[(Iteration, Option<Outcome>)], iteration: Iteration) -> Runs {
        let frame = self.frames.binary_search_by_key(&iteration, |frame| frame.iteration);
        let frame = frame.ok().and_then(|at| self.frames.get(at));
        let again = frame.and_then(|frame| {
            let at = frame.again.binary_search_by(|(one, _)| one.as_str().cmp(id)).ok()?;
            frame.again.get(at)
        });
        again.map(|(_, runs)| *runs).unwrap_or_else(|| {
            let mut runs = Runs::default();
            self.outcome_at(events, iteration).into_iter().for_each(|outcome| runs.add(outcome));
            runs
        })
    }

    /// The ids that contain `part`, or the one that is it.
    pub fn ids_like(&self, part: &str) -> Vec<String> {
        let mut like: BTreeSet<String> = BTreeSet::new();
        for (_, ids) in self.frames.iter().flat_map(|frame| frame.changed.lists()) {
            like.extend(ids.iter().filter(|id| id.contains(part)));
        }
        if like.contains(part) { vec![part.to_owned()] } else { like.into_iter().collect() }
    }

    /// What became of one test, under all its ids.
    pub fn history(&self, id: &str) -> TestHistory {
        let mut ids = vec![id.to_owned()];
        for frame in self.frames.iter().rev() {
            if let Some((from, _)) = frame.renamed.iter().find(|(_, to)| ids.last() == Some(to)) {
                ids.push(from.clone());
            }
        }
        for frame in self.frames {
            if let Some((_, to)) = frame.renamed.iter().find(|(from, _)| ids.first() == Some(from)) {
                ids.insert(0, to.clone());
            }
        }
        let wanted: HashSet<String> = ids.iter().cloned().collect();
        let outcomes = self.outcomes_of(&wanted);
        let mut events = Vec::new();
        for frame in self.frames {
            let new_id = |id: &String| frame.renamed.iter().find(|(from, _)| from == id);
            let old_id =
                |id: &String| frame.renamed.iter().find(|(_, to)| to == id).map_or(id.clone(), |pair| pair.0.clone());
            for (now, changed) in frame.changed.lists() {
                for id in changed.iter().filter(|id| wanted.contains(id)) {
                    // The end of an id is told where the test goes on under the next.
                    if now.is_none() && new_id(&id).is_some() {
                        continue;
                    }
                    let events_before = outcomes.get(&old_id(&id)).map_or(&[][..], Vec::as_slice);
                    let was = frame.against.and_then(|against| self.outcome_at(events_before, against));
                    events.push(Event { iteration: frame.iteration, id, was, now });
                }
            }
        }
        let mut on_one_tree = Flaking::default();
        for flaking in self.flaking_among(&wanted).into_values() {
            on_one_tree.runs.add_all(flaking.runs);
            on_one_tree.iterations.extend(flaking.iterations);
        }
        on_one_tree.iterations.sort_unstable();
        TestHistory { ids, events, on_one_tree }
    }
}

/// The standing of a test that came to `outcome` at `at`; `before` is the iteration that it is told against.
fn after(old: Option<TestStanding>, outcome: Outcome, before: Option<Iteration>, at: Iteration) -> TestStanding {
    let passed_before = old.filter(|old| old.outcome == Outcome::Passed).and(before);
    TestStanding {
        outcome,
        bad_since: outcome.is_bad().then(|| old.and_then(|old| old.bad_since).unwrap_or(at)),
        last_passed: passed_before.or(old.and_then(|old| old.last_passed)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::{Story, cases, tests};

    /// Iterations with these outcomes, each told against the one before or where it was rolled back to, on these trees.
    struct Told {
        points: Vec<Point>,
        frames: Vec<Frame>,
        cases: Vec<TestCases>,
    }

    impl Told {
        fn new(iterations: &[(&[&str], u8, Option<u32>)]) -> Told {
            let mut story = Story::new();
            let mut told = Told { points: Vec::new(), frames: Vec::new(), cases: Vec::new() };
            for (n, (outcomes, tree, parent)) in iterations.iter().enumerate() {
                let now = cases(outcomes);
                story.record_named(tests(1, 0), now.clone());
                let mut point = story.points()[n].clone();
                point.tree_key = ObjectId([*tree; 32]);
                point.parent = parent.map(Iteration);
                let before = parent.map(|parent| (Iteration(parent), &told.cases[usize::try_from(parent).unwrap()]));
                told.frames.push(frame(&point, ObjectId([9; 32]), before, &now, &[]));
                told.points.push(point);
                told.cases.push(now);
            }
            told
        }

        fn ledger(&self) -> Ledger<'_> {
            Ledger::new(&self.points, &self.frames)
        }
    }

    #[test]
    fn a_broken_test_knows_where_it_broke_and_where_it_passed_last() {
        let told = Told::new(&[
            (&["t::a P", "t::b P", "t::c F"], 1, None),
            (&["t::a P", "t::b P", "t::c F"], 2, Some(0)),
            (&["t::a F", "t::b P", "t::c F"], 3, Some(1)),
            (&["t::a E", "t::b P", "t::c F"], 4, Some(2)),
        ]);
        let standings = told.ledger().standings(Iteration(3));
        let a = standings["t::a"];
        assert_eq!((a.outcome, a.bad_since, a.last_passed), (Outcome::Errored, Some(Iteration(2)), Some(Iteration(1))));
        assert!(a.is_broken());
        assert!(!standings["t::c"].is_broken(), "it never passed");
        assert_eq!(standings["t::b"].last_passed, Some(Iteration(3)));
        assert!(told.ledger().flaking().is_empty());
    }

    #[test]
    fn frames_lead_to_those_told_against_them_and_to_no_others() {
        //  0 → 1 → 3 → 6, 0 → 2 → 5, 4 → 7; 8 is told against one that is not there, 9 against itself.
        let against = [None, Some(0), Some(0), Some(1), None, Some(2), Some(3), Some(4), Some(77), Some(9)];
        let frames: Vec<Frame> = (0..)
            .zip(against)
            .map(|(n, against)| Frame {
                iteration: Iteration(n),
                cases: ObjectId([0; 32]),
                against: against.map(Iteration),
                changed: Changed::default(),
                renamed: Vec::new(),
                again: Vec::new(),
            })
            .collect();
        let descent = Descent::of(&frames);
        let chain = |n: u32| -> Vec<u32> { (0..10).filter(|at| descent.leads(Iteration(*at), Iteration(n))).collect() };
        let chains: [&[u32]; 10] =
            [&[0], &[0, 1], &[0, 2], &[0, 1, 3], &[4], &[0, 2, 5], &[0, 1, 3, 6], &[4, 7], &[8], &[9]];
        for (n, expected) in (0..).zip(chains) {
            assert_eq!(chain(n), expected, "{n}");
        }
        assert!(!descent.knows(Iteration(77)) && !descent.leads(Iteration(77), Iteration(8)));
    }

    #[test]
    fn what_a_rollback_undid_is_not_in_the_lineage_but_in_the_history() {
        let told = Told::new(&[(&["t::a P"], 1, None), (&["t::a F"], 2, Some(0)), (&["t::a P"], 3, Some(0))]);
        let ledger = told.ledger();
        assert_eq!(ledger.newest(), Some(Iteration(2)));
        let a = ledger.standings(Iteration(2))["t::a"];
        assert_eq!((a.bad_since, a.last_passed), (None, Some(Iteration(2))));
        let events = ledger.history("t::a").events;
        let told: Vec<_> = events.iter().map(|event| (event.iteration.0, event.was, event.now)).collect();
        let (passed, failed) = (Some(Outcome::Passed), Some(Outcome::Failed));
        assert_eq!(told, [(0, None, passed), (1, passed, failed)], "iteration 2 changed nothing since 0");
    }

    #[test]
    fn failing_and_passing_on_one_tree_is_a_flake_and_on_two_is_not() {
        let told = Told::new(&[
            (&["t::a P", "t::b P", "t::c F"], 1, None),
            (&["t::a F", "t::b P", "t::c F"], 1, Some(0)),
            (&["t::a P", "t::b F", "t::c F"], 2, Some(1)),
            (&["t::a P", "t::b P", "t::c F"], 3, Some(2)),
            (&["t::a P", "t::b P", "t::c F"], 3, Some(3)),
        ]);
        let flaking = told.ledger().flaking();
        assert_eq!(flaking.keys().collect::<Vec<_>>(), ["t::a"]);
        assert_eq!(flaking["t::a"], Flaking { runs: Runs { runs: 4, failed: 1 }, iterations: vec![Iteration(1)] });
    }

    #[test]
    fn a_renamed_test_keeps_its_history() {
        let told =
            Told::new(&[(&["a::test_x P"], 1, None), (&["b::test_x P"], 2, Some(0)), (&["b::test_x F"], 3, Some(1))]);
        let ledger = told.ledger();
        for id in ["a::test_x", "b::test_x"] {
            let history = ledger.history(id);
            assert_eq!(history.ids, ["b::test_x", "a::test_x"]);
            let iterations: Vec<u32> = history.events.iter().map(|event| event.iteration.0).collect();
            assert_eq!(iterations, [0, 1, 2]);
            assert_eq!(history.events[1].was, Some(Outcome::Passed));
        }
        assert_eq!(ledger.standings(Iteration(2))["b::test_x"].bad_since, Some(Iteration(2)));
        assert_eq!(ledger.ids_like("test_x").len(), 2);
        assert_eq!(ledger.ids_like("a::test_x"), ["a::test_x"]);
    }

    #[test]
    fn a_pass_after_attempts_is_a_flake_of_one_iteration() {
        let mut told = Told::new(&[(&["t::a P"], 1, None)]);
        told.cases[0].cases.get_mut("t::a").unwrap().attempts = 3;
        told.frames = vec![frame(&told.points[0], ObjectId([9; 32]), None, &told.cases[0], &[])];
        let flaking = told.ledger().flaking();
        assert_eq!(flaking["t::a"].runs, Runs { runs: 3, failed: 2 });
    }
}
