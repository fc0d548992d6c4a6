//! Earlier iterations, found by lineage: an iteration is compared with its ancestors, not with what a rollback undid.

use crate::model::ids::Iteration;
use crate::model::metrics::Metrics;
use crate::model::trajectory::Point;

/// The ancestors of an iteration whose parent is `parent`, nearest first.
pub fn lineage(history: &[Point], parent: Option<Iteration>) -> impl Iterator<Item = &Point> {
    let mut next = parent;
    std::iter::from_fn(move || {
        let point = find(history, next?)?;
        // A parent is always earlier; a record that claims otherwise ends the walk instead of circling in it.
        next = point.parent.filter(|parent| *parent < point.iteration);
        Some(point)
    })
}

/// The latest ancestor whose metrics satisfy `has`: ANALYSIS §1 `previous`.
pub fn previous_with(history: &[Point], parent: Option<Iteration>, has: impl Fn(&Metrics) -> bool) -> Option<&Point> {
    lineage(history, parent).find(|point| has(&point.metrics))
}

/// The point of one iteration; `history` is in order of recording.
pub fn find(history: &[Point], iteration: Iteration) -> Option<&Point> {
    let at = history.binary_search_by_key(&iteration, |point| point.iteration).ok()?;
    history.get(at)
}

/// Iteration 0, if it is among the points.
pub fn baseline(history: &[Point]) -> Option<&Point> {
    history.first().filter(|point| point.iteration == Iteration::BASELINE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::{Story, tests};

    #[test]
    fn after_a_rollback_the_lineage_skips_what_was_undone() {
        let mut story = Story::new();
        story.record(tests(8, 0));
        story.record(tests(9, 0));
        story.record(tests(10, 0));
        story.roll_back_to(1);
        story.record(tests(11, 0));
        let points = story.points();
        let ancestors: Vec<u32> = lineage(points, points[3].parent).map(|point| point.iteration.0).collect();
        assert_eq!(ancestors, [1, 0]);
    }

    #[test]
    fn a_parent_that_is_not_earlier_ends_the_walk() {
        let mut story = Story::new();
        story.record(tests(8, 0));
        story.record(tests(8, 0));
        let mut points = story.points().to_vec();
        points[1].parent = Some(Iteration(1));
        assert_eq!(lineage(&points, Some(Iteration(1))).count(), 1);
    }
}
