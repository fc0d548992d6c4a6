//! What hooks swallowed: faults of ours that an agent must not see, kept for whoever asks how the loop stands.

use std::path::Path;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::disk;
use crate::error::{Error, Result};
use crate::model::SCHEMA_VERSION;

/// Bytes of a log beyond which its older half goes.
const MAX_BYTES: u64 = 64 << 10;

/// Bytes of one fault's text.
const MAX_TEXT: usize = 1000;

/// One fault: a line of `faults.log`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Fault {
    /// Version of this layout.
    pub schema_version: u32,
    /// When, UTC.
    pub at: DateTime<Utc>,
    /// Whose hook it was, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The event, as the agent names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// What failed, where and why.
    pub fault: String,
}

impl Fault {
    /// As it is told in one line.
    pub fn new(at: DateTime<Utc>, agent: Option<&str>, event: Option<&str>, error: &Error) -> Fault {
        let short = |text: &str| {
            let end = text.char_indices().map(|(at, c)| at + c.len_utf8()).take_while(|end| *end <= MAX_TEXT).last();
            text.get(..end.unwrap_or_default()).unwrap_or_default().to_owned()
        };
        Fault {
            schema_version: SCHEMA_VERSION,
            at,
            agent: agent.map(short),
            event: event.map(short),
            fault: short(&error.to_string()),
        }
    }
}

/// Adds a fault to a log; of one that grew too long, the newer half stays.
///
/// # Errors
/// If the disk says no.
pub fn note(log: &Path, fault: &Fault) -> Result<()> {
    let line = serde_json::to_vec(fault)
        .map_err(|error| Error::bug("a fault cannot be written as JSON").because(error.to_string()))?;
    disk::append_line(log, &line)?;
    if disk::metadata(log)?.is_some_and(|meta| meta.len() > MAX_BYTES) {
        let faults = read(log)?;
        let newer = faults.get(faults.len() / 2..).unwrap_or_default();
        let lines: Vec<String> = newer.iter().filter_map(|fault| serde_json::to_string(fault).ok()).collect();
        disk::replace(log, format!("\n{}\n", lines.join("\n\n")).as_bytes())?;
    }
    Ok(())
}

/// The faults of a log, the oldest first; lines that are none are passed over. A log that is absent has none.
///
/// # Errors
/// If it cannot be read.
pub fn read(log: &Path) -> Result<Vec<Fault>> {
    let bytes = disk::read_if_present(log, 2 * MAX_BYTES)?.unwrap_or_default();
    Ok(bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(number: usize, text: &str) -> Fault {
        let error = Error::failed(format!("{number} {text}"));
        Fault::new(DateTime::UNIX_EPOCH, Some("claude"), Some("Stop"), &error)
    }

    #[test]
    fn a_log_stays_small_and_keeps_the_newest() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("faults.log");
        assert_eq!(read(&log).unwrap(), []);
        for number in 0..200 {
            note(&log, &fault(number, &"ü".repeat(3000))).unwrap();
            assert!(read(&log).unwrap().last().is_some_and(|last| last.fault.starts_with(&format!("{number} ü"))));
        }
        assert!(std::fs::metadata(&log).unwrap().len() <= MAX_BYTES);
        let faults = read(&log).unwrap();
        assert!(faults.len() > 10 && faults.iter().all(|fault| fault.fault.len() <= MAX_TEXT));
    }

    #[test]
    fn a_torn_line_spoils_only_itself() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("faults.log");
        disk::append_line(&log, b"{\"schema_version\":1,\"at\"").unwrap();
        note(&log, &fault(1, "x")).unwrap();
        assert_eq!(read(&log).unwrap(), [fault(1, "x")]);
    }
}
