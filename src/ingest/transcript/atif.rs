//! `atif`: the Agent Trajectory Interchange Format 1.0–1.8 (`trajectory.json`), which most benchmark harnesses write.

use serde_json::Value;

use super::document::{Keys, each_step};
use super::{Reading, TranscriptFormat, counts, dollars, list, text, words};
use crate::error::Result;
use crate::ingest::{Head, Input};

/// A trajectory.
pub const FORMAT: TranscriptFormat = TranscriptFormat {
    name: "atif",
    about: "Agent Trajectory Interchange Format 1.0-1.8: trajectory.json of Harbor and of what converts to it",
    told_by: "an object whose schema_version begins with ATIF-",
    sniff,
    parse,
};

const KEYS: Keys = Keys { steps: "steps", whole: "final_metrics" };

fn sniff(head: &Head<'_>) -> bool {
    let declared = || {
        head.text().split_once("\"schema_version\"").map(|(_, after)| after.trim_start_matches([' ', ':', '\n', '\t']))
    };
    head.has_key("schema_version") && declared().is_some_and(|after| after.starts_with("\"ATIF-"))
}

fn parse(input: &Input<'_>, reading: &mut Reading) -> Result<()> {
    each_step(input, reading, &KEYS, step, whole)
}

/// What is told of the whole counts before what its steps add up to.
fn whole(metrics: &Value, reading: &mut Reading) {
    reading.tokens = counts(metrics, &["total_prompt_tokens", "total_completion_tokens"]);
    reading.cost = dollars(metrics, "total_cost_usd").or(reading.cost);
}

fn step(step: &Value, reading: &mut Reading) {
    // It stands in the trajectory that this one goes on from, too.
    if step.get("is_copied_context").and_then(Value::as_bool) == Some(true) {
        return;
    }
    let (Some(number), Some(source)) = (step.get("step_id").and_then(Value::as_u64), text(step, "source")) else {
        return reading.skip();
    };
    if source == "user" {
        reading.new_turn();
    }
    if let Some(metrics) = step.get("metrics") {
        if let Some(tokens) = counts(metrics, &["prompt_tokens", "completion_tokens"]) {
            reading.spend(&number.to_string(), tokens);
        }
        if let Some(cost) = dollars(metrics, "cost_usd") {
            reading.cost = Some(reading.cost.unwrap_or_default() + cost);
        }
    }
    for call in list(step, "tool_calls") {
        let args = call.get("arguments").cloned().unwrap_or_default();
        reading.call(text(call, "tool_call_id"), text(call, "function_name"), args, None);
    }
    let results = step.get("observation").map(|observation| list(observation, "results"));
    for result in results.into_iter().flatten() {
        // Of what was done without a call, nothing was called.
        let Some(id) = text(result, "source_call_id") else { continue };
        let returned = words(result.get("content").unwrap_or(&Value::Null));
        let outcome = reading.outcome(&returned, None);
        reading.result(Some(id), outcome);
    }
}
