//! Codex CLI. Source: `codex-rs/hooks` of `openai/codex`: its schemas refuse keys that they do not know.

use super::install::{Below, Content, Event, File, Hooks, Install, Marks, Shape};
use super::shapes::{Decision, Reply, alike, reply};
use super::{Agent, Payload};
use crate::engine::hook::{Answer, EndOfTurn, Happened, LoopEvent};

/// Codex CLI.
pub const AGENT: Agent = Agent {
    name: "codex",
    about: "Codex CLI",
    keeps_going: "{\"decision\":\"block\",\"reason\":…}",
    ends: "{\"continue\":false,\"stopReason\":…}",
    cap: None,
    is_certain: |payload| {
        let is_hook = ["hook_event_name", "turn_id", "model"].iter().all(|key| payload.text(key).is_some());
        // The start and the end of a session are of no turn.
        let log = payload.path("transcript_path").and_then(|path| path.file_name()?.to_str().map(str::to_owned));
        let is_its_log = log.is_some_and(|name| name.starts_with("rollout-"));
        is_hook || is_its_log || payload.text("type") == Some(NOTIFY)
    },
    project: None,
    read,
    reply: answer,
};

/// What goes into its config.
pub const INSTALL: Install = Install {
    agent: AGENT.name,
    title: "Codex CLI",
    project: ".codex",
    user: &[("CODEX_HOME", ""), ("HOME", ".codex")],
    files: &[File {
        path: "hooks.json",
        content: Content::Hooks(Hooks {
            command: "highwater hook run --agent codex",
            shape: Shape::RULE,
            below: Below::Hooks,
            is_versioned: false,
            events: &[
                Event::turn("Stop"),
                Event::quick("PostToolUse"),
                Event::quick("PreCompact"),
                Event::quick("SessionStart"),
            ],
        }),
    }],
    off_switches: &[],
    marks: Marks { project: &[".codex"], home: &[".codex"], programs: &["codex"] },
    advice: "Codex runs them once they are approved with /hooks, and in a project only if that is trusted",
};

/// The one event of the older `notify` program: the payload is its last argument, and nobody reads what it prints.
const NOTIFY: &str = "agent-turn-complete";

fn read(payload: &Payload) -> Option<LoopEvent> {
    if payload.text("type") == Some(NOTIFY) {
        return Some(LoopEvent {
            name: NOTIFY.to_owned(),
            session: payload.owned("thread-id").unwrap_or_default(),
            folder: payload.path("cwd"),
            happened: Happened::PostIteration(EndOfTurn {
                turn: payload.owned("turn-id"),
                said: payload.owned("last-assistant-message"),
                ..EndOfTurn::default()
            }),
        });
    }
    let name = payload.text("hook_event_name")?;
    let happened = match name {
        "Stop" => Happened::PostIteration(EndOfTurn {
            turn: payload.owned("turn_id"),
            transcript: payload.path("transcript_path"),
            said: payload.owned("last_assistant_message"),
            was_refused: payload.flag("stop_hook_active"),
            ..EndOfTurn::default()
        }),
        // A command that failed comes as any other: what it printed is all there is.
        "PostToolUse" => Happened::Activity(Box::new(payload.tool_call(None)?)),
        "SessionStart" => Happened::PreLoop,
        "PreCompact" => Happened::LoopDecision,
        "SessionEnd" => Happened::PostLoop,
        _ => return None,
    };
    Some(payload.event(name, &["session_id"], "cwd", happened))
}

fn answer(event: &LoopEvent, answer: &Answer) -> Reply {
    if event.name == NOTIFY {
        return None;
    }
    match (&event.happened, answer) {
        (Happened::PostIteration(_), Answer::Refuse(reason)) => reply(&Decision { decision: "block", reason }),
        _ => alike(event, answer),
    }
}
