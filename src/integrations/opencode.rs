//! opencode. It has no hooks but plugins: ours hands on what happens, `{"type", "sessionID", "directory", …}`, and sends what
//! it is answered as another prompt. Source: `@opencode-ai/plugin`.

use serde::Serialize;

use super::shapes::{Reply, reply};
use super::{Agent, Payload};
use crate::engine::hook::{Answer, EndOfTurn, Happened, LoopEvent, ToolCall};

/// opencode.
pub const AGENT: Agent = Agent {
    name: "opencode",
    about: "opencode",
    keeps_going: "{\"prompt\":…}, which the plugin sends",
    ends: "",
    cap: None,
    is_certain: |payload| payload.text("type").is_some() && payload.text("sessionID").is_some(),
    project: None,
    read,
    reply: answer,
};

/// What the plugin sends.
#[derive(Serialize)]
struct Prompt<'a> {
    prompt: &'a str,
}

/// What the plugin adds to a tool's output, or to what is kept when the session is compacted.
#[derive(Serialize)]
struct Context<'a> {
    context: &'a str,
}

fn read(payload: &Payload) -> Option<LoopEvent> {
    let name = payload.text("type")?;
    let happened = match name {
        "session.idle" => Happened::PostIteration(EndOfTurn::default()),
        "tool.execute.after" => {
            let result = |key| payload.get("output").and_then(|output| output.get(key));
            Happened::Activity(Box::new(ToolCall {
                id: payload.owned("callID"),
                tool: payload.owned("tool")?,
                kind: None,
                args: payload.get("args").cloned().unwrap_or_default(),
                response: result("output").filter(|text| text.is_string()).cloned(),
                ok: result("metadata").and_then(|metadata| metadata.get("exit")?.as_i64()).map(|code| code == 0),
            }))
        }
        "session.created" => Happened::PreLoop,
        "session.compacting" => Happened::LoopDecision,
        _ => return None,
    };
    Some(LoopEvent {
        name: name.to_owned(),
        session: payload.owned("sessionID").unwrap_or_default(),
        folder: payload.path("directory"),
        happened,
    })
}

fn answer(event: &LoopEvent, answer: &Answer) -> Reply {
    match (&event.happened, answer) {
        (Happened::PostIteration(_), Answer::Refuse(facts)) => reply(&Prompt { prompt: facts }),
        (Happened::Activity(_) | Happened::LoopDecision, Answer::Context(text)) => reply(&Context { context: text }),
        _ => None,
    }
}
