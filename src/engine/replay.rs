//! Judging a stored loop again, under its own config or another.

use super::Session;
use super::judge::{judged_again, read_cases};
use super::loops::frozen_config;
use crate::error::Result;
use crate::model::config::LoopConfig;
use crate::model::record::IterationRecord;
use crate::model::trajectory::Point;
use crate::snapshot::objects::Objects;
use crate::store::{Damaged, Store};

/// One iteration, as recorded and as judged again.
pub struct Replayed {
    /// As it lies in the store.
    pub stored: IterationRecord,
    /// As judged now. Under the loop's own config it is the same, to the byte.
    pub judged: IterationRecord,
}

/// Judges every readable record of a loop again, in order, each against the ones judged before it. Nothing is written.
///
/// # Errors
/// If records or stored test outcomes cannot be read.
pub fn replay(
    session: &Session<'_>,
    store: &Store,
    other: Option<&LoopConfig>,
) -> Result<(Vec<Replayed>, Vec<Damaged>)> {
    let (records, damaged) = store.load_all()?;
    let objects = Objects::open(session.layout)?;
    let own = match (other, records.first()) {
        (None, Some(first)) => Some(frozen_config(session.layout, store, first.record.config)?.config),
        _ => None,
    };
    let mut history: Vec<Point> = Vec::new();
    let mut replayed = Vec::new();
    for stored in records {
        let Some(config) = other.or(own.as_ref()) else { break };
        let id = stored.record.metrics.testing.as_ref().and_then(|tests| tests.cases);
        let cases = id.map(|id| read_cases(&objects, &id)).transpose()?;
        let judged = judged_again(stored.record.clone(), cases.as_ref(), &history, config, &objects, store)?;
        history.push(Point::of(&judged));
        replayed.push(Replayed { stored: stored.record, judged });
    }
    Ok((replayed, damaged))
}
