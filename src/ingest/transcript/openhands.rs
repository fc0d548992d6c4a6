//! `openhands-events`: the events of an OpenHands conversation (`events/event-*.json`), one a line or one after the other: a
//! folder of them is read in the order of their names.

use serde_json::Value;

use super::{Reading, TranscriptFormat, each_line, is_in_first_lines, text, words};
use crate::error::Result;
use crate::ingest::{Head, Input};

/// Events of OpenHands.
pub const FORMAT: TranscriptFormat = TranscriptFormat {
    name: "openhands-events",
    about: "OpenHands: the folder of a conversation's event-*.json, or these one a line",
    told_by: "lines with kind (ActionEvent, ObservationEvent, MessageEvent, …) and source",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> bool {
    is_in_first_lines(head, |line| {
        text(line, "kind").is_some_and(|kind| kind.ends_with("Event")) && text(line, "source").is_some()
    })
}

fn parse(input: &Input<'_>, reading: &mut Reading) -> Result<()> {
    each_line(input, reading, |event, reading| match text(event, "kind") {
        Some("ActionEvent") => {
            let mut args = event.get("action").cloned().unwrap_or_default();
            // The action's type says what the tool's name says.
            if let Some(args) = args.as_object_mut() {
                args.remove("kind");
            }
            reading.call(text(event, "tool_call_id"), text(event, "tool_name"), args, None);
        }
        Some("ObservationEvent") => {
            let observation = event.get("observation").unwrap_or(&Value::Null);
            let has_failed = observation.get("is_error").and_then(Value::as_bool);
            let code = observation.get("exit_code").and_then(Value::as_i64).map(|code| code == 0);
            let returned = words(observation.get("content").unwrap_or(observation));
            let result = reading.outcome(&returned, code.or(has_failed.map(|failed| !failed)));
            reading.result(text(event, "tool_call_id"), result);
        }
        Some("AgentErrorEvent") => {
            let result = reading.outcome(text(event, "error").unwrap_or_default(), Some(false));
            reading.result(text(event, "tool_call_id"), result);
        }
        Some("MessageEvent") if text(event, "source") == Some("user") => reading.new_turn(),
        Some(_) => {}
        None => reading.skip(),
    })
}
