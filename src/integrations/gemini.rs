//! Gemini CLI. Source: `packages/core/src/hooks` of `google-gemini/gemini-cli`.

use super::shapes::{Decision, Reply, context, end, message, reply};
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
    Some(LoopEvent {
        name: name.to_owned(),
        session: payload.owned("session_id").unwrap_or_default(),
        folder: payload.path("cwd"),
        happened,
    })
}

fn answer(event: &LoopEvent, answer: &Answer) -> Reply {
    match (&event.happened, answer) {
        (Happened::PostIteration(_), Answer::Refuse(reason)) => reply(&Decision { decision: "deny", reason }),
        (Happened::PostIteration(_), Answer::End(reason)) => end(reason),
        (Happened::PostIteration(_), Answer::Note(text)) => message(text),
        // `decision` would replace the tool's result; this is appended to it.
        (Happened::PreLoop | Happened::Activity(_), Answer::Context(text)) => context(&event.name, text),
        _ => None,
    }
}
