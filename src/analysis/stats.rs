//! Student's t distribution and what it is applied to: intervals for a new value, and Welch's comparison of two groups.
//!
//! The distribution function is the regularized incomplete beta function `I_x(a, b)` by its continued fraction
//! (DLMF 8.17.22, evaluated by the modified Lentz method), with `ln Γ` by Lanczos' approximation (g = 7, nine terms). The
//! tests hold them against the printed tables of the distribution.

use std::sync::LazyLock;

use crate::model::custom::{mean, median};
use crate::model::units::Quantity;

/// What makes the median absolute deviation a standard deviation for normal noise: `1/Φ⁻¹(3/4)`.
pub const MAD_TO_SIGMA: f64 = 1.4826;

/// The share of the distribution below which intervals reach: two-sided 1 %.
const REACH: f64 = 0.995;

/// Degrees of freedom whose quantile is kept: judging asks for the same few again and again.
const KEPT: u32 = 32;

/// `t(.995, df)`, df from 1. A normal distribution for very many.
pub fn reach(df: u32) -> f64 {
    static QUANTILES: LazyLock<Vec<f64>> = LazyLock::new(|| (0..=KEPT).map(|df| quantile(REACH, df.into())).collect());
    let kept = usize::try_from(df).ok().and_then(|df| QUANTILES.get(df)).copied();
    kept.unwrap_or_else(|| quantile(REACH, df.into()))
}

/// `z(.995)`: the same of the normal distribution, for a noise that is known.
pub const NORMAL_REACH: f64 = 2.575_829_303_548_901;

/// The probability that `|T|` is at least `|t|`, for `df` degrees of freedom above 0.
pub fn two_sided(t: f64, df: f64) -> f64 {
    if !t.is_finite() {
        return 0.0;
    }
    let whole = df + t * t;
    incomplete_beta(df / whole, t * t / whole, df / 2.0, 0.5)
}

/// The value below which the share `p` (above ½) of the distribution lies; infinite without degrees of freedom.
pub fn quantile(p: f64, df: f64) -> f64 {
    if df <= 0.0 {
        return f64::INFINITY;
    }
    let tail = 2.0 * (1.0 - p);
    let (mut low, mut high) = (0.0, 1.0);
    while two_sided(high, df) > tail && high < 1e12 {
        high *= 2.0;
    }
    // Halving until the two are neighbours: at most as many steps as a number has bits.
    for _ in 0..80 {
        let middle = f64::midpoint(low, high);
        if two_sided(middle, df) > tail {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// `I_x(a, b)` for `x` in 0–1. `y` is `1 − x`, told apart because near 1 it is lost in `x`.
fn incomplete_beta(x: f64, y: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || y <= 0.0 {
        return x.clamp(0.0, 1.0);
    }
    let ln = |part: f64, rest: f64| if part > 0.5 { (-rest).ln_1p() } else { part.ln() };
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * ln(x, y) + b * ln(y, x)).exp();
    // The fraction converges fast below the mean, and the function is symmetric.
    if x < (a + 1.0) / (a + b + 2.0) { front * fraction(x, a, b) / a } else { 1.0 - front * fraction(y, b, a) / b }
}

/// The continued fraction of the incomplete beta function.
fn fraction(x: f64, a: f64, b: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away_from_zero = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut value = d;
    for step in 1..=300_u32 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for term in [even, odd] {
            d = 1.0 / away_from_zero(1.0 + term * d);
            c = away_from_zero(1.0 + term / c);
            change = c * d;
            value *= change;
        }
        if (change - 1.0).abs() < 1e-15 {
            break;
        }
    }
    value
}

/// `ln Γ(x)` for `x` above 0.
fn ln_gamma(x: f64) -> f64 {
    const TERMS: [f64; 8] = [
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    if x < 0.5 {
        let pi = std::f64::consts::PI;
        return (pi / (pi * x).sin()).ln() - ln_gamma(1.0 - x);
    }
    let x = x - 1.0;
    let mut sum = 0.999_999_999_999_809_9;
    let mut at = x;
    for term in TERMS {
        at += 1.0;
        sum += term / at;
    }
    let t = x + 7.5;
    0.5 * (2.0 * std::f64::consts::PI).ln() + (x + 0.5) * t.ln() - t + sum.ln()
}

/// A group of values: how many, their mean, the sum of squares about it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Group {
    /// How many.
    pub count: f64,
    /// Their arithmetic mean.
    pub mean: f64,
    /// `Σ (x − mean)²`.
    pub squares: f64,
}

impl Group {
    /// Of the values; `None` without any.
    pub fn of(values: &[f64]) -> Option<Group> {
        let mean = mean(values)?;
        let squares = values.iter().map(|value| (value - mean).powi(2)).sum();
        Some(Group { count: size(values.len()), mean, squares })
    }

    /// The sample variance (divided by count − 1); `None` of fewer than two.
    pub fn variance(&self) -> Option<f64> {
        (self.count > 1.0).then(|| self.squares / (self.count - 1.0))
    }
}

/// Welch's two-sided p of the means of two groups being one; `None` if a group has fewer than two values. Groups without any
/// spread are different, or the same.
pub fn welch(a: Group, b: Group) -> Option<f64> {
    let (from_a, from_b) = (a.variance()? / a.count, b.variance()? / b.count);
    let variance = from_a + from_b;
    if variance <= 0.0 {
        return Some(if a.mean == b.mean { 1.0 } else { 0.0 });
    }
    // Welch–Satterthwaite.
    let df = variance.powi(2) / (from_a.powi(2) / (a.count - 1.0) + from_b.powi(2) / (b.count - 1.0));
    Some(two_sided((a.mean - b.mean) / variance.sqrt(), df))
}

/// The median absolute deviation from the median; `None` of nothing.
pub fn mad(values: &[f64]) -> Option<f64> {
    let middle = median(values)?;
    median(&values.iter().map(|value| (value - middle).abs()).collect::<Vec<f64>>())
}

/// How many, as a real number.
pub fn size(count: usize) -> f64 {
    Quantity::from(u64::try_from(count).unwrap_or(u64::MAX)).as_f64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::units::round_half_up;

    /// The columns .975 and .995 of the table that every handbook prints, to its three decimals.
    #[test]
    fn quantiles_are_those_of_the_printed_table() {
        let table = [
            (1, "12.706", "63.657"),
            (2, "4.303", "9.925"),
            (3, "3.182", "5.841"),
            (4, "2.776", "4.604"),
            (5, "2.571", "4.032"),
            (6, "2.447", "3.707"),
            (7, "2.365", "3.499"),
            (8, "2.306", "3.355"),
            (9, "2.262", "3.250"),
            (10, "2.228", "3.169"),
            (12, "2.179", "3.055"),
            (15, "2.131", "2.947"),
            (19, "2.093", "2.861"),
            (20, "2.086", "2.845"),
            (30, "2.042", "2.750"),
            (40, "2.021", "2.704"),
            (60, "2.000", "2.660"),
            (120, "1.980", "2.617"),
        ];
        for (df, low, high) in table {
            assert_eq!(round_half_up(quantile(0.975, df.into()), 3), low, "{df}");
            assert_eq!(round_half_up(reach(df), 3), high, "{df}");
            assert!((two_sided(quantile(0.995, df.into()), df.into()) - 0.01).abs() < 1e-12);
        }
        assert!((quantile(REACH, 1e9) - NORMAL_REACH).abs() < 1e-6, "the normal distribution");
        assert_eq!(reach(0), f64::INFINITY);
    }

    /// For one and for two degrees of freedom the distribution has closed forms.
    #[test]
    fn tails_are_those_of_the_closed_forms() {
        for t in [0.0, 1e-8, 0.3, 1.0, 2.5, 40.0, 1e6] {
            let one = 1.0 - 2.0 / std::f64::consts::PI * f64::atan(t);
            let two = 1.0 - t / (2.0 + t * t).sqrt();
            assert!((two_sided(t, 1.0) - one).abs() < 1e-12, "{t}");
            assert!((two_sided(-t, 2.0) - two).abs() < 1e-12, "{t}");
        }
        assert_eq!(two_sided(f64::INFINITY, 3.0), 0.0);
    }

    /// Yuen's and Welch's examples are everywhere; this one is from the t distribution itself: equal groups.
    #[test]
    fn welch_is_the_usual_test_where_both_sides_are_alike() {
        let (a, b) = ([1.0, 2.0, 3.0, 4.0, 5.0], [3.0, 4.0, 5.0, 6.0, 7.0]);
        let p = welch(Group::of(&a).unwrap(), Group::of(&b).unwrap()).unwrap();
        // t = 2 with eight degrees of freedom.
        assert_eq!(round_half_up(p, 4), "0.0805");
        let steady = Group::of(&[2.0, 2.0]).unwrap();
        assert_eq!((welch(steady, steady), welch(steady, Group::of(&[3.0, 3.0]).unwrap())), (Some(1.0), Some(0.0)));
        assert_eq!(welch(steady, Group::of(&[3.0]).unwrap()), None);
    }

    #[test]
    fn deviations_are_about_the_median() {
        assert_eq!(mad(&[1.0, 1.0, 2.0, 2.0, 4.0, 6.0, 9.0]), Some(1.0));
        assert_eq!(mad(&[]), None);
        assert_eq!(Group::of(&[1.0]).and_then(|group| group.variance()), None);
    }
}
