//! A metric of the user's own stands still while the code changes.

use std::collections::BTreeSet;

use super::{AlertRule, beside};
use crate::analysis::comparison::Comparison;
use crate::analysis::custom;
use crate::model::ids::ObjectId;
use crate::model::verdict::{Alert, Severity};

/// Trees with the very same value that are too many.
const TREES: usize = 4;

/// A measurement that has stopped measuring.
pub const RULE: AlertRule = AlertRule {
    name: "metric_unresponsive",
    about: "a metric of your own has the very same value for four different trees",
    meaning: "It varied before, so something is probably not measured any more: a cached result, a build that is not made \
              again, a value that is read from an old file. Nothing learnt from these iterations counts.",
    formula: "bit-identical for 4 iterations whose trees differ, after values that varied; told once",
    source: "beyond the seeds",
    severity: Severity::High,
    reliability: 0.50,
    thresholds: &[],
    check,
};

fn check(comparison: &Comparison) -> Vec<Alert> {
    let stuck = comparison.metrics.custom.iter().filter_map(|(name, metric)| {
        let value = metric.value?;
        let before: Vec<(ObjectId, f64)> = custom::comparable(comparison, name, metric)
            .filter_map(|(point, other)| Some((point.tree_key, other.value?)))
            .collect();
        let is_same = |(_, other): &&(ObjectId, f64)| other.to_bits() == value.to_bits();
        let run: BTreeSet<ObjectId> = before.iter().rev().take_while(is_same).map(|(tree, _)| *tree).collect();
        let length = before.iter().rev().take_while(is_same).count();
        let earlier = before.get(..before.len() - length)?;
        let varied =
            earlier.iter().any(|(_, other)| Some(other.to_bits()) != earlier.first().map(|(_, v)| v.to_bits()));
        // A run that goes on was told when it began to count.
        let is_fourth = run.len() == TREES - 1 && !run.contains(&comparison.tree_key);
        (varied && is_fourth).then_some((name, value))
    });
    let alert = |(name, value): (&String, f64)| {
        let message = format!("{name} is {value} for the {TREES}th tree in a row");
        let alert = beside(RULE.alert(comparison, message), value, value);
        Alert { subject: Some(name.clone()), ..alert }
    };
    stuck.map(alert).collect()
}

#[cfg(test)]
mod tests {
    use crate::analysis::testing::{Story, latency, rules, tests};

    fn fired(values: &[f64]) -> Vec<usize> {
        let mut story = Story::new();
        let mut at = Vec::new();
        for (index, value) in values.iter().enumerate() {
            if rules(&story.record(latency(tests(8, 0), *value))).contains(&"metric_unresponsive") {
                at.push(index);
            }
        }
        at
    }

    #[test]
    fn the_fourth_identical_value_is_told_once_if_the_metric_varied_before() {
        assert_eq!(fired(&[10.0, 11.0, 12.5, 12.5, 12.5]), [0_usize; 0]);
        assert_eq!(fired(&[10.0, 11.0, 12.5, 12.5, 12.5, 12.5, 12.5, 12.5]), [5]);
        assert_eq!(fired(&[12.5, 12.5, 12.5, 12.5, 12.5]), [0_usize; 0], "it never varied");
        assert_eq!(fired(&[10.0, 12.5, 12.5, 12.5, 12.5]), [0_usize; 0], "one change is no variation");
    }
}
