//! Metrics of the user's own for one iteration: what was given by hand, and what reports tell, as the config declares it.

use std::collections::BTreeMap;

use super::Offer;
use crate::ingest::merge::ReportedMetric;
use crate::model::config::{LoopConfig, MetricConfig};
use crate::model::metrics::CustomMetric;
use crate::model::record::Command;

/// A value as it was given: a number, or why it is none.
pub type Given = Result<f64, String>;

/// What `--metric NAME=VALUE` gives. A crash leaves no number behind, or one that is not finite; that is no result, and no
/// reason not to record the iteration.
pub fn given(value: &str) -> Given {
    let value = value.trim();
    let brief = || value.chars().take(40).collect::<String>();
    match value.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        Ok(_) => Err(format!("{} is not finite", brief())),
        Err(_) if value.is_empty() => Err("no value was given".to_owned()),
        Err(_) => Err(format!("{:?} is not a number", brief())),
    }
}

/// The metrics of an iteration, and what is odd about them. What was given by hand goes before what a report tells.
pub(super) fn own(
    offer: &Offer,
    reported: &BTreeMap<String, ReportedMetric>,
    config: &LoopConfig,
) -> (BTreeMap<String, CustomMetric>, Vec<String>) {
    let (mut metrics, mut warnings) = (BTreeMap::new(), Vec::new());
    let command = offer.command.as_ref().map(shown);
    let context = |declared: Option<&MetricConfig>| {
        offer.context.clone().or_else(|| declared.and_then(|declared| declared.context.clone()))
    };
    for (name, told) in reported {
        let declared = config.metrics.get(name);
        let way = Way { declared, context: context(declared), command: command.clone() };
        metrics.insert(name.clone(), of_report(told, way));
    }
    let mut by_name: BTreeMap<&String, Vec<&Given>> = BTreeMap::new();
    for (name, value) in &offer.metrics {
        by_name.entry(name).or_default().push(value);
    }
    for (name, values) in by_name {
        let declared = config.metrics.get(name);
        let way = Way { declared, context: context(declared), command: command.clone() };
        let metric = by_hand(&values, way);
        let (has, wanted) = (metric.measured().len(), declared.and_then(|declared| declared.repeats));
        if let Some(wanted) = wanted.filter(|wanted| usize::try_from(*wanted).is_ok_and(|wanted| has < wanted)) {
            warnings.push(format!("{name} has {has} of the {wanted} samples that metrics.{name}.repeats asks for"));
        }
        metrics.insert(name.clone(), metric);
    }
    (metrics, warnings)
}

/// The metrics of a record with those that reports told made anew, as they were made then.
pub(super) fn again(
    recorded: &BTreeMap<String, CustomMetric>,
    reported: &BTreeMap<String, ReportedMetric>,
    config: &LoopConfig,
) -> BTreeMap<String, CustomMetric> {
    let by_hand = recorded.iter().filter(|(_, metric)| metric.format.is_none());
    let mut metrics: BTreeMap<String, CustomMetric> =
        by_hand.map(|(name, metric)| (name.clone(), metric.clone())).collect();
    for (name, told) in reported {
        let declared = config.metrics.get(name);
        let was = recorded.get(name);
        let context = was.and_then(|metric| metric.context.clone());
        let command = was.and_then(|metric| metric.command.clone());
        metrics.entry(name.clone()).or_insert_with(|| of_report(told, Way { declared, context, command }));
    }
    metrics
}

/// How a metric was measured.
struct Way<'a> {
    declared: Option<&'a MetricConfig>,
    context: Option<String>,
    command: Option<String>,
}

fn by_hand(values: &[&Given], way: Way) -> CustomMetric {
    let (mut samples, mut reason) = (Vec::new(), None);
    for value in values {
        match (*value).clone().and_then(|value| within(value, way.declared)) {
            Ok(value) => samples.push(value),
            Err(why) => reason = Some(reason.unwrap_or(why)),
        }
    }
    let value = way.declared.map(|declared| declared.aggregate).unwrap_or_default().of(&samples);
    CustomMetric {
        reason: if value.is_none() { reason } else { None },
        samples: if samples.len() > 1 { samples } else { Vec::new() },
        unit: way.declared.and_then(|declared| declared.unit.clone()),
        direction: way.declared.and_then(|declared| declared.direction),
        value,
        context: way.context,
        command: way.command,
        format: None,
    }
}

fn of_report(told: &ReportedMetric, way: Way) -> CustomMetric {
    let figure = &told.figure;
    let value = match way.declared {
        Some(declared) if figure.samples.len() > 1 => declared.aggregate.of(&figure.samples).or(figure.value),
        _ => figure.value,
    };
    let value = value.ok_or_else(|| told.reason.clone()).and_then(|value| within(value, way.declared).map_err(Some));
    let (value, reason) = match value {
        Ok(value) => (Some(value), None),
        Err(reason) => (None, reason),
    };
    CustomMetric {
        samples: if value.is_some() { figure.samples.clone() } else { Vec::new() },
        value,
        reason,
        unit: way.declared.and_then(|declared| declared.unit.clone()).or_else(|| figure.unit.clone()),
        direction: way.declared.and_then(|declared| declared.direction).or(figure.direction),
        context: way.context,
        command: way.command,
        format: Some(told.format.clone()),
    }
}

/// The value, if it lies in the bounds that are declared.
fn within(value: f64, declared: Option<&MetricConfig>) -> Given {
    match declared.and_then(|declared| declared.bounds) {
        Some(bounds) if !bounds.hold(value) => Err(format!("{value} lies outside of its bounds")),
        _ => Ok(value),
    }
}

fn shown(command: &Command) -> String {
    command.argv.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::config::{Aggregate, Bounds};
    use crate::model::figures::MetricFigure;
    use crate::model::metrics::Direction;

    fn config(declared: MetricConfig) -> LoopConfig {
        let mut config = crate::config::defaults().unwrap();
        config.metrics.insert("m".to_owned(), declared);
        config
    }

    fn offer(values: &[&str]) -> Offer {
        let metrics = values.iter().map(|value| ("m".to_owned(), given(value))).collect();
        Offer { metrics, ..Offer::default() }
    }

    #[test]
    fn what_a_crash_leaves_behind_is_no_result() {
        assert_eq!(given(" 1.5 "), Ok(1.5));
        for (text, why) in [("", "no value was given"), ("NaN", "NaN is not finite"), ("1e400", "1e400 is not finite")]
        {
            assert_eq!(given(text), Err(why.to_owned()));
        }
        assert_eq!(given("1,5"), Err("\"1,5\" is not a number".to_owned()));
        let metric = &own(&offer(&["inf"]), &BTreeMap::new(), &config(MetricConfig::default())).0["m"];
        assert_eq!((metric.value, metric.reason.as_deref()), (None, Some("inf is not finite")));
    }

    #[test]
    fn samples_of_one_iteration_become_one_value_and_are_kept() {
        let declared = MetricConfig { repeats: Some(4), ..MetricConfig::default() };
        let (metrics, warnings) = own(&offer(&["3", "1", "nan", "10"]), &BTreeMap::new(), &config(declared.clone()));
        assert_eq!((metrics["m"].value, metrics["m"].samples.as_slice()), (Some(3.0), &[3.0, 1.0, 10.0][..]));
        assert_eq!(warnings, ["m has 3 of the 4 samples that metrics.m.repeats asks for"]);
        let lowest = config(MetricConfig { aggregate: Aggregate::Min, ..declared });
        assert_eq!(own(&offer(&["3", "1"]), &BTreeMap::new(), &lowest).0["m"].value, Some(1.0));
        assert!(own(&offer(&["3"]), &BTreeMap::new(), &lowest).0["m"].samples.is_empty());
    }

    #[test]
    fn values_outside_of_the_bounds_are_no_measurement() {
        let bounds = Some(Bounds { min: Some(0.1), max: None });
        let config = config(MetricConfig { bounds, ..MetricConfig::default() });
        let metric = &own(&offer(&["0"]), &BTreeMap::new(), &config).0["m"];
        assert_eq!((metric.value, metric.reason.as_deref()), (None, Some("0 lies outside of its bounds")));
        assert_eq!(own(&offer(&["0", "3"]), &BTreeMap::new(), &config).0["m"].value, Some(3.0));
    }

    #[test]
    fn a_report_carries_unit_and_direction_and_the_config_goes_before() {
        let figure = MetricFigure {
            value: Some(2.0),
            samples: vec![1.0, 2.0, 9.0],
            unit: Some("s".to_owned()),
            direction: Some(Direction::Lower),
        };
        let told = ReportedMetric { figure, format: "go-bench-text".to_owned(), reason: None };
        let reported = BTreeMap::from([("m".to_owned(), told)]);
        let none = crate::config::defaults().unwrap();
        let (metrics, _) = own(&Offer::default(), &reported, &none);
        assert_eq!((metrics["m"].unit.as_deref(), metrics["m"].direction), (Some("s"), Some(Direction::Lower)));
        assert_eq!(again(&metrics, &reported, &none), metrics);
        let aggregate = Aggregate::Mean;
        let declared = MetricConfig {
            unit: Some("ms".to_owned()),
            aggregate,
            direction: Some(Direction::Higher),
            ..MetricConfig::default()
        };
        let config = config(declared);
        let metric = &own(&Offer::default(), &reported, &config).0["m"];
        assert_eq!(
            (metric.value, metric.unit.as_deref(), metric.direction),
            (Some(4.0), Some("ms"), Some(Direction::Higher))
        );
        let (by_hand, _) = own(&offer(&["7"]), &reported, &config);
        assert_eq!((by_hand["m"].value, by_hand["m"].format.as_deref()), (Some(7.0), None));
        assert_eq!(again(&by_hand, &reported, &config), by_hand);
    }
}
