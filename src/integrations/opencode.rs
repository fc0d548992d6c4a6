//! opencode. It has no hooks but plugins: ours hands on what happens, `{"type", "sessionID", "directory", …}`, and sends what
//! it is answered as another prompt. Source: `@opencode-ai/plugin`.

use serde::Serialize;

use super::install::{Content, File, Install, Marks};
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

/// What goes into its config. It has no hooks in its config: a plugin hands the events on.
pub const INSTALL: Install = Install {
    agent: AGENT.name,
    title: "opencode",
    project: ".opencode",
    user: &[("OPENCODE_CONFIG_DIR", ""), ("XDG_CONFIG_HOME", "opencode"), ("HOME", ".config/opencode")],
    files: &[File {
        path: "plugins/highwater.ts",
        content: Content::Whole {
            text: include_str!("../../templates/opencode.ts"),
            mark: "highwater hook run --agent opencode",
        },
    }],
    off_switches: &[],
    marks: Marks {
        project: &[".opencode", "opencode.json", "opencode.jsonc"],
        home: &[".config/opencode"],
        programs: &["opencode"],
    },
    advice: "opencode loads plugins when it starts",
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
    Some(payload.event(name, &["sessionID"], "directory", happened))
}

fn answer(event: &LoopEvent, answer: &Answer) -> Reply {
    match (&event.happened, answer) {
        (Happened::PostIteration(_), Answer::Refuse(facts)) => reply(&Prompt { prompt: facts }),
        (Happened::Activity(_) | Happened::LoopDecision, Answer::Context(text)) => reply(&Context { context: text }),
        _ => None,
    }
}
