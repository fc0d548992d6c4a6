//! What an agent did, as it keeps it itself → tool calls, as the monitor reads them (ANALYSIS §10).
//!
//! Every one of these formats is internal to its tool, or drifts: a line or step that is not understood is passed over and
//! counted, and no transcript is ever a reason for an iteration to fail. One format a file, its line in
//! [`TRANSCRIPT_FORMATS`].

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

use super::detect::Head;
use super::input::{Input, Invalid};
use super::text::{Lines, LongLine};
use crate::error::{Error, Reject, Result};
use crate::model::calls::{CallKind, CallLine, CallResult, Event};
use crate::model::ids::ObjectId;

pub mod atif;
pub mod claude;
pub mod codex;
pub mod copilot;
mod document;
pub mod gemini;
pub mod openhands;
pub mod own;
pub mod swe_agent;

/// Bytes → their hash. The hash of the crate lives below the disk; reading is handed it.
pub type Digest = fn(&[u8]) -> ObjectId;

/// Calls, results and turns of one transcript that are kept: over this, what comes is counted as not understood.
const MOST_LINES: usize = 200_000;

/// Lines at the beginning in which a format is looked for: what comes first may be a remark of the tool's.
const SNIFFED_LINES: usize = 20;

/// A form in which an agent keeps what it did.
pub struct TranscriptFormat {
    /// Its name.
    pub name: &'static str,
    /// One line on what it is.
    pub about: &'static str,
    /// What in the content tells it.
    pub told_by: &'static str,
    sniff: fn(&Head<'_>) -> bool,
    parse: fn(&Input<'_>, &mut Reading) -> Result<()>,
}

impl fmt::Debug for TranscriptFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TranscriptFormat({})", self.name)
    }
}

/// All of them. Where two may be meant, the earlier is taken.
pub const TRANSCRIPT_FORMATS: &[&TranscriptFormat] = &[
    &atif::FORMAT,
    &swe_agent::FORMAT,
    &openhands::FORMAT,
    &codex::FORMAT,
    &copilot::FORMAT,
    &gemini::FORMAT,
    &claude::FORMAT,
    &own::FORMAT,
];

/// The format of that name.
pub fn transcript_format(name: &str) -> Option<&'static TranscriptFormat> {
    TRANSCRIPT_FORMATS.iter().copied().find(|format| format.name == name)
}

/// What was read out of a transcript.
#[derive(Clone, Debug)]
pub struct Transcript {
    /// As told or found out.
    pub format: &'static TranscriptFormat,
    /// Calls, results and the user's turns, in the order of the file.
    pub lines: Vec<CallLine>,
    /// Tokens of the whole file, read and written, cached ones among them; absent if it does not tell.
    pub tokens: Option<u64>,
    /// US dollars of the whole file; absent if it does not tell.
    pub cost: Option<f64>,
    /// Lines or steps that were not understood.
    pub skipped: u64,
}

/// Reads a transcript, as `format` or as what its content tells. What is cut or broken in it is passed over.
///
/// # Errors
/// A report error if it is empty, or of no format that is known; a failure if the bytes cannot be read.
pub fn parse_transcript(
    input: &Input<'_>,
    format: Option<&'static TranscriptFormat>,
    digest: Digest,
) -> Result<Transcript> {
    read(input, format, digest).map_err(|error| error.in_file(input.name()))
}

fn read(input: &Input<'_>, format: Option<&'static TranscriptFormat>, digest: Digest) -> Result<Transcript> {
    let head = Head::read(input)?;
    let told = || TRANSCRIPT_FORMATS.iter().copied().find(|format| (format.sniff)(&head));
    let Some(format) = format.or_else(told) else {
        return Err(Error::report(Reject::NotThisFormat, "not a transcript of any agent that is known")
            .help("`highwater list transcripts` names those that are read"));
    };
    let mut reading = Reading {
        digest,
        lines: Vec::new(),
        calls: BTreeMap::new(),
        spent: BTreeMap::new(),
        tokens: None,
        cost: None,
        skipped: 0,
    };
    (format.parse)(input, &mut reading)?;
    let Reading { lines, spent, tokens, cost, skipped, .. } = reading;
    let by_message = (!spent.is_empty()).then(|| spent.values().fold(0, |sum: u64, one| sum.saturating_add(*one)));
    Ok(Transcript { format, lines, tokens: tokens.or(by_message), cost, skipped })
}

/// What was read so far.
struct Reading {
    digest: Digest,
    lines: Vec<CallLine>,
    /// Name of a call → its place among the lines.
    calls: BTreeMap<String, usize>,
    /// Name of a message → its tokens. What is told of it last counts.
    spent: BTreeMap<String, u64>,
    tokens: Option<u64>,
    cost: Option<f64>,
    skipped: u64,
}

impl Reading {
    fn push(&mut self, line: CallLine) {
        if self.lines.len() < MOST_LINES {
            self.lines.push(line);
        } else {
            self.skip();
        }
    }

    /// A line or step that is not understood.
    fn skip(&mut self) {
        self.skipped = self.skipped.saturating_add(1);
    }

    /// The user said something new. Two turns without a call in between are one.
    fn new_turn(&mut self) {
        if self.lines.last().is_some_and(|line| line.event != Event::NewTurn) {
            self.push(CallLine { event: Event::NewTurn, ..CallLine::default() });
        }
    }

    /// A call; without a name of a tool it is none. `result` is what it came to, where that stands beside it.
    fn call(&mut self, id: Option<&str>, tool: Option<&str>, args: Value, result: Option<CallResult>) {
        let Some(tool) = tool.filter(|tool| !tool.is_empty()) else { return self.skip() };
        if let Some(id) = id {
            self.calls.insert(id.to_owned(), self.lines.len());
        }
        let (id, tool) = (id.map(str::to_owned), Some(tool.to_owned()));
        self.push(CallLine { id, tool, args, result, ..CallLine::default() });
    }

    /// What a call told before came to.
    fn result(&mut self, id: Option<&str>, result: CallResult) {
        let Some(id) = id else { return self.skip() };
        let (id, result) = (Some(id.to_owned()), Some(result));
        self.push(CallLine { event: Event::Result, id, result, ..CallLine::default() });
    }

    /// The call of that name turns out to have done something else than its tool's name says.
    fn was(&mut self, id: &str, kind: CallKind, paths: Vec<String>) {
        let place = self.calls.get(id).copied();
        if let Some(line) = place.and_then(|place| self.lines.get_mut(place)) {
            (line.kind, line.paths) = (Some(kind), Some(paths));
        }
    }

    /// Tokens of a message; the last word on it counts.
    fn spend(&mut self, message: &str, tokens: u64) {
        self.spent.insert(message.to_owned(), tokens);
    }

    /// What a tool returned. Whether it was nothing is told by the words in which tools say so; of a failure that says
    /// more, nobody knows.
    fn outcome(&self, text: &str, ok: Option<bool>) -> CallResult {
        let is_empty = says_nothing(text);
        let empty = (is_empty || ok != Some(false)).then_some(is_empty);
        CallResult { empty, hits: None, ok, hash: Some((self.digest)(text.as_bytes()).to_string()) }
    }
}

/// How tools begin to say that a search found nothing.
const NOTHING: [&str; 6] =
    ["no matches", "no files found", "no results", "no content matches", "found 0 ", "0 matches"];

fn says_nothing(text: &str) -> bool {
    let text = text.trim_start();
    text.is_empty()
        || NOTHING
            .iter()
            .any(|nothing| text.get(..nothing.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(nothing)))
}

/// Reads JSON values, one a line. What is none, and what is longer than any line that is read, is passed over.
///
/// # Errors
/// If the bytes cannot be read.
fn each_line(input: &Input<'_>, reading: &mut Reading, mut take: impl FnMut(&Value, &mut Reading)) -> Result<()> {
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::EscapedTwice)?;
    let mut before = 0;
    while let Some(line) = lines.next()? {
        let too_long = line.number.saturating_sub(before + 1);
        reading.skipped = reading.skipped.saturating_add(too_long);
        before = line.number;
        if line.text.trim().is_empty() {
            continue;
        }
        // One a line, or as `cat` leaves files that have no line end.
        for value in serde_json::Deserializer::from_str(&line.text).into_iter::<Value>() {
            match value {
                Ok(value) if value.is_object() => take(&value, reading),
                Ok(_) | Err(_) => reading.skip(),
            }
        }
    }
    Ok(())
}

/// Whether one of the first lines is an object that `is_mine` knows.
fn is_in_first_lines(head: &Head<'_>, is_mine: impl Fn(&Value) -> bool) -> bool {
    let lines = head.lines().filter(|line| line.trim_start().starts_with('{')).take(SNIFFED_LINES);
    let values = lines.flat_map(|line| serde_json::Deserializer::from_str(line).into_iter::<Value>());
    values.filter_map(Result::ok).any(|value| is_mine(&value))
}

/// The text under a key.
fn text<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key).and_then(Value::as_str)
}

/// The elements of the list under a key; none if there is no list.
fn list<'v>(value: &'v Value, key: &str) -> impl Iterator<Item = &'v Value> {
    value.get(key).and_then(Value::as_array).into_iter().flatten()
}

/// Counts under these keys, added up; absent if none of them is there.
fn counts(value: &Value, keys: &[&str]) -> Option<u64> {
    let counts = keys.iter().filter_map(|key| value.get(key).and_then(Value::as_u64));
    counts.reduce(u64::saturating_add)
}

/// An amount of money under a key.
fn dollars(value: &Value, key: &str) -> Option<f64> {
    value.get(key).and_then(Value::as_f64).filter(|cost| cost.is_finite() && *cost >= 0.0)
}

/// What a tool returned as one text: a text, a list of blocks with texts, or else its JSON.
fn words(content: &Value) -> String {
    match content {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts: Vec<String> = blocks
                .iter()
                .map(|block| text(block, "text").map_or_else(|| block.to_string(), str::to_owned))
                .collect();
            texts.join("\n")
        }
        other => other.to_string(),
    }
}
