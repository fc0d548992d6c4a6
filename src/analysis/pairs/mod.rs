//! A pair of stories for every rule, every detector and each of their thresholds: one that trips it, and one that just does
//! not. Where there is a threshold, moving it by a notch makes the second trip as well: it is that key that decides.

mod stories;
mod table;

use super::detect::DETECTORS;
use super::testing::config;
use super::{RULES, monitor, steps};
use crate::model::config::LoopConfig;
use table::PAIRS;

/// Whether the story tells of the rule under this config: the one that trips it, or the one that just does not.
type Told = fn(&LoopConfig, bool) -> bool;

/// A line of the table.
type Pair = (&'static str, &'static str, Told, fn(&mut LoopConfig));

/// Where there is no notch.
fn none(_: &mut LoopConfig) {}

#[test]
fn each_rule_and_threshold_has_a_story_on_either_side() {
    let mut faults = Vec::new();
    for (rule, key, told, notch) in PAIRS {
        let mut moved = config();
        notch(&mut moved);
        let (trips, silent) = (told(&config(), true), told(&config(), false));
        let decides = moved == config() || told(&moved, false);
        if !trips || silent || !decides {
            faults.push(format!("{rule} {key}: trips {trips}, silent {}, the key decides {decides}", !silent));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn no_rule_and_no_threshold_is_without_a_pair() {
    let rules = RULES.iter().map(|rule| (rule.name, rule.thresholds));
    let detectors = DETECTORS.iter().map(|detector| (detector.name, detector.thresholds));
    let calls = monitor::DETECTORS.iter().map(|detector| (detector.issue_type.name(), detector.thresholds));
    let steps = steps::RULES.iter().map(|rule| (rule.reason.name(), rule.thresholds));
    let all: Vec<(&str, &[&str])> = rules.chain(detectors).chain(calls).chain(steps).collect();
    let mut missing = Vec::new();
    for (rule, thresholds) in &all {
        let has = |key: &str| PAIRS.iter().any(|(name, of, ..)| name == rule && *of == key);
        missing.extend(thresholds.iter().filter(|key| !has(key)).map(|key| format!("{rule} {key}")));
        if thresholds.is_empty() && !has("") {
            missing.push((*rule).to_owned());
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
    for (rule, key, ..) in PAIRS {
        let known =
            |(name, keys): &(&str, &[&str])| name == rule && (keys.contains(key) || key.is_empty() && keys.is_empty());
        assert!(all.iter().any(known), "{rule} {key} is no rule's");
    }
}
