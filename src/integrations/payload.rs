//! The object that an agent hands to a hook. Keys that are not known are passed over; one of another type is absent.

use std::path::PathBuf;

use serde_json::{Map, Value};

use crate::engine::hook::{Happened, LoopEvent, ToolCall};
use crate::error::{Error, Result};

/// What to do where there is no payload.
const HELP: &str = "an agent gives `hook run` one JSON object; to see that a hook works: `highwater hook status`";

/// What a hook was given.
#[derive(Clone, Debug, PartialEq)]
pub struct Payload {
    keys: Map<String, Value>,
}

impl Payload {
    /// Reads one JSON object.
    ///
    /// # Errors
    /// Bad input if it is none.
    pub fn parse(bytes: &[u8]) -> Result<Payload> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        if bytes.trim_ascii().is_empty() {
            return Err(Error::bad_input("the hook was given no payload").help(HELP));
        }
        match serde_json::from_slice(bytes) {
            Ok(Value::Object(keys)) => Ok(Payload { keys }),
            Ok(_) => Err(Error::bad_input("the hook's payload is no JSON object").help(HELP)),
            Err(error) => Err(Error::bad_input("the hook's payload is no JSON").because(error.to_string()).help(HELP)),
        }
    }

    /// Any value.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.keys.get(key).filter(|value| !value.is_null())
    }

    /// A text.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.get(key)?.as_str()
    }

    /// The first of these keys that is a text.
    pub fn one_of(&self, keys: &[&str]) -> Option<&str> {
        keys.iter().find_map(|key| self.text(key))
    }

    /// A text of its own, as events hold it.
    pub fn owned(&self, key: &str) -> Option<String> {
        self.text(key).map(str::to_owned)
    }

    /// A path.
    pub fn path(&self, key: &str) -> Option<PathBuf> {
        self.text(key).filter(|text| !text.is_empty()).map(PathBuf::from)
    }

    /// Yes or no.
    pub fn flag(&self, key: &str) -> Option<bool> {
        self.get(key)?.as_bool()
    }

    /// A count.
    pub fn count(&self, key: &str) -> Option<u32> {
        self.get(key)?.as_u64().and_then(|count| u32::try_from(count).ok())
    }

    /// Whether the value is an ISO 8601 time: Gemini CLI and VS Code write it so, Copilot CLI as a number.
    pub fn is_iso_time(&self, key: &str) -> bool {
        self.text(key).is_some_and(|text| text.len() > 10 && text.chars().nth(10) == Some('T'))
    }

    /// The event: its session under the first of these keys that is there, its folder under that one.
    pub fn event(&self, name: &str, session: &[&str], folder: &str, happened: Happened) -> LoopEvent {
        LoopEvent {
            name: name.to_owned(),
            session: self.one_of(session).unwrap_or_default().to_owned(),
            folder: self.path(folder),
            happened,
        }
    }

    /// The tool call of the shape that Claude Code's descendants share: `tool_name`, `tool_input`, `tool_response`,
    /// `tool_use_id`. `None` if it names no tool.
    pub fn tool_call(&self, ok: Option<bool>) -> Option<ToolCall> {
        Some(ToolCall {
            id: self.owned("tool_use_id"),
            tool: self.owned("tool_name").filter(|tool| !tool.is_empty())?,
            kind: None,
            args: self.get("tool_input").cloned().unwrap_or_default(),
            response: self.get("tool_response").cloned(),
            ok,
        })
    }
}
