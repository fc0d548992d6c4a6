//! Why a loop should end where the snapshot controller found it stuck: for its reports.

use std::collections::BTreeMap;
use std::io::{Read, Seek, SeekFrom};

use super::judge::read_cases;
use super::measure::CONSOLE;
use super::work::unless_damaged;
use crate::analysis::steps::{assess_iterations, why_we_stopped};
use crate::disk;
use crate::disk::hash::id_of;
use crate::error::{Error, Result};
use crate::model::cases::Outcome;
use crate::model::config::LoopConfig;
use crate::model::ids::Iteration;
use crate::model::record::IterationRecord;
use crate::model::steps::{LastCommand, Snapshot, State};
use crate::model::trajectory::{BestTracker, Point};
use crate::report::{StepLine, WhyStopped};
use crate::snapshot::objects::Objects;
use crate::store::Store;

/// Bytes at the end of what a command printed that are looked at.
const TAIL_BYTES: u64 = 64 << 10;

/// The paragraph, the last steps with their commands, and what the last command printed; `None` unless the record says
/// that the loop is stuck. `points` are the iterations up to the record's own. What is damaged is left out.
///
/// # Errors
/// A failure of the system.
pub(super) fn why_stopped(
    store: &Store,
    objects: &Objects,
    record: &IterationRecord,
    points: &[Point],
    best: &BestTracker,
    config: &LoopConfig,
) -> Result<Option<WhyStopped>> {
    if record.terminal_status.is_none() {
        return Ok(None);
    }
    let ran = match &record.command {
        Some(command) => Some(LastCommand {
            command: command.argv.join(" "),
            exit_code: command.exit_code,
            output: unless_damaged(printed(store, record))?.flatten(),
        }),
        None => None,
    };
    let Some((assessment, state)) = assess_iterations(points, ran, config, id_of) else { return Ok(None) };
    let told = State { tests: tests(objects, record)?, ..state };
    let best = best.iteration.map(|best| (&record.loop_id, best));
    let Some(paragraph) = why_we_stopped(&assessment, &told, best) else { return Ok(None) };
    let last_output = assessment.last_output.iter().flat_map(|output| output.lines()).map(str::to_owned).collect();
    let steps = assessment.last_snapshots.iter().map(|snapshot| line(store, snapshot)).collect::<Result<_>>()?;
    Ok(Some(WhyStopped { paragraph, steps, last_output }))
}

fn line(store: &Store, snapshot: &Snapshot) -> Result<StepLine> {
    let stored = match u32::try_from(snapshot.step) {
        Ok(iteration) => unless_damaged(store.load(Iteration(iteration)))?,
        Err(_) => None,
    };
    let command = stored.and_then(|stored| stored.record.command);
    Ok(StepLine {
        step: snapshot.step,
        tree: snapshot.tree.clone(),
        failing: snapshot.failing,
        errors: snapshot.errors,
        command: command.as_ref().map(|command| command.argv.join(" ")),
        exit_code: command.and_then(|command| command.exit_code),
    })
}

fn tests(objects: &Objects, record: &IterationRecord) -> Result<Option<BTreeMap<String, Outcome>>> {
    let Some(id) = record.metrics.cases() else { return Ok(None) };
    let cases = unless_damaged(read_cases(objects, &id))?;
    Ok(cases.map(|cases| cases.cases.into_iter().map(|(id, case)| (id, case.outcome)).collect()))
}

/// The end of what the command printed, if a report was found in it, so that it was kept.
fn printed(store: &Store, record: &IterationRecord) -> Result<Option<String>> {
    let source = record.sources.iter().find(|source| source.path == CONSOLE);
    let Some(artifact) = source.and_then(|source| source.artifact.as_ref()) else { return Ok(None) };
    let path = store.paths().artifacts(record.iteration).join(artifact);
    let mut file = disk::open_regular(&path)?;
    let unread = |error: std::io::Error| Error::io("read", &path, &error);
    let length = file.metadata().map_err(unread)?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES))).map_err(unread)?;
    let mut bytes = Vec::new();
    file.take(TAIL_BYTES).read_to_end(&mut bytes).map_err(unread)?;
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}
