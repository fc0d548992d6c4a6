//! What is written into each agent's own config, and taken out of it again. Text in, text out: no disk here.
//!
//! An agent's settings are the user's. Our entries go behind theirs and come out again to the byte; everything between stays.

mod diff;
mod json;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::path::PathBuf;

use jsonc_parser::ast::{Object, Value};

use super::{claude, codex, copilot, cursor, gemini, goose, opencode, openhands, vscode};
use json::{Json, Node, property};

pub use diff::diff;

use crate::error::{Error, Result};

/// Text that a file may begin with; it stays where it is.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Every agent that hooks can be installed for, in the order in which people are shown them. Places and shapes are those of
/// the products' own packages and documentation.
pub const INSTALLS: &[Install] = &[
    claude::INSTALL,
    codex::INSTALL,
    gemini::INSTALL,
    copilot::INSTALL,
    vscode::INSTALL,
    cursor::INSTALL,
    goose::INSTALL,
    openhands::INSTALL,
    opencode::INSTALL,
];

/// One agent: where its hooks are configured, and what of ours belongs there.
pub struct Install {
    /// As `--agent` takes it.
    pub agent: &'static str,
    /// As people call it.
    pub title: &'static str,
    /// The folder of its config in a work tree.
    pub project: &'static str,
    /// The folder of the user's own config: below the first of these environment variables that is set, this path.
    pub user: &'static [(&'static str, &'static str)],
    /// The files in either folder.
    pub files: &'static [File],
    /// Files in either folder, and the key in each that turns all hooks off where it is true.
    pub off_switches: &'static [(&'static str, &'static str)],
    /// What shows that the agent is used here.
    pub marks: Marks,
    /// What the user has to know, or to do once.
    pub advice: &'static str,
}

/// What shows that an agent is used.
pub struct Marks {
    /// Names in the work tree.
    pub project: &'static [&'static str],
    /// Names in the user's home.
    pub home: &'static [&'static str],
    /// Programs.
    pub programs: &'static [&'static str],
}

/// One file that takes part.
pub struct File {
    /// Its path in the folder of the config.
    pub path: &'static str,
    /// What of ours it holds.
    pub content: Content,
}

/// What of ours a file holds.
pub enum Content {
    /// Entries among others'.
    Hooks(Hooks),
    /// All of it.
    Whole {
        /// The text.
        text: &'static str,
        /// A piece of the text that no file of anybody else's has.
        mark: &'static str,
    },
}

/// The entries of one agent.
pub struct Hooks {
    /// The command line of every entry. It is the same in every version, because agents ask again about one that changes.
    pub command: &'static str,
    /// How an entry is written.
    pub shape: Shape,
    /// The key that holds the events; where it may be left out, it is only used if the file has it.
    pub below: Below,
    /// Whether a new file begins with `"version": 1`.
    pub is_versioned: bool,
    /// The events.
    pub events: &'static [Event],
}

/// The key that holds the events.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Below {
    /// Always `hooks`.
    Hooks,
    /// The root itself, or `hooks` if that is there.
    Root,
}

/// How an entry is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A rule with a list of commands; what else the command and the rule say.
    Rule {
        /// Seconds or milliseconds.
        milliseconds: bool,
        /// Whether a command has a name.
        is_named: bool,
        /// What the rule matches, where it has to say so.
        matcher: Option<&'static str>,
    },
    /// The command itself, with its limit under both keys that are in use.
    Flat,
    /// The command alone, with its limit; at the end of a turn how often it may ask to go on.
    Bare,
}

/// An event of an agent.
#[derive(Clone, Copy)]
pub struct Event {
    /// As the agent calls it.
    pub name: &'static str,
    /// Another spelling, which is used where the file has it: an agent may refuse a file with both.
    pub also: Option<&'static str>,
    /// After so many seconds the agent gives up on us.
    pub seconds: u32,
}

impl Shape {
    /// A rule as most write it.
    pub const RULE: Shape = Shape::Rule { milliseconds: false, is_named: false, matcher: None };
}

impl Event {
    /// The end of a turn, which may run the tests.
    pub const fn turn(name: &'static str) -> Event {
        Event { name, also: None, seconds: 900 }
    }

    /// Anything else is read and written down.
    pub const fn quick(name: &'static str) -> Event {
        Event { name, also: None, seconds: 20 }
    }

    /// It has another name, too.
    pub const fn or(self, also: &'static str) -> Event {
        Event { also: Some(also), ..self }
    }
}

/// What a file says of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Nothing.
    Absent,
    /// What this version would write.
    Current,
    /// Something else.
    Differs,
}

impl Install {
    /// The folder of the user's own config; `None` if no variable that would say so is set.
    pub fn user_folder(&self, variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        self.user.iter().find_map(|(name, below)| Some(PathBuf::from(set(name)?).join(below)))
    }
}

/// Whether a config says `"key": true`. A text that cannot be read says nothing.
pub fn is_true(text: &str, key: &str) -> bool {
    let json = Json::parse(text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text));
    let root = json.ok().and_then(|json| json.root);
    let value = root.as_ref().and_then(Value::as_object).and_then(|root| property(root, key));
    value.is_some_and(|at| matches!(at.value, Value::BooleanLit(literal) if literal.value))
}

impl Content {
    /// The text with our part in it; the same text if it is there already.
    ///
    /// # Errors
    /// Bad input, with line and column where there are any, if the text cannot be read or is somebody else's.
    pub fn install(&self, text: Option<&str>) -> Result<String> {
        if self.state(text)? == State::Current {
            return Ok(text.unwrap_or_default().to_owned());
        }
        match self {
            Content::Whole { text, .. } => Ok((*text).to_owned()),
            Content::Hooks(hooks) => keeping_mark(text.unwrap_or_default(), |text| {
                hooks.events.iter().try_fold(hooks.removed(text)?, |text, event| hooks.added(&text, event))
            }),
        }
    }

    /// The text without our part; `None` if all of it is ours.
    ///
    /// # Errors
    /// As [`Content::install`].
    pub fn uninstall(&self, text: &str) -> Result<Option<String>> {
        match self {
            Content::Whole { text: ours, .. } if text == *ours => Ok(None),
            Content::Whole { .. } => Err(Error::bad_input("the file was changed since it was installed")
                .because("it is highwater's as a whole, and so was to be removed")
                .help("remove it yourself")),
            Content::Hooks(hooks) => keeping_mark(text, |text| hooks.removed(text)).map(Some),
        }
    }

    /// What the text says of ours.
    ///
    /// # Errors
    /// As [`Content::install`].
    pub fn state(&self, text: Option<&str>) -> Result<State> {
        let Some(text) = text else { return Ok(State::Absent) };
        match self {
            Content::Whole { text: ours, .. } if text == *ours => Ok(State::Current),
            Content::Whole { mark, .. } if text.contains(mark) => Ok(State::Differs),
            Content::Whole { .. } => Err(Error::bad_input("a file of that name is there, and is not highwater's")
                .help("move it away, then try again; nothing was changed")),
            Content::Hooks(hooks) => hooks.state(text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)),
        }
    }

    /// Whether the text says nothing that a new file of ours does not: such a file was made by us, or might as well be absent.
    pub fn is_bare(&self, text: &str) -> bool {
        let Content::Hooks(hooks) = self else { return false };
        let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        match Json::parse(text).ok().and_then(|json| json.root) {
            Some(Value::Object(root)) => {
                root.properties.iter().all(|one| hooks.is_versioned && one.name.as_str() == "version")
            }
            Some(_) => false,
            None => text.trim().is_empty(),
        }
    }
}

impl Hooks {
    /// What belongs into an event.
    fn rule(&self, event: &Event) -> Node {
        let command = ("command", Node::text(self.command));
        match self.shape {
            Shape::Rule { milliseconds, is_named, matcher } => {
                let limit = if milliseconds { event.seconds * 1000 } else { event.seconds };
                let name = is_named.then(|| ("name", Node::text("highwater")));
                let kind = ("type", Node::text("command"));
                let handler = [Some(kind), name, Some(command), Some(("timeout", Node::Number(limit)))];
                let handler = Node::Map(handler.into_iter().flatten().collect());
                let matcher = matcher.map(|matcher| ("matcher", Node::text(matcher)));
                Node::Map(matcher.into_iter().chain([("hooks", Node::List(vec![handler]))]).collect())
            }
            Shape::Flat => Node::Map(vec![
                ("type", Node::text("command")),
                command,
                ("timeoutSec", Node::Number(event.seconds)),
                ("timeout", Node::Number(event.seconds)),
            ]),
            Shape::Bare => {
                let limit = ("timeout", Node::Number(event.seconds));
                let rounds = (event.name == "stop").then_some(("loop_limit", Node::Number(5)));
                Node::Map([command, limit].into_iter().chain(rounds).collect())
            }
        }
    }

    /// The keys that lead to the events in this text.
    fn keys(&self, json: &Json<'_>) -> Vec<&'static str> {
        let is_there =
            || json.root.as_ref().and_then(Value::as_object).is_some_and(|root| property(root, "hooks").is_some());
        if self.below == Below::Hooks || is_there() { vec!["hooks"] } else { Vec::new() }
    }

    fn added(&self, text: &str, event: &Event) -> Result<String> {
        let json = Json::parse(text)?;
        let is_new = match &json.root {
            None => true,
            Some(root) => root.as_object().is_some_and(|root| root.properties.is_empty()),
        };
        if self.is_versioned && is_new {
            let text = json.put_key("version", &Node::Number(1))?;
            return self.added(&text, event);
        }
        let mut keys = self.keys(&json);
        let also = event.also.filter(|also| self.holder(&json).is_some_and(|events| property(events, also).is_some()));
        keys.push(also.unwrap_or(event.name));
        json.append(&keys, self.rule(event))
    }

    /// The object of the events.
    fn holder<'a, 'j>(&self, json: &'j Json<'a>) -> Option<&'j Object<'a>> {
        let root = json.root.as_ref()?.as_object()?;
        match self.keys(json).first() {
            None => Some(root),
            Some(key) => property(root, key)?.value.as_object(),
        }
    }

    /// The text without any entry of ours, and without what held nothing else.
    fn removed(&self, text: &str) -> Result<String> {
        let mut text = text.to_owned();
        loop {
            let json = Json::parse(&text)?;
            match self.first_of_ours(&json) {
                Some((container, index)) => text = json.without(container, index),
                None => return Ok(text),
            }
        }
    }

    /// The largest thing that holds an entry of ours and nothing else: which member of what.
    fn first_of_ours<'a, 'j>(&self, json: &'j Json<'a>) -> Option<(&'j Value<'a>, usize)> {
        let root = json.root.as_ref()?;
        let below = self.keys(json).first().and_then(|key| property(root.as_object()?, key));
        let events = below.as_ref().map_or(root, |below| below.value);
        let object = events.as_object()?;
        for (event, one) in object.properties.iter().enumerate() {
            let Some(rules) = one.value.as_array() else { continue };
            for (rule, value) in rules.elements.iter().enumerate() {
                let Some(within) = ours_in(value) else { continue };
                return Some(match (within, &below) {
                    (Within::Part(handlers, index), _) => (handlers, index),
                    (Within::All, _) if rules.elements.len() > 1 => (&one.value, rule),
                    (Within::All, Some(below)) if object.properties.len() == 1 => (root, below.index),
                    (Within::All, _) => (events, event),
                });
            }
        }
        None
    }

    fn state(&self, text: &str) -> Result<State> {
        let json = Json::parse(text)?;
        let Some(events) = self.holder(&json) else { return Ok(State::Absent) };
        let rules = events.properties.iter().filter_map(|one| Some((one.name.as_str(), one.value.as_array()?)));
        let ours: Vec<(&str, &Value<'_>)> = rules
            .flat_map(|(event, rules)| rules.elements.iter().map(move |rule| (event, rule)))
            .filter(|(_, rule)| ours_in(rule).is_some())
            .collect();
        if ours.is_empty() {
            return Ok(State::Absent);
        }
        let is_there = |event: &Event| {
            let rule = self.rule(event);
            ours.iter().any(|(name, value)| (*name == event.name || Some(*name) == event.also) && rule.is(value))
        };
        let is_current = ours.len() == self.events.len() && self.events.iter().all(is_there);
        Ok(if is_current { State::Current } else { State::Differs })
    }
}

/// How much of a rule is ours.
enum Within<'a, 'v> {
    All,
    /// This member of this list of commands, which holds others as well.
    Part(&'v Value<'a>, usize),
}

fn ours_in<'a, 'v>(rule: &'v Value<'a>) -> Option<Within<'a, 'v>> {
    let object = rule.as_object()?;
    if is_ours(object) {
        return Some(Within::All);
    }
    let list = property(object, "hooks")?.value;
    let handlers = &list.as_array()?.elements;
    let index = handlers.iter().position(|handler| handler.as_object().is_some_and(is_ours))?;
    Some(if handlers.len() == 1 { Within::All } else { Within::Part(list, index) })
}

/// Whether a command runs `highwater hook run`, by whatever path and with whatever options.
fn is_ours(handler: &Object<'_>) -> bool {
    let command = property(handler, "command").and_then(|at| at.value.as_string_lit());
    let Some(command) = command else { return false };
    let arguments = property(handler, "args").and_then(|at| at.value.as_array());
    let arguments = arguments.into_iter().flat_map(|list| &list.elements).filter_map(|one| one.as_string_lit());
    let mut words = command.value.split_whitespace().chain(arguments.map(|one| one.value.as_ref()));
    let program = words.next().and_then(|word| word.rsplit('/').next());
    program == Some("highwater") && words.next() == Some("hook") && words.next() == Some("run")
}

/// What `edit` makes of the text behind a byte order mark.
fn keeping_mark(text: &str, edit: impl FnOnce(&str) -> Result<String>) -> Result<String> {
    match text.strip_prefix(BYTE_ORDER_MARK) {
        Some(rest) => Ok(format!("{BYTE_ORDER_MARK}{}", edit(rest)?)),
        None => edit(text),
    }
}
