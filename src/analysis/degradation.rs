//! How the scores went after the chosen iteration (ANALYSIS §7).

use super::custom::gain;
use super::primary::pair;
use crate::model::config::LoopConfig;
use crate::model::ids::Iteration;
use crate::model::trajectory::{Degradation, DegradationPattern, Point};
use crate::model::units::EPS;

/// `100·(selected − final)/final` and `100·(final − selected)/selected`, percent, of what `select.primary` names; positive
/// is better. Scores are compared over the components that both have. Absent where a value is, or where it would be divided
/// by 0.
pub fn compare_to_final(points: &[Point], selected: &Point, config: &LoopConfig) -> (Option<f64>, Option<f64>) {
    let pair = points.last().and_then(|last| pair(last, selected, &config.select.primary, config));
    let Some((last, selected, direction)) = pair else { return (None, None) };
    let percent = |of: f64, to: f64| (to.abs() > 0.0).then(|| 100.0 * gain(direction, to, of) / to.abs());
    (percent(selected, last), percent(last, selected))
}

/// What became of the score, or of what takes its place, after `selected`.
pub fn shape_of(points: &[Point], selected: &Point, config: &LoopConfig) -> Degradation {
    let later: Vec<&Point> = points.iter().filter(|point| point.iteration > selected.iteration).collect();
    let changes: Vec<(Iteration, f64)> = later.iter().filter_map(|point| change(point, selected, config)).collect();
    Degradation {
        started: changes.iter().find(|(_, change)| *change < -EPS).map(|(iteration, _)| *iteration),
        pattern: pattern(&changes.iter().map(|(_, change)| *change).collect::<Vec<f64>>()),
        iterations_after_peak: u64::try_from(later.len()).unwrap_or(u64::MAX),
        quality_loss: compare_to_final(points, selected, config).1,
    }
}

/// How much better `point` is than `selected`; absent if it was not measured.
fn change(point: &Point, selected: &Point, config: &LoopConfig) -> Option<(Iteration, f64)> {
    let (now, peak, direction) = pair(point, selected, &config.select.primary, config)?;
    Some((point.iteration, gain(direction, peak, now)))
}

/// The shape of the scores after the peak, given as differences to it.
fn pattern(changes: &[f64]) -> DegradationPattern {
    let lower = changes.iter().filter(|change| **change < -EPS).count();
    let ends_lower = changes.last().is_some_and(|change| *change < -EPS);
    let mut from_peak = vec![0.0];
    from_peak.extend_from_slice(changes);
    let steps: Vec<f64> =
        from_peak.iter().zip(from_peak.iter().skip(1)).map(|(before, after)| after - before).collect();
    let moves: Vec<bool> = steps.iter().filter(|step| step.abs() > EPS).map(|step| *step > 0.0).collect();
    let turns = moves.iter().zip(moves.iter().skip(1)).filter(|(before, after)| before != after).count();
    if lower == 0 {
        DegradationPattern::None
    } else if lower == 1 && ends_lower {
        DegradationPattern::LateRegression
    } else if changes.len() >= 2 && steps.iter().all(|step| *step <= EPS) {
        DegradationPattern::OverRefinement
    } else if turns >= 2 {
        DegradationPattern::Oscillation
    } else {
        DegradationPattern::Mixed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_has_its_name() {
        for (changes, expected) in [
            (&[][..], DegradationPattern::None),
            (&[0.0, 0.0], DegradationPattern::None),
            (&[-0.1], DegradationPattern::LateRegression),
            (&[0.0, -0.1], DegradationPattern::LateRegression),
            (&[-0.1, -0.2], DegradationPattern::OverRefinement),
            (&[-0.1, -0.1], DegradationPattern::OverRefinement),
            (&[-0.1, -0.05, -0.2], DegradationPattern::Oscillation),
            (&[-0.2, -0.1], DegradationPattern::Mixed),
            (&[-0.1, 0.0], DegradationPattern::Mixed),
        ] {
            assert_eq!(pattern(changes), expected, "{changes:?}");
        }
    }
}
