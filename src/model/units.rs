//! Numbers that are finite and in range by construction.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::Error;

/// Comparisons of thresholds are strict as written, with this tolerance in favour of *not* firing (ANALYSIS, principle 4).
pub const EPS: f64 = 1e-9;

macro_rules! bounded {
    ($(#[$doc:meta])* $name:ident, $max:literal, $digits:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
        #[cfg_attr(test, derive(schemars::JsonSchema))]
        #[serde(try_from = "f64", into = "f64")]
        #[cfg_attr(test, schemars(with = "f64", extend("minimum" = 0, "maximum" = $max)))]
        pub struct $name(f64);

        impl $name {
            /// The value, if it is finite and in range; `-0.0` becomes `0.0`. A hair over an end (by [`EPS`], from
            /// rounding in a mean) is the end.
            pub fn new(value: f64) -> Option<$name> {
                let max: f64 = $max;
                (value >= -EPS && value <= max + EPS).then(|| $name(value.clamp(0.0, max) + 0.0))
            }

            /// As a plain number.
            pub fn get(self) -> f64 {
                self.0
            }
        }

        impl TryFrom<f64> for $name {
            type Error = Error;

            fn try_from(value: f64) -> Result<$name, Error> {
                $name::new(value).ok_or_else(|| Error::bad_input(format!("{value} is not between 0 and {}", $max)))
            }
        }

        impl From<$name> for f64 {
            fn from(value: $name) -> f64 {
                value.0
            }
        }

        /// Rounded half up, for people.
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&round_half_up(self.0, $digits))
            }
        }
    };
}

bounded!(
    /// A percentage, 0–100, shown with two decimals.
    Percent, 100.0, 2
);
bounded!(
    /// A quality score, 0–1, shown with four decimals.
    Score, 1.0, 4
);

impl Percent {
    /// Nothing.
    pub const ZERO: Percent = Percent(0.0);

    /// The middle.
    pub const HALF: Percent = Percent(50.0);

    /// `100·part/whole`; `None` when `whole` is 0, because nothing of nothing is no percentage.
    #[expect(clippy::cast_precision_loss, reason = "counts of tests and lines stay far below 2^53")]
    pub fn of(part: u64, whole: u64) -> Option<Percent> {
        if whole == 0 { None } else { Percent::new(100.0 * part as f64 / whole as f64) }
    }
}

/// The value with `digits` decimals, halves rounded away from zero. A decimal half that floating point holds just below
/// (`0.78125` is exact, `1.005` is not) is taken as the half it was written as.
pub fn round_half_up(value: f64, digits: u32) -> String {
    let scale = 10f64.powi(i32::try_from(digits).unwrap_or(0));
    let scaled = value * scale;
    let rounded = (scaled.abs() + EPS + 0.5).floor().copysign(scaled);
    let shown = rounded / scale;
    let shown = if shown == 0.0 { 0.0 } else { shown };
    format!("{shown:.*}", usize::try_from(digits).unwrap_or(0))
}

/// A number as a report gave it: counts stay whole in JSON, measures are reals. Always finite.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(with = "f64"))]
pub enum Quantity {
    /// A count.
    Count(i64),
    /// A measure: a percentage, a ratio, a score.
    Real(f64),
}

impl Quantity {
    /// As a real.
    #[expect(clippy::cast_precision_loss, reason = "counts of tests and lines stay far below 2^53")]
    pub fn as_f64(self) -> f64 {
        match self {
            Quantity::Count(count) => count as f64,
            Quantity::Real(real) => real,
        }
    }
}

impl From<u64> for Quantity {
    fn from(count: u64) -> Quantity {
        Quantity::Count(i64::try_from(count).unwrap_or(i64::MAX))
    }
}

impl From<f64> for Quantity {
    fn from(real: f64) -> Quantity {
        Quantity::Real(real)
    }
}

impl Serialize for Quantity {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Quantity::Count(count) => serializer.serialize_i64(*count),
            Quantity::Real(real) => serializer.serialize_f64(*real),
        }
    }
}

impl<'de> Deserialize<'de> for Quantity {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Quantity, D::Error> {
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = Quantity;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a finite number")
            }

            fn visit_i64<E>(self, count: i64) -> Result<Quantity, E> {
                Ok(Quantity::Count(count))
            }

            fn visit_u64<E: serde::de::Error>(self, count: u64) -> Result<Quantity, E> {
                i64::try_from(count).map(Quantity::Count).map_err(|_| E::custom("count out of range"))
            }

            fn visit_f64<E: serde::de::Error>(self, real: f64) -> Result<Quantity, E> {
                if real.is_finite() { Ok(Quantity::Real(real)) } else { Err(E::custom("number is not finite")) }
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_hold_at_both_ends() {
        assert!(Percent::new(100.0).is_some() && Percent::new(0.0).is_some());
        for bad in [-0.001, 100.001, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(Percent::new(bad).is_none(), "{bad}");
        }
        assert!(Percent::new(-0.0).unwrap().get().is_sign_positive());
        assert_eq!(Percent::of(0, 0), None);
        assert_eq!(Percent::of(292, 450).unwrap().to_string(), "64.89");
    }

    #[test]
    fn rounding_is_half_up_on_the_shown_digits() {
        assert_eq!(round_half_up(0.78125, 4), "0.7813");
        assert_eq!(round_half_up(1.005, 2), "1.01");
        assert_eq!(round_half_up(-2.5, 0), "-3");
        assert_eq!(round_half_up(-0.0001, 2), "0.00");
        assert_eq!(round_half_up(100.0, 2), "100.00");
    }

    #[test]
    fn counts_stay_whole_through_json() {
        for quantity in [Quantity::Count(9), Quantity::Real(77.5), Quantity::Real(3.0)] {
            let text = serde_json::to_string(&quantity).unwrap();
            assert_eq!(serde_json::from_str::<Quantity>(&text).unwrap(), quantity);
        }
        assert_eq!(serde_json::to_string(&Quantity::Count(9)).unwrap(), "9");
    }
}
