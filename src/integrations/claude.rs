//! Claude Code. Source: the types of `@anthropic-ai/claude-agent-sdk`, and its hooks reference.

use serde_json::Value;

use super::install::{Below, Content, Event, File, Hooks, Install, Marks, Shape};
use super::shapes::{Decision, Reply, alike, reply};
use super::{Agent, Cap, Payload};
use crate::engine::hook::{Answer, EndOfTurn, Happened, LoopEvent};

/// Claude Code.
pub const AGENT: Agent = Agent {
    name: "claude",
    about: "Claude Code",
    keeps_going: "{\"decision\":\"block\",\"reason\":…}",
    ends: "{\"continue\":false,\"stopReason\":…}",
    cap: Some(Cap { default: Some(8), variable: Some("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP") }),
    // Most others took its shape over: nothing is its alone.
    is_certain: |_| false,
    project: Some("CLAUDE_PROJECT_DIR"),
    read,
    reply: answer,
};

/// The setting that turns all hooks off.
const DISABLED: &str = "disableAllHooks";

/// What goes into its config. A command that fails is told apart from one that works, so both are listened to.
pub const INSTALL: Install = Install {
    agent: AGENT.name,
    title: "Claude Code",
    project: ".claude",
    user: &[("CLAUDE_CONFIG_DIR", ""), ("HOME", ".claude")],
    files: &[File {
        path: "settings.json",
        content: Content::Hooks(Hooks {
            command: "highwater hook run --agent claude",
            shape: Shape::RULE,
            below: Below::Hooks,
            is_versioned: false,
            events: &[
                Event::turn("Stop"),
                Event::quick("PostToolUse"),
                Event::quick("PostToolUseFailure"),
                Event::quick("PreCompact"),
                Event::quick("SessionStart"),
            ],
        }),
    }],
    off_switches: &[("settings.json", DISABLED), ("settings.local.json", DISABLED)],
    marks: Marks { project: &[".claude", "CLAUDE.md"], home: &[".claude"], programs: &["claude"] },
    advice: "Copilot CLI and VS Code run the hooks of this file, too",
};

fn read(payload: &Payload) -> Option<LoopEvent> {
    let name = payload.text("hook_event_name")?;
    let happened = match name {
        "Stop" => Happened::PostIteration(EndOfTurn {
            turn: payload.owned("prompt_id"),
            transcript: payload.path("transcript_path"),
            said: payload.owned("last_assistant_message"),
            was_refused: payload.flag("stop_hook_active"),
            refusals: None,
            is_unfinished: payload.get("background_tasks").and_then(Value::as_array).is_some_and(|all| !all.is_empty()),
        }),
        "PostToolUse" => Happened::Activity(Box::new(payload.tool_call(Some(true))?)),
        // Also a command that ended with another code than 0.
        "PostToolUseFailure" => {
            let mut call = payload.tool_call(Some(false))?;
            call.response = payload.get("error").cloned();
            Happened::Activity(Box::new(call))
        }
        "SessionStart" => Happened::PreLoop,
        "PreCompact" => Happened::LoopDecision,
        "SessionEnd" => Happened::PostLoop,
        _ => return None,
    };
    let session = payload.text("session_id").unwrap_or_default();
    let session = match payload.text("agent_id") {
        Some(subagent) => format!("{session}/{subagent}"),
        None => session.to_owned(),
    };
    Some(LoopEvent { name: name.to_owned(), session, folder: payload.path("cwd"), happened })
}

fn answer(event: &LoopEvent, answer: &Answer) -> Reply {
    match (&event.happened, answer) {
        (Happened::PostIteration(_), Answer::Refuse(reason)) => reply(&Decision { decision: "block", reason }),
        _ => alike(event, answer),
    }
}
