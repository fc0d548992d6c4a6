//! Reading one report by itself, outside any loop.

use std::io::Read;
use std::path::Path;

use crate::disk::spool::Spool;
use crate::error::{Error, Result};
use crate::ingest::{self, Format, Input, Parsed};
use crate::model::config::Limits;
use crate::workspace::reports;

/// Bytes of standard input that are held in memory; more go to a file in the folder for temporary ones.
const HELD_BYTES: u64 = 16 * 1024 * 1024;

/// Parses a report file that the user named; `-` is standard input. Without a format, all that stands in it: the report that
/// it is comes first.
///
/// # Errors
/// A report error with file, place, cause and help; `refused` for what is no regular file or too large.
pub fn read_reports(
    root: &Path,
    folder: &Path,
    file: &Path,
    format: Option<&'static Format>,
    limits: &Limits,
) -> Result<Vec<Parsed>> {
    let name = file.display().to_string();
    if name == "-" {
        let held = HELD_BYTES.min(limits.report_bytes.saturating_add(1));
        let mut bytes = Vec::new();
        let read = std::io::stdin().lock().take(held).read_to_end(&mut bytes);
        let read = read.map_err(|error| Error::failed("cannot read standard input").because(error.to_string()))?;
        if u64::try_from(read).is_ok_and(|read| read < held) {
            return ingest::parse_all(&Input::bytes("-", &bytes), format);
        }
        // It is read more than once.
        let mut all = bytes.as_slice().chain(std::io::stdin().lock());
        let spool = Spool::copy(&std::env::temp_dir(), &mut all, limits.report_bytes);
        let spool = spool.map_err(|error| if error.place.path.is_none() { error.in_file("-") } else { error })?;
        drop(bytes);
        let open = || -> std::io::Result<Box<dyn Read + Send>> { Ok(Box::new(spool.open()?)) };
        return ingest::parse_all(&Input::source("-", &open, limits.report_bytes), format);
    }
    let found = reports::describe(root, &folder.join(file), true);
    reports::open(root, &found, limits).map_err(|error| error.at(file))?;
    let open = || -> std::io::Result<Box<dyn Read + Send>> { Ok(Box::new(std::fs::File::open(&found.path)?)) };
    ingest::parse_all(&Input::source(&name, &open, limits.report_bytes), format)
}
