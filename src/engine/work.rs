//! What was said, done and changed in an iteration: the agent's output beside the one before it, its tool calls, and changed
//! lines.

use super::measure::OUTPUT_BYTES;
use super::transcript;
use crate::disk;
use crate::error::{Error, ErrorKind, Result};
use crate::model::calls::CallLine;
use crate::model::ids::Iteration;
use crate::model::progress::{LineChanges, Output};
use crate::model::record::IterationRecord;
use crate::model::trajectory::Point;
use crate::snapshot::lines::changed_lines;
use crate::snapshot::objects::Objects;
use crate::store::Store;

/// What the agent said.
#[derive(Default)]
pub(super) struct Said {
    /// In this iteration.
    pub current: Option<String>,
    /// In the latest one before it of which that is known; empty if there is only the baseline before it, when the agent
    /// had not begun.
    pub previous: Option<String>,
}

impl Said {
    /// As the store holds it, for a record that follows these iterations. An earlier output that cannot be read any more
    /// is not known.
    ///
    /// # Errors
    /// If the record's own output cannot be read, or the system says no.
    pub fn of(store: &Store, record: &IterationRecord, history: &[Point]) -> Result<Said> {
        let Some(output) = &record.output else { return Ok(Said::default()) };
        let current = Some(read(store, record.iteration, output)?);
        let before = history.iter().rev().find_map(|point| Some((point.iteration, point.output.as_ref()?)));
        let previous = match before {
            Some((iteration, output)) => unless_damaged(read(store, iteration, output))?,
            None => history.iter().all(|point| point.iteration == Iteration::BASELINE).then(String::new),
        };
        Ok(Said { current, previous })
    }
}

/// The iteration's tool calls as the store holds them, by transcript; `None` if there is no transcript.
///
/// # Errors
/// If they cannot be read.
pub(super) fn calls(store: &Store, record: &IterationRecord) -> Result<Option<Vec<Vec<CallLine>>>> {
    let parts = &record.transcripts;
    let read = parts.iter().map(|part| {
        let path = store.paths().artifacts(record.iteration).join(&part.artifact);
        let bytes = disk::read(&path, u64::MAX)?;
        if disk::hash::id_of(&bytes) != part.blake3 {
            return Err(Error::bad_input("these are not the calls that were read: their hash differs").at(&path));
        }
        transcript::decoded(&bytes).map_err(|error| error.at(&path))
    });
    let all = read.collect::<Result<Vec<_>>>()?;
    Ok((!parts.is_empty()).then_some(all))
}

fn read(store: &Store, iteration: Iteration, output: &Output) -> Result<String> {
    let path = store.paths().artifacts(iteration).join(&output.artifact);
    let bytes = disk::read(&path, OUTPUT_BYTES)?;
    if disk::hash::id_of(&bytes) != output.blake3 {
        return Err(Error::bad_input("it is not the output that was read: its hash differs").at(&path));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// What is damaged or gone is not known. What the system does not let us read says nothing about it.
///
/// # Errors
/// A failure of the system.
pub(super) fn unless_damaged<T>(read: Result<T>) -> Result<Option<T>> {
    match read {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind == ErrorKind::Failed => Err(error),
        Err(_) => Ok(None),
    }
}

/// Lines that differ from the snapshot of the parent, reports and outputs of both left out; `None` for the baseline, and
/// where the parent or a snapshot is damaged or gone.
///
/// # Errors
/// A failure of the system.
pub(super) fn line_changes(
    store: &Store,
    objects: &Objects,
    parent: Option<Iteration>,
    record: &IterationRecord,
) -> Result<Option<LineChanges>> {
    let Some(parent) = parent else { return Ok(None) };
    let Some(parent) = unless_damaged(store.load(parent))? else { return Ok(None) };
    let parent = parent.record;
    let mut left_out = parent.report_files;
    left_out.extend(record.report_files.iter().cloned());
    unless_damaged(changed_lines(objects, &parent.tree, &record.tree, &left_out))
}
