//! "Why we stopped": one paragraph for the report of a run that is stuck.

use super::last;
use crate::model::cases::Outcome;
use crate::model::ids::{Iteration, LoopId, escape};
use crate::model::steps::{Assessment, State, Suggestion};

/// Failing tests that are named.
const NAMES: usize = 5;

/// Characters of one name or command.
const NAME_LIMIT: usize = 120;

/// Lines and characters of the last command's output that are shown.
const OUTPUT_LINES: usize = 20;
const OUTPUT_LIMIT: usize = 2000;

/// The paragraph: the reason, the steps, what repeated, the last command and how it ended, up to five failing tests, the
/// best iteration and how to restore it, what is suggested. `None` while the run gets on. Text of others is escaped.
pub fn why_we_stopped(assessment: &Assessment, state: &State, best: Option<(&LoopId, Iteration)>) -> Option<String> {
    let stuck = assessment.stuck.as_ref()?;
    let mut facts = vec![format!(
        "The run is stuck at step {} ({}, steps {} to {}): {}.",
        assessment.step,
        stuck.reason.name(),
        stuck.from_step,
        stuck.to_step,
        escape(stuck.detail.as_bytes())
    )];
    facts.extend(last_command(state));
    facts.extend(failing(state));
    if let Some((id, iteration)) = best {
        facts.push(format!(
            "The best iteration of loop {id} is {iteration}: `highwater restore --loop {id} {iteration}` brings it back."
        ));
    }
    facts.extend(assessment.suggestion.map(|suggestion| suggested(suggestion, assessment, state)));
    Some(facts.join(" "))
}

fn last_command(state: &State) -> Option<String> {
    let last = state.last_command.as_ref()?;
    let ended = last.exit_code.map_or("did not end".to_owned(), |code| format!("ended with exit code {code}"));
    Some(format!("The last command, `{}`, {ended}.", short(&last.command)))
}

fn failing(state: &State) -> Option<String> {
    let broken = |(id, outcome): (&String, &Outcome)| outcome.is_bad().then(|| short(id));
    let names: Vec<String> = state.tests.as_ref()?.iter().filter_map(broken).collect();
    let named = names.get(..NAMES.min(names.len()))?.join(", ");
    match names.len().saturating_sub(NAMES) {
        _ if names.is_empty() => None,
        0 => Some(format!("Failing: {named}.")),
        more => Some(format!("Failing: {named} and {more} more.")),
    }
}

fn suggested(suggestion: Suggestion, assessment: &Assessment, state: &State) -> String {
    match suggestion {
        Suggestion::EscalateToHuman => {
            let obstacle = assessment.last_snapshots.last().and_then(|now| now.obstacle);
            let why = obstacle.map(|obstacle| format!(" ({})", obstacle.about())).unwrap_or_default();
            format!("Suggestion: ask a person{why}.")
        }
        Suggestion::SwitchProfile => {
            let to = assessment.profile.as_deref().map(short).unwrap_or_default();
            let from = state.profile.as_deref().map(|from| format!(" from {}", short(from))).unwrap_or_default();
            format!("Suggestion: switch{from} to the profile {to}.")
        }
        Suggestion::WidenScope => "Suggestion: allow wider edits.".to_owned(),
        Suggestion::AbortWithExplanation => "Suggestion: end the run with this explanation.".to_owned(),
    }
}

/// On one line, and not longer than a line.
fn short(text: &str) -> String {
    let text = escape(text.as_bytes());
    if text.chars().count() <= NAME_LIMIT {
        return text;
    }
    text.chars().take(NAME_LIMIT - 1).chain(['…']).collect()
}

/// The end of what the last command printed.
pub(super) fn last_output(state: &State) -> Option<String> {
    let output = state.last_command.as_ref()?.output.as_deref()?;
    let lines: Vec<&str> = output.trim_end().lines().collect();
    let text = last(&lines, OUTPUT_LINES).join("\n");
    let surplus = text.chars().count().saturating_sub(OUTPUT_LIMIT);
    Some(text.chars().skip(surplus).collect::<String>()).filter(|text| !text.is_empty())
}
