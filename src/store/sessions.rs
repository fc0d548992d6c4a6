//! What must be known of agents' sessions between two calls of their hooks: which ends of a turn were taken already, and
//! how many were refused in a row.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{MAX_BYTES, Store};
use crate::disk::{self, Created, layout::Layout};
use crate::error::{Error, Result};
use crate::model::SCHEMA_VERSION;
use crate::model::ids::ObjectId;

/// Marks of deliveries that are kept before the old ones among them are looked for.
const KEPT_MARKS: usize = 256;

/// No delivery of an event comes later than this after another one of it.
const LATEST: Duration = Duration::from_secs(3600);

/// Whether this delivery of an event is the first one: of several processes at once, one is told so. `event` is the same
/// for all deliveries of one event, and no other.
///
/// # Errors
/// If the disk says no.
pub fn is_first_delivery(layout: &Layout, event: &ObjectId) -> Result<bool> {
    let folder = layout.deliveries();
    disk::make_directory(&folder)?;
    let mark = folder.join(event.to_string());
    if disk::create_new_from(&layout.cache(), &mark, b"")? == Created::AlreadyThere {
        return Ok(false);
    }
    let marks = disk::list(&folder)?;
    let time = |path: &PathBuf| disk::metadata(path).ok().flatten().and_then(|meta| meta.modified().ok());
    if let (true, Some(now)) = (marks.len() > KEPT_MARKS, time(&mark)) {
        for path in marks.iter().map(|name| folder.join(name)) {
            if time(&path).is_some_and(|then| now.duration_since(then).is_ok_and(|age| age > LATEST)) {
                // What cannot be removed now goes another time.
                let _ = std::fs::remove_file(&path);
            }
        }
    }
    Ok(true)
}

/// Ends of a turn that were refused in a row: a file under `sessions/`, there only while there are some.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Refusals {
    /// Version of this layout.
    pub schema_version: u32,
    /// The agent's session.
    pub session: String,
    /// How many.
    pub refusals: u32,
}

impl Store {
    /// How many ends of a turn of this session were refused in a row.
    ///
    /// # Errors
    /// If that cannot be read.
    pub fn refusals(&self, session: &str) -> Result<u32> {
        let Some(bytes) = disk::read_if_present(&self.session_file(session), MAX_BYTES)? else { return Ok(0) };
        super::parse::<Refusals>(&bytes).map(|kept| kept.refusals)
    }

    /// Keeps that number; none is no file.
    ///
    /// # Errors
    /// If the disk says no.
    pub fn set_refusals(&self, session: &str, refusals: u32) -> Result<()> {
        let path = self.session_file(session);
        if refusals == 0 {
            return match std::fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::io("remove", &path, &error)),
                _ => Ok(()),
            };
        }
        disk::make_directory(&self.paths.sessions())?;
        let kept = Refusals { schema_version: SCHEMA_VERSION, session: session.to_owned(), refusals };
        self.replace(&path, &super::encode(&kept)?)
    }

    /// A session's name may be anything; its hash is a file's name.
    fn session_file(&self, session: &str) -> PathBuf {
        self.paths.sessions().join(format!("{}.json", disk::hash::id_of(session.as_bytes())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_deliveries_at_once_one_is_the_first() {
        let folder = tempfile::tempdir().unwrap();
        let layout = Layout::new(folder.path());
        disk::open_store(&layout).unwrap();
        let event = disk::hash::id_of(b"event");
        let threads: Vec<_> = (0..8)
            .map(|_| {
                let layout = layout.clone();
                std::thread::spawn(move || is_first_delivery(&layout, &event).unwrap())
            })
            .collect();
        let firsts = threads.into_iter().map(|thread| thread.join().unwrap()).filter(|is| *is).count();
        assert_eq!(firsts, 1);
        assert!(is_first_delivery(&layout, &disk::hash::id_of(b"another")).unwrap());
    }

    #[test]
    fn old_marks_go_and_young_ones_stay() {
        let folder = tempfile::tempdir().unwrap();
        let layout = Layout::new(folder.path());
        disk::make_directory(&layout.deliveries()).unwrap();
        let old = std::time::SystemTime::now() - 2 * LATEST;
        for number in 0..KEPT_MARKS {
            let file = std::fs::File::create(layout.deliveries().join(number.to_string())).unwrap();
            if number % 2 == 0 {
                file.set_modified(old).unwrap();
            }
        }
        assert!(is_first_delivery(&layout, &disk::hash::id_of(b"event")).unwrap());
        assert_eq!(disk::list(&layout.deliveries()).unwrap().len(), KEPT_MARKS / 2 + 1);
    }

    #[test]
    fn refusals_are_counted_by_session() {
        let folder = tempfile::tempdir().unwrap();
        let layout = Layout::new(folder.path());
        let store = Store::new(&layout, "auth".parse().unwrap());
        assert_eq!(store.refusals("../a").unwrap(), 0);
        store.set_refusals("../a", 2).unwrap();
        assert_eq!((store.refusals("../a").unwrap(), store.refusals("b").unwrap()), (2, 0));
        store.set_refusals("../a", 0).unwrap();
        store.set_refusals("../a", 0).unwrap();
        assert_eq!(disk::list(&store.paths().sessions()).unwrap().len(), 0);
    }
}
