//! All iterations of a loop as later ones need them, from the records or from the file derived from them.

use std::path::PathBuf;

use rayon::prelude::*;

use super::{Store, Stored, encode, parse};
use crate::disk;
use crate::error::{Error, ErrorKind, Result};
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
    /// The points as the derived file has them, one a line, so that they need not be written anew.
    lines: Option<String>,
}

/// A history whose newest record is known and whose points are not read yet: they are a megabyte in a long loop, and can be
/// read while something else is done.
#[derive(Debug)]
pub struct Unread {
    /// The highest number by name, and BLAKE3 of its file as it lies there.
    pub head: Option<(Iteration, ObjectId)>,
    /// The derived file: the record that it was made from, the newest or one before it, and its points, one a line.
    derived: Option<((Iteration, ObjectId), String)>,
}

impl History {
    /// The number that the next record gets.
    pub fn next(&self) -> Iteration {
        after(self.head)
    }

    /// Adds the iteration that was recorded just now.
    ///
    /// # Errors
    /// None in practice: every number is finite.
    pub fn push(&mut self, point: Point, head: ObjectId) -> Result<()> {
        if let Some(lines) = &mut self.lines {
            lines.push_str(BETWEEN);
            lines.push_str(&line(&point)?);
        }
        self.head = Some((point.iteration, head));
        self.points.push(point);
        Ok(())
    }

    /// The point of an iteration.
    pub fn point(&self, iteration: Iteration) -> Option<&Point> {
        let at = self.points.binary_search_by_key(&iteration, |point| point.iteration).ok()?;
        self.points.get(at)
    }
}

/// The number that follows the newest record's.
fn after(head: Option<(Iteration, ObjectId)>) -> Iteration {
    head.map_or(Iteration::BASELINE, |(newest, _)| newest.next())
}

impl Store {
    /// Every record, from the records alone; damaged ones are named and passed over.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn load_all(&self) -> Result<(Vec<Stored>, Vec<Damaged>)> {
        Ok(self.load_each(&self.numbers()?))
    }

    fn load_each(&self, numbers: &[Iteration]) -> (Vec<Stored>, Vec<Damaged>) {
        let (mut records, mut damaged) = (Vec::new(), Vec::new());
        for iteration in numbers {
            match self.load(*iteration) {
                Ok(stored) => records.push(stored),
                Err(error) => damaged.push(Damaged { iteration: *iteration, error }),
            }
        }
        (records, damaged)
    }

    /// The history, read from the records.
    ///
    /// # Errors
    /// As [`Store::load_all`]; bad input if a later version wrote one of them, a failure if the system does not give one:
    /// nothing is judged past what we do not know.
    pub fn history_from_records(&self) -> Result<History> {
        // The numbers are read once: a record that appears meanwhile is in neither the points nor the head.
        let numbers = self.numbers()?;
        let head = self.head_of(numbers.last())?;
        let (records, damaged) = self.load_each(&numbers);
        let is_unknown = |error: &Error| super::is_later(error) || error.kind == ErrorKind::Failed;
        if let Some(unknown) = damaged.iter().find(|one| is_unknown(&one.error)) {
            return Err(unknown.error.clone());
        }
        let points = records.iter().map(|stored| Point::of(&stored.record)).collect();
        Ok(History { points, head, damaged, rebuilt: true, lines: None })
    }

    /// The history from `trajectory.json`, and from the records after the one that it was made from; from all records where
    /// it was made from none that is there. It costs the reading of two files, however long the loop is, and of one for
    /// each iteration that somebody records just now.
    ///
    /// # Errors
    /// As [`Store::load_all`].
    pub fn history(&self) -> Result<History> {
        self.read_history(self.find_history()?)
    }

    /// The first half of [`Store::history`]: which record is the newest.
    ///
    /// # Errors
    /// As [`Store::load_all`].
    pub fn find_history(&self) -> Result<Unread> {
        let derived = disk::read_if_present(&self.paths.trajectory(), super::MAX_BYTES).ok().flatten();
        let read = derived.and_then(|bytes| open_trajectory(String::from_utf8(bytes).ok()?));
        if let Some((found, newest, lines)) = read.filter(|(found, ..)| found.loop_id == self.id) {
            let made_from = (newest, found.head);
            if self.is_unchanged(Some(made_from))? {
                let head = match self.last_from(newest)? {
                    last if last == newest => Some(made_from),
                    last => self.head_of(Some(&last))?,
                };
                return Ok(Unread { head, derived: Some((made_from, lines)) });
            }
        }
        Ok(Unread { head: self.head_of(self.numbers()?.last())?, derived: None })
    }

    /// The second half of [`Store::history`]: the points.
    ///
    /// # Errors
    /// As [`Store::load_all`].
    pub fn read_history(&self, found: Unread) -> Result<History> {
        let derived = found.derived.and_then(|(made_from, lines)| {
            let points = read_points(&lines)?;
            Some(History { points, head: Some(made_from), lines: Some(lines), ..History::default() })
        });
        match derived {
            Some(history) if history.head == found.head => Ok(history),
            Some(history) => self.followed_up(history),
            None => self.history_from_records(),
        }
    }

    /// The history again, with what somebody recorded since `known` was read. Whoever waited for others under the lock keeps
    /// the next ones waiting, so only the records that came are read, if they follow on the newest that is known.
    ///
    /// # Errors
    /// As [`Store::history`].
    pub fn history_since(&self, known: History) -> Result<History> {
        if self.is_unchanged(known.head)? { self.followed_up(known) } else { self.history() }
    }

    /// The history with the records that follow on it; all of it from the records if one does not.
    fn followed_up(&self, mut known: History) -> Result<History> {
        while self.recorded_at(known.next())?.is_some() {
            match self.load(known.next()) {
                Ok(Stored { record, id }) if record.previous_record == known.head.map(|(_, head)| head) => {
                    known.push(Point::of(&record), id)?;
                }
                _ => return self.history_from_records(),
            }
        }
        Ok(known)
    }

    /// The highest number, where that one is known to be there. The names are not listed for it: whoever records takes the
    /// number after the highest.
    fn last_from(&self, known: Iteration) -> Result<Iteration> {
        let mut last = known;
        while self.recorded_at(last.next())?.is_some() {
            last = last.next();
        }
        Ok(last)
    }

    /// Whether the file of `head` is as it was.
    fn is_unchanged(&self, head: Option<(Iteration, ObjectId)>) -> Result<bool> {
        let Some((newest, id)) = head else { return Ok(true) };
        let bytes = disk::read_if_present(&self.paths.record(newest), super::MAX_BYTES)?;
        Ok(bytes.is_some_and(|bytes| disk::hash::id_of(&bytes) == id))
    }

    /// The newest number, and BLAKE3 of its file.
    fn head_of(&self, newest: Option<&Iteration>) -> Result<Option<(Iteration, ObjectId)>> {
        let Some(newest) = newest else { return Ok(None) };
        let bytes = disk::read(&self.paths.record(*newest), super::MAX_BYTES)?;
        Ok(Some((*newest, disk::hash::id_of(&bytes))))
    }

    /// Writes what is derived from the records: the trajectory and the best so far.
    ///
    /// # Errors
    /// If the disk says no. The records are not touched.
    pub fn derive(&self, history: &History, best: &BestTracker) -> Result<()> {
        self.derived(history, best)?.iter().try_for_each(|(path, bytes)| self.replace(path, bytes))
    }

    /// What [`Store::derive`] writes; nothing for a history without a record.
    ///
    /// # Errors
    /// None in practice: every stored number is finite.
    pub fn derived(&self, history: &History, best: &BestTracker) -> Result<Vec<(PathBuf, Vec<u8>)>> {
        let Some((_, head)) = history.head else { return Ok(Vec::new()) };
        let empty = Trajectory {
            schema_version: SCHEMA_VERSION,
            loop_id: self.id.clone(),
            head,
            best: best.iteration,
            iterations: Vec::new(),
        };
        let text = match &history.lines {
            Some(lines) => write_trajectory(&empty, lines)?,
            None => {
                let lines: Vec<String> = history.points.iter().map(line).collect::<Result<_>>()?;
                write_trajectory(&empty, &lines.join(BETWEEN))?
            }
        };
        let tracker = encode(&BestTracker { head: Some(head), ..best.clone() })?;
        Ok(vec![(self.paths.trajectory(), text.into_bytes()), (self.paths.best_tracker(), tracker)])
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

/// What stands between the head of a trajectory's text and its points, one a line.
const POINTS: &str = ",\"iterations\":[\n";

/// What follows the last point.
const END: &str = "\n]}\n";

/// What stands between two points.
const BETWEEN: &str = ",\n";

/// A point as one line of JSON.
fn line(point: &Point) -> Result<String> {
    serde_json::to_string(point).map_err(not_written)
}

fn not_written(error: serde_json::Error) -> Error {
    Error::bug("the trajectory cannot be written as JSON").because(error.to_string())
}

/// The trajectory as JSON with one point a line: a line can be read by itself, on any core, and is written once.
fn write_trajectory(empty: &Trajectory, lines: &str) -> Result<String> {
    let head = serde_json::to_string(empty).map_err(not_written)?;
    let head = head.strip_suffix(",\"iterations\":[]}").ok_or_else(|| Error::bug("a trajectory has another shape"))?;
    Ok([head, POINTS, lines, END].concat())
}

/// What [`write_trajectory`] wrote without its points, the newest point's number, and the points' lines; `None` for any other
/// text, which is then made again from the records.
fn open_trajectory(mut text: String) -> Option<(Trajectory, Iteration, String)> {
    /// Of a point.
    #[derive(serde::Deserialize)]
    struct Numbered {
        iteration: Iteration,
    }
    let (head, rest) = text.split_once(POINTS)?;
    let trajectory: Trajectory = parse(format!("{head},\"iterations\":[]}}").as_bytes()).ok()?;
    let lines = rest.strip_suffix(END)?;
    let newest: Numbered = serde_json::from_str(lines.rsplit('\n').next()?).ok()?;
    // What is left is the lines. They are a megabyte in a long loop, so they are not copied.
    let begin = text.len() - rest.len();
    text.truncate(text.len() - END.len());
    text.drain(..begin);
    Some((trajectory, newest.iteration, text))
}

/// The points of [`write_trajectory`]'s lines; `None` if one is no point.
fn read_points(lines: &str) -> Option<Vec<Point>> {
    let each: Vec<&str> = lines.split('\n').map(|line| line.strip_suffix(',').unwrap_or(line)).collect();
    // Every point goes to its own place, so that no vector grows and is copied.
    // As bytes, like every stored file: what reads a point is then compiled once.
    let points: Vec<Option<Point>> =
        each.into_par_iter().map(|line| serde_json::from_slice(line.as_bytes()).ok()).collect();
    points.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;
    use crate::disk::layout::Layout;
    use crate::store::Commit;

    /// A loop of its own.
    fn empty() -> (tempfile::TempDir, Store) {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::new(&Layout::new(dir.path()), "loop".parse().unwrap());
        (dir, store)
    }

    /// Commits the next record, which names `previous` as the one before it, and answers its point and its id.
    fn commit(store: &Store, previous: Option<ObjectId>) -> (Point, ObjectId) {
        let iteration = store.newest_number().unwrap().map_or(Iteration::BASELINE, Iteration::next);
        let id = store.id().clone();
        let draft = IterationRecord::draft(id, DateTime::UNIX_EPOCH, ObjectId([7; 32]), ObjectId([8; 32]));
        let label = Some(format!("of {iteration}"));
        let record = IterationRecord { iteration, label, previous_record: previous, ..draft };
        let Commit::Done(head) = store.commit(&record).unwrap() else { panic!("{iteration} is taken") };
        (Point::of(&record), head)
    }

    /// What is written for a history, in both files.
    fn derived(store: &Store, history: &History) -> Vec<Vec<u8>> {
        let best = BestTracker::default();
        store.derived(history, &best).unwrap().into_iter().map(|(_, bytes)| bytes).collect()
    }

    #[test]
    fn what_is_derived_is_read_again_however_it_came_about() {
        let (_dir, store) = empty();
        let mut history = History::default();
        for _ in 0..4 {
            let (point, head) = commit(&store, history.head.map(|(_, id)| id));
            history.push(point, head).unwrap();
            store.derive(&history, &BestTracker::default()).unwrap();
            let (read, made) = (store.history().unwrap(), store.history_from_records().unwrap());
            assert!(!read.rebuilt && made.rebuilt);
            assert_eq!((&read.points, read.head), (&made.points, made.head));
            assert_eq!((&read.points, read.head), (&history.points, history.head));
            assert_eq!(derived(&store, &read), derived(&store, &made));
            history = read;
        }
    }

    // PROMISES S72.
    #[test]
    fn what_is_derived_of_another_record_is_made_again() {
        let (_dir, store) = empty();
        let (point, head) = commit(&store, None);
        let mut history = History::default();
        history.push(point, head).unwrap();
        store.derive(&history, &BestTracker::default()).unwrap();
        let of_one = std::fs::read_to_string(store.paths().trajectory()).unwrap();
        commit(&store, Some(head));
        let whole = store.history_from_records().unwrap();
        let of_another = of_one.replace(&head.to_string(), &ObjectId([9; 32]).to_string());
        // The record that came since follows on the one that it was made from.
        for (text, rebuilt) in [(of_one, false), (of_another, true), ("{}".to_owned(), true), (String::new(), true)] {
            std::fs::write(store.paths().trajectory(), text).unwrap();
            let read = store.history().unwrap();
            assert_eq!(read.rebuilt, rebuilt);
            assert_eq!((read.points, read.head), (whole.points.clone(), whole.head));
        }
    }

    #[test]
    fn what_others_recorded_is_put_behind_what_is_known_as_if_all_were_read() {
        for is_derived in [true, false] {
            let (_dir, store) = empty();
            let (mut known, mut head) = (vec![store.history().unwrap()], None);
            for _ in 0..3 {
                head = Some(commit(&store, head).1);
                let history = store.history().unwrap();
                if is_derived {
                    store.derive(&history, &BestTracker::default()).unwrap();
                }
                known.push(store.history().unwrap());
            }
            let whole = store.history_from_records().unwrap();
            for known in known {
                let since = store.history_since(known).unwrap();
                assert_eq!((&since.points, since.head), (&whole.points, whole.head));
                assert_eq!(derived(&store, &since), derived(&store, &whole));
            }
        }
    }

    #[test]
    fn what_does_not_follow_on_what_is_known_has_everything_read() {
        let (_dir, store) = empty();
        let first = commit(&store, None).1;
        store.derive(&store.history().unwrap(), &BestTracker::default()).unwrap();
        let known = store.history().unwrap();
        assert!(!known.rebuilt);
        commit(&store, Some(ObjectId([9; 32])));
        let since = store.history_since(known.clone()).unwrap();
        assert!(since.rebuilt && since.points.len() == 2);
        std::fs::write(store.paths().record(Iteration(1)), "cut").unwrap();
        assert_eq!(store.history_since(known.clone()).unwrap().damaged.len(), 1);
        std::fs::remove_file(store.paths().record(Iteration(1))).unwrap();
        commit(&store, Some(first));
        // The newest that is known was edited since: its point may be another.
        std::fs::write(store.paths().record(Iteration::BASELINE), "edited").unwrap();
        assert_eq!(store.history_since(known).unwrap().points.len(), 1);
    }
}
