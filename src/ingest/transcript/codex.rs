//! `codex-rollout`: the session that Codex CLI keeps (`sessions/…/rollout-*.jsonl`), and what `codex exec --json` prints.
//!
//! A command's result is told twice: the event (`exec_command_end`, later `item_completed`) has output and exit code apart
//! and comes first, the function's output is its mirror in words. Codex reads and searches by shell commands; its own reading
//! of a command says which of them do.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Reading, TranscriptFormat, counts, each_line, is_in_first_lines, list, text, words};
use crate::error::Result;
use crate::ingest::{Head, Input};
use crate::model::calls::{CallKind, CallResult};

/// A session of Codex CLI.
pub const FORMAT: TranscriptFormat = TranscriptFormat {
    name: "codex-rollout",
    about: "Codex CLI: sessions/…/rollout-*.jsonl, and codex exec --json",
    told_by: "lines with payload and type session_meta, response_item or event_msg; or of type thread.started",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> bool {
    is_in_first_lines(head, |line| match text(line, "type") {
        Some("session_meta" | "response_item" | "event_msg" | "turn_context") => line.get("payload").is_some(),
        Some("thread.started") => text(line, "thread_id").is_some(),
        Some("item.started" | "item.completed") => line.pointer("/item/type").is_some(),
        _ => false,
    }) || (head.has_key("payload") && head.has_key("timestamp"))
}

fn parse(input: &Input<'_>, reading: &mut Reading) -> Result<()> {
    // Calls whose result is there already.
    let mut answered = BTreeSet::new();
    each_line(input, reading, |line, reading| {
        let payload = line.get("payload").unwrap_or(&Value::Null);
        match text(line, "type") {
            Some("response_item") => item(payload, reading, &mut answered),
            Some("event_msg") => event(payload, reading, &mut answered),
            Some("item.completed") => printed(line.get("item").unwrap_or(&Value::Null), reading),
            Some("turn.started") => reading.new_turn(),
            Some("turn.completed") => total(line.get("usage"), reading),
            Some(_) => {}
            None => reading.skip(),
        }
    })
}

/// Running totals: the last one counts.
fn total(usage: Option<&Value>, reading: &mut Reading) {
    // What came from the cache is part of the input, reasoning of the output.
    let tokens =
        usage.and_then(|usage| counts(usage, &["total_tokens"]).or(counts(usage, &["input_tokens", "output_tokens"])));
    reading.tokens = tokens.or(reading.tokens);
}

fn item(item: &Value, reading: &mut Reading, answered: &mut BTreeSet<String>) {
    let id = text(item, "call_id").or(text(item, "id"));
    match text(item, "type") {
        Some("function_call") => {
            let given = text(item, "arguments").unwrap_or_default();
            // Arguments that are no JSON are arguments all the same.
            let args = serde_json::from_str(given).unwrap_or_else(|_| Value::from(given));
            call(id, text(item, "name"), args, reading);
        }
        Some("custom_tool_call") => {
            call(id, text(item, "name"), json!({"input": item.get("input").cloned().unwrap_or_default()}), reading);
        }
        Some("local_shell_call") => {
            call(id, Some("local_shell"), item.get("action").cloned().unwrap_or_default(), reading);
        }
        Some("function_call_output" | "custom_tool_call_output") => {
            let Some(id) = id else { return reading.skip() };
            if answered.insert(id.to_owned()) {
                let result = mirrored(item.get("output").unwrap_or(&Value::Null), reading);
                reading.result(Some(id), result);
            }
        }
        Some(_) => {}
        None => reading.skip(),
    }
}

/// A patch that is applied by way of the shell is an edit.
fn call(id: Option<&str>, tool: Option<&str>, args: Value, reading: &mut Reading) {
    let words = args.get("command").and_then(Value::as_array);
    let words: Vec<&str> = words.into_iter().flatten().filter_map(Value::as_str).collect();
    let line = text(&args, "cmd").or(text(&args, "command"));
    let patch = words.iter().copied().chain(line).find(|word| word.contains("*** Begin Patch"));
    let is_applied = words.iter().copied().chain(line).any(|word| word.trim_start().starts_with("apply_patch"));
    match patch.filter(|_| is_applied) {
        Some(patch) => reading.call(id, Some("apply_patch"), json!({"input": patch}), None),
        None => reading.call(id, tool, args, None),
    }
}

/// A result in words. What differs from run to run stands above the output.
fn mirrored(output: &Value, reading: &Reading) -> CallResult {
    let told = words(output.get("content").unwrap_or(output));
    if let Ok(Value::Object(parts)) = serde_json::from_str::<Value>(&told) {
        let code = parts.get("metadata").and_then(|metadata| metadata.get("exit_code")).and_then(Value::as_i64);
        if let Some(returned) = parts.get("output").and_then(Value::as_str) {
            return reading.outcome(returned, code.map(|code| code == 0));
        }
    }
    let Some((above, returned)) = told.split_once("\nOutput:\n") else {
        return reading.outcome(&told, output.get("success").and_then(Value::as_bool));
    };
    let code = above.lines().find_map(|line| {
        line.strip_prefix("Exit code: ").or(line.strip_prefix("Process exited with code "))?.trim().parse::<i64>().ok()
    });
    reading.outcome(returned, code.map(|code| code == 0))
}

fn event(event: &Value, reading: &mut Reading, answered: &mut BTreeSet<String>) {
    match text(event, "type") {
        Some("user_message") => reading.new_turn(),
        Some("token_count") => total(event.pointer("/info/total_token_usage"), reading),
        Some("exec_command_end") => ended(text(event, "call_id"), event, reading, answered),
        // Later versions tell the same as items.
        Some("item_completed") => {
            let item = event.get("item").unwrap_or(&Value::Null);
            match text(item, "type") {
                Some("UserMessage") => reading.new_turn(),
                Some("CommandExecution") => ended(text(item, "id"), item, reading, answered),
                Some(_) => {}
                None => reading.skip(),
            }
        }
        Some(_) => {}
        None => reading.skip(),
    }
}

/// A command has ended.
fn ended(id: Option<&str>, command: &Value, reading: &mut Reading, answered: &mut BTreeSet<String>) {
    // One that no call asked for is a part of another's work.
    let Some(id) = id.filter(|id| reading.calls.contains_key(*id)) else { return };
    if let Some((kind, paths)) = parsed(command) {
        reading.was(id, kind, paths);
    }
    if answered.insert(id.to_owned()) {
        let output = text(command, "aggregated_output").or(text(command, "stdout")).unwrap_or_default();
        let ok = command.get("exit_code").and_then(Value::as_i64).map(|code| code == 0);
        let result = reading.outcome(output, ok);
        reading.result(Some(id), result);
    }
}

/// Codex's own reading of a command: of one that does nothing but read files, or search.
fn parsed(event: &Value) -> Option<(CallKind, Vec<String>)> {
    let parts: Vec<&Value> = list(event, "parsed_cmd").collect();
    let kinds: BTreeSet<Option<&str>> = parts.iter().map(|part| text(part, "type")).collect();
    let kind = match kinds.into_iter().collect::<Vec<_>>()[..] {
        [Some("read")] => CallKind::Read,
        [Some("search")] => CallKind::Search,
        _ => return None,
    };
    let paths = parts.iter().filter_map(|part| text(part, "path")).map(str::to_owned);
    Some((kind, paths.collect()))
}

/// An item that `codex exec --json` prints when it is done.
fn printed(item: &Value, reading: &mut Reading) {
    let id = text(item, "id");
    let ok = text(item, "status").map(|status| status == "completed");
    let result = CallResult { ok, ..CallResult::default() };
    match text(item, "type") {
        Some("command_execution") => {
            let code = item.get("exit_code").and_then(Value::as_i64).map(|code| code == 0);
            let result = reading.outcome(text(item, "aggregated_output").unwrap_or_default(), code.or(ok));
            let args = json!({"cmd": item.get("command").cloned().unwrap_or_default()});
            reading.call(id, Some("exec_command"), args, Some(result));
        }
        Some("file_change") => {
            let paths: Vec<&str> = list(item, "changes").filter_map(|change| text(change, "path")).collect();
            reading.call(id, Some("apply_patch"), json!({"paths": paths}), Some(result));
        }
        Some("mcp_tool_call") => {
            reading.call(id, text(item, "tool"), item.get("arguments").cloned().unwrap_or_default(), Some(result));
        }
        Some(_) => {}
        None => reading.skip(),
    }
}
