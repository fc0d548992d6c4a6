//! `swe-agent-traj`: a run of SWE-agent (`*.traj`). An action is a line of its shell, whose first word may be one of the
//! commands that SWE-agent brings.

use serde_json::{Value, json};

use super::document::{Keys, each_step};
use super::{Reading, TranscriptFormat, counts, dollars, text};
use crate::error::Result;
use crate::ingest::{Head, Input};

/// A run of SWE-agent.
pub const FORMAT: TranscriptFormat = TranscriptFormat {
    name: "swe-agent-traj",
    about: "SWE-agent: *.traj",
    told_by: "an object with trajectory, a list of steps with action and observation",
    sniff,
    parse,
};

const KEYS: Keys = Keys { steps: "trajectory", whole: "info" };

fn sniff(head: &Head<'_>) -> bool {
    head.has_key("trajectory.action") && head.has_key("trajectory.observation")
}

fn parse(input: &Input<'_>, reading: &mut Reading) -> Result<()> {
    each_step(input, reading, &KEYS, step, whole)
}

fn whole(info: &Value, reading: &mut Reading) {
    let Some(stats) = info.get("model_stats") else { return };
    reading.tokens = counts(stats, &["tokens_sent", "tokens_received"]);
    reading.cost = dollars(stats, "instance_cost");
}

fn step(step: &Value, reading: &mut Reading) {
    let Some(action) = text(step, "action") else { return reading.skip() };
    let action = action.trim();
    // It only thought.
    if action.is_empty() {
        return;
    }
    let (tool, args) = called(action);
    let result = text(step, "observation").map(|observation| reading.outcome(observation, None));
    reading.call(None, Some(tool), args, result);
}

/// The tool and its arguments. What is none of SWE-agent's commands, bash runs.
fn called(action: &str) -> (&str, Value) {
    let (line, body) = action.split_once('\n').unwrap_or((action, ""));
    let mut words = line.split_whitespace();
    let tool = words.next().unwrap_or_default();
    let rest: Vec<&str> = words.collect();
    let path = |at: usize| rest.get(at).map(|path| path.trim_matches(['"', '\''])).unwrap_or_default();
    match tool {
        "str_replace_editor" => (tool, json!({"command": path(0), "path": path(1), "input": action})),
        "open" => ("read_file", json!({"path": path(0), "input": line})),
        "create" => (tool, json!({"path": path(0)})),
        "edit" | "insert" => (tool, json!({"input": rest.join(" "), "text": body})),
        "search_dir" | "search_file" | "find_file" => ("search", json!({"command": tool, "input": rest.join(" ")})),
        "submit" | "goto" | "scroll_up" | "scroll_down" | "view_image" => (tool, json!({"input": rest.join(" ")})),
        _ => ("bash", json!({"command": action})),
    }
}
