//! All iterations of a loop as later ones need them, from the records or from the file derived from them.

use super::{Store, Stored, encode, parse};
use crate::disk;
use crate::error::{Error, Result};
use crate::model::SCHEMA_VERSION;
use crate::model::ids::{Iteration, ObjectId};
use crate::model::record::IterationRecord;
use crate::model::trajectory::{BestTracker, Point, Trajectory};

/// A record that cannot be read.
#[derive(Clone, Debug)]
pub struct Damaged {
    /// By its name.
    pub iteration: Iteration,
    /// Why.
    pub error: Error,
}

/// The iterations of a loop, in order, without those whose record is damaged.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// One an iteration.
    pub points: Vec<Point>,
    /// The highest number by name, and BLAKE3 of its file as it lies there.
    pub head: Option<(Iteration, ObjectId)>,
    /// Records that could not be read.
    pub damaged: Vec<Damaged>,
    /// The derived file was not the newest record's, and the records were read instead.
    pub rebuilt: bool,
}

impl History {
    /// The number that the next record gets.
    pub fn next(&self) -> Iteration {
        self.head.map_or(Iteration::BASELINE, |(newest, _)| newest.next())
    }

    /// The point of an iteration.
    pub fn point(&self, iteration: Iteration) -> Option<&Point> {
        let at = self.points.binary_search_by_key(&iteration, |point| point.iteration).ok()?;
        self.points.get(at)
    }
}

impl Store {
    /// Every record, from the records alone; damaged ones are named and passed over.
    ///
    /// # Errors
    /// If the folder or a file cannot be read, or a record is from a later version.
    pub fn load_all(&self) -> Result<(Vec<Stored>, Vec<Damaged>)> {
        let (mut records, mut damaged) = (Vec::new(), Vec::new());
        for iteration in self.numbers()? {
            match self.load(iteration) {
                Ok(stored) => records.push(stored),
                Err(error) => damaged.push(Damaged { iteration, error }),
            }
        }
        Ok((records, damaged))
    }

    /// The history, read from the records.
    ///
    /// # Errors
    /// As [`Store::load_all`].
    pub fn history_from_records(&self) -> Result<History> {
        let (records, damaged) = self.load_all()?;
        let points = records.iter().map(|stored| Point::of(&stored.record)).collect();
        Ok(History { points, head: self.head()?, damaged, rebuilt: true })
    }

    /// The history from `trajectory.json` if that was made from the newest record, else from the records. Reading it
    /// costs the same however long the loop is, up to the size of that one file.
    ///
    /// # Errors
    /// As [`Store::load_all`].
    pub fn history(&self) -> Result<History> {
        let Some((newest, id)) = self.head()? else { return Ok(History::default()) };
        let derived = disk::read_if_present(&self.paths.trajectory(), super::MAX_BYTES).ok().flatten();
        let trajectory = derived.and_then(|bytes| parse::<Trajectory>(&bytes).ok());
        match trajectory {
            Some(found)
                if found.head == id
                    && found.loop_id == self.id
                    && found.iterations.last().is_some_and(|point| point.iteration == newest) =>
            {
                Ok(History { points: found.iterations, head: Some((newest, id)), ..History::default() })
            }
            _ => self.history_from_records(),
        }
    }

    /// The highest number by name, and BLAKE3 of its file.
    fn head(&self) -> Result<Option<(Iteration, ObjectId)>> {
        let Some(newest) = self.numbers()?.pop() else { return Ok(None) };
        let bytes = disk::read(&self.paths.record(newest), super::MAX_BYTES)?;
        Ok(Some((newest, disk::hash::id_of(&bytes))))
    }

    /// Writes what is derived from the records: the trajectory and the best so far.
    ///
    /// # Errors
    /// If the disk says no. The records are not touched.
    pub fn derive(&self, points: &[Point], head: ObjectId, best: &BestTracker) -> Result<()> {
        let trajectory = Trajectory {
            schema_version: SCHEMA_VERSION,
            loop_id: self.id.clone(),
            head,
            best: best.iteration,
            iterations: points.to_vec(),
        };
        // One line a file, for this one is read at every iteration; people read the records and `log`.
        let mut bytes = serde_json::to_vec(&trajectory)
            .map_err(|error| Error::bug("the trajectory cannot be written as JSON").because(error.to_string()))?;
        bytes.push(b'\n');
        disk::replace(&self.paths.trajectory(), &bytes)?;
        disk::replace(&self.paths.best_tracker(), &encode(&BestTracker { head: Some(head), ..best.clone() })?)
    }

    /// Writes what explains an iteration's folder to people: its metrics alone, and the summary of its snapshot.
    ///
    /// # Errors
    /// If the disk says no. The record is not touched.
    pub fn derive_iteration(&self, record: &IterationRecord, manifest: &impl serde::Serialize) -> Result<()> {
        disk::make_directory(&self.paths.iteration(record.iteration))?;
        disk::replace(&self.paths.metrics(record.iteration), &encode(&record.metrics)?)?;
        disk::replace(&self.paths.manifest(record.iteration), &encode(manifest)?)
    }
}
