//! `accepted.jsonl`: what `accept` was told, one line an entry, until the next record repeats it.

use serde::{Deserialize, Serialize};

use super::Store;
use crate::disk;
use crate::error::{Error, Result};
use crate::model::SCHEMA_VERSION;
use crate::model::ids::Iteration;
use crate::model::verdict::Accepted;

/// One line of `accepted.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AcceptedNote {
    /// Version of this layout.
    pub schema_version: u32,
    /// The newest iteration when it was said: the record after that one repeats it, and no later one.
    pub after: Iteration,
    /// What was said.
    #[serde(flatten)]
    pub accepted: Accepted,
}

impl Store {
    /// Adds an entry, in one write.
    ///
    /// # Errors
    /// If the disk says no.
    pub fn accept(&self, after: Iteration, accepted: &Accepted) -> Result<()> {
        let note = AcceptedNote { schema_version: SCHEMA_VERSION, after, accepted: accepted.clone() };
        let line = serde_json::to_vec(&note)
            .map_err(|error| Error::bug("a note cannot be written as JSON").because(error.to_string()))?;
        disk::append_line(&self.paths.accepted(), &line)
    }

    /// What was accepted since `newest` was recorded, and how many lines of the file could not be read: a torn entry
    /// spoils only itself.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn accepted_since(&self, newest: Iteration) -> Result<(Vec<Accepted>, usize)> {
        let Some(bytes) = disk::read_if_present(&self.paths.accepted(), super::MAX_BYTES)? else {
            return Ok((Vec::new(), 0));
        };
        let (mut accepted, mut torn) = (Vec::new(), 0);
        for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()) {
            match serde_json::from_slice::<AcceptedNote>(line) {
                Ok(note) if note.after == newest => accepted.push(note.accepted),
                Ok(_) => {}
                Err(_) => torn += 1,
            }
        }
        Ok((accepted, torn))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::layout::Layout;

    #[test]
    fn torn_lines_are_counted_and_spoil_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::new(dir.path());
        disk::open_store(&layout).unwrap();
        let store = Store::new(&layout, "auth".parse().unwrap());
        disk::make_directory(store.paths().dir()).unwrap();
        for line in [&b"{\"schema_version\":1"[..], b"{}", b" "] {
            disk::append_line(&store.paths().accepted(), line).unwrap();
        }
        assert_eq!(store.accepted_since(Iteration(0)).unwrap(), (Vec::new(), 2));
    }
}
