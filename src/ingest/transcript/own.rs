//! `highwater-jsonl`: the lines that `highwater monitor` reads, kept in a file.

use serde::Deserialize;
use serde_json::Value;

use super::{Reading, TranscriptFormat, each_line, is_in_first_lines, text};
use crate::error::Result;
use crate::ingest::{Head, Input};
use crate::model::calls::{CallLine, Event};

/// Lines of our own.
pub const FORMAT: TranscriptFormat = TranscriptFormat {
    name: "highwater-jsonl",
    about: "calls as `highwater monitor` reads them, one a line (`highwater schema call`)",
    told_by: "lines with tool, or with event call, result or new_turn",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> bool {
    is_in_first_lines(head, |line| {
        text(line, "tool").is_some() || matches!(text(line, "event"), Some("call" | "result" | "new_turn"))
    })
}

fn parse(input: &Input<'_>, reading: &mut Reading) -> Result<()> {
    each_line(input, reading, |line: &Value, reading| match CallLine::deserialize(line) {
        Ok(CallLine { event: Event::NewTurn, .. }) => reading.new_turn(),
        Ok(CallLine { event: Event::Metrics, .. }) => {}
        Ok(line) if line.event == Event::Call && line.tool.is_some() => reading.push(line),
        Ok(line) if line.event == Event::Result && line.id.is_some() && line.result.is_some() => reading.push(line),
        Ok(_) | Err(_) => reading.skip(),
    })
}
