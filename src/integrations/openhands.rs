//! OpenHands. Source: `hooks/` of `openhands-sdk`, and what version 1.58.0 does. It takes no `block`, and `{"continue": false}` keeps it running: neither may
//! ever be printed.

use serde_json::Value;

use super::shapes::{Decision, Reply, bare_context, reply};
use super::{Agent, Payload};
use crate::engine::hook::{Answer, EndOfTurn, Happened, LoopEvent};

/// OpenHands.
pub const AGENT: Agent = Agent {
    name: "openhands",
    about: "OpenHands, its SDK and CLI",
    keeps_going: "{\"decision\":\"deny\",\"reason\":…}",
    ends: "",
    cap: None,
    is_certain: |payload| payload.text("event_type").is_some(),
    project: Some("OPENHANDS_PROJECT_DIR"),
    read,
    reply: answer,
};

fn read(payload: &Payload) -> Option<LoopEvent> {
    let name = payload.text("event_type")?;
    // `PostToolUse` in the payload, `post_tool_use` as the key of its config.
    let happened = match name.replace('_', "").to_lowercase().as_str() {
        "stop" => Happened::PostIteration(EndOfTurn { said: payload.owned("message"), ..EndOfTurn::default() }),
        "posttooluse" => {
            let field = |key| payload.get("tool_response").and_then(|response| response.get(key));
            let failed = field("is_error").and_then(Value::as_bool);
            // A command that failed is no error of the tool that ran it.
            let code = field("exit_code").and_then(Value::as_i64).unwrap_or_default();
            Happened::Activity(Box::new(payload.tool_call(failed.map(|failed| !failed && code == 0))?))
        }
        "sessionstart" => Happened::PreLoop,
        "sessionend" => Happened::PostLoop,
        _ => return None,
    };
    Some(LoopEvent {
        name: name.to_owned(),
        session: payload.owned("session_id").unwrap_or_default(),
        folder: payload.path("working_dir"),
        happened,
    })
}

fn answer(event: &LoopEvent, answer: &Answer) -> Reply {
    match (&event.happened, answer) {
        (Happened::PostIteration(_), Answer::Refuse(reason)) => reply(&Decision { decision: "deny", reason }),
        // After a tool call it would not reach the model.
        (Happened::PreLoop, Answer::Context(text)) => bare_context(text),
        _ => None,
    }
}
