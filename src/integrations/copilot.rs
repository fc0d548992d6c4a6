//! Copilot CLI and the Copilot cloud agent. Source: "GitHub Copilot hooks reference", and what version 1.0.102 does. Event keys
//! in PascalCase, which are what is installed, give payloads in snake case; keys in camelCase give camelCase ones, without the
//! event's name.

use serde_json::Value;

use super::install::{Below, Content, Event, File, Hooks, Install, Marks, Shape};
use super::shapes::{Decision, Reply, bare_context, reply};
use super::{Agent, Cap, Payload};
use crate::engine::hook::{Answer, EndOfTurn, Happened, LoopEvent, ToolCall};

/// Copilot CLI and cloud agent.
pub const AGENT: Agent = Agent {
    name: "copilot",
    about: "Copilot CLI and the Copilot cloud agent",
    keeps_going: "{\"decision\":\"block\",\"reason\":…}",
    ends: "",
    cap: Some(Cap { default: Some(8), variable: None }),
    is_certain: |payload| {
        let is_camel = payload.text("sessionId").is_some() && payload.get("timestamp").is_some_and(Value::is_number);
        let is_its_key = ["stop_reason", "tool_result", "initial_prompt"].iter().any(|key| payload.get(key).is_some());
        is_camel || (payload.text("hook_event_name").is_some() && is_its_key)
    },
    project: Some("COPILOT_PROJECT_DIR"),
    read,
    reply: answer,
};

/// It and VS Code load every file of this folder, whoever it was written for: they share one, so that neither runs two.
pub(super) const SHARED: &[File] = &[File {
    path: "hooks/highwater.json",
    content: Content::Hooks(Hooks {
        command: "highwater hook run --agent copilot",
        shape: Shape::Flat,
        below: Below::Hooks,
        is_versioned: true,
        events: &[
            Event::turn("Stop"),
            Event::quick("PostToolUse"),
            Event::quick("PreCompact"),
            Event::quick("SessionStart"),
        ],
    }),
}];

/// What goes into its config.
pub const INSTALL: Install = Install {
    agent: AGENT.name,
    title: "Copilot CLI and cloud agent",
    project: ".github",
    user: &[("COPILOT_HOME", ""), ("HOME", ".copilot")],
    files: SHARED,
    off_switches: &[],
    marks: Marks {
        project: &[".github/hooks", ".github/copilot-instructions.md"],
        home: &[".copilot"],
        programs: &["copilot"],
    },
    advice: "Copilot CLI runs a project's hooks in a trusted folder only; VS Code runs these, too",
};

fn read(payload: &Payload) -> Option<LoopEvent> {
    let name = payload.text("hook_event_name").or_else(|| event_of_camel_case(payload))?;
    let happened = match name {
        "Stop" | "agentStop" => {
            let reason = payload.one_of(&["stop_reason", "stopReason"]);
            let transcript = payload.path("transcript_path").or_else(|| payload.path("transcriptPath"));
            let is_unfinished = reason.is_some_and(|reason| reason != "end_turn");
            let was_refused = payload.flag("stop_hook_active");
            Happened::PostIteration(EndOfTurn { transcript, was_refused, is_unfinished, ..EndOfTurn::default() })
        }
        "PostToolUse" | "postToolUse" => Happened::Activity(Box::new(call(payload)?)),
        "SessionStart" | "sessionStart" => Happened::PreLoop,
        "SessionEnd" | "sessionEnd" => Happened::PostLoop,
        // What a hook prints at its other events is not read.
        _ => return None,
    };
    Some(payload.event(name, &["session_id", "sessionId"], "cwd", happened))
}

fn event_of_camel_case(payload: &Payload) -> Option<&'static str> {
    if payload.get("stopReason").is_some() {
        Some("agentStop")
    } else if payload.get("toolResult").is_some() {
        Some("postToolUse")
    } else if payload.get("source").is_some() {
        Some("sessionStart")
    } else if payload.get("reason").is_some() {
        Some("sessionEnd")
    } else {
        None
    }
}

fn call(payload: &Payload) -> Option<ToolCall> {
    let result = payload.get("tool_result").or_else(|| payload.get("toolResult"));
    let field = |keys: [&str; 2]| keys.iter().find_map(|key| result?.get(*key));
    let args = payload.get("tool_input").or_else(|| payload.get("toolArgs")).cloned().unwrap_or_default();
    // In camelCase the arguments may be JSON in a text.
    let args = match args.as_str().and_then(|text| serde_json::from_str(text).ok()) {
        Some(inner) => inner,
        None => args,
    };
    Some(ToolCall {
        id: None,
        tool: payload.one_of(&["tool_name", "toolName"])?.to_owned(),
        kind: None,
        args,
        response: field(["text_result_for_llm", "textResultForLlm"]).cloned(),
        ok: field(["result_type", "resultType"]).and_then(Value::as_str).map(|kind| kind == "success"),
    })
}

fn answer(event: &LoopEvent, answer: &Answer) -> Reply {
    match (&event.happened, answer) {
        (Happened::PostIteration(_), Answer::Refuse(reason)) => reply(&Decision { decision: "block", reason }),
        // `decision` after a tool would replace the tool's result.
        (Happened::PreLoop | Happened::Activity(_), Answer::Context(text)) => bare_context(text),
        _ => None,
    }
}
