//! What the store knows beside the two runs that are compared: how often newly failing tests failed on one and the same
//! tree (ANALYSIS §12.2).

use std::collections::{BTreeMap, BTreeSet};

use super::judge::read_cases;
use crate::analysis::{self, SameTree};
use crate::error::Result;
use crate::model::cases::TestCases;
use crate::model::ids::{Iteration, ObjectId};
use crate::model::metrics::Metrics;
use crate::model::reruns::{self, Rerun, Runs};
use crate::model::trajectory::Point;
use crate::snapshot::objects::Objects;

/// Iterations whose outcomes are read for it, the latest. More would make a record dearer the longer the loop is.
const ITERATIONS_READ: usize = 20;

/// The iteration that tests are compared with by name, the latest ancestor that names them, and its outcomes.
///
/// # Errors
/// If the object is missing or damaged.
pub(super) fn named_ancestor<'p>(
    objects: &Objects,
    history: &'p [Point],
    parent: Option<Iteration>,
) -> Result<Option<(&'p Point, TestCases)>> {
    let names = |metrics: &Metrics| metrics.cases().is_some();
    let Some(point) = analysis::previous_with(history, parent, names) else { return Ok(None) };
    let Some(id) = point.metrics.cases() else { return Ok(None) };
    let mut cases = read_cases(objects, &id)?;
    analysis::forgive(&mut cases, point);
    Ok(Some((point, cases)))
}

/// Of each of these tests, its runs on single trees: reruns and earlier iterations with the tree `tree_key`, and runs on
/// earlier trees.
///
/// # Errors
/// If stored outcomes cannot be read.
pub(super) fn same_tree(
    objects: &Objects,
    history: &[Point],
    tree_key: Option<ObjectId>,
    reruns: &[Rerun],
    tests: &[String],
) -> Result<BTreeMap<String, SameTree>> {
    let mut known: BTreeMap<String, SameTree> = BTreeMap::new();
    if tests.is_empty() {
        return Ok(known);
    }
    for (id, runs) in reruns::pooled(reruns) {
        known.entry(id).or_default().again.add_all(runs);
    }
    for (tree, points) in by_tree(history, tree_key) {
        let mut on_tree: BTreeMap<&String, Runs> = BTreeMap::new();
        for point in points {
            let Some(cases) = point.metrics.cases().map(|id| read_cases(objects, &id)).transpose()? else { continue };
            for id in tests {
                on_tree.entry(id).or_default().add_all(analysis::ledger::fresh_runs_of(&cases, point, id));
            }
        }
        for (id, runs) in on_tree {
            let known = known.entry(id.clone()).or_default();
            if Some(tree) == tree_key {
                known.again.add_all(runs);
            } else if runs.runs > 1 && runs.passed() > 0 {
                known.earlier.add_all(runs);
            }
        }
    }
    Ok(known)
}

/// The latest iterations on whose tree tests may have run more than once, by tree: trees that came back, and iterations
/// with reruns.
fn by_tree(history: &[Point], current: Option<ObjectId>) -> BTreeMap<ObjectId, Vec<&Point>> {
    let mut seen: BTreeSet<ObjectId> = current.into_iter().collect();
    let mut again = seen.clone();
    for point in history.iter().filter(|point| point.metrics.cases().is_some()) {
        if !seen.insert(point.tree_key) || !point.reruns.is_empty() {
            again.insert(point.tree_key);
        }
    }
    let mut by_tree: BTreeMap<ObjectId, Vec<&Point>> = BTreeMap::new();
    let measured =
        history.iter().rev().filter(|point| point.metrics.cases().is_some() && again.contains(&point.tree_key));
    for point in measured.take(ITERATIONS_READ) {
        by_tree.entry(point.tree_key).or_default().push(point);
    }
    by_tree
}
