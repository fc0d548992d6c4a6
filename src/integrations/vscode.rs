//! Visual Studio Code's own agent. Source: "Agent hooks" of its documentation. It executes what is installed for Claude Code
//! and for Copilot CLI too.

use serde::Serialize;

use super::shapes::{Reply, Specific, context, end, message, reply};
use super::{Agent, Payload};
use crate::engine::hook::{Answer, EndOfTurn, Happened, LoopEvent};

/// Visual Studio Code.
pub const AGENT: Agent = Agent {
    name: "vscode",
    about: "Visual Studio Code, its own agent",
    keeps_going: "{\"hookSpecificOutput\":{\"hookEventName\":\"Stop\",\"decision\":\"block\",\"reason\":…}}",
    ends: "{\"continue\":false,\"stopReason\":…}",
    cap: None,
    is_certain: |payload| payload.text("hookEventName").is_some() && payload.text("sessionId").is_some(),
    project: None,
    read,
    reply: answer,
};

/// Where `Stop` takes its decision.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StopDecision<'a> {
    hook_event_name: &'static str,
    decision: &'static str,
    reason: &'a str,
}

fn read(payload: &Payload) -> Option<LoopEvent> {
    let name = payload.one_of(&["hookEventName", "hook_event_name"])?;
    let happened = match name {
        "Stop" => Happened::PostIteration(EndOfTurn {
            transcript: payload.path("transcript_path"),
            was_refused: payload.flag("stop_hook_active"),
            ..EndOfTurn::default()
        }),
        "PostToolUse" => Happened::Activity(Box::new(payload.tool_call(None)?)),
        "SessionStart" => Happened::PreLoop,
        "PreCompact" => Happened::LoopDecision,
        "SessionEnd" => Happened::PostLoop,
        _ => return None,
    };
    Some(LoopEvent {
        name: name.to_owned(),
        session: payload.one_of(&["sessionId", "session_id"]).unwrap_or_default().to_owned(),
        folder: payload.path("cwd"),
        happened,
    })
}

fn answer(event: &LoopEvent, answer: &Answer) -> Reply {
    match (&event.happened, answer) {
        (Happened::PostIteration(_), Answer::Refuse(reason)) => {
            let decision = StopDecision { hook_event_name: "Stop", decision: "block", reason };
            reply(&Specific { hook_specific_output: decision })
        }
        (Happened::PostIteration(_), Answer::End(reason)) => end(reason),
        (Happened::PostIteration(_), Answer::Note(text)) => message(text),
        (Happened::PreLoop | Happened::Activity(_), Answer::Context(text)) => context(&event.name, text),
        (Happened::LoopDecision, Answer::Context(text)) => message(text),
        _ => None,
    }
}
