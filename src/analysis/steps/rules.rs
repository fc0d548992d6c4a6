//! The five ways in which a run is stuck, in the order in which they are asked.

use std::collections::BTreeSet;

use super::last;
use super::snapshot::tree_of;
use crate::model::config::Controller;
use crate::model::steps::{Snapshot, Stuck, StuckReason};

/// A rule that reads the last snapshots of a run.
pub struct StepRule {
    /// What it finds; its name is the key under `rules` in the config.
    pub reason: StuckReason,
    /// One line.
    pub about: &'static str,
    /// When it fires.
    pub formula: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// The config keys that hold its thresholds.
    pub thresholds: &'static [&'static str],
    /// The judgement over a run's snapshots in order; silent if there are too few.
    pub check: fn(&[Snapshot], &Controller) -> Option<Stuck>,
}

/// Every rule, the first that is asked first.
pub const RULES: &[StepRule] = &[
    StepRule {
        reason: StuckReason::MaxSteps,
        about: "the run took more steps than it may",
        formula: "step > controller.max_steps",
        source: "S004",
        thresholds: &["controller.max_steps"],
        check: max_steps,
    },
    StepRule {
        reason: StuckReason::RepeatedState,
        about: "the last states are all the same",
        formula: "the last controller.repeats fingerprints (node, tree, diagnostics, tests) are equal",
        source: "S004",
        thresholds: &["controller.repeats"],
        check: repeated_state,
    },
    StepRule {
        reason: StuckReason::Alternating,
        about: "states take turns and nothing else happens",
        formula: "the last 2p fingerprints repeat with period p = 2 to 6, and are not all equal",
        source: "S004; the periods: beyond the seeds",
        thresholds: &[],
        check: alternating,
    },
    StepRule {
        reason: StuckReason::RevisitedState,
        about: "one state keeps coming back",
        formula: "this fingerprint stands controller.repeats times or more among the last controller.window",
        source: "S004",
        thresholds: &["controller.repeats", "controller.window"],
        check: revisited_state,
    },
    StepRule {
        reason: StuckReason::NoImprovement,
        about: "the code changes and neither tests nor errors get better",
        formula: "over the last controller.patience snapshots the tree changed, and neither the fewest failing tests nor the \
                  fewest errors are below the fewest before; not asked while both are 0",
        source: "S004",
        thresholds: &["controller.patience"],
        check: no_improvement,
    },
];

/// Periods of alternation that are looked for.
const PERIODS: std::ops::RangeInclusive<usize> = 2..=6;

fn size(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// The last `count` snapshots; `None` if there are fewer.
fn window(history: &[Snapshot], count: usize) -> Option<&[Snapshot]> {
    history.get(history.len().checked_sub(count)?..)
}

fn stuck(reason: StuckReason, over: &[Snapshot], detail: String) -> Option<Stuck> {
    let (first, last) = (over.first()?, over.last()?);
    Some(Stuck { reason, detail, from_step: first.step, to_step: last.step })
}

fn max_steps(history: &[Snapshot], config: &Controller) -> Option<Stuck> {
    let now = history.last().filter(|now| now.step > config.max_steps)?;
    let detail = format!("step {} is above the limit of {}", now.step, config.max_steps);
    stuck(StuckReason::MaxSteps, last(history, 1), detail)
}

fn repeated_state(history: &[Snapshot], config: &Controller) -> Option<Stuck> {
    let over = window(history, size(config.repeats))?;
    let now = over.last()?;
    now.fingerprint?;
    if over.iter().any(|one| one.fingerprint != now.fingerprint) {
        return None;
    }
    let detail = format!("the last {} steps ended in one state: {}", over.len(), state(now));
    stuck(StuckReason::RepeatedState, over, detail)
}

fn alternating(history: &[Snapshot], _: &Controller) -> Option<Stuck> {
    let (period, over) = PERIODS.into_iter().find_map(|period| {
        let over = window(history, 2 * period)?;
        let mut rounds = over.iter().zip(over.iter().skip(period));
        let repeats = rounds.all(|(one, next)| one.fingerprint.is_some() && one.fingerprint == next.fingerprint);
        let first = over.first()?.fingerprint;
        (repeats && over.iter().any(|one| one.fingerprint != first)).then_some((period, over))
    })?;
    let nodes: Vec<&str> = over.iter().take(period).map(|one| one.node.as_str()).collect();
    let detail = format!("the last {} steps are {} states taking turns: {}", over.len(), period, nodes.join(", "));
    stuck(StuckReason::Alternating, over, detail)
}

fn revisited_state(history: &[Snapshot], config: &Controller) -> Option<Stuck> {
    let over = last(history, size(config.window));
    let now = over.last()?;
    now.fingerprint?;
    let same: Vec<&Snapshot> = over.iter().filter(|one| one.fingerprint == now.fingerprint).collect();
    if same.len() < size(config.repeats) {
        return None;
    }
    let steps: Vec<String> = same.iter().map(|one| one.step.to_string()).collect();
    let from_step = same.first()?.step;
    let detail = format!("steps {} ended in one state: {}", steps.join(", "), state(now));
    Some(Stuck { reason: StuckReason::RevisitedState, detail, from_step, to_step: now.step })
}

fn no_improvement(history: &[Snapshot], config: &Controller) -> Option<Stuck> {
    let patience = size(config.patience);
    let over = window(history, patience)?;
    let before = history.get(..history.len().checked_sub(patience)?)?;
    let now = over.last()?;
    if now.failing.unwrap_or(0) == 0 && now.errors.unwrap_or(0) == 0 {
        return None;
    }
    let trees: BTreeSet<String> = before.last().into_iter().chain(over).filter_map(tree_of).collect();
    if trees.len() < 2 {
        return None;
    }
    let failing = |part: &[Snapshot]| part.iter().filter_map(|one| one.failing).min();
    let errors = |part: &[Snapshot]| part.iter().filter_map(|one| one.errors).min();
    let mut facts = Vec::new();
    for (name, then, recently) in
        [("failing tests", failing(before), failing(over)), ("errors", errors(before), errors(over))]
    {
        // What is unknown on one side has neither got better nor worse.
        let (Some(then), Some(recently)) = (then, recently) else { continue };
        if recently < then {
            return None;
        }
        facts.push(format!("never fewer than {recently} {name} ({then} before)"));
    }
    if facts.is_empty() {
        return None;
    }
    let detail = format!("in the last {} steps the code changed, but there were {}", over.len(), facts.join(" and "));
    stuck(StuckReason::NoImprovement, over, detail)
}

/// A state in a few words.
fn state(now: &Snapshot) -> String {
    let count = |count: Option<u64>, what: &str| count.map(|count| format!(", {count} {what}")).unwrap_or_default();
    format!("node {}{}{}", now.node, count(now.failing, "failing"), count(now.errors, "errors"))
}
