//! `claude-jsonl`: the session that Claude Code keeps (`transcript_path` of its hooks), and what `claude -p --output-format
//! stream-json` prints. A message is several lines, a block each, and all of them tell its usage: the last one counts.

use serde_json::Value;

use super::{Reading, TranscriptFormat, counts, dollars, each_line, is_in_first_lines, list, text, words};
use crate::error::Result;
use crate::ingest::{Head, Input};

/// A session of Claude Code.
pub const FORMAT: TranscriptFormat = TranscriptFormat {
    name: "claude-jsonl",
    about: "Claude Code: the file that transcript_path names, and claude -p --output-format stream-json",
    told_by: "lines of type assistant or user with a message that has role and content",
    sniff,
    parse,
};

/// What a message was made of; what came from a cache was read too.
const TOKENS: [&str; 4] = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens"];

fn sniff(head: &Head<'_>) -> bool {
    is_in_first_lines(head, |line| match text(line, "type") {
        Some("assistant" | "user") => line.pointer("/message/role").is_some_and(Value::is_string),
        Some("system") => {
            text(line, "subtype").is_some() && (text(line, "session_id").or(text(line, "sessionId"))).is_some()
        }
        _ => false,
    }) || (head.has_key("sessionId") && head.has_key("parentUuid"))
}

fn parse(input: &Input<'_>, reading: &mut Reading) -> Result<()> {
    each_line(input, reading, |line, reading| match text(line, "type") {
        Some("assistant") => assistant(line, reading),
        Some("user") => user(line, reading),
        // A running total, also where a session is resumed.
        Some("result") => reading.cost = dollars(line, "total_cost_usd").or(reading.cost),
        // Titles, snapshots of files, the tool's own remarks.
        Some(_) => {}
        None => reading.skip(),
    })
}

fn assistant(line: &Value, reading: &mut Reading) {
    let Some(message) = line.get("message") else { return reading.skip() };
    if let (Some(id), Some(usage)) = (text(message, "id"), message.get("usage"))
        && let Some(tokens) = counts(usage, &TOKENS)
    {
        reading.spend(id, tokens);
    }
    for block in list(message, "content").filter(|block| text(block, "type") == Some("tool_use")) {
        let args = block.get("input").cloned().unwrap_or_default();
        reading.call(text(block, "id"), text(block, "name"), args, None);
    }
}

fn user(line: &Value, reading: &mut Reading) {
    let Some(content) = line.pointer("/message/content") else { return reading.skip() };
    let blocks = content.as_array().map(Vec::as_slice).unwrap_or_default();
    let mut has_results = false;
    for block in blocks.iter().filter(|block| text(block, "type") == Some("tool_result")) {
        has_results = true;
        let has_failed = block.get("is_error").and_then(Value::as_bool).unwrap_or(false);
        let returned = words(block.get("content").unwrap_or(&Value::Null));
        let result = reading.outcome(&returned, Some(!has_failed));
        reading.result(text(block, "tool_use_id"), result);
    }
    // What a subagent is asked, what the tool itself puts in and what it made of earlier turns, no user said.
    let is_said = |key| !line.get(key).and_then(Value::as_bool).unwrap_or(false);
    if !has_results && ["isSidechain", "isMeta", "isCompactSummary"].into_iter().all(is_said) {
        reading.new_turn();
    }
}
