//! goose. Source: the guide "Hooks" of `block/goose`.

use super::shapes::{Decision, Reply, reply};
use super::{Agent, Cap, Payload};
use crate::engine::hook::{Answer, EndOfTurn, Happened, LoopEvent};

/// goose.
pub const AGENT: Agent = Agent {
    name: "goose",
    about: "goose",
    keeps_going: "{\"decision\":\"block\",\"reason\":…}",
    ends: "",
    cap: Some(Cap { default: None, variable: Some("GOOSE_STOP_HOOK_BLOCK_CAP") }),
    is_certain: |payload| payload.text("event").is_some(),
    project: None,
    read,
    reply: answer,
};

fn read(payload: &Payload) -> Option<LoopEvent> {
    let name = payload.text("event")?;
    let happened = match name {
        "Stop" => {
            Happened::PostIteration(EndOfTurn { said: payload.owned("last_assistant_message"), ..EndOfTurn::default() })
        }
        "PostToolUse" => Happened::Activity(Box::new(payload.tool_call(Some(true))?)),
        "PostToolUseFailure" => Happened::Activity(Box::new(payload.tool_call(Some(false))?)),
        "SessionEnd" => Happened::PostLoop,
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
        (Happened::PostIteration(_), Answer::Refuse(reason)) => reply(&Decision { decision: "block", reason }),
        _ => None,
    }
}
