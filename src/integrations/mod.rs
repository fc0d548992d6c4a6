//! Agent CLIs and their hooks: what an agent tells (one JSON object) → [`LoopEvent`], and what it is answered → one JSON
//! object in its own dialect, or nothing.
//!
//! The names match and the meanings do not: `{"continue": false}` ends a run of one agent and prolongs one of another, and a
//! key that one wants is an error to the next. So each agent is a file, its line in [`AGENTS`], and what it prints has a type
//! of its own.

mod claude;
mod codex;
mod copilot;
mod cursor;
mod gemini;
mod goose;
pub mod install;
mod opencode;
mod openhands;
mod payload;
mod shapes;
mod vscode;

pub use payload::Payload;

use shapes::Reply;

use crate::engine::hook::{Answer, LoopEvent};

/// Characters of a text that an agent is given: Claude Code spills what is over 10,000 into a file.
const MAX_TEXT: usize = 9_000;

/// An agent CLI.
pub struct Agent {
    /// As `--agent` takes it.
    pub name: &'static str,
    /// Who makes it what.
    pub about: &'static str,
    /// How its dialect keeps a turn going.
    pub keeps_going: &'static str,
    /// How its dialect ends a run; empty if it cannot.
    pub ends: &'static str,
    /// The agent's own cap on refusals in a row.
    pub cap: Option<Cap>,
    /// Whether a payload can only be this agent's.
    is_certain: fn(&Payload) -> bool,
    /// The environment variable that holds the project's folder. Gemini CLI sets Claude Code's too.
    pub project: Option<&'static str>,
    read: fn(&Payload) -> Option<LoopEvent>,
    reply: fn(&LoopEvent, &Answer) -> Reply,
}

/// A cap on how often in a row hooks may refuse the end of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cap {
    /// Unless the user says otherwise; absent if nobody knows.
    pub default: Option<u32>,
    /// The environment variable by which the user does.
    pub variable: Option<&'static str>,
}

/// Every agent, in the order in which a payload is tried on them.
pub const AGENTS: &[Agent] = &[
    codex::AGENT,
    gemini::AGENT,
    cursor::AGENT,
    openhands::AGENT,
    opencode::AGENT,
    goose::AGENT,
    vscode::AGENT,
    copilot::AGENT,
    claude::AGENT,
];

/// The agent of that name.
pub fn agent(name: &str) -> Option<&'static Agent> {
    AGENTS.iter().find(|agent| agent.name == name)
}

/// Whose dialect a payload is in. What only one agent writes decides, whatever was asked for: Copilot CLI and VS Code execute
/// what was installed for Claude Code. Else it is the agent that was asked for, else one whose environment variable is
/// there, else Claude Code, whose shape most others took over.
pub fn detect(payload: &Payload, asked: Option<&'static Agent>, is_set: impl Fn(&str) -> bool) -> &'static Agent {
    let certain = AGENTS.iter().find(|agent| (agent.is_certain)(payload));
    let hinted = || AGENTS.iter().find(|agent| agent.project.is_some_and(&is_set));
    certain.or(asked).or_else(hinted).unwrap_or(&claude::AGENT)
}

impl Agent {
    /// What a payload tells; `None` if it is of no consequence to a loop.
    pub fn read(&self, payload: &Payload) -> Option<LoopEvent> {
        (self.read)(payload)
    }

    /// One JSON object for the agent; `None` is to print nothing.
    pub fn reply(&self, event: &LoopEvent, answer: &Answer) -> Option<String> {
        let answer = match answer {
            Answer::Nothing => Answer::Nothing,
            Answer::Context(text) => Answer::Context(bounded(text)?),
            Answer::Note(text) => Answer::Note(bounded(text)?),
            Answer::Refuse(text) => Answer::Refuse(bounded(text)?),
            Answer::End(text) => Answer::End(bounded(text)?),
        };
        (self.reply)(event, &answer)
    }

    /// Refusals in a row that this agent allows, less one: the last one would be overruled. `variable` reads the environment.
    pub fn refusals(&self, wanted: u32, variable: impl Fn(&str) -> Option<String>) -> u32 {
        let Some(cap) = self.cap else { return wanted };
        let said = cap.variable.and_then(variable).and_then(|text| text.trim().parse::<u32>().ok());
        said.or(cap.default).map_or(wanted, |cap| wanted.min(cap.saturating_sub(1)))
    }
}

/// At most [`MAX_TEXT`] characters; `None` if nothing is said: an empty reason is an error in some dialects.
fn bounded(text: &str) -> Option<String> {
    let text = text.trim();
    if text.chars().count() <= MAX_TEXT {
        return Some(text.to_owned()).filter(|text| !text.is_empty());
    }
    Some(text.chars().take(MAX_TEXT - 1).chain(['…']).collect())
}

#[cfg(test)]
mod tests;
