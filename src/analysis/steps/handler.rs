//! The stuck handler: what could be done instead of going round once more. It suggests; it never acts.

use std::collections::BTreeSet;

use super::snapshot::tree_of;
use crate::model::config::Controller;
use crate::model::steps::{Snapshot, Stuck, StuckReason, Suggestion};

/// A suggestion and what belongs to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Advice {
    /// What to do.
    pub suggestion: Suggestion,
    /// The profile to go on with, for `switch_profile`.
    pub profile: Option<String>,
}

/// The first suggestion that fits and was not given in this run yet; when nothing is left, to end it and tell why.
pub fn suggest(history: &[Snapshot], stuck: &Stuck, config: &Controller, given: &BTreeSet<Suggestion>) -> Advice {
    let over: Vec<&Snapshot> = history.iter().filter(|one| one.step >= stuck.from_step).collect();
    let now = history.last();
    let is_blocked = now.is_some_and(|now| now.obstacle.is_some());
    let trouble = has_same_trouble(&over);
    let trees: BTreeSet<Option<String>> = over.iter().map(|one| tree_of(one)).collect();
    let is_tree_known = !trees.contains(&None);
    let next_profile = next_profile(now.and_then(|now| now.profile.as_deref()), &config.profiles);
    let is_alternating = stuck.reason == StuckReason::Alternating;
    let rows = [
        (is_blocked, Suggestion::EscalateToHuman),
        (stuck.reason == StuckReason::MaxSteps, Suggestion::AbortWithExplanation),
        (trouble && is_tree_known && trees.len() > 1 && config.allow_widen, Suggestion::WidenScope),
        (trouble && is_tree_known && trees.len() == 1 && next_profile.is_some(), Suggestion::SwitchProfile),
        (is_alternating && config.allow_widen, Suggestion::WidenScope),
        (is_alternating, Suggestion::EscalateToHuman),
    ];
    let fits = rows.into_iter().find(|(fits, suggestion)| *fits && !given.contains(suggestion));
    let suggestion = fits.map_or(Suggestion::AbortWithExplanation, |(_, suggestion)| suggestion);
    let profile = if suggestion == Suggestion::SwitchProfile { next_profile.map(str::to_owned) } else { None };
    Advice { suggestion, profile }
}

/// The tools say the same all along; where no step tells what they say, the tests do.
fn has_same_trouble(over: &[&Snapshot]) -> bool {
    let is_one = |part: fn(&Snapshot) -> Option<&String>| {
        let first = over.first().and_then(|one| part(one));
        first.is_some() && over.iter().all(|one| part(one) == first)
    };
    if over.iter().any(|one| one.diagnostics_hash.is_some()) {
        is_one(|one| one.diagnostics_hash.as_ref())
    } else {
        is_one(|one| one.test_signature.as_ref())
    }
}

/// The profile after the one in use; the first if that is not told or not known; none after the last.
fn next_profile<'a>(now: Option<&str>, profiles: &'a [String]) -> Option<&'a str> {
    let at = now.and_then(|now| profiles.iter().position(|profile| profile == now));
    profiles.get(at.map_or(0, |at| at + 1)).map(String::as_str)
}
