//! Nothing moves any more.

use super::{Detector, History, Seen};
use crate::model::units::{EPS, round_half_up};
use crate::model::verdict::{Alert, Classification, Severity};

/// The overlay `stalled` over the class `plateau`.
pub const DETECTOR: Detector = Detector {
    name: "stalled",
    about: "three plateaus in a row without a gain",
    meaning: "The loop goes on without effect. End it, or try something else: another approach, a person's help, another \
              strategy. The class is shown as stalled; plateaus shown so still count for the next.",
    formula: "the last stall.window iterations with a class are plateaus, the variance of their scores < stall.max_variance, \
              and their best score − the score just before them < stall.min_gain; where select.primary or select.objectives \
              name metrics, none of these was better than ever before in the window",
    source: "S002; the gain: beyond the seeds (the variance alone is nearly always small)",
    severity: Severity::Medium,
    reliability: 0.25,
    thresholds: &["stall.window", "stall.max_variance", "stall.min_gain"],
    check,
};

fn check(history: &History) -> Vec<Alert> {
    let window = history.config.stall.window;
    let message = || format!("No meaningful progress for {window} iterations");
    let alert = || Alert { evidence: evidence(history), ..DETECTOR.alert(history, message()) };
    is_stalled(history).then(alert).into_iter().collect()
}

/// The plateaus of the window and their scores.
fn evidence(history: &History) -> Vec<String> {
    let size = usize::try_from(history.config.stall.window).unwrap_or(usize::MAX);
    let classed: Vec<&Seen> = history.seen.iter().filter(|seen| seen.base_class.is_some()).collect();
    let window = classed.iter().skip(classed.len().saturating_sub(size));
    let told = |seen: &&Seen| match seen.score {
        Some(score) => format!("iteration {}: plateau, score {}", seen.iteration, round_half_up(score, 4)),
        None => format!("iteration {}: plateau, no score", seen.iteration),
    };
    window.map(told).collect()
}

fn is_stalled(history: &History) -> bool {
    let settings = &history.config.stall;
    let Ok(size) = usize::try_from(settings.window) else { return false };
    let is_plateau = history.seen.last().is_some_and(|seen| seen.base_class == Some(Classification::Plateau));
    let classed: Vec<&Seen> = history.seen.iter().filter(|seen| seen.base_class.is_some()).collect();
    if !is_plateau || size == 0 || plateaus(history) < size || classed.len() <= size {
        return false;
    }
    let (before, window) = classed.split_at(classed.len() - size);
    if history.gained.is_some_and(|gained| window.first().is_some_and(|first| gained >= first.iteration)) {
        return false;
    }
    let scores: Vec<f64> = window.iter().filter_map(|seen| seen.score).collect();
    let gain = before.iter().rev().find_map(|seen| seen.score).zip(scores.iter().copied().reduce(f64::max));
    // Where nothing has a score (metrics of the user's own alone), the plateaus of those metrics decide.
    variance(&scores).is_none_or(|variance| variance < settings.max_variance - EPS)
        && gain.is_none_or(|(before, highest)| highest - before < settings.min_gain - EPS)
}

/// How many plateaus stand in a row at the end; iterations without a class neither break nor extend the run.
pub fn plateaus(history: &History) -> usize {
    let classes = history.seen.iter().rev().filter_map(|seen| seen.base_class);
    classes.take_while(|class| *class == Classification::Plateau).count()
}

/// The population variance; `None` of nothing.
fn variance(values: &[f64]) -> Option<f64> {
    let count = f64::from(u32::try_from(values.len()).ok().filter(|count| *count > 0)?);
    let mean = values.iter().sum::<f64>() / count;
    Some(values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::QUALITY_SCORE;
    use crate::analysis::testing::{Story, config, latency, tests};
    use crate::model::config::MetricConfig;
    use crate::model::ids::{Iteration, ObjectId};
    use crate::model::metrics::Direction;

    fn stalls(classes: &str, scores: &[f64]) -> bool {
        let config = config();
        let seen = classes.chars().zip(scores).zip(0..).map(|((class, score), number)| Seen {
            iteration: Iteration(number),
            signature: None,
            tree_key: ObjectId([0; 32]),
            base_class: match class {
                'B' => Some(Classification::Baseline),
                'P' => Some(Classification::Plateau),
                'F' => Some(Classification::Forward),
                _ => None,
            },
            score: Some(*score),
            progress: None,
            estimate: None,
        });
        is_stalled(&History { seen: seen.collect(), steps: Vec::new(), gained: None, config: &config })
    }

    #[test]
    fn v11_stands_still_with_small_variance_and_not_with_a_gain() {
        assert!((variance(&[0.80, 0.81, 0.80]).unwrap() - 0.000_022_2).abs() < 1e-7);
        assert!((variance(&[0.60, 0.80, 0.70]).unwrap() - 0.006_67).abs() < 1e-5);
        assert!(stalls("BPPP", &[0.80, 0.80, 0.81, 0.80]));
        assert!(!stalls("BPPP", &[0.60, 0.60, 0.80, 0.70]));
    }

    #[test]
    fn the_third_plateau_fires_and_the_second_does_not() {
        assert!(!stalls("BPP", &[0.8; 3]));
        assert!(stalls("BPPP", &[0.8; 4]));
        assert!(stalls("BPPPP", &[0.8; 5]));
        assert!(!stalls("BPPFP", &[0.8; 5]));
    }

    #[test]
    fn an_iteration_without_a_class_neither_breaks_nor_extends_the_run() {
        assert!(stalls("BPP?P", &[0.8; 5]));
        assert!(!stalls("BPP?", &[0.8; 4]));
    }

    #[test]
    fn a_metric_that_chooses_and_gets_better_is_no_stall() {
        // Slowly, and of unknown noise: each value alone is a plateau.
        for (primary, values, expected) in [
            ("latency", [100.0, 90.0, 80.0, 70.0, 60.0], [false; 5]),
            ("latency", [100.0, 90.0, 90.0, 91.0, 90.0], [false, false, false, false, true]),
            (QUALITY_SCORE, [100.0, 90.0, 80.0, 70.0, 60.0], [false, false, false, true, true]),
        ] {
            let mut story = Story::new();
            let declared = MetricConfig { direction: Some(Direction::Lower), ..MetricConfig::default() };
            story.config.metrics.insert("latency".to_owned(), declared);
            story.config.select.primary = primary.to_owned();
            let stalled = values.map(|value| {
                let verdict = story.record(latency(tests(10, 0), value));
                verdict.classification == Some(Classification::Stalled)
            });
            assert_eq!(stalled, expected, "{primary} {values:?}");
        }
    }

    #[test]
    fn the_variance_must_stay_below_its_limit() {
        assert!(!stalls("BPPP", &[0.9, 0.5, 0.9, 0.9]), "variance 0.0356");
    }
}
