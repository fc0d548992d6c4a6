//! The JSON Schema of every stored file and of every `--json` answer. They are made from the types by this room's test,
//! which fails if one in `schemas/` is not the type's: the program itself only prints them.

#[cfg(test)]
use super::answers;
#[cfg(test)]
use super::lines::LineError;
#[cfg(test)]
use super::tool_answers;
#[cfg(test)]
use crate::engine::SnapshotManifest;
#[cfg(test)]
use crate::model::calls::{ActivityLine, CallLine, Watched};
#[cfg(test)]
use crate::model::cases::TestCases;
#[cfg(test)]
use crate::model::ledger::{Frame, LedgerHead};
#[cfg(test)]
use crate::model::levels::MetricLevels;
#[cfg(test)]
use crate::model::metrics::Metrics;
#[cfg(test)]
use crate::model::progress::EstimatePrompt;
#[cfg(test)]
use crate::model::record::IterationRecord;
#[cfg(test)]
use crate::model::steps::{Assessment, State};
#[cfg(test)]
use crate::model::trajectory::{BestTracker, Selection, Trajectory};
#[cfg(test)]
use crate::snapshot::restore::RestoreRecord;
#[cfg(test)]
use crate::store::{AcceptedNote, LetGo, Refusals, faults::Fault};

/// One schema.
pub struct SchemaOf {
    /// As `highwater schema` takes it; `schemas/<name>.schema.json` holds it.
    pub name: &'static str,
    /// Which file or answer has this shape.
    pub about: &'static str,
    /// The schema.
    pub text: &'static str,
}

macro_rules! schemas {
    ($($type:ty, $name:literal, $about:literal;)*) => {
        /// Stored files first, then answers.
        pub const SCHEMAS: &[SchemaOf] = &[
            $(SchemaOf {
                name: $name,
                about: $about,
                text: include_str!(concat!("../../schemas/", $name, ".schema.json")),
            }),*
        ];

        /// As [`SCHEMAS`], made from the types.
        #[cfg(test)]
        const MADE: &[(&str, fn() -> schemars::Schema)] =
            &[$(($name, || schemars::SchemaGenerator::default().into_root_schema_for::<$type>())),*];
    };
}

schemas! {
    IterationRecord, "record", "progress/iteration-*.json; begin, record, show --json; a line of watch --jsonl";
    Trajectory, "trajectory", "progress/trajectory.json";
    BestTracker, "best-tracker", "best-tracker.json";
    Selection, "selection", "selection.json";
    AcceptedNote, "accepted", "a line of accepted.jsonl";
    LetGo, "pruned", "pruned.json";
    Metrics, "metrics", "iterations/*/metrics.json";
    SnapshotManifest, "manifest", "iterations/*/manifest.json";
    TestCases, "test-cases", "the object that testing.cases names";
    LedgerHead, "ledger-head", "the first line of progress/tests.jsonl";
    Frame, "ledger-frame", "each further line of progress/tests.jsonl";
    RestoreRecord, "restore-record", "restores/<n>.json";
    answers::hook::Note, "hook-note", ".hooks/*.note";
    ActivityLine, "activity", "a line of iterations/*/activity.jsonl";
    Refusals, "refusals", "sessions/*.json";
    Fault, "fault", "a line of faults.log";
    answers::Gate, "gate", "gate --json";
    answers::Log, "log", "log --json";
    answers::LogLine, "log-line", "a line of log --jsonl";
    answers::LogChanges, "log-changes", "log --changes --json";
    MetricLevels, "metric-levels", "a line of log --changes --jsonl";
    answers::Status, "status", "status --json";
    answers::Difference, "diff", "diff --json";
    answers::Tests, "tests", "tests --json";
    answers::TestLine, "test-line", "a line of tests --jsonl";
    answers::TestHistory, "test-history", "tests --history --json";
    answers::TestEvent, "test-event", "a line of tests --history --jsonl";
    answers::Restored, "restored", "restore, undo --json";
    answers::Finish, "finish", "finish --json";
    answers::Accept, "accept", "accept --json";
    answers::Inspected, "inspected", "a line of inspect --json";
    answers::List, "list", "list --json";
    answers::Listed, "listed", "a line of list --jsonl";
    answers::Explanation, "explanation", "explain --json";
    answers::Loops, "loops", "loops --json";
    answers::LoopLine, "loop-line", "a line of loops --jsonl";
    answers::Verify, "verify", "verify --json";
    answers::Prune, "prune", "prune --json";
    answers::Replay, "replay", "replay --json";
    answers::Config, "config", "config show --json";
    answers::hook::Changes, "hook-changes", "hook install, hook uninstall --json";
    answers::hook::Status, "hook-status", "hook status --json";
    EstimatePrompt, "estimate-prompt", "what estimate.command reads";
    CallLine, "call", "a line that monitor reads";
    Watched, "watched", "a line that monitor answers";
    State, "state", "a line that steps reads";
    Assessment, "assessment", "a line that steps answers";
    LineError, "line-error", "the answer of monitor and steps to a line that is not understood";
    answers::Demo, "demo", "demo --json";
    tool_answers::Verdict, "verdict", "mcp: assess, record";
    tool_answers::History, "history", "mcp: history";
    tool_answers::Peak, "peak", "mcp: best";
    tool_answers::ReportPage, "report-page", "mcp: report";
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{MADE, SCHEMAS};

    #[test]
    #[expect(clippy::disallowed_methods, reason = "it writes the source tree when it is asked to")]
    fn published_schemas_are_up_to_date() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas");
        let mut stale = Vec::new();
        for ((name, make), published) in MADE.iter().zip(SCHEMAS) {
            let text = format!("{}\n", serde_json::to_string_pretty(&make()).unwrap());
            if std::env::var_os("HIGHWATER_UPDATE_SCHEMAS").is_some() {
                std::fs::write(folder.join(format!("{name}.schema.json")), &text).unwrap();
            } else if published.text != text {
                stale.push(name);
            }
        }
        assert!(stale.is_empty(), "stale: {stale:?}; HIGHWATER_UPDATE_SCHEMAS=1 cargo test --lib schemas writes them");
        for entry in std::fs::read_dir(&folder).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let is_known = SCHEMAS.iter().any(|schema| format!("{}.schema.json", schema.name) == name);
            assert!(name == "README.md" || is_known, "schemas/{name} belongs to no type");
        }
    }
}
