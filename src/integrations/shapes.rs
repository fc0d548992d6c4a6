//! The objects that several dialects print alike. Which dialect prints which at what event is each agent's own file.

use serde::Serialize;

use crate::engine::hook::{Answer, Happened, LoopEvent};

/// One JSON object, or nothing.
pub type Reply = Option<String>;

/// The object as text.
pub fn reply(object: &impl Serialize) -> Reply {
    serde_json::to_string(object).ok()
}

/// `decision` and `reason`: the turn goes on.
#[derive(Serialize)]
pub struct Decision<'a> {
    pub decision: &'static str,
    pub reason: &'a str,
}

/// `{"continue": false}`: the run ends.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct End<'a> {
    r#continue: bool,
    stop_reason: &'a str,
}

/// A run that ends for this reason.
fn end(reason: &str) -> Reply {
    reply(&End { r#continue: false, stop_reason: reason })
}

/// Whoever watches the agent is told something.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Message<'a> {
    system_message: &'a str,
}

/// Tells whoever watches the agent.
fn message(text: &str) -> Reply {
    reply(&Message { system_message: text })
}

/// What belongs to one event only.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Specific<T> {
    pub hook_specific_output: T,
}

/// What the model gets to see at an event.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Context<'a> {
    hook_event_name: &'a str,
    additional_context: &'a str,
}

/// The same where a dialect takes it without the event's name.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct BareContext<'a> {
    additional_context: &'a str,
}

/// Tells the model.
pub fn bare_context(text: &str) -> Reply {
    reply(&BareContext { additional_context: text })
}

/// Tells the model, at the event of that name.
fn context(event: &str, text: &str) -> Reply {
    reply(&Specific { hook_specific_output: Context { hook_event_name: event, additional_context: text } })
}

/// What several dialects say alike. How each one refuses the end of a turn is its own.
pub fn alike(event: &LoopEvent, answer: &Answer) -> Reply {
    match (&event.happened, answer) {
        (Happened::PostIteration(_), Answer::End(reason)) => end(reason),
        (Happened::PostIteration(_), Answer::Note(text)) => message(text),
        (Happened::PreLoop | Happened::Activity(_), Answer::Context(text)) => context(&event.name, text),
        // No context is taken before compacting; the session start after it takes one.
        (Happened::LoopDecision, Answer::Context(text)) => message(text),
        _ => None,
    }
}
