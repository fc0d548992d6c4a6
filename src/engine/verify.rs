//! Checking everything that a loop has stored: records and their chain, objects, artifacts, what the numbers came from.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::Session;
use super::judge::{judged_again, read_cases};
use super::loops::{Frozen, frozen_config};
use super::measure::measure_again;
use super::work::line_changes;
use crate::analysis;
use crate::disk::{self, layout::Layout, lock::Lock};
use crate::error::Result;
use crate::model::ids::{Iteration, ObjectId};
use crate::model::metrics::{CodebaseMetrics, Metrics, TestMetrics};
use crate::model::record::IterationRecord;
use crate::model::trajectory::{BestTracker, Point, Trajectory};
use crate::model::tree::EntryKind;
use crate::snapshot::census;
use crate::snapshot::objects::Objects;
use crate::snapshot::restore::{damaged_records, newest_record};
use crate::store::{Store, Stored};

/// What is said of a derived file that is not what its records give.
const DIFFERS: &str = "it differs from the records that it was made from (derived; --repair makes it again)";

/// Something that is not as it was written.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The file.
    pub file: String,
    /// What is wrong.
    pub fault: String,
}

/// What was checked and what was found.
#[derive(Clone, Debug, Default)]
pub struct Verified {
    /// Records.
    pub records: u64,
    /// Objects.
    pub objects: u64,
    /// Stored reports.
    pub artifacts: u64,
    /// The newest iteration and BLAKE3 of its record's file.
    pub head: Option<(Iteration, ObjectId)>,
    /// What is wrong.
    pub findings: Vec<Finding>,
    /// Iterations whose snapshot is whole.
    pub restorable: Vec<Iteration>,
    /// Iterations whose snapshot is not whole because `prune` let it go.
    pub let_go: Vec<Iteration>,
}

/// Checks a loop; nothing is written. It waits for nobody: what seems to be wrong is looked at again while nobody writes, as
/// far as that is to be had within the session's time.
///
/// `head` is a number and a hash that were kept outside: only they show that the newest records were cut off, or that the
/// whole history was written anew. `recompute` parses the stored reports and counts the stored trees again.
///
/// # Errors
/// If the disk cannot be read. What is wrong with the loop is in the answer.
pub fn verify(
    session: &Session<'_>,
    store: &Store,
    head: Option<(Iteration, ObjectId)>,
    recompute: bool,
) -> Result<Verified> {
    let verified = check(session, store, head, recompute);
    if verified.as_ref().is_ok_and(|verified| verified.findings.is_empty()) {
        return verified;
    }
    // A record, a restore or a pruning that came meanwhile is in one of the files that were read, and not in another.
    let locks = Lock::exclusive(&session.layout.lock(), session.wait)
        .and_then(|all| Ok((all, Lock::exclusive(&store.paths().lock(), session.wait)?)));
    match locks {
        Ok(_alone) => check(session, store, head, recompute),
        Err(_) => verified,
    }
}

fn check(
    session: &Session<'_>,
    store: &Store,
    head: Option<(Iteration, ObjectId)>,
    recompute: bool,
) -> Result<Verified> {
    let mut check = Check {
        session,
        store,
        may_be_gone: Vec::new(),
        ids: BTreeMap::new(),
        lost: BTreeSet::new(),
        verified: Verified::default(),
    };
    match store.let_go() {
        Ok(let_go) => check.may_be_gone = let_go,
        Err(error) => check.found(store.paths().pruned(), error.said()),
    }
    if let Err(error) = store.selection() {
        check.found(store.paths().selection(), error.said());
    }
    let records = check.records()?;
    if let Some((iteration, id)) = head {
        check.head(&records, iteration, id);
    }
    let objects = Objects::open(session.layout)?;
    check.objects(&objects)?;
    check.trees(&objects, &records);
    check.artifacts(&records)?;
    check.derived(&records);
    check.restores(&objects)?;
    if recompute {
        check.recompute(&objects, &records)?;
    }
    Ok(check.verified)
}

struct Check<'a> {
    session: &'a Session<'a>,
    store: &'a Store,
    /// What `prune` noted.
    may_be_gone: Vec<Iteration>,
    /// BLAKE3 of each record's file, readable as a record or not.
    ids: BTreeMap<Iteration, ObjectId>,
    /// Objects that are damaged wherever they are.
    lost: BTreeSet<ObjectId>,
    verified: Verified,
}

impl Check<'_> {
    fn found(&mut self, file: impl AsRef<Path>, fault: impl Into<String>) {
        let file = file.as_ref();
        let file = file.strip_prefix(self.session.layout.root()).unwrap_or(file);
        self.verified.findings.push(Finding { file: file.display().to_string(), fault: fault.into() });
    }

    /// Every record, and that each names the file of the one before it.
    fn records(&mut self) -> Result<Vec<Stored>> {
        let mut records = Vec::new();
        let mut before: Option<Iteration> = None;
        for iteration in self.store.numbers()? {
            let path = self.store.paths().record(iteration);
            let expected = before.map_or(Iteration::BASELINE, Iteration::next);
            if iteration != expected {
                let missing = file_name(&self.store.paths().record(expected));
                self.found(&path, format!("iteration {expected} is missing before it: there is no {missing}"));
            }
            self.verified.records += 1;
            match self.store.load(iteration) {
                Ok(stored) => {
                    self.ids.insert(iteration, stored.id);
                    if iteration == expected {
                        self.link(&path, stored.record.previous_record, before);
                    }
                    records.push(stored);
                }
                Err(error) => {
                    // So that the next record's link is checked all the same.
                    if let Ok(bytes) = disk::read(&path, u64::MAX) {
                        self.ids.insert(iteration, disk::hash::id_of(&bytes));
                    }
                    self.found(&path, error.said());
                }
            }
            before = Some(iteration);
        }
        self.verified.head = before.and_then(|newest| Some((newest, *self.ids.get(&newest)?)));
        Ok(records)
    }

    /// Whether a record names the file of the one before it. One that is not there as a file is named already.
    fn link(&mut self, path: &Path, named: Option<ObjectId>, before: Option<Iteration>) {
        let fault = match before {
            None if named.is_some() => "it continues a record, and it is the first".to_owned(),
            Some(before) if self.ids.get(&before).is_some_and(|id| Some(*id) != named) => {
                let other = file_name(&self.store.paths().record(before));
                format!("it does not continue {other}: one of the two was changed")
            }
            _ => return,
        };
        self.found(path, fault);
    }

    fn head(&mut self, records: &[Stored], iteration: Iteration, id: ObjectId) {
        let path = self.store.paths().record(iteration);
        match records.iter().find(|stored| stored.record.iteration == iteration) {
            None => self.found(path, "the head names it, and it is not there: the end of the history was cut off"),
            Some(stored) if stored.id != id => {
                self.found(path, "it is not the one that the head was made from: the history was written anew");
            }
            Some(_) => {}
        }
    }

    fn objects(&mut self, objects: &Objects) -> Result<()> {
        let checked = Objects::check(self.session.layout)?;
        self.verified.objects = checked.objects;
        let is_lost = |id: &ObjectId| objects.write_to(id, &mut std::io::sink()).is_err();
        self.lost = checked.damaged.into_iter().filter(is_lost).collect();
        for (file, fault) in checked.faults {
            self.found(file, fault);
        }
        Ok(())
    }

    /// Which snapshots are whole.
    fn trees(&mut self, objects: &Objects, records: &[Stored]) {
        let mut sound = BTreeSet::new();
        for stored in records {
            let record = &stored.record;
            let path = self.store.paths().record(record.iteration);
            for (id, what) in [(Some(record.config), "config"), (record.metrics.cases(), "test outcomes")] {
                if let Some(id) = id.filter(|id| !objects.has(id) || self.lost.contains(id)) {
                    self.found(&path, format!("the object of its {what} is missing or damaged: {id}"));
                }
            }
            let is_config_lost = !objects.has(&record.config) || self.lost.contains(&record.config);
            let has_rules = !is_config_lost || frozen_config(self.session.layout, self.store, record.config).is_ok();
            match reachable(objects, &record.tree, &self.lost, &mut sound) {
                // What was imported is whole, and there is nothing in it.
                Ok(()) if record.imported.is_some() => {}
                // Nothing is given back without the rules by which it was captured: that they are gone was said above.
                Ok(()) if !has_rules => {}
                Ok(()) => self.verified.restorable.push(record.iteration),
                Err(_) if self.may_be_gone.contains(&record.iteration) => self.verified.let_go.push(record.iteration),
                Err(fault) => self.found(&path, format!("its snapshot is not whole: {fault}")),
            }
        }
    }

    fn artifacts(&mut self, records: &[Stored]) -> Result<()> {
        for stored in records {
            let folder = self.store.paths().artifacts(stored.record.iteration);
            let sources = stored.record.sources.iter().filter_map(|s| Some((s.artifact.as_ref()?, s.blake3)));
            let output = stored.record.output.iter().map(|output| (&output.artifact, Some(output.blake3)));
            let calls = stored.record.transcripts.iter().map(|part| (&part.artifact, Some(part.blake3)));
            let named: BTreeMap<&String, Option<ObjectId>> = sources.chain(output).chain(calls).collect();
            for (name, id) in named {
                let path = folder.join(name);
                self.verified.artifacts += 1;
                match disk::id_if_present(&path) {
                    Ok(found @ Some(_)) if found == id => {}
                    Ok(Some(_)) => self.found(&path, "it is not the report that was read: its hash differs"),
                    Ok(None) => self.found(&path, "the stored report is missing"),
                    Err(error) => self.found(&path, error.said()),
                }
            }
        }
        Ok(())
    }

    /// Whether the way back from the newest restore is whole.
    fn restores(&mut self, objects: &Objects) -> Result<()> {
        let layout = self.session.layout;
        let mut unread = damaged_records(layout)?;
        match newest_record(layout) {
            Ok(Some(newest)) => {
                if let Err(fault) = reachable(objects, &newest.safety, &self.lost, &mut BTreeSet::new()) {
                    self.found(layout.restore_record(newest.number), format!("it cannot be undone: {fault}"));
                }
            }
            Ok(None) => {}
            Err(error) if unread.is_empty() => unread.push(error),
            Err(_) => {}
        }
        for error in unread {
            self.found(error.place.path.as_deref().unwrap_or_default(), error.said());
        }
        Ok(())
    }

    /// What was made from the records says what they say.
    fn derived(&mut self, records: &[Stored]) {
        let points: Vec<Point> = records.iter().map(|stored| Point::of(&stored.record)).collect();
        self.trajectory(&points);
        self.best(records, &points);
        for stored in records {
            let path = self.store.paths().metrics(stored.record.iteration);
            let expected = crate::store::encode(&stored.record.metrics).ok();
            if self.derived_bytes(&path).is_some_and(|bytes| Some(&bytes) != expected.as_ref()) {
                self.found(&path, "it differs from its record (derived; the record counts)");
            }
            let path = self.store.paths().manifest(stored.record.iteration);
            if let Some(bytes) = self.derived_bytes(&path) {
                match crate::store::parse::<super::SnapshotManifest>(&bytes) {
                    Ok(manifest)
                        if manifest.tree == stored.record.tree && manifest.iteration == stored.record.iteration => {}
                    _ => self.found(&path, "it differs from its record (derived; the record counts)"),
                }
            }
        }
    }

    /// A derived file, if there is one. That the disk does not give it is a finding, too.
    fn derived_bytes(&mut self, path: &Path) -> Option<Vec<u8>> {
        disk::read_if_present(path, u64::MAX).unwrap_or_else(|error| {
            self.found(path, error.said());
            None
        })
    }

    fn trajectory(&mut self, points: &[Point]) {
        let path = self.store.paths().trajectory();
        let Some(bytes) = self.derived_bytes(&path) else { return };
        // One that is damaged, or of an earlier version, is made again by itself.
        let Ok(found) = crate::store::parse::<Trajectory>(&bytes) else { return };
        match self.verified.head {
            Some((_, head)) if head == found.head && found.iterations != points => {
                self.found(&path, DIFFERS);
            }
            // One that was made before the newest record is made again by itself.
            _ if self.ids.values().any(|id| *id == found.head) => {}
            Some((newest, _)) => {
                let newest = self.store.paths().record(newest);
                self.found(newest, "trajectory.json was made from another newest record: this one was changed, or the end of the history was cut off");
            }
            None => {}
        }
    }

    /// One that says of itself that it was made from the newest record is believed by who reads it.
    fn best(&mut self, records: &[Stored], points: &[Point]) {
        let path = self.store.paths().best_tracker();
        let bytes = self.derived_bytes(&path);
        let found = bytes.and_then(|bytes| crate::store::parse::<BestTracker>(&bytes).ok());
        let (Some(found), Some(newest), Some((_, head))) = (found, records.last(), self.verified.head) else { return };
        let config = frozen_config(self.session.layout, self.store, newest.record.config);
        let (Ok(Frozen { config, .. }), true) = (config, found.head == Some(head)) else { return };
        let mut expected = BestTracker { head: Some(head), ..analysis::best(points, &config) };
        // An older one does not tell.
        if found.chosen_by.is_none() {
            expected.chosen_by = None;
        }
        if found != expected {
            self.found(&path, DIFFERS);
        }
    }

    /// Parses and counts again: the metrics must come out the same, and so must the verdict.
    fn recompute(&mut self, objects: &Objects, records: &[Stored]) -> Result<()> {
        let mut history: Vec<Point> = Vec::new();
        for stored in records {
            let path = self.store.paths().record(stored.record.iteration);
            match self.recomputed(objects, &stored.record, &history) {
                Ok(again) if again.metrics != stored.record.metrics => {
                    self.found(&path, "parsed and counted again, its metrics come out otherwise");
                }
                Ok(again) if again != stored.record => {
                    self.found(&path, "judged again, its verdict comes out otherwise")
                }
                Ok(_) => {}
                Err(error) => self.found(&path, format!("it cannot be recomputed: {}", error.said())),
            }
            history.push(Point::of(&stored.record));
        }
        Ok(())
    }

    fn recomputed(&self, objects: &Objects, record: &IterationRecord, history: &[Point]) -> Result<IterationRecord> {
        let folder = self.store.paths().artifacts(record.iteration);
        let artifact = |name: &str| disk::open_regular(&folder.join(name));
        let measurement = measure_again(&record.sources, record.command.as_ref(), &artifact)?;
        let cases = record.metrics.cases().map(|id| read_cases(objects, &id)).transpose()?;
        let recorded = record.metrics.codebase.clone().unwrap_or_default();
        let codebase = match census::of_tree(objects, &record.tree, &record.report_files) {
            // Its files were let go, so there is nothing left to count.
            Err(_) if self.verified.let_go.contains(&record.iteration) => recorded,
            Ok(_) if recorded.file_count.is_none() => CodebaseMetrics::default(),
            counted => {
                let census = counted?;
                let (files, lines) = (Some(census.file_count), Some(census.loc_total));
                CodebaseMetrics { file_count: files, loc_total: lines, complexity_score: None }
            }
        };
        let codebase = CodebaseMetrics { complexity_score: measurement.complexity_score, ..codebase };
        let id = record.metrics.cases();
        let config = frozen_config(self.session.layout, self.store, record.config)?.config;
        let metrics = Metrics {
            testing: measurement.testing.map(|tests| TestMetrics {
                cases: id,
                // Not kept of most reports at first: a record without them is none that was edited.
                failing: if record.metrics.failing().is_empty() { Vec::new() } else { tests.failing.clone() },
                ..tests
            }),
            coverage: measurement.coverage,
            quality: measurement.quality,
            codebase: (codebase != CodebaseMetrics::default()).then_some(codebase),
            custom: super::own::again(&record.metrics.custom, &measurement.metrics, &config),
        };
        let tree_key = match record.imported {
            // The code that was imported is known by its commit alone.
            Some(_) => record.tree_key,
            None => crate::snapshot::tree::without(objects, &record.tree, &record.report_files)?,
        };
        let may_be_gone =
            |iteration| self.verified.let_go.contains(&iteration) || self.may_be_gone.contains(&iteration);
        let is_unknown = record.parent.into_iter().chain([record.iteration]).any(may_be_gone);
        let line_changes = if is_unknown || record.imported.is_some() {
            record.line_changes
        } else {
            line_changes(self.store, objects, record.parent, record)?
        };
        let again = IterationRecord { metrics, tree_key, line_changes, ..record.clone() };
        judged_again(again, cases.as_ref(), history, &config, objects, self.store)
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().display().to_string()
}

/// Whether every object of a tree is there and not among the `lost`. `sound` remembers directories of which that is known.
pub(super) fn reachable(
    objects: &Objects,
    root: &ObjectId,
    lost: &BTreeSet<ObjectId>,
    sound: &mut BTreeSet<ObjectId>,
) -> Result<(), String> {
    if sound.contains(root) {
        return Ok(());
    }
    let tree = objects.tree(root).map_err(|error| error.said())?;
    for entry in tree.entries() {
        match entry.kind {
            EntryKind::Directory => reachable(objects, &entry.object, lost, sound)?,
            EntryKind::Unheld => {}
            EntryKind::File | EntryKind::Link => {
                let name = || crate::model::ids::escape(&entry.name);
                if lost.contains(&entry.object) {
                    return Err(format!("{} is damaged", name()));
                }
                // Of a pack whose index is damaged, objects are found and restored all the same.
                if !objects.is_at_hand(&entry.object) {
                    return Err(format!("{} is missing", name()));
                }
            }
        }
    }
    sound.insert(*root);
    Ok(())
}

/// Reads every object of a record's snapshot and checks its hash.
///
/// # Errors
/// Bad input that names the pack for the first one that is missing or damaged; a failure if the system says no.
pub(super) fn check_tree(layout: &Layout, record: &IterationRecord) -> Result<()> {
    let objects = Objects::open(layout)?;
    let mut folders = vec![record.tree];
    while let Some(id) = folders.pop() {
        for entry in objects.tree(&id)?.entries() {
            match entry.kind {
                EntryKind::Directory => folders.push(entry.object),
                EntryKind::Unheld => {}
                EntryKind::File | EntryKind::Link => {
                    objects.write_to(&entry.object, &mut std::io::sink())?;
                }
            }
        }
    }
    Ok(())
}
