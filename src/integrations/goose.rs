//! goose. Source: the guide "Hooks" of `block/goose`.

use super::install::{Below, Content, Event, File, Hooks, Install, Marks, Shape};
use super::shapes::{Decision, Reply, reply};
use super::{Agent, Cap, Payload};
use crate::engine::hook::{Answer, EndOfTurn, Happened, LoopEvent};

/// goose.
pub const AGENT: Agent = Agent {
    name: "goose",
    about: "goose",
    keeps_going: "{\"decision\":\"block\",\"reason\":…}",
    ends: "",
    cap: Some(Cap { default: None, variable: Some("GOOSE_STOP_HOOK_BLOCK_CAP") }),
    is_certain: |payload| payload.text("event").is_some(),
    project: None,
    read,
    reply: answer,
};

/// What goes into its config. A matcher is a regular expression there, so none is given: that matches everything.
pub const INSTALL: Install = Install {
    agent: AGENT.name,
    title: "goose",
    project: ".agents",
    user: &[("HOME", ".agents")],
    files: &[
        File {
            path: "plugins/highwater/plugin.json",
            content: Content::Whole {
                text: "{\n  \"name\": \"highwater\",\n  \"version\": \"1.0.0\",\n  \"description\": \"Records each turn as an \
                       iteration of a highwater loop\"\n}\n",
                mark: "\"highwater\"",
            },
        },
        File {
            path: "plugins/highwater/hooks/hooks.json",
            content: Content::Hooks(Hooks {
                command: "highwater hook run --agent goose",
                shape: Shape::RULE,
                below: Below::Hooks,
                is_versioned: false,
                events: &[
                    Event::turn("Stop"),
                    Event::quick("PostToolUse"),
                    Event::quick("PostToolUseFailure"),
                    Event::quick("SessionStart"),
                ],
            }),
        },
    ],
    off_switches: &[],
    marks: Marks { project: &[".goosehints"], home: &[".config/goose"], programs: &["goose"] },
    advice: "goose loads a project's plugins when it is started there",
};

fn read(payload: &Payload) -> Option<LoopEvent> {
    let name = payload.text("event")?;
    let happened = match name {
        "Stop" => {
            Happened::PostIteration(EndOfTurn { said: payload.owned("last_assistant_message"), ..EndOfTurn::default() })
        }
        "PostToolUse" => Happened::Activity(Box::new(payload.tool_call(Some(true))?)),
        "PostToolUseFailure" => Happened::Activity(Box::new(payload.tool_call(Some(false))?)),
        "SessionEnd" => Happened::PostLoop,
        _ => return None,
    };
    Some(payload.event(name, &["session_id"], "working_dir", happened))
}

fn answer(event: &LoopEvent, answer: &Answer) -> Reply {
    match (&event.happened, answer) {
        (Happened::PostIteration(_), Answer::Refuse(reason)) => reply(&Decision { decision: "block", reason }),
        _ => None,
    }
}
