//! A finished run of another loop tool becomes a loop: judged iteration by iteration, closed with what would be chosen. It
//! has no snapshots, so nothing of it can be restored.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use rustix::io::Errno;

use super::finish::selection_so_far;
use super::judge::judged;
use super::{Session, repair};
use crate::config;
use crate::disk::{self, hash, lock::Lock};
use crate::error::{Error, Result};
use crate::ingest::foreign::{Fate, ForeignLoop, ForeignRun};
use crate::model::config::LoopConfig;
use crate::model::ids::{Iteration, LoopId, ObjectId};
use crate::model::metrics::{CustomMetric, Metrics};
use crate::model::record::{Imported, IterationRecord};
use crate::model::trajectory::Point;
use crate::model::tree::Tree;
use crate::snapshot::objects::Objects;
use crate::snapshot::pack::PackWriter;
use crate::store::{Commit, Store};

/// What is imported.
pub struct Importing<'a> {
    /// The loop that it becomes.
    pub id: LoopId,
    /// Thresholds; the metric is declared in it as the file tells it.
    pub config: LoopConfig,
    /// The file, for people.
    pub file: &'a str,
    /// The name of its format.
    pub format: &'static str,
    /// What it tells.
    pub told: &'a ForeignLoop,
}

/// Records all runs and closes the loop; until it is closed, it is not there. The caller holds [`super::opening`].
///
/// # Errors
/// Bad input if the loop has records already, or nobody knows which way the metric is better; a failure if the disk says no.
pub fn import(session: &Session<'_>, importing: &Importing<'_>) -> Result<Store> {
    let config = declared(importing)?;
    disk::open_store(session.layout)?;
    let store = Store::new(session.layout, importing.id.clone());
    let target = store.paths().dir();
    let is_there = || {
        Error::bad_input(format!("loop {} is there already", importing.id))
            .at(target)
            .help("`--loop OTHER` imports into another one")
    };
    if disk::metadata(target)?.is_some() {
        return Err(is_there());
    }
    let text = config::to_yaml(&config)?;
    let captures = Lock::shared(&session.layout.lock(), session.wait)?;
    let mut pack = PackWriter::new(session.layout);
    let config_id = pack.add(text.as_bytes())?;
    let tree = pack.add(&Tree::default().encode())?;
    pack.finish()?;
    let made = Store::of_import(session.layout, importing.id.clone());
    let folder = made.paths().dir();
    // Of an import that was killed.
    disk::remove_folder(folder)?;
    disk::make_directory(folder)?;
    disk::replace_synced(&made.paths().config(), text.as_bytes())?;
    let recording = Recording { session, importing, config: &config, config_id, tree, store: &made };
    recording.record_all()?;
    let mut selection = selection_so_far(session.layout, &made)?;
    selection.verification.push("imported: no files were kept, so nothing was restored".to_owned());
    made.close(&selection)?;
    disk::rename_if_free(folder, target).map_err(|error| match error {
        Errno::EXIST => is_there(),
        error => Error::io("move the loop to", target, &error.into()),
    })?;
    disk::sync_directory(&session.layout.store())?;
    drop(captures);
    repair(session, &store)?;
    Ok(store)
}

/// The config with the metric that the runs went after.
fn declared(importing: &Importing<'_>) -> Result<LoopConfig> {
    let mut config = importing.config.clone();
    let name = &importing.told.metric;
    let metric = config.metrics.entry(name.clone()).or_default();
    metric.direction = metric.direction.or(importing.told.direction);
    metric.unit = metric.unit.take().or_else(|| importing.told.unit.clone());
    if metric.direction.is_none() {
        return Err(Error::bad_input(format!("which way {name} is better is not known"))
            .in_file(importing.file)
            .because("the file does not tell it, and what was kept does not show it")
            .help(format!("declare it in highwater.yaml: metrics: {{{name}: {{direction: lower}}}}, or higher")));
    }
    if config.select.primary == crate::analysis::QUALITY_SCORE {
        config.select.primary = name.clone();
    }
    Ok(config)
}

struct Recording<'a> {
    session: &'a Session<'a>,
    importing: &'a Importing<'a>,
    config: &'a LoopConfig,
    config_id: ObjectId,
    /// The empty one.
    tree: ObjectId,
    store: &'a Store,
}

impl Recording<'_> {
    fn record_all(&self) -> Result<()> {
        let objects = Objects::open(self.session.layout)?;
        let mut history: Vec<Point> = Vec::new();
        let (mut parent, mut previous_record) = (None, None);
        let mut iteration = Iteration::BASELINE;
        for run in &self.importing.told.runs {
            let draft = IterationRecord { previous_record, ..self.draft(run, iteration, parent) };
            let record = judged(draft, None, None, &history, self.config, &objects, self.store)?;
            let Commit::Done(head) = self.store.commit(&record)? else {
                return Err(Error::failed("another writer recorded into the loop that is imported")
                    .at(&self.store.paths().record(iteration)));
            };
            history.push(Point::of(&record));
            previous_record = Some(head);
            // What was not kept was undone before the next run.
            if parent.is_none() || run.fate == Fate::Kept {
                parent = Some(iteration);
            }
            iteration = iteration.next();
        }
        Ok(())
    }

    fn draft(&self, run: &ForeignRun, iteration: Iteration, parent: Option<Iteration>) -> IterationRecord {
        let at = run.at_ms.and_then(DateTime::<Utc>::from_timestamp_millis).unwrap_or(self.session.now);
        let format = self.importing.format;
        IterationRecord {
            iteration,
            parent,
            metrics: Metrics { custom: self.metrics(run), ..Metrics::default() },
            warnings: vec![format!(
                "imported from {} as {format}: not restorable, no files were kept",
                self.importing.file
            )],
            tree_key: code_key(run, iteration),
            label: run.description.clone(),
            tokens: run.tokens,
            imported: Some(Imported {
                format: format.to_owned(),
                status: run.status.clone(),
                commit: run.commit.clone(),
            }),
            ..IterationRecord::draft(self.importing.id.clone(), at, self.tree, self.config_id)
        }
    }

    fn metrics(&self, run: &ForeignRun) -> BTreeMap<String, CustomMetric> {
        let declared = |name: &str, value: Result<f64, String>| {
            let declared = self.config.metrics.get(name);
            let (value, reason) = match value {
                Ok(value) => (Some(value), None),
                Err(reason) => (None, Some(reason)),
            };
            let unit = declared.and_then(|declared| declared.unit.clone());
            let direction = declared.and_then(|declared| declared.direction);
            CustomMetric { value, reason, unit, direction, ..CustomMetric::default() }
        };
        let others = run.others.iter().map(|(name, value)| (name.clone(), declared(name, Ok(*value))));
        let mut metrics: BTreeMap<String, CustomMetric> = others.collect();
        let name = &self.importing.told.metric;
        metrics.insert(name.clone(), declared(name, run.value.clone()));
        metrics
    }
}

/// Two runs with one key had the same code. Where the file does not tell, each has code of its own.
fn code_key(run: &ForeignRun, iteration: Iteration) -> ObjectId {
    let code = match &run.code {
        Some(code) => format!("imported commit {code}"),
        None => format!("imported run {iteration}"),
    };
    hash::id_of(code.as_bytes())
}
