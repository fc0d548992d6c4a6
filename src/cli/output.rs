//! The only place that prints. A stream that is closed or full changes no result: what was done is done. But that standard
//! output takes no more is said, unless nobody reads it.

use std::io::{ErrorKind, Write};
use std::sync::OnceLock;

use serde::Serialize;

use crate::error::{Error, Result};

/// Why standard output did not take everything.
static LOST: OnceLock<String> = OnceLock::new();

/// Why standard output did not take everything. That its reader went away is no loss.
pub fn lost() -> Option<&'static str> {
    LOST.get().map(String::as_str)
}

/// Data.
pub fn out(text: &str) {
    out_if_read(text);
}

/// Data of a command that goes on by itself; `false` if nobody reads any more.
pub fn out_if_read(text: &str) -> bool {
    let mut stdout = std::io::stdout().lock();
    let Err(error) = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) else { return true };
    if error.kind() != ErrorKind::BrokenPipe {
        let _ = LOST.set(error.to_string());
    }
    false
}

/// Everything else.
pub fn err(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// One JSON object on a line of its own.
///
/// # Errors
/// None in practice: every number is finite.
pub fn json(value: &impl Serialize) -> Result<()> {
    json_if_read(value).map(|_| ())
}

/// The same of a command that goes on by itself; `false` if nobody reads any more.
///
/// # Errors
/// As [`json`].
pub fn json_if_read(value: &impl Serialize) -> Result<bool> {
    line(value).map(|line| out_if_read(&line))
}

/// One JSON object as a line.
///
/// # Errors
/// As [`json`].
pub fn line(value: &impl Serialize) -> Result<String> {
    let line = serde_json::to_string(value)
        .map_err(|error| Error::bug("an answer cannot be written as JSON").because(error.to_string()))?;
    Ok(line + "\n")
}
