//! What the config declares of a metric of the user's own (ANALYSIS §12.5).

use std::fmt;

use serde::{Deserialize, Serialize};

use super::metrics::Direction;

/// A metric of the user's own. A metric that a report tells carries unit and direction; what is declared here goes before.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MetricConfig {
    /// Which way is better. Without it, and without a report that tells it, the metric is kept and not judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    /// For people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Smallest difference that matters, in the metric's unit or as `"2 %"` of its level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_effect: Option<Effect>,
    /// How often the metric is measured in one iteration; fewer samples are warned of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats: Option<u32>,
    /// What becomes of several samples of one iteration.
    #[serde(default, skip_serializing_if = "Aggregate::is_usual")]
    pub aggregate: Aggregate,
    /// Where it is measured (a machine, a load). Values of different contexts are not compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// Its standard deviation from measurement to measurement of the same code, in its unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sigma: Option<f64>,
    /// The same as a share of the level: 0.02 is 2 %. `sigma` goes before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cv: Option<f64>,
    /// Values outside of these are no measurement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounds: Option<Bounds>,
    /// It must not get worse, whatever else gets better.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub guard: bool,
}

/// The range of values that can be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Bounds {
    /// The lowest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// The highest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
}

impl Bounds {
    /// Whether a value can be one.
    pub fn hold(&self, value: f64) -> bool {
        self.min.is_none_or(|min| value >= min) && self.max.is_none_or(|max| value <= max)
    }
}

/// What several samples become.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Aggregate {
    /// The one in the middle, or the mean of the two.
    #[default]
    Median,
    /// The arithmetic mean.
    Mean,
    /// The lowest.
    Min,
    /// The highest.
    Max,
}

impl Aggregate {
    fn is_usual(&self) -> bool {
        *self == Aggregate::Median
    }

    /// One value of several; `None` of none.
    pub fn of(self, samples: &[f64]) -> Option<f64> {
        match self {
            Aggregate::Median => median(samples),
            Aggregate::Mean => mean(samples),
            Aggregate::Min => samples.iter().copied().reduce(f64::min),
            Aggregate::Max => samples.iter().copied().reduce(f64::max),
        }
    }
}

/// The arithmetic mean; `None` of none.
pub fn mean(samples: &[f64]) -> Option<f64> {
    let count = f64::from(u32::try_from(samples.len()).ok().filter(|count| *count > 0)?);
    Some(samples.iter().map(|sample| sample / count).sum())
}

/// The value in the middle, or the mean of the two; `None` of none.
pub fn median(samples: &[f64]) -> Option<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let upper = *sorted.get(sorted.len() / 2)?;
    if sorted.len() % 2 == 1 {
        return Some(upper);
    }
    let lower = *sorted.get(sorted.len() / 2 - 1)?;
    Some(lower / 2.0 + upper / 2.0)
}

/// A difference that matters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Effect {
    /// In the metric's unit.
    Absolute(f64),
    /// Percent of the level.
    Percent(f64),
}

impl Effect {
    /// In the metric's unit, at a level.
    pub fn at(self, level: f64) -> f64 {
        match self {
            Effect::Absolute(size) => size,
            Effect::Percent(percent) => level.abs() * percent / 100.0,
        }
    }

    /// The number as it was written.
    pub fn size(self) -> f64 {
        match self {
            Effect::Absolute(size) | Effect::Percent(size) => size,
        }
    }
}

#[cfg(test)]
impl schemars::JsonSchema for Effect {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Effect".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "A number in the metric's unit, or percent of its level as text: \"2 %\".",
            "type": ["number", "string"],
            "minimum": 0,
            "pattern": "^[0-9.eE+-]+ *%$"
        })
    }
}

impl Serialize for Effect {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Effect::Absolute(size) => serializer.serialize_f64(*size),
            Effect::Percent(percent) => serializer.collect_str(&format_args!("{percent} %")),
        }
    }
}

impl<'de> Deserialize<'de> for Effect {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Effect, D::Error> {
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = Effect;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, or percent as \"2 %\"")
            }

            fn visit_u64<E: serde::de::Error>(self, size: u64) -> Result<Effect, E> {
                u32::try_from(size).map(|size| Effect::Absolute(size.into())).map_err(|_| E::custom("out of range"))
            }

            fn visit_i64<E: serde::de::Error>(self, size: i64) -> Result<Effect, E> {
                i32::try_from(size).map(|size| Effect::Absolute(size.into())).map_err(|_| E::custom("out of range"))
            }

            fn visit_f64<E>(self, size: f64) -> Result<Effect, E> {
                Ok(Effect::Absolute(size))
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Effect, E> {
                let percent = text.strip_suffix('%').and_then(|number| number.trim().parse().ok());
                let percent = percent.map(Effect::Percent);
                percent.ok_or_else(|| E::invalid_value(serde::de::Unexpected::Str(text), &self))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_effect_is_a_number_or_percent_of_the_level() {
        let read = |text: &str| serde_json::from_str::<Effect>(text);
        assert_eq!(read("0.5").unwrap(), Effect::Absolute(0.5));
        assert_eq!(read("2").unwrap(), Effect::Absolute(2.0));
        assert_eq!(read("\"2.5 %\"").unwrap(), Effect::Percent(2.5));
        assert_eq!(read("\"2%\"").unwrap().at(-50.0), 1.0);
        for bad in ["\"2\"", "\"%\"", "\"x%\"", "null", "true"] {
            assert!(read(bad).is_err(), "{bad}");
        }
        for effect in [Effect::Absolute(0.25), Effect::Percent(2.5)] {
            assert_eq!(read(&serde_json::to_string(&effect).unwrap()).unwrap(), effect);
        }
    }

    #[test]
    fn several_samples_become_one_value() {
        let of = |aggregate: Aggregate| aggregate.of(&[4.0, 1.0, 10.0, 3.0]);
        assert_eq!(of(Aggregate::Median), Some(3.5));
        assert_eq!(of(Aggregate::Mean), Some(4.5));
        assert_eq!((of(Aggregate::Min), of(Aggregate::Max)), (Some(1.0), Some(10.0)));
        assert_eq!((median(&[]), mean(&[])), (None, None));
        assert_eq!(median(&[f64::MAX, f64::MAX]), Some(f64::MAX), "no overflow");
    }

    #[test]
    fn bounds_hold_at_both_ends() {
        let bounds = Bounds { min: Some(0.0), max: Some(1.0) };
        assert!(bounds.hold(0.0) && bounds.hold(1.0) && !bounds.hold(-0.1) && !bounds.hold(1.1));
        assert!(Bounds::default().hold(f64::MAX));
    }
}
