//! How much a metric varies while the code stays the same.

use std::collections::BTreeMap;

use crate::analysis::stats::{Group, MAD_TO_SIGMA, mad, size};
use crate::model::config::MetricConfig;
use crate::model::custom::mean;
use crate::model::ids::ObjectId;
use crate::model::metrics::CustomMetric;

/// Differences from value to value below which nothing is said of the noise.
const FEWEST_DIFFERENCES: usize = 8;

/// Degrees of freedom below which replicates say nothing.
const FEWEST_DF: u32 = 2;

/// One iteration's measurement of a metric.
#[derive(Clone, Copy, Debug)]
pub struct Measured<'a> {
    /// Two iterations with one key had the same code.
    pub tree_key: ObjectId,
    /// The samples, or the one value.
    pub samples: &'a [f64],
}

impl<'a> Measured<'a> {
    /// The measurement of a metric.
    pub fn new(tree_key: ObjectId, metric: &'a CustomMetric) -> Measured<'a> {
        Measured { tree_key, samples: metric.measured() }
    }
}

/// What a noise is known from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoiseSource {
    /// The config declares it.
    Declared,
    /// The same code was measured more than once.
    Replicates,
    /// The differences from value to value: an upper bound, since progress is in them too.
    Differences,
}

/// A standard deviation from measurement to measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// In the metric's unit.
    pub sigma: f64,
    /// Degrees of freedom of the estimate; absent if it is declared.
    pub df: Option<u32>,
    /// What it is known from.
    pub source: NoiseSource,
}

/// The first of these that is known: declared; pooled replicates with two degrees of freedom or more; first differences, if
/// there are eight or more. `line` are the values of the lineage, the oldest first. Never the spread of the levels: it mixes
/// progress with noise.
pub fn estimate(declared: Option<&MetricConfig>, all: &[Measured], line: &[f64]) -> Option<Noise> {
    if let Some(sigma) = declared.and_then(|declared| declared_sigma(declared, line)) {
        return Some(Noise { sigma, df: None, source: NoiseSource::Declared });
    }
    replicates(all).filter(|noise| noise.df >= Some(FEWEST_DF)).or_else(|| differences(line))
}

fn declared_sigma(declared: &MetricConfig, line: &[f64]) -> Option<f64> {
    let from_cv = || Some(declared.cv? * mean(line)?.abs());
    declared.sigma.or_else(from_cv)
}

/// The deviation within the groups of measurements that had the same code, pooled. `None` if nothing was measured twice.
pub fn replicates(all: &[Measured]) -> Option<Noise> {
    let mut by_tree: BTreeMap<ObjectId, Vec<f64>> = BTreeMap::new();
    for measured in all {
        by_tree.entry(measured.tree_key).or_default().extend_from_slice(measured.samples);
    }
    let groups = by_tree.values().filter(|samples| samples.len() > 1);
    let (mut squares, mut df) = (0.0, 0_u32);
    for samples in groups {
        squares += Group::of(samples)?.squares;
        df = df.saturating_add(u32::try_from(samples.len() - 1).unwrap_or(u32::MAX));
    }
    (df > 0).then(|| Noise { sigma: (squares / f64::from(df)).sqrt(), df: Some(df), source: NoiseSource::Replicates })
}

/// `1.4826·MAD(Δ)/√2` of the differences Δ from value to value.
fn differences(line: &[f64]) -> Option<Noise> {
    let deltas: Vec<f64> = line.iter().zip(line.iter().skip(1)).map(|(before, after)| after - before).collect();
    if deltas.len() < FEWEST_DIFFERENCES {
        return None;
    }
    let sigma = MAD_TO_SIGMA * mad(&deltas)? / size(2).sqrt();
    let df = u32::try_from(deltas.len()).unwrap_or(u32::MAX);
    Some(Noise { sigma, df: Some(df), source: NoiseSource::Differences })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(tree: u8, samples: &[f64]) -> Measured<'_> {
        Measured { tree_key: ObjectId([tree; 32]), samples }
    }

    #[test]
    fn one_pair_of_replicates_is_not_enough_and_two_pairs_are() {
        let pairs = [measured(1, &[3556.0]), measured(2, &[3350.0]), measured(1, &[3464.0]), measured(2, &[3314.0])];
        let one = estimate(None, &pairs[..3], &[]);
        assert_eq!(one, None);
        let two = estimate(None, &pairs, &[]).unwrap();
        assert_eq!((two.df, two.source), (Some(2), NoiseSource::Replicates));
        assert!((two.sigma - 49.396).abs() < 0.001);
        let samples = estimate(None, &[measured(1, &[1.0, 2.0, 3.0])], &[]).unwrap();
        assert_eq!((samples.sigma, samples.df), (1.0, Some(2)));
    }

    #[test]
    fn eight_differences_bound_the_noise_and_seven_do_not() {
        let line = [10.0, 11.0, 10.0, 11.0, 10.0, 11.0, 10.0, 11.0, 10.0];
        let noise = estimate(None, &[], &line).unwrap();
        assert_eq!((noise.source, noise.df), (NoiseSource::Differences, Some(8)));
        assert!((noise.sigma - 1.4826 / 2.0_f64.sqrt()).abs() < 1e-12);
        assert_eq!(estimate(None, &[], &line[..8]), None);
    }

    #[test]
    fn what_is_declared_goes_before_what_is_measured() {
        let twice = [measured(1, &[1.0, 2.0, 3.0])];
        let declared = MetricConfig { cv: Some(0.02), ..MetricConfig::default() };
        let noise = estimate(Some(&declared), &twice, &[-40.0, -60.0]).unwrap();
        assert_eq!((noise.sigma, noise.df, noise.source), (1.0, None, NoiseSource::Declared));
        let declared = MetricConfig { sigma: Some(3.0), ..declared };
        assert_eq!(estimate(Some(&declared), &twice, &[]).unwrap().sigma, 3.0);
    }
}
