//! Making again what is derived from records and objects, where it is damaged or gone. Neither is ever changed; objects
//! that are lost are stored again, if their bytes are still to be had, and packs that are damaged are set aside.

use std::path::{Path, PathBuf};

use super::loops::{config_in_force, frozen_config};
use super::record::{ManifestChange, manifest_changes};
use super::view::{newest_readable, report_of};
use super::why::why_stopped;
use super::{Session, SnapshotManifest};
use crate::analysis;
use crate::disk;
use crate::disk::lock::Lock;
use crate::error::{ErrorKind, Result};
use crate::model::SCHEMA_VERSION;
use crate::model::config::LoopConfig;
use crate::model::ids::ObjectId;
use crate::model::record::{IterationRecord, Source};
use crate::model::trajectory::Point;
use crate::model::tree::EntryKind;
use crate::report::{self, WholeLoop};
use crate::snapshot::capture;
use crate::snapshot::objects::Objects;
use crate::snapshot::repair;
use crate::snapshot::tree::{diff, files};
use crate::store::{Store, Stored, encode, parse};

/// What a repair did; all relative to the work tree.
#[derive(Debug, Default)]
pub struct Repaired {
    /// Files that were written.
    pub written: Vec<String>,
    /// Damaged packs that are not read any more, under the names that they have now.
    pub set_aside: Vec<String>,
}

/// Makes again what is derived, where it is not what it should be: indexes of packs, and a loop's trajectory, best
/// tracker, metrics, manifests and reports. What the store has lost of files, and the work tree or a stored report still
/// has, is stored again.
///
/// # Errors
/// If the locks cannot be had or the disk says no; bad input if no record or not the loop's config can be read.
pub fn repair(session: &Session<'_>, store: &Store) -> Result<Repaired> {
    let _alone = Lock::exclusive(&session.layout.lock(), session.wait)?;
    let _writer = Lock::exclusive(&store.paths().lock(), session.wait)?;
    let mut written = repair::repair(session.layout)?;
    let (records, mut damaged) = store.load_all()?;
    written.extend(store_again(session, store, &records)?);
    // Last, because a difference can be saved once its base is there again.
    let set_aside = repair::set_aside(session.layout)?;
    written.extend(set_aside.saved);
    // What is made of fewer records than there are would take the place of what is right.
    if let Some(unread) = damaged.iter().position(|one| one.error.kind != ErrorKind::BadInput) {
        return Err(damaged.swap_remove(unread).error);
    }
    let last = newest_readable(store, &records, &damaged)?;
    let config = frozen_config(session.layout, store, last.record.config)?.config;
    let points = records.iter().map(|stored| Point::of(&stored.record)).collect();
    let objects = Objects::open(session.layout)?;
    let is_whole = damaged.is_empty();
    let mut remaking = Remaking { store, objects, config, points, is_whole, written: Vec::new() };
    remaking.the_loop()?;
    for stored in &records {
        remaking.iteration(stored)?;
    }
    written.append(&mut remaking.written);
    let relative = |path: &PathBuf| path.strip_prefix(session.layout.root()).unwrap_or(path).display().to_string();
    let all = |paths: &[PathBuf]| paths.iter().map(relative).collect();
    Ok(Repaired { written: all(&written), set_aside: all(&set_aside.packs) })
}

fn store_again(session: &Session<'_>, store: &Store, records: &[Stored]) -> Result<Vec<PathBuf>> {
    // Without the note, more may come back than was kept.
    let let_go = store.let_go().unwrap_or_default();
    let kept = records.iter().map(|stored| &stored.record).filter(|record| !let_go.contains(&record.iteration));
    let (mut trees, mut reports) = (Vec::new(), Vec::new());
    for record in kept {
        trees.push(record.tree);
        let folder = store.paths().artifacts(record.iteration);
        let of_source = |source: &Source| Some((source.blake3?, folder.join(source.artifact.as_ref()?)));
        reports.extend(record.sources.iter().filter_map(of_source));
    }
    let mut written = whole_tree_again(session, store, &trees)?;
    let configs: Vec<_> = records.iter().map(|stored| (stored.record.config, store.paths().config())).collect();
    written.extend(repair::store_again(session.layout, &trees, &reports, &configs)?);
    Ok(written)
}

/// Of directories and links nobody knows where they stood, so the work tree is stored as a whole if it has one that is lost.
fn whole_tree_again(session: &Session<'_>, store: &Store, trees: &[ObjectId]) -> Result<Vec<PathBuf>> {
    let lost = repair::lost_names(session.layout, trees)?;
    if lost.is_empty() {
        return Ok(Vec::new());
    }
    let Ok(config) = config_in_force(session.layout, store) else { return Ok(Vec::new()) };
    let survey = capture::survey(session.layout, &config.capture, &config.limits, capture::Stored::Doubted)?;
    if !lost.iter().any(|id| survey.holds(id)) {
        return Ok(Vec::new());
    }
    let packs = || disk::list(&session.layout.objects());
    let before = packs()?;
    survey.take()?;
    let new = packs()?.into_iter().filter(|name| !before.contains(name));
    Ok(new.map(|name| session.layout.objects().join(name)).collect())
}

struct Remaking<'a> {
    store: &'a Store,
    objects: Objects,
    config: LoopConfig,
    points: Vec<Point>,
    /// Every record can be read.
    is_whole: bool,
    written: Vec<PathBuf>,
}

impl Remaking<'_> {
    /// Writes the file unless it is so already.
    fn remake(&mut self, path: &Path, bytes: &[u8]) -> Result<()> {
        if disk::read_if_present(path, u64::MAX).is_ok_and(|found| found.is_some_and(|found| found == bytes)) {
            return Ok(());
        }
        if let Some(folder) = path.parent() {
            disk::make_directory(folder)?;
        }
        self.store.replace(path, bytes)?;
        self.written.push(path.to_path_buf());
        Ok(())
    }

    fn the_loop(&mut self) -> Result<()> {
        let best = analysis::best(&self.points, &self.config);
        // Made from what is readable: where the newest record is not, the trajectory shows it and is not relied on.
        for (path, bytes) in self.store.derived(&self.store.history_from_records()?, &best)? {
            self.remake(&path, &bytes)?;
        }
        let selection = match self.store.selection() {
            Ok(Some(selection)) => selection,
            Ok(None) => return Ok(()),
            // `verify` names it; what is made of it stays as it is.
            Err(error) if error.kind == ErrorKind::BadInput => return Ok(()),
            Err(error) => return Err(error),
        };
        let why = match self.points.last() {
            Some(last) => {
                let last = self.store.load(last.iteration)?.record;
                why_stopped(self.store, &self.objects, &last, &self.points, &best, &self.config)?
            }
            None => None,
        };
        let text = report::selection_markdown(&selection, &self.points, &self.config, why.as_ref())?;
        self.remake(&self.store.paths().selection_report(), text.as_bytes())?;
        let text = report::summary_markdown(self.store.id(), &self.points, &best, Some(&selection))?;
        self.remake(&self.store.paths().summary(), text.as_bytes())?;
        let whole =
            WholeLoop { loop_id: self.store.id(), points: &self.points, best: &best, selection: Some(&selection) };
        let page = report::html(&whole)?;
        self.remake(&self.store.paths().summary_page(), page.as_bytes())
    }

    fn iteration(&mut self, stored: &Stored) -> Result<()> {
        let (record, paths) = (&stored.record, self.store.paths());
        self.remake(&paths.metrics(record.iteration), &encode(&record.metrics)?)?;
        // What the objects no longer tell, `verify` names as damaged; there is nothing to make this from then.
        if let (false, Ok(manifest)) = (self.has_manifest(record)?, self.manifest(record)) {
            self.remake(&paths.manifest(record.iteration), &encode(&manifest)?)?;
        }
        // One that was made when all records could be read knows more than one made now.
        let may_be_written = self.is_whole || disk::metadata(&paths.report(record.iteration))?.is_none();
        if let (true, Ok(text)) =
            (may_be_written, report_of(self.store, &self.objects, stored, &self.points, &self.config))
        {
            self.remake(&paths.report(record.iteration), text.as_bytes())?;
        }
        Ok(())
    }

    /// A manifest that is sound is left: it knows why files were not kept, which nothing else does. So one that the disk does
    /// not give is not taken for damaged.
    fn has_manifest(&self, record: &IterationRecord) -> Result<bool> {
        let bytes = disk::read(&self.store.paths().manifest(record.iteration), u64::MAX);
        match bytes.and_then(|bytes| parse::<SnapshotManifest>(&bytes)) {
            Ok(manifest) => Ok(manifest.tree == record.tree && manifest.iteration == record.iteration),
            Err(error) if error.kind == ErrorKind::BadInput => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn manifest(&self, record: &IterationRecord) -> Result<SnapshotManifest> {
        let parent = record.parent.and_then(|parent| self.points.iter().find(|point| point.iteration == parent));
        let changes = match parent {
            Some(parent) => diff(&self.objects, &parent.tree, &record.tree)?,
            None => Vec::new(),
        };
        let (changed, changes): (u64, Vec<ManifestChange>) = manifest_changes(&changes);
        let mut manifest = SnapshotManifest {
            schema_version: SCHEMA_VERSION,
            iteration: record.iteration,
            tree: record.tree,
            files: 0,
            bytes: 0,
            unheld: Vec::new(),
            since: parent.map(|point| point.iteration),
            changed,
            changes,
        };
        for entry in files(&self.objects, &record.tree)? {
            let (path, entry) = entry?;
            if entry.kind == EntryKind::Unheld {
                manifest.unheld.push((path, "it was not kept; why was in a manifest that is lost".into()));
            } else {
                manifest.files += 1;
                manifest.bytes = manifest.bytes.saturating_add(entry.size);
            }
        }
        manifest.unheld.sort();
        Ok(manifest)
    }
}
