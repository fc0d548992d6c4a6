//! Gemini CLI. Source: `packages/core/src/hooks` of `google-gemini/gemini-cli`.

use super::install::{Below, Content, Event, File, Hooks, Install, Marks, Shape};
use super::shapes::{Decision, Reply, alike, reply};
use super::{Agent, Payload};
use crate::engine::hook::{Answer, EndOfTurn, Happened, LoopEvent};

/// Gemini CLI.
pub const AGENT: Agent = Agent {
    name: "gemini",
    about: "Gemini CLI",
    keeps_going: "{\"decision\":\"deny\",\"reason\":…}",
    ends: "{\"continue\":false,\"stopReason\":…}",
    cap: None,
    is_certain: |payload| {
        let is_its_event = matches!(payload.text("hook_event_name"), Some("AfterAgent" | "AfterTool" | "BeforeAgent"));
        let is_its_key = payload.get("hook_event_name").is_some() && payload.get("prompt_response").is_some();
        let log = payload.path("transcript_path");
        let is_its_log = log.is_some_and(|path| path.components().any(|part| part.as_os_str() == ".gemini"));
        payload.is_iso_time("timestamp") && (is_its_event || is_its_key || is_its_log)
    },
    project: Some("GEMINI_PROJECT_DIR"),
    read,
    reply: answer,
};

/// What goes into its config. Its limits are in milliseconds, and a hook is trusted by its name and command. `PreCompress`
/// is not listened to: it is told before every request to the model, compression or not.
pub const INSTALL: Install = Install {
    agent: AGENT.name,
    title: "Gemini CLI",
    project: ".gemini",
    user: &[("GEMINI_CLI_HOME", ".gemini"), ("HOME", ".gemini")],
    files: &[File {
        path: "settings.json",
        content: Content::Hooks(Hooks {
            command: "highwater hook run --agent gemini",
            shape: Shape::Rule { milliseconds: true, is_named: true, matcher: None },
            below: Below::Hooks,
            is_versioned: false,
            events: &[Event::turn("AfterAgent"), Event::quick("AfterTool"), Event::quick("SessionStart")],
        }),
    }],
    off_switches: &[],
    marks: Marks { project: &[".gemini", "GEMINI.md"], home: &[".gemini"], programs: &["gemini"] },
    advice: "Gemini CLI runs a project's hooks in a trusted folder only, and warns of them once",
};

fn read(payload: &Payload) -> Option<LoopEvent> {
    let name = payload.text("hook_event_name")?;
    let happened = match name {
        "AfterAgent" => Happened::PostIteration(EndOfTurn {
            transcript: payload.path("transcript_path"),
            said: payload.owned("prompt_response"),
            was_refused: payload.flag("stop_hook_active"),
            ..EndOfTurn::default()
        }),
        "AfterTool" => {
            let mut call = payload.tool_call(None)?;
            if let Some(response) = payload.get("tool_response") {
                call.ok = Some(response.get("error").is_none_or(serde_json::Value::is_null));
                call.response = response.get("llmContent").or(Some(response)).cloned();
            }
            Happened::Activity(Box::new(call))
        }
        "SessionStart" => Happened::PreLoop,
        // Not `PreCompress`: it comes before every request, whether anything is compressed or not.
        "SessionEnd" => Happened::PostLoop,
        _ => return None,
    };
    Some(payload.event(name, &["session_id"], "cwd", happened))
}

fn answer(event: &LoopEvent, answer: &Answer) -> Reply {
    match (&event.happened, answer) {
        (Happened::PostIteration(_), Answer::Refuse(reason)) => reply(&Decision { decision: "deny", reason }),
        // After a tool call, `decision` would replace the tool's result; context is appended to it.
        _ => alike(event, answer),
    }
}
