//! The metrics of an iteration as rows of text: beside the previous and the baseline, or beside another iteration.

use serde::Serialize;

use super::view::{ABSENT, fixed, number, plain, score, signed, signed_number};
use crate::model::ids::Iteration;
use crate::model::metrics::{Direction, Metrics};
use crate::model::record::IterationRecord;
use crate::model::trajectory::Point;
use crate::model::units::{EPS, Quantity, Score};
use crate::model::verdict::Deltas;

/// Whether a change is for the better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) enum Change {
    /// Nothing changed, nobody knows, or neither way is better.
    Neutral,
    /// For the better.
    Better,
    /// For the worse.
    Worse,
}

impl Change {
    fn of(delta: Option<f64>, better: Option<Direction>) -> Change {
        match (delta, better) {
            (Some(delta), Some(Direction::Higher)) if delta > EPS => Change::Better,
            (Some(delta), Some(Direction::Higher)) if delta < -EPS => Change::Worse,
            (Some(delta), Some(Direction::Lower)) if delta < -EPS => Change::Better,
            (Some(delta), Some(Direction::Lower)) if delta > EPS => Change::Worse,
            _ => Change::Neutral,
        }
    }
}

/// One metric of an iteration beside its earlier values, as text.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct MetricRow {
    /// For people: as a title if it is built in, as the user wrote it if it is the user's own.
    pub name: String,
    /// It is the user's own.
    pub is_custom: bool,
    /// The value now.
    pub current: String,
    /// The value of the latest earlier iteration of the lineage that has one.
    pub previous: String,
    /// The change since then; rates in percentage points.
    pub delta: String,
    /// Whether that is good.
    pub change: Change,
    /// The value of iteration 0.
    pub baseline: String,
    /// The change since the baseline.
    pub delta_baseline: String,
    /// Whether that is good.
    pub change_baseline: Change,
}

/// How a metric and its change are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    /// A whole number.
    Count,
    /// Two decimals and a percent sign; changes in percentage points.
    Percent,
    /// Two decimals; changes relative, in percent.
    Ratio,
}

/// A built-in metric: how to read it and how to show it.
struct Metric {
    name: &'static str,
    /// Shown even where it was never measured: the rows that the seed's template names.
    always: bool,
    unit: Unit,
    better: Option<Direction>,
    value: fn(&Metrics) -> Option<Quantity>,
    delta: fn(&Deltas) -> Option<Quantity>,
    /// Whether the value before is the value now less the change. Not so for errors, whose change is over the tools that
    /// both iterations have.
    reversible: bool,
}

/// In the order in which they are shown.
const METRICS: [Metric; 10] = [
    Metric {
        name: "Test Count",
        always: true,
        unit: Unit::Count,
        better: Some(Direction::Higher),
        value: |m| m.test_count().map(Quantity::from),
        delta: |d| d.test_count.map(Quantity::Count),
        reversible: true,
    },
    Metric {
        name: "Tests Passed",
        always: false,
        unit: Unit::Count,
        better: Some(Direction::Higher),
        value: |m| m.tests_passed().map(Quantity::from),
        delta: |d| d.tests_passed.map(Quantity::Count),
        reversible: true,
    },
    Metric {
        name: "Tests Failed",
        always: false,
        unit: Unit::Count,
        better: Some(Direction::Lower),
        value: |m| m.failures_alone().map(Quantity::from),
        delta: |d| d.tests_failed.map(Quantity::Count),
        reversible: true,
    },
    Metric {
        name: "Pass Rate",
        always: true,
        unit: Unit::Percent,
        better: Some(Direction::Higher),
        value: |m| m.pass_rate().map(Quantity::Real),
        delta: |d| d.pass_rate_points.map(Quantity::Real),
        reversible: true,
    },
    Metric {
        name: "Coverage",
        always: true,
        unit: Unit::Percent,
        better: Some(Direction::Higher),
        value: |m| m.coverage().map(Quantity::Real),
        delta: |d| d.coverage_points.map(Quantity::Real),
        reversible: true,
    },
    Metric {
        name: "Errors",
        always: true,
        unit: Unit::Count,
        better: Some(Direction::Lower),
        value: |m| m.error_count().map(Quantity::from),
        delta: |d| d.error_count.map(Quantity::Count),
        reversible: false,
    },
    Metric {
        name: "Warnings",
        always: false,
        unit: Unit::Count,
        better: Some(Direction::Lower),
        value: |m| m.lint_warnings().map(Quantity::from),
        delta: |d| d.lint_warnings.map(Quantity::Count),
        reversible: true,
    },
    Metric {
        name: "Complexity",
        always: false,
        unit: Unit::Ratio,
        better: Some(Direction::Lower),
        value: |m| m.complexity().map(Quantity::Real),
        delta: |d| d.complexity_ratio.map(Quantity::Real),
        reversible: false,
    },
    Metric {
        name: "Files",
        always: false,
        unit: Unit::Count,
        better: None,
        value: |m| m.file_count().map(Quantity::from),
        delta: |d| d.file_count.map(Quantity::Count),
        reversible: true,
    },
    Metric {
        name: "Lines",
        always: false,
        unit: Unit::Count,
        better: None,
        value: |m| m.loc_total().map(Quantity::from),
        delta: |d| d.loc_total.map(Quantity::Count),
        reversible: true,
    },
];

impl Metric {
    fn read(&self, metrics: &Metrics) -> Option<f64> {
        (self.value)(metrics).map(Quantity::as_f64)
    }

    fn change(&self, deltas: Option<&Deltas>) -> Option<f64> {
        (self.delta)(deltas?).map(Quantity::as_f64)
    }

    fn shown(&self, value: Option<f64>) -> String {
        match (self.unit, value) {
            (Unit::Count, _) => fixed(value, 0),
            (Unit::Percent, Some(_)) => format!("{}%", fixed(value, 2)),
            _ => fixed(value, 2),
        }
    }

    fn shown_change(&self, delta: Option<f64>, points: &str) -> String {
        match (self.unit, delta) {
            (Unit::Count, _) => signed(delta, 0),
            (Unit::Ratio, Some(ratio)) => format!("{}%", signed(Some(100.0 * ratio), 2)),
            (_, Some(_)) => format!("{}{points}", signed(delta, 2)),
            _ => ABSENT.to_owned(),
        }
    }

    /// The change from one value to another, in the unit of the metric's stored changes.
    fn between(&self, from: Option<f64>, to: Option<f64>) -> Option<f64> {
        match self.unit {
            Unit::Ratio => from.filter(|from| *from > 0.0).zip(to).map(|(from, to)| (to - from) / from),
            _ => from.zip(to).map(|(from, to)| to - from),
        }
    }

    /// The earlier value: as recorded, or, where that record is not at hand, as the change tells it.
    fn earlier(&self, recorded: Option<f64>, current: Option<f64>, delta: Option<f64>) -> Option<f64> {
        recorded.or_else(|| current.zip(delta).filter(|_| self.reversible).map(|(current, delta)| current - delta))
    }
}

/// The latest earlier iteration of the lineage that has the metric, found by following the parents.
fn previous_with(history: &[Point], parent: Option<Iteration>, has: impl Fn(&Metrics) -> bool) -> Option<&Point> {
    let mut next = parent;
    // A lineage is no longer than the history; the bound also ends a damaged one that runs in a circle.
    for _ in 0..history.len() {
        let number = next?;
        // The history is in order; to look through all of it at each step would cost its square.
        let at = history.binary_search_by_key(&number, |point| point.iteration).ok()?;
        let point = history.get(at)?;
        if has(&point.metrics) {
            return Some(point);
        }
        next = point.parent;
    }
    None
}

/// The metrics of a record beside the previous and the baseline's. `history` holds the earlier iterations that are at
/// hand; without them the earlier values are worked out from the stored changes where that is exact. `points` is written
/// behind a change in percentage points: [`POINTS`], or the percent sign of the seed's template.
pub(super) fn metric_rows(record: &IterationRecord, history: &[Point], points: &str) -> Vec<MetricRow> {
    let baseline = history.iter().find(|point| point.iteration == Iteration::BASELINE && record.iteration.0 > 0);
    let built_in = METRICS.iter().filter_map(|metric| {
        let current = metric.read(&record.metrics);
        if current.is_none() && !metric.always {
            return None;
        }
        let delta = metric.change(record.from_previous.as_ref());
        let recorded = previous_with(history, record.parent, |metrics| metric.read(metrics).is_some())
            .and_then(|point| metric.read(&point.metrics));
        let delta_baseline = metric.change(record.from_baseline.as_ref());
        let baseline = baseline.and_then(|point| metric.read(&point.metrics));
        Some(MetricRow {
            name: metric.name.to_owned(),
            is_custom: false,
            current: metric.shown(current),
            previous: metric.shown(metric.earlier(recorded, current, delta)),
            delta: metric.shown_change(delta, points),
            change: Change::of(delta, metric.better),
            baseline: metric.shown(metric.earlier(baseline, current, delta_baseline)),
            delta_baseline: metric.shown_change(delta_baseline, points),
            change_baseline: Change::of(delta_baseline, metric.better),
        })
    });
    let custom = record.metrics.custom.iter().map(|(name, metric)| {
        let value_in = |point: &Point| point.metrics.custom.get(name).and_then(|metric| metric.value);
        let previous = previous_with(history, record.parent, |m| m.custom.get(name).is_some_and(|c| c.value.is_some()))
            .and_then(value_in);
        custom_row(name, metric.unit.as_deref(), metric.direction, metric.value, previous, baseline.and_then(value_in))
    });
    built_in.chain(custom).collect()
}

fn custom_row(
    name: &str,
    unit: Option<&str>,
    better: Option<Direction>,
    current: Option<f64>,
    previous: Option<f64>,
    baseline: Option<f64>,
) -> MetricRow {
    let delta = previous.zip(current).map(|(previous, current)| current - previous);
    let delta_baseline = baseline.zip(current).map(|(baseline, current)| current - baseline);
    let name = plain(name);
    MetricRow {
        name: unit.map_or(name.clone(), |unit| format!("{name} ({})", plain(unit))),
        is_custom: true,
        current: number(current),
        previous: number(previous),
        delta: signed_number(delta),
        change: Change::of(delta, better),
        baseline: number(baseline),
        delta_baseline: signed_number(delta_baseline),
        change_baseline: Change::of(delta_baseline, better),
    }
}

/// One metric of two iterations side by side, as text.
pub(super) struct PairRow {
    /// As in [`MetricRow`].
    pub name: String,
    /// It is the user's own.
    pub is_custom: bool,
    /// The value in the first.
    pub a: String,
    /// The value in the second.
    pub b: String,
    /// From the first to the second.
    pub delta: String,
    /// Whether that is good.
    pub change: Change,
}

/// The metrics that at least one of two iterations has. A change that `deltas` holds is taken from there: it compares what
/// both sides measured with the same tools.
pub(super) fn pair_rows(a: &Point, b: &Point, deltas: Option<&Deltas>, points: &str) -> Vec<PairRow> {
    let scores = (a.score().map(Score::get), b.score().map(Score::get));
    let between = scores.0.zip(scores.1).map(|(a, b)| b - a);
    let delta = deltas.and_then(|deltas| deltas.quality_score).or(between);
    let mut rows = vec![PairRow {
        name: "Score".to_owned(),
        is_custom: false,
        a: score(a.score()),
        b: score(b.score()),
        delta: signed(delta, 4),
        change: Change::of(delta, Some(Direction::Higher)),
    }];
    rows.extend(METRICS.iter().filter_map(|metric| {
        let (a, b) = (metric.read(&a.metrics), metric.read(&b.metrics));
        a.or(b)?;
        let delta = metric.change(deltas).or_else(|| metric.between(a, b));
        Some(PairRow {
            name: metric.name.to_owned(),
            is_custom: false,
            a: metric.shown(a),
            b: metric.shown(b),
            delta: metric.shown_change(delta, points),
            change: Change::of(delta, metric.better),
        })
    }));
    let mut names: Vec<&String> = a.metrics.custom.keys().chain(b.metrics.custom.keys()).collect();
    names.sort();
    names.dedup();
    rows.extend(names.into_iter().map(|name| {
        let (a, b) = (a.metrics.custom.get(name), b.metrics.custom.get(name));
        let known = b.or(a);
        let row = custom_row(
            name,
            known.and_then(|metric| metric.unit.as_deref()),
            known.and_then(|metric| metric.direction),
            b.and_then(|metric| metric.value),
            a.and_then(|metric| metric.value),
            None,
        );
        PairRow {
            name: row.name,
            is_custom: true,
            a: row.previous,
            b: row.current,
            delta: row.delta,
            change: row.change,
        }
    }));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewer_errors_are_better_and_fewer_tests_worse() {
        assert_eq!(Change::of(Some(-1.0), Some(Direction::Lower)), Change::Better);
        assert_eq!(Change::of(Some(-1.0), Some(Direction::Higher)), Change::Worse);
        assert_eq!(Change::of(Some(0.0), Some(Direction::Higher)), Change::Neutral);
        assert_eq!(Change::of(None, Some(Direction::Higher)), Change::Neutral);
        assert_eq!(Change::of(Some(5.0), None), Change::Neutral);
    }

    #[test]
    fn the_error_count_before_is_never_guessed_from_the_change() {
        let errors = METRICS.iter().find(|metric| metric.name == "Errors").unwrap();
        assert_eq!(errors.earlier(None, Some(4.0), Some(-1.0)), None);
        assert_eq!(errors.earlier(Some(8.0), Some(4.0), Some(-1.0)), Some(8.0));
        let tests = METRICS.iter().find(|metric| metric.name == "Test Count").unwrap();
        assert_eq!(tests.earlier(None, Some(9.0), Some(-1.0)), Some(10.0));
    }
}
