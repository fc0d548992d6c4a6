//! One iteration: measure, capture, judge, commit, derive. The record's appearing is the commit; all before it can be thrown
//! away, all after it can be made again.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::bodies::{OfFailing, of_failing, renamed_by_body};
use super::edits::{compared_with, edits_since};
use super::estimate::estimate;
use super::evidence::named_ancestor;
use super::judge::judged;
use super::loops::{frozen_config, no_iterations};
use super::lost_lines::lost_lines;
use super::measure::{Earlier, Measured, PassedOver, measure};
use super::proof::{Suspect, is_needed};
use super::rerun::{Settled, settle};
use super::silence::Listener;
use super::why::why_stopped;
use super::work::line_changes;
use super::{Offer, Session, own, restore, transcript};
use crate::analysis;
use crate::disk::{self, lock::Lock};
use crate::error::{Error, Result};
use crate::model::SCHEMA_VERSION;
use crate::model::activity::TranscriptMark;
use crate::model::cases::TestCases;
use crate::model::config::LoopConfig;
use crate::model::edits::TestEdits;
use crate::model::figures::ReportKind;
use crate::model::ids::{Iteration, ObjectId, TreePath};
use crate::model::lost_lines::LostLines;
use crate::model::metrics::{CodebaseMetrics, CustomMetric, Metrics};
use crate::model::progress::ProgressEstimate;
use crate::model::proof::TamperProof;
use crate::model::record::IterationRecord;
use crate::model::reruns::Rerun;
use crate::model::trajectory::{BestTracker, Point};
use crate::report::{self, IterationExtra};
use crate::snapshot::capture::{Captured, capture};
use crate::snapshot::gather::gather;
use crate::snapshot::objects::Objects;
use crate::snapshot::tree::{Change, ChangeKind, diff};
use crate::store::{Commit, Damaged, History, Store, Stored, Unread, is_later};

/// What is said about an iteration that was recorded.
pub struct Recorded {
    /// As committed.
    pub record: IterationRecord,
    /// BLAKE3 of its file: with the loop and the number, the head that proves the history up to here.
    pub head: ObjectId,
    /// The best so far.
    pub best: BestTracker,
    /// Files that looked like reports by their name and gave nothing.
    pub passed_over: Vec<PassedOver>,
    /// Reports that could not be read.
    pub faults: Vec<Error>,
    /// What else a person should know: what was not kept, what was made again.
    pub notes: Vec<String>,
}

/// The summary of a snapshot, for people; derived.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SnapshotManifest {
    /// Version of this layout.
    pub schema_version: u32,
    /// The iteration.
    pub iteration: Iteration,
    /// The object of the root directory.
    pub tree: ObjectId,
    /// Files held.
    pub files: u64,
    /// Bytes of their contents.
    pub bytes: u64,
    /// Files that were seen and could not be kept, and why.
    pub unheld: Vec<(TreePath, String)>,
    /// The iteration that `changes` counts from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Iteration>,
    /// How many paths changed since.
    pub changed: u64,
    /// The first two hundred of them.
    pub changes: Vec<ManifestChange>,
}

/// One path that changed since the parent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ManifestChange {
    /// Which.
    pub path: TreePath,
    /// `added`, `removed` or `modified`.
    pub change: String,
}

/// What became of an iteration.
pub(super) enum Kept {
    /// It is recorded.
    Recorded(Box<Recorded>),
    /// Somebody else recorded the baseline first.
    BaselineTaken,
}

/// Records the next iteration of an open loop.
///
/// # Errors
/// Bad input if the loop is closed or `--parent` names no iteration; a failure if a restore is pending on which somebody
/// has worked, or the disk says no: then nothing was recorded.
pub fn record(session: &Session<'_>, store: &Store, offer: Offer) -> Result<Recorded> {
    check_open(session, store)?;
    let history = store.find_history()?;
    let newest = newest_readable(store, &history)?;
    let frozen = frozen_config(session.layout, store, newest.record.config)?;
    match keep(session, store, &frozen.config, frozen.text, offer, Some(Before { history, newest }))? {
        Kept::Recorded(mut recorded) => {
            if frozen.was_edited {
                recorded.notes.push("config.yaml of the loop was edited; the one frozen at the baseline counts".into());
            }
            Ok(*recorded)
        }
        Kept::BaselineTaken => Err(Error::bug("a loop lost its baseline")),
    }
}

/// Whether an iteration could be recorded now.
///
/// # Errors
/// As [`record`].
pub fn check_open(session: &Session<'_>, store: &Store) -> Result<()> {
    disk::open_store(session.layout)?;
    if store.is_closed()? {
        return Err(Error::bad_input(format!("loop {} is closed", store.id()))
            .at(&store.paths().selection())
            .help("`highwater begin` opens a new one; its baseline costs only what changed"));
    }
    restore::check(session)
}

/// What was there before the iteration.
pub(super) struct Before {
    history: Unread,
    /// The newest record that can be read.
    newest: Stored,
}

fn newest_readable(store: &Store, history: &Unread) -> Result<Stored> {
    let Some((newest, _)) = history.head else {
        return Err(no_iterations(store));
    };
    let unreadable = match store.load(newest) {
        Ok(stored) => return Ok(stored),
        Err(error) if is_later(&error) => return Err(error),
        Err(error) => error,
    };
    let earlier = store.numbers()?.into_iter().rev().filter(|number| *number < newest);
    earlier.filter_map(|number| store.load(number).ok()).next().ok_or(unreadable)
}

/// Measures, captures, judges and commits; the baseline if there was nothing before.
pub(super) fn keep(
    session: &Session<'_>,
    store: &Store,
    config: &LoopConfig,
    config_text: String,
    offer: Offer,
    before: Option<Before>,
) -> Result<Kept> {
    let mut notes = restore::settle(session)?;
    let is_baseline = before.is_none();
    let (mut measured, history) = measured_after(session, store, config, &offer, before)?;
    if let (true, Some(fault)) = (is_baseline, measured.faults.first()) {
        return Err(refused_baseline(fault, measured.faults.len()));
    }
    let known: Vec<&TranscriptMark> = history.points.iter().flat_map(|point| &point.transcripts).collect();
    notes.extend(transcript::take(session, config, &offer, &known, &mut measured)?);
    // Before the locks: nobody else waits for an estimator.
    let estimate = estimate(session, store, config, &offer, &measured, &history, &mut notes)?;

    let settled = match offer.run {
        Some(_) => settle(session, store, config, &offer, &history, &mut measured)?,
        None => Settled::default(),
    };
    notes.extend(settled.notes);

    // Held until the record is there: `restore` and `prune` wait for it.
    let captures = Lock::shared(&session.layout.lock(), session.wait)?;
    let cases = measured.measurement.cases.take().map(|cases| TestCases { schema_version: SCHEMA_VERSION, ..cases });
    let mut extra = vec![config_text.clone().into_bytes()];
    if let Some(cases) = &cases {
        extra.push(
            serde_json::to_vec(cases)
                .map_err(|e| Error::bug("test outcomes do not serialize").because(e.to_string()))?,
        );
    }
    let (captured, objects) =
        capture(session.layout, &config.capture, &config.limits, &extra, &measured.report_files, session.on_progress)?;
    notes.extend(notes_of(&captured));

    let mut recording = Recording {
        session,
        store,
        config,
        offer: &offer,
        measured: &measured,
        reruns: settled.reruns,
        captured: &captured,
        objects,
        estimate,
        proof: None,
    };
    if !is_baseline {
        recording.proof = recording.prove(cases.as_ref(), &history)?;
    }

    let _writer = Lock::exclusive(&store.paths().lock(), session.wait)?;
    store.sweep(history.head.map(|(newest, _)| newest));
    if is_baseline {
        if !store.numbers()?.is_empty() {
            return Ok(Kept::BaselineTaken);
        }
        disk::make_directory(store.paths().dir())?;
        disk::replace_synced(&store.paths().config(), config_text.as_bytes())?;
    }
    let Some((record, head, mut history)) = recording.commit(cases.as_ref(), history, is_baseline)? else {
        return Ok(Kept::BaselineTaken);
    };
    if history.rebuilt && !is_baseline {
        notes.push("trajectory.json was not up to date; it was made again from the records".into());
    }
    let left_out = |one: &Damaged| format!("iteration {} is damaged and left out: {}", one.iteration, one.error.said());
    notes.extend(history.damaged.iter().map(left_out));

    history.push(Point::of(&record), head)?;
    let best = analysis::best(&history.points, config);
    if let Err(error) = recording.derive(&record, head, &history, &best) {
        // The record stands; what is derived is made again at the next one.
        notes.push(format!("recorded, but what is derived from it could not be written: {}", error.said()));
    }
    drop(captures);
    // Many small packs cost time at every start and nothing else: what cannot be gathered now is gathered later.
    let _ = gather(session.layout, &recording.objects);
    Ok(Kept::Recorded(Box::new(Recorded {
        record,
        head,
        best,
        passed_over: measured.passed_over,
        faults: measured.faults,
        notes,
    })))
}

/// What there is to measure, and the history, which is read meanwhile.
fn measured_after(
    session: &Session<'_>,
    store: &Store,
    config: &LoopConfig,
    offer: &Offer,
    before: Option<Before>,
) -> Result<(Measured, History)> {
    let (unread, newest) = before.map(|before| (before.history, before.newest.record)).unzip();
    let root = session.layout.root();
    let listener = newest.as_ref().and_then(|newest| Listener::new(root, session.layout, store, newest, offer));
    let sources = newest.as_ref().map_or(&[][..], |newest| &newest.sources);
    let earlier = Earlier { sources, listener: listener.as_ref() };
    let since = match (offer.since, unread.as_ref().and_then(|unread| unread.head)) {
        (Some(since), _) => Some(since),
        (None, Some((newest, _))) => store.recorded_at(newest)?,
        (None, None) => None,
    };
    let (measured, history) = rayon::join(
        || measure(session, config, offer, since, earlier),
        || unread.map_or(Ok(History::default()), |unread| store.read_history(unread)),
    );
    Ok((measured?, history?))
}

fn refused_baseline(fault: &Error, count: usize) -> Error {
    let mut error = fault.clone();
    if count > 1 {
        let more = format!("{} more reports could not be read either", count - 1);
        error.cause = Some(error.cause.take().map_or(more.clone(), |cause| format!("{cause}\n{more}")));
    }
    let no_loop = "no loop was opened";
    error.help = Some(error.help.take().map_or(no_loop.to_owned(), |help| format!("{help} ({no_loop})")));
    error
}

/// What a person should know of a snapshot.
fn notes_of(captured: &Captured) -> Vec<String> {
    let mut notes = Vec::new();
    let unheld = captured.unheld.iter().map(|(path, why)| format!("{path}: {why}"));
    tell("not kept", unheld, "; the manifest names them", &mut notes);
    let skipped = captured.skipped.iter().map(|(path, why)| format!("{path}: {why}"));
    tell("passed over", skipped, "", &mut notes);
    if captured.hard_links > 0 {
        notes.push(format!("{} hard links are kept as files of their own", captured.hard_links));
    }
    let secrets = captured.included_secrets.iter().map(TreePath::to_string);
    tell("kept although it looks secret, as capture.include says", secrets, "", &mut notes);
    notes
}

/// Notes the first five, and how many more there are.
fn tell(what: &str, all: impl ExactSizeIterator<Item = String>, elsewhere: &str, notes: &mut Vec<String>) {
    let more = all.len().saturating_sub(5);
    notes.extend(all.take(5).map(|one| format!("{what}: {one}")));
    if more > 0 {
        notes.push(format!("{what}: {more} more{elsewhere}"));
    }
}

/// The iteration that the work started from; `None` at the baseline.
///
/// # Errors
/// Bad input if the user named one that is not there; as [`restore::parent`].
pub(super) fn started_from(
    session: &Session<'_>,
    store: &Store,
    offer: &Offer,
    history: &History,
) -> Result<Option<Iteration>> {
    let Some((newest, _)) = history.head else { return Ok(None) };
    if let Some(parent) = offer.parent {
        return match history.point(parent) {
            Some(_) => Ok(Some(parent)),
            None => Err(no_such_iteration(store, parent, newest)),
        };
    }
    restore::parent(session.layout, store.id(), newest).map(Some).map_err(|error| match error.help {
        None => error.help("`--parent ITER` says which iteration the work started from; nothing was recorded"),
        Some(_) => error,
    })
}

/// An iteration that is measured and captured, on its way to becoming a record.
struct Recording<'a> {
    session: &'a Session<'a>,
    store: &'a Store,
    config: &'a LoopConfig,
    offer: &'a Offer,
    measured: &'a Measured,
    reruns: Vec<Rerun>,
    captured: &'a Captured,
    /// As they are after the capture: the new snapshot is among them.
    objects: Objects,
    /// As far as it does not depend on the verdict.
    estimate: Option<ProgressEstimate>,
    proof: Option<TamperProof>,
}

impl Recording<'_> {
    /// The record without its number, parent, chain and verdict.
    fn draft(&self, has_cases: bool) -> Result<IterationRecord> {
        let config_id = self.captured.extra.first().copied().ok_or_else(|| Error::bug("the config was not stored"))?;
        let cases_id = if has_cases { self.captured.extra.get(1).copied() } else { None };
        let (custom, odd) = own::own(self.offer, &self.measured.measurement.metrics, self.config);
        let warnings = self.measured.measurement.warnings.iter().cloned().chain(odd);
        let mut draft = IterationRecord {
            metrics: self.metrics(cases_id, custom),
            sources: self.measured.sources.clone(),
            report_files: self.measured.report_files.clone(),
            output: self.measured.output.clone(),
            transcripts: self.measured.transcripts.clone(),
            goal: self.offer.goal.clone(),
            warnings: warnings.collect(),
            estimate: self.estimate.clone(),
            proof: self.proof.clone(),
            tree_key: self.captured.tree_key,
            command: self.offer.command.clone(),
            reruns: self.reruns.clone(),
            label: self.offer.label.clone(),
            cost: self.offer.cost.or_else(|| transcript::cost(&self.measured.transcripts)),
            tokens: self.offer.tokens.or_else(|| transcript::tokens(&self.measured.transcripts)),
            ..IterationRecord::draft(self.store.id().clone(), self.offer.started_at, self.captured.root, config_id)
        };
        let unexplained = draft.unexplained_exit();
        let why = match draft.sources.iter().any(|source| source.figures.is_some()) {
            true => "nothing that was read tells of a failure or a finding",
            false => "no report was read",
        };
        draft.warnings.extend(unexplained.map(|code| format!("the command ended with exit code {code}, and {why}")));
        Ok(draft)
    }

    fn metrics(&self, cases: Option<ObjectId>, custom: BTreeMap<String, CustomMetric>) -> Metrics {
        let census = (!self.offer.skip.contains(&ReportKind::Size)).then_some(&self.captured.census);
        let measurement = &self.measured.measurement;
        let codebase = CodebaseMetrics {
            file_count: census.map(|census| census.file_count),
            loc_total: census.map(|census| census.loc_total),
            complexity_score: measurement.complexity_score,
        };
        Metrics {
            testing: measurement.testing.clone().map(|tests| crate::model::metrics::TestMetrics { cases, ..tests }),
            coverage: measurement.coverage.clone(),
            quality: measurement.quality.clone(),
            codebase: (codebase != CodebaseMetrics::default()).then_some(codebase),
            custom,
        }
    }

    /// Judges the draft as the next number and commits it; if another writer took that number, judges again as the one
    /// after. `known` is the history as it was read last.
    fn commit(
        &mut self,
        cases: Option<&TestCases>,
        mut known: History,
        is_baseline: bool,
    ) -> Result<Option<(IterationRecord, ObjectId, History)>> {
        let draft = self.draft(cases.is_some())?;
        loop {
            let head = known.head;
            let history = self.store.history_since(std::mem::take(&mut known))?;
            if is_baseline && history.head.is_some() {
                return Ok(None);
            }
            if history.head != head {
                // Another writer's snapshot came, perhaps after ours.
                self.objects = Objects::open(self.session.layout)?;
            }
            let iteration = history.next();
            let parent = started_from(self.session, self.store, self.offer, &history)?;
            let accepted = match history.head {
                Some((newest, _)) => self.store.accepted_since(newest)?.0,
                None => Vec::new(),
            };
            let before = match cases {
                Some(_) => named_ancestor(&self.objects, &history.points, parent)?,
                None => None,
            };
            let (same_bodies, lost_sources) = match (&before, cases) {
                (Some((point, before)), Some(now)) => {
                    let root = &self.captured.root;
                    (renamed_by_body(&self.objects, &point.tree, root, before, now)?, Vec::new())
                }
                _ => {
                    let OfFailing { renamed, lost } = self.of_failing(&history.points, parent, &draft.metrics)?;
                    (renamed, lost)
                }
            };
            let test_edits = self.test_edits(&history.points, parent, &draft, before.as_ref(), cases)?;
            let lost_lines = self.lost_lines(&history.points, parent)?;
            let before = before.map(|(_, cases)| cases);
            let record = IterationRecord {
                iteration,
                parent,
                recorded_at: self.session.now,
                accepted,
                same_bodies,
                lost_sources,
                test_edits,
                lost_lines,
                previous_record: history.head.map(|(_, id)| id),
                line_changes: line_changes(self.store, &self.objects, parent, &draft)?,
                ..draft.clone()
            };
            // First: judging reads what the agent said from there.
            self.keep_artifacts(iteration)?;
            let record =
                judged(record, before.as_ref(), cases, &history.points, self.config, &self.objects, self.store)?;
            if let Commit::Done(head) = self.store.commit(&record)? {
                return Ok(Some((record, head, history)));
            }
        }
    }

    /// Whether tests were tampered with, where that is asked for.
    fn prove(&self, cases: Option<&TestCases>, history: &History) -> Result<Option<TamperProof>> {
        let Recording { session, store, config, offer, objects, .. } = self;
        if !is_needed(config, offer, &history.points) {
            return Ok(None);
        }
        let draft = &self.draft(cases.is_some())?;
        Suspect { session, store, config, offer, objects, draft, cases }.prove(history)
    }

    /// What the sources tell of the tests that failed, where the others have no names.
    fn of_failing(&self, points: &[Point], parent: Option<Iteration>, now: &Metrics) -> Result<OfFailing> {
        let tells = |metrics: &Metrics| metrics.failures().is_some();
        let Some(before) = analysis::previous_with(points, parent, tells).filter(|_| tells(now)) else {
            return Ok(OfFailing::default());
        };
        let open = parent.and_then(|parent| analysis::find(points, parent)).into_iter();
        let open: Vec<&str> = open.flat_map(|point| analysis::removed_failing(&point.open_findings)).collect();
        of_failing(&self.objects, before, &self.captured.root, now, &open)
    }

    /// What was done to tests since the latest ancestor that tells what failed; since the parent, if none does.
    fn test_edits(
        &self,
        points: &[Point],
        parent: Option<Iteration>,
        draft: &IterationRecord,
        named: Option<&(&Point, TestCases)>,
        now: Option<&TestCases>,
    ) -> Result<Option<TestEdits>> {
        let since = compared_with(points, parent, named.map(|(point, _)| *point));
        let cases = (named.map(|(_, cases)| cases), now);
        since.map_or(Ok(None), |since| edits_since(self.store, &self.objects, since, draft, cases))
    }

    /// Against the latest ancestor with coverage.
    fn lost_lines(&self, points: &[Point], parent: Option<Iteration>) -> Result<Option<LostLines>> {
        let Some(since) = analysis::previous_with(points, parent, |metrics| metrics.coverage.is_some()) else {
            return Ok(None);
        };
        lost_lines(self.store, &self.objects, since, &self.captured.root, &self.measured.measurement.lines)
    }

    /// The reports that were read, byte for byte, under the iteration's folder.
    fn keep_artifacts(&self, iteration: Iteration) -> Result<()> {
        if self.measured.artifacts.is_empty() {
            return Ok(());
        }
        let folder = self.store.paths().artifacts(iteration);
        disk::make_directory(&folder)?;
        disk::for_each(&self.measured.artifacts, |(name, spool)| spool.keep_as(&folder.join(name)))?;
        disk::sync_directory(&folder)?;
        Ok(())
    }

    /// What explains the iteration to people, and what the next one reads.
    fn derive(&self, record: &IterationRecord, head: ObjectId, history: &History, best: &BestTracker) -> Result<()> {
        let (derived, explained) =
            rayon::join(|| self.store.derive(history, best), || self.explain(record, head, history, best));
        derived.and(explained)
    }

    /// What explains the iteration to people.
    fn explain(&self, record: &IterationRecord, head: ObjectId, history: &History, best: &BestTracker) -> Result<()> {
        let before = record.parent.and_then(|parent| history.point(parent));
        let changes = match before {
            Some(parent) => diff(&self.objects, &parent.tree, &record.tree)?,
            None => Vec::new(),
        };
        let (changed, listed) = manifest_changes(&changes);
        let manifest = SnapshotManifest {
            schema_version: SCHEMA_VERSION,
            iteration: record.iteration,
            tree: record.tree,
            files: self.captured.files,
            bytes: self.captured.bytes,
            unheld: self.captured.unheld.clone(),
            since: before.map(|point| point.iteration),
            changed,
            changes: listed,
        };
        self.store.derive_iteration(record, &manifest)?;
        let extra = IterationExtra {
            changed_files: before.map(|_| changed_files(&changes)),
            history: &history.points,
            why_stopped: why_stopped(self.store, &self.objects, record, &history.points, best, self.config)?,
        };
        let text = report::iteration_markdown(record, best, &head, &extra)?;
        disk::make_directory(&self.store.paths().reports())?;
        self.store.replace(&self.store.paths().report(record.iteration), text.as_bytes())
    }
}

/// `--parent`, `show`, `restore`, …: a number that is not there.
pub(super) fn no_such_iteration(store: &Store, wanted: Iteration, newest: Iteration) -> Error {
    Error::bad_input(format!("no iteration {wanted} in loop {}: have 0 to {newest}", store.id()))
        .at(&store.paths().record(wanted))
        .help("`highwater log` lists them")
}

/// How many paths changed, and those that a manifest lists.
pub(super) fn manifest_changes(changes: &[Change]) -> (u64, Vec<ManifestChange>) {
    let listed = |change: &Change| ManifestChange { path: change.path.clone(), change: change_name(change).to_owned() };
    (u64::try_from(changes.len()).unwrap_or(u64::MAX), changes.iter().take(200).map(listed).collect())
}

/// `added`, `removed` or `modified`.
pub fn change_name(change: &Change) -> &'static str {
    match change.kind {
        ChangeKind::Added => "added",
        ChangeKind::Removed => "removed",
        _ => "modified",
    }
}

/// Changed paths as reports list them.
pub fn changed_files(changes: &[Change]) -> Vec<(char, String)> {
    changes
        .iter()
        .map(|change| {
            let letter = match change.kind {
                ChangeKind::Added => 'A',
                ChangeKind::Removed => 'D',
                _ => 'M',
            };
            (letter, change.path.to_string())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_the_first_five_are_named_and_the_others_counted() {
        let told = |count: usize| {
            let mut notes = Vec::new();
            tell("kept", (0..count).map(|number| number.to_string()), "; see there", &mut notes);
            notes
        };
        assert_eq!((told(5).len(), told(7).len()), (5, 6));
        assert_eq!(told(7).last().map(String::as_str), Some("kept: 2 more; see there"));
    }
}
