//! The objects that several dialects print alike. Which dialect prints which at what event is each agent's own file.

use serde::Serialize;

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
pub fn end(reason: &str) -> Reply {
    reply(&End { r#continue: false, stop_reason: reason })
}

/// Whoever watches the agent is told something.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Message<'a> {
    system_message: &'a str,
}

/// Tells whoever watches the agent.
pub fn message(text: &str) -> Reply {
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
pub fn context(event: &str, text: &str) -> Reply {
    reply(&Specific { hook_specific_output: Context { hook_event_name: event, additional_context: text } })
}
