//! The JSON Schema of every stored file and of every `--json` answer, made from the types.

use schemars::{JsonSchema, Schema, SchemaGenerator};

use super::answers;
use super::lines::LineError;
use crate::engine::Manifest;
use crate::error::{Error, Result};
use crate::model::calls::{CallLine, Watched};
use crate::model::cases::TestCases;
use crate::model::ledger::{Frame, LedgerHead};
use crate::model::metrics::Metrics;
use crate::model::progress::EstimatePrompt;
use crate::model::record::IterationRecord;
use crate::model::steps::{Assessment, State};
use crate::model::trajectory::{BestTracker, Selection, Trajectory};
use crate::snapshot::restore::RestoreRecord;
use crate::store::{AcceptedNote, LetGo};

/// One schema.
pub struct SchemaOf {
    /// As `highwater schema` takes it; `schemas/<name>.schema.json` holds it.
    pub name: &'static str,
    /// Which file or answer has this shape.
    pub about: &'static str,
    make: fn() -> Schema,
}

const fn of<T: JsonSchema>(name: &'static str, about: &'static str) -> SchemaOf {
    SchemaOf { name, about, make: || SchemaGenerator::default().into_root_schema_for::<T>() }
}

/// Stored files first, then answers.
pub const SCHEMAS: &[SchemaOf] = &[
    of::<IterationRecord>("record", "progress/iteration-*.json; begin, record, show --json; a line of watch --jsonl"),
    of::<Trajectory>("trajectory", "progress/trajectory.json"),
    of::<BestTracker>("best-tracker", "best-tracker.json"),
    of::<Selection>("selection", "selection.json"),
    of::<AcceptedNote>("accepted", "a line of accepted.jsonl"),
    of::<LetGo>("pruned", "pruned.json"),
    of::<Metrics>("metrics", "iterations/*/metrics.json"),
    of::<Manifest>("manifest", "iterations/*/manifest.json"),
    of::<TestCases>("test-cases", "the object that testing.cases names"),
    of::<LedgerHead>("ledger-head", "the first line of progress/tests.jsonl"),
    of::<Frame>("ledger-frame", "each further line of progress/tests.jsonl"),
    of::<RestoreRecord>("restore-record", "restores/<n>.json"),
    of::<answers::Gate>("gate", "gate --json"),
    of::<answers::Log>("log", "log --json"),
    of::<answers::LogLine>("log-line", "a line of log --jsonl"),
    of::<answers::Status>("status", "status --json"),
    of::<answers::Difference>("diff", "diff --json"),
    of::<answers::Tests>("tests", "tests --json"),
    of::<answers::TestLine>("test-line", "a line of tests --jsonl"),
    of::<answers::TestHistory>("test-history", "tests --history --json"),
    of::<answers::TestEvent>("test-event", "a line of tests --history --jsonl"),
    of::<answers::Restored>("restored", "restore, undo --json"),
    of::<answers::Finish>("finish", "finish --json"),
    of::<answers::Accept>("accept", "accept --json"),
    of::<answers::Inspected>("inspected", "a line of inspect --json"),
    of::<answers::List>("list", "list --json"),
    of::<answers::Listed>("listed", "a line of list --jsonl"),
    of::<answers::Explanation>("explanation", "explain --json"),
    of::<answers::Loops>("loops", "loops --json"),
    of::<answers::LoopLine>("loop-line", "a line of loops --jsonl"),
    of::<answers::Verify>("verify", "verify --json"),
    of::<answers::Prune>("prune", "prune --json"),
    of::<answers::Replay>("replay", "replay --json"),
    of::<answers::Config>("config", "config show --json"),
    of::<EstimatePrompt>("estimate-prompt", "what estimate.command reads"),
    of::<CallLine>("call", "a line that monitor reads"),
    of::<Watched>("watched", "a line that monitor answers"),
    of::<State>("state", "a line that steps reads"),
    of::<Assessment>("assessment", "a line that steps answers"),
    of::<LineError>("line-error", "the answer of monitor and steps to a line that is not understood"),
    of::<answers::Demo>("demo", "demo --json"),
];

/// The schema's text, as `schemas/` holds it.
///
/// # Errors
/// None in practice.
pub fn text(schema: &SchemaOf) -> Result<String> {
    let mut text = serde_json::to_string_pretty(&(schema.make)())
        .map_err(|error| Error::bug("a schema cannot be written as JSON").because(error.to_string()))?;
    text.push('\n');
    Ok(text)
}
