//! Where the level of a metric changed for good (ANALYSIS §12.6): the segmentation of least cost, of which only boundaries are
//! kept that the values on both sides bear out. Nothing is decided by it; it tells a person where to look.
//!
//! Optimal partitioning (Jackson et al. 2005): `Σ RSS + 3·ln n·σ̂²` for each change, with σ̂ from the first differences, which a
//! change of level moves little.

use super::history::lineage;
use super::real;
use super::stats::{Group, MAD_TO_SIGMA, mad, size, two_sided};
use crate::model::ids::Iteration;
use crate::model::levels::{LevelChange, MetricLevels};
use crate::model::trajectory::Point;
use crate::model::units::EPS;

/// Values below which no change is looked for.
const LEAST: usize = 8;

/// Values of a level.
const SEGMENT: usize = 3;

/// The latest values that are looked at.
const MOST: usize = 200;

/// What a change costs, in `ln n·σ̂²`.
const PENALTY: f64 = 3.0;

/// The least change, as a share of the level before.
const MAGNITUDE: f64 = 0.02;

/// A value of an iteration.
type Read = fn(&Point) -> Option<f64>;

/// The metrics that every loop may have.
const METRICS: [(&str, Read); 5] = [
    ("quality_score", |point| point.score().map(|score| score.get())),
    ("tests_passed", |point| point.metrics.tests_passed().map(real)),
    ("coverage_percentage", |point| point.metrics.coverage()),
    ("error_count", |point| point.metrics.error_count().map(real)),
    ("lint_warnings", |point| point.metrics.lint_warnings().map(real)),
];

/// The levels of every metric along the iterations that led to the newest one; metrics that were never measured are left out.
pub fn level_changes(history: &[Point]) -> Vec<MetricLevels> {
    let mut path: Vec<&Point> = lineage(history, history.last().map(|point| point.iteration)).collect();
    path.reverse();
    let series = |name: &str, read: &dyn Fn(&Point) -> Option<f64>| {
        let values: Vec<(Iteration, f64)> =
            path.iter().filter_map(|point| Some((point.iteration, read(point)?))).collect();
        (!values.is_empty()).then(|| levels(name, &values))
    };
    let mut all: Vec<MetricLevels> = METRICS.iter().filter_map(|(name, read)| series(name, read)).collect();
    let own = history.last().map(|point| &point.metrics.custom).into_iter().flatten();
    all.extend(own.filter_map(|(name, _)| series(name, &|point| point.metrics.custom.get(name)?.value)));
    all
}

fn levels(metric: &str, values: &[(Iteration, f64)]) -> MetricLevels {
    let values = values.get(values.len().saturating_sub(MOST)..).unwrap_or_default();
    let (iterations, values): (Vec<Iteration>, Vec<f64>) = values.iter().copied().unzip();
    let found = change_points(&values);
    let at = |index: usize| iterations.get(index).copied().unwrap_or_default();
    let change = |change: &ChangePoint| LevelChange {
        iteration: at(change.index),
        before: change.before,
        after: change.after,
        p: change.p,
        seen_at: at(seen_at(&values, change.index)),
    };
    let mut levels = MetricLevels {
        metric: metric.to_owned(),
        values: u64::try_from(values.len()).unwrap_or(u64::MAX),
        changes: Vec::new(),
        trend: None,
        why_none: None,
    };
    match found {
        Found::TooFew => levels.why_none = Some(format!("{LEAST} values are needed")),
        Found::Trend(slope) => levels.trend = Some(slope),
        Found::Steps(steps) if steps.is_empty() => levels.why_none = Some("it kept its level".to_owned()),
        Found::Steps(steps) => levels.changes = steps.iter().map(change).collect(),
    }
    levels
}

/// What values do.
#[derive(Debug, PartialEq)]
enum Found {
    TooFew,
    /// They move steadily, by so much a value.
    Trend(f64),
    /// They change their level at these; none, if they keep it.
    Steps(Vec<ChangePoint>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct ChangePoint {
    /// The first value of the new level.
    index: usize,
    before: f64,
    after: f64,
    p: f64,
}

fn change_points(values: &[f64]) -> Found {
    if values.len() < LEAST {
        return Found::TooFew;
    }
    let mut bounds = cheapest(values);
    let alpha = if values.len() < 20 { 0.01 } else { 0.001 };
    let steps = loop {
        let steps = steps(values, &bounds);
        let is_borne_out = |step: &ChangePoint| step.p < alpha && size_of(step) >= MAGNITUDE;
        // What is too small is weaker than what is not sure.
        let strength = |step: &ChangePoint| (size_of(step) >= MAGNITUDE, -step.p);
        let doubtful = steps.iter().filter(|step| !is_borne_out(step));
        let weakest = doubtful.min_by(|one, other| {
            let ((big, p), (other_big, other_p)) = (strength(one), strength(other));
            big.cmp(&other_big).then(p.total_cmp(&other_p))
        });
        let Some(weakest) = weakest.map(|step| step.index) else { break steps };
        bounds.retain(|bound| *bound != weakest);
    };
    match line(values) {
        Some((slope, rss)) if !steps.is_empty() && bic(values.len(), rss, 2.0) < bic_of_steps(values, &bounds) => {
            Found::Trend(slope)
        }
        _ => Found::Steps(steps),
    }
}

/// How large a change is, as a share of the level before.
fn size_of(step: &ChangePoint) -> f64 {
    let change = (step.after - step.before).abs();
    if step.before == 0.0 { if change > 0.0 { f64::INFINITY } else { 0.0 } } else { change / step.before.abs() }
}

/// The standard deviation of the noise: `1.4826·MAD(Δ)/√2`.
fn noise(values: &[f64]) -> f64 {
    let differences: Vec<f64> = values.iter().zip(values.iter().skip(1)).map(|(one, next)| next - one).collect();
    mad(&differences).map_or(0.0, |mad| MAD_TO_SIGMA * mad / std::f64::consts::SQRT_2)
}

/// The first values of all levels but the first, of the segmentation of least cost.
fn cheapest(values: &[f64]) -> Vec<usize> {
    let sums = Sums::of(values);
    let penalty = PENALTY * size(values.len()).ln() * noise(values).powi(2);
    // Of the values up to each: the least cost, and where the last level begins.
    let mut best: Vec<Option<(f64, usize)>> = vec![None; values.len() + 1];
    if let Some(first) = best.first_mut() {
        *first = Some((-penalty, 0));
    }
    for end in SEGMENT..=values.len() {
        let starts = (0..=end - SEGMENT).filter_map(|start| Some((best.get(start).copied()??.0, start)));
        let costs = starts.map(|(cost, start)| (cost + sums.rss(start, end) + penalty, start));
        // Without noise to weigh it, a boundary that gains nothing is none.
        let least = costs.reduce(|one, other| if other.0 < one.0 - EPS { other } else { one });
        if let Some(place) = best.get_mut(end) {
            *place = least;
        }
    }
    let mut bounds = Vec::new();
    let mut end = values.len();
    while let Some((_, start)) = best.get(end).copied().flatten().filter(|(_, start)| *start > 0) {
        bounds.push(start);
        end = start;
    }
    bounds.reverse();
    bounds
}

/// Sums of the first values and of their squares, about their mean.
struct Sums(Vec<(f64, f64)>);

impl Sums {
    fn of(values: &[f64]) -> Sums {
        let middle = values.iter().sum::<f64>() / size(values.len());
        let mut sums = vec![(0.0, 0.0)];
        let (mut sum, mut squares) = (0.0, 0.0);
        for value in values {
            let about = value - middle;
            (sum, squares) = (sum + about, squares + about * about);
            sums.push((sum, squares));
        }
        Sums(sums)
    }

    /// The squares about the mean of the values `start..end`.
    fn rss(&self, start: usize, end: usize) -> f64 {
        let (Some(from), Some(to)) = (self.0.get(start), self.0.get(end)) else { return 0.0 };
        let (sum, squares) = (to.0 - from.0, to.1 - from.1);
        (squares - sum * sum / size(end - start).max(1.0)).max(0.0)
    }
}

/// The levels between the bounds.
fn segments<'v>(values: &'v [f64], bounds: &'v [usize]) -> impl Iterator<Item = Group> + 'v {
    let ends = bounds.iter().copied().chain([values.len()]);
    [0].into_iter()
        .chain(bounds.iter().copied())
        .zip(ends)
        .filter_map(|(start, end)| Group::of(values.get(start..end)?))
}

fn steps(values: &[f64], bounds: &[usize]) -> Vec<ChangePoint> {
    let levels: Vec<Group> = segments(values, bounds).collect();
    let pairs = levels.iter().zip(levels.iter().skip(1)).zip(bounds);
    let step = |((before, after), index): ((&Group, &Group), &usize)| ChangePoint {
        index: *index,
        before: before.mean,
        after: after.mean,
        p: pooled(before, after),
    };
    pairs.map(step).collect()
}

/// Student's two-sided p of the means of two groups of one variance being one.
fn pooled(a: &Group, b: &Group) -> f64 {
    let df = a.count + b.count - 2.0;
    let variance = (a.squares + b.squares) / df * (1.0 / a.count + 1.0 / b.count);
    let change = a.mean - b.mean;
    if change.abs() <= EPS {
        return 1.0;
    }
    if variance > 0.0 { two_sided(change / variance.sqrt(), df) } else { 0.0 }
}

/// The straight line of least squares: its slope, and what it leaves.
fn line(values: &[f64]) -> Option<(f64, f64)> {
    let middle = (size(values.len()) - 1.0) / 2.0;
    let at = |index: usize| size(index) - middle;
    let all = Group::of(values)?;
    let spread: f64 = (0..values.len()).map(|index| at(index).powi(2)).sum();
    let slope = values.iter().enumerate().map(|(index, value)| at(index) * (value - all.mean)).sum::<f64>() / spread;
    Some((slope, (all.squares - slope * slope * spread).max(0.0)))
}

/// The Bayesian information criterion of a model with so many parameters.
fn bic(count: usize, rss: f64, parameters: f64) -> f64 {
    let count = size(count);
    count * (rss.max(f64::MIN_POSITIVE) / count).ln() + parameters * count.ln()
}

/// That of levels: a mean for each, and a place for each change.
fn bic_of_steps(values: &[f64], bounds: &[usize]) -> f64 {
    let rss = segments(values, bounds).map(|level| level.squares).sum();
    bic(values.len(), rss, 2.0 * size(bounds.len()) + 1.0)
}

/// The first value with which the change at `index` is found.
fn seen_at(values: &[f64], index: usize) -> usize {
    let is_seen = |last: &usize| {
        let so_far = values.get(..=*last).map(change_points);
        matches!(so_far, Some(Found::Steps(steps)) if steps.iter().any(|step| step.index == index))
    };
    (index..values.len()).find(is_seen).unwrap_or(values.len().saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::{Story, latency, tests};

    /// Noise that is the same every time: about normal, with standard deviation 1.
    struct Noise(u64);

    impl Noise {
        fn next(&mut self) -> f64 {
            let uniform = |state: &mut u64| {
                *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                real(*state >> 40) / real(1 << 24)
            };
            (0..12).map(|_| uniform(&mut self.0)).sum::<f64>() - 6.0
        }
    }

    fn series(levels: &[(usize, f64)], sigma: f64, seed: u64) -> Vec<f64> {
        let mut noise = Noise(seed);
        levels
            .iter()
            .flat_map(|(count, level)| vec![*level; *count])
            .map(|level| level + sigma * noise.next())
            .collect()
    }

    fn indexes(values: &[f64]) -> Vec<usize> {
        match change_points(values) {
            Found::Steps(steps) => steps.iter().map(|step| step.index).collect(),
            _ => Vec::new(),
        }
    }

    #[test]
    fn a_regression_and_its_fix_are_found_where_they_are() {
        for seed in 0..50 {
            let values = series(&[(7, 100.0), (6, 110.0), (7, 100.0)], 1.0, seed);
            assert_eq!(indexes(&values), [7, 13], "{seed}");
        }
        assert_eq!(indexes(&[5.0, 5.0, 5.0, 5.0, 9.0, 9.0, 9.0, 9.0]), [4], "without any noise");
    }

    #[test]
    fn noise_alone_has_no_level_but_one() {
        let false_alarms = (0..200).filter(|seed| !indexes(&series(&[(20, 100.0)], 2.0, *seed)).is_empty()).count();
        assert!(false_alarms <= 4, "{false_alarms} of 200");
        assert_eq!(change_points(&[3.0; 12]), Found::Steps(Vec::new()));
        assert_eq!(change_points(&[1.0; 7]), Found::TooFew);
    }

    #[test]
    fn what_is_too_small_to_matter_is_no_change() {
        assert!(indexes(&series(&[(10, 100.0), (10, 101.5)], 0.1, 3)).is_empty());
        assert_eq!(indexes(&series(&[(10, 100.0), (10, 103.0)], 0.1, 3)), [10]);
    }

    #[test]
    fn what_moves_steadily_is_a_trend() {
        for seed in 0..20 {
            let mut noise = Noise(seed);
            let values: Vec<f64> = (0..24).map(|at| 100.0 + 3.0 * size(at) + noise.next()).collect();
            assert!(matches!(change_points(&values), Found::Trend(slope) if (slope - 3.0).abs() < 0.3), "{seed}");
        }
        let values: Vec<f64> = (0..10).map(size).collect();
        assert_eq!(change_points(&values), Found::Trend(1.0));
    }

    #[test]
    fn each_metric_has_its_levels_along_the_lineage_and_says_when_they_could_be_seen() {
        let mut story = Story::new();
        for value in [50.0, 50.4, 49.7, 50.1, 49.9] {
            story.record(latency(tests(9, 0), value));
        }
        story.record(latency(tests(2, 7), 200.0));
        story.roll_back_to(4);
        for value in [60.1, 59.8, 60.3, 59.9, 60.2] {
            story.record(latency(tests(9, 0), value));
        }
        let levels = level_changes(story.points());
        let names: Vec<&str> = levels.iter().map(|one| one.metric.as_str()).collect();
        assert_eq!(names, ["quality_score", "tests_passed", "latency"]);
        assert_eq!((levels[1].values, levels[1].why_none.as_deref()), (10, Some("it kept its level")));
        let [change] = levels[2].changes.as_slice() else { panic!("{levels:?}") };
        assert_eq!((change.iteration, change.seen_at), (Iteration(6), Iteration(8)));
        assert!((change.before - 50.02).abs() < 0.01 && (change.after - 60.06).abs() < 0.01 && change.p < 0.001);
        let few = level_changes(&story.points()[..5]);
        assert_eq!(few[2].why_none.as_deref(), Some("8 values are needed"));
    }
}
