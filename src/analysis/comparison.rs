//! This iteration beside the ones that it is judged against: what an alert rule sees.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use super::alerts::failing_test_removed;
use super::custom::{self, Move};
use super::flakes::{Doubt, doubts};
use super::history::{baseline, lineage, previous_with};
use super::identity::{self, TestChanges};
use super::renames::spelling;
use super::suite::{self, Suite};
use super::{Current, real};
use crate::model::config::LoopConfig;
use crate::model::edits::TestEdits;
use crate::model::ids::{Iteration, ObjectId};
use crate::model::lost_lines::LostLines;
use crate::model::metrics::{Metrics, QualityMetrics};
use crate::model::proof::{Proven, TamperProof};
use crate::model::record::SameBody;
use crate::model::trajectory::Point;
use crate::model::verdict::{Alert, OpenFinding, Status};

/// One metric on both sides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair<T> {
    /// At the iteration compared with.
    pub before: T,
    /// Now.
    pub now: T,
    /// The iteration compared with.
    pub against: Iteration,
}

impl Pair<u64> {
    /// `now − before`.
    pub fn change(&self) -> i64 {
        let size = i64::try_from(self.now.abs_diff(self.before)).unwrap_or(i64::MAX);
        if self.now >= self.before { size } else { -size }
    }

    /// `(now − before)/before`; `None` if there was none before.
    pub fn ratio(&self) -> Option<f64> {
        (self.before > 0).then(|| (real(self.now) - real(self.before)) / real(self.before))
    }
}

impl Pair<f64> {
    /// `now − before`.
    pub fn change(&self) -> f64 {
        self.now - self.before
    }
}

/// An iteration and its past.
pub struct Comparison<'a> {
    /// The iteration that is judged.
    pub iteration: Iteration,
    /// Where its tree came from.
    pub parent: Option<Iteration>,
    /// Its snapshot without reports.
    pub tree_key: ObjectId,
    /// Its settled metrics.
    pub metrics: &'a Metrics,
    /// What is known of its test run.
    pub suite: Suite,
    /// The runs test by test, where both sides name their tests.
    pub tests: Option<TestChanges>,
    /// Where only the tests that fail are named: those that failed and whose source is gone, and those under another name.
    lost_sources: &'a [String],
    same_bodies: &'a [SameBody],
    /// What was done to tests; `None` where that is not known.
    pub test_edits: Option<&'a TestEdits>,
    /// What old tests on new code told; `None` where they were not run.
    pub proof: Option<&'a TamperProof>,
    /// Lines that did not change and do not run any more; `None` where that is not known.
    pub lost_lines: Option<&'a LostLines>,
    /// The newly failing tests, and what each is taken for.
    pub doubts: BTreeMap<String, Doubt>,
    /// All earlier iterations.
    pub history: &'a [Point],
    /// Thresholds.
    pub config: &'a LoopConfig,
    /// How the metrics of the user's own moved; several rules ask for it.
    moves: OnceCell<Vec<(String, Move)>>,
}

impl<'a> Comparison<'a> {
    /// Lays an iteration beside its past. `metrics` are the settled ones of `current`.
    pub fn new(
        history: &'a [Point],
        current: &Current<'a>,
        metrics: &'a Metrics,
        suite: Suite,
        config: &'a LoopConfig,
    ) -> Comparison<'a> {
        let testing = metrics.testing.as_ref().filter(|testing| testing.test_count.is_some());
        let tests = match (testing, current.previous_cases, current.cases) {
            (Some(testing), Some(before), Some(now)) => {
                Some(identity::compare(before, now, &testing.failed_units, current.same_bodies))
            }
            _ => None,
        };
        let newly_failing = tests.as_ref().map_or(&[][..], |tests| &tests.newly_failing);
        let doubts = doubts(newly_failing, current.same_tree, &config.flake);
        let Current { iteration, parent, tree_key, lost_sources, same_bodies, test_edits, proof, lost_lines, .. } =
            *current;
        let moves = OnceCell::new();
        Comparison {
            iteration,
            parent,
            tree_key,
            metrics,
            suite,
            tests,
            lost_sources,
            same_bodies,
            test_edits,
            proof,
            lost_lines,
            doubts,
            history,
            config,
            moves,
        }
    }

    /// The latest ancestor that has the metric.
    pub fn previous(&self, has: impl Fn(&Metrics) -> bool) -> Option<&'a Point> {
        previous_with(self.history, self.parent, has)
    }

    /// The ancestors, nearest first.
    pub fn ancestors(&self) -> impl Iterator<Item = &'a Point> {
        lineage(self.history, self.parent)
    }

    /// Iteration 0; `None` while judging it.
    pub fn baseline(&self) -> Option<&'a Point> {
        baseline(self.history)
    }

    /// One metric now and at the latest ancestor that has it.
    pub fn pair<T>(&self, read: impl Fn(&Metrics) -> Option<T>) -> Option<Pair<T>> {
        let now = read(self.metrics)?;
        let point = self.previous(|metrics| read(metrics).is_some())?;
        Some(Pair { before: read(&point.metrics)?, now, against: point.iteration })
    }

    /// Newly failing tests that are flakes.
    pub fn refuted(&self) -> impl Iterator<Item = (&str, &Doubt)> {
        let refuted = self.doubts.iter().filter(|(_, doubt)| doubt.status == Status::Refuted);
        refuted.map(|(id, doubt)| (id.as_str(), doubt))
    }

    /// How many of the newly failing tests are flakes.
    pub fn flakes(&self) -> u64 {
        u64::try_from(self.refuted().count()).unwrap_or(u64::MAX)
    }

    /// Passed tests now and before. A flake counts as passed on both sides: what it takes is no loss, and what it gives
    /// back is no gain.
    pub fn passed(&self) -> Option<Pair<u64>> {
        let now = self.passed_now()?;
        let point = self.previous(|metrics| metrics.tests_passed().is_some())?;
        let before = point.metrics.tests_passed()?.saturating_add(flakes_of(point));
        Some(Pair { before, now, against: point.iteration })
    }

    /// Passed tests now, the flakes among the newly failing too.
    pub fn passed_now(&self) -> Option<u64> {
        Some(self.metrics.tests_passed()?.saturating_add(self.flakes()))
    }

    /// The pass rate now and before, percent; flakes as in [`Comparison::passed`].
    pub fn pass_rate(&self) -> Option<Pair<f64>> {
        let now = forgiving_rate(self.metrics, self.flakes())?;
        let point = self.previous(|metrics| metrics.pass_rate().is_some())?;
        let before = forgiving_rate(&point.metrics, flakes_of(point))?;
        Some(Pair { before, now, against: point.iteration })
    }

    /// Errors now and before, over the tools that both have.
    pub fn errors(&self) -> Option<Pair<u64>> {
        let point = self.previous(|metrics| metrics.error_count().is_some())?;
        errors_between(point, self.metrics)
    }

    /// How the metrics of the user's own moved that can be judged, by name.
    pub fn moves(&self) -> &[(String, Move)] {
        self.moves.get_or_init(|| custom::movements(self))
    }

    /// The failing tests that did not fail before, where reports name those that fail and not those that pass. Whether one of
    /// them passed then is unknown: it may be new. One whose source is that of a test that failed is that test.
    pub fn newly_red(&self) -> Vec<&'a str> {
        let Some(point) = self.previous(|metrics| metrics.failures().is_some()) else { return Vec::new() };
        let before = point.metrics.failing();
        if point.metrics.failures() != u64::try_from(before.len()).ok() {
            // Not all that failed before is named.
            return Vec::new();
        }
        let before: Vec<_> = before.iter().map(|id| spelling(id)).collect();
        let failing = self.metrics.failing().iter().map(String::as_str);
        let is_renamed = |id: &str| self.same_bodies.iter().any(|pair| pair.to == id);
        failing.filter(|id| !before.contains(&spelling(id)) && !is_renamed(id)).collect()
    }

    /// The tests that failed and are gone: by name, or by their source where only those that fail are named, but not those
    /// that were gone already.
    pub fn removed_failing(&self) -> Vec<&str> {
        let Some(tests) = &self.tests else {
            let open: BTreeSet<&str> = removed_failing(self.open_before()).collect();
            return self.lost_sources.iter().map(String::as_str).filter(|id| !open.contains(id)).collect();
        };
        tests.removed_failing.iter().map(String::as_str).collect()
    }

    /// Whether none of these is a test whose source is gone, of those that failed.
    pub fn are_sources_back<'i>(&self, mut ids: impl Iterator<Item = &'i String>) -> bool {
        self.metrics.failures().is_some() && ids.all(|id| !self.lost_sources.contains(id))
    }

    /// The tests of which that was proven, without those of which the rule's findings are open already.
    pub fn newly_proven(&self, rule: &str, proven: Proven) -> Vec<&'a str> {
        let open = self.open_before().iter().filter(|finding| finding.accepted.is_none() && finding.alert.rule == rule);
        let open: BTreeSet<&str> = open.flat_map(|finding| finding.alert.subjects()).map(String::as_str).collect();
        self.proof.into_iter().flat_map(|proof| proof.all(proven)).filter(|id| !open.contains(id)).collect()
    }

    /// How many units failed to load.
    pub fn failed_units(&self) -> u64 {
        self.metrics.testing.as_ref().map_or(0, |testing| testing.collection_errors)
    }

    /// Whether a newly failing test is a flake.
    pub fn is_flake(&self, id: &str) -> bool {
        self.doubts.get(id).is_some_and(|doubt| doubt.status == Status::Refuted)
    }

    /// Whether failing tests were added and nothing else was lost: tests written before the code.
    pub fn only_new_tests_fail(&self) -> bool {
        self.tests.as_ref().is_some_and(|tests| {
            let broke = tests.newly_failing.iter().any(|id| !self.is_flake(id));
            !tests.added_failing.is_empty() && !broke && tests.removed.is_empty()
        })
    }

    /// The losses that were open at the parent.
    pub fn open_before(&self) -> &'a [OpenFinding] {
        self.ancestors().next().map_or(&[], |parent| &parent.open_findings)
    }
}

/// The failing tests that are gone, of findings that are open.
pub fn removed_failing(open: &[OpenFinding]) -> impl Iterator<Item = &str> {
    let alerts = open.iter().filter(|finding| finding.accepted.is_none()).map(|finding| &finding.alert);
    alerts.filter(|alert| alert.rule == failing_test_removed::RULE.name).flat_map(Alert::subjects).map(String::as_str)
}

/// How many tests were told to be flakes at an iteration.
fn flakes_of(point: &Point) -> u64 {
    u64::try_from(identity::flakes_at(point).count()).unwrap_or(u64::MAX)
}

/// The pass rate if `flakes` of the failed had passed, percent; without any, the rate as it was measured.
fn forgiving_rate(metrics: &Metrics, flakes: u64) -> Option<f64> {
    let measured = metrics.pass_rate()?;
    let ran = metrics.tests_ran().filter(|ran| *ran > 0);
    match (metrics.tests_passed(), ran) {
        (Some(passed), Some(ran)) if flakes > 0 => {
            Some(100.0 * real(passed.saturating_add(flakes).min(ran)) / real(ran))
        }
        _ => Some(measured),
    }
}

/// Errors at `point` and in `metrics`, over the tools that both have; `None` if they share none.
pub fn errors_between(point: &Point, metrics: &Metrics) -> Option<Pair<u64>> {
    let (before, now) = (point.metrics.quality.as_ref()?, metrics.quality.as_ref()?);
    let (before, now) = if before.errors_by_tool.is_empty() || now.errors_by_tool.is_empty() {
        (before.error_count?, now.error_count?)
    } else {
        (over_tools_of(before, now)?, over_tools_of(now, before)?)
    };
    Some(Pair { before, now, against: point.iteration })
}

fn over_tools_of(mine: &QualityMetrics, theirs: &QualityMetrics) -> Option<u64> {
    let mut common =
        mine.errors_by_tool.iter().filter(|(tool, _)| theirs.errors_by_tool.contains_key(*tool)).peekable();
    common.peek()?;
    Some(common.fold(0, |sum, (_, errors)| sum.saturating_add(*errors)))
}

/// Whether the nearest ancestor that reported on tests could collect none either.
pub fn suite_was_broken(comparison: &Comparison) -> bool {
    comparison
        .ancestors()
        .find_map(|point| point.metrics.testing.as_ref())
        .is_some_and(|testing| testing.test_count.is_none() && suite::collected_nothing(testing))
}
