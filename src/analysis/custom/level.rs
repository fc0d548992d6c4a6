//! The level of a metric: its values since it last changed for certain, and how far a new value may lie from them.

use super::noise::Noise;
use crate::analysis::stats::{Group, MAD_TO_SIGMA, NORMAL_REACH, mad, reach, size, welch};
use crate::model::config::{Effect, MetricConfig};
use crate::model::custom::{mean, median};
use crate::model::metrics::CustomMetric;
use crate::model::units::EPS;

/// Values that a level keeps: the latest.
const LONGEST: usize = 20;

/// Values from which a level says by itself how far it reaches, and from which it does so robustly.
const FEW: usize = 3;
const MANY: usize = 8;

/// Below this share of the median a robust deviation is not believed: values are often rounded.
const LEAST_DEVIATION: f64 = 0.005;

/// p below which Welch's test tells two groups apart.
const SIGNIFICANT: f64 = 0.05;

/// Where a value lies that is beyond its level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Higher.
    Above,
    /// Lower.
    Below,
}

/// What a value was judged by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// By the smallest effect alone: the noise is not known.
    EffectOnly,
    /// By a noise that is declared, or, of fewer than three values, by one that is known otherwise: z, and its two-sided p where
    /// that is an estimate.
    Noise {
        /// The difference over its standard deviation.
        z: f64,
        /// Degrees of freedom of the estimate; absent if the noise is declared.
        df: Option<u32>,
    },
    /// `mean ± t(.995, n−1)·s·√(1+1/n)`.
    Interval,
    /// `median ± t(.995, n−1)·max(1.4826·MAD, 0.5 %)·√(1+1/n)`.
    Robust,
    /// Three or more samples on both sides.
    Welch {
        /// Two-sided.
        p: f64,
    },
}

/// A value beside its level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judged {
    /// The middle of the level.
    pub center: f64,
    /// How many values it has.
    pub count: usize,
    /// How far from the middle a value may lie; absent where groups were compared.
    pub reach: Option<f64>,
    /// What was used.
    pub method: Method,
    /// Where the value lies, if it is beyond.
    pub side: Option<Side>,
    /// It is the second independent time, or decided by enough samples.
    pub is_confirmed: bool,
    /// It is beyond, and not only because the value before was: it lies further out than that one.
    pub is_further: bool,
}

/// The level after some measurements.
pub struct Level<'a> {
    declared: Option<&'a MetricConfig>,
    noise: Option<&'a Noise>,
    values: Vec<f64>,
    suspect: Option<Suspect>,
}

/// The value before, if it was beyond the level.
struct Suspect {
    side: Side,
    value: f64,
    samples: Vec<f64>,
}

impl<'a> Level<'a> {
    /// The level after the measurements, the oldest first.
    pub fn after(line: &[&CustomMetric], declared: Option<&'a MetricConfig>, noise: Option<&'a Noise>) -> Level<'a> {
        let mut level = Level { declared, noise, values: Vec::new(), suspect: None };
        for metric in line {
            level.take(metric);
        }
        level
    }

    fn take(&mut self, metric: &CustomMetric) {
        let judged = self.judge(metric);
        let suspect = self.suspect.take();
        let side = judged.and_then(|judged| judged.side);
        let is_confirmed = judged.is_some_and(|judged| judged.is_confirmed);
        let repeated = suspect.filter(|suspect| {
            let is_repeated = side == Some(suspect.side);
            if !is_repeated {
                // It did not come again, so it was one of the level's own after all.
                self.values.extend_from_slice(&suspect.samples);
            }
            is_repeated
        });
        match (side, metric.value) {
            (Some(_), _) if is_confirmed => {
                self.values = repeated.map(|suspect| suspect.samples).unwrap_or_default();
                self.values.extend_from_slice(metric.measured());
            }
            (Some(side), Some(value)) => {
                self.suspect = Some(Suspect { side, value, samples: metric.measured().to_vec() });
            }
            _ => self.values.extend_from_slice(metric.measured()),
        }
        let surplus = self.values.len().saturating_sub(LONGEST);
        self.values.drain(..surplus);
    }

    /// A measurement beside the level. `None` if there is no level yet, no value, or nothing to tell a change by.
    pub fn judge(&self, metric: &CustomMetric) -> Option<Judged> {
        let value = metric.value?;
        let center = mean(&self.values)?;
        if let Some(judged) = self.by_groups(metric.measured()) {
            return Some(judged);
        }
        let (center, half, method) = self.interval(value, center)?;
        let reach = half.max(self.least(center));
        let side = side_beyond(value, center, reach);
        let is_repeated = self.suspect.as_ref().is_some_and(|suspect| Some(suspect.side) == side);
        let samples = metric.measured().iter().filter(|sample| side_beyond(**sample, center, reach) == side);
        // Samples of one iteration are independent of each other only as far as the noise between iterations is known.
        let is_resampled = method != Method::EffectOnly && samples.count() > 1;
        Some(Judged {
            center,
            count: self.values.len(),
            reach: Some(reach),
            method,
            side,
            is_confirmed: side.is_some() && (is_repeated || is_resampled),
            is_further: side.is_some() && self.is_further(value, side, reach),
        })
    }

    /// How far a value may lie from the level, by noise alone.
    fn interval(&self, value: f64, center: f64) -> Option<(f64, f64, Method)> {
        let count = self.values.len();
        let df = u32::try_from(count).unwrap_or(u32::MAX).saturating_sub(1);
        let widened = (1.0 + 1.0 / size(count)).sqrt();
        let by = |noise: &Noise| {
            let spread = noise.sigma * widened;
            let z = if spread > 0.0 { (value - center) / spread } else { 0.0 };
            (center, noise.df.map_or(NORMAL_REACH, reach) * spread, Method::Noise { z, df: noise.df })
        };
        match (self.noise, count) {
            (Some(noise), _) if noise.df.is_none() => Some(by(noise)),
            (_, MANY..) => {
                let center = median(&self.values)?;
                let deviation = (MAD_TO_SIGMA * mad(&self.values)?).max(LEAST_DEVIATION * center.abs());
                Some((center, reach(df) * deviation * widened, Method::Robust))
            }
            (_, FEW..) => {
                let deviation = Group::of(&self.values)?.variance()?.sqrt();
                Some((center, reach(df) * deviation * widened, Method::Interval))
            }
            (Some(noise), _) => Some(by(noise)),
            (None, _) => self.declared?.min_effect.map(|_| (center, 0.0, Method::EffectOnly)),
        }
    }

    /// Both sides with three samples or more.
    fn by_groups(&self, samples: &[f64]) -> Option<Judged> {
        if samples.len() < FEW || self.values.len() < FEW {
            return None;
        }
        let (before, now) = (Group::of(&self.values)?, Group::of(samples)?);
        let p = welch(before, now)?;
        let side = side_beyond(now.mean, before.mean, self.least(before.mean)).filter(|_| p < SIGNIFICANT - EPS);
        Some(Judged {
            center: before.mean,
            count: self.values.len(),
            reach: None,
            method: Method::Welch { p },
            side,
            is_confirmed: side.is_some(),
            is_further: self.is_further(now.mean, side, self.least(before.mean)) && side.is_some(),
        })
    }

    /// Whether a value beyond the level lies further out than the one suspected before.
    fn is_further(&self, value: f64, side: Option<Side>, reach: f64) -> bool {
        match &self.suspect {
            Some(suspect) if Some(suspect.side) == side => side_beyond(value, suspect.value, reach) == side,
            _ => true,
        }
    }

    /// The smallest difference that matters, in the metric's unit.
    fn least(&self, center: f64) -> f64 {
        self.declared.and_then(|declared| declared.min_effect).map_or(0.0, |effect: Effect| effect.at(center))
    }
}

/// Beyond `center ± reach`; the tolerance grows with the numbers, so that no choice of unit decides.
fn side_beyond(value: f64, center: f64, reach: f64) -> Option<Side> {
    let difference = value - center;
    let is_beyond = difference.abs() > reach + EPS * center.abs().max(value.abs());
    match (is_beyond, difference > 0.0) {
        (false, _) => None,
        (true, true) => Some(Side::Above),
        (true, false) => Some(Side::Below),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::custom::NoiseSource;

    fn metric(samples: &[f64]) -> CustomMetric {
        let value = median(samples);
        let samples = if samples.len() > 1 { samples.to_vec() } else { Vec::new() };
        CustomMetric { value, samples, ..CustomMetric::default() }
    }

    fn judge(line: &[&[f64]], now: &[f64], declared: Option<&MetricConfig>, noise: Option<&Noise>) -> Option<Judged> {
        let line: Vec<CustomMetric> = line.iter().map(|samples| metric(samples)).collect();
        Level::after(&line.iter().collect::<Vec<_>>(), declared, noise).judge(&metric(now))
    }

    fn effect(size: f64) -> MetricConfig {
        MetricConfig { min_effect: Some(Effect::Absolute(size)), ..MetricConfig::default() }
    }

    #[test]
    fn without_noise_and_without_an_effect_nothing_is_said() {
        assert_eq!(judge(&[&[10.0]], &[90.0], None, None), None);
        assert_eq!(judge(&[], &[90.0], Some(&effect(1.0)), None), None);
        let judged = judge(&[&[10.0]], &[10.6], Some(&effect(0.5)), None).unwrap();
        assert_eq!((judged.method, judged.side), (Method::EffectOnly, Some(Side::Above)));
        assert!(!judged.is_confirmed);
        assert_eq!(judge(&[&[10.0]], &[10.5], Some(&effect(0.5)), None).unwrap().side, None);
        let samples = judge(&[&[10.0]], &[10.6, 10.7], Some(&effect(0.5)), None).unwrap();
        assert!(!samples.is_confirmed, "two samples do not tell the noise between iterations");
    }

    #[test]
    fn three_values_make_an_interval_and_eight_a_robust_one() {
        let values: Vec<[f64; 1]> = [100.0, 102.0, 99.0, 101.0, 100.0].map(|value| [value]).to_vec();
        let line: Vec<&[f64]> = values.iter().map(|value| &value[..]).collect();
        let inside = judge(&line, &[106.0], None, None).unwrap();
        assert_eq!((inside.method, inside.side, inside.count), (Method::Interval, None, 5));
        assert_eq!(judge(&line[..2], &[106.0], None, None), None);
        let outlier: Vec<[f64; 1]> =
            [100.0, 102.0, 99.0, 101.0, 100.0, 100.5, 99.5, 100.0].map(|value| [value]).to_vec();
        let line: Vec<&[f64]> = outlier.iter().map(|value| &value[..]).collect();
        let robust = judge(&line, &[110.0], None, None).unwrap();
        assert_eq!((robust.method, robust.side), (Method::Robust, Some(Side::Above)));
        // median 100, MAD .5, t(.995, 7) = 3.4995.
        assert!((robust.reach.unwrap() - 3.499_483 * 1.4826 * 0.5 * (1.125_f64).sqrt()).abs() < 1e-5);
        let same = [[7.0]; 8];
        let line: Vec<&[f64]> = same.iter().map(|value| &value[..]).collect();
        assert!(
            (judge(&line, &[7.0], None, None).unwrap().reach.unwrap() - 3.499_483 * 0.035 * 1.125_f64.sqrt()).abs()
                < 1e-5
        );
    }

    #[test]
    fn the_second_time_confirms_and_begins_a_new_level() {
        let steady: [&[f64]; 3] = [&[10.0], &[10.1], &[9.9]];
        let first = judge(&steady, &[20.0], None, None).unwrap();
        assert_eq!((first.side, first.is_confirmed), (Some(Side::Above), false));
        let line = [&steady[..], &[&[20.0][..]]].concat();
        let second = judge(&line, &[20.1], None, None).unwrap();
        assert!(second.is_confirmed && !second.is_further);
        let line = [&line[..], &[&[20.1][..], &[19.9]]].concat();
        let third = judge(&line, &[20.0], None, None).unwrap();
        assert_eq!((third.side, third.count), (None, 3));
        let refuted = [&steady[..], &[&[20.0][..], &[10.0]]].concat();
        assert_eq!(judge(&refuted, &[10.0], None, None).unwrap().count, 5, "the outlier is one of the level's own");
    }

    #[test]
    fn enough_samples_on_both_sides_decide_at_once() {
        let before: [&[f64]; 1] = [&[10.0, 10.2, 9.8]];
        let now = judge(&before, &[11.0, 11.2, 10.9], None, None).unwrap();
        assert!(matches!(now.method, Method::Welch { p } if p < 0.01));
        assert!(now.is_confirmed && now.side == Some(Side::Above));
        assert_eq!(judge(&before, &[11.0, 11.2, 10.9], Some(&effect(2.0)), None).unwrap().side, None);
        assert_eq!(judge(&before, &[10.1, 10.3, 9.9], None, None).unwrap().side, None);
    }

    #[test]
    fn a_known_noise_judges_the_second_value_already() {
        let noise = Noise { sigma: 1.0, df: None, source: NoiseSource::Declared };
        // 2.5758·√2 = 3.643.
        assert_eq!(judge(&[&[10.0]], &[13.6], None, Some(&noise)).unwrap().side, None);
        let beyond = judge(&[&[10.0]], &[13.7], None, Some(&noise)).unwrap();
        assert_eq!((beyond.side, beyond.is_confirmed), (Some(Side::Above), false));
        assert!(judge(&[&[10.0]], &[13.7, 13.8], None, Some(&noise)).unwrap().is_confirmed, "it was measured again");
        let estimated = Noise { df: Some(2), source: NoiseSource::Replicates, ..noise };
        assert_eq!(judge(&[&[10.0]], &[23.0], None, Some(&estimated)).unwrap().side, None, "9.925·√2 = 14.04");
        assert_eq!(judge(&[&[10.0]], &[24.1], None, Some(&estimated)).unwrap().side, Some(Side::Above));
    }

    #[test]
    fn no_choice_of_unit_decides() {
        let line: [&[f64]; 4] = [&[100e-9], &[102e-9], &[99e-9], &[101e-9]];
        assert_eq!(judge(&line, &[120e-9], None, None).unwrap().side, Some(Side::Above));
    }
}
