//! Cursor. Source: secondary descriptions of its `hooks.json` (its own documentation is not at hand): only what they agree on.

use serde::Serialize;
use serde_json::{Value, json};

use super::install::{Below, Content, Event, File, Hooks, Install, Marks, Shape};
use super::shapes::{Reply, reply};
use super::{Agent, Cap, Payload};
use crate::engine::hook::{Answer, EndOfTurn, Happened, LoopEvent, ToolCall};
use crate::model::calls::CallKind;

/// Cursor.
pub const AGENT: Agent = Agent {
    name: "cursor",
    about: "Cursor",
    keeps_going: "{\"followup_message\":…}",
    ends: "",
    // `loop_limit` in its hooks.json.
    cap: Some(Cap { default: Some(5), variable: None }),
    is_certain: |payload| payload.text("cursor_version").is_some() || payload.text("conversation_id").is_some(),
    project: None,
    read,
    reply: answer,
};

/// What goes into its config.
pub const INSTALL: Install = Install {
    agent: AGENT.name,
    title: "Cursor",
    project: ".cursor",
    user: &[("HOME", ".cursor")],
    files: &[File {
        path: "hooks.json",
        content: Content::Hooks(Hooks {
            command: "highwater hook run --agent cursor",
            shape: Shape::Bare,
            below: Below::Hooks,
            is_versioned: true,
            events: &[Event::turn("stop"), Event::quick("afterShellExecution"), Event::quick("afterFileEdit")],
        }),
    }],
    off_switches: &[],
    marks: Marks { project: &[".cursor", ".cursorrules"], home: &[".cursor"], programs: &["cursor", "cursor-agent"] },
    advice: "Cursor reads the file when it starts",
};

/// What the turn goes on with.
#[derive(Serialize)]
struct FollowUp<'a> {
    followup_message: &'a str,
}

/// No opinion: it wants an object all the same.
#[derive(Serialize)]
struct Empty {}

fn read(payload: &Payload) -> Option<LoopEvent> {
    let name = payload.text("hook_event_name")?;
    let happened = match name {
        "stop" => Happened::PostIteration(EndOfTurn {
            turn: payload.owned("generation_id"),
            refusals: payload.count("loop_count"),
            is_unfinished: payload.text("status") != Some("completed"),
            ..EndOfTurn::default()
        }),
        "afterFileEdit" => Happened::Activity(Box::new(ToolCall {
            tool: "edit".to_owned(),
            kind: Some(CallKind::Edit),
            args: json!({"file_path": payload.text("file_path"), "edits": payload.get("edits")}),
            ..ToolCall::default()
        })),
        "afterShellExecution" => Happened::Activity(Box::new(ToolCall {
            tool: "shell".to_owned(),
            kind: Some(CallKind::Run),
            args: json!({"command": payload.text("command")}),
            response: payload.get("output").cloned(),
            ..ToolCall::default()
        })),
        _ => return None,
    };
    let root = payload.get("workspace_roots").and_then(Value::as_array).and_then(|roots| roots.first()?.as_str());
    Some(LoopEvent {
        name: name.to_owned(),
        session: payload.owned("conversation_id").unwrap_or_default(),
        folder: root.map(Into::into),
        happened,
    })
}

fn answer(event: &LoopEvent, answer: &Answer) -> Reply {
    match (&event.happened, answer) {
        (Happened::PostIteration(_), Answer::Refuse(facts)) => reply(&FollowUp { followup_message: facts }),
        (Happened::PostIteration(_), Answer::End(_)) => reply(&Empty {}),
        _ => None,
    }
}
