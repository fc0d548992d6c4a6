//! Reading one report by itself, outside any loop.

use std::io::Read;
use std::path::Path;

use crate::error::{Error, Reject, Result};
use crate::ingest::{self, Format, Input, Parsed};
use crate::model::config::Limits;
use crate::workspace::reports;

/// Parses a report file that the user named; `-` is standard input.
///
/// # Errors
/// A report error with file, place, cause and help; `refused` for what is no regular file or too large.
pub fn read_report(
    root: &Path,
    folder: &Path,
    file: &Path,
    format: Option<&'static Format>,
    limits: &Limits,
) -> Result<Parsed> {
    let name = file.display().to_string();
    if name == "-" {
        let mut bytes = Vec::new();
        let read = std::io::stdin().lock().take(limits.report_bytes.saturating_add(1)).read_to_end(&mut bytes);
        read.map_err(|error| Error::failed("cannot read standard input").because(error.to_string()))?;
        if u64::try_from(bytes.len()).is_ok_and(|length| length > limits.report_bytes) {
            return Err(Error::report(Reject::Refused, "report is too large").in_file("-"));
        }
        return ingest::parse(&Input::bytes("-", &bytes), format);
    }
    let found = reports::describe(root, &folder.join(file), true);
    reports::open(root, &found, limits).map_err(|error| error.in_file(&name))?;
    let open = || -> std::io::Result<Box<dyn Read + Send>> { Ok(Box::new(std::fs::File::open(&found.path)?)) };
    ingest::parse(&Input::source(&name, &open, limits.report_bytes), format)
}
