//! OpenHands. Source: `hooks/` of `openhands-sdk`, and what version 1.58.0 does. It takes no `block`, and `{"continue":
//! false}` keeps it running: neither may ever be printed.

use serde_json::Value;

use super::install::{Below, Content, Event, File, Hooks, Install, Marks, Shape};
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

/// What goes into its config. It refuses a file with any key that is no event.
pub const INSTALL: Install = Install {
    agent: AGENT.name,
    title: "OpenHands",
    project: ".openhands",
    user: &[("HOME", ".openhands")],
    files: &[File {
        path: "hooks.json",
        content: Content::Hooks(Hooks {
            command: "highwater hook run --agent openhands",
            shape: Shape::Rule { milliseconds: false, is_named: false, matcher: Some("*") },
            below: Below::Root,
            is_versioned: false,
            events: &[
                Event::turn("stop").or("Stop"),
                Event::quick("post_tool_use").or("PostToolUse"),
                Event::quick("session_start").or("SessionStart"),
            ],
        }),
    }],
    off_switches: &[],
    marks: Marks { project: &[".openhands"], home: &[".openhands"], programs: &["openhands"] },
    advice: "the SDK reads the file where a program passes hook_config=HookConfig.load(…); a project's file hides the user's",
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
    Some(payload.event(name, &["session_id"], "working_dir", happened))
}

fn answer(event: &LoopEvent, answer: &Answer) -> Reply {
    match (&event.happened, answer) {
        (Happened::PostIteration(_), Answer::Refuse(reason)) => reply(&Decision { decision: "deny", reason }),
        // After a tool call it would not reach the model.
        (Happened::PreLoop, Answer::Context(text)) => bare_context(text),
        _ => None,
    }
}
