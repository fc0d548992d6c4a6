//! Small drawings from block characters: a bar in eighths, a line of scores over the loop.

use crate::model::units::Score;

/// One to eight eighths of a cell, from the left.
const EIGHTHS: [char; 8] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];

/// One to eight eighths of a cell, from below.
const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// What stands for an iteration without a score.
const GAP: char = '·';

/// A bar of at most `cells` cells for a value of 0–1. A value above 0 is never drawn as nothing.
pub(super) fn bar(value: f64, cells: usize) -> String {
    let total = cells.saturating_mul(8);
    let eighths = steps(value, total).max(usize::from(value > 0.0)).min(total);
    let mut text: String = "█".repeat(eighths / 8);
    text.extend((eighths % 8).checked_sub(1).and_then(|at| EIGHTHS.get(at)));
    text
}

/// One character an iteration, the lowest score of the loop at the bottom and the highest at the top. A loop longer than
/// `cells` is drawn in steps of equal length, each as high as its highest score, so that no peak disappears.
pub(super) fn sparkline(scores: &[Option<Score>], cells: usize) -> String {
    let known: Vec<f64> = scores.iter().flatten().map(|score| score.get()).collect();
    let low = known.iter().copied().fold(f64::INFINITY, f64::min);
    let high = known.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let each = step(scores.len(), cells);
    let level = |group: &[Option<Score>]| {
        let top = group
            .iter()
            .flatten()
            .map(|score| score.get())
            .fold(None, |top: Option<f64>, s| Some(top.map_or(s, |top| top.max(s))));
        let Some(top) = top else { return GAP };
        // A loop that never moved is drawn half way up: neither good nor bad is known of it.
        let part = if high > low { (top - low) / (high - low) } else { 0.5 };
        LEVELS.get(steps(part, LEVELS.len() - 1)).copied().unwrap_or(GAP)
    };
    scores.chunks(each).map(level).collect()
}

/// The position of an iteration in a [`sparkline`] of that width.
pub(super) fn position(index: usize, count: usize, cells: usize) -> usize {
    index / step(count, cells)
}

fn step(count: usize, cells: usize) -> usize {
    count.div_ceil(cells.max(1)).max(1)
}

/// The whole number of `total` steps that comes nearest to a part of 0–1.
fn steps(part: f64, total: usize) -> usize {
    // Found by comparing, not by casting: a NaN or a part out of range ends at an end.
    (1..=total).take_while(|step| part * small(total) >= small(*step) - 0.5).count()
}

fn small(number: usize) -> f64 {
    u32::try_from(number).map_or(f64::MAX, f64::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scores(values: &[f64]) -> Vec<Option<Score>> {
        values.iter().map(|value| Score::new(*value)).collect()
    }

    #[test]
    fn a_bar_is_as_long_as_its_value() {
        assert_eq!(bar(0.0, 8), "");
        assert_eq!(bar(1.0, 8), "████████");
        assert_eq!(bar(0.5, 8), "████");
        assert_eq!(bar(0.5, 1), "▌");
        assert_eq!(bar(0.0001, 4), "▏");
        assert_eq!(bar(f64::NAN, 4), "");
        assert_eq!(bar(7.0, 2), "██");
    }

    #[test]
    fn a_sparkline_spans_the_scores_of_the_loop_and_leaves_gaps() {
        assert_eq!(sparkline(&scores(&[0.2, 0.55, 0.9]), 10), "▁▅█");
        let mut gap = scores(&[0.2, 0.9]);
        gap.insert(1, None);
        assert_eq!(sparkline(&gap, 10), "▁·█");
        assert_eq!(sparkline(&scores(&[0.7, 0.7]), 10), "▅▅");
        assert_eq!(sparkline(&[], 10), "");
    }

    #[test]
    fn a_long_loop_is_drawn_in_steps_and_keeps_its_peak() {
        let mut values = vec![0.1; 60];
        values[31] = 0.9;
        let line = sparkline(&scores(&values), 30);
        assert_eq!(line.chars().count(), 30);
        assert_eq!(line.chars().position(|c| c == '█'), Some(position(31, 60, 30)));
    }
}
