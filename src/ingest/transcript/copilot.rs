//! `copilot-events`: the session that Copilot CLI keeps (`session-state/…/events.jsonl`), an event a line.

use serde_json::Value;

use super::{Reading, TranscriptFormat, counts, each_line, is_in_first_lines, text, words};
use crate::error::Result;
use crate::ingest::{Head, Input};

/// A session of Copilot CLI.
pub const FORMAT: TranscriptFormat = TranscriptFormat {
    name: "copilot-events",
    about: "Copilot CLI: the file that transcript_path names (session-state/…/events.jsonl)",
    told_by: "lines with data and type session.start, user.message or tool.execution_start",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> bool {
    is_in_first_lines(head, |line| {
        let kind = text(line, "type");
        matches!(kind, Some("session.start" | "user.message" | "tool.execution_start")) && line.get("data").is_some()
    })
}

fn parse(input: &Input<'_>, reading: &mut Reading) -> Result<()> {
    each_line(input, reading, |line, reading| {
        let data = line.get("data").unwrap_or(&Value::Null);
        let call = text(data, "toolCallId");
        match text(line, "type") {
            Some("user.message") => reading.new_turn(),
            Some("tool.execution_start") => {
                let args = data.get("arguments").cloned().unwrap_or_default();
                reading.call(call, text(data, "toolName"), args, None);
            }
            Some("tool.execution_complete") => {
                let returned = words(data.pointer("/result/content").unwrap_or(&Value::Null));
                // A command that failed is a call that succeeded; its last line says how it ended, under a new name each time.
                let code = data.pointer("/shellExecution/exitCode").and_then(Value::as_i64).map(|code| code == 0);
                let returned =
                    returned.rsplit_once("<shellId: ").filter(|_| code.is_some()).map_or(&*returned, |(of, _)| of);
                let ok = code.or(data.get("success").and_then(Value::as_bool));
                let result = reading.outcome(returned.trim_end(), ok);
                reading.result(call, result);
            }
            Some("session.usage_record") => {
                let tokens = data.get("usage").and_then(|usage| counts(usage, &["inputTokens", "outputTokens"]));
                if let (Some(id), Some(tokens)) = (text(line, "id"), tokens) {
                    reading.spend(id, tokens);
                }
            }
            Some(_) => {}
            None => reading.skip(),
        }
    })
}
