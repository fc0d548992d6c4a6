//! The file of the ledger of tests: derived, read where its checksum holds, made again where it does not.

use super::{MAX_BYTES, Store, parse};
use crate::disk;
use crate::error::{Error, Result};
use crate::model::SCHEMA_VERSION;
use crate::model::ledger::{Frame, LedgerHead};

impl Store {
    /// The frames that the ledger's file holds; none if it is not there, was edited, or is of a later version.
    pub fn ledger(&self) -> Vec<Frame> {
        let bytes = disk::read_if_present(&self.paths.ledger(), MAX_BYTES).ok().flatten().unwrap_or_default();
        read(&bytes).unwrap_or_default()
    }

    /// Writes the ledger's file.
    ///
    /// # Errors
    /// If the disk says no.
    pub fn keep_ledger(&self, frames: &[Frame]) -> Result<()> {
        disk::replace(&self.paths.ledger(), &write(frames)?)
    }
}

fn read(bytes: &[u8]) -> Option<Vec<Frame>> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    let (head, frames) = (bytes.get(..end)?, bytes.get(end + 1..)?);
    let head: LedgerHead = parse(head).ok()?;
    if head.frames != disk::hash::id_of(frames) {
        return None;
    }
    let lines = frames.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).ok()).collect()
}

fn write(frames: &[Frame]) -> Result<Vec<u8>> {
    let not_written = |error: serde_json::Error| Error::bug("the ledger cannot be written").because(error.to_string());
    let mut lines = Vec::new();
    for frame in frames {
        serde_json::to_writer(&mut lines, frame).map_err(not_written)?;
        lines.push(b'\n');
    }
    let head = LedgerHead { schema_version: SCHEMA_VERSION, frames: disk::hash::id_of(&lines) };
    let mut bytes = serde_json::to_vec(&head).map_err(not_written)?;
    bytes.push(b'\n');
    bytes.append(&mut lines);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ids::{Iteration, ObjectId};

    #[test]
    fn what_is_read_is_what_was_written_and_nothing_else() {
        let frame = |number| Frame {
            iteration: Iteration(number),
            cases: ObjectId([7; 32]),
            against: None,
            changed: crate::model::ledger::Changed {
                passed: ["t::a", "t::b"].into_iter().collect(),
                ..Default::default()
            },
            renamed: Vec::new(),
            again: Vec::new(),
        };
        let frames = vec![frame(0), frame(1)];
        let bytes = write(&frames).unwrap();
        assert_eq!(read(&bytes), Some(frames));
        assert_eq!(read(&write(&[]).unwrap()), Some(Vec::new()));
        for cut in [0, 10, bytes.len() - 1] {
            assert_eq!(read(&bytes[..cut]), None, "cut at {cut}");
        }
        let edited = String::from_utf8(bytes).unwrap().replace("t::a", "t::c");
        assert_eq!(read(edited.as_bytes()), None);
    }
}
