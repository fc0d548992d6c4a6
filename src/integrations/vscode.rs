//! Visual Studio Code's own agent. Source: "Agent hooks" of its documentation. It executes what is installed for Claude Code
//! and for Copilot CLI too.

use serde::Serialize;

use super::copilot::SHARED;
use super::install::{Install, Marks};
use super::shapes::{Reply, Specific, alike, reply};
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

/// What goes into its config.
pub const INSTALL: Install = Install {
    agent: AGENT.name,
    title: "VS Code",
    project: ".github",
    user: &[("HOME", ".copilot")],
    files: SHARED,
    off_switches: &[],
    marks: Marks { project: &[".vscode"], home: &[".vscode", ".vscode-server"], programs: &["code"] },
    advice: "Copilot CLI runs the hooks of this file, too",
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
    Some(payload.event(name, &["sessionId", "session_id"], "cwd", happened))
}

fn answer(event: &LoopEvent, answer: &Answer) -> Reply {
    match (&event.happened, answer) {
        (Happened::PostIteration(_), Answer::Refuse(reason)) => {
            let decision = StopDecision { hook_event_name: "Stop", decision: "block", reason };
            reply(&Specific { hook_specific_output: decision })
        }
        _ => alike(event, answer),
    }
}
