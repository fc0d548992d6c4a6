//! The end of a loop: choose the peak, prove that it is whole, put it back, say why, close.

use super::loops::no_readable_record;
use super::remeasure::{Attempt, Verification};
use super::restore::{Target, put_back};
use super::why::why_stopped;
use super::{Session, settle};
use crate::analysis::{self, Choice};
use crate::disk::{self, layout::Layout};
use crate::error::{Error, Result};
use crate::model::SCHEMA_VERSION;
use crate::model::config::LoopConfig;
use crate::model::ids::{Iteration, ObjectId};
use crate::model::trajectory::{Point, Remeasured, Selection};
use crate::report::{self, WholeLoop};
use crate::snapshot::objects::Objects;
use crate::snapshot::restore::Outcome;
use crate::store::Store;

/// How a loop is ended.
pub struct Finishing<'a> {
    /// Where the chosen tree goes; a whole work tree unless told otherwise.
    pub target: Target<'a>,
    /// Measures a candidate again in a copy of its tree, before it is taken.
    pub verification: Option<Verification<'a>>,
}

/// What came of it.
pub struct Finished {
    /// The choice, with what the restore changed.
    pub selection: Selection,
    /// The restore; `None` if nothing could be selected.
    pub outcome: Option<Outcome>,
    /// All iterations, for reports.
    pub points: Vec<Point>,
    /// The loop was closed and its report written.
    pub is_closed: bool,
    /// What a person should know.
    pub notes: Vec<String>,
}

/// The report of the choice as it stands, from the records: of what closed the loop, or of what `finish` would choose now.
///
/// # Errors
/// If the records cannot be read, or none is there.
pub fn selection_report(layout: &Layout, store: &Store) -> Result<String> {
    let candidates = Candidates::of(layout, store)?;
    candidates.report(layout, store, &candidates.closing(store)?)
}

/// What closed the loop, or what `finish` would choose now.
///
/// # Errors
/// As [`selection_report`].
pub fn selection(layout: &Layout, store: &Store) -> Result<Selection> {
    Candidates::of(layout, store)?.closing(store)
}

/// What `finish` would choose now.
///
/// # Errors
/// As [`selection_report`].
pub(super) fn selection_so_far(layout: &Layout, store: &Store) -> Result<Selection> {
    Candidates::of(layout, store).map(|candidates| candidates.would_be(store))
}

/// What there is to choose from.
struct Candidates {
    points: Vec<Point>,
    head: ObjectId,
    config: LoopConfig,
}

impl Candidates {
    fn of(layout: &Layout, store: &Store) -> Result<Candidates> {
        let history = store.history_from_records()?;
        let (Some((_, head)), Some(last)) = (history.head, history.points.last()) else {
            return Err(no_readable_record(store));
        };
        let record = store.load(last.iteration)?.record;
        let config = super::frozen_config(layout, store, record.config)?.config;
        Ok(Candidates { points: history.points, head, config })
    }

    fn report(&self, layout: &Layout, store: &Store, selection: &Selection) -> Result<String> {
        let best = analysis::best(&self.points, &self.config);
        let why = match self.points.last() {
            Some(last) => {
                let last = store.load(last.iteration)?.record;
                why_stopped(store, &Objects::open(layout)?, &last, &self.points, &best, &self.config)?
            }
            None => None,
        };
        report::selection_markdown(selection, &self.points, &self.config, why.as_ref())
    }

    fn write_reports(&self, layout: &Layout, store: &Store, selection: &Selection) -> Result<()> {
        let paths = store.paths();
        let text = self.report(layout, store, selection)?;
        disk::make_directory(&paths.reports())?;
        disk::replace(&paths.selection_report(), text.as_bytes())?;
        let best = analysis::best(&self.points, &self.config);
        let text = report::summary_markdown(store.id(), &self.points, &best, Some(selection))?;
        disk::replace(&paths.summary(), text.as_bytes())?;
        let (loop_id, points) = (store.id(), self.points.as_slice());
        let page = report::html(&WholeLoop { loop_id, points, best: &best, selection: Some(selection) })?;
        disk::replace(&paths.summary_page(), page.as_bytes())
    }

    fn closing(&self, store: &Store) -> Result<Selection> {
        Ok(store.selection()?.unwrap_or_else(|| self.would_be(store)))
    }

    fn would_be(&self, store: &Store) -> Selection {
        self.selection(store, analysis::select(&self.points, &self.config), Vec::new(), Vec::new())
    }

    /// The best few measured again, if that is wanted.
    fn remeasured(
        &self,
        session: &Session<'_>,
        store: &Store,
        finishing: &Finishing<'_>,
        notes: &mut Vec<String>,
    ) -> Result<Vec<Remeasured>> {
        if self.config.select.revalidate == 0 {
            return Ok(Vec::new());
        }
        let Some(verification) = &finishing.verification else {
            notes.push(
                "nothing was measured again, which select.revalidate asks for: there is no command for it".to_owned(),
            );
            return Ok(Vec::new());
        };
        let ranking = analysis::select(&self.points, &self.config).ranking;
        let again = verification.best_again(session, store, &ranking, &self.points, &self.config)?;
        Ok(again.into_iter().filter_map(|one| one.map_err(|why| notes.push(why)).ok()).collect())
    }

    fn selection(
        &self,
        store: &Store,
        choice: Choice,
        verification: Vec<String>,
        remeasured: Vec<Remeasured>,
    ) -> Selection {
        Selection {
            schema_version: SCHEMA_VERSION,
            loop_id: store.id().clone(),
            head: self.head,
            selected: choice.selected,
            last: choice.last,
            scores: choice.scores,
            rationale: choice.rationale,
            primary: choice.primary,
            threshold: choice.threshold,
            threshold_dropped: choice.threshold_dropped,
            pareto_front: choice.pareto_front,
            pareto: choice.pareto,
            improvement_percentage: choice.improvement_percentage,
            degradation: choice.degradation,
            remeasured,
            verification,
            restored: Vec::new(),
            restored_count: 0,
            blake3: None,
        }
    }
}

/// Ends a loop. With a dry run, or into another directory, it stays open.
///
/// # Errors
/// Bad input if the loop is closed; as a restore otherwise.
pub fn finish(session: &Session<'_>, store: &Store, finishing: &Finishing<'_>) -> Result<Finished> {
    disk::open_store(session.layout)?;
    let is_rehearsal = finishing.target.dry_run || finishing.target.into.is_some();
    if store.is_closed()? && !is_rehearsal {
        return Err(Error::bad_input(format!("loop {} is closed already", store.id()))
            .at(&store.paths().selection())
            .help(
                "`highwater report selection` prints what was chosen; `highwater restore ITER` puts any iteration back",
            ));
    }
    let mut notes = if is_rehearsal { Vec::new() } else { settle(session)? };
    let candidates = Candidates::of(session.layout, store)?;
    let (mut verification, mut rejected) = (Vec::new(), Vec::new());
    let remeasured = candidates.remeasured(session, store, finishing, &mut notes)?;
    let (choice, outcome) = loop {
        let choice = analysis::select_without(&candidates.points, &candidates.config, &rejected, &remeasured);
        let attempts_are_left =
            u32::try_from(rejected.len()).is_ok_and(|count| count < candidates.config.select.max_attempts);
        let Some(candidate) = choice.selected.filter(|_| attempts_are_left) else {
            break (Choice { selected: None, improvement_percentage: None, degradation: None, ..choice }, None);
        };
        match attempt(session, store, candidate, finishing, &candidates.config) {
            Ok((outcome, proof)) => {
                verification.push(proof);
                break (choice, Some(outcome));
            }
            Err(Attempt::Unfit(why)) => {
                notes.push(format!("iteration {candidate} was passed over: {why}"));
                verification.push(format!("iteration {candidate} failed: {why}"));
                rejected.push(candidate);
            }
            Err(Attempt::Stopped(error)) => return Err(error),
        }
    };
    let mut selection = candidates.selection(store, choice, verification, remeasured);
    if let Some(outcome) = &outcome {
        let files = || outcome.restored.iter().chain(&outcome.removed);
        let changed = || files().chain(&outcome.directories_restored).chain(&outcome.directories_removed);
        selection.restored_count = u64::try_from(changed().count()).unwrap_or(u64::MAX);
        selection.restored = changed().take(100).cloned().collect();
    }
    let is_closed = !is_rehearsal && outcome.is_some();
    if is_closed {
        candidates.write_reports(session.layout, store, &selection)?;
        store.close(&selection)?;
    }
    Ok(Finished { selection, outcome, points: candidates.points, is_closed, notes })
}

/// Verifies one candidate and puts it back.
fn attempt(
    session: &Session<'_>,
    store: &Store,
    candidate: Iteration,
    finishing: &Finishing<'_>,
    config: &LoopConfig,
) -> Result<(Outcome, String), Attempt> {
    let stored = store.load(candidate).map_err(Attempt::of)?;
    super::verify::check_tree(session.layout, &stored.record).map_err(Attempt::of)?;
    let mut proof = format!("iteration {candidate}: every object of its snapshot was read and its hash is right");
    if let Some(verification) = &finishing.verification {
        verification.check(session, store, &stored, config)?;
        proof.push_str(&format!("; `{}` gave the recorded figures again in a fresh copy", verification.command));
    }
    let newest = store.newest_number().map_err(Attempt::Stopped)?.unwrap_or(candidate);
    let outcome = put_back(session, store, &stored, newest, finishing.target).map_err(Attempt::Stopped)?;
    Ok((outcome, proof))
}
