//! `gemini-jsonl`: the session that Gemini CLI keeps (`chats/session-*.jsonl`), a record a line. A record may come again
//! with more in it; `$rewindTo` takes one back with all that follow it.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Reading, TranscriptFormat, counts, each_line, is_in_first_lines, list, text, words};
use crate::error::Result;
use crate::ingest::{Head, Input};
use crate::model::calls::CallResult;

/// A session of Gemini CLI.
pub const FORMAT: TranscriptFormat = TranscriptFormat {
    name: "gemini-jsonl",
    about: "Gemini CLI: the file that transcript_path names (chats/session-*.jsonl)",
    told_by: "a line with sessionId and projectHash, or lines of type gemini",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> bool {
    is_in_first_lines(head, |line| {
        (text(line, "sessionId").is_some() && text(line, "projectHash").is_some())
            || (text(line, "type") == Some("gemini") && text(line, "id").is_some())
    })
}

fn parse(input: &Input<'_>, reading: &mut Reading) -> Result<()> {
    // Record → where its calls begin.
    let mut records: BTreeMap<String, usize> = BTreeMap::new();
    each_line(input, reading, |line, reading| {
        if let Some(record) = text(line, "$rewindTo") {
            let Some(start) = records.get(record).copied() else { return reading.skip() };
            reading.lines.truncate(start);
            reading.calls.retain(|_, place| *place < start);
            records.retain(|_, place| *place < start);
            return;
        }
        match line.get("$set") {
            Some(set) => list(set, "messages").for_each(|message| record(message, reading, &mut records)),
            // What is told of the session.
            None if text(line, "id").is_none() && line.get("sessionId").is_some() => {}
            None => record(line, reading, &mut records),
        }
    })
}

fn record(record: &Value, reading: &mut Reading, records: &mut BTreeMap<String, usize>) {
    let (Some(id), Some(kind)) = (text(record, "id"), text(record, "type")) else { return reading.skip() };
    let is_new = !records.contains_key(id);
    records.entry(id.to_owned()).or_insert(reading.lines.len());
    match kind {
        // What tools returned goes to the model as the user's.
        "user" if is_new && list(record, "content").all(|part| part.get("functionResponse").is_none()) => {
            reading.new_turn()
        }
        "gemini" => {
            if let Some(tokens) = record.get("tokens").and_then(|tokens| counts(tokens, &["total"])) {
                reading.spend(id, tokens);
            }
            list(record, "toolCalls").for_each(|call| called(call, reading));
        }
        _ => {}
    }
}

fn called(call: &Value, reading: &mut Reading) {
    let id = text(call, "id");
    let known = id.and_then(|id| reading.calls.get(id).copied());
    let result = result(call, reading);
    match known.and_then(|place| reading.lines.get_mut(place)) {
        Some(line) => line.result = line.result.take().or(result),
        None => reading.call(id, text(call, "name"), call.get("args").cloned().unwrap_or_default(), result),
    }
}

/// `None` while the call runs.
fn result(call: &Value, reading: &Reading) -> Option<CallResult> {
    let ok = match text(call, "status") {
        Some("success") => Some(true),
        Some("error" | "cancelled") => Some(false),
        _ => return None,
    };
    let parts: Vec<String> = list(call, "result")
        .map(|part| {
            let response = part.pointer("/functionResponse/response");
            let returned = response.and_then(|response| response.get("output").or(response.get("error")));
            words(returned.or(response).or(part.get("text")).unwrap_or(part))
        })
        .collect();
    let returned = parts.join("\n");
    // A command that failed is a call that succeeded.
    let code = returned.lines().find_map(|line| line.strip_prefix("Exit Code: ")?.trim().parse::<i64>().ok());
    Some(reading.outcome(&returned, code.map_or(ok, |code| Some(code == 0))))
}
